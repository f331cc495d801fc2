"""The recovery theorem: observed rates to true rates and back, areas and sampling error.

Equation numbers are those of Jain, White & Radivojac (2017), Recovering True Classifier
Performance in Positive-Unlabeled Learning, AAAI.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import (
    as_real_vector,
    bad_type,
    bad_value,
    check_instance,
    check_real,
    public,
)
from purecover.counts import ScoreCounts
from purecover.curves import PURoc
from purecover.proportions import MixtureProportions

PROPORTIONS_HINT = "build it with MixtureProportions(alpha=..., beta=...)"


def check_data(counts: ScoreCounts, proportions: MixtureProportions) -> None:
    """What all recovery rests on."""
    hint = "build it with ScoreCounts.from_scores(scores, labeled)"
    check_instance("counts", counts, ScoreCounts, hint)
    check_instance("proportions", proportions, MixtureProportions, PROPORTIONS_HINT)


@public
def recover_rates(
    tpr_pu: Any, fpr_pu: Any, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    r"""True rates from the rates observed on labeled and unlabeled data.

    Parameters
    ----------
    tpr_pu, fpr_pu : float or array-like
        Shares predicted positive among the labeled and among the unlabeled.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    tpr, fpr : ndarray
        The true rates. Sampling noise can push them outside [0, 1]; nothing is clipped.

    See Also
    --------
    observe_rates : The inverse.
    recover_roc : A whole curve, with repairs.

    Notes
    -----
    With :math:`\Delta = \beta - \alpha`,

    .. math::

        tpr = \frac{(1-\alpha)\,tpr_{pu} - (1-\beta)\,fpr_{pu}}{\Delta}, \qquad
        fpr = \frac{\beta\,fpr_{pu} - \alpha\,tpr_{pu}}{\Delta}.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import recover_rates
    >>> tpr, fpr = recover_rates(0.625, 0.275, MixtureProportions(0.25, 0.75))
    >>> round(float(tpr), 12), round(float(fpr), 12)
    (0.8, 0.1)
    """
    tpr_pu, fpr_pu = _as_rates(tpr_pu, fpr_pu, ("tpr_pu", "fpr_pu"))
    check_instance("proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    tpr, fpr = map_rates(tpr_pu, fpr_pu, proportions)
    return np.asarray(tpr), np.asarray(fpr)


def map_rates(
    tpr_pu: FloatArray, fpr_pu: FloatArray, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    """Equations 2 and 3, unchecked."""
    alpha, beta, delta = proportions.alpha, proportions.beta, proportions.delta
    if beta == 1:
        # The general formula gives the same up to rounding; this keeps tpr exact.
        return tpr_pu, (fpr_pu - alpha * tpr_pu) / delta
    tpr = ((1 - alpha) * tpr_pu - (1 - beta) * fpr_pu) / delta
    fpr = (beta * fpr_pu - alpha * tpr_pu) / delta
    return tpr, fpr


def map_curve(
    tpr_pu: FloatArray, fpr_pu: FloatArray, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    """Equations 2 and 3 along a curve that ends in (1, 1), which the map leaves in place."""
    tpr, fpr = map_rates(tpr_pu, fpr_pu, proportions)
    for rate in (tpr, fpr):
        if rate[-1] != 1:  # by rounding
            rate[-1] = 1.0
    return tpr, fpr


@public
def observe_rates(
    tpr: Any, fpr: Any, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    r"""Rates one would observe on labeled and unlabeled data.

    Parameters
    ----------
    tpr, fpr : float or array-like
        True rates.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    tpr_pu, fpr_pu : ndarray
        :math:`tpr_{pu} = \beta\,tpr + (1-\beta)\,fpr` and
        :math:`fpr_{pu} = \alpha\,tpr + (1-\alpha)\,fpr`.

    See Also
    --------
    recover_rates : The inverse.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import observe_rates
    >>> tpr_pu, fpr_pu = observe_rates(0.8, 0.1, MixtureProportions(0.25, 0.75))
    >>> round(float(tpr_pu), 12), round(float(fpr_pu), 12)
    (0.625, 0.275)
    """
    tpr, fpr = _as_rates(tpr, fpr, ("tpr", "fpr"))
    check_instance("proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    alpha, beta = proportions.alpha, proportions.beta
    return np.asarray(beta * tpr + (1 - beta) * fpr), np.asarray(alpha * tpr + (1 - alpha) * fpr)


@public
def recover_precision(
    precision_pu: Any, labeled_share: float, proportions: MixtureProportions
) -> FloatArray:
    r"""Precision on data like the unlabeled, from the precision observed on the pool.

    Parameters
    ----------
    precision_pu : float or array-like
        Share of labeled among everything predicted positive, below 1.
    labeled_share : float
        Share of labeled examples in the pool, :math:`c`.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    ndarray
        The precision; not clipped.

    Notes
    -----
    Equation 6 of the paper,

    .. math::

        \rho = \frac{\alpha(1-\alpha)}{\Delta}\left[\frac{1-c}{c}\,
        \frac{\rho_{pu}}{1-\rho_{pu}} - \frac{1-\beta}{1-\alpha}\right],

    which equals :math:`\alpha\,tpr / fpr_{pu}` (equation 5) identically.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import recover_precision
    >>> p = recover_precision(0.6944444444, 0.5, MixtureProportions(0.25, 0.75))
    >>> round(float(p), 7)
    0.7272727
    """
    check_instance("proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    share = check_real("labeled_share", labeled_share, low=0, high=1, closed="neither")
    rho = as_rate("precision_pu", precision_pu)
    if np.any(rho >= 1):
        raise bad_value(
            "precision_pu",
            "below 1",
            "1, where nothing unlabeled is predicted positive",
            "at such a threshold the precision cannot be recovered; lower it",
        )
    alpha, delta = proportions.alpha, proportions.delta
    odds = (1 - share) / share * rho / (1 - rho)
    return alpha * (1 - alpha) / delta * (odds - proportions.labeled_inclusion)


def _as_rates(first: Any, second: Any, names: tuple[str, str]) -> tuple[FloatArray, FloatArray]:
    one, two = as_rate(names[0], first), as_rate(names[1], second)
    if one.shape != two.shape and one.ndim and two.ndim:
        raise bad_value(
            names[1],
            f"as long as {names[0]} (shape {one.shape})",
            f"shape {two.shape}",
        )
    return one, two


def as_rate(parameter: str, value: Any) -> FloatArray:
    must = "a rate in [0, 1] or an array of them"
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return np.asarray(check_real(parameter, value, low=0, high=1))
    shape: tuple[int, ...] = (-1,)
    if isinstance(value, (np.ndarray, list, tuple)):
        try:
            array = np.asarray(value)
        except Exception as error:  # ragged lists and foreign objects
            raise bad_type(parameter, must, value) from error
        if array.size == 0:
            return np.empty(array.shape)
        shape, value = array.shape, array.reshape(-1)
    rate = as_real_vector(parameter, value)
    good = (rate >= 0) & (rate <= 1)
    if not good.all():
        raise bad_value(parameter, must, f"{rate[int(np.argmin(good))]:g}")
    return rate.reshape(shape)


# -- Areas under ROC and precision-recall polylines ----------------------------------------------


_SERIES_BELOW = 1e-3


def trapezoid(y: FloatArray, x: FloatArray) -> float:
    """Signed area under a polyline."""
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)


def ratio_integrals(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    r"""Mean of numerator/denominator along each segment between two neighboring points.

    On a segment both are linear, :math:`(p + q u)/(r + s u)` for :math:`u \in [0, 1]`, and
    with :math:`x = s/r` the mean is :math:`[p\,L(x) + q\,M(x)]/r` where
    :math:`L(x) = \ln(1+x)/x` and :math:`M(x) = (1 - L(x))/x`. A segment that starts where
    both vanish has the constant ratio :math:`q/s`.
    """
    p, q = numerator[:-1], np.diff(numerator)
    r, s = denominator[:-1], np.diff(denominator)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = s / r
        large = ~(np.abs(x) < _SERIES_BELOW)
        # The series for all, since most steps are tiny; the closed form where they are not.
        y = np.where(large, 0.0, x)
        log_mean = 1 - y * (1 / 2 - y * (1 / 3 - y / 4))
        remainder = 1 / 2 - y * (1 / 3 - y * (1 / 4 - y / 5))
        z = x[large]
        # Where the denominator starts at next to nothing, hence x is infinite, both vanish.
        log_mean[large] = np.where(np.isinf(z), 0.0, np.log1p(z) / z)
        remainder[large] = (1 - log_mean[large]) / z
        mean = (p * log_mean + q * remainder) / r
        return np.where(r == 0, q / s, mean)


def pr_segment_areas(tpr: FloatArray, fpr: FloatArray, prior: float) -> FloatArray:
    r"""Area under precision against recall for each segment of an ROC polyline.

    Along a straight ROC segment precision is a ratio of linear functions, not a straight
    line (Davis & Goadrich 2006); the integral
    :math:`\int \pi\,tpr/(\pi\,tpr + (1-\pi)\,fpr)\,d\,tpr` is taken exactly.
    """
    flagged = prior * tpr + (1 - prior) * fpr
    step = np.diff(tpr)
    mean = ratio_integrals(prior * tpr, flagged)
    return np.where(step == 0, 0.0, mean * step)


# -- Sampling error of recovered rates at one threshold ------------------------------------------


@dataclass(frozen=True)
class RateCovariance:
    """Variances and covariance of recovered (tpr, fpr), elementwise."""

    tpr: FloatArray
    fpr: FloatArray
    covariance: FloatArray


def rate_covariance(
    roc: PURoc, counts: ScoreCounts, proportions: MixtureProportions
) -> RateCovariance:
    r"""Covariance of the recovered rates at every threshold.

    Notes
    -----
    With :math:`v_L = tpr_{pu}(1-tpr_{pu})/n_L` and :math:`v_U = fpr_{pu}(1-fpr_{pu})/n_U`,

    .. math::

        Var(tpr) = \frac{(1-\alpha)^2 v_L + (1-\beta)^2 v_U}{\Delta^2}, \quad
        Var(fpr) = \frac{\beta^2 v_U + \alpha^2 v_L}{\Delta^2}, \quad
        Cov = -\frac{\alpha(1-\alpha) v_L + \beta(1-\beta) v_U}{\Delta^2}.

    Weighted counts enter with Kish's effective sizes.
    """
    n_labeled, n_unlabeled = effective_sizes(counts)
    v_labeled = roc.tpr_pu * (1 - roc.tpr_pu) / n_labeled
    v_unlabeled = roc.fpr_pu * (1 - roc.fpr_pu) / n_unlabeled
    alpha, beta = proportions.alpha, proportions.beta
    square = proportions.delta**2
    return RateCovariance(
        tpr=((1 - alpha) ** 2 * v_labeled + (1 - beta) ** 2 * v_unlabeled) / square,
        fpr=(beta**2 * v_unlabeled + alpha**2 * v_labeled) / square,
        covariance=-(alpha * (1 - alpha) * v_labeled + beta * (1 - beta) * v_unlabeled) / square,
    )


def effective_size(total: float, squares: FloatArray | None) -> float:
    r"""Number of rows; with weights Kish's :math:`(\sum w)^2 / \sum w^2` (0 if there are none)."""
    return total if squares is None or total == 0 else total**2 / float(np.sum(squares))


