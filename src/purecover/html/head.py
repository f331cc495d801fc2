"""The head of a report page: one figure with its interval, the table, and what alpha may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purecover._documents.formats import WITHHELD, bounded, number, shares_between
from purecover._documents.headline import has_rare_positives
from purecover._documents.parts import Row, Table
from purecover._documents.report import metric_columns
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.intervals.interval import Interval
    from purecover.report.results import PUReport

OPEN, WIDE = 0.75, 0.1
"""Widths of an interval: above the first a value is a dash, above the second it has two digits."""
_OVERALL, _AT_THRESHOLD = ("roc_auc", "auc_pr"), ("recall", "specificity", "precision", "f1")
_COUNTS = {"tp": "Positives flagged", "fn": "Positives missed"}


def head_tables(report: PUReport) -> list[Table]:
    """The main metrics over all thresholds, and those at the threshold with numbers of positives.

    Where positives are rare, precision leads.
    """
    counts, columns = report.counts, metric_columns(report)
    flagged = float(counts.unlabeled[counts.thresholds >= report.metrics.threshold].sum())
    heading = f"At score ≥ {report.metrics.threshold:.4g} (flags {flagged:,.0f} unlabeled rows)"
    overall = Table("", columns, [_row(report, name) for name in _OVERALL])
    rows = [_row(report, name) for name in _AT_THRESHOLD if name in report.metrics]
    at = Table(heading, columns, [*rows, *(_count(report, name) for name in _COUNTS)])
    if not has_rare_positives(report):
        return [overall, at]
    at.rows.sort(key=lambda row: row.name != "precision")
    return [at, overall]


def alpha_origin(report: PUReport) -> str:
    """Where alpha comes from, with its interval if it was estimated."""
    found = report.estimation
    if found is None:
        return report.proportions.origin.partition(", beta ")[0]
    interval = found.intervals.get("alpha")
    ends = f"; {shares_between(found.proportions.alpha, interval)}" if bounded(interval) else ""
    return f"estimated from comparable data{ends}"


def range_line(report: PUReport) -> str:
    """The AUC for any alpha the scores allow."""
    least = least_delta(report)
    far = min(max(0.5 + (report.auc_pu - 0.5) / least, 0.0), 1.0) if least > 0 else 0.5
    low, high = sorted((report.auc_pu, far))
    return f"For any alpha the scores allow: AUC {low:.3f} to {high:.3f}."


def least_delta(report: PUReport) -> float:
    """The least beta - alpha that the scores allow, from how pure their ends may be.

    Without an estimate of that, the one with which the AUC is 1, or 0. That of the report is
    always allowed.
    """
    found = report.estimation
    pure = () if found is None else (found.delta_pure, found.delta_pure_noisy)
    least = min((each for each in pure if each is not None), default=abs(2 * report.auc_pu - 1))
    return least if report.contradicted else min(least, report.proportions.delta)


def _row(report: PUReport, name: str) -> Row:
    """One metric as written: an open value is a dash, and digits follow the interval."""
    value, interval = report.metrics[name], report.intervals.get(name)
    if name == "roc_auc":
        value = min(max(report.auc_direct, 0.0), 1.0)
    if report.contradicted or (name == "roc_auc" and report.infeasible):
        written, interval = WITHHELD, None
    elif not bounded(interval):
        written = number(value, 3)
    else:
        wide = interval.high - interval.low > OPEN
        written = WITHHELD if wide else number(value, _digits(interval))
    cells = {"observed": number(report.metrics.observed[name], 3), "recovered": written}
    if report.intervals:
        cells["interval"] = ""
        if bounded(interval):
            digits = _digits(interval)
            cells["interval"] = f"{interval.low:.{digits}f} to {interval.high:.{digits}f}"
    if report.truth is not None:
        cells["true"] = number(report.truth.metrics[name], 3)
    return Row(METRICS[name].title, cells, name, METRICS[name].kind)


def _digits(interval: Interval) -> int:
    return 3 if interval.high - interval.low <= WIDE else 2


def _count(report: PUReport, name: str) -> Row:
    value, ends = getattr(report.confusion, name), report.confusion.intervals.get(name)
    cells = {"observed": "", "recovered": WITHHELD if report.contradicted else f"{value:,.0f}"}
    if report.intervals:
        cells["interval"] = "" if ends is None else f"{ends[0]:,.0f} to {ends[1]:,.0f}"
    if report.truth is not None:
        cells["true"] = ""
    return Row(_COUNTS[name], cells, name)
