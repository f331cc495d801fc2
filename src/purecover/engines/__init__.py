"""Counts from any engine: rows stay where they are, and only counts come back."""

from purecover.engines.files import ENGINES, scan_files
from purecover.engines.scan import overlapping, read_highest

__all__ = ["ENGINES", "overlapping", "read_highest", "scan_files"]
