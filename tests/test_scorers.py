"""Scorers inside scikit-learn's own machinery."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate

import purecover as pu


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    s = pu.simulate.binormal(2.0).sample(600, 3000, alpha=0.25, random_state=0)
    X = np.c_[s.scores, rng.normal(size=(s.scores.size, 3))]
    return X, s.labeled, s.truth


@pytest.mark.parametrize("name", sorted(pu.METRICS))
def test_every_metric_scores(name: str, data: tuple[np.ndarray, ...]) -> None:
    X, labeled, _ = data
    scorer = pu.make_pu_scorer(name, alpha=0.25, top_k=50)
    model = LogisticRegression(class_weight="balanced").fit(X, labeled)
    score = scorer(model, X, labeled)
    # The same number by the plain road.
    if pu.METRICS[name].kind == "threshold":
        counts = pu.ScoreCounts.from_scores(model.predict(X).astype(float), labeled)
        expected = pu.recover_metrics(counts, pu.MixtureProportions(0.25), threshold=1)[name]
    else:
        response = model.decision_function(X)
        if pu.METRICS[name].kind == "probability":
            response = model.predict_proba(X)[:, 1]
        counts = pu.ScoreCounts.from_scores(response, labeled)
        expected = pu.recover_metrics(
            counts, pu.MixtureProportions(0.25), metrics=[name], top_k=50
        )[name]
    sign = 1 if pu.METRICS[name].greater_is_better else -1
    assert score == pytest.approx(sign * expected, abs=1e-12)
    assert pickle.loads(pickle.dumps(scorer))(model, X, labeled) == score  # noqa: S301


def test_sample_weight_by_metadata_routing(data: tuple[np.ndarray, ...]) -> None:
    X, labeled, _ = data
    weight = np.random.default_rng(99).random(labeled.size)
    with config_context(enable_metadata_routing=True):
        scorer = pu.make_pu_scorer("roc_auc", alpha=0.25).set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        weighted = cross_validate(
            model, X, labeled, scoring=scorer, params={"sample_weight": weight}, cv=3
        )["test_score"]
    plain = cross_validate(
        LogisticRegression(), X, labeled, scoring=pu.make_pu_scorer("roc_auc", alpha=0.25), cv=3
    )["test_score"]
    assert np.all(weighted != plain)
    assert weighted.mean() == pytest.approx(plain.mean(), abs=0.05)


def test_prior_of_the_whole_sample_is_turned_into_alpha_per_fold() -> None:
    s = pu.simulate.binormal(2.0).sample_censored(
        6000, prior=0.3, label_frequency=0.4, random_state=0
    )
    X = s.scores.reshape(-1, 1)
    model = LogisticRegression().fit(X, s.labeled)
    by_prior = pu.make_pu_scorer("roc_auc", prior=0.3, scenario="censoring")
    by_frequency = pu.make_pu_scorer("roc_auc", label_frequency=0.4)
    for scorer in (by_prior, by_frequency):
        assert scorer(model, X, s.labeled) == pytest.approx(s.world.auc, abs=0.02)


@pytest.mark.parametrize(
    "estimator", [None, "bbe", pu.estimators.AlphaMaxN(clean="never")], ids=str
)
def test_a_fold_is_judged_by_its_own_estimate(data: tuple[np.ndarray, ...], estimator: Any) -> None:
    X, labeled, _ = data
    model = LogisticRegression(class_weight="balanced").fit(X, labeled)
    held_out = slice(1, None, 2)
    # The same by hand: the proportions from the scores, also where `predict` decides.
    scores = model.decision_function(X[held_out])
    by_hand = pu.evaluate(
        scores, labeled[held_out], settings=pu.Settings(estimator=estimator), n_resamples=0
    )
    for metric in ("auc_pr", "f1", "cost"):  # of a curve, and of `predict`
        expected = pu.make_pu_scorer(metric, proportions=by_hand.proportions)
        found = pu.make_pu_scorer(metric, estimator=estimator)
        assert found(model, X[held_out], labeled[held_out]) == pytest.approx(
            expected(model, X[held_out], labeled[held_out]), rel=1e-12
        )
    assert by_hand.proportions.alpha == pytest.approx(0.25, abs=0.1)


def test_a_fold_that_tells_nothing_is_an_error(data: tuple[np.ndarray, ...]) -> None:
    X, labeled, _ = data
    constant = DummyClassifier(strategy="prior").fit(X, labeled)
    scorer = pu.make_pu_scorer("roc_auc")
    with pytest.raises(pu.exceptions.IdentifiabilityError, match="600 labeled and 3,000 unlabeled"):
        scorer(constant, X, labeled)
    with pytest.raises(pu.exceptions.IdentifiabilityError):
        cross_validate(constant, X, labeled, scoring=scorer, error_score="raise")
    with pytest.warns(UserWarning, match="Scoring failed"):
        scores = cross_validate(constant, X, labeled, scoring=scorer, cv=2)["test_score"]
    assert np.isnan(scores).all()
    # Known proportions need no scores that differ.
    assert pu.make_pu_scorer("roc_auc", alpha=0.25)(constant, X, labeled) == 0.5


def rows_of_two_collections(seed: int, n_labeled: int, n_unlabeled: int) -> tuple[np.ndarray, ...]:
    """Positives collected apart, and rows of which a tenth are positive."""
    rng = np.random.default_rng(seed)
    labeled = np.repeat([True, False], [n_labeled, n_unlabeled])
    truth = labeled | (rng.random(labeled.size) < 0.1)
    X = rng.normal(size=(labeled.size, 5))
    X[truth, :2] += 1.8
    return X, labeled, truth


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_search_picks_the_better_model_where_the_naive_score_picks_the_worse(seed: int) -> None:
    X, labeled, _ = rows_of_two_collections(seed, 2000, 1000)
    new, _, new_truth = rows_of_two_collections(1000 + seed, 0, 20_000)
    weights = {"class_weight": [{True: w, False: 1} for w in (0.1, 0.3, 1, 3)]}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    truly = {}
    for name, scoring in (("naive", "f1"), ("recovered", pu.make_pu_scorer("f1"))):
        search = GridSearchCV(LogisticRegression(), weights, scoring=scoring, cv=folds)
        truly[name] = f1_score(new_truth, search.fit(X, labeled).predict(new))
    assert truly["recovered"] > truly["naive"] + 0.1
