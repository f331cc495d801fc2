"""Results of a study by run, and the printed tables of the paper."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from purecover_paper.arguments import bad_value, errors_of
from purecover_paper.arrays import FloatArray
from purecover_paper.store import Record

Truth: TypeAlias = Literal["traditional", "same"]
"""The truth of an error: the paper's, or the true value of the same scores."""

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
    """The metric, method, estimator and repair of a number."""

    metric: str
    method: str
    estimator: str = ""
    repair: str = ""


@cache
def printed_table(metric: str) -> Mapping[Row, Mapping[str, float]]:
    """Return Table 1 (``"auc"``) or Table 2 (``"auc_pr"``) of the paper as printed, by row.

    Examples
    --------
    >>> from purecover_paper.runs import Row, printed_table
    >>> printed_table("auc")[Row("gas", 1.0)]["ir"]
    0.018
    """
    name = {"auc": "table1.csv", "auc_pr": "table2.csv"}[metric]
    text = files("purecover_paper").joinpath(f"data/{name}").read_text(encoding="utf-8")
    table: dict[Row, Mapping[str, float]] = {}
    for line in csv.DictReader(text.splitlines()):
        row = Row(line.pop("dataset").lower(), float(line["beta"]))
        table[row] = {key: float(value) for key, value in line.items()}
    return table


def printed_mean(column: str, metric: str) -> float:
    """Return the mean of a printed column.

    Examples
    --------
    >>> from purecover_paper.runs import printed_mean
    >>> round(printed_mean("dr", "auc"), 4)
    0.0363
    """
    return float(np.mean([line[column] for line in printed_table(metric).values()]))


class Runs:
    """Records by combination and run.

    Parameters
    ----------
    records : iterable of Record
        Results. Of two records of the same number the last counts.

    Attributes
    ----------
    runs : tuple of Run
        All runs, sorted by row. Arrays of numbers per run are in this order.

    Examples
    --------
    >>> from purecover_paper.runs import Combination, Runs
    >>> from purecover_paper.store import Record
    >>> runs = Runs(
    ...     [
    ...         Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None),
    ...         Record("gas", 1.0, 0, "auc", "direct", "true", "", 1.2, None, None),
    ...     ]
    ... )
    >>> runs.errors(Combination("auc", "direct", "true"), "same").round(3).tolist()
    [0.1]
    """

    @errors_of("Runs")
    def __init__(self, records: Iterable[Record]) -> None:
        listed = list(records)
        if not listed:
            raise bad_value(
                "records", "at least one record", "none",
                "run the study first: purecover-paper run --store FOLDER",
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
        """Rows with at least one run, rows of the paper first and in its order."""
        return tuple(self._slices)

    @property
    def repeats(self) -> dict[Row, int]:
        """Number of runs of each row."""
        return {row: part.stop - part.start for row, part in self._slices.items()}

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.runs)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets, in the order of the rows."""
        return tuple(dict.fromkeys(row.dataset for row in self.rows))

    def combinations(self, metric: str | None = None) -> tuple[Combination, ...]:
        """Return the combinations that have numbers, of all metrics or of one."""
        return tuple(what for what in self._found if metric in {None, what.metric})

    def __contains__(self, what: object) -> bool:
        return what in self._found

    def values(self, what: Combination) -> FloatArray:
        """Return a number per run, NaN where it was not measured."""
        return self._numbers(what)[0]

    def intervals(self, what: Combination) -> tuple[FloatArray, FloatArray]:
        """Return low and high ends per run, NaN where there is no interval."""
        _, low, high = self._numbers(what)
        return low, high

    def _numbers(self, what: Combination) -> FloatArray:
        found = self._found.get(what)
        return np.full((3, self.n_runs), np.nan) if found is None else found

    def errors(self, what: Combination, truth: Truth) -> FloatArray:
        """Return estimate minus truth per run, NaN where one of them is missing.

        Areas outside [0, 1], which the direct formula can give, count as the nearest end, as
        in the paper.
        """
        true = self.values(Combination(what.metric, truth))
        return np.clip(self.values(what), 0.0, 1.0) - true

    def proportion_errors(self, estimator: str) -> dict[str, FloatArray]:
        """Return errors of ``"alpha"``, ``"beta"`` and ``"delta"`` = beta - alpha per run."""
        errors = {
            name: self.values(Combination(name, "estimate", estimator))
            - self.values(Combination(name, "true"))
            for name in ("alpha", "beta")
        }
        return {**errors, "delta": errors["beta"] - errors["alpha"]}

    def by_row(self, numbers: FloatArray) -> dict[Row, FloatArray]:
        """Return numbers per run as an array per row, without NaN."""
        parts = {row: numbers[part] for row, part in self._slices.items()}
        kept = {row: part[np.isfinite(part)] for row, part in parts.items()}
        return {row: part for row, part in kept.items() if part.size}

    def means(self, numbers: FloatArray) -> dict[Row, float]:
        """Return the mean of each row."""
        return {row: float(part.mean()) for row, part in self.by_row(numbers).items()}


def mean_of_rows(means: Mapping[Row, float]) -> float:
    """Return the mean over rows, as the paper averages; NaN without rows.

    Examples
    --------
    >>> from purecover_paper.runs import Row, mean_of_rows
    >>> mean_of_rows({Row("gas", 1.0): 0.5, Row("gas", 0.75): 0.25})
    0.375
    """
    return float(np.mean(list(means.values()))) if means else float("nan")
