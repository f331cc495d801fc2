"""Probabilities of the true class: calibrated, corrected, and a scikit-learn classifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import purecover as pu
from purecover.exceptions import (
    IdentifiabilityError,
    InvalidInputError,
    InvalidTypeError,
    PurecoverWarning,
    RecoveryWarning,
)
from purecover.models.calibrated import fit_isotonic, fit_sigmoid
from purecover.recovery.posteriors import posterior_band

ALPHA, SHIFT = 0.3, 2.0


def draw(
    seed: int, n_labeled: int, n_unlabeled: int, *, alpha: float = ALPHA, beta: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two normal classes in three dimensions, `SHIFT` apart along the diagonal of the first two."""
    rng = np.random.default_rng(seed)
    labeled = np.repeat([True, False], [n_labeled, n_unlabeled])
    truth = rng.random(labeled.size) < np.where(labeled, beta, alpha)
    X = rng.normal(size=(labeled.size, 3))
    X[:, :2] += SHIFT / np.sqrt(2) * truth[:, None]
    return X, labeled, truth


def true_posterior(X: np.ndarray, prior: float = ALPHA) -> np.ndarray:
    return expit(logit(prior) + SHIFT * (X[:, 0] + X[:, 1]) / np.sqrt(2) - SHIFT**2 / 2)


def positive(model: Any, X: Any) -> np.ndarray:
    return model.predict_proba(X)[:, 1]


def small(**more: Any) -> Any:
    settings = {"alpha": ALPHA, "random_state": 0, "method": "sigmoid", **more}
    return pu.PUCalibratedClassifier(LogisticRegression(), **settings)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["isotonic", "sigmoid", "auto"])
@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_probabilities_mean_the_true_class(method: Any, beta: float) -> None:
    X, labeled, _ = draw(0, 2000, 8000, beta=beta)
    model = small(method=method, beta=beta).fit(X, labeled)
    new, _, truth = draw(1, 0, 40_000)
    found = positive(model, new)
    assert found.min() >= 0
    assert found.max() <= 1
    for rows in np.array_split(np.argsort(found), 10):
        share = truth[rows].mean()
        error = np.sqrt(max(share * (1 - share), 0.01) / rows.size)
        # Four errors of the share, and what the training sample leaves uncertain.
        assert abs(found[rows].mean() - share) < 4 * error + 0.035
    assert np.mean((found - true_posterior(new)) ** 2) < 0.003


def test_alpha_is_estimated() -> None:
    X, labeled, _ = draw(9, 1000, 5000)
    model = small(alpha=None).fit(X, labeled)
    again = pu.estimators.ReferencePosterior().fit(model.oob_score_samples_, labeled)
    assert model.proportions_ == again.proportions_
    assert ALPHA in model.prior_estimator_.interval_["alpha"]
    known = small(alpha=None, beta=0.9, prior_estimator="bbe").fit(X, labeled)
    assert known.proportions_.beta == 0.9
    assert known.proportions_.origin.endswith("beta given")
    assert small().fit(X, labeled).prior_estimator_ is None
    clean = small(alpha=None, beta=1, prior_estimator="default").fit(X, labeled)
    assert clean.prior_estimator_.clean == "always"
    assert clean.proportions_.beta == 1
    own = pu.estimators.BBE()
    model = small(alpha=None, prior_estimator=own).fit(X, labeled)
    assert (
        model.proportions_
        == pu.estimators.BBE().fit(model.oob_score_samples_, labeled).proportions_
    )
    assert not hasattr(own, "proportions_")


def test_targets_multiply_the_odds() -> None:
    X, labeled, _ = draw(10, 500, 2000)
    base = positive(small().fit(X, labeled), X)
    for target, prior in ((0.5, 0.5), ("deployment", ALPHA), ("pooled", (500 + 2000 * 0.3) / 2500)):
        model = small(target=target).fit(X, labeled)
        assert model.target_prior_ == pytest.approx(prior)
        expected = expit(logit(base) + logit(prior) - logit(ALPHA))
        np.testing.assert_allclose(positive(model, X), expected, rtol=1e-6)
    censored = small(alpha=None, prior=0.44, scenario="censoring").fit(X, labeled)
    assert censored.proportions_.alpha == pytest.approx(ALPHA)
    assert censored.target_prior_ == pytest.approx(0.44)


