r"""Audit and scores in one posterior of alpha and beta.

What the scores tell becomes the prior of the audit: a cloud of nodes (alpha, beta, weight), made
continuous in alpha by a kernel on the logit scale and multiplied by the binomial likelihood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._frozen import FrozenDict
from purecover._typing import FloatArray, RandomState
from purecover._validation import bad_type, bad_value, check_integer, check_random_state
from purecover.audit._posterior import (
    AuditEstimate,
    alpha_from_audit,
    check_audited,
    credible,
    in_words,
)
from purecover.audit._strata import StratifiedAudit
from purecover.estimation._estimate import PriorEstimate
from purecover.exceptions import IdentifiabilityError
from purecover.intervals._interval import Interval, check_level
from purecover.proportions import MixtureProportions

__all__ = ["CombinedAudit", "combine_audit"]

CONFLICT = 0.05
"""An audit that the scores make less likely than this contradicts them."""

_SMOOTHING = 0.5
"""Kernels have this share of the standard deviation of the nodes; nodes draw together for it."""

_GRID = 600
_LIGHT = 1e-9
_EDGE = 1e-6


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
        How many of the judged examples turned out positive; or the result of an audit.
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
    normal distribution of the logit of alpha, with beta left as it was. A stratified audit
    counts as a plain one that makes alpha equally certain.

    The tail probability is that of k under the predictive distribution
    :math:`\int Bin(k; n, \alpha)\, p(\alpha)\, d\alpha`. If it is small, one of the two rests on
    a broken assumption. The audit assumes a random sample and judges without error; the scores
    assume much more, so that the audit is to be trusted first.

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
    audit, k, n = _audited(name, n_positive, n_audited, level)
    nodes = _nodes_of(name, estimate, n_resamples, rng)
    logit = nodes.grid(k, n)
    alpha = _expit(logit)
    density = nodes.density(logit)  # (n_nodes, n_grid)
    likely = k * np.log(alpha) + (n - k) * np.log1p(-alpha)
    both = density * np.exp(likely - likely.max())
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
    intervals = {"alpha": _interval(alpha, both.sum(axis=0), level)}
    if nodes.joint:
        intervals["beta"] = _interval(nodes.beta, both.sum(axis=1), level)
        gap = nodes.beta[:, None] - alpha
        intervals["delta"] = _interval(gap.ravel(), both.ravel(), level)
    return CombinedAudit(
        proportions=MixtureProportions(mean_alpha, mean_beta, origin=origin),
        intervals=FrozenDict(intervals),
        from_scores=_interval(alpha, density.sum(axis=0), level),
        audit=audit,
        tail_probability=_tail(k, n, alpha, density.sum(axis=0)),
    )


# -- what the scores tell ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Where the scores put alpha (on the logit scale) and beta, and how a node is blurred."""

    center: FloatArray
    beta: FloatArray
    weight: FloatArray
    blur: float
    origin: str
    joint: bool  # whether beta is part of it, or merely given

    @classmethod
    def smoothed(
        cls, alpha: FloatArray, beta: FloatArray, weight: FloatArray, origin: str
    ) -> _Nodes:
        """Nodes drawn together by as much as the kernel spreads them: the variance remains."""
        kept = weight > _LIGHT * weight.max()
        logit, weight = _logit(alpha[kept]), weight[kept] / weight[kept].sum()
        mean = float(weight @ logit)
        spread = max(float(weight @ (logit - mean) ** 2) ** 0.5, 1e-3)
        center = mean + (1 - _SMOOTHING**2) ** 0.5 * (logit - mean)
        return cls(center, beta[kept], weight, _SMOOTHING * spread, origin, joint=True)

    def grid(self, k: float, n: float) -> FloatArray:
        """Logits of alpha that are close together wherever scores or audit place it."""
        from scipy.special import betaincinv, ndtr

        steps = np.linspace(-6, 6, _GRID)
        likely = _logit(betaincinv(k + 0.5, n - k + 0.5, ndtr(steps)))
        low, high = self.center.min() - 6 * self.blur, self.center.max() + 6 * self.blur
        known = np.linspace(low, high, _GRID)
        return np.unique(np.concatenate((likely, known)).clip(_logit(_EDGE), -_logit(_EDGE)))

    def density(self, logit: FloatArray) -> FloatArray:
        """Probability of each node at each point of a grid."""
        apart = (logit - self.center[:, None]) / self.blur
        # Alpha is below beta; where it is not, labeled and unlabeled would be exchanged.
        allowed = _expit(logit) < self.beta[:, None]
        share = np.gradient(logit)
        return np.asarray(self.weight[:, None] * np.exp(-0.5 * apart**2) * share * allowed)


