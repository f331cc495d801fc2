"""``purecover priors``: what it prints, draws and returns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import Result, call_main

import purecover
from purecover import simulate
from purecover.estimators.compare import compare_priors

EXAMPLE = str(Path(purecover.__file__).parent / "data" / "example_scores.csv")
PAIR = ("--estimators", "bbe,roc-slope")
QUICK = (*PAIR, "--resamples", "0")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys, "priors")


@pytest.fixture(scope="module")
def example() -> tuple[np.ndarray, np.ndarray]:
    rows = np.genfromtxt(EXAMPLE, delimiter=",", names=True)
    return rows["score"], rows["labeled"] == 1


# -- the table --------------------------------------------------------------------------------


def test_json(run, example) -> None:
    result = run(EXAMPLE, *PAIR, "--resamples", "10", "--json")
    assert (result.code, result.err) == (0, "")
    found = compare_priors(*example, estimators=["bbe", "roc-slope"], n_resamples=10)
    document = result.json
    assert document["source"]["columns"] == {"score": "score", "labeled": "labeled"}
    assert document["n_resamples"] == 10
    for said, row in zip(document["estimators"], found, strict=True):
        assert said["proportions"]["alpha"] == row.value("alpha")
        assert said["intervals"]["delta"]["high"] == row.ends("delta")[1]


def test_blank_labels_are_noted(run, tmp_path: Path) -> None:
    sample = simulate.binormal(3.0).sample(60, 240, alpha=0.3, random_state=1)
    lines = [f"{s},{1 if y else ''}" for s, y in zip(sample.scores, sample.labeled, strict=True)]
    path = tmp_path / "blank.csv"
    path.write_text("score,labeled\n" + "\n".join(lines) + "\n", encoding="utf-8")
    result = run(path, *QUICK, "--missing-is-unlabeled")
    assert result.code == 0
    assert "240 blank labels count as unlabeled" in result.err


# -- the picture ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "magic"),
    [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")],
)
def test_plot(run, tmp_path: Path, suffix: str, magic: bytes) -> None:
    path = tmp_path / f"priors.{suffix}"
    result = run(EXAMPLE, *QUICK, "--plot", path)
    assert result.code == 0
    assert "bbe" in result.out
    assert result.err == f"purecover: picture written to {path}\n"
    assert path.read_bytes().startswith(magic)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_plot_without_matplotlib(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run(EXAMPLE, *QUICK, "--plot", tmp_path / "priors.png")
    assert result.code == 2
    assert "pip install 'purecover[plot]'" in result.err


# -- what goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--estimators", "bbe,magic"], "--estimators must be "),
        (["--estimators", "-"], "got '-'"),
        (["--score", "nothing"], "asked for by --score"),
        (["--score", "score", "--score", "truth"], "--score must name one column, got 2"),
        (["--alpha", "0.3"], "--alpha"),
    ],
)
def test_bad_usage(run, argv: list[str], says: str) -> None:
    result = run(EXAMPLE, *argv)
    assert result.code == 2
    assert says in result.err


# -- help -------------------------------------------------------------------------------------
