"""From a comparison to the text of its page, and the data its script needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from purecover.html.page import CHARTS, fill_template
from purecover.html.svg import Chart, make_chart, make_whiskers, shortened, thin
from purecover.html.words import (
    by_method,
    ends,
    estimated_by,
    findings_by_score,
    lead_in_auc,
    notes_of,
    number,
    share,
    shown_in_short,
    shown_metrics,
    title_of,
    versions,
)
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover._typing import FloatArray
    from purecover.intervals.interval import Interval
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
    import numpy as np

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
_NAMED = 60
"""Characters of a name in a sentence."""


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
    options = comparison.reports[comparison.baseline].metrics.options
    main = shown_in_short(comparison)
    every = shown_metrics(comparison.reports[comparison.baseline].metrics)
    return fill_template(
        "compare.html.j2",
        ("style.css", "report.css", "compare.css"),
        SCRIPTS,
        title=title or "Comparison of models",
        headline=_headline(comparison),
        notes=notes_of(comparison)[1:],  # the heading names the baseline
        level=f"{100 * comparison.confidence_level:g} %",
        main=[_block(comparison, name) for name in main],
        rest=[_block(comparison, name) for name in every if name not in main],
        resampled=bool(comparison.n_resamples),
        truth=any(report.truth is not None for report in comparison.reports.values()),
        whiskers=[
            make_whiskers(
                name,
                title_of(name, options),
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
        facts=_facts(comparison),
        estimation_notes=_estimation_notes(comparison),
        interval_note=_interval_note(comparison),
        versions=versions(),
        command=command,
        payload=comparison_payload(comparison),
    )


# -- words --------------------------------------------------------------------------------


def _headline(comparison: ScoreComparison) -> list[str]:
    reports, base = comparison.reports, comparison.baseline
    p = comparison.proportions
    shares = f"{share(p.alpha)} of the unlabeled and {share(p.beta)} of the labeled"
    unfit = [name for name, report in reports.items() if report.infeasible]
    if unfit:
        worst = max(unfit, key=lambda name: abs(reports[name].auc_direct - 0.5))
        first = (
            f"If {shares} were positive, the true AUC of {shortened(worst, _NAMED)} would be "
            f"{reports[worst].auc_direct:.3f}, outside [0, 1]: the scores of {len(unfit)} of "
            f"{len(reports)} models do not fit alpha and beta."
        )
        second = "Which model is ahead in AUC does not depend on alpha and beta; by how much does."
        return [first, second]
    best = comparison.best("roc_auc") or base
    rival = base
    if best == base:
        others = [name for name in reports if name != base]
        rival = max(others, key=lambda name: reports[name].auc)
    seen = lead_in_auc(comparison, best, rival)
    sentence = (
        f"Of {len(reports)} models, {shortened(best, _NAMED)} has the highest recovered AUC, "
        f"{number(reports[best].auc, 3)}: {seen.estimate:.3f} above {shortened(rival, _NAMED)}"
    )
    if _bounded(seen):
        level = f"{100 * seen.confidence_level:g} %"
        sentence += f" ({level} interval of the difference {seen.low:.3f} to {seen.high:.3f})"
        second = "Chance can explain the difference: its interval holds 0."
        if seen.low > 0:
            second = "The interval excludes 0."
            if len(reports) > 2:
                second += " The best was picked from these very data, which flatters it a little."
    else:
        second = "There is too little data, or there are no replicates, for an interval of it."
    about = "about " if comparison.estimated_from else ""
    return [f"{sentence}.", second, f"This holds if {about}{shares} are positive."]


def _bounded(interval: Interval) -> bool:
    return math.isfinite(interval.low) and math.isfinite(interval.high)


def _facts(comparison: ScoreComparison) -> list[tuple[str, list[tuple[str, str]]]]:
    report, p = comparison.reports[comparison.baseline], comparison.proportions
    counts = report.counts
    weighted = " (sum of weights)" if counts.is_weighted else ""
    data = [
        ("Labeled", f"{counts.n_labeled:,.10g}{weighted}"),
        ("Unlabeled", f"{counts.n_unlabeled:,.10g}{weighted}"),
    ]
    if counts.n_negative:
        data.append(("Known negatives", f"{counts.n_negative:,.10g}{weighted}"))
    origin = p.origin
    if report.estimation is not None:
        origin = f"estimated by {estimated_by(report.estimation)}"
    assumptions = [
        ("Share of positives among the unlabeled, alpha", _share(comparison, "alpha", p.alpha)),
        ("Share of positives among the labeled, beta", _share(comparison, "beta", p.beta)),
        ("Where they come from", origin),
        ("How the data were drawn", p.scenario),
        ("Prior that precision speaks of", f"{report.metrics.prior:.4g}"),
    ]
    if comparison.estimated_from is not None:
        assumptions.insert(3, ("Estimated once, from", comparison.estimated_from))
    seed = "" if comparison.random_state is None else f", seed {comparison.random_state}"
    settings = [
        ("Baseline", comparison.baseline),
        ("Resamples", f"{comparison.n_resamples:,}{seed}"),
        ("Simultaneous intervals", "yes" if comparison.simultaneous else "no"),
        ("Area under precision-recall", report.pr.area),
    ]
    thresholds = [
        (name, f"{other.metrics.threshold:.6g}") for name, other in comparison.reports.items()
    ]
    return [
        ("Data", data),
        ("Assumptions", assumptions),
        ("Settings", settings),
        ("Thresholds", thresholds),
    ]


def _share(comparison: ScoreComparison, name: str, value: float) -> str:
    estimation = comparison.reports[comparison.baseline].estimation
    between = "" if estimation is None else ends(estimation.intervals.get(name))
    return f"{value:.4g} ({between})" if between else f"{value:.4g}"


def _estimation_notes(comparison: ScoreComparison) -> tuple[str, ...]:
    estimation = comparison.reports[comparison.baseline].estimation
    return () if estimation is None else estimation.notes


def _interval_note(comparison: ScoreComparison) -> str:
    """How the intervals of differences were made."""
    found = comparison.differences
    methods: dict[str, list[str]] = {}
    for metric in found:
        for interval in found[metric].values():
            titles = methods.setdefault(interval.method, [])
            if METRICS[metric].title not in titles:
                titles.append(METRICS[metric].title)
    methods.pop("none", None)
    return f"Intervals of differences: {by_method(methods)}." if methods else ""


# -- tables -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One model in one metric, as text; ``at`` is its number among the models."""

    at: int
    name: str
    baseline: bool
    best: bool
    observed: str
    recovered: str
    interval: str
    difference: str
    between: str
    better: str
    true: str


