"""The paper's diagram of a heat map of errors: where the recovered AUC takes a telling value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purecover.displays._base import VERMILLION
from purecover.displays._heat import GRAY
from purecover.recovery._error_maps import ErrorMap, LineOfInterest, lines_of_interest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

TRUTH: dict[str, Any] = {"color": "black", "linestyle": ":", "linewidth": 1.2, "zorder": 2.4}
"""The lines at the true alpha and beta."""


def draw_diagram(ax: Axes, found: ErrorMap) -> dict[str, Line2D]:
    """Draw the lines of interest, the infeasible pairs and the truth; the lines by name."""
    lines = lines_of_interest(found.alpha, found.beta, found.auc)
    drawn: dict[str, Line2D] = {}
    for line in lines:
        if line.segment is None or line.segment[0] == line.segment[1]:
            continue  # a corner, or nowhere
        xs, ys = zip(*line.segment, strict=True)
        look: dict[str, Any] = {"color": "black", "linewidth": 1.2}
        if line.name == "true":
            look = {"color": VERMILLION, "linewidth": 2.0}
        (drawn[line.name],) = ax.plot(xs, ys, **look)
        _label_line(ax, line, line.segment, found)
    _shade_infeasible(ax, lines)
    ax.axvline(found.alpha, **TRUTH)
    ax.axhline(found.beta, **TRUTH)
    ax.plot(
        found.alpha, found.beta, "o", color=VERMILLION, markeredgecolor="white", markersize=8,
        zorder=3,
    )  # fmt: skip
    # The observed AUC is recovered in one corner: all unlabeled negative, labels clean.
    ax.plot(0, 1, "s", color="#767676", clip_on=False, zorder=3)
    ax.annotate(
        f"observed AUC {found.auc_pu:.3g}", (0, 1), (2, 6), textcoords="offset points",
        color="#555555",
    )  # fmt: skip
    return drawn


def _shade_infeasible(ax: Axes, lines: tuple[LineOfInterest, ...]) -> None:
    """Gray between the lines of 1 and 0, which the corners (0, 0) and (1, 1) cut off."""
    ends = {line.name: line.segment for line in lines}
    one, zero = ends["one"], ends["zero"]
    if one is None or zero is None:
        return
    corners = [*one, (1.0, 1.0), *reversed(zero), (0.0, 0.0)]
    ax.fill(*zip(*corners, strict=True), facecolor=GRAY, linewidth=0, zorder=1)
    ax.text(
        0.5, 0.5, "infeasible\n(recovered AUC beyond [0, 1])", ha="center", va="center",
        rotation=45, linespacing=1.4,
    )  # fmt: skip


def _label_line(
    ax: Axes,
    line: LineOfInterest,
    segment: tuple[tuple[float, float], tuple[float, float]],
    found: ErrorMap,
) -> None:
    """The value along the line: the truth's on the outer side, those of 0 and 1 in the gray."""
    (x0, y0), (x1, y1) = segment
    above = (line.delta > 0) == (line.name == "true")
    # Where the dotted lines of the truth are farthest.
    crossed = ((found.alpha - x0) / (x1 - x0), (found.beta - y0) / (y1 - y0))
    share = max((0.5, 0.76, 0.24), key=lambda at: min(abs(at - each) for each in crossed))
    ax.annotate(
        f"true AUC {line.auc:.3g}" if line.name == "true" else f"recovered AUC {line.auc:g}",
        (x0 + share * (x1 - x0), y0 + share * (y1 - y0)), (-3 if above else 3, 3 if above else -3),
        textcoords="offset points", rotation=45, rotation_mode="anchor", ha="center",
        va="bottom" if above else "top", fontsize="small",
        color=VERMILLION if line.name == "true" else "black",
    )  # fmt: skip
