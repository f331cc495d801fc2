"""Pages, messages, docstrings and comments do without the words that CONTRIBUTING lists."""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIST = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| not used |")[2]
ROWS = re.findall(r"^\| (.+?) \| (.+?) \|$", LIST.partition("\n\n")[0], re.MULTILINE)[1:]
PHRASES = "|".join(r"\s+".join(p.split()) for row, _ in ROWS for p in row.split(", "))
BANNED = re.compile(
    rf"(?<![\w-])(?:{PHRASES})(?![\w-])|, too(?=[.,;:)]|$)", re.IGNORECASE | re.MULTILINE
)
# Code within text: spans, roles, expressions of f-strings, lines of doctests.
CODE = re.compile(r"``?[^`\n]+``?|\{[^{}\n]*\}|^ *(?:>>>|\.\.\.) .*$", re.MULTILINE)


def checked() -> list[str]:
    """Files that people read: pages, and source for its messages, docstrings and comments."""
    folders = ["src", "paper/src", "docs", "examples", "README.md", "CONTRIBUTING.md"]
    command = ["git", "-C", str(ROOT), "ls-files", *folders]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs a checkout")
    return [f for f in listed if f.endswith((".py", ".rst", ".md", ".j2")) and "vendor" not in f]


def texts(file: str) -> Iterator[tuple[int, str]]:
    """The texts of a file, each with the line where it begins."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if not file.endswith(".py"):
        yield 1, text.replace(LIST.partition("\n\n")[0], "")
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        words = token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
        if token.type == tokenize.COMMENT or (
            words and not re.fullmatch(r"\W*\w*\W*", token.string)
        ):
            yield token.start[0], token.string


def test_words_that_are_not_used() -> None:
    found = []
    for file in checked():
        for first, text in texts(file):
            bare = CODE.sub("", text)
            found += [
                f"{file}:{first + bare[: match.start()].count(chr(10))}: {match[0]}"
                for match in BANNED.finditer(bare)
            ]
            if file.endswith(".py") and re.match(r'r?"""What\b', text):
                found.append(f"{file}:{first}: a docstring that begins with What")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text", ["scores cannot\n    tell alpha", "figures rest on it", "alpha, too."]
)
def test_the_list_finds_them(text: str) -> None:
    assert BANNED.search(text)
