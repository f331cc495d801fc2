"""What an interval is, and intervals of the AUC without resampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import FloatArray, OrNan
from purecover._validation import Frozen, check_choice, check_real, public
from purecover.counts import ScoreCounts, auc_pu_variance
from purecover.exceptions import ContradictionError, IdentifiabilityError
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import check_data, effective_sizes

Varied = Literal["scores", "scores and proportions"]


LEVEL = partial(check_real, low=0, high=1, closed="neither", hint="0.95 means 95 %")
"""The check of a confidence level."""


def check_level(value: object) -> float:
    """A confidence level strictly between 0 and 1."""
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
    """

    estimate: OrNan
    low: OrNan
    high: OrNan
    confidence_level: float
    method: str
    varied: Varied = "scores"

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
        """The interval of an estimate that replicates may not reach, which it then ends at."""
        low, high = min(self.low, estimate), max(self.high, estimate)
        return replace(self, estimate=estimate, low=low, high=high)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return (
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] "
            f"({100 * self.confidence_level:g} %, {self.method}, varied: {self.varied})"
        )


def ends_of(interval: Interval | None, prefix: str = "") -> dict[str, float]:
    """Both ends as cells of a table; NaN where there is no interval."""
    low, high = (math.nan, math.nan) if interval is None else (interval.low, interval.high)
    return {f"{prefix}low": low, f"{prefix}high": high}


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveBand(Saved, Frozen, Tabular):
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
        Whether the level holds at each x, or for the whole curve at once.
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

    def _columns(self) -> dict[str, Any]:
        return {"x": self.x, "estimate": self.estimate, "low": self.low, "high": self.high}


# -- Intervals for the AUC without resampling ----------------------------------------------------


