"""Mean embeddings in the space of a Gaussian kernel: KM1 and KM2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from purecover.estimators import (
    Inclusions,
    parameter,
    register_prior_estimator,
)
from purecover_paper.systems.arrays import FloatArray, IntArray, RandomState
from purecover_paper.systems.divergences import bumps
from purecover_paper.systems.rows import FeaturePriorEstimator, FeatureRows

WIDTHS = np.logspace(-1, 1, 5)
"""Kernel widths that are tried, in units of the median distance."""

MOST_LAMBDA = 8.0
"""Where the search ends, which keeps a at or below 1 - 1/8."""

STEP = 0.02
"""Slopes are differences over this much of lambda."""

FINEST = 0.01
"""The search stops when lambda is known this well."""

FIRST_STEP, FIRST_SHARE = 0.05, 0.8
"""The slope at lambda = 1 is taken over the former and enters KM2's threshold by the latter."""

WEAK = 0.9
"""No threshold exceeds this share of the steepest slope; KM1 then leaves it to KM2."""

CELL = 0.02
"""Scores are rounded to this share of their median distance."""

KERNEL_ERROR, MOST_RANK = 1e-4, 500
"""The kernel is factored until no diagonal entry errs by more, or to this rank."""

SLACK, NO_GAIN, MORE = 1e-5, 1e-11, 100
"""A distance is found when no point gains more, relative to its square or at all; otherwise
the best points join those that have weight: at least so many at a time."""


@register_prior_estimator("kernel-mean")
@dataclass(kw_only=True, eq=False, repr=False)
class KernelMean(FeaturePriorEstimator):
    r"""Mean embedding in the space of a Gaussian kernel: KM1 and KM2.

    Assumes: no part of the labeled density is contained in that of the negatives; labels are clean;
    features on like scales.

    Known to fail: alpha above .875, where the search ends; many dimensions; slow.

    Parameters
    ----------
    variant : {"km2", "km1"}, default="km2"
        How steep the distance must rise to count as rising; see Notes.
    width : float, optional
        Standard deviation of the kernel, in the units of the features. By default the one of
        0.1, 0.32, 1, 3.2 and 10 median distances at which the samples are farthest apart.
    max_points : int, default=4000
        With more rows than this, half of them (or all there are) are drawn at random from each
        sample. Memory is about 24 bytes times the square of it. A single feature needs no
        subsample: its values are rounded to 2 % of the median distance.
    random_state : int, numpy.random.Generator or None, default=0
        Where the subsample comes from.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"lambda"``, the ``"threshold"`` of
        the slope, the ``"distance"`` between the two samples, the ``"width"`` in median
        distances (or as given), ``"n_points"``, the ``"rank"`` of the kernel and the
        ``"kernel_error"``, its largest error on the diagonal.

    Notes
    -----
    With the means :math:`\mu_U` and :math:`\mu_L` of the two samples in the space of the
    kernel :math:`k(x, y) = \exp(-\|x-y\|^2/2w^2)`, the distance from what is left of the
    unlabeled, when labeled ones are taken away, to the nearest density on the observed points is

    .. math::

        d(\lambda) = \min_{v \ge 0,\; \sum v = 1}
            \Big\| \lambda\mu_U + (1-\lambda)\mu_L - \sum_i v_i\, k(x_i, \cdot) \Big\|.

    It is convex, 0 up to :math:`\lambda^* = 1/(1-a)`, and rises from there on. The search in
    [1, 8] finds where its slope exceeds a threshold: :math:`1/\sqrt{\min(n_L, n_U)}` for KM1;
    for KM2, which the authors recommend, :math:`0.8\,d'(1) + 0.2\,\|\mu_U-\mu_L\|`. KM1 takes
    the threshold of KM2 where its own exceeds :math:`0.9\,\|\mu_U-\mu_L\|`; that of KM2 is
    cut there, which the authors' program does not do, since no slope exceeds
    :math:`\|\mu_U-\mu_L\|`. Then :math:`a = 1 - 1/\lambda^*`.

    The kernel is factored, :math:`K \approx F^T F`, by a pivoted Cholesky decomposition to an
    error of :math:`10^{-4}` or to rank 500, whichever comes first. The minimum over the simplex
    is then, up to a scale, one of non-negative least squares,
    :math:`\min_{u \ge 0} \|(F - t 1^T) u\|^2 + (1 - 1^T u)^2` with :math:`v = u / 1^T u` and the
    target :math:`t`, for which SciPy has a solver.

    Assumed is that no part of the labeled density is contained in that of the negatives; labels
    are taken as clean (:class:`NoisyLabels` estimates beta too). It fails where alpha exceeds
    0.875, the end of the search, which the notes say; and in many dimensions, where every point
    is far from every other, so that rising distances drown in noise. Features are used as they
    are: bring them to comparable scales first. Each replicate of an interval takes as long as
    the estimate.

    References
    ----------
    Ramaswamy, Scott & Tewari (2016), "Mixture proportion estimation via kernel embeddings of
    distributions", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> labeled = np.arange(800) < 300
    >>> positive = labeled | (rng.random(800) < 0.3)
    >>> X = rng.normal(size=(800, 2)) + np.where(positive, 2, -1)[:, None]
    >>> estimator = pu.estimators.prior_estimators()["kernel-mean"]()
    >>> abs(estimator.fit(X, labeled).proportions_.alpha - 0.3) < 0.1
    True
    """

    variant: Literal["km2", "km1"] = parameter("km2", "choice", choices=("km2", "km1"))
    width: float | None = parameter(None, "real", low=0, closed="neither")
    max_points: int = parameter(4000, "integer", low=10)
    random_state: RandomState = parameter(0, "random_state")

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        notes = []
        used = rows
        if rows.n_features > 1 and rows.n_labeled + rows.n_unlabeled > self.max_points:
            used = rows.subsampled(*_shares(rows, self.max_points), rng)
            notes.append(
                f"estimated from a random {used.n_labeled} of {rows.n_labeled} labeled and "
                f"{used.n_unlabeled} of {rows.n_unlabeled} unlabeled rows (max_points)"
            )
        points, embedding, width = _embedded(used, self.width)
        threshold = _threshold(embedding, self.variant, used)
        low, high = _search(embedding, threshold)
        lam = (low + high) / 2
        a = 1 - 1 / lam
        at_edge = low == 1 or high == MOST_LAMBDA
        if embedding.apart == 0:
            a = 1.0  # no point distinguishes the samples
        elif low == 1:
            a = 0.0
            notes.append("the distance rises from the start: no labeled row could be taken away")
        elif high == MOST_LAMBDA:
            a = 1 - 1 / MOST_LAMBDA
            notes.append(f"alpha may be larger: the search ends at {a:g}")
        details = {
            "lambda": lam,
            "threshold": threshold,
            "distance": embedding.apart,
            "width": width,
            "n_points": len(points.values),
            "rank": len(embedding.features),
            "kernel_error": embedding.error,
            "at_edge": at_edge,
        }
        return Inclusions(a, notes=tuple(notes), details=details)


