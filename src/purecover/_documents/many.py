"""The headline and the titles of a table of many reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from purecover._documents.formats import capitalized, number_of, percent
from purecover._documents.headline import NO_FINDING, RANDOM_LABELS_UNSEEN
from purecover._documents.parts import Caution, Headline
from purecover.checks.base import REGISTRY
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.report.many import ManyReports, ManyRow


def many_headline(many: ManyReports) -> Headline:
    """Say how many rows there are, what their intervals cover, and what to mind."""
    done = many.evaluated
    tasks, scores = {row.task for row in many}, {row.score for row in many}
    lead = f"{len(done):,} of {number_of(len(many), 'row')} evaluated: "
    lead += f"{number_of(len(tasks), 'task')}, {number_of(len(scores), 'column')} of scores."
    found = Counter(finding for row in done for finding in row.findings if finding[1] != "note")
    cautions = [
        Caution(
            how,
            [],
            f"{capitalized(how)} in {number_of(n, 'row')}: {REGISTRY[code].title} ({code}).",
        )
        for (code, how), n in sorted(found.items(), key=lambda each: -each[1])
        if code in REGISTRY
    ]
    more = ["The best of many is best partly by luck.", *cautious_note(many)]
    if many.simultaneous is None:
        level = percent(many.confidence_level)
        more.append(f"Each interval holds by itself with {level}, so that of many some miss.")
    quiet = Caution("", [], f"{NO_FINDING} {RANDOM_LABELS_UNSEEN}.")
    return Headline([lead], more, cautions or [quiet])


def many_titles(many: ManyReports) -> dict[str, str]:
    """Titles of the metrics; the AUC is called cautious if that of a row is."""
    titles = {name: METRICS[name].title for name in many.metrics}
    if cautious_note(many):
        titles["roc_auc"] += ", cautious"
    return titles


def cautious_note(many: ManyReports) -> list[str]:
    """A sentence on cautious AUCs, if there are any."""
    text = "The AUC is cautious where alpha is not sure: it goes only part of the way from the "
    text += "observed one. All other figures take alpha and beta as estimated."
    return [text] if any(map(_is_cautious, many.evaluated)) else []


def _is_cautious(row: ManyRow) -> bool:
    """Whether the AUC is nearer to the observed one than alpha and beta as estimated imply."""
    p, seen = row.proportions, row.observed.get("roc_auc")
    if p is None or seen is None or row.estimated_from is None:
        return False
    return row.recovered["roc_auc"] < min(0.5 + (seen - 0.5) / p.delta, 1.0) - 1e-9
