"""Display of recovered metrics against the threshold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, Unpack

import numpy as np

from purecover import _validation as valid
from purecover._typing import ArrayLike, FloatArray, Repair, Target
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.displays import base
from purecover.displays.curves import stacked, titled
from purecover.exceptions import InvalidInputError
from purecover.recovery.metrics import METRICS
from purecover.recovery.thresholds import (
    MetricCurves,
    ThresholdChoice,
    choose_threshold,
    recover_metric_curves,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D


Against: TypeAlias = Literal["threshold", "flagged"]

DEFAULT_METRICS = ("precision", "recall", "f1", "mcc")
_AXIS_LABELS = {
    "threshold": "Threshold (positive where the score is at least this)",
    "flagged": "Share of the unlabeled predicted positive",
}
_CHOICE: dict[str, Any] = {"color": "#333333", "linestyle": "-", "linewidth": 1.0, "zorder": 2.0}


class ThresholdDisplay(base.Display):
    """Recovered metrics against the threshold, with the chosen one marked.

    Parameters
    ----------
    curves : MetricCurves
        Metrics at every threshold, from :func:`recover_metric_curves`.
    choice : ThresholdChoice or float, optional
        The threshold to mark, from :func:`choose_threshold` or any number.
    metrics : iterable of str, default=("precision", "recall", "f1", "mcc")
        Which of the metrics to draw.
    against : {"threshold", "flagged"}, default="threshold"
        The horizontal axis: the threshold itself, or the share of the unlabeled with a score
        of at least the threshold, which does not depend on the scale of the scores.
    name : str, optional
        Stands before the legend entries.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The curves by metric; set by :meth:`plot`.
    choice_line_ : matplotlib Line2D or None
        The vertical line at the chosen threshold.
    choice_points_ : matplotlib PathCollection or None
        The dots where it meets the curves.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    recover_metric_curves : Computes what is drawn.
    choose_threshold : Picks the threshold to mark.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.displays import ThresholdDisplay
    >>> from purecover.recovery import recover_metric_curves
    >>> counts = ScoreCounts.from_counts([2, 1, 0], labeled=[5, 4, 1], unlabeled=[5, 20, 75])
    >>> curves = recover_metric_curves(counts, MixtureProportions(0.08))
    >>> display = ThresholdDisplay(curves, choice=1.0, metrics=["precision", "recall"]).plot()
    >>> sorted(display.lines_)
    ['precision', 'recall']
    """

    lines_: dict[str, Line2D]
    choice_line_: Line2D | None
    choice_points_: PathCollection | None

    @public
    def __init__(
        self,
        curves: MetricCurves,
        *,
        choice: ThresholdChoice | float | None = None,
        metrics: Iterable[str] = DEFAULT_METRICS,
        against: Against = "threshold",
        name: str | None = None,
    ) -> None:
        valid.check_instance(
            "curves", curves, MetricCurves, "make it with recover_metric_curves(...)"
        )
        valid.check_choice("against", against, tuple(_AXIS_LABELS))
        self.metrics = valid.check_names("metrics", metrics, tuple(curves.curves))
        if not self.metrics:
            raise valid.bad_value("metrics", "at least one name", "none")
        if choice is not None and not isinstance(choice, ThresholdChoice):
            choice = valid.check_real("choice", choice, hint="take one from choose_threshold(...)")
        self.curves = curves
        self.choice = choice
        self.against = against
        self.name = name

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        repair: Repair = "isotonic",
        target: Target = "population",
        metrics: Iterable[str] = DEFAULT_METRICS,
        threshold: float | None = None,
        criterion: str | None = None,
        value: float | None = None,
        against: Against = "threshold",
        **options: Unpack[base.CurveKeywords],
    ) -> Self:
        """Recover metrics at every threshold of scores and draw them.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        repair : str, default="isotonic"
            How rates are repaired; see :func:`recover_metrics`.
        target : {"population", "deployment", "pooled"} or float, default="population"
            The population that prior-dependent metrics are for.
        metrics : iterable of str, default=("precision", "recall", "f1", "mcc")
            Which metrics to draw.
        threshold : float, optional
            A threshold to mark.
        criterion : str, optional
            Marks the threshold that :func:`choose_threshold` picks by this criterion.
        value : float, optional
            The value wanted of a criterion that needs one; see :func:`choose_threshold`.
        against : {"threshold", "flagged"}, default="threshold"
            The horizontal axis.
        **options

        Returns
        -------
        ThresholdDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover.displays import ThresholdDisplay
        >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
        >>> labeled = [1, 1, 0, 1, 0, 1, 0, 0, 0, 0]
        >>> display = ThresholdDisplay.from_predictions(
        ...     scores, labeled, alpha=0.25, criterion="youden"
        ... )
        >>> display.choice.threshold
        0.6
        """
        if threshold is not None and criterion is not None:
            raise InvalidInputError(f"{cls.__name__} takes 'threshold' or 'criterion', not both.")
        if value is not None and criterion is None:
            raise valid.bad_value("criterion", "given with a value", "None")
        counts, mixture = cls._read(scores, labeled, options)
        curves = recover_metric_curves(counts, mixture, target=target, repair=repair)
        choice: ThresholdChoice | float | None = threshold
        if criterion is not None:
            given: Any = {"target": target, "repair": repair}
            choice = choose_threshold(counts, mixture, criterion, value, **given)
        return cls(curves, choice=choice, metrics=metrics, against=against)._drawn(options)

    def _lines(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        x = self.curves.thresholds if self.against == "threshold" else self.curves.flagged_unlabeled
        return {metric: (x, self.curves.curves[metric]) for metric in self.metrics}

    def _chosen(self) -> float | None:
        return self.choice.threshold if isinstance(self.choice, ThresholdChoice) else self.choice

    def _mark(self) -> tuple[float, FloatArray] | None:
        """Return the place of the choice on the horizontal axis, and the metrics there."""
        chosen = self._chosen()
        if chosen is None:
            return None
        # A score of at least the choice is one of at least the next threshold above it.
        reached = np.flatnonzero(self.curves.thresholds >= chosen)
        if reached.size:
            at = int(reached[-1])
            flagged = float(self.curves.flagged_unlabeled[at])
            values = np.array([self.curves.curves[metric][at] for metric in self.metrics])
        else:  # above every score nothing is flagged and nothing is defined
            flagged, values = 0.0, np.full(len(self.metrics), np.nan)
        return (chosen if self.against == "threshold" else flagged), values

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        parts = [(metric, *line) for metric, line in self._lines().items()]
        n_drawn = sum(x.size for _, x, _ in parts)
        mark = self._mark()
        if mark is not None:
            at, values = np.array(mark[:1]), mark[1].reshape(-1, 1)
            parts += [(name, at, value) for name, value in zip(self.metrics, values, strict=True)]
        columns = stacked(parts, ("metric", self.against, "value"))
        return columns | {"chosen": np.arange(columns["value"].size) >= n_drawn}

    @public
    def plot(self, ax: Axes | None = None, **look: Unpack[base.CurveLook]) -> Self:
        """Draw the metrics and the chosen threshold.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **look

        Returns
        -------
        ThresholdDisplay
            Itself, with the artists as ``lines_``, ``choice_line_``, ``choice_points_``
            (None where not drawn), ``ax_`` and ``figure_``.

        Notes
        -----
        Against the threshold, metrics are steps: they change only at a score.
        """
        own = ax is None
        ax = self._open(ax, figsize=(7.0, 4.2))
        given = base.Look.among(look)
        name = self._named(given)
        self.lines_, self.choice_line_, self.choice_points_ = {}, None, None
        # Thresholds decrease along the arrays, so a value holds up to the one before: "post".
        drawstyle = "steps-post" if self.against == "threshold" else "default"
        for i, (metric, (x, y)) in enumerate(self._lines().items()):
            line = {
                "color": base.CYCLE[i % len(base.CYCLE)],
                "linestyle": ("-", "--", "-.", ":")[i // len(base.CYCLE) % 4],
                "linewidth": 1.8,
                "drawstyle": drawstyle,
                "label": titled(name, METRICS[metric].title),
                "gid": f"purecover-{metric}",
            }
            (self.lines_[metric],) = ax.plot(x, y, **base.style(line, given.curve_kwargs))
        mark = self._mark()
        if mark is not None:
            x0, values = mark
            self.choice_line_ = ax.axvline(x0, **_CHOICE, label=self._choice_label())
            colors = [line.get_color() for line in self.lines_.values()]
            self.choice_points_ = ax.scatter(
                np.full(values.size, x0), values, s=28, facecolors="white", edgecolors=colors,
                linewidths=1.5, zorder=2.5,
            )  # fmt: skip
        ax.set(xlabel=_AXIS_LABELS[self.against], ylabel="Recovered metric")
        ax.set_ylim(base.limits(*(line.get_ydata() for line in self.lines_.values())))
        if self.against == "flagged":
            ax.set_xlim(base.limits(self.curves.flagged_unlabeled))
        self._despined(given)
        # Curves cross the whole picture; a figure of the caller may have no room next to it.
        base.legend(ax, beside=own)
        return self

    def _choice_label(self) -> str:
        choice = self.choice
        if not isinstance(choice, ThresholdChoice):
            return f"threshold {choice:.4g}"
        metric = METRICS[choice.criterion]
        sign = "≥" if metric.greater_is_better else "≤"
        goal = f"best {base.phrase(metric.title)}"
        if choice.wanted is not None:
            goal = f"{base.phrase(metric.title)} {sign} {choice.wanted:g}"
        return f"threshold {choice.threshold:.4g} ({goal})"
