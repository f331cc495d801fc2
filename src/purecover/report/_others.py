"""Other estimators of alpha and beta beside the one in use: what they say, and how firmly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from purecover._given import GivenProportions
from purecover.counts import ScoreCounts
from purecover.exceptions import PurecoverError
from purecover.intervals._interval import Interval
from purecover.intervals._resample import resampler_for

if TYPE_CHECKING:  # loads scikit-learn, which a known alpha does not need
    from purecover.estimation._base import PriorEstimator
    from purecover.estimation._known_beta import KnownBeta

COMPARED = ("alphamax", "bbe", "dedpul", "roc-slope")
"""Quick estimators of unlike methods, whose agreement says how far an estimate can be trusted."""

REPLICATES = 64
"""Of each of them. Ends of an interval then err by a third of a standard error: enough to see
whether two estimators differ by more than chance, and done within a second."""

GROUPS = 2**10
"""Groups of neighboring scores that are resampled where there are more distinct scores."""

_BOTH_WAYS = {"alphamax": "alphamax-n"}
"""What has a name of its own when run both ways; :func:`compare_priors` uses it too."""


def fit_others(
    counts: ScoreCounts, given: GivenProportions, used: PriorEstimator, *, noisy: bool
) -> dict[str, PriorEstimator | KnownBeta]:
    """The other estimators, fitted; one that cannot say anything has no part in the comparison."""
    from purecover.estimation._known_beta import KnownBeta
    from purecover.estimation._noisy import NoisyLabels
    from purecover.estimation._registry import prior_estimators

    known = prior_estimators()
    inner = getattr(used, "estimator", None)
    found: dict[str, PriorEstimator | KnownBeta] = {}
    for other in COMPARED:
        if isinstance(used, known[other]) or isinstance(inner, known[other]):
            continue
        name = _BOTH_WAYS.get(other, other) if noisy else other
        estimator = known[name]()
        if noisy and not estimator.estimates_beta:
            estimator = NoisyLabels(estimator)
        try:
            estimator.fit(counts)
            found[name] = estimator if given.beta is None else KnownBeta(estimator, given.beta)
        except PurecoverError:
            continue
    return found


def other_intervals(
    others: Mapping[str, PriorEstimator | KnownBeta],
    counts: ScoreCounts,
    *,
    confidence_level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> dict[str, dict[str, Interval]]:
    """Percentile intervals of alpha, delta and, where it is estimated, beta.

    All estimators see the same replicates, at most `REPLICATES` of them, of independent rows.
    """
    from purecover.estimation._intervals import intervals_of_draws, proportion_draws

    thinned = counts.thinned(GROUPS)
    resampler = resampler_for(thinned, "multinomial")
    n_resamples = min(n_resamples, REPLICATES)
    words = f"bootstrap percentile, {n_resamples} replicates"
    if thinned.n_thresholds < counts.n_thresholds:
        words += f" of {thinned.n_thresholds:,} groups of scores"
    seed = int(rng.integers(2**63))
    found = {}
    for name, fitted in others.items():
        draws = proportion_draws(fitted, resampler, n_resamples, np.random.default_rng(seed))
        every = intervals_of_draws(fitted.proportions_, draws, confidence_level, words)
        found[name] = {
            key: interval
            for key, interval in every.items()
            if key != "beta" or fitted.estimates_beta
        }
    return found
