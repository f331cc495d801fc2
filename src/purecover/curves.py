"""The observed curve: what the scores say when labeled stands for positive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._frames import Tabular
from purecover._typing import CountArray, FloatArray
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts, check_counts

__all__ = ["PURoc", "auc_pu", "auc_pu_variance", "pu_roc_curve"]

_BLOCK = 2**17


@dataclass(frozen=True, kw_only=True, eq=False)
class PURoc(Frozen, Tabular):
    """The ROC curve of labeled against unlabeled.

    Attributes
    ----------
    fpr_pu, tpr_pu : ndarray of shape (n_thresholds + 1,)
        Shares of the unlabeled and of the labeled with a score of at least the threshold.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Decreasing; the first is infinity, where nothing is predicted positive.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import pu_roc_curve
    >>> roc = pu_roc_curve(ScoreCounts.from_scores([3, 2, 1], [1, 0, 0]))
    >>> roc.fpr_pu, roc.tpr_pu
    (array([0. , 0. , 0.5, 1. ]), array([0., 1., 1., 1.]))
    """

    fpr_pu: FloatArray
    tpr_pu: FloatArray
    thresholds: FloatArray

    def __repr__(self) -> str:
        return f"PURoc({self.thresholds.size:,} points)"

    def _columns(self) -> dict[str, Any]:
        return {"threshold": self.thresholds, "fpr_pu": self.fpr_pu, "tpr_pu": self.tpr_pu}


@public
def pu_roc_curve(counts: ScoreCounts) -> PURoc:
    """ROC curve observed when unlabeled stands for negative.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.

    Returns
    -------
    PURoc
        One point per distinct score, after (0, 0).

    See Also
    --------
    recover_roc : The curve against the true classes.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import pu_roc_curve
    >>> pu_roc_curve(ScoreCounts.from_scores([2, 2, 1], [1, 0, 0])).tpr_pu
    array([0., 1., 1.])
    """
    check_counts(counts)
    return PURoc(
        fpr_pu=_cumulative_share(counts.unlabeled),
        tpr_pu=_cumulative_share(counts.labeled),
        thresholds=np.concatenate(([np.inf], counts.thresholds)),
    )


@public
def auc_pu(counts: ScoreCounts) -> float:
    r"""Area under the observed ROC curve, ties counted one half.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.

    Returns
    -------
    float
        :math:`P(s_L > s_U) + P(s_L = s_U)/2` for a random labeled and unlabeled score.

    See Also
    --------
    recover_auc : The area against the true classes.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import auc_pu
    >>> auc_pu(ScoreCounts.from_scores([3, 2, 2, 1], [1, 1, 0, 0]))
    0.875
    """
    check_counts(counts)
    return counts.auc_pu


def _cumulative_share(tally: np.ndarray[Any, Any]) -> FloatArray:
    out = np.empty(tally.size + 1, dtype=np.float64)
    out[0] = 0.0
    if tally.dtype.kind == "f":
        np.cumsum(tally, out=out[1:])
        out /= out[-1]
        return out
    # In blocks that stay in the processor's cache, without a long array of whole numbers.
    total, done = int(tally.sum()), 0
    for start in range(0, tally.size, _BLOCK):
        block = np.cumsum(tally[start : start + _BLOCK])
        block += done
        np.divide(block, total, out=out[start + 1 : start + 1 + block.size])
        done = int(block[-1])
    return out


@public
def auc_pu_variance(counts: ScoreCounts) -> float:
    r"""Variance of :func:`auc_pu` by the method of DeLong.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.

    Returns
    -------
    float
        :math:`S^2(V_{10})/n_L + S^2(V_{01})/n_U`, where :math:`V_{10}` holds for each
        labeled score the share of unlabeled ones below it and :math:`V_{01}` for each
        unlabeled score the share of labeled ones above it, ties counted one half. NaN if
        either sample has fewer than two examples.

    Notes
    -----
    With weights, :math:`S^2/n` becomes
    :math:`\sum w_i^2 (V_i - A)^2 / (\sum w_i)^2 \cdot m/(m-1)` with Kish's effective size
    :math:`m = (\sum w_i)^2/\sum w_i^2`.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import auc_pu_variance
    >>> scores = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
    >>> counts = ScoreCounts.from_scores(scores, [1, 1, 1, 0, 0, 0, 0, 0])
    >>> round(auc_pu_variance(counts), 7)
    0.0311111
    """
    check_counts(counts)
    return variance_along(pu_roc_curve(counts), counts)


def variance_along(roc: PURoc, counts: ScoreCounts) -> float:
    """The same where the observed curve is at hand."""
    squares = (counts.labeled_sq, counts.unlabeled_sq)
    return float(
        auc_pu_variances((counts.labeled, counts.unlabeled), (roc.tpr_pu, roc.fpr_pu), squares)
    )


def auc_pu_variances(
    sides: tuple[CountArray, CountArray],
    rates: tuple[FloatArray, FloatArray],
    squares: tuple[FloatArray | None, FloatArray | None],
) -> FloatArray:
    """The same of many samples, one along the last axis for each of the others.

    All pairs are of labeled and unlabeled: counts, observed rates, and squares of weights.
    """
    tpr_pu, fpr_pu = rates
    # Shares strictly beyond a score plus half of those equal to it.
    below = 1 - (fpr_pu[..., 1:] + fpr_pu[..., :-1]) / 2
    above = (tpr_pu[..., 1:] + tpr_pu[..., :-1]) / 2
    labeled, unlabeled = (
        _mean_variance(beyond, side, side if square is None else square)
        for beyond, side, square in zip((below, above), sides, squares, strict=True)
    )
    return labeled + unlabeled


def _mean_variance(
    values: FloatArray, weight: np.ndarray[Any, Any], weight_sq: np.ndarray[Any, Any]
) -> FloatArray:
    """Estimated variance of a weighted mean of ``values``; NaN of a single one."""
    total, total_sq = weight.sum(axis=-1), weight_sq.sum(axis=-1)
    effective = total * (total / total_sq)
    # Not dot products: those start threads, which cost more than they save here.
    along = "...i,...i->..."
    apart = values - (np.einsum(along, weight, values) / total)[..., None]
    spread = np.einsum(along, weight_sq * apart, apart) / total / total
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(effective > 1, spread * effective / (effective - 1), np.nan)
