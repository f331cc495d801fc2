"""Columns of data files by their role in a command, one file or many, and complaints of cells."""

from __future__ import annotations

import gzip
import math
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from purecover._folders import private_folder
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import LARGEST_EXACT_INTEGER, show, too_large
from purecover.cli.output import STDIO, CommandError, option
from purecover.documents.formats import number_of
from purecover.engines import data_files
from purecover.engines.data_files import DataFile, has_nothing, identifier, is_missing, quoted
from purecover.engines.files import duckdb_connection

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
ANSWERS = ".judged.csv"
"""End of the name of a file of answers next to the file of data: scores.csv, scores.judged.csv."""
_EXAMPLES = 3
"""Bad cells of a column that a message shows."""


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


def answers_beside(file: str) -> Path:
    """Return the file of answers that belongs to a file of data, whether it exists or not."""
    path = Path(file)
    return path.with_name((Path(path.name.removesuffix(".gz")).stem or path.name) + ANSWERS)


def name_of(file: str) -> str:
    """The file in a message."""
    return "standard input" if file == STDIO else file


def read_table(
    file: str, request: Callable[[list[str]], Request], asked: Iterable[str | None] = ()
) -> Table:
    """Read the columns that ``request`` chooses from those available."""
    with opened([file], asked) as (data,):
        return _table(data, request(list(data.names)))


@contextmanager
def opened(
    files: Sequence[str], asked: Iterable[str | None] = (), limit: int | None = None
) -> Iterator[list[DataFile]]:
    """Files ready to be read; ``asked`` are names of columns, which help to find the delimiter.

    Given a limit, files are unpacked before they are read, and to so many bytes at most.
    """
    names = frozenset(name for name in asked if name is not None)
    with private_folder() as folder, duckdb_connection(folder) as connection:

        def open_file(file: str) -> DataFile:
            path = _unpacked(file, folder, limit)
            source, suffix = name_of(file), data_files.suffix_of(file)
            return data_files.open_file(
                connection, folder, path, source=source, suffix=suffix, asked=names
            )

        try:
            yield [open_file(file) for file in files]
        except duckdb.OutOfMemoryException as error:
            raise MemoryError from error


def _unpacked(file: str, folder: Path, limit: int | None) -> str:
    """A path that can be read as often as need be, and under a limit needs no unpacking."""
    if file == STDIO:
        path = data_files.copied(sys.stdin.buffer, folder)
    else:
        path = data_files.on_disk(file, folder)
    if limit is None or not data_files.first_bytes(path).startswith(data_files.GZIP):
        return path
    size = 0
    with (
        tempfile.NamedTemporaryFile(dir=folder, delete=False) as copy,
        data_files.unpacking(name_of(file)),
        gzip.open(path) as unpacked,
    ):
        while part := unpacked.read(data_files.PART):
            size += len(part)
            if size > limit:
                raise too_much(file, f"more than {limit:,} bytes", limit)
            copy.write(part)
    return copy.name


def too_much(file: str, found: str, limit: int) -> CommandError:
    """A complaint of a file that is far larger than it looks."""
    return CommandError(
        f"{file} has {Path(file).stat().st_size:,} bytes but unpacks to {found}; the limit is "
        f"{limit:,} bytes.\nHint: purecover app --max-upload raises it."
    )


def _cells(data: DataFile, request: Request, names: Iterable[str]) -> str:
    """The SQL of columns in the order of roles, under these names."""
    cells = []
    for (role, column), name in zip(request.columns.items(), names, strict=True):
        if column in data.folders:
            text = quoted(data.folders[column])
            number = f"TRY_CAST({text} AS DOUBLE)"
        else:
            require_column(data.source, column, data.names, "as the files before it have")
            text, number = data.cell(data.names.index(column))
        cells.append(f"{number if role in request.numbers else text} AS {identifier(name)}")
    return ", ".join(cells)


