"""The paper's heat maps: how wrong proportions mislead, as pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purecover._given import GivenProportions
from purecover._typing import ArrayLike, Scenario
from purecover._validation import bad_type, check_instance, require
from purecover.counts import ScoreCounts
from purecover.displays._base import Display, despine_axes, style
from purecover.displays._diagram import TRUTH, draw_diagram
from purecover.displays._heat import draw_heat
from purecover.proportions import MixtureProportions
from purecover.recovery._auc import recover_auc
from purecover.recovery._error_maps import ErrorMap, error_map, error_maps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.lines import Line2D

__all__ = ["ErrorMapDisplay"]

_GUESSED = (r"Assumed $\alpha$", r"Assumed $\beta$")
_ERROR_LABEL = "Absolute error of the recovered AUC"
# Light where the error is small.
_CMAP = "YlGnBu"


class ErrorMapDisplay(Display):
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
    >>> from purecover import ErrorMapDisplay, error_map
    >>> display = ErrorMapDisplay(error_map(alpha=0.25, beta=0.75, auc=0.9)).plot()
    >>> display.ax_.get_title()
    'AUC 0.9 (observed 0.7)'
    """

    mesh_: QuadMesh
    colorbar_: Colorbar | None
    truth_: tuple[Line2D, Line2D]
    lines_: dict[str, Line2D]

    def __init__(self, error_map: ErrorMap, *, name: str | None = None) -> None:
        check_instance(
            type(self).__name__,
            "error_map",
            error_map,
            ErrorMap,
            "make it with error_map(alpha, beta, auc)",
        )
        self.error_map = error_map
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
        n_grid: int = 101,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw how wrong the AUC of scores would be with other proportions.

        Parameters
        ----------
        scores, labeled, positive_label, sample_weight
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        alpha, beta, proportions, prior, label_frequency, scenario
            What is known of the shares of positives, as in :func:`evaluate`. Alpha and
            beta are taken for the truth.
        n_grid : int, default=101
            Guesses per axis.
        name : str, optional
            The title of the axes.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        ErrorMapDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover import ErrorMapDisplay
        >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
        >>> labeled = [1, 1, 0, 1, 0, 1, 0, 0, 0, 0]
        >>> display = ErrorMapDisplay.from_predictions(scores, labeled, alpha=0.2)
        >>> round(display.error_map.auc, 4)
        0.9167
        """
        given = GivenProportions(alpha, beta, proportions, prior, label_frequency, scenario)
        counts, mixture = cls._read(
            "from_predictions", given, scores, labeled, sample_weight, positive_label, options
        )
        auc = recover_auc(counts, mixture)
        found = error_map(mixture.alpha, mixture.beta, auc, n_grid=n_grid)
        return cls(found, name=name).plot(ax, **options)

    @classmethod
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
        >>> from purecover import ErrorMapDisplay, error_maps
        >>> displays = ErrorMapDisplay.panels(error_maps(n_grid=11))
        >>> len(displays)
        27
        """
        function = f"{cls.__name__}.panels"
        pyplot = require("matplotlib.pyplot", function=function, extra="plot")
        found: Any = error_maps() if maps is None else maps
        if not isinstance(found, Mapping) or any(np.shape(truth) != (3,) for truth in found):
            found = {}
        alphas, betas, aucs = (sorted({truth[i] for truth in found}) for i in range(3))
        if not found or len(found) != len(alphas) * len(betas) * len(aucs):
            raise bad_type(
                function, "maps", "a full grid of maps by (alpha, beta, auc)", maps,
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
        >>> from purecover import ErrorMapDisplay
        >>> display = ErrorMapDisplay.with_diagram(0.25, 0.75, 0.9, n_grid=11)
        >>> sorted(display.lines_)
        ['one', 'true', 'zero']
        """
        pyplot = require("matplotlib.pyplot", function=f"{cls.__name__}.with_diagram", extra="plot")
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

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        mesh_kwargs: Mapping[str, Any] | None = None,
        truth_kwargs: Mapping[str, Any] | None = None,
        plot_colorbar: bool = True,
        despine: bool = False,
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        name : str, optional
            The title of the axes; the display's own name if not given, and if it has none,
            the true and the observed AUC.
        mesh_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.pcolormesh`.
        truth_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.axvline` and ``axhline`` for the truth.
        plot_colorbar : bool, default=True
            Whether to draw the scale.
        despine : bool, default=False
            Whether to take the top and right spines away.

        Returns
        -------
        ErrorMapDisplay
            Itself, with its artists.
        """
        ax = self._open(ax, figsize=(5.6, 4.6))
        from matplotlib.colors import PowerNorm

        found = self.error_map
        # One scale for all maps, so that they can be compared; the square root because half of
        # a map has errors near 1 and the other half is where the story is.
        options = {"cmap": _CMAP, "norm": PowerNorm(0.5, 0.0, 1.0), **(mesh_kwargs or {})}
        self.mesh_ = draw_heat(
            ax, found.alphas, found.betas, found.errors, found.infeasible, options
        )
        look = style(TRUTH, truth_kwargs)
        self.truth_ = (ax.axvline(found.alpha, **look), ax.axhline(found.beta, **look))
        self.colorbar_ = None
        if plot_colorbar:
            self.colorbar_ = ax.figure.colorbar(self.mesh_, ax=ax, label=_ERROR_LABEL)
        name = self.name if name is None else name
        if name is None:
            name = f"AUC {found.auc:.3g} (observed {found.auc_pu:.3g})"
        ax.set(xlabel=_GUESSED[0], ylabel=_GUESSED[1], title=name)
        ax.set_aspect("equal")
        if despine:
            despine_axes(ax)
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
