"""From a comparison to the text of its page, and the data its script needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._codec import plain
from purecover._typing import FloatArray
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
from purecover.html.svg import Chart, drawn_points, make_chart, make_whiskers

if TYPE_CHECKING:
    from purecover.report.compare import ScoreComparison


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
        "curves": {each.name: each.payload() for each in curves_of(comparison)},
    }


def _differences(
    comparison: ScoreComparison, metrics: list[str], names: list[str]
) -> dict[str, list[list[float | None]]]:
    found = {}
    for metric in metrics:
        better = comparison.better.get(metric, {})
        found[metric] = [
            plain([names.index(name), i.estimate, i.low, i.high, better.get(name, math.nan)])
            for name, i in comparison.differences[metric].items()
        ]
    return found


@dataclass(frozen=True)
class Curves:
    """Curves of all models: area, x and y by name; ``chance`` is its label and both its ends."""

    name: str
    title: str
    about: str
    axes: tuple[str, str]
    chance: tuple[str, list[float]]
    models: dict[str, tuple[str, FloatArray, FloatArray]]

    @property
    def description(self) -> str:
        """What is drawn, with the areas."""
        return f"{self.about}: {', '.join(f'{n} {area}' for n, (area, *_) in self.models.items())}."

    def label(self, name: str) -> str:
        """A model in the legend."""
        return f"{shortened(name, LONGEST)} ({self.models[name][0]})"

    def payload(self) -> dict[str, Any]:
        """Plain data for the script."""
        models = []
        for name, (_, *curve) in self.models.items():
            x, y = (each.round(6).tolist() for each in drawn_points(*curve))
            models.append({"name": name, "label": self.label(name), "x": x, "y": y})
        return {
            "title": self.title,
            "description": self.description,
            "x": self.axes[0],
            "y": self.axes[1],
            "chance": {"label": self.chance[0], "x": [0, 1], "y": self.chance[1]},
            "models": models,
        }

    def chart(self, kinds: dict[str, str]) -> Chart:
        """The figure as it stands in the file; ``kinds`` are classes in the style sheet."""
        label, ends = self.chance
        curves = [("chance", label, np.array([0.0, 1.0]), np.array(ends, dtype=np.float64))]
        curves += [(kinds[n], self.label(n), x, y) for n, (_, x, y) in self.models.items()]
        return make_chart(self.name, self.title, self.description, axes=self.axes, curves=curves)


def curves_of(comparison: ScoreComparison) -> list[Curves]:
    """ROC and precision-recall curves."""
    rocs, prs = {}, {}
    for name, report in comparison.reports.items():
        area = "infeasible" if report.infeasible else f"{report.auc:.3f}"
        rocs[name] = (area, report.roc.fpr, report.roc.tpr)
        prs[name] = (number(report.pr.auc_pr, 3), report.pr.recall, report.pr.precision)
    prior = comparison.reports[comparison.baseline].pr.prior
    return [
        Curves(
            "roc",
            "Recovered ROC curves",
            "True-positive rate against false-positive rate. Recovered AUC",
            ("False-positive rate", "True-positive rate"),
            ("chance", [0, 1]),
            rocs,
        ),
        Curves(
            "pr",
            "Recovered precision-recall curves",
            f"Precision against recall, for a population with a share of {prior:.3g} positives. "
            "Recovered AUC-PR",
            ("Recall", "Precision"),
            (f"chance (prior {prior:.3g})", [prior, prior]),
            prs,
        ),
    ]


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
        charts=[each.chart(kinds) for each in curves_of(comparison)],
        findings=findings_by_score(comparison),
        n_scores=len(comparison.names),
        facts=comparison_facts(comparison),
        estimation_notes=() if first.estimation is None else first.estimation.notes,
        interval_note=comparison_interval_note(comparison),
        versions=versions(),
        command=command,
        payload=comparison_payload(comparison),
    )
