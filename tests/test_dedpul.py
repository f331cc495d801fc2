from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.dedpul import (
    DEDPUL,
    _iterate,
    _tie_notes,
    binned_density,
    fixed_prior,
    rolling_median,
    spread_of,
)
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError

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


def test_first_steps_of_the_iteration():
    a, path = 1.0, []
    for _ in range(4):
        a = np.minimum(a * EXAMPLE, 1).mean()
        path.append(a)
    np.testing.assert_allclose(path, [0.7, 0.61, 0.566, 0.5396], atol=1e-12)
    assert _iterate(EXAMPLE)[0] == pytest.approx(slow_em(EXAMPLE), abs=1e-12)


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


def test_a_thousand_points_are_enough():
    for seed in range(3):
        sample = simulate.binormal(2).sample(1000, 5000, alpha=0.3, random_state=seed)
        few, many = (
            DEDPUL(n_points=n).fit(sample.scores, sample.labeled).proportions_.alpha
            for n in (1000, 5000)
        )
        assert few == pytest.approx(many, abs=0.02)


def test_error_shrinks_where_the_top_is_pure():
    world = simulate.binormal(3)
    errors = []
    for n in (50, 500, 20_000):
        found = [
            DEDPUL().fit(s.scores, s.labeled).proportions_.alpha
            for s in (world.sample(n, 5 * n, alpha=0.25, random_state=i) for i in range(10))
        ]
        errors.append(np.mean(np.abs(np.subtract(found, 0.25))))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.01


def test_overlap_biases_it_up():
    world = simulate.binormal(1)
    samples = [world.sample(1000, 5000, alpha=0.25, random_state=i) for i in range(10)]
    found = [DEDPUL().fit(s.scores, s.labeled).proportions_.alpha for s in samples]
    assert np.mean(found) > 0.25 + 0.05


def test_scaling_the_ratio_to_mean_one_is_no_cure():
    # The limit of the iteration becomes 1/max r, and a maximum of noise is too large.
    world, own, scaled = simulate.binormal(2), [], []
    for seed in range(10):
        sample = world.sample(200, 2000, alpha=0.5, random_state=seed)
        estimator = DEDPUL()
        ratio = np.sort(estimator._ratio(sample.counts, "none")[1])[::-1]
        own.append(fixed_prior(ratio).a)
        scaled.append(_iterate(ratio / ratio.mean())[0])
        assert scaled[-1] == pytest.approx(ratio.mean() / ratio.max(), abs=0.01)
    assert np.mean(scaled) < 0.5 - 0.05
    assert abs(np.mean(own) - 0.5) < abs(np.mean(scaled) - 0.5)


def test_heavy_ties_are_noted():
    sample = simulate.binormal(3).sample(500, 3000, alpha=0.3, random_state=0)
    tied = DEDPUL().fit(np.round(sample.scores), sample.labeled)
    assert any("share one score" in note for note in tied.diagnostics_["notes"])
    assert 0 <= tied.proportions_.alpha < 1


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


def test_normal_scores_depend_on_the_order_only():
    sample = simulate.binormal(3).sample(300, 2000, alpha=0.3, random_state=0)
    plain = DEDPUL(scale="normal").fit(sample.scores, sample.labeled).proportions_.alpha
    assert plain == pytest.approx(0.3, abs=0.05)
    for mapped in (np.exp(sample.scores), np.arctan(sample.scores), 3 * sample.scores - 5):
        found = DEDPUL(scale="normal").fit(mapped, sample.labeled).proportions_.alpha
        assert found == plain


def test_shifts_and_scales_change_nothing():
    sample = simulate.binormal(3).sample(300, 2000, alpha=0.3, random_state=0)
    plain = DEDPUL().fit(sample.scores, sample.labeled).proportions_.alpha
    for mapped in (1e6 * sample.scores, sample.scores - 40, 1e305 * sample.scores):
        found = DEDPUL().fit(mapped, sample.labeled).proportions_.alpha
        assert found == pytest.approx(plain, abs=1e-4)


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


