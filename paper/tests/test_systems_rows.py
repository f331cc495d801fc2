"""Estimators on rows of features, and their intervals from halves of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purecover as pu
from purecover.estimators import Inclusions, NoisyLabels
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover_paper.systems import FeaturePriorEstimator, FeatureRows

X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]])
LABELED = np.array([False, True, False, True])


class HalfPlane(FeaturePriorEstimator):
    """Twice the share of unlabeled rows on the labeled side of their median."""

    def __init__(self, random_state: Any = 0) -> None:
        self.random_state = random_state

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        toward = rows.labeled.mean(axis=0) - rows.unlabeled.mean(axis=0)
        border = np.median(rows.labeled @ toward)
        share = np.mean(rows.unlabeled @ toward >= border) / np.mean(
            rows.labeled @ toward >= border
        )
        details = {"drawn": float(rng.random()), "n_features": rows.n_features}
        return Inclusions(min(1.0, float(share)), details=details)


def plane(
    n_labeled: int = 400, n_unlabeled: int = 1600, *, beta: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds in two dimensions, a quarter of the unlabeled in the upper one."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(n_labeled + n_unlabeled) < n_labeled
    positive = rng.random(labeled.size) < np.where(labeled, beta, 0.25)
    return rng.normal(size=(labeled.size, 2)) + 2.5 * positive[:, None], labeled


def test_counts_are_repeated() -> None:
    counts = pu.ScoreCounts.from_counts([3.0, 2.0, 1.0], [2, 0, 1], [0, 1, 3])
    rows = FeatureRows.from_counts(counts)
    assert rows.labeled[:, 0].tolist() == [3, 3, 1]
    assert rows.unlabeled[:, 0].tolist() == [2, 1, 1, 1]


def test_weighted_counts_are_refused() -> None:
    counts = pu.ScoreCounts.from_scores([2.0, 1.0], [1, 0], sample_weight=[1, 2])
    with pytest.raises(InvalidInputError, match="knows no weights"):
        FeatureRows.from_counts(counts)
    with pytest.raises(InvalidInputError, match="'sample_weight' parameter of HalfPlane"):
        HalfPlane().fit(counts)
    with pytest.raises(InvalidInputError, match=r"'sample_weight' parameter of HalfPlane\.fit"):
        HalfPlane().fit(X, LABELED, sample_weight=np.ones(4))


def test_scaling_keeps_ratios_of_distances() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(60, 3))
    labeled = np.arange(60) < 20
    plain = FeatureRows.from_data(matrix, labeled).scaled()
    for factor in (1e300, 1e-300, 1e-3):
        other = FeatureRows.from_data(matrix * factor + 7 * factor, labeled).scaled()
        np.testing.assert_allclose(other.labeled, plain.labeled, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(other.unlabeled, plain.unlabeled, rtol=1e-9, atol=1e-12)
    given = FeatureRows.from_data(matrix, labeled).scaled(0.5)
    expected = (matrix[labeled] - np.median(np.r_[matrix[labeled], matrix[~labeled]], axis=0)) / 0.5
    np.testing.assert_allclose(given.labeled, expected, rtol=1e-12, atol=1e-14)


def test_features() -> None:
    data = plane()
    estimator = HalfPlane().fit(*data)
    assert estimator.proportions_.alpha == pytest.approx(0.25, abs=0.06)
    assert estimator.proportions_.beta == 1
    assert estimator.proportions_.origin == "HalfPlane"
    assert estimator.n_features_in_ == 2
    assert estimator.diagnostics_["n_features"] == 2
    assert estimator.diagnostics_["notes"] == ()
    assert estimator.diagnostics_["identifiable"] is True
    assert estimator.takes == "features"
    assert pu.estimators.BBE.takes == "scores"


def test_one_column_is_a_score() -> None:
    data, labeled = plane()
    scores = data.sum(axis=1)
    expected = HalfPlane().fit(scores, labeled)
    assert expected.n_features_in_ == 1
    counts = pu.ScoreCounts.from_scores(scores, labeled)
    for door in ((scores[:, None], labeled), (counts,)):
        assert HalfPlane().fit(*door).proportions_ == expected.proportions_
    assert set(expected.interval(method="bound")) == {"alpha", "beta", "delta"}
    # Labels of halves are tested as those of all rows are.
    assert HalfPlane()._count(FeatureRows.from_counts(counts)) == counts


@pytest.mark.slow
def test_halves_spread_around_the_estimate_as_it_does_around_the_truth() -> None:
    fits = [HalfPlane().fit(*plane(200, 800, seed=seed)) for seed in range(60)]
    alphas = [fit.proportions_.alpha for fit in fits]
    found = [fit.interval(n_resamples=60)["alpha"] for fit in fits]
    assert {each.method for each in found} == {"half-samples"}
    assert all(each.estimate in each for each in found)
    # Of 60 normal numbers the place at rank 0.025 * 61 lies 2.12 standard deviations out.
    assert np.mean([each.width for each in found]) == pytest.approx(4.24 * np.std(alphas), rel=0.15)


def test_noisy_labels_on_features() -> None:
    data = plane(800, 3200, beta=0.75)
    estimator = NoisyLabels(HalfPlane(), clean="never").fit(*data)
    rows = FeatureRows.from_data(*data)
    one = HalfPlane()._estimate_rows(rows, np.random.default_rng(0)).a
    two = HalfPlane()._estimate_rows(rows.flipped(), np.random.default_rng(0)).a
    expected = pu.MixtureProportions.from_inclusions(one, two)
    assert estimator.proportions_.alpha == expected.alpha
    assert estimator.proportions_.beta == expected.beta < 0.9
    assert estimator.n_features_in_ == 2
    found = estimator.interval(n_resamples=20)
    assert found["beta"].low < estimator.proportions_.beta < found["beta"].high


@pytest.mark.parametrize(("beta", "clean"), [(1.0, True), (0.75, False)])
def test_clean_labels_are_tested_on_features(beta: float, clean: bool) -> None:
    estimator = NoisyLabels(HalfPlane()).fit(*plane(400, 1600, beta=beta))
    assert estimator.diagnostics_["clean"] is clean
    assert (estimator.proportions_.beta == 1) is clean
    assert (estimator.diagnostics_["clean_p_value"] > 0.05) is clean


@pytest.mark.slow
def test_scores_around_the_fold_of_a_row() -> None:
    data, labeled = plane()
    counts = FeatureRows.from_data(data, labeled).out_of_fold_counts()
    direct = pu.ScoreCounts.from_scores(data.sum(axis=1), labeled)
    pairs = counts.n_labeled * counts.n_unlabeled
    # The sum is the best score in this world; out of fold, the fitted one is nearly as good.
    assert counts.ordered_pairs / pairs == pytest.approx(direct.ordered_pairs / pairs, abs=0.01)
    noise = np.random.default_rng(0).normal(size=(400, 150))
    none = FeatureRows.from_data(noise, np.arange(400) < 200).out_of_fold_counts()
    # In sample it would be near 1.
    assert none.ordered_pairs / 200**2 == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "data", [[[1, np.nan], [2, 3]], [["a", "b"], ["c", "d"]], [[1, 2], [3]], np.ones((0, 2)), None]
)
def test_bad_data(data: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"'X' parameter of HalfPlane\.fit must be a table"):
        HalfPlane().fit(data, [True, False])
    with pytest.raises(IdentifiabilityError, match="rows that differ"):
        HalfPlane().fit(np.ones((4, 2)), LABELED)


def test_replicates_are_halves() -> None:
    seen = []

    class Watching(HalfPlane):
        def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
            seen.append((rows.n_labeled, rows.n_unlabeled, len(np.unique(rows.labeled, axis=0))))
            if len(seen) % 2:
                return super()._estimate_rows(rows, rng)
            raise IdentifiabilityError("nothing to see")

    estimator = Watching().fit(*plane(100, 300))
    found = estimator.interval_
    assert seen[0] == (100, 300, 100)
    assert all(each == (50, 150, 50) for each in seen[1:])  # without copies
    assert len(seen) == 101
    assert found["alpha"].method == "half-samples, 50 of 100 draws rejected"
    assert found["alpha"].low < estimator.proportions_.alpha < found["alpha"].high
    assert found["alpha"].width < 0.3
    assert found["beta"].low == found["beta"].high == 1
    for method in ("bootstrap", "bound"):
        with pytest.raises(InvalidInputError, match=r"'method' .* left out for features"):
            estimator.interval(method=method)
