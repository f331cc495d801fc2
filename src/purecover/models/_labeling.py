"""What the classifiers of this package have in common: rows, their labels, weights and classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._labels import encode_labels, labeled_of_two, refuse_missing
from purecover._response import response_scores
from purecover._typing import ArrayLike, FloatArray
from purecover._validation import (
    as_weights,
    bad_type,
    bad_value,
    check_alignment,
    show,
    to_numpy,
)
from purecover.exceptions import InvalidInputError, InvalidTypeError, PurecoverWarning
from purecover.models._table import (
    Examples,
    check_as_long,
    check_weights,
    model_name,
    read_groups,
    read_rows,
)

__all__ = [
    "Labeling",
    "TwoClasses",
    "called_y",
    "check_rows",
    "fit_all",
    "fit_parameters",
    "log_odds",
    "read_labeling",
    "read_weights",
    "row_scores",
    "warn_of_weights",
]


@dataclass(frozen=True, eq=False)
class Labeling:
    """Rows with a label column, read.

    Attributes
    ----------
    examples : Examples
        The rows.
    classes : ndarray of shape (2,)
        The two values of the label column in ascending order, as scikit-learn wants them.
    at : int
        Where among them the value is that means labeled.
    """

    examples: Examples
    classes: np.ndarray[Any, Any]
    at: int

    @property
    def positive(self) -> Any:
        """The value that means labeled."""
        return self.classes[self.at]


@contextmanager
def called_y() -> Iterator[None]:
    """Complaints about labels name them as scikit-learn's ``fit`` does."""
    try:
        yield
    except (InvalidInputError, InvalidTypeError) as error:
        text = str(error)
        renamed = text.replace("The 'labeled' parameter of", "The 'y' parameter of", 1)
        if renamed == text:
            raise
        raise type(error)(renamed) from error


def read_labeling(
    function: str,
    X: Any,
    y: ArrayLike | None,
    *,
    groups: ArrayLike | None = None,
    positive_label: object = None,
) -> Labeling:
    """Rows and labels of scikit-learn's ``fit(X, y)``, or a complaint in a function's name."""
    from sklearn.utils import indexable

    check_rows(function, X)
    if not isinstance(X, (list, tuple, str, bytes, type)):
        (X,) = indexable(X)  # sparse matrices of a kind that can be cut into folds
    must = "an array: for each row, whether the example carries the label"
    if y is None:
        got = "None; fit requires y to be passed, but the target y is None"
        raise bad_value(function, "y", must, got)
    if isinstance(y, str):  # predictions are made of frames without that column
        raise bad_type(function, "y", must, y, "pass the column itself")
    if isinstance(groups, str):
        must = "an array: for each row, its group"
        raise bad_type(function, "groups", must, groups, "pass the column itself")
    if getattr(y, "ndim", 1) == 2:
        _warn_of_column(function)
    X, n_rows = read_rows(function, X)
    values = _plain(to_numpy(function, "y", y))
    check_as_long(function, "y", values.size, n_rows)
    check_alignment(function, X, y, names=("X", "y"))
    refuse_missing(function, "y", values)
    classes = _two_classes(function, values)
    if positive_label is None:
        at = labeled_of_two(classes)
        if at is None:
            must = "two-valued, one value for labeled and one for unlabeled rows"
            got = f"{show(classes.tolist())}, which both mean the same"
            hint = "name the value that means labeled with positive_label="
            raise bad_value(function, "y", must, got, hint)
        positive = np.asarray(values == classes[at], dtype=np.bool_)
    else:
        positive, _ = encode_labels(
            function, values, n_rows, positive_label=positive_label, parameter="y"
        )
        at = int(np.flatnonzero(classes == values[int(np.argmax(positive))])[0])
    if groups is not None:
        groups = read_groups(function, groups, n_rows)
    return Labeling(Examples(X, values, positive, None, groups, None), classes, at)


