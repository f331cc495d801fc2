"""What the study set out to show, and whether it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from purecover.studies._errors import (
    PRINTED_ROWS,
    Combination,
    Row,
    Runs,
    Truth,
    mean_of_rows,
    printed_table,
)
from purecover.studies._measure import DEFAULT, DEFAULT_REPAIR
from purecover.studies._sheets import Cell, Column, Sheet
from purecover.studies._tables import OURS, PAPERS, TITLES, Methods, paper_combination
from purecover.studies._winners import coverage

__all__ = ["Promise", "promises", "promises_sheet", "shortfalls"]

WANTED_RUNS = 1800


@dataclass(frozen=True)
class Promise:
    """One figure with its criterion.

    Attributes
    ----------
    title : str
        What is measured.
    value : float or None
        The figure; None where it was not measured.
    bar : float or None
        What it must reach; None where it is only reported.
    side : {"most", "least"}
        Whether ``bar`` is a ceiling or a floor.
    printed : float or None
        The paper's figure.
    style : {"fixed", "percent", "integer"}
        How it is written.
    """

    title: str
    value: float | None
    bar: float | None = None
    side: Literal["most", "least"] = "most"
    printed: float | None = None
    style: Literal["fixed", "percent", "integer"] = "fixed"

    @property
    def outcome(self) -> str:
        """``"met"``, ``"not met"``, ``"reported"`` or ``"not measured"``."""
        if self.value is None or np.isnan(self.value):
            return "not measured"
        if self.bar is None:
            return "reported"
        met = self.value <= self.bar if self.side == "most" else self.value >= self.bar
        return "met" if met else "not met"

    @property
    def texts(self) -> tuple[str, str, str]:
        """Figure, bar and printed figure as text."""
        column = Column("", "", style=self.style, digits=4)
        bar = "" if self.bar is None else f"at {self.side} {column.show(self.bar)}"
        return column.show(self.value), bar, column.show(self.printed)


def promises(runs: Runs) -> list[Promise]:
    """Every figure that has a criterion, and those to be read beside it."""
    e = runs.proportion_errors(DEFAULT)["delta"]
    size, bias = mean_of_rows(runs.means(np.abs(e))), abs(mean_of_rows(runs.means(e)))
    dr, de = (_error(runs, name, "auc", OURS, "same") for name in ("dr", "de"))
    return [
        Promise("Runs of the study", runs.n_runs, WANTED_RUNS, "least", 1800, "integer"),
        _judged(runs, "dr", "auc", OURS, "traditional", 0.0363),
        _judged(runs, "ir", "auc", OURS, "traditional", 0.0338),
        _judged(runs, "ir", "auc", PAPERS, "traditional", None),
        Promise("e, mean |error| of β − α", size, 0.040, printed=_printed("e", "auc")),
        Promise("|Mean signed error of β − α|", bias, 0.02),
        _judged(runs, "de", "auc", OURS, "same", 0.028),
        Promise("DE as a multiple of DR, the same scores", de / dr if dr else None, 1.8),
        _judged(runs, "ie", "auc_pr", OURS, "same", 0.09),
        *_coverage(runs),
        _judged(runs, "ie", "auc", OURS, "traditional", None),
        _judged(runs, "de", "auc", OURS, "traditional", None),
        _judged(runs, "ie", "auc_pr", OURS, "traditional", None),
    ]


def _error(runs: Runs, column: str, metric: str, methods: Methods, truth: Truth) -> float:
    errors = runs.errors(paper_combination(column, metric, methods), truth)
    return mean_of_rows(runs.means(np.abs(errors)))


def _judged(
    runs: Runs, column: str, metric: str, methods: Methods, truth: Truth, bar: float | None
) -> Promise:
    judge = "the paper's truth" if truth == "traditional" else "the same scores"
    detail = "" if column.startswith("d") else f" with repair {methods.repairs[metric]}"
    given = "known" if column.endswith("r") else "estimated"
    return Promise(
        f"{column.upper()}{detail}, mean |error| of {TITLES[metric]}, {given} proportions, {judge}",
        _error(runs, column, metric, methods, truth),
        bar,
        printed=_printed(column, metric),
    )


def _printed(column: str, metric: str) -> float:
    return float(np.mean([line[column] for line in printed_table(metric).values()]))


def _coverage(runs: Runs) -> list[Promise]:
    found = []
    for metric, title in TITLES.items():
        what = Combination(metric, "indirect", DEFAULT, DEFAULT_REPAIR[metric])
        held = coverage(runs, what)
        shares = {name: each.covered for name, each in held.items() if name}
        worst = min(shares, key=lambda name: shares[name]) if shares else ""
        where = f" ({worst.capitalize()})" if worst else ""
        found += [
            Promise(
                f"95 % intervals of {title} that hold the truth of the same scores",
                held[""].covered if held else None, 0.90, "least", style="percent",
            ),
            Promise(
                f"95 % intervals of {title} that hold it, worst data set{where}",
                shares.get(worst), 0.80, "least", style="percent",
            ),
        ]  # fmt: skip
    return found


def promises_sheet(runs: Runs) -> Sheet:
    """The promises as a table; those not met are marked."""
    found = promises(runs)
    rows: list[tuple[Cell, ...]] = [(each.title, *each.texts, each.outcome) for each in found]
    return Sheet(
        name="promises",
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
            "Our defaults, means over the rows of the tables, unless said otherwise. Errors by the "
            "paper's truth with estimated proportions are reported only: there an "
            "upward bias of alpha looks like accuracy."
        ),
        marked=frozenset(i for i, each in enumerate(found) if each.outcome == "not met"),
    )


def shortfalls(runs: Runs) -> list[str]:
    """What is missing for a whole study, in words; nothing where it is whole.

    Examples
    --------
    >>> from purecover.studies._errors import Runs
    >>> from purecover.studies._promises import shortfalls
    >>> from purecover.studies._records import Record
    >>> runs = Runs([Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None)])
    >>> shortfalls(runs)[0]
    '1 of 1,800 runs.'
    """
    wanted = WANTED_RUNS // PRINTED_ROWS
    by_number: dict[int, list[Row]] = {}
    for row in {**printed_table("auc"), **runs.repeats}:
        by_number.setdefault(runs.repeats.get(row, 0), []).append(row)
    short = {n: rows for n, rows in sorted(by_number.items()) if n < wanted}
    if not short:
        return []
    sentences = [f"{runs.n_runs:,} of {WANTED_RUNS:,} runs."]
    for n, rows in short.items():
        of = "every row" if len(by_number) == 1 else _listed(rows)
        sentences.append(f"{n} of {wanted} repeats of {of}." if n else f"No run of {of}.")
    return sentences


def _listed(rows: Sequence[Row]) -> str:
    """Rows in words, a data set at a time."""
    betas: dict[str, list[str]] = {}
    for row in rows:
        betas.setdefault(row.dataset, []).append(f"{row.beta:g}")
    whole = PRINTED_ROWS // 12
    return "; ".join(
        name if len(each) == whole else f"{name} at beta {', '.join(each)}"
        for name, each in betas.items()
    )
