"""Imports point down the layers, wherever in a file they stand."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "purecover"
PAGE = ROOT / "docs" / "explanation" / "architecture.rst"

# A unit is a module or a subpackage of purecover. Units of one layer do not import each other,
# unless the layer is in SHARED, where they may as long as no circle arises.
LAYERS = {
    0: {"exceptions", "_codec", "_imports", "_parameters", "_progress", "_typing", "_validation"},
    1: {
        "counts",
        "proportions",
        "example",
        "_inputs",
        "engines",
    },
    2: {"recovery", "simulate"},
    3: {"intervals"},
    4: {"estimators"},
    5: {"audit", "models"},
    6: {"priors"},
    7: {"checks", "displays"},
    8: {"report", "scorers", "html", "_view", "paper", "app", "monitoring"},
    9: {"cli", "__init__", "__main__"},
}
SHARED = {0, 1, 8, 9}
LAYER_OF = {unit: layer for layer, units in LAYERS.items() for unit in units}

# Packages that only some units may import at the top of a file; the rest import inside functions.
# matplotlib, pandas, polars, pyarrow and torch are optional and never imported at the top.
ANYWHERE_INSIDE_FUNCTIONS_ONLY = {
    "sklearn", "matplotlib", "narwhals", "jinja2", "pandas", "polars", "pyarrow", "duckdb", "torch",
    "msgspec",
}  # fmt: skip
# Except that models derive from classes of scikit-learn, and saved forms and messages
# from those of msgspec. The reader of files is imported by the commands that read any.
AT_THE_TOP = {
    ("models", "sklearn"),
    ("report", "msgspec"), ("app", "msgspec"), ("cli", "msgspec"), ("cli", "duckdb"),
    ("paper", "msgspec"),
}  # fmt: skip


@dataclass(frozen=True)
class Import:
    file: str
    line: int
    unit: str
    target: str  # a dotted name, e.g. purecover.counts or numpy
    typing_only: bool
    in_function: bool

    @property
    def target_unit(self) -> str | None:
        first, _, rest = self.target.partition(".")
        return (rest.partition(".")[0] or "__init__") if first == "purecover" else None

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.unit} -> {self.target}"


def unit_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def is_typing_guard(node: ast.If) -> bool:
    return ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def resolve(node: ast.ImportFrom, path: Path) -> list[str]:
    """The modules an import names; `from purecover import counts` names purecover.counts."""
    base = node.module or ""
    if node.level:
        folder = ["purecover", *path.relative_to(PACKAGE).parent.parts]
        base = ".".join([*folder[: len(folder) - node.level + 1], *filter(None, [base])])
    if base == "purecover":
        return [
            f"purecover.{alias.name}" if alias.name in LAYER_OF else "purecover"
            for alias in node.names
            if alias.name != "__version__"  # a constant; the package itself is always loaded
        ]
    folder = PACKAGE.joinpath(*base.split(".")[1:])
    modules = [a.name for a in node.names if (folder / f"{a.name}.py").is_file()]
    found = [f"{base}.{name}" for name in modules if base.startswith("purecover.")]
    return found if len(found) == len(node.names) else [*found, base]


STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


def walk(
    node: ast.AST, path: Path, *, typing_only: bool = False, in_function: bool = False
) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, STATEMENTS):
            continue  # an expression holds no import
        targets: list[str] = []
        if isinstance(child, ast.Import):
            targets = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            targets = resolve(child, path)
        for target in targets:
            yield Import(
                file=path.relative_to(PACKAGE).as_posix(),
                line=child.lineno,  # type: ignore[attr-defined]
                unit=unit_of(path),
                target=target,
                typing_only=typing_only,
                in_function=in_function,
            )
        guarded = isinstance(child, ast.If) and is_typing_guard(child)
        function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from walk(
            child,
            path,
            typing_only=typing_only or guarded,
            in_function=in_function or function,
        )


@cache
def all_imports() -> list[Import]:
    found: list[Import] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        found += walk(ast.parse(path.read_text(encoding="utf-8")), path)
    return found


def violations(imports: list[Import]) -> list[str]:
    bad = []
    for item in imports:
        target = item.target_unit
        if target is None or target == item.unit or not {target, item.unit} <= set(LAYER_OF):
            continue  # our own, or without a layer yet: the test above names those
        here, there = LAYER_OF[item.unit], LAYER_OF[target]
        # A name for annotations only is no dependency between siblings, but still not upward.
        sibling_allowed = here in SHARED or item.typing_only
        if there > here or (there == here and not sibling_allowed):
            bad.append(str(item))
    return bad


def test_every_module_has_a_layer() -> None:
    units = {unit_of(path) for path in PACKAGE.rglob("*.py")}
    assert not units - set(LAYER_OF), "add the new modules to LAYERS"


def test_imports_point_down() -> None:
    assert violations(all_imports()) == []


def test_no_circles() -> None:
    graph: dict[str, set[str]] = {}
    for item in all_imports():
        target = item.target_unit
        # The package's own list of names imports everything lazily; that is its job.
        if target and target != item.unit and not item.typing_only and item.unit != "__init__":
            graph.setdefault(item.unit, set()).add(target)
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError


def test_no_circles_between_modules() -> None:
    graph: dict[str, set[str]] = {}
    for item in all_imports():
        module = f"purecover.{item.file.removesuffix('.py').replace('/', '.')}"
        module = module.removesuffix(".__init__")
        if item.target.startswith("purecover.") and not item.typing_only and module != "purecover":
            graph.setdefault(module, set()).add(item.target)
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError


def test_private_modules_stay_in_their_folder() -> None:
    """What several folders need has a public name, or stands at the root."""
    bad = []
    for item in all_imports():
        *folders, module = item.target.split(".")
        private = module.startswith("_") and not module.startswith("__")
        if folders[:1] == ["purecover"] and private and len(folders) > 1:
            if item.unit != folders[1]:
                bad.append(str(item))
    assert bad == []


def test_heavy_packages_are_imported_inside_functions() -> None:
    bad = [
        str(item)
        for item in all_imports()
        if item.target.partition(".")[0] in ANYWHERE_INSIDE_FUNCTIONS_ONLY
        and not item.in_function
        and not item.typing_only
        and (item.unit, item.target.partition(".")[0]) not in AT_THE_TOP
    ]
    assert bad == []


def test_recovery_and_report_do_not_draw() -> None:
    drawing = {"matplotlib"}
    bad = [
        str(item)
        for item in all_imports()
        if item.target.partition(".")[0] in drawing and item.unit not in {"displays", "paper"}
    ]
    assert bad == []


@pytest.mark.parametrize(
    ("source", "unit_file", "found"),
    [
        ("from purecover.report import evaluate", "counts.py", True),
        ("def f():\n    import purecover.report", "counts.py", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import purecover.report",
         "counts.py", True),
        ("from purecover import evaluate", "recovery/curves.py", True),
        ("from purecover import counts", "recovery/curves.py", False),
        ("from ..report import evaluate", "recovery/curves.py", True),
        ("from . import auc", "recovery/curves.py", False),
        ("from purecover.intervals import Interval", "displays/curves.py", False),
        ("from purecover.checks import run_checks", "displays/curves.py", True),
        ("if TYPE_CHECKING:\n    from purecover.checks import CheckResult",
         "displays/curves.py", False),
        ("from purecover.counts import ScoreCounts", "proportions.py", False),
        ("import numpy", "counts.py", False),
        ("from purecover import __version__", "counts.py", False),
    ],
)  # fmt: skip
def test_the_rule_sees(source: str, unit_file: str, found: bool) -> None:
    """The test above is only worth something if it can fail."""
    imports = list(walk(ast.parse(source), PACKAGE / unit_file))
    assert bool(violations(imports)) is found


def test_the_page_names_every_unit_in_its_layer() -> None:
    rows = re.findall(r"\n   \* - (\d)\n     - ``(\w+)``\n     - \S", PAGE.read_text("utf-8"))
    assert sorted(rows) == sorted((str(layer), unit) for unit, layer in LAYER_OF.items())
    assert [layer for layer, _ in rows] == sorted((layer for layer, _ in rows), reverse=True)


def test_the_page_names_files_that_there_are() -> None:
    _, _, places = PAGE.read_text("utf-8").partition("Where do I find")
    named = re.findall(
        r"``((?:benchmarks|tests|\w+)/[\w/.]*)``", places.partition("House rules")[0]
    )
    assert len(named) >= 8
    for name in named:
        assert (PACKAGE / name).exists() or (ROOT / name).exists(), name


@pytest.fixture
def tool(import_tool: Callable[[str], ModuleType]) -> ModuleType:
    return import_tool("make_architecture")


def test_the_picture_is_that_of_the_imports(tool: ModuleType) -> None:
    assert tool.FIGURE.read_text(encoding="utf-8") == tool.picture(LAYERS, all_imports()), (
        "run: make architecture"
    )


def test_the_picture_leaves_out_only_what_follows(tool: ModuleType) -> None:
    graph = {"a": {"b", "c", "d"}, "b": {"c"}, "c": set(), "d": set()}
    assert tool.without_detours(graph) == {**graph, "a": {"b", "d"}}
    whole = tool.imports_of(LAYERS, all_imports())
    arrows = tool.without_detours(whole)

    def reached(unit: str) -> set[str]:
        return arrows[unit].union(*(reached(below) for below in arrows[unit]))

    assert all(below <= reached(unit) for unit, below in whole.items())
    assert "recovery" in arrows["intervals"]
