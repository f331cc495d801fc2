"""`evaluate` and `evaluate_model`, and the steps from rows to a report that others share.

Read and count the rows, find alpha and beta, recover the curve, resample, and assemble the report.
A comparison estimates once and resamples all scores together; a table of many tasks shares an
estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack

import numpy as np

from purecover import _validation as valid
from purecover import exceptions
from purecover._inputs import (
    LabelMeaning,
    column_names,
    encode_labels,
    is_frame,
    lazy_frame,
    read_columns,
)
from purecover._typing import (
    ArrayLike,
    BoolArray,
    CountArray,
    FloatArray,
    IntArray,
    RandomState,
    Scenario,
    Target,
)
from purecover._validation import public
from purecover.checks.base import CheckContext
from purecover.checks.catalog import largest_delta, run_checks
from purecover.counts import ScoreCounts, cut_of_top, pu_roc_curve
from purecover.estimators import sources as origins
from purecover.estimators.choice import check_estimator, with_clean_labels
from purecover.estimators.estimate import PriorEstimate
from purecover.intervals.ends import quantiles
from purecover.intervals.interval import Interval, auc_interval
from purecover.intervals.posterior import measure_posterior
from purecover.intervals.replicates import (
    DEFAULT_RESAMPLES,
    PROPORTIONS,
    BootstrapResult,
    default_resamples,
    measure_replicates,
)
from purecover.intervals.resampling import (
    GroupResampler,
    positions,
    read_groups,
    thinned_to_draw,
)
from purecover.posterior.knowledge import N_GROUPS, Knowledge
from purecover.posterior.ratio import LabelRatio
from purecover.proportions import (
    RANDOM_VERDICTS,
    GivenProportions,
    KnownKeywords,
    MixtureProportions,
    ProportionEstimator,
    Range,
    UncertainProportions,
    is_pooled,
)
from purecover.recovery import metrics as formulas
from purecover.recovery.curves import RecoveredRoc, blended, pr_from_roc, roc_from_counts
from purecover.recovery.metrics import Answers, MetricOptions, View
from purecover.recovery.rates import least_delta
from purecover.report.prices import find_prices
from purecover.report.results import PUReport
from purecover.report.saving import TrueFigures
from purecover.report.settings import ReportKeywords, ReportSettings, Settings, spread

if TYPE_CHECKING:
    from purecover.audit.designs import JudgedRows, ScoredLabels
    from purecover.estimators.base import PriorEstimator
    from purecover.models.cross_fit import Combine, Method


GROUP_RESAMPLES = 400
"""Replicates that show whether groups contradict alpha and beta if no others are wanted."""

FOLDS = 5
"""Folds where the caller does not say how many."""


@dataclass(frozen=True, eq=False)
class TrueCounts:
    """Scores counted by their true classes, and the true shares of positives."""

    counts: ScoreCounts
    alpha: float
    beta: float


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """One score, read and counted. ``n_groups`` is None where rows are independent."""

    counts: ScoreCounts
    resampler: GroupResampler | None = None
    n_groups: int | None = None
    truth: TrueCounts | None = None
    answered: Callable[[float], Answers] | None = None
    """Returns the answers of judges at or above a threshold and below it."""
    judged: JudgedRows | None = None
    dates: origins.RankTest | None = None
    sources: origins.SourcesEstimate | None = None
    kinds: origins.KindsTest | None = None


@dataclass(frozen=True, eq=False)
class RowLabels:
    """The columns that belong to rows, whatever model scored them.

    Known negatives are neither labeled nor unlabeled: ``group`` and ``truth`` leave them out.
    """

    positive: BoolArray
    negative: BoolArray | None
    weight: FloatArray | None
    group: IntArray | None
    truth: BoolArray | None
    judged: JudgedRows | IntArray | None = None

    def data(self, scores: FloatArray) -> ScoredLabels:
        """Return the scores with the labels."""
        from purecover.audit.designs import ScoredLabels

        return ScoredLabels(scores, self.positive, self.negative)

    def judged_rows(self, scores: FloatArray) -> JudgedRows:
        """Return the verdicts with their design; those of an array are a random sample."""
        from purecover.audit.designs import JudgedRows

        data = self.data(scores)
        if not isinstance(self.judged, JudgedRows):
            return JudgedRows.at_random(self.judged, data)
        self.judged.check_data(data)
        return self.judged

    def answered(self, scores: FloatArray, judged: Any) -> Callable[[float], Answers] | None:
        """Return what counts the answers of judges from a threshold up, and below it."""
        from purecover.audit.designs import JudgedRows

        data = self.data(scores)
        if not isinstance(judged, JudgedRows):
            judged = JudgedRows.at_random(judged, data)
        if int(judged.design.n_unlabeled.sum()) != int(data.unlabeled.sum()):
            return None  # of other data
        return partial(judged.answers_at, scores=scores)

    def known(self, values: Any) -> Any:
        """Return the values of labeled and unlabeled rows."""
        return values if self.negative is None or values is None else values[~self.negative]

    def count(self, scores: FloatArray) -> ScoredRows:
        """Count one score of these rows."""
        counts = ScoreCounts._from_marks(scores, self.positive, self.negative, self.weight)
        resampler = n_groups = truth = None
        answered = None if self.judged is None else self.answered(scores, self.judged)
        if self.group is None and self.truth is None:
            return ScoredRows(counts, answered=answered)
        labeled, weight = self.known(self.positive), self.known(self.weight)
        mass = np.ones(labeled.size) if weight is None else weight
        if self.group is not None:
            n_groups = int(self.group.max()) + 1
            place = positions(counts, self.known(scores))
            resampler = GroupResampler(counts, place, labeled, self.group, mass)
        if self.truth is not None:
            alpha, beta = (
                float(np.average(self.truth[side], weights=mass[side]))
                for side in (~labeled, labeled)
            )
            by_class = ScoreCounts._from_marks(self.known(scores), self.truth, None, weight)
            truth = TrueCounts(by_class, alpha, beta)
        return ScoredRows(counts, resampler, n_groups, truth, answered)


def read_labels(
    labeled: Any,
    size: int,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    truth: Any = None,
    judged: Any = None,
    **labels: Any,
) -> RowLabels:
    """Read columns of ``size`` scores; ``labels`` say how labels are written."""
    if judged is not None and sample_weight is not None:
        must = exceptions.Words("left out where ", "sample_weight", " is given")
        raise valid.bad_value("judged", must, "judged rows")
    positive, negative = encode_labels(labeled, size, **labels)
    kept = None if negative is None else ~negative
    if truth is not None:
        truth = valid.to_numpy("truth", truth)
        valid.check_same_length("truth", truth.size, size)
        truth = truth if kept is None else truth[kept]
        truth = encode_labels(truth, truth.size, parameter="truth")[0]
    return RowLabels(
        positive=positive,
        negative=negative,
        weight=None if sample_weight is None else valid.as_weights(sample_weight, size),
        group=None if groups is None else read_groups(groups, size, kept),
        truth=truth,
        judged=judged,
    )


DATES, KINDS = "label_origin.dates", "label_origin.kinds"
SOURCES = ("label_origin.sources", "label_origin.sources[1]")
"""Both columns of sources; complaints about both are about the first."""


def columns_of_origin(given: Any) -> dict[str, Any]:
    """Return the columns in ``label_origin`` by their names in :func:`read_rows`."""
    must = "a mapping such as {'dates': years}, of dates, kinds or sources"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise valid.bad_type("label_origin", must, given)
    for name in given:
        if name not in LabelOrigin.__annotations__:
            raise valid.bad_value("label_origin", must, valid.show(name))
    found = {DATES: given.get("dates"), KINDS: given.get("kinds")}
    if (sources := given.get("sources")) is None:
        return found
    if not isinstance(sources, (tuple, list)) or len(sources) != len(SOURCES):
        must = "a pair of columns, one for each source"
        raise valid.bad_type(SOURCES[0], must, sources)
    return found | dict(zip(SOURCES, sources, strict=True))


def read_rows(data: Any, columns: Mapping[str, Any], asked: Request) -> ScoredRows:
    """Read and count scores, a frame of any engine, or counts.

    ``columns`` are arrays like the scores or, with a frame, names of columns. No bin lies across
    the threshold asked for. If an audit is of these very rows, its answers are theirs.
    """
    columns, labels = dict(columns), vars(asked.labels)
    asked.check_design(columns["judged"])
    if isinstance(data, ScoreCounts):
        if columns.pop("judged", None) is not None:
            hint = "pass the scores, or proportions=audit.combine(judged, scores, labeled)"
            raise valid.bad_value("judged", "left out where counts are given", "judged rows", hint)
        return ScoredRows(ScoreCounts._of(data, **columns))
    if is_frame(data):
        drawn = columns.get("judged")
        if not isinstance(drawn, str):  # rows with their design, or verdicts apart from the frame
            columns["judged"] = None
        names = _column_names(data, columns)
        if lazy_frame(data) is not None:
            needs = ("groups", "truth", "judged", DATES, KINDS, *SOURCES)
            refuse_with_lazy({**names, "judged": drawn}, *needs)
            return ScoredRows(count_lazy(data, names, labels, asked.settings.threshold))
        found = read_columns(data, names, may_lack=(DATES, KINDS))
        columns = {name: found.get(name) for name in columns}
        columns["judged"] = columns["judged"] if isinstance(drawn, str) else drawn
        data = columns["score"]
    elif columns["score"] is not None:
        raise valid.bad_type("scores", "a data frame where 'score' names a column", data)
    del columns["score"]
    if columns["labeled"] is None:
        raise exceptions.InvalidInputError(
            "{function} needs 'labeled': for each score, whether the row carries the label."
        )
    valid.check_alignment(data, columns["labeled"])
    scores = valid.as_real_vector("scores", data)
    dates, kinds, one, two = (columns.pop(name, None) for name in (DATES, KINDS, *SOURCES))
    marks = read_labels(size=scores.size, **columns, **labels)
    for name, given in ((DATES, dates), (KINDS, kinds), (SOURCES[0], one)):
        # Their tests count rows, each as independent of the others.
        if given is not None and (marks.weight is not None or marks.group is not None):
            either = exceptions.Words("left out with ", "sample_weight", " or ", "groups")
            raise valid.bad_value(name, either, "both")
    test = number = None
    if dates is not None:
        test = origins.date_test(scores, marks.positive, dates, DATES)
    if one is not None:
        one, two = (encode_labels(s, scores.size, parameter=SOURCES[0])[0] for s in (one, two))
        if differ := int(((one | two) != marks.positive).sum()):
            must = "two columns of which at least one marks each labeled row, and none another"
            raise valid.bad_value(SOURCES[0], must, f"{differ:,} rows that differ")
        number = origins.count_by_two_sources(
            one, two, scores, confidence_level=asked.settings.confidence_level
        )
    judged = None if marks.judged is None else marks.judged_rows(scores)
    by_kind = None if kinds is None else compare_judged_kinds(kinds, scores, marks, judged)
    rows = replace(marks.count(scores), judged=judged, dates=test, sources=number, kinds=by_kind)
    seen = getattr(asked.given.proportions, "judged", None)
    if seen is not None and marks.data(scores).checksum == seen.design.checksum:
        rows = replace(rows, answered=marks.answered(scores, seen))
    return rows


def compare_judged_kinds(
    kinds: Any, scores: FloatArray, marks: RowLabels, judged: JudgedRows | None
) -> origins.KindsTest | None:
    """Compare the kinds of labeled rows with those of positives that judges found."""
    if judged is None:
        hint = "few labels of a kind can mean few positives of it; judge rows (audit.draw)"
        raise valid.bad_value(KINDS, "given with judged rows", "none", hint)
    from purecover.audit.designs import ScoredLabels

    design, found = judged.design, np.zeros(scores.size, dtype=bool)
    found[design.rows[(judged.verdicts == 1) & ~design.labeled]] = True
    if not found.any():
        return None
    strata = ScoredLabels(scores, marks.positive, marks.negative).strata(design.cuts)
    return origins.compare_label_kinds(kinds, marks.positive, found, strata)


def count_lazy(
    frame: Any, names: dict[str, str], labels: dict[str, object], keep: float | None
) -> ScoreCounts:
    """Count a frame whose rows stay where they are; no bin lies across ``keep``."""
    return ScoreCounts._count_frame(frame, names, labels, {"keep": keep})[None]


def refuse_with_lazy(given: Mapping[str, Any], *parameters: str) -> None:
    """Refuse parameters that need rows."""
    for each in parameters:
        if given.get(each) is not None:
            raise exceptions.InvalidInputError(
                f"{{function}} takes no {each!r} with a lazy frame, of which it sees counts "
                "and no rows.\nHint: collect the columns first if they fit into memory, or leave "
                f"{each} out"
            )


def _column_names(frame: Any, columns: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns that were named, by parameter."""
    names = {}
    for key, column in columns.items():
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


