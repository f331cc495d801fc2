"""Many ensembles at once on a processor: as many single ones, each on rows of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from purecover import BaggedNetworks, ScoreCounts, auc_pu, bagged_scores_many
from purecover.exceptions import InvalidInputError, InvalidTypeError, PurecoverWarning


def world(n_ensembles: int = 2, n_rows: int = 100) -> tuple[Any, Any, Any]:
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


def test_scores_are_out_of_bag_and_in_the_order_of_rows() -> None:
    table, rows, labeled = world(3)
    scores = bagged_scores_many(table, rows, labeled, n_estimators=30, device="cpu", random_state=0)
    for chosen, marks, one in zip(rows, labeled, scores, strict=True):
        model = BaggedNetworks(30, device="cpu", random_state=5).fit(table[chosen], marks)
        # Other bags, the same rows.
        assert np.corrcoef(one, model.oob_score_samples_)[0, 1] > 0.9
        assert auc_pu(ScoreCounts.from_scores(one, marks)) > 0.6
    rng = np.random.default_rng(1)
    lots = rng.permuted(labeled, axis=1)
    blind = bagged_scores_many(table, rows, lots, n_estimators=30, device="cpu", random_state=0)
    areas = [auc_pu(ScoreCounts.from_scores(*pair)) for pair in zip(blind, lots, strict=True)]
    assert max(areas) < 0.65


def test_rows_that_repeat_would_tell_their_label() -> None:
    table, rows, labeled = world()
    rows[1, 7] = rows[1, 20]
    with pytest.raises(InvalidInputError) as caught:
        bagged_scores_many(table, rows, labeled, device="cpu")
    text = str(caught.value)
    assert f"row {rows[1, 7]} more than once in ensemble 1" in text
    assert "Hint: draw without replacement" in text


def test_the_warning_names_the_caller() -> None:
    table, rows, labeled = world(1, 120)
    with pytest.warns(PurecoverWarning, match="in the bag of every network") as caught:
        bagged_scores_many(table, rows, labeled, n_estimators=1, device="cpu", random_state=0)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rows": [[0, 1, 2, 200]]}, "rows of X, from 0 to 119"),
        ({"rows": [[0.0, 1.0, 2.0, 3.0]]}, "whole numbers of shape"),
        ({"rows": [[0, 1], [2]]}, "rows of different lengths"),
        ({"labeled": [[1, 1, 0, 0]]}, "booleans of the shape of rows"),
        ({"labeled": [[True] * 4]}, "only one kind in ensemble 0"),
        ({"labeled": [[True, False, False, False]]}, "got 1 labeled row of 4"),
        ({"random_state": [1, 2]}, "one seed, or one for each of the 1 ensembles"),
        ({"random_state": -1}, "'random_state' parameter of bagged_scores_many"),
        ({"X": [["a", "b"]] * 120}, "a matrix of finite numbers"),
    ],
    ids=str,
)
def test_wrong_input(wrong: dict[str, Any], message: str) -> None:
    given = {"X": world()[0], "rows": [[0, 1, 2, 3]], "labeled": [[True, True, False, False]]}
    with pytest.raises((InvalidInputError, InvalidTypeError), match=message):
        bagged_scores_many(**{**given, "device": "cpu", **wrong})
