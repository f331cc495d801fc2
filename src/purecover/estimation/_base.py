"""What every estimator of alpha and beta has in common: one way in, one set of results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from purecover._frozen import FrozenDict
from purecover._typing import ArrayLike, CountArray, FloatArray, RandomState
from purecover.counts import ScoreCounts
from purecover.estimation._intervals import IntervalMethod, proportion_intervals
from purecover.estimation._samples import (
    check_both_sides,
    common_notes,
    flipped_counts,
    read_counts,
    replicates_of,
)
from purecover.exceptions import IdentifiabilityError
from purecover.intervals._interval import Interval
from purecover.intervals._resample import Resampler
from purecover.proportions import MixtureProportions

__all__ = ["Inclusions", "PriorEstimator"]

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
    """Whether beta is estimated too; otherwise labels are taken as clean, beta = 1."""

    reference: ClassVar[str] = ""
    """Where the method was published."""

    interval_method: ClassVar[str] = "bootstrap"
    """How intervals are found where the caller names no method."""

    # -- what subclasses provide --------------------------------------------------------

    @abstractmethod
    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        """The inclusions of these counts."""

    def _check_params(self) -> None:
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
        return self.noisy

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
        counts = read_counts(f"{name}.fit", scores, labeled, sample_weight)
        check_both_sides(f"{name}.fit", counts)
        inclusions = self._estimate(counts)
        self.proportions_ = proportions_of(inclusions, name)
        notes = (*common_notes(counts), *inclusions.notes)
        details = {"identifiable": True, **inclusions.details}
        self.diagnostics_ = FrozenDict({**details, "notes": notes})
        self.n_features_in_ = 1
        self._counts = counts.thinned(MAX_THRESHOLDS)
        self.__dict__.pop("interval_", None)  # of an earlier fit
        return self

    @cached_property
    def interval_(self) -> Mapping[str, Interval]:
        """Intervals of alpha, beta and delta at the default settings."""
        return self.interval()

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
        return proportion_intervals(
            self,
            self._counts,
            confidence_level=confidence_level,
            method=method or _usual_method(self, resampler),
            n_resamples=n_resamples,
            random_state=random_state,
            resampler=resampler,
        )

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


def _usual_method(estimator: PriorEstimator, resampler: object) -> Any:
    """Dependent rows have no posterior, only replicates."""
    return estimator.interval_method if resampler is None else "bootstrap"


EstimatorT = TypeVar("EstimatorT", bound=type[PriorEstimator])


def proportions_of(inclusions: Inclusions, name: str) -> MixtureProportions:
    """Alpha and beta of an estimate, or a complaint that there is nothing to tell apart."""
    a, b = inclusions.a, inclusions.b
    if not (a < 1 and b < 1):
        raise IdentifiabilityError(
            f"{name} finds no sign that the labeled examples hold more positives than the "
            f"unlabeled ones (inclusions {a:.3g} and {b:.3g}), so alpha and beta cannot be told "
            "apart (PU001).\n"
            "Hint: are the scores from held-out examples, and larger for positives? If so, the "
            "classifier does not separate the two samples"
        )
    return MixtureProportions.from_inclusions(a, b, origin=name)


def proportions_of_many(inclusions: FloatArray) -> FloatArray:
    """Alpha and beta of each row of a and b; NaN where alpha is not below beta."""
    a, b = inclusions.T
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha, beta = a * (1 - b) / (1 - a * b), (1 - b) / (1 - a * b)
        lost = ~(alpha < beta)
    return np.where(lost[:, None], np.nan, np.column_stack((alpha, beta)))
