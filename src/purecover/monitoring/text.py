"""A monitor as text and as a page."""

from __future__ import annotations

from typing import Any

from purecover.documents.formats import bounded
from purecover.documents.parts import (
    Caution,
    Document,
    Headline,
    Live,
    Note,
    Part,
    Row,
    Section,
    Table,
    notes,
)
from purecover.documents.text import text_of
from purecover.exceptions import InvalidInputError
from purecover.intervals.interval import Interval
from purecover.monitoring.drift import DriftTest
from purecover.monitoring.state import MonitorPartition, MonitorState

MOST_PARTITIONS = 400
"""Partitions of a page, the newest ones; all of them are in the state file."""

RESULTS = ("alpha", "auc_pu", "auc")
"""Results of a partition that have an interval, in the order shown."""
_COMPARED = {"auc_pu": "observed AUC", "labeled": "labeled scores", "unlabeled": "unlabeled scores"}
_HEADS = {"labeled": "Labeled", "unlabeled": "Unlabeled", "alpha": "Alpha"}
_HEADS |= {"auc_pu": "Observed AUC", "auc": "Corrected AUC", "drift": "Drift", "found": "Warnings"}


def monitor_text(state: MonitorState) -> str:
    """Return totals, a table of the window, and the comparison of the last partition."""
    if not state.partitions:
        return "no partition yet"
    shown = state.partitions[-state.settings["window"] - 1 :]
    return text_of([notes(_total(state)), Section([_table(shown)]), notes(*statement(state))])


def statement(state: MonitorState) -> list[str]:
    """Return the verdict about the last partition, its tests, and what qualifies them."""
    last = state.partitions[-1]
    notes = [] if last.note is None else [f"{last.name}: {last.note}."]
    if not last.drift:
        return [f"{last.name} is not compared with earlier partitions.", *notes]
    verb = "differs" if last.drifted else "does not differ"
    ever = 100 * state.settings["false_alarms"]
    return [
        f"{last.name} {verb} significantly from the partitions before it.",
        *(f"{words}: {_comparison(name, last.drift[name])}" for name, words in _COMPARED.items()),
        *notes,
        f"Probability of any false alarm over all partitions: at most {ever:g} %.",
    ]


def _total(state: MonitorState) -> str:
    counts = state.counts
    return (
        f"Partitions: {len(state.partitions):,}; {_count(counts.n_labeled)} labeled and "
        f"{_count(counts.n_unlabeled)} unlabeled rows; observed AUC {counts.auc_pu:.4f}"
    )


def _count(rows: float) -> str:
    """Write a number of rows, or a sum of weights with one decimal."""
    return f"{round(rows, 1):,.15g}"


def _table(partitions: tuple[MonitorPartition, ...]) -> Table:
    rows = [Row(each.name, _cells(each)) for each in partitions]
    return Table("", _HEADS, rows, head="Partition")


def _cells(partition: MonitorPartition) -> dict[str, str]:
    drift = ("yes" if partition.drifted else "no") if partition.drift else ""
    return {
        "labeled": _count(partition.n_labeled),
        "unlabeled": _count(partition.n_unlabeled),
        **{name: _interval_cell(getattr(partition, name)) for name in RESULTS},
        "drift": drift,
        "found": " ".join(partition.findings),
    }


def _interval_cell(interval: Interval | None) -> str:
    if interval is None:
        return "none"
    if interval.method == "given" or not bounded(interval):
        return f"{interval.estimate:.4g}"
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _comparison(name: str, test: DriftTest) -> str:
    values = f"distance {test.value:.3f} from the scores before"
    if name == "auc_pu":
        values = f"{test.value:.3f}, before {test.before:.3f}, difference {test.difference:+.3f}"
    word = "drift" if test.drifted else "no drift"
    return f"{values}; {word} (p = {test.p_value:.2g}, limit {test.limit:.2g})"


def monitor_page(state: MonitorState, **about: Any) -> str:
    """Return a page: a timeline, the comparison of the last partition, and a table of all."""
    from purecover.html import svg
    from purecover.html.page import make_page

    if not state.partitions:
        raise InvalidInputError("ScoreMonitor.to_html needs a partition; add one first.")
    verdict, *more = statement(state)
    shown = state.partitions[-MOST_PARTITIONS:]
    names, drifted = [part.name for part in shown], [part.drifted for part in shown]
    cautions = [Caution("warning", [], f"Warning: {verdict}")] if drifted[-1] else []
    alphas = [part.alpha for part in shown]
    areas: dict[str, tuple[str, list[Interval | None]]] = {
        "observed": ("observed AUC", [part.auc_pu for part in shown]),
        "recovered": ("corrected AUC", [part.auc for part in shown]),
    }
    lines = [svg.make_timeline("AUC", names, areas, drifted)]
    if any(alpha is not None and alpha.method != "given" for alpha in alphas):
        lines.append(svg.make_timeline("Alpha", names, {"recovered": ("alpha", alphas)}, drifted))
    timeline: list[Part] = [Live("timeline", {"line": line}) for line in lines]
    if left_out := len(state.partitions) - len(shown):
        earlier = f"The newest partitions; {left_out} earlier ones are not shown."
        timeline = [Note(earlier, "fine"), *timeline]
    document = Document(
        "Scores over time",
        Headline([verdict], [f"{_total(state)}.", *more], cautions),
        [],
        [
            Section(timeline, "timeline", "Timeline"),
            Section([_table(shown[::-1])], "partitions", "Partitions, the newest first"),
        ],
    )
    return make_page(document, about, data=(state.counts, None))  # type: ignore[arg-type]
