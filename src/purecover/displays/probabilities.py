"""Displays of calibration and of decisions by probabilities."""

from __future__ import annotations

from typing import Self, Unpack

import numpy as np

from purecover._typing import ArrayLike, Target
from purecover._validation import check_instance, public
from purecover.counts import ScoreCounts
from purecover.displays.curves import CurveDisplay, CurveKeywords, Series
from purecover.intervals.interval import CurveBand
from purecover.recovery.calibration import CalibrationCurve, recover_calibration
from purecover.recovery.decisions import DecisionCurve, recover_decision_curve


class CalibrationDisplay(CurveDisplay):
    """Recovered frequency of positives against the predicted probability.

    Parameters
    ----------
    curve : CalibrationCurve
        The curve that :func:`recover_calibration` gives.
    band : CurveBand, optional
        A confidence band, for example that of ``curve_band(..., "calibration")``.
    name : str, optional
        Stands before the legend entries.

    Attributes
    ----------
    line_, observed_, chance_level_ : matplotlib Line2D
        The recovered curve, the one seen with unlabeled as negative, and the diagonal, where
        probabilities are right; set by :meth:`plot`, None where not drawn.
    band_ : matplotlib PolyCollection or None
        The band.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    recover_calibration : Computes what is drawn.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.displays import CalibrationDisplay
    >>> from purecover.recovery import recover_calibration
    >>> counts = ScoreCounts.from_counts([0.9, 0.2], labeled=[625, 375], unlabeled=[275, 725])
    >>> curve = recover_calibration(counts, MixtureProportions(0.25, 0.75))
    >>> display = CalibrationDisplay(curve).plot()
    >>> display.line_.get_label()
    'corrected (Brier score 0.122)'
    """

    _axes = ("predicted", "frequency")
    _labels = ("Predicted probability", "Frequency of positives")
    _legend = "best"

    @public
    def __init__(
        self, curve: CalibrationCurve, *, band: CurveBand | None = None, name: str | None = None
    ) -> None:
        check_instance("curve", curve, CalibrationCurve, "make it with recover_calibration(...)")
        self.curve = curve
        self._keep(band, name)

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        target: Target = "population",
        band: CurveBand | None = None,
        **options: Unpack[CurveKeywords],
    ) -> Self:
        """Recover the calibration curve of probabilities and draw it.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`; scores are probabilities
            of the true class.
        target : {"population", "deployment", "pooled"} or float, default="population"
            The population that they are for; see :meth:`MixtureProportions.prior`.
        band : CurveBand, optional
            A confidence band to draw.
        **options

        Returns
        -------
        CalibrationDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover.displays import CalibrationDisplay
        >>> probabilities, labeled = [0.9, 0.8, 0.6, 0.4, 0.2, 0.1], [1, 1, 0, 1, 0, 0]
        >>> display = CalibrationDisplay.from_predictions(probabilities, labeled, alpha=0.4)
        >>> display.ax_.get_xlabel()
        'Predicted probability'
        """
        counts, mixture = cls._read(scores, labeled, options)
        return cls(recover_calibration(counts, mixture, target=target), band=band)._drawn(options)

    def _lines(self) -> dict[str, Series]:
        curve, diagonal = self.curve, np.array([0.0, 1.0])
        return {
            "observed": Series(
                curve.predicted, curve.frequency_pu, "observed (labeled as positive)"
            ),
            "recovered": Series(
                curve.predicted, curve.frequency, f"corrected (Brier score {curve.brier:.3f})"
            ),
            "chance": Series(diagonal, diagonal, "right probabilities"),
        }


class DecisionCurveDisplay(CurveDisplay):
    """Net benefit of decisions by probabilities against the threshold probability.

    Parameters
    ----------
    curve : DecisionCurve
        The curve that :func:`recover_decision_curve` gives.
    band : CurveBand, optional
        A confidence band, for example that of ``curve_band(..., "decision")``.
    name : str, optional
        Stands before the legend entries.

    Attributes
    ----------
    line_, observed_, chance_level_ : matplotlib Line2D
        The recovered curve, the one seen with unlabeled as negative, and that of flagging everybody
        or nobody, whichever is better; set by :meth:`plot`, None where not drawn.
    band_ : matplotlib PolyCollection or None
        The band.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    recover_decision_curve : Computes what is drawn.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.displays import DecisionCurveDisplay
    >>> from purecover.recovery import recover_decision_curve
    >>> counts = ScoreCounts.from_counts([0.9, 0.2], labeled=[625, 375], unlabeled=[275, 725])
    >>> curve = recover_decision_curve(counts, MixtureProportions(0.25, 0.75))
    >>> display = DecisionCurveDisplay(curve).plot()
    >>> display.chance_level_.get_label()
    'flag everybody, or nobody'
    """

    _axes = ("threshold", "net_benefit")
    _labels = ("Threshold probability", "Net benefit")
    _legend = "best"
    _square = False

    @public
    def __init__(
        self, curve: DecisionCurve, *, band: CurveBand | None = None, name: str | None = None
    ) -> None:
        check_instance("curve", curve, DecisionCurve, "make it with recover_decision_curve(...)")
        self.curve = curve
        self._keep(band, name)

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        target: Target = "population",
        band: CurveBand | None = None,
        **options: Unpack[CurveKeywords],
    ) -> Self:
        """Recover the decision curve of probabilities and draw it.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`; scores are probabilities
            of the true class.
        target : {"population", "deployment", "pooled"} or float, default="population"
            The population that decisions are for; see :meth:`MixtureProportions.prior`.
        band : CurveBand, optional
            A confidence band to draw.
        **options

        Returns
        -------
        DecisionCurveDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover.displays import DecisionCurveDisplay
        >>> probabilities, labeled = [0.9, 0.8, 0.6, 0.4, 0.2, 0.1], [1, 1, 0, 1, 0, 0]
        >>> display = DecisionCurveDisplay.from_predictions(probabilities, labeled, alpha=0.4)
        >>> display.ax_.get_ylabel()
        'Net benefit'
        """
        counts, mixture = cls._read(scores, labeled, options)
        curve = recover_decision_curve(counts, mixture, target=target)
        return cls(curve, band=band)._drawn(options)

    def _lines(self) -> dict[str, Series]:
        at = self.curve.thresholds
        return {
            "observed": Series(at, self.curve.net_benefit_pu, "observed (labeled as positive)"),
            "recovered": Series(at, self.curve.net_benefit, "recovered"),
            "chance": Series(at, self.curve.best_without, "flag everybody, or nobody"),
        }
