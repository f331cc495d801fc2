"""`ReferencePosterior`, what a caller may assume, and what a report says it rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import purecover as pu
from purecover.estimators import LabelCurve, ReferencePosterior
from purecover.estimators.features import features_of, group_scores
from purecover.estimators.label_curve import solve_label_curve
from purecover.estimators.reference import cautious_auc, stored_reference

SAMPLE = pu.simulate.binormal(1.5).sample(300, 3000, alpha=0.25, random_state=0)


def test_only_the_order_of_scores_matters() -> None:
    fits = [
        ReferencePosterior().fit(scores, SAMPLE.labeled)
        for scores in (SAMPLE.scores, 1 / (1 + np.exp(-3 * SAMPLE.scores)))
    ]
    assert fits[0].proportions_ == fits[1].proportions_
    assert fits[0].interval_["alpha"].high == fits[1].interval_["alpha"].high


def test_groups_of_scores_lose_nothing_at_the_ends() -> None:
    found = group_scores(SAMPLE.counts)
    assert found.n_thresholds <= 320
    assert (found.n_labeled, found.n_unlabeled) == (300, 3000)
    assert found.auc_pu == pytest.approx(SAMPLE.counts.auc_pu, abs=1e-3)
    np.testing.assert_array_equal(found.labeled[:5], SAMPLE.counts.labeled[:5])


def test_weights_are_those_of_a_forest_walked_by_hand() -> None:
    model, counts = stored_reference(), group_scores(SAMPLE.counts)
    features = features_of(counts, solve_label_curve(counts))
    x = np.array([features[name] for name in model.features])
    expected = np.zeros(model.log_odds.size)
    for root, leaves in zip(model.root, model.leaf, strict=True):
        node = root
        while model.feature[node] >= 0:
            low = x[model.feature[node]] <= model.cut[node]
            node = node + 1 if low else model.above[node]
        expected += (leaves == node - root) / (leaves == node - root).sum()
    found = model.weights(features)
    np.testing.assert_allclose(found, expected / len(model.leaf))
    assert found.sum() == pytest.approx(1)
    assert set(model.features) == set(features)


def test_draws_obey_the_bounds_and_known_clean_labels() -> None:
    free = ReferencePosterior().fit(SAMPLE.counts)
    clean = ReferencePosterior(clean="always").fit(SAMPLE.counts)
    for fitted in (free, clean):
        alpha, beta = fitted.draws(500).T
        assert ((alpha >= 0) & (alpha < beta) & (beta <= 1)).all()
    assert (clean.draws(500)[:, 1] == 1).all()
    assert clean.proportions_.beta == 1
    assert 0 < free.diagnostics_["clean_probability"] < 1


def test_a_cautious_auc_stops_where_harm_becomes_likely() -> None:
    counts, draws = SAMPLE.counts, ReferencePosterior().fit(SAMPLE.counts).draws(4000)
    mean = 0.5 + (counts.auc_pu - 0.5) / np.mean(draws[:, 1] - draws[:, 0])
    # Without error of the observed AUC, as if it were known.
    true = 0.5 + (counts.auc_pu - 0.5) / (draws[:, 1] - draws[:, 0])
    for risk in (0.01, 0.1, 0.5):
        found = cautious_auc(counts, draws, risk)
        assert counts.auc_pu <= found <= mean
        worse = np.abs(found - true) > np.abs(counts.auc_pu - true)
        assert worse.mean() <= risk + 0.05


WORLDS: dict[str, tuple[Any, Any, float]] = {
    "a part of the positives looks negative": (
        lambda rng, n: rng.normal(np.where(rng.random(n) < 0.6, 3, 0)),
        lambda rng, n: rng.normal(size=n),
        0.790,
    ),
    "two kinds of positives": (
        lambda rng, n: rng.normal(np.where(rng.random(n) < 0.5, 1, 4)),
        lambda rng, n: rng.normal(size=n),
        0.879,
    ),
    "overlap to the very top": (
        lambda rng, n: rng.beta(3, 1, n),
        lambda rng, n: rng.beta(1, 1.5, n),
        0.847,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("beta", [None, 1])
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_hold_where_no_end_is_pure(name: str, beta: float | None) -> None:
    positive, negative, auc = WORLDS[name]
    held = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        hidden = rng.random(5000) < 0.25
        scores = np.concatenate(
            (positive(rng, 500), np.where(hidden, positive(rng, 5000), negative(rng, 5000)))
        )
        labeled = np.repeat([1, 0], [500, 5000])
        report = pu.evaluate(scores, labeled, beta=beta, n_resamples=100, random_state=0)
        held += [auc in report.intervals["roc_auc"], 0.25 in report.estimation.intervals["alpha"]]
    assert np.mean(held) >= 0.9


def test_what_is_assumed_is_put_where_it_belongs() -> None:
    data, few = (SAMPLE.scores, SAMPLE.labeled), {"n_resamples": 0}
    pure = pu.evaluate(*data, assume=["pure-top"], **few)
    assert pure.proportions.alpha == LabelCurve().fit(SAMPLE.counts).proportions_.alpha
    both = pu.evaluate(*data, assume=["pure-top", "clean-labels"], **few)
    assert both.estimation.beta_given
    assert both.proportions.beta == 1
    clean = pu.evaluate(*data, assume=["clean-labels"], **few)
    assert clean.proportions == pu.evaluate(*data, beta=1, **few).proportions
    for wrong, words in (
        ({"assume": ["pure-top"], "alpha": 0.2}, "left out where 'alpha' is given"),
        ({"assume": ["pure-top"], "estimator": "bbe"}, "left out where 'estimator' is given"),
        ({"assume": ["clean-labels"], "beta": 0.9}, "1 where clean labels are assumed"),
        ({"assume": ["pure"]}, "pure-top"),
        ({"assume": "pure-top"}, "a list of names"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            pu.evaluate(*data, **wrong, **few)


HIGH = pu.MixtureProportions(0.85)


def test_a_report_says_what_it_rests_on() -> None:
    known = pu.evaluate(SAMPLE.scores, SAMPLE.labeled, alpha=0.25, beta=1, n_resamples=0)
    guessed = pu.evaluate(SAMPLE.scores, SAMPLE.labeled, n_resamples=50)
    for report in (known, guessed):
        names = [each.name for each in report.assumptions]
        assert names == ["labels-at-random", "pure-top", "clean-labels", "unseen-rows"]
        text = " ".join(str(report).split())
        assert all(each.statement in text for each in report.assumptions)
        for page in (report.to_html(), report._repr_html_()):
            assert all(each.statement in page for each in report.assumptions)
    both = {"one": SAMPLE.scores, "two": SAMPLE.scores.round(1)}
    compared = pu.compare_scores(both, SAMPLE.labeled, alpha=0.25, n_resamples=0)
    for words in (str(compared), compared.to_html()):
        assert all(each.statement in " ".join(words.split()) for each in known.assumptions)
    many = pu.evaluate_many(both, SAMPLE.labeled, alpha=0.25, n_resamples=0)
    assert "taken for a random sample of all positives" in " ".join(str(many).split())
    assert known.assumptions[1].verdict == "not assumed"
    assert known.assumptions[2].verdict == "known"
    by_default = pu.evaluate(SAMPLE.scores, SAMPLE.labeled, alpha=0.15, n_resamples=0)
    less = pu.evaluate(SAMPLE.scores, SAMPLE.labeled, alpha=0.15, beta=0.9, n_resamples=0)
    assert by_default.assumptions[2].verdict == "cannot tell"
    assert by_default.assumptions[2].without.startswith(f"{less.auc_direct:.3f} if 10 %")
    assert "contradict" in replace(by_default, proportions=HIGH).assumptions[2].without
    turned = pu.evaluate(-SAMPLE.scores, SAMPLE.labeled, alpha=0.7, n_resamples=0)
    assert turned.assumptions[2].without.startswith("0.000 if 10 %")
    assert replace(by_default, checks=()).assumptions[0].verdict == "cannot tell"
    wrong = pu.simulate.binormal(2).sample(200, 2000, alpha=0.25, beta=0.9, random_state=0)
    seen = pu.evaluate(
        wrong.scores, wrong.labeled, truth=wrong.truth, alpha=0.25, beta=1, n_resamples=0
    ).assumptions[2]
    assert seen.verdict == "doubtful"
    n_wrong = int((wrong.labeled & ~wrong.truth).sum())
    assert seen.evidence == f"by the truth given, {n_wrong} of 200 labeled are negatives"
    assert "AUC would be" in guessed.assumptions[1].evidence
    low, high = guessed.estimation.identification["auc"]
    assert f"{low:.3f} to {high:.3f}" in guessed.assumptions[1].without
    assert guessed.auc_pu <= guessed.auc <= guessed.auc_direct
