"""Several scores of the same rows: paired replicates, and differences between AUCs.

A replicate of each score comes from a generator in the same state, and what it draws does not
depend on the scores, so that the i-th replicates of all scores hold the same rows. Their
differences then leave out what the scores have in common.

DeLong's variance, by the part each row has in it, so that differences between models and rows
that depend on each other are treated alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from purecover._progress import Progress, part_of, shown
from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover.counts import ScoreCounts
from purecover.intervals.interval import Interval, Varied
from purecover.intervals.replicates import BootstrapResult, bootstrap, simultaneous_depth
from purecover.intervals.resampling import (
    GroupResampler,
    Multinomial,
    Replayed,
    Resampler,
    SidesResampler,
)
from purecover.proportions import MixtureProportions, ProportionEstimator

MAX_PAIRED = 2**11
"""Scores with more distinct values are thinned before resampling.

Each replicate is measured for every score, so they are fewer than in `bootstrap`; what that moves
is a small part of a standard error.
"""

BONFERRONI = "simultaneous by Bonferroni"
"""Name of simultaneous intervals that are valid for any dependence between the differences."""


@dataclass(frozen=True, repr=False)
class RowResampler(SidesResampler):
    """Draw rows with replacement, labeled and unlabeled apart.

    Attributes
    ----------
    counts : ScoreCounts
        The counts of all rows.
    labeled, unlabeled : ndarray of int
        For each labeled and each unlabeled row, the index of its threshold.
    labeled_weight, unlabeled_weight : ndarray of float or None
        Their weights.
    """

    labeled: IntArray
    unlabeled: IntArray
    labeled_weight: FloatArray | None = None
    unlabeled_weight: FloatArray | None = None

    def __repr__(self) -> str:
        return f"RowResampler({self.labeled.size + self.unlabeled.size:,} rows)"

    def sides(self, rng: np.random.Generator) -> tuple[CountArray, CountArray]:
        labeled = self._tally(rng, self.labeled, self.labeled_weight)
        return labeled, self._tally(rng, self.unlabeled, self.unlabeled_weight)

    def _tally(
        self, rng: np.random.Generator, position: IntArray, weight: FloatArray | None
    ) -> CountArray:
        n = position.size
        drawn = rng.integers(0, n, n, dtype=np.int32 if n < 2**31 else np.int64)
        mass = None if weight is None else weight[drawn]
        return np.bincount(position[drawn], mass, minlength=self.counts.n_thresholds)


@dataclass(frozen=True, repr=False)
class CellResampler(SidesResampler):
    """Draw rows with replacement, labeled and unlabeled apart, where they come in cells.

    All rows of a cell are alike, so that what is drawn is how many of each: multinomial numbers,
    which do not depend on the score.

    Attributes
    ----------
    counts : ScoreCounts
        The counts of all rows.
    labeled, unlabeled : ndarray of int
        For each cell of labeled and of unlabeled rows, the index of its threshold.
    labeled_rows, unlabeled_rows : ndarray of int
        How many rows each holds.
    """

    labeled: IntArray
    unlabeled: IntArray
    labeled_rows: IntArray
    unlabeled_rows: IntArray

    def __repr__(self) -> str:
        return f"CellResampler({self.labeled.size + self.unlabeled.size:,} cells)"

    @cached_property
    def _rows(self) -> tuple[Multinomial, Multinomial]:
        return Multinomial(self.labeled_rows), Multinomial(self.unlabeled_rows)

    def sides(self, rng: np.random.Generator) -> tuple[CountArray, CountArray]:
        labeled = self._tally(rng, self.labeled, self._rows[0])
        return labeled, self._tally(rng, self.unlabeled, self._rows[1])

    def _tally(self, rng: np.random.Generator, position: IntArray, rows: Multinomial) -> CountArray:
        drawn = rows.draw(rng, 1)[0]
        tally = np.bincount(position, weights=drawn, minlength=self.counts.n_thresholds)
        return tally.astype(np.int64)  # sums of integers below 2**53 are exact


@dataclass(frozen=True, eq=False)
class PairedModel:
    """One score: its counts, what draws them, and what `bootstrap` is told of it alone."""

    counts: ScoreCounts
    resampler: Resampler
    options: Mapping[str, Any]


def paired_bootstrap(
    models: Mapping[str, PairedModel],
    proportions: MixtureProportions,
    *,
    estimator: ProportionEstimator | None,
    reference: str,
    seed: int,
    n_resamples: int,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, BootstrapResult]:
    """Replicates of every model, the i-th of each from the same rows.

    Where the proportions are estimated, each replicate estimates them once, from the scores of
    ``reference``, and all models are measured with them. What that rejects is rejected for all.
    """
    shared = None if estimator is None else _Shared(estimator)
    found: dict[str, BootstrapResult] = {}
    with shown(progress) as tell:
        for i, name in enumerate(sorted(models, key=lambda key: key != reference)):
            model = models[name]
            result = bootstrap(
                model.counts,
                proportions,
                estimator=shared if name == reference or shared is None else shared.replayed(),
                resampler=model.resampler,
                random_state=np.random.default_rng(seed),
                n_resamples=n_resamples,
                progress=part_of(tell, i, len(models)),
                **options,
                **model.options,
            )
            drawn = "groups" if isinstance(model.resampler, GroupResampler) else "rows"
            found[name] = replace(result, method=f"the same {drawn} for all")
    return {name: found[name] for name in models}


class _Shared:
    """Estimates proportions and remembers them, replicate by replicate."""

    def __init__(self, estimator: ProportionEstimator) -> None:
        self.estimator = estimator
        self.found: list[FloatArray] = []

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        rows = self.estimator.proportions_many(counts, labeled, unlabeled)
        self.found.append(rows)
        return rows

    def replayed(self) -> Replayed:
        return Replayed(np.concatenate(self.found))


def difference_intervals(
    estimates: Sequence[float],
    draws: FloatArray,
    *,
    level: float,
    method: str,
    varied: Varied,
    simultaneous: bool,
    same: Sequence[bool],
) -> list[Interval]:
    """Intervals of differences from a baseline, from replicates of shape (n_resamples, n_models).

    Percentiles, or with ``simultaneous`` ends that hold all the differences at once: between
    order statistics that keep whole replicates inside, or at a level for each by which all hold,
    where too many replicates leave one undefined. ``same`` says of each model whether it ranks all
    rows as the baseline does: only then is a difference that never moves certain.
    """
    low, high = np.full((2, len(estimates)), math.nan)
    tail = (1 - level) / 2
    together = np.asarray(~np.isnan(draws).any(axis=1))
    simultaneous = simultaneous and len(estimates) > 1 and not np.isnan(draws).all()
    if simultaneous and _mostly(together):
        kept = draws[together]
        ordered = np.sort(kept, axis=0)
        depth = simultaneous_depth(kept, ordered, level)
        low, high = ordered[depth - 1].copy(), ordered[-depth].copy()
        method += ", simultaneous"
    else:
        if simultaneous:  # too few replicates define all of them; Bonferroni asks for none
            tail /= len(estimates)
            method += f", {BONFERRONI}"
        for i in range(len(estimates)):
            defined = ~np.isnan(draws[:, i])
            if _mostly(defined):
                low[i], high[i] = np.quantile(draws[defined, i], [tail, 1 - tail])
    # A single value in all replicates is too little data, not certainty.
    stuck = (low == high) & ~np.array(same, dtype=np.bool_)
    low[stuck] = high[stuck] = math.nan
    return [
        Interval(
            estimate=estimate,
            low=float(low[i]),
            high=float(high[i]),
            confidence_level=level,
            method=method,
            varied=varied,
        )
        for i, estimate in enumerate(estimates)
    ]


def _mostly(defined: BoolArray) -> bool:
    return bool(np.count_nonzero(defined) >= 0.95 * defined.size)


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
        With weights, :math:`w_i (V_i - A)/\sum w`; of a cell of :math:`m` rows,
        :math:`\sqrt{m}` times the part of each, so that squares add up alike.
    labeled : ndarray of bool
        Which rows are labeled.
    sizes : tuple of float
        How many labeled and unlabeled rows there are; with weights, of equal ones.
    """

    auc_pu: float
    parts: FloatArray
    labeled: BoolArray
    sizes: tuple[float, float]

    def gain_over(self, other: RowwiseAuc, groups: IntArray | None = None) -> tuple[float, float]:
        """By how much the area exceeds that of other scores of the same rows, and its error.

        Rows of one group count together.
        """
        parts = self.parts - other.parts
        if groups is None:
            of_labeled = _scatter(parts[self.labeled], self.sizes[0])
            variance = of_labeled + _scatter(parts[~self.labeled], self.sizes[1])
        else:  # Obuchowski (1997): the sum over a group is what is independent
            sums: FloatArray = np.zeros(int(groups.max()) + 1)
            np.add.at(sums, groups, parts)
            variance = _scatter(sums, sums.size)
        return self.auc_pu - other.auc_pu, math.sqrt(variance)


