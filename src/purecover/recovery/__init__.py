"""From observed curves to true ones: the recovery theorem and what follows from it."""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
