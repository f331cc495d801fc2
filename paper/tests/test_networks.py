"""Bagged networks: scores of rows unseen, of one estimator and of many at once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import estimator_checks_generator

from purecover import ScoreCounts
from purecover.exceptions import (
    InvalidInputError,
    MissingDependencyError,
    PurecoverError,
    PurecoverWarning,
)
from purecover.recovery import auc_pu
from purecover_paper.networks import BaggedNetworks, bagged_scores_many


def world(n: int = 300, d: int = 3, seed: int = 0, shift: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labeled = rng.random(n) < 0.3
    positive = labeled | (rng.random(n) < 0.25)
    return rng.normal(size=(n, d)) + shift * positive[:, None], labeled


def networks(n_estimators: int = 30, **parameters: Any) -> BaggedNetworks:
    """Small and quick; NumPy even where there is a card, and always the same."""
    defaults = {"device": "cpu", "random_state": 0, "max_epochs": 60}
    return BaggedNetworks(n_estimators, **{**defaults, **parameters})


def auc(scores: Any, labeled: Any) -> float:
    return auc_pu(ScoreCounts.from_scores(scores, labeled))


def noise(seed: int) -> tuple[Any, Any]:
    """Labels that have nothing to do with the features, which are enough to know rows by."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(200, 50)), rng.permutation(200) < 100


def auc_of_noise() -> tuple[float, float]:
    """Mean AUC out of bag and of trained rows; by chance one half, give or take .015."""
    found = []
    for seed in range(8):
        X, labeled = noise(seed)
        model = networks(40, hidden=10, validation_fraction=0.1).fit(X, labeled)
        found.append((auc(model.oob_score_samples_, labeled), auc(model.score_samples(X), labeled)))
    out_of_bag, seen = np.mean(found, axis=0)
    return float(out_of_bag), float(seen)


@pytest.mark.slow
def test_nothing_is_learned_from_random_labels():
    out_of_bag, seen = auc_of_noise()
    assert seen > 0.9
    assert out_of_bag == pytest.approx(0.5, abs=0.05)  # three standard errors


@pytest.mark.slow
def test_stratified_bags_do_not_hold_few_labels_against_their_rows():
    """Rows all alike: nothing but the share of labels in its bags can move a row's score."""
    X, labeled = np.ones((100, 1)), np.arange(100) < 10
    found: dict[bool, list[float]] = {False: [], True: []}
    for stratify, areas in found.items():
        for seed in range(8):
            model = networks(100, stratify=stratify, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PurecoverWarning)
                areas.append(auc(model.fit(X, labeled).oob_score_samples_, labeled))
    assert np.mean(found[False]) < 0.3
    assert np.mean(found[True]) == pytest.approx(0.5, abs=0.06)  # three standard errors


@pytest.mark.filterwarnings("ignore::purecover.exceptions.PurecoverWarning")
def test_a_label_does_not_move_the_out_of_bag_score_by_knowing_it():
    X, labeled = world(60)
    model = networks(40).fit(X, labeled)
    # Flip one label: the networks without this row are the same, and so is its score.
    for row in (0, 17, 42):
        flipped = labeled.copy()
        flipped[row] = ~flipped[row]
        again = networks(40).fit(X, flipped)
        assert again.oob_score_samples_[row] == pytest.approx(
            model.oob_score_samples_[row], abs=1e-5
        )
        assert abs(again.score_samples(X)[row] - model.score_samples(X)[row]) > 1e-3


def test_scores_and_counts():
    X, labeled = world(500)
    model = networks(60).fit(X, labeled)
    assert model.oob_counts_.dtype == np.int64
    assert model.oob_counts_.mean() == pytest.approx(60 * 0.368, rel=0.03)
    assert model.oob_score_samples_.dtype == np.float64
    for scores in (model.oob_score_samples_, model.score_samples(X)):
        assert np.all((scores >= 0) & (scores <= 1))
    assert model.n_epochs_.shape == model.validation_losses_.shape == (60,)
    assert np.all((model.n_epochs_ >= 0) & (model.n_epochs_ <= 60))
    assert auc(model.oob_score_samples_, labeled) > 0.7


def fitted(model: BaggedNetworks) -> tuple[Any, ...]:
    return model._weights, model.oob_score_samples_, model.n_epochs_, model.validation_losses_


