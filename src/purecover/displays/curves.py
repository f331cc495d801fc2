"""Displays of recovered and observed ROC and precision-recall curves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, Unpack

import numpy as np

from purecover._typing import AreaRule, ArrayLike, FloatArray, Repair, Target
from purecover._validation import check_instance, public
from purecover.counts import ScoreCounts
from purecover.displays import base
from purecover.intervals.interval import CurveBand
from purecover.proportions import KnownKeywords
from purecover.recovery.curves import RecoveredPr, RecoveredRoc, recover_pr, recover_roc, refine_pr
from purecover.recovery.rates import contradiction_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D


_FITS_INSIDE = 4  # entries of a legend
OBSERVED_DASHES = ("--", "-.", (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)))
"""Dashes of observed curves, which are all gray, by model."""
BAND: dict[str, Any] = {"alpha": 0.2, "linewidth": 0.0, "zorder": 1.9}


def stacked(
    parts: list[tuple[str, FloatArray, FloatArray]], names: tuple[str, str, str]
) -> dict[str, np.ndarray[Any, Any]]:
    """Stack lines as columns: name of the line, x and y."""
    roles, xs, ys = zip(*parts, strict=True)
    which = np.repeat(roles, [x.size for x in xs])
    return dict(zip(names, (which, np.concatenate(xs), np.concatenate(ys)), strict=True))


def drawn_before(ax: Axes, role: str) -> int:
    """Return the number of curves of a role in these axes, so that the next can differ."""
    return sum(line.get_gid() == f"purecover-{role}" for line in ax.get_lines())


def titled(name: str | None, what: str) -> str:
    """Return a legend entry, with the name of the model in front if there is one."""
    return what if name is None else f"{name}: {what}"


_NOT_RECOVERED = "corrected: none, as alpha and\nbeta contradict the scores"


class Series(NamedTuple):
    """One line of the picture."""

    x: FloatArray
    y: FloatArray
    label: str


class CurveLook(base.CurveLook, total=False):
    """How curves of rates are drawn."""

    plot_observed: bool
    plot_chance_level: bool


class CurveKeywords(KnownKeywords, base.DataKeywords, CurveLook, total=False):
    """Keyword parameters of displays of curves of rates."""


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

    def _keep(self, band: CurveBand | None, name: str | None) -> None:
        """Keep the band and the name, and refuse what is no band."""
        if band is not None:
            check_instance("band", band, CurveBand, "report.roc_band and report.pr_band are bands")
        self.band = band
        self.name = name

    @abstractmethod
    def _lines(self) -> dict[str, Series]:
        """Return all points of the curves ``observed``, ``recovered`` and ``chance``."""

    def _drawn_lines(self) -> dict[str, Series]:
        lines = self._lines()
        if np.isnan(lines["recovered"].x).all():
            # What cannot be is not drawn, but a legend that says nothing of it would be missed.
            lines["recovered"] = lines["recovered"]._replace(label=_NOT_RECOVERED)
        return lines

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        parts = [(role, line.x, line.y) for role, line in self._drawn_lines().items()]
        if self.band is not None:
            parts += [("band low", self.band.x, self.band.low)]
            parts += [("band high", self.band.x, self.band.high)]
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
        """
        ax = self._open(ax, figsize=(5.0, 4.8))
        given = base.Look.among(look)
        name = self._named(given)
        lines = self._drawn_lines()
        self.observed_ = self.band_ = self.chance_level_ = None

        def draw(role: str, label: str, look: Mapping[str, Any]) -> Line2D:
            ours = {"label": label, "gid": f"purecover-{role}", **look}
            (artist,) = self.ax_.plot(lines[role].x, lines[role].y, **ours)
            return artist

        # Drawn in the order of the legend; what lies above what is settled by zorder.
        turn = drawn_before(ax, "recovered")
        drawstyle = {"drawstyle": self._drawstyle}
        recovered = {**base.RECOVERED, **drawstyle, "color": base.CYCLE[turn % len(base.CYCLE)]}
        label = titled(name, lines["recovered"].label)
        self.line_ = draw("recovered", label, base.style(recovered, given.curve_kwargs))
        if self.band is not None:
            label = f"{100 * self.band.confidence_level:.4g} % band ({self.band.kind})"
            style = {**BAND, "color": self.line_.get_color(), "label": titled(name, label)}
            self.band_ = ax.fill_between(self.band.x, self.band.low, self.band.high, **style)
        if given.plot_observed:
            dashes = OBSERVED_DASHES[turn % len(OBSERVED_DASHES)]
            observed = {**base.OBSERVED, **drawstyle, "linestyle": dashes}
            label = titled(name, lines["observed"].label)
            self.observed_ = draw("observed", label, observed)
        if given.plot_chance_level:
            # Several models in one picture share one entry in the legend.
            label = "_nolegend_" if drawn_before(ax, "chance") else lines["chance"].label
            self.chance_level_ = draw("chance", label, base.CHANCE)

        drawn = [line for line in ax.get_lines() if line.get_gid()]
        ax.set(xlabel=self._labels[0], ylabel=self._labels[1])
        ax.set_xlim(base.limits(*(line.get_xdata() for line in drawn)))
        if self._square:
            ax.set_ylim(base.limits(*(line.get_ydata() for line in drawn)))
            ax.set_aspect("equal")
        self._despined(given)
        handles = ax.get_legend_handles_labels()[0]
        handles.sort(key=lambda handle: handle.get_gid() == "purecover-chance")  # chance last
        crowded = self._legend == "best" and len(handles) > _FITS_INSIDE
        if crowded and ax.figure.get_layout_engine() is not None:
            # No corner is free for so many entries; a layout makes room for them below.
            ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=1)
        else:
            ax.legend(handles=handles, loc=self._legend)
        return self


