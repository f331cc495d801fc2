"""Worked examples with known answers, from the paper and from its corrected arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import purecover as pu
from purecover.recovery.auc import partial_auc_of_observed
from purecover.recovery.pr import auc_pr_functional, normalize_auc_pr
from purecover.recovery.rates import pr_segment_areas, rate_covariance, ratio_integrals

# Figure 1 of the paper: three labeled and five unlabeled examples, one of the latter positive.
FIGURE_1_SCORES = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
FIGURE_1_LABELED = [1, 1, 1, 0, 0, 0, 0, 0]
FIGURE_1_TRUTH = [1, 1, 1, 1, 0, 0, 0, 0]

# (tpr, fpr, alpha, beta) of the worked point used throughout.
NOISY = pu.MixtureProportions(0.25, 0.75)


@pytest.fixture
def figure_1() -> pu.ScoreCounts:
    return pu.ScoreCounts.from_scores(FIGURE_1_SCORES, FIGURE_1_LABELED)


class TestFigure1:
    def test_observed_and_true_auc(self, figure_1: pu.ScoreCounts) -> None:
        assert pu.auc_pu(figure_1) == pytest.approx(0.8, abs=1e-15)
        truth = pu.ScoreCounts.from_scores(FIGURE_1_SCORES, FIGURE_1_TRUTH)
        assert pu.auc_pu(truth) == pytest.approx(0.9375, abs=1e-15)

    def test_observed_curve(self, figure_1: pu.ScoreCounts) -> None:
        roc = pu.pu_roc_curve(figure_1)
        np.testing.assert_allclose(roc.fpr_pu, [0, 0, 0.2, 0.2, 0.4, 0.4, 0.6, 0.8, 1], atol=1e-15)
        thirds = [0, 1, 1, 2, 2, 3, 3, 3, 3]
        np.testing.assert_allclose(roc.tpr_pu, np.array(thirds) / 3, atol=1e-15)

    def test_raw_curve(self, figure_1: pu.ScoreCounts) -> None:
        roc = pu.recover_roc(figure_1, pu.MixtureProportions(0.2), repair="none")
        expected = [0, -1 / 12, 1 / 6, 1 / 12, 1 / 3, 1 / 4, 1 / 2, 3 / 4, 1]
        np.testing.assert_allclose(roc.fpr, expected, atol=1e-15)
        assert roc.auc == pytest.approx(0.875, abs=1e-14)
        assert roc.auc_direct == pytest.approx(0.875, abs=1e-14)
        assert roc.n_outside == 1

    def test_algorithm_1(self, figure_1: pu.ScoreCounts) -> None:
        proportions = pu.MixtureProportions(0.2)
        roc = pu.recover_roc(figure_1, proportions, repair="paper")
        assert roc.auc == pytest.approx(0.9027778, abs=5e-8)
        pr = pu.recover_pr(figure_1, proportions, repair="paper", target=0.2)
        assert pr.auc_pr == pytest.approx(0.6111111, abs=5e-8)

    def test_delong(self, figure_1: pu.ScoreCounts) -> None:
        assert pu.auc_pu_variance(figure_1) == pytest.approx(0.0311111, abs=5e-8)
        interval = pu.auc_interval(figure_1, pu.MixtureProportions(0.2), method="wald")
        se = np.sqrt(pu.auc_pu_variance(figure_1)) / 0.8
        assert se == pytest.approx(0.2204793, abs=5e-8)
        assert interval.low == pytest.approx(0.875 - norm.ppf(0.975) * 0.2204793, abs=1e-6)


@pytest.mark.parametrize(
    ("alpha", "beta", "auc", "expected"),
    [
        (0.25, 0.75, 0.90, 0.70),
        (0.05, 0.75, 0.65, 0.605),
        (0.05, 0.95, 0.95, 0.905),
        (0.25, 1.00, 0.80, 0.725),
        (0.50, 0.75, 0.95, 0.6125),
        (0.50, 1.00, 0.65, 0.575),
    ],
)
def test_auc_forward_and_back(alpha: float, beta: float, auc: float, expected: float) -> None:
    proportions = pu.MixtureProportions(alpha, beta)
    observed = pu.auc_to_pu(auc, proportions)
    assert observed == pytest.approx(expected, abs=1e-15)
    assert pu.auc_from_pu(observed, proportions) == pytest.approx(auc, abs=1e-14)


def test_rates_forward_and_back() -> None:
    tpr_pu, fpr_pu = pu.observe_rates(0.8, 0.1, NOISY)
    assert (float(tpr_pu), float(fpr_pu)) == pytest.approx((0.625, 0.275), abs=1e-15)
    tpr, fpr = pu.recover_rates(tpr_pu, fpr_pu, NOISY)
    assert (float(tpr), float(fpr)) == pytest.approx((0.8, 0.1), abs=1e-15)


@pytest.mark.parametrize(("share", "precision_pu"), [(0.1, 0.2016129), (0.5, 0.6944444)])
def test_both_forms_of_precision(share: float, precision_pu: float) -> None:
    tpr_pu, fpr_pu = 0.625, 0.275
    observed = share * tpr_pu / (share * tpr_pu + (1 - share) * fpr_pu)
    assert observed == pytest.approx(precision_pu, abs=5e-8)
    assert float(pu.recover_precision(observed, share, NOISY)) == pytest.approx(8 / 11, abs=1e-13)
    assert NOISY.alpha * 0.8 / fpr_pu == pytest.approx(8 / 11, abs=1e-13)


@pytest.fixture
def worked_counts() -> pu.ScoreCounts:
    """The point tpr .8, fpr .1 seen through alpha .25, beta .75, one labeled in ten."""
    return pu.ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[2475, 6525])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            "deployment",
            {
                "accuracy": 0.875,
                "balanced_accuracy": 0.85,
                "f1": 0.7619048,
                "mcc": 0.6788336,
                "precision": 0.7272727,
                "npv": 0.9310345,
            },
        ),
        (
            "pooled",
            {"accuracy": 0.87, "f1": 0.7868852, "mcc": 0.6935892, "precision": 0.7741935},
        ),
    ],
)
def test_threshold_metrics(
    worked_counts: pu.ScoreCounts, target: str, expected: dict[str, float]
) -> None:
    metrics = pu.recover_metrics(worked_counts, NOISY, threshold=1, target=target)  # type: ignore[arg-type]
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(value, abs=5e-8), name
    # What one sees without correction.
    assert metrics.observed["mcc"] == pytest.approx(0.2270303, abs=5e-8)
    assert metrics.observed["balanced_accuracy"] == pytest.approx(0.675, abs=1e-15)


def test_pooled_mcc_shortcut(worked_counts: pu.ScoreCounts) -> None:
    # MCC = MCC' sqrt(pi (1 - pi) / (c (1 - c))) / delta for the pooled target.
    metrics = pu.recover_metrics(worked_counts, NOISY, threshold=1, target="pooled")
    pi, c = 0.30, 0.1
    shortcut = metrics.observed["mcc"] * np.sqrt(pi * (1 - pi) / (c * (1 - c))) / NOISY.delta
    assert metrics["mcc"] == pytest.approx(shortcut, abs=1e-14)
    assert metrics.prior == pytest.approx(pi, abs=1e-15)


@pytest.fixture(scope="module")
def binormal_curve() -> tuple[np.ndarray, np.ndarray]:
    """The binormal curve with means 1.5 apart, on a grid fine enough for seven digits."""
    fpr = np.concatenate(
        ([0], np.geomspace(1e-14, 1e-3, 20_001), np.linspace(1e-3, 1, 200_001)[1:])
    )
    tpr = norm.sf(norm.isf(fpr) - 1.5)
    tpr[0], tpr[-1] = 0, 1
    return fpr, tpr


class TestAreas:
    def test_pr_segments(self) -> None:
        first = pr_segment_areas(np.array([0.5, 0.9]), np.array([0.1, 0.4]), 0.25)
        assert first[0] == pytest.approx(0.1984560, abs=5e-8)
        second = pr_segment_areas(np.array([0.9, 1.0]), np.array([0.4, 1.0]), 0.1)
        assert second[0] == pytest.approx(0.0136968, abs=5e-8)
        chance = pr_segment_areas(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.3)
        assert chance[0] == pytest.approx(0.3, abs=1e-15)

    def test_binormal_auc_pr(self, binormal_curve: tuple[np.ndarray, np.ndarray]) -> None:
        fpr, tpr = binormal_curve
        for prior, expected in ((0.25, 0.6919450), (0.1, 0.4780717)):
            assert pr_segment_areas(tpr, fpr, prior).sum() == pytest.approx(expected, abs=6e-8)

    def test_direct_functional(self, binormal_curve: tuple[np.ndarray, np.ndarray]) -> None:
        fpr, tpr = binormal_curve
        tpr_pu, fpr_pu = pu.observe_rates(tpr, fpr, NOISY)
        ratio = ratio_integrals(tpr_pu, fpr_pu)
        over_tpr = float(np.sum(ratio * np.diff(tpr_pu)))
        over_fpr = float(np.sum(ratio * np.diff(fpr_pu)))
        assert over_tpr == pytest.approx(2.0026039, abs=6e-8)
        assert over_fpr == pytest.approx(1.6507719, abs=6e-8)
        area = auc_pr_functional(over_tpr, over_fpr, NOISY)
        assert area == pytest.approx(0.6919450, abs=6e-8)

    @pytest.mark.parametrize(("limit", "expected"), [(0.1, 0.0410842), (0.3, 0.1878831)])
    def test_partial_auc(
        self, binormal_curve: tuple[np.ndarray, np.ndarray], limit: float, expected: float
    ) -> None:
        fpr, tpr = binormal_curve
        tpr_pu, fpr_pu = pu.observe_rates(tpr, fpr, NOISY)
        area = partial_auc_of_observed(tpr_pu, fpr_pu, NOISY, limit)
        assert area == pytest.approx(expected, abs=6e-8)

    def test_partial_auc_of_everything_is_the_auc(self, figure_1: pu.ScoreCounts) -> None:
        proportions = pu.MixtureProportions(0.2, 0.9)
        whole = pu.recover_partial_auc_direct(figure_1, proportions, 1.0)
        assert whole == pytest.approx(pu.recover_auc(figure_1, proportions), abs=1e-12)

    @pytest.mark.parametrize(
        ("prior", "expected"),
        [(0.01, 0.0050168), (0.1, 0.0517554), (0.25, 0.1369538), (0.5, 0.3068528)],
    )
    def test_smallest_auc_pr(self, prior: float, expected: float) -> None:
        assert pu.min_auc_pr(prior) == pytest.approx(expected, abs=5e-8)
        assert normalize_auc_pr(expected, prior) == pytest.approx(0, abs=1e-6)
        assert normalize_auc_pr(1.0, prior) == 1

    def test_smallest_auc_pr_is_continuous_near_zero(self) -> None:
        # A series takes over below 1e-5.
        assert pu.min_auc_pr(0.99e-5) == pytest.approx(0.99e-5 / 2, rel=1e-4)
        assert pu.min_auc_pr(1.01e-5) == pytest.approx(1.01e-5 / 2, rel=1e-4)


def test_identification_interval() -> None:
    low, high = pu.auc_identification_interval(0.70, 0.2, 0.1)
    assert low == 0.70
    assert high == pytest.approx(0.772222, abs=5e-7)
    assert pu.MixtureProportions.from_inclusions(0.2, 0.1).delta == pytest.approx(
        0.734694, abs=5e-7
    )


def test_sampling_scenarios() -> None:
    p = pu.MixtureProportions.from_censoring(label_frequency=0.4, labeled_share=0.1)
    assert p.alpha == pytest.approx(1 / 6, abs=1e-15)
    same = pu.MixtureProportions.from_censoring(prior=0.25, labeled_share=0.1)
    assert same.alpha == pytest.approx(p.alpha, abs=1e-15)


def test_rate_covariance() -> None:
    counts = pu.ScoreCounts.from_counts([1, 0], labeled=[125, 75], unlabeled=[275, 725])
    covariance = rate_covariance(pu.pu_roc_curve(counts), counts, NOISY)
    assert covariance.tpr[1] == pytest.approx(0.00268656, abs=5e-9)
    assert covariance.fpr[1] == pytest.approx(0.00074156, abs=5e-9)
    assert covariance.covariance[1] == pytest.approx(-0.00102844, abs=5e-9)
