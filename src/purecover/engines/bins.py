"""Bins of neighboring scores: their counts, and which of them to split; cells of several scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover.exceptions import InvalidInputError

EXACT_LIMIT = 500_000
"""Frames with at most about so many distinct scores are counted exactly."""

Group = Any
"""A value of the column named by ``by``; None where there is none."""


def changed(parameter: str, got: str) -> InvalidInputError:
    """Return an error for a frame that is different each time, such as one with random numbers."""
    hint = "store or cache it first: random numbers and samples are drawn anew each time"
    return valid.bad_value(parameter, "the same each time it is evaluated", got, hint)


TALLIES = ("labeled", "unlabeled", "negative", "labeled_sq", "unlabeled_sq")


@dataclass(frozen=True, kw_only=True, eq=False)
class Bins:
    """Counts of the scores from ``low`` to ``high``, in increasing order of ``key``.

    ``rows`` is the number of rows whatever their weights. ``twins`` marks bins whose smallest or
    largest labeled score is also that of the unlabeled: a sign of few distinct scores.
    """

    key: Any
    low: FloatArray
    high: FloatArray
    rows: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    negative: FloatArray
    labeled_sq: FloatArray
    unlabeled_sq: FloatArray
    twins: BoolArray

    @classmethod
    def of(cls, key: Any, low: Any, high: Any, rows: Any, tallies: Mapping[str, Any]) -> Bins:
        """Add up the rows of a query that have the same key."""
        low, high = low + 0.0, high + 0.0  # -0.0 is written 0.0
        mixed = (tallies["labeled"] > 0) | (tallies["unlabeled"] > 0)
        found = cls(key=key, low=low, high=high, rows=rows, twins=mixed, **tallies)
        found = found.taken(np.argsort(key, kind="stable"))
        starts = np.flatnonzero(np.append(True, found.key[1:] != found.key[:-1]))
        return replace(found._summed(starts), twins=found._equal_ends(starts))

    def _equal_ends(self, starts: Any) -> BoolArray:
        """Return which keys have two rows with one smallest or one largest score."""
        several = np.add.reduceat(self.twins.astype(np.int64), starts) > 1
        ends = (np.where(self.twins, end, np.nan) for end in (self.low, self.high))
        same = [np.fmin.reduceat(e, starts) == np.fmax.reduceat(e, starts) for e in ends]
        return np.asarray((same[0] | same[1]) & several)

    def _summed(self, starts: Any) -> Bins:
        """Return neighbors as one bin, from each of these to the next."""
        return Bins(
            key=self.key[starts],
            low=np.minimum.reduceat(self.low, starts),
            high=np.maximum.reduceat(self.high, starts),
            rows=np.add.reduceat(self.rows, starts),
            twins=np.logical_or.reduceat(self.twins, starts),
            **{name: np.add.reduceat(getattr(self, name), starts) for name in TALLIES},
        )

    def taken(self, which: Any) -> Bins:
        """Return some of the bins."""
        return replace(self, **{f.name: getattr(self, f.name)[which] for f in fields(self)})

    @classmethod
    def joined(cls, parts: Sequence[Bins]) -> Bins:
        """Return all bins in increasing order of score, those that overlap as one.

        Keys increase with scores except for rounding.
        """
        columns = {f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)}
        found = cls(**columns).taken(np.argsort(columns["low"], kind="stable"))
        reach = np.maximum.accumulate(found.high)
        return found._summed(np.flatnonzero(np.append(True, found.low[1:] > reach[:-1])))

    @property
    def tied(self) -> BoolArray:
        """Bins with one score only."""
        return np.asarray(self.low == self.high)

    @property
    def pairs(self) -> float:
        """Pairs of a labeled and an unlabeled row."""
        return float(self.labeled.sum()) * float(self.unlabeled.sum())

    def slack(self, pairs: float) -> FloatArray:
        r"""Return how far the order within each bin can change the observed AUC: :math:`p_i q_i`.

        The AUC is within half the sum on either side; a bin of one score has no slack.
        """
        return np.where(self.tied, 0.0, self.labeled * self.unlabeled / max(pairs, 1e-300))

    def crowded(self, pairs: float, allowed: float) -> Any:
        """Return the keys of the bins with the largest slack; none if the sum is ``allowed``.

        The other bins have at most half of what is allowed.
        """
        slack = self.slack(pairs)
        order = np.argsort(-slack, kind="stable")
        rest = slack.sum() - np.cumsum(slack[order])
        n = 0 if slack.sum() <= allowed else int(np.argmax(rest <= allowed / 2)) + 1
        return self.key[order[:n]]

    def distinct(self) -> float:
        r"""Estimate the number of distinct scores, which is never more than the rows.

        Where the smallest labeled score of a bin equals the smallest unlabeled one, scores
        repeat. With :math:`\lambda` labeled rows per distinct score that happens with a
        probability of about :math:`1 - e^{-\lambda}`, and so with the largest; this solves for
        :math:`\lambda` (with the rarer sample in the place of the labeled).
        """
        untied = ~self.tied
        n_tied, n_rows = float(self.tied.sum()), float(self.rows[untied].sum())
        n_twins = float(self.rows[untied & self.twins].sum())
        if not n_twins > 0:
            return n_tied + n_rows
        share = min(n_twins / n_rows, 1 - 0.5 / untied.sum())
        # Weighted rows count by their weights here; the estimate is rough.
        sides = self.labeled[untied].sum(), self.unlabeled[untied].sum()
        rarer = n_rows * float(min(sides) / sum(sides))
        return n_tied + min(2 * rarer / -np.log1p(-share), n_rows)


@dataclass(frozen=True, eq=False)
class JointCells:
    """Counts of rows that no score distinguishes.

    Attributes
    ----------
    place : mapping of str to ndarray of int
        By score: the cell of each, numbered from the lowest.
    labeled : ndarray of bool
        Whether its rows are labeled; known negatives are left out.
    rows : ndarray of int
        How many rows there are.
    """

    place: Mapping[str, IntArray]
    labeled: BoolArray
    rows: IntArray
