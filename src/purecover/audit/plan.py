"""How many examples to audit, for an interval of alpha that is narrow enough.

The width of the interval depends on how many turn out positive, so that no number can promise it
for sure. The promise is a probability: at most this wide, with this assurance, whatever alpha is
within the range that is thought possible.

Intervals then end at whole numbers of examples, and so their widths go up and down from one k to
the next. Among few examples each k and each number of positives is looked at; among many, widths
are taken as continuous and the promise is made for a width that is narrower by a few examples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import public
from purecover.audit import posterior
from purecover.audit.top import QUICK, Answers, Cut, TopAudit, draw, top_cut
from purecover.counts import ScoreCounts, check_counts
from purecover.exceptions import IdentifiabilityError
from purecover.intervals.interval import Interval, check_level
from purecover.proportions import MixtureProportions, percent_hint

MOST_ENUMERATED = 2000
"""Among more unlabeled examples the smallest number is approached from above."""

MARGIN = 3
"""Continuous widths differ from those in whole examples by fewer examples than this."""

_FAR = 8.0  # standard deviations, beyond which nothing is left
_MOST_SUMMED = 100.0  # standard deviation up to which probabilities are summed one by one
_CHUNK = 4_000_000


def continuous_widths(
    k: IntArray, n: IntArray, n_unlabeled: int, prior: tuple[float, float], level: float
) -> FloatArray:
    """Widths of intervals that need not end at whole numbers of examples."""
    a, b = prior
    rest = n_unlabeled - n
    low, high = posterior.nearly_beta_binomial(
        np.maximum(rest, 1), a + k, b + n - k, (1 - level) / 2
    )
    low = np.where((k == 0) & posterior.reaches_edge(a), 0.0, low)
    high = np.where((k == n) & posterior.reaches_edge(b), rest, high)
    mean = rest * (a + k) / (a + b + n)
    low, high = np.minimum(low, mean), np.maximum(high, mean)
    return np.asarray(np.where(rest > 0, high - low, 0.0) / n_unlabeled)


def between(
    low: IntArray, high: IntArray, n: IntArray, n_unlabeled: int, positives: IntArray
) -> FloatArray:
    """Probability that n of N examples hold from low to high positives."""
    from scipy.special import ndtr

    share = positives / n_unlabeled
    mean = n * share
    spread = np.sqrt(mean * (1 - share) * (n_unlabeled - n) / max(n_unlabeled - 1, 1))
    with np.errstate(divide="ignore"):
        ends = [(end - mean) / spread for end in (low - 0.5, high + 0.5)]
    found = np.asarray(ndtr(ends[1]) - ndtr(ends[0]))
    few = np.flatnonzero(spread <= _MOST_SUMMED)
    if few.size:
        half = int(_FAR * spread[few].max()) + 3
        k = np.rint(mean[few]).astype(np.int64)[:, None] + np.arange(-half, half + 1)
        inside = (k >= low[few, None]) & (k <= high[few, None])
        odds = _hypergeometric(k, n[few, None], n_unlabeled, positives[few, None])
        found[few] = (odds * inside).sum(axis=1)
    return np.where(high >= low, found, 0.0)


def _hypergeometric(
    k: IntArray, n: IntArray, n_unlabeled: int, positives: IntArray, table: FloatArray | None = None
) -> FloatArray:
    """Probabilities of k positives in n of N examples; `table` has logarithms of factorials."""
    from scipy.special import gammaln

    parts = k, positives - k, n - k, n_unlabeled - positives - (n - k)
    possible = np.logical_and.reduce([part >= 0 for part in parts])
    log = np.zeros(possible.shape)
    for part in (positives, n_unlabeled - positives, n, n_unlabeled - n):
        log = log + (gammaln(part + 1.0) if table is None else table[part])
    for part in parts:
        some = part.clip(0, n_unlabeled)
        log = log - (gammaln(some + 1.0) if table is None else table[some])
    log = log - (gammaln(n_unlabeled + 1.0) if table is None else table[n_unlabeled])
    return np.where(possible, np.exp(np.minimum(log, 0)), 0.0)


_NARROWEST = 1e-4
_AHEAD = 200
"""So many larger numbers must keep the promise too: it comes and goes as k steps through whole
numbers."""


@dataclass(frozen=True, kw_only=True)
class AuditPlan(Saved):
    """How many examples to audit, and what that promises.

    Attributes
    ----------
    n_items : int
        Number of random unlabeled examples to judge; of those above `cut` if there is one.
    width, confidence_level, assurance : float
        The promise: the interval of alpha at this level is at most as wide, with at least this
        probability.
    alpha_range : tuple of float
        Where alpha was taken to lie.
    hardest_alpha : float
        The alpha within it for which the promise is tightest.
    probability : float
        Probability of an interval at most as wide if alpha is the hardest one; at least that,
        where `n_unlabeled` is above 2000.
    n_unlabeled : int or None
        Number of unlabeled examples there are (above `cut`, if there is one), if that was taken
        into account.
    cut : float or None
        The lowest score to be judged, where the design is ``"top"``.
    n_labeled_items : int
        Number of random labeled examples to judge beside them.
    """

    n_items: int
    width: float
    confidence_level: float
    assurance: float
    alpha_range: tuple[float, float]
    hardest_alpha: float
    probability: float
    n_unlabeled: int | None = None
    cut: float | None = None
    n_labeled_items: int = 0

    def __str__(self) -> str:
        low, high = self.alpha_range
        where = f"alpha = {low:g}" if low == high else f"any alpha from {low:.4g} to {high:.4g}"
        of = "" if self.n_unlabeled is None else f" of {self.n_unlabeled:,}"
        above = "" if self.cut is None else f" with score >= {self.cut:g}"
        if self.n_labeled_items:
            above += f", and {self.n_labeled_items:,} random labeled examples"
        return (
            f"judge {self.n_items:,}{of} random unlabeled examples{above}\n"
            f"the {100 * self.confidence_level:g} % interval of alpha is then at most "
            f"{self.width:g} wide with a probability of at least {self.assurance:g}, for {where}"
        )


@public
def plan_audit(
    *,
    width: float,
    confidence_level: float = 0.95,
    alpha_guess: Any = None,
    assurance: float = 0.9,
    prior: posterior.AuditPrior = "jeffreys",
    n_unlabeled: int | None = None,
    design: Literal["random", "top"] = "random",
    counts: ScoreCounts | None = None,
    beta: float = 1.0,
) -> AuditPlan:
    r"""How many unlabeled examples to judge by hand for an interval of alpha this wide.

    Parameters
    ----------
    width : float
        How wide the interval of :func:`alpha_from_audit` may be, from its low to its high end.
    confidence_level : float, default=0.95
        Its level.
    alpha_guess : optional
        Where alpha may lie: a number, a pair of numbers, an :class:`Interval`, a pilot audit, a
        fitted estimator, or the ``estimation`` of a report; of the last four the interval of
        alpha counts. By default anywhere in [0, 1], which is the safe choice: alpha near 1/2
        needs the most examples.
    assurance : float, default=0.9
        Probability with which the interval is at most so wide.
    prior : {"jeffreys", "uniform"} or tuple of two floats, default="jeffreys"
        The prior that :func:`alpha_from_audit` is going to use.
    n_unlabeled : int, optional
        Number of all unlabeled examples, if alpha of these very examples is wanted; fewer are
        to be judged then.
    design : {"random", "top"}, default="random"
        Whether all unlabeled examples are judged alike, or those with high scores alone; the
        second needs fewer, and labels that were given at random among the positives.
    counts : ScoreCounts, optional
        The counted scores; the design ``"top"`` needs them.
    beta : float, default=1.0
        Share of positives among the labeled, for the design ``"top"``: below 1, as many labeled
        examples are to be judged as unlabeled ones.

    Returns
    -------
    AuditPlan
        The number, and the promise in words when printed.

    See Also
    --------
    alpha_from_audit, top_audit : The interval that is promised.
    plan_strata : How to spread the examples over strata.

    Notes
    -----
    The smallest n such that, for every :math:`\alpha` in the range and
    :math:`k \sim Bin(n, \alpha)`, the interval from k of n is at most so wide with the given
    assurance; and such that the next larger numbers promise it too, which is not a matter of
    course, as k moves in whole steps. Too wide are the intervals of k between two limits, whose
    probability is largest at one alpha and falls to both sides of it, so that one alpha need be
    looked at. Roughly :math:`n \approx (2 z/w)^2 \alpha(1-\alpha)`.

    With `n_unlabeled` = N, k is hypergeometric, and the intervals end at whole numbers of
    examples, so that their widths go up and down with k. Up to N = 2000 each k is looked at with
    each number of positives in the range, and n is the smallest that keeps the promise together
    with all larger ones. Above, the plan takes widths as continuous and promises one that is
    3/N narrower, so that n may be a little larger than it need be, never smaller.

    The design ``"top"`` judges above the highest score that 70 % of the labeled examples reach, and
    promises the interval of :func:`top_audit`. Its widths come from draws of the posterior, so
    that n may be off by a few in a hundred. It cannot be narrower than the shares of labeled and
    unlabeled examples above the cut are certain.

    A wrong guess breaks the promise: an alpha nearer to 1/2 than guessed gives a wider interval.
    The interval itself remains right.

    Examples
    --------
    >>> import purecover as pu
    >>> pu.audit.plan_audit(width=0.1).n_items
    382
    >>> sample = pu.simulate.binormal(2.0).sample(1000, 5000, alpha=0.3, random_state=0)
    >>> pu.audit.plan_audit(width=0.1, design="top", counts=sample.counts).n_items < 100
    True
    >>> print(pu.audit.plan_audit(width=0.1, alpha_guess=(0.05, 0.2)))
    judge 272 random unlabeled examples
    the 95 % interval of alpha is then at most 0.1 wide with a probability of at least 0.9, for
    any alpha from 0.05 to 0.2
    """
    hint = "0.1 means an interval such as 0.2 to 0.3"
    width = valid.check_real("width", width, low=_NARROWEST, high=1, closed="left", hint=hint)
    level = check_level(confidence_level)
    assurance = valid.check_real("assurance", assurance, low=0, high=1, closed="neither")
    shapes = posterior.check_prior(prior)
    beta = valid.check_real("beta", beta, low=0, high=1, closed="right")
    if valid.check_choice("design", design, ("random", "top")) == "top":
        if counts is None:
            hint = "ScoreCounts.from_scores(scores, labeled)"
            raise valid.bad_type("counts", 'given for the design "top"', counts, hint)
        check_counts(counts)
        if n_unlabeled is not None:
            raise valid.bad_value("n_unlabeled", "left out", str(n_unlabeled), "counts tell it")
        return _plan_top(counts, width, level, assurance, shapes, guessed_range(alpha_guess), beta)
    if counts is not None:
        raise valid.bad_value("counts", "left out", "counts", 'the design "top" needs them')
    kind: type[_Search] = _Search
    if n_unlabeled is not None:
        n_unlabeled = valid.check_integer(
            "n_unlabeled", n_unlabeled, low=1, high=posterior.MOST_ITEMS
        )
        if n_unlabeled <= MOST_ENUMERATED:
            kind = _Enumeration
    search = kind(width, level, shapes, guessed_range(alpha_guess), n_unlabeled)
    n_items = search.smallest(assurance)
    promised, alpha = search.promise(n_items)
    return AuditPlan(
        n_items=n_items,
        width=width,
        confidence_level=level,
        assurance=assurance,
        alpha_range=search.alphas,
        hardest_alpha=alpha,
        probability=promised,
        n_unlabeled=n_unlabeled,
    )


@dataclass(frozen=True)
class _Search:
    """Numbers of examples, and how likely each of them is to do."""

    width: float
    level: float
    prior: tuple[float, float]
    alphas: tuple[float, float]
    n_unlabeled: int | None

    @property
    def positives(self) -> tuple[int, int]:
        """The least and the most positives among a finite number of unlabeled examples."""
        size = self.n_unlabeled or 0
        low, high = self.alphas
        least, most = int(np.ceil(low * size - 1e-9)), int(np.floor(high * size + 1e-9))
        if least > most:  # no whole number in between
            least = most = round((low + high) / 2 * size)
        return least, most

    def smallest(self, assurance: float) -> int:
        """The smallest number from which on the promise holds."""
        limit = self.n_unlabeled or posterior.MOST_ITEMS
        most = _first(lambda n: self._promises(np.array([n]))[0][0] >= assurance, 1, limit)
        while True:
            ahead = np.arange(most, min(most + _AHEAD, limit) + 1)
            broken = np.flatnonzero(self._promises(ahead)[0] < assurance)
            if not broken.size:
                return most
            most = int(ahead[broken[-1]]) + 1

    def promise(self, n: int) -> tuple[float, float]:
        """Probability that the interval is narrow enough at the hardest alpha, and that alpha."""
        (probability,), (alpha,) = self._promises(np.array([n]))
        return float(probability), float(alpha)

    def _promises(self, n: IntArray) -> tuple[FloatArray, FloatArray]:
        low, high, none, every = self._too_wide(n)
        peak = np.clip(_likeliest(low, high, n), *self.alphas)
        if not (none | every).any():
            hardest = self._possible(peak)
            return 1 - self._probability(low, high, n, hardest), hardest
        # None or all positive makes the widest interval where levels are low: the hardest alpha
        # is one end of the range, or lies between it and the peak of the others.
        steps = np.linspace(0, 1, 65)[:, None]
        ends = (np.full_like(peak, end) for end in self.alphas)
        tries = self._possible(np.concatenate([end + (peak - end) * steps for end in ends]))
        zero = np.zeros_like(n)
        lost = np.array(
            [
                self._probability(low, high, n, alpha)
                + self._probability(zero, np.where(none, 0, -1), n, alpha)
                + self._probability(n, np.where(every, n, n - 1), n, alpha)
                for alpha in tries
            ]
        )
        worst = lost.argmax(axis=0), np.arange(n.size)
        return 1 - lost[worst], tries[worst]

    def _possible(self, alpha: FloatArray) -> FloatArray:
        """The nearest alpha that a finite number of examples can have."""
        if self.n_unlabeled is None:
            return alpha
        least, most = self.positives
        return np.asarray(np.rint(alpha * self.n_unlabeled).clip(least, most) / self.n_unlabeled)

    def _too_wide(self, n: IntArray) -> tuple[IntArray, IntArray, BoolArray, BoolArray]:
        """The first and the last k whose interval is too wide, with first > last if none is.

        And whether k = 0 and k = n, whose intervals are stretched, are too wide beside these.
        """
        a, b = self.prior
        # Widths rise up to about here and fall after it, from k = 1 to k = n - 1.
        least, most = np.minimum(1, n), np.maximum(n - 1, 0)
        peak = np.clip(np.rint((n + a + b) / 2 - a).astype(np.int64), least, most)
        wide = self._is_wide(peak, n) & (n > 1)
        first = _bisect(least - 1, peak, lambda k: self._is_wide(k, n))
        last = _bisect(most + 1, peak, lambda k: self._is_wide(k, n))
        first, last = np.where(wide, first, 1), np.where(wide, last, 0)
        none, every = self._is_wide(np.zeros_like(n), n), self._is_wide(n, n)
        first = np.where(wide & none & (first == 1), 0, first)
        last = np.where(wide & every & (last == n - 1), n, last)
        return first, last, none & (first > 0), every & (last < n)

    def _is_wide(self, k: IntArray, n: IntArray) -> BoolArray:
        k = np.clip(k, 0, n)
        if self.n_unlabeled is None:
            low, high = posterior.beta_ends(k, n, self.prior, self.level)
            return np.asarray(high - low > self.width)
        widths = continuous_widths(k, n, self.n_unlabeled, self.prior, self.level)
        # All of them judged leave nothing open, whatever the margin.
        return np.asarray(
            (widths > self.width - MARGIN / self.n_unlabeled) & (n < self.n_unlabeled)
        )

    def _probability(
        self, low: IntArray, high: IntArray, n: IntArray, alpha: FloatArray
    ) -> FloatArray:
        """Of a number of positives between two limits."""
        if self.n_unlabeled is not None:
            positives = np.rint(alpha * self.n_unlabeled).astype(np.int64)
            return between(low, high, n, self.n_unlabeled, positives)
        from scipy.special import bdtr

        below = np.where(low > 0, bdtr(np.maximum(low - 1, 0), n, alpha), 0.0)
        up_to = bdtr(np.maximum(high, 0), n, alpha)
        return np.where(high >= low, up_to - below, 0.0)


def _first(keeps: Callable[[int], bool], enough: int, most: int) -> int:
    """The first number that keeps a promise, by doubling and bisection; the most if none does."""
    least = 0
    while not keeps(enough):
        if enough == most:
            return most
        least, enough = enough, min(2 * enough, most)
    while enough - least > 1:
        middle = (least + enough) // 2
        if keeps(middle):
            enough = middle
        else:
            least = middle
    return enough


def _bisect(narrow: IntArray, wide: IntArray, is_wide: Any) -> IntArray:
    """The wide k nearest to the narrow ones."""
    while (moving := np.abs(wide - narrow) > 1).any():
        middle = (narrow + wide) // 2
        found = is_wide(middle)
        wide = np.where(moving & found, middle, wide)
        narrow = np.where(moving & ~found, middle, narrow)
    return wide


def _likeliest(low: IntArray, high: IntArray, n: IntArray) -> FloatArray:
    r"""The alpha that makes a k from low to high most probable.

    The derivative of that probability is n times the difference of two binomial probabilities,
    of low - 1 and of high successes in n - 1 trials, which are equal at one alpha only.
    """
    from scipy.special import gammaln

    before, size = np.maximum(low - 1, 0), np.maximum(high - low + 1, 1)
    after = np.clip(high, 0, n - 1)
    log_odds = (
        gammaln(after + 1) + gammaln(n - after) - gammaln(before + 1) - gammaln(n - before)
    ) / size
    inside = 1 / (1 + np.exp(-log_odds))
    return np.asarray(np.where(low <= 0, 0.0, np.where(high >= n, 1.0, inside)))


@dataclass(frozen=True)
class _Enumeration(_Search):
    """Each k and each number of positives, for one number N of unlabeled examples."""

    n_unlabeled: int

    @cached_property
    def _tables(self) -> list[FloatArray]:
        """Logarithms of factorials, and of what the prior makes of them."""
        from scipy.special import gammaln

        whole = np.arange(self.n_unlabeled + 1, dtype=np.float64)
        return [gammaln(shift + whole) for shift in (1.0, *self.prior)]

    def smallest(self, assurance: float) -> int:
        """The smallest number that keeps the promise, as every larger one does."""
        enough = super().smallest(assurance)
        while enough < self.n_unlabeled and self.promise(enough)[0] < assurance:
            enough += 1
        while enough > 1 and self.promise(enough - 1)[0] >= assurance:
            enough -= 1
        return enough

    def promise(self, n: int) -> tuple[float, float]:
        """Probability that the interval is narrow enough at the hardest alpha, and that alpha."""
        first, last = self.positives
        wide = self._wide_outcomes(n)
        if not wide.any():
            return 1.0, (first + last) / 2 / self.n_unlabeled
        # The probability changes smoothly with the number of positives: look at some, then at
        # all those near the hardest of them.
        spread = np.sqrt(self.n_unlabeled * (self.n_unlabeled - n) / n) / 2
        steps = int(np.ceil(np.pi * self.n_unlabeled / max(spread, 1)))
        angle = np.arcsin(np.sqrt(np.array([first, last]) / self.n_unlabeled))
        some = self.n_unlabeled * np.sin(np.linspace(angle[0], angle[1], 4 * steps)) ** 2
        at = np.unique(np.rint(some).astype(np.int64).clip(first, last))
        if at.size < last - first + 1:
            found = self._lost(wide, n, at)
            near = np.argsort(-found)[:3]
            lower, upper = at[np.maximum(near - 1, 0)], at[np.minimum(near + 1, at.size - 1)]
            ranges = [np.arange(*ends) for ends in zip(lower, upper + 1, strict=True)]
            at = np.unique(np.concatenate(ranges))
        found = self._lost(wide, n, at)
        hardest = int(np.argmax(found))
        return float(1 - found[hardest]), float(at[hardest] / self.n_unlabeled)

    def _wide_outcomes(self, n: int) -> BoolArray:
        """Whether the interval is too wide, for each k from 0 to n that can come out."""
        k, rest = np.arange(n + 1), self.n_unlabeled - n
        slack = (MARGIN + 1) / self.n_unlabeled
        widths = continuous_widths(k, np.full_like(k, n), self.n_unlabeled, self.prior, self.level)
        wide = widths > self.width
        if rest == 0:
            return np.asarray(wide)
        likely = np.array(self.positives) / self.n_unlabeled
        spread = np.sqrt(n * likely * (1 - likely) * rest / self.n_unlabeled)
        least, most = n * likely + (_FAR * spread + 6) * [-1, 1]
        doubtful = (np.abs(widths - self.width) <= slack) & (k >= least) & (k <= most)
        doubtful = np.flatnonzero(doubtful)
        for part in np.array_split(doubtful, doubtful.size * (rest + 1) // _CHUNK + 1):
            wide[part] = self._exact_widths(part, n) > self.width
        return np.asarray(wide)

    def _exact_widths(self, k: IntArray, n: int) -> FloatArray:
        ways, up, down = self._tables
        a, b = self.prior
        rest = self.n_unlabeled - n
        m, k = np.arange(rest + 1), k[:, None]
        log = up[k + m] + down[n - k + (rest - m)] - (ways[m] + ways[rest - m])
        least, most = posterior.whole_ends(log, (1 - self.level) / 2)
        k = k[:, 0]
        least = np.where((k == 0) & posterior.reaches_edge(a), 0, least)
        most = np.where((k == n) & posterior.reaches_edge(b), rest, most)
        # As alpha_from_audit does, to the last digit: widths are compared.
        above, below = a + k, b + n - k
        mean = (k + rest * above / (above + below)) / self.n_unlabeled
        low, high = (k + least) / self.n_unlabeled, (k + most) / self.n_unlabeled
        return np.asarray(np.maximum(high, mean) - np.minimum(low, mean))

    def _lost(self, wide: BoolArray, n: int, positives: IntArray) -> FloatArray:
        """Probability of an interval that is too wide, for each number of positives."""
        share = positives / self.n_unlabeled
        spread = np.sqrt(n * share * (1 - share) * (1 - n / self.n_unlabeled))
        half = int(_FAR * spread.max()) + 4
        k = np.rint(n * share).astype(np.int64)[:, None] + np.arange(-half, half + 1)
        chosen = wide[k.clip(0, n)] & (k >= 0) & (k <= n)
        some = chosen.any(axis=1)
        found = np.zeros(positives.size)
        ways = self._tables[0]
        at = positives[some][:, None]
        odds = _hypergeometric(k[some], np.array(n), self.n_unlabeled, at, ways)
        found[some] = (odds * chosen[some]).sum(axis=1)
        return found


_OUTCOMES = np.linspace(-3, 3, 7)
"""Standard deviations from the mean, at which widths are looked at; in between they are linear."""


def _plan_top(
    counts: ScoreCounts,
    width: float,
    level: float,
    assurance: float,
    prior: tuple[float, float],
    guess: tuple[float, float],
    beta: float,
) -> AuditPlan:
    """The smallest number above the cut that keeps the promise."""
    cut = top_cut(counts)
    at = Cut.of(counts, cut)
    f_l, f_u = at.shares
    most = at.unlabeled[0]
    # No more positives above the cut than there are examples: F0 = beta F_U - alpha F_L >= 0.
    low, high = (min(end, beta * f_u / max(f_l, 1e-12)) for end in guess)
    alphas = low, min(high, beta - 1e-6)
    if not 0 <= alphas[0] <= alphas[1] or most == 0:
        raise IdentifiabilityError(
            f"{{function}} finds no cut that tells positives: {f_l:.3g} of the labeled and "
            f"{f_u:.3g} of the unlabeled examples have score >= {cut:.4g}"
        )

    def kept(alpha: float, n: int) -> float:
        """Probability of an interval at most so wide."""
        answers = Answers.expected(at, MixtureProportions(alpha, beta), n, n if beta < 1 else 0)
        share = answers.positive / n
        spread = np.sqrt(n * share * (1 - share) * max(most - n, 0) / max(most - 1, 1))
        ks = np.unique(np.clip(np.rint(answers.positive + spread * _OUTCOMES), 0, n))
        tails = [(1 - level) / 2, (1 + level) / 2]
        widths = []
        for k in ks.tolist():
            rng = np.random.default_rng(0)
            found = draw(at, answers._replace(positive=k), prior, 1.0, QUICK, rng)
            widths.append(1.0 if found is None else float(np.ptp(np.quantile(found.alpha, tails))))
        k = np.arange(ks[0], ks[-1] + 1).astype(np.int64)
        odds = _hypergeometric(k, np.array(n), most, np.array(round(most * share)))
        narrow = np.interp(k, ks, widths) <= width
        return float((odds * narrow).sum() / odds.sum())

    def promise(n: int) -> tuple[float, float]:
        purest = max(alphas[1], 1e-9)
        steps = np.linspace(min(0.5 * f_u / f_l, purest), purest, 4)
        tries = np.unique(np.clip(steps, *alphas))
        found = [kept(alpha, n) for alpha in tries]
        hardest = int(np.argmin(found))
        return found[hardest], float(tries[hardest])

    enough = _first(lambda n: promise(n)[0] >= assurance, min(8, most), most)
    probability, hardest = promise(enough)
    if probability < assurance:
        raise IdentifiabilityError(
            f"{{function}} cannot promise a width of {width:g} by judging high scores alone, "
            f"even all {most:,} of them: {sum(at.labeled):,} labeled examples do not tell the "
            "share of positives above the cut better.\n"
            'Hint: a larger width, or design="random"'
        )
    return AuditPlan(
        n_items=enough,
        width=width,
        confidence_level=level,
        assurance=assurance,
        alpha_range=alphas,
        hardest_alpha=hardest,
        probability=probability,
        n_unlabeled=most,
        cut=cut,
        n_labeled_items=sum(at.spread(enough)) if beta < 1 else 0,
    )


def guessed_range(guess: Any) -> tuple[float, float]:
    """The range of alpha that a guess means."""
    if guess is None:
        return 0.0, 1.0
    if isinstance(guess, (posterior.AuditEstimate, TopAudit, MixtureProportions)):
        guess = guess.alpha
    elif hasattr(guess, "proportions_"):  # a fitted estimator
        guess = guess.interval_["alpha"]
    elif hasattr(guess, "proportions") and isinstance(getattr(guess, "intervals", None), Mapping):
        guess = guess.intervals.get("alpha", guess.proportions.alpha)
    if isinstance(guess, Interval):
        return guess.low, guess.high
    pair = isinstance(guess, (Sequence, np.ndarray)) and not isinstance(guess, (str, bytes))
    if not pair:
        try:
            alpha = _share(guess)
        except TypeError:
            must = "None, a number, a pair, an interval or an estimate of alpha"
            hint = "fit the estimator first" if hasattr(guess, "fit") else percent_hint(guess)
            raise valid.bad_type("alpha_guess", must, guess, hint) from None
        return alpha, alpha
    if len(guess) != 2:
        raise valid.bad_value("alpha_guess", "a number or two", f"{len(guess)} values")
    low, high = (_share(each) for each in guess)
    if low > high:
        raise valid.bad_value("alpha_guess", "in rising order", valid.show(guess))
    return low, high


def _share(value: object) -> float:
    return valid.check_real("alpha_guess", value, low=0, high=1, hint=percent_hint(value))
