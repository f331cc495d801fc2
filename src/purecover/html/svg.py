"""Geometry of charts that stand in a page without its script; templates write it as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._typing import FloatArray
from purecover.documents.formats import bounded, cut, with_minus

if TYPE_CHECKING:
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.intervals.interval import Interval

CELLS = 500
"""Of the points of a curve that lie in one of so many cells of each axis, the first is drawn."""

LEFT, TOP, SIZE = 52.0, 10.0, 340.0
"""Place and size of the plotting area, in units of the drawing."""

_LEGEND_ROW = 20.0
_FIFTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_MOST_TICKS = 4

Marks = Sequence[tuple[str, str]]
"""Place and text of each mark of an axis."""


def make_chart(
    name: str,
    title: str,
    description: str,
    *,
    axes: tuple[str, str],
    curves: Sequence[tuple[str, str, Any, Any]],
    band: Any = None,
    point: tuple[float, float, str] | None = None,
    ticks: tuple[Marks, Marks] | None = None,
    areas: Sequence[tuple[str, str, str]] = (),
    words: Sequence[tuple[str, str, str, str]] = (),
) -> dict[str, Any]:
    """Lay out a chart of curves given as (kind, label, x, y), all within about [0, 1].

    Kinds are classes in the style sheet. Both axes are marked at ``ticks``; by default at fifths.
    ``areas`` are shaded stripes: class, left end and width; ``words`` are texts inside: x, y, the
    end that is there, and the text.
    """
    fifths = (
        [(f"{_x(v):.1f}", f"{v:.1f}") for v in _FIFTHS],
        [(f"{_y(v):.1f}", f"{v:.1f}") for v in _FIFTHS],
    )
    legend = [(kind, label) for kind, label, *_ in curves]
    legend += {kind: (f"area {kind}", f"evidence for {kind}") for kind, *_ in areas}.values()
    shown, at = None, None
    if band is not None:
        shown = {"label": f"{100 * band.confidence_level:g} % band, {band.kind}"}
        shown["path"] = _outline(band)
        legend.append(("band", shown["label"]))
    if point is not None and all(np.isfinite(point[:2])):
        at = (f"{_x(point[0]):.1f}", f"{_y(point[1]):.1f}")
        legend.append(("point", point[2]))
    below = TOP + SIZE + 52
    return {
        "name": name,
        "title": title,
        "description": description,
        "x_label": axes[0],
        "y_label": axes[1],
        "curves": [
            {"kind": kind, "label": label, "path": _path(*drawn_points(x, y))}
            for kind, label, x, y in curves
        ],
        "band": shown,
        "point": at,
        "ticks": ticks or fifths,
        "areas": areas,
        "words": words,
        "legend": [(*row, below + 8 + i * _LEGEND_ROW) for i, row in enumerate(legend)],
        "left": LEFT,
        "top": TOP,
        "size": SIZE,
        "width": LEFT + SIZE + 12,
        "height": below + _LEGEND_ROW * len(legend) + 4,
    }


def evidence_chart(found: EvidenceThresholds) -> dict[str, Any]:
    """The likelihood ratio against the score, with the scores that reach each strength."""
    left, right = float(found.scores[0]), float(found.scores[-1])
    heights = np.log(np.concatenate((found.odds, found.likelihood_ratio)))
    low, high = 1.15 * min(heights.min(), 0.0), 1.15 * max(heights.max(), 0.0)

    def x(score: Any) -> Any:
        return (score - left) / max(right - left, 1e-300)

    def y(odds: Any) -> Any:
        return (np.log(odds) - low) / (high - low)

    areas, words, odds_ticks = [], [], []
    for name, points, odds, bound in zip(
        found.strengths, found.points.tolist(), found.odds, found.bounds, strict=True
    ):
        at = f"{_y(y(odds)):.1f}"
        ratio = max(odds, 1 / odds)
        odds_ticks.append((at, ("1/" if odds < 1 else "") + f"{ratio:.{int(ratio < 10)}f}"))
        # The curve rises, so that there is room on the left above and on the right below.
        side, end = (LEFT + 6, "start") if points > 0 else (LEFT + SIZE - 6, "end")
        words.append((f"{side:.1f}", at, end, with_minus(f"{name} {points:+d}")))
        if np.isfinite(bound):
            ends = (x(bound), 1.0) if points > 0 else (0.0, x(bound))
            kind = "positive" if points > 0 else "negative"
            areas.append((kind, f"{_x(ends[0]):.1f}", f"{SIZE * max(ends[1] - ends[0], 0):.1f}"))
    marks = _ticks(left, right) if left < right else []
    score_ticks = [(f"{_x(x(v)):.1f}", text.lstrip("+")) for v, text in marks]
    about = "Likelihood ratio of positive to negative"
    return make_chart(
        "evidence",
        about,
        f"{about} against the score, rising from {found.likelihood_ratio[0]:.3g} to "
        f"{found.likelihood_ratio[-1]:.3g}.",
        axes=("Score", ""),
        curves=[("ratio", about.lower(), x(found.scores), y(found.likelihood_ratio))],
        ticks=(score_ticks, odds_ticks),
        areas=areas,
        words=words,
    )


def drawn_points(x: Any, y: Any, cells: int = CELLS) -> tuple[FloatArray, FloatArray]:
    """The defined points of a curve, as many as an eye can distinguish."""
    points = np.array([x, y], dtype=np.float64)
    points = points[:, np.isfinite(points).all(axis=0)]
    at = np.floor(np.clip(points, -1, 2) * cells)
    keep = np.ones(points.shape[1], dtype=bool)
    keep[1:-1] = (at[:, 1:-1] != at[:, :-2]).any(axis=0)
    return points[0, keep], points[1, keep]


def _outline(band: Any) -> str:
    defined = np.isfinite(band.low) & np.isfinite(band.high)
    x, low, high = band.x[defined], band.low[defined], band.high[defined]
    path = _path(np.append(x, x[::-1]), np.append(high, low[::-1]))
    return path and path + "Z"


def _path(x: FloatArray, y: FloatArray) -> str:
    # Far outside the frame is as invisible at 2 as at 1e300, which no viewer would parse.
    points = zip(np.clip(x, -1, 2).tolist(), np.clip(y, -1, 2).tolist(), strict=True)
    return "".join(f"{'L' if i else 'M'}{_x(a):.2f} {_y(b):.2f}" for i, (a, b) in enumerate(points))


def _x(value: float) -> float:
    return LEFT + SIZE * value


def _y(value: float) -> float:
    return TOP + SIZE * (1 - value)


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round values between two, as few as can be read."""
    power = 10.0 ** math.floor(math.log10((high - low) / _MOST_TICKS))
    steps = (factor * power for factor in (1, 2, 2.5, 5, 10, 20))
    step = next(s for s in steps if (high - low) / s <= _MOST_TICKS)
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (f"{step:e}"[:3] == "2.5")
    first, last = math.ceil(low / step), math.floor(high / step)
    labels = {k: with_minus(f"{k * step:+.{digits}f}") for k in range(first, last + 1)}
    return [(k * step, label if k else "0") for k, label in labels.items()]


