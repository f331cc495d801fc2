"""What an audit tells about alpha: k of n random unlabeled examples turned out positive.

The posterior of alpha is Beta(a + k, b + n - k) with the prior Beta(a, b). Where all unlabeled
examples are N in number and alpha is wanted of these and no others, only those not audited are
uncertain, and the positives among them follow a beta-binomial distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from purecover._codec import Saved
from purecover._typing import FloatArray, IntArray
from purecover._validation import (
    bad_type,
    bad_value,
    check_choice,
    check_integer,
    check_real,
    public,
)
from purecover.intervals.interval import Interval, check_level
from purecover.proportions import MixtureProportions

AuditPrior: TypeAlias = Literal["jeffreys", "uniform"] | tuple[float, float]

_PRIORS = {"jeffreys": (0.5, 0.5), "uniform": (1.0, 1.0)}
MOST_ITEMS = 10**9
_MOST_EXACT = 10**5
"""With more examples left unaudited, their number of positives is as good as continuous."""


@dataclass(frozen=True, kw_only=True)
class AuditEstimate(Saved):
    """Alpha from an audit.

    Attributes
    ----------
    n_positive, n_audited : int
        What the judges found.
    n_unlabeled : int or None
        Number of unlabeled examples that alpha speaks of; None for the population behind them.
    posterior : tuple of float
        Parameters of the beta distribution of the share of positives.
    alpha : Interval
        Posterior mean and credible interval.
    """

    n_positive: int
    n_audited: int
    n_unlabeled: int | None
    posterior: tuple[float, float]
    alpha: Interval

    def proportions(self, beta: float = 1.0) -> MixtureProportions:
        """Alpha with a share of positives among the labeled, for all that takes proportions.

        Parameters
        ----------
        beta : float, default=1.0
            Share of positives among the labeled, which an audit of the unlabeled cannot tell.
        """
        return MixtureProportions(self.alpha.estimate, beta, origin="audit")

    def __str__(self) -> str:
        return (
            f"audit: {self.n_positive:,} of {self.n_audited:,} positive\n"
            f"alpha {in_words(self.alpha)}"
        )


def in_words(interval: Interval) -> str:
    """An estimate with its interval, for a line of text."""
    level = f"{100 * interval.confidence_level:g} %"
    return f"{interval.estimate:.4f}, {level} interval {interval.low:.4f} - {interval.high:.4f}"


@public
def alpha_from_audit(
    n_positive: int,
    n_audited: int,
    *,
    confidence_level: float = 0.95,
    prior: AuditPrior = "jeffreys",
    n_unlabeled: int | None = None,
) -> AuditEstimate:
    r"""Alpha with a credible interval, from unlabeled examples judged by hand.

    Parameters
    ----------
    n_positive : int
        How many turned out positive.
    n_audited : int
        How many were judged.
    confidence_level : float, default=0.95
        Probability of the interval.
    prior : {"jeffreys", "uniform"} or tuple of two floats, default="jeffreys"
        Parameters a and b of the beta prior of alpha: (1/2, 1/2), (1, 1) or your own.
    n_unlabeled : int, optional
        Number of all unlabeled examples, if alpha of these very examples is wanted. By default
        alpha is that of the population they come from.

    Returns
    -------
    AuditEstimate
        The interval, the posterior, and :meth:`~AuditEstimate.proportions` to pass on.

    See Also
    --------
    plan_audit : How many examples to judge.
    combine_audit : Audit and scores in one posterior.
    stratified_audit : More of the high scores than of the low ones.

    Notes
    -----
    The audited examples must be a *random* sample of the unlabeled ones, drawn without a look at
    their scores, and the judges must be right. If they take negatives for positives at a rate
    e, alpha comes out too large by up to e, and no number of examples mends that. Leaving out
    the doubtful ones spoils the sample too.

    With k of n positive the posterior is :math:`Beta(a+k,\, b+n-k)`, and the interval has equal
    tails; where none (all) are positive it reaches down to 0 (up to 1), as [1]_ recommend, unless
    a prior with a > 1 (b > 1) rules that out. With Jeffreys' prior it also covers a fixed alpha
    about as often as it says, whereas the textbook interval
    :math:`k/n \pm 1.96\,\sqrt{(k/n)(1-k/n)/n}` does not where alpha is small.

    With N unlabeled examples, :math:`(k + M)/N` of them are positive, where M of the
    :math:`N - n` that nobody judged follows the beta-binomial distribution of the posterior.

    References
    ----------
    .. [1] Brown, Cai & DasGupta (2001), "Interval estimation for a binomial proportion",
       Statistical Science 16.

    Examples
    --------
    >>> import purecover as pu
    >>> audit = pu.audit.alpha_from_audit(27, 100)
    >>> print(audit)
    audit: 27 of 100 positive
    alpha 0.2723, 95 % interval 0.1904 - 0.3627
    >>> audit.proportions().alpha == audit.alpha.estimate
    True
    """
    n_positive, n_audited = check_audited(n_positive, n_audited)
    level = check_level(confidence_level)
    shapes = check_prior(prior)
    a, b = shapes[0] + n_positive, shapes[1] + n_audited - n_positive
    if n_unlabeled is None:
        low, high = beta_ends(n_positive, n_audited, shapes, level)
        ends, mean, method = (float(low), float(high)), a / (a + b), "beta posterior"
    else:
        n_unlabeled = check_integer("n_unlabeled", n_unlabeled, low=n_audited, high=MOST_ITEMS)
        rest = n_unlabeled - n_audited
        mean = (n_positive + rest * a / (a + b)) / n_unlabeled
        ends = finite_ends(n_positive, n_audited, n_unlabeled, (a, b), level)
        method = "beta-binomial posterior"
    return AuditEstimate(
        n_positive=n_positive,
        n_audited=n_audited,
        n_unlabeled=n_unlabeled,
        posterior=(a, b),
        alpha=credible(mean, ends, level, method),
    )


def credible(mean: float, ends: tuple[float, float], level: float, method: str) -> Interval:
    """A posterior mean and an interval around it."""
    low, high = ends
    return Interval(
        estimate=mean,
        low=min(low, mean),
        high=max(high, mean),
        confidence_level=level,
        method=method,
        varied="scores and proportions",
    )


# -- the ends of intervals --------------------------------------------------------------------


def reaches_edge(prior: float) -> bool:
    """Whether an interval goes to the edge if nothing was found on the other side of it.

    What was never seen may not exist at all. A prior above 1 knows better: its density is 0 there.
    """
    return prior <= 1


def beta_ends(
    n_positive: Any, n_audited: Any, prior: tuple[float, float], level: float
) -> tuple[FloatArray, FloatArray]:
    """Ends of credible intervals, for arrays of outcomes."""
    from scipy.special import betaincinv

    k, n = np.asarray(n_positive, dtype=np.float64), np.asarray(n_audited, dtype=np.float64)
    a, b = prior
    tail = (1 - level) / 2
    # Where all of it lies at one point to the last digit, the inverse is not defined.
    mean = (a + k) / (a + b + n)
    low, high = (
        np.where(np.isnan(end), mean, end)
        for end in (betaincinv(a + k, b + n - k, at) for at in (tail, 1 - tail))
    )
    low = np.where((k == 0) & reaches_edge(a), 0.0, low)
    high = np.where((k == n) & reaches_edge(b), 1.0, high)
    # At low levels the mean of a skewed posterior may lie outside.
    return np.minimum(low, mean), np.maximum(high, mean)


def finite_ends(
    n_positive: int, n_audited: int, n_unlabeled: int, posterior: tuple[float, float], level: float
) -> tuple[float, float]:
    """Ends of the interval of the share among all unlabeled examples there are."""
    rest = n_unlabeled - n_audited
    if rest == 0:
        return n_positive / n_unlabeled, n_positive / n_unlabeled
    tail = (1 - level) / 2
    if rest > _MOST_EXACT:
        ends = nearly_beta_binomial(rest, *posterior, tail)
        least, most = (float(np.rint(end)) for end in ends)
    else:
        log = log_beta_binomial(rest, *posterior)
        least, most = (float(end) for end in whole_ends(log, tail))
    least = 0.0 if n_positive == 0 and reaches_edge(posterior[0]) else least
    most = float(rest) if n_positive == n_audited and reaches_edge(posterior[1]) else most
    return (n_positive + least) / n_unlabeled, (n_positive + most) / n_unlabeled


def log_beta_binomial(n: int, a: Any, b: Any) -> FloatArray:
    """Logarithms of the probabilities of 0 to n positives, up to a constant, in the last axis."""
    from scipy.special import gammaln

    m = np.arange(n + 1, dtype=np.float64)
    ways = gammaln(m + 1) + gammaln(n - m + 1)
    return np.asarray(gammaln(a + m) + gammaln(b + (n - m)) - ways)


def whole_ends(log: FloatArray, tail: float) -> tuple[IntArray, IntArray]:
    """Quantiles at both ends, of probabilities over whole numbers in the last axis."""
    reached = np.cumsum(np.exp(log - log.max(axis=-1, keepdims=True)), axis=-1)
    total = reached[..., -1:]
    least, most = ((reached < at * total).sum(axis=-1) for at in (tail, 1 - tail))
    return least, most


def nearly_beta_binomial(n: Any, a: Any, b: Any, tail: float) -> tuple[FloatArray, FloatArray]:
    """Quantiles at both ends for large n, from a beta distribution of equal mean and variance."""
    from scipy.special import betaincinv

    n = np.asarray(n, dtype=np.float64)
    size = n * (a + b + 1) / (a + b + n) - 1
    share = a / (a + b)
    a, b = size * share, size * (1 - share)
    low, high = (betaincinv(a, b, at) for at in (tail, 1 - tail))
    return n * np.where(np.isnan(low), share, low), n * np.where(np.isnan(high), share, high)


# -- what callers give ------------------------------------------------------------------------


def check_audited(n_positive: object, n_audited: object) -> tuple[int, int]:
    """Two whole numbers, the first not above the second."""
    n = check_integer("n_audited", n_audited, low=1, high=MOST_ITEMS)
    return check_integer("n_positive", n_positive, low=0, high=n), n


def check_prior(prior: object) -> tuple[float, float]:
    """Parameters of the beta prior."""
    must = "'jeffreys', 'uniform' or two positive numbers"
    if isinstance(prior, str):
        return _PRIORS[check_choice("prior", prior, tuple(_PRIORS))]
    if not isinstance(prior, (Sequence, np.ndarray)):
        hint = "the prior is that of alpha: (2, 8) expects about 20 % positives"
        raise bad_type("prior", must, prior, hint)
    if len(prior) != 2:
        raise bad_value("prior", must, f"{len(prior)} values")
    low, high = (check_real("prior", each, low=0, high=1e9, closed="right") for each in prior)
    return low, high
