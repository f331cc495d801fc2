"""Elbows of AlphaMax: three rules for where a likelihood leaves its plateau.

All rules take curves of many replicates, one per row, already made monotone. The two that
compare slopes look at windows of a fixed length in c, ten (or three) points .01 apart whatever
the spacing of the grid, so that a finer grid refines the answer and does not change its meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import gammaincinv

from purecover._typing import FloatArray, IntArray
from purecover.estimators.inclusion_likelihood import bin_ratios

Elbow = Literal["deviance", "paper", "released"]

_SPACING = 0.01
_LAST = 0.99
"""End of the released grid; beyond it every curve plunges, which is no elbow."""

RELEASED_RANGE = (0.10, 0.89)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Curves:
    """Likelihood curves and histograms from which an elbow is read.

    Attributes
    ----------
    inclusion : ndarray of shape (n_grid,)
        The grid of c, evenly spaced from 0.
    log_likelihood : ndarray of shape (n_replicates, n_grid)
        LL(c), not increasing.
    mixture, component : ndarray of shape (n_replicates, n_bins)
        The histograms.
    sizes : (ndarray, ndarray)
        Effective numbers of examples of mixture and component, one per replicate.
    """

    inclusion: FloatArray
    log_likelihood: FloatArray
    mixture: FloatArray
    component: FloatArray
    sizes: tuple[FloatArray, FloatArray]

    @property
    def stride(self) -> int:
        """Grid points per .01."""
        return max(1, round(_SPACING / float(self.inclusion[1])))

    @property
    def drop(self) -> FloatArray:
        """Twice what the likelihood has lost since c = 0."""
        return 2 * (self.log_likelihood[:, :1] - self.log_likelihood)


def find_elbow(curves: Curves, elbow: Elbow) -> tuple[FloatArray, IntArray]:
    """The statistic each rule looks at, NaN where it does not look, and the index of the elbow."""
    statistic = _STATISTICS[elbow](curves)
    if elbow == "deviance":
        allowed = statistic <= 0
        last: IntArray = statistic.shape[1] - 1 - np.argmax(allowed[:, ::-1], axis=1)
        return statistic, last
    return statistic, np.argmax(np.where(np.isnan(statistic), -np.inf, statistic), axis=1)


def _deviance(curves: Curves) -> FloatArray:
    r"""Deviance beyond what chance explains; the elbow is the last c where it is not positive.

    A bin with p < c q contradicts the inclusion c. Where that is chance, its
    :math:`z^2 = (p - c q)^2 / (c q / n_U + c^2 q / n_L)` is chi-square with one degree of freedom,
    and m such bins together are allowed the median of a chi-square with m. Each adds
    :math:`(p - c q)^2 (1 + 1/c) / (c q)` to the drop of the likelihood, which fixes the scale:
    the drop is multiplied by :math:`n_L n_U / (n_L + c\,n_U) / (1 + 1/c)`.
    """
    c = curves.inclusion
    n_mixture, n_component = (size[:, None] for size in curves.sizes)
    scale = c * n_mixture * n_component / ((n_component + c * n_mixture) * (c + 1))
    ratio = bin_ratios(curves.mixture, curves.component)
    violated = np.zeros(scale.shape, dtype=np.int64)
    for i in range(ratio.shape[1]):
        violated += c > ratio[:, i, None]
    degrees = np.arange(1, ratio.shape[1] + 1)
    allowed = np.concatenate(([0.0], 2 * gammaincinv(degrees / 2, 0.5)))
    return curves.drop * scale - allowed[violated] - _ROUNDING


def _paper(curves: Curves) -> FloatArray:
    """Change of slope over three points each side, relative to what has been lost so far.

    For c < 0 the curve goes on as flat as it is, so the elbow may be at 0.
    """
    stride, c = curves.stride, curves.inclusion
    reach, window = 3 * stride, 3 * stride
    n = int(np.searchsorted(c, _LAST + 1e-9))
    ll = curves.log_likelihood[:, :n]
    ll = np.concatenate((np.repeat(ll[:, :1], reach + window, axis=1), ll), axis=1)
    height = _scaled(_median_of_window(ll, reach))
    length = window * float(c[1])
    before = height[:, window:-window] - height[:, : -2 * window]
    after = height[:, 2 * window :] - height[:, window:-window]
    heuristic = (before - after) / length / (1 - height[:, window:-window] + 0.01)
    out = np.full(curves.log_likelihood.shape, np.nan)
    out[:, : n - window] = heuristic[:, reach:]
    return out


def _released(curves: Curves) -> FloatArray:
    """Change of slope between two lines below the curve, over ten points each side.

    The lines lie below all points of their window and rise at least by a hundredth of the
    overall slope; the change is divided by the median height of the window before. Only
    .10 to .89 can be returned.
    """
    stride, c = curves.stride, curves.inclusion
    first, n = stride, int(np.searchsorted(c, _LAST + 1e-9))
    y = _scaled(_median_of_window(-curves.log_likelihood[:, first:n], 2 * stride))
    x = c[first:n]
    floor = (y[:, -1] - y[:, 0]) / (x[-1] - x[0]) / 100
    low, high = RELEASED_RANGE
    j = np.flatnonzero((x >= low - 1e-9) & (x <= high + 1e-9))
    past = j[:, None] + stride * np.arange(-9, 1)
    future = j[:, None] + stride * np.arange(1, 11)
    inside = future[:, -1] < x.size
    j, past, future = j[inside], past[inside], future[inside]
    points = _SPACING * np.arange(10.0) * (stride * float(c[1]) / _SPACING)
    change = _slope_below(points, y[:, future], floor) - _slope_below(points, y[:, past], floor)
    out = np.full(curves.log_likelihood.shape, np.nan)
    out[:, first + j] = change / (np.median(y[:, past], axis=2) + 0.01)
    return out


def _slope_below(x: FloatArray, y: FloatArray, floor: FloatArray) -> FloatArray:
    """Slope of the least-squares line below all points (last axis) and not flatter than floor.

    Such a line touches a point. For each point the slopes with which a line may touch it form
    an interval, on which the squares are a parabola: the best of all of them is taken.
    """
    best = np.full(y.shape[:-1], np.inf)
    slope = np.zeros(y.shape[:-1])
    for k in range(x.size):
        dx, dy = x - x[k], y - y[..., k, None]
        least = np.broadcast_to(floor[:, None], slope.shape)
        if k:
            least = np.maximum(least, (dy[..., :k] / dx[:k]).max(axis=-1))
        most = (dy[..., k + 1 :] / dx[k + 1 :]).min(axis=-1, initial=np.inf)
        free = (dy * dx).sum(axis=-1) / np.square(dx).sum()
        m = np.minimum(np.maximum(free, least), most)
        squares = np.square(dy - m[..., None] * dx).sum(axis=-1)
        better = (least <= most + 1e-12) & (squares < best)
        best, slope = np.where(better, squares, best), np.where(better, m, slope)
    return slope


def _median_of_window(curves: FloatArray, reach: int) -> FloatArray:
    """The running median of monotone curves: the value in the middle of each window.

    So only the ends change, where a part of the window is missing.
    """
    n = curves.shape[1]
    j = np.arange(n)
    twice = np.maximum(j - reach, 0) + np.minimum(j + reach, n - 1)
    return (curves[:, twice // 2] + curves[:, (twice + 1) // 2]) / 2


def _scaled(curves: FloatArray) -> FloatArray:
    low, high = curves.min(axis=1, keepdims=True), curves.max(axis=1, keepdims=True)
    # A curve without any drop stays flat.
    return (curves - low) / np.where(high > low, high - low, 1.0)


_STATISTICS: dict[str, Callable[[Curves], FloatArray]] = {
    "deviance": _deviance,
    "paper": _paper,
    "released": _released,
}
