from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.patra_sen import PatraSen
from purecover.exceptions import InvalidInputError, InvalidTypeError


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
    found = PatraSen._distances(counts, shares)
    expected = [slow_distance(labeled, unlabeled, nu) for nu in shares]
    np.testing.assert_allclose(found, expected, atol=2e-9)


def test_estimate_is_the_largest_second_difference():
    sample = simulate.binormal(3).sample(30, 60, alpha=0.4, random_state=3)
    scores, labeled = sample.scores, sample.labeled
    shares = np.arange(1, 21) / 20
    d = [slow_distance(scores[labeled], scores[~labeled], nu) for nu in shares]
    d = [d[0], *d, 0]
    bends = [d[i + 2] - 2 * d[i + 1] + d[i] for i in range(20)]
    estimator = PatraSen(n_grid=20).fit(scores, labeled)
    assert estimator.proportions_.alpha == pytest.approx(1 - shares[int(np.argmax(bends))])
    np.testing.assert_allclose(estimator.diagnostics_["distances"], d[1:-1], atol=1e-9)


def test_worked_example():
    # One of five unlabeled scores, the highest, is where the labeled one is.
    estimator = PatraSen(n_grid=10).fit([5, 1, 2, 3, 4, 5], [1, 0, 0, 0, 0, 0])
    assert estimator.proportions_.alpha == pytest.approx(0.2)
    d = estimator.diagnostics_["distances"]
    # At nu = 0.7 the rest is .2 .4 .6 .8 .7: isotonic .75 .75 at the end, both cut to .7.
    assert d[6] == pytest.approx(np.sqrt(0.2 * 0.1**2))
    assert d[7] == d[8] == d[9] == 0


def test_distance_falls_to_zero():
    sample = simulate.binormal(2).sample(500, 2000, alpha=0.3, random_state=0)
    d = PatraSen().fit(sample.scores, sample.labeled).diagnostics_["distances"]
    assert np.all(np.diff(d) <= 1e-9)
    assert d[-1] == 0
    assert d[0] > 0.1


def test_error_shrinks_where_the_top_is_pure():
    world = simulate.binormal(3)
    errors = []
    for n in (100, 1000, 10_000):
        samples = (world.sample(n, 5 * n, alpha=0.25, random_state=i) for i in range(8))
        found = [PatraSen().fit(s.scores, s.labeled).proportions_.alpha for s in samples]
        errors.append(np.mean(np.abs(np.subtract(found, 0.25))))
    assert errors[2] < errors[0]
    assert errors[2] < 0.02


def test_leans_high_where_classes_overlap():
    world = simulate.binormal(1)
    samples = [world.sample(500, 2500, alpha=0.25, random_state=i) for i in range(10)]
    found = [PatraSen().fit(s.scores, s.labeled).proportions_.alpha for s in samples]
    assert np.mean(found) > 0.25 + 0.1


def test_depends_on_the_order_of_the_scores_only():
    sample = simulate.binormal(2).sample(200, 1000, alpha=0.4, random_state=1)
    plain = PatraSen().fit(sample.scores, sample.labeled).proportions_.alpha
    for mapped in (np.exp(sample.scores), np.arctan(sample.scores), 1e-9 * sample.scores - 5):
        assert PatraSen().fit(mapped, sample.labeled).proportions_.alpha == plain


def test_merged_thresholds_change_little():
    sample = simulate.binormal(2).sample(1000, 8000, alpha=0.4, random_state=1)
    fine = PatraSen(max_thresholds=10_000).fit(sample.scores, sample.labeled)
    coarse = PatraSen(max_thresholds=500).fit(sample.scores, sample.labeled)
    assert coarse.proportions_.alpha == pytest.approx(fine.proportions_.alpha, abs=0.01)


def test_weights_count_like_repeated_rows():
    sample = simulate.binormal(2).sample(100, 400, alpha=0.4, random_state=1)
    repeats = np.random.default_rng(0).integers(0, 4, sample.scores.size)
    weighted = PatraSen().fit(sample.scores, sample.labeled, sample_weight=repeats)
    rows = np.repeat(np.arange(repeats.size), repeats)
    repeated = PatraSen().fit(sample.scores[rows], sample.labeled[rows])
    assert weighted.proportions_.alpha == repeated.proportions_.alpha


def test_extremes():
    separated = PatraSen().fit(*two_samples(range(100, 150), range(100)))
    assert separated.proportions_.alpha < 0.02
    same = PatraSen().fit(*two_samples(range(100), range(100)))
    assert same.proportions_.alpha == pytest.approx(0.999)
    assert any("alpha near 1" in note for note in same.diagnostics_["notes"])


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"n_grid": 2}, InvalidInputError),
        ({"n_grid": 10.5}, InvalidTypeError),
        ({"max_thresholds": 3}, InvalidInputError),
        ({"max_thresholds": "x"}, InvalidTypeError),
    ],
)
def test_bad_parameters(parameters, error):
    (parameter,) = parameters
    with pytest.raises(error, match=f"'{parameter}' parameter of PatraSen"):
        PatraSen(**parameters).fit(*two_samples([1, 2], [0, 1]))
