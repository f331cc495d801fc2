"""What a release is checked by: the archives, and the stranger who follows the pages."""

from __future__ import annotations

import re
import tomllib
from email.message import Message
from pathlib import Path

import pytest
from tests.scripts import load

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
check_dist = load(ROOT / "tools" / "check_dist.py")
stranger = load(ROOT / "tools" / "stranger.py")

PAGE = """\
>>> 1 + 1
2

.. code-block:: python

   three = 1 + 2

.. code-block:: console

   $ purecover evaluate scores.csv --alpha 0.25 \\
       --json
   {"auc": 0.9}
   $ make test
   $ purecover --version
"""


# -- what a stranger sees -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (["AUC  0.924", "done"], ["AUC  0.924", "done"]),
        (["AUC  0.924  "], ["AUC  0.924"]),
        (["first", "second", "last"], ["first", "...", "last"]),
        (["first", "last"], ["first", "...", "last"]),
        (["first", "second"], ["first", "..."]),
        (["anything"], []),
    ],
)
def test_output_that_agrees_with_the_page(printed: list[str], expected: list[str]) -> None:
    assert stranger.difference(printed, expected) == ""


@pytest.mark.parametrize(
    ("printed", "expected", "shown"),
    [
        (["AUC  0.925", "done"], ["AUC  0.924", "done"], "+AUC  0.925"),
        (["AUC  0.924"], ["AUC  0.924", "done"], "-done"),
        (["AUC  0.924", "a warning"], ["AUC  0.924"], "+a warning"),
        (["first", "second"], ["first", "...", "last"], "-last"),
        ([], ["AUC"], "-AUC"),
        (["A.C"], ["AUC"], "+A.C"),
        (["AUC"], ["A.C"], "-A.C"),  # the page is text, not a pattern
    ],
)
def test_output_that_has_changed_is_shown(
    printed: list[str], expected: list[str], shown: str
) -> None:
    assert shown in stranger.difference(printed, expected).splitlines()


def test_commands_and_code_of_a_page() -> None:
    commands = stranger.commands_of(PAGE)
    assert [shown for _, shown in commands] == [['{"auc": 0.9}'], []]
    assert commands[0][0].split()[-2:] == ["0.25", "--json"]
    assert [block.strip() for block in stranger.code_of(PAGE)] == ["three = 1 + 2"]


@pytest.mark.parametrize("page", stranger.PAGES)
def test_the_pages_have_something_to_follow(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert stranger.commands_of(text)
    assert ">>>" in text or stranger.code_of(text)


def test_a_page_that_keeps_its_word() -> None:
    assert stranger.follow_python(PAGE, "page.rst") == []


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [("\n2\n", "\n3\n", "+ 2"), ("1 + 2", "1 + nothing", "NameError"), ("1 + 1", "1 +", "Syntax")],
)
def test_a_page_that_does_not(old: str, new: str, shown: str) -> None:
    (problem,) = stranger.follow_python(PAGE.replace(old, new), "page.rst")
    assert shown in problem


# -- archives -------------------------------------------------------------------------------


def package() -> dict[str, bytes]:
    """The package as it must be in a wheel."""
    names = [name for name in check_dist.source_files(ROOT) if name.startswith("src/purecover/")]
    return {name.removeprefix("src/"): (ROOT / name).read_bytes() for name in names}


def test_the_package_brings_what_it_reads() -> None:
    found = {name.rpartition(".")[2] for name in package()}
    assert found >= {"py", "typed", "js", "css", "j2", "json", "csv", "npz"}
    assert list(check_dist.check_wheel(package(), ROOT)) == []


def test_missing_foreign_and_changed_files_of_a_wheel_are_named() -> None:
    files = package()
    del files["purecover/py.typed"]
    files["purecover/data/example_scores.csv"] += b"\n"
    files["tests/test_release.py"] = b""
    assert list(check_dist.check_wheel(files, ROOT)) == [
        "the wheel lacks purecover/py.typed",
        "the wheel holds tests/test_release.py",
        "the wheel has another purecover/data/example_scores.csv",
    ]


def test_one_requirement_in_two_spellings() -> None:
    assert check_dist.requirement("Dask[dataframe] >= 2024.12 ; extra == 'engines'") == (
        check_dist.requirement('dask[dataframe]>=2024.12; extra == "engines"')
    )
    assert check_dist.requirement("numpy<3,>=1.26") == check_dist.requirement("numpy>=1.26,<3")
    assert check_dist.requirement("numpy>=1.26") != check_dist.requirement("numpy>=1.27")


def test_the_extra_all_is_the_sum_of_those_it_names() -> None:
    extras = PROJECT["optional-dependencies"]
    found = set(check_dist.resolved("all", extras))
    assert found >= {*extras["plot"], *extras["engines"], *extras["mlflow"]}
    assert not any("purecover" in text for text in found)


def test_metadata_that_says_something_else_is_shown() -> None:
    metadata = Message()
    metadata["Requires-Python"] = ">=3.9"
    (problem,) = check_dist.compare_values(
        metadata, {"Requires-Python": [PROJECT["requires-python"]]}
    )
    assert ">=3.9" in problem
    assert PROJECT["requires-python"] in problem


def test_the_readme_says_what_each_extra_is_for() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\|.*\|$", text, re.MULTILINE)
    assert sorted(rows) == sorted(PROJECT["optional-dependencies"])


def test_contributors_read_why_each_dependency_is_needed() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for dependency in PROJECT["dependencies"]:
        assert f"**{re.split(r'[<>=]', dependency)[0]}**" in text
