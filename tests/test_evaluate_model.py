"""From features to a report: the scores are those of rows unseen, and the report says so."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import purecover as pu
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover.models.best_scorer import BestScorer

OPTIONS: dict[str, Any] = {"alpha": 0.25, "n_resamples": 0}


def world(n: int = 1500, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3)) + truth[:, None]
    return X, truth & (rng.random(n) < 0.5), truth


def same_figures(one: pu.PUReport, two: pu.PUReport) -> bool:
    documents = [report.to_dict() for report in (one, two)]
    for document in documents:
        document.pop("scores_from")
    return documents[0] == documents[1]


def test_equal_to_scores_and_evaluate():
    X, labeled, truth = world()
    model = LogisticRegression()
    options: dict[str, Any] = {"alpha": 0.25, "n_resamples": 20, "top_k": 30, "f_beta": 2.0}
    report = pu.evaluate_model(model, X, labeled, truth=truth, random_state=3, **options)
    scores = pu.cross_fit_scores(model, X, labeled, random_state=3)
    expected = pu.evaluate(scores, labeled, truth=truth, random_state=3, **options)
    assert same_figures(report, expected)
    assert expected.scores_from is None
    assert not hasattr(model, "coef_")


def test_weights_count_in_the_figures():
    X, labeled, _ = world(300)
    weight = np.random.default_rng(0).random(300)
    model = LogisticRegression()
    scores = pu.cross_fit_scores(model, X, labeled, random_state=0)
    report = pu.evaluate_model(model, X, labeled, sample_weight=weight, **OPTIONS)
    assert same_figures(report, pu.evaluate(scores, labeled, sample_weight=weight, **OPTIONS))
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(known=labeled, weight=weight)
    named = pu.evaluate_model(model, frame, "known", sample_weight="weight", **OPTIONS)
    assert named.auc == pytest.approx(report.auc, abs=1e-12)


def test_the_recovered_figure_is_near_the_true_one():
    X, labeled, truth = world(6000)
    report = pu.evaluate_model(LogisticRegression(), X, labeled, truth=truth, n_resamples=0)
    true = report.truth.metrics["roc_auc"]
    assert report.auc_pu < true - 0.05
    assert report.auc == pytest.approx(true, abs=0.03)
    assert report.proportions.alpha == pytest.approx(truth[~labeled].mean(), abs=0.06)


def test_a_model_without_skill_does_not_look_good():
    rng = np.random.default_rng(0)
    X, labeled = rng.normal(size=(800, 5)), rng.random(800) < 0.3
    model = RandomForestClassifier(50, random_state=0)
    report = pu.evaluate_model(model, X, labeled, alpha=0.2, n_resamples=0)
    assert abs(report.auc_pu - 0.5) < 0.08


def test_the_report_says_how_scores_were_made():
    X, labeled, _ = world(400)
    model = make_pipeline(StandardScaler(), SVC())
    report = pu.evaluate_model(model, X, labeled, cv=3, alpha=0.25, n_resamples=0)
    how = report.scores_from
    assert how.startswith(
        "StandardScaler + SVC, out of fold (3 folds; ranks of decision_function in each fold; "
    )
    assert " ".join(str(report).split()).count(f"scores of {how}") == 1
    assert max(map(len, str(report).splitlines()[:4])) <= 100
    assert json.loads(report.to_json())["scores_from"] == how
    assert how in report.to_html()
    plain = pu.evaluate([3, 2, 1, 0], [1, 0, 1, 0], alpha=0.1, n_resamples=0)
    assert plain.to_dict()["scores_from"] is None
    assert "scores of" not in str(plain)
    assert ">Scores of</th>" not in plain.to_html()


@pytest.mark.parametrize("engine", [pd.DataFrame, pl.DataFrame])
def test_named_columns_are_no_features(engine: Any):
    X, labeled, truth = world(400)
    groups = np.arange(400) // 2
    features = dict(zip("abc", X.T, strict=True))
    frame = engine(
        {**features, "known": np.where(labeled, "yes", "no"), "class": truth, "who": groups}
    )
    options: dict[str, Any] = {"alpha": 0.25, "n_resamples": 20}
    model = LogisticRegression()
    found = pu.evaluate_model(model, frame, "known", truth="class", groups="who", **options)
    expected = pu.evaluate_model(model, X, labeled, truth=truth, groups=groups, **options)
    assert found.auc == pytest.approx(expected.auc, abs=1e-9)
    assert found.truth.metrics["roc_auc"] == pytest.approx(expected.truth.metrics["roc_auc"])
    # With the true class among the features it would be perfect.
    assert found.truth.metrics["roc_auc"] < 0.98
    assert "groups kept together" in found.scores_from
    assert found.intervals["roc_auc"].method == "bootstrap percentile, groups"


def test_known_negatives_come_through():
    X, labeled, truth = world(600)
    column = labeled.astype(int)
    column[np.flatnonzero(~truth)[:80]] = -1
    report = pu.evaluate_model(
        LogisticRegression(), X, column, negative_label=-1, alpha=0.25, n_resamples=0
    )
    assert report.counts.n_negative == 80
    assert report.counts.n_labeled == labeled.sum()


# -- models with scores of their own --------------------------------------------------------------


class Bagged(ClassifierMixin, BaseEstimator):
    """A model that keeps out-of-bag scores, and counts how often it is fitted."""

    fits = 0

    def __init__(self, hole: bool = False, keep: bool = True) -> None:
        self.hole = hole
        self.keep = keep

    @property
    def oob_score_samples_(self) -> Any:
        if not hasattr(self, "own_"):
            raise AttributeError("oob_score_samples_")
        return self.own_

    def fit(self, X: Any, y: Any) -> Bagged:
        type(self).fits += 1
        self.classes_ = np.unique(y)
        if self.keep:
            self.own_ = np.asarray(X)[:, 0].copy()
            if self.hole:
                self.own_[3] = np.nan
        return self

    def predict_proba(self, X: Any) -> Any:
        p = 1 / (1 + np.exp(np.asarray(X)[:, 0]))  # the wrong way round, to be told apart
        return np.column_stack([1 - p, p])


class Grouped(Bagged):
    def fit(self, X: Any, y: Any, groups: Any = None) -> Grouped:
        super().fit(X, y)
        self.own_ = self.own_ if groups is None else -np.asarray(groups, dtype=float)
        return self


def test_out_of_bag_scores_save_the_folds():
    X, labeled, _ = world(300)
    Bagged.fits = 0
    report = pu.evaluate_model(Bagged(), X, labeled, **OPTIONS)
    assert Bagged.fits == 1
    assert report.scores_from == "Bagged, its own scores of rows unseen"
    assert same_figures(report, pu.evaluate(X[:, 0], labeled, **OPTIONS))


def test_out_of_bag_scores_that_break_the_rules_are_not_used():
    X, labeled, truth = world(300)
    for case in (
        {"estimator": Bagged(keep=False)},
        {"estimator": Bagged(), "groups": np.arange(300) // 2},
        {"estimator": make_pipeline(StandardScaler(), Bagged())},
    ):
        report = pu.evaluate_model(**{"X": X, "labeled": labeled, **OPTIONS, **case})
        assert "out of fold" in report.scores_from, case
        assert report.auc_pu < 0.5
    column = labeled.astype(int)
    column[np.flatnonzero(~truth)[:20]] = -1
    report = pu.evaluate_model(Bagged(), X, column, negative_label=-1, **OPTIONS)
    assert "out of fold" in report.scores_from


def test_groups_go_to_a_model_that_takes_them():
    X, labeled, _ = world(300)
    groups = np.arange(300) // 2
    report = pu.evaluate_model(Grouped(), X, labeled, groups=groups, **OPTIONS)
    assert report.scores_from == "Grouped, its own scores of rows unseen"
    assert same_figures(report, pu.evaluate(-groups, labeled, groups=groups, **OPTIONS))


def test_models_of_this_package_bring_their_own():
    X, labeled, _ = world(400)
    networks = pu.BaggedNetworks(n_estimators=30, device="cpu", random_state=0)
    report = pu.evaluate_model(networks, X, labeled, **OPTIONS)
    assert report.scores_from == "BaggedNetworks, its own scores of rows unseen"
    expected = pu.evaluate(networks.fit(X, labeled).oob_score_samples_, labeled, **OPTIONS)
    assert same_figures(report, expected)
    groups = np.arange(400) // 2
    report = pu.evaluate_model(networks, X, labeled, groups=groups, cv=2, **OPTIONS)
    assert report.scores_from.startswith("BaggedNetworks, out of fold (2 folds, groups kept")
    best = BestScorer({"line": LogisticRegression(), "machine": SVC()}, random_state=0)
    report = pu.evaluate_model(best, X, labeled, groups=groups, **OPTIONS)
    assert report.scores_from.startswith("BestScorer: ")
    best.fit(X, labeled, groups=groups)
    expected = pu.evaluate(best.oob_score_samples_, labeled, groups=groups, **OPTIONS)
    assert same_figures(report, expected)


def test_what_is_said_of_folds_is_done():
    X, labeled, _ = world(300)
    for said in ({"cv": 5}, {"method": "predict_proba"}, {"combine": "rank"}):
        report = pu.evaluate_model(Bagged(), X, labeled, **OPTIONS, **said)
        assert "out of fold (5 folds" in report.scores_from, said
    assert "ranks of" in report.scores_from


def test_a_calibrated_classifier_is_judged_by_its_probabilities():
    X, labeled, _ = world(400)
    model = pu.PUCalibratedClassifier(LogisticRegression(), alpha=0.25, random_state=0)
    for each in (model, clone(model).fit(X, labeled)):
        report = pu.evaluate_model(each, X, labeled, threshold=0.5, **OPTIONS)
        assert report.scores_from.startswith("PUCalibratedClassifier(LogisticRegression), out of")
        scores = pu.cross_fit_scores(model, X, labeled, random_state=0)
        expected = pu.evaluate(scores, labeled, threshold=0.5, **OPTIONS)
        assert same_figures(report, expected)


def test_forests_with_out_of_bag_scores():
    X, labeled, _ = world(300)
    forest = RandomForestClassifier(60, oob_score=True, min_samples_leaf=5, random_state=0)
    report = pu.evaluate_model(forest, X, labeled, **OPTIONS)
    assert report.scores_from == "RandomForestClassifier, its own scores of rows unseen"
    own = clone(forest).fit(X, labeled).oob_decision_function_[:, 1]
    assert same_figures(report, pu.evaluate(own, labeled, **OPTIONS))


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_seeds_of_any_kind(kind: Any):
    X, labeled, _ = world(200)
    options = {**OPTIONS, "n_resamples": 20}
    one, two = (
        pu.evaluate_model(LogisticRegression(), X, labeled, random_state=seed, **options)
        for seed in (3, kind(3))
    )
    assert same_figures(one, two)
    pair = [
        pu.evaluate_model(
            LogisticRegression(), X, labeled, random_state=np.random.RandomState(3), **OPTIONS
        ).auc_pu
        for _ in range(2)
    ]
    assert pair[0] == pair[1]


def test_rows_without_an_out_of_bag_score_are_an_error():
    X, labeled, _ = world(300)
    with pytest.raises(InvalidInputError, match=r"(?s)'estimator' .* 299 of 300 .*Hint: more"):
        pu.evaluate_model(Bagged(hole=True), X, labeled, **OPTIONS)


# -- complaints -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alpha": 1.5}, "'alpha'"),
        ({"prior_estimator": "nonsense", "alpha": None}, "'prior_estimator'"),
        ({"prior_estimator": "bbe"}, "'prior_estimator' .* left out where 'alpha' is given"),
        ({"n_resamples": -1}, "'n_resamples'"),
        ({"target": "nonsense"}, "'target'"),
        ({"threshold": "high"}, "'threshold'"),
        ({"repair": "nonsense"}, "'repair'"),
        ({"ignore_checks": ["PU999"]}, "'ignore_checks'"),
        ({"confidence_level": 95}, "'confidence_level'"),
        ({"f_beta": -1}, "'f_beta'"),
        ({"cv": 1}, "'cv'"),
        ({"method": "predict"}, "'method'"),
        ({"random_state": -1}, "'random_state'"),
        ({"groups": [1, 2]}, "'groups'"),
        ({"truth": [True] * 99}, "'truth' .* as long as X has rows"),
        ({"truth": [1.0, np.nan] * 50}, "'truth' .* free of missing"),
        ({"truth": np.arange(100)}, "'truth' .* two-valued"),
        ({"top_k": 10**6}, "'top_k' .* at most the"),
        ({"sample_weight": np.zeros(100)}, "'sample_weight' .* zero for all labeled"),
        ({"sample_weight": -np.ones(100)}, "'sample_weight' .* non-negative"),
        ({"progress": 3}, "'progress'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_fitted(wrong: dict[str, Any], message: str):
    X, labeled, _ = world(100)
    Bagged.fits = 0
    arguments = {"estimator": Bagged(), "X": X, "labeled": labeled, **OPTIONS, **wrong}
    with pytest.raises((InvalidInputError, InvalidTypeError), match=message) as caught:
        pu.evaluate_model(**arguments)
    assert "parameter of evaluate_model must be" in str(caught.value)
    assert Bagged.fits == 0


def test_scores_that_tell_nothing():
    rng = np.random.default_rng(0)
    X, labeled = rng.normal(size=(300, 2)), rng.random(300) < 0.5
    with pytest.raises(IdentifiabilityError, match="cannot estimate alpha"):
        pu.evaluate_model(Bagged(), np.zeros_like(X), labeled, n_resamples=0)
