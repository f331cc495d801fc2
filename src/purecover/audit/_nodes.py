"""Where the scores put alpha and beta: nodes, each spread over alpha by a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import bad_type, bad_value
from purecover.estimation._estimate import PriorEstimate
from purecover.intervals._interval import Interval

_SMOOTHING = 0.5
"""Kernels have this share of the standard deviation of the nodes; nodes draw together for it."""

_GRID = 600
_LIGHT = 1e-9
_EDGE = 1e-12
_NARROWEST = 1e-6


@dataclass(frozen=True)
class Scale:
    """On which kernels are normal."""

    of: Callable[[Any], Any]
    alpha: Callable[[Any], Any]


def _logit(share: Any) -> Any:
    share = np.clip(share, _EDGE, 1 - _EDGE)
    return np.log(share / (1 - share))


def _expit(logit: Any) -> Any:
    return 1 / (1 + np.exp(-logit))


def _angle(share: Any) -> Any:
    return np.arcsin(np.sqrt(np.clip(share, 0, 1)))


def _of_angle(angle: Any) -> Any:
    return np.sin(np.clip(angle, 0, np.pi / 2)) ** 2


LOGIT = Scale(_logit, _expit)

ARCSINE = Scale(_angle, _of_angle)
"""Has room for an alpha of exactly 0: on the logit scale that lies far from all others, and the
spread of draws some of which are 0 would be the distance to it."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Where the scores put alpha (on a scale) and beta, and how a node is blurred."""

    center: FloatArray
    beta: FloatArray
    weight: FloatArray
    blur: float
    origin: str
    scale: Scale
    joint: bool  # whether beta is part of it, or merely given

    @classmethod
    def smoothed(
        cls, alpha: FloatArray, beta: FloatArray, weight: FloatArray, origin: str, scale: Scale
    ) -> Nodes:
        """Nodes drawn together by as much as the kernel spreads them: the variance remains."""
        kept = weight > _LIGHT * weight.max()
        at, weight = scale.of(alpha[kept]), weight[kept] / weight[kept].sum()
        mean = float(weight @ at)
        spread = max(float(weight @ (at - mean) ** 2) ** 0.5, 1e-3)
        center = mean + (1 - _SMOOTHING**2) ** 0.5 * (at - mean)
        return cls(center, beta[kept], weight, _SMOOTHING * spread, origin, scale, joint=True)

    def grid(self, others: FloatArray) -> FloatArray:
        """Values of alpha that are close together where the scores place it, with others."""
        low, high = self.center.min() - 6 * self.blur, self.center.max() + 6 * self.blur
        known = self.scale.alpha(np.linspace(low, high, _GRID))
        return np.unique(np.concatenate((others, known)).clip(0, 1))

    def density(self, alpha: FloatArray) -> FloatArray:
        """Probability of each node around each of some rising values of alpha."""
        from scipy.special import ndtr

        # Of all that is nearer to this value than to the next: a kernel may fit between two.
        limits = self.scale.of((alpha[1:] + alpha[:-1]) / 2)
        reached = ndtr((limits - self.center[:, None]) / self.blur)
        none, every = np.zeros((self.center.size, 1)), np.ones((self.center.size, 1))
        share = np.diff(np.hstack((none, reached, every)), axis=1)
        # Alpha is below beta; where it is not, labeled and unlabeled would be exchanged.
        return np.asarray(self.weight[:, None] * share * (alpha < self.beta[:, None]))


def nodes_of(function: str, estimate: Any, n_resamples: int, rng: np.random.Generator) -> Nodes:
    """Nodes, from whatever the caller knows."""
    from purecover.estimation._base import PriorEstimator
    from purecover.estimation._label_curve import LabelCurve

    if isinstance(estimate, LabelCurve):
        estimate._check_fitted("interval")
        found = estimate._solve(estimate._counts)[0]
        return Nodes.smoothed(found.alpha[0], found.beta[0], found.weight[0], "LabelCurve", LOGIT)
    if isinstance(estimate, PriorEstimator):
        estimate._check_fitted("interval")
        origin = type(estimate).__name__
        if getattr(estimate, "takes", "scores") == "scores":
            draws = _bootstrapped(estimate, n_resamples, rng)
            if draws is not None:
                return Nodes.smoothed(
                    draws[:, 0], draws[:, 1], np.ones(len(draws)), origin, ARCSINE
                )
        interval = estimate.interval(n_resamples=n_resamples, random_state=rng)["alpha"]
        return _from_interval(function, interval, estimate.proportions_.beta, origin)
    if isinstance(estimate, PriorEstimate):
        if "alpha" not in estimate.intervals:
            hint = "let evaluate draw replicates: n_resamples=200"
            raise bad_value(function, "estimate", "one with an interval of alpha", "none", hint)
        return _from_interval(
            function, estimate.intervals["alpha"], estimate.proportions.beta, estimate.estimator
        )
    if isinstance(estimate, Interval):
        return _from_interval(function, estimate, 1.0, "interval")
    raise bad_type(
        function,
        "estimate",
        "a fitted PriorEstimator, a PriorEstimate or an Interval",
        estimate,
        "for example LabelCurve().fit(scores, labeled)",
    )


def _bootstrapped(estimator: Any, n_resamples: int, rng: np.random.Generator) -> FloatArray | None:
    """Alpha and beta of replicates; None if most of them allow no estimate."""
    from purecover.estimation._intervals import proportion_draws
    from purecover.intervals._resample import resampler_for

    resampler = resampler_for(estimator._counts, "multinomial")
    draws = proportion_draws(estimator, resampler, n_resamples, rng)
    known = draws[~np.isnan(draws[:, 0])]
    return known if 2 * len(known) > len(draws) else None


def _from_interval(function: str, interval: Interval, beta: float, origin: str) -> Nodes:
    """A normal distribution, of the logit if both ends are inside (0, 1)."""
    from scipy.special import ndtri

    if not interval.low < interval.high:
        got = f"[{interval.low:g}, {interval.high:g}]"
        raise bad_value(function, "estimate", "an interval of some width", got)
    z = float(ndtri((1 + interval.confidence_level) / 2))
    scale = LOGIT if 0 < interval.low < interval.high < 1 else ARCSINE
    low, middle, high = scale.of(np.array([interval.low, interval.estimate, interval.high]))
    # An end at 0 or 1 says where alpha stops, not how uncertain it is.
    if interval.low <= 0 < interval.high < 1 and middle < high:
        center, spread = middle, (high - middle) / z
    elif 0 < interval.low < interval.high >= 1 and low < middle:
        center, spread = middle, (middle - low) / z
    else:
        center, spread = (low + high) / 2, (high - low) / (2 * z)
    one = np.ones(1)
    blur = max(float(spread), _NARROWEST)
    return Nodes(center * one, beta * one, one, blur, origin, scale, joint=False)
