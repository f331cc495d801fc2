"""Bagged networks as a user meets them: out-of-bag scores, scikit-learn's rules, odd input."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import purecover as pu
from purecover.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingDependencyError,
    PurecoverError,
    PurecoverWarning,
)
from purecover.models import networks as _engine
from purecover.models import networks as _networks
from purecover.models import tables as _pickles
from purecover.models.tables import Standardizer
from purecover.models.training import PRESETS, RPROP_CONSTANTS


def world(n: int = 300, d: int = 3, seed: int = 0, shift: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labeled = rng.random(n) < 0.3
    positive = labeled | (rng.random(n) < 0.25)
    return rng.normal(size=(n, d)) + shift * positive[:, None], labeled


def networks(n_estimators: int = 30, **parameters: Any) -> pu.BaggedNetworks:
    """Small and quick; NumPy even where there is a card, and always the same."""
    defaults = {"device": "cpu", "random_state": 0, "max_epochs": 60}
    return pu.BaggedNetworks(n_estimators, **{**defaults, **parameters})


def auc(scores: Any, labeled: Any) -> float:
    return pu.auc_pu(pu.ScoreCounts.from_scores(scores, labeled))


# -- out of bag -----------------------------------------------------------------------------------


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


def test_nothing_is_learned_from_random_labels():
    out_of_bag, seen = auc_of_noise()
    assert seen > 0.9
    assert out_of_bag == pytest.approx(0.5, abs=0.05)  # three standard errors


def test_the_test_above_finds_a_leak(monkeypatch):
    real = _engine.apply_batch

    def leaky(*args: Any, in_bag: Any = None) -> Any:  # noqa: ARG001 - what the leak forgets
        return real(*args, in_bag=None)

    monkeypatch.setattr(_engine, "apply_batch", leaky)
    out_of_bag, seen = auc_of_noise()
    assert out_of_bag == pytest.approx(seen)
    assert out_of_bag != pytest.approx(0.5, abs=0.05)


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


@pytest.mark.parametrize("side", ["labeled", "unlabeled"])
def test_few_rows_of_a_kind_are_said(side):
    X, _ = world(120)
    labeled = (np.arange(120) < 20) == (side == "labeled")
    with pytest.warns(PurecoverWarning, match=rf"20 {side} rows.*\n.*stratify=True") as caught:
        networks().fit(X, labeled)
    assert caught[0].filename == __file__
    networks(stratify=True).fit(X, labeled)  # warnings are errors here
    networks().fit(X, np.arange(120) < 30)


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


def test_rows_in_every_bag_have_the_mean_score():
    X, _ = world(50)
    labeled = np.arange(50) < 20
    with pytest.warns(PurecoverWarning, match=r"rows are in the bag of every network") as caught:
        model = networks(1, stratify=True).fit(X, labeled)
    assert caught[0].filename == __file__
    assert "n_estimators=" in str(caught[0].message)
    never = model.oob_counts_ == 0
    assert 20 < never.sum() < 45
    rest = model.oob_score_samples_[~never]
    np.testing.assert_allclose(model.oob_score_samples_[never], rest.mean())
    np.testing.assert_allclose(rest, model.score_samples(X)[~never], atol=1e-6)


def test_rows_that_are_all_in_every_bag_score_one_half():
    with pytest.warns(PurecoverWarning, match=r"2 of 2 rows .* their score is 0\.5"):
        scores = _networks.mean_scores(np.zeros(2), np.zeros(2))
    np.testing.assert_array_equal(scores, 0.5)


# -- reproducibility ------------------------------------------------------------------------------


def fitted(model: pu.BaggedNetworks) -> tuple[Any, ...]:
    return model._weights, model.oob_score_samples_, model.n_epochs_, model.validation_losses_


def test_jobs_change_nothing():
    X, labeled = world()
    alone, together = (fitted(networks(120, n_jobs=jobs).fit(X, labeled)) for jobs in (1, 2))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_seeds():
    X, labeled = world()
    first, again, other = (networks(random_state=seed).fit(X, labeled) for seed in (1, 1, 2))
    for one, two in zip(fitted(first), fitted(again), strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first.oob_score_samples_, other.oob_score_samples_)
    free = [networks(random_state=None).fit(X, labeled).oob_score_samples_ for _ in range(2)]
    assert not np.array_equal(*free)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_generators(kind):
    X, labeled = world()
    one, two = (networks(random_state=kind(5)).fit(X, labeled) for _ in range(2))
    np.testing.assert_array_equal(one.oob_score_samples_, two.oob_score_samples_)
    source = kind(5)
    one, two = (networks(random_state=source).fit(X, labeled) for _ in range(2))
    assert not np.array_equal(one.oob_score_samples_, two.oob_score_samples_)


def test_the_first_networks_do_not_depend_on_how_many_follow():
    X, labeled = world()
    few, many = (networks(size, dtype="float64").fit(X, labeled) for size in (20, 60))
    np.testing.assert_array_equal(few.n_epochs_, many.n_epochs_[:20])
    np.testing.assert_allclose(few._weights, many._weights[:, :20], rtol=0, atol=1e-8)


def test_fitting_anew_forgets():
    X, labeled = world()
    model = networks().fit(*world(150, 5))
    for one, other in zip(
        fitted(model.fit(X, labeled)), fitted(networks().fit(X, labeled)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_precisions_agree():
    X, labeled = world()
    short, long = (networks(dtype=dtype).fit(X, labeled) for dtype in ("float32", "float64"))
    assert short._weights.dtype == np.float32
    assert long._weights.dtype == np.float64
    np.testing.assert_allclose(short.oob_score_samples_, long.oob_score_samples_, atol=1e-3)


def test_presets_and_what_overrides_them():
    X, labeled = world()
    scores = {
        preset: networks(preset=preset).fit(X, labeled).oob_score_samples_
        for preset in ("paper", "authors", "logistic")
    }
    assert not np.array_equal(scores["paper"], scores["authors"])
    by_hand = networks(split="positions").fit(X, labeled).oob_score_samples_
    np.testing.assert_array_equal(by_hand, scores["authors"])
    by_hand = networks(
        output="logistic", loss="cross-entropy", rprop="irprop-", constants="torch"
    ).fit(X, labeled)
    np.testing.assert_array_equal(by_hand.oob_score_samples_, scores["logistic"])


def test_the_table_of_presets_on_the_page(root):
    page = (root / "docs" / "howto" / "networks.rst").read_text(encoding="utf-8")
    page = page.partition("Presets and parameters")[2].partition("* ``n_estimators``")[0]
    found = re.findall(r"   \* - (.+)\n     - (.+)\n     - (.+)\n     - (.+)\n", page)
    table = {re.findall(r"``(\w+)``", row[0])[0]: row[1:] for row in found[1:]}
    assert tuple(word.strip('`"') for word in found[0][1:]) == tuple(PRESETS)
    names = {constants: name for name, constants in RPROP_CONSTANTS.items()}
    for place, training in enumerate(PRESETS.values()):
        for name in ("output", "loss", "rprop", "split"):
            assert table[name][place] == f'``"{getattr(training, name)}"``'
        assert table["constants"][place] == f'``"{names[training.constants]}"``'
        assert table["validation_fraction"][place] == str(training.validation_fraction)
        assert table["max_epochs"][place] == f"{training.max_epochs}, {training.patience}"
    assert len(table) == 7


def test_the_figures_on_the_page_are_those_measured(root):
    page = (root / "docs" / "howto" / "networks.rst").read_text(encoding="utf-8")
    results = root / "benchmarks" / "results"
    measured = (results / "networks_few_labels.md").read_text(encoding="utf-8")
    pattern = r"0\.\d{3} ± 0\.\d{3}"
    assert re.findall(pattern, page) == re.findall(pattern, measured)
    times = (results / "networks_times.md").read_text(encoding="utf-8")
    shown = re.findall(r"\* - ([\d,]+ x [\d,]*\d).*\n     - (\d+)\n", page)
    assert len(shown) == 4
    for shape, seconds in shown:
        assert re.search(rf", {shape} +\| [\d.]+ +\| {seconds} +\|", times)


def test_logistic_networks_give_shares_of_labels():
    X, labeled = world(2000)
    scores = networks(preset="logistic", max_epochs=None).fit(X, labeled).oob_score_samples_
    assert scores.mean() == pytest.approx(labeled.mean(), abs=0.01)
    for low, high in ((0, 0.25), (0.25, 0.45), (0.45, 1)):
        chosen = (scores >= low) & (scores < high)
        error = 3 * np.sqrt(0.25 / chosen.sum())
        assert scores[chosen].mean() == pytest.approx(labeled[chosen].mean(), abs=error)


# -- scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{estimator.preset}-{check.func.__name__}")
        for model in (networks(), networks(preset="logistic", hidden=3))
        for estimator, check in estimator_checks_generator(model)
    ],
)
@pytest.mark.filterwarnings("ignore:BaggedNetworks.fit has")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_grid_search_pipeline_clone():
    X, labeled = world()
    pipeline = make_pipeline(PolynomialFeatures(2), StandardScaler(), networks())
    grid = GridSearchCV(
        pipeline,
        {"baggednetworks__hidden": [1, 4], "baggednetworks__preset": ["paper", "logistic"]},
        scoring=pu.make_pu_scorer("roc_auc", alpha=0.25),
        cv=2,
        error_score="raise",
    ).fit(X, labeled)
    assert grid.best_score_ > 0.6
    model = networks(7, hidden=2, rprop="irprop+", verbose=0)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert twin.set_params(hidden=3).hidden == 3
    assert cross_val_score(networks(), X, labeled, cv=2, scoring="roc_auc").mean() > 0.6


@pytest.mark.parametrize("library", [pd, pl])
def test_data_frames(library):
    X, labeled = world()
    frame = library.DataFrame({name: X[:, i] for i, name in enumerate(("age", "size", "dose"))})
    model = networks().fit(frame, library.Series(labeled))
    assert list(model.feature_names_in_) == ["age", "size", "dose"]
    assert model.n_features_in_ == 3
    plain = networks().fit(X, labeled)
    np.testing.assert_array_equal(model.oob_score_samples_, plain.oob_score_samples_)
    np.testing.assert_array_equal(model.score_samples(frame), plain.score_samples(X))
    with pytest.raises(ValueError, match="feature names"):
        model.score_samples(frame[["size", "age", "dose"]])


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_input_equals_dense(form):
    X, labeled = world()
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    model, plain = networks().fit(form(X), labeled), networks().fit(X, labeled)
    np.testing.assert_array_equal(model.oob_score_samples_, plain.oob_score_samples_)
    np.testing.assert_array_equal(model.predict_proba(form(X)), plain.predict_proba(X))


def test_sparse_input_that_would_not_fit_is_refused():
    X = sparse.csr_array((40, 10**9))
    with pytest.raises(InvalidInputError, match=r"'X' parameter .* zeros in 4 GiB.*\nHint: "):
        networks().fit(X, np.arange(40) < 10)


@pytest.mark.parametrize(
    ("words", "labeled_class"),
    [
        (("unlabeled", "positive"), "positive"),  # positive comes first in order
        (("unknown", "labeled"), "labeled"),
        (("negative", "positive"), "positive"),
        ((0, 1), 1),
        ((-1, 1), 1),
        ((False, True), True),
        (("a", "b"), "b"),
        ((3, 7), 7),
        ((1, 2), 2),
        (("1", "2"), "2"),
        (("-1", "+1"), "+1"),
        (("unlabeled", "case"), "case"),  # a known word beside one that is not
        (("unknown", "disease"), "disease"),
        (("none", "fraud"), "fraud"),
        (("u", "kinase"), "kinase"),
        (("zebra", "positive"), "positive"),
        (("negative", "case"), "case"),
    ],
)
def test_words_for_labels(words, labeled_class):
    X, labeled = world()
    column = np.where(labeled, words[1], words[0])
    model, plain = networks().fit(X, column), networks().fit(X, labeled)
    assert model.labeled_class_ == labeled_class
    np.testing.assert_array_equal(model.classes_, np.unique(column))
    np.testing.assert_array_equal(model.oob_score_samples_, plain.oob_score_samples_)
    np.testing.assert_array_equal(model.score_samples(X), plain.score_samples(X))
    # scikit-learn's names go by the order of the classes.
    place = list(model.classes_).index(labeled_class)
    np.testing.assert_array_equal(model.predict_proba(X)[:, place], plain.score_samples(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    sign = 1 if place == 1 else -1
    np.testing.assert_array_equal(model.decision_function(X), sign * plain.decision_function(X))
    np.testing.assert_array_equal(model.predict(X) == labeled_class, plain.score_samples(X) > 0.5)
    known = {"positive_label": labeled_class}
    found, expected = (
        pu.make_pu_scorer("roc_auc", alpha=0.25, **keywords)(fit, X, y)
        for keywords, fit, y in ((known, model, column), ({}, plain, labeled))
    )
    assert found == expected > 0.7


def test_two_words_of_the_same_meaning_are_refused():
    X, labeled = world()
    for words in (("no", "unknown"), ("yes", "labeled")):
        column = np.where(labeled, *words)
        with pytest.raises(
            InvalidInputError, match=r"both mean the same.*\nHint: .*positive_label"
        ):
            networks().fit(X, column)
        model = networks(positive_label=words[0]).fit(X, column)
        assert model.labeled_class_ == words[0]


def test_spellings_of_the_label_column():
    X, labeled = world()
    expected = networks().fit(X, labeled).oob_score_samples_
    for column in (
        labeled.astype(object),
        pd.Series(labeled, dtype="boolean"),
        pd.Series(labeled.astype(int), dtype="Int64"),
        pd.Series(np.where(labeled, "positive", "unlabeled"), dtype="category"),
        labeled.tolist(),
    ):
        model = networks().fit(X, column)
        np.testing.assert_array_equal(model.oob_score_samples_, expected)
    with pytest.raises(InvalidInputError, match=r"'y' .* free of missing values"):
        networks().fit(X, np.where(labeled, "case", None))
    with pytest.raises(InvalidTypeError, match=r"'y' parameter .* of one type"):
        networks().fit(X, np.array(([True, "no"] * len(X))[: len(X)], dtype=object))
    frame = pd.DataFrame(X)
    turned = pd.Series(labeled).sample(frac=1, random_state=0)
    with pytest.raises(InvalidInputError, match=r"'y' .* order of X.*\nHint: .*y\.loc\[X\.index\]"):
        networks().fit(frame, turned)


def test_columns_that_are_no_numbers_are_named():
    X, labeled = world()
    for library in (pd, pl):
        frame = library.DataFrame({"size": X[:, 0], "color": ["red"] * len(X)})
        with pytest.raises(InvalidInputError, match=r"text in column 'color'.*\nHint: .*OneHot"):
            networks().fit(frame, labeled)
    frame = pd.DataFrame({"size": X[:, 0], "when": pd.date_range("2020", periods=len(X))})
    with pytest.raises(InvalidInputError, match=r"'X' .*fit .* times in column 'when'"):
        networks().fit(frame, labeled)
    with pytest.raises(InvalidInputError, match="got times"):
        networks().fit(frame[["when"]].to_numpy(), labeled)
    words = np.where(X > 0, "high", "low")
    with pytest.raises(InvalidInputError, match=r"text .*convert string.*\nHint"):
        networks().fit(words, labeled)
    model = networks().fit(X, labeled)
    with pytest.raises(InvalidInputError, match=r"parameter of BaggedNetworks\.score_samples"):
        model.score_samples(words)
    with pytest.raises(InvalidInputError, match=r"parameter of BaggedNetworks\.score_samples"):
        model.set_params().score_samples(sparse.csr_array((10**9, 3)))


def test_pickles_and_copies():
    X, labeled = world()
    model = networks().fit(X, labeled)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301
        np.testing.assert_array_equal(twin.score_samples(X), model.score_samples(X))
        np.testing.assert_array_equal(twin.oob_score_samples_, model.oob_score_samples_)
        assert twin.get_params() == model.get_params()
    unfitted = pickle.loads(pickle.dumps(networks(7)))  # noqa: S301
    assert unfitted.n_estimators == 7


@pytest.mark.parametrize(
    "model",
    [
        networks(),
        pu.BestScorer({"line": LogisticRegression()}),
        pu.PUCalibratedClassifier(LogisticRegression(), alpha=0.2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_pickles_of_another_version_are_refused(model, monkeypatch):
    model = clone(model).fit(*world())
    with monkeypatch.context() as patch:
        patch.setattr(_pickles, "__version__", "0.0.0")
        text = pickle.dumps(model)
    with pytest.raises(InvalidInputError, match=r"pickled by purecover 0\.0\.0") as caught:
        pickle.loads(text)  # noqa: S301
    assert pu.__version__ in str(caught.value)
    assert "Hint: install purecover==0.0.0 to use it, or fit anew" in str(caught.value)


def test_not_fitted():
    with pytest.raises(NotFittedError, match="BaggedNetworks"):
        networks().score_samples([[1.0]])


@pytest.mark.parametrize("verbose", [0, False, 1, True])
def test_the_bar_keeps_off_the_output(verbose, capsys):
    networks(60, verbose=verbose).fit(*world())
    out, err = capsys.readouterr()
    assert out == ""
    assert ("Training networks" in err) == bool(verbose)
    assert ("60/60" in err) == bool(verbose)


# -- odd input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "Input X contains NaN"), (np.inf, "Input X contains infinity")]
)
def test_missing_and_infinite_values(value, words):
    X, labeled = world()
    model = networks().fit(X, labeled)
    X[4, 1] = value
    with pytest.raises(ValueError, match=words):
        networks().fit(X, labeled)
    with pytest.raises(ValueError, match=words):
        model.score_samples(X)


def test_other_numbers_of_features():
    X, labeled = world()
    model = networks().fit(X, labeled)
    with pytest.raises(ValueError, match="X has 2 features, but BaggedNetworks is expecting 3"):
        model.score_samples(X[:, :2])


def test_numbers_of_classes():
    X, labeled = world()
    with pytest.raises(InvalidInputError, match=r"'y' .* got one class: .*\nHint"):
        networks().fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(InvalidInputError, match=r"got 3 values.*\nHint: Only binary"):
        networks().fit(X, np.where(labeled, "positive", np.where(X[:, 0] > 0, "no", "unknown")))
    with pytest.raises(ValueError, match="continuous"):
        networks().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="as long as X has rows"):
        networks().fit(X, labeled[:-1])


def test_what_a_constant_column_holds_does_not_matter():
    X, labeled = world()
    X_new = world(seed=1)[0]
    found = []
    for value in (0.0, 3.0, -1e300, 1e-310, 0.1):
        column = np.full((len(X), 1), value)
        model = networks().fit(np.hstack([X, column]), labeled)
        # Nor does what it holds later: nothing was learned about it.
        later = [np.hstack([X_new, np.full((len(X_new), 1), v)]) for v in (value, 1e300, -7.0)]
        found += [(model.oob_score_samples_, model.score_samples(rows)) for rows in later]
    for scores in found[1:]:
        np.testing.assert_array_equal(scores, found[0])
    assert auc(found[0][0], labeled) > 0.7


def test_only_constant_columns():
    _, labeled = world()
    model = networks().fit(np.ones((len(labeled), 2)), labeled)
    assert np.ptp(model.score_samples(np.random.default_rng(0).normal(size=(9, 2)))) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("scale", "offset"),
    [(1e300, 0.0), (1e-300, 0.0), (1.0, 1e9), (1e-310, 0.0), (1e307, -1e308), (1e5, -1e5)],
)
def test_units_do_not_matter(scale, offset, dtype):
    X, labeled = world()
    plain = networks(dtype=dtype).fit(X, labeled)
    model = networks(dtype=dtype).fit(X * scale + offset, labeled)
    assert np.all(np.isfinite(model._weights))
    # What is left of the numbers after adding 1e9, or of numbers near the end of the range.
    np.testing.assert_allclose(model.oob_score_samples_, plain.oob_score_samples_, atol=5e-3)
    for far in (1e308, -1e308, 5e-324):
        assert np.all(np.isfinite(model.score_samples([[far] * 3])))


def test_the_scale_of_all_rows_in_blocks(monkeypatch):
    X, _ = world(200)
    whole = Standardizer.of(X)
    monkeypatch.setattr("purecover.models.tables._BLOCK", 21)
    some = Standardizer.of(X)
    np.testing.assert_allclose(some.scale, whole.scale, rtol=1e-12)
    out = some.transform(X, np.float64)
    np.testing.assert_allclose(out[:, :-1].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(out[:, :-1].std(axis=0), 1, rtol=1e-12)
    np.testing.assert_array_equal(out[:, -1], 1)


def test_input_is_left_alone():
    X, labeled = world()
    before = X.copy()
    X.setflags(write=False)
    networks().fit(X, labeled).score_samples(X)
    np.testing.assert_array_equal(X, before)


def test_memory_layout_does_not_matter():
    X, labeled = world()
    one, two, three = (
        networks().fit(rows, labeled)
        for rows in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2])
    )
    np.testing.assert_array_equal(one.oob_score_samples_, two.oob_score_samples_)
    np.testing.assert_array_equal(one.oob_score_samples_, three.oob_score_samples_)


@pytest.mark.parametrize("preset", ["paper", "authors", "logistic"])
@pytest.mark.parametrize("stratify", [False, True])
@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.filterwarnings("ignore:BaggedNetworks.fit has")
def test_very_few_rows(preset, n, stratify):
    X = np.arange(n, dtype=float)[:, None]
    model = networks(100, preset=preset, stratify=stratify).fit(X, np.arange(n) >= n - 2)
    for scores in (model.oob_score_samples_, model.score_samples(X)):
        assert np.all((scores >= 0) & (scores <= 1))
    assert np.all(np.isfinite(model.validation_losses_))


@pytest.mark.parametrize("side", ["labeled", "unlabeled"])
@pytest.mark.parametrize("stratify", [False, True])
def test_one_row_of_a_kind_has_no_score(side, stratify):
    X, _ = world(100)
    labeled = (np.arange(100) == 3) == (side == "labeled")
    with pytest.raises(InvalidInputError, match=rf"'y' .* got 1 {side} row of 100\.\nHint: get"):
        networks(stratify=stratify).fit(X, labeled)


WRONG: dict[str, list[Any]] = {
    "n_estimators": [0, -1, 2.5, True, "many", None],
    "hidden": [0, 2.5, "many", None],
    "preset": ["papers", None, 3],
    "output": ["relu", 1],
    "loss": ["hinge", 1],
    "rprop": ["rprop", 1],
    "constants": ["igel", 0.1],
    "max_epochs": [0, 2.5, "many"],
    "patience": [0, 2.5, "many"],
    "validation_fraction": [0, 1, -0.5, np.nan, "quarter", True],
    "split": ["row", 1],
    "stratify": [1, "yes", None],
    "positive_label": [7],
    "device": [None, 0],
    "dtype": ["float16", np.float32, None],
    "n_jobs": [0, 1.5, "all"],
    "random_state": [-1, 1.5, "seed", True],
    "verbose": [-1, "yes", None],
}


def test_every_parameter_is_tried():
    assert set(WRONG) == set(pu.BaggedNetworks().get_params())


@pytest.mark.parametrize(
    ("parameter", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_wrong_parameters_are_named(parameter, value):
    model = networks(**({parameter: value} if parameter != "n_estimators" else {}))
    if parameter == "n_estimators":
        model.set_params(n_estimators=value)
    with pytest.raises((InvalidInputError, InvalidTypeError)) as caught:
        model.fit(*world(30))
    text = str(caught.value)
    where = "BaggedNetworks.fit" if parameter == "positive_label" else "BaggedNetworks"
    assert text.startswith(f"The '{parameter}' parameter of {where} must be ")
    assert ", got " in text


def test_a_device_needs_torch(monkeypatch):
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("purecover._validation.importlib.import_module", absent)
    with pytest.raises(MissingDependencyError, match=r"device='cuda'.*\nHint: pip install"):
        networks(device="cuda").fit(*world(30))
    assert issubclass(MissingDependencyError, PurecoverError)


def test_auto_computes_here_where_there_is_no_card(monkeypatch):
    monkeypatch.setattr(_engine, "_has_cuda", lambda: False)
    X, labeled = world()
    here, there = (networks(device=device).fit(X, labeled) for device in ("cpu", "auto"))
    np.testing.assert_array_equal(here.oob_score_samples_, there.oob_score_samples_)
