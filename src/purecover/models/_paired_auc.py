"""The observed AUC of several models on the same rows, and how far apart they are.

DeLong's variance, by the part each row has in it, so that differences between models and rows
that depend on each other are treated alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from purecover._typing import BoolArray, FloatArray, IntArray

__all__ = ["RowwiseAuc", "rowwise_auc"]


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
    labeled : ndarray of bool
        Which rows are labeled.
    """

    auc_pu: float
    parts: FloatArray
    labeled: BoolArray

    def error(self, groups: IntArray | None = None) -> float:
        """Standard error; rows of one group count together."""
        return self._error_of(self.parts, groups)

    def gain_over(self, other: RowwiseAuc, groups: IntArray | None = None) -> tuple[float, float]:
        """By how much the area exceeds that of other scores of the same rows, and its error."""
        return self.auc_pu - other.auc_pu, self._error_of(self.parts - other.parts, groups)

    def _error_of(self, parts: FloatArray, groups: IntArray | None) -> float:
        if groups is None:
            variance = _scatter(parts[self.labeled]) + _scatter(parts[~self.labeled])
        else:  # Obuchowski (1997): the sum over a group is what is independent
            sums: FloatArray = np.zeros(int(groups.max()) + 1)
            np.add.at(sums, groups, parts)
            variance = _scatter(sums)
        return math.sqrt(variance)


def _scatter(parts: FloatArray) -> float:
    n = parts.size
    return float(np.sum(parts**2)) * n / (n - 1) if n > 1 else math.nan


def rowwise_auc(scores: FloatArray, labeled: BoolArray) -> RowwiseAuc:
    """Observed AUC of scores, ties counted one half."""
    parts = np.empty(scores.size)
    of_labeled, of_unlabeled = scores[labeled], scores[~labeled]
    below = _share_below(of_labeled, of_unlabeled)
    auc = float(below.mean())
    parts[labeled] = (below - auc) / of_labeled.size
    parts[~labeled] = (1 - _share_below(of_unlabeled, of_labeled) - auc) / of_unlabeled.size
    return RowwiseAuc(auc, parts, labeled)


def _share_below(scores: FloatArray, others: FloatArray) -> FloatArray:
    """Share of ``others`` below each score, ties counted one half."""
    ordered = np.sort(others)
    twice = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return twice / (2 * others.size)
