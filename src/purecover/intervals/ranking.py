"""Metrics of rankings by query where labels are missing."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import encode_labels
from purecover._typing import ArrayLike, BoolArray, FloatArray, RandomState
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.intervals.interval import Interval, check_level
from purecover.intervals.resampling import positions, read_groups
from purecover.proportions import MixtureProportions
from purecover.recovery.means import Masses, isotonic_frequency
from purecover.recovery.rates import check_data


@dataclass(frozen=True, kw_only=True)
class RecoveredRanking(Saved):
    """Metrics of rankings, means over queries that have a positive.

    Attributes
    ----------
    reciprocal_rank : Interval
        One over the rank of the first positive.
    hits : Interval
        Share of queries with a positive among the first ``k``.
    ndcg : Interval
        Normalized discounted cumulative gain of the first ``k``, with a gain of 1 for positives.
    observed : dict of str to float
        The same where all that is unlabeled counts as negative.
    k, n_queries : int
        How far down is looked, and how many queries there are.
    """

    reciprocal_rank: Interval
    hits: Interval
    ndcg: Interval
    observed: dict[str, float]
    k: int
    n_queries: int


_NAMES = ("reciprocal_rank", "hits", "ndcg")


def ranking_metrics(positive: BoolArray, rank: Any, starts: Any, k: int) -> FloatArray:
    """Reciprocal rank, hits and NDCG of each query, a row each; NaN without a positive."""
    discount = np.where(rank <= k, 1 / np.log2(rank + 1.0), 0.0)
    longest = int(rank.max())
    ideal = np.cumsum(np.where(np.arange(longest) < k, 1 / np.log2(np.arange(longest) + 2.0), 0.0))
    first = np.minimum.reduceat(np.where(positive, rank, longest + 1), starts)
    number = np.add.reduceat(positive.astype(np.int64), starts)
    some = number > 0
    gain = np.add.reduceat(positive * discount, starts) / ideal[np.maximum(number, 1) - 1]
    return np.where(some, np.stack([1 / first, first <= k, gain]), np.nan)


@public
def recover_ranking(
    scores: ArrayLike,
    labeled: ArrayLike,
    groups: ArrayLike,
    proportions: MixtureProportions,
    *,
    k: int = 10,
    n_resamples: int = 500,
    confidence_level: float = 0.95,
    random_state: RandomState = None,
) -> RecoveredRanking:
    r"""Expected reciprocal rank, hits at k and NDCG of rankings whose labels are incomplete.

    For retrieval, recommendation and knowledge graphs, where what carries no label may be relevant
    all the same, and counting it as irrelevant makes every ranking look worse than it is.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores of candidates; larger is ranked higher within a query.
    labeled : array-like of shape (n,)
        True where a candidate carries the positive label.
    groups : array-like of shape (n,)
        Which query a candidate belongs to.
    proportions : MixtureProportions
        Alpha and beta over all queries together.
    k : int, default=10
        How far down hits and NDCG look.
    n_resamples : int, default=500
        Draws of the missing labels, and of queries.
    confidence_level : float, default=0.95
        Of the intervals.
    random_state : int, numpy.random.Generator or None, default=None
        Where randomness comes from.

    Returns
    -------
    RecoveredRanking
        Each metric with its interval, and as it would be observed.

    Notes
    -----
    Assumes that labels are missing at random within a query: whether a positive got its label
    depends neither on its score nor on which others are labeled. And that the share of positives
    among unlabeled candidates of one score, :math:`p(s) = \alpha f_1(s)/f_U(s)` from all queries
    together, holds in each query, independently for each candidate. Where some queries have far
    more positives than others at the same score, hits come out too large.

    Reciprocal rank, hits and NDCG are no means over candidates, so the classes themselves are
    drawn: unlabeled candidates are positive with :math:`p(s)`, labeled ones with the same formula
    for :math:`\beta` (surely, if labels are clean). Figures are means over draws; intervals draw
    the queries, too, and take alpha, beta and :math:`p` as exact. Ties are broken at random.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import MixtureProportions
    >>> from purecover.intervals import recover_ranking
    >>> rng = np.random.default_rng(0)
    >>> queries = np.repeat(np.arange(300), 20)
    >>> truth = rng.random(6000) < 0.2
    >>> scores = rng.normal(size=6000) + 2 * truth
    >>> labeled = truth & (rng.random(6000) < 0.5)
    >>> alpha = truth[~labeled].mean()
    >>> few = {"n_resamples": 200, "random_state": 0}
    >>> found = recover_ranking(scores, labeled, queries, MixtureProportions(alpha), k=1, **few)
    >>> best = np.lexsort((-scores, queries))[::20]
    >>> float(truth[best].mean()) in found.hits, found.hits.estimate > found.observed["hits"]
    (True, True)
    """
    valid.check_alignment(scores, labeled)
    values = valid.as_real_vector("scores", scores)
    marked, _ = encode_labels(labeled, values.size)
    counts = ScoreCounts._from_marks(values, marked)
    check_data(counts, proportions)
    k = valid.check_integer("k", k, low=1)
    n_resamples = valid.check_integer("n_resamples", n_resamples, low=1, high=10**7)
    level, rng = check_level(confidence_level), valid.check_random_state(random_state)
    codes = read_groups(groups, values.size, None)
    masses, place = (
        Masses.of(counts, proportions.alpha, proportions.beta),
        positions(counts, values),
    )
    shares = [isotonic_frequency(masses, each) for each in (proportions.alpha, proportions.beta)]
    chance = np.where(marked, shares[1][place], shares[0][place])
    starts = np.flatnonzero(np.diff(np.sort(codes), prepend=-1))
    sizes = np.diff(np.append(starts, codes.size))
    rank = np.arange(codes.size) - np.repeat(starts, sizes) + 1
    seen, drawn, again = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of draws in which no query has a positive
        for _ in range(n_resamples):
            order = np.lexsort((rng.random(codes.size), -values, codes))
            positive = rng.random(codes.size) < chance[order]
            each = ranking_metrics(positive, rank, starts, k)
            rows = rng.integers(starts.size, size=starts.size)
            drawn.append(np.nanmean(each, axis=1))
            again.append(np.nanmean(each[:, rows], axis=1))
            seen.append(np.nanmean(ranking_metrics(marked[order], rank, starts, k), axis=1))
        means, observed = np.nanmean(drawn, axis=0), np.nanmean(seen, axis=0)
        ends = np.nanquantile(again, [(1 - level) / 2, (1 + level) / 2], axis=0)
    intervals = {
        name: Interval(
            estimate=float(means[i]),
            low=float(min(ends[0, i], means[i])),
            high=float(max(ends[1, i], means[i])),
            confidence_level=level,
            method="draws of classes and queries",
        )
        for i, name in enumerate(_NAMES)
    }
    return RecoveredRanking(
        **intervals,
        observed=dict(zip(_NAMES, observed.tolist(), strict=True)),
        k=k,
        n_queries=int(starts.size),
    )
