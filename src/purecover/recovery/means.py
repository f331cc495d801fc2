"""Means over the true classes, and what follows from them: losses, calibration, net benefit.

The mean of any function of the score over true positives and over true negatives is linear in the
means over labeled and unlabeled examples. Losses are such means; the measures of calibration here
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
from purecover._inputs import Tabular
from purecover._typing import ArrayLike, FloatArray, IntArray, Target
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import check_data, effective_sizes
from purecover.recovery.repairs import isotonic_regression

_TINY = float(np.finfo(np.float64).eps)
"""Probabilities are kept this far from 0 and 1 before a logarithm, as in scikit-learn."""

ECE_BINS = 10
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
        """What ``find`` says of these masses, found once: several metrics are parts of it."""
        if (find, prior) not in self._kept:
            self._kept[find, prior] = find(self, prior)
        return self._kept[find, prior]

    @classmethod
    def of(cls, counts: ScoreCounts, alpha: float, beta: float) -> Masses:
        """Those of counts; a bin stands where its middle is."""
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
        """What a labeled and an unlabeled example add to a mean over a population."""
        delta = self.beta - self.alpha
        ours, theirs = prior * positive, (1 - prior) * negative
        return (
            ((1 - self.alpha) * ours - self.alpha * theirs) / delta,
            (self.beta * theirs - (1 - self.beta) * ours) / delta,
        )

    def mean(self, positive: Any, negative: Any, prior: float) -> Any:
        """Mean of a function that has these values on positives and on negatives."""
        on_labeled, on_unlabeled = self.weights(positive, negative, prior)
        return self.labeled @ on_labeled + self.unlabeled @ on_unlabeled

    def covariance(self, on_labeled: FloatArray, on_unlabeled: FloatArray) -> FloatArray:
        """Covariances of means of columns of weights."""
        found: FloatArray = np.zeros(())
        sides = ((self.labeled, on_labeled), (self.unlabeled, on_unlabeled))
        for size, (share, values) in zip(self.sizes, sides, strict=True):
            apart = values - share @ values
            found = found + (apart.T * share) @ apart / max(size - 1, 1)
        return found

    def split(self, prior: float) -> tuple[FloatArray, FloatArray]:
        """Masses of positives, and of all, in the population; they add up to the prior and 1."""
        one = np.ones_like(self.scores)
        to_positive, to_all = self.weights(one, 0 * one, prior), self.weights(one, one, prior)
        positive, everyone = (
            on_labeled * self.labeled + on_unlabeled * self.unlabeled
            for on_labeled, on_unlabeled in (to_positive, to_all)
        )
        return positive, everyone


# -- Metrics of probabilities: functions of masses and the prior ---------------------------------


def brier(masses: Masses, prior: float) -> Any:
    """Mean squared error of probabilities."""
    return masses.mean((1 - masses.scores) ** 2, masses.scores**2, prior)


def log_loss(masses: Masses, prior: float) -> Any:
    """Mean negative logarithm of the probability of the true class."""
    p = masses.scores.clip(_TINY, 1 - _TINY)
    return masses.mean(-np.log(p), -np.log1p(-p), prior)


def net_benefit(masses: Masses, prior: float, at: float) -> Any:
    """True positives a head, less false ones at the odds of the threshold probability."""
    flagged = (masses.scores >= at).astype(np.float64)
    return masses.mean(flagged, -at / (1 - at) * flagged, prior)


def even_bins(mass: FloatArray, n_bins: int) -> IntArray:
    """Where bins begin that hold like shares of a mass."""
    total = mass.sum()
    if not 0 < total < np.inf:
        return np.zeros(1, dtype=np.int64)
    middle = np.cumsum(mass) - mass / 2
    place = (n_bins * middle / total).astype(np.int64)
    return np.flatnonzero(np.diff(place, prepend=-1))


def expected_calibration_error(masses: Masses, prior: float, n_bins: int = ECE_BINS) -> float:
    r"""Mean distance of frequencies from probabilities, less what noise adds to it.

    In bin :math:`b` the gap :math:`g = \pi\,E_1[1_b (1-p)] - (1-\pi)\,E_0[1_b p]` has the standard
    error :math:`\sigma`. With independent halves of the data, the sign of one times the gap of the
    other is free of the noise that :math:`|g|` adds up; on average over halves it is
    :math:`g\,(2\Phi(g/\sigma) - 1) - 2\sigma\varphi(g/\sigma)`, with mean 0 where the
    probabilities are right, and close to :math:`|g|` where they are clearly wrong.
    """
    from scipy.special import ndtr

    starts = even_bins(masses.split(prior)[1].clip(0), n_bins)
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
    r"""Intercept and slope of the log-odds of the class on those of the probability.

    The score equations of a logistic regression, :math:`\sum_x (\pi f_1(x) - m(x) q(x))\,(1,
    \mathrm{logit}\,p) = 0` with the mass :math:`m` of all examples, solved by Newton's method.
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
        while (reached := gain(theta + step)) < height - 1e-12 * abs(height) and np.abs(
            step
        ).max() > 1e-10:
            step /= 2
        theta, height = theta + step, reached
    line = theta @ columns
    if theta[1] and positive @ line >= everyone @ line.clip(0):  # the further, the better
        return math.copysign(math.inf, theta[0]), math.copysign(math.inf, theta[1])
    return math.nan, math.nan


