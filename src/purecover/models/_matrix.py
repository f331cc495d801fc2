"""Features as a matrix of numbers, or a complaint that says which column is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from purecover._frames import is_frame
from purecover._validation import bad_value, show
from purecover.exceptions import InvalidInputError

__all__ = ["numeric_matrix"]

_LARGEST_DENSE = 2**32
"""Bytes a sparse matrix may take when its zeros are written out."""

_MUST = "a table of numbers"
_HINT = "make numbers of it first, for example with {} in a pipeline, or leave it out"


def numeric_matrix(model: Any, function: str, X: Any, *, reset: bool) -> NDArray[Any]:
    """Finite numbers, checked by scikit-learn, with the zeros of sparse matrices written out."""
    _refuse_other_columns(function, X)
    kinds = [np.float64, np.float32]
    try:
        X = validate_data(model, X, accept_sparse="csr", dtype=kinds, reset=reset)
    except ValueError as error:
        text = str(error)
        if "could not convert string to float" not in text:
            raise
        hint = _HINT.format("sklearn.preprocessing.OneHotEncoder")
        raise bad_value(function, "X", _MUST, f"text ({text})", hint) from error
    if not hasattr(X, "toarray"):
        return np.asarray(X)
    if X.shape[0] * X.shape[1] * X.dtype.itemsize > _LARGEST_DENSE:
        raise bad_value(
            function,
            "X",
            f"small enough to write out its zeros in {_LARGEST_DENSE // 2**30} GiB",
            f"a sparse matrix of shape {X.shape}",
            "reduce its columns first, for example with sklearn.decomposition.TruncatedSVD",
        )
    return np.asarray(X.toarray())


def _refuse_other_columns(function: str, X: Any) -> None:
    """Texts and times, of which scikit-learn would not say in which column they are."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise _bad_column(function, "times", "")
    if not is_frame(X):
        return
    import narwhals.stable.v2 as nw

    for name, kind in nw.from_native(X, eager_only=True).schema.items():
        if kind.is_temporal():
            raise _bad_column(function, "times", f" in column {show(name)}")
        if kind == nw.String:
            raise _bad_column(function, "text", f" in column {show(name)}")


def _bad_column(function: str, what: str, where: str) -> InvalidInputError:
    tool = "FunctionTransformer" if what == "times" else "OneHotEncoder"
    hint = _HINT.format(f"sklearn.preprocessing.{tool}")
    return bad_value(function, "X", _MUST, f"{what}{where}", hint)
