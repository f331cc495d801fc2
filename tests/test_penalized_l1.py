from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from purecover import simulate
from purecover.estimators.density_ratio import (
    SHARES,
    PenalizedL1,
    _held_out,
    _without_own,
    bumps,
    fold_slices,
    penalized_l1,
    smallest_share,
    squared_distances,
)
from purecover.exceptions import InvalidInputError, InvalidTypeError

LABELED = np.array([[0.0], [1.0]])
UNLABELED = np.array([[0.0], [1.0], [3.0]])


def rows_of(n_labeled, n_unlabeled, alpha, separation, n_features, seed=0):
    """Normal classes whose means are so far apart."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate((np.ones(n_labeled), rng.random(n_unlabeled) < alpha))
    X = rng.normal(size=(positive.size, n_features))
    X[:, 0] += separation * positive
    return X, np.arange(positive.size) < n_labeled


def test_worked_example():
    means = [bumps(squared_distances(s, UNLABELED), 1.0).mean(0) for s in (LABELED, UNLABELED)]
    found = penalized_l1(np.array([0.3, 0.5, 0.7, 0.9]), *means, 1.0)
    np.testing.assert_allclose(found, [0.7, 0.5, 0.3005323, 0.1540092], atol=1e-7)


def test_divergence_equals_its_loop():
    rng = np.random.default_rng(0)
    labeled, unlabeled = rng.random(9), rng.random(9)
    for share in (0.1, 0.5, 1.0):
        total = sum(max(0, share * g - f) ** 2 for g, f in zip(labeled, unlabeled, strict=True))
        (found,) = penalized_l1(np.array([share]), labeled, unlabeled, 0.02)
        assert found == pytest.approx(total / 0.02 - share + 1)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12),
    st.sampled_from([1e-3, 1e-2, 0.1, 1.0, 10.0]),
    st.floats(0, 0.5),
)
def test_minimum_is_exact(means, ridge, low):
    labeled, unlabeled = np.array(means).T
    high = low + 0.5
    found = smallest_share(labeled, unlabeled, ridge, low, high)
    assert low <= found <= high
    value = penalized_l1(np.array([found]), labeled, unlabeled, ridge)[0]
    other = optimize.minimize_scalar(
        lambda share: penalized_l1(np.array([share]), labeled, unlabeled, ridge)[0],
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10},
    )
    grid = penalized_l1(np.linspace(low, high, 2001), labeled, unlabeled, ridge).min()
    assert value <= min(other.fun, grid) + 1e-9 * (1 + abs(value))


def test_held_out_loss_equals_refitting_without_each_fold():
    rng = np.random.default_rng(0)
    folds = [[rng.random((n, 4)) for n in sizes] for sizes in ((5, 6, 5), (9, 9, 10))]
    sums = [np.stack([part.sum(axis=0) for part in side]) for side in folds]
    sizes = [np.array([[len(part)] for part in side]) for side in folds]
    found = _held_out(sums, sizes)
    for i in (10, 50, 95):
        expected = 0.0
        for k in range(3):
            kept = [np.concatenate(side[:k] + side[k + 1 :]).mean(axis=0) for side in folds]
            held = [side[k].mean(axis=0) for side in folds]
            coefficients = np.maximum(SHARES[i] * kept[0] - kept[1], 0)
            expected -= coefficients @ (SHARES[i] * held[0] - held[1]) / 3
        assert found[i] == pytest.approx(expected)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.3, 0.5])
def test_near_the_truth_in_one_dimension(alpha):
    samples = (
        simulate.binormal(3).sample(1000, 5000, alpha=alpha, random_state=i) for i in range(4)
    )
    found = [PenalizedL1().fit(s.scores, s.labeled).proportions_.alpha for s in samples]
    assert np.mean(found) == pytest.approx(alpha, abs=0.06)


def test_leans_low_where_nearly_all_are_positive():
    # Noise of rows left out then looks like an excess at ever smaller shares.
    samples = (
        simulate.binormal(3).sample(1000, 5000, alpha=0.95, random_state=i) for i in range(4)
    )
    found = [PenalizedL1().fit(s.scores, s.labeled).proportions_.alpha for s in samples]
    assert 0.7 < np.mean(found) < 0.93


def test_less_biased_than_a_plain_match_under_overlap():
    # Where the Pearson divergence finds .42.
    found = [
        PenalizedL1().fit(*rows_of(1000, 10_000, 0.25, 2, 1, seed)).proportions_.alpha
        for seed in range(3)
    ]
    assert np.mean(np.abs(np.subtract(found, 0.25))) < 0.05


def test_far_too_high_in_many_dimensions():
    # The same classes behind nine features that say nothing.
    found = PenalizedL1().fit(*rows_of(1000, 5000, 0.25, 2, 10)).proportions_.alpha
    assert found > 0.25 + 0.12


def test_centers_do_not_count_themselves():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12, 2))
    squares, parts = squared_distances(rows, rows[:5]), fold_slices(12, 3)
    own = np.arange(5)
    sizes = _without_own(squares, np.full((3, 1), 4.0), parts, own, own)
    values = bumps(squares, 1.0)
    for j in range(5):
        others = np.delete(rows, j, axis=0)
        expected = np.exp(-((others - rows[j]) ** 2).sum(axis=1) / 2).mean()
        assert values[:, j].sum() / sizes[:, j].sum() == pytest.approx(expected)


def test_labeled_rows_far_from_all_unlabeled_ones_are_seen():
    for scores in (np.r_[np.ones(200), np.zeros(800)], np.linspace(1, 0, 1000)):
        estimator = PenalizedL1().fit(scores, np.arange(1000) < 200)
        assert estimator.proportions_.alpha < 0.02


def test_same_samples_cannot_be_told_apart():
    rng = np.random.default_rng(0)
    X, labeled = rng.normal(size=(3000, 1)), np.arange(3000) < 1000
    assert PenalizedL1().fit(X, labeled).proportions_.alpha > 0.7


def test_seeds_move_the_estimate_by_hundredths():
    rng = np.random.default_rng(0)
    labeled = np.arange(6000) < 1000
    positive = labeled | (rng.random(6000) < 0.3)
    X = rng.normal(size=(6000, 2)) + 1.5 * positive[:, None]
    found = [PenalizedL1(random_state=seed).fit(X, labeled).proportions_.alpha for seed in range(8)]
    assert 0.01 < np.ptp(found) < 0.15


def test_seeds_and_small_samples():
    X, labeled = rows_of(300, 900, 0.3, 3, 2)
    one, two = (PenalizedL1(random_state=1).fit(X, labeled).proportions_.alpha for _ in range(2))
    assert one == two
    alone = PenalizedL1().fit([5.0, 0.0, 1.0, 5.1, 0.5], [1, 0, 0, 0, 0])
    assert 0 <= alone.proportions_.alpha < 1


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"n_centers": 0}, InvalidInputError),
        ({"n_folds": 1}, InvalidInputError),
        ({"n_folds": "many"}, InvalidTypeError),
        ({"random_state": "x"}, InvalidTypeError),
    ],
)
def test_bad_parameters(parameters, error):
    (parameter,) = parameters
    with pytest.raises(error, match=f"'{parameter}' parameter of PenalizedL1"):
        PenalizedL1(**parameters).fit(*rows_of(20, 50, 0.3, 3, 2))


def test_minimum_of_one_bump():
    # The divergence s^2 / ridge - s + 1 is smallest at ridge / 2.
    one, none = np.ones(1), np.zeros(1)
    assert smallest_share(one, none, 1.0, 0.0, 0.8) == pytest.approx(0.5)
    assert smallest_share(one, none, 1.0, 0.6, 0.8) == 0.6
    assert smallest_share(one, none, 1.0, 0.1, 0.4) == 0.4
