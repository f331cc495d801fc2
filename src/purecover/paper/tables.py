"""Tables of the study: our columns, the printed ones, errors, and the count of thresholds."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from purecover import simulate
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import bad_value, public
from purecover.counts import ScoreCounts, auc_pu, pu_roc_curve
from purecover.paper.cells import Record
from purecover.paper.run import DEFAULT, DEFAULT_REPAIR, RELEASED
from purecover.proportions import MixtureProportions
from purecover.recovery.curves import area_under_pr
from purecover.recovery.rates import map_curve, trapezoid
from purecover.recovery.repairs import Points, repair_paper

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
    >>> from purecover.paper.tables import Row, printed_table
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
    >>> from purecover.paper.tables import printed_mean
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
    >>> from purecover.paper.tables import Combination, Runs
    >>> from purecover.paper.cells import Record
    >>> runs = Runs(
    ...     [
    ...         Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None),
    ...         Record("gas", 1.0, 0, "auc", "direct", "true", "", 1.2, None, None),
    ...     ]
    ... )
    >>> runs.errors(Combination("auc", "direct", "true"), "same").round(3).tolist()
    [0.1]
    """

    @public
    def __init__(self, records: Iterable[Record]) -> None:
        listed = list(records)
        if not listed:
            raise bad_value(
                "records", "at least one record", "none",
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
    >>> from purecover.paper.tables import Row, mean_of_rows
    >>> mean_of_rows({Row("gas", 1.0): 0.5, Row("gas", 0.75): 0.25})
    0.375
    """
    return float(np.mean(list(means.values()))) if means else float("nan")


# -- A table of results: typed cells that print as text, Markdown or CSV -------------------------


Cell: TypeAlias = str | int | float | None
ABSENT = "–"


@dataclass(frozen=True)
class Column:
    """A column; neighbors of one ``group`` share a heading above their own."""

    key: str
    heading: str
    group: str = ""
    style: Literal["text", "fixed", "signed", "percent", "scientific", "integer"] = "fixed"
    digits: int = 3

    @property
    def is_text(self) -> bool:
        """Whether it holds words, which stand to the left."""
        return self.style == "text"

    def show(self, cell: Cell) -> str:
        """A cell as text.

        Examples
        --------
        >>> from purecover.paper.tables import Column
        >>> Column("d", "Difference", style="signed").show(0.0312)
        '+0.031'
        """
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return ABSENT
        if isinstance(cell, str):
            return cell
        if self.style == "integer":
            return f"{cell:,.0f}"
        if self.style == "percent":
            return f"{100 * cell:.1f} %"
        if self.style == "scientific":
            return f"{cell:.1e}" if cell < 1e-3 else f"{cell:.2g}"
        sign = "+" if self.style == "signed" else ""
        text = f"{cell:{sign}.{self.digits}f}"
        # Rounding can leave a zero with a sign that means nothing.
        return text.replace("-", "").replace("+", "") if float(text) == 0 else text


def with_ends(
    key: str, group: str, style: Literal["fixed", "signed"] = "fixed", digits: int = 4
) -> Iterator[Column]:
    """Columns of a mean and both ends of its interval."""
    for name, heading in ((key, "mean"), (f"{key}_low", "low"), (f"{key}_high", "high")):
        yield Column(name, heading, group, style, digits)


@dataclass(frozen=True)
class Sheet:
    """A table: its cells, and the words around them.

    Attributes
    ----------
    name : str
        Short and unique on a page.
    title, note : str
        What stands above it, and below.
    columns : tuple of Column
        The columns.
    rows : tuple of tuple
        The cells, row by row; the first column names the row.
    n_sums : int
        How many rows at the end sum up the others.
    marked : frozenset of int
        Rows to point out.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    n_sums: int = 0
    marked: frozenset[int] = frozenset()

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Shared headings with the number of columns each spans; empty if there are none."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return tuple(spans) if any(group for group, _ in spans) else ()

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The cells as text."""
        return tuple(
            tuple(column.show(cell) for column, cell in zip(self.columns, row, strict=True))
            for row in self.rows
        )


def sheet_markdown(sheet: Sheet) -> str:
    """A table in Markdown; cells of a group are written as one, ``first (others)``."""
    groups = sheet.groups or tuple(("", 1) for _ in sheet.columns)
    starts = [0, *accumulate(span for _, span in groups)]
    lines = [
        [_together(line[start:end]) for start, end in pairwise(starts)]
        for line in ([column.heading for column in sheet.columns], *sheet.texts)
    ]
    for i, (group, _) in enumerate(groups):
        if group:
            lines[0][i] = f"{group}: {lines[0][i]}"
    aligns = ["---" if sheet.columns[start].is_text else "---:" for start in starts[:-1]]
    head, *body = (f"| {' | '.join(map(escaped, line))} |" for line in lines)
    parts = [f"### {escaped(sheet.title)}", "\n".join([head, f"| {' | '.join(aligns)} |", *body])]
    if sheet.note:
        parts.append(escaped(sheet.note))
    return "\n\n".join(parts) + "\n"


def _together(cells: Sequence[str]) -> str:
    first, *others = cells
    return f"{first} ({', '.join(others)})" if others else first


def sheet_csv(names: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Rows as CSV with six significant digits, empty where there is nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([[_plain(cell) for cell in row] for row in rows])
    return out.getvalue()


def _plain(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def escaped(text: str) -> str:
    """Text in which Markdown finds no tag, no link and no end of a cell: names are anybody's."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for marks, harmless in (
        ("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("*", "\\*"), ("](", "]\\("),
    ):  # fmt: skip
        flat = flat.replace(marks, harmless)
    return flat


# -- Tables 1 and 2 of the paper: our columns, the printed ones, and the difference --------------


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
"""Columns of the tables that hold errors of an area, which Figure 2 compares too."""
_PRINTED = {
    "auc": ("e", "auc", "auc_pu", *ERROR_COLUMNS["auc"]),
    "auc_pr": ("e", "aucpr", "aucpr_pu", *ERROR_COLUMNS["auc_pr"]),
}


@dataclass(frozen=True)
class Methods:
    """Which estimator and repairs stand in the columns of a table."""

    title: str
    estimator: str
    repairs: Mapping[str, str]


PAPERS = Methods("the paper's methods", RELEASED, {"auc": "paper", "auc_pr": "paper"})
OURS = Methods("label-curve", DEFAULT, DEFAULT_REPAIR)


def paper_combination(column: str, metric: str, methods: Methods) -> Combination:
    """What a column of the paper's tables holds the error of.

    Examples
    --------
    >>> from purecover.paper.tables import OURS, paper_combination
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
    """Mean absolute error of an area in a column of the paper's tables, by row."""
    return runs.means(np.abs(runs.errors(paper_combination(column, metric, methods), truth)))


def collapses(runs: Runs) -> dict[Row, float]:
    """Share of the runs of a row in which, all known, the curve of Algorithm 1 has collapsed."""
    direct = runs.values(Combination("auc", "direct", "true"))
    gap = np.clip(direct, 0.0, 1.0) - runs.values(Combination("auc", "indirect", "true", "paper"))
    return runs.means(np.where(np.isnan(gap), np.nan, gap > COLLAPSE))


def paper_table(runs: Runs, metric: str, methods: Methods, truth: Truth) -> Sheet:
    """Table 1 or 2 with the printed figures beside ours.

    Parameters
    ----------
    runs : Runs
        What was measured.
    metric : {"auc", "auc_pr"}
        Table 1 or Table 2.
    methods : Methods
        Whose estimator and repairs.
    truth : {"traditional", "same"}
        What errors are judged by.

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
    rows: list[tuple[Cell, ...]] = []
    for row in runs.rows:
        cells: list[Cell] = [row.dataset.capitalize(), row.beta, runs.repeats[row]]
        for name, column in ours.items():
            cells += _beside(column.get(row), printed.get(row, {}).get(name))
        if with_collapse:
            cells.append(collapsed.get(row))
        rows.append(tuple(cells))
    means: list[Cell] = ["Mean", None, runs.n_runs]
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
    """One of the paper's columns, by row."""
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


def _beside(ours: float | None, printed: float | None) -> tuple[Cell, Cell, Cell]:
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


# -- every combination --------------------------------------------------------------------


SUMMARY = (
    "dataset", "beta", "metric", "method", "estimator", "repair", "runs", "mean", "sd",
    "error_traditional", "sd_traditional", "error_same", "sd_same", "bias_same", "covered", "width",
    "printed_error",
)  # fmt: skip
"""Columns of :func:`summary_rows`."""


def summary_rows(runs: Runs) -> list[tuple[Cell, ...]]:
    """Means and spreads of everything measured, a tidy row per row of the tables.

    ``mean`` and ``sd`` are of the values, ``error_*`` and ``sd_*`` mean and standard deviation
    of the absolute error by either truth, ``bias_same`` the mean signed error, ``covered``
    and ``width`` of the intervals, ``printed_error`` what the paper has for it. Errors of
    ``alpha`` and ``beta`` are judged by their true values. Areas outside [0, 1] count as the
    nearest end, and a run without an interval as not covered, as in all other tables.
    """
    printed = _printed_errors()
    rows: list[tuple[Cell, ...]] = []
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
    """Mean and standard deviation of each row."""
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


# -- How many thresholds Algorithm 1 should have, which the paper leaves open --------------------


NUMBERS = (10, 30, 100, 300, 1000, None)
"""Numbers of thresholds; None is all there are."""

_WORLDS = {
    "Moderate, AUC 0.86, α 0.25": (simulate.binormal(1.5), 0.25),
    "Good, AUC 0.98, α 0.25": (simulate.binormal(3.0), 0.25),
    "Nearly perfect, AUC 0.9998, α 0.4": (simulate.binormal(5.0), 0.4),
}


@dataclass(frozen=True, eq=False)
class KeptScores:
    """Scores of one run with what is known of them.

    Attributes
    ----------
    title : str
        What they are of; scores of one title are pooled.
    scores : ndarray of float
        Score per example.
    labeled, positive : ndarray of bool
        Who is labeled, and who is positive in truth.
    """

    title: str
    scores: FloatArray
    labeled: BoolArray
    positive: BoolArray


@dataclass(frozen=True)
class ThresholdErrors:
    """Errors of Algorithm 1 with one number of thresholds, of all scores of one title.

    Attributes
    ----------
    title : str
        Of the scores.
    number : int or None
        How many thresholds; None is all.
    auc, auc_pr : ndarray
        Estimate minus truth, a number per run.
    """

    title: str
    number: int | None
    auc: FloatArray
    auc_pr: FloatArray


def simulated_scores() -> list[KeptScores]:
    """Scores of moderate, good and nearly perfect classifiers, forty samples of each."""
    rng = np.random.default_rng(0)
    found = []
    for title, (world, alpha) in _WORLDS.items():
        for _ in range(40):
            sample = world.sample(
                1000, 5000, alpha=alpha, beta=0.95, random_state=rng, fixed_counts=True
            )
            found.append(KeptScores(title, sample.scores, sample.labeled, sample.truth))
    return found


def threshold_errors(kept: Iterable[KeptScores]) -> list[ThresholdErrors]:
    """Errors of Algorithm 1 by the number of thresholds, alpha and beta known.

    Parameters
    ----------
    kept : iterable of KeptScores
        The scores.

    Returns
    -------
    list of ThresholdErrors
        By title and number. The truth is that of the same scores.

    Notes
    -----
    The thresholds are quantiles of all scores, at equal distances in rank.
    """
    pooled: dict[tuple[str, int | None], list[tuple[float, float]]] = {}
    for each in kept:
        counts = ScoreCounts.from_scores(each.scores, each.labeled)
        alpha = float(each.positive[~each.labeled].mean())
        proportions = MixtureProportions(alpha, float(each.positive[each.labeled].mean()))
        true = ScoreCounts.from_scores(each.scores, each.positive)
        true_roc = pu_roc_curve(true)
        true_pr = area_under_pr(true_roc.tpr_pu, true_roc.fpr_pu, alpha, "davis-goadrich")
        observed = pu_roc_curve(counts)
        for number in NUMBERS:
            at = _chosen(counts, number)
            tpr, fpr = map_curve(observed.tpr_pu[at], observed.fpr_pu[at], proportions)
            points = repair_paper(Points(fpr, tpr, observed.thresholds[at]))
            auc_pr = area_under_pr(points.tpr, points.fpr, alpha, "davis-goadrich")
            errors = (trapezoid(points.tpr, points.fpr) - auc_pu(true), auc_pr - true_pr)
            pooled.setdefault((each.title, number), []).append(errors)
    return [
        ThresholdErrors(title, number, *np.array(errors).T)
        for (title, number), errors in pooled.items()
    ]


def _chosen(counts: ScoreCounts, number: int | None) -> IntArray:
    """Points of the curve that a number of thresholds leaves, both ends among them."""
    n = counts.n_thresholds
    if number is None or number >= n:
        return np.arange(n + 1)
    share = np.cumsum(counts.labeled + counts.unlabeled) / (counts.n_labeled + counts.n_unlabeled)
    quantiles = np.arange(1, number + 1) / (number + 1)
    # Point i + 1 of the curve is the one at threshold i.
    return np.unique(np.concatenate([[0], np.searchsorted(share, quantiles) + 1, [n]]))


def thresholds_sheet(errors: Iterable[ThresholdErrors]) -> Sheet:
    """The errors as a table."""
    rows: list[tuple[Cell, ...]] = [
        (
            each.title, "all" if each.number is None else f"{each.number:,}", each.auc.size,
            float(np.abs(each.auc).mean()), float(each.auc.mean()), float(each.auc.min()),
            float(np.abs(each.auc_pr).mean()), float(each.auc_pr.mean()),
        )
        for each in errors
    ]  # fmt: skip
    return Sheet(
        name="thresholds",
        title="Algorithm 1 by the number of thresholds, alpha and beta known",
        columns=(
            Column("scores", "Scores", style="text"),
            Column("thresholds", "Thresholds"),
            Column("runs", "Runs", style="integer"),
            Column("auc", "mean |error|", "AUC", digits=4),
            Column("auc_bias", "bias", "AUC", "signed", digits=4),
            Column("auc_worst", "lowest", "AUC", "signed", digits=4),
            Column("auc_pr", "mean |error|", "AUC-PR", digits=4),
            Column("auc_pr_bias", "bias", "AUC-PR", "signed", digits=4),
        ),
        rows=tuple(rows),
        note=(
            "Thresholds are quantiles of all scores. Errors against the true values of the same "
            "scores: simulated ones with 1,000 labeled, 5,000 unlabeled and β = 0.95, and those "
            "kept in the study, where there are any."
        ),
    )
