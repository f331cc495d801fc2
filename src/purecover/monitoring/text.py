"""A monitor as text and as a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from purecover.exceptions import InvalidInputError
from purecover.intervals.interval import Interval
from purecover.monitoring.drift import DriftTest
from purecover.monitoring.state import MonitorPartition

if TYPE_CHECKING:
    from purecover.monitoring.monitor import ScoreMonitor

FIGURES = {"alpha": "alpha", "auc_pu": "observed AUC", "auc": "recovered AUC"}
"""Figures of a partition, in the order shown."""
COMPARED = FIGURES | {"labeled": "labeled scores", "unlabeled": "unlabeled scores"}
"""Figures that are compared with earlier partitions, in the order shown."""
_HEADS = ("partition", "labeled", "unlabeled", *FIGURES.values(), "drift", "warnings")


def monitor_text(monitor: ScoreMonitor) -> str:
    """Return totals, a table of the window, and the comparison of the last partition."""
    if not monitor.partitions:
        return "no partition yet"
    shown = monitor.partitions[-monitor.settings["window"] - 1 :]
    rows = [_HEADS, *map(_cells, shown)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([_total(monitor), "", *table, "", *statement(monitor)])


def statement(monitor: ScoreMonitor) -> list[str]:
    """Return the verdict about the last partition, its tests, and what qualifies them."""
    last = monitor.partitions[-1]
    notes = [] if last.note is None else [f"{last.name}: {last.note}."]
    if not last.drift:
        return [f"{last.name} is not compared with earlier partitions.", *notes]
    verb = "differs" if last.drifted else "does not differ"
    ever = 100 * monitor.settings["false_alarms"]
    return [
        f"{last.name} {verb} significantly from the partitions before it.",
        *(f"{COMPARED[name]}: {_comparison(name, test)}" for name, test in last.drift.items()),
        *notes,
        f"Probability of any false alarm over all partitions: at most {ever:g} %.",
    ]


def _total(monitor: ScoreMonitor) -> str:
    counts = monitor.counts
    return (
        f"Partitions: {len(monitor.partitions):,}; {counts.n_labeled:,.6g} labeled and "
        f"{counts.n_unlabeled:,.6g} unlabeled rows; observed AUC {counts.auc_pu:.4f}"
    )


def _cells(partition: MonitorPartition) -> tuple[str, ...]:
    return (
        partition.name,
        f"{partition.n_labeled:,.6g}",
        f"{partition.n_unlabeled:,.6g}",
        *(_interval_cell(getattr(partition, name)) for name in FIGURES),
        ("yes" if partition.drifted else "no") if partition.drift else "",
        " ".join(partition.findings),
    )


def _interval_cell(interval: Interval | None) -> str:
    if interval is None:
        return "none"
    if interval.method == "given" or not math.isfinite(interval.low):
        return f"{interval.estimate:.4g}"
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _comparison(name: str, test: DriftTest) -> str:
    figures = f"{test.value:.3f}, before {test.before:.3f}, difference {test.difference:+.3f}"
    if name in ("labeled", "unlabeled"):
        figures = f"distance {test.value:.3f} from the scores before"
    word = "drift" if test.drifted else "no drift"
    return f"{figures}; {word} (p = {test.p_value:.2g}, limit {test.limit:.2g})"


def monitor_page(monitor: ScoreMonitor, **about: Any) -> str:
    """Return a page: a timeline, the comparison of the last partition, and a table of all."""
    from purecover._documents.parts import Caution, Headline, Row, Table
    from purecover.html.page import MOST_PARTITIONS, render_monitor

    if not monitor.partitions:
        raise InvalidInputError("ScoreMonitor.to_html needs a partition; add one first.")
    verdict, *more = statement(monitor)
    drifted = monitor.partitions[-1].drifted
    columns = {head: head.capitalize() for head in _HEADS[1:]}
    rows = [
        Row(name, dict(zip(columns, cells, strict=True)))
        for name, *cells in map(_cells, reversed(monitor.partitions[-MOST_PARTITIONS:]))
    ]
    cautions = [Caution("warning", [], f"Warning: {verdict}")] if drifted else []
    return render_monitor(
        monitor,
        said=Headline([verdict], [f"{_total(monitor)}.", *more], cautions),
        table=Table("Partition", columns, rows),
        tests=None,
        **about,
    )
