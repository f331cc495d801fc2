r"""`ReferencePosterior`, the default estimator: alpha and beta of similar real problems.

Scores alone do not show whether the highest ones are all positives, and alpha follows from that:

.. math::

    \alpha = \kappa\, \inf_t \frac{F_U(t)}{F_L(t)}

with clean labels, where :math:`\kappa \le 1` is the share of positives among the best unlabeled.
Methods that estimate alpha take :math:`\kappa = 1`. Here a collection of real problems whose truth
is known says what :math:`\kappa` was where scores had the same features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit

from purecover._codec import read_sealed
from purecover._parameters import checked
from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover._validation import check_choice
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator
from purecover.estimators.features import features_of, group_scores
from purecover.estimators.inclusion import inclusion_bound
from purecover.estimators.label_curve import (
    Posterior,
    alpha_of,
    beta_of,
    delta_of,
    draw_cells,
    solve_label_curve,
)
from purecover.estimators.replicates import NamedEnds, ends_of_draws
from purecover.intervals.resampling import thinned_to_draw
from purecover.posterior.knowledge import N_DRAWS, N_GROUPS, Knowledge, middle_of
from purecover.posterior.ratio import SEED

Cells = tuple[FloatArray, FloatArray, FloatArray]
"""Alpha, beta and weight of the cells of the posterior of the label curve."""

SMOOTHING = 0.25
"""Factor of the usual bandwidth by which draws are spread: similar problems are a few dozen."""

LARGEST_CURVE_WEIGHT, CURVE_FACTOR = 0.85, 1.5
"""Largest weight of the label curve, and its weight by the share of similar problems in which it
was right."""

SURE = (0.1, 0.25)
"""Widths of the label curve's interval of delta up to which it counts in full, and from which on
it does not count."""

ANYWHERE = 0.05
"""Share of the pool that is uniform over what the scores allow, so that verdicts that contradict
the scores win."""

N_POOL = 2**16
"""Pairs of alpha and beta by similar problems."""


@dataclass(frozen=True, eq=False)
class SimilarProblems:
    """Similar problems with their weights, and the bounds that the data at hand set.

    Attributes
    ----------
    log_odds : ndarray of shape (n_problems,)
        Log-odds of a in each problem.
    noise : ndarray of shape (n_problems,)
        The inclusion b in each problem, as a share of its bound there times the bound here.
    weight : ndarray of shape (n_problems,)
        Weight of each problem; the sum is 1.
    most_a, most_b : float
        Upper bounds of both, which the data guarantee.
    curve_weight : float
        Weight of the posterior of the label curve: 0 unless it is narrow, and was right in some
        of the problems.
    curve : tuple of three ndarrays
        Alpha, beta and weight of the cells of the posterior of the label curve.
    """

    log_odds: FloatArray
    noise: FloatArray
    weight: FloatArray
    most_a: float
    most_b: float
    curve_weight: float
    curve: Cells

    @property
    def n_effective(self) -> float:
        """Number of problems of equal weight with the same information."""
        return float(1 / np.sum(self.weight**2))

    def draws(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw alpha and beta, one row each: from the label curve and from similar problems."""
        n_curve = round(self.curve_weight * n)
        alpha, beta, weight = self.curve
        rows = np.column_stack((alpha, beta))[draw_cells(weight, n_curve, rng)]
        problems = draw_cells(self.weight, n - n_curve, rng)
        center = self.weight @ self.log_odds
        scale = np.sqrt(self.weight @ (self.log_odds - center) ** 2)
        width = SMOOTHING * scale * self.n_effective**-0.2
        a = expit(self.log_odds[problems] + width * rng.standard_normal(n - n_curve))
        a, b = (
            a.clip(0, min(self.most_a, LARGEST_INCLUSION)),
            self.noise[problems].clip(0, self.most_b),
        )
        similar = np.column_stack((alpha_of(a, b), beta_of(a, b)))
        return np.asarray(rng.permutation(np.concatenate((rows, similar))))


