"""Type names shared by all modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
IndexArray: TypeAlias = NDArray[np.intp]
"""Places and lengths that NumPy takes: of 32 bits where addresses are."""

BoolArray: TypeAlias = NDArray[np.bool_]
CountArray: TypeAlias = NDArray[np.int64 | np.float64]
"""Counts per threshold: integers, or floats where rows carry weights."""

ArrayLike: TypeAlias = Any
"""Anything one-dimensional: list, NumPy, pandas, polars, Arrow or torch column."""

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

Repair: TypeAlias = Literal["none", "paper", "isotonic", "hull", "likelihood", "blend"]
AreaRule: TypeAlias = Literal["davis-goadrich", "average-precision", "trapezoid"]
Scenario: TypeAlias = Literal["case-control", "censoring"]
Target: TypeAlias = Literal["population", "deployment", "pooled"] | float
"""The population that a prior-dependent metric is for; a number is its prior."""

if TYPE_CHECKING:
    OrNan: TypeAlias = float
else:

    class _Float(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, float)

    class OrNan(metaclass=_Float):
        """A float that is NaN where it is undefined; JSON has null there."""
