"""How far sampling noise alone can go, over all thresholds at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover.counts import ScoreCounts

FALSE_ALARM_RATE = 0.01
"""Share of sound data sets at which a check that scans all thresholds may fire."""

_ITERATIONS = 3
_MAX_SKEWNESS = 0.4


def effective_size(weights: CountArray, squares: FloatArray | None) -> float:
    r"""Number of rows; with weights Kish's :math:`(\sum w)^2 / \sum w^2` (0 if there are none)."""
    total = float(weights.sum())
    if squares is None or total == 0:
        return total
    return total**2 / float(squares.sum())


def effective_sizes(counts: ScoreCounts) -> tuple[float, float]:
    """Effective numbers of labeled and of unlabeled examples."""
    return (
        effective_size(counts.labeled, counts.labeled_sq),
        effective_size(counts.unlabeled, counts.unlabeled_sq),
    )


def critical_value(n: float, level: float = FALSE_ALARM_RATE) -> float:
    r"""Height a studentized deviation exceeds at some threshold with probability ``level``.

    As the threshold moves, a deviation divided by its standard error behaves like an
    Ornstein-Uhlenbeck process in half the logit of the rank, which spans about
    :math:`\log n` from the first example to the last. Such a process exceeds a height
    :math:`z` on one side with probability about :math:`\log(n)\,z\,\varphi(z)`.
    """
    z = 3.0
    for _ in range(50):  # a contraction: z changes the right-hand side only by its logarithm
        z = math.sqrt(2 * math.log(math.log(max(n, 20.0)) * z / (level * math.sqrt(2 * math.pi))))
    return z


def shortfall(
    few: FloatArray, many: FloatArray, n_few: float, n_many: float, ratio: float
) -> FloatArray:
    r"""Standard errors by which a share falls short of ``ratio`` times another.

    Tests :math:`p_{few} \ge r\,p_{many}` for two independent binomial counts: the signed
    root of the likelihood ratio against the nearest :math:`(rp, p)`, with a continuity
    correction of half a count each. Unlike the estimate divided by its standard error it
    stays honest where a tail holds only a handful of examples. 0 where nothing falls short.
    """
    from scipy.special import xlogy

    out = np.zeros(few.size)
    few, many = few + 0.5, np.maximum(many - 0.5, 0.0)
    short = few / n_few < ratio * many / n_many
    few, many = few[short], many[short]
    # Under the constraint the likelihood is stationary at the root of a quadratic.
    squared = ratio * (n_few + n_many)
    linear = n_many + few + ratio * (many + n_few)
    constant = few + many
    root = np.sqrt(np.maximum(linear**2 - 4 * squared * constant, 0))
    p = np.minimum(2 * constant / (linear + root), 1.0)

    def log_likelihood(k: FloatArray, n: float, share: FloatArray) -> FloatArray:
        return np.asarray(xlogy(k, share) + xlogy(n - k, 1 - share))

    deviance = (
        log_likelihood(few, n_few, few / n_few)
        - log_likelihood(few, n_few, ratio * p)
        + log_likelihood(many, n_many, many / n_many)
        - log_likelihood(many, n_many, p)
    )
    out[short] = np.sqrt(np.maximum(2 * deviance, 0))
    return out


def contrast(
    shares: Sequence[FloatArray], sizes: Sequence[float], coefficients: Sequence[float]
) -> FloatArray:
    r"""Standard errors by which a sum :math:`\sum_i c_i p_i` of independent shares is off 0.

    The standard error is that of the shares moved, by least squares, to where the sum is 0
    (the estimate divided by its own standard error explodes where a tail is empty by
    chance), and skewness is taken out to first order (Cornish-Fisher). 0 where the counts
    are too few for either.
    """
    size, c = np.array(sizes)[:, None], np.array(coefficients)[:, None]
    observed = np.stack(shares)
    difference = (c * observed).sum(axis=0)
    p = (observed * size + 0.5) / (size + 1)
    for _ in range(_ITERATIONS):
        step = c * p * (1 - p) / size
        pull = difference / np.maximum((c * step).sum(axis=0), np.finfo(np.float64).tiny)
        p = np.clip(observed - step * pull, 0, 1)
        # A share moved onto 0 or 1 would look certain and never move again.
        p = np.clip(p, 0.5 / size, 1 - 0.5 / size)
    variance = (c**2 * p * (1 - p) / size).sum(axis=0)
    skewness = (c**3 * p * (1 - p) * (1 - 2 * p) / size**2).sum(axis=0) / variance**1.5
    z = difference / np.sqrt(variance)
    z = z - skewness * (z**2 - 1) / 6
    return np.where(np.abs(skewness) <= _MAX_SKEWNESS, z, 0.0)
