r"""Which numbers of examples keep the promise of a plan, where the unlabeled ones are N in number.

Intervals then end at whole numbers of examples, and so their widths go up and down from one k to
the next. Among few examples each k and each number of positives is looked at; among many, widths
are taken as continuous and the promise is made for a width that is narrower by a few examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover._typing import BoolArray, FloatArray, IntArray
from purecover.audit._posterior import nearly_beta_binomial, reaches_edge, whole_ends

MOST_ENUMERATED = 2000
"""Among more unlabeled examples the smallest number is approached from above."""

MARGIN = 3
"""Continuous widths differ from those in whole examples by fewer examples than this."""

_FAR = 8.0  # standard deviations, beyond which nothing is left
_MOST_SUMMED = 100.0  # standard deviation up to which probabilities are summed one by one
_CHUNK = 4_000_000


def continuous_widths(
    k: IntArray, n: IntArray, n_unlabeled: int, prior: tuple[float, float], level: float
) -> FloatArray:
    """Widths of intervals that need not end at whole numbers of examples."""
    a, b = prior
    rest = n_unlabeled - n
    low, high = nearly_beta_binomial(np.maximum(rest, 1), a + k, b + n - k, (1 - level) / 2)
    low = np.where((k == 0) & reaches_edge(a), 0.0, low)
    high = np.where((k == n) & reaches_edge(b), rest, high)
    mean = rest * (a + k) / (a + b + n)
    low, high = np.minimum(low, mean), np.maximum(high, mean)
    return np.asarray(np.where(rest > 0, high - low, 0.0) / n_unlabeled)


def between(
    low: IntArray, high: IntArray, n: IntArray, n_unlabeled: int, positives: IntArray
) -> FloatArray:
    """Probability that n of N examples hold from low to high positives."""
    from scipy.special import ndtr

    share = positives / n_unlabeled
    mean = n * share
    spread = np.sqrt(mean * (1 - share) * (n_unlabeled - n) / max(n_unlabeled - 1, 1))
    with np.errstate(divide="ignore"):
        ends = [(end - mean) / spread for end in (low - 0.5, high + 0.5)]
    found = np.asarray(ndtr(ends[1]) - ndtr(ends[0]))
    few = np.flatnonzero(spread <= _MOST_SUMMED)
    if few.size:
        half = int(_FAR * spread[few].max()) + 3
        k = np.rint(mean[few]).astype(np.int64)[:, None] + np.arange(-half, half + 1)
        inside = (k >= low[few, None]) & (k <= high[few, None])
        odds = _hypergeometric(k, n[few, None], n_unlabeled, positives[few, None])
        found[few] = (odds * inside).sum(axis=1)
    return np.where(high >= low, found, 0.0)


def _hypergeometric(
    k: IntArray, n: IntArray, n_unlabeled: int, positives: IntArray, table: FloatArray | None = None
) -> FloatArray:
    """Probabilities of k positives in n of N examples; `table` has logarithms of factorials."""
    from scipy.special import gammaln

    parts = k, positives - k, n - k, n_unlabeled - positives - (n - k)
    possible = np.logical_and.reduce([part >= 0 for part in parts])
    log = np.zeros(possible.shape)
    ways = (positives, n_unlabeled - positives, n, n_unlabeled - n)
    for part in ways:
        log = log + (gammaln(part + 1.0) if table is None else table[part])
    for part in parts:
        some = part.clip(0, n_unlabeled)
        log = log - (gammaln(some + 1.0) if table is None else table[some])
    log = log - (gammaln(n_unlabeled + 1.0) if table is None else table[n_unlabeled])
    return np.where(possible, np.exp(np.minimum(log, 0)), 0.0)


@dataclass(frozen=True)
class Enumeration:
    """Each k and each number of positives, for one number N of unlabeled examples."""

    width: float
    level: float
    prior: tuple[float, float]
    positives: tuple[int, int]
    n_unlabeled: int

    def __post_init__(self) -> None:
        from scipy.special import gammaln

        whole = np.arange(self.n_unlabeled + 1, dtype=np.float64)
        tables = [gammaln(shift + whole) for shift in (1.0, *self.prior)]
        object.__setattr__(self, "_tables", tables)

    def smallest(self, enough: int, assurance: float) -> int:
        """The smallest number that keeps the promise, as every larger one does."""
        while enough < self.n_unlabeled and self.promise(enough)[0] < assurance:
            enough += 1
        while enough > 1 and self.promise(enough - 1)[0] >= assurance:
            enough -= 1
        return enough

    def promise(self, n: int) -> tuple[float, float]:
        """Probability that the interval is narrow enough at the hardest alpha, and that alpha."""
        first, last = self.positives
        wide = self.too_wide(n)
        if not wide.any():
            return 1.0, (first + last) / 2 / self.n_unlabeled
        # The probability changes smoothly with the number of positives: look at some, then at
        # all those near the hardest of them.
        spread = np.sqrt(self.n_unlabeled * (self.n_unlabeled - n) / n) / 2
        steps = int(np.ceil(np.pi * self.n_unlabeled / max(spread, 1)))
        angle = np.arcsin(np.sqrt(np.array([first, last]) / self.n_unlabeled))
        some = self.n_unlabeled * np.sin(np.linspace(angle[0], angle[1], 4 * steps)) ** 2
        at = np.unique(np.rint(some).astype(np.int64).clip(first, last))
        if at.size < last - first + 1:
            found = self._probability(wide, n, at)
            near = np.argsort(-found)[:3]
            lower, upper = at[np.maximum(near - 1, 0)], at[np.minimum(near + 1, at.size - 1)]
            ranges = [np.arange(*ends) for ends in zip(lower, upper + 1, strict=True)]
            at = np.unique(np.concatenate(ranges))
        found = self._probability(wide, n, at)
        hardest = int(np.argmax(found))
        return float(1 - found[hardest]), float(at[hardest] / self.n_unlabeled)

    def too_wide(self, n: int) -> BoolArray:
        """Whether the interval is too wide, for each k from 0 to n that can come out."""
        k, rest = np.arange(n + 1), self.n_unlabeled - n
        slack = (MARGIN + 1) / self.n_unlabeled
        widths = continuous_widths(k, np.full_like(k, n), self.n_unlabeled, self.prior, self.level)
        wide = widths > self.width
        if rest == 0:
            return np.asarray(wide)
        likely = np.array(self.positives) / self.n_unlabeled
        spread = np.sqrt(n * likely * (1 - likely) * rest / self.n_unlabeled)
        least, most = n * likely + (_FAR * spread + 6) * [-1, 1]
        doubtful = (np.abs(widths - self.width) <= slack) & (k >= least) & (k <= most)
        doubtful = np.flatnonzero(doubtful)
        for part in np.array_split(doubtful, doubtful.size * (rest + 1) // _CHUNK + 1):
            wide[part] = self._exact_widths(part, n) > self.width
        return np.asarray(wide)

    def _exact_widths(self, k: IntArray, n: int) -> FloatArray:
        ways, up, down = self._tables  # type: ignore[attr-defined]
        a, b = self.prior
        rest = self.n_unlabeled - n
        m, k = np.arange(rest + 1), k[:, None]
        log = up[k + m] + down[n - k + (rest - m)] - (ways[m] + ways[rest - m])
        least, most = whole_ends(log, (1 - self.level) / 2)
        k = k[:, 0]
        least = np.where((k == 0) & reaches_edge(a), 0, least)
        most = np.where((k == n) & reaches_edge(b), rest, most)
        # As alpha_from_audit does, to the last digit: widths are compared.
        above, below = a + k, b + n - k
        mean = (k + rest * above / (above + below)) / self.n_unlabeled
        low, high = (k + least) / self.n_unlabeled, (k + most) / self.n_unlabeled
        return np.asarray(np.maximum(high, mean) - np.minimum(low, mean))

    def _probability(self, wide: BoolArray, n: int, positives: IntArray) -> FloatArray:
        """Probability of an interval that is too wide, for each number of positives."""
        share = positives / self.n_unlabeled
        spread = np.sqrt(n * share * (1 - share) * (1 - n / self.n_unlabeled))
        half = int(_FAR * spread.max()) + 4
        k = np.rint(n * share).astype(np.int64)[:, None] + np.arange(-half, half + 1)
        chosen = wide[k.clip(0, n)] & (k >= 0) & (k <= n)
        some = chosen.any(axis=1)
        found = np.zeros(positives.size)
        ways = self._tables[0]  # type: ignore[attr-defined]
        at = positives[some][:, None]
        odds = _hypergeometric(k[some], np.array(n), self.n_unlabeled, at, ways)
        found[some] = (odds * chosen[some]).sum(axis=1)
        return found
