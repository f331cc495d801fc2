"""`PUReport`: holds results, offers views of them, and is written and read as JSON.

The saved form is declared in :mod:`purecover.report.document`. Figures are taken as they were
written. Curves, which are as long as the data, are recovered again from the counts, by the same
algebra and the same repair.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from purecover import _validation as valid
from purecover._codec import (
    Source,
    document_text,
    json_schema,
    picked,
    plain,
    replacing,
    restored,
    written,
)
from purecover._inputs import rows_frame
from purecover._typing import FloatArray
from purecover._validation import Frozen, public
from purecover.checks import CheckResult
from purecover.counts import PURoc, ScoreCounts
from purecover.estimators.estimate import PriorEstimate
from purecover.exceptions import InvalidInputError
from purecover.intervals.interval import CurveBand, Interval, ends_of
from purecover.intervals.replicates import PROPORTIONS, BootstrapResult
from purecover.proportions import MixtureProportions
from purecover.recovery import metrics as formulas
from purecover.recovery.bounds import BinningBounds, binning_bounds
from purecover.recovery.curves import RecoveredPr, RecoveredRoc, blended, pr_from_roc, recover_roc
from purecover.recovery.metrics import MetricOptions, RecoveredConfusion, RecoveredMetrics
from purecover.recovery.rates import contradiction_of
from purecover.report.assumptions import Assumption, assumptions_of
from purecover.report.text import render_text

if TYPE_CHECKING:
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.report.document import (
        SavedBootstrap,
        SavedEnds,
        SavedEstimation,
        SavedReport,
        SavedTruth,
    )

# -- A report as plain data: what `PUReport.to_dict` and `PUReport.to_json` write ----------------


SCHEMA = "purecover.report/1"
"""Name and version of what is written."""

MAX_THRESHOLDS = 100_000
"""Counts with more distinct scores are only written if asked for."""

KINDS: tuple[Literal["pointwise", "simultaneous"], ...] = ("pointwise", "simultaneous")
"""The bands that are kept of each curve."""


def make_document(report: PUReport, *, curves: bool, counts: bool) -> dict[str, Any]:
    """All of a report but its replicates, as plain data."""
    from msgspec import UNSET

    from purecover.report.document import SavedBootstrap, SavedOptions, SavedReport

    drawn, truth = report.bootstrap, report.truth
    hidden = report.contradicted
    bands = {}
    if drawn is not None:
        bands = {name: _bands(getattr(drawn, name), hidden) for name in ("roc_band", "pr_band")}
    curve = None
    if truth is not None and counts:
        roc = truth.roc
        curve = {"fpr": roc.fpr_pu, "tpr": roc.tpr_pu, "thresholds": roc.thresholds}
    return written(
        SavedReport,
        report,
        schema=SCHEMA,
        # Not imported: the package's front stands above this layer, and is loaded already.
        version=sys.modules["purecover"].__version__,
        n_labeled=report.counts.n_labeled,
        n_unlabeled=report.counts.n_unlabeled,
        n_negative=report.counts.n_negative,
        n_thresholds=report.counts.n_thresholds,
        auc_repaired=report.roc.auc,
        repair=report.roc.repair,
        repair_requested=report.roc.repair_requested,
        repair_pr=report.pr.repair,
        area=report.pr.area,
        options=written(SavedOptions, report.metrics.options),
        bootstrap=None if drawn is None else written(SavedBootstrap, drawn, **bands),
        truth=None if truth is None else truth.to_dict() | {"roc": curve},
        counts=report.counts if counts else None,
        binning=UNSET if report.bounds is None else report.bounds,
        roc=report.roc if curves and not hidden else UNSET,
        pr=report.pr if curves and not hidden else UNSET,
        source=UNSET,  # of which only the command line knows
        checksum=UNSET,  # when it is complete
    )


def _bands(band: Callable[[Any], CurveBand], hidden: bool) -> dict[str, Any]:
    """Both bands of a curve, which share their x and the curve itself; nulls if hidden."""

    def shown(values: FloatArray) -> FloatArray:
        return np.full(values.size, math.nan) if hidden else values

    found: dict[str, CurveBand] = {kind: band(kind) for kind in KINDS}
    first = found["pointwise"]
    ends = {kind: {"low": shown(b.low), "high": shown(b.high)} for kind, b in found.items()}
    return {"x": first.x, "estimate": shown(first.estimate), **ends}


def check_title(title: object) -> str | None:
    """A heading for a page."""
    if title is not None and not isinstance(title, str):
        raise valid.bad_type("title", "a string", title)
    return title


def save_page(page: str, path: object) -> str:
    """Write a page to a file, if one is named."""
    if path is not None:
        if not isinstance(path, str | PathLike):
            raise valid.bad_type("path", "the name of a file", path)
        if not Path(path).absolute().parent.is_dir():
            raise valid.bad_value("path", "a file in a folder that exists", repr(str(path)))
        with replacing(Path(path)) as file:
            file.write(page.encode())
    return page


@public
def evidence_page(
    found: EvidenceThresholds, path: str | PathLike[str] | None = None, *, title: str | None = None
) -> str:
    """Thresholds of evidence as a self-contained page.

    Parameters
    ----------
    found : EvidenceThresholds
        What :func:`evidence_thresholds` gives.
    path : str or path-like, optional
        A file to write the page to.
    title : str, optional
        Heading of the page, such as the name of the score.

    Returns
    -------
    str
        The page as text: a table of scores, the likelihood ratio, and what the prior hides.

    Examples
    --------
    >>> from purecover import simulate
    >>> from purecover.intervals import evidence_thresholds
    >>> from purecover.report import evidence_page
    >>> sample = simulate.binormal(2.0).sample(500, 2000, alpha=0.1, random_state=0)
    >>> found = evidence_thresholds(
    ...     sample.counts, sample.proportions, n_resamples=20, random_state=0
    ... )
    >>> evidence_page(found).startswith("<!doctype html>")
    True
    """
    from purecover.html.page import render_evidence
    from purecover.intervals.evidence import EvidenceThresholds

    valid.check_instance(
        "found", found, EvidenceThresholds, "make it with evidence_thresholds(...)"
    )
    return save_page(render_evidence(found, title=check_title(title)), path)


# -- `PUReport`: holds results, offers views of them, computes nothing new -----------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class TrueFigures(Frozen):
    """What the same scores achieve against the true classes.

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

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return picked(self, "alpha", "beta", "prior", "metrics")


