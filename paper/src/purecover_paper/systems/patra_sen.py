"""Patra and Sen: where the rest of the unlabeled sample stops being a distribution."""

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
from purecover_paper.systems.arrays import CountArray, FloatArray, IntArray, merge_replicates

_AT_A_TIME = 64
"""Shares of negatives that are tried together, for all of them to stay in the cache."""

_FIRST_GAP = 32
"""Gap between the shares that are tried first; gaps are halved where that may find a closer one."""


@register_prior_estimator("patra-sen")
@dataclass(kw_only=True, eq=False, repr=False)
class PatraSen(PriorEstimator):
    r"""Patra and Sen's two-component mixture on the scores of a classifier.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: too high where classes overlap much: the bend it looks for is a gentle curve.

    Parameters
    ----------
    n_grid : int, default=1000
        Number of shares of negatives that are tried, evenly spaced up to 1.
    max_thresholds : int, default=1000
        Counts with more distinct scores are merged into about so many groups of like size.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the tried shares of negatives
        (``"negative_shares"``) and their ``"distances"``.

    See Also
    --------
    DEDPUL : Guards its estimate by a second difference too.

    Notes
    -----
    If a share :math:`\nu` of the unlabeled rows is negative, their scores have the
    distribution function

    .. math::

        \hat F_\nu = \frac{F_U - (1-\nu) F_L}{\nu}.

    Where :math:`\nu` is too small, that is no distribution function: it falls, or leaves [0, 1].
    How far it is from one is measured by

    .. math::

        d(\nu) = \nu \left(\int (\hat F_\nu - \check F_\nu)^2 \, dF_U\right)^{1/2},

    where :math:`\check F_\nu` is its isotonic regression, cut to [0, 1]. The distance falls to
    about 0 as :math:`\nu` grows to the true share and stays there; the estimate is the share of
    the sharpest bend, the largest second difference of :math:`d`, and
    :math:`\alpha = 1 - \nu`. For the difference at either end, :math:`d` goes on as it began,
    and as 0.

    It depends on the order of the scores only, and needs no bandwidth and no bound. It is right
    in the limit if the best scores are pure. Where the classes overlap much the bend is a gentle
    curve, the distance cannot be distinguished from 0 well before the true share, and alpha is
    too high. Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too.
    Each estimate is one isotonic regression for each share that is tried, of a bounded number
    of groups.

    References
    ----------
    Patra & Sen (2016), "Estimation of a two-component mixture model with applications to
    multiple testing", Journal of the Royal Statistical Society B 78. Lin & Long (2018),
    "Classification-based mixture proportion estimation", arXiv 1801.09834.

    Examples
    --------
    >>> import purecover as pu
    >>> from purecover_paper.systems import PatraSen
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = PatraSen().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.25
    """

    n_grid: int = parameter(1000, "integer", low=3)
    max_thresholds: int = parameter(1000, "integer", low=10)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        shares = np.arange(1, self.n_grid + 1) / self.n_grid
        few = counts.thinned(self.max_thresholds)
        sides = few.labeled[None], few.unlabeled[None]
        distances, _ = _distances(*sides, np.zeros(shares.size, dtype=np.int64), shares)
        padded = np.concatenate((distances[:1], distances, [0.0]))
        bend = int(np.argmax(np.diff(padded, 2)))
        a = (self.n_grid - 1 - bend) / self.n_grid
        notes = []
        if bend == 0:
            notes.append("the unlabeled scores are distributed like the labeled ones: alpha near 1")
        details = {
            "negative_shares": shares,
            "distances": distances,
            "at_edge": bend in (0, self.n_grid - 1),
        }
        return Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        few = counts.thinned(self.max_thresholds)
        labeled, unlabeled = (merge_replicates(counts, few, side) for side in (labeled, unlabeled))
        found = np.full((len(labeled), 2), np.nan)
        some = labeled.any(axis=1) & unlabeled.any(axis=1)
        bends = _sharpest_bends(labeled[some], unlabeled[some], self.n_grid)
        found[some, 0] = (self.n_grid - 1 - bends) / self.n_grid
        found[some, 1] = 0.0
        return found