def effective_sizes(counts: ScoreCounts) -> tuple[float, float]:
    """Effective numbers of labeled and of unlabeled examples."""
    return (
        effective_size(counts.n_labeled, counts.labeled_sq),
        effective_size(counts.n_unlabeled, counts.unlabeled_sq),
    )


# -- From the probability of being labeled to the probability of being positive ------------------


@public
def correct_posterior(
    posterior_pu: Any,
    labeled_share: float,
    proportions: MixtureProportions,
    *,
    prior: float | None = None,
    clip: bool = True,
) -> FloatArray:
    r"""Turn the probability of being labeled into the probability of being positive.

    Parameters
    ----------
    posterior_pu : float or array-like
        Calibrated probabilities :math:`\tau(x)` that an example of the pool, labeled and
        unlabeled together, is a labeled one.
    labeled_share : float
        Share of labeled examples in the pool the probabilities were calibrated on,
        :math:`c`.
    proportions : MixtureProportions
        Alpha and beta.
    prior : float, optional
        Share of positives :math:`\pi` in the population the answer is wanted for; alpha,
        hence data like the unlabeled, by default.
    clip : bool, default=True
        Whether probabilities outside :func:`posterior_band`, which contradict alpha and
        beta, give 0 or 1. If not, the formula stands as it is, beyond [0, 1] and up to
        infinity; with a ``prior`` of its own, where it has a pole there, the value is NaN.

    Returns
    -------
    ndarray
        :math:`P(y = 1 \mid x)`, of the same shape as ``posterior_pu``.

    See Also
    --------
    posterior_band : Where calibrated probabilities can lie.
    recover_precision : The same map for groups of examples.

    Notes
    -----
    Calibration gives the density ratio of labeled to unlabeled,
    :math:`r = \frac{1-c}{c}\,\frac{\tau}{1-\tau}`, and on data like the unlabeled

    .. math::

        P(y=1 \mid x) = \frac{\alpha(1-\alpha)}{\beta - \alpha}
        \left[r - \frac{1-\beta}{1-\alpha}\right].

    Another prior multiplies the odds of this posterior by
    :math:`\frac{\pi}{1-\pi} \big/ \frac{\alpha}{1-\alpha}`. In full, the odds are
    :math:`\frac{\pi}{1-\pi} \cdot \frac{(1-\alpha) r - (1-\beta)}{\beta - \alpha r}`, which
    is defined for :math:`\alpha = 0` too.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import correct_posterior
    >>> proportions = MixtureProportions(alpha=0.25, beta=0.75)
    >>> correct_posterior([0.3, 0.5, 0.7], 0.5, proportions).round(6)
    array([0.035714, 0.25    , 0.75    ])
    >>> correct_posterior([0.3, 0.5, 0.7], 0.5, proportions, prior=0.5).round(6)
    array([0.1, 0.5, 0.9])
    """
    tau = as_rate("posterior_pu", posterior_pu)
    share, alpha, beta = _check(labeled_share, proportions)
    target = alpha if prior is None else check_real("prior", prior, low=0, high=1)
    # Both densities times c (1-c) over that of the pool: no division, so tau = 1 is no
    # special case.
    labeled, unlabeled = (1 - share) * tau, share * (1 - tau)
    positive = (1 - alpha) * labeled - (1 - beta) * unlabeled
    negative = beta * unlabeled - alpha * labeled
    if target in (0, 1):
        return np.full(tau.shape, float(target))
    if clip:
        # The two are never both below 0, so that the quotient below stays defined.
        positive, negative = np.maximum(positive, 0), np.maximum(negative, 0)
    elif prior is None:
        with np.errstate(divide="ignore"):
            return np.asarray(alpha * positive / (proportions.delta * unlabeled))
    else:
        inside = (positive >= 0) & (negative >= 0)
        positive = np.where(inside, positive, np.nan)
    # A prior so small that its product vanishes must not turn a sure positive into 0 / 0.
    with np.errstate(invalid="ignore"):
        quotient = target * positive / (target * positive + (1 - target) * negative)
    return np.where((negative == 0) & (positive > 0), 1.0, quotient)


