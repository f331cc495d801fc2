"""Evidence thresholds against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import purecover as pu
from purecover.displays import EvidenceDisplay
from purecover.exceptions import InvalidInputError
from purecover.intervals import evidence_constant, evidence_thresholds

# Distance of normal scores, alpha, beta, sizes.
WORLDS = {
    "good": (2.0, 0.1, 1.0, (2000, 10_000)),
    "noisy": (2.0, 0.25, 0.9, (2000, 10_000)),
    "rare": (3.0, 0.05, 1.0, (2000, 20_000)),
}


def test_odds_of_very_strong_evidence_are_the_published_ones() -> None:
    assert evidence_constant(0.1) == pytest.approx(350, abs=0.5)
    assert evidence_constant(0.0441) == pytest.approx(1124, rel=0.01)
    with pytest.raises(InvalidInputError, match="'prior'"):
        evidence_constant(0)


@pytest.mark.parametrize("name", [*WORLDS, "beta"])
def test_thresholds_are_those_of_the_closed_form(name: str) -> None:
    # Beta(2, 1) against Beta(1, 2) has the likelihood ratio x / (1 - x).
    shift, alpha, beta, sizes = WORLDS.get(name, WORLDS["good"])
    world = pu.simulate.beta((2, 1), (1, 2)) if name == "beta" else pu.simulate.binormal(shift)
    z = []
    for seed in range(4):
        s = world.sample(*sizes, alpha=alpha, beta=beta, random_state=seed)
        found = evidence_thresholds(s.counts, s.proportions, n_resamples=50, random_state=0)
        # The log of the likelihood ratio is shift * score - shift^2 / 2.
        truth = (np.log(found.odds) + shift**2 / 2) / shift
        if name == "beta":
            truth = found.odds / (1 + found.odds)
        z.append((found.thresholds - truth) / found.standard_errors)
        middle = np.abs(found.points) <= 2
        assert np.isfinite(found.bounds[middle]).all()
        # Bounds are on the safe side of the thresholds.
        safe = np.where(found.points > 0, 1, -1) * (found.bounds - found.thresholds)
        assert np.nanmin(safe) > -1e-9
        assert np.all(np.diff(found.thresholds[np.isfinite(found.thresholds)]) >= 0)
    assert np.nanmax(np.abs(np.mean(z, axis=0))) < 2
    assert np.all(np.isfinite(np.mean(z, axis=0))[2:6])


def test_bounds_are_rarely_too_close() -> None:
    shift, alpha, _, sizes = WORLDS["good"]
    wrong = []
    for seed in range(8):
        s = pu.simulate.binormal(shift).sample(*sizes, alpha=alpha, random_state=seed)
        found = evidence_thresholds(s.counts, s.proportions, n_resamples=60, random_state=0)
        truth = (np.log(found.odds) + shift**2 / 2) / shift
        sign = np.where(found.points > 0, 1, -1)
        wrong.append(np.where(np.isnan(found.bounds), False, sign * (found.bounds - truth) < 0))
    assert np.mean(wrong) < 0.12  # one in twenty, more or less
    assert np.mean(np.array(wrong)[:, [0, -1]]) < 0.1  # few rows make no very strong evidence


def test_points_table_and_picture() -> None:
    s = pu.simulate.binormal(2.0).sample(2000, 10_000, alpha=0.1, random_state=0)
    found = evidence_thresholds(s.counts, s.proportions, n_resamples=50, random_state=0)
    order = np.linspace(-2, 4, 50)
    points = found.points_of(order)
    assert set(points) <= {-8, -4, -2, -1, 0, 1, 2, 4, 8}
    assert np.all(np.diff(points) >= 0)
    assert list(found.frame()) == [
        "evidence", "points", "odds", "posterior", "threshold", "standard_error", "bound",
    ]  # fmt: skip
    assert "moderate for positive" in str(found)
    display = EvidenceDisplay(found).plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), found.likelihood_ratio)
    assert display.ax_.get_yscale() == "log"
    with pytest.raises(InvalidInputError, match="'target'"):
        evidence_thresholds(s.counts, s.proportions, target=1.0)


def test_an_estimated_alpha_moves_bounds_out() -> None:
    from purecover.estimators import ReferencePosterior

    s = pu.simulate.binormal(2.5).sample(1000, 5000, alpha=0.1, random_state=0)
    estimator = ReferencePosterior().fit(s.counts)
    exact, varied = (
        evidence_thresholds(
            s.counts, estimator.proportions_, estimator=each, n_resamples=60, random_state=0
        )
        for each in (None, estimator)
    )
    assert varied.varied == "scores and proportions"
    widths = [np.nan_to_num(each.bounds[4:], nan=99) for each in (exact, varied)]
    assert np.all(widths[1] >= widths[0] - 0.05)
    assert np.any(widths[1] > widths[0] + 0.05)
