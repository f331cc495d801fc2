"""Estimators that compare densities: of scores, and of features by distances, mixtures or trees."""

from __future__ import annotations

import heapq
import json
import math
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from scipy.optimize import minimize
from scipy.special import expit, logit
from tests.strategies import two_samples

import purecover as pu
from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators import dist_curve as _dist_curve
from purecover.estimators import kernels as _kernels
from purecover.estimators import mixtures as _gaussian_mixture
from purecover.estimators import rows as _tice
from purecover.estimators.dedpul import (
    DEDPUL,
    _iterate,
    _tie_notes,
    binned_density,
    fixed_prior,
    rolling_median,
    spread_of,
)
from purecover.estimators.dist_curve import (
    N_QUANTILES,
    DistCurve,
    Network,
    distance_curves,
    distance_quantiles,
    load_network,
    sample_points,
)
from purecover.estimators.kernels import (
    RIDGES,
    SHARES,
    KernelMean,
    PearsonDivergence,
    PenalizedL1,
    _cross_validated,
    _embedded,
    _held_out,
    _median_distance,
    _points,
    _search,
    _shares,
    _threshold,
    _without_own,
    bumps,
    fold_slices,
    pearson_prior,
    pearson_weights,
    penalized_l1,
    prepared,
    smallest_share,
    squared_distances,
    typical_distance,
)
from purecover.estimators.mixtures import (
    GaussianEM,
    GaussianMixtures,
    Mixtures,
    Tally,
    _logits,
    _standardized,
)
from purecover.estimators.ratios import ElkanNoto
from purecover.estimators.rows import Rows, TIcE
from purecover.exceptions import IdentifiabilityError, InvalidInputError

# == dedpul ====================================================================================

EXAMPLE = np.array([2, 1.5, 1, 0.5, 0])


def slow_median(values, k):
    n = len(values)
    width = [min(k, i, n - 1 - i) for i in range(n)]
    return np.array([np.median(values[i - w : i + w + 1]) for i, w in enumerate(width)])


def slow_em(ratio):
    a = 1.0
    for _ in range(1000):
        new = np.minimum(a * ratio, 1).mean()
        if abs(new - a) < 1e-5:
            return new
        a = new
    return a


def slow_prior(ratio):
    """The rule as it is written, on the shares of negatives."""
    em = 1 - slow_em(ratio)
    grid = np.arange(0, 1, 0.001)
    error = np.maximum(1 - np.outer(1 - grid, ratio), 0).mean(axis=1) - grid
    allowed = [i for i in range(1, grid.size - 1) if error[i] < 0.05]
    curvature = [round(error[i + 1] - 2 * error[i] + error[i - 1], 12) for i in allowed]
    kink = grid[allowed[int(np.argmax(curvature))]]
    if em <= kink or ((error < -1e-12).sum() > 1 and em < 0.999):
        return 1 - em
    return min(1 - kink, np.minimum(ratio, 1).mean())


def slow_dedpul(labeled, unlabeled):
    """Scores in (0, 1); every pair of scores is visited."""
    densities = []
    for sample, factor in ((labeled, 0.1), (unlabeled, 0.05)):
        # SciPy multiplies the standard deviation with n - 1 in it.
        corrected = factor * np.sqrt(1 - 1 / len(sample))
        densities.append(stats.gaussian_kde(logit(sample), corrected))
    points = np.sort(unlabeled)[::-1]
    ratio = np.minimum(densities[0](logit(points)) / densities[1](logit(points)), 50)
    ratio = slow_median(ratio, 5)
    middle = (np.mean(labeled) + np.mean(unlabeled)) / 2
    for i in range(len(points) - 2, -1, -1):
        if points[i + 1] >= middle:
            ratio[i] = max(ratio[i], ratio[i + 1])
    ratio = slow_median(ratio, len(points) // 20)
    return slow_prior(np.sort(ratio)[::-1])


# -- pieces ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "limit"), [(1, 0.5), (0.9, 0.0), (1.1, 1 / 1.7)], ids=["mean 1", "less", "more"]
)
def test_worked_examples_of_the_iteration(scale, limit):
    found, steps = _iterate(scale * EXAMPLE)
    assert found == pytest.approx(limit, abs=2e-4)
    assert steps < 100


@given(st.lists(st.floats(0, 50), min_size=1, max_size=60))
def test_prior_equals_the_rule_as_written(values):
    ratio = np.sort(values)[::-1]
    found = fixed_prior(ratio)
    assert found.em == pytest.approx(slow_em(ratio), abs=1e-9)
    assert 0 <= found.a <= 1
    assert found.a == pytest.approx(slow_prior(ratio), abs=1e-9)


def test_guard_keeps_the_estimate_from_running_to_zero():
    # Mean 0.97: the iteration alone goes to 0, the kink stays near a quarter.
    shape = np.concatenate([np.full(250, 4.0), np.zeros(750)])
    found = fixed_prior(0.97 * shape)
    assert found.em < 0.01
    assert found.grid == pytest.approx(1 / (0.97 * 4), abs=0.002)
    assert found.a == pytest.approx(0.25)  # no solution exceeds mean min(r, 1)


