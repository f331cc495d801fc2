"""Audits that look at high scores more closely than at low ones.

Strata are ranges of the score. Within each, the audited examples are a random sample; between
them, they may be as unevenly spread as one likes, because the size of each stratum is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._codec import Saved
from purecover._frames import Tabular
from purecover._typing import ArrayLike, FloatArray, IntArray, RandomState
from purecover._validation import (
    Frozen,
    as_real_vector,
    bad_value,
    check_integer,
    check_random_state,
    public,
    show,
    warn,
)
from purecover.audit.posterior import (
    MOST_ITEMS,
    AuditPrior,
    check_prior,
    credible,
    finite_ends,
    in_words,
    reaches_edge,
)
from purecover.exceptions import RecoveryWarning
from purecover.intervals.interval import Interval, check_level
from purecover.proportions import MixtureProportions

# -- How many positives there may be in strata of the score, by draws from their posterior -------


_LEAST_COUNTED = 0.25
"""Each answer counts for so much at least, in strata with one or two of them."""

_MANY = 8
"""The positives of more strata are drawn together: each limit between strata needs its own draws,
and their number would grow with the square of that of the strata."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Strata next to each other, whose positives are added up."""

    sizes: IntArray
    found: IntArray
    judged: IntArray
    prior: tuple[float, float]
    level: float

    @property
    def size(self) -> int:
        return int(self.sizes.sum())

    @property
    def none(self) -> bool:
        """Whether no positive was found, and the prior allows that there is none."""
        return not self.found.any() and reaches_edge(self.prior[0])

    @property
    def every(self) -> bool:
        """Whether nothing but positives was found."""
        return bool((self.found == self.judged).all()) and reaches_edge(self.prior[1])

    def part(self, first: int, end: int) -> Strata:
        """Some of the strata."""
        these = slice(first, end)
        sizes, found, judged = self.sizes[these], self.found[these], self.judged[these]
        return Strata(sizes, found, judged, self.prior, self.level)

    def draw(self, n_draws: int, rng: np.random.Generator) -> IntArray:
        """Numbers of positives in all of the strata."""
        m = self.sizes.size
        a, b = (each / m for each in self.prior)
        counted: FloatArray = np.maximum(1 - 2 * (1 - 1 / m) / self.judged, _LEAST_COUNTED)
        above, below = a + counted * self.found, b + counted * (self.judged - self.found)
        if m > _MANY:
            return self._draw_sum(above, below, n_draws, rng)
        share = rng.beta(above, below, size=(n_draws, m))
        return np.asarray((self.found + rng.binomial(self.sizes - self.judged, share)).sum(axis=1))

    def _draw_sum(
        self, above: FloatArray, below: FloatArray, n_draws: int, rng: np.random.Generator
    ) -> IntArray:
        """The sum over many strata at once, from a beta distribution of its mean and variance."""
        left = (self.sizes - self.judged).astype(np.float64)
        weight, share = above + below, above / (above + below)
        rest = float(left.sum())
        mean = float(left @ share)
        variance = float((left * share * (1 - share) * (weight + left) / (weight + 1)).sum())
        found = int(self.found.sum())
        if rest == 0 or not variance > 0:
            return np.full(n_draws, found + round(mean))
        size = max(mean * (rest - mean) / variance - 1, 1e-6)
        drawn = rest * rng.beta(size * mean / rest, size * (1 - mean / rest), size=n_draws)
        return found + np.rint(drawn).astype(np.int64)

    def share(self, positives: IntArray) -> Interval:
        """Share of positives in all of them, from draws if there are several."""
        if self.sizes.size == 1:
            return self.alone()
        edges = self.none, self.every and bool((self.judged < self.sizes).any())
        return _interval(positives / self.size, self.level, edges)

    def alone(self) -> Interval:
        """Share of positives in a single stratum, without draws."""
        k, n, size = (int(each[0]) for each in (self.found, self.judged, self.sizes))
        a, b = self.prior
        a, b = a + k, b + n - k
        mean = (k + (size - n) * a / (a + b)) / size
        ends = finite_ends(k, n, size, (a, b), self.level)
        return credible(mean, ends, self.level, "beta-binomial posterior")


def recall_above(above: Strata, below: Strata, found: IntArray, missed: IntArray) -> Interval:
    """The share of positives that lie above a limit."""
    everything = found + missed
    # No positive anywhere: there is none to be missed.
    recall = np.where(everything > 0, found / np.maximum(everything, 1), 1.0)
    open_above = bool((above.judged < above.sizes).any())
    hidden = bool((below.judged < below.sizes).any())
    nothing_above = above.none and (open_above or bool(below.found.any()))
    nothing_below = below.none and (hidden or bool(above.found.any()))
    return _interval(recall, above.level, (nothing_above, nothing_below))


