from __future__ import annotations

import heapq
import math

import numpy as np
import pytest

from purecover import simulate
from purecover.estimators import tice as _tice
from purecover.estimators.rows import Rows
from purecover.estimators.tice import TIcE
from purecover.exceptions import InvalidInputError, InvalidTypeError

ARTICLE = {"n_intervals": 4, "max_bepp": 5, "min_size": 10, "error": None, "n_folds": 5}


def features(n_labeled, n_unlabeled, *, alpha, apart, dimensions, seed):
    """Normal features, the two means so far apart along the diagonal."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(n_labeled + n_unlabeled) < n_labeled
    positive = labeled | (rng.random(labeled.size) < alpha)
    X = rng.normal(size=(labeled.size, dimensions))
    return X + positive[:, None] * apart / np.sqrt(dimensions), labeled


# -- the tree, by sets of rows ----------------------------------------------------------------


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
    rows = Rows(X[labeled], X[~labeled])
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


def test_intervals_of_a_range():
    codes = _tice._interval_codes(np.array([[0.0, 7], [1, 7], [2, 7], [3.99, 7], [4, 7]]), 4)
    assert codes.tolist() == [[0], [1], [2], [3], [3]]  # a constant feature is left out
    wide = np.array([[-1.7e308], [0.0], [1.7e308]])
    assert _tice._interval_codes(wide, 4).tolist() == [[0], [2], [3]]


# -- what it finds ----------------------------------------------------------------------------


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


def test_smallest_size():
    assert _tice._smallest_size(100) == 10
    assert _tice._smallest_size(90_000) == pytest.approx(100)


def test_ten_dimensions():
    # The means are 2 apart: in one feature, or along the diagonal, where no box is pure.
    data = in_one_of(10, 12_000, alpha=0.25, apart=2, seed=0)
    assert TIcE().fit(*data).proportions_.alpha == pytest.approx(0.25, abs=0.13)
    data = features(1000, 10_000, alpha=0.25, apart=2, dimensions=10, seed=0)
    assert TIcE().fit(*data).proportions_.alpha > 0.25 + 0.1


def test_leans_high_in_many_dimensions():
    # As far apart as they are in two dimensions, where it is right.
    def mean_alpha(dimensions):
        data = (
            features(300, 1500, alpha=0.2, apart=3, dimensions=dimensions, seed=s) for s in range(4)
        )
        return np.mean([TIcE(**ARTICLE).fit(*d).proportions_.alpha for d in data])

    assert mean_alpha(30) > mean_alpha(2) + 0.1


def test_the_margin_of_the_article_leans_high():
    data = features(1000, 10_000, alpha=0.25, apart=2, dimensions=1, seed=0)
    assert TIcE(**ARTICLE).fit(*data).proportions_.alpha > 0.25 + 0.15
    assert TIcE().fit(*data).proportions_.alpha == pytest.approx(0.25, abs=0.12)


def test_leans_low_where_many_boxes_are_pure():
    data = [features(1000, 5000, alpha=0.25, apart=5, dimensions=3, seed=s) for s in range(4)]
    bold, cautious = (
        np.mean([TIcE(error=error, min_size=10).fit(*d).proportions_.alpha for d in data])
        for error in (0.2, 0.05)
    )
    assert bold < 0.25 - 0.02
    assert cautious > bold + 0.05
    # Larger boxes are the default, and lean low less.
    assert np.mean([TIcE().fit(*d).proportions_.alpha for d in data]) > bold + 0.03


def test_scores_are_one_feature():
    sample = simulate.binormal(3).sample(500, 2000, alpha=0.3, random_state=0)
    scores, labeled = sample.scores, sample.labeled
    column = TIcE().fit(scores[:, None], labeled).proportions_
    assert TIcE().fit(scores, labeled).proportions_ == column
    assert column.alpha == pytest.approx(0.3, abs=0.1)


def test_units_do_not_matter():
    X, labeled = features(200, 800, alpha=0.3, apart=3, dimensions=3, seed=0)
    plain = TIcE().fit(X, labeled).proportions_.alpha
    moved = X * np.array([2.0, 0.25, 1024]) + np.array([0, 0, 64])
    with_constant = np.column_stack((X, np.ones(len(X))))
    assert TIcE().fit(moved, labeled).proportions_.alpha == pytest.approx(plain, abs=0.02)
    assert TIcE().fit(with_constant, labeled).proportions_.alpha == plain


def test_folds_follow_the_seed():
    data = features(200, 800, alpha=0.3, apart=3, dimensions=3, seed=0)
    first, again, other = (TIcE(random_state=s).fit(*data).proportions_.alpha for s in (1, 1, 2))
    assert first == again
    assert first != other
    assert first == pytest.approx(other, abs=0.1)


def test_diagnostics():
    X, labeled = features(200, 800, alpha=0.3, apart=3, dimensions=3, seed=0)
    found = TIcE().fit(X, labeled)
    share = found.diagnostics_["labeled_given_positive"]
    assert found.diagnostics_["by_fold"].shape == (10,)
    assert share == pytest.approx(found.diagnostics_["by_fold"].mean())
    assert found.diagnostics_["pooled_prior"] == pytest.approx(0.2 / share)
    assert found.n_features_in_ == 3


@pytest.mark.parametrize("n_features", [1, 5])
def test_interval_holds_the_estimate(n_features):
    found = []
    for seed in range(6):
        X, labeled = in_one_of(n_features, 3000, alpha=0.25, apart=3, seed=seed)
        found.append(TIcE().fit(X, labeled).interval(n_resamples=20)["alpha"])
    assert all(alpha.low < alpha.estimate < alpha.high for alpha in found)
    assert sum(0.25 in alpha for alpha in found) >= 4


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"n_intervals": 1}, InvalidInputError),
        ({"max_bepp": -1}, InvalidInputError),
        ({"max_splits": 0}, InvalidInputError),
        ({"min_size": 0}, InvalidInputError),
        ({"error": 1}, InvalidInputError),
        ({"error": "x"}, InvalidTypeError),
        ({"n_folds": 1}, InvalidInputError),
        ({"n_rounds": 1.5}, InvalidTypeError),
        ({"random_state": -1}, InvalidTypeError),
    ],
)
def test_bad_parameters(parameters, error):
    (parameter,) = parameters
    with pytest.raises(error, match=f"'{parameter}' parameter of TIcE"):
        TIcE(**parameters).fit([3, 2, 1, 0], [1, 0, 1, 0])
