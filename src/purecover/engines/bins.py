"""Bins: neighboring scores counted together, with the smallest and largest score of each."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray

TALLIES = ("labeled", "unlabeled", "negative", "labeled_sq", "unlabeled_sq")
MAX_REGIONS = 48
"""Most intervals one pass refines: each is a branch of the query."""
MAX_SUB_BINS = 1 << 16
"""About how many bins such a pass makes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Bins:
    """Counts of scores from ``low`` to ``high``, in increasing order and without overlaps.

    ``rows`` counts examples whatever their weights. ``twins`` marks bins whose smallest or
    largest labeled score is also that of the unlabeled: a sign of few distinct scores.
    """

    low: FloatArray
    high: FloatArray
    rows: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    negative: FloatArray
    labeled_sq: FloatArray
    unlabeled_sq: FloatArray
    twins: BoolArray

    @classmethod
    def of(cls, keys: Any, low: Any, high: Any, rows: Any, tallies: dict[str, Any]) -> Bins:
        """Add up rows of a query that have the same key, and bins that overlap.

        Keys grow with scores but for rounding, so that ranges of neighboring keys may overlap
        by a hair: such bins are one.
        """
        order = np.argsort(keys, kind="stable")
        keys, low, high = keys[order], low[order] + 0.0, high[order] + 0.0  # -0.0 is written 0.0
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        tallies = {name: tallies[name][order] for name in TALLIES}
        mixed = (tallies["labeled"] > 0) | (tallies["unlabeled"] > 0)
        found = cls(low=low, high=high, rows=rows[order], twins=mixed, **tallies)._summed(starts)
        return replace(found, twins=_equal_ends(low, high, mixed, starts))._sorted()

    def _sorted(self) -> Bins:
        order = np.argsort(self.low, kind="stable")
        reach = np.maximum.accumulate(self.high[order])
        starts = np.flatnonzero(np.append(True, self.low[order][1:] > reach[:-1]))
        if starts.size == self.low.size and np.all(order[1:] > order[:-1]):
            return self
        return self.taken(order)._summed(starts)

    def _summed(self, starts: Any) -> Bins:
        """Neighbors as one bin, from each of these to the next."""
        return Bins(
            low=np.minimum.reduceat(self.low, starts),
            high=np.maximum.reduceat(self.high, starts),
            rows=np.add.reduceat(self.rows, starts),
            twins=np.logical_or.reduceat(self.twins, starts),
            **{name: np.add.reduceat(getattr(self, name), starts) for name in TALLIES},
        )

    def taken(self, which: Any) -> Bins:
        """Some of the bins."""
        return replace(self, **{f.name: getattr(self, f.name)[which] for f in fields(self)})

    def joined(self, other: Bins) -> Bins:
        """All bins of both."""
        pairs = {f.name: (getattr(self, f.name), getattr(other, f.name)) for f in fields(self)}
        return Bins(**{name: np.concatenate(pair) for name, pair in pairs.items()})._sorted()

    @property
    def tied(self) -> BoolArray:
        """Bins that hold one score only."""
        return np.asarray(self.low == self.high)

    def slack(self) -> FloatArray:
        r"""What the order within each bin can change the observed AUC by: :math:`p_i q_i`.

        The AUC lies within half the sum on either side; a bin of one score has none.
        """
        pairs = float(self.labeled.sum()) * float(self.unlabeled.sum())
        if not pairs > 0:
            return np.zeros(self.low.size)
        return np.where(self.tied, 0.0, self.labeled * self.unlabeled / pairs)

    def distinct(self) -> float:
        r"""About how many distinct scores there are.

        Where the smallest labeled score of a bin equals the smallest unlabeled one, scores
        repeat. With :math:`\lambda` labeled rows per distinct score that happens with a
        probability of about :math:`1 - e^{-\lambda}`, and so with the largest; that is turned
        around (with the rarer sample in the place of the labeled). Never more than the rows.
        """
        untied = ~self.tied
        mixed = untied & (self.labeled > 0) & (self.unlabeled > 0)
        n_rows = float(self.rows[untied].sum())
        weight = self.rows[mixed]
        if not weight.sum() > 0:
            return float(self.tied.sum()) + n_rows
        share = float(weight[self.twins[mixed]].sum() / weight.sum())
        if share == 0:
            return float(self.tied.sum()) + n_rows
        share = min(share, 1 - 0.5 / mixed.sum())
        # Weighted rows count by their weights here; a rough figure is all that is wanted.
        sides = self.labeled[untied].sum(), self.unlabeled[untied].sum()
        rarer = n_rows * float(min(sides) / sum(sides))
        return float(self.tied.sum()) + min(2 * rarer / -np.log1p(-share), n_rows)


