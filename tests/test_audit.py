"""Audits: what k of n tells, how many it takes, strata, and scores and audit together."""

from __future__ import annotations

import itertools
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, special, stats

import purecover as pu
from purecover.audit.combine import combine_audit
from purecover.audit.plan import plan_audit
from purecover.audit.posterior import alpha_from_audit
from purecover.audit.strata import plan_strata, strata_of, stratified_audit
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError

# -- alpha from an audit ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "a", "b"), [("jeffreys", 0.5, 0.5), ("uniform", 1, 1), ((2, 8), 2, 8)]
)
@pytest.mark.parametrize(("k", "n"), [(27, 100), (1, 3), (999, 1000)])
def test_the_interval_is_that_of_the_beta_posterior(prior, a, b, k, n) -> None:
    found = alpha_from_audit(k, n, prior=prior, confidence_level=0.9)
    posterior = stats.beta(a + k, b + n - k)
    assert found.posterior == (a + k, b + n - k)
    assert found.alpha.estimate == pytest.approx(posterior.mean())
    np.testing.assert_allclose((found.alpha.low, found.alpha.high), posterior.ppf([0.05, 0.95]))
    assert found.alpha.confidence_level == 0.9


def test_what_was_never_seen_may_not_exist() -> None:
    assert alpha_from_audit(0, 50).alpha.low == 0
    assert alpha_from_audit(50, 50).alpha.high == 1
    assert alpha_from_audit(0, 50, n_unlabeled=90).alpha.low == 0
    assert alpha_from_audit(50, 50, n_unlabeled=90).alpha.high == 1


@pytest.mark.parametrize(("k", "n", "size"), [(3, 10, 25), (0, 4, 9), (20, 40, 41), (7, 7, 30)])
def test_a_finite_population_is_the_hypergeometric_posterior(k, n, size) -> None:
    """Enumerates the number of positives: beta-binomial prior, hypergeometric likelihood."""
    positives = np.arange(size + 1)
    prior = stats.betabinom.pmf(positives, size, 0.5, 0.5)
    weight = prior * stats.hypergeom.pmf(k, size, positives, n)
    weight /= weight.sum()
    found = alpha_from_audit(k, n, n_unlabeled=size).alpha
    assert found.estimate == pytest.approx(weight @ positives / size)
    reached = np.cumsum(weight)
    if k > 0:
        assert found.low == pytest.approx(positives[np.searchsorted(reached, 0.025)] / size)
    if k < n:
        assert found.high == pytest.approx(positives[np.searchsorted(reached, 0.975)] / size)


def test_all_of_them_audited_leaves_no_doubt() -> None:
    found = alpha_from_audit(30, 120, n_unlabeled=120).alpha
    assert (found.estimate, found.low, found.high) == (0.25, 0.25, 0.25)


def test_large_populations_are_continuous_with_small_ones() -> None:
    exact = alpha_from_audit(300, 1000, n_unlabeled=100_999).alpha
    nearly = alpha_from_audit(300, 1000, n_unlabeled=101_001).alpha
    assert nearly.low == pytest.approx(exact.low, abs=2e-5)
    assert nearly.high == pytest.approx(exact.high, abs=2e-5)
    everyone = alpha_from_audit(300, 1000).alpha
    assert alpha_from_audit(300, 1000, n_unlabeled=10**9).alpha.low == pytest.approx(
        everyone.low, abs=1e-6
    )


@pytest.mark.parametrize("n", [30, 100, 400])
def test_the_interval_covers_at_its_level_over_a_thousand_simulations(n) -> None:
    rng = np.random.default_rng(n)
    alpha = rng.uniform(size=1000)
    found = rng.binomial(n, alpha)
    covered = [
        share in alpha_from_audit(k, n).alpha
        for share, k in zip(alpha, found.tolist(), strict=True)
    ]
    assert 0.933 < np.mean(covered) < 0.967  # 2.5 standard errors


@pytest.mark.parametrize("n", [50, 200])
def test_the_interval_covers_fixed_alphas_too(n) -> None:
    """Exact coverage at each alpha, by summation over all outcomes."""
    intervals = [alpha_from_audit(k, n).alpha for k in range(n + 1)]
    low = np.array([interval.low for interval in intervals])
    high = np.array([interval.high for interval in intervals])
    alphas = np.linspace(0.01, 0.99, 197)
    coverage = [
        stats.binom.pmf(np.arange(n + 1), n, alpha) @ ((low <= alpha) & (alpha <= high))
        for alpha in alphas
    ]
    assert np.mean(coverage) == pytest.approx(0.95, abs=0.007)
    assert min(coverage) > 0.87
    assert low[0] == 0  # an alpha of 0 is covered always


