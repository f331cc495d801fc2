"""Counts of the two samples that estimators compare, and of replicates of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._typing import ArrayLike, CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.exceptions import IdentifiabilityError
from purecover.recovery.rates import effective_sizes

FEW_LABELED, FEW_UNLABELED = 50, 100
TOO_FEW_LABELED = 10
"""With fewer, not even the interval of an estimate can be relied on."""


def read_both_sides(
    scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    """Count scores and labels; refuse data without labeled or without unlabeled rows."""
    counts = ScoreCounts._of(scores, labeled, sample_weight=sample_weight)
    for side, total in (("labeled", counts.n_labeled), ("unlabeled", counts.n_unlabeled)):
        if not total > 0:
            raise valid.bad_value("labeled", f"such that a row is {side}", "none")
    return counts


def check_both_sides(counts: ScoreCounts) -> None:
    """Refuse counts of one sample only, and counts of a constant score."""
    read_both_sides(counts, None, None)
    used = (counts.labeled > 0) | (counts.unlabeled > 0)
    if int(used.sum()) < 2:
        raise IdentifiabilityError(
            f"{{function}} needs scores that differ, got {counts.thresholds[used][0]:g} "
            "throughout: a constant score says nothing about alpha and beta."
        )


def weight_units(counts: ScoreCounts) -> tuple[float, float]:
    """Effective rows for each unit of weight on either side; 1 without weights."""
    n_labeled, n_unlabeled = effective_sizes(counts)
    return n_labeled / counts.n_labeled, n_unlabeled / counts.n_unlabeled


def common_notes(data: Any) -> tuple[str, ...]:
    """Warn of small samples, and of labeled rows that do not score higher."""
    n_labeled, n_unlabeled = data.n_labeled, data.n_unlabeled
    notes = []
    if n_labeled < FEW_LABELED or n_unlabeled < FEW_UNLABELED:
        only = f"only {n_labeled:,.10g} labeled and {n_unlabeled:,.10g} unlabeled rows"
        advice = "and so is its interval" if n_labeled < TOO_FEW_LABELED else "read its interval"
        notes.append(f"{only}: the estimate is rough, {advice}")
    if isinstance(data, ScoreCounts) and data.ordered_pairs <= 0.5 * n_labeled * n_unlabeled:
        notes.append(
            "labeled rows do not score higher than unlabeled ones (AUC at most 1/2): inverted "
            "labels or scores, or a classifier without skill"
        )
    return tuple(notes)


def replicates_of(
    counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
) -> Iterator[ScoreCounts]:
    """Yield each replicate as counts of its own.

    A replicate has the same squared weight for each unit of weight as the data.
    """
    for own in zip(labeled, unlabeled, strict=True):
        squares: dict[str, Any] = {}
        for name, tally in zip(("labeled", "unlabeled"), own, strict=True):
            if (square := getattr(counts, f"{name}_sq")) is not None:
                everyone = getattr(counts, name)
                squares[f"{name}_sq"] = tally * (square / np.where(everyone > 0, everyone, np.inf))
        yield ScoreCounts(thresholds=counts.thresholds, labeled=own[0], unlabeled=own[1], **squares)


def row_shares(tallies: CountArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Shares at or above each threshold for each row of counts, and the effective sizes of rows.

    ``unit`` is the number of effective rows for each unit of weight in the data.
    """
    shares = np.cumsum(tallies, axis=1, dtype=np.float64)
    totals = shares[:, -1].copy()
    with np.errstate(invalid="ignore"):  # an empty replicate has no shares, and no estimate
        shares /= totals[:, None]
    return shares, totals * unit
