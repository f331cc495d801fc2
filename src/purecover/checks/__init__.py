"""Numbered checks: what can be wrong with an evaluation from positive-unlabeled data.

Each check has a stable code, a page in the documentation, and can be silenced.
"""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
