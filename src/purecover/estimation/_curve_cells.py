"""A posterior of the two inclusions laid out in cells, and what is read off it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from purecover._typing import BoolArray, FloatArray

Cells = tuple[FloatArray, FloatArray, FloatArray]
"""Low ends, middles and high ends of the cells along one inclusion."""

StrArray = NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Posterior:
    """Cells of a grid over (a, b) with their probabilities, one row for each data set.

    Attributes
    ----------
    a, b : tuple of three ndarrays of shape (n_rows, n_cells)
        Low end, middle and high end of each cell; all 0 in b where labels are clean.
    weight : ndarray of shape (n_rows, n_cells)
        Posterior probability of each cell.
    clean : ndarray of bool of shape (n_cells,)
        Which cells say that labels are clean.
    kinds : ndarray of str of shape (n_cells,)
        Which kind of shape each cell belongs to.
    """

    a: Cells
    b: Cells
    weight: FloatArray
    clean: BoolArray
    kinds: StrArray

    @property
    def alpha(self) -> FloatArray:
        """Alpha in the middle of each cell."""
        return alpha_of(self.a[1], self.b[1])

    @property
    def beta(self) -> FloatArray:
        """Beta in the middle of each cell; exactly 1 where labels are clean."""
        return beta_of(self.a[1], self.b[1])

    @property
    def mean(self) -> FloatArray:
        """Means of alpha and beta, shape (n_rows, 2)."""
        return self.mean_over(np.ones_like(self.clean))

    def mean_over(self, cells: BoolArray) -> FloatArray:
        """Means over some cells only; NaN in rows where they have no weight."""
        weight = self.weight[:, cells]
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = weight / weight.sum(axis=1, keepdims=True)
        alpha = (weight * self.alpha[:, cells]).sum(axis=1)
        noise = (weight * (1 - self.beta[:, cells])).sum(axis=1)  # exactly 0 if labels are clean
        return np.column_stack((alpha, 1 - noise))

    @property
    def clean_probability(self) -> FloatArray:
        """Posterior probability of beta = 1."""
        return np.asarray(self.weight[:, self.clean].sum(axis=1))

    def kind_probability(self, kind: str) -> FloatArray:
        """Posterior probability of a kind of shape."""
        return np.asarray(self.weight[:, self.kinds == kind].sum(axis=1))

    def ends(self, level: float) -> dict[str, tuple[float, float]]:
        """Quantiles of alpha, beta and delta at both ends of an interval, of the first row.

        Probability is spread evenly over each cell. An interval always holds the mean.
        """
        (a_low, _, a_high), (b_low, _, b_high) = (
            tuple(part[0] for part in cells) for cells in (self.a, self.b)
        )
        alpha, beta = self.mean[0]
        ranges = {
            "alpha": (alpha_of(a_low, b_high), alpha_of(a_high, b_low), alpha),
            "beta": (beta_of(a_low, b_high), beta_of(a_high, b_low), beta),
            "delta": (delta_of(a_high, b_high), delta_of(a_low, b_low), beta - alpha),
        }
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        ends = {}
        for name, (low, high, mean) in ranges.items():
            found = _quantiles(low, high, self.weight[0], tails)
            ends[name] = float(min(found[0], mean)), float(max(found[1], mean))
        return ends


def joined(parts: list[Cells]) -> Cells:
    """Cells of several grids side by side."""
    low, middle, high = (np.concatenate(side, axis=1) for side in zip(*parts, strict=True))
    return low, middle, high


def _quantiles(
    low: FloatArray, high: FloatArray, weight: FloatArray, tails: FloatArray
) -> FloatArray:
    """Quantiles of a mixture of uniform distributions; a cell without width is a point."""
    high = np.maximum(high, low + 1e-12)
    places = np.unique(np.concatenate((low, high)))
    passed = ((places[:, None] - low) / (high - low)).clip(0, 1) @ weight
    return np.interp(tails * passed[-1], passed, places)


def alpha_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Share of positives among the unlabeled, from the inclusions."""
    return np.asarray(a * (1 - b) / (1 - a * b), dtype=np.float64)


def beta_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Share of positives among the labeled, from the inclusions."""
    return np.asarray((1 - b) / (1 - a * b), dtype=np.float64)


def delta_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Beta less alpha, from the inclusions."""
    return np.asarray((1 - a) * (1 - b) / (1 - a * b), dtype=np.float64)
