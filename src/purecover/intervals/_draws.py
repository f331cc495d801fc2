"""Replicates of the counts, each with the proportions it is measured with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.exceptions import IdentifiabilityError
from purecover.intervals._resample import Resampler
from purecover.proportions import MixtureProportions

CELLS = 2**20
"""Counts of one side held at a time while proportions are estimated: 8 MiB."""

MOST_TRIES = 2
"""Draws per wanted replicate; if they do not suffice, more than half were rejected."""


class ProportionEstimator(Protocol):
    """What can estimate alpha and beta of many replicates at once."""

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta, one row per replicate; NaN where there is no estimate."""
        ...


@dataclass(frozen=True)
class Draw:
    """One replicate; ``n_rejected`` is how many were left out up to it."""

    counts: ScoreCounts
    proportions: MixtureProportions
    n_rejected: int = 0


def draws(
    resampler: Resampler,
    proportions: MixtureProportions,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[Draw]:
    """Replicates that share the proportions."""
    for _ in range(n_resamples):
        yield Draw(resampler.draw(rng), proportions)


def draws_with_proportions(
    resampler: Resampler,
    proportions: MixtureProportions,
    estimator: ProportionEstimator,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[Draw]:
    """Replicates with proportions of their own.

    Those without are drawn again, so that every interval rests on the number of replicates that
    was asked for. If more than half are without, an interval of the rest would speak of lucky
    samples only.
    """
    at_a_time = max(1, CELLS // resampler.counts.n_thresholds)
    accepted = tried = 0
    while accepted < n_resamples:
        size = min(at_a_time, n_resamples - accepted, MOST_TRIES * n_resamples - tried)
        if size == 0:
            raise IdentifiabilityError(
                f"bootstrap found no estimate of alpha below beta in {tried - accepted:,} of "
                f"{tried:,} samples drawn from the data, so there is no interval (PU017).\n"
                "Hint: the scores hardly tell alpha and beta; give alpha if you know it"
            )
        drawn = [resampler.draw(rng) for _ in range(size)]
        found = estimator.proportions_many(
            resampler.counts,
            np.array([counts.labeled for counts in drawn]),
            np.array([counts.unlabeled for counts in drawn]),
        )
        for counts, (alpha, beta) in zip(drawn, found.tolist(), strict=True):
            tried += 1
            if not 0 <= alpha < beta <= 1:  # NaN too
                continue
            accepted += 1
            own = MixtureProportions(alpha, beta, proportions.origin, proportions.scenario)
            yield Draw(counts, own, tried - accepted)
