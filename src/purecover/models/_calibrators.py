r"""From scores to the probability of carrying a label, knowing alpha and beta.

Let :math:`\pi_p = c\beta + (1-c)\alpha` be the share of positives in the pool and :math:`Q` the
probability that an example of the pool is positive. Then

.. math::

    \tau = P(\text{labeled} \mid x) = \tau_0 + (\tau_1 - \tau_0)\,Q, \qquad
    \tau_1 = c\beta/\pi_p, \quad \tau_0 = c(1-\beta)/(1-\pi_p),

the ends of :func:`posterior_band`. So tau levels off at :math:`\tau_1 < 1` even where positives
are certain. A plain sigmoid, as Platt's, levels off at 1 and cannot follow it; the sigmoid here
is that of :math:`Q`. Isotonic regression of the labels is bounded by the band, which is the
same as clipping it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover.proportions import MixtureProportions
from purecover.recovery._posterior import posterior_band

__all__ = ["Calibrator", "choose_calibrator", "fit_isotonic", "fit_sigmoid"]

N_PARTS = 5
"""Parts of the data in the comparison of the two methods."""

_STARTS = (0.5, 1.0, 2.0, 4.0)
"""Slopes from which the sigmoid is fitted; the likelihood is not concave."""

_TINY = 1e-12


class Calibrator(Protocol):
    """A non-decreasing map from scores to probabilities of being labeled."""

    @property
    def method(self) -> Literal["isotonic", "sigmoid"]:
        """Its kind."""
        ...

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Probabilities of being labeled, within the band of alpha and beta."""
        ...


@dataclass(frozen=True, eq=False)
class IsotonicCalibrator:
    """Straight lines between the steps of an isotonic regression."""

    knots: FloatArray
    values: FloatArray
    method: Literal["isotonic"] = "isotonic"

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Probabilities of being labeled."""
        return np.interp(scores, self.knots, self.values)


@dataclass(frozen=True, eq=False)
class SigmoidCalibrator:
    """A sigmoid between the two ends of the band."""

    center: float
    slope: float
    intercept: float
    low: float
    high: float
    method: Literal["sigmoid"] = "sigmoid"

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Probabilities of being labeled."""
        from scipy.special import expit

        positive = expit(self.intercept + self.slope * (scores - self.center))
        return np.asarray(self.low + (self.high - self.low) * positive)


def fit_isotonic(
    scores: FloatArray, labeled: BoolArray, weight: FloatArray, band: tuple[float, float]
) -> IsotonicCalibrator:
    """The non-decreasing map within the band that is nearest to the labels."""
    from sklearn.isotonic import IsotonicRegression

    low, high = band
    found = IsotonicRegression(y_min=low, y_max=high, out_of_bounds="clip")
    found.fit(scores, labeled.astype(np.float64), sample_weight=weight)
    return IsotonicCalibrator(found.X_thresholds_, found.y_thresholds_)


def fit_sigmoid(
    scores: FloatArray, labeled: BoolArray, weight: FloatArray, band: tuple[float, float]
) -> SigmoidCalibrator:
    """The sigmoid between the ends of the band under which the labels are likeliest.

    Targets are Platt's, a little inside 0 and 1, so that samples which do not overlap get a
    finite slope.
    """
    from scipy.optimize import minimize
    from scipy.special import expit, logit

    low, high = band
    total = float(weight.sum())
    n_labeled = float(weight[labeled].sum())
    center = float(np.dot(weight, scores)) / total
    spread = float(np.sqrt(np.dot(weight, (scores - center) ** 2) / total)) or 1.0
    z = (scores - center) / spread
    target = np.where(labeled, (n_labeled + 1) / (n_labeled + 2), 1 / (total - n_labeled + 2))

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        positive = expit(theta[0] * z + theta[1])
        tau = np.clip(low + (high - low) * positive, _TINY, 1 - _TINY)
        value = -np.dot(weight, target * np.log(tau) + (1 - target) * np.log1p(-tau))
        pull = weight * (tau - target) / (tau * (1 - tau))
        pull *= (high - low) * positive * (1 - positive)
        return float(value) / total, np.array([np.dot(pull, z), pull.sum()]) / total

    share = n_labeled / total
    middle = np.clip((share - low) / (high - low), 0.01, 0.99)
    tried: list[Any] = [
        minimize(
            loss,
            np.array([slope, float(logit(middle))]),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None), (None, None)],
        )
        for slope in _STARTS
    ]
    slope, intercept = min(tried, key=lambda found: float(found.fun)).x
    return SigmoidCalibrator(center, float(slope) / spread, float(intercept), low, high)


_Fit: TypeAlias = Callable[[FloatArray, BoolArray, FloatArray, tuple[float, float]], Calibrator]
_FITS: dict[str, _Fit] = {"isotonic": fit_isotonic, "sigmoid": fit_sigmoid}


def choose_calibrator(
    scores: FloatArray,
    labeled: BoolArray,
    weight: FloatArray,
    proportions: MixtureProportions,
    *,
    method: str,
    rng: np.random.Generator,
) -> tuple[Calibrator, float]:
    """The calibrator of this method, or of the better one, and the labeled share it is for.

    Better is the one with the smaller squared error of the labels on parts it has not seen.
    """
    share = float(weight[labeled].sum() / weight.sum())
    band = posterior_band(share, proportions)
    if method == "auto":
        part = _parts(labeled, rng)
        errors = dict.fromkeys(_FITS, 0.0)
        for k in range(N_PARTS):
            there = part == k
            for name, fit in _FITS.items():
                tau = fit(scores[~there], labeled[~there], weight[~there], band)(scores[there])
                errors[name] += float(np.dot(weight[there], (tau - labeled[there]) ** 2))
        method = min(errors, key=errors.__getitem__)
    return _FITS[method](scores, labeled, weight, band), share


def _parts(labeled: BoolArray, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """A part for each row, the labeled spread evenly over them."""
    part = np.empty(labeled.size, dtype=np.int64)
    for side in (labeled, ~labeled):
        rows = rng.permutation(np.flatnonzero(side))
        part[rows] = np.arange(rows.size) % N_PARTS
    return part
