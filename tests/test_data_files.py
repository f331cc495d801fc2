"""Files of text by every door: rows in are rows out, and what cells mean depends on all of them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.command_line import call_main
from tests.open_duckdb import connect

import purecover as pu
from purecover import ScoreCounts
from purecover.exceptions import InvalidInputError

# DuckDB under narwhals is not ours to mend.
pytestmark = [pytest.mark.filterwarnings("ignore")]
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)

ROWS = [(0.9, 1), (0.7, 0), (0.5, 1), (0.25, 0), (0.125, 0)]
OPTIONS = ("--alpha=0.2", "--n-resamples=0", "--json")


def command(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    found = call_main(capsys, "evaluate", *words, *OPTIONS)
    assert found.code != 2, found.err
    return found.json


def scanned(paths: Any, score: str, labeled: str, **how: Any) -> Any:
    return ScoreCounts.from_frame(pu.scan_files(paths), score=score, labeled=labeled, **how)


def counts_of(times: int = 1) -> ScoreCounts:
    scores, labeled = zip(*ROWS * times, strict=True)
    return ScoreCounts.from_scores(scores, labeled)


ends = st.sampled_from(["\n", "\r\n", "\r"])
# Of these str.splitlines makes lines of their own, and str.strip takes them away.
blanks = st.sampled_from(["", "\n", "\r\n \n", *"\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\x0c\n"])


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """The same rows with any line end after any line, and in the heading."""
    heading = f's,"y{draw(ends)}of {draw(blanks)} May",note'
    end, mixed = draw(ends), draw(st.booleans())
    rows = [f'{s},{y},"a{draw(ends)}b"' if mixed else f"{s},{y},a" for s, y in ROWS]
    lines = [line + (draw(ends) if mixed else end) for line in rows]
    text = draw(blanks) + heading + draw(ends) + "".join(lines)
    return draw(st.sampled_from([bytes, gzip.compress]))(text.encode())


@given(several=st.lists(texts(), min_size=1, max_size=2))
@example(several=[b's,"y\nof"\r\n0.9,1\r\n0.7,0\r\n0.5,1\r\n0.25,0\r\n0.125,0\r\n'] * 2)
@quick
def test_no_row_is_lost(tmp_path: Path, capsys: Any, several: list[bytes]) -> None:
    paths = [tmp_path / f"{i}.csv" for i in range(len(several))]
    for path, content in zip(paths, several, strict=True):
        path.write_bytes(content)
        one = pu.scan_files(path)
        name = one.columns[1]
        assert ScoreCounts.from_frame(one, score="s", labeled=name) == counts_of()
        # The same name in all files, so that their rows go together.
        plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        break_at = plain.index(b'"y') + 2
        path.write_bytes(plain[:break_at] + b'\ny"' + plain[plain.index(b'"', break_at) + 1 :])
    expected = counts_of(len(paths))
    assert scanned(paths, "s", "y\ny") == expected
    document = command(capsys, *paths, "--labeled=y\ny")
    assert (document["n_labeled"], document["n_unlabeled"]) == (
        expected.n_labeled,
        expected.n_unlabeled,
    )
    assert document["auc_pu"] == pytest.approx(expected.auc_pu)


def test_a_file_without_rows_is_named(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "a.csv").write_text("s,y\n0.9,1\n0.2,0\n")
    (tmp_path / "b.csv").write_text("s,y\n")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    found = call_main(capsys, "evaluate", *paths, *OPTIONS)
    assert (found.code, "b.csv has no rows of data" in found.err) == (2, True)
    with pytest.raises(InvalidInputError, match=r"'paths' .*b\.csv has no rows of data"):
        pu.scan_files(paths)


# What DuckDB concludes from the first rows of a file is wrong of the others.
FIRST = 21_000


def write_sorted(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole numbers first, as in a file that is sorted by score."""
    scores = np.append(np.arange(FIRST, 0, -1) // 100, np.linspace(0.99, 0.01, 500))
    labeled = np.arange(scores.size) % 3 == 0
    weight = np.where(np.arange(scores.size) < FIRST, 1, 0.25)
    columns = {"s": scores, "y": labeled.astype(int), "w": weight}
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            file.write("s,y,w\n")
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            cells = [f"{cell:g}" for cell in row]
            line = ",".join(cells)
            if path.suffix == ".jsonl":
                line = (
                    "{" + ", ".join(f'"{n}": {c}' for n, c in zip("syw", cells, strict=True)) + "}"
                )
            file.write(line + "\n")
    return np.array([float(f"{s:g}") for s in scores]), labeled, weight


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_nothing_is_concluded_from_the_first_rows(tmp_path: Path, capsys: Any, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    scores, labeled, weight = write_sorted(path)
    expected = ScoreCounts.from_scores(scores, labeled, sample_weight=weight)
    if suffix == ".csv":
        assert scanned(path, "s", "y", sample_weight="w") == expected
    for paths in ([path], [path, tmp_path / f"b{suffix}"]):
        write_sorted(paths[-1])
        document = command(capsys, *paths, "--sample-weight=w")
        assert document["n_labeled"] == len(paths) * expected.n_labeled
        assert document["auc_pu"] == pytest.approx(expected.auc_pu, abs=1e-12)


def test_labels_after_the_first_rows_count_as_well(tmp_path: Path, capsys: Any) -> None:
    rows = "".join(f"{i},{i % 2}\n" for i in range(FIRST))
    (tmp_path / "a.csv").write_text(f"s,y\n{rows}0.5,.4\n")
    with pytest.raises(InvalidInputError, match=r"'labeled' .* got the values 0\.4, 0\.0, 1\.0"):
        scanned(tmp_path / "a.csv", "s", "y")
    found = call_main(capsys, "evaluate", tmp_path / "a.csv", *OPTIONS)
    assert (found.code, "0.4" in found.err) == (2, True)


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("", "1 missing of 5"),
        ("n/a", "1 missing of 5"),
        ("high", "1 not a finite number of 5"),
        ("1_0", "1 not a finite number of 5"),
        ("inf", "1 not a finite number of 5"),
        ("9007199254740993", r"beyond 2\*\*53"),
    ],
)
def test_cells_that_are_no_numbers_are_refused(tmp_path: Path, cell: str, says: str) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{s},{y},1" for s, y in ROWS]
    for column, name in ((0, "score"), (2, "sample_weight")):
        cells = rows[2].split(",")
        cells[column] = cell
        path.write_text("\n".join(["s,y,w", *rows[:2], ",".join(cells), *rows[3:], ""]))
        with pytest.raises(InvalidInputError, match=rf"(?s)'{name}' .*{says}"):
            scanned(path, "s", "y", sample_weight="w")


