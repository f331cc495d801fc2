"""Models compared inside an engine: the same figures, and pairs from cells of rows."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from tests.open_duckdb import connect
from tests.test_compare_scores import paired_rows
from tests.test_engines import frame_of

import purecover as pu
from purecover.engines import cells as _joint
from purecover.engines.scan import count_lazy
from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover.intervals.paired import PairedRows
from purecover.intervals.resampling import thinned_to_draw
from purecover.report.compared_rows import cells_in_memory
from purecover.report.pipeline import read_labels

# DuckDB under narwhals, and Spark and Dask at their end, are not ours to mend.
pytestmark = [pytest.mark.filterwarnings("ignore")]

N_LABELED, N_UNLABELED = 400, 3600
SAMPLE = pu.simulate.binormal(1.8).sample(N_LABELED, N_UNLABELED, alpha=0.25, random_state=0)
_RNG = np.random.default_rng(1)
COLUMNS: dict[str, Any] = {
    "good": SAMPLE.scores,
    "fair": SAMPLE.scores + 0.7 * _RNG.normal(size=4000),
    "tied": np.round(SAMPLE.scores + _RNG.normal(size=4000), 1),
    "y": np.asarray(SAMPLE.labeled),
}
# A threshold of one's own: what a choice on the same data adds is found from replicates.
OPTIONS: dict[str, Any] = {
    "score": ["good", "fair", "tied"], "alpha": 0.25, "threshold": 0.5, "n_resamples": 200
}  # fmt: skip


@pytest.fixture(scope="module")
def in_memory() -> pu.report.ScoreComparison:
    return pu.compare_scores(COLUMNS, "y", **OPTIONS)


def lazy(columns: dict[str, Any] | None = None) -> pl.LazyFrame:
    return pl.DataFrame(COLUMNS if columns is None else columns).lazy()


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["polars", "duckdb", pytest.param("spark", marks=pytest.mark.spark)]
)
def test_differences_are_those_of_rows_in_memory(
    engine: str, in_memory: pu.report.ScoreComparison
) -> None:
    found = pu.compare_scores(frame_of(engine, COLUMNS), "y", **OPTIONS)
    assert found.names == in_memory.names
    for name, report in found.reports.items():
        assert report.counts == in_memory.reports[name].counts
        assert report.metrics == in_memory.reports[name].metrics
    for metric, gaps in in_memory.differences.items():
        for name, theirs in gaps.items():
            ours = found.differences[metric][name]
            assert ours.estimate == pytest.approx(theirs.estimate, abs=1e-12), metric
            assert ours.method == theirs.method
            assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_binned_counts_are_paired_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(count_lazy.__kwdefaults__, "exact_limit", 100)
    options = {"score": ["good", "fair"], "alpha": 0.25, "n_resamples": 0}
    ours, theirs = (pu.compare_scores(data, "y", **options) for data in (lazy(), COLUMNS))
    assert ours.reports["good"].counts.is_binned
    gaps = [found.differences["roc_auc"]["fair"] for found in (ours, theirs)]
    # Either area is known to within 1e-4, and half of that on either side.
    assert abs(gaps[0].estimate - gaps[1].estimate) <= 1e-4 / 0.75
    assert gaps[0].width == pytest.approx(gaps[1].width, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_joint_cells_are_those_of_numpy(engine: str) -> None:
    """Eight scores with 400 cells each: more joint cells than any integer counts."""
    rng = np.random.default_rng(0)
    scores = {f"s {i}": np.round(rng.normal(size=500), 1) for i in range(8)}
    labeled = rng.random(500) < 0.3
    edges = {name: np.linspace(-4, 4, 400) for name in scores}
    frame = nw.from_native(frame_of(engine, {**scores, "y": labeled}))
    labels: dict[str, object] = {"positive_label": None, "negative_label": None}
    found = _joint.joint_cells(frame, edges, "y", labels)
    places = [np.searchsorted(edges[k], v, side="right") - 1 for k, v in scores.items()]
    rows = np.stack([labeled, *places], axis=1)
    expected, times = np.unique(rows, axis=0, return_counts=True)
    ours = np.stack([found.labeled, *found.place.values()], axis=1)
    order = np.lexsort(ours.T[::-1])
    assert np.array_equal(ours[order], expected)
    assert np.array_equal(found.rows[order], times)
    in_memory = cells_in_memory(scores, read_labels(labeled, 500), edges)
    assert np.array_equal(in_memory.labeled, found.labeled)
    assert np.array_equal(in_memory.rows, found.rows)
    for name, cells in found.place.items():
        assert np.array_equal(in_memory.place[name], cells)


def test_a_score_that_fills_a_cell_is_alone_in_it() -> None:
    scores = np.concatenate([np.linspace(0, 1, 3000), np.full(1000, 0.5)])
    labeled = np.arange(4000) % 7 == 0
    counts = pu.ScoreCounts.from_scores(scores, labeled)
    cells = thinned_to_draw(counts, 64, keep=None, alone=True)
    place = int(np.flatnonzero(cells.thresholds == 0.5)[0])
    assert cells.highest is not None
    assert cells.highest[place] == 0.5
    share = cells.labeled / cells.n_labeled + cells.unlabeled / cells.n_unlabeled
    several = cells.highest > cells.thresholds
    assert share[several].max() <= 4 / 64
    assert thinned_to_draw(cells, 1000, keep=None, alone=True) is cells


def test_cells_have_the_error_of_their_rows() -> None:
    one, two = np.round(COLUMNS["good"], 1), COLUMNS["tied"]
    labeled = COLUMNS["y"]
    rows = paired_rows({"one": one, "two": two}, labeled)
    columns, times = np.unique(
        np.stack([labeled, *rows.place.values()], axis=1), axis=0, return_counts=True
    )
    place = dict(zip(rows.place, columns[:, 1:].T, strict=True))
    cells = PairedRows(rows.counts, place, columns[:, 0] == 1, times)
    assert cells.error("one", "two") == pytest.approx(rows.error("one", "two"), rel=1e-12)


@pytest.mark.slow
def test_drawing_cells_is_drawing_rows() -> None:
    """The same means, variances and covariances of counts."""
    labeled = np.repeat([True, False], [20, 100])
    scores = np.concatenate(
        [np.repeat([3, 2, 1], side).astype(float) for side in ([4, 5, 11], [30, 20, 50])]
    )
    rows = paired_rows({"s": scores}, labeled)
    # Cells in disorder, of which two are at one threshold.
    place = np.array([1, 2, 0, 2, 0, 1, 1, 2])
    times = np.array([5, 11, 4, 20, 30, 15, 5, 30])
    cells = PairedRows(rows.counts, {"s": place}, np.arange(8) < 3, times)
    both = []
    for each in (cells, rows):
        drawn = each.draw_many(np.random.default_rng(0), 2000)
        table = np.concatenate(each.tally("s", drawn), axis=1)
        assert (table[:, :3].sum(axis=1) == 20).all()
        assert (table[:, 3:].sum(axis=1) == 100).all()
        both.append((table.mean(axis=0), np.cov(table.T)))
    assert both[0][0] == pytest.approx(both[1][0], abs=0.4)
    assert both[0][1] == pytest.approx(both[1][1], abs=2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample_weight": "w"}, "takes no 'sample_weight' with a lazy frame.*Hint: collect"),
        ({"groups": "g"}, "takes no 'groups' with a lazy frame"),
        ({"truth": "t"}, "takes no 'truth' with a lazy frame"),
        ({"labeled": COLUMNS["y"]}, "'labeled' .* must be the name of a column where a lazy"),
        ({"threshold": {"good": 1.0}}, "'threshold' parameter of compare_scores"),
    ],
)
def test_what_is_refused(change: dict[str, Any], message: str) -> None:
    arguments = {"data": lazy(), "labeled": "y", **OPTIONS, **change}
    with pytest.raises((InvalidInputError, InvalidTypeError), match=f"(?s){message}"):
        pu.compare_scores(**arguments)


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_joint, "MAX_CELLS", 100)
    with pytest.raises(InvalidInputError, match=r"(?s)at most 100 cells.*compare two or three"):
        pu.compare_scores(lazy(), "y", **OPTIONS)


def test_a_frame_that_changes_is_refused() -> None:
    relation = connect().sql(
        "SELECT random() AS a, i / 1000.0 AS b, i % 4 = 0 AS y FROM range(1000) rows(i)"
    )
    with pytest.raises(InvalidInputError, match="the same each time it is evaluated"):
        pu.compare_scores(relation, "y", score=["a", "b"], alpha=0.2, n_resamples=0)


def test_known_negatives_in_words_are_never_drawn() -> None:
    words = np.where(COLUMNS["y"], "case", "unknown")
    words[-200:] = "control"
    columns = {**COLUMNS, "y": words}
    spelled = pu.Settings(positive_label="case", negative_label="control")
    options = {"settings": spelled, "alpha": 0.25}
    options |= {"score": ["good", "fair"], "n_resamples": 100}
    ours, theirs = (pu.compare_scores(data, "y", **options) for data in (lazy(columns), columns))
    assert ours.reports["fair"].counts == theirs.reports["fair"].counts
    gaps = [found.differences["roc_auc"]["fair"] for found in (ours, theirs)]
    assert gaps[0].low == pytest.approx(gaps[1].low, abs=1e-3)
