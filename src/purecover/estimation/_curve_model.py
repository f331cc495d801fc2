r"""The label curve: share of labeled among examples of one rank, and its fit.

.. math::

    \tau(u) = B + (A - B)\,\sigma(t + e^s z(u)), \qquad
    z(u) = \frac{u^{k_0} - 1}{k_0} - \frac{(1-u)^{k_1} - 1}{k_1}.

:math:`\sigma(\cdot)` is the chance that an example of that rank is positive. Where it is 1 the
curve is at its ceiling :math:`A = c/(c + (1-c)a)`, where it is 0 at its floor
:math:`B = cb/(cb + 1 - c)`, with the share :math:`c` of the labeled and the two inclusions.
:math:`z` is the logit of the rank for small :math:`k`, close to its normal score for 0.14, and
steeper at the ends for negative ones.

Everything here works on many curves at once, one a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, rel_entr

from purecover._typing import BoolArray, FloatArray

LARGEST = 0.995
"""No inclusion comes nearer to 1, where labeled and unlabeled would be the same."""

LOW = np.array([0, 0, -30, -4, -3, -3.0])
HIGH = np.array([LARGEST, LARGEST, 30, 5, 1, 1.0])
LONGEST = np.array([0.2, 0.2, 2, 0.7, 0.25, 0.25])
"""Bounds of a, b, t, s, k0 and k1, and the longest step in each."""

_SURE = 60.0
"""Log-odds of an example in an end that is pure outright."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A prior of t, s, k0 and k1: independent normals."""

    mean: FloatArray
    sd: FloatArray

    @property
    def start(self) -> FloatArray:
        """Where a fit begins."""
        return np.concatenate(([0.3, 0.05], self.mean))


@dataclass(frozen=True, eq=False)
class Curves:
    """Data of many curves over the same bins.

    Attributes
    ----------
    labeled, total : ndarray of shape (n_rows, n_bins)
        Labeled examples and all examples.
    share : float
        Share of the labeled among all.
    log_below, log_above : ndarray of shape (n_bins,)
        See :class:`RankBins`.
    offset : ndarray of shape (n_rows or 1, n_bins)
        What is added to the log-odds: 0, or a large number in pure ends.
    """

    labeled: FloatArray
    total: FloatArray
    share: float
    log_below: FloatArray
    log_above: FloatArray
    offset: FloatArray

    def repeated(self, times: int) -> Curves:
        """Each row so many times."""
        if times == 1:
            return self
        offset = self.offset if len(self.offset) == 1 else np.repeat(self.offset, times, axis=0)
        return Curves(
            np.repeat(self.labeled, times, axis=0),
            np.repeat(self.total, times, axis=0),
            self.share,
            self.log_below,
            self.log_above,
            offset,
        )


def offset_of(low: BoolArray, high: BoolArray) -> FloatArray:
    """The offset of a curve whose ends are pure there."""
    return np.where(high, _SURE, np.where(low, -_SURE, 0.0))


def fit(
    curves: Curves, shape: Shape, start: FloatArray, free: BoolArray, *, n_steps: int, tol: float
) -> tuple[FloatArray, FloatArray]:
    """Climb to the largest log-likelihood plus log-prior of the shape.

    Fisher scoring, damped where a step does not climb. Parameters at a bound that pushes back
    are held there.

    Parameters
    ----------
    curves : Curves
        The data.
    shape : Shape
        The prior of the shape.
    start : ndarray of shape (n_rows, 6)
        Where to begin.
    free : ndarray of bool of shape (6,)
        Which parameters move.
    n_steps : int
        Steps at most.
    tol : float
        Stop when no row gains more.

    Returns
    -------
    x : ndarray of shape (n_rows, 6)
        Parameters.
    value : ndarray of shape (n_rows,)
        What was climbed.
    """
    x = start.copy()
    value = objective(curves, shape, x)
    damping = np.full(len(x), 1e-2)
    moving = np.flatnonzero(free)
    low, high, longest = LOW[moving], HIGH[moving], LONGEST[moving]
    identity = np.eye(moving.size)
    for _ in range(n_steps):
        gradient, curvature = _scores(curves, shape, x)
        gradient, curvature = gradient[:, moving], curvature[:, moving][:, :, moving]
        at = x[:, moving]
        held = ((at <= low) & (gradient < 0)) | ((at >= high) & (gradient > 0))
        gradient = np.where(held, 0.0, gradient)
        curvature = np.where(held[:, :, None] | held[:, None, :], 0.0, curvature)
        diagonal = np.einsum("rkk->rk", curvature)
        ridge = damping[:, None] * diagonal + 1e-7 + held
        step = np.linalg.solve(curvature + identity * ridge[:, None, :], gradient[..., None])
        new = x.copy()
        new[:, moving] = np.clip(at + np.clip(step[..., 0], -longest, longest), low, high)
        reached = objective(curves, shape, new)
        climbs = reached >= value
        gain = np.where(climbs, reached - value, 0.0)
        x = np.where(climbs[:, None], new, x)
        value = np.where(climbs, reached, value)
        damping = np.where(climbs, damping / 6, damping * 8).clip(1e-8, 1e8)
        if np.all((gain <= tol) & (climbs | (damping > 1e4))):
            break
    return x, value


def label_curve(curves: Curves, x: FloatArray) -> FloatArray:
    """Share of labeled in each bin, of each row."""
    _, _, t, s, k0, k1 = (x[:, i : i + 1] for i in range(6))
    z = _power(curves.log_below, k0)[0] - _power(curves.log_above, k1)[0]
    positive = expit(t + np.exp(s) * z + curves.offset)
    floor, ceiling, _, _ = _asymptotes(x, curves.share)
    return np.asarray((floor + (ceiling - floor) * positive).clip(1e-12, 1 - 1e-12))


def objective(curves: Curves, shape: Shape, x: FloatArray) -> FloatArray:
    """Log-likelihood plus log-prior of the shape, up to constants."""
    tau = label_curve(curves, x)
    terms = curves.labeled * np.log(tau) + (curves.total - curves.labeled) * np.log1p(-tau)
    penalty = ((x[:, 2:] - shape.mean) / shape.sd) ** 2
    return np.asarray(terms.sum(axis=1) - 0.5 * penalty.sum(axis=1), dtype=np.float64)


def deviance(curves: Curves, x: FloatArray) -> FloatArray:
    """Twice the log-likelihood that the curve leaves on the table, of each row."""
    tau = label_curve(curves, x)
    unlabeled = curves.total - curves.labeled
    terms = rel_entr(curves.labeled, curves.total * tau)
    terms += rel_entr(unlabeled, curves.total * (1 - tau))
    return np.asarray(2 * terms.sum(axis=1), dtype=np.float64)


def information(curves: Curves, shape: Shape, x: FloatArray) -> FloatArray:
    """Expected curvature of the objective, shape (n_rows, 6, 6)."""
    return _scores(curves, shape, x)[1]


def _scores(curves: Curves, shape: Shape, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gradient and expected curvature of the objective."""
    _, _, t, s, k0, k1 = (x[:, i : i + 1] for i in range(6))
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
    weight = curves.total * precision
    gradient = (jacobian @ residual[..., None])[..., 0]
    gradient[:, 2:] -= (x[:, 2:] - shape.mean) / shape.sd**2
    curvature = (jacobian * weight[:, None, :]) @ np.swapaxes(jacobian, 1, 2)
    place = np.arange(2, 6)
    curvature[:, place, place] += 1 / shape.sd**2
    return gradient, curvature


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
