"""DistCurve: distance curves against all distances, the network, what it finds."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover_paper.systems.dist_curve import (
    N_QUANTILES,
    DistCurve,
    Network,
    distance_curves,
    distance_quantiles,
    load_network,
    sample_points,
)

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


@pytest.mark.parametrize("n", [1, 2, 29, 30, 31, 62, 63, 200, 1022])
def test_curves_equal_all_distances_at_every_step(n):
    rng = np.random.default_rng(n)
    draws, points = rng.uniform(size=(3, n)), np.sort(rng.uniform(size=(3, n)) ** 2)
    found = distance_curves(draws, points)
    for row, few, many in zip(found, draws, points, strict=True):
        np.testing.assert_allclose(row, slow_curve(few, many), atol=1e-15)


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
    folder = files("purecover_paper.systems") / "data"
    assert len((folder / "dist_curve.npz").read_bytes()) < 200_000
    log = json.loads((folder / "dist_curve.json").read_text(encoding="utf-8"))
    network = load_network()
    shapes = [weight.shape for weight in network.weights]
    assert shapes == list(zip(log["layers"], log["layers"][1:], strict=False))
    errors = log["validation_mean_absolute_error_by_epoch"]
    assert log["validation_mean_absolute_error"] == min(errors) == errors[log["best_epoch"] - 1]
    assert len(log["half_squared_error_by_epoch"]) == len(errors)
    assert all(np.isfinite(array).all() for array in (*network.weights, *network.biases))


@pytest.mark.slow
def test_training_runs_again(tmp_path):
    script = "tools/train_dist_curve.py"
    command = [sys.executable, script, "--curves", "300", "--epochs", "3"]
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        subprocess.run([*command, "--out", tmp_path / name], cwd=ROOT, check=True)
    first, second = (tmp_path / name for name in ("first", "second"))
    assert (first / "dist_curve.json").read_bytes() == (second / "dist_curve.json").read_bytes()
    one, two = np.load(first / "dist_curve.npz"), np.load(second / "dist_curve.npz")
    kept = np.load(files("purecover_paper.systems") / "data" / "dist_curve.npz")
    assert one.files == two.files == kept.files
    assert all(np.array_equal(one[name], two[name]) for name in one.files)


def test_replicates_without_labeled_examples_have_no_estimate():
    counts = simulate.binormal(2).sample(80, 300, alpha=0.4, random_state=1).counts
    labeled = np.vstack((counts.labeled, 0 * counts.labeled))
    unlabeled = np.vstack((counts.unlabeled, counts.unlabeled))
    found = DistCurve()._estimate_many(counts, labeled, unlabeled)
    assert np.isnan(found[:, 0]).tolist() == [False, True]
