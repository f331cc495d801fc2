r"""AlphaMax and AlphaMax-N: the proportion at which a likelihood leaves its plateau.

What differs from the code its authors released:

- The inner problem is solved exactly (see ``_separable``), not by a general optimizer, and no
  density is floored: a labeled score where nothing is unlabeled adds a constant, left out here.
- The grid has a spacing of .0025, not .01, and starts at 0.
- All examples are used; nothing is subsampled.
- The default elbow and the bins that go with it are our own; ``elbow="released"`` with
  ``step=0.01`` is the original.

All of them take curves of many replicates, one per row, already made monotone. The two that
compare slopes look at windows of a fixed length in c, ten (or three) points .01 apart whatever
the spacing of the grid, so that a finer grid refines the answer and does not change its meaning.

A binning is a list of starts: bin i holds the thresholds from ``starts[i]`` up to, not including,
``starts[i + 1]``, in the decreasing order of :class:`~purecover.counts.ScoreCounts`. It is made
once from the data; replicates, which share the thresholds, are added up over the same bins.

For histograms p of the mixture (unlabeled) and q of the component (labeled), a share c of the
component in the mixture has the likelihood

.. math::

    LL(c) = \max_b \; v \sum p \log(c q + p - b) + w \sum q \log(b / c)
    \quad\text{subject to}\quad 0 \le b \le p, \; \sum b = c,

where b is the part of the mixture that is taken for the component, and v and w weigh the two
samples. The problem separates: for a multiplier t every b is a root of
:math:`t b^2 - (t S + v p + w q) b + w q S = 0` with :math:`S = c q + p`, and the sum of all b
falls as t grows. One number per c is left to find, by Newton's method inside a bracket.

Three facts make it fast. Up to the smallest ratio p/q the curve is flat and known. Bins without
component all answer alike, so they count as one. And the multiplier changes slowly with c: a
coarse grid is solved first, and finer ones start from what it found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from purecover._codec import plain_fields
from purecover._imports import gammaincinv, xlogy
from purecover._inputs import Tabular
from purecover._parameters import checked
from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover._validation import Frozen, bad_value, check_choice, check_integer, check_real
from purecover.counts import ScoreCounts
from purecover.estimators import base
from purecover.estimators.assumptions import CLEAN_RULES, clean_many, clean_verdict
from purecover.estimators.samples import weight_units
from purecover.recovery.rates import effective_sizes


@dataclass(frozen=True, kw_only=True, eq=False)
class AlphaMaxCurve(Frozen, Tabular):
    """The likelihood of AlphaMax as a function of the assumed inclusion.

    Attributes
    ----------
    inclusion : ndarray of shape (n_grid,)
        The grid: assumed shares c of the labeled density inside the unlabeled one.
    log_likelihood : ndarray of shape (n_grid,)
        The largest log-likelihood for each.
    corrected : ndarray of shape (n_grid,)
        The same made non-increasing: the largest value at c or beyond.
    heuristic : ndarray of shape (n_grid,)
        What the elbow was chosen by, NaN where the rule does not look. The two elbows that
        compare slopes take its maximum, the other two the last c where it is not positive.
    elbow_index : int
        Where on the grid the elbow is.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(500, 2000, alpha=0.3, random_state=0)
    >>> curve = pu.estimators.AlphaMax(step=0.01).fit(sample.scores, sample.labeled).curve_
    >>> curve
    AlphaMaxCurve(100 points, elbow at 0.28)
    """

    inclusion: FloatArray
    log_likelihood: FloatArray
    corrected: FloatArray
    heuristic: FloatArray
    elbow_index: int

    @property
    def elbow(self) -> float:
        """The inclusion at the elbow."""
        return float(self.inclusion[self.elbow_index])

    def __repr__(self) -> str:
        return f"AlphaMaxCurve({self.inclusion.size:,} points, elbow at {self.elbow:.4g})"

    def _columns(self) -> dict[str, Any]:
        names = ("inclusion", "log_likelihood", "corrected", "heuristic")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON; None where the heuristic is not defined."""
        return plain_fields(self, "elbow")


# -- Where the likelihood leaves its plateau: four readings of one curve -------------------------


Elbow = Literal["deviance", "paper", "released", "likelihood_ratio"]

_SPACING = 0.01
_LAST = 0.99
"""End of the released grid; beyond it every curve plunges, which is no elbow."""

