"""Which estimator and repair do best, how good the estimates are, and what intervals hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from purecover._typing import FloatArray
from purecover.studies._counting import bootstrap_ends, cluster_means
from purecover.studies._errors import (
    JUDGES,
    Combination,
    Row,
    Runs,
    Truth,
    mean_of_rows,
    printed_mean,
)
from purecover.studies._measure import DEFAULT, DEFAULT_REPAIR, RELEASED
from purecover.studies._sheets import Cell, Column, Sheet
from purecover.studies._tables import TITLES

__all__ = [
    "Coverage",
    "Standing",
    "coverage",
    "coverage_sheets",
    "estimators_sheet",
    "is_default",
    "standings",
    "standings_sheet",
]

CONFIDENCE_LEVEL = 0.95
_RESAMPLES = 10_000
_RECOVERED = ("direct", "indirect")


@dataclass(frozen=True)
class Standing:
    """How one combination of estimator and repair does.

    Attributes
    ----------
    what : Combination
        Which.
    n_runs : int
        Runs it gave a number in.
    error : float
        Mean over rows of the mean absolute error.
    low, high : float
        95 % interval of it, from resampling data sets.
    bias : float
        Mean signed error.
    worst : float
        Largest mean absolute error of a row.
    behind, behind_low, behind_high : float
        How much larger the error is than that of the best, and an interval of the difference.
    complete : bool
        Whether it has all runs; one that gave up on the hard ones does not compete.
    """

    what: Combination
    n_runs: int
    error: float
    low: float
    high: float
    bias: float
    worst: float
    behind: float
    behind_low: float
    behind_high: float
    complete: bool


def standings(runs: Runs, metric: str, truth: Truth, *, known: bool) -> list[Standing]:
    """All combinations, the best first.

    Parameters
    ----------
    runs : Runs
        What was measured.
    metric : {"auc", "auc_pr"}
        Which area.
    truth : {"traditional", "same"}
        What errors are judged by.
    known : bool
        Whether to compare with known, or with estimated alpha and beta.

    Returns
    -------
    list of Standing
        In order of the error; those without a number in some run after all others.
    """
    errors = {
        what: runs.errors(what, truth)
        for what in runs.combinations(metric)
        if what.method in _RECOVERED and (what.estimator == "true") == known
    }
    sizes = {what: int(np.isfinite(array).sum()) for what, array in errors.items()}
    means = {what: runs.means(np.abs(errors[what])) for what in errors if sizes[what]}
    n_judged = int(np.isfinite(runs.values(Combination(metric, truth))).sum())
    order = sorted(means, key=lambda what: (sizes[what] < n_judged, mean_of_rows(means[what])))
    found = []
    for what in order:
        best = means[order[0]]
        gaps = {row: value - best[row] for row, value in means[what].items() if row in best}
        low, high = _ends(means[what])
        behind_low, behind_high = _ends(gaps)
        found.append(
            Standing(
                what=what,
                n_runs=sizes[what],
                error=mean_of_rows(means[what]),
                low=low,
                high=high,
                bias=mean_of_rows(runs.means(errors[what])),
                worst=max(means[what].values()),
                behind=mean_of_rows(gaps),
                behind_low=behind_low,
                behind_high=behind_high,
                complete=sizes[what] == n_judged,
            )
        )
    return found


def standings_sheet(runs: Runs, metric: str, truth: Truth, *, known: bool) -> Sheet:
    """The standings as a table; the defaults are marked."""
    found = standings(runs, metric, truth, known=known)
    rows: list[tuple[Cell, ...]] = [
        (
            _title(each.what), each.what.repair or "direct", each.n_runs, each.error, each.low,
            each.high, each.behind, each.behind_low, each.behind_high, each.bias, each.worst,
        )
        for each in found
    ]  # fmt: skip
    given = "known" if known else "estimated"
    error = f"Mean |error| of {TITLES[metric]}"
    # Equation 4 is the area under the points as they are.
    alike = " A curve that is not repaired (none) has the area of the direct formula."
    return Sheet(
        name=f"standings-{metric}-{truth}-{given}",
        title=f"{TITLES[metric]} with {given} proportions, judged by {JUDGES[truth]}",
        columns=(
            Column("estimator", "Estimator", style="text"),
            Column("repair", "Repair", style="text"),
            Column("runs", "Runs", style="integer"),
            Column("error", "mean", error, digits=4),
            Column("low", "low", error, digits=4),
            Column("high", "high", error, digits=4),
            Column("behind", "mean", "Behind the best", "signed", digits=4),
            Column("behind_low", "low", "Behind the best", "signed", digits=4),
            Column("behind_high", "high", "Behind the best", "signed", digits=4),
            Column("bias", "Bias", style="signed", digits=4),
            Column("worst", "Worst row"),
        ),
        rows=tuple(rows),
        note=(
            "Means over the rows of the tables; 95 % intervals from resampling data sets. "
            "Combinations without a number in some run stand last. The defaults are marked."
            + (alike if metric == "auc" else "")
        ),
        marked=frozenset(i for i, each in enumerate(found) if is_default(each.what)),
    )


def is_default(what: Combination) -> bool:
    """Whether a recovered area is what a user gets without asking for more."""
    wanted = {("direct", ""), ("indirect", DEFAULT_REPAIR.get(what.metric, ""))}
    return what.estimator in {"true", DEFAULT} and (what.method, what.repair) in wanted


def _title(what: Combination) -> str:
    return "known" if what.estimator == "true" else what.estimator


def _ends(values: Mapping[Row, float]) -> tuple[float, float]:
    return bootstrap_ends(cluster_means(values), CONFIDENCE_LEVEL, _RESAMPLES, 0)


# -- alpha and beta -----------------------------------------------------------------------


def estimators_sheet(runs: Runs) -> Sheet:
    """How good the estimates of alpha, beta and their difference are, the best first."""
    names = {w.estimator for w in runs.combinations("alpha") if w.method == "estimate"}
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        errors = runs.proportion_errors(name)
        sizes = {key: runs.means(np.abs(array)) for key, array in errors.items()}
        biases = {key: mean_of_rows(runs.means(array)) for key, array in errors.items()}
        if not sizes["delta"]:
            continue
        rows.append(
            (
                name, int(np.isfinite(errors["delta"]).sum()),
                mean_of_rows(sizes["delta"]), *_ends(sizes["delta"]), biases["delta"],
                mean_of_rows(sizes["alpha"]), biases["alpha"],
                mean_of_rows(sizes["beta"]), biases["beta"],
            )
        )  # fmt: skip
    n_all = int(np.isfinite(runs.values(Combination("alpha", "true"))).sum())
    # Names last, so that equals have an order.
    rows.sort(key=lambda row: (row[1] != n_all, row[2], row[0]))
    e = "e, mean |error| of β − α"
    return Sheet(
        name="estimators",
        title="Estimates of alpha and beta",
        columns=(
            Column("estimator", "Estimator", style="text"),
            Column("runs", "Runs", style="integer"),
            Column("e", "mean", e),
            Column("low", "low", e),
            Column("high", "high", e),
            Column("bias", "Bias of β − α", style="signed"),
            Column("alpha", "mean |error|", "α"),
            Column("alpha_bias", "bias", "α", "signed"),
            Column("beta", "mean |error|", "β"),
            Column("beta_bias", "bias", "β", "signed"),
        ),
        rows=tuple(rows),
        note=(
            f"The mean e of the printed tables is {printed_mean('e', 'auc'):.3f}. {RELEASED} "
            "follows the code of the paper's authors. Intervals are 95 %, from resampling data "
            "sets. The default is marked."
        ),
        marked=frozenset(i for i, row in enumerate(rows) if row[0] == DEFAULT),
    )


# -- intervals ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Coverage:
    """What the intervals of one combination hold, overall or in one data set.

    Attributes
    ----------
    n_runs : int
        Runs with a truth; one without an interval counts as missed.
    covered : float
        Share of runs whose interval holds the truth.
    below, above : float
        Shares of runs whose whole interval lies below, or above, the truth.
    width, score : float
        Mean width and mean interval score of the intervals there are, smaller is better; NaN
        where there is none.
    """

    n_runs: int
    covered: float
    below: float
    above: float
    width: float
    score: float


def coverage(runs: Runs, what: Combination) -> dict[str, Coverage]:
    r"""Coverage by data set, and of all under ``""``; empty where there are no intervals.

    Areas are judged by the truth of the same scores, alpha and beta by their true values.

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
            width=_mean((high - low)[inside]),
            score=_mean(score[inside]),
        )
    return found


def _mean(numbers: FloatArray) -> float:
    return float(numbers.mean()) if numbers.size else float("nan")


def coverage_sheets(runs: Runs) -> list[Sheet]:
    """A table of coverage by data set for everything that came with intervals."""
    sheets = []
    for what in sorted(runs.combinations()):
        found = coverage(runs, what)
        if not found:
            continue
        rows: list[tuple[Cell, ...]] = [
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
                title=f"95 % intervals of {title}, {_title(what)}"
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
