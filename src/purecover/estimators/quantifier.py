"""`Quantifier`: fitted once, it reads alpha of later samples that have no labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, NamedTuple, Self

import numpy as np

from purecover._typing import ArrayLike, FloatArray, RandomState
from purecover._validation import as_real_vector, public, warn
from purecover.counts import ScoreCounts
from purecover.estimators.choice import KnownBeta, check_estimator, with_clean_labels
from purecover.estimators.samples import check_both_sides, read_counts
from purecover.exceptions import InvalidInputError, RecoveryWarning
from purecover.intervals.evidence import bins_for, local_ratio
from purecover.intervals.interval import Interval
from purecover.intervals.replicates import Repeating
from purecover.proportions import GivenProportions, MixtureProportions
from purecover.recovery.means import Masses
from purecover.recovery.rates import check_agreement

_GROUPS = 400
"""Replicates are kept in so many groups of scores at most."""


_FAR, _FAR_ERRORS = 0.1, 2.7
"""A distance of distribution functions that matters, and one that chance has once in a million."""

_FEWEST = 50
"""Rows of a sample at least: of ten, 95 % intervals hold in 83 %."""


_ERRORS = np.array([NormalDist().inv_cdf((i + 0.5) / 50) for i in range(50)])
"""Errors of a mean in standard errors, each as likely as the other."""


class Quantifier:
    r"""Share of positives in later unlabeled samples, from labels drawn once.

    Fitted on labeled and unlabeled scores, it reads alpha of any number of further samples of the
    same classifier, in which the share of positives drifts while scores of positives and of
    negatives stay what they are (label shift). No sample needs a label, and none a negative.

    Parameters
    ----------
    alpha, beta : float, optional
        Shares of positives among the unlabeled and the labeled that it is fitted on; estimated
        by default.
    estimator : PriorEstimator or str, optional
        What estimates them; the default of :func:`evaluate` if not given.
    n_resamples : int, default=200
        Number of replicates for the intervals.
    confidence_level : float, default=0.95
        Of the intervals.
    random_state : int, numpy.random.Generator or None, default=0
        Where randomness comes from.

    Attributes
    ----------
    proportions_ : MixtureProportions
        Alpha and beta of the data that it was fitted on.

    Notes
    -----
    The mean of any function :math:`f` of the score is linear in the share of positives, and two
    points of that line are known: the labeled with :math:`\beta`, the unlabeled with
    :math:`\alpha`. So a new sample has

    .. math::

        \pi = \alpha + (\beta-\alpha)\,\frac{E_{new} f - E_U f}{E_L f - E_U f}.

    Any :math:`f` gives the right answer on average; the one with the least error is
    :math:`f = (r-1)/(1+\pi(r-1))` with the likelihood ratio :math:`r` of positive to negative,
    recovered as in :func:`evidence_thresholds`, and :math:`\pi` found by turns. Intervals draw
    labeled and unlabeled again, and alpha and beta with them where they are estimated; each end
    has the error that the mean of a sample with that very share has (a score test). An error of
    alpha moves all later samples alike: differences between them are surer than each.

    Examples
    --------
    >>> from purecover import simulate
    >>> from purecover.estimators import Quantifier
    >>> world = simulate.binormal(2.0)
    >>> first = world.sample(1000, 5000, alpha=0.2, random_state=0)
    >>> quantifier = Quantifier(alpha=0.2).fit(first.scores, first.labeled)
    >>> later = world.sample(1, 2000, alpha=0.6, random_state=1)
    >>> found = quantifier.quantify(later.scores[~later.labeled])
    >>> 0.6 in found, round(found.estimate, 1)
    (True, 0.6)
    """

    proportions_: MixtureProportions

    @public
    def __init__(
        self,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        estimator: Any = None,
        n_resamples: int = 200,
        confidence_level: float = 0.95,
        random_state: RandomState = 0,
    ) -> None:
        given = GivenProportions(alpha=alpha, beta=beta, estimator=estimator)
        self._given = given.validated(can_estimate=True)
        Repeating(None, n_resamples, confidence_level, random_state)  # complains of what is wrong
        self._asked = (n_resamples, confidence_level, random_state)

    @public
    def fit(
        self,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn how scores of positives and negatives differ.

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
        Quantifier
            Itself.
        """
        counts = read_counts(scores, labeled, sample_weight)
        check_both_sides(counts)
        given, again = self._given, None
        told = given.resolve(counts) if given.ways else None
        check_agreement(counts, told)
        if told is not None:
            self.proportions_ = told
        else:
            fitted = check_estimator(given.estimator)
            with_clean_labels(fitted, given.beta)
            fitted.fit(counts)
            self.proportions_ = given.estimated(fitted.proportions_)
            again = fitted if given.beta is None else KnownBeta(fitted, given.beta)
        shares, thin = self.proportions_, counts.thinned(_GROUPS)
        self._ratio = local_ratio(counts, shares, bins_for(counts))
        self._masses = Masses.of(counts, shares.alpha, shares.beta)
        self._places = Masses.of(thin, 0.0, 1.0).scores

        def measure(own: ScoreCounts, mixture: MixtureProportions) -> FloatArray:
            sides = (own.labeled / own.n_labeled, own.unlabeled / own.n_unlabeled)
            return np.concatenate((*sides, [mixture.alpha, mixture.beta]))

        self._drawn = Repeating(again, *self._asked).of(thin, shares, measure)
        return self

    @public
    def quantify(self, scores: ArrayLike) -> Interval:
        """Alpha of a sample without labels.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of the same classifier, 50 or more.

        Returns
        -------
        Interval
            The share of positives among them, in [0, 1].
        """
        return self._interval(self._read(scores))

    def _read(self, scores: ArrayLike) -> _Sample:
        if not hasattr(self, "proportions_"):
            raise InvalidInputError("{function} needs a fitted Quantifier.", hint="call fit first")
        values = as_real_vector("scores", scores)
        if values.size < _FEWEST:
            raise InvalidInputError(
                f"{{function}} needs at least {_FEWEST} scores, got {values.size}: intervals of "
                "fewer do not hold.",
                hint="pool several samples",
            )
        masses, share = self._masses, self.proportions_.alpha
        for _ in range(5):
            weight = self._weight(masses.scores, share)
            labeled, unlabeled = masses.labeled @ weight, masses.unlabeled @ weight
            mean = float(self._weight(values, share).mean())
            place = self.proportions_.delta * (mean - unlabeled) / (labeled - unlabeled)
            share = float(np.clip(self.proportions_.alpha + place, 0.0, 1.0))
        self._compare(values, share)
        size, weight = self._places.size, self._weight(self._places, share)
        ends = self._drawn[:, :size] @ weight, self._drawn[:, size:-2] @ weight
        return _Sample(values.size, mean, share, ends, self._variance(share))

    def _compare(self, values: FloatArray, share: float) -> None:
        """Warn of scores that are far from every mixture of those it was fitted on."""
        masses = self._masses
        part = (share - masses.alpha) / (masses.beta - masses.alpha)
        mixed = np.cumsum(masses.unlabeled + part * (masses.labeled - masses.unlabeled))
        seen = 1 - np.searchsorted(np.sort(values), masses.scores) / values.size
        distance = float(np.abs(seen - mixed).max())
        n_labeled, n_unlabeled = masses.sizes
        error = math.sqrt(1 / values.size + part**2 / n_labeled + (1 - part) ** 2 / n_unlabeled)
        if distance > max(_FAR, _FAR_ERRORS * error):
            warn(
                f"These {values.size:,} scores are distributed like no mixture of the positives "
                f"and negatives that the quantifier was fitted on (distance {distance:.2f}): what "
                "it says of them means little.\n"
                "Hint: are they of the same classifier, on the same scale, larger for positives?",
                RecoveryWarning,
            )

    def _interval(self, sample: _Sample) -> Interval:
        level, ends = self._asked[1], self._drawn[:, -2:].T

        def end(tail: float) -> float:
            # As a score test has it: the error of the mean is that of a sample with this share.
            at = sample.share
            for _ in range(4):
                means = sample.mean + math.sqrt(sample.variance(at) / sample.size) * _ERRORS
                places = (means[:, None] - sample.ends[1]) / sample.gap
                draws = ends[0] + (ends[1] - ends[0]) * places
                at = float(np.nanquantile(draws, tail).clip(0, 1))
            return at

        return Interval(
            estimate=sample.share,
            low=min(end((1 - level) / 2), sample.share),
            high=max(end((1 + level) / 2), sample.share),
            confidence_level=level,
            method="bootstrap and score test",
            varied="scores" if self._given.ways else "scores and proportions",
        )

    def _variance(self, about: float) -> Callable[[float], float]:
        """Of the weight for a share of about so much, in a mixture with any share."""
        masses = self._masses
        weight = self._weight(masses.scores, about)
        powers = np.stack([weight, weight**2], axis=1)
        ends = (masses.labeled @ powers, masses.unlabeled @ powers)

        def variance(share: float) -> float:
            part = (share - masses.alpha) / (masses.beta - masses.alpha)
            first, second = ends[1] + part * (ends[0] - ends[1])
            return max(float(second - first**2), 0.0)

        return variance

    def _weight(self, scores: FloatArray, share: float) -> FloatArray:
        """Weight of each score that tells best a share of positives near this one."""
        more = np.expm1(np.interp(scores, *self._ratio))
        share = min(max(share, 0.01), 0.99)
        return np.asarray(more / (1 + share * more))


class _Sample(NamedTuple):
    """Mean of a sample, and where it lies between those of labeled and unlabeled."""

    size: int
    mean: float
    share: float
    ends: tuple[FloatArray, FloatArray]
    variance: Callable[[float], float]

    @property
    def gap(self) -> FloatArray:
        """How far labeled and unlabeled of each replicate are apart; NaN where they are not."""
        gap = self.ends[0] - self.ends[1]
        return np.where(gap == 0, np.nan, gap)
