"""Settings before each script of the gallery: warnings are errors there, as in the tests."""

from __future__ import annotations

import warnings
from typing import Any


def strict(gallery_conf: Any, name: str) -> None:
    """Make errors of warnings."""
    warnings.simplefilter("error")
