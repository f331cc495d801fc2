"""`log_report`: a report or a comparison as metrics, parameters and artifacts of an MLflow run."""

from __future__ import annotations

import math
import re
import time
from pathlib import PurePosixPath
from typing import Any

from purecover._documents.report import confidence_level as level
from purecover._validation import bad_type, bad_value, check_instance, public, require, show
from purecover.report.compare import ScoreComparison
from purecover.report.results import PUReport

__all__ = ["log_report"]

_PREFIX = re.compile(r"[A-Za-z0-9_. /-]{0,100}")
"""What MLflow takes in names, with room for the longest name of ours."""
_LONGEST_VALUE = 500
"""Every version of MLflow takes parameters of this length."""
_STRANGE = re.compile(r"[^A-Za-z0-9_. -]")
_LONGEST_NAME = 60
_BATCH = 1000
"""Most metrics that MLflow takes at once."""


@public
def log_report(
    report: PUReport | ScoreComparison,
    *,
    prefix: str = "",
    artifact_path: str = "purecover",
    run_id: str | None = None,
) -> str:
    """Log a report, or a comparison of scores, to MLflow.

    Needs MLflow: ``pip install 'purecover[mlflow]'`` brings its light client and what a local
    database takes. ``mlflow.set_tracking_uri`` or ``MLFLOW_TRACKING_URI`` says where to log: the
    address of a server, or a local database such as ``sqlite:///mlflow.db``.

    Parameters
    ----------
    report : PUReport or ScoreComparison
        What :func:`evaluate` or :func:`compare_scores` returned.
    prefix : str, default=""
        Set before the names of metrics and parameters, such as ``"test_"``; needed where one run
        holds several reports.
    artifact_path : str, default="purecover"
        Folder of the run for ``report.html``, ``report.json`` and ``report.md``, or
        ``comparison.html``, ``comparison.json`` and ``comparison.txt``.
    run_id : str, optional
        The run; by default the active one, or a new one that is ended again.

    Returns
    -------
    str
        Id of the run.

    Raises
    ------
    MissingDependencyError
        If MLflow is not installed.

    Notes
    -----
    Metrics are named as in ``METRICS``, with ``_observed``, ``_low`` and ``_high`` behind for the
    observed value and the ends of the interval; undefined values are left out. Where alpha and
    beta were estimated, ``alpha`` and ``beta`` with their ends are metrics too, so that runs can
    be compared by them. The number of findings goes into ``checks_error``,
    ``checks_warning`` and ``checks_note``.

    Of a comparison, the metrics of each score stand under its name, such as
    ``forest/roc_auc``, and those of all but the baseline also with ``_difference`` behind, which
    is the difference from the baseline, and the ends of its interval; parameters are those of the
    baseline. Signs that MLflow does not take in names become ``_``.

    Examples
    --------
    >>> from purecover import evaluate, simulate
    >>> from purecover.mlflow import log_report
    >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
    >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    >>> run_id = log_report(report, prefix="test_")  # doctest: +SKIP
    """
    if not isinstance(report, ScoreComparison):
        hint = "make one with evaluate(scores, labeled) or compare_scores(...)"
        check_instance("report", report, PUReport, hint)
    _check_text("prefix", prefix)
    if not _PREFIX.fullmatch(prefix):
        must = "at most 100 letters, digits, spaces and signs among _ - . /"
        raise bad_value("prefix", must, show(prefix))
    folder = _folder(artifact_path)
    if run_id is not None:
        _check_text("run_id", run_id)
    mlflow = require("mlflow", extra="mlflow")
    client = mlflow.MlflowClient()
    started = None
    if run_id is None:
        active = mlflow.active_run()
        if active is None:
            active = started = mlflow.start_run()
        run_id = str(active.info.run_id)
    try:
        _log(client, run_id, report, prefix, folder)
    except BaseException:
        if started is not None:
            mlflow.end_run("FAILED")
        raise
    if started is not None:
        mlflow.end_run()
    return run_id


def _check_text(parameter: str, value: object) -> None:
    if not isinstance(value, str):
        raise bad_type(parameter, "a string", value)


def _folder(path: object) -> PurePosixPath:
    must = "the name of a folder within the run, such as 'purecover'"
    if not isinstance(path, str):
        raise bad_type("artifact_path", must, path)
    folder = PurePosixPath(path)
    strange = any(not c.isprintable() or c in ":\\" for c in path)
    if strange or folder.is_absolute() or ".." in folder.parts:
        raise bad_value("artifact_path", must, show(path))
    return folder