def test_the_finite_interval_covers_over_a_thousand_simulations() -> None:
    rng = np.random.default_rng(7)
    size, n = 400, 150
    positives = rng.integers(0, size + 1, 1000)
    found = rng.hypergeometric(positives, size - positives, n)
    covered = []
    widths = []
    for share, k in zip(positives / size, found.tolist(), strict=True):
        interval = alpha_from_audit(k, n, n_unlabeled=size).alpha
        covered.append(interval.low - 1e-12 <= share <= interval.high + 1e-12)
        widths.append(interval.width / alpha_from_audit(k, n).alpha.width)
    assert 0.935 < np.mean(covered) < 0.985  # whole numbers of positives cover a little more
    # The finite population correction of textbooks.
    assert np.median(widths) == pytest.approx((1 - n / size) ** 0.5, abs=0.02)


def test_proportions_go_on_to_recovery() -> None:
    found = alpha_from_audit(27, 100)
    proportions = found.proportions(beta=0.9)
    assert (proportions.alpha, proportions.beta) == (found.alpha.estimate, 0.9)
    assert proportions.origin == "audit"
    with pytest.raises(IdentifiabilityError):
        found.proportions(beta=0.2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((5, 4), "'n_positive' parameter of alpha_from_audit must be a whole number"),
        ((-1, 4), "at least 0"),
        ((0, 0), "'n_audited'"),
        ((1.5, 4), "'n_positive'"),
    ],
)
def test_bad_answers(arguments, says) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=says):
        alpha_from_audit(*arguments)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"prior": "haldane"}, "'prior'"),
        ({"prior": (1, 2, 3)}, "3 values"),
        ({"prior": (0, 1)}, "'prior'"),
        ({"prior": 2}, "two positive numbers"),
        ({"n_unlabeled": 5}, "'n_unlabeled'"),
        ({"confidence_level": 95}, "'confidence_level'"),
    ],
)
def test_bad_options(options, says) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=says):
        alpha_from_audit(3, 10, **options)


# -- how many ---------------------------------------------------------------------------------


def narrow_enough(n: int, width: float, alpha: float, level: float = 0.95) -> float:
    """Probability of an interval at most so wide, by enumeration of all outcomes."""
    k = np.arange(n + 1)
    widths = np.array([alpha_from_audit(i, n, confidence_level=level).alpha.width for i in k])
    return float(stats.binom.pmf(k, n, alpha) @ (widths <= width))


@pytest.mark.parametrize(
    ("width", "guess", "assurance"),
    [
        (0.1, None, 0.9),
        (0.1, (0.05, 0.2), 0.9),
        (0.05, 0.03, 0.8),
        (0.2, (0.6, 0.95), 0.99),
        (0.3, (0.0, 0.1), 0.5),
    ],
)
def test_the_promise_holds_over_a_thousand_simulations(width, guess, assurance) -> None:
    plan = plan_audit(width=width, alpha_guess=guess, assurance=assurance)
    rng = np.random.default_rng(0)
    n = plan.n_items
    low, high = plan.alpha_range
    for alpha in np.linspace(low, high, 7):
        found = rng.binomial(n, alpha, 1000)
        width_of = {k: alpha_from_audit(k, n).alpha.width for k in set(found.tolist())}
        kept = np.mean([width_of[k] <= width for k in found.tolist()])
        assert kept >= assurance - 2.5 * (assurance * (1 - assurance) / 1000) ** 0.5


@pytest.mark.parametrize(
    ("width", "guess"), [(0.2, None), (0.25, (0.05, 0.3)), (0.3, 0.8), (0.15, (0.0, 0.1))]
)
def test_the_number_is_the_smallest_that_keeps_the_promise(width, guess) -> None:
    plan = plan_audit(width=width, alpha_guess=guess)
    alphas = np.linspace(*plan.alpha_range, 41)
    kept = [narrow_enough(plan.n_items, width, alpha) for alpha in alphas]
    assert min(kept) >= 0.9
    assert plan.probability <= min(kept) + 1e-9  # the hardest alpha was found
    assert plan.probability == pytest.approx(
        narrow_enough(plan.n_items, width, plan.hardest_alpha), abs=1e-9
    )
    assert min(narrow_enough(plan.n_items - 1, width, alpha) for alpha in alphas) < 0.9
    for more in (1, 2, 5, 11):
        assert min(narrow_enough(plan.n_items + more, width, a) for a in alphas) >= 0.9