def _interval(draws: FloatArray, level: float, edges: tuple[bool, bool]) -> Interval:
    """Mean and quantiles of draws, out to the edges where these were never ruled out."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    ends = (0.0 if edges[0] else float(low), 1.0 if edges[1] else float(high))
    return credible(float(draws.mean()), ends, level, "posterior draws")


# -- Audits that look at high scores more closely than at low ones -------------------------------


_FEW = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class StratifiedAudit(Saved, Frozen, Tabular):
    """What a stratified audit tells; strata come from the highest scores to the lowest.

    Attributes
    ----------
    n_unlabeled, n_positive, n_audited : ndarray of shape (n_strata,)
        Size of each stratum, and what the judges found.
    alpha : Interval
        Share of positives among all unlabeled examples.
    shares : tuple of Interval
        Share of positives in each stratum.
    precision, recall : tuple of Interval
        For each limit between two strata, from the highest: the share of positives among the
        unlabeled examples above it, and the share of the unlabeled positives that lie above it.
    n_effective : float
        An audit without strata would have to judge so many of these unlabeled examples for an
        equally certain alpha.
    """

    n_unlabeled: IntArray
    n_positive: IntArray
    n_audited: IntArray
    alpha: Interval
    shares: tuple[Interval, ...]
    precision: tuple[Interval, ...]
    recall: tuple[Interval, ...]
    n_effective: float

    def proportions(self, beta: float = 1.0) -> MixtureProportions:
        """Alpha with a share of positives among the labeled; see :class:`AuditEstimate`."""
        return MixtureProportions(self.alpha.estimate, beta, origin="audit")

    def _columns(self) -> dict[str, Any]:
        return {
            "n_unlabeled": self.n_unlabeled,
            "n_audited": self.n_audited,
            "n_positive": self.n_positive,
            "share": np.array([share.estimate for share in self.shares]),
            "low": np.array([share.low for share in self.shares]),
            "high": np.array([share.high for share in self.shares]),
        }

    def __str__(self) -> str:
        found, judged = int(self.n_positive.sum()), int(self.n_audited.sum())
        lines = [
            f"audit: {found:,} of {judged:,} positive in {len(self.shares)} strata",
            f"alpha {in_words(self.alpha)}",
        ]
        for i, (precision, recall) in enumerate(zip(self.precision, self.recall, strict=True), 1):
            first = "stratum 1" if i == 1 else f"strata 1 to {i}"
            lines += [
                f"above the limit of {first}:",
                f"  precision {in_words(precision)}",
                f"  recall    {in_words(recall)}",
            ]
        return "\n".join(lines)


@public
def stratified_audit(
    n_unlabeled: ArrayLike,
    n_positive: ArrayLike,
    n_audited: ArrayLike,
    *,
    confidence_level: float = 0.95,
    prior: AuditPrior = "jeffreys",
    n_draws: int = 20_000,
    random_state: RandomState = 0,
) -> StratifiedAudit:
    r"""Alpha, and precision and recall above thresholds, from an audit of strata of the score.

    Parameters
    ----------
    n_unlabeled : array-like of shape (n_strata,)
        Number of unlabeled examples in each stratum, from the highest scores to the lowest. The
        threshold lies between two strata.
    n_positive, n_audited : array-like of shape (n_strata,)
        How many of each stratum turned out positive, and how many were judged; at least one.
    confidence_level : float, default=0.95
        Probability of each interval.
    prior : {"jeffreys", "uniform"} or tuple of two floats, default="jeffreys"
        Prior of the share of positives; see :func:`alpha_from_audit`. Where an interval adds up
        several strata they have equal parts of it.
    n_draws : int, default=20000
        Draws from the posterior.
    random_state : int, numpy.random.Generator or None, default=0
        Where randomness comes from.

    Returns
    -------
    StratifiedAudit
        Intervals of alpha, of the share in each stratum, and of precision and recall at each
        limit between strata.

    See Also
    --------
    plan_strata : How many examples to judge in each stratum.
    alpha_from_audit : Without strata.

    Notes
    -----
    In stratum h the posterior of the share is beta, and the positives among the
    :math:`N_h - n_h` that nobody judged are binomial given the share, which makes a draw of the
    number :math:`P_h` of positives. Then :math:`\alpha = \sum_h P_h/N`; above the limit of the
    first j strata precision is :math:`\sum_{h \le j} P_h / \sum_{h \le j} N_h` and recall
    :math:`\sum_{h \le j} P_h / \sum_h P_h`. All speak of the unlabeled examples there are.

    A prior that counts like one judged example in each of many strata would find positives where
    there are none: with 20 strata of 5 judged examples each it makes alpha larger by .06. So the
    m strata that a number adds up share one prior, :math:`Beta(a/m, b/m)` each. Sums over strata
    with few answers would then be taken for more certain than they are, as
    :math:`\hat p(1-\hat p)` underrates :math:`p(1-p)` by :math:`1/n_h`; in m strata k of n
    therefore count as :math:`ck` of :math:`cn`, with :math:`cn = n - 2(1 - 1/m)`. One stratum is
    what :func:`alpha_from_audit` makes of it. Sums over more than eight strata are drawn from a
    beta distribution of their mean and variance.

    As in :func:`alpha_from_audit`, an interval reaches 0 (1) where no positive (no negative) was
    found in the strata it speaks of; recall reaches 1 where none was found below the limit.

    Simulated over many designs, intervals of 95 % hold alpha 94 %, precision 95 % and recall 97 %
    of the time; least where shares fall steeply inside strata of few answers: alpha 90 % with 2
    strata of 50 or 5 of 20, down to 81 % with 10 strata of 10 and a very steep fall.

    Judges must be right, and the examples of each stratum a random sample of it. A large stratum
    with few judged examples may hide many positives even if none was found, so that recall stays
    uncertain until enough of the low scores are judged. A warning names strata with fewer than 5.

    References
    ----------
    Cochran (1977), "Sampling techniques", chapter 5.

    Examples
    --------
    >>> import purecover as pu
    >>> audit = pu.audit.stratified_audit([500, 9500], n_positive=[80, 3], n_audited=[100, 200])
    >>> round(audit.precision[0].estimate, 2), round(audit.alpha.estimate, 3)
    (0.8, 0.055)
    """
    sizes = _whole_numbers("n_unlabeled", n_unlabeled, low=1)
    found = _whole_numbers("n_positive", n_positive, low=0, like=sizes)
    judged = _whole_numbers("n_audited", n_audited, low=1, like=sizes)
    for few, many, parameter, other in (
        (judged, sizes, "n_audited", "n_unlabeled"),
        (found, judged, "n_positive", "n_audited"),
    ):
        if (few > many).any():
            h = int(np.argmax(few > many))
            raise bad_value(
                parameter, f"at most {other}", f"{few[h]} of {many[h]} in stratum {h + 1}"
            )
    level = check_level(confidence_level)
    a, b = check_prior(prior)
    n_draws = check_integer("n_draws", n_draws, low=100, high=10**7)
    rng = check_random_state(random_state)
    _warn_of_few(judged, sizes)
    group = Strata(sizes, found, judged, (a, b), level)
    limits = range(1, sizes.size)
    totals = [(group.part(0, j), group.part(j, sizes.size)) for j in limits]
    drawn = [(above.draw(n_draws, rng), below.draw(n_draws, rng)) for above, below in totals]
    everything = group.draw(n_draws, rng)
    spread, mean = float((everything / group.size).var()), float(everything.mean() / group.size)
    share_of_one = spread / (mean * (1 - mean)) if spread > 0 else 0.0
    return StratifiedAudit(
        n_unlabeled=sizes,
        n_positive=found,
        n_audited=judged,
        alpha=group.share(everything),
        shares=tuple(group.part(h, h + 1).alone() for h in range(sizes.size)),
        precision=tuple(
            above.share(draws) for (above, _), (draws, _) in zip(totals, drawn, strict=True)
        ),
        recall=tuple(
            recall_above(*parts, *draws) for parts, draws in zip(totals, drawn, strict=True)
        ),
        # The variance of a plain audit of n of N is mean * (1 - mean) * (1/n - 1/N).
        n_effective=1 / (share_of_one + 1 / group.size),
    )


def _warn_of_few(judged: IntArray, sizes: IntArray) -> None:
    """Say where the answers are too few for their spread to be known."""
    few = np.flatnonzero((judged < _FEW) & (judged < sizes))
    if sizes.size > 1 and few.size:
        h = int(few[np.argmin(judged[few])])
        more = "" if few.size == 1 else f" ({few.size} strata have fewer than {_FEW})"
        warn(
            f"The audit has {judged[h]} judged of {sizes[h]:,} examples in stratum {h + 1}{more}: "
            "the intervals rest on the prior there, and may be too narrow.\n"
            f"Hint: judge at least {_FEW} of each stratum, or join neighboring strata",
            RecoveryWarning,
        )


@public
def plan_strata(
    n_unlabeled: ArrayLike,
    n_items: int,
    *,
    shares: ArrayLike | None = None,
    least: int = 5,
) -> IntArray:
    r"""How to spread an audit over strata, for the most certain alpha.

    Parameters
    ----------
    n_unlabeled : array-like of shape (n_strata,)
        Number of unlabeled examples in each stratum.
    n_items : int
        How many can be judged in all.
    shares : array-like of shape (n_strata,), optional
        A guess of the share of positives in each stratum; without one, each stratum gets its
        part of all examples.
    least : int, default=5
        Judge so many in each stratum at least, or all of it: a guess may be wrong.

    Returns
    -------
    ndarray of shape (n_strata,)
        How many to judge in each stratum.

    See Also
    --------
    stratified_audit : What the answers tell.
    plan_audit : How many in all, for an audit without strata.

    Notes
    -----
    Neyman's allocation, :math:`n_h \propto N_h \sqrt{p_h(1-p_h)}`: more where there are more
    examples and where their class is less certain. It makes alpha most certain. Whoever wants
    the precision above a threshold judges more there than this says.

    References
    ----------
    Neyman (1934), "On the two different aspects of the representative method", Journal of the
    Royal Statistical Society 97.

    Examples
    --------
    >>> import purecover as pu
    >>> pu.audit.plan_strata([500, 1500, 8000], 300, shares=[0.9, 0.5, 0.02]).tolist()
    [22, 112, 166]
    """
    sizes = _whole_numbers("n_unlabeled", n_unlabeled, low=1)
    n_items = check_integer("n_items", n_items, low=1, high=MOST_ITEMS)
    floor = np.minimum(sizes, check_integer("least", least, low=1, high=MOST_ITEMS))
    if not floor.sum() <= n_items <= sizes.sum():
        raise bad_value(
            "n_items",
            f"from {floor.sum()} (least in each stratum) to {sizes.sum()} (all examples)",
            str(n_items),
        )
    weight = sizes.astype(np.float64)
    if shares is not None:
        guess = as_real_vector("shares", shares)
        if guess.size != sizes.size:
            raise bad_value("shares", f"of {sizes.size} strata", f"{guess.size} values")
        if guess.min() < 0 or guess.max() > 1:
            raise bad_value("shares", "in [0, 1]", show(guess.tolist()))
        weight *= np.sqrt(guess * (1 - guess))
    if not weight.any():
        weight = sizes.astype(np.float64)
    return _spread(n_items, weight, floor, sizes)


def spread_evenly(n_items: int, sizes: IntArray) -> IntArray:
    """As many of each stratum, as far as it has them."""
    return _spread(n_items, np.ones(sizes.size), np.zeros_like(sizes), sizes)


def _spread(n_items: int, weight: FloatArray, floor: IntArray, ceiling: IntArray) -> IntArray:
    """Whole numbers in proportion to weights, within limits, that sum to n_items."""
    # The factor of proportion, by bisection: the sum rises with it.
    low, high = 0.0, float(n_items * ceiling.max() / weight[weight > 0].min())
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(middle * weight, floor, ceiling).sum() < n_items:
            low = middle
        else:
            high = middle
    exact = np.clip(high * weight, floor, ceiling)
    parts = np.floor(exact + 1e-9).astype(np.int64)
    # Rounding leaves a few; strata without any weight take what the others cannot.
    while (left := n_items - int(parts.sum())) > 0:
        room = np.flatnonzero(parts < ceiling)
        order = room[np.argsort(-(exact - parts)[room], kind="stable")][:left]
        parts[order] += 1
    return parts


def _whole_numbers(
    parameter: str, values: ArrayLike, *, low: int, like: IntArray | None = None
) -> IntArray:
    """A vector of counts, one for each stratum."""
    numbers = as_real_vector(parameter, values)
    if like is not None and numbers.size != like.size:
        raise bad_value(
            parameter, f"of {like.size} strata, as n_unlabeled is", f"{numbers.size} values"
        )
    wrong = (numbers < low) | (numbers > MOST_ITEMS) | (numbers != np.floor(numbers))
    if wrong.any():
        must = f"whole numbers of at least {low}"
        raise bad_value(parameter, must, f"{numbers[np.argmax(wrong)]:g}")
    return numbers.astype(np.int64)


def strata_of(scores: FloatArray, thresholds: Sequence[float]) -> IntArray:
    """The stratum of each score, 0 for the highest; a score at a threshold lies above it."""
    falling = np.sort(np.asarray(thresholds, dtype=np.float64))
    return np.asarray(falling.size - np.searchsorted(falling, scores, side="right"))
