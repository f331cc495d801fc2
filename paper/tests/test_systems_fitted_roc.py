"""FittedRoc: curves and deviances against their formulas, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from purecover.counts import ScoreCounts
from purecover_paper.systems.fitted_roc import (
    FittedRoc,
    _points,
    _slopes,
    curve,
    deviance,
    end_slope,
)

FAMILIES = ("binormal", "power")
both = pytest.mark.parametrize("family", FAMILIES)


def parameters_of(family):
    return np.array([0.3, 1.2] if family == "binormal" else [0.3, 0.5, np.log(1.7)])


def slow_curve(family, parameters, x):
    if family == "binormal":
        gamma, d = parameters
        return (1 - gamma) * stats.norm.cdf(stats.norm.ppf(x) + d) + gamma * x
    gamma, d, mu = parameters[0], parameters[1], np.exp(parameters[2])
    return (1 - gamma) * (1 + d * (x**-mu - 1)) ** (-1 / mu) + gamma * x


def slow_deviance(family, parameters, labeled, unlabeled):
    """A loop over the points before and after each labeled score, without ties."""
    total = 0.0
    for t in labeled:
        for x, y in (
            ((labeled < t).sum(), (unlabeled < t).mean()),
            ((labeled <= t).sum(), (unlabeled <= t).mean()),
        ):
            fitted = slow_curve(family, parameters, (x + 0.5) / (labeled.size + 1))
            total -= y * np.log(fitted) + (1 - y) * np.log(1 - fitted)
    return total / labeled.size


def test_slopes_at_the_end():
    slope = end_slope("binormal", np.array([0.3, 1.2]))
    assert slope == 0.3
    # It is reached slowly.
    for distance, expected in ((1e-3, 0.3062), (1e-5, 0.3016), (1e-7, 0.3005)):
        (value,), _ = curve("binormal", np.array([0.3, 1.2]), np.array([1 - distance]))
        assert (1 - value) / distance == pytest.approx(expected, abs=1e-4)
    for mu in (0.4, 1.0, 3.0):
        found = np.array([0.3, 0.5, np.log(mu)])
        assert end_slope("power", found) == pytest.approx(0.65)
        (value,), _ = curve("power", found, np.array([1 - 1e-6]))
        assert (1 - value) / 1e-6 == pytest.approx(0.65, abs=1e-5)


@both
def test_curves_equal_their_formulas_and_are_concave(family):
    x = np.linspace(0.001, 0.999, 500)
    values, _ = curve(family, parameters_of(family), x)
    np.testing.assert_allclose(values, slow_curve(family, parameters_of(family), x), rtol=1e-12)
    assert (np.diff(values, 2) < 1e-12).all()
    assert (values >= x).all()


@both
def test_deviance_equals_a_loop_and_its_gradient_is_right(family):
    rng = np.random.default_rng(0)
    labeled, unlabeled = rng.normal(1, 1, 30), rng.normal(0, 1, 80)
    rows = np.concatenate((labeled, unlabeled)), np.arange(110) < 30
    counts = ScoreCounts.from_scores(*rows)
    points = _points(counts, counts.labeled[None], counts.unlabeled[None])
    one, two = parameters_of(family), parameters_of(family) * 0.7
    # The two ends of the curve, which no parameter moves, are in the loop only.
    found = deviance(family, one, points)[0] - deviance(family, two, points)[0]
    expected = slow_deviance(family, one, labeled, unlabeled)
    expected -= slow_deviance(family, two, labeled, unlabeled)
    assert found == pytest.approx(expected, abs=0.05 * abs(expected) + 1e-3)
    error = optimize.check_grad(
        lambda p: -deviance(family, p, points)[0], lambda p: _slopes(family, p, points)[0][0], one
    )
    assert error < 1e-6


@both
def test_exact_points_give_the_parameters_back(family):
    # So many labeled rows that half of one moves nothing.
    x = np.linspace(0, 1, 401)
    y = slow_curve(family, parameters_of(family), np.clip(x, 1e-100, 1))
    y[0] = 0
    labeled, unlabeled = np.diff(x)[::-1] * 1e9, np.diff(y)[::-1] * 1e9
    counts = ScoreCounts.from_counts(
        np.arange(400, 0, -1.0), np.rint(labeled).astype(int), np.rint(unlabeled).astype(int)
    )
    estimator = FittedRoc(family=family).fit(counts)
    expected = end_slope(family, parameters_of(family))
    assert estimator.proportions_.alpha == pytest.approx(expected, abs=2e-3)
    assert estimator.diagnostics_["deviance"] < 1e-6
