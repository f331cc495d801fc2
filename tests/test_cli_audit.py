"""``purecover audit``: how many, which rows, and what the answers tell."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import Result, call_main

import purecover
from purecover.audit.plan import plan_audit
from purecover.audit.posterior import alpha_from_audit, stratified_audit
from purecover.audit.top import top_audit, top_cut

TOP = "top: 5 of 9 unlabeled and 7 of 9 labeled rows have score >= 0.5"
EXAMPLE = str(Path(purecover.__file__).parent / "data" / "example_scores.csv")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys, "audit")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, answers: list[str]) -> Path:
    """The file with answers in its last column."""
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    filled = [f"{line}{word}" for line, word in zip(lines, answers, strict=True)]
    path.write_text("\n".join([head, *filled]) + "\n", encoding="utf-8")
    return path


# -- plan -------------------------------------------------------------------------------------


def test_the_plan_is_that_of_the_library(run) -> None:
    result = run("plan", "--width", "0.1", "--alpha-guess", "0.05,0.2", "--json")
    assert result.json == plan_audit(width=0.1, alpha_guess=(0.05, 0.2)).to_dict()
    plain = run("plan", "--width", ".1")
    assert plain.out.startswith("judge 382 random unlabeled examples\n")
    assert max(map(len, plain.out.splitlines())) <= 100
    quiet = run("plan", "--width", ".1", "--alpha-guess", "0.1", "--unlabeled", "900", "-q")
    expected = plan_audit(width=0.1, alpha_guess=0.1, n_unlabeled=900).n_items
    assert quiet == (0, f"{expected}\n", "")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "--width"),
        (["--width", ".1", "--design", "top"], "--design top needs --scores"),
        (["--width", ".1", "--beta", ".9"], "--beta needs --design top"),
    ],
)
def test_plans_that_cannot_be(run, argv, says) -> None:
    result = run("plan", *argv)
    assert result.code == 2
    assert says in result.err


# -- sample -----------------------------------------------------------------------------------


def test_the_sample_holds_random_unlabeled_rows_as_they_are(run, tmp_path) -> None:
    out = tmp_path / "audit.csv"
    result = run("sample", EXAMPLE, "--n", "300", "--out", out, "--seed", "4")
    assert (result.code, result.out) == (0, "")
    assert "300 of 1,497 unlabeled rows written" in result.err
    original, drawn = rows_of(Path(EXAMPLE)), rows_of(out)
    assert list(drawn[0]) == ["row", "score", "labeled", "truth", "positive"]
    numbers = [int(row["row"]) for row in drawn]
    assert len(set(numbers)) == 300
    assert numbers != sorted(numbers)  # whoever stops early leaves a random sample
    for number, row in zip(numbers, drawn, strict=True):
        there = original[number - 1]
        assert {name: row[name] for name in there} == there
        assert there["labeled"] == "0"
        assert row["positive"] == ""
    # Random in the score: the mean rank is that of all unlabeled rows.
    scores = np.array([float(row["score"]) for row in original if row["labeled"] == "0"])
    chosen = np.array([float(row["score"]) for row in drawn])
    rank = np.searchsorted(np.sort(scores), chosen).mean() / scores.size
    assert rank == pytest.approx(0.5, abs=0.05)


def test_answers_are_not_written_over(run, tmp_path) -> None:
    out = tmp_path / "audit.csv"
    draw = partial(run, "sample", EXAMPLE, "--n", "3", "--out", out)
    assert draw().code == draw().code == 0  # nobody has answered yet
    kept = fill(out, ["yes", "", "no"]).read_bytes()
    result = draw()
    assert result.code == 2
    assert "holds 2 answers in column 'positive', which would be lost" in result.err
    assert out.read_bytes() == kept
    out.write_bytes(b"\xff\x00 something else")
    assert draw().code == 0


def test_strata_get_equal_parts(run, tmp_path) -> None:
    out = tmp_path / "audit.csv"
    assert run("sample", EXAMPLE, "--n", "90", "--strata=-2,-1", "--out", out).code == 0
    drawn = rows_of(out)
    names = ["1: score >= -1", "2: -2 <= score < -1", "3: score < -2"]
    assert sorted({row["stratum"] for row in drawn}) == names
    for name in names:
        members = [row for row in drawn if row["stratum"] == name]
        assert len(members) == 30
        for row in members:
            score = float(row["score"])
            place = 1 + (score < -1) + (score < -2)
            assert name.startswith(f"{place}:")
    sizes = {row["stratum"]: int(row["stratum_size"]) for row in drawn}
    assert sum(sizes.values()) == 1497


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--n", "1498"], "--n must be at most 1,497"),
        (["--n", "0"], "--n must be a whole number of at least 1"),
        ([], "--n"),
        (["--n", "9", "--strata", "99"], "no unlabeled row with score >= 99"),
        (["--n", "1", "--strata", "-1"], "--n must be at least 2"),
        (["--n", "9", "--design", "top", "--strata", "9"], "--strata cannot be had"),
        (["--n", "9", "--beta", "1"], "--beta needs --design top"),
        (["--n", "9", "--design", "top", "--beta", ".9"], "--beta must be 1, or left out"),
        (["--n", "999", "--design", "top"], "--n must be at most 475"),
        (["--n", "9", "--columns", "nane"], "no column named 'nane'"),
        (["--n", "9", "--out", EXAMPLE], "would overwrite the data"),
    ],
)
def test_samples_that_cannot_be(run, argv, says) -> None:
    argv = [re.sub(r"^-1$", "-1.0", word) for word in argv]
    if "--strata" in argv:  # a value that begins with a minus needs the other spelling
        at = argv.index("--strata")
        argv[at : at + 2] = [f"--strata={argv[at + 1]}"]
    result = run("sample", EXAMPLE, *argv)
    assert result.code == 2
    assert says in result.err


# -- estimate ---------------------------------------------------------------------------------


@pytest.fixture
def audited(run, tmp_path) -> Path:
    path = tmp_path / "audit.csv"
    run("sample", EXAMPLE, "--n", "100", "--columns", "score", "--out", path)
    return fill(path, ["yes"] * 20 + ["1"] * 10 + ["No"] * 30 + ["0"] * 30 + [""] * 10)


def test_answers_are_counted(run, audited) -> None:
    result = run("estimate", audited)
    assert result.code == 0
    assert result.out == f"{alpha_from_audit(30, 90)}\n"
    assert "10 rows were not judged" in result.err
    document = run("estimate", audited, "--json", "--confidence-level", "0.8").json
    expected = alpha_from_audit(30, 90, confidence_level=0.8)
    assert document == {"audit": expected.to_dict(), "not_judged": 10}
    assert run("estimate", audited, "-q").out == f"{alpha_from_audit(30, 90).alpha.estimate!r}\n"
    finite = run("estimate", audited, "--unlabeled", "200", "--json").json["audit"]
    assert finite == alpha_from_audit(30, 90, n_unlabeled=200).to_dict()


def test_the_answers_of_strata(run, tmp_path) -> None:
    path = tmp_path / "audit.csv"
    run("sample", EXAMPLE, "--n", "150", "--strata=-1,-2", "--out", path)
    drawn = rows_of(path)
    document = run("estimate", path, "--answer", "truth", "--json").json
    names = sorted({row["stratum"] for row in drawn})
    members = [[row for row in drawn if row["stratum"] == name] for name in names]
    expected = stratified_audit(
        [int(rows[0]["stratum_size"]) for rows in members],
        [sum(row["truth"] == "1" for row in rows) for rows in members],
        [len(rows) for rows in members],
    )
    assert document["audit"] == expected.to_dict()
    assert document["strata"] == ["score >= -1", "-2 <= score < -1", "score < -2"]
    # The truth of the example is known.
    original = [row for row in rows_of(Path(EXAMPLE)) if row["labeled"] == "0"]
    above = [row["truth"] == "1" for row in original if float(row["score"]) >= -2]
    assert np.mean(above) in expected.precision[1]
    text = run("estimate", path, "--answer", "truth").out
    assert "unlabeled rows with score >= -1\n" in text
    assert "unlabeled rows with score >= -2\n" in text


def test_the_answers_at_the_top(run, tmp_path) -> None:
    """A sample of high scores is read back as the library would count it."""
    path = tmp_path / "audit.csv"
    result = run("sample", EXAMPLE, "--n", "30", "--design", "top", "--out", path)
    assert "30 of 1,497 unlabeled and 30 of 300 labeled rows written" in result.err
    example = purecover.load_example()
    counts = purecover.ScoreCounts.from_scores(example.scores, example.labeled)
    cut = top_cut(counts)
    drawn = rows_of(path)
    assert all(float(row["score"]) >= cut for row in drawn if row["labeled"] == "0")
    parts = [[], [], []]
    for row in drawn:
        place = 0 if row["labeled"] == "0" else 1 + (float(row["score"]) < cut)
        parts[place].append(row["truth"] == "1")
    (k, *hits), (n, *tries) = ([size(part) for part in parts] for size in (sum, len))
    expected = top_audit(counts, cut, k, n, labeled_positive=hits, labeled_audited=tries)
    document = run("estimate", path, "--answer", "truth", "--json").json
    assert document == {"audit": expected.to_dict(), "not_judged": 0}
    assert 0.405 in expected.alpha
    options = ("--answer", "truth", "--scores", EXAMPLE, "--resamples", "0", "--json")
    both = run("estimate", path, *options).json
    assert both["combined"]["intervals"]["alpha"]["low"] > expected.alpha.low
    run("sample", EXAMPLE, "--n", "30", "--design", "top", "--beta", "1", "--out", path)
    assert len(rows_of(path)) == 30
    assert run("estimate", path, *options).json["report"]["proportions"]["beta"] == 1
    plan = ("plan", "--width", ".2", "--design", "top", "--scores", EXAMPLE, "-q")
    assert int(run(*plan).out) < 40


def test_scores_and_audit_together(run, tmp_path) -> None:
    path = tmp_path / "audit.csv"
    run("sample", EXAMPLE, "--n", "200", "--out", path)
    options = ("--answer", "truth", "--scores", EXAMPLE, "--resamples", "5")
    document = run("estimate", path, *options, "--json").json
    both = document["combined"]
    assert not both["conflict"]
    assert document["report"]["proportions"]["alpha"] == both["proportions"]["alpha"]
    low, high = document["auc_over_alpha"]
    assert low < 0.951 < high  # the true AUC
    assert both["intervals"]["alpha"]["low"] < 0.405 < both["intervals"]["alpha"]["high"]
    text = run("estimate", path, *options).out
    for words in ("from the audit", "from both", "recovered", "over the interval of alpha"):
        assert words in text
    other = run("estimate", path, *options, "--beta", "1", "--json").json
    assert other["combined"]["proportions"]["beta"] == 1
    quiet = run("estimate", path, *options, "-q")
    assert quiet == (0, f"{both['intervals']['alpha']['estimate']!r}\n", "")


@pytest.mark.parametrize("options", [(), ("--json",), ("--quiet",)])
def test_answers_that_contradict_the_scores_end_with_1(run, tmp_path, options) -> None:
    path = tmp_path / "audit.csv"
    run("sample", EXAMPLE, "--n", "100", "--out", path)
    for positive, code in ((80, 1), (40, 0)):
        path.write_text("row,positive\n" + "1,yes\n" * positive + "2,no\n" * (100 - positive))
        said = run("estimate", path, "--scores", EXAMPLE, "--resamples", "0", *options)
        assert said.code == code
        assert ("contradict these scores" in said.err) == (code == 1)
        assert "clipped" not in said.err
        if "--json" in options:
            assert (said.json["auc_over_alpha"] is None) == (code == 1)
            assert (said.json["report"]["auc"] is None) == (code == 1)
        elif not options:
            assert ("the AUC goes from" in said.out) == (code == 0)


def test_answers_that_fit_no_alpha_end_with_1(run, tmp_path) -> None:
    path = tmp_path / "audit.csv"
    design = "top: 800 of 1000 unlabeled and 60 of 200 labeled rows have score >= 0.5"
    rows = f"1,{design},unlabeled above,yes\n" * 200
    path.write_text(f"row,design,stratum,positive\n{rows}")
    said = run("estimate", path)
    assert (said.code, said.out) == (1, "")
    assert "finds no alpha that fits the answers" in said.err


@pytest.mark.parametrize(
    ("content", "argv", "says"),
    [
        ("row,positive\n1,\n2,\n", [], "no answers in column 'positive'"),
        ("row,positive\n1,yes\n2,maybe\n", [], "says 'maybe' in column 'positive', row 2"),
        ("row,answer\n1,yes\n", [], "no column named 'positive'"),
        ("row,positive\n1,yes\n", ["--answer", "x"], "no column named 'x'"),
        ("row,positive\n1,yes\n", ["--beta", "1"], "--beta needs --scores"),
        ("stratum,stratum_size,positive\n1: a,9,yes\n2: b,9,\n", [], "no answer in stratum '2: b'"),
        ("stratum,stratum_size,positive\n1: a,9,yes\n3: b,9,no\n", [], "lacks a stratum"),
        ("stratum,stratum_size,positive\n1: a,9,yes\n1: a,8,no\n", [], "two sizes"),
        ("stratum,stratum_size,positive\nhigh,9,yes\n", [], "did not write"),
        ("stratum,stratum_size,positive\n1: a,9,yes\n", ["--n-unlabeled", "9"], "--n-unlabeled is"),
        ("design,stratum,positive\ntop,unlabeled above,yes\n", [], "did not write"),
        (f"design,stratum,positive\n{TOP},labeled above,yes\n", [], "for an unlabeled row"),
        (
            f"design,stratum,positive\n{TOP},unlabeled above,no\n{TOP},labeled above,\n",
            [],
            "for a labeled row",
        ),
        (f"design,stratum,positive\n{TOP},unlabeled above,no\n", ["--unlabeled", "9"], "is known"),
    ],
)
def test_answers_that_cannot_be(run, tmp_path, content, argv, says) -> None:
    path = tmp_path / "audit.csv"
    path.write_text(content, encoding="utf-8")
    result = run("estimate", path, *argv)
    assert result.code == 2
    assert says in result.err
