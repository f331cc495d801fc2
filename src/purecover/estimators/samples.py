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


def read_counts(
    scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    """Count scores and labels for ``fit(scores, labeled)``; counts are returned unchanged."""
    if labeled is None and not isinstance(scores, ScoreCounts):
        must = "an array: for each score, whether the row carries the label"
        hint = "requires y to be passed, but the target y is None"  # as scikit-learn wants it
        raise valid.bad_type("labeled", must, labeled, hint)
    return ScoreCounts._of(scores, labeled, sample_weight=sample_weight)


def read_both_sides(
    scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    """Count scores and labels; refuse data without labeled or without unlabeled rows."""
    counts = ScoreCounts._of(scores, labeled, sample_weight=sample_weight)
    _check_sides(counts)
    return counts


def _check_sides(counts: ScoreCounts) -> None:
    for side, total in (("labeled", counts.n_labeled), ("unlabeled", counts.n_unlabeled)):
        if not total > 0:
            raise valid.bad_value("labeled", f"such that a row is {side}", "none")


def check_both_sides(counts: ScoreCounts) -> None:
    """Refuse counts of one sample only, and counts of a constant score."""
    _check_sides(counts)
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


def size_notes(n_labeled: float, n_unlabeled: float) -> tuple[str, ...]:
    """Warn of small samples."""
    if n_labeled >= FEW_LABELED and n_unlabeled >= FEW_UNLABELED:
        return ()
    only = f"only {n_labeled:g} labeled and {n_unlabeled:g} unlabeled rows"
    advice = "and so is its interval" if n_labeled < TOO_FEW_LABELED else "read its interval"
    return (f"{only}: the estimate is rough, {advice}",)


def common_notes(data: Any) -> tuple[str, ...]:
    """Warn of small samples, and of labeled rows that do not score higher."""
    notes = size_notes(data.n_labeled, data.n_unlabeled)
    pairs = data.n_labeled * data.n_unlabeled
    if not isinstance(data, ScoreCounts) or data.ordered_pairs > 0.5 * pairs:
        return notes
    note = (
        "labeled rows do not score higher than unlabeled ones (AUC at most 1/2): inverted "
        "labels or scores, or a classifier without skill"
    )
    return (*notes, note)


def replicates_of(
    counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
) -> Iterator[ScoreCounts]:
    """Yield each replicate as counts of its own.

    A replicate has the same squared weight for each unit of weight as the data.
    """
    units = [
        None
        if squares is None
        else np.divide(squares, tally, out=np.zeros(tally.size), where=tally > 0)
        for tally, squares in (
            (counts.labeled, counts.labeled_sq),
            (counts.unlabeled, counts.unlabeled_sq),
        )
    ]
    for sides in zip(labeled, unlabeled, strict=True):
        squares = [None if u is None else side * u for side, u in zip(sides, units, strict=True)]
        yield ScoreCounts(
            thresholds=counts.thresholds,
            labeled=sides[0],
            unlabeled=sides[1],
            labeled_sq=squares[0],
            unlabeled_sq=squares[1],
        )


def merge_replicates(counts: ScoreCounts, thinned: ScoreCounts, tallies: CountArray) -> CountArray:
    """Merge thresholds of replicates as ``counts.thinned`` merged those of the data."""
    # Thresholds decrease and each group keeps its lowest, where the next one starts.
    ends = np.searchsorted(-counts.thresholds, -thinned.thresholds)
    return np.add.reduceat(tallies, np.concatenate(([0], ends[:-1] + 1)), axis=1)


def row_shares(tallies: CountArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Shares at or above each threshold for each row of counts, and the effective sizes of rows.

    ``unit`` is the number of effective rows for each unit of weight in the data.
    """
    shares = np.cumsum(tallies, axis=1, dtype=np.float64)
    totals = shares[:, -1].copy()
    with np.errstate(invalid="ignore"):  # an empty replicate has no shares, and no estimate
        shares /= totals[:, None]
    return shares, totals * unit
