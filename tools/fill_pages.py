"""Write measured numbers and printed output into README and pages anew.

``python tools/fill_pages.py`` does three things: numbers that ``claims.toml`` traces to a file of
``studies/results`` or ``tests/golden`` are filled in; printed output below Python examples and
shell commands is replaced where the code prints something else; the report in the README is that
of ``tests/golden``. ``--trace`` prints each claim with its file and the command that measured it,
and fails where a page says something else; ``--claims`` leaves the printed output as it is, and
``--check`` writes nothing and prints how pages differ from what they should be.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "studies" / "results"
GOLDEN = ROOT / "tests" / "golden"
EXAMPLE = ROOT / "src" / "purecover" / "data" / "example_scores.csv"
CLAIMS = ROOT / "tools" / "claims.toml"
# A number, with or without its sign of percent.
HOLE = r"([-+]?\d(?:[\d.,]*\d)?(?: %)?)"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def cell(file: str, section: str, row: str, column: str, form: int | str | None = None) -> str:
    """A cell of a table of results: of the first row of a section that begins so.

    With ``lowest`` or ``highest`` as its form: of all rows with a cell that ends so.
    """
    text = (RESULTS / file).read_text(encoding="utf-8")
    at = 0
    for part in section.split(">"):
        at = text.index(part.strip(), at)
    found: list[str] = []
    heads: list[str] = []
    for line in text[at:].splitlines()[1:]:
        if not line.startswith("|"):
            if found:
                break
            heads = []
            continue
        bars = re.split(r"(?<!\\)\|", line.strip())[1:-1]
        cells = [each.strip().replace("\\", "") for each in bars]
        heads = heads or cells
        first = "|".join((*cells, ""))
        ends = isinstance(form, str) and any(each.endswith(row) for each in cells)
        if ends or (not isinstance(form, str) and first.startswith(f"{row}|")):
            found.append(cells[heads.index(column)])
    if not found:
        raise SystemExit(f"{file} has no row {row!r} in {section!r}")
    if isinstance(form, str):
        pick = min if form == "lowest" else max
        found = [pick(found, key=lambda each: float(each.strip("%")))]
    shown = re.sub(r"(\d)%", r"\1 %", found[0])
    return f"{float(shown):,.{form}f}" if isinstance(form, int) else shown


def printed(file: str, row: str, column: str = "") -> str:
    """A number of a kept report: of its table, or by a pattern."""
    text = (GOLDEN / file).read_text(encoding="utf-8")
    heads = ("observed", "corrected", "low", "high")
    pattern = rf"^ *{row} +([\d.]+) +([\d.-]+) +([\d.]+) to ([\d.]+)" if column else row
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{file} does not print {row!r}")
    return found[1 + heads.index(column) if column else 1]


def value(file: str, *place: Any) -> str:
    """A number as a page shows it."""
    if file.endswith(".txt"):
        return printed(file, *place)
    if len(place) > 2:
        return cell(file, *place)
    section, pattern = place
    text = (RESULTS / file).read_text(encoding="utf-8")
    return re.findall(pattern, text[text.index(section) :])[0]


def command(file: str) -> str:
    """The command that measured what is in a file."""
    if file.endswith(".txt"):
        return "python -m pytest tests/test_golden.py --renew"
    text = (RESULTS / file).read_text(encoding="utf-8")
    return re.findall(r"^- command: `(.+)`", text, re.MULTILINE)[0]


@dataclass(frozen=True)
class Claim:
    """A sentence or a row of a page with holes, ``{}``, and where what fills them is."""

    page: str
    words: str
    numbers: list[list[Any]]

    def find(self, text: str) -> re.Match[str]:
        """The place in a page; breaks of lines do not matter."""
        parts = [r"\s+".join(map(re.escape, part.split(" "))) for part in self.words.split("{}")]
        found = re.search(HOLE.join(parts), text)
        if found is None:
            raise SystemExit(f"{self.page} does not say: {self.words}")
        return found

    def fill(self, text: str) -> str:
        """The page with its holes filled."""
        found = self.find(text)
        for number in range(len(self.numbers), 0, -1):
            start, end = found.span(number)
            text = text[:start] + value(*self.numbers[number - 1]) + text[end:]
        return text


def claims() -> list[Claim]:
    """All of them."""
    return [Claim(**each) for each in tomllib.loads(CLAIMS.read_text("utf-8"))["claim"]]


def with_report(text: str) -> str:
    """The README with the report that its first lines print."""
    report = (GOLDEN / "alpha_unknown.txt").read_text(encoding="utf-8")
    return re.sub(
        r"(?<=^```text\n).*?(?=^```)",
        lambda _: report,
        text,
        count=1,
        flags=re.MULTILINE | re.DOTALL,
    )


def with_links(text: str, home: str) -> str:
    """The README with links to built pages where the site has an address, else to their sources."""
    if not home:
        return text
    return re.sub(r"\]\(docs/([\w/]+)\.rst\)", rf"]({home.rstrip('/')}/\1.html)", text)


def with_examples(text: str, name: str) -> str:
    """The page with what its Python examples print."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    lines = text.split("\n")
    got: list[Any] = []

    class Runner(doctest.DocTestRunner):
        def report_failure(self, *given: Any) -> None:
            got.append(given[-2:])

        def report_unexpected_exception(self, *given: Any) -> None:
            print(f"{name}:{given[-2].lineno + 1}: {given[-1][1]!r}")

    with contextlib.redirect_stderr(io.StringIO()):
        Runner(optionflags=OPTIONS, verbose=False).run(test, out=lambda _: None)
    for example, said in reversed(got):
        first = example.lineno + example.source.count("\n")
        shown = [line or "<BLANKLINE>" for line in said.rstrip("\n").split("\n")]
        indent = " " * example.indent
        lines[first : first + example.want.count("\n")] = [indent + line for line in shown]
    return "\n".join(lines)


