"""Counts in bins of a grid that no data choose, so that those of different days add up.

Bins cut at quantiles of each day would overlap those of the next; added up, overlapping bins are
one, and after some days little would be left. Here a bin is a cell of one fixed tree of nested
intervals, and cells of any two days are the same, nested or apart.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from purecover._counting import FIELDS
from purecover._typing import BoolArray, FloatArray
from purecover.counts import ScoreCounts

__all__ = ["binned"]

Keys = np.ndarray[Any, np.dtype[np.uint64]]

_SIGN = np.uint64(1 << 63)
_HALF = np.uint64(0x3FE0_0000_0000_0000 | 1 << 63)  # the key of 0.5
_SHIFT = np.uint64(52 << 52)  # how much room the numbers from 0.5 to 1 take beyond their own


def binned(counts: ScoreCounts, max_thresholds: int) -> ScoreCounts:
    """Counts in at most so many bins, none of which has much more than its share; or as they are.

    Bins are cells of the tree of all doubles (halved by sign, exponent and digits), as large as
    they can be with at most a certain share of the labeled and unlabeled examples. Where one
    score has more, it stays alone.
    """
    share = 1 / max_thresholds
    while counts.n_thresholds > max_thresholds:
        counts = _merged(counts, _first_of_cells(counts, share))
        share *= math.sqrt(2)
    return counts


def _first_of_cells(counts: ScoreCounts, share: float) -> BoolArray:
    """Which thresholds, from the highest, start a bin."""
    first = np.ones(counts.n_thresholds, dtype=np.bool_)
    if share >= 1:
        first[1:] = False
        return first
    tallies = [t for t in (counts.labeled, counts.unlabeled, counts.negative) if t is not None]
    mass = np.mean([t / max(t.sum(), 1e-300) for t in tallies], axis=0)
    total = np.append(0.0, np.cumsum(mass))
    low, high = _keys(counts.thresholds), _keys(counts._tops())
    for shift in range(64):
        level = np.uint64(shift)
        # A bin that lies across the end of a cell makes one of the two.
        joined = np.append(False, (high[1:] >> level) == (low[:-1] >> level))
        if not joined.any():
            continue
        starts = np.flatnonzero(~joined)
        small = np.diff(np.append(total[starts], total[-1])) <= share
        first &= ~(joined & small[np.cumsum(~joined) - 1])
    return first


def _keys(scores: FloatArray) -> Keys:
    """Whole numbers in the order of the scores, whose leading digits name cells of the tree.

    Doubles lie ever closer towards 0; between 0.5 and 1 cells shall do so towards 1, where
    probabilities crowd. There 1 - score is exact.
    """
    above = (scores >= 0.5) & (scores < 1)
    bits = np.where(above, 1 - scores, scores + 0.0).view(np.uint64)
    keys = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    keys = np.where(above, _HALF + (_HALF - np.where(above, keys, _HALF)), keys)
    most = np.uint64(2**64 - 1) - _SHIFT
    return np.where(scores >= 1, np.minimum(keys, most) + _SHIFT, keys)


def _merged(counts: ScoreCounts, first: BoolArray) -> ScoreCounts:
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], first.size) - 1
    columns: dict[str, Any] = {"thresholds": counts.thresholds[ends]}
    for name in FIELDS:
        tally = getattr(counts, name)
        columns[name] = None if tally is None else np.add.reduceat(tally, starts)
    highest = counts._tops()[starts]
    if not np.array_equal(highest, columns["thresholds"]):
        columns["highest"] = highest
    return ScoreCounts(**columns)
