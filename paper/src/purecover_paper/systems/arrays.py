"""Types of arrays, and counts of replicates merged or weighed like those of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from purecover import ScoreCounts

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
CountArray = NDArray[Any]
RandomState = int | np.random.Generator | None


def weight_units(counts: ScoreCounts) -> tuple[float, float]:
    """Effective rows for each unit of weight on either side; 1 without weights."""
    labeled_sq, unlabeled_sq = counts.labeled_sq, counts.unlabeled_sq
    return (
        1.0 if labeled_sq is None else float(counts.n_labeled / labeled_sq.sum()),
        1.0 if unlabeled_sq is None else float(counts.n_unlabeled / unlabeled_sq.sum()),
    )


def group_starts(counts: ScoreCounts, thinned: ScoreCounts) -> IntArray:
    """Index of the first threshold of each group that ``counts.thinned`` made."""
    # Thresholds decrease and each group keeps its lowest, where the next one starts.
    ends = np.searchsorted(-counts.thresholds, -thinned.thresholds)
    return np.concatenate(([0], ends[:-1] + 1))


def merge_replicates(counts: ScoreCounts, thinned: ScoreCounts, tallies: CountArray) -> CountArray:
    """Merge thresholds of replicates as ``counts.thinned`` merged those of the data."""
    return np.add.reduceat(tallies, group_starts(counts, thinned), axis=1)
