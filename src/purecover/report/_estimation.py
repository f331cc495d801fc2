"""Alpha and beta for `evaluate`, where the caller does not know them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._given import GivenProportions
from purecover._typing import CountArray, FloatArray
from purecover._validation import bad_type, check_choice
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.estimation._estimate import PriorEstimate
from purecover.exceptions import IdentifiabilityError, PurecoverError
from purecover.intervals._bootstrap import MAX_THRESHOLDS, PROPORTIONS, BootstrapResult
from purecover.intervals._draws import ProportionEstimator
from purecover.proportions import MixtureProportions
from purecover.recovery._auc import auc_identification_interval

if TYPE_CHECKING:  # loads scikit-learn, which a known alpha does not need
    from purecover.estimation._base import PriorEstimator

COMPARED = ("alphamax", "bbe", "dedpul", "roc-slope")
"""Quick estimators of unlike methods, whose agreement says how far an estimate can be trusted."""


@dataclass(frozen=True)
class Estimation:
    """An estimate, and what can repeat it on replicates."""

    estimate: PriorEstimate
    estimator: ProportionEstimator

    def with_replicates(self, replicates: BootstrapResult | None) -> PriorEstimate:
        """The estimate with intervals from replicates."""
        if replicates is None:
            return self.estimate
        fixed = isinstance(self.estimator, _KnownBeta)
        names = [name for name in PROPORTIONS if not (fixed and name == "beta")]
        return replace(
            self.estimate,
            intervals={name: replicates.interval(name) for name in names},
            n_rejected=replicates.n_rejected,
        )

    def unstable(self, reason: str) -> Estimation:
        """The same, now that replicates have shown that another sample might give no estimate."""
        notes = (*self.estimate.notes, reason)
        return replace(self, estimate=replace(self.estimate, identifiable=False, notes=notes))


@dataclass(frozen=True)
class _KnownBeta:
    r"""An estimator whose beta is known: :math:`\alpha = a\,\beta` with its inclusion a."""

    estimator: PriorEstimator
    beta: float

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        alpha, beta = self.estimator.proportions_many(counts, labeled, unlabeled).T
        own = alpha / beta * self.beta
        return np.column_stack((own, np.where(np.isnan(own), np.nan, self.beta)))


def check_estimator(function: str, value: Any) -> PriorEstimator:
    """An estimator from its name, from an example of it (which stays as it is), or the default."""
    from sklearn.base import clone

    from purecover.estimation._base import PriorEstimator
    from purecover.estimation._default import default_estimator
    from purecover.estimation._registry import prior_estimators

    if value is None:
        return default_estimator()
    if isinstance(value, str):
        known = prior_estimators()
        return known[check_choice(function, "estimator", value, known)]()
    if isinstance(value, PriorEstimator):
        copy: PriorEstimator = clone(value)
        return copy
    must = "an estimator of alpha and beta, or its name"
    hint = "the names are those of prior_estimators()"
    if isinstance(value, type):
        hint = f"make one first: {value.__name__}()"
    raise bad_type(function, "estimator", must, value, hint)


def estimate_proportions(
    function: str, counts: ScoreCounts, given: GivenProportions, estimator: PriorEstimator
) -> Estimation:
    """Estimate alpha, and beta unless it is known."""
    try:
        estimator.fit(counts)
    except IdentifiabilityError as error:
        raise IdentifiabilityError(f"{function} cannot estimate alpha and beta. {error}") from error
    found, diagnostics = estimator.proportions_, estimator.diagnostics_
    name = name_of(estimator)
    used = _as_given(found, given, name)
    beta_estimated = given.beta is None and estimator.estimates_beta
    p_value = probability = None
    if beta_estimated:
        probability = diagnostics.get("clean_probability")
        p_value = diagnostics.get("clean_p_value")
        if probability is None and p_value is None:
            p_value = _clean_p_value(counts)
    thinned = counts.thinned(MAX_THRESHOLDS)
    estimate = PriorEstimate(
        estimator=name,
        proportions=used,
        spread={
            name: (used.alpha, used.beta),
            **_others(thinned, given, estimator, noisy=beta_estimated),
        },
        identification=_identification(counts, used, given),
        notes=tuple(diagnostics["notes"]),
        identifiable=bool(diagnostics["identifiable"]),
        at_edge=bool(diagnostics.get("at_edge", False)),
        beta_estimated=beta_estimated,
        clean_p_value=p_value,
        clean_probability=probability,
    )
    again = estimator if given.beta is None else _KnownBeta(estimator, given.beta)
    return Estimation(estimate, again)


def name_of(estimator: PriorEstimator) -> str:
    """The class of an estimator, with that of the one it wraps."""
    name, inner = type(estimator).__name__, _wrapped(estimator)
    return name if inner is None else f"{name}({name_of(inner)})"


def _wrapped(estimator: PriorEstimator) -> PriorEstimator | None:
    return getattr(estimator, "estimator", None)


def _as_given(
    found: MixtureProportions, given: GivenProportions, origin: str
) -> MixtureProportions:
    """An estimate with the beta and the scenario that the caller knows."""
    alpha, beta = found.alpha, found.beta
    if given.beta is not None:
        # Of a = alpha / beta the scores tell, whatever beta is.
        alpha, beta = found.unlabeled_inclusion * given.beta, given.beta
        origin += ", beta given"
    return MixtureProportions(alpha, beta, origin, given.scenario or "case-control")


def _others(
    counts: ScoreCounts, given: GivenProportions, used: PriorEstimator, *, noisy: bool
) -> dict[str, tuple[float, float]]:
    """What other estimators say; one that cannot say anything has no part in the comparison."""
    from purecover.estimation._noisy import NoisyLabels
    from purecover.estimation._registry import prior_estimators

    known = prior_estimators()
    found = {}
    for other in COMPARED:
        if isinstance(used, known[other]) or isinstance(_wrapped(used), known[other]):
            continue
        estimator = known[other]()
        if noisy and not estimator.estimates_beta:
            estimator = NoisyLabels(estimator)
        try:
            p = _as_given(estimator.fit(counts).proportions_, given, other)
        except PurecoverError:
            continue
        found[other] = (p.alpha, p.beta)
    return found


def _identification(
    counts: ScoreCounts, used: MixtureProportions, given: GivenProportions
) -> dict[str, tuple[float, float]]:
    """What the data allow without the assumption that some scores are pure.

    Any alpha <= a beta and 1 - beta <= b (1 - alpha) then fits, and alpha and beta of the
    estimate are only the corner farthest from (0, 1).
    """
    observed = auc_pu(counts)
    if given.beta is not None:
        ends = {"alpha": (0.0, used.alpha), "delta": (used.delta, used.beta)}
        far = [min(max(0.5 + (observed - 0.5) / delta, 0.0), 1.0) for delta in ends["delta"]]
        return ends | {"auc": (min(far), max(far))}
    a, b = used.unlabeled_inclusion, used.labeled_inclusion
    return {
        "alpha": (0.0, a),
        "beta": (1 - b, 1.0),
        "delta": (used.delta, 1.0),
        "auc": auc_identification_interval(observed, a, b),
    }


def _clean_p_value(counts: ScoreCounts) -> float:
    from purecover.estimation._clean import clean_test

    return float(clean_test(counts).p_value)
