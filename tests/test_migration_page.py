"""The page for those who come from elsewhere: blocks of pulearn run, figures are measured ones."""

from __future__ import annotations

import csv
import doctest
import importlib
import re
import textwrap
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "howto" / "migration.rst"
RESULTS = ROOT / "benchmarks" / "results"

SITUATIONS = {
    "two": "two samples",
    "one": "one sample",
    "wrong": "wrong labels (a quarter)",
    "clear": "clear positives labeled first",
}
NAIVE, DIVIDED, OURS = "scikit-learn", "divided by c", "purecover"
ALL_ROWS, UNLABELED = "pulearn, share of all rows", "pulearn, share of the unlabeled"

Errors = dict[tuple[str, str, str], float]


@pytest.fixture(scope="module")
def page() -> str:
    return " ".join(PAGE.read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def errors() -> Errors:
    """Mean errors by situation, quantity and who made them."""
    with (RESULTS / "migration.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (key, row["quantity"], who): float(row[who])
        for row in rows
        for key, name in SITUATIONS.items()
        if row["situation"] == name
        for who in (NAIVE, ALL_ROWS, UNLABELED, DIVIDED, OURS)
    }


# -- blocks of pulearn ----------------------------------------------------------------------


def pulearn_blocks() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(
        r"^\.\. code-block:: python\n   :caption: pulearn\n\n((?:   .*\n|\n)+)", text, re.MULTILINE
    )
    return [textwrap.dedent(block) for block in found]


def statements(block: str) -> list[tuple[str, str | None]]:
    """Lines of code with the figure that the comment beside them promises, if any."""
    found = []
    for line in block.splitlines():
        code, _, comment = line.partition("#")
        if code.strip():
            found.append((code.strip(), comment.strip() or None))
    return found


def test_there_is_a_block_for_each_task_and_a_figure_in_each() -> None:
    blocks = pulearn_blocks()
    assert len(blocks) == 6
    assert all(any(figure for _, figure in statements(block)) for block in blocks)


@pytest.fixture
def pulearn(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The other package, from the folder beside the environment if it is there."""
    monkeypatch.syspath_prepend(ROOT)
    peers = importlib.import_module("benchmarks._contestants").PEERS_FOLDER
    if peers.exists():
        monkeypatch.syspath_prepend(peers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module("pulearn")
        except ImportError:
            pytest.skip("pulearn is not installed; `make peers` puts it into .venv-peers")


def namespace_of_the_page() -> dict[str, Any]:
    """What the examples of the section on the data define."""
    text = PAGE.read_text(encoding="utf-8").split("\nIn purecover, scores", 1)[0]
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(text):
        exec(example.source, names)  # noqa: S102
    return names


def test_blocks_of_pulearn_print_what_the_page_says(pulearn: ModuleType) -> None:
    assert pulearn.__version__ == "0.2.0"
    assert "pulearn/>`_ 0.2.0" in PAGE.read_text(encoding="utf-8")
    names = namespace_of_the_page()
    for block in pulearn_blocks():
        for code, figure in statements(block):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if figure is None:
                    exec(code, names)  # noqa: S102
                else:
                    assert f"{eval(code, names):.3f}" == figure, code  # noqa: S307


# -- what the study found -------------------------------------------------------------------


def test_results_are_those_of_the_report() -> None:
    report = (RESULTS / "migration.md").read_text(encoding="utf-8")
    assert "version 0.2.0" in report
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in report.splitlines()
        if line.startswith("|")
    ]
    with (RESULTS / "migration.csv").open(encoding="utf-8", newline="") as file:
        assert [table[0], *table[2:]] == list(csv.reader(file))
