"""Write measured numbers and printed output into README and pages anew.

``python tools/fill_pages.py`` does three things: numbers that CLAIMS traces to a file of
``studies/results`` or ``tests/golden`` are filled in; printed output below Python examples and
shell commands is replaced where the code prints something else; the report in the README is that
of ``tests/golden``. ``--trace`` prints each claim with its file and the command that measured it,
and fails where a page says something else; ``--claims`` leaves the printed output as it is.
"""

from __future__ import annotations

import argparse
import contextlib
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
# A number, with or without its sign of percent, or the dash of a number that is not measured.
HOLE = r"([-+]?\d(?:[\d.,]*\d)?(?: %)?|–)"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Source:
    """Where a number comes from: a cell of a table, or a word of a printed report."""

    file: str
    """A file of studies/results, or of tests/golden if it ends in .txt."""
    row: str
    """The first cells of the row, with ``|`` between them."""
    column: str
    section: str = ""
    digits: int | None = None
    pick: Callable[[list[str]], str] | None = None
    """Which cell of all rows whose first cell ends in ``row``."""

    def value(self) -> str:
        """The number as a page shows it; a dash if the study has not been run."""
        if self.file.endswith(".txt"):
            return printed(self.file, self.row, self.column)
        if not (RESULTS / self.file).exists():
            return "–"
        if not self.row:
            text = (RESULTS / self.file).read_text(encoding="utf-8")
            found_text = re.search(self.column, text[text.index(self.section) :])
            return found_text[1] if found_text else "–"
        if self.pick is not None:
            return re.sub(r"(\d)%", r"\1 %", self.pick(column_of(self.file, self.row, self.column)))
        found = cells(self.file, self.section, self.row)
        heads = [each for each in self.column.split("/") if each in found]
        if not heads:
            raise SystemExit(f"{self.file} has no column {self.column!r} in {self.section!r}")
        cell = re.sub(r"(\d)%", r"\1 %", found[heads[0]])
        return cell if self.digits is None else f"{float(cell):.{self.digits}f}"

    @property
    def command(self) -> str:
        """The command that measured it."""
        if self.file.endswith(".txt"):
            return "python -m pytest tests/test_golden.py --renew"
        if not (RESULTS / self.file).exists():
            return "not measured yet"
        found = re.search(
            r"^- command: `(.+)`", (RESULTS / self.file).read_text("utf-8"), re.MULTILINE
        )
        return found[1] if found else "?"


def column_of(file: str, ending: str, column: str) -> list[str]:
    """A column of the first table of a file, of the rows that end so."""
    text = (RESULTS / file).read_text(encoding="utf-8")
    lines = text[text.index("\n|") :].partition("\n\n")[0].strip().splitlines()
    heads, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row[heads.index(column)] for row in rows if row[0].endswith(ending)]


def cells(file: str, section: str, row: str) -> dict[str, str]:
    """The cells of the first row of a section that begins so, by their column."""
    text = (RESULTS / file).read_text(encoding="utf-8")
    wanted = row.split("|")
    heads: list[str] = []
    at = 0
    for part in section.split(">"):
        at = text.index(part.strip(), at)
    for line in text[at:].splitlines()[1:]:
        if not line.startswith("|"):
            heads = []
            continue
        bars = re.split(r"(?<!\\)\|", line.strip())[1:-1]
        found = [cell.strip().replace("\\", "") for cell in bars]
        if not heads:
            heads = found
        elif found[: len(wanted)] == wanted:
            return dict(zip(heads, found, strict=True))
    raise SystemExit(f"{file} has no row {row!r} in {section!r}")


def printed(file: str, row: str, column: str) -> str:
    """A number of a kept report: of its table, or by a pattern."""
    text = (GOLDEN / file).read_text(encoding="utf-8")
    if column not in ("observed", "corrected", "low", "high"):
        found = re.search(column, text)
    else:
        found = re.search(
            rf"^ *{row} +(?P<observed>[\d.]+) +(?P<corrected>[\d.-]+) +(?P<low>[\d.]+) to "
            r"(?P<high>[\d.]+)",
            text,
            re.MULTILINE,
        )
    if found is None:
        raise SystemExit(f"{file} does not print {row or column!r}")
    return found[column] if column in found.re.groupindex else found[1]


@dataclass(frozen=True)
class Claim:
    """A sentence or a row of a page with holes, ``{}``, and what fills them."""

    page: str
    words: str
    sources: tuple[Source, ...]

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
        for number in range(len(self.sources), 0, -1):
            start, end = found.span(number)
            text = text[:start] + self.sources[number - 1].value() + text[end:]
        return text


def real(row: str, column: str, digits: int | None = None, section: str = "## AUC") -> Source:
    """A number of the study of real problems."""
    return Source("reality.md", row, column, section, digits)


def people(row: str, column: str) -> Source:
    """A number of the study of labels that people gave, of sources held out."""
    return Source("real_labels.md", row, column, "## Held out of the prior of theta")


def judge(row: str, column: str, digits: int | None = None) -> Source:
    """A number of the study of judged rows."""
    return Source("judge.md", row, column, "## Labels at random, clean > ### AUC", digits)


