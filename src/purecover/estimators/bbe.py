"""Best bin estimation (BBE): a ratio of shares above a threshold.

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
from purecover.estimators.parameters import parameter
from purecover.estimators.samples import row_shares, weight_units


class _Cuts(NamedTuple):
    """Index of the threshold with the smallest bound in each replicate, and values there."""

    place: IntArray
    ratio: FloatArray
    labeled_above: FloatArray
    margin: FloatArray


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
        cuts = self._cuts(counts, counts.labeled[None], counts.unlabeled[None])
        a, above = float(cuts.ratio[0]), float(cuts.labeled_above[0])
        penalty = float(cuts.margin[0]) / above
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
        ratio = self._cuts(counts, labeled, unlabeled).ratio
        return np.column_stack((ratio, np.zeros(ratio.size)))

    def _cuts(self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> _Cuts:
        units = weight_units(counts)
        q_labeled, n_labeled = row_shares(labeled, units[0])
        q_unlabeled, n_unlabeled = row_shares(unlabeled, units[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.sqrt(np.log(4 / self.error) / 2) * (n_unlabeled**-0.5 + n_labeled**-0.5)
            margin *= 1 + self.gamma
            bound = q_unlabeled + margin[:, None]
            bound /= q_labeled  # infinite above the highest labeled score
            place = np.argmin(bound, axis=1)
            rows = np.arange(place.size)
            above = q_labeled[rows, place]
            return _Cuts(place, q_unlabeled[rows, place] / above, above, margin)
