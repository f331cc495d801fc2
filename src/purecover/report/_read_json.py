"""A report from plain data: what `PUReport.from_dict` and `PUReport.from_json` read.

Figures are taken as they were written. Curves, which are as long as the data, are recovered
again from the counts, by the same algebra and the same repair.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn, get_args

import numpy as np

from purecover._frozen import FrozenDict
from purecover._typing import AreaRule
from purecover._validation import bad_type, bad_value, check_choice, show
from purecover.checks import CheckResult
from purecover.checks._base import Severity, Status
from purecover.counts import ScoreCounts
from purecover.curves import PURoc, auc_pu
from purecover.estimation._estimate import PriorEstimate
from purecover.exceptions import InvalidInputError
from purecover.intervals._interval import CurveBand, Interval, Varied
from purecover.intervals._replicates import PROPORTIONS, BootstrapResult
from purecover.proportions import SCENARIOS, MixtureProportions
from purecover.recovery._confusion import RecoveredConfusion
from purecover.recovery._metrics import RecoveredMetrics
from purecover.recovery._pr import AREA_RULES, pr_from_roc
from purecover.recovery._registry import MetricOptions, resolve_metrics
from purecover.recovery._roc import REPAIRS, RecoveredRoc, blended, recover_roc
from purecover.report._fields import AGAIN, Fields, Source, check_finite
from purecover.report._json import KINDS, MAX_THRESHOLDS, SCHEMA
from purecover.report._report import PUReport
from purecover.report._truth import TrueFigures

__all__ = [
    "KeptBootstrap",
    "opened",
    "parse",
    "read_document",
    "read_interval",
    "read_report",
    "read_text",
]

_PAIRS_TOLERANCE = 1e-9  # of the observed AUC, which other machines may round otherwise


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptBootstrap(BootstrapResult):
    """What a document keeps of the replicates: how many there were, and the bands."""

    bands: Mapping[tuple[str, Literal["pointwise", "simultaneous"]], CurveBand]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "bands", FrozenDict(dict(self.bands)))

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
        check_choice(f"BootstrapResult.{curve}_band", "kind", kind, KINDS)
        return self.bands[curve, kind]


def read_text(function: str, text: object) -> PUReport:
    """The report in a JSON text."""
    data = parse(function, text, "the text of a report, as PUReport.to_json writes it")
    return read_document(Source(function, "text"), data)


def parse(function: str, text: object, must: str) -> Any:
    """What a JSON text holds."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise bad_type(function, "text", must, text, "read a file first: Path(name).read_text()")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        hint = "pass the content of the file, not its name" if len(text) < 256 else AGAIN
        raise bad_value(function, "text", must, f"{show(text)} ({why})", hint) from error


def read_document(source: Source, data: object) -> PUReport:
    """The report in plain data."""
    must = "a report of purecover as plain data, as PUReport.to_dict makes it"
    return read_report(opened(source, data, must, SCHEMA))


def opened(source: Source, data: object, must: str, schema: str) -> Fields:
    """The fields of a document of the right kind."""
    function, parameter = source.function, source.parameter
    if not isinstance(data, Mapping):
        raise bad_type(function, parameter, must, data)
    if "schema" not in data:
        got = f"a document without a field 'schema' ({show(list(data)[:5])} ...)"
        raise bad_value(function, parameter, must, got, AGAIN)
    if data["schema"] != schema:
        hint = "read it with the version of purecover that wrote it"
        if isinstance(data.get("version"), str):
            hint += f", {show(data['version'])}"
        raise source.complaint("schema", repr(schema), show(data["schema"]), hint)
    check_finite(source, data)
    return Fields(source, data)


def read_report(document: Fields) -> PUReport:
    """The report in the fields of a document."""
    counts = _counts(document)
    proportions = _proportions(document)
    options = _options(document, counts)
    metrics = _metrics(document, options, counts)
    roc, roc_pr = _curves(document, counts, proportions)
    found, scores_from = document.optional("estimation"), document["scores_from"]
    seed = document["random_state"]
    return PUReport(
        counts=counts,
        proportions=proportions,
        auc=document.number("auc", low=0, high=1),
        auc_pu=document.number("auc_pu", low=0, high=1),
        roc=roc,
        pr=pr_from_roc(roc_pr, counts, metrics.prior, options.area),
        metrics=metrics,
        confusion=_confusion(document.fields("confusion")),
        intervals=_intervals(document.fields("intervals"), tuple(metrics)),
        checks=_checks(document),
        bootstrap=_bootstrap(document, metrics, roc),
        estimation=None if found is None else _estimation(found),
        truth=_truth(document, metrics),
        threshold_chosen=document.flag("threshold_chosen"),
        random_state=None if seed is None else document.whole("random_state"),
        scores_from=None if scores_from is None else document.text("scores_from"),
    )


