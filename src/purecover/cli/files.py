"""Files of data, read by DuckDB: CSV, TSV, JSON and Parquet, plain or gzipped, one or many.

All cells of text come as text, and DuckDB turns into numbers what is one beyond doubt.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from glob import escape
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from purecover._folders import private_folder
from purecover._progress import busy
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import LARGEST_EXACT_INTEGER, show, too_large
from purecover.cli.output import STDIO, CommandError, option
from purecover.documents.formats import cut
from purecover.engines.files import FORMATS, duckdb_connection, suffix_of

OBVIOUS = {
    "score": (
        "score", "scores", "s", "y_score", "prediction", "predictions", "pred", "probability",
        "proba", "prob", "decision_function", "mokapot score",
    ),
    "labeled": ("labeled", "labelled", "is_labeled", "label", "labels", "y"),
    "truth": ("truth", "y_true", "true", "true_class", "true_label"),
    "sample_weight": ("weight", "weights", "sample_weight"),
    "groups": ("group", "groups", "group_id"),
}  # fmt: skip
"""Names by which a column is recognized if none is given."""

_TABS = (".tsv", ".tab", ".pin")
"""Suffixes of files whose columns are separated by tabs."""
_PROTEINS = ("proteins", "proteinids")
"""A last column whose cells Percolator separates like columns, as many as there are proteins."""
DELIMITERS = (",", ";", "\t", "|")
MAX_LINE = 1 << 24
"""The longest line, in bytes."""
_HEAD = 1 << 20
_SAMPLE = 20
_EXAMPLES = 3
"""Bad cells of a column that a message shows."""
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "<na>"))
# An object, or an array of them: a header such as [score],[labeled] is neither.
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*\{)")
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_FOREIGN = {b"PK\x03\x04": "a zip archive or an Excel workbook", b"%PDF": "a PDF"}
# Types that are numbers to DuckDB; cells of all others are read as texts.
_NUMBERS = re.compile(
    r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\([0-9,]+\)"
)
_RECODE = "write it as UTF-8, such as by iconv -f latin1 -t utf-8 FILE."
_OBJECTS = 'JSON lines hold one object per line, such as {"score": 0.7, "labeled": 1}.'


@dataclass(frozen=True)
class Request:
    """Columns by role, and the roles whose cells may be blank.

    Scores ("score", "score 2" and so on) and weights are numbers, all others are words.
    """

    columns: dict[str, str]
    blanks: frozenset[str] = frozenset()

    @property
    def numbers(self) -> list[str]:
        """Roles of numbers."""
        return [role for role in self.columns if role.split()[0] in ("score", "sample_weight")]


@dataclass(frozen=True)
class Words:
    """A column of texts by their distinct values, in order of appearance: ``values[codes]``."""

    codes: IntArray
    values: tuple[str, ...]

    @property
    def blank(self) -> BoolArray:
        """Whether each value means that there is none."""
        return np.array([is_missing(value) for value in self.values], dtype=np.bool_)

    @property
    def n_blank(self) -> int:
        """The number of rows without a value."""
        return int(self.blank[self.codes].sum())


@dataclass(frozen=True)
class Table:
    """Data of files: arrays of numbers and coded words by role, and the column of each role."""

    columns: dict[str, str]
    numbers: Mapping[str, FloatArray]
    words: Mapping[str, Words]


def choose_columns(
    source: str, available: Sequence[str], wanted: Mapping[str, str | None]
) -> dict[str, str]:
    """The column of each role in ``wanted``; None for score and labeled means an obvious name."""
    chosen = {role: column for role, column in wanted.items() if column is not None}
    for role, column in chosen.items():
        require_column(source, column, available, f"asked for by {option(role.split()[0])}")
    needed = []
    for role in OBVIOUS:
        if wanted.get(role, "") is not None:
            continue
        found = obvious_columns(role, available, chosen.values())
        if len(found) != 1:
            why = "more than one column could be" if found else "no column has an obvious name for"
            needed.append(f"{option(role)} is needed for {source}: {why} the {role} column.\n")
        else:
            chosen[role] = found[0]
    if needed:
        raise CommandError(f"{''.join(needed)}Hint: the columns are {list_columns(available)}.")
    labeled = chosen.get("labeled")
    if any(c == labeled for role, c in chosen.items() if role.split()[0] == "score"):
        raise CommandError(
            f"{option('score')} and {option('labeled')} both name the column {labeled!r} of "
            f"{source}; labels would rank themselves perfectly.\n"
            f"Hint: the columns are {list_columns(available)}."
        )
    return chosen


def obvious_columns(role: str, available: Iterable[str], taken: Collection[str]) -> list[str]:
    """Return the columns with an obvious name for a role, but for those of other roles."""
    return [c for c in available if c.strip().casefold() in OBVIOUS[role] and c not in taken]


def require_column(source: str, name: str, available: Sequence[str], why: str) -> None:
    """Raise an error for a name that no column has, or several have."""
    times = available.count(name)
    if times != 1:
        what = "no column" if times == 0 else f"{times} columns"
        raise CommandError(
            f"{source} has {what} named {name!r}, {why}.\n"
            f"Hint: the columns are {list_columns(available)}."
        )


def first_few(texts: Sequence[str], most: int = 5) -> str:
    """Some of many, for a message."""
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")


def list_columns(names: Sequence[str]) -> str:
    """Return column names for a message."""
    return first_few([show(name) for name in names], 20) or "none"


def name_of(file: str) -> str:
    """The file in a message."""
    return "standard input" if file == STDIO else file


def read_table(
    file: str, request: Callable[[list[str]], Request], asked: Iterable[str | None] = ()
) -> Table:
    """Read the columns that ``request`` chooses from those available."""
    with opened([file], asked) as (data,):
        return data.table(request(list(data.names)))


@contextmanager
def opened(
    files: Sequence[str], asked: Iterable[str | None] = (), limit: int | None = None
) -> Iterator[list[DataFile]]:
    """Files ready to be read; ``asked`` are names of columns, which help to find the delimiter.

    Given a limit, files are unpacked before they are read, and to so many bytes at most.
    """
    names = frozenset(name for name in asked if name is not None)
    with private_folder() as folder, duckdb_connection(folder) as connection:
        try:
            yield [_open(connection, folder, file, names, limit) for file in files]
        except duckdb.OutOfMemoryException as error:
            raise MemoryError from error


def _open(
    connection: Any, folder: Path, file: str, asked: frozenset[str], limit: int | None
) -> DataFile:
    """Return the file with its format and its columns."""
    source, path = name_of(file), _on_disk(file, folder)
    head = _first_bytes(path)
    packed = head.startswith(_GZIP)
    if packed:
        with _unpacking(source), gzip.open(path) as unpacked:
            head = unpacked.read(_HEAD)
            if limit is not None or head.lstrip().startswith((b"PAR1", b"[")):
                unpacked.seek(0)
                path, packed = _copied(unpacked, folder, file, limit), False
    suffix = suffix_of(file)
    kind = FORMATS.get(suffix) or ("jsonl" if _JSON.match(head) else "csv")
    if head.startswith(b"PAR1"):
        kind = "parquet"
    data = DataFile(connection, folder, source, path, kind, packed=packed)
    if kind == "parquet":
        return data.described()
    _refuse_binary(source, head)
    if head.startswith(_UTF16) or (kind == "jsonl" and head.startswith(codecs.BOM_UTF8)):
        data = data.rewritten("utf-16" if head.startswith(_UTF16) else "utf-8-sig")
        head = _first_bytes(data.path)
    if kind == "jsonl":
        first = head.strip()
        if first in (b"", b"[]"):
            raise CommandError(f"{source} is empty.\nHint: {_OBJECTS}")
        with Path(data.path).open("rb") as raw:
            raw.seek(-min(4096, raw.seek(0, 2)), 2)
            if first.startswith(b"[") and not raw.read().rstrip().endswith(b"]"):
                raise CommandError(  # DuckDB takes an array that was cut off
                    f"{source} starts like a JSON array but does not end like one.\n"
                    f"Hint: {_OBJECTS}"
                )
        return data.described()
    try:  # the head may end within a character
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{source} is not utf-8 text: {error.reason}.\nHint: {_RECODE}"
        ) from error
    lines = text.splitlines(keepends=True)
    blank = next((i for i, line in enumerate(lines) if line.strip()), None)
    if blank is None:
        raise CommandError(
            f"{source} is empty.\n"
            "Hint: the first line must name the columns, such as score,labeled."
        )
    lines = lines[blank:]
    delimiter = "\t" if suffix in _TABS else sniff_delimiter(lines[:_SAMPLE], asked)
    header = next(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    names = tuple(name.strip() for name in header)
    data = replace(data, delimiter=delimiter, names=names)
    joins = delimiter == "\t" and names[-1].casefold() in _PROTEINS
    if blank or joins:  # DuckDB may lose rows after blank lines
        width = len(names) if joins else None
        data = data.rewritten("utf-8-sig", partial(_tidied, n_blank=blank, width=width))
    with suppress(ValueError):
        for name in names:
            float(name)
        raise CommandError(
            f"{source} starts with numbers ({', '.join(map(show, names[:5]))}) instead of "
            "column names.\nHint: put a line such as score,labeled first."
        )
    return data


def _on_disk(file: str, folder: Path) -> str:
    """A path that can be read as often as need be."""
    if file == STDIO:
        return _copied(sys.stdin.buffer, folder)
    try:
        file.encode()
        with Path(file).open("rb") as raw:
            return file if raw.seekable() else _copied(raw, folder)
    except FileNotFoundError:
        raise CommandError(f"there is no file {show(file)}.") from None
    except UnicodeError:
        raise CommandError(
            f"{show(file)} cannot be opened: its name is not UTF-8.\n"
            "Hint: give it another name, or read it from standard input: purecover ... - < FILE"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(f"{show(file)} cannot be opened: {reason}.") from error


def _copied(stream: Any, folder: Path, file: str = STDIO, limit: int | None = None) -> str:
    """A copy of what comes from a stream, unless that is too much."""
    size = 0
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as copy:
        while part := stream.read(_HEAD):
            size += len(part)
            if limit is not None and size > limit:
                raise too_much(file, f"more than {limit:,} bytes", limit)
            copy.write(part)
    return copy.name


def too_much(file: str, found: str, limit: int) -> CommandError:
    """A complaint of a file that is far larger than it looks."""
    return CommandError(
        f"{file} has {Path(file).stat().st_size:,} bytes but unpacks to {found}; the limit is "
        f"{limit:,} bytes.\nHint: purecover app --max-upload raises it."
    )


def _first_bytes(path: str) -> bytes:
    with Path(path).open("rb") as raw:
        return raw.read(_HEAD)


@contextmanager
def _unpacking(source: str) -> Iterator[None]:
    """Complaints of a gzip file that is damaged."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CommandError(
            f"{source} is a damaged gzip file: {error}.\nHint: was it copied completely?"
        ) from error


