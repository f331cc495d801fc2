"""Checks at the door: one grammar for every complaint about a parameter.

Public functions validate once, here; inner functions trust their typed arguments.
"""

from __future__ import annotations

import importlib
import inspect
import math
import numbers
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from decimal import Decimal
from functools import wraps
from itertools import islice, pairwise
from types import ModuleType
from typing import Any, NoReturn, TypeGuard, TypeVar, cast

import numpy as np

from purecover._parameters import crowded, described, expanded, holder_of, unexpected
from purecover._progress import show_bars
from purecover._typing import ArrayLike, FloatArray, RandomState
from purecover.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingDependencyError,
    PurecoverError,
    PurecoverWarning,
    RecoveryWarning,
    Words,
)

LARGEST_EXACT_INTEGER = 2**53
CallT = TypeVar("CallT", bound=Callable[..., Any])

_MAX_SHOWN = 80
# Python counts truth values among the integers, and NumPy its time spans.
_NOT_A_NUMBER = (bool, np.bool_, np.timedelta64)
# Squares of weights, and products of sums of them, must neither overflow nor vanish.
_LARGEST_WEIGHT, _LARGEST_MASS = 1e50, 1e120


def show(value: object) -> str:
    """A short, safe rendering of whatever the user passed."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a hostile __repr__ must not replace our message
        text = f"an object of type {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."


def bad_value(parameter: str, must: str, got: str, hint: str | None = None) -> InvalidInputError:
    return InvalidInputError(parameter=parameter, must=must, got=got, hint=hint)


def bad_type(parameter: str, must: str, got: object, hint: str | None = None) -> InvalidTypeError:
    shown = f"{show(got)} (type {type(got).__name__})"
    return InvalidTypeError(parameter=parameter, must=must, got=shown, hint=hint)


def public(call: CallT) -> CallT:
    """Mark a way in: an error that leaves it names the function that the user called.

    Inner functions complain about a parameter without knowing who called them. Where one public
    function calls another, the outer one takes the blame for parameters of its own. Parameters
    behind ``**options: Unpack[...]`` are shown and checked as if it had written them out.
    """
    signature, declared = expanded(call)
    parameters = signature.parameters
    first = next(iter(parameters), None)
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    bare = call.__name__ in ("__init__", "__post_init__", "__call__")
    names = list(parameters)
    pairs = list(pairwise(names))
    place = pairs.index(("scores", "labeled")) if ("scores", "labeled") in pairs else None
    n_placed = sum(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters.values())

    @wraps(call)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        progress = kwargs.get("progress", getattr(kwargs.get("settings"), "progress", None))
        silent = show_bars.set(False) if progress is False else None
        try:
            if len(args) > n_placed:
                raise crowded(parameters, args)
            if place is not None and len(args) > place + 1:
                alike = False
                with suppress(Exception):  # no column at all, which others will say
                    # The first values decide nearly always, at no cost.
                    alike = len(args[place]) > 1 and set(islice(args[place], 100)) <= {0, 1}
                if alike:
                    _check_roles(args[place], args[place + 1])
            if not (takes_all or kwargs.keys() <= parameters.keys()):
                raise unexpected(kwargs, parameters, show)
            return call(*args, **kwargs)
        except PurecoverError as error:
            own = takes_all or error.parameter is None or error.parameter in parameters
            holder = None if own else holder_of(str(error.parameter), parameters)
            if holder is not None and error.function is None:
                error.function = holder[1].__name__
            elif own or error.function is None:
                error.function = call.__name__
                if first in ("self", "cls") and args:
                    owner = args[0] if isinstance(args[0], type) else type(args[0])
                    # A parameter that is not the method's was given when the object was made.
                    made_with = (
                        not own
                        and first == "self"
                        and error.parameter in (inspect.signature(owner).parameters)
                    )
                    whole = not (bare or made_with)
                    error.function = owner.__name__ + (f".{call.__name__}" if whole else "")
            raise
        finally:
            if silent is not None:
                show_bars.reset(silent)

    if declared:
        wrapper.__signature__ = signature  # type: ignore[attr-defined]
    wrapper.__doc__ = described(call.__doc__ or "", parameters, declared)
    return cast("CallT", wrapper)


def _check_roles(scores: Any, labeled: Any) -> None:
    """Refuse two columns of 0 and 1 that a user passed by position: either may be the labels."""
    kinds = _zeros_and_ones(scores), _zeros_and_ones(labeled)
    # Truth values are labels; of floats and integers the floats are scores.
    if "" in kinds or kinds in (("f", "i"), ("f", "b"), ("i", "b")):
        return
    if ours(above=2):  # passes on what somebody named
        return
    must = "distinct from the labels by its values or its name"
    why = ", if these are decisions rather than scores"
    hint = Words("name both, ", "scores=...", ", ", "labeled=...", why)
    raise bad_value("scores", must, "0 and 1 only, and so has 'labeled'", hint)


def ours(*, above: int) -> bool:
    """Whether the code so many frames above the function that asks is of this package."""
    name: str = sys._getframe(above + 1).f_globals.get("__name__", "")
    return name.partition(".")[0] == "purecover"


def _zeros_and_ones(values: Any) -> str:
    """The kind of a column that holds 0 and 1 and nothing else: b, i or f; empty of others."""
    try:
        column = np.asarray(values)
        if column.ndim != 1 or set(np.unique(column).tolist()) != {0, 1}:
            return ""
        return column.dtype.kind.replace("u", "i")
    except Exception:  # noqa: BLE001 - no column at all, which others will say
        return ""


_UNHEARD: ContextVar[bool] = ContextVar("_UNHEARD", default=False)


@contextmanager
def unheard_repairs() -> Iterator[None]:
    """Leave out each `RecoveryWarning`. A filter of warnings would be that of all threads."""
    token = _UNHEARD.set(True)
    try:
        yield
    finally:
        _UNHEARD.reset(token)


def warn(message: str, category: type[Warning] = PurecoverWarning) -> None:
    """Warn at the line that called this package, however deep inside the warning arises."""
    if _UNHEARD.get() and issubclass(category, RecoveryWarning):
        return
    level, frame = 1, inspect.currentframe()
    ours = ("purecover", "contextlib")
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in ours:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def require(module: str, *, extra: str, by: str = "{function}") -> ModuleType:
    """Import an optional package, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        raise MissingDependencyError(
            f"{by} needs the package {root!r}, which is not installed.",
            hint=f"pip install 'purecover[{extra}]'",
        ) from error


