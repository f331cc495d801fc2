"""Estimators on rows of features, and the intervals of all: replicates, subsamples, bounds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.prior_dummies import Fixed, FixedNoisy, TopShare

import purecover as pu
from purecover.estimators import base as _intervals
from purecover.estimators.base import Inclusions, PriorEstimator
from purecover.estimators.noisy import NoisyLabels
from purecover.estimators.replicates import ReplicateDraws, _HalfResampler, subsample_share
from purecover.estimators.rows import FeaturePriorEstimator, FeatureRows
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover.recovery.rates import effective_size, effective_sizes

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


def test_same_rows_from_every_door() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"u": X[:, 0], "v": X[:, 1]}
    doors: list[Any] = [
        X,
        X.tolist(),
        X.astype(np.float32),
        X.astype(int),
        X.astype(object),
        np.asfortranarray(X),
        np.ma.masked_array(X),
        columns,
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        pyarrow.table(columns),
    ]
    for door in doors:
        rows = FeatureRows.from_data(door, LABELED)
        assert np.array_equal(rows.labeled, X[LABELED])
        assert np.array_equal(rows.unlabeled, X[~LABELED])
        assert rows.labeled.dtype == np.float64
    assert (rows.n_labeled, rows.n_unlabeled, rows.n_features) == (2, 2, 2)
    assert not rows.labeled.flags.writeable
    assert X.flags.writeable


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([[1, np.nan], [2, 3]], r"'X' parameter of FeatureRows.from_data must be finite"),
        ([["a", "b"], ["c", "d"]], r"'X' parameter of FeatureRows.from_data must be numeric"),
        ([[1, 2], [3]], r"'X' parameter of FeatureRows.from_data must be"),
        (np.ones((2, 2, 2)), r"'X' parameter of FeatureRows.from_data must be"),
        (np.ones((0, 2)), r"'X' parameter of FeatureRows.from_data must be non-empty"),
        (np.ones((2, 0)), r"'X' parameter of FeatureRows.from_data must be non-empty"),
        (np.ma.masked_array([[1, 2], [3, 4]], [[True, False], [False, False]]), "1 masked of 4"),
        (None, r"'X' parameter of FeatureRows.from_data must be"),
        ("text", r"'X' parameter of FeatureRows.from_data must be"),
        ({}, "at least one column"),
        ({"u": [1.0, np.inf], "v": [1, 2]}, r"X\['u'\].*finite everywhere"),
        (np.ones((3, 2)), r"'labeled' parameter of [\w.]+ must be"),
    ],
)
def test_bad_data(data: Any, words: str) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=words):
        FeatureRows.from_data(data, [True, False])


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


def test_subsamples_are_rows_in_their_order() -> None:
    matrix = np.arange(200.0).reshape(100, 2)
    rows = FeatureRows.from_data(matrix, np.arange(100) < 40)
    some = rows.subsampled(10, 1000, np.random.default_rng(0))
    assert some.labeled.shape == (10, 2)
    assert np.array_equal(some.unlabeled, rows.unlabeled)
    assert (np.diff(some.labeled[:, 0]) > 0).all()
    assert set(some.labeled[:, 0]) <= set(rows.labeled[:, 0])
    assert rows.subsampled(40, 60, np.random.default_rng(0)) is rows


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
    for door in ((scores[:, None], labeled), (counts,), ({"score": scores}, labeled)):
        assert HalfPlane().fit(*door).proportions_ == expected.proportions_
    assert set(expected.interval(method="bound")) == {"alpha", "beta", "delta"}


@pytest.mark.parametrize("method", ["bootstrap", "m-out-of-n", None])
def test_intervals_of_rows(method: Any) -> None:
    estimator = HalfPlane().fit(*plane())
    found = estimator.interval(method=method)
    assert found["alpha"].low < 0.25 < found["alpha"].high
    assert found["alpha"].width < 0.2
    assert found["beta"].low == found["beta"].high == 1
    assert found["alpha"].varied == "scores and proportions"
    assert estimator.interval(method=method) == found
    assert estimator.interval(method=method, random_state=1) != found


def test_replicates_are_drawn_from_each_sample() -> None:
    seen = []

    class Watching(HalfPlane):
        def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
            seen.append((rows.n_labeled, rows.n_unlabeled, len(np.unique(rows.labeled, axis=0))))
            return super()._estimate_rows(rows, rng)

    estimator = Watching().fit(*plane(100, 300))
    estimator.interval_  # noqa: B018
    assert len(seen) == 101
    assert seen[0] == (100, 300, 100)
    assert all(each == (50, 150, 50) for each in seen[1:])  # halves, without copies
    seen.clear()
    estimator.interval(method="bootstrap", n_resamples=5)
    assert all(each[:2] == (100, 300) and each[2] < 80 for each in seen)
    seen.clear()
    estimator.interval(method="m-out-of-n", n_resamples=2)
    assert seen[0][:2] == (25, 75)  # 100 ** 0.7


def test_replicates_without_an_estimate() -> None:
    class Failing(HalfPlane):
        def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
            if len(np.unique(rows.labeled, axis=0)) < rows.n_labeled:
                raise IdentifiabilityError("nothing")
            return super()._estimate_rows(rows, rng)

    estimator = Failing().fit(*plane(100, 300))
    found = estimator.interval(method="bootstrap", n_resamples=4)["alpha"]
    assert found.method.endswith("4 of 4 draws rejected: not identified")
    assert (found.low, found.high) == (0, 1)


@pytest.mark.slow
def test_halves_spread_around_the_estimate_as_it_does_around_the_truth() -> None:
    fits = [HalfPlane().fit(*plane(200, 800, seed=seed)) for seed in range(60)]
    alphas = [fit.proportions_.alpha for fit in fits]
    found = [fit.interval(n_resamples=60)["alpha"] for fit in fits]
    assert {each.method for each in found} == {"half-samples"}
    assert all(each.estimate in each for each in found)
    # 3.92 standard deviations; ends of 60 replicates lie a little inside.
    assert np.mean([each.width for each in found]) == pytest.approx(3.8 * np.std(alphas), rel=0.15)


def test_halves_of_counts() -> None:
    counts = pu.ScoreCounts.from_counts([3.0, 2.0, 1.0], [4, 0, 5], [1, 8, 10])
    resampler = _HalfResampler(counts)
    rng = np.random.default_rng(0)
    drawn = [resampler.draw(rng) for _ in range(400)]
    for each in drawn:
        assert (each.n_labeled, each.n_unlabeled) == (4, 9)
        assert (each.labeled <= counts.labeled).all()
        assert (each.unlabeled <= counts.unlabeled).all()
    mean = np.mean([each.unlabeled for each in drawn], axis=0)
    np.testing.assert_allclose(mean, counts.unlabeled * 9 / 19, atol=0.2)
    many = pu.ScoreCounts.from_counts([2.0, 1.0], [10**10, 10**9], [1, 1])
    assert _HalfResampler(many).draw(rng).n_labeled == many.n_labeled
    assert _HalfResampler(many).draw(rng).n_unlabeled == 1


def test_halves_are_moved_to_the_estimate() -> None:
    draws = np.array([[0.3, 1.0], [np.nan, np.nan], [0.5, 1.0]])
    found = ReplicateDraws(draws, "half-samples").intervals(pu.MixtureProportions(0.2), 0.5)
    assert (found["alpha"].low, found["alpha"].high) == pytest.approx((0.15, 0.25))
    assert found["alpha"].method == "half-samples, 1 of 3 draws rejected"


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


class Stumbling(HalfPlane):
    """Every second time it sees nothing."""

    n_calls = 0

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        self.n_calls += 1
        if self.n_calls % 2:
            raise IdentifiabilityError("nothing to see")
        return super()._estimate_rows(rows, rng)


def test_a_replicate_without_an_estimate_does_not_end_the_others() -> None:
    rng = np.random.default_rng(0)
    rows = FeatureRows(rng.normal(3, 1, (40, 2)), rng.normal(0, 1, (160, 2)))
    found = Stumbling()._replicates("half-samples", rows, 6, np.random.default_rng(0)).proportions
    assert np.isnan(found[:, 0]).tolist() == [True, False] * 3


# A quarter of the unlabeled has the highest score.
PLAIN = pu.ScoreCounts.from_counts([2, 1], labeled=[180, 20], unlabeled=[250, 750])


def test_percentiles_of_a_mean_are_binomial() -> None:
    found = TopShare().fit(PLAIN).interval(n_resamples=5000, confidence_level=0.9)
    low, high = stats.binom(1000, 0.25).ppf([0.05, 0.95]) / 1000
    assert found["alpha"].low == pytest.approx(low, abs=0.0011)
    assert found["alpha"].high == pytest.approx(high, abs=0.0011)
    assert found["alpha"].estimate == 0.25
    assert found["alpha"].confidence_level == 0.9
    assert found["alpha"].method == "bootstrap percentile"
    assert found["alpha"].varied == "scores and proportions"
    assert (found["beta"].low, found["beta"].high) == (1, 1)
    assert found["delta"].low == pytest.approx(1 - found["alpha"].high)
    assert found["delta"].high == pytest.approx(1 - found["alpha"].low)


def test_replicates_draw_each_sample_apart() -> None:
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    class Spy(TopShare):
        def _estimate_many(self, counts: Any, labeled: Any, unlabeled: Any) -> Any:
            seen.append((labeled, unlabeled))
            return super()._estimate_many(counts, labeled, unlabeled)

    Spy().fit(PLAIN).interval(n_resamples=50)
    assert sum(len(labeled) for labeled, _ in seen) == 50
    assert all((labeled.sum(axis=1) == 200).all() for labeled, _ in seen)
    assert all((unlabeled.sum(axis=1) == 1000).all() for _, unlabeled in seen)


def test_subsamples_of_a_mean_have_its_normal_interval() -> None:
    estimator = TopShare().fit(PLAIN)
    found = estimator.interval(method="m-out-of-n", n_resamples=5000)["alpha"]
    half = 1.96 * (0.25 * 0.75 / 1000) ** 0.5
    assert found.high - 0.25 == pytest.approx(half, rel=0.1)
    assert 0.25 - found.low == pytest.approx(half, rel=0.1)
    assert found.method == "m-out-of-n bootstrap"


def test_size_of_subsamples() -> None:
    assert subsample_share(*effective_sizes(PLAIN)) == pytest.approx(200**0.7 / 200)
    tiny = pu.ScoreCounts.from_counts([2, 1], labeled=[3, 2], unlabeled=[5, 5])
    assert subsample_share(*effective_sizes(tiny)) == 1
    weighted = pu.ScoreCounts.from_scores([2, 1] * 100, [1, 0] * 100, sample_weight=[7.0] * 200)
    assert subsample_share(*effective_sizes(weighted)) == pytest.approx(100**0.7 / 100)


class Sometimes(PriorEstimator):
    """Finds nothing where a replicate has less than so many unlabeled at the top."""

    def __init__(self, least: int = 0) -> None:
        self.least = least

    def _estimate(self, counts: pu.ScoreCounts) -> Inclusions:
        return Inclusions(1.0 if counts.unlabeled[0] < self.least else 0.3)


def test_rejected_draws_are_counted() -> None:
    estimator = Sometimes().fit(PLAIN).set_params(least=240)
    found = estimator.interval(n_resamples=2000)["alpha"]
    assert (found.low, found.high) == (0.3, 0.3)
    words, _, rest = found.method.partition(", ")
    n_rejected, _, of = rest.partition(" of ")
    assert words == "bootstrap percentile"
    assert of == "2000 draws rejected"
    expected = 2000 * stats.binom(1000, 0.25).cdf(239)
    assert int(n_rejected) == pytest.approx(expected, abs=4 * expected**0.5)


@pytest.mark.parametrize("method", ["bootstrap", "m-out-of-n"])
def test_mostly_rejected_means_not_identified(method: Any) -> None:
    estimator = Sometimes().fit(PLAIN).set_params(least=260)
    found = estimator.interval(n_resamples=200, method=method)
    assert all((i.low, i.high) == (0, 1) for i in found.values())
    assert all(i.method.endswith("draws rejected: not identified") for i in found.values())


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize(("first", "second"), [(0.4, 0.3), (0.0, 0.0), (1.0, 0.2), (0.7, 1.0)])
def test_bounds_are_the_extremes_of_a_region(
    monkeypatch: pytest.MonkeyPatch, noisy: bool, first: float, second: float
) -> None:
    asked = []

    def bound(counts: pu.ScoreCounts, *, confidence_level: float) -> float:
        asked.append(confidence_level)
        return first if counts.n_labeled == PLAIN.n_labeled else second

    monkeypatch.setattr(_intervals, "inclusion_bound", bound)
    estimator = FixedNoisy() if noisy else Fixed()
    found = estimator.fit(PLAIN).interval(method="bound", confidence_level=0.9)
    grid = np.linspace(0, 1, 41) * 0.999999  # corners at 1 are limits
    region = list(itertools.product(first * grid, second * grid if noisy else [0.0]))
    shares = [pu.MixtureProportions.from_inclusions(a, b) for a, b in region]
    for key in ("alpha", "beta", "delta"):
        values = [getattr(p, key) for p in shares]
        # At the corner where both inclusions are 1 delta depends on the way there.
        assert found[key].low == pytest.approx(min(values), abs=1e-5)
        assert found[key].high == pytest.approx(max(values), abs=1e-5)
    assert asked == pytest.approx([0.95, 0.95] if noisy else [0.9])
    assert found["alpha"].method == "one-sided bounds"


def test_groups_widen_the_interval() -> None:
    # Every row four times in one group: a quarter of the information.
    rng = np.random.default_rng(0)
    scores = np.repeat(rng.permutation(np.repeat([2.0, 1.0], [250, 750])), 4)
    labeled = np.repeat(np.arange(1000) % 5 == 0, 4)
    groups = np.repeat(np.arange(1000), 4)
    resampler = pu.intervals.group_resampler(scores, labeled, groups)
    estimator = TopShare().fit(scores, labeled)
    plain = estimator.interval(n_resamples=1000)["alpha"]
    grouped = estimator.interval(n_resamples=1000, resampler=resampler)["alpha"]
    assert grouped.width == pytest.approx(2 * plain.width, rel=0.15)
    assert grouped.method == "bootstrap percentile, groups"


def test_own_resampler() -> None:
    class Same:
        counts = PLAIN

        def draw(self, rng: np.random.Generator) -> pu.ScoreCounts:  # noqa: ARG002
            return PLAIN

    found = TopShare().fit(PLAIN).interval(resampler=Same(), n_resamples=3)["alpha"]
    assert (found.low, found.high) == (0.25, 0.25)


def test_replicates_of_weighted_rows_know_their_effective_size() -> None:
    class Size(PriorEstimator):
        def _estimate(self, counts: pu.ScoreCounts) -> Inclusions:
            a = effective_size(counts.n_labeled, counts.labeled_sq) / 1000
            return Inclusions(a, effective_size(counts.n_unlabeled, counts.unlabeled_sq) / 1000)

    weight = np.repeat([0.01, 0.03], 50)  # 80 effective examples on each side
    labeled = np.arange(200) >= 100
    counts = pu.ScoreCounts.from_scores(np.arange(200.0), labeled, sample_weight=np.tile(weight, 2))
    rows = np.stack([counts.labeled, 2 * counts.labeled])
    found = Size()._estimate_many(counts, rows, np.stack([counts.unlabeled, counts.unlabeled]))
    np.testing.assert_allclose(found, [[0.08, 0.08], [0.16, 0.08]])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence_level": 95}, "'confidence_level' parameter of TopShare.interval"),
        ({"method": "boostrap"}, "did you mean 'bootstrap'"),
        ({"n_resamples": 0}, "'n_resamples' parameter of TopShare.interval"),
        ({"n_resamples": 2.5}, "'n_resamples' parameter of TopShare.interval"),
        ({"random_state": "x"}, "'random_state' parameter of TopShare.interval"),
        ({"resampler": 3}, "make one with group_resampler"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=words):
        TopShare().fit(PLAIN).interval(**options)


@pytest.mark.parametrize("method", ["m-out-of-n", "bound"])
def test_groups_are_for_the_bootstrap(method: Any) -> None:
    resampler = pu.intervals.group_resampler([2, 1, 2, 1], [1, 0, 1, 0], [0, 0, 1, 1])
    with pytest.raises(InvalidInputError, match="subsamples and bounds need independent rows"):
        TopShare().fit(PLAIN).interval(method=method, resampler=resampler)
