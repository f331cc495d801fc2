"""The figures of the paper, drawn again, and figures of the study."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover import MixtureProportions, ScoreCounts, recover_roc
from purecover.recovery import auc_pu, pu_roc_curve
from purecover_paper.arguments import require
from purecover_paper.arrays import FloatArray
from purecover_paper.runs import Runs, Truth
from purecover_paper.standings import Standing, is_default
from purecover_paper.tables import ERROR_COLUMNS, TITLES, Methods, paper_combination
from purecover_paper.thresholds import ThresholdErrors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, for any kind of color vision.
BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9",
)  # fmt: skip
_CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
_OBSERVED: dict[str, Any] = {"color": "#767676", "linestyle": "--", "linewidth": 1.5}
_CHANCE: dict[str, Any] = {"color": "#9a9a9a", "linestyle": ":", "linewidth": 1.2}
_TRUTH: dict[str, Any] = {"color": "black", "linestyle": ":", "linewidth": 1.2, "zorder": 2.4}
_INFEASIBLE = "#c8c8c8"
_LIMITS = (-0.02, 1.02)
"""Rates are drawn a little beyond [0, 1], so that a curve along an edge is visible."""

EXAMPLE_SCORES = (0.95, 0.90, 0.80, 0.70, 0.60, 0.40, 0.30, 0.10)
EXAMPLE_LABELED = (True, False, True, False, True, False, False, False)
EXAMPLE_POSITIVE = (True, True, True, False, True, False, False, False)
"""The worked example of the paper: three labeled, five unlabeled, one of them positive."""

BINS = ((0.0, 0.1), (0.1, 0.2), (0.2, np.inf))
"""Of the absolute error of beta - alpha, in the right panels of Figure 2."""

_COLORS = {
    "pu": "#9a9a9a",
    "ir": BLUE,
    "dr": SKY,
    "ie": VERMILLION,
    "de": ORANGE,
}


def figure1() -> Figure:
    """Draw the worked example: a ranking and its curves.

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
        "labeled": {"marker": "s", "color": BLUE},
        "unlabeled, positive": {"marker": "o", "color": VERMILLION},
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
    true_counts = ScoreCounts.from_scores(EXAMPLE_SCORES, EXAMPLE_POSITIVE)
    true, true_auc = pu_roc_curve(true_counts), auc_pu(true_counts)
    proportions = MixtureProportions(alpha=0.2)
    paper, ours = (recover_roc(counts, proportions, repair=r) for r in ("paper", "isotonic"))
    right.plot([0, 1], [0, 1], **_CHANCE)
    right.plot(paper.fpr_pu, paper.tpr_pu, label=f"observed, {paper.auc_pu:.3f}", **_OBSERVED)
    right.plot(true.fpr_pu, true.tpr_pu, color=VERMILLION, lw=3, label=f"true, {true_auc:.4f}")
    right.plot(
        paper.fpr_raw, paper.tpr_raw, color=GREEN, marker=".", lw=1,
        label=f"recovered, not repaired, {paper.auc_direct:.3f}",
    )  # fmt: skip
    right.plot(paper.fpr, paper.tpr, color=BLUE, lw=2, label=f"Algorithm 1, {paper.auc:.4f}")
    right.plot(
        ours.fpr,
        ours.tpr,
        color=PURPLE,
        lw=2,
        ls=(0, (4, 2)),
        label=f"isotonic, {ours.auc:.4f}",
    )
    right.set(
        xlim=(-0.12, _LIMITS[1]), ylim=_LIMITS, xlabel="False-positive rate",
        ylabel="True-positive rate", title="Curves, α = 0.2, β = 1",
    )  # fmt: skip
    right.legend(title="AUC", loc="lower right", frameon=False, fontsize="small")
    despine(left)
    despine(right)
    return figure


