"""From rows to a report: read, count, estimate, recover, resample, check, assemble.

Every report is made by these steps. :func:`evaluate` takes them one after the other; a comparison
estimates once and resamples all scores together; a table of many tasks shares an estimate.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from purecover import _validation as valid
from purecover import exceptions
from purecover._inputs import column_names, encode_labels, is_frame, lazy_frame, read_columns
from purecover._parameters import parameter
from purecover._progress import Progress
from purecover._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from purecover._validation import FrozenDict, public
from purecover.checks import CHECKS, CheckContext, CheckResult, run_checks
from purecover.checks.catalog import largest_delta
from purecover.counts import ScoreCounts, pu_roc_curve
from purecover.estimators.choice import careful_auc_of, check_estimator, tell_clean
from purecover.estimators.estimate import LabelRates, PriorEstimate, WhenLooked
from purecover.intervals.interval import Interval, auc_interval
from purecover.intervals.replicates import (
    MANY_THRESHOLDS,
    PROPORTIONS,
    BootstrapResult,
    Resampling,
    measure_replicates,
)
from purecover.intervals.resampling import (
    MOST_TRIES,
    GroupResampler,
    Replayed,
    positions,
    read_groups,
)
from purecover.proportions import (
    GivenProportions,
    KnownKeywords,
    MixtureProportions,
    ProportionEstimator,
    ProportionKeywords,
    UncertainProportions,
)
from purecover.recovery import metrics as formulas
from purecover.recovery.curves import (
    RecoveredPr,
    RecoveredRoc,
    blended,
    pr_from_roc,
    roc_from_counts,
)
from purecover.recovery.metrics import MetricKeywords, MetricOptions, RecoveryOptions, View
from purecover.recovery.rates import least_delta
from purecover.report.results import PUReport, TrueFigures

if TYPE_CHECKING:
    from purecover.estimators.base import PriorEstimator
    from purecover.models.cross_fit import Combine, Method


USUAL = 2000
"""Replicates where the caller does not say how many; half as many for large data."""


# -- What is wanted of a report ------------------------------------------------------------------


class SettingKeywords(MetricKeywords, total=False):
    """How reports are made."""

    review: int | None
    confidence_level: float
    random_state: RandomState
    ignore_checks: Collection[str]
    progress: Progress | None


class ReportKeywords(SettingKeywords, total=False):
    """How the report of one score is made."""

    threshold: float | None
    n_resamples: int | None


@dataclass(frozen=True)
class Settings(RecoveryOptions, Resampling):
    """How a report is made; the same for all scores that are looked at."""

    threshold: float | None = parameter(
        None,
        "float",
        "Where threshold metrics are taken; by default where the Youden index is highest.",
        valid.check_real,
    )
    review: int | None = parameter(
        None,
        "int",
        """How many unlabeled examples you can review, instead of a threshold: the lowest
        threshold is taken that flags no more of them.""",
        partial(valid.check_integer, low=1),
    )
    ignore_checks: Collection[str] = parameter(
        (),
        "collection of str",
        "Codes of checks to silence.",
        partial(valid.check_names, choices=CHECKS),
    )

    @property
    def rng(self) -> np.random.Generator:
        """Where randomness comes from: from the start where there is a seed."""
        return valid.check_random_state(self.random_state)


# -- Read and count ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """Scores counted by their true classes, and the true shares of positives."""

    counts: ScoreCounts
    alpha: float
    beta: float


@dataclass(frozen=True, eq=False)
class Rows:
    """One score after the door. ``n_groups`` is None where rows are independent."""

    counts: ScoreCounts
    resampler: GroupResampler | None = None
    n_groups: int | None = None
    truth: KnownTruth | None = None


@dataclass(frozen=True, eq=False)
class Marks:
    """What belongs to the rows, whatever scored them.

    Known negatives are neither labeled nor unlabeled: ``group`` and ``truth`` leave them out.
    """

    positive: BoolArray
    negative: BoolArray | None
    weight: FloatArray | None
    group: IntArray | None
    truth: BoolArray | None

    @cached_property
    def labeled(self) -> BoolArray:
        """Who is labeled, among labeled and unlabeled rows."""
        return self.known(self.positive)

    @cached_property
    def mass(self) -> FloatArray | None:
        """Their weights."""
        return None if self.weight is None else self.known(self.weight)

    def known(self, values: Any) -> Any:
        """What labeled and unlabeled rows have."""
        return values if self.negative is None else values[~self.negative]

    def rows(self, values: FloatArray) -> Rows:
        """One score, counted."""
        rows = Rows(ScoreCounts._from_marks(values, self.positive, self.negative, self.weight))
        if self.group is not None:
            resampler = self.resampler(self.group, rows.counts, values)
            rows = replace(rows, resampler=resampler, n_groups=int(self.group.max()) + 1)
        if self.truth is not None:
            rows = replace(rows, truth=self._counted_by(self.truth, values))
        return rows

    def resampler(self, group: IntArray, counts: ScoreCounts, values: FloatArray) -> GroupResampler:
        """What draws groups of rows."""
        mass = np.ones(self.labeled.size) if self.mass is None else self.mass
        place = positions(counts, self.known(values))
        return GroupResampler(counts, place, self.labeled, group, mass)

    def _counted_by(self, truth: BoolArray, values: FloatArray) -> KnownTruth:
        alpha, beta = (
            float(np.average(truth[side], weights=None if self.mass is None else self.mass[side]))
            for side in (~self.labeled, self.labeled)
        )
        counts = ScoreCounts._from_marks(self.known(values), truth, None, self.mass)
        return KnownTruth(counts, alpha, beta)


def read_marks(
    labeled: Any,
    size: int,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    truth: Any = None,
    **labels: Any,
) -> Marks:
    """Columns beside scores, of as many rows; ``labels`` say how labels are written."""
    positive, negative = encode_labels(labeled, size, **labels)
    weight = None if sample_weight is None else valid.as_weights(sample_weight, size)
    return mark_rows(positive, negative, weight=weight, groups=groups, truth=truth)


def mark_rows(
    positive: BoolArray,
    negative: BoolArray | None,
    *,
    weight: FloatArray | None,
    groups: Any,
    truth: Any,
) -> Marks:
    """The same where labels and weights were read before."""
    size, kept = positive.size, None if negative is None else ~negative
    return Marks(
        positive=positive,
        negative=negative,
        weight=weight,
        group=None if groups is None else read_groups(groups, size, kept),
        truth=None if truth is None else read_truth(truth, size, kept),
    )


def read_truth(truth: Any, size: int, kept: BoolArray | None) -> BoolArray:
    """The true classes as a mask, one for each row that is kept."""
    values = valid.to_numpy("truth", truth)
    valid.check_same_length("truth", values.size, size)
    if kept is not None:
        values = values[kept]
    return encode_labels(values, values.size, parameter="truth")[0]


def read_rows(data: Any, parts: Mapping[str, Any], keep: float | None, **labels: object) -> Rows:
    """Scores, a frame of any engine, or counts; ``keep`` is a threshold that no bin lies across.

    ``parts`` are columns beside the scores or, with a frame, names of columns.
    """
    if isinstance(data, ScoreCounts):
        return Rows(ScoreCounts._of(data, **parts))
    parts = dict(parts)
    if is_frame(data):
        names = _column_names(data, parts)
        if lazy_frame(data) is not None:
            refuse_of_lazy(names, "groups", "truth")
            return Rows(count_lazy(data, names, labels, keep))
        columns = read_columns(data, names)
        parts = {name: columns.get(name) for name in parts}
        data = parts["score"]
    elif parts["score"] is not None:
        raise valid.bad_type("scores", "a data frame where 'score' names a column", data)
    del parts["score"]
    if parts["labeled"] is None:
        raise exceptions.InvalidInputError(
            "{function} needs 'labeled': for each score, whether the example carries the label."
        )
    valid.check_alignment(data, parts["labeled"])
    values = valid.as_real_vector("scores", data)
    return read_marks(size=values.size, **parts, **labels).rows(values)


def count_lazy(
    frame: Any, names: dict[str, str], labels: dict[str, object], keep: float | None
) -> ScoreCounts:
    """Counts of a frame whose rows stay where they are; no bin lies across ``keep``."""
    settings = {"tolerance": 1e-4, "keep": keep}
    return ScoreCounts._count_frame(frame, names, labels, settings)[None]


def refuse_of_lazy(given: Mapping[str, Any], *parameters: str) -> None:
    """Complain of what needs rows."""
    for each in parameters:
        if given.get(each) is not None:
            raise exceptions.InvalidInputError(
                f"{{function}} takes no {each!r} with a lazy frame, of which it sees counts "
                "and no rows.\nHint: collect the columns first if they fit into memory, or leave "
                f"{each} out"
            )


def _column_names(frame: Any, parts: Mapping[str, Any]) -> dict[str, str]:
    """Columns of a frame by parameter."""
    names = {}
    for key, column in parts.items():
        if column is None:
            continue
        if not isinstance(column, str):
            raise valid.bad_type(key, "the name of a column where a data frame is given", column)
        names[key] = column
    for key in ("score", "labeled"):
        if key not in names:
            raise exceptions.InvalidInputError(
                f"{{function}} needs {key!r}, the name of a column, where a data frame is "
                f"given.\nHint: the columns are {', '.join(map(repr, column_names(frame)))}"
            )
    if names["score"] == names["labeled"]:
        raise exceptions.InvalidInputError(
            f"{{function}} got {names['score']!r} as 'score' and as 'labeled'; labels would rank "
            "themselves perfectly.\nHint: name the column of scores"
        )
    return names


# -- Other estimators of alpha and beta beside the one in use: what they say ---------------------


COMPARED = ("alphamax", "bbe", "dedpul", "roc-slope")
"""Quick estimators of unlike methods, whose agreement says how far an estimate can be trusted."""

_BOTH_WAYS = {"alphamax": "alphamax-n"}
"""What has a name of its own when run both ways; :func:`compare_priors` uses it too."""


def fit_others(
    counts: ScoreCounts, given: GivenProportions, used: PriorEstimator, *, noisy: bool
) -> dict[str, tuple[float, float]]:
    """Alpha and beta of the others; one that cannot say anything has no part in the comparison."""
    from purecover.estimators.base import prior_estimators
    from purecover.estimators.choice import KnownBeta
    from purecover.estimators.noisy import NoisyLabels

    known = prior_estimators()
    inner = getattr(used, "estimator", None)
    found = {}
    for other in COMPARED:
        if isinstance(used, known[other]) or isinstance(inner, known[other]):
            continue
        name = _BOTH_WAYS.get(other, other) if noisy else other
        estimator = known[name]()
        if noisy and not estimator.estimates_beta:
            estimator = NoisyLabels(estimator)
        try:
            estimator.fit(counts)
            fitted = estimator if given.beta is None else KnownBeta(estimator, given.beta)
            found[name] = fitted.proportions_.alpha, fitted.proportions_.beta
        except exceptions.PurecoverError:
            continue
    return found


# -- Alpha and beta for `evaluate`, where the caller does not know them --------------------------


@dataclass(frozen=True)
class Estimation:
    """An estimate, and what can repeat it on replicates."""

    estimate: PriorEstimate
    estimator: ProportionEstimator

    def with_replicates(
        self, replicates: BootstrapResult | None, *, level: float, independent: bool
    ) -> PriorEstimate:
        """The estimate with intervals: its own, if it has a posterior, or from replicates."""
        estimate = self.estimate
        if replicates is not None:
            estimate = replace(estimate, n_rejected=replicates.n_rejected)
        own = getattr(self.estimator, "interval_method", "bootstrap") != "bootstrap"
        if own and independent:
            ends = self.estimator.interval(confidence_level=level)  # type: ignore[attr-defined]
            clean = getattr(self.estimator, "_alpha_if_clean", lambda _: None)(level)
            return replace(estimate, intervals=ends, alpha_clean=clean)
        if replicates is None:
            return estimate
        names = [name for name in PROPORTIONS if not (estimate.beta_given and name == "beta")]
        return replace(estimate, intervals={name: replicates.interval(name) for name in names})


def estimate_proportions(
    counts: ScoreCounts, given: GivenProportions, estimator: PriorEstimator
) -> Estimation:
    """Estimate alpha, and beta unless it is known."""
    from purecover.estimators.base import MAX_THRESHOLDS, prior_estimators
    from purecover.estimators.choice import KnownBeta, full_name

    tell_clean(estimator, given.beta)
    try:
        estimator.fit(counts)
    except exceptions.IdentifiabilityError as error:
        raise exceptions.IdentifiabilityError(
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

    def compared() -> dict[str, tuple[float, float]]:
        thin = counts.thinned(MAX_THRESHOLDS)
        others = fit_others(thin, given, estimator, noisy=beta_estimated)
        return {name: (used.alpha, used.beta), **others}

    pure = diagnostics.get("delta_pure")
    estimate = PriorEstimate(
        estimator=name,
        proportions=used,
        spread=WhenLooked(compared),
        identification=_identification(counts, used, given),
        notes=tuple(diagnostics["notes"]),
        identifiable=bool(diagnostics["identifiable"]),
        at_edge=bool(diagnostics.get("at_edge", False)),
        beta_estimated=beta_estimated,
        beta_given=given.beta is not None,
        clean_p_value=p_value,
        clean_probability=probability,
        n_alike=diagnostics.get("n_alike"),
        delta_pure=None if pure is None else (given.beta or 1) * pure,
        delta_pure_noisy=diagnostics.get("delta_pure_noisy") if given.beta is None else None,
        delta_clean=diagnostics.get("delta_clean"),
        delta_noisy=diagnostics.get("delta_noisy"),
    )
    again = estimator if given.beta is None else KnownBeta(estimator, given.beta)
    return Estimation(estimate, again)


def registered_name(estimator: PriorEstimator, known: Mapping[str, type[PriorEstimator]]) -> str:
    """The name of an estimator in the registry, or its class if it is not registered.

    One that is run both ways keeps its name, as in :func:`compare_priors`; other wrappers put
    theirs around it, as in ``regrouping(bbe)``.
    """
    from purecover.estimators.base import PriorEstimator
    from purecover.estimators.noisy import NoisyLabels

    inner = getattr(estimator, "estimator", None)
    if isinstance(estimator, NoisyLabels) and inner is not None:
        return registered_name(inner, known)
    cls = type(estimator)
    name = next((name for name, other in known.items() if other is cls), cls.__name__)
    return f"{name}({registered_name(inner, known)})" if isinstance(inner, PriorEstimator) else name


def as_seen_by(found: PriorEstimate, counts: ScoreCounts, reference: str) -> PriorEstimate:
    """An estimate from one score, in the report of another: its AUC has ends of its own."""
    ends = dict(found.identification)
    ends["auc"] = _auc_between(counts, ends["delta"])
    note = f"alpha and beta are estimated from {reference}"
    return replace(found, identification=ends, notes=(*found.notes, note))


def _identification(
    counts: ScoreCounts, used: MixtureProportions, given: GivenProportions
) -> dict[str, tuple[float, float]]:
    """What the data allow without the assumption that some scores are pure.

    Any alpha <= a beta and 1 - beta <= b (1 - alpha) then fits. The inclusions a and b are taken
    at upper bounds that hold together with 95 % confidence, and the observed AUC at the ends of its
    95 % interval.
    """
    from purecover.estimators.inclusion import inclusion_bound

    level = 0.95 if given.beta is not None else 0.975
    a = min(max(inclusion_bound(counts, confidence_level=level), used.unlabeled_inclusion), 1.0)
    if given.beta is not None:
        ends = {"alpha": (0.0, a * used.beta), "delta": ((1 - a) * used.beta, used.beta)}
    else:
        b = inclusion_bound(counts.flipped(), confidence_level=level)
        b = min(max(b, used.labeled_inclusion), 1.0)
        least = (1 - a) * (1 - b) / (1 - a * b) if a * b < 1 else 0.0
        ends = {"alpha": (0.0, a), "beta": (1 - b, 1.0), "delta": (least, 1.0)}
    return ends | {"auc": _auc_between(counts, ends["delta"])}


def _auc_between(counts: ScoreCounts, deltas: tuple[float, float]) -> tuple[float, float]:
    """The least and the greatest AUC while beta - alpha runs from end to end.

    So does the observed AUC, within its interval: even if nothing is to be corrected, chance has
    had its part in it.
    """
    seen = auc_interval(counts, MixtureProportions(0.0, 1.0))
    far = [
        min(max(0.5 + (observed - 0.5) / max(delta, 1e-12), 0.0), 1.0)
        for observed in (seen.low, seen.high)
        for delta in deltas
    ]
    return min(far), max(far)


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
            warnings.simplefilter("ignore", exceptions.RecoveryWarning)
            return draw(), estimation
    except exceptions.IdentifiabilityError as error:
        if estimation is None:
            raise
        notes = (*estimation.estimate.notes, str(error).partition("\n")[0])
        unsure = replace(estimation.estimate, identifiable=False, notes=notes)
        return None, replace(estimation, estimate=unsure)


# -- Recover, check and assemble -----------------------------------------------------------------


_ENOUGH = 400
"""Replicates that tell whether groups contradict alpha and beta, where no others are wanted."""


@dataclass(frozen=True, eq=False)
class Recovery:
    """What follows from rows, alpha and beta: the curve, and all else when it is looked at."""

    rows: Rows
    proportions: MixtureProportions
    settings: Settings
    roc: RecoveredRoc
    estimation: PriorEstimate | None = None
    bootstrap: BootstrapResult | None = None
    given: GivenProportions | None = None
    careful_auc: float | None = None
    only: tuple[str, ...] | None = None
    """The metrics that are looked at, if not all, and then no band."""
    label_rates: LabelRates | None = None
    chosen_by: str | None = None
    """The metric that the threshold of the settings was chosen by on these rows, if it was."""

    @property
    def audit(self) -> UncertainProportions | None:
        """What is not known of alpha and beta, where the caller said it."""
        said = None if self.given is None else self.given.proportions
        return said if isinstance(said, UncertainProportions) else None

    @property
    def varies_proportions(self) -> bool:
        """Whether replicates have an alpha and beta of their own."""
        return self.bootstrap is not None and self.bootstrap.varied != "scores"

    @cached_property
    def threshold(self) -> float:
        """Where threshold metrics are taken."""
        given = self.settings.threshold
        return formulas.youden_threshold(self.roc) if given is None else given

    @cached_property
    def options(self) -> MetricOptions:
        """Parameters that some metrics take."""
        return MetricOptions.among(vars(self.settings))

    @property
    def measured_with(self) -> dict[str, Any]:
        """What `bootstrap` is told, so that it measures replicates in the same way."""
        settings = self.settings
        return {
            # One that was chosen here is chosen again in each replicate.
            "threshold": settings.threshold,
            "target": settings.target,
            # What the guard of a repair has decided holds for replicates, too.
            "repair": None if settings.repair is None else self.roc.repair,
            "confidence_level": settings.confidence_level,
            **vars(self.options),
        }

    def resample(
        self,
        estimator: ProportionEstimator | None,
        n_resamples: int,
        random_state: np.random.Generator | int,
    ) -> BootstrapResult:
        """Replicates of independent rows, or of groups of them."""
        return measure_replicates(
            self.rows.counts,
            (self.roc, self.roc_pr),
            estimator=estimator,
            n_resamples=n_resamples,
            resampler=self.rows.resampler,
            metrics=self.only,
            chosen_by=self.chosen_by,
            curves=self.only is None,
            random_state=random_state,
            progress=self.settings.progress,
            **self.measured_with,
        )

    @cached_property
    def roc_pr(self) -> RecoveredRoc:
        """The curve that areas under the precision-recall curve are taken from."""
        return self.roc if self.settings.repair is not None else blended(self.roc, self.rows.counts)

    @cached_property
    def contradicted(self) -> bool:
        """Whether alpha and beta cannot be what they are said to be, chance granted."""
        if self.roc.auc_direct <= 1:
            return False
        largest = largest_delta(self.estimation, self.proportions, self.audit)
        if least_delta(self.rows.counts) <= largest:
            return False
        if self.rows.n_groups is None:
            return True
        drawn = self.bootstrap
        if drawn is None:  # how much further chance goes with groups, only replicates know
            drawn = replace(self, only=("roc_auc",)).resample(None, _ENOUGH, 0)
        # As far as two standard errors.
        return bool(np.quantile(drawn.replicates["roc_auc"], 0.02275) > 1)

    @property
    def auc(self) -> float:
        """The headline: the direct AUC, or a careful one where alpha is a guess."""
        if self.contradicted:
            return math.nan
        direct = min(max(self.roc.auc_direct, 0.0), 1.0)
        return direct if self.careful_auc is None else self.careful_auc

    @property
    def optimism(self) -> tuple[float, float]:
        """What the observed rates at the threshold owe to its choice, as far as it is known."""
        found = None if self.bootstrap is None else self.bootstrap.optimism
        return found or (0.0, 0.0)

    @cached_property
    def metrics(self) -> formulas.RecoveredMetrics:
        """All metrics."""
        counts = self.rows.counts
        found = formulas.metrics_from_roc(
            self.roc,
            self.roc_pr,
            counts,
            threshold=self.threshold,
            prior=self.proportions.prior(self.settings.target, counts),
            metrics=formulas.resolve_metrics(self.only, counts, self.options),
            options=self.options,
            optimism=self.optimism,
            known=None if self.bootstrap is None else self.bootstrap.estimates,
        )
        if self.contradicted:
            return replace(found, values_=dict.fromkeys(found, math.nan))
        return replace(found, values_={**found.values_, "roc_auc": self.auc})

    @cached_property
    def pr(self) -> RecoveredPr:
        """The precision-recall curve."""
        metrics = self.metrics
        areas = None
        if "auc_pr" in metrics:
            areas = metrics["auc_pr"], metrics.observed["auc_pr"]
        found = pr_from_roc(
            self.roc_pr, self.rows.counts, metrics.prior, self.options.area, areas=areas
        )
        return found._withheld() if self.contradicted else found

    @cached_property
    def confusion(self) -> formulas.RecoveredConfusion:
        """Expected numbers among the unlabeled at the threshold."""
        found = formulas.confusion_from_roc(
            self.roc, self.rows.counts, self.threshold, optimism=self.optimism
        )
        if self.contradicted:
            return replace(found, tp=math.nan, fp=math.nan, fn=math.nan, tn=math.nan)
        if self.bootstrap is None:
            return found
        numbers = {
            name: (min(low, getattr(found, name)), max(high, getattr(found, name)))
            for name, (low, high) in self.bootstrap.number_intervals().items()
        }
        return replace(found, intervals=numbers)

    @cached_property
    def intervals(self) -> FrozenDict[str, Interval]:
        """Intervals of metrics, as far as there are any."""
        intervals: dict[str, Interval] = {}
        if self.contradicted:
            return FrozenDict(intervals)
        if self.bootstrap is not None:
            every = self.bootstrap.intervals()
            intervals = {name: every[name]._around(self.metrics[name]) for name in self.metrics}
        exact = self.estimation is None and not self.varies_proportions
        closed = exact or (self.bootstrap is None and self.careful_auc is None)
        if self.rows.n_groups is None and closed:
            # Rows are independent, so the closed form applies and covers better than percentiles.
            level = self.settings.confidence_level
            intervals["roc_auc"] = auc_interval(
                self.rows.counts, self.proportions, confidence_level=level
            )
        return FrozenDict(intervals)

    @cached_property
    def checks(self) -> tuple[CheckResult, ...]:
        """All numbered checks."""
        context = CheckContext(
            counts=self.rows.counts,
            proportions=self.proportions,
            roc=self.roc,
            threshold=None if self.contradicted else self.threshold,
            threshold_chosen=self.settings.threshold is not None and self.chosen_by is None,
            optimism=None if self.bootstrap is None else self.bootstrap.optimism,
            prior=self.metrics.prior,
            n_groups=self.rows.n_groups,
            interval_varies_proportions=self.varies_proportions,
            estimation=self.estimation,
            beta_given=self.given is None or self.given.says_beta,
            stated=None if self.given is None else self.given.stated,
            auc=self.intervals.get("roc_auc"),
            audit=self.audit,
            label_rates=self.label_rates,
        )
        return run_checks(context, ignore=self.settings.ignore_checks)

    @cached_property
    def truth(self) -> TrueFigures | None:
        """The metrics measured on the true classes, if these are known."""
        truth, counts = self.rows.truth, self.rows.counts
        if truth is None:
            return None
        roc = pu_roc_curve(truth.counts)
        at = formulas.position(truth.counts, self.threshold)
        prior = truth.alpha
        target, scenario = self.settings.target, self.proportions.scenario
        if not isinstance(target, str):
            prior = float(target)
        elif target == "pooled" or (target == "population" and scenario == "censoring"):
            share = counts.labeled_share
            prior = share * truth.beta + (1 - share) * truth.alpha
        curve = (roc.fpr_pu, roc.tpr_pu, truth.counts.auc_pu)
        view = View(
            curve=curve,
            curve_pr=curve,
            rates=(roc.fpr_pu, roc.tpr_pu),
            flagged_unlabeled=truth.alpha * roc.tpr_pu + (1 - truth.alpha) * roc.fpr_pu,
            point=(float(roc.fpr_pu[at]), float(roc.tpr_pu[at])),
            n_unlabeled=counts.n_unlabeled,
            prior_at_k=truth.alpha,
            counts=truth.counts,
        )
        wanted = formulas.resolve_metrics(None, counts, self.options)
        values = formulas.compute_metrics(wanted, view, prior, self.options)
        return TrueFigures(alpha=truth.alpha, beta=truth.beta, prior=prior, metrics=values, roc=roc)

    def report(
        self,
        estimation: Estimation | PriorEstimate | None,
        replicates: BootstrapResult | None,
        reference: str | None = None,
    ) -> PUReport:
        """The report, with the estimate and the replicates behind it.

        An estimation gets its intervals here. ``reference`` names the scores that it is from, if
        those are others.
        """
        estimate = estimation
        if isinstance(estimate, Estimation):
            level, independent = self.settings.confidence_level, self.rows.n_groups is None
            estimate = estimate.with_replicates(replicates, level=level, independent=independent)
        if estimate is not None and reference is not None:
            estimate = as_seen_by(estimate, self.rows.counts, reference)
        rows = replace(self.rows, resampler=None)  # which is done, and as large as the data
        found = replace(self, rows=rows, estimation=estimate, bootstrap=replicates)
        if replicates is not None:
            vars(found)["roc_pr"] = self.roc_pr  # which they looked at
        # With groups the resampler is asked, which does not come along.
        contradicted = replace(found, rows=self.rows).contradicted
        vars(found)["contradicted"] = contradicted
        return PUReport._of(
            found,
            counts=self.rows.counts,
            proportions=self.proportions,
            auc_pu=self.rows.counts.auc_pu,
            roc=self.roc._withheld() if contradicted else self.roc,
            bootstrap=replicates,
            estimation=estimate,
            contradicted=contradicted,
            threshold_chosen=self.settings.threshold is not None and self.chosen_by is None,
            random_state=valid.kept_seed(self.settings.random_state),
        )


def review_threshold(counts: ScoreCounts, review: int) -> float:
    """The lowest threshold that flags no more than ``review`` of the unlabeled."""
    flagged = np.cumsum(counts.unlabeled)
    # Where the best score alone is shared by more, nothing can be flagged but all of them.
    last = max(int(np.searchsorted(flagged, review, side="right")) - 1, 0)
    return float(counts.thresholds[last])


def find_proportions(
    counts: ScoreCounts, given: GivenProportions, estimator: PriorEstimator | None
) -> tuple[MixtureProportions, Estimation | None]:
    """Alpha and beta: those that were given, or an estimate."""
    if estimator is None:
        return given.resolve(counts), None
    estimation = estimate_proportions(counts, given, estimator)
    return estimation.estimate.proportions, estimation


def recover(
    rows: Rows,
    proportions: MixtureProportions,
    settings: Settings,
    given: GivenProportions | None = None,
    estimation: Estimation | None = None,
    only: Iterable[str] | None = None,
) -> Recovery:
    """The curve, once it is known that all metrics can be had.

    Where ``only`` some of them are looked at, others are not measured: but for the AUC, and for one
    at the threshold, which shows what its choice adds.
    """
    if only is not None:
        only = tuple(dict.fromkeys((*only, "roc_auc", "recall")))
    formulas.resolve_metrics(None, rows.counts, settings, proportions)
    if settings.review is not None:
        if settings.threshold is not None:
            must = "left out where 'threshold' is given"
            raise valid.bad_value("review", must, valid.show(settings.review))
        settings = replace(settings, threshold=review_threshold(rows.counts, settings.review))
    roc = roc_from_counts(rows.counts, proportions, settings.repair or "isotonic")
    careful = None if estimation is None else careful_auc_of(estimation.estimator, rows.counts)
    return Recovery(rows, proportions, settings, roc, given=given, careful_auc=careful, only=only)


def make_report(
    rows: Rows,
    given: GivenProportions,
    proportions: tuple[MixtureProportions, Estimation | None],
    settings: Settings,
    reference: str | None = None,
    only: Iterable[str] | None = None,
    label_rates: LabelRates | None = None,
    chosen_by: str | None = None,
) -> PUReport:
    """All steps after :func:`find_proportions`, for one score.

    ``reference`` names the scores that alpha and beta are estimated from, if those are others;
    ``only`` the metrics to be measured, if not all; ``label_rates`` what features show of the
    labels; ``chosen_by`` the metric that the threshold was chosen by on these rows, if it was.
    """
    used, estimation = proportions
    found = recover(rows, used, settings, given, estimation, only)
    found = replace(found, label_rates=label_rates, chosen_by=chosen_by)
    n_resamples = settings.n_resamples
    if n_resamples is None:
        n_resamples = USUAL // 2 if rows.counts.n_thresholds > MANY_THRESHOLDS else USUAL
    replicates = None
    if n_resamples:
        rng = settings.rng
        again: Any = None if estimation is None else estimation.estimator
        if isinstance(given.proportions, UncertainProportions):
            again = Replayed(given.proportions.draws(MOST_TRIES * n_resamples, rng))
        elif estimation is None:
            again = given.following(rows.counts, rng, grouped=rows.n_groups is not None)
        draw = partial(found.resample, again, n_resamples, rng)
        replicates, estimation = resampled(draw, estimation)
    return found.report(estimation, replicates, reference)


# -- Scores or features in, report out -----------------------------------------------------------


class EvaluateKeywords(ProportionKeywords, ReportKeywords, total=False):
    """What is known of alpha and beta, and how the report is made."""


@public
def evaluate(
    scores: Any,
    labeled: ArrayLike | str | None = None,
    *,
    score: str | None = None,
    sample_weight: ArrayLike | str | None = None,
    groups: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
    **options: Unpack[EvaluateKeywords],
) -> PUReport:
    """Recover how good a classifier really is, with intervals and checks.

    The share of positives among the unlabeled, alpha, is estimated if nothing is said about it.

    Parameters
    ----------
    scores : array-like of shape (n,), data frame or ScoreCounts
        Scores of held-out examples, larger means more positive. With a data frame of any engine
        (or a dict of columns), ``score``, ``labeled`` and the like name its columns. Lazy frames
        (DuckDB, PySpark, Dask, Ibis, polars) are counted by their engine; see
        :meth:`ScoreCounts.from_frame`.
    labeled : array-like of shape (n,) or str
        True where the example carries the positive label; see
        :meth:`ScoreCounts.from_scores`.
    score : str, optional
        The column of scores, if a data frame is given.
    sample_weight : array-like of shape (n,) or str, optional
        Non-negative weights.
    groups : array-like of shape (n,) or str, optional
        Which rows depend on each other; whole groups are resampled then.
    truth : array-like of shape (n,) or str, optional
        True classes, to be shown beside the recovered figures. They are used for nothing
        else.
    positive_label, negative_label : object, optional
        The value of ``labeled`` that means labeled, where it is not obvious, and the value that
        marks known negatives, if there are any.
    **options

    Returns
    -------
    PUReport
        Prints as a dozen lines; holds counts, curves, metrics, intervals and checks.

    See Also
    --------
    recover_metrics : The metrics alone.
    make_pu_scorer : For cross-validation.

    Notes
    -----
    By default there are 2000 replicates, or 1000 of more than 32,768 distinct scores, where each
    takes longer and intervals are narrow anyway.

    With a known alpha and independent rows the interval of the AUC is DeLong's, through the
    linear map. With an estimated one it is the percentile interval of the replicates: where the
    observed AUC is high by chance, so tends to be the estimate of beta - alpha, and a formula for
    independent errors does not know it. Neither interval knows of a bias of the estimator.

    Examples
    --------
    >>> from purecover import evaluate, simulate
    >>> sample = simulate.binormal(1.5).sample(500, 5000, alpha=0.25, random_state=0)
    >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    >>> round(report.auc_pu, 2), round(report.auc, 2), round(sample.world.auc, 2)
    (0.76, 0.85, 0.86)

    Without alpha, its estimate comes with the report:

    >>> report = evaluate(sample.scores, sample.labeled, n_resamples=0)
    >>> abs(report.estimation.proportions.alpha - 0.25) < 0.1
    True
    """
    settings = Settings.among(options).validated()
    given = GivenProportions.among(options).validated(can_estimate=True, can_vary=True)
    asked = None if given.ways else check_estimator(given.estimator)
    rows = read_rows(
        scores,
        {
            "score": score,
            "labeled": labeled,
            "sample_weight": sample_weight,
            "groups": groups,
            "truth": truth,
        },
        settings.threshold,
        positive_label=positive_label,
        negative_label=negative_label,
    )
    return make_report(rows, given, find_proportions(rows.counts, given, asked), settings)


# -- `evaluate_model`: features in, report out ---------------------------------------------------


FOLDS = 5
"""Folds where nobody says how many."""


class ModelKeywords(KnownKeywords, ReportKeywords, total=False):
    """The same, where ``estimator`` is a model."""

    assume: Collection[str]


@public
def evaluate_model(
    estimator: Any,
    X: Any,
    labeled: ArrayLike | str,
    *,
    cv: Any = None,
    groups: ArrayLike | str | None = None,
    method: Method = "auto",
    combine: Combine = "auto",
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    prior_estimator: PriorEstimator | str | None = None,
    sample_weight: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
    **options: Unpack[ModelKeywords],
) -> PUReport:
    """Find out how good a kind of model really is, from features and labels.

    The model is trained on labeled against unlabeled rows, each row is scored by a model that has
    not seen it, and the scores are evaluated.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier or pipeline; it stays as it is, copies are fitted.
    X : array-like of shape (n, n_features), data frame or sparse matrix
        The features.
    labeled : array-like of shape (n,) or str
        True where the example carries the positive label. With a data frame, ``labeled``,
        ``groups``, ``truth`` and ``sample_weight`` may name columns, which are then no features.
    cv, method, combine, fit_params, n_jobs
        How rows are scored, as in :func:`cross_fit_scores`. By default there are five folds,
        and none for a model that keeps out-of-bag scores; with any of ``cv``, ``method``,
        ``combine`` or ``fit_params`` given, that model is cross-fitted too.
    groups : array-like of shape (n,) or str, optional
        Which rows depend on each other. They are kept together in folds, and resampled together.
    prior_estimator : PriorEstimator or str, optional
        What estimates alpha and beta from the scores of the model; the ``estimator`` of
        :func:`evaluate`. By default ours does, from the mean rank of each row by a logistic
        regression, boosted trees and a forest: alpha belongs to the data, not to the model. Of
        columns with words, the three see the most frequent words. A model that tells labeled from
        unlabeled clearly better (its observed AUC is higher by more than .02) estimates alpha by
        itself, and the report says so.
    sample_weight : array-like of shape (n,) or str, optional
        Weights of the rows in the figures. To train with weights, put them in ``fit_params``.
    truth : array-like of shape (n,) or str, optional
        True classes, to be shown beside the recovered figures. No model sees them.
    positive_label, negative_label : object, optional
        The value of ``labeled`` that means labeled, where it is not obvious, and the value that
        marks known negatives, if there are any.
    **options

    Returns
    -------
    PUReport
        Its ``scores_from`` says how the scores were made.

    See Also
    --------
    cross_fit_scores : The scores alone.
    evaluate : For scores that exist already.

    Notes
    -----
    A model that has an attribute ``oob_score_samples_`` once it is fitted (scores of its training
    rows by those of its members that did not see them) is fitted once and judged by these, unless
    there are groups that its ``fit`` does not take, known negatives, or anything said of how to
    score. It may be one of this package, have a property of that name, or be a bag or forest of
    scikit-learn with ``oob_score=True``. All others are cross-fitted: pipelines, and
    :class:`PUCalibratedClassifier`, whose out-of-bag scores are those before calibration.

    Folds and bootstrap take their randomness from ``random_state``; the model has its own seed.
    The report describes models trained on the larger part of the rows (four fifths of them with
    five folds); one trained on all of them is, if anything, a little better. Intervals do not
    vary the training of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import evaluate_model
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.4
    >>> X = rng.normal(size=(2000, 3)) + truth[:, None]
    >>> labeled = truth & (rng.random(2000) < 0.5)
    >>> known = {"alpha": 0.25, "truth": truth, "n_resamples": 0}
    >>> report = evaluate_model(LogisticRegression(), X, labeled, **known)
    >>> report.scores_from
    'LogisticRegression, out of fold (5 folds; predict_proba; observed AUC by fold ...)'
    >>> report.auc_pu < report.auc, abs(report.auc - report.truth.metrics["roc_auc"]) < 0.02
    (True, True)
    """
    return report_on_model(
        estimator,
        X,
        labeled,
        {
            "groups": groups,
            "truth": truth,
            "sample_weight": sample_weight,
            "positive_label": positive_label,
            "negative_label": negative_label,
        },
        {
            "cv": FOLDS if cv is None else cv,
            "method": method,
            "combine": combine,
            "fit_params": fit_params,
            "n_jobs": n_jobs,
        },
        prior_estimator,
        options,
        own=cv is None and method == combine == "auto",
    )[0]


_CLEARLY_BETTER = 0.02
"""By as much in observed AUC the model must exceed three others, to tell alpha by itself."""

_BY_ONE = (
    "alpha and beta are estimated from the scores of the model alone: three other classifiers, by "
    "whose mean rank they usually are, tell labeled from unlabeled worse, or cannot be fitted"
)


def report_on_model(
    estimator: Any,
    X: Any,
    labeled: Any,
    beside: Mapping[str, Any],
    folding: Mapping[str, Any],
    prior_estimator: PriorEstimator | str | None,
    options: Any,
    *,
    own: bool = True,
    view: Any = None,
    training: Progress | None = None,
    estimating: Progress | None = None,
) -> tuple[PUReport, FloatArray]:
    """What :func:`evaluate_model` says, and the scores of the rows in their order.

    Where ``X`` holds codes that only the model understands, ``view`` has the same rows as numbers.
    """
    # All that can be wrong is said before the long work of fitting.
    # Here, because models bring scikit-learn, which scores alone do without.
    from purecover.models.best_scorer import consensus_scores, label_rates
    from purecover.models.cross_fit import check_settings, unseen_scores
    from purecover.models.tables import check_as_long, check_seed, read_examples

    folding = dict(folding)
    if options.get("probabilities") is True:
        usual = {"method": "predict_proba", "combine": "raw"}
        folding |= {name: how for name, how in usual.items() if folding.get(name, "auto") == "auto"}
    check_settings(estimator, **folding)
    if hasattr(folding["cv"], "__next__"):
        folding["cv"] = list(folding["cv"])  # four models are fitted to the same folds
    given = GivenProportions.among(options).validated(can_estimate=True, can_vary=True)
    if prior_estimator is not None and given.ways:
        must = f"left out where {given.ways[0]!r} is given"
        raise valid.bad_value("prior_estimator", must, valid.show(prior_estimator))
    wanted = given.estimator if prior_estimator is None else prior_estimator
    asked = None if given.ways else check_estimator(wanted, "prior_estimator")
    settings = Settings.among(options).validated()
    # A seed itself, so that folds and bootstrap draw as they would alone.
    settings = replace(settings, random_state=check_seed(settings.random_state))
    examples = read_examples(X, labeled, **beside)
    if examples.truth is not None:
        check_as_long("truth", valid.to_numpy("truth", examples.truth).size, examples.n_rows)
    marks = mark_rows(
        examples.positive,
        examples.negative,
        weight=examples.weight,
        groups=examples.groups,
        truth=examples.truth,
    )
    formulas.resolve_metrics(None, marks.rows(np.zeros(examples.n_rows)).counts, settings)
    made = unseen_scores(
        estimator,
        examples,
        own=own,
        random_state=settings.random_state,
        progress=training,
        **folding,
    )
    scores = valid.as_real_vector("scores", made.scores)
    if view is not None:
        examples = replace(examples, X=view)
    rows = marks.rows(scores)
    seen, reference = rows.counts, None
    by_three = asked is not None and prior_estimator is None
    if by_three:
        consensus = consensus_scores(
            examples,
            cv=folding["cv"],
            seed=int(settings.rng.integers(2**31)),
            n_jobs=folding.get("n_jobs"),
            model=made.model,
            progress=estimating,
        )
        if consensus is not None:
            counts = marks.rows(consensus).counts
            # A model that sees more, such as what a text says, has the purer top.
            if counts.auc_pu > rows.counts.auc_pu - _CLEARLY_BETTER:
                seen, reference = counts, "the mean rank of rows by three classifiers"
    rates = label_rates(examples, seed=int(settings.rng.integers(2**31)))
    used, estimation = find_proportions(seen, given, asked)
    if by_three and reference is None and estimation is not None:
        notes = (*estimation.estimate.notes, _BY_ONE)
        estimation = replace(estimation, estimate=replace(estimation.estimate, notes=notes))
    report = make_report(rows, given, (used, estimation), settings, reference, label_rates=rates)
    return replace(report, scores_from=made.description), scores