def _refuse_binary(source: str, head: bytes) -> None:
    what = next((what for magic, what in _FOREIGN.items() if head.startswith(magic)), None)
    if what is None and b"\0" in head and not head.startswith(_UTF16):
        what = "binary data, not text"
    if what is not None:
        raise CommandError(
            f"{source} is {what}, which purecover does not read.\n"
            "Hint: export it as CSV, TSV, JSON lines (each also gzipped) or Parquet."
        )


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
    """A file on disk and its columns; text is UTF-8, perhaps gzipped.

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
            f"delim={quoted(self.delimiter)}, quote='\"', escape='\"', "
            f"max_line_size={MAX_LINE}, ignore_errors={lenient})"
        )

    def cell(self, index: int) -> tuple[str, str]:
        """A cell of a column as text, and as a finite number or NULL."""
        cell = f"c{index}"
        kind = self.types[index] if self.types else "VARCHAR"
        if kind == "BOOLEAN":
            cell = f"CAST({cell} AS TINYINT)"
        text, plain, whole = f"CAST({cell} AS VARCHAR)", cell, "true"
        if not _NUMBERS.fullmatch(kind):
            # DuckDB reads 1_000, but a file that holds it is wrong.
            plain = f"CASE WHEN NOT contains({text}, '_') THEN {text} END"
            whole = f"regexp_full_match(trim({plain}), '[+-]?[0-9]+')"
        number = f"TRY_CAST({plain} AS DOUBLE)"
        fine = f"isfinite({number})"
        if kind not in ("FLOAT", "DOUBLE"):
            # Larger integers are rounded to one another; what is written as a float is one.
            fine += f" AND (abs({number}) <= {LARGEST_EXACT_INTEGER} OR NOT {whole})"
        return f"coalesce({text}, '')", f"CASE WHEN {fine} THEN {number} END"

    def select(self, request: Request, names: Iterable[str]) -> str:
        """Columns in the order of roles, under these names."""
        cells = []
        for (role, column), name in zip(request.columns.items(), names, strict=True):
            if column in self.folders:
                text = quoted(self.folders[column])
                number = f"TRY_CAST({text} AS DOUBLE)"
            else:
                require_column(self.source, column, self.names, "as the files before it have")
                text, number = self.cell(self.names.index(column))
            cells.append(f"{number if role in request.numbers else text} AS {identifier(name)}")
        return ", ".join(cells)

    @busy()
    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query of this file finds."""
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
            raise CommandError(f"{self.source} does not hold JSON objects.\nHint: {_OBJECTS}")
        return replace(self, names=names)

    def table(self, request: Request) -> Table:
        """The columns as arrays; complains of all bad cells at once."""
        columns = request.columns
        names = {role: f"r{i}" for i, role in enumerate(columns)}
        try:
            cells, scan = self.select(request, names.values()), self.scan(columns.values())
            self.run(f"CREATE TEMP TABLE found AS SELECT {cells} FROM {scan}")
        except CommandError:
            # Lines may end in different ways, of which DuckDB takes one.
            if self.is_copy or self.kind != "csv":
                raise
            return self.rewritten("utf-8-sig").table(request)
        shown = [names[role] for role in request.numbers]
        words = [role for role in columns if role not in request.numbers]
        counted = ", ".join(["count(*)", *(f"count({name})" for name in shown)])
        ((n_rows, *n_numbers),) = self.run(f"SELECT {counted} FROM found")
        if n_rows == 0:
            raise CommandError(
                f"{self.source} has no rows of data, only column names.\n"
                "Hint: was the file written completely?"
            )
        odd = any(n < n_rows for n in n_numbers)
        values: dict[str, tuple[str, ...]] = {}
        for role in words:
            name = names[role]
            distinct = f"SELECT {name} FROM found GROUP BY {name} ORDER BY min(rowid)"
            values[role] = tuple(value for (value,) in self.run(distinct))
            odd |= role not in request.blanks and any(map(is_missing, values[role]))
            self.run(f"CREATE TEMP TYPE words_{name} AS ENUM ({distinct})")
            shown.append(f"enum_code(CAST({name} AS words_{name})) AS {name}")
        if odd:
            self.refuse_odd_cells(request)
        arrays = self.connection.execute(f"SELECT {', '.join(shown)} FROM found").fetchnumpy()
        return Table(
            columns,
            {role: np.asarray(arrays[names[role]]) for role in request.numbers},
            {r: Words(arrays[names[r]].astype(np.int64), values[r]) for r in words},
        )

    def refuse_odd_cells(self, request: Request) -> None:
        """Raise an error for all cells that are invalid in their column, with the first few."""
        sentences, cells, bad = [], [], {}
        signs = ", ".join(map(quoted, sorted(_MISSING)))
        for role, column in request.columns.items():
            if column in self.folders or role in request.blanks:
                continue
            text, number = self.cell(self.names.index(column))
            odd = f"lower(trim({text}, e' \\t\\n\\r\\x0b\\x0c')) IN ({signs})"
            if role in request.numbers:
                odd = f"{number} IS NULL"
            rows = self.run(
                "SELECT place, cell, count(*) OVER () FROM (SELECT row_number() OVER () AS place, "
                f"{text} AS cell, {odd} AS odd FROM {self.scan([column])}) "
                f"WHERE odd ORDER BY place LIMIT {_EXAMPLES}"
            )
            examples = []
            for place, cell, n in rows:
                if role in request.numbers and is_too_large(cell):
                    where = f"{show(cell)} in row {place} of column {show(column)} of {self.source}"
                    raise too_large(role.split()[0], where)
                examples.append(f"row {place} {show(cell) + ' ' if cell else ''}{fault_of(cell)}")
                cells.append(cell.strip())
                bad[role] = n
            if role in bad:
                many = "1 bad cell" if bad[role] == 1 else f"{bad[role]} bad cells"
                shown = ", ".join(examples) + (", ..." if bad[role] > len(rows) else "")
                sentences.append(f"{many} in column {show(column)} ({shown})")
        if not bad:
            return
        ((n_rows,),) = self.run(f"SELECT count(*) FROM {self.scan(self.names[:1])}")
        if all(re.fullmatch(r"[+-]?\d+([.,]\d*)?\s*%", cell) for cell in cells):
            hint = "take the percent signs out of the column; scores may have any scale."
        elif any(re.fullmatch(r"[+-]?\d*(,\d+)+(\.\d*)?", cell) for cell in cells):
            hint = "write decimal points, and take out commas that separate thousands."
        elif any(n == n_rows > 1 for n in bad.values()):
            hint = "not one cell can be used: is that the right column?"
        else:
            hint = "purecover never drops rows by itself; correct those cells first."
            if "labeled" in bad:
                way = f"if blank means unlabeled, add {option('missing_is_unlabeled')}."
                hint = way if len(bad) == 1 else f"{way} {hint}"
        raise CommandError(f"{self.source} has {' and '.join(sentences)}.\nHint: {hint}")

    def rewritten(
        self, encoding: str, change: Callable[[Iterable[str]], Iterable[str]] = iter
    ) -> DataFile:
        """A copy in UTF-8, with line ends of one kind and lines perhaps changed."""
        opener: Any = gzip.open if self.packed else open
        number = 0
        try:
            with (
                tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as copy,
                _unpacking(self.source),
                opener(self.path, "rb") as raw,
                io.TextIOWrapper(raw, encoding=encoding) as text,
            ):
                for number, line in enumerate(change(text), start=1):  # noqa: B007 - for errors
                    copy.write(line.rstrip("\n").encode() + b"\n")
        except UnicodeError as error:
            raise CommandError(
                f"{self.source} is not {encoding.removesuffix('-sig')} text, in line {number + 1} "
                f"or below.\nHint: {_RECODE}"
            ) from error
        return replace(self, path=copy.name, packed=False, is_copy=True)

    def explained(self, error: duckdb.Error) -> CommandError:
        """Return an error for a file that DuckDB cannot read, with the line and the reason."""
        said = re.split(r"Possible|\nLINE 1|\n  file|\nTry setting", str(error))[0]
        said = said.replace(self.path, Path(self.source).name)
        said = "; ".join(cut(line.strip(), 200) for line in said.splitlines() if line.strip())
        said = said.removeprefix("Invalid Input Error: ").strip()
        quotes = "cells that hold the delimiter or a quote stand in quotes, and quotes in pairs."
        kind, hint = {
            "csv": ("CSV", quotes),
            "parquet": ("Parquet", "was it written or copied completely?"),
        }.get(self.kind, ("JSON", _OBJECTS))
        hint = _RECODE if "unicode" in said else hint
        return CommandError(
            f"{self.source} cannot be read as {kind}: {said.rstrip('.')}.\nHint: {hint}"
        )


