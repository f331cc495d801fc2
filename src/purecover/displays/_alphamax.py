"""The log-likelihood curve of AlphaMax as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purecover._typing import ArrayLike
from purecover._validation import bad_type, bad_value, check_flag, check_instance
from purecover.counts import ScoreCounts
from purecover.displays._base import (
    BLUE,
    ORANGE,
    RECOVERED,
    VERMILLION,
    count,
    despine_axes,
    style,
)
from purecover.displays._scores import ScoresDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from purecover.estimation._alphamax import AlphaMax
    from purecover.estimation._alphamax_curve import AlphaMaxCurve

__all__ = ["AlphaMaxDisplay"]

_RAW: dict[str, Any] = {"color": "#c4c4c4", "linestyle": "-", "linewidth": 5.0, "zorder": 2.1}
_SEEN = 0.002
"""Curves that differ by a smaller part of the height of the picture are one."""

_LABEL = "Assumed {}\n(share of the labeled density inside the unlabeled one)"
_FLIPPED_LABEL = "Assumed share of the unlabeled density inside the labeled one"
_ELBOW: dict[str, Any] = {"color": VERMILLION, "linestyle": "-", "linewidth": 1.2, "zorder": 2.2}


class AlphaMaxDisplay(ScoresDisplay):
    """The log-likelihood of AlphaMax over the assumed share, with its elbow marked.

    The curve is level as long as the unlabeled can hold so large a share of the labeled
    density, and falls beyond; where it starts to fall, the elbow, is the estimate.

    Parameters
    ----------
    curve : AlphaMax or AlphaMaxCurve
        A fitted :class:`AlphaMax` or :class:`AlphaMaxN`, or its ``curve_``.
    flipped : bool, default=False
        Whether to draw the curve that beta hangs on, with labeled and unlabeled exchanged: the
        ``curve_flipped_`` of a fitted :class:`AlphaMaxN`.
    heuristic : bool, default=False
        Whether to draw the quantity by which the elbow was chosen, on an axis of its own.
    name : str, optional
        The title of the axes.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The log-likelihood, corrected to fall everywhere; set by :meth:`plot`.
    raw_ : matplotlib Line2D or None
        The log-likelihood as computed, where one can see that it differs.
    elbow_ : matplotlib Line2D
        The vertical line at the elbow.
    heuristic_ : matplotlib Line2D or None
        What the elbow was chosen by.
    heuristic_ax_ : matplotlib Axes or None
        Its axes, which share the horizontal one.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    AlphaMax : Computes what is drawn.
    PriorsDisplay : Its estimate beside those of others.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3.0).sample(200, 1000, alpha=0.3, random_state=0)
    >>> fitted = pu.AlphaMax().fit(sample.scores, sample.labeled)
    >>> display = pu.AlphaMaxDisplay(fitted).plot()
    >>> display.ax_.get_ylabel()
    'Log-likelihood'
    """

    raw_: Line2D | None
    line_: Line2D
    elbow_: Line2D
    heuristic_: Line2D | None
    heuristic_ax_: Axes | None

    def __init__(
        self,
        curve: AlphaMax | AlphaMaxCurve,
        *,
        flipped: bool = False,
        heuristic: bool = False,
        name: str | None = None,
    ) -> None:
        function = type(self).__name__
        check_flag(function, "flipped", flipped)
        check_flag(function, "heuristic", heuristic)
        self.curve = _curve_of(function, curve, flipped=bool(flipped))
        self.flipped = bool(flipped)
        # What the share is: with wrong labels, not alpha alone.
        wrong_labels = getattr(curve, "curve_flipped_", None) is not None
        self._share = "alpha / beta" if wrong_labels else "alpha"
        self.heuristic = bool(heuristic)
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        positive_label: object = None,
        sample_weight: ArrayLike | None = None,
        estimator: AlphaMax | None = None,
        flipped: bool = False,
        heuristic: bool = False,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Run AlphaMax on scores and draw its curve.

        Parameters
        ----------
        scores, labeled, positive_label, sample_weight
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        estimator : AlphaMax, optional
            Its settings; ``AlphaMax()`` if not given.
        flipped : bool, default=False
            Whether to exchange the roles of labeled and unlabeled, for the curve that beta
            hangs on.
        heuristic : bool, default=False
            Whether to draw what the elbow was chosen by.
        name : str, optional
            The title of the axes.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        AlphaMaxDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover import AlphaMaxDisplay, simulate
        >>> sample = simulate.binormal(3.0).sample(200, 1000, alpha=0.3, random_state=0)
        >>> display = AlphaMaxDisplay.from_predictions(sample.scores, sample.labeled)
        >>> display.elbow_.get_label().startswith("elbow")
        True
        """
        from sklearn.base import clone

        from purecover.estimation._alphamax import AlphaMax
        from purecover.estimation._samples import flipped_counts

        function = f"{cls.__name__}.from_predictions"
        cls._refuse_unknown("from_predictions", options)
        check_flag(function, "flipped", flipped)
        if estimator is None:
            estimator = AlphaMax()
        check_instance(function, "estimator", estimator, AlphaMax, "write AlphaMax(...)")
        counts = count(function, scores, labeled, sample_weight, positive_label)
        fitted = clone(estimator).fit(flipped_counts(counts) if flipped else counts)
        display = cls(fitted.curve_, flipped=flipped, heuristic=heuristic, name=name)
        return display.plot(ax, **options)

    def _summary(self) -> str:
        return f"elbow at {self.curve.elbow:.3g}, {self.curve.inclusion.size} points"

    # -- what is drawn ------------------------------------------------------------------

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        curve = self.curve
        columns = {
            "inclusion": curve.inclusion,
            "log_likelihood": curve.log_likelihood,
            "corrected": curve.corrected,
        }
        if self.heuristic:
            columns["heuristic"] = curve.heuristic
        return columns

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        elbow_kwargs: Mapping[str, Any] | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the curve and its elbow.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        name : str, optional
            The title of the axes; the display's own name if not given.
        curve_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.plot` for the corrected curve.
        elbow_kwargs : dict, optional
            Passed to :meth:`matplotlib.axes.Axes.axvline` for the elbow.
        despine : bool, default=False
            Whether to take the top and right spines away.

        Returns
        -------
        AlphaMaxDisplay
            Itself, with the artists as ``raw_``, ``line_``, ``elbow_``, ``heuristic_`` and
            ``heuristic_ax_`` (None where not drawn), ``ax_`` and ``figure_``.
        """
        ax = self._open(ax, figsize=(6.4, 4.2))
        curve = self.curve
        self.heuristic_, self.heuristic_ax_ = None, None
        self.raw_ = None
        apart = float(np.abs(curve.corrected - curve.log_likelihood).max())
        if apart > _SEEN * float(np.ptp(curve.log_likelihood)):
            look = {**_RAW, "label": "as computed"}
            (self.raw_,) = ax.plot(curve.inclusion, curve.log_likelihood, **look)
        label = "log-likelihood" if self.raw_ is None else "corrected"
        look = {**RECOVERED, "color": BLUE, "label": label}
        (self.line_,) = ax.plot(curve.inclusion, curve.corrected, **style(look, curve_kwargs))
        look = {**_ELBOW, "label": f"elbow at {curve.elbow:.3g}"}
        self.elbow_ = ax.axvline(curve.elbow, **style(look, elbow_kwargs))
        handles = [each for each in (self.line_, self.raw_, self.elbow_) if each is not None]
        if self.heuristic:
            self.heuristic_ax_ = ax.twinx()
            look = {"color": ORANGE, "linestyle": "-.", "linewidth": 1.3, "label": "heuristic"}
            (self.heuristic_,) = self.heuristic_ax_.plot(curve.inclusion, curve.heuristic, **look)
            self.heuristic_ax_.set_ylabel("Heuristic of the elbow")
            handles.append(self.heuristic_)
        ax.set(
            xlabel=_FLIPPED_LABEL if self.flipped else _LABEL.format(self._share),
            ylabel="Log-likelihood",
            xlim=(0.0, 1.0),
        )
        name = self.name if name is None else name
        if name is not None:
            ax.set_title(name)
        if despine:
            despine_axes(ax)
            if self.heuristic_ax_ is not None:
                self.heuristic_ax_.spines["top"].set_visible(False)
        if self.heuristic_ax_ is None:
            # The curve leaves the lower left corner free: it is level first and falls last.
            ax.legend(handles=handles, loc="lower left", framealpha=1)
        else:  # there the heuristic is, low first and high last; and the upper axes cover the lower
            self.heuristic_ax_.legend(handles=handles, loc="center left", framealpha=1)
        return self


def _curve_of(function: str, given: Any, *, flipped: bool) -> AlphaMaxCurve:
    """The curve itself, or that of a fitted estimator."""
    # Here, because estimators bring scikit-learn, which the other displays do without.
    from purecover.estimation._alphamax import AlphaMax
    from purecover.estimation._alphamax_curve import AlphaMaxCurve

    if isinstance(given, AlphaMaxCurve):
        return given
    if not isinstance(given, AlphaMax):
        must = "a fitted AlphaMax or AlphaMaxN, or its curve"
        raise bad_type(function, "curve", must, given, "take AlphaMax().fit(scores, labeled)")
    if not hasattr(given, "curve_"):
        raise bad_value(function, "curve", "fitted", repr(given), "call fit(scores, labeled) first")
    if not flipped:
        return given.curve_
    found: AlphaMaxCurve | None = getattr(given, "curve_flipped_", None)
    if found is None:
        hint = "AlphaMaxN(clean='never') always runs both ways"
        raise bad_value(function, "curve", "run both ways for a flipped curve", repr(given), hint)
    return found
