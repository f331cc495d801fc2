r"""Tests of whether a partition differs from the partitions before it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from purecover._codec import Saved
from purecover.counts import ScoreCounts

MIN_ROWS = 20
"""Labeled and unlabeled rows that both sides of a comparison need."""


@dataclass(frozen=True, kw_only=True)
class DriftTest(Saved):
    """Comparison of one figure of a partition with the partitions before it.

    Attributes
    ----------
    value : float
        The figure of the partition, or the distance of its distribution of scores from the
        distribution before.
    before : float
        The figure of the partitions before; 0 for distances.
    p_value : float
        Probability of a difference at least as large without drift.
    limit : float
        The difference counts as drift if ``p_value`` is at most this.
    """

    value: float
    before: float
    p_value: float
    limit: float

    @property
    def difference(self) -> float:
        """``value - before``."""
        return self.value - self.before

    @property
    def drifted(self) -> bool:
        """Whether the difference is significant."""
        return self.p_value <= self.limit


def why_not_compared(new: ScoreCounts, before: ScoreCounts) -> str | None:
    """Return the reason why two sets of counts cannot be compared, or None."""
    if new.is_weighted or before.is_weighted:
        return "weighted rows are not compared"
    fewest = min(new.n_labeled, new.n_unlabeled, before.n_labeled, before.n_unlabeled)
    if fewest < MIN_ROWS:
        return f"{MIN_ROWS} labeled and {MIN_ROWS} unlabeled rows are needed on both sides"
    return None


def compare(new: ScoreCounts, before: ScoreCounts, spent: float) -> dict[str, DriftTest]:
    """Test the observed AUC of a partition, and its two distributions of scores.

    Parameters
    ----------
    new, before : ScoreCounts
        The partition, and all partitions that it is compared with.
    spent : float
        Probability of a false alarm, shared equally by the tests.
    """
    found = {"auc_pu": _area(new, before), **_distances(new, before)}
    limit = spent / len(found)
    return {
        name: DriftTest(value=value, before=old, p_value=p, limit=limit)
        for name, (value, old, p) in found.items()
    }


def _area(new: ScoreCounts, before: ScoreCounts) -> tuple[float, float, float]:
    """Return both observed AUCs and the p-value of their difference, by DeLong's variances."""
    from scipy.special import ndtr

    value, old = new.auc_pu, before.auc_pu
    error = math.sqrt(max(new.auc_pu_variance, 0.0) + max(before.auc_pu_variance, 0.0))
    if error == 0:
        return value, old, float(value == old)
    return value, old, 2 * float(ndtr(-abs(value - old) / error))


def _distances(new: ScoreCounts, before: ScoreCounts) -> dict[str, tuple[float, float, float]]:
    r"""Return Kolmogorov-Smirnov distances of labeled and of unlabeled scores, and p-values.

    Areas do not change if all scores move together; distances do. With
    :math:`n = n_1 n_2/(n_1+n_2)`, the p-value is that of Kolmogorov's distribution of
    :math:`\sqrt{n}\,D`, which is too large rather than too small for small samples and for ties.
    """
    from scipy.special import kolmogorov

    found = {}
    grid = (new + before).thresholds
    for side in ("labeled", "unlabeled"):
        shares = []
        for counts in (new, before):
            place = np.searchsorted(-grid, -counts.thresholds)
            tally = np.bincount(place, weights=getattr(counts, side), minlength=grid.size)
            shares.append(np.cumsum(tally) / tally.sum())
        distance = float(np.abs(shares[0] - shares[1]).max())
        few, many = (getattr(counts, f"n_{side}") for counts in (new, before))
        scaled = math.sqrt(few * many / (few + many)) * distance
        found[side] = (distance, 0.0, float(kolmogorov(scaled)))
    return found
