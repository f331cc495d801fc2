"""DistCurve: alpha as a trained network reads it off a distance curve."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import ClassVar, NamedTuple

import numpy as np

from purecover._typing import CountArray, FloatArray, IntArray, RandomState
from purecover._validation import check_integer, check_random_state, read_only
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._distance_curves import N_POINTS, distance_quantiles, sample_points
from purecover.estimation._registry import register_prior_estimator

__all__ = ["DistCurve", "Network", "load_network"]

_AT_ONCE = 1000
"""Curves calculated together: more of them would not fit into the processor's cache."""

_CEILING = 0.999
"""The highest estimate; the network cannot tell its last thousandths from 1."""


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
    with (files("purecover") / "data" / "dist_curve.npz").open("rb") as file, np.load(file) as kept:
        arrays = {name: read_only(kept[name].astype(np.float64)) for name in kept.files}
    n_layers = sum(name.startswith("weight") for name in arrays)
    return Network(
        arrays["center"],
        arrays["scale"],
        tuple(arrays[f"weight{i}"] for i in range(n_layers)),
        tuple(arrays[f"bias{i}"] for i in range(n_layers)),
    )


@register_prior_estimator("dist-curve")
class DistCurve(PriorEstimator):
    r"""Alpha from how soon labeled draws run out of unlabeled neighbors.

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
    to 10,000 examples from beta, normal, Laplace and mixed normal densities (``make
    train-dist-curve`` does it again, and ``dist_curve.json`` beside the weights is the log). On
    shapes like these it errs little where alpha is moderate and the classes are apart. It is
    drawn to the middle, as a mean over all the samples it takes for possible: alpha comes out
    too high where it is small and classes overlap, and too low, by some hundredths, where it is
    near 1. On shapes it never saw, it may be wrong by any amount and will not say so. With more
    data it does not converge to the truth, but to what the network takes the limiting curve
    for. Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too.

    References
    ----------
    Zeiberg, Jain & Radivojac (2020), "Fast nonparametric estimation of class proportions in the
    positive-unlabeled classification setting", AAAI.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.DistCurve().fit(sample.scores, sample.labeled)
    >>> abs(estimator.proportions_.alpha - 0.25) < 0.05
    True
    """

    reference: ClassVar[str] = "Zeiberg, Jain & Radivojac, AAAI 2020"

    def __init__(self, *, n_curves: int = 10, random_state: RandomState = 0) -> None:
        self.n_curves = n_curves
        self.random_state = random_state

    def _check_params(self) -> None:
        name = type(self).__name__
        check_integer(name, "n_curves", self.n_curves, low=1)
        check_random_state(name, self.random_state)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        curve = self._curves(counts.labeled[None], counts.unlabeled[None], self._orders())
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
            curves = self._curves(labeled[part], unlabeled[part], orders)
            found[part, 0] = _read_off(curves)
        return found

    def _orders(self) -> IntArray:
        rng = check_random_state(type(self).__name__, self.random_state)
        return draw_orders(self.n_curves, rng)

    @staticmethod
    def _curves(labeled: CountArray, unlabeled: CountArray, orders: IntArray) -> FloatArray:
        return distance_quantiles(*sample_points(labeled, unlabeled), orders)


def _read_off(curves: FloatArray) -> FloatArray:
    """What the network says, but at most so much; and that where there is no distance at all."""
    found = np.minimum(load_network()(curves), _CEILING)
    return np.where(curves.any(axis=1), found, _CEILING)


def draw_orders(n_curves: int, rng: np.random.Generator) -> IntArray:
    """For each curve a random order of the labeled points."""
    return rng.permuted(np.tile(np.arange(N_POINTS), (n_curves, 1)), axis=1)
