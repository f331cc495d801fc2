"""TIcE: the tree against one of sets, and what it finds."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest

from purecover_paper.systems import tice as _tice
from purecover_paper.systems.rows import FeatureRows
from purecover_paper.systems.tice import TIcE

ARTICLE = {"n_intervals": 4, "max_bepp": 5, "min_size": 10, "error": None, "n_folds": 5}


def features(n_labeled, n_unlabeled, *, alpha, apart, dimensions, seed):
    """Normal features, the two means so far apart along the diagonal."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(n_labeled + n_unlabeled) < n_labeled
    positive = labeled | (rng.random(labeled.size) < alpha)
    X = rng.normal(size=(labeled.size, dimensions))
    return X + positive[:, None] * apart / np.sqrt(dimensions), labeled


def slow_bound(total, labeled, delta, share):
    return labeled / total - math.sqrt(share * (1 - share) * (1 - delta) / (delta * total))


def slow_fold(X, labeled, tree, held_out, share, settings):
    """One fold of the algorithm with plain sets, scaled features and no arrays of counts."""
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    k, n_intervals = settings["max_bepp"], settings["n_intervals"]
    delta = settings["error"] or max(0.025, 1 / (1 + 0.004 * len(held_out)))
    marked = set(np.flatnonzero(labeled))

    def split(rows, feature):
        parts = [set() for _ in range(n_intervals)]
        for row in rows:
            part = sum(scaled[row, feature] >= j / n_intervals for j in range(1, n_intervals))
            parts[part].add(row)
        return parts

    best = len(held_out & marked) / len(held_out)
    fewest, turn = 1, 0
    queue = [(0, 0, 0, tree, held_out, set(range(X.shape[1])))]
    for _ in range(500):
        if not queue:
            break
        *_, tree, held_out, available = heapq.heappop(queue)
        chosen, top, useless = None, -1, set()
        for feature in sorted(available):
            if max(len(part & marked) for part in split(held_out, feature)) < fewest:
                useless.add(feature)
                continue
            gain = max(
                len(part & marked) / (len(part) + k) if part else 0 for part in split(tree, feature)
            )
            if gain > top:
                chosen, top = feature, gain
        if top <= 0:
            continue
        parts = split(held_out, chosen)
        if sum(bool(part) for part in parts) == 1:
            continue
        for part in parts:
            if len(part) >= 10:
                best = max(best, slow_bound(len(part), len(part & marked), delta, share))
        fewest = share * (1 - share) * (1 - delta) / (delta * (1 - best) ** 2)
        for on_tree, part in zip(split(tree, chosen), parts, strict=True):
            few, total = len(on_tree & marked), len(on_tree)
            if len(part & marked) > fewest and total > 10 and 0 < few < total:
                turn += 1
                urgency = -slow_bound(total, few, delta, share)
                rest = available - {chosen} - useless
                heapq.heappush(queue, (urgency, -few, turn, on_tree, part, rest))
    return best


@pytest.mark.parametrize("dimensions", [1, 2, 4])
@pytest.mark.parametrize(
    "settings",
    [ARTICLE, {"n_intervals": 10, "max_bepp": 10, "min_size": 10, "error": 0.2, "n_folds": 3}],
    ids=["article", "finer"],
)
def test_equals_a_tree_of_sets(dimensions, settings):
    X, labeled = features(150, 450, alpha=0.3, apart=3, dimensions=dimensions, seed=dimensions)
    folds = np.random.default_rng(0).permutation(np.arange(600) % settings["n_folds"])
    share = 0.5
    for _ in range(2):
        expected = [
            slow_fold(
                X, labeled, set(np.flatnonzero(folds == f)), set(np.flatnonzero(folds != f)),
                share, settings,
            )
            for f in range(settings["n_folds"])
        ]  # fmt: skip
        share = np.mean(expected)
    rows = FeatureRows(X[labeled], X[~labeled])
    found = TIcE(**settings)._estimate_rows(rows, np.random.default_rng(0))
    np.testing.assert_allclose(found.details["by_fold"], expected, rtol=1e-12)
    assert found.details["labeled_given_positive"] == pytest.approx(share)
    pooled = 150 / 600 / share
    assert found.a == pytest.approx((600 * pooled - 150) / 450)


def test_worked_bound():
    delta = _tice._failure_probability(800)
    assert delta == pytest.approx(0.2380952, abs=1e-7)
    spread = 0.5 * 0.5 * (1 - delta) / delta
    assert _tice.lower_bound(200, 120, spread) == pytest.approx(0.5367544, abs=1e-7)
    assert _tice._failure_probability(100) == pytest.approx(0.7142857, abs=1e-7)
    assert _tice._failure_probability(1000) == pytest.approx(0.2)
    assert _tice._failure_probability(9750) == pytest.approx(0.025)
    assert _tice._failure_probability(10**6) == 0.025


@pytest.mark.slow
def test_finds_alpha_where_a_box_is_pure():
    for alpha in (0.1, 0.4):
        found = [
            TIcE().fit(*features(1000, 4000, alpha=alpha, apart=5, dimensions=2, seed=s))
            for s in range(4)
        ]
        errors = [e.proportions_.alpha - alpha for e in found]
        assert np.mean(np.abs(errors)) < 0.05


def in_one_of(dimensions, n, *, alpha, apart, seed):
    """Normal features, of which only the first tells the classes apart; a sixth are labeled."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(n) < n // 6
    positive = labeled | (rng.random(n) < alpha)
    X = rng.normal(size=(n, dimensions))
    X[:, 0] += apart * positive
    return X, labeled


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.25, 0.6])
def test_error_does_not_grow_with_the_data(alpha):
    # A fixed size makes boxes more and more numerous, and the luckiest of them decides.
    def errors(n, **settings):
        data = (in_one_of(5, n, alpha=alpha, apart=3, seed=s) for s in range(96_000 // n))
        return np.array([TIcE(**settings).fit(*d).proportions_.alpha - alpha for d in data])

    few, many = errors(12_000), errors(96_000)
    assert np.abs(many).mean() < np.abs(few).mean() + 0.02
    assert np.abs(many).mean() < 0.08
    assert errors(96_000, min_size=10).mean() < many.mean() - 0.1
