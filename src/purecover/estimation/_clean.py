"""Are the labels clean? Whether beta = 1 is compatible with the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover.counts import ScoreCounts

__all__ = ["CleanTest", "clean_test"]


@dataclass(frozen=True)
class CleanTest:
    """Outcome of a test of beta = 1."""

    p_value: float
    clean: bool


def clean_test(counts: ScoreCounts, *, significance: float = 0.05) -> CleanTest:
    """Test whether labeled examples among the lowest scores are more than stragglers."""
    from scipy.stats import binom

    depth = np.cumsum(counts.unlabeled[::-1]) / counts.n_unlabeled
    low = int(np.searchsorted(depth, 0.2)) + 1
    found = float(counts.labeled[::-1][:low].sum())
    p_value = float(binom.sf(found - 1, counts.n_labeled, 0.01)) if found else 1.0
    return CleanTest(p_value, p_value > significance)
