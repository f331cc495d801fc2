"""KM1 and KM2: distances against a general solver, and what they find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import purecover as pu
from purecover_paper.systems import kernel_mean as _kernels
from purecover_paper.systems.kernel_mean import KernelMean, _embedded, _search, _threshold
from purecover_paper.systems.rows import FeatureRows


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


@pytest.mark.parametrize("n_features", [1, 2])
def test_three_points_by_hand(n_features: int) -> None:
    # Unlabeled at 0 and 1, labeled at 0: all of the labeled can be taken away up to lambda = 2.
    labeled, unlabeled = np.zeros((1, n_features)), np.zeros((2, n_features))
    unlabeled[1, 0] = 1
    _, embedding, _ = _embedded(FeatureRows(labeled, unlabeled), 1.0)
    apart = np.sqrt(2 - 2 * np.exp(-0.5)) / 2
    assert embedding.apart == pytest.approx(apart, abs=1e-9)
    assert embedding.apart == pytest.approx(0.4435478, abs=1e-7)
    for lam in (1.0, 1.5, 1.9):
        assert embedding.distance(lam) == pytest.approx(0, abs=1e-6)
    assert embedding.distance(2.5) == pytest.approx(0.2217739, abs=1e-6)
    assert embedding.distance(3.0) == pytest.approx(0.4435478, abs=1e-6)


def by_slsqp(rows: FeatureRows, width: float, lam: float) -> float:
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
    rows = FeatureRows(X[labeled], X[~labeled])
    _, embedding, _ = _embedded(rows, 1.3)
    for lam in (6.0, 1.2, 2.0, 1.02):  # each search begins where the last one ended
        assert embedding.distance(lam) == pytest.approx(by_slsqp(rows, 1.3, lam), abs=2e-3)


def test_a_kernel_of_lower_rank_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labeled = shifted(200, 300, 5)
    rows = FeatureRows(X[labeled], X[~labeled])
    _, exact, _ = _embedded(rows, None)
    monkeypatch.setattr(_kernels, "MOST_RANK", 100)
    _, rough, _ = _embedded(rows, None)
    assert len(rough.features) == 100 < len(exact.features)
    assert exact.error < 1.01e-4 < rough.error < 0.1
    for lam in (1.5, 3.0):
        assert rough.distance(lam) == pytest.approx(exact.distance(lam), abs=0.005)


def test_thresholds() -> None:
    X, labeled = shifted(400, 900, 2)
    rows = FeatureRows(X[labeled], X[~labeled])
    _, embedding, _ = _embedded(rows, None)
    assert _threshold(embedding, "km1", rows) == 0.05
    first = embedding.distance(1.05) / 0.05
    expected = 0.8 * first + 0.2 * embedding.apart
    assert _threshold(embedding, "km2", rows) == pytest.approx(expected)
    low, high = _search(embedding, 0.05)
    assert high - low <= 0.01
    assert embedding.distance(low + 0.02) - embedding.distance(low) <= 0.05 * 0.02 + 1e-5
    assert embedding.distance(high + 0.02) - embedding.distance(high) >= 0.05 * 0.02 - 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.5])
@pytest.mark.parametrize("variant", ["km1", "km2"])
def test_consistent_on_separated_scores(variant: Any, alpha: float) -> None:
    sample = pu.simulate.binormal(4).sample(4000, 8000, alpha=alpha, random_state=0)
    estimator = KernelMean(variant=variant).fit(sample.scores, sample.labeled)
    # The threshold of KM1 is lower, so that noise passes for a rise: it leans low.
    near = 0.02 if variant == "km2" else 0.03
    assert estimator.proportions_.alpha == pytest.approx(alpha, abs=near)
    assert estimator.diagnostics_["notes"] == ()  # a single feature needs no subsample


def test_the_search_ends_before_one() -> None:
    sample = pu.simulate.binormal(4).sample(1000, 2000, alpha=0.96, random_state=0)
    estimator = KernelMean().fit(sample.scores, sample.labeled)
    assert estimator.proportions_.alpha == 0.875
    assert estimator.diagnostics_["at_edge"] is True
    assert "alpha may be larger: the search ends at 0.875" in estimator.diagnostics_["notes"]
