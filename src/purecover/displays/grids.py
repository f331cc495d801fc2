"""Heat maps and curves of a recovered metric over alpha and beta."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from purecover._typing import ArrayLike, FloatArray, Repair, Target
from purecover._validation import bad_type, bad_value, check_instance, public
from purecover.counts import ScoreCounts
from purecover.displays import base
from purecover.proportions import MixtureProportions
from purecover.recovery.grids import SensitivityGrid, sensitivity
from purecover.recovery.metrics import METRICS

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


class SensitivityDisplay(base.Display):
    """A recovered metric over assumed values of alpha and beta.

    A grid of both is drawn as a heat map, a grid of one of them as a curve. Gray are the
    pairs that contradict the scores: the AUC they recover leaves [0, 1]. Hatched are those
    with alpha not below beta.

    Parameters
    ----------
    grid : SensitivityGrid
        The values, from :func:`sensitivity`.
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
        **options: Unpack[base.CurveKeywords],
    ) -> Self:
        """Recover a metric of scores over a grid of alpha and beta, and mark those given.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        metric : str, default="roc_auc"
            A ranking or threshold metric of ``METRICS``.
        alphas, betas : float or array-like, optional
            The grid; see :func:`sensitivity`. One number for ``betas``, such as 1, gives a
            curve over alpha.
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
        grid = sensitivity(
            counts, metric, alphas=alphas, betas=betas, threshold=threshold, target=target,
            repair=repair, scenario=mixture.scenario,
        )  # fmt: skip
        return cls(grid, mark=mixture)._drawn(options)

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
        """Return the values to be colored; NaN for infeasible pairs."""
        return np.where(self.grid.infeasible, np.nan, self.grid.values)

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        columns = {**self.grid._columns(), "value": self._values().ravel()}
        if self._has_observed:
            columns["observed"] = np.full(columns["value"].size, self.grid.auc_pu)
        return columns

    @public
    def plot(self, ax: Axes | None = None, **look: Unpack[base.CurveLook]) -> Self:
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
        if self._is_curve:
            self._plot_curve(ax, given)
        else:
            self._plot_map(ax)
        self._titled(given)
        return self

    def _plot_map(self, ax: Axes) -> None:
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        grid, shown = self.grid, np.ma.masked_invalid(self._values()).T
        low, high = grid.range
        gray = grid.infeasible
        meaningless = np.isnan(grid.values) & ~gray
        handles: list[Any] = []
        # Ten thousand cells as a picture, not as ten thousand polygons, in PDF and SVG too.
        common: dict[str, Any] = {"shading": "nearest", "rasterized": True}
        if gray.any():
            flag = np.ma.masked_where(~gray, np.zeros(gray.shape)).T
            ax.pcolormesh(grid.alphas, grid.betas, flag, cmap=ListedColormap([GRAY]), **common)
        if math.isfinite(low):  # else nothing fits the scores: all is gray
            common |= {"vmin": low, "vmax": high}
        self.mesh_ = ax.pcolormesh(grid.alphas, grid.betas, shown, cmap="viridis", **common)
        if meaningless.any():
            ax.patch.set(**NAN_HATCH)
        if low < high:
            self.contours_ = ax.contour(
                grid.alphas, grid.betas, shown, levels=6, colors="white", linewidths=0.8
            )
            ax.clabel(self.contours_, fontsize=8, inline_spacing=3)
        self.colorbar_ = ax.figure.colorbar(self.mesh_, ax=ax, label=self._value_label)
        if self.mark is not None:
            label = _proportions_label(self.mark)
            (self.mark_,) = ax.plot(self.mark.alpha, self.mark.beta, **MARK, label=label)
            handles.append(self.mark_)
        if gray.any():
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
        line = {**base.RECOVERED, "color": base.BLUE, "label": f"corrected ({fixed})"}
        (self.line_,) = ax.plot(x, y, **base.style(line, look.curve_kwargs))
        if self._has_observed:
            line = {**base.OBSERVED, "label": f"observed (AUC {grid.auc_pu:.2f})"}
            (self.observed_,) = ax.plot(x, np.full(x.size, grid.auc_pu), **line)
        if self.mark is not None:
            at = self.mark.alpha if over_alpha else self.mark.beta
            line = {"color": "#333333", "linewidth": 1.0, "label": _proportions_label(self.mark)}
            self.mark_ = ax.axvline(at, **line)
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
