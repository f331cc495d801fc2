"""``purecover audit``: how many, which rows, and what the verdicts say."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.command_line import Result, call_main

import purecover
from purecover.audit import JudgedRows, draw, plan

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


def test_the_sample_shows_rows_without_scores_and_labels(run, example, tmp_path) -> None:
    out = tmp_path / "audit.csv"
    result = run("sample", EXAMPLE, "--n", "40", "--n-labeled", "9", "--out", out, "--seed", "4")
    assert (result.code, result.out) == (0, "")
    assert "40 of 326 unlabeled rows with score >= -1.12457 and 9 of 75 labeled" in result.err
    assert "rows with score < -1.53368 written" in result.err
    design = draw(example.scores, example.labeled, 40, n_labeled=9, random_state=4)
    drawn, original = rows_of(out), rows_of(Path(EXAMPLE))
    assert list(drawn[0]) == ["row", "design", "truth", "positive"]
    assert [int(row["row"]) - 1 for row in drawn] == design.rows.tolist()
    for row in drawn:
        assert row["truth"] == original[int(row["row"]) - 1]["truth"]
        assert row["positive"] == ""
    assert len({row["design"].partition(";row=")[0] for row in drawn}) == 1
    asked = run("sample", EXAMPLE, "--columns", "score,truth").out
    assert asked.startswith("row,design,score,truth,positive\n")
    every = run("sample", EXAMPLE, "--design", "random", "--n", "200", "--out", out)
    assert "200 of 1,497 unlabeled rows written" in every.err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--threshold", "99"], "--threshold must be a score that unlabeled rows reach"),
        (["--threshold", "9", "--review", "9"], "--review must be left out"),
        (["--columns", "nane"], "no column named 'nane'"),
        (["--out", EXAMPLE], "would overwrite the data"),
        (["--out", "/no/such/place.csv"], "there is no directory"),
    ],
)
def test_samples_that_cannot_be(run, argv, says) -> None:
    result = run("sample", EXAMPLE, *argv)
    assert result.code == 2
    assert says in result.err


def test_columns_called_like_those_of_the_audit_have_other_names(run, tmp_path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("score,labeled,row\n" + "2,1,a\n1,0,b\n" * 9)
    result = run("sample", data, "--n", "3", "--threshold", "0")
    assert result.out.startswith("row,design,row (data),positive\n")
    assert result.out.count(",b,") == 3


@pytest.fixture
def judged(run, tmp_path) -> Path:
    path = tmp_path / "audit.csv"
    run("sample", EXAMPLE, "--n", "20", "--n-labeled", "5", "--out", path)
    return path


def test_the_verdicts_make_the_report_of_the_library(capsys, example, judged) -> None:
    data = example.scores, example.labeled
    found = JudgedRows.read_csv(judged, *data, answer="truth")
    report = purecover.evaluate(*data, judged=found, review=100, n_resamples=50)
    command = ("evaluate", EXAMPLE, f"--judged={judged}:truth", "--review=100", "--n-resamples=50")
    result = call_main(capsys, *command, "--json")
    assert result.json["auc"] == report.auc
    assert result.json["intervals"] == json.loads(report.to_json())["intervals"]
    assert 0.405 in report.intervals["alpha"]
    clean = call_main(capsys, *command, "--beta=1", "--json").json
    assert clean["proportions"]["beta"] == 1


def test_skipped_rows_are_said(capsys, judged) -> None:
    fill(judged, ["yes"] * 10 + ["no"] * 5 + [""] * 10)
    result = call_main(capsys, "evaluate", EXAMPLE, f"--judged={judged}", "--json")
    assert result.code == 0
    assert "no verdict on 10 drawn rows" in result.err
    (check,) = (each for each in result.json["checks"] if each["code"] == "PU012")
    assert "have no verdict: alpha is" in check["message"]


def test_answers_are_found_beside_the_file_and_known_in_another_order(capsys, tmp_path) -> None:
    lines = Path(EXAMPLE).read_text(encoding="utf-8").splitlines(keepends=True)
    data = tmp_path / "scores.csv"
    data.write_text("".join(lines), encoding="utf-8")
    missing = call_main(capsys, "evaluate", data, "--judged")
    assert (missing.code, "scores.judged.csv" in missing.err) == (2, True)
    drawn = call_main(capsys, "audit", "sample", data, "--out", tmp_path / "scores.judged.csv")
    assert drawn.code == 0
    fill(tmp_path / "scores.judged.csv", ["yes"] * 10)
    assert call_main(capsys, "evaluate", data, "--judged", "--n-resamples=0").code == 0
    data.write_text("".join([lines[0], *lines[:0:-1]]), encoding="utf-8")
    turned = call_main(capsys, "evaluate", data, "--judged")
    assert (turned.code, "in another order" in turned.err) == (2, True)
    data.write_text("".join(lines[:-1]), encoding="utf-8")
    assert "rows have changed" in call_main(capsys, "evaluate", data, "--judged").err


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.02..0.1", (0.02, 0.1)), ("<= 0.1", (0.0, 0.1)), (">=0.2", (0.2, 1.0)), ("0.3", 0.3)],
)
def test_ranges_of_shares(capsys, example, text, value) -> None:
    told = {"n_resamples": 0}
    expected = purecover.evaluate(example.scores, example.labeled, alpha=value, **told)
    found = call_main(capsys, "evaluate", EXAMPLE, "--alpha", text, "--n-resamples=0", "--json")
    assert found.json["proportions"]["alpha"] == expected.proportions.alpha


def test_a_range_that_the_scores_contradict_is_refused_with_the_alphas_that_fit(capsys) -> None:
    found = call_main(capsys, "evaluate", EXAMPLE, "--alpha=0.9..0.95")
    assert found.code == 1
    assert "the scores allow alpha between 0" in found.err
