"""The ends of intervals from draws: one rule of ranks for replicates and posteriors alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from purecover._typing import ArrayLike, FloatArray


def quantiles(draws: ArrayLike, shares: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    r"""Return the values that shares of all draws, seen or not, lie below.

    Of n draws and one more that is exchangeable with them, the last lies below the k-th lowest
    with probability :math:`k / (n + 1)`. A share :math:`p` is therefore reached at the rank
    :math:`p (n + 1)`, between two draws on the straight line, so that an interval of the level
    :math:`1 - 2p` contains the next draw in that share of all cases. (The ranks :math:`1 + p(n-1)`
    of ``np.quantile`` do so in 93.1 % of the cases for 100 draws and a level of 95 %.) Where the
    rank is below 1 or above n, there are too few draws for the level: the extreme draw is
    returned, and an interval contains less than its level says.

    Parameters
    ----------
    draws : array-like of shape (n, ...)
        The draws, along the first axis; not NaN.
    shares : array-like of shape (m,)
        The shares, between 0 and 1.
    weights : array-like of shape (n,), optional
        Weights of the draws. With the sum :math:`W` and the mean weight :math:`u` of what was
        drawn, :math:`\sum w^2 / W`, the k-th lowest draw has the rank share
        :math:`(\sum_{j<k} w_j + (w_k + u)/2) / (W + u)`, which is :math:`k / (n + 1)` if all
        weights are equal.

    Returns
    -------
    ndarray of shape (m, ...)
        A value for each share. Between a finite draw and an infinite one it is the one farther
        from the middle.
    """
    values, wanted = np.asarray(draws, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    if weights is None:
        values = np.sort(values, axis=0)
        places = wanted * (len(values) + 1) - 1
    else:
        weight = np.asarray(weights, dtype=np.float64)
        values, weight = values[weight > 0], weight[weight > 0]
        order = np.argsort(values, kind="stable")
        values, weight = values[order], weight[order]
        total = weight.sum()
        unit = weight @ weight / total
        reached = (np.cumsum(weight) - weight / 2 + unit / 2) / (total + unit)
        places = np.interp(wanted, reached, np.arange(len(values)))
    # A hair of rounding is no step towards the next draw.
    places = np.where(abs(places - places.round()) < 1e-9, places.round(), places)
    places = places.clip(0, len(values) - 1)
    first = np.floor(places).astype(np.intp)
    low, high = values[first], values[np.ceil(places).astype(np.intp)]
    column = (-1, *[1] * (values.ndim - 1))
    with np.errstate(invalid="ignore"):
        between = low + (places - first).reshape(column) * (high - low)
    outer = np.where((wanted < 0.5).reshape(column), low, high)
    return np.where(np.isfinite(low) & np.isfinite(high), between, outer)


def interval_ends(draws: Any, level: float, weights: ArrayLike | None = None) -> tuple[Any, Any]:
    """Return both ends of the interval of a level, by :func:`quantiles`."""
    low, high = quantiles(draws, [(1 - level) / 2, (1 + level) / 2], weights)
    return (float(low), float(high)) if low.ndim == 0 else (low, high)