def test_the_promise_of_a_finite_population() -> None:
    plan = plan_audit(width=0.15, alpha_guess=(0.1, 0.3), n_unlabeled=300)
    assert plan.n_items < plan_audit(width=0.15, alpha_guess=(0.1, 0.3)).n_items
    rng = np.random.default_rng(1)
    n = plan.n_items
    for positives in (30, 60, 90):
        found = rng.hypergeometric(positives, 300 - positives, n, 1000).tolist()
        width_of = {k: alpha_from_audit(k, n, n_unlabeled=300).alpha.width for k in set(found)}
        assert np.mean([width_of[k] <= 0.15 for k in found]) >= 0.9 - 0.025
    assert plan_audit(width=0.001, n_unlabeled=40).n_items <= 40


def test_knowing_more_needs_fewer() -> None:
    numbers = [
        plan_audit(width=0.1, alpha_guess=guess).n_items
        for guess in (None, (0.1, 0.4), (0.1, 0.2), 0.1, 0.02)
    ]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == len(numbers)
    # The rule of thumb of textbooks.
    assert numbers[0] == pytest.approx((2 * 1.96 / 0.1) ** 2 / 4, rel=0.02)


def test_guesses_of_all_kinds() -> None:
    sample = pu.simulate.binormal(separation=2.5).sample(300, 3000, alpha=0.2, random_state=0)
    estimator = pu.LabelCurve().fit(sample.scores, sample.labeled)
    interval = estimator.interval_["alpha"]
    expected = interval.low, interval.high
    assert plan_audit(width=0.1, alpha_guess=estimator).alpha_range == expected
    assert plan_audit(width=0.1, alpha_guess=interval).alpha_range == expected
    report = pu.evaluate(sample.scores, sample.labeled, n_resamples=20)
    assert report.estimation is not None
    ends = report.estimation.intervals["alpha"]
    found = plan_audit(width=0.1, alpha_guess=report.estimation)
    assert found.alpha_range == (ends.low, ends.high)
    pilot = alpha_from_audit(8, 40)
    assert plan_audit(width=0.1, alpha_guess=pilot).alpha_range == (
        pilot.alpha.low,
        pilot.alpha.high,
    )
    assert plan_audit(width=0.1, alpha_guess=pu.MixtureProportions(0.2)).alpha_range == (0.2, 0.2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"width": 0}, "'width' parameter of plan_audit"),
        ({"width": 10}, "'width'"),
        ({"width": 0.1, "assurance": 1}, "'assurance'"),
        ({"width": 0.1, "alpha_guess": (0.3, 0.1)}, "rising order"),
        ({"width": 0.1, "alpha_guess": 25}, "0.25 means 25 %"),
        ({"width": 0.1, "alpha_guess": (0.1, 0.2, 0.3)}, "3 values"),
        ({"width": 0.1, "alpha_guess": "low"}, "'alpha_guess'"),
        ({"width": 0.1, "alpha_guess": pu.LabelCurve()}, "fit the estimator first"),
        ({"width": 0.1, "n_unlabeled": 0}, "'n_unlabeled'"),
    ],
)
def test_bad_plans(options, says) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=says):
        plan_audit(**options)


# -- strata -----------------------------------------------------------------------------------


def test_one_stratum_is_a_plain_audit_of_a_finite_population() -> None:
    plain = alpha_from_audit(30, 100, n_unlabeled=500).alpha
    found = stratified_audit([500], [30], [100], n_draws=200_000)
    assert found.alpha.estimate == pytest.approx(plain.estimate, abs=5e-4)
    assert found.alpha.low == pytest.approx(plain.low, abs=0.003)
    assert found.alpha.high == pytest.approx(plain.high, abs=0.003)
    assert found.precision == found.recall == ()


def test_strata_that_are_audited_completely_leave_no_doubt() -> None:
    found = stratified_audit([10, 40], [8, 4], [10, 40])
    assert (found.alpha.low, found.alpha.high) == pytest.approx((0.24, 0.24))
    assert (found.precision[0].low, found.precision[0].high) == pytest.approx((0.8, 0.8))
    assert (found.recall[0].low, found.recall[0].high) == pytest.approx((8 / 12, 8 / 12))
    assert found.n_effective == 50


