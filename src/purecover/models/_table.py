"""Rows of features as scikit-learn takes them, and columns that are no features taken out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from purecover._frames import is_frame, read_columns
from purecover._labels import encode_labels, is_missing
from purecover._typing import ArrayLike, BoolArray, FloatArray, IntArray
from purecover._validation import (
    as_weights,
    bad_type,
    bad_value,
    check_alignment,
    show,
    to_numpy,
)

_MUST = "a table of features: an array with a row per example, a data frame or a sparse matrix"


@dataclass(frozen=True)
class Examples:
    """Features with what is known of each row."""

    X: Any
    labeled: Any  # the column as it was given
    positive: BoolArray
    negative: BoolArray | None
    groups: Any
    truth: Any
    weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.positive.size

    @property
    def unlabeled(self) -> BoolArray:
        """Rows that are neither labeled nor known to be negative."""
        return _others(self.positive, self.negative)

    @property
    def group_codes(self) -> IntArray | None:
        """A number for each group."""
        if self.groups is None:
            return None
        return np.unique(self.groups, return_inverse=True)[1].reshape(-1)


def read_examples(
    function: str,
    X: Any,
    labeled: ArrayLike | str,
    *,
    groups: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    sample_weight: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
) -> Examples:
    """Check the rows; columns named by ``labeled`` and the like leave the features."""
    parts = {
        "labeled": labeled,
        "groups": groups,
        "truth": truth,
        "sample_weight": sample_weight,
    }
    X, parts = _take_out(function, X, parts)
    X, n_rows = read_rows(function, X)
    values = to_numpy(function, "labeled", parts["labeled"])
    check_as_long(function, "labeled", values.size, n_rows)
    check_alignment(function, X, parts["labeled"], names=("X", "labeled"))
    positive, negative = encode_labels(
        function,
        values,
        n_rows,
        positive_label=positive_label,
        negative_label=negative_label,
    )
    if parts["groups"] is not None:
        parts["groups"] = read_groups(function, parts["groups"], n_rows)
    weight = None
    if parts["sample_weight"] is not None:
        weight = to_numpy(function, "sample_weight", parts["sample_weight"])
        check_as_long(function, "sample_weight", weight.size, n_rows)
        weight = as_weights(function, weight, n_rows)
        check_weights(function, weight, positive, _others(positive, negative))
    return Examples(X, values, positive, negative, parts["groups"], parts["truth"], weight)


def _others(positive: BoolArray, negative: BoolArray | None) -> BoolArray:
    return ~positive if negative is None else ~(positive | negative)


def check_weights(
    function: str, weight: FloatArray, labeled: BoolArray, unlabeled: BoolArray
) -> None:
    """Weights that leave rows on either side."""
    for side, rows in (("labeled", labeled), ("unlabeled", unlabeled)):
        if not float(weight[rows].sum()) > 0:
            must = "positive for some labeled and some unlabeled rows: both classes are needed"
            raise bad_value(function, "sample_weight", must, f"zero for all {side} rows")


def _take_out(function: str, X: Any, parts: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The columns that names stand for, and the frame without them."""
    names = {role: value for role, value in parts.items() if isinstance(value, str)}
    if not names or isinstance(X, Mapping) or not is_frame(X):
        return X, parts
    import narwhals.stable.v2 as nw

    found = read_columns(function, X, names)
    rest = nw.from_native(X, eager_only=True).drop(list(dict.fromkeys(names.values())))
    return rest.to_native(), {**parts, **found}


def read_rows(function: str, X: Any) -> tuple[Any, int]:
    """The features as something that has rows, and how many; a complaint if it has none."""
    if isinstance(X, Mapping):
        say = "make a data frame of it, or an array with np.column_stack"
        raise bad_type(function, "X", _MUST, X, say)
    if isinstance(X, (list, tuple)) and not any(isinstance(row, (str, dict)) for row in X):
        # Texts and dicts are for a pipeline that reads them; all else is a matrix.
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise bad_type(function, "X", _MUST, X, "rows must be of one length") from error
    if isinstance(X, (str, bytes, type)):
        raise bad_type(function, "X", _MUST, X)
    hint: str | None
    try:
        n_rows = int(_num_samples(X))
    except Exception as error:  # foreign things raise whatever they like
        hint = "collect a lazy frame first" if hasattr(X, "collect") else None
        raise bad_type(function, "X", _MUST, X, hint) from error
    if isinstance(X, np.ndarray) and X.ndim != 2 and X.dtype.kind not in "OUST":
        hint = "a single feature is X.reshape(-1, 1)" if X.ndim == 1 else None
        raise bad_value(function, "X", _MUST, f"an array of shape {X.shape}", hint)
    if n_rows == 0:
        raise bad_value(function, "X", _MUST, "no rows at all")
    return X, n_rows


def read_groups(function: str, groups: ArrayLike, n_rows: int) -> np.ndarray[Any, Any]:
    """The group of each row."""
    codes = to_numpy(function, "groups", groups)
    check_as_long(function, "groups", codes.size, n_rows)
    missing = sum(is_missing(v) for v in codes.tolist())
    if missing:
        hint = "give each such row a group of its own"
        got = f"{missing} missing of {codes.size}"
        raise bad_value(function, "groups", "free of missing values", got, hint)
    try:
        n_groups = np.unique(codes).size
    except Exception as error:  # foreign objects raise whatever they like when compared
        must = "of one type that can be sorted"
        raise bad_type(function, "groups", must, codes[0]) from error
    if n_groups < 2:
        raise bad_value(function, "groups", "at least two groups", "one group")
    return codes


def check_as_long(function: str, parameter: str, size: int, n_rows: int) -> None:
    """A value for each row."""
    if size != n_rows:
        must = f"as long as X has rows ({n_rows})"
        raise bad_value(function, parameter, must, f"{size} values")


def model_name(estimator: Any) -> str:
    """What a report calls a model: its class, and those of the steps inside it."""
    steps = getattr(estimator, "steps", None)
    if steps:
        parts = [step for _, step in steps if step not in (None, "passthrough")]
        return " + ".join(model_name(step) for step in parts)
    name = type(estimator).__name__
    # A forest keeps a tree under this name that nobody chose: only parameters count.
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    inner = parameters.get("estimator")
    return f"{name}({model_name(inner)})" if hasattr(inner, "fit") else name


def check_model(function: str, estimator: Any, methods: tuple[str, ...]) -> str:
    """The method a model scores with; a complaint if it has none, or cannot be copied."""
    must = "a scikit-learn classifier with " + (
        f"{', '.join(methods[:-1])} or {methods[-1]}" if len(methods) > 1 else methods[0]
    )
    if isinstance(estimator, type):
        raise bad_type(function, "estimator", must, estimator, f"make one: {estimator.__name__}()")
    usable = all(callable(getattr(estimator, m, None)) for m in ("fit", "get_params"))
    found = next((m for m in methods if hasattr(estimator, m)), None)
    if not usable or found is None:
        hint = "for scores from elsewhere use evaluate(scores, labeled)"
        if usable and hasattr(estimator, "predict"):
            hint = f"{show(estimator)} has predict alone, and yes and no are no ranking"
        raise bad_type(function, "estimator", must, estimator, hint)
    return found
