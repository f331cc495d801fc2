"""`PUReport`: holds results, offers views of them, and is written and read as JSON.

The fields are described by ``report-1.schema.json`` beside this file. Within one version of the
schema fields may be added; one that changes its meaning or goes away makes a new version.

Figures are taken as they were written. Curves, which are as long as the data, are recovered
again from the counts, by the same algebra and the same repair.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NoReturn, get_args

import numpy as np

from purecover._codec import json_text
from purecover._frames import make_frame
from purecover._typing import AreaRule, FloatArray
from purecover._validation import (
    FrozenDict,
    bad_type,
    bad_value,
    check_choice,
    check_flag,
    check_integer,
    show,
)
from purecover.checks import CheckResult
from purecover.checks.base import Severity, Status
from purecover.counts import ScoreCounts
from purecover.curves import PURoc, auc_pu
from purecover.estimators.base import PriorEstimate
from purecover.exceptions import InvalidInputError, PurecoverError
from purecover.intervals.interval import CurveBand, Interval, Varied
from purecover.intervals.replicates import PROPORTIONS, BootstrapResult
from purecover.proportions import SCENARIOS, MixtureProportions
from purecover.recovery.bounds import BinningBounds, binning_bounds
from purecover.recovery.metrics import (
    MetricOptions,
    RecoveredConfusion,
    RecoveredMetrics,
    resolve_metrics,
)
from purecover.recovery.pr import AREA_RULES, RecoveredPr, pr_from_roc
from purecover.recovery.roc import REPAIRS, RecoveredRoc, blended, recover_roc
from purecover.report.rows import TrueFigures
from purecover.report.text import render_text

# -- A report as plain data: what `PUReport.to_dict` and `PUReport.to_json` write ----------------


SCHEMA = "purecover.report/1"
"""Name and version of what is written."""

MAX_THRESHOLDS = 100_000
"""Counts with more distinct scores are only written if asked for."""

OPTIONS = ("f_beta", "cost_fn", "cost_fp", "max_fpr", "top_k")
"""Parameters of metrics that stand under one name; the area rule has a field of its own."""

KINDS: tuple[Literal["pointwise", "simultaneous"], ...] = ("pointwise", "simultaneous")
"""The bands that are kept of each curve."""


@cache
def _schema_text() -> str:
    return files("purecover.report").joinpath("report-1.schema.json").read_text(encoding="utf-8")


def read_schema() -> dict[str, Any]:
    """The JSON Schema of the documents, a new copy each time."""
    schema: dict[str, Any] = json.loads(_schema_text())
    return schema


def make_document(report: PUReport, *, curves: bool, counts: bool | None) -> dict[str, Any]:
    """All of a report but its replicates, as plain data."""
    if counts is None:
        counts = report.counts.n_thresholds <= MAX_THRESHOLDS
    found, options = report.estimation, report.metrics.options
    document: dict[str, Any] = {
        "schema": SCHEMA,
        # Not imported: the package's front stands above this layer, and is loaded already.
        "version": sys.modules["purecover"].__version__,
        "n_labeled": report.counts.n_labeled,
        "n_unlabeled": report.counts.n_unlabeled,
        "n_negative": report.counts.n_negative,
        "n_thresholds": report.counts.n_thresholds,
        "scores_from": report.scores_from,
        "proportions": report.proportions.to_dict(),
        "estimation": None if found is None else found.to_dict(),
        "auc": report.auc,
        "auc_direct": report.auc_direct,
        "infeasible": report.infeasible,
        "auc_pu": report.auc_pu,
        "auc_repaired": report.roc.auc,
        "repair": report.roc.repair,
        "repair_requested": report.roc.repair_requested,
        "repair_pr": report.pr.repair,
        "area": report.pr.area,
        "threshold_chosen": report.threshold_chosen,
        "options": {name: getattr(options, name) for name in OPTIONS},
        "random_state": report.random_state,
        "metrics": report.metrics.to_dict(),
        "confusion": report.confusion.to_dict(),
        "intervals": {name: i.to_dict() for name, i in report.intervals.items()},
        "checks": [check.to_dict() for check in report.checks],
        "bootstrap": None if report.bootstrap is None else _bootstrap(report.bootstrap),
        "truth": None if report.truth is None else _truth(report, counts=counts),
        "counts": report.counts.to_dict() if counts else None,
    }
    if (bounds := report.bounds) is not None:
        document["binning"] = bounds.to_dict()
    if curves:
        document["roc"], document["pr"] = report.roc.to_dict(), report.pr.to_dict()
    return document


def _bootstrap(result: BootstrapResult) -> dict[str, Any]:
    return {
        "n_resamples": result.n_resamples,
        "n_rejected": result.n_rejected,
        "confidence_level": result.confidence_level,
        "method": result.method,
        "varied": result.varied,
        "roc_band": _bands(result.roc_band("pointwise"), result.roc_band("simultaneous")),
        "pr_band": _bands(result.pr_band("pointwise"), result.pr_band("simultaneous")),
    }


def _bands(*bands: CurveBand) -> dict[str, Any]:
    """Both bands of a curve, which share their x and the curve itself."""
    first = bands[0]
    ends: dict[str, Any] = {
        str(band.kind): {"low": plain(band.low), "high": plain(band.high)} for band in bands
    }
    return {"x": plain(first.x), "estimate": plain(first.estimate), **ends}


def _truth(report: PUReport, *, counts: bool) -> dict[str, Any]:
    truth = report.truth
    assert truth is not None  # noqa: S101 - asked by the caller
    curve = None
    if counts:
        roc = truth.roc
        columns = {"fpr": roc.fpr_pu, "tpr": roc.tpr_pu, "thresholds": roc.thresholds}
        curve = {name: plain(column) for name, column in columns.items()}
    return {**truth.to_dict(), "roc": curve}


def plain(column: Any) -> list[float | None]:
    """A column as a list; what is not finite becomes None."""
    return [value if math.isfinite(value) else None for value in column.tolist()]


# -- `PUReport`: holds results, offers views of them, computes nothing new -----------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class PUReport:
    """Everything :func:`evaluate` found.

    Attributes
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    auc : float
        The headline: the direct AUC, clipped to [0, 1]. ``roc.auc`` is the area under the
        repaired curve.
    auc_pu : float
        The observed AUC.
    roc : RecoveredRoc
        The recovered ROC curve.
    pr : RecoveredPr
        The recovered precision-recall curve.
    metrics : RecoveredMetrics
        All metrics, recovered and observed.
    confusion : RecoveredConfusion
        Expected numbers of true and false predictions among the unlabeled at the threshold.
    intervals : dict of str to Interval
        Intervals by metric; each says what was varied.
    checks : tuple of CheckResult
        All numbered checks, whether they spoke or not.
    bootstrap : BootstrapResult or None
        The replicates, if there were any.
    estimation : PriorEstimate or None
        How alpha and beta were estimated; None if they were given.
    truth : TrueFigures or None
        True figures, if the truth was given.
    threshold_chosen : bool
        Whether the caller named the threshold.
    random_state : int or None
        The seed, if there was one.
    scores_from : str or None
        How the scores were made, if :func:`evaluate_model` made them.
    """

    counts: ScoreCounts
    proportions: MixtureProportions
    auc: float
    auc_pu: float
    roc: RecoveredRoc
    pr: RecoveredPr
    metrics: RecoveredMetrics
    confusion: RecoveredConfusion
    intervals: dict[str, Interval]
    checks: tuple[CheckResult, ...]
    bootstrap: BootstrapResult | None
    estimation: PriorEstimate | None
    truth: TrueFigures | None
    threshold_chosen: bool
    random_state: int | None
    scores_from: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "intervals", FrozenDict(self.intervals))

    @property
    def auc_direct(self) -> float:
        """The direct AUC before clipping; outside [0, 1] if alpha and beta do not fit."""
        return self.roc.auc_direct

    @property
    def infeasible(self) -> bool:
        """Whether alpha and beta do not fit the scores: the direct AUC leaves [0, 1]."""
        return not 0 <= self.roc.auc_direct <= 1

    @property
    def bounds(self) -> BinningBounds | None:
        """Where AUC and AUC-PR of the exact scores lie, if scores were counted in bins."""
        if not self.counts.is_binned:
            return None
        return binning_bounds(self.counts, self.proportions, target=self.metrics.prior)

    @property
    def roc_band(self) -> CurveBand | None:
        """Pointwise band of the ROC curve, if there are replicates."""
        return None if self.bootstrap is None else self.bootstrap.roc_band()

    @property
    def pr_band(self) -> CurveBand | None:
        """Pointwise band of the precision-recall curve, if there are replicates."""
        return None if self.bootstrap is None else self.bootstrap.pr_band()

    @property
    def findings(self) -> tuple[CheckResult, ...]:
        """The checks that spoke, the gravest first."""
        order = ("error", "warning", "note")
        spoke = [check for check in self.checks if check.fired]
        return tuple(sorted(spoke, key=lambda check: order.index(check.severity)))

    def frame(self, backend: Any = None) -> Any:
        """All metrics with intervals as a table; see :meth:`ScoreCounts.frame`."""
        import numpy as np

        names = list(self.metrics)
        nan = float("nan")
        ends = {n: self.intervals.get(n) for n in names}
        columns = {
            "metric": np.array(names),
            "observed": np.array([self.metrics.observed[n] for n in names]),
            "recovered": np.array([self.metrics[n] for n in names]),
            "low": np.array([nan if (i := ends[n]) is None else i.low for n in names]),
            "high": np.array([nan if (i := ends[n]) is None else i.high for n in names]),
        }
        if self.truth is not None:
            columns["true"] = np.array([self.truth.metrics[n] for n in names])
        return make_frame("PUReport.frame", columns, backend)

    def to_dict(self, *, curves: bool = False, counts: bool | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON; :meth:`from_dict` reads them back.

        Parameters
        ----------
        curves : bool, default=False
            Whether to include both curves, which can be as long as the data. They are not needed
            to read the report back.
        counts : bool, optional
            Whether to include the counted scores, without which the report cannot be read back.
            By default they are included up to 100,000 distinct scores.

        Returns
        -------
        dict
            Counts, proportions, metrics, intervals, bands, checks and, if known, the truth; all
            but the replicates. :meth:`json_schema` describes it.
        """
        check_flag("PUReport.to_dict", "curves", curves)
        if counts is not None:
            check_flag("PUReport.to_dict", "counts", counts)
        return make_document(self, curves=curves, counts=counts)

    def to_json(
        self, *, curves: bool = False, counts: bool | None = None, indent: int | None = 2
    ) -> str:
        """:meth:`to_dict` as strict JSON text, with every list of numbers on one line.

        Parameters
        ----------
        curves, counts
            As in :meth:`to_dict`.
        indent : int or None, default=2
            How far fields are moved in; None writes one line.

        Returns
        -------
        str
            The text, which :meth:`from_json` reads back.

        Examples
        --------
        >>> from purecover import PUReport, evaluate, simulate
        >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
        >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
        >>> str(PUReport.from_json(report.to_json())) == str(report)
        True
        """
        if indent is not None:
            indent = check_integer("PUReport.to_json", "indent", indent, low=0, high=16)
        return json_text(self.to_dict(curves=curves, counts=counts), indent)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PUReport:
        """Read a report written by :meth:`to_dict`.

        Parameters
        ----------
        data : dict
            The plain data, with counts.

        Returns
        -------
        PUReport
            The same report: figures, intervals, bands and checks as they were written, curves
            recovered again from the counts. Its replicates are gone.

        Raises
        ------
        InvalidInputError
            If a field is missing or wrong; the message names it.
        """
        return read_document(Source("PUReport.from_dict", "data"), data)

    @classmethod
    def from_json(cls, text: str | bytes) -> PUReport:
        """Read a report written by :meth:`to_json`, or by the command line with ``--json``.

        Parameters
        ----------
        text : str or bytes
            The JSON text. Nothing in it is run.

        Returns
        -------
        PUReport
            As from :meth:`from_dict`.
        """
        return read_text("PUReport.from_json", text)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of what :meth:`to_json` writes.

        Returns
        -------
        dict
            The schema, whose descriptions say what each field means.

        Examples
        --------
        >>> from purecover import PUReport
        >>> PUReport.json_schema()["properties"]["schema"]["const"]
        'purecover.report/1'
        """
        return read_schema()

    def to_markdown(self) -> str:
        """The report in Markdown, for an issue, a pull request or a wiki.

        Returns
        -------
        str
            A headline, the checks that spoke, metrics with intervals, the unlabeled at the
            threshold, and the settings, with tables as GitHub and GitLab draw them. Names that
            came with the data cannot leave their cells.
        """
        from purecover.report.text import render_markdown

        return render_markdown(self)

    def to_html(self) -> str:
        """A self-contained page with text and plots."""
        from purecover.html import render_report

        return render_report(self)

    def __str__(self) -> str:
        return render_text(self)

    def __repr__(self) -> str:
        return (
            f"PUReport(auc={self.auc:.4f}, observed {self.auc_pu:.4f}, "
            f"alpha={self.proportions.alpha:.4g}, beta={self.proportions.beta:.4g}, "
            f"{self.counts!r})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the findings, the ROC curve and the main metrics."""
        from purecover.html.notebook import render_notebook

        return render_notebook(self)


