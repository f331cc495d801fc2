"""A comparison as plain data for the script of its page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from purecover.html._svg import thin
from purecover.html._titles import shown_metrics, title_of
from purecover.html._whiskers import shortened
from purecover.html._words import number

if TYPE_CHECKING:
    from purecover._typing import FloatArray
    from purecover.report._comparison import ScoreComparison
    from purecover.report._report import PUReport

__all__ = ["LONGEST", "MANY", "area_of", "comparison_payload"]

LONGEST = 34
"""Characters of a name in a legend."""

MANY = 12
"""With more models than this the page keeps to its baseline: pairs grow as their square."""


def comparison_payload(comparison: ScoreComparison) -> dict[str, Any]:
    """Names, differences from every baseline that can be chosen, and curves as they are drawn.

    A difference is a row of the number of the model, the estimate, both ends, and the share of
    replicates in which it is better; null where something is undefined.
    """
    names = list(comparison.names)
    first = comparison.reports[comparison.baseline]
    metrics = shown_metrics(first.metrics)
    free = len(names) <= MANY and comparison._rows is not None
    choices = names if free else [comparison.baseline]
    return {
        "schema": 1,
        "names": names,
        "baseline": names.index(comparison.baseline),
        "confidence_level": comparison.confidence_level,
        "metrics": [{"name": m, "title": title_of(m, first.metrics.options)} for m in metrics],
        "differences": {
            names.index(base): _differences(comparison.against(base), metrics, names)
            for base in choices
        },
        "curves": {"roc": _roc(comparison), "pr": _pr(comparison)},
    }


def _differences(
    comparison: ScoreComparison, metrics: list[str], names: list[str]
) -> dict[str, list[list[float | None]]]:
    found = {}
    for metric in metrics:
        better = comparison.better.get(metric, {})
        found[metric] = [
            [
                names.index(name),
                *map(_plain, (i.estimate, i.low, i.high, better.get(name, math.nan))),
            ]
            for name, i in comparison.differences[metric].items()
        ]
    return found


def area_of(report: PUReport) -> str:
    """The recovered AUC for a legend, where alpha and beta fit."""
    return "infeasible" if report.infeasible else f"{report.auc:.3f}"


def _roc(comparison: ScoreComparison) -> dict[str, Any]:
    return {
        "title": "Recovered ROC curves",
        "description": "True-positive rate against false-positive rate of all models.",
        "x": "False-positive rate",
        "y": "True-positive rate",
        "chance": {"label": "chance", "x": [0, 1], "y": [0, 1]},
        "models": [
            {
                "name": name,
                "label": f"{shortened(name, LONGEST)} ({area_of(report)})",
                **_points(report.roc.fpr, report.roc.tpr),
            }
            for name, report in comparison.reports.items()
        ],
    }


def _pr(comparison: ScoreComparison) -> dict[str, Any]:
    prior = comparison.reports[comparison.baseline].pr.prior
    return {
        "title": "Recovered precision-recall curves",
        "description": "Precision against recall of all models.",
        "x": "Recall",
        "y": "Precision",
        "chance": {"label": f"chance (prior {prior:.3g})", "x": [0, 1], "y": [prior, prior]},
        "models": [
            {
                "name": name,
                "label": f"{shortened(name, LONGEST)} ({number(report.pr.auc_pr, 3)})",
                **_points(report.pr.recall, report.pr.precision),
            }
            for name, report in comparison.reports.items()
        ],
    }


def _points(x: FloatArray, y: FloatArray) -> dict[str, list[float]]:
    """A curve with as many points as can be told apart."""
    import numpy as np

    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    keep = thin(x, y)
    return {"x": x[keep].round(6).tolist(), "y": y[keep].round(6).tolist()}


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
