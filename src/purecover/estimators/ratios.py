"""Ratios of shares: BBE, the slope of the ROC curve, and the method of Elkan and Noto.

Up to a threshold that hardly any negative reaches, the share of the unlabeled is alpha times that
of the labeled; so alpha is the smallest ratio of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from purecover._typing import CountArray, FloatArray, IntArray
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator
from purecover.estimators.inclusion import binomial_upper
from purecover.estimators.parameters import parameter
from purecover.estimators.samples import merge_replicates, row_shares, weight_units
from purecover.recovery.repairs import isotonic_regression


class _Cuts(NamedTuple):
    """Index of the threshold with the smallest bound in each replicate, and values there."""

    place: IntArray
    bound: FloatArray
    ratio: FloatArray
    labeled_above: FloatArray


def _smallest(bound: FloatArray, q_labeled: FloatArray, q_unlabeled: FloatArray) -> _Cuts:
    place = np.argmin(bound, axis=1)
    rows = np.arange(place.size)
    above = q_labeled[rows, place]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = q_unlabeled[rows, place] / above
    return _Cuts(place, bound[rows, place], ratio, above)


LARGE_PENALTY = 0.5
"""Where the penalty at the chosen threshold exceeds this, it and not the data chose it."""


@register_prior_estimator("bbe")
@dataclass(kw_only=True, eq=False, repr=False)
class BBE(PriorEstimator):
    r"""Best bin estimation: shares above the threshold with the best confidence bound.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: too high with a few hundred labeled: the threshold sits far down, among the
    negatives.

    Parameters
    ----------
    error : float, default=0.1
        Probability :math:`\varepsilon` with which the confidence bound may fail.
    gamma : float, default=0.01
        Factor by which the penalty exceeds the margin of the bound.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the chosen ``"threshold"``, the share
        of labeled rows at or above it (``"labeled_above"``), and the ``"penalty"`` there.

    See Also
    --------
    RocSlope : The same idea with binomial bounds, sharper for few rows.

    Notes
    -----
    With the shares :math:`q_U(t)` and :math:`q_L(t)` of unlabeled and labeled scores of
    :math:`t` or more, over all distinct scores,

    .. math::

        \hat t = \arg\min_t \frac{q_U(t) + c}{q_L(t)}, \qquad
        c = (1 + \gamma)\left(\sqrt{\frac{\ln(4/\varepsilon)}{2 n_U}}
            + \sqrt{\frac{\ln(4/\varepsilon)}{2 n_L}}\right), \qquad
        \hat\alpha = \frac{q_U(\hat t)}{q_L(\hat t)}.

    It depends on the order of the scores only. It needs a region at the top that holds hardly
    any negatives, and it converges to alpha if there is one. Its constant is large: with a few
    hundred labeled rows the threshold sits far down, among the negatives, and the estimate
    is too high. The released program counts unlabeled scores strictly above the threshold and
    labeled ones at or above it; here both are at or above. Labels are taken as clean;
    :class:`NoisyLabels` makes it an estimator of beta too. With weights, effective sizes take
    the place of :math:`n_U` and :math:`n_L`.

    References
    ----------
    Garg, Wu, Smola, Balakrishnan & Lipton (2021), "Mixture proportion estimation and PU
    learning: a modern approach", NeurIPS.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.BBE().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.25
    """

    error: float = parameter(0.1, "real", low=0, high=1, closed="neither")
    gamma: float = parameter(0.01, "real", low=0)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        cuts, margin = self._cuts(counts, counts.labeled[None], counts.unlabeled[None])
        a, above = float(cuts.ratio[0]), float(cuts.labeled_above[0])
        penalty = float(margin[0]) / above
        notes = []
        if a == 0:
            notes.append("no unlabeled example scores as high as the best labeled ones: alpha = 0")
        if penalty > LARGE_PENALTY:
            notes.append(
                f"the estimate may lean high: with so few rows the penalty ({penalty:.2f}) "
                "chooses a threshold far down"
            )
        details = {
            "threshold": float(counts.thresholds[cuts.place[0]]),
            "labeled_above": above,
            "penalty": penalty,
            "at_edge": a == 0,
        }
        return Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        ratio = self._cuts(counts, labeled, unlabeled)[0].ratio
        return np.column_stack((ratio, np.zeros(ratio.size)))

    def _cuts(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> tuple[_Cuts, FloatArray]:
        units = weight_units(counts)
        q_labeled, n_labeled = row_shares(labeled, units[0])
        q_unlabeled, n_unlabeled = row_shares(unlabeled, units[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.sqrt(np.log(4 / self.error) / 2) * (n_unlabeled**-0.5 + n_labeled**-0.5)
            margin *= 1 + self.gamma
            bound = q_unlabeled + margin[:, None]
            bound /= q_labeled  # infinite above the highest labeled score
        return _smallest(bound, q_labeled, q_unlabeled), margin


LARGE_MARGIN = 0.1
"""Bounds that add more than this to the ratio of shares make the estimate lean high."""


@register_prior_estimator("roc-slope")
@dataclass(kw_only=True, eq=False, repr=False)
class RocSlope(PriorEstimator):
    r"""Smallest slope of the ROC curve, each point moved by its confidence bounds.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: leans high for few rows, by the width of its bounds.

    Parameters
    ----------
    error : float, default=0.1
        Probability :math:`\varepsilon` with which each binomial bound may fail.
    n_thresholds : int or None, default=200
        At how many thresholds, of like numbers of rows between them, the ratio is taken;
        None: at every distinct score.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the chosen ``"threshold"``, the share
        of labeled rows at or above it (``"labeled_above"``) and the plain ``"ratio"``.

    See Also
    --------
    BBE : The same idea with one margin for all thresholds.
    inclusion_bound : A bound that holds at all thresholds together.

    Notes
    -----
    Of :math:`n_U` unlabeled and :math:`n_L` labeled scores, :math:`k_U(t)` and :math:`k_L(t)`
    are :math:`t` or more, and

    .. math::

        \hat\alpha = \min_t
            \frac{UCB(k_U(t), n_U)}{LCB(k_L(t), n_L)},

    where :math:`UCB(k, n)` solves :math:`P(Bin(n, p) \le k) = \varepsilon` and
    :math:`LCB(k, n) = 1 - UCB(n - k, n)`. Each bound holds alone; that all hold together would
    take larger margins and more bias. The estimate depends on the order of the scores only. It
    converges to alpha if positives at the top become pure, and errs upward for few rows or
    where even the highest scores hold negatives. Replicates of the data use its thresholds.
    Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too. With
    weights, effective sizes take the place of :math:`n_U` and :math:`n_L`.

    References
    ----------
    Blanchard, Lee & Scott (2010), "Semi-supervised novelty detection", JMLR 11. Scott (2015),
    "A rate of convergence for mixture proportion estimation", AISTATS.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.RocSlope().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.26
    """

    error: float = parameter(0.1, "real", low=0, high=1, closed="neither")
    n_thresholds: int | None = parameter(200, "integer", low=2, optional=True)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        few = counts.thinned(self.n_thresholds or counts.n_thresholds)
        slopes = self._slopes(few, few.labeled[None], few.unlabeled[None])
        a, ratio = float(slopes.bound[0]), float(slopes.ratio[0])
        notes = []
        if a - ratio > LARGE_MARGIN:
            notes.append(
                f"the estimate may lean high: its confidence bounds add {a - ratio:.2f} to the "
                f"ratio {ratio:.2f}, for lack of examples"
            )
        details = {
            "threshold": float(few.thresholds[slopes.place[0]]),
            "labeled_above": float(slopes.labeled_above[0]),
            "ratio": ratio,
            "at_edge": a >= 1,
        }
        return Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        few = counts.thinned(self.n_thresholds or counts.n_thresholds)
        rows = (merge_replicates(counts, few, side) for side in (labeled, unlabeled))
        bound = self._slopes(few, *rows).bound
        return np.column_stack((bound, np.zeros(bound.size)))

    def _slopes(self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> _Cuts:
        units = weight_units(counts)
        q_labeled, n_labeled = row_shares(labeled, units[0])
        q_unlabeled, n_unlabeled = row_shares(unlabeled, units[1])
        low = _row_bounds(1 - q_labeled, n_labeled, self.error)
        np.subtract(1, low, out=low)
        bound = _row_bounds(q_unlabeled, n_unlabeled, self.error)
        with np.errstate(divide="ignore", invalid="ignore"):
            bound /= low
        cuts = _smallest(bound, q_labeled, q_unlabeled)
        return cuts._replace(bound=np.minimum(cuts.bound, 1.0))


def _row_bounds(shares: FloatArray, sizes: FloatArray, error: float) -> FloatArray:
    """Upper bounds of shares among samples of these sizes, one sample a row."""
    size = float(sizes[0])
    successes = shares * sizes[:, None]
    whole = np.rint(successes)
    if size == np.rint(size) and (sizes == size).all() and np.abs(whole - successes).max() < 1e-6:
        # Whole numbers repeat from replicate to replicate: look each up once.
        values, inverse = np.unique(whole, return_inverse=True)
        return binomial_upper(values, size, error)[inverse.reshape(shares.shape)]
    return binomial_upper(successes, sizes[:, None], error)


@register_prior_estimator("elkan-noto")
@dataclass(kw_only=True, eq=False, repr=False)
class ElkanNoto(PriorEstimator):
    r"""Alpha from calibrated probabilities of being labeled.

    Assumes: the best tenth of the labeled is pure; labels are clean.

    Known to fail: where few positives score high.

    Parameters
    ----------
    quantile : float, default=0.9
        This quantile of the probability of being labeled, over the labeled rows, is the share
        of positives that are labeled; 1 for its maximum.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"labeled_given_positive"``, which is
        :math:`\ell`, and the ``"pooled_prior"`` :math:`\pi`.

    Notes
    -----
    Isotonic regression of the label on the rank makes scores probabilities :math:`\tau` of being
    labeled. With :math:`N = n_L + n_U` rows in all and the quantile :math:`\ell` of
    :math:`\tau`, the share of positives among all of them is :math:`\pi = (n_L/N)/\ell`, and
    :math:`\alpha = (\pi N - n_L)/n_U`, set to 0 where it is negative.

    The paper names three estimators of :math:`\ell`. :math:`\mathrm{mean}_L\, \tau` and
    :math:`\sum_L \tau / \sum_{L \cup U} \tau`, the same after isotonic regression, average over
    positives wherever they score; they need classes that do not overlap, and err upward, often
    far, where they do, so that they are left out here. :math:`\max \tau` is right wherever the best
    scores are pure, but a single labeled row above all others makes :math:`\alpha` 0. Hence the
    quantile: it uses a tenth of the labeled, and is as good as the maximum if the best tenth is
    pure. Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too.

    References
    ----------
    Elkan & Noto (2008), "Learning classifiers from only positive and unlabeled data", KDD.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.ElkanNoto().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.23
    """

    quantile: float = parameter(0.9, "real", low=0, high=1, closed="right")

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        n_labeled, n_unlabeled = counts.n_labeled, counts.n_unlabeled
        used = np.flatnonzero(counts.labeled + counts.unlabeled)
        labeled = counts.labeled[used]
        pooled = np.asarray(labeled + counts.unlabeled[used], dtype=np.float64)
        falling = -isotonic_regression(-labeled / pooled, weights=pooled).x
        share = float(falling[0])
        if self.quantile < 1:
            # It decreases, so that the quantile stands where the upper share is reached.
            reached = np.cumsum(labeled) >= (1 - self.quantile) * n_labeled
            share = float(falling[np.argmax(reached & (labeled > 0))])
        positives = n_labeled / share
        a = (positives - n_labeled) / n_unlabeled
        notes = []
        if a <= 0:
            notes.append(
                "every row with a high score is labeled, which means alpha = 0: too few "
                "examples there, or scores trained on these very labels"
            )
        details = {
            "labeled_given_positive": share,
            "pooled_prior": positives / (n_labeled + n_unlabeled),
            "at_edge": not 0 < a < 1,
        }
        return Inclusions(min(max(a, 0.0), 1.0), notes=tuple(notes), details=details)
