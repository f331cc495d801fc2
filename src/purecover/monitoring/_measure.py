"""The figures of one partition."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from purecover._given import GivenProportions
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.estimation._asked import check_estimator, tell_clean
from purecover.exceptions import IdentifiabilityError, RecoveryWarning
from purecover.intervals._bootstrap import bootstrap
from purecover.intervals._delong import auc_interval
from purecover.intervals._interval import Interval
from purecover.proportions import MixtureProportions

if TYPE_CHECKING:  # loads scikit-learn, which a known alpha does not need
    from purecover.estimation._base import PriorEstimator

__all__ = ["figures", "make_estimator"]

_OBSERVED = MixtureProportions(0.0, 1.0)
"""With these the recovered figures are the observed ones."""


def figures(
    function: str,
    counts: ScoreCounts,
    given: GivenProportions,
    *,
    level: float,
    n_resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Observed AUC, alpha, beta and recovered AUC with intervals, as fields of a partition."""
    found: dict[str, Any] = {
        "auc_pu": auc_interval(counts, _OBSERVED, confidence_level=level),
        "alpha": None,
        "beta": None,
        "auc": None,
    }
    if given.ways:
        used = given.resolve(function, counts)
        auc = auc_interval(counts, used, confidence_level=level)
        ends = _interval(used.alpha, level, used.alpha, used.alpha, "given")
        return found | {"alpha": ends, "beta": used.beta, "auc": auc}
    estimator = make_estimator(function, given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        try:
            estimator.fit(counts)
        except IdentifiabilityError as error:
            return found | {"note": str(error).partition("\n")[0]}
        return found | _estimated(counts, given, estimator, level, n_resamples, seed)


def make_estimator(function: str, given: GivenProportions) -> PriorEstimator:
    """A new estimator, told if labels are known to be clean."""
    estimator = check_estimator(function, given.estimator)
    tell_clean(estimator, given.beta)
    return estimator


def _estimated(
    counts: ScoreCounts,
    given: GivenProportions,
    estimator: PriorEstimator,
    level: float,
    n_resamples: int,
    seed: int,
) -> dict[str, Any]:
    from purecover.estimation._known_beta import KnownBeta

    used = given.estimated(estimator.proportions_)
    again: Any = estimator if given.beta is None else KnownBeta(estimator, given.beta)
    direct = min(max(0.5 + (auc_pu(counts) - 0.5) / used.delta, 0.0), 1.0)
    alpha, auc = _interval(used.alpha, level), _interval(direct, level)
    note = None
    own = given.beta is None and estimator.interval_method != "bootstrap"
    if own:
        alpha = estimator.interval(confidence_level=level)["alpha"]
    if n_resamples:
        try:
            drawn = bootstrap(
                counts,
                used,
                estimator=again,
                metrics=["roc_auc"],
                curves=False,
                n_resamples=n_resamples,
                confidence_level=level,
                random_state=seed,
            )
        except IdentifiabilityError as error:
            note = str(error).partition("\n")[0]
        else:
            alpha = alpha if own else drawn.interval("alpha")
            auc = drawn.interval("roc_auc")
    return {"alpha": alpha, "beta": used.beta, "auc": auc, "note": note}


def _interval(
    value: float,
    level: float,
    low: float = math.nan,
    high: float = math.nan,
    method: str = "no interval",
) -> Interval:
    return Interval(
        estimate=value, low=low, high=high, confidence_level=level, method=method, varied="scores"
    )
