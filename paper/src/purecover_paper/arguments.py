"""Checks of arguments, whose errors say which parameter of which function is wrong."""

from __future__ import annotations

import importlib
import inspect
import numbers
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from types import ModuleType
from typing import Any

import numpy as np

from purecover.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingDependencyError,
    PurecoverError,
    PurecoverWarning,
)

_MAX_SHOWN = 80


@contextmanager
def errors_of(function: str) -> Iterator[None]:
    """Name a public function in the errors that leave it; used as a decorator."""
    try:
        yield
    except PurecoverError as error:
        error.function = error.function or function
        raise


def show(value: object) -> str:
    """Return a short text for a value that the user passed."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."


def bad_value(parameter: str, must: str, got: str, hint: str | None = None) -> InvalidInputError:
    """Return the error of a parameter whose value cannot be used."""
    return InvalidInputError(parameter=parameter, must=must, got=got, hint=hint)


def bad_type(parameter: str, must: str, got: object, hint: str | None = None) -> InvalidTypeError:
    """Return the error of a parameter whose type cannot be used."""
    shown = f"{show(got)} (type {type(got).__name__})"
    return InvalidTypeError(parameter=parameter, must=must, got=shown, hint=hint)


def warn(message: str, category: type[Warning] = PurecoverWarning) -> None:
    """Warn at the line outside this package that led to the warning."""
    level, frame = 1, inspect.currentframe()
    skipped = ("purecover_paper", "contextlib")
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in skipped:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def require(module: str, *, install: str, by: str = "{function}") -> ModuleType:
    """Import an optional package, or raise an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        raise MissingDependencyError(
            f"{by} needs the package {root!r}, which is not installed.",
            hint=f"pip install {install}",
        ) from error


def check_integer(parameter: str, value: object, *, low: int) -> int:
    """Return a whole number of at least ``low``."""
    must = f"a whole number of at least {low}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise bad_type(parameter, must, value)
    if value < low:
        raise bad_value(parameter, must, show(value))
    return int(value)


def check_share(parameter: str, value: object) -> float:
    """Return a number between 0 and 1, both excluded."""
    must = "a number in (0, 1)"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise bad_type(parameter, must, value)
    number = float(value)
    if not 0 < number < 1:
        raise bad_value(parameter, must, show(value))
    return number


def check_flag(parameter: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise bad_type(parameter, "True or False", value)
    return bool(value)


def check_choice(parameter: str, value: object, choices: Collection[str]) -> str:
    """Return a word that is one of ``choices``."""
    must = "one of " + ", ".join(repr(choice) for choice in choices)
    if not isinstance(value, str):
        raise bad_type(parameter, must, value)
    if value not in choices:
        near = get_close_matches(value.casefold(), list(choices), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else None
        raise bad_value(parameter, must, show(value), hint)
    return value


def check_jobs(n_jobs: object, n_tasks: int) -> int | None:
    """Return a number of workers as joblib takes it, at most one per task."""
    if n_jobs is None:
        return None
    number = check_integer("n_jobs", n_jobs, low=-(2**15))
    if number == 0:
        raise bad_value("n_jobs", "None or a whole number other than 0", "0")
    return number if number < 0 else max(min(number, n_tasks), 1)


def check_seeds(random_state: Any, size: int) -> list[np.random.SeedSequence]:
    """Return independent streams of random numbers, from a seed, a generator or None."""
    if random_state is None:
        return np.random.SeedSequence().spawn(size)
    if isinstance(random_state, np.random.RandomState):  # scikit-learn's kind
        random_state = np.random.default_rng(random_state.randint(2**31, size=4).tolist())
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**63, size=2).tolist()).spawn(size)
    is_flag = isinstance(random_state, (bool, np.bool_))
    if is_flag or not isinstance(random_state, numbers.Integral) or random_state < 0:
        must = "None, a whole number of at least 0 or a numpy.random.Generator"
        raise bad_type("random_state", must, random_state)
    return np.random.SeedSequence(int(random_state)).spawn(size)
