"""What maps over alpha and beta share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray

# An AUC this close to 0 or 1 is on the edge, not beyond it.
_ROUNDING = 1e-9


def outside(auc: FloatArray) -> BoolArray:
    """Where an AUC is beyond [0, 1]; False for NaN."""
    return (auc < -_ROUNDING) | (auc > 1 + _ROUNDING)


def pairs(alphas: FloatArray, betas: FloatArray) -> dict[str, np.ndarray[Any, Any]]:
    return {"alpha": np.repeat(alphas, betas.size), "beta": np.tile(betas, alphas.size)}


def nested(values: FloatArray) -> list[list[float | None]]:
    return [[v if math.isfinite(v) else None for v in row] for row in values.tolist()]
