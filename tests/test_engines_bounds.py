"""Bounds of scores counted in bins hold the exact areas, whatever the data."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import purecover as pu
from purecover import MixtureProportions, ScoreCounts, binning_bounds
from purecover.engines import bins as _bins
from purecover.engines import count as _count
from purecover.engines import scan as _scan

# Below what areas of a few hundred scores are rounded by.
ROUNDING = 1e-9


@st.composite
def rows(draw):
    """Scores of many shapes, with ties and crowds, and labels of both kinds."""
    n = draw(st.integers(2, 120))
    kind = draw(st.sampled_from(["any", "unit", "crowd", "ties", "far"]))
    finite = {"allow_nan": False, "allow_infinity": False}
    elements = {
        "any": st.floats(**finite),
        "unit": st.floats(0, 1),
        "crowd": st.floats(0.3, 0.3 + 1e-9),
        "ties": st.sampled_from([-1.0, -0.0, 0.0, 0.5, 0.75, 1.0, 2.0]),
        "far": st.floats(1e6, 1e6 + 1),
    }
    scores = draw(hnp.arrays(np.float64, n, elements=elements[kind]))
    labeled = draw(hnp.arrays(np.bool_, n))
    labeled[0], labeled[1] = True, False
    return scores, labeled


@st.composite
def shares(draw):
    alpha = draw(st.floats(0, 0.9))
    return MixtureProportions(alpha, draw(st.floats(alpha + 0.05, 1)))


def assert_bounds_hold(
    counts: ScoreCounts, exact: ScoreCounts, proportions: MixtureProportions, target
) -> None:
    bounds = binning_bounds(counts, proportions, target=target)
    pr = pu.recover_pr(exact, proportions, repair="isotonic", target=target)
    values = {
        "auc_pu": pu.auc_pu(exact),
        "auc_pr_pu": pr.auc_pr_pu,
        "auc": pu.recover_auc(exact, proportions, clip=False),
        "auc_pr": pr.auc_pr,
    }
    for name, value in values.items():
        low, high = getattr(bounds, name)
        if counts.is_binned:
            assert low <= value <= high, name
        else:  # nothing is left open
            assert low == high == pytest.approx(value, abs=ROUNDING)


def check_thinned(data, n_bins, proportions, target):
    exact = ScoreCounts.from_scores(*data)
    assert_bounds_hold(exact.thinned(n_bins), exact, proportions, target)


def check_engine(data, tolerance, proportions):
    scores, labeled = data
    exact = ScoreCounts.from_scores(scores, labeled)
    frame = pl.LazyFrame({"s": scores, "y": labeled})
    counts = ScoreCounts.from_frame(
        frame, score="s", labeled="y", tolerance=tolerance, exact_limit=0
    )
    assert_bounds_hold(counts, exact, proportions, "population")
    assert binning_bounds(counts).width <= tolerance + ROUNDING
    # Rates are exact at the edges of bins.
    place = np.searchsorted(-exact.thresholds, -counts.thresholds)
    assert np.array_equal(exact.thresholds[place], counts.thresholds)
    for name in ("labeled", "unlabeled"):
        at_edges = np.cumsum(getattr(exact, name))[place]
        assert np.array_equal(np.cumsum(getattr(counts, name)), at_edges)


TARGETS = st.sampled_from(["population", "deployment", "pooled", 0.3])
TOLERANCES = st.sampled_from([1.0, 0.1, 1e-2, 1e-4, 1e-7])


@given(data=rows(), n_bins=st.integers(1, 30), proportions=shares(), target=TARGETS)
def test_bounds_hold_for_any_bins(data, n_bins, proportions, target):
    check_thinned(data, n_bins, proportions, target)


@given(data=rows(), tolerance=TOLERANCES, proportions=shares())
@settings(max_examples=25)
def test_bounds_hold_for_bins_of_an_engine(data, tolerance, proportions):
    check_engine(data, tolerance, proportions)


@pytest.mark.slow
@given(data=rows(), n_bins=st.integers(1, 30), proportions=shares(), target=TARGETS)
@settings(max_examples=1000)
def test_bounds_hold_for_any_bins_a_thousand_times(data, n_bins, proportions, target):
    check_thinned(data, n_bins, proportions, target)


@pytest.mark.slow
@given(data=rows(), tolerance=TOLERANCES, proportions=shares())
@settings(max_examples=1000)
def test_bounds_hold_for_bins_of_an_engine_a_thousand_times(data, tolerance, proportions):
    check_engine(data, tolerance, proportions)


@pytest.mark.slow
def test_bounds_hold_for_ten_million_rows():
    rng = np.random.default_rng(0)
    labeled = rng.random(10_000_000) < 0.1
    scores = rng.normal(size=labeled.size) + labeled
    frame = pl.LazyFrame({"s": scores, "y": labeled})
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y")
    assert counts.is_binned
    bounds = binning_bounds(counts)
    assert bounds.width <= 1e-4
    exact = pu.auc_pu(ScoreCounts.from_scores(scores, labeled))
    assert bounds.auc_pu[0] <= exact <= bounds.auc_pu[1]


# -- how many passes ---------------------------------------------------------------------------


@pytest.fixture
def passes(monkeypatch):
    """The scans that were made, to be asked how often they read the rows."""
    scans = []

    class Watched(_scan.Scan):
        def __init__(self, *args):
            super().__init__(*args)
            scans.append(self)

    monkeypatch.setattr(_count, "Scan", Watched)
    return lambda: [scan.n_passes for scan in scans]


def sample(kind: str, n: int):
    rng = np.random.default_rng(1)
    labeled = rng.random(n) < 0.1
    scores = rng.normal(size=n) + labeled
    if kind == "probabilities":
        scores = 1 / (1 + np.exp(-3 * scores))
    elif kind == "rare":
        scores = 1 / (1 + np.exp(9 - 3 * scores))
    elif kind == "large":
        scores = np.exp(5 * scores)
    elif kind == "rounded":
        scores = np.round(scores, 4)
    elif kind == "crowded":
        scores = 1000 + scores * 1e-6
    elif kind == "crowds":
        scores = np.where(rng.random(n) < 0.5, 1000 + scores * 1e-6, -5 + scores * 1e-9)
    elif kind == "atom":
        scores = np.where(rng.random(n) < 0.8, 0.25, scores)
    elif kind == "atom in a crowd":
        scores = np.where(rng.random(n) < 0.8, 0.3, 0.3 + scores * 1e-3)
    return scores, labeled


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("normal", 1), ("probabilities", 1), ("rare", 1), ("large", 1), ("atom", 1), ("rounded", 2),
     ("crowded", 2), ("crowds", 2), ("atom in a crowd", 2)],
)  # fmt: skip
def test_one_pass_is_mostly_enough(passes, kind, expected):
    """Here some ten thousand distinct scores are many; elsewhere it takes four million."""
    scores, labeled = sample(kind, 200_000)
    frame = pl.LazyFrame({"s": scores, "y": labeled})
    limit = 100_000 if kind == "rounded" else 30_000
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y", exact_limit=limit)
    assert passes() == [expected]
    exact = ScoreCounts.from_scores(scores, labeled)
    low, high = binning_bounds(counts).auc_pu
    assert low <= pu.auc_pu(exact) <= high <= low + 1e-4 + ROUNDING
    assert (counts == exact) == (kind == "rounded")


def test_few_scores_are_found_out():
    """How many distinct scores there are is told well enough from one pass."""
    rng = np.random.default_rng(0)
    labeled = rng.random(300_000) < 0.1
    for n_distinct in (1_000, 20_000, 100_000):
        scores = rng.random(n_distinct)[rng.integers(0, n_distinct, labeled.size)]
        lazy = pl.LazyFrame({"s": scores, "y": labeled})
        names = {"score": "s", "labeled": "y"}
        none = {"positive_label": None, "negative_label": None}
        found = _scan.Scan("a test", nw.from_native(lazy), names, none).bins()[None]
        assert 0.5 * n_distinct < found.distinct() < 2 * n_distinct


def test_a_tolerance_out_of_reach_is_said(monkeypatch):
    monkeypatch.setattr(_count, "_MAX_PASSES", 1)
    monkeypatch.setattr(_bins, "MAX_SUB_BINS", 2)
    scores, labeled = sample("crowded", 5000)
    frame = pl.LazyFrame({"s": scores, "y": labeled})
    with pytest.warns(pu.exceptions.PurecoverWarning, match="knows the observed AUC to within"):
        counts = ScoreCounts.from_frame(
            frame, score="s", labeled="y", exact_limit=0, tolerance=1e-9
        )
    assert binning_bounds(counts).width > 1e-9


def test_bounds_of_what_counts_are_not():
    with pytest.raises(pu.exceptions.InvalidTypeError, match="binning_bounds"):
        binning_bounds([1, 2, 3])
