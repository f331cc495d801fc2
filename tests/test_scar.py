from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from purecover.audit.posterior import alpha_from_audit
from purecover.estimators.base import PriorEstimate
from purecover.estimators.scar import _distances, _permutation_test, scar_test
from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover.intervals.interval import Interval
from purecover.proportions import MixtureProportions

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


def rejections(n_runs, propensity, *, with_score=False, **more):
    found = []
    for seed in range(n_runs):
        X, labeled, alpha = drawn(seed, propensity, **more)
        scores = X[:, 0] if with_score else None
        found.append(scar_test(X, labeled, alpha=alpha, scores=scores, n_permutations=99))
    return np.mean([test.p_value <= 0.05 for test in found])


def most(n_runs, level=0.05):
    """Exceeded once in a thousand tests of that level."""
    return stats.binom.isf(1e-3, n_runs, level) / n_runs


@pytest.mark.parametrize("with_score", [False, True])
def test_level(with_score):
    assert rejections(60, "random", with_score=with_score) <= most(60)


@pytest.mark.parametrize(
    ("n", "prior", "distance"), [(10_000, 0.005, 6.0), (4000, 0.02, 5.0), (2000, 0.04, 4.0)]
)
def test_level_with_few_hidden_positives(n, prior, distance):
    # No more examples are looked at than there are positives: 5 to 8 unlabeled ones.
    found = rejections(
        60, "random, most labeled", with_score=True, n=n, prior=prior, distance=distance
    )
    assert found <= most(60)


def test_too_few_hidden_positives_are_not_decided():
    X, labeled, alpha = drawn(0, "random, most labeled", n=10_000, prior=0.003, distance=6.0)
    assert alpha * (~labeled).sum() / 2 < 5
    found = scar_test(X, labeled, alpha=alpha, scores=X[:, 0])
    assert (found.p_value, found.shape_p_value, found.share_p_value) == (1, 1, 1)
    assert len(found.notes) == 1
    assert found.notes[0].startswith("not decided: with alpha = ")
    assert found.to_dict()["notes"] == list(found.notes)
    X, labeled, alpha = drawn(0)
    assert scar_test(X, labeled, alpha=alpha).notes == ()


def audited(seed, n_audited):
    """Whether labels are rejected with an audit, and with its estimate taken as exact."""
    X, labeled, alpha = drawn(seed, distance=5.0, n=10_000, p=2)
    k = np.random.default_rng(seed).binomial(n_audited, alpha)
    audit = alpha_from_audit(int(k), n_audited)
    more = {"scores": X[:, 0], "n_permutations": 19}
    exact = scar_test(X, labeled, alpha=audit.alpha.estimate, **more)
    safe = scar_test(X, labeled, alpha=audit, **more)
    assert safe.alpha == audit.alpha.low
    return safe.share_p_value <= 0.025, exact.share_p_value <= 0.025


@pytest.mark.parametrize("n_audited", [100, 400])
def test_level_with_an_audit(n_audited):
    safe, exact = np.mean([audited(seed, n_audited) for seed in range(40)], axis=0)
    # An interval of 95 % misses on this side once in forty times.
    assert safe <= most(40, 0.05)
    assert exact > most(40, 0.05)


def test_any_interval_of_alpha():
    X, labeled, alpha = drawn(0, "clear cases more often", n=4000)
    interval = Interval(
        estimate=alpha, low=alpha - 0.03, high=alpha + 0.03, confidence_level=0.95, method="mine"
    )
    known = PriorEstimate(
        estimator="mine",
        proportions=MixtureProportions(alpha),
        intervals={"alpha": interval},
    )
    more = {"scores": X[:, 0]}
    low, exact = (scar_test(X, labeled, alpha=a, **more) for a in (alpha - 0.03, alpha))
    for given in (interval, known):
        found = scar_test(X, labeled, alpha=given, **more)
        assert found == low
        assert found.alpha == alpha - 0.03
    assert 0.05 > low.share_p_value > exact.share_p_value
    # An interval from 0 leaves nothing to look at.
    nothing = Interval(estimate=0.1, low=0, high=0.3, confidence_level=0.95, method="mine")
    assert scar_test(X, labeled, alpha=nothing, **more).notes[0].startswith("not decided")


@pytest.mark.parametrize(
    ("alpha", "error", "words"),
    [
        (MixtureProportions(0.2), InvalidTypeError, "an estimate with an interval of alpha"),
        (
            PriorEstimate(estimator="mine", proportions=MixtureProportions(0.2)),
            InvalidInputError,
            "one with an interval of alpha, got none",
        ),
        (
            Interval(estimate=1.2, low=1.1, high=1.3, confidence_level=0.95, method="mine"),
            InvalidInputError,
            "a number in",
        ),
        (
            Interval(estimate=1, low=1, high=1, confidence_level=0.95, method="mine"),
            InvalidInputError,
            "ends after it begins",
        ),
    ],
)
def test_bad_intervals(alpha, error, words):
    X, labeled, _ = drawn(0)
    with pytest.raises(error, match=f"'alpha' parameter of scar_test must be .*{words}"):
        scar_test(X, labeled, alpha=alpha)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [2.5, 3.0, 4.0])
