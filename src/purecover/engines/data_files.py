"""Files of data as DuckDB reads them for every door: CSV, TSV, JSON and Parquet, plain or gzipped.

All cells of text come as text, and are numbers where they are one beyond doubt: nothing is
concluded from the first rows. DuckDB finds neither headings nor line ends by itself.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from glob import escape
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from purecover._progress import busy
from purecover._validation import LARGEST_EXACT_INTEGER, show
from purecover.exceptions import InvalidInputError

FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".pin"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
}
"""Formats by the suffix of a file name; the command line and the local page read all of them."""
_TABS = (".tsv", ".tab", ".pin")
"""Suffixes of files whose columns are separated by tabs."""
_PROTEINS = ("proteins", "proteinids")
"""A last column whose cells Percolator separates like columns, as many as there are proteins."""
DELIMITERS = (",", ";", "\t", "|")
MAX_LINE = 1 << 24
"""The longest line, in bytes."""
PART = 1 << 20
"""Bytes that are read at a time."""
_SAMPLE = 20
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "<na>"))
# An object, or an array of them: a header such as [score],[labeled] is neither.
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*\{)")
GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_FOREIGN = {b"PK\x03\x04": "a zip archive or an Excel workbook", b"%PDF": "a PDF"}
# Types that are numbers to DuckDB; cells of all others are read as texts.
_NUMBERS = re.compile(
    r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\([0-9,]+\)"
)
_RECODE = "write it as UTF-8, such as by iconv -f latin1 -t utf-8 FILE."
_OBJECTS = 'JSON lines hold one object per line, such as {"score": 0.7, "labeled": 1}.'


def suffix_of(name: str) -> str:
    """Return the suffix of a file name, without those of compression."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    return next((each for each in reversed(suffixes) if each not in (".gz", ".zst")), "")


