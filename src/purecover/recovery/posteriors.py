"""From the probability of being labeled to the probability of being positive."""

from __future__ import annotations

from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._typing import FloatArray
from purecover._validation import public
from purecover.proportions import MixtureProportions, check_proportions
from purecover.recovery.rates import as_rate


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
        Calibrated probabilities :math:`\tau(x)` that a row of the pool, labeled and
        unlabeled together, is a labeled one.
    labeled_share : float
        Share of labeled rows in the pool the probabilities were calibrated on,
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
    target = alpha if prior is None else valid.check_real("prior", prior, low=0, high=1)
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
    r"""Return the range of calibrated probabilities of being labeled.

    Parameters
    ----------
    labeled_share : float
        Share of labeled rows in the pool, :math:`c`.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    low, high : float
        The probability where a row is surely negative, and where surely positive.

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
    share = valid.check_real("labeled_share", labeled_share, low=0, high=1, closed="neither")
    check_proportions(proportions)
    return share, proportions.alpha, proportions.beta
