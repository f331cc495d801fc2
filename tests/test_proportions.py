"""`MixtureProportions`: arithmetic of the scenarios, and that naming the scenario is enough."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.strategies import counts, proportions

import purecover as pu
from purecover import MixtureProportions, ScoreCounts
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError

from_case_control = MixtureProportions.from_case_control
from_censoring = MixtureProportions.from_censoring
from_inclusions = MixtureProportions.from_inclusions


def test_frozen_hashable_and_plain():
    p = MixtureProportions(np.float32(0.25), Fraction(3, 4), "estimate", "censoring")
    assert type(p.alpha) is type(p.beta) is float
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.alpha = 0.5  # type: ignore[misc]
    assert MixtureProportions(**json.loads(json.dumps(p.to_dict()))) == p
    assert len({p, MixtureProportions(0.25, 0.75, "estimate", "censoring")}) == 1
    report = pu.evaluate(SCORES, LABELED, alpha=(0.1, 0.9), hits=(1, 2), n_resamples=0)
    found = report.proportions
    assert [each.what for each in found.basis] == ["hits", "alpha"]
    assert MixtureProportions(**json.loads(json.dumps(found.to_dict()))) == found
    assert len({found, found}) == 1


@pytest.mark.parametrize(
    ("alpha", "beta"), [(0.5, 0.5), (0.6, 0.5), (1, 1), (0, 0), (0.3, 0.1), (1.0, 0.999)]
)
def test_alpha_must_be_below_beta(alpha, beta):
    with pytest.raises(IdentifiabilityError, match=r"(?s)needs alpha < beta.*PU001.*Hint:"):
        MixtureProportions(alpha, beta)


@pytest.mark.parametrize("beta", [5e-324, 1e-310, 1e-150])
def test_shares_so_close_that_rates_would_overflow(beta):
    with pytest.raises(IdentifiabilityError, match=r"differ by 1e-100 or more, got alpha=0 and"):
        MixtureProportions(0.0, beta)


def test_the_closest_shares_overflow_nowhere():
    scores = pu.ScoreCounts.from_scores([5, 4, 3, 2, 1, 0], [1, 1, 0, 1, 0, 0])
    report = pu.evaluate(scores, proportions=MixtureProportions(0.0, 1e-100), n_resamples=0)
    assert report.auc_direct > 1e90
    assert report.auc == 1.0


@given(proportions())
def test_inclusions_round_trip(p):
    again = from_inclusions(p.unlabeled_inclusion, p.labeled_inclusion, scenario=p.scenario)
    assert (again.alpha, again.beta) == pytest.approx((p.alpha, p.beta), rel=1e-9, abs=1e-12)
    assert again.scenario == p.scenario


@given(counts(max_size=15), st.floats(0, 1), st.floats(0.1, 1))
def test_censoring_is_inverted_by_the_pooled_prior(counted, prior, beta):
    share = counted.labeled_share
    try:
        p = from_censoring(counted, prior=prior, beta=beta)
    except InvalidInputError:
        alpha = (prior - beta * share) / (1 - share)
        assert not (1e-9 < alpha < beta - 1e-9)
        return
    for target in ("pooled", "population"):
        assert p.prior(target, counted) == pytest.approx(prior, abs=1e-9)
    assert p.prior("deployment", counted) == p.alpha


@given(st.floats(0.01, 0.9), st.floats(0.05, 0.99), st.floats(0.2, 1))
def test_prior_and_label_frequency_say_the_same(prior, frequency, beta):
    share = prior * frequency / beta
    assume(share < 0.99)
    alpha = (prior - beta * share) / (1 - share)
    assume(alpha < beta - 0.01)
    by_prior = from_censoring(labeled_share=share, prior=prior, beta=beta)
    by_frequency = from_censoring(labeled_share=share, label_frequency=frequency, beta=beta)
    assert by_prior.alpha == pytest.approx(by_frequency.alpha, rel=1e-9, abs=1e-12)
    # The other closed form: positives left over, over rows left over.
    assert by_prior.alpha == pytest.approx(
        share * beta * (1 - frequency) / (frequency * (1 - share)), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize(
    ("options", "parameter", "match"),
    [
        ({"prior": 0.05}, "prior", r"which makes alpha -0.05556.*\nHint: .*at least .* 0.1"),
        ({"prior": Fraction(99, 100), "beta": 0.1}, "prior", "0.99, which makes alpha 1.089"),
        (
            {"label_frequency": 0.05},
            "label_frequency",
            "which makes alpha 2.111.*above the labeled share, 0.1:",
        ),
        ({"label_frequency": 0}, "label_frequency", r"\(0, 1\]"),
        ({"prior": 0.3, "labeled_share": 0}, "labeled_share", r"\(0, 1\)"),
        ({"prior": 0.3, "labeled_share": None, "counts": 3}, "counts", "a ScoreCounts"),
    ],
)
def test_censoring_refuses(options, parameter, match):
    with pytest.raises(
        (InvalidInputError, InvalidTypeError),
        match=f"(?s)'{parameter}' parameter of MixtureProportions.from_censoring must .*{match}",
    ):
        from_censoring(**{"labeled_share": 0.1, **options})


COUNTED = ScoreCounts.from_counts([1, 2], [10, 10], [60, 20])  # labeled share 1/5


@pytest.mark.parametrize(
    ("scenario", "target", "prior"),
    [
        ("case-control", "population", 0.25),
        ("case-control", "deployment", 0.25),
        ("case-control", "pooled", 0.2 * 0.75 + 0.8 * 0.25),
        ("censoring", "population", 0.2 * 0.75 + 0.8 * 0.25),
        ("censoring", "deployment", 0.25),
        ("censoring", "pooled", 0.2 * 0.75 + 0.8 * 0.25),
        ("censoring", 0.6, 0.6),
        ("case-control", 0, 0.0),
    ],
)
def test_prior_of_a_target(scenario, target, prior):
    p = MixtureProportions(0.25, 0.75, scenario=scenario)
    assert p.prior(target, COUNTED) == pytest.approx(prior, abs=1e-15)
    assert pu.recover_metrics(COUNTED, p, threshold=2, target=target).prior == pytest.approx(prior)


WORLD = pu.simulate.binormal(1.5)
THRESHOLD = 1.0
N = 200_000


def truth(sample, rows):
    """Precision at the threshold among some rows, from the hidden classes."""
    flagged = rows & (sample.scores >= THRESHOLD)
    return float(sample.truth[flagged].mean())


@pytest.mark.parametrize("beta", [1.0, 0.9])
@pytest.mark.parametrize("known", ["prior", "label_frequency"])
def test_censored_data(known, beta):
    prior, frequency = 0.3, 0.5
    sample = WORLD.sample_censored(
        N, prior=prior, label_frequency=frequency, beta=beta, random_state=1
    )
    given_ = {"prior": prior} if known == "prior" else {"label_frequency": frequency}
    report = pu.evaluate(
        sample.scores,
        sample.labeled,
        **given_,
        beta=beta,
        scenario="censoring",
        threshold=THRESHOLD,
        n_resamples=0,
    )
    assert report.proportions.alpha == pytest.approx(
        sample.truth[~sample.labeled].mean(), abs=0.005
    )
    assert report.auc == pytest.approx(WORLD.auc, abs=0.006)
    # The population is everyone who was drawn ...
    everyone = np.ones(len(sample), dtype=bool)
    assert report.metrics.prior == pytest.approx(prior, abs=0.005)
    assert report.metrics["precision"] == pytest.approx(truth(sample, everyone), abs=0.01)
    # ... and the unlabeled alone are another one.
    deployed = pu.recover_metrics(
        report.counts, report.proportions, threshold=THRESHOLD, target="deployment"
    )
    assert deployed["precision"] == pytest.approx(truth(sample, ~sample.labeled), abs=0.01)
    assert deployed["precision"] < report.metrics["precision"] - 0.05


SCORES, LABELED = [4, 3, 2, 1], [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"prior": 0.3}, r"'scenario' parameter of {} must be given with 'prior'.*Hint:.*'censor"),
        ({"alpha": 0.2, "prior": 0.3}, "{} needs at most one of .* got 'alpha' and 'prior'"),
        ({"alpha": 0.2, "proportions": MixtureProportions(0.2)}, "{} needs at most one"),
        ({"prior": 0.3, "label_frequency": 0.4, "scenario": "censoring"}, "{} needs at most one"),
        ({"label_frequency": 0.4, "scenario": "case-control"}, "'scenario' parameter of {}"),
        ({"alpha": 0.2, "scenario": "both"}, "'scenario' parameter of {}"),
        (
            {"proportions": MixtureProportions(0.2), "scenario": "censoring"},
            "'scenario' parameter of {} must be left out",
        ),
        (
            {"proportions": MixtureProportions(0.2, 0.9), "beta": 0.8},
            "'beta' parameter of {} must be left out .*, got 0.8 with 0.9",
        ),
        ({"alpha": 0.5, "beta": 0.4}, "needs alpha < beta"),
    ],
)
def test_mistakes_raise(options, match):
    errors = (InvalidInputError, InvalidTypeError)
    with pytest.raises(errors, match="(?s)" + match.format("evaluate")):
        pu.evaluate(SCORES, LABELED, **options, n_resamples=0)
    with pytest.raises(errors, match="(?s)" + match.format("make_pu_scorer")):
        pu.make_pu_scorer("roc_auc", **options)


@pytest.mark.parametrize(("share", "hinted"), [(25, True), (2.0, True), (1.2, False), (-1, False)])
def test_percentages_are_explained_and_slips_are_not(share, hinted):
    for call in (
        lambda: MixtureProportions(share),
        lambda: MixtureProportions(0.1, share),
        lambda: pu.evaluate(SCORES, LABELED, alpha=share, n_resamples=0),
        lambda: pu.compare_priors(SCORES, LABELED, beta=share, n_resamples=0),
    ):
        with pytest.raises(InvalidInputError) as caught:
            call()
        assert ("0.25 means 25 %" in str(caught.value)) == hinted


ORIGINS = (
    "Smith and Jones 2021", "audit", "RocSlope and audit, beta from the scores",
    "x and alpha of 2 to 10 %", "hits, beta given", "given", "ours, beta between 0 and 1", "",
)  # fmt: skip


@pytest.mark.parametrize("alpha", [0.2, 0.9])
def test_an_origin_is_printed_as_it_is_and_decides_nothing(alpha: float) -> None:
    """A report is that of any other origin, but for these words."""
    mark = "words that stand nowhere else"
    sample = pu.simulate.binormal(2.0).sample(50, 200, alpha=0.2, random_state=0)
    written = {}
    for origin in (mark, *ORIGINS):
        given = MixtureProportions(alpha, 0.95, origin)
        report = pu.evaluate(sample.scores, sample.labeled, proportions=given, n_resamples=0)
        parts = [str(report), report.details(), report.contradiction]
        parts += [f"{check.status} {check.message} {check.hint}" for check in report.checks]
        written[origin] = [" ".join(part.split()) for part in parts]
    assert report.contradicted == (alpha == 0.9)
    assert any(f"({mark})" in part for part in written[mark])
    for origin in ORIGINS:
        expected = [" ".join(part.replace(mark, origin).split()) for part in written[mark]]
        assert written[origin] == expected
