"""Base class of all estimators of alpha and beta, and the registry of estimators by name."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from purecover import _validation as valid
from purecover._parameters import check_fields
from purecover._progress import busy
from purecover._typing import ArrayLike, CountArray, FloatArray, RandomState
from purecover._validation import FrozenDict, public
from purecover.counts import ScoreCounts
from purecover.estimators.inclusion import allowed_shares
from purecover.estimators.parameters import Parametrized
from purecover.estimators.replicates import (
    HALF_SAMPLES,
    NamedEnds,
    ReplicateDraws,
    named_intervals,
    proportion_draws,
)
from purecover.estimators.samples import check_both_sides, common_notes, replicates_of
from purecover.exceptions import (
    IdentifiabilityError,
    InvalidInputError,
    InvalidTypeError,
    PurecoverWarning,
)
from purecover.intervals.interval import Interval, check_level
from purecover.intervals.resampling import GroupResampler, resampler_for
from purecover.proportions import MixtureProportions

if TYPE_CHECKING:
    from sklearn.utils import Tags

T = TypeVar("T")

IntervalMethod = Literal["bootstrap", "bound", "posterior"]

MAX_THRESHOLDS = 2**14
"""Counts with more distinct scores are thinned before they are resampled."""


@dataclass(frozen=True)
class Inclusions:
    """Shares of each sample that an estimator finds inside the other one.

    Attributes
    ----------
    a : float
        Largest share of the labeled density inside the unlabeled one; alpha if labels are clean.
    b : float
        Largest share of the unlabeled density inside the labeled one; 0 if labels are clean.
    notes : tuple of str
        Sentences a user should read with the estimate; empty if there are none.
    details : mapping of str to object
        Further results: plain numbers, strings, booleans, small arrays.
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
        """Whether the scores determine alpha; true unless ``details`` show the contrary."""
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
        ``"notes"``: sentences a user should read with the estimate; ``"identifiable"``: whether
        the scores determine them; and other results of the estimator.
    takes : str
        Input of the estimator: ``"scores"``, or ``"features"`` if it accepts several columns.
    noisy : bool
        Whether beta is estimated too, unless a parameter ``clean`` is ``"always"``; otherwise
        labels are taken as clean, beta = 1.
    interval_method : str
        How intervals are found where the caller names no method.
    """

    takes: ClassVar[str] = "scores"
    noisy: ClassVar[bool] = False
    interval_method: ClassVar[str] = "bootstrap"

    @abstractmethod
    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        """Estimate the inclusions of counts."""

    def _check_params(self) -> None:
        """Refuse bad parameters of ``__init__``.

        Fields declared by :func:`parameter` are checked here; subclasses add rules that concern
        several fields.
        """
        check_fields(self)

    def _read(self, scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None) -> Any:
        """Read what ``fit`` is given: counts, or what an estimator that takes features works on.

        The latter has ``n_features``, ``n_labeled``, ``n_unlabeled`` and ``flipped``.
        """
        if labeled is None and not isinstance(scores, ScoreCounts):
            must = "an array: for each score, whether the row carries the label"
            hint = "requires y to be passed, but the target y is None"  # as scikit-learn wants it
            raise valid.bad_type("labeled", must, labeled, hint)
        counts = ScoreCounts._of(scores, labeled, sample_weight=sample_weight)
        check_both_sides(counts)
        return counts

    def _count(self, data: Any) -> ScoreCounts:
        """Count scores of what was read, to test whether labels are clean."""
        return data

    def _half(self, data: Any, rng: np.random.Generator) -> Any:
        """Draw half of what was read; where features are taken, intervals come from halves."""
        raise NotImplementedError

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Estimate the inclusions of replicates.

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

    def _flip(self, counts: ScoreCounts) -> ScoreCounts:
        """Exchange the two samples, for an estimate of b."""
        return counts.flipped()

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        """Estimate with the samples exchanged: the ``a`` of the result is b."""
        return self._estimate(self._flip(counts))

    def _estimate_many_flipped(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """:meth:`_estimate_many` with the samples exchanged."""
        return self._estimate_many(self._flip(counts), unlabeled[:, ::-1], labeled[:, ::-1])

    @property
    def estimates_beta(self) -> bool:
        """Whether this estimator, with its parameters, estimates beta too."""
        return self.noisy and getattr(self, "clean", None) != "always"

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
            Scores of held-out rows, larger means more positive; or their counts, and then
            nothing else.
        labeled : array-like of shape (n,)
            True where the row carries the positive label.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.

        Returns
        -------
        self
        """
        self._check_params()
        data = self._read(scores, labeled, sample_weight)
        with busy(), threadpool_limits(1, user_api="blas"):  # fits as small as these gain nothing
            found = self._estimate(data)
        self._keep(found, common_notes(data))
        self._data = data.thinned(MAX_THRESHOLDS) if isinstance(data, ScoreCounts) else data
        self.n_features_in_ = getattr(data, "n_features", 1)
        return self

    def _keep(self, found: Inclusions, notes: tuple[str, ...]) -> None:
        """Set the attributes of a fitted estimator; refuse inclusions without contrast."""
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
                f"{name} finds no sign that the labeled rows hold more positives than the "
                f"unlabeled ones (inclusions {found.a:.3g} and {found.b:.3g}), so alpha and beta "
                "cannot be distinguished (PU001).\n"
                "Hint: are the scores from held-out rows, and larger for positives? If so, the "
                "classifier does not separate the two samples"
            )
        self.proportions_ = MixtureProportions.from_inclusions(found.a, found.b, origin=name)
        details = {"identifiable": True, **found.details, "notes": (*notes, *found.notes)}
        self.diagnostics_ = FrozenDict(details)
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
        n_resamples: int | None = None,
        random_state: RandomState = 0,
        resampler: GroupResampler | None = None,
    ) -> Mapping[str, Interval]:
        r"""Intervals of alpha, beta and their difference that include re-estimation.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Nominal coverage.
        method : {"bootstrap", "bound", "posterior"}, optional
            How the ends are found; see Notes. Default: the bootstrap, or the posterior where
            the estimator has one (:class:`LabelCurve`), or halves where it takes features.
        n_resamples : int, optional
            Number of replicates; the bound and the posterior need none. Default: 1000, or 100
            halves.
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

        ``"bound"`` holds at its level for every sample size and every pair of densities: upper
        bounds :math:`A` of the inclusion :math:`a` and, if beta is estimated, :math:`B` of
        :math:`b` (each at half the error) leave :math:`\alpha \in [0, A]`,
        :math:`\beta \in [1-B, 1]` and
        :math:`\beta - \alpha \in [(1-A)(1-B)/(1-AB), 1]`. The three hold at once, whether or
        not the proportions are identifiable.

        ``"posterior"`` takes quantiles of the posterior distribution.

        Where features are taken, a replicate is half of the rows of each sample, none of them
        twice, and the spread of the replicates around their median is put around the estimate:
        halves of :math:`n` rows differ from the whole by as much as the whole does from the
        truth. Copies of a row would stand on both sides of a fold, or next to one another.
        """
        self._check_fitted("interval")
        level = check_level(confidence_level)
        if method is not None:
            valid.check_choice("method", method, get_args(IntervalMethod))
        chosen = method or self._usual_method(resampler)
        if n_resamples is None:
            n_resamples = 100 if chosen == HALF_SAMPLES else 1000
        n_resamples = valid.check_integer("n_resamples", n_resamples, low=1, high=10**7)
        rng = valid.check_random_state(random_state)
        if resampler is not None:
            hint = "make one with group_resampler(scores, labeled, groups)"
            valid.check_instance("resampler", resampler, GroupResampler, hint)
            if chosen != "bootstrap":
                must = "'bootstrap' where a resampler is given"
                hint = "bounds need independent rows"
                raise valid.bad_value("method", must, repr(chosen), hint)
        if chosen != HALF_SAMPLES and not isinstance(self._data, ScoreCounts):
            hint = "fit the estimator to scores"
            raise valid.bad_value("method", "left out for features", repr(chosen), hint)
        if chosen == "bound":
            ends = allowed_shares(self._data, level, None if self.estimates_beta else 1.0)
            return named_intervals(self.proportions_, ends, level, "one-sided bounds")
        if chosen == "posterior":
            # The estimate may be of all scores, and the posterior of thinned ones.
            ends = {
                name: (min(low, at := getattr(self.proportions_, name)), max(high, at))
                for name, (low, high) in self._posterior_ends(level).items()
            }
            return named_intervals(self.proportions_, ends, level, "posterior quantiles")
        draws = self._replicates(chosen, resampler, n_resamples, rng)
        return draws.intervals(self.proportions_, level)

    def _usual_method(self, resampler: object) -> str:
        """Return the method of intervals where the caller names none."""
        # Dependent rows have no posterior, only replicates.
        return self.interval_method if resampler is None else "bootstrap"

    @busy()
    def _replicates(
        self, method: str, resampler: Any, n_resamples: int, rng: np.random.Generator
    ) -> ReplicateDraws:
        """Estimate alpha and beta of replicates."""
        if method == HALF_SAMPLES:
            halves = (self._half(self._data, rng) for _ in range(n_resamples))
            found = inclusions_of(self._estimate, halves)
            return ReplicateDraws(proportions_of_many(found), HALF_SAMPLES)
        words = "bootstrap percentile" + ("" if resampler is None else ", groups")
        found = proportion_draws(self, resampler or resampler_for(self._data), n_resamples, rng)
        return ReplicateDraws(found, words)

    def _posterior_ends(self, level: float) -> NamedEnds:  # noqa: ARG002
        must = "one that needs no posterior, which only LabelCurve has"
        raise valid.bad_value("method", must, "'posterior'", "use method='bootstrap'")

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates, one row each; NaN where there is no estimate.

        The parameters are those of :meth:`_estimate_many`. A replicate whose alpha is not below
        its beta has no estimate.
        """
        return proportions_of_many(self._estimate_many(counts, labeled, unlabeled))

    def _check_fitted(self, method: str) -> None:
        if not hasattr(self, "proportions_"):
            from sklearn.exceptions import NotFittedError

            name = type(self).__name__
            raise NotFittedError(f"{name}.{method} needs a fitted estimator; call fit first")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        inner = getattr(self, "estimator", None)
        tags.input_tags.two_d_array = "features" in (self.takes, getattr(inner, "takes", None))
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
        try:
            given()
        except TypeError as error:
            must = "a class that can be made without arguments"
            got = f"{given.__name__} ({error})"
            hint = "write _estimate(self, counts), and give each parameter a default"
            raise valid.bad_value("cls", must, got, hint) from error
        taken = _REGISTERED.get(name)
        # The same class again, from a notebook cell or a reloaded module, is welcome.
        if taken is not None and repr(taken) != repr(given):
            raise valid.bad_value("name", "one that is not taken", f"{name!r} ({taken})")
        _REGISTERED[name] = given
        return cls

    return register_prior_estimator


ENTRY_POINTS = "purecover.estimators"
"""Group of entry points by which other packages name modules that register estimators."""


def prior_estimators() -> dict[str, type[PriorEstimator]]:
    """List every estimator of alpha and beta by name.

    Returns
    -------
    dict of str to type
        Name to class, in alphabetical order: the estimators of this package, of installed
        packages that have an entry point of the group ``purecover.estimators``, and those added
        by :func:`register_prior_estimator`. Each can be made without arguments.

    See Also
    --------
    register_prior_estimator : Add one.

    Examples
    --------
    >>> import purecover as pu
    >>> pu.estimators.prior_estimators()["bbe"]()
    BBE()
    """
    _load_estimators()
    return dict(sorted(_REGISTERED.items()))


@cache
def _load_estimators() -> None:
    """Import the modules of this folder and of entry points; they register their estimators."""
    for module in iter_modules(import_module(__package__).__path__):
        import_module(f"{__package__}.{module.name}")
    for point in entry_points(group=ENTRY_POINTS):
        try:
            point.load()
        except Exception as error:  # noqa: BLE001 - whatever another package does wrong
            package = point.value if point.dist is None else point.dist.name
            warnings.warn(
                f"the estimators of the package {package} cannot be loaded from {point.value}: "
                f"{type(error).__name__}: {error}",
                PurecoverWarning,
                stacklevel=3,
            )
