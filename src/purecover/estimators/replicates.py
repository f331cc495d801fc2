"""Intervals of alpha and beta from replicates of the data, each with its own estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import FrozenDict
from purecover.intervals.ends import interval_ends
from purecover.intervals.interval import Interval
from purecover.intervals.resampling import Resampler
from purecover.proportions import MixtureProportions, ProportionEstimator

NamedEnds = dict[str, tuple[float, float]]

HALF_SAMPLES = "half-samples"
"""Method of intervals from halves of the rows, drawn without replacement."""

MOST_CELLS = 2**21
"""Counts held at a time while resampling: 16 MiB a side."""


@dataclass(frozen=True, eq=False)
class ReplicateDraws:
    """Alpha and beta of replicates, and how the replicates were drawn.

    Attributes
    ----------
    proportions : ndarray of shape (n_replicates, 2)
        Alpha and beta; NaN where there is no estimate.
    method : str
        How replicates were drawn, in words.
    """

    proportions: FloatArray
    method: str

    def intervals(self, estimate: MixtureProportions, level: float) -> Mapping[str, Interval]:
        r"""Intervals of alpha, beta and delta around an estimate.

        The mean of a half differs from that of the whole with the variance
        :math:`\sigma^2(2/n - 1/n) = \sigma^2/n`, just as the latter differs from the truth; so
        the spread of halves is that of the estimate. Their place is that of an estimate from
        half as many rows; their medians are moved to the estimate.
        """
        lost = np.isnan(self.proportions[:, 0])
        words = self.method
        if lost.any():
            words += f", {lost.sum()} of {lost.size} draws rejected"
        ends: NamedEnds = dict.fromkeys(("alpha", "beta", "delta"), (0.0, 1.0))
        if 2 * lost.sum() > lost.size:
            # What most replicates fail to see the rest cannot vouch for.
            return named_intervals(estimate, ends, level, f"{words}: not identified")
        known = self.proportions[~lost]
        if self.method == HALF_SAMPLES:
            known = known + (np.array([estimate.alpha, estimate.beta]) - np.median(known, axis=0))
        return named_intervals(estimate, ends_of_draws(known, level), level, words)


def ends_of_draws(draws: FloatArray, level: float) -> NamedEnds:
    """Quantiles of alpha, beta and delta at both ends of an interval, from pairs of the former."""
    alpha, beta = draws.T
    found = {}
    for key, values in {"alpha": alpha, "beta": beta, "delta": beta - alpha}.items():
        found[key] = interval_ends(values, level)
    return found


def named_intervals(
    estimate: MixtureProportions, ends: NamedEnds, level: float, method: str
) -> Mapping[str, Interval]:
    """Intervals with these ends, cut to [0, 1]."""
    return FrozenDict(
        {
            key: Interval(
                estimate=getattr(estimate, key),
                low=min(max(low, 0.0), 1.0),
                high=min(max(high, 0.0), 1.0),
                confidence_level=level,
                method=method,
                varied="scores and proportions",
            )
            for key, (low, high) in ends.items()
        }
    )


def proportion_draws(
    estimator: ProportionEstimator, resampler: Resampler, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Alpha and beta of replicates, shape (n_resamples, 2), NaN where there is no estimate."""
    counts = resampler.counts
    size = max(1, min(n_resamples, MOST_CELLS // counts.n_thresholds))
    found = []
    for start in range(0, n_resamples, size):
        sides = resampler.draw_many(rng, min(size, n_resamples - start))
        found.append(estimator.proportions_many(counts, *sides))
    return np.concatenate(found)
