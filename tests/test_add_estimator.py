"""The page on adding an estimator, followed to the letter, passes the tests it sends one to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "howto" / "add_estimator.rst"


def module_of_the_page() -> str:
    """The file that the page shows in full."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^( +)\.\. code-block:: python\n\n((?:\1   .*\n|\n)+)", text, re.MULTILINE)
    (found,) = [block for _, block in blocks if "from __future__" in block]
    return textwrap.dedent(found).rstrip() + "\n"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project after the first step of the page."""
    folder = tmp_path_factory.mktemp("clone")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignore)
    shutil.copytree(ROOT / "paper" / "src", folder / "paper" / "src", ignore=ignore)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    estimation = folder / "src" / "purecover" / "estimators"
    (estimation / "top_share.py").write_text(module_of_the_page(), encoding="utf-8")
    return folder


def run_tests(folder: Path, *arguments: str) -> str:
    """What pytest prints, all tests passed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder / 'paper' / 'src'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def test_the_page_sends_one_to_these_tests() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert 'pytest -q -m "" tests/test_estimators_common.py -k top-share' in page


@pytest.mark.slow
def test_the_battery_layers_and_docstring(clone: Path) -> None:
    chosen = "top-share or TopShare or imports and not picture or circles"
    module = "src/purecover/estimators/top_share.py"
    files = ("tests/test_estimators_common.py", "tests/test_architecture.py", module)
    said = run_tests(clone, "-m", "", "-k", chosen, *files)
    passed = re.search(r"(\d+) passed", said)
    assert passed is not None
    # The battery, of it alone and wrapped, three about layers, a doctest: none missed by its name.
    assert int(passed[1]) >= 30
