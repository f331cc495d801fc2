"""Reading input: columns of a data frame, labels in any spelling, scores of a model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from purecover import _parameters as parameters
from purecover import _validation as valid
from purecover._typing import ArrayLike, BoolArray, IntArray
from purecover._validation import public
from purecover.exceptions import MissingDependencyError, Words


@dataclass(frozen=True)
class LabelMeaning(parameters.Parameters):
    """Parameters that say how labels are written."""

    positive_label: object = parameters.parameter(
        None, "object", "The value that means labeled, where it is not obvious."
    )
    negative_label: object = parameters.parameter(
        None, "object", "The value that marks known negatives, if there are any."
    )


def is_frame(value: object) -> bool:
    """Whether ``value`` looks like a table rather than one column of numbers."""
    if isinstance(value, Mapping):
        return True
    if isinstance(value, np.ndarray):
        return False
    # pandas, polars, pyarrow, Dask, Spark ... all list their columns; a Series has no such list.
    # Asked of the class: a lazy frame warns when it must find out what its columns are.
    return hasattr(type(value), "columns") or hasattr(type(value), "column_names")


def refuse_frame(scores: object) -> None:
    """Complain of a table where one column of scores is wanted."""
    if is_frame(scores):
        raise valid.bad_type(
            "scores",
            "one column of scores, or a ScoreCounts",
            scores,
            "pass frame['score'] and frame['labeled'], or "
            "ScoreCounts.from_frame(frame, score='score', labeled='labeled')",
        )


def lazy_frame(frame: Any) -> Any | None:
    """A lazy frame of any engine as one of narwhals; None for everything else.

    Lazy are a polars LazyFrame, a DuckDB relation, and tables of Spark, Dask and Ibis: rows that
    are not, or not all, in the memory of this process.
    """
    if isinstance(frame, Mapping):
        return None
    import narwhals
    import narwhals.stable.v2 as nw

    try:
        native = narwhals.to_native(frame, pass_through=True)
        found = nw.from_native(native, pass_through=True)
    except Exception:  # noqa: BLE001 - the reader of eager frames complains, with its own words
        return None
    return found if isinstance(found, nw.LazyFrame) else None


def column_names(frame: Any) -> list[str]:
    """Names of the columns, without collecting a lazy frame."""
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(frame, "column_names", None)
    if names is None:
        schema = getattr(frame, "collect_schema", None)
        names = schema().names() if callable(schema) else frame.columns
    return [str(name) for name in names]


def read_columns(
    frame: Any, names: Mapping[str, str], may_lack: Collection[str] = ()
) -> dict[str, np.ndarray[Any, Any]]:
    """NumPy columns of a frame; ``names`` maps our parameter to the user's column.

    Those of ``may_lack`` may have missing values.
    """
    if isinstance(frame, Mapping):
        available = list(frame)
        require_columns(names, available)
        return {p: valid.to_numpy(p, frame[column]) for p, column in names.items()}
    import narwhals.stable.v2 as nw

    must = "a data frame (pandas, polars, pyarrow, ...) or a dict of columns"
    try:
        native = nw.from_native(frame, eager_only=True)
        native.get_column  # noqa: B018 - a lazy frame of narwhals itself gets this far
        available = list(native.columns)
    except nw.exceptions.DuplicateError as error:
        # Its lines after the first read "- 'name' 2 times".
        twice = ", ".join(line.lstrip("- ") for line in str(error).splitlines()[1:])
        must = "a table whose column names differ"
        raise valid.bad_value("frame", must, twice or "repeated names") from error
    except (TypeError, AttributeError) as error:
        hint = None if lazy_frame(frame) is None else "collect a lazy frame first"
        raise valid.bad_type("frame", must, frame, hint) from error
    require_columns(names, available)
    out = {}
    for parameter, column in names.items():
        series = native.get_column(column)
        missing = int(series.null_count())
        if missing and parameter not in may_lack:
            raise valid.bad_value(
                parameter,
                "a column free of missing values",
                f"{missing} missing of {len(series)} in column {column!r}",
                "drop or fill the missing rows first; purecover never drops rows in silence",
            )
        try:
            out[parameter] = np.asarray(series.to_numpy())
        except Exception as error:  # engines have types that NumPy has not
            raise valid.bad_value(
                parameter,
                "a column that NumPy can hold",
                f"column {column!r} of type {series.dtype}",
                "cast it to a number, a boolean or text first",
            ) from error
    return out


def require_columns(names: Mapping[str, Any], available: list[Any]) -> None:
    for parameter, column in names.items():
        if not any(is_equal(column, each) for each in available):
            shown = ", ".join(repr(c) for c in available[:20])
            more = ", ..." if len(available) > 20 else ""
            raise valid.bad_value(
                parameter,
                "the name of a column",
                valid.show(column),
                f"the columns are {shown}{more}" if available else "the frame has no columns",
            )


def check_columns(parameter: str, names: Any, available: list[str], must: str) -> tuple[str, ...]:
    """Names of columns that exist and differ, in their order."""
    # A set has no order.
    if isinstance(names, (bytes, str, set, frozenset, Mapping)) or not valid.is_iterable(names):
        raise valid.bad_type(parameter, must, names)
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise valid.bad_type(parameter, must, name)
        require_columns({parameter: name}, available)
    if twice := [name for name in found if found.count(name) > 1]:
        raise valid.bad_value(parameter, f"{must} that differ", f"{valid.show(twice[0])} twice")
    return found


class Tabular:
    """Base of results that are also tables."""

    _names: ClassVar[list[str]] = []

    def __init_subclass__(cls, columns: str = "") -> None:
        """Take the names of columns: attributes, or ``threshold`` for ``thresholds``."""
        cls._names = columns.split() or cls._names

    def _columns(self) -> dict[str, Any]:
        """Columns of equal length by name."""
        plural = {"threshold": "thresholds"}
        return {name: getattr(self, plural.get(name, name)) for name in self._names}

    @public
    def frame(self, backend: Any = None) -> Any:
        """The values as a table; see :meth:`ScoreCounts.frame`.

        Parameters
        ----------
        backend : str or module, optional
            ``"pandas"``, ``"polars"``, ``"pyarrow"`` or their module; None gives a dict of
            arrays.

        Returns
        -------
        dict or data frame
            One column for each of the values.
        """
        return make_frame(self._columns(), backend)


FRAMES = ("pandas", "polars", "pyarrow")
"""Libraries of data frames, in the order in which they are looked for."""


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """Columns of rows that have the same cells."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def row_frame(columns: Mapping[str, np.ndarray[Any, Any]], backend: Any) -> Any:
    """A data frame of the library the caller names, or of the first that is installed."""
    backend = next(filter(find_spec, FRAMES), None) if backend is None else backend
    if backend is None:
        raise MissingDependencyError(
            f"{{function}} needs one of the packages {', '.join(FRAMES)}, and none is installed.\n"
            "Hint: pip install pandas"
        )
    return make_frame(columns, backend)


