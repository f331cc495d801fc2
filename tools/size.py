"""Print how much there is: tokens, lines of code, comments, public names, options and targets.

Tokens are those of ``tokenize`` (from Python 3.12 on an f-string is several) without comments,
layout and strings on a line that begins with triple quotes, which are docstrings. Lines of code are
lines on which a token begins; lines of JavaScript are those that are neither blank nor a comment.
"""

from __future__ import annotations

import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "purecover"

_LAYOUT = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def count(files: Iterable[Path]) -> Counter[str]:
    """Count tokens, lines and comments of Python files."""
    found: Counter[str] = Counter()
    for path in files:
        lines = set()
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                quoted = token.line.lstrip().startswith(('"""', 'r"""'))
                if token.type == tokenize.COMMENT:
                    found["comments"] += 1
                elif token.type not in _LAYOUT and not (quoted and token.type == tokenize.STRING):
                    found["tokens"] += 1
                    lines.add(token.start[0])
        found["lines"] += len(lines)
    return found


def rows() -> Iterator[tuple[str, Counter[str]]]:
    """Count each folder of the package, then each part of the repository."""
    yield "purecover/*.py", count(PACKAGE.glob("*.py"))
    for folder in sorted(path.parent for path in PACKAGE.glob("*/__init__.py")):
        yield f"purecover/{folder.name}", count(folder.rglob("*.py"))
    yield "src", count((ROOT / "src").rglob("*.py"))
    yield "paper/src", count((ROOT / "paper" / "src").rglob("*.py"))
    for part in ("tests", "studies", "tools"):
        both = (ROOT / part, ROOT / "paper" / part)
        yield f"{part}, paper/{part}", count(path for each in both for path in each.rglob("*.py"))


def javascript_lines() -> int:
    """Count the lines of our own JavaScript."""
    own = (path for path in PACKAGE.rglob("*.js") if "vendor" not in path.parts)
    lines = [line.strip() for path in own for line in path.read_text("utf-8").splitlines()]
    return sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in lines)


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
    print(f"{'':24}{'tokens':>9}{'lines':>9}{'tokens a line':>15}{'comments per 100 lines':>24}")
    for name, found in rows():
        tokens, lines, comments = (found[each] for each in ("tokens", "lines", "comments"))
        shares = f"{tokens / lines:>15.1f}{100 * comments / lines:>24.1f}"
        print(f"{name:24}{tokens:>9,}{lines:>9,}{shares}")
    print(f"\nlines of JavaScript: {javascript_lines():,}")
    names, counted = public_names(), options()
    print(f"public names: {names.total()}, {names.pop('(top)')} at the top; {dict(names)}")
    print(f"options: {sum(counted.values())}; {counted}")
    targets = re.findall(r"^[a-z-]+:.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    print(f"make targets: {len(targets)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
