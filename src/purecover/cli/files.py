"""Files of data, read by DuckDB: CSV, TSV, JSON and Parquet, plain or gzipped, one or many.

All cells of text come as text, and DuckDB turns into numbers what is one beyond doubt. Where it
refuses a file or a cell, the csv and json modules of Python have the last word: they are slow and
exact, and they know the line.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from glob import escape
from itertools import islice
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np

from purecover._documents.formats import cut
from purecover._typing import FloatArray, IntArray
from purecover._validation import show
from purecover.cli.options import TableOptions
from purecover.cli.output import STDIO, CommandError

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".pin": "tsv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""What the ending of a name says about the content; .gz behind it changes nothing."""

OBVIOUS = {
    "score": (
        "score", "scores", "s", "y_score", "prediction", "predictions", "pred", "probability",
        "proba", "prob", "decision_function", "mokapot score",
    ),
    "labeled": ("labeled", "labelled", "is_labeled", "label", "labels", "y"),
    "truth": ("truth", "y_true", "true", "true_class", "true_label"),
    "weight": ("weight", "weights", "sample_weight"),
    "group": ("group", "groups", "group_id"),
}  # fmt: skip
"""Names by which a column is found that nobody named."""

_PROTEINS = ("proteins", "proteinids")
"""A last column whose cells Percolator separates like columns, as many as there are proteins."""
DELIMITERS = (",", ";", "\t", "|")
MAX_LINE = 1 << 24
"""The longest line, in bytes."""
_HEAD = 4096
_SAMPLE = 20
_MAX_EXAMPLES = 3
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "<na>"))
_NO_VALUE = "has no value"
# An object, or an array of them: a header such as [score],[labeled] is neither.
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*\{)")
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"ARROW1": "an Arrow or Feather file",
    b"SQLite format 3": "an SQLite data base",
    b"%PDF": "a PDF",
}
_NO_NUMBERS = ("BLOB", "DATE", "INTERVAL", "LIST", "MAP", "STRUCT", "TIME", "UNION", "UUID")
BadCells = dict[str, list[tuple[int, str, str]]]
"""Rows and texts of cells that cannot be used, and why, by role."""
_OBJECTS = 'JSON lines hold one object per line, such as {"score": 0.7, "labeled": 1}.'