def _counts(document: Fields) -> ScoreCounts:
    if document["counts"] is None:
        many = document.whole("n_thresholds")
        hint = "write it with to_json(counts=True)"
        if many > MAX_THRESHOLDS:
            hint += f"; without that, counts of more than {MAX_THRESHOLDS:,} scores are left out"
        raise document.source.complaint(
            "counts", "present, since the curves are made from it", "null", hint
        )
    columns = document.fields("counts")
    for name in ("thresholds", "labeled", "unlabeled"):
        columns.column(name)  # complains by name and row
    counts: ScoreCounts = document.made("counts", ScoreCounts.from_dict, dict(columns.data))
    told = (document.whole("n_thresholds"), document.number("auc_pu", low=0, high=1))
    seen = (counts.n_thresholds, auc_pu(counts))
    if told[0] != seen[0] or abs(told[1] - seen[1]) > _PAIRS_TOLERANCE:
        raise document.source.complaint(
            "counts",
            f"those of {told[0]} scores with an observed AUC of {told[1]:.9g}, as its fields "
            "'n_thresholds' and 'auc_pu' say",
            f"{seen[0]} scores with {seen[1]:.9g}",
        )
    return counts


def _proportions(parent: Fields) -> MixtureProportions:
    fields = parent.fields("proportions")
    proportions: MixtureProportions = parent.made(
        "proportions",
        MixtureProportions,
        fields.number("alpha"),
        fields.number("beta"),
        fields.text("origin"),
        fields.choice("scenario", SCENARIOS),
    )
    return proportions


def _options(document: Fields, counts: ScoreCounts) -> MetricOptions:
    fields = document.fields("options")
    top_k = None if fields["top_k"] is None else fields.whole("top_k")
    area: AreaRule = document.choice("area", AREA_RULES)
    options = MetricOptions(
        f_beta=fields.number("f_beta"),
        cost_fn=fields.number("cost_fn"),
        cost_fp=fields.number("cost_fp"),
        max_fpr=fields.number("max_fpr"),
        top_k=top_k,
        area=area,
    )
    function = document.source.function
    checked: MetricOptions = document.made("options", options.validated, function)
    document.made("options", resolve_metrics, function, None, counts, checked)
    return checked


def _metrics(document: Fields, options: MetricOptions, counts: ScoreCounts) -> RecoveredMetrics:
    fields = document.fields("metrics")
    names = [m.name for m in resolve_metrics(document.source.function, None, counts, options)]
    recovered, observed = fields.fields("recovered"), fields.fields("observed")
    return RecoveredMetrics(
        values_={name: recovered.number_or_nan(name) for name in names},
        observed={name: observed.number_or_nan(name) for name in names},
        threshold=fields.number("threshold"),
        prior=fields.number("prior", low=0, high=1),
        repair=fields.choice("repair", REPAIRS),
        options=options,
    )


def _curves(
    document: Fields, counts: ScoreCounts, proportions: MixtureProportions
) -> tuple[RecoveredRoc, RecoveredRoc]:
    repair, repair_pr = (document.choice(key, REPAIRS) for key in ("repair", "repair_pr"))
    if repair_pr not in {repair, "blend"}:
        raise document.wrong("repair_pr", f"{repair!r} or 'blend'")
    # The guard has spoken when the report was made; `repair` is what it left.
    roc = recover_roc(counts, proportions, repair=repair, concavity_guard=False)
    roc = replace(roc, repair_requested=document.choice("repair_requested", REPAIRS))
    if repair_pr == repair:
        return roc, roc
    isotonic = roc
    if repair != "isotonic":
        isotonic = recover_roc(counts, proportions)
    return roc, blended(isotonic, counts)


def _confusion(fields: Fields) -> RecoveredConfusion:
    numbers = {name: fields.number(name) for name in ("tp", "fp", "fn", "tn", "threshold")}
    return RecoveredConfusion(**numbers, among=fields.choice("among", ("unlabeled", "pooled")))


def _intervals(fields: Fields, known: tuple[str, ...]) -> dict[str, Interval]:
    """Intervals by name; names that this version does not know are left out."""
    return {name: read_interval(fields.fields(name)) for name in fields if name in known}


def read_interval(fields: Fields) -> Interval:
    """An interval, whose ends may be undefined."""
    numbers = {name: fields.number_or_nan(name) for name in ("estimate", "low", "high")}
    return Interval(
        **numbers,
        confidence_level=fields.number("confidence_level", low=0, high=1),
        method=fields.text("method"),
        varied=fields.choice("varied", get_args(Varied)),
    )


