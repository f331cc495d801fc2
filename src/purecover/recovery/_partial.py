"""Partial AUC straight from the observed curve."""

from __future__ import annotations

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import check_instance, check_real
from purecover.counts import ScoreCounts
from purecover.curves import pu_roc_curve
from purecover.proportions import MixtureProportions
from purecover.recovery._areas import trapezoid
from purecover.recovery._rates import PROPORTIONS_HINT, map_curve

__all__ = ["recover_partial_auc_direct"]


def recover_partial_auc_direct(
    counts: ScoreCounts, proportions: MixtureProportions, max_fpr: float
) -> float:
    r"""Area under the true ROC curve up to a false-positive rate, without any repair.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    max_fpr : float
        The largest false-positive rate, in (0, 1].

    Returns
    -------
    float
        The partial area, not standardized.

    See Also
    --------
    RecoveredRoc.partial_auc : The area under the repaired curve.

    Notes
    -----
    Follow the observed curve until :math:`\beta\,fpr_{pu} - \alpha\,tpr_{pu}` first reaches
    :math:`\Delta e_0`. With the point :math:`(h, g)` there, the area
    :math:`P = \int tpr_{pu}\,d\,fpr_{pu}` up to it and :math:`Q = hg - P`,

    .. math::

        pAUC(e_0) = \frac{(1-\alpha)\beta P + (1-\beta)\alpha Q - (1-\alpha)\alpha g^2/2
        - (1-\beta)\beta h^2/2}{\Delta^2}.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_partial_auc_direct
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> area = recover_partial_auc_direct(counts, MixtureProportions(0.25, 0.75), max_fpr=0.1)
    >>> round(area, 12)
    0.04
    """
    name = "recover_partial_auc_direct"
    check_instance(name, "proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    limit = check_real(name, "max_fpr", max_fpr, low=0, high=1, closed="right")
    roc = pu_roc_curve(counts)
    return partial_auc_of_observed(roc.tpr_pu, roc.fpr_pu, proportions, limit)


def partial_auc_of_observed(
    tpr_pu: FloatArray, fpr_pu: FloatArray, proportions: MixtureProportions, max_fpr: float
) -> float:
    """The formula of :func:`recover_partial_auc_direct` on an observed polyline."""
    alpha, beta = proportions.alpha, proportions.beta
    _, fpr = map_curve(tpr_pu, fpr_pu, proportions)
    stop = int(np.argmax(fpr >= max_fpr - 1e-15))
    share = min((max_fpr - fpr[stop - 1]) / (fpr[stop] - fpr[stop - 1]), 1.0)
    g = float(tpr_pu[stop - 1] + share * (tpr_pu[stop] - tpr_pu[stop - 1]))
    h = float(fpr_pu[stop - 1] + share * (fpr_pu[stop] - fpr_pu[stop - 1]))
    p = trapezoid(np.append(tpr_pu[:stop], g), np.append(fpr_pu[:stop], h))
    q = h * g - p
    total = (1 - alpha) * beta * p + (1 - beta) * alpha * q
    total -= (1 - alpha) * alpha * g**2 / 2 + (1 - beta) * beta * h**2 / 2
    return total / proportions.delta**2
