"""The document of a table of many reports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from purecover.checks.base import REGISTRY, count
from purecover.documents.formats import DASH, cut, from_to, number, number_of, percent, precise
from purecover.documents.parts import Caution, Document, Headline, Note, Row, Section, Table, notes
from purecover.documents.summary import NO_FINDING, RANDOM_LABELS_UNSEEN, SCOPE
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.report.many import ManyReports, ManyRow

_MOST_ROWS = 100
"""Rows that are printed."""
MOST_ROWS = 1000
"""Rows of a page; all of them are in the CSV file and in JSON."""
_MAX_NAME = 34
"""Characters of a name on a page."""


def many_document(many: ManyReports) -> Document:
    """Return a table of the rows, rows without a result, and warnings."""
    left_out = max(len(many.evaluated) - MOST_ROWS, 0)
    about = "Observed: with every unlabeled row counted as a negative."
    if left_out:
        about += f" {left_out} more rows are not shown."
    table = many_table(many, many.metrics, MOST_ROWS, _MAX_NAME)
    sections = [
        Section([Note(about, "fine"), table], "rows", "Rows, the most doubtful first"),
        Section(_failed(many, MOST_ROWS), "failed", "Not evaluated"),
    ]
    return Document(
        "Many evaluations",
        many_headline(many, many.metrics),
        _summary(many),
        [each for each in sections if each.parts],
    )


def _summary(many: ManyReports) -> list[Section]:
    said = many_headline(many, many.metrics[:3])
    found = [notes(*said.lead)]
    if many.evaluated:
        lines = []
        if (rest := max(len(many.evaluated), len(many.failed)) - _MOST_ROWS) > 0:
            lines.append(f"... and {rest:,} more rows, which frame() and --json have.")
        if unfit := sum(row.contradicted for row in many):
            lines.append(
                f"Alpha and beta contradict the scores in {number_of(unfit, 'row')} (-); other "
                "scores of the same task use them too."
            )
        table = many_table(many, many.metrics[:3], _MOST_ROWS)
        found += [notes(*said.more), Section([table]), notes(*lines)]
    if many.failed:
        title = Note(f"Not evaluated: {number_of(len(many.failed), 'row')}")
        found.append(Section([title, *_failed(many, _MOST_ROWS)]))
    return [*found, Section(said.cautions)] if many.evaluated else found


def _failed(many: ManyReports, most: int) -> list[Table]:
    """Return a table of the rows without a result, if there are any."""
    rows = [
        Row(f"{_short(row.task)}, {_short(row.score)}", {"why": str(row.reason)})
        for row in many.failed[:most]
    ]
    return [Table("Task, score", {"why": "Why"}, rows, "sentences")] if rows else []


def many_headline(many: ManyReports, metrics: Sequence[str]) -> Headline:
    """Say how many rows there are, what their intervals cover, and what to mind."""
    tasks, scores = {row.task for row in many}, {row.score for row in many}
    of = f"{number_of(len(tasks), 'task')}, {number_of(len(scores), 'score')}"
    lead = f"{of}: {len(many.evaluated):,} of {number_of(len(many), 'row')} evaluated."
    estimated = sum(row.estimated_from is not None for row in many.evaluated)
    alpha = f"Alpha: estimated in {number_of(estimated, 'row')}." if estimated else "Alpha: given."
    level = percent(many.confidence_level)
    more = [f"{alpha} Each {level} interval covers by itself: of many some miss.", SCOPE]
    right = (row.hardly_known for row in many.evaluated if not row.contradicted)
    if set().union(*right) & {*metrics}:
        more[1] += f" {DASH}"
    found = Counter(each for row in many.evaluated for each in row.findings if each[1] != "note")
    cautions = [
        Caution(how, [], f"Warning in {number_of(n, 'row')}: {REGISTRY[code].title} ({code}).")
        for (code, how), n in sorted(found.items(), key=lambda each: -each[1])
        if code in REGISTRY
    ]
    quiet = Caution("", [], f"{NO_FINDING} {RANDOM_LABELS_UNSEEN}.")
    return Headline([lead], more, cautions or [quiet])


def warnings_of(row: ManyRow) -> list[tuple[str, str]]:
    """Return code and severity of the checks that warn of a row."""
    return [(code, how) for code, how in row.findings if how != "note"]


def many_table(many: ManyReports, metrics: Sequence[str], most: int, longest: int = 20) -> Table:
    """Return the most doubtful rows in some metrics; names have a length at most."""
    titles = {name: METRICS[name].title for name in metrics}
    ordered = sorted(  # rows without a warning keep their order
        many.evaluated, key=lambda row: (not row.contradicted, -len(warnings_of(row)))
    )
    columns = {"score": "Score", "labeled": "Labeled", "alpha": "Alpha", "observed": "Observed"}
    columns |= dict(list(titles.items())[:1])
    columns |= {"interval": f"{percent(many.confidence_level)} interval", **titles}
    if any(map(warnings_of, ordered)):
        columns["warnings"] = "Warnings"
    rows = []
    for row in ordered[:most]:
        cells = {
            "score": _short(row.score, longest),
            "labeled": count(row.n_labeled),
            "alpha": number(math.nan if row.proportions is None else row.proportions.alpha, 3),
            "observed": number(row.observed[metrics[0]], 3),
            "interval": "" if row.contradicted else from_to(row.intervals.get(metrics[0])),
            "warnings": " ".join(code for code, _ in warnings_of(row)),
        }
        for name in metrics:
            value = precise(row.recovered[name], row.intervals.get(name))
            cells[name] = "-" if row.contradicted or name in row.hardly_known else value
        rows.append(Row(_short(row.task, longest), {key: cells[key] for key in columns}))
    return Table("", columns, rows, head="Task", strong=tuple(metrics[:1]))


def _short(value: object, longest: int = 20) -> str:
    return cut(" ".join(str(value).split()), longest)
