"""Intervals of the AUC, by resampling, with estimated proportions, and of many rows."""

from __future__ import annotations

import dataclasses
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import purecover as pu
from purecover import _progress
from purecover.exceptions import IdentifiabilityError
from purecover.intervals import replicates as _bootstrap
from purecover.intervals.ends import interval_ends
from purecover.intervals.replicates import (
    GRID,
    BootstrapResult,
    _bias_corrected,
    _moved,
    _studentized,
    measure_replicates,
    simultaneous_depth,
)
from purecover.intervals.resampling import (
    MultinomialResampler,
    PoissonResampler,
    Resampler,
    thinned_to_draw,
)
from purecover.recovery.curves import REPAIRS
from purecover.recovery.metrics import METRICS, MetricOptions, recover_both

WORLD = pu.simulate.binormal(1.5)


def draw(seed: int = 0, n_labeled: int = 200, n_unlabeled: int = 1000) -> pu.simulate.Sample:
    return WORLD.sample(n_labeled, n_unlabeled, alpha=0.25, beta=0.9, random_state=seed)


@pytest.fixture
def all_scores(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Resample all scores from now on, however many there are."""

    def ungroup() -> None:
        for name in ("GROUPS", "FEWER_GROUPS"):
            monkeypatch.setattr(_bootstrap, name, 10**9)

    return ungroup


class TestEnds:
    """One rule of ranks for the ends of all intervals of draws."""

    @given(st.integers(3, 400), st.integers(1, 200))
    def test_the_next_draw_is_inside_as_often_as_the_level_says(self, n: int, out: int) -> None:
        # With k draws left out at either side n + 1 ranks are equally likely for the next one.
        k = 1 + out % ((n + 1) // 2)
        level = 1 - 2 * k / (n + 1)
        if level <= 0:
            return
        draws = np.random.default_rng(n).permutation(np.arange(1.0, n + 1)) ** 3
        low, high = interval_ends(draws, level)
        next_ranks = np.arange(n + 1) + 0.5  # below all draws, between two, above all
        inside = (next_ranks**3 > low) & (next_ranks**3 < high)
        assert inside.mean() == pytest.approx(level)

    @given(st.integers(2, 500), st.floats(0.01, 0.995))
    def test_expected_content_is_the_level_for_uniform_draws(self, n: int, level: float) -> None:
        # The k-th lowest of n uniform draws is k / (n + 1) in the mean.
        low, high = interval_ends(np.arange(1, n + 1) / (n + 1), level)
        tail = max((1 - level) / 2, 1 / (n + 1))
        assert (low, high) == pytest.approx((tail, 1 - tail), abs=1e-9)

    def test_too_few_draws_for_the_level_give_the_extreme_ones(self) -> None:
        assert interval_ends(np.array([3.0, 1.0, 2.0]), 0.95) == (1.0, 3.0)

    @given(st.integers(1, 60), st.floats(0.1, 10), st.floats(0.05, 0.99), st.integers(0, 99))
    def test_equal_weights_are_none(self, n: int, weight: float, level: float, seed: int) -> None:
        draws = np.random.default_rng(seed).normal(size=n)
        weighted = interval_ends(draws, level, np.full(n, weight))
        assert weighted == pytest.approx(interval_ends(draws, level), abs=1e-9)

    @given(st.lists(st.integers(0, 5), min_size=2, max_size=40), st.floats(0.05, 0.99))
    def test_weights_are_symmetric_and_zero_is_absence(
        self, weights: list[int], level: float
    ) -> None:
        if sum(weights) == 0:
            return
        weight = np.array(weights, dtype=float)
        draws = np.random.default_rng(0).normal(size=weight.size)
        low, high = interval_ends(draws, level, weight)
        mirrored = interval_ends(-draws, level, weight)
        assert (-mirrored[1], -mirrored[0]) == pytest.approx((low, high))
        some = weight > 0
        assert interval_ends(draws[some], level, weight[some]) == (low, high)

    def test_between_a_number_and_infinity_is_the_outer_one(self) -> None:
        draws = np.append(np.arange(38.0), [np.inf, np.inf])
        low, high = interval_ends(draws, 0.9)
        assert low == pytest.approx(0.05 * 41 - 1)
        assert high == np.inf
        assert interval_ends(-draws, 0.9)[0] == -np.inf

    def test_columns_are_apart(self) -> None:
        draws = np.random.default_rng(0).normal(size=(50, 3))
        low, high = interval_ends(draws, 0.8)
        for j in range(3):
            assert (low[j], high[j]) == interval_ends(draws[:, j], 0.8)


class TestAucInterval:
    def test_linear_map_of_the_observed_interval(self) -> None:
        s = draw()
        plain = pu.intervals.auc_interval(s.counts, pu.MixtureProportions(0.0))
        mapped = pu.intervals.auc_interval(s.counts, pu.MixtureProportions(0.25, 0.9))
        for end in ("low", "high", "estimate"):
            expected = 0.5 + (getattr(plain, end) - 0.5) / 0.65
            assert getattr(mapped, end) == pytest.approx(expected, abs=1e-12)
        assert mapped.varied == "scores"

    @pytest.mark.parametrize("n", [5, 50, 500])
    def test_perfect_separation_is_not_false_certainty(self, n: int) -> None:
        counts = pu.ScoreCounts.from_counts([1, 0], labeled=[n, 0], unlabeled=[0, n])
        interval = pu.intervals.auc_interval(counts, pu.MixtureProportions(0.0))
        assert interval.high == 1
        assert 1 - 8 / n < interval.low < 1 - 1 / n
        assert interval.method == "Newcombe score"
        mirrored = pu.ScoreCounts.from_counts([1, 0], labeled=[0, n], unlabeled=[n, 0])
        assert pu.intervals.auc_interval(
            mirrored, pu.MixtureProportions(0.0)
        ).high == pytest.approx(1 - interval.low, abs=1e-9)

    @pytest.mark.slow
    @pytest.mark.parametrize("beta", [1.0, 0.75])
    @pytest.mark.parametrize(("n_labeled", "n_unlabeled"), [(100, 1000), (1000, 10_000)])
    def test_coverage(self, n_labeled: int, n_unlabeled: int, beta: float) -> None:
        n = 1000
        hits = 0
        for seed in range(n):
            s = WORLD.sample(n_labeled, n_unlabeled, alpha=0.25, beta=beta, random_state=seed)
            hits += WORLD.auc in pu.intervals.auc_interval(s.counts, s.proportions)
        # Three binomial standard errors of 1000 draws are .021.
        assert abs(hits / n - 0.95) < 0.021


class TestBootstrap:
    def test_auc_agrees_with_delong(self) -> None:
        s = draw(n_labeled=500, n_unlabeled=3000)
        result = pu.intervals.bootstrap(
            s.counts, s.proportions, metrics=["roc_auc"], curves=False, random_state=0
        )
        closed = pu.intervals.auc_interval(s.counts, s.proportions, method="wald")
        # Ends of 2000 replicates are off by about a twentieth of a half width.
        assert result.interval("roc_auc").low == pytest.approx(closed.low, abs=closed.width / 15)
        assert result.interval("roc_auc").high == pytest.approx(closed.high, abs=closed.width / 15)

    def test_rates_agree_with_the_variance_formula(self) -> None:
        s = draw(n_labeled=500, n_unlabeled=3000)
        result = pu.intervals.bootstrap(
            s.counts,
            s.proportions,
            metrics=["recall", "fpr"],
            threshold=0.75,
            repair="none",
            curves=False,
            random_state=0,
        )
        roc = pu.recovery.pu_roc_curve(s.counts)
        at = int(np.searchsorted(-roc.thresholds, -0.75, side="right")) - 1
        v_labeled = roc.tpr_pu[at] * (1 - roc.tpr_pu[at]) / s.counts.n_labeled
        v_unlabeled = roc.fpr_pu[at] * (1 - roc.fpr_pu[at]) / s.counts.n_unlabeled
        alpha, beta, square = s.proportions.alpha, s.proportions.beta, s.proportions.delta**2
        got = np.cov([result.replicates["recall"], result.replicates["fpr"]])
        assert got[0, 0] == pytest.approx(
            ((1 - alpha) ** 2 * v_labeled + (1 - beta) ** 2 * v_unlabeled) / square, rel=0.12
        )
        assert got[1, 1] == pytest.approx(
            (beta**2 * v_unlabeled + alpha**2 * v_labeled) / square, rel=0.12
        )
        assert got[0, 1] == pytest.approx(
            -(alpha * (1 - alpha) * v_labeled + beta * (1 - beta) * v_unlabeled) / square, rel=0.15
        )

    def test_a_given_threshold_owes_nothing_to_its_choice(self) -> None:
        s = draw(n_labeled=50, n_unlabeled=300)
        options = {"metrics": ["recall"], "curves": False, "n_resamples": 50, "random_state": 0}
        chosen = pu.intervals.bootstrap(s.counts, s.proportions, **options)
        assert chosen.optimism is not None
        assert chosen.optimism[0] > 0 > chosen.optimism[1]
        threshold = pu.recover_metrics(s.counts, s.proportions).threshold
        given = pu.intervals.bootstrap(s.counts, s.proportions, threshold=threshold, **options)
        assert given.optimism is None
        assert given.estimates["recall"] > chosen.estimates["recall"]
        assert given.interval("recall").high > chosen.interval("recall").high

    @pytest.mark.parametrize("above", [True, False])
    @pytest.mark.parametrize("n", [12, 5])
    def test_labeled_on_one_side_of_the_threshold_are_no_certainty(
        self, above: bool, n: int
    ) -> None:
        scores = np.arange(200.0)  # every other one at an end is labeled
        labeled = (scores % 2 == 0) & ((scores >= 176) if above else (scores < 24))
        resampler = (
            None if n == 12 else pu.intervals.group_resampler(scores, labeled, scores // 2 % n)
        )
        result = pu.intervals.bootstrap(
            pu.ScoreCounts.from_scores(scores, labeled),
            pu.MixtureProportions(0.05),
            threshold=100.0,
            repair="none",
            resampler=resampler,
            curves=False,
            n_resamples=4000,
            random_state=0,
        )
        # Beta(n, 1), the law of the share of all positives above the lowest of n, in closed form.
        ends = np.array([0.025, 0.975]) ** (1 / n)
        expected = ends if above else 1 - ends[::-1]
        found = interval_ends(result.replicates["recall"], 0.95)
        assert found == pytest.approx(tuple(expected), abs=0.02)
        for name in ("precision", "f1", "mcc"):
            found = result.interval(name)
            assert found.high - found.low > 0.02, name

    @pytest.mark.parametrize("criterion", ["mcc", "f1", "cost"])
    def test_replicates_choose_again_by_what_chose_on_the_data(self, criterion: str) -> None:
        world, errors = pu.simulate.binormal(1.5), []
        for seed in range(60):
            s = world.sample(100, 1000, alpha=0.25, random_state=seed)
            at = pu.choose_threshold(s.counts, s.proportions, criterion)
            found = measure_replicates(
                s.counts,
                recover_both(s.counts, s.proportions, "isotonic"),
                metrics=[criterion, "recall"],
                threshold=at.threshold,
                chosen_by=criterion,
                repair="isotonic",
                curves=False,
                n_resamples=50,
                random_state=seed,
            )
            rates = world.tpr(at.threshold), world.fpr(at.threshold)
            true = METRICS[criterion].formula(*rates, 0.25, MetricOptions())
            both = at.metrics[criterion], found.estimates[criterion]
            errors.append([value - true for value in both])
        apparent, expected = np.abs(np.mean(errors, axis=0))
        assert expected < apparent / 2

    @pytest.mark.parametrize(
        ("chosen_by", "threshold", "optimism"),
        [("precision", 1.0, None), ("cost", 99.0, (0.0, 0.0)), ("cost", -99.0, (0.0, 0.0))],
    )
    def test_some_thresholds_owe_nothing_to_their_choice(
        self, chosen_by: str, threshold: float, optimism: tuple[float, float] | None
    ) -> None:
        s = draw(n_labeled=50, n_unlabeled=300)
        found = measure_replicates(
            s.counts,
            recover_both(s.counts, s.proportions, "isotonic"),
            chosen_by=chosen_by,
            threshold=threshold,
            metrics=["recall", "specificity"],
            curves=False,
            n_resamples=20,
        )
        assert found.optimism == optimism
        as_is = pu.recover_metrics(s.counts, s.proportions, threshold=threshold)
        assert found.estimates["specificity"] == as_is["specificity"]

    def test_rates_that_were_clipped_move_from_where_they_were(self) -> None:
        world = pu.simulate.binormal(6)  # a true precision of .9999 where classes part
        for seed in range(8):
            s = world.sample(40, 1000, alpha=0.2, random_state=seed)
            found = pu.intervals.bootstrap(
                s.counts, s.proportions, curves=False, n_resamples=200, random_state=0
            ).interval("precision")
            assert np.isnan(found.high) or found.high > 0.9995

    @pytest.mark.slow
    def test_the_choice_of_the_threshold_is_paid_for(self) -> None:
        # Without the correction MCC is too large by 0.047 here, and 85 % of intervals hold.
        from studies.coverage import study_metrics

        world = pu.simulate.binormal(1.5)
        tallies = study_metrics(world, 0.25, None, replicates=150, seed=(5,))
        for name in ("recall", "precision", "f1", "mcc"):
            assert tallies[name].coverage >= 0.89  # 0.92 and more, less two errors of the count
        assert abs(np.mean(tallies["mcc"].errors)) < 0.02

    @given(st.floats(0.01, 0.99), st.floats(0.0, 1.0))
    def test_undoing_the_grouping_leaves_the_ends_where_they_are(
        self, grouped: float, estimate: float
    ) -> None:
        values = np.array([0.0, grouped / 2, grouped, (1 + grouped) / 2, 1.0])
        moved = _moved(values, grouped, estimate, (0.0, 1.0))
        assert moved[[0, 2, 4]] == pytest.approx([0, estimate, 1])
        assert (np.diff(moved) >= 0).all()
        # Without ends all move alike.
        free = _moved(values, grouped, estimate, (-np.inf, np.inf))
        assert free == pytest.approx(values + estimate - grouped)

    @given(st.floats(0.01, 0.99), st.floats(0.0, 1.0))
    def test_a_replicate_of_a_rate_is_an_end_of_wilsons_interval(
        self, apparent: float, corrected: float
    ) -> None:
        replicates = np.linspace(0, 1, 11)
        found = _studentized(replicates, apparent, corrected)
        u = (replicates - apparent) / np.sqrt(apparent * (1 - apparent))
        assert found - corrected == pytest.approx(u * np.sqrt((found * (1 - found)).clip(0)))
        assert (np.diff(found) >= 0).all()
        assert _studentized(np.array([apparent]), apparent, corrected) == pytest.approx(corrected)

    @given(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))
    def test_where_a_rate_does_not_vary_all_replicates_move_alike(
        self, apparent: float, corrected: float
    ) -> None:
        found = _studentized(np.array([apparent, 0.5]), apparent, corrected)
        assert found == pytest.approx([corrected, 0.5 + corrected - apparent])

    def test_intervals_of_an_area_near_one_reach_it(self) -> None:
        s = pu.simulate.binormal(6.0).sample(300, 30_000, alpha=0.4, random_state=0)
        result = pu.intervals.bootstrap(
            s.counts, s.proportions, metrics=["auc_pr"], curves=False, random_state=0
        )
        assert result.interval("auc_pr").high > 0.9999


def replicated(
    values: np.ndarray, estimate: float, metric: str = "auc_pr"
) -> pu.intervals.Interval:
    """The 90 % interval of given replicates of one metric."""
    result = BootstrapResult(
        estimates={metric: estimate},
        replicates={metric: np.asarray(values, dtype=float)},
        n_resamples=len(values),
        confidence_level=0.9,
        method="multinomial",
        _curves={},
    )
    return result.interval(metric)


class TestLeaningMetrics:
    """Areas under precision-recall curves: the further of two kinds of percentiles."""

    GRID = np.arange(1, 1000) / 1000  # its quantiles are the levels themselves

    def test_bias_corrected_percentiles(self) -> None:
        # The estimate is at level .6 of the replicates, .2533 standard deviations from their
        # median; both levels move by twice that: -1.6449 + .5067 is level .1275, and so on.
        low, high = _bias_corrected(self.GRID, 0.6, 0.05)
        assert low == pytest.approx(0.1275, abs=5e-4)
        assert high == pytest.approx(0.9843, abs=5e-4)

    @pytest.mark.parametrize("estimate", [-0.5, 0.0, 0.3, 0.5, 0.8, 1.0, 1.5])
    def test_contains_both(self, estimate: float) -> None:
        found = replicated(self.GRID, estimate)
        corrected = _bias_corrected(self.GRID, estimate, 0.05)
        assert found.low == pytest.approx(min(0.05, corrected[0]))
        assert found.high == pytest.approx(max(0.95, corrected[1]))
        assert found.method == "bootstrap percentile, plain or bias-corrected, multinomial"

    def test_replicates_that_are_equal_are_no_certainty(self) -> None:
        for values in (np.full(50, 0.7), np.append(np.full(99, 0.7), 0.8)):
            found = replicated(values, 0.7)
            assert np.isnan([found.low, found.high]).all()

    def test_nothing_lies_between_a_replicate_and_an_infinite_one(self) -> None:
        values = np.random.default_rng(0).permutation(np.append(np.arange(99.0), [np.inf] * 10))
        found = replicated(values, 40.0, "calibration_slope")
        # A tail of 5 % of 110 ranks: between the fifth and the sixth on either side.
        assert (found.low, found.high) == (pytest.approx(4.5), np.inf)
        found = replicated(-values, -40.0, "calibration_slope")
        assert (found.low, found.high) == (-np.inf, pytest.approx(-4.5))

    def test_ties_with_the_estimate_count_half(self) -> None:
        # A tenth below, a tenth above: the estimate is the median, and nothing moves.
        values = np.concatenate((np.full(10, 0.2), np.full(80, 0.5), np.full(10, 0.9)))
        found = replicated(values, 0.5)
        assert (found.low, found.high) == (0.2, 0.9)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore:.*contradict these scores")  # one in forty, by chance
    def test_holds_the_truth_where_classes_are_almost_apart(self) -> None:
        # Replicates repeat the error of their estimate, so that plain percentiles stay below.
        world, alpha = pu.simulate.binormal(4.5), 0.4
        truth = world.auc_pr(alpha)
        held = {"plain": 0, "ours": 0}
        for seed in range(40):
            s = world.sample(100, 500, alpha=alpha, beta=0.95, random_state=seed)
            result = pu.intervals.bootstrap(
                s.counts, s.proportions, metrics=("auc_pr",), curves=False, n_resamples=60,
                random_state=seed,
            )  # fmt: skip
            low, high = np.quantile(result.replicates["auc_pr"], [0.025, 0.975])
            interval = result.interval("auc_pr")
            held["plain"] += bool(low <= truth <= high)
            held["ours"] += interval.low <= truth <= interval.high
        # Not nominal yet, but far fewer are missed.
        assert held["ours"] >= 1.2 * held["plain"], held


class TopRatio:
    """Alpha as the ratio of what scores at least 1.5 among unlabeled and labeled; beta known."""

    def __init__(self, beta: float = 0.9) -> None:
        self.beta = beta
        self.sizes: list[int] = []

    def proportions_many(
        self, counts: pu.ScoreCounts, labeled: np.ndarray, unlabeled: np.ndarray
    ) -> np.ndarray:
        top = counts.thresholds >= 1.5
        self.sizes.append(len(labeled))
        share = [side[:, top].sum(axis=1) / side.sum(axis=1) for side in (labeled, unlabeled)]
        alpha = self.beta * share[1] / share[0]
        return np.column_stack((alpha, np.full(len(labeled), self.beta)))


class Refuses(TopRatio):
    """No estimate where fewer than half (or some other share) of the labeled score above 1.3."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.refused = 0

    def proportions_many(
        self, counts: pu.ScoreCounts, labeled: np.ndarray, unlabeled: np.ndarray
    ) -> np.ndarray:
        found = super().proportions_many(counts, labeled, unlabeled)
        high = labeled[:, counts.thresholds >= 1.3].sum(axis=1) / labeled.sum(axis=1)
        found[high < self.share] = np.nan
        self.refused += int(np.sum(high < self.share))
        return found


class Blurred:
    """The right proportions, but for an error of alpha that has nothing to do with the scores."""

    def __init__(self, error: float) -> None:
        self.error = error
        self.rng = np.random.default_rng(1)

    def proportions_many(
        self, counts: pu.ScoreCounts, labeled: np.ndarray, unlabeled: np.ndarray
    ) -> np.ndarray:
        del counts, unlabeled
        alpha = self.rng.normal(0.25, self.error, len(labeled))
        return np.column_stack((alpha, np.full(len(labeled), 0.9)))


class TestBootstrapWithEstimator:
    """Replicates that estimate alpha and beta again."""

    @pytest.mark.parametrize("repair", [None, *REPAIRS])
    @pytest.mark.parametrize("scenario", ["case-control", "censoring"])
    def test_each_replicate_is_what_its_counts_alone_give(
        self, repair: Any, scenario: Any, all_scores: Callable[[], None]
    ) -> None:
        all_scores()
        s = draw(n_labeled=100, n_unlabeled=400)
        estimator = TopRatio()
        result = pu.intervals.bootstrap(
            s.counts,
            dataclasses.replace(s.proportions, scenario=scenario),
            estimator=estimator,
            threshold=0.8,
            repair=repair,
            top_k=50,
            n_resamples=30,
            random_state=3,
        )
        resampler = MultinomialResampler(s.counts)
        labeled, unlabeled = resampler.draw_many(np.random.default_rng(3), 30)
        found = estimator.proportions_many(s.counts, labeled, unlabeled)
        for i, (alpha, beta) in enumerate(found.tolist()):
            drawn = dataclasses.replace(s.counts, labeled=labeled[i], unlabeled=unlabeled[i])
            own = pu.MixtureProportions(alpha, beta, scenario=scenario)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                metrics = pu.recover_metrics(drawn, own, threshold=0.8, repair=repair, top_k=50)
            assert result.replicates["delta"][i] == pytest.approx(beta - alpha)
            want = {
                **metrics,
                "alpha": alpha,
                "beta": beta,
                "roc_auc": pu.recover_auc(drawn, own, clip=False),
            }
            for name, value in want.items():
                got = result.replicates[name][i]
                assert got == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), name
            roc = pu.recover_roc(drawn, own, repair=repair or "isotonic")
            apart = result._curves["roc"][2][i] - np.interp(GRID, roc.fpr, roc.tpr)
            # Rounding decides at the foot of a vertical step.
            assert np.count_nonzero(np.abs(apart) > 1e-9) <= 2
        assert result.estimates["alpha"] == s.proportions.alpha

    def test_an_independent_error_adds_as_the_formula_says(self) -> None:
        s = draw(n_labeled=1000, n_unlabeled=5000)
        result = pu.intervals.bootstrap(
            s.counts,
            s.proportions,
            estimator=Blurred(0.03),
            metrics=["roc_auc"],
            curves=False,
            n_resamples=4000,
            random_state=0,
        )
        # Var(A) = Var(A_pu) / delta^2 + (A_pu - 1/2)^2 Var(delta) / delta^4
        delta, apart = s.proportions.delta, pu.recovery.auc_pu(s.counts) - 0.5
        known = pu.recovery.auc_pu_variance(s.counts) / delta**2
        closed = known + apart**2 * 0.03**2 / delta**4
        assert closed > 1.4 * known
        assert np.std(result.replicates["roc_auc"]) == pytest.approx(np.sqrt(closed), rel=0.08)

    def test_rejected_draws_are_counted_and_drawn_again(self) -> None:
        s = draw(n_labeled=100, n_unlabeled=500)
        high = s.counts.labeled[s.counts.thresholds >= 1.3].sum() / 100
        estimator = Refuses(high - 0.01)
        result = pu.intervals.bootstrap(
            s.counts, s.proportions, estimator=estimator, n_resamples=100, random_state=0
        )
        assert result.n_resamples == 100
        assert result.n_rejected == estimator.refused > 10
        assert all(not np.isnan(v).any() for k, v in result.replicates.items() if k == "alpha")
        tried = 100 + result.n_rejected
        assert f"{result.n_rejected} of {tried} draws rejected" in result.interval("f1").method
        assert f"{result.n_rejected} rejected" in repr(result)
        plain = pu.intervals.bootstrap(s.counts, s.proportions, n_resamples=5, random_state=0)
        assert plain.n_rejected == 0
        assert "rejected" not in repr(plain) + plain.interval("f1").method

    def test_more_than_half_rejected_is_no_interval(self) -> None:
        s = draw(n_labeled=100, n_unlabeled=500)
        high = s.counts.labeled[s.counts.thresholds >= 1.3].sum() / 100
        with pytest.raises(IdentifiabilityError, match=r"of 200 samples.*\(PU017\)"):
            pu.intervals.bootstrap(
                s.counts,
                s.proportions,
                estimator=Refuses(high + 0.05),
                n_resamples=100,
                random_state=0,
            )

    def test_work_is_cut_into_pieces_without_changing_it(
        self, monkeypatch: pytest.MonkeyPatch, all_scores: Callable[[], None]
    ) -> None:
        all_scores()
        s = draw(n_labeled=100, n_unlabeled=400)
        high = s.counts.labeled[s.counts.thresholds >= 1.3].sum() / 100
        runs = []
        # Rows are drawn replicate by replicate, whatever the size of the pieces.
        resampler = pu.intervals.group_resampler(s.scores, s.labeled, np.arange(500))
        for cells in (2**20, 7 * s.counts.n_thresholds):
            monkeypatch.setattr("purecover.intervals.resampling.CELLS", cells)
            estimator = Refuses(high - 0.02)
            runs.append(
                pu.intervals.bootstrap(
                    s.counts,
                    s.proportions,
                    estimator=estimator,
                    resampler=resampler,
                    n_resamples=40,
                    random_state=0,
                )
            )
        assert max(estimator.sizes) == 7
        for name, values in runs[0].replicates.items():
            np.testing.assert_allclose(values, runs[1].replicates[name], rtol=1e-12)

    def test_whole_groups_move_alpha(self) -> None:
        """Rows that are all there twice: alpha is as uncertain as with half of them."""
        s = draw(n_labeled=200, n_unlabeled=2000)
        scores, labeled = np.repeat(s.scores, 2), np.repeat(s.labeled, 2)
        groups = np.repeat(np.arange(s.scores.size), 2)
        resampler = pu.intervals.group_resampler(scores, labeled, groups)
        options = {
            "estimator": TopRatio(),
            "metrics": ["roc_auc"],
            "curves": False,
            "n_resamples": 400,
            "random_state": 0,
        }
        grouped = pu.intervals.bootstrap(
            resampler.counts, s.proportions, resampler=resampler, **options
        )
        single = pu.intervals.bootstrap(s.counts, s.proportions, **options)
        doubled = pu.intervals.bootstrap(resampler.counts, s.proportions, **options)
        width = {"grouped": grouped, "single": single, "doubled": doubled}
        width = {name: result.interval("alpha").width for name, result in width.items()}
        assert width["grouped"] == pytest.approx(width["single"], rel=0.2)
        assert width["grouped"] == pytest.approx(np.sqrt(2) * width["doubled"], rel=0.2)


