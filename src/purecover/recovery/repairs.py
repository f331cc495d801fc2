"""From noisy recovered points to a valid curve.

A recovered curve wanders outside the unit box and is not monotone: with ten rows and
alpha 0.25, a false-positive rate of -0.08 is ordinary sampling noise. Each function here
takes the raw points, in order of decreasing threshold and starting at (0, 0), and returns
the points of a valid curve.

The map from observed to recovered points is linear with determinant 1/delta > 0 and fixes
(0, 0) and (1, 1), so straight lines, concavity, order and hulls survive it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover.counts import PURoc, ScoreCounts, cumulative_share
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import Shares, map_curve

_ROUNDING = 1e-12
_TINY = np.finfo(np.float64).tiny


Points: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
# False- and true-positive rates of the points of a curve, and their thresholds.


def inside_box(fpr: FloatArray, tpr: FloatArray) -> BoolArray:
    """Test which points have both rates in [0, 1], up to the rounding of equations 2 and 3."""
    low, high = np.minimum(fpr, tpr), np.maximum(fpr, tpr)
    return np.asarray((low >= -_ROUNDING) & (high <= 1 + _ROUNDING))


def repair_paper(roc: PURoc, proportions: MixtureProportions | Shares) -> Points:
    """Apply Algorithm 1 of the paper as printed.

    Delete points outside the unit box, sort by fpr, replace tpr by its running maximum.
    The paper leaves open what happens to equal fpr; they keep the order of thresholds.
    """
    tpr, fpr = map_curve(roc.tpr_pu, roc.fpr_pu, proportions)
    inside = inside_box(fpr, tpr)
    fpr, tpr = fpr[inside].clip(0, 1), tpr[inside].clip(0, 1)
    order = np.argsort(fpr, kind="stable")
    return fpr[order], np.maximum.accumulate(tpr[order]), roc.thresholds[inside][order]


def project(rates: FloatArray, weights: FloatArray) -> FloatArray:
    r"""Project rates onto monotone functions with values in [0, 1], by least squares.

    As functions of the threshold both true rates are monotone, so projecting onto that
    convex set never increases the squared error of either (Patra & Sen 2016 use the same
    for mixture distribution functions). Points keep their thresholds. Samples are rows.
    """
    # Both ends are known exactly; they would only be pulled away by their neighbors.
    middle = rates[:, 1:-1]
    out = np.empty_like(rates)
    out[:, 0], out[:, -1] = 0.0, 1.0
    if middle.size:
        if (np.diff(middle) < 0).any():
            # Rows end to end and one above the other: nothing is pooled across.
            apart = np.arange(len(rates))[:, None] * (1 + np.ptp(middle))
            found = isotonic_regression((middle + apart).ravel(), weights=weights[:, :-1].ravel())
            middle = found.x.reshape(middle.shape)
            middle -= apart
        np.clip(middle, 0.0, 1.0, out=out[:, 1:-1])
    return out


def hull_vertices(roc: PURoc) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return indices of the vertices of the upper concave hull of an observed curve.

    The hull is the least concave majorant in the rotated coordinates
    ``x = fpr + tpr, y = tpr - fpr``, where every step goes forward, and that is a
    pool-adjacent-violators problem on the slopes.
    """
    x, y = roc.fpr_pu + roc.tpr_pu, roc.tpr_pu - roc.fpr_pu
    # Thresholds that only known negatives have make no step.
    points = np.append(0, np.flatnonzero(np.diff(x) > 0) + 1)
    run = np.diff(x[points])
    fitted = isotonic_regression(-np.diff(y[points]) / run, weights=run)
    return np.asarray(points[fitted.blocks], dtype=np.intp)


def repair_hull(roc: PURoc, proportions: MixtureProportions | Shares) -> Points:
    """Map the concave hull of the observed curve and cut it by the unit box.

    Where the mapped hull leaves the box, the exact crossing is inserted; such a point
    belongs to no threshold.
    """
    vertices = hull_vertices(roc)
    tpr, fpr = map_curve(roc.tpr_pu[vertices], roc.fpr_pu[vertices], proportions)
    thresholds = roc.thresholds[vertices]
    left = np.flatnonzero(fpr < 0)
    if left.size:  # the hull starts out to the left of the box and comes back once
        i = int(left[-1])
        height = np.interp(0, fpr[i : i + 2], tpr[i : i + 2])
        fpr, tpr = np.append([0, 0], fpr[i + 1 :]), np.append([0, height], tpr[i + 1 :])
        thresholds = np.append([np.inf, np.nan], thresholds[i + 1 :])
    above = np.flatnonzero(tpr > 1)
    if above.size:  # it leaves through the top once and comes back at (1, 1)
        j = int(above[0])
        place = np.interp(1, tpr[j - 1 : j + 1], fpr[j - 1 : j + 1])
        fpr, tpr = np.append(fpr[:j], [place, 1]), np.append(tpr[:j], [1, 1])
        thresholds = np.append(thresholds[:j], [np.nan, thresholds[-1]])
    return fpr.clip(0, 1), tpr.clip(0, 1), thresholds


