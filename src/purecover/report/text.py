"""Reports and comparisons as lines of text and as Markdown."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from purecover.html.page import confusion, estimation, metric_sections
from purecover.html.words import (
    binning,
    by_severity,
    estimated_by,
    facts,
    findings_by_score,
    headline,
    interval_note,
    level,
    notes_of,
    shown_in_short,
    versions,
)
from purecover.recovery.metrics import METRICS
from purecover.recovery.roc import NOTEWORTHY_GAP

if TYPE_CHECKING:
    from purecover.estimators.base import PriorEstimate
    from purecover.intervals.interval import Interval
    from purecover.report.compare import ScoreComparison
    from purecover.report.results import PUReport


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


# -- The report in Markdown, as GitHub, GitLab and others draw it --------------------------------


_LONGEST = 600
"""Longer texts are cut: one name of the data must not fill a page."""

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~$&]")
# A sign that turns what follows it into a mention, a reference or a link, wherever it stands.
_LINKING = re.compile(r"@(?=\w)|#(?=\w)|!(?=\d)|:(?=//)|(?i:www)(?=\.)")
# At the start of a line: headings, lists and rules are marked with these.
_LEADING = re.compile(r"^(?:([-+#=])|(\d+)([.)])(?=\s|$))")
_NOTHING = "\u200b"
"""A space of no width, which keeps a sign apart from what it would otherwise mark."""


def render_markdown(report: PUReport) -> str:
    """Headline, checks, metrics, the unlabeled at the threshold, settings."""
    first, *others = headline(report)
    parts = ["## Recovered performance", f"**{escape(first)}**"]
    if others:
        parts.append(escape(" ".join(others)))
    parts += [
        *_checks(report),
        *_estimation(report),
        *_metrics(report),
        *_confusion(report),
        *_facts(report),
    ]
    parts.append(f"<sub>{escape(versions())}</sub>")
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on a line of its own."""
    return _LEADING.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", _cell(text))


def _cell(text: str) -> str:
    """The same in the middle of a line, such as a cell of a table."""
    # Line ends, control signs and marks that turn the direction of writing would leave the cell.
    shown = "".join(c if c.isprintable() or c == _NOTHING else " " for c in text)
    shown = " ".join(shown.split())
    if len(shown) > _LONGEST:
        shown = f"{shown[: _LONGEST - 1]}…"
    shown = _SPECIAL.sub(_escaped, shown)
    return _LINKING.sub(lambda match: match.group() + _NOTHING, shown)


