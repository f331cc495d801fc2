"""Many tasks and models in one table: the figures of evaluate, in any order, by any engine."""

from __future__ import annotations

import math

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.open_duckdb import connect

import purecover as pu
from purecover.exceptions import InvalidInputError, InvalidTypeError

# DuckDB under narwhals is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def table() -> dict[str, np.ndarray]:
    """Three tasks in mixed order, two scores, and a task of four rows."""
    rng = np.random.default_rng(0)
    samples = [
        pu.simulate.binormal(1.5).sample(60, 300, alpha=alpha, random_state=i)
        for i, alpha in enumerate((0.1, 0.2, 0.3))
    ]
    columns = {
        "task": np.array(["b"] * 360 + ["a"] * 360 + ["c"] * 360 + ["few"] * 4),
        "good": np.concatenate([*(s.scores for s in samples), np.arange(4.0)]),
        "y": np.concatenate([*(s.labeled for s in samples), [True, False, False, False]]),
    }
    columns["worse"] = columns["good"] + rng.normal(size=1084)
    order = rng.permutation(1084)
    return {name: values[order] for name, values in columns.items()}


def only(table, task):
    """The rows of one task."""
    return {name: values[table["task"] == task] for name, values in table.items()}


def assert_same(one: pu.report.ManyReports, other: pu.report.ManyReports) -> None:
    assert one.to_json() == other.to_json()


def assert_is_report(row: pu.report.ManyRow, report: pu.PUReport) -> None:
    """The figures of a row are those of a report, to the last bit."""
    assert row.proportions == report.proportions
    assert row.threshold == report.metrics.threshold
    for name in row.recovered:
        assert row.recovered[name] == report.metrics[name]
        assert row.observed[name] == report.metrics.observed[name]
        assert row.intervals[name] == report.intervals[name]
    assert row.findings == tuple((c.code, c.severity) for c in report.findings)


def test_rows_are_reports_of_their_own(table):
    found = pu.evaluate_many(table, "y", by="task", alpha=0.2, n_resamples=20)
    assert [(r.task, r.score) for r in found] == [
        (task, score) for task in ("a", "b", "c", "few") for score in ("good", "worse")
    ]
    for row in found.evaluated:
        own = only(table, row.task)
        report = pu.evaluate(
            own[row.score], own["y"], alpha=0.2, n_resamples=20, random_state=row.seed
        )
        assert_is_report(row, report)
    assert [r.reason for r in found.failed] == ["only 1 labeled row, fewer than min_rows=10"] * 2


@pytest.mark.slow
def test_alpha_is_estimated_once_for_each_task(table):
    found = pu.evaluate_many(table, "y", by="task", n_resamples=20, keep=True)
    for task in ("a", "b", "c"):
        good, worse = found[task, "good"], found[task, "worse"]
        assert good.estimated_from == worse.estimated_from == "good"
        assert good.proportions == worse.proportions
        own = only(table, task)
        report = pu.evaluate(own["good"], own["y"], n_resamples=20, random_state=good.seed)
        assert_is_report(good, report)
        # The other score is measured with every replicate of alpha and beta.
        for name in ("alpha", "beta"):
            assert worse.intervals[name] == good.intervals[name]
            drawn = worse.report.bootstrap.replicates[name]
            assert np.isin(drawn, report.bootstrap.replicates[name]).all()
        assert worse.intervals["roc_auc"].varied == "scores and proportions"
        delta = worse.report.bootstrap.replicates["delta"]
        observed = 0.5 + (worse.report.bootstrap.replicates["roc_auc"] - 0.5) * delta
        assert np.std(observed) == pytest.approx(
            math.sqrt(pu.recovery.auc_pu_variance(worse.report.counts)), rel=0.6
        )


def test_alpha_by_task_and_estimated_where_it_is_not_said(table):
    found = pu.evaluate_many(
        table, "y", score="good", by="task", alpha={"a": 0.2, "b": 0.1}, beta={"b": 0.9},
        n_resamples=0,
    )  # fmt: skip
    known = {task: found[task, "good"] for task in ("a", "b", "c")}
    assert (known["a"].proportions.alpha, known["a"].proportions.beta) == (0.2, 1.0)
    assert (known["b"].proportions.alpha, known["b"].proportions.beta) == (0.1, 0.9)
    assert [row.estimated_from for row in known.values()] == [None, None, "good"]
    assert known["c"].proportions.origin != "given"


@pytest.mark.parametrize("assume", [["pure-top"], ["clean-labels"], ["pure-top", "clean-labels"]])
def test_what_is_assumed_is_assumed_in_every_task(assume):
    s = pu.simulate.binormal(2).sample(100, 1000, alpha=0.25, random_state=0)
    few = {"assume": assume, "n_resamples": 0}
    (row,) = pu.evaluate_many({"a": s.scores}, s.labeled, **few)
    assert row.proportions == pu.evaluate(s.scores, s.labeled, **few).proportions
    many = pu.evaluate_many({"a": s.scores}, s.labeled, **few)
    assert "Alpha: estimated in 1 row." in str(many)
    with pytest.raises(InvalidInputError, match="'assume' parameter of evaluate_many"):
        pu.evaluate_many({"a": s.scores}, s.labeled, alpha=0.2, **few)


