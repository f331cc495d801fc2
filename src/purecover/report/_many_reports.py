"""`ManyReports`: one row for each task and score, those that could not be evaluated included."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from purecover._frames import make_frame
from purecover._frozen import FrozenDict
from purecover._json_text import json_text
from purecover._validation import bad_value, check_choice, check_integer, show
from purecover.intervals._interval import Interval
from purecover.proportions import MixtureProportions
from purecover.recovery._registry import METRICS
from purecover.report._report import PUReport

__all__ = ["ManyReports", "ManyRow"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ManyRow:
    """One task and one score in :class:`ManyReports`.

    Attributes
    ----------
    task : object
        The value of the column that names tasks, or the column of labels.
    score : str
        The column of scores.
    n_labeled, n_unlabeled : float
        Rows, or total weights.
    reason : str or None
        Why there are no figures; None if there are.
    proportions : MixtureProportions or None
        Alpha and beta.
    estimated_from : str or None
        The score that alpha and beta were estimated from; None if they were given.
    observed, recovered : mapping of str to float
        Metrics as seen, labeled against unlabeled, and recovered.
    intervals : mapping of str to Interval
        Intervals of recovered metrics, and of ``"alpha"`` and ``"beta"`` where they were
        estimated.
    threshold : float
        Where threshold metrics are taken.
    findings : tuple of (str, str)
        Code and severity of the checks that spoke, the gravest first.
    seed : int
        The seed of the bootstrap: ``evaluate(..., random_state=row.seed)`` draws the same.
    report : PUReport or None
        The whole report, if reports were to be kept.
    """

    task: Any
    score: str
    n_labeled: float
    n_unlabeled: float
    seed: int
    reason: str | None = None
    proportions: MixtureProportions | None = None
    estimated_from: str | None = None
    observed: Mapping[str, float] = field(default_factory=dict)
    recovered: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    threshold: float = math.nan
    findings: tuple[tuple[str, str], ...] = ()
    report: PUReport | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("observed", "recovered", "intervals"):
            object.__setattr__(self, name, FrozenDict(dict(getattr(self, name))))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        task = self.task if isinstance(self.task, (str, int, float, bool)) else str(self.task)
        return {
            "task": task,
            "score": self.score,
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "reason": self.reason,
            "proportions": None if self.proportions is None else self.proportions.to_dict(),
            "estimated_from": self.estimated_from,
            "threshold": _finite(self.threshold),
            "observed": {name: _finite(value) for name, value in self.observed.items()},
            "recovered": {name: _finite(value) for name, value in self.recovered.items()},
            "intervals": {name: found.to_dict() for name, found in self.intervals.items()},
            "findings": [{"code": code, "severity": how} for code, how in self.findings],
            "seed": self.seed,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class ManyReports:
    """Everything :func:`evaluate_many` found, a row for each task and score.

    Attributes
    ----------
    rows : tuple of ManyRow
        In order of task and then of score. A task that could not be evaluated has rows too,
        which say why.
    metrics : tuple of str
        The metrics of the table.
    confidence_level : float
        Nominal coverage asked for.
    simultaneous : {"bonferroni", "sidak"} or None
        How intervals of a metric were widened to hold for all rows at once, if they were.
    row_level : float
        Nominal coverage of a single interval; ``confidence_level`` unless ``simultaneous``.
    n_resamples : int
        Bootstrap replicates of each row.
    random_state : int or None
        The seed, if there was one.
    """

    rows: tuple[ManyRow, ...]
    metrics: tuple[str, ...]
    confidence_level: float
    simultaneous: str | None
    row_level: float
    n_resamples: int
    random_state: int | None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ManyRow]:
        return iter(self.rows)

    def __getitem__(self, key: tuple[Any, str]) -> ManyRow:
        """The row of a task and a score."""
        for row in self.rows:
            if (row.task, row.score) == key:
                return row
        must = "a pair of a task and a score, in brackets"
        hint = f"the first is {show((self.rows[0].task, self.rows[0].score))}"
        raise bad_value("ManyReports", "key", must, show(key), hint)

    @property
    def evaluated(self) -> tuple[ManyRow, ...]:
        """Rows with figures."""
        return tuple(row for row in self.rows if row.reason is None)

    @property
    def failed(self) -> tuple[ManyRow, ...]:
        """Rows without, which say why."""
        return tuple(row for row in self.rows if row.reason is not None)

    @property
    def reports(self) -> dict[tuple[Any, str], PUReport]:
        """Whole reports by task and score; empty unless they were to be kept."""
        return {(r.task, r.score): r.report for r in self.rows if r.report is not None}

    def top(self, n: int | None = None, metric: str = "roc_auc") -> tuple[ManyRow, ...]:
        """The rows with the best recovered values, the best first.

        The best of many is best partly by luck.

        Parameters
        ----------
        n : int, optional
            How many rows; all by default.
        metric : str, default="roc_auc"
            A metric of the table.

        Returns
        -------
        tuple of ManyRow
            Rows in which the metric is defined.
        """
        check_choice("ManyReports.top", "metric", metric, self.metrics)
        if n is not None:
            n = check_integer("ManyReports.top", "n", n, low=0)
        sign = -1 if METRICS[metric].greater_is_better else 1
        defined = [r for r in self.evaluated if not math.isnan(r.recovered[metric])]
        return tuple(sorted(defined, key=lambda row: sign * row.recovered[metric])[:n])

    def frame(self, backend: Any = None) -> Any:
        """All rows as a table; see :meth:`ScoreCounts.frame`.

        For each metric there are four columns: ``roc_auc`` (recovered), ``roc_auc_observed``,
        ``roc_auc_low`` and ``roc_auc_high``. ``findings`` lists codes of checks that spoke.
        """
        nan = math.nan
        columns: dict[str, list[Any]] = {
            "task": [row.task for row in self.rows],
            "score": [row.score for row in self.rows],
            "n_labeled": [row.n_labeled for row in self.rows],
            "n_unlabeled": [row.n_unlabeled for row in self.rows],
        }
        for name in ("alpha", "beta"):
            columns[name] = [getattr(row.proportions, name, nan) for row in self.rows]
            columns |= self._ends(name)
        for name in self.metrics:
            columns[name] = [row.recovered.get(name, nan) for row in self.rows]
            columns[f"{name}_observed"] = [row.observed.get(name, nan) for row in self.rows]
            columns |= self._ends(name)
        columns["threshold"] = [row.threshold for row in self.rows]
        columns["estimated_from"] = [row.estimated_from or "" for row in self.rows]
        columns["findings"] = [" ".join(code for code, _ in row.findings) for row in self.rows]
        columns["reason"] = [row.reason or "" for row in self.rows]
        columns["seed"] = [row.seed for row in self.rows]
        arrays = {name: np.array(values) for name, values in columns.items()}
        return make_frame("ManyReports.frame", arrays, backend)

    def _ends(self, name: str) -> dict[str, list[float]]:
        found = [row.intervals.get(name) for row in self.rows]
        return {
            f"{name}_low": [math.nan if i is None else i.low for i in found],
            f"{name}_high": [math.nan if i is None else i.high for i in found],
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; without the reports."""
        return {
            "schema": "purecover.many/1",
            "metrics": list(self.metrics),
            "confidence_level": self.confidence_level,
            "simultaneous": self.simultaneous,
            "row_level": self.row_level,
            "n_resamples": self.n_resamples,
            "random_state": self.random_state,
            "n_evaluated": len(self.evaluated),
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """:meth:`to_dict` as strict JSON text."""
        if indent is not None:
            indent = check_integer("ManyReports.to_json", "indent", indent, low=0, high=16)
        return json_text(self.to_dict(), indent)

    def __str__(self) -> str:
        from purecover.report._many_text import render_many_text

        return render_many_text(self)

    def __repr__(self) -> str:
        return f"ManyReports({len(self.evaluated):,} of {len(self.rows):,} rows evaluated)"

    def _repr_html_(self) -> str:
        """What a notebook shows: the text, as it prints."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
