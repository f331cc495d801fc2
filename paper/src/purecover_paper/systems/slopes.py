"""The elbows of AlphaMax that compare slopes: that of the paper, and that of its code.

Both look at windows of a fixed length in c, three or ten points .01 apart whatever the spacing of
the grid, so that a finer grid refines the answer and does not change its meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from purecover.estimators import AlphaMax, parameter
from purecover_paper.systems.arrays import FloatArray, IntArray

_SPACING = 0.01
_LAST = 0.99
"""End of the released grid; beyond it every curve plunges, which is no elbow."""

_RELEASED_RANGE = (0.10, 0.89)


@dataclass(kw_only=True, eq=False, repr=False)
class AlphaMaxPaper(AlphaMax):
    """AlphaMax with the elbow of its paper, from bins of one width.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: where the likelihood has no clear elbow: classes that overlap up to the top.

    Parameters
    ----------
    step : float, default=0.0025
        Spacing of the grid of inclusions, at most 0.05.

    Notes
    -----
    The elbow is where the slope changes most over .03 to each side, relative to the height lost so
    far. :class:`NoisyLabels` makes AlphaMax-N of it.

    References
    ----------
    Jain, White, Trosset & Radivojac (2016), "Nonparametric semi-supervised learning of class
    proportions", arXiv:1601.01944.

    Examples
    --------
    >>> import purecover as pu
    >>> from purecover_paper.systems import AlphaMaxPaper
    >>> sample = pu.simulate.binormal(3).sample(1000, 5000, alpha=0.3, random_state=1)
    >>> estimator = AlphaMaxPaper().fit(sample.scores, sample.labeled)
    >>> abs(estimator.proportions_.alpha - 0.3) < 0.1
    True
    """

    joins_bins: ClassVar[bool] = False

    def _find_elbow(self, curves: Any) -> tuple[FloatArray, IntArray]:
        statistic = self._statistic(curves)
        return statistic, np.argmax(np.where(np.isnan(statistic), -np.inf, statistic), axis=1)

    def _statistic(self, curves: Any) -> FloatArray:
        """Change of slope over three points each side, relative to what has been lost so far.

        For c < 0 the curve goes on as flat as it is, so the elbow may be at 0.
        """
        stride, c = _stride(curves), curves.inclusion
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


@dataclass(kw_only=True, eq=False, repr=False)
class AlphaMaxReleased(AlphaMaxPaper):
    """AlphaMax with the elbow of the code that its authors released, from bins of one width.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: an alpha below .10 or above .89, which it cannot return; classes that overlap up
    to the top.

    Parameters
    ----------
    step : float, default=0.01
        Spacing of the grid of inclusions, at most 0.05.

    Notes
    -----
    The elbow is the largest change between the slopes of two lines below the curve, over .10 to
    each side. :class:`NoisyLabels` makes AlphaMax-N of it.

    References
    ----------
    Jain, White, Trosset & Radivojac (2016), "Nonparametric semi-supervised learning of class
    proportions", arXiv:1601.01944.

    Examples
    --------
    >>> import purecover as pu
    >>> from purecover_paper.systems import AlphaMaxReleased
    >>> sample = pu.simulate.binormal(3).sample(1000, 5000, alpha=0.3, random_state=1)
    >>> estimator = AlphaMaxReleased().fit(sample.scores, sample.labeled)
    >>> abs(estimator.proportions_.alpha - 0.3) < 0.1
    True
    """

    step: float = parameter(0.01, "real", low=1e-4, high=0.05)

    def _statistic(self, curves: Any) -> FloatArray:
        """Change of slope between two lines below the curve, over ten points each side.

        The lines lie below all points of their window and rise at least by a hundredth of the
        overall slope; the change is divided by the median height of the window before. Only
        .10 to .89 can be returned.
        """
        stride, c = _stride(curves), curves.inclusion
        first, n = stride, int(np.searchsorted(c, _LAST + 1e-9))
        y = _scaled(_median_of_window(-curves.log_likelihood[:, first:n], 2 * stride))
        x = c[first:n]
        floor = (y[:, -1] - y[:, 0]) / (x[-1] - x[0]) / 100
        low, high = _RELEASED_RANGE
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


def _stride(curves: Any) -> int:
    """Grid points per .01."""
    return max(1, round(_SPACING / float(curves.inclusion[1])))


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
