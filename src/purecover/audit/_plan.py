r"""How many examples to audit, for an interval of alpha that is narrow enough.

The width of the interval depends on how many turn out positive, so that no number can promise it
for sure. The promise is a probability: at most this wide, with this assurance, whatever alpha is
within the range that is thought possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import bad_type, bad_value, check_integer, check_real, show
from purecover.audit._plan_finite import (
    MARGIN,
    MOST_ENUMERATED,
    Enumeration,
    between,
    continuous_widths,
)
from purecover.audit._posterior import (
    MOST_ITEMS,
    AuditEstimate,
    AuditPrior,
    beta_ends,
    check_prior,
)
from purecover.exceptions import InvalidInputError
from purecover.intervals._interval import Interval, check_level
from purecover.proportions import MixtureProportions, percent_hint

__all__ = ["AuditPlan", "plan_audit"]

_NARROWEST = 1e-4
_AHEAD = 200
"""So many larger numbers must keep the promise too: it comes and goes as k steps through whole
numbers."""


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """How many examples to audit, and what that promises.

    Attributes
    ----------
    n_items : int
        Number of random unlabeled examples to judge.
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
        Number of unlabeled examples there are, if that was taken into account.
    """

    n_items: int
    width: float
    confidence_level: float
    assurance: float
    alpha_range: tuple[float, float]
    hardest_alpha: float
    probability: float
    n_unlabeled: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "n_items": self.n_items,
            "width": self.width,
            "confidence_level": self.confidence_level,
            "assurance": self.assurance,
            "alpha_range": list(self.alpha_range),
            "hardest_alpha": self.hardest_alpha,
            "probability": self.probability,
            "n_unlabeled": self.n_unlabeled,
        }

    def __str__(self) -> str:
        low, high = self.alpha_range
        where = f"alpha = {low:g}" if low == high else f"any alpha from {low:.4g} to {high:.4g}"
        of = "" if self.n_unlabeled is None else f" of {self.n_unlabeled:,}"
        return (
            f"judge {self.n_items:,}{of} random unlabeled examples\n"
            f"the {100 * self.confidence_level:g} % interval of alpha is then at most "
            f"{self.width:g} wide with a probability of at least {self.assurance:g}, for {where}"
        )


def plan_audit(
    *,
    width: float,
    confidence_level: float = 0.95,
    alpha_guess: Any = None,
    assurance: float = 0.9,
    prior: AuditPrior = "jeffreys",
    n_unlabeled: int | None = None,
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

    Returns
    -------
    AuditPlan
        The number, and the promise in words when printed.

    See Also
    --------
    alpha_from_audit : The interval that is promised.
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

    A wrong guess breaks the promise: an alpha nearer to 1/2 than guessed gives a wider interval.
    The interval itself remains right.

    Examples
    --------
    >>> import purecover as pu
    >>> pu.plan_audit(width=0.1).n_items
    382
    >>> print(pu.plan_audit(width=0.1, alpha_guess=(0.05, 0.2)))
    judge 272 random unlabeled examples
    the 95 % interval of alpha is then at most 0.1 wide with a probability of at least 0.9, for
    any alpha from 0.05 to 0.2
    """
    name = "plan_audit"
    hint = "0.1 means an interval such as 0.2 to 0.3"
    width = check_real(name, "width", width, low=_NARROWEST, high=1, closed="left", hint=hint)
    level = check_level(name, confidence_level)
    assurance = check_real(name, "assurance", assurance, low=0, high=1, closed="neither")
    check_prior(name, prior)
    if n_unlabeled is not None:
        n_unlabeled = check_integer(name, "n_unlabeled", n_unlabeled, low=1, high=MOST_ITEMS)
    search = _Search(width, level, prior, guessed_range(name, alpha_guess), n_unlabeled)
    n_items = search.smallest(assurance)
    if n_unlabeled is not None and n_unlabeled <= MOST_ENUMERATED:
        every = Enumeration(width, level, check_prior(name, prior), search.positives, n_unlabeled)
        n_items = every.smallest(n_items, assurance)
        promised, alpha = every.promise(n_items)
    else:
        promised, alpha = (float(found[0]) for found in search.promise(np.array([n_items])))
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
    prior: AuditPrior
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
        most = 1
        while self.promise(np.array([most]))[0][0] < assurance:
            most = self._capped(2 * most)
            if most == self.n_unlabeled:
                break  # all of them judged: alpha is known
        least = most // 2  # too few, or 0
        while most - least > 1:
            middle = (least + most) // 2
            if self.promise(np.array([middle]))[0][0] < assurance:
                least = middle
            else:
                most = middle
        while True:
            ahead = np.arange(most, self._capped(most + _AHEAD) + 1)
            broken = np.flatnonzero(self.promise(ahead)[0] < assurance)
            if not broken.size:
                return most
            most = int(ahead[broken[-1]]) + 1

    def _capped(self, n: int) -> int:
        return n if self.n_unlabeled is None else min(n, self.n_unlabeled)

    def promise(self, n: IntArray) -> tuple[FloatArray, FloatArray]:
        """Probability that the interval is narrow enough at the hardest alpha, and that alpha."""
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
        zero, one = np.zeros_like(n), np.ones_like(n)
        lost = np.array(
            [
                self._probability(low, high, n, alpha)
                + self._probability(zero, np.where(none, 0, -1), n, alpha)
                + self._probability(n, np.where(every, n, n - one), n, alpha)
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
        a, b = check_prior("plan_audit", self.prior)
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
            low, high = beta_ends(k, n, self.prior, self.level)
            return np.asarray(high - low > self.width)
        prior = check_prior("plan_audit", self.prior)
        widths = continuous_widths(k, n, self.n_unlabeled, prior, self.level)
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


def _bisect(narrow: IntArray, wide: IntArray, is_wide: Any) -> IntArray:
    """The wide k nearest to the narrow ones."""
    narrow, wide = narrow.copy(), wide.copy()
    while (np.abs(wide - narrow) > 1).any():
        middle = (narrow + wide) // 2
        found = is_wide(middle) | (np.abs(wide - narrow) <= 1) & (middle == wide)
        moving = np.abs(wide - narrow) > 1
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


# -- what callers guess -----------------------------------------------------------------------


def guessed_range(function: str, guess: Any) -> tuple[float, float]:
    """The range of alpha that a guess means."""
    if guess is None:
        return 0.0, 1.0
    if isinstance(guess, (AuditEstimate, MixtureProportions)):
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
            alpha = _share(function, guess)
        except TypeError:
            raise _no_guess(function, guess) from None
        return alpha, alpha
    if len(guess) != 2:
        raise bad_value(function, "alpha_guess", "a number or two", f"{len(guess)} values")
    low, high = (_share(function, each) for each in guess)
    if low > high:
        raise bad_value(function, "alpha_guess", "in rising order", show(guess))
    return low, high


def _share(function: str, value: object) -> float:
    return check_real(function, "alpha_guess", value, low=0, high=1, hint=percent_hint(value))


def _no_guess(function: str, guess: object) -> InvalidInputError | TypeError:
    must = "None, a number, a pair, an interval or an estimate of alpha"
    hint = "fit the estimator first" if hasattr(guess, "fit") else percent_hint(guess)
    return bad_type(function, "alpha_guess", must, guess, hint)
