"""Alpha and beta for a classifier, estimated from scores of rows it has not seen."""

from __future__ import annotations

from purecover.counts import ScoreCounts
from purecover.estimation._base import PriorEstimator
from purecover.exceptions import IdentifiabilityError
from purecover.proportions import MixtureProportions

__all__ = ["estimate_from_scores"]


def estimate_from_scores(
    function: str, estimator: PriorEstimator, counts: ScoreCounts
) -> MixtureProportions:
    """Alpha and beta of cross-fitted scores, or a complaint in a function's name."""
    try:
        return estimator.fit(counts).proportions_
    except IdentifiabilityError as error:
        raise IdentifiabilityError(
            f"{function} cannot estimate alpha and beta from the cross-fitted scores. {error}"
        ) from error