def check_real(
    parameter: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    closed: str = "both",
    hint: str | None = None,
) -> float:
    """A finite real number in an interval (``closed``: both, left, right, neither)."""
    left = "[" if closed in ("both", "left") else "("
    right = "]" if closed in ("both", "right") else ")"
    must = "a finite number"
    if low > -math.inf or high < math.inf:
        must = f"a number in {left}{low:g}, {high:g}{right}"
    if isinstance(value, _NOT_A_NUMBER) or not isinstance(value, numbers.Real):
        raise bad_type(parameter, must, value, hint)
    try:
        number = float(value)
    except OverflowError:  # an int or a Fraction beyond all floats
        number = math.inf
    above = number >= low if left == "[" else number > low
    below = number <= high if right == "]" else number < high
    if not (math.isfinite(number) and above and below):
        raise bad_value(parameter, must, show(value), hint)
    return number


def check_integer(parameter: str, value: object, *, low: int, high: int | None = None) -> int:
    """A whole number of at least ``low``."""
    must = f"a whole number of at least {low}"
    if high is not None:
        must += f" and at most {high}"
    if isinstance(value, _NOT_A_NUMBER) or not isinstance(value, numbers.Integral):
        raise bad_type(parameter, must, value)
    number = int(value)
    if number < low or (high is not None and number > high):
        raise bad_value(parameter, must, show(value))
    return number


