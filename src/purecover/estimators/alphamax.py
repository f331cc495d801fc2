r"""AlphaMax and AlphaMax-N: the proportion at which a likelihood leaves its plateau.

Differences from the code that its authors released:

- The inner problem is solved exactly (:mod:`purecover.estimators.inclusion_likelihood`), not by a
  general optimizer, and no density is floored: a labeled score where nothing is unlabeled adds a
  constant, left out here.
- The grid has a spacing of .0025, not .01, and starts at 0.
- All rows are used; nothing is subsampled.
- The elbow and the bins that go with it are our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import gammaincinv

from purecover._parameters import checked
from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover._validation import check_choice, check_real
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator
from purecover.estimators.clean_labels import CLEAN_RULES
from purecover.estimators.inclusion_likelihood import bin_ratios, inclusion_curve
from purecover.estimators.noisy import NoisyLabels
from purecover.estimators.samples import weight_units
from purecover.estimators.score_histogram import bin_starts, binned


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
        Effective numbers of rows of mixture and component, one per replicate.
    """

    inclusion: FloatArray
    log_likelihood: FloatArray
    mixture: FloatArray
    component: FloatArray
    sizes: tuple[FloatArray, FloatArray]

    @property
    def drop(self) -> FloatArray:
        """Twice what the likelihood has lost since c = 0."""
        return 2 * (self.log_likelihood[:, :1] - self.log_likelihood)


_ROUNDING = 1e-9


def deviance(curves: Curves) -> FloatArray:
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


