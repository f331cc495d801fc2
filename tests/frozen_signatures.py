"""How the public names are called: parameters in their order, how they may be passed, defaults."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from tests.public_names import public_names


def signatures() -> list[str]:
    """One line for each public function, class and method."""
    return sorted(line for name, value in public_names().items() for line in _lines(name, value))


def _lines(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value) and issubclass(value, Warning):
        yield name  # Python raises them, and says nothing of how
    elif inspect.isclass(value):
        yield name + _parameters(value)
        for member, what in inspect.getmembers(value, inspect.isroutine):
            homes = [base.__module__ for base in value.__mro__ if member in vars(base)]
            ours = homes[:1] and homes[0].startswith("purecover")
            ours = ours and homes[0] != "purecover._parameters"  # what groups do for functions
            # Parameters and requests of metadata are as scikit-learn has them, and its to change.
            theirs = member.startswith("_") or member.endswith(("_request", "et_params"))
            if ours and not theirs and not isinstance(what, cached_property):
                yield f"{name}.{member}{_parameters(what)}"
    elif callable(value):
        yield name + _parameters(value)


def _parameters(value: Any) -> str:
    signature = inspect.signature(value)
    bare = [
        each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()
    ]
    return str(inspect.Signature(bare))