def test_density_equals_direct_summation():
    rng = np.random.default_rng(0)
    x = np.sort(np.concatenate([rng.normal(0, 1, 500), rng.normal(6, 0.2, 100)]))[::-1]
    weights = rng.integers(0, 4, x.size)
    h = 0.05 * spread_of(x, weights)
    points = np.linspace(-4, 8, 500)
    direct = stats.norm.pdf(points[:, None], x, h) @ weights / weights.sum()
    np.testing.assert_allclose(
        binned_density(x, weights, h, points), direct, atol=2e-3 * direct.max()
    )


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=40), st.integers(0, 30))
def test_rolling_median(values, k):
    k_used = min(k, (len(values) - 1) // 2)
    np.testing.assert_array_equal(rolling_median(np.array(values), k), slow_median(values, k_used))


# -- the estimator -----------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("separation", [1, 2, 3])
def test_equals_the_slow_twin(alpha, separation):
    for seed in range(3):
        sample = simulate.binormal(separation).sample(100, 500, alpha=alpha, random_state=seed)
        scores = expit(sample.scores)
        found = DEDPUL()._estimate(ScoreCounts.from_scores(scores, sample.labeled)).a
        slow = slow_dedpul(scores[sample.labeled], scores[~sample.labeled])
        assert found == pytest.approx(min(slow, 1), abs=0.003)


def test_scales():
    sample = simulate.binormal(3).sample(300, 2000, alpha=0.3, random_state=0)

    def fit(scores, scale):
        estimator = DEDPUL(scale=scale).fit(scores, sample.labeled)
        return estimator.proportions_.alpha, estimator.diagnostics_["scale"]

    assert fit(sample.scores, "auto") == fit(sample.scores, "none")
    probabilities = expit(sample.scores)
    assert fit(probabilities, "auto") == fit(probabilities, "logit")
    assert fit(probabilities, "logit")[1] == "logit"
    # Only the middle between the means, where the ratio starts to increase, may differ.
    assert fit(probabilities, "logit")[0] == pytest.approx(fit(sample.scores, "none")[0], abs=0.01)
    with pytest.raises(InvalidInputError, match="strictly between 0 and 1"):
        fit(sample.scores, "logit")


@pytest.mark.parametrize("squash", [False, True], ids=["plain", "probabilities"])
def test_flipping_mirrors_the_problem(squash):
    sample = simulate.binormal(3).sample(2000, 3000, alpha=0.3, beta=0.9, random_state=0)
    scores = expit(sample.scores) if squash else sample.scores
    counts = ScoreCounts.from_scores(scores, sample.labeled)
    mirrored = ScoreCounts.from_scores(1 - scores if squash else -scores, ~sample.labeled)
    found = DEDPUL()._estimate_flipped(counts)
    assert found.a == pytest.approx(DEDPUL()._estimate(mirrored).a, abs=1e-9)
    assert found.details["scale"] == ("logit" if squash else "none")
    assert found.a == pytest.approx(1 / 7, abs=0.05)


def test_extremes():
    separated = DEDPUL().fit(*two_samples(np.linspace(8, 9, 50), np.linspace(0, 1, 100)))
    assert separated.proportions_.alpha == 0
    assert separated.diagnostics_["at_edge"]
    assert any("lower end" in note for note in separated.diagnostics_["notes"])
    with pytest.raises(IdentifiabilityError, match="constant score"):
        DEDPUL().fit(*two_samples([1] * 10, [1] * 20))
    inverted = DEDPUL().fit(*two_samples(np.linspace(0, 1, 50), np.linspace(8, 9, 100)))
    assert inverted.proportions_.alpha == 0
    assert any("inverted" in note for note in inverted.diagnostics_["notes"])
    no_positives = simulate.binormal(3).sample(500, 5000, alpha=0, random_state=0)
    found = DEDPUL().fit(no_positives.scores, no_positives.labeled)
    assert 0 <= found.proportions_.alpha < 0.05
    ten = simulate.binormal(3).sample(10, 200, alpha=0.3, random_state=0)
    assert 0 <= DEDPUL().fit(ten.scores, ten.labeled).proportions_.alpha < 1
    tied = DEDPUL().fit(*two_samples([1] * 30, [*[1] * 30, *[0] * 70]))
    assert 0 <= tied.proportions_.alpha < 1
    assert any("all labeled scores are equal" in note for note in tied.diagnostics_["notes"])
    outlier = DEDPUL().fit(*two_samples([1, 2, 3, 1e300], [0, 1, 2, 0.5, 0.1, -1e300]))
    assert 0 <= outlier.proportions_.alpha < 1


def test_ties_are_told_only_where_they_are_large():
    scores = np.arange(100.0)
    labeled = scores >= 60
    assert _tie_notes(ScoreCounts.from_scores(scores, labeled)) == ()
    scores[60:72] = 60  # 12 of the 40 labeled
    (note,) = _tie_notes(ScoreCounts.from_scores(scores, labeled))
    assert "30% of the examples of one sample share one score" in note


# == dist curve ================================================================================

ROOT = Path(__file__).parents[1]


def slow_curve(draws, points):
    """All distances to all that remain, at every step."""
    remaining, found = sorted(points), []
    for draw in draws:
        distances = [abs(point - draw) for point in remaining]
        nearest = int(np.argmin(distances))  # the lower one of two
        found.append(distances[nearest])
        del remaining[nearest]
    return found


# -- curves -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 29, 30, 31, 62, 63, 200, 1022])
def test_curves_equal_all_distances_at_every_step(n):
    rng = np.random.default_rng(n)
    draws, points = rng.uniform(size=(3, n)), np.sort(rng.uniform(size=(3, n)) ** 2)
    found = distance_curves(draws, points)
    for row, few, many in zip(found, draws, points, strict=True):
        np.testing.assert_allclose(row, slow_curve(few, many), atol=1e-15)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=60))
def test_curves_with_ties(pairs):
    draws, points = np.array(pairs, dtype=float).T
    points = np.sort(points)
    assert distance_curves(draws[None], points[None])[0].tolist() == slow_curve(draws, points)


def test_points_are_quantiles_of_pooled_ranks():
    # Labeled at 3 and 4, unlabeled at 1, 2, 3 and 3: below 3 lies half of the unlabeled, ranks
    # up to 1/4; the tie at 3 takes the next 1/4 + 1/4; 4 the last 1/4.
    counts = ScoreCounts.from_scores([3, 4, 1, 2, 3, 3], [1, 1, 0, 0, 0, 0])
    labeled, unlabeled = sample_points(counts.labeled[None], counts.unlabeled[None], 1000)
    shares = (np.arange(1000) + 0.5) / 1000
    np.testing.assert_allclose(
        labeled[0], np.interp(shares, [0, 0.5, 1], [0.25, 0.75, 1]), atol=1e-3
    )
    np.testing.assert_allclose(
        unlabeled[0], np.interp(shares, [0, 0.5, 1], [0, 0.25, 0.75]), atol=1e-3
    )