def _escaped(match: re.Match[str]) -> str:
    # As entities, since some renderers look for tags before they look for backslashes.
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return entities.get(match.group(), f"\\{match.group()}")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = True) -> str:
    """A table of texts; all columns but the first are numbers, or none is."""
    sides = ["---", *["---:" if numbers else "---"] * (len(head) - 1)]
    lines = [
        [_cell(cell) for cell in head],
        sides,
        *([_cell(cell) for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _checks(report: PUReport) -> list[str]:
    found = by_severity(report)
    if not found:
        return ["### Checks", f"All {len(report.checks)} checks are quiet."]
    rows = [
        (f"{check.code} {check.severity}: {check.title}", check.message, check.hint)
        for check in found
    ]
    head = ("Check", "What was found", "What to do")
    return ["### Checks", _table(head, rows, numbers=False)]


def _estimation(report: PUReport) -> list[str]:
    found = estimation(report)
    if found is None:
        return []
    rows = [(name, *cells) for name, cells in found.rows]
    table = _table(("Estimator", "Alpha", "Beta", "Beta − alpha"), rows)
    notes = ["\n".join(f"- {escape(note)}" for note in found.notes)] if found.notes else []
    return ["### Alpha and beta", escape(found.sentence), table, *notes]


def _metrics(report: PUReport) -> list[str]:
    coverage = level(report)
    head = ["Observed", "Recovered"]
    head += [] if coverage is None else [f"{coverage} interval"]
    head += [] if report.truth is None else ["True"]
    parts = ["### Metrics"]
    for section in metric_sections(report):
        cells = []
        for row in section.rows:
            line = [row.title, row.observed, row.recovered]
            line += [] if coverage is None else [row.interval]
            line += [] if report.truth is None else [row.true]
            cells.append(line)
        parts.append(_table([section.heading, *head], cells))
    note = interval_note(report)
    return [*parts, escape(note)] if note else parts


def _confusion(report: PUReport) -> list[str]:
    found = confusion(report)
    rows = [(heading, *cells.values()) for heading, cells in found.rows]
    table = _table((found.caption, "Positive", "Negative", "Both"), rows)
    return ["### The unlabeled at the threshold", escape(found.sentence), table]


def _facts(report: PUReport) -> list[str]:
    tables = [_table((heading, ""), rows) for heading, rows in facts(report)]
    # Folded: who wants them knows what to look for.
    head = "<details>\n<summary>Data, assumptions, settings</summary>"
    return [head, *tables, "</details>"]


# -- A comparison of scores as lines of text -----------------------------------------------------


_LONGEST_NAME = 24


def render_comparison_text(comparison: ScoreComparison) -> str:
    """Data, alpha and beta, a block for each main metric, notes, and checks that spoke."""
    level = f"{100 * comparison.confidence_level:g} % interval"
    counts = comparison.reports[comparison.baseline].counts
    data = f"{counts.n_labeled:,.10g} labeled, {counts.n_unlabeled:,.10g} unlabeled"
    if counts.is_weighted:
        data = f"total weights: {data}"
    lines = [f"{data}, {len(comparison.reports)} scores of each", *_wrapped(_shares(comparison))]
    for metric in shown_in_short(comparison):
        lines.append("")
        head = f"{METRICS[metric].title:<28}{'observed':>9}{'recovered':>11}  {level:<17}"
        lines.append(f"{head} {'difference':>11}  {level:<19}{'better':>7}")
        lines += [_comparison_row(comparison, metric, name) for name in comparison.reports]
    lines.append("")
    lines += _wrapped(" ".join(notes_of(comparison)))
    return "\n".join([*lines, *_comparison_check_lines(comparison)])


def _shares(comparison: ScoreComparison) -> str:
    p = comparison.proportions
    estimation = comparison.reports[comparison.baseline].estimation
    if estimation is None:
        return f"alpha {p.alpha:.4g}, beta {p.beta:.4g} ({p.origin}, {p.scenario})"
    shares = []
    for name, value in (("alpha", p.alpha), ("beta", p.beta)):
        interval = estimation.intervals.get(name)
        ends = "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
        shares.append(f"{name} {value:.3f}{ends}")
    how = f"estimated once, from {comparison.estimated_from}, by {estimated_by(estimation)}"
    return f"{', '.join(shares)} ({how}, {p.scenario})"


def _comparison_row(comparison: ScoreComparison, metric: str, name: str) -> str:
    report = comparison.reports[name]
    shown = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    infeasible = metric == "roc_auc" and report.infeasible
    value = "infeasible" if infeasible else _number(report.metrics[metric])
    own = "" if infeasible else _ends(report.intervals.get(metric), " - ")
    text = f"  {shown:<26}{_number(report.metrics.observed[metric]):>9}{value:>11}  {own:<17}"
    gap = comparison.differences[metric].get(name)
    if gap is not None:
        text += f" {_signed(gap.estimate):>11}  {_ends(gap, ' to ', signed=True):<19}"
        share = comparison.better.get(metric, {}).get(name, math.nan)
        text += f"{100 * share:>5.1f} %" if math.isfinite(share) else ""
    return text.rstrip()


def _ends(interval: Interval | None, between: str, *, signed: bool = False) -> str:
    if interval is None:
        return ""
    if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        return "undefined" if interval.method != "none" else ""
    write = _signed if signed else _number
    return f"{write(interval.low)}{between}{write(interval.high)}"


def _signed(value: float) -> str:
    return f"{value:+.4f}" if math.isfinite(value) else "undefined"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ")


def _comparison_check_lines(comparison: ScoreComparison) -> list[str]:
    findings = findings_by_score(comparison)
    if not findings:
        return ["checks: all quiet"]
    lines = ["checks that spoke:"]
    notes: dict[str, set[str]] = {}
    for code, severity, message, hint, names in findings:
        if severity == "note":  # a line each would be many of them
            notes.setdefault(code, set()).update(names)
            continue
        text = f"{code} {severity} ({_whose(comparison, names)}): {message} Hint: {hint}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    if notes:
        listed = [f"{code} ({_whose(comparison, names)})" for code, names in notes.items()]
        text = f"notes: {', '.join(listed)}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines


def _whose(comparison: ScoreComparison, names: Collection[str]) -> str:
    if len(names) == len(comparison.reports):
        return "all"
    return ", ".join(name for name in comparison.reports if name in names)
