"""Recovered curves, areas, thresholds and posteriors, against closed forms and worked examples."""

from __future__ import annotations

import contextlib
import decimal
import inspect
import math
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.public_names import public_names

import purecover as pu
from purecover.proportions import Basis
from purecover.recovery.curves import (
    REPAIRS,
    area_under_pr,
    min_auc_pr,
    normalize_auc_pr,
    partial_area,
    precision_of,
    refine_pr,
)
from purecover.recovery.rates import contradiction_of, ratio_integrals, trapezoids
from purecover.recovery.repairs import hull_vertices

VALID = [repair for repair in REPAIRS if repair != "none"]

tables = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=25
).filter(lambda rows: any(r[0] for r in rows) and any(r[1] for r in rows))
shares = st.tuples(st.floats(0, 0.9), st.floats(0.05, 1)).map(
    lambda pair: pu.MixtureProportions(pair[0] * pair[1], pair[1])
)


def counts_of(rows: list[tuple[int, int, int]]) -> pu.ScoreCounts:
    """Counts with known negatives too, some at scores of their own."""
    labeled, unlabeled, negative = zip(*rows, strict=True)
    return pu.ScoreCounts.from_counts(
        range(len(rows)), labeled=labeled, unlabeled=unlabeled, negative=negative
    )


def assert_valid_roc(fpr: np.ndarray, tpr: np.ndarray) -> None:
    """What any ROC curve must satisfy."""
    assert fpr.shape == tpr.shape
    assert (fpr[0], tpr[0]) == (0, 0)
    assert (fpr[-1], tpr[-1]) == (1, 1)
    for rate in (fpr, tpr):
        assert rate.min() >= 0
        assert rate.max() <= 1
        assert np.all(np.diff(rate) >= 0)


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@pytest.mark.parametrize("repair", VALID)
@given(rows=tables, proportions=shares)
def test_every_repair_gives_a_valid_curve(
    repair: pu.recovery.curves.Repair,
    rows: list[tuple[int, int, int]],
    proportions: pu.MixtureProportions,
) -> None:
    counts = counts_of(rows)
    roc = pu.recover_roc(counts, proportions, repair=repair, concavity_guard=False)
    assert roc.repair == repair
    assert_valid_roc(roc.fpr, roc.tpr)
    assert 0 <= roc.auc <= 1
    finite = roc.thresholds[~np.isnan(roc.thresholds)]
    assert finite[0] == np.inf
    if repair != "paper":  # Algorithm 1 sorts by fpr, which can reorder thresholds
        assert np.all(np.diff(finite) <= 0)
    pr = pu.recover_pr(counts, proportions, repair="paper" if repair == "paper" else "isotonic")
    assert np.all(np.diff(pr.recall) >= 0)
    assert -1e-12 <= pr.auc_pr <= 1 + 1e-12


@pytest.mark.filterwarnings("ignore::purecover.exceptions.RecoveryWarning")
@given(
    rows=st.lists(
        st.tuples(st.booleans(), st.sampled_from([1e-50, 1e-20, 1.0, 1e10, 1e31, 1e50])), min_size=2
    ).filter(lambda rows: len({label for label, _ in rows}) == 2),
    proportions=shares,
)
def test_weights_far_apart_are_refused_or_give_a_valid_curve(
    rows: list[tuple[bool, float]], proportions: pu.MixtureProportions
) -> None:
    labels, weights = map(np.array, zip(*rows, strict=True))
    totals = sorted((weights[labels].sum(), weights[~labels].sum()))
    arguments = {"scores": -np.arange(len(rows)), "labeled": labels, "sample_weight": weights}
    if totals[1] / totals[0] > 1e12:
        with pytest.raises(pu.exceptions.InvalidInputError, match=r"^The 'sample_weight' .*totals"):
            pu.ScoreCounts.from_scores(**arguments)
        return
    counts = pu.ScoreCounts.from_scores(**arguments)
    for repair in VALID:
        roc = pu.recover_roc(counts, proportions, repair=repair)
        assert_valid_roc(roc.fpr, roc.tpr)


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@pytest.mark.parametrize("repair", ["hull", "likelihood"])
@given(rows=tables, proportions=shares)
def test_concave_repairs_are_concave(
    repair: pu.recovery.curves.Repair,
    rows: list[tuple[int, int, int]],
    proportions: pu.MixtureProportions,
) -> None:
    roc = pu.recover_roc(counts_of(rows), proportions, repair=repair, concavity_guard=False)
    step_x, step_y = np.diff(roc.fpr), np.diff(roc.tpr)
    # Slopes fall: consecutive steps turn clockwise.
    turn = step_x[1:] * step_y[:-1] - step_y[1:] * step_x[:-1]
    assert turn.min(initial=0) >= -1e-9


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@given(rows=tables, proportions=shares)
def test_signed_area_of_the_raw_curve_is_the_direct_auc(
    rows: list[tuple[int, int, int]], proportions: pu.MixtureProportions
) -> None:
    counts = counts_of(rows)
    raw = pu.recover_roc(counts, proportions, repair="none")
    scale = max(1.0, 1 / proportions.delta**2)
    assert raw.auc == pytest.approx(raw.auc_direct, abs=1e-12 * scale)
    assert raw.auc_direct == pytest.approx(
        pu.recover_auc(counts, proportions, clip=False), abs=1e-12
    )


