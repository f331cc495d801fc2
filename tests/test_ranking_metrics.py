"""Metrics of rankings by query against the truth and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from purecover import MixtureProportions
from purecover.exceptions import InvalidInputError
from purecover.intervals import recover_ranking
from purecover.intervals.ranking import ranking_metrics


def test_metrics_are_those_of_plain_loops() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, size=40)
    positive, k = rng.random(sizes.sum()) < 0.3, 3
    starts = np.cumsum(sizes) - sizes
    rank = np.concatenate([np.arange(1, n + 1) for n in sizes])
    found = ranking_metrics(positive, rank, starts, k)
    for i, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        own = positive[start : start + size].tolist()
        if not any(own):
            assert np.isnan(found[:, i]).all()
            continue
        gain = sum(y / np.log2(r + 2) for r, y in enumerate(own[:k]))
        best = sum(1 / np.log2(r + 2) for r in range(min(sum(own), k)))
        expected = [1 / (own.index(True) + 1), float(any(own[:k])), gain / best]
        assert found[:, i] == pytest.approx(expected)


@pytest.mark.slow
def test_recovered_metrics_are_the_true_ones() -> None:
    rng = np.random.default_rng(1)
    n_queries, size, k = 1500, 15, 3
    groups = np.repeat(np.arange(n_queries), size)
    truth = rng.random(groups.size) < 0.2
    scores = (rng.normal(size=groups.size) + 2 * truth).round(3)
    labeled = truth & (rng.random(groups.size) < 0.4)
    shares = MixtureProportions(float(truth[~labeled].mean()), scenario="censoring")
    found = recover_ranking(scores, labeled, groups, shares, k=k, n_resamples=60, random_state=0)
    order = np.lexsort((-scores, groups))
    rank = np.tile(np.arange(1, size + 1), n_queries)
    true = np.nanmean(ranking_metrics(truth[order], rank, np.arange(0, rank.size, size), k), axis=1)
    for name, value in zip(("reciprocal_rank", "hits", "ndcg"), true, strict=True):
        interval = getattr(found, name)
        assert interval.estimate == pytest.approx(value, abs=0.02)
        assert found.observed[name] < value - 0.05
    with pytest.raises(InvalidInputError, match="'groups'"):
        recover_ranking(scores, labeled, groups[:5], shares)
