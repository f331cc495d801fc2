"""A recovered curve beside the observed one: what the ROC and PR displays have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from purecover._typing import FloatArray
from purecover.displays._base import (
    BAND,
    CHANCE,
    CYCLE,
    OBSERVED,
    OBSERVED_DASHES,
    RECOVERED,
    Band,
    Display,
    band_label,
    despine_axes,
    drawn_before,
    limits,
    style,
    thinned,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

_ROLE = "purecover-{}"
_FITS_INSIDE = 4  # entries of a legend


class Series(NamedTuple):
    """One line of the picture."""

    x: FloatArray
    y: FloatArray
    label: str


class CurveDisplay(Display):
    """An observed and a recovered curve of rates, a band and the chance level."""

    band: Band | None
    line_: Line2D
    observed_: Line2D | None
    band_: PolyCollection | None
    chance_level_: Line2D | None

    _axes: tuple[str, str]  # names of the columns
    _labels: tuple[str, str]  # labels of the axes
    _legend: Literal["lower right", "best"]  # where the legend stands
    _drawstyle: str = "default"

    @abstractmethod
    def _lines(self) -> dict[str, Series]:
        """The curves, all points: ``observed``, ``recovered`` and ``chance``."""

    def _thin_lines(self) -> dict[str, Series]:
        out = {}
        for role, (x, y, label) in self._lines().items():
            keep = thinned(x, y)
            out[role] = Series(x[keep], y[keep], label)
        return out

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        parts = [(role, line.x, line.y) for role, line in self._thin_lines().items()]
        if self.band is not None:
            x = np.asarray(self.band.x, dtype=np.float64)
            parts += [("band low", x, np.asarray(self.band.low, dtype=np.float64))]
            parts += [("band high", x, np.asarray(self.band.high, dtype=np.float64))]
        roles = np.repeat([role for role, _, _ in parts], [x.size for _, x, _ in parts])
        return {
            "curve": roles,
            self._axes[0]: np.concatenate([x for _, x, _ in parts]),
            self._axes[1]: np.concatenate([y for _, _, y in parts]),
        }

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        plot_observed: bool = True,
        observed_kwargs: Mapping[str, Any] | None = None,
        band_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = True,
        chance_level_kw: Mapping[str, Any] | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given. A second display drawn into the same
            axes takes the next color.
        name : str, optional
            Stands before the legend entries; the display's own name if not given.
        curve_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.plot` for the recovered curve.
        plot_observed : bool, default=True
            Whether to draw the observed curve.
        observed_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.plot` for the observed curve.
        band_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.fill_between` for the band.
        plot_chance_level : bool, default=True
            Whether to draw the curve of a classifier that guesses.
        chance_level_kw : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.plot` for the chance level.
        despine : bool, default=False
            Whether to take the top and right spines away.

        Returns
        -------
        Display
            Itself, with the artists as ``line_``, ``observed_``, ``band_``,
            ``chance_level_`` (None where not drawn), ``ax_`` and ``figure_``.

        Notes
        -----
        A curve of more than 5,000 points is thinned: of consecutive points within one cell of
        a 2,000 x 2,000 grid over the curve's range, the first and the last are drawn, which
        moves the line by less than a pixel.
        """
        ax = self._open(ax, figsize=(5.0, 4.8))
        name = self.name if name is None else name
        lines = self._thin_lines()
        self.observed_ = self.band_ = self.chance_level_ = None

        # Drawn in the order of the legend; what lies above what is settled by zorder.
        turn = drawn_before(ax, _ROLE.format("recovered"))
        look = {**RECOVERED, "color": CYCLE[turn % len(CYCLE)]}
        self.line_ = self._draw("recovered", lines["recovered"], look, curve_kwargs, name)
        if self.band is not None:
            options = {
                **BAND,
                "color": self.line_.get_color(),
                "label": titled(name, band_label(self.band)),
                **(band_kwargs or {}),
            }
            self.band_ = ax.fill_between(self.band.x, self.band.low, self.band.high, **options)
        if plot_observed:
            look = {**OBSERVED, "linestyle": OBSERVED_DASHES[turn % len(OBSERVED_DASHES)]}
            self.observed_ = self._draw("observed", lines["observed"], look, observed_kwargs, name)
        if plot_chance_level:
            chance = lines["chance"]
            if drawn_before(ax, _ROLE.format("chance")):
                # Several models in one picture share one entry in the legend.
                chance = chance._replace(label="_nolegend_")
            self.chance_level_ = self._draw("chance", chance, CHANCE, chance_level_kw, None)

        drawn = [line for line in ax.get_lines() if line.get_gid()]
        ax.set(
            xlabel=self._labels[0],
            ylabel=self._labels[1],
            xlim=limits(*(np.asarray(line.get_xdata(), dtype=np.float64) for line in drawn)),
            ylim=limits(*(np.asarray(line.get_ydata(), dtype=np.float64) for line in drawn)),
        )
        ax.set_aspect("equal")
        if despine:
            despine_axes(ax)
        handles = ax.get_legend_handles_labels()[0]
        handles.sort(key=lambda handle: handle.get_gid() == _ROLE.format("chance"))  # chance last
        crowded = self._legend == "best" and len(handles) > _FITS_INSIDE
        if crowded and ax.figure.get_layout_engine() is not None:
            # No corner is free for so many entries; a layout makes room for them below.
            ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=1)
        else:
            ax.legend(handles=handles, loc=self._legend)
        return self

    def _draw(
        self,
        role: str,
        line: Series,
        look: Mapping[str, Any],
        wishes: Mapping[str, Any] | None,
        name: str | None,
    ) -> Line2D:
        defaults = {**look, "label": titled(name, line.label), "gid": _ROLE.format(role)}
        if role != "chance":
            defaults["drawstyle"] = self._drawstyle
        (artist,) = self.ax_.plot(line.x, line.y, **style(defaults, wishes))
        return artist
