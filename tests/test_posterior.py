from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from purecover import simulate
from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import correct_posterior, posterior_band

PROPORTIONS = [
    MixtureProportions(0.25),
    MixtureProportions(0.05, 0.95),
    MixtureProportions(0.25, 0.75),
    MixtureProportions(0.5, 0.75),
]
SHARES = [0.01, 0.3, 0.9]
SCORES = np.linspace(-4, 5, 101)


def labeled_given_score(share, proportions, positive, negative):
    """P(labeled | score) from the two class densities, straight from Bayes' rule."""
    g = proportions.beta * positive + (1 - proportions.beta) * negative
    f = proportions.alpha * positive + (1 - proportions.alpha) * negative
    return share * g / (share * g + (1 - share) * f)


@pytest.mark.parametrize("proportions", PROPORTIONS, ids=str)
@pytest.mark.parametrize("share", SHARES)
def test_exact_on_normal_densities(proportions, share):
    positive, negative = stats.norm.pdf(SCORES, 1.5), stats.norm.pdf(SCORES)
    tau = labeled_given_score(share, proportions, positive, negative)
    for prior in (None, 0.1, 0.5, 0.9):
        p = proportions.alpha if prior is None else prior
        truth = p * positive / (p * positive + (1 - p) * negative)
        found = correct_posterior(tau, share, proportions, prior=prior)
        np.testing.assert_allclose(found, truth, rtol=0, atol=1e-10)


@pytest.mark.parametrize("world", ["binormal", "laplace", "beta", "nonconcave"])
@pytest.mark.parametrize("share", SHARES)
def test_exact_in_simulated_worlds(world, share):
    world = getattr(simulate, world)()
    sample = world.sample(20, 200, alpha=0.25, beta=0.75, random_state=0)
    proportions, scores = sample.proportions, sample.scores
    tau = labeled_given_score(
        share, proportions, world.positive_density(scores), world.negative_density(scores)
    )
    np.testing.assert_allclose(
        correct_posterior(tau, share, proportions), world.posterior(scores, 0.25), atol=1e-10
    )
    np.testing.assert_allclose(
        correct_posterior(tau, share, proportions, prior=0.6),
        world.posterior(scores, 0.6),
        atol=1e-10,
    )


def test_the_mean_posterior_is_the_prior():
    world = simulate.binormal(1.5)
    proportions = MixtureProportions(0.25, 0.75)
    rng = np.random.default_rng(0)
    unlabeled = world.sample(1, 200_000, alpha=0.25, random_state=rng)
    scores = unlabeled.scores[~unlabeled.labeled]
    tau = labeled_given_score(
        0.1, proportions, world.positive_density(scores), world.negative_density(scores)
    )
    assert correct_posterior(tau, 0.1, proportions).mean() == pytest.approx(0.25, abs=0.003)


@pytest.mark.parametrize("proportions", PROPORTIONS, ids=str)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("prior", [None, 0.3])
def test_band_maps_onto_the_unit_interval(proportions, share, prior):
    low, high = posterior_band(share, proportions)
    inside = np.linspace(low, high, 11)
    found = correct_posterior(inside, share, proportions, prior=prior)
    assert found[0] == pytest.approx(0, abs=1e-12)
    assert found[-1] == pytest.approx(1, abs=1e-12)
    assert np.all(np.diff(found) > 0)
    if high < 1:
        assert correct_posterior((1 + high) / 2, share, proportions, prior=prior) == 1
        assert correct_posterior((1 + high) / 2, share, proportions, clip=False) > 1
    if low > 0:
        assert correct_posterior(low / 2, share, proportions, prior=prior) == 0
        assert correct_posterior(low / 2, share, proportions, clip=False) < 0


