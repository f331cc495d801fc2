"""Confidence intervals and bands, and intervals of the AUC without resampling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import FloatArray, OrNan
from purecover._validation import Frozen, check_choice, check_real, public
from purecover.counts import ScoreCounts
from purecover.proportions import MixtureProportions
from purecover.recovery.metrics import METRICS, Scope
from purecover.recovery.rates import check_data, observed_auc_ends

Varied = Literal["scores", "scores and proportions"]


LEVEL = partial(check_real, low=0, high=1, closed="neither", hint="0.95 means 95 %")
"""The check of a confidence level."""


def check_level(value: object) -> float:
    """Check that a confidence level is strictly between 0 and 1."""
    return LEVEL("confidence_level", value)


@dataclass(frozen=True, kw_only=True)
class Interval(Saved):
    """An estimate with its confidence interval and its origin.

    Attributes
    ----------
    estimate, low, high : float
        The value and the ends of its interval: both NaN where there is none, one infinite where
        only the other is known (null in JSON, which has no infinity).
    confidence_level : float
        Nominal coverage.
    method : str
        How the ends were found.
    varied : str
        What the interval takes as uncertain: ``"scores"`` (alpha and beta treated as exact)
        or ``"scores and proportions"``.
    scope : str
        What has the value: ``"rows"``, these very rows, or ``"population"``, what they are a
        sample of; see :meth:`Metric.scope`.
    """

    estimate: OrNan
    low: OrNan
    high: OrNan
    confidence_level: float
    method: str
    varied: Varied = "scores"
    scope: Scope = "population"

    def __post_init__(self) -> None:
        low = -math.inf if math.isnan(self.low) else self.low
        high = math.inf if math.isnan(self.high) else self.high
        if math.isinf(low) and math.isinf(high):  # which says nothing
            low = high = math.nan
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def width(self) -> float:
        """``high - low``."""
        return self.high - self.low

    def _around(self, estimate: float) -> Interval:
        """Return the interval around an estimate, extended to it if replicates do not reach it."""
        low, high = min(self.low, estimate), max(self.high, estimate)
        return replace(self, estimate=estimate, low=low, high=high)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return (
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] "
            f"({100 * self.confidence_level:g} %, {self.method}, varied: {self.varied})"
        )


TOO_WIDE = 0.75
"""Width of the interval of a metric from which on nothing shows its value."""


def hardly_known(intervals: Mapping[str, Interval]) -> tuple[str, ...]:
    """Return the metrics of at most 1 whose intervals are too wide for a value.

    Whatever people read shows a dash in place of it.
    """
    return tuple(
        name
        for name, each in intervals.items()
        if name in METRICS and METRICS[name].range[1] <= 1 and TOO_WIDE < each.width < math.inf
    )


def ends_of(interval: Interval | None, prefix: str = "") -> dict[str, float]:
    """Return both ends as cells of a table; NaN if there is no interval."""
    low, high = (math.nan, math.nan) if interval is None else (interval.low, interval.high)
    return {f"{prefix}low": low, f"{prefix}high": high}


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveBand(Saved, Frozen, Tabular, columns="x estimate low high"):
    """A confidence band around a curve.

    Attributes
    ----------
    x : ndarray of shape (n_grid,)
        False-positive rate (ROC) or recall (precision-recall).
    estimate, low, high : ndarray of shape (n_grid,)
        The curve and its band.
    confidence_level : float
        Nominal coverage.
    kind : {"pointwise", "simultaneous"}
        Whether the level is for each x, or for the whole curve at once.
    varied : str
        What was taken as uncertain; see :class:`Interval`.
    """

    x: FloatArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    confidence_level: float
    kind: Literal["pointwise", "simultaneous"]
    varied: Varied = "scores"


@public
def auc_interval(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    confidence_level: float = 0.95,
    method: Literal["logit", "wald"] = "logit",
) -> Interval:
    r"""Compute a confidence interval of the recovered AUC by DeLong's variance.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    confidence_level : float, default=0.95
        Nominal coverage.
    method : {"logit", "wald"}, default="logit"
        Whether the interval of the observed AUC is symmetric on the logit scale, which keeps
        it inside (0, 1), or on the plain one.

    Returns
    -------
    Interval
        Clipped to [0, 1].

    See Also
    --------
    bootstrap : Intervals of every metric, also with the error of estimated proportions.

    Notes
    -----
    :math:`se(A) = se(A_{pu})/\Delta`, with alpha and beta as exact. Where the labeled and unlabeled
    scores do not overlap, DeLong's variance is 0, which is false certainty; the score interval of
    Newcombe (2006) is used instead.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.intervals import auc_interval
    >>> scores = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
    >>> counts = ScoreCounts.from_scores(scores, [1, 1, 1, 0, 0, 0, 0, 0])
    >>> interval = auc_interval(counts, MixtureProportions(alpha=0.2))
    >>> round(interval.estimate, 4), round(interval.low, 4), interval.high
    (0.875, 0.2694, 1.0)
    """
    check_choice("method", method, ("logit", "wald"))
    level = check_level(confidence_level)
    check_data(counts, proportions)
    observed, delta = counts.auc_pu, proportions.delta
    low, high, label = observed_auc_ends(counts, level, method)
    ends = (0.5 + (np.array([observed, low, high]) - 0.5) / delta).clip(0, 1).tolist()
    named = dict(zip(("estimate", "low", "high"), ends, strict=True))
    return Interval(**named, confidence_level=level, method=label)
