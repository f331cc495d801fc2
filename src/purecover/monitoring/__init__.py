"""Scores that arrive in partitions: running counts in a file, and a watch for drift."""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
