"""MSGMM: both samples as mixtures of the same two normal densities.

Runs from several starts, or on several replicates, go side by side along the first axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import expit, logit

from purecover import ScoreCounts
from purecover.estimators import (
    Inclusions,
    clean_test,
    parameter,
    register_prior_estimator,
)
from purecover_paper.systems.arrays import (
    BoolArray,
    CountArray,
    FloatArray,
    IntArray,
    group_starts,
    weight_units,
)
from purecover_paper.systems.rows import FeaturePriorEstimator, FeatureRows

CLEAN_RULES = ("test", "never", "always")
COVARIANCES = ("full", "diagonal")

_EMPTY = 1e-9
"""A component with a smaller share of all rows keeps its place and its shape."""


class Mixtures(NamedTuple):
    """Parameters of several runs.

    Attributes
    ----------
    alpha, beta : ndarray of shape (n_runs,)
        Shares of the first component among the unlabeled and among the labeled.
    means : ndarray of shape (n_runs, 2, n_features)
        Of the first and of the second component.
    covariances : ndarray of shape (n_runs, 2, n_features, n_features)
        Likewise.
    """

    alpha: FloatArray
    beta: FloatArray
    means: FloatArray
    covariances: FloatArray

    def only(self, runs: IntArray) -> Mixtures:
        """Some of the runs, by their places."""
        return Mixtures(*(field[runs] for field in self))

    def ordered(self) -> Mixtures:
        """The first component made the one with the larger share among the labeled."""
        swap = self.beta < self.alpha
        return Mixtures(
            np.where(swap, 1 - self.alpha, self.alpha),
            np.where(swap, 1 - self.beta, self.beta),
            np.where(swap[:, None, None], self.means[:, ::-1], self.means),
            np.where(swap[:, None, None, None], self.covariances[:, ::-1], self.covariances),
        )


class Tally(NamedTuple):
    """How often each point was seen, of shape (n,) or (n_runs, n)."""

    labeled: FloatArray
    unlabeled: FloatArray

    def only(self, runs: IntArray) -> Tally:
        """That of some of the runs, by their places."""
        return Tally(*(side if side.ndim == 1 else side[runs] for side in self))


class GaussianEM:
    """The two steps of the algorithm, for given points.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        Where rows were seen.
    diagonal : bool, default=False
        Whether to take covariances between features as 0.
    ridge : float, default=0
        What is added to each variance, so that no covariance matrix is singular.
    """

    def __init__(self, points: FloatArray, *, diagonal: bool = False, ridge: float = 0.0) -> None:
        p = points.shape[1]
        self.ridge = ridge
        self.pairs = (np.arange(p), np.arange(p)) if diagonal else np.triu_indices(p)
        products = points[:, self.pairs[0]] * points[:, self.pairs[1]]
        # A log-density is a combination of these columns and moments are sums over them, so
        # that either step is one matrix product.
        self.design = np.column_stack((np.ones(len(points)), points, products))
        self.n_features = p

    def log_densities(self, mixtures: Mixtures) -> FloatArray:
        """Of each component at each point, of shape (n_runs, 2, n)."""
        means, p = mixtures.means, self.n_features
        precision = np.linalg.inv(mixtures.covariances)
        linear = np.einsum("rcij,rcj->rci", precision, means)
        _, log_determinant = np.linalg.slogdet(mixtures.covariances)
        constant = np.einsum("rci,rci->rc", linear, means) + log_determinant
        constant = -(constant + p * np.log(2 * np.pi)) / 2
        rows, columns = self.pairs
        # Each pair of different features stands for two entries of the matrix.
        quadratic = precision[..., rows, columns] * np.where(rows == columns, -0.5, -1.0)
        combined = np.concatenate((constant[..., None], linear, quadratic), axis=-1)
        return np.asarray(combined @ self.design.T)

    def log_likelihood(self, mixtures: Mixtures, tally: Tally) -> FloatArray:
        """Of each run."""
        log_densities = self.log_densities(mixtures)
        total = np.zeros(len(mixtures.alpha))
        for share, seen in ((mixtures.beta, tally.labeled), (mixtures.alpha, tally.unlabeled)):
            with np.errstate(divide="ignore"):  # a share of 0 is the logarithm -inf
                logs = np.log(np.stack((share, 1 - share), axis=1))
            both = np.logaddexp.reduce(log_densities + logs[..., None], axis=1)
            total += np.einsum("...n,rn->r" if seen.ndim == 1 else "rn,rn->r", seen, both)
        return total

    def step(self, mixtures: Mixtures, tally: Tally) -> Mixtures:
        """One round; a share of exactly 0 or 1 remains."""
        log_densities = self.log_densities(mixtures)
        odds = log_densities[:, 0] - log_densities[:, 1]
        among_labeled = expit(odds + logit(mixtures.beta)[:, None])
        among_unlabeled = expit(odds + logit(mixtures.alpha)[:, None])
        return self.maximized(among_labeled, among_unlabeled, tally, mixtures)

    def maximized(
        self,
        among_labeled: FloatArray,
        among_unlabeled: FloatArray,
        tally: Tally,
        before: Mixtures | None = None,
    ) -> Mixtures:
        """Parameters from the probabilities that points belong to the first component.

        Parameters
        ----------
        among_labeled, among_unlabeled : ndarray of shape (n_runs, n)
            The probabilities, for a labeled and for an unlabeled row at each point.
        tally : Tally
            How often each point was seen.
        before : Mixtures, optional
            What components that have become empty keep.
        """
        p = self.n_features
        first = among_labeled * tally.labeled, among_unlabeled * tally.unlabeled
        both = tally.labeled + tally.unlabeled
        ours = first[0] + first[1]
        weights = np.stack((ours, np.maximum(both - ours, 0)), axis=1)
        moments = weights @ self.design
        mass = moments[..., :1]
        filled = mass[..., 0] > _EMPTY * both.sum(axis=-1)[..., None]
        moments = moments / np.where(mass > 0, mass, 1)
        means = moments[..., 1 : p + 1]
        rows, columns = self.pairs
        covariances = np.zeros((*means.shape, p))
        spread = moments[..., p + 1 :] - means[..., rows] * means[..., columns]
        covariances[..., rows, columns] = covariances[..., columns, rows] = spread
        variances = np.maximum(np.einsum("rcii->rci", covariances), 0) + self.ridge
        np.einsum("rcii->rci", covariances)[...] = variances
        if before is not None:
            means = np.where(filled[..., None], means, before.means)
            covariances = np.where(filled[..., None, None], covariances, before.covariances)
        shares = (
            np.clip(part.sum(axis=-1) / seen.sum(axis=-1), 0.0, 1.0)
            for part, seen in zip(first, tally, strict=True)
        )
        beta, alpha = shares
        return Mixtures(alpha, beta, means, covariances)

    def run(self, mixtures: Mixtures, tally: Tally, *, max_iter: int, tol: float) -> Mixtures:
        """Rounds until no share moves by more than ``tol``, or so many."""
        found = Mixtures(*(field.copy() for field in mixtures))
        active = np.arange(len(found.alpha))
        for _ in range(max_iter):
            old = found.only(active)
            new = self.step(old, tally.only(active))
            for whole, part in zip(found, new, strict=True):
                whole[active] = part
            moved = np.maximum(abs(new.alpha - old.alpha), abs(new.beta - old.beta))
            active = active[moved > tol]
            if not active.size:
                break
        return found


MOST_SCORES = 1000
"""More distinct scores are merged into groups of like size."""

MOST_NUMBERS = 2**24
"""Rows are drawn such that they and the products of their features hold no more numbers."""

_TAIL = 0.01
_BEYOND = 2.0
"""Features are cut so many robust standard deviations beyond their outermost hundredths: where the
tails of a normal density are all but empty, and not farther, as one outlier widens a component."""

_FARTHEST = 20.0
"""Nor are they farther from their medians, where a hundredth of few rows is none of them."""

_MANY_CUT = 0.001
"""If a larger share of all rows is cut, a note says so."""

_SMALLEST = 0.005
"""A component with a smaller share of all rows has gone to a few outliers."""

_SHORT_RUN = 40
"""Rounds after which only the better half of the starts go on."""

_BATCH = 64
"""Replicates that are fitted side by side."""

_NOISY_START = 0.95
"""Beta at first, where it is to be estimated."""


class _Scores(NamedTuple):
    """Groups of scores, as an algorithm for rows wants them."""

    points: FloatArray
    tally: Tally
    starts: IntArray
    notes: tuple[str, ...]


@register_prior_estimator("msgmm")
@dataclass(kw_only=True, eq=False, repr=False)
class GaussianMixtures(FeaturePriorEstimator):
    r"""Fit the labeled and the unlabeled as mixtures of the same two normal densities.

    Assumes: positives and negatives are normal.

    Known to fail: by any amount where they are not: a class of two clusters may lose one to the
    other class.

    Parameters
    ----------
    clean : {"test", "never", "always"}, default="test"
        When to take labels as clean, which is beta = 1 exactly: if a test does not reject it
        (:func:`clean_test`, on scores of a logistic regression where there are several
        features), never, or always.
    covariance : {"full", "diagonal"}, default="full"
        Whether features may be correlated within a class.
    logit_scores : bool, default=True
        Whether scores that all lie in [0, 1] are mapped to their logits first. It concerns one
        column only.
    n_starts : int, default=6
        Starts of the algorithm; the best end counts.
    ridge : float, default=1e-3
        What is added to each variance, of features with a robust variance of 1, so that no
        covariance matrix is singular.
    max_iter : int, default=1000
        Rounds of each start at most.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"a"`` and ``"b"``, the
        ``"log_likelihood"`` per row of features brought to unit scale, ``"clean"`` and, if
        tested, ``"clean_p_value"``.

    See Also
    --------
    NoisyLabels : Estimates beta without a formula for the densities.

    Notes
    -----
    The unlabeled are taken to have the density :math:`\alpha\varphi_1 + (1-\alpha)\varphi_0` and
    the labeled :math:`\beta\varphi_1 + (1-\beta)\varphi_0`, with normal densities
    :math:`\varphi_1` and :math:`\varphi_0`. Expectation and maximization alternate: the
    probabilities

    .. math:: r_U = \frac{\alpha\varphi_1}{\alpha\varphi_1 + (1-\alpha)\varphi_0}, \qquad
        r_L = \frac{\beta\varphi_1}{\beta\varphi_1 + (1-\beta)\varphi_0}

    have the means :math:`\alpha` and :math:`\beta`, and means and covariances are weighted by
    them over both samples. Starts divide the unlabeled at different heights along the direction
    that separates the samples best. The component with more of the labeled is the positive one.

    Where the classes are normal it needs neither pure regions nor much data, and estimates beta
    as well as alpha. Where they are not, it is wrong by any amount: a class of two clusters may
    lose one to the other component. Outliers, to which one density might be given up, are
    drawn in: features are cut 2 robust standard deviations beyond the first and the last
    hundredth of all rows, with a note if that concerns more than 0.1 % of them. Ends of the
    algorithm where a component holds fewer than 0.5 % of the rows count only if all do, and
    a note says so. Scores of a good classifier pile up at 0 and 1; on the logit scale they are
    nearer to normal. Of more than :math:`2^{24}` numbers (products of features included) a part
    of the rows is drawn.

    References
    ----------
    Jain, White & Radivojac (2016), "Estimating the class prior and posterior from noisy
    positives and unlabeled data", NIPS.

    Examples
    --------
    >>> import purecover as pu
    >>> from purecover_paper.systems import GaussianMixtures
    >>> world = pu.simulate.binormal(2)
    >>> sample = world.sample(1000, 10000, alpha=0.25, beta=0.8, random_state=0)
    >>> p = GaussianMixtures().fit(sample.scores, sample.labeled).proportions_
    >>> abs(p.alpha - 0.25) < 0.05, abs(p.beta - 0.8) < 0.05
    (True, True)
    """

    noisy: ClassVar[bool] = True

    clean: Literal["test", "never", "always"] = parameter("test", "choice", choices=CLEAN_RULES)
    covariance: Literal["full", "diagonal"] = parameter("full", "choice", choices=COVARIANCES)
    logit_scores: bool = parameter(True, "flag")
    n_starts: int = parameter(6, "integer", low=1)
    ridge: float = parameter(1e-3, "real", low=0, closed="neither")
    max_iter: int = parameter(1000, "integer", low=1)

    def _estimate(self, data: ScoreCounts | FeatureRows) -> Inclusions:
        if isinstance(data, FeatureRows):
            return super()._estimate(data)
        scores = self._scores(data)
        em = self._em(scores.points)
        return self._inclusions(em, scores.tally, lambda: data, scores.notes)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        scores = self._scores(counts)
        em = self._em(scores.points)
        first = self._best(em, scores.tally, clean=self._clean(lambda: counts)[0])
        tally = Tally(
            *(
                np.add.reduceat(side, scores.starts, axis=1) * unit
                for side, unit in zip((labeled, unlabeled), weight_units(counts), strict=True)
            )
        )
        found = np.full((len(labeled), 2), np.nan)
        usable = (tally.labeled.sum(axis=1) > 0) & (tally.unlabeled.sum(axis=1) > 0)
        clean = np.zeros(len(labeled), dtype=np.bool_)
        places = np.flatnonzero(usable)
        for i in places:
            drawn = partial(replace, counts, labeled=labeled[i], unlabeled=unlabeled[i])
            clean[i], _ = self._clean(drawn)
        for batch in np.split(places, range(_BATCH, places.size, _BATCH)):
            # Replicates resemble the data, so the fit to the data is start enough.
            start = first.only(np.zeros(batch.size, dtype=np.int64))
            noisy = np.where(start.beta < 1, start.beta, _NOISY_START)
            start = start._replace(beta=np.where(clean[batch], 1.0, noisy))
            ends = em.run(start, tally.only(batch), max_iter=self.max_iter, tol=1e-6).ordered()
            found[batch] = np.stack(_inclusions_of(ends), axis=1)
        return found

    def _scores(self, counts: ScoreCounts) -> _Scores:
        few = counts.thinned(MOST_SCORES)
        starts = group_starts(counts, few)
        if self.logit_scores and _are_shares(counts.thresholds):
            values = _logits(counts.thresholds)
        else:
            column = counts.thresholds[:, None]
            values = FeatureRows(column, column[:0]).scaled().labeled[:, 0]
        units = weight_units(counts)
        # Before scores are merged, as one outlier would carry its group along.
        seen = counts.labeled * units[0] + counts.unlabeled * units[1]
        scaled, notes = _standardized(values[:, None], seen)
        values = scaled[:, 0]
        mass = counts.labeled / counts.n_labeled + counts.unlabeled / counts.n_unlabeled
        total = np.add.reduceat(mass, starts)
        means = np.add.reduceat(mass * values, starts) / np.where(total > 0, total, 1)
        middle = np.where(total > 0, means, values[starts])
        tally = Tally(
            np.asarray(few.labeled * units[0], dtype=np.float64),
            np.asarray(few.unlabeled * units[1], dtype=np.float64),
        )
        return _Scores(middle[:, None], tally, starts, notes)

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        p = rows.n_features
        columns = 1 + p + (p if self.covariance == "diagonal" else p * (p + 1) // 2)
        total = rows.n_labeled + rows.n_unlabeled
        share = min(1.0, MOST_NUMBERS / columns / total)
        few = rows.subsampled(
            max(1, int(share * rows.n_labeled)), max(1, int(share * rows.n_unlabeled)), rng
        )
        notes: tuple[str, ...] = ()
        if share < 1:
            drawn = f"{few.n_labeled} labeled and {few.n_unlabeled} unlabeled rows"
            notes = (f"estimated from {drawn}, drawn at random",)
        scaled = few.scaled()
        ours = np.arange(few.n_labeled + few.n_unlabeled) < few.n_labeled
        pooled = np.concatenate((scaled.labeled, scaled.unlabeled))
        points, far = _standardized(pooled, np.ones(ours.size))
        tally = Tally(ours.astype(np.float64), (~ours).astype(np.float64))
        em = self._em(points)
        return self._inclusions(em, tally, rows.out_of_fold_counts, (*notes, *far))

    def _em(self, points: FloatArray) -> GaussianEM:
        return GaussianEM(points, diagonal=self.covariance == "diagonal", ridge=self.ridge)

    def _inclusions(
        self,
        em: GaussianEM,
        tally: Tally,
        scored: Callable[[], ScoreCounts],
        notes: tuple[str, ...],
    ) -> Inclusions:
        clean, p_value = self._clean(scored)
        best = self._best(em, tally, clean=clean)
        a, b = (float(side[0]) for side in _inclusions_of(best))
        size = float(tally.labeled.sum() + tally.unlabeled.sum())
        likelihood = float(em.log_likelihood(best, tally)[0]) / size
        smallest = float(_smallest_masses(best, tally)[0])
        if smallest < _SMALLEST * size:
            held = f"one of the two normal densities holds {smallest:.3g} of {size:.6g} examples"
            notes = (
                *notes,
                f"{held}: they may be outliers, or nearly all rows are of one class",
            )
        details: dict[str, Any] = {"clean": clean}
        if p_value is not None:
            details["clean_p_value"] = p_value
        details |= {"a": a, "b": b, "log_likelihood": likelihood, "at_edge": not 0 < a < 1}
        if clean and p_value is not None:
            said = f"labels are compatible with beta = 1 (p = {p_value:.2g}) and taken as clean"
            notes = (*notes, f"{said}, so that beta was not estimated")
        return Inclusions(a, b, notes, details)

    def _clean(self, scored: Callable[[], ScoreCounts]) -> tuple[bool, float | None]:
        """Whether labels are taken as clean, and the p-value of the test if there is one."""
        if self.clean != "test":
            return self.clean == "always", None
        test = clean_test(scored())
        return bool(test.clean), test.p_value

    def _best(self, em: GaussianEM, tally: Tally, *, clean: bool) -> Mixtures:
        """The end with the largest likelihood, of all starts."""
        starts = self._starts(em, tally, clean=clean)
        short = em.run(starts, tally, max_iter=min(_SHORT_RUN, self.max_iter), tol=1e-7)
        better = np.lexsort((-em.log_likelihood(short, tally), ~_sound(short, tally)))
        good = better[: (self.n_starts + 1) // 2]
        ends = em.run(short.only(good), tally, max_iter=self.max_iter, tol=1e-7)
        likelihood = em.log_likelihood(ends, tally)
        sound = _sound(ends, tally)
        best = int(np.argmax(np.where(sound, likelihood, -np.inf) if sound.any() else likelihood))
        return ends.only(np.array([best])).ordered()

    def _starts(self, em: GaussianEM, tally: Tally, *, clean: bool) -> Mixtures:
        p = em.n_features
        points = em.design[:, 1 : p + 1]
        middle = [side @ points / side.sum() for side in tally]
        both = tally.labeled + tally.unlabeled
        everyone = both @ points / both.sum()
        spread = (points * both[:, None]).T @ points / both.sum() - np.outer(everyone, everyone)
        direction = np.linalg.solve(spread + 1e-3 * np.eye(p), middle[0] - middle[1])
        if not direction.any():
            direction = np.ones(p)
        along = points @ direction
        order = np.argsort(-along, kind="stable")
        above = np.empty(order.size)
        above[order] = np.cumsum(tally.unlabeled[order]) / tally.unlabeled.sum()
        heights = (np.arange(self.n_starts) + 0.5) / self.n_starts
        top = above <= heights[:, None]
        # Softly, so that no component is empty.
        among_unlabeled = np.where(top, 0.95, 0.05)
        beta = 1.0 if clean else _NOISY_START
        among_labeled = np.full(top.shape, beta)
        return em.maximized(among_labeled, among_unlabeled, tally)


def _inclusions_of(mixtures: Mixtures) -> tuple[FloatArray, FloatArray]:
    """The inclusions a and b; 1 and 1 where the two samples have the same mixture."""
    alpha, beta = mixtures.alpha, mixtures.beta
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = alpha / beta, (1 - beta) / (1 - alpha)
    same = ~(alpha < beta)
    return np.where(same, 1.0, a), np.where(same, 1.0, b)


def _smallest_masses(mixtures: Mixtures, tally: Tally) -> FloatArray:
    """Number of rows in the smaller component of each run."""
    n_labeled, n_unlabeled = (float(side.sum()) for side in tally)
    first = mixtures.beta * n_labeled + mixtures.alpha * n_unlabeled
    return np.asarray(np.minimum(first, n_labeled + n_unlabeled - first))


def _sound(mixtures: Mixtures, tally: Tally) -> BoolArray:
    """Whether no component has gone to a few outliers."""
    size = float(tally.labeled.sum() + tally.unlabeled.sum())
    return np.asarray(_smallest_masses(mixtures, tally) >= _SMALLEST * size)


def _are_shares(scores: FloatArray) -> bool:
    """Whether scores look like probabilities, of which some are strictly inside."""
    inside = (scores > 0) & (scores < 1)
    return bool(inside.any() and scores.min() >= 0 and scores.max() <= 1)


def _logits(shares: FloatArray) -> FloatArray:
    """Logits; 0 and 1 are put beyond the others, by as much as half their distance."""
    inside = shares[(shares > 0) & (shares < 1)]
    low, high = inside.min() / 2, (1 - inside.max()) / 2
    return np.asarray(logit(np.clip(shares, max(low, 1e-300), min(1 - high, 1 - 2**-53))))


def _standardized(points: FloatArray, weights: FloatArray) -> tuple[FloatArray, tuple[str, ...]]:
    """Each column moved and stretched to median 0 and robust standard deviation 1, and cut.

    Returned with what should be said about what was cut.
    """
    result, far = np.empty_like(points), np.zeros(len(points), dtype=bool)
    for j, column in enumerate(points.T):
        order = np.argsort(column, kind="stable")
        below = np.cumsum(weights[order]) / weights.sum()
        places = np.searchsorted(below, (_TAIL, 0.25, 0.5, 0.75, 1 - _TAIL))
        first, low, middle, high, last = column[order][np.minimum(places, column.size - 1)]
        scale = (high - low) / 1.349
        if not scale > 0:
            # Half of all are equal: the spread of the others, without the outermost, has to do.
            inside = np.clip(column, first, last)
            scale = float(np.sqrt(np.average((inside - middle) ** 2, weights=weights)))
        if not scale > 0:
            scale = float(np.sqrt(np.average((column - middle) ** 2, weights=weights))) or 1.0
        reach = _FARTHEST * scale
        ends = (
            max(first - _BEYOND * scale, middle - reach),
            min(last + _BEYOND * scale, middle + reach),
        )
        result[:, j] = (np.clip(column, *ends) - middle) / scale
        far |= (column < ends[0]) | (column > ends[1])
    cut, size = float(weights[far].sum()), float(weights.sum())
    if cut <= _MANY_CUT * size:
        return result, ()
    held = f"{cut:.6g} of {size:.6g} rows lie where normal densities hold none"
    return result, (f"{held}; they were drawn in, and may still mislead",)
