"""Counts in bins of a fixed grid, so that counts of different days add up."""

from __future__ import annotations

from typing import Any

import numpy as np

from purecover._typing import FloatArray
from purecover.counts import ScoreCounts

_SIGN = np.uint64(1 << 63)
_HALF = np.uint64(0x3FE0_0000_0000_0000 | 1 << 63)  # the key of 0.5
_SHIFT = np.uint64(52 << 52)  # room that the numbers from 0.5 to 1 take beyond their own


def bin_counts(counts: ScoreCounts, max_thresholds: int) -> ScoreCounts:
    """Merge neighboring scores until at most ``max_thresholds`` are left.

    Bins are cells of one tree of nested intervals, all of one depth. Bins cut at quantiles of each
    day would overlap the bins of the next day; cells of two days are equal, nested or disjoint.
    """
    shift = 0
    while counts.n_thresholds > max_thresholds:
        shift += 1
        low, high = (
            _keys(scores) >> np.uint64(shift) for scores in (counts.thresholds, counts._tops())
        )
        counts = counts._grouped(np.flatnonzero(np.append(True, high[1:] != low[:-1])))
    return counts


def _keys(scores: FloatArray) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return whole numbers in the order of the scores, whose leading digits name cells.

    Doubles get denser towards 0; between 0.5 and 1 the cells get denser towards 1, where
    probabilities crowd. There ``1 - score`` is exact.
    """
    above = (scores >= 0.5) & (scores < 1)
    bits = np.where(above, 1 - scores, scores + 0.0).view(np.uint64)
    keys = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    keys = np.where(above, _HALF + (_HALF - np.where(above, keys, _HALF)), keys)
    most = np.uint64(2**64 - 1) - _SHIFT
    return np.where(scores >= 1, np.minimum(keys, most) + _SHIFT, keys)
