"""The label curve: its bins, its fit, its posterior, and what users see of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.stats import norm

import purecover as pu
from purecover.estimators import label_curve, rank_bins
from purecover.estimators.curve_fit import (
    HIGH,
    LOW,
    Curves,
    deviance,
    evaluate_curves,
    fit_curves,
    label_shares,
)
from purecover.estimators.label_curve import (
    SHAPES,
    WEIGHTS,
    Posterior,
    _round_handfuls,
    dispersion,
    find_candidates,
    find_posterior,
)
from purecover.estimators.rank_bins import PURE_SHARES, RankBins

Array = np.ndarray[Any, Any]


def sample(
    separation: float = 2.0,
    n: tuple[int, int] = (1000, 5000),
    alpha: float = 0.3,
    beta: float = 1.0,
    seed: int = 0,
) -> Any:
    world = pu.simulate.binormal(separation=separation)
    return world.sample(*n, alpha=alpha, beta=beta, random_state=seed)


def curves_of(bins: RankBins, n_rows: int = 1, kind: str = "smooth") -> Curves:
    shape = (n_rows, bins.total.size)
    return Curves(
        labeled=np.broadcast_to(bins.labeled, shape),
        total=np.broadcast_to(bins.total, shape),
        offset=np.zeros(shape),
        mean=np.tile(SHAPES[kind][0], (n_rows, 1)),
        sd=np.tile(SHAPES[kind][1], (n_rows, 1)),
        log_below=bins.log_below,
        log_above=bins.log_above,
        share=bins.labeled_share,
    )


START = np.concatenate(([0.3, 0.05], SHAPES["smooth"][0]))[None]
FREE = np.ones(6, dtype=np.bool_)


def test_bins_count_effective_rows() -> None:
    """Weights of one size count as rows; others as fewer, by their sum and its square."""
    data = sample(n=(300, 2000))
    plain = RankBins.from_counts(data.counts)
    rng = np.random.default_rng(0)
    uneven = rng.exponential(size=len(data)) + np.where(data.labeled, 0.1, 2.0)
    for weight in (np.full(len(data), 3.0), np.where(data.labeled, 0.2, 5.0), uneven):
        counts = pu.ScoreCounts.from_scores(data.scores, data.labeled, sample_weight=weight)
        bins = RankBins.from_counts(counts)
        for rows, found in (
            (data.labeled, bins.labeled.sum()),
            (~data.labeled, (bins.total - bins.labeled).sum()),
        ):
            effective = weight[rows].sum() ** 2 / (weight[rows] ** 2).sum()
            assert found == pytest.approx(effective)
        if weight is not uneven:
            np.testing.assert_allclose(bins.labeled, plain.labeled)
            np.testing.assert_allclose(bins.total, plain.total)
        np.testing.assert_allclose(np.exp(bins.log_below) + np.exp(bins.log_above), 1)
        # The middle rank of a bin: all below it, and half of its own.
        below = np.cumsum(bins.total) - bins.total / 2
        np.testing.assert_allclose(np.exp(bins.log_below), below / bins.total.sum())
        tally = bins.tally(counts.labeled[None], counts.unlabeled[None])
        np.testing.assert_allclose(tally, (bins.labeled[None], bins.total[None]))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60).filter(any))
def test_depths_are_the_most_that_a_share_allows(tally: list[int]) -> None:
    found = rank_bins._depths(np.array(tally, dtype=float))
    for depth, share in zip(found, PURE_SHARES, strict=True):
        most = share * sum(tally) * (1 + 1e-9)
        assert sum(tally[:depth]) <= most
        assert depth == len(tally) or sum(tally[: depth + 1]) > most


def test_pure_ends_reach_no_deeper_than_they_say() -> None:
    bins = RankBins.from_counts(sample().counts)
    unlabeled = bins.total - bins.labeled
    for offset in bins.pure_ends():
        low, high = offset < 0, offset > 0
        assert unlabeled[low].sum() <= PURE_SHARES[-1] * unlabeled.sum() + 1e-9
        assert bins.labeled[high].sum() <= PURE_SHARES[-1] * bins.labeled.sum() + 1e-9
        # They are ends: nothing outside lies further out.
        assert np.all(np.diff(low.astype(int)) <= 0)
        assert np.all(np.diff(high.astype(int)) >= 0)


def test_ceiling_and_floor_are_the_ratios() -> None:
    """With f and g in closed form: tau = c g / (c g + (1 - c) f)."""
    alpha, beta, c = 0.25, 0.75, 0.2
    p = pu.MixtureProportions(alpha, beta)
    bins = RankBins.from_counts(sample().counts)
    offset = np.concatenate(([-60.0], np.zeros(bins.total.size - 2), [60.0]))[None]
    curves = replace(curves_of(bins), share=c, offset=offset)
    x = np.array([[p.unlabeled_inclusion, p.labeled_inclusion, 0.0, 0.0, 0.1, 0.1]])
    tau = label_shares(curves, x)[0]
    # Positives only: f = alpha f1, g = beta f1. Negatives only: (1 - alpha) f0, (1 - beta) f0.
    assert tau[-1] == pytest.approx(c * beta / (c * beta + (1 - c) * alpha))
    assert tau[0] == pytest.approx(c * (1 - beta) / (c * (1 - beta) + (1 - c) * (1 - alpha)))


@given(st.floats(0.001, 0.98), st.floats(0.001, 0.98))
def test_shares_follow_from_the_inclusions(a: float, b: float) -> None:
    alpha, beta, delta = (
        float(share(np.array(a), np.array(b)))
        for share in (label_curve.alpha_of, label_curve.beta_of, label_curve.delta_of)
    )
    assert alpha / beta == pytest.approx(a)
    assert (1 - beta) / (1 - alpha) == pytest.approx(b)
    assert delta == pytest.approx(beta - alpha, abs=1e-12)


def test_fit_finds_the_maximum() -> None:
    from scipy.optimize import minimize

    curves = curves_of(RankBins.from_counts(sample(n=(300, 2000), beta=0.85).counts))
    x, value, curvature = fit_curves(curves, START, FREE, n_steps=200, tol=1e-9)
    np.testing.assert_array_equal(value, evaluate_curves(curves, x)[0])
    np.testing.assert_array_equal(curvature, evaluate_curves(curves, x)[2])
    other = minimize(
        lambda v: -float(evaluate_curves(curves, v[None])[0][0]),
        START[0],
        bounds=list(zip(LOW, HIGH, strict=True)),
        method="L-BFGS-B",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    assert value[0] >= -other.fun - 1e-4
    np.testing.assert_allclose(x[0, :2], other.x[:2], atol=5e-3)
    # A parameter that is not free stays.
    held = fit_curves(curves, START, np.arange(6) != 1, n_steps=200, tol=1e-9)[0]
    assert held[0, 1] == START[0, 1]


def test_deviance_is_zero_for_a_perfect_fit_and_chi_square_else() -> None:
    bins = RankBins.from_counts(sample().counts)
    curves = curves_of(bins)
    x = fit_curves(curves, START, FREE, n_steps=99, tol=0)[0]
    exact = replace(curves, labeled=curves.total * label_shares(curves, x))
    assert deviance(exact, x)[0] == pytest.approx(0, abs=1e-6)
    freedom = bins.total.size - 6
    assert 0.5 * freedom < deviance(curves, x)[0] < 1.7 * freedom


def test_data_off_any_curve_are_tempered() -> None:
    data = sample(n=(1000, 5000))
    good = RankBins.from_counts(data.counts)
    assert dispersion(good, find_candidates(good, clean_prior=0.5)) < 1.6
    # Every score that ends in an odd digit is labeled, which no curve along the ranking is.
    rank = np.arange(6000)
    odd = pu.ScoreCounts.from_scores(rank, (rank // 200) % 2)
    bins = RankBins.from_counts(odd)
    assert dispersion(bins, find_candidates(bins, clean_prior=0.5)) > 10


def test_prior_masses() -> None:
    """The closed forms by which the two cases are normalized."""
    noisy, _ = dblquad(lambda b, a: (1 - a) * (1 - b) / (1 - a * b), 0, 1, 0, 1)
    clean, _ = quad(lambda a: 1 - a, 0, 1)
    assert pytest.approx(noisy, abs=1e-6) == label_curve._NOISY_MASS
    assert clean == pytest.approx(label_curve._CLEAN_MASS)
    assert sum(WEIGHTS.values()) == pytest.approx(1)


@pytest.mark.parametrize(("center", "spread"), [(0.3, 0.02), (0.3, 0.05), (0.6, 0.1)])
def test_a_grid_of_nine_has_the_mean_and_the_spread_of_a_normal(
    center: float, spread: float
) -> None:
    low, middle, high = label_curve._cells(np.array([center]), np.array([spread]), 9)[:, 0]
    weight = norm.pdf(middle, center, spread) * (high - low)
    weight /= weight.sum()
    mean = weight @ middle
    assert mean == pytest.approx(center, abs=1e-3 * spread)
    assert np.sqrt(weight @ (middle - mean) ** 2) == pytest.approx(spread, rel=2e-3)


@pytest.mark.slow
def test_posterior_against_brute_force() -> None:
    """One shape, labels known to be clean: a sampler of all five parameters agrees.

    Laplace's method puts the mean nearly a tenth of a standard deviation too high: neither a
    finer grid (101 nodes) nor five times as many draws change that.
    """
    bins = RankBins.from_counts(sample(n=(150, 900), alpha=0.3).counts)
    kept = find_candidates(bins, clean_prior=1.0)
    kept = kept.only(kept.kinds == "smooth")
    found = find_posterior(bins, kept, clean_prior=1.0, n_nodes=25)
    mean = found.mean[0]
    sd = float(np.sqrt(found.weight @ (found.alpha - mean) ** 2))
    draws = _sampled(bins)
    assert mean == pytest.approx(draws.mean(), abs=0.18 * sd)
    assert sd == pytest.approx(draws.std(), rel=0.025)


def _sampled(bins: RankBins, n_chains: int = 200, n_steps: int = 2500) -> Array:
    """Random-walk Metropolis on a and the shape; many chains at once."""
    rng = np.random.default_rng(0)
    curves = curves_of(bins, n_chains)
    x = np.tile(np.concatenate(([0.3, 0.0], SHAPES["smooth"][0])), (n_chains, 1))
    scale = np.array([0.05, 0.0, 0.25, 0.15, 0.08, 0.08])

    def density(x: Array) -> Array:
        inside = np.all((x >= LOW) & (x <= HIGH), axis=1)
        value = evaluate_curves(curves, np.clip(x, LOW, HIGH))[0]
        return np.where(inside, value + np.log1p(-x[:, 0].clip(0, 0.99)), -np.inf)

    here = density(x)
    kept = []
    for i in range(n_steps):
        new = x + scale * rng.normal(size=x.shape)
        there = density(new)
        go = np.log(rng.random(n_chains)) < there - here
        x, here = np.where(go[:, None], new, x), np.where(go, there, here)
        if i > n_steps // 3:
            kept.append(x[:, 0])
    return np.concatenate(kept)


def test_nodes_carry_the_density_with_the_shape_at_its_best() -> None:
    """Two steps of the climb at every node give what many give, and Laplace's volume."""
    curves = curves_of(RankBins.from_counts(sample(n=(300, 2000), beta=0.9).counts))
    peak, _, curvature = fit_curves(curves, START, FREE, n_steps=99, tol=1e-9)
    a = peak[0, 0] + np.array([[-0.05, 0.0, 0.05]])
    b = peak[0, 1] + np.array([[0.02, 0.0, -0.02]])
    found, shares = label_curve._integrate_shape(curves, peak, curvature, a, b)
    for i in range(3):
        start = np.concatenate((a[:, i], b[:, i], peak[0, 2:]))[None]
        x, value, inner = fit_curves(curves, start, np.arange(6) > 1, n_steps=99, tol=1e-9)
        volume = np.linalg.slogdet(inner[0, 2:, 2:])[1] / 2
        assert found[0, i] == pytest.approx(value[0] - volume, abs=0.01)
        np.testing.assert_allclose(shares[0, i], label_shares(curves, x)[0], atol=0.01)


