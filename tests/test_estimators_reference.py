"""`ReferencePosterior`, what a caller may assume, and what a report says it rests on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

import purecover as pu
from purecover.estimators import LabelCurve, ReferencePosterior
from purecover.estimators.features import features_of, group_scores
from purecover.estimators.label_curve import solve_label_curve
from purecover.estimators.reference import COUPLING, stored_reference

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
    expected *= model.mass
    np.testing.assert_allclose(found, expected / expected.sum())
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


def test_replicates_that_came_out_high_by_chance_are_corrected_less() -> None:
    fitted = ReferencePosterior().fit(SAMPLE.counts)
    counts, n = SAMPLE.counts, 2000
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(300, counts.labeled / 300, n)
    unlabeled = rng.multinomial(3000, counts.unlabeled / 3000, n)
    drawn = fitted.proportions_many(counts, labeled, unlabeled)
    above = np.cumsum(unlabeled, axis=1) - unlabeled / 2
    observed = 1 - (labeled * above).sum(axis=1) / (300 * 3000)
    delta = drawn[:, 1] - drawn[:, 0]
    assert spearmanr(observed, delta).statistic == pytest.approx(COUPLING, abs=0.08)
    # They are draws from the posterior all the same.
    own = np.diff(fitted.draws(4000), axis=1)[:, 0]
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    np.testing.assert_allclose(np.quantile(delta, levels), np.quantile(own, levels), atol=0.03)


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
    # Those of clean labels are sharper, and hold in 95 % of real problems, not in each odd world.
    assert np.mean(held) >= (0.9 if beta is None else 0.7)


def test_what_is_assumed_is_put_where_it_belongs() -> None:
    data, few = (SAMPLE.scores, SAMPLE.labeled), {"n_resamples": 0}
    pure = pu.evaluate(*data, assume="pure-top", **few)
    assert pure.proportions.alpha == LabelCurve().fit(SAMPLE.counts).proportions_.alpha
    both = pu.evaluate(*data, assume=["pure-top", "clean-labels"], **few)
    assert both.estimation.beta_given
    assert both.proportions.beta == 1
    clean = pu.evaluate(*data, assume=["clean-labels"], **few)
    assert clean.proportions == pu.evaluate(*data, beta=1, **few).proportions
    known = pu.evaluate(*data, alpha=0.25, **few)
    assert [each.state for each in (known, pure, clean)] == ["determined", "assumed", "estimated"]
    for wrong, words in (
        ({"assume": ["pure-top"], "alpha": 0.2}, "left out where 'alpha' is given"),
        ({"assume": ["pure-top"], "estimator": "bbe"}, "left out where 'estimator' is given"),
        ({"assume": ["clean-labels"], "beta": 0.9}, "1 where clean labels are assumed"),
        ({"assume": ["pure"]}, "pure-top"),
        ({"assume": "pure"}, "did you mean 'pure-top'"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            pu.evaluate(*data, **wrong, **few)


def test_wrong_labels_are_told_by_the_truth() -> None:
    wrong = pu.simulate.binormal(2).sample(200, 2000, alpha=0.25, beta=0.9, random_state=0)
    report = pu.evaluate(wrong.scores, wrong.labeled, truth=wrong.truth, alpha=0.25, n_resamples=0)
    share = 100 * (1 - report.truth.beta)
    assert f"By the truth given, {share:.3g} % of the labels are wrong." in report.details()
