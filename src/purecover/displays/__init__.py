"""Pictures of results, in one visual language.

A display takes a result, ``plot(ax)`` draws it and ``frame()`` gives the drawn numbers.
``from_predictions`` and ``from_estimator`` compute the result first. Matplotlib is needed
only to draw: ``pip install 'purecover[plot]'``.
"""

from __future__ import annotations

from purecover.displays._alphamax import AlphaMaxDisplay
from purecover.displays._error_map import ErrorMapDisplay
from purecover.displays._pr import RecoveredPrDisplay
from purecover.displays._priors import PriorsDisplay
from purecover.displays._roc import RecoveredRocDisplay
from purecover.displays._sensitivity import SensitivityDisplay
from purecover.displays._threshold import ThresholdDisplay

__all__ = [
    "AlphaMaxDisplay",
    "ErrorMapDisplay",
    "PriorsDisplay",
    "RecoveredPrDisplay",
    "RecoveredRocDisplay",
    "SensitivityDisplay",
    "ThresholdDisplay",
]
