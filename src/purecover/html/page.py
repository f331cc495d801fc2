"""From a report to the text of a page; computes nothing new."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from purecover.html.svg import Chart, DotChart, make_chart, make_dots
from purecover.html.words import (
    by_severity,
    ends,
    facts,
    headline,
    interval_note,
    level,
    number,
    shown_metrics,
    thinning,
    title_of,
)
from purecover.html.words import versions as _versions
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.intervals.interval import Interval
    from purecover.report.results import PUReport


# -- The curves of the page as they stand in the file, before a script draws them anew -----------


def roc_chart(report: PUReport) -> Chart:
    """Observed and recovered ROC curve."""
    import numpy as np

    roc = report.roc
    ends = np.array([0.0, 1.0])
    area = "infeasible" if report.infeasible else f"{report.auc:.3f}"
    curves = [
        ("chance", "chance", ends, ends),
        ("observed", f"observed (AUC {report.auc_pu:.3f})", roc.fpr_pu, roc.tpr_pu),
        ("recovered", f"recovered (AUC {area})", roc.fpr, roc.tpr),
    ]
    if report.truth is not None:
        known = number(report.truth.metrics["roc_auc"], 3)
        true = report.truth.roc
        curves.append(("true", f"true (AUC {known})", true.fpr_pu, true.tpr_pu))
    at = (report.metrics.get("fpr", math.nan), report.metrics.get("recall", math.nan))
    return make_chart(
        "roc",
        "ROC curve",
        f"True-positive rate against false-positive rate. The observed curve has an AUC of "
        f"{report.auc_pu:.3f}, the recovered one {area}.",
        axes=("False-positive rate", "True-positive rate"),
        curves=curves,
        band=report.roc_band,
        point=at,
        point_label=f"threshold {report.metrics.threshold:.4g}",
    )


def pr_chart(report: PUReport) -> Chart:
    """Observed and recovered precision-recall curve."""
    import numpy as np

    pr = report.pr
    curves = [
        ("chance", f"chance (prior {pr.prior:.3g})", np.array([0.0, 1.0]), np.full(2, pr.prior)),
        ("observed", f"observed (area {number(pr.auc_pr_pu, 3)})", pr.recall_pu, pr.precision_pu),
        ("recovered", f"recovered (area {number(pr.auc_pr, 3)})", pr.recall, pr.precision),
    ]
    precision = METRICS["precision"].of_rates
    if report.truth is not None and precision is not None:
        true = report.truth.roc
        values = precision(true.tpr_pu, true.fpr_pu, report.truth.prior, report.metrics.options)
        area = number(report.truth.metrics["auc_pr"], 3)
        curves.append(("true", f"true (area {area})", true.tpr_pu, np.asarray(values)))
    at = (report.metrics.get("recall", math.nan), report.metrics.get("precision", math.nan))
    return make_chart(
        "pr",
        "Precision-recall curve",
        f"Precision against recall, for a population with a share of {pr.prior:.3g} positives. "
        f"The area under the observed curve is {number(pr.auc_pr_pu, 3)}, under the recovered "
        f"one {number(pr.auc_pr, 3)}.",
        axes=("Recall", "Precision"),
        curves=curves,
        band=report.pr_band,
        point=at,
        point_label=f"threshold {report.metrics.threshold:.4g}",
    )


# -- The tables of the page, as text -------------------------------------------------------------


_AT_A_GLANCE = ("precision", "recall", "f1", "mcc", "cost")


@dataclass(frozen=True)
class Row:
    """One metric, as text; name and kind tell the script what to renew, and when."""

    name: str
    kind: str
    title: str
    observed: str
    recovered: str
    interval: str
    true: str


@dataclass(frozen=True)
class Section:
    """Metrics of one kind under their heading."""

    kind: str
    heading: str
    rows: list[Row]


def metric_sections(report: PUReport) -> list[Section]:
    """All metrics worth a row, by kind."""
    sections: dict[str, Section] = {}
    for name in shown_metrics(report.metrics):
        row = _row(name, report)
        empty = Section(row.kind, _heading(row.kind, report), [])
        sections.setdefault(row.kind, empty).rows.append(row)
    return list(sections.values())


def threshold_rows(report: PUReport) -> list[Row]:
    """The few metrics that stand beside the confusion matrix."""
    return [_row(name, report) for name in _AT_A_GLANCE if name in report.metrics]


def _row(name: str, report: PUReport) -> Row:
    infeasible = name == "roc_auc" and report.infeasible
    return Row(
        name=name,
        kind=METRICS[name].kind,
        title=title_of(name, report.metrics.options),
        observed=number(report.metrics.observed[name]),
        recovered="infeasible" if infeasible else number(report.metrics[name]),
        interval="" if infeasible else ends(report.intervals.get(name)),
        true="" if report.truth is None else number(report.truth.metrics[name]),
    )


def _heading(kind: str, report: PUReport) -> str:
    if kind == "threshold":
        return f"At the threshold: score ≥ {report.metrics.threshold:.6g}"
    if kind == "top_k":
        return f"Among the {report.metrics.options.top_k:,} highest unlabeled scores"
    return "Over all thresholds"


@dataclass(frozen=True)
class Confusion:
    """Expected numbers of unlabeled examples, as text: rows of (heading, named cells)."""

    sentence: str
    caption: str
    rows: list[tuple[str, dict[str, str]]]


def confusion(report: PUReport) -> Confusion:
    """What is expected among the unlabeled at the threshold."""
    c = report.confusion
    return Confusion(
        f"Of the {c.flagged:,.0f} unlabeled at or above the threshold, about {c.tp:,.0f} are "
        f"positive; of those below, about {c.fn:,.0f}.",
        "Expected sums of weights" if report.counts.is_weighted else "Expected numbers",
        [
            (f"Score ≥ {c.threshold:.6g}", _cells(tp=c.tp, fp=c.fp, flagged=c.flagged)),
            (f"Score < {c.threshold:.6g}", _cells(fn=c.fn, tn=c.tn, passed=c.fn + c.tn)),
            (
                "All",
                _cells(positive=c.tp + c.fn, negative=c.fp + c.tn, all=c.flagged + c.fn + c.tn),
            ),
        ],
    )


def _cells(**numbers: float) -> dict[str, str]:
    return {name: f"{value:,.0f}" for name, value in numbers.items()}


@dataclass(frozen=True)
class Estimated:
    """The estimate of alpha and beta, as text: rows of (estimator, cells)."""

    sentence: str
    rows: list[tuple[str, list[str]]]
    dots: DotChart
    notes: tuple[str, ...]


def estimation(report: PUReport) -> Estimated | None:
    """How alpha and beta were found, if they were not given."""
    found = report.estimation
    if found is None:
        return None
    p = found.proportions
    sentence = (
        f"Alpha and beta were not given; {found.estimator} estimated them from the scores"
        + ("." if found.beta_estimated or p.beta != 1 else ", with labels taken as clean.")
    )
    if found.beta_given:
        sentence = (
            f"Beta was given; {found.estimator} estimated alpha from the scores, as a share of it."
        )
    if found.intervals:
        level = next(iter(found.intervals.values())).confidence_level
        sentence += f" In parentheses stand {100 * level:g} % intervals."
    rows = [(found.estimator, _with_ends(p.alpha, p.beta, found.intervals))]
    for name, (alpha, beta) in found.others.items():
        rows.append((name, _with_ends(alpha, beta, found.other_intervals.get(name, {}))))
    notes = (*found.notes, *_of_others(report))
    return Estimated(sentence, rows, make_dots(found, report.truth), notes)


def _with_ends(alpha: float, beta: float, intervals: Mapping[str, Interval]) -> list[str]:
    cells = []
    for name, value in (("alpha", alpha), ("beta", beta), ("delta", beta - alpha)):
        bounds = ends(intervals.get(name))
        cells.append(f"{number(value)} ({bounds})" if bounds else number(value))
    return cells


def _of_others(report: PUReport) -> list[str]:
    """Where the intervals of the other estimators come from, or why there are none."""
    found = report.estimation
    if found is None or not found.others or report.bootstrap is None:
        return []
    methods = {i.method for each in found.other_intervals.values() for i in each.values()}
    if not methods:
        return ["The other estimators have no intervals: theirs need independent rows."]
    told = f"Intervals of the other estimators: {'; '.join(sorted(methods))}."
    return [f"{told} They tell what another sample would change, not whether a method is biased."]


# -- From a report to the text of a page; computes nothing new -----------------------------------


STYLES = ("style.css", "report.css")
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


def render_report(report: PUReport, *, command: str | None = None, title: str | None = None) -> str:
    """A report as a self-contained page.

    Parameters
    ----------
    report : PUReport
        What :func:`purecover.evaluate` returned.
    command : str, optional
        The command that made the report, to be shown on the page.
    title : str, optional
        Heading of the page.

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
    from purecover.html.payload import make_payload

    payload = make_payload(report)
    return fill_template(
        "report.html.j2",
        STYLES,
        SCRIPTS,
        title=title or "Recovered performance",
        headline=headline(report),
        findings=by_severity(report),
        quiet=[check for check in report.checks if not check.fired],
        charts=[roc_chart(report), pr_chart(report)],
        estimation=estimation(report),
        sections=metric_sections(report),
        at_threshold=threshold_rows(report),
        confusion=confusion(report),
        level=level(report),
        interval_note=interval_note(report),
        truth=report.truth,
        facts=facts(report),
        versions=_versions(),
        thinning=thinning(payload["thinned"], report.counts),
        command=command,
        payload=payload,
    )


def fill_template(name: str, styles: Sequence[str], scripts: Sequence[str], **values: Any) -> str:
    """A page from our template, with our style sheets and scripts inside and a policy for them.

    The template gets ``style``, ``scripts`` and ``policy`` beside the ``values``.
    """
    from markupsafe import Markup

    style = "".join(_resource(each) for each in styles)
    texts = [_resource(each) for each in scripts]
    page: str = (
        _environment()
        .get_template(name)
        .render(
            # Our own files, byte for byte what the hashes of the policy were taken of.
            style=Markup(style),  # noqa: S704
            scripts=[Markup(text) for text in texts],  # noqa: S704
            policy=_policy(style, texts),
            **values,
        )
    )
    return page


@cache
def _resource(name: str) -> str:
    return files("purecover.html").joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _policy(style: str, scripts: Sequence[str] = ()) -> str:
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