def test_flipping_keeps_tiny_probabilities():
    scores = np.r_[np.geomspace(1e-30, 0.5, 60), np.linspace(0.2, 0.9, 40)]
    counts = ScoreCounts.from_scores(scores, np.arange(100) >= 60)
    found = DEDPUL()._estimate_flipped(counts)
    assert found.details["scale"] == "logit"
    assert 0 <= found.a <= 1


@pytest.mark.parametrize("scale", ["none", "normal"])
def test_replicates_equal_fits_one_by_one(scale):
    counts = simulate.binormal(2).sample(80, 300, alpha=0.4, random_state=1).counts
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(80, counts.labeled / 80, 5)
    unlabeled = rng.multinomial(300, counts.unlabeled / 300, 5)
    estimator = DEDPUL(scale=scale)
    found = estimator._estimate_many(counts, labeled, unlabeled)
    for row, few, many in zip(found, labeled, unlabeled, strict=True):
        used = (few > 0) | (many > 0)
        alone = ScoreCounts.from_counts(counts.thresholds[used], few[used], many[used])
        # To a step of the grid, whose origin moves with the ends of the scores.
        assert row[0] == pytest.approx(estimator._estimate(alone).a, abs=0.0021)
        assert row[1] == 0
    constant = np.zeros_like(labeled[:1])
    constant[0, 7] = 5
    assert np.isnan(estimator._estimate_many(counts, constant, constant)).all()


def test_integer_weights_are_repeated_rows():
    sample = simulate.binormal(2).sample(300, 3000, alpha=0.4, random_state=1)
    repeats = np.random.default_rng(0).integers(1, 4, sample.scores.size)
    rows = np.repeat(np.arange(repeats.size), repeats)
    repeated = DEDPUL().fit(sample.scores[rows], sample.labeled[rows])
    weighted = DEDPUL().fit(sample.scores, sample.labeled, sample_weight=repeats)
    assert weighted.proportions_.alpha == pytest.approx(repeated.proportions_.alpha, abs=0.005)
    same = np.full(sample.scores.size, 0.01)
    plain = DEDPUL().fit(sample.scores, sample.labeled).proportions_.alpha
    found = DEDPUL().fit(sample.scores, sample.labeled, sample_weight=same).proportions_.alpha
    assert found == pytest.approx(plain, abs=1e-9)


def test_posteriors():
    world = simulate.binormal(2)
    sample = world.sample(5000, 50_000, alpha=0.3, random_state=0)
    shown = DEDPUL().fit(sample.scores, sample.labeled).diagnostics_
    truth = world.posterior(shown["posterior_scores"], 0.3)
    assert shown["posterior"].size == 100
    assert np.abs(shown["posterior"] - truth).mean() < 0.05


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


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"scale": "log"}, InvalidInputError),
        ({"scale": None}, InvalidTypeError),
        ({"bandwidth_labeled": 0}, InvalidInputError),
        ({"bandwidth_unlabeled": "x"}, InvalidTypeError),
        ({"n_points": 3}, InvalidInputError),
    ],
)
def test_bad_parameters(parameters, error):
    (parameter,) = parameters
    with pytest.raises(error, match=f"'{parameter}' parameter of DEDPUL"):
        DEDPUL(**parameters).fit(*two_samples([2, 3], [0, 1]))


def test_ties_are_told_only_where_they_are_large():
    scores = np.arange(100.0)
    labeled = scores >= 60
    assert _tie_notes(ScoreCounts.from_scores(scores, labeled)) == ()
    scores[60:72] = 60  # 12 of the 40 labeled
    (note,) = _tie_notes(ScoreCounts.from_scores(scores, labeled))
    assert "30% of the examples of one sample share one score" in note


def test_fewest_points():
    sample = simulate.binormal(2).sample(50, 200, alpha=0.4, random_state=0)
    assert 0 <= DEDPUL(n_points=20).fit(sample.counts).proportions_.alpha <= 1
    with pytest.raises(InvalidInputError, match="'n_points' parameter of DEDPUL"):
        DEDPUL(n_points=19).fit(sample.counts)
