"""Intervals of alpha and beta from replicates of the data, each with its own estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover._validation import FrozenDict
from purecover.counts import ScoreCounts
from purecover.intervals import resampling
from purecover.intervals.interval import Interval
from purecover.intervals.resampling import GroupResampler, Resampler
from purecover.proportions import MixtureProportions, ProportionEstimator
from purecover.recovery.rates import effective_size, effective_sizes

NamedEnds = dict[str, tuple[float, float]]

HALF_SAMPLES = "half-samples"
"""Method of intervals from halves of the rows, drawn without replacement."""

_WORDS = {
    "bootstrap": "bootstrap percentile",
    "m-out-of-n": "m-out-of-n bootstrap",
    HALF_SAMPLES: HALF_SAMPLES,
}

MOST_CELLS = 2**21
"""Counts held at a time while resampling: 16 MiB a side."""

_EXPONENT = 0.7
"""Subsamples of a sample of n hold n ** 0.7 examples."""

_FEWEST = 10
"""No subsample has fewer examples on its smaller side, unless the sample itself has."""

_MOST_HALVED = 10**8
"""Halves of more examples are drawn with replacement: copies are too few to matter."""


@dataclass(frozen=True, eq=False)
class ReplicateDraws:
    """Alpha and beta of replicates, and how the replicates were drawn.

    Attributes
    ----------
    proportions : ndarray of shape (n_replicates, 2)
        Alpha and beta; NaN where there is no estimate.
    method : {"bootstrap", "m-out-of-n", "half-samples"}
        How replicates were drawn.
    share : float
        Share of the examples that a replicate holds.
    of : str
        Addition to the method in words, such as ", groups".
    """

    proportions: FloatArray
    method: str
    share: float = 1.0
    of: str = ""

    def intervals(self, estimate: MixtureProportions, level: float) -> Mapping[str, Interval]:
        r"""Intervals of alpha, beta and delta around an estimate.

        The mean of a half differs from that of the whole with the variance
        :math:`\sigma^2(2/n - 1/n) = \sigma^2/n`, just as the latter differs from the truth; so
        the spread of halves is that of the estimate. Their place is that of an estimate from
        half as many rows; their medians are moved to the estimate. Errors of smaller subsamples
        are shrunk to the size of the sample and subtracted from the estimate.
        """
        lost = np.isnan(self.proportions[:, 0])
        words = _WORDS[self.method] + self.of
        if lost.any():
            words += f", {lost.sum()} of {lost.size} draws rejected"
        ends: NamedEnds = dict.fromkeys(("alpha", "beta", "delta"), (0.0, 1.0))
        if 2 * lost.sum() > lost.size:
            # What most replicates fail to see the rest cannot vouch for.
            return named_intervals(estimate, ends, level, f"{words}: not identified")
        known = self.proportions[~lost]
        if self.method == HALF_SAMPLES:
            known = known + (np.array([estimate.alpha, estimate.beta]) - np.median(known, axis=0))
        alpha, beta = known.T
        for key, values in {"alpha": alpha, "beta": beta, "delta": beta - alpha}.items():
            low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
            if self.method == "m-out-of-n":
                shrink, center = self.share**0.5, getattr(estimate, key)
                low, high = (center - shrink * (end - center) for end in (high, low))
            ends[key] = float(low), float(high)
        return named_intervals(estimate, ends, level, words)


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


def draw_replicates(
    estimator: ProportionEstimator,
    counts: ScoreCounts,
    method: str,
    resampler: Resampler | None,
    n_resamples: int,
    rng: np.random.Generator,
) -> ReplicateDraws:
    """Draw replicates of counts by a method, or by a resampler, and estimate from each."""
    share, of = 1.0, ""
    if resampler is not None:
        of = ", groups" if isinstance(resampler, GroupResampler) else ", own resampler"
    elif method == "m-out-of-n":
        share = subsample_share(*effective_sizes(counts))
        resampler = _SubsampleResampler(counts, share)
    elif method == HALF_SAMPLES:
        share, resampler = 0.5, _HalfResampler(counts)
    else:
        resampler = resampling.resampler_for(counts, "multinomial")
    return ReplicateDraws(
        proportion_draws(estimator, resampler, n_resamples, rng), method, share, of
    )


def proportion_draws(
    estimator: ProportionEstimator, resampler: Resampler, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Alpha and beta of replicates, shape (n_resamples, 2), NaN where there is no estimate."""
    counts = resampler.counts
    size = max(1, min(n_resamples, MOST_CELLS // counts.n_thresholds))
    found = []
    for start in range(0, n_resamples, size):
        sides = resampling.draw_many(resampler, rng, min(size, n_resamples - start))
        found.append(estimator.proportions_many(counts, *sides))
    return np.concatenate(found)


@dataclass(frozen=True)
class _SubsampleResampler:
    """Draw a share of the examples with replacement, on each side."""

    counts: ScoreCounts
    share: float

    def draw(self, rng: np.random.Generator) -> ScoreCounts:
        labeled = self._draw(rng, self.counts.labeled, self.counts.labeled_sq)
        unlabeled = self._draw(rng, self.counts.unlabeled, self.counts.unlabeled_sq)
        return replace(self.counts, labeled=labeled, unlabeled=unlabeled)

    def _draw(
        self, rng: np.random.Generator, tally: CountArray, squares: FloatArray | None
    ) -> CountArray:
        total = tally.sum().item()
        n = effective_size(total, squares)
        drawn = rng.multinomial(max(1, round(self.share * n)), tally / total)
        # Weighted examples each stand for so much.
        return drawn if squares is None else drawn * (total / n)


def subsample_share(n_labeled: float, n_unlabeled: float) -> float:
    """Share of the examples that leaves n ** 0.7 of the n examples of the smaller sample.

    One share for both sides keeps their ratio, on which the distribution of an estimate
    depends, and gives one factor by which to shrink it.
    """
    n = min(n_labeled, n_unlabeled)
    return min(1.0, max(n**_EXPONENT, _FEWEST) / n)


def half(n: int) -> int:
    """Size of a half of n rows, at least one row."""
    return max(1, n // 2)


@dataclass(frozen=True)
class _HalfResampler:
    """Draw half of the examples without replacement, on each side."""

    counts: ScoreCounts

    def draw(self, rng: np.random.Generator) -> ScoreCounts:
        labeled, unlabeled = (
            self._draw(rng, side) for side in (self.counts.labeled, self.counts.unlabeled)
        )
        return replace(self.counts, labeled=labeled, unlabeled=unlabeled)

    def _draw(self, rng: np.random.Generator, tally: CountArray) -> Any:
        n = int(tally.sum())
        if n > _MOST_HALVED:
            return rng.multinomial(n, tally / n)
        return rng.multivariate_hypergeometric(tally.astype(np.int64), half(n), method="marginals")