def check_jobs(n_jobs: object) -> None:
    """A number of workers as joblib takes it."""
    if n_jobs is not None and check_integer("n_jobs", n_jobs, low=-(2**15)) == 0:
        raise bad_value("n_jobs", "None or a whole number other than 0", "0")


def useful_jobs(n_jobs: int | None, n_tasks: int) -> int | None:
    """No more workers than there are tasks: joblib starts as many as it is given."""
    return n_jobs if n_jobs is None or n_jobs < 0 else max(min(n_jobs, n_tasks), 1)


def check_flag(parameter: str, value: object) -> None:
    """True or False, and nothing that merely passes for it."""
    if not isinstance(value, (bool, np.bool_)):
        raise bad_type(parameter, "True or False", value)


def check_progress(value: object) -> None:
    """Something to call with what is done and how much there is to do, or silence."""
    if value is not None and value is not False and not callable(value):
        hint = "where a call takes long, a bar appears by itself in a terminal or a notebook"
        raise bad_type("progress", "None, False or a function to call", value, hint)


def check_choice(parameter: str, value: object, choices: Collection[str]) -> str:
    """One of a few words."""
    must = "one of " + ", ".join(repr(choice) for choice in choices)
    if not isinstance(value, str):
        raise bad_type(parameter, must, value)
    if value not in choices:
        raise bad_value(parameter, must, show(value), _closest(value, choices))
    return value


