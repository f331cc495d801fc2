"""The recovered precision-recall curve and the areas under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._codec import picked
from purecover._frames import Tabular
from purecover._typing import AreaRule, FloatArray, Repair, Target
from purecover._validation import Frozen, check_choice, check_real, public
from purecover.counts import ScoreCounts
from purecover.curves import pu_roc_curve
from purecover.proportions import MixtureProportions, check_proportions, check_target
from purecover.recovery.rates import check_data, pr_segment_areas, ratio_integrals, trapezoids
from purecover.recovery.roc import RecoveredRoc, recover_roc

AREA_RULES: tuple[AreaRule, ...] = ("davis-goadrich", "average-precision", "trapezoid")
"""Every way of taking an area under a precision-recall curve."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveredPr(Frozen, Tabular):
    """A precision-recall curve against the true classes.

    Attributes
    ----------
    recall, precision : ndarray of shape (n_points,)
        The curve, in order of decreasing threshold; recall runs from 0 to 1.
    thresholds : ndarray of shape (n_points,)
        The threshold of each point; infinity at recall 0, NaN where a repair put a point
        that no threshold attains.
    recall_pu, precision_pu : ndarray of shape (n_thresholds + 1,)
        The curve observed when unlabeled stands for negative.
    prior : float
        Share of positives in the population that precision is for.
    auc_pr : float
        Area under the curve by the rule ``area``.
    auc_pr_pu : float
        Area under the observed curve by the same rule.
    area : str
        The area rule.
    repair : str
        The repair of the ROC curve it was made from.
    proportions : MixtureProportions
        Alpha and beta.
    """

    recall: FloatArray
    precision: FloatArray
    thresholds: FloatArray
    recall_pu: FloatArray
    precision_pu: FloatArray
    prior: float
    auc_pr: float
    auc_pr_pu: float
    area: AreaRule
    repair: Repair
    proportions: MixtureProportions

    @property
    def normalized_auc_pr(self) -> float:
        """Area above the smallest possible one, as a share of what can be reached."""
        return normalize_auc_pr(self.auc_pr, self.prior)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is not finite becomes None."""
        curve = ("recall", "precision", "thresholds", "prior", "auc_pr", "auc_pr_pu")
        return picked(self, *curve, "area", "repair", "proportions")

    def _columns(self) -> dict[str, Any]:
        return {
            "threshold": self.thresholds,
            "recall": self.recall,
            "precision": self.precision,
        }

    def __repr__(self) -> str:
        return (
            f"RecoveredPr(auc_pr={self.auc_pr:.4f}, observed {self.auc_pr_pu:.4f}, "
            f"prior={self.prior:.4g}, area={self.area!r}, repair={self.repair!r}, "
            f"{self.recall.size:,} points)"
        )


@public
def recover_pr(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    repair: Repair = "blend",
    target: Target = "population",
    area: AreaRule = "davis-goadrich",
) -> RecoveredPr:
    r"""Recover the precision-recall curve against the true classes.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    repair : {"blend", "isotonic", "likelihood", "paper", "hull", "none"}, default="blend"
        How noisy points become a curve; see :func:`recover_roc`. With ``"none"`` precision,
        hence the area, is mostly undefined.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population precision is wanted for; see :meth:`MixtureProportions.prior`.
    area : {"davis-goadrich", "average-precision", "trapezoid"}, default="davis-goadrich"
        How the area is taken. The first is exact for straight ROC segments; the second sums
        steps as scikit-learn's ``average_precision_score`` does; the third joins points by
        straight lines in precision-recall space, which is too optimistic.

    Returns
    -------
    RecoveredPr
        The curve and its area.

    See Also
    --------
    recover_roc : The ROC curve it is made from.
    recover_auc_pr_direct : A cross-check of the area without any repair.
    RecoveredPrDisplay : Draws the curve.

    Notes
    -----
    With the prior :math:`\pi` of the target,
    :math:`precision = \pi\,tpr/(\pi\,tpr + (1-\pi)\,fpr)`, which for :math:`\pi = \alpha`
    is equation 5 of the paper, :math:`\alpha\,tpr/fpr_{pu}`.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_pr
    >>> scores = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
    >>> counts = ScoreCounts.from_scores(scores, [1, 1, 1, 0, 0, 0, 0, 0])
    >>> pr = recover_pr(counts, MixtureProportions(alpha=0.2), repair="paper")
    >>> round(pr.auc_pr, 7)
    0.6111111
    """
    check_target(target)
    check_choice("area", area, AREA_RULES)
    check_data(counts, proportions)
    roc = recover_roc(counts, proportions, repair=repair)
    return pr_from_roc(roc, counts, proportions.prior(target, counts), area)


def pr_from_roc(
    roc: RecoveredRoc, counts: ScoreCounts, prior: float, area: AreaRule
) -> RecoveredPr:
    """The precision-recall curve of an ROC curve at a prior."""
    share = counts.labeled_share
    return RecoveredPr(
        recall=roc.tpr,
        precision=precision_of(roc.tpr, roc.fpr, prior),
        thresholds=roc.thresholds,
        recall_pu=roc.tpr_pu,
        precision_pu=precision_of(roc.tpr_pu, roc.fpr_pu, share),
        prior=prior,
        auc_pr=area_under_pr(roc.tpr, roc.fpr, prior, area),
        auc_pr_pu=area_under_pr(roc.tpr_pu, roc.fpr_pu, share, area),
        area=area,
        repair=roc.repair,
        proportions=roc.proportions,
    )


def precision_of(tpr: FloatArray, fpr: FloatArray, prior: float | FloatArray) -> FloatArray:
    """Precision at each point; where nothing is predicted positive, that of the next point."""
    flagged = prior * tpr + (1 - prior) * fpr
    with np.errstate(divide="ignore", invalid="ignore"):
        # Unrepaired rates can flag a negative share of the population: no precision there.
        precision: FloatArray = np.where(flagged > 0, prior * tpr / flagged, np.nan)
    # Along the segment that leaves (0, 0) precision is constant.
    defined = np.argmax(~np.isnan(precision), axis=-1)[..., None]
    before = np.arange(precision.shape[-1]) < defined
    return np.where(before, np.take_along_axis(precision, defined, axis=-1), precision)


def area_under_pr(tpr: FloatArray, fpr: FloatArray, prior: Any, area: AreaRule) -> Any:
    """Area under the precision-recall curve of an ROC polyline; NaN where it has none.

    Of polylines, one along the last axis for each of the others, with a prior for each.
    """
    prior = np.asarray(prior, dtype=np.float64)[..., None]
    pi = np.maximum(prior, 1e-300)  # below that products vanish that must not
    if area == "davis-goadrich":
        with np.errstate(invalid="ignore"):  # of unrepaired rates
            found = pr_segment_areas(tpr, fpr, pi).sum(axis=-1)
    elif area == "average-precision":
        ours = pi * tpr[..., 1:]
        flagged = ours + (1 - pi) * fpr[..., 1:]
        # Nothing is found where nothing is flagged, and no step is there either.
        precision = ours / np.maximum(flagged, np.finfo(np.float64).tiny)
        found = np.einsum("...i,...i->...", np.diff(tpr), precision)
    else:
        found = trapezoids(precision_of(tpr, fpr, pi), tpr)
    found = np.where(prior[..., 0] == 0, 0.0, found)
    if min(tpr.min(), fpr.min()) < 0:  # only unrepaired rates are
        flagged = pi * tpr + (1 - pi) * fpr
        lost = np.any((flagged < 0) | ((flagged == 0) & (tpr > 0)), axis=-1)
        found = np.where(lost & (prior[..., 0] != 0), np.nan, found)
    return found if found.ndim else float(found)


@public
def recover_auc_pr_direct(counts: ScoreCounts, proportions: MixtureProportions) -> float:
    r"""Area under the precision-recall curve without recovering the curve.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    float
        The area for data like the unlabeled (prior alpha); can leave [0, 1].

    See Also
    --------
    recover_pr : The curve and its area, which is less noisy.

    Notes
    -----
    With :math:`R = tpr_{pu}/fpr_{pu}`, :math:`I_1 = \int R\,d\,tpr_{pu}` and
    :math:`I_2 = \int R\,d\,fpr_{pu}`, the area is

    .. math::

        \frac{\alpha}{\Delta^2}\left[(1-\alpha)^2 I_1 - (1-\alpha)(1-\beta)(I_2 + 1)
        + (1-\beta)^2\right].

    An initial run without unlabeled scores, where :math:`R` is infinite, is replaced by the
    straight line to the first point that has one. Noisy near :math:`fpr_{pu} = 0`: a
    cross-check, not a default.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.recovery import recover_auc_pr_direct
    >>> scores = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
    >>> counts = ScoreCounts.from_scores(scores, [1, 1, 1, 0, 0, 0, 0, 0])
    >>> round(recover_auc_pr_direct(counts, MixtureProportions(alpha=0.2)), 3)
    0.417
    """
    check_proportions(proportions)
    roc = pu_roc_curve(counts)
    keep = np.append(0, np.flatnonzero(roc.fpr_pu > 0))
    tpr_pu, fpr_pu = roc.tpr_pu[keep], roc.fpr_pu[keep]
    mean_ratio = ratio_integrals(tpr_pu, fpr_pu)
    over_tpr = float(np.sum(mean_ratio * np.diff(tpr_pu)))
    over_fpr = float(np.sum(mean_ratio * np.diff(fpr_pu)))
    return auc_pr_functional(over_tpr, over_fpr, proportions)


def auc_pr_functional(over_tpr: float, over_fpr: float, proportions: MixtureProportions) -> float:
    """The area from the two integrals of the observed curve."""
    alpha, beta, delta = proportions.alpha, proportions.beta, proportions.delta
    bracket = (
        (1 - alpha) ** 2 * over_tpr - (1 - alpha) * (1 - beta) * (over_fpr + 1) + (1 - beta) ** 2
    )
    return alpha / delta**2 * bracket


@public
def min_auc_pr(prior: float) -> float:
    r"""Smallest area any classifier can have under its precision-recall curve.

    Parameters
    ----------
    prior : float
        Share of positives, in [0, 1].

    Returns
    -------
    float
        :math:`1 + (1-\pi)\ln(1-\pi)/\pi` (Boyd et al. 2012).

    Examples
    --------
    >>> from purecover.recovery import min_auc_pr
    >>> round(min_auc_pr(0.25), 7)
    0.1369538
    """
    return float(_smallest(check_real("prior", prior, low=0, high=1)))


def _smallest(prior: Any) -> Any:
    pi = np.asarray(prior, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        formula = np.where(pi < 1, 1 + (1 - pi) * np.log1p(-pi) / pi, 1.0)
    return np.where(pi < 1e-5, pi / 2 + pi**2 / 6, formula)  # it cancels to nothing there


def normalize_auc_pr(auc_pr: Any, prior: Any) -> Any:
    """Boyd's normalized area; undefined (NaN) at prior 1, where every area is 1."""
    smallest = _smallest(prior)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(smallest < 1, (auc_pr - smallest) / (1 - smallest), np.nan)
    return found if found.ndim else float(found)


