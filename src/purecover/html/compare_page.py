"""From a comparison to the text of its page, and the data its script needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._view import (
    compared,
    comparison_facts,
    comparison_headline,
    comparison_interval_note,
    comparison_notes,
    findings_by_score,
    main_metrics,
    number,
    shortened,
    shown_metrics,
    title_of,
    versions,
)
from purecover.html.page import CHARTS, fill_template
from purecover.html.svg import Chart, make_chart, make_whiskers, thin

if TYPE_CHECKING:
    from purecover._typing import FloatArray
    from purecover.report.compare import ScoreComparison
    from purecover.report.results import PUReport


# -- A comparison as plain data for the script of its page ---------------------------------------


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
    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    keep = thin(x, y)
    return {"x": x[keep].round(6).tolist(), "y": y[keep].round(6).tolist()}


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


# -- From a comparison to the text of a page; computes nothing new -------------------------------


SCRIPTS = (*CHARTS, "js/compare.js")
COLORS = 6
"""Colors of curves; where there are more models, the next ones are dashed."""


def render_comparison(
    comparison: ScoreComparison, *, command: str | None = None, title: str | None = None
) -> str:
    """A comparison as a self-contained page.

    Parameters
    ----------
    comparison : ScoreComparison
        What :func:`purecover.compare_scores` returned.
    command : str, optional
        The command that made the comparison, to be shown on the page.
    title : str, optional
        Heading of the page.

    Returns
    -------
    str
        HTML that holds its data, style and scripts and loads nothing; a content security policy
        inside the page lets no other script run and nothing be fetched or sent. Where scripts do
        not run, text, tables and figures are there all the same.
    """
    kinds = {
        name: f"series s{i % COLORS} d{i // COLORS % 3}" for i, name in enumerate(comparison.names)
    }
    first = comparison.reports[comparison.baseline]
    main = main_metrics(comparison)
    rest = [name for name in shown_metrics(first.metrics) if name not in main]
    return fill_template(
        "compare.html.j2",
        ("style.css", "report.css", "compare.css"),
        SCRIPTS,
        title=title or "Comparison of models",
        headline=comparison_headline(comparison),
        notes=comparison_notes(comparison)[1:],  # the heading names the baseline
        main=[(compared(comparison, name), comparison.best(name)) for name in main],
        rest=[(compared(comparison, name), comparison.best(name)) for name in rest],
        resampled=bool(comparison.n_resamples),
        whiskers=[
            make_whiskers(
                name,
                title_of(name, first.metrics.options),
                comparison.differences[name],
                kinds,
                comparison.baseline,
            )
            for name in main
        ],
        baseline=comparison.baseline,
        charts=[_roc_chart(comparison, kinds), _pr_chart(comparison, kinds)],
        findings=findings_by_score(comparison),
        n_scores=len(comparison.names),
        facts=comparison_facts(comparison),
        estimation_notes=() if first.estimation is None else first.estimation.notes,
        interval_note=comparison_interval_note(comparison),
        versions=versions(),
        command=command,
        payload=comparison_payload(comparison),
    )


# -- figures ------------------------------------------------------------------------------


def _roc_chart(comparison: ScoreComparison, kinds: dict[str, str]) -> Chart:
    line = np.array([0.0, 1.0])
    curves = [("chance", "chance", line, line)]
    for name, report in comparison.reports.items():
        label = f"{shortened(name, LONGEST)} ({area_of(report)})"
        curves.append((kinds[name], label, report.roc.fpr, report.roc.tpr))
    areas = ", ".join(f"{name} {area_of(report)}" for name, report in comparison.reports.items())
    return make_chart(
        "roc",
        "Recovered ROC curves",
        f"True-positive rate against false-positive rate. Recovered AUC: {areas}.",
        axes=("False-positive rate", "True-positive rate"),
        curves=curves,
    )


def _pr_chart(comparison: ScoreComparison, kinds: dict[str, str]) -> Chart:
    prior = comparison.reports[comparison.baseline].pr.prior
    curves = [("chance", f"chance (prior {prior:.3g})", np.array([0.0, 1.0]), np.full(2, prior))]
    for name, report in comparison.reports.items():
        label = f"{shortened(name, LONGEST)} ({number(report.pr.auc_pr, 3)})"
        curves.append((kinds[name], label, report.pr.recall, report.pr.precision))
    areas = ", ".join(
        f"{name} {number(report.pr.auc_pr, 3)}" for name, report in comparison.reports.items()
    )
    return make_chart(
        "pr",
        "Recovered precision-recall curves",
        f"Precision against recall, for a population with a share of {prior:.3g} positives. "
        f"Recovered AUC-PR: {areas}.",
        axes=("Recall", "Precision"),
        curves=curves,
    )
