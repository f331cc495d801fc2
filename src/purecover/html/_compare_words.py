"""What a comparison shows and says, in text and on its page."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from purecover.intervals._interval import Interval
    from purecover.report._comparison import ScoreComparison

__all__ = ["findings_by_score", "lead_in_auc", "notes_of", "shown_in_short"]

_SHORT = ("roc_auc", "auc_pr", "recall", "specificity", "precision", "f1", "mcc")
_ALIKE = 3
"""Most messages of one check with a row each; of more, the first stands for all."""
_ASKED = ("f_beta", "cost", "precision_at_k", "recall_at_k")


def shown_in_short(comparison: ScoreComparison) -> list[str]:
    """The metrics worth a block: the main ones, and those whose parameters the caller has set."""
    options = comparison.reports[comparison.baseline].metrics.options
    unset = {
        "f_beta": options.f_beta == 1,
        "cost": options.cost_fn == options.cost_fp == 1,
    }
    asked = [name for name in _ASKED if name in comparison.differences and not unset.get(name)]
    return [*_SHORT, *asked]


def notes_of(comparison: ScoreComparison) -> list[str]:
    """What a reader must know to read the differences right."""
    chosen = comparison.reports[comparison.baseline].threshold_chosen
    others = len(comparison.reports) - 1
    notes = [f"Differences are from {comparison.baseline}, on the same rows."]
    if others > 1 and comparison.simultaneous:
        notes.append(f"Their intervals hold for all {others} differences in a metric at once.")
    elif others > 1:
        notes.append(
            f"Each interval holds by itself: with {others} differences in a metric, one may miss "
            "though no model is better (simultaneous intervals allow for that)."
        )
    if comparison.n_resamples:
        notes.append(
            f"Better: the share of {comparison.n_resamples:,} replicates in which the score is "
            "better than the baseline; it is no p-value."
        )
    if not chosen:
        notes.append("Threshold metrics are taken where each score has its highest Youden index.")
    return notes


def findings_by_score(comparison: ScoreComparison) -> list[tuple[str, str, str, str, list[str]]]:
    """Code, severity, message, hint and scores of checks that spoke, the gravest first."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for name, report in comparison.reports.items():
        for check in report.findings:
            key = (check.code, check.severity, check.message, check.hint or "")
            found.setdefault(key, []).append(name)
    order = ("error", "warning", "note")
    listed = sorted(found.items(), key=lambda item: (order.index(item[0][1]), item[0][0]))
    out = []
    for (code, severity), group in groupby(listed, key=lambda item: item[0][:2]):
        rows = [(*key, names) for key, names in group]
        if len(rows) > _ALIKE:
            # They differ in figures that each report has; read one by one they say one thing.
            spoken = {name for row in rows for name in row[-1]}
            names = [name for name in comparison.reports if name in spoken]
            _, _, message, hint, first = next(row for row in rows if names[0] in row[-1])
            others = len(names) - len(first)
            message = f"{message} (Figures of {first[0]}; {others} others have their own.)"
            rows = [(code, severity, message, hint, names)]
        out += rows
    return out


def lead_in_auc(comparison: ScoreComparison, best: str, rival: str) -> Interval:
    """How far one score is ahead of another, of which one is the baseline."""
    if rival == comparison.baseline:
        return comparison.differences["roc_auc"][best]
    # The same difference from the other side.
    seen = comparison.differences["roc_auc"][rival]
    return replace(seen, estimate=-seen.estimate, low=-seen.high, high=-seen.low)
