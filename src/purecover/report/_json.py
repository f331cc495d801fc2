"""A report as plain data: what `PUReport.to_dict` and `PUReport.to_json` write.

The fields are described by ``report-1.schema.json`` beside this file. Within one version of the
schema fields may be added; one that changes its meaning or goes away makes a new version.
"""

from __future__ import annotations

import json
import math
import sys
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from purecover.intervals._interval import CurveBand
from purecover.intervals._replicates import BootstrapResult

if TYPE_CHECKING:
    from purecover.report._report import PUReport

__all__ = ["KINDS", "MAX_THRESHOLDS", "SCHEMA", "make_document", "read_schema"]

SCHEMA = "purecover.report/1"
"""Name and version of what is written."""

MAX_THRESHOLDS = 100_000
"""Counts with more distinct scores are only written if asked for."""

OPTIONS = ("f_beta", "cost_fn", "cost_fp", "max_fpr", "top_k")
"""Parameters of metrics that stand under one name; the area rule has a field of its own."""

KINDS: tuple[Literal["pointwise", "simultaneous"], ...] = ("pointwise", "simultaneous")
"""The bands that are kept of each curve."""


@cache
def _schema_text() -> str:
    return files("purecover.report").joinpath("report-1.schema.json").read_text(encoding="utf-8")


def read_schema() -> dict[str, Any]:
    """The JSON Schema of the documents, a new copy each time."""
    schema: dict[str, Any] = json.loads(_schema_text())
    return schema


def make_document(report: PUReport, *, curves: bool, counts: bool | None) -> dict[str, Any]:
    """All of a report but its replicates, as plain data."""
    if counts is None:
        counts = report.counts.n_thresholds <= MAX_THRESHOLDS
    found, options = report.estimation, report.metrics.options
    document: dict[str, Any] = {
        "schema": SCHEMA,
        # Not imported: the package's front stands above this layer, and is loaded already.
        "version": sys.modules["purecover"].__version__,
        "n_labeled": report.counts.n_labeled,
        "n_unlabeled": report.counts.n_unlabeled,
        "n_negative": report.counts.n_negative,
        "n_thresholds": report.counts.n_thresholds,
        "scores_from": report.scores_from,
        "proportions": report.proportions.to_dict(),
        "estimation": None if found is None else found.to_dict(),
        "auc": report.auc,
        "auc_direct": report.auc_direct,
        "infeasible": report.infeasible,
        "auc_pu": report.auc_pu,
        "auc_repaired": report.roc.auc,
        "repair": report.roc.repair,
        "repair_requested": report.roc.repair_requested,
        "repair_pr": report.pr.repair,
        "area": report.pr.area,
        "threshold_chosen": report.threshold_chosen,
        "options": {name: getattr(options, name) for name in OPTIONS},
        "random_state": report.random_state,
        "metrics": report.metrics.to_dict(),
        "confusion": report.confusion.to_dict(),
        "intervals": {name: i.to_dict() for name, i in report.intervals.items()},
        "checks": [check.to_dict() for check in report.checks],
        "bootstrap": None if report.bootstrap is None else _bootstrap(report.bootstrap),
        "truth": None if report.truth is None else _truth(report, counts=counts),
        "counts": report.counts.to_dict() if counts else None,
    }
    if (bounds := report.bounds) is not None:
        document["binning"] = bounds.to_dict()
    if curves:
        document["roc"], document["pr"] = report.roc.to_dict(), report.pr.to_dict()
    return document


def _bootstrap(result: BootstrapResult) -> dict[str, Any]:
    return {
        "n_resamples": result.n_resamples,
        "n_rejected": result.n_rejected,
        "confidence_level": result.confidence_level,
        "method": result.method,
        "varied": result.varied,
        "roc_band": _bands(result.roc_band("pointwise"), result.roc_band("simultaneous")),
        "pr_band": _bands(result.pr_band("pointwise"), result.pr_band("simultaneous")),
    }


def _bands(*bands: CurveBand) -> dict[str, Any]:
    """Both bands of a curve, which share their x and the curve itself."""
    first = bands[0]
    ends: dict[str, Any] = {
        str(band.kind): {"low": plain(band.low), "high": plain(band.high)} for band in bands
    }
    return {"x": plain(first.x), "estimate": plain(first.estimate), **ends}


def _truth(report: PUReport, *, counts: bool) -> dict[str, Any]:
    truth = report.truth
    assert truth is not None  # noqa: S101 - asked by the caller
    curve = None
    if counts:
        roc = truth.roc
        columns = {"fpr": roc.fpr_pu, "tpr": roc.tpr_pu, "thresholds": roc.thresholds}
        curve = {name: plain(column) for name, column in columns.items()}
    return {**truth.to_dict(), "roc": curve}


def plain(column: Any) -> list[float | None]:
    """A column as a list; what is not finite becomes None."""
    return [value if math.isfinite(value) else None for value in column.tolist()]
