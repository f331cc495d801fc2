r"""`plan_rows`: which rows to judge next, by what their verdicts would change.

Draws show how the share of positives :math:`p_i` of a group varies together with a figure T. If one
row of the group is judged, the variance of the best linear estimate of T falls by

.. math:: \frac{\operatorname{cov}(T, p_i)^2}{\operatorname{var} p_i + E\, p_i (1 - p_i)}.

The group with the largest gain is taken, covariances are updated as if the verdict were known, and
the next row is chosen. No verdict is needed in between: all rows are drawn in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from purecover._typing import FloatArray, IntArray
from purecover.posterior.draws import Posterior
from purecover.posterior.tables import Tables

Figure = Callable[[Tables], FloatArray]

ANYWHERE = 0.3
"""Share of the rows that is drawn from where labeled and unlabeled rows are, whatever they gain.

The linear approximation, or the story of the labels, may be wrong.
"""

CLOSE = 0.8
"""Groups that gain so much of the most are drawn from alike."""

LEAST_NOISE = 1e-4


def plan_rows(
    posterior: Posterior,
    figures: Sequence[Figure],
    n: int,
    rng: np.random.Generator,
    judged: IntArray | None = None,
) -> IntArray:
    """Choose the groups of unlabeled rows to judge next, an entry for each row.

    Parameters
    ----------
    posterior : Posterior
        Draws of any story of the labels, or of several, after the verdicts so far.
    figures : sequence of callable
        What is asked: functions of :class:`Tables`, which count alike.
    n : int
        How many rows. Fewer are chosen if fewer are left.
    rng : numpy.random.Generator
        Where randomness comes from.
    judged : ndarray of int of shape (n_groups,), optional
        Rows that have a verdict.

    Returns
    -------
    ndarray of int
        Groups, in the order in which they were chosen.
    """
    counts = posterior.ratio.counts
    left = counts.unlabeled - (0 if judged is None else judged)
    shares = posterior.positive - posterior.positive.mean(axis=0)
    values = np.column_stack([figure(posterior.expected) for figure in figures])
    values = values - values.mean(axis=0)
    values /= np.maximum(values.std(axis=0), 1e-12)
    with_figures = values.T @ shares / len(shares)
    with_shares = shares.T @ shares / len(shares)
    noise = (posterior.positive * (1 - posterior.positive)).mean(axis=0).clip(LEAST_NOISE)
    labeled = counts.labeled / counts.n_labeled
    chosen: list[int] = []
    for anywhere, place in rng.random((n, 2)):
        open_ = left >= 1
        if not open_.any():
            break
        if anywhere < ANYWHERE:
            wanted = (left / left.sum() + labeled) * open_
        else:
            variance = np.diag(with_shares) + noise
            gain = np.where(open_, (with_figures**2).sum(axis=0) / variance, 0.0)
            wanted = (open_ & (gain >= CLOSE * gain.max())).astype(np.float64)
        passed = np.cumsum(wanted)
        at = min(int(np.searchsorted(passed, place * passed[-1], side="right")), left.size - 1)
        chosen.append(at)
        left[at] -= 1
        # A Kalman filter's step: what the verdict explains is subtracted.
        explained = with_shares[:, at] / (with_shares[at, at] + noise[at])
        with_figures = with_figures - np.outer(with_figures[:, at], explained)
        with_shares = with_shares - np.outer(with_shares[:, at], explained)
    return np.array(chosen, dtype=np.int64)