def open_file(
    connection: Any,
    folder: Path,
    path: str,
    *,
    source: str,
    suffix: str,
    asked: Collection[str] = (),
) -> DataFile:
    """Return a file with its format and its columns, in the name of a command or function.

    Messages call it ``source``. Copies go to ``folder``; ``asked`` are names of columns, which help
    to find the delimiter.
    """
    head = first_bytes(path)
    packed = head.startswith(GZIP)
    if packed:
        with unpacking(source), gzip.open(path) as unpacked:
            head = unpacked.read(PART)
            if head.lstrip().startswith((b"PAR1", b"[")):
                unpacked.seek(0)
                path, packed = copied(unpacked, folder), False
    kind = FORMATS.get(suffix) or ("jsonl" if _JSON.match(head) else "csv")
    if head.startswith(b"PAR1"):
        kind = "parquet"
    data = DataFile(connection, folder, source, path, kind, packed=packed)
    if kind == "parquet":
        return data.described()
    _refuse_binary(source, head)
    if head.startswith(_UTF16) or (kind == "jsonl" and head.startswith(codecs.BOM_UTF8)):
        data = data.rewritten("utf-16" if head.startswith(_UTF16) else "utf-8-sig")
        head = first_bytes(data.path)
    if kind == "jsonl":
        first = head.strip()
        if first in (b"", b"[]"):
            raise _fault(f"{source} is empty.", _OBJECTS)
        with Path(data.path).open("rb") as raw:
            raw.seek(-min(4096, raw.seek(0, 2)), 2)
            if first.startswith(b"[") and not raw.read().rstrip().endswith(b"]"):
                raise _fault(  # DuckDB takes an array that was cut off
                    f"{source} starts like a JSON array but does not end like one.", _OBJECTS
                )
        return data.described()
    try:  # the head may end within a character
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError as error:
        raise _fault(f"{source} is not utf-8 text: {error.reason}.", _RECODE) from error
    # Only these end lines, as in `rewritten`; str.splitlines also takes form feeds and others.
    lines = list(io.StringIO(text, newline=""))
    blank = next((i for i, line in enumerate(lines) if line.strip()), None)
    if blank is None:
        raise _fault(
            f"{source} is empty.", "the first line must name the columns, such as score,labeled."
        )
    lines = lines[blank:]
    delimiter = "\t" if suffix in _TABS else sniff_delimiter(lines[:_SAMPLE], asked)
    header = next(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    names = tuple(name.strip() for name in header)
    if all(map(_is_number, names)):
        raise _fault(
            f"{source} starts with numbers ({', '.join(map(show, names[:5]))}) instead of "
            "column names.",
            "put a line such as score,labeled first.",
        )
    data = replace(data, delimiter=delimiter, names=names)
    joins = delimiter == "\t" and names[-1].casefold() in _PROTEINS
    if blank or joins:  # DuckDB may lose rows after blank lines
        width = len(names) if joins else None
        return data.rewritten("utf-8-sig", partial(_tidied, n_blank=blank, width=width))
    if data.is_copy:
        return data
    end = data.line_end()
    if head.startswith(codecs.BOM_UTF8) and not {"\r", "\n"}.isdisjoint(header[0]):
        end = None  # DuckDB takes the line break for the end of the heading
    return data.rewritten("utf-8-sig") if end is None else replace(data, end=end)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fault(message: str, hint: str) -> InvalidInputError:
    return InvalidInputError(message, hint=hint)


def on_disk(file: str, folder: Path) -> str:
    """A path that can be read as often as need be."""
    try:
        file.encode()
        with Path(file).open("rb") as raw:
            return file if raw.seekable() else copied(raw, folder)
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {show(file)}.") from None
    except UnicodeError:
        raise _fault(
            f"{show(file)} cannot be opened: its name is not UTF-8.", "give it another name."
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidInputError(f"{show(file)} cannot be opened: {reason}.") from error


def copied(stream: Any, folder: Path) -> str:
    """A copy of what comes from a stream."""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as copy:
        shutil.copyfileobj(stream, copy)
    return copy.name


def first_bytes(path: str) -> bytes:
    """Return the beginning of a file."""
    with Path(path).open("rb") as raw:
        return raw.read(PART)


@contextmanager
def unpacking(source: str) -> Iterator[None]:
    """Complaints of a gzip file that is damaged."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _fault(
            f"{source} is a damaged gzip file: {error}.", "was it copied completely?"
        ) from error


def _refuse_binary(source: str, head: bytes) -> None:
    what = next((what for magic, what in _FOREIGN.items() if head.startswith(magic)), None)
    if what is None and b"\0" in head and not head.startswith(_UTF16):
        what = "binary data, not text"
    if what is not None:
        raise _fault(
            f"{source} is {what}, which purecover does not read.",
            "export it as CSV, TSV, JSON lines (each also gzipped) or Parquet.",
        )


def sniff_delimiter(sample: list[str], asked: Collection[str]) -> str:
    """The delimiter that finds the wanted names, then the one that splits evenly, then most."""

    def merit(delimiter: str) -> tuple[int, bool, int]:
        try:
            rows = [r for r in csv.reader(sample, delimiter=delimiter, skipinitialspace=True) if r]
        except csv.Error:
            return 0, False, 0
        header = [name.strip() for name in rows[0]] if rows else []
        even = len(header) > 1 and all(len(row) == len(header) for row in rows[1:])
        return len(set(asked).intersection(header)), even, len(header)

    return max(DELIMITERS, key=merit)


def _tidied(lines: Iterable[str], n_blank: int, width: int | None) -> Iterator[str]:
    """Lines without the first blank ones; those of Percolator have ``width`` cells.

    All proteins of a row become one cell, and a row of directions is left out.
    """
    for line in islice(lines, n_blank, None):
        cells = line.rstrip("\n").split("\t")
        if width is None:
            yield line
        elif cells[0].casefold() != "defaultdirection":
            proteins = ";".join(cells[width - 1 :]).replace('"', "'")
            yield "\t".join([*cells[: width - 1], proteins])


@dataclass(frozen=True)
class DataFile:
    """A file on disk and its columns; text is UTF-8, perhaps gzipped, with one kind of line end.

    ``types`` are those of DuckDB where the file itself has any.
    """

    connection: Any
    folder: Path
    source: str
    path: str
    kind: str
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    delimiter: str = ","
    end: str = "\n"
    packed: bool = False
    is_copy: bool = False

    @property
    def folders(self) -> dict[str, str]:
        """Columns that are in no file but in the name of its folder, such as day=2026-01-01."""
        parts = [part.partition("=") for part in Path(self.path).parent.parts]
        return {name: value for name, sign, value in parts if sign and name not in self.names}

    def scan(
        self, columns: Collection[str], paths: Sequence[str] = (), *, lenient: bool = False
    ) -> str:
        """Return the SQL after FROM for this file or several of its form; columns are c0, c1, ...

        If it is ``lenient``, rows of CSV with a wrong number of fields are left out.
        """
        # To DuckDB each name is a pattern. A folder called score=3 is no column.
        files = ", ".join(quoted(escape(path)) for path in paths or [self.path])
        files = f"[{files}], hive_partitioning=false"
        if self.kind == "parquet":
            # DuckDB calls the second of score and Score Score_1.
            named = ", ".join(f"c{i}" for i in range(len(self.names)))
            return f"read_parquet({files})" + (f" AS parquet({named})" if named else "")
        files += f", compression={'gzip' if self.packed else 'uncompressed'!r}"
        if self.kind == "jsonl":
            asked = {f"c{i}": name for i, name in enumerate(self.names) if name in columns}
            types = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in asked.values())
            how, cell = f"({files}, columns={{{types}}}", identifier
            if len({name.casefold() for name in asked.values()}) < max(len(asked), 1):
                how, cell = f"_objects({files}", pointer  # which knows Score from score
            cells = ", ".join(f"{cell(name)} AS {place}" for place, name in asked.items())
            how += f", maximum_object_size={MAX_LINE})"
            return f"(SELECT {cells or 'json'} FROM read_json{how})"
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.names)))
        return (
            f"read_csv({files}, columns={{{types}}}, auto_detect=false, header=true, "
            f"delim={quoted(self.delimiter)}, quote='\"', escape='\"', new_line={self.end!r}, "
            f"max_line_size={MAX_LINE}, ignore_errors={lenient})"
        )

    def cell(self, index: int) -> tuple[str, str]:
        """A cell of a column as text, and as a finite number or NULL."""
        return text_and_number(f"c{index}", self.types[index] if self.types else "VARCHAR")

    @busy()
    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query of this file finds."""
        import duckdb

        try:
            found: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise self.explained(error) from error
        return found

    def described(self) -> DataFile:
        """The file with its columns, where DuckDB finds them."""
        if self.kind == "parquet":
            types = tuple(row[1] for row in self.run(f"DESCRIBE SELECT * FROM {self.scan(())}"))
            found, within = [], 0
            schema = f"parquet_schema({quoted(escape(self.path))})"
            for name, children in self.run(f"SELECT name, num_children FROM {schema}")[1:]:
                if not within:
                    found.append(name)
                within += (children or 0) - (within > 0)
            return replace(self, names=tuple(found), types=types)
        first = self.run(f"SELECT json_keys(json) FROM {self.scan(())} LIMIT 100")
        names = tuple(dict.fromkeys(name for (keys,) in first for name in keys))
        if not names:
            raise _fault(f"{self.source} does not hold JSON objects.", _OBJECTS)
        return replace(self, names=names)

    def require_rows(self) -> None:
        """Refuse a file of text without rows; one of Parquet says by itself that it has none."""
        if self.kind != "parquet" and not self.run(f"SELECT 1 FROM {self.scan(())} LIMIT 1"):
            raise self.without_rows()

    def without_rows(self) -> InvalidInputError:
        """Return the error for a file that has no rows."""
        return _fault(
            f"{self.source} has no rows of data, only column names.",
            "was the file written completely?",
        )

    @property
    def _opener(self) -> Any:
        return gzip.open if self.packed else open

    def line_end(self) -> str | None:
        r"""Return \n or \r\n, by which all lines end; None if some end in another way.

        DuckDB takes one way for all, and may pass over the other lines in silence. A line break
        in a cell counts as well: it may be taken for the end.
        """
        n_both = n_return = n_feed = 0
        last = b""
        with unpacking(self.source), self._opener(self.path, "rb") as raw:
            while part := raw.read(PART):
                n_feed += part.count(b"\n")
                if last == b"\r" or b"\r" in part:
                    n_return += part.count(b"\r")
                    n_both += (last + part).count(b"\r\n")
                last = part[-1:]
        if n_return == 0:
            return "\n"
        return "\r\n" if n_return == n_feed == n_both else None

    def rewritten(
        self, encoding: str, change: Callable[[Iterable[str]], Iterable[str]] = iter
    ) -> DataFile:
        """A copy in UTF-8, with line ends of one kind and lines perhaps changed."""
        number = 0
        try:
            with (
                tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as copy,
                unpacking(self.source),
                self._opener(self.path, "rb") as raw,
                io.TextIOWrapper(raw, encoding=encoding) as text,
            ):
                for number, line in enumerate(change(text), start=1):  # noqa: B007 - for errors
                    copy.write(line.rstrip("\n").encode() + b"\n")
        except UnicodeError as error:
            raise _fault(
                f"{self.source} is not {encoding.removesuffix('-sig')} text, in line {number + 1} "
                "or below.",
                _RECODE,
            ) from error
        return replace(self, path=copy.name, end="\n", packed=False, is_copy=True)

    def explained(self, error: Exception) -> InvalidInputError:
        """Return an error for a file that DuckDB cannot read, with the line and the reason."""
        said = re.split(r"Possible|\nLINE 1|\n  file|\nTry setting", str(error))[0]
        said = said.replace(self.path, Path(self.source).name)
        said = "; ".join(line.strip()[:200] for line in said.split("\n") if line.strip())
        said = said.removeprefix("Invalid Input Error: ").strip()
        quotes = "cells that hold the delimiter or a quote stand in quotes, and quotes in pairs."
        kind, hint = {
            "csv": ("CSV", quotes),
            "parquet": ("Parquet", "was it written or copied completely?"),
        }.get(self.kind, ("JSON", _OBJECTS))
        hint = _RECODE if "unicode" in said else hint
        return _fault(f"{self.source} cannot be read as {kind}: {said.rstrip('.')}.", hint)


def united(
    files: Sequence[DataFile], cells: Callable[[DataFile], str], columns: Collection[str]
) -> Any:
    """The rows of all files as one relation; ``cells`` are those of a file, of these columns."""
    alike: dict[tuple[Any, ...], list[DataFile]] = {}
    for each in files:  # read together
        form = (each.kind, each.names, each.types, each.delimiter, each.end, each.packed)
        alike.setdefault((*form, *each.folders.items()), []).append(each)
    return files[0].connection.sql(
        " UNION ALL ".join(
            f"SELECT {cells(same[0])} FROM {same[0].scan(columns, [file.path for file in same])}"
            for same in alike.values()
        )
    )


def text_and_number(cell: str, kind: str) -> tuple[str, str]:
    """Return the SQL of a cell of this type as text, and as a finite number or NULL.

    An integer or a decimal beyond 2**53 is no number: floats round it to one of its neighbors.
    What is written as a float is one.
    """
    if kind == "BOOLEAN":
        cell = f"CAST({cell} AS TINYINT)"
    text, number = f"CAST({cell} AS VARCHAR)", f"TRY_CAST({cell} AS DOUBLE)"
    exact = f"BETWEEN -{LARGEST_EXACT_INTEGER} AND {LARGEST_EXACT_INTEGER}"
    if kind in ("FLOAT", "DOUBLE"):
        fine = f"isfinite({cell})"
    elif _NUMBERS.fullmatch(kind):
        fine = f"{cell} {exact}"
    else:
        number = f"TRY_CAST({text} AS DOUBLE)"
        # Most numbers are small; more digits than a HUGEINT has leave it NULL.
        whole = f"coalesce(TRY_CAST({text} AS HUGEINT) {exact}, false)"
        fine = f"abs({number}) < {LARGEST_EXACT_INTEGER} OR isfinite({number}) AND "
        fine += f"CASE WHEN {is_whole(text)} THEN {whole} ELSE true END"
        # DuckDB reads 1_000, but a file that holds it is wrong.
        fine = f"({fine}) AND NOT contains({text}, '_')"
    return f"coalesce({text}, '')", f"CASE WHEN {fine} THEN {number} END"


def is_whole(text: str) -> str:
    """Return the SQL for whether a text is written as an integer."""
    return f"regexp_full_match(trim({text}), '[+-]?[0-9]+')"


def has_nothing(text: str) -> str:
    """Return the SQL for whether a text means a missing value."""
    signs = ", ".join(map(quoted, sorted(_MISSING)))
    return f"lower(trim({text}, e' \\t\\n\\r\\x0b\\x0c')) IN ({signs})"


def is_missing(text: str) -> bool:
    """Return whether a text means a missing value."""
    return text.strip().casefold() in _MISSING


def quoted(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def pointer(name: str) -> str:
    """Return the value of a key of JSON objects in SQL."""
    return "json->>" + quoted("/" + name.replace("~", "~0").replace("/", "~1"))