@given(rows=tables)
def test_hull_vertices_match_a_monotone_chain(rows: list[tuple[int, int, int]]) -> None:
    roc = pu.recovery.pu_roc_curve(counts_of(rows))
    points = sorted({(float(x), float(y)) for x, y in zip(roc.fpr_pu, roc.tpr_pu, strict=True)})
    chain: list[tuple[float, float]] = []
    for x, y in points:
        while len(chain) > 1:
            (x0, y0), (x1, y1) = chain[-2:]
            if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) < 0:
                break
            chain.pop()
        chain.append((x, y))
    vertices = hull_vertices(roc)
    chain_area = trapezoids(np.array([p[1] for p in chain]), np.array([p[0] for p in chain]))
    area = trapezoids(roc.tpr_pu[vertices], roc.fpr_pu[vertices])
    assert area == pytest.approx(chain_area, abs=1e-12)


def test_algorithm_1_by_hand() -> None:
    """A literal, slow reading of the paper's Algorithm 1."""
    s = pu.simulate.binormal(1.0).sample(30, 70, alpha=0.3, beta=0.8, random_state=5)
    alpha, beta = 0.3, 0.8
    points = [(0.0, 0.0)]
    for threshold in sorted(set(s.scores), reverse=True):
        tpr_pu = np.mean(s.scores[s.labeled] >= threshold)
        fpr_pu = np.mean(s.scores[~s.labeled] >= threshold)
        tpr = ((1 - alpha) * tpr_pu - (1 - beta) * fpr_pu) / (beta - alpha)
        fpr = (beta * fpr_pu - alpha * tpr_pu) / (beta - alpha)
        if -1e-12 <= tpr <= 1 + 1e-12 and -1e-12 <= fpr <= 1 + 1e-12:
            points.append((fpr, tpr))
    points.sort(key=lambda point: point[0])
    highest, slow = 0.0, []
    for fpr, tpr in points:
        highest = max(highest, tpr)
        slow.append((fpr, highest))
    roc = pu.recover_roc(s.counts, pu.MixtureProportions(alpha, beta), repair="paper")
    assert len(slow) < s.scores.size  # some points were deleted, so the test sees that step
    np.testing.assert_allclose(np.c_[roc.fpr, roc.tpr], slow, atol=1e-12)


