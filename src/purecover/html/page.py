"""From a report, or a comparison, to the text of a page; computes nothing new."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from purecover import _view as view
from purecover._codec import plain
from purecover._typing import FloatArray
from purecover.html import svg
from purecover.html.payload import make_payload
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.counts import ScoreCounts
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.intervals.interval import Interval
    from purecover.monitoring.monitor import ScoreMonitor
    from purecover.report.compare import ScoreComparison
    from purecover.report.many import ManyReports, ManyRow
    from purecover.report.results import PUReport


# -- The curves of the page as they stand in the file, before a script draws them anew -----------


_NONE = "; there is no recovered one."


def roc_chart(report: PUReport) -> dict[str, Any]:
    """Observed and recovered ROC curve."""
    roc = report.roc
    diagonal = np.array([0.0, 1.0])
    area = "infeasible" if report.infeasible else f"{report.auc:.3f}"
    if (direct := view.cautious(report)) is not None:
        area = f"{direct:.3f}; cautious AUC {area}"
    curves = [
        ("chance", "chance", diagonal, diagonal),
        ("observed", f"observed (AUC {report.auc_pu:.3f})", roc.fpr_pu, roc.tpr_pu),
    ]
    if not report.contradicted:
        curves.append(("recovered", f"recovered (AUC {area})", roc.fpr, roc.tpr))
    if report.truth is not None:
        known = view.number(report.truth.metrics["roc_auc"], 3)
        true = report.truth.roc
        curves.append(("true", f"true (AUC {known})", true.fpr_pu, true.tpr_pu))
    at = (report.metrics.get("fpr", math.nan), report.metrics.get("recall", math.nan))
    return svg.make_chart(
        "roc",
        "ROC curve",
        f"True-positive rate against false-positive rate. The observed curve has an AUC of "
        f"{report.auc_pu:.3f}" + (_NONE if report.contradicted else f", the recovered one {area}."),
        axes=("False-positive rate", "True-positive rate"),
        curves=curves,
        band=report.roc_band,
        point=at,
        point_label=f"threshold {report.metrics.threshold:.4g}",
    )


def pr_chart(report: PUReport) -> dict[str, Any]:
    """Observed and recovered precision-recall curve."""
    pr = report.pr
    curves = [
        ("chance", f"chance (prior {pr.prior:.3g})", np.array([0.0, 1.0]), np.full(2, pr.prior)),
        (
            "observed",
            f"observed (area {view.number(pr.auc_pr_pu, 3)})",
            pr.recall_pu,
            pr.precision_pu,
        ),
    ]
    area = view.number(pr.auc_pr, 3)
    if not report.contradicted:
        curves.append(("recovered", f"recovered (area {area})", pr.recall, pr.precision))
    precision = METRICS["precision"].of_rates
    if report.truth is not None and precision is not None:
        true = report.truth.roc
        values = precision(true.tpr_pu, true.fpr_pu, report.truth.prior, report.metrics.options)
        known = view.number(report.truth.metrics["auc_pr"], 3)
        curves.append(("true", f"true (area {known})", true.tpr_pu, np.asarray(values)))
    at = (report.metrics.get("recall", math.nan), report.metrics.get("precision", math.nan))
    return svg.make_chart(
        "pr",
        "Precision-recall curve",
        f"Precision against recall, for a population with a share of {pr.prior:.3g} positives. "
        f"The area under the observed curve is {view.number(pr.auc_pr_pu, 3)}"
        + (_NONE if report.contradicted else f", under the recovered one {area}."),
        axes=("Recall", "Precision"),
        curves=curves,
        band=report.pr_band,
        point=at,
        point_label=f"threshold {report.metrics.threshold:.4g}",
    )


# -- From a report to the text of a page; computes nothing new -----------------------------------


ENGINE = tuple(
    f"js/engine/{name}.js"
    for name in ("arrays", "observed", "likelihood", "repairs", "metrics", "recover")
)
"""Scripts that compute, in their order: each uses what those before it define."""
CHARTS = (
    "vendor/plot.min.js",
    "js/document.js",
    "js/charts/frame.js",
    "js/charts/plots.js",
    "js/charts/figure.js",
)
"""Scripts that every page with charts runs first."""
SCRIPTS = (
    *CHARTS,
    "js/charts/heat.js",
    *ENGINE,
    "js/report/state.js",
    "js/report/specs.js",
    "js/report/charts.js",
    "js/report/tables.js",
    "js/report/page.js",
)
"""Scripts of a report."""
_AT_A_GLANCE = ("precision", "recall", "f1", "mcc", "cost")
"""The few metrics that stand beside the numbers of the unlabeled."""


class About(TypedDict, total=False):
    """What may be said of any page.

    Attributes
    ----------
    command : str
        The command that made it, to be shown on the page.
    title : str
        Its heading.
    source : mapping
        ``"file"`` and ``"columns"`` that the scores come from, as in JSON documents.
    """

    command: str | None
    title: str | None
    source: Mapping[str, Any] | None


def render_report(report: PUReport, **about: Unpack[About]) -> str:
    """A report as a self-contained page.

    Parameters
    ----------
    report : PUReport
        What :func:`purecover.evaluate` returned.
    **about
        See :class:`About`.

    Returns
    -------
    str
        HTML that holds its data, style and scripts and loads nothing; a content security policy
        inside the page lets no other script run and nothing be fetched or sent. Where scripts do
        not run, text, tables and curves are there all the same.

    Examples
    --------
    >>> from purecover import evaluate, simulate
    >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
    >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    >>> report.to_html().startswith("<!doctype html>")
    True
    """
    payload = make_payload(report)
    return _page(
        "report.html.j2",
        "Recovered performance",
        view.headline(report),
        about,
        data=(report.counts, report.scores_from),
        scripts=SCRIPTS,
        view=view.sections(report),
        columns=view.metric_columns(report),
        findings=report.findings,
        passed=[check for check in report.checks if not check.fired],
        charts=[roc_chart(report), pr_chart(report)],
        dots=None if report.estimation is None else svg.make_dots(report.estimation, report.truth),
        tiles=_tiles(report),
        glance=[view.metric_row(report, name) for name in _AT_A_GLANCE if name in report.metrics],
        population=view.population(report),
        thinning=view.thinning(payload["thinned"], report.counts),
        payload=payload,
    )


def _tiles(report: PUReport) -> dict[str, str]:
    """Figures beside the sliders; where positives are rare, those of the threshold come first."""
    titles = {"roc_auc": "AUC", "auc_pr": "AUC-PR", "precision": "Precision", "recall": "Recall"}
    order = sorted(titles, key=("precision", "recall").__contains__, reverse=view.rare(report))
    return {name: titles[name] for name in order}


_IN_NOTEBOOK = (
    "roc_auc", "auc_pr", "recall", "specificity", "precision", "f1", "mcc", "precision_at_k",
    "recall_at_k",
)  # fmt: skip


def render_notebook(report: PUReport) -> str:
    """Findings, ROC curve and main metrics as a fragment of HTML that can stand in any page.

    No script, no style sheet, no names that others might use: everything is styled where it
    stands, so that nothing leaks into a notebook and two reports do not meet. Text takes the
    color of the notebook, and curves take colors that show on white and on black, since a page
    within a page cannot know which it is.
    """
    return _filled(
        "notebook.html.j2",
        headline=view.headline(report),
        chart=roc_chart(report),
        columns=view.metric_columns(report),
        rows=[view.metric_row(report, name) for name in _IN_NOTEBOOK if name in report.metrics],
        assumptions=report.assumptions,
        findings=report.findings,
        colors={"error": "#d64545", "warning": "#c78a1e", "note": "#5b8fc9"},
    )


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
    metrics = view.shown_metrics(first.metrics)
    free = len(names) <= MANY and comparison._rows is not None
    choices = names if free else [comparison.baseline]
    return {
        "schema": 1,
        "names": names,
        "baseline": names.index(comparison.baseline),
        "confidence_level": comparison.confidence_level,
        "metrics": [{"name": m, "title": view.title_of(m, first.metrics.options)} for m in metrics],
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
        return f"{view.shortened(name, LONGEST)} ({self.models[name][0]})"

    def payload(self) -> dict[str, Any]:
        """Plain data for the script."""
        models = []
        for name, (_, *curve) in self.models.items():
            x, y = (each.round(6).tolist() for each in svg.drawn_points(*curve))
            models.append({"name": name, "label": self.label(name), "x": x, "y": y})
        return {
            "title": self.title,
            "description": self.description,
            "x": self.axes[0],
            "y": self.axes[1],
            "chance": {"label": self.chance[0], "x": [0, 1], "y": self.chance[1]},
            "models": models,
        }

    def chart(self, kinds: dict[str, str]) -> dict[str, Any]:
        """The figure as it stands in the file; ``kinds`` are classes in the style sheet."""
        label, heights = self.chance
        curves = [("chance", label, np.array([0.0, 1.0]), np.array(heights, dtype=np.float64))]
        curves += [(kinds[n], self.label(n), x, y) for n, (_, x, y) in self.models.items()]
        return svg.make_chart(
            self.name, self.title, self.description, axes=self.axes, curves=curves
        )


def curves_of(comparison: ScoreComparison) -> list[Curves]:
    """ROC and precision-recall curves."""
    rocs, prs = {}, {}
    for name, report in comparison.reports.items():
        if report.contradicted:
            continue
        area = "infeasible" if report.infeasible else f"{report.auc:.3f}"
        rocs[name] = (area, report.roc.fpr, report.roc.tpr)
        prs[name] = (view.number(report.pr.auc_pr, 3), report.pr.recall, report.pr.precision)
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


COMPARISON_SCRIPTS = (*CHARTS, "js/compare.js")
COLORS = 6
"""Colors of curves; where there are more models, the next ones are dashed."""


def render_comparison(comparison: ScoreComparison, **about: Unpack[About]) -> str:
    """A comparison as a self-contained page; see :func:`render_report`."""
    kinds = {
        name: f"series s{i % COLORS} d{i // COLORS % 3}" for i, name in enumerate(comparison.names)
    }
    first = comparison.reports[comparison.baseline]
    main = view.main_metrics(comparison)
    rest = [name for name in view.shown_metrics(first.metrics) if name not in main]
    return _page(
        "compare.html.j2",
        "Comparison of models",
        view.comparison_headline(comparison),
        about,
        data=(first.counts, first.scores_from),
        styles=("compare.css",),
        scripts=COMPARISON_SCRIPTS,
        notes=view.comparison_notes(comparison)[1:],  # the heading names the baseline
        main=[(view.compared(comparison, name), comparison.best(name)) for name in main],
        rest=[(view.compared(comparison, name), comparison.best(name)) for name in rest],
        resampled=bool(comparison.n_resamples),
        whiskers=[
            svg.make_whiskers(
                name,
                view.title_of(name, first.metrics.options),
                comparison.differences[name],
                kinds,
                comparison.baseline,
            )
            for name in main
        ],
        baseline=comparison.baseline,
        charts=[each.chart(kinds) for each in curves_of(comparison)],
        findings=view.findings_by_score(comparison),
        n_scores=len(comparison.names),
        facts=view.comparison_facts(comparison),
        assumptions=view.assumptions_section(first),
        unseen=view.UNSEEN,
        estimation_notes=() if first.estimation is None else first.estimation.notes,
        interval_note=view.comparison_interval_note(comparison),
        payload=comparison_payload(comparison),
    )


# -- Many reports as a page of one table ---------------------------------------------------------


MOST_ROWS = 1000
"""Rows of a page; all of them are in the CSV file and in JSON."""
_BAR, _SQUARE = 120, 30


def render_many(many: ManyReports, **about: Unpack[About]) -> str:
    """Many reports as a self-contained page: a row for each task and score, the best first."""
    first = many.metrics[0]
    best = many.top(None, first)
    ordered = [*best, *(row for row in many.evaluated if row not in best)]
    values = [*(row.observed[first] for row in ordered), *(row.recovered[first] for row in ordered)]
    low = 0.5 if first == "roc_auc" and min(values, default=0.5) >= 0.5 else 0.0
    return _page(
        "many.html.j2",
        "Many evaluations",
        view.many_headline(many),
        about,
        columns=view.many_titles(many),
        rows=[_many_row(row, many.metrics, low) for row in ordered[:MOST_ROWS]],
        left_out=max(len(ordered) - MOST_ROWS, 0),
        low=low,
        bar=_BAR,
        square=_SQUARE,
        failed=many.failed[:MOST_ROWS],
    )


def _many_row(row: ManyRow, metrics: Sequence[str], low: float) -> dict[str, Any]:
    first = metrics[0]

    def at(value: float) -> float | None:
        inside = min(max((value - low) / (1 - low), 0.0), 1.0)
        return round(_BAR * inside, 1) if math.isfinite(value) else None

    interval = row.intervals.get(first)
    curve = ""
    if row.report is not None and not row.contradicted:
        x, y = svg.drawn_points(row.report.roc.fpr, row.report.roc.tpr)
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        curve = " ".join(f"{_SQUARE * a:.1f},{_SQUARE * (1 - b):.1f}" for a, b in pairs)
    shown = {
        name: view.WITHHELD if row.contradicted else view.number(row.recovered[name])
        for name in metrics
    }
    return {
        "row": row,
        "values": shown,
        "observed": view.number(row.observed[first]),
        "ends": "" if interval is None else view.ends(interval),
        "marks": (at(row.observed[first]), at(row.recovered[first])),
        "bar": None if interval is None else (at(interval.low), at(interval.high)),
        "curve": curve,
        "checks": [(code, how) for code, how in row.findings if how != "note"],
    }


# -- Evidence thresholds as a page ---------------------------------------------------------------


def render_evidence(
    found: EvidenceThresholds, report: PUReport | None = None, **about: Unpack[About]
) -> str:
    """Thresholds of evidence as a self-contained page: a table, a figure, what the prior hides."""
    return _page(
        "evidence.html.j2",
        "Evidence strength of a score",
        view.evidence_headline(found, report),
        about,
        view=view.evidence_sections(found),
        chart=svg.evidence_chart(found),
        facts=view.evidence_facts(found),
    )


# -- A monitor as a page: timelines, and a table of partitions -----------------------------------


MOST_PARTITIONS = 400
"""Partitions of a page, the newest ones; all of them are in the state file."""


def render_monitor(
    monitor: ScoreMonitor,
    *,
    said: view.Headline,
    table: view.Table,
    tests: view.Table | None,
    **about: Unpack[About],
) -> str:
    """A monitor as a self-contained page; what it says comes as sentences and tables."""
    shown = monitor.partitions[-MOST_PARTITIONS:]
    names = [part.name for part in shown]
    drifted = [part.drifted for part in shown]
    areas: dict[str, tuple[str, Sequence[Interval | None]]] = {
        "observed": ("observed AUC", [part.auc_pu for part in shown]),
        "recovered": ("recovered AUC", [part.auc for part in shown]),
    }
    lines = [svg.make_timeline("AUC", names, areas, drifted)]
    alphas = [part.alpha for part in shown]
    if any(alpha is not None and alpha.method != "given" for alpha in alphas):
        lines.append(svg.make_timeline("Alpha", names, {"recovered": ("alpha", alphas)}, drifted))
    return _page(
        "monitor.html.j2",
        "Scores over time",
        said,
        about,
        data=(monitor.counts, None),
        lines=lines,
        table=table,
        tests=tests,
        left_out=len(monitor.partitions) - len(shown),
    )


# -- A page of one file --------------------------------------------------------------------------


def _page(
    template: str,
    usual_title: str,
    said: view.Headline,
    about: About,
    *,
    data: tuple[ScoreCounts | None, str | None] = (None, None),
    styles: Sequence[str] = (),
    scripts: Sequence[str] = ("js/document.js",),
    **values: Any,
) -> str:
    """A page of ours: what all of them have, and the ``values`` of its own template.

    ``data`` are the counts that it is about, and how their scores were made.
    """
    title, source = about.get("title"), about.get("source") or {}
    return fill_template(
        template,
        ("style.css", "report.css", *styles),
        scripts,
        title=title or usual_title,
        # What the browser's title names where the caller gave no title of their own.
        subject="" if title else view.listed(source.get("file"), 80),
        identity=view.identity(*data, source),
        headline=said,
        versions=view.versions(),
        command=about.get("command"),
        **{"payload": {}, **values},
    )


def fill_template(name: str, styles: Sequence[str], scripts: Sequence[str], **values: Any) -> str:
    """A page from our template, with our style sheets and scripts inside and a policy for them.

    The template gets ``style``, ``scripts`` and ``policy`` beside the ``values``.
    """
    from markupsafe import Markup

    style = "".join(_resource(each) for each in styles)
    texts = [_resource(each) for each in scripts]
    return _filled(
        name,
        # Our own files, byte for byte what the hashes of the policy were taken of.
        style=Markup(style),  # noqa: S704
        scripts=[Markup(text) for text in texts],  # noqa: S704
        policy=_policy(style, texts),
        **values,
    )


def _filled(name: str, **values: Any) -> str:
    return str(_environment().get_template(name).render(**values))


@cache
def _resource(name: str) -> str:
    return files("purecover.html").joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A number and its sign stay on one line.
    made.filters["together"] = lambda text: text.replace(" %", "\u00a0%")
    return made


def _policy(style: str, scripts: Sequence[str]) -> str:
    """What a browser may do with the page: apply this style, run these scripts, nothing else."""
    run = f"script-src {' '.join(_digest(text) for text in scripts)}; " if scripts else ""
    # A script draws pictures to be saved, which have addresses of the kind blob.
    images = "data: blob:" if scripts else "data:"
    return (
        f"default-src 'none'; {run}style-src {_digest(style)}; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