def _distances(
    labeled: CountArray, unlabeled: CountArray, rows: IntArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""The distance at each share of negatives, for a row of counts each, and its derivative.

    The distance is the least :math:`\|F_U - (1-\nu) F_L - \nu h\|` of all distribution functions
    :math:`h`, so that its derivative is that of the norm with the best :math:`h` held.
    """
    from scipy.optimize import isotonic_regression

    f_labeled, f_unlabeled = (
        np.cumsum(side[:, ::-1], axis=1) / side.sum(axis=1, keepdims=True)
        for side in (labeled, unlabeled)
    )
    # The integral is over unlabeled scores: where none is, anything that increases fits.
    mass = unlabeled[:, ::-1] / unlabeled.sum(axis=1, keepdims=True)
    weights = np.maximum(mass, np.finfo(float).tiny)
    found, slopes = np.empty((2, shares.size))
    for start in range(0, shares.size, _AT_A_TIME):
        these = slice(start, start + _AT_A_TIME)
        part, share = rows[these], shares[these, None]
        # All of it times the share, so that a small one divides nothing.
        steep = f_labeled[part]
        rest = steep * (share - 1)
        rest += f_unlabeled[part]
        # Rows end to end and one above the other: nothing is pooled across.
        apart = 3.0 * np.arange(part.size)[:, None]
        proper = isotonic_regression((rest + apart).ravel(), weights=weights[part].ravel()).x
        proper = proper.reshape(rest.shape)
        proper -= apart
        rest -= np.clip(proper, 0.0, share, out=proper)
        pull = mass[part]
        pull *= rest
        found[these] = np.sqrt(np.einsum("ij,ij->i", pull, rest))
        slopes[these] = np.einsum("ij,ij->i", pull, steep)
        slopes[these] -= np.einsum("ij,ij->i", pull, proper) / share[:, 0]
    # Rounding errors are no bend.
    none = found < 1e-9
    found[none] = 0.0
    return found, np.where(none, 0.0, slopes / np.where(none, 1.0, found))


def _sharpest_bends(labeled: CountArray, unlabeled: CountArray, n_grid: int) -> IntArray:
    """Where on the grid the second difference of each distance is largest, from few distances.

    The distance to a convex set is convex, so that between two shares no second difference exceeds
    the rise of the slope from one to the other, and at a share none exceeds that from the mean
    slope before it to the mean slope after it. Only where that leaves room for more than the
    largest one so far is the grid filled in.
    """
    known, slopes = np.full((2, len(labeled), n_grid + 1), np.nan)
    known[:, n_grid] = slopes[:, n_grid] = 0.0
    found = np.zeros(len(labeled), dtype=np.int64)
    start = np.unique(np.append(np.arange(0, n_grid, _FIRST_GAP), [1, n_grid - 1]))
    new = [start] * len(labeled)
    while rows := [i for i, places in enumerate(new) if places.size]:
        which = np.repeat(rows, [new[i].size for i in rows])
        places = np.concatenate([new[i] for i in rows])
        known[which, places], slopes[which, places] = _distances(
            labeled, unlabeled, which, (places + 1) / n_grid
        )
        for i in rows:
            found[i], new[i] = _next_places(known[i], slopes[i] / n_grid)
    return found


def _next_places(known: FloatArray, slopes: FloatArray) -> tuple[int, IntArray]:
    """Where the largest second difference so far is, and where distances are to be known next."""
    place = np.flatnonzero(known >= 0)
    gap: IntArray = np.diff(place)
    bend = np.diff(np.diff(known[place]) / gap)
    settled = (gap[1:] == 1) & (gap[:-1] == 1)
    largest = int(np.argmax(np.where(settled, bend, 0.0)))
    most = float(bend[largest]) if settled[largest] else 0.0
    # What a gap may hold between its ends, or at one of them.
    room = np.diff(slopes[place])
    at_ends = np.where(settled, 0.0, bend)
    np.maximum(room[1:], at_ends, out=room[1:])
    np.maximum(room[:-1], at_ends, out=room[:-1])
    room[gap == 1] = 0.0
    # The widest first: what they hold may leave no room in the others.
    wide = np.flatnonzero(room > max(most, room.max() / 2))
    return int(place[largest + 1]) if most > 0 else 0, place[wide] + gap[wide] // 2
