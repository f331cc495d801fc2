"""A report in Markdown, as GitHub, GitLab and others draw it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from purecover.documents.details import sections
from purecover.documents.formats import cut, versions
from purecover.documents.parts import Caution, Section, Table
from purecover.documents.summary import summary

if TYPE_CHECKING:
    from purecover.report.results import PUReport

_LONGEST = 2000
"""Longer texts are cut: one name of the data must not fill a page."""

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~$&]")
# A sign that turns what follows it into a mention, a reference or a link, wherever it stands.
_LINKING = re.compile(r"@(?=\w)|#(?=\w)|!(?=\d)|:(?=//)|(?i:www)(?=\.)")
# At the start of a line: headings, lists and rules are marked with these.
_LEADING = re.compile(r"^(?:([-+#=])|(\d+)([.)])(?=\s|$))")
_NOTHING = "\u200b"
"""A space of no width, which keeps a sign apart from what it would otherwise mark."""


def render_markdown(report: PUReport) -> str:
    """Return the answer, and the details folded below it."""
    parts = ["## Recovered performance"]
    for block in summary(report)[:-1]:
        for item in block:
            if isinstance(item, Table):
                parts.append(_table(item))
            elif isinstance(item, Caution):
                parts.append(f"- **{escape(item.text)}** {escape(item.hint)}".rstrip())
            else:
                parts.append(escape(item))
    parts.append("<details>\n<summary>Details</summary>")
    for section in sections(report).values():
        parts += _section(section)
    parts += ["</details>", f"<sub>{escape(versions())}</sub>"]
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> Iterable[str]:
    yield f"### {section.title}"
    if section.sentence:
        yield escape(section.sentence)
    yield from map(_table, section.tables)
    if section.note:
        yield escape(section.note)
    if section.notes:
        yield "\n".join(f"- {escape(note)}" for note in section.notes)


def _table(table: Table) -> str:
    """All columns but the first are numbers, or none is."""
    sides = ["---", *["---:" if table.numbers else "---"] * len(table.columns)]
    lines = [[table.title, *table.columns.values()]]
    lines += [[row.title, *row.cells.values()] for row in table.rows]
    head, *rows = ([_cell(cell) for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, sides, *rows))


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on a line of its own."""
    return _LEADING.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", _cell(text))


def _cell(text: str) -> str:
    """The same in the middle of a line, such as a cell of a table."""
    # Line ends, control signs and marks that turn the direction of writing would leave the cell.
    shown = "".join(c if c.isprintable() or c == _NOTHING else " " for c in text)
    shown = " ".join(shown.split())
    shown = cut(shown, _LONGEST)
    shown = _SPECIAL.sub(_escaped, shown)
    return _LINKING.sub(lambda match: match.group() + _NOTHING, shown)


def _escaped(match: re.Match[str]) -> str:
    # As entities, since some renderers look for tags before they look for backslashes.
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return entities.get(match.group(), f"\\{match.group()}")
