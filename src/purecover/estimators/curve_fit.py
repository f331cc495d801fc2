r"""The curve of the share of labeled rows along the ranking, and its fit.

.. math::

    \tau(u) = B + (A - B)\,\sigma(t + e^s z(u)), \qquad
    z(u) = \frac{u^{k_0} - 1}{k_0} - \frac{(1-u)^{k_1} - 1}{k_1}.

:math:`\sigma(\cdot)` is the chance that a row of that rank is positive. Where it is 1 the
curve is at its ceiling :math:`A = c/(c + (1-c)a)`, where it is 0 at its floor
:math:`B = cb/(cb + 1 - c)`, with the share :math:`c` of the labeled and the two inclusions.
:math:`z` is the logit of the rank for small :math:`k`, close to its normal score for 0.14, and
steeper at the ends for negative ones.

All functions work on many curves at once, one a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, rel_entr

from purecover._typing import BoolArray, FloatArray, IntArray

LARGEST = 0.995
"""No inclusion comes nearer to 1, where labeled and unlabeled would be the same."""

LOW = np.array([0, 0, -30, -4, -3, -3.0])
HIGH = np.array([LARGEST, LARGEST, 30, 5, 1, 1.0])
LONGEST = np.array([0.2, 0.2, 2, 0.7, 0.25, 0.25])
"""Bounds of a, b, t, s, k0 and k1, and the longest step in each."""

Evaluation = tuple[FloatArray, FloatArray, FloatArray]
"""Value, gradient and expected curvature at each row of parameters."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Data of many curves over the same bins.

    Attributes
    ----------
    labeled, total : ndarray of shape (n_rows, n_bins)
        Labeled rows and all rows.
    offset : ndarray of shape (n_rows, n_bins)
        Added to the log-odds: 0, or a large number in ends of one class.
    mean, sd : ndarray of shape (n_rows, 4)
        Prior of t, s, k0 and k1: independent normals.
    log_below, log_above : ndarray of shape (n_bins,)
        See :class:`RankBins`.
    share : float
        Share of the labeled among all.
    """

    labeled: FloatArray
    total: FloatArray
    offset: FloatArray
    mean: FloatArray
    sd: FloatArray
    log_below: FloatArray
    log_above: FloatArray
    share: float

    def only(self, rows: IntArray) -> Curves:
        """Select rows, in this order, each as often as it is named."""
        names = ("labeled", "total", "offset", "mean", "sd")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


def fit_curves(
    curves: Curves, start: FloatArray, free: BoolArray, *, n_steps: int, tol: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Maximize log-likelihood plus log-prior of the shape near many starts.

    Fisher scoring, damped where a step does not climb. Parameters at a bound that pushes back
    are held there. Rows that have arrived rest while the others go on.

    Parameters
    ----------
    curves : Curves
        The data.
    start : ndarray of shape (n_rows, 6)
        Where to begin.
    free : ndarray of bool of shape (6,)
        Parameters that move away from the start.
    n_steps : int
        Steps at most.
    tol : float
        A row that gains no more has arrived.

    Returns
    -------
    x : ndarray of shape (n_rows, 6)
        Parameters.
    value : ndarray of shape (n_rows,)
        Their values.
    curvature : ndarray of shape (n_rows, 6, 6)
        Expected curvature there.
    """
    rows = np.arange(len(start))
    identity = np.eye(LOW.size)
    x = start
    value, gradient, curvature = evaluate_curves(curves, start)
    ends = start.copy(), value.copy(), curvature.copy()
    damping = np.full(len(x), 1e-2)
    for _ in range(n_steps):
        held = ~free | ((x <= LOW) & (gradient < 0)) | ((x >= HIGH) & (gradient > 0))
        slope = np.where(held, 0.0, gradient)
        inner = np.where(held[:, :, None] | held[:, None, :], 0.0, curvature)
        ridge = damping[:, None] * np.einsum("rkk->rk", inner) + 1e-7 + held
        step = np.linalg.solve(inner + identity * ridge[:, None, :], slope[..., None])[..., 0]
        new = np.clip(x + np.clip(step, -LONGEST, LONGEST), LOW, HIGH)
        reached, new_gradient, new_curvature = evaluate_curves(curves.only(rows), new)
        climbs = reached >= value
        gain = np.where(climbs, reached - value, 0.0)
        x = np.where(climbs[:, None], new, x)
        value = np.where(climbs, reached, value)
        gradient = np.where(climbs[:, None], new_gradient, gradient)
        curvature = np.where(climbs[:, None, None], new_curvature, curvature)
        for kept, found in zip(ends, (x, value, curvature), strict=True):
            kept[rows] = found
        damping = np.where(climbs, damping / 6, damping * 8).clip(1e-8, 1e8)
        on = ~((gain <= tol) & (climbs | (damping > 1e4)))
        rows, x, value, damping = rows[on], x[on], value[on], damping[on]
        gradient, curvature = gradient[on], curvature[on]
        if not rows.size:
            break
    return ends


