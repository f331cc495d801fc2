"""The reference: a page for each namespace of the package, made of what the namespace offers.

A name that is added to an ``__init__.pyi`` is on its page; nothing is listed twice.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import purecover


def namespaces() -> dict[str, ModuleType]:
    """The public namespaces by name."""
    found = {name: getattr(purecover, name) for name in dir(purecover)}
    return {name: value for name, value in found.items() if isinstance(value, ModuleType)}


def page(namespace: str, module: ModuleType) -> str:
    """Title, what the namespace is for, and its names in the order in which they are defined.

    What the top of the package offers as well is on the page of the top.
    """
    names = [name for name in module.__all__ if name not in dir(purecover)]
    title = f"purecover.{namespace}"
    lines = [title, "=" * len(title), "", (module.__doc__ or "").strip(), ""]
    lines += [f".. currentmodule:: {title}", "", ".. autosummary::", "   :toctree: generated", ""]
    return "\n".join([*lines, *(f"   {name}" for name in names), ""])


def write(folder: Path) -> None:
    """Write the pages that differ from those in the folder."""
    for namespace, module in namespaces().items():
        path, text = folder / f"{namespace}.rst", page(namespace, module)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
