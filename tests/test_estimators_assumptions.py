"""Tests of what estimators assume: labels that are clean, and given to positives at random."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.clean_labels import CleanTest, clean_many, clean_test
from purecover.estimators.scar import _distances, _permutation_test, scar_test
from purecover.exceptions import InvalidInputError
from purecover.intervals.interval import Interval


def with_stragglers(n_low: int, n_labeled: int = 200, n_unlabeled: int = 1000) -> ScoreCounts:
    """Distinct scores; so many labeled among the lowest fifth of the unlabeled."""
    unlabeled = np.arange(n_unlabeled, dtype=float)
    low = np.linspace(0.3, 100.3, n_low) if n_low else np.empty(0)
    high = np.linspace(n_unlabeled / 2 + 0.4, n_unlabeled + 0.4, n_labeled - n_low)
    scores = np.concatenate((low, high, unlabeled))
    return ScoreCounts.from_scores(scores, np.arange(scores.size) < n_labeled)


@pytest.mark.parametrize("n_low", [0, 1, 2, 5, 6, 20, 200])
@pytest.mark.parametrize("n_labeled", [200, 1000])
def test_the_p_value_is_a_binomial_tail(n_low: int, n_labeled: int) -> None:
    found = clean_test(with_stragglers(n_low, n_labeled))
    expected = binom.sf(n_low - 1, n_labeled, 0.01)
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert found.clean is bool(expected > 0.05)
    assert isinstance(found, CleanTest)


def test_ties_at_the_border_are_divided() -> None:
    # The lowest score holds half of the unlabeled, so two fifths of its labeled count.
    counts = ScoreCounts.from_counts([2, 1], labeled=[190, 10], unlabeled=[500, 500])
    assert clean_test(counts).p_value == pytest.approx(binom.sf(4 - 1, 200, 0.01), rel=1e-9)
    # At the border itself all of them do.
    counts = ScoreCounts.from_counts([2, 1], labeled=[190, 10], unlabeled=[800, 200])
    assert clean_test(counts).p_value == pytest.approx(binom.sf(10 - 1, 200, 0.01), rel=1e-9)


def test_replicates_are_single_tests() -> None:
    counts = simulate.binormal(2).sample(150, 600, alpha=0.3, beta=0.97, random_state=2).counts
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(150, counts.labeled / 150, 50)
    unlabeled = rng.multinomial(600, counts.unlabeled / 600, 50)
    found = clean_many(counts, labeled, unlabeled)
    expected = [
        clean_test(ScoreCounts(thresholds=counts.thresholds, labeled=few, unlabeled=many)).clean
        for few, many in zip(labeled, unlabeled, strict=True)
    ]
    assert found.tolist() == expected
    assert 0 < found.sum() < 50  # both occur, or else it proves little


def test_empty_replicates_do_no_harm() -> None:
    counts = with_stragglers(5)
    nothing = np.zeros((1, counts.n_thresholds), dtype=np.int64)
    assert clean_many(counts, nothing, nothing).shape == (1,)
    assert clean_many(counts, nothing, counts.unlabeled[None]).tolist() == [True]


PROPENSITIES = {
    "random": lambda X: np.full(len(X), 0.3),
    "random, most labeled": lambda X: np.full(len(X), 0.8),
    "by the second feature": lambda X: 0.6 / (1 + np.exp(-X[:, 1])),
    "clear cases more often": lambda X: np.where(X[:, 0] > 4, 0.5, 0.1),
    "clear cases less often": lambda X: 0.6 / (1 + np.exp(3 * X[:, 0] - 14)),
}


def drawn(seed, propensity="random", *, distance=4.0, n=2000, p=3, prior=0.35):
    """Features, labels, and the share of positives among the unlabeled."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prior
    X = rng.normal(size=(n, p))
    X[:, 0] += distance * positive
    as_far = X.copy()  # propensities are made for positives around 4
    as_far[:, 0] += 4 - distance
    chance = PROPENSITIES[propensity](as_far)
    labeled = positive & (rng.random(n) < chance)
    return X, labeled, float(positive[~labeled].mean())


def rejections(n_runs, propensity, **more):
    found = []
    for seed in range(n_runs):
        X, labeled, alpha = drawn(seed, propensity, **more)
        found.append(scar_test(X, labeled, alpha=alpha, scores=X[:, 0], n_permutations=99))
    return np.mean([test.p_value <= 0.05 for test in found])


def most(n_runs, level=0.05):
    """Exceeded once in a thousand tests of that level."""
    return stats.binom.isf(1e-3, n_runs, level) / n_runs


@pytest.mark.slow
def test_scar_level():
    assert rejections(60, "random") <= most(60)