def isotonic_frequency(masses: Masses, prior: float) -> FloatArray:
    """Share of positives at each score: the non-decreasing one nearest to what is recovered."""
    positive, everyone = (mass[::-1] for mass in masses.split(prior))
    starts = np.flatnonzero(everyone > 0)
    # Scores that only labeled examples have, of which the population has none, go with those below.
    starts[0] = 0
    weight = np.add.reduceat(everyone.clip(0), starts)
    share = np.add.reduceat(positive, starts) / weight
    fitted = isotonic_regression(share, weights=weight).x.clip(0, 1)
    spread = np.repeat(fitted, np.diff(np.append(starts, everyone.size)))
    return np.asarray(spread[::-1])


def brier_parts(masses: Masses, prior: float) -> tuple[float, float]:
    """How much a perfect recalibration, by isotonic regression, would gain; and what it tells.

    The Brier score is the first less the second plus prior (1 - prior).
    """
    q, p = isotonic_frequency(masses, prior), masses.scores
    positive, everyone = masses.split(prior)
    at_best, now, nothing = (
        float(everyone @ (x**2) - 2 * positive @ x) for x in (q, p, np.full_like(p, prior))
    )
    return now - at_best, nothing - at_best


# -- The doors -----------------------------------------------------------------------------------

_CALIBRATE = (
    "a model of labeled against unlabeled rows gives the probability of a label: wrap it in "
    "purecover.PUCalibratedClassifier, whose predict_proba is that of the true class"
)


