"""Every error and warning purecover raises on purpose.

::

    PurecoverError
    ├── InvalidInputError        (also a ValueError)   a parameter has the wrong value
    │   └── IdentifiabilityError                       alpha and beta leave nothing to recover
    ├── InvalidTypeError         (also a TypeError)    a parameter has the wrong type
    └── MissingDependencyError   (also an ImportError) an optional package is absent

    PurecoverWarning             (a UserWarning)
    └── RecoveryWarning                                a number was repaired or is doubtful

Each error also derives from the built-in exception a caller who knows nothing of
purecover would catch. All messages follow one grammar: which parameter of which
function, what it must be, what it got, and after ``Hint:`` what to do next.
"""

from __future__ import annotations

__all__ = [
    "IdentifiabilityError",
    "InvalidInputError",
    "InvalidTypeError",
    "MissingDependencyError",
    "PurecoverError",
    "PurecoverWarning",
    "RecoveryWarning",
]


class PurecoverError(Exception):
    """Base class of every error purecover raises on purpose."""


class InvalidInputError(PurecoverError, ValueError):
    """A parameter has the right type but a value that cannot be used."""


class IdentifiabilityError(InvalidInputError):
    """Alpha is not below beta, so labeled and unlabeled carry no usable contrast."""


class InvalidTypeError(PurecoverError, TypeError):
    """A parameter has a type that cannot be used."""


class MissingDependencyError(PurecoverError, ImportError):
    """An optional package that a function needs is not installed."""


class PurecoverWarning(UserWarning):
    """Base class of every warning purecover gives."""


class RecoveryWarning(PurecoverWarning):
    """A recovered number was clipped, repaired or is doubtful."""
