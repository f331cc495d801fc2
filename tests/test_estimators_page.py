"""The page of all estimators has all of them, and pages that advise others link to them."""

from __future__ import annotations

import csv
import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

import purecover as pu

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return importlib.import_module("estimator_table")


@pytest.fixture
def built_in(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[pu.PriorEstimator]]:
    """Those of the package, whatever other tests have registered."""
    known = pu.prior_estimators()
    ours = {n: cls for n, cls in known.items() if cls.__module__.startswith("purecover.")}
    monkeypatch.setattr(pu, "prior_estimators", lambda: ours)
    return ours


def stored() -> dict[str, dict[str, str]]:
    path = DOCS / "explanation" / "estimators.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def test_every_estimator_has_a_row(
    extension: ModuleType, built_in: dict[str, type[pu.PriorEstimator]]
) -> None:
    rows = extension.table(stored())
    assert len(rows) == len(built_in) >= 20
    for (name, cls), cells in zip(built_in.items(), rows, strict=True):
        assert len(cells) == len(extension.HEADS) == len(extension.WIDTHS)
        assert all(cells), name
        assert cells[0] == f"``{name}``, :class:`~purecover.{cls.__name__}`"
        assert getattr(pu, cls.__name__) is cls  # so that the link leads somewhere
        assert cells[1].startswith(cls.takes)
        assert ("beta" in cells[1]) == cls().estimates_beta
        assert "\n" not in "".join(cells)


def test_those_for_clean_labels_say_so(built_in: dict[str, type[pu.PriorEstimator]]) -> None:
    clean = {name for name, row in stored().items() if "labels are clean" in row["assumes"]}
    assert clean == {name for name, cls in built_in.items() if not cls().estimates_beta}


def test_a_missing_row_is_an_error(
    extension: ModuleType, built_in: dict[str, type[pu.PriorEstimator]]
) -> None:
    assert "bbe" in built_in
    rows = stored()
    rows["bbb"] = rows.pop("bbe")
    with pytest.raises(ValueError, match=r"no row for \['bbe'\], no estimator for \['bbb'\]"):
        extension.table(rows)


def test_the_page_on_features_names_those_that_take_them(
    built_in: dict[str, type[pu.PriorEstimator]],
) -> None:
    text = (DOCS / "howto" / "feature_estimators.rst").read_text(encoding="utf-8")
    table = text.partition("rows it works on")[2].partition("\nCounts of scores")[0]
    named = {name for name in built_in if f"``{name}``" in table}
    assert named == {name for name, cls in built_in.items() if cls.takes == "features"}


@pytest.mark.parametrize("code", ["PU004", "PU006", "PU011", "PU012", "PU017", "PU018"])
def test_checks_of_estimates_send_to_audits(code: str) -> None:
    text = (DOCS / "checks" / f"{code}.rst").read_text(encoding="utf-8")
    advice = text.partition("What to do")[2]
    assert ":doc:`../howto/audit`" in advice
    if code != "PU006":  # which is about labels, not about models
        assert ":doc:`../howto/model_selection`" in advice


@pytest.mark.parametrize("folder", ["howto", "explanation"])
def test_every_page_is_in_its_list(folder: str) -> None:
    text = (DOCS / folder / "index.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   ([a-z_]+)$", text, re.MULTILINE)
    there = {path.stem for path in (DOCS / folder).glob("*.rst")} - {"index"}
    assert len(listed) == len(set(listed))
    assert set(listed) == there


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert {"docs/howto/audit.rst", "docs/howto/model_selection.rst"} <= set(links)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_command_line_page_shows_every_command() -> None:
    from purecover.cli.main import app

    text = (DOCS / "howto" / "command_line.rst").read_text(encoding="utf-8")
    shown = re.findall(r"^\.\. cli-help:: (.+)$", text, re.MULTILINE)
    commands = []
    for name in (name for name in app if not name.startswith("-")):
        nested = [inner for inner in app[name] if not inner.startswith("-")]
        commands += [f"{name} {inner}" for inner in nested] or [name]
    assert {"evaluate", "audit plan"} < set(commands)
    assert sorted(shown) == sorted(commands)
