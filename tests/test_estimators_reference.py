"""`ReferencePosterior`, what a caller may assume, and what a report says it rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import purecover as pu
from purecover.estimators import LabelCurve, ReferencePosterior
from purecover.estimators.features import features_of, group_scores
from purecover.estimators.label_curve import solve_label_curve
from purecover.estimators.reference import N_DRAWS, stored_reference

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


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_features_are_shares_of_the_curve_and_of_the_rows(beta: float) -> None:
    data = pu.simulate.binormal(2).sample(2000, 6000, alpha=0.3, beta=beta, random_state=0)
    curve = solve_label_curve(data.counts)
    found = features_of(data.counts, curve)
    shares = {name: float(expit(value)) for name, value in found.items()}
    alpha, beta = curve.mean
    assert shares["auc_pu"] == pytest.approx(data.counts.auc_pu)
    assert shares["curve_a"] == pytest.approx(alpha / beta)
    assert shares["curve_b"] == pytest.approx(max((1 - beta) / (1 - alpha), 1e-3))
    # As if labels were known to be clean.
    always = pu.estimators.LabelCurve(clean="always").fit(data.counts).proportions_
    assert shares["curve_clean_a"] == pytest.approx(always.alpha, abs=0.02)
    refuted = np.where(curve.clean, 0, curve.weight)
    refuted = replace(curve, weight=refuted / refuted.sum())
    never = features_of(data.counts, refuted)
    assert never["curve_clean_a"] == never["curve_a"]
    assert np.exp(found["n_labeled"]) == pytest.approx(2000)
    assert np.exp(found["n_unlabeled"]) == pytest.approx(6000)
    # Of the rows with the largest scores on one side, how many are on the other.
    sides = {"labeled": data.scores[data.labeled], "unlabeled": data.scores[~data.labeled]}
    for one, other in (("labeled", "unlabeled"), ("unlabeled", "labeled")):
        for name, share in shares.items():
            if name.startswith(f"{one}_at_"):
                cut = np.quantile(sides[other], 1 - float(name.removeprefix(f"{one}_at_")))
                assert share == pytest.approx(np.mean(sides[one] >= cut), abs=2e-3)
    flipped = pu.ScoreCounts.from_scores(-data.scores, ~data.labeled)
    mirrored = features_of(flipped, solve_label_curve(flipped))
    for level in (50, 95):
        assert found[f"bound{level}_a"] == pytest.approx(mirrored[f"bound{level}_b"])
        bound = pu.estimators.inclusion_bound(data.counts, confidence_level=level / 100)
        assert shares[f"bound{level}_a"] == pytest.approx(bound)
    assert found["smooth"] + found["steep"] + curve.kind_probability("pure") == pytest.approx(1)
    ends = curve.ends(0.95)
    assert found["width_alpha"] == ends["alpha"][1] - ends["alpha"][0]
    assert found["width_delta"] == ends["delta"][1] - ends["delta"][0]


@pytest.mark.parametrize("clean", [False, True])
def test_similar_problems_are_weighed_as_documented(clean: bool) -> None:
    model, counts = stored_reference(), group_scores(SAMPLE.counts)
    curve = solve_label_curve(counts)
    features = features_of(counts, curve)
    cells = (curve.alpha, curve.beta, curve.weight)
    found = model.similar(features, cells, clean=clean)
    weight = model.weights(features) * ((model.noise == 0) if clean else 1)
    np.testing.assert_allclose(found.weight, weight / weight.sum())
    weight = found.weight
    mean = weight @ model.log_odds
    np.testing.assert_allclose(
        found.log_odds - mean,
        np.where(model.log_odds < mean, *(s * (model.log_odds - mean) for s in model.stretch)),
    )
    np.testing.assert_allclose(found.noise, model.noise * expit(features["bound50_b"]))
    assert (found.most_a, found.most_b) == pytest.approx(
        (expit(features["bound95_a"]), expit(features["bound95_b"]))
    )
    assert found.n_effective == pytest.approx(1 / np.sum(weight**2))
    # The label curve counts fully where it is narrow, and not at all where it is wide.
    for width, factor in ((0.0, 1), (0.1, 1), (0.175, 0.5), (0.25, 0), (1.0, 0)):
        there = model.similar(features | {"width_delta": width}, cells, clean=clean)
        most = min(0.85, 1.5 * float(there.weight @ model.pure))
        assert there.curve_weight == pytest.approx(factor * most)


def test_the_estimate_is_the_median_of_the_draws() -> None:
    for clean in ("weigh", "always"):
        fitted = ReferencePosterior(clean=clean).fit(SAMPLE.counts)
        alpha, beta = fitted.draws(N_DRAWS).T
        found = fitted.proportions_
        assert found.alpha == pytest.approx(np.median(alpha), abs=1e-9)
        assert found.beta - found.alpha == pytest.approx(np.median(beta - alpha), abs=1e-9)


def test_draws_obey_the_bounds_and_known_clean_labels() -> None:
    free = ReferencePosterior().fit(SAMPLE.counts)
    clean = ReferencePosterior(clean="always").fit(SAMPLE.counts)
    for fitted in (free, clean):
        alpha, beta = fitted.draws(500).T
        assert ((alpha >= 0) & (alpha < beta) & (beta <= 1)).all()
    assert (clean.draws(500)[:, 1] == 1).all()
    assert clean.proportions_.beta == 1
    assert 0 < free.diagnostics_["clean_probability"] < 1


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
        held.append(auc in report.intervals["roc_auc"])
        # The top is pure, so that alpha is the largest that the scores allow.
        assert report.estimation.intervals["alpha"].high > 0.18
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
        (
            {"assume": ["pure-top"], "settings": pu.Settings(estimator="bbe")},
            "left out where 'estimator' is given",
        ),
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