@public
def posterior_band(labeled_share: float, proportions: MixtureProportions) -> tuple[float, float]:
    r"""Range in which calibrated probabilities of being labeled must lie.

    Parameters
    ----------
    labeled_share : float
        Share of labeled examples in the pool, :math:`c`.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    low, high : float
        The probability where an example is surely negative, and where surely positive.

    See Also
    --------
    correct_posterior : Maps this range onto [0, 1].

    Notes
    -----
    The ends are :math:`\frac{c(1-\beta)}{c(1-\beta)+(1-c)(1-\alpha)}` and
    :math:`\frac{c\beta}{c\beta+(1-c)\alpha}`. Calibrated probabilities well outside this
    range say that alpha is too large or beta too small.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import posterior_band
    >>> low, high = posterior_band(0.5, MixtureProportions(alpha=0.25, beta=0.75))
    >>> round(low, 12), round(high, 12)
    (0.25, 0.75)
    """
    share, alpha, beta = _check(labeled_share, proportions)
    low = share * (1 - beta) / (share * (1 - beta) + (1 - share) * (1 - alpha))
    high = share * beta / (share * beta + (1 - share) * alpha)
    return low, high


def _check(labeled_share: float, proportions: MixtureProportions) -> tuple[float, float, float]:
    share = check_real("labeled_share", labeled_share, low=0, high=1, closed="neither")
    check_instance("proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    return share, proportions.alpha, proportions.beta