def test_jobs_change_nothing():
    X, labeled = world()
    alone, together = (fitted(networks(120, n_jobs=jobs).fit(X, labeled)) for jobs in (1, 2))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=check.func.__name__)
        for estimator, check in estimator_checks_generator(networks())
    ],
)
@pytest.mark.filterwarnings("ignore:There are")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_input_equals_dense(form):
    X, labeled = world()
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    model, plain = networks().fit(form(X), labeled), networks().fit(X, labeled)
    np.testing.assert_array_equal(model.oob_score_samples_, plain.oob_score_samples_)
    np.testing.assert_array_equal(model.predict_proba(form(X)), plain.predict_proba(X))


@pytest.mark.parametrize(
    ("values", "positive_label", "expected"),
    [
        ((False, True), None, True),
        ((1, 2), 1, 1),
        (("unknown", "case"), None, "case"),
        (("a", "b"), "a", "a"),
    ],
)
def test_the_value_that_means_labeled(values, positive_label, expected):
    X, labeled = world()
    y = np.where(labeled, expected, next(value for value in values if value != expected))
    model = networks(positive_label=positive_label).fit(X, y)
    assert model.labeled_class_ == expected
    scores = networks().fit(X, labeled).oob_score_samples_
    np.testing.assert_array_equal(model.oob_score_samples_, scores)
    where = model.classes_.tolist().index(expected)
    np.testing.assert_array_equal(model.predict_proba(X)[:, where], model.score_samples(X))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"X": np.full((120, 3), np.nan)}, "'X' .* finite"),
        ({"rows": np.zeros((2, 100), dtype=int)}, "'rows' .* distinct"),
        ({"rows": np.full((2, 100), 120)}, "'rows' .* from 0 to 119"),
        ({"rows": [[1, 2], [3]]}, "'rows' .* different lengths"),
        ({"labeled": np.ones((2, 100), dtype=bool)}, "'labeled' .* only one kind"),
        ({"labeled": np.arange(200).reshape(2, 100) % 100 == 0}, "1 labeled row"),
        ({"random_state": [1]}, "'random_state' .* got 1 seeds"),
        ({"preset": "papre"}, "did you mean 'paper'"),
    ],
)
def test_many_refuse(change, says):
    table, rows, labeled = many_worlds()
    given = {"X": table, "rows": rows, "labeled": labeled, "device": "cpu", **change}
    with pytest.raises(InvalidInputError, match=f"(?s){says}"):
        bagged_scores_many(**given)


def test_a_device_needs_torch(monkeypatch):
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("purecover_paper.arguments.importlib.import_module", absent)
    with pytest.raises(MissingDependencyError, match=r"device='cuda'.*\nHint: pip install"):
        networks(device="cuda").fit(*world(30))
    assert issubclass(MissingDependencyError, PurecoverError)


def many_worlds(n_ensembles: int = 2, n_rows: int = 100) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    positive = rng.random(120) < 0.5
    table = rng.normal(size=(120, 3)) + 2 * positive[:, None]
    rows = np.array([rng.permutation(120)[:n_rows] for _ in range(n_ensembles)])
    return table, rows, positive[rows] & (rng.random(rows.shape) < 0.7)


def test_many_on_a_processor_are_single_ones() -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(120) < 0.4
    table = rng.normal(size=(120, 3)) + 2 * positive[:, None]
    rows = np.array([rng.permutation(120)[:100] for _ in range(2)])
    labeled = positive[rows] & (rng.random(rows.shape) < 0.6)
    scores = bagged_scores_many(table, rows, labeled, n_estimators=30, device="cpu", random_state=0)
    assert scores.shape == (2, 100)
    alone = bagged_scores_many(
        table, rows[:1], labeled[:1], n_estimators=30, device="cpu", random_state=0
    )
    np.testing.assert_array_equal(scores[0], alone[0])
    seeded = [
        bagged_scores_many(
            table, rows[i], labeled[i], n_estimators=30, device="cpu", random_state=seeds
        )
        for i, seeds in ((slice(2), [7, 8]), (slice(1, 2), [8]))
    ]
    np.testing.assert_array_equal(seeded[0][1], seeded[1][0])