def make_frame(columns: Mapping[str, np.ndarray[Any, Any]], backend: Any) -> Any:
    """A dict of arrays, or a data frame of the library the caller names."""
    if backend is None:
        return dict(columns)
    import narwhals.stable.v2 as nw

    try:
        return nw.from_dict(dict(columns), backend=backend).to_native()
    except ImportError as error:
        raise MissingDependencyError(
            f"{{function}} needs the package {str(backend)!r}, which is not installed.\n"
            f"Hint: pip install {backend!s}"
        ) from error
    except Exception as error:
        raise valid.bad_value(
            "backend", "'pandas', 'polars', 'pyarrow' or their module", valid.show(backend)
        ) from error


_LABELED_WORDS = frozenset(
    "1 1.0 +1 true t yes y positive pos p labeled labelled l".split()  # noqa: SIM905 - reads better
)
_NEGATIVE_WORDS = frozenset(("negative", "neg"))
_NO_WORDS = frozenset(("-1", "-1.0", "false", "f", "no", "n"))
UNLABELED_WORDS = _NO_WORDS | {"0", "0.0", "unlabeled", "unlabelled", "u", "unknown", "none"}
UNSURE_WORDS = _NO_WORDS | _NEGATIVE_WORDS
"""Words that may mean a known negative as well as no label."""
_NAME_IT = ("name the value that means labeled with ", "positive_label=")
_MUST = "two-valued (labeled or not): booleans, 0/1, -1/+1, or words such as positive/unlabeled"


