from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.roc_slope import RocSlope
from purecover.estimators.samples import binomial_lower, binomial_upper
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError


def slow_upper(k, n, error):
    """Inverts the binomial distribution function by root finding."""
    if k >= n:
        return 1.0
    return optimize.brentq(lambda p: stats.binom.cdf(k, n, p) - error, 1e-12, 1 - 1e-12)


def slow_slope(labeled, unlabeled, error):
    labeled, unlabeled = np.asarray(labeled), np.asarray(unlabeled)
    best = 1.0
    for t in {*labeled, *unlabeled}:
        k = int((labeled >= t).sum())
        low = 1 - slow_upper(labeled.size - k, labeled.size, error)
        if low > 0:
            high = slow_upper(int((unlabeled >= t).sum()), unlabeled.size, error)
            best = min(best, high / low)
    return best


def test_worked_examples():
    assert binomial_upper(np.array([5.0]), 100, 0.1) == pytest.approx(0.0907715, abs=1e-7)
    ratio = binomial_upper(np.array([30.0]), 1000, 0.1) / binomial_lower(np.array([80.0]), 100, 0.1)
    assert ratio == pytest.approx(0.0516087, abs=1e-7)
    counts = ScoreCounts.from_counts([1, 0], labeled=[80, 20], unlabeled=[30, 970])
    estimator = RocSlope().fit(counts)
    assert estimator.proportions_.alpha == pytest.approx(0.0516087, abs=1e-7)
    assert estimator.diagnostics_["ratio"] == pytest.approx(0.0375)
    assert estimator.diagnostics_["labeled_above"] == pytest.approx(0.8)
    assert estimator.diagnostics_["threshold"] == 1


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.001, 0.5))
def test_bounds_invert_the_binomial_distribution(k, n, error):
    k = min(k, n)
    assert binomial_upper(np.array([float(k)]), n, error)[0] == pytest.approx(
        slow_upper(k, n, error), abs=1e-8
    )
    low = binomial_lower(np.array([float(k)]), n, error)[0]
    assert low == pytest.approx(0 if k == 0 else stats.beta.ppf(error, k, n - k + 1), abs=1e-8)


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=20),
    st.lists(st.integers(0, 8), min_size=1, max_size=30),
)
def test_equals_a_loop_over_all_scores(labeled, unlabeled):
    counts = ScoreCounts.from_scores(*two_samples(labeled, unlabeled))
    found = RocSlope()._estimate(counts).a
    assert found == pytest.approx(slow_slope(labeled, unlabeled, 0.1), abs=1e-7)


def test_thinning_to_200_thresholds_changes_little():
    for seed in range(5):
        sample = simulate.binormal(2).sample(1000, 5000, alpha=0.3, random_state=seed)
        thinned = RocSlope().fit(sample.scores, sample.labeled).proportions_.alpha
        every = RocSlope(n_thresholds=None).fit(sample.scores, sample.labeled).proportions_.alpha
        assert every <= thinned + 1e-12
        assert thinned - every < 0.03


def test_leans_high_where_even_the_highest_scores_hold_negatives():
    world = simulate.binormal(1)
    samples = [world.sample(100, 1000, alpha=0.25, random_state=i) for i in range(20)]
    found = [RocSlope().fit(s.scores, s.labeled) for s in samples]
    assert np.mean([e.proportions_.alpha for e in found]) > 0.25 + 0.1
    assert any("lean high" in note for e in found for note in e.diagnostics_["notes"])


