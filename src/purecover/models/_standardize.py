"""Features on one scale, whatever their own: mean 0 and standard deviation 1 over all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._typing import FloatArray

_BLOCK = 2**21


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
        # What rounding makes of a constant column is not variation.
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
