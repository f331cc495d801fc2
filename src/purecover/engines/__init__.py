"""Counts from any engine: rows stay where they are, and only counts come back."""

from purecover.engines.files import ENGINES, scan_files
from purecover.engines.scan import merge_bins, read_highest

__all__ = ["ENGINES", "merge_bins", "read_highest", "scan_files"]
