"""Estimators side by side, some on scores and some on features: each sees what it takes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import purecover as pu
from purecover.estimators.base import Inclusions
from purecover.estimators.compare import (
    NO_FEATURE_INTERVALS,
    GroupedRows,
    compare_priors,
    reads_features,
)
from purecover.estimators.rows import FeaturePriorEstimator, Rows
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError

N_LABELED, N_UNLABELED, ALPHA = 200, 800, 0.3
PAIR = ["bbe", "tice"]
ON_FEATURES = {n for n, cls in pu.prior_estimators().items() if cls.takes == "features"}


def make_world(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labeled = np.arange(N_LABELED + N_UNLABELED) < N_LABELED
    positive = labeled | (rng.random(labeled.size) < ALPHA)
    X = rng.normal(size=(labeled.size, 3)) + 2.0 * positive[:, None]
    return X, X.sum(axis=1), labeled


X, SCORES, LABELED = make_world()
QUIET: dict[str, Any] = {"n_resamples": 0}


class Means(FeaturePriorEstimator):
    """The share that takes the mean of the negatives, which is 0 here, to that of all."""

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
        del rng
        return Inclusions(float(rows.unlabeled.mean() / rows.labeled.mean()))


# -- what a row says ----------------------------------------------------------------------------


def test_each_looks_at_what_it_takes() -> None:
    found = compare_priors(SCORES, LABELED, features=X, estimators=PAIR, **QUIET)
    assert [(row.name, row.estimated_from) for row in found] == [
        ("bbe", "scores"),
        ("tice", "features"),
    ]
    on_scores = pu.NoisyLabels(pu.BBE()).fit(SCORES, LABELED).proportions_
    on_features = pu.NoisyLabels(pu.TIcE()).fit(X, LABELED).proportions_
    assert found["bbe"].proportions == replace(on_scores, origin="NoisyLabels(BBE)")
    assert found["tice"].proportions == replace(on_features, origin="NoisyLabels(TIcE)")
    assert found.n_features == 3
    assert found.n_thresholds == SCORES.size


def test_without_features_the_score_is_the_only_one() -> None:
    row = compare_priors(SCORES, LABELED, estimators=["tice"], beta=1, **QUIET)["tice"]
    assert row.estimated_from == "scores"
    assert row.value("alpha") == pu.TIcE().fit(SCORES, LABELED).proportions_.alpha


@pytest.mark.parametrize("name", sorted(ON_FEATURES - {"kernel-mean"}))
def test_every_estimator_of_features(name: str) -> None:
    row = compare_priors(labeled=LABELED, features=X, estimators=[name], beta=1, **QUIET)[name]
    estimator = pu.prior_estimators()[name]()
    if name == "msgmm":
        estimator.set_params(clean="always")
    assert row.value("alpha") == estimator.fit(X, LABELED).proportions_.alpha
    assert abs(row.value("alpha") - ALPHA) < 0.15


def test_a_part_of_the_rows_is_noted() -> None:
    few = {"few": pu.KernelMean(max_points=200)}
    row = compare_priors(labeled=LABELED, features=X, estimators=few, beta=1, **QUIET)["few"]
    assert row.notes[0] == (
        "estimated from a random 100 of 200 labeled and 100 of 800 unlabeled rows (max_points)"
    )


def test_wrapped_by_the_caller() -> None:
    wrapped = {"own": pu.NoisyLabels(pu.TIcE(), clean="never"), "other": pu.NoisyLabels(pu.BBE())}
    found = compare_priors(SCORES, LABELED, features=X, estimators=wrapped, **QUIET)
    assert [row.estimated_from for row in found] == ["features", "scores"]
    alone = pu.NoisyLabels(pu.TIcE(), clean="never").fit(X, LABELED).proportions_
    assert found["own"].value("beta") == alone.beta < 1
    assert reads_features(pu.TIcE())
    assert not reads_features(pu.NoisyLabels())


# -- which rows ---------------------------------------------------------------------------------


@pytest.fixture
def quick_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow one gets few rows; which rows the table has is what is asked for."""
    monkeypatch.setattr(
        pu.KernelMean.__init__, "__kwdefaults__", {**_KERNEL_DEFAULTS, "max_points": 100}
    )


