"""Audits against enumeration, and how often their intervals cover over many simulations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special, stats

import purecover as pu
from purecover.audit.combine import ARCSINE, Nodes, _bootstrapped, combine_audit
from purecover.audit.plan import between, plan_audit
from purecover.audit.posterior import alpha_from_audit
from purecover.audit.strata import plan_strata, stratified_audit
from purecover.exceptions import IdentifiabilityError, RecoveryWarning

# -- plans --------------------------------------------------------------------------------------


def kept(n, width, alphas, *, size=None, level=0.95, prior="jeffreys") -> float:
    """The least probability of an interval at most so wide, by enumeration of all there is."""
    k = np.arange(n + 1)
    options = {"confidence_level": level, "prior": prior, "n_unlabeled": size}
    narrow = np.array([alpha_from_audit(i, n, **options).alpha.width <= width for i in k.tolist()])
    if size is None:
        odds = stats.binom.pmf(k, n, np.linspace(*alphas, 201)[:, None])
    else:
        low, high = np.ceil(alphas[0] * size - 1e-9), np.floor(alphas[1] * size + 1e-9)
        if low > high:
            low = high = round(sum(alphas) / 2 * size)
        step = 1 if size <= 2000 else 20
        odds = stats.hypergeom.pmf(k, size, np.arange(low, high + 1, step)[:, None], n)
    return float((odds @ narrow).min())


@pytest.mark.parametrize(
    ("size", "width", "alphas"),
    [
        (60, 0.2, (0, 1)),
        (200, 0.15, (0, 0.5)),
        (150, 0.05, (0, 1)),
        (500, 0.1, (0, 1)),
        (700, 0.08, (0.02, 0.1)),
    ],
)
def test_the_plan_of_few_examples_is_the_smallest_by_enumeration(size, width, alphas) -> None:
    plan = plan_audit(width=width, n_unlabeled=size, alpha_guess=alphas)
    assert plan.probability == pytest.approx(kept(plan.n_items, width, alphas, size=size), abs=1e-9)
    assert plan.probability >= 0.9
    assert kept(plan.n_items - 1, width, alphas, size=size) < 0.9


def test_plans_of_few_examples_at_random() -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        size, low = int(rng.integers(2, 130)), float(rng.uniform(0, 0.7))
        ranges = [(0.0, 1.0), (low, float(rng.uniform(low, 1))), (low, low)]
        alphas = ranges[rng.integers(3)]
        width, assurance = float(rng.uniform(0.02, 0.6)), float(rng.choice([0.5, 0.9, 0.99]))
        options = {
            "level": float(rng.choice([0.05, 0.3, 0.8, 0.95, 0.99])),
            "prior": ["jeffreys", "uniform", (2, 8), (30, 30)][rng.integers(4)],
        }
        plan = plan_audit(
            width=width,
            n_unlabeled=size,
            alpha_guess=alphas,
            assurance=assurance,
            confidence_level=options["level"],
            prior=options["prior"],
        )
        n = plan.n_items
        found = kept(n, width, alphas, size=size, **options)
        case = size, width, alphas, assurance, options, n
        assert found == pytest.approx(plan.probability, abs=1e-9), case
        assert found >= assurance - 1e-9, case
        assert n == 1 or kept(n - 1, width, alphas, size=size, **options) < assurance, case
        for more in range(n + 1, min(size, n + 6) + 1):
            assert kept(more, width, alphas, size=size, **options) >= assurance - 1e-9, case


@pytest.mark.parametrize(
    ("size", "width", "alphas"), [(3000, 0.1, (0, 1)), (2500, 0.05, (0.01, 0.05)), (4000, 0.2, 0.3)]
)
def test_the_plan_of_many_examples_keeps_its_promise(size, width, alphas) -> None:
    plan = plan_audit(width=width, n_unlabeled=size, alpha_guess=alphas)
    found = kept(plan.n_items, width, plan.alpha_range, size=size)
    assert found >= plan.probability - 1e-9 >= 0.9 - 1e-9
    fewer = int(0.94 * plan.n_items)
    assert kept(fewer, width, plan.alpha_range, size=size) < 0.9  # hardly larger than need be


@pytest.mark.parametrize(("size", "width"), [(10**5, 0.01), (10**9, 1e-4), (10**7, 1e-3)])
def test_plans_of_very_many_examples_follow_the_textbook(size, width) -> None:
    plan = plan_audit(width=width, n_unlabeled=size, alpha_guess=0.3)
    everyone = (2 * 1.96 / width) ** 2 * 0.21
    assert plan.n_items == pytest.approx(everyone / (1 + everyone / size), rel=0.02)
    k = int(0.3 * plan.n_items)
    found = alpha_from_audit(k, plan.n_items, n_unlabeled=size).alpha.width
    assert 0.98 * width < found <= 1.001 * width


@pytest.mark.parametrize(
    ("options", "alphas"),
    [
        ({"width": 0.1, "prior": (50, 50)}, (0, 1)),
        ({"width": 0.1, "prior": (50, 50)}, (0, 0.05)),
        ({"width": 0.02, "confidence_level": 0.1}, (0, 1)),
        ({"width": 0.005, "confidence_level": 0.05, "prior": "uniform"}, (0, 0.3)),
        ({"width": 0.05, "confidence_level": 0.3, "prior": (1, 30)}, (0.0, 1.0)),
    ],
)
def test_none_and_all_are_part_of_the_promise(options, alphas) -> None:
    """Their intervals reach the edge, and are the widest of all at times."""
    plan = plan_audit(alpha_guess=alphas, **options)
    found = kept(
        plan.n_items,
        options["width"],
        alphas,
        level=options.get("confidence_level", 0.95),
        prior=options.get("prior", "jeffreys"),
    )
    assert found >= 0.9
    assert plan.probability == pytest.approx(found, abs=2e-3)


def test_probabilities_of_whole_ranges_are_hypergeometric() -> None:
    positives = np.array([0, 3, 40, 500, 900])
    low, high, n = (np.full(5, each) for each in (20, 70, 100))
    expected = stats.hypergeom.cdf(70, 1000, positives, 100) - stats.hypergeom.cdf(
        19, 1000, positives, 100
    )
    np.testing.assert_allclose(between(low, high, n, 1000, positives), expected, atol=1e-12)
    # With so many that the normal distribution stands for it.
    many = 3 * 10**5 * np.ones(1, dtype=np.int64)
    found = between(many - 300, many + 200, np.array([10**6]), 10**7, 10 * many)
    expected = np.diff(stats.hypergeom.cdf([299_699, 300_200], 10**7, 3 * 10**6, 10**6))
    np.testing.assert_allclose(found, expected, atol=1e-4)


# -- edges --------------------------------------------------------------------------------------


def test_a_prior_that_rules_out_the_edge_keeps_the_interval_from_it() -> None:
    posterior = stats.beta(50, 80)
    found = alpha_from_audit(0, 30, prior=(50, 50)).alpha
    assert (found.low, found.high) == pytest.approx(tuple(posterior.ppf([0.025, 0.975])))
    assert alpha_from_audit(0, 30, prior=(50, 50), n_unlabeled=10**4).alpha.low > 0.3
    assert alpha_from_audit(30, 30, prior=(1, 50)).alpha.high < 1
    assert alpha_from_audit(0, 30, prior=(1, 50)).alpha.low == 0


@pytest.mark.parametrize(("k", "end"), [(10**9, 1.0), (0, 0.0)])
def test_a_posterior_at_one_point_has_ends(k, end) -> None:
    found = alpha_from_audit(k, 10**9, prior=(1e-9, 1e-9)).alpha
    assert (found.low, found.estimate, found.high) == pytest.approx((end, end, end), abs=1e-15)


def test_strata_reach_0_and_1_as_a_plain_audit_does() -> None:
    sizes, n = [10**6, 9 * 10**6], [100, 200]
    found = stratified_audit(sizes, [100, 0], n)
    assert found.precision[0].high == 1
    assert found.recall[0].high == 1
    assert found.shares[0] == alpha_from_audit(100, 100, n_unlabeled=10**6).alpha
    assert found.shares[1].low == 0
    assert 0 < found.alpha.low < 0.1 < found.alpha.high
    nothing = stratified_audit(sizes, [0, 0], n)
    assert (nothing.alpha.low, nothing.precision[0].low) == (0, 0)
    assert (nothing.recall[0].low, nothing.recall[0].high) == (0, 1)
    assert stratified_audit(sizes, n, n).alpha.high == 1
    known = stratified_audit(sizes, [0, 0], n, prior=(20, 20))
    assert known.alpha.low > 0


def test_few_answers_in_a_stratum_are_told() -> None:
    with pytest.warns(RecoveryWarning, match=r"2 judged of 900 examples in stratum 2.*\n.*join"):
        stratified_audit([100, 900], [5, 1], [10, 2])
    with pytest.warns(RecoveryWarning, match=r"stratum 3 \(2 strata have fewer than 5\)"):
        stratified_audit([100, 900, 900], [5, 1, 0], [10, 4, 1])
    # All of a small stratum, or a plain audit: nothing to warn of.
    stratified_audit([2, 900], [1, 10], [2, 50])
    stratified_audit([900], [1], [2])


@pytest.mark.parametrize(("n_strata", "n_each"), [(20, 5), (20, 15), (10, 10)])
def test_the_prior_of_many_strata_does_not_make_positives(n_strata, n_each) -> None:
    sizes, n = np.full(n_strata, 1000), np.full(n_strata, n_each)
    shares = special.expit(20 * (0.1 - np.linspace(0, 1, n_strata)))
    positives = np.rint(1000 * shares).astype(int)
    rng = np.random.default_rng(n_each)
    alpha = positives.sum() / sizes.sum()
    audits = [
        stratified_audit(
            sizes,
            rng.hypergeometric(positives, sizes - positives, n),
            n,
            n_draws=500,
            random_state=rng,
        ).alpha
        for _ in range(400)
    ]
    assert np.mean([each.estimate for each in audits]) == pytest.approx(alpha, abs=0.012)
    assert np.mean([alpha in each for each in audits]) > 0.9


def test_many_strata_drawn_together_are_as_one_by_one(monkeypatch) -> None:
    sizes, n = np.full(12, 1000), np.full(12, 15)
    k = np.array([15, 14, 9, 5, 2, 1, 0, 0, 1, 0, 0, 0])
    together = stratified_audit(sizes, k, n, n_draws=100_000)
    monkeypatch.setattr("purecover.audit.strata._MANY", 12)
    singly = stratified_audit(sizes, k, n, n_draws=100_000)
    for one, other in zip(
        (together.alpha, *together.precision, *together.recall),
        (singly.alpha, *singly.precision, *singly.recall),
        strict=True,
    ):
        assert (one.low, one.estimate, one.high) == pytest.approx(
            (other.low, other.estimate, other.high), abs=0.006
        )


def designs() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Sizes of strata, shares of positives in them, and how many of each are judged."""
    found = {}
    steep, middling, flat = (0.1, 20), (0.3, 10), (0.5, 6)
    for n_strata, n_each, (middle, slope) in (
        (2, 50, middling),
        (3, 100, steep),
        (5, 20, steep),
        (10, 10, flat),
        (20, 5, middling),
        (20, 15, steep),
    ):
        shares = special.expit(slope * (middle - np.linspace(0, 1, n_strata)))
        sizes, n = np.full(n_strata, 20_000 // n_strata), np.full(n_strata, n_each)
        found[f"{n_strata} of {n_each}, middle at {middle}"] = sizes, shares, n
    for n_strata in (3, 10):
        sizes = np.rint(20_000 * 2.0 ** np.arange(n_strata) / 2**n_strata).astype(int)
        shares = special.expit(12 * (0.3 - np.linspace(0, 1, n_strata)))
        found[f"{n_strata} growing, as Neyman has it"] = (
            sizes,
            shares,
            plan_strata(sizes, 150, shares=shares),
        )
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", designs())
def test_intervals_of_strata_cover_in_many_designs(name) -> None:
    sizes, shares, n = designs()[name]
    positives = np.rint(sizes * shares).astype(int)
    above = np.cumsum(positives)
    truth = [
        above[-1] / sizes.sum(),
        *(above / np.cumsum(sizes))[:-1],
        *(above / above[-1])[:-1],
    ]
    rng = np.random.default_rng(3)
    hits = np.zeros(len(truth))
    runs = 1000 if sizes.size <= 10 else 400
    for _ in range(runs):
        k = rng.hypergeometric(positives, sizes - positives, n)
        found = stratified_audit(sizes, k, n, n_draws=500, random_state=rng)
        intervals = found.alpha, *found.precision, *found.recall
        hits += [value in each for value, each in zip(truth, intervals, strict=True)]
    coverage = hits / runs
    assert coverage[0] > 0.87
    assert coverage.min() > 0.84
    assert coverage.mean() > 0.92


# -- scores and audit together --------------------------------------------------------------------


def told(low: float, estimate: float, high: float) -> pu.Interval:
    return pu.Interval(estimate=estimate, low=low, high=high, confidence_level=0.95, method="told")


def test_nothing_is_open_once_all_are_judged() -> None:
    scores = told(0.1, 0.25, 0.4)
    audits = {
        0.25: alpha_from_audit(30, 120, n_unlabeled=120),
        0.24: stratified_audit([10, 40], [8, 4], [10, 40]),
        0.3: alpha_from_audit(3 * 10**5, 10**6, n_unlabeled=10**6),
    }
    for alpha, audit in audits.items():
        found = combine_audit(scores, audit).intervals["alpha"]
        assert (found.low, found.estimate, found.high) == pytest.approx((alpha, alpha, alpha))


@pytest.mark.parametrize("prior", ["jeffreys", "uniform", (20, 80)])
@pytest.mark.parametrize(("k", "n", "size"), [(30, 120, 130), (30, 120, 1500), (3, 10, 2600)])
def test_the_likelihood_of_few_examples_is_hypergeometric(k, n, size, prior) -> None:
    """By enumeration of the number of positives."""
    positives = np.arange(size + 1)
    ends = special.logit([0.1, 0.4])
    limits = special.logit((positives[1:] - 0.5) / size)
    reached = stats.norm.cdf(limits, ends.mean(), np.ptp(ends) / (2 * 1.959963985))
    weight = np.diff(np.concatenate(([0], reached, [1])))
    weight *= stats.hypergeom.pmf(k, size, positives, n)
    if prior == (20, 80):
        weight *= stats.betabinom.pmf(positives, size, 20, 80)
    weight /= weight.sum()
    audit = alpha_from_audit(k, n, n_unlabeled=size, prior=prior)
    found = combine_audit(told(0.1, 0.25, 0.4), audit).intervals["alpha"]
    assert found.estimate == pytest.approx(weight @ positives / size, abs=2e-4)
    expected = positives[np.searchsorted(np.cumsum(weight), [0.025, 0.975])] / size
    # With more than 2000 examples not each of them is looked at.
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1.01 / min(size, 500))


