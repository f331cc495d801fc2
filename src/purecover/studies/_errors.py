"""Records arranged by combination and run, and the errors that follow from them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import bad_value
from purecover.studies._records import Record

__all__ = [
    "PRINTED_ROWS",
    "JUDGES",
    "Combination",
    "Row",
    "Run",
    "Runs",
    "Truth",
    "mean_of_rows",
    "printed_mean",
    "printed_table",
]

Truth: TypeAlias = Literal["traditional", "same"]
"""Which truth an error is judged by: the paper's, or that of the very same scores."""

JUDGES: Mapping[Truth, str] = {"traditional": "the paper's truth", "same": "the same scores"}
"""The truths in words."""

PRINTED_ROWS = 36
"""Rows of either printed table: twelve data sets, three shares of noise."""


class Row(NamedTuple):
    """A row of the paper's tables: a data set and the share of positives among the labeled."""

    dataset: str
    beta: float


class Run(NamedTuple):
    """One draw of a row."""

    row: Row
    repeat: int


class Combination(NamedTuple):
    """What makes two numbers of different runs comparable."""

    metric: str
    method: str
    estimator: str = ""
    repair: str = ""


@cache
def printed_table(metric: str) -> Mapping[Row, Mapping[str, float]]:
    """Table 1 (``"auc"``) or Table 2 (``"auc_pr"``) of the paper, as printed, by row.

    Examples
    --------
    >>> from purecover.studies._errors import Row, printed_table
    >>> printed_table("auc")[Row("gas", 1.0)]["ir"]
    0.018
    """
    name = {"auc": "table1.csv", "auc_pr": "table2.csv"}[metric]
    text = files("purecover.data").joinpath(name).read_text(encoding="utf-8")
    table: dict[Row, Mapping[str, float]] = {}
    for line in csv.DictReader(text.splitlines()):
        row = Row(line.pop("dataset").lower(), float(line["beta"]))
        table[row] = {key: float(value) for key, value in line.items()}
    return table


def printed_mean(column: str, metric: str) -> float:
    """Mean over the rows of a printed column.

    Examples
    --------
    >>> from purecover.studies._errors import printed_mean
    >>> round(printed_mean("dr", "auc"), 4)
    0.0363
    """
    return float(np.mean([line[column] for line in printed_table(metric).values()]))


class Runs:
    """Records by combination and run.

    Parameters
    ----------
    records : iterable of Record
        What was measured. Of two records of the same thing the last counts.

    Attributes
    ----------
    runs : tuple of Run
        All runs, those of a row together. Arrays of numbers per run are in this order.

    Examples
    --------
    >>> from purecover.studies._errors import Combination, Runs
    >>> from purecover.studies._records import Record
    >>> runs = Runs(
    ...     [
    ...         Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None),
    ...         Record("gas", 1.0, 0, "auc", "direct", "true", "", 1.2, None, None),
    ...     ]
    ... )
    >>> runs.errors(Combination("auc", "direct", "true"), "same").round(3).tolist()
    [0.1]
    """

    def __init__(self, records: Iterable[Record]) -> None:
        listed = list(records)
        if not listed:
            raise bad_value(
                "Runs", "records", "at least one record", "none",
                "run the study first: purecover paper run --store FOLDER",
            )  # fmt: skip
        place = {row: i for i, row in enumerate(printed_table("auc"))}
        runs = sorted(
            {Run(Row(each.dataset, each.beta), each.repeat) for each in listed},
            key=lambda run: (place.get(run.row, len(place)), run),
        )
        self.runs: tuple[Run, ...] = tuple(runs)
        self._slices: dict[Row, slice] = {}
        for i, run in enumerate(runs):
            start = self._slices.setdefault(run.row, slice(i, i)).start
            self._slices[run.row] = slice(start, i + 1)
        self._found: dict[Combination, FloatArray] = {}
        # Looked up by plain tuples, half a million times.
        at = {(run.row.dataset, run.row.beta, run.repeat): i for i, run in enumerate(runs)}
        for dataset, beta, repeat, metric, method, estimator, repair, *numbers in listed:
            what = Combination(metric, method, estimator, repair)
            if what not in self._found:
                self._found[what] = np.full((3, len(runs)), np.nan)
            # None becomes NaN.
            self._found[what][:, at[dataset, beta, repeat]] = np.array(numbers, dtype=np.float64)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Rows with at least one run, those of the paper first and in its order."""
        return tuple(self._slices)

    @property
    def repeats(self) -> dict[Row, int]:
        """How many runs each row has."""
        return {row: part.stop - part.start for row, part in self._slices.items()}

    @property
    def n_runs(self) -> int:
        """All runs."""
        return len(self.runs)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets, in the order of the rows."""
        return tuple(dict.fromkeys(row.dataset for row in self.rows))

    def combinations(self, metric: str | None = None) -> tuple[Combination, ...]:
        """What was measured, of all metrics or one."""
        return tuple(what for what in self._found if metric in {None, what.metric})

    def __contains__(self, what: object) -> bool:
        return what in self._found

    def values(self, what: Combination) -> FloatArray:
        """A number per run, NaN where it was not measured."""
        return self._numbers(what)[0]

    def intervals(self, what: Combination) -> tuple[FloatArray, FloatArray]:
        """Low and high ends per run, NaN where there is no interval."""
        _, low, high = self._numbers(what)
        return low, high

    def _numbers(self, what: Combination) -> FloatArray:
        found = self._found.get(what)
        return np.full((3, self.n_runs), np.nan) if found is None else found

    def errors(self, what: Combination, truth: Truth) -> FloatArray:
        """Estimate minus truth per run, NaN where one of them is missing.

        Areas outside [0, 1], which the direct formula can give, count as the nearest end, as
        in the paper.
        """
        true = self.values(Combination(what.metric, truth))
        return np.clip(self.values(what), 0.0, 1.0) - true

    def proportion_errors(self, estimator: str) -> dict[str, FloatArray]:
        """Errors of ``"alpha"``, ``"beta"`` and their difference ``"delta"`` per run."""
        errors = {
            name: self.values(Combination(name, "estimate", estimator))
            - self.values(Combination(name, "true"))
            for name in ("alpha", "beta")
        }
        return {**errors, "delta": errors["beta"] - errors["alpha"]}

    def by_row(self, numbers: FloatArray) -> dict[Row, FloatArray]:
        """Numbers per run as an array per row, in order of the repeats; NaN left out."""
        parts = {row: numbers[part] for row, part in self._slices.items()}
        kept = {row: part[np.isfinite(part)] for row, part in parts.items()}
        return {row: part for row, part in kept.items() if part.size}

    def means(self, numbers: FloatArray) -> dict[Row, float]:
        """Mean of the numbers of a row."""
        return {row: float(part.mean()) for row, part in self.by_row(numbers).items()}


def mean_of_rows(means: Mapping[Row, float]) -> float:
    """Mean over rows of the mean of a row, as the paper averages; NaN of nothing.

    Examples
    --------
    >>> from purecover.studies._errors import Row, mean_of_rows
    >>> mean_of_rows({Row("gas", 1.0): 0.5, Row("gas", 0.75): 0.25})
    0.375
    """
    return float(np.mean(list(means.values()))) if means else float("nan")
