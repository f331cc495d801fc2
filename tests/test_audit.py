"""Audits: plans, intervals of alpha, strata, and what they say together with scores."""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pytest
from scipy import integrate, special, stats

import purecover as pu
from purecover.audit.combine import combine_audit
from purecover.audit.plan import between, plan_audit
from purecover.audit.posterior import alpha_from_audit, plan_strata, stratified_audit
from purecover.audit.top import Cut, expected_top_audit, top_audit, top_cut
from purecover.exceptions import (
    IdentifiabilityError,
    InvalidInputError,
    InvalidTypeError,
)
from purecover.recovery.rates import least_delta

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


def test_proportions_go_on_to_recovery() -> None:
    found = alpha_from_audit(27, 100)
    proportions = found.proportions(beta=0.9)
    assert (proportions.alpha, proportions.beta) == (found.alpha.estimate, 0.9)
    assert proportions.origin == "audit, beta given"
    assumed = found.proportions()
    assert (assumed.beta, assumed.origin) == (1, "audit, beta assumed")
    with pytest.raises(IdentifiabilityError):
        found.proportions(beta=0.2)


# -- how many ---------------------------------------------------------------------------------


# -- strata -----------------------------------------------------------------------------------


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


# -- high scores alone ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "beta", "tpr", "fpr"),
    [(0.3, 1.0, 0.7, 0.05), (0.6, 0.9, 0.7, 0.3), (0.1, 0.5, 0.9, 0.02), (0.45, 0.55, 0.6, 0.2)],
)
def test_the_answers_above_a_cut_tell_both_proportions(alpha, beta, tpr, fpr) -> None:
    """Of very many examples, as many as expected are judged in each part."""
    size, judged = 10**7, 2 * 10**5
    shares = [share * tpr + (1 - share) * fpr for share in (beta, alpha)]
    numbers = [[round(size * share), size - round(size * share)] for share in shares]
    counts = pu.ScoreCounts.from_counts([1, 0], *numbers)
    found = top_audit(
        counts,
        1,
        round(judged * alpha * tpr / shares[1]),
        judged,
        labeled_positive=[
            round(judged * beta * tpr / shares[0]),
            round(judged * beta * (1 - tpr) / (1 - shares[0])),
        ],
        labeled_audited=[judged, judged],
        n_draws=200_000,
    )
    assert found.alpha.estimate == pytest.approx(alpha, abs=0.01)
    assert found.beta.estimate == pytest.approx(beta, abs=0.01)
    assert found.recall.estimate == pytest.approx(tpr, abs=0.02)
    assert found.precision.estimate == pytest.approx(alpha * tpr / shares[1], abs=0.01)
    given = top_audit(counts, 1, found.n_positive, judged, beta=beta).alpha
    assert given.estimate == pytest.approx(alpha, abs=0.01)


def test_nothing_is_open_above_the_cut_once_all_are_judged() -> None:
    counts = pu.ScoreCounts.from_counts([1, 0], [70, 30], [20, 180])
    found = top_audit(counts, 1, 14, 20)
    assert found.precision.low == pytest.approx(0.7)
    assert found.precision.high == pytest.approx(0.7)
    assert 0.07 <= found.alpha.low < 0.1 < found.alpha.high
    assert top_audit(counts, 1, 0, 10).alpha.low == 0
    every = pu.ScoreCounts.from_counts([1], [50], [200])
    plain = alpha_from_audit(12, 40, n_unlabeled=200).alpha
    assert top_audit(every, 1, 12, 40).alpha.low == pytest.approx(plain.low, abs=0.01)


def judged_at_the_top(rng, n, *, alpha, beta, separation) -> tuple[float, pu.audit.TopAudit]:
    """Alpha of a simulated sample, and what n unlabeled and n labeled rows of it tell."""
    world = pu.simulate.binormal(separation=separation)
    sample = world.sample(500, 3000, alpha=alpha, beta=beta, random_state=rng)
    cut = top_cut(sample.counts)
    above, below = Cut.of(sample.counts, cut).spread(n)
    high, labeled = sample.scores >= cut, sample.labeled
    parts = (~labeled & high, n), (labeled & high, above), (labeled & ~high, below)
    k, *hits = (
        int(sample.truth[rng.choice(np.flatnonzero(mask), size, replace=False)].sum())
        for mask, size in parts
    )
    beside = {} if beta == 1 else {"labeled_positive": hits, "labeled_audited": (above, below)}
    audit = top_audit(sample.counts, cut, k, n, n_draws=2000, random_state=rng, **beside)
    return float(sample.truth[~labeled].mean()), audit


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_scores_and_an_audit_of_the_top_together_cover(beta) -> None:
    rng = np.random.default_rng(8)
    found = []
    for _ in range(200):
        truth, audit = judged_at_the_top(rng, 30, alpha=0.3, beta=beta, separation=2.0)
        center = special.logit(truth) + rng.normal(0, 0.2)
        ends = special.expit(center + np.array([-1.96, 0, 1.96]) * 0.2)
        both = combine_audit(told(*ends), audit).intervals["alpha"]
        found.append((truth in both, both.width, audit.alpha.width))
    hits, widths, alone = np.mean(found, axis=0)
    assert 0.92 < hits < 0.985
    assert widths < 0.95 * alone


