r"""`ReferencePosterior`, the default: alpha and beta as they were in real problems that look alike.

Scores alone do not tell how pure the top of a ranking is, and alpha follows from that:

.. math::

    \alpha = \kappa\, \inf_t \frac{F_U(t)}{F_L(t)}

with clean labels, where :math:`\kappa \le 1` is the share of positives among the best unlabeled.
Methods that estimate alpha take :math:`\kappa = 1`. Here a collection of real problems whose truth
is known says what :math:`\kappa` was where scores looked the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Literal

import numpy as np

from purecover._codec import read_sealed
from purecover._imports import expit, logit
from purecover._parameters import checked
from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover._validation import check_choice
from purecover.counts import ScoreCounts, auc_pu_variance
from purecover.estimators import base, label_curve
from purecover.estimators.inclusion import inclusion_bound
from purecover.exceptions import IdentifiabilityError
from purecover.recovery.rates import effective_sizes

# -- What scores show ----------------------------------------------------------------------------


_ASKED = ("regrouping", "dist-curve", "dedpul", "alphamax", "elkan-noto", "roc-slope")
"""Quick estimators of unlike methods; what they find, and how far they agree, is visible."""

_TOPS = (0.01, 0.05, 0.2, 0.5, 0.8)
_BOTTOMS = (0.05, 0.1, 0.3, 0.5, 0.9)
"""Where the curve of labeled against unlabeled is read off: shares of either side."""

_GROUPS, _OUTER = 320, 0.03
"""Scores are looked at in so many groups, half of them in this share at either end."""

_MOST = np.array([5_000, 50_000])
"""Larger samples look like these: the collection has none to compare them with."""


def visible(counts: ScoreCounts, curve: label_curve.Posterior) -> dict[str, float]:
    """What the scores of a problem show without its truth, by name; shares as log-odds.

    ``curve`` is the posterior of the label curve. Only the order of scores matters.
    ``"reference"`` is the inclusion a by which others are told, ``"bound_b"`` the upper bound by
    which b is told.
    """
    sizes = np.minimum(effective_sizes(counts), _MOST)
    flipped = counts.flipped()
    found = {
        "auc_pu": _odds(counts.auc_pu),
        "n_labeled": float(np.log(sizes[0])),
        "n_unlabeled": float(np.log(sizes[1])),
    }
    for name, side in (("a", counts), ("b", flipped)):
        found[f"surely_{name}"] = _odds(inclusion_bound(side, confidence_level=0.95))
        found[f"bound_{name}"] = _odds(inclusion_bound(side, confidence_level=0.5))
    found |= _of_label_curve(curve)
    known = base.prior_estimators()
    for name in _ASKED:
        found[name] = _odds(_inclusion(known[name](), counts))
        found[f"{name}_b"] = _odds(_inclusion(known[name](), flipped))
    tpr, fpr = (
        np.concatenate(([0.0], np.cumsum(side) / side.sum()))
        for side in (counts.labeled, counts.unlabeled)
    )
    found |= {f"tpr_{x:g}": _odds(np.interp(x, fpr, tpr)) for x in _TOPS}
    found |= {f"fpr_{x:g}": _odds(np.interp(x, tpr, fpr)) for x in _BOTTOMS}
    every = [found[name] for name in ("curve_clean", *_ASKED)]
    found["spread"] = float(np.std(every))
    found["reference"] = float(np.mean(every[:4]))
    return found


def label_curve_posterior(counts: ScoreCounts) -> label_curve.Posterior:
    """The posterior of alpha and beta if both ends of the ranking are pure."""
    return label_curve.LabelCurve()._solve(counts)[0]


def ranked(counts: ScoreCounts) -> ScoreCounts:
    """The same scores as places in the ranking, in groups as those of the collection.

    Both ends are seen in detail, the middle in groups of like size.
    """
    if counts.n_thresholds > _GROUPS:
        passed = np.cumsum(counts.labeled + counts.unlabeled)
        outer = np.geomspace(1 / counts.n_thresholds, _OUTER, _GROUPS // 4)
        middle = np.linspace(_OUTER, 1 - _OUTER, _GROUPS // 2)
        shares = np.unique(np.concatenate((outer, middle, 1 - outer))) * (1 - 1e-12)
        ends = np.unique(np.searchsorted(passed, shares * passed[-1]))
        counts = counts._grouped(np.append(0, ends[ends < passed.size - 1] + 1))
    places = np.arange(counts.n_thresholds, dtype=np.float64)[::-1]
    return replace(counts, thresholds=places, highest=None)


def _of_label_curve(curve: label_curve.Posterior) -> dict[str, float]:
    """What the label curve finds, whether labels are clean and if they are."""
    alpha, beta = curve.mean[0]
    clean = curve.mean_over(curve.clean)[0, 0]
    ends = curve.ends(0.95)
    shapes = {kind: float(curve.kind_probability(kind)[0]) for kind in ("smooth", "steep")}
    return {
        "curve_a": _odds(alpha / beta),
        "curve_b": _odds((1 - beta) / (1 - alpha)),
        "curve_clean": _odds(alpha / beta if np.isnan(clean) else clean),
        "clean": float(curve.clean_probability[0]),
        "width_alpha": ends["alpha"][1] - ends["alpha"][0],
        "width_delta": ends["delta"][1] - ends["delta"][0],
        **shapes,
    }


def _inclusion(estimator: base.PriorEstimator, counts: ScoreCounts) -> float:
    try:
        return estimator._estimate(counts).a
    except IdentifiabilityError:
        return 0.5


def _odds(share: float, least: float = 1e-3) -> float:
    return float(logit(np.clip(share, least, 1 - least)))


# -- What the collection teaches -----------------------------------------------------------------


_SMOOTHING = 0.5
"""Draws are spread by so much of the usual bandwidth: problems alike are few dozens."""


@dataclass(frozen=True, eq=False)
class Alike:
    """Problems alike with their weights, and what the data at hand rule out.

    Attributes
    ----------
    log_odds : ndarray of shape (n_problems,)
        Log-odds of a, if it relates to what is visible as it did in each problem.
    noise : ndarray of shape (n_problems,)
        The same of b.
    weight : ndarray of shape (n_problems,)
        How much each counts; the sum is 1.
    most_a, most_b : float
        Upper bounds of both, which the data guarantee.
    pure : float
        Weight of the posterior of the label curve: 0 unless most problems had pure ends.
    curve : tuple of three ndarrays
        Alpha, beta and weight of the cells of the posterior of the label curve.
    """

    log_odds: FloatArray
    noise: FloatArray
    weight: FloatArray
    most_a: float
    most_b: float
    pure: float
    curve: tuple[FloatArray, FloatArray, FloatArray]

    @property
    def n_effective(self) -> float:
        """How many problems of equal weight would tell as much."""
        return float(1 / np.sum(self.weight**2))

    @property
    def clean(self) -> float:
        """Probability of clean labels."""
        _, beta, weight = self.curve
        alike = float(self.weight[self.noise == 0].sum())
        return self.pure * float(weight[beta == 1].sum()) + (1 - self.pure) * alike

    def draws(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Alpha and beta, one row each: some by the label curve, some as in problems alike."""
        n_pure = round(self.pure * n)
        alpha, beta, weight = self.curve
        drawn = label_curve.drawn_cells(weight, n_pure, rng)
        rows = np.concatenate(
            (np.column_stack((alpha[drawn], beta[drawn])), self._as_alike(n - n_pure, rng))
        )
        return np.asarray(rng.permutation(rows))

    def _as_alike(self, n: int, rng: np.random.Generator) -> FloatArray:
        drawn = label_curve.drawn_cells(self.weight, n, rng)
        center = self.weight @ self.log_odds
        scale = np.sqrt(self.weight @ (self.log_odds - center) ** 2)
        width = _SMOOTHING * scale * self.n_effective**-0.2
        a = expit(self.log_odds[drawn] + width * rng.standard_normal(n)).clip(0, self.most_a)
        b = self.noise[drawn].clip(0, self.most_b)
        return np.column_stack((label_curve.alpha_of(a, b), label_curve.beta_of(a, b)))


