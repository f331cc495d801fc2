"""Worlds with known answers: checked against scipy.stats, brute force and one another."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy import integrate, stats

from purecover import simulate
from purecover._validation import check_real
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover.proportions import MixtureProportions

STEPS = ([0.0, 0.1, 0.3, 0.2, 0.4], [0.3, 0.3, 0.0, 0.4, 0.0], [0.0, 1.0, 2.0, 4.0, 4.5, 7.0])

WORLDS = {
    "binormal": simulate.binormal(1.5),
    "separated": simulate.binormal(6.0),
    "narrow positives": simulate.binormal(1.0, 0.4),
    "worse than chance": simulate.binormal(-0.5),
    "nonconcave": simulate.nonconcave(),
    "laplace": simulate.laplace(2.0),
    "beta": simulate.beta(),
    "beta, U-shaped": simulate.beta((0.9, 0.5), (0.5, 0.9)),
    "beta, ratio turns": simulate.beta((5.0, 3.0), (2.0, 1.0)),
    "rising steps": simulate.histogram([0.1, 0.3, 0.6], [0.6, 0.3, 0.1]),
    "steps with holes": simulate.histogram(*STEPS),
}
REFERENCE = {
    "binormal": (stats.norm(1.5), stats.norm()),
    "separated": (stats.norm(6.0), stats.norm()),
    "narrow positives": (stats.norm(1.0, 0.4), stats.norm()),
    "worse than chance": (stats.norm(-0.5), stats.norm()),
    "nonconcave": (stats.norm(1.0, 3.0), stats.norm()),
    "laplace": (stats.laplace(2.0), stats.laplace()),
    "beta": (stats.beta(5, 2), stats.beta(2, 5)),
    "beta, U-shaped": (stats.beta(0.9, 0.5), stats.beta(0.5, 0.9)),
    "beta, ratio turns": (stats.beta(5, 3), stats.beta(2, 1)),
    "rising steps": (
        stats.rv_histogram((np.array([0.1, 0.3, 0.6]), np.linspace(0, 1, 4)), density=False),
        stats.rv_histogram((np.array([0.6, 0.3, 0.1]), np.linspace(0, 1, 4)), density=False),
    ),
    "steps with holes": (
        stats.rv_histogram((np.array(STEPS[0]), np.array(STEPS[2])), density=False),
        stats.rv_histogram((np.array(STEPS[1]), np.array(STEPS[2])), density=False),
    ),
}


@pytest.fixture(params=list(WORLDS))
def case(request):
    return request.param


def thresholds_of(case: str) -> np.ndarray:
    positive, negative = REFERENCE[case]
    inner = np.linspace(0.003, 0.997, 60)
    return np.unique(np.concatenate([positive.ppf(inner), negative.ppf(inner)]))


# -- densities and rates ------------------------------------------------------------------


def test_rates_and_densities_agree_with_scipy(case):
    world, t = WORLDS[case], thresholds_of(case)
    positive, negative = REFERENCE[case]
    np.testing.assert_allclose(world.tpr(t), positive.sf(t), atol=1e-14, rtol=1e-12)
    np.testing.assert_allclose(world.fpr(t), negative.sf(t), atol=1e-14, rtol=1e-12)
    mid = (t[1:] + t[:-1]) / 2  # scipy and we own bin edges differently
    np.testing.assert_allclose(world.positive_density(mid), positive.pdf(mid), rtol=1e-10)
    np.testing.assert_allclose(world.negative_density(mid), negative.pdf(mid), rtol=1e-10)


def test_roc_passes_through_every_pair_of_rates(case):
    world, t = WORLDS[case], thresholds_of(case)
    # Where negatives have no density several thresholds share one fpr; the curve takes the
    # lowest of them, hence the largest tpr.
    assert (world.roc(world.fpr(t)) >= world.tpr(t) - 1e-9).all()
    u = np.linspace(0, 1, 400)
    curve = world.roc(u)
    assert curve[-1] == 1
    assert (np.diff(curve) >= -1e-12).all()
    assert ((curve >= 0) & (curve <= 1)).all()
    if case != "steps with holes":
        np.testing.assert_allclose(world.roc(world.fpr(t)), world.tpr(t), atol=1e-9)


def test_roc_is_concave_where_it_says_so(case):
    world = WORLDS[case]
    u = np.linspace(0, 1, 501)
    bend = np.diff(world.roc(u), 2)
    assert world.is_concave == bool((bend <= 1e-9).all())


def test_scalars_give_floats_and_arrays_keep_their_shape():
    world = simulate.binormal()
    assert type(world.tpr(0.5)) is float
    assert world.tpr(np.zeros((2, 3))).shape == (2, 3)
    assert world.tpr(-math.inf) == 1
    assert world.tpr(math.inf) == 0


# -- areas --------------------------------------------------------------------------------


def test_auc_equals_the_area_under_the_curve(case):
    world = WORLDS[case]
    assert world.partial_auc(1.0) == pytest.approx(world.auc, abs=1e-11)


def test_auc_is_the_chance_that_a_positive_outranks_a_negative(case):
    positive, negative = REFERENCE[case]
    p = (np.arange(4000) + 0.5) / 4000
    ones, zeros = positive.ppf(p), negative.ppf(p)
    wins = np.searchsorted(np.sort(zeros), ones).mean() / zeros.size
    assert WORLDS[case].auc == pytest.approx(wins, abs=1e-3)


def test_partial_auc_against_direct_integration(case):
    world = WORLDS[case]
    u = np.linspace(0, 0.3, 200_001)
    brute = integrate.trapezoid(world.roc(u), u)
    assert world.partial_auc(0.3) == pytest.approx(brute, abs=2e-6)


def test_auc_pr_against_adaptive_integration_over_scores(case):
    if case == "beta, U-shaped":
        pytest.skip("its density has a pole; see the closed form below")
    world = WORLDS[case]
    positive, _ = REFERENCE[case]
    if case in {"steps with holes", "rising steps"}:
        cuts = [*world.parameters["edges"]]
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


def test_reference_values_of_the_binormal_world():
    world = simulate.binormal(1.5)
    assert world.auc == pytest.approx(stats.norm.cdf(1.5 / math.sqrt(2)), abs=1e-15)
    assert world.auc_pr(0.25) == pytest.approx(0.6919450, abs=5e-8)
    assert world.auc_pr(0.1) == pytest.approx(0.4780717, abs=5e-8)
    assert world.partial_auc(0.1) == pytest.approx(0.0410842, abs=5e-8)
    assert world.partial_auc(0.3) == pytest.approx(0.1878831, abs=5e-8)


def test_closed_forms_known_by_hand():
    assert simulate.beta((2, 1), (1, 2)).auc == pytest.approx(5 / 6, abs=1e-13)
    assert simulate.beta((1, 1), (3, 1)).auc == pytest.approx(1 / 4, abs=1e-13)
    # tpr is the square root of fpr here, so precision is prior / (prior + (1 - prior) tpr).
    root = simulate.beta((1, 0.5), (1, 1))
    assert root.auc == pytest.approx(2 / 3, abs=1e-13)
    assert root.auc_pr(0.2) == pytest.approx(0.25 * math.log(5), abs=1e-12)
    assert simulate.laplace(0.0).auc == 0.5
    assert simulate.binormal(0.0).auc == 0.5
    assert simulate.nonconcave().auc == pytest.approx(0.624, abs=5e-4)


def test_auc_pr_of_a_chance_ranking_is_the_prior():
    for world in (simulate.binormal(0.0), simulate.laplace(0.0), simulate.beta((2, 3), (2, 3))):
        assert world.auc_pr(0.3) == pytest.approx(0.3, abs=1e-12)


def test_auc_pr_of_one_step_is_the_segment_area():
    # Two bins make two straight ROC pieces, whose area under precision-recall is elementary.
    world = simulate.histogram([0.5, 0.5], [0.9, 0.1])
    prior = 0.25

    def segment(x1, y1, x2, y2):  # x1 > 0
        s = (x2 - x1) / (y2 - y1)
        a, b = prior + (1 - prior) * s, (1 - prior) * (x1 - s * y1)
        return prior * ((y2 - y1) / a - b / a**2 * math.log((a * y2 + b) / (a * y1 + b)))

    constant_precision = prior / (prior + (1 - prior) * 0.2)
    expected = 0.5 * constant_precision + segment(0.1, 0.5, 1, 1)
    assert world.auc_pr(prior) == pytest.approx(expected, abs=1e-12)


# -- prior-dependent figures --------------------------------------------------------------


def test_precision_and_posterior_follow_bayes(case):
    world, t = WORLDS[case], thresholds_of(case)
    positive, negative = REFERENCE[case]
    t = t[(positive.sf(t) > 0) | (negative.sf(t) > 0)]
    expected = 0.3 * positive.sf(t) / (0.3 * positive.sf(t) + 0.7 * negative.sf(t))
    np.testing.assert_allclose(world.precision(t, 0.3), expected, rtol=1e-9)
    mid = (t[1:] + t[:-1]) / 2
    p1, p0 = 0.3 * positive.pdf(mid), 0.7 * negative.pdf(mid)
    np.testing.assert_allclose(world.posterior(mid, 0.3), p1 / (p1 + p0), rtol=1e-9)


def test_posterior_does_not_drown_in_the_tails():
    world = simulate.binormal(1.5)
    assert world.posterior(60.0, 0.1) == 1.0
    assert 0 < world.posterior(-60.0, 0.1) < 1e-38
    assert math.isnan(simulate.beta().posterior(2.0, 0.1))
    assert math.isnan(world.precision(math.inf, 0.1))


# -- identifiability ----------------------------------------------------------------------


def test_inclusions_are_the_extremes_of_the_density_ratio(case):
    world = WORLDS[case]
    positive, negative = REFERENCE[case]
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


def test_observable_inclusions():
    clean, noisy = MixtureProportions(0.25), MixtureProportions(0.25, 0.75)
    assert simulate.binormal().is_irreducible
    assert simulate.binormal().inclusions(noisy) == pytest.approx((1 / 3, 1 / 3))
    d = 2.0
    a, _ = simulate.laplace(d).inclusions(clean)
    assert a == pytest.approx(0.25 + 0.75 * math.exp(-d))
    # Against the mixture densities themselves.
    world = simulate.nonconcave()
    t = np.linspace(-40, 40, 800_001)
    f1, f0 = world.positive_density(t), world.negative_density(t)
    f, g = 0.25 * f1 + 0.75 * f0, 0.75 * f1 + 0.25 * f0
    a, b = world.inclusions(noisy)
    assert a == pytest.approx((f / g).min(), abs=1e-9)
    assert b == pytest.approx((g / f).min(), abs=1e-9)
    assert not world.is_irreducible


# -- samples ------------------------------------------------------------------------------


def test_scores_follow_the_class_distributions(case):
    world = WORLDS[case]
    sample = world.sample(20_000, 20_000, alpha=0.0, random_state=7)
    positive, negative = REFERENCE[case]
    assert sample.truth[sample.labeled].all()
    assert not sample.truth[~sample.labeled].any()
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
    assert sample.realized_alpha == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / 40_000))
    assert sample.realized_beta == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 40_000))
    assert sample.realized_alpha != 0.3
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
    assert sample.realized_alpha == pytest.approx(alpha, abs=tolerance)
    assert sample.realized_beta == pytest.approx(beta, abs=tolerance)
    labeled_positives = sample.labeled[sample.truth].mean()
    assert labeled_positives == pytest.approx(frequency, abs=tolerance)
    # The population of a one-sample design is the pooled data.
    assert sample.proportions.prior("population", sample.counts) == pytest.approx(
        prior, abs=tolerance
    )


def test_the_seed_decides_everything():
    world = simulate.beta()
    first = world.sample(50, 60, alpha=0.2, random_state=5)
    again = world.sample(50, 60, alpha=0.2, random_state=np.random.default_rng(5))
    other = world.sample(50, 60, alpha=0.2, random_state=6)
    np.testing.assert_array_equal(first.scores, again.scores)
    np.testing.assert_array_equal(first.truth, again.truth)
    assert not np.array_equal(first.scores, other.scores)


def test_samples_are_read_only_and_worlds_can_be_pickled():
    sample = simulate.histogram(*STEPS).sample(5, 5, alpha=0.5, random_state=0)
    for array in (sample.scores, sample.labeled, sample.truth):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        sample.world.auc = 1.0
    again = pickle.loads(pickle.dumps(sample))  # noqa: S301
    np.testing.assert_array_equal(again.scores, sample.scores)
    assert again.world.auc == sample.world.auc


def test_sample_auc_approaches_the_recovery_identity():
    # auc_pu of a large noisy sample is (1 - delta) / 2 + delta * auc.
    world = simulate.laplace(1.0)
    sample = world.sample(40_000, 40_000, alpha=0.25, beta=0.75, random_state=11)
    ones, zeros = sample.scores[sample.labeled], np.sort(sample.scores[~sample.labeled])
    observed = np.searchsorted(zeros, ones).mean() / zeros.size
    se = math.sqrt((1 / 12) * (2 / 40_000))  # of two samples without contrast: an upper bound
    assert observed == pytest.approx(0.25 + 0.5 * world.auc, abs=4 * se)


def test_registry_makes_worlds():
    for name, make in simulate.WORLDS.items():
        assert make().name == name


# -- complaints ---------------------------------------------------------------------------

MISTAKES = [
    (lambda: simulate.binormal("far"), InvalidTypeError, "'separation' parameter of binormal"),
    (lambda: simulate.binormal(1.0, 0.0), InvalidInputError, "positive_sd"),
    (lambda: simulate.binormal(math.nan), InvalidInputError, "separation"),
    (lambda: simulate.laplace(-1.0), InvalidInputError, "separation"),
    (lambda: simulate.beta((1, 2, 3)), InvalidTypeError, "pair of shapes"),
    (lambda: simulate.beta((0.1, 2)), InvalidInputError, "positive"),
    (lambda: simulate.histogram([1, 2], [1, 2, 3]), InvalidInputError, "negative_mass"),
    (lambda: simulate.histogram([0, 0], [1, 2]), InvalidInputError, "positive_mass"),
    (lambda: simulate.histogram([1, -1], [1, 2]), InvalidInputError, "positive_mass"),
    (lambda: simulate.histogram([1e308, 1e308], [1, 2]), InvalidInputError, "positive_mass"),
    (lambda: simulate.histogram([1, 1], [1, 2], [0, 1]), InvalidInputError, "edges"),
    (lambda: simulate.histogram([1, 1], [1, 2], [0, 2, 1]), InvalidInputError, "edges"),
    (lambda: simulate.histogram([1, 1], [1, 2], [-1e308, 0, 1]), InvalidInputError, "edges"),
    (lambda: simulate.binormal().tpr("high"), InvalidTypeError, "threshold"),
    (lambda: simulate.binormal().tpr(math.nan), InvalidInputError, "threshold"),
    (lambda: simulate.binormal().tpr([[1.0], [1.0, 2.0]]), InvalidTypeError, "threshold"),
    (lambda: simulate.binormal().roc(1.5), InvalidInputError, r"in \[0, 1\]"),
    (lambda: simulate.binormal().precision(0.0, 2.0), InvalidInputError, "prior"),
    (lambda: simulate.binormal().auc_pr(0.0), InvalidInputError, "prior"),
    (lambda: simulate.binormal().partial_auc(0.0), InvalidInputError, "max_fpr"),
    (lambda: simulate.binormal().sample(0, 10, alpha=0.1), InvalidInputError, "n_labeled"),
    (lambda: simulate.binormal().sample(1, 1.5, alpha=0.1), InvalidTypeError, "n_unlabeled"),
    (lambda: simulate.binormal().sample(1, 1, alpha=0.9, beta=0.5), IdentifiabilityError, "alpha"),
    (
        lambda: simulate.binormal().sample(1, 1, alpha=0.1, fixed_counts="no"),
        InvalidTypeError,
        "fixed_counts",
    ),
    (
        lambda: simulate.binormal().sample(1, 1, alpha=0.1, random_state="x"),
        InvalidTypeError,
        "random_state",
    ),
    (
        lambda: simulate.binormal().sample_censored(9, prior=0.5, label_frequency=0.9, beta=0.4),
        InvalidInputError,
        "label negatives with probability",
    ),
    (
        lambda: simulate.binormal().sample_censored(9, prior=0.5, label_frequency=0.2, beta=0.4),
        IdentifiabilityError,
        "alpha",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), MISTAKES)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_extreme_but_legal_worlds_stay_finite():
    for world in (
        simulate.binormal(1e6, 1e-4),
        simulate.binormal(-1e6, 1e4),
        simulate.laplace(1e6),
        simulate.beta((1e4, 0.25), (0.25, 1e4)),
        simulate.histogram([1e-300, 1.0], [1.0, 1e-300], [-1e100, 0.0, 1e100]),
    ):
        assert check_real("auc", world.auc, low=0, high=1) == world.auc
        assert 0 <= world.auc_pr(0.01) <= 1 + 1e-12
        assert 0 <= world.partial_auc(1e-9) <= 1e-9 * (1 + 1e-9)
        t = np.array([-math.inf, -1e308, -1.0, 0.0, 0.5, 1e308, math.inf])
        for rates in (world.tpr(t), world.fpr(t)):
            assert rates[0] == 1
            assert rates[-1] == 0
            assert (np.diff(rates) <= 1e-15).all()
        world.posterior(t, 0.5)


def test_parameters_are_read_only() -> None:
    with pytest.raises(TypeError, match="read-only"):
        simulate.binormal(1.5).parameters["separation"] = 3  # type: ignore[index]
