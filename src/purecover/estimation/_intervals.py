"""Intervals of alpha and beta: every replicate estimates them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from purecover._frozen import FrozenDict
from purecover._typing import CountArray, FloatArray, RandomState
from purecover._validation import (
    bad_type,
    bad_value,
    check_choice,
    check_integer,
    check_random_state,
)
from purecover.counts import ScoreCounts
from purecover.estimation._bounds import inclusion_bound
from purecover.estimation._samples import flipped_counts
from purecover.intervals._interval import Interval, check_level
from purecover.intervals._resample import GroupResampler, Resampler, resampler_for
from purecover.proportions import MixtureProportions
from purecover.recovery._variance import effective_size

__all__ = ["IntervalMethod", "proportion_draws", "proportion_intervals"]

IntervalMethod = Literal["bootstrap", "m-out-of-n", "bound", "posterior"]
INTERVAL_METHODS = ("bootstrap", "m-out-of-n", "bound", "posterior")

_CELLS = 2**21
"""Counts held at a time while resampling: 16 MiB a side."""

_EXPONENT = 0.7
"""Subsamples of a sample of n hold n ** 0.7 examples."""

_FEWEST = 10
"""No subsample has fewer examples on its smaller side, unless the sample itself has."""


class _Fitted(Protocol):
    proportions_: MixtureProportions

    @property
    def estimates_beta(self) -> bool: ...

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray: ...


def proportion_intervals(
    estimator: _Fitted,
    counts: ScoreCounts,
    *,
    confidence_level: float = 0.95,
    method: IntervalMethod = "bootstrap",
    n_resamples: int = 1000,
    random_state: RandomState = 0,
    resampler: Resampler | None = None,
) -> Mapping[str, Interval]:
    """Intervals of alpha, beta and delta; see :meth:`PriorEstimator.interval`."""
    name = f"{type(estimator).__name__}.interval"
    level, n_resamples, rng = check_interval_settings(
        name, confidence_level, method, n_resamples, random_state
    )
    _check_resampler(name, method, resampler)
    if method == "bound":
        return _bounds(estimator, counts, level)
    if method == "posterior":
        return _from_posterior(name, estimator, level)
    words, share = "bootstrap percentile", 1.0
    if resampler is not None:
        words += ", groups" if isinstance(resampler, GroupResampler) else ", own resampler"
    elif method == "m-out-of-n":
        words, share = "m-out-of-n bootstrap", subsample_share(counts)
        resampler = _SubsampleResampler(counts, share)
    else:
        resampler = resampler_for(counts, "multinomial")
    draws = proportion_draws(estimator, resampler, n_resamples, rng)
    return intervals_of_draws(estimator.proportions_, draws, level, words, share)


def check_interval_settings(
    function: str, confidence_level: float, method: str, n_resamples: int, random_state: RandomState
) -> tuple[float, int, np.random.Generator]:
    """The level, the number of replicates and a generator, or a complaint."""
    level = check_level(function, confidence_level)
    check_choice(function, "method", method, INTERVAL_METHODS)
    n_resamples = check_integer(function, "n_resamples", n_resamples, low=1, high=10**7)
    return level, n_resamples, check_random_state(function, random_state)


def intervals_of_draws(
    proportions: MixtureProportions,
    draws: FloatArray,
    level: float,
    words: str,
    share: float = 1.0,
) -> Mapping[str, Interval]:
    """Intervals from alpha and beta of replicates, NaN where there was no estimate.

    Replicates hold ``share`` of the examples; the errors of smaller ones are shrunk.
    """
    known = draws[~np.isnan(draws[:, 0])]
    n_rejected = len(draws) - len(known)
    if n_rejected:
        words += f", {n_rejected} of {len(draws)} draws rejected"
    if 2 * n_rejected > len(draws):
        # What most replicates fail to see the rest cannot vouch for.
        ends = dict.fromkeys(("alpha", "beta", "delta"), (0.0, 1.0))
        return _intervals(proportions, ends, level, f"{words}: not identified")
    ends = _percentiles(known, level)
    if words.startswith("m-out-of-n"):
        ends = _rescaled(ends, proportions, share)
    return _intervals(proportions, ends, level, words)


def proportion_draws(
    estimator: _Fitted, resampler: Resampler, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Alpha and beta of replicates, shape (n_resamples, 2), NaN where there is no estimate."""
    counts = resampler.counts
    return np.concatenate(
        [
            estimator.proportions_many(counts, labeled, unlabeled)
            for labeled, unlabeled in _chunks(resampler, n_resamples, rng)
        ]
    )


