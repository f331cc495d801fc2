"""Choosing a threshold, with all metrics there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts, auc_pu_variance
from purecover.exceptions import InvalidInputError, RecoveryWarning
from purecover.proportions import MixtureProportions
from purecover.recovery import metrics as formulas
from purecover.recovery.curves import RecoveredRoc, recover_roc
from purecover.recovery.metrics import METRICS, RecoveredMetrics, RecoveryOptions
from purecover.recovery.rates import check_data

THRESHOLD_METRICS = tuple(name for name, metric in METRICS.items() if metric.kind == "threshold")

_AT_LEAST = ("precision", "recall", "specificity", "npv")
_AT_MOST = ("fpr", "fdr")
WITH_VALUE = (*_AT_LEAST, *_AT_MOST)
"""Metrics whose best value is trivial, so that a target value is needed."""

_RATIOS = ("precision", "fdr", "lift", "lee_liu")
"""Metrics that a handful of rows at the very top can push anywhere."""

MIN_LABELED = 10
"""Labeled rows that a threshold needs above it to be considered for them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricCurves(Frozen, Tabular, columns="threshold flagged_unlabeled"):
    """Threshold metrics at every threshold.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, decreasing.
    flagged_unlabeled : ndarray of shape (n_thresholds,)
        Share of the unlabeled with a score of at least the threshold.
    curves : mapping of str to ndarray of shape (n_thresholds,)
        Recovered metrics by name; NaN where undefined.
    prior : float
        Prior of the target.
    """

    thresholds: FloatArray
    flagged_unlabeled: FloatArray
    curves: Mapping[str, FloatArray]
    prior: float

    def __repr__(self) -> str:
        return (
            f"MetricCurves({len(self.curves)} metrics at {self.thresholds.size:,} thresholds, "
            f"prior={self.prior:.4g})"
        )

    def _columns(self) -> dict[str, Any]:
        return {**super()._columns(), **self.curves}


@dataclass(frozen=True, kw_only=True, eq=False)
class ThresholdChoice(Saved):
    """A chosen threshold and what it achieves.

    Attributes
    ----------
    threshold : float
        Predict positive where the score is at least this.
    criterion : str
        The metric that decided.
    wanted : float or None
        The value asked for; None if the best was asked for.
    metrics : RecoveredMetrics
        All threshold metrics there.
    flagged_labeled, flagged_unlabeled : float
        How many of the labeled and of the unlabeled reach the threshold.
    """

    threshold: float
    criterion: str
    wanted: float | None
    metrics: RecoveredMetrics
    flagged_labeled: float
    flagged_unlabeled: float

    def __repr__(self) -> str:
        metric = METRICS[self.criterion]
        reached = self.metrics[self.criterion]
        if self.wanted is None:
            goal = f"best {metric.title} ({reached:.4f})"
        else:
            sign = ">=" if self.criterion in _AT_LEAST else "<="
            goal = f"{metric.title} {sign} {self.wanted:g} ({reached:.4f})"
        return (
            f"ThresholdChoice: score >= {self.threshold:.6g} for {goal}; flags "
            f"{self.flagged_labeled:,.10g} labeled and {self.flagged_unlabeled:,.10g} unlabeled\n"
            f"{self.metrics!r}"
        )


@public
def recover_metric_curves(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    **options: Unpack[formulas.ThresholdKeywords],
) -> MetricCurves:
    """Recover all threshold metrics at every threshold.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    **options

    Returns
    -------
    MetricCurves
        One array per metric.

    See Also
    --------
    choose_threshold : Picks one of the thresholds.
    ThresholdDisplay : Draws the curves.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.recovery import recover_metric_curves
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> curves = recover_metric_curves(counts, MixtureProportions(0.25, 0.75))
    >>> curves.curves["precision"].round(4)
    array([0.7273, 0.25  ])
    """
    check_data(counts, proportions)
    given = RecoveryOptions.among(options).validated()
    roc = recover_roc(counts, proportions, repair=given.repair or "isotonic")
    prior = proportions.prior(given.target, counts)
    fpr, tpr = (rate[1:] for rate in _rates(roc, counts))
    curves = {
        name: np.asarray(METRICS[name].formula(tpr, fpr, prior, given))
        for name in THRESHOLD_METRICS
    }
    places = {"thresholds": counts.thresholds, "flagged_unlabeled": roc.fpr_pu[1:]}
    return MetricCurves(**places, curves=curves, prior=prior)


def _rates(roc: RecoveredRoc, counts: ScoreCounts) -> tuple[FloatArray, FloatArray]:
    fpr, tpr = formulas.rates_at_thresholds(roc, counts)
    return formulas.within_margins(fpr, tpr, roc.fpr_pu, roc.proportions.alpha)


def criterion_at(
    criterion: str,
    rates: tuple[FloatArray, FloatArray],
    labeled: FloatArray,
    prior: Any,
    options: RecoveryOptions,
    min_labeled: int = MIN_LABELED,
) -> FloatArray:
    """Return the value of the criterion where nothing is flagged and then at every threshold.

    ``rates`` are fpr and tpr, and ``labeled`` is the number of labeled rows at or above each
    threshold; many samples have one row each. NaN marks thresholds that are not considered.
    """
    fpr, tpr = rates
    at = np.array(METRICS[criterion].formula(tpr, fpr, prior, options))
    if criterion in _RATIOS:
        enough = np.minimum(min_labeled, labeled[..., -1:])
        at[labeled < enough * (1 - 1e-12)] = np.nan
    return at


