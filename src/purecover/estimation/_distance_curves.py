"""Distance curves: how far labeled draws are from the nearest unlabeled score that remains."""

from __future__ import annotations

import numpy as np

from purecover._typing import CountArray, FloatArray, IntArray

__all__ = ["N_POINTS", "N_QUANTILES", "distance_curves", "distance_quantiles", "sample_points"]

N_POINTS = 510
"""Quantiles that stand for each sample; with a guard at either end, 16 words of 32 bits."""

N_QUANTILES = 100
"""Numbers that a curve is summed up by."""

_WORD = 32
_FULL = (1 << _WORD) - 1
_NOTHING = 1e-9

# Between two multiples of 1/n for every n, so that rounding never decides where a quantile lies.
_OFFSET = np.pi / 6


def sample_points(
    labeled: CountArray, unlabeled: CountArray, n_points: int = N_POINTS
) -> tuple[FloatArray, FloatArray]:
    """Evenly spaced quantiles of both samples on the scale of balanced pooled ranks.

    On that scale, :math:`u = (F_L + F_U)/2`, the two samples together are uniform on [0, 1]:
    only the order of the scores is left. Examples with tied scores are spread evenly over the
    ranks they share.

    Parameters
    ----------
    labeled, unlabeled : ndarray of shape (n_replicates, n_thresholds)
        Counts, highest score first.
    n_points : int
        Number of quantiles of each.

    Returns
    -------
    labeled, unlabeled : ndarray of shape (n_replicates, n_points)
        Increasing; a row without counts is NaN.
    """
    shares = (np.arange(n_points) + _OFFSET) / n_points
    found = np.full((2, len(labeled), n_points), np.nan)
    for i, tallies in enumerate(zip(labeled, unlabeled, strict=True)):
        below = [np.cumsum(np.append(0.0, tally[::-1])) for tally in tallies]
        if below[0][-1] > 0 and below[1][-1] > 0:
            f_labeled, f_unlabeled = (sums / sums[-1] for sums in below)
            ranks = (f_labeled + f_unlabeled) / 2
            found[0, i] = np.interp(shares, f_labeled, ranks)
            found[1, i] = np.interp(shares, f_unlabeled, ranks)
    return found[0], found[1]


def distance_curves(draws: FloatArray, points: FloatArray) -> FloatArray:
    """Distance of each draw to the nearest remaining point, which is then removed.

    Parameters
    ----------
    draws : ndarray of shape (n_curves, n_points)
        Labeled scores in the order in which they are drawn.
    points : ndarray of shape (n_curves, n_points)
        Unlabeled scores, increasing.

    Returns
    -------
    ndarray of shape (n_curves, n_points)
        Distances in the order of the draws. Of two points at the same distance the lower one
        goes.

    Notes
    -----
    What remains is a map of bits in two levels, words of 32 and one word that says which of them
    have any left, so that the neighbors of a draw are found in a few operations however many
    points have gone. All curves take each step together.
    """
    n_curves, n_points = points.shape
    # Guards that are never removed, so that every draw has a neighbor on both sides.
    n_words = -(-(n_points + 2) // _WORD)
    if n_words > _WORD:
        raise ValueError(f"distance_curves takes at most {_WORD**2 - 2} points")
    ends = np.full((n_curves, 1), np.inf)
    guarded = np.hstack((-ends, points, ends)).ravel()
    rows = np.arange(n_curves)
    first_point, first_word = rows * (n_points + 2), rows * n_words
    words = np.full(n_words, _FULL, dtype=np.int64)
    words[-1] = _FULL >> (n_words * _WORD - (n_points + 2))
    words = np.tile(words, n_curves)
    filled = np.full(n_curves, (1 << n_words) - 1, dtype=np.int64)

    places = 1 + _places(draws, points)
    curves = np.empty(draws.shape)
    for j in range(n_points):
        draw, place = draws[:, j], places[:, j]
        word, bit = place // _WORD, place % _WORD
        here = words[first_word + word]
        # The next one at or above the place.
        above = here & (_FULL << bit)
        other = _lowest(filled & (_FULL << (word + 1)))
        at = np.where(above > 0, word, other)
        right = at * _WORD + _lowest(np.where(above > 0, above, words[first_word + other]))
        # The next one below.
        below = here & ~(_FULL << bit)
        other = _highest(filled & ~(_FULL << word))
        at = np.where(below > 0, word, other)
        left = at * _WORD + _highest(np.where(below > 0, below, words[first_word + other]))

        to_left = draw - guarded[first_point + left]
        to_right = guarded[first_point + right] - draw
        nearest = np.where(to_left <= to_right, left, right)
        curves[:, j] = np.minimum(to_left, to_right)
        word, bit = nearest // _WORD, nearest % _WORD
        words[first_word + word] &= ~(1 << bit)
        filled &= ~(np.where(words[first_word + word] == 0, 1, 0) << word)
    return curves


def _places(draws: FloatArray, points: FloatArray) -> IntArray:
    """How many points of the same row are below each draw."""
    found = np.empty(draws.shape, dtype=np.int64)
    for i, (few, many) in enumerate(zip(draws, points, strict=True)):
        found[i] = np.searchsorted(many, few)
    return found


def _highest(bits: IntArray) -> IntArray:
    """Place of the highest bit: the exponent of the number; 0 if there is none."""
    exponents = (bits.astype(np.float64).view(np.int64) >> 52) - 1023
    return np.maximum(exponents, 0)


def _lowest(bits: IntArray) -> IntArray:
    """Place of the lowest bit; 0 if there is none."""
    return _highest(bits & -bits)


def distance_quantiles(labeled: FloatArray, unlabeled: FloatArray, orders: IntArray) -> FloatArray:
    """Quantiles of the average distance curve, divided by their sum.

    Parameters
    ----------
    labeled, unlabeled : ndarray of shape (n_replicates, n_points)
        Points of both samples, see :func:`sample_points`.
    orders : ndarray of shape (n_curves, n_points)
        For each curve of the average, which labeled point is drawn when.

    Returns
    -------
    ndarray of shape (n_replicates, N_QUANTILES)
        The quantiles 0, 1, ..., 99 %; all 0 if there are no distances.
    """
    n_curves = len(orders)
    draws = labeled[:, orders].reshape(-1, orders.shape[1])
    curves = distance_curves(draws, np.repeat(unlabeled, n_curves, axis=0))
    average = curves.reshape(len(labeled), n_curves, -1).mean(axis=1)
    quantiles = np.quantile(average, np.arange(N_QUANTILES) / N_QUANTILES, axis=1).T
    total = quantiles.sum(axis=1, keepdims=True)
    # Where both samples are the same there are only rounding errors, which are no curve.
    return np.where(total < _NOTHING, 0.0, quantiles / np.maximum(total, _NOTHING))
