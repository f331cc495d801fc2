"""PatraSen: distances and bends against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.samples import replicates_of
from purecover.intervals.resampling import MultinomialResampler
from purecover_paper.systems.patra_sen import PatraSen, _distances


def slow_isotonic(values, weights):
    """The greatest of least averages over all intervals that hold a place."""
    n = len(values)

    def average(i, j):
        return np.dot(weights[i : j + 1], values[i : j + 1]) / weights[i : j + 1].sum()

    return np.array(
        [
            max(min(average(i, j) for j in range(place, n)) for i in range(place + 1))
            for place in range(n)
        ]
    )


def slow_distance(labeled, unlabeled, nu):
    """Straight from the definition, one share of negatives."""
    labeled, unlabeled = np.asarray(labeled), np.asarray(unlabeled)
    scores, tally = np.unique(unlabeled, return_counts=True)
    mass = tally / unlabeled.size
    rest = np.array(
        [((unlabeled <= s).mean() - (1 - nu) * (labeled <= s).mean()) / nu for s in scores]
    )
    proper = np.clip(slow_isotonic(rest, mass), 0, 1)
    return nu * np.sqrt(np.sum(mass * (rest - proper) ** 2))


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
    st.lists(st.integers(0, 9), min_size=2, max_size=40),
)
def test_distances_equal_the_definition(labeled, unlabeled):
    counts = ScoreCounts.from_scores(*two_samples(labeled, unlabeled))
    shares = np.array([0.05, 0.3, 0.55, 0.8, 1.0])
    sides = counts.labeled[None], counts.unlabeled[None]
    found, slopes = _distances(*sides, np.zeros(5, dtype=int), shares)
    expected = [slow_distance(labeled, unlabeled, nu) for nu in shares]
    np.testing.assert_allclose(found, expected, atol=2e-9)
    # A convex function is nowhere below its tangents.
    tangents = found + slopes * (shares[:, None] - shares)
    assert np.all(tangents <= found[:, None] + 2e-9)


def test_estimate_is_the_largest_second_difference():
    sample = simulate.binormal(3).sample(12, 20, alpha=0.4, random_state=3)
    scores, labeled = sample.scores, sample.labeled
    shares = np.arange(1, 21) / 20
    d = [slow_distance(scores[labeled], scores[~labeled], nu) for nu in shares]
    d = [d[0], *d, 0]
    bends = [d[i + 2] - 2 * d[i + 1] + d[i] for i in range(20)]
    estimator = PatraSen(n_grid=20).fit(scores, labeled)
    assert estimator.proportions_.alpha == pytest.approx(1 - shares[int(np.argmax(bends))])
    np.testing.assert_allclose(estimator.diagnostics_["distances"], d[1:-1], atol=1e-9)


@pytest.mark.parametrize("separation", [0.5, 2.0, 4.0])
def test_replicates_find_the_same_bend_from_few_distances(separation):
    counts = simulate.binormal(separation).sample(40, 200, alpha=0.3, random_state=0).counts
    sides = MultinomialResampler(counts).draw_many(np.random.default_rng(0), 20)
    found = PatraSen()._estimate_many(counts, *sides)
    every = [PatraSen()._estimate(drawn).a for drawn in replicates_of(counts, *sides)]
    np.testing.assert_array_equal(found[:, 0], every)