def test_replicates_move_as_a_new_fit_does() -> None:
    """Rows of replicates vary with the posterior means of fits to the replicates themselves."""
    counts = sample(n=(300, 2000), alpha=0.3).counts
    rng = np.random.default_rng(0)
    labeled, unlabeled = (
        rng.multinomial(side.sum(), side / side.sum(), size=12)
        for side in (counts.labeled, counts.unlabeled)
    )
    estimator = pu.estimators.LabelCurve(clean="always").fit(counts)
    a = estimator._estimate_many(counts, labeled, unlabeled)[:, 0]
    # Few rows, which say nothing about their variance, leave half of it to what is drawn.
    rows = estimator.proportions_many(counts, labeled, unlabeled)[:, 0]
    solved = label_curve.solve_label_curve(counts, "always")
    few, everyone = solved.bins.tally(labeled, unlabeled)
    moved = solved.moved(few, everyone, solved.clean)[:, 0]
    assert np.corrcoef(a, moved)[0, 1] > 0.9
    assert moved.std() == pytest.approx(a.std(), rel=0.25)
    assert np.isfinite(rows).all()


def test_quantiles_of_two_cells() -> None:
    """Labels clean, a uniform over [0.2, 0.4] with weight 3/4 and over [0.4, 0.8] else."""
    low, high = np.array([0.2, 0.4]), np.array([0.4, 0.8])
    bins = RankBins.from_counts(sample(n=(50, 200)).counts)
    found = Posterior(
        a=np.array((low, (low + high) / 2, high)),
        b=np.zeros((3, 2)),
        weight=np.array([0.75, 0.25]),
        clean=np.array([True, True]),
        kinds=np.array(["smooth", "steep"]),
        shares=np.full((2, bins.total.size), 0.5),
        bins=bins,
    )
    np.testing.assert_allclose(found.mean, (0.75 * 0.3 + 0.25 * 0.6, 1.0))
    ends = found.ends(0.8)
    assert ends["alpha"] == pytest.approx((0.2 + 0.2 * 0.1 / 0.75, 0.4 + 0.4 * 0.15 / 0.25))
    assert ends["delta"] == pytest.approx((1 - ends["alpha"][1], 1 - ends["alpha"][0]))
    assert ends["beta"] == pytest.approx((1, 1))
    # An interval holds the mean, however narrow it is.
    assert found.ends(1e-9)["alpha"] == pytest.approx((0.2 + 0.2 * 0.5 / 0.75, 0.375))
    assert found.clean_probability == 1
    assert found.kind_probability("steep") == 0.25


