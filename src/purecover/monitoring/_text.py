"""A monitor in words, and as a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover.curves import auc_pu
from purecover.intervals._interval import Interval
from purecover.monitoring._partition import DriftTest, MonitorPartition

if TYPE_CHECKING:
    from purecover.monitoring._monitor import ScoreMonitor

__all__ = ["TITLES", "columns_of", "monitor_text", "statement", "totals"]

TITLES = {"alpha": "alpha", "auc_pu": "observed AUC", "auc": "recovered AUC"}
"""The figures, in the order shown."""

_HEAD = ("partition", "labeled", "unlabeled", *TITLES.values(), "drift")
_RIGHT = (1, 2)


def monitor_text(monitor: ScoreMonitor, partition: MonitorPartition | None = None) -> str:
    """Totals, the partitions of the window, and what is to be said of one, by default the last."""
    if not monitor.partitions:
        return "no partition yet"
    partition = monitor.partitions[-1] if partition is None else partition
    shown = monitor.partitions[-monitor.settings["window"] - 1 :]
    left_out = len(monitor.partitions) - len(shown)
    lines = [_total_line(monitor), "", *_table(shown)]
    if left_out:
        lines.insert(2, f"({left_out:,} earlier {_plural('partition', left_out)} not shown)")
    return "\n".join([*lines, "", *statement(monitor, partition)])


def _total_line(monitor: ScoreMonitor) -> str:
    counts, bounds, n = monitor.counts, monitor.bounds, len(monitor.partitions)
    area = f"{auc_pu(counts):.4f}"
    if bounds is not None:
        area += f" (within {bounds.auc_pu[0]:.4f} to {bounds.auc_pu[1]:.4f}, as scores are in bins)"
    return (
        f"{n:,} {_plural('partition', n)}: {_size(counts.n_labeled)} labeled, "
        f"{_size(counts.n_unlabeled)} unlabeled, observed AUC {area}"
    )


def _size(n: float) -> str:
    """A number of rows, or a sum of weights."""
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"


def _plural(word: str, n: int) -> str:
    return word if n == 1 else f"{word}s"


def _table(partitions: tuple[MonitorPartition, ...]) -> list[str]:
    rows = [_HEAD, *map(_row, partitions)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in _RIGHT else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _row(partition: MonitorPartition) -> tuple[str, ...]:
    drift = partition.drift
    word = "" if drift is None else "yes" if drift.drifted else "no" if drift.tests else "?"
    return (
        partition.name,
        _size(partition.n_labeled),
        _size(partition.n_unlabeled),
        *(_cell(getattr(partition, name)) for name in TITLES),
        word,
    )


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "none"
    if interval.method == "given" or not math.isfinite(interval.low):
        return f"{interval.estimate:.4g}"
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def statement(monitor: ScoreMonitor, partition: MonitorPartition) -> list[str]:
    """Whether a partition differs from those before it, and how sure that is."""
    lines = [] if partition.note is None else [f"{partition.name}: {partition.note}"]
    drift = partition.drift
    if drift is None:
        place = [p.name for p in monitor.partitions].index(partition.name)
        why = "is the first; there is nothing to compare it with"
        if place:
            gone = "counts of the one" if place == 1 else f"counts of the {place:,}"
            why = f"is not compared: {gone} before it are only kept as part of the total"
        return [*lines, f"{partition.name} {why}."]
    n = drift.n_before
    before = "the one before it" if n == 1 else f"the {n:,} before it"
    if not drift.tests:
        return [*lines, f"{partition.name} is not compared with {before}: {drift.note}."]
    verdict = "differs" if drift.drifted else "does not differ"
    lines.append(f"{partition.name} {verdict} from {before} beyond chance:")
    width = max(len(TITLES[name]) for name in drift.tests)
    lines += [
        f"  {TITLES[name]:{width}}  {_compared(drift.tests[name])}"
        for name in TITLES
        if name in drift.tests
    ]
    if drift.note is not None:
        lines.append(f"  {drift.note}")
    ever = 100 * monitor.settings["false_alarms"]
    # Tails of estimates come from a few hundred draws, those of areas from moments.
    condition = "rows are independent" + (" and p-values hold" if "alpha" in drift.tests else "")
    lines.append(
        f"False alarms of all looks ever: at most {ever:g} %, if {condition}. "
        f"Look {drift.look:,} spends {100 * drift.spent:.2g} %."
    )
    return lines


def _compared(test: DriftTest) -> str:
    word = "drift" if test.drifted else "no drift"
    return (
        f"{test.value:.3f}, before {test.before:.3f}, difference {test.difference:+.3f}: {word} "
        f"(p = {test.p_value:.2g}, limit {test.limit:.2g})"
    )


# -- plain data -------------------------------------------------------------------------------


def totals(monitor: ScoreMonitor) -> dict[str, Any]:
    """All rows together as plain data."""
    counts, bounds = monitor.counts, monitor.bounds
    return {
        "n_labeled": counts.n_labeled,
        "n_unlabeled": counts.n_unlabeled,
        "n_negative": counts.n_negative,
        "n_thresholds": counts.n_thresholds,
        "auc_pu": auc_pu(counts),
        "binning": None if bounds is None else bounds.to_dict(),
    }


def columns_of(partitions: tuple[MonitorPartition, ...]) -> dict[str, np.ndarray[Any, Any]]:
    """The figures of partitions, one column each; NaN where there is none."""
    columns = {
        key: np.array([getattr(p, key) for p in partitions])
        for key in ("name", "n_labeled", "n_unlabeled")
    }
    for key in TITLES:
        found = [getattr(p, key) for p in partitions]
        for end, column in (("estimate", key), ("low", f"{key}_low"), ("high", f"{key}_high")):
            values = [math.nan if i is None else getattr(i, end) for i in found]
            columns[column] = np.array(values, dtype=np.float64)
    drifted = [p.drift is not None and p.drift.drifted for p in partitions]
    return {**columns, "drifted": np.array(drifted, dtype=np.bool_)}
