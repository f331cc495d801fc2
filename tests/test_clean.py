"""The test of clean labels: its p-value, its level and power, weights, ties and replicates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.clean import CleanTest, clean_many, clean_test
from purecover.exceptions import InvalidInputError, InvalidTypeError

GOOD_WORLDS = {
    "binormal": simulate.binormal(3),
    "laplace": simulate.laplace(4),
    "beta": simulate.beta((6, 2), (2, 6)),
}


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


def test_more_stragglers_are_less_compatible() -> None:
    values = [clean_test(with_stragglers(n)).p_value for n in range(40)]
    assert values[0] == 1
    assert all(np.diff(values) < 0)
    assert values[-1] < 1e-20


def test_the_level_of_significance_decides() -> None:
    counts = with_stragglers(4)
    p_value = clean_test(counts).p_value
    assert clean_test(counts, significance=p_value / 2).clean
    assert not clean_test(counts, significance=min(1.5 * p_value, 0.99)).clean


@pytest.mark.parametrize("name", GOOD_WORLDS)
@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_level(name: str, alpha: float) -> None:
    world = GOOD_WORLDS[name]
    rejected = sum(
        not clean_test(world.sample(300, 1500, alpha=alpha, random_state=seed).counts).clean
        for seed in range(100)
    )
    # Of 100 at a level of 5 %, more than 11 happen once in 200 times.
    assert rejected <= 11


@pytest.mark.parametrize("name", GOOD_WORLDS)
@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_power(name: str, alpha: float) -> None:
    world = GOOD_WORLDS[name]
    found = [
        clean_test(world.sample(300, 1500, alpha=alpha, beta=0.75, random_state=seed).counts).clean
        for seed in range(20)
    ]
    # At alpha .1 about 17 labeled are low, and 6 or fewer of them, which pass, once in 400 times.
    assert sum(found) <= 1


def test_the_assumed_share_of_stragglers_is_the_worst_case() -> None:
    # Exactly 1 % of clean labels in the lowest fifth: the level is kept, barely.
    rng = np.random.default_rng(0)
    p_values = [clean_test(with_stragglers(int(n))).p_value for n in rng.binomial(200, 0.01, 2000)]
    share = np.mean(np.less_equal(p_values, 0.05))
    tail = [binom.sf(k - 1, 200, 0.01) for k in range(200)]
    exact = max(p for p in tail if p <= 0.05)  # a discrete variable seldom hits 5 %
    assert share == pytest.approx(exact, abs=3 * np.sqrt(exact / 2000))


# -- weights and ties -------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [1.0, 0.95, 0.75])
def test_equal_weights_change_nothing(beta: float) -> None:
    sample = simulate.binormal(2).sample(300, 1000, alpha=0.3, beta=beta, random_state=0)
    plain = clean_test(ScoreCounts.from_scores(sample.scores, sample.labeled)).p_value
    for weight in (0.001, 1.0, 7.3):
        weights = np.full(sample.scores.size, weight)
        counts = ScoreCounts.from_scores(sample.scores, sample.labeled, sample_weight=weights)
        assert clean_test(counts).p_value == pytest.approx(plain, rel=1e-6)


def test_uneven_weights_count_as_fewer_examples() -> None:
    counts = with_stragglers(8)
    rng = np.random.default_rng(0)
    weight = rng.gamma(0.5, size=counts.n_thresholds)
    few = counts.labeled * weight
    weighted = ScoreCounts(
        thresholds=counts.thresholds,
        labeled=few,
        unlabeled=counts.unlabeled.astype(float),
        labeled_sq=few * weight,
        unlabeled_sq=counts.unlabeled.astype(float),
    )
    size = few.sum() ** 2 / (few * weight).sum()
    k = size * few[-208:].sum() / few.sum()
    # A binomial tail with real arguments lies between those of the whole numbers around it.
    low = binom.sf(np.ceil(k) - 1, np.floor(size), 0.01)
    high = binom.sf(np.floor(k) - 1, np.ceil(size), 0.01)
    assert low <= clean_test(weighted).p_value <= high
    assert size < 100


def test_ties_at_the_border_are_divided() -> None:
    # The lowest score holds half of the unlabeled, so two fifths of its labeled count.
    counts = ScoreCounts.from_counts([2, 1], labeled=[190, 10], unlabeled=[500, 500])
    assert clean_test(counts).p_value == pytest.approx(binom.sf(4 - 1, 200, 0.01), rel=1e-9)
    # At the border itself all of them do.
    counts = ScoreCounts.from_counts([2, 1], labeled=[190, 10], unlabeled=[800, 200])
    assert clean_test(counts).p_value == pytest.approx(binom.sf(10 - 1, 200, 0.01), rel=1e-9)


def test_only_the_order_matters() -> None:
    sample = simulate.binormal(2).sample(300, 1000, alpha=0.3, beta=0.95, random_state=0)
    plain = clean_test(sample.counts)
    mapped = ScoreCounts.from_scores(np.arctan(sample.scores), sample.labeled)
    assert clean_test(mapped) == plain


def test_known_negatives_are_ignored() -> None:
    counts = with_stragglers(5)
    negative = np.arange(counts.n_thresholds)
    with_negatives = ScoreCounts(
        thresholds=counts.thresholds,
        labeled=counts.labeled,
        unlabeled=counts.unlabeled,
        negative=negative,
    )
    assert clean_test(with_negatives) == clean_test(counts)


@given(
    labeled=st.lists(st.floats(0, 1e6), min_size=2, max_size=8),
    unlabeled=st.lists(st.floats(0, 1e6), min_size=2, max_size=8),
)
def test_any_weights_give_a_probability(labeled: list[float], unlabeled: list[float]) -> None:
    n = min(len(labeled), len(unlabeled))
    few, many = np.array(labeled[:n]), np.array(unlabeled[:n])
    if min(few.sum(), many.sum()) < 1e-100 or np.count_nonzero(few + many) < 2:
        return
    counts = ScoreCounts(
        thresholds=np.arange(n, 0, -1.0),
        labeled=few,
        unlabeled=many,
        labeled_sq=few * few.max(),
        unlabeled_sq=many * many.max(),
    )
    found = clean_test(counts)
    assert 0 <= found.p_value <= 1
    assert clean_many(counts, few[None], many[None]).tolist() == [found.clean]


# -- replicates -------------------------------------------------------------------------------


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
    strict = clean_many(counts, labeled, unlabeled, significance=0.5)
    assert strict.sum() < found.sum()


def test_replicates_may_have_all_their_unlabeled_at_the_top() -> None:
    counts = with_stragglers(8)
    top = np.where(np.arange(counts.n_thresholds) < 300, counts.unlabeled, 0)
    alone = ScoreCounts(thresholds=counts.thresholds, labeled=counts.labeled, unlabeled=top)
    found = clean_many(
        counts, np.stack([counts.labeled] * 2), np.stack([top, counts.unlabeled]), significance=1e-9
    )
    assert found.tolist() == [clean_test(alone, significance=1e-9).clean, True]
    assert not found[0]


def test_replicates_of_weighted_data_are_as_uneven_as_these() -> None:
    counts = with_stragglers(8)
    half = ScoreCounts(
        thresholds=counts.thresholds,
        labeled=counts.labeled * 2.0,
        unlabeled=counts.unlabeled * 2.0,
        labeled_sq=counts.labeled * 8.0,  # twice what equal weights of 2 would have
        unlabeled_sq=counts.unlabeled * 4.0,
    )
    data = clean_test(half)
    assert clean_many(half, half.labeled[None], half.unlabeled[None]).tolist() == [data.clean]
    assert data.p_value == pytest.approx(binom.sf(4 - 1, 100, 0.01), rel=1e-9)


def test_empty_replicates_do_no_harm() -> None:
    counts = with_stragglers(5)
    nothing = np.zeros((1, counts.n_thresholds), dtype=np.int64)
    assert clean_many(counts, nothing, nothing).shape == (1,)
    assert clean_many(counts, nothing, counts.unlabeled[None]).tolist() == [True]


def test_rows_and_counts_say_the_same() -> None:
    sample = simulate.binormal(2).sample(200, 800, alpha=0.3, beta=0.9, random_state=0)
    expected = clean_test(sample.counts)
    assert clean_test(sample.scores, sample.labeled) == expected
    words = np.where(sample.labeled, "positive", "unlabeled")
    assert clean_test(sample.scores.tolist(), words) == expected
    weight = np.arange(sample.scores.size) % 4
    weighted = ScoreCounts.from_scores(sample.scores, sample.labeled, sample_weight=weight)
    assert clean_test(sample.scores, sample.labeled, sample_weight=weight) == clean_test(weighted)


# -- bad input --------------------------------------------------------------------------------


def test_bad_input() -> None:
    with pytest.raises(InvalidTypeError, match="'labeled' parameter of clean_test must be given"):
        clean_test([1, 2])
    with pytest.raises(InvalidInputError, match="takes no labels or weights beside a ScoreCounts"):
        clean_test(with_stragglers(0), [1, 0])
    for significance in (0, 1, -0.1):
        with pytest.raises(InvalidInputError, match="'significance' parameter of clean_test"):
            clean_test(with_stragglers(0), significance=significance)
    one, none = np.array([0, 1]), np.array([0, 0])
    for side, few, many in (("labeled", none, one), ("unlabeled", one, none)):
        counts = ScoreCounts(thresholds=np.array([2.0, 1.0]), labeled=few, unlabeled=many)
        with pytest.raises(InvalidInputError, match=f"such that an example is {side}"):
            clean_test(counts)


def test_a_score_that_says_nothing_does_not_speak_for_clean_labels() -> None:
    constant = ScoreCounts.from_counts([1], labeled=[100], unlabeled=[500])
    assert clean_test(constant).p_value == pytest.approx(binom.sf(20 - 1, 100, 0.01), rel=1e-9)
    assert not clean_test(constant).clean