def _chunks(
    resampler: Resampler, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[CountArray, CountArray]]:
    size = max(1, min(n_resamples, _CELLS // resampler.counts.n_thresholds))
    for start in range(0, n_resamples, size):
        drawn = [resampler.draw(rng) for _ in range(min(size, n_resamples - start))]
        yield _stacked([d.labeled for d in drawn]), _stacked([d.unlabeled for d in drawn])


def _stacked(tallies: list[CountArray]) -> CountArray:
    rows: Any = np.stack(tallies)  # NumPy's types lose that all are of one kind
    return rows


# -- from replicates to ends ------------------------------------------------------------------


Ends = dict[str, tuple[float, float]]


def _percentiles(draws: FloatArray, level: float) -> Ends:
    alpha, beta = draws.T
    ends = {}
    for key, values in {"alpha": alpha, "beta": beta, "delta": beta - alpha}.items():
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        ends[key] = float(low), float(high)
    return ends


def _rescaled(ends: Ends, proportions: MixtureProportions, share: float) -> Ends:
    """Errors of subsamples, shrunk to the size of the sample, taken off the estimate."""
    shrink = share**0.5
    rescaled = {}
    for key, (low, high) in ends.items():
        estimate: float = getattr(proportions, key)
        rescaled[key] = estimate - shrink * (high - estimate), estimate - shrink * (low - estimate)
    return rescaled


def _intervals(
    proportions: MixtureProportions,
    ends: Ends,
    level: float,
    method: str,
) -> Mapping[str, Interval]:
    return FrozenDict(
        {
            key: Interval(
                estimate=getattr(proportions, key),
                low=min(max(low, 0.0), 1.0),
                high=min(max(high, 0.0), 1.0),
                confidence_level=level,
                method=method,
                varied="scores and proportions",
            )
            for key, (low, high) in ends.items()
        }
    )


# -- without replicates -----------------------------------------------------------------------


def _bounds(estimator: _Fitted, counts: ScoreCounts, level: float) -> Mapping[str, Interval]:
    r"""Region of all proportions whose inclusions are not refuted.

    With :math:`a \le A` and :math:`b \le B`, alpha rises with a and falls with b, beta
    likewise, and delta falls with both, so the ends are taken on at corners of the region.
    """
    b = 0.0
    if estimator.estimates_beta:
        level_each = 1 - (1 - level) / 2
        a = inclusion_bound(counts, confidence_level=level_each)
        b = inclusion_bound(flipped_counts(counts), confidence_level=level_each)
    else:
        a = inclusion_bound(counts, confidence_level=level)
    a, b = min(a, 1.0), min(b, 1.0)
    least_delta = (1 - a) * (1 - b) / (1 - a * b) if a * b < 1 else 0.0
    ends = {"alpha": (0.0, a), "beta": (1 - b, 1.0), "delta": (least_delta, 1.0)}
    return _intervals(estimator.proportions_, ends, level, "one-sided bounds")


def _from_posterior(function: str, estimator: _Fitted, level: float) -> Mapping[str, Interval]:
    ends_at = getattr(estimator, "_posterior_ends", None)
    if ends_at is None:
        raise bad_value(
            function,
            "method",
            "one that needs no posterior, which only LabelCurve has",
            "'posterior'",
            "use method='bootstrap'",
        )
    return _intervals(estimator.proportions_, ends_at(level), level, "posterior quantiles")


# -- subsamples -------------------------------------------------------------------------------


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


def subsample_share(counts: ScoreCounts) -> float:
    """The share that leaves n ** 0.7 of the n examples of the smaller sample.

    One share for both sides keeps their ratio, on which the distribution of an estimate
    depends, and gives one factor by which to shrink it.
    """
    return share_of_sizes(
        effective_size(counts.n_labeled, counts.labeled_sq),
        effective_size(counts.n_unlabeled, counts.unlabeled_sq),
    )


def share_of_sizes(n_labeled: float, n_unlabeled: float) -> float:
    """:func:`subsample_share` of samples of these sizes."""
    n = min(n_labeled, n_unlabeled)
    return min(1.0, max(n**_EXPONENT, _FEWEST) / n)


def _check_resampler(function: str, method: str, resampler: object) -> None:
    if resampler is None:
        return
    if not (hasattr(resampler, "draw") and hasattr(resampler, "counts")):
        hint = "make one with group_resampler(scores, labeled, groups)"
        raise bad_type(function, "resampler", "None or a resampler", resampler, hint)
    if method != "bootstrap":
        raise bad_value(
            function,
            "method",
            "'bootstrap' where a resampler is given",
            repr(method),
            "subsamples and bounds need independent rows",
        )
