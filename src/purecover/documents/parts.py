"""Plain parts of a document: groups of lines, tables, cautions, and sections of details.

Reports, comparisons and monitors build them; text, Markdown, pages and notebooks are writers of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Row:
    """One row of a table; ``name`` and ``kind`` show a script what to renew, and when."""

    title: str
    cells: dict[str, str]
    name: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A heading over the titles of rows, heads of columns by key, and rows."""

    title: str
    columns: dict[str, str]
    rows: list[Row]
    numbers: bool = True
    """Whether cells are numbers rather than words."""


@dataclass(frozen=True)
class Section:
    """A part of a document: a sentence, tables, and notes below them."""

    title: str
    tables: list[Table]
    sentence: str = ""
    note: str = ""
    notes: Sequence[str] = field(default=())


@dataclass(frozen=True)
class Caution:
    """A finding of a check that contradicts what was given, and what to do about it."""

    severity: str
    codes: Sequence[str]
    text: str
    hint: str = ""


Block: TypeAlias = Sequence[str | Caution] | Sequence[Table]
"""Lines that belong together, or tables with the same columns."""


@dataclass(frozen=True)
class Headline:
    """The first sentences of a page: the main result, what else to know, and cautions."""

    lead: list[str]
    more: list[str]
    cautions: list[Caution]

    @property
    def lines(self) -> list[str]:
        """All sentences, a paragraph each."""
        return [*self.lead, *self.more, *(caution.text for caution in self.cautions)]


def fact_tables(**facts: Mapping[str, str]) -> list[Table]:
    """Tables of names and values, one for each heading."""
    return [
        Table(title, {"value": ""}, [Row(name, {"value": text}) for name, text in own.items()])
        for title, own in facts.items()
    ]