def check_probabilities(counts: ScoreCounts, proportions: MixtureProportions | None = None) -> None:
    r"""Complain of scores that are no probabilities, or those of a label.

    Probabilities of a label have the share :math:`c` of labeled rows as their mean, within a
    twentieth, and labels have a slope near 1 on their log-odds (from 0.8 to 1.25). Refused are
    those that do both, and that predict labels better than the rates that follow from the same
    number as the probability of the class, for an alpha within a quarter of the given one:
    :math:`\tau/(1-\tau) = \frac{c}{1-c}(\beta p/\alpha + (1-\beta)(1-p)/(1-\alpha))`.
    """
    tops = counts.thresholds if counts.highest is None else counts.highest
    lowest, highest = float(counts.thresholds[-1]), float(tops.max())
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
    """What a function, or a vector, says of each score."""
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
    r"""Mean of any function of the score over the true classes.

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
    With means :math:`E_L` over labeled and :math:`E_U` over unlabeled examples,

    .. math::

        E_1 f = \frac{(1-\alpha)\,E_L f - (1-\beta)\,E_U f}{\beta-\alpha}, \qquad
        E_0 f = \frac{\beta\,E_U f - \alpha\,E_L f}{\beta-\alpha}.

    The variances go through the same map: a sum of :math:`w_L` over labeled and :math:`w_U` over
    unlabeled examples has :math:`Var = Var_L(w_L)/n_L + Var_U(w_U)/n_U`. In counts of bins, a bin
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
    spread = masses.covariance(on_labeled, on_unlabeled)
    values = (masses.labeled @ on_labeled + masses.unlabeled @ on_unlabeled).tolist()
    return RecoveredMean(
        positive=values[0],
        negative=values[1],
        mean=values[2],
        prior=prior,
        variance_positive=float(spread[0, 0]),
        variance_negative=float(spread[1, 1]),
        covariance=float(spread[0, 1]),
        variance=float(spread[2, 2]),
    )


# -- Whether probabilities of the true class are right, and what decisions by them are worth -----


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationCurve(Saved, Frozen, Tabular):
    """Recovered frequency of positives against the predicted probability.

    Attributes
    ----------
    predicted : ndarray of shape (n_thresholds,)
        The distinct probabilities, increasing.
    frequency : ndarray of shape (n_thresholds,)
        Share of true positives there: non-decreasing, and in [0, 1].
    frequency_pu : ndarray of shape (n_thresholds,)
        The same with labeled as positive and unlabeled as negative.
    prior : float
        Share of positives in the population that the probabilities are for.
    brier, miscalibration, discrimination, uncertainty : float
        The Brier score, and its parts: the first is the second less the third plus the fourth.
    slope, intercept : float
        Of a logistic regression of the class on the log-odds of the probability; 1 and 0 where
        probabilities are right.
    ece : float
        Expected calibration error, less what noise adds.
    """

    predicted: FloatArray
    frequency: FloatArray
    frequency_pu: FloatArray
    prior: float
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    slope: float
    intercept: float
    ece: float

    def _columns(self) -> dict[str, Any]:
        return {
            "predicted": self.predicted,
            "frequency": self.frequency,
            "frequency_pu": self.frequency_pu,
        }

    def __repr__(self) -> str:
        return (
            f"CalibrationCurve(Brier score {self.brier:.4f} = {self.miscalibration:.4f} - "
            f"{self.discrimination:.4f} + {self.uncertainty:.4f}, slope {self.slope:.2f}, "
            f"intercept {self.intercept:.2f}, {self.predicted.size:,} probabilities)"
        )


@public
def recover_calibration(
    counts: ScoreCounts, proportions: MixtureProportions, *, target: Target = "population"
) -> CalibrationCurve:
    r"""Recover the calibration curve of probabilities of the true class.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores: probabilities of the true class.
    proportions : MixtureProportions
        Alpha and beta.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population that the probabilities are for; see :meth:`MixtureProportions.prior`.

    Returns
    -------
    CalibrationCurve
        The curve, the Brier score with its parts, slope and intercept.

    Raises
    ------
    InvalidInputError
        If scores are no probabilities, or those of carrying a label.

    See Also
    --------
    calibration_test : Whether a difference from the diagonal is more than chance.
    curve_band : A confidence band of the curve.
    CalibrationDisplay : Draws it.

    Notes
    -----
    In a population with the share :math:`\pi` of positives the mass at probability :math:`p` is
    :math:`m = \pi f_1 + (1-\pi) f_0`, with :math:`f_1` and :math:`f_0` as in :func:`recover_mean`.
    The curve is the non-decreasing function of :math:`p` nearest to :math:`\pi f_1/m` in mean
    squares (as CORP reliability diagrams have it [1]_, with no bins to choose), clipped to [0, 1].
    With the Brier score :math:`S` of the probabilities and :math:`S_c` of the curve, miscalibration
    is :math:`S - S_c` and discrimination :math:`\pi(1-\pi) - S_c`. Both are a little too large on
    finite data, since the curve is fitted to them.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting, A. I. Jordan, "Stable reliability diagrams for probabilistic
       classifiers", PNAS 118(8), 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import ScoreCounts, simulate
    >>> from purecover.recovery import recover_calibration
    >>> world = simulate.binormal(2.0)
    >>> sample = world.sample(2000, 10_000, alpha=0.3, random_state=0)
    >>> probability = 1 / (1 + np.exp(2 - 2 * sample.scores - np.log(3 / 7)))
    >>> counts = ScoreCounts.from_scores(probability, sample.labeled)
    >>> curve = recover_calibration(counts, sample.proportions)
    >>> print(f"{curve.brier:.3f}, slope {curve.slope:.2f}, intercept {curve.intercept:.2f}")
    0.102, slope 0.94, intercept -0.03
    """
    check_data(counts, proportions)
    check_probabilities(counts, proportions)
    prior = proportions.prior(target, counts)
    masses = Masses.of(counts, proportions.alpha, proportions.beta)
    miscalibration, discrimination = brier_parts(masses, prior)
    intercept, slope = recalibration(masses, prior)
    observed = Masses.of(counts, 0.0, 1.0)
    return CalibrationCurve(
        predicted=masses.scores[::-1],
        frequency=isotonic_frequency(masses, prior)[::-1],
        frequency_pu=isotonic_frequency(observed, counts.labeled_share)[::-1],
        prior=prior,
        brier=float(brier(masses, prior)),
        miscalibration=miscalibration,
        discrimination=discrimination,
        uncertainty=prior * (1 - prior),
        slope=slope,
        intercept=intercept,
        ece=expected_calibration_error(masses, prior),
    )


# -- A test of calibration -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CalibrationTest(Saved):
    """Whether probabilities of the true class can be right.

    Attributes
    ----------
    statistic : float
        What is compared with a chi-squared distribution.
    df : int
        Its degrees of freedom: the number of bins.
    p_value : float
        Chance of a statistic as large if all probabilities are right.
    """

    statistic: float
    df: int
    p_value: float


@public
def calibration_test(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    target: Target = "population",
    n_bins: int = 8,
) -> CalibrationTest:
    r"""Test whether probabilities of the true class are right, without a known class.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores: probabilities of the true class.
    proportions : MixtureProportions
        Alpha and beta, taken as exact: a wrong alpha is found as miscalibration.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population that the probabilities are for; see :meth:`MixtureProportions.prior`.
    n_bins : int, default=8
        Bins that are compared; fewer where there are fewer distinct probabilities, or fewer than
        20 labeled examples a bin.

    Returns
    -------
    CalibrationTest
        The statistic and its p-value.

    See Also
    --------
    recover_calibration : How far off probabilities are, and where.

    Notes
    -----
    If :math:`p` is the probability of the class where the share :math:`\pi` is positive, then
    :math:`f_1/f_0 = \lambda = \frac{p}{1-p} \frac{1-\pi}{\pi}`, and labeled and unlabeled densities
    have the ratio :math:`r = (\beta\lambda + 1 - \beta)/(\alpha\lambda + 1 - \alpha)`. So in
    each bin :math:`b` the share of labeled examples is the mean of :math:`r` over the unlabeled
    ones, :math:`T_b = E_L 1_b - E_U(r\,1_b)` has mean 0, and :math:`n_b` such differences with
    their covariance :math:`\Sigma = Cov_L(1)/n_L + Cov_U(r\,1)/n_U` give
    :math:`T^\top \Sigma^{-1} T \sim \chi^2_{n_b}`. That they need not add up to 0 tests calibration
    in the large, too: :math:`E_U\,p = \alpha` if :math:`\pi = \alpha`. The covariance of the
    labeled is taken from the shares that the unlabeled lead to expect, which keeps the size of
    the test in small samples. Bins hold like shares of the labeled examples to expect.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import ScoreCounts, simulate
    >>> from purecover.recovery import calibration_test
    >>> sample = simulate.binormal(2.0).sample(2000, 10_000, alpha=0.3, random_state=0)
    >>> log_odds = 2 * sample.scores - 2 + np.log(3 / 7)
    >>> for factor in (1.0, 1.5):
    ...     counts = ScoreCounts.from_scores(1 / (1 + np.exp(-factor * log_odds)), sample.labeled)
    ...     print(f"{calibration_test(counts, sample.proportions).p_value:.3f}")
    0.573
    0.000
    """
    from scipy.special import chdtrc

    check_data(counts, proportions)
    n_bins = valid.check_integer("n_bins", n_bins, low=1, high=1000)
    check_probabilities(counts, proportions)
    prior = proportions.prior(target, counts)
    if not 0 < prior < 1:
        raise InvalidInputError(
            "{function} needs a population with positives and negatives, but the share of "
            f"positives is {prior:g}."
        )
    alpha, beta = proportions.alpha, proportions.beta
    masses = Masses.of(counts, alpha, beta)
    n_labeled, n_unlabeled = masses.sizes
    ours, theirs = masses.scores * (1 - prior), (1 - masses.scores) * prior
    below = alpha * ours + (1 - alpha) * theirs
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = (beta * ours + (1 - beta) * theirs) / np.where(below > 0, below, 1.0)
        largest = float((masses.unlabeled * ratio**2).sum())
    if not 0 < largest < math.inf:  # nothing is expected, or more than a double can hold
        return CalibrationTest(statistic=math.nan, df=0, p_value=math.nan)
    n_bins = max(min(n_bins, int(n_labeled / 20)), 1)
    starts = even_bins(masses.unlabeled * ratio, n_bins)
    seen, expected, squares = (
        np.add.reduceat(each, starts)
        for each in (masses.labeled, masses.unlabeled * ratio, masses.unlabeled * ratio**2)
    )
    fair = expected / max(expected.sum(), 1e-300)
    spread = (np.diag(fair) - np.outer(fair, fair)) / n_labeled
    spread += (np.diag(squares) - np.outer(expected, expected)) / n_unlabeled
    apart = seen - expected
    statistic = float(apart @ np.linalg.pinv(spread, hermitian=True) @ apart)
    df = int(np.linalg.matrix_rank(spread, hermitian=True))
    p_value = float(chdtrc(df, statistic)) if df else 1.0
    return CalibrationTest(statistic=statistic, df=df, p_value=p_value)


# -- Decision curves -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class DecisionCurve(Saved, Frozen, Tabular):
    """Net benefit of flagging by probabilities, at each threshold probability.

    Attributes
    ----------
    thresholds : ndarray of shape (n,)
        Threshold probabilities, increasing.
    net_benefit : ndarray of shape (n,)
        Of flagging where the probability reaches the threshold; that of flagging none is 0.
    standard_error : ndarray of shape (n,)
        Of the net benefit, with alpha and beta as exact.
    flag_all : ndarray of shape (n,)
        Net benefit of flagging everybody.
    net_benefit_pu : ndarray of shape (n,)
        What one sees with labeled as positive and unlabeled as negative.
    prior : float
        Share of positives in the population.
    """

    thresholds: FloatArray
    net_benefit: FloatArray
    standard_error: FloatArray
    flag_all: FloatArray
    net_benefit_pu: FloatArray
    prior: float

    @property
    def best_without(self) -> FloatArray:
        """Net benefit without probabilities: that of flagging all or none."""
        return np.maximum(self.flag_all, 0.0)

    def _columns(self) -> dict[str, Any]:
        names = ("net_benefit", "standard_error", "flag_all", "net_benefit_pu")
        return {"threshold": self.thresholds, **{name: getattr(self, name) for name in names}}

    def __repr__(self) -> str:
        useful = self.net_benefit > self.best_without
        where = "nowhere"
        if useful.any():
            ends = self.thresholds[useful]
            where = f"between {ends.min():g} and {ends.max():g}"
        return f"DecisionCurve(better than flagging all or none {where}, prior={self.prior:.4g})"


@public
def recover_decision_curve(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    thresholds: ArrayLike | None = None,
    *,
    target: Target = "population",
) -> DecisionCurve:
    r"""Recover the net benefit of decisions by probabilities of the true class.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores: probabilities of the true class.
    proportions : MixtureProportions
        Alpha and beta.
    thresholds : array-like of shape (n,), optional
        Threshold probabilities, strictly between 0 and 1; by default 0.01, 0.02, ..., 0.99.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population that decisions are for; see :meth:`MixtureProportions.prior`.

    Returns
    -------
    DecisionCurve
        Net benefit with its standard error, and that of flagging everybody.

    See Also
    --------
    DecisionCurveDisplay : Draws it.
    recover_metrics : ``net_benefit`` at one threshold, and ``cost`` with costs of your own.

    Notes
    -----
    Whoever flags from probability :math:`t` on takes a true positive as worth :math:`(1-t)/t`
    false alarms. In units of true positives a head the expected utility is the net benefit [1]_
    :math:`\pi\,tpr(t) - (1-\pi)\,fpr(t)\,\frac{t}{1-t}`, a mean over both classes
    (:func:`recover_mean`).

    References
    ----------
    .. [1] A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for evaluating
       prediction models", Medical Decision Making 26(6), 565-574, 2006.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.recovery import recover_decision_curve
    >>> counts = ScoreCounts.from_counts([0.9, 0.2], labeled=[625, 375], unlabeled=[275, 725])
    >>> curve = recover_decision_curve(counts, MixtureProportions(0.25, 0.75), [0.1, 0.5])
    >>> curve.net_benefit.round(4), curve.flag_all.round(4)
    (array([0.1667, 0.125 ]), array([ 0.1667, -0.5   ]))
    """
    check_data(counts, proportions)
    check_probabilities(counts, proportions)
    at = np.arange(1, 100) / 100
    if thresholds is not None:
        at = np.unique(valid.as_real_vector("thresholds", thresholds))
        if not (at.size and at[0] > 0 and at[-1] < 1):
            raise valid.bad_value(
                "thresholds", "numbers between 0 and 1, ends excluded", valid.show(at)
            )
    prior = proportions.prior(target, counts)
    masses = Masses.of(counts, proportions.alpha, proportions.beta)
    net_benefit, standard_error = net_benefits(masses, prior, at)
    return DecisionCurve(
        thresholds=at,
        net_benefit=net_benefit,
        standard_error=standard_error,
        flag_all=prior - (1 - prior) * at / (1 - at),
        net_benefit_pu=net_benefits(Masses.of(counts, 0.0, 1.0), counts.labeled_share, at)[0],
        prior=prior,
    )


def net_benefits(masses: Masses, prior: float, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Net benefit at threshold probabilities, and its standard error."""
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