@dataclass(frozen=True, eq=False)
class Reference:
    """Real problems with known truth, and trees that find similar ones.

    Attributes
    ----------
    features : tuple of str
        Features that the trees look at, by the names of :func:`features_of`.
    log_odds : ndarray of shape (n_problems,)
        Log-odds of the true a.
    noise : ndarray of shape (n_problems,)
        The true b, as a share of ``"bound50_b"``; 0 where labels were clean.
    pure : ndarray of bool of shape (n_problems,)
        Whether the ends were pure enough for the label curve to be right.
    mass : ndarray of shape (n_problems,)
        How much each problem counts: 1, or less where it was drawn again with another alpha.
    root : ndarray of shape (n_trees,)
        The first node of each tree.
    leaf : ndarray of shape (n_trees, n_problems)
        The node that each problem ends in, counted from the root.
    feature, cut, above : ndarray of shape (n_nodes,)
        The feature that a node looks at (-1 in a leaf). The next node follows if the feature is
        at most the cut; else ``above`` names it.
    stretch : ndarray of shape (2,)
        Factors of the spread of similar problems below and above their mean, so that intervals
        hold in problems of other sources as often as they are said to.
    """

    features: tuple[str, ...]
    log_odds: FloatArray
    noise: FloatArray
    pure: BoolArray
    mass: FloatArray
    root: IntArray
    leaf: IntArray
    feature: IntArray
    cut: FloatArray
    above: IntArray
    stretch: FloatArray

    def weights(self, features: Mapping[str, float]) -> FloatArray:
        """Weight of each problem: how often it shares a leaf with one that has these features.

        The sum is 1.
        """
        x = np.array([features[name] for name in self.features])
        node = self.root
        while (inner := self.feature[node] >= 0).any():
            below = x[self.feature[node]] <= self.cut[node]
            node = np.where(inner, np.where(below, node + 1, self.above[node]), node)
        shared = self.leaf == (node - self.root)[:, None]
        weight = (shared / shared.sum(axis=1, keepdims=True)).mean(axis=0) * self.mass
        return np.asarray(weight / weight.sum())

    def similar(
        self, features: Mapping[str, float], curve: Cells, *, clean: bool = False
    ) -> SimilarProblems:
        """Find similar problems; only those with clean labels where labels are known to be."""
        weight = self.weights(features)
        if clean:
            weight = np.where(self.noise == 0, weight, 0.0)
            if weight.sum() == 0:  # no similar problem has clean labels: all that have count
                weight = (self.noise == 0).astype(np.float64)
        weight = weight / weight.sum()
        center = weight @ self.log_odds
        below, above = self.stretch
        off = self.log_odds - center
        pure = min(LARGEST_CURVE_WEIGHT, CURVE_FACTOR * float(weight @ self.pure))
        return SimilarProblems(
            log_odds=center + np.where(off < 0, below, above) * off,
            noise=self.noise * expit(features["bound50_b"]),
            weight=weight,
            most_a=float(expit(features["bound95_a"])),
            most_b=float(expit(features["bound95_b"])),
            curve_weight=pure * float(np.interp(features["width_delta"], SURE, (1, 0))),
            curve=curve,
        )


KIND = "purecover.reference/3"


@cache
def stored_reference() -> Reference:
    """Read the reference that comes with the package."""
    with files("purecover").joinpath("data/reference.npz").open("rb") as file:
        stored: dict[str, Any] = read_sealed(KIND, file)
    stored["features"] = tuple(map(str, stored["features"]))
    return Reference(**stored)


ALMOST_SURE = 0.999
"""Confidence of the bounds that pairs from anywhere lie below."""

LARGEST_INCLUSION = 0.99
"""Where nearly all rows are positive, labeled and unlabeled ones look the same."""

WIDEST_DELTA = 0.35
"""If the interval of delta is wider, the scores do not determine alpha and beta."""


