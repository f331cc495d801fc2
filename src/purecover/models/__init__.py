"""From features to scores: models of labeled against unlabeled rows."""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
