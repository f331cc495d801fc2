from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.samples import LEVELS, flipped_counts, inclusion_bound
from purecover.exceptions import InvalidInputError, InvalidTypeError

METHODS = ["scott", "bbe"]


def test_binomial_bound_by_hand():
    # Ranks are fixed by the size alone: with 20 labeled, the 18th, 16th, ... 4th.
    rng = np.random.default_rng(0)
    labeled, unlabeled = rng.normal(3, 1, 20), rng.normal(0, 1, 50)
    ranks = [k for k in (int(np.ceil(level * 20)) for level in LEVELS) if k >= 4]
    share = 0.05 / (2 * len(ranks))
    best = 1.0
    for k in ranks:
        t = np.sort(labeled)[-k]
        above = int((unlabeled >= t).sum())
        high = 1.0 if above == 50 else stats.beta.ppf(1 - share, above + 1, 50 - above)
        best = min(best, high / stats.beta.ppf(share, k, 20 - k + 1))
    counts = ScoreCounts.from_scores(np.r_[labeled, unlabeled], np.arange(70) < 20)
    assert inclusion_bound(counts) == pytest.approx(best, rel=1e-9)
    assert best < 1


def test_uniform_margin_by_hand():
    labeled, unlabeled = np.arange(40, 100), np.arange(0, 80)
    margins = [np.sqrt(np.log(2 / 0.1) / (2 * n)) for n in (60, 80)]
    best = 1.0
    for t in range(100):
        low = (labeled >= t).mean() - margins[0]
        if low > 0:
            best = min(best, ((unlabeled >= t).mean() + margins[1]) / low)
    counts = ScoreCounts.from_scores(np.r_[labeled, unlabeled], np.arange(140) < 60)
    found = inclusion_bound(counts, confidence_level=0.9, method="bbe")
    assert found == pytest.approx(best, rel=1e-12)
    assert best < 1


@pytest.mark.parametrize("method", METHODS)
def test_approaches_the_inclusion(method):
    for n, margin in ((100, 0.35), (1000, 0.1), (100_000, 0.015)):
        sample = simulate.binormal(4).sample(n, 5 * n, alpha=0.3, random_state=0)
        assert 0.3 < inclusion_bound(sample.counts, method=method) < 0.3 + margin


@pytest.mark.parametrize("method", METHODS)
def test_bounds_b_on_flipped_counts(method):
    # b = (1 - beta) / (1 - alpha), here 1/7.
    sample = simulate.binormal(4).sample(20_000, 20_000, alpha=0.3, beta=0.9, random_state=0)
    assert 1 / 7 < inclusion_bound(flipped_counts(sample.counts), method=method) < 1 / 7 + 0.05


@pytest.mark.parametrize("method", METHODS)
def test_more_confidence_takes_a_larger_bound(method):
    counts = simulate.binormal(3).sample(300, 3000, alpha=0.3, random_state=0).counts
    bounds = [
        inclusion_bound(counts, confidence_level=level, method=method)
        for level in (0.5, 0.9, 0.95, 0.999)
    ]
    assert bounds == sorted(bounds)
    assert len(set(bounds)) == 4


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_labeled", [20, 200])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_covers_in_the_hardest_world(method, n_labeled, level):
    """One region holds all positives, so that every ratio estimates the inclusion itself."""
    rng = np.random.default_rng(5)
    n_unlabeled, a, repeats = 5 * n_labeled, 0.4, 1000
    covered = 0
    for _ in range(repeats):
        positives = rng.binomial(n_unlabeled, a)
        scores = np.r_[
            1 + rng.random(n_labeled),
            1 + rng.random(positives),
            rng.random(n_unlabeled - positives),
        ]
        counts = ScoreCounts.from_scores(scores, np.arange(scores.size) < n_labeled)
        covered += inclusion_bound(counts, confidence_level=level, method=method) >= a
    assert covered / repeats >= level - 3 * np.sqrt(level * (1 - level) / repeats)


@pytest.mark.parametrize("method", METHODS)
def test_covers_with_heavy_ties(method):
    rng = np.random.default_rng(1)
    a, misses = 0.4, 0
    for _ in range(300):
        top, below = rng.binomial(60, 0.7), rng.binomial(300, a * 0.7)
        counts = ScoreCounts.from_counts([1, 0], [top, 60 - top], [below, 300 - below])
        misses += inclusion_bound(counts, confidence_level=0.8, method=method) < a
    assert misses <= 0.2 * 300


def test_too_few_examples_say_nothing():
    counts = ScoreCounts.from_scores([3, 2, 1, 0], [1, 1, 0, 0])
    assert inclusion_bound(counts) == 1
    assert inclusion_bound(counts, method="bbe") == 1
    inverted = ScoreCounts.from_scores(np.arange(100), np.arange(100) < 30)
    assert inclusion_bound(inverted) == 1


def test_equal_weights_change_nothing():
    sample = simulate.binormal(3).sample(100, 500, alpha=0.3, random_state=0)
    same = np.full(sample.scores.size, 0.3)
    weighted = ScoreCounts.from_scores(sample.scores, sample.labeled, sample_weight=same)
    for method in METHODS:
        plain = inclusion_bound(sample.counts, method=method)
        assert inclusion_bound(weighted, method=method) == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_rows_and_counts_say_the_same(method):
    sample = simulate.binormal(3).sample(200, 800, alpha=0.3, random_state=0)
    expected = inclusion_bound(sample.counts, method=method)
    assert inclusion_bound(sample.scores, sample.labeled, method=method) == expected
    weight = np.arange(sample.scores.size) % 4
    weighted = ScoreCounts.from_scores(sample.scores, sample.labeled, sample_weight=weight)
    found = inclusion_bound(sample.scores, sample.labeled, sample_weight=weight, method=method)
    assert found == inclusion_bound(weighted, method=method)


def test_bad_parameters():
    counts = ScoreCounts.from_scores([3, 2, 1, 0], [1, 1, 0, 0])
    with pytest.raises(InvalidTypeError, match="'labeled' parameter of inclusion_bound"):
        inclusion_bound([1, 2])
    with pytest.raises(InvalidInputError, match="takes no labels or weights beside a ScoreCounts"):
        inclusion_bound(counts, [1, 1, 0, 0])
    nobody = ScoreCounts(thresholds=np.array([1.0]), labeled=np.array([0]), unlabeled=np.array([3]))
    with pytest.raises(InvalidInputError, match="such that an example is labeled"):
        inclusion_bound(nobody)
    with pytest.raises(InvalidInputError, match="confidence_level"):
        inclusion_bound(counts, confidence_level=1.0)
    with pytest.raises(InvalidInputError, match="'method' parameter of inclusion_bound"):
        inclusion_bound(counts, method="dkw")