def test_isotonic_is_the_least_squares_projection() -> None:
    """No monotone curve in the box is closer than the repaired one (checked by a solver)."""
    from scipy.optimize import minimize

    counts = pu.ScoreCounts.from_counts(
        range(8), labeled=[0, 1, 0, 2, 1, 3, 2, 4], unlabeled=[9, 3, 5, 2, 4, 1, 2, 1]
    )
    roc = pu.recover_roc(counts, pu.MixtureProportions(0.3, 0.9))
    weights = (counts.labeled + counts.unlabeled)[:-1]
    target = roc.fpr_raw[1:-1]
    assert np.any(np.diff(target) < 0) or target.min() < 0  # there is something to repair

    def loss(steps: np.ndarray) -> float:
        return float(np.sum(weights * (np.cumsum(steps) - target) ** 2))

    result = minimize(
        loss,
        np.full(7, 0.1),
        bounds=[(0, 1)] * 7,
        constraints={"type": "ineq", "fun": lambda steps: 1 - steps.sum()},
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    np.testing.assert_allclose(np.cumsum(result.x), roc.fpr[1:-1], atol=1e-5)


def best_log_likelihood(
    labeled: np.ndarray, unlabeled: np.ndarray, proportions: pu.MixtureProportions
) -> float:
    """The largest log-likelihood under a monotone ratio, by a general solver."""
    from scipy.optimize import minimize

    size = labeled.size
    a, b = proportions.unlabeled_inclusion, proportions.labeled_inclusion

    def split(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f = np.exp(theta[:size] - theta[:size].max())
        # A ratio that rises from b to 1 / a in steps.
        steps = np.cumsum(np.exp(theta[size:] - theta[size:].max()))[:-1]
        ratio = b + (1 / a - b) * steps / np.exp(theta[size:] - theta[size:].max()).sum()
        f = f / f.sum()
        return ratio * f, f

    def loss(theta: np.ndarray) -> float:
        g, f = split(theta)
        # Profile out the scale of g: its total must be 1, enforced by a penalty.
        some = labeled > 0
        value = labeled[some] @ np.log(g[some] + 1e-300) + unlabeled @ np.log(f + 1e-300)
        return -float(value) + 1e6 * (g.sum() - 1) ** 2

    tries = (
        minimize(loss, np.random.default_rng(i).normal(size=2 * size + 1), method="BFGS")
        for i in range(6)
    )
    return -min(float(t.fun) for t in tries)


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@pytest.mark.parametrize(
    ("labeled", "unlabeled", "alpha", "beta"),
    [
        # alpha asks for more than the top blocks hold
        pytest.param([0, 20, 30], [50, 40, 10], 0.6, 1.0, marks=pytest.mark.slow),
        pytest.param([0, 20, 30], [50, 40, 10], 0.7, 0.95, marks=pytest.mark.slow),
        # and the mirror image: no unlabeled at the end
        pytest.param([50, 40, 10], [0, 20, 30], 0.05, 0.4, marks=pytest.mark.slow),
        pytest.param([10, 20, 30], [30, 20, 10], 0.3, 0.9, marks=pytest.mark.slow),
    ],
)
def test_likelihood_where_a_class_has_too_little_room(
    labeled: list[int], unlabeled: list[int], alpha: float, beta: float
) -> None:
    # The third table has its unlabeled above its labeled, as flipping the first would give.
    order = slice(None) if labeled[0] == 0 or alpha == 0.3 else slice(None, None, -1)
    low_to_high = np.array(labeled)[order], np.array(unlabeled)[order]
    counts = pu.ScoreCounts.from_counts(range(3), *low_to_high)
    proportions = pu.MixtureProportions(alpha, beta)
    roc = pu.recover_roc(counts, proportions, repair="likelihood", concavity_guard=False)
    assert_valid_roc(roc.fpr, roc.tpr)
    f1, f0 = (np.diff(rate)[::-1] for rate in (roc.tpr, roc.fpr))
    g, f = beta * f1 + (1 - beta) * f0, alpha * f1 + (1 - alpha) * f0
    some, others = low_to_high[0] > 0, low_to_high[1] > 0
    ours = low_to_high[0][some] @ np.log(g[some]) + low_to_high[1][others] @ np.log(f[others])
    best = best_log_likelihood(*(t.astype(float) for t in low_to_high), proportions)
    assert ours >= best - 0.02


NO_CONTRAST = [
    (0.0, 1e-15),
    (0.0, 2e-17),
    (3e-17, 6e-17),
    (0.4, np.nextafter(0.4, 1)),
    (0.4, 0.4 + 1e-13),
    (1 - 2e-16, 1.0),
]


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@pytest.mark.parametrize("repair", VALID)
@pytest.mark.parametrize(("alpha", "beta"), NO_CONTRAST)
@pytest.mark.parametrize(
    ("labeled", "unlabeled"),
    [([3], [5]), ([4, 0], [0, 6]), ([0, 4], [6, 0]), ([1, 4, 2], [5, 3, 1]), ([2, 2], [2, 2])],
    ids=["one block", "labeled below", "labeled above", "overlap", "equal"],
)
def test_no_repair_breaks_where_alpha_is_almost_beta(
    repair: pu.recovery.curves.Repair,
    labeled: list[int],
    unlabeled: list[int],
    alpha: float,
    beta: float,
) -> None:
    # Warnings are errors here, so that a division of 0 by 0 would fail too.
    counts = pu.ScoreCounts.from_counts(range(len(labeled)), labeled, unlabeled)
    proportions = pu.MixtureProportions(alpha, beta)
    roc = pu.recover_roc(counts, proportions, repair=repair, concavity_guard=False)
    assert_valid_roc(roc.fpr, roc.tpr)
    assert 0 <= roc.auc <= 1
    with warnings.catch_warnings():  # the guard speaks where the labeled are below
        warnings.simplefilter("ignore", pu.exceptions.RecoveryWarning)
        pr = pu.recover_pr(counts, proportions, repair=repair)
    assert 0 <= pr.auc_pr <= 1


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@given(rows=tables, place=st.floats(0, 0.999))
def test_likelihood_is_continuous_where_contrast_vanishes(
    rows: list[tuple[int, int, int]], place: float
) -> None:
    counts = counts_of(rows)
    curves = [
        pu.recover_roc(
            counts, pu.MixtureProportions(place, min(place + delta, 1.0)), repair="likelihood",
            concavity_guard=False,
        )
        for delta in (9e-13, 2e-10)
    ]  # fmt: skip
    np.testing.assert_allclose(curves[0].tpr, curves[1].tpr, atol=1e-4)
    np.testing.assert_allclose(curves[0].fpr, curves[1].fpr, atol=1e-4)


@pytest.mark.parametrize("repair", ["hull", "likelihood"])
def test_concavity_guard(repair: pu.recovery.curves.Repair) -> None:
    crooked = pu.simulate.binormal(1.0, 3.0).sample(1000, 10_000, alpha=0.25, random_state=0)
    with pytest.warns(pu.exceptions.RecoveryWarning, match="PU009"):
        roc = pu.recover_roc(crooked.counts, crooked.proportions, repair=repair)
    assert (roc.repair, roc.repair_requested) == ("isotonic", repair)
    straight = pu.simulate.binormal(1.5).sample(1000, 10_000, alpha=0.25, random_state=0)
    roc = pu.recover_roc(straight.counts, straight.proportions, repair=repair)
    assert roc.repair == repair


class TestBlend:
    @pytest.mark.parametrize("n", [(400, 4000), (4000, 20_000)])
    def test_weight_is_the_share_of_recall_that_noise_hides(self, n: tuple[int, int]) -> None:
        alpha, world = 0.1, pu.simulate.binormal(2.0)
        s = world.sample(*n, alpha=alpha, beta=0.9, random_state=0)
        blend, isotonic, likelihood = (
            pu.recover_roc(s.counts, s.proportions, repair=repair, concavity_guard=False)
            for repair in ("blend", "isotonic", "likelihood")
        )
        # The error of the subtracted term alpha tpr_pu / delta.
        tpr_pu = 0.9 * likelihood.tpr + 0.1 * likelihood.fpr
        error = alpha * np.sqrt(tpr_pu * (1 - tpr_pu) / n[0]) / (0.9 - alpha)
        clear = int(np.flatnonzero(likelihood.fpr > error)[0])
        hidden = float(likelihood.tpr[clear - 1])
        weight = min(hidden / 0.25, 1)
        expected = isotonic.fpr + weight * (likelihood.fpr - isotonic.fpr)
        np.testing.assert_allclose(blend.fpr, expected, atol=1e-9)

    def test_is_isotonic_where_the_curve_is_not_concave(self) -> None:
        s = pu.simulate.binormal(1.0, 3.0).sample(1000, 10_000, alpha=0.25, random_state=0)
        blend = pu.recover_roc(s.counts, s.proportions, repair="blend")
        isotonic = pu.recover_roc(s.counts, s.proportions)
        np.testing.assert_array_equal(blend.fpr, isotonic.fpr)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("world", "tolerance"),
        [
            (pu.simulate.binormal(2.0), 0.006),  # isotonic: -.008 at these sizes
            (pu.simulate.binormal(0.3), 0.012),  # likelihood: +.03
            (pu.simulate.binormal(3.5), 0.012),
        ],
        ids=["good", "weak", "excellent"],
    )
    def test_bias_of_the_area(self, world: pu.simulate.World, tolerance: float) -> None:
        errors = []
        for seed in range(300):
            s = world.sample(300, 3000, alpha=0.25, random_state=seed)
            errors.append(pu.recover_pr(s.counts, s.proportions).auc_pr - world.auc_pr(0.25))
        assert abs(np.mean(errors)) < tolerance


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("beta", [1.0, 0.75])
def test_recovers_the_closed_form_of_a_large_sample(
    repair: pu.recovery.curves.Repair, beta: float
) -> None:
    world = pu.simulate.binormal(1.5)
    s = world.sample(40_000, 200_000, alpha=0.25, beta=beta, fixed_counts=True, random_state=0)
    roc = pu.recover_roc(s.counts, s.proportions, repair=repair)
    assert roc.auc == pytest.approx(world.auc, abs=0.006)
    grid = np.linspace(0.02, 0.98, 49)
    if repair != "none":
        # Noise of a rate at these sizes is about .003 / delta.
        true = stats.norm.sf(stats.norm.isf(grid) - 1.5)
        np.testing.assert_allclose(np.interp(grid, roc.fpr, roc.tpr), true, atol=0.025)
    pr = pu.recover_pr(s.counts, s.proportions, repair=repair)
    if repair != "none":
        assert pr.auc_pr == pytest.approx(world.auc_pr(0.25), abs=0.015)


class TestAreaRules:
    def test_davis_goadrich_is_the_limit_of_fine_steps(self) -> None:
        """Splitting segments into many leaves the exact area and drags the others to it."""
        tpr = np.array([0, 0.3, 0.5, 0.9, 1.0])
        fpr = np.array([0, 0.0, 0.1, 0.4, 1.0])
        share = np.linspace(0, 4, 400_001)
        fine = [np.interp(share, np.arange(5), rate) for rate in (tpr, fpr)]
        exact = area_under_pr(tpr, fpr, 0.2, "davis-goadrich")
        assert area_under_pr(*fine, 0.2, "davis-goadrich") == pytest.approx(exact, abs=1e-12)
        assert area_under_pr(*fine, 0.2, "trapezoid") == pytest.approx(exact, abs=1e-9)
        assert area_under_pr(*fine, 0.2, "average-precision") == pytest.approx(exact, abs=1e-5)

    @pytest.mark.parametrize("prior", [5e-324, 2.2e-309, 1e-200])
    def test_a_vanishing_prior_has_an_area(self, prior: float) -> None:
        # Precision is 1 as long as the false-positive rate is 0 and vanishes after that.
        counts = pu.ScoreCounts.from_counts([1, 0], labeled=[1, 1], unlabeled=[0, 1])
        pr = pu.recover_pr(counts, pu.MixtureProportions(0.0), target=prior)
        assert pr.auc_pr == pytest.approx(0.5)


class TestResults:
    def test_reading_the_curve(self) -> None:
        counts = pu.ScoreCounts.from_counts([2, 1, 0], labeled=[5, 3, 2], unlabeled=[0, 5, 5])
        roc = pu.recover_roc(counts, pu.MixtureProportions(0.0))
        assert roc.tpr_at(0.0) == 0.5
        assert roc.tpr_at(0.25) == pytest.approx(0.65)
        assert roc.fpr_at(0.5) == 0.0
        assert roc.fpr_at(0.65) == pytest.approx(0.25)
        assert roc.fpr_at(0.0) == 0.0
        assert roc.fpr_at(1.0) == 1.0
        assert roc.partial_auc(1.0) == pytest.approx(roc.auc)
        assert roc.partial_auc(0.5) == pytest.approx(0.5 * (0.5 + 0.8) / 2)


@given(seed=st.integers(0, 2**32), limit=st.sampled_from([0.02, 0.1, 0.5, 1.0]))
def test_partial_areas_of_many_curves_are_those_of_each(seed: int, limit: float) -> None:
    """Also of unrepaired ones, which rise and fall and leave [0, 1]."""
    rng = np.random.default_rng(seed)
    fpr, tpr = np.cumsum(rng.normal(0.05, rng.choice([0.02, 0.2]), (2, 5, 20)), axis=2)
    fpr[:, 0], tpr[:, 0], fpr[:, -1], tpr[:, -1] = 0.0, 0.0, 1.0, 1.0
    for x, y, found in zip(fpr, tpr, partial_area(fpr, tpr, limit), strict=True):
        stop = int(np.flatnonzero(x <= limit)[-1]) + 1
        before, beyond = stop - 1, min(stop, x.size - 1)
        share = (limit - x[before]) / (x[beyond] - x[before]) if stop < x.size else 0.0
        end = y[before] + share * (y[beyond] - y[before])
        last = limit if stop < x.size else x[before]
        area = np.trapezoid(np.append(y[:stop], end), np.append(x[:stop], last))
        assert found == pytest.approx(area, rel=1e-9, abs=1e-9)


class TestThresholdChoice:
    @pytest.fixture
    def counts(self) -> pu.ScoreCounts:
        return pu.simulate.binormal(2).sample(200, 1200, alpha=0.2, random_state=0).counts

    @pytest.mark.parametrize(
        ("criterion", "wanted", "most"),
        [
            ("precision", 0.7, True),
            ("specificity", 0.9, True),
            ("fpr", 0.05, True),
            ("fdr", 0.3, True),
            ("recall", 0.8, False),
            ("npv", 0.97, False),
        ],
    )
    def test_wanted_value(
        self, counts: pu.ScoreCounts, criterion: str, wanted: float, most: bool
    ) -> None:
        proportions = pu.MixtureProportions(0.2)
        choice = pu.choose_threshold(counts, proportions, criterion, wanted)
        # Slow twin: try every threshold.
        good = []
        for threshold in counts.thresholds[::31]:
            got = pu.recover_metrics(
                counts, proportions, threshold=float(threshold), metrics=[criterion]
            )[criterion]
            if got <= wanted if criterion in ("fpr", "fdr") else got >= wanted:
                good.append(float(threshold))
        if most:  # flags as many as it may: no tried threshold that qualifies is lower
            assert choice.threshold <= min(good)
        else:
            assert choice.threshold >= max(good)
        reached = choice.metrics[criterion]
        assert reached <= wanted if criterion in ("fpr", "fdr") else reached >= wanted

    @pytest.mark.parametrize("criterion", ["f1", "f_beta", "mcc", "youden", "cost", "accuracy"])
    def test_best_value(self, counts: pu.ScoreCounts, criterion: str) -> None:
        proportions = pu.MixtureProportions(0.2)
        options = {"f_beta": 2.0, "cost_fn": 5.0, "cost_fp": 1.0}
        choice = pu.choose_threshold(counts, proportions, criterion, **options)  # type: ignore[arg-type]
        sign = 1 if pu.METRICS[criterion].greater_is_better else -1
        for threshold in counts.thresholds[::97]:
            other = pu.recover_metrics(
                counts,
                proportions,
                threshold=float(threshold),
                metrics=[criterion],
                **options,  # type: ignore[arg-type]
            )[criterion]
            assert sign * choice.metrics[criterion] >= sign * other - 1e-12 or np.isnan(other)

    def test_youden_needs_no_proportions(self, counts: pu.ScoreCounts) -> None:
        chosen = {
            pu.choose_threshold(
                counts, pu.MixtureProportions(alpha, beta), "youden", repair="none"
            ).threshold
            for alpha, beta in ((0.0, 1.0), (0.2, 1.0), (0.1, 0.9))
        }
        assert len(chosen) == 1

    def test_a_curve_that_is_not_concave_is_warned_of_once(self) -> None:
        counts = pu.ScoreCounts.from_counts([2, 1, 0], [500, 0, 500], [100, 800, 100])
        with pytest.warns(pu.exceptions.RecoveryWarning, match="PU009") as caught:
            pu.choose_threshold(counts, pu.MixtureProportions(0.08), "recall", 0.8, repair="hull")
        assert [Path(each.filename) for each in caught] == [Path(__file__)]

    def test_flagging_nothing_can_be_best(self) -> None:
        counts = pu.ScoreCounts.from_counts([1, 0], labeled=[60, 40], unlabeled=[28, 72])
        choice = pu.choose_threshold(counts, pu.MixtureProportions(0.25), "cost", cost_fp=100)
        assert choice.threshold > 1
        assert choice.metrics["cost"] == pytest.approx(0.25)
        assert choice.flagged_labeled == choice.flagged_unlabeled == 0

    def test_counts_flagged(self) -> None:
        counts = pu.ScoreCounts.from_counts([2, 1, 0], labeled=[5, 4, 1], unlabeled=[5, 20, 75])
        choice = pu.choose_threshold(counts, pu.MixtureProportions(0.08), "recall", 0.8)
        assert (choice.flagged_labeled, choice.flagged_unlabeled) == (9, 25)
        assert "Recall >= 0.8" in repr(choice)


def test_points_between_lie_on_the_straight_segments_of_the_roc() -> None:
    """The hyperbolas of Davis & Goadrich: interpolate the rates, then take the precision."""
    fpr, tpr = np.array([0.0, 0.1, 0.4, 0.405, 1.0]), np.array([0.02, 0.5, 0.9, 0.905, 1.0])
    prior, step = 0.3, 0.02
    recall, precision = refine_pr(tpr, precision_of(tpr, fpr, prior), prior, step)
    assert np.all(np.diff(recall) > 0)
    assert np.diff(recall).max() <= step + 1e-12
    # Evenly spaced in each segment, as few as can be: ceil(width / step) pieces.
    assert recall.size == 24 + 20 + 1 + 5 + 1
    np.testing.assert_allclose(precision, precision_of(recall, np.interp(recall, tpr, fpr), prior))
    np.testing.assert_allclose(recall[:25], np.linspace(0.02, 0.5, 25))


def test_hull_is_cut_where_it_crosses_the_box() -> None:
    """The mapped hull, point by point, is inside the box what the repair says."""
    s = pu.simulate.binormal(1.5).sample(300, 1500, alpha=0.3, beta=0.9, random_state=1)
    alpha, beta = 0.34, 0.8  # both wrong, so that it leaves on both sides
    roc = pu.recover_roc(
        s.counts, pu.MixtureProportions(alpha, beta), repair="hull", concavity_guard=False
    )
    observed = pu.recovery.pu_roc_curve(s.counts)
    corners = hull_vertices(observed)
    tpr_pu, fpr_pu = observed.tpr_pu[corners], observed.fpr_pu[corners]
    tpr = ((1 - alpha) * tpr_pu - (1 - beta) * fpr_pu) / (beta - alpha)
    fpr = (beta * fpr_pu - alpha * tpr_pu) / (beta - alpha)
    last, first = int(np.flatnonzero(fpr < 0)[-1]), int(np.flatnonzero(tpr > 1)[0])
    assert 1 < last < first - 1 < len(corners) - 3
    for x in np.linspace(0.001, 0.999, 97):
        height = np.interp(x, fpr[last:], tpr[last:])
        assert np.interp(x, roc.fpr, roc.tpr) == pytest.approx(min(height, 1), abs=1e-9)


def test_mean_of_a_ratio_where_the_series_serves() -> None:
    """Next to the border of 1e-3, against 40 digits."""
    for x in (0.9e-3, -0.9e-3):
        found = ratio_integrals(np.array([0.0, 1.0]), np.array([1.0, 1 + x]))[0]
        step = decimal.Decimal(float(1 + x) - 1)  # as the sum was rounded
        with decimal.localcontext(prec=40):
            exact = (1 - (1 + step).ln() / step) / step
        assert found == pytest.approx(float(exact), rel=1e-12)


def test_an_auc_below_zero_is_cut_to_zero() -> None:
    counts = pu.ScoreCounts.from_counts([2, 1], labeled=[1, 9], unlabeled=[9, 1])
    with pytest.warns(pu.exceptions.RecoveryWarning, match="-0.0714 is outside"):
        assert pu.recover_auc(counts, pu.MixtureProportions(0.3)) == 0
    raw = pu.recover_auc(counts, pu.MixtureProportions(0.3), clip=False)
    assert raw == pytest.approx(0.5 - 0.4 / 0.7)


# Figure 1 of the paper: three labeled and five unlabeled rows, one of the latter positive.
FIGURE_1_SCORES = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
FIGURE_1_LABELED = [1, 1, 1, 0, 0, 0, 0, 0]

NOISY = pu.MixtureProportions(0.25, 0.75)


@pytest.fixture
def figure_1() -> pu.ScoreCounts:
    return pu.ScoreCounts.from_scores(FIGURE_1_SCORES, FIGURE_1_LABELED)


class TestFigure1:
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


def test_rates_forward_and_back() -> None:
    tpr_pu, fpr_pu = pu.recovery.observe_rates(0.8, 0.1, NOISY)
    assert (float(tpr_pu), float(fpr_pu)) == pytest.approx((0.625, 0.275), abs=1e-15)
    tpr, fpr = pu.recovery.recover_rates(tpr_pu, fpr_pu, NOISY)
    assert (float(tpr), float(fpr)) == pytest.approx((0.8, 0.1), abs=1e-15)
    assert pu.recovery.auc_to_pu(0.9, NOISY) == pytest.approx(0.7, abs=1e-15)
    assert pu.recovery.auc_from_pu(0.7, NOISY) == pytest.approx(0.9, abs=1e-15)


class TestAreas:
    @pytest.mark.parametrize(
        ("prior", "expected"),
        [(0.01, 0.0050168), (0.1, 0.0517554), (0.25, 0.1369538), (0.5, 0.3068528)],
    )
    def test_smallest_auc_pr(self, prior: float, expected: float) -> None:
        assert min_auc_pr(prior) == pytest.approx(expected, abs=5e-8)
        assert normalize_auc_pr(expected, prior) == pytest.approx(0, abs=1e-6)
        assert normalize_auc_pr(1.0, prior) == 1

    def test_smallest_auc_pr_is_continuous_near_zero(self) -> None:
        # A series takes over below 1e-5.
        assert min_auc_pr(0.99e-5) == pytest.approx(0.99e-5 / 2, rel=1e-4)
        assert min_auc_pr(1.01e-5) == pytest.approx(1.01e-5 / 2, rel=1e-4)


PROPORTIONS = [
    pu.MixtureProportions(0.25),
    pu.MixtureProportions(0.05, 0.95),
    pu.MixtureProportions(0.25, 0.75),
    pu.MixtureProportions(0.5, 0.75),
]
SHARES = [0.01, 0.3, 0.9]
SCORES = np.linspace(-4, 5, 101)


def labeled_given_score(share, proportions, positive, negative):
    """P(labeled | score) from the two class densities, straight from Bayes' rule."""
    g = proportions.beta * positive + (1 - proportions.beta) * negative
    f = proportions.alpha * positive + (1 - proportions.alpha) * negative
    return share * g / (share * g + (1 - share) * f)


@pytest.mark.parametrize("proportions", PROPORTIONS, ids=str)
@pytest.mark.parametrize("share", SHARES)
def test_exact_on_normal_densities(proportions, share):
    positive, negative = stats.norm.pdf(SCORES, 1.5), stats.norm.pdf(SCORES)
    tau = labeled_given_score(share, proportions, positive, negative)
    for prior in (None, 0.1, 0.5, 0.9):
        p = proportions.alpha if prior is None else prior
        truth = p * positive / (p * positive + (1 - p) * negative)
        found = pu.recovery.correct_posterior(tau, share, proportions, prior=prior)
        np.testing.assert_allclose(found, truth, rtol=0, atol=1e-10)
    # Equation 22 of the paper, where it is not clipped.
    alpha, beta, tau = proportions.alpha, proportions.beta, np.array([0.01, 0.3, 0.9])
    ratio = tau / (1 - tau) * (1 - share) / share
    raw = alpha * (1 - alpha) / (beta - alpha) * (ratio - (1 - beta) / (1 - alpha))
    found = pu.recovery.correct_posterior(tau, share, proportions, clip=False)
    np.testing.assert_allclose(found, raw, atol=1e-12)


@pytest.mark.parametrize("proportions", PROPORTIONS, ids=str)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("prior", [None, 0.3])
def test_band_maps_onto_the_unit_interval(proportions, share, prior):
    low, high = pu.recovery.posterior_band(share, proportions)
    inside = np.linspace(low, high, 11)
    found = pu.recovery.correct_posterior(inside, share, proportions, prior=prior)
    assert found[0] == pytest.approx(0, abs=1e-12)
    assert found[-1] == pytest.approx(1, abs=1e-12)
    assert np.all(np.diff(found) > 0)
    if high < 1:
        assert pu.recovery.correct_posterior((1 + high) / 2, share, proportions, prior=prior) == 1
        assert pu.recovery.correct_posterior((1 + high) / 2, share, proportions, clip=False) > 1
    if low > 0:
        assert pu.recovery.correct_posterior(low / 2, share, proportions, prior=prior) == 0
        assert pu.recovery.correct_posterior(low / 2, share, proportions, clip=False) < 0


def test_without_clipping_only_possible_points_have_a_value():
    proportions, share = pu.MixtureProportions(0.3, 0.9), 0.2
    low, high = pu.recovery.posterior_band(share, proportions)
    tau = np.array([low / 2, (low + high) / 2, (1 + high) / 2])
    raw = pu.recovery.correct_posterior(tau, share, proportions, prior=0.4, clip=False)
    assert np.isnan(raw).tolist() == [True, False, True]
    assert raw[1] == pu.recovery.correct_posterior(tau, share, proportions, prior=0.4)[1]


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@given(st.data())
def test_counts_lie_within_their_margins(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 6))
    sides = st.lists(st.integers(0, 40), min_size=size, max_size=size).filter(any)
    labeled, unlabeled = data.draw(sides), data.draw(sides)
    counts = pu.ScoreCounts.from_counts(range(size, 0, -1), labeled, unlabeled)
    alpha = data.draw(st.floats(0, 0.95))
    proportions = pu.MixtureProportions(alpha, data.draw(st.floats(alpha + 0.01, 1)))
    threshold = data.draw(st.integers(0, size + 1))
    found = pu.recovery.recover_confusion(counts, proportions, threshold)
    assert min(found.tp, found.fp, found.fn, found.tn) >= -1e-9
    flagged = sum(unlabeled[: size - threshold + 1]) if threshold else sum(unlabeled)
    assert found.flagged == pytest.approx(flagged)
    assert found.tp + found.fn == pytest.approx(alpha * sum(unlabeled))
    precision = pu.recover_metrics(counts, proportions, threshold=threshold, metrics=["precision"])
    if flagged and not math.isnan(precision["precision"]):
        assert found.tp / flagged == pytest.approx(precision["precision"], abs=1e-9)