@dataclass(frozen=True)
class Estimation:
    """An estimate, and the fitted estimator that can repeat it on replicates."""

    estimate: PriorEstimate
    estimator: ProportionEstimator

    def with_intervals(
        self, replicates: BootstrapResult | None, *, level: float, independent: bool
    ) -> PriorEstimate:
        """Return the estimate with intervals from its posterior, if it has one, or replicates."""
        estimate = self.estimate
        if replicates is not None:
            estimate = replace(estimate, n_rejected=replicates.n_rejected)
        own = getattr(self.estimator, "interval_method", "bootstrap") != "bootstrap"
        if own and independent:
            ends = self.estimator.interval(confidence_level=level)  # type: ignore[attr-defined]
            return replace(estimate, intervals=ends)
        if replicates is None:
            return estimate
        names = [name for name in PROPORTIONS if not (estimate.beta_given and name == "beta")]
        return replace(estimate, intervals={name: replicates.interval(name) for name in names})


@dataclass(frozen=True)
class SharedPairs:
    """Draws of alpha and beta from one score, for another score of the same rows."""

    knowledge: Knowledge

    @classmethod
    def of(cls, counts: ScoreCounts, pairs: FloatArray) -> Self:
        """Return them for the groups of the other score."""
        return cls(Knowledge.of(thinned_to_draw(counts, N_GROUPS, None), pairs, exact=True))

    @classmethod
    def like(cls, other: Knowledge, counts: ScoreCounts, n: int) -> Self:
        """Return the n draws from other knowledge, or that itself where scores rank rows alike."""
        groups = thinned_to_draw(counts, N_GROUPS, None)
        if other.ranks_alike(groups):
            return cls(replace(other, ratio=LabelRatio(groups)))
        return cls.of(counts, other.posterior(n).shares)

    def proportions_many(
        self, _counts: ScoreCounts, labeled: CountArray, _unlabeled: CountArray
    ) -> FloatArray:
        """Return a pair for each replicate."""
        return np.resize(self.knowledge.pool, (len(labeled), 2))


