"""Columns of counts from rows, from other counts and from frames.

This is the only code that sorts scores or compares them for ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._inputs import encode_labels, group_codes, lazy_frame, read_columns
from purecover._progress import busy
from purecover._typing import ArrayLike, BoolArray, CountArray, FloatArray, IntArray
from purecover.engines.bins import Group
from purecover.exceptions import InvalidInputError

OPTIONAL = ("negative", "labeled_sq", "unlabeled_sq")
FIELDS = ("labeled", "unlabeled", *OPTIONAL)

Columns = dict[str, Any]
"""Thresholds and counts under the names of the fields of `ScoreCounts`; None where absent."""


def count_rows(
    scores: ArrayLike,
    labeled: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    parameter: str = "scores",
    **labels: Any,
) -> tuple[Columns, dict[str, float]]:
    """Count rows in the name of a public function whose scores are ``parameter``.

    ``labels`` say how labels are written. Also gives totals that are known from counting, under the
    names `ScoreCounts` has for them.
    """
    valid.check_alignment(scores, labeled)
    values = valid.as_real_vector(parameter, scores)
    positive, negative = encode_labels(labeled, values.size, **labels)
    weights = None if sample_weight is None else valid.as_weights(sample_weight, values.size)
    return count_marked(values, positive, negative, weights)


@busy()
def count_marked(
    values: FloatArray, positive: BoolArray, negative: BoolArray | None, weights: FloatArray | None
) -> tuple[Columns, dict[str, float]]:
    """The same after the door: rows with masks of the labeled and of the known negatives."""
    if weights is not None:
        unlabeled = ~positive if negative is None else ~(positive | negative)
        sums: dict[str, CountArray | None] = {}
        for side, rows in (("labeled", positive), ("unlabeled", unlabeled)):
            if not weights[rows].sum() > 0:
                must = f"positive for some {side} rows"
                raise valid.bad_value("sample_weight", must, "a total of 0")
            sums |= {side: weights * rows, f"{side}_sq": weights**2 * rows}
        sums["negative"] = None if negative is None else weights * negative
        return group(values, sums), {}
    ours = values.take(np.flatnonzero(positive))  # faster than values[positive]
    columns, pairs = count_two_samples(values.copy(), ours)
    if negative is not None:
        place = np.searchsorted(-columns["thresholds"], -values[negative])
        columns["negative"] = np.bincount(place, minlength=columns["thresholds"].size)
        columns["unlabeled"] = columns["unlabeled"] - columns["negative"]
        return columns, {}
    known: dict[str, float] = {"n_labeled": ours.size, "n_unlabeled": values.size - ours.size}
    return columns, known if pairs is None else {**known, "ordered_pairs": pairs}


def count_two_samples(pool: FloatArray, labeled: FloatArray) -> tuple[Columns, float | None]:
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
        pairs = float(place.sum(dtype=np.int64)) - labeled.size * (labeled.size - 1) / 2
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


def read_counts(thresholds: ArrayLike, given: dict[str, ArrayLike | None]) -> Columns:
    """Read columns, of which the optional ones may be None, in the name of a function."""
    values = valid.as_real_vector("thresholds", thresholds)
    weighted = given.get("labeled_sq") is not None
    columns: dict[str, CountArray | None] = {}
    for parameter, array in given.items():
        columns[parameter] = None
        if array is None and parameter in OPTIONAL:
            continue
        column: CountArray = valid.as_masses(parameter, array, values.size)
        # Whole numbers are counted as such as long as doubles can follow their total.
        if np.all(column == np.floor(column)) and column.sum() < 2**53:
            column = column.astype(np.int64)
        if parameter != "negative" and not column.any():
            raise valid.bad_value(parameter, "positive somewhere", "no count above 0")
        columns[parameter] = column.astype(np.float64) if weighted else column
    return group(values, columns)


def read_dict(data: Any) -> Columns:
    """Read what `ScoreCounts.to_dict` wrote."""
    must = "a dict written by ScoreCounts.to_dict"
    if not isinstance(data, dict):
        raise valid.bad_type("data", must, data)
    missing = {"thresholds", "labeled", "unlabeled"} - set(data)
    if missing:
        raise valid.bad_value("data", must, f"no {sorted(missing)}")
    if (data.get("labeled_sq") is None) != (data.get("unlabeled_sq") is None):
        raise valid.bad_value("data", "complete", "only one of labeled_sq and unlabeled_sq")
    columns = read_counts(data["thresholds"], {key: data.get(key) for key in FIELDS})
    if data.get("highest") is not None:  # bins must not overlap
        low, high = (valid.as_real_vector("data", data[key]) for key in ("thresholds", "highest"))
        high = high[np.argsort(-low, kind="stable")] if high.size == low.size else high
        low = columns["thresholds"]
        if high.shape != low.shape or np.any(high < low) or np.any(high[1:] >= low[:-1]):
            got = "values of 'highest' below their thresholds or above the next"
            raise valid.bad_value("data", must, got)
        columns["highest"] = high
    return columns


def group(values: FloatArray, columns: dict[str, CountArray | None]) -> Columns:
    """Add up columns over equal values, in decreasing order of value."""
    order = np.argsort(-values, kind="stable")
    values = values[order] + 0.0
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    grouped: Columns = {"thresholds": values[starts]}
    for name, column in columns.items():
        grouped[name] = None if column is None else np.add.reduceat(column[order], starts)
    return grouped


def joined(first: Columns, second: Columns) -> Columns:
    """Counts of two data sets together."""
    columns: dict[str, CountArray | None] = {}
    for name in FIELDS:
        one, other = _filled(first, name, second), _filled(second, name, first)
        columns[name] = None
        if one is not None and other is not None:
            columns[name] = np.concatenate([one, other])
    return group(np.concatenate([first["thresholds"], second["thresholds"]]), columns)


def _filled(columns: Columns, name: str, other: Columns) -> CountArray | None:
    """A column, or what stands for it when only the other counts have it."""
    column: CountArray | None = columns.get(name)
    if column is not None or other.get(name) is None:
        return column
    if name == "negative":
        return np.zeros(columns["thresholds"].size, dtype=np.int64)
    # Unweighted rows have weight 1, so their squares are the counts themselves.
    plain: CountArray = columns[name.removesuffix("_sq")]
    return plain.astype(np.float64)


def overlapping(
    low: FloatArray, tops: list[tuple[FloatArray, FloatArray]]
) -> tuple[FloatArray, IntArray]:
    """Largest scores of two sets of bins together, and where those that do not overlap start.

    ``low`` has the thresholds of both, in decreasing order; ``tops`` the thresholds of either set
    next to the largest scores of its bins.
    """
    high = low.copy()
    for thresholds, highest in tops:
        place = np.searchsorted(-low, -thresholds)
        high[place] = np.maximum(high[place], highest)
    # From the lowest score upwards: a bin that starts within what is covered belongs to it.
    covered = np.maximum.accumulate(high[::-1])[::-1]
    return high, np.flatnonzero(np.append(True, low[:-1] > covered[1:]))


def count_frame(
    frame: Any, names: Mapping[str, str], labels: dict[str, object], settings: dict[str, Any]
) -> dict[Group, tuple[Columns, dict[str, float]]]:
    """Columns of counts by group, and totals known from counting; one group None without ``by``.

    Lazy frames are counted by their engine with ``settings`` (see `count_lazy`), others exactly.
    """
    lazy = lazy_frame(frame)
    if lazy is not None:
        from purecover.engines.scan import count_lazy

        counted = count_lazy(lazy, names, labels, **settings)
        return {group: (columns, {}) for group, columns in counted.items()}
    rows = read_columns(frame, names)
    by = rows.pop("by", None)
    found = {}
    for group, part in split_rows(rows, by):
        try:
            found[group] = count_rows(
                part.pop("score"), part.pop("labeled"), parameter="score", **part, **labels
            )
        except InvalidInputError as error:
            if by is not None:
                error.got = f"{error.got} in group {valid.show(group)}"
            raise
    return found


def split_rows(
    columns: dict[str, np.ndarray[Any, Any]], by: np.ndarray[Any, Any] | None
) -> Iterator[tuple[Any, dict[str, np.ndarray[Any, Any]]]]:
    """Columns of each group in turn; all of them, as group None, without groups."""
    if by is None:
        yield None, columns
        return
    for parameter, column in columns.items():
        valid.check_same_length(parameter, column.size, by.size)
    groups, which = group_codes("by", by)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=groups.size))
    for group, rows in zip(groups.tolist(), np.split(order, ends[:-1]), strict=True):
        yield group, {parameter: column[rows] for parameter, column in columns.items()}
