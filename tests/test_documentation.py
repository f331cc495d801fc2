"""Shell examples of the pages: every `purecover` command runs, and prints what the page says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import purecover as pu
from purecover.cli import main

ROOT = Path(__file__).parents[1]
EXAMPLE = Path("src") / "purecover" / "data" / "example_scores.csv"
PAGES = [
    ROOT / "README.md",
    *(p for p in sorted((ROOT / "docs").rglob("*.rst")) if "_build" not in p.parts),
]


def sessions(page: Path) -> Iterator[list[tuple[str, list[str]]]]:
    """The console blocks of a page, each as pairs of a command and the lines below it."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", text, re.MULTILINE)
    for block in [*fenced, *(re.sub(r"^   ", "", b, flags=re.MULTILINE) for b in indented)]:
        parts = re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]
        lines = [part.rstrip().split("\n") for part in parts]
        yield [(first, rest) for first, *rest in lines if first.startswith("purecover ")]


SESSIONS = [
    pytest.param(session, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, session in enumerate(sessions(page))
    if session
]


def test_there_are_examples_with_and_without_output() -> None:
    shown = [bool(lines) for param in SESSIONS for _, lines in param.values[0]]
    assert shown.count(True) >= 5
    assert shown.count(False) >= 5


@pytest.mark.parametrize("session", SESSIONS)
def test_the_commands_print_what_the_page_says(
    session: list[tuple[str, list[str]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / EXAMPLE).parent.mkdir(parents=True)
    (tmp_path / EXAMPLE).write_bytes((ROOT / EXAMPLE).read_bytes())
    monkeypatch.chdir(tmp_path)
    for command, expected in session:
        arguments = shlex.split(command, comments=True)[1:]
        if not expected and arguments[0] not in ("simulate", "audit"):
            arguments += ["--resamples", "20"]  # nobody compares the digits
        assert main(arguments) == 0
        out, err = capsys.readouterr()
        if not expected:
            continue
        printed = iter([line.rstrip() for line in f"{out}{err}".splitlines()])
        skipping = False
        for line in expected:
            if line == "...":
                skipping = True
            elif skipping:
                assert line in printed  # moves the iterator past the line
                skipping = False
            else:
                assert next(printed) == line
        assert skipping or not list(printed)


def test_figures_of_the_readme_are_those_of_the_example() -> None:
    rows = np.genfromtxt(ROOT / EXAMPLE, delimiter=",", names=True)
    report = pu.evaluate(
        rows["score"], rows["labeled"], alpha=0.4048, truth=rows["truth"], n_resamples=0
    )
    interval = report.intervals["roc_auc"]
    assert report.truth is not None
    figures = (
        report.auc_pu,
        report.auc,
        interval.low,
        interval.high,
        report.truth.metrics["roc_auc"],
    )
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for figure in figures:
        assert f"{figure:.3f}".removeprefix("0") in text


def test_figures_of_the_readme_with_alpha_estimated() -> None:
    rows = np.genfromtxt(ROOT / EXAMPLE, delimiter=",", names=True)
    report = pu.evaluate(rows["score"], rows["labeled"])  # with all replicates, as printed
    interval = report.intervals["roc_auc"]
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    said = re.search(
        r"truth, (\.\d+) with a 95 % interval from (\.\d+) to (1\.00) where alpha", text
    )
    assert said is not None
    found = (report.auc, interval.low, interval.high)
    # Half of the last digit that is printed.
    printed = [float(figure) for figure in said.groups()]
    np.testing.assert_allclose(found, printed, rtol=0, atol=0.0051)
