"""Curves as SVG geometry. Numbers become paths here; the template only writes them down."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._typing import FloatArray

__all__ = ["MAX_POINTS", "Band", "Chart", "Curve", "Tick", "curve_path", "thin"]

MAX_POINTS = 512
"""No curve is drawn with more points; what thinning changes is far below a pixel."""

_TOLERANCE = 2.5e-4  # of the axis: a tenth of a pixel

LEFT, TOP, SIZE = 52.0, 10.0, 340.0
"""Place and size of the plotting area, in units of the drawing."""

WIDTH = LEFT + SIZE + 12
_LEGEND_ROW = 20.0


@dataclass(frozen=True)
class Curve:
    """One line of a chart; ``kind`` is its class in the style sheet."""

    kind: str
    label: str
    path: str


@dataclass(frozen=True)
class Band:
    """A shaded region."""

    label: str
    path: str


@dataclass(frozen=True)
class Tick:
    """A mark on both axes."""

    x: str
    y: str
    label: str


@dataclass(frozen=True)
class Chart:
    """All that the template needs to draw one figure."""

    name: str
    title: str
    description: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    band: Band | None
    point: tuple[str, str] | None
    point_label: str

    left: float = LEFT
    top: float = TOP
    size: float = SIZE
    width: float = WIDTH

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Fifths of the axes."""
        return tuple(
            Tick(f"{_x(v):.1f}", f"{_y(v):.1f}", f"{v:.1f}") for v in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
        )

    @property
    def legend(self) -> tuple[tuple[str, str, float], ...]:
        """Class, text and height of each row below the plot."""
        rows = [(curve.kind, curve.label) for curve in self.curves]
        if self.band is not None:
            rows.append(("band", self.band.label))
        if self.point is not None:
            rows.append(("point", self.point_label))
        first = TOP + SIZE + 60
        return tuple((kind, label, first + i * _LEGEND_ROW) for i, (kind, label) in enumerate(rows))

    @property
    def height(self) -> float:
        """Room for the plot, its labels and the legend."""
        return TOP + SIZE + 52 + _LEGEND_ROW * len(self.legend) + 4


def make_chart(
    name: str,
    title: str,
    description: str,
    *,
    axes: tuple[str, str],
    curves: Sequence[tuple[str, str, FloatArray, FloatArray]],
    band: Any = None,
    point: tuple[float, float] | None = None,
    point_label: str = "",
) -> Chart:
    """A chart of curves given as (kind, label, x, y), all within about [0, 1]."""
    shown = None
    if point is not None and all(np.isfinite(point)):
        shown = (f"{_x(point[0]):.1f}", f"{_y(point[1]):.1f}")
    return Chart(
        name=name,
        title=title,
        description=description,
        x_label=axes[0],
        y_label=axes[1],
        curves=tuple(Curve(kind, label, curve_path(x, y)) for kind, label, x, y in curves),
        band=None if band is None else _band(band),
        point=shown,
        point_label=point_label,
    )


def curve_path(x: FloatArray, y: FloatArray) -> str:
    """The path of a polyline, thinned; undefined points are left out."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    keep = thin(x, y)
    return _path(x[keep], y[keep])


def _band(band: Any) -> Band:
    defined = np.isfinite(band.low) & np.isfinite(band.high)
    x, low, high = band.x[defined], band.low[defined], band.high[defined]
    outline = _path(np.append(x, x[::-1]), np.append(high, low[::-1]))
    label = f"{100 * band.confidence_level:g} % band, {band.kind}"
    return Band(label, outline and outline + "Z")


def _path(x: FloatArray, y: FloatArray) -> str:
    # Far outside the frame is as invisible at 2 as at 1e300, which no viewer would parse.
    points = zip(np.clip(x, -1, 2).tolist(), np.clip(y, -1, 2).tolist(), strict=True)
    return "".join(f"{'L' if i else 'M'}{_x(a):.2f} {_y(b):.2f}" for i, (a, b) in enumerate(points))


def _x(value: float) -> float:
    return LEFT + SIZE * value


def _y(value: float) -> float:
    return TOP + SIZE * (1 - value)


def thin(x: FloatArray, y: FloatArray, max_points: int = MAX_POINTS) -> np.ndarray[Any, Any]:
    """Positions of the points that keep the shape of a polyline.

    Ramer, Douglas and Peucker's rule, worst deviation first: starting from the two ends,
    the point farthest from the line drawn so far joins it, until all deviations are below a
    tenth of a pixel or ``max_points`` are drawn.
    """
    n = x.size
    if n <= 2:
        return np.arange(n)
    keep = {0, n - 1}
    heap: list[tuple[float, int, int, int]] = []

    def consider(i: int, j: int) -> None:
        if j - i > 1:
            distance, k = _farthest(x, y, i, j)
            if distance > _TOLERANCE:
                heapq.heappush(heap, (-distance, i, k, j))

    consider(0, n - 1)
    while heap and len(keep) < max_points:
        _, i, k, j = heapq.heappop(heap)
        keep.add(k)
        consider(i, k)
        consider(k, j)
    return np.array(sorted(keep))


def _farthest(x: FloatArray, y: FloatArray, i: int, j: int) -> tuple[float, int]:
    """The inner point farthest from the chord between points i and j."""
    dx, dy = x[j] - x[i], y[j] - y[i]
    px, py = x[i + 1 : j] - x[i], y[i + 1 : j] - y[i]
    length = float(np.hypot(dx, dy))
    distances = np.abs(dx * py - dy * px) / length if length else np.hypot(px, py)
    k = int(np.argmax(distances))
    return float(distances[k]), i + 1 + k
