"""From a report to the text of a page; computes nothing new."""

from __future__ import annotations

import base64
import hashlib
import math
import platform
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from purecover.html._dots import DotChart, make_dots
from purecover.html._svg import Chart, make_chart
from purecover.html._titles import estimated_by, shown_metrics, title_of
from purecover.recovery._registry import METRICS
from purecover.recovery._roc import NOTEWORTHY_GAP

if TYPE_CHECKING:
    from purecover.checks import CheckResult
    from purecover.report._report import PUReport

__all__ = ["render_report"]

UNDEFINED = "undefined"

_SEVERITIES = ("error", "warning", "note")
_KINDS = {
    "ranking": "Over all thresholds",
    "threshold": "At the threshold",
    "top_k": "Among the highest scores",
}


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
        HTML without scripts, addresses or anything to load; a content security policy
        inside the page forbids them too.

    Examples
    --------
    >>> from purecover import evaluate, simulate
    >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
    >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    >>> report.to_html().startswith("<!doctype html>")
    True
    """
    from markupsafe import Markup

    style = _resource("style.css")
    return _template().render(
        title=title or "Recovered performance",
        # Our own file, byte for byte what the policy's hash was taken of.
        style=Markup(style),  # noqa: S704
        policy=_policy(style),
        headline=_headline(report),
        findings=_by_severity(report),
        quiet=[check for check in report.checks if not check.fired],
        charts=[_roc_chart(report), _pr_chart(report)],
        estimation=_estimation(report),
        sections=_metric_sections(report),
        confusion=_confusion(report),
        level=_level(report),
        interval_note=_interval_note(report),
        truth=report.truth,
        facts=_facts(report),
        versions=_versions(),
        command=command,
    )


# -- words --------------------------------------------------------------------------------


def _headline(report: PUReport) -> list[str]:
    interval = report.intervals.get("roc_auc")
    ends = ""
    if interval is not None and math.isfinite(interval.low) and math.isfinite(interval.high):
        low, high = number(interval.low, 3), number(interval.high, 3)
        ends = f" ({100 * interval.confidence_level:g} % interval {low} to {high})"
    first = (
        f"Against the true classes the AUC is {report.auc:.3f}{ends}. Labeled against "
        f"unlabeled it looks like {report.auc_pu:.3f}."
    )
    if report.infeasible:
        first = (
            "These scores do not fit alpha and beta: the AUC against the true classes would be "
            f"{report.auc_direct:.3f}, outside [0, 1]. Labeled against unlabeled it is "
            f"{report.auc_pu:.3f}."
        )
    sentences = [first]
    if not report.infeasible and abs(report.roc.auc - report.auc) > NOTEWORTHY_GAP:
        sentences.append(
            f"That is the direct value; the area under the repaired curve ({report.roc.repair}) "
            f"is {report.roc.auc:.3f}."
        )
    if report.truth is not None:
        sentences.append(
            f"Measured on the true classes that came with the data it is "
            f"{number(report.truth.metrics['roc_auc'], 3)}."
        )
    spoke = sum(check.fired for check in report.checks)
    sentences.append(
        f"{spoke} of {len(report.checks)} checks spoke." if spoke else "No check spoke."
    )
    return sentences


def _by_severity(report: PUReport) -> list[CheckResult]:
    fired = [check for check in report.checks if check.fired]
    return sorted(fired, key=lambda check: (_SEVERITIES.index(check.severity), check.code))


def _facts(report: PUReport) -> list[tuple[str, list[tuple[str, str]]]]:
    counts, proportions = report.counts, report.proportions
    weighted = " (sum of weights)" if counts.is_weighted else ""
    data = [
        ("Labeled", f"{counts.n_labeled:,.10g}{weighted}"),
        ("Unlabeled", f"{counts.n_unlabeled:,.10g}{weighted}"),
        ("Distinct scores", f"{counts.n_thresholds:,}"),
    ]
    if report.scores_from is not None:
        data.append(("Scores of", report.scores_from))
    if counts.n_negative:
        data.insert(2, ("Known negatives", f"{counts.n_negative:,.10g}{weighted}"))
    assumptions = [
        ("Share of positives among the unlabeled, alpha", f"{proportions.alpha:.4g}"),
        ("Share of positives among the labeled, beta", f"{proportions.beta:.4g}"),
        ("Where they come from", _origin(report)),
        ("How the data were drawn", proportions.scenario),
        ("Prior that precision speaks of", f"{report.metrics.prior:.4g}"),
    ]
    if report.truth is not None:
        assumptions += [
            ("True alpha", f"{report.truth.alpha:.4g}"),
            ("True beta", f"{report.truth.beta:.4g}"),
        ]
    how = "the caller" if report.threshold_chosen else "Youden index"
    settings = [
        ("Threshold", f"{report.metrics.threshold:.6g}"),
        ("Threshold chosen by", how),
        ("Repair of the ROC curve", report.roc.repair),
        ("Repair of the precision-recall curve", report.pr.repair),
        ("Area under precision-recall", report.pr.area),
        ("Raw points outside [0, 1]", f"{report.roc.n_outside:,} of {report.roc.fpr_raw.size:,}"),
    ]
    if report.bootstrap is not None:
        seed = "" if report.random_state is None else f", seed {report.random_state}"
        settings.append(("Resamples", f"{report.bootstrap.n_resamples:,}{seed}"))
        if report.bootstrap.n_rejected:
            settings.append(("Draws without an estimate", f"{report.bootstrap.n_rejected:,}"))
    return [("Data", data), ("Assumptions", assumptions), ("Settings", settings)]


def _origin(report: PUReport) -> str:
    if report.estimation is None:
        return report.proportions.origin
    return f"estimated by {estimated_by(report.estimation)}"


def _level(report: PUReport) -> str | None:
    interval = next(iter(report.intervals.values()), None)
    return None if interval is None else f"{100 * interval.confidence_level:g} %"


def _interval_note(report: PUReport) -> str:
    methods: dict[str, list[str]] = {}
    varied = {}
    for name, interval in report.intervals.items():
        methods.setdefault(interval.method, []).append(METRICS[name].title)
        varied[interval.varied] = True
    if not methods:
        return ""
    common = max(methods, key=lambda method: len(methods[method]))
    parts = [f"{', '.join(n)}: {method}" for method, n in methods.items() if method != common]
    parts.append(f"the others: {common}" if parts else common)
    return f"Intervals vary {' or '.join(varied)}; {'; '.join(parts)}."


def _versions() -> str:
    names = ("numpy", "scipy")
    others = ", ".join(f"{name} {version(name)}" for name in names)
    # Not imported: the package's front stands above this layer, and is loaded already.
    own = sys.modules["purecover"].__version__
    return f"purecover {own}, Python {platform.python_version()}, {others}"


# -- tables -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One metric, as text."""

    title: str
    observed: str
    recovered: str
    interval: str
    true: str