def test_sigmoid_is_the_most_likely_one() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=3000)
    band = posterior_band(0.2, pu.MixtureProportions(0.3, 0.9))
    low, high = band
    labeled = rng.random(3000) < low + (high - low) * expit(1.5 * scores - 1)
    found = fit_sigmoid(scores, labeled, np.ones(3000), band)
    assert found.slope == pytest.approx(1.5, abs=0.3)

    n = labeled.sum()
    target = np.where(labeled, (n + 1) / (n + 2), 1 / (3000 - n + 2))

    def loss(slope: float, intercept: float) -> float:
        tau = low + (high - low) * expit(slope * (scores - found.center) + intercept)
        return -np.sum(target * np.log(tau) + (1 - target) * np.log(1 - tau))

    best = loss(found.slope, found.intercept)
    grid = [
        loss(found.slope + ds, found.intercept + di)
        for ds in np.linspace(-0.6, 0.6, 13)
        for di in np.linspace(-0.6, 0.6, 13)
    ]
    assert best <= min(grid) + 1e-6


def test_bounded_isotonic_regression_is_a_clipped_one() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=400)
    labeled = rng.random(400) < expit(2 * scores)
    weight = rng.uniform(0.5, 2, size=400)
    band = (0.15, 0.7)
    found = fit_isotonic(scores, labeled, weight, band)(scores)
    order = np.argsort(scores)
    plain = isotonic_regression(labeled[order].astype(float), weights=weight[order]).x
    np.testing.assert_allclose(found[order], np.clip(plain, *band), atol=1e-9)


EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": (
        "folds of repeated rows are not those of weighted rows; and as above"
    ),
    "check_sample_weight_equivalence_on_sparse_data": "as above",
}


