"""Blank labels, commas in numbers and JSON arrays: read where asked, explained where not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from purecover.cli import main

SCORES = [((i * 37) % 101) / 100 + (i % 4 == 0) / 3 for i in range(40)]
LABELED = [int(i % 4 == 0) for i in range(40)]
MISSING = "--missing-is-unlabeled"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[Any, str]]:
    """The JSON document of a good file (None for a bad one), and what stands on stderr."""

    def call(path: Path, *options: str) -> tuple[Any, str]:
        argv = ["evaluate", str(path), "--alpha", "0.1", "--resamples", "0", *options]
        code = main([*argv, "--json"])
        out, err = capsys.readouterr()
        assert "internal error" not in err
        assert code in (0, 2)
        return (json.loads(out) if code == 0 else None), err

    return call


def write(path: Path, labels: list[object], *, header: str = "score,labeled") -> Path:
    rows = [f"{s},{y}" for s, y in zip(SCORES, labels, strict=True)]
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def sizes(document: Any) -> tuple[int, int, int]:
    return document["n_labeled"], document["n_unlabeled"], document["n_negative"] or 0


def test_labels_are_no_scores(run, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", LABELED)
    document, err = run(path, "--score", "labeled", "--labeled", "labeled")
    assert document is None
    assert "--score and --labeled both name the column 'labeled'" in err


@pytest.mark.parametrize("blank", ["", " ", "N/A"])
def test_blank_labels_are_refused_with_the_way_out(run, tmp_path: Path, blank: str) -> None:
    path = write(tmp_path / "a.csv", [y or blank for y in LABELED])
    document, err = run(path)
    assert document is None
    assert "30 bad cells in column 'labeled'" in err
    assert err.endswith("Hint: if blank means unlabeled, add --missing-is-unlabeled.\n")
    assert "remove" not in err


@pytest.mark.parametrize("blank", ["", "NA", "null"])
def test_blank_labels_count_as_unlabeled_when_told(run, tmp_path: Path, blank: str) -> None:
    expected, _ = run(write(tmp_path / "b.csv", list(LABELED)))
    document, err = run(write(tmp_path / "a.csv", [y or blank for y in LABELED]), MISSING)
    assert document["metrics"] == expected["metrics"]
    assert sizes(document) == (10, 30, 0)
    assert document["source"]["blank_labels"] == 30
    assert "blank_labels" not in expected["source"]
    assert err == "purecover: 30 blank labels count as unlabeled\n"


THIRDS = ["yes", "", "no", ""]


@pytest.mark.parametrize(
    ("labels", "options", "expected"),
    [
        # One word beside blanks.
        (["yes", "", "", ""], (), (10, 30, 0)),
        (["case", "", "", ""], ("--positive-label", "case"), (10, 30, 0)),
        (["7", "", "", ""], ("--positive-label", "7"), (10, 30, 0)),
        # 0 means unlabeled in numbers, as it does without blanks; words need to be told.
        (["1", "", "0", "NA"], (), (10, 30, 0)),
        (["1", "", "0", "NA"], ("--negative-label", "0"), (10, 20, 10)),
        (["1", "", "-1", ""], ("--negative-label", "-1"), (10, 20, 10)),
        (THIRDS, ("--positive-label", "yes"), (10, 30, 0)),
        (THIRDS, ("--positive-label", "yes", "--negative-label", "no"), (10, 20, 10)),
        (THIRDS, ("--negative-label", "no"), (10, 20, 10)),
        (["yes", "", "unlabeled", ""], (), (10, 30, 0)),
    ],
)
def test_what_blanks_stand_beside(
    run, tmp_path: Path, labels: list[str], options: tuple[str, ...], expected: tuple[int, ...]
) -> None:
    path = write(tmp_path / "a.csv", [labels[i % 4] for i in range(40)])
    document, err = run(path, MISSING, *options)
    assert document is not None, err
    assert sizes(document) == expected


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["", "", "", ""], "blank everywhere"),
        (["0", "", "", ""], "only one of them"),
        (["1", "", "-1", ""], "--negative-label=-1"),
        (THIRDS, "--negative-label"),
        (["case", "", "", ""], "positive_label"),
    ],
)
def test_blanks_that_leave_doubt_are_refused(
    run, tmp_path: Path, labels: list[str], says: str
) -> None:
    path = write(tmp_path / "a.csv", [labels[i % 4] for i in range(40)])
    document, err = run(path, MISSING)
    assert document is None
    assert says in err


def test_other_columns_may_not_be_blank(run, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", [y or "" for y in LABELED])
    path.write_text(path.read_text(encoding="utf-8").replace("0.37,", ","), encoding="utf-8")
    document, err = run(path, MISSING)
    assert document is None
    assert "1 bad cell in column 'score'" in err
    assert "never drops rows" in err
    _, err = run(path)
    assert "in column 'labeled'" in err
    assert "add --missing-is-unlabeled. purecover never drops rows" in err


def test_missing_keys_and_nulls_of_json_lines(run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    records: list[dict[str, Any]] = [
        {"score": s} if i % 3 else {"score": s, "labeled": None} for i, s in enumerate(SCORES)
    ]
    for i, record in enumerate(records):
        if LABELED[i]:
            record["labeled"] = True
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    document, _ = run(path, "--labeled", "labeled", MISSING)
    assert sizes(document) == (10, 30, 0)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "noext"])
@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_objects(run, tmp_path: Path, name: str, indent: int | None) -> None:
    records = [{"score": s, "labeled": y} for s, y in zip(SCORES, LABELED, strict=True)]
    path = tmp_path / name
    path.write_text("\n " + json.dumps(records, indent=indent), encoding="utf-8")
    expected, _ = run(write(tmp_path / "b.csv", list(LABELED)))
    document, err = run(path)
    assert document is not None, err
    assert document["metrics"] == expected["metrics"]
