"""Worlds whose true performance is known, and samples drawn from them.

A :class:`World` is a pair of score densities, one for positives and one for negatives. Its
ROC, AUC, precision and AUC-PR are known without data, so an estimate made from a
:class:`Sample` of it can be compared with the truth.
"""

from __future__ import annotations

from purecover.simulate.families import WORLDS, beta, binormal, histogram, laplace, nonconcave
from purecover.simulate.worlds import Sample, World

__all__ = ["WORLDS", "Sample", "World", "beta", "binormal", "histogram", "laplace", "nonconcave"]