@dataclass(frozen=True)
class Shares:
    """Alpha and beta: what is known of them, what is used, and how that was estimated."""

    given: GivenProportions
    used: MixtureProportions
    estimation: Estimation | None = None

    def repeated(self, rows: ScoredRows, rng: np.random.Generator) -> ProportionEstimator | None:
        """Return what finds alpha and beta of replicates; None where they stay as they are."""
        if isinstance(self.given.proportions, UncertainProportions):
            return self.given.proportions
        if self.estimation is not None:
            return self.estimation.estimator
        return self.given.following(rows.counts, rng, grouped=rows.n_groups is not None)


@dataclass(frozen=True)
class Request:
    """Validated options: settings of a report, what is known of alpha and beta, what labels mean.

    ``estimator`` finds them where they are not known.
    """

    settings: ReportSettings
    given: GivenProportions
    estimator: PriorEstimator | None
    labels: LabelMeaning

    @classmethod
    def among(cls, options: Mapping[str, Any], *, can_vary: bool = True) -> Self:
        """Read options of `evaluate`; those in ``settings`` may also have their names."""
        options = spread(options)
        settings = ReportSettings.among(options).validated()
        given = GivenProportions.among(options).validated(can_estimate=True, can_vary=can_vary)
        if settings.at_least and not given.is_number:
            must = "left out unless alpha is given as a number"
            hint = "an estimate of alpha assumes labels at random, which is what at_least doubts: "
            hint += "pass alpha, or judge rows (audit.judge_hidden)"
            raise valid.bad_value("at_least", must, valid.show(dict(settings.at_least)), hint)
        estimator = None if given.ways else check_estimator(given.estimator)
        return cls(settings, given, estimator, LabelMeaning.among(options))

    def check_design(self, judged: Any) -> None:
        """Complain about verdicts of which nobody says how their rows were drawn."""
        from purecover.audit.designs import JudgedRows

        known = judged is None or isinstance(judged, JudgedRows)
        if not known and RANDOM_VERDICTS not in self.given.assume:
            raise valid.bad_value(
                "judged",
                "rows with their design",
                "verdicts alone",
                "answers to rows of audit.draw (purecover judge) come with it; if rows are a "
                f"random sample of their side, assume {RANDOM_VERDICTS!r} (--assume "
                f"{RANDOM_VERDICTS})",
            )

    def shares(self, counts: ScoreCounts, judged: JudgedRows | None = None) -> Shares:
        """Return alpha and beta as given, or estimated.

        Verdicts, hits and ranges are combined with the scores into a posterior, if they say
        anything.
        """
        given = self.given
        if judged is not None and not (judged.verdicts >= 0).any():
            judged = None
        if given.ranges or given.hits is not None:
            from purecover.audit.answers import that_say_something

            given = that_say_something(given, counts)
        if judged is not None and given.ways:
            must = exceptions.Words("left out where ", given.ways[0], " is given")
            raise valid.bad_value("judged", must, "judged rows")
        if judged is not None or given.is_open:
            from purecover.audit.answers import posterior_of

            level = self.settings.confidence_level
            found = posterior_of(counts, given, judged, confidence_level=level)
            given = GivenProportions(proportions=found)
        if self.estimator is None or given.ways:
            return Shares(given, given.resolve(counts))
        return Shares(given, *estimate_shares(counts, given, self.estimator))

    def report(self, rows: ScoredRows, **how: Any) -> PUReport:
        """Return the report of counted rows, made as :func:`make_report` says."""
        shares = self.shares(rows.counts, rows.judged)
        return make_report(rows, shares, self.settings, **how)


