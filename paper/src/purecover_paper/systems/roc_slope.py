"""The smallest slope of the ROC curve, by confidence bounds of the shares above a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover import ScoreCounts
from purecover.estimators import (
    Inclusions,
    PriorEstimator,
    parameter,
    register_prior_estimator,
)
from purecover_paper.systems.arrays import (
    CountArray,
    FloatArray,
    merge_replicates,
    weight_units,
)

LARGE_MARGIN = 0.1
"""Bounds that add more than this to the ratio of shares make the estimate lean high."""


@register_prior_estimator("roc-slope")
@dataclass(kw_only=True, eq=False, repr=False)
class RocSlope(PriorEstimator):
    r"""Smallest slope of the ROC curve, each point moved by its confidence bounds.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: leans high for few rows, by the width of its bounds.

    Parameters
    ----------
    error : float, default=0.1
        Probability :math:`\varepsilon` with which each binomial bound may fail.
    n_thresholds : int or None, default=200
        At how many thresholds, of like numbers of rows between them, the ratio is taken;
        None: at every distinct score.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the chosen ``"threshold"``, the share
        of labeled rows at or above it (``"labeled_above"``) and the plain ``"ratio"``.

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
    converges to alpha if positives at the top become pure, and errs upward for few rows or
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
    >>> from purecover_paper.systems import RocSlope
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = RocSlope().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.26
    """

    error: float = parameter(0.1, "real", low=0, high=1, closed="neither")
    n_thresholds: int | None = parameter(200, "integer", low=2, optional=True)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        few = counts.thinned(self.n_thresholds or counts.n_thresholds)
        sides = few.labeled[None], few.unlabeled[None]
        bounds, q_labeled, q_unlabeled = (each[0] for each in self._bounds(few, *sides))
        place = int(np.argmin(bounds))
        a, ratio = min(float(bounds[place]), 1.0), float(q_unlabeled[place] / q_labeled[place])
        notes = []
        if a - ratio > LARGE_MARGIN:
            notes.append(
                f"the estimate may lean high: its confidence bounds add {a - ratio:.2f} to the "
                f"ratio {ratio:.2f}, for lack of examples"
            )
        details = {
            "threshold": float(few.thresholds[place]),
            "labeled_above": float(q_labeled[place]),
            "ratio": ratio,
            "at_edge": a >= 1,
        }
        return Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        few = counts.thinned(self.n_thresholds or counts.n_thresholds)
        sides = (merge_replicates(counts, few, side) for side in (labeled, unlabeled))
        a = np.minimum(self._bounds(few, *sides)[0].min(axis=1), 1.0)
        return np.column_stack((a, np.zeros(a.size)))

    def _bounds(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Bounds of the ratio at each threshold, one replicate a row, and both shares there."""
        units = weight_units(counts)
        q_labeled, n_labeled = _row_shares(labeled, units[0])
        q_unlabeled, n_unlabeled = _row_shares(unlabeled, units[1])
        low = 1 - _row_bounds(1 - q_labeled, n_labeled, self.error)
        high = _row_bounds(q_unlabeled, n_unlabeled, self.error)
        with np.errstate(divide="ignore", invalid="ignore"):
            return high / low, q_labeled, q_unlabeled


def _row_shares(tallies: CountArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Shares at or above each threshold, one replicate a row, and the effective sizes of rows."""
    shares = np.cumsum(tallies, axis=1, dtype=np.float64)
    totals = shares[:, -1].copy()
    with np.errstate(invalid="ignore"):  # an empty replicate has no shares, and no estimate
        shares /= totals[:, None]
    return shares, totals * unit


def _row_bounds(shares: FloatArray, sizes: FloatArray, error: float) -> FloatArray:
    """Upper bounds of shares among samples of these sizes, one sample a row."""
    size = float(sizes[0])
    successes = shares * sizes[:, None]
    whole = np.rint(successes)
    if size == np.rint(size) and (sizes == size).all() and np.abs(whole - successes).max() < 1e-6:
        # Whole numbers repeat from replicate to replicate: look each up once.
        values, inverse = np.unique(whole, return_inverse=True)
        return _binomial_upper(values, size, error)[inverse.reshape(shares.shape)]
    return _binomial_upper(successes, sizes[:, None], error)


def _binomial_upper(successes: FloatArray, trials: float | FloatArray, error: float) -> FloatArray:
    """Exact upper bound of a binomial proportion (Clopper and Pearson), also of part of a row."""
    from scipy.special import betaincinv

    failures = np.asarray(trials - successes, dtype=np.float64)
    some = failures > 1e-9  # what is left of all but rounding is nothing
    found = betaincinv(successes + 1, np.where(some, failures, 1.0), 1 - error)
    return np.where(some, found, 1.0)
