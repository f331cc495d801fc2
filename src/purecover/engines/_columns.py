"""Columns in memory: split by group before counting, merged where bins overlap after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from purecover._counting import FIELDS, Columns
from purecover._labels import refuse_missing
from purecover._typing import FloatArray
from purecover._validation import as_real_vector, bad_value, check_same_length


def split_rows(
    function: str, columns: dict[str, np.ndarray[Any, Any]], by: np.ndarray[Any, Any] | None
) -> Iterator[tuple[Any, dict[str, np.ndarray[Any, Any]]]]:
    """Columns of each group in turn; all of them, as group None, without groups."""
    if by is None:
        yield None, columns
        return
    for parameter, column in columns.items():
        check_same_length(function, parameter, column.size, by.size)
    refuse_missing(function, "by", by)
    groups, which = np.unique(by, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=groups.size))
    for group, rows in zip(groups.tolist(), np.split(order, ends[:-1]), strict=True):
        yield group, {parameter: column[rows] for parameter, column in columns.items()}


def merge_bins(columns: Columns, tops: list[tuple[Any, Any]]) -> Columns:
    """Counts added up over two sets of bins, those that overlap made one.

    ``columns`` has the sums by threshold, in decreasing order; ``tops`` the thresholds of either
    set beside the largest scores of its bins.
    """
    low = columns["thresholds"]
    high = low.copy()
    for thresholds, highest in tops:
        place = np.searchsorted(-low, -thresholds)
        high[place] = np.maximum(high[place], highest)
    # From the lowest score upwards: a bin that starts within what is covered belongs to it.
    covered = np.maximum.accumulate(high[::-1])[::-1]
    new = np.append(low[:-1] > covered[1:], True)  # the last bin of each merged one
    ends = np.flatnonzero(new)
    starts = np.append(0, ends[:-1] + 1)
    merged: Columns = {"thresholds": low[ends], "highest": np.maximum.reduceat(high, starts)}
    for name in FIELDS:
        tally = columns.get(name)
        merged[name] = None if tally is None else np.add.reduceat(tally, starts)
    if np.array_equal(merged["highest"], merged["thresholds"]):
        merged["highest"] = None
    return merged


def read_highest(function: str, data: dict[str, Any], thresholds: FloatArray) -> FloatArray:
    """The column ``highest`` of a dict that `ScoreCounts.to_dict` wrote; bins must not overlap."""
    highest = as_real_vector(function, "data", data["highest"])
    low = as_real_vector(function, "data", data["thresholds"])
    highest = highest[np.argsort(-low, kind="stable")] if highest.size == low.size else highest
    fits = highest.shape == thresholds.shape and bool(
        np.all(highest >= thresholds) and np.all(highest[1:] < thresholds[:-1])
    )
    if not fits:
        got = "values of 'highest' below their thresholds or above the next"
        raise bad_value(function, "data", "a dict written by ScoreCounts.to_dict", got)
    return highest
