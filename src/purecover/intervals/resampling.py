"""Drawing counts again: rows, groups of rows, and the proportions of each replicate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._inputs import encode_labels, group_codes
from purecover._typing import ArrayLike, BoolArray, CountArray, FloatArray, IndexArray, IntArray
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover.proportions import MixtureProportions, ProportionEstimator
from purecover.recovery.rates import Shares

MAX_TRIES = 100
"""How often replicates without labeled or without unlabeled rows are drawn again."""

_GROWTH = 1.05
"""Near the top, ranks at which groups of unlabeled end grow by this factor, if they can."""


class Resampler(ABC):
    """Base of what draws labeled and unlabeled rows again, those of its ``counts``."""

    counts: Any

    @abstractmethod
    def _draw(self, rng: np.random.Generator, size: int) -> tuple[CountArray, CountArray]:
        """Draw both sides of replicates, a row each, of which either may be empty."""

    def draw_many(self, rng: np.random.Generator, size: int) -> tuple[CountArray, CountArray]:
        """Draw labeled and unlabeled counts of many replicates, a row each, none of them empty."""
        labeled, unlabeled = self._draw(rng, size)
        for _ in range(MAX_TRIES):
            empty = np.flatnonzero(~(labeled.any(axis=1) & unlabeled.any(axis=1)))
            if not empty.size:
                return labeled, unlabeled
            labeled[empty], unlabeled[empty] = self._draw(rng, empty.size)
        of, hint = "rows", None
        if getattr(self, "group", None) is not None:
            of, hint = "groups", "use finer groups, or no groups at all"
        raise InvalidInputError(
            f"bootstrap drew {MAX_TRIES} samples of {of} without a labeled or an unlabeled "
            f"example: the weight of one side is on too few {of} for an interval.",
            hint=hint,
        )


def times_drawn(rng: np.random.Generator, size: int, n_groups: int) -> IntArray:
    """Return how often each of so many groups is in each of so many samples of them."""
    return np.stack(
        [np.bincount(rng.integers(0, n_groups, n_groups), minlength=n_groups) for _ in range(size)]
    )


_CERTAIN = 2**12
"""Cells of equal probability by which small Poisson numbers are looked up."""

_LOOKED_UP = 255
"""Larger groups are drawn by NumPy: they are few, or there are too many sizes for tables."""


_MANY = 20
"""Missing rows for each group from which on NumPy draws them by group."""


@dataclass(frozen=True, eq=False)
class Multinomial:
    r"""Draws with replacement out of groups of given sizes: how many fall into each.

    Poisson numbers with means proportional to the sizes are, given their sum, multinomial. Their
    mean sum is two standard deviations below n, so that it seldom exceeds n; what is missing
    is drawn one by one. Since only the sum decides whether to draw again, the result is exactly
    multinomial. A Poisson number is looked up by twelve random bits. Where these leave it open, in
    less than one case of a hundred, a uniform number within their cell decides.
    """

    # By Generator.multinomial a report with alpha given takes 1.18 times as long on 10,000 rows,
    # and 0.89 times on 1,000,000; one with alpha estimated takes as long as with this.
    tally: CountArray

    @cached_property
    def n(self) -> int:
        """All rows."""
        return int(self.tally.sum())

    @cached_property
    def _ends(self) -> IntArray:
        """The number of rows up to each group: memory by groups, not by rows."""
        return np.cumsum(self.tally.astype(np.int64))

    @cached_property
    def _small(self) -> BoolArray:
        return np.asarray(self.tally <= _LOOKED_UP)

    @cached_property
    def _mean(self) -> FloatArray:
        return self.tally * max(1 - 2 / np.sqrt(self.n), 0.0)

    @cached_property
    def _tables(self) -> tuple[IndexArray, Any, FloatArray]:
        """Where the cells of each small group start; numbers by cell, -1 if open; all cdfs."""
        from scipy.special import pdtr

        means, which = np.unique(self._mean[self._small], return_inverse=True)
        highest = int(means[-1] + 10 * np.sqrt(means[-1])) + 20
        cdf = pdtr(np.arange(highest), means[:, None])
        edges = cdf * _CERTAIN + (_CERTAIN + 1) * np.arange(means.size)[:, None]
        n_edges, whole = (_CERTAIN + 1) * means.size, (np.ceil(edges), np.floor(edges))
        tallies = (np.bincount(at.astype(np.intp).ravel(), minlength=n_edges) for at in whole)
        least, most = (np.cumsum(each.reshape(means.size, -1), 1)[:, :-1] for each in tallies)
        table = np.where(least == most, least, -1).astype(np.int16)
        starts = which.reshape(-1).astype(np.intp) * _CERTAIN
        return starts, table.ravel(), np.asarray(cdf)

    def draw(self, rng: np.random.Generator, size: int) -> IntArray:
        """Draw the numbers of many samples, one row each."""
        drawn = self._poisson(rng, size)
        missing = self.n - drawn.sum(axis=1)
        while (again := np.flatnonzero(missing < 0)).size:
            drawn[again] = self._poisson(rng, again.size)
            missing[again] = self.n - drawn[again].sum(axis=1)
        if missing.sum() > _MANY * drawn.size:  # the others take memory by rows
            return drawn + rng.multinomial(missing, self.tally / self.n)
        places = rng.integers(0, self.n, int(missing.sum()))
        rest = np.searchsorted(self._ends, places, side="right")
        rest += np.repeat(np.arange(size) * self.tally.size, missing.astype(np.intp))
        drawn += np.bincount(rest, minlength=drawn.size).reshape(drawn.shape)
        return drawn

    def _poisson(self, rng: np.random.Generator, size: int) -> IntArray:
        small = self._small
        drawn = np.empty((size, small.size), dtype=np.int64)
        drawn[:, ~small] = rng.poisson(self._mean[~small], (size, np.count_nonzero(~small)))
        if small.any():
            drawn[:, small] = self._look_up(rng, size)
        return drawn

    def _look_up(self, rng: np.random.Generator, size: int) -> IntArray:
        starts, table, cdf = self._tables
        n = size * starts.size
        bits = rng.integers(0, 2**64, n // 4 + 1, dtype=np.uint64).view(np.uint16)[:n] >> 4
        cells = starts + bits.reshape(size, -1)
        drawn = table.take(cells).astype(np.int64)
        at = np.flatnonzero(drawn.ravel() < 0)
        if at.size:
            which, cell = np.divmod(cells.ravel()[at], _CERTAIN)
            u = (cell + rng.random(at.size)) / _CERTAIN
            above = np.arange(len(cdf))[:, None]  # one cdf above the other
            place = np.searchsorted((cdf + above).ravel(), u + which, side="right")
            drawn.ravel()[at] = place - which * cdf.shape[1]
        return drawn


@dataclass(frozen=True)
class MultinomialResampler(Resampler):
    """Draw labeled and unlabeled rows with replacement, each side with its own size."""

    counts: ScoreCounts

    @cached_property
    def _sides(self) -> tuple[Multinomial, Multinomial]:
        return Multinomial(self.counts.labeled), Multinomial(self.counts.unlabeled)

    def _draw(self, rng: np.random.Generator, size: int) -> tuple[CountArray, CountArray]:
        labeled, unlabeled = (side.draw(rng, size) for side in self._sides)
        return labeled, unlabeled


@dataclass(frozen=True)
class PoissonResampler(Resampler):
    r"""Draw each row a Poisson(1) number of times; also for weighted counts.

    Examples of weights :math:`w_i` at one threshold are drawn together: with
    :math:`W = \sum w_i` and :math:`Q = \sum w_i^2`, a Poisson number of mean :math:`W^2/Q`
    times :math:`Q/W` has the right mean :math:`W` and the right variance :math:`Q`.
    """

    counts: ScoreCounts

    def _draw(self, rng: np.random.Generator, size: int) -> tuple[CountArray, CountArray]:
        counts = self.counts
        sides = (counts.labeled, counts.labeled_sq), (counts.unlabeled, counts.unlabeled_sq)
        drawn = [[_poisson(rng, *side) for side in sides] for _ in range(size)]
        labeled, unlabeled = np.stack(drawn, axis=1)
        return labeled, unlabeled


@dataclass(frozen=True, repr=False)
class GroupResampler(Resampler):
    """Draw whole groups of dependent rows with replacement (cluster bootstrap).

    Attributes
    ----------
    counts : ScoreCounts
        The counts of all rows.
    position : ndarray of int
        For each row, the index of its threshold.
    labeled : ndarray of bool
        For each row, whether it is labeled.
    group : ndarray of int
        For each row, its group, numbered from 0.
    weight : ndarray of float
        For each row, its weight.
    """

    counts: ScoreCounts
    position: IntArray
    labeled: BoolArray
    group: IntArray
    weight: FloatArray

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    def __repr__(self) -> str:
        return f"GroupResampler({self.n_groups:,} groups, {self.group.size:,} rows)"

    def _draw(self, rng: np.random.Generator, size: int) -> tuple[CountArray, CountArray]:
        sides = (self.labeled, ~self.labeled)
        n_thresholds = self.counts.n_thresholds
        drawn = [
            [np.bincount(self.position[side], weight[side], n_thresholds) for side in sides]
            for times in times_drawn(rng, size, self.n_groups)
            for weight in [times[self.group] * self.weight]
        ]
        labeled, unlabeled = np.stack(drawn, axis=1)
        return labeled, unlabeled

    def thinned(self, counts: ScoreCounts) -> GroupResampler:
        """Return a copy with neighboring scores counted together."""
        scores = self.counts.thresholds[self.position]
        return replace(self, counts=counts, position=positions(counts, scores))


def thinned_to_draw(
    counts: ScoreCounts, groups: int, keep: float | None, *, alone: bool = False
) -> ScoreCounts:
    """Group counts in groups of equal size, and in finer ones at the top.

    The first group of unlabeled may hold more than the top k, or all that a small ``max_fpr``
    spans; spread evenly over it they would seem worse, and surer, than they are. So more groups
    end at ranks of the unlabeled that grow by a twentieth, up to where groups of like size are
    finer than that: some 150 of them among a million.

    With ``alone``, a score that fills a group is alone in it: with few groups, rows next to a score
    that many rows share would seem to be equal to it. What a group of several scores has of the
    labeled and of the unlabeled is then at most 4 over ``groups``, taken together.
    """
    even = counts.thinned(groups, keep=keep)
    if even is counts:
        return counts
    ends = np.searchsorted(-counts.thresholds, -even.thresholds)
    size = float(np.count_nonzero(counts.unlabeled) if counts.is_weighted else counts.n_unlabeled)
    last = min(2 / groups / (_GROWTH - 1), 1.0)
    if last * size > 1:
        n_ranks = int(np.ceil(np.log(last * size) / np.log(_GROWTH))) + 1
        shares = np.cumsum(counts.unlabeled) / counts.n_unlabeled
        ranks = np.geomspace(1 / size, last, n_ranks) * (1 - 1e-9)
        finer = np.searchsorted(shares, ranks).clip(0, counts.n_thresholds - 1)
        ends = np.union1d(ends, finer)
    if alone:
        share = counts.labeled / counts.n_labeled + counts.unlabeled / counts.n_unlabeled
        full = np.flatnonzero(share > 2 / groups)
        ends = np.union1d(ends, np.append(full, full[full > 0] - 1))
    return counts._grouped(np.append(0, ends[:-1] + 1))


def resampler_for(counts: ScoreCounts) -> Resampler:
    """Return the resampler of independent rows."""
    if counts.is_weighted or counts.labeled.dtype.kind == "f":
        return PoissonResampler(counts)
    return MultinomialResampler(counts)


def _poisson(rng: np.random.Generator, tally: CountArray, squares: FloatArray | None) -> FloatArray:
    if squares is None:
        return rng.poisson(tally).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = np.where(tally > 0, squares / tally, 0.0)
        mean = np.where(tally > 0, tally**2 / squares, 0.0)
    return np.asarray(rng.poisson(mean) * unit, dtype=np.float64)


@public
def group_resampler(
    scores: ArrayLike,
    labeled: ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    positive_label: object = None,
    negative_label: object = None,
) -> GroupResampler:
    """Make a resampler that draws whole groups of dependent rows.

    Parameters
    ----------
    scores, labeled : array-like of shape (n,)
        Score per row, and which rows are labeled.
    groups : array-like of shape (n,)
        Which rows belong together: homologous proteins, one patient, one card.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    positive_label, negative_label : object, optional
        The value of ``labeled`` that means labeled, where it is not obvious, and the value that
        marks known negatives, if there are any.

    Returns
    -------
    GroupResampler
        For the ``resampler`` parameter of :func:`bootstrap`.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> from purecover.intervals import bootstrap, group_resampler
    >>> scores, labeled = [5, 4, 3, 2, 1, 0], [1, 0, 1, 0, 0, 0]
    >>> resampler = group_resampler(scores, labeled, groups=["a", "a", "b", "b", "c", "c"])
    >>> result = bootstrap(
    ...     resampler.counts,
    ...     MixtureProportions(0.2),
    ...     resampler=resampler,
    ...     metrics=["roc_auc"],
    ...     curves=False,
    ...     n_resamples=50,
    ...     random_state=0,
    ... )
    >>> result.interval("roc_auc").method
    'bootstrap percentile, groups'
    """
    values = valid.as_real_vector("scores", scores)
    positive, negative = encode_labels(
        labeled, values.size, positive_label=positive_label, negative_label=negative_label
    )
    kept = None if negative is None else ~negative
    group = read_groups(groups, values.size, kept)
    weight = None if sample_weight is None else valid.as_weights(sample_weight, values.size)
    counts = ScoreCounts._from_marks(values, positive, negative, weight)
    mass = np.ones(values.size) if weight is None else weight
    if kept is not None:
        values, positive, mass = values[kept], positive[kept], mass[kept]
    return GroupResampler(counts, positions(counts, values), positive, group, mass)


def read_groups(groups: ArrayLike, size: int, kept: BoolArray | None) -> IntArray:
    """Return the number of the group of each row that is kept."""
    codes = valid.to_numpy("groups", groups)
    valid.check_same_length("groups", codes.size, size)
    _, group = group_codes("groups", codes if kept is None else codes[kept])
    if int(group.max()) < 1:
        raise valid.bad_value("groups", "at least two groups", "one group")
    return group


def positions(counts: ScoreCounts, scores: FloatArray) -> IntArray:
    """Return for each score the index of the highest threshold that it reaches."""
    below = np.searchsorted(counts.thresholds[::-1], scores, side="right") - 1
    # A row of weight 0 may lie beyond all thresholds; it adds nothing anywhere.
    return np.asarray(np.clip(counts.n_thresholds - 1 - below, 0, counts.n_thresholds - 1))


CELLS = 2**20
"""Counts of one side held at a time while proportions are estimated: 8 MiB."""

BLOCK = 3 * 2**16
"""Counts of one side that are recovered at a time, in the processor's cache."""

