"""Pages of the documentation list all there is."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import purecover as pu

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation"


@pytest.fixture
def tool(import_tool: Callable[[str], ModuleType]) -> ModuleType:
    return import_tool("make_choosing")


def test_tables_are_those_of_the_study(tool: ModuleType) -> None:
    text = tool.LEADERBOARD.read_text(encoding="utf-8")
    for name, content in tool.tables(text).items():
        stored = (PAGE / name).read_text(encoding="utf-8")
        assert stored == content, "run: make choosing"


DOCS = ROOT / "docs"


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return importlib.import_module("registry_tables")


@pytest.fixture
def built_in(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[pu.estimators.PriorEstimator]]:
    """Those of the package, whatever other tests have registered."""
    known = pu.estimators.prior_estimators()
    ours = {n: cls for n, cls in known.items() if cls.__module__.startswith("purecover.")}
    monkeypatch.setattr(pu.estimators, "prior_estimators", lambda: ours)
    return ours


def test_every_estimator_has_a_row(
    extension: ModuleType, built_in: dict[str, type[pu.estimators.PriorEstimator]]
) -> None:
    rows = list(extension.estimators())
    assert len(rows) == len(built_in) >= 20
    for (name, cls), cells in zip(built_in.items(), rows, strict=True):
        assert len(cells) == len(extension.EstimatorTable.heads)
        assert all(cells), name
        assert cells[0] == f"``{name}``, :class:`~purecover.estimators.{cls.__name__}`"
        assert getattr(pu.estimators, cls.__name__) is cls  # so that the link leads somewhere
        assert cells[1].startswith(cls.takes)
        assert ("beta" in cells[1]) == cls().estimates_beta
        assert "\n" not in "".join(cells)


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
    from purecover.cli.shell import app

    text = (DOCS / "howto" / "command_line.rst").read_text(encoding="utf-8")
    shown = re.findall(r"^\.\. cli-help:: (.+)$", text, re.MULTILINE)
    commands = []
    for name in (name for name in app if not name.startswith("-")):
        nested = [inner for inner in app[name] if not inner.startswith("-")]
        commands += [f"{name} {inner}" for inner in nested] or [name]
    assert {"evaluate", "audit plan"} < set(commands)
    assert sorted(shown) == sorted(commands)