def error_boxes(
    runs: Runs, metric: str, methods: Methods, truth: Truth, *, by: str
) -> dict[str, dict[str, FloatArray]]:
    """Return signed errors of a panel of Figure 2, by box and column.

    Parameters
    ----------
    runs : Runs
        Results.
    metric : {"auc", "auc_pr"}
        The area.
    methods : Methods
        Estimator and repairs.
    truth : {"traditional", "same"}
        The truth of the errors.
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
        for column in ERROR_COLUMNS[metric]:
            errors = runs.errors(paper_combination(column, metric, methods), truth)[here]
            if np.isfinite(errors).any():
                found.setdefault(title, {})[column] = errors[np.isfinite(errors)]
    return found


def _bin_title(low: float, high: float) -> str:
    return f"e ≥ {low:g}" if np.isinf(high) else f"{low:g} ≤ e < {high:g}"


def figure2(runs: Runs, methods: Methods, truth: Truth) -> Figure:
    """Draw box plots of signed errors: AUC above, AUC-PR below; by beta left, by e right.

    Parameters
    ----------
    runs : Runs
        Results.
    methods : Methods
        Estimator and repairs.
    truth : {"traditional", "same"}
        The truth of the errors.

    Returns
    -------
    matplotlib Figure
        Panels a to d. A box holds the middle half of the runs, its line the median, the
        whiskers reach the last run within one and a half times its length.
    """
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(2, 2, figsize=(9.6, 6.4), layout="constrained", sharey="row")
    for row, metric in enumerate(ERROR_COLUMNS):
        for column, by in enumerate(("beta", "e")):
            ax = axes[row, column]
            letter = "abcd"[2 * row + column]
            boxes = error_boxes(runs, metric, methods, truth, by=by)
            _draw_boxes(ax, boxes, ERROR_COLUMNS[metric])
            what = "β" if by == "beta" else "e = |error of β − α|"
            ax.set_title(f"{letter}) {TITLES[metric]} by {what}", loc="left", fontsize="medium")
            if column == 0:
                ax.set_ylabel(f"Estimated − true {TITLES[metric]}")
    # One legend for all panels, where it hides no box.
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
    despine(ax)


def recovered_auc_errors(alpha: float, beta: float, auc: float, n_grid: int) -> FloatArray:
    r"""Return the error of the recovered AUC for all assumed alpha (rows) and beta (columns).

    The truth gives :math:`A_{pu} = 1/2 + (\beta - \alpha)(A - 1/2)`, and assumed proportions give
    :math:`\hat A = 1/2 + (A_{pu} - 1/2)/(\hat\beta - \hat\alpha)`. NaN where :math:`\hat A` is
    outside [0, 1].
    """
    step = np.arange(n_grid)
    # From whole numbers, so that equal proportions differ by exactly 0.
    delta = (step - step[:, np.newaxis]) / (n_grid - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        recovered = 0.5 + (beta - alpha) * (auc - 0.5) / delta
    slack = 1e-9
    feasible = (delta != 0) & (recovered >= -slack) & (recovered <= 1 + slack)
    return np.where(feasible, np.abs(recovered - auc), np.nan)


def _draw_map(ax: Axes, alpha: float, beta: float, auc: float, n_grid: int) -> QuadMesh:
    """Draw a map of errors, with lines at the true proportions; gray is infeasible."""
    from matplotlib.colors import PowerNorm

    errors = recovered_auc_errors(alpha, beta, auc, n_grid)
    grid = np.linspace(0, 1, n_grid)
    ax.set_facecolor(_INFEASIBLE)
    # One scale for all maps; its square root shows differences between small errors.
    mesh = ax.pcolormesh(
        grid, grid, np.ma.masked_invalid(errors).T, shading="nearest", rasterized=True,
        cmap="YlGnBu", norm=PowerNorm(0.5, 0.0, 1.0),
    )  # fmt: skip
    ax.axvline(alpha, **_TRUTH)
    ax.axhline(beta, **_TRUTH)
    ax.set_aspect("equal")
    return mesh


def figure3(n_grid: int = 101) -> Figure:
    """Draw the error of the recovered AUC by wrong proportions, for 27 true values."""
    figure = _pyplot().figure(figsize=(12.4, 4.3), layout="constrained")
    # A block per AUC in one grid, a narrow empty column between them.
    grid = figure.add_gridspec(3, 11, width_ratios=[1, 1, 1, 0.12, 1, 1, 1, 0.12, 1, 1, 1])
    places = product(enumerate((0.65, 0.80, 0.95)), enumerate((1.0, 0.95, 0.75)),
                     enumerate((0.05, 0.25, 0.50)))  # fmt: skip
    for (block, auc), (row, beta), (column, alpha) in places:
        ax = figure.add_subplot(grid[row, 4 * block + column])
        mesh = _draw_map(ax, alpha, beta, auc, n_grid)
        ax.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        ax.set_xticklabels(["0", "½", "1"] if row == 2 else [])
        ax.set_yticklabels(["0", "½", "1"] if block + column == 0 else [])
        if row == 0:
            head = rf"$\bf{{AUC\ {auc:g}}}$" "\n" if column == 1 else ""
            ax.set_title(rf"{head}$\alpha$ = {alpha:g}", fontsize="medium")
        if (block, column) == (2, 2):
            ax.annotate(
                rf"$\beta$ = {beta:g}", (1.05, 0.5), xycoords="axes fraction", rotation=-90,
                va="center",
            )  # fmt: skip
    figure.supxlabel(r"Assumed $\alpha$", fontsize="medium")
    figure.supylabel(r"Assumed $\beta$", fontsize="medium")
    figure.colorbar(mesh, ax=figure.axes, label="Absolute error of AUC", fraction=0.02, pad=0.01)
    return figure


def figure4(n_grid: int = 201) -> Figure:
    """Draw one of the maps next to the lines on which the recovered AUC is 0, 1 or the true one."""
    alpha, beta, auc = 0.25, 0.75, 0.9
    figure, (left, right) = _pyplot().subplots(1, 2, figsize=(10.4, 4.6), layout="constrained")
    mesh = _draw_map(left, alpha, beta, auc, n_grid)
    figure.colorbar(mesh, ax=left, label="Absolute error of the recovered AUC")
    observed = 0.5 + (beta - alpha) * (auc - 0.5)
    left.set_title(f"AUC {auc:g} (observed {observed:g})")
    # A value v is recovered on the line where beta - alpha is (observed - 1/2) / (v - 1/2).
    edge = 2 * (observed - 0.5)
    right.fill(
        [0, 1 - edge, 1, 1, edge, 0], [edge, 1, 1, 1 - edge, 0, 0], facecolor=_INFEASIBLE, zorder=1
    )
    right.text(
        0.5, 0.5, "infeasible\n(recovered AUC beyond [0, 1])", ha="center", va="center", rotation=45
    )
    lines = (
        (beta - alpha, f"true AUC {auc:g}", VERMILLION, 0.76),
        (edge, "recovered AUC 1", "black", 0.5),
        (-edge, "recovered AUC 0", "black", 0.5),
    )
    for delta, text, color, share in lines:
        xs = np.array([max(0.0, -delta), min(1.0, 1 - delta)])
        right.plot(xs, xs + delta, color=color)
        x = xs[0] + share * (xs[1] - xs[0])
        above = (delta > 0) == (color == VERMILLION)
        right.annotate(
            text, (x, x + delta), (-3 if above else 3, 3 if above else -3), color=color,
            textcoords="offset points", rotation=45, rotation_mode="anchor", ha="center",
            va="bottom" if above else "top", fontsize="small",
        )  # fmt: skip
    right.axvline(alpha, **_TRUTH)
    right.axhline(beta, **_TRUTH)
    right.plot(alpha, beta, "o", color=VERMILLION, markeredgecolor="white", markersize=8, zorder=3)
    # The observed AUC is recovered in one corner: no unlabeled positives, no wrong labels.
    right.plot(0, 1, "s", color="#767676", clip_on=False, zorder=3)
    right.annotate(f"observed AUC {observed:g}", (0, 1), (2, 6), textcoords="offset points")
    right.set(xlim=(0, 1), ylim=(0, 1))
    right.set_aspect("equal")
    for ax in (left, right):
        ax.set(xlabel=r"Assumed $\alpha$", ylabel=r"Assumed $\beta$")
    return figure


def thresholds_figure(errors: Sequence[ThresholdErrors]) -> Figure:
    """Draw the mean absolute error of Algorithm 1 by the number of thresholds.

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
    for ax, metric in zip(axes, TITLES, strict=True):
        for i, title in enumerate(dict.fromkeys(each.title for each in errors)):
            found = [each for each in errors if each.title == title]
            x = [numbers.index(each.number) for each in found]
            sizes = [np.abs(getattr(each, metric)) for each in found]
            color = _CYCLE[i % len(_CYCLE)]
            low, high = np.array([np.quantile(each, [0.1, 0.9]) for each in sizes]).T
            ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
            means = [each.mean() for each in sizes]
            ax.plot(x, means, color=color, marker="osD^v<"[i % 6], markersize=4, label=title)
        shown = ["all" if number is None else f"{number:,}" for number in numbers]
        ax.set_xticks(range(len(numbers)), shown)
        ax.set(xlabel="Thresholds", ylabel=f"Mean |error| of {TITLES[metric]}", ylim=(0, None))
        despine(ax)
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def standings_figure(standings: Mapping[str, Sequence[Standing]], most: int = 15) -> Figure:
    """Draw the best combinations of estimator and repair, with intervals.

    Parameters
    ----------
    standings : dict of str to sequence of Standing
        A panel each: the result of :func:`standings` by metric.
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
            color = BLUE if is_default(each.what) else "#767676"
            ax.plot([each.low, each.high], [i, i], color=color, linewidth=2)
            ax.plot(each.error, i, marker="o", color=color, markersize=5)
        titles = [f"{each.what.estimator}, {each.what.repair or 'direct'}" for each in shown]
        ax.set_yticks(range(len(shown)), titles, fontsize="small")
        ax.set(xlabel=f"Mean |error| of {TITLES[metric]}", xlim=(0, None))
        ax.set_ylim(max(len(shown), 1) - 0.5, -0.5)
        ax.grid(axis="x", color="#d8dde2", linewidth=0.7)
        ax.set_axisbelow(True)
        despine(ax)
    return figure


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG, the same text for equal figures, and close it.

    Letters are drawn as paths, so that no font is needed.
    """
    pyplot = _pyplot()
    out = io.StringIO()
    # A fixed salt and no date: without them every page would differ from the last.
    with pyplot.rc_context({"svg.hashsalt": "purecover", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", dpi=110, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return out.getvalue()


def _pyplot() -> Any:
    return require("matplotlib.pyplot", install="'purecover-paper[plot]'")


def despine(ax: Axes) -> None:
    """Remove the top and right spines."""
    ax.spines[["top", "right"]].set_visible(False)