def test_too_few_hidden_positives_are_not_decided():
    X, labeled, alpha = drawn(0, "random, most labeled", n=10_000, prior=0.003, distance=6.0)
    assert alpha * (~labeled).sum() / 2 < 5
    found = scar_test(X, labeled, alpha=alpha, scores=X[:, 0])
    assert (found.p_value, found.shape_p_value, found.share_p_value) == (1, 1, 1)
    assert found.statistic == 0
    assert len(found.notes) == 1
    assert found.notes[0].startswith("not decided: with alpha = ")
    assert found.to_dict()["notes"] == list(found.notes)
    X, labeled, alpha = drawn(0)
    assert scar_test(X, labeled, alpha=alpha, scores=X[:, 0]).notes == ()


def test_any_interval_of_alpha():
    X, labeled, alpha = drawn(0, "clear cases more often", n=4000)
    interval = Interval(
        estimate=alpha, low=alpha - 0.03, high=alpha + 0.03, confidence_level=0.95, method="mine"
    )
    more = {"scores": X[:, 0]}
    low, exact = (scar_test(X, labeled, alpha=a, **more) for a in (alpha - 0.03, alpha))
    found = scar_test(X, labeled, alpha=interval, **more)
    assert found == low
    assert found.alpha == alpha - 0.03
    assert 0.05 > low.share_p_value > exact.share_p_value
    # An interval from 0 leaves nothing to look at.
    nothing = Interval(estimate=0.1, low=0, high=0.3, confidence_level=0.95, method="mine")
    assert scar_test(X, labeled, alpha=nothing, **more).notes[0].startswith("not decided")


@pytest.mark.slow
@pytest.mark.parametrize(
    "propensity", [name for name in PROPENSITIES if not name.startswith("random")]
)
def test_scar_power(propensity):
    assert rejections(10, propensity) >= 0.8


def test_weak_scores_reject_though_labels_are_random():
    # Documented: negatives among the highest scores differ from positives.
    rng = np.random.default_rng(0)
    positive = rng.random(4000) < 0.35
    X = rng.normal(size=(4000, 2)) + np.outer(positive, [1, 1])
    labeled = positive & (rng.random(4000) < 0.3)
    found = scar_test(X, labeled, alpha=positive[~labeled].mean(), scores=X[:, 0])
    assert found.shape_p_value < 0.05
    assert found.labeled_share < 0.8 * found.expected_share
    assert "a rejection by the features means little" in found.notes[0]


def test_distance_is_that_of_scipy():
    rng = np.random.default_rng(0)
    pool = np.column_stack((rng.normal(size=50), rng.integers(0, 4, 50), np.ones(50)))
    labeled = np.stack([rng.permutation(50) < 15 for _ in range(5)])
    found = _distances(pool, labeled)
    for row, ours in zip(found, labeled, strict=True):
        expected = [stats.ks_2samp(column[ours], column[~ours]).statistic for column in pool.T]
        assert row == pytest.approx(expected)


def test_permutation_p_value_is_that_of_all_labelings():
    pool = np.array([[9.0], [7.0], [8.0], [1.0], [2.0], [3.0], [4.0]])
    exact = stats.ks_2samp(pool[:3, 0], pool[3:, 0], method="exact").pvalue
    _, feature, p_value = _permutation_test(pool, 3, 4000, np.random.default_rng(0))
    assert feature == 0
    assert p_value == pytest.approx(exact, abs=0.01)


def test_says_what_it_looked_at():
    X, labeled, alpha = drawn(1, "by the second feature")
    found = scar_test(X, labeled, alpha=alpha, scores=X[:, 0])
    top = X[:, 0] >= found.threshold
    n_unlabeled = int((~labeled).sum())
    assert found.n_unlabeled == (top & ~labeled).sum() == np.ceil(alpha * n_unlabeled / 2)
    assert found.n_labeled == (top & labeled).sum()
    assert found.labeled_share == pytest.approx(found.n_labeled / labeled.sum())
    assert found.expected_share == pytest.approx(found.n_unlabeled / n_unlabeled / alpha)
    assert found.feature == 1
    expected = stats.ks_2samp(X[top & labeled, 1], X[top & ~labeled, 1]).statistic
    assert found.statistic == pytest.approx(expected)
    chance = alpha * n_unlabeled / (alpha * n_unlabeled + labeled.sum())
    total = found.n_labeled + found.n_unlabeled
    assert found.share_p_value == pytest.approx(stats.binom.cdf(found.n_unlabeled, total, chance))
    assert found.p_value == min(1, 2 * min(found.shape_p_value, found.share_p_value))
    assert json.loads(json.dumps(found.to_dict()))["feature"] == 1


def test_too_few_labeled():
    with pytest.raises(InvalidInputError, match="such that 20 rows are labeled"):
        scar_test(np.arange(100.0), np.arange(100) > 85, scores=np.arange(100.0), alpha=0.2)