# -- what is wanted, and what is found ----------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """Columns by role, and how their cells are to be read.

    ``numbers`` must hold numbers, with ``decimal`` before their decimals; ``words`` may hold
    anything, but only those in ``blanks`` may hold nothing.
    """

    numbers: Mapping[str, str]
    words: Mapping[str, str]
    blanks: frozenset[str] = frozenset()
    decimal: str = "."

    @property
    def columns(self) -> dict[str, str]:
        """The column of every role."""
        return {**self.numbers, **self.words}


@dataclass(frozen=True)
class Words:
    """A column of texts by their distinct values, in order of appearance: ``values[codes]``."""

    codes: IntArray
    values: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """What was read: arrays of numbers and coded words by role, and the column of each role."""

    columns: Mapping[str, str]
    numbers: Mapping[str, FloatArray]
    words: Mapping[str, Words]


def choose_columns(
    source: str, available: Sequence[str], wanted: Mapping[str, str | None]
) -> dict[str, str]:
    """The column of each role in ``wanted``; None for score and labeled means an obvious name."""
    chosen = {role: column for role, column in wanted.items() if column is not None}
    for role, column in chosen.items():
        require_column(source, column, available, f"asked for by --{role.split()[0]}")
    for role, names in OBVIOUS.items():
        if wanted.get(role, "") is not None:
            continue
        taken = set(chosen.values())
        found = [c for c in available if c.strip().casefold() in names and c not in taken]
        if len(found) != 1:
            why = "more than one column could be" if found else "no column has an obvious name for"
            raise CommandError(
                f"--{role} is needed for {source}: {why} the {role} column.\n"
                f"Hint: the columns are {list_columns(available)}."
            )
        chosen[role] = found[0]
    labeled = chosen.get("labeled")
    if any(c == labeled for role, c in chosen.items() if role.split()[0] == "score"):
        raise CommandError(
            f"--score and --labeled both name the column {labeled!r} of {source}; labels would "
            "rank themselves perfectly.\n"
            f"Hint: the columns are {list_columns(available)}."
        )
    return chosen


def require_column(
    source: str, name: str, available: Sequence[str], why: str, hint: str = ""
) -> None:
    """Complain of a name that no column has, or several have."""
    times = available.count(name)
    if times != 1:
        what = "no column" if times == 0 else f"{times} columns"
        raise CommandError(
            f"{source} has {what} named {name!r}, {why}.\n"
            f"Hint: the columns are {list_columns(available)}{hint}."
        )


def first_few(texts: Sequence[str], most: int = 5) -> str:
    """Some of many, for a message."""
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")


def list_columns(names: Sequence[str]) -> str:
    """Column names for a message."""
    if not names:
        return "none"
    shown = ", ".join(show(name) for name in names[:20])
    return shown + (f" and {len(names) - 20} more" if len(names) > 20 else "")


# -- opening --------------------------------------------------------------------------------------


def name_of(file: str) -> str:
    """The file in a message."""
    return "standard input" if file == STDIO else file


def read_table(
    file: str,
    request: Callable[[list[str]], Request],
    options: TableOptions = TableOptions(),
    asked: Iterable[str | None] = (),
) -> Table:
    """Read the columns that ``request`` picks once it is told which there are."""
    with opened([file], options, asked) as (data,):
        return data.table(request(list(data.names)))


@contextmanager
def opened(
    files: Sequence[str],
    options: TableOptions = TableOptions(),
    asked: Iterable[str | None] = (),
    memory_limit: str | None = None,
) -> Iterator[list[DataFile]]:
    """Files ready to be read; ``asked`` are names of columns, which help to find the delimiter."""
    if options.delimiter is not None:
        options = replace(options, delimiter=_one_character(options.delimiter))
    names = frozenset(name for name in asked if name is not None)
    # Nothing is downloaded, whatever a name looks like.
    config: Any = {"autoinstall_known_extensions": False}
    with ExitStack() as stack, duckdb.connect(":memory:", config=config) as connection:
        try:
            if memory_limit is not None:
                connection.execute("SET memory_limit = $1", [memory_limit])
        except duckdb.Error:
            raise CommandError(
                f"--memory-limit must be a size such as '2GB', got {show(memory_limit)}."
            ) from None
        try:
            yield [_open(connection, stack, file, options, names) for file in files]
        except duckdb.OutOfMemoryException as error:
            raise MemoryError from error


def _open(
    connection: Any, stack: ExitStack, file: str, options: TableOptions, asked: frozenset[str]
) -> DataFile:
    """What kind of file it is, and which columns it has."""
    source = name_of(file)
    path = _on_disk(file, stack)
    head = _head(path)
    if head.startswith(_GZIP):
        with _unpacking(source), gzip.open(path) as unpacked:
            head = unpacked.read(_HEAD)
            if not path.endswith(".gz") or head.lstrip().startswith((b"PAR1", b"[")):
                unpacked.seek(0)
                path = _spooled(unpacked, stack)
    suffixes = [suffix.lower() for suffix in Path(file).suffixes if suffix.lower() != ".gz"]
    kind = options.format or FORMATS.get(suffixes[-1] if suffixes else "")
    kind = kind or ("jsonl" if _JSON.match(head) else "csv")
    if head.startswith(b"PAR1"):
        kind = "parquet"
    data = DataFile(connection, stack, source, path, kind)
    if kind == "parquet":
        return data.described()
    _refuse_binary(source, head)
    utf8 = options.encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    if head.startswith(_UTF16):
        data = data.rewritten("utf-16")
    elif not utf8 or (kind == "jsonl" and head.startswith(b"\xef\xbb\xbf")):
        data = data.rewritten("utf-8-sig" if utf8 else options.encoding)
    if kind == "jsonl":
        first = _head(data.path).strip() if data.is_copy else head.strip()
        if first in (b"", b"[]"):
            raise CommandError(f"{source} is empty.\nHint: {_OBJECTS}")
        return replace(data, is_array=first.startswith(b"[")).described()
    sample = list(islice(data.lines(), _SAMPLE))
    if not any(line.strip() for line in sample):
        raise CommandError(
            f"{source} is empty.\n"
            "Hint: the first line must name the columns, such as score,labeled."
        )
    delimiter = options.delimiter or ("\t" if kind == "tsv" else sniff_delimiter(sample, asked))
    data = replace(data, kind="csv", delimiter=delimiter)
    line, header = next(data.rows())
    if line > 1:  # blank lines before the header, at which DuckDB may lose rows
        data = data.rewritten("utf-8-sig", skip=line - 1)
    data = replace(data, names=tuple(name.strip() for name in header))
    if delimiter == "\t" and data.names[-1].casefold() in _PROTEINS:
        data = data.with_proteins_joined()
    with suppress(ValueError):
        for name in data.names:
            float(name)
        raise CommandError(
            f"{source} starts with numbers ({', '.join(map(show, data.names[:5]))}) instead of "
            "column names.\nHint: put a line such as score,labeled first."
        )
    return data


def _on_disk(file: str, stack: ExitStack) -> str:
    """A path that can be read as often as need be."""
    if file == STDIO:
        return _spooled(sys.stdin.buffer, stack)
    try:
        with Path(file).open("rb") as raw:
            return file if raw.seekable() else _spooled(raw, stack)
    except FileNotFoundError:
        raise CommandError(f"there is no file {show(file)}.") from None
    except IsADirectoryError:
        raise CommandError(f"{show(file)} is a directory, not a file.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(f"{show(file)} cannot be opened: {reason}.") from error


def _spooled(stream: Any, stack: ExitStack) -> str:
    copy = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
    shutil.copyfileobj(stream, copy)
    copy.flush()
    return copy.name


def _head(path: str) -> bytes:
    with Path(path).open("rb") as raw:
        return raw.read(_HEAD)


@contextmanager
def _unpacking(source: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CommandError(
            f"{source} is a damaged gzip file: {error}.\nHint: was it copied completely?"
        ) from error


def _refuse_binary(source: str, head: bytes) -> None:
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise CommandError(
                f"{source} is {what}, which purecover does not read.\n"
                "Hint: export it as CSV or Parquet."
            )
    if b"\0" in head and not head.startswith(_UTF16):
        raise CommandError(
            f"{source} holds binary data, not text.\n"
            "Hint: purecover reads CSV, TSV, JSON lines (each also gzipped) and Parquet."
        )


def _one_character(delimiter: str) -> str:
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
    chosen = named.get(delimiter, delimiter)
    if len(chosen) != 1 or chosen in '\r\n" ':
        words = ", ".join(repr(d) for d in DELIMITERS)
        raise CommandError(
            f"--delimiter must be one character such as {words}, got {show(delimiter)}."
        )
    return chosen


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


# -- a file ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DataFile:
    """A file on disk and its columns; text is UTF-8, perhaps gzipped.

    ``types`` are those of DuckDB where the file itself has any; ``skip`` lines at the start of
    the file are not in this copy of it.
    """

    connection: Any
    stack: ExitStack
    source: str
    path: str
    kind: str
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    delimiter: str = ","
    skip: int = 0
    is_array: bool = False
    is_copy: bool = False

    # -- in SQL --

    @property
    def folders(self) -> dict[str, str]:
        """Columns that are in no file but in the name of its folder, such as day=2026-01-01."""
        parts = [part.partition("=") for part in Path(self.path).parent.parts]
        return {name: value for name, sign, value in parts if sign and name not in self.names}

    @property
    def form(self) -> tuple[Any, ...]:
        """What files have in common that are read together."""
        form = (self.kind, self.names, self.types, self.delimiter, self.is_array)
        return (*form, *self.folders.items())

    def scan(
        self, columns: Iterable[str], paths: Sequence[str] = (), *, lenient: bool = False
    ) -> str:
        """What stands after FROM, for this file or several of its form.

        If it is ``lenient``, rows of CSV with a wrong number of fields are left out.
        """
        # To DuckDB each name is a pattern. A folder called score=3 is no column.
        files = ", ".join(_quoted(escape(path)) for path in paths or [self.path])
        files = f"[{files}], hive_partitioning=false"
        if self.kind == "parquet":
            return f"read_parquet({files})"
        if self.kind == "jsonl":
            types = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in dict.fromkeys(columns))
            return (
                f"read_json({files}, format='{'array' if self.is_array else 'newline_delimited'}', "
                f"maximum_object_size={MAX_LINE}, "
                + (f"columns={{{types}}})" if types else "sample_size=100, maximum_depth=1)")
            )
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.names)))
        return (
            f"read_csv({files}, columns={{{types}}}, auto_detect=false, header=true, "
            f"delim={_quoted(self.delimiter)}, quote='\"', escape='\"', "
            f"max_line_size={MAX_LINE}, ignore_errors={lenient})"
        )

    def cell(self, index: int, decimal: str) -> tuple[str, str]:
        """A cell of a column as text, and as a finite number or NULL."""
        cell = f"c{index}" if self.kind == "csv" else _identifier(self.names[index])
        kind = self.types[index] if self.types else "VARCHAR"
        if kind == "VARCHAR":
            # DuckDB reads 1_000, but a file that holds it is wrong.
            plain = f"CASE WHEN NOT contains({cell}, '_') THEN {cell} END"
            if decimal == ",":
                # A number of JSON has a point; in other texts 1.234 may be a thousand and more.
                point = "_" if self.kind == "jsonl" else "[._]"
                plain = f"CASE WHEN NOT regexp_matches({cell}, '{point}') "
                plain += f"THEN replace({cell}, ',', '.') END"
        else:
            # Truth values are 1 and 0, and a float is as precise as Python takes it.
            types = {"BOOLEAN": "TINYINT", "FLOAT": "DOUBLE"}
            cell = f"CAST({cell} AS {types[kind]})" if kind in types else cell
            plain = "NULL" if kind.endswith("]") or kind.startswith(_NO_NUMBERS) else cell
            cell = f"replace(CAST({cell} AS VARCHAR), '.', '{decimal}')"
        number = f"TRY_CAST({plain} AS DOUBLE)"
        return f"coalesce({cell}, '')", f"CASE WHEN isfinite({number}) THEN {number} END"

    def select(self, request: Request, names: Iterable[str]) -> str:
        """Columns in the order of roles, under these names."""
        cells = []
        for (role, column), name in zip(request.columns.items(), names, strict=True):
            if column in self.names:
                text, number = self.cell(self.names.index(column), request.decimal)
            elif column in self.folders:
                text = _quoted(self.folders[column])
                number = f"TRY_CAST({text} AS DOUBLE)"
            else:
                raise CommandError(
                    f"{self.source} has no column named {column!r}, as the files before it have.\n"
                    f"Hint: the columns are {list_columns(self.names)}."
                )
            cells.append(f"{number if role in request.numbers else text} AS {_identifier(name)}")
        return ", ".join(cells)

    def described(self) -> DataFile:
        """The file with its columns, where DuckDB finds them."""
        try:
            found = self.connection.execute(f"DESCRIBE SELECT * FROM {self.scan(())}").fetchall()
        except duckdb.Error as error:
            raise self.explained(error) from error
        names, types = (tuple(row[i] for row in found) for i in (0, 1))
        if self.kind == "parquet":
            return replace(self, names=names, types=types)
        # DuckDB calls what is no object json, and takes an array that was cut off.
        if names == ("json",) or (self.is_array and not self._is_closed):
            self.explained(None)
        return replace(self, names=names)

    @property
    def _is_closed(self) -> bool:
        with Path(self.path).open("rb") as raw:
            raw.seek(-min(_HEAD, raw.seek(0, 2)), 2)
            return raw.read().rstrip().endswith(b"]")

    # -- as arrays --

    def table(self, request: Request) -> Table:
        """The columns as arrays; complains of all bad cells at once."""
        execute, columns = self.connection.execute, request.columns
        names = {role: f"r{i}" for i, role in enumerate(columns)}
        try:
            cells, scan = self.select(request, names.values()), self.scan(columns.values())
            execute(f"CREATE OR REPLACE TEMP TABLE found AS SELECT {cells} FROM {scan}")
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            # Python, which is slow and exact, knows what is wrong, or writes a plainer copy.
            wrong = self.explained(error)
            if self.is_copy or self.kind != "csv":
                raise wrong from error
            return self.rewritten("utf-8-sig").table(request)
        numbers = [f"count(*) - count({names[role]})" for role in request.numbers]
        n_rows, *n_bad = execute(
            f"SELECT {', '.join(['count(*)', *numbers])} FROM found"
        ).fetchone()
        if n_rows == 0:
            raise CommandError(
                f"{self.source} has no rows of data, only column names.\n"
                "Hint: was the file written completely?"
            )
        shown = [f"coalesce({names[role]}, 0) AS {names[role]}" for role in request.numbers]
        values: dict[str, tuple[str, ...]] = {}
        for role in request.words:
            name = names[role]
            distinct = f"SELECT {name} FROM found GROUP BY {name} ORDER BY min(rowid)"
            values[role] = tuple(value for (value,) in execute(distinct).fetchall())
            execute(f"CREATE TEMP TYPE words_{name} AS ENUM ({distinct})")
            shown.append(f"enum_code(CAST({name} AS words_{name})) AS {name}")
        blank = any(any(map(is_missing, values[r])) for r in values if r not in request.blanks)
        mended = self.odd_cells(request, n_rows) if blank or any(n_bad) else {}
        arrays = execute(f"SELECT {', '.join(shown)} FROM found").fetchnumpy()
        for (role, row), number in mended.items():
            arrays[names[role]][row] = number
        return Table(
            columns,
            {role: np.asarray(arrays[names[role]]) for role in request.numbers},
            {r: Words(arrays[names[r]].astype(np.int64), values[r]) for r in request.words},
        )

    def odd_cells(
        self, request: Request, n_rows: int | None = None
    ) -> dict[tuple[str, int], float]:
        """Numbers that Python reads and DuckDB does not; complains of all other odd cells."""
        mended: dict[tuple[str, int], float] = {}
        bad: BadCells = {}
        signs = ", ".join(map(_quoted, sorted(_MISSING)))
        for role, column in request.columns.items():
            if column in self.folders or role in request.blanks:
                continue
            index = self.names.index(column)
            text, number = self.cell(index, request.decimal)
            odd = f"lower(trim({text}, e' \\t\\n\\r\\x0b\\x0c')) IN ({signs})"
            if role in request.numbers:
                odd = f"{number} IS NULL"
            rows = self.connection.execute(
                "SELECT place, cell FROM ("
                f"SELECT row_number() OVER () - 1 AS place, {text} AS cell, {odd} AS odd "
                f"FROM {self.scan([column])}) WHERE odd ORDER BY place"
            ).fetchall()
            typed = self.types and self.types[index] != "VARCHAR"
            for row, cell in rows:
                why: str | None = _NO_VALUE
                if role in request.numbers:
                    found, why = parse_number(cell, request.decimal)
                    if typed and cell == "nan":
                        why = "is not finite"
                    if why is None:
                        mended[role, row] = found
                if why is not None:
                    bad.setdefault(role, []).append((row, cell, why))
        if bad:
            raise self._complaint(request, bad, n_rows)
        return mended

    def first_rows(self, n_columns: int, n_rows: int) -> list[list[str]]:
        """Texts of the first cells; none where they cannot be read."""
        cells = [self.cell(i, ".")[0] for i in range(min(n_columns, len(self.names)))]
        scan = self.scan(self.names[:n_columns], lenient=True)
        query = f"SELECT {', '.join(cells)} FROM {scan} LIMIT {n_rows}"
        with suppress(duckdb.Error):
            return [list(row) for row in self.connection.execute(query).fetchall()]
        return []

    def value_counts(self, index: int, most: int) -> dict[str, int]:
        """Rows by text of a column, blank ones under ""; nothing of more than ``most`` texts."""
        cell = f"trim({self.cell(index, '.')[0]})"
        scan = self.scan([self.names[index]], lenient=True)
        query = f"SELECT {cell}, count(*) FROM {scan} GROUP BY 1 ORDER BY 2 DESC LIMIT {most + 2}"
        found: dict[str, int] = {}
        with suppress(duckdb.Error):
            for text, rows in self.connection.execute(query).fetchall():
                value = "" if is_missing(text) else cut(text, MAX_CELL)
                found[value] = found.get(value, 0) + rows
        return found if len(found) <= most else {}

    def unpacked_size(self) -> int:
        """Bytes of a Parquet file in memory, from its footer alone; a number takes eight."""
        file = _quoted(escape(self.path))
        try:
            packed, rows = self.connection.execute(
                f"SELECT (SELECT sum(abs(total_uncompressed_size)) FROM parquet_metadata({file})), "
                f"(SELECT sum(abs(num_rows)) FROM parquet_file_metadata({file}))"
            ).fetchone()
        except duckdb.Error as error:
            raise self.explained(error) from error
        # Equal cells take next to no room in the file.
        return max(int(packed or 0), 8 * int(rows or 0))

    # -- as Python reads it --

    def lines(self, encoding: str = "utf-8-sig") -> Iterator[str]:
        """Lines of text; broken encodings and archives become errors of ours."""
        number = 0
        try:
            opener = gzip.open if self.path.endswith(".gz") else open
            with _unpacking(self.source), opener(self.path, "rb") as raw:
                text = io.TextIOWrapper(cast("Any", raw), encoding=encoding, newline="")
                # A limit, so that one endless line cannot fill the memory.
                while line := text.readline(MAX_LINE):
                    if len(line) == MAX_LINE:
                        raise CommandError(
                            f"{self.source} has a line of more than {MAX_LINE:,} characters after "
                            f"line {number}."
                        )
                    number += 1
                    yield line
        except LookupError:
            raise CommandError(f"there is no text encoding {show(encoding)}.") from None
        except UnicodeError as error:
            what = str(error)
            if isinstance(error, UnicodeDecodeError):
                what = f"byte 0x{error.object[error.start]:02x}, {error.reason}"
            raise CommandError(
                f"{self.source} is not {encoding.removesuffix('-sig')} text, in line {number + 1} "
                f"or below ({what}).\nHint: name its encoding, such as --encoding latin-1."
            ) from error

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Rows of CSV that are not blank, and the line each begins in."""
        before = csv.field_size_limit(MAX_LINE)
        # strict: a quote that is never closed would otherwise swallow the rest of the file.
        rows = csv.reader(
            self.lines(), delimiter=self.delimiter, strict=True, skipinitialspace=True
        )
        line = 1
        try:
            for row in rows:
                if row:
                    yield self.skip + line, row
                line = rows.line_num + 1
        except csv.Error as error:
            raise CommandError(
                f"{self.source}, line {self.skip + rows.line_num}, is not well-formed CSV: {error}."
                "\n"
                'Hint: a quote inside a quoted field must be doubled (""), and every quote closed.'
            ) from error
        finally:
            csv.field_size_limit(before)

    def rewritten(self, encoding: str, skip: int = 0) -> DataFile:
        """A copy in UTF-8, with line ends of one kind, which DuckDB reads."""
        copy = self.stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
        for line in islice(self.lines(encoding), skip, None):
            copy.write((line.rstrip("\r\n") + "\n").encode())
        copy.flush()
        return replace(self, path=copy.name, skip=skip, is_copy=True)

    def with_proteins_joined(self) -> DataFile:
        """A copy in which the proteins of a row are one cell; without a row of directions."""
        copy = self.stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
        for line in self.lines():
            cells = line.rstrip("\r\n").split("\t")
            if cells[0].casefold() != "defaultdirection":
                last = len(self.names) - 1
                cells[last:] = [";".join(cells[last:]).replace('"', "'")] if cells[last:] else []
                copy.write(("\t".join(cells) + "\n").encode())
        copy.flush()
        return replace(self, path=copy.name, is_copy=True)

    def explained(self, error: duckdb.Error | None) -> CommandError:
        """Find out why DuckDB does not read the file; what is returned is only what it said."""
        if self.kind == "csv":
            self._refuse_ragged()
        elif self.kind == "jsonl":
            for place, value in self._json_values():
                if not isinstance(value, dict):
                    raise CommandError(
                        f"{self.source}, {self.place} {place}, is not a JSON object: {show(value)}."
                        f"\nHint: {_OBJECTS}"
                    )
        said = next(iter(str(error).splitlines()), "")[:200]
        if self.kind == "parquet":
            return CommandError(
                f"{self.source} is not a Parquet file that can be read: {said}.\n"
                "Hint: was it written or copied completely? --format names another format."
            )
        return CommandError(f"{self.source} cannot be read: {said}.")

    def _refuse_ragged(self) -> None:
        width = len(self.names)
        ragged = [(line, len(row)) for line, row in self.rows() if len(row) != width]
        if ragged:
            rows = "1 row" if len(ragged) == 1 else f"{len(ragged)} rows"
            shown = first_few([f"line {line} has {n}" for line, n in ragged], _MAX_EXAMPLES)
            raise CommandError(
                f"{self.source} has {rows} with a wrong number of fields: the header has {width}, "
                f"{shown}.\n"
                "Hint: fields that contain the delimiter must be quoted; --delimiter names it."
            )

    def _json_values(self) -> Iterator[tuple[int, Any]]:
        if self.is_array:
            try:
                yield from enumerate(json.loads("".join(self.lines())), start=1)
            except (ValueError, RecursionError) as error:
                raise CommandError(
                    f"{self.source} starts like a JSON array but is not one: {error}.\n"
                    f"Hint: {_OBJECTS}"
                ) from error
            return
        for number, line in enumerate(self.lines(), start=1):
            try:
                if line.strip():
                    yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                raise CommandError(
                    f"{self.source}, line {number}, is not JSON: {what}; it starts "
                    f"{show(line[:40])}.\nHint: {_OBJECTS}"
                ) from error

    # -- bad cells --

    @property
    def place(self) -> str:
        """What rows are counted as."""
        if self.kind == "parquet":
            return "row"
        return "item" if self.is_array else "line"

    def places(self, rows: Sequence[int]) -> dict[int, int]:
        """Where rows stand that are counted from 0."""
        if self.place != "line":
            return {row: row + 1 for row in rows}
        lines = (line for line, _ in islice(self.rows(), 1, None))
        if self.kind == "jsonl":
            lines = (i for i, line in enumerate(self.lines(), start=1) if line.strip())
        wanted = set(rows)
        return {i: line for i, line in enumerate(islice(lines, max(rows) + 1)) if i in wanted}

    def _complaint(self, request: Request, bad: BadCells, n_rows: int | None) -> CommandError:
        """All bad cells by role, the first few of them with their places."""
        places = self.places([row for cells in bad.values() for row, *_ in cells[:_MAX_EXAMPLES]])
        sentences = []
        for role, cells in bad.items():
            examples = []
            for row, cell, why in cells[:_MAX_EXAMPLES]:
                # A sign such as NA has a value of its own, and says that there is none.
                verdict = "means no value" if cell and why == _NO_VALUE else why
                shown = f"{show(cell)} " if cell else ""
                examples.append(f"{self.place} {places[row]} {shown}{verdict}")
            many = "1 bad cell" if len(cells) == 1 else f"{len(cells)} bad cells"
            more = ", ..." if len(cells) > _MAX_EXAMPLES else ""
            column = show(request.columns[role])
            sentences.append(f"{many} in column {column} ({', '.join(examples)}{more})")
        return CommandError(
            f"{self.source} has {' and '.join(sentences)}.\nHint: {_hint(request, bad, n_rows)}"
        )


