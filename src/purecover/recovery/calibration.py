"""Calibration of probabilities of the true class: the curve, and a test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import FloatArray, Target
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.proportions import MixtureProportions
from purecover.recovery import means
from purecover.recovery.means import Masses, check_probabilities
from purecover.recovery.rates import check_data


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationCurve(Saved, Frozen, Tabular, columns="predicted frequency frequency_pu"):
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
    miscalibration, discrimination = means.brier_parts(masses, prior)
    intercept, slope = means.recalibration(masses, prior)
    observed = Masses.of(counts, 0.0, 1.0)
    return CalibrationCurve(
        predicted=masses.scores[::-1],
        frequency=means.isotonic_frequency(masses, prior)[::-1],
        frequency_pu=means.isotonic_frequency(observed, counts.labeled_share)[::-1],
        prior=prior,
        brier=float(means.brier(masses, prior)),
        miscalibration=miscalibration,
        discrimination=discrimination,
        uncertainty=prior * (1 - prior),
        slope=slope,
        intercept=intercept,
        ece=means.expected_calibration_error(masses, prior),
    )


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
        20 labeled rows a bin.

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
    each bin :math:`b` the share of labeled rows is the mean of :math:`r` over the unlabeled
    ones, :math:`T_b = E_L 1_b - E_U(r\,1_b)` has mean 0, and :math:`n_b` such differences with
    their covariance :math:`\Sigma = Cov_L(1)/n_L + Cov_U(r\,1)/n_U` give
    :math:`T^\top \Sigma^{-1} T \sim \chi^2_{n_b}`. That they need not add up to 0 tests calibration
    in the large: :math:`E_U\,p = \alpha` if :math:`\pi = \alpha`. The covariance of the
    labeled is taken from the shares that the unlabeled lead to expect, which keeps the size of
    the test in small samples. Bins hold like shares of the labeled rows to expect.

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
    starts = means.even_bins(masses.unlabeled * ratio, n_bins)
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