_KERNEL_DEFAULTS = dict(pu.KernelMean.__init__.__kwdefaults__ or {})


@pytest.mark.usefixtures("quick_kernel")
@pytest.mark.parametrize("beta", [None, 1, 0.9])
def test_all_by_default(beta: float | None) -> None:
    alone = compare_priors(SCORES, LABELED, beta=beta, **QUIET)
    both = compare_priors(SCORES, LABELED, features=X, beta=beta, **QUIET)
    only = compare_priors(labeled=LABELED, features=X, beta=beta, **QUIET)
    names = {row.name for row in alone}
    assert not names & ON_FEATURES
    assert {row.name for row in both} == names | ON_FEATURES
    assert {row.name for row in only} == ON_FEATURES
    assert {row.name for row in both if row.estimated_from == "features"} == ON_FEATURES
    assert both.default is both.rows[0]
    assert only.default is None
    for row in only:
        assert row.proportions == both[row.name].proportions
    for row in alone:
        assert row.proportions == both[row.name].proportions


@pytest.mark.parametrize("name", ["bbe", "default"])
def test_who_needs_scores_is_refused_without(name: str) -> None:
    says = r"'estimators' parameter of compare_priors must be such as take features.*needs scores"
    with pytest.raises(InvalidInputError, match=says) as caught:
        compare_priors(labeled=LABELED, features=X, estimators=["tice", name], **QUIET)
    assert "cross_fit_scores(model, features, labeled)" in str(caught.value)


# -- intervals ----------------------------------------------------------------------------------


def test_rows_are_drawn_with_all_their_features() -> None:
    settings: dict[str, Any] = {"n_resamples": 15, "confidence_level": 0.8}
    found = compare_priors(SCORES, LABELED, features=X, estimators=PAIR, random_state=7, **settings)
    alone = pu.NoisyLabels(pu.TIcE()).fit(X, LABELED)
    assert found["tice"].intervals == alone.interval(random_state=7, **settings)
    scores_alone = pu.NoisyLabels(pu.BBE()).fit(SCORES, LABELED)
    assert found["bbe"].intervals == scores_alone.interval(random_state=7, **settings)


@pytest.mark.parametrize("n_features", [1, 3])
def test_a_known_beta(n_features: int) -> None:
    settings: dict[str, Any] = {"n_resamples": 15, "random_state": 3}
    some = X[:, :n_features]
    row = compare_priors(labeled=LABELED, features=some, estimators=["tice"], beta=0.8, **settings)[
        "tice"
    ]
    alone = pu.TIcE().fit(some, LABELED)
    ends = alone.interval(**settings)["alpha"]
    assert row.value("alpha") == pytest.approx(0.8 * alone.proportions_.alpha, rel=1e-12)
    assert row.ends("alpha") == pytest.approx((0.8 * ends.low, 0.8 * ends.high), rel=1e-9)
    assert row.ends("beta") == (0.8, 0.8)


def test_by_default_only_scores_have_intervals() -> None:
    found = compare_priors(SCORES, LABELED, features=X, estimators=PAIR)
    assert found["bbe"].intervals["alpha"].low < found["bbe"].intervals["alpha"].high
    assert not found["tice"].intervals
    assert found.n_resamples == 200
    assert found.notes == (NO_FEATURE_INTERVALS,)
    only = compare_priors(labeled=LABELED, features=X, estimators=["tice"])
    assert (only.n_resamples, only.notes) == (0, (NO_FEATURE_INTERVALS,))
    asked = compare_priors(labeled=LABELED, features=X, estimators=["tice"], n_resamples=40)
    assert asked["tice"].intervals
    assert asked.notes == ()
    assert compare_priors(SCORES, LABELED, estimators=["bbe"]).n_resamples == 200


def test_groups_are_drawn_as_a_whole() -> None:
    groups = np.arange(LABELED.size) % 100
    found = compare_priors(
        labeled=LABELED, features=X, groups=groups, estimators=["tice"], n_resamples=10
    )["tice"]
    assert found.intervals["alpha"].method == "half-samples, groups"
    # Four copies of every row in one group say as much as the rows themselves.
    copied: dict[str, Any] = {
        "labeled": np.repeat(LABELED, 4),
        "features": np.repeat(X[:, :2], 4, axis=0),
        "estimators": {"means": Means()},
        "beta": 1,
        "n_resamples": 300,
    }
    together = np.repeat(np.arange(LABELED.size), 4)
    aware, naive = (
        compare_priors(groups=groups, **copied)["means"].ends("alpha")
        for groups in (together, None)
    )
    # Twice as wide, which is the root of four, up to what 300 replicates leave.
    assert aware[1] - aware[0] == pytest.approx(2 * (naive[1] - naive[0]), rel=0.25)