def estimate_shares(
    counts: ScoreCounts, given: GivenProportions, estimator: PriorEstimator
) -> tuple[MixtureProportions, Estimation]:
    """Estimate alpha, and beta unless it is known."""
    from purecover.estimators.base import prior_estimators
    from purecover.estimators.choice import KnownBeta, full_name

    with_clean_labels(estimator, given.known_beta)
    try:
        estimator.fit(counts)
    except exceptions.IdentifiabilityError as error:
        raise exceptions.IdentifiabilityError(
            f"{{function}} cannot estimate alpha and beta. {error}"
        ) from error
    beta = given.known_beta
    again = estimator if beta is None else KnownBeta(estimator, beta)
    found, diagnostics = again.proportions_, estimator.diagnostics_
    used = given.estimated(replace(found, origin=full_name(estimator)))
    beta_estimated = beta is None and estimator.estimates_beta
    p_value = probability = None
    if beta is None:
        probability = diagnostics.get("clean_probability")
        p_value = diagnostics.get("clean_p_value")
        if probability is None and p_value is None:
            from purecover.estimators.clean_labels import clean_test

            p_value = float(clean_test(counts).p_value)
    name = registered_name(estimator, prior_estimators())
    pure = diagnostics.get("delta_pure")
    estimate = PriorEstimate(
        estimator=name,
        proportions=used,
        identification=_identification(counts, used, given),
        notes=tuple(diagnostics["notes"]),
        identifiable=bool(diagnostics["identifiable"]),
        at_edge=bool(diagnostics.get("at_edge", False)),
        beta_estimated=beta_estimated,
        beta_given=beta is not None,
        clean_p_value=p_value,
        clean_probability=probability,
        n_alike=diagnostics.get("n_alike"),
        delta_pure=None if pure is None else (beta or 1) * pure,
        delta_pure_noisy=diagnostics.get("delta_pure_noisy") if beta is None else None,
    )
    if "beta" in given.ranges:
        return _within_beta(counts, given, estimate)
    return used, Estimation(estimate, again)


