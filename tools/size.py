"""Print how much code there is, by folder, beside packages that others hold up as models.

Code lines are lines with a token on them that is neither a comment nor part of a docstring; one
counter for all packages, tests left out. ``python tools/size.py FOLDER`` counts another package.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "purecover"

# Counted by this program: code lines, files, public names.
ANCHORS = {
    "model-diagnostics 1.5": (2786, 20, 23),
    "pulearn 0.2.0": (4610, 22, 55),
    "scikit-learn 1.9, metrics": (6752, 19, 95),
    "lifelines 0.30": (8563, 39, 42),
    "MAPIE 1.6": (11397, 63, 66),
    "narwhals 2.28": (32908, 163, 134),
    "purecover 0.1.0": (35294, 309, 139),
}
_SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(source: bytes) -> int:
    """Lines of Python that do something."""
    silent: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            silent.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - silent)


def folders(package: Path) -> dict[str, tuple[int, int]]:
    """Code lines and files of each folder of a package; its own modules as ``(root)``."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in sorted(package.rglob("*.py")):
        inner = path.relative_to(package).parts[:-1]
        folder = inner[0] if inner else "(root)"
        lines[folder] += code_lines(path.read_bytes())
        files[folder] += 1
    return {folder: (lines[folder], files[folder]) for folder in sorted(lines)}


def public_names(package: Path) -> dict[str, int]:
    """Names that the ``__init__`` of each folder offers, for our own package."""
    import importlib

    found = {}
    for path in sorted(package.rglob("__init__.py")):
        parts = path.relative_to(package.parent).parts[:-1]
        module = importlib.import_module(".".join(parts))
        found[parts[1] if len(parts) > 1 else "(root)"] = len(getattr(module, "__all__", ()))
    return found


def main() -> int:
    """Print the tables."""
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    counted = folders(package)
    names = public_names(package) if package == PACKAGE else {}
    print(f"{'folder':<28}{'code':>8}{'files':>7}{'names':>7}")
    for folder, (lines, files) in counted.items():
        print(f"{folder:<28}{lines:>8,}{files:>7}{names.get(folder, 0) or '':>7}")
    lines, files = (sum(column) for column in zip(*counted.values(), strict=True))
    print(f"{'all':<28}{lines:>8,}{files:>7}{names.get('(root)', '') or '':>7}")
    if package == PACKAGE:
        tests = sorted((ROOT / "tests").glob("*.py"))
        code = sum(code_lines(path.read_bytes()) for path in tests)
        total = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in tests)
        print(f"{'tests':<28}{code:>8,}{len(tests):>7}  ({total:,} lines with comments, blanks)")
        print("\nothers, by the same counter:")
        for name, (lines, files, public) in ANCHORS.items():
            print(f"{name:<28}{lines:>8,}{files:>7}{public:>7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