def test_quantiles_of_the_average_curve():
    rng = np.random.default_rng(0)
    labeled, unlabeled = (np.sort(rng.uniform(size=(2, 150)), axis=1) for _ in range(2))
    orders = np.array([rng.permutation(150) for _ in range(3)])
    found = distance_quantiles(labeled, unlabeled, orders)
    for row, few, many in zip(found, labeled, unlabeled, strict=True):
        average = np.mean([slow_curve(few[order], many) for order in orders], axis=0)
        expected = np.quantile(average, np.arange(N_QUANTILES) / N_QUANTILES)
        np.testing.assert_allclose(row, expected / expected.sum(), rtol=1e-9)


# -- the network ------------------------------------------------------------------------------


def test_network_is_plain_arithmetic():
    network = Network(
        np.array([1.0, 0.0]),
        np.array([2.0, 1.0]),
        (np.array([[1.0, -1.0], [0.5, 1.0]]), np.array([[0.3], [0.2]])),
        (np.array([0.0, 1.0]), np.array([0.1])),
    )
    # (3, 1) becomes (1, 1), then (1.5, 1), then .45 + .2 + .1.
    assert network(np.array([[3.0, 1.0]])) == pytest.approx([0.75])
    # (1, -4) becomes (0, -4), then (-2, -3), of which nothing is left but the last bias.
    assert network(np.array([[1.0, -4.0]])) == pytest.approx([0.1])
    assert network(np.array([[1000.0, 0.0]])) == [1.0]


def test_what_comes_with_the_package():
    folder = files("purecover") / "data"
    assert len((folder / "dist_curve.npz").read_bytes()) < 200_000
    log = json.loads((folder / "dist_curve.json").read_text(encoding="utf-8"))
    network = load_network()
    shapes = [weight.shape for weight in network.weights]
    assert shapes == list(zip(log["layers"], log["layers"][1:], strict=False))
    errors = log["validation_mean_absolute_error_by_epoch"]
    assert log["validation_mean_absolute_error"] == min(errors) == errors[log["best_epoch"] - 1]
    assert len(log["half_squared_error_by_epoch"]) == len(errors)
    assert all(np.isfinite(array).all() for array in (*network.weights, *network.biases))
    with pytest.raises(ValueError, match="read-only"):
        network.center[0] = 0


@pytest.mark.slow
def test_training_runs_again(tmp_path):
    command = [sys.executable, "tools/train_dist_curve.py", "--curves", "300", "--epochs", "3"]
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        subprocess.run([*command, "--out", tmp_path / name], cwd=ROOT, check=True)
    first, second = (tmp_path / name for name in ("first", "second"))
    assert (first / "dist_curve.json").read_bytes() == (second / "dist_curve.json").read_bytes()
    one, two = np.load(first / "dist_curve.npz"), np.load(second / "dist_curve.npz")
    assert one.files == two.files == np.load(files("purecover") / "data" / "dist_curve.npz").files
    assert all(np.array_equal(one[name], two[name]) for name in one.files)


# -- what it finds ----------------------------------------------------------------------------


def test_replicates_without_labeled_examples_have_no_estimate():
    counts = simulate.binormal(2).sample(80, 300, alpha=0.4, random_state=1).counts
    labeled = np.vstack((counts.labeled, 0 * counts.labeled))
    unlabeled = np.vstack((counts.unlabeled, counts.unlabeled))
    found = DistCurve()._estimate_many(counts, labeled, unlabeled)
    assert np.isnan(found[:, 0]).tolist() == [False, True]


def test_equal_samples_have_no_distances():
    points = np.linspace(0, 1, 40)[None]
    orders = np.argsort(np.random.default_rng(0).random((3, 40)), axis=1)
    assert not distance_quantiles(np.full((1, 40), 0.5), np.full((1, 40), 0.5), orders).any()
    assert distance_quantiles(points, points / 2, orders).sum() == pytest.approx(1)


# == pearson ===================================================================================

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


def test_typical_distance_looks_at_rows_that_differ():
    rng = np.random.default_rng(0)
    ties = Rows(np.zeros((50, 1)), np.repeat([[0.0], [3.0]], 25, axis=0))
    assert typical_distance(ties, rng) == 3
    assert typical_distance(Rows(np.ones((3, 2)), np.ones((3, 2))), rng) == 1


def test_large_samples_are_drawn_from(monkeypatch):
    monkeypatch.setattr(_kernels, "MOST_ROWS", 30)
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
    moments, _ = _cross_validated(values, 2 / 5, 1)
    np.testing.assert_allclose(moments.h, [0.803265, 0.803265], atol=1e-6)
    np.testing.assert_allclose(moments.H, [[0.547176, 0.485525], [0.485525, 0.550815]], atol=1e-6)
    weights = pearson_weights(moments, np.array([0.1]))[:, 0]
    np.testing.assert_allclose(weights, [0.715914, 0.700155], atol=1e-6)
    assert pearson_prior(moments, weights) == pytest.approx(0.8079152, abs=1e-7)


def test_weights_solve_the_equations():
    rng = np.random.default_rng(0)
    moments, _ = _cross_validated([rng.random((30, 6)), rng.random((50, 6))], 0.3, 1)
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
        rest = [np.delete(labeled, few, 0), np.delete(unlabeled, many, 0)]
        kept, _ = _cross_validated(rest, 0.3, 1)
        held, _ = _cross_validated([labeled[few], unlabeled[many]], 0.3, 1)
        for i, ridge in enumerate(RIDGES):
            theta = np.linalg.solve(kept.H + ridge * np.eye(4), kept.h)
            expected[i] += theta @ held.H @ theta / 2 - theta @ held.h
    np.testing.assert_allclose(losses, expected, rtol=1e-8)
    np.testing.assert_allclose(whole.H, _cross_validated([labeled, unlabeled], 0.3, 1)[0].H)


# -- the estimate -----------------------------------------------------------------------------


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
    other = ElkanNoto(variant="e1", calibration="none").fit(tau, labeled).proportions_.alpha
    assert other == pytest.approx(limit, abs=0.05)


