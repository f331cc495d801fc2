"""Audits: some unlabeled examples judged by hand, what they tell, and how many it takes."""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
