"""`ScoreComparison`: reports of several models on the same rows, and how far apart they are."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from purecover._frames import make_frame
from purecover._frozen import FrozenDict
from purecover._json_text import json_text
from purecover._typing import FloatArray, IntArray
from purecover._validation import check_choice, show
from purecover.exceptions import InvalidInputError
from purecover.intervals._interval import Interval
from purecover.intervals._paired import BONFERRONI, difference_intervals
from purecover.intervals._paired_auc import RowwiseAuc
from purecover.proportions import MixtureProportions
from purecover.recovery._registry import METRICS
from purecover.report._report import PUReport

__all__ = ["ScoreComparison"]

SCHEMA = "purecover.comparison/1"
"""Name and version of what is written: fields may be added to it, none goes or turns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreComparison:
    """Everything :func:`compare_scores` found.

    Attributes
    ----------
    reports : mapping of str to PUReport
        A report of each score, all with the same alpha and beta.
    baseline : str
        The score that the others are compared with.
    differences : mapping of str to mapping of str to Interval
        By metric and score: the recovered value minus that of the baseline, with an interval
        from replicates that draw the same rows for both.
    better : mapping of str to mapping of str to float
        By metric and score: the share of replicates in which it is better than the baseline,
        ties counted one half. Neither a p-value nor the probability that it is better.
    estimated_from : str or None
        The score that alpha and beta were estimated from; None if they were given.
    confidence_level : float
        Nominal coverage of each interval.
    simultaneous : bool
        Whether the intervals of the differences in one metric hold all at once.
    n_resamples : int
        Number of replicates.
    random_state : int or None
        The seed, if there was one.
    """

    reports: Mapping[str, PUReport]
    baseline: str
    differences: Mapping[str, Mapping[str, Interval]]
    better: Mapping[str, Mapping[str, float]]
    estimated_from: str | None
    confidence_level: float
    simultaneous: bool
    n_resamples: int
    random_state: int | None
    _rows: PairedRows | None = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reports", FrozenDict(dict(self.reports)))
        for name in ("differences", "better"):
            inner = {key: FrozenDict(dict(value)) for key, value in getattr(self, name).items()}
            object.__setattr__(self, name, FrozenDict(inner))

    @property
    def names(self) -> tuple[str, ...]:
        """The scores, in the order given."""
        return tuple(self.reports)

    @property
    def proportions(self) -> MixtureProportions:
        """Alpha and beta, the same for all."""
        return self.reports[self.baseline].proportions

    def best(self, metric: str = "roc_auc") -> str | None:
        """The score with the best recovered value; None if the metric is undefined for all.

        The best of several is best partly by luck: see whether its difference from the others
        is more than that.

        Parameters
        ----------
        metric : str, default="roc_auc"
            Name of a metric.

        Returns
        -------
        str or None
            The name of the score, the first of equals.
        """
        check_choice("ScoreComparison.best", "metric", metric, self.differences)
        sign = 1 if METRICS[metric].greater_is_better else -1
        values = {name: sign * report.metrics[metric] for name, report in self.reports.items()}
        defined = {name: value for name, value in values.items() if not math.isnan(value)}
        return max(defined, key=lambda name: defined[name]) if defined else None

    def against(self, baseline: str) -> ScoreComparison:
        """The same comparison with another baseline; nothing is resampled again.

        Parameters
        ----------
        baseline : str
            Name of a score.

        Returns
        -------
        ScoreComparison
            Differences from that score.
        """
        check_choice("ScoreComparison.against", "baseline", baseline, self.reports)
        if self._rows is None:
            if baseline == self.baseline:
                return self
            raise InvalidInputError(
                "ScoreComparison.against needs the rows, which JSON does not hold; it only has "
                f"differences from {show(self.baseline)}.\nHint: compare the scores again"
            )
        differences, better = find_differences(
            self.reports,
            self._rows,
            baseline,
            level=self.confidence_level,
            simultaneous=self.simultaneous,
        )
        return replace(self, baseline=baseline, differences=differences, better=better)

    def frame(self, backend: Any = None) -> Any:
        """A row for each metric and score; see :meth:`ScoreCounts.frame`.

        ``low`` and ``high`` are the ends of the interval of the recovered value; ``difference``
        and its ends stand beside all scores but the baseline.
        """
        columns: dict[str, list[Any]] = {key: [] for key in _COLUMNS}
        nan = math.nan
        for metric, found in self.differences.items():
            for name, report in self.reports.items():
                own, gap = report.intervals.get(metric), found.get(name)
                row = (
                    metric,
                    name,
                    report.metrics.observed[metric],
                    report.metrics[metric],
                    *((nan, nan) if own is None else (own.low, own.high)),
                    *((nan, nan, nan) if gap is None else (gap.estimate, gap.low, gap.high)),
                    self.better.get(metric, {}).get(name, nan),
                )
                for key, value in zip(_COLUMNS, row, strict=True):
                    columns[key].append(value)
        arrays = {key: np.array(values) for key, values in columns.items()}
        return make_frame("ScoreComparison.frame", arrays, backend)

    def to_dict(self, *, curves: bool = False, counts: bool = False) -> dict[str, Any]:
        """Plain data, ready for JSON.

        Parameters
        ----------
        curves, counts : bool, default=False
            Whether the reports include curves and counted scores; see :meth:`PUReport.to_dict`.

        Returns
        -------
        dict
            Differences, shares and the report of each score. Fields may be added without a new
            version of the schema, so readers should pass over those they do not know.
        """
        return {
            "schema": SCHEMA,
            "version": sys.modules["purecover"].__version__,
            "scores": list(self.reports),
            "baseline": self.baseline,
            "estimated_from": self.estimated_from,
            "confidence_level": self.confidence_level,
            "simultaneous": self.simultaneous,
            "n_resamples": self.n_resamples,
            "random_state": self.random_state,
            "proportions": self.proportions.to_dict(),
            "differences": {
                metric: {name: interval.to_dict() for name, interval in found.items()}
                for metric, found in self.differences.items()
            },
            "better": {
                metric: {name: v if math.isfinite(v) else None for name, v in found.items()}
                for metric, found in self.better.items()
            },
            "reports": {
                name: report.to_dict(curves=curves, counts=counts)
                for name, report in self.reports.items()
            },
        }

    def to_json(self, *, curves: bool = False, counts: bool = False, indent: int | None = 2) -> str:
        """:meth:`to_dict` as strict JSON text."""
        return json_text(self.to_dict(curves=curves, counts=counts), indent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScoreComparison:
        """A comparison from plain data; see :meth:`from_json`.

        Parameters
        ----------
        data : mapping
            What :meth:`to_dict` made, with ``counts=True``.

        Returns
        -------
        ScoreComparison
            The comparison.
        """
        from purecover.report._read_comparison import read_comparison

        return read_comparison("ScoreComparison.from_dict", data)

    @classmethod
    def from_json(cls, text: str | bytes) -> ScoreComparison:
        """A comparison from JSON text.

        Parameters
        ----------
        text : str or bytes
            What :meth:`to_json` wrote, with ``counts=True``.

        Returns
        -------
        ScoreComparison
            The comparison, with the same figures. Replicates and rows are not kept, so that
            :meth:`against` knows no other baseline.
        """
        from purecover.report._read_comparison import read_comparison_text

        return read_comparison_text("ScoreComparison.from_json", text)

    def to_html(self) -> str:
        """A self-contained page with text and plots."""
        from purecover.html._compare_page import render_comparison

        return render_comparison(self)

    def __str__(self) -> str:
        from purecover.report._compare_text import render_comparison_text

        return render_comparison_text(self)

    def __repr__(self) -> str:
        areas = ", ".join(f"{name} {report.auc:.4f}" for name, report in self.reports.items())
        return f"ScoreComparison(auc: {areas}; baseline {self.baseline})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the text, as it prints."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


_COLUMNS = (
    "metric", "score", "observed", "recovered", "low", "high", "difference", "difference_low",
    "difference_high", "better",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PairedRows:
    """What differences need of the rows.

    Attributes
    ----------
    areas : mapping of str to RowwiseAuc
        The observed AUC of each score, row by row.
    ranks : mapping of str to ndarray of int
        The place of each row among the distinct scores.
    groups : ndarray of int or None
        Which rows depend on each other.
    """

    areas: Mapping[str, RowwiseAuc]
    ranks: Mapping[str, IntArray]
    groups: IntArray | None


Differences = dict[str, dict[str, Interval]]
Shares = dict[str, dict[str, float]]


def find_differences(
    reports: Mapping[str, PUReport],
    rows: PairedRows,
    baseline: str,
    *,
    level: float,
    simultaneous: bool,
) -> tuple[Differences, Shares]:
    """By metric and score: intervals of differences, and shares of replicates that are better."""
    base = reports[baseline]
    others = [name for name in reports if name != baseline]
    same = [np.array_equal(rows.ranks[name], rows.ranks[baseline]) for name in others]
    n_together = len(others) if simultaneous else 1
    differences: Differences = {}
    better: Shares = {}
    for metric in base.metrics:
        estimates = [_value(reports[n], metric) - _value(base, metric) for n in others]
        draws = _draws(reports, others, base, metric)
        found = difference_intervals(
            estimates,
            draws,
            level=level,
            method=_method(base),
            varied="scores" if base.estimation is None else "scores and proportions",
            simultaneous=simultaneous,
            same=same,
        )
        if metric == "roc_auc":
            found = [
                _area_interval(reports[name], rows, name, baseline, interval, n_together)
                for name, interval in zip(others, found, strict=True)
            ]
        differences[metric] = dict(zip(others, found, strict=True))
        sign = 1 if METRICS[metric].greater_is_better else -1
        if base.bootstrap is not None:
            shares = [_share(sign * draws[:, i]) for i in range(len(others))]
            better[metric] = dict(zip(others, shares, strict=True))
    return differences, better


def _value(report: PUReport, metric: str) -> float:
    # The direct AUC, whose difference is that of the observed ones over beta - alpha.
    return report.auc_direct if metric == "roc_auc" else report.metrics[metric]


def _draws(
    reports: Mapping[str, PUReport], others: list[str], base: PUReport, metric: str
) -> FloatArray:
    if base.bootstrap is None:
        return np.full((1, len(others)), math.nan)
    columns = []
    for name in others:
        replicates = reports[name].bootstrap
        assert replicates is not None  # noqa: S101 - all have them or none
        columns.append(replicates.replicates[metric] - base.bootstrap.replicates[metric])
    return np.stack(columns, axis=1)


def _method(base: PUReport) -> str:
    return "none" if base.bootstrap is None else f"bootstrap percentile, {base.bootstrap.method}"


def _share(gains: FloatArray) -> float:
    """Share of replicates with a gain, ties counted one half."""
    defined = gains[~np.isnan(gains)]
    if defined.size < 0.95 * gains.size:
        return math.nan
    return float(np.mean(defined > 0) + np.mean(defined == 0) / 2)


def _area_interval(
    report: PUReport,
    rows: PairedRows,
    name: str,
    baseline: str,
    by_replicates: Interval,
    n_together: int,
) -> Interval:
    r"""DeLong's interval of a difference through the linear map, where it applies.

    .. math:: A_1 - A_2 = (A_{pu,1} - A_{pu,2})/\Delta, \qquad se = se_{pu}/\Delta.
    """
    resampled = report.bootstrap is not None
    varies_proportions = report.estimation is not None and resampled
    if varies_proportions or (resampled and n_together > 1):
        return by_replicates
    from scipy.special import ndtri

    gain, error = rows.areas[name].gain_over(rows.areas[baseline], rows.groups)
    delta = report.proportions.delta
    level = by_replicates.confidence_level
    # Without replicates nothing says how the differences go together.
    reach = float(ndtri(1 - (1 - level) / 2 / n_together)) * error / delta
    method = "paired DeLong" if rows.groups is None else "paired DeLong, groups"
    if n_together > 1:
        method += f", {BONFERRONI}"
    if error == 0 and not np.array_equal(rows.ranks[name], rows.ranks[baseline]):
        reach = math.nan  # both separate all rows: too little data, not certainty
    return Interval(
        estimate=gain / delta,
        low=gain / delta - reach,
        high=gain / delta + reach,
        confidence_level=level,
        method=method,
        varied="scores",
    )
