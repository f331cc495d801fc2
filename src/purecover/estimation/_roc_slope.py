"""The slope of the ROC curve at its end, from binomial confidence bounds."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from purecover._typing import CountArray, FloatArray, IntArray
from purecover._validation import check_integer, check_real
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._bounds import binomial_upper, row_shares, row_sizes
from purecover.estimation._registry import register_prior_estimator
from purecover.estimation._samples import group_starts

__all__ = ["RocSlope"]

LARGE_MARGIN = 0.1
"""Bounds that add more than this to the ratio of shares make the estimate lean high."""


class _Slopes(NamedTuple):
    """The chosen threshold of each replicate and what holds there."""

    place: IntArray
    bound: FloatArray
    ratio: FloatArray
    labeled_above: FloatArray


@register_prior_estimator("roc-slope")
class RocSlope(PriorEstimator):
    r"""Smallest slope of the ROC curve, each point moved by its confidence bounds.

    Parameters
    ----------
    error : float, default=0.1
        Probability :math:`\varepsilon` with which each binomial bound may fail.
    n_thresholds : int or None, default=200
        At how many thresholds, of like numbers of examples between them, the ratio is taken;
        None: at every distinct score.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the chosen ``"threshold"``, the share
        of labeled examples at or above it (``"labeled_above"``) and the plain ``"ratio"``.

    See Also
    --------
    BBE : The same idea with one margin for all thresholds.
    inclusion_bound : A bound that holds at all thresholds together.

    Notes
    -----
    Of :math:`n_U` unlabeled and :math:`n_L` labeled scores, :math:`k_U(t)` and :math:`k_L(t)`
    are :math:`t` or more, and

    .. math::

        \hat\alpha = \min_t
            \frac{UCB(k_U(t), n_U)}{LCB(k_L(t), n_L)},

    where :math:`UCB(k, n)` solves :math:`P(Bin(n, p) \le k) = \varepsilon` and
    :math:`LCB(k, n) = 1 - UCB(n - k, n)`. Each bound holds alone; that all hold together would
    take larger margins and more bias. The estimate depends on the order of the scores only. It
    converges to alpha if positives at the top become pure, and errs upward for few examples or
    where even the highest scores hold negatives. Replicates of the data use its thresholds.
    Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too. With
    weights, effective sizes take the place of :math:`n_U` and :math:`n_L`.

    References
    ----------
    Blanchard, Lee & Scott (2010), "Semi-supervised novelty detection", JMLR 11. Scott (2015),
    "A rate of convergence for mixture proportion estimation", AISTATS.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.RocSlope().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.26
    """

    reference: ClassVar[str] = "Blanchard, Lee & Scott, JMLR 2010; Scott, AISTATS 2015"

    def __init__(self, *, error: float = 0.1, n_thresholds: int | None = 200) -> None:
        self.error = error
        self.n_thresholds = n_thresholds

    def _check_params(self) -> None:
        name = type(self).__name__
        check_real(name, "error", self.error, low=0, high=1, closed="neither")
        if self.n_thresholds is not None:
            check_integer(name, "n_thresholds", self.n_thresholds, low=2)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        few = counts if self.n_thresholds is None else counts.thinned(self.n_thresholds)
        slopes = self._slopes(few, few.labeled[None], few.unlabeled[None])
        a, ratio = float(slopes.bound[0]), float(slopes.ratio[0])
        notes = []
        if a - ratio > LARGE_MARGIN:
            notes.append(
                f"the estimate may lean high: its confidence bounds add {a - ratio:.2f} to the "
                f"ratio {ratio:.2f}, for lack of examples"
            )
        details = {
            "threshold": float(few.thresholds[slopes.place[0]]),
            "labeled_above": float(slopes.labeled_above[0]),
            "ratio": ratio,
            "at_edge": a >= 1,
        }
        return Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        if self.n_thresholds is not None and counts.n_thresholds > self.n_thresholds:
            few = counts.thinned(self.n_thresholds)
            starts = group_starts(counts, few)
            labeled = np.add.reduceat(labeled, starts, axis=1)
            unlabeled = np.add.reduceat(unlabeled, starts, axis=1)
            counts = few
        bound = self._slopes(counts, labeled, unlabeled).bound
        return np.column_stack((bound, np.zeros(bound.size)))

    def _slopes(self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> _Slopes:
        q_labeled, totals = row_shares(labeled)
        n_labeled = row_sizes(totals, counts.n_labeled, counts.labeled_sq)
        q_unlabeled, totals = row_shares(unlabeled)
        n_unlabeled = row_sizes(totals, counts.n_unlabeled, counts.unlabeled_sq)
        low = _row_bounds(1 - q_labeled, n_labeled, self.error)
        np.subtract(1, low, out=low)
        bound = _row_bounds(q_unlabeled, n_unlabeled, self.error)
        with np.errstate(divide="ignore", invalid="ignore"):
            bound /= low
        place = np.argmin(bound, axis=1)
        rows = np.arange(place.size)
        above = q_labeled[rows, place]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = q_unlabeled[rows, place] / above
        return _Slopes(place, np.minimum(bound[rows, place], 1.0), ratio, above)


def _row_bounds(shares: FloatArray, sizes: FloatArray, error: float) -> FloatArray:
    """Upper bounds of shares among samples of these sizes, one sample a row."""
    size = float(sizes[0])
    successes = shares * sizes[:, None]
    whole = np.rint(successes)
    if size == np.rint(size) and (sizes == size).all() and np.abs(whole - successes).max() < 1e-6:
        # Whole numbers repeat from replicate to replicate: look each up once.
        values, inverse = np.unique(whole, return_inverse=True)
        return binomial_upper(values, size, error)[inverse.reshape(shares.shape)]
    return binomial_upper(successes, sizes[:, None], error)