def relation(files: Sequence[DataFile], request: Request) -> Any:
    """The columns of files under their own names, as a lazy frame; what is no number is NULL."""
    connection = files[0].connection
    connection.execute("SET preserve_insertion_order = false")  # which takes memory
    alike: dict[tuple[Any, ...], list[DataFile]] = {}
    for file in files:
        alike.setdefault(file.form, []).append(file)
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
    for file in files:
        try:
            file.odd_cells(request)
        except duckdb.Error as error:
            raise file.explained(error) from error


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# -- cells ----------------------------------------------------------------------------------------


def is_missing(text: str) -> bool:
    """Whether a text says that there is nothing."""
    return text.strip().casefold() in _MISSING


def parse_number(text: str, decimal: str = ".") -> tuple[float, str | None]:
    """A cell as a number, or what is wrong with it."""
    if is_missing(text):
        return math.nan, _NO_VALUE
    if decimal == "," and "." in text:  # 1.234 may well be a thousand and more
        return math.nan, "has a point, not a decimal comma"
    try:
        # Python reads 1_000 as a number; a data file that holds it holds a mistake.
        number = float(text.replace(decimal, ".").replace("_", "x"))
    except ValueError:
        return math.nan, "is not a number"
    return number, None if math.isfinite(number) else "is not finite"


