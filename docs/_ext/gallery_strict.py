"""What the gallery does before each script: a warning is an error there, as it is in the tests."""

from __future__ import annotations

import warnings
from typing import Any


def strict(gallery_conf: Any, name: str) -> None:
    """Make errors of warnings."""
    warnings.simplefilter("error")