def _table(data: DataFile, request: Request) -> Table:
    """The columns as arrays; complains of all bad cells at once."""
    columns = request.columns
    names = {role: f"r{i}" for i, role in enumerate(columns)}
    cells, scan = _cells(data, request, names.values()), data.scan(columns.values())
    data.run(f"CREATE TEMP TABLE found AS SELECT {cells} FROM {scan}")
    shown = [names[role] for role in request.numbers]
    words = [role for role in columns if role not in request.numbers]
    counted = ", ".join(["count(*)", *(f"count({name})" for name in shown)])
    ((n_rows, *n_numbers),) = data.run(f"SELECT {counted} FROM found")
    if n_rows == 0:
        raise data.without_rows()
    odd = any(n < n_rows for n in n_numbers)
    values: dict[str, tuple[str, ...]] = {}
    for role in words:
        name = names[role]
        distinct = f"SELECT {name} FROM found GROUP BY {name} ORDER BY min(rowid)"
        values[role] = tuple(value for (value,) in data.run(distinct))
        odd |= role not in request.blanks and any(map(is_missing, values[role]))
        data.run(f"CREATE TEMP TYPE words_{name} AS ENUM ({distinct})")
        shown.append(f"enum_code(CAST({name} AS words_{name})) AS {name}")
    if odd:
        _refuse_odd_cells(data, request)
    arrays = data.connection.execute(f"SELECT {', '.join(shown)} FROM found").fetchnumpy()
    return Table(
        columns,
        {role: np.asarray(arrays[names[role]]) for role in request.numbers},
        {r: Words(arrays[names[r]].astype(np.int64), values[r]) for r in words},
    )


def _refuse_odd_cells(data: DataFile, request: Request) -> None:
    """Raise an error for all cells that are invalid in their column, with the first few."""
    sentences, cells, bad = [], [], {}
    for role, column in request.columns.items():
        if column in data.folders or role in request.blanks:
            continue
        index = data.names.index(column)
        text, number = data.cell(index)
        odd = f"{number} IS NULL" if role in request.numbers else has_nothing(text)
        rows = data.run(
            "SELECT place, cell, count(*) OVER () FROM (SELECT row_number() OVER () AS place, "
            f"{text} AS cell, {odd} AS odd FROM {data.scan([column])}) "
            f"WHERE odd ORDER BY place LIMIT {_EXAMPLES}"
        )
        examples = []
        for place, cell, n in rows:
            if role in request.numbers and _is_too_large(cell, bool(data.types)):
                where = f"{show(cell)} in row {place} of column {show(column)} of {data.source}"
                raise too_large(role.split()[0], where)
            examples.append(f"row {place} {show(cell) + ' ' if cell else ''}{fault_of(cell)}")
            cells.append(cell.strip())
            bad[role] = n
        if role in bad:
            many = number_of(bad[role], "bad cell")
            shown = ", ".join(examples) + (", ..." if bad[role] > len(rows) else "")
            sentences.append(f"{many} in column {show(column)} ({shown})")
    if not bad:
        return
    ((n_rows,),) = data.run(f"SELECT count(*) FROM {data.scan(data.names[:1])}")
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
        elif bad.keys() <= {"by", "groups"}:
            hint = "a blank cell names no group; write a word into it, such as 'other'."
    raise CommandError(f"{data.source} has {' and '.join(sentences)}.\nHint: {hint}")


def relation(files: Sequence[DataFile], request: Request) -> Any:
    """The columns of files under their own names, as a lazy frame; what is no number is NULL."""
    for each in files:
        each.require_rows()
    files[0].connection.execute("SET preserve_insertion_order = false")  # which takes memory
    columns = request.columns.values()
    return data_files.united(files, lambda file: _cells(file, request, columns), columns)


def complain(files: Sequence[DataFile], request: Request) -> None:
    """Complain of the first file that is at fault, where counting found that one is."""
    files[0].connection.execute("SET preserve_insertion_order = true")  # rows have numbers
    for file in files:
        _refuse_odd_cells(file, request)


def _is_too_large(text: str, typed: bool) -> bool:
    """Return whether a text is an integer, or a decimal of a type, that floats round."""
    pattern = r"\s*[+-]?[0-9]+(\.[0-9]+)?\s*" if typed else r"\s*[+-]?[0-9]+\s*"
    if not re.fullmatch(pattern, text) or math.isinf(float(text)):
        return False
    return abs(Decimal(text)) > LARGEST_EXACT_INTEGER


def fault_of(text: str) -> str:
    """Return why a text is no value, or no finite number."""
    if is_missing(text):  # a sign such as NA has a value of its own, and says that there is none
        return "means no value" if text else "has no value"
    with suppress(ValueError):
        if not math.isfinite(float(text)):
            return "is not finite"
    return "is not a number"
