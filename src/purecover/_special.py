"""The functions of ``scipy.special`` that are used here, without the rest of that package.

They are compiled functions in one file of the package. Importing the package itself takes ten times
as long, as it wraps each of them for libraries of arrays other than NumPy.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_PACKAGE = "scipy.special"


class _Enough(Exception):  # noqa: N818 - no error
    """The functions are there; the package itself is left to whoever asks for it next."""


class _Functions(Loader, MetaPathFinder):
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
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None:
            spec.loader = self
        return spec

    def exec_module(self, module: ModuleType) -> None:
        self.found = import_module(f"{module.__name__}._ufuncs")
        raise _Enough


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
    found = getattr(_found, name, None)
    return getattr(import_module(_PACKAGE), name) if found is None else found


_found = _functions()
