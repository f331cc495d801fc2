"""Elkan and Noto's estimators: alpha from the probability that a positive is labeled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from purecover._parameters import checked
from purecover._typing import FloatArray
from purecover._validation import bad_value, check_choice, check_real
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator
from purecover.estimators.samples import flipped_counts
from purecover.exceptions import IdentifiabilityError

Variant = Literal["e1", "e2", "e3"]
Calibration = Literal["isotonic", "none"]
Rule = Literal["alternative", "main"]


@register_prior_estimator("elkan-noto")
@dataclass(kw_only=True, eq=False, repr=False)
class ElkanNoto(PriorEstimator):
    r"""Alpha from calibrated probabilities of being labeled.

    Assumes: the best tenth of the labeled is pure; labels are clean.

    Known to fail: variants e1 and e2 far too high wherever classes overlap; e3 where the top is
    thin.

    Parameters
    ----------
    variant : {"e1", "e2", "e3"}, default="e3"
        How the probability :math:`\ell` that a positive is labeled is estimated.
    calibration : {"isotonic", "none"}, default="isotonic"
        How scores become probabilities :math:`\tau` of being labeled: by isotonic regression,
        which uses their order only; or not at all, if they are such probabilities already, of
        the two samples taken together.
    rule : {"alternative", "main"}, default="alternative"
        How the share of positives follows from :math:`\ell`.
    quantile : float, default=0.9
        For "e3": this quantile of :math:`\tau` over the labeled examples takes the place of its
        maximum; 1 for the maximum itself.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"labeled_given_positive"``, which is
        :math:`\ell`, and the ``"pooled_prior"`` :math:`\pi`.

    Notes
    -----
    With :math:`N = n_L + n_U` examples in all,

    .. math::

        \ell_1 = \mathrm{mean}_L\, \tau, \qquad
        \ell_2 = \frac{\sum_L \tau}{\sum_{L \cup U} \tau}, \qquad
        \ell_3 = \max \tau;

    the share of positives among all of them is :math:`\pi = (n_L/N)/\ell` by the alternative
    rule and :math:`\pi = (n_L + \sum_U w)/N` by the main one, with the probability
    :math:`w = \frac{1-\ell}{\ell} \frac{\tau}{1-\tau}` (at most 1) that an unlabeled example
    is positive. Then :math:`\alpha = (\pi N - n_L)/n_U`, set to 0 where it is negative.

    After isotonic regression :math:`\tau` sums up to :math:`n_L`, so that "e1" and "e2" are the
    same. Both average over positives wherever they score; they need classes that do not
    overlap, and err upward, often far, where they do. "e3" is right wherever the best scores are
    pure, but it is an extreme value of what must be calibrated: a single labeled example above
    all others makes :math:`\alpha` 0. Hence the default, the 90 % quantile over the labeled: it
    rests on a tenth of them, and is as good as the maximum if the best tenth is pure. Labels are
    taken as clean; :class:`NoisyLabels` makes it an estimator of beta too.

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

    reference: ClassVar[str] = "Elkan & Noto, KDD 2008"

    variant: Variant = checked("e3", check_choice, choices=get_args(Variant))
    calibration: Calibration = checked("isotonic", check_choice, choices=get_args(Calibration))
    rule: Rule = checked("alternative", check_choice, choices=get_args(Rule))
    quantile: float = checked(0.9, check_real, low=0, high=1, closed="right")

    def _flip(self, counts: ScoreCounts) -> ScoreCounts:
        flipped = flipped_counts(counts)
        if self.calibration == "isotonic":
            return flipped
        # 1 - t: the probability of the other label
        return replace(flipped, thresholds=1 + flipped.thresholds)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        tau = self._probabilities(counts)
        n_labeled, n_unlabeled = counts.n_labeled, counts.n_unlabeled
        share = self._labeled_given_positive(tau, counts)
        if not share > 0:
            raise IdentifiabilityError(
                f"{type(self).__name__} needs probabilities of being labeled that are positive "
                "for labeled examples, got 0 throughout: alpha cannot be told.\n"
                'Hint: calibration="isotonic" makes probabilities of any scores'
            )
        if self.rule == "main":
            above, below = (1 - share) * tau, share * (1 - tau)
            weight = (above > 0).astype(np.float64)  # at most 1; none if all positives are labeled
            np.divide(above, below, out=weight, where=above < below)
            positives = n_labeled + float(np.dot(counts.unlabeled, weight))
        else:
            positives = n_labeled / share
        a = (positives - n_labeled) / n_unlabeled
        notes = []
        if a <= 0:
            notes.append(
                "every example with a high score is labeled, which means alpha = 0: too few "
                "examples there, or scores trained on these very labels"
            )
        details = {
            "labeled_given_positive": share,
            "pooled_prior": positives / (n_labeled + n_unlabeled),
            "at_edge": not 0 < a < 1,
        }
        return Inclusions(min(max(a, 0.0), 1.0), notes=tuple(notes), details=details)

    def _probabilities(self, counts: ScoreCounts) -> FloatArray:
        """Probability of being labeled at each distinct score, decreasing."""
        if self.calibration == "none":
            high, low = float(counts.thresholds[0]), float(counts.thresholds[-1])
            if low < 0 or high > 1:
                raise bad_value(
                    "scores",
                    'between 0 and 1 for calibration="none"',
                    f"scores from {low:g} to {high:g}",
                    'calibration="isotonic" makes probabilities of any scores',
                )
            return counts.thresholds
        from scipy.optimize import isotonic_regression

        pooled = np.asarray(counts.labeled + counts.unlabeled, dtype=np.float64)
        used = np.flatnonzero(pooled)
        rate = counts.labeled[used] / pooled[used]
        tau = np.zeros(pooled.size)
        tau[used] = isotonic_regression(rate, weights=pooled[used], increasing=False).x
        return np.clip(tau, 0.0, 1.0, out=tau)

    def _labeled_given_positive(self, tau: FloatArray, counts: ScoreCounts) -> float:
        """The share of positives that are labeled."""
        if self.variant == "e1":
            return float(np.dot(counts.labeled, tau)) / counts.n_labeled
        if self.variant == "e2":
            of_labeled = float(np.dot(counts.labeled, tau))
            of_all = of_labeled + float(np.dot(counts.unlabeled, tau))
            return of_labeled / of_all if of_all > 0 else 0.0
        if self.quantile == 1:
            present = np.flatnonzero((counts.labeled > 0) | (counts.unlabeled > 0))
            return float(tau[present[0]])
        # tau decreases, so that the quantile stands where the upper share is reached.
        reached = np.cumsum(counts.labeled) >= (1 - self.quantile) * counts.n_labeled
        present = np.flatnonzero(reached & (counts.labeled > 0))
        return float(tau[present[0]])
