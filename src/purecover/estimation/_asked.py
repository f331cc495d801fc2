"""The estimator that a caller asks for: by name, as an example, or none in particular."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purecover._validation import bad_type, check_choice

if TYPE_CHECKING:  # loads scikit-learn, which a known alpha does not need
    from purecover.estimation._base import PriorEstimator

__all__ = ["check_estimator", "tell_clean"]


def check_estimator(function: str, value: Any, parameter: str = "estimator") -> PriorEstimator:
    """An estimator from its name, from an example of it (which stays as it is), or the default.

    By name, a method for clean labels is run both ways, so that it means the same as in
    :func:`compare_priors`; an example is taken as it is.
    """
    from sklearn.base import clone

    from purecover.estimation._base import PriorEstimator
    from purecover.estimation._default import default_estimator
    from purecover.estimation._noisy import NoisyLabels
    from purecover.estimation._registry import prior_estimators

    if value is None:
        return default_estimator()
    if isinstance(value, str):
        known = prior_estimators()
        if check_choice(function, parameter, value, ("default", *known)) == "default":
            return default_estimator()
        named = known[value]()
        return named if named.estimates_beta else NoisyLabels(named)
    if isinstance(value, PriorEstimator):
        copy: PriorEstimator = clone(value)
        return copy
    must = "an estimator of alpha and beta, or its name"
    hint = "the names are those of prior_estimators()"
    if isinstance(value, type):
        hint = f"make one first: {value.__name__}()"
    raise bad_type(function, parameter, must, value, hint)


def tell_clean(estimator: PriorEstimator, beta: float | None) -> None:
    """Where beta is known to be 1, an estimator that asks whether labels are clean need not."""
    if beta == 1 and "clean" in estimator.get_params(deep=False):
        estimator.set_params(clean="always")
