"""The head of a report page: one figure with its interval, the table, and what alpha may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purecover._documents.formats import WITHHELD, bounded, number, percent, share, shares_between
from purecover._documents.headline import has_rare_positives
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.intervals.interval import Interval
    from purecover.report.results import PUReport

OPEN, WIDE = 0.75, 0.1
"""Widths of an interval: above the first a value is a dash, above the second it has two digits."""
_RANKING, _AT_THRESHOLD = ("roc_auc", "auc_pr"), ("recall", "specificity", "precision", "f1")
_COUNTS = {"tp": "Positives flagged", "fn": "Positives missed"}


def make_head(report: PUReport) -> dict[str, Any]:
    """What stands above the foldouts, as words and cells.

    Where positives are rare, precision is the one figure, else the AUC. ``rows`` are those of all
    thresholds, those of the threshold, and the numbers of positives.
    """
    rare = has_rare_positives(report)
    groups = [
        [_row(report, name) for name in names if name in report.metrics]
        for names in (_RANKING, _AT_THRESHOLD)
    ]
    found = {row["name"]: row for group in groups for row in group}
    low, high = sorted((report.auc_pu, auc_at(report, least_delta(report))))
    return {
        "lead": found["precision" if rare else "roc_auc"],
        "level": next((percent(i.confidence_level) for i in report.intervals.values()), ""),
        "alpha": share(report.proportions.alpha),
        "origin": _origin(report),
        "ranking": groups[0],
        "at_threshold": groups[1],
        "counts": [_count(report, name) for name in _COUNTS],
        "threshold": f"{report.metrics.threshold:.4g}",
        "flagged": f"{_flagged(report):,.10g}",
        "range": f"AUC {low:.3f} to {high:.3f}",
        "truth": report.truth is not None,
    }


def auc_at(report: PUReport, delta: float) -> float:
    """The AUC if beta - alpha were ``delta``."""
    return min(max(0.5 + (report.auc_pu - 0.5) / delta, 0.0), 1.0) if delta > 0 else 1.0


def least_delta(report: PUReport) -> float:
    """The least beta - alpha that the scores allow, from how pure their ends may be.

    Without an estimate of that, the one with which the AUC is 1, or 0.
    """
    found = report.estimation
    pure = () if found is None else (found.delta_pure, found.delta_pure_noisy)
    return min((each for each in pure if each is not None), default=abs(2 * report.auc_pu - 1))


def _origin(report: PUReport) -> str:
    found = report.estimation
    if found is None:
        return report.proportions.origin.partition(", beta ")[0]
    interval = found.intervals.get("alpha")
    ends = f", {shares_between(found.proportions.alpha, interval)}" if bounded(interval) else ""
    return f"estimated{ends}"


def _row(report: PUReport, name: str) -> dict[str, Any]:
    """One metric as written: an open value is a dash, and digits follow the interval."""
    value, interval = report.metrics[name], report.intervals.get(name)
    if name == "roc_auc":
        value = min(max(report.auc_direct, 0.0), 1.0)
    row = {
        "name": name,
        "kind": METRICS[name].kind,
        "title": METRICS[name].title,
        "observed": number(report.metrics.observed[name], 3),
        "corrected": _written(value, interval),
        "interval": _ends(interval),
        "true": "" if report.truth is None else number(report.truth.metrics[name], 3),
    }
    if report.contradicted or (name == "roc_auc" and report.infeasible):
        row |= {"corrected": WITHHELD, "interval": ""}
    return row


def _digits(interval: Interval) -> int:
    return 3 if interval.high - interval.low <= WIDE else 2


def _written(value: float, interval: Interval | None) -> str:
    if not bounded(interval):
        return number(value, 3)
    return WITHHELD if interval.high - interval.low > OPEN else number(value, _digits(interval))


def _ends(interval: Interval | None) -> str:
    if not bounded(interval):
        return ""
    return f"{interval.low:.{_digits(interval)}f} to {interval.high:.{_digits(interval)}f}"


def _count(report: PUReport, name: str) -> dict[str, str]:
    value, ends = getattr(report.confusion, name), report.confusion.intervals.get(name)
    row = {"name": name, "title": _COUNTS[name], "interval": ""}
    if report.contradicted:
        return row | {"corrected": WITHHELD}
    if ends is not None:
        row["interval"] = f"{ends[0]:,.0f} to {ends[1]:,.0f}"
    return row | {"corrected": f"{value:,.0f}"}


def _flagged(report: PUReport) -> float:
    counts = report.counts
    return float(counts.unlabeled[counts.thresholds >= report.metrics.threshold].sum())
