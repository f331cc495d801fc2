"""Which method does best, the paper's counting test, and what the study set out to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Literal

import numpy as np

from purecover._typing import FloatArray
from purecover.paper import tables
from purecover.paper.run import DEFAULT, DEFAULT_REPAIR, RELEASED, REPORTS
from purecover.paper.tables import Cell, Column, Combination, Methods, Row, Runs, Sheet, Truth

# -- Is the indirect method better than the direct one? The paper's test, and a stricter one -----


DECIMALS = 3
"""Errors are compared as the paper prints them."""

CONFIDENCE_LEVEL = 0.95
_RESAMPLES = 10_000
_MOST_FLIPS = 2**14
_EXACT_CLUSTERS = 14


@dataclass(frozen=True)
class CountingTest:
    """Wins of two methods over rows, and how surprising they are if both are equal.

    Attributes
    ----------
    direct, indirect, ties : int
        Rows where the error of one is smaller, or both are the same.
    successes : int
        Rows counted for the indirect method: its wins and its share of the ties.
    p_value : float
        Of as many successes or more, one-sided binomial.
    p_without_ties : float
        The usual sign test, which leaves ties out.
    """

    direct: int
    indirect: int
    ties: int
    successes: int
    p_value: float
    p_without_ties: float


def counting_test(indirect: Sequence[float], direct: Sequence[float]) -> CountingTest:
    r"""The counting test of the paper.

    Parameters
    ----------
    indirect, direct : sequence of float
        Errors of the two methods, row by row.

    Returns
    -------
    CountingTest
        Counts and P values.

    Notes
    -----
    Errors are rounded to three decimals, as printed. Ties go to the two methods in turn, the
    direct one first, which gives :math:`k = wins + \lfloor ties/2 \rfloor` of :math:`n` and
    :math:`P = 2^{-n} \sum_{i \ge k} \binom{n}{i}`. Rows of one data set are not independent,
    so that P is too small; :func:`clustered_test` respects that.

    Examples
    --------
    >>> from purecover.paper.standings import counting_test
    >>> test = counting_test([0.1, 0.1, 0.2, 0.3], [0.2, 0.1, 0.3, 0.4])
    >>> test.indirect, test.ties, test.successes, test.p_value
    (3, 1, 3, 0.3125)
    """
    less = np.round(indirect, DECIMALS) - np.round(direct, DECIMALS)
    # Differences of rounded numbers: nothing lies between 0 and a thousandth.
    sign = np.sign(np.round(less, DECIMALS))
    wins, losses, ties = (int(np.sum(sign == kind)) for kind in (-1, 1, 0))
    successes = wins + ties // 2
    return CountingTest(
        direct=losses,
        indirect=wins,
        ties=ties,
        successes=successes,
        p_value=_upper_tail(successes, sign.size),
        p_without_ties=_upper_tail(wins, wins + losses),
    )


def _upper_tail(k: int, n: int) -> float:
    return sum(comb(n, i) for i in range(k, n + 1)) / 2**n


@dataclass(frozen=True)
class ClusteredTest:
    """A mean difference over data sets, with an interval and a P value that respect them.

    Attributes
    ----------
    mean : float
        Mean difference; positive where the first is the better.
    low, high : float
        Interval from resampling data sets.
    p_value : float
        One-sided, from flipping the signs of whole data sets.
    n_clusters : int
        Data sets.
    """

    mean: float
    low: float
    high: float
    p_value: float
    n_clusters: int


def clustered_test(differences: Mapping[Row, float]) -> ClusteredTest:
    r"""A test of a mean difference whose rows come in data sets.

    Parameters
    ----------
    differences : dict of Row to float
        A difference per row, for example direct minus indirect error.

    Returns
    -------
    ClusteredTest
        The mean over data sets of the mean over their rows, its interval and P value.

    Notes
    -----
    If neither method is better, the difference of a whole data set is as likely to have either
    sign, whatever the dependence within it. P is the share of the :math:`2^{12}` ways to
    choose the signs that give a mean at least as large; of a random sample of the ways, the
    observed one among them, beyond fourteen data sets. It cannot be below :math:`2^{-12}`.

    Examples
    --------
    >>> from purecover.paper.standings import clustered_test
    >>> from purecover.paper.tables import Row
    >>> test = clustered_test({Row("a", 1.0): 0.1, Row("a", 0.75): 0.3, Row("b", 1.0): 0.1})
    >>> round(test.mean, 3), test.p_value, test.n_clusters
    (0.15, 0.25, 2)
    """
    means = cluster_means(differences)
    if means.size <= _EXACT_CLUSTERS:
        flips = np.array(list(product((1.0, -1.0), repeat=means.size)))
    else:
        rng = np.random.default_rng(0)
        flips = rng.choice((1.0, -1.0), size=(_MOST_FLIPS, means.size))
        flips[0] = 1.0
    # Sums of the same numbers in another order differ by rounding.
    slack = 1e-12 * np.abs(means).sum()
    p_value = float(np.mean(flips @ means >= means.sum() - slack))
    return ClusteredTest(float(means.mean()), *_ends(differences), p_value, means.size)


def cluster_means(values: Mapping[Row, float]) -> FloatArray:
    """Mean over the rows of each data set."""
    pooled: dict[str, list[float]] = {}
    for row, value in values.items():
        pooled.setdefault(row.dataset, []).append(value)
    return np.array([np.mean(each) for each in pooled.values()])


def _ends(values: Mapping[Row, float]) -> tuple[float, float]:
    """Percentiles of the mean over data sets drawn with replacement.

    The same draws for the same number of data sets, so that intervals of several combinations
    are comparable.
    """
    means = cluster_means(values)
    if means.size < 2:  # nothing varies
        return float("nan"), float("nan")
    drawn = np.random.default_rng(0).integers(0, means.size, (_RESAMPLES, means.size))
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.quantile(means[drawn].mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)


# -- the table ----------------------------------------------------------------------------


def counting_sheet(runs: Runs) -> Sheet:
    """Both tests on the printed tables and on our runs."""
    rows = []
    for title, indirect, direct in _comparisons(runs):
        shared = [row for row in indirect if row in direct]
        if not shared:
            continue
        test = counting_test([indirect[r] for r in shared], [direct[r] for r in shared])
        strict = clustered_test({r: direct[r] - indirect[r] for r in shared})
        count = f"{test.direct} / {test.indirect} / {test.ties}"
        rows.append(
            (
                title, count, f"{test.successes} of {len(shared)}", test.p_value,
                test.p_without_ties, strict.mean, strict.low, strict.high, strict.p_value,
            )
        )  # fmt: skip
    clustered = "Direct minus indirect, by data set"
    return Sheet(
        name="counting",
        title="Indirect against direct: who is closer more often",
        columns=(
            Column("comparison", "Comparison", style="text"),
            Column("counts", "Direct / indirect / ties", style="text"),
            Column("successes", "k", style="text"),
            Column("p", "P", "Counting test", "scientific"),
            Column("p_without_ties", "without ties", "Counting test", "scientific"),
            *tables.with_ends("mean", clustered, "signed"),
            Column("p_clustered", "P", clustered, "scientific"),
        ),
        rows=tuple(rows),
        note=(
            "k counts wins of the indirect method, ties shared in turn with the direct method "
            "first, on errors rounded to three decimals; P is one-sided. The paper says 9 / 25 / 2 "
            "for estimated proportions where its own printed table gives 8 / 25 / 3; k, hence P, "
            "is 26 of 36 either way. Rows of a data set depend on each other, which the counting "
            "test ignores: the last columns flip signs of, and resample, whole data sets."
        ),
    )


def _comparisons(runs: Runs) -> list[tuple[str, Mapping[Row, float], Mapping[Row, float]]]:
    printed = tables.printed_table("auc")

    def column(name: str) -> dict[Row, float]:
        return {row: line[name] for row, line in printed.items()}

    found: list[tuple[str, Mapping[Row, float], Mapping[Row, float]]] = [
        ("Printed: IR against DR", column("ir"), column("dr")),
        ("Printed: IE against DE", column("ie"), column("de")),
    ]
    for methods in (tables.PAPERS, tables.OURS):
        for truth, words in tables.JUDGES.items():
            found += [
                (
                    f"{methods.title.capitalize()}, {words}: {one.upper()} against {two.upper()}",
                    tables.mean_errors(runs, one, "auc", methods, truth),
                    tables.mean_errors(runs, two, "auc", methods, truth),
                )
                for one, two in (("ir", "dr"), ("ie", "de"))
            ]
    return found


# -- Which estimator and repair do best, how good the estimates are, and what intervals hold -----


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
    order = sorted(
        means, key=lambda what: (sizes[what] < n_judged, tables.mean_of_rows(means[what]))
    )
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
                error=tables.mean_of_rows(means[what]),
                low=low,
                high=high,
                bias=tables.mean_of_rows(runs.means(errors[what])),
                worst=max(means[what].values()),
                behind=tables.mean_of_rows(gaps),
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
    error = f"Mean |error| of {tables.TITLES[metric]}"
    # Equation 4 is the area under the points as they are.
    alike = " A curve that is not repaired (none) has the area of the direct formula."
    return Sheet(
        name=f"standings-{metric}-{truth}-{given}",
        title=f"{tables.TITLES[metric]} with {given} proportions, judged by {tables.JUDGES[truth]}",
        columns=(
            Column("estimator", "Estimator", style="text"),
            Column("repair", "Repair", style="text"),
            Column("runs", "Runs", style="integer"),
            *tables.with_ends("error", error),
            *tables.with_ends("behind", "Behind the best", "signed"),
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


# -- alpha and beta -----------------------------------------------------------------------


def estimators_sheet(runs: Runs) -> Sheet:
    """How good the estimates of alpha, beta and their difference are, the best first."""
    names = {w.estimator for w in runs.combinations("alpha") if w.method == "estimate"}
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        errors = runs.proportion_errors(name)
        sizes = {key: runs.means(np.abs(array)) for key, array in errors.items()}
        biases = {key: tables.mean_of_rows(runs.means(array)) for key, array in errors.items()}
        if not sizes["delta"]:
            continue
        rows.append(
            (
                name, int(np.isfinite(errors["delta"]).sum()),
                tables.mean_of_rows(sizes["delta"]), *_ends(sizes["delta"]), biases["delta"],
                tables.mean_of_rows(sizes["alpha"]), biases["alpha"],
                tables.mean_of_rows(sizes["beta"]), biases["beta"],
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
            *tables.with_ends("e", e, digits=3),
            Column("bias", "Bias of β − α", style="signed"),
            Column("alpha", "mean |error|", "α"),
            Column("alpha_bias", "bias", "α", "signed"),
            Column("beta", "mean |error|", "β"),
            Column("beta_bias", "bias", "β", "signed"),
        ),
        rows=tuple(rows),
        note=(
            f"The mean e of the printed tables is {tables.printed_mean('e', 'auc'):.3f}. "
            f"{RELEASED} follows the code of the paper's authors. Intervals are 95 %, from "
            "resampling data sets. The default is marked."
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
        title = tables.TITLES.get(what.metric, what.metric)
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


# -- What the study set out to show, and whether it does -----------------------------------------


WANTED_RUNS = 1800
_WANTED_REPEATS = WANTED_RUNS // tables.PRINTED_ROWS


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
    side : {"most", "least", "within"}
        Whether ``bar`` is a ceiling, a floor, or a ceiling of the size whatever the sign.
    printed : float or None
        The paper's figure.
    style : {"fixed", "signed", "percent", "integer"}
        How it is written.
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
        """Figure, bar and printed figure as text."""
        column = Column("", "", style=self.style, digits=4)
        if self.bar is None:
            bar = ""
        elif self.side == "within":
            bar = f"within ±{self.bar:.{column.digits}f}"
        else:
            bar = f"at {self.side} {column.show(self.bar)}"
        return column.show(self.value), bar, column.show(self.printed)


def promises(runs: Runs) -> list[Promise]:
    """Every figure that has a criterion, and those to be read beside it."""
    e = runs.proportion_errors(DEFAULT)["delta"]
    bias = tables.mean_of_rows(runs.means(e))
    dr, de = (_error(runs, name, "auc", tables.OURS, "same") for name in ("dr", "de"))
    return [
        Promise("Runs of the study", _n_wanted(runs), WANTED_RUNS, "least", 1800, "integer"),
        _judged(runs, "dr", "auc", tables.OURS, "traditional", 0.0363),
        _judged(runs, "ir", "auc", tables.OURS, "traditional", 0.0338),
        _judged(runs, "ir", "auc", tables.PAPERS, "traditional", None),
        Promise(
            "e, mean |error| of β − α",
            _size_of_error(runs, DEFAULT),
            0.040,
            printed=tables.printed_mean("e", "auc"),
        ),
        # With its sign: alpha too high and alpha too low mislead in opposite directions.
        Promise("Mean signed error of β − α", bias, 0.02, "within", style="signed"),
        _judged(runs, "de", "auc", tables.OURS, "same", 0.028),
        Promise("DE as a multiple of DR, the same scores", de / dr if dr else None, 1.8),
        _judged(runs, "ie", "auc_pr", tables.OURS, "same", 0.09),
        *_coverage(runs),
        Promise(f"e of {REPORTS}, the default of reports", _size_of_error(runs, REPORTS)),
        _judged(runs, "ie", "auc", tables.OURS, "traditional", None),
        _judged(runs, "de", "auc", tables.OURS, "traditional", None),
        _judged(runs, "ie", "auc_pr", tables.OURS, "traditional", None),
    ]


def _size_of_error(runs: Runs, estimator: str) -> float:
    return tables.mean_of_rows(runs.means(np.abs(runs.proportion_errors(estimator)["delta"])))


def _error(runs: Runs, column: str, metric: str, methods: Methods, truth: Truth) -> float:
    return tables.mean_of_rows(tables.mean_errors(runs, column, metric, methods, truth))


def _judged(
    runs: Runs, column: str, metric: str, methods: Methods, truth: Truth, bar: float | None
) -> Promise:
    detail = "" if column.startswith("d") else f" with repair {methods.repairs[metric]}"
    given = "known" if column.endswith("r") else "estimated"
    return Promise(
        f"{column.upper()}{detail}, mean |error| of {tables.TITLES[metric]}, {given} proportions, "
        f"{tables.JUDGES[truth]}",
        _error(runs, column, metric, methods, truth),
        bar,
        printed=tables.printed_mean(column, metric),
    )


def _n_wanted(runs: Runs) -> int:
    """Runs that the whole study has as well: other rows, and repeats beyond, do not fill gaps."""
    repeats = runs.repeats
    return sum(min(repeats.get(row, 0), _WANTED_REPEATS) for row in tables.printed_table("auc"))


def _coverage(runs: Runs) -> list[Promise]:
    found = []
    names = {DEFAULT: ("", 0.80), REPORTS: (f", by {REPORTS}, the default of reports", 0.85)}
    for estimator, (by, bar) in names.items():
        for metric, title in tables.TITLES.items():
            combination = tables.paper_combination("ie", metric, tables.OURS)._replace(
                estimator=estimator
            )
            held = coverage(runs, combination)
            shares = {name: each.covered for name, each in held.items() if name}
            worst = min(shares, key=lambda name: shares[name]) if shares else ""
            where = f" ({worst.capitalize()})" if worst else ""
            hold = f"95 % intervals of {title} that hold the truth of the same scores{by}"
            found += [
                Promise(
                    hold,
                    held[""].covered if held else None, 0.90, "least", style="percent",
                ),
                Promise(
                    f"{hold}, worst data set{where}",
                    shares.get(worst), bar, "least", style="percent",
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
            "Label-curve, means over the rows of the tables, unless said otherwise. Errors by the "
            "paper's truth with estimated proportions are reported only: there an "
            "upward bias of alpha looks like accuracy. A negative signed error of β − α is one "
            "of alpha too high or beta too low."
        ),
        marked=frozenset(i for i, each in enumerate(found) if each.outcome == "not met"),
    )


def shortfalls(runs: Runs) -> list[str]:
    """What is missing for a whole study, in words; nothing where it is whole.

    Examples
    --------
    >>> from purecover.paper.tables import Runs
    >>> from purecover.paper.standings import shortfalls
    >>> from purecover.paper.cells import Record
    >>> runs = Runs([Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None)])
    >>> shortfalls(runs)[0]
    '1 of 1,800 runs.'
    """
    wanted = _WANTED_REPEATS
    by_number: dict[int, list[Row]] = {}
    for row in tables.printed_table("auc"):
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
    """Rows in words, a data set at a time."""
    betas: dict[str, list[str]] = {}
    for row in rows:
        betas.setdefault(row.dataset, []).append(f"{row.beta:g}")
    whole = tables.PRINTED_ROWS // 12
    return "; ".join(
        name if len(each) == whole else f"{name} at beta {', '.join(each)}"
        for name, each in betas.items()
    )