def test_means_and_variance_are_those_of_stratified_sampling() -> None:
    sizes, k, n = np.array([1000, 5000]), np.array([300, 100]), np.array([400, 1000])
    found = stratified_audit(sizes, k, n, n_draws=100_000)
    share = sizes / sizes.sum()
    p = k / n
    assert found.alpha.estimate == pytest.approx(share @ p, abs=0.002)
    variance = share**2 @ (p * (1 - p) / n * (1 - n / sizes))
    assert found.alpha.width == pytest.approx(2 * 1.96 * variance**0.5, rel=0.02)
    assert found.n_effective > n.sum()


def test_intervals_of_strata_cover_over_a_thousand_simulations() -> None:
    rng = np.random.default_rng(3)
    sizes, n = np.array([400, 1600, 8000]), np.array([80, 80, 160])
    positives = np.array([340, 480, 400])
    alpha = positives.sum() / sizes.sum()
    precision = np.cumsum(positives)[:-1] / np.cumsum(sizes)[:-1]
    recall = np.cumsum(positives)[:-1] / positives.sum()
    hits = np.zeros(5)
    for _ in range(1000):
        k = rng.hypergeometric(positives, sizes - positives, n)
        found = stratified_audit(sizes, k, n, n_draws=1000, random_state=rng)
        intervals = (found.alpha, *found.precision, *found.recall)
        truths = (alpha, *precision, *recall)
        hits += [truth in interval for truth, interval in zip(truths, intervals, strict=True)]
    assert (hits > 925).all(), hits
    assert (hits < 975).all(), hits


def test_strata_find_alpha_better_than_a_plain_audit() -> None:
    sizes = np.array([500, 1500, 8000])
    shares = np.array([0.95, 0.3, 0.01])
    n = plan_strata(sizes, 300, shares=shares)
    found = stratified_audit(sizes, np.rint(n * shares), n)
    plain = alpha_from_audit(round(300 * shares @ sizes / sizes.sum()), 300)
    assert found.alpha.width < 0.7 * plain.alpha.width


def test_neyman_is_the_best_allocation() -> None:
    """Against every allocation of 30 examples to three strata."""
    sizes, shares = np.array([40, 100, 300]), np.array([0.5, 0.2, 0.02])
    spread = sizes * np.sqrt(shares * (1 - shares))

    def variance(n: np.ndarray) -> float:
        return float((spread**2 / n).sum())

    found = plan_strata(sizes, 30, shares=shares, least=1)
    best = min(
        (np.array((i, j, 30 - i - j)) for i, j in itertools.product(range(1, 29), repeat=2)
         if i + j < 30),
        key=variance,
    )  # fmt: skip
    assert found.sum() == 30
    assert variance(found) <= 1.005 * variance(best)


def test_allocations_within_limits() -> None:
    assert plan_strata([500, 1500, 8000], 300).tolist() == [15, 45, 240]
    assert plan_strata([5, 1500], 300, shares=[0.5, 0]).tolist() == [5, 295]
    assert plan_strata([5, 10], 15, shares=[0.5, 0.1]).tolist() == [5, 10]
    assert plan_strata([100, 100], 20, shares=[0, 1]).tolist() == [10, 10]
    assert plan_strata([100, 100], 20, shares=[0.5, 0], least=3).tolist() == [17, 3]


def test_scores_at_a_threshold_lie_above_it() -> None:
    assert strata_of(np.array([0.9, 0.8, 0.5, 0.4]), [0.8, 0.5]).tolist() == [0, 0, 1, 2]
    assert strata_of(np.array([0.9, 0.1]), []).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([10, 10], [1], [2, 2]), "'n_positive' parameter of stratified_audit must be of 2 strata"),
        (([10, 10], [1, 3], [2, 2]), "3 of 2 in stratum 2"),
        (([10, 10], [1, 1], [2, 12]), "12 of 10 in stratum 2"),
        (([10, 10], [1, 0], [2, 0]), "whole numbers of at least 1, got 0"),
        (([10.5], [1], [2]), "10.5"),
    ],
)
def test_bad_strata(arguments, says) -> None:
    with pytest.raises(InvalidInputError, match=says):
        stratified_audit(*arguments)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_items": 9}, "from 10"),
        ({"n_items": 201}, "to 200"),
        ({"n_items": 20, "shares": [0.5]}, "of 2 strata"),
        ({"n_items": 20, "shares": [0.5, 1.5]}, r"in \[0, 1\]"),
    ],
)
def test_bad_allocations(options, says) -> None:
    with pytest.raises(InvalidInputError, match=says):
        plan_strata([100, 100], **options)


