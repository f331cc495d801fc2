"""Estimates of alpha and beta as dots on one axis from 0 to 1, one row per estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from purecover.estimation._estimate import PriorEstimate
    from purecover.report._truth import TrueFigures

__all__ = ["DotChart", "DotRow", "make_dots"]

LEFT, TOP, SIZE, ROW = 155.0, 8.0, 290.0, 26.0
"""Room for names, for the first row, length of the axis, height of a row."""

_LONGEST = 21
_FIFTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class DotRow:
    """One estimator; bars are the ends of intervals."""

    name: str
    y: str
    alpha: str
    beta: str
    bars: tuple[tuple[str, str], ...]
    used: bool


@dataclass(frozen=True)
class DotChart:
    """All that the template needs to draw the dots."""

    rows: tuple[DotRow, ...]
    true: tuple[str, ...]
    description: str
    left: float = LEFT
    top: float = TOP
    size: float = SIZE
    width: float = LEFT + SIZE + 14

    @property
    def bottom(self) -> float:
        """Where the axis lies."""
        return TOP + ROW * len(self.rows)

    @property
    def height(self) -> float:
        """Room for rows, axis and legend."""
        return self.bottom + 48

    @property
    def ticks(self) -> tuple[tuple[str, str], ...]:
        """Place and text of each mark of the axis."""
        return tuple((_x(value), f"{value:.1f}") for value in _FIFTHS)


def make_dots(estimation: PriorEstimate, truth: TrueFigures | None) -> DotChart:
    """The estimator in use first, the others below it."""
    pairs = {estimation.estimator: _pair(estimation), **estimation.others}
    rows = []
    for i, (name, (alpha, beta)) in enumerate(pairs.items()):
        used = i == 0
        known = estimation.intervals if used else estimation.other_intervals.get(name, {})
        ends = [known.get(key) for key in ("alpha", "beta")]
        rows.append(
            DotRow(
                name=name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…",
                y=f"{TOP + ROW * (i + 0.5):.1f}",
                alpha=_x(alpha),
                beta=_x(beta),
                bars=tuple((_x(e.low), _x(e.high)) for e in ends if e and math.isfinite(e.low)),
                used=used,
            )
        )
    listed = ", ".join(
        f"{name} {alpha:.3f} and {beta:.3f}" for name, (alpha, beta) in pairs.items()
    )
    return DotChart(
        rows=tuple(rows),
        true=() if truth is None else (_x(truth.alpha), _x(truth.beta)),
        description=f"Alpha and beta by estimator: {listed}.",
    )


def _pair(estimation: PriorEstimate) -> tuple[float, float]:
    return estimation.proportions.alpha, estimation.proportions.beta


def _x(value: float) -> str:
    return f"{LEFT + SIZE * value:.1f}"
