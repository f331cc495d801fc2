"""The estimator that a caller names or passes, or the default one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover._validation import bad_type, check_choice
from purecover.counts import ScoreCounts
from purecover.intervals.interval import Interval
from purecover.posterior.knowledge import Knowledge, middle_of
from purecover.proportions import MixtureProportions

if TYPE_CHECKING:  # estimators bring scikit-learn, which a report with a known alpha does without
    from purecover.estimators.base import PriorEstimator


def default_estimator() -> PriorEstimator:
    """Return the default estimator of alpha and beta."""
    from purecover.estimators.reference import ReferencePosterior

    return ReferencePosterior()


def check_estimator(value: Any, parameter: str = "estimator") -> PriorEstimator:
    """Return the estimator of a name, a clone of an estimator, or the default for None.

    By name, a method for clean labels is run both ways, so that it means the same as in
    :func:`compare_priors`.
    """
    if value is None:
        return default_estimator()
    from purecover.estimators.base import PriorEstimator, prior_estimators
    from purecover.estimators.noisy import NoisyLabels
    from purecover.estimators.parameters import clone

    if isinstance(value, str):
        known = prior_estimators()
        if check_choice(parameter, value, ("default", *known)) == "default":
            return default_estimator()
        named = known[value]()
        return named if named.estimates_beta else NoisyLabels(named)
    if isinstance(value, PriorEstimator):
        return clone(value)
    must = "an estimator of alpha and beta, or its name"
    hint = "the names are those of prior_estimators()"
    if isinstance(value, type):
        hint = f"make one first: {value.__name__}()"
    raise bad_type(parameter, must, value, hint)


def with_clean_labels(estimator: PriorEstimator, beta: float | None) -> PriorEstimator:
    """Set ``clean="always"`` where beta is known to be 1 and the estimator has that parameter."""
    if beta == 1 and "clean" in estimator.get_params(deep=False):
        estimator.set_params(clean="always")
    return estimator


class KnownBeta:
    r"""A fitted estimator whose beta is known: :math:`\alpha = a\,\beta` with its inclusion a.

    The share :math:`a = \alpha/\beta` of the labeled density inside the unlabeled one is what
    scores determine, whatever beta is.
    """

    estimates_beta = False

    def __init__(self, estimator: PriorEstimator, beta: float) -> None:
        self.estimator, self.beta = estimator, float(beta)  # any kind of number
        alpha = estimator.proportions_.unlabeled_inclusion * self.beta
        if self.knowledge is not None:
            alpha = middle_of(self.knowledge.posterior().shares)[0]
        origin = f"{full_name(estimator)}, beta given"
        self.proportions_ = MixtureProportions(alpha, self.beta, origin)

    @cached_property
    def knowledge(self) -> Knowledge | None:
        """Knowledge of the estimator with the known beta; None if it draws nothing."""
        own = getattr(self.estimator, "knowledge", None)
        return None if own is None else replace(own, pool=with_beta(own.pool, self.beta))

    def interval(self, *, confidence_level: float) -> Mapping[str, Interval]:
        """Return intervals of alpha, beta and delta by the posterior."""
        from purecover.estimators.replicates import ends_of_draws, named_intervals

        drawn: Any = self.knowledge
        ends = ends_of_draws(drawn.posterior().shares, confidence_level)
        return named_intervals(self.proportions_, ends, confidence_level, "posterior quantiles")

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates; see :meth:`PriorEstimator.proportions_many`."""
        return with_beta(self.estimator.proportions_many(counts, labeled, unlabeled), self.beta)


def with_beta(draws: FloatArray, known: float) -> FloatArray:
    """Convert alpha and beta of an estimator to those with a known beta."""
    alpha, beta = draws.T
    own = alpha / beta * known
    return np.column_stack((own, np.where(np.isnan(own), np.nan, known)))


def full_name(estimator: PriorEstimator) -> str:
    """Return the class name of an estimator, with that of its inner one: ``NoisyLabels(BBE)``."""
    from purecover.estimators.base import PriorEstimator

    name, inner = type(estimator).__name__, getattr(estimator, "estimator", None)
    return f"{name}({full_name(inner)})" if isinstance(inner, PriorEstimator) else name