def test_formula_of_the_odds_shift():
    proportions, tau = MixtureProportions(0.2, 0.9), np.linspace(0.15, 0.6, 7)
    before = correct_posterior(tau, 0.3, proportions)
    after = correct_posterior(tau, 0.3, proportions, prior=0.7)
    shift = (0.7 / 0.3) / (0.2 / 0.8)
    np.testing.assert_allclose(after / (1 - after), shift * before / (1 - before))
    np.testing.assert_allclose(
        correct_posterior(tau, 0.3, proportions, prior=0.2), before, atol=1e-15
    )


def test_certainty_of_being_labeled():
    proportions = MixtureProportions(0.25, 0.75)
    assert correct_posterior(1.0, 0.3, proportions) == 1
    assert correct_posterior(1.0, 0.3, proportions, clip=False) == np.inf
    assert np.isnan(correct_posterior(1.0, 0.3, proportions, prior=0.4, clip=False))
    assert correct_posterior(0.0, 0.3, proportions) == 0


def test_no_positives_among_the_unlabeled():
    proportions = MixtureProportions(0.0, 0.8)
    tau = np.linspace(0, 1, 5)
    assert np.array_equal(correct_posterior(tau, 0.3, proportions), np.zeros(5))
    # Yet for a population that has some, the densities say which they are.
    positive, negative = stats.norm.pdf(SCORES, 2), stats.norm.pdf(SCORES)
    tau = labeled_given_score(0.3, proportions, positive, negative)
    found = correct_posterior(tau, 0.3, proportions, prior=0.5)
    np.testing.assert_allclose(found, positive / (positive + negative), atol=1e-10)


@given(
    tau=st.lists(st.floats(0, 1), min_size=1, max_size=8),
    share=st.floats(1e-6, 1 - 1e-6),
    pair=st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda p: abs(p[0] - p[1]) > 1e-6),
    prior=st.none() | st.floats(0, 1),
)
def test_clipped_values_are_probabilities(tau, share, pair, prior):
    found = correct_posterior(tau, share, MixtureProportions(min(pair), max(pair)), prior=prior)
    assert found.shape == (len(tau),)
    assert np.all((found >= 0) & (found <= 1))
    order = np.argsort(tau)
    assert np.all(np.diff(found[order]) >= -1e-9)


def test_a_vanishing_prior_leaves_sure_positives_sure():
    # 5e-324 times anything below one half is 0.
    found = correct_posterior([0.4, 1.0], 0.75, MixtureProportions(0.25), prior=5e-324)
    np.testing.assert_array_equal(found, [0.0, 1.0])


def test_shapes_and_bad_input():
    proportions = MixtureProportions(0.25)
    assert correct_posterior(0.3, 0.5, proportions).shape == ()
    assert correct_posterior([[0.3, 0.4]], 0.5, proportions).shape == (1, 2)
    assert correct_posterior([], 0.5, proportions).shape == (0,)
    with pytest.raises(InvalidInputError, match=r"'posterior_pu'.*1\.5"):
        correct_posterior([0.5, 1.5], 0.5, proportions)
    with pytest.raises(InvalidInputError, match="nan"):
        correct_posterior(float("nan"), 0.5, proportions)
    with pytest.raises(InvalidInputError, match="labeled_share"):
        correct_posterior(0.5, 1.0, proportions)
    with pytest.raises(InvalidInputError, match="prior"):
        correct_posterior(0.5, 0.5, proportions, prior=1.2)
    with pytest.raises(InvalidTypeError, match="MixtureProportions"):
        posterior_band(0.5, 0.25)


def test_without_clipping_only_possible_points_have_a_value():
    proportions, share = MixtureProportions(0.3, 0.9), 0.2
    low, high = posterior_band(share, proportions)
    tau = np.array([low / 2, (low + high) / 2, (1 + high) / 2])
    raw = correct_posterior(tau, share, proportions, prior=0.4, clip=False)
    assert np.isnan(raw).tolist() == [True, False, True]
    assert raw[1] == correct_posterior(tau, share, proportions, prior=0.4)[1]
