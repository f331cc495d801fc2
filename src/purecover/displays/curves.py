"""Recovered curves beside the observed ones, metrics by threshold, and the evidence of a score."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, Unpack

import numpy as np

from purecover._typing import AreaRule, ArrayLike, FloatArray, RandomState, Repair, Target
from purecover._validation import (
    bad_type,
    bad_value,
    check_choice,
    check_instance,
    check_names,
    check_real,
    public,
)
from purecover.counts import ScoreCounts
from purecover.displays import base
from purecover.exceptions import InvalidInputError
from purecover.intervals.evidence import EvidenceThresholds, evidence_thresholds
from purecover.intervals.interval import CurveBand
from purecover.proportions import KnownKeywords
from purecover.recovery.curves import RecoveredPr, RecoveredRoc, recover_pr, recover_roc, refine_pr
from purecover.recovery.means import (
    CalibrationCurve,
    DecisionCurve,
    recover_calibration,
    recover_decision_curve,
)
from purecover.recovery.metrics import METRICS
from purecover.recovery.rates import contradiction_of
from purecover.recovery.thresholds import (
    MetricCurves,
    ThresholdChoice,
    choose_threshold,
    recover_metric_curves,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.lines import Line2D


_FITS_INSIDE = 4  # entries of a legend
OBSERVED_DASHES = ("--", "-.", (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)))
"""Observed curves are all gray; the dashes tell apart those of several models."""
BAND: dict[str, Any] = {"alpha": 0.2, "linewidth": 0.0, "zorder": 1.9}


def check_band(band: Any) -> CurveBand | None:
    """A band, or None; anything with the five attributes will do."""
    if band is None:
        return None
    missing = [a for a in ("x", "low", "high", "confidence_level", "kind") if not hasattr(band, a)]
    if missing:
        raise bad_type(
            "band",
            "a confidence band with x, low, high, confidence_level and kind",
            band,
            f"it has no {', '.join(missing)}; report.roc_band and report.pr_band are bands",
        )
    sizes = [np.shape(getattr(band, a)) for a in ("x", "low", "high")]
    if len(set(sizes)) > 1 or len(sizes[0]) != 1:
        shapes = ", ".join(str(size) for size in sizes)
        raise bad_value("band", "of three vectors of one length", f"shapes {shapes}")
    return band


def band_label(band: CurveBand) -> str:
    """For example ``95 % band (pointwise)``."""
    return f"{100 * band.confidence_level:.4g} % band ({band.kind})"


def thin_line(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A line without points that cannot be told apart in the picture."""
    keep = base.thinned(x, y)
    return x[keep], y[keep]


def stacked(
    parts: list[tuple[str, FloatArray, FloatArray]], names: tuple[str, str, str]
) -> dict[str, np.ndarray[Any, Any]]:
    """Lines below one another as columns: which line, x and y."""
    roles, xs, ys = zip(*parts, strict=True)
    which = np.repeat(roles, [x.size for x in xs])
    return dict(zip(names, (which, np.concatenate(xs), np.concatenate(ys)), strict=True))


def drawn_before(ax: Axes, role: str) -> int:
    """How many curves of a role these axes hold already, so that the next can differ."""
    return sum(line.get_gid() == f"purecover-{role}" for line in ax.get_lines())


def titled(name: str | None, what: str) -> str:
    """A legend entry, with the name of the model in front where there is one."""
    return what if name is None else f"{name}: {what}"


_NOT_RECOVERED = "recovered: none, as alpha and\nbeta contradict the scores"


class Series(NamedTuple):
    """One line of the picture."""

    x: FloatArray
    y: FloatArray
    label: str


class CurveLook(base.LookKeywords, total=False):
    """How curves of rates are drawn."""

    curve_kwargs: base.Style
    plot_observed: bool
    observed_kwargs: base.Style
    band_kwargs: base.Style
    plot_chance_level: bool
    chance_level_kw: base.Style


class CurveKeywords(KnownKeywords, base.DataKeywords, CurveLook, total=False):
    """What curves of rates are made of."""