def test_level_in_many_runs(distance):
    assert rejections(300, "random", distance=distance) <= most(300)


@pytest.mark.parametrize(
    "propensity", [name for name in PROPENSITIES if not name.startswith("random")]
)
@pytest.mark.parametrize("with_score", [False, True])
def test_power(propensity, with_score):
    assert rejections(10, propensity, with_score=with_score) >= 0.8


def test_one_score_sees_labels_thin_out_at_the_top():
    X, labeled, alpha = drawn(0, "clear cases less often")
    score = X[:, 0]
    assert scar_test(score, labeled, alpha=alpha, scores=score).shape_p_value < 0.05
    # Where they are rare throughout the top, nothing is to be seen: it might hold negatives.
    X, labeled, alpha = drawn(0, n=4000)
    labeled &= (X[:, 0] < 4) | (np.arange(4000) % 4 == 0)
    assert scar_test(X, labeled, alpha=alpha, scores=X[:, 0]).p_value > 0.05


def test_clear_cases_show_in_the_share_only_with_the_right_alpha():
    X, labeled, alpha = drawn(0, "clear cases more often", n=4000)
    score = X[:, 0]
    assert scar_test(score, labeled, alpha=alpha, scores=score).share_p_value < 1e-3
    # The alpha that random labels would imply: the ratio of the samples among the top scores.
    top = score > 4
    implied = top[~labeled].mean() / top[labeled].mean()
    assert implied < 0.7 * alpha
    assert scar_test(score, labeled, alpha=implied, scores=score).share_p_value > 0.05


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


def test_many_permutations_at_a_time_or_few(monkeypatch):
    pool = np.random.default_rng(1).normal(size=(60, 2))
    whole = _permutation_test(pool, 20, 99, np.random.default_rng(0))
    monkeypatch.setattr("purecover.estimators.scar._CELLS", 600)
    assert _permutation_test(pool, 20, 99, np.random.default_rng(0)) == whole


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


def test_doors():
    pandas = pytest.importorskip("pandas")
    X, labeled, alpha = drawn(0)
    plain = scar_test(X, labeled, alpha=alpha)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    assert scar_test(frame, pandas.Series(labeled), alpha=alpha) == plain
    assert scar_test(X.tolist(), labeled.astype(int), alpha=alpha) == plain
    assert scar_test(X, labeled, alpha=alpha, random_state=1) != plain
    linear = scar_test(X, labeled, alpha=alpha, classifier=LogisticRegression())
    assert linear.p_value > 0.05


def test_nothing_labeled_at_the_top():
    scores = np.arange(200.0)
    found = scar_test(scores, scores < 50, alpha=0.3, scores=scores)
    assert found.n_labeled == 0
    assert found.p_value == 1
    # Constant scores: everything is at the top.
    found = scar_test(np.ones(200), scores < 50, alpha=0.3, scores=np.ones(200))
    assert found.p_value == 1
    assert found.n_unlabeled == 150


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"alpha": 0}, InvalidInputError, "'alpha' parameter of scar_test"),
        ({"alpha": "x"}, InvalidTypeError, "'alpha' parameter of scar_test"),
        ({"n_permutations": 5}, InvalidInputError, "'n_permutations' parameter of scar_test"),
        ({"scores": [1.0, 2.0]}, InvalidInputError, "'scores' parameter of scar_test"),
        ({"classifier": 3}, InvalidTypeError, "'classifier' parameter of scar_test"),
        ({"random_state": "x"}, InvalidTypeError, "'random_state' parameter of scar_test"),
        (
            {"scores": np.arange(2000.0), "classifier": LogisticRegression()},
            InvalidInputError,
            "None beside scores",
        ),
    ],
)
def test_bad_parameters(more, error, words):
    X, labeled, alpha = drawn(0)
    with pytest.raises(error, match=words):
        scar_test(X, labeled, **{"alpha": alpha, **more})


def test_too_few_labeled():
    with pytest.raises(InvalidInputError, match="such that 20 examples are labeled"):
        scar_test(np.arange(100.0), np.arange(100) > 85, alpha=0.2)


@pytest.mark.parametrize("n_permutations", [1, 99])
def test_every_permutation_counts(n_permutations):
    # Where all rows are equal, every permutation is as far as what was seen.
    same = np.ones((30, 2))
    distance, _, p_value = _permutation_test(same, 10, n_permutations, np.random.default_rng(0))
    assert distance == pytest.approx(0, abs=1e-12)
    assert p_value == 1
    # And where the samples lie apart, none of them is.
    apart = np.arange(2000.0)[:, None]
    _, _, p_value = _permutation_test(apart, 1000, n_permutations, np.random.default_rng(0))
    assert p_value == 1 / (1 + n_permutations)