def probabilities(seed: int = 0) -> pu.simulate.Sample:
    """Labeled and unlabeled rows, a tenth of the latter positive."""
    found = pu.simulate.binormal(2.0).sample(300, 1500, alpha=0.1, random_state=seed)
    return replace(found, scores=1 / (1 + np.exp(2 - 2 * found.scores - math.log(1 / 9))))


FEW = {"n_resamples": 20, "random_state": 0}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "choose_threshold": {"criterion": "f1"},
    "recover_bounds": {},
    "recover_auc": {},
    "recover_metrics": {},
    "recover_pr": {},
    "recover_roc": {},
    "intervals.auc_interval": {},
    "intervals.bootstrap": {**FEW, "metrics": ["f1"], "curves": False},
    "intervals.curve_band": {**FEW, "curve": "decision"},
    "intervals.evidence_thresholds": FEW,
    "recovery.binning_bounds": {},
    "recovery.calibration_test": {},
    "recovery.recover_calibration": {},
    "recovery.recover_confusion": {"threshold": 0.5},
    "recovery.recover_decision_curve": {},
    "recovery.recover_mean": {"f": np.sqrt},
    "recovery.recover_metric_curves": {},
    "RecoveredRocDisplay": {},
    "RecoveredPrDisplay": {},
    "displays.CalibrationDisplay": {},
    "displays.DecisionCurveDisplay": {},
    "displays.EvidenceDisplay": FEW,
    "displays.ThresholdDisplay": {"criterion": "f1"},
}
"""Whatever recovers figures from scores, alpha and beta, and what it needs beside them."""
RAISING = {"intervals.evidence_thresholds", "displays.EvidenceDisplay"}


