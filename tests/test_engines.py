"""Engines: counts of lazy frames and files are those of rows in memory, or bound them."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.clusters import need, spark_session
from tests.open_duckdb import connect

import purecover as pu
from purecover import MixtureProportions, ScoreCounts
from purecover.engines import scan as _scan
from purecover.engines.bins import TALLIES, Bins
from purecover.exceptions import InvalidInputError
from purecover.recovery import binning_bounds

# DuckDB under narwhals, and Spark and Dask at their end, are not ours to mend.
pytestmark = [pytest.mark.filterwarnings("ignore")]


def to_dask(table: pa.Table):
    need("dask", "'purecover[engines]'")
    import dask.dataframe as dd

    frame = table.to_pandas()
    # Three partitions, of which the second is empty.
    parts = [frame.iloc[: len(frame) // 2], frame.iloc[:0], frame.iloc[len(frame) // 2 :]]
    return dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])


def to_ibis(table: pa.Table):
    need("ibis", "'purecover[engines]'")
    import ibis

    return ibis.memtable(table)


def to_duckdb(table: pa.Table):
    connection = connect()
    connection.register("rows_of_a_table", table)
    return connection.sql("SELECT * FROM rows_of_a_table")


def to_polars(table: pa.Table):
    frame = pl.from_arrow(table)
    return pl.concat([frame[: len(frame) // 2], frame[:0], frame[len(frame) // 2 :]]).lazy()


def to_spark(table: pa.Table):
    return spark_session().createDataFrame(table).repartition(3)


LAZY = {
    "polars": to_polars,
    "duckdb": to_duckdb,
    "dask": to_dask,
    "ibis": to_ibis,
    "narwhals": lambda table: narwhals.from_native(to_duckdb(table)),
}
EAGER = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "pandas arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars eager": pl.from_arrow,
}
SLOW = [pytest.mark.slow]
SOME: dict[str, list[Any]] = {
    "polars": [],
    "duckdb": [],
    **dict.fromkeys(("dask", "ibis", "narwhals"), SLOW),
    "spark": [pytest.mark.spark],
}
ALL = {**SOME, **dict.fromkeys(EAGER, SLOW)}
every_engine = pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=marks) for name, marks in ALL.items()]
)
OF_DASK = {
    "plain", "ties", "sizes", "booleans", "words of negatives", "own numbers", "missing", "label",
}  # fmt: skip
"""It takes longer than all others together, and reads rows as they do."""


def engines_and(kinds: Iterable[str], engines: dict[str, list[Any]] = ALL) -> Any:
    """Every engine with every kind of rows, Dask with some; Spark has no unsigned integers."""
    return pytest.mark.parametrize(
        ("engine", "kind"),
        [
            pytest.param(name, kind, id=f"{kind}-{name}", marks=marks)
            for kind in kinds
            for name, marks in engines.items()
            if (name != "dask" or kind in OF_DASK) and (name, kind) != ("spark", "unsigned")
        ],
    )


def frame_of(engine: str, columns: dict):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    return {**LAZY, **EAGER, "spark": to_spark}[engine](table)


RNG = np.random.default_rng(7)
N = 600


NORMAL = RNG.normal(size=N)
SCORES: dict[str, np.ndarray] = {
    "plain": NORMAL,
    "ties": np.round(NORMAL, 1),
    "zeros": np.where(NORMAL < 0, -0.0, np.where(NORMAL < 0.5, 0.0, NORMAL)),
    "float32": NORMAL.astype(np.float32),
    "integers": (NORMAL * 5).astype(np.int32),
    "large integers": (NORMAL * 2**50).astype(np.int64),
    "sizes": np.concatenate(
        [[5e-324, 1.7e308, -1.7e308, 1.0, 1 - 2**-53, 1 + 2**-52, 0.5, -0.5, 0.0, 1e-310],
         np.exp(NORMAL[10:] * 50) * np.sign(NORMAL[9:-1])]
    ),
    "probabilities": 1 / (1 + np.exp(-8 * NORMAL)),
    "one score": np.full(N, 0.25),
}  # fmt: skip
LABELED = RNG.random(N) < 0.3


@engines_and(SCORES)
def test_the_same_counts_bit_for_bit(engine, kind):
    frame = frame_of(engine, {"s": SCORES[kind], "y": LABELED})
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y")
    expected = ScoreCounts.from_scores(SCORES[kind], LABELED)
    assert counts == expected
    for name in ("thresholds", "labeled", "unlabeled"):
        assert getattr(counts, name).dtype == getattr(expected, name).dtype
    assert not np.signbit(counts.thresholds[counts.thresholds == 0]).any()
    assert not counts.is_binned


@engines_and(["plain", "zeros", "sizes", "probabilities", "ties"], SOME)
def test_bins_hold_and_refine(engine, kind):
    """Binned, the counts sum up the exact ones; refined without end, they are those."""
    frame = frame_of(engine, {"s": SCORES[kind], "y": LABELED})
    exact = ScoreCounts.from_scores(SCORES[kind], LABELED)
    coarse = ScoreCounts.from_frame(frame, score="s", labeled="y", exact_limit=0, tolerance=1)
    check_bins(coarse, exact)
    fine = ScoreCounts.from_frame(frame, score="s", labeled="y", exact_limit=0, tolerance=1e-12)
    assert pu.recovery.binning_bounds(fine).width < 1e-9
    assert ScoreCounts.from_frame(frame, score="s", labeled="y", exact_limit=0, tolerance=0) == (
        exact
    )


def check_bins(coarse: ScoreCounts, exact: ScoreCounts) -> None:
    """Bins are disjoint, and each holds exactly the scores from its smallest to its largest."""
    tops = coarse.thresholds if coarse.highest is None else coarse.highest
    assert np.all(tops >= coarse.thresholds)
    assert np.all(tops[1:] < coarse.thresholds[:-1])
    starts = np.searchsorted(-exact.thresholds, -tops)
    ends = np.searchsorted(-exact.thresholds, -coarse.thresholds)
    assert np.array_equal(exact.thresholds[starts], tops)
    assert np.array_equal(exact.thresholds[ends], coarse.thresholds)
    assert np.array_equal(starts, np.append(0, ends[:-1] + 1))
    for name in ("labeled", "unlabeled"):
        assert np.array_equal(getattr(coarse, name), np.add.reduceat(getattr(exact, name), starts))


def numbered(labeled: np.ndarray, one: float, other: float) -> np.ndarray:
    return np.where(labeled, one, other)


LABELS = {
    "booleans": (LABELED, {}),
    "0 and 1": (numbered(LABELED, 1, 0).astype(np.int8), {}),
    "-1 and 1": (numbered(LABELED, 1, -1).astype(np.int64), {}),
    "floats": (numbered(LABELED, 1.0, 0.0), {}),
    "words": (np.where(LABELED, "Positive", "unlabeled"), {}),
    "own words": (np.where(LABELED, "yeast", "rest"), {"positive_label": "yeast"}),
    "own numbers": (numbered(LABELED, 7, 3).astype(np.int64), {"positive_label": 7}),
    "fractions": (numbered(LABELED, 0.75, 0.25), {"positive_label": 0.75}),
    "unsigned": (np.where(LABELED, 2**63, 1).astype(np.uint64), {"positive_label": 2**63}),
    "negatives": (
        np.where(LABELED, 1, np.where(SCORES["ties"] < 0, -1, 0)),
        {"negative_label": -1},
    ),
    "words of negatives": (
        np.where(LABELED, "p", np.where(SCORES["ties"] < 0, "bad", "u")),
        {"positive_label": "p", "negative_label": "bad"},
    ),
}


@engines_and(LABELS)
def test_every_kind_of_label(engine, kind):
    labeled, options = LABELS[kind]
    frame = frame_of(engine, {"s": SCORES["ties"], "y": pa.array(labeled)})
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y", **options)
    assert counts == ScoreCounts.from_scores(SCORES["ties"], labeled, **options)


@pytest.mark.parametrize("size", [1, 2**70])
def test_labels_longer_than_64_bits(size):
    relation = lazy(s=SCORES["ties"], y=LABELED.astype(int)).project(f"s, y::HUGEINT * {size} AS y")
    counts = ScoreCounts.from_frame(relation, score="s", labeled="y", positive_label=float(size))
    assert counts == ScoreCounts.from_scores(SCORES["ties"], LABELED)


@every_engine
def test_weights(engine):
    # Quarters add up without rounding, in any order.
    weight = RNG.integers(0, 40, N) / 4
    frame = frame_of(engine, {"s": SCORES["ties"], "y": LABELED, "w": weight})
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y", sample_weight="w")
    assert counts == ScoreCounts.from_scores(SCORES["ties"], LABELED, sample_weight=weight)


@every_engine
def test_groups_in_one_pass(engine):
    tissue = np.array(["liver", "skin", "brain"])[RNG.integers(0, 3, N)]
    frame = frame_of(engine, {"s": SCORES["plain"], "y": LABELED, "t": tissue})
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y", by="t")
    assert set(counts) == {"liver", "skin", "brain"}
    for name, found in counts.items():
        rows = tissue == name
        assert found == ScoreCounts.from_scores(SCORES["plain"][rows], LABELED[rows])
    finer = ScoreCounts.from_frame(
        frame, score="s", labeled="y", by="t", exact_limit=0, tolerance=1e-9
    )
    assert all(
        abs(pu.recovery.auc_pu(finer[t]) - pu.recovery.auc_pu(counts[t])) < 1e-9 for t in counts
    )


def gaps(values, *, at, value):
    out = [v.item() for v in values]
    for i in at:
        out[i] = value
    return out


BAD = {
    "missing": (gaps(SCORES["plain"], at=[3, 5], value=None), LABELED, "score", "2 (missing|NaN)"),
    "nan": (gaps(SCORES["plain"], at=[3], value=np.nan), LABELED, "score", "1 (missing|NaN)"),
    "infinite": (
        gaps(SCORES["plain"], at=[3, 4, 9], value=-np.inf),
        LABELED,
        "score",
        "3 infinite",
    ),
    "label": (SCORES["plain"], gaps(LABELED, at=[0, 1], value=None), "labeled", "2 missing"),
    "word": (
        SCORES["plain"],
        ["u" if i % 2 else None if i == 4 else "p" for i in range(N)],
        "labeled",
        "1 missing",
    ),
    "integer": (
        gaps((SCORES["plain"] * 9).astype(np.int64), at=[7], value=2**53 + 1),
        LABELED,
        "score",
        r"integers and decimals beyond 2\*\*53, which float64 cannot represent exactly, got 1",
    ),
}


@engines_and(BAD, SOME)
def test_bad_rows_are_counted_and_refused(engine, kind):
    scores, labeled, parameter, match = BAD[kind]
    frame = frame_of(engine, pa.table({"s": scores, "y": labeled}))
    with pytest.raises(
        InvalidInputError,
        match=rf"(?s)^The '{parameter}' parameter of ScoreCounts.from_frame .*{match}.* of 600 rows"
        r".*Hint: (drop or fill|subtract)",
    ):
        ScoreCounts.from_frame(frame, score="s", labeled="y")


@pytest.mark.parametrize("words", [False, True])
def test_bins_are_refined_where_no_known_negative_lies(words):
    rng = np.random.default_rng(0)
    scores = np.append(rng.uniform(0.6, 0.60001, 500), rng.uniform(0.1, 0.2, 50))
    labels = np.append(rng.integers(0, 2, 500), np.full(50, -1))
    options = {"negative_label": -1}
    if words:
        labels = np.array(["unlabeled", "positive", "bad"])[labels]
        options = {"negative_label": "bad"}
    frame = pl.DataFrame({"s": scores, "y": labels})
    exact = ScoreCounts.from_frame(frame, score="s", labeled="y", **options)
    found = ScoreCounts.from_frame(frame.lazy(), score="s", labeled="y", exact_limit=0, **options)
    sizes = [(c.n_labeled, c.n_unlabeled, c.n_negative) for c in (exact, found)]
    assert sizes[0] == sizes[1]
    low, high = pu.recovery.binning_bounds(found).auc_pu
    assert low <= pu.recovery.auc_pu(exact) <= high <= low + 1.01e-4


def lazy(**columns):
    return to_duckdb(pa.table(columns))


COMPLAINTS = {
    "three labels": ({"s": [1.0, 2.0, 3.0], "y": [0, 1, 2]}, "two-valued"),
    "-1, 0 and 1": ({"s": [1.0, 2.0, 3.0], "y": [0, 1, -1]}, "pass negative_label=-1"),
    "no label": ({"s": [1.0, 2.0], "y": [0, 0]}, "no labeled row among 2 rows"),
    "strange words": ({"s": [1.0, 2.0], "y": ["a", "b"]}, "positive_label="),
    "names": ({"s": np.arange(50.0), "y": [f"row {i}" for i in range(50)]}, "two or three words"),
    "no rows": ({"s": pa.array([], pa.float64()), "y": pa.array([], pa.bool_())}, "non-empty"),
    "no such column": ({"s": [1.0, 2.0], "z": [0, 1]}, "the columns are 's', 'z'"),
}


@pytest.mark.parametrize("case", COMPLAINTS)
def test_complaints_are_those_of_other_doors(case):
    columns, match = COMPLAINTS[case]
    with pytest.raises(InvalidInputError, match=f"(?s)ScoreCounts.from_frame .*{match}"):
        ScoreCounts.from_frame(lazy(**columns), score="s", labeled="y")


def test_a_frame_that_changes_is_refused():
    # As many rows twice by chance: once in a million times.
    changing = connect().sql(
        "SELECT 1 + (i % 5000) / 1e9 AS s, i % 3 = 0 AS y FROM range(1000000) t(i) "
        "WHERE i < 1000 + 999000 * (SELECT random())"
    )
    with pytest.raises(InvalidInputError, match=r"(?s)'frame'.*same each time.*cache"):
        ScoreCounts.from_frame(changing, score="s", labeled="y")


def test_rows_are_not_collected(monkeypatch):
    """What comes back from an engine is groups, not rows."""
    seen = []
    collect = narwhals.LazyFrame.collect

    def watched(self, *args, **kwargs):
        table = collect(self, *args, **kwargs)
        seen.append(len(table))
        return table

    monkeypatch.setattr(narwhals.LazyFrame, "collect", watched)
    relation = connect().sql(
        "SELECT (i % 1000) / 1000.0 AS s, i % 7 = 0 AS y FROM range(100000) t(i)"
    )
    counts = ScoreCounts.from_frame(relation, score="s", labeled="y")
    assert counts.n_thresholds == 1000
    assert seen == [2000]  # one pass: every bin held one score


def test_bounds_stand_beside_the_value():
    rng = np.random.default_rng(3)
    labeled = rng.random(40_000) < 0.2
    scores = rng.normal(size=labeled.size) + labeled
    counts = ScoreCounts.from_frame(
        lazy(s=scores, y=labeled), score="s", labeled="y", exact_limit=0, tolerance=1e-3
    )
    assert counts.is_binned
    report = pu.evaluate(counts, alpha=0.1, n_resamples=0)
    exact = pu.evaluate(
        scores, labeled, alpha=0.1, n_resamples=0, settings=pu.Settings(repair="isotonic")
    )
    low, high = report.bounds.auc
    assert low <= exact.auc <= high
    assert f"in {counts.n_thresholds:,} bins" in str(report)
    assert "Observed AUC of the exact scores" in str(report.details())
    document = report.to_dict()
    assert document["binning"]["auc"] == [low, high]
    assert str(pu.PUReport.from_json(report.to_json())) == str(report)
    assert exact.bounds is None
    assert "binning" not in exact.to_dict()


every_format = pytest.mark.parametrize("suffix", ["parquet", "csv"])


@every_format
def test_files_of_a_folder(tmp_path, suffix):
    frame = pl.DataFrame({"s": SCORES["plain"], "y": LABELED.astype(int)})
    for i, part in enumerate((frame[:200], frame[200:])):
        write = part.write_parquet if suffix == "parquet" else part.write_csv
        write(tmp_path / f"part{i}.{suffix}")
    files = pu.scan_files(str(tmp_path / f"*.{suffix}"))
    expected = ScoreCounts.from_scores(SCORES["plain"], LABELED)
    assert ScoreCounts.from_frame(files, score="s", labeled="y") == expected
    both = sorted(tmp_path.iterdir())
    files = pu.scan_files(both)
    assert ScoreCounts.from_frame(files, score="s", labeled="y") == expected


@pytest.mark.skipif(sys.platform == "win32", reason="modes are a thing of Unix")
def test_what_does_not_fit_into_memory_goes_to_a_private_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"s": SCORES["plain"], "y": LABELED}).write_parquet("a.parquet")
    asked = "SELECT current_setting('temp_directory') AS folder"
    ((folder,),) = pu.scan_files("a.parquet").query("found", asked).fetchall()
    about = Path(folder).stat()
    assert (stat.S_IMODE(about.st_mode), about.st_uid) == (0o700, os.getuid())
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


@pytest.mark.parametrize(
    ("paths", "options", "match"),
    [
        ("nothing/*.parquet", {}, "Parquet files that DuckDB can read"),
        ("scores.xlsx", {}, "end in .parquet"),
        (["a.csv", "b.parquet"], {}, "of one format"),
        ([], {}, "got nothing"),
        ("a.csv", {"memory_limit": "much"}, "such as '2GB'"),
    ],
)
def test_bad_files_are_refused(paths, options, match):
    with pytest.raises(InvalidInputError, match=f"(?s)scan_files .*{match}"):
        pu.scan_files(paths, **options)


@every_format
def test_names_of_files_and_folders_are_only_names(tmp_path, suffix):
    """Not patterns where such a file is there, and no columns, whatever they look like."""
    folder = tmp_path / "deep" / "s=3" / "a" / "y=1"
    folder.mkdir(parents=True)
    right, wrong = {"s": [0.3, 0.4], "y": [0, 1]}, {"s": [0.1, 0.2], "y": [0, 1]}
    for name, columns in {
        "a1": wrong, "ab": wrong, "a[1]": right, "a*": right, "a?": right, "a[*]": right,
        "a{1}": right, "b": right,
    }.items():  # fmt: skip
        frame = pl.DataFrame(columns)
        file = folder / f"{name}.{suffix}"
        frame.write_parquet(file) if suffix == "parquet" else frame.write_csv(file)
    for name in ("a[1]", "a*", "a?", "a[*]", "a{1}", "b", "*b"):
        frame = pu.scan_files(folder / f"{name}.{suffix}")
        counts = ScoreCounts.from_frame(frame, score="s", labeled="y")
        expected = [0.4, 0.3] if name != "*b" else [0.4, 0.3, 0.2, 0.1]
        assert counts.thresholds.tolist() == expected
        assert counts.n_labeled == len(expected) // 2


@pytest.mark.parametrize("first", [[1, 2], np.array([1, 2], dtype=np.float32)])
def test_files_of_different_kinds_of_numbers(tmp_path, first):
    pl.DataFrame({"s": first, "y": [0, 1]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"y": [0, 1], "s": [0.7, 1.4]}).write_parquet(tmp_path / "b.parquet")
    frame = pu.scan_files(tmp_path / "*.parquet")
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y")
    assert counts.thresholds.tolist() == [2, 1.4, 1, 0.7]


def test_a_file_that_two_patterns_mean(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a1.csv", "a2.csv", "b.csv"):
        (tmp_path / name).write_text("s,y\n0.9,1\n0.2,0\n")
    (tmp_path / "hard").mkdir()
    (tmp_path / "hard" / "link.csv").hardlink_to("b.csv")
    given = [["a1.csv", "a*.csv"], ["b.csv", tmp_path / "b.csv"], ["*.csv", "b*.csv"]]
    for paths in (*given, ["b.csv", "hard/link.csv"], "**/*.csv"):
        with pytest.raises(InvalidInputError, match=r"different files, got '.*\.csv' twice"):
            pu.scan_files(paths)
    frame = pu.scan_files(["a*.csv", "b.csv"])
    assert ScoreCounts.from_frame(frame, score="s", labeled="y").n_labeled == 3


@pytest.mark.parametrize("mark", ["#", "//", "'", '5" ', "%"])
def test_no_row_of_text_is_taken_for_anything_else(tmp_path, mark):
    """Neither comments nor quotes are guessed: rows in are rows out."""
    rows = [f"{mark if i % 10 else ''}{i},{0.001 * i},{i % 2}" for i in range(1, 1001)]
    (tmp_path / "a.csv").write_text("\n".join(["id,s,y", *rows, ""]))
    counts = ScoreCounts.from_frame(pu.scan_files(tmp_path / "a.csv"), score="s", labeled="y")
    assert (counts.n_labeled, counts.n_unlabeled) == (500, 500)


def test_tabs_after_a_name_with_dots(tmp_path):
    (tmp_path / "scores.of.may.tsv").write_text("s\ty\n0.9\t1\n0.2\t0\n")
    frame = pu.scan_files(tmp_path / "scores.of.may.tsv")
    assert ScoreCounts.from_frame(frame, score="s", labeled="y").n_thresholds == 2


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
    counts: ScoreCounts, exact: ScoreCounts, proportions: MixtureProportions
) -> None:
    bounds = binning_bounds(counts, proportions)
    values = {
        "auc_pu": pu.recovery.auc_pu(exact),
        "auc": pu.recover_auc(exact, proportions, clip=False),
    }
    for name, value in values.items():
        low, high = getattr(bounds, name)
        if counts.is_binned:
            assert low <= value <= high, name
        else:  # nothing is left open
            assert low == high == pytest.approx(value, abs=ROUNDING)


TOLERANCES = st.sampled_from([1.0, 0.1, 1e-2, 1e-4, 1e-7])


@given(data=rows(), n_bins=st.integers(1, 30), proportions=shares())
def test_bounds_hold_for_any_bins(data, n_bins, proportions):
    exact = ScoreCounts.from_scores(*data)
    assert_bounds_hold(exact.thinned(n_bins), exact, proportions)


@given(data=rows(), tolerance=TOLERANCES, proportions=shares())
@settings(max_examples=25)
def test_bounds_hold_for_bins_of_an_engine(data, tolerance, proportions):
    exact = ScoreCounts.from_scores(*data)
    frame = pl.LazyFrame(dict(zip("sy", data, strict=True)))
    how = {"tolerance": tolerance, "exact_limit": 0}
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y", **how)
    assert_bounds_hold(counts, exact, proportions)
    assert binning_bounds(counts).width <= tolerance + ROUNDING
    check_bins(counts, exact)


@pytest.fixture
def passes(monkeypatch):
    """The scans that were made, to be asked how often they read the rows."""
    scans = []

    class Watched(_scan.Scan):
        def __init__(self, *args):
            super().__init__(*args)
            scans.append(self)

    monkeypatch.setattr(_scan, "Scan", Watched)
    return lambda: [scan.n_passes for scan in scans]


def sample(kind: str, n: int):
    rng = np.random.default_rng(1)
    labeled = rng.random(n) < 0.1
    x = rng.normal(size=n) + labeled
    half, most = rng.random(n) < 0.5, rng.random(n) < 0.8
    scores = {
        "normal": x,
        "probabilities": 1 / (1 + np.exp(-3 * x)),
        "rare": 1 / (1 + np.exp(9 - 3 * x)),
        "large": np.exp(5 * x),
        "rounded": np.round(x, 4),
        "crowded": 1000 + x * 1e-6,
        "crowds": np.where(half, 1000 + x * 1e-6, -5 + x * 1e-9),
        "atom": np.where(most, 0.25, x),
        "atom in a crowd": np.where(most, 0.3, 0.3 + x * 1e-3),
    }
    return scores[kind], labeled


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("normal", 1), ("probabilities", 1), ("rare", 1), ("large", 1), ("atom", 1), ("rounded", 2),
     ("crowded", 2), ("crowds", 2), ("atom in a crowd", 2)],
)  # fmt: skip
def test_one_pass_is_mostly_enough(passes, kind, expected):
    """Here some ten thousand distinct scores are many; elsewhere it takes half a million."""
    scores, labeled = sample(kind, 200_000)
    frame = pl.LazyFrame({"s": scores, "y": labeled})
    limit = 100_000 if kind == "rounded" else 30_000
    counts = ScoreCounts.from_frame(frame, score="s", labeled="y", exact_limit=limit)
    assert passes() == [expected]
    exact = ScoreCounts.from_scores(scores, labeled)
    low, high = binning_bounds(counts).auc_pu
    assert low <= pu.recovery.auc_pu(exact) <= high <= low + 1e-4 + ROUNDING
    assert kind != "rounded" or counts == exact


def scan_of(scores, labeled, **how) -> _scan.Scan:
    frame = nw.from_native(pl.LazyFrame({"s": scores, "y": labeled}))
    labels = {"positive_label": None, "negative_label": None}
    return _scan.Scan(frame, {"score": "s", "labeled": "y"}, labels, **how)


@pytest.mark.parametrize("kind", ["plain", "ties", "probabilities", "sizes"])
def test_no_bin_lies_across_a_threshold_that_is_kept(kind):
    scores = SCORES[kind] if kind != "plain" else 1000 + SCORES[kind] * 1e-3
    for keep in np.quantile(scores, [0.1, 0.5, 0.9], method="nearest"):
        bins = scan_of(scores, LABELED, keep=keep).bins()[None]
        assert not ((bins.low < keep) & (keep <= bins.high)).any()
        assert (np.diff(bins.low) > 0).all()
        exact = ScoreCounts.from_scores(scores, LABELED)
        for side in ("labeled", "unlabeled"):
            above = getattr(exact, side)[exact.thresholds >= keep].sum()
            assert getattr(bins, side)[bins.low >= keep].sum() == above


def test_a_further_pass_makes_as_many_bins_as_are_asked_for(monkeypatch):
    crowd = np.random.default_rng(0).random(20_000) * 1e-6
    for scores in (1000 + crowd, -5 + crowd, np.append(7 - crowd[:9000], crowd[9000:] - 3)):
        for most in (300, 3000):
            monkeypatch.setattr(_scan, "MAX_SUB_BINS", most)
            scan = scan_of(scores, crowd < 3e-7)
            first = scan.bins()[None]
            second = scan.finer(first.key, [first])[None]
            third = scan.finer(second.key, [second])[None]
            assert most / 2.5 < second.key.size < 1.5 * most
            assert 1.8 < third.key.size / second.key.size < 2.2  # each bin is split


def test_few_scores_are_found_out():
    """How many distinct scores there are is told well enough from one pass."""
    rng = np.random.default_rng(0)
    labeled = rng.random(300_000) < 0.1
    for n_distinct in (1_000, 20_000, 100_000):
        scores = rng.random(n_distinct)[rng.integers(0, n_distinct, labeled.size)]
        found = scan_of(scores, labeled).bins()[None]
        assert 0.5 * n_distinct < found.distinct() < 2 * n_distinct


@pytest.mark.parametrize("n_scores", [3, 30, 200])
@pytest.mark.parametrize(("labeled", "unlabeled"), [(0.05, 3), (0.2, 3), (1, 3), (0.1, 0.5)])
def test_the_number_of_distinct_scores_is_estimated(n_scores, labeled, unlabeled):
    """Of bins with as many scores each, and a Poisson number of rows of both kinds at each."""
    rng, n_bins = np.random.default_rng(0), 2000
    rows = [rng.poisson(mean, (n_bins, n_scores)) for mean in (labeled, unlabeled)]
    at = np.arange(n_scores) / n_scores
    n = np.concatenate([side.sum(axis=1) for side in rows])
    low, high = (
        np.concatenate([end(np.where(side > 0, at, np.nan), axis=1) for side in rows])
        for end in (np.fmin.reduce, np.fmax.reduce)
    )
    is_labeled, key = np.arange(2 * n_bins) < n_bins, np.tile(np.arange(n_bins), 2)
    tallies = dict.fromkeys(TALLIES, np.zeros(n.size))
    tallies |= {"labeled": n * is_labeled, "unlabeled": n * ~is_labeled}
    some = n > 0
    columns = (each[some] for each in (key, key + low, key + high, n))
    bins = Bins.of(*columns, {name: tally[some] for name, tally in tallies.items()})
    assert bins.distinct() == pytest.approx(((rows[0] + rows[1]) > 0).sum(), rel=0.4)
    # Where no two rows have one score, each may have its own.
    assert replace(bins, twins=~bins.tied & False).distinct() == bins.tied.sum() + (
        bins.rows[~bins.tied].sum()
    )
