"""purecover_paper is built on public names of purecover only."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import purecover_paper

FOLDER = Path(purecover_paper.__file__).parent


def imports(tree: ast.AST) -> list[tuple[str, str]]:
    """All imports of purecover: module and name, which is empty for ``import module``."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(each.name, "") for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", each.name) for each in node.names]
    return [each for each in found if each[0].partition(".")[0] == "purecover"]


def is_public(module: str, name: str) -> bool:
    """Whether a folder of purecover, or its exceptions, offers the name."""
    bring = importlib.import_module(module)
    is_front = hasattr(bring, "__path__") or module == "purecover.exceptions"
    return is_front and (not name or name in bring.__all__ or name == "__version__")


def test_only_public_names_are_imported() -> None:
    files = sorted(FOLDER.rglob("*.py"))
    found = [(file, *each) for file in files for each in imports(ast.parse(file.read_text()))]
    assert len(found) > 20
    private = [
        f"{file.relative_to(FOLDER)}: {module} {name}"
        for file, module, name in found
        if "._" in module
        or name.startswith("_") > (name == "__version__")
        or not is_public(module, name)
    ]
    assert private == []


def test_a_private_name_would_be_found() -> None:
    source = "from purecover.counts import auc_pu\nimport purecover.recovery.curves"
    assert [is_public(*each) for each in imports(ast.parse(source))] == [False, False]
