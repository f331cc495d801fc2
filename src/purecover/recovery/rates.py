"""The recovery theorem: observed rates to true rates and back, areas, and posteriors.

Equation numbers are those of Jain, White & Radivojac (2017), Recovering True Classifier
Performance in Positive-Unlabeled Learning, AAAI.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._typing import FloatArray
from purecover._validation import public
from purecover.counts import ScoreCounts, check_counts
from purecover.exceptions import ContradictionError, RecoveryWarning
from purecover.proportions import MixtureProportions, check_proportions


def check_data(counts: ScoreCounts, proportions: MixtureProportions, *, warns: bool = True) -> None:
    """Check the input that all recovery assumes.

    A public function that calls this warns if the scores contradict alpha and beta, unless this
    package has called it, which says so itself. None ``warns`` where alpha and beta have an error
    that may explain it.
    """
    check_counts(counts)
    check_proportions(proportions)
    # Above are the public function, what `public` has wrapped it in, and who called it.
    if warns and not valid.ours(above=3):
        warn_of_contradiction(counts, proportions)


@public
def recover_rates(
    tpr_pu: Any, fpr_pu: Any, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    r"""Recover true rates from rates observed on labeled and unlabeled data.

    Parameters
    ----------
    tpr_pu, fpr_pu : float or array-like
        Shares predicted positive among the labeled and among the unlabeled.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    tpr, fpr : ndarray
        The true rates. Sampling noise can push them outside [0, 1]; nothing is clipped.

    See Also
    --------
    observe_rates : The inverse.
    recover_roc : A whole curve, with repairs.

    Notes
    -----
    With :math:`\Delta = \beta - \alpha`,

    .. math::

        tpr = \frac{(1-\alpha)\,tpr_{pu} - (1-\beta)\,fpr_{pu}}{\Delta}, \qquad
        fpr = \frac{\beta\,fpr_{pu} - \alpha\,tpr_{pu}}{\Delta}.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import recover_rates
    >>> tpr, fpr = recover_rates(0.625, 0.275, MixtureProportions(0.25, 0.75))
    >>> round(float(tpr), 12), round(float(fpr), 12)
    (0.8, 0.1)
    """
    tpr_pu, fpr_pu = _as_rates(tpr_pu, fpr_pu, ("tpr_pu", "fpr_pu"))
    check_proportions(proportions)
    tpr, fpr = map_rates(tpr_pu, fpr_pu, proportions)
    return np.asarray(tpr), np.asarray(fpr)


@dataclass(frozen=True, eq=False)
class Shares:
    """Alpha and beta of many samples, one row each; for the rest see `MixtureProportions`."""

    alpha: FloatArray
    beta: FloatArray

    @classmethod
    def of(cls, proportions: MixtureProportions) -> Shares:
        """One row."""
        return cls(np.array([[proportions.alpha]]), np.array([[proportions.beta]]))

    @property
    def delta(self) -> FloatArray:
        return self.beta - self.alpha


def map_rates(
    tpr_pu: FloatArray, fpr_pu: FloatArray, proportions: MixtureProportions | Shares
) -> tuple[FloatArray, FloatArray]:
    """Apply equations 2 and 3 to unchecked rates; each row may have its own alpha and beta."""
    alpha, beta, delta = proportions.alpha, proportions.beta, proportions.delta
    if np.all(beta == 1):
        # The general formula gives the same up to rounding; this keeps tpr exact.
        return tpr_pu, (fpr_pu - alpha * tpr_pu) / delta
    tpr = ((1 - alpha) * tpr_pu - (1 - beta) * fpr_pu) / delta
    fpr = (beta * fpr_pu - alpha * tpr_pu) / delta
    return tpr, fpr


def map_curve(
    tpr_pu: FloatArray, fpr_pu: FloatArray, proportions: MixtureProportions | Shares
) -> tuple[FloatArray, FloatArray]:
    """Apply equations 2 and 3 to curves that end in (1, 1); that point stays."""
    tpr, fpr = map_rates(tpr_pu, fpr_pu, proportions)
    for rate in (tpr, fpr):
        if np.any(rate[..., -1] != 1):  # by rounding
            rate[..., -1] = 1.0
    return tpr, fpr


@public
def observe_rates(
    tpr: Any, fpr: Any, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    r"""Compute the rates that would be observed on labeled and unlabeled data.

    Parameters
    ----------
    tpr, fpr : float or array-like
        True rates.
    proportions : MixtureProportions
        Alpha and beta.

    Returns
    -------
    tpr_pu, fpr_pu : ndarray
        :math:`tpr_{pu} = \beta\,tpr + (1-\beta)\,fpr` and
        :math:`fpr_{pu} = \alpha\,tpr + (1-\alpha)\,fpr`.

    See Also
    --------
    recover_rates : The inverse.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.recovery import observe_rates
    >>> tpr_pu, fpr_pu = observe_rates(0.8, 0.1, MixtureProportions(0.25, 0.75))
    >>> round(float(tpr_pu), 12), round(float(fpr_pu), 12)
    (0.625, 0.275)
    """
    tpr, fpr = _as_rates(tpr, fpr, ("tpr", "fpr"))
    check_proportions(proportions)
    alpha, beta = proportions.alpha, proportions.beta
    return np.asarray(beta * tpr + (1 - beta) * fpr), np.asarray(alpha * tpr + (1 - alpha) * fpr)


def _as_rates(first: Any, second: Any, names: tuple[str, str]) -> tuple[FloatArray, FloatArray]:
    one, two = as_rate(names[0], first), as_rate(names[1], second)
    if one.shape != two.shape and one.ndim and two.ndim:
        must = f"as long as {names[0]} (shape {one.shape})"
        raise valid.bad_value(names[1], must, f"shape {two.shape}")
    return one, two


def as_rate(parameter: str, value: Any) -> FloatArray:
    """Return rates in the shape that they were given in."""
    must = "a rate in [0, 1] or an array of them"
    try:
        shape = np.shape(value)
        flat = value if len(shape) == 1 else np.reshape(value, -1)
    except Exception as error:  # ragged lists and foreign objects
        raise valid.bad_type(parameter, must, value) from error
    if 0 in shape:
        return np.empty(shape)
    rate = valid.as_real_vector(parameter, flat)
    good = (rate >= 0) & (rate <= 1)
    if not good.all():
        raise valid.bad_value(parameter, must, f"{rate[int(np.argmin(good))]:g}")
    return rate.reshape(shape)


_SERIES_BELOW = 1e-3


def trapezoids(y: FloatArray, x: FloatArray) -> FloatArray:
    """Return signed areas under polylines along the last axis."""
    return np.asarray(np.einsum("...i,...i->...", np.diff(x), y[..., 1:] + y[..., :-1]) / 2)


def interpolated(at: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Interpolate polylines, one per row, whose x grow from 0 to 1, at the same places."""
    if x.ndim == 1:
        return np.asarray(np.interp(at, x, y))
    places = np.broadcast_to(at, (len(x), at.shape[-1]))
    return np.stack([np.interp(*each) for each in zip(places, x, y, strict=True)])


