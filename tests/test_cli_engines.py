"""``purecover evaluate`` over files that an engine counts: the same figures, and clear refusals."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from functools import partial

import numpy as np
import polars as pl
import pytest
from tests.command_line import call_main
from tests.test_engines import spark_session

import purecover as pu
from purecover.cli import counting
from purecover.engines.count import count_lazy
from purecover.engines.scan import Scan

ALPHA = ("--alpha", "0.2", "--resamples", "20")


@pytest.fixture
def run(capsys):
    return partial(call_main, capsys, "evaluate")


@pytest.fixture(scope="module")
def frame():
    sample = pu.simulate.binormal(1.5).sample(60, 340, alpha=0.2, random_state=0)
    order = np.random.default_rng(1).permutation(400)
    return pl.DataFrame(
        {
            "score": sample.scores[order].round(3),
            "labeled": sample.labeled[order].astype(int),
            "mark": np.where(sample.labeled[order], "hit", "?"),
            "w": np.arange(400) % 3 + 1,
            "site": np.repeat(["a", "b"], 200),
            "truth": sample.truth[order].astype(int),
        }
    )


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """All rows in one file of either format, and in parts as Spark would leave them."""
    place = tmp_path_factory.mktemp("rows")
    frame.write_csv(place / "all.csv")
    frame.write_parquet(place / "all.parquet")
    parts = place / "parts"
    (parts / "day=1").mkdir(parents=True)
    frame[:150].write_parquet(parts / "day=1" / "part-0.parquet")
    frame[150:].write_parquet(parts / "part-[1].parquet")
    (parts / "_SUCCESS").write_text("")
    (parts / ".part-0.parquet.crc").write_text("")
    (place / "csv").mkdir()
    frame[:150].write_csv(place / "csv" / "one.csv")
    frame[150:].write_csv(place / "csv" / "two.csv")
    return place


def same(found, expected):
    """Reports but for where the data came from."""
    other = dict.fromkeys(("source", "checksum"))
    return found | other == expected | other


@pytest.mark.parametrize(
    ("files", "options", "n_files", "engine"),
    [
        (["csv/*.csv"], [], 2, "duckdb"),
        (["csv/one.csv", "csv/two.csv"], [], 2, "duckdb"),
        (["all.csv"], ["--engine", "duckdb"], 1, "duckdb"),
        (["parts/part-[1].parquet", "parts/day=1"], ["--engine", "polars"], 2, "polars"),
        (["parts/**/part*.parquet"], [], 2, "duckdb"),
        (["all.parquet"], ["--engine", "duckdb"], 1, "duckdb"),
    ],
)
def test_an_engine_counts_what_the_reader_reads(run, folder, files, options, n_files, engine):
    expected = run(folder / "all.csv", *ALPHA, "--threshold", "0.5", "--json").json
    assert "engine" not in expected["source"]
    found = run(
        *(folder / file for file in files), *options, *ALPHA, "--threshold", "0.5", "--json"
    ).json
    assert same(found, expected)
    source = found["source"]
    assert (source["n_files"], source["engine"]) == (n_files, engine)
    assert source["columns"] == {"score": "score", "labeled": "labeled"}


@pytest.mark.parametrize("options", [[], ["--engine", "duckdb"]])
def test_quotes_inside_of_cells_lose_no_row(run, frame, tmp_path, options):
    rows = frame.with_columns(name=pl.lit('12" vinyl')).rows()
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "a.csv").write_text("\n".join([",".join([*frame.columns, "name"]), *lines]))
    found = run(tmp_path / "a.csv", *options, *ALPHA, "--json").json
    assert found["n_labeled"] + found["n_unlabeled"] == frame.height


@pytest.mark.parametrize("engine", [[], ["--engine", "duckdb"], ["--engine", "polars"]])
@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson"])
def test_integers_that_floats_cannot_tell_apart_are_refused(run, frame, tmp_path, kind, engine):
    """By the same sentence as of arrays."""
    if "polars" in engine and kind != "parquet":
        pytest.skip("text is read by DuckDB alone")
    with pytest.raises(pu.exceptions.InvalidInputError) as error:
        pu.evaluate([2**60, 2**60 + 1, 3], [1, 0, 0])
    large = frame.with_columns(score=2**60 + pl.col("w"))
    getattr(large, f"write_{kind}")(tmp_path / f"a.{kind}")
    result = run(tmp_path / f"a.{kind}", *engine, *ALPHA)
    assert result.code == 2
    assert f"must be {error.value.must}, got" in result.err
    assert error.value.hint in result.err
    exact = frame.with_columns(score=2**53 - pl.col("w"))
    getattr(exact, f"write_{kind}")(tmp_path / f"b.{kind}")
    assert run(tmp_path / f"b.{kind}", *engine, *ALPHA).code == 0
    floats = frame.with_columns(score=pl.col("score") * 1e30)
    getattr(floats, f"write_{kind}")(tmp_path / f"c.{kind}")
    assert run(tmp_path / f"c.{kind}", *engine, *ALPHA).code == 0


@pytest.mark.spark
def test_spark_counts_the_same(run, folder):
    session = spark_session()
    expected = run(folder / "all.csv", *ALPHA, "--json").json
    assert same(run(folder / "parts", "--engine", "spark", *ALPHA, "--json").json, expected)
    assert session.range(3).count() == 3  # a session that was there before is left alone


@pytest.mark.parametrize(
    "options",
    [
        ["--weight", "w", "--beta", "0.9"],
        ["--labeled", "mark", "--positive-label", "hit"],
        ["--labeled", "three", "--positive-label", "1", "--negative-label=-1"],
    ],
)
def test_options_pass_on(run, frame, options, tmp_path):
    three = pl.when(pl.col("w") == 2).then(pl.lit(-1)).otherwise(pl.col("labeled"))
    frame.with_columns(three=three).write_csv(tmp_path / "a.csv")
    expected = run(tmp_path / "a.csv", *options, *ALPHA, "--json").json
    found = run(tmp_path / "a.csv", *options, *ALPHA, "--json", "--engine", "duckdb").json
    for name in ("n_labeled", "n_unlabeled", "n_negative"):
        assert found[name] == expected[name]
    assert (found["n_negative"] > 0) == ("three" in options)
    assert found["metrics"]["recovered"] == pytest.approx(expected["metrics"]["recovered"])


@pytest.mark.parametrize("kind", ["truth", "number", "word"])
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_blank_labels_can_be_unlabeled(run, frame, tmp_path, kind, engine):
    labeled = pl.col("labeled") == 1
    values = {"truth": labeled, "number": pl.lit(1.0), "word": pl.lit("positive")}
    column = pl.when(labeled | (pl.col("w") == 1) & (kind == "truth")).then(values[kind])
    changed = frame.with_columns(labeled=column)
    changed.write_parquet(tmp_path / "a.parquet")
    result = run(
        tmp_path / "a.parquet", "--missing-is-unlabeled", "--engine", engine, *ALPHA, "--json"
    )
    expected = run(tmp_path / "a.parquet", "--missing-is-unlabeled", *ALPHA, "--json").json
    assert same(result.json, expected)
    assert result.json["source"]["blank_labels"] == expected["source"]["blank_labels"] > 0
    assert "blank labels count as unlabeled" in result.err


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_blanks_never_take_the_value_that_means_labeled(run, frame, tmp_path, engine):
    column = pl.when(pl.col("labeled") == 1).then(pl.lit(0.0))  # zero is the positive label
    frame.with_columns(labeled=column).write_parquet(tmp_path / "a.parquet")
    options = ["--missing-is-unlabeled", "--positive-label", "0.0", *ALPHA, "--json"]
    found = run(tmp_path / "a.parquet", "--engine", engine, *options).json
    assert found["n_labeled"] == frame["labeled"].sum()
    assert found["n_unlabeled"] == frame.height - frame["labeled"].sum()


LABELS = {
    "1 and -1": ("1", "-1", ["--positive-label=1"]),
    "P and U": ("P", "U", []),
    "yes and unknown": ("yes", "unknown", []),
    "hit and miss": ("hit", "miss", ["--positive-label=hit"]),
    "one word": ("positive", "", []),
    "a known negative": ("1", "0", ["--negative-label=0"]),
    "truth values": ("true", "false", ["--positive-label=true"]),
    "turned round": ("false", "true", ["--positive-label=false"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_blanks_beside_other_labels(run, frame, tmp_path, engine, labels):
    yes, other, options = labels
    word = pl.when(pl.col("w") == 1).then(pl.lit(other)).otherwise(pl.lit(""))
    column = pl.when(pl.col("labeled") == 1).then(pl.lit(yes)).otherwise(word)
    frame.with_columns(labeled=column).write_csv(tmp_path / "a.csv", quote_style="never")
    options = ["--missing-is-unlabeled", *options, *ALPHA, "--json"]
    expected = run(tmp_path / "a.csv", *options).json
    found = run(tmp_path / "a.csv", "--engine", engine, *options).json
    assert same(found, expected)
    assert found["n_labeled"] == frame["labeled"].sum()
    assert found["n_negative"] == expected["n_negative"]
    assert found["source"]["blank_labels"] == expected["source"]["blank_labels"] > 0


@pytest.mark.parametrize("engine", [[], ["--engine", "duckdb"], ["--engine", "polars"]])
def test_blanks_beside_what_may_be_known_negatives(run, frame, tmp_path, engine):
    word = pl.when(pl.col("w") == 1).then(pl.lit(-1))
    column = pl.when(pl.col("labeled") == 1).then(pl.lit(1)).otherwise(word)
    frame.with_columns(labeled=column).write_parquet(tmp_path / "a.pq")
    result = run(tmp_path / "a.pq", "--missing-is-unlabeled", *engine, *ALPHA)
    assert result.code == 2
    assert "holds '1', '-1' and blanks" in result.err
    assert "add --positive-label=1; if '-1' marks known negatives, add --negative-label=-1." in (
        result.err
    )


# -- several scores -----------------------------------------------------------------------------

BOTH = ["--score", "score", "--score", "w"]


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_several_scores_are_compared(run, folder, engine, tmp_path):
    # A threshold of one's own: what a choice on the same data adds is found from replicates.
    asked = [*BOTH, *ALPHA[:2], "--threshold", "0.5", "--resamples", "40", "--json"]
    page = tmp_path / "page.html"
    found = run(folder / "parts", "--engine", engine, *asked, "--html", page).json
    expected = run(folder / "all.csv", *asked).json
    for name in ("scores", "baseline", "proportions", "n_resamples"):
        assert found[name] == expected[name]
    for name in ("score", "w"):
        ours, theirs = (d["reports"][name]["metrics"]["recovered"] for d in (found, expected))
        assert ours == pytest.approx(theirs)
    ours, theirs = (d["differences"]["roc_auc"]["w"] for d in (found, expected))
    assert [ours[end] for end in ("estimate", "low", "high")] == pytest.approx(
        [theirs[end] for end in ("estimate", "low", "high")], abs=0.02
    )
    assert found["source"]["columns"] == {"score": ["score", "w"], "labeled": "labeled"}
    assert found["source"]["n_files"] == 2
    assert "Comparison of models" in page.read_text()


# -- groups ------------------------------------------------------------------------------------


def test_a_report_for_each_group(run, folder, frame, tmp_path):
    document = run(folder / "parts", "--by", "site", *ALPHA, "--json").json
    assert [row["task"] for row in document["rows"]] == ["a", "b"]
    for row in document["rows"]:
        frame.filter(pl.col("site") == row["task"]).write_csv(tmp_path / "one.csv")
        assert same(row["report"], run(tmp_path / "one.csv", *ALPHA, "--json").json)
        assert row["recovered"]["roc_auc"] == row["report"]["metrics"]["recovered"]["roc_auc"]
    text = run(folder / "all.csv", "--by", "site", *ALPHA).out
    assert "2 tasks, 1 score: 2 of 2 rows evaluated" in text


def test_groups_are_numbers_or_folders(run, folder, frame, tmp_path):
    """A folder whose name is that of a column of the files does not take its place."""
    document = run(folder / "csv", "--by", "w", *ALPHA, "--json").json
    assert [row["task"] for row in document["rows"]] == ["1", "2", "3"]
    for day, part in ((9, frame[:200]), (10, frame[200:])):
        place = tmp_path / f"score={day}" / f"day={day}"
        place.mkdir(parents=True)
        part.write_csv(place / "rows.csv")
    document = run(tmp_path, "--by", "day", *ALPHA, "--json").json
    assert [row["task"] for row in document["rows"]] == ["9", "10"]
    assert [row["n_labeled"] for row in document["rows"]] == [
        part["labeled"].sum() for part in (frame[:200], frame[200:])
    ]
    expected = run(folder / "all.csv", *ALPHA, "--json").json
    assert same(run(tmp_path, *ALPHA, "--json").json, expected)


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize(
    "groups",
    [("1", "01", "1.0"), (0.25, 0.5, 0.75), tuple(date(2026, 1, day) for day in (1, 2, 3))],
)
def test_groups_keep_their_text(run, frame, tmp_path, engine, groups):
    """Groups that are equal as numbers are different groups, and no row is lost."""
    column = pl.Series("zip", [groups[i % 3] for i in range(frame.height)])
    frame.with_columns(column).write_parquet(tmp_path / "a.parquet")
    document = run(tmp_path / "a.parquet", "--by", "zip", "--engine", engine, *ALPHA, "--json").json
    assert sorted(row["task"] for row in document["rows"]) == sorted(map(str, groups))
    assert sum(row["n_labeled"] + row["n_unlabeled"] for row in document["rows"]) == frame.height


def test_rows_that_vanish_are_noticed(run, frame, tmp_path, monkeypatch):
    frame.write_parquet(tmp_path / "a.parquet")
    bins = Scan.bins
    halves = lambda self: {g: b.taken(slice(0, None, 2)) for g, b in bins(self).items()}  # noqa: E731
    monkeypatch.setattr(Scan, "bins", halves)
    result = run(tmp_path / "a.parquet", "--engine", "duckdb", *ALPHA)
    assert result.code == 2
    assert "FILE must be the same each time it is evaluated, got 400 and then" in result.err


# -- bins --------------------------------------------------------------------------------------


def test_bins_and_bounds_are_shown_everywhere(run, frame, tmp_path, monkeypatch):
    monkeypatch.setitem(count_lazy.__kwdefaults__, "exact_limit", 0)
    file = tmp_path / "crowded.csv"
    frame.with_columns(score=2 + pl.col("score") / 1000).write_csv(file)
    page, text = tmp_path / "a.html", tmp_path / "a.md"
    monkeypatch.setattr(counting, "_TOLERANCE", 0.5)
    wide = ("--engine", "duckdb")
    result = run(file, *wide, *ALPHA, "--html", page, "--markdown", text)
    bins = int(result.out.split(" in ")[1].split(" bins")[0])
    assert "bins of scores" in result.out
    document = run(file, *wide, *ALPHA, "--json").json
    assert document["n_thresholds"] == bins
    low, high = document["binning"]["auc_pu"]
    exact = run(file, *ALPHA, "--json").json  # without an engine
    assert low <= exact["auc_pu"] <= high
    for written in (page.read_text(), text.read_text()):
        assert "Bins of scores" in written
        assert "Observed AUC of the exact scores" in written
        assert "istinct scores" not in written
    groups = run(file, *wide, *ALPHA, "--by", "site").out
    assert "scores counted in bins: observed AUCs are known to within" in groups


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "options", "match"),
    [
        (["csv"], ["--truth", "truth"], "--truth is not possible where duckdb counts the rows"),
        (["all.csv"], ["--engine", "polars", "--group", "site"], "--groups is not possible"),
        (["csv"], [*BOTH, "--by", "site"], "--by is for one --score where duckdb counts"),
        (["csv"], [*BOTH, "--weight", "truth"], "--sample-weight is for one --score"),
        (["csv"], [*BOTH, "--truth", "truth"], "--truth is not possible"),
        (["csv"], [*BOTH, "--markdown", "a.md"], "--markdown is for one score"),
        (["csv"], ["--score", "score", "--score", "nope"], "no column named 'nope'"),
        (["csv"], ["--engine", "polars"], "--engine polars reads Parquet"),
        (["csv"], ["--by", "site", "--html", "a.html"], "--html is for one report"),
        (["csv"], ["--by", "sites"], "no column named 'sites', asked for by --by"),
        (["csv/*.tsv"], [], "no file matches the pattern"),
        (["csv/one.csv", "three.csv"], [], "there is no file"),
        (["."], [], "FILE must be files of one format"),
        (["parts"], ["--html", "parts/part-[1].parquet"], "would overwrite the data"),
        (["parts/_SUCCESS"], ["--engine", "duckdb"], "its name must end in .csv"),
        (["-"], ["--by", "site"], "standard input cannot be counted by duckdb"),
        (["all.parquet"], ["--by", "w", "--labeled", "site"], "taken for --labeled, must be"),
    ],
)
def test_what_an_engine_cannot_do_is_refused(run, folder, files, options, match, monkeypatch):
    monkeypatch.chdir(folder)
    result = run(*files, *options, *ALPHA)
    assert result.code == 2
    assert match in result.err


def test_bad_cells_are_refused(run, tmp_path, folder):
    file = tmp_path / "a.csv"
    lines = (folder / "all.csv").read_text().splitlines()
    file.write_text("\n".join([*lines, ",1,hit,1,a,1"]))
    result = run(file, "--engine", "duckdb")
    assert f"{file} has 1 bad cell in column 'score' (row 401 has no value)" in result.err
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("\n".join([*lines, "1,2"]))
    assert "Line: 402; Original Line: 1,2" in run(ragged, "--engine", "duckdb").err
    # Far below the rows that DuckDB looks at to guess types.
    file.write_text("\n".join([lines[0], *lines[1:] * 60, "much,1,hit,1,a,1"]))
    result = run(file, "--engine", "duckdb")
    assert result.code == 2
    assert "1 bad cell in column 'score' (row 24001 'much' is not a number)" in result.err


def test_an_absent_engine_names_the_extra(run, folder, monkeypatch):
    for engine, module, extra in (
        ("spark", "pyspark.sql", "spark"),
        ("polars", "polars", "engines"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        result = run(folder / "parts", "--engine", engine)
        assert result.code == 2
        assert f"pip install 'purecover[{extra}]'" in result.err


def test_a_large_parquet_file_is_counted_where_it_is(run, folder, monkeypatch):
    monkeypatch.setattr(counting, "LARGE", 0)
    found = run(folder / "all.parquet", *ALPHA, "--json").json
    assert found["source"]["engine"] == "duckdb"
    assert "engine" not in run(folder / "all.csv", *ALPHA, "--json").json["source"]
    with_truth = run(folder / "all.parquet", *ALPHA, "--truth", "truth", "--json").json
    assert with_truth["truth"] is not None


@pytest.mark.slow
def test_nothing_but_messages_on_standard_error(folder):
    """DuckDB says at exit which objects were never freed."""
    command = [sys.executable, "-m", "purecover", "evaluate", str(folder / "csv" / "*.csv")]
    done = subprocess.run(
        [*command, "--alpha", "0.2", "--resamples", "0"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "60 labeled rows, 340 unlabeled" in done.stdout
    refused = subprocess.run(
        [*command, "--labeled", "w"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith("purecover: error: column 'w' of")
    assert len(refused.stderr.splitlines()) <= 2
