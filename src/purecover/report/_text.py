"""The report as a dozen lines of text."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from purecover.html._titles import estimated_by
from purecover.html._words import binning
from purecover.recovery._registry import METRICS
from purecover.recovery._roc import NOTEWORTHY_GAP

if TYPE_CHECKING:
    from purecover.estimation._estimate import PriorEstimate
    from purecover.report._report import PUReport

_AT_THRESHOLD = ("recall", "specificity", "precision", "f1", "mcc")
_AT_K = ("precision_at_k", "recall_at_k")
_WIDTH = 100


def render_text(report: PUReport) -> str:
    """Counts, proportions, observed against recovered, and the checks that spoke."""
    level = next((i.confidence_level for i in report.intervals.values()), None)
    head = f"{'':<26}{'observed':>10}{'recovered':>11}"
    if level is not None:
        head += f"   {f'{100 * level:g} % interval':<19}"
    if report.truth is not None:
        head += f"{'true':>8}"
    lines = [_data_line(report), *_source_lines(report), *_proportions_lines(report)]
    lines += _bounds_lines(report)
    lines += ["", head.rstrip()]
    lines.append(_row(report, "roc_auc"))
    if report.infeasible:
        lines.append(f"  (the formula gives {report.auc_direct:.4f}: alpha and beta do not fit)")
    elif abs(report.roc.auc - report.auc) > NOTEWORTHY_GAP:
        lines.append(
            f"{f'  area of the {report.roc.repair} curve':<26}{'':>10}{report.roc.auc:>11.4f}"
        )
    lines.append(_row(report, "auc_pr"))
    how = "given" if report.threshold_chosen else "highest Youden index"
    lines.append(f"at threshold {report.metrics.threshold:.6g} ({how}):")
    lines += [_row(report, name) for name in (*_AT_THRESHOLD, *_asked_for(report))]
    lines.append(str(report.confusion))
    if report.metrics.options.top_k is not None:
        lines.append(f"among the {report.metrics.options.top_k} highest unlabeled scores:")
        lines += [_row(report, name) for name in _AT_K]
    lines += ["", *_check_lines(report)]
    return "\n".join(lines)


def _data_line(report: PUReport) -> str:
    counts = report.counts
    text = f"{counts.n_labeled:,.10g} labeled, {counts.n_unlabeled:,.10g} unlabeled"
    if counts.is_weighted:
        text = f"total weights: {text}"
    if counts.n_negative:
        text += f", {counts.n_negative:,.10g} known negative"
    many = "" if counts.n_thresholds == 1 else "s"
    if counts.is_binned:
        return f"{text}, in {counts.n_thresholds:,} bin{many}"
    return f"{text}, {counts.n_thresholds:,} distinct score{many}"


def _bounds_lines(report: PUReport) -> list[str]:
    """What counting in bins leaves open; nothing for exact counts."""
    found = ", ".join(f"{name} {text}" for name, text in binning(report))
    if not found:
        return []
    text = f"exact scores have, at this alpha and beta: {found.replace('Observed', 'observed')}"
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ")


def _source_lines(report: PUReport) -> list[str]:
    if report.scores_from is None:
        return []
    text = f"scores of {report.scores_from}"
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ")


def _asked_for(report: PUReport) -> list[str]:
    """Metrics whose parameters the caller has set."""
    options = report.metrics.options
    asked = {"f_beta": options.f_beta != 1, "cost": (options.cost_fn, options.cost_fp) != (1, 1)}
    return [name for name, wanted in asked.items() if wanted]


def _proportions_lines(report: PUReport) -> list[str]:
    p = report.proportions
    about = [f"alpha {p.alpha:.4g}, beta {p.beta:.4g} ({p.origin}, {p.scenario})"]
    if report.estimation is not None:
        about = _estimation_lines(report.estimation)
    prior = f"{100 * report.metrics.prior:.3g} %"
    lines = [*about, f"precision and AUC-PR speak of a population with {prior} positives"]
    if report.truth is not None:
        lines.append(f"true alpha {report.truth.alpha:.4g}, true beta {report.truth.beta:.4g}")
    return lines


def _estimation_lines(estimation: PriorEstimate) -> list[str]:
    p = estimation.proportions
    shares = []
    for name, value in (("alpha", p.alpha), ("beta", p.beta)):
        interval = estimation.intervals.get(name)
        ends = "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
        shares.append(f"{name} {value:.3f}{ends}")
    texts = [f"{', '.join(shares)} (estimated by {estimated_by(estimation)}, {p.scenario})"]
    if estimation.others:
        alphas, betas = zip(*estimation.others.values(), strict=True)
        ranges = f"alpha {_range(alphas)}, beta {_range(betas)}"
        texts.append(f"  other estimators: {ranges} ({', '.join(estimation.others)})")
    if estimation.n_rejected:
        texts.append(f"  {estimation.n_rejected:,} draws without an estimate were rejected")
    return [
        line for text in texts for line in textwrap.wrap(text, _WIDTH, subsequent_indent="    ")
    ]


def _range(values: tuple[float, ...]) -> str:
    low, high = f"{min(values):.3f}", f"{max(values):.3f}"
    return low if low == high else f"{low} to {high}"


def _row(report: PUReport, name: str) -> str:
    title = METRICS[name].title
    if name == "auc_pr" and report.pr.area != "davis-goadrich":
        title += f" ({report.pr.area})"
    recovered = report.auc if name == "roc_auc" else report.metrics[name]
    shown = "infeasible" if name == "roc_auc" and report.infeasible else _number(recovered)
    text = f"{title:<26}{_number(report.metrics.observed[name]):>10}{shown:>11}"
    if report.intervals:
        interval = report.intervals.get(name)
        ends = ""
        if interval is not None and not (name == "roc_auc" and report.infeasible):
            ends = f"{_number(interval.low)} - {_number(interval.high)}"
            if math.isnan(interval.low):
                ends = "undefined"
        text += f"   {ends:<19}"
    if report.truth is not None:
        text += f"{_number(report.truth.metrics[name]):>8}"
    return text.rstrip()


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "undefined"


def _check_lines(report: PUReport) -> list[str]:
    findings = report.findings
    if not findings:
        return [f"checks: all {len(report.checks)} quiet"]
    lines = [f"checks: {len(findings)} of {len(report.checks)} spoke"]
    for finding in findings:
        text = f"{finding.code} {finding.severity}: {finding.message}"
        if finding.severity != "note" and finding.hint:
            text += f" Hint: {finding.hint}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines
