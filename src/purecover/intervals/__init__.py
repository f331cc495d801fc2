"""How sure we are: intervals and bands, each saying what was varied."""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