RELEASED_RANGE = (0.10, 0.89)
LIKELIHOOD_RATIO = 5.0
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Curves:
    """What an elbow is read from.

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
    weights : (float, float)
        What the two samples weighed in the likelihood.
    """

    inclusion: FloatArray
    log_likelihood: FloatArray
    mixture: FloatArray
    component: FloatArray
    sizes: tuple[FloatArray, FloatArray]
    weights: tuple[float, float]

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
    statistic = _RULES[elbow][0](curves)
    if elbow in ("deviance", "likelihood_ratio"):
        allowed = statistic <= 0
        last: IntArray = statistic.shape[1] - 1 - np.argmax(allowed[:, ::-1], axis=1)
        return statistic, last
    return statistic, np.argmax(np.where(np.isnan(statistic), -np.inf, statistic), axis=1)


def _deviance(curves: Curves) -> FloatArray:
    r"""Deviance beyond what chance explains; the elbow is the last c where it is not positive.

    A bin with p < c q contradicts the inclusion c. Where that is chance, its
    :math:`z^2 = (p - c q)^2 / (c q / n_U + c^2 q / n_L)` is chi-square with one degree of freedom,
    and m such bins together are allowed the median of a chi-square with m. Each adds
    :math:`(p - c q)^2 (v + w/c) / (c q)` to the drop of a likelihood with weights v and w, which
    fixes the scale: the drop is multiplied
    by :math:`n_L n_U / (n_L + c\,n_U) / (v + w/c)`.
    """
    scale, allowed = _chance(curves)
    return curves.drop * scale - allowed


def _chance(curves: Curves) -> tuple[FloatArray, FloatArray]:
    """What each drop of the likelihood is multiplied by, and what chance explains of it then."""
    c = curves.inclusion
    v, w = curves.weights
    n_mixture, n_component = (size[:, None] for size in curves.sizes)
    scale = c * n_mixture * n_component / ((n_component + c * n_mixture) * (v * c + w))
    ratio = _ratios(curves.mixture, curves.component)
    violated = np.zeros(scale.shape, dtype=np.int64)
    for i in range(ratio.shape[1]):
        violated += c > ratio[:, i, None]
    degrees = np.arange(1, ratio.shape[1] + 1)
    allowed = np.concatenate(([0.0], 2 * gammaincinv(degrees / 2, 0.5)))
    return scale, allowed[violated] + _ROUNDING


def _likelihood_ratio(curves: Curves) -> FloatArray:
    """Drop of the likelihood, counts as weights, beyond 5; the elbow is the last c within."""
    return curves.drop - LIKELIHOOD_RATIO


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


# -- Bins of the scores --------------------------------------------------------------------------


BinRule = Literal["merged", "released", "equal-mass"]
Bins = BinRule | int

EQUAL_MASS = 10
# Examples that a merged bin holds at least; or a fifth of all, where that is fewer. Of the
# labeled, the square root of all if that is more, so that large samples have small errors.
ENOUGH_LABELED, ENOUGH_UNLABELED = 20.0, 5.0
# Sums of weights are rounded.
_WIDTH_ROUNDING = 1e-6


def bin_starts(counts: ScoreCounts, bins: Bins) -> IntArray:
    """Where the bins begin.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    bins : {"merged", "released", "equal-mass"} or int
        ``"released"``: bins of one width, from :func:`released_width` of the labeled scores;
        those that hold nothing are left out. ``"merged"``: the same, joined with their lower
        neighbors until each holds enough examples of both samples.
        ``"equal-mass"``: 10 bins, or as many as the number says, of about equal mass under the
        mean of the two distributions; they depend on the order of the scores only.

    Returns
    -------
    ndarray of int
        Increasing, the first is 0.
    """
    if bins == "merged":
        return _merged(counts, _equal_width(counts))
    if bins == "released":
        return _equal_width(counts)
    return _equal_mass(counts, EQUAL_MASS if bins == "equal-mass" else int(bins))


def binned(tally: CountArray, starts: IntArray) -> FloatArray:
    """Counts per bin; ``tally`` may hold one replicate per row."""
    return np.add.reduceat(np.asarray(tally), starts, axis=-1).astype(np.float64)


