"""RocSlope against a loop over all scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover_paper.systems import RocSlope


def slow_slope(labeled, unlabeled, error):
    labeled, unlabeled = np.asarray(labeled), np.asarray(unlabeled)
    n, best = unlabeled.size, 1.0
    for t in {*labeled, *unlabeled}:
        k_labeled, k_unlabeled = (labeled >= t).sum(), (unlabeled >= t).sum()
        if k_labeled > 0 and k_unlabeled < n:
            low = stats.beta.ppf(error, k_labeled, labeled.size - k_labeled + 1)
            high = stats.beta.ppf(1 - error, k_unlabeled + 1, n - k_unlabeled)
            best = min(best, high / low)
    return best


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=20),
    st.lists(st.integers(0, 8), min_size=1, max_size=30),
)
def test_roc_slope_equals_a_loop_over_all_scores(labeled, unlabeled):
    counts = ScoreCounts.from_scores(*two_samples(labeled, unlabeled))
    found = RocSlope()._estimate(counts).a
    assert found == pytest.approx(slow_slope(labeled, unlabeled, 0.1), abs=1e-7)


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
