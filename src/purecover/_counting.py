"""The only code that sorts scores or meets a tie."""

from __future__ import annotations

from typing import Any

import numpy as np

from purecover._typing import ArrayLike, BoolArray, CountArray, FloatArray
from purecover._validation import as_masses, bad_value


def count_two_samples(pool: FloatArray, labeled: FloatArray) -> tuple[dict[str, Any], float | None]:
    """Counts from the pooled scores and, again, the labeled ones; both are sorted in place.

    Also gives the number of pairs with the labeled score higher, where there are no ties.

    Two plain sorts and a look-up of the labeled scores among the pooled ones: sorting the
    pool together with its labels (an argsort) would cost ten times as much.
    """
    pool.sort()
    labeled.sort()
    # -0.0 and 0.0 are one score, written 0.0.
    pool[np.searchsorted(pool, 0.0) : np.searchsorted(pool, 0.0, "right")] = 0.0
    first = np.empty(pool.size, dtype=np.bool_)
    first[0] = True
    np.not_equal(pool[1:], pool[:-1], out=first[1:])
    pairs: float | None
    if first.all():
        place = np.searchsorted(pool, labeled)
        # Below the i-th lowest labeled score are i labeled ones; the others are unlabeled.
        pairs = float(place.sum()) - labeled.size * (labeled.size - 1) / 2
        counted = np.zeros(pool.size, dtype=np.int64)
        counted[place] = 1
        others = 1 - counted
    else:
        pairs = None
        starts = np.flatnonzero(first)
        everyone = np.diff(starts, append=pool.size)
        pool = pool[starts]
        counted = np.bincount(np.searchsorted(pool, labeled), minlength=pool.size)
        others = everyone - counted
    columns = {"thresholds": pool[::-1], "labeled": counted[::-1], "unlabeled": others[::-1]}
    return columns, pairs


def count_weighted(
    function: str,
    values: FloatArray,
    positive: BoolArray,
    negative: BoolArray | None,
    weights: FloatArray,
) -> dict[str, Any]:
    """Sums of weights, and of their squares, per distinct score."""
    unlabeled = ~positive if negative is None else ~(positive | negative)
    columns: dict[str, CountArray | None] = {
        "labeled": weights * positive,
        "unlabeled": weights * unlabeled,
        "negative": None if negative is None else weights * negative,
        "labeled_sq": weights**2 * positive,
        "unlabeled_sq": weights**2 * unlabeled,
    }
    for side in ("labeled", "unlabeled"):
        column = columns[side]
        if column is None or not column.sum() > 0:
            raise bad_value(
                function, "sample_weight", f"positive for some {side} rows", "a total of 0"
            )
    return group(values, columns)


def as_counts(function: str, parameter: str, values: ArrayLike, size: int) -> CountArray:
    numbers = as_masses(function, parameter, values, size)
    # Whole numbers are counted as such as long as doubles can follow their total.
    if np.all(numbers == np.floor(numbers)) and numbers.sum() < 2**53:
        return numbers.astype(np.int64)
    return numbers


def group(values: FloatArray, columns: dict[str, CountArray | None]) -> dict[str, Any]:
    """Add up columns over equal values, in decreasing order of value."""
    order = np.argsort(-values, kind="stable")
    values = values[order] + 0.0
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    grouped: dict[str, Any] = {"thresholds": values[starts]}
    for name, column in columns.items():
        grouped[name] = None if column is None else np.add.reduceat(column[order], starts)
    return grouped
