"""Means over the true classes, and what follows from them: losses, calibration, net benefit.

The mean of any function of the score over true positives and over true negatives is linear in the
means over labeled and unlabeled rows. Losses are such means; the measures of calibration here
solve equations in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._typing import FloatArray, IntArray, Target
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import check_data, effective_sizes
from purecover.recovery.repairs import isotonic_regression

_TINY = float(np.finfo(np.float64).eps)
"""Probabilities are kept this far from 0 and 1 before a logarithm, as in scikit-learn."""

_LARGEST = 1e100
"""Values of a function whose mean is recovered: their squares, divided by any delta, are finite."""

Function: TypeAlias = Callable[[FloatArray], Any] | FloatArray


@dataclass(frozen=True, eq=False)
class Masses:
    """Shares of labeled and unlabeled at each score, and what makes classes of them.

    ``labeled`` and ``unlabeled`` may have a leading axis of replicates where only means are taken.
    """

    scores: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    sizes: tuple[float, float]
    alpha: float
    beta: float
    _kept: dict[Any, Any] = field(default_factory=dict)

    def once(self, find: Callable[[Masses, float], Any], prior: float) -> Any:
        """Return ``find`` of these masses, computed once because several metrics use it."""
        if (find, prior) not in self._kept:
            self._kept[find, prior] = find(self, prior)
        return self._kept[find, prior]

    @classmethod
    def of(cls, counts: ScoreCounts, alpha: float, beta: float) -> Masses:
        """Make masses of counts; the score of a bin is its middle."""
        scores = counts.thresholds
        if counts.highest is not None:
            scores = (scores + counts.highest) / 2
        return cls(
            scores,
            np.asarray(counts.labeled / counts.n_labeled, dtype=np.float64),
            np.asarray(counts.unlabeled / counts.n_unlabeled, dtype=np.float64),
            effective_sizes(counts),
            alpha,
            beta,
        )

    def weights(self, positive: Any, negative: Any, prior: float) -> tuple[Any, Any]:
        """Return weights of a labeled and of an unlabeled row in a mean over a population."""
        delta = self.beta - self.alpha
        ours, theirs = prior * positive, (1 - prior) * negative
        return (
            ((1 - self.alpha) * ours - self.alpha * theirs) / delta,
            (self.beta * theirs - (1 - self.beta) * ours) / delta,
        )

    def mean(self, positive: Any, negative: Any, prior: float) -> Any:
        """Return the mean of a function with these values on positives and on negatives."""
        on_labeled, on_unlabeled = self.weights(positive, negative, prior)
        return self.labeled @ on_labeled + self.unlabeled @ on_unlabeled

    def split(self, prior: float) -> tuple[FloatArray, FloatArray]:
        """Return masses of positives and of all in the population; their sums: the prior, and 1."""
        positive, everyone = (
            on_labeled * self.labeled + on_unlabeled * self.unlabeled
            for on_labeled, on_unlabeled in (self.weights(1.0, x, prior) for x in (0.0, 1.0))
        )
        return positive, everyone


def brier(masses: Masses, prior: float) -> Any:
    """Return the mean squared error of probabilities."""
    return masses.mean((1 - masses.scores) ** 2, masses.scores**2, prior)


def log_loss(masses: Masses, prior: float) -> Any:
    """Return the mean negative logarithm of the probability of the true class."""
    p = masses.scores.clip(_TINY, 1 - _TINY)
    return masses.mean(-np.log(p), -np.log1p(-p), prior)


def net_benefits(masses: Masses, prior: float, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the net benefit at threshold probabilities, and its standard error.

    That is true positives a head, less false ones at the odds of the threshold probability.
    """
    # Sums over scores from the highest to the last that reaches each threshold.
    place = np.searchsorted(-masses.scores, -at, side="right")
    weights = masses.weights(1.0, -at / (1 - at), prior)
    value = variance = np.zeros(at.size)
    sides = (masses.labeled, masses.unlabeled)
    for mass, weight, size in zip(sides, weights, masses.sizes, strict=True):
        reached = np.append(0.0, np.cumsum(mass))[place].clip(0, 1)
        value = value + weight * reached
        variance = variance + weight**2 * reached * (1 - reached) / size
    return value, np.sqrt(variance)


