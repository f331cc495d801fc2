"""The recovered precision-recall curve as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purecover._typing import AreaRule, ArrayLike, Repair, Target
from purecover._validation import check_instance
from purecover.counts import ScoreCounts
from purecover.displays._base import Band, check_band, count, mix
from purecover.displays._curve import CurveDisplay, Series
from purecover.proportions import MixtureProportions
from purecover.recovery._pr import RecoveredPr, recover_pr

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
    as positive, the recovered one of the target whose prior is the chance level. Under the
    area rule ``"average-precision"`` curves are drawn as the steps that rule adds up.

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
        alpha: float | None = None,
        beta: float = 1.0,
        proportions: MixtureProportions | None = None,
        sample_weight: ArrayLike | None = None,
        repair: Repair | None = None,
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
        scores : array-like of shape (n_samples,) or ScoreCounts
            A score per row, larger where positive is likelier; or the counted scores, and
            then no ``labeled``.
        labeled : array-like of shape (n_samples,)
            True where a row carries the positive label.
        alpha : float
            Share of positives among the unlabeled.
        beta : float, default=1.0
            Share of positives among the labeled; 1 means clean labels.
        proportions : MixtureProportions, optional
            Alpha and beta together, in place of the two; says the sampling scenario too.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        repair : {"likelihood", "isotonic", "paper", "hull", "none"}, optional
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
        function = f"{cls.__name__}.from_predictions"
        counts = count(function, scores, labeled, sample_weight)
        proportions = mix(function, alpha, beta, proportions)
        pr = recover_pr(counts, proportions, repair=repair, target=target, area=area)
        return cls(pr, band=band, name=name).plot(ax, **options)

    def _shown(self) -> RecoveredPr:
        return self.pr

    def _lines(self) -> dict[str, Series]:
        pr = self.pr
        # Two digits, but a rare class must not read as 0.00.
        prior = f"{pr.prior:.2f}" if pr.prior >= 0.01 else f"{pr.prior:.1g}"
        return {
            "observed": Series(
                pr.recall_pu, pr.precision_pu, f"observed (AUC-PR {pr.auc_pr_pu:.2f})"
            ),
            "recovered": Series(pr.recall, pr.precision, f"recovered (AUC-PR {pr.auc_pr:.2f})"),
            "chance": Series(
                np.array([0.0, 1.0]),
                np.array([pr.prior, pr.prior]),
                f"chance (precision {prior})",
            ),
        }
