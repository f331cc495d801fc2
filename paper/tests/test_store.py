"""The store of the study: all or nothing, once, and never a foreign file."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from purecover.exceptions import InvalidInputError
from purecover_paper.cli import main
from purecover_paper.design import Cell, StudySettings
from purecover_paper.provenance import in_time, provenance, studies
from purecover_paper.store import Record, Store, _write

QUICK = StudySettings(n_networks=5)


def rows_of(cell: Cell, n: int = 3) -> list[Record]:
    """Rows that belong to the cell, with awkward numbers among them."""
    values = [1 / 3, math.inf, 5e-324, 1.0][:n]
    return [
        Record(cell.dataset, cell.beta, cell.repeat, "auc", f"m{i}", "true", "", value, None, 0.5)
        for i, value in enumerate(values)
    ]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results") as made:
        yield made


def test_what_is_added_comes_back_to_the_last_bit(store) -> None:
    cell = Cell("bank", 0.95, 3)
    assert store.add(cell, rows_of(cell), seconds=2.5)
    assert store.records() == rows_of(cell)
    assert store.done() == {cell.key}
    assert store.has(cell.key)
    with Store(store.path, read_only=True) as again:
        assert again.records() == rows_of(cell)


def test_a_cell_is_kept_once(store) -> None:
    cell = Cell("wine", 1.0, 0)
    assert store.add(cell, rows_of(cell), seconds=1)
    assert not store.add(cell, rows_of(cell, 2), seconds=9)
    assert store.records() == rows_of(cell)
    assert [kept.seconds for kept in store.cells()] == [1]


def test_scores_beside_the_rows(store) -> None:
    cell, bare = Cell("wine", 0.75, 1), Cell("wine", 0.75, 2)
    arrays = {"scores": np.linspace(0, 1, 7), "labeled": np.arange(7) < 3}
    store.add(cell, rows_of(cell), seconds=1, scores=arrays)
    store.add(bare, rows_of(bare), seconds=1)
    kept = store.scores(cell.key)
    assert kept.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(kept[name], array)
        assert kept[name].dtype == array.dtype
    assert store.scores(bare.key) is None


def test_merging_takes_over_what_is_missing(store, tmp_path) -> None:
    here, both, there = (Cell("wine", 1.0, repeat) for repeat in range(3))
    arrays = {"scores": np.arange(3.0)}
    for cell in (here, both):
        store.add(cell, rows_of(cell), seconds=1)
    with Store(tmp_path / "other") as other:
        for cell in (there, both):
            other.add(cell, rows_of(cell), seconds=7, scores=arrays)
        assert store.merge(other) == 1
        assert store.merge(tmp_path / "other") == 0
    assert store.merge(store) == 0
    assert store.records() == [row for cell in (here, both, there) for row in rows_of(cell)]
    assert [cell.seconds for cell in store.cells()] == [1, 1, 7]
    assert store.scores(both.key) is None
    np.testing.assert_array_equal(store.scores(there.key)["scores"], arrays["scores"])
    store.verify()


def files_of(store: Store, kind: str) -> list[Path]:
    return sorted(Path(store.path, "cells").glob(f"*.{kind}"))


@pytest.mark.parametrize("kind", ["cell", "scores"])
def test_a_bit_that_turned_is_found_by_everyone_who_reads(store, tmp_path, kind) -> None:
    cell = Cell("wine", 1.0, 0)
    store.add(cell, rows_of(cell), seconds=1, scores={"scores": np.arange(3.0)})
    store.verify()
    (file,) = files_of(store, kind)
    whole = file.read_bytes()
    readers = [store.verify, lambda: Store(tmp_path / "mine").merge(store)]
    readers += [store.records, store.cells] if kind == "cell" else [lambda: store.scores(cell.key)]
    for place in range(0, len(whole), 7):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        for read in readers:
            with pytest.raises(InvalidInputError, match=r"a damaged file|of layout"):
                read()
    file.write_bytes(whole[:-1])
    with pytest.raises(InvalidInputError, match=r"a damaged file.*\nHint: remove .*"):
        store.verify()
    assert Store(tmp_path / "mine").done() == set()
    file.write_bytes(whole)
    assert store.records() == rows_of(cell)


@pytest.mark.parametrize(
    "content",
    [
        b"\xc1",
        msgspec.msgpack.encode((("k", "wine", 1.0, 0, "{}", 1.0, {}, ""), [])),
        msgspec.msgpack.encode((("KEY", "wine", 1.0, 0, "{[", 1.0, {}, ""), [])),
        msgspec.msgpack.encode((("KEY", "wine", 1.0, 0, "{}", 1.0, {}, ""), [[1, 2]])),
    ],
)
def test_a_checksum_alone_makes_no_cell(store, content, capsys) -> None:
    """Whoever writes a file may compute its checksum, too."""
    cell = Cell("wine", 1.0, 0)
    store.add(cell, rows_of(cell), seconds=1, scores={"scores": np.arange(3.0)})
    (file,), (arrays,) = files_of(store, "cell"), files_of(store, "scores")
    _write(file, content.replace(b"\xa3KEY", b"\xd9\x40" + cell.key.encode()))
    for command in ("status", "report"):
        assert main([command, "--store", str(store.path)]) == 2
        assert "a damaged file, whose content cannot" in capsys.readouterr().err
    _write(arrays, content)
    with pytest.raises(InvalidInputError, match="a damaged file"):
        store.scores(cell.key)


def test_a_disk_that_is_full_leaves_nothing(store, monkeypatch) -> None:
    def full(_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.add(Cell("wine", 1.0, 0), [], seconds=1)
    assert list(Path(store.path, "cells").iterdir()) == []


def test_reading_makes_and_changes_nothing(store, tmp_path) -> None:
    with pytest.raises(InvalidInputError, match="which does not exist"):
        Store(tmp_path / "nowhere", read_only=True)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(InvalidInputError, match="'read_only' parameter"):
        Store(store.path, read_only=True).add(Cell("wine", 1.0, 0), [], seconds=1)


def test_studies_are_told_apart_by_their_settings(store) -> None:
    large = [Cell("wine", 1.0, repeat) for repeat in range(3)]
    small = Cell("wine", 1.0, 0, QUICK)
    store.add(small, rows_of(small), seconds=1, about={"numpy": "2"})
    for cell in large:
        store.add(cell, rows_of(cell), seconds=50, about={"numpy": str(min(cell.repeat, 1))})
    first, second = studies(store)
    assert (len(first.cells), len(second.cells)) == (3, 1)
    assert "networks 5" in str(second)
    assert len(store.records(settings=second.settings)) == 3
    found = provenance(first)
    assert found["Runs"] == "3"
    assert found["Networks"] == "100"
    assert found["Computing time"] == in_time(150) == "2 min"
    assert found["Runs made with"] == "numpy 1 (2 runs); numpy 0 (1 runs)"
    assert "Command" not in found


def test_markup_in_names_stays_text_in_markdown(store, tmp_path, capsys) -> None:
    """A store may come from anybody; whoever draws its Markdown must find no tag and no link."""
    evil = "<script>alert(1)</script>[x](javascript:alert(1))\x1b[31m|"
    for name in (evil, "bank"):
        cell = Cell(name, 1.0, 0)
        rows = [
            Record(name, 1.0, 0, metric, method, estimator, repair, 0.5, None, None)
            for metric in ("auc", "auc_pr", "alpha", "beta")
            for method in ("traditional", "same", "observed", "true", "estimate", "indirect")
            for estimator, repair in (("", ""), ("label-curve", "isotonic"), (evil, "isotonic"))
        ]
        store.add(cell, rows, seconds=1, about={evil: evil, "command": evil, "data": evil})
    file = tmp_path / "report.md"
    assert main(["report", "--store", str(store.path), "--markdown", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    assert "script>alert" in text
    assert not re.search(r"<script|\]\(javascript|\x1b", text)
    assert main(["status", "--store", str(store.path)]) == 0
    assert "\x1b" not in capsys.readouterr().out
