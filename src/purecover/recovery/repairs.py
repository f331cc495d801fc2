"""From noisy recovered points to a valid curve.

A recovered curve wanders outside the unit box and is not monotone: with ten examples and
alpha 0.25, a false-positive rate of -0.08 is ordinary sampling noise. Each function here
takes the raw points, in order of decreasing threshold and starting at (0, 0), and returns
the points of a valid curve.

The map from observed to recovered points is linear with determinant 1/delta > 0 and fixes
(0, 0) and (1, 1), so straight lines, concavity, order and hulls survive it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.curves import PURoc
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import map_curve, trapezoid

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Points:
    """Vertices of a curve."""

    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray


def repair_paper(raw: Points) -> Points:
    """Algorithm 1 of the paper, to the letter.

    Delete points outside the unit box, sort by fpr, replace tpr by its running maximum.
    The paper leaves open what happens to equal fpr; they keep the order of thresholds.
    """
    # (2)-(3) give exact zeros and ones only up to rounding.
    inside = (
        (raw.fpr >= -_ROUNDING)
        & (raw.fpr <= 1 + _ROUNDING)
        & (raw.tpr >= -_ROUNDING)
        & (raw.tpr <= 1 + _ROUNDING)
    )
    fpr, tpr = raw.fpr[inside].clip(0, 1), raw.tpr[inside].clip(0, 1)
    order = np.argsort(fpr, kind="stable")
    return Points(fpr[order], np.maximum.accumulate(tpr[order]), raw.thresholds[inside][order])


def repair_isotonic(raw: Points, weights: FloatArray) -> Points:
    r"""Least-squares projection of both rates onto monotone functions with values in [0, 1].

    As functions of the threshold both true rates are monotone, so projecting onto that
    convex set never increases the squared error of either (Patra & Sen 2016 use the same
    for mixture distribution functions). Points keep their thresholds.
    """
    return Points(_project(raw.fpr, weights), _project(raw.tpr, weights), raw.thresholds)


def _project(rate: FloatArray, weights: FloatArray) -> FloatArray:
    # Both ends are known exactly; they would only be pulled away by their neighbors.
    middle = rate[1:-1]
    out = np.empty_like(rate)
    out[0], out[-1] = 0.0, 1.0
    if middle.size:
        if np.any(middle[1:] < middle[:-1]):
            from scipy.optimize import isotonic_regression

            middle = isotonic_regression(middle, weights=weights[:-1]).x
        np.clip(middle, 0.0, 1.0, out=out[1:-1])
    return out


def hull_vertices(roc: PURoc) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Indices of the vertices of the upper concave hull of an observed curve.

    The hull is the least concave majorant in the rotated coordinates
    ``x = fpr + tpr, y = tpr - fpr``, where every step goes forward, and that is a
    pool-adjacent-violators problem on the slopes.
    """
    from scipy.optimize import isotonic_regression

    x, y = roc.fpr_pu + roc.tpr_pu, roc.tpr_pu - roc.fpr_pu
    # Thresholds that only known negatives have make no step.
    points = np.append(0, np.flatnonzero(np.diff(x) > 0) + 1)
    run = np.diff(x[points])
    fitted = isotonic_regression(np.diff(y[points]) / run, weights=run, increasing=False)
    return np.asarray(points[fitted.blocks], dtype=np.intp)


