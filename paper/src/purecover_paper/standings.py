"""Standings: the errors of each estimator and repair, the best first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover_paper.measure import DEFAULT, DEFAULT_REPAIR, RELEASED
from purecover_paper.runs import JUDGES, Combination, Runs, Truth, mean_of_rows, printed_mean
from purecover_paper.sheets import Column, Sheet, Value, with_ends
from purecover_paper.significance import resampled_ends
from purecover_paper.tables import TITLES

_RECOVERED = ("direct", "indirect")


@dataclass(frozen=True)
class Standing:
    """The error of one combination of estimator and repair.

    Attributes
    ----------
    what : Combination
        The combination.
    n_runs : int
        Number of runs with a result.
    error : float
        Mean over rows of the mean absolute error.
    low, high : float
        95 % interval of it, from resampling data sets.
    bias : float
        Mean signed error.
    worst : float
        Largest mean absolute error of a row.
    behind, behind_low, behind_high : float
        The error minus the error of the best, and an interval of the difference.
    complete : bool
        Whether every run has a result; incomplete combinations are listed last.
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
    """Return all combinations, the best first.

    Parameters
    ----------
    runs : Runs
        Results.
    metric : {"auc", "auc_pr"}
        The area.
    truth : {"traditional", "same"}
        The truth of the errors.
    known : bool
        Whether to compare with known, or with estimated alpha and beta.

    Returns
    -------
    list of Standing
        By error; combinations without a result in some run are last.
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
        low, high = resampled_ends(means[what])
        behind_low, behind_high = resampled_ends(gaps)
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
    """Return the standings as a table with the defaults marked."""
    found = standings(runs, metric, truth, known=known)
    rows: list[tuple[Value, ...]] = [
        (
            estimator_title(each.what), each.what.repair or "direct", each.n_runs,
            each.error, each.low, each.high, each.behind, each.behind_low,
            each.behind_high, each.bias, each.worst,
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
            *with_ends("error", error),
            *with_ends("behind", "Behind the best", "signed"),
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
    """Whether a recovered area uses the default estimator and repair."""
    wanted = {("direct", ""), ("indirect", DEFAULT_REPAIR.get(what.metric, ""))}
    return what.estimator in {"true", DEFAULT} and (what.method, what.repair) in wanted


def estimator_title(what: Combination) -> str:
    """Return the name of the estimator, or "known" for true proportions."""
    return "known" if what.estimator == "true" else what.estimator


def estimators_sheet(runs: Runs) -> Sheet:
    """Return errors of the estimates of alpha, beta and their difference, the best first."""
    names = {w.estimator for w in runs.combinations("alpha") if w.method == "estimate"}
    rows: list[tuple[Value, ...]] = []
    for name in names:
        errors = runs.proportion_errors(name)
        sizes = {key: runs.means(np.abs(array)) for key, array in errors.items()}
        biases = {key: mean_of_rows(runs.means(array)) for key, array in errors.items()}
        if not sizes["delta"]:
            continue
        rows.append(
            (
                name, int(np.isfinite(errors["delta"]).sum()),
                mean_of_rows(sizes["delta"]), *resampled_ends(sizes["delta"]), biases["delta"],
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
            *with_ends("e", e, digits=3),
            Column("bias", "Bias of β − α", style="signed"),
            Column("alpha", "mean |error|", "α"),
            Column("alpha_bias", "bias", "α", "signed"),
            Column("beta", "mean |error|", "β"),
            Column("beta_bias", "bias", "β", "signed"),
        ),
        rows=tuple(rows),
        note=(
            f"The mean e of the printed tables is {printed_mean('e', 'auc'):.3f}. "
            f"{RELEASED} follows the code of the paper's authors. Intervals are 95 %, from "
            "resampling data sets. The default is marked."
        ),
        marked=frozenset(i for i, row in enumerate(rows) if row[0] == DEFAULT),
    )