@dataclass(frozen=True, kw_only=True, eq=False)
class PUReport(Frozen):
    """Everything :func:`evaluate` found, and what follows from it, computed at the first look.

    Attributes
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    auc : float
        The headline: the direct AUC, clipped to [0, 1]. ``roc.auc`` is the area under the
        repaired curve. NaN where alpha and beta contradict the scores.
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
        All numbered checks, with a finding or without.
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
    contradicted : bool
        Whether alpha and beta contradict the scores by more than chance explains: no classifier has
        an observed AUC as far from 1/2 as these, less two standard errors. What rests on them is
        NaN then, in ``auc``, ``metrics``, ``confusion``, ``roc`` and ``pr``, or left out, as
        ``intervals`` and bands are; None in JSON, a dash in text and on pages. What was observed
        stays, and ``roc.fpr_raw`` and ``roc.tpr_raw`` show where rates leave the unit square.
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
    contradicted: bool
    scores_from: str | None = None

    @classmethod
    def _of(cls, source: Any, **known: Any) -> PUReport:
        """A report whose other fields are those of ``source``, asked when somebody looks."""
        report = object.__new__(cls)
        vars(report).update(known, _source=source)
        return report

    if not TYPE_CHECKING:  # who would take it that every name is there

        def __getattr__(self, name: str) -> Any:
            if name not in self.__dataclass_fields__ or "_source" not in vars(self):
                raise AttributeError(f"a report has no {name!r}")
            vars(self)[name] = getattr(vars(self)["_source"], name)
            return vars(self)[name]

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def auc_direct(self) -> float:
        """The direct AUC before clipping; outside [0, 1] if alpha and beta do not fit."""
        return self.roc.auc_direct

    @property
    def infeasible(self) -> bool:
        """Whether alpha and beta do not fit the scores: the direct AUC leaves [0, 1].

        Above 1 they fit as long as chance explains it (:attr:`contradicted`).
        """
        return self.contradicted or self.roc.auc_direct < 0

    def _auc_at(self, delta: float) -> float:
        """The AUC if beta - alpha were this."""
        return min(max(0.5 + (self.auc_pu - 0.5) / delta, 0.0), 1.0)

    @property
    def contradiction(self) -> str:
        """In what way alpha and beta contradict the scores, and what to do; empty if not."""
        if not self.contradicted:
            return ""
        told = contradiction_of(self.counts, self.proportions)
        return f"{told}; nothing that rests on them is shown."

    @property
    def bounds(self) -> BinningBounds | None:
        """Where AUC and AUC-PR of the exact scores lie, if scores were counted in bins."""
        if not self.counts.is_binned:
            return None
        used = None if self.contradicted else self.proportions
        return binning_bounds(self.counts, used, target=self.metrics.prior)

    @property
    def roc_band(self) -> CurveBand | None:
        """Pointwise band of the ROC curve, if there are replicates."""
        drawn = None if self.contradicted else self.bootstrap
        return None if drawn is None else drawn.roc_band()

    @property
    def pr_band(self) -> CurveBand | None:
        """Pointwise band of the precision-recall curve, if there are replicates."""
        drawn = None if self.contradicted else self.bootstrap
        return None if drawn is None else drawn.pr_band()

    @property
    def findings(self) -> tuple[CheckResult, ...]:
        """The checks that found something, by severity."""
        order = ("error", "warning", "note")
        found = [check for check in self.checks if check.fired]
        return tuple(sorted(found, key=lambda check: order.index(check.severity)))

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the figures rest on, whether the data support it, and what is left without it."""
        return assumptions_of(self)

    @public
    def frame(self, backend: Any = None) -> Any:
        """All metrics with intervals as a table; see :meth:`ScoreCounts.frame`."""
        rows = []
        for name, recovered in self.metrics.items():
            row = {"metric": name, "observed": self.metrics.observed[name], "recovered": recovered}
            row |= ends_of(self.intervals.get(name))
            if self.truth is not None:
                row["true"] = self.truth.metrics[name]
            rows.append(row)
        return rows_frame(rows, backend)

    @public
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
        valid.check_flag("curves", curves)
        if counts is not None:
            valid.check_flag("counts", counts)
        else:
            counts = self.counts.n_thresholds <= MAX_THRESHOLDS
        return make_document(self, curves=curves, counts=counts)

    @public
    def to_json(
        self, *, curves: bool = False, counts: bool | None = None, indent: int | None = 2
    ) -> str:
        """:meth:`to_dict` as strict JSON text, with every list of numbers on one line.

        Parameters
        ----------
        curves, counts : bool
            Whether curves and counted scores are written, too, as :meth:`to_dict` says.
        indent : int or None, default=2
            How far fields are moved in; None writes one line.

        Returns
        -------
        str
            The text, which :meth:`from_json` reads back, with a checksum.

        Examples
        --------
        >>> from purecover import PUReport, evaluate, simulate
        >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
        >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
        >>> str(PUReport.from_json(report.to_json())) == str(report)
        True
        """
        return document_text(self.to_dict(curves=curves, counts=counts), indent)

    @classmethod
    @public
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
        return read_document(report_source("data"), data)

    @classmethod
    @public
    def from_json(cls, text: str | bytes) -> PUReport:
        """Read a report written by :meth:`to_json`, or by the command line with ``--json``.

        Parameters
        ----------
        text : str or bytes
            The JSON text. Nothing in it is run, and a text that was changed or damaged since it
            was written is refused.

        Returns
        -------
        PUReport
            As from :meth:`from_dict`.
        """
        source = report_source("text")
        return read_document(source, source.parse(text))

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
        >>> PUReport.json_schema()["properties"]["schema"]["enum"]
        ['purecover.report/1']
        """
        from purecover.report.document import SavedReport

        return json_schema(SavedReport, "purecover:report:1")

    def to_markdown(self) -> str:
        """The report in Markdown, for an issue, a pull request or a wiki.

        Returns
        -------
        str
            A headline, warnings and notes, metrics with intervals, the unlabeled at the
            threshold, and the settings, with tables as GitHub and GitLab draw them. Names that
            came with the data cannot leave their cells.
        """
        from purecover.report.text import render_markdown

        return render_markdown(self)

    @public
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """A self-contained page with text and plots.

        Parameters
        ----------
        path : str or path-like, optional
            A file to write the page to.
        title : str, optional
            Heading of the page, such as the name of the model.

        Returns
        -------
        str
            The page as text.
        """
        from purecover.html import render_report

        return save_page(render_report(self, title=check_title(title)), path)

    @public
    def plot(self) -> Any:
        """Both curves, observed and recovered, with bands where there are replicates.

        Where alpha and beta contradict the scores, only what was observed is drawn.

        Needs matplotlib: ``pip install 'purecover[plot]'``.

        Returns
        -------
        matplotlib.figure.Figure
            The ROC and the precision-recall curve side by side.
        """
        from purecover.displays import RecoveredPrDisplay, RecoveredRocDisplay

        pyplot = valid.require("matplotlib.pyplot", extra="plot")
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 5), layout="constrained")
        RecoveredRocDisplay(self.roc, band=self.roc_band).plot(left)
        RecoveredPrDisplay(self.pr, band=self.pr_band).plot(right)
        if not self.contradicted and self.auc < min(self.auc_direct, 1.0) - 1e-9:
            figure.suptitle(f"With alpha as estimated; the cautious AUC is {self.auc:.2f}")
        return figure

    def __str__(self) -> str:
        return render_text(self)

    def __repr__(self) -> str:
        auc = f"{self.auc:.4f}"
        if self.infeasible:
            auc = f"infeasible ({self.auc_direct:.4f})"
        return (
            f"PUReport(auc={auc}, observed {self.auc_pu:.4f}, "
            f"alpha={self.proportions.alpha:.4g}, beta={self.proportions.beta:.4g}, "
            f"{self.counts!r})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the findings, the ROC curve and the main metrics."""
        from purecover.html.page import render_notebook

        return render_notebook(self)


