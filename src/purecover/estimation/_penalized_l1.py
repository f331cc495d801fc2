"""penL1: how much of the labeled density fits below the unlabeled one, by a penalized distance."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from purecover._typing import FloatArray, IntArray, RandomState
from purecover.estimation._base import Inclusions
from purecover.estimation._kernel_basis import (
    BumpEstimator,
    bumps,
    fold_slices,
    prepared,
    squared_distances,
    typical_distance,
)
from purecover.estimation._registry import register_prior_estimator
from purecover.estimation._rows import Rows

__all__ = ["PenalizedL1"]

WIDTHS = np.logspace(-2, 1, 10)
"""Widths of the bumps that are tried, as multiples of the typical distance."""

RIDGES = np.logspace(-3, 1, 10)
"""Strengths of regularization that are tried."""

SHARES = np.linspace(0.0, 1.0, 101)
"""Shares at which width and regularization are chosen."""


class _Means(NamedTuple):
    """Mean value of each bump among the labeled and the unlabeled; one row for each fold."""

    labeled: FloatArray
    unlabeled: FloatArray


def penalized_l1(
    shares: FloatArray, labeled: FloatArray, unlabeled: FloatArray, ridge: float
) -> FloatArray:
    """The divergence at each share, from the mean of each bump in the two samples."""
    excess = np.maximum(np.multiply.outer(shares, labeled) - unlabeled, 0)
    return np.asarray((excess**2).sum(axis=-1) / ridge - shares + 1)


def smallest_share(
    labeled: FloatArray, unlabeled: FloatArray, ridge: float, low: float, high: float
) -> float:
    """Where on [low, high] the divergence is smallest, exactly.

    Its derivative rises in straight pieces, with corners where a bump's excess becomes
    positive: the piece that crosses zero is solved for.
    """

    def slope(share: float) -> float:
        excess = np.maximum(share * labeled - unlabeled, 0)
        return 2 / ridge * float(excess @ labeled) - 1

    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        corners = unlabeled / labeled
    corners = np.sort(corners[(corners > low) & (corners < high)])
    left, right = 0, corners.size  # the first corner with a slope of 0 or more
    while left < right:
        middle = (left + right) // 2
        left, right = (left, middle) if slope(corners[middle]) >= 0 else (middle + 1, right)
    inside = corners[left] if left < corners.size else high
    before = corners[left - 1] if left > 0 else low
    active = labeled * (before + inside) / 2 > unlabeled
    # 2 sum_active (share l - u) l = ridge
    top = ridge / 2 + unlabeled[active] @ labeled[active]
    return float(np.clip(top / (labeled[active] @ labeled[active]), before, inside))


@register_prior_estimator("penalized-l1")
class PenalizedL1(BumpEstimator):
    r"""Penalized L1 distance: the labeled density must not stand out above the unlabeled one.

    Parameters
    ----------
    n_centers : int, default=300
        Gaussian bumps, around as many rows drawn at random, half of them labeled.
    n_folds : int, default=5
        Folds of the cross-validation that chooses, for each share, the width of the bumps and
        the strength of regularization.
    random_state : int, numpy.random.Generator or None, default=0
        Where the centers and the folds come from.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the chosen ``"width"`` as a multiple of
        the median distance, the strength of regularization (``"ridge"``) and the
        ``"divergence"``.

    See Also
    --------
    PearsonDivergence : Simpler, and biased where classes overlap.

    Notes
    -----
    With Gaussian bumps :math:`\varphi_l` and
    :math:`\beta_l(\pi) = \pi\,\mathrm{mean}_L \varphi_l - \mathrm{mean}_U \varphi_l`,

    .. math:: \mathrm{penL1}(\pi) = \frac{1}{\lambda} \sum_l \max(0, \beta_l(\pi))^2 - \pi + 1

    falls as long as :math:`\pi` times the labeled density stays below the unlabeled one, and
    rises soon after: its minimum estimates the largest share that fits, which is alpha if
    positives are pure somewhere and labels clean. Width and :math:`\lambda` are those with the
    smallest :math:`-\sum_l \max(0, \beta_l) \beta_l' / \lambda` for each :math:`\pi` of a grid,
    :math:`\beta_l'` from rows left out. Between two points of the grid the minimum is found
    exactly, as the function is quadratic in pieces. The authors put all bumps around unlabeled
    rows, where they overlook labeled rows that have no unlabeled ones nearby, and with them an
    alpha near 0. No center counts in the mean of its own bump.

    The estimate depends on ``random_state`` through the centers and the folds: with 1,000 labeled
    and 5,000 unlabeled rows of two normal classes and an alpha of 0.3, seeds move it by some
    hundredths on the same data. The median over several seeds varies less.

    The result leans on :math:`\lambda`: a large one lets :math:`\pi` run to 1. Where nearly
    all unlabeled are positive, noise is taken for an excess and the estimate leans low. In many
    dimensions bumps see little, nothing stands out, and the estimate is far too high; features
    that say nothing do harm. On the scores of a classifier it does better. Labels are taken as
    clean; :class:`NoisyLabels` makes it an estimator of beta too. Distances mix the features,
    so bring them to like units first. Of more than 10,000 rows on a side, 10,000 are drawn.

    References
    ----------
    du Plessis, Niu & Sugiyama (2017), "Class-prior estimation for learning from positive and
    unlabeled data", Machine Learning 106.

    Examples
    --------
    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(1500) < 700  # 500 of them labeled, and 200 of 1000 unlabeled
    >>> X = rng.normal(size=(1500, 2)) + 3 * positive[:, None]
    >>> p = pu.PenalizedL1().fit(X, np.arange(1500) < 500).proportions_
    >>> abs(p.alpha - 0.2) < 0.05
    True
    """

    reference: ClassVar[str] = "du Plessis, Niu & Sugiyama, Machine Learning 2017"

    def __init__(
        self, *, n_centers: int = 300, n_folds: int = 5, random_state: RandomState = 0
    ) -> None:
        super().__init__(n_centers=n_centers, n_folds=n_folds, random_state=random_state)

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
        few, notes = prepared(rows, rng)
        scale = typical_distance(few, rng)
        n_ours = min(self.n_centers // 2, few.n_labeled)
        n_theirs = min(self.n_centers - n_ours, few.n_unlabeled)
        centers = np.concatenate((few.labeled[:n_ours], few.unlabeled[:n_theirs]))
        squares = [squared_distances(side, centers) for side in (few.labeled, few.unlabeled)]
        # One row on a side cannot be left out; it is then compared with itself.
        folds = max(1, min(self.n_folds, few.n_labeled, few.n_unlabeled))
        slices = [fold_slices(len(side), folds) for side in squares]
        sizes = [np.array([[float(p.stop - p.start)] for p in parts]) for parts in slices]
        if folds > 1:
            own = (np.arange(n_ours), np.arange(n_theirs))
            columns = (own[0], n_ours + own[1])
            for i in range(2):
                sizes[i] = _without_own(squares[i], sizes[i], slices[i], own[i], columns[i])
        means, losses = [], []
        for width in WIDTHS:
            values = (bumps(side, width * scale) for side in squares)
            sums = [
                np.stack([side[part].sum(axis=0) for part in parts])
                for side, parts in zip(values, slices, strict=True)
            ]
            losses.append(_held_out(sums, sizes))
            means.append(_Means(*map(_mean, sums, sizes)))
        loss = np.array(losses)[:, None] / RIDGES[:, None]  # (n_widths, n_ridges, n_shares)
        best = loss.reshape(-1, SHARES.size).argmin(axis=0)
        width_of, ridge_of = np.unravel_index(best, loss.shape[:2])
        chosen = [(means[w], float(RIDGES[r])) for w, r in zip(width_of, ridge_of, strict=True)]
        found = [
            float(penalized_l1(SHARES[i : i + 1], m.labeled, m.unlabeled, ridge)[0])
            for i, (m, ridge) in enumerate(chosen)
        ]
        place = int(np.argmin(found))
        mean, ridge = chosen[place]
        step = SHARES[1] - SHARES[0]
        low, high = max(SHARES[place] - step / 2, 0.0), min(SHARES[place] + step / 2, 1.0)
        a = smallest_share(mean.labeled, mean.unlabeled, ridge, low, high)
        details = {
            "width": float(WIDTHS[width_of[place]]),
            "ridge": ridge,
            "divergence": found[place],
            "at_edge": not 0 < a < 1,
        }
        return Inclusions(a, notes=notes, details=details)


def _without_own(
    squares: FloatArray, sizes: FloatArray, slices: list[slice], rows: IntArray, columns: IntArray
) -> FloatArray:
    """Take each center out of the mean of its own bump, which it alone would lift.

    Its distance, in place, is made so large that it adds nothing; returned is how many rows
    remain in each fold, for each bump.
    """
    squares[rows, columns] = np.inf
    sizes = np.repeat(sizes, squares.shape[1], axis=1)
    for k, part in enumerate(slices):
        sizes[k, columns[(rows >= part.start) & (rows < part.stop)]] -= 1
    return sizes


def _mean(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    return np.asarray(sums.sum(axis=0) / np.maximum(sizes.sum(axis=0), 1))


def _held_out(sums: list[FloatArray], sizes: list[FloatArray]) -> FloatArray:
    """Loss on rows left out, times the ridge: one number for each share."""
    held = kept = _Means(*(s / np.maximum(n, 1) for s, n in zip(sums, sizes, strict=True)))
    if len(held.labeled) > 1:
        kept = _Means(
            *(
                (s.sum(axis=0) - s) / np.maximum(n.sum(axis=0) - n, 1)
                for s, n in zip(sums, sizes, strict=True)
            )
        )
    loss = np.empty(SHARES.size)
    for i, share in enumerate(SHARES):
        excess = np.maximum(share * kept.labeled - kept.unlabeled, 0)
        loss[i] = -float(np.sum(excess * (share * held.labeled - held.unlabeled)))
    return loss / len(held.labeled)
