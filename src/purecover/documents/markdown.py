"""Documents in Markdown, as GitHub, GitLab and others draw it."""

from __future__ import annotations

import re

from purecover.documents.formats import cut, versions
from purecover.documents.parts import Caution, Command, Document, Note, Section, Table, grouped

_LONGEST = 2000
"""Longer texts are cut: one name of the data must not fill a page."""

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~$&]")
# A sign that turns what follows it into a mention, a reference or a link, wherever it stands.
_LINKING = re.compile(r"@(?=\w)|#(?=\w)|!(?=\d)|:(?=//)|(?i:www)(?=\.)")
# At the start of a line: headings, lists and rules are marked with these.
_LEADING = re.compile(r"^(?:([-+#=])|(\d+)([.)])(?=\s|$))")
_NOTHING = "\u200b"
"""A space of no width, which keeps a sign apart from what it would otherwise mark."""


def render_markdown(document: Document) -> str:
    """Return the summary, and the other sections folded below it."""
    parts = [f"## {escape(document.title)}"]
    for section in document.summary:
        parts += _written(section)
    parts.append("<details>\n<summary>Details</summary>")
    for section in document.sections:
        if written := _written(section):
            parts += [f"### {escape(section.title)}", *written]
    parts += ["</details>", f"<sub>{escape(versions())}</sub>"]
    return "\n\n".join(parts) + "\n"


def _written(section: Section) -> list[str]:
    """Return blocks of Markdown; of what cannot be written so, none."""
    blocks = []
    for group in grouped(section.parts, "markdown"):
        if isinstance(group[0], Note) and group[0].kind == "item":
            blocks.append("\n".join(f"- {escape(note.text)}" for note in group))
            continue
        for part in group:
            if isinstance(part, Table):
                blocks.append(_table(part))
            elif isinstance(part, Caution):
                blocks.append(f"- **{escape(part.text)}** {escape(part.hint)}".rstrip())
            elif isinstance(part, Note | Command) and part.text:
                blocks.append(escape(part.text))
    return blocks


def _table(table: Table) -> str:
    """All columns but the first are numbers, or none is."""
    numbers = table.kind in ("numbers", "facts")
    sides = ["---", *["---:" if numbers else "---"] * len(table.columns)]
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