def with_alpha(name: str, sample: pu.simulate.Sample, alpha: float) -> Any:
    way, options = public_names()[name], ARGUMENTS[name]
    if isinstance(way, type):
        return way.from_predictions(sample.scores, sample.labeled, alpha=alpha, **options)
    if name == "recover_bounds":
        return way(sample.counts, (alpha, alpha + 0.1), **options)
    rows = {"counts": pu.ScoreCounts.from_scores(sample.scores, sample.labeled)}
    if "scores" in inspect.signature(way).parameters:
        rows = {"scores": sample.scores, "labeled": sample.labeled}
    return way(**rows, proportions=pu.MixtureProportions(alpha), **options)


@pytest.mark.filterwarnings("ignore:the recovered AUC .* was clipped")  # by no more than chance
@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_contradiction_is_told_once(name: str) -> None:
    sample = probabilities()
    with_alpha(name, sample, 0.1)  # in silence: warnings are errors here
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if name in RAISING:
            with pytest.raises(pu.exceptions.IdentifiabilityError, match="contradict these scores"):
                with_alpha(name, sample, 0.6)
        else:
            with_alpha(name, sample, 0.6)
    assert len(caught) == (name not in RAISING)
    for each in caught:
        assert each.category is pu.exceptions.RecoveryWarning
        assert Path(each.filename) == Path(__file__)
        fits = re.search(r"contradict these scores: .* at most (0\.\d+)", str(each.message))
        with_alpha(name, sample, float(fits[1]))  # as it says


