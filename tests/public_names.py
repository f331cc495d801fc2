"""Every public name, under the shortest way to it: ``evaluate``, ``estimators.AlphaMax``."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import purecover as pu

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))

from reference_pages import namespaces, results  # type: ignore[import-not-found]

__all__ = ["public_names", "results"]


def public_names() -> dict[str, Any]:
    """Names at the top, then those of the namespaces that are not at the top."""
    found = {name: getattr(pu, name) for name in dir(pu)}
    found = {name: value for name, value in found.items() if not isinstance(value, ModuleType)}
    for namespace, module in namespaces().items():
        for name in module.__all__:
            if name not in found:
                found[f"{namespace}.{name}"] = getattr(module, name)
    return found
