"""Tables 1 and 2 of the paper next to ours, and a summary of every combination."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from purecover_paper.arrays import FloatArray
from purecover_paper.measure import DEFAULT, DEFAULT_REPAIR, RELEASED
from purecover_paper.runs import JUDGES, Combination, Row, Runs, Truth, mean_of_rows, printed_table
from purecover_paper.sheets import Column, Sheet, Value

COLLAPSE = 0.1
"""A recovered curve has collapsed if its area is this far below the direct value."""

TITLES = {"auc": "AUC", "auc_pr": "AUC-PR"}
_TRUTH_WORDS: dict[Truth, str] = {
    "traditional": "a classifier trained on the true classes, as in the paper",
    "same": "the same scores against the true classes",
}
_HEADINGS = {
    "pu": "PU", "ir": "IR", "dr": "DR", "ie": "IE", "de": "DE", "e": "e",
    "auc": "True AUC", "auc_pu": "PU AUC", "aucpr": "True AUC-PR", "aucpr_pu": "PU AUC-PR",
}  # fmt: skip
ERROR_COLUMNS = {"auc": ("pu", "ir", "dr", "ie", "de"), "auc_pr": ("pu", "ir", "ie")}
"""Columns of the tables with errors of an area, which are also in Figure 2."""
_PRINTED = {
    "auc": ("e", "auc", "auc_pu", *ERROR_COLUMNS["auc"]),
    "auc_pr": ("e", "aucpr", "aucpr_pu", *ERROR_COLUMNS["auc_pr"]),
}


@dataclass(frozen=True)
class Methods:
    """The estimator and the repairs of a table."""

    title: str
    estimator: str
    repairs: Mapping[str, str]


PAPERS = Methods("the paper's methods", RELEASED, {"auc": "paper", "auc_pr": "paper"})
OURS = Methods("label-curve", DEFAULT, DEFAULT_REPAIR)


def paper_combination(column: str, metric: str, methods: Methods) -> Combination:
    """Return the combination whose error a column of the paper's tables holds.

    Examples
    --------
    >>> from purecover_paper.tables import OURS, paper_combination
    >>> paper_combination("de", "auc", OURS)
    Combination(metric='auc', method='direct', estimator='label-curve', repair='')
    """
    if column == "pu":
        return Combination(metric, "observed")
    estimator = "true" if column.endswith("r") else methods.estimator
    if column.startswith("d"):
        return Combination(metric, "direct", estimator)
    return Combination(metric, "indirect", estimator, methods.repairs[metric])


def mean_errors(
    runs: Runs, column: str, metric: str, methods: Methods, truth: Truth
) -> dict[Row, float]:
    """Return the mean absolute error in a column of the paper's tables, by row."""
    return runs.means(np.abs(runs.errors(paper_combination(column, metric, methods), truth)))


def collapses(runs: Runs) -> dict[Row, float]:
    """Return the share of runs in which the curve of Algorithm 1 has collapsed, by row."""
    direct = runs.values(Combination("auc", "direct", "true"))
    gap = np.clip(direct, 0.0, 1.0) - runs.values(Combination("auc", "indirect", "true", "paper"))
    return runs.means(np.where(np.isnan(gap), np.nan, gap > COLLAPSE))


def paper_table(runs: Runs, metric: str, methods: Methods, truth: Truth) -> Sheet:
    """Return Table 1 or 2 with the printed numbers next to ours.

    Parameters
    ----------
    runs : Runs
        Results.
    metric : {"auc", "auc_pr"}
        Table 1 or Table 2.
    methods : Methods
        Estimator and repairs.
    truth : {"traditional", "same"}
        The truth of the errors.

    Returns
    -------
    Sheet
        A row for each of the paper's with at least one run, and a row of means. ``e`` is the
        mean absolute error of ``beta - alpha``; PU, IR, DR, IE and DE are mean absolute
        errors of the area. Rows where Algorithm 1 collapsed in some run are marked.
    """
    number = 1 if metric == "auc" else 2
    printed = printed_table(metric)
    ours = {name: _column(runs, name, metric, methods, truth) for name in _PRINTED[metric]}
    with_collapse = metric == "auc" and methods.repairs[metric] == "paper"
    collapsed = collapses(runs) if with_collapse else {}
    columns = [
        Column("dataset", "Data set", style="text"),
        Column("beta", "β", digits=2),
        Column("runs", "Runs", style="integer"),
        *_triple("alpha", "α"),
        *(column for name in ours for column in _triple(name, _HEADINGS[name])),
    ]
    ours = {"alpha": runs.means(runs.values(Combination("alpha", "true"))), **ours}
    if with_collapse:
        columns.append(Column("collapsed", "Collapsed", "IR", style="percent"))
    rows: list[tuple[Value, ...]] = []
    for row in runs.rows:
        cells: list[Value] = [row.dataset.capitalize(), row.beta, runs.repeats[row]]
        for name, column in ours.items():
            cells += _beside(column.get(row), printed.get(row, {}).get(name))
        if with_collapse:
            cells.append(collapsed.get(row))
        rows.append(tuple(cells))
    means: list[Value] = ["Mean", None, runs.n_runs]
    for name, column in ours.items():
        both = [(column[row], printed[row][name]) for row in column if row in printed]
        means += _beside(*np.mean(both, axis=0).tolist()) if both else (None, None, None)
    if with_collapse:
        means.append(mean_of_rows(collapsed))
    return Sheet(
        name=f"table{number}-{methods.estimator}-{truth}",
        title=f"Table {number}, {TITLES[metric]}: {methods.title}, judged by {JUDGES[truth]}",
        columns=tuple(columns),
        rows=(*rows, tuple(means)),
        note=_note(metric, methods, truth, with_collapse),
        n_sums=1,
        marked=frozenset(i for i, row in enumerate(runs.rows) if collapsed.get(row)),
    )


