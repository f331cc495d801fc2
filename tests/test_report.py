"""`evaluate` and what it returns."""

from __future__ import annotations

import json

import numpy as np
import pytest

import purecover as pu

WORLD = pu.simulate.binormal(1.5)


@pytest.fixture(scope="module")
def sample() -> pu.simulate.Sample:
    return WORLD.sample(500, 4000, alpha=0.25, random_state=0)


@pytest.fixture(scope="module")
def report(sample: pu.simulate.Sample) -> pu.PUReport:
    return pu.evaluate(
        sample.scores, sample.labeled, alpha=0.25, truth=sample.truth, n_resamples=100
    )


def test_parts_agree_with_the_single_functions(
    report: pu.PUReport, sample: pu.simulate.Sample
) -> None:
    counts, proportions = sample.counts, pu.MixtureProportions(0.25)
    assert report.counts == counts
    assert report.proportions == proportions
    assert report.auc == pu.recover_auc(counts, proportions)
    assert report.auc_pu == pu.auc_pu(counts)
    assert dict(report.metrics) == dict(pu.recover_metrics(counts, proportions))
    assert report.pr.auc_pr == pu.recover_pr(counts, proportions).auc_pr
    assert report.intervals["roc_auc"] == pu.auc_interval(counts, proportions)
    assert set(report.intervals) == set(report.metrics)


def test_true_figures(report: pu.PUReport, sample: pu.simulate.Sample) -> None:
    from sklearn.metrics import roc_auc_score

    assert report.truth is not None
    assert report.truth.metrics["roc_auc"] == pytest.approx(
        roc_auc_score(sample.truth, sample.scores), abs=1e-12
    )
    assert report.truth.alpha == np.mean(sample.truth[~sample.labeled])
    flagged = sample.scores >= report.metrics.threshold
    tpr = np.mean(flagged[sample.truth])
    fpr = np.mean(flagged[~sample.truth])
    alpha = report.truth.alpha
    assert report.truth.metrics["precision"] == pytest.approx(
        alpha * tpr / (alpha * tpr + (1 - alpha) * fpr), abs=1e-12
    )


def test_text(report: pu.PUReport) -> None:
    text = str(report)
    lines = text.splitlines()
    assert lines[0].startswith("500 labeled, 4,000 unlabeled")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    auc = next(line for line in lines if line.startswith("AUC "))
    assert f"{report.auc_pu:.4f}" in auc
    assert f"{report.auc:.4f}" in auc
    assert f"{report.intervals['roc_auc'].low:.4f}" in auc
    assert report.truth is not None
    assert auc.endswith(f"{report.truth.metrics['roc_auc']:.4f}")
    assert "PU007" in text
    assert "<pre>" in report._repr_html_()
    assert "auc=" in repr(report)


def test_both_aucs_are_shown_where_they_differ() -> None:
    # Almost separable and noisy: the repaired curve loses a little area.
    s = pu.simulate.binormal(2.5).sample(60, 400, alpha=0.4, beta=0.9, random_state=0)
    report = pu.evaluate(s.scores, s.labeled, alpha=0.4, beta=0.9, n_resamples=0)
    assert not report.infeasible
    assert abs(report.roc.auc - report.roc.auc_direct) > 0.005
    assert "area of the isotonic curve" in str(report)
    close = pu.evaluate({"s": s.scores, "y": s.labeled}, "y", score="s", alpha=0.0, n_resamples=0)
    assert "area of the" not in str(close)


@pytest.fixture(scope="module")
def infeasible() -> pu.PUReport:
    """Far too large an alpha."""
    s = WORLD.sample(200, 2000, alpha=0.25, random_state=0)
    return pu.evaluate(s.scores, s.labeled, alpha=0.9, n_resamples=20)


class TestInfeasible:
    """One story in all outputs, and no false certainty."""

    def test_one_auc_everywhere(self, infeasible: pu.PUReport) -> None:
        report = infeasible
        assert report.infeasible
        assert report.auc_direct > 2
        assert report.auc == report.metrics["roc_auc"] == report.intervals["roc_auc"].estimate == 1
        data = json.loads(report.to_json())
        assert data["auc"] == data["metrics"]["recovered"]["roc_auc"] == 1
        assert data["auc_direct"] == report.auc_direct
        assert data["infeasible"] is True

    def test_text(self, infeasible: pu.PUReport) -> None:
        report = infeasible
        lines = str(report).splitlines()
        auc = next(line for line in lines if line.startswith("AUC "))
        assert auc.endswith("infeasible")
        assert f"{report.auc_direct:.4f}: alpha and beta do not fit" in str(report)
        assert "area of the" not in str(report)
        spoke = [line.split()[0] for line in lines if line.startswith("  PU")]
        assert spoke[0] == "PU008"  # the gravest first
        assert "PU007" not in spoke