@pytest.mark.parametrize(("low", "high", "identifiable"),
                         [(0.5, 0.9, True), (0.6, 1.0, False), (0.1, 0.7, False)])  # fmt: skip
def test_proportions_are_identifiable_where_delta_is_known_and_not_0(
    monkeypatch: pytest.MonkeyPatch, low: float, high: float, identifiable: bool
) -> None:
    counts = sample(n=(50, 200)).counts
    solved = label_curve.solve_label_curve(counts, "always")
    edges = np.linspace(low, high, 41)
    uniform = replace(
        solved, a=np.array((edges[:-1], (edges[1:] + edges[:-1]) / 2, edges[1:])),
        b=np.zeros((3, 40)), weight=np.full(40, 1 / 40), clean=np.ones(40, dtype=bool),
        kinds=np.repeat("smooth", 40),
    )  # fmt: skip
    monkeypatch.setattr(label_curve, "solve_label_curve", lambda *_: uniform)
    found = pu.estimators.LabelCurve().fit(counts)
    assert found.diagnostics_["identifiable"] == identifiable
    assert found.proportions_.alpha == pytest.approx((low + high) / 2)
    assert found.diagnostics_["alpha_interval"] == pytest.approx(
        (low + 0.025 * (high - low), high - 0.025 * (high - low))
    )


