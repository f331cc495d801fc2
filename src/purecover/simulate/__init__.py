"""Worlds whose true performance is known, and samples drawn from them.

A :class:`World` is a pair of score densities, one for positives and one for negatives. Its
rates, AUC, precision and AUC-PR are known without data, so an estimate made from a
:class:`Sample` of it can be compared with the truth.
"""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
