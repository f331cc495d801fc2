"""The document of a table of many reports."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from purecover.checks.base import REGISTRY
from purecover.documents.formats import (
    bounded,
    cut,
    from_to,
    number,
    number_of,
    percent,
    precise,
)
from purecover.documents.parts import Block, Caution, Headline, Row, Table
from purecover.documents.summary import NO_FINDING, RANDOM_LABELS_UNSEEN, SCOPE
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.report.many import ManyReports, ManyRow

_SHOWN_ROWS, _SHOWN_CONTRADICTED, _SHOWN_FAILURES = 10, 3, 5
_LONGEST = 20


def many_headline(many: ManyReports) -> Headline:
    """Say how many rows there are, what their intervals cover, and what to mind."""
    found = Counter(each for row in many.evaluated for each in row.findings if each[1] != "note")
    cautions = [
        Caution(how, [], f"Warning in {number_of(n, 'row')}: {REGISTRY[code].title} ({code}).")
        for (code, how), n in sorted(found.items(), key=lambda each: -each[1])
        if code in REGISTRY
    ]
    quiet = Caution("", [], f"{NO_FINDING} {RANDOM_LABELS_UNSEEN}.")
    return Headline([_sizes(many)], [_interval_note(many), SCOPE], cautions or [quiet])


def _sizes(many: ManyReports) -> str:
    tasks, scores = {row.task for row in many}, {row.score for row in many}
    of = f"{number_of(len(tasks), 'task')}, {number_of(len(scores), 'score')}"
    return f"{of}: {len(many.evaluated):,} of {number_of(len(many), 'row')} evaluated."


def _interval_note(many: ManyReports) -> str:
    estimated = sum(row.estimated_from is not None for row in many.evaluated)
    text = f"Alpha: estimated in {number_of(estimated, 'row')}." if estimated else "Alpha: given."
    level = percent(many.confidence_level)
    return f"{text} Each {level} interval covers by itself: of many some miss."


def many_titles(many: ManyReports) -> dict[str, str]:
    """Titles of the metrics."""
    return {name: METRICS[name].title for name in many.metrics}


def many_blocks(many: ManyReports) -> list[Block]:
    """Return the best rows, rows without a result, and warnings; about twenty lines."""
    said = many_headline(many)
    blocks: list[Block] = [said.lead]
    if many.evaluated:
        blocks += [said.more, [_table(many)], _left_out(many)]
    if failed := many.failed:
        lines = [f"Not evaluated: {number_of(len(failed), 'row')}"]
        shown = failed[:_SHOWN_FAILURES]
        lines += [f"  {_short(row.task)}, {_short(row.score)}: {row.reason}" for row in shown]
        if len(failed) > _SHOWN_FAILURES:
            lines.append(f"  ... and {len(failed) - _SHOWN_FAILURES:,} more, see failed")
        blocks.append(lines)
    return [*blocks, said.cautions] if many.evaluated else blocks


def _shown(many: ManyReports) -> tuple[ManyRow, ...]:
    """The best rows, and a few of those that alpha and beta contradict."""
    unfit = [row for row in many if row.contradicted]
    kept = many.top(_SHOWN_ROWS, many.metrics[0])
    kept = kept[: _SHOWN_ROWS - min(len(unfit), _SHOWN_CONTRADICTED)]
    return (*kept, *unfit[: _SHOWN_ROWS - len(kept)]) or many.evaluated[:_SHOWN_ROWS]


def _table(many: ManyReports) -> Table:
    first, *others = many.metrics[:3]
    columns = {"score": "Score", "labeled": "Labeled", "alpha": "Alpha", "observed": "Observed"}
    columns |= {
        first: METRICS[first].title,
        "interval": f"{percent(many.confidence_level)} interval",
    }
    columns |= {name: METRICS[name].title for name in others}
    return Table("", columns, [_row(row, first, others) for row in _shown(many)])


def _row(row: ManyRow, first: str, others: list[str]) -> Row:
    alpha = math.nan if row.proportions is None else row.proportions.alpha
    cells = {
        "score": _short(row.score),
        "labeled": f"{row.n_labeled:,.5g}",
        "alpha": number(alpha, 3),
        "observed": number(row.observed[first], 3),
        "interval": "" if row.contradicted else from_to(row.intervals.get(first)),
    }
    for name in (first, *others):
        interval = row.intervals.get(name)
        value = precise(row.recovered[name], interval if bounded(interval) else None)
        cells[name] = "-" if row.contradicted else value
    return Row(_short(row.task), cells)


def _left_out(many: ManyReports) -> list[str]:
    lines = []
    if rest := len(many.evaluated) - len(_shown(many)):
        lines.append(f"... and {rest:,} more (shown: the best by {METRICS[many.metrics[0]].title})")
    if unfit := [row for row in many if row.contradicted]:
        rows = number_of(len(unfit), "row")
        lines.append(
            f"Alpha and beta contradict the scores in {rows} (-); other scores of the same task "
            "use them too."
        )
    return lines


def _short(value: object) -> str:
    return cut(" ".join(str(value).split()), _LONGEST)
