"""BBE against a loop over all scores, and bounds of inclusions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.bbe import BBE
from purecover.estimators.inclusion import inclusion_bound
from purecover.estimators.samples import common_notes
from purecover.recovery.rates import INCLUSION_LEVELS, binomial_upper


def slow_bbe(labeled, unlabeled, error=0.1, gamma=0.01):
    """A loop over all scores, straight from the definition."""
    labeled, unlabeled = np.asarray(labeled), np.asarray(unlabeled)
    constant = (1 + gamma) * sum(
        np.sqrt(np.log(4 / error) / (2 * sample.size)) for sample in (labeled, unlabeled)
    )
    best, ratio = np.inf, np.nan
    for t in sorted({*labeled, *unlabeled}, reverse=True):
        q_labeled, q_unlabeled = (labeled >= t).mean(), (unlabeled >= t).mean()
        if q_labeled > 0 and (q_unlabeled + constant) / q_labeled < best - 1e-12:
            best, ratio = (q_unlabeled + constant) / q_labeled, q_unlabeled / q_labeled
    return ratio


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=30),
    st.lists(st.integers(0, 12), min_size=1, max_size=60),
    st.floats(0.001, 0.9),
)
def test_equals_a_loop_over_all_scores(labeled, unlabeled, error):
    counts = ScoreCounts.from_scores(*two_samples(labeled, unlabeled))
    found = BBE(error=error)._estimate(counts).a
    assert found == pytest.approx(slow_bbe(labeled, unlabeled, error), abs=1e-9)


def slow_upper(k, n, error):
    """Inverts the binomial distribution function by root finding."""
    if k >= n:
        return 1.0
    return optimize.brentq(lambda p: stats.binom.cdf(k, n, p) - error, 1e-12, 1 - 1e-12)


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.001, 0.5))
def test_bounds_invert_the_binomial_distribution(k, n, error):
    k = min(k, n)
    assert binomial_upper(np.array([float(k)]), n, error)[0] == pytest.approx(
        slow_upper(k, n, error), abs=1e-8
    )
    low = 1 - binomial_upper(np.array([float(n - k)]), n, error)[0]
    assert low == pytest.approx(0 if k == 0 else stats.beta.ppf(error, k, n - k + 1), abs=1e-8)


@pytest.mark.parametrize(("shift", "spoken"), [(-1, True), (0, True), (1, False)])
def test_scores_without_skill_are_told(shift, spoken):
    # Ten labeled amid forty unlabeled ones: half of all pairs are in order, or a few more or less.
    scores = np.concatenate((np.full(10, 20.0 + shift), np.arange(40) + 0.5))
    counts = ScoreCounts.from_scores(scores, np.arange(50) < 10)
    assert counts.ordered_pairs == 10 * (20 + shift)
    notes = common_notes(counts)
    assert any("AUC at most 1/2" in note for note in notes) == spoken
    assert any("only 10 labeled and 40 unlabeled" in note for note in notes)


def test_binomial_bound_by_hand():
    # Ranks are fixed by the size alone: with 20 labeled, the 18th, 16th, ... 4th.
    rng = np.random.default_rng(0)
    labeled, unlabeled = rng.normal(3, 1, 20), rng.normal(0, 1, 50)
    ranks = [k for k in (int(np.ceil(level * 20)) for level in INCLUSION_LEVELS) if k >= 4]
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


def test_bounds_b_on_flipped_counts():
    # b = (1 - beta) / (1 - alpha), here 1/7.
    sample = simulate.binormal(4).sample(20_000, 20_000, alpha=0.3, beta=0.9, random_state=0)
    assert 1 / 7 < inclusion_bound(sample.counts.flipped()) < 1 / 7 + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("n_labeled", [20, 200])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_covers_in_the_hardest_world(n_labeled, level):
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
        covered += inclusion_bound(counts, confidence_level=level) >= a
    assert covered / repeats >= level - 3 * np.sqrt(level * (1 - level) / repeats)


def test_too_few_examples_say_nothing():
    counts = ScoreCounts.from_scores([3, 2, 1, 0], [1, 1, 0, 0])
    assert inclusion_bound(counts) == 1
    inverted = ScoreCounts.from_scores(np.arange(100), np.arange(100) < 30)
    assert inclusion_bound(inverted) == 1
