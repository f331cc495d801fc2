"""Documents as plain text: lines that are wrapped, and tables with aligned columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from purecover.documents.formats import cut
from purecover.documents.parts import Caution, Command, Note, Section, Table, grouped

_WIDTH = 100
_LONGEST_TITLE, _LONGEST_WORDS = 46, 60


def text_of(sections: Iterable[Section]) -> str:
    """Return sections as text, with an empty line between them."""
    return "\n\n".join("\n".join(lines) for each in sections if (lines := _lines(each)))


def _lines(section: Section) -> list[str]:
    groups = grouped(section.parts, "text")
    found = [line for group in groups for line in _group_lines(group)]
    head = [section.title, "-" * len(section.title)] if section.title and found else []
    return [*head, *found]


def _group_lines(group: Sequence[Any]) -> list[str]:
    """Return lines of parts of one kind; of what cannot be written as text, none."""
    first = group[0]
    if isinstance(first, Table):
        return _sentences(group) if first.kind == "sentences" else _grid(group)
    lines = []
    for part in group:
        if isinstance(part, Note | Caution):
            lines += wrapped(part.text)
        if isinstance(part, Caution) and part.hint:
            lines += wrapped(part.hint, "  ")
        if isinstance(part, Command):
            lines.append(f"  {part.text}")
    return lines


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return the lines of one paragraph; all but the first are indented."""
    kept = text.replace(" %", "\u00a0%")  # a number and its sign stay together
    lines = textwrap.wrap(kept, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ")
    return [line.replace("\u00a0", " ") for line in lines]


def _grid(tables: Sequence[Table]) -> list[str]:
    """Tables with the same columns below one another; a title is the head of its rows."""
    first = tables[0]
    numbers = first.kind != "words"
    heads = ["", *first.columns.values()]
    if numbers:  # but for abbreviations
        heads = [" ".join(w if w.isupper() else w.lower() for w in h.split()) for h in heads]
    lines: list[list[str]] = [] if not any(heads[1:]) else [heads]
    for table in tables:
        if table.title and lines == [heads] and not numbers:
            heads[0] = table.title
        elif table.title:
            lines.append([table.title])
        indent = "  " if table.title else ""
        for row in table.rows:
            known = row.cells.keys() & table.columns.keys()
            cells = [row.cells.get(key, "") for key in table.columns]
            cells = cells if known else list(row.cells.values())
            title = cut(" ".join(row.title.split()), _LONGEST_TITLE)
            if numbers:  # others have commands, which stay as they are
                typed = (cut(cell, _LONGEST_WORDS).replace("–", "-") for cell in cells)
                cells = [cell.replace("−", "-") for cell in typed]
            lines.append([f"{indent}{title}", *cells])

    full = [line for line in lines if len(line) > 1]
    columns = list(zip(*full, strict=True))
    widths = [max(map(len, column)) for column in columns]
    left = [any(" " in cell for cell in column[1:]) for column in columns]
    return [
        "   ".join(
            f"{cell:<{width}}" if aside or at == 0 else f"{cell:>{width}}"
            for at, (cell, width, aside) in enumerate(zip(line, widths, left, strict=False))
        ).rstrip()
        if len(line) > 1
        else line[0]
        for line in lines
    ]


def _sentences(tables: Sequence[Table]) -> list[str]:
    """Rows whose cells are sentences, a paragraph each."""
    lines = []
    for row in (row for table in tables for row in table.rows):
        lines += wrapped(f"{row.title}: {' '.join(filter(None, row.cells.values()))}", "  ")
    return lines
