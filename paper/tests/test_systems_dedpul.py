"""DEDPUL: pieces against slow twins, scales, ties and extremes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover_paper.systems.dedpul import (
    DEDPUL,
    _tie_notes,
    binned_density,
    fixed_prior,
    rolling_median,
    spread_of,
)


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
    error = (np.maximum(1 - np.outer(1 - grid, ratio), 0).mean(axis=1) - grid).round(12)
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


@given(st.lists(st.floats(0, 50), min_size=1, max_size=60))
@example([0.0, 0.0, 0.5])
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
    plain = DEDPUL().fit(sample.scores, sample.labeled)
    probabilities = DEDPUL().fit(expit(sample.scores), sample.labeled)
    assert probabilities.diagnostics_["scale"] == "logit"
    # Only the middle between the means, where the ratio starts to increase, may differ.
    found = probabilities.proportions_.alpha
    assert found == pytest.approx(plain.proportions_.alpha, abs=0.01)


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


def test_ties_are_told_only_where_they_are_large():
    scores = np.arange(100.0)
    labeled = scores >= 60
    assert _tie_notes(ScoreCounts.from_scores(scores, labeled)) == ()
    scores[60:72] = 60  # 12 of the 40 labeled
    (note,) = _tie_notes(ScoreCounts.from_scores(scores, labeled))
    assert "30% of the rows of one sample share one score" in note
