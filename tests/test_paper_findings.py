"""The committed results of the paper's study agree with each other and with the page about them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from purecover.paper.standings import counting_sheet, standings
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
    """As the page writes it: no zero before the point."""
    return f"{number:.{digits}f}".replace("0.", ".", 1)


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
    assert (ROOT / "benchmarks" / "results" / "paper.csv").stat().st_size < 5e6


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
    for metric in TITLES:
        what = paper_combination("ie", metric, OURS)
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


def test_e_of_the_report_is_the_mean_of_its_rows(tool: ModuleType, report: str) -> None:
    _, *rows = tool.section(report, "What the study set out to show")
    header, *lines = tool.section(report, "Table 1, AUC: our defaults, judged by the paper's truth")
    (column,) = [i for i, name in enumerate(header) if name.startswith("e:")]
    ours = [float(line[column].split()[0]) for line in lines if line[0] != "Mean"]
    assert len(ours) == 36
    assert float(rows[4][1]) == pytest.approx(np.mean(ours), abs=5e-4)


@pytest.mark.parametrize("truth", ["traditional", "same"])
def test_counts_of_the_report_are_those_of_the_numbers(
    report: str, runs: dict[Truth, Runs], truth: Truth
) -> None:
    made = sheet_markdown(counting_sheet(runs[truth]))
    lines = [line for line in made.splitlines() if line.startswith(("| Printed", "| The", "| Our"))]
    assert len(lines) == 6
    # Means of six digits give the last printed digit, but for a tie that rounding could break.
    assert set(lines) <= set(report.splitlines())


# -- the page agrees with the results -------------------------------------------------------


def test_tables_are_those_of_the_study(tool: ModuleType, report: str, means: Any) -> None:
    for name, content in tool.tables(report, means).items():
        stored = (PAGE / name).read_text(encoding="utf-8")
        assert stored == content, "run: make paper-findings"
        assert f":file: {name}" in (PAGE / "paper_findings.rst").read_text(encoding="utf-8")


def test_figures_are_there(tool: ModuleType) -> None:
    text = (PAGE / "paper_findings.rst").read_text(encoding="utf-8")
    shown = re.findall(r"figure:: \.\./_static/(\S+)", text)
    assert shown == ["paper_beside.svg", "paper_standings.svg", "paper_thresholds.svg"]
    for name in shown:
        assert (tool.STATIC / name).read_text(encoding="utf-8").startswith("<?xml")


def test_what_the_page_says_of_the_two_truths(
    tool: ModuleType, means: Any, runs: dict[Truth, Runs], page: str
) -> None:
    same, paper = (tool.mean(means, Combination("auc", t), "mean") for t in ("same", "traditional"))
    assert f"mean AUC is {short(same)} and not {short(paper)}" in page
    assert f"therefore {short(paper - same)} too low" in page
    by_paper, by_same = (
        [error(runs, column, "auc", OURS, truth) for column in ("ie", "ir")]
        for truth in ("traditional", "same")
    )
    assert by_paper[0] < by_paper[1]
    assert by_same[0] > by_same[1]
    assert f"(IE {short(by_paper[0])}, IR {short(by_paper[1])})" in page
    assert f"({short(by_same[0])} and {short(by_same[1])})" in page


def test_what_the_page_says_reproduced(means: Any, runs: dict[Truth, Runs], page: str) -> None:
    printed = printed_table("auc")
    alpha, true, observed = (
        {row: numbers["mean"] for row, numbers in means[what].items()}
        for what in (
            Combination("alpha", "true"),
            Combination("auc", "traditional"),
            Combination("auc", "observed"),
        )
    )
    assert max(abs(alpha[row] - printed[row]["alpha"]) for row in printed) <= 5.001e-4
    gaps = sorted(abs(true[row] - printed[row]["auc"]) for row in printed)
    assert gaps[-2] <= 0.02 < gaps[-1]
    assert f"and {short(gaps[-1])} away in the other" in page
    dr, ir, pu = (
        (error(runs, c, "auc", PAPERS, "traditional"), printed_mean(c, "auc"))
        for c in ("dr", "ir", "pu")
    )
    assert (
        f"{short(dr[0], 4)} direct (printed {short(dr[1], 4)}) and {short(ir[0], 4)} with "
        f"Algorithm 1 ({short(ir[1], 4)})" in page
    )
    assert f"uncorrected AUC is {short(pu[0])} (printed {short(pu[1])})" in page
    pageblock = [row for row in printed if row.dataset == "pageblock"]
    gap = np.mean([observed[row] - printed[row]["auc_pu"] for row in pageblock])
    assert f"observed AUC is {short(float(gap), 2)} above the printed one" in page
    e = np.mean([printed[row]["e"] for row in pageblock])
    assert f"off by {short(float(e))} there" in page


def test_what_the_page_copies_from_the_report(tool: ModuleType, report: str, page: str) -> None:
    met, of = re.findall(r"^- (\d+) of (\d+) criteria are met", report, re.MULTILINE)[0]
    assert f"It meets {met} of {of}." in page
    _, *rows = tool.section(report, "Indirect against direct: who is closer more often")
    counts = {row[0]: row for row in rows}
    direct, indirect, ties = counts["The paper's methods, the paper's truth: IR against DR"][
        1
    ].split(" / ")
    assert direct == "0"
    assert f"in {indirect} of 36 rows, with {ties} ties" in page
    assert counts["The paper's methods, the paper's truth: IR against DR"][-1].endswith("2.4e-04)")
    assert "2.4e-04" in page
    assert counts["The paper's methods, the paper's truth: IE against DE"][2] == "23 of 36"
    assert "26 of 36 rows for IE; here it is 23" in page
    assert counts["Printed: IE against DE"][1:4] == ["8 / 25 / 3", "26 of 36", "0.0057 (0.0023)"]
    assert "8, 25 and 3. With ties shared in turn both are 26 of 36, and P is .0057" in page
    header, *lines = tool.section(
        report, "Table 1, AUC: the paper's methods, judged by the paper's truth"
    )
    (column,) = [i for i, name in enumerate(header) if name.startswith("e:")]
    e = [float(line[column].split()[0]) for line in lines if line[0] == "Pageblock"]
    assert len(e) == 3
    assert f"AlphaMax on our networks by {short(float(np.mean(e)))}" in page
    for name in ("Command", "Card", "Computing time"):
        said = re.search(rf"^\| {name} \| (.*?) \|$", report, re.MULTILINE)
        assert said is not None
        words = said.group(1).replace("83 min", "83 minutes").removeprefix("NVIDIA ")
        assert words in page


def test_what_the_page_says_of_collapsing_curves(runs: dict[Truth, Runs], page: str) -> None:
    judged = runs["traditional"]
    ie, de = (mean_errors(judged, c, "auc", PAPERS, "traditional") for c in ("ie", "de"))
    assert f"larger, {short(mean_of_rows(ie))} to {short(mean_of_rows(de))}" in page
    bad = [row for row in ie if ie[row] - de[row] > 0.02]
    assert len(bad) == 8
    assert "Eight rows" in page
    assert {row.dataset for row in bad} == {"gas", "mushroom", "pendigit", "shuttle"}
    assert all(row.beta < 1 for row in bad)
    worst = Row("shuttle", 0.75)
    assert f"(Shuttle with beta .75: IE {short(ie[worst])}, DE {short(de[worst])})" in page
    rest = [mean_of_rows({r: v for r, v in each.items() if r not in bad}) for each in (ie, de)]
    assert f"{short(rest[0])} to {short(rest[1])}. Our default" in page
    ours = [error(runs, c, "auc", OURS, "same") for c in ("ie", "de")]
    assert f"IE {short(ours[0])}, DE {short(ours[1])} by the same scores" in page


def test_what_the_page_says_of_winners(
    tool: ModuleType, report: str, runs: dict[Truth, Runs], page: str
) -> None:
    auc, pr = (standings(runs["same"], metric, "same", known=False) for metric in TITLES)
    assert auc[0].what == paper_combination("ie", "auc", OURS)
    assert auc[1].what == paper_combination("de", "auc", OURS)
    assert {each.what.estimator for each in auc[:5]} == {OURS.estimator}
    assert auc[4].error < auc[0].high
    # As from all runs; means of six digits move the fourth by one at most.
    for each, metric in ((auc[0], "AUC"), (pr[0], "AUC-PR")):
        line = re.search(rf"smallest mean error of {metric} judged by the same scores: (.*)\.$",
                         report, re.MULTILINE)  # fmt: skip
        assert line is not None
        figures = [float(figure) for figure in re.findall(r"\d\.\d+", line.group(1))]
        np.testing.assert_allclose(figures, [each.error, each.low, each.high], atol=1.01e-4)
    first, second = auc[0], auc[1]
    assert (
        f"{short(first.error, 4)} (95 % interval {short(first.low, 4)} to {short(first.high, 4)}"
        in page
    )
    assert f"direct value, {short(second.error, 4)}" in page
    assert f"{short(pr[0].error, 4)} ({short(pr[0].low, 4)} to {short(pr[0].high, 4)})" in page
    assert (pr[0].what.estimator, pr[0].what.repair) == (OURS.estimator, "isotonic")
    assert f"blend, has {short(error(runs, 'ie', 'auc_pr', OURS, 'same'), 4)}" in page
    _, *rows = tool.section(report, "Estimates of alpha and beta")
    e = {row[0]: row[2].split()[0] for row in rows}
    assert (
        f"is {short(float(e[OURS.estimator]))} (printed {short(printed_mean('e', 'auc'))})" in page
    )
    assert f"and {short(float(e[PAPERS.estimator]))} by the AlphaMax" in page
    _, *rows = tool.section(report, "Algorithm 1 by the number of thresholds, alpha and beta known")
    few = next(row for row in rows if row[0].startswith("Nearly perfect") and row[1] == "10")
    assert f"lose {short(float(few[3].split()[0]))} of their AUC" in page


def test_what_the_page_says_of_the_repairs(tool: ModuleType, means: Any, page: str) -> None:
    def known(repair: str, column: str, estimator: str = "true") -> float:
        method = "indirect" if repair else "direct"
        found: float = tool.mean(means, Combination("auc", method, estimator, repair), column)
        return found

    repairs = ("hull", "likelihood", "paper", "", "isotonic")
    by_paper = [known(repair, "error_traditional") for repair in repairs]
    biases = [known(repair, "bias_same") for repair in repairs]
    assert by_paper == sorted(by_paper)
    assert biases == sorted(biases, reverse=True)
    assert f"too high by {short(biases[0], 4)}, errs least ({short(by_paper[0], 4)})" in page
    assert f"too low by {short(-biases[-1], 4)}, most" in page
    same = {repair: short(known(repair, "error_same"), 4) for repair in repairs}
    assert f"value, {same['isotonic']} to {same['']}" in page
    assert f"likelihood with {same['likelihood']} and Algorithm 1 with {same['paper']}" in page
    ours = {r: short(known(r, "error_same", OURS.estimator), 4) for r in repairs}
    assert (
        f"({ours['isotonic']}; likelihood {ours['likelihood']}, Algorithm 1 {ours['paper']})"
        in page
    )


def test_what_the_page_says_of_the_bias(
    tool: ModuleType, report: str, means: Any, page: str
) -> None:
    alpha, beta = (Combination(name, "estimate", OURS.estimator) for name in ("alpha", "beta"))
    names = {row.dataset for row in means[alpha]}
    biases = {
        name: tool.mean(means, beta, "bias_same", name) - tool.mean(means, alpha, "bias_same", name)
        for name in names
    }
    worst = sorted(biases, key=biases.__getitem__)[:3]
    said = [f"{name.capitalize()} ({short(biases[name])})" for name in worst]
    assert f"{said[0]}, {said[1]} and {said[2]}" in page
    assert 0.7 < sum(biases[name] for name in worst) / sum(biases.values()) < 0.8
    others = np.mean([value for name, value in biases.items() if name not in worst])
    assert f"mean of the others is {short(float(others))}" in page
    assert f"of {short(float(np.mean(list(biases.values()))))} instead of" in page
    _, *rows = tool.section(report, "Estimates of alpha and beta")
    assert len(rows) == 18
    assert sum(float(row[3]) < 0 for row in rows) == 17
    small = {row[0]: row[2].split()[0] for row in rows if abs(float(row[3])) <= 0.02}
    assert set(small) == {"regrouping", "elkan-noto"}
    first, second = (short(float(small[name])) for name in ("regrouping", "elkan-noto"))
    assert f"({first} and {second})" in page


def test_what_the_page_says_of_bank(tool: ModuleType, means: Any, page: str) -> None:
    def bank(what: Combination, column: str) -> float:
        found: float = tool.mean(means, what, column, "bank")
        return found

    auc, pr = (paper_combination("ie", metric, OURS) for metric in TITLES)
    known = [bank(paper_combination("ir", metric, OURS), "error_same") for metric in TITLES]
    held = [f"{100 * bank(what, 'covered'):.1f} %" for what in (auc, pr)]
    assert f"Bank hold the AUC in {held[0]} of the runs and the AUC-PR in {held[1]}" in page
    assert f"off by {short(known[0])} and the AUC-PR by {short(known[1])}" in page
    estimated = bank(Combination("alpha", "estimate", OURS.estimator), "mean")
    true = bank(Combination("alpha", "true"), "mean")
    assert f"estimated at {short(estimated)} for {short(true)}" in page
    assert f"if about {100 * round(1 - true / estimated, 1):.0f} % of the unlabeled" in page
    assert f"becomes {short(bank(auc, 'bias_same'))} too high" in page
    assert f"intervals {short(bank(auc, 'width'))} wide" in page
    areas = bank(pr, "mean"), bank(Combination("auc_pr", "same"), "mean")
    assert f"AUC-PR {short(areas[0], 2)} instead of {short(areas[1], 2)}" in page
    others = [
        [numbers["covered"] for row, numbers in means[what].items() if row.dataset != "bank"]
        for what in (auc, pr)
    ]
    said = [f"{100 * np.mean(each):.1f} %" for each in others]
    names = {row.dataset for row in means[pr]} - {"bank"}
    least = min(tool.mean(means, what, "covered", name) for what in (auc, pr) for name in names)
    assert f"hold {said[0]} and {said[1]}, and at least {100 * least:.1f} %" in page
    overall = tool.mean(means, auc, "covered")
    assert f"hold the truth in {100 * overall:.1f} % of the runs, but in only {held[0]}" in page


def test_errors_are_below_two_thirds_of_the_printed_ones(runs: dict[Truth, Runs]) -> None:
    for metric, columns in {"auc": ("ie", "de"), "auc_pr": ("ie",)}.items():
        for column in columns:
            ours = error(runs, column, metric, OURS, "traditional")
            assert ours < 2 / 3 * printed_mean(column, metric)


def test_what_the_page_says_of_data_used_in_tuning(
    runs: dict[Truth, Runs], page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    unseen = importlib.import_module("benchmarks._real").HELD_OUT_DATA
    assert ", ".join(name.capitalize() for name in unseen) == "Housing, Pendigit, Wine"
    parts = []
    for methods in (OURS, PAPERS):
        errors = mean_errors(runs["same"], "ie", "auc", methods, "same")
        for here in (True, False):
            kept = {row: v for row, v in errors.items() if (row.dataset in unseen) == here}
            parts.append(short(mean_of_rows(kept)))
    ours, ours_rest, papers, papers_rest = parts
    assert f"by the same scores is {ours} with our defaults and {papers} with" in page
    assert f"in the nine it is {ours_rest} and {papers_rest}" in page


def test_what_the_page_says_of_missing_numbers(report: str, page: str) -> None:
    assert "Two runs have no number for TIcE with the likelihood or the blend" in page
    sizes = {
        repair: int(runs.replace(",", ""))
        for repair, runs in re.findall(r"^\| tice \| (\w+) \| ([\d,]+) \|", report, re.MULTILINE)
    }
    assert sizes["isotonic"] - sizes["likelihood"] == sizes["isotonic"] - sizes["blend"] == 2


def test_the_readme_has_the_headline(runs: dict[Truth, Runs]) -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    same, paper = (error(runs, "ie", "auc", OURS, truth) for truth in ("same", "traditional"))
    assert (
        f"the mean error of AUC is {short(same)} by the truth of the same scores, and "
        f"{short(paper)} by the paper's, where the paper has {short(printed_mean('ie', 'auc'))}"
        in text
    )