def released_width(scores: FloatArray, tally: CountArray, size: float) -> float:
    r"""Scott's bin width, rounded as the released code of AlphaMax has it.

    Parameters
    ----------
    scores, tally : ndarray
        Distinct scores and their counts.
    size : float
        Effective size of the sample.

    Returns
    -------
    float
        :math:`3.5\,s\,n^{-1/3}` rounded to 1, 2, 3 or 5 times a power of ten; 0 if all scores
        are equal.
    """
    total = float(tally.sum())
    mean = float((tally * scores).sum()) / total
    variance = float((tally * np.square(scores - mean)).sum()) / total
    # A spread of rounding errors only is none.
    if size <= 1 or variance <= (1e-12 * max(abs(mean), 1e-290)) ** 2:
        return 0.0
    width = 3.5 * math.sqrt(variance * size / (size - 1)) * size ** (-1 / 3)
    power = 10.0 ** math.floor(math.log10(width))
    digits = ((1, 1.5), (2, 2.5), (3, 4.0), (5, 7.5))
    digit = next((d for d, end in digits if width / power < end), 10)
    return digit * power


def _equal_width(counts: ScoreCounts) -> IntArray:
    some = np.flatnonzero(counts.labeled)
    labeled = counts.thresholds[some]
    # Squares of scores as large or small as these must neither overflow nor vanish.
    largest = float(np.abs(labeled[[0, -1]]).max())
    unit = 1.0 if 1e-100 < largest < 1e100 else max(largest, 1e-300)
    width = released_width(labeled / unit, counts.labeled[some], effective_sizes(counts)[0])
    with np.errstate(over="ignore", invalid="ignore"):
        scores = counts.thresholds / unit
        used = np.flatnonzero((counts.labeled > 0) | (counts.unlabeled > 0))
        top, bottom = scores[used[0]], scores[used[-1]]
        if width == 0.0:  # one labeled score has no spread: a tenth of the range has to serve
            width = max((top - bottom) / 10, np.finfo(float).tiny)
        # From an outlier far below, a float could not tell the bins above from each other.
        anchor = bottom if (top - bottom) / width < 2**40 else labeled[-1] / unit
        # Scores just below an edge, by a rounding error of their own, are on it.
        place = np.floor((scores - anchor) / width + 1e-9)
    return np.concatenate(([0], np.flatnonzero(place[1:] != place[:-1]) + 1))