ONE_BY_ONE = {"paper": repair_paper, "hull": repair_hull}
"""Repairs whose points need not belong to the thresholds."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Neighboring scores of samples, pooled until the share of labeled rises with the score.

    The concave hull of an observed curve has a side for each block. Samples stand one after the
    other, each with scores that rise from block to block.

    Attributes
    ----------
    labeled, unlabeled : ndarray of shape (n_blocks,)
        Their counts.
    length : ndarray of shape (n_blocks,)
        How many scores each holds.
    sample : ndarray of shape (n_blocks,)
        Whose it is.
    first : ndarray of shape (n_samples,)
        The first block of each sample.
    """

    labeled: FloatArray
    unlabeled: FloatArray
    length: IntArray
    sample: IntArray
    first: IntArray

    @classmethod
    def pooled(cls, labeled: FloatArray, unlabeled: FloatArray) -> Blocks:
        """Blocks of counts of many samples, one row each, as :class:`ScoreCounts` order them."""
        n_samples, n_thresholds = labeled.shape
        ours = labeled[:, ::-1].ravel()
        everyone = ours + unlabeled[:, ::-1].ravel()
        # Scores that only known negatives have, or that were not drawn, weigh nothing; the solver
        # wants more.
        np.maximum(everyone, _TINY, out=everyone)
        share = (ours / everyone).reshape(n_samples, -1)
        share += 2.0 * np.arange(n_samples)[:, None]  # apart: nothing is pooled across samples
        blocks = isotonic_regression(share.ravel(), weights=everyone).blocks
        starts = blocks[:-1]
        n_labeled, n_all = (np.add.reduceat(tally, starts) for tally in (ours, everyone))
        sample = starts // n_thresholds
        first = np.searchsorted(sample, np.arange(n_samples))
        return cls(n_labeled, n_all - n_labeled, np.diff(blocks), sample, first)

    def sums(self, values: FloatArray) -> FloatArray:
        """Return sums over the blocks of each sample."""
        return np.asarray(np.add.reduceat(values, self.first))

    def spread(self, values: FloatArray) -> FloatArray:
        """Return the value of the block of each score, in the order of counts."""
        return np.repeat(values, self.length).reshape(self.first.size, -1)[:, ::-1]

    def hull_auc_pu(self) -> FloatArray:
        """Return the area under the concave hull of each observed curve."""
        below = np.cumsum(self.unlabeled)
        below -= (below - self.unlabeled)[self.first][self.sample]
        pairs = self.sums(self.labeled * (below - self.unlabeled / 2))
        sizes = self.sums(self.labeled), self.sums(self.unlabeled)
        with np.errstate(divide="ignore", invalid="ignore"):  # of weights far apart
            return np.asarray(pairs / sizes[0] / sizes[1])


