"""Heat maps over alpha and beta: sensitivity of a metric, and the paper's maps of errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from purecover._typing import ArrayLike, FloatArray, Repair, Target
from purecover._validation import bad_type, bad_value, check_instance, public, require
from purecover.counts import ScoreCounts
from purecover.displays import base
from purecover.proportions import KnownKeywords, MixtureProportions
from purecover.recovery.maps import (
    ErrorMap,
    LineOfInterest,
    SensitivityGrid,
    auc_sensitivity,
    error_map,
    error_maps,
    lines_of_interest,
    sensitivity,
)
from purecover.recovery.metrics import METRICS
from purecover.recovery.rates import recover_auc

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D


GRAY = "#c8c8c8"
"""Pairs that contradict the scores."""

NAN_HATCH: dict[str, Any] = {
    "facecolor": "white",
    "edgecolor": "#d0d0d0",
    "hatch": "////",
    "linewidth": 0.0,
}
"""Pairs that have no meaning: alpha not below beta."""

MARK: dict[str, Any] = {
    "marker": "o",
    "markersize": 8,
    "markerfacecolor": "#D55E00",
    "markeredgecolor": "white",
    "markeredgewidth": 1.5,
    "linestyle": "none",
    "zorder": 3,
}

ALPHA_LABEL = r"Assumed $\alpha$ (positives among the unlabeled)"
BETA_LABEL = r"Assumed $\beta$ (positives among the labeled)"


def draw_heat(
    ax: Axes, grid: ErrorMap | SensitivityGrid, values: FloatArray, options: dict[str, Any]
) -> QuadMesh:
    """Values over a grid as colors; infeasible cells are gray, NaN see-through."""
    from matplotlib.colors import ListedColormap

    # Ten thousand cells as a picture, not as ten thousand polygons, in PDF and SVG too.
    common: dict[str, Any] = {"shading": "nearest", "rasterized": True}
    alphas, betas, gray = grid.alphas, grid.betas, grid.infeasible
    if gray.any():
        flag = np.ma.masked_where(~gray, np.zeros(gray.shape))
        ax.pcolormesh(alphas, betas, flag.T, cmap=ListedColormap([GRAY]), **common)
    shown = np.ma.masked_where(gray | np.isnan(values), values)
    return ax.pcolormesh(alphas, betas, shown.T, **{**common, **options})


# -- The paper's diagram of a heat map of errors: where the recovered AUC takes a telling value --


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
            look = {"color": base.VERMILLION, "linewidth": 2.0}
        (drawn[line.name],) = ax.plot(xs, ys, **look)
        _label_line(ax, line, line.segment, found)
    _shade_infeasible(ax, lines)
    ax.axvline(found.alpha, **TRUTH)
    ax.axhline(found.beta, **TRUTH)
    ax.plot(
        found.alpha, found.beta, "o", color=base.VERMILLION, markeredgecolor="white", markersize=8,
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


def _label_line(ax: Axes, line: LineOfInterest, segment: Any, found: ErrorMap) -> None:
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
        color=base.VERMILLION if line.name == "true" else "black",
    )  # fmt: skip


# -- The paper's heat maps: how wrong proportions mislead, as pictures ---------------------------


_GUESSED = (r"Assumed $\alpha$", r"Assumed $\beta$")
_ERROR_LABEL = "Absolute error of the recovered AUC"
# Light where the error is small.
_CMAP = "YlGnBu"


class ErrorMapLook(base.LookKeywords, total=False):
    """How a map of errors is drawn."""

    mesh_kwargs: base.Style
    truth_kwargs: base.Style
    plot_colorbar: bool


class ErrorMapKeywords(KnownKeywords, base.DataKeywords, ErrorMapLook, total=False):
    """What a map of errors is made of."""


class ErrorMapDisplay(base.Display):
    """Error of the recovered AUC at every pair of assumed proportions, the truth dotted.

    Gray are the pairs whose recovered AUC leaves [0, 1].

    Parameters
    ----------
    error_map : ErrorMap
        The errors, from :func:`error_map`.
    name : str, optional
        The title of the axes.

    Attributes
    ----------
    mesh_ : matplotlib QuadMesh
        The heat map; set by :meth:`plot`.
    colorbar_ : matplotlib Colorbar or None
        Its scale.
    truth_ : tuple of two matplotlib Line2D
        The dotted lines at the true alpha and beta.
    lines_ : dict of str to matplotlib Line2D
        The lines of interest; set by :meth:`plot_diagram`.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    error_map : Computes what is drawn.
    SensitivityDisplay : The same question asked of data.

    Examples
    --------
    >>> from purecover.displays import ErrorMapDisplay
    >>> from purecover.recovery import error_map
    >>> display = ErrorMapDisplay(error_map(alpha=0.25, beta=0.75, auc=0.9)).plot()
    >>> display.ax_.get_title()
    'AUC 0.9 (observed 0.7)'
    """

    mesh_: QuadMesh
    colorbar_: Colorbar | None
    truth_: tuple[Line2D, Line2D]
    lines_: dict[str, Line2D]

    @public
    def __init__(self, error_map: ErrorMap, *, name: str | None = None) -> None:
        hint = "make it with error_map(alpha, beta, auc)"
        check_instance("error_map", error_map, ErrorMap, hint)
        self.error_map = error_map
        self.name = name

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        n_grid: int = 101,
        **options: Unpack[ErrorMapKeywords],
    ) -> Self:
        """Draw how wrong the AUC of scores would be if alpha and beta were others than these.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        n_grid : int, default=101
            Guesses per axis.
        **options

        Returns
        -------
        ErrorMapDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover.displays import ErrorMapDisplay
        >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
        >>> labeled = [1, 1, 0, 1, 0, 1, 0, 0, 0, 0]
        >>> display = ErrorMapDisplay.from_predictions(scores, labeled, alpha=0.2)
        >>> round(display.error_map.auc, 4)
        0.9167
        """
        counts, mixture = cls._read(scores, labeled, options, warns=False)
        auc = recover_auc(counts, mixture)  # which warns
        found = error_map(mixture.alpha, mixture.beta, auc, n_grid=n_grid)
        return cls(found)._drawn(options)

    @classmethod
    @public
    def panels(
        cls, maps: Mapping[tuple[float, float, float], ErrorMap] | None = None
    ) -> dict[tuple[float, float, float], ErrorMapDisplay]:
        """Draw many maps as one figure: a block per AUC, alpha across, beta upward.

        Parameters
        ----------
        maps : dict, optional
            Maps by ``(alpha, beta, auc)``, every combination, as :func:`error_maps` returns
            them; the 27 of the paper's Figure 3 by default.

        Returns
        -------
        dict
            The displays by ``(alpha, beta, auc)``; all have the same ``figure_``.

        Examples
        --------
        >>> from purecover.displays import ErrorMapDisplay
        >>> from purecover.recovery import error_maps
        >>> displays = ErrorMapDisplay.panels(error_maps(n_grid=11))
        >>> len(displays)
        27
        """
        pyplot = require("matplotlib.pyplot", extra="plot")
        found: Any = error_maps() if maps is None else maps
        if not isinstance(found, Mapping) or any(np.shape(truth) != (3,) for truth in found):
            found = {}
        alphas, betas, aucs = (sorted({truth[i] for truth in found}) for i in range(3))
        if not found or len(found) != len(alphas) * len(betas) * len(aucs):
            raise bad_type(
                "maps", "a full grid of maps by (alpha, beta, auc)", maps,
                "make them with error_maps(alphas, betas, aucs)",
            )  # fmt: skip
        n_columns = len(alphas)
        figure = pyplot.figure(
            figsize=(1.6 + 1.2 * n_columns * len(aucs), 0.9 + 1.12 * len(betas)),
            layout="constrained",
        )
        # Blocks side by side in one grid, a narrow empty column between them.
        widths = [*([1.0] * n_columns + [0.12]) * len(aucs)][:-1]
        grid = figure.add_gridspec(len(betas), len(widths), width_ratios=widths)
        displays: dict[tuple[float, float, float], ErrorMapDisplay] = {}
        for block, auc in enumerate(aucs):
            for row, beta in enumerate(reversed(betas)):
                for column, alpha in enumerate(alphas):
                    ax = figure.add_subplot(grid[row, block * (n_columns + 1) + column])
                    display = cls(found[alpha, beta, auc], name="").plot(ax, plot_colorbar=False)
                    displays[alpha, beta, auc] = display
                    title = rf"$\alpha$ = {alpha:g}" if row == 0 else ""
                    if row == 0 and column == n_columns // 2:
                        title = rf"$\bf{{AUC\ {auc:g}}}$" "\n" + title
                    ax.set_title(title, fontsize="medium")
                    ax.set(xlabel="", ylabel="", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
                    first, last = column + block == 0, row == len(betas) - 1
                    ax.set_yticklabels(["0", "½", "1"] if first else [])
                    ax.set_xticklabels(["0", "½", "1"] if last else [])
                    if block == len(aucs) - 1 and column == n_columns - 1:
                        ax.annotate(
                            rf"$\beta$ = {beta:g}", (1.05, 0.5), xycoords="axes fraction",
                            rotation=-90, va="center",
                        )  # fmt: skip
        figure.supxlabel(_GUESSED[0], fontsize="medium")
        figure.supylabel(_GUESSED[1], fontsize="medium")
        scale = figure.colorbar(
            display.mesh_, ax=figure.axes, label="Absolute error of AUC", fraction=0.02, pad=0.01
        )
        for display in displays.values():
            display.colorbar_ = scale
        return displays

    @classmethod
    @public
    def with_diagram(cls, alpha: float, beta: float, auc: float, *, n_grid: int = 201) -> Self:
        """Draw a map and, beside it, the diagram that explains it.

        Parameters
        ----------
        alpha, beta : float
            The true proportions.
        auc : float
            The true AUC. The paper's Figure 4 has 0.25, 0.75 and 0.9.
        n_grid : int, default=201
            Guesses per axis of the map.

        Returns
        -------
        ErrorMapDisplay
            The display; ``ax_`` holds the map and ``diagram_ax_`` the diagram.

        Examples
        --------
        >>> from purecover.displays import ErrorMapDisplay
        >>> display = ErrorMapDisplay.with_diagram(0.25, 0.75, 0.9, n_grid=11)
        >>> sorted(display.lines_)
        ['one', 'true', 'zero']
        """
        pyplot = require("matplotlib.pyplot", extra="plot")
        display = cls(error_map(alpha, beta, auc, n_grid=n_grid))
        _, axes = pyplot.subplots(1, 2, figsize=(10.4, 4.6), layout="constrained")
        return display.plot(axes[0]).plot_diagram(axes[1])

    diagram_ax_: Axes

    def _summary(self) -> str:
        found = self.error_map
        return f"alpha={found.alpha:.3g}, beta={found.beta:.3g}, auc={found.auc:.3g}"

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        found = self.error_map
        alphas, betas = np.broadcast_arrays(found.alphas[:, np.newaxis], found.betas)
        return {"alpha": alphas.ravel(), "beta": betas.ravel(), "error": found.errors.ravel()}

    @public
    def plot(self, ax: Axes | None = None, **look: Unpack[ErrorMapLook]) -> Self:
        """Draw the map; its title is the true and the observed AUC where it has no name.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **look

        Returns
        -------
        ErrorMapDisplay
            Itself, with its artists.
        """
        ax = self._open(ax, figsize=(5.6, 4.6))
        from matplotlib.colors import PowerNorm

        given, found = base.Look.among(look), self.error_map
        # One scale for all maps, so that they can be compared; the square root because half of
        # a map has errors near 1 and the other half is where the story is.
        options = {"cmap": _CMAP, "norm": PowerNorm(0.5, 0.0, 1.0), **(given.mesh_kwargs or {})}
        self.mesh_ = draw_heat(ax, found, found.errors, options)
        line = base.style(TRUTH, given.truth_kwargs)
        self.truth_ = (ax.axvline(found.alpha, **line), ax.axhline(found.beta, **line))
        self.colorbar_ = None
        if given.plot_colorbar:
            self.colorbar_ = ax.figure.colorbar(self.mesh_, ax=ax, label=_ERROR_LABEL)
        ax.set(xlabel=_GUESSED[0], ylabel=_GUESSED[1])
        ax.set_aspect("equal")
        self._titled(given, f"AUC {found.auc:.3g} (observed {found.auc_pu:.3g})")
        return self

    def plot_diagram(self, ax: Axes | None = None) -> Self:
        """Draw the lines on which the recovered AUC takes a telling value.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        ErrorMapDisplay
            Itself, with ``lines_`` by the name of the line and ``diagram_ax_``.

        Notes
        -----
        The recovered AUC is 1/2 on no line: it comes closer to that value the further the
        assumed alpha and beta are apart.
        """
        kept = (getattr(self, "ax_", None), getattr(self, "figure_", None))
        ax = self._open(ax, figsize=(5.0, 4.8))
        self.diagram_ax_ = ax
        if kept[0] is not None:  # the map stays what ax_ means
            self.ax_, self.figure_ = kept  # type: ignore[assignment]
        self.lines_ = draw_diagram(ax, self.error_map)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel=_GUESSED[0], ylabel=_GUESSED[1])
        ax.set_aspect("equal")
        return self


# -- How a recovered metric moves with alpha and beta, as a picture ------------------------------


class SensitivityLook(base.LookKeywords, total=False):
    """How a metric is drawn over alpha and beta."""

    curve_kwargs: base.Style
    mesh_kwargs: base.Style
    mark_kwargs: base.Style
    plot_contours: bool
    plot_colorbar: bool


class SensitivityKeywords(KnownKeywords, base.DataKeywords, SensitivityLook, total=False):
    """What a picture of sensitivity is made of."""


class SensitivityDisplay(base.Display):
    """A recovered metric over assumed values of alpha and beta.

    A grid of both is drawn as a heat map, a grid of one of them as a curve. Gray are the
    pairs that contradict the scores: the AUC they recover leaves [0, 1]. Hatched are those
    with alpha not below beta.

    Parameters
    ----------
    grid : SensitivityGrid
        The values, from :func:`sensitivity` or :func:`auc_sensitivity`.
    mark : MixtureProportions, optional
        The proportions in use, or the true ones, to be marked.
    name : str, optional
        The title of the axes.

    Attributes
    ----------
    mesh_ : matplotlib QuadMesh or None
        The heat map; set by :meth:`plot`, None where a curve is drawn.
    colorbar_ : matplotlib Colorbar or None
        Its scale.
    contours_ : matplotlib QuadContourSet or None
        Its lines of equal value.
    line_, observed_ : matplotlib Line2D or None
        The curve and, for the AUC, the observed value; None where a heat map is drawn.
    mark_ : matplotlib Line2D or None
        The marked proportions.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    sensitivity : Computes what is drawn.
    ErrorMapDisplay : Errors made by wrong proportions when the truth is known.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.displays import SensitivityDisplay
    >>> from purecover.recovery import sensitivity
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> grid = sensitivity(counts, "auc_pr", alphas=[0.1, 0.2, 0.3], betas=[0.7, 0.8, 0.9])
    >>> display = SensitivityDisplay(grid, mark=MixtureProportions(0.2, 0.8)).plot()
    >>> display.colorbar_.ax.get_ylabel()
    'Recovered AUC-PR'
    """

    mesh_: QuadMesh | None
    colorbar_: Colorbar | None
    contours_: QuadContourSet | None
    line_: Line2D | None
    observed_: Line2D | None
    mark_: Line2D | None

    @public
    def __init__(
        self,
        grid: SensitivityGrid,
        *,
        mark: MixtureProportions | None = None,
        name: str | None = None,
    ) -> None:
        check_instance("grid", grid, SensitivityGrid, "make it with sensitivity(counts, ...)")
        if max(grid.values.shape) < 2:
            raise bad_value("grid", "of at least two values of alpha or of beta", "one of each")
        if mark is not None and not isinstance(mark, MixtureProportions):
            hint = "write MixtureProportions(alpha, beta)"
            raise bad_type("mark", "a MixtureProportions or None", mark, hint)
        self.grid = grid
        self.mark = mark
        self.name = name

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        metric: str = "roc_auc",
        alphas: ArrayLike | None = None,
        betas: ArrayLike | None = None,
        threshold: float | None = None,
        target: Target = "population",
        repair: Repair | None = None,
        **options: Unpack[SensitivityKeywords],
    ) -> Self:
        """Recover a metric of scores over a grid of alpha and beta, and mark those given.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        metric : str, default="roc_auc"
            A ranking or threshold metric of ``METRICS``.
        alphas, betas : float or array-like, optional
            The grid; see :func:`sensitivity`, and :func:`auc_sensitivity` for the AUC. One
            number for ``betas``, such as 1, gives a curve over alpha.
        threshold : float, optional
            Where a threshold metric is taken.
        target : {"population", "deployment", "pooled"} or float, default="population"
            The population that prior-dependent metrics are for.
        repair : str, optional
            How curves are repaired; see :func:`recover_metrics`.
        **options

        Returns
        -------
        SensitivityDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover.displays import SensitivityDisplay
        >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
        >>> labeled = [1, 1, 0, 1, 0, 1, 0, 0, 0, 0]
        >>> display = SensitivityDisplay.from_predictions(scores, labeled, alpha=0.2, betas=1.0)
        >>> display.observed_.get_label()
        'observed (AUC 0.83)'
        """
        counts, mixture = cls._read(scores, labeled, options, warns=False)
        if metric == "roc_auc":
            grid = auc_sensitivity(counts, alphas=alphas, betas=betas)
        else:
            settings: dict[str, Any] = {"threshold": threshold, "target": target, "repair": repair}
            grid = sensitivity(
                counts, metric, alphas=alphas, betas=betas, scenario=mixture.scenario, **settings
            )
        return cls(grid, mark=mixture)._drawn(options)

    def _summary(self) -> str:
        return f"{self.grid.metric}, {self.grid.alphas.size} x {self.grid.betas.size} pairs"

    # -- what is drawn ------------------------------------------------------------------

    @property
    def _is_curve(self) -> bool:
        return 1 in self.grid.values.shape

    @property
    def _has_observed(self) -> bool:
        return self._is_curve and self.grid.metric == "roc_auc"

    @property
    def _value_label(self) -> str:
        return f"Recovered {base.phrase(METRICS[self.grid.metric].title)}"

    def _values(self) -> FloatArray:
        """The values that have a color: not those of infeasible pairs."""
        return np.where(self.grid.infeasible, np.nan, self.grid.values)

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        grid = self.grid
        alphas, betas = np.broadcast_arrays(grid.alphas[:, np.newaxis], grid.betas)
        columns = {
            "alpha": alphas.ravel(),
            "beta": betas.ravel(),
            "value": self._values().ravel(),
            "infeasible": grid.infeasible.ravel(),
        }
        if self._has_observed:
            columns["observed"] = np.full(alphas.size, grid.auc_pu)
        return columns

    @public
    def plot(self, ax: Axes | None = None, **look: Unpack[SensitivityLook]) -> Self:
        """Draw the grid.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **look

        Returns
        -------
        SensitivityDisplay
            Itself, with its artists.
        """
        ax = self._open(ax, figsize=(6.0, 4.0) if self._is_curve else (6.4, 4.8))
        self.mesh_ = self.colorbar_ = self.contours_ = None
        self.line_ = self.observed_ = self.mark_ = None
        given = base.Look.among(look)
        draw = self._plot_curve if self._is_curve else self._plot_map
        draw(ax, given)
        self._titled(given)
        return self

    def _plot_map(self, ax: Axes, look: base.Look) -> None:
        from matplotlib.patches import Patch

        grid, values = self.grid, self._values()
        low, high = grid.range
        meaningless = np.isnan(grid.values) & ~grid.infeasible
        handles: list[Any] = []
        options = {"cmap": "viridis", "vmin": low, "vmax": high, **(look.mesh_kwargs or {})}
        if not math.isfinite(low):  # nothing fits the scores: all is gray
            options.pop("vmin"), options.pop("vmax")
        self.mesh_ = draw_heat(ax, grid, values, options)
        if meaningless.any():
            ax.patch.set(**NAN_HATCH)
        if look.plot_contours and low < high:
            self.contours_ = ax.contour(
                grid.alphas, grid.betas, np.ma.masked_invalid(values).T, levels=6, colors="white",
                linewidths=0.8,
            )  # fmt: skip
            ax.clabel(self.contours_, fontsize=8, inline_spacing=3)
        if look.plot_colorbar:
            self.colorbar_ = ax.figure.colorbar(self.mesh_, ax=ax, label=self._value_label)
        if self.mark is not None:
            mark = base.style({**MARK, "label": _proportions_label(self.mark)}, look.mark_kwargs)
            (self.mark_,) = ax.plot(self.mark.alpha, self.mark.beta, **mark)
            handles.append(self.mark_)
        if grid.infeasible.any():
            handles.append(Patch(facecolor=GRAY, label="infeasible (AUC beyond [0, 1])"))
        if meaningless.any():
            handles.append(Patch(label=r"$\alpha \geq \beta$", **NAN_HATCH))
        ax.set(xlabel=ALPHA_LABEL, ylabel=BETA_LABEL)
        if np.ptp(grid.alphas) == np.ptp(grid.betas):
            ax.set_aspect("equal")
        if handles:
            # Lower right is where alpha exceeds beta and nothing is drawn.
            ax.legend(handles=handles, loc="lower right", framealpha=0.95)

    def _plot_curve(self, ax: Axes, look: base.Look) -> None:
        grid = self.grid
        over_alpha = grid.betas.size == 1
        x = grid.alphas if over_alpha else grid.betas
        y = self._values().ravel()
        fixed = rf"$\beta$ = {grid.betas[0]:g}" if over_alpha else rf"$\alpha$ = {grid.alphas[0]:g}"
        line = {**base.RECOVERED, "color": base.BLUE, "label": f"recovered ({fixed})"}
        (self.line_,) = ax.plot(x, y, **base.style(line, look.curve_kwargs))
        if self._has_observed:
            line = {**base.OBSERVED, "label": f"observed (AUC {grid.auc_pu:.2f})"}
            (self.observed_,) = ax.plot(x, np.full(x.size, grid.auc_pu), **line)
        if self.mark is not None:
            at = self.mark.alpha if over_alpha else self.mark.beta
            line = {"color": "#333333", "linewidth": 1.0, "label": _proportions_label(self.mark)}
            self.mark_ = ax.axvline(at, **base.style(line, look.mark_kwargs))
        if grid.infeasible.any():
            ax.fill_between(
                x, 0, 1, where=grid.infeasible.ravel(), transform=ax.get_xaxis_transform(),
                color=GRAY, linewidth=0, zorder=1, label="infeasible (AUC beyond [0, 1])",
            )  # fmt: skip
        ax.set(
            xlabel=ALPHA_LABEL if over_alpha else BETA_LABEL,
            ylabel=self._value_label,
            # Only pairs that mean something: not alpha = beta = 1.
            xlim=tuple(x[~np.isnan(grid.values.ravel())][[0, -1]]),
        )
        ax.legend(loc="best", framealpha=1)  # the line of the mark must not run through it


def _proportions_label(proportions: MixtureProportions) -> str:
    return rf"$\alpha$ = {proportions.alpha:.3g}, $\beta$ = {proportions.beta:.3g}"
