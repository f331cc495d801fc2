"""Examples of the pages: shell commands print what the page says, and blocks of Python run.

Doctests are run by pytest itself.
"""

from __future__ import annotations

import io
import re
import runpy
import shlex
import shutil
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import purecover as pu
from purecover.cli import main
from purecover.estimators.reference import stored_reference

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "alpha_unknown.txt"
EXAMPLE = ROOT / "src" / "purecover" / "data" / "example_scores.csv"
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.rst"))
        if not {"_build", "gallery", "generated"} & set(page.parts)
    ),
]

# tools/stranger.py, which CI runs, gives these commands in an environment of their own.
FOLLOWED = (ROOT / "README.md", ROOT / "docs" / "tutorial.rst")


def sessions(page: Path) -> Iterator[list[tuple[str, list[str]]]]:
    """The console blocks of a page, each as pairs of a command and the lines below it."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", text, re.MULTILINE)
    for block in [*fenced, *(re.sub(r"^   ", "", b, flags=re.MULTILINE) for b in indented)]:
        parts = re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]
        lines = [part.rstrip().split("\n") for part in parts]
        yield [(first, rest) for first, *rest in lines if first.startswith("purecover ")]


SESSIONS = [
    pytest.param(session, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    if page not in FOLLOWED
    for number, session in enumerate(sessions(page))
    if session
]


NUMBER = re.compile(r"\d+\.\d+")


def says_the_same(printed: str, shown: str) -> bool:
    """The same words; means of random draws may differ by one in the last digit.

    A draw in thousands falls on the other side of a bound where exp or log of another build of
    NumPy end in another bit.
    """
    ours, theirs = NUMBER.findall(printed), NUMBER.findall(shown)
    return NUMBER.sub("0", printed) == NUMBER.sub("0", shown) and all(
        len(a.partition(".")[2]) == len(b.partition(".")[2])
        and abs(int(a.replace(".", "")) - int(b.replace(".", ""))) <= 1
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("session", SESSIONS)
def test_the_commands_print_what_the_page_says(
    session: list[tuple[str, list[str]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # As `purecover example` writes it, which not every page repeats.
    (tmp_path / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())
    monkeypatch.chdir(tmp_path)
    for command, expected in session:
        arguments = shlex.split(command, comments=True)[1:]
        fixed = arguments[0] in ("simulate", "audit", "example", "monitor")
        if not (expected or fixed or "--n-resamples" in arguments):
            arguments += ["--n-resamples", "20"]  # nobody compares the digits
        assert main(arguments) == 0
        out, err = capsys.readouterr()
        if not expected:
            continue
        printed = iter([line.rstrip() for line in f"{out}{err}".splitlines()])
        skipping = False
        for line in expected:
            if line == "...":
                skipping = True
            elif skipping:
                assert any(says_the_same(each, line) for each in printed)  # moves past the line
                skipping = False
            else:
                found = next(printed)
                assert says_the_same(found, line), f"{found!r} instead of {line!r}"
        assert skipping or not list(printed)


def test_the_screen_of_the_judge_is_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "howto" / "ten_questions.rst").read_text(encoding="utf-8")
    command, shown = re.findall(
        r"^   \$ (purecover judge .*)\n\n((?:   .*\n)+)", text, re.MULTILINE
    )[0]
    (tmp_path / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\ny\n"))
    assert main(shlex.split(command)[1:]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    lines = textwrap.dedent(shown).splitlines()
    start = next(i for i, line in enumerate(printed) if says_the_same(line, lines[0]))
    for found, line in zip(printed[start:], lines, strict=False):
        assert says_the_same(found, line), f"{found!r} instead of {line!r}"


def blocks(page: Path) -> list[str]:
    """The blocks of Python of a page, at any depth, that are no doctests."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(
        r"^( *)\.\. code-block:: python\n\n((?:\1   .*\n|[ \t]*\n)+)", text, re.MULTILINE
    )
    found = [*fenced, *(textwrap.dedent(block) for _, block in indented)]
    return [block for block in found if not block.lstrip().startswith(">>> ")]


# Page, words of the block, and who runs the same, or why nobody does.
NOT_RUN = {
    ("docs/howto/add_estimator.rst", "class TopShare(pu.estimators.PriorEstimator):\n    ..."): (
        "a sketch of the class that the page has shown"
    ),
    ("docs/howto/add_estimator.rst", "from __future__"): (
        "a module of the package: tests/test_add_estimator.py"
    ),
    ("docs/howto/distributed.rst", "LocalCluster"): "a cluster: tests/test_distributed.py",
    ("docs/howto/distributed.rst", "register_spark"): "a cluster: tests/test_distributed.py",
    ("docs/howto/distributed.rst", "register_ray"): "not tested, as the page says",
    ("docs/howto/engines.rst", "SparkSession"): "Spark: tests/test_engines.py",
    ("docs/howto/report.rst", "mlflow.start_run"): "MLflow is not installed here",
    ("docs/howto/paper.rst", 'load_paper_data("bank")'): "data: paper/tests/test_datasets.py",
    ("docs/howto/paper.rst", "run_study"): "data and a cluster: paper/tests/test_run.py",
}
WITH_PYTHON = [page for page in PAGES if blocks(page)]


