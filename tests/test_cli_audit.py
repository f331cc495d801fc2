"""``purecover audit``: how many, which rows, and what the verdicts say."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.command_line import Result, call_main

import purecover
from purecover.audit import JudgedRows, combine, draw, plan

EXAMPLE = str(Path(purecover.__file__).parent / "data" / "example_scores.csv")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys, "audit")


@pytest.fixture(scope="module")
def example() -> purecover.example.ExampleScores:
    return purecover.load_example()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, answers: list[str]) -> Path:
    """The file with answers in its last column."""
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    filled = [f"{line}{word}" for line, word in zip(lines, answers, strict=True)]
    path.write_text("\n".join([head, *filled]) + "\n", encoding="utf-8")
    return path


def test_the_plan_is_that_of_the_library(run, example) -> None:
    result = run("plan", "--width", "0.05", "--json")
    assert result.json == {"n": plan(width=0.05), "width": 0.05}
    plain = run("plan", "--width", ".1")
    assert plain.out.startswith("judge 382 unlabeled rows drawn at random\n")
    given = ("--figure", "precision", "--review", "100", "--beta", "1", "-q")
    high = run("plan", "--width", ".2", "--scores", EXAMPLE, *given)
    data = example.scores, example.labeled
    expected = plan(*data, width=0.2, figure="precision", review=100, beta=1)
    assert high == (0, f"{expected}\n", "")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "--width"),
        (["--width", "0"], "--width must be"),
        (["--width", ".1", "--figure", "recall"], "--figure must be"),
        (["--width", ".1", "--beta", ".9"], "--beta must be left out where there are no scores"),
        (["--width", ".01", "--scores", EXAMPLE], "cannot expect a width of 0.01"),
    ],
)
def test_plans_that_cannot_be(run, argv, says) -> None:
    result = run("plan", *argv)
    assert result.code == 2
    assert says in result.err


def test_the_sample_shows_rows_without_scores_and_labels(run, example, tmp_path) -> None:
    out = tmp_path / "audit.csv"
    result = run("sample", EXAMPLE, "--n", "40", "--n-labeled", "9", "--out", out, "--seed", "4")
    assert (result.code, result.out) == (0, "")
    assert "40 of 326 unlabeled rows with score >= -1.12457 and 9 of 300 labeled" in result.err
    design = draw(example.scores, example.labeled, 40, n_labeled=9, random_state=4)
    drawn, original = rows_of(out), rows_of(Path(EXAMPLE))
    assert list(drawn[0]) == ["row", "design", "truth", "positive"]
    assert [int(row["row"]) - 1 for row in drawn] == design.rows.tolist()
    for row in drawn:
        assert row["truth"] == original[int(row["row"]) - 1]["truth"]
        assert row["positive"] == ""
    assert len({row["design"] for row in drawn}) == 1
    asked = run("sample", EXAMPLE, "--columns", "score,truth").out
    assert asked.startswith("row,design,score,truth,positive\n")
    every = run("sample", EXAMPLE, "--design", "random", "--n", "200", "--out", out)
    assert "200 of 1,497 unlabeled rows written" in every.err


def test_answers_are_not_written_over(run, tmp_path) -> None:
    out = tmp_path / "audit.csv"
    draw_rows = partial(run, "sample", EXAMPLE, "--n", "3", "--out", out)
    assert draw_rows().code == draw_rows().code == 0  # nobody has answered yet
    kept = fill(out, ["yes", "", "no"]).read_bytes()
    result = draw_rows()
    assert result.code == 2
    assert "holds 2 answers in column 'positive', which would be lost" in result.err
    assert out.read_bytes() == kept
    out.write_bytes(b"\xff\x00 something else")
    assert draw_rows().code == 0


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--n", "327"], "--n must be at most 326, the unlabeled rows there are with score"),
        (["--n", "1498", "--design", "random"], "--n must be at most 1497"),
        (["--n", "0"], "--n must be"),
        (["--n-labeled", "301"], "--n-labeled must be"),
        (["--design", "high"], "--design must be"),
        (["--threshold", "9", "--review", "9"], "--review must be left out"),
        (["--review", "0"], "--review must be"),
        (["--columns", "nane"], "no column named 'nane'"),
        (["--out", EXAMPLE], "would overwrite the data"),
        (["--out", "/no/such/place.csv"], "there is no directory"),
    ],
)
def test_samples_that_cannot_be(run, argv, says) -> None:
    result = run("sample", EXAMPLE, *argv)
    assert result.code == 2
    assert says in result.err


def test_columns_of_the_same_name_are_refused(run, tmp_path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("score,labeled,row\n" + "2,1,a\n1,0,b\n" * 9)
    result = run("sample", data, "--n", "3")
    assert result.code == 2
    assert "has a column 'row', and the file of the audit has one of its own" in result.err
    assert run("sample", data, "--n", "3", "--threshold", "0", "--columns", "score").code == 0


@pytest.fixture
def judged(run, tmp_path) -> Path:
    path = tmp_path / "audit.csv"
    run("sample", EXAMPLE, "--n", "20", "--n-labeled", "5", "--out", path)
    return path


def test_the_verdicts_make_the_report_of_the_library(run, example, judged) -> None:
    options = ("--scores", EXAMPLE, "--answer", "truth", "--review", "100")
    result = run("estimate", judged, *options, "--json")
    data = example.scores, example.labeled
    found = combine(JudgedRows.read_csv(judged, *data, answer="truth"), *data)
    assert result.json["audit"] == found.to_dict()
    assert 0.405 in found.alpha
    report = purecover.evaluate(*data, proportions=found, review=100)
    assert result.json["report"]["auc"] == report.auc
    assert result.json["source"]["columns"] == {"score": "score", "labeled": "labeled"}
    text = run("estimate", judged, *options).out
    assert text.startswith(str(found))
    assert "Scope: positives like the labeled ones" in text
    quiet = run("estimate", judged, *options, "-q")
    assert quiet == (0, f"{found.alpha.estimate!r}\n", "")
    clean = run("estimate", judged, *options, "--beta", "1", "--json").json
    assert clean["report"]["proportions"]["beta"] == 1


def test_skipped_rows_are_counted(run, judged) -> None:
    fill(judged, ["yes"] * 10 + ["no"] * 5 + [""] * 10)
    result = run("estimate", judged, "--scores", EXAMPLE)
    assert result.code == 0
    assert "10 rows were not judged" in result.err


@pytest.mark.parametrize(
    ("change", "argv", "code", "says"),
    [
        (lambda text: text, [], 2, "with a verdict on an unlabeled row"),
        (lambda text: text.replace("\n", "maybe\n", 1), [], 2, "no column"),
        (lambda text: re.sub(r"(?m),$", ",maybe", text), [], 2, "'maybe' in row 1 of column"),
        (lambda text: text, ["--answer", "x"], 2, "a column 'x'"),
        (lambda text: text.replace("top;", "some;"), [], 2, "as it was drawn"),
        (lambda text: text.replace("data=", "data=f"), [], 2, "other data"),
        (lambda text: re.sub(r"(?m),$", ",no", text), ["--beta", "1"], 1, "no alpha and beta"),
    ],
)
def test_answers_that_cannot_be(run, judged, change, argv, code, says) -> None:
    judged.write_text(change(judged.read_text(encoding="utf-8")), encoding="utf-8")
    result = run("estimate", judged, "--scores", EXAMPLE, *argv)
    assert result.code == code
    assert says.replace("no column", "must be one with a column 'positive'") in result.err


def test_verdicts_need_the_scores(run, judged) -> None:
    result = run("estimate", judged)
    assert result.code == 2
    assert "--scores" in result.err
