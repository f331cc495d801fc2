"""`Subsampling`: what one knows about the purity of the highest scores, put to use."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover._validation import check_real
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._ensemble import MedianEnsemble
from purecover.estimation._registry import register_prior_estimator
from purecover.estimation._regrouping import check_one_sided
from purecover.estimation._samples import flipped_counts

__all__ = ["Subsampling"]


@register_prior_estimator("subsampling")
class Subsampling(PriorEstimator):
    r"""Reject unlabeled examples where negatives are known to be, then estimate (SuMPE).

    Where negatives are found among the positives at every score, estimators of alpha come out
    too high. If one knows how pure the highest scores are, say since some of those examples
    were looked at, a part of the unlabeled with high scores can be rejected so that what is
    left has a pure region.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run, on all and then on what is left. Default:
        :class:`MedianEnsemble`.
    ceiling : float, default=1.0
        Share of positives among the unlabeled examples where it is largest, at the highest
        scores. Scores and labels do not tell it. At 1 nothing is rejected, and the estimate is
        that of the estimator.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"unadjusted"``, the estimate before
        rejection, ``"acceptance_rate"``, and ``"run"``, what the estimator has to show.

    See Also
    --------
    Regrouping : Needs no such knowledge, and has no guarantee.

    Notes
    -----
    With the densities :math:`f` of the unlabeled and :math:`g` of the labeled, the chance of
    being positive is :math:`p = \alpha g/f`. If the unlabeled are accepted with a probability
    :math:`A \ge p` that touches :math:`p` somewhere, the accepted ones hold no negatives there,
    the inclusion of :math:`g` in their density is :math:`a' = \alpha/c`, where :math:`c` is the
    rate of acceptance, and :math:`\alpha = c\,a'`. Of the functions that do, this one is
    smooth and keeps the order of the scores:

    .. math:: A = 1 - (1-q)\,\rho, \qquad \rho = \min(1, \hat a\,\hat r),

    with the ceiling :math:`q`, the estimate :math:`\hat a` before rejection and the ratio
    :math:`\hat r` of :math:`g` to :math:`f` from isotonic regression of the labels. It exceeds
    :math:`p = q\rho` by :math:`1-\rho`. Examples are not rejected at random but counted in
    part, which has the same mean and no further noise. In large samples the result is
    :math:`q \hat a`.

    The estimate is as good as the ceiling: one that is too low makes alpha too low by the same
    factor. Replicates of the bootstrap keep the ceiling and the acceptance of the data.

    References
    ----------
    Zhu, Fjeldsted, Holland, Landon, Lintereur & Scott (2023), "Mixture proportion estimation
    beyond irreducibility", ICML.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.laplace(separation=1)  # the highest scores are 47 % positive
    >>> sample = world.sample(2000, 2000, alpha=0.25, random_state=0)
    >>> plain = pu.BBE().fit(sample.scores, sample.labeled)
    >>> known = pu.Subsampling(pu.BBE(), ceiling=0.47).fit(sample.scores, sample.labeled)
    >>> round(plain.proportions_.alpha, 1), round(known.proportions_.alpha, 1)
    (0.5, 0.2)
    """

    reference: ClassVar[str] = "Zhu, Fjeldsted, Holland, Landon, Lintereur & Scott, ICML 2023"

    def __init__(self, estimator: PriorEstimator | None = None, *, ceiling: float = 1.0) -> None:
        self.estimator = estimator
        self.ceiling = ceiling

    def _check_params(self) -> None:
        name = type(self).__name__
        check_real(name, "ceiling", self.ceiling, low=0, high=1, closed="right")
        check_one_sided(name, self.estimator)

    def _inner(self) -> PriorEstimator:
        from sklearn.base import clone

        return MedianEnsemble() if self.estimator is None else clone(self.estimator)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        first = self._inner()._estimate(counts)
        if self.ceiling == 1:
            return self._result(first, first, 1.0)
        left = _accepted(counts, self._acceptance(counts, first.a))
        return self._result(first, self._inner()._estimate(left), _rate(left, counts))

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        # The estimator turns the scores around in its own way, so it gets them as they were.
        first, turned = self._inner()._estimate_flipped(counts), flipped_counts(counts)
        if self.ceiling == 1:
            return self._result(first, first, 1.0)
        left = _accepted(turned, self._acceptance(turned, first.a))
        run = self._inner()._estimate_flipped(flipped_counts(left))
        return self._result(first, run, _rate(left, turned))

    def _result(self, first: Inclusions, run: Inclusions, rate: float) -> Inclusions:
        details: dict[str, Any] = {
            "unadjusted": float(first.a),
            "acceptance_rate": rate,
            "at_edge": bool(run.details.get("at_edge", False)),
            "identifiable": bool(run.details.get("identifiable", True)),
            "run": dict(run.details),
        }
        notes = run.notes
        if self.ceiling == 1:
            notes = (*notes, "the highest scores were taken as pure: nothing was rejected")
        return Inclusions(rate * run.a, 0.0, notes, details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        if self.ceiling == 1:
            found = self._inner()._estimate_many(counts, labeled, unlabeled)
            found[:, 1] = 0.0
            return found
        accept = self._acceptance(counts, self._inner()._estimate(counts).a)
        left = _accepted(counts, accept)
        found = self._inner()._estimate_many(left, labeled, unlabeled * accept)
        return _scaled(found, unlabeled, accept)

    def _estimate_many_flipped(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        if self.ceiling == 1:
            found = self._inner()._estimate_many_flipped(counts, labeled, unlabeled)
            found[:, 1] = 0.0
            return found
        first, turned = self._inner()._estimate_flipped(counts), flipped_counts(counts)
        accept = self._acceptance(turned, first.a)
        left = flipped_counts(_accepted(turned, accept))
        accept = accept[::-1]
        found = self._inner()._estimate_many_flipped(left, labeled * accept, unlabeled)
        return _scaled(found, labeled, accept)

    def _acceptance(self, counts: ScoreCounts, inclusion: float) -> FloatArray:
        """Probability of being kept, at each threshold."""
        return 1 - (1 - self.ceiling) * np.minimum(1.0, inclusion * _ratio(counts))


def _ratio(counts: ScoreCounts) -> FloatArray:
    """Ratio of the labeled to the unlabeled density, which never falls as scores rise."""
    from scipy.optimize import isotonic_regression

    labeled = np.asarray(counts.labeled / counts.n_labeled, dtype=np.float64)
    both = labeled + counts.unlabeled / counts.n_unlabeled
    seen = both > 0
    fitted = isotonic_regression(labeled[seen] / both[seen], weights=both[seen], increasing=False).x
    share = np.zeros(both.size)
    share[seen] = np.clip(fitted, 0.0, 1.0)
    # Where only labeled examples are, the ratio is as large as can be; it is cut anyway.
    return share / np.maximum(1 - share, 1e-12)


def _accepted(counts: ScoreCounts, accept: FloatArray) -> ScoreCounts:
    squares = counts.unlabeled_sq
    return ScoreCounts(
        thresholds=counts.thresholds,
        labeled=counts.labeled,
        unlabeled=counts.unlabeled * accept,
        labeled_sq=counts.labeled_sq,
        unlabeled_sq=None if squares is None else squares * accept**2,
    )


def _rate(left: ScoreCounts, before: ScoreCounts) -> float:
    return float(left.n_unlabeled / before.n_unlabeled)


def _scaled(found: FloatArray, tally: CountArray, accept: FloatArray) -> FloatArray:
    """Inclusions in what was left, turned into those in all."""
    totals = tally.sum(axis=1, dtype=np.float64)
    kept = np.asarray(tally @ accept, dtype=np.float64)
    rate = np.divide(kept, totals, out=np.full(totals.size, np.nan), where=totals > 0)
    return np.column_stack((found[:, 0] * rate, np.zeros(len(found))))
