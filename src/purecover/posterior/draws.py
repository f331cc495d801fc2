r"""`Posterior`: draws of the share of positives in every group of scores, weighed by what is known.

Pairs of alpha and beta come from a pool, such as the posterior of similar problems. Each meets a
draw of how labeled and unlabeled rows are distributed, and then says which share of the unlabeled
rows of each group is positive. What is known besides (judged rows, a past hit rate, ranges) is a
weight of the draws, and every figure is asked of the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrik, expit, logit, logsumexp, ndtri, xlog1py, xlogy

from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover.counts import ScoreCounts
from purecover.exceptions import ContradictionError
from purecover.posterior.purity import EDGE, NEGLIGIBLE, Purity, purity_of
from purecover.posterior.ratio import LabelRatio, RatioDraws
from purecover.posterior.tables import Tables

TEMPER = 0.3
"""Power of the likelihood by which shares that had to be moved count less.

On the first part of the reference collection, families left out, with nothing known, the interval
scores of AUC, AUC-PR and precision are .219, .794 and .722; with no weight at all .260, .868 and
.797, and with a power of 1 .207, .784 and .719, but then intervals of separable problems hold 94 %.
"""

PROPOSED = 2
"""Draws that are weighed for each one that is kept."""

UNSURE = 0.02
"""Verdicts choose pairs as if shares of positives were at least so far from 0 and 1."""

SPREADS = np.append(0.0, 0.7 * np.tan(np.pi / 2 * (np.arange(8) + 0.5) / 8))
SPREAD_WEIGHTS = np.append(0.5, np.full(8, 0.5 / 8))
"""How far strata may be from labels at random, in log odds: not at all with probability 1/2, else
by a half-Cauchy distribution of scale 0.7, of which these are quantiles."""

SHIFTS = np.linspace(-8, 8, 81)


class Verdicts(NamedTuple):
    """Verdicts on rows that were drawn at random from neighboring groups of scores.

    Attributes
    ----------
    groups : slice
        The groups.
    judged, positive : int
        Rows with a verdict, and those of them that are positive.
    labeled : bool
        Whether the rows are labeled.
    errors : tuple of float
        Share of the negatives that are judged positive, and of the positives judged negative.
    """

    groups: slice
    judged: int
    positive: int
    labeled: bool = False
    errors: tuple[float, float] = (0.0, 0.0)

    def judged_positive(self, share: FloatArray) -> FloatArray:
        """Return the share of the rows that are judged positive, where this share is positive."""
        return self.errors[0] + (1 - sum(self.errors)) * share

    def log_likelihood(self, share: FloatArray) -> FloatArray:
        """Return the logarithm of the probability of the verdicts, up to a constant."""
        seen, missed = self.judged_positive(share), self.judged - self.positive
        return np.asarray(xlogy(self.positive, seen) + xlog1py(missed, -seen))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws from the posterior, a row each, all of the same weight.

    Attributes
    ----------
    ratio : LabelRatio
        The groups of scores, and how labels lie in them.
    unlabeled : ndarray of shape (n, n_groups)
        Share of the unlabeled rows of the population in each group.
    like_labeled : ndarray of shape (n, n_groups)
        Share of positives among them if labels went to positives at random.
    positive : ndarray of shape (n, n_groups)
        Share of positives among them: the same, but where verdicts in several strata let it differ.
    wrong : ndarray of shape (n, n_groups)
        Share of negatives among the labeled rows.
    shares : ndarray of shape (n, 2)
        Alpha and beta.
    spread : ndarray of shape (n,)
        How far strata are from labels at random.
    chosen : ndarray of int of shape (n,)
        Which of the proposed draws each one is.
    n_effective : float
        Number of draws of equal weight with the same information.
    log_evidence : float
        Logarithm of the mean weight of the proposed draws: what is known is the more likely, the
        higher it is above that of draws without it.
    labels : ndarray of shape (n, n_groups), optional
        Share of the right labels that is in each group, where positives like the labeled ones do
        not follow from ``like_labeled``, since people chose what to label.
    """

    ratio: LabelRatio
    unlabeled: FloatArray
    like_labeled: FloatArray
    positive: FloatArray
    wrong: FloatArray
    shares: FloatArray
    spread: FloatArray
    chosen: IntArray
    n_effective: float
    log_evidence: float = 0.0
    labels: FloatArray | None = None

    @cached_property
    def rates(self) -> tuple[FloatArray, FloatArray]:
        """False- and true-positive rates of positives like the labeled ones, after (0, 0)."""
        if self.labels is not None:
            return _passed(self.unlabeled * (1 - self.positive)), _passed(self.labels)
        positive = self.unlabeled * self.like_labeled
        tpr, fpr = (_passed(side) for side in (positive, self.unlabeled - positive))
        return fpr, tpr

    @cached_property
    def expected(self) -> Tables:
        """Tables of these very rows, with expected numbers instead of drawn ones."""
        labeled, unlabeled = self.ratio.counts.labeled, self.ratio.counts.unlabeled
        return Tables(
            labeled=labeled * (1 - self.wrong),
            wrong=labeled * self.wrong,
            hidden=unlabeled * self.positive,
            negative=unlabeled * (1 - self.positive),
        )

    def of_population(self) -> Tables:
        """Return the tables of the population, for as many rows as there are."""
        counts, beta = self.ratio.counts, self.shares[:, 1:]
        positive = self.unlabeled * self.positive
        negative = self.unlabeled - positive
        # Wrong labels went to negatives at random.
        wrong = (1 - beta) * negative / np.maximum(negative.sum(axis=1, keepdims=True), 1e-300)
        return Tables(
            labeled=counts.n_labeled * beta * np.diff(self.rates[1], axis=1),
            wrong=counts.n_labeled * wrong,
            hidden=counts.n_unlabeled * positive,
            negative=counts.n_unlabeled * negative,
        )

    def of_rows(
        self,
        rng: np.random.Generator,
        judged: IntArray | None = None,
        found: IntArray | None = None,
        errors: tuple[float, float] = (0.0, 0.0),
    ) -> Tables:
        """Return the tables of these very rows.

        ``judged`` and ``found`` are verdicts on unlabeled rows by group, as in
        :meth:`count_positive`, and ``errors`` their error rates as in :class:`Verdicts`. Verdicts
        that do not err are never contradicted.
        """
        counts, share = self.ratio.counts, self.positive
        rows = counts.unlabeled
        yes = np.zeros(rows.size) if found is None else np.asarray(found, dtype=np.float64)
        no = np.zeros(rows.size) if judged is None else np.asarray(judged - yes, dtype=np.float64)
        hidden = yes + binomial(rng.random(share.shape), (rows - yes - no).clip(0), share)
        if any(errors):
            seen = errors[0] + (1 - sum(errors)) * share
            right = binomial(rng.random(share.shape), yes, (1 - errors[1]) * share / seen)
            missed = binomial(rng.random(share.shape), no, errors[1] * share / (1 - seen))
            hidden += right - yes + missed
        wrong = binomial(rng.random(share.shape), counts.labeled, self.wrong)
        return Tables(counts.labeled - wrong, wrong, hidden, rows - hidden)

    @cached_property
    def labeled(self) -> FloatArray:
        """Share of the labeled rows of the population in each group, by draw.

        With it and the share of the unlabeled the formulas for a given alpha and beta give the
        rates of the draw.
        """
        fpr, tpr = (np.diff(rate, axis=1) for rate in self.rates)
        beta = self.shares[:, 1:]
        return np.asarray(beta * tpr + (1 - beta) * fpr)

    def some(self, n: int) -> Posterior:
        """Return n of the draws, from everywhere."""
        return self.part(evenly(np.ones(len(self.shares)), n))

    def part(self, kept: slice | IntArray) -> Posterior:
        """Return some of the draws."""
        names = ["unlabeled", "like_labeled", "positive", "wrong", "shares", "spread", "chosen"]
        names += [] if self.labels is None else ["labels"]
        return replace(self, **{name: getattr(self, name)[kept] for name in names})

    @cached_property
    def areas(self) -> FloatArray:
        """The AUC of positives like the labeled ones."""
        fpr, tpr = self.rates
        return np.asarray((np.diff(fpr, axis=1) * (tpr[:, 1:] + tpr[:, :-1])).sum(axis=1) / 2)

    def split(self, counts: ScoreCounts) -> Posterior:
        """Return the same draws in finer groups of the same rows, such as at a threshold.

        Within a group the share of positives is one and the same.
        """
        groups = self.ratio.counts
        if counts.n_thresholds == groups.n_thresholds:
            return self
        within = np.searchsorted(-groups.thresholds, -counts.thresholds)
        units = self.ratio.units
        rows = units[0] * counts.labeled + units[1] * counts.unlabeled
        # A score that only known negatives have is a group without rows.
        part = rows / np.maximum(np.bincount(within, rows), 1e-300)[within]
        labels = self.labels
        if labels is not None:
            in_group = np.maximum(np.bincount(within, counts.labeled)[within], 1e-300)
            labels = labels[:, within] * (counts.labeled / in_group)
        return replace(
            self,
            ratio=replace(self.ratio, counts=counts),
            unlabeled=self.unlabeled[:, within] * part,
            like_labeled=self.like_labeled[:, within],
            positive=self.positive[:, within],
            wrong=self.wrong[:, within],
            labels=labels,
        )

    def share_positive(self, groups: slice = slice(None)) -> FloatArray:
        """Return the share of positives among these unlabeled rows of the population."""
        return _mean_share(self.positive[:, groups], self.unlabeled[:, groups])

    def share_right(self, groups: slice = slice(None)) -> FloatArray:
        """Return the share of positives among these labeled rows of the population."""
        return _mean_share(1 - self.wrong[:, groups], self.labeled[:, groups])

    def count_positive(
        self,
        groups: slice,
        rng: np.random.Generator,
        judged: IntArray | None = None,
        found: IntArray | None = None,
    ) -> FloatArray:
        """Return how many of these very unlabeled rows are positive.

        ``judged`` and ``found`` are verdicts by group: positives found are counted, negatives are
        not, and only the other rows are drawn.
        """
        rows = self.ratio.counts.unlabeled[groups]
        known = np.zeros(rows.size) if judged is None else judged[groups]
        left = np.maximum(rows - known, 0)
        total = left.sum()
        sure = 0.0 if found is None else float(found[groups].sum())
        if total == 0:
            return np.full(len(self.shares), sure)
        share = (self.positive[:, groups] @ left) / total
        return sure + binomial_quantile(rng.random(share.size), total, share)


