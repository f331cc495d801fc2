"""Every check: a world where it fires, one where it stays quiet, and where it does not apply."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import purecover as pu
from purecover import simulate
from purecover.checks import CHECKS, CheckContext, list_checks, run_checks
from purecover.checks.base import contrast, critical_value, shortfall
from purecover.counts import ScoreCounts
from purecover.estimators.estimate import PriorEstimate
from purecover.estimators.sources import KindsTest, RankTest, SourcesEstimate
from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover.intervals import Interval
from purecover.proportions import MixtureProportions
from purecover.recovery.curves import recover_roc

PAGES = Path(__file__).parents[1] / "docs" / "checks"
RESERVED = {"PU013", "PU020"}

# Checks look at values that the scores contradict, too, and at true values of separable classes,
# which are at the edge of what scores allow: one sample in forty is beyond it by chance.
pytestmark = pytest.mark.filterwarnings("ignore:.*contradict these scores")


def context_of(counts, alpha, beta=1.0, **more):
    p = MixtureProportions(alpha, beta)
    return CheckContext(counts=counts, proportions=p, roc=recover_roc(counts, p), **more)


def drawn(world, *, n=(1000, 10_000), alpha=0.25, beta=1.0, says=None, seed=0, **more):
    """A context drawn with alpha and beta, evaluated with those of ``says``."""
    sample = world.sample(*n, alpha=alpha, beta=beta, random_state=seed)
    return context_of(sample.counts, *(says or (alpha, beta)), **more)


def with_negatives(world, n_negative, *, says, seed=0, n=(1000, 10_000)):
    """Known negatives, drawn as the negatives of the world, beside the sample."""
    rng = np.random.default_rng(seed)
    sample = world.sample(*n, alpha=0.25, random_state=rng)
    pure = world.sample(1, n_negative, alpha=0.0, random_state=rng)
    scores = np.concatenate([sample.scores, pure.scores[~pure.labeled]])
    kinds = np.concatenate([sample.labeled.astype(int), np.full(n_negative, -1)])
    counts = ScoreCounts.from_scores(scores, kinds, positive_label=1, negative_label=-1)
    return context_of(counts, says)


def tallies(labeled, unlabeled, alpha, beta=1.0, **more):
    """Counts at given scores, highest first."""
    thresholds = np.arange(len(labeled), 0, -1)
    return context_of(ScoreCounts.from_counts(thresholds, labeled, unlabeled), alpha, beta, **more)


def tied(digits):
    sample = simulate.beta().sample(100, 1000, alpha=0.25, random_state=0)
    return context_of(ScoreCounts.from_scores(sample.scores.round(digits), sample.labeled), 0.25)


BINORMAL = simulate.binormal(1.5)


def copied(times):
    sample = BINORMAL.sample(100, 200, alpha=0.25, random_state=0)
    counts = ScoreCounts.from_scores(sample.scores, sample.labeled)
    return context_of(replace(counts, labeled=times * counts.labeled), 0.25)


def forest(*, own_rows):
    """Scores of a forest, half of whose positives are labeled."""
    X, y = make_classification(800, 8, n_informative=5, class_sep=0.7, random_state=0)
    labeled = (y == 1) & (np.random.default_rng(0).random(800) < 0.5)
    model = RandomForestClassifier(40, min_samples_leaf=1, random_state=0)
    scores = pu.cross_fit_scores(model, X, labeled, cv=3, random_state=0)
    if own_rows:
        scores = model.fit(X, labeled).predict_proba(X)[:, 1]
    return context_of(ScoreCounts.from_scores(scores, labeled), 0.25)


def easy_positives():
    """Only positives with a score above 1.5 were labeled; alpha is 0.4."""
    rng = np.random.default_rng(0)
    labeled = rng.normal(1.5, 1, 5000)
    sample = BINORMAL.sample(1, 10_000, alpha=0.4, random_state=rng)
    return ScoreCounts.from_scores(
        np.concatenate([labeled[labeled > 1.5], sample.scores[~sample.labeled]]),
        np.arange(int((labeled > 1.5).sum()) + 10_000) < (labeled > 1.5).sum(),
    )


def clear_cases_left_out(seed=0, n=(1000, 10_000)):
    """Of the positives among the best three tenths, three in ten get labeled as others do."""
    rng = np.random.default_rng(seed)
    sample = simulate.binormal(2).sample(4 * n[0], n[1], alpha=0.25, random_state=rng)
    positives = sample.scores[sample.labeled]
    clear = positives > np.quantile(positives, 0.7)
    labeled = positives[rng.random(positives.size) < np.where(clear, 0.3, 1.0)][: n[0]]
    scores = np.concatenate([labeled, sample.scores[~sample.labeled]])
    counts = ScoreCounts.from_scores(scores, np.arange(scores.size) < labeled.size)
    return context_of(counts, 0.25)


def ten_examples():
    scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
    context = context_of(ScoreCounts.from_scores(scores, [1, 1, 0, 1, 0, 1, 0, 0, 0, 0]), 0.25)
    assert context.roc.n_outside > 0  # or staying quiet would be no feat
    return context


def constant_with_negatives():
    return context_of(ScoreCounts.from_counts([1], [30], [30], negative=[30]), 0.2)


def estimated(alpha=0.25, beta=1.0, **more):
    """A context whose proportions an estimator found."""
    estimation = PriorEstimate(
        estimator="AlphaMax", proportions=MixtureProportions(alpha, beta), **more
    )
    return drawn(BINORMAL, n=(200, 1000), says=(alpha, beta), estimation=estimation)


@dataclass(frozen=True)
class Audited:
    """Alpha and beta of judged rows, with what speaks against them."""

    doubt: str
    unlike: str = ""
    disagreement: float | None = 0.1

    @property
    def believed(self):
        return MixtureProportions(0.25)

    def draws(self, n):
        return np.column_stack((np.linspace(0.2, 0.3, n), np.ones(n)))


def audited(doubt, **more):
    """A context whose proportions come from scores and judged rows."""
    return drawn(BINORMAL, n=(200, 1000), audit=Audited(doubt, **more))


def alpha_between(low, high):
    """The interval of an estimated alpha."""
    ends = {"estimate": (low + high) / 2, "low": low, "high": high, "confidence_level": 0.95}
    return {"alpha": Interval(**ends, method="posterior")}


def dated(probability, p_value):
    test = RankTest(probability=probability, p_value=p_value, n_first=50, n_second=50)
    return drawn(BINORMAL, dates=test)


def kinds(found, p_value):
    expected = {"bat": 5.0, "bird": 5.0}
    test = KindsTest(found={"bat": found, "bird": 10 - found}, expected=expected, p_value=p_value)
    return drawn(BINORMAL, kinds=test)


def estimate_of(*ends):
    """An estimate of alpha, with the interval between both ends if there are any."""
    intervals = alpha_between(*ends) if ends else {}
    return PriorEstimate(
        estimator="AlphaMax", proportions=MixtureProportions(0.25), intervals=intervals
    )


def counted(n_positive, p_value=0.5, **more):
    """Two sources that imply so many positives; alpha implies 450."""
    ends = {"low": n_positive - 50, "high": n_positive + 50, "confidence_level": 0.95}
    number = Interval(estimate=n_positive, method="log-normal, Chapman", **ends)
    test = RankTest(probability=0.6, p_value=p_value, n_first=50, n_second=150)
    sources = SourcesEstimate(n_positive=number, n_labeled=200, dependence=None, preference=test)
    return drawn(BINORMAL, n=(200, 1000), sources=sources, **more)


CASES = {
    "PU001 fired: delta 0.09": lambda: drawn(BINORMAL, alpha=0.66, beta=0.75),
    "PU001 quiet: delta 0.5": lambda: drawn(BINORMAL, beta=0.75),
    "PU002 fired: alpha overstated": lambda: drawn(BINORMAL, says=(0.4, 1.0)),
    "PU002 fired: beta understated": lambda: drawn(
        simulate.binormal(2.5), beta=0.9, says=(0.25, 0.75)
    ),
    "PU002 fired: labeled are the easy positives": lambda: context_of(easy_positives(), 0.4),
    "PU002 quiet: right, clean": lambda: drawn(BINORMAL),
    "PU002 quiet: right, noisy labels": lambda: drawn(BINORMAL, beta=0.75),
    "PU002 quiet: right, separable": lambda: drawn(simulate.binormal(20), beta=0.9),
    "PU002 quiet: ten examples": ten_examples,
    "PU002 not applicable: nothing corrected": lambda: drawn(BINORMAL, says=(0.0, 1.0)),
    "PU002 not applicable: constant scores": lambda: tallies([5], [5], 0.2),
    "PU003 fired: few above": lambda: drawn(BINORMAL, threshold=4.5),
    "PU003 fired: few below": lambda: drawn(BINORMAL, threshold=-2.0),
    "PU003 fired: none above": lambda: drawn(BINORMAL, threshold=99.0),
    "PU003 quiet: many": lambda: drawn(BINORMAL, threshold=1.0),
    "PU003 quiet: ten and ten": lambda: tallies([10, 10], [50, 50], 0.1, threshold=2.0),
    "PU003 fired: nine and eleven": lambda: tallies([9, 11], [50, 50], 0.1, threshold=2.0),
    "PU003 not applicable: no threshold": lambda: drawn(BINORMAL),
    "PU004 fired: at an end": lambda: estimated(0.89, at_edge=True),
    "PU004 quiet: inside": lambda: estimated(0.25),
    "PU004 not applicable: given": lambda: drawn(BINORMAL),
    "PU011 quiet: taken as clean": lambda: estimated(beta_estimated=True, clean_p_value=0.4),
    "PU011 fired: noisy, perhaps": lambda: estimated(
        beta=0.97, beta_estimated=True, clean_p_value=0.06
    ),
    "PU011 fired: noisy": lambda: estimated(beta=0.8, beta_estimated=True, clean_p_value=0.001),
    "PU011 quiet: probably clean": lambda: estimated(
        beta=0.99, beta_estimated=True, clean_probability=0.7
    ),
    "PU011 fired: hardly clean": lambda: estimated(
        beta=0.9, beta_estimated=True, clean_probability=0.01
    ),
    "PU011 not applicable: not asked": estimated,
    "PU011 not applicable: no test": lambda: estimated(beta_estimated=True),
    "PU011 not applicable: given": lambda: drawn(BINORMAL),
    "PU012 fired: improbable answers": lambda: audited("the scores make them improbable"),
    "PU012 quiet: likely answers": lambda: audited(""),
    "PU012 not applicable: no audit": estimated,
    "PU022 fired: easy positives first": lambda: audited("", unlike="strata do not fit"),
    "PU022 quiet: labels at random": lambda: audited(""),
    "PU022 not applicable: one stratum": lambda: audited("", disagreement=None),
    "PU023 fired: clear cases first": lambda: dated(0.6, 1e-4),
    "PU023 fired: clear cases last": lambda: dated(0.4, 0.04),
    "PU023 quiet: by chance": lambda: dated(0.6, 0.2),
    "PU023 not applicable: no dates": estimated,
    "PU024 quiet: as many as alpha implies": lambda: counted(450),
    "PU024 fired: more": lambda: counted(600),
    "PU024 fired: fewer": lambda: counted(300),
    "PU024 quiet: as many as an estimate allows": lambda: counted(
        300, estimation=estimate_of(0.05, 0.3)
    ),
    "PU024 quiet: an estimate without interval": lambda: counted(600, estimation=estimate_of()),
    "PU024 quiet: as many as judged rows allow": lambda: counted(500, audit=Audited("")),
    "PU024 fired: clear cases more often": lambda: counted(450, 1e-4),
    "PU024 not applicable: no sources": estimated,
    "PU025 fired: one kind less": lambda: kinds(8, 1e-3),
    "PU025 fired: one kind more": lambda: kinds(2, 0.03),
    "PU025 quiet: by chance": lambda: kinds(6, 0.4),
    "PU025 not applicable: no kinds": estimated,
    "PU017 fired: not identifiable": lambda: estimated(identifiable=False),
    "PU017 quiet: identifiable": estimated,
    "PU017 not applicable: given": lambda: drawn(BINORMAL),
    "PU019 fired: a factor of sixty": lambda: estimated(0.05, intervals=alpha_between(0.002, 0.12)),
    "PU019 fired: from below one positive": lambda: estimated(
        0.05, intervals=alpha_between(0.0, 0.12)
    ),
    "PU019 quiet: a factor of two": lambda: estimated(0.05, intervals=alpha_between(0.04, 0.08)),
    "PU019 fired: not rare": lambda: estimated(0.2, intervals=alpha_between(0.005, 0.3)),
    "PU019 fired: not identifiable": lambda: estimated(
        identifiable=False, intervals=alpha_between(0.005, 0.3)
    ),
    "PU019 not applicable: no interval": lambda: estimated(intervals={}),
    "PU019 not applicable: given": lambda: drawn(BINORMAL),
    "PU018 fired: overlooked": lambda: estimated(clean_p_value=0.001),
    "PU018 quiet: compatible": lambda: estimated(clean_p_value=0.4),
    "PU018 not applicable: estimated": lambda: estimated(
        beta=0.9, beta_estimated=True, clean_p_value=0.001
    ),
    "PU018 not applicable: beta given": lambda: estimated(beta_given=True, clean_p_value=0.001),
    "PU018 not applicable: no test": estimated,
    "PU018 not applicable: given": lambda: drawn(BINORMAL),
    "PU005 fired: one digit": lambda: tied(1),
    "PU005 fired: classes": lambda: tied(0),
    "PU005 quiet: three digits": lambda: tied(3),
    "PU005 quiet: no ties among eight": lambda: tallies([1, 0] * 4, [0, 1] * 4, 0.1),
    "PU005 fired: ties among eight": lambda: tallies([2, 0] * 4, [0, 2] * 4, 0.1),
    "PU005 fired: rows twice": lambda: copied(2),
    "PU005 quiet: rows once": lambda: copied(1),
    "PU005 quiet: groups of copies": lambda: replace(copied(2), n_groups=300),
    "PU021 fired: trained on": lambda: forest(own_rows=True),
    "PU021 quiet: held out": lambda: forest(own_rows=False),
    "PU021 fired: apart": lambda: tallies([40, 10, 0], [0, 1, 999], 0.1),
    "PU021 quiet: good scores": lambda: drawn(simulate.binormal(4)),
    "PU021 not applicable: no hidden positive": lambda: tallies([50, 0], [0, 50], 0),
    "PU021 not applicable: few": lambda: tallies([15, 0], [0, 50], 0.1),
    "PU006 fired: clear cases left out": clear_cases_left_out,
    "PU006 quiet: random": lambda: drawn(BINORMAL),
    "PU006 quiet: random, all positives alike": lambda: drawn(simulate.binormal(8)),
    "PU006 quiet: random, wide positives": lambda: drawn(simulate.binormal(1.0, 3.0)),
    # Too many labels at the top look like good scores.
    "PU006 quiet: only clear cases": lambda: context_of(easy_positives(), 0.4),
    "PU006 fired: a third rarer at the top": lambda: tallies(
        [100, 300, 100], [400, 700, 3400], 0.1
    ),
    "PU006 not applicable: few labeled": lambda: drawn(BINORMAL, n=(15, 3000)),
    "PU006 not applicable: inverted": lambda: drawn(simulate.binormal(-1.5)),
    "PU006 not applicable: constant scores": lambda: tallies([50], [50], 0.2),
    "PU006 not applicable: groups": lambda: replace(clear_cases_left_out(), n_groups=50),
    "PU007 fired: scores only": lambda: drawn(BINORMAL),
    "PU007 quiet: proportions too": lambda: drawn(BINORMAL, interval_varies_proportions=True),
    "PU007 not applicable: nothing corrected": lambda: drawn(BINORMAL, says=(0.0, 1.0)),
    "PU008 fired: inverted": lambda: drawn(simulate.binormal(-1.5)),
    "PU008 fired: delta too small": lambda: drawn(simulate.binormal(3), says=(0.7, 1.0)),
    "PU008 fired: constant scores": lambda: tallies([5], [5], 0.2),
    "PU008 quiet: right": lambda: drawn(BINORMAL),
    "PU009 fired: wide positives": lambda: drawn(simulate.binormal(1.0, 3.0)),
    "PU009 quiet: concave": lambda: drawn(BINORMAL),
    "PU009 quiet: concave, small": lambda: drawn(BINORMAL, n=(30, 300)),
    "PU009 quiet: constant scores": lambda: tallies([5], [5], 0.2),
    "PU009 not applicable: one labeled": lambda: tallies([1, 0], [1, 1], 0.2),
    "PU010 fired: few labeled": lambda: drawn(BINORMAL, n=(9, 100)),
    "PU010 fired: few unlabeled": lambda: drawn(BINORMAL, n=(50, 29)),
    "PU010 fired: few groups": lambda: replace(drawn(BINORMAL), n_groups=19),
    "PU010 quiet: just enough": lambda: drawn(BINORMAL, n=(10, 30)),
    "PU010 quiet: just enough groups": lambda: replace(drawn(BINORMAL), n_groups=20),
    "PU016 fired: best of these data": lambda: replace(
        drawn(BINORMAL, threshold=0.7), threshold_chosen=False
    ),
    "PU016 quiet: corrected": lambda: replace(
        drawn(BINORMAL, threshold=0.7), threshold_chosen=False, optimism=(0.02, -0.01)
    ),
    "PU016 quiet: given": lambda: drawn(BINORMAL, threshold=0.7),
    "PU016 not applicable: none": lambda: drawn(BINORMAL),
    "PU015 fired: no positives": lambda: replace(drawn(BINORMAL), prior=0.0),
    "PU015 fired: nothing else": lambda: replace(drawn(BINORMAL), prior=1.0),
    "PU015 quiet: both": lambda: replace(drawn(BINORMAL), prior=0.01),
    "PU015 not applicable: not said": lambda: drawn(BINORMAL),
    "PU014 fired: alpha overstated": lambda: with_negatives(BINORMAL, 1000, says=0.4),
    "PU014 fired: alpha understated": lambda: with_negatives(BINORMAL, 1000, says=0.1),
    "PU014 quiet: right": lambda: with_negatives(BINORMAL, 1000, says=0.25),
    "PU014 quiet: far more negatives": lambda: with_negatives(
        simulate.binormal(0.1), 20_000, says=0.25, n=(100, 300)
    ),
    "PU014 not applicable: a few": lambda: with_negatives(BINORMAL, 19, says=0.4),
    "PU014 not applicable: none": lambda: drawn(BINORMAL),
    "PU014 not applicable: constant scores": constant_with_negatives,
}
"""Contexts by code, status and what is special."""


@pytest.mark.parametrize("case", CASES)
def test_cases(case):
    code, status = case.partition(":")[0].split(" ", 1)
    result = CHECKS[code].run(CASES[case]())
    assert result.status == status, str(result)
    assert result.message.endswith(".")
    assert bool(result.hint) == (status == "fired")


def test_every_check_has_cases_for_firing_and_for_staying_quiet():
    kinds_of_case = {case.partition(":")[0] for case in CASES}
    assert {f"{code} {status}" for code in CHECKS for status in ("fired", "quiet")} <= kinds_of_case


@pytest.mark.parametrize("weight", [1.0, 7.5])
def test_equal_weights_change_nothing(weight):
    sample = BINORMAL.sample(200, 2000, alpha=0.25, random_state=0)
    plain = context_of(sample.counts, 0.6, threshold=4.0)
    weighted = ScoreCounts.from_scores(
        sample.scores, sample.labeled, sample_weight=np.full(2200, weight)
    )
    other = run_checks(context_of(weighted, 0.6, threshold=4.0))
    assert [r.status for r in other] == [r.status for r in run_checks(plain)]


@pytest.mark.parametrize(
    ("few", "many", "n_few", "n_many", "ratio"),
    [(3, 40, 1000, 100, 0.4), (0, 7, 500, 50, 0.25), (100, 900, 1000, 1000, 0.5), (0, 1, 9, 9, 1)],
)
def test_shortfall_is_the_likelihood_ratio(few, many, n_few, n_many, ratio):
    x, y = few + 0.5, many - 0.5

    def minus_log_likelihood(p, q):
        return -(
            stats.binom(1, q).logpmf(1) * x
            + stats.binom(1, q).logpmf(0) * (n_few - x)
            + stats.binom(1, p).logpmf(1) * y
            + stats.binom(1, p).logpmf(0) * (n_many - y)
        )

    best = optimize.minimize_scalar(
        lambda p: minus_log_likelihood(p, ratio * p),
        bounds=(1e-9, 1 - 1e-9),
        method="bounded",
        options={"xatol": 1e-12},
    )
    free = minus_log_likelihood(y / n_many, x / n_few)
    expected = math.sqrt(2 * (best.fun - free)) if x / n_few < ratio * y / n_many else 0.0
    (found,) = shortfall(np.array([few]), np.array([many]), n_few, n_many, ratio)
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("n", [100, 1e4, 1e8])
@pytest.mark.parametrize("level", [0.005, 0.01])
def test_critical_value_solves_its_equation(n, level):
    z = critical_value(n, level)
    assert math.log(n) * z * stats.norm.pdf(z) == pytest.approx(level, rel=1e-9)


def test_contrast_of_plentiful_counts_is_the_plain_z():
    shares = [np.array([0.30]), np.array([0.40]), np.array([0.55])]
    sizes, c = [1e6, 2e6, 3e6], [0.5, -0.75, 0.25]
    difference = sum(k * share[0] for k, share in zip(c, shares, strict=True))
    assert difference == pytest.approx(-0.0125)
    # Move two of the shares so that the difference is a few standard errors.
    shares[0] = shares[0] + 0.0252
    variance = sum(k**2 * s[0] * (1 - s[0]) / n for k, s, n in zip(c, shares, sizes, strict=True))
    (z,) = contrast(shares, sizes, c)
    assert z == pytest.approx((difference + 0.0126) / math.sqrt(variance), rel=0.02, abs=0.01)


N_RUNS = 300
AT_MOST = 0.01 + 3 * math.sqrt(0.01 * 0.99 / N_RUNS)  # 1 % and three standard errors of the share


WORLDS = {
    "binormal": BINORMAL,
    "separable": simulate.binormal(6.0),
    "nonconcave": simulate.binormal(1.0, 3.0),
    "no pure scores": simulate.laplace(1.0),
}


SOUND = {
    "PU002, few labeled": ("PU002", drawn, {"n": (30, 3000)}),
    "PU002, wrong labels": ("PU002", drawn, {"beta": 0.75}),
    "PU006, few rows": ("PU006", drawn, {"n": (300, 1000)}),
    "PU006": ("PU006", drawn, {}),
    "PU014": ("PU014", with_negatives, {"n_negative": 100, "says": 0.25}),
}


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("case", SOUND)
def test_false_alarm_rate(world, case):
    code, build, options = SOUND[case]
    contexts = (build(world, seed=i, **options) for i in range(N_RUNS))
    assert np.mean([CHECKS[code].run(each).fired for each in contexts]) <= AT_MOST


def test_results_come_in_order_and_as_plain_data():
    results = run_checks(drawn(BINORMAL))
    assert [result.code for result in results] == sorted(CHECKS)
    assert json.loads(json.dumps([r.to_dict() for r in results]))[0]["code"] == "PU001"
    assert list_checks() == tuple(CHECKS.values())
    for result in results:
        assert result.title == CHECKS[result.code].title
        assert str(result).startswith(result.code)
        assert result.fired == ("Hint" in str(result))


def test_nothing_fires_on_a_sound_evaluation():
    context = drawn(BINORMAL, threshold=1.0, interval_varies_proportions=True)
    assert [str(result) for result in run_checks(context) if result.fired] == []


@pytest.mark.parametrize("code", ["PU999", "pu001", *sorted(RESERVED)])
def test_unknown_codes_list_the_known_ones(code):
    with pytest.raises(InvalidInputError, match=code) as error:
        run_checks(drawn(BINORMAL), ignore=["PU001", code])
    assert all(known in str(error.value) for known in CHECKS)


def test_context_is_checked():
    good = drawn(BINORMAL, n=(50, 100))
    parts = {"counts": good.counts, "proportions": good.proportions, "roc": good.roc}
    for name, wrong in {
        **dict.fromkeys((*parts, "interval_varies_proportions"), 1),
        "estimation": "AlphaMax",
        "threshold": math.nan,
    }.items():
        with pytest.raises((InvalidTypeError, InvalidInputError), match=name):
            CheckContext(**{**parts, name: wrong})
    with pytest.raises(InvalidInputError, match="roc"):
        CheckContext(**{**parts, "counts": drawn(BINORMAL, n=(60, 100)).counts})
    found = pu.evaluate(good.counts, n_resamples=0).estimation
    with pytest.raises(InvalidInputError, match=r"'roc'(.|\n)*Hint: build it with recover_roc"):
        CheckContext(**{**parts, "proportions": MixtureProportions(0.1)}, estimation=found)
    with pytest.raises(InvalidTypeError, match="context"):
        run_checks(good.counts)


@pytest.mark.parametrize("check", list_checks(), ids=lambda check: check.code)
def test_every_check_has_its_page(check):
    lines = (PAGES / f"{check.code}.rst").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"{check.code}: {check.title}"
    assert f"Severity: {check.severity}." in lines
    headings = [a for a, b in pairwise(lines) if b and set(b) == {"-"}]
    assert headings == ["How it is found", "Why it matters", "What to do"]


def test_no_page_without_a_check():
    assert {page.stem for page in PAGES.glob("PU*.rst")} == set(CHECKS)
    assert not RESERVED & set(CHECKS)