def test_more_judged_of_the_same_examples_is_more_certain() -> None:
    scores = told(0.1, 0.25, 0.4)
    widths = [
        combine_audit(scores, alpha_from_audit(30, 120, n_unlabeled=size)).intervals["alpha"].width
        for size in (121, 150, 300, 1900, 2100, 10**6)
    ]
    assert widths == sorted(widths)
    everyone = combine_audit(scores, 30, 120).intervals["alpha"].width
    assert widths[-1] == pytest.approx(everyone, rel=0.01)
    one = combine_audit(scores, stratified_audit([10**6], [30], [120])).intervals["alpha"]
    assert one.width == pytest.approx(everyone, rel=0.02)


def test_a_prior_counts_for_what_it_knows() -> None:
    scores = told(0.1, 0.25, 0.4)
    plain = combine_audit(scores, 3, 10).proportions.alpha
    for prior in ("jeffreys", "uniform"):
        audit = alpha_from_audit(3, 10, prior=prior)
        assert combine_audit(scores, audit).proportions.alpha == pytest.approx(plain)
    informed = combine_audit(scores, alpha_from_audit(3, 10, prior=(201, 801)))
    counted = combine_audit(scores, 203, 1010)
    assert informed.proportions.alpha == pytest.approx(counted.proportions.alpha, abs=1e-5)
    assert informed.intervals["alpha"].width == pytest.approx(
        counted.intervals["alpha"].width, rel=1e-3
    )


