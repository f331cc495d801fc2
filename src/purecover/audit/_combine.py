r"""Audit and scores in one posterior of alpha and beta.

What the scores tell becomes the prior of the audit: a cloud of nodes (alpha, beta, weight), made
continuous in alpha by a kernel and multiplied by the likelihood of what the judges found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._frozen import FrozenDict
from purecover._typing import FloatArray, RandomState
from purecover._validation import bad_value, check_integer, check_random_state
from purecover.audit._evidence import Evidence
from purecover.audit._nodes import nodes_of
from purecover.audit._posterior import (
    AuditEstimate,
    alpha_from_audit,
    check_audited,
    credible,
    in_words,
)
from purecover.audit._strata import StratifiedAudit
from purecover.exceptions import IdentifiabilityError
from purecover.intervals._interval import Interval, check_level
from purecover.proportions import MixtureProportions

__all__ = ["CombinedAudit", "combine_audit"]

CONFLICT = 0.05
"""An audit that the scores make less likely than this contradicts them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CombinedAudit:
    """Alpha and beta from scores and an audit together.

    Attributes
    ----------
    proportions : MixtureProportions
        Posterior means.
    intervals : mapping of str to Interval
        Of ``"alpha"``, ``"beta"`` and ``"delta"``; of ``"alpha"`` alone where the scores had
        told no more than an interval of it.
    from_scores : Interval
        Alpha as the scores alone tell it.
    audit : AuditEstimate or StratifiedAudit
        Alpha as the audit alone tells it.
    tail_probability : float
        How likely the scores made an audit at least as far off, on both sides.
    conflict : bool
        Whether that is below .05: scores and audit contradict each other.
    """

    proportions: MixtureProportions
    intervals: Mapping[str, Interval]
    from_scores: Interval
    audit: AuditEstimate | StratifiedAudit
    tail_probability: float

    @property
    def conflict(self) -> bool:
        """Whether scores and audit contradict each other."""
        return self.tail_probability < CONFLICT

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "proportions": self.proportions.to_dict(),
            "intervals": {name: interval.to_dict() for name, interval in self.intervals.items()},
            "from_scores": self.from_scores.to_dict(),
            "audit": self.audit.to_dict(),
            "tail_probability": self.tail_probability,
            "conflict": self.conflict,
        }

    def __str__(self) -> str:
        lines = [
            f"alpha from the audit  {in_words(self.audit.alpha)}",
            f"      from the scores {in_words(self.from_scores)}",
            f"      from both       {in_words(self.intervals['alpha'])}",
        ]
        if "beta" in self.intervals:
            lines.append(f"beta  from both       {in_words(self.intervals['beta'])}")
        if self.conflict:
            lines.append(
                f"scores and audit contradict each other (p = {self.tail_probability:.2g}): trust "
                "the audit alone, if it was a random sample and the judges were right"
            )
        return "\n".join(lines)