def test_the_plan_for_the_top_is_what_the_audit_needs() -> None:
    sample = pu.simulate.binormal(separation=2.0).sample(1000, 5000, alpha=0.3, random_state=0)
    plan = plan_audit(width=0.12, alpha_guess=0.3, design="top", counts=sample.counts)
    assert plan.n_labeled_items == 0
    assert plan.n_items < plan_audit(width=0.12, alpha_guess=0.3).n_items / 4
    share = 0.3 * (sample.counts.labeled[sample.counts.thresholds >= plan.cut].sum() / 1000)
    share *= 5000 / plan.n_unlabeled
    rng = np.random.default_rng(0)
    widths = [
        top_audit(sample.counts, plan.cut, int(k), plan.n_items, n_draws=4000).alpha.width
        for k in rng.binomial(plan.n_items, share, 60)
    ]
    assert np.mean(np.array(widths) <= 1.03 * plan.width) > 0.85
    expected = expected_top_audit(sample.counts, pu.MixtureProportions(0.3), plan.n_items)
    assert expected.cut == plan.cut
    assert expected.alpha.width == pytest.approx(np.median(widths), rel=0.1)
    assert 0.921 in expected.auc
    noisy = plan_audit(width=0.2, alpha_guess=0.3, design="top", counts=sample.counts, beta=0.9)
    assert noisy.n_labeled_items == noisy.n_items


def test_labeled_answers_count_in_the_combination(sample, curve) -> None:
    cut = top_cut(sample.counts)
    audit = top_audit(sample.counts, cut, 20, 30, labeled_positive=(17, 6), labeled_audited=(21, 9))
    both, clean = (
        combine_audit(curve, each) for each in (audit, top_audit(sample.counts, cut, 20, 30))
    )
    assert both.intervals["beta"].estimate < clean.intervals["beta"].estimate
    sure = pu.estimators.LabelCurve(clean="always").fit(sample.scores, sample.labeled)
    with pytest.raises(InvalidInputError, match="allows wrong labels"):
        combine_audit(sure, audit)


# -- scores and audit together ----------------------------------------------------------------


def test_a_report_varies_what_scores_and_audit_leave_open(sample, curve) -> None:
    both = combine_audit(curve, 31, 100)
    options = {"n_resamples": 400, "random_state": 0}
    sure, open_ = (
        pu.evaluate(sample.scores, sample.labeled, proportions=each, **options)
        for each in (both.proportions, both)
    )
    assert open_.proportions == sure.proportions
    assert open_.auc == sure.auc
    for name in ("roc_auc", "auc_pr", "precision"):
        assert open_.intervals[name].width > 1.2 * sure.intervals[name].width
        assert open_.intervals[name].varied == "scores and proportions"
    again = pu.PUReport.from_json(open_.to_json())
    assert again.intervals["roc_auc"] == open_.intervals["roc_auc"]
    fired = [{each.code for each in report.findings} for report in (sure, open_)]
    assert fired[0] - fired[1] == {"PU007"}
    # Where nothing varies them, they are not silently taken as certain.
    with pytest.raises(InvalidTypeError, match="nothing here varies them") as refused:
        pu.compare_scores({"a": sample.scores}, sample.labeled, proportions=both)
    assert "believed" in str(refused.value)
    with pytest.raises(InvalidInputError, match="'proportions' carry one"):
        pu.evaluate(sample.scores, sample.labeled, proportions=both, beta=0.5)


@pytest.mark.parametrize("n_audited", [20, 40, 100, 400])
def test_chance_in_an_audit_is_no_contradiction(n_audited: int) -> None:
    # Nearly separable scores, whose observed AUC leaves no room above the true alpha.
    sample = pu.simulate.binormal(5.0).sample(2000, 8000, alpha=0.3, random_state=0)
    scores = told(0.1, 0.3, 0.6)
    least, unlucky = least_delta(sample.counts), 0
    for share in np.arange(0.1, 0.85, 0.05):
        both = combine_audit(scores, round(share * n_audited), n_audited)
        report = pu.evaluate(sample.counts, proportions=both, n_resamples=0)
        alpha, beta = both.draws(4000, np.random.default_rng(1)).T
        possible = float((beta - alpha >= least).mean())
        severe = [each.severity for each in report.findings if each.code == "PU008"]
        if possible > 0.04:
            assert not report.contradicted
            assert "error" not in severe
            unlucky += both.believed.delta < least
        if possible < 0.015:
            assert report.contradicted
            assert severe == ["error"]
            assert "drawn at random and judged right" in report.contradiction
    assert unlucky


