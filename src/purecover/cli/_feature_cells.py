"""Cells of a column as numbers, with care for those that nearly are."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover._validation import show
from purecover.cli._columns import Words, has_underscore, is_missing, parse_number
from purecover.cli._messages import CommandError

__all__ = ["NEARLY_ALL", "NumberCells", "read_numbers"]

NEARLY_ALL = 0.9
"""A column with numbers in this share of its cells was meant to hold numbers."""

_MARKS = frozenset(("?", "-", "--", ".", "none", "missing"))
# Two signs that may stand before decimals, and what each is called.
_SIGNS = {".": "point", ",": "comma"}
_THOUSANDS = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?"),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"),
}
_MAY_BE_NUMBER = re.compile(r"\s*[+-]?(?:[\d.,]|inf)", re.IGNORECASE)
_MOST_EXAMPLES = 3


@dataclass(frozen=True)
class NumberCells:
    """What a column is if it is read as numbers.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        NaN where there is no number.
    marks : dict of str to int
        Signs for missing cells that stand among numbers, such as a question mark.
    n_numbers, n_texts : int
        Rows with a number, and rows with something else.
    examples : str
        The first few texts, and their rows.
    """

    values: FloatArray
    marks: dict[str, int] = field(default_factory=dict)
    n_numbers: int = 0
    n_texts: int = 0
    examples: str = ""

    @property
    def numeric(self) -> bool:
        """Whether the column holds nothing but numbers and blanks."""
        return self.n_texts == 0

    @property
    def share(self) -> float:
        """The part of the cells, blank ones aside, that are numbers."""
        n_cells = self.n_numbers + self.n_texts
        return self.n_numbers / n_cells if n_cells else 0.0


def read_numbers(source: str, name: str, words: Words, decimal: str, avoid: str) -> NumberCells:
    """Read a column as numbers; complain if the other decimal sign or none would do better.

    ``avoid`` tells how to leave the column out.
    """
    if decimal == ".":
        # Nearly all columns of numbers, at a fraction of the time.
        with suppress(TypeError, ValueError, OverflowError):
            values = np.fromiter(map(float, words.values), dtype=np.float64)
            if not np.isinf(values).any() and not has_underscore(words.values):
                return NumberCells(values[words.codes], n_numbers=words.codes.size)
    counts = np.bincount(words.codes, minlength=len(words.values))
    blank = np.array([is_missing(value) for value in words.values], dtype=bool)
    mark = np.array([_is_mark(value) for value in words.values], dtype=bool)
    numbers, fine = _parse(words.values, decimal)
    text = ~(fine | blank | mark)
    n_numbers = int(counts[fine].sum())
    if n_numbers == 0:
        text |= mark  # a sign for what is missing only where numbers stand beside it
    n_texts = int(counts[text].sum())
    if n_texts:
        other = "," if decimal == "." else "."
        rest = _parse(words.values, other)[1] & ~(blank | mark)
        odd = [words.values[i] for i in np.flatnonzero(text)]
        n_other, n_cells = int(counts[rest].sum()), n_numbers + n_texts
        thousands = all(isinstance(v, str) and _THOUSANDS[other].fullmatch(v.strip()) for v in odd)
        if thousands or (n_other > n_numbers and n_other >= NEARLY_ALL * n_cells):
            raise _wrong_sign(source, name, odd, other, avoid, thousands=thousands)
    elif np.isinf(numbers[fine]).any():
        raise CommandError(
            f"{source} has an infinite number in column {show(name)}.\n"
            "Hint: blank cells may stand for what is not known."
        )
    marked = {} if n_texts else {str(words.values[i]).strip(): 0 for i in np.flatnonzero(mark)}
    for i in np.flatnonzero(mark) if marked else ():
        marked[str(words.values[i]).strip()] += int(counts[i])
    return NumberCells(
        numbers[words.codes],
        marks=marked,
        n_numbers=n_numbers,
        n_texts=n_texts,
        examples=_examples(words, text) if n_texts else "",
    )


def _parse(values: tuple[Any, ...], decimal: str) -> tuple[FloatArray, BoolArray]:
    """Each distinct value as a number, and whether it is one; an infinite one is, too."""
    numbers = np.full(len(values), np.nan)
    fine = np.zeros(len(values), dtype=bool)
    for i, value in enumerate(values):
        if isinstance(value, str) and not _MAY_BE_NUMBER.match(value):
            continue  # long before an exception would tell
        number, why = parse_number(value, decimal)
        if why is None or (why == "is not finite" and not np.isnan(number)):
            numbers[i], fine[i] = number, True
    return numbers, fine


def _is_mark(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _MARKS


def _wrong_sign(
    source: str, name: str, odd: list[Any], sign: str, avoid: str, *, thousands: bool
) -> CommandError:
    example = next(value for value in odd if sign in str(value))
    has = f"{source} has numbers with a {_SIGNS[sign]} in column {show(name)}, such as"
    change = "add --decimal ," if sign == "," else "leave --decimal out"
    hint = f"if that is a decimal {_SIGNS[sign]}, {change}"
    if thousands:
        hint += "; if it stands between thousands, take it out of the file"
    return CommandError(f"{has} {show(example)}.\nHint: {hint}; or {avoid}.")


def _examples(words: Words, text: BoolArray) -> str:
    rows = np.flatnonzero(text[words.codes])
    shown = ", ".join(
        f"{show(words.values[words.codes[row]])} in row {row + 1:,}"
        for row in rows[:_MOST_EXAMPLES].tolist()
    )
    return shown + (", ..." if rows.size > _MOST_EXAMPLES else "")
