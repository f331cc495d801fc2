"""The grid of the paper's study, the rows of a cell, and what is measured in it."""

from __future__ import annotations

import csv
from collections import Counter
from importlib import resources

import numpy as np
import pytest

import purecover as pu
from purecover.exceptions import InvalidInputError
from purecover.paper.design import BETAS, Cell, Draw, Record, StudySettings, cells, draw
from purecover.paper.run import DEFAULT, RELEASED, estimators, measure

POSITIVE = np.arange(2000) % 4 == 0


def test_grid() -> None:
    grid = list(cells(["bank", "wine"], repeats=3))
    assert len(grid) == 2 * 3 * 3
    assert [cell.repeat for cell in grid] == sorted(cell.repeat for cell in grid)
    assert len({cell.key for cell in grid}) == len(grid)
    assert len({tuple(cell.seeds) for cell in grid}) == len(grid)


def test_a_cell_depends_on_nothing_but_itself() -> None:
    few = {cell.key: cell.seeds for cell in cells(["wine"], betas=(0.95,), repeats=2)}
    many = {cell.key: cell.seeds for cell in cells(["bank", "wine"], repeats=5)}
    assert few.items() <= many.items()


@pytest.mark.parametrize(
    "other",
    [
        StudySettings(seed=1),
        StudySettings(n_networks=99),
        StudySettings(preset="authors"),
        StudySettings(n_resamples=3),
        StudySettings(device="cuda"),
    ],
)
def test_other_settings_are_other_cells(other: StudySettings) -> None:
    assert Cell("bank", 1.0, 0, other).key != Cell("bank", 1.0, 0).key


@pytest.mark.parametrize("beta", BETAS)
def test_rows_of_a_cell(beta: float) -> None:
    found = draw(Cell("bank", beta, 0), POSITIVE, 200)
    assert found.labeled.sum() == 200
    assert found.labeled[:200].all()
    assert len(set(found.rows.tolist())) == 2000
    np.testing.assert_array_equal(found.positive, POSITIVE[found.rows])
    assert found.beta == beta
    assert found.alpha == pytest.approx((500 - beta * 200) / 1800)
    again = draw(Cell("bank", beta, 0), POSITIVE, 200)
    np.testing.assert_array_equal(found.rows, again.rows)
    assert not np.array_equal(found.rows, draw(Cell("bank", beta, 1), POSITIVE, 200).rows)


def test_at_most_ten_thousand_are_unlabeled() -> None:
    found = draw(Cell("bank", 0.95, 0), np.arange(40_000) % 5 == 0, 1000)
    assert (~found.labeled).sum() == 10_000
    assert found.alpha == pytest.approx((8000 - 950) / 39_000, abs=5e-5)


@pytest.mark.parametrize("dataset", ["bank", "housing", "wine"])
def test_alpha_is_that_of_the_paper(dataset: str) -> None:
    with (resources.files("purecover.data") / "table1.csv").open(encoding="ascii") as lines:
        printed = [row for row in csv.DictReader(lines) if row["dataset"].lower() == dataset]
    assert len(printed) == 3
    for row in printed:
        positive = np.arange(int(row["n"])) < int(row["n1"])
        n_labeled = 100 if dataset == "housing" else 1000
        found = draw(Cell(dataset, float(row["beta"]), 0), positive, n_labeled)
        assert found.alpha == pytest.approx(float(row["alpha"]), abs=6e-4)


def test_too_few_rows() -> None:
    with pytest.raises(InvalidInputError, match="leave unlabeled rows of both classes"):
        draw(Cell("tiny", 1.0, 0), np.arange(20) < 10, 10)


@pytest.fixture(scope="module")
def measured() -> tuple[Draw, np.ndarray, list[Record]]:
    rng = np.random.default_rng(0)
    positive = np.concatenate([np.arange(200) < 190, np.arange(1000) < 300])
    labeled = np.arange(1200) < 200
    scores = rng.normal(size=1200) + 2 * positive
    drawn = Draw(np.arange(1200), labeled, positive)
    cell = Cell("bank", 0.95, 0, StudySettings(n_resamples=50))
    return drawn, scores, measure(cell, drawn, scores, scores + positive)


def one(records: list[Record], *key: str) -> Record:
    (found,) = [r for r in records if (r.metric, r.method, r.estimator, r.repair) == key]
    return found


def test_measured(measured: tuple[Draw, np.ndarray, list[Record]]) -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    drawn, scores, records = measured
    keys = Counter((r.metric, r.method, r.estimator, r.repair) for r in records)
    assert max(keys.values()) == 1
    assert all(np.isfinite(r.value) for r in records)
    assert {r.estimator for r in records} >= {"true", DEFAULT, RELEASED, "alphamax-n", "bbe"}
    assert one(records, "alpha", "true", "", "").value == 0.3
    same = one(records, "auc", "same", "", "").value
    assert same == pytest.approx(roc_auc_score(drawn.positive, scores))
    traditional = one(records, "auc", "traditional", "", "").value
    assert traditional == pytest.approx(roc_auc_score(drawn.positive, scores + drawn.positive))
    observed = one(records, "auc", "observed", "", "").value
    assert observed == pytest.approx(roc_auc_score(drawn.labeled, scores))
    naive = one(records, "auc_pr", "observed", "", "").value
    assert naive == pytest.approx(average_precision_score(drawn.labeled, scores), abs=0.01)
    # Equation 4 with the true proportions, and two curves that recover the same scores.
    direct = one(records, "auc", "direct", "true", "").value
    assert direct == pytest.approx((observed - (1 - 0.65) / 2) / 0.65)
    assert direct == pytest.approx(same, abs=0.05)
    for repair in ("isotonic", "paper", "hull", "likelihood"):
        assert one(records, "auc", "indirect", "true", repair).value == pytest.approx(
            same, abs=0.07
        )


def test_true_area_is_at_the_prior_of_the_unlabeled(
    measured: tuple[Draw, np.ndarray, list[Record]],
) -> None:
    from sklearn.metrics import average_precision_score

    drawn, scores, records = measured
    share = drawn.positive.mean()
    weights = np.where(drawn.positive, 0.3 / share, 0.7 / (1 - share))
    expected = average_precision_score(drawn.positive, scores, sample_weight=weights)
    assert one(records, "auc_pr", "same", "", "").value == pytest.approx(expected, abs=0.005)


def test_intervals_belong_to_the_default(
    measured: tuple[Draw, np.ndarray, list[Record]],
) -> None:
    _, _, records = measured
    with_interval = {
        (r.metric, r.method, r.estimator, r.repair) for r in records if r.low is not None
    }
    assert with_interval == {
        ("alpha", "estimate", DEFAULT, ""),
        ("beta", "estimate", DEFAULT, ""),
        ("auc", "indirect", DEFAULT, "isotonic"),
        ("auc_pr", "indirect", DEFAULT, "blend"),
    }
    for key in with_interval:
        record = one(records, *key)
        assert record.low is not None
        assert record.high is not None
        assert record.low < record.high
        assert record.low <= record.value <= record.high


def test_all_estimators_of_scores_take_part() -> None:
    names = set(estimators())
    assert set(pu.prior_estimators()) - names == {"noisy", "clustered", "alphamax"}
    assert names - set(pu.prior_estimators()) == {RELEASED}