class CurveDisplay(base.Display):
    """An observed and a recovered curve of rates, a band and the chance level."""

    band: CurveBand | None
    line_: Line2D
    observed_: Line2D | None
    band_: PolyCollection | None
    chance_level_: Line2D | None

    _axes: tuple[str, str]  # names of the columns
    _labels: tuple[str, str]  # labels of the axes
    _legend: Literal["lower right", "best"]  # where the legend stands
    _drawstyle: str = "default"
    _square: bool = True  # whether both axes are shares

    @abstractmethod
    def _lines(self) -> dict[str, Series]:
        """The curves, all points: ``observed``, ``recovered`` and ``chance``."""

    def _thin_lines(self) -> dict[str, Series]:
        lines = {role: Series(*thin_line(x, y), z) for role, (x, y, z) in self._lines().items()}
        if np.isnan(lines["recovered"].x).all():
            # What cannot be is not drawn, but a legend that says nothing of it would be missed.
            lines["recovered"] = lines["recovered"]._replace(label=_NOT_RECOVERED)
        return lines

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        parts = [(role, line.x, line.y) for role, line in self._thin_lines().items()]
        if self.band is not None:
            x = np.asarray(self.band.x, dtype=np.float64)
            parts += [("band low", x, np.asarray(self.band.low, dtype=np.float64))]
            parts += [("band high", x, np.asarray(self.band.high, dtype=np.float64))]
        return stacked(parts, ("curve", *self._axes))

    @public
    def plot(self, ax: Axes | None = None, **look: Unpack[CurveLook]) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given. A second display drawn into the same
            axes takes the next color.
        **look

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
        given = base.Look.among(look)
        name = self._named(given)
        lines = self._thin_lines()
        self.observed_ = self.band_ = self.chance_level_ = None

        def draw(role: str, label: str, defaults: Mapping[str, Any], wishes: base.Style) -> Line2D:
            ours = {**defaults, "label": label, "gid": f"purecover-{role}"}
            (artist,) = self.ax_.plot(lines[role].x, lines[role].y, **base.style(ours, wishes))
            return artist

        # Drawn in the order of the legend; what lies above what is settled by zorder.
        turn = drawn_before(ax, "recovered")
        drawstyle = {"drawstyle": self._drawstyle}
        recovered = {**base.RECOVERED, **drawstyle, "color": base.CYCLE[turn % len(base.CYCLE)]}
        label = titled(name, lines["recovered"].label)
        self.line_ = draw("recovered", label, recovered, given.curve_kwargs)
        if self.band is not None:
            options = {
                **BAND,
                "color": self.line_.get_color(),
                "label": titled(name, band_label(self.band)),
                **(given.band_kwargs or {}),
            }
            self.band_ = ax.fill_between(self.band.x, self.band.low, self.band.high, **options)
        if given.plot_observed:
            dashes = OBSERVED_DASHES[turn % len(OBSERVED_DASHES)]
            observed = {**base.OBSERVED, **drawstyle, "linestyle": dashes}
            label = titled(name, lines["observed"].label)
            self.observed_ = draw("observed", label, observed, given.observed_kwargs)
        if given.plot_chance_level:
            # Several models in one picture share one entry in the legend.
            label = "_nolegend_" if drawn_before(ax, "chance") else lines["chance"].label
            self.chance_level_ = draw("chance", label, base.CHANCE, given.chance_level_kw)

        drawn = [line for line in ax.get_lines() if line.get_gid()]
        ax.set(xlabel=self._labels[0], ylabel=self._labels[1])
        ax.set_xlim(base.limits(*(line.get_xdata() for line in drawn)))
        if self._square:
            ax.set_ylim(base.limits(*(line.get_ydata() for line in drawn)))
            ax.set_aspect("equal")
        if given.despine:
            base.despine_axes(ax)
        handles = ax.get_legend_handles_labels()[0]
        handles.sort(key=lambda handle: handle.get_gid() == "purecover-chance")  # chance last
        crowded = self._legend == "best" and len(handles) > _FITS_INSIDE
        if crowded and ax.figure.get_layout_engine() is not None:
            # No corner is free for so many entries; a layout makes room for them below.
            ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=1)
        else:
            ax.legend(handles=handles, loc=self._legend)
        return self