def test_no_way_to_recovered_figures_is_forgotten() -> None:
    ways = set()
    for name, way in public_names().items():
        call = getattr(way, "from_predictions", None) if isinstance(way, type) else way
        taken = set(inspect.signature(call).parameters) if inspect.isroutine(call) else set()
        if {"counts", "scores"} & taken and {"proportions", "alpha_range"} & taken:
            ways.add(name)
    # Reports have a field for it, and this display draws it. Where labeled positives are the
    # easier ones, such an alpha contradicts nothing.
    told = {"evaluate", "compare_scores", "displays.SensitivityDisplay"}
    told |= {"recovery.recover_hidden", "recovery.tipping_theta"}
    assert ways - told == set(ARGUMENTS)


def extreme(call: Any, rows: tuple[Any, ...], shares: tuple[float, ...], **options: Any) -> Any:
    """Call a function with counts of scores, labels and perhaps weights."""
    counts = pu.ScoreCounts.from_scores(*rows[:2], sample_weight=[*rows, None][2])
    return lambda: call(counts=counts, proportions=pu.MixtureProportions(*shares), **options)


FOUR = [0.9, 0.3, 0.5, 0.1], [1, 1, 0, 0]
EXTREME = {
    "unrepaired, prior 1": extreme(
        pu.recover_metrics, ([0.07, 0.73, 0.55, 0.08, 0.8], [1, 0, 1, 0, 0]), (0.0321, 0.0959),
        repair="none", target=1.0, area="average-precision",
    ),
    "unrepaired, tiny max_fpr": extreme(
        pu.recover_metrics, ([0.01, 1e-310], [1, 0]), (0.475, 0.779),
        repair="none", max_fpr=1e-310, area="average-precision",
    ),
    "weights far apart": extreme(
        pu.recover_metrics, ([-1.0, 0.0], [1, 0], [1e6, 1e-6]), (0.41,), repair="likelihood"
    ),
    "likelihood, alpha next to beta": extreme(
        pu.intervals.bootstrap, ([0.35, 0.31, 0.02, 0.61, 0.82, 0.49], [1, 1, 1, 1, 1, 0]),
        (1 - 1e-16,), repair="likelihood", n_resamples=5, random_state=0,
    ),
    "no unlabeled weight to speak of": extreme(
        pu.recovery.recover_calibration, ([0.5, 1 - 1e-16], [0, 1], [1e-6, 1e6]), (0.999999999,),
        target=1e-200,
    ),
    "means of huge values": extreme(
        pu.recovery.recover_mean, ([0.9, 0.3, 0.1], [1, 0, 0]), (1 - 1e-16,),
        f=[1e308, -1e308, 5e-324],
    ),
    "evidence where nothing is positive": extreme(
        pu.intervals.evidence_thresholds, FOUR, (5e-324, 1e-12), n_resamples=4, random_state=0
    ),
    "a report of alpha next to beta": lambda: str(
        pu.evaluate([0.1, 0.9, 0.5, 0.2, 0.4], [1, 0, 0, 1, 0], alpha=1 - 2**-53, n_resamples=0)
    ),
    "evidence with a tiny prior": lambda: pu.intervals.evidence_thresholds(
        *FOUR, alpha=0.1, prior=1e-300, n_resamples=5
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EXTREME)
def test_extreme_input_warns_in_our_words_only(case: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", pu.exceptions.PurecoverWarning)
        with contextlib.suppress(pu.exceptions.PurecoverError):
            EXTREME[case]()


@pytest.mark.parametrize(("alpha", "beta"), [(1e-310, 1.0), (1e-310, 0.01), (0.08, 1.0)])
def test_a_calibration_without_expectations_is_undefined(alpha: float, beta: float) -> None:
    counts = pu.ScoreCounts.from_scores([0.0, 0.0, 1.0, 0.0, 1.0], [0, 0, 1, 1, 1])
    found = pu.recovery.calibration_test(counts, pu.MixtureProportions(alpha, beta))
    assert math.isnan(found.p_value)


def test_the_constant_of_evidence_of_a_tiny_prior_is_infinite() -> None:
    assert pu.intervals.evidence_constant(5e-324) == math.inf
    assert pu.intervals.evidence_constant(1e-228) < math.inf


@pytest.mark.parametrize("repair", ["isotonic", "hull", "likelihood", "blend"])
@pytest.mark.parametrize("beta", [1.0, 0.9])
def test_exact_mixtures_give_back_the_curve_of_the_classes(repair, beta):
    """Also where one class is missing at an end, and the other has chance against it there."""
    alpha, positive, negative = 0.3, np.array([5, 3, 2, 0]), np.array([0, 2, 3, 5])
    labeled = 1e5 * (beta * positive + (1 - beta) * negative)
    unlabeled = 1e5 * (alpha * positive + (1 - alpha) * negative)
    proportions = pu.MixtureProportions(alpha, beta)
    counts = pu.ScoreCounts.from_counts([4, 3, 2, 1], labeled, unlabeled)
    curve = pu.recover_roc(counts, proportions, repair=repair)
    assert np.interp([0, 0.2, 0.5], curve.fpr, curve.tpr)[1:] == pytest.approx([0.8, 1], abs=1e-4)
    assert curve.tpr[curve.fpr <= 1e-6].max() == pytest.approx(0.5, abs=1e-4)
    # Fewer unlabeled at the top and fewer labeled at the bottom than there can be.
    unlabeled[0] *= 0.98
    labeled[-1] *= 0.98
    counts = pu.ScoreCounts.from_counts([4, 3, 2, 1], labeled, unlabeled)
    curve = pu.recover_roc(counts, proportions, repair=repair)
    assert curve.fpr.min() == 0
    assert curve.tpr.max() == 1
    assert curve.tpr[curve.fpr <= 0.01].max() == pytest.approx(0.5, abs=0.02)
    assert curve.fpr[curve.tpr >= 0.99].min() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("judged", "advice"),
    [
        (False, "Correct alpha (Smith 2021) or beta, or have alpha estimated"),
        (True, "See whether the judged rows were drawn at random"),
    ],
)
def test_the_advice_on_a_contradiction_depends_on_where_alpha_is_from(judged, advice):
    counts = pu.simulate.binormal(3).sample(500, 2000, alpha=0.1, random_state=0).counts
    basis = (Basis("judged"),) if judged else ()
    given = pu.MixtureProportions(0.8, 0.95, origin="Smith 2021", basis=basis)
    found = contradiction_of(counts, given)
    assert advice in found
    # The largest alpha that is named is no contradiction, and one digit more is one.
    most = float(re.search(r"alpha can be at most ([\d.]+)", found)[1].rstrip("."))
    assert contradiction_of(counts, pu.MixtureProportions(most, 0.95)) == ""
    assert contradiction_of(counts, pu.MixtureProportions(most + 1e-3, 0.95))
