"""Intervals of alpha and beta: every replicate estimates them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from purecover._frozen import FrozenDict
from purecover._typing import CountArray, FloatArray, RandomState
from purecover._validation import check_choice, check_integer, check_random_state
from purecover.counts import ScoreCounts
from purecover.intervals._interval import Interval, check_level
from purecover.intervals._resample import resampler_for
from purecover.proportions import MixtureProportions

__all__ = ["IntervalMethod", "proportion_intervals"]

IntervalMethod = Literal["bootstrap", "m-out-of-n", "bound"]
INTERVAL_METHODS = ("bootstrap", "m-out-of-n", "bound")

_CELLS = 2**21
"""Counts held at a time while resampling: 16 MiB a side."""


class _Fitted(Protocol):
    proportions_: MixtureProportions

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray: ...


def proportion_draws(
    estimator: _Fitted, counts: ScoreCounts, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Alpha and beta of bootstrap replicates, shape (n_resamples, 2), NaN where there is none."""
    return np.concatenate(
        [
            estimator.proportions_many(counts, labeled, unlabeled)
            for labeled, unlabeled in _chunks(counts, n_resamples, rng)
        ]
    )


def _chunks(
    counts: ScoreCounts, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[CountArray, CountArray]]:
    resampler = resampler_for(replace(counts, negative=None), "multinomial")
    size = max(1, min(n_resamples, _CELLS // counts.n_thresholds))
    for start in range(0, n_resamples, size):
        drawn = [resampler.draw(rng) for _ in range(min(size, n_resamples - start))]
        yield np.stack([d.labeled for d in drawn]), np.stack([d.unlabeled for d in drawn])


def proportion_intervals(
    estimator: _Fitted,
    counts: ScoreCounts,
    *,
    confidence_level: float = 0.95,
    method: IntervalMethod = "bootstrap",
    n_resamples: int = 1000,
    random_state: RandomState = 0,
) -> Mapping[str, Interval]:
    """Intervals of alpha, beta and delta."""
    name = f"{type(estimator).__name__}.interval"
    level = check_level(name, confidence_level)
    check_choice(name, "method", method, INTERVAL_METHODS)
    n_resamples = check_integer(name, "n_resamples", n_resamples, low=1, high=10**7)
    rng = check_random_state(name, random_state)
    draws = proportion_draws(estimator, counts, n_resamples, rng)
    draws = draws[~np.isnan(draws[:, 0])]
    tail = (1 - level) / 2
    p = estimator.proportions_
    columns = {
        "alpha": (p.alpha, draws[:, 0]),
        "beta": (p.beta, draws[:, 1]),
        "delta": (p.delta, draws[:, 1] - draws[:, 0]),
    }
    found = {}
    for key, (estimate, values) in columns.items():
        low, high = np.quantile(values, [tail, 1 - tail])
        found[key] = Interval(
            estimate=estimate,
            low=float(low),
            high=float(high),
            confidence_level=level,
            method="bootstrap percentile",
            varied="scores and proportions",
        )
    return FrozenDict(found)
