"""ClusteredLabels: clusters that are found, merged and added up."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.prior_dummies import Fixed

from purecover.estimators.bbe import BBE
from purecover.exceptions import IdentifiabilityError
from purecover_paper.systems import ClusteredLabels
from purecover_paper.systems import clustered as _clustered
from purecover_paper.systems.rows import FeatureRows


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


@pytest.mark.slow
@pytest.mark.parametrize("inner", [None, BBE()], ids=["default", "bbe"])
def test_helps_where_one_kind_is_labeled_rarely(inner):
    # In the limit all labeled together give the least of 0.2/0.9 and 0.2/0.1, instead of 0.4.
    assert alphas(ClusteredLabels(inner, n_clusters=1)) == pytest.approx(0.2 / 0.9, abs=0.03)
    assert alphas(ClusteredLabels(inner)) == pytest.approx(0.4, abs=0.03)


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
    with pytest.raises(IdentifiabilityError, match="cannot be distinguished"):
        ClusteredLabels(Fixed(0.4), n_clusters=3).fit(*two_kinds())


@pytest.mark.slow
def test_scores_know_nothing_of_their_own_label():
    # On pure noise, a model that remembers would tell labeled from unlabeled.
    rng = np.random.default_rng(0)
    rows = FeatureRows(rng.normal(size=(300, 3)), rng.normal(size=(600, 3)))
    forest = RandomForestClassifier(30, random_state=0)
    counts = _clustered._out_of_fold_counts(rows, forest, rng)
    assert (counts.n_labeled, counts.n_unlabeled) == (300, 600)
    assert counts.auc_pu == pytest.approx(0.5, abs=0.08)
