"""Estimating alpha and beta from scores."""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
