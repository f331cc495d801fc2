"""Counts from any engine: rows stay where they are, and only counts come back."""

from purecover.engines._columns import merge_bins, read_highest
from purecover.engines._door import FrameDoor
from purecover.engines._files import ENGINES, scan_files

__all__ = ["ENGINES", "FrameDoor", "merge_bins", "read_highest", "scan_files"]
