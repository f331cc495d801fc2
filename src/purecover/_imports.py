"""Imports put off or cut short: public names of packages, and functions of ``scipy.special``.

A package lists its public names once, as imports in the file ``__init__.pyi`` beside its
``__init__.py``: type checkers and editors read that file, and so does :func:`attach`, which loads
each when it is first used.

``from purecover._imports import ndtri`` and the like give compiled functions of ``scipy.special``,
which are in one file of that package. Importing the package itself takes ten times as long, as it
wraps each of them for libraries of arrays other than NumPy.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What ``__getattr__``, ``__dir__`` and ``__all__`` of a package must be.

    Parameters
    ----------
    package, file : str
        ``__name__`` and ``__file__`` of the package.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {name.asname or name.name: node.module for node in imports for name in node.names}

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            # With these two Python asks "Did you mean ...?" as for any other module.
            words = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(words, name=name, obj=sys.modules[package])
        if home == package:  # one of its own modules
            return import_module(f"{package}.{name}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(homes), list(homes)


_PACKAGE = "scipy.special"


class _Enough(Exception):  # noqa: N818 - no error
    """The functions are there; the package itself is left to whoever asks for it next."""


class _Functions:
    """Finds the package once, for this thread, and imports nothing but its functions.

    What fails to import is forgotten by Python, with its lock held, but not what it has imported
    itself: nobody sees an unfinished package, and nothing is loaded twice.
    """

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _PACKAGE or threading.get_ident() != self.thread:
            return None
        spec: Any = PathFinder.find_spec(name, path, target)
        if spec is not None:
            spec.loader = self
        return spec

    def create_module(self, _: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self.found = import_module(f"{module.__name__}._ufuncs")
        raise _Enough


@cache
def _functions() -> Any:
    """The module of compiled functions, or the whole package where that is there already."""
    if _PACKAGE not in sys.modules:
        finder = _Functions()
        sys.meta_path.insert(0, finder)
        try:
            import_module(_PACKAGE)
        except _Enough:
            return finder.found
        except Exception:  # noqa: BLE001, S110 - the package itself has the say
            pass
        finally:
            sys.meta_path.remove(finder)
    return import_module(_PACKAGE)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    found = getattr(_functions(), name, None)
    return getattr(import_module(_PACKAGE), name) if found is None else found
