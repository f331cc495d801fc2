"""Estimators by kernels on the features: KM1 and KM2, and the divergences PE and penL1."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from purecover._parameters import checked
from purecover._typing import FloatArray, IntArray, RandomState
from purecover._validation import check_choice, check_integer, check_real, check_seeding
from purecover.estimators.base import Inclusions, register_prior_estimator
from purecover.estimators.rows import FeaturePriorEstimator, Rows

# -- KM1 and KM2 ---------------------------------------------------------------------------------


KM_WIDTHS = np.logspace(-1, 1, 5)
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
    cut there, unlike in the authors' program, since no slope exceeds
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

    reference: ClassVar[str] = "Ramaswamy, Scott & Tewari, ICML 2016"

    variant: Literal["km2", "km1"] = checked("km2", check_choice, choices=("km2", "km1"))
    width: float | None = checked(None, check_real, low=0, closed="neither")
    max_points: int = checked(4000, check_integer, low=10)
    random_state: RandomState = checked(0, check_seeding)

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
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
            a = 1.0  # not one point tells the samples apart
        elif low == 1:
            a = 0.0
            notes.append(
                "the distance rises from the start: no labeled example could be taken away"
            )
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


# -- points -------------------------------------------------------------------------------------


class _Points(NamedTuple):
    """Distinct points, and the share of each sample that is there."""

    values: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray


def _shares(rows: Rows, most: int) -> tuple[int, int]:
    """Half of the points for each sample, or what the other leaves."""
    few = min(rows.n_labeled, max(most // 2, most - rows.n_unlabeled))
    return few, min(rows.n_unlabeled, most - few)


def _points(rows: Rows, cell: float | None) -> _Points:
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


def _median_distance(rows: Rows) -> float:
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


# -- embedding ----------------------------------------------------------------------------------


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


def _embedded(rows: Rows, width: float | None) -> tuple[_Points, _Embedding, float]:
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
        apart = [difference @ bumps(squares, w) @ difference for w in KM_WIDTHS]
        width = best = float(KM_WIDTHS[int(np.argmax(apart))])
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


# -- search -------------------------------------------------------------------------------------


def _threshold(embedding: _Embedding, variant: str, rows: Rows) -> float:
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


# -- PE and penL1 --------------------------------------------------------------------------------


MOST_ROWS = 10_000
"""Of more rows on a side, so many are drawn: the values of all bumps at all rows are kept."""

_PAIRS = 1000
"""Rows among which the typical distance is looked for."""

_FLAT = 300.0
"""Exponents are cut here: smaller values are 0 in effect, and their products would be subnormal
numbers, with which processors are slow."""


@dataclass(kw_only=True, eq=False, repr=False)
class BumpEstimator(FeaturePriorEstimator):
    """Parameters of the estimators that compare means of bumps; their docstrings say more."""

    n_centers: int = checked(100, check_integer, low=1)
    n_folds: int = checked(5, check_integer, low=2)
    random_state: RandomState = checked(0, check_seeding)


def prepared(rows: Rows, rng: np.random.Generator) -> tuple[Rows, tuple[str, ...]]:
    """Rows in random order and not too many, on a scale on which distances can be squared.

    Returned with what should be said about those left out.
    """
    few = rows.scaled()
    few = Rows(
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


def typical_distance(rows: Rows, rng: np.random.Generator) -> float:
    """Median distance between two of all rows, of those that differ; 1 if none do."""
    some = rng.permutation(np.concatenate((rows.labeled, rows.unlabeled)))[:_PAIRS]
    squares = squared_distances(some, some)[np.triu_indices(len(some), 1)]
    # Products round: what is equal may come out a little apart.
    apart = squares[squares > 1e-12 * squares.max(initial=0)]
    return float(np.sqrt(np.median(apart))) if apart.size else 1.0


def fold_slices(n: int, n_folds: int) -> list[slice]:
    """Folds of n rows in random order; they differ in size by one at most."""
    ends = [k * n // n_folds for k in range(n_folds + 1)]
    return [slice(start, end) for start, end in pairwise(ends)]


# -- PE: the share of the labeled density that comes closest to the density of all examples ------


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
    """Share of positives among all examples; above 1 if the fit is poor."""
    gain = 2 * weights @ moments.h - weights @ moments.H @ weights
    return float(1 / gain) if gain > 0 else np.inf


def _loss(moments: PearsonMoments, weights: FloatArray) -> FloatArray:
    """What the weights minimize, without regularization; one number for each column."""
    quadratic = np.einsum("ij,ij->j", weights, moments.H @ weights)
    return np.asarray(quadratic / 2 - moments.h @ weights)


@register_prior_estimator("pearson")
@dataclass(kw_only=True, eq=False, repr=False)
class PearsonDivergence(BumpEstimator):
    r"""Match the labeled density to all examples in the Pearson divergence.

    Assumes: classes do not overlap; labels are clean; features on like scales.

    Known to fail: too high wherever classes overlap, however many examples there are.

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
    >>> p = pu.estimators.PearsonDivergence().fit(X, np.arange(1500) < 500).proportions_
    >>> abs(p.alpha - 0.2) < 0.05
    True
    """

    reference: ClassVar[str] = "du Plessis & Sugiyama, IEICE Transactions 2014"

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
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


# -- penL1: how much of the labeled density fits below the unlabeled one, by a penalized distance


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
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(1500) < 700  # 500 of them labeled, and 200 of 1000 unlabeled
    >>> X = rng.normal(size=(1500, 2)) + 3 * positive[:, None]
    >>> p = pu.estimators.PenalizedL1().fit(X, np.arange(1500) < 500).proportions_
    >>> abs(p.alpha - 0.2) < 0.05
    True
    """

    reference: ClassVar[str] = "du Plessis, Niu & Sugiyama, Machine Learning 2017"

    n_centers: int = checked(300, check_integer, low=1)

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
