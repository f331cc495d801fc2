"""The command line, called in this process: what it prints, and the code it returns."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path

import duckdb
import pytest
from tests.command_line import Result, call_main

import purecover
from purecover import evaluate
from purecover.cli import main
from purecover.cli.options import OPTIONS, count_options
from purecover.cli.shell import app
from purecover.report.text import shell_text

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


# -- the front door ---------------------------------------------------------------------------


def test_help_lists_the_commands(run) -> None:
    result = run("--help")
    assert result.code == 0
    assert set(count_options(app)) == set(
        re.findall(r"^│ ([a-z][a-z-]*)", result.out, re.MULTILINE)
    )


def test_options_are_few_and_named_like_parameters() -> None:
    assert sum(count_options(app).values()) <= 150
    for call, names in {
        evaluate: "alpha sample_weight n_resamples",
        purecover.evaluate_many: "min_rows metrics n_jobs",
        purecover.compare_priors: "estimators beta",
        purecover.audit.plan_audit: "width alpha_guess n_unlabeled",
    }.items():
        assert set(names.split()) <= set(signature(call).parameters) & set(OPTIONS)


def test_no_argument_shows_help(run) -> None:
    result = run()
    assert (result.code, "evaluate" in result.out) == (0, True)


def test_version(run) -> None:
    result = run("--version")
    assert (result.code, result.out.strip()) == (0, purecover.__version__)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["evalute"], "evalute"),
        (["evaluate"], "FILE"),
        (["evaluate", EXAMPLE, "--alpha", "many"], "--alpha"),
        (["evaluate", EXAMPLE, "--alpha"], "--alpha"),
        (["evaluate", EXAMPLE, "--unknown", "1"], "--unknown"),
        (["evaluate", EXAMPLE, EXAMPLE, *ALPHA], "given twice"),
        (["evaluate", EXAMPLE, "/." + EXAMPLE, *ALPHA], "given twice"),
        (["evaluate", EXAMPLE, *ALPHA, "--seed", "1.5"], "whole number"),
        (["evaluate", EXAMPLE, *ALPHA, "--resamples", "2.7"], "whole number"),
    ],
)
def test_bad_usage_exits_with_2(run, argv: list[str], says: str) -> None:
    result = run(*argv)
    assert result.code == 2
    assert says in result.err


# -- evaluate ---------------------------------------------------------------------------------


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


def test_evaluate_takes_the_name_of_an_estimator_and_a_beta(run) -> None:
    common = ("evaluate", EXAMPLE, "--resamples", "0", "--json", "--estimator", "bbe")
    document = run(*common).json
    assert document["proportions"]["origin"] == "NoisyLabels(BBE)"
    known = run(*common, "--beta", "0.8", "--scenario", "censoring").json
    assert known["proportions"]["alpha"] == pytest.approx(0.8 * document["proportions"]["alpha"])
    assert known["proportions"]["scenario"] == "censoring"
    unknown = run("evaluate", EXAMPLE, "--estimator", "bbx")
    assert unknown.code == 2
    assert "--estimator must be one of" in unknown.err
    assert "did you mean 'bbe'?" in unknown.err
    both = run("evaluate", EXAMPLE, *ALPHA, "--estimator", "bbe")
    assert both.code == 2
    assert "--estimator must be left out where 'alpha' is given" in both.err


def test_threshold_estimates_what_is_not_known(run) -> None:
    asked = ("threshold", EXAMPLE, "--precision", "0.5", *FEW)
    document = run(*asked, "--json").json
    report = run("evaluate", EXAMPLE, *FEW, "--json").json
    assert document["proportions"] == report["proportions"]
    estimation = document["estimation"]
    assert estimation["intervals"] == report["estimation"]["intervals"]
    known = run("threshold", EXAMPLE, *ALPHA, "--precision", "0.8", *FEW, "--json").json
    assert known["estimation"] is None
    # Every replicate estimates again, which a known alpha does not.
    assert document["interval"]["varied"] == "scores and proportions"
    assert known["interval"]["varied"] == "scores"


@pytest.mark.parametrize("estimator", [(), ("--estimator", "label-curve")])
def test_a_refusal_says_that_it_rests_on_estimates(run, estimator: tuple[str, ...]) -> None:
    path, asked = EXAMPLE, ("--precision", "0.99999", *FEW)
    refused = run("threshold", path, *estimator, *asked)
    assert refused.code == 2
    found = run("evaluate", path, *estimator, *FEW, "--json").json
    words = "estimates" if estimator else "estimated from comparable data"
    alpha, beta = found["proportions"]["alpha"], found["proportions"]["beta"]
    ends = found["estimation"]["intervals"]["alpha"]
    said = f"rests on alpha {alpha:.3f} [{ends['low']:.3f}, {ends['high']:.3f}], beta {beta:.3f} ["
    assert said in refused.err
    assert f"which are {words}: within the interval of alpha it runs from " in refused.err
    assert "give --alpha" in refused.err
    assert "purecover audit sample" in refused.err
    # The ends of that range are what is refused, or not, with alpha as the ends of its interval.
    low, high = map(float, re.findall(r"runs from ([\d.]+) to ([\d.]+)\.", refused.err)[0])
    for end, reached in zip(("low", "high"), (low, high), strict=True):
        shares = ("--alpha", repr(ends[end]), "--beta", repr(beta), "--resamples", "0")
        assert run("threshold", path, *shares, "--precision", f"{reached - 0.001}").code != 2
        if reached < 0.99:
            assert run("threshold", path, *shares, "--precision", f"{reached + 0.001}").code == 2
    known = run("threshold", path, *ALPHA, *asked)
    assert known.code == 2
    assert "rests on" not in known.err


def test_positive_label_that_is_not_there_lists_the_values(run, tmp_path: Path) -> None:
    path = write_sample(tmp_path / "a.csv", labeled=lambda i: "ab"[i % 2])
    result = run("evaluate", path, *QUICK, "--positive-label", "c")
    assert result.code == 2
    assert "'a', 'b'" in result.err
    assert run("evaluate", path, *QUICK, "--positive-label", "a", "--json").json["n_labeled"] == 30


def test_strict_turns_an_error_of_a_check_into_1(run, tmp_path: Path) -> None:
    path = write_sample(tmp_path / "a.csv", score=lambda i: -(i % 4 == 0) * 5 + i / 100)
    options = ("evaluate", path, "--alpha", ".2", "--resamples", "0")
    document = run(*options, "--json").json
    fired = [c["code"] for c in document["checks"] if c["status"] == "fired"]
    assert "PU008" in fired
    assert run(*options).code == 0
    assert run(*options, "--strict").code == 1
    assert run(*options, "--strict", "--quiet").code == 1
    assert run(*options, "--strict", "--ignore-check", "PU008").code == 0


def test_a_warning_is_a_line_on_stderr_and_quiet_silences_it(run, tmp_path: Path) -> None:
    path = write_sample(tmp_path / "a.parquet.csv")
    path = tmp_path / "a.parquet"
    duckdb.read_csv(str(tmp_path / "a.parquet.csv")).write_parquet(str(path))
    options = ("evaluate", f"file://{path}", "--alpha", "0", "--resamples", "0", "--engine=polars")
    assert run(*options).err.startswith("purecover: warning: polars reads ")
    assert run(*options, "--quiet") == (0, "", "")


# -- columns ----------------------------------------------------------------------------------


def test_wrong_column_lists_the_columns(run) -> None:
    result = run("evaluate", EXAMPLE, *QUICK, "--score", "scroe")
    assert result.code == 2
    assert "'scroe'" in result.err
    assert "'score', 'labeled', 'truth'" in result.err


@pytest.mark.parametrize("header", ["S,Y", "y_score,label", "prediction,labelled"])
def test_obvious_names_are_found(run, tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n.9,1\n.8,0\n.5,1\n.1,0\n", encoding="utf-8")
    document = run("evaluate", path, "--alpha", "0", "--resamples", "0", "--json").json
    assert document["auc_pu"] == 0.75


# -- html and files ---------------------------------------------------------------------------


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
    result = run("evaluate", EXAMPLE, *QUICK, "--html", tmp_path)
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


# -- threshold --------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["precision", "recall"])
def test_threshold_reaches_what_was_asked(run, criterion: str) -> None:
    document = run("threshold", EXAMPLE, *ALPHA, f"--{criterion}", "0.8", "--json").json
    assert document["criterion"] == criterion
    assert document["metrics"]["recovered"][criterion] >= 0.8


def test_threshold_of_a_false_positive_rate(run) -> None:
    document = run("threshold", EXAMPLE, *ALPHA, "--fpr", "0.05", "--json").json
    assert document["metrics"]["recovered"]["fpr"] <= 0.05
    scores, labeled, _ = read_example()
    flagged = [y for s, y in zip(scores, labeled, strict=True) if s >= document["threshold"]]
    assert document["flagged_labeled"] == sum(flagged)
    assert document["flagged_unlabeled"] == len(flagged) - sum(flagged)


@pytest.mark.parametrize("best", ["f1", "mcc", "youden", "cost"])
def test_best_threshold(run, best: str) -> None:
    document = run("threshold", EXAMPLE, *ALPHA, "--best", best, "--json", *FEW).json
    assert (document["criterion"], document["wanted"]) == (best, None)
    for spelled in (best.upper(), best.title()):
        assert run("threshold", EXAMPLE, *ALPHA, "--best", spelled, "--json", *FEW).json == document


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
def test_threshold_has_the_interval_of_the_library(run, tmp_path: Path) -> None:
    path = write_sample(tmp_path / "a.csv", 200)
    options = ("--alpha", ".02", "--recall", ".9", "--resamples", "40", "--seed", "7")
    more = ("--confidence-level", "0.8")
    document = run("threshold", path, *options, *more, "--json").json
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").split()[1:]]
    scores, labeled = [float(r[0]) for r in rows], [int(r[1]) for r in rows]
    expected = purecover.intervals.bootstrap(
        purecover.ScoreCounts.from_scores(scores, labeled),
        purecover.MixtureProportions(0.1),
        metrics=["recall"],
        threshold=document["threshold"],
        repair="isotonic",
        curves=False,
        n_resamples=40,
        confidence_level=0.8,
        random_state=7,
    ).interval("recall")
    assert document["interval"] == expected.to_dict()
    assert document["interval"]["estimate"] == document["metrics"]["recovered"]["recall"]
    text = run("threshold", path, *options, *more).out
    assert re.search(
        rf"^Recall .* \[{expected.low:.4f}, {expected.high:.4f}\]$", text, re.MULTILINE
    )
    assert "80 % interval" in text
    assert "chosen on the same data" in " ".join(text.split())


WISHES = [("precision", "0.8"), ("recall", "0.8"), ("fpr", "0.05"), ("best", "mcc"), ("best", "f1")]


@pytest.mark.parametrize("shares", [ALPHA, ("--estimator", "bbe")])
@pytest.mark.parametrize(("name", "wish"), WISHES)
def test_threshold_and_evaluate_have_one_estimate(
    run, name: str, wish: str, shares: tuple[str, ...]
) -> None:
    same = (EXAMPLE, *shares, *FEW, "--seed", "3", "--json")
    chosen = run("threshold", *same, f"--{name}", wish).json
    report = run("evaluate", *same, "--threshold", repr(chosen["threshold"])).json
    metrics = chosen["metrics"]["recovered"]
    assert metrics == {key: report["metrics"]["recovered"][key] for key in metrics}
    fired = {check["code"] for check in chosen["checks"] if check["status"] == "fired"}
    if name == "best":
        # Figures to expect are less, since replicates choose again; so are counts and intervals.
        assert "PU016" not in fired
        assert chosen["optimism"][0] > 0
        assert chosen["expected"][wish] < metrics[wish]
        assert chosen["confusion"]["tp"] < report["confusion"]["tp"]
        assert chosen["interval"]["estimate"] == chosen["expected"][wish]
        return
    assert "PU016" in fired
    assert chosen["optimism"] is None
    assert chosen["expected"] == metrics
    assert chosen["confusion"] == report["confusion"]
    for key in ("precision", "recall"):
        assert chosen["intervals"][key] == report["intervals"][key]


@pytest.mark.parametrize(
    ("options", "fires"),
    [
        (("--best", "mcc", *FEW), False),
        (("--best", "mcc", "--resamples", "0"), True),
        (("--recall", "0.8", *FEW), True),
    ],
)
def test_threshold_says_that_it_was_chosen_on_the_same_data(
    run, options: tuple[str, ...], fires: bool
) -> None:
    text = run("threshold", EXAMPLE, *ALPHA, *options).out
    assert ("PU016 note: the threshold " in text) == fires
    assert ("expected: on new" in text) != fires
    assert "unlabeled are flagged: about " in text


def test_threshold_prints_text_and_quiet_prints_the_number_alone(run) -> None:
    text = run("threshold", EXAMPLE, *ALPHA, "--best", "f1").out
    assert text.startswith("score >= ")
    assert "Matthews correlation" in text
    quiet = run("threshold", EXAMPLE, *ALPHA, "--best", "f1", "-q").out
    assert (
        float(quiet)
        == run("threshold", EXAMPLE, *ALPHA, "--best", "f1", "--json").json["threshold"]
    )


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "exactly one of"),
        (["--precision", ".9", "--best", "f1"], "--precision, --best"),
        (["--best", "beauty"], "beauty"),
        (["--recall", "1.2"], "[0, 1]"),
        (["--precision", ".9999"], "--precision must be attainable"),
        (["--best", "Recall"], "such as --recall 0.9"),
        (["--best", "f_beta", "--f-beta", "0"], "--f-beta"),
        (["--best", "cost", "--cost-fn", "-1"], "--cost-fn"),
        (["--best", "f1", "--confidence-level", "1"], "--confidence-level"),
        (["--best", "f1", "--ignore-check", "PU999"], "--ignore-check"),
        (["--best", "f1", "--group", "nope"], "--group"),
    ],
)
def test_threshold_refuses(run, argv: list[str], says: str) -> None:
    result = run("threshold", EXAMPLE, *ALPHA, *argv)
    assert result.code == 2
    assert says in result.err


# -- simulate ---------------------------------------------------------------------------------


# -- interruptions and bugs -------------------------------------------------------------------


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


def test_memory_that_runs_out_is_a_message(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purecover.cli.rows.read_rows", raise_it(MemoryError()))
    result = run("threshold", EXAMPLE, *ALPHA, "--best", "f1")
    assert (result.code, "memory" in result.err) == (2, True)


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
    options = ("evaluate", EXAMPLE, *ALPHA, "--resamples", "50", "--json")
    plain = run(*options)
    assert plain.err == ""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    shown = run(*options)
    assert "Resampling" in shown.err
    assert shown.json == plain.json
    assert run(*options, "--quiet").err == ""


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate",),
        ("evaluate", "--html", "page.html"),
        ("evaluate-many",),
        ("threshold", "--best=f1"),
    ],
)
def test_what_contradicts_the_scores_ends_with_1(
    run, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(command[0], EXAMPLE, *command[1:], "--alpha", "0.6", *FEW)
    assert result.code == 1
    assert "contradict" in result.err
    assert "1.0000" not in result.out


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--json",)])
@pytest.mark.parametrize("command", [("monitor", "state.json"), ("evidence",)])
def test_what_contradicts_the_scores_is_said_once(
    run,
    command: tuple[str, ...],
    options: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*command, EXAMPLE, "--alpha", "0.8", *options)
    assert result.code == 1
    assert result.err.count("purecover: ") == 1
    assert "error" not in result.err
    assert "alpha can be at most" in result.err
    if command[0] == "monitor" and "--json" in options:
        assert result.json["partitions"][0]["auc"] is None


@pytest.mark.parametrize("command", [(), ("evaluate",), ("audit", "estimate"), ("monitor",)])
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