class _Points(NamedTuple):
    """Distinct points, and the share of each sample that is there."""

    values: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray


def _shares(rows: FeatureRows, most: int) -> tuple[int, int]:
    """Half of the points for each sample, or what the other leaves."""
    few = min(rows.n_labeled, max(most // 2, most - rows.n_unlabeled))
    return few, min(rows.n_unlabeled, most - few)


def _points(rows: FeatureRows, cell: float | None) -> _Points:
    """Merge equal rows; values of a single feature within a cell."""
    pooled = np.concatenate((rows.labeled, rows.unlabeled))
    if cell is not None:
        column, place = np.unique(np.rint(pooled[:, 0] / cell) * cell, return_inverse=True)
        values = column[:, None]
    else:
        values, place = np.unique(pooled, axis=0, return_inverse=True)
        place = place.reshape(-1)  # NumPy 2.0 gave it another shape
    size = len(values)
    labeled = np.bincount(place[: rows.n_labeled], minlength=size) / rows.n_labeled
    unlabeled = np.bincount(place[rows.n_labeled :], minlength=size) / rows.n_unlabeled
    return _Points(values, labeled, unlabeled)


def _median_distance(rows: FeatureRows) -> float:
    """Median of the positive distances between at most 1,000 rows, evenly spaced."""
    from scipy.spatial.distance import pdist

    pooled = np.concatenate((rows.labeled, rows.unlabeled))
    for candidates in (pooled, np.unique(pooled, axis=0)):
        size = min(1000, len(candidates))
        some = candidates[np.linspace(0, len(candidates) - 1, size).astype(int)]
        distances = pdist(some)
        distances = distances[distances > 0]
        if distances.size:
            return float(np.median(distances))
    return 1.0


@dataclass(eq=False)
class _Embedding:
    """Points as columns whose inner products are the kernel, and the means of both samples.

    ``candidates`` are the columns with which the next search for the nearest mixture begins.
    """

    features: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    error: float
    candidates: IntArray

    @property
    def apart(self) -> float:
        """Distance between the two means."""
        return float(np.linalg.norm(self.unlabeled - self.labeled))

    def distance(self, lam: float) -> float:
        """Distance d(lambda) to the nearest mixture of points.

        Only a few hundred points have weight in it. The solver is given these, from the last
        lambda, and those that would bring the mixture nearer, until none would by much.
        """
        target = lam * self.unlabeled + (1 - lam) * self.labeled
        while True:
            weights = _nearest(self.features[:, self.candidates], target)
            used = weights > 0
            self.candidates, weights = self.candidates[used], weights[used]
            left = target - self.features[:, self.candidates] @ weights
            square = float(left @ left)
            gain = left @ self.features
            gain -= gain[self.candidates] @ weights
            # The square exceeds its minimum by at most twice the largest gain.
            better = np.flatnonzero(gain > SLACK * square + NO_GAIN)
            if not better.size:
                return square**0.5
            most = max(MORE, self.candidates.size // 2)
            if better.size > most:
                better = better[np.argpartition(gain[better], -most)[-most:]]
            self.candidates = np.union1d(self.candidates, better)


def _nearest(columns: FloatArray, target: FloatArray) -> FloatArray:
    """Weights of the mixture of columns that is nearest to a target."""
    from scipy.optimize import nnls

    rank, size = columns.shape
    rows = np.empty((rank + 1, size))
    rows[:-1] = columns - target[:, None]
    rows[-1] = 1.0
    goal = np.zeros(rank + 1)
    goal[-1] = 1.0
    weights, _ = nnls(rows, goal, maxiter=10 * size)
    return np.asarray(weights / weights.sum())


def _embedded(rows: FeatureRows, width: float | None) -> tuple[_Points, _Embedding, float]:
    """The points, their embedding and the width of the kernel."""
    from scipy.spatial.distance import cdist

    tame = rows.scaled(width)
    median = _median_distance(tame)
    single = rows.n_features == 1
    points = _points(tame, CELL * min(median, 1.0 if width else median) if single else None)
    squares = cdist(points.values, points.values, "sqeuclidean")
    best = 1.0
    if width is None:
        squares /= median**2
        difference = points.unlabeled - points.labeled
        apart = [difference @ bumps(squares, w) @ difference for w in WIDTHS]
        width = best = float(WIDTHS[int(np.argmax(apart))])
    return points, _factor(bumps(squares, best), points), width


def _factor(kernel: FloatArray, points: _Points) -> _Embedding:
    """Columns whose inner products are the kernel, nearly. The kernel is overwritten."""
    from scipy.linalg.lapack import dpstrf

    lower, pivots, rank, _ = dpstrf(kernel.T, tol=KERNEL_ERROR, lower=1, overwrite_a=1)
    rank = min(int(rank), MOST_RANK)
    pivots = pivots.astype(np.int64) - 1
    features = np.empty((rank, len(lower)))
    # Above the diagonal LAPACK leaves what was there.
    features[:, pivots] = np.tril(lower[:, :rank]).T
    return _Embedding(
        features,
        features @ points.labeled,
        features @ points.unlabeled,
        error=max(0.0, float(1 - np.square(features).sum(axis=0).min())),
        candidates=pivots[:rank],  # spread out: each is far from those before
    )


def _threshold(embedding: _Embedding, variant: str, rows: FeatureRows) -> float:
    """The slope from which on the distance counts as rising."""
    if variant == "km1":
        threshold = min(rows.n_labeled, rows.n_unlabeled) ** -0.5
        if threshold <= WEAK * embedding.apart:
            return float(threshold)
    first = embedding.distance(1 + FIRST_STEP) / FIRST_STEP  # it is 0 at 1
    threshold = FIRST_SHARE * first + (1 - FIRST_SHARE) * embedding.apart
    # The slope never exceeds the distance of the means, which it has throughout if the samples
    # have nothing in common.
    return min(threshold, WEAK * embedding.apart)


def _search(embedding: _Embedding, threshold: float) -> tuple[float, float]:
    """Two values of lambda between which the slope passes the threshold."""
    low, high = 1.0, MOST_LAMBDA
    while high - low > FINEST:
        lam = (low + high) / 2
        here = embedding.distance(lam)
        # A convex function that is 0 at 1 is at least as steep as the line from there.
        steep = here > threshold * (lam - 1)
        if steep or embedding.distance(lam + STEP) - here > threshold * STEP:
            high = lam
        else:
            low = lam
    return low, high
