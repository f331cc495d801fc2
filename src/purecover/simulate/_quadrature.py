"""Integrals over shares in [0, 1], accurate where the integrand is steep at an end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from purecover._typing import FloatArray

_TOLERANCE = 1e-13
# The outermost nodes weigh 1e-36, and every integrand here is bounded by 1.
_REACH = 4.0
_FINEST = 10


def integrate(
    function: Callable[[FloatArray], FloatArray],
    low: float,
    high: float,
    breaks: Iterable[float] = (),
) -> float:
    r"""Tanh-sinh quadrature of a function that is smooth between ``breaks``.

    Curves as functions of a share have infinite slopes at 0 or 1 (the ROC of any
    Gaussian pair does). The substitution :math:`u = 1/(1+e^{-\pi\sinh t})` puts nodes
    double-exponentially close to both ends, so such slopes cost no accuracy.
    """
    cuts = sorted({low, high, *(c for c in breaks if low < c < high)})
    return float(sum(_piece(function, a, b) for a, b in pairwise(cuts)))


def _piece(function: Callable[[FloatArray], FloatArray], low: float, high: float) -> float:
    width = high - low
    previous = np.inf
    for level in range(3, _FINEST + 1):
        step = 2.0**-level
        t = np.arange(-_REACH, _REACH + step, step)
        with np.errstate(over="ignore"):  # weights far out vanish, as they should
            growth = np.exp(-np.pi * np.sinh(np.abs(t)))
            near = growth / (1 + growth)  # distance to the nearer end, as a share of the width
            weight = np.pi * np.cosh(t) * growth / (1 + growth) ** 2
        # From its own end each node keeps full relative precision.
        u = np.where(t < 0, low + width * near, high - width * near)
        keep = (weight > 0) & (u > low) & (u < high)
        value = width * step * float(np.dot(weight[keep], function(u[keep])))
        if abs(value - previous) <= _TOLERANCE * max(width, abs(value)):
            return value
        previous = value
    return previous
