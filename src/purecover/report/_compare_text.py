"""A comparison of scores as lines of text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection
from typing import TYPE_CHECKING

from purecover.html._compare_words import findings_by_score, notes_of, shown_in_short
from purecover.html._titles import estimated_by
from purecover.recovery._registry import METRICS

if TYPE_CHECKING:
    from purecover.intervals._interval import Interval
    from purecover.report._comparison import ScoreComparison

__all__ = ["render_comparison_text"]

_LONGEST = 24
_WIDTH = 100


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
        lines += [_row(comparison, metric, name) for name in comparison.reports]
    lines.append("")
    lines += _wrapped(" ".join(notes_of(comparison)))
    return "\n".join([*lines, *_check_lines(comparison)])


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


def _row(comparison: ScoreComparison, metric: str, name: str) -> str:
    report = comparison.reports[name]
    shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
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


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "undefined"


def _signed(value: float) -> str:
    return f"{value:+.4f}" if math.isfinite(value) else "undefined"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ")


def _check_lines(comparison: ScoreComparison) -> list[str]:
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