def test_says_only_what_is_so(monkeypatch):
    rows = rows_of(200, 800, 0.3, 4)
    found = PearsonDivergence().fit(*rows).diagnostics_
    assert found["at_edge"] is False
    assert not any("alpha = 0" in note for note in found["notes"])
    # A pooled prior below the share of the labeled leaves nothing for the unlabeled.
    monkeypatch.setattr(_kernels, "pearson_prior", lambda *_: 0.1)
    none = PearsonDivergence().fit(*rows)
    assert none.proportions_.alpha == 0
    assert none.diagnostics_["at_edge"] is True
    assert any("alpha = 0" in note for note in none.diagnostics_["notes"])


# == l1 ========================================================================================


def test_l1_worked_example():
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


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.3, 0.5])
def test_near_the_truth_in_one_dimension(alpha):
    samples = (
        simulate.binormal(3).sample(1000, 5000, alpha=alpha, random_state=i) for i in range(4)
    )
    found = [PenalizedL1().fit(s.scores, s.labeled).proportions_.alpha for s in samples]
    assert np.mean(found) == pytest.approx(alpha, abs=0.06)


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


def test_minimum_of_one_bump():
    # The divergence s^2 / ridge - s + 1 is smallest at ridge / 2.
    one, none = np.ones(1), np.zeros(1)
    assert smallest_share(one, none, 1.0, 0.0, 0.8) == pytest.approx(0.5)
    assert smallest_share(one, none, 1.0, 0.6, 0.8) == 0.6
    assert smallest_share(one, none, 1.0, 0.1, 0.4) == 0.4


# == mixture ===================================================================================


def mixtures_of(alpha, beta, means, covariances):
    """One run."""
    return Mixtures(
        np.array([alpha]), np.array([beta]), np.array([means], float), np.array([covariances])
    )


def two_classes(n_labeled, n_unlabeled, alpha, beta, *, n_features=3, separation=3.0, seed=0):
    """Correlated normal classes."""
    rng = np.random.default_rng(seed)
    shares = np.repeat([beta, alpha], [n_labeled, n_unlabeled])
    positive = rng.random(shares.size) < shares
    X = rng.normal(size=(shares.size, n_features)) @ (np.eye(n_features) + 0.3)
    X[positive] *= 0.8
    X[:, 0] += separation * positive
    return X, np.arange(shares.size) < n_labeled


def slow_step(labeled, unlabeled, alpha, beta, means, covariances):
    """Sample by sample, with densities from elsewhere."""

    def posterior(rows, share):
        first, second = (
            stats.multivariate_normal(m, c).pdf(rows)
            for m, c in zip(means, covariances, strict=True)
        )
        return share * first / (share * first + (1 - share) * second)

    r_labeled, r_unlabeled = posterior(labeled, beta), posterior(unlabeled, alpha)
    rows, r = np.concatenate((labeled, unlabeled)), np.concatenate((r_labeled, r_unlabeled))
    moments = [
        (np.average(rows, axis=0, weights=w), np.cov(rows.T, aweights=w, ddof=0))
        for w in (r, 1 - r)
    ]
    return r_unlabeled.mean(), r_labeled.mean(), moments


# -- the algorithm ----------------------------------------------------------------------------


def test_mixture_worked_example():
    em = GaussianEM(np.array([[0.0], [1.0], [2.0]]))
    tally = Tally(np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0]))
    start = mixtures_of(0.5, 0.9, [[2.0], [0.0]], np.ones((2, 1, 1)))
    found = em.step(start, tally)
    assert found.alpha[0] == pytest.approx(0.5)
    assert found.beta[0] == pytest.approx(0.942593, abs=1e-6)
    np.testing.assert_allclose(found.means[0, :, 0], [1.516007, 0.537545], atol=1e-6)
    np.testing.assert_allclose(found.covariances[0, :, 0, 0], [0.320170, 0.414575], atol=1e-6)


def test_step_and_likelihood_equal_slow_ones():
    X, labeled = two_classes(40, 90, 0.3, 0.8)
    means = np.array([[2.0, 0.5, 0], [0, 0, 0.3]])
    covariances = np.array([np.eye(3) + 0.2, 1.5 * np.eye(3) - 0.1])
    em, tally = GaussianEM(X), Tally(labeled.astype(float), (~labeled).astype(float))
    start = mixtures_of(0.4, 0.7, means, covariances)
    found = em.step(start, tally)
    alpha, beta, moments = slow_step(X[labeled], X[~labeled], 0.4, 0.7, means, covariances)
    assert (found.alpha[0], found.beta[0]) == pytest.approx((alpha, beta))
    for k, (mean, covariance) in enumerate(moments):
        np.testing.assert_allclose(found.means[0, k], mean, atol=1e-10)
        np.testing.assert_allclose(found.covariances[0, k], covariance, atol=1e-10)
    first, second = (
        stats.multivariate_normal(m, c).pdf(X) for m, c in zip(means, covariances, strict=True)
    )
    share = np.where(labeled, 0.7, 0.4)
    expected = np.log(share * first + (1 - share) * second).sum()
    assert em.log_likelihood(start, tally)[0] == pytest.approx(expected)


def test_likelihood_never_falls_and_runs_do_not_mix():
    X, labeled = two_classes(100, 400, 0.3, 0.8)
    em, tally = GaussianEM(X), Tally(labeled.astype(float), (~labeled).astype(float))
    estimator = GaussianMixtures(n_starts=4)
    runs = estimator._starts(em, tally, clean=False)
    alone = runs.only(np.array([2]))
    before = em.log_likelihood(runs, tally)
    for _ in range(60):
        runs, alone = em.step(runs, tally), em.step(alone, tally)
        after = em.log_likelihood(runs, tally)
        assert (after >= before - 1e-8).all()
        before = after
    assert runs.alpha[2] == pytest.approx(alone.alpha[0], rel=1e-9)