def test_the_kernel_has_room_for_an_alpha_of_0() -> None:
    rng = np.random.default_rng(2)
    alpha = np.where(rng.random(2000) < 0.2, 0.0, 0.01 * rng.gamma(2, size=2000))
    nodes = Nodes.smoothed(alpha, np.ones(2000), np.ones(2000), "draws", ARCSINE)
    grid = nodes.grid(np.zeros(1))
    density = nodes.density(grid).sum(axis=0)
    reached = np.cumsum(density) / density.sum()
    for share in (0.3, 0.5, 0.9, 0.975):
        found = grid[np.searchsorted(reached, share)]
        assert found == pytest.approx(np.quantile(alpha, share), abs=0.003)


@pytest.mark.slow
@pytest.mark.parametrize(("n_unlabeled", "alpha"), [(10**6, 0.001), (3000, 0.02)])
def test_replicates_at_0_stay_there(n_unlabeled, alpha) -> None:
    """Against the replicates themselves, weighted by the likelihood of 1 positive of 20."""
    world = pu.simulate.binormal(separation=2.0)
    sample = world.sample(300, n_unlabeled, alpha=alpha, random_state=3)
    fitted = pu.FittedRoc().fit(sample.scores, sample.labeled)
    found = combine_audit(fitted, 1, 20)
    draws = _bootstrapped(fitted, 300, np.random.default_rng(0))
    assert draws is not None
    shares = draws[:, 0]
    assert (shares == 0).any()
    assert found.from_scores.high == pytest.approx(np.quantile(shares, 0.975), abs=0.004)
    weight = shares * (1 - shares) ** 19
    assert found.proportions.alpha == pytest.approx(weight @ shares / weight.sum(), abs=0.001)
    order = np.argsort(shares)
    reached = np.cumsum(weight[order]) / weight.sum()
    low, high = shares[order][np.searchsorted(reached, [0.025, 0.975])]
    both = found.intervals["alpha"]
    assert (both.low, both.high) == pytest.approx((low, high), abs=0.004)