def test_replicates_equal_fits_one_by_one():
    sample = simulate.binormal(2).sample(80, 300, alpha=0.4, random_state=1)
    counts, rng = sample.counts, np.random.default_rng(0)
    labeled = rng.multinomial(80, counts.labeled / 80, 20)
    unlabeled = rng.multinomial(300, counts.unlabeled / 300, 20)
    every = RocSlope(n_thresholds=None)
    for few, many in ((labeled, unlabeled), (labeled // 2, unlabeled)):
        found = every._estimate_many(counts, few, many)
        for row, l, u in zip(found, few, many, strict=True):  # noqa: E741
            alone = ScoreCounts.from_counts(counts.thresholds, l, u)
            assert row[0] == pytest.approx(every._estimate(alone).a, rel=1e-9)
            assert row[1] == 0


def test_replicates_use_the_thresholds_of_the_data():
    counts = simulate.binormal(2).sample(500, 3000, alpha=0.4, random_state=1).counts
    thinned = counts.thinned(200)
    assert thinned.n_thresholds < counts.n_thresholds
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(500, counts.labeled / 500, 5)
    unlabeled = rng.multinomial(3000, counts.unlabeled / 3000, 5)
    found = RocSlope()._estimate_many(counts, labeled, unlabeled)[:, 0]
    for a, few, many in zip(found, labeled, unlabeled, strict=True):
        above = counts.thresholds >= thinned.thresholds[:, None]
        k_few, k_many = above @ few, above @ many
        low = stats.beta.ppf(0.1, np.maximum(k_few, 1), 501 - np.maximum(k_few, 1))
        high = stats.beta.ppf(0.9, k_many + 1, np.maximum(3000 - k_many, 1))
        slopes = (high / low)[(k_few > 0) & (k_many < 3000)]
        assert a == pytest.approx(min(slopes), rel=1e-6)
    itself = RocSlope()._estimate_many(counts, counts.labeled[None], counts.unlabeled[None])
    assert itself[0, 0] == pytest.approx(RocSlope()._estimate(counts).a, rel=1e-12)


def test_weights():
    sample = simulate.binormal(2).sample(200, 1000, alpha=0.4, random_state=1)
    plain = RocSlope().fit(sample.scores, sample.labeled).proportions_.alpha
    for weight in (1.0, 2.0, 0.01):
        same = np.full(sample.scores.size, weight)
        found = RocSlope().fit(sample.scores, sample.labeled, sample_weight=same)
        assert found.proportions_.alpha == pytest.approx(plain, rel=1e-6)
    # Uneven weights carry less information than as many rows: bounds are wider.
    repeats = np.random.default_rng(0).integers(1, 4, sample.scores.size)
    rows = np.repeat(np.arange(repeats.size), repeats)
    repeated = RocSlope().fit(sample.scores[rows], sample.labeled[rows])
    weighted = RocSlope().fit(sample.scores, sample.labeled, sample_weight=repeats)
    assert weighted.proportions_.alpha > repeated.proportions_.alpha


def test_extremes():
    separated = RocSlope().fit(*two_samples([3, 4, 5] * 10, [0, 1, 2] * 20))
    low = 1 - slow_upper(0, 30, 0.1)
    assert separated.proportions_.alpha == pytest.approx(slow_upper(0, 60, 0.1) / low)
    with pytest.raises(IdentifiabilityError, match="constant score"):
        RocSlope().fit(*two_samples([1] * 10, [1] * 20))
    with pytest.raises(IdentifiabilityError, match="larger for positives"):
        RocSlope().fit(*two_samples([0, 1, 2] * 10, [3, 4, 5] * 20))
    no_positives = simulate.binormal(3).sample(500, 5000, alpha=0, random_state=0)
    found = RocSlope().fit(no_positives.scores, no_positives.labeled)
    assert 0 < found.proportions_.alpha < 0.05
    ten = simulate.binormal(3).sample(10, 200, alpha=0.3, random_state=0)
    assert 0 < RocSlope().fit(ten.scores, ten.labeled).proportions_.alpha < 1


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"error": 0}, InvalidInputError),
        ({"error": "x"}, InvalidTypeError),
        ({"n_thresholds": 1}, InvalidInputError),
        ({"n_thresholds": 2.5}, InvalidTypeError),
    ],
)
def test_bad_parameters(parameters, error):
    (parameter,) = parameters
    with pytest.raises(error, match=f"'{parameter}' parameter of RocSlope"):
        RocSlope(**parameters).fit(*two_samples([2, 3], [0, 1]))
