"""The command line, called in this process: what it prints, and the code it returns."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path

import pytest
from tests.command_line import Result, call_main

import purecover
from purecover import evaluate
from purecover.cli import main
from purecover.cli.options import OPTIONS
from purecover.documents.details import shell_text

EXAMPLE = str(Path(purecover.__file__).parent / "data" / "example_scores.csv")
ALPHA = ("--alpha", "0.4048")
QUICK = (*ALPHA, "--resamples", "0")
FEW = ("--resamples", "20")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys)


def write_sample(path: Path, rows: int = 60, **columns: Callable[[int], object]) -> Path:
    """A small file whose labeled rows score higher."""
    made = {
        "score": lambda i: f"{(i * 37 % 100) / 100 + (i % 4 == 0)}",
        "labeled": lambda i: int(i % 4 == 0),
    }
    made |= columns
    lines = [",".join(made)]
    lines += [",".join(str(make(i)) for make in made.values()) for i in range(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_help_lists_the_commands(run, import_tool) -> None:
    result = run("--help")
    assert result.code == 0
    assert set(import_tool("size").options()) == set(
        re.findall(r"^│ ([a-z][a-z-]*)", result.out, re.MULTILINE)
    )


def test_options_are_named_like_parameters() -> None:
    for call, names in {
        evaluate: "alpha sample_weight n_resamples",
        purecover.evaluate_many: "metrics n_jobs",
        purecover.compare_priors: "estimators beta",
        purecover.audit.plan: "width figure review",
    }.items():
        assert set(names.split()) <= set(signature(call).parameters) & set(OPTIONS)


def test_version(run) -> None:
    result = run("--version")
    assert (result.code, result.out.strip()) == (0, purecover.__version__)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["evaluate"], "FILE"),
        (["evaluate", EXAMPLE, "--alpha", "many"], "--alpha"),
        (["evaluate", EXAMPLE, "--unknown", "1"], "--unknown"),
        (["evaluate", EXAMPLE, EXAMPLE, *ALPHA], "different files, got"),
        (["evaluate", EXAMPLE, "/." + EXAMPLE, *ALPHA], "different files, got"),
        (["evaluate", EXAMPLE, *ALPHA, "--seed", "1.5"], "whole number"),
    ],
)
def test_bad_usage_exits_with_2(run, argv: list[str], says: str) -> None:
    result = run(*argv)
    assert result.code == 2
    assert says in result.err


def test_evaluate_prints_the_report(run) -> None:
    result = run("evaluate", EXAMPLE, "--truth", "truth", *QUICK)
    assert result.code == 0
    assert result.err == ""
    report = purecover.evaluate(
        *(columns := read_example())[:2], truth=columns[2], alpha=0.4048, n_resamples=0
    )
    assert result.out == f"{shell_text(report, EXAMPLE)}\n"
    assert re.search(r"observed +corrected .*true", result.out)
    details = run("evaluate", EXAMPLE, "--truth", "truth", *QUICK, "--details").out
    assert details == f"{shell_text(report, EXAMPLE, details=True)}\n"


def read_example() -> tuple[list[float], list[int], list[int]]:
    rows = [line.split(",") for line in Path(EXAMPLE).read_text(encoding="utf-8").split()[1:]]
    return [float(r[0]) for r in rows], [int(r[1]) for r in rows], [int(r[2]) for r in rows]


def test_evaluate_json_is_one_document_equal_to_the_library(run) -> None:
    options = ["--score", "score", "--labeled", "labeled", "--resamples", "50", "--seed", "3"]
    result = run("evaluate", EXAMPLE, *ALPHA, *options, "--json")
    scores, labeled, _ = read_example()
    report = purecover.evaluate(scores, labeled, alpha=0.4048, n_resamples=50, random_state=3)
    document = result.json
    assert document.pop("source") == {
        "file": EXAMPLE,
        "columns": {"score": "score", "labeled": "labeled"},
    }
    expected = json.loads(report.to_json())
    assert document.pop("checksum") != expected.pop("checksum")  # of the source as well
    assert document == expected


def test_evaluate_estimates_what_is_not_known(run) -> None:
    scores, labeled, _ = read_example()
    document = run("evaluate", EXAMPLE, *FEW, "--json").json
    assert document.pop("source")
    report = purecover.evaluate(scores, labeled, n_resamples=20)
    assert document | {"checksum": ""} == json.loads(report.to_json()) | {"checksum": ""}
    assert document["estimation"]["intervals"]["alpha"]["varied"] == "scores and proportions"


def test_a_refusal_says_that_alpha_is_estimated(run) -> None:
    refused = run("threshold", EXAMPLE, "--precision", "0.99999", *FEW)
    assert refused.code == 2
    assert "Alpha is estimated as 0." in refused.err
    assert "give --alpha if you know it" in refused.err
    known = run("threshold", EXAMPLE, *ALPHA, "--precision", "0.99999", *FEW)
    assert known.code == 2
    assert "is estimated" not in known.err


def test_checks_that_fail_a_command(run, tmp_path: Path) -> None:
    path = write_sample(tmp_path / "a.csv", score=lambda i: -(i % 4 == 0) * 5 + i / 100)
    options = ("evaluate", path, "--alpha", ".2", "--resamples", "0")
    document = run(*options, "--json").json
    fired = [c["code"] for c in document["checks"] if c["status"] == "fired"]
    assert "PU008" in fired
    assert run(*options).code == 0
    assert run(*options, "--strict").code == 1
    assert run(*options, "--strict", "--quiet").code == 1
    codes = {c["code"] for c in document["checks"] if c["severity"] != "note"} & set(fired)
    silent = [word for code in codes for word in ("--ignore-check", code)]
    assert run(*options, "--strict", *silent).code == 0
    assert run(*options, "--fail-on", "PU002,PU008").code == 1
    assert run(*options, "--fail-on", "PU001").code == 0


@pytest.mark.parametrize("header", ["S,Y", "y_score,label", "prediction,labelled"])
def test_obvious_names_are_found(run, tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n.9,1\n.8,0\n.5,1\n.1,0\n", encoding="utf-8")
    document = run("evaluate", path, "--alpha", "0", "--resamples", "0", "--json").json
    assert document["auc_pu"] == 0.75


def test_html_is_written_with_the_command_on_it(run, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    result = run("evaluate", EXAMPLE, *QUICK, "--html", page, "--quiet")
    assert result == (0, "", "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert f"purecover evaluate {EXAMPLE} --alpha 0.4048" in text
    assert list(tmp_path.iterdir()) == [page]


def test_html_path_is_checked_before_the_data_are_read(run, tmp_path: Path) -> None:
    missing = tmp_path / "no" / "out.html"
    result = run("evaluate", tmp_path / "no.csv", *QUICK, "--html", missing)
    assert result.code == 2
    assert "no directory" in result.err
    for path in (tmp_path, tmp_path / "page.html.gz"):
        result = run("evaluate", EXAMPLE, *QUICK, "--html", path)
        assert result.code == 2
        assert "must name a file" in result.err


def test_html_does_not_overwrite_the_data(run, tmp_path: Path) -> None:
    path = write_sample(tmp_path / "a.csv")
    before = path.read_bytes()
    result = run("evaluate", path, *QUICK, "--html", path)
    assert result.code == 2
    assert path.read_bytes() == before


def test_a_failure_leaves_the_old_page_and_no_debris(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "out.html"
    page.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    result = run("evaluate", EXAMPLE, *QUICK, "--html", page)
    assert result.code == 2
    assert "No space left" in result.err
    assert page.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [page]


WISHES = [("precision", "0.8"), ("recall", "0.8"), ("best", "MCC")]


@pytest.mark.parametrize("shares", [ALPHA, ("--estimator", "bbe")])
@pytest.mark.parametrize(("name", "wish"), WISHES)
def test_threshold_and_evaluate_have_one_estimate(
    run, name: str, wish: str, shares: tuple[str, ...]
) -> None:
    same = (EXAMPLE, *shares, *FEW, "--json")
    chosen = run("threshold", *same, f"--{name}", wish).json
    report = run("evaluate", *same, "--threshold", repr(chosen["threshold"])).json
    metrics = chosen["metrics"]["recovered"]
    assert metrics == {key: report["metrics"]["recovered"][key] for key in metrics}
    fired = {check["code"] for check in chosen["checks"] if check["status"] == "fired"}
    if name == "best":
        # Figures to expect are less, since replicates choose again; so are counts and intervals.
        assert "PU016" not in fired
        assert chosen["optimism"][0] > 0
        assert chosen["expected"][wish.lower()] < metrics[wish.lower()]
        assert chosen["confusion"]["tp"] < report["confusion"]["tp"]
        assert chosen["interval"]["estimate"] == chosen["expected"][wish.lower()]
        return
    assert "PU016" in fired
    assert chosen["optimism"] is None
    assert chosen["expected"] == metrics
    assert chosen["confusion"] == report["confusion"]
    for key in ("precision", "recall"):
        assert chosen["intervals"][key] == report["intervals"][key]


def test_threshold_prints_text_and_quiet_prints_the_number_alone(run) -> None:
    text = run("threshold", EXAMPLE, *ALPHA, "--best", "f1").out
    assert text.startswith("score >= ")
    for argv, says in (
        ([], "exactly one of"),
        (["--precision", ".9", "--best", "f1"], "--precision, --best"),
        (["--precision", ".9999"], "--precision must be attainable"),
        (["--best", "Recall"], "such as --recall 0.9"),
    ):
        assert says in run("threshold", EXAMPLE, *ALPHA, *argv).err
    quiet = run("threshold", EXAMPLE, *ALPHA, "--best", "f1", "-q").out
    assert (
        float(quiet)
        == run("threshold", EXAMPLE, *ALPHA, "--best", "f1", "--json").json["threshold"]
    )


def raise_it(error: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_ctrl_c_is_130(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purecover.cli.rows.read_rows", raise_it(KeyboardInterrupt()))
    result = run("threshold", EXAMPLE, *ALPHA, "--best", "f1")
    assert (result.code, result.out) == (130, "")


def test_a_reader_that_left_is_141(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purecover.cli.rows.read_rows", raise_it(BrokenPipeError()))
    monkeypatch.setattr("purecover.cli.shell._forget_stdout", lambda: None)
    assert run("threshold", EXAMPLE, *ALPHA, "--best", "f1").code == 141


def test_a_bug_is_called_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("purecover.cli.rows.read_rows", raise_it(ZeroDivisionError("oops")))
    argv = ["threshold", EXAMPLE, *ALPHA, "--best", "f1"]
    monkeypatch.delenv("PURECOVER_TRACEBACK", raising=False)
    assert main(argv) == 2
    assert "internal error, ZeroDivisionError: oops" in capsys.readouterr().err
    monkeypatch.setenv("PURECOVER_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(argv)


def test_progress_is_shown_on_a_terminal_only(run, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("priors", EXAMPLE, "--estimators", "bbe,roc-slope", "--resamples", "0", "--json")
    assert run(*options).err == ""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("purecover._progress.PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    shown = run(*options)
    assert "purecover" in shown.err
    assert len(shown.json["estimators"]) == 2
    assert run(*options, "--quiet").err == ""


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (("evaluate", "--html", "page.html"), ()),
        (("evaluate-many",), ("--quiet",)),
        (("threshold", "--best=f1"), ("--json",)),
        (("monitor", "state.json"), ()),
        (("evidence",), ("--json",)),
    ],
)
def test_what_contradicts_the_scores_ends_with_1(
    run,
    command: tuple[str, ...],
    options: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    state = command[1:] if command[0] == "monitor" else ()
    more = () if state else command[1:]
    result = run(command[0], *state, EXAMPLE, *more, "--alpha", "0.6", *options)
    assert result.code == 1
    assert result.err.count("contradict") == 1
    assert "error" not in result.err
    assert "1.0000" not in result.out


@pytest.mark.parametrize("command", [(), ("evaluate",), ("threshold",), ("monitor",)])
def test_every_help_says_what_exit_codes_mean(run, command: tuple[str, ...]) -> None:
    shown = " ".join(run(*command, "--help").out.split())
    assert shown.count("Exit codes: 0 all is well; 1 what was given contradicts") == 1


def test_what_contradicts_the_scores_is_null_in_json(run) -> None:
    document = json.loads(run("evaluate", EXAMPLE, "--alpha", "0.6", *FEW, "--json").out)
    assert document["contradicted"] is True
    assert document["auc"] is None
    assert document["auc_pu"] > 0.7
    chosen = run("threshold", EXAMPLE, "--alpha", "0.6", "--best", "f1", *FEW, "--json").json
    for name in ("threshold", "metrics", "expected", "intervals", "confusion", "optimism"):
        assert chosen[name] is None
