"""The page on choosing an estimator says what the study found."""

from __future__ import annotations

import csv
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


def rows(name: str) -> dict[str, dict[str, str]]:
    with (PAGE / name).open(encoding="utf-8", newline="") as file:
        first, *_ = headers = next(csv.reader(file))
        return {row[first]: row for row in csv.DictReader(file, headers)}


def test_tables_are_those_of_the_study(tool: ModuleType) -> None:
    text = tool.LEADERBOARD.read_text(encoding="utf-8")
    for name, content in tool.tables(text).items():
        stored = (PAGE / name).read_text(encoding="utf-8")
        assert stored == content, "run: make choosing"


def test_a_cell_is_copied_as_it_stands(tool: ModuleType) -> None:
    text = """
## (b) simulated
| estimator | beta - alpha | bias of beta - alpha | worst beta - alpha | CPU ms |
| --- | --- | --- | --- | --- |
| **default** | 0.0100 | +0.0100 | 0.1 | 9.0 |
| mine | 0.0500 | -0.0100 | 0.200 | 1.0 |
| lost | 0.0500 | -0.0100 | 0.200 | 1.0 |
| theirs 1.0: EM | 0.0500 | -0.0100 | 0.2 | 1.0 |

## (d) real
| estimator | beta - alpha | bias of beta - alpha | worst beta - alpha | CPU ms |
| --- | --- | --- | --- | --- |
| mine | 0.0700 | +0.0200 | 0.300 | 2.0 |
| theirs 1.0: EM | 0.0500 | -0.0100 | 0.2 | 1.0 |
"""
    assert tool.overall(text)[1:] == [
        ["mine", "0.0500", "-0.0100", "0.200", "0.0700", "+0.0200", "0.300", "2.0"]
    ]


DEFAULT = "label-curve (default)"


def test_what_the_page_reads_from_the_tables() -> None:
    overall = rows("choosing_overall.csv")
    best = min(overall, key=lambda name: float(overall[name]["simulated, mean error"]))
    assert best == DEFAULT
    errors = {name: float(row["real, mean error"]) for name, row in overall.items()}
    assert sorted(errors, key=errors.__getitem__)[:2] == ["regrouping", DEFAULT]
    regrouping = {
        name: float(cell) for name, cell in overall["regrouping"].items() if name != "estimator"
    }
    assert round(regrouping["real, mean error"], 3) == 0.058
    assert round(errors[DEFAULT], 3) == 0.062
    assert round(regrouping["simulated, mean error"], 3) in {0.087, 0.088}
    assert regrouping["simulated, bias"] > 0 > regrouping["real, bias"]
    for part in ("simulated", "real"):
        errors = {name: float(row[f"{part}, mean error"]) for name, row in overall.items()}
        assert max(errors, key=errors.__getitem__) == "Elkan-Noto e3, scores as probabilities"
    for name in ("dedpul", "median"):
        assert float(overall[name]["CPU ms"]) < 20
    worlds = {
        scores: {name: float(cell) for name, cell in row.items() if name != "scores"}
        for scores, row in rows("choosing_worlds.csv").items()
    }
    for scores, row in worlds.items():
        if scores.startswith(("weak", "positives in two groups")):
            assert min(row, key=row.__getitem__) == DEFAULT
        if scores.startswith("good"):
            assert max(row["bbe"], row["median"]) < row[DEFAULT]
        if scores.startswith("heavy ties"):
            assert max(row, key=row.__getitem__) == "dedpul"
            assert row[DEFAULT] < row["median"] < min(row["bbe"], row["roc-slope"])


def test_the_figure_names_what_there_is(tool: ModuleType) -> None:
    text = " ".join([*(step.todo for step in tool.STEPS), tool.LAST])
    names = set(re.findall(r"\b(?:[a-z]+_[a-z_]+|[A-Z][a-z]+[A-Z]\w+|DEDPUL|sensitivity)\b", text))
    assert {"recover_bounds", "plan_audit", "LabelCurve", "NoisyLabels"} <= names
    assert {name for name in names if not hasattr(pu, name)} == set()
    assert tool.FIGURE.exists()
