"""Fewer cells that say nearly the same, and how nearly: a million scores on a small page.

Not :meth:`ScoreCounts.thinned`, which makes groups of like size for speed: here the cells are
chosen so that the stated bound is small, and the bound is part of the answer.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._counting import FIELDS
from purecover._typing import FloatArray
from purecover.counts import ScoreCounts

__all__ = ["ThinnedCounts", "thin_counts"]

_GROWTH = 1.1
"""At the top, where precision is decided, ranks of boundaries grow by this factor, if they can."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ThinnedCounts:
    r"""Counts with neighboring scores merged, and what that can change.

    Attributes
    ----------
    counts : ScoreCounts
        The merged counts. Each cell has the lowest of its scores as threshold, so that observed
        rates at the remaining thresholds, and recovered ones before any repair, are exact.
    auc_bound : float
        The observed AUC of the merged counts differs from the full one by at most this, the
        recovered one by at most ``auc_bound / (beta - alpha)``.
    rate_bound : float
        At a threshold between two remaining ones, either observed rate differs from that of the
        full counts by at most this.

    Notes
    -----
    Merging forgets the order of the pairs within a cell, which then count one half. With
    :math:`l_c` labeled and :math:`u_c` unlabeled in cell :math:`c` and :math:`l_i, u_i` at its
    scores, the AUC moves by at most

    .. math::

        \frac{1}{2LU} \sum_c \Bigl(l_c u_c - \sum_{i \in c} l_i u_i\Bigr).

    A threshold inside a cell is read as the next remaining one above it, which leaves out at most
    the cell without its lowest score.
    """

    counts: ScoreCounts
    auc_bound: float
    rate_bound: float


def thin_counts(
    counts: ScoreCounts,
    max_cells: int,
    *,
    threshold: float | None = None,
    top_k: float | None = None,
) -> ThinnedCounts:
    r"""Merge neighboring scores into at most ``max_cells`` cells with small bounds.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    max_cells : int
        How many cells there may be, at least 64.
    threshold : float, optional
        No cell straddles this threshold, so that observed rates there are exact.
    top_k : float, optional
        Nor are the scores around the so-manieth of the unlabeled merged, for metrics that look
        at the top k.

    Returns
    -------
    ThinnedCounts
        The counts, as they were if they are few enough, and the bounds.

    Notes
    -----
    Of the :math:`n` cells, a quarter are laid out so that :math:`l_c/L + u_c/U` grows by
    :math:`8/n` from one to the next; scores that hold more than that stay alone, so that no
    merged cell holds more than :math:`16/n`. Near the top of both samples ranks of boundaries
    grow by a tenth. The rest come from splitting cells in two, each time the one and at the score
    where :math:`\sum l_c u_c` falls most. What is left once no split helps goes into smaller
    steps between thresholds.

    Examples
    --------
    >>> from purecover import auc_pu, simulate, ScoreCounts
    >>> from purecover.html._thinning import thin_counts
    >>> sample = simulate.binormal(1.5).sample(10_000, 50_000, alpha=0.25, random_state=0)
    >>> counts = ScoreCounts.from_scores(sample.scores, sample.labeled)
    >>> thinned = thin_counts(counts, 1000)
    >>> thinned.counts
    ScoreCounts(10,000 labeled, 50,000 unlabeled, 1,000 bins)
    >>> abs(auc_pu(thinned.counts) - auc_pu(counts)) <= thinned.auc_bound < 5e-4
    True
    """
    if counts.n_thresholds <= max_cells:
        return ThinnedCounts(counts=counts, auc_bound=0.0, rate_bound=0.0)
    labeled, unlabeled = _running(counts.labeled), _running(counts.unlabeled)
    edges = _layout(counts, labeled, unlabeled, max_cells, threshold, top_k)
    edges = _split(edges, labeled, unlabeled, max_cells)
    edges = _filled(edges, labeled + unlabeled, max_cells)
    return _merged(counts, edges, labeled, unlabeled)


def _running(tally: np.ndarray[Any, Any]) -> FloatArray:
    """Shares above each boundary; boundary i lies before the i-th score."""
    out = np.zeros(tally.size + 1)
    np.cumsum(tally, dtype=np.float64, out=out[1:])
    out /= out[-1]
    return out


