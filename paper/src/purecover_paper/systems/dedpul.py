"""DEDPUL: densities of the scores, their ratio made smooth, and the prior that explains it.

Where this differs from the released program:

- the kernel density estimates are convolutions on a fine grid (no pair of scores is visited);
- the ratio is taken at a thousand quantiles of the unlabeled scores where there are more;
- no constants of 1e-5 are added to densities;
- the guard breaks ties between second differences that differ by rounding only, and does not
  exceed what any solution could be: with nothing in common between the samples it finds 0;
- bandwidths refer to the standard deviation without a correction for the size of the sample;
- the training of a network belongs to the model that made the scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from purecover import ScoreCounts
from purecover.estimators import Inclusions, PriorEstimator, register_prior_estimator
from purecover.exceptions import IdentifiabilityError
from purecover_paper.systems.arrays import CountArray, FloatArray, IntArray, weight_units

CELLS_PER_BANDWIDTH = 16
"""Cells this fine change a density by less than a thousandth of its largest value."""

MAX_CELLS = 2**18
_TAILS = 8
"""Bandwidths beyond the data after which a normal density is zero for doubles."""


def mean_of(x: FloatArray, weights: CountArray) -> float:
    """Weighted mean."""
    # Not np.dot, whose threads cost more than they save where many replicates wait for cores.
    return float(np.einsum("i,i->", weights, x) / np.sum(weights))


def spread_of(x: FloatArray, weights: CountArray) -> float:
    """Weighted standard deviation (of the sample itself, without a correction of its size)."""
    return float(np.sqrt(mean_of((x - mean_of(x, weights)) ** 2, weights)))


def binned_density(
    x: FloatArray, weights: CountArray, bandwidth: float, points: FloatArray
) -> FloatArray:
    """Gaussian kernel density estimate of a weighted sample, evaluated at some points.

    The sample is spread over a grid of sixteen cells per bandwidth (each value over its two
    neighbors) and convolved with the kernel by Fourier transform; values between the cells are
    interpolated. The cost is that of one pass over the sample.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Sample, increasing or decreasing.
    weights : ndarray of shape (n,)
        Non-negative weights, not all zero.
    bandwidth : float
        Standard deviation of the kernel.
    points : ndarray of shape (m,)
        Where the density is wanted.

    Returns
    -------
    ndarray of shape (m,)
        The density, nowhere negative.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover_paper.systems.dedpul import binned_density
    >>> binned_density(np.array([0.0]), np.array([1]), 1.0, np.array([0.0, 1.0, 9.0])).round(3)
    array([0.399, 0.242, 0.   ])
    """
    used = np.flatnonzero(weights)
    ends = x[used[0]], x[used[-1]]
    low, high = min(ends) - _TAILS * bandwidth, max(ends) + _TAILS * bandwidth
    step = max(bandwidth / CELLS_PER_BANDWIDTH, (high - low) / MAX_CELLS)
    cells = 1 << (int((high - low) / step) + 1).bit_length()  # a power of two is quick to transform
    inside = slice(used[0], used[-1] + 1)
    where = (x[inside] - low) / step
    left = where.astype(np.int64)
    right = weights[inside] * (where - left)
    mass = np.bincount(left, weights[inside] - right, cells) + np.bincount(left + 1, right, cells)
    frequency = 2 * np.pi * np.fft.rfftfreq(cells, step)
    kernel = np.exp(-0.5 * (frequency * bandwidth) ** 2)
    density = np.fft.irfft(np.fft.rfft(mass) * kernel, cells) / (mass.sum() * step)
    at = np.interp(points, low + step * np.arange(cells), density, left=0.0, right=0.0)
    return np.maximum(at, 0.0)  # round-off in the tails


def rolling_median(values: FloatArray, neighbors: int) -> FloatArray:
    """Median over some neighbors on either side, as many on both: fewer near the ends.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover_paper.systems.dedpul import rolling_median
    >>> rolling_median(np.array([9.0, 1.0, 2.0, 8.0, 4.0]), 2)
    array([9., 2., 4., 4., 4.])
    """
    n, k = values.size, min(neighbors, (values.size - 1) // 2)
    found = values.copy()
    for i in range(k):
        found[i] = np.median(values[: 2 * i + 1])
        found[n - 1 - i] = np.median(values[n - 1 - 2 * i :])
    windows = np.lib.stride_tricks.sliding_window_view(values, 2 * k + 1)
    found[k : n - k] = np.partition(windows, k, axis=1)[:, k]
    return found


LABELED_BANDWIDTH, UNLABELED_BANDWIDTH = 0.1, 0.05
"""Bandwidths as multiples of the standard deviation of the scores."""
N_POINTS = 1000
"""At how many quantiles of the unlabeled scores the ratio is taken, if there are more."""
LARGEST_RATIO = 50.0
NARROW = 5
"""Neighbors on either side in the first rolling median."""
WIDE = 1 / 20
"""The same in the second, as a share of all points."""
TOLERANCE, MAX_ITERATIONS = 1e-5, 1000
STEP, SMALL_ERROR = 0.001, 0.05
LARGE_TIE = 0.05


class Prior(NamedTuple):
    """Share of positives that explains a ratio of densities.

    ``em`` is the limit of the iteration, and ``grid`` the kink of its error on a grid.
    """

    a: float
    em: float
    grid: float
    iterations: int


@register_prior_estimator("dedpul")
@dataclass(kw_only=True, eq=False, repr=False)
class DEDPUL(PriorEstimator):
    r"""Difference-of-estimated-densities: EM on the smoothed ratio of two score densities.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: heavy ties; scores on a scale that squeezes one end.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"em"`` and ``"grid"``, the two
        candidates for alpha, the number of ``"iterations"`` and the ``"scale"`` in use.

    Notes
    -----
    1. Gaussian kernel densities :math:`f_U`, :math:`f_L`, of log-odds if all scores lie strictly
       between 0 and 1 and of the scores themselves otherwise, with bandwidths of 0.05 and 0.1
       standard deviations; :math:`r = f_L/f_U` at the unlabeled scores, or at a thousand of their
       quantiles, at most 50.
    2. Rolling median over 5 neighbors on either side; above the middle between the two mean
       scores a running maximum makes :math:`r` increase with the score; rolling median over
       :math:`n_U/20` neighbors on either side.
    3. The iteration :math:`\alpha \leftarrow \mathrm{mean}_U \min(\alpha r, 1)` from
       :math:`\alpha = 1` until it moves by less than 1e-5. If :math:`r` has mean 1 all
       :math:`\alpha \le 1/\max r` are fixed points and it stops at the largest; below mean 1 it
       goes to 0.
    4. Hence a guard. On a grid of :math:`\nu = 1 - \alpha` with spacing .001, where
       :math:`e(\nu) = \mathrm{mean}_U \max(1 - r(1-\nu), 0) - \nu` is below .05, the largest
       second difference of :math:`e` marks the kink at which the fixed points end. The limit
       of the iteration is used if its :math:`\nu` does not exceed that of the kink, or if
       :math:`e < 0` at more than one point and :math:`\nu < .999`; otherwise the kink, or
       :math:`\mathrm{mean}_U \min(r, 1)` if that is less, which no solution exceeds.

    The method uses the values of the scores, not only their order. Heavy ties distort it: at a
    score shared by many, two kernel densities stand in the ratio of their bandwidths. Scaling
    :math:`r` to mean 1 looks like the natural cure for the iteration and makes it worse: the limit
    becomes :math:`1/\max r`, which is biased down. Labels are taken as clean; :class:`NoisyLabels`
    makes it an estimator of beta too.

    References
    ----------
    Ivanov (2020), "DEDPUL: difference-of-estimated-densities-based positive-unlabeled
    learning", ICMLA.

    Examples
    --------
    >>> import purecover as pu
    >>> from purecover_paper.systems import DEDPUL
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = DEDPUL().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.25
    """

    def _flip(self, counts: ScoreCounts) -> ScoreCounts:
        flipped = counts.flipped()
        if not _are_probabilities(counts):
            return flipped
        # 1 - t instead of -t, so that probabilities stay probabilities. Tiny ones would leave
        # the open interval; they may share its last number, as order is all that matters then.
        inside = np.clip(1 + flipped.thresholds, np.finfo(float).tiny, 1 - 2**-53)
        return replace(flipped, thresholds=inside)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        ratio, notes = self._ratio(counts)
        prior = fixed_prior(np.sort(ratio)[::-1])
        a = min(prior.a, 1.0)
        at_edge = a <= 2 * STEP
        if at_edge:
            notes += ("the estimate is at the lower end of its range: no sign of positives",)
        details = {
            "em": prior.em,
            "grid": prior.grid,
            "iterations": prior.iterations,
            "scale": "logit" if _are_probabilities(counts) else "none",
            "at_edge": at_edge,
        }
        return Inclusions(a, notes=notes, details=details)

    def _ratio(self, counts: ScoreCounts) -> tuple[FloatArray, tuple[str, ...]]:
        """The smooth ratio of densities at the unlabeled scores, highest first; notes."""
        x = _positions(counts)
        mass: CountArray = np.add(counts.labeled, counts.unlabeled)
        total = spread_of(x, mass)
        if not total > 0:
            raise IdentifiabilityError(
                f"{type(self).__name__} needs scores that differ: these say nothing about alpha."
            )
        notes = _tie_notes(counts)
        index, narrow = _points(counts)
        densities = []
        for side, tally, factor in (
            ("labeled", counts.labeled, LABELED_BANDWIDTH),
            ("unlabeled", counts.unlabeled, UNLABELED_BANDWIDTH),
        ):
            spread = spread_of(x, tally)
            if not spread > 1e-9 * total:
                spread = total
                notes += (f"all {side} scores are equal; the bandwidth is that of all scores",)
            densities.append(binned_density(x, tally, factor * spread, x[index]))
        with np.errstate(over="ignore"):
            ratio = densities[0] / np.maximum(densities[1], np.finfo(float).tiny)
        ratio = np.minimum(ratio, LARGEST_RATIO)
        ratio = rolling_median(ratio, narrow)
        value = counts.thresholds if _are_probabilities(counts) else x
        middle = (mean_of(value, counts.labeled) + mean_of(value, counts.unlabeled)) / 2
        high = int(np.count_nonzero(value[index] >= middle))
        ratio[:high] = np.maximum.accumulate(ratio[:high][::-1])[::-1]
        # Where the ratio falls throughout, it is its own median.
        wide = int(index.size * WIDE)
        rest = ratio[max(high - 2 * wide, 0) :] if ratio.size - high > wide else ratio
        rest[:] = rolling_median(rest, wide)
        return ratio, notes


def _are_probabilities(counts: ScoreCounts) -> bool:
    """Whether all scores lie strictly between 0 and 1, so that log-odds are taken."""
    return bool(counts.thresholds[-1] > 0 and counts.thresholds[0] < 1)


def _positions(counts: ScoreCounts) -> FloatArray:
    """Scores or their log-odds, decreasing, between 0 and 1: only relative distances matter."""
    used = np.flatnonzero(counts.labeled + counts.unlabeled)
    x = logit(counts.thresholds) if _are_probabilities(counts) else counts.thresholds
    # Halves, whose difference is finite. A replicate may lack the extremes of the data, and its
    # own scores should not shrink to nothing in comparison.
    high, low = float(x[used[0]]) / 2, float(x[used[-1]]) / 2
    with np.errstate(over="ignore"):
        place = (x / 2 - low) / ((high - low) or 1.0)
    return np.clip(place, 0.0, 1.0)


def _tie_notes(counts: ScoreCounts) -> tuple[str, ...]:
    """A warning where many rows share one score."""
    # One row is no tie, however few there are.
    sides = (counts.labeled, counts.n_labeled), (counts.unlabeled, counts.n_unlabeled)
    tie = max(0.0 if side.max() < 2 else side.max() / n for side, n in sides)
    note = (
        f"{tie:.0%} of the rows of one sample share one score, where densities of different "
        "bandwidths distort their ratio; estimators that go by the order alone do not mind"
    )
    return (note,) if tie > LARGE_TIE else ()


def _points(counts: ScoreCounts) -> tuple[IntArray, int]:
    """Indices of evenly spaced unlabeled rows, and how many of them five rows make."""
    size = counts.n_unlabeled * weight_units(counts)[1]
    count = max(1, min(N_POINTS, round(size)))
    total = np.cumsum(counts.unlabeled)
    index = np.searchsorted(total, (np.arange(count) + 0.5) / count * total[-1])
    return index, round(NARROW * count / max(size, 1.0))


def fixed_prior(ratio: FloatArray) -> Prior:
    """The share of positives that explains a ratio of densities, given in decreasing order.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover_paper.systems.dedpul import fixed_prior
    >>> round(fixed_prior(np.array([2, 1.5, 1, 0.5, 0])).em, 3)
    0.5
    """
    em, iterations = _iterate(ratio)
    nu = np.arange(0, 1, STEP)
    # mean max(1 - r (1 - nu), 0): only ratios below 1/(1 - nu) count, the last ones.
    first = np.searchsorted(-ratio, -1 / (1 - nu), side="right")
    rest = np.concatenate((np.cumsum(ratio[::-1])[::-1], [0.0]))
    # Rounded, or else the noise of the last digit would choose where the error is a line.
    error = (((ratio.size - first) - (1 - nu) * rest[first]) / ratio.size - nu).round(12)
    candidates = np.flatnonzero(error[1:-1] < SMALL_ERROR)
    kink = candidates[np.argmax(np.diff(error, 2)[candidates].round(12))] + 1
    grid = float(1 - nu[kink])
    negative = np.count_nonzero(error < -1e-12)
    converged = 1 - em <= nu[kink] or (negative > 1 and 1 - em < 1 - STEP)
    largest = float(np.minimum(ratio, 1).mean())
    return Prior(em if converged else min(grid, largest), em, grid, iterations)


def _iterate(ratio: FloatArray) -> tuple[float, int]:
    """The limit of a <- mean min(a r, 1) from a = 1, and the number of steps."""
    a = 1.0
    for step in range(1, MAX_ITERATIONS + 1):
        new = float(np.minimum(a * ratio, 1.0).mean())
        if abs(new - a) < TOLERANCE or not new > 0:
            return new, step
        a = new
    return a, MAX_ITERATIONS