def _column(runs: Runs, name: str, metric: str, methods: Methods, truth: Truth) -> dict[Row, float]:
    """Return a column of the paper's tables, by row."""
    if name == "e":
        return runs.means(np.abs(runs.proportion_errors(methods.estimator)["delta"]))
    if name.startswith("auc"):
        method = "observed" if name.endswith("_pu") else truth
        return runs.means(runs.values(Combination(metric, method)))
    return mean_errors(runs, name, metric, methods, truth)


def _triple(key: str, heading: str) -> Iterator[Column]:
    yield Column(key, "ours", heading)
    yield Column(f"{key}_paper", "paper", heading)
    yield Column(f"{key}_difference", "diff.", heading, "signed")


def _beside(ours: float | None, printed: float | None) -> tuple[Value, Value, Value]:
    both = ours is not None and printed is not None
    return ours, printed, ours - printed if both else None  # type: ignore[operator]


def _note(metric: str, methods: Methods, truth: Truth, with_collapse: bool) -> str:
    errors = [_HEADINGS[name] for name in ERROR_COLUMNS[metric]]
    direct = ", D the direct formula" if "DR" in errors else ""
    parts = [
        (
            f"Truth: {_TRUTH_WORDS[truth]}. Estimator {methods.estimator}, repair "
            f"{methods.repairs[metric]}. e is the mean absolute error of β − α over the runs of a "
            f"row; {', '.join(errors[:-1])} and {errors[-1]} are those of {TITLES[metric]}. PU "
            f"corrects nothing; I is the area under the recovered curve{direct}; R has real, and E "
            "estimated, alpha and beta."
        )
    ]
    if truth == "same":
        parts.append("The printed errors are judged by the paper's truth all the same.")
    if with_collapse:
        parts.append(
            "Marked are rows where, with known alpha and beta, the curve of Algorithm 1 has "
            f"collapsed in some run: its area is more than {COLLAPSE:g} below the direct value."
        )
    return " ".join(parts)


SUMMARY = (
    "dataset", "beta", "metric", "method", "estimator", "repair", "runs", "mean", "sd",
    "error_traditional", "sd_traditional", "error_same", "sd_same", "bias_same", "covered", "width",
    "printed_error",
)  # fmt: skip
"""Columns of :func:`summary_rows`."""


def summary_rows(runs: Runs) -> list[tuple[Value, ...]]:
    """Return means and spreads of all numbers, a tidy row per row of the tables.

    ``mean`` and ``sd`` are of the values, ``error_*`` and ``sd_*`` mean and standard deviation
    of the absolute error by either truth, ``bias_same`` the mean signed error, ``covered``
    and ``width`` of the intervals, ``printed_error`` that of the paper. Errors of
    ``alpha`` and ``beta`` are judged by their true values. Areas outside [0, 1] count as the
    nearest end, and a run without an interval as not covered, as in all other tables.
    """
    printed = _printed_errors()
    rows: list[tuple[Value, ...]] = []
    for what in sorted(runs.combinations()):
        values = np.clip(runs.values(what), 0.0, 1.0)
        nothing = np.full(values.shape, np.nan)
        traditional, same = runs.errors(what, "traditional"), runs.errors(what, "same")
        if what.method == "estimate":
            same = runs.proportion_errors(what.estimator)[what.metric]
        if what.method in {"traditional", "same", "true"}:
            traditional = same = nothing
        kind = "true" if what.method == "estimate" else "same"
        true = runs.values(Combination(what.metric, kind))
        low, high = runs.intervals(what)
        holds = nothing
        if np.isfinite(high - low).any():
            holds = np.where(np.isnan(true), np.nan, (low <= true) & (true <= high))
        columns = [
            *_spread(runs, values),
            *_spread(runs, np.abs(traditional)),
            *_spread(runs, np.abs(same)),
            runs.means(same),
            runs.means(holds),
            runs.means(high - low),
        ]
        rows += [
            (
                *row, *what, array.size, *(column.get(row) for column in columns),
                printed.get((what, row)),
            )
            for row, array in runs.by_row(values).items()
        ]  # fmt: skip
    return rows


def _spread(runs: Runs, numbers: FloatArray) -> tuple[dict[Row, float], dict[Row, float]]:
    """Return mean and standard deviation of each row."""
    by_row = runs.by_row(numbers)
    sds = {row: float(part.std(ddof=1)) for row, part in by_row.items() if part.size > 1}
    return runs.means(numbers), sds


def _printed_errors() -> dict[tuple[Combination, Row], float]:
    return {
        (paper_combination(column, metric, PAPERS), row): line[column]
        for metric, names in ERROR_COLUMNS.items()
        for row, line in printed_table(metric).items()
        for column in names
    }
