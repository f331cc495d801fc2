"""Every public name, under the shortest way to it: ``evaluate``, ``estimators.AlphaMax``."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import purecover as pu
import purecover.example
import purecover.scorers


def public_names() -> dict[str, Any]:
    """Names at the top, then those of the namespaces that are not at the top."""
    top = {name: getattr(pu, name) for name in dir(pu)}
    namespaces = {name: value for name, value in top.items() if isinstance(value, ModuleType)}
    found = {name: value for name, value in top.items() if name not in namespaces}
    for namespace, module in namespaces.items():
        for name in module.__all__:
            if name not in top:
                found[f"{namespace}.{name}"] = getattr(module, name)
    return found | {
        "scorers.PUScorer": pu.scorers.PUScorer,
        "example.ExampleScores": pu.example.ExampleScores,
    }