# -- The recovered ROC curve as a picture --------------------------------------------------------


_WORTH_SAYING = 0.005


class RecoveredRocDisplay(CurveDisplay):
    """ROC curves: observed against labels, and recovered against the true classes.

    Parameters
    ----------
    roc : RecoveredRoc
        The curve, for example ``report.roc``.
    band : object, optional
        A confidence band of the true-positive rate over a grid of false-positive rates, for
        example ``report.roc_band``; anything with ``x``, ``low``, ``high``,
        ``confidence_level`` and ``kind``.
    name : str, optional
        Stands before the legend entries.

    Attributes
    ----------
    line_, observed_, chance_level_ : matplotlib Line2D
        The recovered curve, the observed one and the chance level; set by :meth:`plot`,
        None where not drawn.
    band_ : matplotlib PolyCollection or None
        The band.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    recover_roc : Computes what is drawn.
    RecoveredPrDisplay : The precision-recall curve.

    Notes
    -----
    The legend gives the area under each drawn curve. Where the direct value of the recovered
    AUC differs from it by more than 0.005, the legend gives that too.

    Examples
    --------
    >>> from purecover import MixtureProportions, RecoveredRocDisplay, ScoreCounts, recover_roc
    >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
    >>> counts = ScoreCounts.from_scores(scores, labeled=[1, 1, 0, 1, 0, 1, 0, 0, 0, 0])
    >>> roc = recover_roc(counts, MixtureProportions(alpha=0.25))
    >>> display = RecoveredRocDisplay(roc).plot()
    >>> display.observed_.get_label()
    'observed (AUC 0.83)'
    """

    _axes = ("fpr", "tpr")
    _labels = ("False positive rate", "True positive rate")
    _legend = "lower right"

    @public
    def __init__(
        self, roc: RecoveredRoc, *, band: CurveBand | None = None, name: str | None = None
    ) -> None:
        check_instance(
            "roc", roc, RecoveredRoc, "make it with recover_roc(...), or take report.roc"
        )
        self.roc = roc
        self.band = check_band(band)
        self.name = name

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        repair: Repair = "isotonic",
        band: CurveBand | None = None,
        **options: Unpack[CurveKeywords],
    ) -> Self:
        """Recover the ROC curve of scores and draw it.

        Parameters
        ----------
        scores : array-like of shape (n_samples,) or ScoreCounts
            A score per row, larger where positive is likelier; or the counted scores, and
            then no ``labeled``, ``positive_label`` and ``sample_weight``.
        labeled : array-like of shape (n_samples,)
            True where a row carries the positive label; see :meth:`ScoreCounts.from_scores`.
        repair : {"isotonic", "paper", "hull", "likelihood", "none"}, default="isotonic"
            How noisy points become a curve; see :func:`recover_roc`.
        band : object, optional
            A confidence band to draw.
        **options

        Returns
        -------
        RecoveredRocDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover import RecoveredRocDisplay
        >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
        >>> labeled = [1, 1, 0, 1, 0, 1, 0, 0, 0, 0]
        >>> display = RecoveredRocDisplay.from_predictions(scores, labeled, alpha=0.25)
        >>> display.ax_.get_xlabel()
        'False positive rate'
        """
        counts, mixture = cls._read(scores, labeled, options)
        roc = recover_roc(counts, mixture, repair=repair)
        if contradiction_of(counts, mixture):
            roc = roc._withheld()
        return cls(roc, band=band)._drawn(options)

    def _summary(self) -> str:
        return f"AUC {self.roc.auc:.2f}, observed {self.roc.auc_pu:.2f}"

    def _lines(self) -> dict[str, Series]:
        roc, diagonal = self.roc, np.array([0.0, 1.0])
        area = f"AUC {roc.auc:.2f}"
        if abs(roc.auc - roc.auc_direct) > _WORTH_SAYING:
            # A third digit only where two would hide the difference.
            digits = 2 if f"{roc.auc:.2f}" != f"{roc.auc_direct:.2f}" else 3
            area = f"AUC {roc.auc:.{digits}f}, direct {roc.auc_direct:.{digits}f}"
        return {
            "observed": Series(roc.fpr_pu, roc.tpr_pu, f"observed (AUC {roc.auc_pu:.2f})"),
            "recovered": Series(roc.fpr, roc.tpr, f"recovered ({area})"),
            "chance": Series(diagonal, diagonal, "chance (AUC 0.50)"),
        }


