"""What an interval is: two ends, a level, and what was varied to get them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from purecover._frames import make_frame
from purecover._typing import FloatArray
from purecover._validation import check_real, read_only

__all__ = ["CurveBand", "Interval"]

Varied = Literal["scores", "scores and proportions"]


def check_level(function: str, value: object) -> float:
    """A confidence level strictly between 0 and 1."""
    return check_real(
        function,
        "confidence_level",
        value,
        low=0,
        high=1,
        closed="neither",
        hint="0.95 means 95 %",
    )


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate with its confidence interval and its origin.

    Attributes
    ----------
    estimate, low, high : float
        The value and the ends of its interval.
    confidence_level : float
        Nominal coverage.
    method : str
        How the ends were found.
    varied : str
        What the interval takes as uncertain: ``"scores"`` (alpha and beta treated as exact)
        or ``"scores and proportions"``.
    """

    estimate: float
    low: float
    high: float
    confidence_level: float
    method: str
    varied: Varied = "scores"

    @property
    def width(self) -> float:
        """``high - low``."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        numbers = {"estimate": self.estimate, "low": self.low, "high": self.high}
        return {
            **{k: v if math.isfinite(v) else None for k, v in numbers.items()},
            "confidence_level": self.confidence_level,
            "method": self.method,
            "varied": self.varied,
        }

    def __str__(self) -> str:
        return (
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] "
            f"({100 * self.confidence_level:g} %, {self.method}, varied: {self.varied})"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveBand:
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

    def __post_init__(self) -> None:
        for array in (self.x, self.estimate, self.low, self.high):
            read_only(array)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "x": self.x.tolist(),
            "estimate": self.estimate.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "confidence_level": self.confidence_level,
            "kind": self.kind,
            "varied": self.varied,
        }

    def frame(self, backend: Any = None) -> Any:
        """The band as a table; see :meth:`ScoreCounts.frame`."""
        columns = {"x": self.x, "estimate": self.estimate, "low": self.low, "high": self.high}
        return make_frame("CurveBand.frame", columns, backend)
