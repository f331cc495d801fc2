from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).parents[1]

# No deadlines: tests do not judge speed. Slow draws are as welcome as quick ones.
_common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", _common, max_examples=15)
settings.register_profile("ci", _common, max_examples=20, derandomize=True, print_blob=True)
settings.register_profile("fuzz", _common, max_examples=2000, print_blob=True)
# For `make mutation`: few examples, the same each time, and none made smaller: nobody reads them.
settings.register_profile(
    "mutation",
    _common,
    max_examples=25,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "default")
)


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
            return importlib.import_module(f"tools.{name}")

    return bring


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of optional data sets (tests that use it carry the marker needs_data)."""
    folder = os.environ.get("PURECOVER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PURECOVER_DATA does not name a folder")
    return Path(folder)
