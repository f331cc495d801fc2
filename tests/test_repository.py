"""How the repository is kept: requirements, changelog, archives, links, CI, the example."""

from __future__ import annotations

import ast
import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import settings
from tests.command_line import Result, call_main
from tests.scripts import load

import purecover
import purecover as pu

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "purecover" / "data"


def read_example(path: Path) -> np.ndarray:
    with path.open(encoding="utf-8") as file:
        assert next(csv.reader(file)) == ["score", "labeled", "truth"]
        return np.loadtxt(file, delimiter=",")


@pytest.mark.slow
def test_the_script_makes_the_bundled_scores(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, ROOT / "tools" / "make_example_scores.py", "--out", tmp_path],
        check=True,
        capture_output=True,
    )
    made = read_example(tmp_path / "example_scores.csv")
    kept = read_example(DATA / "example_scores.csv")
    np.testing.assert_array_equal(made[:, 1:], kept[:, 1:])
    # Linear algebra differs between machines in the last digits; the scores range over about 10.
    np.testing.assert_allclose(made[:, 0], kept[:, 0], atol=1e-3)
    name = "example_scores.json"
    assert json.loads((tmp_path / name).read_text()) == json.loads((DATA / name).read_text())


@pytest.mark.parametrize("name", ["core.txt", "dev.txt"])
def test_requirements_are_hashed_and_hold_no_addresses(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    assert "://" not in text
    assert "index-url" not in text
    pinned = re.findall(r"^([\w.-]+)==\S+", text, re.MULTILINE)
    assert "numpy" in pinned
    assert "torch" not in pinned
    entries = text.replace("\\\n", " ").strip().splitlines()
    assert all("--hash=sha256:" in entry for entry in entries)


def third_party(folder: Path) -> set[str]:
    """The distributions that modules of a folder import, at the top or inside functions."""
    nodes = (
        n for path in folder.rglob("*.py") for n in ast.walk(ast.parse(path.read_text("utf-8")))
    )
    names = {
        name.partition(".")[0]
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
        )
    }
    brought = packages_distributions()
    return {
        plain(brought.get(name, [name])[0])
        for name in names - sys.stdlib_module_names - {folder.name}
    }


def plain(name: str) -> str:
    return re.match(r"[\w-]+", name)[0].lower().replace("_", "-")


OF_NOTEBOOKS = {"ipython", "ipywidgets"}
READ_BY_NARWHALS = {"pandas", "pyarrow", "dask", "pyspark"}