def _within_beta(
    counts: ScoreCounts, given: GivenProportions, estimate: PriorEstimate
) -> tuple[MixtureProportions, Estimation]:
    """Return the estimate with a beta in its range, by the draws of the posterior in it."""
    from purecover.audit.answers import posterior_of

    found = posterior_of(counts, given)
    low, high = given.ranges["beta"]
    clean = float((found.draws(DEFAULT_RESAMPLES)[:, 1] == 1).mean())
    used = replace(found.proportions, origin=estimate.proportions.origin)
    estimate = replace(
        estimate,
        proportions=used,
        clean_probability=None if estimate.clean_probability is None else clean,
        notes=(*estimate.notes, f"beta was given to lie between {low:g} and {high:g}"),
    )
    return used, Estimation(estimate, found)


def registered_name(estimator: PriorEstimator, known: Mapping[str, type[PriorEstimator]]) -> str:
    """Return the name of an estimator in the registry, or its class if it is not registered.

    `NoisyLabels` keeps the name of its estimator, as in :func:`compare_priors`; other wrappers put
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


def _identification(
    counts: ScoreCounts, used: MixtureProportions, given: GivenProportions
) -> dict[str, tuple[float, float]]:
    """Return the ranges that the data allow without the assumption that some scores are pure.

    Any alpha <= a beta and 1 - beta <= b (1 - alpha) then fits. The inclusions a and b are taken
    at upper bounds that hold together with 95 % confidence, and the observed AUC at the ends of its
    95 % interval.
    """
    from purecover.estimators.inclusion import allowed_shares

    least = used.unlabeled_inclusion, used.labeled_inclusion
    ends = allowed_shares(counts, 0.95, given.known_beta, least)
    if given.known_beta is not None:
        del ends["beta"]
    return ends | {"auc": _auc_range(counts, ends["delta"])}


def _auc_range(counts: ScoreCounts, deltas: tuple[float, float]) -> tuple[float, float]:
    """Return the least and the greatest AUC for the observed AUC in its interval and these deltas.

    Even if nothing is to be corrected, chance has had its part in the observed AUC.
    """
    seen = auc_interval(counts, MixtureProportions(0.0, 1.0))
    areas = [
        min(max(0.5 + (observed - 0.5) / max(delta, 1e-12), 0.0), 1.0)
        for observed in (seen.low, seen.high)
        for delta in deltas
    ]
    return min(areas), max(areas)


Replicates = TypeVar("Replicates")


def draw_replicates(
    draw: Callable[[], Replicates], estimation: Estimation | None
) -> tuple[Replicates | None, Estimation | None]:
    """Return the replicates that ``draw`` gives, and the estimation.

    Where too many replicates have no estimate there are no replicates, and the estimation says
    that the scores do not determine alpha and beta.
    """
    try:
        with valid.unheard_repairs():  # a repair has warned of the data before
            return draw(), estimation
    except exceptions.IdentifiabilityError as error:
        if estimation is None:
            raise
        notes = (*estimation.estimate.notes, str(error).partition("\n")[0])
        unsure = replace(estimation.estimate, identifiable=False, notes=notes)
        return None, replace(estimation, estimate=unsure)


@dataclass(frozen=True, eq=False)
class Recovery:
    """A curve recovered from counted rows; makes replicates and the report.

    ``roc_pr`` is the curve that areas under the precision-recall curve are taken from.
    ``only`` are the metrics that are looked at, if not all, and then there is no band.
    ``chosen_by`` is the metric that the threshold of the settings was chosen by on these rows, if
    it was. ``answers`` are those of judges at or above the threshold and below it.
    """

    rows: ScoredRows
    given: GivenProportions
    settings: ReportSettings
    roc: RecoveredRoc
    roc_pr: RecoveredRoc
    threshold: float
    answers: Answers = formulas.NO_ANSWERS
    only: tuple[str, ...] | None = None
    chosen_by: str | None = None

    def resample(
        self,
        estimator: ProportionEstimator | None,
        n_resamples: int,
        random_state: np.random.Generator | int,
    ) -> BootstrapResult:
        """Draw replicates of independent rows, or of groups of them."""
        settings, resampler = self.settings, self.rows.resampler
        how: dict[str, Any] = {
            "n_resamples": n_resamples,
            "resampler": resampler,
            "metrics": self.only,
            "answers": self.answers,
            "curves": self.only is None,
            "progress": settings.progress,
            "target": settings.target,
            # The guard of a repair has decided for the replicates as well.
            "repair": None if settings.repair is None else self.roc.repair,
            "confidence_level": settings.confidence_level,
            **vars(MetricOptions.among(vars(settings))),
        }
        recovered = self.roc, self.roc_pr
        knowledge = getattr(estimator, "knowledge", None)
        if knowledge is not None and not knowledge.is_of(self.rows.counts):
            # What was judged of other rows bounds nothing here.
            knowledge = SharedPairs.of(
                self.rows.counts, knowledge.posterior(n_resamples).shares
            ).knowledge
        # Scores that are compared are measured on the same replicates.
        if knowledge is not None and (resampler is None or isinstance(resampler, GroupResampler)):
            return measure_posterior(
                self.rows.counts, recovered, knowledge, threshold=self.threshold, **how
            )
        return measure_replicates(
            self.rows.counts,
            recovered,
            estimator=estimator,
            chosen_by=self.chosen_by,
            random_state=random_state,
            # A threshold that was chosen here is chosen again in each replicate.
            threshold=settings.threshold,
            **how,
        )

    def report(
        self,
        estimation: Estimation | PriorEstimate | None,
        drawn: BootstrapResult | None,
        *,
        reference: str | None = None,
        scores_from: str | None = None,
    ) -> PUReport:
        """Assemble the report from the curve, the estimate and the replicates.

        An estimation gets its intervals here. ``reference`` names the scores that alpha and beta
        are estimated from, if those are others; ``scores_from`` says how the scores were made.
        """
        rows, settings, given, counts = self.rows, self.settings, self.given, self.rows.counts
        level, independent = settings.confidence_level, rows.n_groups is None
        estimate = estimation
        if isinstance(estimate, Estimation):
            estimate = estimate.with_intervals(drawn, level=level, independent=independent)
        if estimate is not None and reference is not None:
            ends = estimate.identification
            ends = {**ends, "auc": _auc_range(counts, ends["delta"])}
            notes = (*estimate.notes, f"alpha and beta are estimated from {reference}")
            estimate = replace(estimate, identification=ends, notes=notes)
        audit = given.proportions if isinstance(given.proportions, UncertainProportions) else None
        proportions, roc = self.roc.proportions, self.roc
        contradicted = roc.auc_direct > 1 and (
            least_delta(counts) > largest_delta(estimate, proportions, audit)
        )
        if contradicted and not independent:
            # How much further chance goes with groups, only replicates know.
            asked = drawn
            if asked is None:
                asked = replace(self, only=("roc_auc",)).resample(None, GROUP_RESAMPLES, 0)
            # As far as two standard errors.
            contradicted = bool(quantiles(asked.replicates["roc_auc"], [0.02275])[0] > 1)

        options = MetricOptions.among(vars(settings))
        optimism = None if drawn is None else drawn.optimism
        gain = optimism or (0.0, 0.0)
        metrics = formulas.metrics_from_roc(
            self.roc,
            self.roc_pr,
            counts,
            threshold=self.threshold,
            prior=proportions.prior(settings.target, counts),
            metrics=formulas.resolve_metrics(self.only, counts, options),
            options=options,
            optimism=gain,
            answers=self.answers,
            known=None if drawn is None else drawn.estimates,
        )
        areas = None
        if "auc_pr" in metrics:
            areas = metrics["auc_pr"], metrics.observed["auc_pr"]
        pr = pr_from_roc(self.roc_pr, counts, metrics.prior, options.area, areas=areas)
        confusion = formulas.confusion_from_roc(
            roc, counts, self.threshold, optimism=gain, answers=self.answers
        )
        intervals: dict[str, Interval] = {}
        if contradicted:
            auc = math.nan
            metrics = replace(metrics, values_=dict.fromkeys(metrics, math.nan))
            roc, pr = roc._withheld(), pr._withheld()
            confusion = replace(confusion, tp=math.nan, fp=math.nan, fn=math.nan, tn=math.nan)
        else:
            auc = min(max(roc.auc_direct, 0.0), 1.0)
            metrics = replace(metrics, values_={**metrics.values_, "roc_auc": auc})
            if drawn is not None:
                every = drawn.intervals()
                intervals = {name: every[name]._around(metrics[name]) for name in metrics}
                confusion = replace(confusion, **drawn.middle_numbers())  # type: ignore[arg-type]
                numbers = {
                    name: (min(low, getattr(confusion, name)), max(high, getattr(confusion, name)))
                    for name, (low, high) in drawn.number_intervals().items()
                }
                confusion = replace(confusion, intervals=numbers)
        varied = drawn is not None and drawn.varied != "scores"
        exact = estimate is None and not varied
        # Without replicates nothing says how far an estimate from comparable data may be off.
        closed_form = exact or (drawn is None and estimate is not None and not estimate.n_alike)
        if independent and closed_form and not contradicted:
            # It covers better than percentiles.
            intervals["roc_auc"] = auc_interval(counts, proportions, confidence_level=level)
        if estimate is not None:
            shares = {name: ends for name, ends in estimate.intervals.items() if name != "delta"}
            intervals |= shares
        elif drawn is not None and varied:
            shares = {name: drawn.interval(name) for name in ("alpha", "beta")}
            intervals |= {name: ends for name, ends in shares.items() if ends.width > 0}

        threshold_given = settings.threshold is not None and self.chosen_by is None
        context = CheckContext(
            counts=counts,
            proportions=proportions,
            roc=self.roc,
            threshold=None if contradicted else self.threshold,
            threshold_chosen=threshold_given,
            optimism=optimism,
            prior=metrics.prior,
            n_groups=rows.n_groups,
            interval_varies_proportions=varied,
            estimation=estimate,
            stated=given.stated,
            audit=audit,
            dates=rows.dates,
            sources=rows.sources,
            kinds=rows.kinds,
        )
        return PUReport(
            counts=counts,
            proportions=proportions,
            auc=auc,
            auc_pu=counts.auc_pu,
            roc=roc,
            pr=pr,
            metrics=metrics,
            confusion=confusion,
            intervals=intervals,
            checks=run_checks(context, ignore=settings.ignore_checks),
            bootstrap=drawn,
            estimation=estimate,
            truth=None if rows.truth is None else self._true_figures(rows.truth),
            threshold_chosen=threshold_given,
            random_state=valid.kept_seed(settings.random_state),
            contradicted=contradicted,
            scores_from=scores_from,
            review=settings.review,
            at_least=dict(settings.at_least or {}),
        )

    def _true_figures(self, truth: TrueCounts) -> TrueFigures:
        """Return the metrics measured on the true classes."""
        roc, counts = pu_roc_curve(truth.counts), self.rows.counts
        at = formulas.position(truth.counts, self.threshold)
        prior = truth.alpha
        target, scenario = self.settings.target, self.roc.proportions.scenario
        if not isinstance(target, str):
            prior = float(target)
        elif is_pooled(target, scenario):
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
        options = MetricOptions.among(vars(self.settings))
        wanted = formulas.resolve_metrics(None, counts, options)
        values = formulas.compute_metrics(wanted, view, prior, options)
        return TrueFigures(alpha=truth.alpha, beta=truth.beta, prior=prior, metrics=values, roc=roc)


def recover(
    rows: ScoredRows,
    shares: Shares,
    settings: ReportSettings,
    only: Iterable[str] | None = None,
    chosen_by: str | None = None,
) -> Recovery:
    """Recover the curve, once it is known that all metrics can be computed.

    With ``only``, other metrics are not measured: but for the AUC, and for one at the threshold,
    which shows what its choice adds.
    """
    counts = rows.counts
    formulas.resolve_metrics(None, counts, settings, shares.used)
    if settings.review is not None:
        if settings.threshold is not None:
            must = exceptions.Words("left out where ", "threshold", " is given")
            raise valid.bad_value("review", must, valid.show(settings.review))
        settings = replace(settings, threshold=cut_of_top(counts, settings.review))
    roc = roc_from_counts(counts, shares.used, settings.repair or "isotonic")
    threshold = formulas.check_threshold(settings.threshold, counts)
    return Recovery(
        rows,
        shares.given,
        settings,
        roc,
        roc if settings.repair is not None else blended(roc, counts),
        threshold,
        formulas.NO_ANSWERS if rows.answered is None else rows.answered(threshold),
        only=None if only is None else tuple(dict.fromkeys((*only, "roc_auc", "recall"))),
        chosen_by=chosen_by,
    )


def make_report(
    rows: ScoredRows,
    shares: Shares,
    settings: ReportSettings,
    *,
    only: Iterable[str] | None = None,
    chosen_by: str | None = None,
    scores_from: str | None = None,
) -> PUReport:
    """Recover the curve with these shares, draw replicates, and assemble the report.

    ``only`` are the metrics to be measured, if not all; ``chosen_by`` is the metric that the
    threshold was chosen by on these rows, if it was; ``scores_from`` says how scores were made.
    """
    found, estimation = recover(rows, shares, settings, only, chosen_by), shares.estimation
    n_resamples = settings.n_resamples
    if n_resamples is None:
        n_resamples = default_resamples(rows.counts)
    drawn = None
    if n_resamples:
        rng = settings.rng
        again = shares.repeated(rows, rng)
        drawn, estimation = draw_replicates(
            partial(found.resample, again, n_resamples, rng), estimation
        )
    report = found.report(estimation, drawn, scores_from=scores_from)
    if only is not None or estimation is None or report.contradicted:
        return report
    now = report.intervals.get("roc_auc")
    threshold = report.confusion.threshold
    knowledge = getattr(estimation.estimator, "knowledge", None)
    return replace(report, prices=find_prices(rows.counts, now, knowledge, threshold))


class LabelOrigin(TypedDict, total=False):
    """Columns that say how the labels came about."""

    dates: ArrayLike | str
    kinds: ArrayLike | str
    sources: tuple[ArrayLike | str, ArrayLike | str]


@public
def evaluate(
    scores: Any,
    labeled: ArrayLike | str | None = None,
    *,
    score: str | None = None,
    sample_weight: ArrayLike | str | None = None,
    groups: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    judged: JudgedRows | ArrayLike | str | None = None,
    label_origin: LabelOrigin | None = None,
    alpha: float | Range | None = None,
    beta: float | Range | None = None,
    proportions: MixtureProportions | UncertainProportions | None = None,
    prior: float | Range | None = None,
    label_frequency: float | Range | None = None,
    scenario: Scenario | None = None,
    hits: tuple[int, int] | None = None,
    assume: Collection[str] = (),
    target: Target = "population",
    threshold: float | None = None,
    review: int | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    random_state: RandomState = 0,
    settings: Settings | None = None,
) -> PUReport:
    """Recover how good a classifier really is, with intervals and checks.

    The share of positives among the unlabeled, alpha, is estimated if nothing is said about it.

    Parameters
    ----------
    scores : array-like of shape (n,), data frame or ScoreCounts
        Scores of held-out rows, larger means more positive. With a data frame of any engine
        (or a dict of columns), ``score``, ``labeled`` and the like name its columns. Lazy frames
        (DuckDB, PySpark, Dask, Ibis, polars) are counted by their engine; see
        :meth:`ScoreCounts.from_frame`.
    labeled : array-like of shape (n,) or str
        True where the row carries the positive label; see
        :meth:`ScoreCounts.from_scores`.
    score : str, optional
        The column of scores, if a data frame is given.
    sample_weight : array-like of shape (n,) or str, optional
        Non-negative weights.
    groups : array-like of shape (n,) or str, optional
        Which rows depend on each other; whole groups are resampled then.
    truth : array-like of shape (n,) or str, optional
        True classes, shown next to the corrected metrics. They are used for nothing
        else.
    judged : JudgedRows, array-like of shape (n,) or str, optional
        Rows of these scores that people judged: ``audit.draw(scores, labeled).answer(verdicts)``,
        which says how they were drawn. Or True, False or None for each row, or the column of a
        data frame; then add ``assume=["random-verdicts"]`` if the judged unlabeled rows are a
        random sample of all unlabeled ones, and the judged labeled rows of all labeled ones.
        Alpha and beta come from scores and verdicts together, as in
        :func:`purecover.audit.combine`.
    label_origin : mapping, optional
        Evidence for or against labels at random, which changes no metric: an array or a column
        for each of these names. ``"dates"``: when each labeled row was labeled (check PU023; see
        :func:`purecover.estimators.compare_label_dates`). ``"kinds"``: the kind of each row, such
        as a species group, if some rows are ``judged`` (check PU025; see
        :func:`purecover.estimators.compare_label_kinds`). ``"sources"``: a pair of columns, for
        each of two sources whether it labels the row; together they mark the labeled rows (check
        PU024; see :func:`purecover.estimators.count_by_two_sources`).
    alpha, beta, proportions, prior, label_frequency, scenario, hits, assume
    target, threshold, review
    confidence_level, n_resamples, random_state
    settings

    Returns
    -------
    PUReport
        Prints as at most 25 lines; holds counts, curves, metrics, intervals and checks.

    See Also
    --------
    recover_metrics : The metrics alone.
    make_pu_scorer : For cross-validation.

    Notes
    -----
    By default there are 2000 replicates, or 1000 of more than 32,768 distinct scores, where each
    takes longer and intervals are narrow anyway.

    With a known alpha and independent rows the interval of the AUC is DeLong's, through the
    linear map, and other metrics have replicates. Otherwise all figures are asked of one set of
    draws from the posterior of alpha, beta and the positives of every group of scores, weighed by
    all that is known. Neither knows of a bias of the estimator.

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
    # Each step takes what the one before it found; those after the shares are in `make_report`.
    asked = Request.among(
        {
            "alpha": alpha,
            "beta": beta,
            "proportions": proportions,
            "prior": prior,
            "label_frequency": label_frequency,
            "scenario": scenario,
            "hits": hits,
            "assume": assume,
            "target": target,
            "threshold": threshold,
            "review": review,
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "random_state": random_state,
            "settings": settings,
        }
    )
    columns = {
        "score": score,
        "labeled": labeled,
        "sample_weight": sample_weight,
        "groups": groups,
        "truth": truth,
        "judged": judged,
        **columns_of_origin(label_origin),
    }
    rows = read_rows(scores, columns, asked)
    shares = asked.shares(rows.counts, rows.judged)
    return make_report(rows, shares, asked.settings)


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
    sample_weight: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
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
        True where the row carries the positive label. With a data frame, ``labeled``,
        ``groups``, ``truth`` and ``sample_weight`` may name columns, which are then no features.
    cv, method, combine, fit_params, n_jobs
        How rows are scored, as in :func:`cross_fit_scores`. By default there are five folds,
        and none for a model that keeps out-of-bag scores; with any of ``cv``, ``method``,
        ``combine`` or ``fit_params`` given, that model is cross-fitted too.
    groups : array-like of shape (n,) or str, optional
        Which rows depend on each other. They are kept together in folds, and resampled together.
    sample_weight : array-like of shape (n,) or str, optional
        Weights of the rows in the metrics. To train with weights, put them in ``fit_params``.
    truth : array-like of shape (n,) or str, optional
        True classes, shown next to the corrected metrics. No model sees them.
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
    # All that can be wrong is said before the long work of fitting.
    # Here, because models bring scikit-learn, which scores alone do without.
    from purecover.models.cross_fit import check_settings, unseen_scores
    from purecover.models.examples import check_as_long, check_seed, read_examples

    own = cv is None and method == combine == "auto"
    asked = Request.among(options)
    if asked.settings.probabilities:
        method = "predict_proba" if method == "auto" else method
        combine = "raw" if combine == "auto" else combine
    folding: Any = {"cv": FOLDS if cv is None else cv, "method": method, "combine": combine}
    folding |= {"fit_params": fit_params, "n_jobs": n_jobs}
    check_settings(estimator, **folding)
    # A seed itself, so that folds and bootstrap draw as they would alone.
    seed = check_seed(asked.settings.random_state)
    asked = replace(asked, settings=replace(asked.settings, random_state=seed))
    examples = read_examples(
        X,
        labeled,
        groups=groups,
        truth=truth,
        sample_weight=sample_weight,
        **vars(asked.labels),
    )
    if examples.truth is not None:
        check_as_long("truth", valid.to_numpy("truth", examples.truth).size, examples.n_rows)
    labels = read_labels(
        examples.labeled,
        examples.n_rows,
        sample_weight=examples.weight,
        groups=examples.groups,
        truth=examples.truth,
        **vars(asked.labels),
    )
    formulas.resolve_metrics(None, labels.count(np.zeros(examples.n_rows)).counts, asked.settings)
    scores, description = unseen_scores(estimator, examples, own=own, random_state=seed, **folding)
    return asked.report(
        labels.count(valid.as_real_vector("scores", scores)), scores_from=description
    )