def even_bins(mass: FloatArray, n_bins: int) -> IntArray:
    """Return the first indices of bins with about equal shares of a mass."""
    total = mass.sum()
    if not 0 < total < np.inf:
        return np.zeros(1, dtype=np.int64)
    middle = np.cumsum(mass) - mass / 2
    place = (n_bins * middle / total).astype(np.int64)
    return np.flatnonzero(np.diff(place, prepend=-1))


def expected_calibration_error(masses: Masses, prior: float) -> float:
    r"""Estimate the mean distance of frequencies from probabilities, corrected for noise.

    In bin :math:`b` the gap :math:`g = \pi\,E_1[1_b (1-p)] - (1-\pi)\,E_0[1_b p]` has the standard
    error :math:`\sigma`. With independent halves of the data, the sign of one times the gap of the
    other is free of the noise that :math:`|g|` adds up; on average over halves it is
    :math:`g\,(2\Phi(g/\sigma) - 1) - 2\sigma\varphi(g/\sigma)`, with mean 0 where the
    probabilities are right, and close to :math:`|g|` where they are clearly wrong.
    """
    from scipy.special import ndtr

    starts = even_bins(masses.split(prior)[1].clip(0), 10)
    gap = variance = np.zeros(starts.size)
    sides = zip(
        (masses.labeled, masses.unlabeled),
        masses.weights(1 - masses.scores, -masses.scores, prior),
        masses.sizes,
        strict=True,
    )
    for share, weight, size in sides:
        sums = np.add.reduceat(share * weight, starts)
        squares = np.add.reduceat(share * weight**2, starts)
        gap, variance = gap + sums, variance + (squares - sums**2) / max(size - 1, 1)
    sigma = np.sqrt(variance.clip(0))
    z = gap / np.where(sigma > 0, sigma, 1.0)
    halves = gap * (2 * ndtr(z) - 1) - 2 * sigma * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return max(float(np.where(sigma > 0, halves, np.abs(gap)).sum()), 0.0)


@np.errstate(over="ignore", invalid="ignore")
def recalibration(masses: Masses, prior: float) -> tuple[float, float]:
    r"""Return intercept and slope of the log-odds of the class on those of the probability.

    The score equations of a logistic regression, :math:`\sum_x (\pi f_1(x) - m(x) q(x))\,(1,
    \mathrm{logit}\,p) = 0` with the mass :math:`m` of all rows, solved by Newton's method.
    Where classes look separable, the further the better, and both are infinite; NaN where
    probabilities do not vary.
    """
    p = masses.scores.clip(_TINY, 1 - _TINY)
    columns = np.stack([np.ones_like(p), np.log(p) - np.log1p(-p)])
    positive, everyone = masses.split(prior)

    def gain(theta: FloatArray) -> float:
        line = theta @ columns
        return float(positive @ line - everyone @ np.logaddexp(0, line))

    # From the prior upwards, with halved steps where one is too long: concave, so it gets there.
    theta = np.array([math.log(prior / (1 - prior)) if 0 < prior < 1 else 0.0, 0.0])
    height = gain(theta)
    for _ in range(100):
        q = 1 / (1 + np.exp(-(theta @ columns).clip(-700, 700)))
        gradient = columns @ (positive - everyone * q)
        hessian = (columns * (everyone * q * (1 - q))) @ columns.T
        scale = hessian[0, 0] * hessian[1, 1]
        determinant = scale - hessian[0, 1] ** 2
        if not determinant > 1e-12 * abs(scale):
            break
        step = np.linalg.solve(hessian, gradient)
        if np.abs(step).max() < 1e-10:
            return float(theta[0]), float(theta[1])
        least = height - 1e-12 * abs(height)
        while (reached := gain(theta + step)) < least and np.abs(step).max() > 1e-10:
            step /= 2
        theta, height = theta + step, reached
    line = theta @ columns
    if theta[1] and positive @ line >= everyone @ line.clip(0):  # the further, the better
        return math.copysign(math.inf, theta[0]), math.copysign(math.inf, theta[1])
    return math.nan, math.nan


