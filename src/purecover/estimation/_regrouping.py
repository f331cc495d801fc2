"""`Regrouping`: a remedy for scores without a pure region, which moves mixed scores aside."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover._validation import bad_value, check_real
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._ensemble import MedianEnsemble, check_estimator_parameter
from purecover.estimation._registry import register_prior_estimator
from purecover.estimation._samples import flipped_counts

__all__ = ["Regrouping", "check_one_sided"]


@register_prior_estimator("regrouping")
class Regrouping(PriorEstimator):
    r"""Copy the highest unlabeled scores into the labeled sample, then estimate (ReMPE).

    Where negatives are found among the positives at every score, estimators of alpha come out
    too high, by as much as the negatives contain of the positives. Counting the negatives with
    the highest scores among the positives makes a new problem with a pure region, whose alpha
    is smaller.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run on the regrouped samples. Default: :class:`MedianEnsemble`.
    share : float, default=0.1
        Share of the unlabeled examples, those with the highest scores, that are copied.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"copied"``, the share of copies in
        the regrouped labeled sample, and ``"run"``, what the estimator has to show.

    See Also
    --------
    Subsampling : The same aim, if one knows how pure the highest scores are.

    Notes
    -----
    With the densities :math:`f` of the unlabeled, :math:`g` of the labeled, and the region
    :math:`S` of the highest scores that holds the share :math:`s` of the unlabeled, the
    regrouped labeled sample has a density proportional to :math:`g + f\,1_S`: a copy weighs as
    if there were as many unlabeled as labeled examples, as was roughly so in the study that
    proposed the method; where the labeled are more, a copy counts as one example. Without such
    a weight the estimate would tend to :math:`s`, whatever alpha is, as the unlabeled become
    many. If the largest share of :math:`g` inside :math:`f` is :math:`a`, and if it is reached
    within :math:`S`, large samples give

    .. math:: a' = \frac{1+s}{1+1/a},

    which is below :math:`a` whenever :math:`a > s`. So the estimate is lowered by an amount
    that does not depend on how much too high it was, since scores alone do not tell that. It
    helps where positives and negatives overlap everywhere, and it hurts where a pure region
    exists: of a true alpha of 0.25 as little as 0.22 may be left, of 0.5 as little as 0.37. Do
    not use it where the highest scores are known to be pure.

    References
    ----------
    Yao, Liu, Han, Gong, Niu, Sugiyama & Tao (2022), "Rethinking class-prior estimation for
    positive-unlabeled learning", ICLR.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.laplace(separation=1)  # a third of the negatives look positive
    >>> sample = world.sample(5000, 5000, alpha=0.25, random_state=0)
    >>> plain = pu.BBE().fit(sample.scores, sample.labeled)
    >>> regrouped = pu.Regrouping(pu.BBE()).fit(sample.scores, sample.labeled)
    >>> round(plain.proportions_.alpha, 1), round(regrouped.proportions_.alpha, 1)
    (0.5, 0.4)
    """

    reference: ClassVar[str] = "Yao, Liu, Han, Gong, Niu, Sugiyama & Tao, ICLR 2022"

    def __init__(self, estimator: PriorEstimator | None = None, *, share: float = 0.1) -> None:
        self.estimator = estimator
        self.share = share

    def _check_params(self) -> None:
        name = type(self).__name__
        check_real(name, "share", self.share, low=0, high=1, closed="neither")
        check_one_sided(name, self.estimator)

    def _inner(self) -> PriorEstimator:
        from sklearn.base import clone

        return MedianEnsemble() if self.estimator is None else clone(self.estimator)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        regrouped = self._regrouped(counts)
        return self._result(self._inner()._estimate(regrouped), counts, regrouped)

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        # The estimator turns the scores around in its own way, so it gets them as they were.
        regrouped = self._regrouped(flipped_counts(counts))
        run = self._inner()._estimate_flipped(flipped_counts(regrouped))
        return self._result(run, flipped_counts(counts), regrouped)

    def _result(self, run: Inclusions, before: ScoreCounts, after: ScoreCounts) -> Inclusions:
        copied = 1 - before.n_labeled / after.n_labeled
        details: dict[str, Any] = {
            "copied": float(copied),
            "at_edge": bool(run.details.get("at_edge", False)),
            "identifiable": bool(run.details.get("identifiable", True)),
            "run": dict(run.details),
        }
        note = (
            f"the {self.share:.3g} of the unlabeled with the highest scores were taken as labeled: "
            "alpha is lowered, which is right only if negatives are among them"
        )
        return Inclusions(run.a, 0.0, (*run.notes, note), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        copies = self._copies(labeled, unlabeled)
        inner, regrouped = self._inner(), self._regrouped(counts)
        found = inner._estimate_many(regrouped, labeled + copies, unlabeled)
        found[:, 1] = 0.0
        return found

    def _estimate_many_flipped(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        copies = self._copies(unlabeled[:, ::-1], labeled[:, ::-1])[:, ::-1]
        regrouped = flipped_counts(self._regrouped(flipped_counts(counts)))
        inner = self._inner()
        found = inner._estimate_many_flipped(regrouped, labeled, unlabeled + copies)
        found[:, 1] = 0.0
        return found

    def _copies(self, labeled: CountArray, unlabeled: CountArray) -> FloatArray:
        """What is added to the labeled counts of each row."""
        tally = np.asarray(unlabeled, dtype=np.float64)
        reached = np.cumsum(tally, axis=1)
        totals = reached[:, -1:]
        # At the border a part of those that share the score.
        taken = np.clip(self.share * totals - (reached - tally), 0.0, tally)
        size = labeled.sum(axis=1, dtype=np.float64, keepdims=True)
        weight = np.divide(size, totals, out=np.zeros_like(totals), where=totals > 0)
        return taken * np.minimum(weight, 1.0)

    def _regrouped(self, counts: ScoreCounts) -> ScoreCounts:
        copies = self._copies(counts.labeled[None], counts.unlabeled[None])[0]
        squares = counts.labeled_sq
        if squares is not None and counts.unlabeled_sq is not None:
            some = counts.unlabeled > 0
            part = np.divide(copies, counts.unlabeled, out=np.zeros(copies.size), where=some)
            squares = squares + part**2 * counts.unlabeled_sq
        return ScoreCounts(
            thresholds=counts.thresholds,
            labeled=counts.labeled + copies,
            unlabeled=counts.unlabeled,
            labeled_sq=squares,
            unlabeled_sq=counts.unlabeled_sq,
        )


def check_one_sided(name: str, estimator: object) -> None:
    """None, or an estimator that takes labels as clean, as a parameter of one that wraps it."""
    if estimator is None:
        return
    check_estimator_parameter(name, "estimator", estimator)
    if isinstance(estimator, PriorEstimator) and estimator.estimates_beta:
        raise bad_value(
            name,
            "estimator",
            "one that takes labels as clean",
            f"{type(estimator).__name__}, which estimates beta itself",
            f"for noisy labels write NoisyLabels({name}())",
        )