@register_prior_estimator("alphamax")
@dataclass(kw_only=True, eq=False, repr=False)
class AlphaMax(PriorEstimator):
    r"""The largest share of the labeled density inside the unlabeled one, by likelihood.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: where the likelihood has no clear elbow: classes that overlap up to the top.

    Labels are taken as clean, so that share is alpha; :class:`AlphaMaxN` estimates beta too.

    Parameters
    ----------
    step : float, default=0.0025
        Spacing of the grid of inclusions, at most 0.05. The released code has 0.01.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. Among the diagnostics are ``"n_bins"``, ``"at_edge"``,
        ``"end_of_plateau"``, the smallest ratio of the two histograms, and ``"log_likelihood"`` at
        each ``"inclusion"`` of the grid, whose elbow is the estimate.

    See Also
    --------
    AlphaMaxN : The same for labels that may be wrong.

    Notes
    -----
    With the histograms :math:`p` of the unlabeled and :math:`q` of the labeled scores, an
    inclusion :math:`c` has the log-likelihood

    .. math::

        LL(c) = \max_b \sum_i p_i \log(c q_i + p_i - b_i) + q_i \log(b_i / c), \qquad
        0 \le b_i \le p_i, \; \sum_i b_i = c,

    where :math:`b` is the part of the unlabeled that is taken for positive. It is exactly flat
    up to :math:`\min_i p_i / q_i` and falls beyond. Noise makes that minimum far too small, so
    the elbow has to be found in a curve that bends slowly. It is the last c at which the fall is no
    larger than chance explains: the m bins with :math:`p_i < c q_i` may contribute the median of a
    chi-square with m degrees of freedom. That can be anything from 0 to 1, and the more rows,
    the less it allows. The elbows of the paper and of its code are in ``purecover_paper.systems``.

    Bins have the width of Scott's rule for the labeled scores, rounded to 1, 2, 3 or 5 times a
    power of ten, and are joined from the top until each holds 20 labeled rows (the square root
    of all, if that is more) and 5 unlabeled ones; or a fifth of all, if that is fewer. They depend
    on the values of the scores, not only on their order.

    Alpha is too large if no region of the scores is free of negatives.

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

    # Whether bins are joined until they hold enough; otherwise their widths are all the same.
    joins_bins: ClassVar[bool] = True

    step: float = checked(0.0025, check_real, low=1e-4, high=0.05)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        curves = self._curves(counts, counts.labeled[None], counts.unlabeled[None])
        statistic, index = self._find_elbow(curves)
        elbow = float(curves.inclusion[index[0]])
        notes, at_edge = _edge(elbow, curves.inclusion[~np.isnan(statistic[0])])
        end = float(bin_ratios(curves.mixture, curves.component).min())
        details = {
            "n_bins": curves.mixture.shape[1],
            "end_of_plateau": min(end, 1.0),
            "at_edge": at_edge,
            "inclusion": curves.inclusion,
            "log_likelihood": curves.log_likelihood[0],
        }
        # A plateau without end: the two samples look the same.
        return Inclusions(1.0 if _is_flat(curves)[0] else elbow, 0.0, notes, details)

    def _find_elbow(self, curves: Curves) -> tuple[FloatArray, IntArray]:
        """The statistic the rule looks at, NaN where it does not look, and the elbow's index."""
        statistic = deviance(curves)
        last: IntArray = statistic.shape[1] - 1 - np.argmax(statistic[:, ::-1] <= 0, axis=1)
        return statistic, last

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        curves = self._curves(counts, labeled, unlabeled)
        a = np.where(_is_flat(curves), 1.0, curves.inclusion[self._find_elbow(curves)[1]])
        return np.column_stack((a, np.zeros(a.size)))

    def _curves(self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> Curves:
        """Compute non-increasing curves of replicates over the bins of the data."""
        starts = bin_starts(counts, merged=self.joins_bins)
        units = weight_units(counts)
        q, n_labeled = _shares(labeled, starts, units[0])
        p, n_unlabeled = _shares(unlabeled, starts, units[1])
        grid: FloatArray = np.arange(np.ceil(1 / self.step - 1e-9), dtype=np.float64) * self.step
        raw = inclusion_curve(p, q, grid)
        falling = np.maximum.accumulate(raw[:, ::-1], axis=1)[:, ::-1]
        return Curves(grid, falling, p, q, (n_unlabeled, n_labeled))


def _edge(elbow: float, looked: FloatArray) -> tuple[tuple[str, ...], bool]:
    """Whether the elbow is an end of the grid that the rule looks at, with a note."""
    low, high = float(looked[0]), float(looked[-1])
    # 0 is a possible value of a share, not the end of what can be seen.
    if elbow < high and (elbow > low or low == 0.0):
        return (), False
    note = (
        f"the elbow is at {elbow:.3g}, an end of what this rule can return "
        f"({low:.2g} to {high:.4g}): the truth may lie beyond"
    )
    return (note,), True


@register_prior_estimator("alphamax-n")
@dataclass(kw_only=True, eq=False, repr=False)
class AlphaMaxN(AlphaMax):
    r"""AlphaMax for labels that may be wrong: two runs, the samples exchanged in the second.

    Assumes: the highest scores are positives, the lowest are negatives.

    Known to fail: as alphamax, at both ends; a weak classifier makes clean labels look wrong.

    Parameters
    ----------
    step : float, default=0.0025
        See :class:`AlphaMax`.
    clean : {"test", "never", "always"}, default="test"
        When to take labels as clean, which is beta = 1 exactly: if a test does not reject it,
        never, or always.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`; the diagnostics are those of :class:`NoisyLabels`.

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

    clean: Literal["test", "never", "always"] = checked("test", check_choice, choices=CLEAN_RULES)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return self._both_ways()._estimate(counts)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        return self._both_ways()._estimate_many(counts, labeled, unlabeled)

    def _both_ways(self) -> NoisyLabels:
        return NoisyLabels(AlphaMax(step=self.step), clean=self.clean)


def _shares(tally: CountArray, starts: IntArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Histograms, one per row, and how many rows each of them stands for."""
    held = binned(tally, starts)
    total = held.sum(axis=1)
    return held / np.where(total > 0, total, 1.0)[:, None], total * unit


def _is_flat(curves: Curves) -> BoolArray:
    """Whether the likelihood never falls, as with two equal histograms."""
    return bin_ratios(curves.mixture, curves.component).min(axis=1) >= 1 - 1e-12
