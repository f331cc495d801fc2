"""``purecover-paper``: run, status, report and merge."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from paper.tests.driver import measure_little, problems, score_at_once

from purecover_paper import run as _run
from purecover_paper.cli import main
from purecover_paper.datasets import DATASETS
from purecover_paper.design import Cell
from purecover_paper.store import Record, Store


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    def call(*argv: object) -> Result:
        capsys.readouterr()
        code = main([str(word) for word in argv])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> list[tuple[set[str], object]]:
    """Toys in place of the data sets, and nothing that takes time; what was asked for."""
    asked = []

    def load(names, folder=None):
        asked.append((set(names), folder))
        one, two = problems().values()
        return {name: two if name == "wine" else one for name in names}

    monkeypatch.setattr(_run, "load_problems", load)
    monkeypatch.setattr(_run, "bagged_scores_many", score_at_once)
    monkeypatch.setattr(_run, "measure", measure_little)
    return asked


def small(store: Path, *more: object) -> list[object]:
    # One job: workers in other processes would not know of the toys.
    return ["--store", store, "--jobs", 1, "--device", "cpu", *more]


def cells_in(store: Path) -> list[tuple[str, float, int]]:
    with Store(store, read_only=True) as kept:
        return [(cell.dataset, cell.beta, cell.repeat) for cell in kept.cells()]


def test_a_part_of_the_study_and_then_more(run, toys, tmp_path) -> None:
    part = ["--dataset", "bank", "--dataset", "Wine", "--beta", "1", "--beta", ".75"]
    first = run("run", *small(tmp_path, *part, "--repeats", 2, "--data", "there"))
    assert first.code == 0
    assert re.match(
        rf"8 of 8 runs are done, 8 of them now in \d+ s; {tmp_path} holds 8\n", first.out
    )
    assert f"purecover-paper report --store {tmp_path} --html paper.html shows them" in first.err
    assert toys == [({"bank", "wine"}, "there")]
    expected = [(n, b, r) for n in ("bank", "wine") for b in (1.0, 0.75) for r in (0, 1)]
    assert cells_in(tmp_path) == expected
    more = run("run", *small(tmp_path, *part, "--repeats", 3, "--json"))
    assert more.err == ""
    assert {key: more.json[key] for key in ("cells", "before", "added", "failed")} == {
        "cells": 12, "before": 8, "added": 4, "failed": [],
    }  # fmt: skip
    again = run("run", *small(tmp_path, "--dataset", "bank,wine", "--beta", "1,.75",
                              "--repeats", 3, "--quiet"))  # fmt: skip
    assert again == (0, "", "")


@pytest.mark.usefixtures("toys")
def test_the_whole_study_is_that_of_the_paper(run, monkeypatch, tmp_path) -> None:
    asked = {}

    def pretend(cells, **options):
        asked.update(options, cells=list(cells))
        return _run.StudyRun(n_cells=1800, n_before=0, n_added=1800, failed=(), seconds=9000.0)

    monkeypatch.setattr(_run, "run_study", pretend)
    result = run("run", "--store", tmp_path, "--device", "cpu", "--keep-scores", "--seed", 4)
    assert "1,800 of 1,800 runs are done, 1,800 of them now in 2.5 h" in result.out
    assert len(asked["cells"]) == 12 * 3 * 50
    assert {cell.dataset for cell in asked["cells"]} == set(DATASETS)
    settings = {cell.settings for cell in asked["cells"]}
    assert [(s.n_networks, s.seed, s.device) for s in settings] == [(100, 4, "cpu")]
    assert asked["n_jobs"] == -1  # of joblib: all cores
    assert asked["keep_scores"]
    assert asked["about"]["command"].startswith("purecover-paper run --store ")
    run("run", "--store", tmp_path, "--device", "cpu", "--quick")
    assert len(asked["cells"]) == 12 * 3
    run("run", "--store", tmp_path, "--device", "cpu", "--quick", "--networks", 7, "--repeats", 2)
    assert len(asked["cells"]) == 12 * 3 * 2
    assert {cell.settings.n_networks for cell in asked["cells"]} == {7}


@pytest.mark.usefixtures("toys")
def test_runs_that_fail_are_told_and_tried_again(run, monkeypatch, tmp_path) -> None:
    def fail(cell: Cell, *rest: object) -> list[Record]:
        if cell.dataset == "wine":
            raise RuntimeError("no such luck\nHint: try again\n  or not")
        return measure_little(cell, *rest)

    monkeypatch.setattr(_run, "measure", fail)
    arguments = small(tmp_path, "--dataset", "bank,wine", "--beta", "1", "--repeats", "2")
    result = run("run", *arguments)
    assert result.code == 1
    assert "2 of 4 runs are done" in result.out
    assert "2 of 4 runs failed, the first (wine, beta 1, repetition " in result.err
    assert "with: RuntimeError: no such luck" in result.err
    found = run("run", *arguments, "--json")
    assert found.code == 1
    assert {failure["error"] for failure in found.json["failed"]} == {"RuntimeError: no such luck"}
    monkeypatch.setattr(_run, "measure", measure_little)
    assert run("run", *arguments, "-q") == (0, "", "")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--dataset", "bnak"], "Hint: did you mean 'bank'?"),
        (["--beta", "95"], "--beta must be a number in (0, 1], got '95'."),
        (["--data", "nowhere"], "--data must be"),
    ],
)
def test_runs_that_cannot_be(run, tmp_path, argv, says) -> None:
    result = run("run", "--store", tmp_path / "results", *argv)
    assert result.code == 2
    assert says in result.err


@pytest.fixture
def results(run, toys, tmp_path) -> Path:  # noqa: ARG001
    """A store with two studies, of twelve runs and of one."""
    folder = tmp_path / "results"
    run("run", *small(folder, "--dataset", "bank,wine", "--repeats", 2))
    run("run", *small(folder, "--dataset", "wine", "--beta", 1, "--repeats", 1, "--networks", 9))
    return folder


def test_the_status_counts_runs(run, results) -> None:
    lines = run("status", "--store", results).out.splitlines()
    assert lines[0] == f"{results}: 13 runs, and no file is damaged"
    assert lines[2].startswith("study 1: seed 0, networks 100, ")
    assert lines[4].split() == ["runs", "beta", "1", "beta", "0.95", "beta", "0.75"]
    assert [line.split() for line in lines[5:7]] == [["bank", *"222"], ["wine", *"222"]]
    assert lines[8].startswith("study 2: seed 0, networks 9, ")
    document = run("status", "--store", results, "--json").json
    assert [study["settings"]["n_networks"] for study in document["studies"]] == [100, 9]
    assert document["studies"][1]["runs"] == [{"dataset": "wine", "beta": 1.0, "runs": 1}]


def test_the_records_are_those_of_one_study(run, results, tmp_path) -> None:
    out = tmp_path / "records.csv.gz"
    result = run("report", "--store", results, "--records", out)
    assert result.code == 0
    assert "this is the largest study" in result.err
    assert "1 runs with other settings are left out" in result.err
    found = list(csv.DictReader(io.StringIO(gzip.decompress(out.read_bytes()).decode())))
    assert len(found) == 12 * 3
    assert tuple(found[0]) == Record._fields
    plain = tmp_path / "records.csv"
    second = run("report", "--store", results, "--study", 2, "--records", plain)
    assert second.err == f"purecover-paper: {plain} written\n"
    assert len(plain.read_text().splitlines()) == 1 + 3


def test_stores_are_merged(run, results, tmp_path) -> None:
    other, third = tmp_path / "other", tmp_path / "third"
    run("run", *small(other, "--dataset", "wine,pima", "--repeats", 2))
    run("run", *small(third, "--dataset", "gas", "--repeats", 1))
    result = run("merge", other, third, "--store", results)
    assert result.code == 0
    assert result.err == (
        f"purecover-paper: 6 runs of {other} added to {results}\n"
        f"purecover-paper: 3 runs of {third} added to {results}\n"
    )
    assert len(cells_in(results)) == 13 + 9
    lost = run("merge", other, tmp_path / "nowhere", "--store", tmp_path / "new")
    assert lost.code == 2
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@pytest.mark.needs_data
def test_ctrl_c_in_the_middle_of_the_true_study(data_folder, tmp_path) -> None:
    command = [
        sys.executable, "-m", "purecover_paper", "run", "--dataset", "housing",
        "--repeats", "40", "--networks", "40", "--data", data_folder, "--store", tmp_path,
        "--jobs", "2", "--device", "cpu",
    ]  # fmt: skip
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert "0 of 120 runs" in running.stderr.readline()
        while not cells_in(tmp_path):
            assert running.poll() is None
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGINT)
        said = running.stderr.read()
    assert running.returncode == 130
    n_done = len(cells_in(tmp_path))
    assert f"interrupted; {n_done} of 120 runs are done" in said
    assert "Traceback" not in said
