"""The recovered precision-recall curve as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purecover._given import GivenProportions
from purecover._typing import AreaRule, ArrayLike, Repair, Scenario, Target
from purecover._validation import check_instance
from purecover.counts import ScoreCounts
from purecover.displays._base import Band, check_band
from purecover.displays._curve import CurveDisplay, Series
from purecover.proportions import MixtureProportions
from purecover.recovery._pr import RecoveredPr, recover_pr, refine_pr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RecoveredPrDisplay"]


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
    The two curves speak of different populations: the observed one of the data with labeled
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

    def __init__(
        self, pr: RecoveredPr, *, band: Band | None = None, name: str | None = None
    ) -> None:
        function = type(self).__name__
        check_instance(
            function, "pr", pr, RecoveredPr, "make it with recover_pr(...), or take report.pr"
        )
        self.pr = pr
        self.band = check_band(function, band)
        self.name = name
        if pr.area == "average-precision":
            # The rule gives the stretch up to a recall the precision reached there.
            self._drawstyle = "steps-pre"

    @classmethod
    def from_predictions(
        cls,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        positive_label: object = None,
        alpha: float | None = None,
        beta: float = 1.0,
        proportions: MixtureProportions | None = None,
        prior: float | None = None,
        label_frequency: float | None = None,
        scenario: Scenario | None = None,
        sample_weight: ArrayLike | None = None,
        repair: Repair = "blend",
        target: Target = "population",
        area: AreaRule = "davis-goadrich",
        band: Band | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Recover the precision-recall curve of scores and draw it.

        Parameters
        ----------
        scores, labeled, positive_label, sample_weight
            The data, as in :meth:`RecoveredRocDisplay.from_predictions`.
        alpha, beta, proportions, prior, label_frequency, scenario
            What is known of the shares of positives, as in :func:`evaluate`.
        repair : {"blend", "isotonic", "likelihood", "paper", "hull", "none"}, default="blend"
            How noisy points become a curve; see :func:`recover_roc`.
        target : {"population", "deployment", "pooled"} or float, default="population"
            The population precision is wanted for; see :meth:`MixtureProportions.prior`.
        area : {"davis-goadrich", "average-precision", "trapezoid"}, default="davis-goadrich"
            How the area is taken; see :func:`recover_pr`.
        band : object, optional
            A confidence band to draw.
        name : str, optional
            Stands before the legend entries.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options
            Passed to :meth:`plot`.

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
        given = GivenProportions(alpha, beta, proportions, prior, label_frequency, scenario)
        counts, mixture = cls._read(
            "from_predictions", given, scores, labeled, sample_weight, positive_label, options
        )
        pr = recover_pr(counts, mixture, repair=repair, target=target, area=area)
        return cls(pr, band=band, name=name).plot(ax, **options)

    def _summary(self) -> str:
        return f"AUC-PR {self.pr.auc_pr:.2f}, observed {self.pr.auc_pr_pu:.2f}"

    def _lines(self) -> dict[str, Series]:
        pr = self.pr
        recovered, observed = (pr.recall, pr.precision), (pr.recall_pu, pr.precision_pu)
        if pr.area == "davis-goadrich":
            recovered = refine_pr(*recovered, pr.prior)
            # Where all is flagged, precision is the prior: here, the labeled share.
            observed = refine_pr(*observed, float(pr.precision_pu[-1]))
        # Two digits, but a rare class must not read as 0.00.
        prior = f"{pr.prior:.2f}" if pr.prior >= 0.01 else f"{pr.prior:.1g}"
        return {
            "observed": Series(*observed, f"observed (AUC-PR {pr.auc_pr_pu:.2f})"),
            "recovered": Series(*recovered, f"recovered (AUC-PR {pr.auc_pr:.2f})"),
            "chance": Series(
                np.array([0.0, 1.0]),
                np.array([pr.prior, pr.prior]),
                f"chance (precision {prior})",
            ),
        }