# One rule for all numbers that float64 rounds to their neighbors.
BEYOND = {
    "integers": [2**53 + 1, 2**53],
    "decimals": [Decimal(2**53 + 1), Decimal(2**53)],
    "fractions of decimals": [Decimal(2**53) + Decimal("0.5"), Decimal(2**53) - Decimal("0.5")],
    "long doubles": [np.longdouble(2**53) + 1, np.longdouble(2**53)],
}


def parquet_or_csv(table: pa.Table, path: Path) -> Path:
    frame = pl.from_arrow(table)
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return path


FRAMES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "Arrow": lambda table, _: table,
    "pandas": lambda table, _: table.to_pandas(),
    "pandas of Arrow": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table, _: pl.from_arrow(table),
    "lazy polars": lambda table, _: pl.from_arrow(table).lazy(),
    "DuckDB": lambda table, _: connect().from_arrow(table),
    "Parquet": lambda table, place: pu.scan_files(parquet_or_csv(table, place / "a.parquet")),
}


@pytest.mark.parametrize("kind", BEYOND)
def test_numbers_that_floats_round_are_refused_by_every_door(
    tmp_path: Path, capsys: Any, kind: str
) -> None:
    if kind == "long doubles" and np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long doubles are doubles on this machine")
    values, labeled = [*BEYOND[kind], type(BEYOND[kind][0])(3)], [1, 0, 0]
    says = r"free of integers and decimals beyond 2\*\*53"
    for column in (values, np.array(values), np.array(values, dtype=object)):
        with pytest.raises(InvalidInputError, match=says):
            ScoreCounts.from_scores(column, labeled)
    if kind == "long doubles":
        assert ScoreCounts.from_scores(np.array([2**60, 0.1, 3], np.longdouble), labeled)
        return
    for name, role in (("s", "score"), ("w", "sample_weight")):
        others = {"s": [3.0, 2.0, 1.0], "y": labeled, "w": [1, 1, 1]}
        table = pa.table(others | {name: values})
        for frame in FRAMES.values():
            rows = frame(table, tmp_path)
            with pytest.raises(InvalidInputError, match=f"'{role}' .*{says}"):
                ScoreCounts.from_frame(rows, score="s", labeled="y", sample_weight="w")
        suffixes = (".parquet", ".csv") if kind != "fractions of decimals" else (".parquet",)
        for suffix in suffixes:
            path = parquet_or_csv(table, tmp_path / f"a{suffix}")
            found = call_main(capsys, "evaluate", path, "--sample-weight=w", *OPTIONS)
            assert (found.code, "beyond 2**53" in found.err) == (2, True)


