"""Reports as plain data and back.

The saved form is declared in :mod:`purecover.report.document`. Figures are taken as they were
written. Curves, which are as long as the data, are recovered again from the counts, by the same
algebra and the same repair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from purecover import _validation as valid
from purecover._codec import Source, plain, restored
from purecover._typing import FloatArray
from purecover._validation import public
from purecover.counts import PURoc, ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.intervals.interval import CurveBand, Interval
from purecover.intervals.replicates import PROPORTIONS, BootstrapResult
from purecover.recovery import metrics as formulas
from purecover.recovery.curves import RecoveredRoc, blended, pr_from_roc, recover_roc
from purecover.recovery.metrics import METRICS, MetricOptions, RecoveredMetrics

if TYPE_CHECKING:
    from purecover.report.document import (
        SavedBootstrap,
        SavedEnds,
        SavedReport,
        SavedTruth,
    )

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


_PAIRS_TOLERANCE = 1e-9  # of the observed AUC, which other machines may round otherwise


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
def read_fields(source: Source, saved: SavedReport) -> dict[str, Any]:
    """Return the fields of a report from its document; ``truth`` are fields, too."""
    counts = _read_counts(source, saved)
    with source.reading("options", saved.options):
        options = restored(MetricOptions, saved.options, area=saved.area).validated()
        names = [m.name for m in formulas.resolve_metrics(None, counts, options)]
    metrics = restored(
        RecoveredMetrics,
        saved.metrics,
        values_=_known(source, "metrics.recovered", saved.metrics.recovered, names),
        observed=_known(source, "metrics.observed", saved.metrics.observed, names),
        options=options,
    )
    roc, roc_pr = _recover_curves(source, saved, counts)
    pr = pr_from_roc(roc_pr, counts, metrics.prior, options.area)
    _check_derived(source, saved, counts, roc)
    _check_ranges(source, saved)
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
        "metrics": metrics,
        "intervals": _only(saved.intervals, (*names, *PROPORTIONS)),
        "bootstrap": _read_bootstrap(source, saved.bootstrap, metrics, roc),
        "estimation": saved.estimation,
        "truth": None if saved.truth is None else _read_truth(source, saved.truth, names),
    }


def _only(found: Mapping[str, Interval], names: Collection[str]) -> dict[str, Interval]:
    """Intervals by name; names that this version does not know are left out."""
    return {name: interval for name, interval in found.items() if name in names}


def _known(
    source: Source, path: str, values: Mapping[str, float], names: Iterable[str]
) -> dict[str, float]:
    """The metrics that this version knows, all of which must be there."""
    for name in names:
        if name not in values:
            raise source.complaint(f"{path}.{name}", "present", "none")
    return {name: values[name] for name in names}


def _read_counts(source: Source, saved: SavedReport) -> ScoreCounts:
    if saved.counts is None:
        hint = "write it with to_json(counts=True)"
        if saved.n_thresholds > MAX_THRESHOLDS:
            hint += f"; without that, counts of more than {MAX_THRESHOLDS:,} scores are left out"
        must = "present, since the curves are made from it"
        raise source.complaint("counts", must, "null", hint)
    with source.reading("counts", saved.counts):
        counts = ScoreCounts.from_dict(saved.counts.to_dict())
    told, seen = (saved.n_thresholds, saved.auc_pu), (counts.n_thresholds, counts.auc_pu)
    if told[0] != seen[0] or abs(told[1] - seen[1]) > _PAIRS_TOLERANCE:
        raise source.complaint(
            "counts",
            f"those of {told[0]} scores with an observed AUC of {told[1]:.9g}, as its fields "
            "'n_thresholds' and 'auc_pu' say",
            f"{seen[0]} scores with {seen[1]:.9g}",
        )
    return counts


def _check_derived(
    source: Source, saved: SavedReport, counts: ScoreCounts, roc: RecoveredRoc
) -> None:
    """Refuse fields that do not follow from the counts, alpha and beta."""
    areas = {} if saved.contradicted else {"auc": min(max(roc.auc_direct, 0.0), 1.0)}
    if not saved.contradicted:
        areas["auc_repaired"] = roc.auc
    follow = {name: getattr(counts, name) for name in ("n_labeled", "n_unlabeled", "n_negative")}
    for name, value in (follow | areas | {"auc_direct": roc.auc_direct}).items():
        got = getattr(saved, name)
        if got is None or not math.isclose(got, value, rel_tol=1e-6, abs_tol=1e-9):
            must = f"{value:.9g}, as its counts, alpha and beta imply"
            raise source.complaint(name, must, valid.show(got))


def _check_ranges(source: Source, saved: SavedReport) -> None:
    """Refuse metrics, intervals and shares that are outside their range."""
    found: dict[str, tuple[float | None, tuple[float, float]]] = {}
    for side, values in (
        ("recovered", saved.metrics.recovered),
        ("observed", saved.metrics.observed),
    ):
        for name, value in values.items():
            # Without a repair, rates and what follows from them leave their range.
            if name in METRICS and saved.repair != "none":
                found[f"metrics.{side}.{name}"] = value, METRICS[name].range
    known = saved.estimation
    every = {f"intervals.{name}": each for name, each in saved.intervals.items()}
    if known is not None:
        every |= {f"estimation.intervals.{name}": each for name, each in known.intervals.items()}
        for name in ("delta_pure", "delta_pure_noisy", "clean_p_value", "clean_probability"):
            found[f"estimation.{name}"] = getattr(known, name), (0.0, 1.0)
    for name, each in every.items():
        found[f"{name}.confidence_level"] = each.confidence_level, (1e-8, 1 - 1e-8)
        found[f"{name}.low"] = each.low, (-math.inf, each.high)
    for name, (got, (low, high)) in found.items():
        if got is not None and (got < low - _ROUNDING or got > high + _ROUNDING):
            raise source.complaint(name, f"from {low:g} to {high:g}", valid.show(got))


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
    source: Source,
    saved: SavedBootstrap | None,
    metrics: RecoveredMetrics,
    roc: RecoveredRoc,
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


def _read_truth(source: Source, saved: SavedTruth, names: Iterable[str]) -> dict[str, Any]:
    if saved.roc is None:
        raise source.complaint("truth.roc", "an object with fields", "null")
    # Only the first threshold is null: nothing reaches it.
    thresholds = np.where(np.isnan(saved.roc.thresholds), math.inf, saved.roc.thresholds)
    columns = (saved.roc.fpr, saved.roc.tpr, thresholds)
    if len({column.size for column in columns}) > 1 or not np.isfinite(columns[:2]).all():
        must = "three lists of one length, without null in 'fpr' and 'tpr'"
        raise source.complaint("truth.roc", must, valid.show(plain(saved.roc.fpr)))
    roc = PURoc(fpr_pu=columns[0], tpr_pu=columns[1], thresholds=thresholds)
    metrics = _known(source, "truth.metrics", saved.metrics, names)
    shares = {"alpha": saved.alpha, "beta": saved.beta, "prior": saved.prior}
    return {**shares, "metrics": metrics, "roc": roc}
