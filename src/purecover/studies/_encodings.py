"""How a table of the paper becomes numbers and two classes.

A rule says who is positive, from the original target. An encoding makes features of columns:
numbers as they are, or what the paper's number of features says was done with categories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from purecover._typing import BoolArray, FloatArray

__all__ = [
    "BANK_COLUMNS",
    "MUSHROOM_CATEGORIES",
    "AboveMean",
    "Columns",
    "Encoding",
    "NotOneOf",
    "OneOf",
    "Rule",
    "UnfitTableError",
    "encode_bank",
    "encode_mushroom",
    "encode_numbers",
]

Columns: TypeAlias = Mapping[str, Sequence[str]]
"""The text of a table, by the names of its columns."""

Rule: TypeAlias = Callable[[Sequence[str]], BoolArray]
Encoding: TypeAlias = Callable[[Columns], tuple[FloatArray, tuple[str, ...]]]


class UnfitTableError(Exception):
    """A table is not what it should be; the text says in what."""


# -- who is positive ----------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class OneOf:
    """Positive where the target is one of these classes."""

    classes: tuple[str, ...]

    def __init__(self, *classes: str) -> None:
        object.__setattr__(self, "classes", classes)

    def __call__(self, target: Sequence[str]) -> BoolArray:
        return np.isin(np.array(target, dtype=np.str_), self.classes)

    def __str__(self) -> str:
        return f"target is {' or '.join(self.classes)}"


@dataclass(frozen=True, init=False)
class NotOneOf:
    """Positive where the target is none of these classes."""

    classes: tuple[str, ...]

    def __init__(self, *classes: str) -> None:
        object.__setattr__(self, "classes", classes)

    def __call__(self, target: Sequence[str]) -> BoolArray:
        return ~OneOf(*self.classes)(target)

    def __str__(self) -> str:
        return f"target is not {' or '.join(self.classes)}"


@dataclass(frozen=True)
class AboveMean:
    """Positive where the target, a number, is above its mean over all rows."""

    def __call__(self, target: Sequence[str]) -> BoolArray:
        values = _numbers("target", target)
        return np.asarray(values > values.mean())

    def __str__(self) -> str:
        return "target is above its mean"


# -- features -----------------------------------------------------------------------------


def _numbers(name: str, column: Sequence[str]) -> FloatArray:
    text = np.array(column, dtype=np.str_)
    try:
        values = text.astype(np.float64)
    except ValueError:
        row, value = next((i, v) for i, v in enumerate(column) if not _is_number(v))
        raise UnfitTableError(f"{value!r} in row {row} of the column {name!r}") from None
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise UnfitTableError(f"{column[row]!r} in row {row} of the column {name!r}")
    return values


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _indicators(name: str, column: Sequence[str], categories: Sequence[str]) -> FloatArray:
    """One column of zeros and ones for each category; others are refused."""
    text = np.array(column, dtype=np.str_)
    known = np.isin(text, list(categories))
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise UnfitTableError(
            f"{column[row]!r} in row {row} of the column {name!r}, "
            f"whose values should be {', '.join(categories)}"
        )
    return (text[:, None] == np.array(categories, dtype=np.str_)).astype(np.float64)


def encode_numbers(columns: Columns) -> tuple[FloatArray, tuple[str, ...]]:
    """All columns, in their order, as numbers."""
    return np.column_stack([_numbers(*item) for item in columns.items()]), tuple(columns)


BANK_COLUMNS = (
    "age", "job", "marital", "education", "default", "balance", "housing", "loan", "contact",
    "day", "month", "duration", "campaign", "pdays", "previous", "poutcome",
)  # fmt: skip
_MARITAL = ("single", "married", "divorced")
_OUTCOMES = {"unknown": 0.0, "failure": 0.0, "other": 0.5, "success": 1.0}


def encode_bank(columns: Columns) -> tuple[FloatArray, tuple[str, ...]]:
    """The 13 features of Bank in the paper.

    A later file by the paper's first author holds these 13, scaled: marital status as three
    indicators, the outcome of the last campaign in order, and neither job, education, contact,
    day nor month.
    """
    parts: list[FloatArray] = []
    names: list[str] = []

    def add(part: FloatArray, *called: str) -> None:
        parts.append(part.reshape(-1, len(called)))
        names.extend(called)

    def number(name: str) -> None:
        add(_numbers(name, columns[name]), name)

    def yes(name: str) -> None:
        add(_indicators(name, columns[name], ("yes", "no"))[:, 0], f"{name}=yes")

    number("age")
    marital = _indicators("marital", columns["marital"], _MARITAL)
    add(marital, *(f"marital={each}" for each in _MARITAL))
    yes("default")
    number("balance")
    yes("housing")
    yes("loan")
    for name in ("duration", "campaign", "pdays", "previous"):
        number(name)
    outcomes = _indicators("poutcome", columns["poutcome"], tuple(_OUTCOMES))
    add(outcomes @ np.array(list(_OUTCOMES.values())), "poutcome")
    return np.hstack(parts), tuple(names)


# The categories that the description of the data (agaricus-lepiota.names) lists, in its order:
# 126 in all, the paper's number of features. Nine of them never occur.
MUSHROOM_CATEGORIES = {
    "cap-shape": "bcxfks",
    "cap-surface": "fgys",
    "cap-color": "nbcgrpuewy",
    "bruises": "tf",
    "odor": "alcyfmnps",
    "gill-attachment": "adfn",
    "gill-spacing": "cwd",
    "gill-size": "bn",
    "gill-color": "knbhgropuewy",
    "stalk-shape": "et",
    "stalk-root": "bcuezr?",
    "stalk-surface-above-ring": "fyks",
    "stalk-surface-below-ring": "fyks",
    "stalk-color-above-ring": "nbcgopewy",
    "stalk-color-below-ring": "nbcgopewy",
    "veil-type": "pu",
    "veil-color": "nowy",
    "ring-number": "not",
    "ring-type": "ceflnpsz",
    "spore-print-color": "knbhrouwy",
    "population": "acnsvy",
    "habitat": "glmpuwd",
}


def encode_mushroom(columns: Columns) -> tuple[FloatArray, tuple[str, ...]]:
    """An indicator for each documented category of each column; a missing root is a category."""
    parts = [
        _indicators(name, columns[name], tuple(categories))
        for name, categories in MUSHROOM_CATEGORIES.items()
    ]
    names = [f"{name}={each}" for name, some in MUSHROOM_CATEGORIES.items() for each in some]
    return np.hstack(parts), tuple(names)