MOST_TRIES = 2
"""Draws per wanted replicate; if they do not suffice, more than half were rejected."""


class Replayed:
    """Alpha and beta of replicates that were drawn before, in that order."""

    def __init__(self, found: FloatArray) -> None:
        self.found = found
        self.done = 0

    def proportions_many(
        self, _counts: ScoreCounts, labeled: CountArray, _unlabeled: CountArray
    ) -> FloatArray:
        start, self.done = self.done, self.done + len(labeled)
        return self.found[start : self.done]


@dataclass(frozen=True, eq=False)
class Draws:
    """Replicates, one row each; ``n_rejected`` is how many were left out up to the last.

    ``labeled_share`` is given where alpha follows from it; else it is that of the replicate.
    """

    labeled: CountArray
    unlabeled: CountArray
    shares: Shares
    n_rejected: int = 0
    labeled_share: FloatArray | None = None

    def each(
        self, counts: ScoreCounts, proportions: MixtureProportions
    ) -> Iterator[tuple[ScoreCounts, MixtureProportions]]:
        """Yield one replicate after the other."""
        shares = np.concatenate((self.shares.alpha, self.shares.beta), axis=1).tolist()
        for labeled, unlabeled, (alpha, beta) in zip(
            self.labeled, self.unlabeled, shares, strict=True
        ):
            own = replace(proportions, alpha=alpha, beta=beta)
            yield replace(counts, labeled=labeled, unlabeled=unlabeled), own


