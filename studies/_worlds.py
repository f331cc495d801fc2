"""Simulated worlds whose identifiable proportions are known exactly.

A world is a pair of score distributions: f1 of positives and f0 of negatives. Data can reveal no
more than how much of one density fits inside the other, so the truth an estimate is compared with
takes inf f0/f1 and inf f1/f0 into account: in worlds where both are 0 it is (alpha, beta) itself.

Two groups: "tuning" is the grid on which estimators were compared while they were made, scored by
the true probability of being labeled; "held out" has other shapes, other sizes and scores that are
no probabilities of anything, and was looked at only when everything was decided.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int], FloatArray]
Group = Literal["tuning", "held out"]

_MADE: dict[str, World] = {}


def _by_name(name: str) -> World:
    return _MADE[name]


@dataclass(frozen=True)
class World:
    """Two score distributions.

    Attributes
    ----------
    positive, negative : callable
        Draw raw scores of one class: ``positive(rng, n)``.
    positive_inclusion, negative_inclusion : float
        inf f0/f1 and inf f1/f0: how much of one class could pass for the other. 0 if the world
        is irreducible.
    log_ratio : callable or None
        log f1/f0 of raw scores. If given, examples are scored by their true probability of being
        labeled, otherwise by ``link``.
    link : callable
        Increasing map of raw scores into (0, 1).
    """

    name: str
    group: Group
    positive: Draw
    negative: Draw
    positive_inclusion: float = 0.0
    negative_inclusion: float = 0.0
    log_ratio: Callable[[FloatArray], FloatArray] | None = None
    link: Callable[[FloatArray], FloatArray] = special.expit

    def __post_init__(self) -> None:
        _MADE[self.name] = self

    def __reduce__(self) -> tuple[Callable[[str], World], tuple[str]]:
        # Functions written in place cannot travel to other processes, a name can.
        return _by_name, (self.name,)

    def truth(self, alpha: float, beta: float) -> tuple[float, float]:
        """What unlimited data would say about alpha and beta."""
        k1, k0 = self.positive_inclusion, self.negative_inclusion
        a = (alpha + (1 - alpha) * k1) / (beta + (1 - beta) * k1)
        b = (1 - beta + beta * k0) / (1 - alpha + alpha * k0)
        return a * (1 - b) / (1 - a * b), (1 - b) / (1 - a * b)

    def sample(
        self, rng: np.random.Generator, n_labeled: int, n_unlabeled: int, alpha: float, beta: float
    ) -> tuple[FloatArray, BoolArray]:
        """Scores and labels, with the nearest whole numbers of positives to the shares asked."""
        n1 = round(beta * n_labeled), round(alpha * n_unlabeled)
        return self.sample_counts(rng, n_labeled, n_unlabeled, *n1)

    def sample_counts(
        self,
        rng: np.random.Generator,
        n_labeled: int,
        n_unlabeled: int,
        positives_labeled: int,
        positives_unlabeled: int,
    ) -> tuple[FloatArray, BoolArray]:
        """Scores and labels with these numbers of positives."""
        raw = np.concatenate(
            [
                self.positive(rng, positives_labeled),
                self.negative(rng, n_labeled - positives_labeled),
                self.positive(rng, positives_unlabeled),
                self.negative(rng, n_unlabeled - positives_unlabeled),
            ]
        )
        labeled = np.arange(n_labeled + n_unlabeled) < n_labeled
        if self.log_ratio is None:
            return self.link(raw), labeled
        ratio = self.log_ratio(raw)
        beta, alpha = positives_labeled / n_labeled, positives_unlabeled / n_unlabeled
        log_odds = math.log(n_labeled / n_unlabeled) + _log_mix(ratio, beta)
        return special.expit(log_odds - _log_mix(ratio, alpha)), labeled


def _log_mix(log_ratio: FloatArray, share: float) -> FloatArray:
    """Logarithm of (share f1 + (1 - share) f0) / f0."""
    with np.errstate(divide="ignore"):
        mixed: FloatArray = np.logaddexp(np.log(share) + log_ratio, np.log1p(-share))
    return mixed


@dataclass(frozen=True)
class Cell:
    """A world at given proportions and sizes."""

    world: World
    alpha: float
    beta: float
    n_labeled: int
    n_unlabeled: int

    @property
    def name(self) -> str:
        """Unique and readable."""
        return (
            f"{self.world.name}, alpha {self.alpha:g}, beta {self.beta:g}, "
            f"{self.n_labeled} + {self.n_unlabeled}"
        )

    @property
    def truth(self) -> tuple[float, float]:
        """The identifiable alpha and beta of samples, whose shares are whole numbers."""
        return self.world.truth(
            round(self.alpha * self.n_unlabeled) / self.n_unlabeled,
            round(self.beta * self.n_labeled) / self.n_labeled,
        )

    def rng(self, seed: int, replicate: int) -> np.random.Generator:
        """Randomness of one replicate, whatever else is run."""
        return np.random.default_rng([seed, zlib.crc32(self.name.encode()), replicate])

    def sample(self, seed: int, replicate: int) -> tuple[FloatArray, BoolArray]:
        """One data set, the same each time."""
        sizes = self.n_labeled, self.n_unlabeled
        return self.world.sample(self.rng(seed, replicate), *sizes, self.alpha, self.beta)

    def sample_random(self, seed: int, replicate: int) -> tuple[FloatArray, BoolArray]:
        """One data set whose numbers of positives are random too, as intervals suppose."""
        rng = self.rng(seed, replicate)
        n1 = rng.binomial(self.n_labeled, self.beta), rng.binomial(self.n_unlabeled, self.alpha)
        return self.world.sample_counts(rng, self.n_labeled, self.n_unlabeled, *map(int, n1))


def normal(distance: float) -> World:
    """N(d, 1) against N(0, 1): irreducible, with less to see the closer they are."""
    return World(
        f"normal {distance:g}",
        "tuning",
        lambda rng, n: rng.normal(distance, 1, n),
        lambda rng, n: rng.normal(0, 1, n),
        log_ratio=lambda x: distance * (x - distance / 2),
    )


def laplace(distance: float) -> World:
    """Double exponentials: the ratio stays within exp(-d) and exp(d), reached at both ends."""
    bound = math.exp(-distance)
    return World(
        f"Laplace {distance:g}",
        "tuning",
        lambda rng, n: rng.laplace(distance, 1, n),
        lambda rng, n: rng.laplace(0, 1, n),
        bound,
        bound,
        log_ratio=lambda x: np.clip(2 * x - distance, -distance, distance),
    )


def two_beta(shapes: tuple[float, float]) -> World:
    """beta(p, q) against beta(q, p), p > q: irreducible, like scores of many classifiers."""
    p, q = shapes
    return World(
        f"beta {p:g} {q:g}",
        "held out",
        lambda rng, n: rng.beta(p, q, n),
        lambda rng, n: rng.beta(q, p, n),
        link=lambda x: x,
    )


def gamma() -> World:
    """gamma(6) against gamma(2): the ratio is a power of the score."""
    return World(
        "gamma",
        "held out",
        lambda rng, n: rng.gamma(6, 1, n),
        lambda rng, n: rng.gamma(2, 1, n),
        link=lambda x: x / (x + 4),
    )


def exponential() -> World:
    """Scale 6 against scale 1: a sixth of the negatives could be positives, none the other way."""
    return World(
        "exponential",
        "held out",
        lambda rng, n: rng.exponential(6, n),
        lambda rng, n: rng.exponential(1, n),
        negative_inclusion=1 / 6,
        link=lambda x: x / (x + 2),
    )


def unequal_normal() -> World:
    """N(3, 1.5^2) against N(0, 1): not monotone, the lowest scores belong to positives again."""
    mean, sd = 3.0, 1.5
    return World(
        "unequal normal",
        "held out",
        lambda rng, n: rng.normal(mean, sd, n),
        lambda rng, n: rng.normal(0, 1, n),
        negative_inclusion=math.exp(-(mean**2) / (2 * (sd**2 - 1))) / sd,
        link=lambda x: special.expit(x - mean / 2),
    )


def student() -> World:
    """Student t, 4 degrees, 4 apart: not monotone, far scores say nothing about the class."""
    distance = 4.0
    x = np.linspace(-50, 50, 200_001)
    log_ratio = 2.5 * (np.log1p(x**2 / 4) - np.log1p((x - distance) ** 2 / 4))
    bound = math.exp(-float(log_ratio.max()))  # the same both ways by symmetry
    return World(
        "Student t",
        "held out",
        lambda rng, n: distance + rng.standard_t(4, n),
        lambda rng, n: rng.standard_t(4, n),
        bound,
        bound,
        link=lambda x: special.expit(x - distance / 2),
    )


def logistic() -> World:
    """Logistic, 3 apart: the ratio approaches exp(-3) and exp(3) without reaching them."""
    distance = 3.0
    bound = math.exp(-distance)
    return World(
        "logistic",
        "held out",
        lambda rng, n: rng.logistic(distance, 1, n),
        lambda rng, n: rng.logistic(0, 1, n),
        bound,
        bound,
        link=lambda x: special.ndtr(x - distance / 2),
    )


def two_clusters() -> World:
    """Positives of two kinds, half of which look much like negatives."""

    def positive(rng: np.random.Generator, n: int) -> FloatArray:
        return rng.normal(np.where(rng.random(n) < 0.5, 0.7, 4.0), 1)

    return World(
        "two clusters",
        "held out",
        positive,
        lambda rng, n: rng.normal(0, 1, n),
        link=lambda x: special.expit(x - 1.5),
    )


def rounded() -> World:
    """Normal scores two apart, told to twenty values only."""
    distance, n_values = 2.0, 20
    edges = special.logit(np.linspace(0, 1, n_values + 1)) + distance / 2
    ones, zeros = np.diff(special.ndtr(edges - distance)), np.diff(special.ndtr(edges))
    return World(
        "rounded normal",
        "held out",
        lambda rng, n: rng.normal(distance, 1, n),
        lambda rng, n: rng.normal(0, 1, n),
        float((zeros / ones).min()),
        float((ones / zeros).min()),
        link=lambda x: (np.floor(n_values * special.expit(x - distance / 2)) + 0.5) / n_values,
    )


def pure_ends(share: float, slope: float = 0.8) -> World:
    """A share of each class where the other never goes, and overlap of linear densities between.

    Raw scores: pure negatives in (-1, 0), overlap in (0, 1), pure positives in (1, 2).
    """

    def positive(rng: np.random.Generator, n: int) -> FloatArray:
        # Density 1 - slope + 2 slope x on (0, 1): with chance slope the larger of two uniforms.
        rising = np.where(
            rng.random(n) < slope, np.maximum(rng.random(n), rng.random(n)), rng.random(n)
        )
        return np.where(rng.random(n) < share, 1 + rng.random(n), rising)

    return World(
        f"pure ends {share:.0%}, slope {slope:g}",
        "held out",
        positive,
        lambda rng, n: 1 - positive(rng, n),
        link=lambda x: ((x + 1) / 3) ** 2,
    )


TUNING = (normal(1), normal(2), normal(3), laplace(2), laplace(4))
HELD_OUT = (
    two_beta((5, 2)),
    two_beta((3, 2)),
    gamma(),
    exponential(),
    unequal_normal(),
    student(),
    logistic(),
    two_clusters(),
    rounded(),
    pure_ends(0.05),
    pure_ends(0.15),
    pure_ends(0.30),
)

TUNING_SIZES = ((100, 1000), (1000, 5000))
HELD_OUT_SIZES = ((50, 500), (500, 5000), (5000, 50_000))
TUNING_SHARES = tuple(
    (alpha, beta)
    for beta in (1.0, 0.95, 0.75)
    for alpha in (0.05, 0.25, 0.5, 0.75, 0.95)
    if alpha < beta
)
HELD_OUT_SHARES = (
    (0.01, 1.0),
    (0.1, 1.0),
    (0.4, 1.0),
    (0.8, 1.0),
    (0.1, 0.9),
    (0.6, 0.9),
    (0.3, 0.8),
    (0.2, 0.6),
)


def cells(group: Group) -> Iterator[Cell]:
    """All cells of a group."""
    worlds, shares, sizes = {
        "tuning": (TUNING, TUNING_SHARES, TUNING_SIZES),
        "held out": (HELD_OUT, HELD_OUT_SHARES, HELD_OUT_SIZES),
    }[group]
    for world in worlds:
        for n_labeled, n_unlabeled in sizes:
            for alpha, beta in shares:
                yield Cell(world, alpha, beta, n_labeled, n_unlabeled)
