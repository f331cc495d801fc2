"""Which columns are wanted, and cells turned into arrays with every bad one accounted for."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from purecover._typing import FloatArray, IntArray
from purecover._validation import show
from purecover.cli._messages import CommandError

__all__ = [
    "OBVIOUS",
    "Cells",
    "Collector",
    "Request",
    "Table",
    "Words",
    "choose_columns",
    "has_underscore",
    "is_missing",
    "list_columns",
    "parse_number",
]

Cells = Mapping[str, Sequence[Any]]
"""A stretch of cells per role."""

OBVIOUS = {
    "score": (
        "score", "scores", "s", "y_score", "prediction", "predictions", "pred", "probability",
        "proba", "prob", "decision_function",
    ),
    "labeled": ("labeled", "labelled", "is_labeled", "label", "labels", "y"),
}  # fmt: skip

_MISSING = frozenset(("", "na", "n/a", "nan", "null", "<na>"))
_NO_VALUE = "has no value"
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_PERCENT = re.compile(r"[+-]?\d+([.,]\d*)?\s*%")
_MAX_EXAMPLES = 3


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
    """A column of few distinct values: ``values[codes]``."""

    codes: IntArray
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """What was read: arrays of numbers and coded words by role."""

    numbers: Mapping[str, FloatArray]
    words: Mapping[str, Words]
    n_rows: int


def choose_columns(
    source: str, available: Sequence[str], wanted: Mapping[str, str | None]
) -> dict[str, str]:
    """The column of each role in ``wanted``; None for score and labeled means an obvious name."""
    chosen = {role: column for role, column in wanted.items() if column is not None}
    for role, column in chosen.items():
        times = available.count(column)
        if times != 1:
            what = "no column" if times == 0 else f"{times} columns"
            raise CommandError(
                f"{source} has {what} named {column!r}, asked for by --{role.split()[0]}.\n"
                f"Hint: the columns are {list_columns(available)}."
            )
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


def list_columns(names: Sequence[str]) -> str:
    """Column names for a message."""
    if not names:
        return "none"
    shown = ", ".join(show(name) for name in names[:20])
    return shown + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def parse_number(cell: Any, decimal: str = ".") -> tuple[float, str | None]:
    """A cell as a number, or what is wrong with it."""
    if cell is None or (isinstance(cell, str) and cell.strip().casefold() in _MISSING):
        return math.nan, _NO_VALUE
    if decimal == "," and isinstance(cell, str):
        if "." in cell:  # 1.234 may well be a thousand and more
            return math.nan, "has a point, not a decimal comma"
        cell = cell.replace(",", ".")
    try:
        # Python reads 1_000 as a number; a data file that holds it holds a mistake.
        if isinstance(cell, str) and "_" in cell:
            return math.nan, "is not a number"
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan, "is not a number"
    return number, None if math.isfinite(number) else "is not finite"


def is_missing(value: Any) -> bool:
    """Whether a cell of a column of words holds nothing."""
    if isinstance(value, str):
        return value.strip().casefold() in _MISSING
    return value is None or value != value or type(value).__name__ == "NAType"  # noqa: PLR0124 - NaN


@dataclass
class _Bad:
    """Bad cells of one column: how many, and the first few."""

    count: int = 0
    missing: int = 0
    examples: list[str] = field(default_factory=list)
    commas: int = 0
    thousands: int = 0
    percents: int = 0

    def add(self, place: str, cell: Any, why: str) -> None:
        self.count += 1
        self.missing += why == _NO_VALUE
        text = cell.strip() if isinstance(cell, str) else ""
        self.commas += bool(_DECIMAL_COMMA.fullmatch(text))
        self.thousands += bool(_THOUSANDS.fullmatch(text))
        self.percents += bool(_PERCENT.fullmatch(text))
        if len(self.examples) < _MAX_EXAMPLES:
            if cell is None or cell == "":
                self.examples.append(f"{place} {why}")
            else:  # a sign such as NA has a value of its own, and says that there is none
                verdict = "means no value" if why == _NO_VALUE else why
                self.examples.append(f"{place} {show(cell)} {verdict}")


class Collector:
    """Cells in, arrays out; complains once, at the end, with the number of bad cells."""

    def __init__(self, source: str, request: Request, *, place: str = "line") -> None:
        self.source = source
        self.request = request
        self.place = place
        self.n_rows = 0
        self._numbers: dict[str, list[FloatArray]] = {role: [] for role in request.numbers}
        self._codes: dict[str, list[IntArray]] = {role: [] for role in request.words}
        self._values: dict[str, defaultdict[Any, int]] = {}
        for role in request.words:
            values: defaultdict[Any, int] = defaultdict()
            values.default_factory = values.__len__  # a new value gets the next number
            self._values[role] = values
        self._missing: dict[str, set[int]] = {role: set() for role in request.words}
        self._bad: dict[str, _Bad] = {role: _Bad() for role in request.columns}

    def add(self, cells: Cells, line_of: Callable[[int], int]) -> None:
        """Take a stretch of rows; ``line_of`` gives the place of the i-th of them."""
        for role in self.request.numbers:
            self._add_numbers(role, cells[role], line_of)
        for role in self.request.words:
            self._add_words(role, cells[role], line_of)
        self.n_rows += len(next(iter(cells.values())))

    def _add_numbers(self, role: str, cells: Sequence[Any], line_of: Callable[[int], int]) -> None:
        decimal = self.request.decimal
        try:
            texts = cells if decimal == "." else _with_points(cells)
            numbers = np.fromiter(map(float, texts), dtype=np.float64, count=len(cells))
            fine = bool(np.isfinite(numbers).all()) and not has_underscore(cells)
        except (TypeError, ValueError, OverflowError):
            fine = False
        if fine:
            self._numbers[role].append(numbers)
            return
        for i, cell in enumerate(cells):
            why = parse_number(cell, decimal)[1]
            if why is not None:
                self._bad[role].add(f"{self.place} {line_of(i)}", cell, why)

    def _add_words(self, role: str, cells: Sequence[Any], line_of: Callable[[int], int]) -> None:
        values, missing = self._values[role], self._missing[role]
        known = len(values)
        may_be_blank = role in self.request.blanks
        if may_be_blank:
            # No NaN equals another: as keys they would be a new value in every row.
            cells = [None if isinstance(c, float) and c != c else c for c in cells]  # noqa: PLR0124
        try:
            codes = np.fromiter(map(values.__getitem__, cells), dtype=np.int64, count=len(cells))
        except TypeError:  # lists and objects cannot be looked up
            for i, cell in enumerate(cells):
                if isinstance(cell, (list, dict, set)):
                    self._bad[role].add(f"{self.place} {line_of(i)}", cell, "is not a plain value")
            return
        if len(values) > known:
            new = list(values)[known:]
            missing.update(known + i for i, value in enumerate(new) if is_missing(value))
        if missing and not may_be_blank:
            for i in np.flatnonzero(np.isin(codes, list(missing))).tolist():
                self._bad[role].add(f"{self.place} {line_of(i)}", cells[i], _NO_VALUE)
        self._codes[role].append(codes)

    def finish(self) -> Table:
        """The arrays, or one error about all bad cells."""
        self._complain()
        if self.n_rows == 0:
            raise CommandError(
                f"{self.source} has no rows of data, only column names.\n"
                "Hint: was the file written completely?"
            )
        numbers = {role: np.concatenate(parts) for role, parts in self._numbers.items()}
        words = {
            role: Words(np.concatenate(parts), tuple(self._values[role]))
            for role, parts in self._codes.items()
        }
        return Table(numbers, words, self.n_rows)

    def _complain(self) -> None:
        sentences = []
        for role, bad in self._bad.items():
            if bad.count:
                cells = "1 bad cell" if bad.count == 1 else f"{bad.count} bad cells"
                more = ", ..." if bad.count > len(bad.examples) else ""
                column = show(self.request.columns[role])
                sentences.append(f"{cells} in column {column} ({', '.join(bad.examples)}{more})")
        if not sentences:
            return
        raise CommandError(f"{self.source} has {' and '.join(sentences)}.\nHint: {self._hint()}")

    def _hint(self) -> str:
        found = [bad for bad in self._bad.values() if bad.count]
        if any(bad.percents == bad.count for bad in found):
            return "take the percent signs out of the column; scores may have any scale."
        if self.request.decimal == "." and any(bad.commas or bad.thousands for bad in found):
            if any(bad.thousands == bad.count for bad in found):
                # Read as decimals, numbers without such a comma would become the largest.
                return (
                    "if commas separate thousands, take them out of the column; if each of them "
                    "is a decimal comma, add --decimal ,"
                )
            return "if that is a decimal comma, add --decimal ,"
        if any(bad.count == self.n_rows for bad in self._bad.values()):
            return "not one cell can be used: is that the right column?"
        labels = self._bad.get("labeled", _Bad())
        others = any(bad.count for role, bad in self._bad.items() if role != "labeled")
        hints = []
        if labels.missing:
            hints.append("if blank means unlabeled, add --missing-is-unlabeled.")
        if others or labels.count > labels.missing:
            hints.append("purecover never drops rows by itself; correct those cells first.")
        return " ".join(hints)


def _with_points(cells: Sequence[Any]) -> list[Any]:
    """Cells with decimal commas as Python writes them; ValueError if one has a point."""
    texts = [cell.replace(",", ".") if isinstance(cell, str) else cell for cell in cells]
    if any(isinstance(cell, str) and "." in cell for cell in cells):
        raise ValueError
    return texts


def has_underscore(cells: Sequence[Any]) -> bool:
    """Whether any cell is a text with an underscore, which Python reads as part of a number."""
    try:
        return "_" in "".join(cells)
    except TypeError:  # not all text
        return any(isinstance(cell, str) and "_" in cell for cell in cells)