def _equal_ends(low: FloatArray, high: FloatArray, mixed: BoolArray, starts: Any) -> BoolArray:
    """Keys with two rows or more of one smallest or one largest score."""
    size = np.diff(np.append(starts, low.size))
    same = [
        np.fmin.reduceat(ends, starts) == np.fmax.reduceat(ends, starts)
        for ends in (np.where(mixed, low, np.nan), np.where(mixed, high, np.nan))
    ]
    several = np.add.reduceat(mixed.astype(np.int64), starts) > 1
    return np.asarray((same[0] | same[1]) & several & (size > 1))


# -- which bins to split ----------------------------------------------------------------------


@dataclass(frozen=True)
class Regions:
    """Intervals of scores, and into how many bins each is to be split."""

    low: FloatArray
    high: FloatArray
    n_bins: Any

    def hold(self, bins: Bins) -> BoolArray:
        """Which bins lie in a region; none lies there in part."""
        at = np.searchsorted(self.low, bins.low, side="right") - 1
        return np.asarray((at >= 0) & (bins.high <= self.high[np.maximum(at, 0)]))


def regions_to_refine(every: list[Bins], tolerance: float) -> Regions | None:
    """Regions whose bins keep an AUC from being known to ``tolerance``; None if all are fine.

    Of each set of bins those with the largest slack are taken, until what the others have is
    half of the tolerance.
    """
    taken = []
    for bins in every:
        slack = bins.slack()
        if slack.sum() <= tolerance:
            continue
        order = np.argsort(-slack, kind="stable")
        rest = slack.sum() - np.cumsum(slack[order])
        n_taken = int(np.argmax(rest <= tolerance / 2)) + 1
        chosen = order[:n_taken]
        root = np.sqrt(slack[chosen])
        taken.append((bins.low[chosen], bins.high[chosen], root / root.sum()))
    if not taken:
        return None
    low, high, need = (np.concatenate(part) for part in zip(*taken, strict=True))
    low, high, need = _closed(low, high, need, every)
    # Far too many for one query: neighbors with the narrowest gaps go together.
    if low.size > MAX_REGIONS:
        gaps = _gaps(low, high)
        widest = np.sort(np.argsort(-gaps, kind="stable")[: MAX_REGIONS - 1]) + 1
        starts = np.append(0, widest)
        low, high = low[starts], np.maximum.reduceat(high, starts)
        need = np.add.reduceat(need, starts)
        low, high, need = _closed(low, high, need, every)
    n_bins = np.maximum(np.ceil(need / need.sum() * MAX_SUB_BINS), 64).astype(np.int64)
    return Regions(low, high, n_bins)


def _gaps(low: FloatArray, high: FloatArray) -> FloatArray:
    """Distances between neighboring intervals, in units of the smaller of their sizes.

    An interval of 1e-9 to 1e-8 must not be pooled with one of 0.5 to 0.6, close as they are.
    """
    sizes = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(np.float64).tiny)
    return np.asarray((low[1:] / 2 - high[:-1] / 2) / np.minimum(sizes[1:], sizes[:-1]))


def _closed(
    low: FloatArray, high: FloatArray, need: FloatArray, every: list[Bins]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Intervals grown until no bin of any set lies across an end of one."""
    while True:
        order = np.argsort(low, kind="stable")
        low, high, need = low[order], high[order], need[order]
        reach = np.maximum.accumulate(high)
        starts = np.flatnonzero(np.append(True, low[1:] > reach[:-1]))
        low, high = low[starts], np.maximum.reduceat(high, starts)
        need = np.add.reduceat(need, starts)
        before = low.copy(), high.copy()
        for bins in every:
            # The first bin that ends at or above a region's start, the last that starts in it.
            first = np.searchsorted(bins.high, low, side="left")
            last = np.searchsorted(bins.low, high, side="right") - 1
            some = first <= last
            low[some] = np.minimum(low[some], bins.low[first[some]])
            high[some] = np.maximum(high[some], bins.high[last[some]])
        if np.array_equal(low, before[0]) and np.array_equal(high, before[1]):
            return low, high, need