def _plain(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Columns of objects that are truth values or numbers throughout, as such."""
    if values.dtype.kind != "O":
        return values
    kinds = {type(value) for value in values.tolist()}
    if kinds <= {bool, np.bool_}:
        return values.astype(np.bool_)
    return np.array(values.tolist()) if kinds in ({int}, {float}) else values


def _two_classes(function: str, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The two values in ascending order, or a complaint that scikit-learn's users know."""
    try:
        classes = np.unique(values)
    except TypeError as error:  # values that cannot be compared
        must, hint = "of one type throughout", "map it to booleans first"
        raise bad_type(function, "y", must, values[0], hint) from error
    if classes.size == 2:
        return classes
    must = "two-valued, one value for labeled and one for unlabeled rows"
    if classes.size == 1:
        got = f"one class: {show(classes.tolist()[0])} in all {values.size} rows"
        hint = "training needs labeled and unlabeled rows; is that the right column?"
        raise bad_value(function, "y", must, got, hint)
    got = f"{classes.size} values, {show(classes[:5].tolist())}"
    if values.dtype.kind == "f" and not bool((values == np.round(values)).all()):
        hint = "Unknown label type: continuous. Are these scores?"
    else:
        hint = (
            "Only binary classification is supported. The type of the target is multiclass. "
            "Map the column to booleans first, for example y == 'positive'"
        )
    raise bad_value(function, "y", must, got, hint)


def check_rows(function: str, X: Any) -> None:
    """Refuse at the door what no classifier takes, before it is cut into folds."""
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise bad_value(
            function, "X", "real", "complex numbers", "Complex data not supported: pass parts"
        )
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "fiub":
        hint = "Reshape your data: X.reshape(1, -1) is one row, X.reshape(-1, 1) one feature"
        raise bad_value(function, "X", "a matrix", f"an array of shape {X.shape}", hint)


def _warn_of_column(function: str) -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        f"A column-vector y was passed when a 1d array was expected by {function}",
        DataConversionWarning,
        stacklevel=4,
    )


def read_weights(
    function: str, sample_weight: ArrayLike | None, examples: Examples
) -> FloatArray | None:
    """Weights of the rows, some of them on either side; None if none were given."""
    if sample_weight is None:
        return None
    weight = as_weights(function, sample_weight, examples.n_rows)
    check_weights(function, weight, examples.positive, examples.unlabeled)
    return weight


def weight_parameter(estimator: Any) -> str | None:
    """What the ``fit`` of an estimator calls weights of rows; None if it takes none.

    A pipeline hands them to its last step.
    """
    from sklearn import get_config
    from sklearn.utils.validation import has_fit_parameter

    steps = getattr(estimator, "steps", None)
    if not steps:
        return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None
    name, last = steps[-1]
    inner = weight_parameter(last)
    if inner is None:
        return None
    if get_config()["enable_metadata_routing"]:
        asked = last.get_metadata_routing() if hasattr(last, "get_metadata_routing") else None
        wants = asked is not None and asked.consumes("fit", ["sample_weight"])
        return "sample_weight" if wants else None
    return f"{name}__{inner}"


def fit_parameters(estimator: Any, weight: FloatArray | None) -> dict[str, FloatArray]:
    """The weights, if there are any and the estimator's ``fit`` takes them."""
    name = None if weight is None else weight_parameter(estimator)
    return {} if name is None or weight is None else {name: weight}


def warn_of_weights(function: str, estimator: Any, weight: FloatArray | None) -> None:
    """Say where weights of rows do not reach the training."""
    if weight is None or weight_parameter(estimator) is not None:
        return
    warnings.warn(
        f"{model_name(estimator)} takes no weights in its fit, so that sample_weight of {function} "
        "counts in the calibration and in alpha, but not in its training.",
        PurecoverWarning,
        stacklevel=4,
    )


def fit_all(estimator: Any, examples: Examples, weight: FloatArray | None = None) -> Any:
    """A copy of the estimator, fitted to all rows, with 1 for labeled and 0 for unlabeled."""
    from sklearn.base import clone

    fresh = clone(estimator)
    parameters = fit_parameters(fresh, weight)
    return fresh.fit(examples.X, examples.positive.astype(np.int64), **parameters)


def row_scores(function: str, estimator: Any, X: Any, method: str) -> FloatArray:
    """Scores by a classifier that was fitted to 1 for labeled and 0 for unlabeled."""
    scores = response_scores(function, estimator, X, positive=1, methods=(method,))
    return np.asarray(scores, dtype=np.float64)


def log_odds(
    probabilities: FloatArray, least: float = float(np.finfo(np.float64).eps)
) -> FloatArray:
    """Log-odds, of probabilities cut at ``least`` from 0 and 1 so that they remain finite."""
    from scipy.special import logit

    return np.asarray(logit(np.clip(probabilities, least, 1 - least)))


class TwoClasses:
    """What goes by the order of the two classes, as scikit-learn's names do."""

    classes_: np.ndarray[Any, Any]
    labeled_class_: Any

    @property
    def _labeled_last(self) -> bool:
        return bool(self.classes_[1] == self.labeled_class_)

    def _columns(self, labeled: FloatArray) -> FloatArray:
        """Probabilities of ``classes_`` from those of the value for labeled."""
        columns = (1 - labeled, labeled)
        return np.column_stack(columns if self._labeled_last else columns[::-1])

    def _turned(self, scores: FloatArray) -> FloatArray:
        """Scores that are larger for ``classes_[1]`` from scores larger for labeled."""
        return scores if self._labeled_last else -scores
