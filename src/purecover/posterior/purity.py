r"""From alpha, beta and the ratio of labels to the share of positives in every group.

With the inclusions :math:`a = \alpha/\beta`, :math:`b = (1-\beta)/(1-\alpha)` and labels that went
to positives at random, a share :math:`p_i` of the unlabeled rows of group i is positive, and a
share :math:`w_i` of its labeled rows is not:

.. math::

    p_i = \frac{a (r_i - b)}{1 - a b}, \qquad w_i = \frac{b (1 / r_i - a)}{1 - a b}.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from purecover._typing import FloatArray

EDGE = 1e-5
"""Shares of positives lie at least so far inside (0, 1), so that odds are finite."""

NEGLIGIBLE = 2e-3
"""Positives that must be moved, as a share of all positives, below which none are."""

_STEPS, _LAST = 6, 20
"""Newton steps for both conditions, and at most for the share of positives alone."""

_CLOSE = 1e-4
"""How close the share of positives and their mean rank come, in parts of alpha."""

_FARTHEST, _STEEPEST = 20.0, 6.0
"""Limits of level and slope of the tilt."""


class Purity(NamedTuple):
    """Shares by draw and group.

    Attributes
    ----------
    positive : ndarray of shape (n, n_groups)
        Share of positives among the unlabeled rows.
    wrong : ndarray of shape (n, n_groups)
        Share of negatives among the labeled rows.
    excess : ndarray of shape (n,)
        By how much shares left [0, 1]: the mass that had to be moved, over alpha. Sampling errors
        of the ratio make it small; a pair of alpha and beta that does not fit makes it large.
    """

    positive: FloatArray
    wrong: FloatArray
    excess: FloatArray


def purity_of(
    shares: FloatArray, unlabeled: FloatArray, ratio: FloatArray, normal_score: FloatArray
) -> Purity:
    """Return the purity for draws of alpha and beta (columns of ``shares``).

    ``unlabeled`` and ``ratio`` are what :meth:`LabelRatio.draw` returns. Shares of positives that
    leave [0, 1] are tilted back.
    """
    alpha, beta = shares[:, :1], shares[:, 1:2]
    a = alpha / beta
    b = (1 - beta) / (1 - alpha)
    raw = a * (ratio - b) / (1 - a * b)
    inside = raw.clip(EDGE, 1 - EDGE)
    moved = (np.abs(inside - raw) * unlabeled).sum(axis=1)
    excess = moved / np.maximum(alpha[:, 0], EDGE)
    if (far := np.flatnonzero(excess > NEGLIGIBLE)).size:
        inside[far] = tilted(inside[far], raw[far], unlabeled[far], alpha[far, 0], normal_score)
    wrong = np.zeros_like(inside)
    if (noisy := np.flatnonzero(b[:, 0] > 0)).size:
        wrong[noisy] = _wrong_labels(
            a[noisy], b[noisy], beta[noisy], ratio[noisy], unlabeled[noisy]
        )
    return Purity(inside, wrong, excess)


def tilted(
    inside: FloatArray,
    raw: FloatArray,
    unlabeled: FloatArray,
    alpha: FloatArray,
    normal_score: FloatArray,
) -> FloatArray:
    r"""Return shares in (0, 1) with the given alpha and the mean rank that raw shares have.

    To cut raw shares at 0 and 1 moves positives to where classes overlap and makes the AUC too low.
    Here they are :math:`\operatorname{expit}(\operatorname{logit} p_i + c_0 + c_1 z_i)`, with the
    two numbers that keep the share of positives and their mean rank, hence the AUC.
    """
    rank = np.cumsum(unlabeled, axis=1) - unlabeled / 2
    mean_rank = (raw * unlabeled * rank).sum(axis=1)
    odds = logit(inside)
    level, slope = np.zeros(len(raw)), np.zeros(len(raw))
    found = inside.copy()
    rows = np.arange(len(raw))  # those that are not there yet
    for _ in range(_STEPS):
        mass = found[rows] * unlabeled[rows]
        miss = mass.sum(axis=1) - alpha[rows]
        miss_rank = np.einsum("ij,ij->i", mass, rank[rows]) - mean_rank[rows]
        away = np.maximum(np.abs(miss), np.abs(miss_rank)) > _CLOSE * alpha[rows]
        if not away.any():
            break
        rows, mass, miss, miss_rank = rows[away], mass[away], miss[away], miss_rank[away]
        change = mass * (1 - found[rows])
        by_level = change.sum(axis=1) + 1e-12
        by_slope = change @ normal_score
        change *= rank[rows]
        rank_by_level = change.sum(axis=1)
        rank_by_slope = change @ normal_score
        # The rank falls with the score, so the determinant is negative.
        determinant = np.minimum(by_level * rank_by_slope - by_slope * rank_by_level, -1e-14)
        step = (miss * rank_by_slope - miss_rank * by_slope) / determinant
        turn = (by_level * miss_rank - rank_by_level * miss) / determinant
        level[rows] = (level[rows] - step.clip(-1.5, 1.5)).clip(-_FARTHEST, _FARTHEST)
        slope[rows] = (slope[rows] - turn.clip(-1, 1)).clip(-_STEEPEST, _STEEPEST)
        tilt = level[rows, None] + slope[rows, None] * normal_score
        found[rows] = expit(odds[rows] + tilt)
    # Whatever the mean rank is, alpha stays.
    rows = np.arange(len(raw))
    for _ in range(_LAST):
        miss = np.einsum("ij,ij->i", found[rows], unlabeled[rows]) - alpha[rows]
        away = np.abs(miss) > _CLOSE * alpha[rows]
        if not away.any():
            break
        rows, miss = rows[away], miss[away]
        part = found[rows]
        by_level = (part * (1 - part) * unlabeled[rows]).sum(axis=1) + 1e-12
        step = (miss / by_level).clip(-1.5, 1.5)
        level[rows] = (level[rows] - step).clip(-_FARTHEST, _FARTHEST)
        tilt = level[rows, None] + slope[rows, None] * normal_score
        found[rows] = expit(odds[rows] + tilt)
    return found


def _wrong_labels(
    a: FloatArray, b: FloatArray, beta: FloatArray, ratio: FloatArray, unlabeled: FloatArray
) -> FloatArray:
    """Return shares of negatives among the labeled, which make up 1 - beta of all of them."""
    wrong = b * (1 / np.maximum(ratio, 1e-9) - a) / (1 - a * b)
    return adding_up(wrong, 1 - beta, unlabeled * ratio, steps=2)


def adding_up(
    wrong: FloatArray, total: FloatArray, labeled: FloatArray, steps: int = _LAST
) -> FloatArray:
    """Scale shares of negatives, so that they make up ``total`` of all labeled rows."""
    wrong = wrong.clip(0, 1)
    for _ in range(steps):  # again, as shares that would exceed 1 leave some to the others
        found = (wrong * labeled).sum(axis=1, keepdims=True)
        wrong = (wrong * total / np.maximum(found, 1e-12)).clip(0, 1)
    return np.asarray(wrong)