@pytest.mark.parametrize(
    "groups", [("1", "1.0", "1.00"), ("2020-01-01", "2020-1-1"), ("01", "1"), ("true", "True")]
)
def test_groups_keep_their_text_in_every_door(
    tmp_path: Path, capsys: Any, groups: tuple[str, ...]
) -> None:
    columns = {name: [row[i] for _ in groups for row in ROWS] for i, name in enumerate(("s", "y"))}
    table = pa.table(columns | {"g": [group for group in groups for _ in ROWS]})
    path = parquet_or_csv(table, tmp_path / "a.csv")
    frames = [*(frame(table, tmp_path) for frame in FRAMES.values()), pu.scan_files(path)]
    for frame in frames:
        found = ScoreCounts.from_frame(frame, score="s", labeled="y", by="g")
        assert found == dict.fromkeys(groups, counts_of())
    for one_by_one in ("evaluate", "evaluate-many"):
        document = call_main(capsys, one_by_one, path, "--by=g", *OPTIONS).json
        assert sorted(row["task"] for row in document["rows"]) == sorted(groups)


@pytest.mark.parametrize("blank", ["", " ", "NA", "null"])
def test_blank_groups_are_refused_by_every_door(tmp_path: Path, capsys: Any, blank: str) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{s},{y},{blank if i == 3 else 'a'}" for i, (s, y) in enumerate(ROWS)]
    path.write_text("\n".join(["s,y,g", *rows, ""]))
    for one_by_one in ("evaluate", "evaluate-many"):
        found = call_main(capsys, one_by_one, path, "--by=g", *OPTIONS)
        assert found.code == 2
        assert "1 bad cell in column 'g' (row 4 " in found.err
        assert "a blank cell names no group" in found.err
    found = call_main(capsys, "evaluate", path, "--groups=g", *OPTIONS)
    assert (found.code, "1 bad cell in column 'g' (row 4 " in found.err) == (2, True)
    with pytest.raises(InvalidInputError, match=r"'by' .*1 missing of 5 rows \(column 'g'\)"):
        scanned(path, "s", "y", by="g")