def draws(
    resampler: Resampler,
    counts: ScoreCounts,
    proportions: MixtureProportions,
    estimator: ProportionEstimator | None,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[Draws]:
    """Draw replicates of counts in blocks; an estimator gives each its own proportions.

    Those without are drawn again, so that every interval has the number of replicates that
    was asked for. If more than half are without, an interval of the rest would describe lucky
    samples only.
    """
    n_thresholds = counts.n_thresholds
    block = max(1, BLOCK // n_thresholds)
    at_a_time = block if estimator is None else max(1, CELLS // n_thresholds)
    accepted = tried = 0
    while accepted < n_resamples:
        size = min(at_a_time, n_resamples - accepted, MOST_TRIES * n_resamples - tried)
        if size == 0:
            raise IdentifiabilityError(
                f"bootstrap found no estimate of alpha below beta in {tried - accepted:,} of "
                f"{tried:,} samples drawn from the data, so there is no interval (PU017).\n"
                "Hint: the scores hardly determine alpha and beta; give alpha if you know it"
            )
        labeled, unlabeled = resampler.draw_many(rng, size)
        if estimator is None:
            found = np.full((size, 2), (proportions.alpha, proportions.beta))
        else:
            found = estimator.proportions_many(counts, labeled, unlabeled)
            with np.errstate(invalid="ignore"):
                good = (found[:, 0] >= 0) & (found[:, 0] < found[:, 1]) & (found[:, 1] <= 1)
            labeled, unlabeled, found = labeled[good], unlabeled[good], found[good]
        tried += size
        accepted += len(found)
        for start in range(0, len(found), block):
            part = slice(start, start + block)
            shares = Shares(found[part, :1], found[part, 1:2])
            own = found[part, 2] if found.shape[1] > 2 else None
            yield Draws(labeled[part], unlabeled[part], shares, tried - accepted, own)
