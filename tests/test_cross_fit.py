"""Out-of-fold scores: no row is scored by a model that saw it, and rows keep their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier

import purecover as pu
from purecover.exceptions import InvalidInputError, InvalidTypeError, PurecoverError
from purecover.models.cross_fit import fold_ranks


def world(n: int = 600, seed: int = 0, shift: float = 1.0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3)) + shift * truth[:, None]
    return X, truth & (rng.random(n) < 0.5), truth


def auc(scores: Any, labeled: Any) -> float:
    return pu.recovery.auc_pu(pu.ScoreCounts.from_scores(scores, labeled))


class Memory(ClassifierMixin, BaseEstimator):
    """Knows every training row by heart and says a half of all others."""

    def __init__(self, leak: bool = False) -> None:
        self.leak = leak

    def fit(self, X: Any, y: Any) -> Memory:
        self.classes_ = np.unique(y)
        self.known_ = {tuple(row): int(label) for row, label in zip(X, y, strict=True)}
        if self.leak:
            self.known_ |= LEAKED
        return self

    def predict_proba(self, X: Any) -> Any:
        p = np.array([self.known_.get(tuple(row), 0.5) for row in X], dtype=float)
        return np.column_stack([1 - p, p])


LEAKED: dict[tuple[float, ...], int] = {}


@pytest.mark.slow
def test_a_model_that_memorizes_learns_nothing_from_random_labels():
    rng = np.random.default_rng(1)
    X, labeled = rng.normal(size=(900, 4)), rng.random(900) < 0.3
    forest = RandomForestClassifier(20, random_state=0)
    seen = clone(forest).fit(X, labeled).predict_proba(X)[:, 1]
    assert auc(seen, labeled) > 0.99
    scores = pu.cross_fit_scores(forest, X, labeled, random_state=0)
    # Standard error of an AUC without signal here: about .02.
    assert abs(auc(scores, labeled) - 0.5) < 0.08
    assert set(pu.cross_fit_scores(Memory(), X, labeled, random_state=0)) == {0.5}


def test_groups_are_not_split():
    rng = np.random.default_rng(2)
    X, labeled = rng.normal(size=(150, 4)), rng.random(150) < 0.3
    X, labeled, family = np.repeat(X, 4, axis=0), np.repeat(labeled, 4), np.repeat(range(150), 4)
    model = KNeighborsClassifier(3)
    naive = pu.cross_fit_scores(model, X, labeled, random_state=0)
    honest = pu.cross_fit_scores(model, X, labeled, groups=family, random_state=0)
    assert auc(naive, labeled) > 0.95
    assert abs(auc(honest, labeled) - 0.5) < 0.15
    assert set(pu.cross_fit_scores(Memory(), X, labeled, groups=family)) == {0.5}
    named = pu.cross_fit_scores(
        model, X, labeled, groups=[f"family {i}" for i in family], random_state=0
    )
    assert named.shape == honest.shape


def test_equal_to_a_loop_by_hand():
    X, labeled, _ = world()
    expected = np.full(len(X), np.nan)
    for train, test in StratifiedKFold(4, shuffle=True, random_state=7).split(X, labeled):
        model = LogisticRegression().fit(X[train], labeled[train])
        expected[test] = model.predict_proba(X[test])[:, 1]
    scores = pu.cross_fit_scores(LogisticRegression(), X, labeled, cv=4, random_state=7)
    np.testing.assert_array_equal(scores, expected)
    splitter = StratifiedKFold(4, shuffle=True, random_state=7)
    splits = list(splitter.split(X, labeled))
    masks = [(np.isin(np.arange(600), a), np.isin(np.arange(600), b)) for a, b in splits]
    for cv in (splitter, splits, masks):
        again = pu.cross_fit_scores(LogisticRegression(), X, labeled, cv=cv)
        np.testing.assert_array_equal(again, expected)
    # Larger than scikit-learn takes.
    large = [
        pu.cross_fit_scores(LogisticRegression(), X, labeled, random_state=seed)
        for seed in (2**32, 2**32, 2**70)
    ]
    np.testing.assert_array_equal(large[0], large[1])
    assert (large[0] != large[2]).any()


def test_repeated_folds_are_averaged():
    X, labeled, _ = world()
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    total = np.zeros(600)
    for train, test in cv.split(X, labeled):
        total[test] += (
            LogisticRegression().fit(X[train], labeled[train]).predict_proba(X[test])[:, 1]
        )
    scores = pu.cross_fit_scores(LogisticRegression(), X, labeled, cv=cv)
    np.testing.assert_allclose(scores, total / 4, rtol=1e-12)


@pytest.mark.parametrize("engine", [pd.DataFrame, pl.DataFrame])
def test_named_columns_are_no_features(engine: Any):
    X, labeled, _ = world()
    groups = np.arange(600) // 2
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    frame = engine({**columns, "known": labeled.astype(int), "family": groups})
    model = LogisticRegression()
    found = pu.cross_fit_scores(model, frame, "known", groups="family", random_state=0)
    expected = pu.cross_fit_scores(model, X, labeled, groups=groups, random_state=0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(InvalidInputError, match=r"The 'labeled' .* name of a column"):
        pu.cross_fit_scores(model, frame, "nonsense")


def test_known_negatives_are_scored_but_not_trained_on():
    X, labeled, truth = world()
    column = labeled.astype(int)
    negative = np.zeros(600, dtype=bool)
    negative[np.flatnonzero(~truth)[:60]] = True
    column[negative] = -1
    model = LogisticRegression()
    scores = pu.cross_fit_scores(model, X, column, negative_label=-1, random_state=0)
    poisoned = X.copy()
    poisoned[negative] = 1e3
    again = pu.cross_fit_scores(model, poisoned, column, negative_label=-1, random_state=0)
    np.testing.assert_array_equal(scores[~negative], again[~negative])
    assert np.isfinite(scores[negative]).all()


def test_ranks_are_plain_ranks_in_equal_folds_and_allow_for_unequal_ones():
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    positive = np.array([True, False, True, False])
    ranks = fold_ranks(scores, positive, ~positive, 0.5)
    np.testing.assert_allclose(ranks, [0.875, 0.125, 0.5, 0.5])
    # Two folds from the same two populations, one with many more labeled rows.
    rng = np.random.default_rng(0)
    means = []
    for n_labeled in (200, 20_000):
        values = np.concatenate([rng.normal(1, 1, n_labeled), rng.normal(0, 1, 20_000)])
        member = np.arange(values.size) < n_labeled
        means.append(fold_ranks(values, member, ~member, 0.2)[~member].mean())
    assert means[0] == pytest.approx(means[1], abs=0.01)


class Blind(Memory):
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) * np.nan


class Wide(Memory):
    def predict_proba(self, X: Any) -> Any:
        return np.zeros((len(X), 3))


X60, LABELED60 = world(60)[:2]
FEW = np.arange(60) < 3

COMPLAINTS = {
    "too few labeled": ({"labeled": FEW}, r"'cv' .* at most the number of labeled rows, 3, got 5"),
    "one labeled": ({"labeled": [1] + [0] * 59}, r"'labeled' .* at least two labeled rows, got 1"),
    "a class of splitters": ({"cv": KFold}, r"The 'cv' .* a splitter of scikit-learn"),
    "parts drawn at random": ({"cv": ShuffleSplit(5, random_state=0)}, r"every row equally often"),
    "growing parts": ({"cv": TimeSeriesSplit(3)}, r"scores some rows 0 and others 1 times"),
    "leave one out": ({"cv": LeaveOneOut()}, r"a fold with no (un)?labeled row to score"),
    "unstratified": ({"cv": KFold(5), "labeled": np.arange(60) < 20}, r"no unlabeled row to score"),
    "nothing to train on": ({"cv": KFold(2), "labeled": np.arange(60) < 30}, r"row to train on"),
    "rows on both sides": ({"cv": [(np.arange(60), np.arange(60))]}, r"by a model that saw them"),
    "rows that are not there": ({"cv": [(np.arange(30), np.arange(30, 90))]}, r"The 'cv' .* must"),
    "no folds": ({"cv": []}, r"every row equally often"),
    "missing groups": ({"groups": [None, *range(59)]}, r"The 'groups' .* free of missing"),
    "few groups": ({"groups": np.arange(60) % 3}, r"'cv' .* number of groups with labeled rows, 3"),
    "labels in one group": (
        {"groups": np.arange(60) // 3, "labeled": FEW}, r"at least two groups with labeled rows"),
    "a splitter that ignores groups": (
        {"cv": StratifiedKFold(5, shuffle=True, random_state=0), "groups": np.arange(60) // 2},
        r"keeps groups together"),
    "a splitter that needs groups": ({"cv": GroupKFold(3)}, r"cannot split these rows"),
    "a single column": ({"X": X60[:, 0]}, r"The 'X' .*\n?.*shape \(60,\)"),
    "a dict": ({"X": {"a": [1, 2]}}, r"make a data frame of it"),
    "a lazy frame": ({"X": pl.LazyFrame({"a": [1]})}, r"collect a lazy frame first"),
    "a regression": ({"estimator": LinearRegression()}, r"predict alone"),
    "scores of nan": ({"estimator": Blind()}, r"12 NaN or infinite of 12 in fold 1"),
    "scores of three classes": ({"estimator": Wide()}, r"a number per row, got .* \(12, 3\)"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored:UserWarning")
@pytest.mark.parametrize("case", COMPLAINTS)
def test_complaints(case: str):
    wrong, message = COMPLAINTS[case]
    valid = {"estimator": Memory(), "X": X60, "labeled": LABELED60, "random_state": 0}
    assert pu.cross_fit_scores(**valid).shape == (60,)
    with pytest.raises(PurecoverError, match=r"(?s)" + message) as caught:
        pu.cross_fit_scores(**{**valid, **wrong})
    assert isinstance(caught.value, (InvalidInputError, InvalidTypeError))
    assert "of cross_fit_scores must be" in str(caught.value)