# -- scores and audit together ----------------------------------------------------------------


@pytest.fixture(scope="module")
def sample() -> pu.simulate.Sample:
    world = pu.simulate.binormal(separation=2.0)
    return world.sample(500, 5000, alpha=0.3, beta=0.9, random_state=0)


@pytest.fixture(scope="module")
def curve(sample) -> pu.LabelCurve:
    return pu.LabelCurve().fit(sample.scores, sample.labeled)


def interval(low: float, estimate: float, high: float) -> pu.Interval:
    return pu.Interval(estimate=estimate, low=low, high=high, confidence_level=0.95, method="told")


def test_an_interval_is_combined_as_a_logit_normal() -> None:
    """Against SciPy's own quadrature."""
    k, n = 12, 60
    ends = special.logit([0.2, 0.4])
    mean, sd = ends.mean(), (ends[1] - ends[0]) / (2 * 1.959963985)

    def density(x: float) -> float:
        alpha = special.expit(x)
        return float(stats.norm.pdf(x, mean, sd) * stats.binom.pmf(k, n, alpha))

    mass = integrate.quad(density, mean - 8 * sd, mean + 8 * sd)[0]
    first = integrate.quad(lambda x: special.expit(x) * density(x), mean - 8 * sd, mean + 8 * sd)[0]
    found = combine_audit(interval(0.2, 0.29, 0.4), k, n)
    assert found.proportions.alpha == pytest.approx(first / mass, abs=1e-5)
    low = special.logit(found.intervals["alpha"].low)
    below = integrate.quad(density, mean - 8 * sd, low)[0] / mass
    assert below == pytest.approx(0.025, abs=5e-4)
    assert (found.from_scores.low, found.from_scores.high) == pytest.approx((0.2, 0.4), abs=1e-3)
    # The predictive tail, by brute force over draws.
    rng = np.random.default_rng(0)
    drawn = rng.binomial(n, special.expit(rng.normal(mean, sd, 200_000)))
    tail = 2 * min((drawn <= k).mean(), (drawn >= k).mean())
    assert found.tail_probability == pytest.approx(tail, abs=0.01)


def test_both_together_are_narrower_than_either(curve) -> None:
    center = curve.proportions_.alpha
    found = combine_audit(curve, round(200 * center), 200)
    width = found.intervals["alpha"].width
    assert width < found.from_scores.width
    assert width < found.audit.alpha.width
    assert not found.conflict
    # As precisions add up.
    expected = (found.from_scores.width**-2 + found.audit.alpha.width**-2) ** -0.5
    assert width == pytest.approx(expected, rel=0.15)
    assert found.intervals["beta"].low < found.proportions.beta <= 1
    gap = found.intervals["delta"]
    assert gap.estimate == pytest.approx(found.proportions.delta)


def test_the_limits_are_the_scores_and_the_audit(curve) -> None:
    few = combine_audit(curve, 0, 1)
    assert few.proportions.alpha == pytest.approx(curve.proportions_.alpha, abs=0.01)
    assert few.proportions.beta == pytest.approx(curve.proportions_.beta, abs=0.01)
    assert few.from_scores.estimate == pytest.approx(curve.proportions_.alpha, abs=0.003)
    many = combine_audit(curve, 300_000, 1_000_000)
    assert many.proportions.alpha == pytest.approx(0.3, abs=1e-3)
    alone = alpha_from_audit(300_000, 1_000_000).alpha
    assert many.intervals["alpha"].width == pytest.approx(alone.width, rel=0.02)


def test_an_audit_tells_about_beta_too(curve) -> None:
    """More positives among the unlabeled mean cleaner labels: the scores tie the two."""
    more, fewer = (combine_audit(curve, k, 1000).proportions for k in (340, 260))
    assert more.alpha > fewer.alpha
    assert more.beta != pytest.approx(fewer.beta, abs=1e-3)


def test_contradiction_is_told(curve) -> None:
    found = combine_audit(curve, 3, 100)
    assert found.conflict
    assert "trust the audit alone" in str(found)
    agreed = combine_audit(curve, round(100 * curve.proportions_.alpha), 100)
    assert agreed.tail_probability > 0.5
    assert "contradict" not in str(agreed)


def test_false_alarms_are_as_rare_as_they_should_be() -> None:
    rng = np.random.default_rng(5)
    told = interval(0.2, 0.29, 0.4)
    ends = special.logit([0.2, 0.4])
    alphas = special.expit(rng.normal(ends.mean(), np.ptp(ends) / (2 * 1.96), 400))
    alarms = [combine_audit(told, k, 150).conflict for k in rng.binomial(150, alphas).tolist()]
    assert np.mean(alarms) < 0.08