def golden(file: str, row: str, *columns: str) -> tuple[Source, ...]:
    """Numbers of one row of a kept report."""
    return tuple(Source(f"{file}.txt", row, column) for column in columns)


def measured(row: str) -> tuple[Source, ...]:
    """Coverage, width and error of intervals on real problems."""
    return real(row, "holds/contained"), real(row, "width", 2), real(row, "mean |error|", 3)


ENDS = ("corrected", "low", "high")
RANDOM, CLEAN = "labels at random", "beta 1, and given as 1"
LOW, HIGH = "true AUC below 0.7", "0.85 to 0.95"
ALPHA = r"Alpha: ([\d.]+ %) of"
ALPHA_LOW, ALPHA_HIGH = r"(?:data|scores); ([\d.]+) to", r"(?:data|scores); [\d.]+ to ([\d.]+)"


def lowest(values: list[str]) -> str:
    """The smallest number."""
    return min(values, key=lambda value: float(value.strip("%")))


def highest(values: list[str]) -> str:
    """The largest number."""
    return max(values, key=lambda value: float(value.strip("%")))


def claims() -> Iterator[Claim]:
    """All of them."""

    def said(page: str, words: str, *sources: Source) -> Claim:
        return Claim(page, words, sources)

    readme = "README.md"
    yield said(
        readme,
        "| unlabeled counted as negatives | {} | | | | {} |",
        *golden("alpha_known", "AUC", "observed"),
        real(RANDOM, "uncorrected", 3),
    )
    yield said(
        readme,
        "| scores and labels (the default) | {} | {} to {} | {} | {} | {} |",
        *golden("alpha_unknown", "AUC", *ENDS),
        *measured(RANDOM),
    )
    yield said(readme, "| and that every label is right | | | {} | {} | {} |", *measured(CLEAN))
    for words, kept, row in (
        ("ten judged rows", "ten_judged", "10 rows"),
        ("alpha", "alpha_known", "alpha"),
    ):
        yield said(
            readme,
            f"| and {words} | {{}} | {{}} to {{}} | {{}} | {{}} | {{}} |",
            *golden(kept, "AUC", *ENDS),
            judge(row, "holds"),
            judge(row, "width", 2),
            judge(row, "error", 3),
        )
    yield said(readme, "sample of the positives** ({} problems)", real(RANDOM, "problems"))
    for words, row in (
        ("labels that people gave: positives like those", "nothing|labeled-like"),
        ("labels that people gave: all positives", "nothing|all"),
        ("the same, after twenty judged rows", "20 judged rows|all"),
    ):
        columns = ("contained", "width", "mean error")
        yield said(
            readme, f"| {words} | | | {{}} | {{}} | {{}} |", *(people(row, c) for c in columns)
        )
    yield said(
        readme,
        "With a true AUC below 0.7, correcting does not help: the mean error is {}, and {} without",
        real(LOW, "mean |error|", 3),
        real(LOW, "uncorrected", 3),
    )
    yield said(
        "docs/index.rst",
        "interval of the AUC contains the true one in {} of {} real problems, and its mean error "
        "is {} ({} without correction;",
        real(RANDOM, "holds/contained"),
        real(RANDOM, "problems"),
        real(RANDOM, "mean |error|", 3),
        real(RANDOM, "uncorrected", 3),
    )
    yield said(
        readme,
        "the last rows are for {} such problems",
        Source("real_labels.md", "", r"\n(\d+) problems", "## Held out of the prior of theta"),
    )
    trust = "docs/explanation/trust.rst"
    yield said(
        trust,
        "by 0.05: the interval contains the truth in {} or {} of",
        *(
            Source("trust.md", f"alpha given as {alpha}", "interval holds")
            for alpha in (".20", ".30")
        ),
    )
    yield said(
        trust,
        "labels wrong, assumed right**: {}.",
        Source("trust.md", "a tenth of the labels wrong, taken as clean", "interval holds"),
    )
    yield said(
        trust,
        "a check warns in {} of the data sets.",
        Source("trust.md", "scores of the training rows", "data sets with a warning"),
    )
    estimated = [
        Source("trust.md", "alpha estimated", column, pick=pick)
        for column in ("interval holds", "mean width")
        for pick in (lowest, highest)
    ]
    yield said(
        trust,
        "contains the truth in {} to {} of the data sets of each of these situations, and its mean "
        "width is {} to {} ({} if alpha is known",
        *estimated,
        Source("trust.md", "everything holds", "mean width"),
    )
    for known in ("nothing", "20 judged rows"):
        for kind, name in (("labeled-like", "like the labeled ones"), ("all", "all positives")):
            if (known, kind) == ("20 judged rows", "labeled-like"):
                continue
            given = "alpha estimated" if known == "nothing" else "twenty rows judged"
            yield said(
                trust,
                f"* - AUC of {'positives ' if kind != 'all' else ''}{name}, {given} - {{}} - {{}} "
                "- {} - {}",
                *(people(f"{known}|{kind}", c) for c in ("contained", "width", "mean error")),
                people(f"no correction|{kind}", "mean error"),
            )
    for row, words in (
        (RANDOM, "labels at random, some wrong; alpha and beta estimated"),
        (CLEAN, "labels at random and verified (``beta=1``); alpha estimated"),
    ):
        yield said(
            trust,
            f"* - {words} - {{}} - {{}} - {{}} - {{}}",
            *measured(row),
            real(row, "uncorrected", 3),
        )
    for row, words in ((HIGH, "0.85 to 0.95"), (LOW, "below 0.7")):
        yield said(
            trust,
            f"With a true AUC {'of ' if row == HIGH else ''}{words} the mean error is {{}}, and "
            "{} without correction",
            real(row, "mean |error|", 3),
            real(row, "uncorrected", 3),
        )
    yield said(
        trust,
        "falls from {} (true alpha, labels assumed random) to {}.",
        people("true alpha|all", "mean error"),
        people("true alpha and theta|all", "mean error"),
    )
    yield said(
        trust,
        "intervals of the AUC contain the truth in {} of {} problems, of AUC-PR in {}, of "
        "precision in {}, of recall in {} and of alpha in {}. Those of AUC-PR and precision are "
        "wide, {} and {}:",
        real(RANDOM, "holds/contained"),
        real(RANDOM, "problems"),
        *(
            real(RANDOM, "holds/contained", section=f"## {figure}")
            for figure in ("AUC-PR", "precision", "recall", "alpha")
        ),
        *(real(RANDOM, "width", 2, f"## {figure}") for figure in ("AUC-PR", "precision")),
    )
    yield said(
        trust,
        "(clear cases first {}, one kind {}, one source {})",
        *(real(row, "holds/contained") for row in ("easy first", "one kind", "by source")),
    )
    write = "docs/what_to_write.rst"
    for file, words in (
        ("alpha_known", "The AUC is {} (95 % interval {} to {};"),
        ("ten_judged", "The AUC is {} ({} to {}). We judged ten"),
        ("alpha_unknown", "The AUC is {} ({} to {}); the observed AUC is"),
        ("alpha_known", "For positives like the labeled ones the AUC is {} ({} to {})."),
        ("ten_judged", "Model A: AUC {} ({} to {}), 10 rows judged"),
    ):
        yield said(write, words, *golden(file, "AUC", *ENDS))
    yield said(
        write,
        "give {} positives ({} to {} %) among",
        *golden("ten_judged", "", ALPHA, ALPHA_LOW, ALPHA_HIGH),
    )
    yield said(
        write,
        "among the unlabeled rows, {} ({} to {} %), was estimated",
        *golden("alpha_unknown", "", ALPHA, ALPHA_LOW, ALPHA_HIGH),
    )
    yield said(
        write,
        "precision is {} ({} to {}) and recall {} ({} to {})",
        *golden("ten_judged", "Precision", *ENDS),
        *golden("ten_judged", "Recall", *ENDS),
    )
    yield said(
        write,
        "about {} ({} to {}) of them positive",
        *golden(
            "ten_judged",
            "",
            *(
                rf"Positives flagged +{pattern}"
                for pattern in (r"(\d+)", r"\d+ +(\d+) to", r"\d+ +\d+ to (\d+)")
            ),
        ),
    )
    yield said(
        write,
        "the AUC is between {} and {}. Labels",
        *golden("alpha_unknown", "", r"allow: AUC ([\d.]+) to", r"allow: AUC [\d.]+ to ([\d.]+)"),
    )


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


