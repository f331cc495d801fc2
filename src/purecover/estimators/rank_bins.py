"""Counts of labeled and unlabeled rows in bins of their rank among all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover.counts import ScoreCounts
from purecover.estimators.samples import weight_units

WIDEST = 1 / 40
"""Share of all rows in a bin, away from the ends of the ranking."""

_FIRST_EXAMPLES, _FIRST_SHARE = 8, 5e-4
_GROWTH = 1.25
"""The outermost bin holds the larger of the two; from there on bins grow by this factor.

The ends of the ranking decide about alpha and beta, so they are seen in detail, but no bin is so
small that one stray score could make it look pure.
"""

SURE = 60.0
"""Log-odds of a row in an end that is pure outright."""

PURE_SHARES = np.array([0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65])
"""Depths of ends that may be pure outright: shares of the labeled from the top, and of the
unlabeled from the bottom."""

_N_CUTS = 3
"""The shallowest of them are cuts between bins."""


@dataclass(frozen=True, eq=False)
class RankBins:
    """Counts in bins of pooled rank, lowest scores first.

    Attributes
    ----------
    starts : ndarray of int
        Where each bin begins, as an index into thresholds in increasing order.
    labeled, total : ndarray of shape (n_bins,)
        Labeled rows and all rows of each bin; effective numbers where rows have weights.
    log_below, log_above : ndarray of shape (n_bins,)
        Logarithms of the mid-rank u of each bin and of 1 - u.
    labeled_share : float
        Share c of the labeled among all.
    labeled_unit, unlabeled_unit : float
        What one unit of weight counts on each side; 1 unless weighted or tempered.
    """

    starts: IntArray
    labeled: FloatArray
    total: FloatArray
    log_below: FloatArray
    log_above: FloatArray
    labeled_share: float
    labeled_unit: float
    unlabeled_unit: float

    @classmethod
    def from_counts(cls, counts: ScoreCounts) -> RankBins:
        """Bins of a whole data set."""
        units = weight_units(counts)
        labeled = np.asarray(counts.labeled[::-1] * units[0], dtype=np.float64)
        unlabeled = np.asarray(counts.unlabeled[::-1] * units[1], dtype=np.float64)
        seen = np.cumsum(labeled + unlabeled)
        everyone = float(seen[-1])
        cuts = np.searchsorted(seen, _edges(everyone) * everyone * (1 - 1e-12)) + 1
        # A few more cuts on each side, so that small ends of one class consist of whole bins.
        top = labeled.size - _depths(labeled[::-1])[:_N_CUTS]
        bottom = _depths(unlabeled)[:_N_CUTS]
        starts = np.unique(np.concatenate(([0], cuts, top, bottom)).clip(0, labeled.size - 1))
        n_labeled = np.add.reduceat(labeled, starts)
        total = n_labeled + np.add.reduceat(unlabeled, starts)
        full = total > 0  # not so where only known negatives are
        starts, n_labeled, total = starts[full], n_labeled[full], total[full]
        rank = (np.cumsum(total) - total / 2) / everyone
        return cls(
            starts=starts,
            labeled=n_labeled,
            total=total,
            log_below=np.log(rank),
            log_above=np.log1p(-rank),
            labeled_share=float(n_labeled.sum() / everyone),
            labeled_unit=units[0],
            unlabeled_unit=units[1],
        )

    def tempered(self, factor: float) -> RankBins:
        """Divide all counts by a factor, as if there were fewer rows."""
        names = ("labeled", "total", "labeled_unit", "unlabeled_unit")
        return replace(self, **{name: getattr(self, name) / factor for name in names})

    def tally(self, labeled: CountArray, unlabeled: CountArray) -> tuple[FloatArray, FloatArray]:
        """Labeled and all rows of replicates, shape (n_replicates, n_bins)."""
        few = np.add.reduceat(labeled[:, ::-1] * self.labeled_unit, self.starts, axis=1)
        many = np.add.reduceat(unlabeled[:, ::-1] * self.unlabeled_unit, self.starts, axis=1)
        return few, few + many

    def pure_ends(self) -> FloatArray:
        """Log-odds to add in each bin, for every pair of a bottom and a top that may be pure."""
        lows = _within(self.total - self.labeled)[:, None]
        highs = _within(self.labeled[::-1])[:, ::-1]
        # Something must be left between the two, or there is no curve to fit.
        fits = ~(lows & highs).any(axis=2) & ~(lows | highs).all(axis=2)
        fits &= lows.any(axis=2) & highs.any(axis=1)
        offsets = SURE * (highs.astype(np.float64) - lows)[fits]
        _, first = np.unique(offsets, axis=0, return_index=True)
        return np.asarray(offsets[np.sort(first)])


def _edges(everyone: float) -> FloatArray:
    """Cuts between bins as shares of the ranking: fine at both ends, even in the middle."""
    width = max(_FIRST_EXAMPLES / everyone, _FIRST_SHARE)
    ends = [0.0]
    while width < WIDEST and ends[-1] < 0.25:
        ends.append(ends[-1] + width)
        width *= _GROWTH
    n_inner = max(round((1 - 2 * ends[-1]) / WIDEST), 2)
    inner = np.linspace(ends[-1], 1 - ends[-1], n_inner + 1)
    cuts = np.concatenate((ends, inner, 1 - np.array(ends)))
    return np.unique(cuts[(cuts > 0) & (cuts < 1)])


def _depths(tally: FloatArray) -> IntArray:
    """Number of entries from the start that hold at most each of the pure shares."""
    seen = np.cumsum(tally)
    return np.searchsorted(seen, PURE_SHARES * seen[-1] * (1 + 1e-12), side="right")


def _within(tally: FloatArray) -> BoolArray:
    """Masks of the entries from the start within each pure share, one a row."""
    return np.asarray(np.arange(tally.size) < _depths(tally)[:, None])