def encode_labels(
    labeled: ArrayLike,
    size: int,
    *,
    positive_label: object = None,
    negative_label: object = None,
    parameter: str = "labeled",
) -> tuple[BoolArray, BoolArray | None]:
    """Turn a label column into masks of the labeled and of the known negatives.

    Numbers: 1 is labeled, 0 or -1 is not. Words are read without regard to case. Other
    values need ``positive_label``. Known negatives exist only if ``negative_label`` names
    their value: if -1 were assumed to mean negative, unlabeled rows would become negatives.
    Complaints name ``parameter``; a column of another name holds classes, not labels, so that
    its words may include "negative".
    """
    values = valid.to_numpy(parameter, labeled)
    valid.check_same_length(parameter, values.size, size)
    refuse_missing(parameter, values)
    positive, negative = label_masks(values, positive_label, negative_label, parameter)
    unlabeled = ~positive if negative is None else ~(positive | negative)
    for side, rows in (("labeled", positive), ("unlabeled", unlabeled)):
        if not rows.any():
            raise valid.bad_value(
                parameter,
                "both labeled and unlabeled somewhere",
                f"no {side} row among {positive.size}",
                "check that the right column and the right value mark the labeled rows",
            )
    return positive, negative


def label_masks(
    values: np.ndarray[Any, Any],
    positive_label: object,
    negative_label: object,
    parameter: str = "labeled",
) -> tuple[BoolArray, BoolArray | None]:
    """The same of distinct values, which need not be labeled and unlabeled."""
    negative = None
    if negative_label is not None:
        negative = _rows_with("negative_label", values, negative_label)
    if positive_label is None:
        rest = slice(None) if negative is None else ~negative
        positive = np.zeros(values.size, dtype=np.bool_)
        positive[rest] = _encode_two_valued(parameter, values[rest])
    else:
        positive = _rows_with("positive_label", values, positive_label)
        if negative is not None and np.any(positive & negative):
            raise valid.bad_value(
                "negative_label",
                "another value than positive_label",
                f"{valid.show(negative_label)} with {valid.show(positive_label)}",
            )
        if _several(values[~positive if negative is None else ~(positive | negative)]):
            raise valid.bad_value(
                parameter,
                "two-valued apart from negative_label",
                _shown_values(values),
                "name the value of known negatives with negative_label=, or map the column to "
                "booleans first",
            )
    return positive, negative


def _encode_two_valued(parameter: str, values: np.ndarray[Any, Any]) -> BoolArray:
    kind = values.dtype.kind
    if kind == "b":
        return values
    if kind == "O":
        if all(isinstance(v, (bool, np.bool_)) for v in values):
            return values.astype(np.bool_)
        if all(valid.is_number(v) for v in values):
            return _encode_numbers(parameter, np.array([_as_float(v) for v in values]))
    if kind in "iuf":
        return _encode_numbers(parameter, values)
    if kind in "OUST":
        return _encode_words(parameter, values)
    raise valid.bad_type(parameter, _MUST, values[0] if values.size else values)


def _encode_numbers(parameter: str, values: np.ndarray[Any, Any]) -> BoolArray:
    positive: BoolArray = values == 1
    rest = values[~positive]
    # Two cheap passes instead of np.unique, which would sort the column.
    if rest.size and not (
        rest.min() == rest.max() and rest.dtype.type(rest[0]) in (rest.dtype.type(0), -1)
    ):
        hint: str = Words(*_NAME_IT)
        distinct = set(np.unique(values).tolist())
        if distinct == {-1, 0, 1}:
            hint = Words("if -1 marks known negatives, pass ", "negative_label=-1")
        elif len(distinct) > 10:
            hint = "were scores and labeled swapped? Scores come first"
        raise valid.bad_value(parameter, _MUST, _shown_values(values), hint)
    return positive


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):  # beyond all floats, or a signaling NaN
        return float("inf")


