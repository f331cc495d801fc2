from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Generator
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

from purecover.counts import ScoreCounts
from purecover.estimators import label_curve

ROOT = Path(__file__).parents[1]

# No deadlines: tests do not judge speed. Slow draws are as welcome as quick ones.
_common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples each time, on every machine: no examples remembered from an earlier run.
settings.register_profile("default", _common, max_examples=20, derandomize=True, database=None)
# `make fuzz`: new examples each time; what it finds becomes an `@example` or a test of its own.
settings.register_profile("fuzz", _common, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--renew`` writes the golden files anew."""
    parser.addoption("--renew", action="store_true", help="write the golden files anew")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def import_tool() -> Callable[[str], ModuleType]:
    """Brings a script of ``tools``, which is in no package that is installed."""

    def bring(name: str) -> ModuleType:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(ROOT)
            folder = "tools" if (ROOT / "tools" / f"{name}.py").exists() else "paper.tools"
            return importlib.import_module(f"{folder}.{name}")

    return bring


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of optional data sets (tests that use it carry the marker needs_data)."""
    folder = os.environ.get("PURECOVER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PURECOVER_DATA does not name a folder")
    return Path(folder)


FOUND_ANEW = {"test_estimators_label_curve", "test_estimators_reference", "test_frozen"}


@pytest.fixture(scope="module", autouse=True)
def _label_curves_solved_once(request: pytest.FixtureRequest) -> Generator[None, None, None]:
    """Reports of the same scores need the same label curve, a tenth of a second each.

    Where it is the subject, it is solved each time.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.path.stem not in FOUND_ANEW:
            patch.setattr(label_curve, "_solve", _solve_once)
        yield


_SOLVED: dict[bytes, label_curve.Posterior] = {}
_solve = label_curve._solve


def _solve_once(counts: ScoreCounts, clean: str) -> label_curve.Posterior:
    digest = sha256(clean.encode())
    for each in fields(counts):
        column = getattr(counts, each.name)
        digest.update(each.name.encode())
        digest.update(b"" if column is None else column.dtype.str.encode() + column.tobytes())
    if digest.digest() not in _SOLVED:
        _SOLVED[digest.digest()] = _solve(counts, clean)
    return _SOLVED[digest.digest()]
