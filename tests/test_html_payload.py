"""The data of the interactive page: finite, small, and within the bounds it states."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import counts as some_counts

import purecover as pu
from purecover.curves import auc_pu, pu_roc_curve
from purecover.exceptions import RecoveryWarning
from purecover.html.payload import MAX_CELLS, make_payload, thin_counts
from purecover.recovery.metrics import position


def many_counts(kind: str, seed: int) -> pu.ScoreCounts:
    """Thousands of distinct scores, so that there is something to merge."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3000, 9000))
    labeled = rng.random(n) < rng.choice([0.01, 0.2, 0.5])
    labeled[:2] = True, False
    scores = rng.normal(rng.choice([0.3, 1.5, 4.0]) * labeled)
    if kind == "plain":
        return pu.ScoreCounts.from_scores(scores, labeled)
    if kind == "ties":
        heavy = rng.random(n) < 0.6
        return pu.ScoreCounts.from_scores(np.where(heavy, scores.round(1), scores), labeled)
    if kind == "weighted":
        weight = rng.exponential(size=n) * (rng.random(n) < 0.9)
        weight[:2] = 1.0
        return pu.ScoreCounts.from_scores(scores, labeled, sample_weight=weight)
    if kind == "negative":
        codes = np.where(~labeled & (rng.random(n) < 0.3), -1, labeled.astype(int))
        codes[:2] = 1, 0
        return pu.ScoreCounts.from_scores(scores, codes, negative_label=-1)
    assert kind == "separated"
    return pu.ScoreCounts.from_scores(scores + 100.0 * labeled, labeled)


KINDS = ["plain", "ties", "weighted", "negative", "separated"]


def rates_at(counts: pu.ScoreCounts, threshold: float) -> tuple[float, float]:
    roc, at = pu_roc_curve(counts), position(counts, threshold)
    return float(roc.tpr_pu[at]), float(roc.fpr_pu[at])


# -- merging scores ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_cells", [64, 300, 2000])
def test_bounds_hold(kind: str, seed: int, max_cells: int) -> None:
    counts = many_counts(kind, seed)
    rng = np.random.default_rng(seed)
    threshold = float(rng.choice(counts.thresholds))
    thinned = thin_counts(counts, max_cells, threshold=threshold)
    cells = thinned.counts
    assert cells.n_thresholds <= max_cells
    assert (cells.thresholds[0], cells.thresholds[-1]) == (
        counts.thresholds[0],
        counts.thresholds[-1],
    )
    assert abs(auc_pu(cells) - auc_pu(counts)) <= thinned.auc_bound + 1e-12
    for t in cells.thresholds[rng.integers(cells.n_thresholds, size=50)]:
        assert rates_at(cells, t) == pytest.approx(rates_at(counts, t), abs=1e-12)
    assert rates_at(cells, threshold) == pytest.approx(rates_at(counts, threshold), abs=1e-12)
    between = np.append(
        counts.thresholds[rng.integers(counts.n_thresholds, size=200)], rng.normal(size=100)
    )
    gaps = [
        abs(a - b)
        for t in between
        for a, b in zip(rates_at(cells, t), rates_at(counts, t), strict=True)
    ]
    assert max(gaps) <= thinned.rate_bound + 1e-12
    # What the layout promises: no merged cell holds more than 16/n, and pairs are bounded by it.
    assert thinned.rate_bound <= 16 / (max_cells - 3) + 1e-12
    assert thinned.auc_bound <= 4 / max_cells


def test_the_rate_bound_is_attained() -> None:
    counts = many_counts("plain", 0)
    thinned = thin_counts(counts, 64)
    full = [rates_at(counts, t) for t in counts.thresholds]
    cells = [rates_at(thinned.counts, t) for t in counts.thresholds]
    assert np.abs(np.array(full) - cells).max() == pytest.approx(thinned.rate_bound, abs=1e-12)


