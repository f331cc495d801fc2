"""Base of all displays: their style, their axes, and their input of scores and tables.

A display draws results; it computes nothing. Matplotlib is imported when
something is drawn, scikit-learn when an estimator is asked for scores.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypedDict

import numpy as np

from purecover._inputs import Tabular, labeled_value, refuse_frame, response_scores
from purecover._parameters import Parameters, again, parameter, unexpected
from purecover._typing import ArrayLike
from purecover._validation import bad_type, public, require, show
from purecover.counts import ScoreCounts
from purecover.proportions import GivenProportions, KnownKeywords, MixtureProportions
from purecover.recovery.rates import warn_of_contradiction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


# The palette of Okabe and Ito, distinct with any kind of color vision.
BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9",
)  # fmt: skip
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""Recovered curves, in the order in which they are drawn into one set of axes."""

OBSERVED: dict[str, Any] = {"color": "#767676", "linestyle": "--", "linewidth": 1.5, "zorder": 2.1}
RECOVERED: dict[str, Any] = {"linestyle": "-", "linewidth": 2.0, "zorder": 2.3}
CHANCE: dict[str, Any] = {"color": "#9a9a9a", "linestyle": ":", "linewidth": 1.2, "zorder": 2.0}
LIMITS = (-0.02, 1.02)
"""Rates are drawn a little beyond [0, 1], so that a curve along an edge is seen."""


class DataKeywords(TypedDict, total=False):
    """Keyword parameters of `from_predictions` of all displays."""

    positive_label: object
    sample_weight: ArrayLike | None
    ax: Axes | None


class LookKeywords(TypedDict, total=False):
    """Keyword parameters of `plot` of all displays."""

    name: str | None
    despine: bool


Style: TypeAlias = Mapping[str, Any] | None


class CurveLook(LookKeywords, total=False):
    """Keyword parameters of `plot` of displays with one kind of curve."""

    curve_kwargs: Style


class CurveKeywords(KnownKeywords, DataKeywords, CurveLook, total=False):
    """Keyword parameters of `from_predictions` of displays with one kind of curve."""


@dataclass(frozen=True)
class Look(Parameters):
    """How displays are drawn."""

    ax: Axes | None = parameter(
        None, "matplotlib Axes", "Where to draw; a new figure if not given."
    )
    name: str | None = parameter(
        None,
        "str",
        """Stands before the legend entries, or above a picture of one thing; the display's own
        name if not given.""",
    )
    despine: bool = parameter(False, "bool", "Whether to take the top and right spines away.")
    curve_kwargs: Style = parameter(
        None,
        "dict",
        """Passed to :meth:`matplotlib.axes.Axes.plot` for the curves. All other artists are
        attributes of the display.""",
    )
    plot_observed: bool = parameter(True, "bool", "Whether to draw the observed curve.")
    plot_chance_level: bool = parameter(
        True, "bool", "Whether to draw the curve of a random classifier."
    )


