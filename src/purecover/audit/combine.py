"""Audit and scores in one posterior of alpha and beta.

What the scores tell becomes the prior of the audit: a cloud of nodes (alpha, beta, weight), made
continuous in alpha by a kernel and multiplied by the likelihood of what the judges found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._codec import plain_fields
from purecover._typing import FloatArray, RandomState
from purecover._validation import Frozen, public
from purecover.audit import posterior
from purecover.audit.plan import between
from purecover.audit.top import TopAudit
from purecover.estimators.estimate import PriorEstimate
from purecover.exceptions import ContradictionError, IdentifiabilityError
from purecover.intervals.interval import Interval, check_level
from purecover.proportions import FROM_SCORES, MixtureProportions

_GRID = 600
_DRAWS = 2000
_FEW = 2000


@dataclass(frozen=True)
class Evidence:
    """k of n positive, of N examples or of a population; neither k nor n need be whole."""

    n_positive: float
    n_audited: float
    n_unlabeled: int | None = None
    prior: tuple[float, float] = (1.0, 1.0)

    def quantiles(self) -> FloatArray:
        """Values of alpha that are close together where the audit places it."""
        from scipy.special import betaincinv, ndtr

        k, n = self.n_positive, self.n_audited
        a, b = (each - 0.5 for each in self.prior)
        tails = ndtr(np.linspace(-6, 6, _GRID))
        if self.n_unlabeled is None:
            return np.asarray(betaincinv(a + k, b + n - k, tails))
        rest = max(self.n_unlabeled - n, 1.0)
        low, _ = posterior.nearly_beta_binomial(rest, a + k, b + n - k, tails)
        return np.asarray(np.append(k + low, k) / self.n_unlabeled).clip(0, 1)

    def possible(self, alpha: FloatArray) -> FloatArray:
        """Those alphas that N examples can have; few are taken one by one."""
        if self.n_unlabeled is None:
            return np.unique(alpha)
        size = self.n_unlabeled
        if size <= _FEW:
            return np.arange(size + 1) / size
        return np.asarray(np.unique(np.rint(alpha * size)) / size)

    def log_likelihood(self, alpha: FloatArray) -> FloatArray:
        """Logarithm of the likelihood, up to a constant."""
        from scipy.special import gammaln, xlog1py, xlogy

        k, n = self.n_positive, self.n_audited
        a, b = self.prior
        if self.n_unlabeled is None:
            return np.asarray(xlogy(k + a - 1, alpha) + xlog1py(n - k + b - 1, -alpha))
        positives = np.rint(alpha * self.n_unlabeled)
        negatives = self.n_unlabeled - positives
        # Among the examples that nobody judged; a prior changes how many ways there are.
        hidden = positives - k, negatives - (n - k)
        possible = (hidden[0] > -0.5) & (hidden[1] > -0.5)
        ways = gammaln(positives + a) + gammaln(negatives + b)
        log = ways - sum(gammaln(np.maximum(each, 0.0) + 1) for each in hidden)
        return np.where(possible, log, -np.inf)

    def tail(self, alpha: FloatArray, weight: FloatArray) -> float:
        """Probability of a number of positives at least as extreme, on both sides."""
        from scipy.special import betainc

        k, n = round(self.n_positive), max(round(self.n_audited), 1)
        k = min(k, n)
        if self.n_unlabeled is not None:
            n = min(n, self.n_unlabeled)
            positives = np.rint(alpha * self.n_unlabeled).astype(np.int64)
            judged, found = np.full_like(positives, n), np.full_like(positives, min(k, n))
            none = np.zeros_like(positives)
            at_most = between(none, found, judged, self.n_unlabeled, positives)
            at_least = between(found, judged, judged, self.n_unlabeled, positives)
        else:
            # Of at most k, and of at least k, successes in n trials.
            at_most = betainc(n - k, k + 1, 1 - alpha) if k < n else np.ones_like(alpha)
            at_least = betainc(k, n - k + 1, alpha) if k > 0 else np.ones_like(alpha)
        return min(1.0, 2 * float(weight @ at_most), 2 * float(weight @ at_least))


_SMOOTHING = 0.5
"""Kernels have this share of the standard deviation of the nodes; nodes draw together for it."""

_LIGHT = 1e-9
_EDGE = 1e-12
_NARROWEST = 1e-6


@dataclass(frozen=True)
class Scale:
    """On which kernels are normal."""

    of: Callable[[Any], Any]
    alpha: Callable[[Any], Any]


def _logit(share: Any) -> Any:
    share = np.clip(share, _EDGE, 1 - _EDGE)
    return np.log(share / (1 - share))


def _expit(logit: Any) -> Any:
    return 1 / (1 + np.exp(-logit))


def _angle(share: Any) -> Any:
    return np.arcsin(np.sqrt(np.clip(share, 0, 1)))


def _of_angle(angle: Any) -> Any:
    return np.sin(np.clip(angle, 0, np.pi / 2)) ** 2


LOGIT = Scale(_logit, _expit)

ARCSINE = Scale(_angle, _of_angle)
"""Has room for an alpha of exactly 0: on the logit scale that lies far from all others, and the
spread of draws some of which are 0 would be the distance to it."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Where the scores put alpha (on a scale) and beta, and how a node is blurred."""

    center: FloatArray
    beta: FloatArray
    weight: FloatArray
    blur: float
    origin: str
    scale: Scale
    joint: bool  # whether beta is part of it, or merely given

    @classmethod
    def smoothed(
        cls, alpha: FloatArray, beta: FloatArray, weight: FloatArray, origin: str, scale: Scale
    ) -> Nodes:
        """Nodes drawn together by as much as the kernel spreads them: the variance remains."""
        kept = weight > _LIGHT * weight.max()
        at, weight = scale.of(alpha[kept]), weight[kept] / weight[kept].sum()
        mean = float(weight @ at)
        spread = max(float(weight @ (at - mean) ** 2) ** 0.5, 1e-3)
        center = mean + (1 - _SMOOTHING**2) ** 0.5 * (at - mean)
        return cls(center, beta[kept], weight, _SMOOTHING * spread, origin, scale, joint=True)

    def grid(self, others: FloatArray) -> FloatArray:
        """Values of alpha that are close together where the scores place it, with others."""
        low, high = self.center.min() - 6 * self.blur, self.center.max() + 6 * self.blur
        known = self.scale.alpha(np.linspace(low, high, _GRID))
        return np.unique(np.concatenate((others, known)).clip(0, 1))

    def density(self, alpha: FloatArray) -> FloatArray:
        """Probability of each node around each of some rising values of alpha."""
        from scipy.special import ndtr

        # Of all that is nearer to this value than to the next: a kernel may fit between two.
        limits = self.scale.of((alpha[1:] + alpha[:-1]) / 2)
        reached = ndtr((limits - self.center[:, None]) / self.blur)
        none, every = np.zeros((self.center.size, 1)), np.ones((self.center.size, 1))
        share = np.diff(np.hstack((none, reached, every)), axis=1)
        # Alpha is below beta; where it is not, labeled and unlabeled would be exchanged.
        return np.asarray(self.weight[:, None] * share * (alpha < self.beta[:, None]))


