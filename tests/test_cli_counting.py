"""``purecover evaluate`` over files whose rows are counted: the same results, clear refusals."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from datetime import date
from functools import partial

import numpy as np
import polars as pl
import pytest
from tests.command_line import call_main

import purecover as pu
from purecover.cli import counting
from purecover.engines.scan import Scan, count_lazy

ALPHA = ("--alpha", "0.2", "--resamples", "20")


@pytest.fixture
def run(capsys):
    return partial(call_main, capsys, "evaluate")


@pytest.fixture
def counted(monkeypatch):
    """Rows of every file are counted, as those of a large one."""
    monkeypatch.setattr(counting, "LARGE", 0)


COUNTED = pytest.mark.usefixtures("counted")


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
    ("files", "n_files"),
    [
        (["csv/*.csv"], 2),
        (["csv/one.csv", "csv/two.csv"], 2),
        (["parts/part-[1].parquet", "parts/day=1"], 2),
        (["parts/**/part*.parquet"], 2),
    ],
)
def test_rows_of_several_files_are_counted_together(run, folder, files, n_files):
    asked = (*ALPHA, "--threshold", "0.5", "--json")
    expected = run(folder / "all.csv", *asked).json
    assert "engine" not in expected["source"]
    found = run(*(folder / file for file in files), *asked).json
    assert same(found, expected)
    source = found["source"]
    assert (source["n_files"], source["engine"]) == (n_files, "duckdb")
    assert source["columns"] == {"score": "score", "labeled": "labeled"}


def test_files_of_a_folder_that_are_not_counted_are_named(run, frame, tmp_path):
    frame.write_csv(tmp_path / "one.csv")
    (tmp_path / "_two.csv").write_text("score,labeled\n1,1\n")
    (tmp_path / "notes.txt").write_text("of May")
    found = run(tmp_path, *ALPHA, "--json")
    assert found.json["source"]["n_files"] == 1
    assert all(name in found.err for name in ("2 files not counted", "_two.csv", "notes.txt"))
    assert run(tmp_path, *ALPHA, "--quiet").err == ""


@COUNTED
def test_a_large_file_is_counted(run, folder):
    found = run(folder / "all.parquet", *ALPHA, "--json").json
    assert found["source"]["engine"] == "duckdb"
    with_truth = run(folder / "all.parquet", *ALPHA, "--truth", "truth", "--json").json
    assert with_truth["truth"] is not None


@COUNTED
def test_quotes_inside_of_cells_lose_no_row(run, frame, tmp_path):
    rows = frame.with_columns(name=pl.lit('12" vinyl')).rows()
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "a.csv").write_text("\n".join([",".join([*frame.columns, "name"]), *lines]))
    found = run(tmp_path / "a.csv", *ALPHA, "--json").json
    assert found["n_labeled"] + found["n_unlabeled"] == frame.height


@pytest.mark.parametrize("large", [0, 10**9])
@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson"])
def test_integers_that_floats_cannot_tell_apart_are_refused(
    run, frame, tmp_path, kind, large, monkeypatch
):
    """By the same sentence as of arrays."""
    monkeypatch.setattr(counting, "LARGE", large)
    with pytest.raises(pu.exceptions.InvalidInputError) as error:
        pu.evaluate([2**60, 2**60 + 1, 3], [1, 0, 0])
    beyond = frame.with_columns(score=2**60 + pl.col("w"))
    getattr(beyond, f"write_{kind}")(tmp_path / f"a.{kind}")
    result = run(tmp_path / f"a.{kind}", *ALPHA)
    assert result.code == 2
    assert f"must be {error.value.must}, got" in result.err
    assert error.value.hint in result.err
    for name, score in (("b", 2**53 - pl.col("w")), ("c", pl.col("score") * 1e30)):
        getattr(frame.with_columns(score=score), f"write_{kind}")(tmp_path / f"{name}.{kind}")
        assert run(tmp_path / f"{name}.{kind}", *ALPHA).code == 0


BOTH = ["--score", "score", "--score", "w"]


def test_several_scores_are_compared(run, folder, tmp_path):
    # A threshold of one's own: what a choice on the same data adds is found from replicates.
    asked = [*BOTH, *ALPHA[:2], "--threshold", "0.5", "--resamples", "40", "--json"]
    page = tmp_path / "page.html"
    found = run(folder / "parts", *asked, "--html", page).json
    expected = run(folder / "all.csv", *asked).json
    for name in ("scores", "baseline", "proportions", "n_resamples"):
        assert found[name] == expected[name]
    ours, theirs = (d["differences"]["roc_auc"]["w"] for d in (found, expected))
    assert [ours[end] for end in ("estimate", "low", "high")] == pytest.approx(
        [theirs[end] for end in ("estimate", "low", "high")], abs=0.02
    )
    assert found["source"]["columns"] == {"score": ["score", "w"], "labeled": "labeled"}
    assert "Comparison of models" in page.read_text()


def test_a_report_for_each_group(run, folder, frame, tmp_path):
    document = run(folder / "parts", "--by", "site", *ALPHA, "--json").json
    assert [row["task"] for row in document["rows"]] == ["a", "b"]
    for row in document["rows"]:
        frame.filter(pl.col("site") == row["task"]).write_csv(tmp_path / "one.csv")
        assert same(row["report"], run(tmp_path / "one.csv", *ALPHA, "--json").json)
    text = run(folder / "all.csv", "--by", "site", *ALPHA).out
    assert "2 tasks, 1 score: 2 of 2 rows evaluated" in text


def test_every_group_is_shown_and_the_doubtful_first(run, tmp_path):
    rng = np.random.default_rng(0)
    parts = []
    for week in range(12):
        positive = rng.random(400) < 0.3
        scores = rng.normal(size=400) + 1.5 * positive
        if week == 5:  # the model was turned round
            scores = -scores
        labeled = positive & (rng.random(400) < 0.4) & (week != 10)
        weeks = np.repeat(f"w{week:02d}", 400)
        parts.append(pl.DataFrame({"week": weeks, "score": scores, "labeled": labeled.astype(int)}))
    pl.concat(parts).write_csv(tmp_path / "weeks.csv")
    page = tmp_path / "page.html"
    options = ["--by", "week", "--alpha", "0.2", "--resamples", "20", "--html", page]
    result = run(tmp_path / "weeks.csv", *options)
    shown = [line.split()[0] for line in result.out.splitlines() if re.match(r"w\d\d ", line)]
    assert shown == ["w05", *(f"w{week:02d}" for week in range(12) if week not in (5, 10))]
    assert "w10, score: no labeled row among 400" in result.out
    text = page.read_text(encoding="utf-8")
    assert all(f"w{week:02d}</bdi>" in text for week in range(12) if week != 10)
    assert "no labeled row among 400" in text


def test_groups_of_standard_input(run, folder, monkeypatch):
    rows = (folder / "all.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows)))
    document = run("-", "--by", "site", *ALPHA, "--json").json
    assert document["source"]["file"] == "standard input"
    assert sum(row["n_labeled"] + row["n_unlabeled"] for row in document["rows"]) == 400


def test_groups_are_numbers_or_folders(run, folder, frame, tmp_path):
    """A folder whose name is that of a column of the files does not take its place."""
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


@pytest.mark.parametrize(
    "groups",
    [("1", "01", "1.0"), (0.25, 0.5, 0.75), tuple(date(2026, 1, day) for day in (1, 2, 3))],
)
def test_groups_keep_their_text(run, frame, tmp_path, groups):
    """Groups that are equal as numbers are different groups, and no row is lost."""
    column = pl.Series("zip", [groups[i % 3] for i in range(frame.height)])
    frame.with_columns(column).write_parquet(tmp_path / "a.parquet")
    document = run(tmp_path / "a.parquet", "--by", "zip", *ALPHA, "--json").json
    assert sorted(row["task"] for row in document["rows"]) == sorted(map(str, groups))
    assert sum(row["n_labeled"] + row["n_unlabeled"] for row in document["rows"]) == frame.height


@COUNTED
def test_rows_that_vanish_are_noticed(run, folder, monkeypatch):
    bins = Scan.bins
    halves = lambda self: {g: b.taken(slice(0, None, 2)) for g, b in bins(self).items()}  # noqa: E731
    monkeypatch.setattr(Scan, "bins", halves)
    result = run(folder / "all.parquet", *ALPHA)
    assert result.code == 2
    assert "FILE must be the same each time it is evaluated, got 400 and then" in result.err


@COUNTED
def test_bins_and_bounds_are_shown_everywhere(run, frame, tmp_path, monkeypatch):
    monkeypatch.setitem(count_lazy.__kwdefaults__, "exact_limit", 0)
    file = tmp_path / "crowded.csv"
    frame.with_columns(score=2 + pl.col("score") / 1000).write_csv(file)
    page, text = tmp_path / "a.html", tmp_path / "a.md"
    monkeypatch.setitem(count_lazy.__kwdefaults__, "tolerance", 0.5)
    result = run(file, *ALPHA, "--html", page, "--markdown", text)
    assert "bins of scores" in result.out
    document = run(file, *ALPHA, "--json").json
    low, high = document["binning"]["auc_pu"]
    groups = run(file, *ALPHA, "--by", "site").out
    assert "scores counted in bins: observed AUCs are known to within" in groups
    monkeypatch.setattr(counting, "LARGE", 10**9)
    assert low <= run(file, *ALPHA, "--json").json["auc_pu"] <= high
    for written in (page.read_text(), text.read_text()):
        assert "Bins of scores" in written
        assert "istinct scores" not in written


@pytest.mark.parametrize(
    ("files", "options", "match"),
    [
        (["csv"], ["--truth", "truth"], "--truth goes neither with --by"),
        (["csv"], [*BOTH, "--by", "site"], "--by is for one --score where rows are counted"),
        (["csv"], [*BOTH, "--weight", "truth"], "--sample-weight is for one --score"),
        (["csv"], [*BOTH, "--markdown", "a.md"], "--markdown is for one score"),
        (["csv"], ["--score", "score", "--score", "nope"], "no column named 'nope'"),
        (["csv"], ["--by", "site", "--markdown", "a.md"], "--markdown is for one report"),
        (["csv"], ["--by", "sites"], "no column named 'sites', asked for by --by"),
        (["csv/*.tsv"], [], "no file matches the pattern"),
        (["csv/one.csv", "three.csv"], [], "there is no file"),
        (["."], [], "FILE must be files of one format"),
        (["parts"], ["--html", "parts/part-[1].parquet"], "would overwrite the data"),
        (["-", "-"], [], "must be different files, got '-' twice"),
        (["all.parquet"], ["--by", "w", "--labeled", "site"], "taken for --labeled, must be"),
    ],
)
def test_what_counting_cannot_do_is_refused(run, folder, files, options, match, monkeypatch):
    monkeypatch.chdir(folder)
    result = run(*files, *options, *ALPHA)
    assert result.code == 2
    assert match in result.err


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
