"""`PUReport`: the result of `evaluate`, its views, and its saved form."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from purecover import _validation as valid
from purecover._codec import document_text, json_schema, written
from purecover._inputs import columns_of, row_frame
from purecover._typing import ArrayLike
from purecover._validation import Frozen, public
from purecover.checks.base import CheckResult
from purecover.checks.catalog import warnings_of_data
from purecover.counts import ScoreCounts
from purecover.estimators.estimate import PriorEstimate
from purecover.intervals.interval import CurveBand, Interval, ends_of, hardly_known
from purecover.intervals.replicates import BootstrapResult
from purecover.proportions import MixtureProportions
from purecover.recovery.bounds import BinningBounds, binning_bounds
from purecover.recovery.curves import RecoveredPr, RecoveredRoc
from purecover.recovery.hidden import HiddenPositives, recover_hidden
from purecover.recovery.metrics import RecoveredConfusion, RecoveredMetrics
from purecover.recovery.rates import contradiction_of, largest_alpha
from purecover.report import saving
from purecover.report.pages import Paged
from purecover.report.prices import Price, estimate_by_others

HARDER = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Values of theta for which metrics are shown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PUReport(Paged, Frozen):
    """The result of :func:`evaluate`.

    Attributes
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    auc : float
        The AUC at :attr:`alpha` and :attr:`beta`, clipped to [0, 1]. ``roc.auc`` is the area under
        the repaired curve. NaN where alpha and beta contradict the scores.
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
        Intervals by metric, and of ``"alpha"`` and ``"beta"`` where they are uncertain; each says
        what was varied.
    checks : tuple of CheckResult
        All numbered checks, with a finding or without.
    bootstrap : BootstrapResult or None
        The replicates, if there were any.
    estimation : PriorEstimate or None
        How alpha and beta were estimated; None if they were given.
    truth : TrueFigures or None
        True metrics, if the truth was given.
    threshold_chosen : bool
        Whether the caller named the threshold.
    random_state : int or None
        The seed, if there was one.
    scores_from : str or None
        How the scores were made, if :func:`evaluate_model` made them.
    review : int or None
        How many unlabeled rows the threshold was to flag, if the caller said so.
    prices : tuple of Price
        What the interval of the AUC would be with more knowledge, where alpha is estimated.
    at_least : dict of str to float
        Values that metrics of all positives should have at least, if the caller named some.
    contradicted : bool
        Whether alpha and beta contradict the scores by more than chance explains: no classifier has
        an observed AUC as far from 1/2 as these, less two standard errors. What depends on them is
        NaN then, in ``auc``, ``metrics``, ``confusion``, ``roc`` and ``pr``, or left out, as
        ``intervals`` and bands are; None in JSON, a dash in text and on pages. What was observed
        stays, and ``roc.fpr_raw`` and ``roc.tpr_raw`` show where rates leave the unit square.
    """

    _renderer = "render_report"

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
    truth: saving.TrueFigures | None
    threshold_chosen: bool
    random_state: int | None
    contradicted: bool
    scores_from: str | None = None
    review: int | None = None
    prices: tuple[Price, ...] = ()
    at_least: dict[str, float] = field(default_factory=dict)

    @property
    def alpha(self) -> float:
        """Share of positives among the unlabeled that every metric of the report uses."""
        return self.proportions.alpha

    @property
    def beta(self) -> float:
        """Share of positives among the labeled that every metric of the report uses."""
        return self.proportions.beta

    @property
    def threshold(self) -> float:
        """Where threshold metrics are taken: a row is flagged if its score is at least this."""
        return self.metrics.threshold

    @property
    def state(self) -> Literal["determined", "assumed", "estimated"]:
        """How alpha is known.

        ``"determined"``: given, or from judged rows; ``"assumed"``: estimated by a method that
        assumes that the highest scores are all positives; ``"estimated"``: from comparable data.
        """
        if self.estimation is None:
            return "determined"
        return "assumed" if self.estimation.n_alike is None else "estimated"

    @cached_property
    def largest_alpha(self) -> float:
        """The largest alpha that the scores allow, with sampling error.

        Where alpha was estimated, that of ``estimation.identification``; a given one that chance
        leaves possible is no larger.
        """
        found = self.estimation
        if found is not None and "alpha" in found.identification:
            return found.identification["alpha"][1]
        largest = largest_alpha(self.counts, self.beta)
        return largest if self.contradicted else max(largest, self.alpha)

    @cached_property
    def other_estimates(self) -> dict[str, tuple[float, float]]:
        """Alpha and beta by other estimators on the same scores; empty if they were given."""
        return {} if self.estimation is None else estimate_by_others(self.counts, self.estimation)

    @property
    def auc_direct(self) -> float:
        """The direct AUC before clipping; outside [0, 1] if alpha and beta do not fit."""
        return self.roc.auc_direct

    @property
    def hardly_known(self) -> tuple[str, ...]:
        """Metrics, and numbers of ``confusion``, whose intervals are too wide for a value.

        Text and pages show a dash in place of it.
        """
        return (*hardly_known(self.intervals), *self.confusion.hardly_known)

    @property
    def infeasible(self) -> bool:
        """Whether alpha and beta do not fit the scores: the direct AUC leaves [0, 1].

        Above 1 they fit as long as chance explains it (:attr:`contradicted`).
        """
        return self.contradicted or self.roc.auc_direct < 0

    @property
    def contradiction(self) -> str:
        """In what way alpha and beta contradict the scores, and what to do; empty if not."""
        if not self.contradicted:
            return ""
        told = contradiction_of(self.counts, self.proportions)
        return f"{told}; nothing that depends on them is shown."

    @cached_property
    def bounds(self) -> BinningBounds | None:
        """Bounds of the AUC of the exact scores; None if no bin contains several scores."""
        if not self.counts.is_binned:
            return None
        used = None if self.contradicted else self.proportions
        return binning_bounds(self.counts, used)

    @cached_property
    def roc_band(self) -> CurveBand | None:
        """Pointwise band of the ROC curve, if there are replicates."""
        drawn = None if self.contradicted else self.bootstrap
        return None if drawn is None else drawn.roc_band()

    @cached_property
    def pr_band(self) -> CurveBand | None:
        """Pointwise band of the precision-recall curve, if there are replicates."""
        drawn = None if self.contradicted else self.bootstrap
        return None if drawn is None else drawn.pr_band()

    @public
    def hidden(self, theta: ArrayLike = HARDER) -> HiddenPositives:
        r"""Metrics if hidden positives are harder than labeled ones.

        Parameters
        ----------
        theta : float or array-like, optional
            Probability that a labeled positive outranks a hidden one; 0.5 to 0.9 by default. It is
            0.5 if the labeled are a random sample of all positives, about 0.65 for records of
            species and for diseases that a doctor told people of.

        Returns
        -------
        HiddenPositives
            AUC and recall of positives like the labeled ones, of hidden positives and of all, at
            the alpha and beta and at the threshold of this report. Rates there are neither
            repaired nor corrected for the choice of the threshold.

        See Also
        --------
        recovery.tipping_theta : The theta at which a metric falls to a value.
        audit.judge_hidden : Theta from judged rows.
        """
        threshold = self.metrics.threshold
        return recover_hidden(self.counts, self.proportions, theta, threshold=threshold)

    @property
    def findings(self) -> tuple[CheckResult, ...]:
        """The checks that found something, by severity."""
        order = ("error", "warning", "note")
        found = [check for check in self.checks if check.fired]
        return tuple(sorted(found, key=lambda check: order.index(check.severity)))

    @property
    def warnings_of_data(self) -> tuple[CheckResult, ...]:
        """Errors and warnings that do not concern the threshold, for results without one."""
        return tuple(warnings_of_data(self.findings))

    @property
    def headline(self) -> tuple[str, ...]:
        """The answer in a few sentences: the AUC with its interval, alpha and the scope."""
        from purecover.documents.summary import headline

        return tuple(headline(self).lines)

    @public
    def frame(self, backend: Any = None) -> Any:
        """All metrics with intervals as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or module, optional
            The library of the data frame; the first of these that is installed by default.

        Returns
        -------
        data frame
            A row for each metric with ``observed``, ``recovered``, ``low``, ``high`` and, if the
            truth was given, ``true``.
        """
        rows = []
        for name, recovered in self.metrics.items():
            row = {"metric": name, "observed": self.metrics.observed[name], "recovered": recovered}
            row |= ends_of(self.intervals.get(name))
            if self.truth is not None:
                row["true"] = self.truth.metrics[name]
            rows.append(row)
        return row_frame(columns_of(rows), backend)

    @public
    def to_dict(self, *, counts: bool | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON; :meth:`from_dict` reads them back.

        Parameters
        ----------
        counts : bool, optional
            Whether to include the counted scores, without which the report cannot be read back.
            By default they are included up to 100,000 distinct scores.

        Returns
        -------
        dict
            Counts, proportions, metrics, intervals, bands, checks and, if known, the truth; all
            but the replicates. :meth:`json_schema` describes it.
        """
        from msgspec import UNSET

        from purecover.report.document import SavedBootstrap, SavedOptions, SavedReport

        if counts is not None:
            valid.check_flag("counts", counts)
        else:
            counts = self.counts.n_thresholds <= saving.MAX_THRESHOLDS
        drawn, truth, hidden = self.bootstrap, self.truth, self.contradicted
        bands = {}
        if drawn is not None:
            names = ("roc_band", "pr_band")
            bands = {name: saving.saved_bands(getattr(drawn, name), hidden) for name in names}
        curve = None
        if truth is not None and counts:
            roc = truth.roc
            curve = {"fpr": roc.fpr_pu, "tpr": roc.tpr_pu, "thresholds": roc.thresholds}
        return written(
            SavedReport,
            self,
            self.counts,
            self.roc,
            self.pr,
            schema=saving.SCHEMA,
            # Not imported: the package's front stands above this layer, and is loaded already.
            version=sys.modules["purecover"].__version__,
            auc_repaired=self.roc.auc,
            repair_pr=self.pr.repair,
            options=written(SavedOptions, self.metrics.options),
            bootstrap=None if drawn is None else written(SavedBootstrap, drawn, **bands),
            truth=None if truth is None else truth.to_dict() | {"roc": curve},
            counts=self.counts if counts else None,
            binning=UNSET if self.bounds is None else self.bounds,
            source=UNSET,  # of which only the command line knows
            checksum=UNSET,  # when it is complete
        )

    @public
    def to_json(self, *, counts: bool | None = None, indent: int | None = 2) -> str:
        """:meth:`to_dict` as strict JSON text, with every list of numbers on one line.

        Parameters
        ----------
        counts : bool, optional
            Whether counted scores are written, as :meth:`to_dict` says.
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
        return document_text(self.to_dict(counts=counts), indent)

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
            The same report: metrics, intervals, bands and checks as they were written, curves
            recovered again from the counts. Its replicates are gone.

        Raises
        ------
        InvalidInputError
            If a field is missing or wrong; the message names it.
        """
        return cls(**saving.read_fields(saving.report_source("data"), data))

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
        source = saving.report_source("text")
        return cls(**saving.read_fields(source, source.parse(text)))

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
            The answer, and the details folded below it, with tables as GitHub and GitLab draw
            them. Names that came with the data cannot leave their cells.
        """
        from purecover.documents.details import report_document
        from purecover.documents.markdown import render_markdown

        return render_markdown(report_document(self))

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
        return figure

    def details(self) -> str:
        """The rest of the report as text.

        Returns
        -------
        str
            All metrics, expected numbers, alpha and beta by other estimators and whatever the
            purity of both ends, assumptions, checks, settings and methods.
        """
        from purecover.documents.details import report_document
        from purecover.documents.text import text_of

        return text_of(report_document(self).sections)

    def __str__(self) -> str:
        from purecover.documents.details import report_text

        return report_text(self)

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
        """Return what a notebook shows: the findings, the ROC curve and the main metrics."""
        from purecover.html.page import render_notebook

        return render_notebook(self)
