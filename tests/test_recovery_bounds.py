"""Where proportions are not known: bounds over ranges, sensitivity, maps of errors."""

from __future__ import annotations

import itertools
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purecover as pu
from purecover.recovery import bounds as _bound_tables

RATES = ("tpr", "fpr", "precision")


def sample(seed, n_labeled=100, n_unlabeled=1000, alpha=0.25, separation=1.5, **options):
    return pu.simulate.binormal(separation).sample(
        n_labeled, n_unlabeled, alpha=alpha, random_state=seed, **options
    )


def true_table(scores, truth, thresholds):
    """Rates of a data set by counting, and its AUC over all pairs."""
    positive, negative = scores[truth], scores[~truth]
    tp = positive.size - np.searchsorted(np.sort(positive), thresholds, side="left")
    fp = negative.size - np.searchsorted(np.sort(negative), thresholds, side="left")
    with np.errstate(invalid="ignore"):
        rates = {"tpr": tp / positive.size, "fpr": fp / negative.size, "precision": tp / (tp + fp)}
    pairs = positive[:, None] - negative
    return rates, np.mean((pairs > 0) + (pairs == 0) / 2)


def contained(bounds, rates):
    """At each threshold, whether the rates are inside the bounds."""
    slack = 1e-12
    ok = np.ones(bounds.thresholds.size, dtype=bool)
    for rate in rates:
        low, high = getattr(bounds, f"{rate}_lower"), getattr(bounds, f"{rate}_upper")
        ok &= ~(rates[rate] < low - slack) & ~(rates[rate] > high + slack)
    return ok


def published_tables(scores, labels, alpha, radius, target="pooled"):
    """Confusion tables rank by rank, as the published method has it, in plain Python."""
    n_labeled, n_unlabeled = labels.count("L"), labels.count("U")
    m = math.floor(alpha * n_unlabeled)
    rows = []
    for t in [math.inf, *sorted(set(scores), reverse=True)]:
        above = {
            kind: sum(s >= t and k == kind for s, k in zip(scores, labels, strict=True))
            for kind in "LUN"
        }
        row = {}
        for side, sign, rounding in (("low", -1, math.floor), ("high", 1, math.ceil)):
            share = min(max(above["L"] / n_labeled + sign * radius, 0), 1)
            theta = rounding(share * m)
            tp = max(min(above["U"], theta), m - (n_unlabeled - above["U"]))
            fn, fp = m - tp, above["U"] - tp
            tn = n_unlabeled - m - fp
            if target == "pooled":
                tp, fn = tp + above["L"], fn + n_labeled - above["L"]
                fp, tn = fp + above["N"], tn + labels.count("N") - above["N"]
            row[side] = {
                "tpr": tp / (tp + fn),
                "fpr": fp / (fp + tn),
                "precision": tp / (tp + fp) if tp + fp else math.nan,
            }
        rows.append(row)
    low = {rate: np.array([row["low"][rate] for row in rows]) for rate in RATES}
    high = {rate: np.array([row["high"][rate] for row in rows]) for rate in RATES}
    # Few true positives mean many false ones.
    return {
        "tpr_lower": np.maximum.accumulate(low["tpr"]),
        "tpr_upper": np.minimum.accumulate(high["tpr"][::-1])[::-1],
        "fpr_lower": np.maximum.accumulate(high["fpr"]),
        "fpr_upper": np.minimum.accumulate(low["fpr"][::-1])[::-1],
        "precision_lower": low["precision"],
        "precision_upper": high["precision"],
    }


