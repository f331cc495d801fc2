"""Direct recovery of the AUC and of the partial AUC, and the interval that identifies the AUC."""

from __future__ import annotations

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import check_flag, check_instance, check_real, public, warn
from purecover.counts import ScoreCounts
from purecover.curves import pu_roc_curve
from purecover.exceptions import RecoveryWarning
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import PROPORTIONS_HINT, check_data, map_curve, trapezoid


@public
def recover_auc(
    counts: ScoreCounts, proportions: MixtureProportions, *, clip: bool = True
) -> float:
    r"""Area under the true ROC curve, by the direct formula.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    clip : bool, default=True
        Whether a value outside [0, 1] is clipped, with a warning. Such a value says that
        alpha and beta do not fit the scores (check PU008).

    Returns
    -------
    float
        The recovered AUC.

    Warns
    -----
    RecoveryWarning
        If the value was clipped.

    See Also
    --------
    recover_roc : The curve; ``roc.auc`` is the area under its repaired version.

    Notes
    -----
    Equation 4 of the paper, :math:`A = 1/2 + (A_{pu} - 1/2) / (\beta - \alpha)`. It equals
    the signed area under the unrepaired recovered curve exactly, for any sample.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_auc
    >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
    >>> counts = ScoreCounts.from_scores(scores, labeled=[1, 1, 0, 1, 0, 1, 0, 0, 0, 0])
    >>> round(recover_auc(counts, MixtureProportions(alpha=0.25)), 4)
    0.9444
    """
    check_data(counts, proportions)
    check_flag("clip", clip)
    value = auc_from_pu(counts.auc_pu, proportions)
    if clip and not 0 <= value <= 1:
        clipped = min(max(value, 0.0), 1.0)
        warn(
            f"the recovered AUC {value:.4f} is outside [0, 1] and was clipped to {clipped:g}: "
            f"alpha={proportions.alpha:g} and beta={proportions.beta:g} do not fit these scores. "
            "See check PU008.",
            RecoveryWarning,
        )
        return clipped
    return value


@public
def auc_from_pu(auc: float, proportions: MixtureProportions) -> float:
    r"""True AUC from the observed one, unclipped.

    Parameters
    ----------
    auc : float
        AUC of labeled against unlabeled.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    float
        :math:`1/2 + (A_{pu} - 1/2) / (\beta - \alpha)`; outside [0, 1] if infeasible.

    See Also
    --------
    auc_to_pu : The inverse.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import auc_from_pu
    >>> round(auc_from_pu(0.7, MixtureProportions(0.25, 0.75)), 12)
    0.9
    """
    auc = check_real("auc", auc, low=0, high=1)
    check_instance("proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    return 0.5 + (auc - 0.5) / proportions.delta


@public
def auc_to_pu(auc: float, proportions: MixtureProportions) -> float:
    r"""AUC one would observe on labeled against unlabeled.

    Parameters
    ----------
    auc : float
        True AUC.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    float
        :math:`(1-\Delta)/2 + \Delta A`.

    See Also
    --------
    auc_from_pu : The inverse.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import auc_to_pu
    >>> round(auc_to_pu(0.9, MixtureProportions(0.25, 0.75)), 12)
    0.7
    """
    auc = check_real("auc", auc, low=0, high=1)
    check_instance("proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    return 0.5 + (auc - 0.5) * proportions.delta


@public
def auc_identification_interval(
    auc: float, unlabeled_inclusion: float, labeled_inclusion: float = 0.0
) -> tuple[float, float]:
    r"""Every AUC compatible with the data if positives may hide among the negatives.

    Parameters
    ----------
    auc : float
        AUC of labeled against unlabeled.
    unlabeled_inclusion : float
        :math:`a`, the largest share of the labeled density inside the unlabeled one.
    labeled_inclusion : float, default=0.0
        :math:`b`, the largest share of the unlabeled density inside the labeled one.

    Returns
    -------
    low, high : float
        The interval, clipped to [0, 1].

    Notes
    -----
    Without the assumption that neither class contains a share of the other, only
    :math:`a` and :math:`b` can be learned from data, and :math:`\beta - \alpha` may be
    anything in :math:`[\Delta^*, 1]` with :math:`\Delta^* = (1-a)(1-b)/(1-ab)`. Estimators
    that assume irreducibility return the far end.

    Examples
    --------
    >>> from purecover.recovery import auc_identification_interval
    >>> low, high = auc_identification_interval(0.7, 0.2, 0.1)
    >>> round(low, 6), round(high, 6)
    (0.7, 0.772222)
    """
    auc = check_real("auc", auc, low=0, high=1)
    limits = {"low": 0, "high": 1, "closed": "left"}
    a = check_real("unlabeled_inclusion", unlabeled_inclusion, **limits)  # type: ignore[arg-type]
    b = check_real("labeled_inclusion", labeled_inclusion, **limits)  # type: ignore[arg-type]
    far = auc_from_pu(auc, MixtureProportions.from_inclusions(a, b))
    low, high = sorted((auc, min(max(far, 0.0), 1.0)))
    return low, high


# -- Partial AUC straight from the observed curve ------------------------------------------------


@public
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
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.recovery import recover_partial_auc_direct
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> area = recover_partial_auc_direct(counts, MixtureProportions(0.25, 0.75), max_fpr=0.1)
    >>> round(area, 12)
    0.04
    """
    check_instance("proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    limit = check_real("max_fpr", max_fpr, low=0, high=1, closed="right")
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
