"""`PUReport`: holds results, offers views of them, computes nothing new."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from purecover._frames import make_frame
from purecover.checks import CheckResult
from purecover.counts import ScoreCounts
from purecover.estimation._estimate import PriorEstimate
from purecover.intervals._interval import CurveBand, Interval
from purecover.intervals._replicates import BootstrapResult
from purecover.proportions import MixtureProportions
from purecover.recovery._confusion import RecoveredConfusion
from purecover.recovery._metrics import RecoveredMetrics
from purecover.recovery._pr import RecoveredPr
from purecover.recovery._roc import RecoveredRoc
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

    @property
    def auc_direct(self) -> float:
        """The direct AUC before clipping; outside [0, 1] if alpha and beta do not fit."""
        return self.roc.auc_direct

    @property
    def infeasible(self) -> bool:
        """Whether alpha and beta do not fit the scores: the direct AUC leaves [0, 1]."""
        return not 0 <= self.roc.auc_direct <= 1

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

    def to_dict(self, *, curves: bool = False) -> dict[str, Any]:
        """Plain data, ready for JSON.

        Parameters
        ----------
        curves : bool, default=False
            Whether to include both curves, which can be as long as the data.

        Returns
        -------
        dict
            Counts, proportions, metrics, intervals, checks and, if known, the truth.
        """
        out: dict[str, Any] = {
            "n_labeled": self.counts.n_labeled,
            "n_unlabeled": self.counts.n_unlabeled,
            "n_negative": self.counts.n_negative,
            "n_thresholds": self.counts.n_thresholds,
            "scores_from": self.scores_from,
            "proportions": self.proportions.to_dict(),
            "estimation": None if self.estimation is None else self.estimation.to_dict(),
            "auc": self.auc,
            "auc_direct": self.auc_direct,
            "infeasible": self.infeasible,
            "auc_pu": self.auc_pu,
            "auc_repaired": self.roc.auc,
            "repair": self.roc.repair,
            "area": self.pr.area,
            "metrics": self.metrics.to_dict(),
            "confusion": self.confusion.to_dict(),
            "intervals": {name: i.to_dict() for name, i in self.intervals.items()},
            "checks": [check.to_dict() for check in self.checks],
            "truth": None if self.truth is None else self.truth.to_dict(),
        }
        if curves:
            out["roc"], out["pr"] = self.roc.to_dict(), self.pr.to_dict()
        return out

    def to_json(self, *, curves: bool = False, indent: int | None = 2) -> str:
        """:meth:`to_dict` as strict JSON text."""
        return json.dumps(self.to_dict(curves=curves), indent=indent, allow_nan=False)

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
        """What a notebook shows: the text, as it prints."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"