@public
def auc_interval(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    confidence_level: float = 0.95,
    method: Literal["logit", "wald"] = "logit",
    delta_error: float | None = None,
) -> Interval:
    r"""Confidence interval of the recovered AUC, by DeLong's variance through the linear map.

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
    delta_error : float, optional
        Standard error of ``beta - alpha``, independent of the scores, if the proportions
        are not exact.

    Returns
    -------
    Interval
        Clipped to [0, 1].

    See Also
    --------
    bootstrap : Intervals of every metric.

    Notes
    -----
    :math:`se(A) = se(A_{pu})/\Delta`; with an uncertain :math:`\Delta`,
    :math:`Var(A) = Var(A_{pu})/\Delta^2 + (A_{pu}-1/2)^2\,Var(\Delta)/\Delta^4`. Where the
    labeled and unlabeled scores do not overlap, DeLong's variance is 0, which is false
    certainty; the score interval of Newcombe (2006) is used instead.

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
    from purecover._imports import ndtri  # scipy.stats takes a second to import

    check_choice("method", method, ("logit", "wald"))
    level = check_level(confidence_level)
    check_data(counts, proportions)
    variance, observed = auc_pu_variance(counts), counts.auc_pu
    z = float(ndtri(0.5 + level / 2))
    delta = proportions.delta
    label = f"DeLong, {method}"
    if not variance > 0:
        low, high = _newcombe(observed, *effective_sizes(counts), z)
        label = "Newcombe score"
        variance = ((high - low) / (2 * z)) ** 2
    elif method == "wald" or not 0 < observed < 1:
        reach = z * math.sqrt(variance)
        low, high = observed - reach, observed + reach
    else:
        center = math.log(observed / (1 - observed))
        reach = z * math.sqrt(variance) / (observed * (1 - observed))
        low, high = _expit(center - reach), _expit(center + reach)
    if delta_error is None:
        low, high = 0.5 + (low - 0.5) / delta, 0.5 + (high - 0.5) / delta
    else:
        delta_error = check_real("delta_error", delta_error, low=0, high=1)
        extra = abs(observed - 0.5) * delta_error / delta**2
        # Add the uncertainty of delta to each arm, so that the logit shape is kept.
        estimate = 0.5 + (observed - 0.5) / delta
        low = estimate - math.hypot((observed - low) / delta, z * extra)
        high = estimate + math.hypot((high - observed) / delta, z * extra)
    return Interval(
        estimate=min(max(0.5 + (observed - 0.5) / delta, 0.0), 1.0),
        low=min(max(low, 0.0), 1.0),
        high=min(max(high, 0.0), 1.0),
        confidence_level=level,
        method=label,
        varied="scores" if delta_error is None else "scores and proportions",
    )


_TWO_ERRORS = 0.9545
"""Confidence between two standard errors below and two above."""


def least_delta(counts: ScoreCounts) -> float:
    """The least beta - alpha that the observed AUC allows, two standard errors granted.

    No classifier has an observed AUC further above 1/2 than half of beta - alpha. One below 1/2
    says that labels or scores are the wrong way round, and nothing of alpha and beta.
    """
    seen = auc_interval(counts, MixtureProportions(0.0, 1.0), confidence_level=_TWO_ERRORS)
    return max(2 * seen.low - 1, 0.0)


def contradiction_of(counts: ScoreCounts, proportions: MixtureProportions) -> str:
    """What alpha and beta the scores allow at most, and what to do."""
    p, least = proportions, least_delta(counts)
    most = p.beta - least
    allowed = (
        f"with beta {p.beta:.4g}, alpha can be at most {math.floor(most * 1e4) / 1e4:.4g}"
        if most >= 0
        else f"beta must be at least {math.ceil(least * 1e4) / 1e4:.4g}"
    )
    correct = "Correct beta"
    if p.origin == "given":
        correct = "Correct alpha or beta, or leave alpha out to have it estimated"
    elif "audit" in p.origin:
        correct = (
            "See whether the judged rows were drawn at random and judged right, and whether labels "
            "went to positives at random"
        )
    return (
        f"alpha {p.alpha:.4g} and beta {p.beta:.4g} contradict these scores: if the labeled are a "
        f"random sample of all positives, their observed AUC of {counts.auc_pu:.4f} needs a beta - "
        f"alpha of at least {least:.3g}, even if chance has helped, and it is {p.delta:.3g}; "
        f"{allowed}. {correct}; nothing that rests on them is shown."
    )


def check_agreement(counts: ScoreCounts, given: MixtureProportions | None) -> None:
    """Refuse scores the wrong way round, and given alpha and beta that they contradict."""
    if counts.auc_pu <= 0.5:
        raise IdentifiabilityError(
            "{function} needs labeled examples that score higher than the unlabeled, got an "
            f"observed AUC of {counts.auc_pu:.3f}.",
            hint="larger scores must mean more positive; negate them if it is the other way",
        )
    if given is not None and least_delta(counts) > given.delta:
        raise ContradictionError(f"{{function}}: {contradiction_of(counts, given)}")


def _newcombe(auc: float, n_labeled: float, n_unlabeled: float, z: float) -> tuple[float, float]:
    """Newcombe's fifth method: invert a score test with Hanley and McNeil's variance."""
    extra = (n_labeled + n_unlabeled) / 2 - 1

    def gap(theta: float) -> float:
        shape = 1 + extra * (1 - theta) / (2 - theta) + extra * theta / (1 + theta)
        return (auc - theta) ** 2 - z**2 * theta * (1 - theta) * shape / (n_labeled * n_unlabeled)

    low = 0.0 if auc == 0 else _root(gap, 1e-15, auc - 1e-12)
    high = 1.0 if auc == 1 else _root(gap, auc + 1e-12, 1 - 1e-15)
    return low, high


def _root(gap: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign, by bisection: ``scipy.optimize`` is slow to import."""
    rising = gap(low) < 0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (gap(middle) < 0) == rising else (low, middle)
    return (low + high) / 2


def _expit(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
