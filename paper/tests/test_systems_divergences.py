"""PE and penL1: bumps, cross-validation and minima against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from purecover_paper.systems.divergences import (
    RIDGES,
    SHARES,
    PearsonDivergence,
    _cross_validated,
    _held_out,
    bumps,
    fold_slices,
    penalized_l1,
    smallest_share,
    squared_distances,
)

LABELED = np.array([[0.0], [1.0]])
UNLABELED = np.array([[0.0], [1.0], [3.0]])


def rows_of(n_labeled, n_unlabeled, alpha, separation, n_features=2, seed=0):
    """Normal classes whose means are so far apart."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate((np.ones(n_labeled), rng.random(n_unlabeled) < alpha))
    X = rng.normal(size=(positive.size, n_features))
    X[:, 0] += separation * positive
    return X, np.arange(positive.size) < n_labeled


@pytest.mark.parametrize(("n_rows", "n_features"), [(20, 1), (20, 3), (1, 3), (1, 1)])
def test_bumps_equal_their_formula(n_rows, n_features):
    rng = np.random.default_rng(0)
    rows, centers = rng.normal(size=(n_rows, n_features)), rng.normal(size=(7, n_features))
    found = bumps(squared_distances(rows, centers), 0.8)
    for i, row in enumerate(rows):
        for j, center in enumerate(centers):
            expected = np.exp(-np.sum((row - center) ** 2) / (2 * 0.8**2))
            assert found[i, j] == pytest.approx(expected)


def test_cross_validation_equals_refitting_without_each_fold():
    rng = np.random.default_rng(0)
    labeled, unlabeled = rng.random((23, 4)), rng.random((51, 4))
    whole, losses = _cross_validated([labeled, unlabeled], 0.3, 5)
    expected = np.zeros(RIDGES.size)
    for few, many in zip(fold_slices(23, 5), fold_slices(51, 5), strict=True):
        rest = [np.delete(labeled, few, 0), np.delete(unlabeled, many, 0)]
        kept, _ = _cross_validated(rest, 0.3, 1)
        held, _ = _cross_validated([labeled[few], unlabeled[many]], 0.3, 1)
        for i, ridge in enumerate(RIDGES):
            theta = np.linalg.solve(kept.H + ridge * np.eye(4), kept.h)
            expected[i] += theta @ held.H @ theta / 2 - theta @ held.h
    np.testing.assert_allclose(losses, expected, rtol=1e-8)
    np.testing.assert_allclose(whole.H, _cross_validated([labeled, unlabeled], 0.3, 1)[0].H)


@pytest.mark.slow
def test_too_high_where_they_do_and_by_how_much():
    c, alpha, separation = 1 / 11, 0.25, 2.0

    def ratio(x):
        g, f0 = stats.norm.pdf(x, separation), stats.norm.pdf(x)
        return g**2 / (c * g + (1 - c) * (alpha * g + (1 - alpha) * f0))

    pooled = 1 / integrate.quad(ratio, -8, 12)[0]
    limit = (pooled - c) / (1 - c)
    assert limit > alpha + 0.15
    X, labeled = rows_of(1000, 10_000, alpha, separation, n_features=1)
    estimator = PearsonDivergence().fit(X, labeled)
    assert estimator.proportions_.alpha == pytest.approx(limit, abs=0.03)
    # The same limit as that of the classifier-based estimator, given the true probabilities.
    g, f0 = stats.norm.pdf(X[:, 0], separation), stats.norm.pdf(X[:, 0])
    tau = c * g / (c * g + (1 - c) * (alpha * g + (1 - alpha) * f0))
    other = (c / tau[labeled].mean() - c) / (1 - c)
    assert other == pytest.approx(limit, abs=0.05)


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