def _layout(
    counts: ScoreCounts,
    labeled: FloatArray,
    unlabeled: FloatArray,
    max_cells: int,
    threshold: float | None,
    top_k: float | None,
) -> np.ndarray[Any, Any]:
    """Boundaries that have to be there, whatever the pairs within cells: 7/8 of all at most."""
    last, steps = counts.n_thresholds, max_cells // 4
    both = labeled + unlabeled
    heavy = np.flatnonzero(np.diff(both) > both[-1] / steps)
    found = [np.array([0, 1, last]), _equal_steps(both, steps), heavy, heavy + 1]
    for running, size in ((labeled, counts.n_labeled), (unlabeled, counts.n_unlabeled)):
        # From one example, or what stands for it among weights, to one step.
        first = min(1 / max(size, 2.0), 1 / steps)
        n_ranks = min(int(np.log(1 / (steps * first)) / np.log(_GROWTH)), max_cells // 16)
        ranks = np.geomspace(first, 1 / steps, max(n_ranks, 1)) * (1 - 1e-9)
        found.append(np.searchsorted(running, ranks))
    if threshold is not None:
        below = int(np.searchsorted(counts.thresholds[::-1], threshold, side="left"))
        found.append(np.array([last - below]))
    if top_k is not None:
        # Rates there are read between the last boundary that is not beyond, and the next.
        at = int(np.searchsorted(unlabeled, top_k / counts.n_unlabeled, side="right"))
        found.append(np.array([max(at - 1, 0), min(at, last)]))
    return np.unique(np.concatenate(found))


def _equal_steps(running: FloatArray, steps: int) -> np.ndarray[Any, Any]:
    """Boundaries between which a running sum grows by equal parts, give or take a score."""
    wanted = np.arange(1, steps) * (running[-1] / steps)
    return np.searchsorted(running, wanted, side="right") - 1


def _filled(
    edges: np.ndarray[Any, Any], running: FloatArray, max_cells: int
) -> np.ndarray[Any, Any]:
    """More boundaries at equal steps, as small as the number of cells allows."""
    few, many = 1, 4 * max_cells
    while few < many:  # the largest number of steps that fits
        steps = (few + many + 1) // 2
        if np.union1d(edges, _equal_steps(running, steps)).size <= max_cells + 1:
            few = steps
        else:
            many = steps - 1
    return np.union1d(edges, _equal_steps(running, few))


def _split(
    edges: np.ndarray[Any, Any], labeled: FloatArray, unlabeled: FloatArray, max_cells: int
) -> np.ndarray[Any, Any]:
    """More boundaries, each where the pairs within cells become fewest."""
    heap: list[tuple[float, int, int, int]] = []

    def consider(i: int, j: int) -> None:
        if j - i < 2 or labeled[j] == labeled[i] or unlabeled[j] == unlabeled[i]:
            return  # nothing to forget in here
        l_above, u_above = labeled[i + 1 : j] - labeled[i], unlabeled[i + 1 : j] - unlabeled[i]
        # Pairs across the new boundary: l1 u2 + l2 u1.
        across = l_above * (unlabeled[j] - unlabeled[i] - u_above)
        across += u_above * (labeled[j] - labeled[i] - l_above)
        k = int(np.argmax(across))
        if across[k] > 0:
            heapq.heappush(heap, (-float(across[k]), i, i + 1 + k, j))

    for i, j in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        consider(i, j)
    added: list[int] = []
    while heap and edges.size + len(added) <= max_cells:
        _, i, k, j = heapq.heappop(heap)
        added.append(k)
        consider(i, k)
        consider(k, j)
    return np.union1d(edges, np.array(added, dtype=np.int64))


def _merged(
    counts: ScoreCounts,
    edges: np.ndarray[Any, Any],
    labeled: FloatArray,
    unlabeled: FloatArray,
) -> ThinnedCounts:
    starts, ends = edges[:-1], edges[1:]
    columns: dict[str, Any] = {"thresholds": counts.thresholds[ends - 1]}
    for name in FIELDS:
        column = getattr(counts, name)
        columns[name] = None if column is None else np.add.reduceat(column, starts)
    tops = counts.thresholds if counts.highest is None else counts.highest
    columns["highest"] = tops[starts]
    single = counts.labeled / counts.n_labeled * (counts.unlabeled / counts.n_unlabeled)
    pairs = np.diff(labeled[edges]) * np.diff(unlabeled[edges]) - np.add.reduceat(single, starts)
    # Single scores forget nothing; theirs is rounding.
    merged = ends - starts > 1
    between = [
        np.where(merged, rate[ends - 1] - rate[starts], 0.0) for rate in (labeled, unlabeled)
    ]
    return ThinnedCounts(
        counts=ScoreCounts(**columns),
        auc_bound=float(np.where(merged, pairs, 0.0).clip(0).sum()) / 2,
        rate_bound=float(np.max(between)),
    )
