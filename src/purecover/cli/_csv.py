"""Delimited text, by the csv module of the standard library, in chunks of rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from operator import itemgetter

from purecover._validation import show
from purecover.cli._columns import Collector, Request, Table
from purecover.cli._messages import CommandError

__all__ = ["read_csv"]

DELIMITERS = (",", ";", "\t", "|")
CHUNK = 1 << 15
MAX_FIELD = 1 << 24
_SAMPLE = 20
_NEWLINE = re.compile(r"\r\n|\r|\n")
_MAX_EXAMPLES = 3


def read_csv(
    source: str,
    lines: Iterator[str],
    request: Callable[[list[str]], Request],
    *,
    delimiter: str | None,
    asked: frozenset[str],
    tick: Callable[[], None],
) -> Table:
    """Read the columns that ``request`` picks from the header.

    ``asked`` are column names the user gave, which help to find the delimiter.
    """
    sample = list(islice(lines, _SAMPLE))
    if not any(line.strip() for line in sample):
        raise CommandError(
            f"{source} is empty.\n"
            "Hint: the first line must name the columns, such as score,labeled."
        )
    with _large_fields():
        if delimiter is None:
            delimiter = sniff_delimiter(sample, asked)
        # strict: a quote that is never closed would otherwise swallow the rest of the file.
        reader = csv.reader(
            chain(sample, lines), delimiter=delimiter, strict=True, skipinitialspace=True
        )
        try:
            return _read_rows(source, reader, request, tick)
        except csv.Error as error:
            raise CommandError(
                f"{source}, line {reader.line_num}, is not well-formed CSV: {error}.\n"
                'Hint: a quote inside a quoted field must be doubled (""), and every quote closed.'
            ) from error


def _read_rows(
    source: str,
    reader: csv._reader,  # type: ignore[name-defined]  # private in the stubs' older versions
    request: Callable[[list[str]], Request],
    tick: Callable[[], None],
) -> Table:
    header = [name.strip() for name in next(row for row in reader if row)]
    _refuse_numbers_as_names(source, header)
    wanted = request(header)
    places = {role: header.index(column) for role, column in wanted.columns.items()}
    collector = Collector(source, wanted)
    ragged = _Ragged(source, len(header))
    line = reader.line_num
    while rows := list(islice(reader, CHUNK)):
        lines = _Lines(line, reader.line_num, rows)
        keep = rows
        line_of: Callable[[int], int] = lines.of
        if set(map(len, rows)) != {len(header)}:
            index = ragged.sort_out(rows, lines)
            keep, line_of = [rows[i] for i in index], _picked(lines, index)
        if keep:
            collector.add(
                {role: list(map(itemgetter(i), keep)) for role, i in places.items()}, line_of
            )
        line = reader.line_num
        tick()
    ragged.complain()
    return collector.finish()


def sniff_delimiter(sample: list[str], asked: frozenset[str]) -> str:
    """The delimiter that finds the wanted names, then the one that splits evenly, then most."""

    def merit(delimiter: str) -> tuple[int, bool, int]:
        try:
            rows = [r for r in csv.reader(sample, delimiter=delimiter, skipinitialspace=True) if r]
        except csv.Error:
            return 0, False, 0
        header = [name.strip() for name in rows[0]] if rows else []
        even = len(header) > 1 and all(len(row) == len(header) for row in rows[1:])
        return len(asked.intersection(header)), even, len(header)

    return max(DELIMITERS, key=merit)


class _Lines:
    """Line numbers of a chunk of rows: one each, unless quoted fields span lines."""

    def __init__(self, before: int, after: int, rows: list[list[str]]) -> None:
        self._before = before
        self._plain = after - before == len(rows)
        self._rows = rows
        self._starts: list[int] | None = None

    def of(self, i: int) -> int:
        if self._plain:
            return self._before + 1 + i
        if self._starts is None:
            self._starts, line = [], self._before + 1
            for row in self._rows:
                self._starts.append(line)
                line += 1 + sum(len(_NEWLINE.findall(cell)) for cell in row)
        return self._starts[i]


def _picked(lines: _Lines, index: list[int]) -> Callable[[int], int]:
    return lambda i: lines.of(index[i])


class _Ragged:
    """Rows whose number of fields is not that of the header."""

    def __init__(self, source: str, width: int) -> None:
        self.source, self.width = source, width
        self.count = 0
        self.examples: list[str] = []

    def sort_out(self, rows: list[list[str]], lines: _Lines) -> list[int]:
        """Positions of the good rows; blank lines are not rows."""
        good = []
        for i, row in enumerate(rows):
            if len(row) == self.width:
                good.append(i)
            elif row:
                self.count += 1
                if len(self.examples) < _MAX_EXAMPLES:
                    self.examples.append(f"line {lines.of(i)} has {len(row)}")
        return good

    def complain(self) -> None:
        if not self.count:
            return
        rows = "1 row" if self.count == 1 else f"{self.count} rows"
        more = ", ..." if self.count > len(self.examples) else ""
        raise CommandError(
            f"{self.source} has {rows} with a wrong number of fields: the header has "
            f"{self.width}, {', '.join(self.examples)}{more}.\n"
            "Hint: fields that contain the delimiter must be quoted; --delimiter names it."
        )


def _refuse_numbers_as_names(source: str, header: list[str]) -> None:
    try:
        for name in header:
            float(name)
    except ValueError:
        return
    raise CommandError(
        f"{source} starts with numbers ({', '.join(show(n) for n in header[:5])}) instead of "
        "column names.\nHint: put a line such as score,labeled first."
    )


@contextmanager
def _large_fields() -> Iterator[None]:
    """Other columns may hold long texts; the module's limit is put back afterwards."""
    before = csv.field_size_limit(MAX_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)
