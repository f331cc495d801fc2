"""A smooth curve fitted to the ROC points, and its slope at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from purecover import ScoreCounts
from purecover.estimators import (
    Inclusions,
    PriorEstimator,
    parameter,
    register_prior_estimator,
)
from purecover_paper.systems.arrays import (
    CountArray,
    FloatArray,
    IntArray,
    merge_replicates,
    weight_units,
)

Family = Literal["binormal", "power"]

_NEAR_0 = 1e-12
"""Probabilities are kept this far from 0 and 1, so that their logarithms are finite."""

WEAK_SHAPE = 0.5
"""A binormal curve with a smaller shift is so near the diagonal that gamma means little."""

_LIMITS = {
    "binormal": np.array([(0.0, 1.0, 0.2), (0.0, 40.0, 2.0)]),
    "power": np.array([(0.0, 1.0, 0.2), (0.0, 1.0, 0.2), (np.log(0.01), np.log(20.0), 0.7)]),
}
"""Bounds of gamma and D, and of the logarithm of mu; and the longest step in each."""
_MOST_STEPS, _SMALL_GAIN = 300, 1e-12
"""The search ends after so many steps, or where a step gains no more."""

_FLAT = 1e-6
"""Samples that are less apart are not."""
_STARTS = {
    "binormal": ((0.05, 1.0), (0.3, 2.0), (0.6, 2.0), (0.9, 2.0)),
    "power": ((0.05, 0.1, 0.0), (0.1, 0.5, 0.0), (0.5, 0.2, 0.0), (0.8, 0.2, 0.0)),
}


@dataclass(frozen=True, eq=False)
class _Points:
    """Points of ROC curves strictly between their ends, one curve a row.

    Attributes
    ----------
    x, y : ndarray of shape (n_rows, n_points)
        Shares of the labeled and of the unlabeled below each threshold; the former moved
        inward by half a row.
    weight : ndarray of shape (n_rows, n_points)
        Share of the labeled rows for which the point stands; they sum to 1.
    """

    x: FloatArray
    y: FloatArray
    weight: FloatArray

    def only(self, rows: IntArray) -> _Points:
        """Some of the curves; a single one stands for all rows."""
        if len(self.x) == 1:
            return self
        return _Points(self.x[rows], self.y[rows], self.weight[rows])


def _points(counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> _Points:
    sizes = labeled.sum(axis=1, keepdims=True) * weight_units(counts)[0]
    x, y = (
        1 - np.cumsum(side, axis=1)[:, :-1] / side.sum(axis=1, keepdims=True)
        for side in (labeled, unlabeled)
    )
    # Half of each labeled row for the point before it and half for the one after it. Counting
    # the unlabeled too would let the many points to the left of all labeled scores, whose x is
    # known worst, bend the whole curve.
    weight = labeled[:, :-1] + labeled[:, 1:].astype(np.float64)
    used = weight.any(axis=0)
    x, y, weight = x[:, used], y[:, used], weight[:, used]
    # Unlabeled scores below all labeled ones are common, and a smooth curve through (0, y) with
    # y > 0 does not exist.
    x = (sizes * np.clip(x, 0, 1) + 0.5) / (sizes + 1)
    return _Points(x, np.clip(y, 0, 1), weight / weight.sum(axis=1, keepdims=True))


def curve(family: str, parameters: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """F(x), and its derivatives by the parameters along the last axis but one.

    Parameters
    ----------
    family : {"binormal", "power"}
        Which formula.
    parameters : ndarray of shape (..., 2) or (..., 3)
        gamma, D and, in the power family, the logarithm of mu.
    x : ndarray of shape (..., n_points)
        Shares in (0, 1).
    """
    from scipy.special import ndtr, ndtri

    gamma, d = parameters[..., :1], parameters[..., 1:2]
    if family == "binormal":
        z = ndtri(x) + d
        shape = ndtr(z)
        by_shape = [np.exp(-z * z / 2) / np.sqrt(2 * np.pi)]
    else:
        mu = np.exp(parameters[..., 2:])
        log_x = np.log(x)
        w = np.expm1(-mu * log_x)
        inner = 1 + d * w
        shape = np.exp(-np.log1p(d * w) / mu)
        by_d = -shape * w / (mu * inner)
        by_mu = shape * (np.log1p(d * w) / mu**2 + d * log_x * (w + 1) / (mu * inner))
        by_shape = [by_d, by_mu * mu]  # by the logarithm of mu
    value = (1 - gamma) * shape + gamma * x
    return value, np.stack([x - shape, *((1 - gamma) * part for part in by_shape)], axis=-2)


def end_slope(family: str, parameters: FloatArray) -> FloatArray:
    """Slope of the curves at (1, 1); that of the diagonal, which any gamma gives, is 1."""
    gamma, d = parameters[..., 0], parameters[..., 1]
    if family == "binormal":
        return np.where(d < _FLAT, 1.0, gamma)
    return np.asarray((1 - gamma) * d + gamma)


def deviance(family: str, parameters: FloatArray, points: _Points) -> FloatArray:
    """Binomial deviance per labeled row, 0 for a perfect fit."""
    fitted = np.clip(curve(family, parameters, points.x)[0], _NEAR_0, 1 - _NEAR_0)
    y = points.y
    best = np.clip(y, _NEAR_0, 1 - _NEAR_0)
    value = y * np.log(best / fitted) + (1 - y) * np.log((1 - best) / (1 - fitted))
    return np.asarray(2 * np.sum(points.weight * value, axis=-1))


def _slopes(family: str, parameters: FloatArray, points: _Points) -> tuple[FloatArray, FloatArray]:
    """Gradient of minus the deviance, and the expected curvature."""
    fitted, slopes = curve(family, parameters, points.x)
    fitted = np.clip(fitted, _NEAR_0, 1 - _NEAR_0)
    precision = 2 * points.weight / (fitted * (1 - fitted))
    gradient = slopes @ (precision * (points.y - fitted))[..., None]
    return gradient[..., 0], (slopes * precision[..., None, :]) @ np.swapaxes(slopes, -1, -2)


def _fit(family: str, points: _Points, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the best parameters near each start, and their deviance.

    Fisher scoring of all starts together, damped where a step does not help. Parameters at a
    bound that pushes back are held there. Rows that have arrived rest while the others go on.
    """
    low, high, longest = _LIMITS[family].T
    rows = np.arange(len(starts))
    ends, deviances = starts.copy(), deviance(family, starts, points.only(rows))
    x, value = starts, -deviances
    damping = np.full(len(x), 1e-2)
    for _ in range(_MOST_STEPS):
        gradient, curvature = _slopes(family, x, points.only(rows))
        held = ((x <= low) & (gradient < 0)) | ((x >= high) & (gradient > 0))
        gradient = np.where(held, 0.0, gradient)
        curvature = np.where(held[:, :, None] | held[:, None, :], 0.0, curvature)
        ridge = damping[:, None] * np.einsum("rkk->rk", curvature) + 1e-7 + held
        step = np.linalg.solve(curvature + np.eye(low.size) * ridge[:, None], gradient[..., None])
        new = np.clip(x + np.clip(step[..., 0], -longest, longest), low, high)
        reached = -deviance(family, new, points.only(rows))
        climbs = reached >= value
        gain = np.where(climbs, reached - value, 0.0)
        ends[rows] = x = np.where(climbs[:, None], new, x)
        value = np.where(climbs, reached, value)
        deviances[rows] = -value
        damping = np.where(climbs, damping / 6, damping * 8).clip(1e-8, 1e8)
        # At the best point rounding decides whether a step helps, however little it promised.
        promised = 0.5 * np.einsum("rk,rk->r", gradient, step[..., 0])
        arrived = (gain <= _SMALL_GAIN) & (climbs | (damping > 1e4) | (promised <= _SMALL_GAIN))
        rows, x, value, damping = rows[~arrived], x[~arrived], value[~arrived], damping[~arrived]
        if not rows.size:
            break
    return ends, deviances


