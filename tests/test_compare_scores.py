"""Several models on the same rows: one alpha, reports of each, and paired differences."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import purecover as pu
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover.intervals.ends import interval_ends
from purecover.intervals.paired import PairedRows, ScoreDraws, SharedDraws
from purecover.report import compare as _compare

SAMPLE = pu.simulate.binormal(1.8).sample(150, 900, alpha=0.25, random_state=0)
LABELED = np.asarray(SAMPLE.labeled)
_RNG = np.random.default_rng(1)
SCORES = {
    "good": SAMPLE.scores,
    "fair": SAMPLE.scores + 0.7 * _RNG.normal(size=1050),
    "poor": SAMPLE.scores + 1.5 * _RNG.normal(size=1050),
}
HOSTILE = "</script><script>alert('x')</script>\u202e\"&" + "x" * 300


@pytest.fixture(scope="module")
def known() -> pu.report.ScoreComparison:
    return pu.compare_scores(SCORES, LABELED, alpha=0.25, n_resamples=100, truth=SAMPLE.truth)


@pytest.fixture(scope="module")
def estimated() -> pu.report.ScoreComparison:
    return pu.compare_scores(SCORES, LABELED, n_resamples=40, baseline="poor")


def paired_rows(
    scores: dict[str, np.ndarray], labeled: np.ndarray, weight: np.ndarray | None = None
) -> PairedRows:
    """Rows as they are, each in a cell of its own."""
    counts = {
        name: pu.ScoreCounts.from_scores(values, labeled, sample_weight=weight)
        for name, values in scores.items()
    }
    place = {
        name: np.searchsorted(-counts[name].thresholds, -values) for name, values in scores.items()
    }
    rows = np.ones(labeled.size, dtype=np.int64)
    return PairedRows(counts, place, labeled, rows, weight)


def test_replicates_are_of_the_same_rows() -> None:
    rows = paired_rows(SCORES, LABELED)
    shared = SharedDraws(rows, np.random.default_rng(0))
    found = {name: ScoreDraws(shared, name).draw_many(None, 20) for name in SCORES}
    drawn = rows.draw_many(np.random.default_rng(0), 20)
    for name, scores in SCORES.items():
        for i in range(20):
            times = np.concatenate([side[i] for side in drawn])
            every = np.concatenate([np.flatnonzero(LABELED), np.flatnonzero(~LABELED)])
            kept = np.repeat(every, times.astype(np.intp))
            counts = pu.ScoreCounts.from_scores(scores[kept], LABELED[kept])
            ours = replace(
                rows.counts[name], labeled=found[name][0][i], unlabeled=found[name][1][i]
            )
            auc = pu.recovery.auc_pu(counts)
            assert pu.recovery.auc_pu(ours) == pytest.approx(auc, abs=1e-12)
            assert (ours.n_labeled, ours.n_unlabeled) == (150, 900)


@pytest.mark.slow
def test_cells_hardly_move_intervals() -> None:
    found = pu.compare_scores(SCORES, LABELED, alpha=0.25)
    for name, report in found.reports.items():
        alone = pu.evaluate(SCORES[name], LABELED, alpha=0.25)
        for metric in ("auc_pr", "recall", "precision"):
            ours, theirs = report.intervals[metric], alone.intervals[metric]
            assert ours.width == pytest.approx(theirs.width, rel=0.2), (name, metric)


def test_the_differences_are_percentiles_of_replicates(known: pu.report.ScoreComparison) -> None:
    replicates = {name: known.reports[name].bootstrap.replicates for name in SCORES}
    for metric in ("auc_pr", "f1", "cost"):
        gaps = replicates["fair"][metric] - replicates["good"][metric]
        found = known.differences[metric]["fair"]
        np.testing.assert_allclose((found.low, found.high), interval_ends(gaps, 0.95))
        values = {name: known.reports[name].metrics[metric] for name in SCORES}
        assert found.estimate == pytest.approx(values["fair"] - values["good"])
        sign = 1 if pu.METRICS[metric].greater_is_better else -1
        assert known.better[metric]["fair"] == pytest.approx(np.mean(sign * gaps > 0), abs=0.01)


@pytest.mark.parametrize("options", [{"alpha": 0.25}, {}], ids=["known", "estimated"])
def test_scores_that_rank_alike_do_not_differ(options: dict[str, Any]) -> None:
    same = {"one": SAMPLE.scores, "other": np.exp(SAMPLE.scores)}
    found = pu.compare_scores(same, LABELED, n_resamples=30, **options)
    for metric, intervals in found.differences.items():
        interval = intervals["other"]
        assert (interval.estimate, interval.low, interval.high) == pytest.approx((0, 0, 0)), metric
        assert found.better[metric]["other"] == 0.5


def test_a_difference_that_never_moves_is_not_certain() -> None:
    # Both models put every labeled row above every unlabeled one, in different orders.
    scores = {"one": [6, 5, 4, 3, 2, 1], "other": [5, 6, 4, 1, 2, 3]}
    found = pu.compare_scores(scores, [1, 1, 1, 0, 0, 0], alpha=0.0, n_resamples=30)
    interval = found.differences["roc_auc"]["other"]
    assert interval.estimate == 0
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)
    assert found.to_dict()["differences"]["roc_auc"]["other"]["low"] is None


def test_rows_draw_weights_and_never_an_empty_side() -> None:
    scores, labeled = {"one": np.array([2.0, 1.0, 0.0])}, np.array([True, False, False])
    rows = paired_rows(scores, labeled, np.array([2.0, 3.0, 0.5]))
    np.testing.assert_array_equal(rows.place["one"], [0, 1, 2])
    labeled_drawn, unlabeled_drawn = rows.tally("one", rows.draw_many(np.random.default_rng(0), 50))
    assert (labeled_drawn.sum(axis=1) == 2.0).all()
    assert set(unlabeled_drawn.sum(axis=1)) == {6.0, 3.5, 1.0}
    nothing = replace(rows, weight=np.array([2.0, 0.0, 0.0]))
    with pytest.raises(InvalidInputError, match="too few rows"):
        nothing.draw_many(np.random.default_rng(0), 1)


def test_paired_error_is_that_of_delong_pair_by_pair() -> None:
    rng = np.random.default_rng(3)
    labeled = np.arange(40) < 12
    one = np.round(rng.normal(size=40) + labeled, 1)
    two = np.round(one + rng.normal(size=40), 1)
    parts = []
    for scores in (one, two):
        gap = scores[labeled][:, None] - scores[~labeled][None, :]
        wins = (gap > 0) + 0.5 * (gap == 0)
        parts.append((wins.mean(axis=1), wins.mean(axis=0), wins.mean()))
    (a10, a01, a), (b10, b01, b) = parts
    variance = np.var(a10 - b10, ddof=1) / 12 + np.var(a01 - b01, ddof=1) / 28
    rows = paired_rows({"one": one, "two": two}, labeled)
    assert rows.error("one", "two") == pytest.approx(math.sqrt(variance))
    found = pu.compare_scores(
        {"two": two, "one": one}, labeled, alpha=0.2, beta=0.9, n_resamples=0
    ).differences["roc_auc"]["one"]
    assert found.method == "paired DeLong"
    assert found.estimate == pytest.approx((a - b) / 0.7)
    assert found.high - found.estimate == pytest.approx(1.959964 * math.sqrt(variance) / 0.7)


def test_weighted_error_is_that_of_the_counts() -> None:
    weight = np.random.default_rng(0).uniform(0.5, 3, size=1050)
    counts = pu.ScoreCounts.from_scores(SCORES["fair"], LABELED, sample_weight=weight)
    scores = {"fair": SCORES["fair"], "none": np.zeros(1050)}
    # Scores that are all the same have an area of 1/2 without error.
    error = math.sqrt(pu.recovery.auc_pu_variance(counts))
    assert paired_rows(scores, LABELED, weight).error("fair", "none") == pytest.approx(error)
    equal = paired_rows(scores, LABELED, np.full(1050, 2.0)).error("fair", "none")
    assert equal == pytest.approx(paired_rows(scores, LABELED).error("fair", "none"))


def test_one_estimate_serves_all(estimated: pu.report.ScoreComparison) -> None:
    assert estimated.estimated_from == "good"  # the highest observed AUC
    alone = pu.evaluate(SCORES["good"], LABELED, n_resamples=0)
    assert estimated.proportions.alpha == alone.proportions.alpha
    drawn = estimated.reports["good"].bootstrap.replicates["alpha"]
    assert np.ptp(drawn) > 0
    for report in estimated.reports.values():
        assert np.isin(report.bootstrap.replicates["alpha"], drawn).all()
    for name, report in estimated.reports.items():
        assert report.proportions is estimated.proportions
        assert report.estimation.notes[-1].endswith("estimated from the scores in 'good'")
        low, high = report.estimation.identification["auc"]
        assert low <= report.auc <= high, name
    interval = estimated.differences["roc_auc"]["good"]
    assert interval.varied == "scores and proportions"
    assert interval.method == "bootstrap percentile, the same rows for all"
    assert "Estimated from good." in str(estimated)


def test_the_score_to_estimate_from_can_be_named() -> None:
    found = pu.compare_scores(
        SCORES,
        LABELED,
        estimate_from="fair",
        settings=pu.Settings(estimator="bbe"),
        beta=1.0,
        n_resamples=20,
    )
    alone = pu.evaluate(
        SCORES["fair"], LABELED, settings=pu.Settings(estimator="bbe"), beta=1.0, n_resamples=0
    )
    assert found.estimated_from == "fair"
    assert found.proportions.alpha == alone.proportions.alpha
    assert found.reports["good"].estimation.beta_given
    low, high = found.reports["good"].estimation.identification["auc"]
    assert low <= found.reports["good"].auc <= high


def test_without_enough_estimates_there_are_figures_but_no_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise IdentifiabilityError("bootstrap found no estimate.\nHint: none")

    monkeypatch.setattr(_compare, "draw_pairs", fail)
    found = pu.compare_scores(SCORES, LABELED, n_resamples=20)
    assert found.n_resamples == 0
    assert not found.better
    assert math.isnan(found.differences["f1"]["fair"].low)
    assert math.isfinite(found.differences["f1"]["fair"].estimate)
    assert found.differences["roc_auc"]["fair"].method == "paired DeLong"
    fired = {check.code for check in found.reports["good"].findings}
    assert "PU017" in fired
    assert "no replicates" not in str(found)
    with pytest.raises(IdentifiabilityError):  # a known alpha has no such excuse
        pu.compare_scores(SCORES, LABELED, alpha=0.25, n_resamples=20)


def test_reports_are_those_of_evaluate(known: pu.report.ScoreComparison) -> None:
    for name, scores in SCORES.items():
        alone = pu.evaluate(scores, LABELED, alpha=0.25, n_resamples=0, truth=SAMPLE.truth)
        report = known.reports[name]
        for metric, value in alone.metrics.items():
            if pu.METRICS[metric].kind != "threshold":  # replicates have corrected the others
                assert report.metrics[metric] == value
        assert report.intervals["roc_auc"] == alone.intervals["roc_auc"]
        assert report.truth.metrics == alone.truth.metrics
        assert [check.code for check in report.checks] == [check.code for check in alone.checks]
        assert set(report.intervals) == set(report.metrics)
        assert report.roc_band is not None


def test_an_alpha_that_follows_from_a_label_frequency_varies() -> None:
    rng = np.random.default_rng(0)
    labeled = np.arange(1460) < 60
    scores = np.r_[rng.normal(1.5, 1, 160), rng.normal(size=1300)]
    both = {"a": scores, "b": scores + rng.normal(0, 0.5, 1460)}
    known = {"label_frequency": 0.4, "n_resamples": 500}
    found = pu.compare_scores(both, labeled, **known).reports["a"].intervals["precision"]
    alone = pu.evaluate(scores, labeled, **known).intervals["precision"]
    assert found.varied == alone.varied == "scores and proportions"
    assert found.width == pytest.approx(alone.width, rel=0.2)


def test_thresholds_of_each_score_or_of_all() -> None:
    own = {"good": 0.1, "fair": 0.2, "poor": 0.3}
    found = pu.compare_scores(SCORES, LABELED, alpha=0.25, n_resamples=0, threshold=own)
    assert {n: r.metrics.threshold for n, r in found.reports.items()} == own
    found = pu.compare_scores(SCORES, LABELED, alpha=0.25, n_resamples=0, threshold=0.5)
    assert {r.metrics.threshold for r in found.reports.values()} == {0.5}
    assert "Youden" not in str(found)
    with pytest.raises(InvalidInputError, match="a number for each of 'good', 'fair', 'poor'"):
        pu.compare_scores(SCORES, LABELED, alpha=0.25, threshold={"good": 0.1})


def test_groups_are_drawn_whole_for_all() -> None:
    groups = np.arange(1050) % 60
    found = pu.compare_scores(SCORES, LABELED, alpha=0.25, groups=groups, n_resamples=40)
    area = found.differences["roc_auc"]["fair"]
    assert area.method == "paired DeLong, groups"
    assert found.differences["f1"]["fair"].method.endswith("the same groups for all")
    assert found.reports["good"].intervals["roc_auc"].method.startswith("bootstrap")
    # Every row twice in one group: as uncertain as once.
    doubled = {name: np.repeat(scores, 2) for name, scores in SCORES.items()}
    twice = pu.compare_scores(
        doubled, np.repeat(LABELED, 2), alpha=0.25, groups=np.repeat(np.arange(1050), 2),
        n_resamples=0,
    )  # fmt: skip
    once = pu.compare_scores(SCORES, LABELED, alpha=0.25, n_resamples=0)
    for name in ("fair", "poor"):
        widths = [c.differences["roc_auc"][name].width for c in (twice, once)]
        assert widths[0] == pytest.approx(widths[1], rel=0.01)


def test_another_baseline_turns_the_differences_round(known: pu.report.ScoreComparison) -> None:
    turned = pu.compare_scores(
        SCORES, LABELED, alpha=0.25, n_resamples=100, truth=SAMPLE.truth, baseline="fair"
    )
    for metric, found in known.differences.items():
        back = turned.differences[metric]["good"]
        here = found["fair"]
        assert back.estimate == pytest.approx(-here.estimate)
        assert (back.low, back.high) == pytest.approx((-here.high, -here.low))
        assert turned.better[metric]["good"] == pytest.approx(1 - known.better[metric]["fair"])


def test_a_comparison_is_read_back(
    known: pu.report.ScoreComparison, estimated: pu.report.ScoreComparison
) -> None:
    plain = pu.compare_scores(SCORES, LABELED, alpha=0.25, n_resamples=0)
    for found in (known, estimated, plain):
        text = found.to_json(counts=True)
        again = pu.report.ScoreComparison.from_json(text)
        assert again.to_json(counts=True) == text
        assert str(again) == str(found)
        assert again.best("f1") == found.best("f1")
        assert again.to_html() == found.to_html()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(schema="purecover.report/1"), "field 'schema' is"),
        (lambda d: d.update(baseline="none"), "a list of scores, each with.*nothing of 'none'"),
        (lambda d: d.update(scores=["good"]), "at 'scores': Expected `array` of length >= 2"),
        (lambda d: d["reports"].pop("fair"), "a list of scores, each with.*nothing of 'fair'"),
        (lambda d: d["reports"]["fair"].update(counts=None), r"to_json\(counts=True\)"),
        (lambda d: d["reports"]["fair"].update(schema="x"), r"at 'reports\[...\].schema': Invalid"),
        (lambda d: d["differences"]["f1"].pop("fair"), "a list of scores, each with"),
        (lambda d: d["differences"]["f1"]["fair"].update(estimate=0.5), "as its reports imply"),
        (lambda d: d["better"]["f1"].update(fair="x"), "at 'better.*: numbers are needed"),
        (lambda d: d.update(confidence_level=float("nan")), "free of NaN"),
    ],
)
def test_comparisons_that_cannot_be_read(known: pu.report.ScoreComparison, change, says) -> None:
    document = known.to_dict(counts=True)
    change(document)
    with pytest.raises(InvalidInputError, match="a comparison of purecover") as caught:
        pu.report.ScoreComparison.from_dict(document)
    assert re.search(says, str(caught.value))
    with pytest.raises(InvalidTypeError, match="a comparison of purecover as plain data"):
        pu.report.ScoreComparison.from_dict(3)
    with pytest.raises(InvalidInputError, match="the text of a comparison"):
        pu.report.ScoreComparison.from_json("{")


def test_frame(known: pu.report.ScoreComparison) -> None:
    table = known.frame()
    assert len(table["metric"]) == 3 * len(known.differences)
    row = int(np.flatnonzero((table["metric"] == "f1") & (table["score"] == "poor"))[0])
    assert table["difference"][row] == known.differences["f1"]["poor"].estimate
    assert table["better"][row] == known.better["f1"]["poor"]
    base = int(np.flatnonzero((table["metric"] == "f1") & (table["score"] == "good"))[0])
    assert math.isnan(table["difference"][base])
    pandas = pytest.importorskip("pandas")
    assert isinstance(known.frame("pandas"), pandas.DataFrame)


def test_columns_of_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    columns = {**SCORES, "y": LABELED, "w": np.full(1050, 2.0), "g": np.arange(1050) % 50}
    frame = pandas.DataFrame(columns)
    options: dict[str, Any] = {"alpha": 0.25, "n_resamples": 20}
    by_name = pu.compare_scores(
        frame, "y", score=["fair", "good"], sample_weight="w", groups="g", **options
    )
    by_array = pu.compare_scores(
        {"fair": SCORES["fair"], "good": SCORES["good"]},
        LABELED,
        sample_weight=columns["w"],
        groups=columns["g"],
        **options,
    )
    assert by_name.to_json() == by_array.to_json()
    rest = pu.compare_scores(columns, "y", sample_weight="w", groups="g", **options)
    assert rest.names == ("good", "fair", "poor")  # all that nothing else uses


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": {"one": SCORES["good"]}}, "of two models or more, got 'one'"),
        ({"score": ["good", "good"]}, "columns or more that differ, got 'good' twice"),
        ({"score": {"good", "fair"}}, "'score' parameter of compare_scores must be a list of two"),
        (
            {"data": {**SCORES, "y": LABELED}, "labeled": "y", "score": ["good", "y"]},
            "must be columns of scores, got 'y', the column of labels",
        ),
        ({"score": ["good", "none"]}, "got 'none'.\nHint: the columns are 'good'"),
        ({"data": {**SCORES, "short": [1.0, 2.0]}}, r"'score\[short\]' parameter"),
        ({"data": {**SCORES, "bad": np.full(1050, np.nan)}}, r"'score\[bad\]' .* finite"),
        ({"data": {**SCORES, 3: SCORES["good"]}}, "whose columns have words as names"),
        ({"estimate_from": "good"}, "left out where 'alpha' is given, got 'good'"),
        ({"alpha": None, "estimate_from": "none"}, "'estimate_from' parameter"),
    ],
)
def test_what_is_refused(change: dict[str, Any], message: str) -> None:
    arguments = {"data": SCORES, "labeled": LABELED, "alpha": 0.25, "n_resamples": 0, **change}
    with pytest.raises((InvalidInputError, InvalidTypeError), match=f"(?s){message}"):
        pu.compare_scores(**arguments)


@pytest.mark.slow
def test_intervals_of_differences_cover() -> None:
    """Two models that share most of their error, with a known alpha."""
    alpha, beta = 0.3, 0.9
    separation, noise, n = 2.0, (0.5, 0.8), 24
    worlds = [pu.simulate.binormal(separation / math.hypot(1, sd)) for sd in noise]
    truth = {
        "roc_auc": worlds[1].auc - worlds[0].auc,
        "auc_pr": worlds[1].auc_pr(alpha) - worlds[0].auc_pr(alpha),
    }
    hits = dict.fromkeys(truth, 0)
    widths = {metric: np.zeros(2) for metric in truth}
    for seed in range(n):
        rng = np.random.default_rng(seed)
        sample = pu.simulate.binormal(separation).sample(
            300, 1500, alpha=alpha, beta=beta, random_state=seed
        )
        shared = rng.normal(size=1800)
        scores = {
            "one": sample.scores + noise[0] * shared,
            "two": sample.scores
            + noise[0] * shared
            + math.sqrt(noise[1] ** 2 - noise[0] ** 2) * rng.normal(size=1800),
        }
        found = pu.compare_scores(
            scores, sample.labeled, alpha=alpha, beta=beta, n_resamples=100, random_state=seed
        )
        for metric, value in truth.items():
            interval = found.differences[metric]["two"]
            hits[metric] += value in interval
            apart = math.hypot(*(r.intervals[metric].width for r in found.reports.values()))
            widths[metric] += (interval.width, apart)
    for metric in truth:
        # 95 % less three standard errors of as many draws; above it the percentiles may be careful.
        assert hits[metric] / n >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / n), (metric, hits)
        paired, apart = widths[metric]
        assert paired < 0.7 * apart, metric
    assert hits["roc_auc"] / n <= 0.95 + 3 * math.sqrt(0.95 * 0.05 / n)