def test_counts_are_repeated_rows():
    rng = np.random.default_rng(0)
    points, often = rng.normal(size=(30, 2)), rng.integers(1, 4, (2, 30))
    start = mixtures_of(0.4, 0.8, [[1.0, 0], [0, 0]], np.array([np.eye(2)] * 2))
    merged = GaussianEM(points).step(start, Tally(*often.astype(float)))
    rows = np.concatenate([np.repeat(points, n, axis=0) for n in often])
    ours = (np.arange(len(rows)) < often[0].sum()).astype(float)
    spread = GaussianEM(rows).step(start, Tally(ours, 1 - ours))
    for one, two in zip(merged, spread, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9)


def test_clean_labels_and_empty_components_stay():
    em, tally = GaussianEM(np.arange(4.0)[:, None]), Tally(np.ones(4), np.ones(4))
    start = mixtures_of(0.5, 1.0, [[3.0], [0.0]], np.ones((2, 1, 1)))
    assert em.step(start, tally).beta[0] == 1
    empty = em.step(mixtures_of(0.0, 0.0, [[3.0], [0.0]], np.ones((2, 1, 1))), tally)
    assert empty.means[0, 0, 0] == 3
    assert np.isfinite(empty.means).all()


def test_order():
    swapped = mixtures_of(0.9, 0.2, [[3.0], [0.0]], np.array([[[1.0]], [[2.0]]])).ordered()
    assert (swapped.alpha[0], swapped.beta[0]) == pytest.approx((0.1, 0.8))
    assert swapped.means[0, 0, 0] == 0
    assert swapped.covariances[0, 0, 0, 0] == 2