def test_replicates_hold_whole_groups() -> None:
    rng = np.random.default_rng(0)
    numbers = np.arange(12.0)[:, None]
    groups = np.array([0, 0, 1, 2]), np.arange(8) // 2
    rows = GroupedRows(numbers[:4], numbers[4:], *groups)
    for _ in range(20):
        drawn = rows.subsampled(2, 4, rng)
        there = {
            int(group)
            for numbers_of, group_of, found in zip(
                (numbers[:4], numbers[4:]), groups, (drawn.labeled, drawn.unlabeled), strict=True
            )
            for number, group in zip(numbers_of, group_of, strict=True)
            if number in found
        }
        assert len(there) == 2  # of four
        assert drawn.n_unlabeled == 4
        np.testing.assert_array_equal(drawn.labeled, numbers[:4][np.isin(groups[0], list(there))])


def test_groups_that_hold_no_labeled_row_are_a_note() -> None:
    # One group holds all labeled rows: half of two groups never holds both kinds.
    groups = np.where(LABELED, "a", "b")
    row = compare_priors(
        labeled=LABELED, features=X, groups=groups, estimators=["tice"], n_resamples=5
    )["tice"]
    assert not row.intervals
    assert any("too few groups hold one" in note for note in row.notes)


# -- other rows ---------------------------------------------------------------------------------


def test_known_negatives_are_left_out() -> None:
    labels = np.append(LABELED.astype(int), [-1] * 50)
    more = np.vstack((X, np.full((50, 3), -9.0)))
    found = compare_priors(
        np.append(SCORES, np.full(50, -27.0)),
        labels,
        features=more,
        negative_label=-1,
        groups=np.arange(labels.size),
        estimators=PAIR,
        **QUIET,
    )
    without = compare_priors(SCORES, LABELED, features=X, estimators=PAIR, **QUIET)
    assert found.n_unlabeled == N_UNLABELED
    for one, other in zip(found, without, strict=True):
        assert one.proportions == other.proportions


def test_words_for_labels() -> None:
    words = np.where(LABELED, "p", "u")
    found = compare_priors(
        labeled=words, features=X, positive_label="p", estimators=["tice"], **QUIET
    )
    expected = compare_priors(labeled=LABELED, features=X, estimators=["tice"], **QUIET)
    assert found["tice"].proportions == expected["tice"].proportions


def test_weights_are_a_complaint_of_those_who_know_none() -> None:
    weight = np.ones(LABELED.size)
    found = compare_priors(
        SCORES, LABELED, features=X, sample_weight=weight, estimators=PAIR, **QUIET
    )
    assert found["bbe"].error is None
    assert "knows no weights" in found["tice"].error
    with pytest.raises(InvalidInputError, match="'sample_weight' parameter of compare_priors"):
        compare_priors(labeled=LABELED, features=X, sample_weight=weight[:3])


@pytest.mark.parametrize("shape", [(-1, 1), (-1,)])
def test_one_feature_is_counted(shape: tuple[int, ...]) -> None:
    column = X[:, 0].reshape(shape)
    found = compare_priors(
        labeled=LABELED,
        features=column,
        estimators=["msgmm"],
        groups=np.arange(LABELED.size) // 2,
        n_resamples=10,
    )
    alone = pu.GaussianMixtures().fit(X[:, 0], LABELED)
    assert found["msgmm"].proportions == alone.proportions_
    assert found["msgmm"].estimated_from == "features"
    assert "groups" in found["msgmm"].intervals["alpha"].method
    assert found.n_features == 1