@dataclass(frozen=True, eq=False)
class Samples:
    """Counts of many samples, one row each, and what is observed of them.

    Attributes
    ----------
    labeled, unlabeled : ndarray of shape (n_samples, n_thresholds)
        Counts at each threshold, from the highest.
    squares : tuple of ndarray or None
        Sums of squared weights of both at each threshold, where rows have weights.
    """

    labeled: FloatArray
    unlabeled: FloatArray
    squares: tuple[FloatArray | None, FloatArray | None]

    @classmethod
    def of(cls, counts: ScoreCounts) -> Samples:
        """One sample."""
        return cls.drawn(counts, counts.labeled[None], counts.unlabeled[None])

    @classmethod
    def drawn(cls, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> Samples:
        """Replicates of counts."""
        squares = counts.labeled_sq, counts.unlabeled_sq
        return cls(labeled.astype(np.float64), unlabeled.astype(np.float64), squares)

    @cached_property
    def tpr_pu(self) -> FloatArray:
        """Share of the labeled at or above each threshold, after 0."""
        return cumulative_share(self.labeled)

    @cached_property
    def fpr_pu(self) -> FloatArray:
        """Share of the unlabeled at or above each threshold, after 0."""
        return cumulative_share(self.unlabeled)

    @cached_property
    def blocks(self) -> Blocks:
        """The sides of the concave hulls."""
        return Blocks.pooled(self.labeled, self.unlabeled)


def likelihood_rates(samples: Samples, shares: Shares) -> tuple[FloatArray, FloatArray]:
    r"""Return fpr and tpr of many samples by maximum likelihood under a monotone likelihood ratio.

    Maximizes :math:`\sum_L \log g + \sum_U \log f` over densities :math:`g = \beta f_1 +
    (1-\beta) f_0` and :math:`f = \alpha f_1 + (1-\alpha) f_0` on the observed scores with
    :math:`f_1/f_0` non-decreasing. Box, monotonicity and concavity hold by construction; use it
    only where the ROC is concave.
    """
    everyone, blocks = samples.labeled + samples.unlabeled, samples.blocks
    n = np.maximum(blocks.labeled + blocks.unlabeled, _TINY)
    # Within a block mass follows the rows, so every threshold keeps its place.
    fpr, tpr = (
        cumulative_share(everyone * blocks.spread(density.clip(0) / n))
        for density in _densities(blocks, shares)
    )
    return fpr, tpr


def _densities(blocks: Blocks, shares: Shares) -> tuple[FloatArray, FloatArray]:
    """Return masses of negatives and of positives, times delta.

    Where a bound of the ratio is active one of them is 0 and the other no difference of nearly
    equal numbers, so that a small delta costs no digits.
    """
    at, flat = blocks.sample, shares.delta[:, 0] <= _ROUNDING
    if flat.all():
        return _densities_without_contrast(blocks, shares)
    g, f = _block_masses(blocks, shares)
    alpha, beta = shares.alpha[at, 0], shares.beta[at, 0]
    a, b = (share[at] for share in _inclusions(shares))
    delta = beta - alpha
    no_negatives, no_positives = f == a * g, g == b * f
    negatives = np.where(no_positives, delta * f / (1 - alpha), beta * f - alpha * g)
    positives = np.where(no_negatives, delta * g / beta, (1 - alpha) * g - (1 - beta) * f)
    found = np.where(no_negatives, 0.0, negatives), np.where(no_positives, 0.0, positives)
    if flat.any():
        other = _densities_without_contrast(blocks, shares)
        found = np.where(flat[at], other[0], found[0]), np.where(flat[at], other[1], found[1])
    return found


def _inclusions(shares: Shares) -> tuple[FloatArray, FloatArray]:
    alpha, beta = shares.alpha[:, 0], shares.beta[:, 0]
    return alpha / beta, (1 - beta) / (1 - alpha)


def _densities_without_contrast(blocks: Blocks, shares: Shares) -> tuple[FloatArray, FloatArray]:
    r"""Masses of negatives and of positives in each block, as :math:`\beta \to \alpha`.

    Then :math:`g` and :math:`f` are both the pooled masses, :math:`\alpha f_1 + (1-\alpha) f_0`,
    and what is left of the likelihood is largest where the positives are the upper alpha of
    them. Differences of :math:`g` and :math:`f` would be of nothing but rounding.
    """
    at, n = blocks.sample, blocks.labeled + blocks.unlabeled
    mass = n / blocks.sums(n)[at]
    passed = np.cumsum(mass) - mass
    below = np.maximum(1 - (passed - passed[blocks.first][at]), mass)  # with the block itself
    alpha = shares.alpha[:, 0]
    highest = mass[np.append(blocks.first[1:], n.size) - 1]
    # Positives that are fewer share the highest block.
    alpha, upper = alpha[at], np.maximum(alpha, highest)[at]
    edges = np.stack((below, below - mass))
    negatives, positives = np.maximum(edges - alpha, 0.0), np.minimum(edges, upper)
    return (negatives[0] - negatives[1]) / (1 - alpha), (positives[0] - positives[1]) / upper


def _block_masses(blocks: Blocks, shares: Shares) -> tuple[FloatArray, FloatArray]:
    r"""Masses :math:`g, f` of the blocks that maximize the likelihood, solved exactly.

    :math:`f_1` and :math:`f_0` are non-negative with a non-decreasing ratio if and only if
    :math:`g/f` is non-decreasing with :math:`a g \le f` and :math:`b f \le g`, where :math:`a`
    and :math:`b` are the two inclusion proportions. With multipliers :math:`\lambda` and
    :math:`n - \lambda` of the total masses the problem separates: blocks come from pooling
    adjacent violators of the labeled share, whatever the multipliers; the ratio of each block is
    clipped to its bounds; and :math:`\lambda` makes both masses equal, hence 1. (An EM algorithm
    with an isotonic M-step has the same limit but takes hundreds of steps to come near it.)
    Newton's steps find it, halved where they leave what is known to hold it.
    """
    at = blocks.sample
    inclusions = _inclusions(shares)
    a, b = (share[at] for share in inclusions)
    n = blocks.labeled + blocks.unlabeled
    total = blocks.sums(n)

    def masses(multiplier: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        ours, other = multiplier[at], (total - multiplier)[at]
        g, f = blocks.labeled / ours, blocks.unlabeled / other
        slope = g / ours + f / other  # how fast g - f falls
        high, low = a * g > f, b * f > g  # no negatives there; no positives
        if high.any():
            pooled = ours + a * other
            g = np.where(high, n / pooled, g)
            f = np.where(high, a * g, f)
            slope = np.where(high, n * ((1 - a) / pooled) ** 2, slope)
        if low.any():
            pooled = b * ours + other
            f = np.where(low, n / pooled, f)
            g = np.where(low, b * f, g)
            slope = np.where(low, n * ((1 - b) / pooled) ** 2, slope)
        return g, f, slope

    least, most = total * 1e-12, total * (1 - 1e-12)
    low, high = least.copy(), most.copy()
    multiplier = blocks.sums(blocks.labeled).clip(least, most)
    # Of many replicates nobody sees the last digits.
    enough = _ROUNDING / 10 if blocks.first.size > 1 else 0.0
    for _ in range(200):
        g, f, slope = masses(multiplier)
        gap = blocks.sums(g - f)
        low, high = np.where(gap > 0, multiplier, low), np.where(gap < 0, multiplier, high)
        found = (np.abs(gap) <= enough) | (high - low <= total * 1e-15)
        if found.all():
            break
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            step = multiplier + gap / blocks.sums(slope)
        if (found | (step == multiplier)).all():
            break
        step = np.where((step > low) & (step < high), step, (low + high) / 2)
        multiplier = np.where(found, multiplier, step)
    # Even the blocks with labeled rows hold fewer unlabeled ones than alpha asks for. The rest
    # of g must lie where no labeled row is; where exactly, no likelihood says. The same with
    # labeled and unlabeled exchanged.
    short_g, short_f = gap < -_ROUNDING, gap > _ROUNDING
    if short_g.any():
        g = np.where(short_g[at], _fill(g, blocks.labeled == 0, n, blocks), g)
    if short_f.any():
        f = np.where(short_f[at], _fill(f, blocks.unlabeled == 0, n, blocks), f)
    return g, f


def _fill(mass: FloatArray, empty: BoolArray, n: FloatArray, blocks: Blocks) -> FloatArray:
    """Spread what is missing from a total mass of 1 over empty blocks."""
    missing = 1 - blocks.sums(np.where(empty, 0.0, mass))
    room = blocks.sums(np.where(empty, n, 0.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(empty, (missing / room)[blocks.sample] * n, mass)


class Fitted(NamedTuple):
    """The monotone least-squares fit, and where its blocks start; their last end is the length."""

    x: FloatArray
    blocks: IntArray


def isotonic_regression(values: FloatArray, *, weights: FloatArray) -> Fitted:
    """Return the result of ``scipy.optimize.isotonic_regression``.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.recovery.repairs import isotonic_regression
    >>> isotonic_regression(np.array([1.0, 3.0, 2.0]), weights=np.ones(3)).x
    array([1. , 2.5, 2.5])
    """
    pava = _pava()
    if pava is None:
        from scipy.optimize import isotonic_regression as theirs

        found = theirs(values, weights=weights)
        return Fitted(found.x, found.blocks)
    x, w = (np.array(each, dtype=np.float64, order="C") for each in (values, weights))
    x, _, blocks, n_blocks = pava(x, w, np.full(x.size + 1, -1, dtype=np.intp))
    return Fitted(x, blocks[: n_blocks + 1])


@cache
def _pava() -> Callable[..., Any] | None:
    """The solver alone; None if this version of SciPy has no such thing."""
    try:
        return _solver_of_scipy()
    except Exception:  # noqa: BLE001 - whatever another version does, its public function remains
        return None


def _solver_of_scipy() -> Callable[..., Any]:
    """Load the solver from its file, which is private to SciPy.

    The public function loads all of ``scipy.optimize``, by which a first report takes half as
    long again, and takes three to five times as long for the hundred values of one sample.
    """
    package: Any = find_spec("scipy.optimize")
    folders = package.submodule_search_locations
    found: Any = PathFinder.find_spec("scipy.optimize._pava_pybind", folders)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    x, _, blocks, n = module.pava(np.array([2.0, 1.0]), np.ones(2), np.full(3, -1, np.intp))
    if (x.tolist(), blocks[: n + 1].tolist()) != ([1.5, 1.5], [0, 2]):
        raise ValueError(f"it fits {x} in blocks {blocks} to [2, 1]")
    solver: Callable[..., Any] = module.pava
    return solver