def relation(files: Sequence[DataFile], request: Request) -> Any:
    """The columns of files under their own names, as a lazy frame; what is no number is NULL."""
    connection = files[0].connection
    connection.execute("SET preserve_insertion_order = false")  # which takes memory
    alike: dict[tuple[Any, ...], list[DataFile]] = {}
    for each in files:  # read together
        form = (each.kind, each.names, each.types, each.delimiter, each.packed)
        alike.setdefault((*form, *each.folders.items()), []).append(each)
    columns = request.columns.values()
    return connection.sql(
        " UNION ALL ".join(
            f"SELECT {same[0].select(request, columns)} "
            f"FROM {same[0].scan(columns, [file.path for file in same])}"
            for same in alike.values()
        )
    )


def complain(files: Sequence[DataFile], request: Request) -> None:
    """Complain of the first file that is at fault, where counting found that one is."""
    files[0].connection.execute("SET preserve_insertion_order = true")  # rows have numbers
    for file in files:
        file.refuse_odd_cells(request)


def quoted(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def pointer(name: str) -> str:
    """Return the value of a key of JSON objects in SQL."""
    return "json->>" + quoted("/" + name.replace("~", "~0").replace("/", "~1"))


def is_missing(text: str) -> bool:
    """Return whether a text means a missing value."""
    return text.strip().casefold() in _MISSING


def is_too_large(text: str) -> bool:
    """Return whether a text is an integer that floats round."""
    whole = re.fullmatch(r"\s*[+-]?[0-9]+\s*", text)
    return whole is not None and LARGEST_EXACT_INTEGER < abs(float(text)) < math.inf


def fault_of(text: str) -> str:
    """Return why a text is no value, or no finite number."""
    if is_missing(text):  # a sign such as NA has a value of its own, and says that there is none
        return "means no value" if text else "has no value"
    with suppress(ValueError):
        if not math.isfinite(float(text)):
            return "is not finite"
    return "is not a number"
