"""The study's page, Markdown and CSV: whole, of a part, and of next to nothing."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.paper_records import paper_records

from purecover.exceptions import InvalidInputError, InvalidTypeError, MissingDependencyError
from purecover.paper import figures as _paper_figures
from purecover.paper.design import Record
from purecover.paper.report import PaperReport, paper_report, to_html, to_markdown, write_report
from purecover.paper.tables import KeptScores

PROVENANCE = {"Command": "purecover paper run --store <b>here</b>", "Seed": "0"}
ONE = Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None)


@pytest.fixture(scope="module", autouse=True)
def _small_maps() -> Generator[None, None, None]:
    """The 27 maps take seconds to draw, and have a test of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_paper_figures, "figure3", lambda: _paper_figures.figure4(n_grid=5))
        yield


@pytest.fixture
def _few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures that do not depend on the records to one test of the page."""
    for name in ("figure1", "figure3", "figure4", "thresholds_figure"):
        monkeypatch.setattr(_paper_figures, name, lambda *_: plt.figure())


@pytest.fixture(scope="module")
def report() -> PaperReport:
    return paper_report(paper_records(), provenance=PROVENANCE)


@pytest.fixture(scope="module")
def page(report: PaperReport) -> str:
    return to_html(report)


class Page(HTMLParser):
    """Elements with attributes, all texts, and whether tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


# -- the page -----------------------------------------------------------------------------


