"""Alpha where beta is known: what the scores tell is their ratio."""

from __future__ import annotations

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.estimation._base import PriorEstimator
from purecover.proportions import MixtureProportions

__all__ = ["KnownBeta", "full_name"]


class KnownBeta:
    r"""A fitted estimator whose beta is known: :math:`\alpha = a\,\beta` with its inclusion a.

    The share :math:`a = \alpha/\beta` of the labeled density inside the unlabeled one is what
    scores tell, whatever beta is.
    """

    estimates_beta = False

    def __init__(self, estimator: PriorEstimator, beta: float) -> None:
        self.estimator, self.beta = estimator, float(beta)  # any kind of number
        a = estimator.proportions_.unlabeled_inclusion
        origin = f"{full_name(estimator)}, beta given"
        self.proportions_ = MixtureProportions(a * self.beta, self.beta, origin)

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates; see :meth:`PriorEstimator.proportions_many`."""
        return self.of_draws(self.estimator.proportions_many(counts, labeled, unlabeled))

    def of_draws(self, draws: FloatArray) -> FloatArray:
        """Alpha and beta of replicates, from those that the estimator finds by itself."""
        alpha, beta = draws.T
        own = alpha / beta * self.beta
        return np.column_stack((own, np.where(np.isnan(own), np.nan, self.beta)))


def full_name(estimator: PriorEstimator) -> str:
    """The class of an estimator, with that of the one it wraps: ``NoisyLabels(BBE)``."""
    name, inner = type(estimator).__name__, getattr(estimator, "estimator", None)
    return f"{name}({full_name(inner)})" if isinstance(inner, PriorEstimator) else name