def test_flipping_exchanges_the_roles() -> None:
    """Swap the samples and negate the scores: (alpha, beta) becomes (1 - beta, 1 - alpha)."""
    data = sample(n=(2000, 2000), alpha=0.3, beta=0.8)
    found = pu.estimators.LabelCurve(clean="never").fit(data.scores, data.labeled).proportions_
    flipped = pu.estimators.LabelCurve(clean="never").fit(-data.scores, ~data.labeled).proportions_
    assert flipped.alpha == pytest.approx(1 - found.beta, abs=0.01)
    assert flipped.beta == pytest.approx(1 - found.alpha, abs=0.01)


def test_says_when_scores_cannot_tell() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=1100)  # no skill at all
    estimator = pu.estimators.LabelCurve().fit(scores, np.arange(1100) < 100)
    assert not estimator.diagnostics_["identifiable"]
    assert any("hardly determine" in note for note in estimator.diagnostics_["notes"])
    assert estimator.interval_["alpha"].width > 0.5
    good = pu.estimators.LabelCurve().fit(sample(3).counts)
    assert good.diagnostics_["identifiable"]
    clean = good.diagnostics_["clean_probability"]
    assert good.diagnostics_["notes"] == (f"labels are clean with probability {clean:.2f}",)
    assert clean > 0.5
    for other in ("always", "never"):  # which are no finding
        fitted = pu.estimators.LabelCurve(clean=other).fit(sample(3).counts)
        assert fitted.diagnostics_["notes"] == ()
    noisy = pu.estimators.LabelCurve().fit(sample(3, beta=0.8).counts).diagnostics_
    assert noisy["clean_probability"] < 0.5
    assert noisy["notes"] == ()


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 0.0005])
def test_rare_positives(alpha: float) -> None:
    """The grid resolves shares far below a percent."""
    hits = []
    for seed in range(4):
        data = sample(4.0, (1000, 50_000), alpha=alpha, seed=seed)
        estimator = pu.estimators.LabelCurve().fit(data.counts)
        found = estimator.proportions_.alpha
        assert found < 3 * alpha + 5e-4
        hits.append(alpha in estimator.interval_["alpha"])
    assert np.mean(hits) >= 0.75


def test_fewer_than_a_handful_are_not_told_from_none() -> None:
    counts = pu.ScoreCounts.from_counts([2, 1], [1000, 0], [0, 10_000])
    told = {"alpha": (1e-5, 2e-5), "beta": (0.9, 0.99999), "delta": (0.9, 0.99998)}
    sure = _round_handfuls(told, counts)
    assert sure == {"alpha": (0.0, 2e-5), "beta": (0.9, 1.0), "delta": (0.9, 1.0)}
    # Of ten thousand, one percent is a hundred: delta may not reach 1.
    more = _round_handfuls(told | {"alpha": (1e-5, 0.01)}, counts)
    assert more == {"alpha": (0.0, 0.01), "beta": (0.9, 1.0), "delta": (0.9, 0.99998)}
    # Five and a half of ten thousand are a handful, and told.
    assert _round_handfuls(told | {"alpha": (5.5e-4, 0.01)}, counts)["alpha"] == (5.5e-4, 0.01)
    apart = {"alpha": (0.1, 0.2), "beta": (0.7, 0.8), "delta": (0.5, 0.7)}
    assert _round_handfuls(apart, counts) == apart