def ratio_integrals(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    r"""Mean of numerator/denominator along each segment between two neighboring points.

    On a segment both are linear, :math:`(p + q u)/(r + s u)` for :math:`u \in [0, 1]`, and
    with :math:`x = s/r` the mean is :math:`[p\,L(x) + q\,M(x)]/r` where
    :math:`L(x) = \ln(1+x)/x` and :math:`M(x) = (1 - L(x))/x`. A segment that starts where
    both vanish has the constant ratio :math:`q/s`.
    """
    p, q = numerator[..., :-1], np.diff(numerator)
    r, s = denominator[..., :-1], np.diff(denominator)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = s / r
        small = np.abs(x) < _SERIES_BELOW
        mostly = 2 * np.count_nonzero(small) > small.size  # so it is of many thresholds
        mean = (_by_series if mostly else _by_logarithm)(p, q, r, s, x)
        others = np.flatnonzero(small != mostly)
        if others.size:
            parts = (part.take(others) for part in (p, q, r, s, x))
            mean.put(others, (_by_logarithm if mostly else _by_series)(*parts))
        empty = np.flatnonzero(r == 0)
        mean.put(empty, q.take(empty) / s.take(empty))
    return mean


def _by_logarithm(
    p: FloatArray, q: FloatArray, r: FloatArray, s: FloatArray, x: FloatArray
) -> FloatArray:
    # Where the denominator starts at next to nothing, hence x is infinite, both vanish.
    log_mean = np.where(np.isinf(x), 0.0, np.log(1 + x) / x)
    slope = q / s
    return np.asarray(slope + (p / r - slope) * log_mean)


def _by_series(
    p: FloatArray, q: FloatArray, r: FloatArray, _: FloatArray, x: FloatArray
) -> FloatArray:
    log_mean = 1 - x * (1 / 2 - x * (1 / 3 - x / 4))
    remainder = 1 / 2 - x * (1 / 3 - x * (1 / 4 - x / 5))
    return (p * log_mean + q * remainder) / r


def pr_segment_areas(tpr: FloatArray, fpr: FloatArray, prior: float | FloatArray) -> FloatArray:
    r"""Return the area under precision against recall for each segment of an ROC polyline.

    Along a straight ROC segment precision is a ratio of linear functions, not a straight
    line (Davis & Goadrich 2006); the integral
    :math:`\int \pi\,tpr/(\pi\,tpr + (1-\pi)\,fpr)\,d\,tpr` is taken exactly.
    """
    ours = prior * tpr
    area = ratio_integrals(ours, ours + (1 - prior) * fpr)
    step = np.diff(tpr)
    area *= step
    area[step == 0] = 0.0
    return area


def effective_size(total: float, squares: FloatArray | None) -> float:
    r"""Return the number of rows; with weights Kish's :math:`(\sum w)^2 / \sum w^2`."""
    return total if squares is None or total == 0 else total**2 / float(np.sum(squares))


def effective_sizes(counts: ScoreCounts) -> tuple[float, float]:
    """Return the effective numbers of labeled and of unlabeled rows."""
    return (
        effective_size(counts.n_labeled, counts.labeled_sq),
        effective_size(counts.n_unlabeled, counts.unlabeled_sq),
    )


def observed_auc_ends(
    counts: ScoreCounts, level: float, method: str = "logit"
) -> tuple[float, float, str]:
    """Return the ends of an interval of the observed AUC, not clipped, and the method."""
    from scipy.special import expit, logit, ndtri

    variance, observed = counts.auc_pu_variance, counts.auc_pu
    z = float(ndtri(0.5 + level / 2))
    if not variance > 0:
        return *_newcombe(observed, *effective_sizes(counts), z), "Newcombe score"
    reach = z * math.sqrt(variance)
    if method == "wald" or not 0 < observed < 1:
        return observed - reach, observed + reach, f"DeLong, {method}"
    ends = expit(logit(observed) + np.array([-1, 1]) * reach / (observed * (1 - observed)))
    return *ends.tolist(), f"DeLong, {method}"


_TWO_ERRORS = 0.9545
"""Confidence between two standard errors below and two above."""


def least_delta(counts: ScoreCounts) -> float:
    """Return the least beta - alpha that the observed AUC allows, within two standard errors.

    No classifier has an observed AUC further above 1/2 than half of beta - alpha. One below 1/2
    shows that labels or scores are inverted, and nothing about alpha and beta.
    """
    low, _, _ = observed_auc_ends(counts, _TWO_ERRORS)
    return max(2 * low - 1, 0.0)


INCLUSION_LEVELS = (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.025)
"""Shares of labeled rows above the thresholds at which binomial bounds are taken."""

FEWEST = 4
"""Levels reached by fewer labeled rows are left out: they could never give the best bound."""


def inclusion_at_most(counts: ScoreCounts, level: float) -> float:
    """Return the bound that :func:`purecover.estimators.inclusion_bound` describes."""
    error = 1 - level
    n_labeled, n_unlabeled = effective_sizes(counts)
    above: FloatArray = np.cumsum(counts.labeled, dtype=np.float64) / counts.n_labeled
    unlabeled: FloatArray = np.cumsum(counts.unlabeled, dtype=np.float64) / counts.n_unlabeled
    ranks: FloatArray = np.ceil(np.array(INCLUSION_LEVELS, dtype=np.float64) * n_labeled)
    ranks = ranks[(ranks >= FEWEST) & (ranks <= n_labeled)]
    # A hair below, so that a share summed up in floats still counts as reached.
    reached = np.searchsorted(above, ranks / n_labeled * (1 - 1e-12))
    share = error / (2 * max(ranks.size, 1))
    high = binomial_upper(n_unlabeled * unlabeled[reached], n_unlabeled, share)
    low = 1 - binomial_upper(n_labeled - ranks, n_labeled, share)
    return float(min(1.0, np.min(high / low, initial=1.0)))


def binomial_upper(
    successes: FloatArray, trials: float | FloatArray, error: float | FloatArray
) -> FloatArray:
    r"""Exact upper confidence bound of a binomial proportion (Clopper and Pearson).

    The :math:`p` with :math:`P(Bin(n, p) \le k) = \varepsilon`, a quantile of
    Beta(:math:`k+1, n-k`). Neither number need be whole. One minus the bound of the failures
    is the lower bound.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.recovery.rates import binomial_upper
    >>> binomial_upper(np.array([5.0, 100.0]), 100, 0.1).round(7)
    array([0.0907715, 1.       ])
    """
    from scipy.special import betaincinv

    failures = np.asarray(trials - successes, dtype=np.float64)
    some = failures > 1e-9  # what is left of all but rounding is nothing
    found = betaincinv(successes + 1, np.where(some, failures, 1.0), 1 - np.asarray(error))
    return np.where(some, found, 1.0)


def largest_alpha(counts: ScoreCounts, beta: float = 1.0) -> float:
    """Return the largest alpha that fits the scores, with sampling error: none is allowed beyond.

    With a larger one there would be fewer than no negatives at some scores
    (:func:`purecover.estimators.inclusion_bound`, at 95 % confidence), or the AUC would be above 1
    (:func:`least_delta`). All limits of alpha that are shown where beta is known are this one.
    """
    bound = inclusion_at_most(counts, 0.95) * beta
    return max(min(bound, beta - least_delta(counts)), 0.0)


def rounded_down(share: float) -> float:
    """Round a limit so that it is still allowed, to three digits."""
    if not share > 0:
        return 0.0
    digits = max(3, 2 - math.floor(math.log10(share)))
    return math.floor(share * 10**digits) / 10**digits


def contradiction_of(counts: ScoreCounts, proportions: MixtureProportions) -> str:
    """Return the limits of alpha and beta given the scores, with advice; empty if within them."""
    p = proportions
    if 2 * counts.auc_pu - 1 <= p.delta or (least := least_delta(counts)) <= p.delta:
        return ""  # the first asks for no standard error
    allowed = (
        f"with beta {p.beta:.4g}, alpha can be at most "
        f"{rounded_down(largest_alpha(counts, p.beta)):g}"
        if p.beta >= least
        else f"beta must be at least {math.ceil(least * 1e4) / 1e4:.4g}"
    )
    correct = f"Correct alpha ({p.origin}) or beta, or have alpha estimated, as evaluate does where"
    correct += " it is left out"
    if any(each.what == "judged" for each in p.basis):
        correct = "See whether the judged rows were drawn at random and judged right, and whether "
        correct += "labels went to positives at random"
    return (
        f"alpha {p.alpha:.4g} and beta {p.beta:.4g} contradict these scores: if the labeled are a "
        f"random sample of all positives, their observed AUC of {counts.auc_pu:.4f} needs a beta - "
        f"alpha of at least {least:.3g}, even if chance has helped, and it is {p.delta:.3g}; "
        f"{allowed}. {correct}"
    )


def warn_of_contradiction(counts: ScoreCounts, proportions: MixtureProportions) -> bool:
    """Warn if results that depend on alpha and beta mean nothing; return whether it warned."""
    told = contradiction_of(counts, proportions)
    if told:
        valid.warn(f"{told}; results that depend on them mean nothing.", RecoveryWarning)
    return bool(told)


def refuse_contradiction(counts: ScoreCounts, given: MixtureProportions) -> None:
    """Refuse given alpha and beta that the scores contradict."""
    if told := contradiction_of(counts, given):
        raise ContradictionError(f"{{function}}: {told}.")


def _newcombe(auc: float, n_labeled: float, n_unlabeled: float, z: float) -> tuple[float, float]:
    """Newcombe's fifth method: invert a score test with Hanley and McNeil's variance."""
    extra = (n_labeled + n_unlabeled) / 2 - 1

    def gap(theta: float) -> float:
        shape = 1 + extra * (1 - theta) / (2 - theta) + extra * theta / (1 + theta)
        return (auc - theta) ** 2 - z**2 * theta * (1 - theta) * shape / (n_labeled * n_unlabeled)

    low = 0.0 if auc == 0 else float(bisected(lambda theta: -gap(theta), 1e-15, auc - 1e-12))
    high = 1.0 if auc == 1 else float(bisected(gap, auc + 1e-12, 1 - 1e-15))
    return low, high


def bisected(rising: Callable[[Any], Any], low: Any, high: Any, value: float = 0.0) -> FloatArray:
    """Find where rising functions have a value, or the nearer end, without ``scipy.optimize``."""
    for _ in range(60):
        middle = (low + high) / 2
        below = rising(middle) < value
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


@public
def recover_auc(
    counts: ScoreCounts, proportions: MixtureProportions, *, clip: bool = True
) -> float:
    r"""Recover the area under the true ROC curve by the direct formula.

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
    valid.check_flag("clip", clip)
    check_data(counts, proportions, warns=False)  # of what is clipped, below
    value = auc_from_pu(counts.auc_pu, proportions)
    clipped = min(max(value, 0.0), 1.0) if clip else value
    if clipped != value and not warn_of_contradiction(counts, proportions):
        valid.warn(
            f"the recovered AUC {value:.4f} is outside [0, 1] and was clipped to {clipped:g}: "
            f"alpha={proportions.alpha:g} and beta={proportions.beta:g} do not fit these scores. "
            "See check PU008.",
            RecoveryWarning,
        )
    return clipped


@public
def auc_from_pu(auc: float, proportions: MixtureProportions) -> float:
    r"""Recover the true AUC from the observed one, unclipped.

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
    auc = valid.check_real("auc", auc, low=0, high=1)
    check_proportions(proportions)
    return 0.5 + (auc - 0.5) / proportions.delta


@public
def auc_to_pu(auc: float, proportions: MixtureProportions) -> float:
    r"""Compute the AUC that would be observed on labeled against unlabeled rows.

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
    auc = valid.check_real("auc", auc, low=0, high=1)
    check_proportions(proportions)
    return 0.5 + (auc - 0.5) * proportions.delta


@public
def auc_identification_interval(
    auc: float, unlabeled_inclusion: float, labeled_inclusion: float = 0.0
) -> tuple[float, float]:
    r"""Find every AUC that is compatible with the data if no score is reached by positives alone.

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
    auc = valid.check_real("auc", auc, low=0, high=1)
    limits = {"low": 0, "high": 1, "closed": "left"}
    a = valid.check_real("unlabeled_inclusion", unlabeled_inclusion, **limits)  # type: ignore[arg-type]
    b = valid.check_real("labeled_inclusion", labeled_inclusion, **limits)  # type: ignore[arg-type]
    far = auc_from_pu(auc, MixtureProportions.from_inclusions(a, b))
    low, high = sorted((auc, min(max(far, 0.0), 1.0)))
    return low, high