class TestResamplers:
    @pytest.mark.parametrize("kind", [MultinomialResampler, PoissonResampler])
    @pytest.mark.parametrize("scale", [1, 50, 10**9], ids=["few", "many", "billions"])
    def test_moments(self, kind: type[Resampler], scale: int) -> None:
        labeled, unlabeled = np.array([[1, 3, 0, 6], [9, 5, 5, 1]], dtype=np.int64) * scale
        counts = pu.ScoreCounts.from_counts(range(4), labeled=labeled, unlabeled=unlabeled)
        rng = np.random.default_rng(0)
        draws, _ = kind(counts).draw_many(rng, 4000)  # type: ignore[call-arg]
        n = counts.labeled.sum()
        share = counts.labeled / n
        np.testing.assert_allclose(draws.mean(0), counts.labeled, atol=0.06 * np.sqrt(n))
        variance = n * share * (1 - share) if kind is MultinomialResampler else n * share
        np.testing.assert_allclose(draws.var(0), variance, rtol=0.1)
        if kind is MultinomialResampler:
            assert set(draws.sum(1)) == {n}

    def test_memory_goes_by_scores_and_not_by_rows(self) -> None:
        rows = np.full(1000, 10**12)
        counts = pu.ScoreCounts.from_counts(range(1000), labeled=rows, unlabeled=rows)
        tracemalloc.start()
        MultinomialResampler(counts).draw_many(np.random.default_rng(0), 20)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 20 * counts.n_thresholds * 200  # bytes; by rows it takes 10 GB

    def test_a_side_in_one_group_only_is_drawn_again(self) -> None:
        resampler = pu.intervals.group_resampler([3, 2, 1, 0], [1, 0, 0, 0], ["a", "b", "c", "d"])
        labeled, unlabeled = resampler.draw_many(np.random.default_rng(0), 200)
        assert labeled.any(axis=1).all()
        assert unlabeled.any(axis=1).all()