def best_places(criterion: str, at: FloatArray) -> IntArray:
    """Return the place of the best threshold of each sample; 0 if flagging nothing is best."""
    sign = 1.0 if METRICS[criterion].greater_is_better else -1.0
    gain = np.where(np.isnan(at), -np.inf, sign * at)
    # Flagging nothing is best where false alarms are dear.
    nothing = gain[..., 0] > gain[..., 1:].max(axis=-1)
    return np.where(nothing, 0, np.argmax(gain[..., 1:], axis=-1) + 1)


@public
def choose_threshold(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    criterion: str,
    value: float | None = None,
    *,
    min_labeled: int = MIN_LABELED,
    **options: Unpack[formulas.ThresholdKeywords],
) -> ThresholdChoice:
    """Choose the threshold for a wanted precision, recall or false-positive rate, or the best one.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    criterion : str
        With ``value``: ``"precision"``, ``"specificity"`` or ``"npv"`` of at least, ``"fpr"``
        or ``"fdr"`` of at most the value, then the threshold that keeps the highest
        recall (for ``"npv"``: that flags the fewest); ``"recall"`` of at least the value,
        then the threshold that flags the fewest. Without ``value``: any other threshold
        metric, at its best, such as ``"f1"``, ``"f_beta"``, ``"mcc"``, ``"youden"`` or ``"cost"``.
    value : float, optional
        The value wanted, in [0, 1].
    min_labeled : int, default=10
        Thresholds that fewer labeled rows reach are not considered for precision, false
        discovery rate, lift and Lee-Liu score: there these are mostly noise.
    **options

    Returns
    -------
    ThresholdChoice
        The threshold and all metrics there.

    Warns
    -----
    RecoveryWarning
        If alpha and beta do not fit the scores.

    Raises
    ------
    InvalidInputError
        If no threshold attains the value; the message says what the best one attains.

    See Also
    --------
    recover_metric_curves : All metrics at all thresholds.

    Notes
    -----
    A threshold chosen on a sample does a little worse elsewhere: of thresholds that reach a
    wanted precision here, about two in three miss it slightly on new data. Choose on one part
    of the data and evaluate on the other, or ask for a little more.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, choose_threshold
    >>> counts = ScoreCounts.from_counts([2, 1, 0], labeled=[5, 4, 1], unlabeled=[5, 20, 75])
    >>> choose_threshold(counts, MixtureProportions(0.08), "recall", 0.8).threshold
    1.0
    """
    check_data(counts, proportions)
    given = RecoveryOptions.among(options).validated()
    valid.check_choice("criterion", criterion, THRESHOLD_METRICS)
    constrained = criterion in WITH_VALUE
    if constrained != (value is not None):
        must = "given" if constrained else "left out"
        why = "its best value is trivial" if constrained else "the best threshold is chosen"
        raise valid.bad_value("value", f"{must} for {criterion!r}", valid.show(value), why)
    roc = recover_roc(counts, proportions, repair=given.repair or "isotonic")
    min_labeled = valid.check_integer("min_labeled", min_labeled, low=0)
    prior = proportions.prior(given.target, counts)
    labeled = np.append(0.0, np.cumsum(counts.labeled))
    at = criterion_at(criterion, _rates(roc, counts), labeled, prior, given, min_labeled)
    if np.isnan(at[1:]).all():
        raise InvalidInputError(
            f"choose_threshold cannot rank thresholds by {criterion!r}: it is undefined at all "
            f"of them (prior {prior:g})."
        )
    if value is None:
        place = int(best_places(criterion, at))
    else:
        value = valid.check_real("value", value, low=0, high=1)
        at_least = criterion in _AT_LEAST
        reached: BoolArray = at[1:] >= value if at_least else at[1:] <= value
        if not reached.any():
            closest = np.nanmax(at[1:]) if at_least else np.nanmin(at[1:])
            word = "highest" if at_least else "lowest"
            hint = "ask for less, or improve the scores"
            if criterion in _RATIOS:
                hint += f" (thresholds with fewer than {min_labeled} labeled were left out)"
            must = f"attainable: the {word} {criterion} of any threshold is {closest:.4g}"
            raise valid.bad_value("value", must, f"{value:g}", hint)
        # Thresholds decrease: the last one flags most, hence keeps the highest recall.
        fewest = criterion in ("recall", "npv")
        place = int(np.flatnonzero(reached)[0 if fewest else -1]) + 1
    threshold = float(counts.thresholds[max(place, 1) - 1])
    if place == 0:
        threshold = float(np.nextafter(threshold, np.inf))
    slack = 2 * math.sqrt(auc_pu_variance(counts)) / proportions.delta
    if roc.auc_direct < -slack:  # beyond what noise explains
        valid.warn(
            f"the recovered AUC {roc.auc_direct:.4f} is outside [0, 1]: alpha="
            f"{proportions.alpha:g} and beta={proportions.beta:g} do not fit these scores, and no "
            "threshold chosen with them can be trusted. See check PU008.",
            RecoveryWarning,
        )
    metrics = formulas.metrics_from_roc(
        roc,
        roc,
        counts,
        threshold=threshold,
        prior=prior,
        metrics=formulas.resolve_metrics(THRESHOLD_METRICS, counts, given),
        options=given,
    )
    return ThresholdChoice(
        threshold=threshold,
        criterion=criterion,
        wanted=value,
        metrics=metrics,
        flagged_labeled=counts.labeled[:place].sum().item(),
        flagged_unlabeled=counts.unlabeled[:place].sum().item(),
    )