# -- The recovered precision-recall curve as a picture -------------------------------------------


class RecoveredPrDisplay(CurveDisplay):
    """Precision-recall curves: observed against labels, recovered against the true classes.

    Parameters
    ----------
    pr : RecoveredPr
        The curve, for example ``report.pr``.
    band : object, optional
        A confidence band of precision over a grid of recalls, for example
        ``report.pr_band``; anything with ``x``, ``low``, ``high``, ``confidence_level`` and
        ``kind``.
    name : str, optional
        Stands before the legend entries.

    Attributes
    ----------
    line_, observed_, chance_level_ : matplotlib Line2D
        The recovered curve, the observed one and the chance level; set by :meth:`plot`,
        None where not drawn.
    band_ : matplotlib PolyCollection or None
        The band.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    See Also
    --------
    recover_pr : Computes what is drawn.
    RecoveredRocDisplay : The ROC curve.

    Notes
    -----
    The two curves describe different populations: the observed one of the data with labeled
    as positive, the recovered one of the target whose prior is the chance level.

    Curves are drawn as the area rule sees them: under ``"davis-goadrich"`` bent between
    points, as straight lines of the ROC curve are (with points of no threshold at most 0.01
    of recall apart); under ``"average-precision"`` as the steps that rule adds up; under
    ``"trapezoid"`` straight.

    Examples
    --------
    >>> from purecover import MixtureProportions, RecoveredPrDisplay, ScoreCounts, recover_pr
    >>> scores = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
    >>> counts = ScoreCounts.from_scores(scores, [1, 1, 1, 0, 0, 0, 0, 0])
    >>> pr = recover_pr(counts, MixtureProportions(alpha=0.2), repair="paper")
    >>> display = RecoveredPrDisplay(pr).plot()
    >>> display.line_.get_label()
    'recovered (AUC-PR 0.61)'
    """

    _axes = ("recall", "precision")
    _labels = ("Recall", "Precision")
    _legend = "best"

    @public
    def __init__(
        self, pr: RecoveredPr, *, band: CurveBand | None = None, name: str | None = None
    ) -> None:
        check_instance("pr", pr, RecoveredPr, "make it with recover_pr(...), or take report.pr")
        self.pr = pr
        self.band = check_band(band)
        self.name = name
        if pr.area == "average-precision":
            # The rule gives the stretch up to a recall the precision reached there.
            self._drawstyle = "steps-pre"

    @classmethod
    @public
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        repair: Repair = "blend",
        target: Target = "population",
        area: AreaRule = "davis-goadrich",
        band: CurveBand | None = None,
        **options: Unpack[CurveKeywords],
    ) -> Self:
        """Recover the precision-recall curve of scores and draw it.

        Parameters
        ----------
        scores, labeled
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        repair : {"blend", "isotonic", "likelihood", "paper", "hull", "none"}, default="blend"
            How noisy points become a curve; see :func:`recover_roc`.
        target : {"population", "deployment", "pooled"} or float, default="population"
            The population precision is wanted for; see :meth:`MixtureProportions.prior`.
        area : {"davis-goadrich", "average-precision", "trapezoid"}, default="davis-goadrich"
            How the area is taken; see :func:`recover_pr`.
        band : object, optional
            A confidence band to draw.
        **options

        Returns
        -------
        RecoveredPrDisplay
            The display, drawn.

        Examples
        --------
        >>> from purecover import RecoveredPrDisplay
        >>> scores = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
        >>> labeled = [1, 1, 1, 0, 0, 0, 0, 0]
        >>> display = RecoveredPrDisplay.from_predictions(scores, labeled, alpha=0.2)
        >>> display.chance_level_.get_label()
        'chance (precision 0.20)'
        """
        counts, mixture = cls._read(scores, labeled, options)
        pr = recover_pr(counts, mixture, repair=repair, target=target, area=area)
        if contradiction_of(counts, mixture):
            pr = pr._withheld()
        return cls(pr, band=band)._drawn(options)

    def _summary(self) -> str:
        return f"AUC-PR {self.pr.auc_pr:.2f}, observed {self.pr.auc_pr_pu:.2f}"

    def _lines(self) -> dict[str, Series]:
        pr = self.pr
        recovered, observed = (pr.recall, pr.precision), (pr.recall_pu, pr.precision_pu)
        share = float(pr.precision_pu[-1])  # of labeled examples, as all are flagged there
        if pr.area == "davis-goadrich":
            recovered, observed = refine_pr(*recovered, pr.prior), refine_pr(*observed, share)
        # The prior rests on alpha; without a recovered curve, chance is that of the observed one.
        chance = share if np.isnan(pr.recall).all() else pr.prior
        # Two digits, but a rare class must not read as 0.00.
        shown = f"{chance:.2f}" if chance >= 0.01 else f"{chance:.1g}"
        return {
            "observed": Series(*observed, f"observed (AUC-PR {pr.auc_pr_pu:.2f})"),
            "recovered": Series(*recovered, f"recovered (AUC-PR {pr.auc_pr:.2f})"),
            "chance": Series(
                np.array([0.0, 1.0]),
                np.array([chance, chance]),
                f"chance (precision {shown})",
            ),
        }


