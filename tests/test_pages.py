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
PAGE = ROOT / "docs" / "explanation"


TRUST = ROOT / "docs" / "explanation" / "trust.rst"
RESULTS = ROOT / "studies" / "results"


@pytest.fixture(scope="module")
def page() -> str:
    return " ".join(TRUST.read_text(encoding="utf-8").split())


def table(name: str) -> list[dict[str, str]]:
    """The rows of the first table of a results file."""
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    first = text[text.index("\n|") :].partition("\n\n")[0]
    lines = first.strip().splitlines()
    headers, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(headers, row, strict=True)) for row in rows]


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
    assert f"is worse: {held(noisy)} %, and a check warns in {warned(noisy)} %" in page
    alone, told = (
        "families of five rows, taken as independent",
        "families of five rows, groups given",
    )
    assert f"from {held(alone)} % back to {held(told)} %" in page
    clear = "clear positives labeled first"
    assert rows[clear]["checks"] == "PU002"
    assert f"warns in {warned(clear)} % of the data sets" in page
    clear += ", alpha estimated"
    assert f"interval of the default holds the truth in {held(clear)} %" in page
    assert f"a check warns in {warned(clear)} %; on real data" in page
    nothing = "nothing pure at the top, alpha estimated"
    assert f"its interval holds the truth in {held(nothing)} % of the data sets" in page
    checks = (RESULTS / "trust.md").read_text(encoding="utf-8")
    (noted,) = re.findall(rf"^\| PU017 .*?{nothing}: (\d+)%", checks, re.MULTILINE)
    assert f"PU017 <../checks/PU017>` is noted in {noted} %" in page
    known = float(rows["everything holds"]["mean width"])
    widths = [float(row["mean width"]) for name, row in rows.items() if "estimated" in name]
    assert min(widths) < known < max(widths)
    trained = "scores of the training rows"
    error = rows[trained]["mean error"].removeprefix("+")
    assert f"here by {error}, and a check warns in {warned(trained)} %" in page
    assert "500 labeled and 5,000 unlabeled rows, alpha 0.25" in page


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
