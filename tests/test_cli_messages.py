"""What the command line complains about: its own options, never Python parameters."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import PYTHON

import purecover
from purecover import MixtureProportions, ScoreCounts, evaluate
from purecover.cli import main
from purecover.cli.options import share_hint
from purecover.cli.output import _OPTIONS, in_options
from purecover.exceptions import InvalidInputError, PurecoverError

EXAMPLE = str(Path(purecover.__file__).parent / "data" / "example_scores.csv")


@pytest.fixture
def message(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a command that fails says."""

    def call(*argv: str) -> str:
        assert main(list(argv)) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("purecover: error: ")
        assert "internal error" not in err
        return err.removeprefix("purecover: error: ")

    return call


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--alpha", "1.3"),
        ("--alpha", "nan"),
        ("--alpha", "-"),
        ("--beta", "75"),
        ("--prior", "x"),
        ("--label-frequency", "-0.1"),
        ("--target", "everyone"),
        ("--target", "-1"),
        ("--threshold", "abc"),
        ("--threshold", "inf"),
        ("--confidence-level", "95"),
        ("--confidence-level", "0"),
        ("--resamples", "-1"),
        ("--resamples", "many"),
        ("--seed", "-1"),
        ("--seed", "1e3"),
        ("--ignore-check", "PU999"),
        ("--top-k", "0"),
        ("--top-k", "5000"),
        ("--max-fpr", "1.5"),
        ("--f-beta", "0"),
        ("--cost-fn", "-1"),
        ("--cost-fp", "nan"),
        ("--negative-label", "1"),
    ],
)
def test_evaluate_complains_about_the_option(message, option: str, value: str) -> None:
    given = () if option in ("--alpha", "--prior", "--label-frequency") else ("--alpha", "0.4")
    scenario = ("--scenario", "censoring") if not given and option != "--alpha" else ()
    labels = ("--positive-label", "1") if option == "--negative-label" else ()
    says = message("evaluate", EXAMPLE, *given, *scenario, *labels, option, value)
    assert says.startswith(f"{option} must be ")
    assert PYTHON.search(says) is None, says


@pytest.mark.parametrize(
    "option", ["precision", "recall", "fpr", "specificity", "npv", "fdr"], ids=str
)
def test_threshold_complains_about_the_option(message, option: str) -> None:
    says = message("threshold", EXAMPLE, "--alpha", "0.4", f"--{option}", "90")
    assert says == f"--{option} must be a number in [0, 1], got '90'.\nHint: 0.9 means 90 %.\n"


@pytest.mark.parametrize(
    ("argv", "option"),
    [
        (["binormal", "--alpha", "25"], "--alpha"),
        (["binormal", "--alpha", ".2", "--labeled", "0"], "--labeled"),
        (["binormal", "--alpha", ".2", "--unlabeled", "-3"], "--unlabeled"),
        (["binormal", "--alpha", ".2", "--separation", "nan"], "--separation"),
        (["binormal", "--alpha", ".2", "--positive-sd", "0"], "--positive-sd"),
        (["beta", "--alpha", ".2", "--positive", "5"], "--positive"),
        (["histogram", "--alpha", ".2", "--positive", "0,0", "--negative", "1,2"], "--positive"),
        (["histogram", "--alpha", ".2", "--positive", "1,2", "--negative", "0,0"], "--negative"),
        (["histogram", "--alpha=.2", "--positive=1,2", "--negative=1,2", "--edges=0"], "--edges"),
        (["laplace", "--scenario", "censoring", "--prior", "1", "--label-frequency", ".5"],
         "--prior"),
        (["laplace", "--scenario", "censoring", "--prior", ".5", "--label-frequency", "0"],
         "--label-frequency"),
        (["laplace", "--scenario", "censoring", "--size", "0"], "--size"),
    ],
)  # fmt: skip
def test_simulate_complains_about_the_option(message, argv: list[str], option: str) -> None:
    says = message("simulate", *argv)
    assert says.startswith(f"{option} must be ")
    assert PYTHON.search(says) is None, says


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("99.5", "0.995 means 99.5 %"),
        ("1.3%", "0.013 means 1.3 %"),
        ("2", "0.02 means 2 %"),
        (".5%", "0.005 means 0.5 %"),
        (",5", "0.5 means 50 %"),
        ("1.3", ""),
        ("1,2", ""),
        ("101", ""),
        ("-25", ""),
        ("25%%", ""),
        ("1,2,3", ""),
        ("nan", ""),
        ("", ""),
    ],
)
def test_share_hint(text: str, hint: str) -> None:
    assert share_hint(text) == (f"\nHint: {hint}." if hint else "")


