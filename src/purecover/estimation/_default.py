"""The estimator used where nobody names one."""

from __future__ import annotations

from purecover.estimation._base import PriorEstimator
from purecover.estimation._label_curve import LabelCurve


def default_estimator() -> PriorEstimator:
    """The default estimator of alpha and beta."""
    return LabelCurve()
