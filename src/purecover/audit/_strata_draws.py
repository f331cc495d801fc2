"""How many positives there may be in strata of the score, by draws from their posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover._typing import FloatArray, IntArray
from purecover.audit._posterior import credible, finite_ends, reaches_edge
from purecover.intervals._interval import Interval

_LEAST_COUNTED = 0.25
"""Each answer counts for so much at least, in strata with one or two of them."""

_MANY = 8
"""The positives of more strata are drawn together: each limit between strata needs its own draws,
and their number would grow with the square of that of the strata."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Strata next to each other, whose positives are added up."""

    sizes: IntArray
    found: IntArray
    judged: IntArray
    prior: tuple[float, float]
    level: float

    @property
    def size(self) -> int:
        return int(self.sizes.sum())

    @property
    def none(self) -> bool:
        """Whether no positive was found, and the prior allows that there is none."""
        return not self.found.any() and reaches_edge(self.prior[0])

    @property
    def every(self) -> bool:
        """Whether nothing but positives was found."""
        return bool((self.found == self.judged).all()) and reaches_edge(self.prior[1])

    def part(self, first: int, end: int) -> Strata:
        """Some of the strata."""
        these = slice(first, end)
        sizes, found, judged = self.sizes[these], self.found[these], self.judged[these]
        return Strata(sizes, found, judged, self.prior, self.level)

    def draw(self, n_draws: int, rng: np.random.Generator) -> IntArray:
        """Numbers of positives in all of the strata."""
        m = self.sizes.size
        a, b = (each / m for each in self.prior)
        counted: FloatArray = np.maximum(1 - 2 * (1 - 1 / m) / self.judged, _LEAST_COUNTED)
        above, below = a + counted * self.found, b + counted * (self.judged - self.found)
        if m > _MANY:
            return self._draw_sum(above, below, n_draws, rng)
        share = rng.beta(above, below, size=(n_draws, m))
        return np.asarray((self.found + rng.binomial(self.sizes - self.judged, share)).sum(axis=1))

    def _draw_sum(
        self, above: FloatArray, below: FloatArray, n_draws: int, rng: np.random.Generator
    ) -> IntArray:
        """The sum over many strata at once, from a beta distribution of its mean and variance."""
        left = (self.sizes - self.judged).astype(np.float64)
        weight, share = above + below, above / (above + below)
        rest = float(left.sum())
        mean = float(left @ share)
        variance = float((left * share * (1 - share) * (weight + left) / (weight + 1)).sum())
        found = int(self.found.sum())
        if rest == 0 or not variance > 0:
            return np.full(n_draws, found + round(mean))
        size = max(mean * (rest - mean) / variance - 1, 1e-6)
        drawn = rest * rng.beta(size * mean / rest, size * (1 - mean / rest), size=n_draws)
        return found + np.rint(drawn).astype(np.int64)

    def share(self, positives: IntArray) -> Interval:
        """Share of positives in all of them, from draws if there are several."""
        if self.sizes.size == 1:
            return self.alone()
        edges = self.none, self.every and bool((self.judged < self.sizes).any())
        return _interval(positives / self.size, self.level, edges)

    def alone(self) -> Interval:
        """Share of positives in a single stratum, without draws."""
        k, n, size = (int(each[0]) for each in (self.found, self.judged, self.sizes))
        a, b = self.prior
        a, b = a + k, b + n - k
        mean = (k + (size - n) * a / (a + b)) / size
        ends = finite_ends(k, n, size, (a, b), self.level)
        return credible(mean, ends, self.level, "beta-binomial posterior")


def recall_above(above: Strata, below: Strata, found: IntArray, missed: IntArray) -> Interval:
    """The share of positives that lie above a limit."""
    everything = found + missed
    # No positive anywhere: there is none to be missed.
    recall = np.where(everything > 0, found / np.maximum(everything, 1), 1.0)
    open_above = bool((above.judged < above.sizes).any())
    hidden = bool((below.judged < below.sizes).any())
    nothing_above = above.none and (open_above or bool(below.found.any()))
    nothing_below = below.none and (hidden or bool(above.found.any()))
    return _interval(recall, above.level, (nothing_above, nothing_below))


def _interval(draws: FloatArray, level: float, edges: tuple[bool, bool]) -> Interval:
    """Mean and quantiles of draws, out to the edges where these were never ruled out."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    ends = (0.0 if edges[0] else float(low), 1.0 if edges[1] else float(high))
    return credible(float(draws.mean()), ends, level, "posterior draws")
