"""How a recovered metric moves with alpha and beta, as a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purecover._given import GivenProportions
from purecover._typing import ArrayLike, FloatArray, Repair, Scenario, Target
from purecover._validation import bad_type, bad_value, check_instance
from purecover.counts import ScoreCounts
from purecover.displays._base import (
    BLUE,
    OBSERVED,
    RECOVERED,
    Display,
    despine_axes,
    phrase,
    style,
)
from purecover.displays._heat import ALPHA_LABEL, BETA_LABEL, GRAY, MARK, NAN_HATCH, draw_heat
from purecover.proportions import MixtureProportions
from purecover.recovery._registry import METRICS
from purecover.recovery._sensitivity import SensitivityGrid, auc_sensitivity, sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D

__all__ = ["SensitivityDisplay"]


class SensitivityDisplay(Display):
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
    >>> from purecover import MixtureProportions, ScoreCounts, SensitivityDisplay, sensitivity
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

    def __init__(
        self,
        grid: SensitivityGrid,
        *,
        mark: MixtureProportions | None = None,
        name: str | None = None,
    ) -> None:
        function = type(self).__name__
        check_instance(
            function, "grid", grid, SensitivityGrid, "make it with sensitivity(counts, ...)"
        )
        if max(grid.values.shape) < 2:
            raise bad_value(
                function, "grid", "of at least two values of alpha or of beta", "one of each"
            )
        if mark is not None and not isinstance(mark, MixtureProportions):
            hint = "write MixtureProportions(alpha, beta)"
            raise bad_type(function, "mark", "a MixtureProportions or None", mark, hint)
        self.grid = grid
        self.mark = mark
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        positive_label: object = None,
        alpha: float | None = None,
        beta: float = 1.0,
        proportions: MixtureProportions | None = None,
        prior: float | None = None,
        label_frequency: float | None = None,
        scenario: Scenario | None = None,
        sample_weight: ArrayLike | None = None,
        metric: str = "roc_auc",
        alphas: ArrayLike | None = None,
        betas: ArrayLike | None = None,
        threshold: float | None = None,
        target: Target = "population",
        repair: Repair | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Recover a metric of scores over a grid of alpha and beta and draw it.

        Parameters
        ----------
        scores, labeled, positive_label, sample_weight
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        alpha, beta, proportions, prior, label_frequency, scenario
            What is known of the shares of positives, as in :func:`evaluate`. Alpha and
            beta are marked.
        metric : str, default="roc_auc"
            A ranking or threshold metric of ``METRICS``.
        alphas, betas : float or array-like, optional
            The grid; see :func:`sensitivity`, and :func:`auc_sensitivity` for the AUC. One
            number for ``betas``, such as 1, gives a curve over alpha.
        threshold : float, optional
            Where a threshold metric is taken.
        target : {"population", "deployment", "pooled"} or float, default="population"
            The population prior-dependent metrics speak of.
        repair : str, optional
            How curves are repaired; see :func:`recover_metrics`.
        name : str, optional
            The title of the axes.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        SensitivityDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover import SensitivityDisplay
        >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
        >>> labeled = [1, 1, 0, 1, 0, 1, 0, 0, 0, 0]
        >>> display = SensitivityDisplay.from_predictions(scores, labeled, alpha=0.2, betas=1.0)
        >>> display.observed_.get_label()
        'observed (AUC 0.83)'
        """
        given = GivenProportions(alpha, beta, proportions, prior, label_frequency, scenario)
        counts, mixture = cls._read(
            "from_predictions", given, scores, labeled, sample_weight, positive_label, options
        )
        if metric == "roc_auc":
            grid = auc_sensitivity(counts, alphas=alphas, betas=betas)
        else:
            grid = sensitivity(
                counts,
                metric,
                alphas=alphas,
                betas=betas,
                threshold=threshold,
                target=target,
                repair=repair,
                scenario=mixture.scenario,
            )
        return cls(grid, mark=mixture, name=name).plot(ax, **options)

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
        return f"Recovered {phrase(METRICS[self.grid.metric].title)}"

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

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        mesh_kwargs: Mapping[str, Any] | None = None,
        mark_kwargs: Mapping[str, Any] | None = None,
        plot_contours: bool = True,
        plot_colorbar: bool = True,
        despine: bool = False,
    ) -> Self:
        """Draw the grid.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        name : str, optional
            The title of the axes; the display's own name if not given.
        curve_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.plot` for a curve.
        mesh_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.pcolormesh` for a heat map.
        mark_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.plot` for the marked proportions.
        plot_contours : bool, default=True
            Whether a heat map has lines of equal value.
        plot_colorbar : bool, default=True
            Whether a heat map has its scale beside it.
        despine : bool, default=False
            Whether to take the top and right spines away.

        Returns
        -------
        SensitivityDisplay
            Itself, with its artists.
        """
        ax = self._open(ax, figsize=(6.0, 4.0) if self._is_curve else (6.4, 4.8))
        self.mesh_ = self.colorbar_ = self.contours_ = None
        self.line_ = self.observed_ = self.mark_ = None
        if self._is_curve:
            self._plot_curve(ax, curve_kwargs, mark_kwargs)
        else:
            self._plot_map(ax, mesh_kwargs, mark_kwargs, plot_contours, plot_colorbar)
        name = self.name if name is None else name
        if name is not None:
            ax.set_title(name)
        if despine:
            despine_axes(ax)
        return self

    def _plot_map(
        self,
        ax: Axes,
        mesh_kwargs: Mapping[str, Any] | None,
        mark_kwargs: Mapping[str, Any] | None,
        plot_contours: bool,
        plot_colorbar: bool,
    ) -> None:
        from matplotlib.patches import Patch

        grid, values = self.grid, self._values()
        low, high = grid.range
        meaningless = np.isnan(grid.values) & ~grid.infeasible
        handles: list[Any] = []
        options = {"cmap": "viridis", "vmin": low, "vmax": high, **(mesh_kwargs or {})}
        if not math.isfinite(low):  # nothing fits the scores: all is gray
            options.pop("vmin"), options.pop("vmax")
        self.mesh_ = draw_heat(ax, grid.alphas, grid.betas, values, grid.infeasible, options)
        if meaningless.any():
            ax.patch.set(**NAN_HATCH)
        if plot_contours and low < high:
            self.contours_ = ax.contour(
                grid.alphas, grid.betas, np.ma.masked_invalid(values).T, levels=6, colors="white",
                linewidths=0.8,
            )  # fmt: skip
            ax.clabel(self.contours_, fontsize=8, inline_spacing=3)
        if plot_colorbar:
            self.colorbar_ = ax.figure.colorbar(self.mesh_, ax=ax, label=self._value_label)
        if self.mark is not None:
            look = {**MARK, "label": _proportions_label(self.mark)}
            (self.mark_,) = ax.plot(self.mark.alpha, self.mark.beta, **style(look, mark_kwargs))
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

    def _plot_curve(
        self,
        ax: Axes,
        curve_kwargs: Mapping[str, Any] | None,
        mark_kwargs: Mapping[str, Any] | None,
    ) -> None:
        grid = self.grid
        over_alpha = grid.betas.size == 1
        x = grid.alphas if over_alpha else grid.betas
        y = self._values().ravel()
        fixed = rf"$\beta$ = {grid.betas[0]:g}" if over_alpha else rf"$\alpha$ = {grid.alphas[0]:g}"
        look = {**RECOVERED, "color": BLUE, "label": f"recovered ({fixed})"}
        (self.line_,) = ax.plot(x, y, **style(look, curve_kwargs))
        if self._has_observed:
            look = {**OBSERVED, "label": f"observed (AUC {grid.auc_pu:.2f})"}
            (self.observed_,) = ax.plot(x, np.full(x.size, grid.auc_pu), **look)
        if self.mark is not None:
            at = self.mark.alpha if over_alpha else self.mark.beta
            look = {"color": "#333333", "linewidth": 1.0, "label": _proportions_label(self.mark)}
            self.mark_ = ax.axvline(at, **style(look, mark_kwargs))
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