MOST_PURE = 0.7
"""The most that the label curve counts, where it was right in all problems alike."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Real problems with known truth, and trees that find those which look alike.

    Attributes
    ----------
    features : tuple of str
        What the trees look at, by the names of :func:`visible`.
    log_odds : ndarray of shape (n_problems,)
        Log-odds of the true a, less the reference that was visible.
    noise : ndarray of shape (n_problems,)
        The true b, as a share of the bound that was visible; 0 where labels were clean.
    pure : ndarray of bool of shape (n_problems,)
        Whether the ends were pure enough for the label curve to be right.
    leaf : ndarray of shape (n_trees, n_problems)
        The node that each problem ends in.
    feature, cut, below, above : ndarray of shape (n_nodes,)
        What a node looks at (-1 in a leaf), and where one goes if that is at most the cut, or
        more. The first ``n_trees`` nodes are roots.
    stretch : float
        By how much the spread of problems alike is stretched, so that intervals hold in problems
        of other sources.
    risk : float
        Posterior probability of harm at which a corrected AUC stops; see :func:`careful_auc`.
    """

    features: tuple[str, ...]
    log_odds: FloatArray
    noise: FloatArray
    pure: BoolArray
    leaf: IntArray
    feature: IntArray
    cut: FloatArray
    below: IntArray
    above: IntArray
    stretch: float
    risk: float

    def weights(self, seen: Mapping[str, float]) -> FloatArray:
        """How much each problem counts for one that shows this: how often it shares a leaf."""
        x = np.array([seen[name] for name in self.features])
        at = np.arange(len(self.leaf))
        while (inner := self.feature[at] >= 0).any():
            goes_below = x[self.feature[at]] <= self.cut[at]
            at = np.where(inner, np.where(goes_below, self.below[at], self.above[at]), at)
        alike = self.leaf == at[:, None]
        return np.asarray((alike / alike.sum(axis=1, keepdims=True)).mean(axis=0))

    def alike(
        self,
        seen: Mapping[str, float],
        curve: tuple[FloatArray, FloatArray, FloatArray],
        *,
        clean: bool = False,
    ) -> Alike:
        """Problems that show the same; only those with clean labels if this is known of them."""
        weight = self.weights(seen)
        if clean:
            weight = np.where(self.noise == 0, weight, 0.0)
            if weight.sum() == 0:  # none looks alike: all of them count
                weight = (self.noise == 0).astype(np.float64)
        weight = weight / weight.sum()
        center = weight @ self.log_odds
        return Alike(
            log_odds=seen["reference"] + center + self.stretch * (self.log_odds - center),
            noise=self.noise * expit(seen["bound_b"]),
            weight=weight,
            most_a=float(expit(seen["surely_a"])),
            most_b=float(expit(seen["surely_b"])),
            pure=MOST_PURE * max(2 * float(weight @ self.pure) - 1, 0.0),
            curve=curve,
        )


