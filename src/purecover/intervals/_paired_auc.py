"""The observed AUC of several models on the same rows, and how far apart they are.

DeLong's variance, by the part each row has in it, so that differences between models and rows
that depend on each other are treated alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from purecover._typing import BoolArray, FloatArray, IntArray
from purecover.counts import ScoreCounts

__all__ = ["RowwiseAuc", "cellwise_auc", "rowwise_auc"]


@dataclass(frozen=True, eq=False)
class RowwiseAuc:
    r"""The observed AUC and the part of each row in its error.

    Attributes
    ----------
    auc_pu : float
        Area under the observed ROC curve.
    parts : ndarray of shape (n,)
        :math:`(V_i - A)/n_L` for a labeled row with the share :math:`V_i` of unlabeled rows
        below it, :math:`(V_j - A)/n_U` for an unlabeled one with the share of labeled rows above.
        With weights, :math:`w_i (V_i - A)/\sum w`.
    labeled : ndarray of bool
        Which rows are labeled.
    weight : ndarray of shape (n,) or None
        Weights of the rows.
    times : ndarray of shape (n,) or None
        How many rows each stands for, all with the part given.
    """

    auc_pu: float
    parts: FloatArray
    labeled: BoolArray
    weight: FloatArray | None = None
    times: IntArray | None = None

    def error(self, groups: IntArray | None = None) -> float:
        """Standard error; rows of one group count together."""
        return self._error_of(self.parts, groups)

    def gain_over(self, other: RowwiseAuc, groups: IntArray | None = None) -> tuple[float, float]:
        """By how much the area exceeds that of other scores of the same rows, and its error."""
        return self.auc_pu - other.auc_pu, self._error_of(self.parts - other.parts, groups)

    def _error_of(self, parts: FloatArray, groups: IntArray | None) -> float:
        if groups is None:
            variance = self._scatter_of(parts, self.labeled) + self._scatter_of(
                parts, ~self.labeled
            )
        else:  # Obuchowski (1997): the sum over a group is what is independent
            sums: FloatArray = np.zeros(int(groups.max()) + 1)
            np.add.at(sums, groups, parts)
            variance = _scatter(sums, sums.size)
        return math.sqrt(variance)

    def _scatter_of(self, parts: FloatArray, side: BoolArray) -> float:
        if self.times is not None:
            times = self.times[side]
            return _scatter(np.sqrt(times) * parts[side], int(times.sum()))
        if self.weight is None:
            return _scatter(parts[side], int(np.count_nonzero(side)))
        weight = self.weight[side]
        return _scatter(parts[side], float(weight.sum() ** 2 / np.sum(weight**2)))  # Kish


def _scatter(parts: FloatArray, n: float) -> float:
    return float(np.sum(parts**2)) * n / (n - 1) if n > 1 else math.nan


def rowwise_auc(
    scores: FloatArray, labeled: BoolArray, weight: FloatArray | None = None
) -> RowwiseAuc:
    """Observed AUC of scores, ties counted one half."""
    parts = np.empty(scores.size)
    sides = (labeled, ~labeled)
    ours, theirs = ((scores[side], None if weight is None else weight[side]) for side in sides)
    below = _share_below(ours[0], *theirs)
    above = 1 - _share_below(theirs[0], *ours)
    if ours[1] is None or theirs[1] is None:
        auc = float(below.mean())
        parts[labeled] = (below - auc) / below.size
        parts[~labeled] = (above - auc) / above.size
    else:
        auc = float(np.average(below, weights=ours[1]))
        parts[labeled] = (below - auc) * ours[1] / ours[1].sum()
        parts[~labeled] = (above - auc) * theirs[1] / theirs[1].sum()
    return RowwiseAuc(auc, parts, labeled, weight)


def cellwise_auc(
    auc_pu: float, counts: ScoreCounts, position: IntArray, labeled: BoolArray, times: IntArray
) -> RowwiseAuc:
    r"""Parts of cells of rows, all of them at the same one of ``counts``' thresholds.

    A row's place within its threshold is not known, so that it is taken to be the middle: the
    share :math:`V` moves by at most half of what the other sample has there. ``auc_pu`` is the
    area as known from finer counts.
    """
    ours, theirs = (side / side.sum() for side in (counts.labeled, counts.unlabeled))
    below = 1 - (np.cumsum(theirs) - theirs / 2)
    above = np.cumsum(ours) - ours / 2
    area = float(ours @ below)  # not auc_pu: parts add up to 0
    parts = np.where(
        labeled,
        (below[position] - area) / counts.n_labeled,
        (above[position] - area) / counts.n_unlabeled,
    )
    return RowwiseAuc(auc_pu, parts, labeled, times=times)


def _share_below(scores: FloatArray, others: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Share of ``others`` below each score, ties counted one half."""
    if weight is None:
        ordered = np.sort(others)
        left, right = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
        return np.asarray((left + right) / (2 * others.size))
    order = np.argsort(others)
    ordered = others[order]
    passed = np.append(0.0, np.cumsum(weight[order]))
    left, right = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return np.asarray((passed[left] + passed[right]) / (2 * passed[-1]))