def _checks(document: Fields) -> tuple[CheckResult, ...]:
    found = []
    for i, item in enumerate(document.items("checks")):
        fields = Fields(document.source, item, f"checks[{i}]")
        found.append(
            CheckResult(
                code=fields.text("code"),
                title=fields.text("title"),
                severity=fields.choice("severity", get_args(Severity)),
                status=fields.choice("status", get_args(Status)),
                message=fields.text("message"),
                hint=fields.text("hint"),
            )
        )
    return tuple(found)


def _bootstrap(
    document: Fields, metrics: RecoveredMetrics, roc: RecoveredRoc
) -> KeptBootstrap | None:
    fields = document.optional("bootstrap")
    if fields is None:
        return None
    varied: Varied = fields.choice("varied", get_args(Varied))
    level = fields.number("confidence_level", low=0, high=1)
    estimates = {**metrics, "roc_auc": roc.auc_direct}
    if varied == "scores and proportions":
        estimates |= {name: getattr(roc.proportions, name) for name in PROPORTIONS}
    bands = {}
    for curve in ("roc", "pr"):
        band = fields.fields(f"{curve}_band")
        x, estimate = band.column("x"), band.column("estimate")
        for kind in KINDS:
            ends = band.fields(kind)
            low, high = ends.column("low"), ends.column("high")
            if not x.size == estimate.size == low.size == high.size:
                must = f"as long as its x ({x.size})"
                raise fields.source.complaint(f"{band.path}.{kind}", must, f"{low.size} values")
            bands[curve, kind] = CurveBand(
                x=x,
                estimate=estimate,
                low=low,
                high=high,
                confidence_level=level,
                kind=kind,
                varied=varied,
            )
    return KeptBootstrap(
        estimates=estimates,
        replicates={},
        n_resamples=fields.whole("n_resamples"),
        confidence_level=level,
        method=fields.text("method"),
        varied=varied,
        n_rejected=fields.whole("n_rejected"),
        _curves={},
        bands=bands,
    )


def _estimation(fields: Fields) -> PriorEstimate:
    spread, ends = fields.fields("spread"), fields.fields("identification")
    pairs = {name: spread.fields(name) for name in spread}
    # Not in documents of earlier versions.
    firm = fields.data.get("other_intervals", {})
    others = Fields(fields.source, firm, fields.at("other_intervals"))
    limits = {name: ends.column(name) for name in ends}
    for name, values in limits.items():
        if values.size != 2:
            raise ends.wrong(name, "a list of two numbers")
    texts = fields.items("notes")
    if not all(isinstance(text, str) for text in texts):
        raise fields.wrong("notes", "a list of texts")
    shares: dict[str, float | None] = {
        name: None if fields[name] is None else fields.number(name, low=0, high=1)
        for name in ("clean_p_value", "clean_probability")
    }
    flags = ("identifiable", "at_edge", "beta_estimated", "beta_given")
    return PriorEstimate(
        estimator=fields.text("estimator"),
        proportions=_proportions(fields),
        intervals=_intervals(fields.fields("intervals"), PROPORTIONS),
        spread={n: (pair.number("alpha"), pair.number("beta")) for n, pair in pairs.items()},
        other_intervals={n: _intervals(others.fields(n), PROPORTIONS) for n in others},
        identification={n: (float(low), float(high)) for n, (low, high) in limits.items()},
        notes=tuple(texts),
        clean_p_value=shares["clean_p_value"],
        clean_probability=shares["clean_probability"],
        n_rejected=fields.whole("n_rejected"),
        **{name: fields.flag(name) for name in flags},
    )


def _truth(document: Fields, metrics: RecoveredMetrics) -> TrueFigures | None:
    fields = document.optional("truth")
    if fields is None:
        return None
    values = fields.fields("metrics")
    curve = fields.fields("roc")
    # Only the first threshold is null: nothing reaches it.
    columns = [curve.column("fpr"), curve.column("tpr"), curve.column("thresholds", null=math.inf)]
    if len({column.size for column in columns}) > 1 or not np.isfinite(columns[:2]).all():
        must = "three lists of one length, without null in 'fpr' and 'tpr'"
        raise fields.wrong("roc", must)
    return TrueFigures(
        alpha=fields.number("alpha", low=0, high=1),
        beta=fields.number("beta", low=0, high=1),
        prior=fields.number("prior", low=0, high=1),
        metrics={name: values.number_or_nan(name) for name in metrics},
        roc=PURoc(fpr_pu=columns[0], tpr_pu=columns[1], thresholds=columns[2]),
    )