def _metric_sections(report: PUReport) -> list[tuple[str, list[Row]]]:
    sections: dict[str, list[Row]] = {}
    options = report.metrics.options
    for name in shown_metrics(report.metrics):
        metric = METRICS[name]
        row = Row(
            title=title_of(name, options),
            observed=number(report.metrics.observed[name]),
            recovered=number(report.metrics[name]),
            interval=_ends(report.intervals.get(name)),
            true="" if report.truth is None else number(report.truth.metrics[name]),
        )
        sections.setdefault(_heading(metric.kind, report), []).append(row)
    return list(sections.items())


def _heading(kind: str, report: PUReport) -> str:
    if kind == "threshold":
        return f"{_KINDS[kind]}: score ≥ {report.metrics.threshold:.6g}"
    if kind == "top_k":
        return f"Among the {report.metrics.options.top_k:,} highest unlabeled scores"
    return _KINDS[kind]


@dataclass(frozen=True)
class Confusion:
    """Expected numbers of unlabeled examples, as text: rows of (heading, cells, sum)."""

    sentence: str
    caption: str
    rows: list[tuple[str, list[str], str]]


def _confusion(report: PUReport) -> Confusion:
    c = report.confusion
    above, below = f"Score ≥ {c.threshold:.6g}", f"Score < {c.threshold:.6g}"
    sums = (c.tp + c.fn, c.fp + c.tn)
    return Confusion(
        f"Of the {c.flagged:,.0f} unlabeled at or above the threshold, about {c.tp:,.0f} are "
        f"positive; of those below, about {c.fn:,.0f}.",
        "Expected sums of weights" if report.counts.is_weighted else "Expected numbers",
        [
            (above, [f"{c.tp:,.0f}", f"{c.fp:,.0f}"], f"{c.flagged:,.0f}"),
            (below, [f"{c.fn:,.0f}", f"{c.tn:,.0f}"], f"{c.fn + c.tn:,.0f}"),
            ("All", [f"{n:,.0f}" for n in sums], f"{sum(sums):,.0f}"),
        ],
    )


