"""What every estimator of alpha and beta has in common: one way in, one set of results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from purecover._frozen import FrozenDict
from purecover._typing import ArrayLike, CountArray, FloatArray, RandomState
from purecover._validation import bad_type, bad_value, check_alignment, to_numpy
from purecover.counts import ScoreCounts
from purecover.estimation._intervals import IntervalMethod, proportion_intervals
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover.intervals._interval import Interval
from purecover.proportions import MixtureProportions

__all__ = ["Inclusions", "PriorEstimator", "flipped_counts"]

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


class PriorEstimator(BaseEstimator, ABC):
    """Base class of everything that estimates alpha (and beta) from scores.

    A subclass names its parameters in ``__init__``, as scikit-learn wants it, and implements
    :meth:`_estimate`; :meth:`_estimate_many`, if it can treat many replicates at once faster
    than one by one.

    Attributes
    ----------
    proportions_ : MixtureProportions
        The estimate.
    interval_ : mapping of str to Interval
        Bootstrap intervals of ``"alpha"``, ``"beta"`` and ``"delta"``, computed when first read.
    diagnostics_ : mapping of str to object
        ``"notes"``: sentences a user should read beside the estimate; ``"identifiable"``: whether
        the scores can tell; and what else the estimator has to show.
    """

    noisy: ClassVar[bool] = False
    """Whether beta is estimated too; otherwise labels are taken as clean, beta = 1."""

    reference: ClassVar[str] = ""
    """Where the method was published."""

    # -- what subclasses provide --------------------------------------------------------

    @abstractmethod
    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        """The inclusions of these counts."""

    def _check_params(self) -> None:  # noqa: B027 - nothing to check is fine
        """Complain about parameters of ``__init__``, in the name of the class."""

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Inclusions of replicates.

        Parameters
        ----------
        counts : ScoreCounts
            The data, whose thresholds the replicates share.
        labeled, unlabeled : ndarray of shape (n_replicates, n_thresholds)
            Their counts.

        Returns
        -------
        ndarray of shape (n_replicates, 2)
            a and b of each; NaN where a replicate allows no estimate.
        """
        found = np.full((len(labeled), 2), np.nan)
        for i, (few, many) in enumerate(zip(labeled, unlabeled, strict=True)):
            drawn = replace(
                counts,
                labeled=few,
                unlabeled=many,
                negative=None,
                labeled_sq=None,
                unlabeled_sq=None,
            )
            try:
                inclusions = self._estimate(drawn)
            except IdentifiabilityError:
                continue
            found[i] = inclusions.a, inclusions.b
        return found

    def _flip(self, counts: ScoreCounts) -> ScoreCounts:
        """Counts with the roles of the two samples exchanged, for an estimate of b."""
        return flipped_counts(counts)

    # -- what users call ----------------------------------------------------------------

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
        name = type(self).__name__
        counts = _read(f"{name}.fit", scores, labeled, sample_weight)
        check_both_sides(f"{name}.fit", counts)
        inclusions = self._estimate(counts)
        self.proportions_ = proportions_of(inclusions, name)
        notes = (*_common_notes(counts), *inclusions.notes)
        details = {"identifiable": True, **inclusions.details}
        self.diagnostics_ = FrozenDict({**details, "notes": notes})
        self.n_features_in_ = 1
        self._counts = counts.thinned(MAX_THRESHOLDS)
        self.__dict__.pop("interval_", None)  # of an earlier fit
        return self

    @cached_property
    def interval_(self) -> Mapping[str, Interval]:
        """Bootstrap intervals of alpha, beta and delta at the default settings."""
        return self.interval()

    def interval(
        self,
        *,
        confidence_level: float = 0.95,
        method: IntervalMethod = "bootstrap",
        n_resamples: int = 1000,
        random_state: RandomState = 0,
    ) -> Mapping[str, Interval]:
        """Intervals of alpha, beta and their difference that include re-estimation.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Nominal coverage.
        method : {"bootstrap", "m-out-of-n", "bound"}, default="bootstrap"
            See :func:`purecover.estimation.proportion_intervals`.
        n_resamples : int, default=1000
            Number of replicates.
        random_state : int, numpy.random.Generator or None, default=0
            Where randomness comes from.

        Returns
        -------
        mapping of str to Interval
            Keys ``"alpha"``, ``"beta"`` and ``"delta"``.
        """
        self._check_fitted("interval")
        return proportion_intervals(
            self,
            self._counts,
            confidence_level=confidence_level,
            method=method,
            n_resamples=n_resamples,
            random_state=random_state,
        )

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates, one row each; NaN where there is no estimate.

        The parameters are those of :meth:`_estimate_many`. A replicate whose alpha is not below
        its beta has no estimate.
        """
        a, b = self._estimate_many(counts, labeled, unlabeled).T
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha, beta = a * (1 - b) / (1 - a * b), (1 - b) / (1 - a * b)
            lost = ~(alpha < beta)
        return np.where(lost[:, None], np.nan, np.column_stack((alpha, beta)))

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

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        return state


EstimatorT = TypeVar("EstimatorT", bound=type[PriorEstimator])
Side = Literal["labeled", "unlabeled"]


def flipped_counts(counts: ScoreCounts) -> ScoreCounts:
    """Labeled and unlabeled exchanged and scores negated, which maps (a, b) to (b, a)."""
    squares = (
        None if tally is None else tally[::-1] for tally in (counts.unlabeled_sq, counts.labeled_sq)
    )
    labeled_sq, unlabeled_sq = squares
    return ScoreCounts(
        thresholds=-counts.thresholds[::-1],
        labeled=counts.unlabeled[::-1],
        unlabeled=counts.labeled[::-1],
        labeled_sq=labeled_sq,
        unlabeled_sq=unlabeled_sq,
    )


def proportions_of(inclusions: Inclusions, name: str) -> MixtureProportions:
    """Alpha and beta of an estimate, or a complaint that there is nothing to tell apart."""
    a, b = inclusions.a, inclusions.b
    if not (a < 1 and b < 1):
        raise IdentifiabilityError(
            f"{name} finds no sign that the labeled examples hold more positives than the unlabeled "
            f"ones (inclusions {a:.3g} and {b:.3g}), so alpha and beta cannot be told apart "
            "(PU001).\n"
            "Hint: are the scores from held-out examples, and larger for positives? If so, the "
            "classifier does not separate the two samples"
        )
    return MixtureProportions.from_inclusions(a, b, origin=name)


def check_both_sides(function: str, counts: ScoreCounts) -> None:
    """Refuse counts from which nobody can tell anything."""
    for side, total in (("labeled", counts.n_labeled), ("unlabeled", counts.n_unlabeled)):
        if not total > 0:
            raise bad_value(function, "labeled", f"such that an example is {side}", "none")
    used = (counts.labeled > 0) | (counts.unlabeled > 0)
    if int(used.sum()) < 2:
        raise IdentifiabilityError(
            f"{function} needs scores that differ, got {counts.thresholds[used][0]:g} throughout: "
            "a constant score says nothing about alpha and beta."
        )


FEW_LABELED, FEW_UNLABELED = 50, 100


def _common_notes(counts: ScoreCounts) -> tuple[str, ...]:
    notes = []
    if counts.n_labeled < FEW_LABELED or counts.n_unlabeled < FEW_UNLABELED:
        notes.append(
            f"only {counts.n_labeled:g} labeled and {counts.n_unlabeled:g} unlabeled examples: "
            "the estimate is rough, read its interval"
        )
    if counts.ordered_pairs <= 0.5 * counts.n_labeled * counts.n_unlabeled:
        notes.append(
            "labeled examples do not score higher than unlabeled ones (AUC at most 1/2): inverted "
            "labels or scores, or a classifier without skill"
        )
    return tuple(notes)


def _read(
    function: str, scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    if isinstance(scores, ScoreCounts):
        if labeled is not None or sample_weight is not None:
            raise InvalidInputError(
                f"{function} takes no labels or weights beside a ScoreCounts, which holds them."
            )
        return scores
    if labeled is None:
        raise bad_type(
            function,
            "labeled",
            "an array: for each score, whether the example carries the label",
            labeled,
            "requires y to be passed, but the target y is None",
        )
    check_alignment(function, scores, labeled)
    values = to_numpy(function, "scores", scores)
    if values.ndim == 2 and values.shape[1] == 1:
        scores = values[:, 0]  # a column, as scikit-learn's transformers give it
    return ScoreCounts.from_scores(scores, labeled, sample_weight=sample_weight)