def test_the_posterior_of_the_label_curve_is_weighted_as_it_is() -> None:
    """Without any kernel, by brute force over its nodes."""
    sample = pu.simulate.binormal(separation=2.0).sample(300, 3000, alpha=0.3, random_state=4)
    fitted = pu.LabelCurve().fit(sample.scores, sample.labeled)
    nodes = fitted._solve(fitted._counts)[0]
    alpha, weight = nodes.alpha[0], nodes.weight[0]
    for k in (24, 30, 36):
        both = weight * stats.binom.pmf(k, 100, alpha)
        found = combine_audit(fitted, k, 100)
        assert found.proportions.alpha == pytest.approx(both @ alpha / both.sum(), abs=0.008)


@pytest.mark.parametrize("estimate", [1e-7, 0.0])
def test_an_alpha_of_next_to_nothing(estimate) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = combine_audit(told(0.0, estimate, 1e-6), 0, 10)
        assert 0 <= found.proportions.alpha < 1e-6
        assert found.from_scores.high == pytest.approx(1e-6, rel=0.01)
        assert combine_audit(told(0.0, estimate, 1e-6), 5, 10).conflict
        ones = combine_audit(told(1 - 1e-6, 1 - estimate, 1.0), 10, 10)
        assert ones.proportions.alpha > 1 - 1e-6
        assert combine_audit(told(1e-15, 2e-15, 3e-15), 0, 10).proportions.alpha < 1e-11