def draw_posterior(
    ratio: LabelRatio,
    proposed: RatioDraws,
    pool: FloatArray,
    rng: np.random.Generator,
    *,
    verdicts: Sequence[Verdicts] = (),
    allowed: BoolArray | None = None,
    exact: bool = False,
    shifts: bool = True,
) -> Posterior:
    """Draw from the posterior of alpha, beta and the positives of every group.

    Parameters
    ----------
    ratio : LabelRatio
        The groups of scores.
    proposed : RatioDraws
        What :meth:`LabelRatio.draw` returned: :data:`PROPOSED` draws for each one that is kept.
    pool : ndarray of shape (n_pool, 2)
        Pairs of alpha and beta, in random order.
    rng : numpy.random.Generator
        Where randomness comes from. Evidence does not change which numbers are drawn: evidence
        that says nothing changes no figure.
    verdicts : sequence of Verdicts
        What is known of rows.
    allowed : ndarray of bool of shape (n_pool,), optional
        Pairs of the pool that ranges leave.
    exact : bool, default=False
        Whether alpha and beta are given, so that no pair counts less than another.
    shifts : bool, default=True
        Whether verdicts in several strata may show that labels are no random sample.

    Returns
    -------
    Posterior
        The draws.
    """
    verdicts = together(verdicts)
    share, label_ratio, weight = proposed
    strata = [each for each in verdicts if not each.labeled]
    shifts = shifts and len(strata) > 1
    expected = _expected_likelihood(verdicts, shifts, pool, ratio)
    with np.errstate(divide="ignore"):
        log = expected if allowed is None else expected + np.log(allowed)
    # Verdicts choose pairs already here: after thirty answers few of the pool would be left.
    # From low to high alpha, so that evidence that hardly says anything hardly changes a pair.
    order = np.lexsort((pool[:, 1], pool[:, 0]))
    met = rng.permutation(len(share))
    pairs = order[evenly(np.exp(log - log.max())[order], len(share))][met]
    purity = purity_of(pool[pairs], share, label_ratio, ratio.normal_score)
    if not exact:
        weight = weight + TEMPER * _fit_lost(ratio, label_ratio, pool[pairs], purity)
    shifted = _Shifts.draw(purity.positive, share, strata, rng, shifts)
    weight = weight + shifted.log_weight - expected[pairs]
    for each in verdicts:
        if each.labeled:
            labeled = share[:, each.groups] * label_ratio[:, each.groups]
            right = _mean_share(1 - purity.wrong[:, each.groups], labeled)
            weight += each.log_likelihood(right)
    most = weight.max()
    if not np.isfinite(most):
        raise ContradictionError(
            "{function} finds no alpha and beta that the verdicts allow.\n"
            "Hint: leave beta out if labels may be wrong, or look at the verdicts again"
        )
    weight = np.exp(weight - most)
    # From here on all draws count the same, so that figures are plain quantiles.
    by_alpha = np.argsort(met)
    kept = by_alpha[evenly(weight[by_alpha], len(weight) // PROPOSED)]
    kept = kept[rng.permutation(kept.size)]
    alpha = pool[pairs[kept], 0]
    if shifted.spread.any():
        alpha = (shifted.positive[kept] * share[kept]).sum(axis=1)
    return Posterior(
        ratio=ratio,
        unlabeled=share[kept],
        like_labeled=purity.positive[kept],
        positive=shifted.positive[kept],
        wrong=purity.wrong[kept],
        shares=np.column_stack((alpha, pool[pairs[kept], 1])),
        spread=shifted.spread[kept],
        chosen=kept,
        n_effective=float(weight.sum() ** 2 / (weight**2).sum()),
        log_evidence=float(most + np.log(weight.mean()) + logsumexp(log) - np.log(log.size)),
    )


def _fit_lost(
    ratio: LabelRatio, drawn: FloatArray, shares: FloatArray, purity: Purity
) -> FloatArray:
    """Return by how much the labels are less likely where shares of positives had to be moved.

    At the true alpha and beta sampling errors alone move them, and labels stay about as likely as
    they were. A pair that cannot be true makes them unlikely, the more so the more rows there are.
    """
    lost = np.zeros(len(drawn))
    moved = np.flatnonzero(purity.excess > NEGLIGIBLE)
    if moved.size:
        alpha, beta = shares[moved].T[:, :, None]
        positive = purity.positive[moved]
        left = beta * positive / alpha + (1 - beta) * (1 - positive) / (1 - alpha)
        lost[moved] = ratio.log_likelihood(left) - ratio.log_likelihood(drawn[moved])
    return np.minimum(lost, 0.0)


def together(verdicts: Sequence[Verdicts]) -> list[Verdicts]:
    """Add up verdicts on the same groups: ten answers are worth what five and five are."""
    found: dict[tuple[Any, ...], Verdicts] = {}
    for each in verdicts:
        key = each.groups.start, each.groups.stop, each.labeled, each.errors
        other = found.get(key, each._replace(judged=0, positive=0))
        found[key] = each._replace(
            judged=each.judged + other.judged, positive=each.positive + other.positive
        )
    return [each for each in found.values() if each.judged]


def evenly(weight: FloatArray, n: int, first: float = 0.5) -> IntArray:
    """Choose n draws with these weights, each as often as it should be, but for less than one.

    Equal weights choose as many from everywhere, whatever they are. ``first`` is the place of the
    first in its part: 1/4 is the middle of a draw where there are twice as many, so that no last
    digit decides between neighbors.
    """
    passed = np.cumsum(weight)
    places = (np.arange(n) + first) / n * passed[-1]
    return np.searchsorted(passed, places, side="right").clip(0, weight.size - 1)


def binomial_quantile(place: FloatArray, n: float, share: FloatArray) -> FloatArray:
    """Return the number of successes of n trials at a place of its distribution.

    One random number for each draw: how many NumPy's own binomial numbers take depends on the
    last digits of the share, so that all later ones would differ between machines.
    """
    with np.errstate(invalid="ignore"):
        found = np.ceil(bdtrik(place, n, share.clip(1e-12, 1 - 1e-12)))
    return np.asarray(np.nan_to_num(found, nan=0.0).clip(0, n))


LARGE = 9.0
"""Variance from which a binomial number is taken from the normal distribution."""


def binomial(place: FloatArray, n: CountArray, share: FloatArray) -> FloatArray:
    """Return numbers like :func:`binomial_quantile`, for tables of many of them.

    Small ones are exact. Large ones are those of a normal distribution, corrected for skewness, and
    may be one too high or too low.
    """
    place, n, share = np.broadcast_arrays(place, n, share)
    # The rarer outcome is counted.
    swapped = share > 0.5
    rare = np.where(swapped, 1 - share, share)
    place = np.where(swapped, 1 - place, place)
    variance = n * rare * (1 - rare)
    normal = ndtri(place)
    skewed = normal * np.sqrt(variance) + (1 - 2 * rare) * (normal**2 - 1) / 6
    number = np.rint(n * rare + skewed).clip(0, n)

    few = np.flatnonzero(variance < LARGE)
    trials, share, place = n.flat[few], rare.flat[few], place.flat[few]
    chance = (1 - share) ** trials
    passed, count = chance.copy(), np.zeros(few.size)
    at, step = np.flatnonzero((place > passed) & (trials > 0)), 0
    while at.size:
        chance[at] *= (trials[at] - step) / (step + 1) * share[at] / (1 - share[at])
        passed[at] += chance[at]
        step += 1
        count[at] = step
        # The last digits of a sum may stay below a place next to 1.
        at = at[(place[at] > passed[at]) & (trials[at] > step)]
    number.flat[few] = count
    return np.asarray(np.where(swapped, n - number, number))


class _Shifts(NamedTuple):
    """Shares of positives that verdicts in several strata may move, and what they weigh."""

    positive: FloatArray
    spread: FloatArray
    log_weight: FloatArray

    @classmethod
    def draw(
        cls,
        positive: FloatArray,
        unlabeled: FloatArray,
        strata: Sequence[Verdicts],
        rng: np.random.Generator,
        shifts: bool,
    ) -> _Shifts:
        """Shift the log odds of each stratum, if wanted.

        A stratum is moved by a normal number around 0 whose spread is the same for all of them. The
        verdicts choose among :data:`SHIFTS` for the mean share of the stratum; the weight corrects
        what the shares of its groups make of it.
        """
        n = len(positive)
        rows = np.arange(n)
        if not shifts:
            log_weight = np.zeros(n)
            for s in strata:
                share = _mean_share(positive[:, s.groups], unlabeled[:, s.groups])
                log_weight += s.log_likelihood(share)
            return cls(positive, np.zeros(n), log_weight)
        positive = positive.copy()
        parts = [_in_parts(positive[:, s.groups], unlabeled[:, s.groups]) for s in strata]
        log_weight, odds, likely = _over_shifts(strata, parts)
        place = rng.random((len(strata) + 1, n))
        which = _pick(odds, place[-1])
        for s, each, where in zip(strata, likely, place, strict=False):
            at = _pick(_CHANCES[which] * np.exp(each - each.max(axis=1, keepdims=True)), where)
            # Without a shift shares stay as they are, to the last digit.
            moved = np.flatnonzero(SHIFTS[at])
            groups = positive[:, s.groups]
            groups[moved] = expit(logit(groups[moved]) + SHIFTS[at[moved], None])
            exact = _mean_share(groups, unlabeled[:, s.groups]).clip(EDGE, 1 - EDGE)
            log_weight += s.log_likelihood(exact) - each[rows, at]
        return cls(positive, SPREADS[which], log_weight)


_CHANCES = np.exp(-0.5 * (SHIFTS / np.maximum(SPREADS, 1e-9)[:, None]) ** 2)
_CHANCES /= _CHANCES.sum(axis=1, keepdims=True)
"""Probability of each shift, by spread."""


N_PARTS = 6
"""Parts of a stratum whose mean shares stand for those of its groups while shifts are weighed."""

Parts = tuple[FloatArray, FloatArray]


def _in_parts(share: FloatArray, rows: FloatArray) -> Parts:
    """Return the mean share of positives in parts of a stratum, and the part of its rows there."""
    starts = np.unique(np.arange(N_PARTS) * share.shape[1] // N_PARTS).astype(np.intp)
    mass = np.add.reduceat(rows, starts, axis=1)
    found = np.add.reduceat(share * rows, starts, axis=1) / np.maximum(mass, 1e-300)
    return found, mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)


def _over_shifts(
    strata: Sequence[Verdicts], parts: Sequence[Parts]
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Return log likelihoods of verdicts: over all shifts, and by shift of each stratum.

    Between them is the weight of each spread.
    """
    odds, likely = np.log(SPREAD_WEIGHTS) + np.zeros((len(parts[0][0]), 1)), []
    for s, (share, mass) in zip(strata, parts, strict=True):
        center = logit(share.clip(EDGE, 1 - EDGE))
        moved = expit(center[:, :, None] + SHIFTS)
        found = s.log_likelihood((moved * mass[:, :, None]).sum(axis=1).clip(EDGE, 1 - EDGE))
        likely.append(found)
        most = found.max(axis=1, keepdims=True)
        odds = odds + most + np.log(np.exp(found - most) @ _CHANCES.T)
    most = odds.max(axis=1, keepdims=True)
    odds = np.exp(odds - most)
    return most[:, 0] + np.log(odds.sum(axis=1)), odds, likely


def _pick(weight: FloatArray, place: FloatArray) -> IntArray:
    """Choose a column in each row, at a place between 0 and 1 of its weights."""
    passed = np.cumsum(weight, axis=1)
    return np.asarray((passed < place[:, None] * passed[:, -1:]).sum(axis=1))


def _mean_share(share: FloatArray, rows: FloatArray) -> FloatArray:
    return np.asarray((share * rows).sum(axis=1) / np.maximum(rows.sum(axis=1), 1e-300))


def _expected_likelihood(
    verdicts: Sequence[Verdicts], shifts: bool, pool: FloatArray, ratio: LabelRatio
) -> FloatArray:
    """Return the log likelihood of verdicts by pair of alpha and beta, at the mode of the ratio."""
    alpha, beta = pool.T[:, :, None]
    a, b = alpha / beta, (1 - beta) / (1 - alpha)
    found = np.zeros(len(pool))
    strata, parts = [], []
    for each in verdicts:
        rows, ratios = (side[each.groups] for side in ratio.at_mode)
        mean_ratio, mass = _in_parts(ratios[None], rows[None])
        share = a * (mean_ratio - b) / (1 - a * b)
        if each.labeled:
            right = (share * mass).sum(axis=1) / (a[:, 0] * (mean_ratio * mass).sum())
            found += each.log_likelihood(right.clip(UNSURE, 1 - UNSURE))
            continue
        if shifts:
            strata.append(each)
            parts.append((share.clip(EDGE, 1 - EDGE), mass))
        else:
            found += each.log_likelihood((share * mass).sum(axis=1).clip(UNSURE, 1 - UNSURE))
    if shifts:
        found += _over_shifts(strata, parts)[0]
    return found


def _passed(rows: FloatArray) -> FloatArray:
    """Return the share of rows at or above each group, after 0."""
    passed = np.cumsum(rows, axis=1)
    passed /= np.maximum(passed[:, -1:], 1e-300)
    return np.column_stack((np.zeros(len(rows)), passed))
