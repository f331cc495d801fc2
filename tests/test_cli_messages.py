"""What the command line complains about: its own options, never Python parameters."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import PYTHON

import purecover
from purecover.cli import main
from purecover.cli.options import in_options
from purecover.exceptions import InvalidInputError, Words

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


WRONG: dict[str, dict[str, str]] = {
    "evaluate": {
        "alpha": "1.3", "estimator": "bbx", "n-resamples": "-1", "fail-on": "PU999",
        "ignore-checks": "PU999", "negative-label": "7", "assume": "luck", "review": "0",
    },
    "evaluate-many": {"metrics": "size", "n-resamples": "-1"},
    "threshold": {"precision": "90", "best": "x", "n-resamples": "-1"},
    "priors": {"beta": "1.2", "estimators": "bbe,magic"},
    "evidence": {"n-resamples": "0", "target": "2"},
    "error-rates": {"pi0": "7", "n-resamples": "x"},
    "monitor": {"beta": "75", "false-alarms": "2"},
    "audit plan": {"width": "3", "figure": "odd"},
    "audit sample": {"n": "x", "design": "odd", "n-labeled": "-1"},
    "app": {"port": "99999", "timeout": "0", "max-upload": "much"},
}  # fmt: skip
"""A value that cannot be, of options of each command."""


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [(command, *wrong) for command, options in WRONG.items() for wrong in options.items()],
)
def test_an_option_that_cannot_be_is_named(
    message, tmp_path: Path, command: str, option: str, value: str
) -> None:
    """Whether the shell refuses it or the library does."""
    files = {"monitor": [str(tmp_path / "state.json"), EXAMPLE], "audit plan": [], "app": []}
    rest = {
        "threshold": ["--best", "f1"],
        "audit plan": ["--width", "0.1"],
        "audit sample": ["--n", "5"],
        "error-rates": ["--labeled", "truth", "--negative-label", "0"],
    }
    beside = rest.get(command, [])
    if f"--{option}" in beside or option in ("precision", "recall", "fpr"):
        beside = []
    if command in ("evaluate", "threshold", "evidence") and option not in (
        "alpha", "estimator", "assume"
    ):  # fmt: skip
        beside = [*beside, "--alpha", "0.4"]
    says = message(*command.split(), *files.get(command, [EXAMPLE]), *beside, f"--{option}={value}")
    assert says.startswith(f"--{option} must be "), says
    assert PYTHON.search(says) is None, says


@pytest.mark.parametrize(
    ("text", "hint"), [("25%", "write 0.25."), ("0,25", "write 0.25."), ("many", None)]
)
def test_numbers_that_are_none(message, text: str, hint: str | None) -> None:
    says = message("evaluate", EXAMPLE, "--alpha", text)
    said = "" if hint is None else f"\nHint: {hint}"
    assert says.startswith("--alpha must be a number, or a range ")
    assert says.endswith(f", got {text!r}.{said}\n")


def test_other_parameters_that_a_message_names_are_options_too(message) -> None:
    both = ["--review", "5", "--threshold", "0.5", "--alpha", "0.4"]
    assert message("evaluate", EXAMPLE, *both) == (
        "--review must be left out where --threshold is given, got 5.\n"
    )
    error = InvalidInputError(
        parameter="labeled",
        must="two-valued",
        got="a text with name= and 'alpha'",
        hint=Words("pass ", "negative_label=-1", " or ", "replace=True", ", not ", "other="),
    )
    assert str(error).endswith("Hint: pass negative_label=-1 or replace=True, not other=")
    assert in_options(pickle.loads(pickle.dumps(error))) == (  # noqa: S301
        "--labeled must be two-valued, got a text with name= and 'alpha'.\n"
        "Hint: pass --negative-label=-1 or --replace, not other"
    )


def test_options_by_their_older_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", EXAMPLE, "--alpha=0.4", "--resamples=0", "--seed", "3", "-q"]) == 0
    assert capsys.readouterr() == ("", "")


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
        if re.search(r"(?<![\w.])print\(|std(out|err)\.write\(", file.read_text(encoding="utf-8"))
    }
    # The example holds numbers of ours.
    assert found == {"output.py", "example.py"}