_WORTH_SAYING = 0.005


class RecoveredRocDisplay(CurveDisplay):
    """ROC curves: observed against labels, and recovered against the true classes.

    Parameters
    ----------
    roc : RecoveredRoc
        The curve, for example ``report.roc``.
    band : CurveBand, optional
        A confidence band of the true-positive rate over a grid of false-positive rates, for
        example ``report.roc_band``.
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
        self._keep(band, name)

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
        band : CurveBand, optional
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

    def _lines(self) -> dict[str, Series]:
        roc, diagonal = self.roc, np.array([0.0, 1.0])
        area = f"AUC {roc.auc:.2f}"
        if abs(roc.auc - roc.auc_direct) > _WORTH_SAYING:
            # A third digit only where two would hide the difference.
            digits = 2 if f"{roc.auc:.2f}" != f"{roc.auc_direct:.2f}" else 3
            area = f"AUC {roc.auc:.{digits}f}, direct {roc.auc_direct:.{digits}f}"
        return {
            "observed": Series(roc.fpr_pu, roc.tpr_pu, f"observed (AUC {roc.auc_pu:.2f})"),
            "recovered": Series(roc.fpr, roc.tpr, f"corrected ({area})"),
            "chance": Series(diagonal, diagonal, "chance (AUC 0.50)"),
        }


class RecoveredPrDisplay(CurveDisplay):
    """Precision-recall curves: observed against labels, recovered against the true classes.

    Parameters
    ----------
    pr : RecoveredPr
        The curve, for example ``report.pr``.
    band : CurveBand, optional
        A confidence band of precision over a grid of recalls, for example ``report.pr_band``.
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
    'corrected (AUC-PR 0.61)'
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
        self._keep(band, name)
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
        band : CurveBand, optional
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

    def _lines(self) -> dict[str, Series]:
        pr = self.pr
        recovered, observed = (pr.recall, pr.precision), (pr.recall_pu, pr.precision_pu)
        share = float(pr.precision_pu[-1])  # of labeled rows, as all are flagged there
        if pr.area == "davis-goadrich":
            recovered, observed = refine_pr(*recovered, pr.prior), refine_pr(*observed, share)
        # The prior depends on alpha; without a recovered curve, chance is the observed one.
        chance = share if np.isnan(pr.recall).all() else pr.prior
        # Two digits, but a rare class must not read as 0.00.
        shown = f"{chance:.2f}" if chance >= 0.01 else f"{chance:.1g}"
        return {
            "observed": Series(*observed, f"observed (AUC-PR {pr.auc_pr_pu:.2f})"),
            "recovered": Series(*recovered, f"corrected (AUC-PR {pr.auc_pr:.2f})"),
            "chance": Series(
                np.array([0.0, 1.0]), np.array([chance, chance]), f"chance (precision {shown})"
            ),
        }