def random_rows(seed, n=60, with_negatives=True):
    rng = np.random.default_rng(seed)
    labels = ["L", "U", *rng.choice(list("LUN" if with_negatives else "LU"), n, p=None)]
    shift = {"L": 3, "U": 1, "N": 0}
    scores = [int(rng.integers(0, 12) + shift[k]) for k in labels]  # with many ties
    return scores, labels


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("target", ["pooled", "deployment"])
def test_tables_equal_the_published_ones(seed, target):
    scores, labels = random_rows(seed)
    counts = pu.ScoreCounts.from_scores(scores, labels, positive_label="L", negative_label="N")
    alpha = 0.3
    bounds = pu.recover_bounds(counts, alpha, confidence_level=0.5, target=target)
    m = math.floor(alpha * counts.n_unlabeled)
    n = 1 / (1 / counts.n_labeled + 1 / m)  # the published radius has n_labeled
    radius = math.sqrt(math.log(2 / 0.5) / (2 * n))
    twin = published_tables(scores, labels, alpha, radius, target)
    for name, values in twin.items():
        np.testing.assert_allclose(getattr(bounds, name), values, atol=1e-12, err_msg=name)


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alphas", [(0.1, 0.7), (0.0, 0.95), (0.4, 0.5)])
@pytest.mark.parametrize("target", ["pooled", "deployment"])
def test_a_range_takes_in_every_alpha_between(seed, alphas, target, monkeypatch):
    monkeypatch.setattr(_bound_tables, "_monotone", lambda bounds: bounds)  # comes after
    scores, labels = random_rows(seed, 300)
    counts = pu.ScoreCounts.from_scores(scores, labels, positive_label="L", negative_label="N")
    n = int(counts.n_unlabeled)
    if target == "deployment":  # where recall needs a positive
        alphas = (max(alphas[0], 1 / n), alphas[1])
    # A band of the same width for every alpha, so that only the tables differ.
    radius = math.sqrt(math.log(2 / 0.05) / (2 * counts.n_labeled))
    band = _bound_tables.Band(pu.recovery.pu_roc_curve(counts).tpr_pu, radius, noise_ratio=0.0)
    wide = _bound_tables.count_bounds(counts, alphas, target, band)
    ends = [math.floor(alpha * n + 1e-9) for alpha in alphas]
    # Blocks with two kinks each, against all whole numbers one by one.
    every = {}
    for rounded in (True, False):
        if not rounded:
            monkeypatch.setattr(_bound_tables, "_ceil", lambda values: values)
            monkeypatch.setattr(_bound_tables, "_floor", lambda values: values)
        every[rounded] = [
            _bound_tables.count_bounds(counts, ((m + 1e-6) / n,) * 2, target, band)
            for m in range(ends[0], ends[1] + 1)
        ]
    for name in RATES:
        low, high = wide[f"{name}_lower"], wide[f"{name}_upper"]
        known = ~np.isnan(low)
        for rounded, sign in ((True, 1), (False, -1)):
            lowest = np.min([one[f"{name}_lower"] for one in every[rounded]], axis=0)
            highest = np.max([one[f"{name}_upper"] for one in every[rounded]], axis=0)
            # Not wider than all of them with rounding to whole positives, and not narrower
            # than all of them without.
            assert np.all(sign * (low - lowest)[known] >= -1e-9)
            assert np.all(sign * (highest - high)[known] >= -1e-9)


def test_blocks_cover_each_number_once():
    for first, last in [(0, 0), (5, 5), (0, 31), (0, 32), (0, 5000), (7, 90), (3000, 10**7)]:
        for ratio in (1.0, 1.05, 10.0):
            blocks = _bound_tables._blocks(first, last, ratio)
            assert len(blocks) <= 32
            assert blocks[0][0] == first
            assert blocks[-1][1] == last
            assert all(a <= b for a, b in blocks)
            assert all(after[0] == before[1] + 1 for before, after in itertools.pairwise(blocks))