class TestBands:
    @given(st.integers(2, 60), st.integers(1, 6), st.floats(0.5, 0.95), st.integers(0, 1000))
    def test_depth_is_the_largest_that_keeps_the_level(
        self, n: int, width: int, level: float, seed: int
    ) -> None:
        draws = np.random.default_rng(seed).normal(size=(n, width))
        ordered = np.sort(draws, axis=0)

        def n_reaching(depth: int) -> float:
            inside = (draws > ordered[depth - 1]) & (draws < ordered[n - depth])
            return n - float(np.sum(inside.all(1)))

        depth, most = simultaneous_depth(draws, ordered, level), (1 - level) * (n + 1) + 1e-9
        assert n_reaching(depth) <= most or depth == 1
        if 2 * (depth + 1) <= n:
            assert n_reaching(depth + 1) > most - 1

    def test_contain_the_next_curve_as_often_as_they_say(self) -> None:
        rng, n, level = np.random.default_rng(0), 99, 0.9
        held = []
        for _ in range(1000):
            curves = np.cumsum(rng.normal(size=(n + 1, 5)), axis=1)
            draws, ordered = curves[1:], np.sort(curves[1:], axis=0)
            depth = simultaneous_depth(draws, ordered, level)
            inside = (curves[0] >= ordered[depth - 1]) & (curves[0] <= ordered[n - depth])
            held.append(inside.all())
        # Three binomial standard errors below; depths are whole numbers, which adds a share above.
        assert level - 0.028 < np.mean(held) < level + 0.05

    @pytest.mark.parametrize("prior", [0.25, 0.6])
    def test_band_of_precision_uses_the_curve(self, prior: float) -> None:
        s = draw(n_labeled=300, n_unlabeled=1500)
        result = pu.intervals.bootstrap(
            s.counts, s.proportions, n_resamples=5, random_state=0, target=prior
        )
        band = result.pr_band()
        roc = pu.recover_roc(s.counts, s.proportions, repair="blend")
        for recall, precision in zip(band.x[::20], band.estimate[::20], strict=True):
            fpr = roc.fpr_at(float(recall))
            expected = prior * recall / (prior * recall + (1 - prior) * fpr)
            assert precision == pytest.approx(expected, abs=1e-12)

    @pytest.mark.slow
    def test_coverage_of_bands(self) -> None:
        n, pointwise, simultaneous = 60, [], []
        for seed in range(n):
            s = WORLD.sample(300, 2000, alpha=0.25, random_state=seed)
            result = pu.intervals.bootstrap(
                s.counts, s.proportions, metrics=["roc_auc"], n_resamples=400, random_state=seed
            )
            one, all_ = result.roc_band("pointwise"), result.roc_band("simultaneous")
            truth = norm.cdf(1.5 + norm.ppf(one.x))
            middle = (one.x >= 0.05) & (one.x <= 0.8)
            pointwise.append(np.mean((truth >= one.low)[middle] & (truth <= one.high)[middle]))
            simultaneous.append(np.all((truth >= all_.low)[middle] & (truth <= all_.high)[middle]))
        # Errors of these shares over 60 data sets are about .015 and .04.
        assert 0.9 < np.mean(pointwise) < 0.985
        assert np.mean(simultaneous) > 0.82