@register_prior_estimator("fitted-roc")
@dataclass(kw_only=True, eq=False, repr=False)
class FittedRoc(PriorEstimator):
    r"""Slope at the end of a smooth curve fitted to the ROC points.

    Assumes: an increasing map makes both classes normal with equal variances (or the power family
    fits); labels are clean.

    Known to fail: by a fixed amount where no curve of the family fits, as where negatives vary more
    than positives.

    Parameters
    ----------
    family : {"binormal", "power"}, default="binormal"
        The curve; see Notes.
    n_thresholds : int or None, default=500
        At how many thresholds, of like numbers of rows between them, the curve is compared
        with the data; None: at every distinct score.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the fitted ``"gamma"``, ``"shape"``
        (D) and, in the power family, ``"power"`` (mu), the ``"deviance"`` per labeled row,
        and the number of points the curve was fitted to (``"n_points"``).

    See Also
    --------
    RocSlope : The same slope from confidence bounds, without a formula for the curve.

    Notes
    -----
    Let :math:`x` be the share of labeled and :math:`y` that of unlabeled scores below a
    threshold. If labels are clean, the slope of :math:`y = F(x)` at (1, 1) is alpha. The curve
    minimizes the binomial deviance
    :math:`-2 \sum [y \log F(x) + (1 - y) \log(1 - F(x))]` over the points before and after each
    labeled score, among

    .. math::

        F(x) &= (1-\gamma)\,\Phi(\Phi^{-1}(x) + D) + \gamma x, &
            F'(1) &= \gamma, \\
        F(x) &= (1-\gamma)\,(1 + D(x^{-\mu} - 1))^{-1/\mu} + \gamma x, &
            F'(1) &= (1-\gamma) D + \gamma.

    The binormal family is exact where some increasing map makes the scores of positives and of
    negatives normal with equal variances. In the power family curves with different gamma and
    :math:`D` are nearly the same except at the very end, so its slope varies more from sample
    to sample.

    The estimate depends on the order of the scores only. It is smooth and stable with few
    rows, and wrong by a fixed amount, however many there are, if no curve of the family
    fits: scores whose negatives vary more than the positives are an example. Shares :math:`x`
    are moved inward by half a labeled row. Scores of so few distinct values that the curve
    has more parameters than points between its ends leave alpha open
    (``identifiable`` is False).

    Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too, but only
    with the power family. In the binormal one :math:`x` belongs to positives alone. A sample
    that is a mixture itself, as the labeled are with wrong labels and the unlabeled with the
    samples exchanged, has a curve that no binormal one comes near at the end: both slopes are
    then far too small, so that beta is close to 1, and a note says so.

    References
    ----------
    Sanderson & Scott (2014), "Class proportion estimation with application to multiclass
    anomaly rejection", AISTATS. Lloyd (2000), "Regression models for convex ROC curves",
    Biometrics 56.

    Examples
    --------
    >>> import purecover as pu
    >>> from purecover_paper.systems import FittedRoc
    >>> sample = pu.simulate.binormal(2).sample(1000, 10000, alpha=0.25, random_state=0)
    >>> estimator = FittedRoc().fit(sample.scores, sample.labeled)
    >>> abs(estimator.proportions_.alpha - 0.25) < 0.05
    True
    """

    family: Family = parameter("binormal", "choice", choices=get_args(Family))
    n_thresholds: int | None = parameter(500, "integer", low=2, optional=True)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        few = counts.thinned(self.n_thresholds or counts.n_thresholds)
        best, least, n_points = self._fit_data(few)
        a = min(float(end_slope(self.family, best)), 1.0)
        notes = []
        if self.family == "binormal" and best[1] < WEAK_SHAPE:
            notes.append(
                f"the fitted curve is close to the diagonal (shift {best[1]:.2f}), where any "
                "alpha fits almost as well"
            )
        if a <= 0:
            notes.append("the fitted curve ends without slope: alpha = 0")
        if n_points < best.size:
            few_points = "one point" if n_points == 1 else f"{n_points} points"
            notes.append(
                f"the curve has {best.size} parameters and was fitted to {few_points} between its "
                "ends: many others fit as well, with other values of alpha"
            )
        details: dict[str, object] = {
            "family": self.family,
            "gamma": float(best[0]),
            "shape": float(best[1]),
            "deviance": least,
            "n_points": n_points,
            "identifiable": n_points >= best.size,
            "at_edge": not 0 < a < 1,
        }
        if self.family == "power":
            details["power"] = float(np.exp(best[2]))
        return Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        run = super()._estimate_flipped(counts)
        if self.family != "binormal":
            return run
        note = (
            "a binormal curve describes one sample of positives alone, not two mixtures, and "
            'its slopes are then too small; family="power" has no such limit'
        )
        return replace(run, notes=(*run.notes, note))

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        few = counts.thinned(self.n_thresholds or counts.n_thresholds)
        labeled, unlabeled = (merge_replicates(counts, few, side) for side in (labeled, unlabeled))
        found = np.full((len(labeled), 2), np.nan)
        some = labeled.any(axis=1) & unlabeled.any(axis=1)
        some &= np.count_nonzero(labeled + unlabeled, axis=1) > 1
        if some.any():
            # Replicates resemble the data, so the fit to the data is start enough.
            points = _points(few, labeled[some], unlabeled[some])
            start = np.tile(self._fit_data(few)[0], (len(points.x), 1))
            best, _ = _fit(self.family, points, start)
            found[some, 0] = np.minimum(end_slope(self.family, best), 1.0)
            found[some, 1] = 0.0
        return found

    def _fit_data(self, counts: ScoreCounts) -> tuple[FloatArray, float, int]:
        """The best parameters from several starts, their deviance, and the number of points."""
        points = _points(counts, counts.labeled[None], counts.unlabeled[None])
        found, deviances = _fit(self.family, points, np.array(_STARTS[self.family]))
        best = int(np.argmin(deviances))
        return found[best], float(deviances[best]), points.x.shape[1]