# -- Curves of probabilities: calibration and decisions -------------------------------------------


class CalibrationDisplay(CurveDisplay):
    """Recovered frequency of positives against the predicted probability.

    Parameters
    ----------
    curve : CalibrationCurve
        The curve that :func:`recover_calibration` gives.
    band : object, optional
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
    'recovered (Brier score 0.122)'
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
        self.band = check_band(band)
        self.name = name

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
        band : object, optional
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

    def _summary(self) -> str:
        return f"Brier score {self.curve.brier:.3f}, slope {self.curve.slope:.2f}"

    def _lines(self) -> dict[str, Series]:
        curve, diagonal = self.curve, np.array([0.0, 1.0])
        return {
            "observed": Series(
                curve.predicted, curve.frequency_pu, "observed (labeled as positive)"
            ),
            "recovered": Series(
                curve.predicted, curve.frequency, f"recovered (Brier score {curve.brier:.3f})"
            ),
            "chance": Series(diagonal, diagonal, "right probabilities"),
        }


class DecisionCurveDisplay(CurveDisplay):
    """Net benefit of decisions by probabilities against the threshold probability.

    Parameters
    ----------
    curve : DecisionCurve
        The curve that :func:`recover_decision_curve` gives.
    band : object, optional
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
        self.band = check_band(band)
        self.name = name

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
        band : object, optional
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

    def _summary(self) -> str:
        return f"net benefit up to {self.curve.net_benefit.max():.3f}"

    def _lines(self) -> dict[str, Series]:
        at = self.curve.thresholds
        return {
            "observed": Series(at, self.curve.net_benefit_pu, "observed (labeled as positive)"),
            "recovered": Series(at, self.curve.net_benefit, "recovered"),
            "chance": Series(at, self.curve.best_without, "flag everybody, or nobody"),
        }


# -- Recovered metrics against the threshold as a picture -----------------------------------------


Against: TypeAlias = Literal["threshold", "flagged"]

DEFAULT_METRICS = ("precision", "recall", "f1", "mcc")
_AXIS_LABELS = {
    "threshold": "Threshold (positive where the score is at least this)",
    "flagged": "Share of the unlabeled predicted positive",
}
_CHOICE = {"color": "#333333", "linestyle": "-", "linewidth": 1.0, "zorder": 2.0}


class ThresholdLook(base.LookKeywords, total=False):
    """How metrics are drawn against the threshold."""

    curve_kwargs: base.Style
    choice_kwargs: base.Style


