"""Set-up shared by the tests, the doctests in src/ and the pages in docs/."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

# Before anything imports matplotlib: tests draw, nobody looks.
os.environ["MPLBACKEND"] = "Agg"

# All that is imported and collected stays. To look through it for garbage again and again takes a
# quarter of the time until the first test.
gc.disable()

collect_ignore_glob = [
    "docs/conf.py",
    "docs/_ext/*",
    "docs/_build/*",
    "docs/gallery/*",  # made from examples/ when the pages are built
    "docs/api/generated/*",
    "paper/src/purecover_paper/networks/kernels.py",  # imports Triton
]

ROOT = Path(__file__).parent
SPECIAL = ("needs_data", "browser", "firefox", "dask", "spark", "torch")


@pytest.fixture(autouse=True)
def _close_figures() -> Generator[None, None, None]:
    """A test that draws leaves no figure behind."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def import_tool() -> Callable[[str], ModuleType]:
    """Import a script of ``tools`` or ``paper/tools``, which no installed package holds."""

    def bring(name: str) -> ModuleType:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(ROOT)
            folder = "tools" if (ROOT / "tools" / f"{name}.py").exists() else "paper.tools"
            return importlib.import_module(f"{folder}.{name}")

    return bring


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Guides train models and draw replicates: their examples wait for the slow stage."""
    docs = ROOT / "docs"
    for item in items:
        if item.path.is_relative_to(docs / "howto") or item.path == docs / "tutorial.rst":
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """From here on garbage is looked for, but only among what the tests make."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """At the end all goes, as it would without us."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Where CI=true, a special test that skips has not been run, and that is a failure.

    PURECOVER_CI_WITHOUT names, with commas, the markers a machine cannot serve, so that what was
    left out is written down where the run is started.
    """
    report = yield
    if os.environ.get("CI") != "true" or not report.skipped or hasattr(report, "wasxfail"):
        return report
    without = os.environ.get("PURECOVER_CI_WITHOUT", "").split(",")
    missing = [name for name in SPECIAL if item.get_closest_marker(name) and name not in without]
    if missing:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} ({', '.join(missing)}) must run in CI, but: {reason}"
    return report
