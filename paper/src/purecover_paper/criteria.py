"""Criteria of the study, and whether it meets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from purecover_paper.coverage import coverage
from purecover_paper.measure import DEFAULT, REPORTS
from purecover_paper.runs import (
    JUDGES,
    PRINTED_ROWS,
    Row,
    Runs,
    Truth,
    mean_of_rows,
    printed_mean,
    printed_table,
)
from purecover_paper.sheets import Column, Sheet, Value
from purecover_paper.tables import OURS, PAPERS, TITLES, Methods, mean_errors, paper_combination

WANTED_RUNS = 1800
_WANTED_REPEATS = WANTED_RUNS // PRINTED_ROWS


@dataclass(frozen=True)
class Criterion:
    """A result of the study with the value it should reach.

    Attributes
    ----------
    title : str
        Name of the result.
    value : float or None
        The result; None where it was not measured.
    bar : float or None
        The value to reach; None where the result is only reported.
    side : {"most", "least", "within"}
        Whether ``bar`` is a ceiling, a floor, or a ceiling of the size whatever the sign.
    printed : float or None
        The result of the paper.
    style : {"fixed", "signed", "percent", "integer"}
        Number format.
    """

    title: str
    value: float | None
    bar: float | None = None
    side: Literal["most", "least", "within"] = "most"
    printed: float | None = None
    style: Literal["fixed", "signed", "percent", "integer"] = "fixed"

    @property
    def outcome(self) -> str:
        """``"met"``, ``"not met"``, ``"reported"`` or ``"not measured"``."""
        if self.value is None or np.isnan(self.value):
            return "not measured"
        if self.bar is None:
            return "reported"
        value = abs(self.value) if self.side == "within" else self.value
        met = value >= self.bar if self.side == "least" else value <= self.bar
        return "met" if met else "not met"

    @property
    def texts(self) -> tuple[str, str, str]:
        """Result, bar and result of the paper as text."""
        column = Column("", "", style=self.style, digits=4)
        if self.bar is None:
            bar = ""
        elif self.side == "within":
            bar = f"within ±{self.bar:.{column.digits}f}"
        else:
            bar = f"at {self.side} {column.show(self.bar)}"
        return column.show(self.value), bar, column.show(self.printed)


def criteria(runs: Runs) -> list[Criterion]:
    """Return every result with a criterion, and results to compare with it."""
    e = runs.proportion_errors(DEFAULT)["delta"]
    bias = mean_of_rows(runs.means(e))
    dr, de = (_error(runs, name, "auc", OURS, "same") for name in ("dr", "de"))
    return [
        Criterion("Runs of the study", _n_wanted(runs), WANTED_RUNS, "least", 1800, "integer"),
        _judged(runs, "dr", "auc", OURS, "traditional", 0.0363),
        _judged(runs, "ir", "auc", OURS, "traditional", 0.0338),
        _judged(runs, "ir", "auc", PAPERS, "traditional", None),
        Criterion(
            "e, mean |error| of β − α",
            _size_of_error(runs, DEFAULT),
            0.040,
            printed=printed_mean("e", "auc"),
        ),
        # With its sign: alpha too high and alpha too low mislead in opposite directions.
        Criterion("Mean signed error of β − α", bias, 0.02, "within", style="signed"),
        _judged(runs, "de", "auc", OURS, "same", 0.028),
        Criterion("DE as a multiple of DR, the same scores", de / dr if dr else None, 1.8),
        _judged(runs, "ie", "auc_pr", OURS, "same", 0.09),
        *_coverage(runs),
        Criterion(f"e of {REPORTS}, the default of reports", _size_of_error(runs, REPORTS)),
        _judged(runs, "ie", "auc", OURS, "traditional", None),
        _judged(runs, "de", "auc", OURS, "traditional", None),
        _judged(runs, "ie", "auc_pr", OURS, "traditional", None),
    ]


def _size_of_error(runs: Runs, estimator: str) -> float:
    return mean_of_rows(runs.means(np.abs(runs.proportion_errors(estimator)["delta"])))


def _error(runs: Runs, column: str, metric: str, methods: Methods, truth: Truth) -> float:
    return mean_of_rows(mean_errors(runs, column, metric, methods, truth))


def _judged(
    runs: Runs, column: str, metric: str, methods: Methods, truth: Truth, bar: float | None
) -> Criterion:
    detail = "" if column.startswith("d") else f" with repair {methods.repairs[metric]}"
    given = "known" if column.endswith("r") else "estimated"
    return Criterion(
        f"{column.upper()}{detail}, mean |error| of {TITLES[metric]}, {given} proportions, "
        f"{JUDGES[truth]}",
        _error(runs, column, metric, methods, truth),
        bar,
        printed=printed_mean(column, metric),
    )


def _n_wanted(runs: Runs) -> int:
    """Count runs of the full study; other rows and further repeats do not count."""
    repeats = runs.repeats
    return sum(min(repeats.get(row, 0), _WANTED_REPEATS) for row in printed_table("auc"))


def _coverage(runs: Runs) -> list[Criterion]:
    found = []
    names = {DEFAULT: ("", 0.80), REPORTS: (f", by {REPORTS}, the default of reports", 0.85)}
    for estimator, (by, bar) in names.items():
        for metric, title in TITLES.items():
            combination = paper_combination("ie", metric, OURS)._replace(estimator=estimator)
            held = coverage(runs, combination)
            shares = {name: each.covered for name, each in held.items() if name}
            worst = min(shares, key=lambda name: shares[name]) if shares else ""
            where = f" ({worst.capitalize()})" if worst else ""
            hold = f"95 % intervals of {title} that contain the truth of the same scores{by}"
            found += [
                Criterion(
                    hold,
                    held[""].covered if held else None, 0.90, "least", style="percent",
                ),
                Criterion(
                    f"{hold}, worst data set{where}",
                    shares.get(worst), bar, "least", style="percent",
                ),
            ]  # fmt: skip
    return found


def criteria_sheet(runs: Runs) -> Sheet:
    """Return the criteria as a table; criteria that are not met are marked."""
    found = criteria(runs)
    rows: list[tuple[Value, ...]] = [(each.title, *each.texts, each.outcome) for each in found]
    return Sheet(
        name="criteria",
        title="What the study set out to show",
        columns=(
            Column("figure", "Figure", style="text"),
            Column("measured", "Measured"),
            Column("wanted", "Wanted"),
            Column("paper", "Paper"),
            Column("outcome", "Outcome", style="text"),
        ),
        rows=tuple(rows),
        note=(
            "Label-curve, means over the rows of the tables, unless said otherwise. Errors by the "
            "paper's truth with estimated proportions are reported only: there an "
            "upward bias of alpha looks like accuracy. A negative signed error of β − α is one "
            "of alpha too high or beta too low."
        ),
        marked=frozenset(i for i, each in enumerate(found) if each.outcome == "not met"),
    )


def shortfalls(runs: Runs) -> list[str]:
    """Return sentences that say what is missing for the full study.

    Examples
    --------
    >>> from purecover_paper.criteria import shortfalls
    >>> from purecover_paper.runs import Runs
    >>> from purecover_paper.store import Record
    >>> runs = Runs([Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None)])
    >>> shortfalls(runs)[0]
    '1 of 1,800 runs.'
    """
    wanted = _WANTED_REPEATS
    by_number: dict[int, list[Row]] = {}
    for row in printed_table("auc"):
        by_number.setdefault(runs.repeats.get(row, 0), []).append(row)
    short = {n: rows for n, rows in sorted(by_number.items()) if n < wanted}
    if not short:
        return []
    sentences = [f"{_n_wanted(runs):,} of {WANTED_RUNS:,} runs."]
    for n, rows in short.items():
        of = _listed(rows)
        if len(by_number) == 1:
            of = "every row" if n else "any row of the paper's tables"
        sentences.append(f"{n} of {wanted} repeats of {of}." if n else f"No run of {of}.")
    return sentences


def _listed(rows: Sequence[Row]) -> str:
    """Return rows as text, by data set."""
    betas: dict[str, list[str]] = {}
    for row in rows:
        betas.setdefault(row.dataset, []).append(f"{row.beta:g}")
    whole = PRINTED_ROWS // 12
    return "; ".join(
        name if len(each) == whole else f"{name} at beta {', '.join(each)}"
        for name, each in betas.items()
    )
