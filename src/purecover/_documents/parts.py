"""Plain parts of a document: a headline with cautions, and sections of sentences and tables.

Reports, comparisons and monitors build them; text, Markdown, pages and notebooks are writers of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One row of a table; ``name`` and ``kind`` tell a script what to renew, and when."""

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
    """One sentence about checks that found something."""

    severity: str
    codes: Sequence[str]
    text: str


@dataclass(frozen=True)
class Headline:
    """The first sentences of a document: the main result, what else to know, and cautions."""

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
