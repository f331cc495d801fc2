"""Reports as plain data and back.

The saved form is declared in :mod:`purecover.report.document`. Figures are taken as they were
written. Curves, which are as long as the data, are recovered again from the counts, by the same
algebra and the same repair.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from purecover import _validation as valid
from purecover._codec import Source, picked, plain, restored
from purecover._typing import FloatArray
from purecover._validation import Frozen, public
from purecover.counts import PURoc, ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.intervals.interval import CurveBand, Interval
from purecover.intervals.replicates import POSTERIOR, PROPORTIONS, BootstrapResult
from purecover.recovery import metrics as formulas
from purecover.recovery.curves import RecoveredRoc, blended, pr_from_roc, recover_roc
from purecover.recovery.metrics import METRICS, MetricOptions, RecoveredMetrics

if TYPE_CHECKING:
    from purecover.report.document import SavedBootstrap, SavedEnds, SavedReport, SavedTruth

SCHEMA = "purecover.report/1"
"""Name and version of the document."""

MAX_THRESHOLDS = 100_000
"""Counts with more distinct scores are only written if asked for."""

KINDS: tuple[Literal["pointwise", "simultaneous"], ...] = ("pointwise", "simultaneous")
"""The bands that are kept of each curve."""


def saved_bands(band: Callable[[Any], CurveBand], hidden: bool) -> dict[str, Any]:
    """Both bands of a curve, which share their x and the curve itself; nulls if hidden."""

    def shown(values: FloatArray) -> FloatArray:
        return np.full(values.size, math.nan) if hidden else values

    found: dict[str, CurveBand] = {kind: band(kind) for kind in KINDS}
    first = found["pointwise"]
    ends = {kind: {"low": shown(b.low), "high": shown(b.high)} for kind, b in found.items()}
    return {"x": first.x, "estimate": shown(first.estimate), **ends}


@dataclass(frozen=True, kw_only=True, eq=False)
class TrueFigures(Frozen):
    """Figures of the same scores against the true classes.

    Attributes
    ----------
    alpha, beta : float
        True shares of positives among the unlabeled and the labeled.
    prior : float
        True prior of the target.
    metrics : dict of str to float
        True values of the metrics.
    roc : PURoc
        The true curve; its rates are those of the true classes.

    Notes
    -----
    Rates are of all rows of a true class, labeled and unlabeled together. Where labels are not
    drawn at random, rows of the unlabeled alone can have others.
    """

    alpha: float
    beta: float
    prior: float
    metrics: dict[str, float]
    roc: PURoc

    @property
    def pr_curve(self) -> tuple[FloatArray, FloatArray]:
        """Recall and precision of the true precision-recall curve, where defined."""
        fpr, tpr = self.roc.fpr_pu, self.roc.tpr_pu
        flagged = self.prior * tpr + (1 - self.prior) * fpr
        some = flagged > 0
        return tpr[some], self.prior * tpr[some] / flagged[some]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return picked(self, "alpha", "beta", "prior", "metrics")


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptBootstrap(BootstrapResult):
    """The replicates of a report that was read back: how many there were, and the bands."""

    bands: Mapping[tuple[str, Literal["pointwise", "simultaneous"]], CurveBand]

    def interval(self, metric: str) -> NoReturn:
        """Refused: replicates are not kept, and the intervals stand in the report."""
        raise InvalidInputError(
            "BootstrapResult.interval has no replicates to look at: a report that was read from "
            "JSON keeps the intervals and bands, not the replicates.\n"
            f"Hint: take report.intervals[{metric!r}], or evaluate the scores again"
        )

    def intervals(self) -> NoReturn:
        """Refused, as :meth:`interval` is."""
        self.interval("roc_auc")

    def _band(self, curve: str, kind: Literal["pointwise", "simultaneous"]) -> CurveBand:
        valid.check_choice("kind", kind, KINDS)
        return self.bands[curve, kind]


def report_source(parameter: str) -> Source:
    """Return the source of a report that a parameter holds."""
    return Source(parameter, "a report", SCHEMA, "report.to_json()")


@public
def read_fields(source: Source, data: object) -> dict[str, Any]:
    """Return the fields of a report from its document."""
    from purecover.report.document import SavedReport

    saved = data if isinstance(data, SavedReport) else source.read(SavedReport, data)
    counts, drawn = _read_counts(source, saved), saved.bootstrap
    with source.reading("options", saved.options):
        options = restored(MetricOptions, saved.options, area=saved.area).validated()
        wanted = formulas.resolve_metrics(None, counts, options)
    roc, roc_pr = _recover_curves(source, saved, counts)
    threshold, optimism = saved.metrics.threshold, (drawn and drawn.optimism) or (0.0, 0.0)
    metrics = formulas.metrics_from_roc(
        roc,
        roc_pr,
        counts,
        threshold=threshold,
        prior=saved.metrics.prior,
        metrics=wanted,
        options=options,
        optimism=optimism,
        answers=saved.confusion.answers,
    )
    known = saved.metrics.recovered.get("auc_pr")
    areas = None if known is None else (known, metrics.observed["auc_pr"])
    pr = pr_from_roc(roc_pr, counts, metrics.prior, options.area, areas=areas)
    _check_derived(source, saved, counts, roc, metrics, optimism)
    _check_ranges(source, saved)
    names = [metric.name for metric in wanted]
    kept = replace(
        metrics,
        values_={name: saved.metrics.recovered.get(name, v) for name, v in metrics.items()},
        repair=saved.metrics.repair,
    )
    same = [
        "proportions", "auc_pu", "confusion", "checks", "threshold_chosen", "random_state",
        "contradicted", "scores_from", "review", "prices", "at_least",
    ]  # fmt: skip
    return {
        **{name: getattr(saved, name) for name in same},
        "counts": counts,
        "auc": math.nan if saved.auc is None else saved.auc,
        "roc": roc._withheld() if saved.contradicted else roc,
        "pr": pr._withheld() if saved.contradicted else pr,
        "metrics": kept,
        # Of names that this version does not know, nothing can be said.
        "intervals": {
            name: each for name, each in saved.intervals.items() if name in (*names, *PROPORTIONS)
        },
        "bootstrap": _read_bootstrap(source, drawn, kept, roc),
        "estimation": saved.estimation,
        "truth": None if saved.truth is None else _read_truth(source, saved.truth, names),
    }


def _read_counts(source: Source, saved: SavedReport) -> ScoreCounts:
    if saved.counts is None:
        hint = "write it with to_json(counts=True)"
        if saved.n_thresholds > MAX_THRESHOLDS:
            hint += f"; without that, counts of more than {MAX_THRESHOLDS:,} scores are left out"
        must = "present, since the curves are made from it"
        raise source.complaint("counts", must, "null", hint)
    with source.reading("counts", saved.counts):
        return ScoreCounts.from_dict(saved.counts.to_dict())


def _check_derived(
    source: Source,
    saved: SavedReport,
    counts: ScoreCounts,
    roc: RecoveredRoc,
    metrics: RecoveredMetrics,
    optimism: tuple[float, float],
) -> None:
    """Refuse numbers that do not follow from the counts, alpha and beta."""
    sizes = ("n_thresholds", "n_labeled", "n_unlabeled", "n_negative", "auc_pu")
    seen = {name: getattr(counts, name) for name in sizes} | {"auc_direct": roc.auc_direct}
    seen |= {f"metrics.observed.{name}": value for name, value in metrics.observed.items()}
    seen |= {"confusion.threshold": metrics.threshold}
    used = {"auc": min(max(roc.auc_direct, 0.0), 1.0), "auc_repaired": roc.auc}
    used |= {f"metrics.recovered.{name}": value for name, value in metrics.items()}
    confusion = formulas.confusion_from_roc(
        roc, counts, metrics.threshold, optimism=optimism, answers=saved.confusion.answers
    )
    used |= {f"confusion.{name}": getattr(confusion, name) for name in ("tp", "fp", "fn", "tn")}
    if saved.bootstrap is not None and saved.bootstrap.method.startswith(POSTERIOR):
        of_draws = _draws_of(saved, metrics, confusion)
        used = {path: value for path, value in used.items() if path not in of_draws} | {
            path: value for path, value in of_draws.items() if value is not None
        }
    if saved.contradicted:
        used = dict.fromkeys(used, math.nan)
    for path, value in (seen | used).items():
        got: Any = saved
        for name in path.split("."):
            got = got.get(name, value) if isinstance(got, dict) else getattr(got, name)
        got = math.nan if got is None else got
        # An integer of JSON may be larger than any float.
        number = float(max(min(got, sys.float_info.max), -sys.float_info.max))
        near = math.isclose(number, value, rel_tol=1e-6, abs_tol=1e-9)
        if not near and not (math.isnan(number) and math.isnan(value)):
            must = f"{value:.9g}, as its counts, alpha and beta imply"
            raise source.complaint(path, must, valid.show(got))


def _draws_of(
    saved: SavedReport, metrics: RecoveredMetrics, confusion: formulas.RecoveredConfusion
) -> dict[str, float | None]:
    """Return what is a median of draws, and what it must be, if anything.

    It is the estimate of its interval. How many rows are flagged is known, so that numbers of
    negatives follow from those of positives.
    """
    found: dict[str, float | None] = {}
    for name in metrics:
        if name != "roc_auc" and METRICS[name].kind != "probability":
            own = saved.intervals.get(name)
            found[f"metrics.recovered.{name}"] = None if own is None else own.estimate
    numbers = saved.confusion
    found |= {"confusion.tp": None, "confusion.fn": None}
    found["confusion.fp"] = confusion.flagged - (numbers.tp or 0.0)
    found["confusion.tn"] = confusion.fn + confusion.tn - (numbers.fn or 0.0)
    return found


def _check_ranges(source: Source, saved: SavedReport) -> None:
    """Refuse intervals and shares that are outside their range."""
    known = saved.estimation
    every: dict[str, Mapping[str, Interval]] = {"": saved.intervals}
    found: dict[str, tuple[float | None, float, float]] = {}
    if known is not None:
        every["estimation."] = known.intervals
        for name in ("delta_pure", "delta_pure_noisy", "clean_p_value", "clean_probability"):
            found[f"estimation.{name}"] = getattr(known, name), 0.0, 1.0
    for prefix, intervals in every.items():
        for name, each in intervals.items():
            path = f"{prefix}intervals.{name}"
            found[f"{path}.confidence_level"] = each.confidence_level, 1e-8, 1 - 1e-8
            found[f"{path}.low"] = each.low, -math.inf, each.high
    for path, (got, low, high) in found.items():
        if got is not None and (got < low - _ROUNDING or got > high + _ROUNDING):
            raise source.complaint(path, f"from {low:g} to {high:g}", valid.show(got))


_ROUNDING = 1e-9


def _recover_curves(
    source: Source, saved: SavedReport, counts: ScoreCounts
) -> tuple[RecoveredRoc, RecoveredRoc]:
    repair, proportions = saved.repair, saved.proportions
    if saved.repair_pr not in {repair, "blend"}:
        must = f"{repair!r} or 'blend'"
        raise source.complaint("repair_pr", must, repr(saved.repair_pr))
    # The guard decided when the report was made; `repair` is what it left.
    roc = recover_roc(counts, proportions, repair=repair, concavity_guard=False)
    roc = replace(roc, repair_requested=saved.repair_requested)
    if saved.repair_pr == repair:
        return roc, roc
    isotonic = roc if repair == "isotonic" else recover_roc(counts, proportions)
    return roc, blended(isotonic, counts)


def _read_bootstrap(
    source: Source, saved: SavedBootstrap | None, metrics: RecoveredMetrics, roc: RecoveredRoc
) -> KeptBootstrap | None:
    if saved is None:
        return None
    estimates = {**metrics, "roc_auc": roc.auc_direct}
    if saved.varied == "scores and proportions":
        estimates |= {name: getattr(roc.proportions, name) for name in PROPORTIONS}
    bands = {}
    for curve, band in (("roc", saved.roc_band), ("pr", saved.pr_band)):
        for kind in KINDS:
            ends: SavedEnds = getattr(band, kind)
            if not band.x.size == band.estimate.size == ends.low.size == ends.high.size:
                must = f"as long as its x ({band.x.size})"
                where = f"bootstrap.{curve}_band.{kind}"
                raise source.complaint(where, must, f"{ends.low.size} values")
            lines = {"x": band.x, "estimate": band.estimate, "low": ends.low, "high": ends.high}
            bands[curve, kind] = restored(CurveBand, saved, kind=kind, **lines)
    kept = {"estimates": estimates, "replicates": {}, "_curves": {}, "bands": bands}
    return restored(KeptBootstrap, saved, **kept)


def _read_truth(source: Source, saved: SavedTruth, names: Iterable[str]) -> TrueFigures:
    if saved.roc is None:
        raise source.complaint("truth.roc", "an object with fields", "null")
    # Only the first threshold is null: nothing reaches it.
    thresholds = np.where(np.isnan(saved.roc.thresholds), math.inf, saved.roc.thresholds)
    columns = (saved.roc.fpr, saved.roc.tpr, thresholds)
    if len({column.size for column in columns}) > 1 or not np.isfinite(columns[:2]).all():
        must = "three lists of one length, without null in 'fpr' and 'tpr'"
        raise source.complaint("truth.roc", must, valid.show(plain(saved.roc.fpr)))
    roc = PURoc(fpr_pu=columns[0], tpr_pu=columns[1], thresholds=thresholds)
    metrics = {name: saved.metrics.get(name, math.nan) for name in names}
    return restored(TrueFigures, saved, metrics=metrics, roc=roc)
