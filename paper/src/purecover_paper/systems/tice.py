"""TIcE: the label frequency from a tree whose nodes bound it from below."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from purecover.estimators import (
    Inclusions,
    parameter,
    register_prior_estimator,
)
from purecover_paper.systems.arrays import BoolArray, FloatArray, IntArray, RandomState
from purecover_paper.systems.rows import FeaturePriorEstimator, FeatureRows


@register_prior_estimator("tice")
@dataclass(kw_only=True, eq=False, repr=False)
class TIcE(FeaturePriorEstimator):
    r"""Tree induction for label frequency estimation.

    Assumes: a box of the feature space holds positives only, and enough of them; labels are clean.

    Known to fail: leans high in many dimensions, where boxes are empty or impure; leans low where
    many boxes are pure; outliers, on scores.

    Parameters
    ----------
    n_intervals : int, default=41
        Equal intervals into which the range of a feature is split.
    max_bepp : float, default=10
        Examples added to the size of a node when splits are compared; the larger, the less a
        split is judged by its smallest parts.
    max_splits : int, default=500
        Nodes that a tree may try to split.
    min_size : int or None, default=None
        Examples a node needs to bound the label frequency, and to be split further; None for
        :math:`\max(10, \sqrt N/3)` with :math:`N` rows in all.
    error : float or None, default=0.2
        Probability :math:`\delta` with which a lower bound may fail; None for
        :math:`\max(0.025, 1/(1 + 0.004\, T))` with :math:`T` rows.
    n_folds : int, default=10
        Folds; a tree is grown on one and bounds are taken on the others.
    n_rounds : int, default=2
        How often all of it is done; each round takes the variance from the one before.
    random_state : int, numpy.random.Generator or None, default=0
        How rows are dealt out to folds.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"labeled_given_positive"``, the label
        frequency :math:`\ell`, its value in each fold (``"by_fold"``), and the
        ``"pooled_prior"`` :math:`\pi`.

    See Also
    --------
    ElkanNoto : The same frequency from calibrated scores.

    Notes
    -----
    In a part of the feature space that holds no negatives, the share of labeled rows is the
    label frequency :math:`\ell`, the probability that a positive is labeled; elsewhere it is
    smaller. So a lower bound of the share in any part is a lower bound of :math:`\ell`: with
    :math:`T` rows, :math:`L` of them labeled,

    .. math::

        \ell \ge \frac{L}{T} - \sqrt{\frac{\ell (1-\ell)}{T}\,\frac{1-\delta}{\delta}}

    with probability :math:`1 - \delta`, by the one-sided Chebyshev inequality. Parts come from
    a tree that splits every feature, scaled to [0, 1], into equal intervals, at most once on
    each path and the most promising node first. A split is as good as the best of its parts,
    by :math:`L/(T+k)` on the fold it is grown on; the bounds are those of the other folds, and
    the largest of them estimates :math:`\ell`. Nodes with too few labeled rows to beat it
    are left alone. Then :math:`\pi = (n_L/N)/\ell` is the share of positives among all
    :math:`N` rows, and :math:`\alpha = (\pi N - n_L)/n_U`.

    The article uses ``n_intervals=4, max_bepp=5, min_size=10, error=None, n_folds=5``. The
    defaults here are those of later comparisons, but for ``min_size``: with thousands of
    rows the article's choice makes margins so wide that alpha is far too high. With
    a fixed ``min_size`` the number of boxes grows with the data and their sizes do not, so that
    the largest of all bounds is one of those that fail by much, and alpha falls as rows are
    added. Boxes that grow make the largest failure shrink.

    It needs labeled rows that are a random sample of the positives, and a box of the grid
    that holds positives only, with enough of them. A bound leans low, so that alpha leans high.
    Where a few features distinguish the classes, uninformative ones do little harm; where
    many share in it, no box of enough rows is pure, and it leans high by much. Where many
    boxes are pure, the largest of many bounds is likely one of those that fail, and alpha leans
    low: a smaller error, a larger ``min_size``, or fewer intervals, are the remedy. On
    scores, which are a single feature, there is one split, and the best of its intervals
    decides: the estimate depends on how the scores are spaced, and an outlier spoils it. The
    released program asks of the parent where it means to ask whether a new node is all labeled
    or all unlabeled; here the node itself is asked. Labels are taken as clean;
    :class:`NoisyLabels` makes it an estimator of beta too.

    References
    ----------
    Bekker & Davis (2018), "Estimating the class prior in positive and unlabeled data through
    decision tree induction", AAAI.

    Examples
    --------
    >>> import numpy as np
    >>> import purecover as pu
    >>> from purecover_paper.systems import TIcE
    >>> rng = np.random.default_rng(0)
    >>> labeled, positive = np.arange(6000) < 1000, np.arange(6000) < 2250
    >>> X = rng.normal(size=(6000, 2)) + 3 * positive[:, None]
    >>> round(TIcE().fit(X, labeled).proportions_.alpha, 2)
    0.28
    """

    n_intervals: int = parameter(41, "integer", low=2, high=1000)
    max_bepp: float = parameter(10, "real", low=0)
    max_splits: int = parameter(500, "integer", low=1)
    min_size: int | None = parameter(None, "integer", low=1)
    error: float | None = parameter(0.2, "real", low=0, high=1, closed="neither", optional=True)
    n_folds: int = parameter(10, "integer", low=2)
    n_rounds: int = parameter(2, "integer", low=1)
    random_state: RandomState = parameter(0, "random_state")

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        n_labeled, n_unlabeled = len(rows.labeled), len(rows.unlabeled)
        n = n_labeled + n_unlabeled
        labeled = np.arange(n) < n_labeled
        parts = _interval_codes(np.vstack((rows.labeled, rows.unlabeled)), self.n_intervals)
        folds = rng.permutation(np.arange(n) % self.n_folds)
        share, by_fold = 0.5, np.empty(0)
        for _ in range(self.n_rounds):
            by_fold = np.array(
                [self._best_bound(parts, labeled, folds == f, share) for f in np.unique(folds)]
            )
            share = float(by_fold.mean())
        # All labeled positives are in the data, so that no fewer are possible.
        pooled = min(max(n_labeled / n, n_labeled / n / share if share > 0 else 1.0), 1.0)
        a = (pooled * n - n_labeled) / n_unlabeled
        notes = []
        if not a < 1:
            notes.append("no part of the data has a provable share of labeled rows: alpha = 1")
        details = {
            "labeled_given_positive": share,
            "by_fold": by_fold,
            "pooled_prior": pooled,
            "at_edge": not 0 < a < 1,
        }
        return Inclusions(min(max(a, 0.0), 1.0), notes=tuple(notes), details=details)

    def _best_bound(
        self, parts: IntArray, labeled: BoolArray, on_tree: BoolArray, share: float
    ) -> float:
        """Highest lower bound on the label frequency, over all nodes of a tree.

        The tree is grown on one fold, best node first; bounds are those of the other folds.
        """
        tree, held_out = np.flatnonzero(on_tree), np.flatnonzero(~on_tree)
        error = _failure_probability(held_out.size) if self.error is None else float(self.error)
        spread = share * (1 - share) * (1 - error) / error
        min_size = _smallest_size(labeled.size) if self.min_size is None else self.min_size
        n_features = parts.shape[1]
        keys = 2 * (parts + self.n_intervals * np.arange(n_features)) + labeled[:, None]
        best = float(labeled[held_out].mean())  # of everything, which needs no proof
        fewest = 1.0  # labeled rows a node needs to beat the best bound so far
        turn = count()
        queue = [(0.0, 0, next(turn), tree, held_out, np.arange(n_features))]
        for _ in range(self.max_splits):
            if not queue:
                break
            *_, tree, held_out, features = heapq.heappop(queue)
            totals, with_label = _tallies(keys, held_out, features, self.n_intervals)
            useful = with_label.max(axis=1, initial=0) >= fewest
            if not useful.any():
                continue
            features, totals, with_label = features[useful], totals[useful], with_label[useful]
            tree_totals, tree_labeled = _tallies(keys, tree, features, self.n_intervals)
            gains = (tree_labeled / np.maximum(tree_totals + self.max_bepp, 1)).max(axis=1)
            chosen = int(np.argmax(gains))
            if gains[chosen] <= 0 or np.count_nonzero(totals[chosen]) == 1:
                continue
            large = totals[chosen] >= min_size
            bounds = with_label[chosen][large] / totals[chosen][large]
            bounds = bounds - np.sqrt(spread / totals[chosen][large])
            best = max(best, float(bounds.max(initial=0)))
            if best >= 1:
                break
            fewest = spread / (1 - best) ** 2
            few, some = tree_labeled[chosen], tree_totals[chosen]
            promising = (with_label[chosen] > fewest) & (some > min_size) & (few > 0) & (few < some)
            column, rest = parts[:, features[chosen]], np.delete(features, chosen)
            for part in np.flatnonzero(promising):
                urgency = -lower_bound(some[part], few[part], spread)
                sides = (rows[column[rows] == part] for rows in (tree, held_out))
                heapq.heappush(queue, (urgency, -int(few[part]), next(turn), *sides, rest))
        return best


def _tallies(
    keys: IntArray, rows: IntArray, features: IntArray, n_intervals: int
) -> tuple[IntArray, IntArray]:
    """All rows and labeled ones in each part of features, of shape (n_features, n_intervals).

    They are counted in one pass: the key of a row and feature is the part and the label.
    """
    n_features = keys.shape[1]
    some = keys[rows] if features.size == n_features else keys[rows[:, None], features]
    tally = np.bincount(some.ravel(), minlength=2 * n_intervals * n_features)
    tally = tally.reshape(-1, n_intervals, 2)[features]
    return tally.sum(axis=2), tally[:, :, 1]


def _failure_probability(n: int) -> float:
    """The delta of the article for n rows."""
    return max(0.025, 1 / (1 + 0.004 * n))


def _smallest_size(n: int) -> float:
    """Examples a node needs where there are n in all."""
    return max(10.0, n**0.5 / 3)


def lower_bound(total: float, labeled: float, spread: float) -> float:
    r"""L/T less its margin; ``spread`` is :math:`\ell(1-\ell)(1-\delta)/\delta`."""
    return float(labeled / total - np.sqrt(spread / total))


def _interval_codes(rows: FloatArray, n_intervals: int) -> IntArray:
    """For each feature that varies, the interval of its range that a row lies in."""
    with np.errstate(over="ignore"):
        wide = ~np.isfinite(np.ptp(rows, axis=0))
    rows = np.where(wide, rows / 4, rows)  # lest the range overflow
    low, width = rows.min(axis=0), np.ptp(rows, axis=0)
    varied = width > 0
    scaled = (rows[:, varied] - low[varied]) / width[varied]
    borders = np.arange(1, n_intervals) / n_intervals
    return np.searchsorted(borders, scaled, side="right")
