r"""Tests of whether a partition differs from the partitions before it.

Without drift, the labeled scores of all partitions have one distribution and the unlabeled scores
another. The rows of the new partition are then a random part of all rows of their kind, and so is
every other part of the same size. A figure of the new partition is compared with the same figure
of such random parts. All parts have one size and are measured the same way, so a bias that depends
on the size of a sample, as every estimator of alpha has, is in both and cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._codec import Saved
from purecover._typing import FloatArray
from purecover.counts import ScoreCounts

N_PARTS = 50
"""Random parts for one comparison: enough for a standard error."""
MIN_ROWS = 20
"""Labeled and unlabeled rows that both sides of a comparison need."""

Measure = Callable[[ScoreCounts], Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class DriftTest(Saved):
    """Comparison of one figure of a partition with the partitions before it.

    Attributes
    ----------
    value : float
        The figure of the partition, or the distance of its distribution of scores from the
        distribution before.
    before : float
        What a partition of the same size would show without drift; 0 for distances.
    p_value : float
        Probability of a difference at least as large without drift.
    limit : float
        The difference counts as drift if ``p_value`` is at most this.
    """

    value: float
    before: float
    p_value: float
    limit: float

    @property
    def difference(self) -> float:
        """``value - before``."""
        return self.value - self.before

    @property
    def drifted(self) -> bool:
        """Whether the difference is significant."""
        return self.p_value <= self.limit


def why_not_compared(new: ScoreCounts, before: ScoreCounts) -> str | None:
    """Return the reason why two sets of counts cannot be compared, or None."""
    if new.is_weighted or before.is_weighted:
        return "weighted rows are not compared"
    fewest = min(new.n_labeled, new.n_unlabeled, before.n_labeled, before.n_unlabeled)
    if fewest < MIN_ROWS:
        return f"{MIN_ROWS} labeled and {MIN_ROWS} unlabeled rows are needed on both sides"
    return None


def compare(
    new: ScoreCounts,
    before: ScoreCounts,
    values: Mapping[str, float],
    earlier: Mapping[str, float],
    measure: Measure,
    spent: float,
    rng: np.random.Generator,
) -> dict[str, DriftTest]:
    """Test each value of a partition, and its two distributions of scores.

    Parameters
    ----------
    new, before : ScoreCounts
        The partition, and all partitions that it is compared with.
    values : mapping of str to float
        The figures of the partition.
    earlier : mapping of str to float
        The figures of ``before`` whose mean does not depend on the number of rows.
    measure : callable
        Returns the same figures of other counts.
    spent : float
        Probability of a false alarm, shared equally by the tests.
    rng : Generator
        Draws the random parts.
    """
    found = _distances(new, before)
    parts = [measure(part) for part in _random_parts(new, before, rng)]
    ratios = new.n_labeled / before.n_labeled, new.n_unlabeled / before.n_unlabeled
    for name, value in values.items():
        drawn = np.array([part.get(name, math.nan) for part in parts])
        drawn = drawn[np.isfinite(drawn)]
        if math.isfinite(value) and drawn.size >= N_PARTS / 2:
            # Parts are drawn from old and new rows, so their mean lies between the figure of the
            # old rows and the figure of the new rows, in proportion to their numbers.
            shift = ratios[1] * (value - float(drawn.mean()))
            old = earlier.get(name, min(max(float(drawn.mean()) - shift, 0.0), 1.0))
            found[name] = (value, old, _p_value(value - old, drawn, 1 + max(ratios)))
    limit = spent / len(found)
    return {
        name: DriftTest(value=value, before=old, p_value=p, limit=limit)
        for name, (value, old, p) in found.items()
    }


def _p_value(difference: float, drawn: FloatArray, factor: float) -> float:
    """Return the two-sided p-value of a difference, by Student's distribution.

    Its standard error is that of the drawn figures times ``factor``: parts and old rows overlap.
    """
    from scipy.special import stdtr

    # Skewed draws must not look narrower than they are on the side of the difference.
    end = np.quantile(drawn, 0.975 if difference > 0 else 0.025) - drawn.mean()
    scale = max(drawn.std(ddof=1), abs(end) / 1.96) * factor * math.sqrt(1 + 1 / drawn.size)
    if scale == 0:
        return float(difference == 0)
    return 2 * float(stdtr(drawn.size - 1, -abs(difference) / scale))


def _random_parts(
    new: ScoreCounts, before: ScoreCounts, rng: np.random.Generator
) -> Iterator[ScoreCounts]:
    """Yield parts of all rows that have as many rows of each kind as ``new``."""
    pooled = new + before
    for _ in range(N_PARTS):
        columns: dict[str, Any] = {}
        for name in ("labeled", "unlabeled", "negative"):
            if (tally := getattr(pooled, name)) is not None:
                whole = np.rint(tally).astype(np.int64)
                size = int(np.rint(getattr(new, f"n_{name}")))
                columns[name] = rng.multivariate_hypergeometric(whole, size, method="marginals")
        kept = sum(columns.values()) > 0
        columns = {name: tally[kept] for name, tally in columns.items()}
        yield ScoreCounts(thresholds=pooled.thresholds[kept], **columns)


def _distances(new: ScoreCounts, before: ScoreCounts) -> dict[str, tuple[float, float, float]]:
    r"""Return Kolmogorov-Smirnov distances of labeled and of unlabeled scores, and p-values.

    Areas do not change if all scores move together; distances do. With
    :math:`n = n_1 n_2/(n_1+n_2)`, the p-value is that of Kolmogorov's distribution of
    :math:`\sqrt{n}\,D`, which is too large rather than too small for small samples and for ties.
    """
    from scipy.special import kolmogorov

    found = {}
    grid = (new + before).thresholds
    for side in ("labeled", "unlabeled"):
        shares = []
        for counts in (new, before):
            place = np.searchsorted(-grid, -counts.thresholds)
            tally = np.bincount(place, weights=getattr(counts, side), minlength=grid.size)
            shares.append(np.cumsum(tally) / tally.sum())
        distance = float(np.abs(shares[0] - shares[1]).max())
        few, many = (getattr(counts, f"n_{side}") for counts in (new, before))
        scaled = math.sqrt(few * many / (few + many)) * distance
        found[side] = (distance, 0.0, float(kolmogorov(scaled)))
    return found
