from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the data sets (tests that use it carry the marker needs_data)."""
    folder = os.environ.get("PURECOVER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PURECOVER_DATA does not name a folder")
    return Path(folder)
