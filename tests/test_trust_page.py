"""The page on how far to trust a figure says what the studies found."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "trust.rst"
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def page() -> str:
    return " ".join(PAGE.read_text(encoding="utf-8").split())


def table(name: str) -> list[dict[str, str]]:
    """The rows of the first table of a results file."""
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    headers, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(headers, row, strict=True)) for row in rows]


def share(cell: str) -> float:
    return float(cell.removesuffix("%"))


def percent(value: float) -> str:
    return f"{value:.1f}"


def test_intervals_where_everything_holds(page: str) -> None:
    default = [
        share(row["coverage"])
        for row in table("coverage")
        if row["interval"] == "DeLong, logit" and row["data sets"] == "2000"
    ]
    assert len(default) == 16
    ends = f"{percent(min(default))} to {percent(max(default))} %"
    assert page.count(ends) == 2
    others = table("coverage_metrics")
    held = [share(row["coverage"]) for row in others]
    assert f"{percent(min(held))} to {percent(max(held))} % of 200 data sets each" in page
    assert {row["data sets"] for row in others} == {"200"}
    assert len({row["world"] for row in others}) == 6
    lowest = min(others, key=lambda row: share(row["coverage"]))
    assert lowest["metric"] == "recall"
    assert lowest["world"].startswith("excellent")


def test_intervals_of_estimated_alpha(page: str) -> None:
    rows = [
        row for row in table("prior_coverage") if row["of"] == "alpha" and row["world"] != "all"
    ]
    for sizes in ("200 + 2000", "1000 + 10000", "5000 + 50000"):
        found = [row for row in rows if row["sizes"] == sizes]
        assert len(found) == 4
        held = [share(row["coverage"]) for row in found]
        words = " + ".join(f"{int(size):,}" for size in sizes.split(" + "))
        assert f"* - {words} - {percent(min(held))} % - {percent(max(held))} %" in page
        if sizes.startswith("200 "):
            for row in found:
                missed = 100 - share(row["coverage"])
                assert share(row["too wide"]) > 0.9 * missed


def test_intervals_on_real_data(page: str) -> None:
    findings = (PAGE.parent / "paper_findings.rst").read_text(encoding="utf-8")
    said = re.search(
        r"in (\S+) % of\s+the runs, but in only (\S+) % of those on one data set, Bank", findings
    )
    assert said is not None
    overall, bank = said.groups()
    assert f"it is {overall} % on average, and {bank} % on the worst of twelve" in page
    assert f"hold the truth in {overall} %. On the data set Bank, {bank} %" in page


def test_what_the_page_reads_from_the_table(page: str) -> None:
    rows = {row["situation"]: row for row in table("trust")}
    with (RESULTS / "trust.csv").open(encoding="utf-8", newline="") as file:
        assert list(rows.values()) == list(csv.DictReader(file))

    def held(name: str) -> str:
        return rows[name]["interval holds"].removesuffix("%")

    def warned(name: str) -> str:
        return rows[name]["data sets with a warning"].removesuffix("%")

    low, high = "alpha given as .20", "alpha given as .30"
    assert f"in {held(low)} or {held(high)} % of the data sets instead of 95 %" in page
    assert f"{warned(low)} and {warned(high)} % in the table" in page
    noisy = "a tenth of the labels wrong, taken as clean"
    assert warned(noisy) == "0"
    assert f"taken as clean is worse: {held(noisy)} %, and no check speaks" in page
    alone, told = (
        "families of five rows, taken as independent",
        "families of five rows, groups given",
    )
    assert (
        f"from {held(alone)} % back to {held(told)} %, over {rows[told]['data sets']} data" in page
    )
    clear = "clear positives labeled first"
    assert rows[clear]["checks"] == "PU002"
    assert f"speaks in {warned(clear)} % of the data sets" in page
    clear += ", alpha estimated"
    assert f"checks are silent but in {warned(clear)} %" in page
    assert f"then holds the truth in {held(clear)} %" in page
    nothing = "nothing pure at the top, alpha estimated"
    assert f"holds the truth in {held(nothing)} % of the data sets; in {warned(nothing)} %" in page
    wide = rows[nothing]["identification interval holds"].removesuffix("%")
    assert f"identification interval of the report holds the truth in {wide} %" in page
    trained = "scores of the training rows"
    error = rows[trained]["mean error"].replace("+0.", ".")
    assert f"here by {error}, and a check warns in {warned(trained)} %" in page
    assert "500 labeled and 5,000 unlabeled rows, alpha .25" in page
