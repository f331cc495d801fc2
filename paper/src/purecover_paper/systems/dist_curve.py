"""DistCurve: alpha as a trained network reads it off a distance curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from purecover import ScoreCounts
from purecover.estimators import Inclusions, PriorEstimator, parameter, register_prior_estimator
from purecover_paper.systems.arrays import CountArray, FloatArray, IntArray, RandomState

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
        Unlabeled scores, increasing; 1022 of them at most.

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
    if n_curves <= _FEW:
        return np.array([_distance_curve(*pair) for pair in zip(draws, points, strict=True)])
    # Guards that are never removed, so that every draw has a neighbor on both sides.
    n_words = -(-(n_points + 2) // _WORD)
    ends = np.full((n_curves, 1), np.inf)
    guarded = np.hstack((-ends, points, ends)).ravel()
    rows = np.arange(n_curves)
    first_point, first_word = rows * (n_points + 2), rows * n_words
    words = np.full(n_words, _FULL, dtype=np.int64)
    words[-1] = _FULL >> (n_words * _WORD - (n_points + 2))
    words = np.tile(words, n_curves)
    filled = np.full(n_curves, (1 << n_words) - 1, dtype=np.int64)

    below = [np.searchsorted(many, few) for few, many in zip(draws, points, strict=True)]
    places = 1 + np.array(below)
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


def _distance_curve(draws: FloatArray, points: FloatArray) -> list[float]:
    """One curve: each place knows its next remaining neighbors, or a place that knows better."""
    guarded = [-np.inf, *points.tolist(), np.inf]
    after, before = list(range(len(guarded))), list(range(len(guarded)))
    found = []
    for draw, place in zip(
        draws.tolist(), (np.searchsorted(points, draws) + 1).tolist(), strict=True
    ):
        right, left = place, place - 1
        while after[right] != right:
            after[right] = right = after[after[right]]
        while before[left] != left:
            before[left] = left = before[before[left]]
        to_left, to_right = draw - guarded[left], guarded[right] - draw
        if to_left <= to_right:
            found.append(to_left)
            after[left], before[left] = left + 1, left - 1
        else:
            found.append(to_right)
            after[right], before[right] = right + 1, right - 1
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


_FEW = 100
"""So few curves are calculated one by one: each step of all together has its price."""

_AT_ONCE = 4000
"""Curves calculated together: more of them would not stay in the cache of a processor."""

_CEILING = 0.999
"""The highest estimate; the network cannot distinguish its last thousandths from 1."""


class Network(NamedTuple):
    """A network of rectified linear layers, as plain arrays.

    Attributes
    ----------
    center, scale : ndarray of shape (n_inputs,)
        What the inputs are standardized by.
    weights, biases : tuple of ndarray
        Of each layer, in order.
    """

    center: FloatArray
    scale: FloatArray
    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]

    def __call__(self, inputs: FloatArray) -> FloatArray:
        """Output for each row, between 0 and 1."""
        values = (inputs - self.center) / self.scale
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weight + bias
            if i < last:
                np.maximum(values, 0, out=values)
        return np.clip(values[:, 0], 0.0, 1.0)


@cache
def load_network() -> Network:
    """The network that comes with the package."""
    weights = files("purecover_paper.systems") / "data" / "dist_curve.npz"
    with weights.open("rb") as file, np.load(file) as kept:
        arrays = {name: kept[name].astype(np.float64) for name in kept.files}
    n_layers = sum(name.startswith("weight") for name in arrays)
    return Network(
        arrays["center"],
        arrays["scale"],
        tuple(arrays[f"weight{i}"] for i in range(n_layers)),
        tuple(arrays[f"bias{i}"] for i in range(n_layers)),
    )


@register_prior_estimator("dist-curve")
@dataclass(kw_only=True, eq=False, repr=False)
class DistCurve(PriorEstimator):
    r"""Alpha from how soon labeled draws run out of unlabeled neighbors.

    Assumes: scores shaped like those the network was trained on; labels are clean.

    Known to fail: shapes it never saw, by any amount and without a word; drawn to the middle, and
    more data do not cure it.

    Parameters
    ----------
    n_curves : int, default=10
        Number of curves, each with its own order of draws, that are averaged.
    random_state : int, numpy.random.Generator or None, default=0
        Where the orders come from.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the ``"curve"``, the hundred numbers
        that the network sees.

    See Also
    --------
    LabelCurve : States its prior over shapes as a formula.

    Notes
    -----
    Draw a labeled score, find the nearest unlabeled one that remains, note the distance and
    remove it; go on until none is left. While unlabeled positives remain, labeled scores have
    near neighbors; after a share alpha of the draws, distances grow. The average of several
    such curves is summed up by its quantiles at 0, 1, ..., 99 %, divided by their sum, and a
    small network turns these into alpha.

    Distances are taken between pooled ranks :math:`(F_L + F_U)/2`, so that the estimate depends
    on the order of the scores only; tied scores are spread evenly over the ranks they share.
    Each sample is represented by 510 evenly spaced quantiles, so that the time hardly depends on
    its size, and each labeled quantile is drawn once, in random order. The authors draw scores
    themselves, with replacement.

    **A trained network is a prior over shapes.** This one was trained on simulated samples of 50
    to 10,000 rows from beta, normal, Laplace and mixed normal densities
    (``paper/tools/train_dist_curve.py`` does it again, and ``dist_curve.json`` next to the weights
    is the log). On shapes like these it errs little where alpha is moderate and the classes are
    apart. It is drawn to the middle, as a mean over all the samples it takes for possible: alpha
    is too high where it is small and classes overlap, and too low, by some hundredths,
    where it is near 1. On shapes it never saw, it may be wrong by any amount and will not say so.
    With more data it does not converge to the truth, but to what the network takes the limiting
    curve for. Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too.

    References
    ----------
    Zeiberg, Jain & Radivojac (2020), "Fast nonparametric estimation of class proportions in the
    positive-unlabeled classification setting", AAAI.

    Examples
    --------
    >>> import purecover as pu
    >>> from purecover_paper.systems import DistCurve
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = DistCurve().fit(sample.scores, sample.labeled)
    >>> abs(estimator.proportions_.alpha - 0.25) < 0.05
    True
    """

    n_curves: int = parameter(10, "integer", low=1)
    random_state: RandomState = parameter(0, "random_state")

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        points = sample_points(counts.labeled[None], counts.unlabeled[None])
        curve = distance_quantiles(*points, self._orders())
        a = float(_read_off(curve)[0])
        notes = []
        if a == 0:
            notes.append("distances grow from the first draw on: alpha = 0, or too small to see")
        if a == _CEILING:
            notes.append("the unlabeled scores are distributed like the labeled ones: alpha near 1")
        details = {"curve": curve[0], "at_edge": a in (0, _CEILING)}
        return Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self,
        counts: ScoreCounts,  # noqa: ARG002 - ranks need no thresholds
        labeled: CountArray,
        unlabeled: CountArray,
    ) -> FloatArray:
        orders = self._orders()
        found = np.zeros((len(labeled), 2))
        step = max(1, _AT_ONCE // self.n_curves)
        for start in range(0, len(labeled), step):
            part = slice(start, start + step)
            points = sample_points(labeled[part], unlabeled[part])
            found[part, 0] = _read_off(distance_quantiles(*points, orders))
        return found

    def _orders(self) -> IntArray:
        return draw_orders(self.n_curves, np.random.default_rng(self.random_state))


def _read_off(curves: FloatArray) -> FloatArray:
    """Return the network's estimates, at most the ceiling; the ceiling if a curve is zero."""
    found = np.minimum(load_network()(curves), _CEILING)
    return np.where(curves.any(axis=1), found, _CEILING)


def draw_orders(n_curves: int, rng: np.random.Generator) -> IntArray:
    """For each curve a random order of the labeled points."""
    return rng.permuted(np.tile(np.arange(N_POINTS), (n_curves, 1)), axis=1)
