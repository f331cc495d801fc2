r"""Hidden positives that score lower than labeled ones: what the metrics are for all positives.

Everything else in this package assumes that the labeled positives are a random sample of all
positives (SCAR), or is said of positives like the labeled ones. People who label rarely draw at
random: they label the clear cases first. One number says how far that goes:

.. math::

    \theta = P(\text{a labeled positive outranks a hidden one}),

1/2 under SCAR and larger where the hidden positives are harder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover import _validation as valid
from purecover._typing import ArrayLike, FloatArray
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import bisected, check_data

LARGEST_THETA = 0.995
"""A theta beyond leaves no overlap of labeled and hidden positives, and no formula."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HiddenPositives(Frozen):
    """Metrics of labeled-like, hidden and all positives, for some values of theta.

    Attributes
    ----------
    theta : ndarray of shape (n,)
        Probability that a labeled positive outranks a hidden one.
    proportions : MixtureProportions
        Alpha, here the share of hidden positives among the unlabeled, and beta.
    threshold : float
        Where recall and precision are taken.
    auc_labeled, auc_hidden, auc : ndarray of shape (n,)
        AUC of positives like the labeled ones, of hidden positives, and of all positives, each
        against the negatives.
    recall_labeled, recall_hidden, recall : ndarray of shape (n,)
        Recall at the threshold, of the same three.
    precision : ndarray of shape (n,)
        Share of positives among the flagged unlabeled rows.
    n_missed : ndarray of shape (n,)
        Expected number of hidden positives below the threshold.
    """

    theta: FloatArray
    proportions: MixtureProportions
    threshold: float
    auc_labeled: FloatArray
    auc_hidden: FloatArray
    auc: FloatArray
    recall_labeled: FloatArray
    recall_hidden: FloatArray
    recall: FloatArray
    precision: FloatArray
    n_missed: FloatArray

    def __str__(self) -> str:
        lines = zip(self.theta, self.auc, self.recall, self.precision, self.n_missed, strict=True)
        words = "theta {:.2f}: AUC {:.3f}, recall {:.3f}, precision {:.3f}, {:,.0f} missed"
        return "\n".join(words.format(*line) for line in lines)


