"""Audits: rows judged by hand, what follows from them, and how many are needed."""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
