"""The committed results of the paper's study agree with each other and with the page about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
import pytest

from purecover.paper.run import REPORTS
from purecover.paper.standings import counting_sheet
from purecover.paper.tables import (
    OURS,
    PAPERS,
    TITLES,
    Combination,
    Methods,
    Row,
    Runs,
    Truth,
    mean_errors,
    mean_of_rows,
    paper_combination,
    printed_mean,
    printed_table,
    sheet_markdown,
)

ROOT = Path(__file__).parents[1]
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


@pytest.fixture(scope="module")
def page() -> str:
    return " ".join((PAGE / "paper_findings.rst").read_text(encoding="utf-8").split())


def short(number: float, digits: int = 3) -> str:
    """As the page writes it."""
    return f"{number:.{digits}f}"


def error(
    runs: Mapping[Truth, Runs], column: str, metric: str, methods: Methods, truth: Truth
) -> float:
    """Mean over rows of a column of the paper's tables."""
    return mean_of_rows(mean_errors(runs[truth], column, metric, methods, truth))


# -- the results agree with each other ------------------------------------------------------


def test_results_are_of_the_whole_study(report: str, means: Any) -> None:
    assert "- 1,800 runs on 12 data sets, 36 of the 36 rows of the paper's tables." in report
    assert "Not complete" not in report
    truth = means[Combination("auc", "same")]
    assert set(truth) == set(printed_table("auc"))
    assert sum(numbers["runs"] for numbers in truth.values()) == 1800
    for name in ("Command", "Seed", "Computing time", "Runs made with", "Finished", "Card"):
        assert re.search(rf"^\| {name} \| \S.* \|$", report, re.MULTILINE)
    assert (ROOT / "paper" / "results" / "paper.csv").stat().st_size < 5e6


def test_criteria_of_the_report_are_those_of_the_numbers(
    tool: ModuleType, report: str, means: Any, runs: dict[Truth, Runs]
) -> None:
    _, *rows = tool.section(report, "What the study set out to show")
    measured = [row[1] for row in rows]
    alpha, beta = (Combination(name, "estimate", OURS.estimator) for name in ("alpha", "beta"))
    bias = tool.mean(means, beta, "bias_same") - tool.mean(means, alpha, "bias_same")

    def mean_error(column: str, metric: str, methods: Methods, truth: Truth) -> float:
        return error(runs, column, metric, methods, truth)

    held = []
    for estimator, metric in product((OURS.estimator, REPORTS), TITLES):
        what = paper_combination("ie", metric, OURS)._replace(estimator=estimator)
        shares = {
            row.dataset: tool.mean(means, what, "covered", row.dataset) for row in means[what]
        }
        held += [tool.mean(means, what, "covered"), min(shares.values())]
    de, dr = (mean_error(column, "auc", OURS, "same") for column in ("de", "dr"))
    assert measured[:4] == [
        "1,800",
        f"{mean_error('dr', 'auc', OURS, 'traditional'):.4f}",
        f"{mean_error('ir', 'auc', OURS, 'traditional'):.4f}",
        f"{mean_error('ir', 'auc', PAPERS, 'traditional'):.4f}",
    ]
    # measured[4], e, is of errors of alpha and beta in the same run, which the numbers lack.
    sizes = [tool.mean(means, what, "error_same") for what in (alpha, beta)]
    assert abs(bias) <= float(measured[4]) <= sum(sizes)
    assert float(measured.pop(5 + 4 + len(held))) > float(measured[4])  # the same of reports
    assert measured[5:] == [
        f"{bias:.4f}",
        f"{de:.4f}",
        f"{de / dr:.4f}",
        f"{mean_error('ie', 'auc_pr', OURS, 'same'):.4f}",
        *(f"{100 * share:.1f} %" for share in held),
        f"{mean_error('ie', 'auc', OURS, 'traditional'):.4f}",
        f"{mean_error('de', 'auc', OURS, 'traditional'):.4f}",
        f"{mean_error('ie', 'auc_pr', OURS, 'traditional'):.4f}",
    ]


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


# -- the page agrees with the results -------------------------------------------------------


def test_tables_are_those_of_the_study(tool: ModuleType, report: str, means: Any) -> None:
    for name, content in tool.tables(report, means).items():
        stored = (PAGE / name).read_text(encoding="utf-8")
        assert stored == content, "run: paper/tools/make_paper_findings.py"
        assert f":file: {name}" in (PAGE / "paper_findings.rst").read_text(encoding="utf-8")


def test_figures_are_there(tool: ModuleType) -> None:
    text = (PAGE / "paper_findings.rst").read_text(encoding="utf-8")
    shown = re.findall(r"figure:: \.\./_static/(\S+)", text)
    assert shown == ["paper_beside.svg", "paper_standings.svg", "paper_thresholds.svg"]
    for name in shown:
        assert (tool.STATIC / name).read_text(encoding="utf-8").startswith("<?xml")


def test_the_readme_has_the_headline(runs: dict[Truth, Runs]) -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    same, paper = (error(runs, "ie", "auc", OURS, truth) for truth in ("same", "traditional"))
    assert (
        f"the mean error of AUC is {same:.3f} against the true AUC of the same scores, and "
        f"{paper:.3f} against the one the paper used, where the paper has "
        f"{printed_mean('ie', 'auc'):.3f}" in text
    )


def test_beside_figure_has_a_mark_per_row(tool: ModuleType) -> None:
    rows = {Row("gas", 1.0): (0.1, 0.2), Row("gas", 0.75): (0.3, 0.0), Row("wine", 1.0): (0.2, 0.1)}
    figure = tool.beside_figure({"IR": rows, "DR": {Row("gas", 1.0): (0.05, 0.4)}})
    left, right = figure.axes
    marks = {line.get_label(): line.get_xydata().tolist() for line in left.get_lines()[1:]}
    assert marks == {"β = 1": [[0.1, 0.2], [0.2, 0.1]], "β = 0.75": [[0.3, 0.0]]}
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["IR", "DR"]
    assert left.get_xlim() == left.get_ylim() == right.get_xlim()
    assert left.get_xlim()[0] < 0
    assert left.get_xlim()[1] == pytest.approx(0.42)
    plt.close(figure)
