"""Pictures of results, in one visual language.

A display takes a result, ``plot(ax)`` draws it and ``frame()`` gives the drawn numbers.
``from_predictions`` and ``from_estimator`` compute the result first. Matplotlib is needed
only to draw: ``pip install 'purecover[plot]'``.
"""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
