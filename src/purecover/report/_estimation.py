"""Alpha and beta for `evaluate`, where the caller does not know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from purecover._given import GivenProportions
from purecover._validation import show
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.estimation._asked import tell_clean
from purecover.estimation._estimate import PriorEstimate
from purecover.exceptions import IdentifiabilityError
from purecover.intervals._bootstrap import MAX_THRESHOLDS
from purecover.intervals._draws import ProportionEstimator
from purecover.intervals._replicates import PROPORTIONS, BootstrapResult
from purecover.proportions import MixtureProportions
from purecover.recovery._auc import auc_identification_interval
from purecover.report._others import fit_others, other_intervals

if TYPE_CHECKING:  # loads scikit-learn, which a known alpha does not need
    from purecover.estimation._base import PriorEstimator
    from purecover.estimation._known_beta import KnownBeta


@dataclass(frozen=True)
class Estimation:
    """An estimate, and what can repeat it on replicates."""

    estimate: PriorEstimate
    estimator: ProportionEstimator
    counts: ScoreCounts
    others: Mapping[str, PriorEstimator | KnownBeta]

    def with_others(
        self, n_resamples: int, *, level: float, rng: np.random.Generator
    ) -> Estimation:
        """The same with intervals of the other estimators, where rows are independent."""
        found = other_intervals(
            self.others, self.counts, confidence_level=level, n_resamples=n_resamples, rng=rng
        )
        return replace(self, estimate=replace(self.estimate, other_intervals=found))

    def with_replicates(
        self, replicates: BootstrapResult | None, *, level: float, independent: bool
    ) -> PriorEstimate:
        """The estimate with intervals: its own, if it has a posterior, or from replicates."""
        own = getattr(self.estimator, "interval_method", "bootstrap") != "bootstrap"
        n_rejected = 0 if replicates is None else replicates.n_rejected
        if own and independent:
            found = self.estimator.interval(confidence_level=level)  # type: ignore[attr-defined]
            return replace(self.estimate, intervals=found, n_rejected=n_rejected)
        if replicates is None:
            return self.estimate
        given = self.estimate.beta_given
        names = [name for name in PROPORTIONS if not (given and name == "beta")]
        return replace(
            self.estimate,
            intervals={name: replicates.interval(name) for name in names},
            n_rejected=n_rejected,
        )

    def unstable(self, reason: str) -> Estimation:
        """The same, now that replicates have shown that another sample might give no estimate."""
        notes = (*self.estimate.notes, reason)
        return replace(self, estimate=replace(self.estimate, identifiable=False, notes=notes))


def estimate_proportions(
    function: str, counts: ScoreCounts, given: GivenProportions, estimator: PriorEstimator
) -> Estimation:
    """Estimate alpha, and beta unless it is known."""
    from purecover.estimation._known_beta import KnownBeta, full_name
    from purecover.estimation._registry import prior_estimators

    tell_clean(estimator, given.beta)
    try:
        estimator.fit(counts)
    except IdentifiabilityError as error:
        raise IdentifiabilityError(f"{function} cannot estimate alpha and beta. {error}") from error
    found, diagnostics = estimator.proportions_, estimator.diagnostics_
    name = registered_name(estimator, prior_estimators())
    used = given.estimated(replace(found, origin=full_name(estimator)))
    beta_estimated = given.beta is None and estimator.estimates_beta
    p_value = probability = None
    if given.beta is None:
        probability = diagnostics.get("clean_probability")
        p_value = diagnostics.get("clean_p_value")
        if probability is None and p_value is None:
            p_value = _clean_p_value(counts)
    others = fit_others(counts.thinned(MAX_THRESHOLDS), given, estimator, noisy=beta_estimated)
    pairs = {other: fitted.proportions_ for other, fitted in others.items()}
    estimate = PriorEstimate(
        estimator=name,
        proportions=used,
        spread={
            name: (used.alpha, used.beta),
            **{other: (p.alpha, p.beta) for other, p in pairs.items()},
        },
        identification=_identification(counts, used, given),
        notes=tuple(diagnostics["notes"]),
        identifiable=bool(diagnostics["identifiable"]),
        at_edge=bool(diagnostics.get("at_edge", False)),
        beta_estimated=beta_estimated,
        beta_given=given.beta is not None,
        clean_p_value=p_value,
        clean_probability=probability,
    )
    again = estimator if given.beta is None else KnownBeta(estimator, given.beta)
    return Estimation(estimate, again, counts, others)


def registered_name(estimator: PriorEstimator, known: Mapping[str, type[PriorEstimator]]) -> str:
    """The name of an estimator in the registry, or its class if it is not registered.

    One that is run both ways keeps its name, as in :func:`compare_priors`; other wrappers put
    theirs around it, as in ``regrouping(bbe)``.
    """
    from purecover.estimation._base import PriorEstimator
    from purecover.estimation._noisy import NoisyLabels

    inner = _wrapped(estimator)
    if isinstance(estimator, NoisyLabels) and inner is not None:
        return registered_name(inner, known)
    cls = type(estimator)
    name = next((name for name, other in known.items() if other is cls), cls.__name__)
    return f"{name}({registered_name(inner, known)})" if isinstance(inner, PriorEstimator) else name


def _wrapped(estimator: PriorEstimator) -> PriorEstimator | None:
    return getattr(estimator, "estimator", None)


def as_seen_by(found: PriorEstimate, observed: float, reference: str) -> PriorEstimate:
    """An estimate from one score, in the report of another: its AUC has ends of its own."""
    ends = dict(found.identification)
    if found.beta_given:
        ends["auc"] = _auc_between(observed, ends["delta"])
    else:
        ends["auc"] = _auc_allowed(observed, ends["alpha"][1], 1 - ends["beta"][0])
    note = f"estimated from the scores in {show(reference)}, for all scores compared"
    return replace(found, identification=ends, notes=(*found.notes, note))


def _identification(
    counts: ScoreCounts, used: MixtureProportions, given: GivenProportions
) -> dict[str, tuple[float, float]]:
    """What the data allow without the assumption that some scores are pure.

    Any alpha <= a beta and 1 - beta <= b (1 - alpha) then fits. The inclusions a and b are taken
    at upper bounds that hold together with 95 % confidence.
    """
    from purecover.estimation._bounds import inclusion_bound
    from purecover.estimation._samples import flipped_counts

    observed = auc_pu(counts)
    level = 0.95 if given.beta is not None else 0.975
    a = min(max(inclusion_bound(counts, confidence_level=level), used.unlabeled_inclusion), 1.0)
    if given.beta is not None:
        ends = {"alpha": (0.0, a * used.beta), "delta": ((1 - a) * used.beta, used.beta)}
        return ends | {"auc": _auc_between(observed, ends["delta"])}
    b = inclusion_bound(flipped_counts(counts), confidence_level=level)
    b = min(max(b, used.labeled_inclusion), 1.0)
    least = (1 - a) * (1 - b) / (1 - a * b) if a * b < 1 else 0.0
    return {
        "alpha": (0.0, a),
        "beta": (1 - b, 1.0),
        "delta": (least, 1.0),
        "auc": _auc_allowed(observed, a, b),
    }


def _auc_between(observed: float, deltas: tuple[float, float]) -> tuple[float, float]:
    """The least and the greatest AUC while beta - alpha runs from end to end."""
    far = [min(max(0.5 + (observed - 0.5) / max(d, 1e-12), 0.0), 1.0) for d in deltas]
    return min(far), max(far)


def _auc_allowed(observed: float, a: float, b: float) -> tuple[float, float]:
    """The same for inclusions, also for those that leave nothing to tell."""
    return auc_identification_interval(observed, min(a, 1 - 1e-12), min(b, 1 - 1e-12))


def _clean_p_value(counts: ScoreCounts) -> float:
    from purecover.estimation._clean import clean_test

    return float(clean_test(counts).p_value)
