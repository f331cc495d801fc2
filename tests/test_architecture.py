"""The map of the house: no circle of imports, imports point down, private names stay at home."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "purecover"
PAGE = ROOT / "docs" / "explanation" / "architecture.rst"

# From top to bottom. A unit is a folder, or a module at the root, and imports units of lower
# layers. Modules at the root whose names begin with an underscore are the ground.
LAYERS: tuple[set[str], ...] = (
    {"__main__"},
    {"cli"},
    {"app"},
    {"monitoring"},
    {"html"},
    {"documents"},
    {"report"},
    {"displays", "models", "scorers"},
    {"audit", "checks"},
    {"estimators"},
    {"intervals"},
    {"posterior"},
    {"recovery"},
    {"simulate"},
    {"counts", "proportions", "engines", "example"},
    {"exceptions"},
)
RANK = {unit: rank for rank, layer in enumerate(LAYERS) for unit in layer}
GROUND = len(LAYERS) - 1
SHARED = {RANK["counts"], GROUND}
"""Layers whose units may import each other, as long as no circle arises."""

# Methods that show a report may import the layers above when they are called.
LATE = {("report", "html"), ("report", "documents")}

RIM = ("cli", "app", "monitoring", "audit.judging", "audit.notebook")
"""What could be a package of its own: of other folders it imports public names, and the needed."""

NEEDED = {
    "_codec": "documents of JSON, and files that are written whole or not at all",
    "_folders": "temporary folders that nobody else reads, removed if the process is killed",
    "_imports": "public names that load when they are used",
    "_inputs": "labels and columns mean the same in a file, in a frame and on the page",
    "_progress": "whether bars are shown",
    "_shell": "commands as a shell takes them",
    "_typing": "types of arrays",
    "_validation": "messages of one grammar",
    "audit.designs": "headings of a file of answers, as a session writes and a command reads them",
    "documents.details.shell_text": "a text has the commands that follow, and names the file",
    "documents.formats": "numbers as in a report",
    "documents.parts": "a monitor has a document of its own",
    "documents.text": "the same for comparisons and tables",
    "documents.thresholds": "texts of results that are no report",
    "engines.data_files": "a file whose cells are complained of one by one",
    "engines.files": "the same of many files",
    "html.page": "a page has the command that made it and the commands that follow",
    "html.svg": "the timeline of a monitor",
    "intervals.replicates.Resampling": "parameters are declared once, with their checks",
    "proportions.GivenProportions": "parameters are declared once, with their checks",
    "recovery.thresholds.WITH_VALUE": "metrics that no threshold is best for",
    "report.settings": "options by name, some of which a function takes in its settings",
    "report.pipeline": "a report at a threshold that was chosen on the same rows",
}

# Optional packages, and packages that take long to import, are imported inside functions.
INSIDE_FUNCTIONS = {"matplotlib", "pandas", "polars", "pyarrow", "torch", "dask", "pyspark"}


@dataclass(frozen=True)
class Import:
    """An import of one module by a file."""

    module: str
    line: int
    target: str
    name: str | None
    typing_only: bool
    in_function: bool

    def __str__(self) -> str:
        names = self.target if self.name is None else f"{self.target}.{self.name}"
        return f"{self.module}:{self.line} imports {names}"


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit_of(module: str) -> str:
    return [*module.split("."), "__init__"][1]


def rank_of(unit: str) -> int | None:
    return GROUND if unit.startswith("_") and unit not in RANK else RANK.get(unit)


def is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


@cache
def public_names(folder: str) -> dict[str, str]:
    """The files behind the public names of a folder, which its ``__init__`` loads when asked."""
    stub = PACKAGE.parent.joinpath(*folder.split("."), "__init__.pyi")
    if not stub.is_file():
        return {}
    return {
        alias.asname or alias.name: str(node.module)
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def imports_of(
    node: ast.AST, module: str, *, typing_only: bool = False, in_function: bool = False
) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        found: list[tuple[str, str | None]] = []
        if isinstance(child, ast.Import):
            found = [(alias.name, None) for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            base = str(child.module)
            for alias in child.names:
                inner = f"{base}.{alias.name}"
                if base.partition(".")[0] == "purecover" and is_module(inner):
                    found.append((inner, None))
                else:
                    found.append((public_names(base).get(alias.name, base), alias.name))
        line = getattr(child, "lineno", 0)
        for target, name in found:
            yield Import(module, line, target, name, typing_only, in_function)
        guarded = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        nested = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        yield from imports_of(
            child, module, typing_only=typing_only or guarded, in_function=in_function or nested
        )


@cache
def all_imports() -> tuple[Import, ...]:
    found: list[Import] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        found += imports_of(ast.parse(path.read_text(encoding="utf-8")), module_of(path))
    return tuple(found)


def ours(imports: tuple[Import, ...]) -> list[Import]:
    """Imports of our own modules; the lists of public names of each folder load lazily."""
    return [
        each
        for each in imports
        if each.target.partition(".")[0] == "purecover" and each.target != "purecover"
    ]


def is_late(item: Import) -> bool:
    return item.in_function and (unit_of(item.module), unit_of(item.target)) in LATE


def upward(imports: tuple[Import, ...]) -> list[str]:
    bad = []
    for item in ours(imports):
        here, there = unit_of(item.module), unit_of(item.target)
        if here in (there, "__init__") or is_late(item):
            continue
        rank, other = rank_of(here), rank_of(there)
        if rank is None or other is None:
            bad.append(f"{item}: {here if rank is None else there} has no layer")
        elif other < rank:
            bad.append(f"{item}: up")
        elif other == rank and rank not in SHARED:
            bad.append(f"{item}: sideways")
    return bad


def private(imports: tuple[Import, ...]) -> list[str]:
    """Private modules and names of other folders; modules at the root serve all."""
    bad = []
    for item in ours(imports):
        parts = [*item.target.split(".")[2:], item.name or ""]
        if unit_of(item.module) != unit_of(item.target):
            if any(part.startswith("_") and not part.startswith("__") for part in parts):
                bad.append(str(item))
    return bad


def is_within(module: str, places: Iterable[str]) -> bool:
    return any(f"{module}.".startswith(f"purecover.{place}.") for place in places)


def not_public(imports: tuple[Import, ...]) -> list[Import]:
    """Imports of the rim that are neither its own nor public."""
    fronts = [PACKAGE, *(path.parent for path in PACKAGE.glob("*/__init__.pyi"))]
    public = {
        (target, name)
        for front in fronts
        for name, target in public_names(module_of(front)).items()
    }
    return [
        item
        for item in ours(imports)
        if is_within(item.module, RIM)
        and unit_of(item.module) != unit_of(item.target)
        and not is_within(item.target, RIM)
        and (item.target, item.name) not in public
        and item.target != "purecover.exceptions"
    ]


def circle(imports: tuple[Import, ...]) -> list[str]:
    """The files of a circle of imports, inside functions and for annotations too."""
    graph: dict[str, set[str]] = {}
    for item in ours(imports):
        if not is_late(item) and item.module not in ("purecover", item.target):
            graph.setdefault(item.module, set()).add(item.target)
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle_of_imports_between_files() -> None:
    assert circle(all_imports()) == []


def test_imports_point_down() -> None:
    assert upward(all_imports()) == []


def test_private_names_stay_in_their_folder() -> None:
    assert private(all_imports()) == []


def test_the_rim_imports_public_names() -> None:
    """Each exception is used: one that is not needed any more leaves the list."""
    found = not_public(all_imports())
    assert [str(item) for item in found if not is_within(_full(item), NEEDED)] == []
    unused = [place for place in NEEDED if not any(is_within(_full(i), [place]) for i in found)]
    assert unused == []


def _full(item: Import) -> str:
    return item.target if item.name is None else f"{item.target}.{item.name}"


def test_purecover_does_not_import_purecover_paper() -> None:
    bad = [str(each) for each in all_imports() if each.target.startswith("purecover_paper")]
    assert bad == []


OWN_QUANTILES = {"estimators/sources.py"}
"""Files that cut rows into parts of equal size, which are no ends of intervals."""


def test_ends_of_intervals_follow_one_rule_of_ranks() -> None:
    calls = re.compile(r"\b(?:nan)?(?:quantile|percentile)\(")
    files = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if calls.search(path.read_text(encoding="utf-8"))
    }
    assert files == OWN_QUANTILES, "use purecover.intervals.ends"


def test_optional_packages_are_imported_inside_functions() -> None:
    bad = [
        str(item)
        for item in all_imports()
        if item.target.partition(".")[0] in INSIDE_FUNCTIONS
        and not item.in_function
        and not item.typing_only
    ]
    assert bad == []


def test_what_reads_files_ends_lines_as_files_do() -> None:
    """``str.splitlines`` also ends them at form feeds, NEL and U+2028, which stand in cells."""
    folders = [PACKAGE / name for name in ("app", "audit", "cli", "engines", "monitoring")]
    paths = [PACKAGE / "example.py", *(path for each in folders for path in each.rglob("*.py"))]
    assert len(paths) > 20
    assert [str(path) for path in paths if ".splitlines(" in path.read_text("utf-8")] == []


@pytest.mark.parametrize(
    ("source", "module", "rule", "found"),
    [
        ("from purecover.report import evaluate", "purecover.counts", upward, True),
        ("def f():\n    import purecover.report", "purecover.counts", upward, True),
        ("from purecover import counts", "purecover.recovery.curves", upward, False),
        ("def f():\n    from purecover.html import page", "purecover.report.x", upward, False),
        ("from purecover.html import page", "purecover.report.x", upward, True),
        ("from purecover.recovery.curves import _trim", "purecover.report.x", private, True),
        ("from purecover.recovery.curves import _trim", "purecover.recovery.x", private, False),
        ("from purecover._codec import digest", "purecover.report.x", private, False),
        ("from purecover.recovery.rates import map_rates", "purecover.cli.x", not_public, True),
        ("from purecover.recovery.rates import map_rates", "purecover.report.x", not_public, False),
        ("from purecover.recovery import recover_roc", "purecover.app.x", not_public, False),
        ("from purecover.cli.rows import read_rows", "purecover.cli.x", not_public, False),
    ],
)
def test_the_rules_see(source, module, rule, found) -> None:
    """The tests above are only worth something if they can fail."""
    assert bool(rule(tuple(imports_of(ast.parse(source), module)))) is found


def test_a_circle_is_seen_inside_functions_too() -> None:
    sources = {
        "purecover.recovery.curves": "from purecover.recovery import rates",
        "purecover.recovery.rates": "def f():\n    from purecover.recovery import curves",
    }
    found = [i for m, text in sources.items() for i in imports_of(ast.parse(text), m)]
    assert {"purecover.recovery.curves", "purecover.recovery.rates"} <= set(circle(tuple(found)))


def test_the_page_maps_the_folders_there_are() -> None:
    map_of_it = PAGE.read_text(encoding="utf-8").partition("\n::\n")[2].partition("\nHow ")[0]
    rows = re.findall(r"^   (\w+)(/?)  +\S", map_of_it, re.MULTILINE)
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    named = {name for name, slash in rows if slash}
    assert {name for name in named if not (ROOT / name).is_dir()} == folders
    ranks = [RANK[name] for name, _ in rows if name in RANK]
    assert ranks == sorted(ranks), "the page has another order than LAYERS"


def test_the_page_names_files_that_there_are() -> None:
    _, _, places = PAGE.read_text("utf-8").partition("Where do I find")
    named = re.findall(r"``([\w.]+/[\w/.]*)``", places.partition("House rules")[0])
    assert len(named) >= 8
    for name in named:
        assert (PACKAGE / name).exists() or (ROOT / name).exists(), name
