"""The tables of the page, as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from purecover.html._dots import DotChart, make_dots
from purecover.html._titles import shown_metrics, title_of
from purecover.html._words import ends, number
from purecover.recovery._registry import METRICS

if TYPE_CHECKING:
    from purecover.intervals._interval import Interval
    from purecover.report._report import PUReport

_AT_A_GLANCE = ("precision", "recall", "f1", "mcc", "cost")


@dataclass(frozen=True)
class Row:
    """One metric, as text; name and kind tell the script what to renew, and when."""

    name: str
    kind: str
    title: str
    observed: str
    recovered: str
    interval: str
    true: str


@dataclass(frozen=True)
class Section:
    """Metrics of one kind under their heading."""

    kind: str
    heading: str
    rows: list[Row]


def metric_sections(report: PUReport) -> list[Section]:
    """All metrics worth a row, by kind."""
    sections: dict[str, Section] = {}
    for name in shown_metrics(report.metrics):
        row = _row(name, report)
        empty = Section(row.kind, _heading(row.kind, report), [])
        sections.setdefault(row.kind, empty).rows.append(row)
    return list(sections.values())


def threshold_rows(report: PUReport) -> list[Row]:
    """The few metrics that stand beside the confusion matrix."""
    return [_row(name, report) for name in _AT_A_GLANCE if name in report.metrics]


def _row(name: str, report: PUReport) -> Row:
    infeasible = name == "roc_auc" and report.infeasible
    return Row(
        name=name,
        kind=METRICS[name].kind,
        title=title_of(name, report.metrics.options),
        observed=number(report.metrics.observed[name]),
        recovered="infeasible" if infeasible else number(report.metrics[name]),
        interval="" if infeasible else ends(report.intervals.get(name)),
        true="" if report.truth is None else number(report.truth.metrics[name]),
    )


def _heading(kind: str, report: PUReport) -> str:
    if kind == "threshold":
        return f"At the threshold: score ≥ {report.metrics.threshold:.6g}"
    if kind == "top_k":
        return f"Among the {report.metrics.options.top_k:,} highest unlabeled scores"
    return "Over all thresholds"


@dataclass(frozen=True)
class Confusion:
    """Expected numbers of unlabeled examples, as text: rows of (heading, named cells)."""

    sentence: str
    caption: str
    rows: list[tuple[str, dict[str, str]]]


def confusion(report: PUReport) -> Confusion:
    """What is expected among the unlabeled at the threshold."""
    c = report.confusion
    return Confusion(
        f"Of the {c.flagged:,.0f} unlabeled at or above the threshold, about {c.tp:,.0f} are "
        f"positive; of those below, about {c.fn:,.0f}.",
        "Expected sums of weights" if report.counts.is_weighted else "Expected numbers",
        [
            (f"Score ≥ {c.threshold:.6g}", _cells(tp=c.tp, fp=c.fp, flagged=c.flagged)),
            (f"Score < {c.threshold:.6g}", _cells(fn=c.fn, tn=c.tn, passed=c.fn + c.tn)),
            (
                "All",
                _cells(positive=c.tp + c.fn, negative=c.fp + c.tn, all=c.flagged + c.fn + c.tn),
            ),
        ],
    )


def _cells(**numbers: float) -> dict[str, str]:
    return {name: f"{value:,.0f}" for name, value in numbers.items()}


@dataclass(frozen=True)
class Estimated:
    """The estimate of alpha and beta, as text: rows of (estimator, cells)."""

    sentence: str
    rows: list[tuple[str, list[str]]]
    dots: DotChart
    notes: tuple[str, ...]


def estimation(report: PUReport) -> Estimated | None:
    """How alpha and beta were found, if they were not given."""
    found = report.estimation
    if found is None:
        return None
    p = found.proportions
    sentence = (
        f"Alpha and beta were not given; {found.estimator} estimated them from the scores"
        + ("." if found.beta_estimated or p.beta != 1 else ", with labels taken as clean.")
    )
    if found.beta_given:
        sentence = (
            f"Beta was given; {found.estimator} estimated alpha from the scores, as a share of it."
        )
    if found.intervals:
        level = next(iter(found.intervals.values())).confidence_level
        sentence += f" In parentheses stand {100 * level:g} % intervals."
    rows = [(found.estimator, _with_ends(p.alpha, p.beta, found.intervals))]
    for name, (alpha, beta) in found.others.items():
        rows.append((name, _with_ends(alpha, beta, found.other_intervals.get(name, {}))))
    notes = (*found.notes, *_of_others(report))
    return Estimated(sentence, rows, make_dots(found, report.truth), notes)


def _with_ends(alpha: float, beta: float, intervals: Mapping[str, Interval]) -> list[str]:
    cells = []
    for name, value in (("alpha", alpha), ("beta", beta), ("delta", beta - alpha)):
        bounds = ends(intervals.get(name))
        cells.append(f"{number(value)} ({bounds})" if bounds else number(value))
    return cells


def _of_others(report: PUReport) -> list[str]:
    """Where the intervals of the other estimators come from, or why there are none."""
    found = report.estimation
    if found is None or not found.others or report.bootstrap is None:
        return []
    methods = {i.method for each in found.other_intervals.values() for i in each.values()}
    if not methods:
        return ["The other estimators have no intervals: theirs need independent rows."]
    told = f"Intervals of the other estimators: {'; '.join(sorted(methods))}."
    return [f"{told} They tell what another sample would change, not whether a method is biased."]
