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


@pytest.mark.parametrize(("suffix", "magic"), [("svg", b"<?xml"), ("PNG", b"\x89PNG")])
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
