"""Curves, dots and whiskers as SVG geometry; the templates only write them down."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._typing import FloatArray, IntArray
from purecover._view import bounded, cut, estimates, shortened

if TYPE_CHECKING:
    from purecover.estimators.estimate import PriorEstimate
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.intervals.interval import Interval
    from purecover.report.results import TrueFigures


MAX_POINTS = 512
"""No curve is drawn with more points; what thinning changes is far below a pixel."""

_TOLERANCE = 2.5e-4  # of the axis: a tenth of a pixel
_MANY_POINTS = 20_000

LEFT, TOP, SIZE = 52.0, 10.0, 340.0
"""Place and size of the plotting area, in units of the drawing."""

WIDTH = LEFT + SIZE + 12
_LEGEND_ROW = 20.0
_FIFTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

Marks = Sequence[tuple[str, str]]
"""Place and text of each mark of an axis."""


# Whatever draws makes a dictionary of all that its template needs.


def make_chart(
    name: str,
    title: str,
    description: str,
    *,
    axes: tuple[str, str],
    curves: Sequence[tuple[str, str, FloatArray, FloatArray]],
    band: Any = None,
    point: tuple[float, float] = (math.nan, math.nan),
    point_label: str = "",
    ticks: tuple[Marks, Marks] | None = None,
    areas: Sequence[tuple[str, str, str]] = (),
    words: Sequence[tuple[str, str, str, str]] = (),
) -> dict[str, Any]:
    """A chart of curves given as (kind, label, x, y), all within about [0, 1].

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
    shown = None
    if band is not None:
        shown = {"label": f"{100 * band.confidence_level:g} % band, {band.kind}"}
        shown["path"] = _outline(band)
        legend.append(("band", shown["label"]))
    at = None
    if all(np.isfinite(point)):
        at = (f"{_x(point[0]):.1f}", f"{_y(point[1]):.1f}")
        legend.append(("point", point_label))
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
        "width": WIDTH,
        "height": below + _LEGEND_ROW * len(legend) + 4,
    }


def evidence_chart(found: EvidenceThresholds) -> dict[str, Any]:
    """The likelihood ratio along the scores, with the scores that have a strength by the bound."""
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
        words.append((f"{side:.1f}", at, end, f"{name} {points:+d}".replace("-", "−")))
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


def drawn_points(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The defined points of a curve, as many as can be told apart."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    defined = np.isfinite(x) & np.isfinite(y)
    if not defined.all():
        x, y = x[defined], y[defined]
    if x.size > _MANY_POINTS:
        # Of those in one cell, half as wide as what can be told apart, the first and the last.
        cells = np.floor(np.clip([x, y], -1, 2) * (2 / _TOLERANCE))
        moves = (cells[:, 1:] != cells[:, :-1]).any(axis=0)
        some = np.append(True, moves) | np.append(moves, True)
        x, y = x[some], y[some]
    keep = thin(x, y)
    return x[keep], y[keep]


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


def thin(x: FloatArray, y: FloatArray) -> IntArray:
    """Positions of the points that keep the shape of a polyline.

    Ramer, Douglas and Peucker's rule, worst deviation first: starting from the two ends,
    the point farthest from the line drawn so far joins it, until all deviations are below a
    tenth of a pixel or there are ``MAX_POINTS``.
    """
    if x.size <= 2:
        return np.arange(x.size)

    def distances(i: int, j: int) -> FloatArray:
        """From the chord between points i and j, of the points between them."""
        dx, dy = x[j] - x[i], y[j] - y[i]
        px, py = x[i + 1 : j] - x[i], y[i + 1 : j] - y[i]
        length = float(np.hypot(dx, dy))
        return np.abs(dx * py - dy * px) / length if length else np.hypot(px, py)

    return split_worst(np.array([0, x.size - 1]), distances, MAX_POINTS, least=_TOLERANCE)


def split_worst(
    edges: IntArray, gains: Callable[[int, int], FloatArray], most: int, *, least: float = 0.0
) -> IntArray:
    """More edges, up to ``most`` of them, each where the gain is largest, and above ``least``.

    ``gains`` are those of all places between two neighboring edges.
    """
    heap: list[tuple[float, int, int, int]] = []

    def consider(i: int, j: int) -> None:
        if j - i > 1:
            found = gains(i, j)
            k = int(np.argmax(found))
            if found[k] > least:
                heapq.heappush(heap, (-float(found[k]), i, i + 1 + k, j))

    for i, j in pairwise(edges.tolist()):
        consider(i, j)
    added: list[int] = []
    while heap and edges.size + len(added) < most:
        _, i, k, j = heapq.heappop(heap)
        added.append(k)
        consider(i, k)
        consider(k, j)
    return np.union1d(edges, np.array(added, dtype=np.int64))


# -- Rows of dots on one axis: estimates of alpha and beta, differences from a baseline ----------


_ROW, _ROW_TOP = 26.0, 8.0
_MOST_TICKS = 4


def _row_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    left: float,
    size: float,
    right: float,
    below: float,
    **more: Any,
) -> dict[str, Any]:
    """Rows of dots, with room on the left for their names and below for axis and legend."""
    bottom = _ROW_TOP + _ROW * len(rows)
    heights = {"top": _ROW_TOP, "bottom": bottom, "height": bottom + below}
    return {"rows": rows, "left": left, "size": size, "width": left + size + right} | heights | more


