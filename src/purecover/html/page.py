"""Reports, comparisons and other results as pages of one file; computes nothing new."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from purecover._codec import plain
from purecover._shell import Shell
from purecover.documents import comparison as compared
from purecover.documents import details as parts
from purecover.documents import evidence
from purecover.documents import many as many_reports
from purecover.documents import summary as answers
from purecover.documents.formats import cut, listed, number, shortened, versions
from purecover.documents.parts import Headline, Table
from purecover.documents.summary import RANDOM_LABELS_UNSEEN, headline
from purecover.html import svg
from purecover.html.payload import make_payload, true_pr

if TYPE_CHECKING:
    from purecover.counts import ScoreCounts
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.report.compare import ScoreComparison
    from purecover.report.many import ManyReports
    from purecover.report.results import PUReport

CHARTS = (
    "vendor/plot.min.js",
    "js/document.js",
    *(f"js/charts/{name}.js" for name in ("frame", "plots", "figure")),
)
"""Scripts that every page with charts runs first."""
SCRIPTS = (
    *CHARTS,
    "js/charts/heat.js",
    *(f"js/report/{name}.js" for name in ("state", "alpha", "charts", "tables", "page", "hidden")),
)
"""Scripts of a report."""


class About(TypedDict, total=False):
    """Header and origin of a page.

    Attributes
    ----------
    command : str
        The command that made it, to be shown on the page.
    title : str
        Its heading.
    source : mapping
        ``"file"`` and ``"columns"`` that the scores come from, as in JSON documents.
    shell : Shell
        What commands about the file need; without it, the page names calls of Python.
    """

    command: str | None
    title: str | None
    source: Mapping[str, Any] | None
    shell: Shell | None


def curve_chart(report: PUReport, kind: Literal["roc", "pr"]) -> dict[str, Any]:
    """The observed, recovered and true curve, with the threshold marked.

    A recovered one that contradicts the scores is left out.
    """
    truth, level = report.truth, [0.0, 1.0]
    curves: dict[str, tuple[float, Any, Any]] = {}
    if kind == "roc":
        title, word, roc = "ROC curve", "AUC", report.roc
        axes = {"fpr": "False-positive rate", "recall": "True-positive rate"}
        chance = "chance"
        curves["observed"] = (report.auc_pu, roc.fpr_pu, roc.tpr_pu)
        curves["recovered"] = (math.nan if report.infeasible else report.auc, roc.fpr, roc.tpr)
        if truth is not None:
            curves["true"] = (truth.metrics["roc_auc"], truth.roc.fpr_pu, truth.roc.tpr_pu)
    else:
        title, word, pr = "Precision-recall curve", "area", report.pr
        axes = {"recall": "Recall", "precision": "Precision"}
        chance, level = f"chance (prior {pr.prior:.3g})", [pr.prior, pr.prior]
        curves["observed"] = (pr.auc_pr_pu, pr.recall_pu, pr.precision_pu)
        curves["recovered"] = (pr.auc_pr, pr.recall, pr.precision)
        if truth is not None:
            curves["true"] = (truth.metrics["auc_pr"], *true_pr(truth))
    if report.contradicted:
        del curves["recovered"]
    areas = {k: number(area, 3) for k, (area, _, _) in curves.items()}
    if {"roc": "roc_auc", "pr": "auc_pr"}[kind] in report.hardly_known:
        areas["recovered"] = "–"
    point = [report.metrics.get(name, math.nan) for name in axes]
    horizontal, vertical = axes.values()
    words = {k: "corrected" if k == "recovered" else k for k in curves}
    said = ", ".join(f"under the {words[k]} one {area}" for k, area in areas.items())
    return svg.make_chart(
        kind,
        title,
        f"{vertical} against {horizontal.lower()}. Areas of the curves: {said}.",
        axes=(horizontal, vertical),
        curves=[
            ("chance", chance, [0, 1], level),
            *((k, f"{words[k]} ({word} {areas[k]})", x, y) for k, (_, x, y) in curves.items()),
        ],
        band=report.roc_band if kind == "roc" else report.pr_band,
        point=(point[0], point[1], f"threshold {report.metrics.threshold:.4g}"),
    )


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
    payload, n = make_payload(report), report.counts.n_thresholds
    grid = payload["grid"]
    sliders = (
        f"The sliders have {len(grid['alphas'])} alphas and {len(grid['thresholds'])} thresholds, "
        "at each of which purecover computed what this page shows, as if alpha were given."
    )
    if grid["n_scores"] < n:
        sliders += (
            f" The report is computed from all {n:,} distinct scores or bins, these numbers from "
            f"the counts at {grid['n_scores']:,} of them, at which observed rates are exact."
        )
    return make_page(
        "report.html.j2",
        "Recovered performance",
        headline(report),
        about,
        data=(report.counts, report.scores_from),
        scripts=SCRIPTS,
        view=parts.sections(report),
        columns=answers.metric_columns(report),
        findings=report.findings,
        passed=[check for check in report.checks if not check.fired],
        charts=[curve_chart(report, "roc"), curve_chart(report, "pr")],
        tables=answers.metric_tables(report),
        alpha=answers.alpha_words(report),
        lines=[] if report.contradicted else answers.answer_lines(report)[1:],
        prices=[
            each for block in answers.price_blocks(report, about.get("shell")) for each in block
        ],
        thinning=sliders,
        payload=payload,
    )


def render_notebook(report: PUReport) -> str:
    """Findings, ROC curve and main metrics as a fragment of HTML that can stand in any page.

    No script, no style sheet, no names that others might use: everything is styled where it
    stands, so that nothing leaks into a notebook and two reports do not meet. Text takes the
    color of the notebook, and curves take colors that show on white and on black, since a page
    within a page cannot know which it is.
    """
    return _filled(
        "notebook.html.j2",
        headline=headline(report),
        chart=curve_chart(report, "roc"),
        columns=answers.metric_columns(report),
        rows=[row for table in answers.metric_tables(report) for row in table.rows],
        assumptions=parts.assumptions_section(report).tables[0].rows,
        findings=report.findings,
        colors={"error": "#d64545", "warning": "#c78a1e", "note": "#5b8fc9"},
    )


MAX_NAME = 34
"""Characters of a name in a legend."""


def comparison_payload(comparison: ScoreComparison) -> dict[str, Any]:
    """Return names, differences from the baseline, and curves as they are drawn.

    A difference is a row of the number of the model, the estimate, both ends, and the share of
    replicates in which it is better; null where something is undefined. Models that alpha and beta
    contradict have no curves.
    """
    names = list(comparison.names)
    first = comparison.reports[comparison.baseline]
    options, metrics = first.metrics.options, compared.main_metrics(comparison)
    differences = {
        metric: [
            plain([names.index(name), gap.estimate, gap.low, gap.high, better.get(name, math.nan)])
            for name, gap in comparison.differences[metric].items()
        ]
        for metric in metrics
        for better in [comparison.better.get(metric, {})]
    }
    curves: dict[str, list[dict[str, Any]]] = {"roc": [], "pr": []}
    for name, report in comparison.reports.items():
        roc, pr = report.roc, report.pr
        area = math.nan if report.infeasible else report.auc
        both = (
            ("roc", "roc_auc", area, roc.fpr, roc.tpr),
            ("pr", "auc_pr", pr.auc_pr, pr.recall, pr.precision),
        )
        for kind, metric, area, x, y in () if report.contradicted else both:
            points = [each.round(6).tolist() for each in svg.drawn_points(x, y)]
            shown = None if metric in report.hardly_known else plain(area)
            about = {"name": name, "label": shortened(name, MAX_NAME), "area": shown}
            curves[kind].append(about | dict(zip("xy", points, strict=True)))
    return {
        "names": names,
        "baseline": names.index(comparison.baseline),
        "metrics": [{"name": m, "title": answers.title_of(m, options)} for m in metrics],
        "differences": differences,
        "prior": first.pr.prior,
        "curves": curves,
    }


def render_comparison(comparison: ScoreComparison, **about: Unpack[About]) -> str:
    """A comparison as a self-contained page; see :func:`render_report`."""
    first = comparison.reports[comparison.baseline]
    main = compared.main_metrics(comparison)
    rest = [name for name in parts.shown_metrics(first.metrics) if name not in main]

    def tables(names: Sequence[str]) -> list[tuple[Table, str | None]]:
        return [(compared.metric_table(comparison, name), comparison.best(name)) for name in names]

    return make_page(
        "compare.html.j2",
        "Comparison of models",
        compared.comparison_headline(comparison),
        about,
        data=(first.counts, first.scores_from),
        styles=("compare.css",),
        scripts=(*CHARTS, "js/compare.js"),
        notes=compared.comparison_notes(comparison)[1:],  # the heading names the baseline
        main=tables(main),
        rest=tables(rest),
        baseline=comparison.baseline,
        findings=compared.findings_by_score(comparison),
        n_scores=len(comparison.names),
        facts=compared.comparison_facts(comparison),
        assumptions=parts.assumptions_section(first),
        unseen=RANDOM_LABELS_UNSEEN,
        estimation_notes=() if first.estimation is None else first.estimation.notes,
        interval_note=compared.interval_note(comparison),
        payload=comparison_payload(comparison),
    )


MOST_ROWS = 1000
"""Rows of a page; all of them are in the CSV file and in JSON."""


def render_many(many: ManyReports, **about: Unpack[About]) -> str:
    """Return many reports as a self-contained page: a row for each task and score.

    The most doubtful rows are the first.
    """
    return make_page(
        "many.html.j2",
        "Many evaluations",
        many_reports.many_headline(many, many.metrics),
        about,
        table=many_reports.many_table(many, many.metrics, MOST_ROWS, MAX_NAME),
        left_out=max(len(many.evaluated) - MOST_ROWS, 0),
        failed=many.failed[:MOST_ROWS],
    )


def render_evidence(
    found: EvidenceThresholds, report: PUReport | None = None, **about: Unpack[About]
) -> str:
    """Thresholds of evidence as a self-contained page: a table, a figure, what the prior hides."""
    return make_page(
        "evidence.html.j2",
        "Evidence strength of a score",
        evidence.evidence_headline(found, report),
        about,
        section=evidence.evidence_section(found),
        chart=svg.evidence_chart(found),
        facts=evidence.evidence_facts(found),
    )


def make_page(
    template: str,
    usual_title: str,
    said: Headline,
    about: About,
    *,
    data: tuple[ScoreCounts | None, str | None] = (None, None),
    styles: Sequence[str] = (),
    scripts: Sequence[str] = ("js/document.js",),
    **values: Any,
) -> str:
    """A page of ours: what all of them have, and the ``values`` of its own template.

    ``data`` are the counts that it is about, and how their scores were made. The page has our
    style sheets and scripts inside, and a content security policy that allows only these.
    """
    from markupsafe import Markup

    title, source = about.get("title"), about.get("source") or {}
    style = "".join(_resource(each) for each in ("style.css", "report.css", *styles))
    texts = [_resource(each) for each in scripts]
    return _filled(
        template,
        # Our own files, byte for byte what the hashes of the policy are taken of. A script draws
        # pictures to be saved, which have addresses of the kind blob.
        style=Markup(style),  # noqa: S704
        scripts=[Markup(text) for text in texts],  # noqa: S704
        policy=f"default-src 'none'; script-src {' '.join(map(_digest, texts))}; style-src "
        f"{_digest(style)}; img-src data: blob:; base-uri 'none'; form-action 'none'",
        title=title or usual_title,
        # What the browser's title names where the caller gave no title of their own.
        subject="" if title else listed(source.get("file"), 80),
        identity=_identity(*data, source),
        headline=said,
        versions=versions(),
        command=about.get("command"),
        **{"payload": {}, **values},
    )


def _identity(
    counts: ScoreCounts | None, scores_from: str | None, source: Mapping[str, Any]
) -> list[str]:
    """The subject of a page in short: file, scores, rows, date and version."""
    named = {"File": source.get("file"), "Scores": source.get("columns", {}).get("score")}
    found = [f"{title}: {listed(names, 120)}" for title, names in named.items() if names]
    if scores_from is not None:
        found.append(f"Scores of {cut(scores_from, 120)}")
    if counts is not None:
        sizes = answers.sizes(counts).items()
        found.append(", ".join(f"{size} {name.lower()}" for name, size in sizes))
    moment = os.environ.get("SOURCE_DATE_EPOCH")
    day = datetime.fromtimestamp(float(moment), UTC) if moment else datetime.now().astimezone()
    version = sys.modules["purecover"].__version__
    return [*found, f"{day.day} {day:%B %Y}", f"purecover {version}"]


def _filled(name: str, **values: Any) -> str:
    page = str(_environment().get_template(name).render(**values))
    # Names of files and columns may hold halves of characters, which no file can.
    return page.encode(errors="backslashreplace").decode()


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


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