@pytest.mark.parametrize("estimator", [pu.BBE(), pu.NoisyLabels(pu.RocSlope())])
def test_other_estimators_by_their_replicates(sample, estimator) -> None:
    fitted = estimator.fit(sample.scores, sample.labeled)
    found = combine_audit(fitted, 30, 100, n_resamples=200)
    again = fitted.interval(n_resamples=200)["alpha"]
    assert found.from_scores.low == pytest.approx(again.low, abs=0.03)
    assert found.from_scores.high == pytest.approx(again.high, abs=0.03)
    assert found.intervals["alpha"].width < found.audit.alpha.width
    assert found.proportions.origin == f"{type(estimator).__name__} and audit"
    if not fitted.estimates_beta:
        assert found.proportions.beta == 1


def test_the_estimation_of_a_report(sample) -> None:
    report = pu.evaluate(sample.scores, sample.labeled, n_resamples=50)
    assert report.estimation is not None
    found = combine_audit(report.estimation, 30, 100)
    assert found.proportions.beta == report.estimation.proportions.beta
    assert list(found.intervals) == ["alpha"]
    bare = replace(report.estimation, intervals={})
    with pytest.raises(InvalidInputError, match="n_resamples=200"):
        combine_audit(bare, 30, 100)


def test_results_of_audits_are_taken_too(curve) -> None:
    plain = combine_audit(curve, alpha_from_audit(30, 100))
    assert plain.proportions == combine_audit(curve, 30, 100).proportions
    strata = stratified_audit([500, 4500], [90, 20], [100, 100])
    found = combine_audit(curve, strata)
    assert found.audit is strata
    low, high = sorted((strata.alpha.estimate, curve.proportions_.alpha))
    assert low < found.proportions.alpha < high
    with pytest.raises(InvalidInputError, match="'n_audited'"):
        combine_audit(curve, strata, 100)


def test_intervals_that_reach_0_or_1() -> None:
    low = combine_audit(interval(0.0, 0.05, 0.15), 10, 100)
    assert 0.03 < low.proportions.alpha < 0.15
    high = combine_audit(interval(0.6, 0.9, 1.0), 80, 100)
    assert 0.7 < high.proportions.alpha < 0.95
    assert combine_audit(interval(0.0, 0.5, 1.0), 80, 100).proportions.alpha == pytest.approx(
        0.8, abs=0.01
    )


@pytest.mark.parametrize(
    ("estimate", "says"),
    [
        (pu.LabelCurve(), "call fit first"),
        (0.3, "'estimate' parameter of combine_audit"),
        (interval(0.3, 0.3, 0.3), "some width"),
    ],
)
def test_bad_estimates(estimate, says) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        combine_audit(estimate, 3, 10)


@pytest.mark.slow
def test_the_combination_covers_at_its_level() -> None:
    world = pu.simulate.binormal(separation=2.0)
    rng = np.random.default_rng(11)
    hits, widths = [], []
    for seed in range(100):
        alpha = rng.uniform(0.1, 0.6)
        drawn = world.sample(300, 3000, alpha=alpha, random_state=seed)
        fitted = pu.LabelCurve().fit(drawn.scores, drawn.labeled)
        found = combine_audit(fitted, int(rng.binomial(100, alpha)), 100)
        hits.append(alpha in found.intervals["alpha"])
        widths.append(found.intervals["alpha"].width / found.audit.alpha.width)
    assert np.mean(hits) > 0.89  # 2.5 standard errors below the level
    assert np.median(widths) < 0.75


# -- results ----------------------------------------------------------------------------------


def test_results_print_pickle_and_become_json(curve) -> None:
    results = [
        alpha_from_audit(27, 100),
        plan_audit(width=0.1, alpha_guess=(0.1, 0.3)),
        stratified_audit([500, 4500], [90, 20], [100, 100]),
        combine_audit(curve, 30, 100),
    ]
    for result in results:
        document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert document == pickle.loads(pickle.dumps(result)).to_dict()  # noqa: S301
        assert "alpha" in str(result)
        assert max(map(len, str(result).splitlines())) < 180
    strata = results[2]
    assert list(strata.frame()["n_positive"]) == [90, 20]
    with pytest.raises(ValueError, match="read-only"):
        strata.n_positive[0] = 3
