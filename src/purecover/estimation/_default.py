"""The estimator used where nobody names one."""

from __future__ import annotations

from purecover.estimation._base import PriorEstimator


def default_estimator() -> PriorEstimator:
    """The default estimator of alpha and beta."""
    from purecover.estimation._noisy import NoisyLabels

    return NoisyLabels()
