"""What bands of curves are made of."""

from __future__ import annotations

import numpy as np

from purecover._typing import FloatArray
from purecover.counts import ScoreCounts
from purecover.proportions import MixtureProportions
from purecover.recovery._roc import RecoveredRoc
from purecover.recovery._variance import effective_size

GRID = np.linspace(0.0, 1.0, 201)
"""False-positive rates of an ROC band; recalls of a precision-recall band, but for 0."""


def simultaneous_depth(draws: FloatArray, ordered: FloatArray, level: float) -> int:
    """How many draws to leave out at either side so that whole curves stay inside.

    A curve lies between the k-th lowest and the k-th highest value everywhere if and only
    if its smallest depth over the grid is at least k.
    """
    n, width = draws.shape
    smallest = np.full(n, n)
    for j in range(width):
        at_or_below = np.searchsorted(ordered[:, j], draws[:, j], side="right")
        at_or_above = n - np.searchsorted(ordered[:, j], draws[:, j], side="left")
        np.minimum(smallest, np.minimum(at_or_below, at_or_above), out=smallest)
    # The largest k that a share of `level` of the curves still reaches.
    return max(int(np.sort(smallest)[int(np.floor((1 - level) * n))]), 1)


def _unseen(size: float, level: float) -> float:
    """Upper limit of a share that no example of a sample showed (Clopper and Pearson)."""
    return float(1 - ((1 - level) / 2) ** (1 / size))


def highest_tpr(counts: ScoreCounts, proportions: MixtureProportions, level: float) -> FloatArray:
    """What a lower limit of the tpr may not exceed: resampling cannot see what no example shows.

    Where every labeled score is above the threshold, so is every resampled one, and the band
    would have no width.
    """
    size = effective_size(counts.n_labeled, counts.labeled_sq)
    lost = (1 - proportions.alpha) / proportions.delta * _unseen(size, level)
    return np.full(GRID.size, max(1 - lost, 0.0))


def highest_precision(
    counts: ScoreCounts, proportions: MixtureProportions, level: float, prior: float
) -> FloatArray:
    """The same for precision, where no unlabeled score is above the threshold."""
    size = effective_size(counts.n_unlabeled, counts.unlabeled_sq)
    fpr = proportions.beta / proportions.delta * _unseen(size, level)
    recall = GRID[1:]
    return np.asarray(prior * recall / (prior * recall + (1 - prior) * fpr))


def precision_line(roc: RecoveredRoc, prior: float) -> FloatArray:
    """Precision at each recall of the grid, through the ROC curve, whose lines are straight."""
    recall = GRID[1:]
    after = np.searchsorted(roc.tpr, recall, side="left").clip(1, roc.tpr.size - 1)
    start, end = roc.tpr[after - 1], roc.tpr[after]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(end > start, (recall - start) / (end - start), 1.0)
        fpr = roc.fpr[after - 1] + share * (roc.fpr[after] - roc.fpr[after - 1])
        precision = prior * recall / (prior * recall + (1 - prior) * fpr)
    return np.asarray(np.nan_to_num(precision, nan=0.0), dtype=np.float64)
