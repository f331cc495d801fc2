"""Inputs of the networks: features as standardized numbers, and the value that means labeled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover_paper.arguments import bad_value, show
from purecover_paper.arrays import FloatArray

_LARGEST_DENSE = 2**32
"""Bytes that a sparse matrix may need as a dense one."""
_LABELED_WORDS = frozenset(("labeled", "labelled", "positive", "pos", "true", "yes"))
_UNLABELED_WORDS = frozenset(
    ("unlabeled", "unlabelled", "unknown", "none", "negative", "neg", "false", "no")
)
_BLOCK = 2**21
"""Values of a table that are standardized at a time."""


def read_features(model: Any, X: Any, y: Any = "no_validation", *, reset: bool) -> NDArray[Any]:
    """Return a dense matrix of finite numbers, checked by scikit-learn."""
    hint = "make numbers of it first, for example with sklearn.preprocessing.OneHotEncoder"
    if not issparse(X) and np.asarray(X).dtype.kind in "mM":
        raise bad_value("X", "a table of numbers", "times", hint)
    kinds = [np.float64, np.float32]
    try:
        found = validate_data(model, X, y, accept_sparse="csr", dtype=kinds, reset=reset)
    except (TypeError, ValueError) as error:
        text = str(error)
        foreign = ("could not convert", "float() argument must", "could not be promoted")
        if not any(words in text for words in foreign):
            raise
        kind = InvalidTypeError if isinstance(error, TypeError) else InvalidInputError
        got = f"other values ({text})"
        raise kind(parameter="X", must="a table of numbers", got=got, hint=hint) from error
    X = found[0] if isinstance(found, tuple) else found
    if not issparse(X):
        return np.asarray(X)
    if X.shape[0] * X.shape[1] * X.dtype.itemsize > _LARGEST_DENSE:
        raise bad_value(
            "X",
            f"small enough to be a dense matrix of at most {_LARGEST_DENSE // 2**30} GiB",
            f"a sparse matrix of shape {X.shape}",
            "reduce its columns first, for example with sklearn.decomposition.TruncatedSVD",
        )
    return np.asarray(X.toarray())


def read_labels(y: ArrayLike, positive_label: object) -> tuple[NDArray[Any], Any]:
    """Return the two values of ``y`` in order, and the value that means labeled."""
    values = np.ravel(np.asarray(y))
    if values.dtype.kind == "O":  # truth values, numbers or texts as objects
        values = np.array(values.tolist())
    check_classification_targets(values)
    classes = np.unique(values)
    must = "two-valued, one value for labeled and one for unlabeled rows"
    if classes.size == 1:
        got = f"one class: {show(classes.tolist()[0])} in all {values.size} rows"
        raise bad_value("y", must, got, "is that the right column?")
    if classes.size > 2:
        hint = (
            "Only binary classification is supported. The type of the target is multiclass. "
            "Map the column to booleans first, for example y == 'positive'"
        )
        raise bad_value("y", must, f"{classes.size} values, {show(classes[:5].tolist())}", hint)
    if positive_label is None:
        return classes, classes[_labeled_of_two(classes)]
    match = np.flatnonzero([value == positive_label for value in classes])
    if match.size != 1:
        must = f"one of the two values of y, {show(classes.tolist())}"
        raise bad_value("positive_label", must, show(positive_label))
    return classes, classes[match[0]]


def _labeled_of_two(classes: NDArray[Any]) -> int:
    """Return which of two values means labeled: the second, unless a known word says the first."""
    if classes.dtype.kind not in "UST":
        return 1
    words = [str(value).strip().casefold() for value in classes.tolist()]
    if set(words) <= _LABELED_WORDS or set(words) <= _UNLABELED_WORDS:
        got = f"{show(classes.tolist())}, which both mean the same"
        hint = "name the value that means labeled with positive_label="
        raise bad_value("y", "one value for labeled and one for unlabeled rows", got, hint)
    first = words[0] in _LABELED_WORDS or words[1] in _UNLABELED_WORDS
    return 0 if first else 1


@dataclass(frozen=True)
class Standardizer:
    """Column by column: subtract ``center``, divide by ``scale``; constant columns become 0.

    Columns are first divided by ``size``, their largest magnitude, so that neither sums nor
    squares of huge or tiny values leave the range of floating-point numbers.
    """

    size: FloatArray
    center: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, features: Any) -> Standardizer:
        """From the columns of a matrix, read in blocks of rows."""
        n, d = features.shape
        size = np.zeros(d)
        for part in _blocks(n, d):
            size = np.maximum(size, np.abs(features[part]).max(axis=0))
        size[size == 0] = 1.0
        total = np.zeros(d)
        for part in _blocks(n, d):
            total += (features[part] / size).sum(axis=0, dtype=np.float64)
        center = total / n
        squares = np.zeros(d)
        for part in _blocks(n, d):
            squares += ((features[part] / size - center) ** 2).sum(axis=0, dtype=np.float64)
        scale = np.sqrt(squares / n)
        # Rounding errors of a constant column are not variation.
        scale[scale <= 1e-12] = np.inf
        return cls(size, center, scale)

    def transform(self, features: Any, dtype: Any) -> np.ndarray[Any, Any]:
        """The standardized features, and a last column of ones for the bias."""
        n, d = features.shape
        out = np.empty((n, d + 1), dtype=dtype)
        limit = np.finfo(dtype).max ** 0.25
        constant = np.isinf(self.scale)
        for part in _blocks(n, d):
            with np.errstate(over="ignore"):  # far outside what was seen: as far as floats go
                values = features[part] / self.size - self.center
                values /= np.where(constant, 1.0, self.scale)
            values[:, constant] = 0.0  # whatever it is now
            out[part, :-1] = np.clip(values, -limit, limit)
        out[:, -1] = 1.0
        return out


def _blocks(n: int, d: int) -> Iterator[slice]:
    size = max(_BLOCK // max(d, 1), 1)
    for start in range(0, n, size):
        yield slice(start, start + size)