def _merged(counts: ScoreCounts, starts: IntArray) -> IntArray:
    """Join bins from the top down; what is left at the bottom is a bin too, if it can be.

    A bin ends at an edge of those it is made of; or, if only unlabeled examples are wanting, as
    soon as there are enough, since a whole bin more could bring very many of them. If a single
    score would, the bin does without.
    """
    n_labeled, n_unlabeled = effective_sizes(counts)
    labeled = _cumulated(counts.labeled, n_labeled)
    unlabeled = _cumulated(counts.unlabeled, n_unlabeled)
    enough = max(ENOUGH_LABELED, math.sqrt(n_labeled))
    least_labeled = max(1.0, min(enough, n_labeled // 5))
    least_unlabeled = max(1.0, min(ENOUGH_UNLABELED, n_unlabeled // 5))
    at_edges = labeled[starts]
    kept = [0]
    while True:
        begin = kept[-1]
        edge = int(np.searchsorted(at_edges, labeled[begin] + least_labeled - _WIDTH_ROUNDING))
        if edge == starts.size:
            break
        wanted = unlabeled[begin] + least_unlabeled - _WIDTH_ROUNDING
        end = int(starts[edge])
        extended = max(end, int(np.searchsorted(unlabeled[:-1], wanted)))
        if unlabeled[extended] - unlabeled[begin] < 2 * least_unlabeled:
            end = extended
        if end >= counts.n_thresholds:
            break
        kept.append(end)
    # Few labeled examples in the last bin do no harm, few unlabeled ones do.
    if len(kept) > 1 and n_unlabeled - unlabeled[kept[-1]] < least_unlabeled - _WIDTH_ROUNDING:
        kept.pop()
    return np.array(kept, dtype=np.int64)


def _cumulated(tally: CountArray, size: float) -> FloatArray:
    """Examples before each threshold, and at last their number."""
    out = np.zeros(tally.size + 1)
    np.cumsum(tally, out=out[1:])
    out *= size / out[-1]
    return out


def _equal_mass(counts: ScoreCounts, n_bins: int) -> IntArray:
    mass = counts.labeled / counts.n_labeled + counts.unlabeled / counts.n_unlabeled
    middle = np.cumsum(mass) - mass / 2
    place = np.minimum((middle * (n_bins / 2)).astype(np.int64), n_bins - 1)
    return np.concatenate(([0], np.flatnonzero(np.diff(place)) + 1))


# -- The inner problem, solved exactly for many curves at once -----------------------------------


_CELLS = 2**17
"""Numbers per work array: one MiB, which stays in the processor's cache."""

_COARSEST = 64
_MAX_STEPS = 200
# Relative error of sum b = c. That of the likelihood is its square: see `_Cells.value`.
_TOLERANCE = 1e-8
_TINY = 1e-300

Weights = tuple[float, float]


def inclusion_curve(
    mixture: FloatArray,
    component: FloatArray,
    inclusion: FloatArray,
    weights: Weights = (1.0, 1.0),
    chance: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """The likelihood of every inclusion c, for every pair of histograms.

    Parameters
    ----------
    mixture, component : ndarray of shape (n_replicates, n_bins)
        Shares of the bins, each row summing to 1.
    inclusion : ndarray of shape (n_grid,)
        Increasing values of c in [0, 1); at 0 the limit is meant.
    weights : (float, float), default=(1.0, 1.0)
        Weights v of the mixture and w of the component.
    chance : tuple of two ndarrays of shape (n_replicates, n_grid), optional
        What drops are multiplied by, and what chance explains of them, where only the last c that
        it explains is wanted. Where it cannot be, the likelihood is that of a smaller c.

    Returns
    -------
    ndarray of shape (n_replicates, n_grid)
        LL(c). Component outside the support of the mixture adds a constant, which is left out.
    """
    p, q, constant = _condensed(mixture, component, weights)
    out = np.empty((len(p), inclusion.size))
    rows = max(1, _CELLS // (p.shape[1] * inclusion.size))
    for start in range(0, len(p), rows):
        part = slice(start, start + rows)
        limits = None if chance is None else (chance[0][part], chance[1][part])
        out[part] = _curves(p[part], q[part], inclusion, weights, limits)
    out += constant[:, None]
    return out


def _condensed(
    mixture: FloatArray, component: FloatArray, weights: Weights
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Histograms of as few bins as say the same, and what that takes from the likelihood."""
    component = np.where(mixture > 0, component, 0.0)
    both = component.any(axis=0)
    alone = mixture[:, ~both]
    rest = alone.sum(axis=1)
    constant = weights[0] * (xlogy(alone, alone).sum(axis=1) - xlogy(rest, rest))
    p = np.column_stack((mixture[:, both], rest))
    q = np.column_stack((component[:, both], np.zeros(len(rest))))
    return p, q, constant


def _curves(
    p: FloatArray,
    q: FloatArray,
    inclusion: FloatArray,
    weights: Weights,
    chance: tuple[FloatArray, FloatArray] | None,
) -> FloatArray:
    v, w = weights
    inside = q.sum(axis=1)
    top = v * xlogy(p, p).sum(axis=1) + w * (xlogy(q, q).sum(axis=1) - xlogy(inside, inside))
    out = np.repeat(top[:, None], inclusion.size, axis=1)
    steep = inclusion > end_of_flat(p, q)[:, None]
    # How far the multiplier is below that of the flat part, times 1 - c: smooth and bounded.
    excess = np.zeros(out.shape)
    known = ~steep
    for stride, first in _levels(inclusion.size):
        columns = np.arange(stride - 1, inclusion.size, stride if first else 2 * stride)
        wanted = steep[:, columns]
        if chance is not None and not first:
            wanted &= _may_be_last(out, known, columns, stride, *chance)
        row, which = np.nonzero(wanted)
        if not row.size:
            continue
        column = columns[which]
        c = inclusion[column]
        cells = _Cells.of(p, q, row, c, weights)
        start = cells.flat + _between(excess, row, column, stride) / (1 - c)
        multiplier = _multiplier(cells, cells.flat - 1 / (1 - c) if first else start)
        excess[row, column] = (multiplier - cells.flat) * (1 - c)
        out[row, column] = cells.value(multiplier)
        known[row, column] = True
    if known.all():
        return out
    last = np.maximum.accumulate(np.where(known, np.arange(inclusion.size), 0), axis=1)
    return np.take_along_axis(out, last, axis=1)


def _may_be_last(
    values: FloatArray,
    known: BoolArray,
    columns: IntArray,
    stride: int,
    scale: FloatArray,
    allowed: FloatArray,
) -> BoolArray:
    """Whether the last c that chance explains may lie between the neighbors of each column.

    Drops and what chance explains of them grow with c, and their scale has one peak.
    """
    drop = 2 * (values[:, :1] - values)
    explained = known & (drop * scale <= allowed)
    last = values.shape[1] - 1 - np.argmax(explained[:, ::-1], axis=1)
    before = np.maximum(columns - stride, 0)
    after = np.minimum(columns + stride, values.shape[1] - 1)
    least = drop[:, before] * np.minimum(scale[:, before], scale[:, after])
    return (columns > last[:, None]) & known[:, before] & (least <= allowed[:, after])


def end_of_flat(p: FloatArray, q: FloatArray) -> FloatArray:
    """Up to which c the curve of each row is flat: the smallest ratio p/q.

    Nothing is flat where the mixture does not reach all of the component.
    """
    return np.where(q.sum(axis=1) < 1 - 1e-12, 0.0, _ratios(p, q).min(axis=1))


def _ratios(p: FloatArray, q: FloatArray) -> FloatArray:
    """The ratio p/q in each bin, infinite where q is 0."""
    return np.divide(p, q, out=np.full(p.shape, np.inf), where=q > 0)


def _levels(size: int) -> list[tuple[int, bool]]:
    """Strides from coarse to fine, and whether a stride is the first."""
    first = min(_COARSEST, 1 << max(0, size.bit_length() - 2))
    return [(first >> k, k == 0) for k in range(first.bit_length())]


def _between(known: FloatArray, row: IntArray, column: IntArray, stride: int) -> FloatArray:
    """The mean of the neighbors at this distance; 0 left of the grid, as in the flat part."""
    left = np.where(column >= stride, known[row, column - stride], 0.0)
    inside = column + stride < known.shape[1]
    right = np.where(inside, known[row, np.where(inside, column + stride, 0)], left)
    return 0.5 * (left + right)


@dataclass(frozen=True)
class _Cells:
    """Problems of one histogram pair and one c each; arrays of shape (n_bins, n_cells)."""

    p: FloatArray
    q: FloatArray
    c: FloatArray
    S: FloatArray
    both: FloatArray
    product: FloatArray
    weights: Weights

    @classmethod
    def of(
        cls, p: FloatArray, q: FloatArray, row: IntArray, c: FloatArray, weights: Weights
    ) -> _Cells:
        v, w = weights
        p, q = np.ascontiguousarray(p.T)[:, row], np.ascontiguousarray(q.T)[:, row]
        S = c * q + p
        return cls(p, q, c, S, v * p + w * q, 4 * w * q * S, weights)

    def only(self, mask: BoolArray) -> _Cells:
        """Some of the cells."""
        keep, names = np.flatnonzero(mask), ("p", "q", "c", "S", "both", "product")
        return replace(self, **{name: getattr(self, name)[..., keep] for name in names})

    @property
    def flat(self) -> FloatArray:
        """The multiplier where b = c q is possible; elsewhere it is lower."""
        return self.weights[1] / self.c - self.weights[0]

    def lowest(self) -> FloatArray:
        """A multiplier at which b fills at least c."""
        v, w = self.weights
        shared = (self.q > 0) & (self.p > 0)
        p, q = np.where(shared, self.p, 1.0), np.where(shared, self.q, 1.0)
        full = np.where(shared, w * q / p - v * p / (self.c * q), np.inf).min(axis=0)
        alone = np.where(self.q > 0, 0.0, self.p).sum(axis=0)
        return np.minimum(np.minimum(full, -v * alone / (1 - self.c)), self.flat)

    def parts(self, multiplier: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All b at these multipliers, and how fast they fall in them."""
        S = self.S
        linear = multiplier * S
        linear += self.both
        root = linear * linear
        root -= multiplier * self.product
        np.maximum(root, 0.0, out=root)
        np.sqrt(root, out=root)
        root += _TINY
        # Of the two forms of the root of a quadratic, the one that does not cancel.
        denominator = linear + root
        b = np.divide(self.product, 2 * denominator, where=linear >= 0, out=np.empty(S.shape))
        negative = linear < 0
        if negative.any():
            other = (linear - root) / (2 * np.where(multiplier < 0, multiplier, -1.0))
            b[negative] = other[negative]
        full = b >= self.p
        np.minimum(b, self.p, out=b)
        fall = S - b
        fall *= b
        fall /= root
        fall[full] = 0.0
        return b, fall

    def value(self, multiplier: FloatArray) -> FloatArray:
        """The likelihood, by the Lagrangian, whose error is quadratic in the multiplier's."""
        v, w = self.weights
        b, _ = self.parts(multiplier)
        gap = self.c - b.sum(axis=0)
        rest = self.S - b
        b[self.q == 0] = 1.0
        rest[self.p == 0] = 1.0
        np.log(b, out=b)
        np.log(rest, out=rest)
        b *= self.q
        rest *= self.p
        inside = self.q.sum(axis=0)
        found: FloatArray = (
            v * rest.sum(axis=0) + w * (b.sum(axis=0) - inside * np.log(self.c)) + multiplier * gap
        )
        return found


def _multiplier(cells: _Cells, start: FloatArray) -> FloatArray:
    """The multiplier at which b sums to c: Newton's method inside a bracket that shrinks.

    Where Newton would leave the bracket, or did not halve the error, the bracket is halved.
    """
    found = start.copy()
    active = np.arange(start.size)
    low, high = cells.lowest(), cells.flat
    t = np.clip(start, low, high)
    before = np.full(t.shape, np.inf)
    for _ in range(_MAX_STEPS):
        b, fall = cells.parts(t)
        error = b.sum(axis=0) - cells.c
        low, high = np.where(error > 0, t, low), np.where(error > 0, high, t)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = t + error / fall.sum(axis=0)
        inside = (step > low) & (step < high)
        size = np.abs(error)
        done = (size <= _TOLERANCE * cells.c) | (high - low <= 1e-14 * np.abs(low))
        found[active] = np.where(inside & done, step, t)
        if done.all():
            break
        t = np.where(inside & (size <= 0.5 * before), step, 0.5 * (low + high))
        before = size
        if done.any():
            keep = ~done
            active, t, low, high = active[keep], t[keep], low[keep], high[keep]
            before = before[keep]
            cells = cells.only(keep)
    return found


# -- The two estimators --------------------------------------------------------------------------


Weighting = Literal["auto", "balanced", "counts"]

# What an elbow looks at; and, unless one says otherwise, bins and what the samples weigh.
_RULES: dict[str, tuple[Callable[[Curves], FloatArray], Bins, str]] = {
    "deviance": (_deviance, "merged", "balanced"),
    "paper": (_paper, "released", "balanced"),
    "released": (_released, "released", "balanced"),
    "likelihood_ratio": (_likelihood_ratio, "equal-mass", "counts"),
}
_REPLICATES = 1024
"""Replicates at a time, so that many of few scores do not fill the memory."""


@base.register_prior_estimator("alphamax")
@dataclass(kw_only=True, eq=False, repr=False)
class AlphaMax(base.PriorEstimator):
    r"""The largest share of the labeled density inside the unlabeled one, by likelihood.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: where the likelihood has no clear elbow: classes that overlap up to the top; with
    the released elbow an alpha below .10 or above .89.

    Labels are taken as clean, so that share is alpha; :class:`AlphaMaxN` estimates beta too.

    Parameters
    ----------
    elbow : {"deviance", "paper", "released", "likelihood_ratio"}, default="deviance"
        How the end of the plateau is found; see Notes.
    step : float, default=0.0025
        Spacing of the grid of inclusions, at most 0.05. The released code has 0.01.
    bins : {"auto", "merged", "released", "equal-mass"} or int, default="auto"
        The histogram. ``"released"``: Scott's rule for the labeled scores, the width rounded to
        1, 2, 3 or 5 times a power of ten. ``"merged"``: the same, bins joined from the top until
        each holds 20 labeled examples (the square root of all, if that is more) and 5 unlabeled
        ones; or a fifth of all, if that is fewer.
        ``"equal-mass"``: 10 bins, or as many as a number says, of equal mass. ``"auto"``: merged
        for the deviance, equal-mass for the likelihood ratio, else released. All but equal-mass
        bins depend on the values of the scores, not only on their order.
    weighting : {"auto", "balanced", "counts"}, default="auto"
        Whether the two samples weigh the same in the likelihood or each example does.
        ``"auto"``: each example for the likelihood ratio, which has no meaning otherwise, else
        the samples.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. Among the diagnostics are ``"n_bins"``, ``"at_edge"`` and
        ``"end_of_plateau"``, the smallest ratio of the two histograms.
    curve_ : AlphaMaxCurve
        The likelihood over the grid, and its elbow.

    See Also
    --------
    AlphaMaxN : The same for labels that may be wrong.
    AlphaMaxDisplay : Draws the curve.

    Notes
    -----
    With the histograms :math:`p` of the unlabeled and :math:`q` of the labeled scores, an
    inclusion :math:`c` has the log-likelihood

    .. math::

        LL(c) = \max_b \sum_i p_i \log(c q_i + p_i - b_i) + q_i \log(b_i / c), \qquad
        0 \le b_i \le p_i, \; \sum_i b_i = c,

    where :math:`b` is the part of the unlabeled that is taken for positive. It is exactly flat
    up to :math:`\min_i p_i / q_i` and falls beyond. Noise makes that minimum far too small, so
    the elbow has to be found in a curve that bends slowly:

    ``"deviance"``
        The last c at which the fall is no larger than chance explains: the m bins with
        :math:`p_i < c q_i` may contribute the median of a chi-square with m degrees of freedom.
        It can return anything from 0 to 1, and the more examples, the less it allows.
    ``"paper"``
        Largest change of slope over .03 to each side, relative to the height lost so far.
    ``"released"``
        Largest change between the slopes of two lines below the curve, over .10 to each side.
        It cannot return anything below .10 or above .89.
    ``"likelihood_ratio"``
        The last c at which twice the loss of likelihood is at most 5.

    All of them overestimate alpha if no region of the scores is free of negatives.

    References
    ----------
    Jain, White, Trosset & Radivojac (2016), "Nonparametric semi-supervised learning of class
    proportions", arXiv:1601.01944.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(1000, 5000, alpha=0.3, random_state=1)
    >>> estimator = pu.estimators.AlphaMax().fit(sample.scores, sample.labeled)
    >>> abs(estimator.proportions_.alpha - 0.3) < 0.05
    True
    """

    reference: ClassVar[str] = "Jain, White, Trosset & Radivojac, arXiv 1601.01944"

    elbow: Elbow = checked("deviance", check_choice, choices=get_args(Elbow))
    step: float = checked(0.0025, check_real, low=1e-4, high=0.05)
    bins: Bins | Literal["auto"] = "auto"
    weighting: Weighting = checked("auto", check_choice, choices=get_args(Weighting))

    def _check_params(self) -> None:
        super()._check_params()
        if isinstance(self.bins, str):
            check_choice("bins", self.bins, ("auto", *get_args(BinRule)))
        else:
            check_integer("bins", self.bins, low=2, high=10_000)
        if self.elbow == "likelihood_ratio" and self.weighting == "balanced":
            raise bad_value(
                "weighting", "'counts' for a likelihood ratio", "'balanced'", "leave it out"
            )

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        self.curve_, inclusions = self._run(counts)
        return inclusions

    def _run(self, counts: ScoreCounts) -> tuple[AlphaMaxCurve, base.Inclusions]:
        curves, raw = self._curves(counts, counts.labeled[None], counts.unlabeled[None])
        heuristic, index = find_elbow(curves, self.elbow)
        curve = AlphaMaxCurve(
            inclusion=curves.inclusion,
            log_likelihood=raw[0],
            corrected=curves.log_likelihood[0],
            heuristic=heuristic[0],
            elbow_index=int(index[0]),
        )
        end = float(_ratios(curves.mixture, curves.component).min())
        notes, at_edge = self._edge(curve)
        details = {
            "n_bins": curves.mixture.shape[1],
            "end_of_plateau": min(end, 1.0),
            "at_edge": at_edge,
        }
        # A plateau without end: the two samples look the same.
        a = 1.0 if _is_flat(curves)[0] else curve.elbow
        return curve, base.Inclusions(a, 0.0, notes, details)

    def _edge(self, curve: AlphaMaxCurve) -> tuple[tuple[str, ...], bool]:
        looked = curve.inclusion[~np.isnan(curve.heuristic)]
        low, high = float(looked[0]), float(looked[-1])
        # 0 is a possible value of a share, not the end of what can be seen.
        if curve.elbow < high and (curve.elbow > low or low == 0.0):
            return (), False
        advice = ""
        if self.elbow == "released":
            low, high = RELEASED_RANGE
            advice = '; elbow="deviance" has no such limits'
        note = (
            f"the elbow is at {curve.elbow:.3g}, an end of what this rule can return "
            f"({low:.2g} to {high:.4g}): the truth may lie beyond{advice}"
        )
        return (note,), True

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        found = np.zeros((len(labeled), 2))
        for start in range(0, len(labeled), _REPLICATES):
            part = slice(start, start + _REPLICATES)
            curves, _ = self._curves(counts, labeled[part], unlabeled[part], whole=False)
            _, index = find_elbow(curves, self.elbow)
            found[part, 0] = np.where(_is_flat(curves), 1.0, curves.inclusion[index])
        return found

    def _curves(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray, *, whole: bool = True
    ) -> tuple[Curves, FloatArray]:
        """Corrected curves of replicates over the bins of the data; and before correction.

        If not the ``whole`` of them, then as much as tells where the elbow is.
        """
        _, bins, weighting = _RULES[self.elbow]
        if self.bins != "auto":
            bins = self.bins
        if self.weighting != "auto":
            weighting = self.weighting
        starts = bin_starts(counts, bins)
        units = weight_units(counts)
        q, n_labeled = _shares(labeled, starts, units[0])
        p, n_unlabeled = _shares(unlabeled, starts, units[1])
        weights = (1.0, 1.0)
        if weighting == "counts":  # replicates are as large as each other, or nearly so
            weights = float(n_unlabeled.mean()), float(n_labeled.mean())
        grid: FloatArray = np.arange(np.ceil(1 / self.step - 1e-9), dtype=np.float64) * self.step
        curves = Curves(grid, grid[None], p, q, (n_unlabeled, n_labeled), weights)
        chance = None if whole or self.elbow != "deviance" else _chance(curves)
        raw = inclusion_curve(p, q, grid, weights, chance)
        corrected = np.maximum.accumulate(raw[:, ::-1], axis=1)[:, ::-1]
        return replace(curves, log_likelihood=corrected), raw


@base.register_prior_estimator("alphamax-n")
@dataclass(kw_only=True, eq=False, repr=False)
class AlphaMaxN(AlphaMax):
    r"""AlphaMax for labels that may be wrong: two runs, the samples exchanged in the second.

    Assumes: the highest scores are positives, the lowest are negatives.

    Known to fail: as alphamax, at both ends; a weak classifier makes clean labels look wrong.

    Parameters
    ----------
    elbow, step, bins, weighting
        See :class:`AlphaMax`.
    clean : {"test", "never", "always"}, default="test"
        When to take labels as clean, which is beta = 1 exactly: if a test does not reject it,
        never, or always.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"a"`` and ``"b"``, ``"clean"`` and,
        if tested, ``"clean_p_value"``.
    curve_ : AlphaMaxCurve
        The likelihood of the share of the labeled density inside the unlabeled one.
    curve_flipped_ : AlphaMaxCurve or None
        That of the unlabeled density inside the labeled one; None if labels were taken as clean.

    See Also
    --------
    NoisyLabels : Does the same with any estimator.

    Notes
    -----
    From the two inclusions :math:`a` and :math:`b` follow

    .. math:: \alpha = \frac{a(1-b)}{1-ab}, \qquad \beta = \frac{1-b}{1-ab}.

    Bootstrap replicates repeat all of it, the test included, over the bins of the data.

    References
    ----------
    Jain, White & Radivojac (2016), "Estimating the class prior and posterior from noisy
    positives and unlabeled data", NIPS.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(3)
    >>> sample = world.sample(2000, 8000, alpha=0.3, beta=0.8, random_state=0)
    >>> p = pu.estimators.AlphaMaxN().fit(sample.scores, sample.labeled).proportions_
    >>> abs(p.alpha - 0.3) < 0.05, abs(p.beta - 0.8) < 0.05
    (True, True)
    """

    noisy: ClassVar[bool] = True
    reference: ClassVar[str] = "Jain, White & Radivojac, NIPS 2016"

    clean: Literal["test", "never", "always"] = checked("test", check_choice, choices=CLEAN_RULES)

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        self.curve_, run = self._run(counts)
        self.curve_flipped_: AlphaMaxCurve | None = None
        verdict, said = clean_verdict(self.clean, lambda: counts)
        notes = [*run.notes, *said]
        details = {**run.details, "a": run.a, "b": 0.0, **verdict}
        if verdict["clean"]:
            return base.Inclusions(run.a, 0.0, tuple(notes), details)
        self.curve_flipped_, flipped = self._run(self._flip(counts))
        details["b"] = flipped.a
        details["at_edge"] = run.at_edge or flipped.at_edge
        notes += [f"with the samples exchanged, for beta: {note}" for note in flipped.notes]
        return base.Inclusions(run.a, flipped.a, tuple(notes), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        found = super()._estimate_many(counts, labeled, unlabeled)
        noisy = ~clean_many(counts, labeled, unlabeled, self.clean)
        if noisy.any():
            exchanged = unlabeled[noisy, ::-1], labeled[noisy, ::-1]
            found[noisy, 1] = super()._estimate_many(self._flip(counts), *exchanged)[:, 0]
        return found


def _shares(tally: CountArray, starts: IntArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Histograms, one per row, and how many examples each of them stands for."""
    held = binned(tally, starts)
    total = held.sum(axis=1)
    return held / np.where(total > 0, total, 1.0)[:, None], total * unit


def _is_flat(curves: Curves) -> BoolArray:
    """Whether the likelihood never falls, as with two equal histograms."""
    return _ratios(curves.mixture, curves.component).min(axis=1) >= 1 - 1e-12
