"""Display of estimates of alpha and beta by many methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from purecover import _validation as valid
from purecover._typing import ArrayLike, FloatArray, RandomState
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.displays import base
from purecover.estimators.comparison import QUANTITIES, PriorComparison, PriorRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    from purecover.estimators.base import PriorEstimator


# Distinct by color, by mark and by place within the row of an estimator.
_LOOKS: dict[str, dict[str, Any]] = {
    "alpha": {"color": base.BLUE, "marker": "o"},
    "beta": {"color": base.VERMILLION, "marker": "s"},
    "delta": {"color": base.GREEN, "marker": "D"},
}
_POINTS = {"linestyle": "none", "markersize": 6, "markeredgecolor": "white", "zorder": 2.4}
_TITLES = {
    "alpha": r"$\alpha$ (unlabeled)",
    "beta": r"$\beta$ (labeled)",
    "delta": r"$\beta - \alpha$",
}
_ROW_SHARE = 0.6
"""How much of its row an estimator's marks take up."""


class PriorsKeywords(base.DataKeywords, base.LookKeywords, total=False):
    """Keyword parameters of `PriorsDisplay.from_predictions`."""


class PriorsDisplay(base.Display):
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

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3.0).sample(200, 1000, alpha=0.3, random_state=0)
    >>> found = pu.compare_priors(
    ...     sample.scores, sample.labeled, estimators=["bbe", "alphamax"], n_resamples=0
    ... )
    >>> display = pu.displays.PriorsDisplay(found).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['bbe', 'alphamax']
    """

    points_: dict[str, Line2D]
    intervals_: dict[str, LineCollection]
    default_: dict[str, Line2D]

    @public
    def __init__(
        self,
        comparison: PriorComparison,
        *,
        quantities: Iterable[str] | None = None,
        name: str | None = None,
    ) -> None:
        hint = "make it with compare_priors(scores, labeled)"
        valid.check_instance("comparison", comparison, PriorComparison, hint)
        if quantities is None:
            quantities = QUANTITIES if comparison.beta is None else QUANTITIES[:1]
        asked = valid.check_names("quantities", quantities, QUANTITIES)
        if not asked:
            raise valid.bad_value("quantities", "at least one name", "none")
        self.comparison = comparison
        self.quantities = tuple(dict.fromkeys(asked))
        self.name = name

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        estimators: Iterable[str | PriorEstimator] | Mapping[str, PriorEstimator] | None = None,
        beta: float | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 200,
        random_state: RandomState = 0,
        quantities: Iterable[str] | None = None,
        **options: Unpack[PriorsKeywords],
    ) -> Self:
        """Estimate alpha and beta of scores by many methods and draw them.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        estimators, beta, confidence_level, n_resamples, random_state
            As in :func:`compare_priors`.
        quantities : iterable of {"alpha", "beta", "delta"}, optional
            What to draw.
        **options

        Returns
        -------
        PriorsDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover import simulate
        >>> from purecover.displays import PriorsDisplay
        >>> sample = simulate.binormal(3.0).sample(200, 1000, alpha=0.3, random_state=0)
        >>> display = PriorsDisplay.from_predictions(
        ...     sample.scores, sample.labeled, estimators=["bbe"], beta=1, n_resamples=20
        ... )
        >>> display.quantities
        ('alpha',)
        """
        # Here, because estimators bring scikit-learn, which the other displays do without.
        from purecover.estimators.compare import compare_priors

        found = compare_priors(
            base.RowOptions.among(options).counted(scores, labeled),
            estimators=estimators,
            beta=beta,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        return cls(found, quantities=quantities)._drawn(options)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height in inches that suit so many rows."""
        n = len(self.quantities)
        return 7.2 if n > 1 else 6.0, 1.1 + len(self.comparison) * (0.2 + 0.1 * n)

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        rows, kinds = self.comparison.rows, self.quantities
        ends = np.array([row.ends(kind) for kind in kinds for row in rows]).reshape(-1, 2)
        return {
            "estimator": np.array([row.name for _ in kinds for row in rows]),
            "quantity": np.repeat(np.array(kinds), len(rows)),
            "value": np.array([row.value(kind) for kind in kinds for row in rows]),
            "low": ends[:, 0],
            "high": ends[:, 1],
        }

    @public
    def plot(self, ax: Axes | None = None, **look: Unpack[base.LookKeywords]) -> Self:
        """Draw the estimates.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **look

        Returns
        -------
        PriorsDisplay
            Itself, with the artists as ``points_``, ``intervals_``, ``default_``, ``ax_`` and
            ``figure_``.
        """
        ax = self._open(ax, figsize=self.figsize)
        given = base.Look.among(look)
        self.points_, self.intervals_, self.default_ = {}, {}, {}
        table = self._columns()
        rows = np.arange(float(len(self.comparison)))
        for at, quantity in enumerate(self.quantities):
            # Within the rows, alpha on top.
            height = _ROW_SHARE * ((at + 0.5) / len(self.quantities) - 0.5)
            self._plot_quantity(ax, table, quantity, height + rows)
        self._plot_rows(ax)
        drawn = [table[each] for each in ("value", "low", "high")]
        ax.set(ylabel="Estimator", ylim=(len(self.comparison) - 0.5, -0.5))
        label = "Share of positives"
        if len(self.quantities) == 1:
            label += f", {_TITLES[self.quantities[0]]}"
        ax.set(xlabel=label, xlim=base.limits(*drawn))  # all of [0, 1]: small looks small
        self._titled(given)
        if len(self.quantities) > 1:
            # Next to the picture, where a layout reserves space for it, it hides no interval.
            roomy = len(ax.figure.axes) == 1 and ax.figure.get_layout_engine() is not None
            base.legend(ax, beside=roomy)
        return self

    def _plot_quantity(
        self, ax: Axes, table: Mapping[str, Any], quantity: str, heights: FloatArray
    ) -> None:
        ours = table["quantity"] == quantity
        value, low, high = (table[each][ours] for each in ("value", "low", "high"))
        color = _LOOKS[quantity]["color"]
        points = {**_POINTS, **_LOOKS[quantity], "label": _TITLES[quantity]}
        points["gid"] = f"purecover-{quantity}"
        (self.points_[quantity],) = ax.plot(value, heights, **points)
        default = self.comparison.default
        if default is not None and default.proportions is not None:
            self.default_[quantity] = ax.axvline(
                default.value(quantity), color=color, linewidth=0.8, alpha=0.6, zorder=1.8
            )
        known = np.isfinite(low) & np.isfinite(high)
        if known.any():
            look: dict[str, Any] = {"colors": color, "linewidth": 2.0, "zorder": 2.2}
            self.intervals_[quantity] = ax.hlines(heights[known], low[known], high[known], **look)

    def _plot_rows(self, ax: Axes) -> None:
        """Draw names, lines between rows, the shaded default, and rows without an estimate."""
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
    """Return the name of a row, marked if it is the default."""
    return f"{row.name} (default)" if row.is_default and row.name != "default" else row.name
