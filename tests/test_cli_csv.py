"""DuckDB reads text as the csv module of Python does, or it is said what is wrong with it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purecover.cli.files import Request, Table, read_table
from purecover.engines.data_files import is_missing
from purecover.exceptions import PurecoverError

REQUEST = Request({"score": "s", "labeled": "y"})


def read(folder: Path, text: str) -> Table | str:
    """What is read, or the complaint."""
    path = folder / "f.csv"
    path.write_bytes(text.encode())
    try:
        return read_table(str(path), lambda _: REQUEST, ["s", "y"])
    except PurecoverError as error:
        return str(error).removeprefix(str(path))


def expected(folder: Path) -> tuple[list[float], list[str]] | str:
    """The same by the csv module, row by row."""
    scores, labels = [], []
    try:
        with (folder / "f.csv").open(newline="", encoding="utf-8") as lines:
            rows = [r for r in csv.reader(lines, strict=True, skipinitialspace=True) if r]
    except csv.Error:
        return "unterminated quote"
    if any(len(row) != 2 for row in rows):
        return "Number of Columns"
    for score, label in rows[1:]:
        try:  # Python reads 1_000 and other digits than ours
            scores.append(float(score.encode("ascii").decode().replace("_", "x")))
        except ValueError:
            return "bad cell"
        labels.append(label)
    if not np.isfinite(scores).all() or any(map(is_missing, labels)):
        return "bad cell"
    return (scores, labels) if scores else "no rows of data"


def assert_same(folder: Path, text: str) -> None:
    found = read(folder, text)
    wanted = expected(folder)
    if isinstance(wanted, str) or isinstance(found, str):
        assert isinstance(wanted, str), found
        assert isinstance(found, str), wanted
        return
    np.testing.assert_array_equal(found.numbers["score"], wanted[0])
    words = found.words["labeled"]
    assert [words.values[code].strip() for code in words.codes] == [y.strip() for y in wanted[1]]


good = st.sampled_from(["0.5,1", "-1e-3,0", "7,1", "0.1000000000000000055511,0", ".5,1", "1.,0"])
odd = st.sampled_from(
    [
        *("", ",", "1", "1,0,3", "x,1", "1,", ",1", "nan,1", "inf,0", "1_0,1", " 1,0", "1, 0"),
        *('"1",0', '1,"a\nb"', '1,"a', '1"2,0', '1,"a"b', "1\r2,0", "1,\t0", "1,\x0b", "0x10,1"),
        *("1,é", "\u2028,1", "   ", "1\xa0,1", "٣,0", "1e999,0", '1, "a,b"', '""1"",0'),
    ]
)
end = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
header = st.sampled_from(["s,y\n", "\ns,y\r\n", '"s","y"\n', "s , y\n"])


@given(
    st.lists(st.tuples(st.one_of(good, good, good, odd), end), max_size=12), st.booleans(), header
)
def test_the_same_as_the_csv_module(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], last: bool, header: str
) -> None:
    text = header + "".join(row + end for row, end in rows)
    folder = tmp_path_factory.getbasetemp()
    assert_same(folder, text if last else text.rstrip("\r\n"))


@pytest.mark.parametrize(
    ("bad", "says"), [("bad,1", "row {} 'bad'"), ("bad\n", "Line: {}"), ("1,0,0", "Line: {}")]
)
@pytest.mark.parametrize("n", [0, 7, 5000])
def test_what_is_wrong_is_found_at_its_place(tmp_path: Path, n: int, bad: str, says: str) -> None:
    text = "s,y\n" + "1,0\n" * n + bad + "\n" + "1,0\n" * 3
    place = n + 1 if says.startswith("row") else n + 2
    assert says.format(place) in str(read(tmp_path, text))


def test_a_mixture_of_line_ends_and_a_long_field(tmp_path: Path) -> None:
    note = "long " * 1_000_000
    found = read(tmp_path, f"s,y,note\n1,0,a\r\n2,1,b\n3,0,{note}\n4,1,c\r")
    assert isinstance(found, Table), found
    assert found.numbers["score"].tolist() == [1, 2, 3, 4]
