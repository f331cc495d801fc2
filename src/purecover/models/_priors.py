"""Who estimates alpha and beta for a classifier, and the estimate."""

from __future__ import annotations

from typing import Any

from purecover._validation import bad_type, check_choice
from purecover.counts import ScoreCounts
from purecover.estimation._base import PriorEstimator
from purecover.estimation._default import default_estimator
from purecover.estimation._noisy import NoisyLabels
from purecover.estimation._registry import prior_estimators
from purecover.exceptions import IdentifiabilityError
from purecover.proportions import MixtureProportions

__all__ = ["as_prior_estimator", "estimate_from_scores"]


def as_prior_estimator(function: str, value: Any) -> PriorEstimator:
    """An estimator from its name, from an example of it, or the default.

    By name, a method for clean labels is run both ways, as in :func:`evaluate`.
    """
    from sklearn.base import clone

    if value is None:
        return default_estimator()
    if isinstance(value, str):
        known = prior_estimators()
        if check_choice(function, "prior_estimator", value, ("default", *known)) == "default":
            return default_estimator()
        named = known[value]()
        return named if named.estimates_beta else NoisyLabels(named)
    if not isinstance(value, PriorEstimator):
        must, hint = "an estimator of alpha and beta, or its name", "see prior_estimators()"
        raise bad_type(function, "prior_estimator", must, value, hint)
    copy: PriorEstimator = clone(value)
    return copy


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
