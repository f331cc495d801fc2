"""Replicates of any vector of figures, and bands of curves of probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from purecover._typing import FloatArray, RandomState, Target
from purecover._validation import bad_type, check_choice, check_integer, check_random_state, public
from purecover.counts import ScoreCounts
from purecover.intervals.interval import CurveBand, check_level
from purecover.intervals.replicates import simultaneous_depth
from purecover.intervals.resampling import draws, resampler_for
from purecover.proportions import MixtureProportions, ProportionEstimator
from purecover.recovery.calibration import net_benefits
from purecover.recovery.means import Masses, check_probabilities, isotonic_frequency
from purecover.recovery.rates import check_data

MAX_MEASURED = 2**12
"""Scores with more distinct values are thinned before resampling."""

Measure = Callable[[ScoreCounts, MixtureProportions], FloatArray]


@dataclass(frozen=True)
class Repeating:
    """How figures are replicated: with what, how often, and by which seed."""

    estimator: ProportionEstimator | None
    n_resamples: int
    confidence_level: float
    random_state: RandomState

    def __post_init__(self) -> None:
        again = getattr(self.estimator, "proportions_many", None)
        if self.estimator is not None and not callable(again):
            must = "a fitted estimator of alpha and beta, such as AlphaMax().fit(counts)"
            raise bad_type("estimator", must, self.estimator)
        check_integer("n_resamples", self.n_resamples, low=1, high=10**7)
        check_level(self.confidence_level)
        check_random_state(self.random_state)

    def of(
        self, counts: ScoreCounts, proportions: MixtureProportions, measure: Measure
    ) -> FloatArray:
        """What ``measure`` says of replicates, a row each; an estimator varies alpha and beta."""
        rng = check_random_state(self.random_state)
        thin = counts.thinned(MAX_MEASURED)
        blocks = draws(
            resampler_for(thin, "multinomial"),
            thin,
            proportions,
            self.estimator,
            self.n_resamples,
            rng,
        )
        return np.array(
            [measure(*each) for block in blocks for each in block.each(thin, proportions)]
        )


@public
def curve_band(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    curve: Literal["calibration", "decision"],
    *,
    estimator: ProportionEstimator | None = None,
    target: Target = "population",
    kind: Literal["pointwise", "simultaneous"] = "pointwise",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    random_state: RandomState = None,
) -> CurveBand:
    """Bootstrap band of a curve of probabilities of the true class.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores: probabilities of the true class.
    proportions : MixtureProportions
        Alpha and beta.
    curve : {"calibration", "decision"}
        The curve of :func:`recover_calibration`, at 99 probabilities between the smallest and the
        largest there are, or that of :func:`recover_decision_curve`, from 0.01 to 0.99.
    estimator : PriorEstimator, optional
        The fitted estimator that gave alpha and beta, which replicates then estimate again.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population that the probabilities are for; see :meth:`MixtureProportions.prior`.
    kind : {"pointwise", "simultaneous"}, default="pointwise"
        Whether the level holds at each point, or for the whole curve.
    n_resamples : int, default=1000
        Number of replicates.
    confidence_level : float, default=0.95
        Nominal coverage.
    random_state : int, numpy.random.Generator or None, default=None
        Where randomness comes from.

    Returns
    -------
    CurveBand
        The curve and its band.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.intervals import curve_band
    >>> counts = ScoreCounts.from_counts([0.9, 0.2], labeled=[625, 375], unlabeled=[275, 725])
    >>> band = curve_band(counts, MixtureProportions(0.25, 0.75), "decision", random_state=0)
    >>> print(f"{band.estimate[49]:.3f} [{band.low[49]:.3f}, {band.high[49]:.3f}]")
    0.125 [0.086, 0.171]
    """
    check_data(counts, proportions)
    check_choice("curve", curve, ("calibration", "decision"))
    check_choice("kind", kind, ("pointwise", "simultaneous"))
    check_probabilities(counts, proportions)
    proportions.prior(target, counts)  # complains of a wrong target
    scores = Masses.of(counts, 0.0, 1.0).scores
    grid = np.linspace(scores[-1], scores[0], 99)
    if curve == "decision":
        grid = np.arange(1, 100) / 100

    def measure(own: ScoreCounts, shares: MixtureProportions) -> FloatArray:
        masses, prior = Masses.of(own, shares.alpha, shares.beta), shares.prior(target, own)
        if curve == "decision":
            return net_benefits(masses, prior, grid)[0]
        frequency = isotonic_frequency(masses, prior)
        return np.interp(grid, masses.scores[::-1], frequency[::-1])

    repeating = Repeating(estimator, n_resamples, confidence_level, random_state)
    found = repeating.of(counts, proportions, measure)
    ordered = np.sort(found, axis=0)
    if kind == "pointwise":
        tail = (1 - confidence_level) / 2
        low, high = np.quantile(ordered, [tail, 1 - tail], axis=0)
    else:
        depth = simultaneous_depth(found, ordered, confidence_level)
        low, high = ordered[depth - 1], ordered[len(found) - depth]
    return CurveBand(
        x=grid,
        estimate=measure(counts, proportions),
        low=low,
        high=high,
        confidence_level=confidence_level,
        kind=kind,
        varied="scores" if estimator is None else "scores and proportions",
    )