@pytest.mark.parametrize("target", ["pooled", "deployment"])
def test_exact_distribution_reproduces_counting(target):
    # The hidden positives are the labeled ones, each four times: their distribution is known.
    rng = np.random.default_rng(5)
    labeled = rng.integers(3, 12, 40).astype(float)
    hidden, others = np.repeat(labeled, 4), rng.integers(0, 9, 700).astype(float)
    scores = np.concatenate([labeled, hidden, others])
    truth = np.arange(scores.size) < labeled.size + hidden.size
    is_labeled = np.arange(scores.size) < labeled.size
    counts = pu.ScoreCounts.from_scores(scores, is_labeled)
    exact = pu.recovery.pu_roc_curve(counts)
    alpha = hidden.size / counts.n_unlabeled
    band = _bound_tables.Band(exact.tpr_pu, radius=0.0, noise_ratio=0.0)
    curves = _bound_tables.count_bounds(counts, (alpha, alpha), target, band)
    keep = np.ones(scores.size, bool) if target == "pooled" else ~is_labeled
    rates, _ = true_table(scores[keep], truth[keep], exact.thresholds)
    for rate in RATES:
        np.testing.assert_allclose(curves[f"{rate}_lower"], rates[rate], atol=1e-12)
        np.testing.assert_allclose(curves[f"{rate}_upper"], rates[rate], atol=1e-12)


@pytest.mark.parametrize(
    ("n_labeled", "n_unlabeled", "alphas", "target"),
    [
        pytest.param(100, 1000, 0.2, "pooled", marks=pytest.mark.slow),
        (200, 500, 0.2, "deployment"),
        pytest.param(60, 300, (0.15, 0.25), "pooled", marks=pytest.mark.slow),
    ],
)
def test_tables_of_the_data_are_contained(n_labeled, n_unlabeled, alphas, target):
    repeats, whole, areas = 150, 0, 0
    for seed in range(repeats):
        data = sample(seed, n_labeled, n_unlabeled, 0.2, fixed_counts=True)
        bounds = pu.recover_bounds(data.counts, alphas, target=target)
        keep = np.ones(len(data), bool) if target == "pooled" else ~data.labeled
        rates, auc = true_table(data.scores[keep], data.truth[keep], bounds.thresholds)
        inside = contained(bounds, rates).all()
        whole += inside
        areas += bounds.auc_lower <= auc <= bounds.auc_upper
        assert not inside or bounds.auc_lower <= auc <= bounds.auc_upper
    assert whole >= 0.93 * repeats
    assert areas >= whole


# A few rows contradict a large alpha, and have bounds all the same.
@pytest.mark.filterwarnings("ignore::purecover.exceptions.RecoveryWarning")
@given(
    data=st.data(),
    rows=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)),
        min_size=1,
        max_size=8,
    ).filter(lambda rows: any(r[1] for r in rows) and any(r[2] for r in rows)),
    target=st.sampled_from(["pooled", "deployment"]),
    level=st.floats(1e-6, 1 - 1e-12),
)
def test_bounds_are_curves_in_the_unit_box(data, rows, target, level):
    scores, labeled, unlabeled, negative = zip(*rows, strict=True)
    counts = pu.ScoreCounts.from_counts(scores, labeled, unlabeled, negative=negative)
    ends = sorted(data.draw(st.lists(st.floats(0, 0.99), min_size=2, max_size=2)))
    if target == "deployment" and ends[1] * counts.n_unlabeled < 1.001:
        ends[1] = 0.999
    if math.floor(ends[1] * counts.n_unlabeled) == 0 and target == "deployment":
        target = "pooled"
    bounds = pu.recover_bounds(counts, tuple(ends), target=target, confidence_level=level)
    for rate in ("tpr", "fpr"):
        low, high = getattr(bounds, f"{rate}_lower"), getattr(bounds, f"{rate}_upper")
        assert low[0] == high[0] == 0
        assert np.all(np.diff(low) >= 0)
        assert np.all(np.diff(high) >= 0)
        assert low.min() >= 0
        assert high.max() <= 1
        assert np.all(low <= high + 1e-12)
        assert low[-1] == high[-1] == 1
    low, high = bounds.precision_lower[1:], bounds.precision_upper[1:]
    known = ~np.isnan(low)
    assert np.all((low[known] >= 0) & (low[known] <= high[known]) & (high[known] <= 1))
    assert bounds.auc_lower <= bounds.auc_upper + 1e-12
    json.dumps(bounds.to_dict(), allow_nan=False)