def _row_y(i: int) -> str:
    return f"{_ROW_TOP + _ROW * (i + 0.5):.1f}"


def make_dots(estimation: PriorEstimate, truth: TrueFigures | None) -> dict[str, Any]:
    """Alpha and beta on an axis from 0 to 1: the estimator in use first, the others below it."""
    left, size = 155.0, 290.0

    def x(value: float) -> str:
        return f"{left + size * value:.1f}"

    rows, listed = [], []
    for i, (name, alpha, beta, known) in enumerate(estimates(estimation)):
        listed.append(f"{name} {alpha:.3f} and {beta:.3f}")
        ends = [known[key] for key in ("alpha", "beta") if key in known]
        rows.append(
            {
                "name": cut(name, 21),
                "y": _row_y(i),
                "alpha": x(alpha),
                "beta": x(beta),
                "bars": [(x(e.low), x(e.high)) for e in ends if math.isfinite(e.low)],
                "used": i == 0,
            }
        )
    return _row_chart(
        rows,
        description=f"Alpha and beta by estimator: {', '.join(listed)}.",
        ticks=[(x(value), f"{value:.1f}") for value in _FIFTHS],
        left=left,
        size=size,
        right=14.0,
        below=48.0,
        true=() if truth is None else (x(truth.alpha), x(truth.beta)),
    )


def make_whiskers(
    name: str, title: str, found: Mapping[str, Interval], kinds: Mapping[str, str], baseline: str
) -> dict[str, Any]:
    """The differences in one metric, on an axis that holds 0 and all that is defined.

    ``kinds`` are classes in the style sheet; there is no dot for what is undefined.
    """
    left, size = 130.0, 260.0
    values = [v for i in found.values() for v in (i.estimate, i.low, i.high) if math.isfinite(v)]
    low, high = min([0.0, *values]), max([0.0, *values])
    if low == high:
        low, high = -0.01, 0.01
    margin = 0.05 * (high - low)
    low, high = low - margin, high + margin

    def x(value: float) -> str:
        return f"{left + size * (value - low) / (high - low):.1f}"

    rows = [
        {
            "name": shortened(model, 17),
            "kind": kinds[model],
            "y": _row_y(i),
            "dot": x(interval.estimate) if math.isfinite(interval.estimate) else None,
            "ends": (x(interval.low), x(interval.high)) if bounded(interval) else None,
        }
        for i, (model, interval) in enumerate(found.items())
    ]
    listed = "; ".join(f"{model} {_words(interval)}" for model, interval in found.items())
    return _row_chart(
        rows,
        metric=name,
        name=f"difference-{name}",
        title=f"Difference in {title}",
        description=f"{title} minus that of {baseline}: {listed}.",
        ticks=[(x(value), label) for value, label in _ticks(low, high)],
        left=left,
        size=size,
        right=24.0,
        below=42.0,
        zero=x(0.0),
    )


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


# -- Values of partitions, one after another -----------------------------------------------------


_LINE: dict[str, float] = {"left": 44.0, "top": 24.0, "bottom": 224.0, "height": 330.0}


def make_timeline(
    title: str,
    names: Sequence[str],
    series: Mapping[str, tuple[str, Sequence[Interval | None]]],
    drifted: Sequence[bool],
) -> dict[str, Any]:
    """Intervals by kind of line; there is no point where there is none."""
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