def _nodes_of(function: str, estimate: Any, n_resamples: int, rng: np.random.Generator) -> _Nodes:
    """Nodes, from whatever the caller knows."""
    from purecover.estimation._base import PriorEstimator
    from purecover.estimation._label_curve import LabelCurve

    if isinstance(estimate, LabelCurve):
        estimate._check_fitted("interval")
        found = estimate._solve(estimate._counts)[0]
        return _Nodes.smoothed(found.alpha[0], found.beta[0], found.weight[0], "LabelCurve")
    if isinstance(estimate, PriorEstimator):
        estimate._check_fitted("interval")
        origin = type(estimate).__name__
        if getattr(estimate, "takes", "scores") == "scores":
            draws = _bootstrapped(estimate, n_resamples, rng)
            if draws is not None:
                return _Nodes.smoothed(draws[:, 0], draws[:, 1], np.ones(len(draws)), origin)
        interval = estimate.interval(n_resamples=n_resamples, random_state=rng)["alpha"]
        return _from_interval(function, interval, estimate.proportions_.beta, origin)
    if isinstance(estimate, PriorEstimate):
        if "alpha" not in estimate.intervals:
            hint = "let evaluate draw replicates: n_resamples=200"
            raise bad_value(function, "estimate", "one with an interval of alpha", "none", hint)
        return _from_interval(
            function, estimate.intervals["alpha"], estimate.proportions.beta, estimate.estimator
        )
    if isinstance(estimate, Interval):
        return _from_interval(function, estimate, 1.0, "interval")
    raise bad_type(
        function,
        "estimate",
        "a fitted PriorEstimator, a PriorEstimate or an Interval",
        estimate,
        "for example LabelCurve().fit(scores, labeled)",
    )


def _bootstrapped(estimator: Any, n_resamples: int, rng: np.random.Generator) -> FloatArray | None:
    """Alpha and beta of replicates; None if most of them allow no estimate."""
    from purecover.estimation._intervals import proportion_draws
    from purecover.intervals._resample import resampler_for

    resampler = resampler_for(estimator._counts, "multinomial")
    draws = proportion_draws(estimator, resampler, n_resamples, rng)
    known = draws[~np.isnan(draws[:, 0])]
    # An alpha of exactly 0 means too few to be seen, not none.
    known[:, 0] = np.maximum(known[:, 0], 0.5 / estimator._counts.n_unlabeled)
    return known if 2 * len(known) > len(draws) else None


def _from_interval(function: str, interval: Interval, beta: float, origin: str) -> _Nodes:
    """A normal distribution of the logit, from the ends that are inside (0, 1)."""
    from scipy.special import ndtri

    z = float(ndtri((1 + interval.confidence_level) / 2))
    low, middle, high = _logit(np.array([interval.low, interval.estimate, interval.high]))
    if not interval.low < interval.high:
        got = f"[{interval.low:g}, {interval.high:g}]"
        raise bad_value(function, "estimate", "an interval of some width", got)
    if interval.low <= 0 < interval.high < 1 and middle < high:
        center, spread = middle, (high - middle) / z
    elif 0 < interval.low < interval.high >= 1 and low < middle:
        center, spread = middle, (middle - low) / z
    else:
        center, spread = (low + high) / 2, (high - low) / (2 * z)
    one = np.ones(1)
    return _Nodes(center * one, beta * one, one, float(spread), origin, joint=False)


# -- what the audit tells ---------------------------------------------------------------------


def _audited(
    function: str, n_positive: Any, n_audited: int | None, level: float
) -> tuple[AuditEstimate | StratifiedAudit, float, float]:
    """The audit alone, and how many of how many it counts for."""
    if isinstance(n_positive, (AuditEstimate, StratifiedAudit)):
        if n_audited is not None:
            hint = "the result of the audit knows it"
            raise bad_value(function, "n_audited", "left out", str(n_audited), hint)
        if isinstance(n_positive, AuditEstimate):
            return n_positive, n_positive.n_positive, n_positive.n_audited
        n = n_positive.n_effective
        return n_positive, n * n_positive.alpha.estimate, n
    k, n = check_audited(function, n_positive, n_audited)
    return alpha_from_audit(k, n, confidence_level=level), k, n


def _tail(k: float, n: float, alpha: FloatArray, weight: FloatArray) -> float:
    """Probability of a number of positives at least as extreme, on both sides."""
    from scipy.special import betainc

    k, n = round(k), max(round(n), 1)
    # Of at most k, and of at least k, successes in n trials.
    at_most = betainc(n - k, k + 1, 1 - alpha) if k < n else np.ones_like(alpha)
    at_least = betainc(k, n - k + 1, alpha) if k > 0 else np.ones_like(alpha)
    return min(1.0, 2 * float(weight @ at_most), 2 * float(weight @ at_least))


# -- numbers ----------------------------------------------------------------------------------


def _interval(values: FloatArray, weight: FloatArray, level: float) -> Interval:
    """Mean and quantiles of weighted values."""
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    reached = (reached - 0.5 * weight[order]) / reached[-1]
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    low, high = np.interp(tails, reached, values[order])
    mean = float(1 - weight @ (1 - values) / weight.sum())
    return credible(mean, (float(low), float(high)), level, "posterior quantiles")


def _logit(share: Any) -> Any:
    share = np.clip(share, _EDGE, 1 - _EDGE)
    return np.log(share / (1 - share))


def _expit(logit: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-logit)))
