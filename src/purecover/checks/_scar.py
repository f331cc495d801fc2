"""A check for labeled examples that are not a random sample of the positives: PU006."""

from __future__ import annotations

from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover.checks._base import CheckContext, Finding, check, count, fired, not_applicable, quiet
from purecover.checks._noise import FALSE_ALARM_RATE, effective_sizes, shortfall

IndexArray: TypeAlias = np.ndarray[tuple[int], np.dtype[np.intp]]

TOPS = (0.01, 0.02, 0.05, 0.1)
"""Shares of all examples, those with the highest scores, that are looked at in turn."""

NEXT = 2.0
"""How many times as many examples below them they are compared with."""

SCARCE = 0.8
"""Labels that are less than a fifth rarer at the top are not worth a word, however sure it is."""

FEWEST = 10
"""Labeled examples that should be at the top."""


@check("PU006", "labeled examples not a random sample of the positives", "warning")
def labels_thin_out(context: CheckContext) -> Finding:
    """Where positives are most frequent, labels should be most frequent as well."""
    counts = context.counts
    if context.n_groups is not None:
        return not_applicable("rows are dependent, and the test would count each of them.")
    if counts.ordered_pairs <= 0.5 * counts.n_labeled * counts.n_unlabeled:
        return not_applicable("labeled examples do not score higher than unlabeled ones.")
    sizes = effective_sizes(counts)
    labeled = counts.labeled * (sizes[0] / counts.n_labeled)
    few = np.cumsum(labeled)
    rows = few + np.cumsum(counts.unlabeled * (sizes[1] / counts.n_unlabeled))
    top, below, usable = _windows(few, rows)
    if not usable.any():
        return not_applicable(f"fewer than {FEWEST} labeled examples should have the top scores.")
    top, below = top[usable], below[usable]
    # Both shares of labeled examples with their numbers of rows; a test for each window.
    at_top, n_top = few[top], rows[top]
    at_next, n_next = few[below] - few[top], rows[below] - rows[top]
    z = np.array(
        [
            shortfall(at_top[i : i + 1], at_next[i : i + 1], n_top[i], n_next[i], 1.0)[0]
            for i in range(top.size)
        ]
    )
    z = np.where(at_top / n_top < SCARCE * at_next / n_next, z, 0.0)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM_RATE / len(TOPS))
    worst = int(z.argmax())
    says = (
        f"{at_top[worst] / n_top[worst]:.1%} of the {count(n_top[worst])} highest scores are "
        f"labeled, and {at_next[worst] / n_next[worst]:.1%} of the {count(n_next[worst])} below"
    )
    if z[worst] <= limit:
        return quiet(f"{says}: labels do not thin out at the top.")
    return fired(
        f"{says}: labels thin out where positives should be most frequent.",
        "were clear cases labeled less often, so that the labeled positives are not a random "
        "sample of all positives? Or do some negatives outscore the positives? scar_test looks "
        "at the features, ClusteredLabels allows for kinds of positives labeled unequally.",
    )


def _windows(few: FloatArray, rows: FloatArray) -> tuple[IndexArray, IndexArray, BoolArray]:
    """Last thresholds of each top and of what lies below it, and which of them hold enough."""
    shares = np.array(TOPS)
    last = rows.size - 1
    top = np.minimum(np.searchsorted(rows, shares * rows[-1] * (1 - 1e-12)), last)
    # Ties may make a top larger than it should be; what lies below is so much larger too.
    reach = np.minimum(rows[top] * (1 + NEXT), rows[-1]) * (1 - 1e-12)
    below = np.minimum(np.searchsorted(rows, reach), last)
    with np.errstate(invalid="ignore"):
        expected = few[below] * rows[top] / rows[below]
    return top, below, (below > top) & (expected >= FEWEST)