def test_the_auc_bound_counts_the_pairs_that_lost_their_order() -> None:
    counts = many_counts("ties", 4)
    thinned = thin_counts(counts, 100)
    cell = np.searchsorted(-thinned.counts.thresholds, -counts.thresholds)
    lost = 0
    for c in range(thinned.counts.n_thresholds):
        labeled, unlabeled = counts.labeled[cell == c], counts.unlabeled[cell == c]
        lost += int(np.outer(labeled, unlabeled).sum()) - int(np.dot(labeled, unlabeled))
    assert thinned.auc_bound > 0
    assert thinned.auc_bound == pytest.approx(lost / 2 / counts.n_labeled / counts.n_unlabeled)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost(kind: str) -> None:
    counts = many_counts(kind, 3)
    cells = thin_counts(counts, 200).counts
    for name in ("labeled", "unlabeled", "negative", "labeled_sq", "unlabeled_sq"):
        full, merged = getattr(counts, name), getattr(cells, name)
        if full is None:
            assert merged is None
        else:
            assert merged.dtype == full.dtype
            assert merged.sum() == pytest.approx(full.sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_runs_of_one_kind_cost_nothing(seed: int) -> None:
    """With few labeled scores every corner of the observed curve is kept."""
    rng = np.random.default_rng(seed)
    scores, labeled = rng.normal(size=5000), np.arange(5000) < 40
    counts = pu.ScoreCounts.from_scores(scores, labeled)
    thinned = thin_counts(counts, 500)
    assert thinned.auc_bound == 0
    assert auc_pu(thinned.counts) == pytest.approx(auc_pu(counts), abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_splitting_beats_groups_of_like_size(seed: int) -> None:
    counts = many_counts("negative", seed)

    def pairs(cells: pu.ScoreCounts) -> float:
        return float(np.dot(cells.labeled, cells.unlabeled))

    assert pairs(thin_counts(counts, 1000).counts) < 1.1 * pairs(counts.thinned(1000))


@pytest.mark.parametrize("top_k", [1, 7, 500, 10**9])
def test_the_top_k_keep_their_rates(top_k: int) -> None:
    counts = many_counts("ties", 1)
    roc = pu_roc_curve(counts)
    cells = pu_roc_curve(thin_counts(counts, 64, top_k=top_k).counts)
    share = min(top_k / counts.n_unlabeled, 1.0)
    want = np.interp(share, roc.fpr_pu, roc.tpr_pu)
    assert np.interp(share, cells.fpr_pu, cells.tpr_pu) == pytest.approx(want, abs=1e-12)


def test_few_scores_stay_as_they_are() -> None:
    counts = pu.ScoreCounts.from_scores([3, 2, 1], [1, 0, 0])
    thinned = thin_counts(counts, 64)
    assert thinned.counts is counts
    assert (thinned.auc_bound, thinned.rate_bound) == (0, 0)


@pytest.mark.parametrize("threshold", [-math.inf, -1e9, 1e9])
def test_thresholds_beyond_all_scores(threshold: float) -> None:
    counts = many_counts("plain", 2)
    cells = thin_counts(counts, 100, threshold=threshold).counts
    assert rates_at(cells, threshold) == rates_at(counts, threshold)


# -- the payload ------------------------------------------------------------------------------


def written(payload: dict[str, Any]) -> str:
    """Strict JSON: fails on anything that is not finite."""
    return json.dumps(payload, allow_nan=False, separators=(",", ":"))


KEYS = {
    "schema", "counts", "thinned", "settings", "report", "roc_band", "pr_band", "auc_pu_se",
    "metrics", "histogram", "estimation", "sensitivity", "truth",
}  # fmt: skip


@pytest.fixture(scope="module")
def sample() -> Any:
    return pu.simulate.binormal(1.5).sample(300, 1500, alpha=0.25, random_state=0)


@given(some_counts(), st.sampled_from([0.0, 0.3, 0.9]), st.sampled_from([0.95, 1.0]))
def test_any_report_becomes_finite_json(counts: pu.ScoreCounts, alpha: float, beta: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        report = pu.evaluate(counts, alpha=alpha, beta=beta, n_resamples=0)
    payload = json.loads(written(make_payload(report)))
    assert set(payload) == KEYS
    assert payload["thinned"] is None
    edges = payload["histogram"]["edges"]
    assert all(a < b for a, b in itertools.pairwise(edges))
    for name in ("labeled", "unlabeled"):
        shares = payload["histogram"][name]
        assert len(shares) == len(edges) - 1
        assert sum(shares) == pytest.approx(1)
    again = pu.ScoreCounts.from_dict(payload["counts"])
    assert again == counts


def test_one_threshold() -> None:
    counts = pu.ScoreCounts.from_counts([0.5], [3], [7])
    payload = make_payload(pu.evaluate(counts, alpha=0.2, n_resamples=0))
    assert payload["histogram"]["labeled"] == [1.0]
    assert payload["counts"]["thresholds"] == [0.5]
    written(payload)


def test_it_says_what_the_report_says(sample: Any) -> None:
    report = pu.evaluate(
        sample.scores, sample.labeled, alpha=0.25, beta=0.9, top_k=50, f_beta=2, cost_fn=3,
        truth=sample.truth, n_resamples=50,
    )  # fmt: skip
    payload = make_payload(report)
    assert payload["settings"] == {
        "alpha": 0.25, "beta": 0.9, "scenario": "case-control", "target": "population",
        "repair": "isotonic", "repair_pr": "blend", "area": "davis-goadrich",
        "threshold": report.metrics.threshold, "f_beta": 2, "cost_fn": 3, "cost_fp": 1.0,
        "max_fpr": 0.1, "top_k": 50,
    }  # fmt: skip
    assert payload["report"]["metrics"] == dict(report.metrics)
    assert payload["report"]["observed"] == dict(report.metrics.observed)
    assert payload["report"]["confidence_level"] == 0.95
    low, high, method = payload["report"]["intervals"]["roc_auc"]
    interval = report.intervals["roc_auc"]
    assert (low, high, method) == (interval.low, interval.high, interval.method)
    assert payload["auc_pu_se"] ** 2 == pytest.approx(pu.auc_pu_variance(report.counts))
    shown = [metric["name"] for metric in payload["metrics"]]
    assert shown == list(report.metrics)
    assert {m["better"] for m in payload["metrics"] if m["name"] in {"cost", "fpr"}} == {"lower"}
    assert payload["roc_band"]["low"] == pytest.approx(report.roc_band.low, abs=1e-6)
    assert payload["truth"]["auc"] == report.truth.metrics["roc_auc"]
    assert payload["truth"]["roc"]["tpr"][-1] == 1
    # The true curve starts where its first example stands, not in the corner of the plot.
    true, pr = report.truth.roc, payload["truth"]["pr"]
    prior = report.truth.prior
    flagged = prior * true.tpr_pu + (1 - prior) * true.fpr_pu
    assert pr["precision"][0] == pytest.approx(prior * true.tpr_pu[1] / flagged[1], abs=1e-6)
    assert pr["recall"][0] == pytest.approx(true.tpr_pu[1], abs=1e-6)
    assert (pr["recall"][-1], pr["precision"][-1]) == pytest.approx((1, prior), abs=1e-6)
    assert payload["estimation"] is None


@pytest.mark.parametrize(
    ("options", "target"),
    [
        ({"target": "population"}, "population"),
        ({"target": "deployment"}, "deployment"),
        ({"target": "pooled"}, "population"),
        ({"target": 0.125}, 0.125),
        ({"target": "pooled", "scenario": "case-control"}, "pooled"),
    ],
)
def test_the_target_is_read_off_the_prior(
    sample: Any, options: dict[str, Any], target: str | float
) -> None:
    options = {"scenario": "censoring", **options}
    report = pu.evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0, **options)
    found = make_payload(report)["settings"]["target"]
    assert found == target
    assert report.proportions.prior(found, report.counts) == report.metrics.prior


def test_estimators_side_by_side(sample: Any) -> None:
    report = pu.evaluate(sample.scores, sample.labeled, n_resamples=0)
    found = make_payload(report)["estimation"]
    assert found["estimator"] == found["rows"][0]["name"] == report.estimation.estimator
    assert {row["name"]: (row["alpha"], row["beta"]) for row in found["rows"]} == dict(
        report.estimation.spread
    )
    curve = pu.AlphaMax().fit(report.counts).curve_
    assert found["curve"]["chosen"] == curve.elbow
    assert found["curve"]["alpha"] == pytest.approx(curve.inclusion)
    assert found["curve"]["value"] == pytest.approx(curve.corrected, rel=1e-7)


def test_where_alphamax_gives_up_there_is_no_curve() -> None:
    from purecover.html.payload import _alphamax_curve

    assert _alphamax_curve(pu.ScoreCounts.from_counts([1], [1], [1]), clean=True) is None


@pytest.mark.parametrize("repair", ["hull", "likelihood", "paper", "none", "blend"])
def test_repairs_are_named_as_they_were_used(sample: Any, repair: Any) -> None:
    report = pu.evaluate(sample.scores, sample.labeled, alpha=0.2, repair=repair, n_resamples=0)
    settings = make_payload(report)["settings"]
    assert (settings["repair"], settings["repair_pr"]) == (report.roc.repair, report.pr.repair)


def test_outliers_do_not_flatten_the_histogram(sample: Any) -> None:
    scores = sample.scores.copy()
    scores[0], scores[-1] = 1e6, -1e6
    report = pu.evaluate(scores, sample.labeled, alpha=0.25, n_resamples=0)
    found = make_payload(report)["histogram"]
    assert max(abs(edge) for edge in found["edges"]) < 10
    assert 0 < found["outlying"] < 0.02
    assert sum(found["labeled"]) == pytest.approx(1)


# -- a million scores -------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["plain", "weighted"])
def large(request: pytest.FixtureRequest) -> tuple[pu.PUReport, dict[str, Any]]:
    sample = pu.simulate.binormal(1.5).sample(100_000, 900_000, alpha=0.25, random_state=0)
    labeled, weight = sample.labeled.astype(int), None
    if request.param == "weighted":
        rng = np.random.default_rng(0)
        labeled = np.where((labeled == 0) & (rng.random(labeled.size) < 0.02), -1, labeled)
        weight = rng.exponential(size=labeled.size)
    report = pu.evaluate(
        sample.scores, labeled, alpha=0.25, beta=0.95, threshold=0.7654321, top_k=1234,
        sample_weight=weight, negative_label=-1 if weight is not None else None, n_resamples=20,
    )  # fmt: skip
    return report, make_payload(report)


def test_a_million_scores_fit(large: tuple[pu.PUReport, dict[str, Any]]) -> None:
    report, payload = large
    assert report.counts.n_thresholds > 900_000
    assert len(payload["counts"]["thresholds"]) <= MAX_CELLS
    assert len(written(payload)) < 250_000


def test_a_million_scores_stay_within_the_bounds(
    large: tuple[pu.PUReport, dict[str, Any]],
) -> None:
    report, payload = large
    said = payload["thinned"]
    cells = pu.ScoreCounts.from_dict(payload["counts"])
    proportions = report.proportions
    assert (said["n_thresholds"], said["kept"]) == (report.counts.n_thresholds, cells.n_thresholds)
    difference = abs(auc_pu(cells) - report.auc_pu)
    assert difference == pytest.approx(said["auc_difference"], abs=1e-12)
    assert difference <= said["auc_bound"] < 4e-4
    assert said["rate_bound"] < 0.008
    for alpha in (0.0, 0.1, 0.5):
        other = pu.MixtureProportions(alpha, proportions.beta)
        gap = pu.recover_auc(cells, other, clip=False) - pu.recover_auc(
            report.counts, other, clip=False
        )
        assert abs(gap) <= said["auc_bound"] / other.delta
    threshold = report.metrics.threshold
    assert rates_at(cells, threshold) == pytest.approx(rates_at(report.counts, threshold))
    again = pu.recover_metrics(cells, proportions, threshold=threshold, top_k=1234)
    for name, value in report.metrics.items():
        assert abs(again[name] - value) == pytest.approx(said["differences"][name], abs=1e-12)
    assert said["auc_pr_difference"] == said["differences"]["auc_pr"] < 2e-4