def isotonic_frequency(masses: Masses, prior: float) -> FloatArray:
    """Return the share of positives at each score, by isotonic regression."""
    positive, everyone = (mass[::-1] for mass in masses.split(prior))
    starts = np.flatnonzero(everyone > 0)
    # Scores that only labeled rows have, of which the population has none, go with those below.
    starts[0] = 0
    weight = np.add.reduceat(everyone.clip(0), starts)
    share = np.add.reduceat(positive, starts) / weight
    fitted = isotonic_regression(share, weights=weight).x.clip(0, 1)
    spread = np.repeat(fitted, np.diff(np.append(starts, everyone.size)))
    return np.asarray(spread[::-1])


def brier_parts(masses: Masses, prior: float) -> tuple[float, float]:
    """Return miscalibration and discrimination: the gains by and of isotonic recalibration.

    The Brier score is the first less the second plus prior (1 - prior).
    """
    q, p = isotonic_frequency(masses, prior), masses.scores
    positive, everyone = masses.split(prior)
    at_best, now, nothing = (
        float(everyone @ (x**2) - 2 * positive @ x) for x in (q, p, np.full_like(p, prior))
    )
    return now - at_best, nothing - at_best


_CALIBRATE = (
    "a model of labeled against unlabeled rows gives the probability of a label: wrap it in "
    "purecover.PUCalibratedClassifier, whose predict_proba is that of the true class"
)


def check_probabilities(counts: ScoreCounts, proportions: MixtureProportions | None = None) -> None:
    r"""Refuse scores that are no probabilities, or probabilities of a label.

    Probabilities of a label have the share :math:`c` of labeled rows as their mean, within a
    twentieth, and labels have a slope near 1 on their log-odds (from 0.8 to 1.25). Refused are
    those that do both, and that predict labels better than the rates that follow from the same
    number as the probability of the class, for an alpha within a quarter of the given one:
    :math:`\tau/(1-\tau) = \frac{c}{1-c}(\beta p/\alpha + (1-\beta)(1-p)/(1-\alpha))`.
    """
    lowest, highest = float(counts.thresholds[-1]), float(counts._tops().max())
    if lowest < 0 or highest > 1:
        got = f"values from {lowest:.4g} to {highest:.4g}"
        must = "probabilities of the true class, in [0, 1], for this metric"
        raise valid.bad_value("scores", must, got, _CALIBRATE)
    c = counts.labeled_share
    if proportions is None or not 0 < proportions.alpha < 1 or not 0 < c < 1:
        return
    seen = Masses.of(counts, 0.0, 1.0)
    p, beta, odds = seen.scores, proportions.beta, c / (1 - c)
    if abs(seen.mean(p, p, c) / c - 1) > 0.05 or not 0.8 < recalibration(seen, c)[1] < 1.25:
        return

    def loss(tau: FloatArray) -> float:
        return float(log_loss(replace(seen, scores=tau), c))

    rates = (
        1 - 1 / (1 + odds * (beta * p / alpha + (1 - beta) * (1 - p) / (1 - alpha)))
        for alpha in (proportions.alpha * np.array([0.75, 1, 1.25])).clip(None, 0.98)
    )
    if loss(p) < min(map(loss, rates)):
        raise InvalidInputError(
            "{function} needs probabilities of the true class, but these predict who is labeled: "
            f"their mean is {c:.3g}, the share of labeled rows.",
            hint=_CALIBRATE,
        )


@dataclass(frozen=True, kw_only=True)
class RecoveredMean(Saved):
    """Means of a function of the score over the true classes, with their sampling variance.

    Attributes
    ----------
    positive, negative : float
        Means over true positives and over true negatives.
    mean : float
        The mean over a population with the share ``prior`` of positives.
    prior : float
        Share of positives in the population.
    variance_positive, variance_negative, covariance, variance : float
        Sampling variances of the first two, their covariance, and the variance of ``mean``; alpha
        and beta count as exact.
    """

    positive: float
    negative: float
    mean: float
    prior: float
    variance_positive: float
    variance_negative: float
    covariance: float
    variance: float

    @property
    def standard_error(self) -> float:
        """Square root of ``variance``."""
        return math.sqrt(self.variance)


