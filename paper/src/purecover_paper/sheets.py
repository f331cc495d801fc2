"""Tables of results: typed columns that print as text, Markdown or CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal, TypeAlias

Value: TypeAlias = str | int | float | None
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
        """Whether it holds words, which are aligned to the left."""
        return self.style == "text"

    def show(self, cell: Value) -> str:
        """Return a value as text.

        Examples
        --------
        >>> from purecover_paper.sheets import Column
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


def with_ends(
    key: str, group: str, style: Literal["fixed", "signed"] = "fixed", digits: int = 4
) -> Iterator[Column]:
    """Yield the columns of a mean and both ends of its interval."""
    for name, heading in ((key, "mean"), (f"{key}_low", "low"), (f"{key}_high", "high")):
        yield Column(name, heading, group, style, digits)


@dataclass(frozen=True)
class Sheet:
    """A table with its title and note.

    Attributes
    ----------
    name : str
        Short and unique on a page.
    title, note : str
        Text above it, and below.
    columns : tuple of Column
        The columns.
    rows : tuple of tuple
        The cells, row by row; the first column names the row.
    n_sums : int
        Number of rows at the end that summarize the others.
    marked : frozenset of int
        Rows to highlight.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
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
    """Return a table as Markdown; values of a group are written as ``first (others)``."""
    groups = sheet.groups or tuple(("", 1) for _ in sheet.columns)
    starts = [0, *accumulate(span for _, span in groups)]
    lines = [
        [_together(line[start:end]) for start, end in pairwise(starts)]
        for line in ([column.heading for column in sheet.columns], *sheet.texts)
    ]
    for i, (group, _) in enumerate(groups):
        if group:
            lines[0][i] = f"{group}: {lines[0][i]}"
    aligns = ["---" if sheet.columns[start].is_text else "---:" for start in starts[:-1]]
    head, *body = (f"| {' | '.join(map(escaped, line))} |" for line in lines)
    parts = [f"### {escaped(sheet.title)}", "\n".join([head, f"| {' | '.join(aligns)} |", *body])]
    if sheet.note:
        parts.append(escaped(sheet.note))
    return "\n\n".join(parts) + "\n"


def _together(cells: Sequence[str]) -> str:
    first, *others = cells
    return f"{first} ({', '.join(others)})" if others else first


def sheet_csv(names: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return rows as CSV with six significant digits; missing values are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([[_plain(cell) for cell in row] for row in rows])
    return out.getvalue()


def _plain(cell: Value) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def escaped(text: str) -> str:
    """Return text without tags, links or ends of cells in Markdown: a store may be foreign."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for marks, harmless in (
        ("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("*", "\\*"), ("](", "]\\("),
    ):  # fmt: skip
        flat = flat.replace(marks, harmless)
    return flat