def test_a_range_may_begin_at_0_and_end_below_1(counts):
    assert pu.recover_bounds(counts, (0.0, 0.2)).alpha_range == (0.0, 0.2)
    assert pu.recover_bounds(counts, 0.0).alpha_range == (0.0, 0.0)
    with pytest.raises(pu.exceptions.InvalidInputError, match="below 1: else no unlabeled"):
        pu.recover_bounds(counts, (0.2, 1.0))
    # At most all unlabeled rows but one are positives.
    even = pu.ScoreCounts.from_counts([2, 1], [5, 5], [10, 10])
    found, last = (pu.recover_bounds(even, alpha) for alpha in (1 - 1e-15, 0.95))
    for name in ("fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper"):
        np.testing.assert_array_equal(getattr(found, name), getattr(last, name))


def test_the_text_has_the_numbers(counts):
    bounds = pu.recover_bounds(counts, (0.15, 0.35), confidence_level=0.9)
    shown = [bounds.auc_lower, bounds.auc_upper, *bounds.alpha_range, 0.9]
    found = re.findall(r"[\d.]*\d", repr(bounds))
    assert [float(each) for each in found] == pytest.approx(shown, abs=1e-4)
    assert (bounds.alpha_range, bounds.confidence_level) == ((0.15, 0.35), 0.9)


def test_weights_are_refused():
    for counts in (
        pu.ScoreCounts.from_scores([1, 2, 3], [1, 0, 0], sample_weight=[1.0, 2.0, 1.0]),
        pu.ScoreCounts.from_counts([1, 2], labeled=[0.5, 1], unlabeled=[1, 1]),
        pu.ScoreCounts.from_counts([1, 2], labeled=[1, 1], unlabeled=[1, 1], negative=[0.5, 0]),
    ):
        with pytest.raises(
            pu.exceptions.InvalidInputError, match=r"whole numbers(.|\n)*Hint: .*weights"
        ):
            pu.recover_bounds(counts, 0.2)
    with pytest.raises(pu.exceptions.InvalidTypeError, match="ScoreCounts"):
        pu.recover_bounds([1, 2, 3], 0.2)


@pytest.fixture(scope="module")
def counts() -> pu.ScoreCounts:
    return pu.simulate.binormal(1.5).sample(100, 600, alpha=0.25, beta=0.75, random_state=3).counts


def test_auc_is_the_direct_one_at_every_pair(counts):
    grid = pu.recovery.sensitivity(counts)
    assert grid.values.shape == (101, 101)
    for i, j in itertools.product(range(0, 101, 7), repeat=2):
        alpha, beta = grid.alphas[i], grid.betas[j]
        if alpha >= beta:
            assert math.isnan(grid.values[i, j])
            assert not grid.infeasible[i, j]
            continue
        exact = pu.recover_auc(counts, pu.MixtureProportions(alpha, beta), clip=False)
        assert grid.values[i, j] == pytest.approx(exact, abs=1e-12)
        assert grid.infeasible[i, j] == (not 0 <= exact <= 1)
    assert grid.infeasible.any()


@pytest.mark.parametrize("metric", ["auc_pr", "precision", "f1", "balanced_accuracy"])
@pytest.mark.parametrize("repair", ["isotonic", "paper"])
def test_other_metrics_equal_a_loop(counts, metric, repair):
    alphas, betas = [0.0, 0.2, 0.6], [0.6, 0.9]
    options = {"target": 0.3, "repair": repair}
    grid = pu.recovery.sensitivity(
        counts, metric, alphas=alphas, betas=betas, threshold=0.5, **options
    )
    for (i, alpha), (j, beta) in itertools.product(enumerate(alphas), enumerate(betas)):
        if alpha >= beta:
            assert math.isnan(grid.values[i, j])
            continue
        proportions = pu.MixtureProportions(alpha, beta)
        if metric == "auc_pr":
            one = pu.recover_pr(counts, proportions, **options).auc_pr
        else:
            one = pu.recover_metrics(counts, proportions, threshold=0.5, **options)[metric]
        assert grid.values[i, j] == pytest.approx(one, nan_ok=True)
