"""Replicates without copies: half of each sample, for estimators that set rows against rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.proportions import MixtureProportions

HALF_SAMPLES = "half-samples"
"""How intervals from them name their method."""

_MOST = 10**8
"""Of more examples copies are drawn: there are too few in each fold to be of consequence."""


def half(n: int) -> int:
    """Size of a half; one row has none, and is kept."""
    return max(1, n // 2)


@dataclass(frozen=True)
class HalfResampler:
    """Draw half of the examples, none of them twice, on each side."""

    counts: ScoreCounts

    def draw(self, rng: np.random.Generator) -> ScoreCounts:
        """Counts of one replicate."""
        sides = (self._draw(rng, side) for side in (self.counts.labeled, self.counts.unlabeled))
        labeled, unlabeled = sides
        return replace(self.counts, labeled=labeled, unlabeled=unlabeled)

    def _draw(self, rng: np.random.Generator, tally: CountArray) -> CountArray:
        n = int(tally.sum())
        if n > _MOST:
            return rng.multinomial(n, tally / n)
        whole = tally.astype(np.int64)
        return rng.multivariate_hypergeometric(whole, half(n), method="marginals")


def centered(draws: FloatArray, proportions: MixtureProportions) -> FloatArray:
    r"""Move the medians of alpha and beta of the replicates to the estimates.

    The mean of a half differs from that of the whole with the variance
    :math:`\sigma^2(2/n - 1/n) = \sigma^2/n`, just as the latter differs from the truth; so the
    spread of halves is that of the estimate. Their place is that of an estimate from half as many
    rows, and it is not that of this one where bias depends on the number of rows.
    """
    known = ~np.isnan(draws[:, 0])
    if not known.any():
        return draws
    estimate = np.array([proportions.alpha, proportions.beta])
    return np.asarray(draws + (estimate - np.median(draws[known], axis=0)))