KIND = "purecover.reference/1"


@cache
def stored_reference() -> Reference:
    """The reference that comes with the package."""
    with files("purecover").joinpath("data/reference.npz").open("rb") as file:
        stored = read_sealed(KIND, file)
    shares = {name: stored[name].astype(np.float64) for name in ("log_odds", "noise", "cut")}
    nodes = {name: stored[name].astype(np.int64) for name in ("leaf", "feature", "below", "above")}
    numbers: dict[str, Any] = {name: float(stored[name]) for name in ("stretch", "risk")}
    features = tuple(map(str, stored["features"]))
    return Reference(features=features, pure=stored["pure"], **shares, **nodes, **numbers)


# -- The estimator -------------------------------------------------------------------------------


_N_DRAWS = 2**12
_SEED = 20170204
"""The posterior is read off so many draws, the same ones every time."""

_WIDE = 0.35
"""Where delta can be anywhere in an interval as wide, the scores do not tell how pure they are."""


@base.register_prior_estimator("reference")
@dataclass(kw_only=True, eq=False, repr=False)
class ReferencePosterior(base.PriorEstimator):
    r"""Alpha and beta as they were in real problems whose scores look the same.

    Assumes: the problem is like some of the real ones in the reference collection.

    Known to fail: labels not drawn at random from the positives; sources unlike the collection.

    Scores alone cannot tell how pure the top of a ranking is, and most of what is unknown of
    alpha follows from that. A collection of real problems with known truth says how it was where
    the scores showed the same: the observed AUC, the shares at both ends, what several estimators
    find and how far they agree, and the numbers of examples. Trees grown on the collection find
    the problems that look alike; the posterior is how alpha and beta lay in those.

    Parameters
    ----------
    clean : {"weigh", "always"}, default="weigh"
        Whether labels may be wrong: as often as in problems that look alike, or never.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The intervals are quantiles of the posterior. The diagnostics
        hold ``"clean_probability"``; ``"pure_probability"``, that of ends so pure that
        :class:`LabelCurve` is right; ``"n_alike"``, how many problems of equal weight the
        posterior rests on; ``"delta_pure"``, beta - alpha if the best scores were all positives
        and all labels right; ``"delta_pure_noisy"``, if labels may be wrong and the worst scores
        were all negatives; ``"delta_clean"`` and ``"delta_noisy"``, its mean if labels are clean
        and if they are not; and ``"alpha_interval"``, ``"beta_interval"`` and
        ``"delta_interval"`` at 95 %.

    See Also
    --------
    LabelCurve : Assumes that the top of the ranking is pure, and is narrower.

    Notes
    -----
    With the inclusions :math:`a = \alpha/\beta` and :math:`b = (1-\beta)/(1-\alpha)`, each
    problem :math:`i` of the collection has a visible guess :math:`\hat a_i`, the mean over
    estimators on the scale of log-odds, and a visible bound :math:`\hat b_i`. Its weight
    :math:`w_i` is how often it shares a leaf with the problem at hand [1]_, over all trees of a
    forest. The posterior puts the weight :math:`w_i (1 - \pi)` on

    .. math::

        \operatorname{logit} a = \operatorname{logit} \hat a + s\,(\operatorname{logit} a_i -
        \operatorname{logit} \hat a_i), \qquad b = \hat b\, b_i / \hat b_i,

    smoothed a little, and :math:`\pi` on the posterior of :class:`LabelCurve`, with
    :math:`\pi = 0.7 \max(2\sum w_i p_i - 1, 0)` and :math:`p_i` whether that was right in problem
    :math:`i`. The factor :math:`s` stretches the spread so that intervals hold in sources that
    had no part in the forest. Draws are cut at upper bounds that hold for any two distributions
    (:func:`inclusion_bound`), so that large samples rule out what they can.

    The estimate is the mean of the posterior.

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
    reference: ClassVar[str] = "purecover"
    interval_method: ClassVar[str] = "posterior"

    clean: Literal["weigh", "always"] = checked("weigh", check_choice, choices=("weigh", "always"))

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        clean = self.clean == "always"
        counts = ranked(counts)
        curve = label_curve_posterior(counts)
        seen = visible(counts, curve)
        alike = stored_reference().alike(seen, cells_of(curve, clean=clean), clean=clean)
        draws = alike.draws(_N_DRAWS, np.random.default_rng(_SEED))
        alpha, beta = map(float, draws.mean(axis=0))
        ends = _ends(draws, 0.95)
        right = draws[:, 1] == 1
        delta = draws[:, 1] - draws[:, 0]
        low, high = ends["delta"]
        # If the ends of the ranking are pure, by the label curve.
        either = label_curve.delta_of(expit(seen["curve_a"]), expit(seen["curve_b"]))
        details: dict[str, Any] = {
            "alike": alike,
            "identifiable": high - low <= _WIDE,
            "clean_probability": alike.clean,
            "n_alike": alike.n_effective,
            "pure_probability": alike.pure,
            "delta_pure": float(1 - expit(seen["curve_clean"])),
            "delta_pure_noisy": None if clean else float(either),
            **{
                name: float(delta[where].mean())
                for name, where in (("delta_clean", right), ("delta_noisy", ~right))
                if where.any()
            },
            **{f"{name}_interval": pair for name, pair in ends.items()},
        }
        return base.Inclusions(alpha / beta, (1 - beta) / (1 - alpha), (), details)

    def _keep(self, found: base.Inclusions, notes: tuple[str, ...], *, n_features: int) -> None:
        self._alike: Alike = found.details["alike"]
        details = {key: value for key, value in found.details.items() if key != "alike"}
        super()._keep(replace(found, details=details), notes, n_features=n_features)

    def draws(self, n: int, random_state: int = _SEED) -> FloatArray:
        """Alpha and beta from the posterior, one row each.

        Parameters
        ----------
        n : int
            How many rows.
        random_state : int, optional
            The seed; the same one by default.

        Returns
        -------
        ndarray of shape (n, 2)
            The draws.
        """
        self._check_fitted("draws")
        return self._alike.draws(n, np.random.default_rng(random_state))

    def _for_draws(self) -> base.PriorEstimator:
        # What both samples have in common cancels out; the rest is what the label curve sees.
        return label_curve.LabelCurve(clean=self.clean)

    def proportions_many(
        self,
        counts: ScoreCounts,
        labeled: CountArray,
        unlabeled: CountArray,
    ) -> FloatArray:
        """Alpha and beta for replicates, one row each: draws from the posterior of the fit.

        What another sample would show changes them by far less than what no sample shows.
        """
        if not hasattr(self, "_alike"):
            self._alike = self._estimate(counts).details["alike"]
        seed = zlib.crc32(np.ascontiguousarray(labeled).tobytes())
        return self._alike.draws(len(unlabeled), np.random.default_rng(seed))

    def _alpha_if_clean(self, level: float) -> tuple[float, float] | None:
        """Ends of the interval of alpha if every label is right; None if none of them can be."""
        draws = self.draws(_N_DRAWS)
        clean = draws[draws[:, 1] == 1, 0]
        if self.clean == "always" or clean.size < 100:
            return None
        low, high = np.quantile(clean, ((1 - level) / 2, (1 + level) / 2))
        return float(low), float(high)

    def _posterior_ends(self, level: float) -> dict[str, tuple[float, float]]:
        ends = _ends(self.draws(_N_DRAWS), level)
        values = {name: getattr(self.proportions_, name) for name in ends}
        return {name: (min(ends[name][0], v), max(ends[name][1], v)) for name, v in values.items()}


def cells_of(
    curve: label_curve.Posterior, *, clean: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Alpha, beta and weight of the cells; where labels are known to be clean, of those alone."""
    kept = curve.clean if clean and curve.clean_probability[0] > 0 else np.ones_like(curve.clean)
    weight = curve.weight[0, kept]
    return curve.alpha[0, kept], curve.beta[0, kept], weight / weight.sum()


