"""Features that tell labeled from unlabeled rows all alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover.counts import ScoreCounts

__all__ = ["find_leaks"]

LEAST_AUC = 0.99
"""What a feature alone may not reach: unlabeled positives look like labeled ones."""

_FEW_VALUES = 30
_LEAST_ROWS = 10


def find_leaks(
    matrix: FloatArray, names: Sequence[str], labeled: BoolArray, negative: BoolArray | None
) -> dict[str, float]:
    """Columns that rank labeled above unlabeled rows, or below, almost without fault.

    Each with its AUC. A column of few values may rank them in any order, since a model may;
    blank cells are a value of their own, or stand below or above all others.
    """
    rows = np.ones(labeled.size, dtype=bool) if negative is None else ~negative
    labeled = labeled[rows]
    if min(labeled.sum(), (~labeled).sum()) < _LEAST_ROWS:
        return {}
    found = {name: _auc(matrix[rows, j], labeled) for j, name in enumerate(names)}
    return {name: auc for name, auc in found.items() if auc >= LEAST_AUC}


def _auc(values: FloatArray, labeled: BoolArray) -> float:
    distinct, codes = np.unique(values, return_inverse=True)  # one NaN, the last
    if distinct.size <= _FEW_VALUES:
        shares = np.bincount(codes, weights=labeled) / np.bincount(codes)
        return _ranking(shares[codes], labeled)
    ranks = codes.astype(np.float64)
    low = np.where(np.isnan(values), -1.0, ranks)
    areas = [_ranking(ranks, labeled), _ranking(low, labeled)]
    return max(max(area, 1 - area) for area in areas)


def _ranking(scores: FloatArray, labeled: BoolArray) -> float:
    counts = ScoreCounts.from_scores(scores, labeled)
    return counts.ordered_pairs / (counts.n_labeled * counts.n_unlabeled)