def nodes_of(estimate: Any, n_resamples: int, rng: np.random.Generator) -> Nodes:
    """Nodes, from whatever the caller knows."""
    from purecover.estimators.base import PriorEstimator
    from purecover.estimators.label_curve import LabelCurve, solve_label_curve
    from purecover.estimators.replicates import proportion_draws
    from purecover.intervals.resampling import resampler_for

    if isinstance(estimate, LabelCurve):
        estimate._check_fitted("interval")
        found = solve_label_curve(estimate._counts, estimate.clean).posterior
        return Nodes.smoothed(found.alpha[0], found.beta[0], found.weight[0], "LabelCurve", LOGIT)
    if isinstance(estimate, PriorEstimator):
        estimate._check_fitted("interval")
        origin = type(estimate).__name__
        if estimate.takes == "scores":
            resampler = resampler_for(estimate._counts)
            if estimate.interval_method != "bootstrap":
                # Draws of a posterior cost little, and an audit leaves weight to few of them.
                n_resamples = max(n_resamples, _DRAWS)
            draws = proportion_draws(estimate, resampler, n_resamples, rng)
            alpha, beta = draws[~np.isnan(draws[:, 0])].T
            if 2 * alpha.size > len(draws):  # else most of them allow no estimate
                return Nodes.smoothed(alpha, beta, np.ones(alpha.size), origin, ARCSINE)
        interval = estimate.interval(n_resamples=n_resamples, random_state=rng)["alpha"]
        return _from_interval(interval, estimate.proportions_.beta, origin)
    if isinstance(estimate, PriorEstimate):
        if "alpha" not in estimate.intervals:
            hint = "let evaluate draw replicates: n_resamples=200"
            raise valid.bad_value("estimate", "one with an interval of alpha", "none", hint)
        return _from_interval(
            estimate.intervals["alpha"], estimate.proportions.beta, estimate.estimator
        )
    if isinstance(estimate, Interval):
        return _from_interval(estimate, 1.0, "interval")
    raise valid.bad_type(
        "estimate",
        "a fitted PriorEstimator, a PriorEstimate or an Interval",
        estimate,
        "for example LabelCurve().fit(scores, labeled)",
    )