def test_the_page_is_well_formed_and_loads_nothing(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    tags = {tag for tag, _ in parsed.elements}
    assert not tags & {"script", "link", "iframe", "object", "form", "svg"}
    for tag, attributes in parsed.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
        if tag == "a":
            assert str(attributes["href"]).startswith("#")
        if tag == "img":
            assert str(attributes["src"]).startswith("data:image/svg+xml;base64,")
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {str(a["href"])[1:] for tag, a in parsed.elements if tag == "a"}
    assert targets <= set(ids)


def test_the_policy_allows_this_style_and_images_inside(page: str) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(
        attributes["content"] or ""
        for tag, attributes in Page(page).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "img-src data:" in policy


def test_figures_are_whole_pictures_with_words_for_those_who_do_not_see_them(page: str) -> None:
    images = [attributes for tag, attributes in Page(page).elements if tag == "img"]
    assert len(images) == 7
    for attributes in images:
        data = str(attributes["src"]).partition(",")[2]
        picture = ET.fromstring(base64.b64decode(data))  # noqa: S314 - our own
        assert picture.tag.endswith("svg")
        assert len(str(attributes["alt"])) > 40
    assert plt.get_fignums() == []


def test_all_tables_are_on_the_page(report: PaperReport, page: str) -> None:
    texts = set(Page(page).texts)
    sheets = [sheet for section in report.sections for sheet in section.sheets]
    assert len(sheets) == 1 + 6 + 8 + 1 + 4 + 1 + 1
    for sheet in sheets:
        assert sheet.title in texts
        assert {cell for row in sheet.texts for cell in row if cell} <= texts
    assert page.count("<tr") == sum(len(s.rows) + 1 + bool(s.groups) for s in sheets) + len(
        report.provenance
    )


def test_words_from_outside_are_escaped(page: str) -> None:
    assert "<b>" not in page
    assert "&lt;b&gt;here&lt;/b&gt;" in page


def test_the_page_says_how_it_was_made_and_what_is_missing(page: str) -> None:
    words = " ".join(Page(page).texts)
    assert "purecover paper run --store" in words
    assert re.search(r"purecover \S+, Python 3", words)
    assert "144 of 1,800 runs. 4 of 50 repeats of every row." in words
    assert "9 / 25 / 2" in words
    assert "8 / 25 / 3" in words


@pytest.mark.usefixtures("_few_figures")
def test_the_page_is_the_same_each_time(report: PaperReport) -> None:
    assert to_html(report) == to_html(report)


def test_findings_are_the_figures_of_the_tables(report: PaperReport) -> None:
    findings = " ".join(report.findings)
    assert (
        report.findings[0] == "144 runs on 12 data sets, 36 of the 36 rows of the paper's tables."
    )
    sheets = {sheet.name: sheet for section in report.sections for sheet in section.sheets}
    best = sheets["standings-auc-same-estimated"].rows[0]
    assert f"{best[3]:.4f} ({best[4]:.4f} to {best[5]:.4f})" in findings
    e = {row[0]: row[2] for row in sheets["estimators"].rows}
    assert f"{e['label-curve']:.3f} by label-curve" in findings
    outcomes = [row[-1] for row in sheets["promises"].rows]
    met, all_of = outcomes.count("met"), outcomes.count("met") + outcomes.count("not met")
    assert f"{met} of {all_of} criteria are met" in findings
    covered = sheets["coverage-auc-indirect-label-curve-isotonic"].rows[-1]
    assert f"{100 * covered[2]:.1f} % of 144 runs" in findings


# -- parts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "records",
    [
        paper_records(1, ["wine"]),
        [r for r in paper_records(2, ["gas"]) if r.metric == "auc_pr"],
        [r for r in paper_records(2, ["gas"]) if r.metric in {"alpha", "beta"}],
        [r for r in paper_records(2, ["gas"]) if r.estimator in {"", "true"}],
        [r._replace(dataset="another") for r in paper_records(2, ["gas"])],
        [r._replace(value=np.nan) for r in paper_records(1, ["gas"])],
        [ONE],
    ],
    ids=["one-set", "pr-only", "estimates-only", "known-only", "foreign", "undefined", "one"],
)
@pytest.mark.usefixtures("_few_figures")
def test_a_part_is_reported(records: list[Record], tmp_path: Path) -> None:
    paths = {kind: tmp_path / f"paper.{kind}" for kind in ("html", "markdown", "csv")}
    report = write_report(records, provenance={}, **paths)
    assert report.missing
    page = paths["html"].read_text(encoding="utf-8")
    assert Page(page).open == []
    assert "Not complete." in page
    assert ">nan<" not in page
    assert paths["markdown"].read_text(encoding="utf-8").startswith("# ")
    with paths["csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    measured = {r[:2] + r[3:7] for r in records if np.isfinite(r.value)}
    assert len(rows) == len(measured)


def test_kept_scores_join_the_simulated_ones() -> None:
    rng = np.random.default_rng(0)
    positive = np.arange(300) < 120
    scores = KeptScores("Gas", rng.normal(size=300) + positive, np.arange(300) < 60, positive)
    report = paper_report([ONE], provenance={}, kept_scores=[scores, scores])
    (sheet,) = next(s for s in report.sections if s.name == "thresholds-section").sheets
    assert [row[2] for row in sheet.rows if row[0] == "Gas"] == [2] * 6


# -- Markdown -----------------------------------------------------------------------------


def test_markdown_has_all_tables_with_columns_that_fit(report: PaperReport) -> None:
    text = to_markdown(report)
    sheets = [sheet for section in report.sections for sheet in section.sheets]
    assert all(f"### {sheet.title}" in text for sheet in sheets)
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert len(blocks) == len(sheets) + 1
    for block in blocks:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1
    assert "<b>" not in text


# -- errors -------------------------------------------------------------------------------


def test_nowhere_to_write() -> None:
    with pytest.raises(InvalidInputError, match="html, markdown or csv"):
        write_report([ONE], provenance={})


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"'csv' parameter of write_report .* a folder"):
        write_report([ONE], provenance={}, csv=tmp_path / "absent" / "a.csv")


def test_a_path_that_is_none() -> None:
    with pytest.raises(InvalidTypeError, match="'html' parameter of write_report"):
        write_report([ONE], provenance={}, html="a.html")  # type: ignore[arg-type]


def test_without_records_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="at least one record"):
        write_report([], provenance={}, csv=tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_tables_can_be_written_and_a_page_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match=r"purecover\[plot\]"):
        write_report([ONE], provenance={}, html=tmp_path / "a.html")
    write_report([ONE], provenance={}, markdown=tmp_path / "a.md", csv=tmp_path / "a.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"a.md", "a.csv"}


# -- in a browser -------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
def test_a_browser_shows_it_without_complaint(page: str, tmp_path: Path, scheme: int) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr",
            f"--blink-settings=preferredColorScheme={scheme}",
            f"--screenshot={tmp_path / 'page.png'}", file.as_uri(),
        ],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
