"""A table of results: typed cells that print as text, Markdown or CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Cell", "Column", "Sheet", "sheet_csv", "sheet_markdown"]

Cell: TypeAlias = str | int | float | None
ABSENT = "–"


@dataclass(frozen=True)
class Column:
    """A column; neighbors of one ``group`` share a heading above their own."""

    key: str
    heading: str
    group: str = ""
    style: Literal["text", "fixed", "signed", "percent", "scientific", "integer"] = "fixed"
    digits: int = 3

    @property
    def is_text(self) -> bool:
        """Whether it holds words, which stand to the left."""
        return self.style == "text"

    def show(self, cell: Cell) -> str:
        """A cell as text.

        Examples
        --------
        >>> from purecover.studies._sheets import Column
        >>> Column("d", "Difference", style="signed").show(0.0312)
        '+0.031'
        """
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return ABSENT
        if isinstance(cell, str):
            return cell
        if self.style == "integer":
            return f"{cell:,.0f}"
        if self.style == "percent":
            return f"{100 * cell:.1f} %"
        if self.style == "scientific":
            return f"{cell:.1e}" if cell < 1e-3 else f"{cell:.2g}"
        sign = "+" if self.style == "signed" else ""
        text = f"{cell:{sign}.{self.digits}f}"
        # Rounding can leave a zero with a sign that means nothing.
        return text.replace("-", "").replace("+", "") if float(text) == 0 else text


@dataclass(frozen=True)
class Sheet:
    """A table: its cells, and the words around them.

    Attributes
    ----------
    name : str
        Short and unique on a page.
    title, note : str
        What stands above it, and below.
    columns : tuple of Column
        The columns.
    rows : tuple of tuple
        The cells, row by row; the first column names the row.
    n_sums : int
        How many rows at the end sum up the others.
    marked : frozenset of int
        Rows to point out.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    n_sums: int = 0
    marked: frozenset[int] = frozenset()

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Shared headings with the number of columns each spans; empty if there are none."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return tuple(spans) if any(group for group, _ in spans) else ()

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The cells as text."""
        return tuple(
            tuple(column.show(cell) for column, cell in zip(self.columns, row, strict=True))
            for row in self.rows
        )


def sheet_markdown(sheet: Sheet) -> str:
    """A table in Markdown; cells of a group are written as one, ``first (others)``."""
    headings = [column.heading for column in sheet.columns]
    lines = [headings, *sheet.texts]
    joined = [_joined(sheet, [*line]) for line in lines]
    for i, (group, _) in enumerate(sheet.groups):
        if group:
            joined[0][i] = f"{group}: {joined[0][i]}"
    aligns = ["---" if sheet.columns[start].is_text else "---:" for start, _ in _spans(sheet)]
    body = [f"| {' | '.join(map(_escaped, line))} |" for line in joined]
    parts = [f"### {sheet.title}", "\n".join([body[0], f"| {' | '.join(aligns)} |", *body[1:]])]
    if sheet.note:
        parts.append(sheet.note)
    return "\n\n".join(parts) + "\n"


def sheet_csv(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> str:
    """Rows as CSV with six significant digits, empty where there is nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in columns])
    writer.writerows([[_plain(cell) for cell in row] for row in rows])
    return out.getvalue()


def _plain(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _spans(sheet: Sheet) -> list[tuple[int, int]]:
    """First column and number of columns of what Markdown shows as one."""
    spans = sheet.groups or tuple(("", 1) for _ in sheet.columns)
    starts = [sum(span for _, span in spans[:i]) for i in range(len(spans))]
    return [(start, span) for start, (_, span) in zip(starts, spans, strict=True)]


def _joined(sheet: Sheet, line: list[str]) -> list[str]:
    found = []
    for start, span in _spans(sheet):
        first, *others = line[start : start + span]
        found.append(f"{first} ({', '.join(others)})" if others else first)
    return found


def _escaped(text: str) -> str:
    flat = " ".join(text.split())
    for character, harmless in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("*", "\\*")):
        flat = flat.replace(character, harmless)
    return flat
