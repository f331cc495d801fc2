from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from tests.prior_dummies import Blind, Fixed, FixedNoisy

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators import scar as _clustered
from purecover.estimators.bbe import BBE
from purecover.estimators.rows import Rows
from purecover.estimators.scar import ClusteredLabels, out_of_fold_scores
from purecover.estimators.wrappers import NoisyLabels
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError


def two_kinds(seed=0, *, labeled=(450, 50), hidden=(400, 400), negatives=1200, distance=4.0, p=2):
    """Two kinds of positives, some labeled, and negatives; labeled rows first."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((3, p))
    centers[0, 0] = centers[1, 1] = distance
    kind = np.repeat([0, 1, 0, 1, 2], [*labeled, *hidden, negatives])
    X = centers[kind] + rng.normal(size=(kind.size, p))
    return X, np.arange(kind.size) < sum(labeled)


def alphas(estimator, seeds=3, **more):
    return np.mean([estimator.fit(*two_kinds(i, **more)).proportions_.alpha for i in range(seeds)])


@pytest.mark.parametrize("inner", [None, BBE()], ids=["default", "bbe"])
def test_helps_where_one_kind_is_labeled_rarely(inner):
    # In the limit all labeled together give the least of 0.2/0.9 and 0.2/0.1, instead of 0.4.
    assert alphas(ClusteredLabels(inner, n_clusters=1)) == pytest.approx(0.2 / 0.9, abs=0.03)
    assert alphas(ClusteredLabels(inner)) == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_one_skewed_kind_is_one_cluster(seed):
    # Half a dozen normal components describe it, and the sum over them would be far too high.
    rng = np.random.default_rng(seed)
    labeled = np.arange(5000) < 1000
    positive = np.arange(5000) < 2200
    X = np.where(
        positive[:, None], 1.5 + rng.exponential(1.5, size=(5000, 2)), rng.normal(size=(5000, 2))
    )
    found = ClusteredLabels().fit(X, labeled)
    assert found.diagnostics_["n_clusters"] == 1
    assert found.proportions_.alpha == pytest.approx(0.3, abs=0.03)
    split = ClusteredLabels(n_clusters=6).fit(X, labeled)
    assert split.proportions_.alpha > found.proportions_.alpha + 0.01


def test_merging():
    # The first two share rows, the third has its own.
    shares = np.array([[0.6, 0.4, 0], [0.4, 0.6, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 0.02, 0.98]])
    found = _clustered.merged(shares, 0.05)
    np.testing.assert_allclose(found, np.column_stack((shares[:, :2].sum(axis=1), shares[:, 2])))
    assert _clustered.merged(shares, 0.9) is shares
    assert _clustered.merged(np.ones((3, 1)), 0.05).shape == (3, 1)
    np.testing.assert_allclose(_clustered.merged(shares, 0.0).sum(axis=1), 1)
    # A component without rows of its own is taken in by none.
    empty = np.column_stack((shares[:, :2], np.zeros(5)))
    assert _clustered.merged(empty, 0.05).shape == (5, 2)


def test_no_harm_where_labels_are_random_and_kinds_lie_apart():
    found = alphas(ClusteredLabels(), labeled=(250, 250))
    assert found == pytest.approx(0.4, abs=0.03)


def test_a_kind_that_is_never_labeled_is_missing():
    assert alphas(ClusteredLabels(), labeled=(500, 0)) == pytest.approx(0.2, abs=0.03)


def test_labeled_negatives_make_a_cluster():
    # 150 negatives among the labeled: as a kind of positives, they claim all negatives.
    X, labeled = two_kinds(labeled=(350, 0), hidden=(400, 0))
    labeled[-150:] = True
    plain = ClusteredLabels(n_clusters=1).fit(X, labeled).proportions_.alpha
    try:
        found = ClusteredLabels(n_clusters=2).fit(X, labeled).proportions_.alpha
    except IdentifiabilityError:
        found = 1.0
    assert plain < 0.5
    assert found > 0.9


def test_too_many_clusters_err_upward():
    # One kind of positives cut into pieces that overlap: each piece claims more than its share.
    plain, cut = (
        alphas(ClusteredLabels(n_clusters=k), labeled=(300, 0), hidden=(400, 0), distance=2.0)
        for k in (1, 4)
    )
    assert cut > plain + 0.05


def test_says_what_it_found():
    estimator = ClusteredLabels().fit(*two_kinds())
    found = estimator.diagnostics_
    assert found["n_clusters"] == 2
    assert sorted(found["labeled"]) == pytest.approx([0.1, 0.9], abs=0.01)
    assert sum(found["alphas"]) == pytest.approx(estimator.proportions_.alpha)
    assert estimator.proportions_.beta == 1
    assert estimator.n_features_in_ == 2
    json.dumps(dict(found), allow_nan=False)


def test_sum_over_clusters():
    estimator = ClusteredLabels(Fixed(0.15, notes=("beware",)), n_clusters=3).fit(*two_kinds())
    assert estimator.proportions_.alpha == pytest.approx(0.45)
    notes = estimator.diagnostics_["notes"]
    assert [note for note in notes if "beware" in note] == [
        f"cluster {k} of 3: beware" for k in (1, 2, 3)
    ]
    with pytest.raises(IdentifiabilityError, match="cannot be told apart"):
        ClusteredLabels(Fixed(0.4), n_clusters=3).fit(*two_kinds())


def test_fewer_distinct_rows_than_clusters():
    X, labeled = two_kinds()
    X[labeled] = np.round(X[labeled]).clip(4, 5)[:, :1] * [1, 0]
    found = ClusteredLabels(Fixed(0.1), n_clusters=7).fit(X, labeled).diagnostics_
    assert found["n_clusters"] <= 2
    assert any("could be told apart" in note for note in found["notes"])


def test_one_cluster_of_few():
    X, labeled = two_kinds(labeled=(60, 30))
    assert ClusteredLabels().fit(X, labeled).diagnostics_["n_clusters"] == 1


def test_random_state():
    X, labeled = two_kinds(negatives=300, hidden=(100, 100))
    first, again = (ClusteredLabels(BBE()).fit(X, labeled).proportions_ for _ in range(2))
    assert first == again
    other = ClusteredLabels(BBE(), random_state=1).fit(X, labeled).proportions_
    assert other.alpha == pytest.approx(first.alpha, abs=0.05)
    assert other != first


def test_units_do_not_matter():
    X, labeled = two_kinds(negatives=300, hidden=(100, 100))
    plain = ClusteredLabels(BBE()).fit(X, labeled).proportions_.alpha
    for factor in (1e-200, 1e200):
        scaled = ClusteredLabels(BBE()).fit(factor * X, labeled).proportions_.alpha
        assert scaled == pytest.approx(plain, abs=0.02)


def test_any_classifier():
    X, labeled = two_kinds(negatives=600, hidden=(200, 200))
    forest = RandomForestClassifier(20, random_state=0)  # has predict_proba only
    for classifier in (forest, LogisticRegression()):
        found = ClusteredLabels(BBE(), classifier=classifier).fit(X, labeled)
        assert found.proportions_.alpha == pytest.approx(0.4, abs=0.1)
        assert not hasattr(classifier, "classes_")  # trained were copies


def test_scores_know_nothing_of_their_own_label():
    # On pure noise, a model that remembers would tell labeled from unlabeled.
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(size=(300, 3)), rng.normal(size=(600, 3)))
    forest = RandomForestClassifier(30, random_state=0)
    ours, others = out_of_fold_scores(rows, forest, rng)
    assert ours.shape == (300,)
    assert others.shape == (600,)
    above = (ours[:, None] > others).mean() + (ours[:, None] == others).mean() / 2
    assert above == pytest.approx(0.5, abs=0.08)


def test_scores_of_one_column():
    sample = simulate.binormal(4).sample(300, 1200, alpha=0.25, random_state=0)
    found = ClusteredLabels().fit(sample.scores, sample.labeled)
    assert found.proportions_.alpha == pytest.approx(0.25, abs=0.05)
    assert found.diagnostics_["n_clusters"] == 1
    assert ClusteredLabels().fit(sample.counts).proportions_ == found.proportions_


def test_intervals():
    X, labeled = two_kinds(labeled=(200, 60), hidden=(100, 100), negatives=300)
    estimator = ClusteredLabels(BBE()).fit(X, labeled)
    found = estimator.interval(n_resamples=10)["alpha"]
    assert found.low < estimator.proportions_.alpha + 0.05
    assert found.low < 0.4 < found.high + 0.1


def test_noisy_labels_around_it():
    X, labeled = two_kinds(labeled=(200, 60), hidden=(100, 100), negatives=300)
    assert NoisyLabels(ClusteredLabels(BBE())).fit(X, labeled).proportions_.alpha > 0.3


def test_too_few():
    with pytest.raises(IdentifiabilityError, match="two labeled and two unlabeled"):
        ClusteredLabels().fit(np.arange(12.0).reshape(6, 2), [1, 0, 0, 0, 0, 0])
    with pytest.raises(IdentifiabilityError, match="Blind sees nothing"):
        ClusteredLabels(Blind()).fit(*two_kinds())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiny = ScoreCounts.from_counts([3, 2, 1], [3, 1, 0], [1, 2, 3])
        assert 0 <= ClusteredLabels().fit(tiny).proportions_.alpha < 1


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"n_clusters": 0}, InvalidInputError, "'n_clusters' parameter of ClusteredLabels"),
        ({"n_clusters": "many"}, InvalidTypeError, "'auto' or a whole number"),
        ({"n_clusters": 2.5}, InvalidTypeError, "'n_clusters' parameter of ClusteredLabels"),
        ({"classifier": "forest"}, InvalidTypeError, "'classifier' parameter of ClusteredLabels"),
        ({"classifier": LogisticRegression}, InvalidTypeError, "a scikit-learn classifier"),
        ({"random_state": -1}, InvalidTypeError, "'random_state' parameter of ClusteredLabels"),
        ({"estimator": FixedNoisy()}, InvalidInputError, "takes labels as clean"),
    ],
)
def test_bad_parameters(parameters, error, words):
    with pytest.raises(error, match=words):
        ClusteredLabels(**parameters).fit(*two_kinds(negatives=50))


def test_threads_are_left_to_the_classifier_of_others(monkeypatch):
    """Clusters and the default classifier keep to one thread; what a user brings does not."""
    from threadpoolctl import threadpool_info, threadpool_limits

    seen = {"mixture": set(), "default": set(), "given": set()}

    def watched(name, function):
        def call(*args, **kwargs):
            seen[name] |= {pool["num_threads"] for pool in threadpool_info()}
            return function(*args, **kwargs)

        return call

    class Given(LogisticRegression):
        fit = watched("given", LogisticRegression.fit)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) + 4 * (np.arange(600) < 300)[:, None]
    labeled = np.arange(600) < 150
    monkeypatch.setattr(_clustered, "_mixture", watched("mixture", _clustered._mixture))
    with threadpool_limits(2):
        ClusteredLabels(classifier=Given()).fit(X, labeled)
        with monkeypatch.context() as patch:
            patch.setattr(LogisticRegression, "fit", watched("default", LogisticRegression.fit))
            ClusteredLabels().fit(X, labeled)
    assert seen == {"mixture": {1}, "default": {1}, "given": {2}}


@pytest.mark.parametrize(("n_features", "kind"), [(10, "full"), (11, "diag")])
def test_many_columns_have_no_full_covariances(n_features, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, n_features))
    assert _clustered._mixture(2, X, rng).covariance_type == kind


@pytest.mark.parametrize("sizes", [(1, 9), (9, 1)])
def test_a_single_example_has_no_scores_out_of_fold(sizes):
    rng = np.random.default_rng(0)
    labeled, unlabeled = (rng.normal(size=(n, 2)) for n in sizes)
    with pytest.raises(IdentifiabilityError, match="two labeled and two unlabeled"):
        out_of_fold_scores(Rows(labeled, unlabeled), None, rng)


def test_as_many_clusters_are_tried_as_there_are_rows_for():
    rng = np.random.default_rng(0)
    middles = np.repeat([[0, 0], [20, 0], [0, 20]], _clustered.FEWEST_LABELED, axis=0)
    found = ClusteredLabels()._clusters(middles + rng.normal(size=middles.shape), rng)
    assert len(np.unique(found)) == 3


@pytest.mark.parametrize(("n_features", "degree"), [(20, 2), (21, 1)])
def test_squares_are_for_few_features(n_features, degree):
    pipeline = _clustered._default_classifier(n_features)
    assert pipeline.named_steps["polynomialfeatures"].degree == degree