def repair_hull(roc: PURoc, proportions: MixtureProportions) -> Points:
    """Concave hull of the observed curve, mapped, and cut by the unit box.

    Where the mapped hull leaves the box, the exact crossing is inserted; such a point
    belongs to no threshold.
    """
    vertices = hull_vertices(roc)
    tpr, fpr = map_curve(roc.tpr_pu[vertices], roc.fpr_pu[vertices], proportions)
    thresholds = roc.thresholds[vertices]
    left = np.flatnonzero(fpr < 0)
    if left.size:  # the hull starts out to the left of the box and comes back once
        i = int(left[-1])
        share = -fpr[i] / (fpr[i + 1] - fpr[i])
        height = tpr[i] + share * (tpr[i + 1] - tpr[i])
        fpr = np.concatenate(([0.0, 0.0], fpr[i + 1 :]))
        tpr = np.concatenate(([0.0, height], tpr[i + 1 :]))
        thresholds = np.concatenate(([np.inf, np.nan], thresholds[i + 1 :]))
    above = np.flatnonzero(tpr > 1)
    if above.size:  # it leaves through the top once and comes back at (1, 1)
        j = int(above[0])
        share = (1 - tpr[j - 1]) / (tpr[j] - tpr[j - 1])
        place = fpr[j - 1] + share * (fpr[j] - fpr[j - 1])
        last = thresholds[-1]
        fpr = np.concatenate((fpr[:j], [place, 1.0]))
        tpr = np.concatenate((tpr[:j], [1.0, 1.0]))
        thresholds = np.concatenate((thresholds[:j], [np.nan, last]))
    return Points(fpr.clip(0, 1), tpr.clip(0, 1), thresholds)


def hull_auc_pu(roc: PURoc) -> float:
    """Area under the concave hull of an observed curve."""
    vertices = hull_vertices(roc)
    return trapezoid(roc.tpr_pu[vertices], roc.fpr_pu[vertices])


def repair_likelihood(counts: ScoreCounts, proportions: MixtureProportions) -> Points:
    r"""Maximum likelihood under a monotone likelihood ratio.

    Maximizes :math:`\sum_L \log g + \sum_U \log f` over densities :math:`g = \beta f_1 +
    (1-\beta) f_0` and :math:`f = \alpha f_1 + (1-\alpha) f_0` on the observed scores with
    :math:`f_1/f_0` non-decreasing. Box, monotonicity and concavity hold by construction; use it
    only where the ROC is concave.
    """
    from scipy.optimize import isotonic_regression

    labeled = counts.labeled[::-1].astype(np.float64)  # increasing scores from here on
    unlabeled = counts.unlabeled[::-1].astype(np.float64)
    everyone = labeled + unlabeled
    seen = everyone > 0  # not so where only known negatives are
    fitted = isotonic_regression(labeled[seen] / everyone[seen], weights=everyone[seen])
    starts = np.flatnonzero(seen)[fitted.blocks[:-1]]
    n_labeled, n_unlabeled = (np.add.reduceat(tally, starts) for tally in (labeled, unlabeled))
    if proportions.delta > _ROUNDING:
        g, f = _block_masses(n_labeled, n_unlabeled, proportions)
        negatives, positives = (_tail(density) for density in _densities(g, f, proportions))
    else:
        negatives, positives = _tails_without_contrast(n_labeled + n_unlabeled, proportions.alpha)
    # Within a block mass follows the examples, so every threshold keeps its place.
    place = np.concatenate(([0.0], np.cumsum(everyone[::-1])))
    edges = np.concatenate(([0.0], np.cumsum((n_labeled + n_unlabeled)[::-1])))
    fpr, tpr = (np.interp(place, edges, tail) for tail in (negatives, positives))
    fpr[-1] = tpr[-1] = 1.0  # sums of weights are rounded
    return Points(fpr, tpr, np.concatenate(([np.inf], counts.thresholds)))