def _encode_words(parameter: str, values: np.ndarray[Any, Any]) -> BoolArray:
    words = [_text(v).strip().casefold() for v in values.tolist()]
    distinct = set(words)
    others = UNLABELED_WORDS if parameter == "labeled" else UNLABELED_WORDS | _NEGATIVE_WORDS
    if not distinct <= _LABELED_WORDS | others or len(distinct) > 2:
        # Both "no" and "unknown", say: pooling them would hide known negatives.
        more = (" and the value of known negatives with ", "negative_label=")
        hint = Words(*_NAME_IT, *(more if len(distinct) > 2 else ()))
        raise valid.bad_value(parameter, _MUST, _shown_values(values), hint)
    return np.array([word in _LABELED_WORDS for word in words], dtype=np.bool_)


def labeled_of_two(classes: np.ndarray[Any, Any]) -> int | None:
    """Which of two values in ascending order means labeled; None if both mean the same.

    A known word decides: with "unlabeled", any other word is the label. Of two values that say
    nothing it is the second, as in scikit-learn: so of False and True, 0 and 1, -1 and +1.
    """
    if classes.dtype.kind not in "OUST":
        return 1
    words = [_text(value).strip().casefold() for value in classes.tolist()]
    yes = [word in _LABELED_WORDS for word in words]
    no = [word in UNLABELED_WORDS | _NEGATIVE_WORDS for word in words]
    if all(yes) or all(no):
        return None
    if yes[0] and no[1]:
        return 0
    # Of "1" and "2" the first need not be the label.
    numerals = all(re.fullmatch(r"[+-]?[0-9.]+", word) for word in words)
    return 0 if not numerals and (yes[0] or no[1]) else 1


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - foreign objects raise whatever they like
        return valid.show(value)


def _rows_with(parameter: str, values: np.ndarray[Any, Any], label: object) -> BoolArray:
    rows = np.zeros(values.size, dtype=np.bool_)
    if values.dtype.kind in "OUST":
        # Files deliver text, so that label 1 must also find "1".
        text = _text(label)
        found = (is_equal(v, label) or _text(v) == text for v in values.tolist())
        rows = np.fromiter(found, dtype=np.bool_, count=values.size)
    else:
        with suppress(Exception):  # not a number, so no number of the column
            # As np.float64, so that a short float type is widened rather than the number cut.
            rows = np.asarray(values == np.float64(float(label)))  # type: ignore[arg-type]
    if not rows.any():
        raise valid.bad_value(
            parameter,
            "a value of the label column",
            valid.show(label),
            f"the column holds {_shown_values(values)}",
        )
    return rows


def is_equal(one: object, other: object) -> bool:
    """Whether two values are the same, where the question has an answer."""
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - arrays and foreign objects: no plain label or name
        return False


def is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN
    except Exception:  # noqa: BLE001 - arrays and foreign objects: refused later, as labels
        return False


def group_codes(
    parameter: str, values: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], IntArray]:
    """Return the groups in their order, and the number of that of each row."""
    refuse_missing(parameter, values, "give each such row a group of its own")
    try:
        groups, which = np.unique(values, return_inverse=True)
    except Exception as error:  # foreign objects raise whatever they like when compared
        got = "values that have no order"
        raise valid.bad_value(parameter, "a column of values of one kind", got) from error
    return groups, which.reshape(-1)


def refuse_missing(
    parameter: str,
    values: np.ndarray[Any, Any],
    hint: str = "if missing means unlabeled, fill it with 0 first",
) -> None:
    """Complain of values that are missing, whatever their spelling."""
    if values.dtype.kind in "fmM":
        missing = np.isnan(values)
    elif values.dtype.kind in "OT":
        missing = np.array([is_missing(v) for v in values.tolist()], dtype=np.bool_)
    else:
        return
    if missing.any():
        raise valid.bad_value(
            parameter,
            "free of missing values",
            f"{int(missing.sum())} missing of {values.size} "
            f"(first at row {int(np.flatnonzero(missing)[0])})",
            hint,
        )


