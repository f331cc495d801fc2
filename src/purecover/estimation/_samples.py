"""The two samples an estimator is given: read, refused, remarked on, exchanged, drawn again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from purecover._typing import ArrayLike, CountArray, FloatArray, IntArray
from purecover._validation import bad_type, bad_value
from purecover.counts import ScoreCounts
from purecover.exceptions import IdentifiabilityError, InvalidInputError

__all__ = ["flipped_counts"]

FEW_LABELED, FEW_UNLABELED = 50, 100
TOO_FEW_LABELED = 10
"""With fewer, not even the interval of an estimate can be relied on."""


def read_counts(
    function: str, scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    """Counts of what an estimator was given, or those counts themselves."""
    if isinstance(scores, ScoreCounts):
        if labeled is not None or sample_weight is not None:
            raise InvalidInputError(
                f"{function} takes no labels or weights beside a ScoreCounts, which holds them."
            )
        return scores
    if labeled is None:
        raise bad_type(
            function,
            "labeled",
            "an array: for each score, whether the example carries the label",
            labeled,
            "requires y to be passed, but the target y is None",
        )
    # In the name of the estimator; a column, as scikit-learn's transformers give it, is welcome.
    return ScoreCounts._from_rows(
        function,
        {"scores": scores},
        labeled,
        sample_weight=sample_weight,
        positive_label=None,
        negative_label=None,
    )


def check_both_sides(function: str, counts: ScoreCounts) -> None:
    """Refuse counts from which nobody can tell anything."""
    for side, total in (("labeled", counts.n_labeled), ("unlabeled", counts.n_unlabeled)):
        if not total > 0:
            raise bad_value(function, "labeled", f"such that an example is {side}", "none")
    used = (counts.labeled > 0) | (counts.unlabeled > 0)
    if int(used.sum()) < 2:
        raise IdentifiabilityError(
            f"{function} needs scores that differ, got {counts.thresholds[used][0]:g} throughout: "
            "a constant score says nothing about alpha and beta."
        )


def size_notes(n_labeled: float, n_unlabeled: float) -> tuple[str, ...]:
    """What to say of samples that are small."""
    if n_labeled >= FEW_LABELED and n_unlabeled >= FEW_UNLABELED:
        return ()
    only = f"only {n_labeled:g} labeled and {n_unlabeled:g} unlabeled examples"
    if n_labeled < TOO_FEW_LABELED:
        return (f"{only}: the estimate is rough, and so is its interval",)
    return (f"{only}: the estimate is rough, read its interval",)


def common_notes(counts: ScoreCounts) -> tuple[str, ...]:
    """What to say of samples whatever the estimator."""
    notes = list(size_notes(counts.n_labeled, counts.n_unlabeled))
    if counts.ordered_pairs <= 0.5 * counts.n_labeled * counts.n_unlabeled:
        notes.append(
            "labeled examples do not score higher than unlabeled ones (AUC at most 1/2): inverted "
            "labels or scores, or a classifier without skill"
        )
    return tuple(notes)


def flipped_counts(counts: ScoreCounts) -> ScoreCounts:
    """Labeled and unlabeled exchanged and scores negated, which maps (a, b) to (b, a)."""
    squares = (
        None if tally is None else tally[::-1] for tally in (counts.unlabeled_sq, counts.labeled_sq)
    )
    labeled_sq, unlabeled_sq = squares
    return ScoreCounts(
        thresholds=-counts.thresholds[::-1],
        labeled=counts.unlabeled[::-1],
        unlabeled=counts.labeled[::-1],
        labeled_sq=labeled_sq,
        unlabeled_sq=unlabeled_sq,
    )


def replicates_of(
    counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
) -> Iterator[ScoreCounts]:
    """Replicates as counts of their own, for what treats them one by one."""
    labeled_unit = _squares(counts.labeled, counts.labeled_sq)
    unlabeled_unit = _squares(counts.unlabeled, counts.unlabeled_sq)
    for few, many in zip(labeled, unlabeled, strict=True):
        yield ScoreCounts(
            thresholds=counts.thresholds,
            labeled=few,
            unlabeled=many,
            labeled_sq=None if labeled_unit is None else few * labeled_unit,
            unlabeled_sq=None if unlabeled_unit is None else many * unlabeled_unit,
        )


def _squares(tally: CountArray, squares: FloatArray | None) -> FloatArray | None:
    """Squared weight for each unit of weight at each threshold; None without weights."""
    if squares is None:
        return None
    return np.divide(squares, tally, out=np.zeros(squares.size), where=tally > 0)


def group_starts(counts: ScoreCounts, thinned: ScoreCounts) -> IntArray:
    """Where the groups start into which the thresholds of counts were merged by thinning."""
    # Thresholds decrease and each group keeps its lowest, where the next one starts.
    ends = np.searchsorted(-counts.thresholds, -thinned.thresholds)
    return np.concatenate(([0], ends[:-1] + 1))