@pytest.fixture(scope="module")
def sample() -> pu.simulate.Sample:
    return WORLD.sample(4000, 36_000, alpha=0.25, random_state=0)


class TestTop:
    """Groups of like size hold more unlabeled than the top k; those that are drawn must not."""

    @pytest.mark.parametrize("seed", range(3))
    def test_rates_at_the_top_stay(self, seed: int) -> None:
        sample = pu.simulate.binormal(2.0).sample(1000, 100_000, alpha=0.05, random_state=seed)
        counts = sample.counts
        even = counts.thinned(1024, keep=2.5)
        few = thinned_to_draw(counts, 1024, keep=2.5)
        assert few.n_thresholds < even.n_thresholds + 150
        full, coarse, drawn = (pu.recovery.pu_roc_curve(each) for each in (counts, even, few))
        ranks = np.array([1, 3, 5, 10, 15, 40, 100, 200, 1000])
        want, smeared, found = (
            np.interp(ranks / counts.n_unlabeled, each.fpr_pu, each.tpr_pu)
            for each in (full, coarse, drawn)
        )
        # A labeled one more or less is a thousandth.
        assert np.all(np.abs(found - want) <= 0.05 * want + 1e-3)
        assert np.abs(found - want).sum() < np.abs(smeared - want).sum() / 2
        at = np.searchsorted(-few.thresholds, -2.5, side="right")
        there = np.searchsorted(-counts.thresholds, -2.5, side="right")
        assert drawn.fpr_pu[at] == pytest.approx(full.fpr_pu[there], rel=1e-12)

    @pytest.mark.parametrize("kind", ["plain", "weighted", "negative", "ties"])
    def test_nothing_is_lost(self, kind: str) -> None:
        rng = np.random.default_rng(0)
        codes = np.where(rng.random(5000) < 0.2, 1, 0)
        scores = rng.normal(codes)
        weight = None
        if kind == "weighted":
            weight = rng.exponential(size=5000)
        elif kind == "negative":
            codes[rng.random(5000) < 0.1] = -1
        elif kind == "ties":
            scores = np.where(rng.random(5000) < 0.5, scores.round(1), scores)
        counts = pu.ScoreCounts.from_scores(
            scores, codes, sample_weight=weight, negative_label=-1 if kind == "negative" else None
        )
        few = thinned_to_draw(counts, 64, keep=0.5)
        assert 64 <= few.n_thresholds < 250
        assert set(few.thresholds) <= set(counts.thresholds)
        assert few.highest is not None
        assert few.highest[0] == counts.thresholds[0]
        for name in ("labeled", "unlabeled", "negative", "labeled_sq", "unlabeled_sq"):
            full, merged = getattr(counts, name), getattr(few, name)
            assert (full is None) == (merged is None)
            if full is not None:
                assert merged.sum() == pytest.approx(full.sum(), rel=1e-12)
        above = counts.thresholds >= 0.5
        assert few.unlabeled[few.thresholds >= 0.5].sum() == pytest.approx(
            counts.unlabeled[above].sum()
        )


