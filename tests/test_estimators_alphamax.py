"""AlphaMax: the inner problem against other solvers, the elbow, and what it can and cannot do."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize
from scipy.stats import chi2

import purecover as pu
from purecover.estimators.alphamax import AlphaMax, AlphaMaxN, Curves, deviance
from purecover.estimators.inclusion_likelihood import (
    _Cells,
    _multiplier,
    end_of_flat,
    inclusion_curve,
)
from purecover.estimators.noisy import NoisyLabels
from purecover.estimators.score_histogram import bin_starts, binned, released_width
from purecover.exceptions import IdentifiabilityError

P = np.array([0.4, 0.3, 0.2, 0.1])
Q = np.array([0.05, 0.15, 0.3, 0.5])

GRID = np.arange(100) / 100


def curve(p: np.ndarray, q: np.ndarray, c: object) -> np.ndarray:
    return inclusion_curve(p[None], q[None], np.atleast_1d(np.asarray(c, float)))[0]


def inclusion_parts(p: np.ndarray, q: np.ndarray, c: float) -> np.ndarray:
    """The b of one c: how much of each bin of the mixture is taken for the component."""
    q = np.where(p > 0, q, 0.0)
    cells = _Cells.of(p[None], q[None], np.zeros(1, dtype=np.int64), np.array([c]))
    return cells.parts(_multiplier(cells, cells.flat))[0][:, 0]


def counts_of(p: np.ndarray, q: np.ndarray, n_unlabeled: int, n_labeled: int) -> pu.ScoreCounts:
    """Counts whose bins, one per score, have exactly these shares."""
    unlabeled, labeled = np.rint(p * n_unlabeled), np.rint(q * n_labeled)
    return pu.ScoreCounts.from_counts(np.arange(p.size), labeled.astype(int), unlabeled.astype(int))


def pure_world(n_labeled: int, n_unlabeled: int, alpha: float, seed: int, beta: float = 1.0):
    """Half of the positives score where no negative does, and half of the negatives likewise."""
    world = pu.simulate.histogram([0, 0, 0.2, 0.3, 0.25, 0.25], [0.25, 0.25, 0.3, 0.2, 0, 0])
    return world.sample(n_labeled, n_unlabeled, alpha=alpha, beta=beta, random_state=seed)


def test_curve_of_four_bins() -> None:
    expected = [-2.42197427] * 2 + [-2.44574759, -2.60784586, -2.88455179, -3.25016393, -3.65710006]
    found = curve(P, Q, [0.1, 0.2, 0.25, 0.4, 0.6, 0.8, 0.95])
    np.testing.assert_allclose(found, expected, atol=5e-9)
    for c, b in {
        0.25: (0.015220, 0.045383, 0.089397, 0.1),
        0.4: (0.034098, 0.095821, 0.170081, 0.1),
        0.6: (0.105728, 0.194272, 0.2, 0.1),
    }.items():
        np.testing.assert_allclose(inclusion_parts(P, Q, c), b, atol=5e-7)


# The solver of older SciPy steps out of its bounds, and says so.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_a_general_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    if seed % 2:
        q[0] = 0.0  # a bin without labeled rows
        q /= q.sum()
    for c in (0.2, 0.5, 0.9):

        def loss(b: np.ndarray, c: float = c) -> float:
            b = np.maximum(b, 1e-12)
            logs = p * np.log(c * q + p - b) + q * np.log(b / c)
            return float(-logs.sum())

        def slope(b: np.ndarray, c: float = c) -> np.ndarray:
            b = np.maximum(b, 1e-12)
            return p / (c * q + p - b) - q / b

        solved = minimize(
            loss,
            c * p,
            jac=slope,
            method="SLSQP",
            bounds=[(1e-9, x - 1e-9) for x in p],
            constraints={"type": "eq", "fun": lambda b, c=c: b.sum() - c},
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        found = curve(p, q, c)[0]
        assert found == pytest.approx(-solved.fun, abs=2e-5)
        # What the solver gains where its masses do not add up is no gain.
        gained = abs(solved.x.sum() - c) * np.abs(slope(solved.x)).max()
        assert found >= -solved.fun - 1e-9 - gained
        np.testing.assert_allclose(inclusion_parts(p, q, c), solved.x, atol=0.003)


histograms = hnp.arrays(
    np.float64,
    st.shared(st.integers(2, 12), key="bins"),
    elements=st.one_of(st.just(0.0), st.floats(-12, 0).map(lambda x: 10.0**x)),
).filter(lambda x: x.sum() > 0)


@given(p=histograms, q=histograms)
def test_properties_of_the_curve(p: np.ndarray, q: np.ndarray) -> None:
    p, q = p / p.sum(), q / q.sum()
    found = curve(p, q, GRID)
    assert np.all(np.isfinite(found))
    end = end_of_flat(p[None], np.where(p > 0, q, 0.0)[None])[0]
    flat = end >= GRID
    np.testing.assert_array_equal(found[flat], found[0])
    assert np.all(np.diff(found) <= 5e-9)  # so the correction has nothing to do
    for c in (0.03, 0.4, 0.97):
        b = inclusion_parts(p, q, c)
        assert b.sum() == pytest.approx(c, rel=1e-6)
        assert np.all(b >= 0)
        assert np.all(b <= p * (1 + 1e-12))


def test_newton_cannot_go_in_circles() -> None:
    """Shares for which plain Newton steps alternate between two multipliers."""
    p = np.array([0.181282206, 1.34887419e-9, 0, 1.24812802e-11, 5.26325e-7, 1.183946e-7, 0, 0])
    q = np.array([0.0538789997, 8.85585e-4, 2.85196e-3, 1.5955e-11, 2.439e-5, 1.42e-5, 3.3e-9, 0])
    p[6], q[7] = 1 - p.sum(), 1 - q.sum()
    assert inclusion_parts(p, q, 0.1).sum() == pytest.approx(0.1, rel=1e-7)


def test_deviance_is_a_sum_of_squared_z_scores() -> None:
    n_unlabeled, n_labeled, c = 5000.0, 300.0, 0.5
    q = np.full(2000, 1 / 2000)
    p = np.full(2000, 1 / 2000)
    p[:3] = c * q[:3] * (1 - np.array([0.001, 0.002, 0.003]))  # only these contradict c
    p[3:] *= (1 - p[:3].sum()) / p[3:].sum()
    short = p[:3] - c * q[:3]
    z = short / np.sqrt(c * q[:3] / n_unlabeled + c**2 * q[:3] / n_labeled)
    grid = np.array([0.0, c])
    sizes = np.array([n_unlabeled]), np.array([n_labeled])
    curves = Curves(grid, curve(p, q, grid)[None], p[None], q[None], sizes)
    statistic = deviance(curves)
    assert statistic[0, 1] + chi2.median(3) == pytest.approx(np.square(z).sum(), rel=0.02)


@pytest.mark.parametrize(
    ("sd", "width"), [(1.0, 0.3), (0.5, 0.2), (0.3, 0.1), (2.0, 0.7), (1.5, 0.5), (2.5, 1.0)]
)
def test_released_width(sd: float, width: float) -> None:
    # 3.5 sd / 10 for a thousand scores.
    scores = np.array([-1.0, 1.0]) * sd * np.sqrt(999 / 1000)
    expected = {0.7: 0.5}.get(width, width)
    found = released_width(scores, np.array([500, 500]), 1000)
    assert found == pytest.approx(expected)


def test_released_bins_start_at_the_lowest_score() -> None:
    rng = np.random.default_rng(0)
    scores, labeled = rng.normal(size=3000), np.arange(3000) < 1000
    counts = pu.ScoreCounts.from_scores(scores, labeled)
    width = released_width(np.sort(scores[labeled]), np.ones(1000), 1000)
    edges = scores.min() + width * np.arange(100)
    starts = bin_starts(counts, merged=False)
    for side, tally in ((labeled, counts.labeled), (~labeled, counts.unlabeled)):
        expected, _ = np.histogram(scores[side], edges)
        found = binned(tally, starts)[::-1]
        np.testing.assert_array_equal(found[found > 0], expected[expected > 0])


def test_merged_bins_hold_enough() -> None:
    counts = pu.simulate.binormal(2.0).sample(500, 3000, alpha=0.3, random_state=0).counts
    few = bin_starts(counts, merged=True)
    assert set(few) < set(bin_starts(counts, merged=False))
    assert np.all(binned(counts.labeled, few)[:-1] >= np.sqrt(500))
    assert np.all(binned(counts.unlabeled, few) >= 5)


def test_curve_of_a_fit() -> None:
    counts = counts_of(P, Q, 10_000, 10_000)
    fitted = AlphaMax(step=0.01).fit(counts)
    found = fitted.diagnostics_
    np.testing.assert_allclose(found["log_likelihood"], curve(P, Q, GRID), atol=1e-12)
    assert fitted.proportions_.alpha == 0.2
    assert found["end_of_plateau"] == pytest.approx(0.2)


@pytest.mark.parametrize("clean", ["test", "never", "always"])
def test_noisy_labels_take_two_runs(clean: Literal["test", "never", "always"]) -> None:
    for beta in (1.0, 0.7):
        counts = pure_world(1000, 5000, 0.3, seed=2, beta=beta).counts
        found = AlphaMaxN(step=0.01, clean=clean).fit(counts).proportions_
        wrapped = NoisyLabels(AlphaMax(step=0.01), clean=clean).fit(counts).proportions_
        assert (found.alpha, found.beta) == (wrapped.alpha, wrapped.beta)
    assert AlphaMaxN(clean=clean).estimates_beta == (clean != "always")


def test_replicates_use_the_bins_of_the_data() -> None:
    counts = pure_world(300, 1500, 0.4, seed=5).counts
    starts = bin_starts(counts, merged=True)
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(300, counts.labeled / 300, size=20)
    unlabeled = rng.multinomial(1500, counts.unlabeled / 1500, size=20)
    many = AlphaMax()._estimate_many(counts, labeled, unlabeled)
    grid = np.arange(400) * 0.0025
    for row, few, rest in zip(many, labeled, unlabeled, strict=True):
        p, q = binned(rest, starts) / 1500, binned(few, starts) / 300
        sizes = np.array([1500.0]), np.array([300.0])
        curves = Curves(grid, curve(p, q, grid)[None], p[None], q[None], sizes)
        assert row[0] == grid[np.flatnonzero(deviance(curves)[0] <= 0)[-1]]
        assert row[1] == 0.0


def test_equal_samples_are_refused() -> None:
    scores = np.tile(np.arange(20.0), 2)
    with pytest.raises(IdentifiabilityError, match="AlphaMax finds no sign"):
        AlphaMax().fit(scores, np.arange(40) < 20)
    counts = pu.ScoreCounts.from_scores(scores, np.arange(40) < 20)
    same = np.stack([counts.labeled] * 2), np.stack([counts.unlabeled] * 2)
    assert np.isnan(AlphaMax().proportions_many(counts, *same)).all()
