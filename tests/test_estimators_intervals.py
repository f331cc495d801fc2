"""Intervals of all estimators: replicates, groups, bounds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.prior_dummies import Fixed, FixedNoisy, TopShare

import purecover as pu
from purecover.estimators import inclusion
from purecover.estimators.base import Inclusions, PriorEstimator
from purecover.estimators.replicates import HALF_SAMPLES, ReplicateDraws
from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover.recovery.rates import effective_size

# A quarter of the unlabeled has the highest score.
PLAIN = pu.ScoreCounts.from_counts([2, 1], labeled=[180, 20], unlabeled=[250, 750])


def test_percentiles_of_a_mean_are_binomial() -> None:
    found = TopShare().fit(PLAIN).interval(n_resamples=5000, confidence_level=0.9)
    low, high = stats.binom(1000, 0.25).ppf([0.05, 0.95]) / 1000
    assert found["alpha"].low == pytest.approx(low, abs=0.0011)
    assert found["alpha"].high == pytest.approx(high, abs=0.0011)
    assert found["alpha"].estimate == 0.25
    assert found["alpha"].confidence_level == 0.9
    assert found["alpha"].method == "bootstrap percentile"
    assert found["alpha"].varied == "scores and proportions"
    assert (found["beta"].low, found["beta"].high) == (1, 1)
    assert found["delta"].low == pytest.approx(1 - found["alpha"].high)
    assert found["delta"].high == pytest.approx(1 - found["alpha"].low)


class Sometimes(PriorEstimator):
    """Finds nothing where a replicate has less than so many unlabeled at the top."""

    def __init__(self, least: int = 0) -> None:
        self.least = least

    def _estimate(self, counts: pu.ScoreCounts) -> Inclusions:
        return Inclusions(1.0 if counts.unlabeled[0] < self.least else 0.3)


def test_halves_are_moved_to_the_estimate() -> None:
    rng = np.random.default_rng(0)
    alpha, beta = rng.normal(0.5, 0.05, 2001), rng.normal(0.8, 0.02, 2001)
    draws = ReplicateDraws(np.column_stack((alpha, beta)), HALF_SAMPLES)
    found = draws.intervals(pu.MixtureProportions(0.3, 0.9), 0.9)
    moved = {"alpha": alpha - np.median(alpha) + 0.3, "beta": beta - np.median(beta) + 0.9}
    for name, values in moved.items():
        within = (found[name].low < values) & (values < found[name].high)
        assert within.mean() == pytest.approx(0.9, abs=2e-3)
        assert (values <= found[name].low).mean() == pytest.approx(0.05, abs=1e-3)
    as_they_are = ReplicateDraws(draws.proportions, "bootstrap percentile")
    found = as_they_are.intervals(pu.MixtureProportions(0.3, 0.9), 0.9)
    assert (alpha <= found["alpha"].low).mean() == pytest.approx(0.05, abs=1e-3)


def test_rejected_draws_are_counted() -> None:
    estimator = Sometimes().fit(PLAIN).set_params(least=240)
    found = estimator.interval(n_resamples=2000)["alpha"]
    assert (found.low, found.high) == (0.3, 0.3)
    words, _, rest = found.method.partition(", ")
    n_rejected, _, of = rest.partition(" of ")
    assert words == "bootstrap percentile"
    assert of == "2000 draws rejected"
    expected = 2000 * stats.binom(1000, 0.25).cdf(239)
    assert int(n_rejected) == pytest.approx(expected, abs=4 * expected**0.5)


def test_mostly_rejected_means_not_identified() -> None:
    estimator = Sometimes().fit(PLAIN).set_params(least=260)
    found = estimator.interval(n_resamples=200)
    assert all((i.low, i.high) == (0, 1) for i in found.values())
    assert all(i.method.endswith("draws rejected: not identified") for i in found.values())


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize(("first", "second"), [(0.4, 0.3), (0.0, 0.0), (1.0, 0.2), (0.7, 1.0)])
def test_bounds_are_the_extremes_of_a_region(
    monkeypatch: pytest.MonkeyPatch, noisy: bool, first: float, second: float
) -> None:
    asked = []

    def bound(counts: pu.ScoreCounts, *, confidence_level: float) -> float:
        asked.append(confidence_level)
        return first if counts.n_labeled == PLAIN.n_labeled else second

    monkeypatch.setattr(inclusion, "inclusion_bound", bound)
    estimator = FixedNoisy() if noisy else Fixed()
    found = estimator.fit(PLAIN).interval(method="bound", confidence_level=0.9)
    grid = np.linspace(0, 1, 41) * 0.999999  # corners at 1 are limits
    region = list(itertools.product(first * grid, second * grid if noisy else [0.0]))
    shares = [pu.MixtureProportions.from_inclusions(a, b) for a, b in region]
    for key in ("alpha", "beta", "delta"):
        values = [getattr(p, key) for p in shares]
        # At the corner where both inclusions are 1 delta depends on the way there.
        assert found[key].low == pytest.approx(min(values), abs=1e-5)
        assert found[key].high == pytest.approx(max(values), abs=1e-5)
    assert asked == pytest.approx([0.95, 0.95] if noisy else [0.9])
    assert found["alpha"].method == "one-sided bounds"


def test_groups_widen_the_interval() -> None:
    # Every row four times in one group: a quarter of the information.
    rng = np.random.default_rng(0)
    scores = np.repeat(rng.permutation(np.repeat([2.0, 1.0], [250, 750])), 4)
    labeled = np.repeat(np.arange(1000) % 5 == 0, 4)
    groups = np.repeat(np.arange(1000), 4)
    resampler = pu.intervals.group_resampler(scores, labeled, groups)
    estimator = TopShare().fit(scores, labeled)
    plain = estimator.interval(n_resamples=1000)["alpha"]
    grouped = estimator.interval(n_resamples=1000, resampler=resampler)["alpha"]
    assert grouped.width == pytest.approx(2 * plain.width, rel=0.15)
    assert grouped.method == "bootstrap percentile, groups"


def test_replicates_of_weighted_rows_know_their_effective_size() -> None:
    class Size(PriorEstimator):
        def _estimate(self, counts: pu.ScoreCounts) -> Inclusions:
            a = effective_size(counts.n_labeled, counts.labeled_sq) / 1000
            return Inclusions(a, effective_size(counts.n_unlabeled, counts.unlabeled_sq) / 1000)

    weight = np.repeat([0.01, 0.03], 50)  # 80 effective rows on each side
    labeled = np.arange(200) >= 100
    counts = pu.ScoreCounts.from_scores(np.arange(200.0), labeled, sample_weight=np.tile(weight, 2))
    rows = np.stack([counts.labeled, 2 * counts.labeled])
    found = Size()._estimate_many(counts, rows, np.stack([counts.unlabeled, counts.unlabeled]))
    np.testing.assert_allclose(found, [[0.08, 0.08], [0.16, 0.08]])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence_level": 95}, "'confidence_level' parameter of TopShare.interval"),
        ({"method": "boostrap"}, "did you mean 'bootstrap'"),
        ({"resampler": 3}, "make one with group_resampler"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=words):
        TopShare().fit(PLAIN).interval(**options)


def test_groups_are_for_the_bootstrap() -> None:
    resampler = pu.intervals.group_resampler([2, 1, 2, 1], [1, 0, 1, 0], [0, 0, 1, 1])
    with pytest.raises(InvalidInputError, match="bounds need independent rows"):
        TopShare().fit(PLAIN).interval(method="bound", resampler=resampler)
