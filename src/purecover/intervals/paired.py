"""Several scores of the same rows: shared replicates, and intervals of differences.

Rows that are in the same cell of every score form a joint cell. A replicate draws how many rows of
each joint cell it has, once for all scores. Differences between scores then leave out the error
that the scores share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover.counts import ScoreCounts
from purecover.intervals.ends import interval_ends
from purecover.intervals.interval import Interval
from purecover.intervals.resampling import Multinomial, Resampler, times_drawn
from purecover.proportions import ProportionEstimator

_BLOCK = 2**20
"""Cells that are drawn at a time."""


@dataclass(frozen=True, eq=False)
class PairedRows(Resampler):
    """Rows of several scores in joint cells.

    Attributes
    ----------
    counts : mapping of str to ScoreCounts
        The counts of each score in its own cells.
    place : mapping of str to ndarray of int
        For each joint cell, the index of its threshold in the counts of a score.
    labeled : ndarray of bool
        Whether a joint cell contains labeled rows or unlabeled ones.
    rows : ndarray of int
        The number of rows in each joint cell: 1 where rows have weights or groups.
    weight : ndarray of float or None
        Weights of the rows.
    group : ndarray of int or None
        Groups of dependent rows.
    """

    counts: Mapping[str, ScoreCounts]
    place: Mapping[str, IntArray]
    labeled: BoolArray
    rows: IntArray
    weight: FloatArray | None = None
    group: IntArray | None = None

    @property
    def n_groups(self) -> float:
        """Number of groups; infinity without groups."""
        return math.inf if self.group is None else int(self.group.max()) + 1

    def sides(self, values: Any) -> tuple[Any, Any]:
        """Return the values of labeled and of unlabeled cells."""
        return values[..., self.labeled], values[..., ~self.labeled]

    @cached_property
    def _multinomial(self) -> tuple[Multinomial, Multinomial]:
        labeled, unlabeled = self.sides(self.rows)
        return Multinomial(labeled), Multinomial(unlabeled)

    def _draw(self, rng: np.random.Generator, size: int) -> tuple[CountArray, CountArray]:
        """Draw rows, or weights, of the cells: labeled and unlabeled apart, or whole groups."""
        if self.group is None:
            labeled, unlabeled = (side.draw(rng, size) for side in self._multinomial)
        else:
            times = times_drawn(rng, size, int(self.n_groups))
            labeled, unlabeled = self.sides(times[:, self.group])
        if self.weight is None:
            return labeled, unlabeled
        weights = self.sides(self.weight)
        return labeled * weights[0], unlabeled * weights[1]

    def tally(self, name: str, drawn: tuple[CountArray, CountArray]) -> list[CountArray]:
        """Return drawn rows as labeled and unlabeled counts of one score."""
        n = self.counts[name].n_thresholds
        found = []
        for side, place in zip(drawn, self.sides(self.place[name]), strict=True):
            at = (n * np.arange(len(side))[:, None] + place).ravel()
            counts = np.bincount(at, side.ravel(), minlength=n * len(side)).reshape(-1, n)
            found.append(counts.astype(side.dtype))  # sums of integers below 2**53 are exact
        return found

    def error(self, name: str, other: str) -> float:
        r"""Return DeLong's standard error of the difference between two observed AUCs.

        A labeled row has the part :math:`w (V - A)/W` in the error of an AUC :math:`A`, with its
        weight :math:`w` of :math:`W` and the share :math:`V` of unlabeled rows below it; an
        unlabeled row has that with the share of labeled rows above it. Rows of one group count
        together (Obuchowski, 1997). Rows of one cell count as tied.
        """
        parts = self._parts(name) - self._parts(other)
        if self.group is not None:
            sums = np.bincount(self.group, weights=parts).astype(np.float64)
            return math.sqrt(_scatter(sums, np.ones(sums.size), sums.size))
        mass = self._mass
        variance = 0.0
        for side in (self.labeled, ~self.labeled):
            weight, rows = mass[side], self.rows[side]
            size = float(weight @ rows) ** 2 / float(weight**2 @ rows)  # effective, by Kish
            variance += _scatter(parts[side], rows, size)
        return math.sqrt(variance)

    @property
    def _mass(self) -> FloatArray:
        return np.ones(self.rows.size) if self.weight is None else self.weight

    def _parts(self, name: str) -> FloatArray:
        counts, place, mass = self.counts[name], self.place[name], self._mass
        ours, theirs = (side / side.sum() for side in (counts.labeled, counts.unlabeled))
        below = 1 - (np.cumsum(theirs) - theirs / 2)
        above = np.cumsum(ours) - ours / 2
        area = float(ours @ below)
        return np.where(
            self.labeled,
            (below[place] - area) * mass / counts.n_labeled,
            (above[place] - area) * mass / counts.n_unlabeled,
        )


def _scatter(parts: FloatArray, times: Any, n: float) -> float:
    return float(parts**2 @ times) * n / (n - 1) if n > 1 else math.nan


class SharedDraws:
    """Replicates of paired rows, drawn once, and kept as counts of each score."""

    def __init__(self, rows: PairedRows, rng: np.random.Generator) -> None:
        self.rows = rows
        self._rng = rng
        self._counts: dict[str, list[list[CountArray]]] = {name: [] for name in rows.counts}
        self._n_drawn = 0

    def between(self, name: str, start: int, stop: int) -> tuple[CountArray, CountArray]:
        """Return the counts of some replicates of one score, drawing those that are missing."""
        block = max(_BLOCK // self.rows.rows.size, 1)
        while self._n_drawn < stop:
            size = min(block, stop - self._n_drawn)
            drawn = self.rows.draw_many(self._rng, size)
            for each, kept in self._counts.items():
                kept.append(self.rows.tally(each, drawn))
            self._n_drawn += size
        labeled, unlabeled = zip(*self._counts[name], strict=True)
        return np.concatenate(labeled)[start:stop], np.concatenate(unlabeled)[start:stop]


class ScoreDraws:
    """The resampler of one score, which replays shared draws."""

    def __init__(self, shared: SharedDraws, name: str) -> None:
        self.shared, self.name, self.done = shared, name, 0
        self.counts = shared.rows.counts[name]
        self.n_groups = shared.rows.n_groups

    def draw_many(self, _rng: np.random.Generator, size: int) -> tuple[CountArray, CountArray]:
        """Return the next replicates."""
        start, self.done = self.done, self.done + size
        return self.shared.between(self.name, start, self.done)


class SharedEstimates:
    """An estimator of proportions that remembers the estimate of every replicate."""

    def __init__(self, estimator: ProportionEstimator) -> None:
        self.estimator = estimator
        self.found: list[FloatArray] = []

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Return alpha and beta of replicates, one row each."""
        rows = self.estimator.proportions_many(counts, labeled, unlabeled)
        self.found.append(rows)
        return rows


def difference_interval(
    estimate: float, draws: FloatArray | None, *, same: bool, level: float, **origin: Any
) -> Interval:
    """Return the percentile interval of a difference from replicates of it.

    There is none where more than one replicate of twenty is undefined. A difference that never
    moves is certain only if both scores rank all rows in the ``same`` way.
    """
    low = high = math.nan
    if draws is not None:
        defined = draws[~np.isnan(draws)]
        if defined.size >= 0.95 * draws.size:
            low, high = interval_ends(defined, level)
    if low == high and not same:
        low = high = math.nan
    return Interval(estimate=estimate, low=low, high=high, confidence_level=level, **origin)