def _from_interval(interval: Interval, beta: float, origin: str) -> Nodes:
    """A normal distribution, of the logit if both ends are inside (0, 1)."""
    from scipy.special import ndtri

    if not interval.low < interval.high:
        got = f"[{interval.low:g}, {interval.high:g}]"
        raise valid.bad_value("estimate", "an interval of some width", got)
    z = float(ndtri((1 + interval.confidence_level) / 2))
    scale = LOGIT if 0 < interval.low < interval.high < 1 else ARCSINE
    low, middle, high = scale.of(np.array([interval.low, interval.estimate, interval.high]))
    # An end at 0 or 1 says where alpha stops, not how uncertain it is.
    if interval.low <= 0 < interval.high < 1 and middle < high:
        center, spread = middle, (high - middle) / z
    elif 0 < interval.low < interval.high >= 1 and low < middle:
        center, spread = middle, (middle - low) / z
    else:
        center, spread = (low + high) / 2, (high - low) / (2 * z)
    one = np.ones(1)
    blur = max(float(spread), _NARROWEST)
    return Nodes(center * one, beta * one, one, blur, origin, scale, joint=False)


CONFLICT = 0.05
"""An audit that the scores make less likely than this contradicts them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CombinedAudit(Frozen):
    """Alpha and beta from scores and an audit together.

    Attributes
    ----------
    proportions : MixtureProportions
        Posterior means.
    believed : MixtureProportions
        The same; with the alpha of the audit alone where the scores contradict it.
    intervals : mapping of str to Interval
        Of ``"alpha"``, ``"beta"`` and ``"delta"``; of ``"alpha"`` alone where the scores had
        told no more than an interval of it.
    from_scores : Interval
        Alpha as the scores alone tell it.
    audit : AuditEstimate, StratifiedAudit or TopAudit
        Alpha as the audit alone tells it.
    tail_probability : float
        How likely the scores made an audit at least as far off, on both sides.
    conflict : bool
        Whether that is below .05: scores and audit contradict each other.
    """

    proportions: MixtureProportions
    intervals: Mapping[str, Interval]
    from_scores: Interval
    audit: posterior.AuditEstimate | posterior.StratifiedAudit | TopAudit
    tail_probability: float
    _cells: tuple[FloatArray, FloatArray, FloatArray] = field(repr=False)
    """Alpha, beta and probability of each cell of what is believed."""

    @property
    def believed(self) -> MixtureProportions:
        """The proportions; with the alpha of the audit alone if the scores contradict it."""
        if not self.conflict:
            return self.proportions
        if isinstance(self.audit, TopAudit):
            return self.audit.proportions()
        try:
            found = self.audit.proportions(self.proportions.beta)
        except IdentifiabilityError:
            return self.audit.proportions()
        return replace(found, origin=f"audit, {FROM_SCORES}")

    def draws(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Pairs of alpha and beta as likely as they are believed, one row each."""
        alpha, beta, share = self._cells
        drawn = rng.choice(share.size, n, p=share.ravel())
        node, place = np.divmod(drawn, alpha.size)
        return np.column_stack((alpha[place], beta[node]))

    @property
    def conflict(self) -> bool:
        """Whether scores and audit contradict each other."""
        return self.tail_probability < CONFLICT

    @property
    def doubt(self) -> str:
        """That they do, with the probability; empty if they agree."""
        chance = f"(p = {self.tail_probability:.2g})"
        return f"scores and audit contradict each other {chance}" if self.conflict else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return plain_fields(self, "conflict")

    def __str__(self) -> str:
        lines = [
            f"alpha from the audit  {posterior.in_words(self.audit.alpha)}",
            f"      from the scores {posterior.in_words(self.from_scores)}",
            f"      from both       {posterior.in_words(self.intervals['alpha'])}",
        ]
        if "beta" in self.intervals:
            alone = self.conflict and not _judged_labeled(self.audit)
            whence = "from the scores" if alone else "from both      "
            lines.append(f"beta  {whence} {posterior.in_words(self.intervals['beta'])}")
        if self.conflict:
            lines.append(
                f"{self.doubt}: trust the audit alone, if it was a random sample and the judges "
                "were right"
            )
        return "\n".join(lines)