@public
def recover_hidden(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    theta: ArrayLike,
    *,
    threshold: float | None = None,
) -> HiddenPositives:
    r"""Recover metrics where labeled positives outrank hidden ones.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha, the share of positives of any kind among the unlabeled, and beta.
    theta : float or array-like
        Probability that a labeled positive outranks a hidden one, from 0.005 to 0.995; 0.5 if the
        labeled are a random sample of the positives.
    threshold : float, optional
        Where recall and precision are taken; by default every row is flagged.

    Returns
    -------
    HiddenPositives
        The metrics for each theta.

    See Also
    --------
    tipping_theta : The theta at which a metric falls to a value.
    recover_auc : The same at theta = 1/2.

    Notes
    -----
    Let L, H and N be labeled positives, hidden positives and negatives. The observed AUC
    :math:`A'` compares labeled with unlabeled rows, so that

    .. math::

        A' = \beta\alpha\theta + \beta(1-\alpha) A_{LN} + (1-\beta)\alpha(1 - A_{HN})
             + (1-\beta)(1-\alpha)/2,

    which needs no assumption on the shape of distributions. With clean labels it is
    :math:`A_{LN} = (A' - \alpha\theta)/(1-\alpha)`. The rest assumes normal scores of equal spread
    after some increasing transformation:

    .. math::

        A_{HN} = \Phi(\Phi^{-1}(A_{LN}) - \Phi^{-1}(\theta)), \qquad
        \gamma_H = \Phi(\Phi^{-1}(\gamma_L) - \sqrt{2}\,\Phi^{-1}(\theta))

    for the recalls :math:`\gamma` of labeled-like and hidden positives, where a share
    :math:`F_L = \beta\gamma_L + (1-\beta)F_0` of the labeled and
    :math:`F_U = \alpha\gamma_H + (1-\alpha)F_0` of the unlabeled is flagged. Precision is
    :math:`\alpha\gamma_H/F_U`; metrics of all positives weigh both kinds by their numbers.

    Examples
    --------
    >>> import purecover as pu
    >>> counts = pu.ScoreCounts.from_counts(
    ...     [3, 2, 1], labeled=[70, 20, 10], unlabeled=[200, 300, 500]
    ... )
    >>> found = pu.recovery.recover_hidden(counts, pu.MixtureProportions(0.2), [0.5, 0.7])
    >>> found.auc_labeled.round(3).tolist(), found.auc.round(3).tolist()
    ([0.856, 0.806], [0.856, 0.691])
    """
    from scipy.special import ndtri

    # What contradicts labels at random is possible where labeled positives are the easier ones.
    check_data(counts, proportions, warns=False)
    shares = valid.as_real_vector("theta", np.atleast_1d(theta))
    if shares.min() < 1 - LARGEST_THETA or shares.max() > LARGEST_THETA:
        must = f"from {1 - LARGEST_THETA:.3f} to {LARGEST_THETA}"
        hint = "0.5 means that labeled and hidden positives score alike"
        raise valid.bad_value("theta", must, valid.show(theta), hint)
    theta, ease = shares, ndtri(shares)
    least, most = np.zeros((2, theta.size))
    most += 1
    lowest = float(counts.thresholds[-1])
    threshold = lowest if threshold is None else valid.check_real("threshold", threshold)
    alpha, beta = proportions.alpha, proportions.beta
    auc_labeled = bisected(
        lambda x: (
            beta * (alpha * theta + (1 - alpha) * x)
            + (1 - beta) * (alpha * (1 - harder_auc(x, ease)) + (1 - alpha) / 2)
        ),
        least,
        most,
        counts.auc_pu,
    )
    flagged = counts.thresholds >= threshold
    f_l, f_u = (
        float(column[flagged].sum() / column.sum()) for column in (counts.labeled, counts.unlabeled)
    )

    def labeled_flagged(recall: FloatArray) -> FloatArray:
        negatives = (f_u - alpha * lower_recall(recall, ease)) / (1 - alpha)
        return beta * recall + (1 - beta) * negatives.clip(0, 1)

    recall_labeled = bisected(labeled_flagged, least, most, f_l)
    auc_hidden, recall_hidden = harder_auc(auc_labeled, ease), lower_recall(recall_labeled, ease)
    n_hidden = alpha * counts.n_unlabeled
    share = beta * counts.n_labeled / max(beta * counts.n_labeled + n_hidden, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # No product that underflows, and 0 where no unlabeled row is positive.
        precision = np.minimum(recall_hidden / np.divide(f_u, alpha), 1)
    return HiddenPositives(
        theta=theta,
        proportions=proportions,
        threshold=threshold,
        auc_labeled=auc_labeled,
        auc_hidden=auc_hidden,
        auc=share * auc_labeled + (1 - share) * auc_hidden,
        recall_labeled=recall_labeled,
        recall_hidden=recall_hidden,
        recall=share * recall_labeled + (1 - share) * recall_hidden,
        precision=precision,
        n_missed=n_hidden * (1 - recall_hidden),
    )


@public
def tipping_theta(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    metric: str,
    at_least: float,
    *,
    threshold: float | None = None,
) -> float:
    """Find the theta at which a metric of all positives falls to a value.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    metric : {"auc", "recall", "precision"}
        The metric, of all positives; precision among the unlabeled.
    at_least : float
        The value it should have at least.
    threshold : float, optional
        Where recall and precision are taken.

    Returns
    -------
    float
        The largest theta with that value: 0.5 means that the metric reaches it only if the labeled
        are no easier than the hidden. NaN if the metric is below the value from 0.5 on.

    Examples
    --------
    >>> import purecover as pu
    >>> counts = pu.ScoreCounts.from_counts(
    ...     [3, 2, 1], labeled=[70, 20, 10], unlabeled=[200, 300, 500]
    ... )
    >>> round(pu.recovery.tipping_theta(counts, pu.MixtureProportions(0.2), "auc", 0.7), 2)
    0.69
    """
    valid.check_choice("metric", metric, ("auc", "recall", "precision"))
    at_least = valid.check_real("at_least", at_least, low=0, high=1)

    def values(theta: FloatArray) -> FloatArray:
        found = recover_hidden(counts, proportions, theta, threshold=threshold)
        return np.asarray(getattr(found, metric))

    low, high = 0.5, LARGEST_THETA
    at_ends = values(np.array([low, high]))
    if at_ends[0] < at_least:
        return float("nan")
    if at_ends[1] >= at_least:
        return high
    while high - low > 1e-6:
        steps = np.linspace(low, high, 17)
        last = int(np.flatnonzero(values(steps) >= at_least)[-1])
        low, high = float(steps[last]), float(steps[last + 1])
    return low


def harder_auc(auc: FloatArray | float, ease: FloatArray) -> FloatArray:
    r"""Return the AUC of hidden positives, given that of labeled ones and the ease.

    The ease is the normal quantile of theta, :math:`\Phi^{-1}(\theta)`.
    """
    from scipy.special import ndtr, ndtri

    return np.asarray(ndtr(ndtri(auc) - ease))


def lower_recall(recall: FloatArray | float, ease: FloatArray) -> FloatArray:
    """Return the recall of hidden positives, given that of labeled ones and the ease."""
    return harder_auc(recall, np.sqrt(2) * ease)