@pytest.mark.parametrize(
    ("folder", "asked_for", "read_by_others"),
    [
        ("src/purecover", OF_NOTEBOOKS, READ_BY_NARWHALS),
        ("paper/src/purecover_paper", {"triton"}, set()),  # torch brings it
    ],
)
def test_what_is_declared_is_what_is_imported(
    folder: str, asked_for: set[str], read_by_others: set[str]
) -> None:
    path = ROOT / folder
    project = tomllib.loads((path.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = {plain(each) for each in chain(project["dependencies"], *extras)} - {project["name"]}
    assert third_party(path) - declared == asked_for
    assert declared - third_party(path) == read_by_others


def test_examples_of_hypothesis_are_the_same_every_time() -> None:
    profile = settings.get_profile("default")
    assert (profile.derandomize, profile.database) == (True, None)


def test_one_version_everywhere() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {purecover.__version__}\n" in cited
    paper = tomllib.loads((ROOT / "paper" / "pyproject.toml").read_text())["project"]
    assert paper["version"] == purecover.__version__


@pytest.mark.parametrize("latex", [r"\frac12 + x", r"x^12", r"\frac ab", r"\unknowncommand"])
def test_a_formula_that_would_come_out_wrong_is_refused(latex: str) -> None:
    pytest.importorskip("sphinx")
    mathml = load(ROOT / "docs" / "_ext" / "mathml.py")
    with pytest.raises(ValueError):
        mathml.render(latex, block=False)


def places(page: Path) -> set[str]:
    """What a link to a heading of a Markdown page can say after the #."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    for path, _, place in (link.partition("#") for link in links if "://" not in link):
        target = ROOT / path if path else page
        assert target.exists(), f"{name}: {path}"
        assert not place or place in places(target), f"{name}: {path}#{place}"


def test_broken_links_of_built_pages_are_found(tmp_path: Path) -> None:
    check = load(ROOT / "tools" / "check_docs.py")
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#here">x</a><a href="#top">x</a><a href="b.html">x</a>'
        '<a href="https://example.org/#gone">x</a><img src="p.png" srcset="p.png, q.png 2x">'
    )
    (tmp_path / "b.html").write_text('<p id="here"><a href="a.html#nowhere">x</a>')
    (tmp_path / "p.png").write_bytes(b"")
    assert check.loaded_from_elsewhere(tmp_path) == []
    assert check.broken_links(tmp_path) == [
        "a.html links to q.png, which is not there",
        "b.html links to a.html#nowhere, which is not there",
    ]
    (tmp_path / "c.html").write_text('<script src="https://example.org/x.js"></script>')
    assert check.loaded_from_elsewhere(tmp_path) == ["c.html loads https://example.org/x.js"]


@pytest.mark.parametrize(
    ("ci", "without", "outcome"),
    [("false", "", "skipped"), ("true", "", "failed"), ("true", "spark,torch", "skipped")],
)
def test_a_skipped_special_test_fails_in_ci(
    tmp_path: Path, ci: str, without: str, outcome: str
) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    torch: x\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.torch\ndef test_it():\n    pytest.skip('no torch')\n"
    )
    environment = os.environ | {"CI": ci, "PURECOVER_CI_WITHOUT": without}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # none of them has a part in it
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"1 {outcome}" in done.stdout
    assert done.returncode == (outcome == "failed")


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_files_that_an_archive_lacks_or_should_not_hold_are_named() -> None:
    check_dist = load(ROOT / "tools" / "check_dist.py")
    found = list(check_dist.differences("the wheel", {"a", "b"}, {"b", "c"}))
    assert found == ["the wheel lacks c", "the wheel holds a"]


@pytest.mark.parametrize("home", [None, "https://example.org/purecover"])
def test_links_of_the_package_page_lead_out_of_the_repository(home: str | None) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = load(ROOT / "tools" / "package_page.py").package_page(readme, home)
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert [link for link in links if "://" not in link and not link.startswith("#")] == []
    assert PROJECT["urls"]["Paper"] in links
    assert "How far to trust a report" in page
    assert ("docs/_static/" in page) == (home is not None)
    assert len(page) > 0.7 * len(readme)


def test_contributors_read_why_each_dependency_is_needed() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for dependency in PROJECT["dependencies"]:
        assert f"**{re.split(r'[<>=]', dependency)[0]}**" in text


FILE = Path(pu.__file__).parent / "data" / "example_scores.csv"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys)


def test_it_is_the_file() -> None:
    example = pu.load_example()
    kept = np.genfromtxt(FILE, delimiter=",", names=True)
    for column, values in (
        ("score", example.scores),
        ("labeled", example.labeled),
        ("truth", example.truth),
    ):
        np.testing.assert_array_equal(values, kept[column])
    assert len(example) == 1797
    assert example.labeled.dtype == example.truth.dtype == bool
    assert example.truth[example.labeled].all()
    assert round(float(example.truth[~example.labeled].mean()), 4) == example.alpha
    assert repr(example) == "ExampleScores(300 labeled, 1,497 unlabeled, alpha=0.4048)"


def test_the_command_writes_the_file(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # the same file again is no harm
        done = run("example")
        assert (done.code, done.out) == (0, "")
        assert "example_scores.csv: columns score, labeled and truth" in done.err
        assert Path("example_scores.csv").read_bytes() == FILE.read_bytes()
    assert run("example", "--out", "other.csv").code == 0
    assert Path("other.csv").read_bytes() == FILE.read_bytes()
    assert run("example", "--out", "-") == (0, FILE.read_text(), "")


def test_the_command_spares_what_is_there(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("example_scores.csv").write_text("mine")
    done = run("example")
    assert done.code == 2
    assert "holds something else" in done.err
    assert "--out" in done.err
    assert Path("example_scores.csv").read_text() == "mine"
    assert run("example", "--out", "example_scores.csv").code == 0  # asked for by name
    assert Path("example_scores.csv").read_bytes() == FILE.read_bytes()
    assert run("example", "--out", tmp_path).code == 2


def test_every_test_that_the_security_page_names_is_there() -> None:
    lines = (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ")[1] for line in lines if re.match(r"\| .* \| .*`.* \|", line)]
    assert len(rows) > 15
    for row in rows:
        file = ""
        for named in re.findall(r"`(\S+)`", row):
            module, _, name = named.partition("::")
            file = module or file
            if file != "tests/":
                path = ROOT / file if "/" in file else ROOT / "tests" / file
                assert f"def {name}" in path.read_text(encoding="utf-8"), named


def test_make_help_names_each_target_on_a_line() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):.*## (.+)$", text, re.MULTILINE)
    assert all(len(help_text) <= 85 for _, help_text in targets)
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].replace("\\\n", " ").split()) == {name for name, _ in targets}


def test_size_counts_code_alone(import_tool: Callable[[str], ModuleType], tmp_path: Path) -> None:
    page = '"""Page."""\n# reason\n\n'
    call = 'def f(x):\n    r"""Two\n    lines."""\n    return x  # it\n\n'
    file = tmp_path / "some.py"
    file.write_text(page + call + 'TEXT = """one\ntwo"""\n', encoding="utf-8")
    # def f ( x ) :, return x, TEXT = and a text that is no docstring and begins on its line.
    found = import_tool("size").count([file])
    assert found == {"tokens": 11, "lines": 3, "comments": 2}


def test_make_targets_that_pages_name_exist() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.rst"), ROOT / ".ci" / "run"]
    for page in pages:
        if page.name != "CHANGELOG.md" and "generated" not in page.parts:
            found = re.findall(r"(?:`|\$ )make ([a-z-]+)", page.read_text(encoding="utf-8"))
            assert set(found) <= known, page


def test_mutations_change_one_thing_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mutate = load(ROOT / "tools" / "mutate.py")
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    monkeypatch.setattr(mutate, "FOLDERS", [tmp_path])
    text = """
LIMIT = 2.0
def f(a: int | None = 3):
    if not a < LIMIT and b:
        raise ValueError("at most 3")
    a += x - 1e-9
"""
    (tmp_path / "a.py").write_text(text)
    found = [each.words.split(": ")[1] for each in mutate.mutations()]
    assert sorted(found) == [
        "2.0 -> 3.0",
        "a += x - 1e-09 -> a -= x - 1e-09",
        "a < LIMIT -> a <= LIMIT",
        "not a < LIMIT -> not not a < LIMIT",
        "not a < LIMIT and b -> not a < LIMIT or b",
        "x - 1e-09 -> x + 1e-09",
    ]
