"""Ways to narrow intervals if alpha is estimated, and estimates of other methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from purecover._codec import Saved
from purecover._typing import FloatArray
from purecover.counts import ScoreCounts
from purecover.exceptions import PurecoverError
from purecover.intervals.ends import interval_ends
from purecover.intervals.interval import Interval

if TYPE_CHECKING:
    from purecover.estimators.estimate import PriorEstimate

PriceName = Literal[
    "ten-rows", "labeled-rows", "clean-labels", "pure-top", "more-rows", "flagged-rows"
]

COMPARED = ("alphamax", "bbe", "dedpul", "roc-slope")
"""Quick estimators of different kinds, whose agreement shows how far an estimate can be trusted.

Two of them are those of ``purecover-paper``, and are asked where it is installed.
"""

N_DRAWS = 2**12
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
    counts: ScoreCounts, now: Interval | None, estimator: Any, threshold: float
) -> tuple[Price, ...]:
    r"""Return what the interval of the AUC, which is ``now``, would be with more knowledge.

    The posterior draws of alpha and beta are weighted: by :math:`\kappa^k (1-\kappa)^{n-k}` for k
    positives among n rows judged above the median labeled score, with the purity
    :math:`\kappa = \alpha F_1/F_U` there, averaged over k; by that and the same of labeled rows,
    with the purity :math:`\beta`; or by whether beta is 1. Precision at ``threshold`` is the purity
    of the unlabeled above it.
    """
    from scipy.special import ndtri

    from purecover.estimators.reference import COUPLING

    inner = getattr(estimator, "estimator", estimator)
    if now is None or not hasattr(inner, "draws") or counts.auc_pu <= 0.5:
        return ()
    level = now.confidence_level
    draws = inner.draws(N_DRAWS)
    draws = draws if inner is estimator else estimator.of_draws(draws)
    error = float(np.sqrt(np.clip(np.nan_to_num(counts.auc_pu_variance, posinf=0.25), 0, None)))
    delta = draws[:, 1] - draws[:, 0]
    # As in a report, a sample whose AUC is high by chance calls for less correction.
    place = (np.argsort(np.argsort(delta)) + 0.5) / N_DRAWS
    chance = np.random.default_rng(0).standard_normal(N_DRAWS)
    noise = error * (COUPLING * ndtri(place) + (1 - COUPLING**2) ** 0.5 * chance)

    def ends(values: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the ends of the values for each row of weights, as many rows as there are."""
        # What cannot be answered has a chance of 0, whatever its ends are.
        rows = (row if row.any() else None for row in weights)
        return np.array([interval_ends(values, level, row) for row in rows]).clip(0, 1)

    def auc(weights: FloatArray, share: float = 1.0) -> FloatArray:
        return ends(0.5 + (counts.auc_pu + share * noise - 0.5) / delta, np.atleast_2d(weights))

    median = int(np.searchsorted(np.cumsum(counts.labeled) / counts.n_labeled, 0.5))
    judged = _of_ten_answers(_purity_above(counts, median, draws))
    found = [_price("ten-rows", auc(judged), judged)]
    clean = (draws[:, 1] == 1).astype(np.float64)
    if not clean.all():
        both = (judged[:, None] * _of_ten_answers(draws[:, 1])).reshape(-1, N_DRAWS)
        found.append(_price("labeled-rows", auc(both), both))
    if 0 < clean.sum() < len(clean):
        found.append(_price("clean-labels", auc(clean)))
    if pure := _if_pure(counts, error, level, clean=bool(clean.all())):
        found.append(Price("pure-top", *pure))
    found.append(_price("more-rows", auc(np.ones(N_DRAWS), MORE**-0.5)))
    flagged = int((counts.thresholds >= threshold).sum()) - 1
    precision = _purity_above(counts, max(flagged, 0), draws)
    judged = _of_ten_answers(precision)
    return (*found, _price("flagged-rows", ends(precision, judged), judged))


def _purity_above(counts: ScoreCounts, last: int, draws: FloatArray) -> FloatArray:
    """Return the share of positives among the unlabeled down to a score, by draw."""
    labeled = counts.labeled[: last + 1].sum() / counts.n_labeled
    unlabeled = counts.unlabeled[: last + 1].sum() / counts.n_unlabeled
    alpha, beta = draws.T
    recall = ((1 - alpha) * labeled - (1 - beta) * unlabeled) / (beta - alpha)
    return np.asarray((alpha * recall.clip(0, 1) / max(unlabeled, 1e-12)).clip(0, 1))


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
