"""`Knowledge`: the scores, and all that is known of alpha and beta; every question asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from purecover._typing import BoolArray, CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.posterior.draws import PROPOSED, Posterior, Verdicts, draw_posterior
from purecover.posterior.purity import purity_of
from purecover.posterior.ratio import SEED, LabelRatio

N_DRAWS, N_GROUPS = 2000, 96
"""Draws that are kept, and groups of neighboring scores; those at the top are finer."""

Rows = tuple[CountArray, CountArray]
"""Labeled and unlabeled rows, by draw and group."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that the posterior of alpha, beta and the hidden positives follows from.

    Attributes
    ----------
    ratio : LabelRatio
        The rows, in groups of neighboring scores, and how labels lie in them.
    pool : ndarray of shape (n_pool, 2)
        Pairs of alpha and beta by the scores alone, in random order.
    verdicts : sequence of Verdicts
        Judged rows, and rows that were followed up.
    allowed : ndarray of bool of shape (n_pool,), optional
        Pairs that ranges leave.
    exact : bool, default=False
        Whether alpha and beta are given.
    """

    ratio: LabelRatio
    pool: FloatArray
    verdicts: Sequence[Verdicts] = ()
    allowed: BoolArray | None = None
    exact: bool = False
    _kept: dict[int, Posterior] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, counts: ScoreCounts, pool: FloatArray, *, exact: bool = False) -> Knowledge:
        """Return that of grouped counts, and of nothing else."""
        return cls(LabelRatio(counts), pool, exact=exact)

    @property
    def counts(self) -> ScoreCounts:
        """The rows, in groups of neighboring scores."""
        return self.ratio.counts

    @property
    def varies(self) -> bool:
        """Whether alpha and beta are uncertain."""
        return bool((self.pool != self.pool[0]).any())

    def is_of(self, counts: ScoreCounts) -> bool:
        """Whether the groups are groups of these rows."""
        return (
            counts.n_thresholds >= self.counts.n_thresholds
            and bool(np.isin(self.counts.thresholds, counts.thresholds).all())
            and self.ranks_alike(groups_with(counts, self.counts, []))
        )

    def ranks_alike(self, groups: ScoreCounts) -> bool:
        """Whether as many rows are in each of these groups, whatever their scores are."""
        return all(
            np.array_equal(getattr(self.counts, side), getattr(groups, side))
            for side in ("labeled", "unlabeled")
        )

    def posterior(self, n: int = N_DRAWS) -> Posterior:
        """Return n draws; the same ones, or some of the same, each time."""
        if n < N_DRAWS:
            return self.posterior().some(n)
        if n not in self._kept:
            self._kept[n] = self._draw(self.ratio, n)
        return self._kept[n]

    def at_mode(self, alpha: float, beta: float) -> Posterior:
        """Return one draw: the ratio that fits best, with one alpha and beta."""
        share, ratio = (side[None] for side in self.ratio.at_mode)
        pair = np.array([[alpha, beta]])
        found = purity_of(pair, share, ratio, self.ratio.normal_score)
        return Posterior(
            ratio=self.ratio,
            unlabeled=share,
            like_labeled=found.positive,
            positive=found.positive,
            wrong=found.wrong,
            shares=pair,
            spread=np.zeros(1),
            chosen=np.zeros(1, dtype=np.int64),
            n_effective=1.0,
        )

    def of_samples(self, rows: Rows) -> Posterior:
        """Return draws where rows depend on each other, one for every :data:`PROPOSED` samples.

        ``rows`` are samples of the data, in the groups of ``counts``. The
        observed AUC varies over them more than over samples of independent rows; by the ratio of
        the variances, so many rows are worth one.
        """
        independent = max(float(np.nan_to_num(self.counts.auc_pu_variance)), 1e-12)
        n_dependent = max(float(_areas(*rows).var()) / independent, 1.0)
        return self._draw(LabelRatio(self.counts, n_dependent), len(rows[0]) // PROPOSED, rows)

    def _draw(self, ratio: LabelRatio, n: int, rows: Rows | None = None) -> Posterior:
        size = PROPOSED * n
        if rows is None:
            proposed = ratio.drawn(size)
        else:
            proposed = ratio.draw(size, np.random.default_rng(SEED), rows)
        return draw_posterior(
            ratio,
            proposed,
            self.pool,
            np.random.default_rng(SEED + 1),
            verdicts=self.verdicts,
            allowed=self.allowed,
            exact=self.exact,
        )


def _areas(labeled: CountArray, unlabeled: CountArray) -> FloatArray:
    """Return the observed AUC of samples."""
    above = np.cumsum(unlabeled, axis=1, dtype=np.float64)
    size = above[:, -1:]
    above -= unlabeled / 2
    return np.asarray(1 - np.einsum("ij,ij->i", labeled, above / size) / labeled.sum(axis=1))


def groups_with(counts: ScoreCounts, groups: ScoreCounts, cuts: Sequence[float]) -> ScoreCounts:
    """Return the groups of counts, and more of them, so that none lies across a cut."""
    ends = np.searchsorted(-counts.thresholds, -groups.thresholds)
    reached = counts.n_thresholds - np.searchsorted(counts.thresholds[::-1], cuts, side="left")
    ends = np.union1d(ends, reached[reached > 0] - 1)
    return counts._grouped(np.append(0, ends[:-1] + 1))


def middle_of(shares: FloatArray) -> tuple[float, float]:
    """Return the alpha and the beta whose formulas give medians.

    Alpha is the median. The AUC depends on beta - alpha alone, so that its median is where that
    has its median.
    """
    alpha = float(np.median(shares[:, 0]))
    delta = float(np.median(shares[:, 1] - shares[:, 0]))
    return alpha, min(alpha + delta, 1.0)