@dataclass(frozen=True)
class Block:
    """All models in one metric."""

    metric: str
    title: str
    rows: list[Row]


def _block(comparison: ScoreComparison, metric: str) -> Block:
    best = comparison.best(metric)
    rows = []
    for i, (name, report) in enumerate(comparison.reports.items()):
        gap = comparison.differences[metric].get(name)
        better = comparison.better.get(metric, {}).get(name, math.nan)
        infeasible = metric == "roc_auc" and report.infeasible
        rows.append(
            Row(
                at=i,
                name=name,
                baseline=name == comparison.baseline,
                best=name == best,
                observed=number(report.metrics.observed[metric]),
                recovered="infeasible" if infeasible else number(report.metrics[metric]),
                interval="" if infeasible else ends(report.intervals.get(metric)),
                difference="" if gap is None else _signed(gap.estimate),
                between="" if gap is None else _signed_ends(gap),
                better=f"{100 * better:.1f} %" if math.isfinite(better) else "",
                true="" if report.truth is None else number(report.truth.metrics[metric]),
            )
        )
    options = comparison.reports[comparison.baseline].metrics.options
    return Block(metric, title_of(metric, options), rows)


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−") if math.isfinite(value) else "undefined"


def _signed_ends(interval: Interval) -> str:
    if _bounded(interval):
        return f"{_signed(interval.low)} to {_signed(interval.high)}"
    return "" if interval.method == "none" else "undefined"


# -- figures ------------------------------------------------------------------------------


def _roc_chart(comparison: ScoreComparison, kinds: dict[str, str]) -> Chart:
    import numpy as np

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
    import numpy as np

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
