"""Hidden positives: metrics of all positives if labeled ones are the easier ones to score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover.documents.formats import number
from purecover.documents.parts import Row, Section, Table
from purecover.recovery.hidden import LARGEST_THETA, tipping_theta

if TYPE_CHECKING:
    from purecover.report.results import PUReport

MARKS = {
    "labels at random": 0.5,
    "species records, other places": 0.62,
    "diabetes told by a doctor": 0.68,
    "species records, same places": 0.71,
}
"""Theta of real labels with known truth (``studies/results/real_labels.md``)."""

_COLUMNS = {"auc": "AUC", "recall": "Recall", "precision": "Precision", "n_missed": "Missed"}
_OF_REPORT = {"auc": "roc_auc", "recall": "recall", "precision": "precision", "n_missed": "fn"}
"""The same of positives like the labeled ones, in a report."""


def applies(report: PUReport) -> bool:
    """Return whether there are hidden positives, as far as alpha shows, and a corrected AUC."""
    return not report.infeasible and report.alpha > 0


def hidden_section(report: PUReport) -> Section:
    """Return metrics of all positives at some values of theta."""
    titles = {theta: f"{theta:.2f} {name}" for name, theta in MARKS.items()}
    titles |= {theta: f"{theta:.2f}" for theta in (0.6, 0.8, 0.9)}
    thetas = sorted(titles)
    found = report.hidden(thetas)
    rows = []
    for i, theta in enumerate(thetas):
        cells = {name: number(float(getattr(found, name)[i]), 3) for name in _COLUMNS}
        cells |= {"n_missed": f"{found.n_missed[i]:,.0f}"} | dict.fromkeys(_unknown(report), "-")
        rows.append(Row(titles[theta], cells))
    return Section(
        "Hidden positives",
        [Table("Theta", _COLUMNS, rows)],
        "The report is for positives like the labeled ones. People often label the clear cases "
        "first; hidden positives then score lower. Theta is the probability that a labeled "
        "positive outranks a hidden one. At each theta these are the metrics of all positives, "
        "from rates that are neither repaired nor corrected for the choice of the threshold:",
        "Alpha, beta and the threshold are those of the report. Hidden positives are assumed to "
        "have normal scores of the same spread, after some increasing transformation. "
        "audit.judge_hidden estimates theta from judged rows. Values of theta with a name are "
        "those of real labels.",
        tipping_lines(report),
    )


def _unknown(report: PUReport) -> list[str]:
    """Return columns whose values are hardly known already for positives like the labeled ones."""
    return [name for name, own in _OF_REPORT.items() if own in report.hardly_known]


def tipping_lines(report: PUReport) -> list[str]:
    """Return a sentence on each metric that the caller wants to be at least a value.

    Only for an alpha that the caller gave: any other follows from labels at random, which theta
    doubts.
    """
    if not applies(report) or report.estimation is not None or report.proportions._alpha_varies:
        return []
    lines = []
    for metric, value in report.at_least.items():
        theta = tipping_theta(
            report.counts, report.proportions, metric, value, threshold=report.threshold
        )
        name = f"{'AUC' if metric == 'auc' else metric} of all positives"
        if metric in _unknown(report):
            lines.append(f"Whether the {name} is at least {value:.2f} is not known.")
        elif math.isnan(theta):
            lines.append(f"At this alpha the {name} is below {value:.2f} even for random labels.")
        elif theta >= LARGEST_THETA:
            lines.append(f"At this alpha the {name} is at least {value:.2f} whatever theta is.")
        else:
            lines.append(
                f"At this alpha the {name} is below {value:.2f} only if theta > {theta:.2f}: "
                f"labeled positives outrank hidden ones in more than {100 * theta:.0f} % of pairs."
            )
    return lines


def hidden_curves(report: PUReport) -> dict[str, Any] | None:
    """Return metrics over theta for the chart of a page."""
    if not applies(report):
        return None
    thetas = np.linspace(0.5, 0.95, 46)
    found = report.hidden(thetas)
    curves: dict[str, Any] = {n: np.round(getattr(found, n), 6).tolist() for n in _COLUMNS}
    curves |= dict.fromkeys(_unknown(report))
    marks = [{"name": name, "theta": theta} for name, theta in MARKS.items() if theta > 0.5]
    return {"theta": thetas.round(4).tolist(), **curves, "marks": marks}
