"""PE: the share of the labeled density that comes closest to the density of all examples."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from purecover._typing import FloatArray, RandomState
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

__all__ = ["PearsonDivergence"]

WIDTHS = np.linspace(0.2, 5, 10)
"""Widths of the bumps that are tried, as multiples of the typical distance."""

RIDGES = np.logspace(-3, 1, 9)
"""Strengths of regularization that are tried."""


class PearsonMoments(NamedTuple):
    """Means of the bumps among the labeled, and of their products among all."""

    h: FloatArray
    H: FloatArray


def pearson_moments(
    labeled: FloatArray, unlabeled: FloatArray, labeled_share: float
) -> PearsonMoments:
    """Moments of values of the bumps, one column each."""
    among_labeled = labeled.T @ labeled / len(labeled)
    among_unlabeled = unlabeled.T @ unlabeled / len(unlabeled)
    products = labeled_share * among_labeled + (1 - labeled_share) * among_unlabeled
    return PearsonMoments(labeled.mean(axis=0), products)


def pearson_weights(moments: PearsonMoments, ridges: FloatArray) -> FloatArray:
    """Coefficients of the bumps, one column for each strength of regularization."""
    values, vectors = np.linalg.eigh(moments.H)
    shrunk = (vectors.T @ moments.h)[:, None] / (np.maximum(values, 0)[:, None] + ridges)
    return np.asarray(vectors @ shrunk)


def pearson_prior(moments: PearsonMoments, weights: FloatArray) -> float:
    """Share of positives among all examples; above 1 if the fit is poor."""
    gain = 2 * weights @ moments.h - weights @ moments.H @ weights
    return float(1 / gain) if gain > 0 else np.inf


def _loss(moments: PearsonMoments, weights: FloatArray) -> FloatArray:
    """What the weights minimize, without regularization; one number for each column."""
    quadratic = np.einsum("ij,ij->j", weights, moments.H @ weights)
    return np.asarray(quadratic / 2 - moments.h @ weights)


@register_prior_estimator("pearson")
class PearsonDivergence(BumpEstimator):
    r"""Match the labeled density to all examples in the Pearson divergence.

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
        positives among all examples (``"pooled_prior"``).

    See Also
    --------
    PenalizedL1 : A divergence without the bias described below.

    Notes
    -----
    With the density :math:`g` of the labeled and :math:`p = c g + (1-c) f` of all examples,
    the Pearson divergence from :math:`\pi g` to :math:`p` is smallest at

    .. math:: \pi^* = \Big(\int \frac{g(x)^2}{p(x)}\,dx\Big)^{-1}, \qquad
        \hat\pi = \frac{1}{2\theta^T h - \theta^T H \theta}, \qquad
        \theta = (H + \lambda I)^{-1} h,

    where :math:`h` holds the means of Gaussian bumps among the labeled rows and :math:`H` the
    means of their products among all rows. From it follows
    :math:`\hat\alpha = (\hat\pi N - n_L) / n_U`, cut to [0, 1].

    It is right where the classes do not overlap. Where they do, :math:`\pi^*` exceeds the share
    of positives however many examples there are: the estimate is that of
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
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(1500) < 700  # 500 of them labeled, and 200 of 1000 unlabeled
    >>> X = rng.normal(size=(1500, 2)) + 5 * positive[:, None]
    >>> p = pu.PearsonDivergence().fit(X, np.arange(1500) < 500).proportions_
    >>> abs(p.alpha - 0.2) < 0.05
    True
    """

    reference: ClassVar[str] = "du Plessis & Sugiyama, IEICE Transactions 2014"

    def __init__(
        self, *, n_centers: int = 100, n_folds: int = 5, random_state: RandomState = 0
    ) -> None:
        super().__init__(n_centers=n_centers, n_folds=n_folds, random_state=random_state)

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
        few, notes = prepared(rows, rng)
        share = few.n_labeled / (few.n_labeled + few.n_unlabeled)
        centers = few.labeled[: self.n_centers]
        scale = typical_distance(few, rng)
        squares = [squared_distances(side, centers) for side in (few.labeled, few.unlabeled)]
        folds = min(self.n_folds, few.n_labeled, few.n_unlabeled)
        # One row on a side cannot be left out: the median distance must do.
        chosen = []
        for width in WIDTHS if folds > 1 else np.ones(1):
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
    if n_folds < 2:
        return pearson_moments(labeled, unlabeled, share), np.zeros(RIDGES.size)
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
    for k in every:
        weights = pearson_weights(moments([other for other in every if other != k]), RIDGES)
        losses += _loss(moments([k]), weights)
    return moments(every), losses