_LINE: dict[str, float] = {"left": 44.0, "top": 24.0, "bottom": 224.0, "height": 330.0}


def make_timeline(
    title: str,
    names: Sequence[str],
    series: Mapping[str, tuple[str, Sequence[Interval | None]]],
    drifted: Sequence[bool],
) -> dict[str, Any]:
    """Lay out intervals of partitions, one after another, by kind of line."""
    step = min(max(900 / len(names), 18.0), 110.0)
    every = math.ceil(22 / step)
    found = [i for _, line in series.values() for i in line if i is not None]
    values = [v for i in found for v in (i.estimate, i.low, i.high) if math.isfinite(v)] or [0.0]
    margin = max(0.08 * (max(values) - min(values)), 0.01)
    low, high = min(values) - margin, max(values) + margin

    def x(at: float) -> str:
        return f"{_LINE['left'] + step * (at + 0.5):.1f}"

    def y(value: float) -> str:
        share = (value - low) / (high - low)
        return f"{_LINE['bottom'] - (_LINE['bottom'] - _LINE['top']) * share:.1f}"

    def points(line: Sequence[Interval | None], shift: float) -> list[dict[str, Any]]:
        return [
            {
                "x": x(at + shift),
                "y": y(i.estimate),
                "ends": (y(i.low), y(i.high)) if bounded(i) and i.low < i.high else None,
            }
            for at, i in enumerate(line)
            if i is not None and math.isfinite(i.estimate)
        ]

    newest = {label: line[-1] for label, line in series.values()}
    last = [f"{label} {i.estimate:.3f}" for label, i in newest.items() if i is not None]
    changed = [name for name, is_so in zip(names, drifted, strict=True) if is_so]
    return _LINE | {
        "title": title,
        "description": f"{title} of {len(names)} partitions; the last, {names[-1]}: "
        f"{', '.join(last)}. Drift in: {', '.join(changed) or 'none'}.",
        "width": _LINE["left"] + max(step * len(names), 150 * len(series)) + 24,
        "ticks": [(y(value), label.lstrip("+")) for value, label in _ticks(low, high)],
        "names": [(x(at), cut(n, 14)) for at, n in enumerate(names) if at % every == 0],
        "series": [
            (kind, label, points(line, 6 / step * (n - (len(series) - 1) / 2)))
            for n, (kind, (label, line)) in enumerate(series.items())
        ],
        "drifted": [x(at) for at, is_so in enumerate(drifted) if is_so],
    }
