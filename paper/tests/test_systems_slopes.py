"""AlphaMax with the elbows of its paper and of the released code."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import purecover as pu
from purecover.estimators import AlphaMax, NoisyLabels
from purecover_paper.systems import AlphaMaxPaper, AlphaMaxReleased
from purecover_paper.systems.slopes import _slope_below

P, Q = [40, 30, 20, 10], [5, 15, 30, 50]
# f1 = (0, .1, .3, .6) and f0 = (.5, .3, .2, 0), mixed with alpha = .25 and beta = .75.
F, G = [375, 250, 225, 150], [125, 150, 275, 450]


def counts_of(unlabeled: list[int], labeled: list[int]) -> pu.ScoreCounts:
    """Counts whose bins, one per score, have exactly these shares."""
    sides = (100 * np.array(side) for side in (labeled, unlabeled))
    return pu.ScoreCounts.from_counts(np.arange(4), *sides)


def elbow_of(cls: type[AlphaMax], unlabeled: list[int], labeled: list[int]) -> float:
    return float(cls(step=0.01).fit(counts_of(unlabeled, labeled)).proportions_.alpha)


def test_elbows_of_exact_histograms() -> None:
    assert elbow_of(AlphaMaxReleased, P, Q) == 0.23
    assert elbow_of(AlphaMaxPaper, P, Q) == 0.21
    # The windows look ahead: both are above the truth, 1/3.
    assert elbow_of(AlphaMaxReleased, F, G) == elbow_of(AlphaMaxReleased, G[::-1], F[::-1]) == 0.37
    assert elbow_of(AlphaMaxPaper, F, G) == pytest.approx(0.35)


def test_both_ways_it_is_the_estimator_of_the_study() -> None:
    found = NoisyLabels(AlphaMaxReleased(), clean="never").fit(counts_of(F, G)).proportions_
    assert (found.alpha, found.beta) == pytest.approx((0.37 / 1.37, 1 / 1.37))


def test_line_below_the_points() -> None:
    rng = np.random.default_rng(3)
    x = np.arange(10) / 100
    y = np.cumsum(rng.random((2, 5, 10)) ** 3, axis=-1)
    floor = np.array([0.0, 40.0])
    found = _slope_below(x, y, floor)
    for i, j in np.ndindex(found.shape):

        def squares(m: np.ndarray, i: int = i, j: int = j) -> np.ndarray:
            above = y[i, j] - m[:, None] * x
            return np.square(above - above.min(axis=1, keepdims=True)).sum(axis=1)

        slopes = np.linspace(floor[i], 200, 200_001)
        assert found[i, j] == pytest.approx(slopes[squares(slopes).argmin()], abs=2e-3)


def falling_curves(n_curves: int = 3) -> Any:
    """Curves with a plateau and a bend each, on a grid of .005."""
    rng = np.random.default_rng(0)
    grid = np.arange(200) / 200
    bend = np.array([0.15, 0.4, 0.7])[:n_curves, None]
    drop = np.maximum(grid - bend, 0) ** 1.5 + 0.002 * np.cumsum(rng.random((n_curves, 200)), 1)
    return SimpleNamespace(inclusion=grid, log_likelihood=-drop)


def running_median(values: np.ndarray, reach: int) -> np.ndarray:
    n = values.size
    return np.array([np.median(values[max(0, j - reach) : j + reach + 1]) for j in range(n)])


def scaled(values: np.ndarray) -> np.ndarray:
    return (values - values.min()) / np.ptp(values)


def test_paper_rule_point_by_point() -> None:
    """Slope over .03 before less slope over .03 after, relative to what was lost, plus .01."""
    curves = falling_curves()
    found, _ = AlphaMaxPaper()._find_elbow(curves)
    for row, ll in zip(found, curves.log_likelihood, strict=True):
        flat = np.concatenate((np.full(12, ll[0]), ll[:199]))  # up to .99, and flat before 0
        height = scaled(running_median(flat, 6))
        for i in range(0, 193, 7):
            at = 12 + i
            change = (height[at] - height[at - 6]) - (height[at + 6] - height[at])
            assert row[i] == pytest.approx(change / 0.03 / (1.01 - height[at]))
        assert np.isnan(row[193:]).all()


def test_released_rule_point_by_point() -> None:
    """Slopes of lines below ten points .01 apart, after less before, by the median before."""
    curves = falling_curves()
    found, _ = AlphaMaxReleased()._find_elbow(curves)
    for row, ll in zip(found, curves.log_likelihood, strict=True):
        y = scaled(running_median(-ll[2:199], 4))  # .01 to .99
        floor = np.array([(y[-1] - y[0]) / 0.98 / 100])
        x = np.arange(10) / 100
        for i in (20, 33, 78, 101, 145, 178):
            at = i - 2
            before, after = y[at - 18 : at + 1 : 2], y[at + 2 : at + 21 : 2]
            slopes = [_slope_below(x, part[None, None], floor)[0, 0] for part in (before, after)]
            expected = (slopes[1] - slopes[0]) / (np.median(before) + 0.01)
            assert row[i] == pytest.approx(expected, abs=1e-9)
        assert np.flatnonzero(~np.isnan(row)).tolist() == list(range(20, 179))


def test_released_elbow_has_a_limited_range() -> None:
    sample = pu.simulate.binormal(5).sample(2000, 10_000, alpha=0.02, random_state=0)
    released = AlphaMaxReleased().fit(sample.counts)
    assert released.proportions_.alpha >= 0.10
    assert released.diagnostics_["at_edge"]
    assert any("0.1 to 0.89" in note for note in released.diagnostics_["notes"])
    default = AlphaMax().fit(sample.counts)
    assert default.proportions_.alpha == pytest.approx(0.02, abs=0.01)
    assert not default.diagnostics_["at_edge"]
