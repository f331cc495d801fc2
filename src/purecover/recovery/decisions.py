"""Decision curves: the net benefit of acting on probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import ArrayLike, FloatArray, Target
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts
from purecover.proportions import MixtureProportions
from purecover.recovery.means import Masses, check_probabilities, net_benefits
from purecover.recovery.rates import check_data


@dataclass(frozen=True, kw_only=True, eq=False)
class DecisionCurve(
    Saved, Frozen, Tabular, columns="threshold net_benefit standard_error flag_all net_benefit_pu"
):
    """Net benefit of flagging by probabilities, at each threshold probability.

    Attributes
    ----------
    thresholds : ndarray of shape (n,)
        Threshold probabilities, increasing.
    net_benefit : ndarray of shape (n,)
        Of flagging where the probability reaches the threshold; that of flagging none is 0.
    standard_error : ndarray of shape (n,)
        Of the net benefit, with alpha and beta as exact.
    flag_all : ndarray of shape (n,)
        Net benefit of flagging everybody.
    net_benefit_pu : ndarray of shape (n,)
        What one sees with labeled as positive and unlabeled as negative.
    prior : float
        Share of positives in the population.
    """

    thresholds: FloatArray
    net_benefit: FloatArray
    standard_error: FloatArray
    flag_all: FloatArray
    net_benefit_pu: FloatArray
    prior: float

    @property
    def best_without(self) -> FloatArray:
        """Net benefit without probabilities: that of flagging all or none."""
        return np.maximum(self.flag_all, 0.0)

    def __repr__(self) -> str:
        useful = self.net_benefit > self.best_without
        where = "nowhere"
        if useful.any():
            ends = self.thresholds[useful]
            where = f"between {ends.min():g} and {ends.max():g}"
        return f"DecisionCurve(better than flagging all or none {where}, prior={self.prior:.4g})"


@public
def recover_decision_curve(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    thresholds: ArrayLike | None = None,
    *,
    target: Target = "population",
) -> DecisionCurve:
    r"""Recover the net benefit of decisions by probabilities of the true class.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores: probabilities of the true class.
    proportions : MixtureProportions
        Alpha and beta.
    thresholds : array-like of shape (n,), optional
        Threshold probabilities, strictly between 0 and 1; by default 0.01, 0.02, ..., 0.99.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population that decisions are for; see :meth:`MixtureProportions.prior`.

    Returns
    -------
    DecisionCurve
        Net benefit with its standard error, and that of flagging everybody.

    See Also
    --------
    DecisionCurveDisplay : Draws it.
    recover_metrics : ``net_benefit`` at one threshold, and ``cost`` with costs of your own.

    Notes
    -----
    To flag from probability :math:`t` on is to value a true positive at :math:`(1-t)/t`
    false alarms. In units of true positives a head the expected utility is the net benefit [1]_
    :math:`\pi\,tpr(t) - (1-\pi)\,fpr(t)\,\frac{t}{1-t}`, a mean over both classes
    (:func:`recover_mean`).

    References
    ----------
    .. [1] A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for evaluating
       prediction models", Medical Decision Making 26(6), 565-574, 2006.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.recovery import recover_decision_curve
    >>> counts = ScoreCounts.from_counts([0.9, 0.2], labeled=[625, 375], unlabeled=[275, 725])
    >>> curve = recover_decision_curve(counts, MixtureProportions(0.25, 0.75), [0.1, 0.5])
    >>> curve.net_benefit.round(4), curve.flag_all.round(4)
    (array([0.1667, 0.125 ]), array([ 0.1667, -0.5   ]))
    """
    check_data(counts, proportions)
    check_probabilities(counts, proportions)
    at = np.arange(1, 100) / 100
    if thresholds is not None:
        at = np.unique(valid.as_real_vector("thresholds", thresholds))
        if not (at.size and at[0] > 0 and at[-1] < 1):
            raise valid.bad_value(
                "thresholds", "numbers between 0 and 1, ends excluded", valid.show(at)
            )
    prior = proportions.prior(target, counts)
    masses = Masses.of(counts, proportions.alpha, proportions.beta)
    net_benefit, standard_error = net_benefits(masses, prior, at)
    return DecisionCurve(
        thresholds=at,
        net_benefit=net_benefit,
        standard_error=standard_error,
        flag_all=prior - (1 - prior) * at / (1 - at),
        net_benefit_pu=net_benefits(Masses.of(counts, 0.0, 1.0), counts.labeled_share, at)[0],
        prior=prior,
    )
