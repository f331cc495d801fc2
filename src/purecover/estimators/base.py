"""What all estimators of alpha and beta share: two samples, one way in, one set of results."""

from __future__ import annotations

import inspect
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, get_args

import numpy as np
from scipy.special import betaincinv
from threadpoolctl import threadpool_limits

from purecover import _validation as valid
from purecover._parameters import check_fields
from purecover._typing import ArrayLike, CountArray, FloatArray, IntArray, RandomState
from purecover._validation import FrozenDict, public
from purecover.counts import ScoreCounts
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover.intervals import resampling
from purecover.intervals.interval import Interval, check_level
from purecover.intervals.resampling import GroupResampler, Resampler
from purecover.proportions import MixtureProportions, ProportionEstimator
from purecover.recovery.rates import effective_size, effective_sizes
from purecover.recovery.repairs import isotonic_regression

if TYPE_CHECKING:
    from sklearn.utils import Tags

T = TypeVar("T")

FEW_LABELED, FEW_UNLABELED = 50, 100
TOO_FEW_LABELED = 10
"""With fewer, not even the interval of an estimate can be relied on."""


def read_counts(
    scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    """Counts of what an estimator was given, or those counts themselves."""
    if labeled is None and not isinstance(scores, ScoreCounts):
        must = "an array: for each score, whether the example carries the label"
        hint = "requires y to be passed, but the target y is None"  # as scikit-learn wants it
        raise valid.bad_type("labeled", must, labeled, hint)
    # A column, as scikit-learn's transformers give it, is welcome.
    return ScoreCounts._of(scores, labeled, sample_weight=sample_weight)


def read_both_sides(
    scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    """Counts of scores and labels, or those given, with examples of both kinds."""
    counts = ScoreCounts._of(scores, labeled, sample_weight=sample_weight)
    _check_sides(counts)
    return counts


def _check_sides(counts: ScoreCounts) -> None:
    for side, total in (("labeled", counts.n_labeled), ("unlabeled", counts.n_unlabeled)):
        if not total > 0:
            raise valid.bad_value("labeled", f"such that an example is {side}", "none")


def check_both_sides(counts: ScoreCounts) -> None:
    """Refuse counts from which nobody can tell anything."""
    _check_sides(counts)
    used = (counts.labeled > 0) | (counts.unlabeled > 0)
    if int(used.sum()) < 2:
        raise IdentifiabilityError(
            f"{{function}} needs scores that differ, got {counts.thresholds[used][0]:g} "
            "throughout: a constant score says nothing about alpha and beta."
        )


def weight_units(counts: ScoreCounts) -> tuple[float, float]:
    """Effective examples for each unit of weight on either side; 1 without weights."""
    n_labeled, n_unlabeled = effective_sizes(counts)
    return n_labeled / counts.n_labeled, n_unlabeled / counts.n_unlabeled


def size_notes(n_labeled: float, n_unlabeled: float) -> tuple[str, ...]:
    """What to say of samples that are small."""
    if n_labeled >= FEW_LABELED and n_unlabeled >= FEW_UNLABELED:
        return ()
    only = f"only {n_labeled:g} labeled and {n_unlabeled:g} unlabeled examples"
    if n_labeled < TOO_FEW_LABELED:
        return (f"{only}: the estimate is rough, and so is its interval",)
    return (f"{only}: the estimate is rough, read its interval",)


def common_notes(counts: ScoreCounts) -> tuple[str, ...]:
    """What to say of samples whatever the estimator."""
    notes = list(size_notes(counts.n_labeled, counts.n_unlabeled))
    if counts.ordered_pairs <= 0.5 * counts.n_labeled * counts.n_unlabeled:
        notes.append(
            "labeled examples do not score higher than unlabeled ones (AUC at most 1/2): inverted "
            "labels or scores, or a classifier without skill"
        )
    return tuple(notes)


def flipped_counts(counts: ScoreCounts) -> ScoreCounts:
    """Labeled and unlabeled exchanged and scores negated, which maps (a, b) to (b, a)."""
    labeled_sq, unlabeled_sq = (
        None if tally is None else tally[::-1] for tally in (counts.unlabeled_sq, counts.labeled_sq)
    )
    return ScoreCounts(
        thresholds=-counts.thresholds[::-1],
        labeled=counts.unlabeled[::-1],
        unlabeled=counts.labeled[::-1],
        labeled_sq=labeled_sq,
        unlabeled_sq=unlabeled_sq,
    )


def replicates_of(
    counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
) -> Iterator[ScoreCounts]:
    """Replicates as counts of their own, for what treats them one by one."""
    labeled_unit = _squares(counts.labeled, counts.labeled_sq)
    unlabeled_unit = _squares(counts.unlabeled, counts.unlabeled_sq)
    for few, many in zip(labeled, unlabeled, strict=True):
        yield ScoreCounts(
            thresholds=counts.thresholds,
            labeled=few,
            unlabeled=many,
            labeled_sq=None if labeled_unit is None else few * labeled_unit,
            unlabeled_sq=None if unlabeled_unit is None else many * unlabeled_unit,
        )


def _squares(tally: CountArray, squares: FloatArray | None) -> FloatArray | None:
    """Squared weight for each unit of weight at each threshold; None without weights."""
    if squares is None:
        return None
    return np.divide(squares, tally, out=np.zeros(squares.size), where=tally > 0)


def group_starts(counts: ScoreCounts, thinned: ScoreCounts) -> IntArray:
    """Where the groups start into which the thresholds of counts were merged by thinning."""
    # Thresholds decrease and each group keeps its lowest, where the next one starts.
    ends = np.searchsorted(-counts.thresholds, -thinned.thresholds)
    return np.concatenate(([0], ends[:-1] + 1))


def thinned_rows(counts: ScoreCounts, thinned: ScoreCounts, tallies: CountArray) -> CountArray:
    """Counts of replicates of the data, merged like those of the data by thinning."""
    return np.add.reduceat(tallies, group_starts(counts, thinned), axis=1)


def falling_shares(labeled: Any, unlabeled: Any) -> FloatArray:
    """Share of the labeled at each threshold, made to fall with the scores; 0 where nobody is."""
    pooled = np.asarray(labeled + unlabeled, dtype=np.float64)
    used = np.flatnonzero(pooled)
    shares = np.zeros(pooled.size)
    rate = labeled[used] / pooled[used]
    shares[used] = isotonic_regression(rate, weights=pooled[used], increasing=False).x
    return np.clip(shares, 0.0, 1.0, out=shares)


# -- Confidence bounds ---------------------------------------------------------------------------


BoundMethod = Literal["scott", "bbe"]

LEVELS = (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.025)
"""Shares of labeled examples above the thresholds at which binomial bounds are taken."""

FEWEST = 4
"""Levels reached by fewer labeled examples are left out: they could never give the best bound."""


@public
def inclusion_bound(
    scores: ArrayLike | ScoreCounts,
    labeled: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    method: BoundMethod = "scott",
) -> float:
    r"""Upper confidence bound on the share of the labeled density inside the unlabeled one.

    With probability of at least ``confidence_level`` the bound is not below
    :math:`a = \inf f/g`, for any two distributions of scores. With clean labels :math:`a` is at
    least alpha, so that it bounds alpha as well; on counts with the roles of the samples
    exchanged it bounds :math:`b = \inf g/f`.

    Parameters
    ----------
    scores : array-like of shape (n,) or ScoreCounts
        Scores of held-out examples, larger means more positive; or their counts, and then
        nothing else. Labeled and unlabeled are two independent samples.
    labeled : array-like of shape (n,)
        True where the example carries the positive label.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    confidence_level : float, default=0.95
        Probability of the statement.
    method : {"scott", "bbe"}, default="scott"
        Exact binomial bounds at a few thresholds, or the same margin at all of them.

    Returns
    -------
    float
        The bound, at most 1.

    Notes
    -----
    Let :math:`F(t)` and :math:`G(t)` be the probabilities that an unlabeled and a labeled score
    is :math:`t` or more. Since :math:`f \ge a g` everywhere, :math:`a \le F(t)/G(t)` at every
    :math:`t`; wherever :math:`F(t) \le \bar F(t)` and :math:`G(t) \ge \underline G(t)` hold for
    all :math:`t \in T` together, :math:`a \le \min_{t \in T} \bar F(t)/\underline G(t)`. With
    :math:`\varepsilon` = 1 - ``confidence_level``, each method makes either family of bounds fail
    with probability of at most :math:`\varepsilon/2`.

    ``"scott"``: fix ranks :math:`k_1, \ldots, k_J` by the sample size alone, and let
    :math:`t_j` be the :math:`k_j`-th largest labeled score. (i) :math:`G(t_j)` is
    stochastically not smaller than a Beta(:math:`k_j, n_L - k_j + 1`) variable (equal in law
    without ties), so its quantile at :math:`\varepsilon/2J` is a lower bound, and all
    :math:`J` hold together but for :math:`\varepsilon/2`. (ii) Given the labeled sample the
    :math:`t_j` are fixed, and the unlabeled scores at or above :math:`t_j` are binomial; the exact
    upper bounds at :math:`1 - \varepsilon/2J` hold together but for :math:`\varepsilon/2`. Neither
    asks for a continuous distribution. At most 13 ranks are used, from 2.5 % to 98 % of the
    labeled.

    ``"bbe"``: by the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant,
    one-sided, an empirical share exceeds (or falls short of) the true one by
    :math:`\sqrt{\ln(2/\varepsilon)/(2n)}` anywhere with probability of at most
    :math:`\varepsilon/2`. Valid at all thresholds, hence after any choice among them, but much
    wider where shares are small.

    With weights the effective sizes take the place of the sizes, and the statement is
    approximate.

    References
    ----------
    Blanchard, Lee & Scott (2010), "Semi-supervised novelty detection", JMLR 11. Garg, Wu,
    Smola, Balakrishnan & Lipton (2021), "Mixture proportion estimation and PU learning",
    NeurIPS. Massart (1990), Annals of Probability 18.

    Examples
    --------
    >>> import purecover as pu
    >>> counts = pu.ScoreCounts.from_counts([2, 1], labeled=[1000, 0], unlabeled=[3000, 7000])
    >>> (
    ...     round(pu.estimators.inclusion_bound(counts), 3),
    ...     round(pu.estimators.inclusion_bound(counts, method="bbe"), 3),
    ... )
    (0.325, 0.328)
    >>> sample = pu.simulate.binormal(3).sample(1000, 5000, alpha=0.3, random_state=0)
    >>> 0.3 <= pu.estimators.inclusion_bound(sample.scores, sample.labeled)
    True
    """
    error = 1 - check_level(confidence_level)
    valid.check_choice("method", method, get_args(BoundMethod))
    counts = read_both_sides(scores, labeled, sample_weight)
    n_labeled, n_unlabeled = effective_sizes(counts)
    above: FloatArray = np.cumsum(counts.labeled, dtype=np.float64) / counts.n_labeled
    unlabeled: FloatArray = np.cumsum(counts.unlabeled, dtype=np.float64) / counts.n_unlabeled
    if method == "bbe":
        high = unlabeled + np.sqrt(np.log(2 / error) / (2 * n_unlabeled))
        low = above - np.sqrt(np.log(2 / error) / (2 * n_labeled))
    else:
        ranks: FloatArray = np.ceil(np.array(LEVELS, dtype=np.float64) * n_labeled)
        ranks = ranks[(ranks >= FEWEST) & (ranks <= n_labeled)]
        if not ranks.size:
            return 1.0
        # A hair below, so that a share summed up in floats still counts as reached.
        reached = np.searchsorted(above, ranks / n_labeled * (1 - 1e-12))
        share = error / (2 * ranks.size)
        high = binomial_upper(n_unlabeled * unlabeled[reached], n_unlabeled, share)
        low = binomial_lower(ranks, n_labeled, share)
    useful = low > 0
    return float(min(1.0, np.min(high[useful] / low[useful], initial=1.0)))


def binomial_upper(
    successes: FloatArray, trials: float | FloatArray, error: float | FloatArray
) -> FloatArray:
    r"""Exact upper confidence bound of a binomial proportion (Clopper and Pearson).

    The :math:`p` with :math:`P(Bin(n, p) \le k) = \varepsilon`, a quantile of
    Beta(:math:`k+1, n-k`). Neither number need be whole.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.estimators.base import binomial_upper
    >>> binomial_upper(np.array([5.0, 100.0]), 100, 0.1).round(7)
    array([0.0907715, 1.       ])
    """
    failures = np.asarray(trials - successes, dtype=np.float64)
    some = failures > 1e-9  # what is left of all but rounding is nothing
    found = betaincinv(successes + 1, np.where(some, failures, 1.0), 1 - np.asarray(error))
    return np.where(some, found, 1.0)


def binomial_lower(
    successes: FloatArray, trials: float | FloatArray, error: float | FloatArray
) -> FloatArray:
    """Exact lower confidence bound of a binomial proportion.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.estimators.base import binomial_lower
    >>> binomial_lower(np.array([0.0, 80.0]), 100, 0.1).round(7)
    array([0.       , 0.7393153])
    """
    return 1 - binomial_upper(trials - successes, trials, error)


def row_shares(tallies: CountArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Shares at or above each threshold for each row of counts, and the effective sizes of rows.

    A replicate's weights are as uneven as those of the data, which give the ``unit``.
    """
    shares = np.cumsum(tallies, axis=1, dtype=np.float64)
    totals = shares[:, -1].copy()
    with np.errstate(invalid="ignore"):  # an empty replicate has no shares, and no estimate
        shares /= totals[:, None]
    return shares, totals * unit


# -- Estimators ----------------------------------------------------------------------------------


# -- Intervals: every replicate estimates alpha and beta again -----------------------------------


IntervalMethod = Literal["bootstrap", "m-out-of-n", "bound", "posterior"]

_NamedEnds = dict[str, tuple[float, float]]

_CELLS = 2**21
"""Counts held at a time while resampling: 16 MiB a side."""

_EXPONENT = 0.7
"""Subsamples of a sample of n hold n ** 0.7 examples."""

_FEWEST = 10
"""No subsample has fewer examples on its smaller side, unless the sample itself has."""

HALF_SAMPLES = "half-samples"
"""How intervals from halves of the rows, none of them twice, name their method."""

_MOST = 10**8
"""Of more examples copies are drawn: there are too few in each fold to be of consequence."""


def intervals_of_draws(
    proportions: MixtureProportions,
    draws: FloatArray,
    level: float,
    words: str,
    share: float = 1.0,
) -> Mapping[str, Interval]:
    """Intervals from alpha and beta of replicates, NaN where there was no estimate.

    Replicates hold ``share`` of the examples; the errors of smaller ones are shrunk. Halves are
    moved to the estimate first.
    """
    if words.startswith(HALF_SAMPLES):
        draws = centered(draws, proportions)
    known = draws[~np.isnan(draws[:, 0])]
    n_rejected = len(draws) - len(known)
    if n_rejected:
        words += f", {n_rejected} of {len(draws)} draws rejected"
    ends: _NamedEnds = dict.fromkeys(("alpha", "beta", "delta"), (0.0, 1.0))
    if 2 * n_rejected > len(draws):
        # What most replicates fail to see the rest cannot vouch for.
        return _intervals(proportions, ends, level, f"{words}: not identified")
    alpha, beta = known.T
    for key, values in {"alpha": alpha, "beta": beta, "delta": beta - alpha}.items():
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        if words.startswith("m-out-of-n"):
            # Errors of subsamples, shrunk to the size of the sample, taken off the estimate.
            shrink, estimate = share**0.5, getattr(proportions, key)
            low, high = (estimate - shrink * (end - estimate) for end in (high, low))
        ends[key] = float(low), float(high)
    return _intervals(proportions, ends, level, words)


def proportion_draws(
    estimator: ProportionEstimator, resampler: Resampler, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Alpha and beta of replicates, shape (n_resamples, 2), NaN where there is no estimate."""
    counts = resampler.counts
    size = max(1, min(n_resamples, _CELLS // counts.n_thresholds))
    found = []
    token = _shared.set(_shared.get() if size == n_resamples else None)  # more are not kept
    try:
        for start in range(0, n_resamples, size):
            sides = _drawn(resampler, rng, min(size, n_resamples - start))
            found.append(estimator.proportions_many(counts, *sides))
    finally:
        _shared.reset(token)
    return np.concatenate(found)


_shared: ContextVar[dict[tuple[Any, ...], Any] | None] = ContextVar("_shared", default=None)


@contextmanager
def shared_replicates() -> Iterator[None]:
    """Estimators that see the same replicates draw them once, and what they share is found once.

    Replicates that do not fit into one block are drawn by each: all of them take too much memory.
    """
    token = _shared.set({})
    try:
        yield
    finally:
        _shared.reset(token)


def found_once(key: str, objects: tuple[object, ...], find: Callable[[], T]) -> T:
    """What was found for the same objects before, among :func:`shared_replicates`."""
    known = _shared.get()
    if known is None:
        return find()
    place = (key, *map(id, objects))
    if place not in known:
        known[place] = find(), objects  # kept, so that no other object gets the same id
    return known[place][0]


def _drawn(resampler: Resampler, rng: np.random.Generator, n: int) -> tuple[CountArray, CountArray]:
    """So many replicates, or those that the same generator drew before."""
    if _shared.get() is None or not isinstance(resampler, resampling.MultinomialResampler):
        return resampling.draw_many(resampler, rng, n)
    sides, rng.bit_generator.state = found_once(
        f"{n} replicates from {rng.bit_generator.state}",
        (resampler.counts,),
        lambda: (resampling.draw_many(resampler, rng, n), rng.bit_generator.state),
    )
    return sides


def centered(draws: FloatArray, proportions: MixtureProportions) -> FloatArray:
    r"""Move the medians of alpha and beta of the replicates to the estimates.

    The mean of a half differs from that of the whole with the variance
    :math:`\sigma^2(2/n - 1/n) = \sigma^2/n`, just as the latter differs from the truth; so the
    spread of halves is that of the estimate. Their place is that of an estimate from half as many
    rows, and it is not that of this one where bias depends on the number of rows.
    """
    known = ~np.isnan(draws[:, 0])
    if not known.any():
        return draws
    estimate = np.array([proportions.alpha, proportions.beta])
    return np.asarray(draws + (estimate - np.median(draws[known], axis=0)))


def _intervals(
    proportions: MixtureProportions,
    ends: _NamedEnds,
    level: float,
    method: str,
) -> Mapping[str, Interval]:
    return FrozenDict(
        {
            key: Interval(
                estimate=getattr(proportions, key),
                low=min(max(low, 0.0), 1.0),
                high=min(max(high, 0.0), 1.0),
                confidence_level=level,
                method=method,
                varied="scores and proportions",
            )
            for key, (low, high) in ends.items()
        }
    )


@dataclass(frozen=True)
class _SubsampleResampler:
    """Draw a share of the examples with replacement, on each side."""

    counts: ScoreCounts
    share: float

    def draw(self, rng: np.random.Generator) -> ScoreCounts:
        labeled = self._draw(rng, self.counts.labeled, self.counts.labeled_sq)
        unlabeled = self._draw(rng, self.counts.unlabeled, self.counts.unlabeled_sq)
        return replace(self.counts, labeled=labeled, unlabeled=unlabeled)

    def _draw(
        self, rng: np.random.Generator, tally: CountArray, squares: FloatArray | None
    ) -> CountArray:
        total = tally.sum().item()
        n = effective_size(total, squares)
        drawn = rng.multinomial(max(1, round(self.share * n)), tally / total)
        # Weighted examples each stand for so much.
        return drawn if squares is None else drawn * (total / n)


def subsample_share(n_labeled: float, n_unlabeled: float) -> float:
    """The share of samples of these sizes that leaves n ** 0.7 of the n of the smaller one.

    One share for both sides keeps their ratio, on which the distribution of an estimate
    depends, and gives one factor by which to shrink it.
    """
    n = min(n_labeled, n_unlabeled)
    return min(1.0, max(n**_EXPONENT, _FEWEST) / n)


def half(n: int) -> int:
    """Size of a half; one row has none, and is kept."""
    return max(1, n // 2)


@dataclass(frozen=True)
class HalfResampler:
    """Draw half of the examples, none of them twice, on each side."""

    counts: ScoreCounts

    def draw(self, rng: np.random.Generator) -> ScoreCounts:
        """Counts of one replicate."""
        labeled, unlabeled = (
            self._draw(rng, side) for side in (self.counts.labeled, self.counts.unlabeled)
        )
        return replace(self.counts, labeled=labeled, unlabeled=unlabeled)

    def _draw(self, rng: np.random.Generator, tally: CountArray) -> CountArray:
        n = int(tally.sum())
        if n > _MOST:
            return rng.multinomial(n, tally / n)
        whole = tally.astype(np.int64)
        return rng.multivariate_hypergeometric(whole, half(n), method="marginals")


def _check_resampler(method: str, resampler: object) -> None:
    if resampler is None:
        return
    if not (hasattr(resampler, "draw") and hasattr(resampler, "counts")):
        hint = "make one with group_resampler(scores, labeled, groups)"
        raise valid.bad_type("resampler", "None or a resampler", resampler, hint)
    if method != "bootstrap":
        raise valid.bad_value(
            "method",
            "'bootstrap' where a resampler is given",
            repr(method),
            "subsamples and bounds need independent rows",
        )


# -- Parameters as scikit-learn knows them, without scikit-learn ---------------------------------

_WIDTH = 80
"""A longer repr has a line for each parameter."""


def clone(value: T) -> T:
    """A copy with the same parameters and nothing learned, as ``sklearn.base.clone`` makes it."""
    if isinstance(value, (list, tuple)):
        return type(value)([clone(each) for each in value])
    if isinstance(value, Parametrized):
        own = value.get_params(deep=False)
        return type(value)(**{name: clone(each) for name, each in own.items()})
    if hasattr(value, "get_params") and not isinstance(value, type):
        from sklearn.base import clone as theirs

        return theirs(value)
    return deepcopy(value)


class Parametrized:
    """What ``sklearn.base.BaseEstimator`` gives: parameters by name, their repr, clones, tags."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters of ``__init__``, in alphabetical order."""
        given = inspect.signature(cls).parameters.values()
        return sorted(each.name for each in given if each.kind != each.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` also those of parameters that have some.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add them, as ``<parameter>__<its parameter>``.

        Returns
        -------
        dict of str to object
            Names and values.
        """
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            found[name] = value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params().items()
                found |= {f"{name}__{key}": each for key, each in inner}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, named as by :meth:`get_params`.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        self
        """
        known = self._get_param_names()
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, is_nested, inner = key.partition("__")
            if name not in known:
                # scikit-learn's words: its checks and its users look for them.
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {known!r}."
                )
            if is_nested:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner_params in nested.items():  # of parameters that may just have been set
            getattr(self, name).set_params(**inner_params)
        return self

    def __repr__(self) -> str:
        """The name and the parameters that differ from their defaults."""
        defaults = inspect.signature(type(self)).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        start = f"{type(self).__name__}("
        line = start + ", ".join(shown) + ")"
        if len(line) <= _WIDTH:
            return line
        return start + textwrap.indent(",\n".join(shown), " " * len(start)).lstrip() + ")"

    def __sklearn_clone__(self) -> Self:
        return clone(self)

    def __sklearn_tags__(self) -> Tags:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)


# -- What every estimator has in common ----------------------------------------------------------


MAX_THRESHOLDS = 2**14
"""Counts with more distinct scores are thinned before they are resampled."""


@dataclass(frozen=True)
class Inclusions:
    """What an estimator finds in counts.

    Attributes
    ----------
    a : float
        Largest share of the labeled density inside the unlabeled one; alpha if labels are clean.
    b : float
        Largest share of the unlabeled density inside the labeled one; 0 if labels are clean.
    notes : tuple of str
        Sentences a user should read beside the estimate; empty if all is well.
    details : mapping of str to object
        What else the estimator has to show: plain numbers, strings, booleans, small arrays.
    """

    a: float
    b: float = 0.0
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def at_edge(self) -> bool:
        """Whether ``details`` say that a lies at an end of what the method can return."""
        return bool(self.details.get("at_edge", False))

    @property
    def identifiable(self) -> bool:
        """Whether the scores can tell, unless ``details`` say that they cannot."""
        return bool(self.details.get("identifiable", True))


def inclusions_of(estimate: Callable[[T], Inclusions], replicates: Iterable[T]) -> FloatArray:
    """Inclusions a and b of replicates, one row each; NaN where one allows no estimate."""
    found = []
    for drawn in replicates:
        try:
            inclusions = estimate(drawn)
            found.append((inclusions.a, inclusions.b))
        except IdentifiabilityError:
            found.append((np.nan, np.nan))
    return np.array(found, dtype=np.float64).reshape(-1, 2)


class PriorEstimator(Parametrized, ABC):
    """Base class of everything that estimates alpha (and beta) from scores.

    A subclass names its parameters in ``__init__``, as scikit-learn wants it, and implements
    :meth:`_estimate`; :meth:`_estimate_many`, if it can treat many replicates at once faster
    than one by one.

    Attributes
    ----------
    proportions_ : MixtureProportions
        The estimate.
    interval_ : mapping of str to Interval
        Intervals of ``"alpha"``, ``"beta"`` and ``"delta"``, computed when first read.
    diagnostics_ : mapping of str to object
        ``"notes"``: sentences a user should read beside the estimate; ``"identifiable"``: whether
        the scores can tell; and what else the estimator has to show.
    """

    takes: ClassVar[str] = "scores"
    """What is estimated from: "scores", or "features" where several columns are welcome."""

    noisy: ClassVar[bool] = False
    """Whether beta is estimated too, unless a parameter ``clean`` is "always"; otherwise labels are
    taken as clean, beta = 1."""

    reference: ClassVar[str] = ""
    """Where the method was published."""

    interval_method: ClassVar[str] = "bootstrap"
    """How intervals are found where the caller names no method."""

    posterior_words: ClassVar[str] = "posterior quantiles"
    """What an interval that needs no replicates says of how it was found."""

    # -- what subclasses provide --------------------------------------------------------

    @abstractmethod
    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        """The inclusions of these counts."""

    def _check_params(self) -> None:
        """Complain about parameters of ``__init__``, in the name of the class.

        Fields made by `checked` are looked at here; subclasses add what no field tells alone.
        """
        check_fields(self)

    def _for_draws(self) -> PriorEstimator:
        """What stands for this estimator where only differences between many samples matter."""
        return self

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Inclusions of replicates.

        Parameters
        ----------
        counts : ScoreCounts
            The data, whose thresholds the replicates share.
        labeled, unlabeled : ndarray of shape (n_replicates, n_thresholds)
            Their counts; sums of weights, like those of the data, if rows carried weights.

        Returns
        -------
        ndarray of shape (n_replicates, 2)
            a and b of each; NaN where a replicate allows no estimate.
        """
        return inclusions_of(self._estimate, replicates_of(counts, labeled, unlabeled))

    def _estimate_once(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """:meth:`_estimate_many`, or what another of the same parameters found for the same."""
        return found_once(
            repr(self),
            (type(self), labeled, unlabeled),
            lambda: self._estimate_many(counts, labeled, unlabeled),
        )

    def _flip(self, counts: ScoreCounts) -> ScoreCounts:
        """Counts with the roles of the two samples exchanged, for an estimate of b."""
        return flipped_counts(counts)

    def _for_exchanged(self) -> PriorEstimator:
        """What stands for this estimator where :meth:`_flip` has exchanged the samples."""
        return self

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        """The same with the roles of the two samples exchanged: what is called a is their b."""
        return self._for_exchanged()._estimate(self._flip(counts))

    def _estimate_many_flipped(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """:meth:`_estimate_many` with the roles of the two samples exchanged."""
        exchanged = unlabeled[:, ::-1], labeled[:, ::-1]
        return self._for_exchanged()._estimate_many(self._flip(counts), *exchanged)

    @property
    def estimates_beta(self) -> bool:
        """Whether this estimator, with its parameters, estimates beta too."""
        return self.noisy and getattr(self, "clean", None) != "always"

    # -- what users call ----------------------------------------------------------------

    @public
    def fit(
        self,
        scores: Any,
        labeled: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Estimate the proportions.

        Parameters
        ----------
        scores : array-like of shape (n,) or ScoreCounts
            Scores of held-out examples, larger means more positive; or their counts, and then
            nothing else.
        labeled : array-like of shape (n,)
            True where the example carries the positive label.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.

        Returns
        -------
        self
        """
        self._check_params()
        counts = read_counts(scores, labeled, sample_weight)
        check_both_sides(counts)
        with threadpool_limits(1, user_api="blas"):  # fits as small as these gain nothing
            found = self._estimate(counts)
        self._keep(found, common_notes(counts), n_features=1)
        thin = partial(counts.thinned, MAX_THRESHOLDS)
        self._counts = found_once("thinned", (counts,), thin)
        return self

    def _keep(self, found: Inclusions, notes: tuple[str, ...], *, n_features: int) -> None:
        """What a fit leaves behind, or a complaint that there is nothing to tell apart."""
        name, inner = type(self).__name__, getattr(self, "estimator", None)
        whose = type(inner if isinstance(inner, PriorEstimator) else self).__name__
        if not isinstance(found, Inclusions):
            must = f"{whose}._estimate must return Inclusions(a), got {valid.show(found)}."
            raise InvalidTypeError(must)
        if not (found.a >= 0 and found.b >= 0):  # 1 and more say that there is no contrast
            raise InvalidInputError(
                f"{whose}._estimate must return inclusions in [0, 1], got {found.a:.3g} and "
                f"{found.b:.3g}.",
                hint="raise an IdentifiabilityError where there is no estimate",
            )
        if not (found.a < 1 and found.b < 1):
            raise IdentifiabilityError(
                f"{name} finds no sign that the labeled examples hold more positives than the "
                f"unlabeled ones (inclusions {found.a:.3g} and {found.b:.3g}), so alpha and beta "
                "cannot be told apart (PU001).\n"
                "Hint: are the scores from held-out examples, and larger for positives? If so, the "
                "classifier does not separate the two samples"
            )
        self.proportions_ = MixtureProportions.from_inclusions(found.a, found.b, origin=name)
        details = {"identifiable": True, **found.details, "notes": (*notes, *found.notes)}
        self.diagnostics_ = FrozenDict(details)
        self.n_features_in_ = n_features
        self.__dict__.pop("interval_", None)  # of an earlier fit

    @cached_property
    def interval_(self) -> Mapping[str, Interval]:
        """Intervals of alpha, beta and delta at the default settings."""
        return self.interval()

    @public
    def interval(
        self,
        *,
        confidence_level: float = 0.95,
        method: IntervalMethod | None = None,
        n_resamples: int = 1000,
        random_state: RandomState = 0,
        resampler: Resampler | None = None,
    ) -> Mapping[str, Interval]:
        r"""Intervals of alpha, beta and their difference that include re-estimation.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Nominal coverage.
        method : {"bootstrap", "m-out-of-n", "bound", "posterior"}, optional
            How the ends are found; see Notes. Default: the bootstrap, or the posterior where
            the estimator has one (:class:`LabelCurve`).
        n_resamples : int, default=1000
            Number of replicates; the bound and the posterior need none.
        random_state : int, numpy.random.Generator or None, default=0
            Where randomness comes from.
        resampler : GroupResampler, optional
            Draws the replicates of the bootstrap instead; :func:`group_resampler` makes one for
            dependent rows.

        Returns
        -------
        mapping of str to Interval
            Keys ``"alpha"``, ``"beta"`` and ``"delta"``. Replicates that allow no estimate with
            alpha below beta are rejected, and the interval's ``method`` counts them; if they are
            more than half, the intervals are [0, 1] and say "not identified".

        Notes
        -----
        ``"bootstrap"`` takes percentiles over replicates of the same size. An inclusion is an
        infimum, which is not differentiable, so that consistency of the bootstrap is not
        guaranteed.

        ``"m-out-of-n"`` is meant for estimators that are not smooth. Replicates hold a share
        :math:`s` of the examples on each side, with :math:`s n = n^{0.7}` on the smaller one.
        From their
        quantiles :math:`q` and the estimate :math:`\hat\theta` follow the ends
        :math:`\hat\theta - \sqrt{s}\,(q - \hat\theta)`, cut to [0, 1]. The estimate itself
        may lie outside, if small samples bias the estimator much. Where the two variants
        disagree, trust neither.

        ``"bound"`` holds at its level for every sample size and every pair of densities: upper
        bounds :math:`A` of the inclusion :math:`a` and, if beta is estimated, :math:`B` of
        :math:`b` (each at half the error) leave :math:`\alpha \in [0, A]`,
        :math:`\beta \in [1-B, 1]` and
        :math:`\beta - \alpha \in [(1-A)(1-B)/(1-AB), 1]`. The three hold at once, whether or
        not the proportions are identifiable.

        ``"posterior"`` takes quantiles of the posterior distribution.
        """
        self._check_fitted("interval")
        level = check_level(confidence_level)
        if method is not None:
            valid.check_choice("method", method, get_args(IntervalMethod))
        chosen = method or self._usual_method(resampler)
        n_resamples = valid.check_integer("n_resamples", n_resamples, low=1, high=10**7)
        rng = valid.check_random_state(random_state)
        _check_resampler(chosen, resampler)
        if chosen == "bound":
            ends, words = self._bounds(level), "one-sided bounds"
        elif chosen == "posterior":
            ends, words = self._posterior_ends(level), self.posterior_words
        else:
            draws, words, share = self._replicates(chosen, resampler, n_resamples, rng)
            return intervals_of_draws(self.proportions_, draws, level, words, share)
        return _intervals(self.proportions_, ends, level, words)

    def _usual_method(self, resampler: object) -> str:
        """How intervals are found where the caller names no method."""
        # Dependent rows have no posterior, only replicates.
        return self.interval_method if resampler is None else "bootstrap"

    def _replicates(
        self, method: str, resampler: Any, n_resamples: int, rng: np.random.Generator
    ) -> tuple[FloatArray, str, float]:
        """Alpha and beta of replicates, how they were drawn, and their share of the examples."""
        words, share = "bootstrap percentile", 1.0
        if resampler is not None:
            words += ", groups" if isinstance(resampler, GroupResampler) else ", own resampler"
        elif method == "m-out-of-n":
            words, share = "m-out-of-n bootstrap", subsample_share(*effective_sizes(self._counts))
            resampler = _SubsampleResampler(self._counts, share)
        else:
            resampler = resampling.resampler_for(self._counts, "multinomial")
        return proportion_draws(self, resampler, n_resamples, rng), words, share

    def _posterior_ends(self, level: float) -> _NamedEnds:  # noqa: ARG002
        must = "one that needs no posterior, which only LabelCurve has"
        raise valid.bad_value("method", must, "'posterior'", "use method='bootstrap'")

    def _bounds(self, level: float) -> _NamedEnds:
        r"""Region of all proportions whose inclusions are not refuted.

        With :math:`a \le A` and :math:`b \le B`, alpha rises with a and falls with b, beta
        likewise, and delta falls with both, so the ends are taken on at corners of the region.
        """
        b = 0.0
        if self.estimates_beta:
            level = 1 - (1 - level) / 2
            b = inclusion_bound(flipped_counts(self._counts), confidence_level=level)
        a = inclusion_bound(self._counts, confidence_level=level)
        least_delta = (1 - a) * (1 - b) / (1 - a * b) if a * b < 1 else 0.0
        return {"alpha": (0.0, a), "beta": (1 - b, 1.0), "delta": (least_delta, 1.0)}

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates, one row each; NaN where there is no estimate.

        The parameters are those of :meth:`_estimate_many`. A replicate whose alpha is not below
        its beta has no estimate.
        """
        return proportions_of_many(self._estimate_many(counts, labeled, unlabeled))

    # -- scikit-learn -------------------------------------------------------------------

    def _check_fitted(self, method: str) -> None:
        if not hasattr(self, "proportions_"):
            from sklearn.exceptions import NotFittedError

            name = type(self).__name__
            raise NotFittedError(f"{name}.{method} needs a fitted estimator; call fit first")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags


EstimatorT = TypeVar("EstimatorT", bound=type[PriorEstimator])


def proportions_of_many(inclusions: FloatArray) -> FloatArray:
    """Alpha and beta of each row of a and b; NaN where alpha is not below beta."""
    a, b = inclusions.T
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha, beta = a * (1 - b) / (1 - a * b), (1 - b) / (1 - a * b)
        lost = ~(alpha < beta)
    return np.where(lost[:, None], np.nan, np.column_stack((alpha, beta)))


# -- All estimators by name ----------------------------------------------------------------------


_REGISTERED: dict[str, type[PriorEstimator]] = {}


@public
def register_prior_estimator(name: str) -> Callable[[EstimatorT], EstimatorT]:
    """Add an estimator to :func:`prior_estimators` under a name.

    Parameters
    ----------
    name : str
        The name, in small letters and digits, words joined by hyphens.

    Returns
    -------
    callable
        A decorator for a subclass of :class:`PriorEstimator` that can be made without
        arguments.

    See Also
    --------
    prior_estimators : All that are registered.

    Examples
    --------
    Twice the share of unlabeled scores above the median of the labeled ones is a crude upper
    bound of the share of positives. As an estimator:

    >>> import numpy as np
    >>> import purecover as pu
    >>> class Half(pu.estimators.PriorEstimator):
    ...     def _estimate(self, counts):
    ...         above = 2 * np.cumsum(counts.labeled) <= counts.n_labeled
    ...         share = counts.unlabeled[above].sum() / counts.n_unlabeled
    ...         return pu.estimators.Inclusions(min(1.0, 2 * share))
    >>> scores, labeled = [6, 5, 4, 3, 2, 1, 0, 0], [1, 0, 1, 1, 1, 0, 0, 0]
    >>> Half().fit(scores, labeled).proportions_
    MixtureProportions(alpha=0.5, beta=1.0, origin='Half', scenario='case-control')

    Written above the class, this adds it to the others:

    >>> decorator = pu.estimators.register_prior_estimator("half")
    """
    must = "a name of small letters and digits, words joined by hyphens"
    if not isinstance(name, str):
        raise valid.bad_type("name", must, name, "write @register_prior_estimator('my-name')")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise valid.bad_value("name", must, repr(name))

    @public
    def register_prior_estimator(cls: EstimatorT) -> EstimatorT:
        given: object = cls  # decorators meet anything
        if not (isinstance(given, type) and issubclass(given, PriorEstimator)):
            raise valid.bad_type("cls", "a subclass of PriorEstimator", given)
        if inspect.isabstract(given):
            hint = "write a method _estimate(self, counts) that returns Inclusions"
            raise valid.bad_value("cls", "a class without abstract methods", repr(given), hint)
        if needed := _required(given):
            must = "a class that can be made without arguments"
            got = f"{given.__name__}, which needs {', '.join(needed)}"
            raise valid.bad_value("cls", must, got, "give each of them a default")
        taken = _REGISTERED.get(name)
        # The same class again, from a notebook cell or a reloaded module, is welcome.
        if taken is not None and repr(taken) != repr(given):
            raise valid.bad_value("name", "one that is not taken", f"{name!r} ({taken})")
        _REGISTERED[name] = given
        return cls

    return register_prior_estimator


def prior_estimators() -> dict[str, type[PriorEstimator]]:
    """Every estimator of alpha and beta, by name.

    Returns
    -------
    dict of str to type
        Name to class, in alphabetical order: those of this package, and those added by
        :func:`register_prior_estimator`. Each can be made without arguments.

    See Also
    --------
    register_prior_estimator : Add one.

    Examples
    --------
    >>> import purecover as pu
    >>> pu.estimators.prior_estimators()["bbe"]()
    BBE()
    """
    # Modules register their classes when imported.
    for module in iter_modules(import_module(__package__).__path__):
        import_module(f"{__package__}.{module.name}")
    return dict(sorted(_REGISTERED.items()))


def _required(cls: type) -> list[str]:
    """Parameters of ``__init__`` without a default."""
    wild = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(cls).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.kind not in wild]
