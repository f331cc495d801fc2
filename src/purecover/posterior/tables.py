r"""`Tables`: draws of who is what in every group, and the figures that are asked of them.

Four numbers in each group make a complete confusion table at every threshold: positives and
negatives among the labeled, positives and negatives among the unlabeled. Every figure is a function
of them, however the labels came about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover._typing import FloatArray

ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Tables:
    """Rows by draw and group, from high to low scores.

    Attributes
    ----------
    labeled : ndarray of shape (n, n_groups)
        Labeled rows that are positive.
    wrong : ndarray of shape (n, n_groups)
        Labeled rows that are negative.
    hidden : ndarray of shape (n, n_groups)
        Unlabeled rows that are positive.
    negative : ndarray of shape (n, n_groups)
        Unlabeled rows that are negative.
    """

    labeled: FloatArray
    wrong: FloatArray
    hidden: FloatArray
    negative: FloatArray

    @property
    def auc(self) -> FloatArray:
        """AUC of all positives."""
        return outranked(self.labeled + self.hidden, self.negative + self.wrong)

    @property
    def auc_like_labeled(self) -> FloatArray:
        """AUC of positives like the labeled ones."""
        return outranked(self.labeled, self.negative)

    @property
    def auc_hidden(self) -> FloatArray:
        """AUC of hidden positives."""
        return outranked(self.hidden, self.negative)

    @property
    def theta(self) -> FloatArray:
        """Probability that a labeled positive outranks a hidden one."""
        return outranked(self.labeled, self.hidden)

    @property
    def alpha(self) -> FloatArray:
        """Share of positives among the unlabeled."""
        return self.precision()

    @property
    def beta(self) -> FloatArray:
        """Share of positives among the labeled."""
        return _ratio(self.labeled.sum(-1), (self.labeled + self.wrong).sum(-1))

    def n_hidden(self, groups: slice = ALL) -> FloatArray:
        """Return the number of positives among these unlabeled rows."""
        return np.asarray(self.hidden[:, groups].sum(-1))

    def precision(self, groups: slice = ALL) -> FloatArray:
        """Return the share of positives among these unlabeled rows."""
        return _ratio(self.n_hidden(groups), (self.hidden + self.negative)[:, groups].sum(-1))

    def recall(self, groups: slice) -> FloatArray:
        """Return the share of all positives that are in these groups."""
        positive = self.labeled + self.hidden
        return _ratio(positive[:, groups].sum(-1), positive.sum(-1))


def outranked(high: FloatArray, low: FloatArray) -> FloatArray:
    """Return how often a row of the first kind outranks one of the second, 1/2 without any."""
    above = np.cumsum(high, axis=-1) - high / 2
    pairs = high.sum(-1) * low.sum(-1)
    return _ratio((low * above).sum(-1), pairs, empty=0.5)


def _ratio(part: FloatArray, whole: FloatArray, empty: float = 0.0) -> FloatArray:
    return np.where(whole > 0, part / np.maximum(whole, 1e-300), empty)
