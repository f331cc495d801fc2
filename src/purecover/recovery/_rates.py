"""The recovery theorem: observed rates to true rates and back.

Equation numbers are those of Jain, White & Radivojac (2017), Recovering True Classifier
Performance in Positive-Unlabeled Learning, AAAI.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import as_real_vector, bad_type, bad_value, check_instance, check_real
from purecover.proportions import MixtureProportions

__all__ = ["observe_rates", "recover_precision", "recover_rates"]

PROPORTIONS_HINT = "build it with MixtureProportions(alpha=..., beta=...)"


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
    >>> from purecover import MixtureProportions, recover_rates
    >>> tpr, fpr = recover_rates(0.625, 0.275, MixtureProportions(0.25, 0.75))
    >>> round(float(tpr), 12), round(float(fpr), 12)
    (0.8, 0.1)
    """
    tpr_pu, fpr_pu = _as_rates("recover_rates", tpr_pu, fpr_pu, ("tpr_pu", "fpr_pu"))
    check_instance(
        "recover_rates", "proportions", proportions, MixtureProportions, PROPORTIONS_HINT
    )
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
    >>> from purecover import MixtureProportions, observe_rates
    >>> tpr_pu, fpr_pu = observe_rates(0.8, 0.1, MixtureProportions(0.25, 0.75))
    >>> round(float(tpr_pu), 12), round(float(fpr_pu), 12)
    (0.625, 0.275)
    """
    tpr, fpr = _as_rates("observe_rates", tpr, fpr, ("tpr", "fpr"))
    check_instance(
        "observe_rates", "proportions", proportions, MixtureProportions, PROPORTIONS_HINT
    )
    alpha, beta = proportions.alpha, proportions.beta
    return np.asarray(beta * tpr + (1 - beta) * fpr), np.asarray(alpha * tpr + (1 - alpha) * fpr)


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
    >>> from purecover import MixtureProportions, recover_precision
    >>> p = recover_precision(0.6944444444, 0.5, MixtureProportions(0.25, 0.75))
    >>> round(float(p), 7)
    0.7272727
    """
    name = "recover_precision"
    check_instance(name, "proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    share = check_real(name, "labeled_share", labeled_share, low=0, high=1, closed="neither")
    rho = as_rate(name, "precision_pu", precision_pu)
    if np.any(rho >= 1):
        raise bad_value(
            name,
            "precision_pu",
            "below 1",
            "1, where nothing unlabeled is predicted positive",
            "at such a threshold the precision cannot be recovered; lower it",
        )
    alpha, delta = proportions.alpha, proportions.delta
    odds = (1 - share) / share * rho / (1 - rho)
    return alpha * (1 - alpha) / delta * (odds - proportions.labeled_inclusion)


def _as_rates(
    function: str, first: Any, second: Any, names: tuple[str, str]
) -> tuple[FloatArray, FloatArray]:
    one, two = as_rate(function, names[0], first), as_rate(function, names[1], second)
    if one.shape != two.shape and one.ndim and two.ndim:
        raise bad_value(
            function,
            names[1],
            f"as long as {names[0]} (shape {one.shape})",
            f"shape {two.shape}",
        )
    return one, two


def as_rate(function: str, parameter: str, value: Any) -> FloatArray:
    must = "a rate in [0, 1] or an array of them"
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return np.asarray(check_real(function, parameter, value, low=0, high=1))
    shape: tuple[int, ...] = (-1,)
    if isinstance(value, (np.ndarray, list, tuple)):
        try:
            array = np.asarray(value)
        except Exception as error:  # ragged lists and foreign objects
            raise bad_type(function, parameter, must, value) from error
        if array.size == 0:
            return np.empty(array.shape)
        shape, value = array.shape, array.reshape(-1)
    rate = as_real_vector(function, parameter, value)
    good = (rate >= 0) & (rate <= 1)
    if not good.all():
        raise bad_value(function, parameter, must, f"{rate[int(np.argmin(good))]:g}")
    return rate.reshape(shape)