def test_scores_that_leave_nothing_yield_to_an_audit_of_all() -> None:
    audit = alpha_from_audit(900, 1000, n_unlabeled=1000)
    found = combine_audit(told(0.1, 0.11, 0.12), audit)
    assert found.conflict
    assert found.proportions.alpha == pytest.approx(0.9)
    with pytest.raises(IdentifiabilityError, match="no alpha that both"):
        combine_audit(told(0.1, 0.11, 0.12), alpha_from_audit(50, 50, n_unlabeled=50))


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, 400, 10_000])
def test_the_combination_covers_over_a_thousand_simulations(size) -> None:
    rng = np.random.default_rng(6)
    ends = special.logit([0.1, 0.4])
    alphas = special.expit(rng.normal(ends.mean(), np.ptp(ends) / (2 * 1.96), 1000))
    hits = []
    for alpha in alphas:
        if size is None:
            audit = alpha_from_audit(int(rng.binomial(100, alpha)), 100)
        else:
            positives = round(alpha * size)
            alpha = positives / size  # noqa: PLW2901
            k = int(rng.hypergeometric(positives, size - positives, 100))
            audit = alpha_from_audit(k, 100, n_unlabeled=size)
        found = combine_audit(told(0.1, 0.2, 0.4), audit).intervals["alpha"]
        hits.append(found.low - 1e-12 <= alpha <= found.high + 1e-12)
    assert 0.933 < np.mean(hits) < 0.98  # 2.5 standard errors; whole numbers cover a little more