@register_prior_estimator("reference")
@dataclass(kw_only=True, eq=False, repr=False)
class ReferencePosterior(PriorEstimator):
    r"""Posterior of alpha and beta from real problems with similar scores; the default.

    Assumes: the problem is like some of the real ones in the reference collection.

    Known to fail: labels not drawn at random from the positives; sources that differ
    from the collection.

    Scores alone cannot show the share of positives at the top of a ranking, from which alpha
    follows. A collection of real problems with known truth has this share for problems whose
    scores had the same features: the observed AUC, the shares at both ends, the
    posterior of :class:`LabelCurve` and the numbers of rows. Trees grown on the collection
    find similar problems; the posterior is how alpha and beta lay in those.

    Parameters
    ----------
    clean : {"weigh", "always"}, default="weigh"
        Whether labels may be wrong: as often as in similar problems, or never.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The intervals are quantiles of the posterior. The diagnostics
        hold ``"clean_probability"``; ``"pure_probability"``, that of ends so pure that
        :class:`LabelCurve` is right; ``"n_alike"``, how many problems of equal weight the
        posterior depends on; ``"delta_pure"``, beta - alpha if the best scores were all positives
        and all labels right; ``"delta_pure_noisy"``, if labels may be wrong and the worst scores
        were all negatives; and ``"alpha_interval"``, ``"beta_interval"`` and
        ``"delta_interval"`` at 95 %.

    See Also
    --------
    LabelCurve : Assumes that the top of the ranking is pure, and is narrower.

    Notes
    -----
    Let :math:`a_i` and :math:`b_i` be the inclusions :math:`a = \alpha/\beta` and
    :math:`b = (1-\beta)/(1-\alpha)` of problem :math:`i` of the collection, and :math:`\hat b_i`
    an upper bound of the second that its scores set (:func:`inclusion_bound`). Its weight
    :math:`w_i` is how often it shares a leaf with the problem at hand [1]_, over all trees of a
    forest; problems that were drawn again with another alpha count less. With the mean
    :math:`m = \sum w_i \operatorname{logit} a_i` the posterior puts the
    weight :math:`w_i (1 - \pi)` on

    .. math::

        \operatorname{logit} a = m + s\,(\operatorname{logit} a_i - m), \qquad
        b = \hat b\, b_i / \hat b_i,

    smoothed a little, and :math:`\pi` on the posterior of :class:`LabelCurve`. With :math:`p_i`,
    whether that was right in problem :math:`i`,

    .. math::

        \pi = \min\left(0.85,\; 1.5 \sum w_i p_i\right)\, r(\omega),

    where :math:`\omega` is the width of its 95 % interval of :math:`\beta - \alpha` and :math:`r`
    falls from 1 at 0.1 to 0 at 0.25: where classes overlap, the label curve is wide and goes
    astray. The factors :math:`s`, one below and one above the mean, stretch the spread so that
    intervals are valid in sources that had no part in the forest; they have the smallest interval
    scores there. Draws are cut at upper bounds that hold for any two distributions
    (:func:`inclusion_bound`), so that large samples rule out what they can.

    Each pair meets a draw of how labels lie along the ranking. It says which share of the unlabeled
    rows in each group of scores is positive, and weighs less the less likely that makes the
    labels (:mod:`purecover.posterior`). One pair in twenty is from anywhere that the scores allow.
    The estimates of alpha and of beta - alpha are medians.

    References
    ----------
    .. [1] N. Meinshausen, "Quantile regression forests", JMLR 7, 983-999, 2006.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=2.5)
    >>> sample = world.sample(1000, 5000, alpha=0.3, random_state=0)
    >>> estimator = pu.estimators.ReferencePosterior().fit(sample.scores, sample.labeled)
    >>> 0.3 in estimator.interval_["alpha"]
    True
    """

    noisy: ClassVar[bool] = True
    interval_method: ClassVar[str] = "posterior"

    clean: Literal["weigh", "always"] = checked("weigh", check_choice, choices=("weigh", "always"))

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        clean = self.clean == "always"
        similar, features = self._similar(counts)
        self.knowledge_ = self._known(counts, similar)
        shares = self.knowledge_.posterior().shares
        alpha, beta = middle_of(shares)
        ends = ends_of_draws(shares, 0.95)
        low, high = ends["delta"]
        pure_noisy = delta_of(expit(features["curve_a"]), expit(features["curve_b"]))
        details: dict[str, Any] = {
            "identifiable": high - low <= WIDEST_DELTA,
            "clean_probability": float((shares[:, 1] == 1).mean()),
            "n_alike": similar.n_effective,
            "pure_probability": similar.curve_weight,
            "delta_pure": float(1 - expit(features["curve_clean_a"])),
            "delta_pure_noisy": None if clean else float(pure_noisy),
            **{f"{name}_interval": pair for name, pair in ends.items()},
        }
        return Inclusions(alpha / beta, (1 - beta) / (1 - alpha), (), details)

    def _similar(self, counts: ScoreCounts) -> tuple[SimilarProblems, Mapping[str, float]]:
        """Return similar problems, and the features by which they are."""
        grouped, clean = group_scores(counts), self.clean == "always"
        curve = solve_label_curve(grouped)
        features = features_of(grouped, curve)
        cells = _cells_of(curve, clean=clean)
        return stored_reference().similar(features, cells, clean=clean), features

    def _known(self, counts: ScoreCounts, similar: SimilarProblems) -> Knowledge:
        rng, beta = np.random.default_rng(SEED), 1.0 if self.clean == "always" else None
        pool = with_anywhere(similar.draws(N_POOL, rng), counts, beta, rng)
        return Knowledge.of(thinned_to_draw(counts, N_GROUPS, None), pool)

    def know(self, counts: ScoreCounts) -> Knowledge:
        """Return what the posterior of these counts follows from."""
        return self._known(counts, self._similar(counts)[0])

    @property
    def knowledge(self) -> Knowledge | None:
        """All that the posterior of the fit follows from; None before it is fitted."""
        return getattr(self, "knowledge_", None)

    def draws(self, n: int) -> FloatArray:
        """Draw alpha and beta from the posterior: the same draws every time.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        ndarray of shape (n, 2)
            The draws.
        """
        self._check_fitted("draws")
        return self.knowledge_.posterior(n).shares

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta for replicates, one row each: draws from the posterior of the fit.

        What another sample would show changes them by far less than what no sample shows.
        """
        del unlabeled
        if not hasattr(self, "knowledge_"):
            self._estimate(counts)
        return self.knowledge_.posterior(len(labeled)).shares

    def _posterior_ends(self, level: float) -> NamedEnds:
        return ends_of_draws(self.draws(N_DRAWS), level)


def with_anywhere(
    draws: FloatArray,
    counts: ScoreCounts,
    beta: float | None,
    rng: np.random.Generator,
    share: float = ANYWHERE,
) -> FloatArray:
    """Replace some of the draws by pairs from anywhere that the scores allow."""
    n = int(share * len(draws))
    draws = draws.copy()
    draws[rng.permutation(len(draws))[:n]] = uniform_draws(counts, beta, n, rng)
    return draws


def uniform_draws(
    counts: ScoreCounts, beta: float | None, n: int, rng: np.random.Generator
) -> FloatArray:
    """Draw alpha and beta anywhere that the scores allow: half with clean labels, half without."""
    most = inclusion_bound(counts, confidence_level=ALMOST_SURE)
    a = rng.uniform(0, min(most, LARGEST_INCLUSION), n)
    if beta is not None:
        return np.column_stack((a * beta, np.full(n, beta)))
    most = inclusion_bound(counts.flipped(), confidence_level=ALMOST_SURE)
    b = rng.uniform(0, min(most, LARGEST_INCLUSION), n)
    b *= np.arange(n) % 2
    return np.column_stack((alpha_of(a, b), beta_of(a, b)))


def _cells_of(curve: Posterior, *, clean: bool) -> Cells:
    """Alpha, beta and weight of the cells, or of the clean cells where labels are clean."""
    kept = curve.clean if clean and curve.clean_probability > 0 else np.ones_like(curve.clean)
    weight = curve.weight[kept]
    return curve.alpha[kept], curve.beta[kept], weight / weight.sum()
