"""Counts from any engine: rows stay where they are, and only counts come back."""

from purecover.engines.files import scan_files

__all__ = ["scan_files"]