def test_draws_are_those_of_the_posterior(curve) -> None:
    rng = np.random.default_rng(0)
    for n_positive in (31, 3):  # the second contradicts the scores
        both = combine_audit(curve, n_positive, 100)
        assert both.conflict == (n_positive == 3)
        alpha, beta = both.draws(20_000, rng).T
        interval = both.audit.alpha if both.conflict else both.intervals["alpha"]
        assert alpha.mean() == pytest.approx(both.believed.alpha, abs=interval.width / 20)
        np.testing.assert_allclose(
            np.quantile(alpha, (0.025, 0.975)),
            (interval.low, interval.high),
            atol=interval.width / 10,
        )
        assert np.all(alpha < beta)
        assert beta.mean() == pytest.approx(both.proportions.beta, abs=0.02)


@pytest.fixture(scope="module")
def sample() -> pu.simulate.Sample:
    world = pu.simulate.binormal(separation=2.0)
    return world.sample(500, 5000, alpha=0.3, beta=0.9, random_state=0)


@pytest.fixture(scope="module")
def curve(sample) -> pu.estimators.LabelCurve:
    return pu.estimators.LabelCurve().fit(sample.scores, sample.labeled)


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
    found = combine_audit(told(0.2, 0.29, 0.4), k, n)
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


def test_contradiction_is_told(curve) -> None:
    found = combine_audit(curve, 3, 100)
    assert found.conflict
    assert "trust the audit alone" in str(found)
    agreed = combine_audit(curve, round(100 * curve.proportions_.alpha), 100)
    assert agreed.tail_probability > 0.5
    assert "contradict" not in str(agreed)


@pytest.mark.parametrize(
    "estimator", [pu.estimators.BBE(), pu.estimators.NoisyLabels(pu.estimators.RocSlope())]
)
def test_other_estimators_by_their_replicates(sample, estimator) -> None:
    fitted = estimator.fit(sample.scores, sample.labeled)
    found = combine_audit(fitted, 30, 100, n_resamples=200)
    again = fitted.interval(n_resamples=200)["alpha"]
    assert found.from_scores.low == pytest.approx(again.low, abs=0.03)
    assert found.from_scores.high == pytest.approx(again.high, abs=0.03)
    assert found.intervals["alpha"].width < found.audit.alpha.width
    whence = ", beta from the scores" if fitted.estimates_beta else ""
    assert found.proportions.origin == f"{type(estimator).__name__} and audit{whence}"
    if not fitted.estimates_beta:
        assert found.proportions.beta == 1


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "width", "alphas"),
    [
        (60, 0.2, (0, 1)),
        (700, 0.08, (0.02, 0.1)),
        (None, 0.25, (0.05, 0.3)),
    ],
)
def test_the_plan_of_few_examples_is_the_smallest_by_enumeration(size, width, alphas) -> None:
    plan = plan_audit(width=width, n_unlabeled=size, alpha_guess=alphas)
    assert plan.probability == pytest.approx(kept(plan.n_items, width, alphas, size=size), abs=1e-9)
    assert plan.probability >= 0.9
    assert kept(plan.n_items - 1, width, alphas, size=size) < 0.9


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


# -- strata --------------------------------------------------------------------------------------


def designs() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Sizes of strata, shares of positives in them, and how many of each are judged."""
    found = {}
    for n_strata, n_each, (middle, slope) in ((2, 50, (0.3, 10)), (10, 10, (0.5, 6))):
        shares = special.expit(slope * (middle - np.linspace(0, 1, n_strata)))
        sizes, n = np.full(n_strata, 20_000 // n_strata), np.full(n_strata, n_each)
        found[f"{n_strata} of {n_each}, middle at {middle}"] = sizes, shares, n
    for n_strata in (3, 6):
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
    runs = 120
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


def told(low: float, estimate: float, high: float) -> pu.intervals.Interval:
    return pu.intervals.Interval(
        estimate=estimate, low=low, high=high, confidence_level=0.95, method="told"
    )


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


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, 400])
def test_the_combination_covers(size) -> None:
    rng = np.random.default_rng(6)
    ends = special.logit([0.1, 0.4])
    alphas = special.expit(rng.normal(ends.mean(), np.ptp(ends) / (2 * 1.96), 250))
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
    assert 0.933 < np.mean(hits) < 0.98  # whole numbers cover a little more


def test_results_print_pickle_and_become_json(curve) -> None:
    results = [
        alpha_from_audit(27, 100),
        plan_audit(width=0.1, alpha_guess=(0.1, 0.3)),
        stratified_audit([500, 4500], [90, 20], [100, 100]),
        combine_audit(curve, 30, 100),
        top_audit(pu.ScoreCounts.from_counts([1, 0], [70, 30], [500, 4500]), 1, 24, 30),
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
