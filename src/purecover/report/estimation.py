"""Alpha and beta for a report: estimates, their intervals, and what other estimators say."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from purecover._validation import show
from purecover.counts import ScoreCounts
from purecover.estimators.choice import tell_clean
from purecover.estimators.estimate import PriorEstimate
from purecover.exceptions import IdentifiabilityError, PurecoverError, RecoveryWarning
from purecover.intervals.interval import Interval
from purecover.intervals.replicates import MAX_THRESHOLDS, PROPORTIONS, BootstrapResult
from purecover.intervals.resampling import resampler_for
from purecover.proportions import GivenProportions, MixtureProportions, ProportionEstimator
from purecover.recovery.rates import auc_identification_interval

if TYPE_CHECKING:
    from purecover.estimators.base import PriorEstimator
    from purecover.estimators.choice import KnownBeta


# -- Other estimators of alpha and beta beside the one in use: what they say, and how firmly -----


COMPARED = ("alphamax", "bbe", "dedpul", "roc-slope")
"""Quick estimators of unlike methods, whose agreement says how far an estimate can be trusted."""

REPLICATES = 64
"""Of each of them. Ends of an interval then err by a third of a standard error: enough to see
whether two estimators differ by more than chance, and done within a second."""

GROUPS = 2**10
"""Groups of neighboring scores that are resampled where there are more distinct scores."""

_BOTH_WAYS = {"alphamax": "alphamax-n"}
"""What has a name of its own when run both ways; :func:`compare_priors` uses it too."""


def fit_others(
    counts: ScoreCounts, given: GivenProportions, used: PriorEstimator, *, noisy: bool
) -> dict[str, PriorEstimator | KnownBeta]:
    """The other estimators, fitted; one that cannot say anything has no part in the comparison."""
    from purecover.estimators.base import prior_estimators
    from purecover.estimators.choice import KnownBeta
    from purecover.estimators.wrappers import NoisyLabels

    known = prior_estimators()
    inner = getattr(used, "estimator", None)
    found: dict[str, PriorEstimator | KnownBeta] = {}
    for other in COMPARED:
        if isinstance(used, known[other]) or isinstance(inner, known[other]):
            continue
        name = _BOTH_WAYS.get(other, other) if noisy else other
        estimator = known[name]()
        if noisy and not estimator.estimates_beta:
            estimator = NoisyLabels(estimator)
        try:
            estimator.fit(counts)
            found[name] = estimator if given.beta is None else KnownBeta(estimator, given.beta)
        except PurecoverError:
            continue
    return found


def other_intervals(
    others: Mapping[str, PriorEstimator | KnownBeta],
    counts: ScoreCounts,
    *,
    confidence_level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> dict[str, dict[str, Interval]]:
    """Percentile intervals of alpha, delta and, where it is estimated, beta.

    All estimators see the same replicates, at most `REPLICATES` of them, of independent rows.
    """
    from purecover.estimators.base import intervals_of_draws, proportion_draws

    thinned = counts.thinned(GROUPS)
    resampler = resampler_for(thinned, "multinomial")
    n_resamples = min(n_resamples, REPLICATES)
    words = f"bootstrap percentile, {n_resamples} replicates"
    if thinned.n_thresholds < counts.n_thresholds:
        words += f" of {thinned.n_thresholds:,} groups of scores"
    seed = int(rng.integers(2**63))
    found = {}
    for name, fitted in others.items():
        draws = proportion_draws(fitted, resampler, n_resamples, np.random.default_rng(seed))
        every = intervals_of_draws(fitted.proportions_, draws, confidence_level, words)
        found[name] = {
            key: interval
            for key, interval in every.items()
            if key != "beta" or fitted.estimates_beta
        }
    return found


# -- Alpha and beta for `evaluate`, where the caller does not know them --------------------------


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
    counts: ScoreCounts, given: GivenProportions, estimator: PriorEstimator
) -> Estimation:
    """Estimate alpha, and beta unless it is known."""
    from purecover.estimators.base import prior_estimators
    from purecover.estimators.choice import KnownBeta, full_name

    tell_clean(estimator, given.beta)
    try:
        estimator.fit(counts)
    except IdentifiabilityError as error:
        raise IdentifiabilityError(
            f"{{function}} cannot estimate alpha and beta. {error}"
        ) from error
    found, diagnostics = estimator.proportions_, estimator.diagnostics_
    name = registered_name(estimator, prior_estimators())
    used = given.estimated(replace(found, origin=full_name(estimator)))
    beta_estimated = given.beta is None and estimator.estimates_beta
    p_value = probability = None
    if given.beta is None:
        probability = diagnostics.get("clean_probability")
        p_value = diagnostics.get("clean_p_value")
        if probability is None and p_value is None:
            from purecover.estimators.assumptions import clean_test

            p_value = float(clean_test(counts).p_value)
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
    from purecover.estimators.base import PriorEstimator
    from purecover.estimators.wrappers import NoisyLabels

    inner = getattr(estimator, "estimator", None)
    if isinstance(estimator, NoisyLabels) and inner is not None:
        return registered_name(inner, known)
    cls = type(estimator)
    name = next((name for name, other in known.items() if other is cls), cls.__name__)
    return f"{name}({registered_name(inner, known)})" if isinstance(inner, PriorEstimator) else name


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
    from purecover.estimators.samples import flipped_counts, inclusion_bound

    observed = counts.auc_pu
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


# -- Replicates for a report, and what becomes of an estimate that they cannot repeat ------------


Replicates = TypeVar("Replicates")


def resampled(
    draw: Callable[[], Replicates], estimation: Estimation | None
) -> tuple[Replicates | None, Estimation | None]:
    """What ``draw`` gives, and the estimation.

    Where another sample might give no estimate, the one at hand stands, without replicates: the
    estimation then says so, and check PU017 with it.
    """
    try:
        with warnings.catch_warnings():
            # What a repair has to say of the data, it said before.
            warnings.simplefilter("ignore", RecoveryWarning)
            return draw(), estimation
    except IdentifiabilityError as error:
        if estimation is None:
            raise
        return None, estimation.unstable(str(error).partition("\n")[0])
