"""`PUReport`: holds results, offers views of them, computes nothing new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from purecover._frames import make_frame
from purecover._frozen import FrozenDict
from purecover._json_text import json_text
from purecover._validation import check_flag, check_integer
from purecover.checks import CheckResult
from purecover.counts import ScoreCounts
from purecover.estimation._estimate import PriorEstimate
from purecover.intervals._interval import CurveBand, Interval
from purecover.intervals._replicates import BootstrapResult
from purecover.proportions import MixtureProportions
from purecover.recovery._binning import BinningBounds, binning_bounds
from purecover.recovery._confusion import RecoveredConfusion
from purecover.recovery._metrics import RecoveredMetrics
from purecover.recovery._pr import RecoveredPr
from purecover.recovery._roc import RecoveredRoc
from purecover.report._json import make_document, read_schema
from purecover.report._text import render_text
from purecover.report._truth import TrueFigures

__all__ = ["PUReport"]


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
        from purecover.report._fields import Source
        from purecover.report._read_json import read_document

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
        from purecover.report._read_json import read_text

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
        from purecover.report._markdown import render_markdown

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
        from purecover.html._notebook import render_notebook

        return render_notebook(self)
