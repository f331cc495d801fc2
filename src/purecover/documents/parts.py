"""A document: sections of notes, cautions, commands, tables and charts.

Results are made into documents, and text, Markdown, pages and notebooks are written from them. A
writer knows the kinds of parts below; it knows no section by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from purecover.intervals.interval import CurveBand

Medium: TypeAlias = Literal["text", "markdown", "page", "notebook"]

PRINTED: tuple[Medium, ...] = ("text", "markdown")
DRAWN: tuple[Medium, ...] = ("page", "notebook")


@dataclass(frozen=True)
class Note:
    """A paragraph, fine print, or an item of the list that the items next to it make up."""

    text: str
    kind: Literal["plain", "fine", "item"] = "plain"
    name: str = ""
    """How the script of a page finds it."""
    skip: Sequence[Medium] = ()
    """Media that say this in their own way."""


@dataclass(frozen=True)
class Caution:
    """A finding of a check that contradicts what was given, and what to do about it."""

    severity: str
    codes: Sequence[str]
    text: str
    hint: str = ""


@dataclass(frozen=True)
class Command:
    """A line to be typed."""

    text: str


@dataclass(frozen=True)
class Row:
    """One row of a table; ``name`` and ``kind`` are for links, colors and the script of a page."""

    title: str
    cells: dict[str, str]
    name: str = ""
    kind: str = ""
    marks: Sequence[str] = ()
    """Words that a page puts next to the title."""


@dataclass(frozen=True)
class Table:
    """Rows with a title and a cell for each column."""

    title: str
    """Stands over the titles of the rows, or where these have a head, over the rows."""
    columns: dict[str, str]
    """Heads of columns by key."""
    rows: list[Row]
    kind: Literal["numbers", "words", "sentences", "facts"] = "numbers"
    head: str = ""
    strong: Sequence[str] = ()
    """Keys of the cells that matter most."""
    digits: int | None = None
    """Decimals with which the script of a page renews the cells; None: they stay as they are."""
    skip: Sequence[Medium] = ()


@dataclass(frozen=True)
class Chart:
    """Curves, given as kind, label, x and y; without any, a figure that only a script draws."""

    name: str
    title: str = ""
    description: str = ""
    axes: tuple[str, str] = ("", "")
    curves: Sequence[tuple[str, str, Any, Any]] = ()
    band: CurveBand | None = None
    point: tuple[float, float, str] | None = None


@dataclass(frozen=True)
class Live:
    """A part that only pages have, such as a slider, by the name of the macro that writes it."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


Part: TypeAlias = Note | Caution | Command | Table | Chart | Live


@dataclass(frozen=True)
class Section:
    """Parts that belong together; the sections of a summary have no title."""

    parts: Sequence[Part]
    name: str = ""
    title: str = ""
    about: str = ""
    """In a few words, what else is in it."""
    fold: Literal["", "open", "closed"] = ""
    """Whether readers of a page can fold it, and whether it is open at first."""
    side: bool = False
    """Whether parts stand side by side where a page has room."""


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


@dataclass(frozen=True)
class Document:
    """A result for people: what is said first, a summary, and the other sections."""

    title: str
    headline: Headline
    summary: Sequence[Section]
    sections: Sequence[Section]


def grouped(parts: Iterable[Part], medium: Medium) -> list[list[Any]]:
    """Parts for a medium in their order; tables with the same columns, and notes, together."""

    def alike(part: Part) -> object:
        if isinstance(part, Table):
            return part.kind, list(part.columns.items())
        return type(part), part.kind if isinstance(part, Note) else ""

    shown = (part for part in parts if medium not in getattr(part, "skip", ()))
    return [list(own) for _, own in groupby(shown, alike)]


def notes(*lines: str) -> Section:
    """A section of paragraphs without a title."""
    return Section([Note(line) for line in lines])


def facts(**tables: Mapping[str, str]) -> Section:
    """Data and settings: tables of names and values, one for each heading."""
    parts = [Table(title, {"value": ""}, _rows(own), "facts") for title, own in tables.items()]
    return Section(parts, "facts", "Data and settings")


def _rows(facts: Mapping[str, str]) -> list[Row]:
    return [Row(name, {"value": text}) for name, text in facts.items()]
