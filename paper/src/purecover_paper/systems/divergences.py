"""Divergences between densities made of Gaussian bumps: PE and penL1."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from purecover.estimators import (
    Inclusions,
    parameter,
    register_prior_estimator,
)
from purecover_paper.systems.arrays import FloatArray, IntArray, RandomState
from purecover_paper.systems.rows import FeaturePriorEstimator, FeatureRows

MOST_ROWS = 10_000
"""Of more rows on a side, so many are drawn: the values of all bumps at all rows are kept."""

_PAIRS = 1000
"""Rows among which the typical distance is looked for."""

_FLAT = 300.0
"""Exponents are cut here: smaller values are 0 in effect, and their products would be subnormal
numbers, with which processors are slow."""


@dataclass(kw_only=True, eq=False, repr=False)
class BumpEstimator(FeaturePriorEstimator):
    """Parameters of the estimators that compare means of bumps."""

    n_centers: int = parameter(100, "integer", low=1)
    n_folds: int = parameter(5, "integer", low=2)
    random_state: RandomState = parameter(0, "random_state")


def prepared(rows: FeatureRows, rng: np.random.Generator) -> tuple[FeatureRows, tuple[str, ...]]:
    """Rows in random order and not too many, on a scale on which distances can be squared.

    Returned with what should be said about those left out.
    """
    few = rows.scaled()
    few = FeatureRows(
        *(side[rng.permutation(len(side))[:MOST_ROWS]] for side in (few.labeled, few.unlabeled))
    )
    if few.n_labeled == rows.n_labeled and few.n_unlabeled == rows.n_unlabeled:
        return few, ()
    note = (
        f"estimated from {few.n_labeled} of {rows.n_labeled} labeled and {few.n_unlabeled} of "
        f"{rows.n_unlabeled} unlabeled rows, drawn at random"
    )
    return few, (note,)


def squared_distances(rows: FloatArray, centers: FloatArray) -> FloatArray:
    """Between each row and each center, of shape (n_rows, n_centers)."""
    if rows.shape[1] == 1:
        return np.asarray(np.square(rows - centers.T))
    # One matrix product, as differences would need n_features times the memory.
    squares = np.einsum("ij,ij->i", rows, rows)[:, None] - 2 * rows @ centers.T
    squares += np.einsum("ij,ij->i", centers, centers)
    return np.maximum(squares, 0, out=squares)


def bumps(squares: FloatArray, width: float) -> FloatArray:
    """exp(-d^2 / (2 width^2)) of squared distances."""
    exponents = squares * (0.5 / width**2)
    np.minimum(exponents, _FLAT, out=exponents)
    np.negative(exponents, out=exponents)
    return np.exp(exponents, out=exponents)


def typical_distance(rows: FeatureRows, rng: np.random.Generator) -> float:
    """Median distance between two of all rows, of those that differ; 1 if none do."""
    some = rng.permutation(np.concatenate((rows.labeled, rows.unlabeled)))[:_PAIRS]
    squares = squared_distances(some, some)[np.triu_indices(len(some), 1)]
    # Products round: equal values may differ a little.
    apart = squares[squares > 1e-12 * squares.max(initial=0)]
    return float(np.sqrt(np.median(apart))) if apart.size else 1.0


def fold_slices(n: int, n_folds: int) -> list[slice]:
    """Folds of n rows in random order; they differ in size by one at most."""
    ends = [k * n // n_folds for k in range(n_folds + 1)]
    return [slice(start, end) for start, end in pairwise(ends)]


PE_WIDTHS = np.linspace(0.2, 5, 10)
"""Widths of the bumps that are tried, as multiples of the typical distance."""

RIDGES = np.logspace(-3, 1, 9)
"""Strengths of regularization that are tried."""


class PearsonMoments(NamedTuple):
    """Means of the bumps among the labeled, and of their products among all."""

    h: FloatArray
    H: FloatArray


def pearson_weights(moments: PearsonMoments, ridges: FloatArray) -> FloatArray:
    """Coefficients of the bumps, one column for each strength of regularization."""
    values, vectors = np.linalg.eigh(moments.H)
    shrunk = (vectors.T @ moments.h)[:, None] / (np.maximum(values, 0)[:, None] + ridges)
    return np.asarray(vectors @ shrunk)


def pearson_prior(moments: PearsonMoments, weights: FloatArray) -> float:
    """Share of positives among all rows; above 1 if the fit is poor."""
    gain = 2 * weights @ moments.h - weights @ moments.H @ weights
    return float(1 / gain) if gain > 0 else np.inf


def _loss(moments: PearsonMoments, weights: FloatArray) -> FloatArray:
    """Return the loss that the weights minimize, without regularization; one number per column."""
    quadratic = np.einsum("ij,ij->j", weights, moments.H @ weights)
    return np.asarray(quadratic / 2 - moments.h @ weights)


@register_prior_estimator("pearson")
@dataclass(kw_only=True, eq=False, repr=False)
class PearsonDivergence(BumpEstimator):
    r"""Match the labeled density to all rows in the Pearson divergence.

    Assumes: classes do not overlap; labels are clean; features on like scales.

    Known to fail: too high wherever classes overlap, however many rows there are.

    Parameters
    ----------
    n_centers : int, default=100
        Gaussian bumps, around as many labeled rows drawn at random.
    n_folds : int, default=5
        Folds of the cross-validation that chooses the width of the bumps and the strength of
        regularization.
    random_state : int, numpy.random.Generator or None, default=0
        Where the centers and the folds come from.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the chosen ``"width"`` as a multiple of
        the median distance, the strength of regularization (``"ridge"``) and the share of
        positives among all rows (``"pooled_prior"``).

    See Also
    --------
    PenalizedL1 : A divergence without the bias described below.

    Notes
    -----
    With the density :math:`g` of the labeled and :math:`p = c g + (1-c) f` of all rows,
    the Pearson divergence from :math:`\pi g` to :math:`p` is smallest at

    .. math:: \pi^* = \Big(\int \frac{g(x)^2}{p(x)}\,dx\Big)^{-1}, \qquad
        \hat\pi = \frac{1}{2\theta^T h - \theta^T H \theta}, \qquad
        \theta = (H + \lambda I)^{-1} h,

    where :math:`h` holds the means of Gaussian bumps among the labeled rows and :math:`H` the
    means of their products among all rows. From it follows
    :math:`\hat\alpha = (\hat\pi N - n_L) / n_U`, cut to [0, 1].

    It is right where the classes do not overlap. Where they do, :math:`\pi^*` exceeds the share
    of positives however many rows there are: the estimate is that of
    :class:`ElkanNoto` with ``"e1"``, without a classifier. Labels are taken as clean;
    :class:`NoisyLabels` makes it an estimator of beta too. Distances mix the features, so bring
    them to like units first. Of more than 10,000 rows on a side, 10,000 are drawn.

    References
    ----------
    du Plessis & Sugiyama (2014), "Class prior estimation from positive and unlabeled data",
    IEICE Transactions E97-D.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(1500) < 700  # 500 of them labeled, and 200 of 1000 unlabeled
    >>> X = rng.normal(size=(1500, 2)) + 5 * positive[:, None]
    >>> from purecover_paper.systems import PearsonDivergence
    >>> p = PearsonDivergence().fit(X, np.arange(1500) < 500).proportions_
    >>> abs(p.alpha - 0.2) < 0.05
    True
    """

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        few, notes = prepared(rows, rng)
        share = few.n_labeled / (few.n_labeled + few.n_unlabeled)
        centers = few.labeled[: self.n_centers]
        scale = typical_distance(few, rng)
        squares = [squared_distances(side, centers) for side in (few.labeled, few.unlabeled)]
        folds = min(self.n_folds, few.n_labeled, few.n_unlabeled)
        # One row on a side cannot be left out: the median distance must do.
        chosen = []
        for width in PE_WIDTHS if folds > 1 else np.ones(1):
            values = [bumps(side, width * scale) for side in squares]
            whole, losses = _cross_validated(values, share, folds)
            place = int(np.argmin(losses))
            chosen.append((float(losses[place]), float(width), float(RIDGES[place]), whole))
        _, width, ridge, moments = min(chosen, key=lambda found: found[0])
        weights = pearson_weights(moments, np.array([ridge]))[:, 0]
        pooled = min(max(pearson_prior(moments, weights), share), 1.0)
        a = (pooled - share) / (1 - share)
        if a == 0:
            notes += ("no share of the labeled density is found among the unlabeled: alpha = 0",)
        details = {
            "pooled_prior": pooled,
            "width": width,
            "ridge": ridge,
            "at_edge": not 0 < a < 1,
        }
        return Inclusions(a, notes=notes, details=details)


def _cross_validated(
    values: list[FloatArray], share: float, n_folds: int
) -> tuple[PearsonMoments, FloatArray]:
    """Moments of all rows, and the loss on rows left out for each strength of regularization."""
    labeled, unlabeled = values
    sizes = len(labeled), len(unlabeled)
    slices = list(zip(*(fold_slices(n, n_folds) for n in sizes), strict=True))
    # Sums over folds, from which all that follows is put together without another pass.
    h = np.stack([labeled[few].sum(axis=0) for few, _ in slices])
    few_products = np.stack([labeled[few].T @ labeled[few] for few, _ in slices])
    many_products = np.stack([unlabeled[many].T @ unlabeled[many] for _, many in slices])

    def moments(folds: list[int]) -> PearsonMoments:
        n_few = sum(len(labeled[slices[k][0]]) for k in folds)
        n_many = sum(len(unlabeled[slices[k][1]]) for k in folds)
        products = share * few_products[folds].sum(axis=0) / n_few
        products += (1 - share) * many_products[folds].sum(axis=0) / n_many
        return PearsonMoments(h[folds].sum(axis=0) / n_few, products)

    every = list(range(n_folds))
    losses = np.zeros(RIDGES.size)
    for k in every if n_folds > 1 else ():
        weights = pearson_weights(moments([other for other in every if other != k]), RIDGES)
        losses += _loss(moments([k]), weights)
    return moments(every), losses


L1_WIDTHS = np.logspace(-2, 1, 10)
"""Widths of the bumps that are tried, as multiples of the typical distance."""

L1_RIDGES = np.logspace(-3, 1, 10)
"""Strengths of regularization that are tried."""

SHARES = np.linspace(0.0, 1.0, 101)
"""Shares at which width and regularization are chosen."""


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
    first = bisect_left(corners, 0.0, key=slope)  # with a slope of 0 or more
    inside = corners[first] if first < corners.size else high
    before = corners[first - 1] if first > 0 else low
    active = labeled * (before + inside) / 2 > unlabeled
    # 2 sum_active (share l - u) l = ridge
    top = ridge / 2 + unlabeled[active] @ labeled[active]
    return float(np.clip(top / (labeled[active] @ labeled[active]), before, inside))


@register_prior_estimator("penalized-l1")
@dataclass(kw_only=True, eq=False, repr=False)
class PenalizedL1(BumpEstimator):
    r"""Penalized L1 distance: the labeled density must not stand out above the unlabeled one.

    Assumes: positives are pure somewhere; labels are clean; features on like scales.

    Known to fail: far too high in many dimensions, or among features that say nothing; leans low
    where alpha is near 1.

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
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(1500) < 700  # 500 of them labeled, and 200 of 1000 unlabeled
    >>> X = rng.normal(size=(1500, 2)) + 3 * positive[:, None]
    >>> from purecover_paper.systems import PenalizedL1
    >>> p = PenalizedL1().fit(X, np.arange(1500) < 500).proportions_
    >>> abs(p.alpha - 0.2) < 0.05
    True
    """

    n_centers: int = parameter(300, "integer", low=1)

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
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
        for width in L1_WIDTHS:
            values = (bumps(side, width * scale) for side in squares)
            sums = [
                np.stack([side[part].sum(axis=0) for part in parts])
                for side, parts in zip(values, slices, strict=True)
            ]
            losses.append(_held_out(sums, sizes))
            pairs = zip(sums, sizes, strict=True)
            means.append([s.sum(axis=0) / np.maximum(n.sum(axis=0), 1) for s, n in pairs])
        loss = np.array(losses)[:, None] / L1_RIDGES[:, None]  # (n_widths, n_ridges, n_shares)
        best = loss.reshape(-1, SHARES.size).argmin(axis=0)
        width_of, ridge_of = np.unravel_index(best, loss.shape[:2])
        chosen = [(means[w], float(L1_RIDGES[r])) for w, r in zip(width_of, ridge_of, strict=True)]
        found = [
            float(penalized_l1(SHARES[i : i + 1], ours, theirs, ridge)[0])
            for i, ((ours, theirs), ridge) in enumerate(chosen)
        ]
        place = int(np.argmin(found))
        (ours, theirs), ridge = chosen[place]
        step = SHARES[1] - SHARES[0]
        low, high = max(SHARES[place] - step / 2, 0.0), min(SHARES[place] + step / 2, 1.0)
        a = smallest_share(ours, theirs, ridge, low, high)
        details = {
            "width": float(L1_WIDTHS[width_of[place]]),
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


def _held_out(sums: list[FloatArray], sizes: list[FloatArray]) -> FloatArray:
    """Loss on rows left out, times the ridge: one number for each share."""
    pairs = list(zip(sums, sizes, strict=True))
    labeled, unlabeled = kept = [s / np.maximum(n, 1) for s, n in pairs]
    if len(labeled) > 1:
        kept = [(s.sum(axis=0) - s) / np.maximum(n.sum(axis=0) - n, 1) for s, n in pairs]
    loss = np.empty(SHARES.size)
    for i, share in enumerate(SHARES):
        excess = np.maximum(share * kept[0] - kept[1], 0)
        loss[i] = -float(np.sum(excess * (share * labeled - unlabeled)))
    return loss / len(labeled)
