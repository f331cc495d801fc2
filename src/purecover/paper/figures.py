"""The figures of the paper, redrawn, and one that it left open."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import public, require
from purecover.counts import ScoreCounts
from purecover.curves import pu_roc_curve
from purecover.displays import base
from purecover.displays.maps import ErrorMapDisplay
from purecover.paper import tables
from purecover.paper.standings import Standing, is_default
from purecover.proportions import MixtureProportions
from purecover.recovery.maps import error_maps
from purecover.recovery.rates import trapezoid
from purecover.recovery.roc import recover_roc

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


EXAMPLE_SCORES = (0.95, 0.90, 0.80, 0.70, 0.60, 0.40, 0.30, 0.10)
EXAMPLE_LABELED = (True, False, True, False, True, False, False, False)
EXAMPLE_POSITIVE = (True, True, True, False, True, False, False, False)
"""The worked example of the paper: three labeled, five unlabeled, one of them positive."""

BINS = ((0.0, 0.1), (0.1, 0.2), (0.2, np.inf))
"""Of the absolute error of beta - alpha, in the right panels of Figure 2."""

_COLORS = {
    "pu": "#9a9a9a",
    "ir": base.BLUE,
    "dr": base.SKY,
    "ie": base.VERMILLION,
    "de": base.ORANGE,
}


@public
def figure1() -> Figure:
    """The worked example: a ranking, and the curves it gives.

    Returns
    -------
    matplotlib Figure
        Left the ranking, right the observed, the true and the recovered curves.
    """
    pyplot = _pyplot()
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(8.2, 4.2), width_ratios=(1, 2.6), layout="constrained"
    )
    looks = {
        "labeled": {"marker": "s", "color": base.BLUE},
        "unlabeled, positive": {"marker": "o", "color": base.VERMILLION},
        "unlabeled, negative": {"marker": "o", "color": "#767676", "fillstyle": "none"},
    }
    kinds = [
        "labeled" if labeled else f"unlabeled, {'positive' if positive else 'negative'}"
        for labeled, positive in zip(EXAMPLE_LABELED, EXAMPLE_POSITIVE, strict=True)
    ]
    for kind, look in looks.items():
        scores = [s for s, each in zip(EXAMPLE_SCORES, kinds, strict=True) if each == kind]
        left.plot([0] * len(scores), scores, linestyle="none", markersize=9, label=kind, **look)
    for score in EXAMPLE_SCORES:
        left.annotate(f"{score:.2f}", (0, score), (12, 0), textcoords="offset points", va="center")
    left.set(xlim=(-0.5, 1), ylim=(0, 1), xticks=[], ylabel="Score", title="Ranking")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.03), frameon=False, fontsize="small")

    counts = ScoreCounts.from_scores(EXAMPLE_SCORES, EXAMPLE_LABELED)
    true = pu_roc_curve(ScoreCounts.from_scores(EXAMPLE_SCORES, EXAMPLE_POSITIVE))
    proportions = MixtureProportions(alpha=0.2)
    paper, ours = (recover_roc(counts, proportions, repair=r) for r in ("paper", "isotonic"))
    true_auc = trapezoid(true.tpr_pu, true.fpr_pu)
    right.plot([0, 1], [0, 1], **base.CHANCE)
    right.plot(paper.fpr_pu, paper.tpr_pu, label=f"observed, {paper.auc_pu:.3f}", **base.OBSERVED)
    right.plot(true.fpr_pu, true.tpr_pu, color=base.VERMILLION, lw=3, label=f"true, {true_auc:.4f}")
    right.plot(
        paper.fpr_raw, paper.tpr_raw, color=base.GREEN, marker=".", lw=1,
        label=f"recovered, not repaired, {paper.auc_direct:.3f}",
    )  # fmt: skip
    right.plot(paper.fpr, paper.tpr, color=base.BLUE, lw=2, label=f"Algorithm 1, {paper.auc:.4f}")
    right.plot(
        ours.fpr,
        ours.tpr,
        color=base.PURPLE,
        lw=2,
        ls=(0, (4, 2)),
        label=f"isotonic, {ours.auc:.4f}",
    )
    right.set(
        xlim=(-0.12, base.LIMITS[1]), ylim=base.LIMITS, xlabel="False-positive rate",
        ylabel="True-positive rate", title="Curves, α = 0.2, β = 1",
    )  # fmt: skip
    right.legend(title="AUC", loc="lower right", frameon=False, fontsize="small")
    base.despine_axes(left)
    base.despine_axes(right)
    return figure


def error_boxes(
    runs: tables.Runs, metric: str, methods: tables.Methods, truth: tables.Truth, *, by: str
) -> dict[str, dict[str, FloatArray]]:
    """Signed errors of a panel of Figure 2, by box and column.

    Parameters
    ----------
    runs : Runs
        What was measured.
    metric : {"auc", "auc_pr"}
        Which area.
    methods : Methods
        Whose estimator and repairs.
    truth : {"traditional", "same"}
        What errors are judged by.
    by : {"beta", "e"}
        Boxes by beta, or by the absolute error of ``beta - alpha``.

    Returns
    -------
    dict
        By title of the group, then by column of the paper's tables: estimate minus truth of
        all runs, pooled over data sets.
    """
    e = np.abs(runs.proportion_errors(methods.estimator)["delta"])
    betas = np.array([run.row.beta for run in runs.runs])
    if by == "beta":
        groups = {f"β = {beta:g}": betas == beta for beta in sorted({*betas.tolist()})[::-1]}
    else:
        groups = {_bin_title(low, high): (low <= e) & (e < high) for low, high in BINS}
    found: dict[str, dict[str, FloatArray]] = {}
    for title, here in groups.items():
        for column in tables.ERROR_COLUMNS[metric]:
            errors = runs.errors(tables.paper_combination(column, metric, methods), truth)[here]
            if np.isfinite(errors).any():
                found.setdefault(title, {})[column] = errors[np.isfinite(errors)]
    return found


def _bin_title(low: float, high: float) -> str:
    return f"e ≥ {low:g}" if np.isinf(high) else f"{low:g} ≤ e < {high:g}"


@public
def figure2(runs: tables.Runs, methods: tables.Methods, truth: tables.Truth) -> Figure:
    """Box plots of signed errors: AUC above, AUC-PR below; by beta left, by e right.

    Parameters
    ----------
    runs : Runs
        What was measured.
    methods : Methods
        Whose estimator and repairs.
    truth : {"traditional", "same"}
        What errors are judged by.

    Returns
    -------
    matplotlib Figure
        Panels a to d. A box holds the middle half of the runs, its line the median, the
        whiskers reach the last run within one and a half times its length.
    """
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(2, 2, figsize=(9.6, 6.4), layout="constrained", sharey="row")
    for row, metric in enumerate(tables.ERROR_COLUMNS):
        for column, by in enumerate(("beta", "e")):
            ax = axes[row, column]
            letter = "abcd"[2 * row + column]
            boxes = error_boxes(runs, metric, methods, truth, by=by)
            _draw_boxes(ax, boxes, tables.ERROR_COLUMNS[metric])
            what = "β" if by == "beta" else "e = |error of β − α|"
            ax.set_title(
                f"{letter}) {tables.TITLES[metric]} by {what}", loc="left", fontsize="medium"
            )
            if column == 0:
                ax.set_ylabel(f"Estimated − true {tables.TITLES[metric]}")
    # One key for all panels, where it can hide no box.
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, ncols=len(labels), loc="outside upper center", frameon=False)
    return figure


def _draw_boxes(
    ax: Axes, groups: Mapping[str, Mapping[str, FloatArray]], columns: Sequence[str]
) -> None:
    width = 0.8 / len(columns)
    ax.axhline(0, color="#9a9a9a", linewidth=1, zorder=1)
    for i, column in enumerate(columns):
        held = [(g, boxes[column]) for g, boxes in enumerate(groups.values()) if column in boxes]
        if not held:
            continue
        color = _COLORS[column]
        drawn = ax.boxplot(
            [errors for _, errors in held],
            positions=[g - 0.4 + width * (i + 0.5) for g, _ in held],
            widths=width * 0.85,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": color, "edgecolor": "black", "linewidth": 0.7},
            medianprops={"color": "black", "linewidth": 1.4},
            whiskerprops={"color": "black", "linewidth": 0.7},
            capprops={"color": "black", "linewidth": 0.7},
            # Thousands of points as a picture, not as thousands of marks.
            flierprops={"marker": ".", "markersize": 2, "markerfacecolor": color,
                        "markeredgecolor": color, "rasterized": True},
        )  # fmt: skip
        drawn["boxes"][0].set_label(column.upper())
    titles = [
        f"{title}\n({max(errors.size for errors in boxes.values()):,} runs)"
        for title, boxes in groups.items()
    ]
    ax.set_xticks(range(len(titles)), titles)
    ax.set_xlim(-0.5, max(len(titles), 1) - 0.5)
    base.despine_axes(ax)


def figure3(n_grid: int = 101) -> Figure:
    """Heat maps of the error of the recovered AUC by wrong proportions, 27 worlds."""
    displays = ErrorMapDisplay.panels(error_maps(n_grid=n_grid))
    figure: Any = next(iter(displays.values())).figure_
    return figure


def figure4(n_grid: int = 201) -> Figure:
    """One of the heat maps, beside the lines that explain it."""
    figure: Any = ErrorMapDisplay.with_diagram(0.25, 0.75, 0.9, n_grid=n_grid).figure_
    return figure


@public
def thresholds_figure(errors: Sequence[tables.ThresholdErrors]) -> Figure:
    """Mean absolute error of Algorithm 1 against the number of thresholds.

    Parameters
    ----------
    errors : sequence of ThresholdErrors
        From :func:`threshold_errors`.

    Returns
    -------
    matplotlib Figure
        AUC left, AUC-PR right, a line per kind of scores with the middle 80 % of its runs.
    """
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
    numbers = list(dict.fromkeys(each.number for each in errors))
    for ax, metric in zip(axes, tables.TITLES, strict=True):
        for i, title in enumerate(dict.fromkeys(each.title for each in errors)):
            found = [each for each in errors if each.title == title]
            x = [numbers.index(each.number) for each in found]
            sizes = [np.abs(getattr(each, metric)) for each in found]
            color = base.CYCLE[i % len(base.CYCLE)]
            low, high = np.array([np.quantile(each, [0.1, 0.9]) for each in sizes]).T
            ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
            means = [each.mean() for each in sizes]
            ax.plot(x, means, color=color, marker="osD^v<"[i % 6], markersize=4, label=title)
        shown = ["all" if number is None else f"{number:,}" for number in numbers]
        ax.set_xticks(range(len(numbers)), shown)
        ax.set(
            xlabel="Thresholds", ylabel=f"Mean |error| of {tables.TITLES[metric]}", ylim=(0, None)
        )
        base.despine_axes(ax)
    axes[0].legend(frameon=False, fontsize="small")
    return figure


@public
def standings_figure(standings: Mapping[str, Sequence[Standing]], most: int = 15) -> Figure:
    """The best combinations of estimator and repair, with intervals.

    Parameters
    ----------
    standings : dict of str to sequence of Standing
        A panel each: what :func:`standings` returned, by metric.
    most : int, default=15
        How many to draw.

    Returns
    -------
    matplotlib Figure
        The best on top; the defaults in color.
    """
    pyplot = _pyplot()
    height = 1.1 + 0.26 * min(most, max(map(len, standings.values()), default=1))
    figure, axes = pyplot.subplots(
        1, len(standings), figsize=(9.6, height), layout="constrained", squeeze=False
    )
    for ax, (metric, found) in zip(axes[0], standings.items(), strict=True):
        shown = found[:most]
        for i, each in enumerate(shown):
            color = base.BLUE if is_default(each.what) else "#767676"
            ax.plot([each.low, each.high], [i, i], color=color, linewidth=2)
            ax.plot(each.error, i, marker="o", color=color, markersize=5)
        titles = [f"{each.what.estimator}, {each.what.repair or 'direct'}" for each in shown]
        ax.set_yticks(range(len(shown)), titles, fontsize="small")
        ax.set(xlabel=f"Mean |error| of {tables.TITLES[metric]}", xlim=(0, None))
        ax.set_ylim(max(len(shown), 1) - 0.5, -0.5)
        ax.grid(axis="x", color="#d8dde2", linewidth=0.7)
        ax.set_axisbelow(True)
        base.despine_axes(ax)
    return figure


@public
def to_svg(figure: Figure) -> str:
    """A figure as SVG, the same text for the same figure; the figure is closed.

    Letters are drawn as paths, so that it looks the same without any font.
    """
    pyplot = _pyplot()
    out = io.StringIO()
    # A fixed salt and no date: without them every page would differ from the last.
    with pyplot.rc_context({"svg.hashsalt": "purecover", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", dpi=110, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return out.getvalue()


def _pyplot() -> Any:
    return require("matplotlib.pyplot", extra="plot")