def _hint(request: Request, bad: BadCells, n_rows: int | None) -> str:
    """What to do about bad cells."""

    def shaped(pattern: str) -> list[list[bool]]:
        return [
            [bool(re.fullmatch(pattern, c.strip())) for _, c, _ in cells] for cells in bad.values()
        ]

    if any(map(all, shaped(r"[+-]?\d+([.,]\d*)?\s*%"))):
        return "take the percent signs out of the column; scores may have any scale."
    thousands = shaped(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
    if request.decimal == "." and any(map(all, thousands)):
        # Read as decimals, numbers without such a comma would become the largest.
        return (
            "if commas separate thousands, take them out of the column; if each of them is a "
            "decimal comma, add --decimal ,"
        )
    if request.decimal == "." and any(map(any, thousands + shaped(r"[+-]?\d*,\d+"))):
        return "if that is a decimal comma, add --decimal ,"
    if any(len(cells) == n_rows for cells in bad.values()):
        return "not one cell can be used: is that the right column?"
    labels = [why == _NO_VALUE for _, _, why in bad.get("labeled", ())]
    hints = []
    if any(labels):
        hints.append("if blank means unlabeled, add --missing-is-unlabeled.")
    if set(bad) - {"labeled"} or not all(labels):
        hints.append("purecover never drops rows by itself; correct those cells first.")
    return " ".join(hints)


# -- a first look ---------------------------------------------------------------------------------

MAX_COLUMNS = 500
MAX_NAMES = 200_000
"""Characters of all names together."""
SHOWN_COLUMNS = 50
SHOWN_ROWS = 8
LOOKED_ROWS = 1000
"""First rows of a file among which those to show are found."""
FEW_VALUES = 4
COUNTED_COLUMNS = 5
MAX_CELL = 80


def peek(file: str, limit: int) -> dict[str, Any]:
    """Names of the columns, whether each holds numbers, a few rows, and the obvious roles.

    A file that unpacks to more than ``limit`` bytes is refused before it does.
    """
    _refuse_bomb(file, limit)
    with opened([file]) as (data,):
        names = list(data.names)
        if data.kind == "parquet" and data.unpacked_size() > limit:
            raise _too_much(file, f"{data.unpacked_size():,} bytes", limit)
        if len(names) > MAX_COLUMNS or sum(map(len, names)) > MAX_NAMES:
            raise CommandError(
                f"{file} has {len(names):,} columns, with names of {sum(map(len, names)):,} "
                f"characters together; up to {MAX_COLUMNS:,} columns and {MAX_NAMES:,} characters "
                "can be shown.\n"
                "Hint: keep the columns of scores and labels, or use the command line."
            )
        if len(names) == 1:
            raise CommandError(
                f"{file} has one column, {show(names[0])}; scores and labels need two.\n"
                "Hint: is it a table, with a separator such as a comma? The first line must name "
                "the columns, such as score,labeled."
            )
        rows = data.first_rows(SHOWN_COLUMNS, LOOKED_ROWS)
        few = [
            i
            for i in range(min(len(names), SHOWN_COLUMNS) if rows else 0)
            if len({row[i].strip() for row in rows}) <= FEW_VALUES
        ]
        few.sort(key=lambda i: names[i].strip().casefold() not in OBVIOUS["labeled"])
        values = {i: data.value_counts(i, FEW_VALUES) for i in few[:COUNTED_COLUMNS]}
    rows = _varied(rows, few[0] if few else None)
    columns = []
    for i, name in enumerate(names):
        cells = [row[i] for row in rows] if i < SHOWN_COLUMNS else []
        numbers = [parse_number(cell)[1] is None for cell in cells if not is_missing(cell)]
        about = {"name": name, "numbers": bool(numbers) and all(numbers)}
        columns.append(about | {"values": values.get(i, {})})
    guess: dict[str, str] = {}
    for role, usual in OBVIOUS.items():
        found = [name for name in names if name.strip().casefold() in usual]
        if len(found) == 1 and found[0] not in guess.values():
            guess[role] = found[0]
    shown = [[cut("" if cell == "nan" else cell, MAX_CELL) for cell in row] for row in rows]
    return {"columns": columns, "rows": shown, "guess": guess}


def _varied(rows: list[list[str]], column: int | None) -> list[list[str]]:
    """A few rows to show, with one at least for each of the few values of a column."""
    first: dict[str, int] = {}
    if column is not None:
        for i, row in enumerate(rows):
            first.setdefault(row[column].strip(), i)
    others = (i for i in range(len(rows)) if i not in first.values())
    kept = [*first.values(), *islice(others, max(SHOWN_ROWS - len(first), 0))]
    return [rows[i] for i in sorted(kept)]


def _refuse_bomb(file: str, limit: int) -> None:
    """Complain of a gzipped file that is damaged or holds more than ``limit`` bytes."""
    if not _head(file).startswith(_GZIP):
        return
    size = 0
    with _unpacking(file), gzip.open(file) as stream:
        while part := stream.read(1 << 20):
            size += len(part)
            if size > limit:
                raise _too_much(file, f"more than {limit:,} bytes", limit)


def _too_much(file: str, found: str, limit: int) -> CommandError:
    return CommandError(
        f"{file} has {Path(file).stat().st_size:,} bytes but unpacks to {found}; the limit is "
        f"{limit:,} bytes.\nHint: purecover app --max-upload raises it."
    )