class ThresholdDisplayKeywords(KnownKeywords, base.DataKeywords, ThresholdLook, total=False):
    """What a display of thresholds is made of."""


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
        check_instance("curves", curves, MetricCurves, "make it with recover_metric_curves(...)")
        check_choice("against", against, tuple(_AXIS_LABELS))
        self.metrics = check_names("metrics", metrics, tuple(curves.curves))
        if not self.metrics:
            raise bad_value("metrics", "at least one name", "none")
        if choice is not None and not isinstance(choice, ThresholdChoice):
            choice = check_real("choice", choice, hint="take one from choose_threshold(...)")
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
        **options: Unpack[ThresholdDisplayKeywords],
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
            raise bad_value("criterion", "given with a value", "None")
        counts, mixture = cls._read(scores, labeled, options)
        curves = recover_metric_curves(counts, mixture, target=target, repair=repair)
        choice: ThresholdChoice | float | None = threshold
        if criterion is not None:
            choice = choose_threshold(
                counts, mixture, criterion, value, target=target, repair=repair
            )
        display = cls(curves, choice=choice, metrics=metrics, against=against)
        return display._drawn(options)

    def _summary(self) -> str:
        few = len(self.metrics) <= len(DEFAULT_METRICS)
        what = ", ".join(self.metrics) if few else f"{len(self.metrics)} metrics"
        mark = self._chosen()
        return what if mark is None else f"{what}; threshold {mark:.4g}"

    # -- what is drawn ------------------------------------------------------------------

    def _lines(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        x = self.curves.thresholds if self.against == "threshold" else self.curves.flagged_unlabeled
        lines = {metric: (x, self.curves.curves[metric]) for metric in self.metrics}
        return {metric: thin_line(*line) for metric, line in lines.items()}

    def _chosen(self) -> float | None:
        return self.choice.threshold if isinstance(self.choice, ThresholdChoice) else self.choice

    def _mark(self) -> tuple[float, FloatArray] | None:
        """Where the choice stands on the horizontal axis, and the metrics there."""
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
    def plot(self, ax: Axes | None = None, **look: Unpack[ThresholdLook]) -> Self:
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
        Against the threshold, metrics are steps: they change only at a score. A curve of
        more than 5,000 points is thinned by less than a pixel, as in
        :meth:`RecoveredRocDisplay.plot`.
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
            defaults = {**_CHOICE, "label": self._choice_label()}
            self.choice_line_ = ax.axvline(x0, **base.style(defaults, given.choice_kwargs))
            colors = [line.get_color() for line in self.lines_.values()]
            self.choice_points_ = ax.scatter(
                np.full(values.size, x0), values, s=28, facecolors="white", edgecolors=colors,
                linewidths=1.5, zorder=2.5,
            )  # fmt: skip
        ax.set(xlabel=_AXIS_LABELS[self.against], ylabel="Recovered metric")
        ax.set_ylim(base.limits(*(line.get_ydata() for line in self.lines_.values())))
        if self.against == "flagged":
            ax.set_xlim(base.limits(self.curves.flagged_unlabeled))
        if given.despine:
            base.despine_axes(ax)
        if own:  # curves cross the whole picture: beside it the legend hides none
            ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
        else:  # in a figure of the caller's there may be no room
            ax.legend(loc="best")
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


# -- Evidence of a score: the likelihood ratio, and where it has a named strength ----------------


class EvidenceLook(base.LookKeywords, total=False):
    """How evidence is drawn."""

    curve_kwargs: base.Style


class EvidenceKeywords(KnownKeywords, base.DataKeywords, EvidenceLook, total=False):
    """What evidence is made of."""


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
        **options: Unpack[EvidenceKeywords],
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

    def _summary(self) -> str:
        reached = int(np.count_nonzero(~np.isnan(self.evidence.bounds)))
        return f"{reached} of {self.evidence.bounds.size} strengths reached"

    def _columns(self) -> dict[str, Any]:
        return self.evidence._columns()

    @public
    def plot(self, ax: Axes | None = None, **look: Unpack[EvidenceLook]) -> Self:
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
            xlabel="Score",
            ylabel="Likelihood ratio of positive to negative",
            xlim=(left, right),
        )
        self._titled(given, f"Prior {found.prior:.3g}: very strong is {found.constant:,.0f} to 1")
        return self