def _densities(
    g: FloatArray, f: FloatArray, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    """Masses of negatives and of positives, times delta.

    Where a bound of the ratio is active one of them is 0 and the other no difference of nearly
    equal numbers, so that a small delta costs no digits.
    """
    alpha, beta, delta = proportions.alpha, proportions.beta, proportions.delta
    no_negatives = f == proportions.unlabeled_inclusion * g
    no_positives = g == proportions.labeled_inclusion * f
    negatives = np.where(no_positives, delta * f / (1 - alpha), beta * f - alpha * g)
    positives = np.where(no_negatives, delta * g / beta, (1 - alpha) * g - (1 - beta) * f)
    return np.where(no_negatives, 0.0, negatives), np.where(no_positives, 0.0, positives)


def _tail(density: FloatArray) -> FloatArray:
    """Share of mass at or above each block, from the top; ends in exactly 1."""
    tail = np.concatenate(([0.0], np.cumsum(density.clip(0)[::-1])))
    return np.asarray(tail / tail[-1], dtype=np.float64)


def _tails_without_contrast(n: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    r"""Shares of negatives and positives at or above each block, as :math:`\beta \to \alpha`.

    Then :math:`g` and :math:`f` are both the pooled masses, :math:`\alpha f_1 + (1-\alpha) f_0`,
    and what is left of the likelihood is largest where the positives are the upper alpha of
    them. Differences of :math:`g` and :math:`f` would be of nothing but rounding.
    """
    tail = np.concatenate(([0.0], np.cumsum(n[::-1]) / n.sum()))
    tail[-1] = 1.0
    upper = max(alpha, tail[1])  # positives that are fewer share the highest block
    return np.maximum(tail - alpha, 0.0) / (1 - alpha), np.minimum(tail, upper) / upper


def _block_masses(
    n_labeled: FloatArray, n_unlabeled: FloatArray, proportions: MixtureProportions
) -> tuple[FloatArray, FloatArray]:
    r"""Masses :math:`g, f` of the blocks that maximize the likelihood, solved exactly.

    :math:`f_1` and :math:`f_0` are non-negative with a non-decreasing ratio if and only if
    :math:`g/f` is non-decreasing with :math:`a g \le f` and :math:`b f \le g`, where :math:`a`
    and :math:`b` are the two inclusion proportions. With multipliers :math:`\lambda` and
    :math:`n - \lambda` of the total masses the problem separates: blocks come from pooling
    adjacent violators of the labeled share, whatever the multipliers; the ratio of each block is
    clipped to its bounds; and :math:`\lambda` makes both masses equal, hence 1. (An EM algorithm
    with an isotonic M-step has the same limit but takes hundreds of steps to come near it.)
    """
    from scipy.optimize import brentq

    a, b = proportions.unlabeled_inclusion, proportions.labeled_inclusion
    n = n_labeled + n_unlabeled
    total = float(n.sum())

    def masses(multiplier: float) -> tuple[FloatArray, FloatArray]:
        other = total - multiplier
        g, f = n_labeled / multiplier, n_unlabeled / other
        no_negatives, no_positives = a * g > f, b * f > g
        g = np.where(no_negatives, n / (multiplier + a * other), g)
        f = np.where(no_negatives, a * g, f)
        f = np.where(no_positives, n / (b * multiplier + other), f)
        g = np.where(no_positives, b * f, g)
        return g, f

    def gap(multiplier: float) -> float:
        g, f = masses(multiplier)
        return float(g.sum() - f.sum())

    n_all_labeled = float(n_labeled.sum())
    if abs(gap(n_all_labeled)) <= _ROUNDING:  # no bound is active
        return masses(n_all_labeled)
    least, most = total * 1e-12, total * (1 - 1e-12)
    if gap(least) <= 0:
        # Even the blocks with labeled examples hold fewer unlabeled ones than alpha asks for.
        # The rest of g must lie where no labeled example is; where exactly, no likelihood says.
        g, f = masses(least)
        return _fill(g, n_labeled == 0, n), f
    if gap(most) >= 0:  # the same with labeled and unlabeled exchanged
        g, f = masses(most)
        return g, _fill(f, n_unlabeled == 0, n)
    return masses(brentq(gap, least, most, xtol=total * 1e-14))


def _fill(mass: FloatArray, empty: BoolArray, n: FloatArray) -> FloatArray:
    """Spread what is missing from a total mass of 1 over empty blocks."""
    missing = 1 - float(mass[~empty].sum())
    return np.where(empty, missing * n / n[empty].sum(), mass)
