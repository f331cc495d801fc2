"""`Quantifier`: fitted once, it reads alpha of later samples that have no labels."""

from __future__ import annotations

import warnings
from statistics import NormalDist
from typing import Any, Self

import numpy as np

from purecover import MixtureProportions, ScoreCounts, evaluate
from purecover.estimators import PriorEstimator, ReferencePosterior
from purecover.exceptions import IdentifiabilityError, InvalidInputError, RecoveryWarning
from purecover.intervals import Interval
from purecover.recovery import correct_posterior
from purecover_paper.systems.arrays import FloatArray, weight_units

_GROUPS = 400
"""Replicates are kept in so many groups of scores at most."""

_FAR, _FAR_ERRORS = 0.1, 2.7
"""A distance of distribution functions that matters, and one that chance has once in a million."""

_FEWEST = 50
"""Rows of a sample at least: of ten, 95 % intervals contain the truth in 83 %."""

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
    estimator : PriorEstimator, optional
        What estimates them; the default of :func:`evaluate` if not given.
    n_resamples : int, default=200
        Number of replicates for the intervals.
    confidence_level : float, default=0.95
        Of the intervals.
    random_state : int or None, default=0
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
    from isotonic shares of labeled in bins of the scores, and :math:`\pi` found by turns. Intervals
    draw labeled and unlabeled again, and alpha and beta with them where they are estimated; each
    end has the error that the mean of a sample with that very share has (a score test). An error
    of alpha moves all later samples alike: differences between them are surer than each.

    Examples
    --------
    >>> from purecover import simulate
    >>> from purecover_paper.systems import Quantifier
    >>> world = simulate.binormal(2.0)
    >>> first = world.sample(1000, 5000, alpha=0.2, random_state=0)
    >>> quantifier = Quantifier(alpha=0.2).fit(first.scores, first.labeled)
    >>> later = world.sample(1, 2000, alpha=0.6, random_state=1)
    >>> found = quantifier.quantify(later.scores[~later.labeled])
    >>> 0.6 in found, round(found.estimate, 1)
    (True, 0.6)
    """

    proportions_: MixtureProportions

    def __init__(
        self,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        estimator: PriorEstimator | None = None,
        n_resamples: int = 200,
        confidence_level: float = 0.95,
        random_state: int | None = 0,
    ) -> None:
        if alpha is not None and estimator is not None:
            raise InvalidInputError(
                "The 'estimator' parameter must be left out if 'alpha' is given."
            )
        self.alpha, self.beta = alpha, beta
        self.estimator = ReferencePosterior() if estimator is None else estimator
        self.n_resamples, self.confidence_level = n_resamples, confidence_level
        self.random_state = random_state

    def fit(self, scores: Any, labeled: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn how scores of positives and negatives differ.

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
        Quantifier
            Itself.
        """
        counts = scores
        if not isinstance(scores, ScoreCounts):
            counts = ScoreCounts.from_scores(scores, labeled, sample_weight=sample_weight)
        if self.alpha is None:
            found = self.estimator.fit(counts).proportions_
            alpha, beta = self._with_beta(np.array([[found.alpha, found.beta]]))[0]
            self.proportions_ = MixtureProportions(alpha, beta)
        else:
            beta = 1.0 if self.beta is None else self.beta
            self.proportions_ = MixtureProportions(self.alpha, beta)
            for each in evaluate(counts, proportions=self.proportions_, n_resamples=0).checks:
                if each.code == "PU008" and each.fired:
                    raise IdentifiabilityError(f"{each.message}\nHint: {each.hint}")
        thin = counts.thinned(_GROUPS)
        self._ratio = _likelihood_ratio(counts, self.proportions_)
        self._places = thin.thresholds
        self._sizes = tuple(np.array([counts.n_labeled, counts.n_unlabeled]) * weight_units(counts))
        self._masses = thin.labeled / thin.n_labeled, thin.unlabeled / thin.n_unlabeled
        self._drawn = self._replicates(thin)
        return self

    def quantify(self, scores: Any) -> Interval:
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
        if not hasattr(self, "proportions_"):
            raise InvalidInputError("quantify needs a fitted Quantifier: call fit first.")
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1 or values.size < _FEWEST or not np.isfinite(values).all():
            raise InvalidInputError(
                f"quantify needs at least {_FEWEST} scores, got {values.size}: intervals of fewer "
                "do not cover. All must be finite, in one column."
            )
        places = self._places[::-1]  # each score is read like its group of those fitted on
        grouped = places[np.searchsorted(places, values, side="right").clip(1) - 1]
        share, (labeled, unlabeled), given = (
            self.proportions_.alpha,
            self._masses,
            self.proportions_,
        )
        for _ in range(5):
            weight = self._weight(self._places, share)
            mean, base = float(self._weight(grouped, share).mean()), unlabeled @ weight
            place = given.delta * (mean - base) / (labeled @ weight - base)
            share = float(np.clip(given.alpha + place, 0.0, 1.0))
        self._compare(values, share)
        weight = self._weight(self._places, share)
        base, drawn = self._drawn[1] @ weight, self._drawn[2]
        gap = self._drawn[0] @ weight - base
        gap[gap == 0] = np.nan
        moments = [np.stack([weight, weight**2]) @ side for side in self._masses]

        def end(tail: float) -> float:
            # As a score test has it: the error of the mean is that of a sample with this share.
            at = share
            for _ in range(4):
                part = (at - given.alpha) / given.delta
                first, second = moments[1] + part * (moments[0] - moments[1])
                means = mean + np.sqrt(max(second - first**2, 0.0) / values.size) * _ERRORS
                draws = drawn[:, 0] + (drawn[:, 1] - drawn[:, 0]) * (means[:, None] - base) / gap
                at = float(np.nanquantile(draws, tail).clip(0, 1))
            return at

        level = self.confidence_level
        return Interval(
            estimate=share,
            low=min(end((1 - level) / 2), share),
            high=max(end((1 + level) / 2), share),
            confidence_level=level,
            method="bootstrap and score test",
            varied="scores" if self.alpha is not None else "scores and proportions",
        )

    def _replicates(self, counts: ScoreCounts) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares of the thresholds among labeled and unlabeled of replicates; alpha and beta."""
        rng = np.random.default_rng(self.random_state)
        labeled, unlabeled = (
            rng.multinomial(max(round(size), 1), mass, size=self.n_resamples)
            for size, mass in zip(self._sizes, self._masses, strict=True)
        )
        drawn = np.full((self.n_resamples, 2), (self.proportions_.alpha, self.proportions_.beta))
        if self.alpha is None:
            again = self.estimator.fit(counts)
            drawn = self._with_beta(again.proportions_many(counts, labeled, unlabeled))
        shares = (side / side.sum(axis=1, keepdims=True) for side in (labeled, unlabeled))
        return *shares, drawn

    def _with_beta(self, found: FloatArray) -> FloatArray:
        """Alpha and beta as estimated, or those with the known beta."""
        if self.beta is None:
            return found
        return np.stack([found[:, 0] / found[:, 1], np.ones(len(found))], axis=1) * self.beta

    def _compare(self, values: FloatArray, share: float) -> None:
        """Warn of scores that are far from every mixture of those it was fitted on."""
        part = (share - self.proportions_.alpha) / self.proportions_.delta
        labeled, unlabeled = self._masses
        mixed = np.cumsum(unlabeled + part * (labeled - unlabeled))
        seen = 1 - np.searchsorted(np.sort(values), self._places) / values.size
        distance = float(np.abs(seen - mixed).max())
        shares = np.array([part, 1 - part])
        error = np.sqrt(1 / values.size + float((shares**2 / self._sizes).sum()))
        if distance > max(_FAR, _FAR_ERRORS * error):
            warnings.warn(
                f"These {values.size:,} scores are distributed like no mixture of the positives "
                f"and negatives that the quantifier was fitted on (distance {distance:.2f}): what "
                "it says of them means little.\n"
                "Hint: are they of the same classifier, on the same scale, larger for positives?",
                RecoveryWarning,
                stacklevel=3,
            )

    def _weight(self, scores: FloatArray, share: float) -> FloatArray:
        """Weight of each score with which a share of positives near this one is best read off."""
        positive = np.interp(scores, *self._ratio)
        share = min(max(share, 0.01), 0.99)
        return (2 * positive - 1) / (1 - positive + share * (2 * positive - 1))


def _likelihood_ratio(
    counts: ScoreCounts, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    """Middles of bins, from the lowest, and r / (1 + r) of their likelihood ratios r."""
    from scipy.optimize import isotonic_regression

    n_bins = int(np.clip(np.sqrt(counts.n_labeled) / 3, 10, 60))
    both = (counts.labeled + counts.unlabeled)[::-1].astype(np.float64)
    place = ((np.cumsum(both) - both / 2) / both.sum() * n_bins).astype(np.intp)
    everyone, labeled, scores = (
        np.bincount(place, weights=each, minlength=n_bins)
        for each in (both, counts.labeled[::-1], both * counts.thresholds[::-1])
    )
    some = everyone > 0
    everyone, labeled, scores = everyone[some], labeled[some], scores[some]
    tau = isotonic_regression(labeled / everyone, weights=everyone).x
    share = counts.n_labeled / both.sum()
    positive = correct_posterior(tau, share, proportions, prior=0.5)
    # By the rule of three, up to three rows' worth may have been missed in a bin.
    least = np.minimum(3 / everyone, 0.5)
    return scores / everyone, np.maximum.accumulate(positive.clip(least, 1 - least))
