"""Estimates of alpha and beta by many methods as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np

from purecover._typing import ArrayLike, FloatArray, RandomState
from purecover._validation import bad_value, check_instance, check_names
from purecover.counts import ScoreCounts
from purecover.displays._base import BLUE, GREEN, VERMILLION, count, despine_axes, limits, style
from purecover.displays._scores import ScoresDisplay
from purecover.estimation._comparison import QUANTITIES, PriorComparison, PriorRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    from purecover.estimation._base import PriorEstimator

__all__ = ["PriorsDisplay", "save_priors"]

# Told apart by color, by mark and by place within the row of an estimator.
_LOOKS: dict[str, dict[str, Any]] = {
    "alpha": {"color": BLUE, "marker": "o"},
    "beta": {"color": VERMILLION, "marker": "s"},
    "delta": {"color": GREEN, "marker": "D"},
}
_TITLES = {
    "alpha": r"$\alpha$ (unlabeled)",
    "beta": r"$\beta$ (labeled)",
    "delta": r"$\beta - \alpha$",
}
LEAST_SPAN = 0.3
"""How much of [0, 1] the axis shows at least, so that a small difference looks small."""

_ROW_SHARE = 0.6
"""How much of its row an estimator's marks take up."""


class PriorsDisplay(ScoresDisplay):
    """Estimates of alpha and beta by many methods, a row for each, with intervals.

    The default estimator's row is shaded, and its values run down as thin lines for the eye to
    compare the others with.

    Parameters
    ----------
    comparison : PriorComparison
        The estimates, from :func:`compare_priors`.
    quantities : iterable of {"alpha", "beta", "delta"}, optional
        What to draw. By default all three, or alpha alone where beta was given.
    name : str, optional
        The title of the axes.

    Attributes
    ----------
    points_ : dict of str to matplotlib Line2D
        The estimates by quantity; set by :meth:`plot`.
    intervals_ : dict of str to matplotlib LineCollection
        Their intervals, where there are any.
    default_ : dict of str to matplotlib Line2D
        The lines at the values of the default estimator.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    compare_priors : Computes what is drawn.
    AlphaMaxDisplay : How one of them came about.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3.0).sample(200, 1000, alpha=0.3, random_state=0)
    >>> found = pu.compare_priors(
    ...     sample.scores, sample.labeled, estimators=["bbe", "roc-slope"], n_resamples=0
    ... )
    >>> display = pu.PriorsDisplay(found).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['bbe', 'roc-slope']
    """

    points_: dict[str, Line2D]
    intervals_: dict[str, LineCollection]
    default_: dict[str, Line2D]

    def __init__(
        self,
        comparison: PriorComparison,
        *,
        quantities: Iterable[str] | None = None,
        name: str | None = None,
    ) -> None:
        function = type(self).__name__
        hint = "make it with compare_priors(scores, labeled)"
        check_instance(function, "comparison", comparison, PriorComparison, hint)
        if quantities is None:
            quantities = QUANTITIES if comparison.beta is None else QUANTITIES[:1]
        asked = check_names(function, "quantities", quantities, QUANTITIES)
        if not asked:
            raise bad_value(function, "quantities", "at least one name", "none")
        self.comparison = comparison
        self.quantities = tuple(dict.fromkeys(asked))
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        positive_label: object = None,
        sample_weight: ArrayLike | None = None,
        estimators: Iterable[str | PriorEstimator] | Mapping[str, PriorEstimator] | None = None,
        beta: float | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 200,
        random_state: RandomState = 0,
        quantities: Iterable[str] | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Estimate alpha and beta of scores by many methods and draw them.

        Parameters
        ----------
        scores, labeled, positive_label, sample_weight
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        estimators, beta, confidence_level, n_resamples, random_state
            As in :func:`compare_priors`.
        quantities : iterable of {"alpha", "beta", "delta"}, optional
            What to draw.
        name : str, optional
            The title of the axes.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        PriorsDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover import PriorsDisplay, simulate
        >>> sample = simulate.binormal(3.0).sample(200, 1000, alpha=0.3, random_state=0)
        >>> display = PriorsDisplay.from_predictions(
        ...     sample.scores, sample.labeled, estimators=["bbe"], beta=1, n_resamples=20
        ... )
        >>> display.quantities
        ('alpha',)
        """
        # Here, because estimators bring scikit-learn, which the other displays do without.
        from purecover.estimation._compare import compare_priors

        function = f"{cls.__name__}.from_predictions"
        cls._refuse_unknown("from_predictions", options)
        found = compare_priors(
            count(function, scores, labeled, sample_weight, positive_label),
            estimators=estimators,
            beta=beta,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        return cls(found, quantities=quantities, name=name).plot(ax, **options)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height in inches that suit so many rows."""
        n = len(self.quantities)
        return 7.2 if n > 1 else 6.0, 1.1 + len(self.comparison) * (0.2 + 0.1 * n)

    def _summary(self) -> str:
        found = self.comparison
        return f"{', '.join(self.quantities)}; {len(found.succeeded)} of {len(found)} estimates"

    # -- what is drawn ------------------------------------------------------------------

    def _heights(self, quantity: str) -> FloatArray:
        """Where the marks of a quantity stand: within its estimator's row, alpha on top."""
        at, n = self.quantities.index(quantity), len(self.quantities)
        return np.arange(len(self.comparison), dtype=np.float64) + _ROW_SHARE * (
            (at + 0.5) / n - 0.5
        )

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        rows, kinds = self.comparison.rows, self.quantities
        ends = np.array([row.ends(kind) for kind in kinds for row in rows]).reshape(-1, 2)
        return {
            "estimator": np.array([row.name for _ in kinds for row in rows]),
            "from": np.array([row.estimated_from for _ in kinds for row in rows]),
            "quantity": np.repeat(np.array(kinds), len(rows)),
            "value": np.array([row.value(kind) for kind in kinds for row in rows]),
            "low": ends[:, 0],
            "high": ends[:, 1],
        }

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        point_kwargs: Mapping[str, Any] | None = None,
        interval_kwargs: Mapping[str, Any] | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the estimates.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        name : str, optional
            The title of the axes; the display's own name if not given.
        point_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.plot` for the estimates.
        interval_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.hlines` for the intervals.
        despine : bool, default=False
            Whether to take the top and right spines away.

        Returns
        -------
        PriorsDisplay
            Itself, with the artists as ``points_``, ``intervals_``, ``default_``, ``ax_`` and
            ``figure_``.
        """
        ax = self._open(ax, figsize=self.figsize)
        self.points_, self.intervals_, self.default_ = {}, {}, {}
        table = self._columns()
        for quantity in self.quantities:
            ours = table["quantity"] == quantity
            value, low, high = (table[each][ours] for each in ("value", "low", "high"))
            self._plot_points(ax, quantity, value, point_kwargs)
            self._plot_intervals(ax, quantity, low, high, interval_kwargs)
        self._plot_rows(ax)
        drawn = [table[each] for each in ("value", "low", "high")]
        ax.set(ylabel="Estimator", ylim=(len(self.comparison) - 0.5, -0.5))
        if len(self.quantities) > 1:  # all of [0, 1], so that one sees what is near its ends
            ax.set(xlabel="Share of positives", xlim=limits(*drawn))
        else:
            label = f"Share of positives, {_TITLES[self.quantities[0]]}"
            ax.set(xlabel=label, xlim=_near(*drawn))
        name = self.name if name is None else name
        if name is not None:
            ax.set_title(name)
        if despine:
            despine_axes(ax)
        if len(self.quantities) > 1 and _has_room(ax):  # beside the picture it hides no interval
            ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
        elif len(self.quantities) > 1:
            ax.legend(loc="best")
        return self

    def _plot_points(
        self, ax: Axes, quantity: str, values: FloatArray, given: Mapping[str, Any] | None
    ) -> None:
        look = {
            **_LOOKS[quantity],
            "linestyle": "none",
            "markersize": 6,
            "markeredgecolor": "white",
            "zorder": 2.4,
            "label": _TITLES[quantity],
            "gid": f"purecover-{quantity}",
        }
        (self.points_[quantity],) = ax.plot(values, self._heights(quantity), **style(look, given))
        default = self.comparison.default
        if default is not None and default.proportions is not None:
            color = _LOOKS[quantity]["color"]
            self.default_[quantity] = ax.axvline(
                default.value(quantity), color=color, linewidth=0.8, alpha=0.6, zorder=1.8
            )

    def _plot_intervals(
        self,
        ax: Axes,
        quantity: str,
        low: FloatArray,
        high: FloatArray,
        given: Mapping[str, Any] | None,
    ) -> None:
        known = np.isfinite(low) & np.isfinite(high)
        if not known.any():
            return
        look = {"colors": _LOOKS[quantity]["color"], "linewidth": 2.0, "zorder": 2.2}
        y = self._heights(quantity)
        self.intervals_[quantity] = ax.hlines(
            y[known], low[known], high[known], **{**look, **(given or {})}
        )

    def _plot_rows(self, ax: Axes) -> None:
        """Names, stripes between the rows, the default's shaded, and who has no estimate."""
        rows = self.comparison.rows
        ax.set_yticks(range(len(rows)), [_label(row) for row in rows])
        ax.tick_params(axis="y", length=0)
        for at, row in enumerate(rows):
            if row.is_default:
                ax.axhspan(at - 0.5, at + 0.5, color="#ececec", linewidth=0, zorder=0.5)
                ax.get_yticklabels()[at].set_fontweight("bold")
            if row.proportions is None:
                ax.text(
                    0.02, at, "no estimate", transform=ax.get_yaxis_transform(), va="center",
                    color="#767676", style="italic",
                )  # fmt: skip
            if at:
                ax.axhline(at - 0.5, color="#dddddd", linewidth=0.6, zorder=0.6)