def plain_labels(texts: Sequence[str], *labels: Any) -> tuple[list[Any], ...]:
    """Values of text, and the labels named by a caller, as numbers if all of the values are."""
    # A column of truth values comes as 1 and 0.
    truth = {"true": "1", "t": "1", "false": "0", "f": "0"}
    named = list(labels)
    try:
        values: list[Any] = [float(text) for text in texts]
    except ValueError:
        return list(texts), named
    for i, label in enumerate(named):
        with suppress(ValueError, AttributeError):  # no number, or none
            named[i] = float(truth.get(label.strip().casefold(), label))
    return values, named


def _several(values: np.ndarray[Any, Any]) -> bool:
    """Whether values differ."""
    if values.dtype.kind in "biuf":
        return values.size > 0 and bool(values.min() != values.max())
    return len({_text(v) for v in values.tolist()}) > 1


def _shown_values(values: np.ndarray[Any, Any]) -> str:
    try:
        distinct = list(dict.fromkeys(values[:100_000].tolist()))
    except Exception:  # noqa: BLE001 - unhashable things in an object column
        distinct = values[:3].tolist()
    shown = ", ".join(valid.show(v) for v in distinct[:5])
    return f"the values {shown}" + (", ..." if len(distinct) > 5 else "")


# scikit-learn orders classes by value, so that for the words "positive" and "unlabeled" the last
# class, whose scores `decision_function` gives, is the wrong one. Here the label column says which
# class is meant.


RESPONSES = ("decision_function", "predict_proba")


def labeled_value(labeled: ArrayLike, positive_label: object = None) -> Any:
    """The value of the label column that means labeled."""
    values = valid.to_numpy("labeled", labeled)
    positive, _ = encode_labels(values, values.size, positive_label=positive_label)
    return values[int(np.argmax(positive))]


def response_scores(
    estimator: Any,
    X: Any,
    *,
    positive: Any,
    methods: Collection[str] = RESPONSES,
    response_method: str = "auto",
) -> Any:
    """Scores of a fitted binary classifier, larger where the class ``positive`` is likelier."""
    valid.check_choice("response_method", response_method, ("auto", *RESPONSES))
    wanted = methods if response_method == "auto" else (response_method,)
    # hasattr, not the class: a pipeline or a search has what its last step has.
    found = next((method for method in wanted if hasattr(estimator, method)), None)
    if isinstance(estimator, type) or found is None:
        raise valid.bad_type(
            "estimator",
            f"a fitted classifier with {' or '.join(wanted)}",
            estimator,
            "for scores from elsewhere use the functions that take scores",
        )
    from sklearn.exceptions import NotFittedError

    try:
        scores = np.asarray(getattr(estimator, found)(X))
    except NotFittedError as error:
        raise valid.bad_value(
            "estimator", "fitted", valid.show(estimator), "call fit first"
        ) from error
    classes = getattr(estimator, "classes_", None)
    if classes is None:  # not scikit-learn's own: nothing says that its scores are turned
        return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
    at = _class_of(np.asarray(classes), positive)
    if scores.ndim == 2:
        return scores[:, at] if scores.shape[1] == len(classes) else scores
    return scores if at == 1 else -scores


def _class_of(classes: np.ndarray[Any, Any], positive: Any) -> int:
    """Where among the classes the positive one is."""
    if len(classes) != 2:
        raise valid.bad_value(
            "estimator",
            "a classifier of two classes",
            f"one with {len(classes)} ({valid.show(list(classes))})",
            "train it on labeled against unlabeled, or on positive against negative",
        )
    same = [bool(c == positive) for c in classes]
    if any(same):
        return same.index(True)
    # Trained on other values than the label column holds, such as true classes.
    encoded, _ = encode_labels(classes, classes.size, parameter="estimator.classes_")
    return int(np.argmax(encoded))