def _log(
    client: Any,
    run_id: str,
    report: PUReport | ScoreComparison,
    prefix: str,
    folder: PurePosixPath,
) -> None:
    from mlflow.entities import Metric, Param

    known = _params_of(client, run_id)
    if isinstance(report, ScoreComparison):
        given, found = comparison_params(report), comparison_metrics(report)
        kind, words = "comparison", ("txt", str(report))
    else:
        given, found = params_of(report), metrics_of(report)
        kind, words = "report", ("md", report.to_markdown())
    params = {f"{prefix}{name}": value for name, value in given.items()}
    # MLflow never changes a parameter; better to say so before half of the report is there.
    other = next((n for n, value in params.items() if known.get(n, value) != value), None)
    if other is not None:
        raise bad_value(
            "prefix",
            "one under which the run holds no other report",
            f"{prefix!r}, with {other!r} logged as {show(known[other])} before and "
            f"{show(params[other])} now",
            "give another prefix (and artifact_path), or start a new run",
        )
    now = int(time.time() * 1000)
    client.log_batch(run_id, params=[Param(name, value) for name, value in params.items()])
    metrics = [Metric(f"{prefix}{name}", value, now, 0) for name, value in found.items()]
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH])
    texts = dict([("html", report.to_html()), ("json", report.to_json()), words])
    for ending, text in texts.items():
        client.log_text(run_id, text, str(folder / f"{kind}.{ending}"))


def _params_of(client: Any, run_id: str) -> dict[str, str]:
    """Parameters that the run holds already."""
    from mlflow.exceptions import MlflowException

    try:
        return dict(client.get_run(run_id).data.params)
    except MlflowException as error:
        if error.error_code not in {"RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"}:
            raise  # the store's own trouble
        hint = "take it from mlflow.active_run().info.run_id, and check the tracking address"
        must = "the id of a run that MLflow knows"
        raise bad_value("run_id", must, show(run_id), hint) from error


def metrics_of(report: PUReport) -> dict[str, float]:
    """What MLflow shall draw and compare, where it is defined."""
    values: dict[str, float] = {}
    for name, value in report.metrics.items():
        values[name] = value
        values[f"{name}_observed"] = report.metrics.observed[name]
    intervals = dict(report.intervals)
    found = report.estimation
    if found is not None:
        values |= {"alpha": found.proportions.alpha, "beta": found.proportions.beta}
        intervals |= {n: i for n, i in found.intervals.items() if n in values}
    for name, interval in intervals.items():
        values[f"{name}_low"], values[f"{name}_high"] = interval.low, interval.high
    if report.truth is not None:
        values |= {f"{name}_true": value for name, value in report.truth.metrics.items()}
    for severity in ("error", "warning", "note"):
        values[f"checks_{severity}"] = sum(c.severity == severity for c in report.findings)
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}


def params_of(report: PUReport) -> dict[str, str]:
    """What the report was made with, as MLflow keeps parameters: short texts."""
    values: dict[str, Any] = {
        "estimator": None if report.estimation is None else report.estimation.estimator,
        "repair": report.roc.repair,
        "repair_pr": report.pr.repair,
        "area": report.pr.area,
        "confidence_level": level(report),
        "n_resamples": 0 if report.bootstrap is None else report.bootstrap.n_resamples,
    }
    for source, names in (
        (report, ("threshold_chosen", "random_state", "scores_from")),
        (report.proportions, ("alpha", "beta", "origin", "scenario")),
        (report.metrics, ("prior", "threshold")),
        (
            report.metrics.options,
            ("f_beta", "cost_fn", "cost_fp", "max_fpr", "top_k", "threshold_probability"),
        ),
        (report.counts, ("n_labeled", "n_unlabeled", "n_negative", "n_thresholds")),
    ):
        values |= {name: getattr(source, name) for name in names}
    return {n: str(value)[:_LONGEST_VALUE] for n, value in values.items() if value is not None}


def comparison_metrics(comparison: ScoreComparison) -> dict[str, float]:
    """The metrics of each score, and differences from the baseline."""
    values: dict[str, float] = {}
    for name, place in _places(comparison).items():
        report = comparison.reports[name]
        values |= {f"{place}/{metric}": value for metric, value in metrics_of(report).items()}
        for metric, gaps in comparison.differences.items():
            if name in gaps:
                gap, key = gaps[name], f"{place}/{metric}_difference"
                values |= {key: gap.estimate, f"{key}_low": gap.low, f"{key}_high": gap.high}
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}


def comparison_params(comparison: ScoreComparison) -> dict[str, str]:
    """What the comparison was made with."""
    values = params_of(comparison.reports[comparison.baseline])
    names = {"baseline": comparison.baseline, "scores": ", ".join(comparison.names)}
    return values | {name: text[:_LONGEST_VALUE] for name, text in names.items()}


def _places(comparison: ScoreComparison) -> dict[str, str]:
    """Names of scores as MLflow takes them, each once."""
    places: dict[str, str] = {}
    for i, name in enumerate(comparison.names):
        place = _STRANGE.sub("_", name)[:_LONGEST_NAME]
        places[name] = (
            f"{place}_{i}" if place in places.values() or not place.strip(". ") else place
        )
    return places
