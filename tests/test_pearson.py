from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from purecover.estimators import density_ratio as _kernel_basis
from purecover.estimators import density_ratio as _pearson
from purecover.estimators.density_ratio import (
    RIDGES,
    PearsonDivergence,
    _cross_validated,
    bumps,
    fold_slices,
    pearson_moments,
    pearson_prior,
    pearson_weights,
    prepared,
    squared_distances,
    typical_distance,
)
from purecover.estimators.elkan_noto import ElkanNoto
from purecover.estimators.rows import Rows
from purecover.exceptions import InvalidInputError, InvalidTypeError

LABELED = np.array([[0.0], [1.0]])
UNLABELED = np.array([[0.0], [1.0], [3.0]])


def rows_of(n_labeled, n_unlabeled, alpha, separation, n_features=2, seed=0):
    """Normal classes whose means are so far apart."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate((np.ones(n_labeled), rng.random(n_unlabeled) < alpha))
    X = rng.normal(size=(positive.size, n_features))
    X[:, 0] += separation * positive
    return X, np.arange(positive.size) < n_labeled


# -- bumps ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "n_features"), [(20, 1), (20, 3), (1, 3), (1, 1)])
def test_bumps_equal_their_formula(n_rows, n_features):
    rng = np.random.default_rng(0)
    rows, centers = rng.normal(size=(n_rows, n_features)), rng.normal(size=(7, n_features))
    found = bumps(squared_distances(rows, centers), 0.8)
    for i, row in enumerate(rows):
        for j, center in enumerate(centers):
            expected = np.exp(-np.sum((row - center) ** 2) / (2 * 0.8**2))
            assert found[i, j] == pytest.approx(expected)


def test_far_bumps_are_nothing_but_do_not_underflow():
    found = bumps(np.array([0.0, 1e6, 1e200]), 1.0)
    assert found[0] == 1
    assert (found[1:] < 1e-100).all()
    assert (found**2 > np.finfo(float).tiny).all()


def test_typical_distance_looks_at_rows_that_differ():
    rng = np.random.default_rng(0)
    ties = Rows(np.zeros((50, 1)), np.repeat([[0.0], [3.0]], 25, axis=0))
    assert typical_distance(ties, rng) == 3
    assert typical_distance(Rows(np.ones((3, 2)), np.ones((3, 2))), rng) == 1


def test_folds_are_a_partition():
    for n, k in ((10, 5), (11, 3), (2, 2)):
        parts = [np.arange(n)[part] for part in fold_slices(n, k)]
        assert np.array_equal(np.concatenate(parts), np.arange(n))
        assert np.ptp([part.size for part in parts]) <= 1


def test_large_samples_are_drawn_from(monkeypatch):
    monkeypatch.setattr(_kernel_basis, "MOST_ROWS", 30)
    X, labeled = rows_of(20, 100, 0.3, 2)
    rng = np.random.default_rng(0)
    few, notes = prepared(Rows(X[labeled], X[~labeled]), rng)
    assert (few.n_labeled, few.n_unlabeled) == (20, 30)
    assert "20 of 20 labeled and 30 of 100 unlabeled" in notes[0]
    estimator = PearsonDivergence().fit(X, labeled)
    assert any("drawn at random" in note for note in estimator.diagnostics_["notes"])


# -- the divergence ---------------------------------------------------------------------------


def test_worked_example():
    values = [bumps(squared_distances(side, LABELED), 1.0) for side in (LABELED, UNLABELED)]
    moments = pearson_moments(*values, 2 / 5)
    np.testing.assert_allclose(moments.h, [0.803265, 0.803265], atol=1e-6)
    np.testing.assert_allclose(moments.H, [[0.547176, 0.485525], [0.485525, 0.550815]], atol=1e-6)
    weights = pearson_weights(moments, np.array([0.1]))[:, 0]
    np.testing.assert_allclose(weights, [0.715914, 0.700155], atol=1e-6)
    assert pearson_prior(moments, weights) == pytest.approx(0.8079152, abs=1e-7)


def test_weights_solve_the_equations():
    rng = np.random.default_rng(0)
    moments = pearson_moments(rng.random((30, 6)), rng.random((50, 6)), 0.3)
    found = pearson_weights(moments, RIDGES)
    for ridge, weights in zip(RIDGES, found.T, strict=True):
        expected = np.linalg.solve(moments.H + ridge * np.eye(6), moments.h)
        np.testing.assert_allclose(weights, expected, rtol=1e-8)


def test_cross_validation_equals_refitting_without_each_fold():
    rng = np.random.default_rng(0)
    labeled, unlabeled = rng.random((23, 4)), rng.random((51, 4))
    whole, losses = _cross_validated([labeled, unlabeled], 0.3, 5)
    expected = np.zeros(RIDGES.size)
    for few, many in zip(fold_slices(23, 5), fold_slices(51, 5), strict=True):
        kept = pearson_moments(np.delete(labeled, few, 0), np.delete(unlabeled, many, 0), 0.3)
        held = pearson_moments(labeled[few], unlabeled[many], 0.3)
        for i, ridge in enumerate(RIDGES):
            theta = np.linalg.solve(kept.H + ridge * np.eye(4), kept.h)
            expected[i] += theta @ held.H @ theta / 2 - theta @ held.h
    np.testing.assert_allclose(losses, expected, rtol=1e-8)
    np.testing.assert_allclose(whole.H, pearson_moments(labeled, unlabeled, 0.3).H)


# -- the estimate -----------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.8])
def test_right_where_classes_do_not_overlap(alpha):
    X, labeled = rows_of(500, 3000, alpha, 7)
    found = PearsonDivergence().fit(X, labeled)
    assert found.n_features_in_ == 2
    assert found.proportions_.alpha == pytest.approx(alpha, abs=0.03)


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
    other = ElkanNoto(variant="e1", calibration="none").fit(tau, labeled).proportions_.alpha
    assert other == pytest.approx(limit, abs=0.05)


def test_pooled_prior_and_alpha_agree():
    X, labeled = rows_of(200, 800, 0.3, 4)
    estimator = PearsonDivergence().fit(X, labeled)
    pooled = estimator.diagnostics_["pooled_prior"]
    assert estimator.proportions_.alpha == pytest.approx((pooled * 1000 - 200) / 800)


def test_extremes():
    apart = PearsonDivergence().fit(np.r_[np.ones(50), np.zeros(200)], np.arange(250) < 50)
    assert apart.proportions_.alpha < 0.02
    alone = PearsonDivergence().fit([5.0, 0.0, 1.0, 5.1], [1, 0, 0, 0])  # nothing to leave out
    assert 0 <= alone.proportions_.alpha < 1
    wide = rows_of(100, 400, 0.3, 5)[0] * [1e300, 1e300]
    assert 0 <= PearsonDivergence().fit(wide, np.arange(500) < 100).proportions_.alpha < 1


def test_seeds():
    X, labeled = rows_of(300, 900, 0.3, 3)
    one, two, other = (
        PearsonDivergence(random_state=seed).fit(X, labeled).proportions_.alpha
        for seed in (1, 1, 2)
    )
    assert one == two
    assert one != other
    assert one == pytest.approx(other, abs=0.05)


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
    with pytest.raises(error, match=f"'{parameter}' parameter of PearsonDivergence"):
        PearsonDivergence(**parameters).fit(*rows_of(20, 50, 0.3, 3))


def test_says_only_what_is_so(monkeypatch):
    rows = rows_of(200, 800, 0.3, 4)
    found = PearsonDivergence().fit(*rows).diagnostics_
    assert found["at_edge"] is False
    assert not any("alpha = 0" in note for note in found["notes"])
    # A pooled prior below the share of the labeled leaves nothing for the unlabeled.
    monkeypatch.setattr(_pearson, "pearson_prior", lambda *_: 0.1)
    none = PearsonDivergence().fit(*rows)
    assert none.proportions_.alpha == 0
    assert none.diagnostics_["at_edge"] is True
    assert any("alpha = 0" in note for note in none.diagnostics_["notes"])