def with_commands(text: str, run: Callable[[str], list[str]]) -> str:
    """The page with what its commands print; a line ``...`` stands for what is left out."""
    lines, out, at = text.split("\n"), [], 0
    inside = ""
    while at < len(lines):
        line = lines[at]
        out.append(line)
        at += 1
        if not inside:
            inside = {"```console": "```", ".. code-block:: console": "   "}.get(line, "")
        elif (inside == "```" and line == "```") or (inside == "   " and line[:1].strip()):
            inside = ""
        indent = "   " if inside == "   " else ""
        if not inside or not line.startswith(f"{indent}$ "):
            continue
        while out[-1].endswith("\\"):
            out.append(lines[at])
            at += 1
            line = line[:-1] + out[-1]
        if not line.startswith(f"{indent}$ purecover "):
            continue
        # Shown output ends at the next command, at the end of the block, or at a last blank line.
        end = at
        while end < len(lines) and not (
            lines[end].startswith((f"{indent}$ ", "```")) or (indent and lines[end][:1].strip())
        ):
            end += 1
        while end > at and not lines[end - 1].strip():
            end -= 1
        shown = [each.removeprefix(indent) for each in lines[at:end]]
        said = run(line.strip().removeprefix("$ "))
        if "..." in shown:
            said = [resembling(each, said) for each in shown]
        if shown:
            out += [f"{indent}{each}" if each else "" for each in said]
        at = end
    return "\n".join(out)


def resembling(line: str, said: list[str]) -> str:
    """The printed line with the same words, and the old one where there is none."""
    words = re.sub(r"[\d.,-]+|\s+", " ", line).split()
    same = (each for each in said if re.sub(r"[\d.,-]+|\s+", " ", each).split() == words)
    return line if line == "..." or line in said else next(same, line)


@cache
def desk() -> Path:
    """A folder with the example, where commands run."""
    folder = Path(tempfile.mkdtemp())
    (folder / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())
    return folder


def run_command(command: str) -> list[str]:
    """What a command prints."""
    from purecover.cli import main

    out = io.StringIO()
    with contextlib.chdir(desk()), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        main(shlex.split(command, comments=True)[1:])
    return [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")]


def pages() -> Iterator[Path]:
    """README and all pages that people write."""
    yield ROOT / "README.md"
    for page in sorted((ROOT / "docs").rglob("*.rst")):
        if not {"_build", "gallery", "generated"} & set(page.parts):
            yield page


def difference(page: Path) -> str:
    """How a page differs from what its examples and commands print."""
    text = page.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, page.name, 0)
    failed = io.StringIO()
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=failed.write)
    lines = with_commands(text, run_command).splitlines()
    diff = difflib.unified_diff(text.splitlines(), lines, page.name, "printed", lineterm="")
    return failed.getvalue() + "\n".join(diff)


def trace() -> int:
    """Print where each claim comes from; the number of claims that are not so."""
    wrong = 0
    for claim in claims():
        text = (ROOT / claim.page).read_text(encoding="utf-8")
        said = claim.find(text).groups()
        for number, (file, *place) in zip(said, claim.numbers, strict=True):
            same = number == value(file, *place)
            wrong += not same
            mark = "=" if same else f"NOT {value(file, *place)}"
            where = " > ".join(map(str, filter(None, place)))
            print(f"{claim.page}: {number} {mark}  {file}: {where}  ({command(file)})")
    return wrong


def main() -> int:
    """Fill, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--claims", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("pages", nargs="*", type=Path, help="only these pages are run")
    given = parser.parse_args()
    if given.trace:
        return int(trace() > 0)
    os.environ |= {"MPLBACKEND": "Agg", "NO_COLOR": "1", "COLUMNS": "100"}
    wanted = [ROOT / page for page in given.pages] or [*pages()]
    if given.check:
        with contextlib.chdir(desk()):
            found = list(filter(None, map(difference, wanted)))
        print("\n\n".join(found))
        return len(found)
    for claim in claims():
        page = ROOT / claim.page
        page.write_text(claim.fill(page.read_text(encoding="utf-8")), encoding="utf-8")
    readme = ROOT / "README.md"
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    text = with_report(readme.read_text(encoding="utf-8"))
    readme.write_text(with_links(text, urls.get("Documentation", "")), encoding="utf-8")
    for page in () if given.claims else wanted:
        before = page.read_text(encoding="utf-8")
        with contextlib.chdir(desk()):
            after = with_commands(with_examples(before, page.name), run_command)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