class Display(Tabular, ABC):
    """Base of all displays: results in ``__init__``, style in ``plot``, numbers in ``frame``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn; set by :meth:`plot`.
    figure_ : matplotlib Figure
        The figure of these axes.
    """

    name: str | None
    ax_: Axes
    figure_: Figure | SubFigure

    @classmethod
    @public
    def from_estimator(
        cls, estimator: Any, X: Any, labeled: ArrayLike, *, response_method: str = "auto",
        **options: Any,
    ) -> Self:  # fmt: skip
        """Score rows with a fitted classifier, and draw the result.

        Parameters
        ----------
        estimator : object
            A fitted classifier (or pipeline, or search) of two classes. Its positive class is
            the one that ``labeled`` holds where a row is labeled; if it was trained on other
            values, the one whose value reads as positive.
        X : array-like of shape (n_samples, n_features)
            The rows, which the classifier should not have been trained on.
        labeled : array-like of shape (n_samples,)
            True where a row carries the positive label; see :meth:`ScoreCounts.from_scores`.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            Which output of the classifier is the score; ``"auto"`` takes the first it has.
        **options
            All other parameters of :meth:`from_predictions`. The ``name`` is the class of the
            estimator if not given.

        Returns
        -------
        Display
            The display, drawn.
        """
        draw: Any = cls
        known = inspect.signature(draw.from_predictions).parameters
        # Complain before the classifier goes to work.
        if not options.keys() <= known.keys():
            raise unexpected(options, known, show)
        if "alpha" in known:
            GivenProportions.among(options).validated()
        rows = RowOptions(options.pop("positive_label", None), options.pop("sample_weight", None))
        scores = response_scores(
            estimator,
            X,
            positive=labeled_value(labeled, rows.positive_label),
            methods=("predict_proba", "decision_function"),
            response_method=response_method,
        )
        if options.get("name") is None:
            options["name"] = type(estimator).__name__
        # Counted here, so that complaints about scores name this function.
        display: Self = draw.from_predictions(rows.counted(scores, labeled), **options)
        return display

    @classmethod
    def _read(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None,
        options: Mapping[str, object],
        *,
        warns: bool = True,
    ) -> tuple[ScoreCounts, MixtureProportions]:
        """Return the counts, and alpha and beta, from the arguments of `from_predictions`.

        If these contradict each other it ``warns``, because the drawing depends on both.
        """
        given = GivenProportions.among(options).validated()  # counting can take a while
        counts = RowOptions.among(options).counted(scores, labeled)
        proportions = given.resolve(counts)
        if warns:
            warn_of_contradiction(counts, proportions)
        return counts, proportions

    def _drawn(self, options: Mapping[str, Any]) -> Self:
        """Draw with those options of `from_predictions` that are for drawing."""
        self.name = options.get("name")
        taken = inspect.signature(self.plot).parameters
        return self.plot(**{name: value for name, value in options.items() if name in taken})

    @abstractmethod
    @public
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw."""

    def _open(self, ax: Axes | None, *, figsize: tuple[float, float]) -> Axes:
        """Return the axes to draw into, of a new figure if there are none, and keep them."""
        pyplot = require("matplotlib.pyplot", extra="plot")
        from matplotlib import axes

        if ax is None:
            ax = pyplot.subplots(figsize=figsize, layout="constrained")[1]
        if not isinstance(ax, axes.Axes):
            raise bad_type(
                "ax",
                "a matplotlib Axes or None",
                ax,
                "plt.subplots() returns the figure first; with several axes, pass one of them",
            )
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _named(self, look: Look) -> str | None:
        """Return the given name, or else the display's own."""
        return self.name if look.name is None else look.name

    def _titled(self, look: Look, default: str | None = None) -> None:
        """Set the title to the name, and remove spines if asked."""
        name = self._named(look)
        if (name := default if name is None else name) is not None:
            self.ax_.set_title(name)
        self._despined(look)

    def _despined(self, look: Look) -> None:
        """Remove the top and right spines if asked."""
        if look.despine:
            self.ax_.spines[["top", "right"]].set_visible(False)

    def __repr__(self) -> str:
        result = getattr(self, next(iter(inspect.signature(type(self)).parameters)))
        title = "" if self.name is None else f", name={self.name!r}"
        return f"{type(self).__name__}({result!r}{title})"


@dataclass(frozen=True)
class RowOptions(Parameters):
    """Parameters of rows in addition to their scores and labels."""

    positive_label: object = again("positive_label")
    sample_weight: ArrayLike = parameter(
        None, "array-like of shape (n_samples,)", "Weights of the rows."
    )

    def counted(self, scores: ArrayLike | ScoreCounts, labeled: ArrayLike | None) -> ScoreCounts:
        """Count arrays; return counts unchanged."""
        refuse_frame(scores)
        return ScoreCounts._of(scores, labeled, **vars(self))


def style(defaults: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the default style updated with the caller's, under any alias."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**defaults, **normalize_kwargs(dict(given or {}), Line2D)}


def phrase(title: str) -> str:
    """Return the title within a sentence: ``balanced accuracy``, but ``AUC-PR`` and ``F1``."""
    proper = not title[1:2].islower() or title.startswith(("Matthews", "Youden", "Lee"))
    return title if proper else title[0].lower() + title[1:]


def limits(*values: ArrayLike) -> tuple[float, float]:
    """Return the unit interval with a margin; wider if raw rates leave it."""
    pooled = np.concatenate(values)
    pooled = pooled[np.isfinite(pooled)]
    low, high = LIMITS
    if pooled.size:
        low, high = min(low, float(pooled.min()) + low), max(high, float(pooled.max()) + high - 1)
    return low, high


def legend(ax: Axes, *, beside: bool) -> None:
    """Add a legend next to the picture, or else where it hides least."""
    aside: Any = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False}
    ax.legend(**(aside if beside else {"loc": "best"}))