@pytest.mark.slow
def test_scikit_learn_conventions() -> None:
    # Classes that the checks set apart leave room for hardly a positive among the unlabeled.
    model = pu.PUCalibratedClassifier(LogisticRegression(), alpha=0.02, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(model, expected_failed_checks=EXPECTED_TO_FAIL, on_fail=None)
    failed = {c["check_name"]: c["exception"] for c in checks if c["status"] == "failed"}
    assert failed == {}
    assert sum(c["status"] == "passed" for c in checks) > 50


@pytest.mark.parametrize(("no", "yes"), [(False, True), (-1, 1), ("unlabeled", "case")])
def test_classes(no: Any, yes: Any) -> None:
    X, labeled, truth = draw(12, 300, 1200)
    values = np.where(labeled, yes, no)
    model = small().fit(X, values)
    assert model.classes_.tolist() == sorted([no, yes])
    assert model.labeled_class_ == yes
    column = model.classes_.tolist().index(yes)
    expected = small().fit(X, labeled)
    np.testing.assert_array_equal(model.predict_proba(X)[:, column], positive(expected, X))
    predicted = model.predict(X)
    np.testing.assert_array_equal(predicted == yes, positive(expected, X) > 0.5)
    np.testing.assert_array_equal(model.decision_function(X) > 0, predicted == model.classes_[1])
    assert np.mean((predicted == yes) == truth) > 0.8
    named = small(positive_label=no).fit(X, np.where(labeled, no, yes))
    np.testing.assert_array_equal(named.oob_proba_, expected.oob_proba_)


def test_own_rows_are_scored_by_models_that_have_not_seen_them() -> None:
    """A tree knows each row by heart; that must not show."""
    rng = np.random.default_rng(16)
    X, labeled = rng.normal(size=(1000, 4)), rng.random(1000) < 0.4
    tree = DecisionTreeClassifier(random_state=0)
    model = pu.PUCalibratedClassifier(tree, alpha=0.2, random_state=0).fit(X, labeled)
    known = model.estimator_.predict_proba(X)[:, 1]
    assert pu.recovery.auc_pu(pu.ScoreCounts.from_scores(known, labeled)) == 1
    counts = pu.ScoreCounts.from_scores(model.oob_score_samples_, labeled)
    assert abs(pu.recovery.auc_pu(counts) - 0.5) < 0.06
    expected = pu.cross_fit_scores(tree, X, labeled, random_state=0)
    np.testing.assert_array_equal(model.oob_score_samples_, expected)


def test_groups_are_kept_together() -> None:
    """Each row four times: without groups a neighbor gives its label away."""
    rng = np.random.default_rng(17)
    X, labeled = rng.normal(size=(300, 4)), rng.random(300) < 0.4
    X, labeled, groups = np.repeat(X, 4, axis=0), np.repeat(labeled, 4), np.repeat(range(300), 4)
    model = pu.PUCalibratedClassifier(KNeighborsClassifier(1), alpha=0.02, random_state=0)
    apart = model.fit(X, labeled).oob_score_samples_
    assert pu.recovery.auc_pu(pu.ScoreCounts.from_scores(apart, labeled)) > 0.95
    together = model.fit(X, labeled, groups=groups).oob_score_samples_
    assert pu.recovery.auc_pu(pu.ScoreCounts.from_scores(together, labeled)) < 0.6
    clone(model).set_params(cv=GroupKFold(5)).fit(X, labeled, groups=groups)


def test_what_the_scores_contradict_is_refused() -> None:
    X, labeled, _ = draw(3, 300, 900)
    model = pu.PUCalibratedClassifier(LogisticRegression(), alpha=0.9, random_state=0)
    with pytest.raises(IdentifiabilityError, match=r"fit: alpha 0\.9 and beta 1 contradict"):
        model.fit(X, labeled)
    with pytest.warns(RecoveryWarning, match="contradict these scores"):  # groups may explain it
        model.fit(X, labeled, groups=np.arange(1200) // 2)


def test_weights() -> None:
    X, labeled, _ = draw(18, 300, 1200)
    plain = small().fit(X, labeled)
    same = small().fit(X, labeled, sample_weight=np.ones(1500))
    np.testing.assert_allclose(same.oob_proba_, plain.oob_proba_, atol=1e-6)
    # Labeled rows that count three times change the share of labels, not who is positive.
    more = small().fit(X, labeled, sample_weight=np.where(labeled, 3.0, 1.0))
    assert more.labeled_share_ == pytest.approx(900 / 2100)
    assert np.abs(more.oob_proba_ - plain.oob_proba_).mean() < 0.02
    # An estimator that knows no weights is fitted without, and calibrated with them.
    deaf = pu.PUCalibratedClassifier(KNeighborsClassifier(50), alpha=ALPHA, random_state=0)
    with pytest.warns(PurecoverWarning, match="KNeighborsClassifier takes no weights") as caught:
        deaf.fit(X, labeled, sample_weight=np.where(labeled, 3.0, 1.0))
    assert caught[0].filename == __file__
    assert deaf.labeled_share_ == pytest.approx(900 / 2100)


def test_wrong_data() -> None:
    X, labeled, _ = draw(20, 50, 150)
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((X, "labeled"), {}, "pass the column itself"),
        ((X, labeled), {"groups": "g"}, "pass the column itself"),
        ((X, np.where(labeled, 1, np.nan)), {}, r"fill it with 0 first$"),
        (
            (X, np.where(labeled, "yes", "no").astype(object) + np.tile(["", " "], 100)),
            {},
            "got 4 values",
        ),
        ((X, np.array([True, "no"] * 100, dtype=object)), {}, "of one type throughout"),
    ]
    for data, more, message in cases:
        with pytest.raises((InvalidInputError, InvalidTypeError), match=message):
            small().fit(*data, **more)
    for column in (X[:, 0], np.arange(200) % 3):  # what to do is said in words of fit(X, y)
        with pytest.raises(InvalidInputError) as caught:
            small().fit(X, column)
        for word in ("labeled parameter", "scores.index", "swapped", "negative_label"):
            assert word not in str(caught.value)
    with pytest.raises(NotFittedError):
        small().predict(X)
    model = small().fit(X, labeled)
    with pytest.raises(ValueError, match="3 features"):
        model.predict_proba(X[:, :2])


def test_scores_that_tell_nothing() -> None:
    X, labeled = np.ones((200, 1)), np.arange(200) < 50
    with pytest.raises(
        IdentifiabilityError, match=r"cannot estimate alpha and beta from the cross"
    ):
        small(alpha=None).fit(X, labeled)
    # With alpha known, all rows are alike, and as likely positive as any.
    for method in ("isotonic", "sigmoid", "auto"):
        model = small(method=method).fit(X, labeled)
        np.testing.assert_allclose(positive(model, X), ALPHA, atol=0.01)
