"""Ways to narrow intervals if alpha is estimated, and estimates of other methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from purecover._codec import Saved
from purecover._typing import FloatArray
from purecover.counts import ScoreCounts
from purecover.exceptions import PurecoverError
from purecover.intervals.ends import interval_ends
from purecover.intervals.interval import Interval
from purecover.posterior.knowledge import Knowledge, groups_with, middle_of

if TYPE_CHECKING:
    from purecover.estimators.estimate import PriorEstimate

PriceName = Literal[
    "ten-rows", "labeled-rows", "clean-labels", "pure-top", "more-rows", "flagged-rows"
]

COMPARED = ("alphamax", "bbe", "dedpul", "roc-slope")
"""Quick estimators of different kinds, whose agreement shows how far an estimate can be trusted.

Two of them are those of ``purecover-paper``, and are asked where it is installed.
"""

N_JUDGED = 10
MORE = 4.0
"""Times as many rows, which halves sampling errors."""


@dataclass(frozen=True)
class Price(Saved):
    """The interval of the AUC, or of precision, that is expected with one more piece of knowledge.

    Attributes
    ----------
    name : str
        What is known: ``"ten-rows"``, ten judged rows with high scores; ``"labeled-rows"``, ten
        judged labeled rows as well; ``"clean-labels"``, verified labels; ``"pure-top"``, the
        highest scores all positives; ``"more-rows"``, four times as many rows; ``"flagged-rows"``,
        ten judged rows above the threshold, where the interval is that of precision.
    low, high : float
        Ends of the interval.
    """

    name: PriceName
    low: float
    high: float


def find_prices(
    counts: ScoreCounts, now: Interval | None, knowledge: Knowledge | None, threshold: float
) -> tuple[Price, ...]:
    r"""Return what the interval of the AUC, which is ``now``, would be with more knowledge.

    The draws of the report are weighed: by :math:`\kappa^k (1-\kappa)^{n-k}` for k positives among
    n rows judged above the median labeled score, with the share :math:`\kappa` of positives there,
    averaged over k; by that and the same of labeled rows, with the share :math:`\beta`; or by
    whether beta is 1. Precision at ``threshold`` is the share of positives at or above it.
    """
    if now is None or knowledge is None or counts.auc_pu <= 0.5:
        return ()
    level, drawn = now.confidence_level, knowledge.posterior()
    alpha, beta = drawn.shares.T
    # By the formula, and what chance adds to it.
    expected = 0.5 + (counts.auc_pu - 0.5) / (beta - alpha)
    middle = knowledge.at_mode(*middle_of(drawn.shares)).areas
    noise = drawn.areas - middle + now.estimate - expected

    def ends(values: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the ends of the values for each row of weights, as many rows as there are."""
        # What cannot be answered has a chance of 0, whatever its ends are.
        rows = (row if row.any() else None for row in weights)
        return np.array([interval_ends(values, level, row) for row in rows]).clip(0, 1)

    def auc(weights: FloatArray, share: float = 1.0) -> FloatArray:
        return ends(expected + share * noise, np.atleast_2d(weights))

    groups = knowledge.counts
    median = int(np.searchsorted(np.cumsum(groups.labeled) / groups.n_labeled, 0.5))
    judged = _of_ten_answers(drawn.share_positive(slice(0, median + 1)))
    found = [_price("ten-rows", auc(judged), judged)]
    clean = (beta == 1).astype(np.float64)
    if not clean.all():
        both = (judged[:, None] * _of_ten_answers(beta)).reshape(-1, beta.size)
        found.append(_price("labeled-rows", auc(both), both))
    if 0 < clean.sum() < len(clean):
        found.append(_price("clean-labels", auc(clean)))
    error = float(np.sqrt(np.clip(np.nan_to_num(counts.auc_pu_variance, posinf=0.25), 0, None)))
    if pure := _if_pure(counts, error, level, clean=bool(clean.all())):
        found.append(Price("pure-top", *pure))
    found.append(_price("more-rows", auc(np.ones(beta.size), MORE**-0.5)))
    split = groups_with(counts, groups, [threshold])
    flagged = max(int((split.thresholds >= threshold).sum()), 1)
    precision = drawn.split(split).share_positive(slice(0, flagged))
    judged = _of_ten_answers(precision)
    return (*found, _price("flagged-rows", ends(precision, judged), judged))


def _of_ten_answers(purity: FloatArray) -> FloatArray:
    """Return the likelihood of 0 to 10 positives among ten judged rows, by share of positives."""
    from scipy.special import comb

    k = np.arange(N_JUDGED + 1)[:, None]
    return np.asarray(comb(N_JUDGED, k) * purity**k * (1 - purity) ** (N_JUDGED - k))


def _price(name: PriceName, ends: FloatArray, likelihood: FloatArray | None = None) -> Price:
    """Return the expected ends: the mean over what may be answered."""
    chance = np.ones(1) if likelihood is None else likelihood.mean(axis=1)
    low, high = chance @ ends
    return Price(name, float(low), float(high))


def _if_pure(
    counts: ScoreCounts, error: float, level: float, *, clean: bool
) -> tuple[float, float] | None:
    """Return the interval if the highest scores were all positives; None without an estimate."""
    from scipy.special import ndtri

    from purecover.estimators.features import group_scores
    from purecover.estimators.label_curve import LabelCurve

    try:
        fitted = LabelCurve(clean="always" if clean else "weigh").fit(group_scores(counts))
    except PurecoverError:
        return None
    delta = fitted.interval(confidence_level=level)["delta"]
    gain = counts.auc_pu - 0.5
    middle = 0.5 + gain / delta.estimate
    reach = float(ndtri((1 + level) / 2)) * error / delta.estimate
    low = middle - np.hypot(reach, middle - 0.5 - gain / delta.high)
    high = middle + np.hypot(reach, 0.5 + gain / max(delta.low, 1e-9) - middle)
    return max(float(low), 0.0), min(float(high), 1.0)


def estimate_by_others(counts: ScoreCounts, used: PriorEstimate) -> dict[str, tuple[float, float]]:
    """Return alpha and beta by the estimators to compare with, as far as they find any."""
    from purecover.estimators.base import MAX_THRESHOLDS, prior_estimators
    from purecover.estimators.compare import compare_priors

    # AlphaMax has a name of its own where labels may be wrong.
    noisy = {"alphamax": "alphamax-n"} if used.beta_estimated else {}
    others = [
        each for each in COMPARED if each in prior_estimators() and each not in used.estimator
    ]
    found = compare_priors(
        counts.thinned(MAX_THRESHOLDS),
        estimators=[noisy.get(name, name) for name in others],
        beta=None if used.beta_estimated else used.proportions.beta,
        n_resamples=0,
        progress=False,
    )
    known = {row.name: row.proportions for row in found if row.proportions is not None}
    return {name: (p.alpha, p.beta) for name, p in known.items()}