def trace() -> int:
    """Print where each claim comes from; the number of claims that are not so."""
    wrong = 0
    for claim in claims():
        text = (ROOT / claim.page).read_text(encoding="utf-8")
        said = claim.find(text).groups()
        for number, source in zip(said, claim.sources, strict=True):
            same = number == source.value()
            wrong += not same
            mark = "=" if same else f"NOT {source.value()}"
            place = " > ".join(filter(None, (source.section, source.row, source.column)))
            print(f"{claim.page}: {number} {mark}  {source.file}: {place}  ({source.command})")
    return wrong


def main() -> int:
    """Fill, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--claims", action="store_true")
    parser.add_argument("pages", nargs="*", type=Path, help="only these pages are run")
    given = parser.parse_args()
    if given.trace:
        return int(trace() > 0)
    os.environ |= {"MPLBACKEND": "Agg", "NO_COLOR": "1", "COLUMNS": "100"}
    for claim in claims():
        page = ROOT / claim.page
        page.write_text(claim.fill(page.read_text(encoding="utf-8")), encoding="utf-8")
    readme = ROOT / "README.md"
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    text = with_report(readme.read_text(encoding="utf-8"))
    readme.write_text(with_links(text, urls.get("Documentation", "")), encoding="utf-8")
    for page in () if given.claims else given.pages or pages():
        before = page.read_text(encoding="utf-8")
        with contextlib.chdir(desk()):
            after = with_commands(with_examples(before, page.name), run_command)
        if after != before:
            (page if page.is_absolute() else ROOT / page).write_text(after, encoding="utf-8")
            print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
