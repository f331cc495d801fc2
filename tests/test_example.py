"""The example that comes with the package, from Python and from the shell."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import Result, call_main

import purecover as pu

FILE = Path(pu.__file__).parent / "data" / "example_scores.csv"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys)


def test_it_is_the_file() -> None:
    example = pu.load_example()
    kept = np.genfromtxt(FILE, delimiter=",", names=True)
    for column, values in (
        ("score", example.scores),
        ("labeled", example.labeled),
        ("truth", example.truth),
    ):
        np.testing.assert_array_equal(values, kept[column])
    assert len(example) == 1797
    assert example.labeled.dtype == example.truth.dtype == bool
    assert example.truth[example.labeled].all()
    assert round(float(example.truth[~example.labeled].mean()), 4) == example.alpha
    assert repr(example) == "ExampleScores(300 labeled, 1,497 unlabeled, alpha=0.4048)"


def test_it_cannot_be_changed() -> None:
    example = pu.load_example()
    for array in (example.scores, example.labeled, example.truth):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_command_writes_the_file(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # the same file again is no harm
        done = run("example")
        assert (done.code, done.out) == (0, "")
        assert "example_scores.csv: columns score, labeled and truth" in done.err
        assert Path("example_scores.csv").read_bytes() == FILE.read_bytes()
    assert run("example", "--out", "other.csv", "-q") == (0, "", "")
    assert Path("other.csv").read_bytes() == FILE.read_bytes()
    assert run("example", "--out", "-") == (0, FILE.read_text(), "")


def test_the_command_spares_what_is_there(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("example_scores.csv").write_text("mine")
    done = run("example")
    assert done.code == 2
    assert "holds something else" in done.err
    assert "--out" in done.err
    assert Path("example_scores.csv").read_text() == "mine"
    assert run("example", "--out", "example_scores.csv").code == 0  # asked for by name
    assert Path("example_scores.csv").read_bytes() == FILE.read_bytes()
    assert run("example", "--out", tmp_path).code == 2
