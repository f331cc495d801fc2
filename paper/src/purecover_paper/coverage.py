"""Coverage: how often intervals contain the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover_paper.runs import Combination, Runs
from purecover_paper.sheets import Column, Sheet, Value
from purecover_paper.significance import CONFIDENCE_LEVEL
from purecover_paper.standings import estimator_title
from purecover_paper.tables import TITLES


@dataclass(frozen=True)
class Coverage:
    """Coverage of the intervals of one combination, over all or in one data set.

    Attributes
    ----------
    n_runs : int
        Runs with a truth; a run without an interval counts as not covered.
    covered : float
        Share of runs whose interval contains the truth.
    below, above : float
        Shares of runs whose whole interval lies below, or above, the truth.
    width, score : float
        Mean width and mean interval score of the intervals, smaller is better; NaN without
        intervals.
    """

    n_runs: int
    covered: float
    below: float
    above: float
    width: float
    score: float


def coverage(runs: Runs, what: Combination) -> dict[str, Coverage]:
    r"""Return coverage by data set, and of all under ``""``; empty without intervals.

    Areas are judged against the true values of the same scores, alpha and beta against theirs.

    Notes
    -----
    The score of an interval :math:`[l, u]` at level :math:`1 - a` and truth :math:`x` is
    :math:`(u - l) + \frac{2}{a} (l - x)_+ + \frac{2}{a} (x - u)_+` (Gneiting and Raftery,
    2007).
    """
    kind = "true" if what.method == "estimate" else "same"
    true = runs.values(Combination(what.metric, kind))
    low, high = runs.intervals(what)
    judged, spanned = np.isfinite(true), np.isfinite(high - low + true)
    over, under = np.maximum(low - true, 0), np.maximum(true - high, 0)
    score = high - low + 2 / (1 - CONFIDENCE_LEVEL) * (over + under)
    names = np.array([run.row.dataset for run in runs.runs])
    found: dict[str, Coverage] = {}
    if not spanned.any():
        return found
    for dataset in ("", *runs.datasets):
        here = (names == dataset) | (dataset == "")
        inside, n_runs = here & spanned, int(np.sum(here & judged))
        if not n_runs:
            continue
        found[dataset] = Coverage(
            n_runs=n_runs,
            covered=float(np.sum((over + under)[inside] == 0) / n_runs),
            below=float(np.sum(under[inside] > 0) / n_runs),
            above=float(np.sum(over[inside] > 0) / n_runs),
            width=float((high - low)[inside].mean()) if inside.any() else np.nan,
            score=float(score[inside].mean()) if inside.any() else np.nan,
        )
    return found


def coverage_sheets(runs: Runs) -> list[Sheet]:
    """Return a table of coverage by data set for each combination with intervals."""
    sheets = []
    for what in sorted(runs.combinations()):
        found = coverage(runs, what)
        if not found:
            continue
        rows: list[tuple[Value, ...]] = [
            (
                dataset.capitalize() or "All", each.n_runs, each.covered, each.below, each.above,
                each.width, each.score,
            )
            for dataset, each in sorted(found.items(), key=lambda item: not item[0])
        ]  # fmt: skip
        title = TITLES.get(what.metric, what.metric)
        sheets.append(
            Sheet(
                name=f"coverage-{'-'.join(filter(None, what))}",
                title=f"95 % intervals of {title}, {estimator_title(what)}"
                + (f", {what.repair}" if what.repair else ""),
                columns=(
                    Column("dataset", "Data set", style="text"),
                    Column("runs", "Runs", style="integer"),
                    Column("covered", "Covered", style="percent"),
                    Column("below", "Too low", style="percent"),
                    Column("above", "Too high", style="percent"),
                    Column("width", "Mean width"),
                    Column("score", "Interval score"),
                ),
                rows=tuple(rows),
                note=(
                    "A run without an interval counts as not covered, and has no part in the "
                    "mean width and score. Too low are intervals that lie below the truth, too "
                    "high those above it."
                ),
                n_sums=1,
            )
        )
    return sheets
