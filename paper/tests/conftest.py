from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def import_tool() -> Callable[[str], ModuleType]:
    """Import a script of ``paper/tools``."""

    def bring(name: str) -> ModuleType:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(ROOT)
            return importlib.import_module(f"paper.tools.{name}")

    return bring


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the data sets (tests that use it carry the marker needs_data)."""
    folder = os.environ.get("PURECOVER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PURECOVER_DATA does not name a folder")
    return Path(folder)
