"""Pages of the documentation say what the studies found, and list all there is."""

from __future__ import annotations

import csv
import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

import purecover as pu

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "studies" / "results"


def table(name: str) -> list[dict[str, str]]:
    """The rows of the first table of a results file."""
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    first = text[text.index("\n|") :].partition("\n\n")[0]
    lines = first.strip().splitlines()
    headers, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(headers, row, strict=True)) for row in rows]


def test_the_table_of_the_page_is_that_of_the_results() -> None:
    with (RESULTS / "trust.csv").open(encoding="utf-8", newline="") as file:
        assert table("trust") == list(csv.DictReader(file))


DOCS = ROOT / "docs"


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return importlib.import_module("registry_tables")


@pytest.fixture
def built_in(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[pu.estimators.PriorEstimator]]:
    """Those of the two packages, whatever other tests have registered."""
    known = pu.estimators.prior_estimators()
    ours = {
        n: cls
        for n, cls in known.items()
        if cls.__module__.startswith(("purecover.", "purecover_paper."))
    }
    monkeypatch.setattr(pu.estimators, "prior_estimators", lambda: ours)
    return ours


def test_every_estimator_has_a_row(
    extension: ModuleType, built_in: dict[str, type[pu.estimators.PriorEstimator]]
) -> None:
    rows = list(extension.estimators())
    assert len(rows) == len(built_in) >= 19
    for (name, cls), cells in zip(built_in.items(), rows, strict=True):
        assert len(cells) == len(extension.EstimatorTable.heads)
        assert all(cells), name
        if cls.__module__.startswith("purecover."):
            assert cells[0] == f"``{name}``, :class:`~purecover.estimators.{cls.__name__}`"
            assert getattr(pu.estimators, cls.__name__) is cls  # so that the link leads somewhere
        else:
            assert cells[0] == f"``{name}``, ``purecover_paper.systems.{cls.__name__}``"
        assert cells[1].startswith(cls.takes)
        assert ("beta" in cells[1]) == cls().estimates_beta
        assert "\n" not in "".join(cells)


def test_those_for_clean_labels_say_so(
    extension: ModuleType, built_in: dict[str, type[pu.estimators.PriorEstimator]]
) -> None:
    for name, cls in built_in.items():
        said = "labels are clean" in extension.said(cls, "Assumes")
        assert said == (not cls().estimates_beta), name


@pytest.mark.parametrize("code", ["PU004", "PU006", "PU011", "PU017", "PU018", "PU019"])
def test_checks_of_estimates_send_to_audits(code: str) -> None:
    text = (DOCS / "checks" / f"{code}.rst").read_text(encoding="utf-8")
    advice = text.partition("What to do")[2]
    assert ":doc:`../howto/audit`" in advice
    if code != "PU006":  # which is about labels, not about models
        assert ":doc:`../howto/model_selection`" in advice


def test_every_page_is_in_a_list() -> None:
    listed = []
    for index in (DOCS / "howto" / "index.rst", DOCS / "explanation" / "index.rst"):
        names = re.findall(r"^   ([a-z_]+)$", index.read_text(encoding="utf-8"), re.MULTILINE)
        listed += [f"{index.parent.name}/{name}" for name in names]
    for index in (DOCS / "start.rst", DOCS / "advanced.rst", DOCS / "studies.rst"):
        text = index.read_text(encoding="utf-8")
        listed += re.findall(r"^   ((?:howto|explanation)/[a-z_]+)$", text, re.MULTILINE)
    there = {p.relative_to(DOCS).with_suffix("").as_posix() for p in DOCS.glob("[he]*/*.rst")}
    assert len(listed) == len(set(listed))
    assert set(listed) == there - {"howto/index", "explanation/index"}


def test_the_command_line_page_shows_every_command() -> None:
    from purecover.cli.shell import app

    text = (DOCS / "howto" / "command_line.rst").read_text(encoding="utf-8")
    shown = re.findall(r"^\.\. cli-help:: (.+)$", text, re.MULTILINE)
    commands = []
    for name in (name for name in app if not name.startswith("-")):
        nested = [inner for inner in app[name] if not inner.startswith("-")]
        commands += [f"{name} {inner}" for inner in nested] or [name]
    assert {"evaluate", "audit plan"} < set(commands)
    assert sorted(shown) == sorted(commands)


def test_a_site_with_an_address_has_a_map(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    site = importlib.import_module("lean_site")
    (tmp_path / "_static").mkdir()
    page = "<nav>Menu</nav><article><h1>Title</h1><p>a &lt; b <math>x</math></p></article>"
    for name in ("index.html", "search.html"):
        (tmp_path / name).write_text(page, encoding="utf-8")
    site.write_maps(tmp_path, "")
    assert not (tmp_path / "sitemap.xml").exists()
    site.write_maps(tmp_path, "https://example.org/docs/")
    found = (tmp_path / "sitemap.xml").read_text(encoding="utf-8")
    assert re.findall("<loc>(.*?)</loc>", found) == ["https://example.org/docs/index.html"]
    excerpts = (tmp_path / "_static" / "excerpts.js").read_text(encoding="utf-8")
    assert excerpts == 'const EXCERPTS = {"index.html": "Title a < b"};\n'
