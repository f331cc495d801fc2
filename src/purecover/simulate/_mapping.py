"""Functions of scores that take a number or an array and hand back the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from purecover._typing import ArrayLike, FloatArray
from purecover._validation import bad_type, bad_value, show

Values = TypeVar("Values", float, FloatArray)


def apply(
    function: str,
    parameter: str,
    curve: Callable[[FloatArray], FloatArray],
    values: Values,
    *,
    low: float = -np.inf,
    high: float = np.inf,
) -> Values:
    """Apply a curve to a number or an array, and hand back the like."""
    array = _reals(function, parameter, values, low, high)
    result = curve(np.atleast_1d(array))
    like: Any = float(result[0]) if array.ndim == 0 else result.reshape(array.shape)
    return cast("Values", like)


def _reals(function: str, parameter: str, values: ArrayLike, low: float, high: float) -> FloatArray:
    must = "a number or an array of numbers"
    if low > -np.inf:
        must += f" in [{low:g}, {high:g}]"
    try:
        array = np.asarray(values)
    except Exception as error:  # foreign containers raise whatever they like
        raise bad_type(function, parameter, must, values) from error
    if array.dtype.kind not in "fiu":
        raise bad_type(function, parameter, must, values)
    array = array.astype(np.float64)
    if not np.all((array >= low) & (array <= high)):  # NaN fails too; infinities may be asked
        raise bad_value(function, parameter, must, show(values))
    return array