# -- the estimate -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1.0, 0.75])
@pytest.mark.parametrize("alpha", [0.05, 0.25, 0.6])
def test_right_on_normal_scores(alpha, beta):
    sample = simulate.binormal(2).sample(2000, 10_000, alpha=alpha, beta=beta, random_state=1)
    estimator = GaussianMixtures(clean="never").fit(sample.scores, sample.labeled)
    assert estimator.proportions_.alpha == pytest.approx(alpha, abs=0.03)
    assert estimator.proportions_.beta == pytest.approx(beta, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_right_on_normal_features(covariance):
    X, labeled = two_classes(800, 4000, 0.3, 0.8)
    if covariance == "diagonal":
        X = X @ np.linalg.inv(np.eye(3) + 0.3)  # then features are independent in each class
    estimator = GaussianMixtures(clean="never", covariance=covariance).fit(X, labeled)
    assert estimator.n_features_in_ == 3
    assert estimator.proportions_.alpha == pytest.approx(0.3, abs=0.05)
    assert estimator.proportions_.beta == pytest.approx(0.8, abs=0.06)


def test_probabilities_are_taken_to_logits():
    sample = simulate.binormal(2).sample(500, 3000, alpha=0.3, random_state=0)
    probabilities = 1 / (1 + np.exp(1 - 2 * sample.scores))
    plain = GaussianMixtures().fit(sample.scores, sample.labeled).proportions_.alpha
    mapped = GaussianMixtures().fit(probabilities, sample.labeled).proportions_.alpha
    assert mapped == pytest.approx(plain, abs=1e-3)
    kept = GaussianMixtures(logit_scores=False).fit(probabilities, sample.labeled)
    assert kept.proportions_.alpha != pytest.approx(plain, abs=1e-3)
    found = _logits(np.array([0.0, 0.2, 0.5, 1.0]))
    np.testing.assert_allclose(1 / (1 + np.exp(-found)), [0.1, 0.2, 0.5, 0.75])


def test_outliers_are_cut():
    column = np.concatenate((np.random.default_rng(0).normal(size=999), [1e30]))[:, None]
    found, notes = _standardized(column, np.ones(1000))
    assert 4 < found.max() < 5
    assert notes == ()
    _, notes = _standardized(np.vstack((column, [[1e30]])), np.ones(1001))
    assert notes[0].startswith("2 of 1001 examples lie where normal densities hold none")
    assert np.std(found[:-1]) == pytest.approx(1, abs=0.1)


def test_says_so_where_a_component_holds_next_to_nothing(monkeypatch):
    data = two_classes(300, 1000, 0.3, 1.0, separation=5)

    def notes():
        found = GaussianMixtures(clean="always").fit(*data).diagnostics_["notes"]
        return [note for note in found if note.startswith("one of the two normal densities")]

    assert not notes()
    monkeypatch.setattr(_gaussian_mixture, "_SMALLEST", 0.49)
    assert len(notes()) == 1  # the positives are 600 of 1,300


def test_ends_without_outliers_are_preferred():
    tally = Tally(np.ones(400), np.ones(600))
    shares = np.array([0.5, 0.999]), np.array([1.0, 1.0])
    found = Mixtures(*shares, np.zeros((2, 2, 1)), np.ones((2, 2, 1, 1)))
    assert _gaussian_mixture._smallest_masses(found, tally) == pytest.approx([300, 0.6])
    assert _gaussian_mixture._sound(found, tally).tolist() == [True, False]


@pytest.mark.parametrize(
    ("covariance", "drawn"), [("full", "25 labeled and 75"), ("diagonal", "30 labeled and 90")]
)
def test_as_many_rows_as_numbers_fit(monkeypatch, covariance, drawn):
    # A row of two features takes 1 + 2 + 3 numbers with all products, and 1 + 2 + 2 without.
    monkeypatch.setattr(_gaussian_mixture, "MOST_NUMBERS", 600)
    X, labeled = two_classes(100, 300, 0.4, 1.0, n_features=2)
    found = GaussianMixtures(covariance=covariance).fit(X, labeled)
    assert any(f"estimated from {drawn} unlabeled" in n for n in found.diagnostics_["notes"])


def test_only_the_shares_of_the_counts_matter():
    rng = np.random.default_rng(0)
    points, tally = rng.normal(size=(60, 2)), rng.integers(0, 4, (2, 1, 60)).astype(float)
    em = GaussianEM(points, diagonal=False, ridge=1e-3)
    among = rng.random((2, 1, 60))
    many, few = (em.maximized(*among, Tally(*(tally * unit))) for unit in (1.0, 1e-4))
    for one, other in zip(many, few, strict=True):
        np.testing.assert_allclose(one, other)


# == kernel mean ===============================================================================


def rows_of_kernel_mean(labeled: Any, unlabeled: Any) -> Rows:
    sides = [np.asarray(side, dtype=float) for side in (labeled, unlabeled)]
    return Rows(*(side[:, None] if side.ndim == 1 else side for side in sides))


def shifted(
    n_labeled: int, n_unlabeled: int, n_features: int, *, alpha: float = 0.25, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Normal clouds, 2 apart along the first feature."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(n_labeled + n_unlabeled) < n_labeled
    positive = labeled | (rng.random(labeled.size) < alpha)
    X = rng.normal(size=(labeled.size, n_features))
    X[:, 0] += 2 * positive
    return X, labeled


# -- distances --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 2])
def test_three_points_by_hand(n_features: int) -> None:
    # Unlabeled at 0 and 1, labeled at 0: all of the labeled can be taken away up to lambda = 2.
    labeled, unlabeled = np.zeros((1, n_features)), np.zeros((2, n_features))
    unlabeled[1, 0] = 1
    _, embedding, _ = _embedded(Rows(labeled, unlabeled), 1.0)
    apart = np.sqrt(2 - 2 * np.exp(-0.5)) / 2
    assert embedding.apart == pytest.approx(apart, abs=1e-9)
    assert embedding.apart == pytest.approx(0.4435478, abs=1e-7)
    for lam in (1.0, 1.5, 1.9):
        assert embedding.distance(lam) == pytest.approx(0, abs=1e-6)
    assert embedding.distance(2.5) == pytest.approx(0.2217739, abs=1e-6)
    assert embedding.distance(3.0) == pytest.approx(0.4435478, abs=1e-6)


@pytest.mark.parametrize("variant", ["km1", "km2"])
def test_three_points_have_half_in_common(variant: Any) -> None:
    # KM1's own threshold, 1, is too high for so few points: it takes the other's.
    estimator = KernelMean(variant=variant, width=1.0).fit([0.0, 0.0, 1.0], [1, 0, 0])
    assert estimator.proportions_.alpha == pytest.approx(0.5, abs=0.005)
    assert estimator.diagnostics_["distance"] == pytest.approx(0.4435478, abs=1e-7)
    assert estimator.diagnostics_["threshold"] == pytest.approx(0.2 * 0.4435478, abs=1e-4)


def by_slsqp(rows: Rows, width: float, lam: float) -> float:
    """The same distance by a general solver on the whole kernel."""
    points = np.concatenate((rows.unlabeled, rows.labeled))
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    kernel = np.exp(-squares / (2 * width**2))
    target = np.concatenate(
        (
            np.full(rows.n_unlabeled, lam / rows.n_unlabeled),
            np.full(rows.n_labeled, (1 - lam) / rows.n_labeled),
        )
    )
    found = minimize(
        lambda v: (target - v) @ kernel @ (target - v),
        np.full(len(points), 1 / len(points)),
        jac=lambda v: 2 * kernel @ (v - target),
        bounds=[(0, None)] * len(points),
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return float(np.sqrt(max(found.fun, 0)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_features", [2, 5])
def test_distances_agree_with_a_general_solver(seed: int, n_features: int) -> None:
    X, labeled = shifted(8, 14, n_features, alpha=0.4, seed=seed)
    rows = Rows(X[labeled], X[~labeled])
    _, embedding, _ = _embedded(rows, 1.3)
    for lam in (6.0, 1.2, 2.0, 1.02):  # each search begins where the last one ended
        assert embedding.distance(lam) == pytest.approx(by_slsqp(rows, 1.3, lam), abs=2e-3)


def test_a_kernel_of_lower_rank_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labeled = shifted(200, 300, 5)
    rows = Rows(X[labeled], X[~labeled])
    _, exact, _ = _embedded(rows, None)
    monkeypatch.setattr(_kernels, "MOST_RANK", 100)
    _, rough, _ = _embedded(rows, None)
    assert len(rough.features) == 100 < len(exact.features)
    assert exact.error < 1.01e-4 < rough.error < 0.1
    for lam in (1.5, 3.0):
        assert rough.distance(lam) == pytest.approx(exact.distance(lam), abs=0.005)


# -- the pieces -------------------------------------------------------------------------------


def test_width_at_which_samples_are_farthest_apart() -> None:
    X, labeled = shifted(60, 90, 2)
    rows = Rows(X[labeled], X[~labeled])
    points, embedding, width = _embedded(rows, None)
    pooled = np.concatenate((rows.labeled, rows.unlabeled))
    squares = ((pooled[:, None] - pooled) ** 2).sum(axis=2)
    median = np.median(np.sqrt(squares[np.triu_indices(len(pooled), 1)]))
    weights = np.where(np.arange(150) < 60, 1 / 60, -1 / 90)
    apart = {
        w: np.sqrt(weights @ np.exp(-squares / (2 * (w * median) ** 2)) @ weights)
        for w in np.logspace(-1, 1, 5)
    }
    assert width == pytest.approx(max(apart, key=apart.__getitem__))
    assert embedding.apart == pytest.approx(max(apart.values()), abs=1e-3)
    assert len(points.values) == 150


def test_equal_rows_merge() -> None:
    points = _points(rows_of_kernel_mean([[0, 1], [0, 1], [2, 2]], [[2, 2], [3, 3]]), None)
    assert points.values.tolist() == [[0, 1], [2, 2], [3, 3]]
    assert points.labeled.tolist() == pytest.approx([2 / 3, 1 / 3, 0])
    assert points.unlabeled.tolist() == [0, 0.5, 0.5]


def test_median_distance_of_heavy_ties() -> None:
    assert _median_distance(rows_of_kernel_mean([0, 1], [3])) == 2
    # Among evenly spaced rows all are equal; among distinct ones they are not.
    assert (
        _median_distance(rows_of_kernel_mean(np.zeros(5000), [*np.zeros(5000), 4, *np.zeros(50)]))
        == 4
    )


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((100, 5000), (100, 900)), ((5000, 100), (900, 100)), ((5000, 5000), (500, 500))],
)
def test_points_are_shared_out(sizes: tuple[int, int], expected: tuple[int, int]) -> None:
    assert _shares(rows_of_kernel_mean(np.zeros(sizes[0]), np.zeros(sizes[1])), 1000) == expected


def test_thresholds() -> None:
    X, labeled = shifted(400, 900, 2)
    rows = Rows(X[labeled], X[~labeled])
    _, embedding, _ = _embedded(rows, None)
    assert _threshold(embedding, "km1", rows) == 0.05
    first = embedding.distance(1.05) / 0.05
    expected = 0.8 * first + 0.2 * embedding.apart
    assert _threshold(embedding, "km2", rows) == pytest.approx(expected)
    low, high = _search(embedding, 0.05)
    assert high - low <= 0.01
    assert embedding.distance(low + 0.02) - embedding.distance(low) <= 0.05 * 0.02 + 1e-5
    assert embedding.distance(high + 0.02) - embedding.distance(high) >= 0.05 * 0.02 - 1e-5


# -- estimates --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.25, 0.5, 0.75])
@pytest.mark.parametrize("variant", ["km1", "km2"])
def test_consistent_on_separated_scores(variant: Any, alpha: float) -> None:
    sample = pu.simulate.binormal(4).sample(4000, 8000, alpha=alpha, random_state=0)
    estimator = KernelMean(variant=variant).fit(sample.scores, sample.labeled)
    # The threshold of KM1 is lower, so that noise passes for a rise: it leans low.
    near = 0.02 if variant == "km2" else 0.03
    assert estimator.proportions_.alpha == pytest.approx(alpha, abs=near)
    assert estimator.diagnostics_["notes"] == ()  # a single feature needs no subsample


def test_subsamples_are_announced() -> None:
    X, labeled = shifted(300, 900, 2)
    estimator = KernelMean(max_points=400).fit(X, labeled)
    assert estimator.diagnostics_["n_points"] == 400
    assert estimator.diagnostics_["notes"] == (
        "estimated from a random 200 of 300 labeled and 200 of 900 unlabeled rows (max_points)",
    )
    again = KernelMean(max_points=400).fit(X, labeled)
    assert again.proportions_ == estimator.proportions_
    other = KernelMean(max_points=400, random_state=1).fit(X, labeled)
    assert other.diagnostics_["distance"] != estimator.diagnostics_["distance"]


# -- failures ---------------------------------------------------------------------------------


def test_the_search_ends_before_one() -> None:
    sample = pu.simulate.binormal(4).sample(1000, 2000, alpha=0.96, random_state=0)
    estimator = KernelMean().fit(sample.scores, sample.labeled)
    assert estimator.proportions_.alpha == 0.875
    assert estimator.diagnostics_["at_edge"] is True
    assert "alpha may be larger: the search ends at 0.875" in estimator.diagnostics_["notes"]


def test_nothing_in_common() -> None:
    estimator = KernelMean().fit(
        [*np.linspace(0, 1, 200), *np.linspace(9, 10, 100)], [0] * 200 + [1] * 100
    )
    assert estimator.proportions_.alpha == 0
    assert estimator.diagnostics_["at_edge"] is True
    assert "rises from the start" in estimator.diagnostics_["notes"][0]


def test_equal_samples_tell_nothing() -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(50, 2)), 2, axis=0)
    with pytest.raises(IdentifiabilityError, match="KernelMean finds no sign"):
        KernelMean().fit(X, np.arange(100) % 2)


# == tice ======================================================================================

ARTICLE = {"n_intervals": 4, "max_bepp": 5, "min_size": 10, "error": None, "n_folds": 5}


def features(n_labeled, n_unlabeled, *, alpha, apart, dimensions, seed):
    """Normal features, the two means so far apart along the diagonal."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(n_labeled + n_unlabeled) < n_labeled
    positive = labeled | (rng.random(labeled.size) < alpha)
    X = rng.normal(size=(labeled.size, dimensions))
    return X + positive[:, None] * apart / np.sqrt(dimensions), labeled


# -- the tree, by sets of rows ----------------------------------------------------------------


def slow_bound(total, labeled, delta, share):
    return labeled / total - math.sqrt(share * (1 - share) * (1 - delta) / (delta * total))


def slow_fold(X, labeled, tree, held_out, share, settings):
    """One fold of the algorithm with plain sets, scaled features and no arrays of counts."""
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    k, n_intervals = settings["max_bepp"], settings["n_intervals"]
    delta = settings["error"] or max(0.025, 1 / (1 + 0.004 * len(held_out)))
    marked = set(np.flatnonzero(labeled))

    def split(rows, feature):
        parts = [set() for _ in range(n_intervals)]
        for row in rows:
            part = sum(scaled[row, feature] >= j / n_intervals for j in range(1, n_intervals))
            parts[part].add(row)
        return parts

    best = len(held_out & marked) / len(held_out)
    fewest, turn = 1, 0
    queue = [(0, 0, 0, tree, held_out, set(range(X.shape[1])))]
    for _ in range(500):
        if not queue:
            break
        *_, tree, held_out, available = heapq.heappop(queue)
        chosen, top, useless = None, -1, set()
        for feature in sorted(available):
            if max(len(part & marked) for part in split(held_out, feature)) < fewest:
                useless.add(feature)
                continue
            gain = max(
                len(part & marked) / (len(part) + k) if part else 0 for part in split(tree, feature)
            )
            if gain > top:
                chosen, top = feature, gain
        if top <= 0:
            continue
        parts = split(held_out, chosen)
        if sum(bool(part) for part in parts) == 1:
            continue
        for part in parts:
            if len(part) >= 10:
                best = max(best, slow_bound(len(part), len(part & marked), delta, share))
        fewest = share * (1 - share) * (1 - delta) / (delta * (1 - best) ** 2)
        for on_tree, part in zip(split(tree, chosen), parts, strict=True):
            few, total = len(on_tree & marked), len(on_tree)
            if len(part & marked) > fewest and total > 10 and 0 < few < total:
                turn += 1
                urgency = -slow_bound(total, few, delta, share)
                rest = available - {chosen} - useless
                heapq.heappush(queue, (urgency, -few, turn, on_tree, part, rest))
    return best


@pytest.mark.parametrize("dimensions", [1, 2, 4])
@pytest.mark.parametrize(
    "settings",
    [ARTICLE, {"n_intervals": 10, "max_bepp": 10, "min_size": 10, "error": 0.2, "n_folds": 3}],
    ids=["article", "finer"],
)
def test_equals_a_tree_of_sets(dimensions, settings):
    X, labeled = features(150, 450, alpha=0.3, apart=3, dimensions=dimensions, seed=dimensions)
    folds = np.random.default_rng(0).permutation(np.arange(600) % settings["n_folds"])
    share = 0.5
    for _ in range(2):
        expected = [
            slow_fold(
                X, labeled, set(np.flatnonzero(folds == f)), set(np.flatnonzero(folds != f)),
                share, settings,
            )
            for f in range(settings["n_folds"])
        ]  # fmt: skip
        share = np.mean(expected)
    rows = Rows(X[labeled], X[~labeled])
    found = TIcE(**settings)._estimate_rows(rows, np.random.default_rng(0))
    np.testing.assert_allclose(found.details["by_fold"], expected, rtol=1e-12)
    assert found.details["labeled_given_positive"] == pytest.approx(share)
    pooled = 150 / 600 / share
    assert found.a == pytest.approx((600 * pooled - 150) / 450)


def test_worked_bound():
    delta = _tice._failure_probability(800)
    assert delta == pytest.approx(0.2380952, abs=1e-7)
    spread = 0.5 * 0.5 * (1 - delta) / delta
    assert _tice.lower_bound(200, 120, spread) == pytest.approx(0.5367544, abs=1e-7)
    assert _tice._failure_probability(100) == pytest.approx(0.7142857, abs=1e-7)
    assert _tice._failure_probability(1000) == pytest.approx(0.2)
    assert _tice._failure_probability(9750) == pytest.approx(0.025)
    assert _tice._failure_probability(10**6) == 0.025


def test_intervals_of_a_range():
    codes = _tice._interval_codes(np.array([[0.0, 7], [1, 7], [2, 7], [3.99, 7], [4, 7]]), 4)
    assert codes.tolist() == [[0], [1], [2], [3], [3]]  # a constant feature is left out
    wide = np.array([[-1.7e308], [0.0], [1.7e308]])
    assert _tice._interval_codes(wide, 4).tolist() == [[0], [2], [3]]


# -- what it finds ----------------------------------------------------------------------------


@pytest.mark.slow
def test_finds_alpha_where_a_box_is_pure():
    for alpha in (0.1, 0.4):
        found = [
            TIcE().fit(*features(1000, 4000, alpha=alpha, apart=5, dimensions=2, seed=s))
            for s in range(4)
        ]
        errors = [e.proportions_.alpha - alpha for e in found]
        assert np.mean(np.abs(errors)) < 0.05


def in_one_of(dimensions, n, *, alpha, apart, seed):
    """Normal features, of which only the first tells the classes apart; a sixth are labeled."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(n) < n // 6
    positive = labeled | (rng.random(n) < alpha)
    X = rng.normal(size=(n, dimensions))
    X[:, 0] += apart * positive
    return X, labeled


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.25, 0.6])
def test_error_does_not_grow_with_the_data(alpha):
    # A fixed size makes boxes more and more numerous, and the luckiest of them decides.
    def errors(n, **settings):
        data = (in_one_of(5, n, alpha=alpha, apart=3, seed=s) for s in range(96_000 // n))
        return np.array([TIcE(**settings).fit(*d).proportions_.alpha - alpha for d in data])

    few, many = errors(12_000), errors(96_000)
    assert np.abs(many).mean() < np.abs(few).mean() + 0.02
    assert np.abs(many).mean() < 0.08
    assert errors(96_000, min_size=10).mean() < many.mean() - 0.1


def test_smallest_size():
    assert _tice._smallest_size(100) == 10
    assert _tice._smallest_size(90_000) == pytest.approx(100)


def test_units_do_not_matter_to_mixtures_of_normals() -> None:
    rng = np.random.default_rng(0)
    column = np.append(rng.normal(size=200), [40.0, -1e3])  # outliers are drawn in
    near, said = _gaussian_mixture._standardized(column[:, None], np.ones(202))
    for scale in (1e-3, 1e3):
        again, also = _gaussian_mixture._standardized(scale * column[:, None] + 5, np.ones(202))
        np.testing.assert_allclose(again, near, rtol=1e-9, atol=1e-9)
        assert also == said
    assert np.abs(near).max() < 40


def test_one_start_of_a_mixture_is_enough() -> None:
    sample = simulate.binormal(3.0).sample(150, 600, alpha=0.3, random_state=0)
    found = pu.estimators.GaussianMixtures(n_starts=1).fit(sample.counts)
    assert found.proportions_.alpha == pytest.approx(0.3, abs=0.1)


def test_places_of_bits() -> None:
    bits = np.array([0, 1, 2, 3, 12, 2**51], dtype=np.int64)
    assert _dist_curve._highest(bits).tolist() == [0, 0, 1, 1, 3, 51]
    assert _dist_curve._lowest(bits).tolist() == [0, 0, 1, 0, 2, 51]


def test_many_distance_curves_are_single_ones() -> None:
    rng = np.random.default_rng(0)
    n_curves, n_points = 103, 70  # more than few of them, and more points than a word has bits
    points = np.sort(rng.integers(0, 400, (n_curves, n_points)) / 8, axis=1)  # with ties
    draws = rng.integers(-80, 480, (n_curves, n_points)) / 8
    found = distance_curves(draws, points)
    for i in range(0, n_curves, 17):
        assert found[i].tolist() == slow_curve(draws[i], points[i])