def combine_audit(
    estimate: Any,
    n_positive: Any,
    n_audited: int | None = None,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 300,
    random_state: RandomState = 0,
) -> CombinedAudit:
    r"""Alpha and beta from scores and an audit, in one posterior.

    Parameters
    ----------
    estimate : PriorEstimator, PriorEstimate or Interval
        What the scores tell: a fitted estimator such as ``LabelCurve().fit(scores, labeled)``,
        the ``estimation`` of a report, or an interval of alpha.
    n_positive : int, AuditEstimate or StratifiedAudit
        How many of the judged examples turned out positive; or the result of an audit, with the
        prior and the number of unlabeled examples that it was given.
    n_audited : int
        How many were judged; left out if a result is given.
    confidence_level : float, default=0.95
        Probability of the intervals.
    n_resamples : int, default=300
        Bootstrap replicates, for estimators that have no posterior of their own.
    random_state : int, numpy.random.Generator or None, default=0
        Where they take their randomness from.

    Returns
    -------
    CombinedAudit
        Proportions, intervals, and whether scores and audit contradict each other.

    See Also
    --------
    alpha_from_audit : The audit alone.

    Notes
    -----
    With the posterior :math:`p(\alpha, \beta)` that the scores give, the combination is
    proportional to :math:`p(\alpha, \beta)\, \alpha^k (1-\alpha)^{n-k}`. :class:`LabelCurve` has
    that posterior; for other estimators bootstrap draws stand for it, and for an interval a
    normal distribution of the logit of alpha, with beta left as it was. Draws and intervals that
    reach 0 or 1 are spread on the scale of :math:`\arcsin\sqrt{\alpha}`, which has room for
    alpha = 0.

    An audit of N unlabeled examples speaks of these alone: the likelihood is then hypergeometric,
    of k positives among n of N examples :math:`\alpha N` of which are positive, and nothing is
    open once all are judged. A stratified audit counts as a plain one of the N examples that
    makes alpha equally certain. The scores take the place of the audit's prior. What that knows
    beyond a uniform one still counts, like a - 1 positive and b - 1 negative examples more.

    The tail probability is that of k under the predictive distribution
    :math:`\int Bin(k; n, \alpha)\, p(\alpha)\, d\alpha`, hypergeometric for N examples. If it is
    small, one of the two rests on a broken assumption. The audit assumes a random sample and
    judges without error; the scores assume much more, so that the audit is to be trusted first.

    Scores and audit are taken as independent given alpha. As the audited examples are among the
    unlabeled ones, a little more could be learned from their own scores.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=2.0)
    >>> sample = world.sample(500, 5000, alpha=0.3, random_state=0)
    >>> estimator = pu.LabelCurve().fit(sample.scores, sample.labeled)
    >>> both = pu.combine_audit(estimator, 31, 100)
    >>> both.conflict
    False
    >>> width = both.intervals["alpha"].width
    >>> width < both.from_scores.width, width < both.audit.alpha.width
    (True, True)
    """
    name = "combine_audit"
    level = check_level(name, confidence_level)
    n_resamples = check_integer(name, "n_resamples", n_resamples, low=10, high=10**6)
    rng = check_random_state(name, random_state)
    audit, evidence = _audited(name, n_positive, n_audited, level)
    nodes = nodes_of(name, estimate, n_resamples, rng)
    alpha = evidence.possible(nodes.grid(evidence.quantiles()))
    density = nodes.density(alpha)  # (n_nodes, n_grid)
    likely = evidence.log_likelihood(alpha)
    both = density * np.exp(likely - likely.max())
    if not both.sum() > 0:
        # The scores leave nothing where the audit puts alpha, to the last digit: then it is known
        # from the audit alone, if any beta allows it.
        share = np.gradient(alpha) * (alpha < nodes.beta[:, None])
        both = nodes.weight[:, None] * share * np.exp(likely - likely.max())
    if not both.sum() > 0:
        raise IdentifiabilityError(
            f"{name} finds no alpha that both the scores and the audit allow: the audit says "
            f"{audit.alpha.estimate:.3g}, and beta is at most {nodes.beta.max():.3g}.\n"
            "Hint: the labels hold more wrong ones than the scores show, or the judges err"
        )
    both /= both.sum()
    density /= density.sum()
    mean_alpha = float(both.sum(axis=0) @ alpha)
    mean_beta = 1 - float(both.sum(axis=1) @ (1 - nodes.beta))
    origin = f"{nodes.origin} and audit"
    whole = evidence.n_unlabeled is not None
    intervals = {"alpha": _interval(alpha, both.sum(axis=0), level, whole=whole)}
    if nodes.joint:
        intervals["beta"] = _interval(nodes.beta, both.sum(axis=1), level)
        gap = nodes.beta[:, None] - alpha
        intervals["delta"] = _interval(gap.ravel(), both.ravel(), level)
    return CombinedAudit(
        proportions=MixtureProportions(mean_alpha, mean_beta, origin=origin),
        intervals=FrozenDict(intervals),
        from_scores=_interval(alpha, density.sum(axis=0), level),
        audit=audit,
        tail_probability=evidence.tail(alpha, density.sum(axis=0)),
    )


# -- what the audit tells ---------------------------------------------------------------------


def _audited(
    function: str, n_positive: Any, n_audited: int | None, level: float
) -> tuple[AuditEstimate | StratifiedAudit, Evidence]:
    """The audit alone, and how likely it makes each alpha."""
    if not isinstance(n_positive, (AuditEstimate, StratifiedAudit)):
        k, n = check_audited(function, n_positive, n_audited)
        return alpha_from_audit(k, n, confidence_level=level), Evidence(k, n)
    if n_audited is not None:
        hint = "the result of the audit knows it"
        raise bad_value(function, "n_audited", "left out", str(n_audited), hint)
    audit = n_positive
    if isinstance(audit, AuditEstimate):
        k, n = audit.n_positive, audit.n_audited
        a, b = audit.posterior[0] - k, audit.posterior[1] - (n - k)
        return audit, Evidence(k, n, audit.n_unlabeled, (max(a, 1.0), max(b, 1.0)))
    size = int(audit.n_unlabeled.sum())
    if (audit.n_audited == audit.n_unlabeled).all():
        return audit, Evidence(int(audit.n_positive.sum()), size, size)
    # Without the one example that the prior counts for, as far as it tells of examples not judged.
    prior = 1 - audit.n_effective / size
    judged = max(audit.n_effective - prior, 0.0)
    positive = audit.n_effective * audit.alpha.estimate - prior / 2
    return audit, Evidence(min(max(positive, 0.0), judged), judged, size)


# -- numbers ----------------------------------------------------------------------------------


def _interval(
    values: FloatArray, weight: FloatArray, level: float, *, whole: bool = False
) -> Interval:
    """Mean and quantiles of weighted values; `whole` if there is nothing between two of them."""
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if whole:
        at = np.searchsorted(reached, tails * reached[-1])
        low, high = values[order][np.minimum(at, values.size - 1)]
    else:
        reached = (reached - 0.5 * weight[order]) / reached[-1]
        low, high = np.interp(tails, reached, values[order])
    mean = float(1 - weight @ (1 - values) / weight.sum())
    return credible(mean, (float(low), float(high)), level, "posterior quantiles")