def label_shares(curves: Curves, x: FloatArray) -> FloatArray:
    """Share of labeled in each bin, of each row."""
    _, _, t, s, k0, k1 = _columns(x)
    z = _power(curves.log_below, k0)[0] - _power(curves.log_above, k1)[0]
    positive = expit(t + np.exp(s) * z + curves.offset)
    floor, ceiling, _, _ = _asymptotes(x, curves.share)
    return np.asarray((floor + (ceiling - floor) * positive).clip(1e-12, 1 - 1e-12))


def deviance(curves: Curves, x: FloatArray) -> FloatArray:
    """Twice the log-likelihood by which each curve falls short of a perfect fit."""
    tau = label_shares(curves, x)
    unlabeled = curves.total - curves.labeled
    terms = rel_entr(curves.labeled, curves.total * tau)
    terms += rel_entr(unlabeled, curves.total * (1 - tau))
    return np.asarray(2 * terms.sum(axis=1), dtype=np.float64)


def evaluate_curves(curves: Curves, x: FloatArray) -> Evaluation:
    """Log-likelihood plus log-prior of the shape, with gradient and expected curvature."""
    _, _, t, s, k0, k1 = _columns(x)
    below, below_slope = _power(curves.log_below, k0)
    above, above_slope = _power(curves.log_above, k1)
    scale = np.exp(s)
    z = scale * (below - above)
    positive = expit(t + z + curves.offset)
    floor, ceiling, floor_slope, ceiling_slope = _asymptotes(x, curves.share)
    tau = (floor + (ceiling - floor) * positive).clip(1e-12, 1 - 1e-12)
    rise = (ceiling - floor) * positive * (1 - positive)
    jacobian = np.stack(
        (
            ceiling_slope * positive,
            floor_slope * (1 - positive),
            rise,
            rise * z,
            rise * scale * below_slope,
            -rise * scale * above_slope,
        ),
        axis=1,
    )
    precision = 1 / (tau * (1 - tau))
    residual = (curves.labeled - curves.total * tau) * precision
    away = (x[:, 2:] - curves.mean) / curves.sd
    terms = curves.labeled * np.log(tau) + (curves.total - curves.labeled) * np.log1p(-tau)
    value = terms.sum(axis=1) - 0.5 * (away**2).sum(axis=1)
    gradient = (jacobian @ residual[..., None])[..., 0]
    gradient[:, 2:] -= away / curves.sd
    weight = curves.total * precision
    curvature = (jacobian * weight[:, None, :]) @ np.swapaxes(jacobian, 1, 2)
    place = np.arange(2, 6)
    curvature[:, place, place] += 1 / curves.sd**2
    return value, gradient, curvature


def _columns(x: FloatArray) -> list[FloatArray]:
    return np.split(x, 6, axis=1)


def _power(log_rank: FloatArray, k: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``(rank**k - 1) / k`` and its derivative by k."""
    k = np.where(np.abs(k) < 1e-5, 1e-5, k)
    power = np.exp(k * log_rank)
    value = (power - 1) / k
    return value, (log_rank * power - value) / k


def _asymptotes(
    x: FloatArray, share: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Floor and ceiling of each curve, and their derivatives by b and by a."""
    a, b = x[:, :1], x[:, 1:2]
    ceiling = share / (share + (1 - share) * a)
    below = share * b + 1 - share
    floor = share * b / below
    return floor, ceiling, share * (1 - share) / below**2, -(ceiling**2) * (1 - share) / share
