"""The recovered ROC curve as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purecover._given import GivenProportions
from purecover._typing import ArrayLike, Repair, Scenario
from purecover._validation import check_instance
from purecover.counts import ScoreCounts
from purecover.displays._base import Band, check_band
from purecover.displays._curve import CurveDisplay, Series
from purecover.proportions import MixtureProportions
from purecover.recovery._roc import RecoveredRoc, recover_roc

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RecoveredRocDisplay"]

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

    def __init__(
        self, roc: RecoveredRoc, *, band: Band | None = None, name: str | None = None
    ) -> None:
        function = type(self).__name__
        check_instance(
            function, "roc", roc, RecoveredRoc, "make it with recover_roc(...), or take report.roc"
        )
        self.roc = roc
        self.band = check_band(function, band)
        self.name = name

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
        repair: Repair = "isotonic",
        band: Band | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Recover the ROC curve of scores and draw it.

        Parameters
        ----------
        scores : array-like of shape (n_samples,) or ScoreCounts
            A score per row, larger where positive is likelier; or the counted scores, and
            then no ``labeled``, ``positive_label`` and ``sample_weight``.
        labeled : array-like of shape (n_samples,)
            True where a row carries the positive label; see :meth:`ScoreCounts.from_scores`.
        positive_label : object, optional
            The value that means labeled, where it cannot be read off.
        alpha, beta, proportions, prior, label_frequency, scenario
            What is known of the shares of positives, as in :func:`evaluate`: one of ``alpha``,
            ``prior`` with ``scenario``, ``label_frequency`` and ``proportions``.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        repair : {"isotonic", "paper", "hull", "likelihood", "none"}, default="isotonic"
            How noisy points become a curve; see :func:`recover_roc`.
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
        given = GivenProportions(alpha, beta, proportions, prior, label_frequency, scenario)
        counts, mixture = cls._read(
            "from_predictions", given, scores, labeled, sample_weight, positive_label, options
        )
        roc = recover_roc(counts, mixture, repair=repair)
        return cls(roc, band=band, name=name).plot(ax, **options)

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
