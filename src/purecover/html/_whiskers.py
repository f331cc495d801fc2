"""Differences from a baseline as dots with whiskers, one row per model."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from purecover.intervals._interval import Interval

__all__ = ["WhiskerChart", "WhiskerRow", "make_whiskers", "shortened"]

LEFT, TOP, SIZE, ROW, RIGHT = 130.0, 8.0, 260.0, 26.0, 24.0
"""Room for names, for the first row, length of the axis, height of a row, room at the right."""

_LONGEST = 17
_CONTROLS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))
_TURNING = _CONTROLS | {"R", "AL", "AN"}
"""Classes of characters that change the direction of text, their own and that around them."""
_MOST_TICKS = 4


@dataclass(frozen=True)
class WhiskerRow:
    """One model; ``kind`` is its class in the style sheet, a dot is None if undefined."""

    name: str
    kind: str
    y: str
    dot: str | None
    ends: tuple[str, str] | None


@dataclass(frozen=True)
class WhiskerChart:
    """All that the template needs to draw the differences in one metric."""

    metric: str
    name: str
    title: str
    description: str
    rows: tuple[WhiskerRow, ...]
    ticks: tuple[tuple[str, str], ...]
    zero: str
    left: float = LEFT
    top: float = TOP
    size: float = SIZE
    width: float = LEFT + SIZE + RIGHT

    @property
    def bottom(self) -> float:
        """Where the axis lies."""
        return TOP + ROW * len(self.rows)

    @property
    def height(self) -> float:
        """Room for rows, axis and its label."""
        return self.bottom + 42


def make_whiskers(
    name: str, title: str, found: Mapping[str, Interval], kinds: Mapping[str, str], baseline: str
) -> WhiskerChart:
    """The differences in one metric, on an axis that holds 0 and all that is defined."""
    values = [v for i in found.values() for v in (i.estimate, i.low, i.high) if math.isfinite(v)]
    low, high = min([0.0, *values]), max([0.0, *values])
    if low == high:
        low, high = -0.01, 0.01
    margin = 0.05 * (high - low)
    low, high = low - margin, high + margin

    def x(value: float) -> str:
        return f"{LEFT + SIZE * (value - low) / (high - low):.1f}"

    rows = []
    for i, (model, interval) in enumerate(found.items()):
        bounded = math.isfinite(interval.low) and math.isfinite(interval.high)
        rows.append(
            WhiskerRow(
                name=shortened(model, _LONGEST),
                kind=kinds[model],
                y=f"{TOP + ROW * (i + 0.5):.1f}",
                dot=x(interval.estimate) if math.isfinite(interval.estimate) else None,
                ends=(x(interval.low), x(interval.high)) if bounded else None,
            )
        )
    listed = "; ".join(f"{model} {_words(interval)}" for model, interval in found.items())
    return WhiskerChart(
        metric=name,
        name=f"difference-{name}",
        title=f"Difference in {title}",
        description=f"{title} minus that of {baseline}: {listed}.",
        rows=tuple(rows),
        ticks=tuple((x(value), label) for value, label in _ticks(low, high)),
        zero=x(0.0),
    )


def shortened(name: str, longest: int) -> str:
    """A name that fits, with a sign that it was longer, and that turns no text around it."""
    short = name if len(name) <= longest else f"{name[: longest - 1]}…"
    kinds = [unicodedata.bidirectional(letter) for letter in short]
    if _TURNING.isdisjoint(kinds):
        return short
    kept = (letter for letter, kind in zip(short, kinds, strict=True) if kind not in _CONTROLS)
    return f"\u2068{''.join(kept)}\u2069"


def _words(interval: Interval) -> str:
    if not math.isfinite(interval.estimate):
        return "undefined"
    if not math.isfinite(interval.low):
        return f"{interval.estimate:+.4f}"
    return f"{interval.estimate:+.4f}, from {interval.low:+.4f} to {interval.high:+.4f}"


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round values between two, as few as can be read."""
    power = 10.0 ** math.floor(math.log10((high - low) / _MOST_TICKS))
    steps = (factor * power for factor in (1, 2, 2.5, 5, 10, 20))
    step = next(s for s in steps if (high - low) / s <= _MOST_TICKS)
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (f"{step:e}"[:3] == "2.5")
    first, last = math.ceil(low / step), math.floor(high / step)
    labels = {k: f"{k * step:+.{digits}f}".replace("-", "−") for k in range(first, last + 1)}
    return [(k * step, label if k else "0") for k, label in labels.items()]
