r"""`LabelCurve`, the default: floor and ceiling of the share of labeled along the ranking.

.. math::

    \tau(u) = B + (A - B)\,\sigma(t + e^s z(u)), \qquad
    z(u) = \frac{u^{k_0} - 1}{k_0} - \frac{(1-u)^{k_1} - 1}{k_1}.

:math:`\sigma(\cdot)` is the chance that an example of that rank is positive. Where it is 1 the
curve is at its ceiling :math:`A = c/(c + (1-c)a)`, where it is 0 at its floor
:math:`B = cb/(cb + 1 - c)`, with the share :math:`c` of the labeled and the two inclusions.
:math:`z` is the logit of the rank for small :math:`k`, close to its normal score for 0.14, and
steeper at the ends for negative ones.

Everything here works on many curves at once, one a row.

For each kind of shape the posterior of (a, b) is laid out on a grid around its peak; at every
node the four parameters of the shape are fitted anew and integrated by Laplace's method.
"""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from purecover._imports import expit, rel_entr
from purecover._parameters import checked
from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover._validation import check_choice
from purecover.counts import ScoreCounts
from purecover.estimators import base
from purecover.estimators.samples import weight_units

# -- The curve and its fit -----------------------------------------------------------------------


LARGEST = 0.995
"""No inclusion comes nearer to 1, where labeled and unlabeled would be the same."""

LOW = np.array([0, 0, -30, -4, -3, -3.0])
HIGH = np.array([LARGEST, LARGEST, 30, 5, 1, 1.0])
LIMITS = np.column_stack((LOW, HIGH, [0.2, 0.2, 2, 0.7, 0.25, 0.25]))
"""Bounds of a, b, t, s, k0 and k1, and the longest step in each."""

_SURE = 60.0
"""Log-odds of an example in an end that is pure outright."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A prior of t, s, k0 and k1: independent normals."""

    mean: FloatArray
    sd: FloatArray

    @property
    def start(self) -> FloatArray:
        """Where a fit begins."""
        return np.concatenate(([0.3, 0.05], self.mean))


@dataclass(frozen=True, eq=False)
class Curves:
    """Data of many curves over the same bins.

    Attributes
    ----------
    labeled, total : ndarray of shape (n_rows, n_bins)
        Labeled examples and all examples.
    share : float
        Share of the labeled among all.
    log_below, log_above : ndarray of shape (n_bins,)
        See :class:`RankBins`.
    offset : ndarray of shape (n_rows or 1, n_bins)
        What is added to the log-odds: 0, or a large number in pure ends.
    """

    labeled: FloatArray
    total: FloatArray
    share: float
    log_below: FloatArray
    log_above: FloatArray
    offset: FloatArray

    def only(self, rows: IntArray) -> Curves:
        """Some of the rows, in this order, each as often as it is named."""
        offset = self.offset if len(self.offset) == 1 else self.offset[rows]
        return replace(self, labeled=self.labeled[rows], total=self.total[rows], offset=offset)


def climb(
    value_of: Callable[[FloatArray, IntArray], FloatArray],
    slopes_of: Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]],
    start: FloatArray,
    limits: FloatArray,
    *,
    n_steps: int,
    tol: float,
    enough: float = -np.inf,
) -> tuple[FloatArray, FloatArray]:
    """Climb to the largest values near many starts.

    Fisher scoring, damped where a step does not climb. Parameters at a bound that pushes back
    are held there. Rows that have arrived rest while the others go on.

    Parameters
    ----------
    value_of, slopes_of : callable
        What is climbed, of rows of parameters and the places of these rows in ``start``; and its
        gradient and expected curvature.
    start : ndarray of shape (n_rows, n_parameters)
        Where to begin.
    limits : ndarray of shape (n_parameters, 3)
        Bounds of each parameter, and its longest step.
    n_steps : int
        Steps at most.
    tol : float
        A row that gains no more has arrived.
    enough : float, optional
        So has a row that cannot climb, whose step promises no more.

    Returns
    -------
    x : ndarray of shape (n_rows, n_parameters)
        Parameters.
    value : ndarray of shape (n_rows,)
        What was climbed.
    """
    rows = np.arange(len(start))
    ends, values = start.copy(), value_of(start, rows)
    x, value = start, values.copy()
    damping = np.full(len(x), 1e-2)
    low, high, longest = limits.T
    identity = np.eye(low.size)
    for _ in range(n_steps):
        gradient, curvature = slopes_of(x, rows)
        held = ((x <= low) & (gradient < 0)) | ((x >= high) & (gradient > 0))
        gradient = np.where(held, 0.0, gradient)
        curvature = np.where(held[:, :, None] | held[:, None, :], 0.0, curvature)
        diagonal = np.einsum("rkk->rk", curvature)
        ridge = damping[:, None] * diagonal + 1e-7 + held
        step = np.linalg.solve(curvature + identity * ridge[:, None, :], gradient[..., None])
        new = np.clip(x + np.clip(step[..., 0], -longest, longest), low, high)
        reached = value_of(new, rows)
        climbs = reached >= value
        gain = np.where(climbs, reached - value, 0.0)
        ends[rows] = x = np.where(climbs[:, None], new, x)
        values[rows] = value = np.where(climbs, reached, value)
        damping = np.where(climbs, damping / 6, damping * 8).clip(1e-8, 1e8)
        # At the top rounding decides whether a step climbs, however little it promised.
        promised = 0.5 * np.einsum("rk,rk->r", gradient, step[..., 0])
        on = ~((gain <= tol) & (climbs | (damping > 1e4) | (promised <= enough)))
        rows, x, value, damping = rows[on], x[on], value[on], damping[on]
        if not rows.size:
            break
    return ends, values


