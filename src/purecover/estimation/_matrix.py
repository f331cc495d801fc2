"""Reading features: a matrix, a column or a data frame as rows of finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from purecover._frames import column_names, is_frame, read_columns
from purecover._typing import FloatArray
from purecover._validation import as_real_vector, bad_value


def read_matrix(function: str, X: Any, parameter: str = "X") -> FloatArray:
    """Rows of finite numbers, or a complaint about that parameter."""
    if is_frame(X):
        # Columns of pandas are often called 0, 1 and so on, which are no texts.
        names: list[Any] = list(X.columns) if hasattr(X, "iloc") else column_names(X)
        if not names:
            raise bad_value(function, parameter, "a table with at least one column", "none")
        table = read_columns(function, X, {f"{parameter}[{name!r}]": name for name in names})
        columns = [as_real_vector(function, place, values) for place, values in table.items()]
        return np.column_stack(columns)
    values = X
    if hasattr(values, "detach"):  # a torch tensor, perhaps with a gradient or on a GPU
        values = values.detach().cpu()
    if hasattr(values, "toarray"):
        must, hint = "a dense matrix", f"pass {parameter}.toarray(), or reduce it first"
        raise bad_value(function, parameter, must, "a sparse one", hint)
    try:
        array = np.asarray(values)
    except Exception:  # noqa: BLE001 - ragged lists and foreign containers; the next line complains
        array = np.empty(0)
    if array.ndim != 2:
        return as_real_vector(function, parameter, X)[:, None]
    n, p = array.shape
    if n == 0 or p == 0:
        raise bad_value(function, parameter, "non-empty", f"an array of shape {array.shape}")
    flat = _flat(values, array)
    return as_real_vector(function, parameter, flat).reshape(n, p)


def _flat(values: Any, array: np.ndarray[Any, Any]) -> Any:
    """All entries in one vector, masked where they were."""
    return values.reshape(-1) if np.ma.isMaskedArray(values) else array.reshape(-1)
