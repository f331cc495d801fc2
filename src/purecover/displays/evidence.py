"""Display of the evidence of a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from purecover._typing import ArrayLike, RandomState, Target
from purecover._validation import check_instance, public
from purecover.counts import ScoreCounts
from purecover.displays import base
from purecover.intervals.evidence import EvidenceThresholds, evidence_thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


class EvidenceDisplay(base.Display):
    """The likelihood ratio along the scores, with thresholds of evidence.

    Parameters
    ----------
    evidence : EvidenceThresholds
        What :func:`evidence_thresholds` gives.
    name : str, optional
        Stands above the picture.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The likelihood ratio; set by :meth:`plot`.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Notes
    -----
    Dashed lines are the odds of each strength. Colored areas are the scores that have it by the
    one-sided bound, blue for negative and vermilion for positive, darker for stronger evidence.

    Examples
    --------
    >>> from purecover import simulate
    >>> from purecover.displays import EvidenceDisplay
    >>> sample = simulate.binormal(2.0).sample(2000, 10_000, alpha=0.1, random_state=0)
    >>> display = EvidenceDisplay.from_predictions(
    ...     sample.scores, sample.labeled, alpha=0.1, n_resamples=20, random_state=0
    ... )
    >>> display.ax_.get_ylabel()
    'Likelihood ratio of positive to negative'
    """

    line_: Line2D

    @public
    def __init__(self, evidence: EvidenceThresholds, *, name: str | None = None) -> None:
        check_instance(
            "evidence", evidence, EvidenceThresholds, "make it with evidence_thresholds(...)"
        )
        self.evidence = evidence
        self.name = name

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        target: Target = "population",
        n_resamples: int = 500,
        random_state: RandomState = None,
        **options: Unpack[base.CurveKeywords],
    ) -> Self:
        """Find the thresholds of evidence of scores and draw them.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        target, n_resamples, random_state
            As in :func:`evidence_thresholds`.
        **options

        Returns
        -------
        EvidenceDisplay
            The display, drawn.
        """
        counts, mixture = cls._read(scores, labeled, options, warns=False)  # it is refused
        found = evidence_thresholds(
            counts, mixture, target=target, n_resamples=n_resamples, random_state=random_state
        )
        return cls(found)._drawn(options)

    def _columns(self) -> dict[str, Any]:
        return self.evidence._columns()

    @public
    def plot(self, ax: Axes | None = None, **look: Unpack[base.CurveLook]) -> Self:
        """Draw the likelihood ratio and the thresholds.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **look

        Returns
        -------
        EvidenceDisplay
            Itself, with ``line_``, ``ax_`` and ``figure_``.
        """
        ax = self._open(ax, figsize=(7.0, 4.8))
        given = base.Look.among(look)
        found = self.evidence
        left, right = float(found.scores[0]), float(found.scores[-1])
        for name, points, odds, bound in zip(
            found.strengths, found.points.tolist(), found.odds, found.bounds, strict=True
        ):
            ax.axhline(odds, **{**base.OBSERVED, "linewidth": 0.8})
            ax.annotate(
                f"{name} ({points:+d})",
                (1.0, odds),
                (4, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
            if np.isnan(bound):
                continue
            # Areas of stronger evidence lie on those of weaker, and get darker.
            ends, color = (
                ((bound, right), base.VERMILLION) if points > 0 else ((left, bound), base.BLUE)
            )
            ax.axvspan(*ends, color=color, alpha=0.13, linewidth=0, zorder=1.5)
        defaults = {**base.RECOVERED, "color": "black"}
        (self.line_,) = ax.plot(
            found.scores, found.likelihood_ratio, **base.style(defaults, given.curve_kwargs)
        )
        ax.set_yscale("log")
        ax.set(
            xlabel="Score", ylabel="Likelihood ratio of positive to negative", xlim=(left, right)
        )
        self._titled(given, f"Prior {found.prior:.3g}: very strong is {found.constant:,.0f} to 1")
        return self