def fit(
    curves: Curves, shape: Shape, start: FloatArray, free: BoolArray, *, n_steps: int, tol: float
) -> tuple[FloatArray, FloatArray]:
    """The largest log-likelihood plus log-prior of the shape, by :func:`climb`.

    Only parameters that are ``free`` move away from the ``start``.
    """
    moving = np.flatnonzero(free)

    def whole(some: FloatArray, rows: IntArray) -> FloatArray:
        x = start[rows]
        x[:, moving] = some
        return x

    def slopes(some: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        gradient, curvature = _scores(curves.only(rows), shape, whole(some, rows))
        return gradient[:, moving], curvature[:, moving][:, :, moving]

    some, value = climb(
        lambda some, rows: objective(curves.only(rows), shape, whole(some, rows)),
        slopes,
        start[:, moving],
        LIMITS[moving],
        n_steps=n_steps,
        tol=tol,
    )
    return whole(some, np.arange(len(start))), value


def label_curve(curves: Curves, x: FloatArray) -> FloatArray:
    """Share of labeled in each bin, of each row."""
    _, _, t, s, k0, k1 = (x[:, i : i + 1] for i in range(6))
    z = _power(curves.log_below, k0)[0] - _power(curves.log_above, k1)[0]
    positive = expit(t + np.exp(s) * z + curves.offset)
    floor, ceiling, _, _ = _asymptotes(x, curves.share)
    return np.asarray((floor + (ceiling - floor) * positive).clip(1e-12, 1 - 1e-12))


def objective(curves: Curves, shape: Shape, x: FloatArray) -> FloatArray:
    """Log-likelihood plus log-prior of the shape, up to constants."""
    tau = label_curve(curves, x)
    terms = curves.labeled * np.log(tau) + (curves.total - curves.labeled) * np.log1p(-tau)
    penalty = ((x[:, 2:] - shape.mean) / shape.sd) ** 2
    return np.asarray(terms.sum(axis=1) - 0.5 * penalty.sum(axis=1), dtype=np.float64)


def deviance(curves: Curves, x: FloatArray) -> FloatArray:
    """Twice the log-likelihood that the curve leaves on the table, of each row."""
    tau = label_curve(curves, x)
    unlabeled = curves.total - curves.labeled
    terms = rel_entr(curves.labeled, curves.total * tau)
    terms += rel_entr(unlabeled, curves.total * (1 - tau))
    return np.asarray(2 * terms.sum(axis=1), dtype=np.float64)


def information(curves: Curves, shape: Shape, x: FloatArray) -> FloatArray:
    """Expected curvature of the objective, shape (n_rows, 6, 6)."""
    return _scores(curves, shape, x)[1]


def _scores(curves: Curves, shape: Shape, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gradient and expected curvature of the objective."""
    _, _, t, s, k0, k1 = (x[:, i : i + 1] for i in range(6))
    below, below_slope = _power(curves.log_below, k0)
    above, above_slope = _power(curves.log_above, k1)
    scale = np.exp(s)
    z = scale * (below - above)
    positive = expit(t + z + curves.offset)
    floor, ceiling, floor_slope, ceiling_slope = _asymptotes(x, curves.share)
    tau = (floor + (ceiling - floor) * positive).clip(1e-12, 1 - 1e-12)
    rise = (ceiling - floor) * positive * (1 - positive)
    jacobian = np.stack(
        (
            ceiling_slope * positive,
            floor_slope * (1 - positive),
            rise,
            rise * z,
            rise * scale * below_slope,
            -rise * scale * above_slope,
        ),
        axis=1,
    )
    precision = 1 / (tau * (1 - tau))
    residual = (curves.labeled - curves.total * tau) * precision
    weight = curves.total * precision
    gradient = (jacobian @ residual[..., None])[..., 0]
    gradient[:, 2:] -= (x[:, 2:] - shape.mean) / shape.sd**2
    curvature = (jacobian * weight[:, None, :]) @ np.swapaxes(jacobian, 1, 2)
    place = np.arange(2, 6)
    curvature[:, place, place] += 1 / shape.sd**2
    return gradient, curvature


def _power(log_rank: FloatArray, k: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``(rank**k - 1) / k`` and its derivative by k."""
    k = np.where(np.abs(k) < 1e-5, 1e-5, k)
    power = np.exp(k * log_rank)
    value = (power - 1) / k
    return value, (log_rank * power - value) / k


def _asymptotes(
    x: FloatArray, share: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Floor and ceiling of each curve, and their derivatives by b and by a."""
    a, b = x[:, :1], x[:, 1:2]
    ceiling = share / (share + (1 - share) * a)
    below = share * b + 1 - share
    floor = share * b / below
    return floor, ceiling, share * (1 - share) / below**2, -(ceiling**2) * (1 - share) / share


# -- A posterior of the two inclusions laid out in cells, and what is read off it ----------------


@dataclass(frozen=True, eq=False)
class Posterior:
    """Cells of a grid over (a, b) with their probabilities, one row for each data set.

    Attributes
    ----------
    a, b : ndarray of shape (3, n_rows, n_cells)
        Low end, middle and high end of each cell; all 0 in b where labels are clean.
    weight : ndarray of shape (n_rows, n_cells)
        Posterior probability of each cell.
    clean : ndarray of bool of shape (n_cells,)
        Which cells say that labels are clean.
    kinds : ndarray of str of shape (n_cells,)
        Which kind of shape each cell belongs to.
    """

    a: FloatArray
    b: FloatArray
    weight: FloatArray
    clean: BoolArray
    kinds: NDArray[np.str_]

    @property
    def alpha(self) -> FloatArray:
        """Alpha in the middle of each cell."""
        return alpha_of(self.a[1], self.b[1])

    @property
    def beta(self) -> FloatArray:
        """Beta in the middle of each cell; exactly 1 where labels are clean."""
        return beta_of(self.a[1], self.b[1])

    @property
    def mean(self) -> FloatArray:
        """Means of alpha and beta, shape (n_rows, 2)."""
        return self.mean_over(np.ones_like(self.clean))

    def mean_over(self, cells: BoolArray) -> FloatArray:
        """Means over some cells only; NaN in rows where they have no weight."""
        weight = self.weight[:, cells]
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = weight / weight.sum(axis=1, keepdims=True)
        alpha = (weight * self.alpha[:, cells]).sum(axis=1)
        noise = (weight * (1 - self.beta[:, cells])).sum(axis=1)  # exactly 0 if labels are clean
        return np.column_stack((alpha, 1 - noise))

    @property
    def clean_probability(self) -> FloatArray:
        """Posterior probability of beta = 1."""
        return np.asarray(self.weight[:, self.clean].sum(axis=1))

    def kind_probability(self, kind: str) -> FloatArray:
        """Posterior probability of a kind of shape."""
        return np.asarray(self.weight[:, self.kinds == kind].sum(axis=1))

    def ends(self, level: float) -> dict[str, tuple[float, float]]:
        """Quantiles of alpha, beta and delta at both ends of an interval, of the first row.

        Probability is spread evenly over each cell. An interval always holds the mean.
        """
        (a_low, _, a_high), (b_low, _, b_high) = self.a[:, 0], self.b[:, 0]
        alpha, beta = self.mean[0]
        ranges = {
            "alpha": (alpha_of(a_low, b_high), alpha_of(a_high, b_low), alpha),
            "beta": (beta_of(a_low, b_high), beta_of(a_high, b_low), beta),
            "delta": (delta_of(a_high, b_high), delta_of(a_low, b_low), beta - alpha),
        }
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        ends = {}
        for name, (low, high, mean) in ranges.items():
            found = _quantiles(low, high, self.weight[0], tails)
            ends[name] = float(min(found[0], mean)), float(max(found[1], mean))
        return ends


def _quantiles(
    low: FloatArray, high: FloatArray, weight: FloatArray, tails: FloatArray
) -> FloatArray:
    """Quantiles of a mixture of uniform distributions; a cell without width is a point."""
    high = np.maximum(high, low + 1e-12)
    places = np.unique(np.concatenate((low, high)))
    passed = ((places[:, None] - low) / (high - low)).clip(0, 1) @ weight
    return np.interp(tails * passed[-1], passed, places)


def alpha_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Share of positives among the unlabeled, from the inclusions."""
    return np.asarray(a * (1 - b) / (1 - a * b), dtype=np.float64)


def beta_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Share of positives among the labeled, from the inclusions."""
    return np.asarray((1 - b) / (1 - a * b), dtype=np.float64)


def delta_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Beta less alpha, from the inclusions."""
    return np.asarray((1 - a) * (1 - b) / (1 - a * b), dtype=np.float64)


# -- Scores as bins of pooled rank: all that a label curve sees of them --------------------------


WIDEST = 1 / 40
"""Share of all examples in a bin, away from the ends of the ranking."""

_FIRST_EXAMPLES, _FIRST_SHARE = 8, 5e-4
_GROWTH = 1.25
"""The outermost bin holds the larger of the two; from there on bins grow by this factor.

The ends of the ranking decide about alpha and beta, so they are seen in detail, but no bin is so
small that one stray score could make it look pure.
"""

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
        Labeled examples and all examples of each bin; effective numbers where rows have weights.
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
        # A few more cuts on each side, so that shallow pure ends consist of whole bins.
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
        """The same as if there were so many times fewer examples."""
        if factor == 1:
            return self
        return replace(
            self,
            labeled=self.labeled / factor,
            total=self.total / factor,
            labeled_unit=self.labeled_unit / factor,
            unlabeled_unit=self.unlabeled_unit / factor,
        )

    def curves(self, labeled: FloatArray, total: FloatArray, offset: FloatArray) -> Curves:
        """Curves over these bins: of data in rows, or of one data set with several offsets."""
        shape = np.broadcast_shapes(labeled.shape, offset.shape)
        labeled, total = (np.broadcast_to(side, shape) for side in (labeled, total))
        share = self.labeled_share
        return Curves(labeled, total, share, self.log_below, self.log_above, offset)

    def tally(self, labeled: CountArray, unlabeled: CountArray) -> tuple[FloatArray, FloatArray]:
        """Labeled and all examples of replicates, shape (n_replicates, n_bins)."""
        few = np.add.reduceat(labeled[:, ::-1] * self.labeled_unit, self.starts, axis=1)
        many = np.add.reduceat(unlabeled[:, ::-1] * self.unlabeled_unit, self.starts, axis=1)
        return few, few + many

    def pure_ends(self) -> list[FloatArray]:
        """The offset of a curve for every pair of a bottom and a top that may be pure."""
        tops = [mask[::-1] for mask in _within(self.labeled[::-1])]
        offsets: dict[bytes, FloatArray] = {}
        for low in _within(self.total - self.labeled):
            for high in tops:
                # Something must be left between the two, or there is no curve to fit.
                if low.any() and high.any() and not (low & high).any() and not (low | high).all():
                    offset = np.where(high, _SURE, np.where(low, -_SURE, 0.0))
                    offsets[offset.tobytes()] = offset
        return list(offsets.values())


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
    """How many entries from the start hold at most each of the pure shares."""
    seen = np.cumsum(tally)
    return np.searchsorted(seen, PURE_SHARES * seen[-1] * (1 + 1e-12), side="right")


def _within(tally: FloatArray) -> list[BoolArray]:
    """Masks of the entries from the start within each pure share."""
    place = np.arange(tally.size)
    return [place < depth for depth in _depths(tally)]


# -- Posterior of the two inclusions, whatever the shape of the label curve ----------------------


# Chosen on simulated worlds and on scores of real classifiers; the leaderboard also shows worlds
# and data sets that had no part in the choice.
SMOOTH = Shape(np.array([0.0, 0.3, 0.14, 0.14]), np.array([4.0, 0.8, 0.15, 0.15]))
STEEP = Shape(np.array([0.0, -1.5, -1.0, -1.0]), np.array([4.0, 1.5, 0.6, 0.6]))
PURE = Shape(np.array([0.0, -0.5, 0.14, 0.14]), np.array([4.0, 1.5, 0.3, 0.3]))
"""Shapes: like two normals or logistics; steep at the ends; anything between pure ends."""

WEIGHTS = {"smooth": 0.7, "steep": 0.1, "pure": 0.2}
"""Prior probability of each kind of shape; all pairs of pure ends share theirs."""

_EVERYTHING = np.ones(6, dtype=np.bool_)
_CLEAN = np.array([True, False, True, True, True, True])
_CASES = {"start": _EVERYTHING, "clean_start": _CLEAN}
"""What is fitted, by where the fit begins: everything, or what is left where labels are clean."""
_SHAPE_ONLY = np.array([False, False, True, True, True, True])
_NOISY_MASS = np.pi**2 / 3 - 3
_CLEAN_MASS = 0.5
"""Integrals of beta - alpha over a and b in the unit square, and over a where b = 0."""
_MOST_EXAMPLES = 1e5
_LOG_TWO_PI = float(np.log(2 * np.pi))
_WIDE = 4.5
"""The grid reaches so many standard deviations to each side of the peak."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kind of shape, with the prior probability of it, and where its fit begins."""

    kind: str
    shape: Shape
    offset: FloatArray
    log_weight: float
    start: FloatArray
    clean_start: FloatArray


def candidates(
    bins: RankBins, *, clean_prior: float, most: int = 8, drop: float = 7.0
) -> list[Candidate]:
    """The kinds of shape that are not out of the question for these data, best first.

    Parameters
    ----------
    bins : RankBins
        The data.
    clean_prior : float
        Prior probability of clean labels, 0 to 1.
    most : int, default=8
        Keep no more.
    drop : float, default=7.0
        Keep none whose log-evidence is lower than the best one's by more.
    """
    none = np.zeros(bins.total.size)
    ends = bins.pure_ends()
    kinds = {"smooth": (SMOOTH, [none]), "steep": (STEEP, [none])}
    if ends:
        kinds["pure"] = (PURE, ends)
    found: list[tuple[float, Candidate]] = []
    for kind, (shape, offsets) in kinds.items():
        log_weight = float(np.log(WEIGHTS[kind] / len(offsets)))
        curves = bins.curves(bins.labeled, bins.total, np.array(offsets))
        start = np.tile(shape.start, (len(offsets), 1))
        noisy, noisy_evidence = _evidence(curves, shape, start, _EVERYTHING)
        clean, clean_evidence = _evidence(curves, shape, noisy, _CLEAN)
        with np.errstate(divide="ignore"):  # of a case that is ruled out
            evidence = log_weight + np.logaddexp(
                np.log(1 - clean_prior) + noisy_evidence, np.log(clean_prior) + clean_evidence
            )
        for i, offset in enumerate(offsets):
            candidate = Candidate(kind, shape, offset, log_weight, noisy[i], clean[i])
            found.append((float(evidence[i]), candidate))
    found.sort(key=lambda pair: -pair[0])
    best = found[0][0]
    kept = [pair for pair in found[:most] if pair[0] > best - drop]
    return [_standing_for(candidate, kept, found) for _, candidate in kept]


def _standing_for(
    candidate: Candidate, kept: list[tuple[float, Candidate]], found: list[tuple[float, Candidate]]
) -> Candidate:
    """A candidate that also carries the weight of those of its kind that were left out."""
    left, everyone = (
        np.logaddexp.reduce([evidence for evidence, other in some if other.kind == candidate.kind])
        for some in (kept, found)
    )
    return replace(candidate, log_weight=candidate.log_weight + float(everyone - left))


def _evidence(
    curves: Curves, shape: Shape, start: FloatArray, free: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Peaks, and Laplace's approximation of the log-evidence of each."""
    x, value = fit(curves, shape, np.where(free, start, 0.0), free, n_steps=60, tol=1e-3)
    curvature = information(curves, shape, x)
    curvature[:, [0, 1], [0, 1]] += 1.0  # a and b themselves vary by less than 1
    kept = np.flatnonzero(free)
    log_volume = -0.5 * np.linalg.slogdet(curvature[:, kept][:, :, kept])[1]
    return x, value + log_volume + 0.5 * kept.size * _LOG_TWO_PI - np.log(shape.sd).sum()


def dispersion(bins: RankBins, best: Candidate) -> float:
    """How many times more than chance the data scatter around the best curve, at least 1.

    Where even the best curve misses the data by more than chance explains, each example tells
    less than it seems to, and the likelihood is tempered by this factor. No curve is exact, so
    that examples beyond a hundred thousand add nothing to the certainty.
    """
    least = max(1.0, float(bins.total.sum()) / _MOST_EXAMPLES)
    freedom = bins.total.size - 6
    if freedom < 1:
        return least
    curves = bins.curves(bins.labeled, bins.total, best.offset[None])
    missed = float(deviance(curves, best.start[None])[0])
    by_chance = freedom + 1.645 * (2 * freedom) ** 0.5
    return max(least, missed / freedom) if missed > by_chance else least


def posterior(
    bins: RankBins,
    labeled: FloatArray,
    total: FloatArray,
    kept: list[Candidate],
    *,
    clean_prior: float,
    n_nodes: int = 9,
    n_steps: int = 60,
) -> tuple[Posterior, list[Candidate]]:
    r"""Posterior of alpha and beta.

    The prior density of (a, b) is proportional to :math:`\beta - \alpha`, with probability
    ``clean_prior`` on b = 0.

    Parameters
    ----------
    bins : RankBins
        The data that the bins come from.
    labeled, total : ndarray of shape (n_rows, n_bins)
        The data themselves, or replicates of them.
    kept : list of Candidate
        Kinds of shape to average over.
    clean_prior : float
        Prior probability of clean labels, 0 to 1.
    n_nodes : int, default=9
        Nodes of the grid in a and in b.
    n_steps : int, default=60
        Steps of a fit at most.

    Returns
    -------
    Posterior
        Its nodes.
    list of Candidate
        The kinds of shape, to be continued from the fit of the first row.
    """
    priors = {"start": (1 - clean_prior) / _NOISY_MASS, "clean_start": clean_prior / _CLEAN_MASS}
    parts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    clean: list[BoolArray] = []
    kinds: list[str] = []
    ahead = []
    for candidate in kept:
        shape = candidate.shape
        curves = bins.curves(labeled, total, candidate.offset[None])
        offset = candidate.log_weight - float(np.log(shape.sd).sum())
        onward = candidate
        for case, prior in priors.items():
            if prior == 0:
                continue
            start = np.tile(getattr(candidate, case), (len(labeled), 1))
            x, _ = fit(curves, shape, start, _CASES[case], n_steps=n_steps, tol=1e-5)
            a, b, log = _grid(curves, shape, x, _CASES[case], n_nodes)
            log += offset + np.log(prior) + np.log(delta_of(a[1], b[1]))
            parts.append((a, b, log))
            clean.append(np.full(log.shape[1], case == "clean_start"))
            kinds += [candidate.kind] * log.shape[1]
            onward = replace(onward, **{case: x[0]})
        ahead.append(onward)
    log = np.concatenate([part[2] for part in parts], axis=1)
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    found = Posterior(
        a=np.concatenate([part[0] for part in parts], axis=2),
        b=np.concatenate([part[1] for part in parts], axis=2),
        weight=weight,
        clean=np.concatenate(clean),
        kinds=np.array(kinds),
    )
    return found, ahead


def _grid(
    curves: Curves, shape: Shape, peak: FloatArray, free: BoolArray, n_nodes: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cells around a peak, and log-density times area of each; of clean labels, where b is 0."""
    curvature = information(curves, shape, peak)
    moving = np.flatnonzero(free)
    spread = _spread(curvature[:, moving][:, :, moving], curves)
    a = _cells(peak[:, 0], spread[:, 0], n_nodes)
    b = np.zeros_like(a)
    area = a[2] - a[0]
    if free[1]:
        a = np.repeat(a, n_nodes, axis=2)
        b = np.tile(_cells(peak[:, 1], spread[:, 1], n_nodes), n_nodes)
        area = (a[2] - a[0]) * (b[2] - b[0])
    return a, b, _integrated(curves, shape, peak, curvature, a[1], b[1]) + np.log(area)


def _spread(curvature: FloatArray, curves: Curves) -> FloatArray:
    """Standard deviations of the first two parameters at a peak.

    At 0 the posterior falls off as fast as one over the number of examples at most.
    """
    ridge = np.eye(curvature.shape[1]) * 1e-9
    variance = np.linalg.inv(curvature + ridge)[:, [0, 1], [0, 1]]
    least = 2 / curves.total.sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt(variance.clip(0)).clip(np.minimum(least, 0.5), 1))


def _cells(center: FloatArray, spread: FloatArray, n_nodes: int) -> FloatArray:
    """Low ends, middles and high ends of cells around a center, finer towards 0.

    Their roots are evenly spaced.
    """
    low = np.sqrt(np.clip(center - _WIDE * spread, 0, 0.98))
    high = np.sqrt(np.clip(center + _WIDE * spread, 0, LARGEST))
    step = ((high - low) / n_nodes)[:, None]
    edges = low[:, None] + step * np.arange(n_nodes + 1)
    middle = low[:, None] + step * (np.arange(n_nodes) + 0.5)
    return np.stack((edges[:, :-1], middle, edges[:, 1:])) ** 2


def _integrated(
    curves: Curves,
    shape: Shape,
    peak: FloatArray,
    curvature: FloatArray,
    a: FloatArray,
    b: FloatArray,
) -> FloatArray:
    """Log-density at nodes, the shape integrated by Laplace's method.

    Two steps suffice, because the quadratic around the peak tells where to begin.
    """
    n_rows, n_nodes = a.shape
    away = np.stack((a - peak[:, :1], b - peak[:, 1:2]), axis=2)
    drift = -np.linalg.solve(curvature[:, 2:, 2:], curvature[:, 2:, :2])
    moved = peak[:, None, 2:] + np.clip(away @ np.swapaxes(drift, 1, 2), -3, 3)
    x = np.concatenate((a[..., None], b[..., None], moved), axis=2).reshape(n_rows * n_nodes, 6)
    many = curves.only(np.repeat(np.arange(len(curves.labeled)), n_nodes))
    x, value = fit(many, shape, np.clip(x, LOW, HIGH), _SHAPE_ONLY, n_steps=2, tol=0.0)
    inner = information(many, shape, x)[:, 2:, 2:]
    log = value - 0.5 * np.linalg.slogdet(inner)[1]
    return np.asarray(log.reshape(n_rows, n_nodes), dtype=np.float64)


# -- The estimator -------------------------------------------------------------------------------


CLEAN_PRIORS = {"weigh": 0.6, "never": 0.0, "always": 1.0}
"""Prior probability that labels are clean."""

WIDE = 0.5
"""If alpha or delta can be anywhere in an interval as wide, the scores do not tell them."""

_FEWEST_BINS = 4
"""With fewer different scores the curve is all prior; of five and more the intervals hold."""

_SMALLEST_DELTA = 0.02
"""If delta may be smaller, labeled and unlabeled may be the same."""

_LEVEL = 0.95
_MOST_AGAIN = 3
_LEAST_AGAIN = 0.02
"""Replicates go on with so many kinds of shape at most, each with that probability at least."""

_HANDFUL = 5
_ENOUGH_ROWS = 20
_ROWS = 64
"""Replicates treated at a time: what they need then fits into the cache."""


@base.register_prior_estimator("label-curve")
@dataclass(kw_only=True, eq=False, repr=False)
class LabelCurve(base.PriorEstimator):
    r"""Posterior mean of alpha and beta from the share of labeled along the ranking.

    Assumes: the share of positives rises with the score along one S-shaped curve, towards 0 and 1.

    Known to fail: positives of several separate kinds; a pure region too small to leave a trace.

    Among examples of one rank the share of labeled rises along the ranking from a floor, where
    all are negative, to a ceiling, where all are positive. Floor and ceiling tell alpha and
    beta. They are inferred from a flexible S-curve, which also says what the curve does beyond
    the best and the worst scores there are. Only the order of the scores matters.

    Parameters
    ----------
    clean : {"weigh", "never", "always"}, default="weigh"
        Whether labels may be clean, which is beta = 1 exactly: the data decide how likely it
        is, and the estimate is the average over both cases; never; or always. Other estimators
        test it instead and take one case for granted.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The intervals are quantiles of the posterior. The
        diagnostics hold ``"clean_probability"``, the probability of each kind of shape
        (``"smooth"``, ``"steep"``, ``"pure"``), and ``"alpha_interval"``, ``"beta_interval"``
        and ``"delta_interval"`` at 95 %.

    See Also
    --------
    AlphaMaxN : The estimator of the paper.
    NoisyLabels : Any other estimator, run both ways.

    Notes
    -----
    With the share :math:`c` of labeled examples and :math:`u` the rank of an example among all,

    .. math::

        P(\text{labeled} \mid u) = B + (A-B)\,\sigma(t + e^s z(u)), \quad
        A = \frac{c}{c+(1-c)a}, \quad B = \frac{cb}{cb+1-c},

    where :math:`\sigma` is the chance of being positive, :math:`z` a transform of the rank with
    a parameter for each tail, and :math:`a = \alpha/\beta`, :math:`b = (1-\beta)/(1-\alpha)`.
    Psychometric functions have the same form, with a guess rate and a lapse rate. Three kinds
    of shape are weighed by their evidence: smooth ones, as two normals or logistics make; steep
    ones; and any between two ends that are pure outright. The prior density of (a, b) is
    proportional to :math:`\beta-\alpha`, so that scores which tell nothing do not end up at
    :math:`\alpha = \beta`. The shape is integrated by Laplace's method, a and b on a grid.

    The estimate assumes that the best scores are positives and the worst are negatives, or
    that the curve shows where it is heading. If negatives are among the positives at the very
    top, as many as they may be, alpha comes out too large, as with every estimator that has
    only scores to go by.

    References
    ----------
    Lancaster & Imbens (1996), "Case-control studies with contaminated controls", Journal of
    Econometrics, for the model with a logistic curve of known form.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=2.5)
    >>> sample = world.sample(1000, 5000, alpha=0.3, beta=0.9, random_state=0)
    >>> estimator = pu.estimators.LabelCurve().fit(sample.scores, sample.labeled)
    >>> 0.3 in estimator.interval_["alpha"], 0.9 in estimator.interval_["beta"]
    (True, True)
    """

    noisy: ClassVar[bool] = True
    reference: ClassVar[str] = "purecover"
    interval_method: ClassVar[str] = "posterior"

    clean: Literal["weigh", "never", "always"] = checked(
        "weigh", check_choice, choices=CLEAN_PRIORS
    )

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        found, bins, _ = self._solve(counts)
        alpha, beta = found.mean[0]
        ends = _told(found.ends(_LEVEL), counts)
        widest = max(high - low for low, high in (ends["alpha"], ends["delta"]))
        enough = bins.total.size >= _FEWEST_BINS and ends["delta"][0] > _SMALLEST_DELTA
        identifiable = widest <= WIDE and enough
        notes = []
        if not identifiable:
            (low, high), (lower, higher) = ends["alpha"], ends["beta"]
            notes.append(
                "the scores hardly tell alpha and beta, since positives and negatives overlap "
                "throughout or there are few examples or few different scores: alpha may be "
                f"anything from {low:.2f} to {high:.2f}, and beta from {lower:.2f} to {higher:.2f}"
            )
        clean = float(found.clean_probability[0])
        if self.clean == "weigh" and clean > 0.5:
            notes.append(f"labels are clean with probability {clean:.2f}")
        details: dict[str, Any] = {
            "identifiable": identifiable,
            "clean_probability": clean,
            **{kind: float(found.kind_probability(kind)[0]) for kind in WEIGHTS},
            **{f"{key}_interval": pair for key, pair in ends.items()},
        }
        return base.Inclusions(
            float(alpha / beta), float((1 - beta) / (1 - alpha)), tuple(notes), details
        )

    def _solve(self, counts: ScoreCounts) -> tuple[Posterior, RankBins, list[Candidate]]:
        # Replicates come in parts, and each asks for the solution of the data again; so do
        # estimators beside this one.
        global _last_solved  # noqa: PLW0603 - replaced as a whole
        known = _last_solved
        if known is None or known[0]() is not counts or known[1] != self.clean:
            known = _last_solved = weakref.ref(counts), self.clean, self._solve_anew(counts)
        return known[2]

    def _solve_anew(self, counts: ScoreCounts) -> tuple[Posterior, RankBins, list[Candidate]]:
        bins = RankBins.from_counts(counts)
        kept = candidates(bins, clean_prior=CLEAN_PRIORS[self.clean])
        bins = bins.tempered(dispersion(bins, kept[0]))
        found, ahead = posterior(
            bins, bins.labeled[None], bins.total[None], kept, clean_prior=CLEAN_PRIORS[self.clean]
        )
        return found, bins, ahead

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        parts, _ = self._repeated(counts, labeled, unlabeled)
        alpha, beta = np.concatenate([part.mean for part in parts]).T
        return np.column_stack((alpha / beta, (1 - beta) / (1 - alpha)))

    def _repeated(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> tuple[list[Posterior], Posterior]:
        """Posteriors of replicates, some at a time, and that of the data."""
        found, bins, ahead = self._solve(counts)
        few, everyone = bins.tally(labeled, unlabeled)
        again = _worth_repeating(found, ahead)
        parts = [
            posterior(
                bins,
                few[i : i + _ROWS],
                everyone[i : i + _ROWS],
                again,
                clean_prior=CLEAN_PRIORS[self.clean],
                # Few bins leave the shape open, and a coarse grid would show.
                n_nodes=5 if bins.total.size > 3 * _FEWEST_BINS else 9,
                n_steps=6,
            )[0]
            for i in range(0, len(few), _ROWS)
        ]
        return parts, found

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates, one row each.

        Means of replicates vary less than the posterior says they should, where the prior and
        the choice of a shape hold them in place. What is missing is made up for by draws from
        the posterior, so that intervals of anything computed from the rows are honest about
        what the scores cannot tell. Labels are clean in as many rows as the posterior says.
        """
        parts, found = self._repeated(counts, labeled, unlabeled)
        rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(labeled).tobytes()))
        places = drawn_cells(found.weight[0], len(labeled), rng)
        drawn = np.column_stack((found.alpha[0, places], found.beta[0, places]))
        rows = np.empty_like(drawn)
        for clean in (False, True):
            here = found.clean[places] == clean
            if not here.any():
                continue
            means = np.concatenate([_means_where(part, clean) for part in parts])
            center = found.mean_over(found.clean == clean)[0]
            missing = _missing_share(found, center, clean, means)
            rows[here] = means[here] + missing * (drawn[here] - center)
        rows = rows.clip(0, 1)
        lost = ~(rows[:, 0] < rows[:, 1])
        return np.where(lost[:, None], np.nan, rows)

    def _posterior_ends(self, level: float) -> dict[str, tuple[float, float]]:
        ends = _told(self._solve(self._counts)[0].ends(level), self._counts)
        # The estimate came from all scores, not from thinned ones.
        values = {name: getattr(self.proportions_, name) for name in ends}
        return {name: (min(ends[name][0], v), max(ends[name][1], v)) for name, v in values.items()}


_Solution = tuple[Posterior, RankBins, list[Candidate]]
_last_solved: tuple[weakref.ref[ScoreCounts], str, _Solution] | None = None


def _told(
    ends: dict[str, tuple[float, float]], counts: ScoreCounts
) -> dict[str, tuple[float, float]]:
    """Ends of intervals, where fewer than a handful of examples are not told from none."""
    (alpha_low, alpha_high), (beta_low, beta_high) = ends["alpha"], ends["beta"]
    if alpha_low * counts.n_unlabeled < _HANDFUL:
        alpha_low = 0.0
    if (1 - beta_high) * counts.n_labeled < _HANDFUL:
        beta_high = 1.0
    low, high = ends["delta"]
    if alpha_low == 0 and beta_high == 1:
        high = 1.0 if alpha_high * counts.n_unlabeled < _HANDFUL else high
    return {
        "alpha": (alpha_low, alpha_high),
        "beta": (beta_low, beta_high),
        "delta": (low, high),
    }


def drawn_cells(weight: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Cells drawn by their weights, spread evenly over the posterior, in random order."""
    reached = np.cumsum(weight)
    places = np.searchsorted(reached, (np.arange(n) + rng.random(n)) / n * reached[-1])
    return rng.permutation(places.clip(0, reached.size - 1))


def _means_where(part: Posterior, clean: bool) -> FloatArray:
    """Means if labels are clean, or if not; overall ones in rows where that is out of question."""
    means = part.mean_over(part.clean == clean)
    return np.where(np.isnan(means), part.mean, means)


def _missing_share(
    found: Posterior, center: FloatArray, clean: bool, means: FloatArray
) -> FloatArray:
    """Which share of its spread the posterior has beyond that of means of replicates."""
    cells = found.clean == clean
    weight = found.weight[0, cells] / found.weight[0, cells].sum()
    away = np.column_stack((found.alpha[0, cells], found.beta[0, cells])) - center
    wanted = weight @ away**2
    # Too few rows do not tell their variance.
    present = means.var(axis=0) if len(means) >= _ENOUGH_ROWS else wanted / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(np.nan_to_num(1 - present / wanted).clip(0))


def _worth_repeating(found: Posterior, ahead: list[Candidate]) -> list[Candidate]:
    """The kinds of shape that carry the posterior; the rest would cost time and change little."""
    share = found.weight[0].reshape(len(ahead), -1).sum(axis=1)
    order = np.argsort(-share)[:_MOST_AGAIN]
    return [ahead[i] for i in order if share[i] >= _LEAST_AGAIN]