@dataclass(frozen=True)
class Estimated:
    """The estimate of alpha and beta, as text: rows of (estimator, cells)."""

    sentence: str
    rows: list[tuple[str, list[str]]]
    dots: DotChart
    notes: tuple[str, ...]


def _estimation(report: PUReport) -> Estimated | None:
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
    cells = []
    for name, value in (("alpha", p.alpha), ("beta", p.beta), ("delta", p.delta)):
        ends = _ends(found.intervals.get(name))
        cells.append(f"{number(value)} ({ends})" if ends else number(value))
    others = [
        (name, [number(alpha), number(beta), number(beta - alpha)])
        for name, (alpha, beta) in found.others.items()
    ]
    return Estimated(
        sentence, [(found.estimator, cells), *others], make_dots(found, report.truth), found.notes
    )


def _ends(interval: Any) -> str:
    if interval is None:
        return ""
    if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        return UNDEFINED
    return f"{interval.low:.4f} – {interval.high:.4f}"


def number(value: float, digits: int = 4) -> str:
    """A figure for a table."""
    return f"{value:.{digits}f}" if math.isfinite(value) else UNDEFINED


# -- figures ------------------------------------------------------------------------------


def _roc_chart(report: PUReport) -> Chart:
    import numpy as np

    roc = report.roc
    ends = np.array([0.0, 1.0])
    curves = [
        ("chance", "chance", ends, ends),
        ("observed", f"observed (AUC {report.auc_pu:.3f})", roc.fpr_pu, roc.tpr_pu),
        ("recovered", f"recovered (AUC {report.auc:.3f})", roc.fpr, roc.tpr),
    ]
    if report.truth is not None:
        area = number(report.truth.metrics["roc_auc"], 3)
        true = report.truth.roc
        curves.append(("true", f"true (AUC {area})", true.fpr_pu, true.tpr_pu))
    at = (report.metrics.get("fpr", math.nan), report.metrics.get("recall", math.nan))
    return make_chart(
        "roc",
        "ROC curve",
        f"True-positive rate against false-positive rate. The observed curve has an AUC of "
        f"{report.auc_pu:.3f}, the recovered one {report.auc:.3f}.",
        axes=("False-positive rate", "True-positive rate"),
        curves=curves,
        band=report.roc_band,
        point=at,
        point_label=f"threshold {report.metrics.threshold:.4g}",
    )


def _pr_chart(report: PUReport) -> Chart:
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


# -- the page -----------------------------------------------------------------------------


def _resource(name: str) -> str:
    return files("purecover.html").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_resource("report.html.j2"))


def _policy(style: str) -> str:
    """What a browser may do with the page: apply this style sheet, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
