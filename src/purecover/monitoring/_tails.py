"""How often chance alone makes a difference of areas so large, where areas are skewed."""

from __future__ import annotations

import math

__all__ = ["two_sided"]

_STRAIGHT = 1e-4
"""Skewness below which Pearson's curve and the normal one are the same to all that is shown."""


def two_sided(z: float, skewness: float) -> float:
    r"""The larger of two p-values: of a normal distribution, and of a skewed one.

    Parameters
    ----------
    z : float
        A difference in standard errors.
    skewness : float
        Third standardized cumulant :math:`\gamma` that such differences have by chance.

    Returns
    -------
    float
        Twice the smaller tail beyond ``z``, by whichever distribution has more there.

    Notes
    -----
    The skewed distribution is Pearson's type III, a shifted gamma distribution of shape
    :math:`k=4/\gamma^2` with mean 0 and variance 1. Its long tail is heavier than the normal one
    and its short tail lighter, of which the skewness, itself an estimate, gives no safe account:
    there the normal tail stands.

    Examples
    --------
    >>> from purecover.monitoring._tails import two_sided
    >>> [f"{two_sided(z, -0.6):.1g}" for z in (-4, 4)]
    ['0.002', '6e-05']
    """
    from scipy.special import gammainc, gammaincc

    normal = math.erfc(abs(z) / math.sqrt(2))
    if abs(skewness) < _STRAIGHT:
        return normal
    shape = 4 / skewness**2
    # As if the long tail were on the right.
    place = max(shape + math.copysign(math.sqrt(shape), skewness) * z, 0.0)
    skewed = 2 * min(float(gammainc(shape, place)), float(gammaincc(shape, place)))
    return min(max(normal, skewed), 1.0)
