"""Regrouping: copy the highest unlabeled scores into the labeled sample, then estimate (ReMPE)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from purecover import ScoreCounts
from purecover.estimators import (
    Inclusions,
    PriorEstimator,
    parameter,
    register_prior_estimator,
)
from purecover.exceptions import IdentifiabilityError
from purecover_paper.systems.arrays import CountArray, FloatArray
from purecover_paper.systems.dedpul import DEDPUL
from purecover_paper.systems.roc_slope import RocSlope
from purecover_paper.systems.slopes import AlphaMaxPaper


class _MedianOfThree(PriorEstimator):
    """Median of three estimators that err in different ways, each of clean labels."""

    members = (DEDPUL(), RocSlope(), AlphaMaxPaper())

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return self._median([partial(each._estimate, counts) for each in self.members])

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        return self._median([partial(each._estimate_flipped, counts) for each in self.members])

    def _median(self, runs: list[Callable[[], Inclusions]]) -> Inclusions:
        found = []
        for run in runs:
            with suppress(IdentifiabilityError):  # a member without an estimate does not vote
                found.append(run())
        if not found:
            raise IdentifiabilityError("None of DEDPUL, RocSlope and AlphaMax finds an estimate.")
        return Inclusions(float(np.median([each.a for each in found])))

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        found = [each._estimate_many(counts, labeled, unlabeled) for each in self.members]
        return np.asarray(np.nanmedian(found, axis=0))

    def _estimate_many_flipped(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        found = [each._estimate_many_flipped(counts, labeled, unlabeled) for each in self.members]
        return np.asarray(np.nanmedian(found, axis=0))


@register_prior_estimator("regrouping")
@dataclass(eq=False, repr=False)
class Regrouping(PriorEstimator):
    r"""Copy the highest unlabeled scores into the labeled sample, then estimate (ReMPE).

    Assumes: negatives are found among the positives at every score; labels are clean.

    Known to fail: too low where a pure region does exist.

    Where negatives are found among the positives at every score, estimators of alpha are
    too high, by as much as the negatives contain of the positives. Counting the negatives with
    the highest scores among the positives makes a new problem with a pure region, whose alpha
    is smaller.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run on the regrouped samples. Default: the median of
        ``DEDPUL``, ``RocSlope`` and ``AlphaMaxPaper``.
    share : float, default=0.1
        Share of the unlabeled rows, those with the highest scores, that are copied.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"copied"``, the share of copies in
        the regrouped labeled sample, and ``"run"``, what the estimator has to show.

    Notes
    -----
    With the densities :math:`f` of the unlabeled, :math:`g` of the labeled, and the region
    :math:`S` of the highest scores that holds the share :math:`s` of the unlabeled, the
    regrouped labeled sample has a density proportional to :math:`g + f\,1_S`: a copy weighs as
    if there were as many unlabeled as labeled rows, as was roughly so in the study that
    proposed the method; where the labeled are more, a copy counts as one row. Without such
    a weight the estimate would tend to :math:`s`, whatever alpha is, as the unlabeled become
    many. If the largest share of :math:`g` inside :math:`f` is :math:`a`, and if it is reached
    within :math:`S`, large samples give

    .. math:: a' = \frac{1+s}{1+1/a},

    which is below :math:`a` whenever :math:`a > s`. So the estimate is lowered by an amount
    that does not depend on how much too high it was, since scores alone do not show that. It
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
    >>> from purecover_paper.systems import Regrouping
    >>> world = pu.simulate.laplace(separation=1)  # a third of the negatives look positive
    >>> sample = world.sample(5000, 5000, alpha=0.25, random_state=0)
    >>> plain = pu.estimators.BBE().fit(sample.scores, sample.labeled)
    >>> regrouped = Regrouping(pu.estimators.BBE()).fit(sample.scores, sample.labeled)
    >>> round(plain.proportions_.alpha, 1), round(regrouped.proportions_.alpha, 1)
    (0.5, 0.4)
    """

    estimator: PriorEstimator | None = parameter(None, "estimator")
    _: KW_ONLY
    share: float = parameter(0.1, "real", low=0, high=1, closed="neither")

    def _inner(self) -> PriorEstimator:
        """Return the estimator to run."""
        return _MedianOfThree() if self.estimator is None else self.estimator

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return self._run(counts, self._inner()._estimate)

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        # The estimator exchanges the regrouped samples in its own way.
        inner = self._inner()
        return self._run(counts.flipped(), lambda each: inner._estimate_flipped(each.flipped()))

    def _run(
        self, counts: ScoreCounts, estimate: Callable[[ScoreCounts], Inclusions]
    ) -> Inclusions:
        regrouped = self._regrouped(counts)
        run = estimate(regrouped)
        details: dict[str, Any] = {
            "copied": float(1 - counts.n_labeled / regrouped.n_labeled),
            "at_edge": run.at_edge,
            "identifiable": run.identifiable,
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
        more = labeled + self._copies(labeled, unlabeled)
        return self._inner()._estimate_many(self._regrouped(counts), more, unlabeled)

    def _estimate_many_flipped(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        ours, theirs = unlabeled[:, ::-1], labeled[:, ::-1]
        more = (ours + self._copies(ours, theirs))[:, ::-1]
        regrouped = self._regrouped(counts.flipped()).flipped()
        return self._inner()._estimate_many_flipped(regrouped, labeled, more)

    def _copies(self, labeled: CountArray, unlabeled: CountArray) -> FloatArray:
        """Return the copies to add to the labeled counts of each row."""
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
        return replace(counts, labeled=counts.labeled + copies, labeled_sq=squares)
