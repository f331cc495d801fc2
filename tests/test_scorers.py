"""Scorers inside scikit-learn's own machinery."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn import clone, config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

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
        counts = pu.ScoreCounts.from_scores(model.decision_function(X), labeled)
        expected = pu.recover_metrics(counts, pu.MixtureProportions(0.25), top_k=50)[name]
    sign = 1 if pu.METRICS[name].greater_is_better else -1
    assert score == pytest.approx(sign * expected, abs=1e-12)
    assert pickle.loads(pickle.dumps(scorer))(model, X, labeled) == score  # noqa: S301


def test_cross_validate_is_close_to_the_truth(data: tuple[np.ndarray, ...]) -> None:
    X, labeled, _ = data
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scoring = {
        "auc": pu.make_pu_scorer("roc_auc", alpha=0.25),
        "f1": pu.make_pu_scorer("f1", alpha=0.25),
        "naive": "roc_auc",
    }
    result = cross_validate(LogisticRegression(), X, labeled, scoring=scoring, cv=folds)
    world_auc = pu.simulate.binormal(2.0).auc
    assert result["test_auc"].mean() == pytest.approx(world_auc, abs=0.02)
    assert result["test_naive"].mean() < world_auc - 0.05


# Spellings of (labeled, unlabeled). scikit-learn sorts classes by value, so that in half of
# these the class it calls positive is the unlabeled one.
SPELLINGS = [
    (True, False),
    (1, 0),
    (1, -1),
    (1.0, 0.0),
    ("positive", "unlabeled"),
    ("labeled", "unlabeled"),
    ("P", "U"),
    ("pos", "unknown"),
    ("yes", "no"),
    ("1", "0"),
]


@pytest.mark.parametrize(("yes", "no"), SPELLINGS, ids=str)
@pytest.mark.parametrize("metric", ["roc_auc", "auc_pr", "recall", "precision"])
@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()], ids=["decision", "proba"])
def test_labels_of_any_spelling(
    data: tuple[np.ndarray, ...], yes: object, no: object, metric: str, model: Any
) -> None:
    X, labeled, _ = data
    y = np.array([yes if one else no for one in labeled])
    plain = pu.make_pu_scorer(metric, alpha=0.25)(clone(model).fit(X, labeled), X, labeled)
    spelled = pu.make_pu_scorer(metric, alpha=0.25)(clone(model).fit(X, y), X, y)
    assert spelled == pytest.approx(plain, nan_ok=True)
    if metric == "roc_auc":
        assert plain > 0.85


def test_labels_that_need_naming(data: tuple[np.ndarray, ...]) -> None:
    X, labeled, _ = data
    y = np.where(labeled, 1, 2)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(pu.exceptions.InvalidInputError, match="positive_label"):
        pu.make_pu_scorer("roc_auc", alpha=0.25)(model, X, y)
    assert pu.make_pu_scorer("roc_auc", alpha=0.25, positive_label=1)(model, X, y) > 0.85


def test_a_classifier_trained_on_other_values(data: tuple[np.ndarray, ...]) -> None:
    X, labeled, truth = data
    model = LogisticRegression().fit(X, np.where(truth, "yes", "no"))
    scorer = pu.make_pu_scorer("roc_auc", alpha=0.25)
    assert scorer(model, X, np.where(labeled, "positive", "unlabeled")) > 0.85


def test_scorers_print_well() -> None:
    assert repr(pu.make_pu_scorer("f1", alpha=0.25)) == "PUScorer('f1', alpha=0.25)"


def test_grid_search_picks_the_truly_better_model(data: tuple[np.ndarray, ...]) -> None:
    X, labeled, _ = data
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0, class_weight="balanced"),
        {"max_depth": [1, 3, 30]},
        scoring=pu.make_pu_scorer("auc_pr", alpha=0.25),
        cv=3,
    ).fit(X, labeled)
    assert search.best_params_["max_depth"] == 3


def test_halving_search(data: tuple[np.ndarray, ...]) -> None:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    X, labeled, _ = data
    search = HalvingGridSearchCV(
        LogisticRegression(),
        {"C": [1e-6, 1.0]},
        scoring=pu.make_pu_scorer("roc_auc", alpha=0.25),
        cv=3,
        random_state=0,
    ).fit(X, labeled)
    assert 0.8 < search.best_score_ < 1


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


def test_a_threshold_of_ones_own(data: tuple[np.ndarray, ...]) -> None:
    X, labeled, _ = data
    model = LogisticRegression().fit(X, labeled)
    scores = model.decision_function(X)
    scorer = pu.make_pu_scorer("recall", alpha=0.25, threshold=-1.0)
    assert scorer(model, X, labeled) == pytest.approx(np.mean(scores[labeled] >= -1.0))


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("roc", {"alpha": 0.2}, "'metric' parameter of make_pu_scorer"),
        ("roc_auc", {}, "exactly one of 'alpha'"),
        ("roc_auc", {"alpha": 0.2, "prior": 0.3}, "'alpha' and 'prior'"),
        ("roc_auc", {"prior": 0.3}, "'scenario' parameter"),
        ("roc_auc", {"alpha": 1.2}, "'alpha' parameter"),
        ("precision_at_k", {"alpha": 0.2}, "top_k"),
    ],
)
def test_bad_calls_complain_at_once(metric: str, options: dict[str, float], message: str) -> None:
    with pytest.raises(pu.exceptions.PurecoverError, match=message):
        pu.make_pu_scorer(metric, **options)  # type: ignore[arg-type]