def test_confusion_matrix(report: pu.PUReport, sample: pu.simulate.Sample) -> None:
    matrix = report.confusion
    unlabeled = ~sample.labeled
    flagged = sample.scores >= report.metrics.threshold
    assert matrix.matrix().sum() == pytest.approx(4000)
    assert matrix.flagged == pytest.approx(np.sum(flagged & unlabeled))
    truly = np.sum(flagged & unlabeled & sample.truth)
    assert matrix.tp == pytest.approx(truly, rel=0.1)
    # The isotonic rates behind precision need not add up to the number flagged.
    assert matrix.tp / matrix.flagged == pytest.approx(report.metrics["precision"], rel=0.01)
    assert str(matrix) in str(report)
    pooled = pu.recover_confusion(
        sample.counts, report.proportions, report.metrics.threshold, among="pooled"
    )
    assert pooled.matrix().sum() == pytest.approx(4500)
    assert pooled.tp == pytest.approx(np.sum(flagged & sample.truth), rel=0.1)


def test_everything_can_be_pickled_and_copied(report: pu.PUReport) -> None:
    import copy
    import pickle

    for twin in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):  # noqa: S301
        assert str(twin) == str(report)
        assert twin.to_dict() == report.to_dict()
        with pytest.raises(TypeError, match="read-only"):
            twin.metrics.observed["roc_auc"] = 1.0
    choice = pu.choose_threshold(report.counts, report.proportions, "f1")
    curves = pu.recover_metric_curves(report.counts, report.proportions)
    for result in (choice, curves, report.bootstrap, report.counts, report.roc, report.pr):
        assert repr(pickle.loads(pickle.dumps(result))) == repr(result)  # noqa: S301


def test_too_little_data_has_no_interval() -> None:
    s = WORLD.sample(1, 200, alpha=0.2, fixed_counts=True, random_state=0)
    report = pu.evaluate(s.scores, s.labeled, alpha=0.2, n_resamples=50)
    assert np.isnan(report.intervals["recall"].low)  # no resample moves a single example
    assert "undefined" in str(report)


def test_pandas_columns_in_different_orders_are_refused() -> None:
    import pandas as pd

    s = WORLD.sample(20, 50, alpha=0.2, random_state=0)
    scores, labeled = pd.Series(s.scores), pd.Series(s.labeled)
    shuffled = labeled.sample(frac=1, random_state=0)
    with pytest.raises(pu.exceptions.InvalidInputError, match=r"labeled\.loc\[scores\.index\]"):
        pu.evaluate(scores, shuffled, alpha=0.2)
    with pytest.raises(pu.exceptions.InvalidInputError, match=r"labeled\.loc\[scores\.index\]"):
        pu.ScoreCounts.from_scores(scores, shuffled)
    same = pu.evaluate(scores, shuffled.loc[scores.index], alpha=0.2, n_resamples=0)
    assert same.auc == pu.evaluate(s.scores, s.labeled, alpha=0.2, n_resamples=0).auc


def test_plain_data(report: pu.PUReport) -> None:
    data = json.loads(report.to_json())
    assert data["auc"] == report.auc
    assert data["intervals"]["precision"]["varied"] == "scores"
    assert {check["code"] for check in data["checks"]} >= {"PU001", "PU008"}
    assert "roc" not in data
    assert len(json.loads(report.to_json(curves=True))["roc"]["fpr"]) == report.roc.fpr.size
    table = report.frame()
    assert list(table) == ["metric", "observed", "recovered", "low", "high", "true"]


def test_counts_and_frames_are_the_same(sample: pu.simulate.Sample) -> None:
    direct = pu.evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    from_counts = pu.evaluate(sample.counts, alpha=0.25, n_resamples=0)
    frame = {"s": sample.scores, "y": sample.labeled.astype(int)}
    from_frame = pu.evaluate(frame, score="s", labeled="y", alpha=0.25, n_resamples=0)
    assert str(direct) == str(from_counts) == str(from_frame)


@pytest.mark.parametrize("repair", ["none", "paper", "isotonic", "hull", "likelihood"])
def test_every_repair(sample: pu.simulate.Sample, repair: str) -> None:
    report = pu.evaluate(
        sample.scores,
        sample.labeled,
        alpha=0.25,
        repair=repair,  # type: ignore[arg-type]
        n_resamples=20,
    )
    assert report.roc.repair == repair
    assert report.metrics["precision"] == pytest.approx(
        WORLD.precision(report.metrics.threshold, 0.25), abs=0.06
    )
    assert report.pr.auc_pr == pytest.approx(WORLD.auc_pr(0.25), abs=0.12)
    assert report.roc_band is not None