@pytest.mark.slow
def test_every_option_named_by_a_translation_exists(capsys: pytest.CaptureFixture[str]) -> None:
    known = set()
    commands = ["evaluate", "evaluate-data", "evaluate-many", "monitor", "simulate", "threshold"]
    for command in (*([each] for each in commands), ["audit", "plan"], ["audit", "sample"]):
        main([*command, "--help"])
        known |= set(re.findall(r"--[a-z][a-z-]*|(?<= )FILE", capsys.readouterr().out))
    assert set(_OPTIONS.values()) <= known


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        (
            "The 'n_resamples' parameter of evaluate must be 1, got 0.",
            "--resamples must be 1, got 0.",
        ),
        (
            "The 'beta' parameter of MixtureProportions.from_censoring must be x.",
            "--beta must be x.",
        ),
        (
            "name it with positive_label= and the other with negative_label=",
            "name it with --positive-label and the other with --negative-label",
        ),
        ("pass negative_label=-1", "pass --negative-label -1"),
        ("negative_label=, or map it", "--negative-label, or map it"),
        ("another value than positive_label", "another value than --positive-label"),
        # What stands in quotes is data.
        ("holds 'positive_label', 'top_k'", "holds 'positive_label', 'top_k'"),
    ],
)
def test_complaints_in_options(said: str, becomes: str) -> None:
    assert in_options(said) == becomes


def test_a_command_may_have_other_names() -> None:
    error = InvalidInputError(parameter="value", must="1", got="2", hint="take n_resamples=0")
    assert in_options(error, {"value": "--recall"}) == (
        "--recall must be 1, got 2.\nHint: take --resamples 0"
    )
    assert in_options(error, {"criterion": "--best"}).startswith("value must be 1, got 2.")


COUNTS = ScoreCounts.from_scores([3, 2, 1, 0], [1, 0, 1, 0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: evaluate(COUNTS, alpha=2.0),
        lambda: evaluate(COUNTS, alpha=0.2, n_resamples=-1),
        lambda: evaluate(COUNTS, alpha=0.2, top_k=0),
        lambda: evaluate(COUNTS, alpha=0.2, random_state="x"),
        lambda: evaluate([1, 2, 3], [1, 2, 3], alpha=0.2),
        lambda: evaluate([1, 2, 3], ["a", "b", "c"], alpha=0.2),
        lambda: MixtureProportions(0.5, 0.4),
        lambda: MixtureProportions.from_censoring(COUNTS, prior=0.1),
    ],
)
def test_complaints_of_the_library_lose_their_python_names(call: Callable[[], object]) -> None:
    with pytest.raises(PurecoverError) as caught:
        call()
    assert PYTHON.search(in_options(caught.value)) is None


def test_file_and_column_names_are_left_alone(message, tmp_path: Path) -> None:
    path = tmp_path / r"The 'alpha' parameter of f must n_resamples=1.csv"
    path.write_text("score,positive_label\nx,1\n2,0\n", encoding="utf-8")
    says = message("evaluate", str(path), "--alpha", ".1", "--labeled", "positive_label")
    assert says.startswith(f"{path} has 1 bad cell in column 'score'")
    path.write_text("score,positive_label\n1,x\n2,y\n", encoding="utf-8")
    says = message("evaluate", str(path), "--alpha", ".1", "--labeled", "positive_label")
    assert says.startswith(f"column 'positive_label' of {path}, taken for --labeled, must be two")
    says = message("evaluate", str(path), "--alpha", ".1", "--labeled", "negative_label")
    assert f"{path} has no column named 'negative_label'" in says
    assert "'score', 'positive_label'" in says


# -- what comes from anybody ----------------------------------------------------------------

EVIL = "\x1b]0;evil\x07\x9b31m\u202e\x7f"


def test_control_characters_are_shown_and_never_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of files, columns and groups, and cells: a terminal would do what they say."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7 + i / 99},{i % 3 % 2},{EVIL}{i % 2}\n" for i in range(60))
    good, bad = f"{EVIL}.csv", f"{EVIL}bad.csv"
    Path(good).write_text(f"{EVIL}s,labeled,{EVIL}g\n{rows}", encoding="utf-8")
    Path(bad).write_text(f"{EVIL}s,labeled\n{EVIL},1\n0.1,0\n", encoding="utf-8")
    score, quick = f"--score={EVIL}s", ["--alpha=0.1", "--resamples=0"]
    Path("other.csv").write_text(
        "score,labeled\n" + "".join(f"{i % 9},{i % 2}\n" for i in range(60)), encoding="utf-8"
    )
    for argv, code in (
        (["evaluate", good, score, *quick], 0),
        (["evaluate", good, score, *quick, "--json"], 0),
        (["evaluate-many", good, score, f"--by={EVIL}g", *quick], 0),
        (["threshold", good, score, "--best=f1", *quick], 0),
        (["monitor", f"{EVIL}.json", "other.csv", f"--name={EVIL}", "--alpha=0.1"], 2),
        (["monitor", f"{EVIL}.json", "other.csv", "--name=a", "--alpha=0.1"], 0),
        (["evaluate", bad, score, *quick], 2),
        (["evaluate", good, f"--score={EVIL}", *quick], 2),
        (["evaluate", f"{EVIL}nowhere.csv"], 2),
        (["audit", "sample", good, score, "--n=5"], 0),
        ([EVIL], 2),
    ):
        assert main(argv) in (code, 1), argv
        out, err = capsys.readouterr()
        if argv[0] == "audit":  # data, for another program
            assert EVIL in out
            continue
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", out + err), argv


def test_all_that_people_read_goes_through_one_place() -> None:
    folder = Path(purecover.__file__).parent / "cli"
    found = {
        file.name
        for file in folder.glob("*.py")
        if re.search(r"(?<![\w.])print\(|std(out|err)\.write", file.read_text(encoding="utf-8"))
    }
    # The example and simulated scores hold numbers of ours.
    assert found == {"output.py", "simulate.py"}