class TestLargeBootstrap:
    @pytest.mark.parametrize("k", [64, 4096])
    def test_thinning_keeps_the_promise_of_its_bound(
        self, sample: pu.simulate.Sample, k: int
    ) -> None:
        thin = sample.counts.thinned(k)
        moved = abs(pu.recovery.auc_pu(thin) - pu.recovery.auc_pu(sample.counts))
        apart = float(np.sum(thin.labeled / thin.n_labeled * thin.unlabeled / thin.n_unlabeled) / 2)
        # A group may hold a little more than its share, since scores are not split.
        assert moved <= apart <= 1 / (2 * k) * 1.2


WORLDS = 9
BY_ROWS, BY_GROUPS = 250, 2000


def row_bootstrap(
    sample: pu.simulate.Sample, scores: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Metrics of resampled rows, counted and recovered one sample after the other."""
    sides = [np.flatnonzero(sample.labeled), np.flatnonzero(~sample.labeled)]
    found = []
    for _ in range(BY_ROWS):
        rows = np.concatenate([rng.choice(side, side.size) for side in sides])
        counts = pu.ScoreCounts.from_scores(scores[rows], sample.labeled[rows])
        metrics = pu.recover_metrics(counts, sample.proportions, threshold=0.8, top_k=50)
        direct = pu.recover_auc(counts, sample.proportions, clip=False)
        found.append({**metrics, "roc_auc": direct})
    return {name: np.array([each[name] for each in found]) for name in found[0]}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*contradict these scores")  # samples of a sample
def test_intervals_are_those_of_a_plain_bootstrap_of_rows() -> None:
    """In nine worlds of more scores than groups, as far as chance lets one tell.

    A quantile q of n replicates has the standard error sqrt(q (1 - q) / n) / density, which is 2.67
    and 1.25 standard errors of the metric over sqrt(n) at the ends and in the middle; not so where
    most replicates are equal, as where nearly all have a precision of 1.
    """
    rng = np.random.default_rng(0)
    levels = (0.025, 0.5, 0.975)
    apart: dict[str, list[np.ndarray]] = {}
    for world in range(WORLDS):
        separation, alpha = rng.uniform(0.7, 3), rng.uniform(0.05, 0.5)
        beta = 1.0 if world % 3 else rng.uniform(0.8, 1)
        n_labeled, n_unlabeled = rng.integers(100, 400), rng.integers(1000, 2000)
        sample = pu.simulate.binormal(separation).sample(
            int(n_labeled), int(n_unlabeled), alpha=alpha, beta=beta, random_state=world
        )
        scores = sample.scores.round(2) if world % 5 == 0 else sample.scores
        by_rows = row_bootstrap(sample, scores, rng)
        by_groups = pu.intervals.bootstrap(
            pu.ScoreCounts.from_scores(scores, sample.labeled),
            sample.proportions,
            threshold=0.8,
            top_k=50,
            curves=False,
            n_resamples=BY_GROUPS,
            random_state=world,
        ).replicates
        for name, plain in by_rows.items():
            ours = by_groups[name]
            assert np.isnan(plain).mean() == pytest.approx(np.isnan(ours).mean(), abs=0.1)
            if np.unique(plain).size > plain.size / 2:
                moved = np.quantile(ours, levels) - np.quantile(plain, levels)
                apart.setdefault(name, []).append(moved / plain.std())
    for name, each in apart.items():
        chance = np.array([2.67, 1.25, 2.67]) * np.sqrt((1 / BY_ROWS + 1 / BY_GROUPS) / len(each))
        # A twentieth of a standard error is allowed to groups.
        assert np.all(np.abs(np.mean(each, axis=0)) < 0.05 + 3 * chance), name


@pytest.mark.parametrize("watched", [True, False])
def test_a_bar_shows_where_somebody_sees_it(watched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.progress import Progress

    told: list[tuple[int, int]] = []
    update = Progress.update

    def spy(bars: Progress, task: Any, **values: Any) -> None:
        told.append((values["completed"], values["total"]))
        update(bars, task, **values)

    monkeypatch.setattr(Progress, "update", spy)
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "_watched", lambda: watched)
    sample = pu.simulate.binormal(2).sample(100, 900, alpha=0.2, random_state=0)
    pu.compare_priors(sample.counts, estimators=["bbe", "roc-slope"], n_resamples=10)
    # After the first, and all of them; intervals in between show no bar of their own.
    assert told == ([(0, 2), (1, 2), (2, 2)] if watched else [])
    told.clear()
    pu.intervals.bootstrap(
        sample.counts, sample.proportions, n_resamples=3, progress=lambda *_: None
    )
    pu.compare_priors(
        sample.counts, estimators=["bbe", "roc-slope"], n_resamples=10, progress=False
    )
    assert not told
    with pytest.raises(TypeError, match="must be None, False or a function"):
        pu.compare_priors(sample.counts, progress=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rows", "alone"), [(76, True), (50, False)])
def test_a_score_with_more_than_two_groups_of_rows_is_alone(rows: int, alone: bool) -> None:
    """A score has the share of labeled and that of unlabeled rows, taken together."""
    scores = np.concatenate([np.linspace(0, 1, 4000), np.full(rows, 0.5003)])
    counts = pu.ScoreCounts.from_scores(scores, np.arange(scores.size) % 2)
    cells = thinned_to_draw(counts, 64, keep=None, alone=True)
    assert ((cells.thresholds == 0.5003) & (cells.highest == 0.5003)).any() == alone
    assert 2 * rows / scores.size > 2.3 / 64 or not alone
