"""Print how much code there is: lines, files, public names and options, by folder.

Code lines are lines with a token on them that is neither a comment nor part of a docstring, be it
of a module, a class, a function or an attribute (PEP 257: the string below an assignment). The
limit of ``src/purecover`` holds since reports take judged rows.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "src/purecover": 22_000,
    "paper/src/purecover_paper": 7_000,
    "studies": 3_500,
    "tools": 1_200,
}
"""Folders with the most code lines that they should have."""
TESTS = ("tests", "paper/tests")
MOST_TESTS, MOST_NAMES, MOST_AT_TOP, MOST_OPTIONS = 20_000, 120, 35, 150

_SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(source: bytes) -> int:
    """Count the lines of Python that do something."""
    silent: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        body = node.body if isinstance(node, _DOCUMENTED) else []
        for before, each in zip([None, *body], body, strict=False):
            value = each.value if isinstance(each, ast.Expr) else None
            is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
            if is_text and isinstance(before, ast.Assign | ast.AnnAssign | None):
                silent.update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - silent)


def count() -> dict[tuple[str, str], tuple[int, int]]:
    """Code lines and files by folder and subfolder; modules of a folder itself as ``(root)``."""
    lines: Counter[tuple[str, str]] = Counter()
    files: Counter[tuple[str, str]] = Counter()
    for folder in (*FOLDERS, *TESTS):
        for path in (ROOT / folder).rglob("*.py"):
            inner = path.relative_to(ROOT / folder).parts[:-1]
            key = folder, inner[0] if inner else "(root)"
            lines[key] += code_lines(path.read_bytes())
            files[key] += 1
    return {key: (lines[key], files[key]) for key in lines}


def public_names() -> Counter[str]:
    """Count the public names of purecover, those at the top and those of each folder."""
    sys.path.insert(0, str(ROOT))
    from tests.public_names import public_names as named

    return Counter(name.rpartition(".")[0] or "(top)" for name in named())


def options() -> dict[str, int]:
    """Count the distinct options of each command; those of its own commands are its own."""
    from purecover.cli.shell import app

    def options_of(command: Any) -> set[str]:
        inner = [name for name in command if not name.startswith("-")]
        if inner:
            return set().union(*(options_of(command[name]) for name in inner))
        arguments = command.assemble_argument_collection()
        return {each.name for each in arguments if each.name.startswith("--")}

    return {name: len(options_of(app[name])) for name in app if not name.startswith("-")}


def main() -> int:
    """Print the tables."""
    print(f"{'folder':<38}{'code':>8}{'files':>7}")
    totals: Counter[str] = Counter()
    for (folder, inner), (lines, files) in sorted(count().items()):
        totals["tests" if folder in TESTS else folder] += lines
        if folder in ("src/purecover", "paper/src/purecover_paper"):
            print(f"  {folder.rpartition('/')[2]}/{inner:<24}{lines:>9,}{files:>7}")
    for folder, limit in {**FOLDERS, "tests": MOST_TESTS}.items():
        print(f"{folder:<38}{totals[folder]:>8,}   (at most {limit:,})")
    names = public_names()
    print(f"\npublic names: {sum(names.values())} (at most {MOST_NAMES}), ", end="")
    print(f"{names.pop('(top)')} at the top (at most {MOST_AT_TOP}); {dict(names)}")
    counted = options()
    print(f"options: {sum(counted.values())} (at most {MOST_OPTIONS}); {counted}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