def test_columns_of_labels_are_tasks(table):
    wide = {
        "s": table["good"],
        "t": table["worse"],
        "GO:1": table["y"] & (table["task"] != "c"),
        "GO:2": table["y"],
        "none": np.zeros(1084, dtype=bool),
        "odd": np.arange(1084) % 3,
    }
    terms = ["GO:1", "GO:2", "none", "odd"]
    found = pu.evaluate_many(wide, terms, alpha=0.2, n_resamples=0)
    assert [(r.task, r.score) for r in found] == [(t, s) for t in terms for s in ("s", "t")]
    report = pu.evaluate(wide["t"], wide["GO:1"], alpha=0.2, n_resamples=0)
    assert found["GO:1", "t"].recovered["roc_auc"] == report.auc
    assert "no labeled row among 1084" in found["none", "s"].reason
    assert "two-valued" in found["odd", "t"].reason
    paired = pu.evaluate_many(
        wide, ["GO:1", "GO:2"], score={"GO:2": ["t", "s"], "GO:1": "s"}, alpha=0.2, n_resamples=0
    )
    assert [(r.task, r.score) for r in paired] == [("GO:1", "s"), ("GO:2", "t"), ("GO:2", "s")]
    assert paired["GO:2", "t"].to_dict() == found["GO:2", "t"].to_dict()


def test_tasks_that_cannot_be_evaluated_say_why():
    rng = np.random.default_rng(0)
    n = 400
    table = {
        "task": np.repeat(["fine", "unlabeled", "labeled", "missing", "odd"], n),
        "y": np.tile([1, 0, 0, 0], 5 * n // 4),
        "s": rng.normal(size=5 * n),
    }
    of = {task: table["task"] == task for task in np.unique(table["task"])}
    table["y"][of["unlabeled"]] = 0
    table["y"][of["labeled"]] = 1
    table["s"][np.flatnonzero(of["missing"])[:3]] = [math.nan, math.inf, math.nan]
    # Labeled rows below all others: no alpha below beta fits that.
    table["s"][of["odd"] & (table["y"] == 1)] = -9
    found = pu.evaluate_many(
        table, "y", by="task", settings=pu.Settings(estimator="alphamax"), n_resamples=0
    )
    assert len(found) == 5
    assert found["fine", "s"].reason is None
    assert found["unlabeled", "s"].reason == "no labeled row among 400"
    assert found["labeled", "s"].reason == "no unlabeled row among 400"
    assert found["missing", "s"].reason == "3 of 400 scores are missing, NaN or infinite"
    top = pu.evaluate_many(
        table, "y", by="task", alpha=0.2, n_resamples=0, settings=pu.Settings(top_k=350)
    )
    assert "top_k" in top["fine", "s"].reason
    assert not top.evaluated
    assert "0 of 5 rows" in str(top)


@pytest.mark.slow
def test_neither_order_nor_other_rows_nor_jobs_change_a_figure(table):
    asked = {"by": "task", "n_resamples": 10}
    found = pu.evaluate_many(table, "y", score=["good", "worse"], **asked)
    with joblib.parallel_config("threading"):
        assert_same(found, pu.evaluate_many(table, "y", score=["good", "worse"], n_jobs=2, **asked))
    turned = {name: values[::-1] for name, values in reversed(table.items())}
    other = pu.evaluate_many(turned, "y", score=["worse", "good"], **asked)
    for row in other:
        assert row.to_dict() == found[row.task, row.score].to_dict()
    fewer = {name: values[table["task"] == "b"] for name, values in table.items()}
    alone = pu.evaluate_many(fewer, "y", score=["good", "worse"], **asked)
    assert [r.to_dict() for r in alone] == [r.to_dict() for r in found if r.task == "b"]


@pytest.mark.slow
def test_processes_give_the_same(table):
    asked = {"by": "task", "alpha": 0.2, "n_resamples": 5, "keep": True}
    found = pu.evaluate_many(table, "y", **asked)
    others = pu.evaluate_many(table, "y", n_jobs=2, **asked)
    assert_same(found, others)
    assert others.reports.keys() == found.reports.keys()
    assert str(others.reports["a", "good"]) == str(found.reports["a", "good"])


def duck(table):
    frame = pa.table({name: values.tolist() for name, values in table.items()})
    connection = connect()
    connection.register("rows_of_a_table", frame)
    return connection.sql("SELECT * FROM rows_of_a_table")


LAZY = {
    "duckdb": duck,
    "polars": lambda table: pl.DataFrame({k: v.tolist() for k, v in table.items()}).lazy(),
}


def to_dask(table):
    dd = pytest.importorskip(
        "dask.dataframe", reason="no Dask; remedy: pip install 'purecover[engines]'"
    )
    return dd.from_pandas(pd.DataFrame(table), npartitions=3)


def to_ibis(table):
    ibis = pytest.importorskip(
        "ibis", reason="no Ibis; remedy: pip install 'ibis-framework[duckdb]'"
    )
    return ibis.memtable(pd.DataFrame(table))


def to_spark(table):
    from tests.test_engines import spark_session

    return spark_session().createDataFrame(pd.DataFrame(table)).repartition(3)


EVERY = {**LAZY, "dask": to_dask, "ibis": to_ibis, "spark": to_spark}
every_engine = pytest.mark.parametrize(
    "engine",
    [
        *LAZY,
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("dask", "ibis")),
        pytest.param("spark", marks=pytest.mark.spark),
    ],
)


