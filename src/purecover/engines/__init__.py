"""Counts from any engine: rows stay where they are, and only counts come back."""

from purecover.engines.files import ENGINES, scan_files

__all__ = ["ENGINES", "scan_files"]
