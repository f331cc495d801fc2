"""Plain text is split at the delimiter; whatever the csv module would say of it is said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purecover.cli import _csv
from purecover.cli._columns import Request, Table
from purecover.cli._messages import CommandError

REQUEST = Request(numbers={"score": "s"}, words={"labeled": "y"})


def lines_of(text: str) -> Iterator[str]:
    """Lines with their ends, as a text file opened with newline="" gives them."""
    line = ""
    for i, character in enumerate(text):
        line += character
        if character == "\n" or (character == "\r" and text[i + 1 : i + 2] != "\n"):
            yield line
            line = ""
    if line:
        yield line


def read(text: str, chunk: int, *, plainly: bool) -> Table | str:
    """What is read, or the complaint."""
    careful = mock.patch.object(_csv, "_plain_cells", return_value=None)
    with mock.patch.object(_csv, "CHUNK", chunk), nullcontext() if plainly else careful:
        try:
            return _csv.read_csv(
                "f.csv",
                lines_of(text),
                lambda _: REQUEST,
                delimiter=",",
                asked=frozenset(),
                tick=lambda: None,
            )
        except CommandError as error:
            return str(error)


def assert_same(text: str, chunk: int) -> None:
    plain, careful = (read(text, chunk, plainly=plainly) for plainly in (True, False))
    if isinstance(plain, str) or isinstance(careful, str):
        assert plain == careful
        return
    assert plain.n_rows == careful.n_rows
    np.testing.assert_array_equal(plain.numbers["score"], careful.numbers["score"])
    np.testing.assert_array_equal(plain.words["labeled"].codes, careful.words["labeled"].codes)
    assert plain.words["labeled"].values == careful.words["labeled"].values


good = st.sampled_from(["0.5,1", "-1e-3,0", "7,1", "0.1000000000000000055511,0"])
odd = st.sampled_from(
    [
        *("", ",", "1", "1,0,3", "x,1", "1,", ",1", "nan,1", "inf,0", "1_0,1", " 1,0", "1, 0"),
        *('"1",0', '1,"a\nb"', '1,"a', '1"2,0', '1,"a"b', "1\r2,0", "1,\t0", "\x00,1", "1,\x0b"),
        *("1,é", "\u2028,1", "   "),
    ]
)
end = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@given(
    st.lists(st.tuples(st.one_of(good, good, good, odd), end), max_size=12),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from(["s,y\n", "\ns,y\r\n", '"s","y"\n', "s , y\n"]),
)
def test_the_same_as_the_csv_module(
    rows: list[tuple[str, str]], chunk: int, last: bool, header: str
) -> None:
    text = header + "".join(row + end for row, end in rows)
    assert_same(text if last else text.rstrip("\r\n"), chunk)


@given(st.integers(1, 40), st.integers(0, 39), odd, st.integers(1, 7))
def test_line_numbers_after_plain_rows(n: int, at: int, bad: str, chunk: int) -> None:
    rows = ["0.5,1"] * n
    rows.insert(min(at, n), bad)
    assert_same("s,y\n" + "\n".join(rows) + "\n", chunk)


def test_a_bad_cell_is_found_at_its_line() -> None:
    text = "s,y\n" + "1,0\n" * 7 + "bad,1\n" + "1,0\n" * 3
    assert "line 9 'bad' is not a number" in str(read(text, 4, plainly=True))


def test_plain_rows_never_meet_the_csv_module(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Any] = []
    take = _csv._Rows.take

    def spy(rows: _csv._Rows) -> list[list[str]]:
        found = take(rows)
        taken.extend(found)
        return found

    monkeypatch.setattr(_csv._Rows, "take", spy)
    table = read("s,y\r\n" + "1,0\r\n2,1\r\n" * 10, 4, plainly=True)
    assert isinstance(table, Table)
    assert table.n_rows == 20
    assert taken == []


@pytest.mark.parametrize("text", ["s\n1\n\n2\n", "s\n\n"])
def test_blank_lines_of_a_single_column_are_no_rows(text: str) -> None:
    assert _csv._plain_cells(list(lines_of(text))[1:], ",", 1) is None


def test_long_chunks_are_left_to_the_csv_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which knows its limit of the length of a field."""
    monkeypatch.setattr(_csv, "MAX_FIELD", 1000)
    text = "s,y\n" + f"1,{'a' * 2000}\n"
    assert "field larger than field limit" in str(read(text, 4, plainly=True))
