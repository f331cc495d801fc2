"""Score distributions of one class: just enough of each for worlds and their quadrature.

Built on ``scipy.special`` because ``scipy.stats`` is slow to import and adds nothing here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy import special

from purecover._typing import FloatArray


class Component(Protocol):
    """The scores of one class."""

    @property
    def kinks(self) -> tuple[float, ...]:
        """Scores where the density is not smooth; integrals are split there."""

    def log_density(self, scores: FloatArray) -> FloatArray:
        """Logarithm of the density, minus infinity outside the support."""

    def survival(self, thresholds: FloatArray) -> FloatArray:
        """Share of the class at or above each threshold."""

    def inverse_survival(self, shares: FloatArray) -> FloatArray:
        """Smallest threshold that keeps at most each share."""

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Independent scores."""


@dataclass(frozen=True)
class Normal:
    mean: float
    sd: float
    kinks: ClassVar[tuple[float, ...]] = ()

    def log_density(self, scores: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # scores beyond 1e154 have no density to speak of
            z = (scores - self.mean) / self.sd
            return np.asarray(-0.5 * z * z - math.log(self.sd * math.sqrt(2 * math.pi)))

    def survival(self, thresholds: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(special.ndtr((self.mean - thresholds) / self.sd))

    def inverse_survival(self, shares: FloatArray) -> FloatArray:
        return np.asarray(self.mean - self.sd * special.ndtri(shares))

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        return self.mean + self.sd * rng.standard_normal(size)


@dataclass(frozen=True)
class Laplace:
    mean: float

    @property
    def kinks(self) -> tuple[float, ...]:
        return (self.mean,)

    def log_density(self, scores: FloatArray) -> FloatArray:
        return -np.abs(scores - self.mean) - math.log(2)

    def survival(self, thresholds: FloatArray) -> FloatArray:
        z = thresholds - self.mean
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z >= 0, tail, 1 - tail)

    def inverse_survival(self, shares: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):  # shares 0 and 1 are the infinities
            above = -np.log(2 * np.minimum(shares, 0.5))
            below = np.log(2 * np.minimum(1 - shares, 0.5))
        return self.mean + np.where(shares <= 0.5, above, below)

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        return rng.laplace(self.mean, 1.0, size)


@dataclass(frozen=True)
class Beta:
    a: float
    b: float
    kinks: ClassVar[tuple[float, ...]] = ()

    def log_density(self, scores: FloatArray) -> FloatArray:
        inside = (scores > 0) & (scores < 1)
        x = np.where(inside, scores, 0.5)
        value = special.xlogy(self.a - 1, x) + special.xlog1py(self.b - 1, -x)
        return np.where(inside, value - special.betaln(self.a, self.b), -np.inf)

    def survival(self, thresholds: FloatArray) -> FloatArray:
        return np.asarray(special.betaincc(self.a, self.b, np.clip(thresholds, 0.0, 1.0)))

    def inverse_survival(self, shares: FloatArray) -> FloatArray:
        # The inverse gives up (NaN) on shares far below this one, which no sample can meet.
        tiny = 1e-100
        inner: FloatArray = special.betainccinv(self.a, self.b, np.maximum(shares, tiny))
        return np.where(shares > 0, inner, 1.0)

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        return rng.beta(self.a, self.b, size)


@dataclass(frozen=True)
class Histogram:
    """Piecewise constant density."""

    mass: tuple[float, ...]
    edges: tuple[float, ...]

    @property
    def kinks(self) -> tuple[float, ...]:
        return self.edges

    def _survival_at_edges(self) -> FloatArray:
        above = np.cumsum(np.asarray(self.mass)[::-1])[::-1]
        # Both ends exactly, whatever the rounding of the sum.
        return np.concatenate(([1.0], np.minimum(above[1:], 1.0), [0.0]))

    def log_density(self, scores: FloatArray) -> FloatArray:
        edges = np.asarray(self.edges)
        inside = (scores >= edges[0]) & (scores <= edges[-1])
        # The last bin owns its right edge.
        k = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(self.mass) - 1)
        with np.errstate(divide="ignore"):
            log_height = np.log(np.asarray(self.mass)) - np.log(np.diff(edges))
        return np.where(inside, log_height[k], -np.inf)

    def survival(self, thresholds: FloatArray) -> FloatArray:
        return np.interp(thresholds, self.edges, self._survival_at_edges())

    def inverse_survival(self, shares: FloatArray) -> FloatArray:
        edges = np.asarray(self.edges)
        at_edges = self._survival_at_edges()
        # First edge whose survival is no more than the share; the answer lies left of it.
        right = np.searchsorted(-at_edges, -shares, side="left")
        left = np.maximum(right - 1, 0)
        drop = at_edges[left] - at_edges[right]
        with np.errstate(invalid="ignore", divide="ignore"):
            part = np.where(drop > 0, (at_edges[left] - shares) / drop, 0.0)
        return edges[left] + part * (edges[right] - edges[left])

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        edges = np.asarray(self.edges)
        k = rng.choice(len(self.mass), size=size, p=np.asarray(self.mass))
        return edges[k] + rng.random(size) * np.diff(edges)[k]