def reason_not_to_run(page: Path, block: str) -> str | None:
    name = page.relative_to(ROOT).as_posix()
    return next(
        (why for (at, words), why in NOT_RUN.items() if at == name and words in block), None
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_of_the_pages_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = pu.load_example()
    table = {"s": example.scores[:600], "y": example.labeled[:600]}
    frame = pytest.importorskip("pandas").DataFrame(table)
    pytest.importorskip("polars").DataFrame(table).write_parquet(tmp_path / "monday.parquet")
    (tmp_path / "scores").mkdir()
    (tmp_path / "monday.parquet").rename(tmp_path / "scores" / "monday.parquet")
    monkeypatch.chdir(tmp_path)
    for name in ("evaluate", "compare_priors", "compare_scores"):  # nobody compares the digits
        monkeypatch.setattr(pu, name, partial(getattr(pu, name), n_resamples=20))
    names = {"pu": pu, "scores": example.scores, "labeled": example.labeled, "frame": frame}
    for block in blocks(page):
        if reason_not_to_run(page, block) is None:
            exec(compile(block, str(page), "exec"), names)  # noqa: S102


def test_reasons_not_to_run_are_those_of_a_block() -> None:
    for (at, words), why in NOT_RUN.items():
        assert sum(words in block for block in blocks(ROOT / at)) == 1, (at, words)
        for test in re.findall(r"[\w/]+\.py", why):
            assert (ROOT / test).exists()


def test_the_first_lines_of_the_readme_print_the_report_below_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(blocks(ROOT / "README.md")[0], {})  # noqa: S102
    printed = capsys.readouterr().out
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert shown is not None
    assert printed.split() == shown[1].split() == GOLDEN.read_text(encoding="utf-8").split()


@pytest.fixture(scope="module")
def fill_pages() -> Any:
    return runpy.run_path(str(ROOT / "tools" / "fill_pages.py"))


def test_claims_are_those_of_the_result_files(fill_pages: Any) -> None:
    claims = list(fill_pages["claims"]())
    assert sum(claim.page in ("README.md", "docs/index.rst") for claim in claims) >= 10
    for claim in claims:
        text = (ROOT / claim.page).read_text(encoding="utf-8")
        assert claim.fill(text) == text, f"{claim.words}: run `python tools/fill_pages.py --claims`"


def test_the_changelog_counts_the_problems_of_the_default_estimator() -> None:
    mass = stored_reference().mass
    drawn_again = mass < 1
    text = " ".join((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split())
    said = (
        "estimated from {:,} problems whose truth is known**, {:,} real ones and {:,} drawn again"
    )
    assert said.format(mass.size, (~drawn_again).sum(), drawn_again.sum()) in text


def test_a_changed_result_is_a_changed_claim(
    fill_pages: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = shutil.copytree(ROOT / "studies" / "results", tmp_path / "results")
    page = results / "reality.md"
    row = next(line for line in page.read_text("utf-8").splitlines() if "labels at random" in line)
    page.write_text(page.read_text("utf-8").replace(row, re.sub(r"\d", "8", row), 1), "utf-8")
    claim = next(each for each in fill_pages["claims"]() if "(the default)" in each.words)
    text = (ROOT / claim.page).read_text(encoding="utf-8")
    monkeypatch.setitem(fill_pages["cell"].__globals__, "RESULTS", results)
    assert "88.8 %" in claim.fill(text)


def test_printed_output_is_written_anew(fill_pages: Any) -> None:
    page = "Text.\n\n>>> 1 + 1\n3\n>>> print('a'); print(); print('b')\na\n\nEnd.\n"
    filled = fill_pages["with_examples"](page, "page")
    assert filled == page.replace("3\n", "2\n").replace("\na\n", "\na\n<BLANKLINE>\nb\n")
    page = (
        ".. code-block:: console\n\n   $ purecover one\n   old 1\n   $ purecover two\n   ...\n"
        "   AUC 0.1\n\nAfter.\n\n```console\n$ purecover one  # words\n```\n"
    )
    said = {"purecover one": ["new 2"], "purecover two": ["first", "AUC   0.2", "last"]}
    filled = fill_pages["with_commands"](page, lambda command: said.get(command, []))
    assert filled == page.replace("old 1", "new 2").replace("AUC 0.1", "AUC   0.2")


def test_links_of_the_readme_lead_to_the_site_where_it_has_an_address(fill_pages: Any) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert fill_pages["with_links"](text, "") == text
    there = fill_pages["with_links"](text, "https://example.org/purecover/")
    assert "(https://example.org/purecover/explanation/trust.html)" in there
    assert ".rst)" not in there
