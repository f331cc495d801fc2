"""The committed results of the paper's study agree with each other and with the page about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from purecover_paper.runs import Combination, Runs, Truth, mean_of_rows, printed_mean, printed_table
from purecover_paper.sheets import sheet_markdown
from purecover_paper.significance import counting_sheet
from purecover_paper.tables import OURS, Methods, mean_errors

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation"


@pytest.fixture(scope="module")
def tool(import_tool: Callable[[str], ModuleType]) -> ModuleType:
    return import_tool("make_paper_findings")


@pytest.fixture(scope="module")
def report(tool: ModuleType) -> str:
    text: str = tool.read()[0]
    return text


@pytest.fixture(scope="module")
def means(tool: ModuleType) -> Any:
    return tool.read()[1]


@pytest.fixture(scope="module")
def runs(tool: ModuleType, means: Any) -> dict[Truth, Runs]:
    truths: tuple[Truth, ...] = ("traditional", "same")
    return {truth: tool.as_runs(means, truth) for truth in truths}


def error(
    runs: Mapping[Truth, Runs], column: str, metric: str, methods: Methods, truth: Truth
) -> float:
    """Mean over rows of a column of the paper's tables."""
    return mean_of_rows(mean_errors(runs[truth], column, metric, methods, truth))


def test_results_are_of_the_whole_study(report: str, means: Any) -> None:
    assert "- 1,800 runs on 12 data sets, 36 of the 36 rows of the paper's tables." in report
    assert "Not complete" not in report
    truth = means[Combination("auc", "same")]
    assert set(truth) == set(printed_table("auc"))
    assert sum(numbers["runs"] for numbers in truth.values()) == 1800
    for name in ("Command", "Seed", "Computing time", "Runs made with", "Finished", "Card"):
        assert re.search(rf"^\| {name} \| \S.* \|$", report, re.MULTILINE)
    assert (ROOT / "paper" / "results" / "paper.csv").stat().st_size < 5e6


@pytest.mark.parametrize("truth", ["traditional", "same"])
def test_counts_of_the_report_are_those_of_the_numbers(
    report: str, runs: dict[Truth, Runs], truth: Truth
) -> None:
    made = sheet_markdown(counting_sheet(runs[truth]))
    lines = [
        line for line in made.splitlines() if line.startswith(("| Printed", "| The", "| Label"))
    ]
    assert len(lines) == 6
    # Means of six digits give the last printed digit, but for a tie that rounding could break.
    assert set(lines) <= set(report.splitlines())


def test_tables_are_those_of_the_study(tool: ModuleType, report: str, means: Any) -> None:
    for name, content in tool.tables(report, means).items():
        stored = (PAGE / name).read_text(encoding="utf-8")
        assert stored == content, "run: python paper/tools/make_paper_findings.py"
        assert f":file: {name}" in (PAGE / "paper_findings.rst").read_text(encoding="utf-8")


def test_the_page_has_the_headline(runs: dict[Truth, Runs]) -> None:
    text = " ".join((PAGE / "paper_findings.rst").read_text(encoding="utf-8").split())
    same, paper = (error(runs, "ie", "auc", OURS, truth) for truth in ("same", "traditional"))
    assert (
        f"the mean error of AUC is {same:.3f} against the true AUC of the same scores, and "
        f"{paper:.3f} against the one the paper used, where the paper has "
        f"{printed_mean('ie', 'auc'):.3f}" in text
    )
