"""Public names of packages that are loaded when first used (PEP 562).

A package lists its public names once, as imports in the file ``__init__.pyi`` next to its
``__init__.py``: type checkers and editors read that file, and so does :func:`attach`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package.

    Parameters
    ----------
    package, file : str
        ``__name__`` and ``__file__`` of the package.
    """
    # Not by pathlib: it imports glob, which may be a file next to the data (python -m purecover).
    with open(f"{file.removesuffix('c').removesuffix('.py')}.pyi", encoding="utf-8") as source:  # noqa: PTH123
        stub = ast.parse(source.read())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {name.asname or name.name: node.module for node in imports for name in node.names}

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            # With these two Python asks "Did you mean ...?" as for any other module.
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        if home == package:  # one of its own modules
            return import_module(f"{package}.{name}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(homes), list(homes)
