"""Pictures of results, in one visual language.

A display takes a result, ``plot(ax)`` draws it and ``frame()`` gives the drawn numbers.
``from_predictions`` and ``from_estimator`` compute the result first. Matplotlib is needed
only to draw: ``pip install 'purecover[plot]'``.
"""

from __future__ import annotations

from purecover.displays.curves import RecoveredPrDisplay, RecoveredRocDisplay
from purecover.displays.maps import ErrorMapDisplay, SensitivityDisplay
from purecover.displays.priors import AlphaMaxDisplay, PriorsDisplay
from purecover.displays.thresholds import ThresholdDisplay

__all__ = [
    "AlphaMaxDisplay",
    "ErrorMapDisplay",
    "PriorsDisplay",
    "RecoveredPrDisplay",
    "RecoveredRocDisplay",
    "SensitivityDisplay",
    "ThresholdDisplay",
]