def _values(parameter: str, f: Any, scores: FloatArray) -> FloatArray:
    """Return the value of a function, or of a vector, at each score."""
    if callable(f):
        must = "a function that takes an array of scores and gives as many numbers"
        try:
            with np.errstate(all="ignore"):
                f = np.asarray(f(scores))
        except Exception as error:  # functions of users raise whatever they like
            raise valid.bad_value(parameter, must, f"one that raises {error!r}") from error
        if f.shape != scores.shape:
            raise valid.bad_value(parameter, must, f"one that gives the shape {f.shape}")
    elif np.ndim(f) != 1:
        raise valid.bad_type(parameter, "a function of scores, or a vector of its values", f)
    values = valid.as_real_vector(parameter, f)
    valid.check_same_length(parameter, values.size, scores.size, "distinct scores")
    if np.abs(values).max() > _LARGEST:
        must = f"at most {_LARGEST:g} in size, so that squares can be summed"
        raise valid.bad_value(parameter, must, f"{np.abs(values).max():g}")
    return values


@public
def recover_mean(
    counts: ScoreCounts,
    f: Function,
    proportions: MixtureProportions,
    *,
    negative: Function | None = None,
    target: Target = "population",
) -> RecoveredMean:
    r"""Recover the mean of any function of the score over the true classes.

    Every loss that is a mean follows: give ``f`` as its value on positives and ``negative`` as its
    value on negatives.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    f : callable or array-like of shape (n_thresholds,)
        A function that takes an array of scores and gives as many numbers; or these, at
        ``counts.thresholds``.
    proportions : MixtureProportions
        Alpha and beta.
    negative : callable or array-like, optional
        The function on true negatives, if it is another one there.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population whose mean is wanted; see :meth:`MixtureProportions.prior`.

    Returns
    -------
    RecoveredMean
        Means by class and over the population, with variances. Nothing is clipped.

    See Also
    --------
    recover_metrics : Brier score, log loss and more by name.
    recover_calibration : Whether probabilities are right.

    Notes
    -----
    With means :math:`E_L` over labeled and :math:`E_U` over unlabeled rows,

    .. math::

        E_1 f = \frac{(1-\alpha)\,E_L f - (1-\beta)\,E_U f}{\beta-\alpha}, \qquad
        E_0 f = \frac{\beta\,E_U f - \alpha\,E_L f}{\beta-\alpha}.

    The variances go through the same map: a sum of :math:`w_L` over labeled and :math:`w_U` over
    unlabeled rows has :math:`Var = Var_L(w_L)/n_L + Var_U(w_U)/n_U`. In counts of bins, a bin
    stands where its middle is.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.recovery import recover_mean
    >>> counts = ScoreCounts.from_counts([0.9, 0.2], labeled=[625, 375], unlabeled=[275, 725])
    >>> share = recover_mean(counts, lambda p: p >= 0.5, MixtureProportions(0.25, 0.75))
    >>> round(share.positive, 12), round(share.negative, 12), round(share.mean, 12)
    (0.8, 0.1, 0.275)
    >>> squared = recover_mean(
    ...     counts,
    ...     lambda p: (1 - p) ** 2,
    ...     MixtureProportions(0.25, 0.75),
    ...     negative=lambda p: p**2,
    ... )
    >>> f"{squared.mean:.4f} ± {squared.standard_error:.4f}"
    '0.1218 ± 0.0156'
    """
    check_data(counts, proportions)
    masses = Masses.of(counts, proportions.alpha, proportions.beta)
    on_positives = _values("f", f, masses.scores)
    on_negatives = on_positives
    if negative is not None:
        on_negatives = _values("negative", negative, masses.scores)
    prior, nothing = proportions.prior(target, counts), np.zeros_like(masses.scores)
    each = [
        masses.weights(on_positives, nothing, 1.0),
        masses.weights(nothing, on_negatives, 0.0),
        masses.weights(on_positives, on_negatives, prior),
    ]
    on_labeled, on_unlabeled = (np.stack(side, axis=1) for side in zip(*each, strict=True))
    values: FloatArray = np.zeros(())
    spread: FloatArray = np.zeros(())
    sides = ((masses.labeled, on_labeled), (masses.unlabeled, on_unlabeled))
    for size, (share, weights) in zip(masses.sizes, sides, strict=True):
        apart = weights - share @ weights
        values = values + share @ weights
        spread = spread + (apart.T * share) @ apart / max(size - 1, 1)
    return RecoveredMean(
        positive=float(values[0]),
        negative=float(values[1]),
        mean=float(values[2]),
        prior=prior,
        variance_positive=float(spread[0, 0]),
        variance_negative=float(spread[1, 1]),
        covariance=float(spread[0, 1]),
        variance=float(spread[2, 2]),
    )
