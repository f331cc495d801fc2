"""The whole evaluation in one call, and the report it returns."""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
