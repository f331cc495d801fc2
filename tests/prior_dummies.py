"""Small estimators of alpha whose results one can work out by hand."""

# ruff: noqa: ARG002 - some do not look at the data

from __future__ import annotations

import numpy as np

from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator
from purecover.exceptions import IdentifiabilityError


class TopRatio(PriorEstimator):
    """Least ratio of unlabeled to labeled shares above a threshold, given enough labeled."""

    def __init__(self, share: float = 0.1) -> None:
        self.share = share

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        labeled = np.cumsum(counts.labeled) / counts.n_labeled
        unlabeled = np.cumsum(counts.unlabeled) / counts.n_unlabeled
        enough = labeled >= self.share
        return Inclusions(float(np.min(unlabeled[enough] / labeled[enough])))


class TopShare(PriorEstimator):
    """Share of the unlabeled at the highest score: a plain mean, so its intervals are known."""

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return Inclusions(float(counts.unlabeled[0] / counts.n_unlabeled))


class Fixed(PriorEstimator):
    """Always the same answer; ``flipped`` where the samples have changed roles."""

    def __init__(
        self,
        a: float = 0.3,
        flipped: float = 0.1,
        notes: tuple[str, ...] = (),
        details: dict[str, object] | None = None,
    ) -> None:
        self.a = a
        self.flipped = flipped
        self.notes = notes
        self.details = details

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return Inclusions(self.a, notes=self.notes, details=self.details or {})

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        return Inclusions(self.flipped, notes=self.notes, details=self.details or {})


class FixedNoisy(Fixed):
    """The same with both inclusions."""

    noisy = True

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return Inclusions(self.a, self.flipped)


class Blind(PriorEstimator):
    """Never finds an estimate."""

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        raise IdentifiabilityError("Blind sees nothing.")
