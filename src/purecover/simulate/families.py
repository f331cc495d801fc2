"""The families of worlds. Each says what is known of it in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from scipy import special

from purecover._typing import ArrayLike, FloatArray
from purecover._validation import as_real_vector, bad_type, bad_value, check_real, public
from purecover.simulate.worlds import World, integrate

# -- Score distributions of one class: just enough of each for worlds and their quadrature --------
# Built on ``scipy.special`` because ``scipy.stats`` is slow to import and adds nothing here.


@dataclass(frozen=True)
class Normal:
    mean: float
    sd: float
    kinks: ClassVar[tuple[float, ...]] = ()

    def log_density(self, scores: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # scores beyond 1e154 have no density worth the name
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


# -- The families --------------------------------------------------------------------------------


# Wide enough for any purpose, narrow enough for floating point. Beta shapes below 1/4 would
# pile scores up at 0 and 1 closer than float64 can tell apart, and no figure would be exact.
_LARGEST_SEPARATION = 1e6
_SPREADS = (1e-4, 1e4)
_SHAPES = (0.25, 1e4)
_LARGEST_EDGE = 1e100


@public
def binormal(separation: float = 1.5, positive_sd: float = 1.0) -> World:
    r"""Normal scores: negatives :math:`N(0, 1)`, positives :math:`N(d, \sigma^2)`.

    Parameters
    ----------
    separation : float, default=1.5
        Difference of the means, :math:`d`.
    positive_sd : float, default=1.0
        Standard deviation of the positives, :math:`\sigma`. The ROC curve is concave only
        at 1.

    Returns
    -------
    World
        With :math:`auc = \Phi(d/\sqrt{1+\sigma^2})` in closed form.

    Examples
    --------
    >>> from purecover import simulate
    >>> round(simulate.binormal(2.0).auc, 4)
    0.9214
    """
    limit = _LARGEST_SEPARATION
    d = check_real("separation", separation, low=-limit, high=limit)
    sd = check_real("positive_sd", positive_sd, low=_SPREADS[0], high=_SPREADS[1])
    # The ratio of two normal densities of unlike spread has one interior extremum.
    positive_inclusion = negative_inclusion = 0.0
    if sd > 1:
        negative_inclusion = math.exp(-(d * d) / (2 * (sd * sd - 1))) / sd
    elif sd < 1:
        positive_inclusion = math.exp(-(d * d) / (2 * (1 - sd * sd))) * sd
    elif d == 0:
        positive_inclusion = negative_inclusion = 1.0
    return World(
        name="binormal",
        parameters={"separation": d, "positive_sd": sd},
        positive=Normal(d, sd),
        negative=Normal(0.0, 1.0),
        auc=float(special.ndtr(d / math.hypot(1.0, sd))),
        auc_from="closed form",
        is_concave=sd == 1 and d >= 0,
        positive_inclusion=positive_inclusion,
        negative_inclusion=negative_inclusion,
    )


@public
def nonconcave() -> World:
    """Normal scores whose ROC curve crosses the diagonal: ``binormal(1.0, 3.0)``.

    Positives are spread three times as wide as negatives, so both tails are mostly
    positive. The AUC is 0.624; methods that force a concave curve overrate it.

    Returns
    -------
    World
        See :func:`binormal`.

    Examples
    --------
    >>> from purecover import simulate
    >>> world = simulate.nonconcave()
    >>> round(world.auc, 3), world.is_concave
    (0.624, False)
    """
    return replace(binormal(1.0, 3.0), name="nonconcave", parameters={})


@public
def laplace(separation: float = 2.0) -> World:
    r"""Double-exponential scores of scale 1, a distance apart.

    The density ratio stays within :math:`[e^{-d}, e^{d}]`, so the world is not
    irreducible: alpha and beta are not identified from data alone.

    Parameters
    ----------
    separation : float, default=2.0
        Difference of the centers, :math:`d \ge 0`.

    Returns
    -------
    World
        With :math:`auc = 1 - e^{-d}(2+d)/4` in closed form.

    Examples
    --------
    >>> from purecover import simulate
    >>> world = simulate.laplace(2.0)
    >>> round(world.auc, 4), round(world.positive_inclusion, 4)
    (0.8647, 0.1353)
    """
    d = check_real("separation", separation, low=0, high=_LARGEST_SEPARATION)
    return World(
        name="laplace",
        parameters={"separation": d},
        positive=Laplace(d),
        negative=Laplace(0.0),
        auc=1 - math.exp(-d) * (2 + d) / 4,
        auc_from="closed form",
        is_concave=True,
        positive_inclusion=math.exp(-d),
        negative_inclusion=math.exp(-d),
    )


@public
def beta(
    positive: tuple[float, float] = (5.0, 2.0), negative: tuple[float, float] = (2.0, 5.0)
) -> World:
    r"""Scores in (0, 1) with a beta distribution per class, like those of many classifiers.

    Parameters
    ----------
    positive, negative : tuple of float
        The two shapes :math:`(a, b)` of each class, at least 0.25.

    Returns
    -------
    World
        Its AUC is found by quadrature.

    Examples
    --------
    >>> from purecover import simulate
    >>> round(simulate.beta((2, 1), (1, 2)).auc, 10)
    0.8333333333
    """
    a1, b1 = _shapes("positive", positive)
    a0, b0 = _shapes("negative", negative)
    one, zero = Beta(a1, b1), Beta(a0, b0)
    log_ratios = _beta_log_ratio_range(one, zero)
    return World(
        name="beta",
        parameters={"positive": (a1, b1), "negative": (a0, b0)},
        positive=one,
        negative=zero,
        auc=integrate(lambda u: one.survival(zero.inverse_survival(u)), 0.0, 1.0),
        auc_from="quadrature",
        is_concave=a1 >= a0 and b1 <= b0,
        positive_inclusion=math.exp(-log_ratios[1]),
        negative_inclusion=math.exp(log_ratios[0]),
    )


@public
def histogram(
    positive_mass: ArrayLike, negative_mass: ArrayLike, edges: ArrayLike | None = None
) -> World:
    r"""Piecewise constant densities: any shape, all figures elementary.

    Parameters
    ----------
    positive_mass, negative_mass : array-like
        Share of each class per bin, in increasing order of the score; normalized to sum
        to 1.
    edges : array-like, optional
        Bin edges, one more than bins. By default equal bins on [0, 1].

    Returns
    -------
    World
        With :math:`auc = \sum_i p_i (\sum_{j<i} q_j + q_i/2)` in closed form.

    Examples
    --------
    >>> from purecover import simulate
    >>> world = simulate.histogram([0.1, 0.3, 0.6], [0.6, 0.3, 0.1])
    >>> round(world.auc, 3), world.is_concave
    (0.825, True)
    """
    p = _mass("positive_mass", positive_mass)
    q = _mass("negative_mass", negative_mass)
    if p.size != q.size:
        raise bad_value("negative_mass", f"as long as positive_mass ({p.size})", f"{q.size} values")
    cuts = np.linspace(0.0, 1.0, p.size + 1) if edges is None else as_real_vector("edges", edges)
    in_range = bool((np.abs(cuts) <= _LARGEST_EDGE).all())
    if cuts.size != p.size + 1 or not in_range or not (np.diff(cuts) > 0).all():
        raise bad_value(
            "edges",
            f"{p.size + 1} increasing numbers of size at most {_LARGEST_EDGE:g}",
            f"{cuts.size} values from {cuts[0]:g} to {cuts[-1]:g}",
        )
    filled = (p > 0) | (q > 0)
    with np.errstate(divide="ignore", over="ignore"):
        ratio = p[filled] / q[filled]
    where = tuple(float(cut) for cut in cuts)
    return World(
        name="histogram",
        parameters={
            "positive_mass": tuple(p.tolist()),
            "negative_mass": tuple(q.tolist()),
            "edges": where,
        },
        positive=Histogram(tuple(p.tolist()), where),
        negative=Histogram(tuple(q.tolist()), where),
        auc=float(np.dot(p, np.cumsum(q) - q / 2)),
        auc_from="closed form",
        is_concave=bool((ratio[1:] >= ratio[:-1]).all()),
        positive_inclusion=1 / float(ratio.max()),
        negative_inclusion=float(ratio.min()),
    )


WORLDS: Mapping[str, Callable[[], World]] = MappingProxyType(
    {"binormal": binormal, "beta": beta, "laplace": laplace, "nonconcave": nonconcave}
)
"""Families that can be called without parameters, by name."""


def _beta_log_ratio_range(one: Beta, zero: Beta) -> tuple[float, float]:
    """Infimum and supremum of the log density ratio: at an end, or at its only turning point."""
    up, down = one.a - zero.a, one.b - zero.b
    constant = float(special.betaln(zero.a, zero.b) - special.betaln(one.a, one.b))
    at_zero = constant if up == 0 else math.copysign(math.inf, -up)
    at_one = constant if down == 0 else math.copysign(math.inf, -down)
    values = [at_zero, at_one]
    if up * down > 0:  # both ends agree in sign, so the ratio turns in between
        x = up / (up + down)
        values.append(constant + up * math.log(x) + down * math.log1p(-x))
    return min(values), max(values)


def _shapes(parameter: str, values: object) -> tuple[float, float]:
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise bad_type(parameter, "a pair of shapes (a, b)", values)
    a, b = (check_real(parameter, value, low=_SHAPES[0], high=_SHAPES[1]) for value in values)
    return a, b


def _mass(parameter: str, values: ArrayLike) -> FloatArray:
    mass = as_real_vector(parameter, values)
    with np.errstate(over="ignore"):
        total = float(mass.sum())
    if not (mass >= 0).all() or not 0 < total < math.inf:
        raise bad_value(parameter, "shares of at least 0, not all 0", f"a sum of {total:g}")
    return mass / total
