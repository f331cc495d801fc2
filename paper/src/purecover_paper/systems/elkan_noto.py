"""Elkan and Noto: alpha from the share of positives that are labeled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover import ScoreCounts
from purecover.estimators import (
    Inclusions,
    PriorEstimator,
    parameter,
    register_prior_estimator,
)


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
    >>> from purecover_paper.systems import ElkanNoto
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = ElkanNoto().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.23
    """

    quantile: float = parameter(0.9, "real", low=0, high=1, closed="right")

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        from scipy.optimize import isotonic_regression

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