def _closest(value: str, choices: Collection[str]) -> str | None:
    from difflib import get_close_matches

    near = [each for each in choices if each.endswith(f"_{value.casefold()}")]  # auc: roc_auc
    near = near or get_close_matches(value.casefold(), list(choices), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else None


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a loop can run over it, which an array without dimensions only pretends."""
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True


def check_names(parameter: str, values: object, choices: Collection[str]) -> tuple[str, ...]:
    """A list of a few words, each from ``choices``; a string is one of them."""
    must = "a list of names"
    known = ", ".join(choices)
    if isinstance(values, str):
        values = (values,)
    if not is_iterable(values):
        raise bad_type(parameter, must, values, f"the names are {known}")
    names = tuple(values)
    for name in names:
        if not isinstance(name, str):
            raise bad_type(parameter, must, name, f"the names are {known}")
        if name not in choices:
            near = _closest(name, choices)
            hint = f"the names are {known}" if near is None else f"{near} The names are {known}"
            raise bad_value(parameter, must, show(name), hint)
    return names


def check_instance(parameter: str, value: object, kind: type, hint: str | None = None) -> None:
    """An object of one of our own classes."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise bad_type(parameter, f"{article} {kind.__name__}", value, hint)


def check_random_state(value: RandomState) -> np.random.Generator:
    """A generator, from a seed, a generator or None."""
    if isinstance(value, np.random.Generator):
        return value
    if value is None:
        return np.random.default_rng()
    if isinstance(value, np.random.RandomState):  # scikit-learn's kind
        return np.random.default_rng(value.randint(2**31, size=4).tolist())
    if isinstance(value, numbers.Integral) and not isinstance(value, _NOT_A_NUMBER):
        if int(value) >= 0:
            return np.random.default_rng(int(value))
    must = "None, a whole number of at least 0 or a numpy.random.Generator"
    raise bad_type("random_state", must, value)


def check_seeding(_: str, value: RandomState) -> None:
    """The check of a parameter ``random_state``."""
    check_random_state(value)


def kept_seed(value: RandomState) -> int | None:
    """A seed as it is written down; None where there was none."""
    return int(value) if isinstance(value, (int, np.integer)) else None


def to_numpy(parameter: str, values: ArrayLike) -> np.ndarray[Any, Any]:
    """One column of anything (list, NumPy, pandas, polars, Arrow, torch) as a NumPy vector."""
    must = "a one-dimensional array, list or column"
    if values is None or isinstance(values, (str, bytes, dict, set, frozenset)):
        raise bad_type(parameter, must, values)
    if np.ma.isMaskedArray(values):
        masked = int(np.ma.getmaskarray(values).sum())
        if masked:
            got = f"{masked} masked of {values.size}"
            advice = "drop or fill the missing rows first"
            raise bad_value(parameter, "free of missing values", got, advice)
    try:
        if hasattr(values, "detach"):  # a torch tensor, perhaps with a gradient or on a GPU
            values = values.detach().cpu()
        array = np.asarray(values)
    except Exception as error:  # foreign containers raise whatever they like
        raise bad_type(parameter, must, values) from error
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        if array.ndim == 0 and array.dtype == object:
            hint = "make a list of it first" if isinstance(values, Iterable) else None
            raise bad_type(parameter, must, values, hint)
        shape = "a scalar" if array.ndim == 0 else f"an array of shape {array.shape}"
        hint = None
        if array.ndim == 2 and array.shape[1] == 2:
            hint = "this looks like predict_proba output; pass the positive column, [:, 1]"
        elif array.ndim == 2 and parameter == "scores":
            hint = "are these features? cross_fit_scores(model, X, labeled) makes scores of them"
        raise bad_value(parameter, must, shape, hint)
    return array


def as_real_vector(parameter: str, values: ArrayLike) -> FloatArray:
    """A finite float64 vector; NaN, infinities, text and complex numbers are refused."""
    array = to_numpy(parameter, values)
    if array.size == 0:
        raise bad_value(parameter, "non-empty", "no values at all")
    if array.dtype == object:
        array = _from_objects(parameter, array)
    if array.dtype.kind not in "fiub":
        hint = "convert the column to numbers first" if array.dtype.kind in "UST" else None
        raise bad_type(parameter, "numeric", array[0], hint)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        # Not np.abs: the smallest int64 has no positive counterpart.
        if int(array.max()) > LARGEST_EXACT_INTEGER or int(array.min()) < -LARGEST_EXACT_INTEGER:
            largest = max(int(array.max()), -int(array.min()))
            raise too_large(parameter, f"a largest size of {largest}")
    with np.errstate(over="ignore"):  # long doubles that overflow are refused as infinite below
        numbers_ = np.asarray(array, dtype=np.float64)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        _refuse_rounded(parameter, array, numbers_)
    finite = np.isfinite(numbers_)
    if not finite.all():
        bad = int(np.flatnonzero(~finite)[0])
        got = f"{int((~finite).sum())} NaN or infinite of {array.size} (first at row {bad})"
        hint = "drop or impute those rows first; purecover never drops rows in silence"
        raise bad_value(parameter, "finite everywhere", got, hint)
    return numbers_


def _refuse_rounded(parameter: str, array: np.ndarray[Any, Any], doubles: FloatArray) -> None:
    """Refuse long doubles that doubles round; beyond all doubles they are infinite instead."""
    beyond = (np.abs(doubles) >= LARGEST_EXACT_INTEGER) & (array != doubles) & np.isfinite(doubles)
    if beyond.any():
        first = int(np.flatnonzero(beyond)[0])
        raise too_large(parameter, f"{array[first]} at row {first}")


def _from_objects(parameter: str, array: np.ndarray[Any, Any]) -> FloatArray:
    """Object arrays come from lists with None, Decimals or nullable columns."""
    out = np.empty(array.size, dtype=np.float64)
    for i, value in enumerate(array):
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            hint = "drop or fill the missing rows first"
            raise bad_value(parameter, "free of missing values", f"{show(value)} at row {i}", hint)
        # Only what is a number: NumPy would also take in dates, and complex numbers by halves.
        if not is_number(value):
            raise bad_type(parameter, "numeric", value)
        # These are exact: their neighbors are other numbers.
        exact = isinstance(value, numbers.Rational)
        exact |= isinstance(value, Decimal) and value.is_finite()
        if exact and abs(value) > LARGEST_EXACT_INTEGER:
            raise too_large(parameter, f"{show(value)} at row {i}")
        try:
            out[i] = float(value)
        except (ValueError, OverflowError) as error:  # a signaling NaN; a number beyond floats
            raise bad_value(parameter, "finite everywhere", f"{show(value)} at row {i}") from error
        if isinstance(value, np.longdouble):
            _refuse_rounded(parameter, np.array([value]), out[i : i + 1])
    return out


def is_number(value: object) -> bool:
    """Whether a value is one real number, or a truth value."""
    real = isinstance(value, (numbers.Real, Decimal, np.bool_))
    return real and not isinstance(value, np.timedelta64)


def too_large(parameter: str, got: str) -> InvalidInputError:
    """The refusal of exact numbers that 64-bit floats round to one another."""
    return bad_value(
        parameter,
        "free of integers and decimals beyond 2**53, which float64 cannot represent exactly",
        got,
        "subtract an offset, or pass ranks instead",
    )


def as_weights(values: ArrayLike, size: int) -> FloatArray:
    """Non-negative finite weights, one per row."""
    return as_masses("sample_weight", values, size, largest=_LARGEST_WEIGHT)


def as_masses(
    parameter: str, values: ArrayLike, size: int, *, largest: float = _LARGEST_MASS
) -> FloatArray:
    """Weights, counts or sums of them: non-negative and of a size one can calculate with."""
    masses = as_real_vector(parameter, values)
    check_same_length(parameter, masses.size, size)
    if float(masses.min()) < 0:
        got = f"{int((masses < 0).sum())} negative values (lowest {masses.min():g})"
        raise bad_value(parameter, "non-negative", got)
    least = float(masses.min(where=masses > 0, initial=math.inf))
    if least < 1 / largest or float(masses.max()) > largest:
        must = f"0 or between {1 / largest:g} and {largest:g}"
        hint = "multiply all of them by a constant; no metric depends on it"
        raise bad_value(parameter, must, f"values from {least:g} to {masses.max():g}", hint)
    return masses


def check_same_length(parameter: str, size: int, wanted: int, of: str = "scores") -> None:
    """A value for each score, or for each of something else."""
    if size != wanted:
        raise bad_value(parameter, f"as long as {of} ({wanted})", f"{size} values")


def check_alignment(
    scores: object, labeled: object, *, names: tuple[str, str] = ("scores", "labeled")
) -> None:
    """Refuse two pandas columns of the same rows in different orders.

    Rows are matched by position; pandas users expect them matched by index. Complaints use
    ``names``.
    """
    one, two = getattr(scores, "index", None), getattr(labeled, "index", None)
    if not hasattr(one, "equals") or not hasattr(two, "equals") or one.equals(two):  # type: ignore[union-attr]
        return
    if len(one) == len(two) and one.sort_values().equals(two.sort_values()):  # type: ignore[arg-type,union-attr]
        must = f"in the order of {names[0]}"
        got = "the same index in another order"
        raise bad_value(names[1], must, got, f"align it first: {names[1]}.loc[{names[0]}.index]")


def read_only(array: Any) -> Any:
    """Freeze an array (or pass None through) so that results cannot be changed by accident."""
    if array is not None:
        array.setflags(write=False)
    return array


Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenDict(dict[Key, Value]):
    """A dictionary that refuses change; a mapping proxy could not be pickled and copied."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("results are read-only; make a dict of it to change it")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class Frozen:
    """Base of results that are frozen dataclasses: their arrays and dictionaries do not change."""

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if isinstance(value, np.ndarray):
                read_only(value)
            elif isinstance(value, dict):
                object.__setattr__(self, name, _frozen(value))


def _frozen(value: Any) -> Any:
    return FrozenDict({k: _frozen(v) for k, v in value.items()}) if type(value) is dict else value
