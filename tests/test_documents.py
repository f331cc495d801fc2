"""Documents: every writer walks the sections of a document and knows none by its name."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from tests.markup import Page

import purecover as pu
from purecover.documents import details
from purecover.documents.comparison import comparison_document
from purecover.documents.details import report_document
from purecover.documents.parts import (
    PRINTED,
    Caution,
    Chart,
    Command,
    Live,
    Note,
    Row,
    Section,
    Table,
    grouped,
)
from purecover.documents.text import text_of

MEDIA = {
    "text": pu.PUReport.details,
    "markdown": pu.PUReport.to_markdown,
    "page": pu.PUReport.to_html,
    "notebook": pu.PUReport._repr_html_,
}
"""What writes a report, by medium."""

WRITERS = (
    *(("purecover.documents", f"{name}.py") for name in ("text", "markdown", "parts")),
    *(
        ("purecover.html", f"{name}.html.j2")
        for name in ("base", "report", "parts", "live", "macros", "notebook")
    ),
)


@pytest.fixture(scope="module")
def report() -> pu.PUReport:
    example = pu.load_example()
    return pu.evaluate(example.scores[::3], example.labeled[::3], n_resamples=20)


def made_up(report: pu.PUReport) -> Section:
    """Every kind of part that each medium can write, with words that are nowhere else."""
    assert report.counts.n_labeled
    return Section(
        [
            Note("A zebra paragraph."),
            Note("An okapi in fine print.", "fine"),
            *(Note(f"An item of {name}.", "item") for name in ("quokka", "numbat")),
            Caution("warning", [], "A caution of tapirs.", "Feed the tapirs."),
            Command("purecover feed"),
            Table("Ibex", {"n": "Herd"}, [Row("Ibex one", {"n": "1,725.25"})]),
            Table("Gnu", {"n": "Herd"}, [Row("Gnu two", {"n": "1,825.25"})], "facts"),
            Table("Yak", {"n": "Herd"}, [Row("Yak three", {"n": "It grazes."})], "sentences"),
            Table("Eland", {"n": "Herd"}, [Row("Eland four", {"n": "by day"})], "words"),
        ],
        "made-up",
        "Made-up section",
        fold="closed",
    )


WORDS = (
    "Made-up section", "A zebra paragraph.", "An okapi in fine print.", "An item of quokka.",
    "An item of numbat.", "A caution of tapirs.", "Feed the tapirs.", "purecover feed", "Ibex",
    "Ibex one", "1,725.25", "Gnu", "Gnu two", "1,825.25", "Yak three", "It grazes.", "Eland",
    "Eland four", "by day",
)  # fmt: skip


@pytest.mark.parametrize("medium", MEDIA)
def test_a_new_section_is_in_every_medium(
    medium: str, report: pu.PUReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One function in the list of sections, and nothing else, shows it everywhere."""
    write = MEDIA[medium]
    before = write(report)
    assert not [word for word in WORDS if word in before]
    monkeypatch.setattr(
        details, "SECTIONS", (*details.SECTIONS[:3], made_up, *details.SECTIONS[3:])
    )
    written = write(report)
    if medium in ("page", "notebook"):
        assert Page(written).open == []
        written = " ".join(" ".join(Page(written).texts).split())
    elif medium == "markdown":
        written = written.replace("\\", "")
    assert [word for word in WORDS if word not in written] == []


def test_writers_know_no_section_by_its_name(report: pu.PUReport) -> None:
    scores = {"one": report.counts.thresholds, "two": -report.counts.thresholds}
    compared = pu.compare_scores(
        scores, report.counts.labeled > 0, alpha=0.1, beta=0.9, n_resamples=0
    )
    named = {
        each.name
        for document in (report_document(report), comparison_document(compared))
        for each in document.sections
    }
    assert {"metrics", "unlabeled", "checks", "facts", "models", "hidden-positives"} <= named
    for folder, file in WRITERS:
        text = files(folder).joinpath(file).read_text(encoding="utf-8")
        code = text.partition("def facts(")[0]  # this makes the section of that name
        quoted = set(re.findall(r"[\"'#]([\w-]+)[\"']?", code))
        # A table may be one of facts, too.
        assert quoted & named - {"facts"} == set(), file


@pytest.mark.parametrize("medium", MEDIA)
def test_parts_are_written_where_they_can_be(medium: str) -> None:
    parts = [
        Note("one"),
        Note("two"),
        Note("three", skip=PRINTED),
        Table("", {"n": ""}, []),
        Table("other", {"n": ""}, []),
        Table("", {"m": ""}, []),
        Chart("roc"),
        Live("alpha"),
    ]
    sizes = [len(group) for group in grouped(parts, medium)]  # type: ignore[arg-type]
    assert sizes == [2 if medium in PRINTED else 3, 2, 1, 1, 1]


def test_a_section_without_words_has_no_heading_in_print() -> None:
    assert text_of([Section([Chart("roc"), Live("beta")], "curves", "Curves")]) == ""


@pytest.mark.parametrize("medium", MEDIA)
def test_sections_have_one_title_and_one_order(medium: str, report: pu.PUReport) -> None:
    written = MEDIA[medium](report)
    titles = [each.title for each in report_document(report).sections]
    if medium in PRINTED:
        titles.remove("Curves")  # a picture
    places = [re.search(rf"(?m)(^|### |<h2>|<summary>){title}", written) for title in titles]
    found = [place.start() for place in places if place is not None]
    assert len(found) == len(titles)
    assert found == sorted(found)
