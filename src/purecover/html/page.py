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
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from purecover._codec import plain
from purecover._shell import Shell
from purecover.documents import comparison as compared
from purecover.documents import summary as answers
from purecover.documents.details import report_document
from purecover.documents.formats import cut, listed, shortened, versions
from purecover.documents.many import many_document
from purecover.documents.parts import Document, Live, Table, grouped
from purecover.documents.thresholds import evidence_document
from purecover.html import svg
from purecover.html.payload import make_payload
from purecover.recovery.metrics import title_of

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
    document = report_document(report, shell=about.get("shell"))
    table = next(
        part for each in document.summary for part in each.parts if isinstance(part, Table)
    )
    return make_page(
        document,
        about,
        template="report.html.j2",
        data=(report.counts, report.scores_from),
        scripts=SCRIPTS,
        payload=payload,
        lead=table.rows[0],
        columns=table.columns,
        alpha=answers.alpha_words(report),
        sources=[sliders],
    )


def render_notebook(report: PUReport) -> str:
    """A report as a fragment of HTML that can stand in any page.

    No script, no style sheet, no names that others might use: everything is styled where it
    stands, so that nothing leaks into a notebook and two reports do not meet. Text takes the
    color of the notebook, and curves take colors that show on white and on black, since a page
    within a page cannot know which it is.
    """
    colors = {"error": "#d64545", "warning": "#c78a1e", "note": "#5b8fc9"}
    return _filled("notebook.html.j2", document=report_document(report), colors=colors)


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
        "metrics": [{"name": m, "title": title_of(m, options)} for m in metrics],
        "differences": differences,
        "prior": first.pr.prior,
        "curves": curves,
    }


def render_comparison(comparison: ScoreComparison, **about: Unpack[About]) -> str:
    """A comparison as a self-contained page; see :func:`render_report`."""
    first = comparison.reports[comparison.baseline]
    return make_page(
        compared.comparison_document(comparison),
        about,
        data=(first.counts, first.scores_from),
        scripts=(*CHARTS, "js/compare.js"),
        payload=comparison_payload(comparison),
    )


def render_many(many: ManyReports, **about: Unpack[About]) -> str:
    """Return many reports as a self-contained page: a row for each task and score.

    The most doubtful rows are the first.
    """
    return make_page(many_document(many), about)


def render_evidence(
    found: EvidenceThresholds, report: PUReport | None = None, **about: Unpack[About]
) -> str:
    """Thresholds of evidence as a self-contained page: a table, a figure, what the prior hides."""
    drawn = [Live("chart", {"made": svg.evidence_chart(found)})]
    return make_page(evidence_document(found, report, drawn), about, sources=[ODDS])


METHOD = (
    "Method: S. Jain, M. White, P. Radivojac (2017). Recovering true classifier performance in "
    "positive-unlabeled learning. Proceedings of the Thirty-First AAAI Conference on Artificial "
    "Intelligence."
)
ODDS = (
    "Odds of each strength: S. V. Tavtigian et al. (2018). Modeling the ACMG/AMP variant "
    "classification guidelines as a Bayesian classification framework. Genetics in Medicine "
    "20(9), 1054–1060."
)


def make_page(
    document: Document,
    about: About,
    *,
    template: str = "base.html.j2",
    data: tuple[ScoreCounts | None, str | None] = (None, None),
    scripts: Sequence[str] = ("js/document.js",),
    sources: Sequence[str] = (),
    **values: Any,
) -> str:
    """A document as a page of ours; ``values`` are those of a template of its own.

    ``data`` are the counts that it is about, and how their scores were made. The page has our
    style sheets and scripts inside, and a content security policy that allows only these.
    """
    from markupsafe import Markup

    title, source = about.get("title"), about.get("source") or {}
    style = "".join(_resource(each) for each in ("style.css", "report.css"))
    texts = [_resource(each) for each in scripts]
    return _filled(
        template,
        # Our own files, byte for byte what the hashes of the policy are taken of. A script draws
        # pictures to be saved, which have addresses of the kind blob.
        style=Markup(style),  # noqa: S704
        scripts=[Markup(text) for text in texts],  # noqa: S704
        policy=f"default-src 'none'; script-src {' '.join(map(_digest, texts))}; style-src "
        f"{_digest(style)}; img-src data: blob:; base-uri 'none'; form-action 'none'",
        title=title or document.title,
        # What the browser's title names where the caller gave no title of their own.
        subject="" if title else listed(source.get("file"), 80),
        identity=_identity(*data, source),
        document=document,
        command=about.get("command"),
        made=[versions(), METHOD, *sources],
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
    made.filters["grouped"] = grouped
    made.filters["form"] = lambda part: type(part).__name__
    made.filters["drawn"] = lambda chart: svg.make_chart(**vars(chart))
    return made


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
