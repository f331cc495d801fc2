"""Kernel densities of binned scores and rolling medians, in time linear in the scores."""

from __future__ import annotations

import numpy as np

from purecover._typing import CountArray, FloatArray

__all__ = ["binned_density", "mean_of", "rolling_median", "spread_of"]

CELLS_PER_BANDWIDTH = 16
"""Cells this fine change a density by less than a thousandth of its largest value."""

MAX_CELLS = 2**18
_TAILS = 8
"""Bandwidths beyond the data after which a normal density is zero for doubles."""


def mean_of(x: FloatArray, weights: CountArray) -> float:
    """Weighted mean."""
    # Not np.dot, whose threads cost more than they save where many replicates wait for cores.
    return float(np.einsum("i,i->", weights, x) / np.sum(weights))


def spread_of(x: FloatArray, weights: CountArray) -> float:
    """Weighted standard deviation (of the sample itself, without a correction of its size)."""
    centered = x - mean_of(x, weights)
    np.square(centered, out=centered)
    return float(np.sqrt(mean_of(centered, weights)))


def binned_density(
    x: FloatArray, weights: CountArray, bandwidth: float, points: FloatArray
) -> FloatArray:
    """Gaussian kernel density estimate of a weighted sample, evaluated at some points.

    The sample is spread over a grid of sixteen cells per bandwidth (each value over its two
    neighbors) and convolved with the kernel by Fourier transform; values between the cells are
    interpolated. The cost is that of one pass over the sample.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Sample, increasing or decreasing.
    weights : ndarray of shape (n,)
        Non-negative weights, not all zero.
    bandwidth : float
        Standard deviation of the kernel.
    points : ndarray of shape (m,)
        Where the density is wanted.

    Returns
    -------
    ndarray of shape (m,)
        The density, nowhere negative.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.estimation._density import binned_density
    >>> binned_density(np.array([0.0]), np.array([1]), 1.0, np.array([0.0, 1.0, 9.0])).round(3)
    array([0.399, 0.242, 0.   ])
    """
    from scipy.fft import next_fast_len

    used = np.flatnonzero(weights)
    ends = x[used[0]], x[used[-1]]
    low, high = min(ends) - _TAILS * bandwidth, max(ends) + _TAILS * bandwidth
    step = max(bandwidth / CELLS_PER_BANDWIDTH, (high - low) / MAX_CELLS)
    cells = next_fast_len(int((high - low) / step) + 2, real=True)
    inside = slice(used[0], used[-1] + 1)
    where = (x[inside] - low) / step
    left = where.astype(np.int64)
    where -= left
    right_mass = weights[inside] * where
    mass = np.bincount(left, weights[inside] - right_mass, cells)
    left += 1
    mass += np.bincount(left, right_mass, cells)
    frequency = 2 * np.pi * np.fft.rfftfreq(cells, step)
    kernel = np.exp(-0.5 * (frequency * bandwidth) ** 2)
    density = np.fft.irfft(np.fft.rfft(mass) * kernel, cells) / (mass.sum() * step)
    at = np.interp(points, low + step * np.arange(cells), density, left=0.0, right=0.0)
    return np.maximum(at, 0.0)  # round-off in the tails


def rolling_median(values: FloatArray, neighbors: int) -> FloatArray:
    """Median over some neighbors on either side, as many on both: fewer near the ends.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.estimation._density import rolling_median
    >>> rolling_median(np.array([9.0, 1.0, 2.0, 8.0, 4.0]), 2)
    array([9., 2., 4., 4., 4.])
    """
    n = values.size
    neighbors = min(neighbors, (n - 1) // 2)
    if neighbors < 1:
        return values.copy()
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(values, neighbors), 2 * neighbors + 1
    ).copy()
    # Near an end as many values are replaced by -inf on one side as by inf on the other, which
    # leaves the median of the rest in the middle.
    place = np.arange(neighbors)
    column = np.arange(2 * neighbors + 1)
    before, after = column < (neighbors - place)[:, None], column > (neighbors + place)[:, None]
    for rows in (windows[:neighbors], windows[::-1][:neighbors]):
        rows[before] = -np.inf
        rows[after] = np.inf
    windows.partition(neighbors, axis=1)
    return windows[:, neighbors].copy()
