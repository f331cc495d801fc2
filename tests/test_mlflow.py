"""`log_report` against a real store of MLflow in a temporary folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purecover as pu

SAMPLE = pu.simulate.binormal(1.5).sample(200, 1500, alpha=0.25, random_state=0)

# What MLflow and the packages it brings warn of at import is not ours to mend.
mlflow_test = [pytest.mark.mlflow, pytest.mark.filterwarnings("ignore")]


def marked(test: Any) -> Any:
    for mark in mlflow_test:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def report() -> pu.PUReport:
    return pu.evaluate(
        SAMPLE.scores, SAMPLE.labeled, alpha=0.25, truth=SAMPLE.truth, n_resamples=30, top_k=50
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """MLflow with a new database and a new folder of artifacts."""
    for module in ("mlflow", "sqlalchemy", "alembic"):
        pytest.importorskip(module, reason="pip install 'purecover[mlflow]'")
    import mlflow

    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder}/mlflow.db")
        artifacts = (folder / "artifacts").as_uri()
        patch.setenv("MLFLOW_EXPERIMENT_ID", mlflow.create_experiment("reports", artifacts))
        yield mlflow


@pytest.fixture
def client(store: Any) -> Iterator[Any]:
    assert store.active_run() is None
    yield store.MlflowClient()
    assert store.active_run() is None, "a run was left open"


def text_of(store: Any, run_id: str, name: str) -> str:
    path = store.artifacts.download_artifacts(run_id=run_id, artifact_path=name)
    return Path(path).read_text(encoding="utf-8")


@marked
def test_a_run_holds_the_figures(store: Any, client: Any, report: pu.PUReport) -> None:
    run_id = pu.mlflow.log_report(report)
    run = client.get_run(run_id)
    assert run.info.status == "FINISHED"
    logged = run.data.metrics
    for name, value in report.metrics.items():
        assert logged[name] == pytest.approx(value, abs=1e-15)
        assert logged[f"{name}_observed"] == pytest.approx(report.metrics.observed[name])
        assert logged[f"{name}_true"] == pytest.approx(report.truth.metrics[name])
        interval = report.intervals[name]
        if np.isfinite(interval.low):
            ends = (logged[f"{name}_low"], logged[f"{name}_high"])
            assert ends == pytest.approx((interval.low, interval.high))
    assert "alpha" not in logged  # it was given, hence a parameter alone
    notes = [c for c in report.findings if c.severity == "note"]
    assert (logged["checks_error"], logged["checks_note"]) == (0, len(notes))
    params = run.data.params
    assert (params["alpha"], params["beta"], params["origin"]) == ("0.25", "1.0", "given")
    assert (params["scenario"], params["repair"]) == ("case-control", "isotonic")
    assert (params["n_resamples"], params["random_state"], params["top_k"]) == ("30", "0", "50")
    assert float(params["threshold"]) == report.metrics.threshold
    assert "estimator" not in params
    assert text_of(store, run_id, "purecover/report.html") == report.to_html()
    assert text_of(store, run_id, "purecover/report.md") == report.to_markdown()
    again = pu.PUReport.from_json(text_of(store, run_id, "purecover/report.json"))
    assert str(again) == str(report)


@marked
def test_the_active_run_takes_several_reports(store: Any, client: Any, report: pu.PUReport) -> None:
    other = pu.evaluate(SAMPLE.counts, estimator="bbe", n_resamples=20)
    with store.start_run() as run:
        run_id = run.info.run_id
        assert pu.mlflow.log_report(report, prefix="known.", artifact_path="known") == run_id
        assert pu.mlflow.log_report(other, prefix="estimated/", artifact_path="a/b") == run_id
        assert store.active_run().info.run_id == run_id
        assert (
            pu.mlflow.log_report(report, prefix="known.", artifact_path="known") == run_id
        )  # the same
        with pytest.raises(pu.exceptions.InvalidInputError, match=r"(?s)'prefix'.*another prefix"):
            pu.mlflow.log_report(other, prefix="known.")
    found = client.get_run(run_id).data
    assert found.metrics["known.roc_auc"] == pytest.approx(report.auc)
    assert found.metrics["estimated/alpha"] == pytest.approx(other.proportions.alpha)
    low = other.estimation.intervals["alpha"].low
    assert found.metrics["estimated/alpha_low"] == pytest.approx(low)
    assert found.params["estimated/estimator"] == "bbe"
    document = json.loads(text_of(store, run_id, "a/b/report.json"))
    assert document["estimation"]["estimator"] == "bbe"


@marked
def test_a_comparison_is_logged_by_score(store: Any, client: Any) -> None:
    scores = {"old": SAMPLE.scores, "new: 2": SAMPLE.scores**3}
    comparison = pu.compare_scores(scores, SAMPLE.labeled, alpha=0.25, n_resamples=20)
    run_id = pu.mlflow.log_report(comparison)
    data = client.get_run(run_id).data
    gap = comparison.differences["roc_auc"]["new: 2"]
    for name, place in (("old", "old"), ("new: 2", "new_ 2")):
        assert data.metrics[f"{place}/roc_auc"] == pytest.approx(comparison.reports[name].auc)
    assert data.metrics["new_ 2/roc_auc_difference"] == pytest.approx(gap.estimate)
    assert data.metrics["new_ 2/roc_auc_difference_low"] == pytest.approx(gap.low)
    assert "old/roc_auc_difference" not in data.metrics
    assert data.params["baseline"] == "old"
    assert text_of(store, run_id, "purecover/comparison.json") == comparison.to_json()
    assert text_of(store, run_id, "purecover/comparison.txt") == str(comparison)


@marked
def test_undefined_values_are_left_out(client: Any) -> None:
    report = pu.evaluate(SAMPLE.counts, alpha=0.25, threshold=1e9, n_resamples=0)
    logged = client.get_run(pu.mlflow.log_report(report)).data.metrics
    assert np.isnan(report.metrics["precision"])
    assert "precision" not in logged
    assert logged["recall"] == 0


@marked
@pytest.mark.parametrize("run_id", ["0" * 32, "no such/run"])
def test_an_unknown_run(client: Any, report: pu.PUReport, run_id: str) -> None:
    assert client is not None
    with pytest.raises(pu.exceptions.InvalidInputError, match="'run_id' parameter of log_report"):
        pu.mlflow.log_report(report, run_id=run_id)


@marked
def test_a_run_that_fails_is_ended(
    client: Any, report: pu.PUReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: pu.PUReport) -> str:
        raise OSError("no room")

    monkeypatch.setattr(pu.PUReport, "to_html", fail)
    with pytest.raises(OSError, match="no room"):
        pu.mlflow.log_report(report)
    experiment = client.get_experiment_by_name("reports").experiment_id
    assert client.search_runs(experiment, max_results=1)[0].info.status == "FAILED"


# -- without MLflow -------------------------------------------------------------------------


def test_absent_mlflow_names_the_extra(
    report: pu.PUReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(
        pu.exceptions.MissingDependencyError, match=r"(?s)log_report needs.*purecover\[mlflow\]"
    ):
        pu.mlflow.log_report(report)