def test_scenario_decides_what_precision_means() -> None:
    """The same data under the two scenarios: one AUC formula, two populations."""
    world = pu.simulate.binormal(2.0)
    s = world.sample_censored(30_000, prior=0.3, label_frequency=0.4, random_state=0)
    report = pu.evaluate(
        s.scores,
        s.labeled,
        prior=0.3,
        scenario="censoring",
        truth=s.truth,
        n_resamples=0,
        threshold=1.0,
    )
    assert report.truth is not None
    assert report.proportions.alpha == pytest.approx(report.truth.alpha, abs=0.01)
    flagged = s.scores >= 1.0
    assert report.auc == pytest.approx(world.auc, abs=0.01)
    # Precision over everybody, labeled and unlabeled: that is the population here.
    assert report.metrics["precision"] == pytest.approx(np.mean(s.truth[flagged]), abs=0.015)
    by_frequency = pu.evaluate(
        s.scores, s.labeled, label_frequency=0.4, n_resamples=0, threshold=1.0
    )
    assert by_frequency.metrics["precision"] == pytest.approx(report.metrics["precision"], abs=0.02)


def test_weights_and_groups(sample: pu.simulate.Sample) -> None:
    rng = np.random.default_rng(99)  # another stream than the scores came from
    frame = {
        "s": sample.scores,
        "y": sample.labeled,
        "w": rng.random(sample.scores.size),
        "g": rng.integers(0, 300, sample.scores.size),
        "t": sample.truth,
    }
    report = pu.evaluate(
        frame,
        score="s",
        labeled="y",
        sample_weight="w",
        groups="g",
        truth="t",
        alpha=0.25,
        n_resamples=50,
    )
    assert report.counts.is_weighted
    assert report.intervals["roc_auc"].method == "bootstrap percentile, groups"
    assert report.auc == pytest.approx(WORLD.auc, abs=0.05)


def test_known_negatives_are_carried_along() -> None:
    s = WORLD.sample(200, 1000, alpha=0.25, random_state=0)
    labels = np.where(s.labeled, 1, 0)
    extra = np.random.default_rng(0).normal(size=100)
    report = pu.evaluate(
        np.append(s.scores, extra),
        np.append(labels, np.full(100, -1)),
        negative_label=-1,
        truth=np.append(s.truth, np.zeros(100, bool)),
        alpha=0.25,
        n_resamples=0,
    )
    assert report.counts.n_negative == 100
    assert report.counts.n_unlabeled == 1000
    plain = pu.evaluate(s.scores, s.labeled, alpha=0.25, n_resamples=0)
    assert report.auc == plain.auc
    assert report.metrics["precision"] == pytest.approx(plain.metrics["precision"], abs=1e-12)
    assert "100 known negative" in str(report)
    states = {check.code: check.status for check in report.checks}
    assert states["PU014"] == "quiet"
    assert {c.code: c.status for c in plain.checks}["PU014"] == "not applicable"


def test_silenced_checks(sample: pu.simulate.Sample) -> None:
    report = pu.evaluate(
        sample.scores, sample.labeled, alpha=0.25, n_resamples=0, ignore_checks=["PU007", "PU016"]
    )
    assert "checks: all" in str(report)
    assert {c.status for c in report.checks if c.code == "PU007"} == {"silenced"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: pu.evaluate(s.scores, s.labeled), "exactly one of 'alpha'"),
        (lambda s: pu.evaluate(s.scores, alpha=0.2), "needs 'labeled'"),
        (lambda s: pu.evaluate(s.counts, s.labeled, alpha=0.2), "beside a ScoreCounts"),
        (lambda s: pu.evaluate({"a": s.scores}, "y", score="s", alpha=0.2), "columns are 'a'"),
        (lambda s: pu.evaluate({"a": s.scores}, "a", alpha=0.2), "(?s)needs 'score'.*'a'"),
        (lambda s: pu.evaluate(s.labeled, s.scores, alpha=0.2), "swapped"),
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=25), "0.25 means 25 %"),
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, target=25), "of evaluate"),
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, random_state="a"), "of evaluate"),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, groups=["a"] * s.scores.size),
            "of evaluate must be at least two groups",
        ),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, groups=[None] * s.scores.size),
            "missing",
        ),
        (lambda s: pu.evaluate({"a": [1]}, [1], score="a", alpha=0.2), "name of a column"),
        (lambda s: pu.evaluate(s.scores, s.labeled, score="s", alpha=0.2), "names a column"),
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, n_resamples=-1), "n_resamples"),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, confidence_level=95),
            "0.95 means 95 %",
        ),
        (
            lambda s: pu.evaluate(
                s.scores, s.labeled, proportions=pu.MixtureProportions(0.2), scenario="censoring"
            ),
            "left out where 'proportions' carry one",
        ),
        (
            lambda s: pu.evaluate(
                s.scores, s.labeled, label_frequency=0.5, scenario="case-control"
            ),
            "'censoring' where a label frequency",
        ),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, ignore_checks=["PU999"]),
            "PU001",
        ),
    ],
)
def test_bad_calls(call: object, message: str, sample: pu.simulate.Sample) -> None:
    with pytest.raises(pu.exceptions.PurecoverError, match=message):
        call(sample)  # type: ignore[operator]