def test_two_columns_of_one_name_cannot_be_asked_for(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.csv"
    path.write_text("s,y,s,s_1,Y,\n" + "".join(f"{s},{y},0,5,7,\n" for s, y in ROWS))
    frame = pu.scan_files(path)
    assert frame.columns == ["s_2", "y", "s_3", "s_1", "Y_1"]
    with pytest.raises(InvalidInputError, match=r"(?s)'score' .*'s_2', 'y', 's_3', 's_1'"):
        ScoreCounts.from_frame(frame, score="s", labeled="y")
    assert ScoreCounts.from_frame(frame, score="s_2", labeled="y") == counts_of()
    found = call_main(capsys, "evaluate", path, "--score=s", *OPTIONS)
    assert (found.code, "3 columns named 's'" in found.err) == (2, False)
    assert (found.code, "2 columns named 's'" in found.err) == (2, True)


def test_a_file_at_an_address(tmp_path: Path) -> None:
    """As far as that can be tried without a network."""
    (tmp_path / "a.csv").write_text("s,y\n" + "".join(f"{s},{y}\n" for s, y in ROWS))
    assert scanned(f"file://{tmp_path}/a.csv", "s", "y") == counts_of()
    with pytest.raises(InvalidInputError, match=r"'paths' .*b\.csv cannot be fetched"):
        pu.scan_files(f"file://{tmp_path}/b.csv")


def test_numbers_of_rows_are_written_as_people_write_them(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.csv"
    rows = "".join(f"{i % 9},{int(i < 133_450)},a\n" for i in range(140_000))
    path.write_text(f"s,y,g\n{rows}")
    found = call_main(capsys, "evaluate", path, "--by=g", *OPTIONS[:2])
    assert " 133,450 " in found.out


# Headings as people and programs write them.
ODD = [
    *(
        "p value",
        'a"b',
        '""',
        "a'b",
        "a,b",
        "a;b",
        "a\tb",
        "a|b",
        "a\nb",
        "a\r\nb",
        "a\rb",
        "a\x0bb",
    ),
    *(
        "a\x85b",
        "a\u2028b",
        "é",
        "É",
        "得点",
        "\u200f\u05d0",
        "\ufeffa",
        "0.5",
        "1e3",
        "nan",
        "null",
    ),
    *(
        "select",
        "1; DROP TABLE x--",
        "c0",
        "#1",
        "$1",
        "s.t",
        "*",
        "-x",
        "--json",
        "%s",
        "[x]",
        "{x}",
    ),
    *("{function}", "Score", "pu_x"),
]


@given(
    names=st.lists(st.sampled_from(ODD), min_size=3, max_size=3, unique_by=str.casefold),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    end=ends,
    bom=st.booleans(),
    by=st.booleans(),
    door=st.sampled_from(["one", "two", "jsonl", "parquet"]),
)
@example(
    names=["a\nb", "Y", "é"],
    delimiter=",",
    quoting=csv.QUOTE_ALL,
    end="\n",
    bom=True,
    by=True,
    door="two",
)
@quick
def test_headings_may_hold_anything(
    tmp_path: Path,
    capsys: Any,
    names: list[str],
    delimiter: str,
    quoting: Any,
    end: str,
    bom: bool,
    by: bool,
    door: str,
) -> None:
    score, labeled, group = names
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow([*names, "", "other", "other", " "])
    writer.writerows([s, y, "g", "", i, "x", ""] for i, (s, y) in enumerate(ROWS))
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text(text.getvalue(), encoding="utf-8-sig" if bom else "utf-8", newline="")
    records = [dict(zip(names, (s, y, "g"), strict=True)) for s, y in ROWS]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    frame = pl.DataFrame(records)
    frame.write_parquet(tmp_path / "a.parquet")
    asked = (f"--score={score}", f"--labeled={labeled}")
    files = {"two": paths, "one": paths[:1]}.get(door, [tmp_path / f"a.{door}"])
    document = command(capsys, *files, *asked, *([f"--by={group}"] if by else []))
    document = document["rows"][0] if by else document
    sizes = document["n_labeled"], document["n_unlabeled"]
    assert sizes == (2 * len(files), 3 * len(files))
    assert scanned(paths, score, labeled) == counts_of(2)
    parquet = pu.scan_files(tmp_path / "a.parquet")
    for table in (frame, frame.lazy(), frame.to_pandas(), parquet):
        how = {"score": score, "labeled": labeled, "by": group}
        assert ScoreCounts.from_frame(table, **how) == {"g": counts_of()}