def _scatter(parts: FloatArray, n: float) -> float:
    return float(np.sum(parts**2)) * n / (n - 1) if n > 1 else math.nan


def rowwise_auc(
    scores: FloatArray, labeled: BoolArray, weight: FloatArray | None = None
) -> RowwiseAuc:
    """Observed AUC of scores, ties counted one half."""
    parts = np.empty(scores.size)
    mass = np.ones(scores.size) if weight is None else weight
    ours, theirs = ((scores[side], mass[side]) for side in (labeled, ~labeled))
    below = _share_below(ours[0], *theirs)
    above = 1 - _share_below(theirs[0], *ours)
    auc = float(np.average(below, weights=ours[1]))
    parts[labeled] = (below - auc) * ours[1] / ours[1].sum()
    parts[~labeled] = (above - auc) * theirs[1] / theirs[1].sum()
    n_labeled, n_unlabeled = (each.sum() ** 2 / np.sum(each**2) for _, each in (ours, theirs))
    return RowwiseAuc(auc, parts, labeled, (n_labeled, n_unlabeled))  # Kish's sizes


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
    sizes = float(times[labeled].sum()), float(times[~labeled].sum())
    return RowwiseAuc(auc_pu, np.sqrt(times) * parts, labeled, sizes)


def _share_below(scores: FloatArray, others: FloatArray, weight: FloatArray) -> FloatArray:
    """Share of ``others`` below each score, ties counted one half."""
    order = np.argsort(others)
    ordered = others[order]
    passed = np.append(0.0, np.cumsum(weight[order]))
    left, right = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return np.asarray((passed[left] + passed[right]) / (2 * passed[-1]))