def refine_pr(
    recall: FloatArray, precision: FloatArray, prior: float, step: float = 0.01
) -> tuple[FloatArray, FloatArray]:
    r"""A precision-recall curve with points in between, at most ``step`` of recall apart.

    A straight segment of the ROC curve is a hyperbola here (Davis & Goadrich 2006):
    :math:`fpr = \pi\,tpr\,(1 - precision)/((1 - \pi)\,precision)` at its ends, linear in
    between. Kept straight are segments with an end of precision 0, which has lost its
    false-positive rate, and those of unrepaired rates beyond [0, 1].
    """
    if not 0 < prior < 1:  # precision is the same everywhere
        return recall, precision
    with np.errstate(divide="ignore", invalid="ignore"):
        fpr = prior * recall * (1 - precision) / ((1 - prior) * precision)
        width, rise = np.diff(recall), np.diff(fpr)
    usable = (precision > 0) & (precision <= 1) & (recall >= 0)
    bent = usable[:-1] & usable[1:] & (width > step)
    pieces = np.where(bent, np.ceil(width / step), 1).astype(np.int64)
    at = np.repeat(np.arange(pieces.size), pieces)
    share = (np.arange(at.size) - (np.cumsum(pieces) - pieces)[at]) / pieces[at]
    between = share > 0
    x, y = recall[at], precision[at]
    at, share = at[between], share[between]
    x[between] += share * width[at]
    found = prior * x[between]
    y[between] = found / (found + (1 - prior) * (fpr[at] + share * rise[at]))
    return np.append(x, recall[-1]), np.append(y, precision[-1])
