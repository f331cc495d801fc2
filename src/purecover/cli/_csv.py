"""Delimited text in chunks of rows, by the csv module of the standard library.

Chunks without quotes, spaces and other quirks are split at the delimiter instead, which is
quicker; the first chunk with any of them is left, with all that follow, to the module.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from operator import add, itemgetter

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
        rows = _Rows(chain(sample, lines), delimiter)
        try:
            return _read_rows(source, rows, request, tick)
        except csv.Error as error:
            raise CommandError(
                f"{source}, line {rows.line}, is not well-formed CSV: {error}.\n"
                'Hint: a quote inside a quoted field must be doubled (""), and every quote closed.'
            ) from error


class _Rows:
    """Rows of a text, taken plainly where it is plain, and by the csv module otherwise."""

    def __init__(self, lines: Iterator[str], delimiter: str) -> None:
        self._lines, self._delimiter = lines, delimiter
        self._done = 0
        self._start(lines)

    def _start(self, lines: Iterator[str]) -> None:
        # strict: a quote that is never closed would otherwise swallow the rest of the file.
        self._reader = csv.reader(
            lines, delimiter=self._delimiter, strict=True, skipinitialspace=True
        )

    @property
    def line(self) -> int:
        """The last line that was taken."""
        return self._done + self._reader.line_num

    def header(self) -> list[str]:
        """The first row that is not blank."""
        return [name.strip() for name in next(row for row in self._reader if row)]

    def take(self) -> list[list[str]]:
        """The next rows, as the csv module reads them."""
        return list(islice(self._reader, CHUNK))

    def take_plain(self, width: int) -> list[str] | None:
        """Cells of the next rows, all in one list, each row with a line feed behind it.

        None if the text has come to its end, or if a row is not plain and of that width; it is
        then still to be taken.
        """
        chunk = list(islice(self._lines, CHUNK))
        cells = _plain_cells(chunk, self._delimiter, width)
        if cells is not None:
            self._done += len(chunk)
        elif chunk:
            self._done = self.line
            self._start(chain(chunk, self._lines))
        return cells


def _plain_cells(chunk: list[str], delimiter: str, width: int) -> list[str] | None:
    text = "".join(chunk)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    # A blank line is no row, but would look like one of a single empty cell.
    if width == 1 or len(text) > MAX_FIELD or any(quirk in text for quirk in '"\r '):
        return None
    if not text.endswith("\n"):
        text += "\n"
    cells = text.replace("\n", f"{delimiter}\n{delimiter}").split(delimiter)
    del cells[-1]
    if len(cells) != len(chunk) * (width + 1) or set(cells[width :: width + 1]) != {"\n"}:
        return None
    return cells


def _read_rows(
    source: str, rows: _Rows, request: Callable[[list[str]], Request], tick: Callable[[], None]
) -> Table:
    header = rows.header()
    _refuse_numbers_as_names(source, header)
    wanted = request(header)
    places = {role: header.index(column) for role, column in wanted.columns.items()}
    collector = Collector(source, wanted)
    width = len(header)
    line = rows.line
    while cells := rows.take_plain(width):
        collector.add(
            {role: cells[i :: width + 1] for role, i in places.items()},
            partial(add, line + 1),
        )
        line = rows.line
        tick()
    ragged = _Ragged(source, width)
    while chunk := rows.take():
        lines = _Lines(line, rows.line, chunk)
        keep = chunk
        line_of: Callable[[int], int] = lines.of
        if set(map(len, chunk)) != {width}:
            index = ragged.sort_out(chunk, lines)
            keep, line_of = [chunk[i] for i in index], _picked(lines, index)
        if keep:
            collector.add(
                {role: list(map(itemgetter(i), keep)) for role, i in places.items()}, line_of
            )
        line = rows.line
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
