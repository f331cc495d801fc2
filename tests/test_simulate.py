"""Worlds with known answers: checked against scipy.stats, brute force and one another."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from purecover import simulate

STEPS = ([0.0, 0.1, 0.3, 0.2, 0.4], [0.3, 0.3, 0.0, 0.4, 0.0], [0.0, 1.0, 2.0, 4.0, 4.5, 7.0])

WORLDS = {
    "binormal": simulate.binormal(1.5),
    "separated": simulate.binormal(6.0),
    "narrow positives": simulate.binormal(1.0, 0.4),
    "worse than chance": simulate.binormal(-0.5),
    "nonconcave": simulate.binormal(1.0, 3.0),
    "laplace": simulate.laplace(2.0),
    "beta": simulate.beta(),
    "beta, U-shaped": simulate.beta((0.9, 0.5), (0.5, 0.9)),
    "beta, ratio turns": simulate.beta((5.0, 3.0), (2.0, 1.0)),
    "rising steps": simulate.histogram([0.1, 0.3, 0.6], [0.6, 0.3, 0.1]),
    "steps with holes": simulate.histogram(*STEPS),
}


@pytest.fixture(params=list(WORLDS))
def case(request):
    return request.param


def test_auc_is_the_chance_that_a_positive_outranks_a_negative(case):
    positive, negative = WORLDS[case].positive, WORLDS[case].negative
    p = (np.arange(4000) + 0.5) / 4000
    ones, zeros = positive.ppf(p), negative.ppf(p)
    wins = np.searchsorted(np.sort(zeros), ones).mean() / zeros.size
    assert WORLDS[case].auc == pytest.approx(wins, abs=1e-3)


def test_auc_pr_against_adaptive_integration_over_scores(case):
    if case == "beta, U-shaped":
        pytest.skip("its density has a pole; see the closed form below")
    world = WORLDS[case]
    positive = world.positive
    if case in {"steps with holes", "rising steps"}:
        cuts = [*world.kinks]
    else:
        cuts = [*positive.isf([1, 1 - 1e-13, 0.9, 0.5, 0.1, 1e-3, 1e-12, 0])]
        cuts = sorted({c for c in (*cuts, 0.0) if math.isfinite(c)})

    def integrand(t):
        return world.precision(t, 0.2) * world.positive_density(t)

    pieces = [
        integrate.quad(integrand, low, high, epsabs=1e-12, epsrel=1e-12, limit=400)[0]
        for low, high in itertools.pairwise(cuts)
    ]
    assert world.auc_pr(0.2) == pytest.approx(sum(pieces), abs=1e-9)


def test_inclusions_are_the_extremes_of_the_density_ratio(case):
    world = WORLDS[case]
    positive, negative = WORLDS[case].positive, WORLDS[case].negative
    if case == "separated":
        pytest.skip("the grid below cannot reach so far")
    low = min(positive.ppf(1e-12), negative.ppf(1e-12))
    high = max(positive.isf(1e-12), negative.isf(1e-12))
    t = np.linspace(low, high, 400_001)
    t = (t[1:] + t[:-1]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = world.positive_density(t) / world.negative_density(t)
    ratio = ratio[~np.isnan(ratio)]
    # On a finite grid an infimum of 0 shows as something small.
    assert world.negative_inclusion == pytest.approx(ratio.min(), rel=1e-4, abs=0.03)
    assert world.positive_inclusion == pytest.approx(1 / ratio.max(), rel=1e-4, abs=0.03)


def test_scores_follow_the_class_distributions(case):
    world = WORLDS[case]
    sample = world.sample(20_000, 20_000, alpha=0.0, random_state=7)
    positive, negative = WORLDS[case].positive, WORLDS[case].negative
    assert sample.truth[sample.labeled].all()
    assert not sample.truth[~sample.labeled].any()
    assert (world.tpr(0.4), world.fpr(0.4)) == (positive.sf(0.4), negative.sf(0.4))
    assert stats.kstest(sample.scores[sample.truth], positive.cdf).pvalue > 1e-4
    assert stats.kstest(sample.scores[~sample.truth], negative.cdf).pvalue > 1e-4


def test_case_control_shares():
    world = simulate.binormal()
    sample = world.sample(40_000, 40_000, alpha=0.3, beta=0.8, random_state=1)
    assert sample.proportions.to_dict() == {
        "alpha": 0.3,
        "beta": 0.8,
        "origin": "simulated",
        "scenario": "case-control",
    }
    # Four standard errors of a share in 40,000 draws.
    assert sample.truth[~sample.labeled].mean() == pytest.approx(
        0.3, abs=4 * math.sqrt(0.21 / 40_000)
    )
    assert sample.truth[sample.labeled].mean() == pytest.approx(
        0.8, abs=4 * math.sqrt(0.16 / 40_000)
    )
    assert len(sample) == 80_000


def test_fixed_counts_are_exact_and_rounded():
    sample = simulate.laplace().sample(
        10, 30, alpha=0.25, beta=0.95, random_state=0, fixed_counts=True
    )
    assert sample.truth[sample.labeled].sum() == 10  # 9.5 rounds up
    assert sample.truth[~sample.labeled].sum() == 8  # and so does 7.5
    assert sample.counts.n_labeled == 10
    assert sample.counts.n_unlabeled == 30


@pytest.mark.parametrize("beta", [1.0, 0.75])
def test_censored_sample(beta):
    n, prior, frequency = 200_000, 0.25, 0.4
    sample = simulate.binormal().sample_censored(
        n, prior=prior, label_frequency=frequency, beta=beta, random_state=3
    )
    share = prior * frequency / beta
    alpha = (prior - beta * share) / (1 - share)
    assert sample.proportions.scenario == "censoring"
    assert sample.proportions.alpha == pytest.approx(alpha, abs=1e-12)
    assert sample.proportions.beta == beta
    tolerance = 5 * math.sqrt(0.25 / (n * share))
    assert sample.labeled.mean() == pytest.approx(share, abs=tolerance)
    assert sample.truth.mean() == pytest.approx(prior, abs=tolerance)
    assert sample.truth[~sample.labeled].mean() == pytest.approx(alpha, abs=tolerance)
    assert sample.truth[sample.labeled].mean() == pytest.approx(beta, abs=tolerance)
    labeled_positives = sample.labeled[sample.truth].mean()
    assert labeled_positives == pytest.approx(frequency, abs=tolerance)
    # The population of a one-sample design is the pooled data.
    assert sample.proportions.prior("population", sample.counts) == pytest.approx(
        prior, abs=tolerance
    )
