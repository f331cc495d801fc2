"""What every estimator of alpha and beta has in common: one way in, one set of results."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from purecover._parameters import check_fields
from purecover._typing import ArrayLike, CountArray, FloatArray, RandomState
from purecover._validation import (
    FrozenDict,
    bad_type,
    bad_value,
    check_choice,
    check_integer,
    check_random_state,
    public,
)
from purecover.counts import ScoreCounts
from purecover.estimators.samples import (
    check_both_sides,
    common_notes,
    flipped_counts,
    inclusion_bound,
    read_counts,
    replicates_of,
)
from purecover.exceptions import IdentifiabilityError
from purecover.intervals.interval import Interval, check_level
from purecover.intervals.resampling import GroupResampler, Resampler, draw_many, resampler_for
from purecover.proportions import MixtureProportions, ProportionEstimator
from purecover.recovery.rates import effective_size, effective_sizes

# -- Intervals: every replicate estimates alpha and beta again -----------------------------------


IntervalMethod = Literal["bootstrap", "m-out-of-n", "bound", "posterior"]
INTERVAL_METHODS = ("bootstrap", "m-out-of-n", "bound", "posterior")

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
    for start in range(0, n_resamples, size):
        sides = draw_many(resampler, rng, min(size, n_resamples - start))
        found.append(estimator.proportions_many(counts, *sides))
    return np.concatenate(found)


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
        raise bad_type("resampler", "None or a resampler", resampler, hint)
    if method != "bootstrap":
        raise bad_value(
            "method",
            "'bootstrap' where a resampler is given",
            repr(method),
            "subsamples and bounds need independent rows",
        )


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


class PriorEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
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
        found = np.full((len(labeled), 2), np.nan)
        for i, drawn in enumerate(replicates_of(counts, labeled, unlabeled)):
            try:
                inclusions = self._estimate(drawn)
            except IdentifiabilityError:
                continue
            found[i] = inclusions.a, inclusions.b
        return found

    def _flip(self, counts: ScoreCounts) -> ScoreCounts:
        """Counts with the roles of the two samples exchanged, for an estimate of b."""
        return flipped_counts(counts)

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        """The same with the roles of the two samples exchanged: what is called a is their b."""
        return self._estimate(self._flip(counts))

    def _estimate_many_flipped(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """:meth:`_estimate_many` with the roles of the two samples exchanged."""
        return self._estimate_many(self._flip(counts), unlabeled[:, ::-1], labeled[:, ::-1])

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
        self._keep(self._estimate(counts), common_notes(counts), n_features=1)
        self._counts = counts.thinned(MAX_THRESHOLDS)
        return self

    def _keep(self, found: Inclusions, notes: tuple[str, ...], *, n_features: int) -> None:
        """What a fit leaves behind, or a complaint that there is nothing to tell apart."""
        name = type(self).__name__
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
            check_choice("method", method, INTERVAL_METHODS)
        chosen = method or self._usual_method(resampler)
        n_resamples = check_integer("n_resamples", n_resamples, low=1, high=10**7)
        rng = check_random_state(random_state)
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
            resampler = resampler_for(self._counts, "multinomial")
        return proportion_draws(self, resampler, n_resamples, rng), words, share

    def _posterior_ends(self, level: float) -> _NamedEnds:  # noqa: ARG002
        must = "one that needs no posterior, which only LabelCurve has"
        raise bad_value("method", must, "'posterior'", "use method='bootstrap'")

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
        raise bad_type("name", must, name, "write @register_prior_estimator('my-name')")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise bad_value("name", must, repr(name))

    def register(cls: EstimatorT) -> EstimatorT:
        given: object = cls  # decorators meet anything
        if not (isinstance(given, type) and issubclass(given, PriorEstimator)):
            raise bad_type("cls", "a subclass of PriorEstimator", given)
        if inspect.isabstract(given):
            hint = "write a method _estimate(self, counts) that returns Inclusions"
            raise bad_value("cls", "a class without abstract methods", repr(given), hint)
        if needed := _required(given):
            must = "a class that can be made without arguments"
            got = f"{given.__name__}, which needs {', '.join(needed)}"
            raise bad_value("cls", must, got, "give each of them a default")
        taken = _REGISTERED.get(name)
        # The same class again, from a notebook cell or a reloaded module, is welcome.
        if taken is not None and repr(taken) != repr(given):
            raise bad_value("name", "one that is not taken", f"{name!r} ({taken})")
        _REGISTERED[name] = given
        return cls

    return register


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
