"""Bins of the scores, as AlphaMax needs them.

A binning is a list of starts: bin i holds the thresholds from ``starts[i]`` up to, not including,
``starts[i + 1]``, in the decreasing order of :class:`~purecover.counts.ScoreCounts`. It is made
once from the data; replicates, which share the thresholds, are added up over the same bins.
"""

from __future__ import annotations

import math

import numpy as np

from purecover._typing import CountArray, FloatArray, IndexArray
from purecover.counts import ScoreCounts
from purecover.recovery.rates import effective_sizes

# Examples that a merged bin holds at least; or a fifth of all, where that is fewer. Of the
# labeled, the square root of all if that is more, so that large samples have small errors.
ENOUGH_LABELED, ENOUGH_UNLABELED = 20.0, 5.0
# Sums of weights are rounded.
_WIDTH_ROUNDING = 1e-6


def bin_starts(counts: ScoreCounts, *, merged: bool) -> IndexArray:
    """Where the bins begin: increasing, the first is 0.

    Bins are of one width, from :func:`released_width` of the labeled scores; those that hold
    nothing are left out. Merged ones are joined with their lower neighbors until each holds
    enough rows of both samples.
    """
    some = np.flatnonzero(counts.labeled)
    labeled = counts.thresholds[some]
    # Squares of scores as large or small as these must neither overflow nor vanish.
    largest = float(np.abs(labeled[[0, -1]]).max())
    unit = 1.0 if 1e-100 < largest < 1e100 else max(largest, 1e-300)
    width = released_width(labeled / unit, counts.labeled[some], effective_sizes(counts)[0])
    with np.errstate(over="ignore", invalid="ignore"):
        scores = counts.thresholds / unit
        used = np.flatnonzero((counts.labeled > 0) | (counts.unlabeled > 0))
        top, bottom = scores[used[0]], scores[used[-1]]
        if width == 0.0:  # one labeled score has no spread: a tenth of the range has to serve
            width = max((top - bottom) / 10, np.finfo(float).tiny)
        # From an outlier far below, a float could not distinguish the bins above.
        anchor = bottom if (top - bottom) / width < 2**40 else labeled[-1] / unit
        # Scores just below an edge, by a rounding error of their own, are on it.
        place = np.floor((scores - anchor) / width + 1e-9)
    starts = np.concatenate(([0], np.flatnonzero(place[1:] != place[:-1]) + 1))
    return _merged(counts, starts) if merged else starts


def binned(tally: CountArray, starts: IndexArray) -> FloatArray:
    """Counts per bin; ``tally`` may hold one replicate per row."""
    return np.add.reduceat(np.asarray(tally), starts, axis=-1).astype(np.float64)


def released_width(scores: FloatArray, tally: CountArray, size: float) -> float:
    r"""Scott's bin width, rounded as the released code of AlphaMax has it.

    Parameters
    ----------
    scores, tally : ndarray
        Distinct scores and their counts.
    size : float
        Effective size of the sample.

    Returns
    -------
    float
        :math:`3.5\,s\,n^{-1/3}` rounded to 1, 2, 3 or 5 times a power of ten; 0 if all scores
        are equal.
    """
    total = float(tally.sum())
    mean = float((tally * scores).sum()) / total
    variance = float((tally * np.square(scores - mean)).sum()) / total
    # A spread of rounding errors only is none.
    if size <= 1 or variance <= (1e-12 * max(abs(mean), 1e-290)) ** 2:
        return 0.0
    width = 3.5 * math.sqrt(variance * size / (size - 1)) * size ** (-1 / 3)
    power = 10.0 ** math.floor(math.log10(width))
    digits = ((1, 1.5), (2, 2.5), (3, 4.0), (5, 7.5))
    digit = next((d for d, end in digits if width / power < end), 10)
    return digit * power


def _merged(counts: ScoreCounts, starts: IndexArray) -> IndexArray:
    """Join bins from the top down; what is left at the bottom is a bin too, if it can be.

    A bin ends at an edge of those it is made of; or, if only unlabeled rows are wanting, as
    soon as there are enough, since a whole bin more could bring very many of them. If a single
    score would, the bin does without.
    """
    n_labeled, n_unlabeled = effective_sizes(counts)
    labeled = _cumulated(counts.labeled, n_labeled)
    unlabeled = _cumulated(counts.unlabeled, n_unlabeled)
    enough = max(ENOUGH_LABELED, math.sqrt(n_labeled))
    least_labeled = max(1.0, min(enough, n_labeled // 5))
    least_unlabeled = max(1.0, min(ENOUGH_UNLABELED, n_unlabeled // 5))
    at_edges = labeled[starts]
    kept = [0]
    while True:
        begin = kept[-1]
        edge = int(np.searchsorted(at_edges, labeled[begin] + least_labeled - _WIDTH_ROUNDING))
        if edge == starts.size:
            break
        wanted = unlabeled[begin] + least_unlabeled - _WIDTH_ROUNDING
        end = int(starts[edge])
        extended = max(end, int(np.searchsorted(unlabeled[:-1], wanted)))
        if unlabeled[extended] - unlabeled[begin] < 2 * least_unlabeled:
            end = extended
        if end >= counts.n_thresholds:
            break
        kept.append(end)
    # Few labeled rows in the last bin do no harm, few unlabeled ones do.
    if len(kept) > 1 and n_unlabeled - unlabeled[kept[-1]] < least_unlabeled - _WIDTH_ROUNDING:
        kept.pop()
    return np.array(kept, dtype=np.intp)


def _cumulated(tally: CountArray, size: float) -> FloatArray:
    """Examples before each threshold, and at last their number."""
    passed = np.append(0.0, np.cumsum(tally))
    return passed * (size / passed[-1])