# -- Fields of a JSON document, taken one by one, with complaints that name the field ------------


AGAIN = "write the report again with report.to_json()"


@dataclass(frozen=True)
class Source:
    """Who reads, and the parameter the document came in by."""

    function: str
    parameter: str
    what: str = "a report"

    def complaint(self, field: str, must: str, got: str, hint: str = AGAIN) -> InvalidInputError:
        """What to say of a field."""
        must = f"{self.what} of purecover whose field {field!r} is {must}"
        return bad_value(self.function, self.parameter, must, got, hint)


def check_finite(source: Source, value: Any, path: str = "") -> None:
    """Complain of NaN and infinity, which JSON does not have but Python would let in."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise source.complaint(
                path, "free of NaN and infinity", str(value), "write null for what is undefined"
            )
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_finite(source, item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            if not isinstance(item, int):  # most of them, in counts
                check_finite(source, item, f"{path}[{i}]")


class Fields:
    """The fields of one object of a document; ``path`` says where it stands."""

    def __init__(self, source: Source, data: Any, path: str = "") -> None:
        self.source = source
        self.path = path
        if not isinstance(data, Mapping):
            raise source.complaint(path, "an object with fields", show(data))
        self.data = data

    def at(self, key: str) -> str:
        """The whole name of a field."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, must: str, hint: str = AGAIN) -> InvalidInputError:
        """What to say of a field that is there."""
        return self.source.complaint(self.at(key), must, show(self.data.get(key)), hint)

    def __getitem__(self, key: str) -> Any:
        if key not in self.data:
            raise self.source.complaint(self.at(key), "present", "none")
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def number(self, key: str, *, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number between two bounds, as it stands."""
        value = self[key]
        bounds = "" if low == -math.inf else f" between {low:g} and {high:g}"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(key, f"a number{bounds}")
        if not low <= value <= high or abs(value) > sys.float_info.max:
            raise self.wrong(key, f"a number{bounds}")
        return value

    def number_or_nan(self, key: str) -> float:
        """A number; null means undefined."""
        return math.nan if self[key] is None else self.number(key)

    def whole(self, key: str) -> int:
        """A whole number of at least 0."""
        value = self[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(key, "a whole number of at least 0")
        return value

    def text(self, key: str) -> str:
        """Some text."""
        value = self[key]
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def choice(self, key: str, choices: Collection[str]) -> Any:
        """One of a few words."""
        value = self[key]
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(key, "one of " + ", ".join(repr(choice) for choice in choices))
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self[key]
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self[key]
        if not isinstance(value, (list, tuple)):
            raise self.wrong(key, "a list")
        return list(value)

    def fields(self, key: str) -> Fields:
        """An object with fields of its own."""
        return Fields(self.source, self[key], self.at(key))

    def optional(self, key: str) -> Fields | None:
        """An object, or null."""
        return None if self[key] is None else self.fields(key)

    def column(self, key: str, *, null: float = math.nan) -> FloatArray:
        """A list of numbers, in which null means ``null``."""
        values = self.items(key)
        for i, value in enumerate(values):
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, (int, float))
            ):
                must = "a number or null"
                raise self.source.complaint(f"{self.at(key)}[{i}]", must, show(value))
        try:
            return np.array([null if v is None else v for v in values], dtype=np.float64)
        except OverflowError as error:
            raise self.wrong(key, "a list of numbers that doubles can hold") from error

    def made(self, key: str, make: Any, *args: Any, **kwargs: Any) -> Any:
        """What a class of ours makes of a field; its complaint becomes one of the field."""
        try:
            return make(*args, **kwargs)
        except PurecoverError as error:
            first, _, hint = str(error).partition("\n")
            must = "one that purecover could have written"
            told = f"{show(self.data.get(key))}: {first.rstrip('.')}"
            hint = hint.removeprefix("Hint: ") or AGAIN
            raise self.source.complaint(self.at(key), must, told, hint) from error


# -- A report from plain data: what `PUReport.from_dict` and `PUReport.from_json` read -----------


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
        bootstrap=_read_bootstrap(document, metrics, roc),
        estimation=None if found is None else _estimation(found),
        truth=_read_truth(document, metrics),
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


def _read_bootstrap(
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


def _read_truth(document: Fields, metrics: RecoveredMetrics) -> TrueFigures | None:
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