# -- A report from plain data: what `PUReport.from_dict` and `PUReport.from_json` read -----------


_PAIRS_TOLERANCE = 1e-9  # of the observed AUC, which other machines may round otherwise


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptBootstrap(BootstrapResult):
    """What a document keeps of the replicates: how many there were, and the bands."""

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
    """A report that comes in by a parameter."""
    return Source(parameter, "a report", SCHEMA, "report.to_json()")


def read_document(source: Source, data: object) -> PUReport:
    """The report in plain data."""
    from purecover.report.document import SavedReport

    return read_report(source, source.read(SavedReport, data))


@public
def read_report(source: Source, saved: SavedReport) -> PUReport:
    """The report in a document."""
    counts = _counts(source, saved)
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
    roc, roc_pr = _curves(source, saved, counts)
    pr = pr_from_roc(roc_pr, counts, metrics.prior, options.area)
    return restored(
        PUReport,
        saved,
        counts=counts,
        auc=math.nan if saved.auc is None else saved.auc,
        roc=roc._withheld() if saved.contradicted else roc,
        pr=pr._withheld() if saved.contradicted else pr,
        metrics=metrics,
        intervals=_only(saved.intervals, names),
        bootstrap=_bootstrap(source, saved.bootstrap, metrics, roc),
        estimation=None if saved.estimation is None else _estimation(saved.estimation),
        truth=None if saved.truth is None else _truth(source, saved.truth, names),
    )


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


def _counts(source: Source, saved: SavedReport) -> ScoreCounts:
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


def _curves(
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


def _bootstrap(
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


def _estimation(saved: SavedEstimation) -> PriorEstimate:
    pairs = {name: (pair.alpha, pair.beta) for name, pair in saved.spread.items()}
    intervals = _only(saved.intervals, PROPORTIONS)
    return restored(PriorEstimate, saved, intervals=intervals, spread=pairs)


def _truth(source: Source, saved: SavedTruth, names: Iterable[str]) -> TrueFigures:
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
    return restored(TrueFigures, saved, metrics=metrics, roc=roc)