_OVERLAP = (0.65, 0.75)
"""Observed AUCs up to which correcting hardly pays, and from which on it does."""


def careful_auc(counts: ScoreCounts, draws: FloatArray, risk: float | None = None) -> float:
    r"""The corrected AUC, moved towards the observed one as far as needed to make harm unlikely.

    A value :math:`A` above the observed :math:`A_{pu}` is further from the truth :math:`A^*` than
    that just if :math:`A^* < (A + A_{pu})/2`. With the quantile :math:`q` of the posterior at the
    risk one is willing to take, :math:`A = 2q - A_{pu}` is the largest that may be shown.

    Where the observed AUC is low, classes overlap, and the collection shows that correcting
    hardly pays: there only a fifth of the risk is taken.

    Parameters
    ----------
    counts : ScoreCounts
        The scores.
    draws : ndarray of shape (n, 2)
        Alpha and beta from the posterior.
    risk : float, optional
        The risk of harm where the observed AUC is high; by default that of the reference.

    Returns
    -------
    float
        The AUC, between the observed one and that of the mean of beta - alpha.
    """
    risk = stored_reference().risk if risk is None else risk
    observed, delta = counts.auc_pu, draws[:, 1] - draws[:, 0]
    risk *= float(np.interp(observed, _OVERLAP, (0.2, 1.0)))
    corrected = 0.5 + (observed - 0.5) / delta.mean()
    error = np.sqrt(np.nan_to_num(auc_pu_variance(counts), posinf=0.25).clip(0))
    noise = np.random.default_rng(_SEED).standard_normal(len(delta))
    posterior = 0.5 + (observed + error * noise - 0.5) / delta
    harmless = 2 * np.quantile(posterior.clip(0, 1), risk) - observed
    low, high = sorted((observed, corrected))
    return float(np.clip(harmless, low, min(high, 1.0)))


def _ends(draws: FloatArray, level: float) -> dict[str, tuple[float, float]]:
    alpha, beta = draws.T
    found = {}
    for name, values in (("alpha", alpha), ("beta", beta), ("delta", beta - alpha)):
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        found[name] = float(low), float(high)
    return found