@pytest.mark.parametrize("columns", [["a", "b", "c"], [0, 1, 2]], ids=["texts", "numbers"])
def test_frames(columns: list[Any]) -> None:
    frame = pd.DataFrame(X, columns=columns)
    found = compare_priors(labeled=LABELED, features=frame, estimators=["tice"], **QUIET)
    expected = compare_priors(labeled=LABELED, features=X, estimators=["tice"], **QUIET)
    assert found["tice"].proportions == expected["tice"].proportions


# -- what goes wrong ----------------------------------------------------------------------------

OURS = "'features' parameter of compare_priors must be "
MISSING = np.where(np.arange(X.size).reshape(X.shape) == 4, np.nan, X)


@pytest.mark.parametrize(
    ("features", "says"),
    [
        (X[:-1], OURS + r"as many rows as labeled has values \(1000\), got 999 rows"),
        (MISSING, OURS),
        (X.astype(str), OURS),
        (np.where(X > 9, X, np.inf), OURS),
        (X[:0], OURS + "non-empty"),
        (sparse.csr_matrix(X), OURS + r"a dense matrix(.|\n)*features\.toarray\(\)"),
        (pd.DataFrame({"a": X[:, 0], "b": "text"}), r"features\['b'\].*of compare_priors"),
        (pd.DataFrame(index=range(1000)), OURS + "a table with at least one column"),
        ("a,b,c", OURS),
    ],
)
def test_wrong_features(features: Any, says: str) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=says):
        compare_priors(SCORES, LABELED, features=features, estimators=["tice"], **QUIET)


def test_constant_features() -> None:
    with pytest.raises(IdentifiabilityError, match="compare_priors needs rows that differ"):
        compare_priors(labeled=LABELED, features=np.ones((1000, 2)))


def test_what_must_be_given() -> None:
    with pytest.raises(InvalidTypeError, match="'scores' parameter of compare_priors"):
        compare_priors(labeled=LABELED)
    with pytest.raises(InvalidTypeError, match=r"'labeled' .* given with features"):
        compare_priors(features=X)
    counts = pu.ScoreCounts.from_scores(SCORES, LABELED)
    with pytest.raises(InvalidInputError, match="takes no 'features' beside a ScoreCounts"):
        compare_priors(counts, features=X)


def test_rows_in_another_order() -> None:
    frame, labels = pd.DataFrame(X), pd.Series(LABELED)
    with pytest.raises(InvalidInputError, match="'labeled' parameter of compare_priors"):
        compare_priors(labeled=labels[::-1], features=frame, estimators=["tice"])


# -- ways out -----------------------------------------------------------------------------------


def test_text_frame_and_json_say_what_was_looked_at() -> None:
    found = compare_priors(SCORES, LABELED, features=X, estimators=PAIR, **QUIET)
    lines = str(found).splitlines()
    assert lines[0] == (
        "200 labeled, 800 unlabeled, 1,000 distinct scores, 3 features; beta estimated too"
    )
    assert lines[2].split() == ["from", "alpha", "beta", "beta", "-", "alpha", "seconds"]
    assert lines[3].split()[:2] == ["bbe", "scores"]
    assert lines[4].split()[:2] == ["tice", "features"]
    assert found.frame()["from"].tolist() == ["scores", "features"]
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [row["from"] for row in data["estimators"]] == ["scores", "features"]
    assert data["n_features"] == 3
    only = str(compare_priors(labeled=LABELED, features=X[:, :1], estimators=["tice"], **QUIET))
    assert only.startswith("200 labeled, 800 unlabeled, 1 feature; beta estimated too\n")
    plain = str(compare_priors(SCORES, LABELED, estimators=PAIR, **QUIET))
    assert "from" not in plain.splitlines()[2]


def test_where_scores_came_from_is_told() -> None:
    found = compare_priors(SCORES, LABELED, estimators=["bbe"], **QUIET)
    told = replace(found, scores_from="a model of mine")
    assert str(told).splitlines()[1] == "scores of a model of mine"
    assert told.to_dict()["scores_from"] == "a model of mine"
    assert found.to_dict()["scores_from"] is None


def test_the_picture_says_what_was_looked_at() -> None:
    found = compare_priors(SCORES, LABELED, features=X, estimators=PAIR, **QUIET)
    display = pu.PriorsDisplay(found, quantities=["alpha"]).plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["bbe", "tice (from features)"]
    assert list(display.frame()["from"]) == ["scores", "features"]
