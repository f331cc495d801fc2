"""Test of clean labels: whether beta can be 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc

from purecover._typing import ArrayLike, BoolArray, CountArray, FloatArray
from purecover._validation import check_real, public
from purecover.counts import ScoreCounts
from purecover.estimators.samples import read_both_sides, weight_units

CLEAN_RULES = ("test", "never", "always")
"""When an estimator takes labels as clean."""

LOWEST = 0.2
"""Share of the unlabeled among whose scores hardly any positive should be."""

STRAGGLERS = 0.01
"""Largest share of the positives that may be there nevertheless."""

SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class CleanTest:
    """Outcome of a test of beta = 1, from :func:`clean_test`.

    Attributes
    ----------
    p_value : float
        Probability of so many labeled rows among the lowest scores, or more, if labels are
        clean.
    clean : bool
        Whether it exceeds the level of significance, so that labels may be clean.
    """

    p_value: float
    clean: bool


@public
def clean_test(
    scores: ArrayLike | ScoreCounts,
    labeled: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    significance: float = SIGNIFICANCE,
) -> CleanTest:
    r"""Test whether the labels can be clean, which is beta = 1.

    Labeled rows with the lowest scores are either positives that the classifier mistakes
    or negatives that carry the label by mistake. The test asks whether they are more than the
    former can explain.

    Parameters
    ----------
    scores : array-like of shape (n,) or ScoreCounts
        Scores of held-out rows, larger means more positive; or their counts, and then
        nothing else.
    labeled : array-like of shape (n,)
        True where the row carries the positive label.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    significance : float, default=0.05
        Probability with which clean labels may be rejected, at most.

    Returns
    -------
    CleanTest
        The p-value, and whether it exceeds ``significance``.

    See Also
    --------
    NoisyLabels : Estimates beta where this test rejects that it is 1.

    Notes
    -----
    Of :math:`n_L` labeled rows :math:`k` score among the lowest fifth of the unlabeled; of
    those that share the score at its border, a like part. Assumed is that at most 1 % of the
    positives score so low. With clean labels :math:`k` is then at most as large as a binomial
    variable, and

    .. math:: p = P(Bin(n_L, 0.01) \ge k) = I_{0.01}(k, n_L - k + 1)

    with the regularized incomplete beta function :math:`I`, which takes any real numbers. With
    weights the effective size takes the place of :math:`n_L`, and :math:`k` is the weighted
    share of it.

    Where the assumption fails, as with a weak classifier, a constant score or nearly all
    unlabeled rows positive, clean labels are rejected; beta is then estimated needlessly. A
    few wrong labels remain unseen: a share :math:`1-\beta` brings about
    :math:`0.2\,(1-\beta)/(1-\alpha)` of the labeled below the border, which must be well above
    1 %. The result depends on the order of the scores only.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=3)
    >>> clean = world.sample(500, 2000, alpha=0.25, random_state=0)
    >>> pu.estimators.clean_test(clean.scores, clean.labeled)
    CleanTest(p_value=1.0, clean=True)
    >>> noisy = world.sample(500, 2000, alpha=0.25, beta=0.8, random_state=0)
    >>> pu.estimators.clean_test(noisy.scores, noisy.labeled).clean
    False
    """
    check_real("significance", significance, low=0, high=1, closed="neither")
    counts = read_both_sides(scores, labeled, sample_weight)
    p_value = float(_p_values(counts, counts.labeled[None], counts.unlabeled[None])[0])
    return CleanTest(p_value, p_value > significance)


def clean_many(
    counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray, rule: str = "test"
) -> BoolArray:
    """Decide for each of many replicates whether its labels are taken as clean.

    Parameters
    ----------
    counts : ScoreCounts
        The data, whose thresholds the replicates share.
    labeled, unlabeled : ndarray of shape (n_replicates, n_thresholds)
        Their counts.
    rule : {"test", "never", "always"}, default="test"
        When they are; ``"test"`` is the ``clean`` of :func:`clean_test` for each.

    Returns
    -------
    ndarray of shape (n_replicates,)
        Whether each is clean.
    """
    if rule != "test":
        return np.full(len(labeled), rule == "always")
    return _p_values(counts, labeled, unlabeled) > SIGNIFICANCE


def clean_verdict(
    rule: str, counts: Callable[[], ScoreCounts]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Decide whether labels are taken as clean; return diagnostics and notes.

    Only the rule ``"test"`` asks for the counts.
    """
    if rule != "test":
        return {"clean": rule == "always"}, ()
    test = clean_test(counts())
    note = (
        f"labels are compatible with beta = 1 (p = {test.p_value:.2g}) and taken as clean, so "
        "that beta was not estimated"
    )
    details = {"clean": bool(test.clean), "clean_p_value": test.p_value}
    return details, (note,) if test.clean else ()


def _p_values(counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> FloatArray:
    """The p-value of each row of counts."""
    totals: FloatArray = labeled.sum(axis=1, dtype=np.float64)
    target: FloatArray = LOWEST * unlabeled.sum(axis=1, dtype=np.float64)
    # The border is where, from the lowest score upward, a fifth of the unlabeled is reached.
    depth = np.cumsum(unlabeled[:, ::-1], axis=1)
    border = np.argmax(depth >= target[:, None], axis=1)
    rows = np.arange(border.size)
    low = np.cumsum(labeled[:, ::-1], axis=1)[rows, border]
    # Of those that share the score at the border, a like part.
    at_border = unlabeled[rows, -1 - border]
    beyond = np.zeros(border.size)
    np.divide(depth[rows, border] - target, at_border, out=beyond, where=at_border > 0)
    found = low - beyond * labeled[rows, -1 - border]
    sizes = totals * weight_units(counts)[0]
    share = np.divide(found, totals, out=np.zeros(border.size), where=totals > 0)
    k = np.clip(share, 0.0, 1.0) * sizes
    some = k > 0
    p_values = betainc(np.where(some, k, 1.0), sizes - k + 1, STRAGGLERS)
    return np.where(some, p_values, 1.0)
