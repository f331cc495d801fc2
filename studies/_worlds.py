"""Simulated worlds whose identifiable proportions are known exactly.

A world is a pair of score distributions: f1 of positives and f0 of negatives. Data can reveal no
more than how much of one density fits inside the other, so the truth an estimate is compared with
takes inf f0/f1 and inf f1/f0 into account: in worlds where both are 0 it is (alpha, beta) itself.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Mixture:
    """A distribution of several parts."""

    shares: tuple[float, ...]
    parts: tuple[Any, ...]

    def rvs(self, size: int, random_state: np.random.Generator) -> FloatArray:
        """Draw from it."""
        kind = random_state.choice(len(self.parts), size, p=self.shares)
        drawn = [part.rvs(size, random_state=random_state) for part in self.parts]
        return np.asarray(np.choose(kind, drawn), dtype=np.float64)


@dataclass(frozen=True)
class World:
    """Two score distributions.

    Attributes
    ----------
    positive, negative : scipy.stats distribution or Mixture
        Raw scores of the classes.
    middle : float
        The raw score that becomes 0.5: scores lie between 0 and 1, and are no probabilities.
    positive_inclusion, negative_inclusion : float
        inf f0/f1 and inf f1/f0: how much of one class could pass for the other. 0 if the world
        is irreducible.
    levels : int
        Number of values that scores are rounded to; 0 for all.
    """

    name: str
    positive: Any
    negative: Any
    middle: float
    positive_inclusion: float = 0.0
    negative_inclusion: float = 0.0
    levels: int = 0

    def truth(self, alpha: float, beta: float) -> tuple[float, float]:
        """What unlimited data would say about alpha and beta."""
        k1, k0 = self.positive_inclusion, self.negative_inclusion
        a = (alpha + (1 - alpha) * k1) / (beta + (1 - beta) * k1)
        b = (1 - beta + beta * k0) / (1 - alpha + alpha * k0)
        return a * (1 - b) / (1 - a * b), (1 - b) / (1 - a * b)

    def sample(
        self, rng: np.random.Generator, n_labeled: int, n_unlabeled: int, alpha: float, beta: float
    ) -> tuple[FloatArray, BoolArray]:
        """Draw scores and labels, with the nearest whole numbers of positives to the shares."""
        labeled, unlabeled = round(beta * n_labeled), round(alpha * n_unlabeled)
        raw = np.concatenate(
            [
                self.positive.rvs(labeled, random_state=rng),
                self.negative.rvs(n_labeled - labeled, random_state=rng),
                self.positive.rvs(unlabeled, random_state=rng),
                self.negative.rvs(n_unlabeled - unlabeled, random_state=rng),
            ]
        )
        scores = special.expit(raw - self.middle)
        if self.levels:
            scores = (np.floor(self.levels * scores) + 0.5) / self.levels
        return scores, np.arange(raw.size) < n_labeled


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

    def sample(self, seed: int, replicate: int) -> tuple[FloatArray, BoolArray]:
        """One data set, the same each time, whatever else is run."""
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode()), replicate])
        return self.world.sample(rng, self.n_labeled, self.n_unlabeled, self.alpha, self.beta)


def rounded(distance: float = 2.0, levels: int = 20) -> World:
    """Normal scores, told to a few values only."""
    edges = special.logit(np.linspace(0, 1, levels + 1)) + distance / 2
    ones, zeros = np.diff(special.ndtr(edges - distance)), np.diff(special.ndtr(edges))
    bounds = float((zeros / ones).min()), float((ones / zeros).min())
    classes = stats.norm(distance), stats.norm(0)
    return World("rounded normal", *classes, distance / 2, *bounds, levels=levels)


def pure_ends(share: float, slope: float = 0.8) -> World:
    """A share of each class where the other never goes, and overlap of linear densities between.

    Raw scores: pure negatives in (-1, 0), overlap in (0, 1), pure positives in (1, 2).
    """
    shares = share, (1 - share) * (1 - slope), (1 - share) * slope
    positive = Mixture(shares, (stats.uniform(1, 1), stats.uniform(), stats.beta(2, 1)))
    negative = Mixture(shares, (stats.uniform(-1, 1), stats.uniform(), stats.beta(1, 2)))
    return World(f"pure ends {share:.0%}, slope {slope:g}", positive, negative, 0.5)


# The ratio of two Student t's four apart is largest and smallest where its slope is 0.
_T = math.exp(
    2.5 * (math.log1p((2 - math.sqrt(8)) ** 2 / 4) - math.log1p((2 + math.sqrt(8)) ** 2 / 4))
)
WORLDS = (
    World("Laplace 2", stats.laplace(2), stats.laplace(0), 1.0, math.exp(-2), math.exp(-2)),
    World("beta 5 2", stats.beta(5, 2), stats.beta(2, 5), 0.5),
    World("beta 3 2", stats.beta(3, 2), stats.beta(2, 3), 0.5),
    World("gamma", stats.gamma(6), stats.gamma(2), 4.0),
    # A sixth of the negatives could be positives, none the other way.
    World("exponential", stats.expon(scale=6), stats.expon(), 2.0, negative_inclusion=1 / 6),
    # Not monotone: the lowest scores belong to positives again.
    World("unequal normal", stats.norm(3, 1.5), stats.norm(0), 1.5,
          negative_inclusion=math.exp(-9 / 2.5) / 1.5),
    World("Student t", stats.t(4, loc=4), stats.t(4), 2.0, _T, _T),
    World("logistic", stats.logistic(3), stats.logistic(0), 1.5, math.exp(-3), math.exp(-3)),
    World("two clusters", Mixture((0.5, 0.5), (stats.norm(0.7), stats.norm(4))),
          stats.norm(0), 1.5),
    rounded(),
    *(pure_ends(share) for share in (0.05, 0.15, 0.30)),
)  # fmt: skip
SIZES = ((50, 500), (500, 5000), (5000, 50_000))
SHARES = ((0.01, 1.0), (0.1, 1.0), (0.4, 1.0), (0.8, 1.0), (0.1, 0.9), (0.6, 0.9), (0.3, 0.8),
          (0.2, 0.6))  # fmt: skip


def cells() -> Iterator[Cell]:
    """All worlds at all sizes and proportions."""
    for world in WORLDS:
        for sizes in SIZES:
            for shares in SHARES:
                yield Cell(world, *shares, *sizes)
