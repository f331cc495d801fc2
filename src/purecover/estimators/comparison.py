"""Results of a comparison of estimators: a row for each, a table in print."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from purecover._codec import Saved, plain_fields
from purecover._inputs import Tabular
from purecover._validation import Frozen, FrozenDict
from purecover.intervals.interval import Interval
from purecover.proportions import MixtureProportions

QUANTITIES = ("alpha", "beta", "delta")
"""Estimated quantities; delta is beta - alpha, by which recovery divides."""

_HEADS = {"alpha": "alpha", "beta": "beta", "delta": "beta - alpha"}
_WIDTH = 100
_NUMBER, _ENDS, _SECONDS = 8, 17, 8
"""Least widths of columns: a share, the ends of its interval, a time."""


@dataclass(frozen=True, kw_only=True)
class PriorRow(Saved, Frozen):
    """Estimate of one estimator in a comparison.

    Attributes
    ----------
    name : str
        Its name in :func:`prior_estimators`, or the one it was given.
    proportions : MixtureProportions or None
        The estimate; None if there is none.
    intervals : mapping of str to Interval
        Intervals of ``"alpha"``, ``"beta"`` and ``"delta"``; empty if none were asked for.
    notes : tuple of str
        Sentences to read with the estimate.
    error : str or None
        Why there is no estimate.
    seconds : float
        Time of the fit, without the interval.
    is_default : bool
        Whether it is the default estimator.
    """

    name: str
    proportions: MixtureProportions | None = None
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    error: str | None = None
    seconds: float = math.nan
    is_default: bool = False

    def value(self, quantity: str) -> float:
        """Alpha, beta or delta; NaN if there is no estimate."""
        return math.nan if self.proportions is None else float(getattr(self.proportions, quantity))

    def ends(self, quantity: str) -> tuple[float, float]:
        """The ends of its interval; NaN if there is none."""
        interval = self.intervals.get(quantity)
        return (math.nan, math.nan) if interval is None else (interval.low, interval.high)


@dataclass(frozen=True, kw_only=True)
class PriorComparison(Tabular):
    """Estimates of alpha and beta by several methods, from :func:`compare_priors`.

    Iterates over its rows; ``comparison["bbe"]`` is the row of that name.

    Attributes
    ----------
    rows : tuple of PriorRow
        One for each estimator.
    n_labeled, n_unlabeled, n_thresholds : float and int
        Examples (or total weights) and distinct scores they were estimated from.
    beta : float or None
        The beta that was given, 1 for clean labels; None if beta was estimated.
    confidence_level : float
        Nominal coverage of the intervals.
    n_resamples : int
        Bootstrap replicates of each interval; 0 if there are no intervals.
    notes : tuple of str
        Sentences to read with the whole table.
    """

    rows: tuple[PriorRow, ...]
    n_labeled: float
    n_unlabeled: float
    n_thresholds: int
    beta: float | None = None
    confidence_level: float = 0.95
    n_resamples: int = 0
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[PriorRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> PriorRow:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name!r}; the rows are {', '.join(row.name for row in self.rows)}")

    @property
    def succeeded(self) -> tuple[PriorRow, ...]:
        """The rows that have an estimate."""
        return tuple(row for row in self.rows if row.proportions is not None)

    @property
    def default(self) -> PriorRow | None:
        """The row of the default estimator, if it is among them."""
        return next((row for row in self.rows if row.is_default), None)

    @property
    def spread(self) -> Mapping[str, float]:
        """Greatest difference between two estimates of alpha, beta and delta.

        NaN where fewer than two estimators have an estimate.
        """
        found = {each: [row.value(each) for row in self.succeeded] for each in QUANTITIES}
        few = len(self.succeeded) < 2
        return FrozenDict({k: math.nan if few else max(v) - min(v) for k, v in found.items()})

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, list[Any]] = {"estimator": [row.name for row in self.rows]}
        for quantity in QUANTITIES:
            columns[quantity] = [row.value(quantity) for row in self.rows]
            columns[f"{quantity}_low"] = [row.ends(quantity)[0] for row in self.rows]
            columns[f"{quantity}_high"] = [row.ends(quantity)[1] for row in self.rows]
        columns["seconds"] = [row.seconds for row in self.rows]
        columns["is_default"] = [row.is_default for row in self.rows]
        columns["notes"] = ["; ".join(row.notes) for row in self.rows]
        columns["error"] = [row.error or "" for row in self.rows]
        return {name: np.array(values) for name, values in columns.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        default = None if self.default is None else self.default.name
        document = plain_fields(self, "spread", default=default)
        document["estimators"] = document.pop("rows")
        return document

    def __str__(self) -> str:
        lines = [*_wrapped([self._data_line()]), "", *self._table(), "", *_wrapped(self._words())]
        return "\n".join(lines)

    def __repr__(self) -> str:
        names = ", ".join(row.name for row in self.rows)
        return f"PriorComparison({len(self.succeeded)} of {len(self)} estimates: {names})"

    def _data_line(self) -> str:
        parts = [f"{self.n_labeled:,.10g} labeled", f"{self.n_unlabeled:,.10g} unlabeled"]
        many = "" if self.n_thresholds == 1 else "s"
        parts.append(f"{self.n_thresholds:,} distinct score{many}")
        known = "labels taken for clean" if self.beta == 1 else f"beta = {self.beta} given"
        return f"{', '.join(parts)}; {'beta estimated too' if self.beta is None else known}"

    def _table(self) -> list[str]:
        wide = max([len(row.name) for row in self.rows], default=0) + 2
        # Beta and delta say nothing new where beta is known.
        shown = QUANTITIES if self.beta is None else QUANTITIES[:1]
        level = f"{100 * self.confidence_level:g} % interval"
        head = " " * wide
        widths = {quantity: max(_NUMBER, len(_HEADS[quantity]) + 2) for quantity in shown}
        for quantity in shown:
            head += f"{_HEADS[quantity]:>{widths[quantity]}}"
            if self.n_resamples:
                head += f"{level:>{_ENDS}}"
        lines = [f"{head}{'seconds':>{_SECONDS}}"]
        for row in self.rows:
            text = f"{'* ' if row.is_default else '  '}{row.name}"
            text = f"{text:<{wide}}"
            if row.proportions is None:
                lines.append(f"{text}   no estimate, see below")
                continue
            for quantity in shown:
                text += f"{row.value(quantity):>{widths[quantity]}.4f}"
                if self.n_resamples:
                    low, high = row.ends(quantity)
                    ends = "none" if math.isnan(low) else f"[{low:.4f}, {high:.4f}]"
                    text += f"{ends:>{_ENDS}}"
            lines.append(f"{text}{row.seconds:>{_SECONDS}.3f}")
        return lines

    def _words(self) -> list[str]:
        texts = []
        if self.default is not None:
            texts.append("* the default estimator")
        found = len(self.succeeded)
        if found > 1:
            alphas = [row.value("alpha") for row in self.succeeded]
            delta = f", of beta - alpha by {self.spread['delta']:.4f}"
            texts.append(
                f"{found} estimates of alpha (median {np.median(alphas):.4f}) differ by "
                f"{self.spread['alpha']:.4f}" + (delta if self.beta is None else "")
            )
        elif not found:
            texts.append("no estimator finds alpha and beta")
        texts += self.notes
        remarks: dict[str, list[str]] = {}
        for row in self.rows:
            for said in row.notes if row.error is None else row.error.splitlines()[:1]:
                remarks.setdefault(said, []).append(row.name)
        return texts + [f"{self._who(names)}: {said}" for said, names in remarks.items()]

    def _who(self, names: list[str]) -> str:
        """Name the estimators of a remark; ten names are harder to read than the missing one."""
        silent = [row.name for row in self.rows if row.name not in names]
        if len(names) > 2 and len(silent) < 2:
            return " but ".join(["all", *silent])
        return ", ".join(names)


def _wrapped(texts: list[str]) -> list[str]:
    # Names of estimators have hyphens, and none ends a line in the middle of one.
    wrapper = textwrap.TextWrapper(_WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return [line for text in texts for line in wrapper.wrap(text)]
