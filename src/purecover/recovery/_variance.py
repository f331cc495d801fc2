"""Sampling error of recovered rates at one threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover._typing import FloatArray
from purecover.counts import ScoreCounts
from purecover.curves import PURoc
from purecover.proportions import MixtureProportions

__all__ = ["RateCovariance", "rate_covariance"]


@dataclass(frozen=True)
class RateCovariance:
    """Variances and covariance of recovered (tpr, fpr), elementwise."""

    tpr: FloatArray
    fpr: FloatArray
    covariance: FloatArray


def rate_covariance(
    roc: PURoc, counts: ScoreCounts, proportions: MixtureProportions
) -> RateCovariance:
    r"""Covariance of the recovered rates at every threshold.

    Notes
    -----
    With :math:`v_L = tpr_{pu}(1-tpr_{pu})/n_L` and :math:`v_U = fpr_{pu}(1-fpr_{pu})/n_U`,

    .. math::

        Var(tpr) = \frac{(1-\alpha)^2 v_L + (1-\beta)^2 v_U}{\Delta^2}, \quad
        Var(fpr) = \frac{\beta^2 v_U + \alpha^2 v_L}{\Delta^2}, \quad
        Cov = -\frac{\alpha(1-\alpha) v_L + \beta(1-\beta) v_U}{\Delta^2}.

    Weighted counts enter with Kish's effective sizes.
    """
    v_labeled = roc.tpr_pu * (1 - roc.tpr_pu) / effective_size(counts.n_labeled, counts.labeled_sq)
    v_unlabeled = (
        roc.fpr_pu * (1 - roc.fpr_pu) / effective_size(counts.n_unlabeled, counts.unlabeled_sq)
    )
    alpha, beta = proportions.alpha, proportions.beta
    square = proportions.delta**2
    return RateCovariance(
        tpr=((1 - alpha) ** 2 * v_labeled + (1 - beta) ** 2 * v_unlabeled) / square,
        fpr=(beta**2 * v_unlabeled + alpha**2 * v_labeled) / square,
        covariance=-(alpha * (1 - alpha) * v_labeled + beta * (1 - beta) * v_unlabeled) / square,
    )


def effective_size(total: float, squares: FloatArray | None) -> float:
    """Kish's effective sample size; the size itself without weights."""
    return total if squares is None else total**2 / float(np.sum(squares))
