"""Every error and warning purecover raises on purpose.

::

    PurecoverError
    ├── InvalidInputError        (also a ValueError)   a parameter has the wrong value
    │   └── IdentifiabilityError                       alpha and beta leave nothing to recover
    │       └── ContradictionError                     the scores rule out what was given
    ├── InvalidTypeError         (also a TypeError)    a parameter has the wrong type
    └── MissingDependencyError   (also an ImportError) an optional package is absent

    PurecoverWarning             (a UserWarning)
    └── RecoveryWarning                                a number was repaired or is doubtful

Each error also derives from the built-in exception a caller without knowledge of
purecover would catch. All messages follow one grammar: which parameter of which
function, what it must be, what it got, and after ``Hint:`` what to do next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

__all__ = [
    "ContradictionError",
    "IdentifiabilityError",
    "InvalidInputError",
    "InvalidTypeError",
    "MissingDependencyError",
    "PurecoverError",
    "PurecoverWarning",
    "RecoveryWarning",
]


class Words(str):
    """Words that name parameters, as ``Words("left out where ", "alpha", " is given")`` does.

    Every second part is a name, or a keyword such as ``"replace=True"``. As a text it has the
    parameters of Python; a program that calls them otherwise puts in its own by :meth:`by`.
    """

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Self:
        """Join the parts."""
        shown = [repr(p) if i % 2 and p.isidentifier() else p for i, p in enumerate(parts)]
        made = super().__new__(cls, "".join(shown))
        made.parts = parts
        return made

    def by(self, name: Callable[[str], str]) -> str:
        """Return the words with other names for the parameters."""
        return "".join(name(p) if i % 2 else p for i, p in enumerate(self.parts))


class PurecoverError(Exception):
    """Base class of every error purecover raises on purpose.

    Most are complaints about a parameter, and carry what they say in parts, so that another
    program can word them for its own users:

    Attributes
    ----------
    function : str or None
        The public function that was called, as ``"evaluate"`` or ``"ScoreCounts.from_scores"``.
        It is filled in where the error leaves that function.
    parameter, must, got : str or None
        Which parameter is wrong, what it must be, and what was given instead.
    hint : str or None
        What to do next.

    Examples
    --------
    >>> import purecover as pu
    >>> try:
    ...     pu.MixtureProportions(alpha=1.5)
    ... except pu.exceptions.PurecoverError as error:
    ...     print(error.function, error.parameter, error.must, error.got, sep=" | ")
    MixtureProportions | alpha | a number in [0, 1] | 1.5
    """

    function: str | None = None

    def __init__(
        self,
        message: str = "",
        *,
        parameter: str | None = None,
        must: str | None = None,
        got: str | None = None,
        hint: str | None = None,
    ) -> None:
        # A message of its own may name the function as {function}.
        super().__init__(message)
        self.parameter, self.must, self.got, self.hint = parameter, must, got, hint

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        function = self.function or "purecover"
        if self.must is None:
            text = str(self.args[0]).replace("{function}", function)
        else:
            text = (
                f"The {self.parameter!r} parameter of {function} must be {self.must}, "
                f"got {self.got}."
            )
        return text if self.hint is None else f"{text}\nHint: {self.hint}"


class InvalidInputError(PurecoverError, ValueError):
    """A parameter has the right type but a value that cannot be used."""


class IdentifiabilityError(InvalidInputError):
    """Alpha is not below beta, so labeled and unlabeled carry no usable contrast."""


class ContradictionError(IdentifiabilityError):
    """The scores rule out the shares that were given, chance granted."""


class InvalidTypeError(PurecoverError, TypeError):
    """A parameter has a type that cannot be used."""


class MissingDependencyError(PurecoverError, ImportError):
    """An optional package that a function needs is not installed."""


class PurecoverWarning(UserWarning):
    """Base class of every warning purecover gives."""


class RecoveryWarning(PurecoverWarning):
    """A recovered number was clipped, repaired or is doubtful."""