def _label(row: PriorRow) -> str:
    """The name of a row, with what sets it apart from most."""
    if row.estimated_from == "features":
        return f"{row.name} (from features)"
    return f"{row.name} (default)" if row.is_default and row.name != "default" else row.name


def save_priors(comparison: PriorComparison, file: BinaryIO, kind: str) -> None:
    """Draw a comparison into an open file, as ``"png"``, ``"svg"`` or ``"pdf"``."""
    # Not through pyplot, which would look for a screen.
    from matplotlib.figure import Figure

    display = PriorsDisplay(comparison)
    figure = Figure(figsize=display.figsize, layout="constrained")
    display.plot(figure.subplots())
    figure.savefig(file, format=kind, dpi=150)


def _near(*values: FloatArray) -> tuple[float, float]:
    """A part of the unit interval around the values, wide enough to show small as small."""
    pooled = np.concatenate(values)
    pooled = pooled[np.isfinite(pooled)]
    if not pooled.size:
        return limits(pooled)
    low, high = float(pooled.min()), float(pooled.max())
    more = max(0.05 * (high - low), 0.01, (LEAST_SPAN - (high - low)) / 2)
    low, high = low - more, high + more
    # An end of the unit interval may be passed by a little, as in all displays.
    bottom, top = limits(pooled)
    if low < bottom:
        low, high = bottom, max(high, bottom + LEAST_SPAN)
    if high > top:
        low, high = min(low, top - LEAST_SPAN), top
    return max(low, bottom), high


def _has_room(ax: Axes) -> bool:
    """Whether the figure holds nothing else and makes room for what stands beside the axes."""
    figure = ax.figure
    return len(figure.axes) == 1 and figure.get_layout_engine() is not None