@public
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
    n_positive : int, AuditEstimate, StratifiedAudit or TopAudit
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

    An audit of N unlabeled examples describes these alone: the likelihood is then hypergeometric,
    of k positives among n of N examples :math:`\alpha N` of which are positive, and nothing is
    open once all are judged. A stratified audit counts as a plain one of the N examples that
    makes alpha equally certain, and so does one of high scores, of the population behind them;
    labeled examples that it judged count as :math:`\beta^k (1-\beta)^{n-k}` beside it. The scores
    take the place of the audit's prior. What that knows
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
    >>> estimator = pu.estimators.LabelCurve().fit(sample.scores, sample.labeled)
    >>> both = pu.audit.combine_audit(estimator, 31, 100)
    >>> both.conflict
    False
    >>> width = both.intervals["alpha"].width
    >>> width < both.from_scores.width, width < both.audit.alpha.width
    (True, True)
    """
    level = check_level(confidence_level)
    n_resamples = valid.check_integer("n_resamples", n_resamples, low=10, high=10**6)
    rng = valid.check_random_state(random_state)
    audit, evidence = _audited(n_positive, n_audited, level)
    nodes = nodes_of(estimate, n_resamples, rng)
    if not nodes.joint and isinstance(audit, TopAudit):
        nodes = replace(nodes, beta=np.full_like(nodes.beta, audit.beta.estimate))
    alpha = evidence.possible(nodes.grid(evidence.quantiles()))
    density = nodes.density(alpha)  # (n_nodes, n_grid)
    likely = evidence.log_likelihood(alpha)
    believed = _likelihood_of_beta(audit, nodes)
    both = density * believed * np.exp(likely - likely.max())
    alone = np.gradient(alpha) * (alpha < nodes.beta[:, None]) * np.exp(likely - likely.max())
    if not both.sum() > 0:
        # The scores leave nothing where the audit puts alpha, to the last digit: then it is known
        # from the audit alone, if any beta allows it.
        both = nodes.weight[:, None] * believed * alone
    if not both.sum() > 0:
        raise ContradictionError(
            f"{{function}} finds no alpha that both the scores and the audit allow: the audit says "
            f"{audit.alpha.estimate:.3g}, and beta is at most {nodes.beta.max():.3g}.\n"
            "Hint: the labels hold more wrong ones than the scores show, or the judges err"
        )
    both /= both.sum()
    density /= density.sum()
    tail = evidence.tail(alpha, density.sum(axis=0))
    cells = both
    if tail < CONFLICT:  # then the audit is believed as to alpha, with its usual prior
        prior = np.maximum(alpha * (1 - alpha), 1e-6) ** -0.5
        cells = nodes.weight[:, None] * believed * alone * prior
        cells /= cells.sum()
    mean_alpha = float(both.sum(axis=0) @ alpha)
    mean_beta = 1 - float(cells.sum(axis=1) @ (1 - nodes.beta))
    origin = f"{nodes.origin} and audit"
    if not _judged_labeled(audit) and (nodes.beta < 1).any():
        origin += f", {FROM_SCORES}"
    whole = evidence.n_unlabeled is not None
    intervals = {"alpha": _interval(alpha, both.sum(axis=0), level, whole=whole)}
    if nodes.joint:
        intervals["beta"] = _interval(nodes.beta, cells.sum(axis=1), level)
        gap = nodes.beta[:, None] - alpha
        intervals["delta"] = _interval(gap.ravel(), both.ravel(), level)
    return CombinedAudit(
        proportions=MixtureProportions(mean_alpha, mean_beta, origin=origin),
        intervals=intervals,
        from_scores=_interval(alpha, density.sum(axis=0), level),
        audit=audit,
        tail_probability=tail,
        _cells=(alpha, nodes.beta, cells),
    )


def _audited(
    n_positive: Any, n_audited: int | None, level: float
) -> tuple[posterior.AuditEstimate | posterior.StratifiedAudit | TopAudit, Evidence]:
    """The audit alone, and how likely it makes each alpha."""
    if not isinstance(n_positive, (posterior.AuditEstimate, posterior.StratifiedAudit, TopAudit)):
        k, n = posterior.check_audited(n_positive, n_audited)
        return posterior.alpha_from_audit(k, n, confidence_level=level), Evidence(k, n)
    if n_audited is not None:
        hint = "the result of the audit knows it"
        raise valid.bad_value("n_audited", "left out", str(n_audited), hint)
    audit = n_positive
    if isinstance(audit, posterior.AuditEstimate):
        k, n = audit.n_positive, audit.n_audited
        a, b = audit.posterior[0] - k, audit.posterior[1] - (n - k)
        return audit, Evidence(k, n, audit.n_unlabeled, (max(a, 1.0), max(b, 1.0)))
    # Without the one example that the prior counts for, as far as it tells of examples not judged.
    size, prior = None, 1.0
    if isinstance(audit, posterior.StratifiedAudit):
        size = int(audit.n_unlabeled.sum())
        if (audit.n_audited == audit.n_unlabeled).all():
            return audit, Evidence(int(audit.n_positive.sum()), size, size)
        prior = 1 - audit.n_effective / size
    judged = max(audit.n_effective - prior, 0.0)
    positive = audit.n_effective * audit.alpha.estimate - prior / 2
    return audit, Evidence(min(max(positive, 0.0), judged), judged, size)


def _judged_labeled(audit: Any) -> bool:
    """Whether labeled examples were judged, too."""
    return isinstance(audit, TopAudit) and any(audit.labeled_audited)


def _likelihood_of_beta(audit: Any, nodes: Nodes) -> FloatArray:
    """How likely the answers on labeled examples make the beta of each node."""
    from scipy.special import xlog1py, xlogy

    if not nodes.joint or not _judged_labeled(audit):
        return np.ones((1, 1))
    k, n = sum(audit.labeled_positive), sum(audit.labeled_audited)
    if k < n and (nodes.beta == 1).all():
        got = f"beta = 1 for sure, and {n - k} of {n} judged labeled examples are negative"
        raise valid.bad_value("estimate", "one that allows wrong labels", got)
    log = xlogy(k, nodes.beta) + xlog1py(n - k, -nodes.beta)
    return np.asarray(np.exp(log - log.max())[:, None])


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
    return posterior.credible(mean, (float(low), float(high)), level, "posterior quantiles")
