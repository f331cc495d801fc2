"""A program as users write it, to see that types reach them: `mypy --strict` must be content.

Each result is compared with its type by ``assert_type``, which a type checker refuses where the
type is another or has become ``Any``. Columns and tables of other packages (``frame()``,
``scan_files``) and JSON (``to_dict()``) are ``Any`` by nature. `tools/stranger.py` checks and runs
it against an installed wheel.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import purecover as pu

Floats = NDArray[np.float64]


def reports(scores: Floats, labeled: NDArray[np.bool_]) -> pu.PUReport:
    """Evaluate, and read the report."""
    report = pu.evaluate(scores, labeled, alpha=0.25, n_resamples=20)
    assert_type(report, pu.PUReport)
    assert_type(report.auc, float)
    assert_type(report.roc.fpr, Floats)
    assert_type(report.pr.precision, Floats)
    assert_type(report.roc.tpr_at(0.1), float)
    assert_type(report.proportions.alpha, float)
    assert_type(report.intervals["roc_auc"], pu.intervals.Interval)
    assert_type(report.intervals["roc_auc"].low, float)
    assert_type(report.estimation, pu.estimators.PriorEstimate | None)
    assert_type(report.checks, tuple[pu.checks.CheckResult, ...])
    assert_type(report.checks[0].code, str)
    assert_type(report.metrics["precision"], float)
    assert_type(report.confusion, pu.recovery.RecoveredConfusion)
    assert_type(report.roc_band, pu.intervals.CurveBand | None)
    assert_type(report.to_json(), str)
    assert_type(report.to_html(), str)
    assert_type(report.to_markdown(), str)
    assert_type(report.to_dict(), dict[str, Any])
    assert_type(pu.PUReport.from_json(report.to_json()), pu.PUReport)
    return report


def parts(scores: Floats, labeled: NDArray[np.bool_]) -> None:
    """Count once and recover one thing at a time."""
    counts = pu.ScoreCounts.from_scores(scores, labeled)
    assert_type(counts, pu.ScoreCounts)
    assert_type(counts.thresholds, Floats)
    assert_type(counts + counts, pu.ScoreCounts)
    given = pu.MixtureProportions(alpha=0.25)
    assert_type(given.beta, float)
    assert_type(pu.recover_auc(counts, given), float)
    assert_type(pu.recover_roc(counts, given), pu.recovery.RecoveredRoc)
    assert_type(pu.recover_pr(counts, given), pu.recovery.RecoveredPr)
    assert_type(pu.intervals.auc_interval(counts, given), pu.intervals.Interval)
    assert_type(pu.choose_threshold(counts, given, "precision", 0.6), pu.recovery.ThresholdChoice)
    assert_type(pu.recover_metrics(counts, given, cost_fn=2, top_k=10)["cost"], float)
    assert_type(pu.recover_bounds(counts, (0.2, 0.3)), pu.recovery.RecoveredBounds)


def engines(scores: Floats, labeled: NDArray[np.bool_]) -> None:
    """Count tables, whole and by group."""
    table = {"s": scores, "l": labeled, "day": np.resize(["mon", "tue"], scores.size)}
    assert_type(pu.ScoreCounts.from_frame(table, score="s", labeled="l"), pu.ScoreCounts)
    by_day = pu.ScoreCounts.from_frame(table, score="s", labeled="l", by="day")
    assert_type(by_day["mon"], pu.ScoreCounts)
    many = pu.evaluate_many(table, "l", score="s", by="day", alpha=0.25, n_resamples=20)
    assert_type(many, pu.report.ManyReports)
    assert_type(many.rows[0], pu.report.ManyRow)


def estimators(scores: Floats, labeled: NDArray[np.bool_]) -> None:
    """Estimate alpha and beta."""
    fitted = pu.estimators.AlphaMax().fit(scores, labeled)
    assert_type(fitted, pu.estimators.AlphaMax)
    assert_type(fitted.proportions_, pu.MixtureProportions)
    assert_type(fitted.proportions_.alpha, float)
    assert_type(fitted.interval_, Mapping[str, pu.intervals.Interval])
    assert_type(pu.estimators.BBE().fit(scores, labeled).proportions_.alpha, float)
    compared = pu.compare_priors(scores, labeled, estimators=["bbe"], n_resamples=20)
    assert_type(compared, pu.estimators.PriorComparison)
    assert_type(compared.rows[0], pu.estimators.PriorRow)
    assert_type(pu.audit.alpha_from_audit(30, 100).alpha, pu.intervals.Interval)


def models(features: Floats, labeled: NDArray[np.bool_]) -> None:
    """From features: scores, scorers, classifiers."""
    networks = pu.models.BaggedNetworks(n_estimators=25, max_epochs=5, random_state=0)
    assert_type(networks.fit(features, labeled), pu.models.BaggedNetworks)
    assert_type(networks.decision_function(features), Floats)
    assert_type(networks.predict(features), np.ndarray[Any, Any])
    assert_type(networks.oob_score_samples_, Floats)
    scorer = pu.make_pu_scorer("roc_auc", alpha=0.25)
    assert_type(scorer, pu.scorers.PUScorer)
    assert_type(scorer(networks, features, labeled), float)
    assert_type(pu.cross_fit_scores(networks, features, labeled, cv=2), Floats)


def displays(report: pu.PUReport) -> None:
    """Draw."""
    display = pu.RecoveredRocDisplay(report.roc, band=report.roc_band)
    assert_type(display.plot(), pu.RecoveredRocDisplay)
    assert_type(pu.RecoveredPrDisplay(report.pr).plot(), pu.RecoveredPrDisplay)


def monitor(scores: Floats, labeled: NDArray[np.bool_]) -> None:
    """Watch partitions that arrive."""
    watch = pu.monitoring.ScoreMonitor(alpha=0.25)
    assert_type(watch.add("monday", scores, labeled), pu.monitoring.MonitorPartition)
    second = watch.add("tuesday", scores, labeled)
    assert_type(second.drift, dict[str, pu.monitoring.DriftTest])
    assert_type(second.auc, pu.intervals.Interval | None)
    assert_type(watch.partitions, tuple[pu.monitoring.MonitorPartition, ...])
    assert_type(watch.counts, pu.ScoreCounts)
    with tempfile.TemporaryDirectory() as folder:
        watch.save(Path(folder) / "state.json")
        assert_type(
            pu.monitoring.ScoreMonitor.load(Path(folder) / "state.json"), pu.monitoring.ScoreMonitor
        )


def misspelled() -> None:
    """What does not exist or has a wrong type is an error for the type checker too."""
    with contextlib.suppress(AttributeError):
        _ = pu.evaluat  # type: ignore[attr-defined]
    with contextlib.suppress(TypeError):
        pu.make_pu_scorer("roc_auc", alhpa=0.25)  # type: ignore[call-arg]
    with contextlib.suppress(TypeError):
        pu.make_pu_scorer("roc_auc", alpha="a quarter")  # type: ignore[arg-type]


def main() -> None:
    """Use the package in each of its ways."""
    misspelled()
    drawn = pu.simulate.binormal().sample(200, 600, alpha=0.25, random_state=0)
    assert_type(drawn, pu.simulate.Sample)
    scores, labeled = drawn.scores, drawn.labeled
    assert_type(scores, Floats)
    assert_type(labeled, NDArray[np.bool_])
    report = reports(scores, labeled)
    parts(scores, labeled)
    engines(scores, labeled)
    estimators(scores, labeled)
    models(np.column_stack([scores, scores**2]), labeled)
    displays(report)
    monitor(scores, labeled)
    print(f"recovered AUC {report.auc:.3f}")


if __name__ == "__main__":
    main()
