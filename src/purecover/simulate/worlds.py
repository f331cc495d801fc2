"""Worlds of known truth: two score densities, all metrics that follow from them, and samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from purecover import _validation as valid
from purecover._typing import ArrayLike, BoolArray, FloatArray, RandomState
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts
from purecover.proportions import MixtureProportions

Values = TypeVar("Values", float, FloatArray)


def _apply(parameter: str, curve: Callable[[FloatArray], Any], values: Values) -> Values:
    """Apply a curve to a number or an array, and return the same kind."""
    must = "a number or an array of numbers"
    try:
        array = np.asarray(values)
    except Exception as error:  # foreign containers raise whatever they like
        raise valid.bad_type(parameter, must, values) from error
    if array.dtype.kind not in "fiu":
        raise valid.bad_type(parameter, must, values)
    if np.isnan(array).any():
        raise valid.bad_value(parameter, must, valid.show(values))
    with np.errstate(all="ignore"):  # far out, densities vanish and ratios are undefined
        result = np.asarray(curve(array.astype(np.float64)), dtype=np.float64)
    return cast("Values", result if result.ndim else float(result))


def _threshold_at(scores: Any, shares: FloatArray) -> FloatArray:
    """Return the threshold that keeps a share of a distribution of scores."""
    # The inverse of a beta distribution gives up (NaN) on smaller shares, which no sample meets.
    found = scores.isf(np.maximum(shares, 1e-100))
    return np.where(shares > 0, found, scores.support()[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample(Frozen):
    """Scores with their labels, their hidden classes and where they came from.

    Attributes
    ----------
    scores : ndarray of float
        Score per row.
    labeled : ndarray of bool
        True where the row carries the positive label.
    truth : ndarray of bool
        True where the row is positive; a user would not see this.
    proportions : MixtureProportions
        The shares of positives the sample was drawn with, and the scenario.
    world : World
        The world the scores were drawn from.
    """

    scores: FloatArray
    labeled: BoolArray
    truth: BoolArray
    proportions: MixtureProportions
    world: World

    @property
    def counts(self) -> ScoreCounts:
        """The sufficient statistic of the sample."""
        return ScoreCounts.from_scores(self.scores, self.labeled)

    def __len__(self) -> int:
        return int(self.scores.size)

    def __repr__(self) -> str:
        n_labeled = int(self.labeled.sum())
        return (
            f"Sample({self.world.name}, {n_labeled} labeled, {len(self) - n_labeled} unlabeled, "
            f"alpha={self.proportions.alpha:.4g}, beta={self.proportions.beta:.4g}, "
            f"{self.proportions.scenario})"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class World(Frozen):
    r"""Score densities of positives and negatives, with the performance they imply.

    Made by :func:`binormal`, :func:`laplace`, :func:`beta` and :func:`histogram`. A row is
    predicted positive if its score is at or above the threshold.

    Attributes
    ----------
    name : str
        Family of the world.
    auc : float
        Area under the ROC curve, the probability that a positive outranks a negative.
    positive_inclusion : float
        :math:`\inf f_0/f_1`, the largest share of the positive density that the negative
        density contains. If it is above 0, alpha is not identified from the data.
    negative_inclusion : float
        :math:`\inf f_1/f_0`, the largest share of the negative density that the positive
        density contains. If it is above 0, beta is not identified from the data.
    positive, negative : frozen distribution of scipy.stats
        The scores of each class.
    kinks : tuple of float
        Scores where a density is not smooth; integrals are split there.

    Examples
    --------
    >>> from purecover import simulate
    >>> world = simulate.binormal(separation=1.5)
    >>> round(world.auc, 4), round(world.auc_pr(prior=0.25), 4)
    (0.8556, 0.6919)
    >>> sample = world.sample(100, 1000, alpha=0.25, random_state=0)
    >>> sample
    Sample(binormal, 100 labeled, 1000 unlabeled, alpha=0.25, beta=1, case-control)
    """

    name: str
    auc: float
    positive_inclusion: float
    negative_inclusion: float
    positive: Any = field(repr=False)
    negative: Any = field(repr=False)
    kinks: tuple[float, ...] = field(default=(), repr=False)

    @public
    def tpr(self, threshold: Values) -> Values:
        """Share of positives at or above the threshold."""
        return _apply("threshold", self.positive.sf, threshold)

    @public
    def fpr(self, threshold: Values) -> Values:
        """Share of negatives at or above the threshold."""
        return _apply("threshold", self.negative.sf, threshold)

    @public
    def precision(self, threshold: Values, prior: float) -> Values:
        r"""Share of positives among those at or above the threshold.

        Parameters
        ----------
        threshold : float or ndarray
            Threshold on the score.
        prior : float
            Share of positives in the population, :math:`\pi`.

        Returns
        -------
        float or ndarray
            :math:`\pi\,tpr / (\pi\,tpr + (1-\pi)\,fpr)`; NaN where nobody is predicted
            positive.
        """
        share = valid.check_real("prior", prior, low=0, high=1)
        return _apply(
            "threshold",
            lambda t: _precision(self.positive.sf(t), self.negative.sf(t), share),
            threshold,
        )

    @public
    def auc_pr(self, prior: float) -> float:
        r"""Area under the precision-recall curve, by quadrature.

        Parameters
        ----------
        prior : float
            Share of positives in the population, in (0, 1).

        Returns
        -------
        float
            :math:`\int_0^1 \mathrm{precision}\,d\,\mathrm{recall}`, accurate to about 1e-12.

        Examples
        --------
        >>> from purecover import simulate
        >>> round(simulate.binormal(1.5).auc_pr(prior=0.1), 7)
        0.4780717
        """
        share = valid.check_real("prior", prior, low=0, high=1, closed="neither")

        def at_recall(recall: FloatArray) -> FloatArray:
            fpr = self.negative.sf(_threshold_at(self.positive, recall))
            return _precision(recall, fpr, share)

        return _integrate(at_recall, self.positive.sf(self.kinks))

    @public
    def positive_density(self, score: Values) -> Values:
        """Density of the scores of positives."""
        return _apply("score", self.positive.pdf, score)

    @public
    def negative_density(self, score: Values) -> Values:
        """Density of the scores of negatives."""
        return _apply("score", self.negative.pdf, score)

    @public
    def sample(
        self,
        n_labeled: int,
        n_unlabeled: int,
        *,
        alpha: float,
        beta: float = 1.0,
        random_state: RandomState = None,
        fixed_counts: bool = False,
    ) -> Sample:
        r"""Draw labeled and unlabeled rows apart (case-control, two samples).

        Parameters
        ----------
        n_labeled, n_unlabeled : int
            Numbers of rows.
        alpha : float
            Share of positives among the unlabeled.
        beta : float, default=1.0
            Share of positives among the labeled.
        random_state : int, Generator or None
            Source of randomness.
        fixed_counts : bool, default=False
            If true, the numbers of positives are ``alpha * n_unlabeled`` and
            ``beta * n_labeled``, rounded, instead of random.

        Returns
        -------
        Sample
            Labeled rows first.

        Examples
        --------
        >>> from purecover import simulate
        >>> sample = simulate.laplace(2.0).sample(
        ...     10, 40, alpha=0.25, random_state=0, fixed_counts=True
        ... )
        >>> int(sample.truth[~sample.labeled].sum())
        10
        """
        n_labeled = valid.check_integer("n_labeled", n_labeled, low=1)
        n_unlabeled = valid.check_integer("n_unlabeled", n_unlabeled, low=1)
        proportions = MixtureProportions.from_case_control(alpha, beta, origin="simulated")
        valid.check_flag("fixed_counts", fixed_counts)
        rng = valid.check_random_state(random_state)
        sides = ((n_labeled, proportions.beta), (n_unlabeled, proportions.alpha))
        truth = np.concatenate([_classes(*side, rng, bool(fixed_counts)) for side in sides])
        labeled = np.arange(n_labeled + n_unlabeled) < n_labeled
        return self._sample(truth, labeled, proportions, rng)

    @public
    def sample_censored(
        self,
        n: int,
        *,
        prior: float,
        label_frequency: float,
        beta: float = 1.0,
        random_state: RandomState = None,
    ) -> Sample:
        r"""Draw one sample and label some of its positives (censoring, one sample).

        Parameters
        ----------
        n : int
            Number of rows.
        prior : float
            Share of positives in the population, :math:`\pi`.
        label_frequency : float
            Probability :math:`\ell` that a positive gets labeled.
        beta : float, default=1.0
            Expected share of positives among the labeled. Below 1, negatives get labeled
            by mistake, with probability :math:`\pi\ell(1-\beta) / (\beta(1-\pi))`.
        random_state : int, Generator or None
            Source of randomness.

        Returns
        -------
        Sample
            Its ``proportions`` hold the implied alpha,
            :math:`\pi(1-\ell) / (1 - \pi\ell/\beta)`, and the scenario ``"censoring"``.

        Examples
        --------
        >>> from purecover import simulate
        >>> sample = simulate.binormal().sample_censored(
        ...     1000, prior=0.25, label_frequency=0.4, random_state=0
        ... )
        >>> round(sample.proportions.alpha, 7)
        0.1666667
        """
        n = valid.check_integer("n", n, low=1)
        prior = valid.check_real("prior", prior, low=0, high=1, closed="neither")
        frequency = valid.check_real(
            "label_frequency", label_frequency, low=0, high=1, closed="right"
        )
        beta = valid.check_real("beta", beta, low=0, high=1, closed="right")
        mislabeling = prior * frequency * (1 - beta) / (beta * (1 - prior))
        # At a share of labeled rows of 1 nothing is left to be unlabeled.
        if not (mislabeling <= 1 and prior * frequency / beta < 1):
            must = f"larger for prior={prior:g} and label_frequency={frequency:g}"
            got = f"{beta:g}, which would label negatives with probability {mislabeling:.4g}"
            raise valid.bad_value("beta", must, got)
        proportions = MixtureProportions.from_censoring(
            labeled_share=prior * frequency / beta,
            label_frequency=frequency,
            beta=beta,
            origin="simulated",
        )
        rng = valid.check_random_state(random_state)
        truth = rng.random(n) < prior
        labeled = rng.random(n) < np.where(truth, frequency, mislabeling)
        return self._sample(truth, labeled, proportions, rng)

    def _sample(
        self,
        truth: BoolArray,
        labeled: BoolArray,
        proportions: MixtureProportions,
        rng: np.random.Generator,
    ) -> Sample:
        scores = np.empty(truth.size)
        n_positive = int(truth.sum())
        scores[truth] = self.positive.rvs(size=n_positive, random_state=rng)
        scores[~truth] = self.negative.rvs(size=truth.size - n_positive, random_state=rng)
        return Sample(
            scores=scores, labeled=labeled, truth=truth, proportions=proportions, world=self
        )


def _integrate(curve: Callable[[FloatArray], FloatArray], breaks: FloatArray) -> float:
    """Integrate over [0, 1] a curve that is smooth between breaks, but steep at its ends."""
    from scipy.integrate import tanhsinh

    cuts = np.array(sorted({0.0, 1.0, *(cut for cut in np.asarray(breaks) if 0 < cut < 1)}))
    with np.errstate(all="ignore"):
        return float(tanhsinh(curve, cuts[:-1], cuts[1:], atol=1e-14, rtol=1e-13).integral.sum())


def _precision(tpr: FloatArray, fpr: FloatArray, prior: float) -> FloatArray:
    return prior * tpr / (prior * tpr + (1 - prior) * fpr)


def _classes(size: int, share: float, rng: np.random.Generator, fixed: bool) -> BoolArray:
    if fixed:
        return np.arange(size) < int(np.floor(share * size + 0.5))
    return rng.random(size) < share


# Wide enough for any purpose, narrow enough for floating point. Beta shapes below 1/4 would
# pile scores up at 0 and 1 closer than float64 can distinguish, and no area would be exact.
_LARGEST_SEPARATION = 1e6
_SPREADS = (1e-4, 1e4)
_SHAPES = (0.25, 1e4)
_LARGEST_EDGE = 1e100


@public
def binormal(separation: float = 1.5, positive_sd: float = 1.0) -> World:
    r"""Normal scores: negatives :math:`N(0, 1)`, positives :math:`N(d, \sigma^2)`.

    Parameters
    ----------
    separation : float, default=1.5
        Difference of the means, :math:`d`.
    positive_sd : float, default=1.0
        Standard deviation of the positives, :math:`\sigma`. The ROC curve is concave only
        at 1; at 3 and a separation of 1 it crosses the diagonal.

    Returns
    -------
    World
        With :math:`auc = \Phi(d/\sqrt{1+\sigma^2})` in closed form.

    Examples
    --------
    >>> from purecover import simulate
    >>> round(simulate.binormal(2.0).auc, 4)
    0.9214
    """
    from scipy.stats import norm

    limit = _LARGEST_SEPARATION
    d = valid.check_real("separation", separation, low=-limit, high=limit)
    sd = valid.check_real("positive_sd", positive_sd, low=_SPREADS[0], high=_SPREADS[1])
    # The ratio of two normal densities of different spread has one interior extremum.
    positive_inclusion = negative_inclusion = 0.0
    if sd > 1:
        negative_inclusion = math.exp(-(d * d) / (2 * (sd * sd - 1))) / sd
    elif sd < 1:
        positive_inclusion = math.exp(-(d * d) / (2 * (1 - sd * sd))) * sd
    elif d == 0:
        positive_inclusion = negative_inclusion = 1.0
    return World(
        name="binormal",
        positive=norm(d, sd),
        negative=norm(),
        auc=float(norm.cdf(d / math.hypot(1.0, sd))),
        positive_inclusion=positive_inclusion,
        negative_inclusion=negative_inclusion,
    )


@public
def laplace(separation: float = 2.0) -> World:
    r"""Double-exponential scores of scale 1, a distance apart.

    The density ratio stays within :math:`[e^{-d}, e^{d}]`, so the world is not
    irreducible: alpha and beta are not identified from data alone.

    Parameters
    ----------
    separation : float, default=2.0
        Difference of the centers, :math:`d \ge 0`.

    Returns
    -------
    World
        With :math:`auc = 1 - e^{-d}(2+d)/4` in closed form.

    Examples
    --------
    >>> from purecover import simulate
    >>> world = simulate.laplace(2.0)
    >>> round(world.auc, 4), round(world.positive_inclusion, 4)
    (0.8647, 0.1353)
    """
    from scipy.stats import laplace as scores

    d = valid.check_real("separation", separation, low=0, high=_LARGEST_SEPARATION)
    return World(
        name="laplace",
        positive=scores(d),
        negative=scores(),
        kinks=(0.0, d),
        auc=1 - math.exp(-d) * (2 + d) / 4,
        positive_inclusion=math.exp(-d),
        negative_inclusion=math.exp(-d),
    )


@public
def beta(
    positive: tuple[float, float] = (5.0, 2.0), negative: tuple[float, float] = (2.0, 5.0)
) -> World:
    r"""Scores in (0, 1) with a beta distribution per class, like those of many classifiers.

    Parameters
    ----------
    positive, negative : tuple of float
        The two shapes :math:`(a, b)` of each class, at least 0.25.

    Returns
    -------
    World
        Its AUC is found by quadrature.

    Examples
    --------
    >>> from purecover import simulate
    >>> round(simulate.beta((2, 1), (1, 2)).auc, 10)
    0.8333333333
    """
    a1, b1 = _shapes("positive", positive)
    a0, b0 = _shapes("negative", negative)
    from scipy.stats import beta as scores

    one, zero = scores(a1, b1), scores(a0, b0)
    log_ratios = _beta_log_ratio_range((a1, b1), (a0, b0))
    return World(
        name="beta",
        positive=one,
        negative=zero,
        auc=_integrate(lambda u: one.sf(_threshold_at(zero, u)), np.array([])),
        positive_inclusion=math.exp(-log_ratios[1]),
        negative_inclusion=math.exp(log_ratios[0]),
    )


@public
def histogram(
    positive_mass: ArrayLike, negative_mass: ArrayLike, edges: ArrayLike | None = None
) -> World:
    r"""Piecewise constant densities: any shape, all areas elementary.

    Parameters
    ----------
    positive_mass, negative_mass : array-like
        Share of each class per bin, in increasing order of the score; normalized to sum
        to 1.
    edges : array-like, optional
        Bin edges, one more than bins. By default equal bins on [0, 1].

    Returns
    -------
    World
        With :math:`auc = \sum_i p_i (\sum_{j<i} q_j + q_i/2)` in closed form.

    Examples
    --------
    >>> from purecover import simulate
    >>> round(simulate.histogram([0.1, 0.3, 0.6], [0.6, 0.3, 0.1]).auc, 3)
    0.825
    """
    from scipy.stats import rv_histogram

    p = _mass("positive_mass", positive_mass)
    q = _mass("negative_mass", negative_mass)
    if p.size != q.size:
        raise valid.bad_value(
            "negative_mass", f"as long as positive_mass ({p.size})", f"{q.size} values"
        )
    cuts = (
        np.linspace(0.0, 1.0, p.size + 1) if edges is None else valid.as_real_vector("edges", edges)
    )
    in_range = bool((np.abs(cuts) <= _LARGEST_EDGE).all())
    if cuts.size != p.size + 1 or not in_range or not (np.diff(cuts) > 0).all():
        must = f"{p.size + 1} increasing numbers of size at most {_LARGEST_EDGE:g}"
        raise valid.bad_value("edges", must, f"{cuts.size} values from {cuts[0]:g} to {cuts[-1]:g}")
    filled = (p > 0) | (q > 0)
    with np.errstate(divide="ignore", over="ignore"):
        ratio = p[filled] / q[filled]
    where = tuple(float(cut) for cut in cuts)
    return World(
        name="histogram",
        positive=rv_histogram((p, cuts), density=False),
        negative=rv_histogram((q, cuts), density=False),
        kinks=where,
        auc=float(np.dot(p, np.cumsum(q) - q / 2)),
        positive_inclusion=1 / float(ratio.max()),
        negative_inclusion=float(ratio.min()),
    )


def _beta_log_ratio_range(
    one: tuple[float, float], zero: tuple[float, float]
) -> tuple[float, float]:
    """Return infimum and supremum of the log density ratio: at an end or the turning point."""
    from scipy.special import betaln

    up, down = one[0] - zero[0], one[1] - zero[1]
    constant = float(betaln(*zero) - betaln(*one))
    values = [constant if way == 0 else math.copysign(math.inf, -way) for way in (up, down)]
    if up * down > 0:  # both ends agree in sign, so the ratio turns in between
        x = up / (up + down)
        values.append(constant + up * math.log(x) + down * math.log1p(-x))
    return min(values), max(values)


def _shapes(parameter: str, values: object) -> tuple[float, float]:
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise valid.bad_type(parameter, "a pair of shapes (a, b)", values)
    a, b = (valid.check_real(parameter, value, low=_SHAPES[0], high=_SHAPES[1]) for value in values)
    return a, b


def _mass(parameter: str, values: ArrayLike) -> FloatArray:
    mass = valid.as_real_vector(parameter, values)
    with np.errstate(over="ignore"):
        total = float(mass.sum())
    if not (mass >= 0).all() or not 0 < total < math.inf:
        raise valid.bad_value(parameter, "shares of at least 0, not all 0", f"a sum of {total:g}")
    return mass / total
