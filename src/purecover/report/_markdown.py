"""The report in Markdown, as GitHub, GitLab and others draw it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from purecover.html._tables import confusion, estimation, metric_sections
from purecover.html._words import by_severity, facts, headline, interval_note, level, versions

if TYPE_CHECKING:
    from purecover.report._report import PUReport

__all__ = ["escape", "render_markdown"]

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