@pytest.mark.filterwarnings("ignore")  # what engines say at their end is not ours to mend
@every_engine
def test_lazy_frames(table, engine):
    frame = EVERY[engine](table)
    asked = {"alpha": 0.2, "n_resamples": 5}
    for choice in ({"by": "task"}, {"score": ["good", "worse"]}, {"score": "good"}):
        found = pu.evaluate_many(frame, "y", **choice, **asked)
        assert_same(found, pu.evaluate_many(table, "y", **choice, **asked))
    wide = {**table, "z": table["y"] & (table["good"] > 0), "none": table["y"] & False}
    lazy = EVERY[engine](wide)
    for score in ("good", ["good", "worse"], {"z": "good", "y": "worse", "none": "good"}):
        found = pu.evaluate_many(lazy, ["z", "none", "y"], score=score, **asked)
        assert "no labeled row among 1,084" in next(r.reason for r in found if r.task == "none")
        here = pu.evaluate_many(wide, ["z", "none", "y"], score=score, **asked)
        assert [r.to_dict() for r in found.evaluated] == [r.to_dict() for r in here.evaluated]
        assert [(r.task, r.score) for r in found] == [(r.task, r.score) for r in here]


@pytest.mark.filterwarnings("ignore")
@every_engine
def test_no_engine_drops_missing_scores(engine):
    """Columns put below one another keep their gaps, which are then told."""
    scores = np.arange(60.0)
    if engine == "spark":
        from tests.test_engines import spark_session

        rows = [(None if i == 7 else float(i), float(i), i % 2 == 0) for i in range(60)]
        frame = spark_session().createDataFrame(rows, "s double, t double, y boolean")
    else:
        gaps = np.where(np.arange(60) == 7, np.nan, scores)
        if engine in LAZY:
            gaps = np.array([None if math.isnan(v) else v for v in gaps], dtype=object)
        frame = EVERY[engine]({"s": gaps, "t": scores, "y": np.arange(60) % 2 == 0})
    found = pu.evaluate_many(frame, "y", alpha=0.2, n_resamples=0)
    assert "of 60 rows" in found["y", "s"].reason
    assert found["y", "t"].n_labeled == found["y", "t"].n_unlabeled == 30


BBE = pu.Settings(estimator="bbe")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"labeled": ["y", "z"]}, "'labeled' parameter .* 'z'"),
        ({"labeled": ["y", "y"]}, "'y' twice"),
        ({"labeled": ["y", "good"], "by": "task"}, "one column where 'by' names the tasks"),
        ({"score": ["good", "good"]}, "'good' twice"),
        ({"score": []}, "got none"),
        ({"score": {"z": "good"}}, "'z' as a key"),
        ({"score": {}}, "none for 'y'"),
        ({"alpha": {"nowhere": 0.2}, "by": "task", "score": "good"}, "one for 'nowhere'"),
        ({"alpha": 0.2, "settings": BBE, "by": "task"}, "left out where 'alpha' is given"),
        ({"metrics": ["precision_at_k"], "score": "good"}, "'top_k' parameter"),
        ({"estimate_from": "y", "by": "task"}, "'estimate_from' parameter"),
    ],
)
def test_refusals(table, asked, message):
    with pytest.raises((InvalidInputError, InvalidTypeError), match=message):
        pu.evaluate_many(table, **{"labeled": "y", **asked})


def test_refusals_of_data(table):
    with pytest.raises(InvalidTypeError, match="'data' parameter of evaluate_many"):
        pu.evaluate_many(table["good"], table["y"])
    with pytest.raises(InvalidInputError, match="none that nothing else uses"):
        pu.evaluate_many({"y": [0, 1]}, "y")
    gaps = {**table, "task": np.array([None, *table["task"][1:]], dtype=object)}
    with pytest.raises(InvalidInputError, match="'by' parameter"):
        pu.evaluate_many(gaps, "y", by="task")
    mixed = {**table, "task": np.array([3, *table["task"][1:]], dtype=object)}
    with pytest.raises(InvalidInputError, match="no order"):
        pu.evaluate_many(mixed, "y", by="task", score="good")
    with pytest.raises(InvalidInputError, match="a pair of a task and a score"):
        pu.evaluate_many(table, "y", score="good", alpha=0.2, n_resamples=0)["y", "other"]
