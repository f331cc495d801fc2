"""From rows, in memory or in a lazy frame, to columns of counts of one or several scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._inputs import encode_labels, lazy_frame, read_columns, refuse_missing
from purecover._typing import ArrayLike, BoolArray, CountArray, FloatArray, IntArray
from purecover.engines.scan import (
    Bins,
    Group,
    LabelValues,
    Scan,
    as_float,
    choice,
    collected,
    regions_to_refine,
)
from purecover.exceptions import InvalidInputError

# -- Columns in memory: the only code that sorts scores or meets a tie ---------------------------


OPTIONAL = ("negative", "labeled_sq", "unlabeled_sq")
FIELDS = ("labeled", "unlabeled", *OPTIONAL)

Columns = dict[str, Any]
"""Thresholds and counts under the names of the fields of `ScoreCounts`; None where absent."""

# -- from rows --------------------------------------------------------------------------------


def count_rows(
    scores: dict[str, ArrayLike],
    labeled: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    positive_label: object = None,
    negative_label: object = None,
) -> tuple[Columns, dict[str, float]]:
    """Count rows in the name of a public function; ``scores`` is keyed by its parameter.

    Also gives totals that are known from counting, under the names `ScoreCounts` has for them.
    """
    ((parameter, column),) = scores.items()
    valid.check_alignment(column, labeled)
    values = valid.as_real_vector(parameter, column)
    positive, negative = encode_labels(
        labeled,
        values.size,
        positive_label=positive_label,
        negative_label=negative_label,
    )
    weights = None if sample_weight is None else valid.as_weights(sample_weight, values.size)
    return count_marked(values, positive, negative, weights)


def count_marked(
    values: FloatArray,
    positive: BoolArray,
    negative: BoolArray | None,
    weights: FloatArray | None,
) -> tuple[Columns, dict[str, float]]:
    """The same after the door: rows with masks of the labeled and of the known negatives."""
    if weights is not None:
        return count_weighted(values, positive, negative, weights), {}
    ours = values.take(np.flatnonzero(positive))  # faster than values[positive]
    if negative is None:
        columns, pairs = count_two_samples(values.copy(), ours)
        known: dict[str, float] = {
            "n_labeled": ours.size,
            "n_unlabeled": values.size - ours.size,
        }
        return columns, known if pairs is None else {**known, "ordered_pairs": pairs}
    columns, _ = count_two_samples(values[~negative], ours)
    thresholds, tallies = np.unique(values[negative], return_counts=True)
    none = np.zeros(thresholds.size, dtype=np.int64)
    others = {"labeled": none, "unlabeled": none, "negative": tallies.astype(np.int64)}
    return joined(columns, {"thresholds": thresholds, **others}), {}


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
    values: FloatArray,
    positive: BoolArray,
    negative: BoolArray | None,
    weights: FloatArray,
) -> Columns:
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
            raise valid.bad_value("sample_weight", f"positive for some {side} rows", "a total of 0")
    return group(values, columns)


# -- from counts ------------------------------------------------------------------------------


def read_counts(thresholds: ArrayLike, given: dict[str, ArrayLike | None]) -> Columns:
    """Read columns, of which the optional ones may be None, in the name of a function."""
    values = valid.as_real_vector("thresholds", thresholds)
    weighted = given.get("labeled_sq") is not None
    columns: dict[str, CountArray | None] = {}
    for parameter, array in given.items():
        columns[parameter] = None
        if array is None and parameter in OPTIONAL:
            continue
        column = _as_counts(parameter, array, values.size)
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
    return read_counts(data["thresholds"], {key: data.get(key) for key in FIELDS})


def _as_counts(parameter: str, values: ArrayLike | None, size: int) -> CountArray:
    numbers = valid.as_masses(parameter, values, size)
    # Whole numbers are counted as such as long as doubles can follow their total.
    if np.all(numbers == np.floor(numbers)) and numbers.sum() < 2**53:
        return numbers.astype(np.int64)
    return numbers


# -- from columns -----------------------------------------------------------------------------


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


# -- bins -------------------------------------------------------------------------------------


def overlapping(
    low: FloatArray, tops: list[tuple[FloatArray, FloatArray]]
) -> tuple[FloatArray, IntArray]:
    """Largest scores of two sets of bins together, and where those that do not overlap start.

    ``low`` has the thresholds of both, in decreasing order; ``tops`` the thresholds of either set
    beside the largest scores of its bins.
    """
    high = low.copy()
    for thresholds, highest in tops:
        place = np.searchsorted(-low, -thresholds)
        high[place] = np.maximum(high[place], highest)
    # From the lowest score upwards: a bin that starts within what is covered belongs to it.
    covered = np.maximum.accumulate(high[::-1])[::-1]
    return high, np.flatnonzero(np.append(True, low[:-1] > covered[1:]))


def read_highest(data: dict[str, Any], thresholds: FloatArray) -> FloatArray:
    """The column ``highest`` of a dict that `ScoreCounts.to_dict` wrote; bins must not overlap."""
    highest = valid.as_real_vector("data", data["highest"])
    low = valid.as_real_vector("data", data["thresholds"])
    highest = highest[np.argsort(-low, kind="stable")] if highest.size == low.size else highest
    fits = highest.shape == thresholds.shape and bool(
        np.all(highest >= thresholds) and np.all(highest[1:] < thresholds[:-1])
    )
    if not fits:
        got = "values of 'highest' below their thresholds or above the next"
        raise valid.bad_value("data", "a dict written by ScoreCounts.to_dict", got)
    return highest


# -- Lazy frames ---------------------------------------------------------------------------------


EXACT_LIMIT = 500_000
"""Frames with at most about so many distinct scores are counted exactly."""
_MAX_PASSES = 8


def count_frame(
    frame: Any,
    names: Mapping[str, str],
    labels: dict[str, object],
    settings: dict[str, Any],
) -> dict[Group, tuple[Columns, dict[str, float]]]:
    """Columns of counts by group, and totals known from counting; one group None without ``by``.

    Lazy frames are counted by their engine with ``settings`` (see `count_lazy`), others exactly.
    """
    lazy = lazy_frame(frame)
    if lazy is not None:
        counted = count_lazy(lazy, names, labels, **settings)
        return {group: (columns, {}) for group, columns in counted.items()}
    rows = read_columns(frame, names)
    by = rows.pop("by", None)
    found = {}
    for group, part in split_rows(rows, by):
        try:
            found[group] = count_rows(
                {"score": part["score"]},
                part["labeled"],
                sample_weight=part.get("sample_weight"),
                **labels,
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
    refuse_missing("by", by)
    try:
        groups, which = np.unique(by, return_inverse=True)
    except TypeError as error:
        must = "a column of values of one kind"
        raise valid.bad_value("by", must, "values that have no order") from error
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=groups.size))
    for group, rows in zip(groups.tolist(), np.split(order, ends[:-1]), strict=True):
        yield group, {parameter: column[rows] for parameter, column in columns.items()}


def count_lazy(
    frame: Any,
    names: Mapping[str, str],
    labels: dict[str, object],
    *,
    tolerance: float,
    exact_limit: int = EXACT_LIMIT,
    keep: float | None = None,
    one_sided: bool = False,
    n_rows: int | None = None,
) -> dict[Group, Columns]:
    """Counts of a lazy frame, by group; one group None without ``by``.

    The first pass counts in bins. If each holds one score, that was all. If there are few
    distinct scores, a second pass counts those. Otherwise bins are refined until the observed
    AUC is known to within ``tolerance``, which mostly takes no further pass. A group without
    labeled or without unlabeled rows is refused, unless ``one_sided`` groups are welcome. All
    groups together must have ``n_rows`` rows, where that is known.
    """
    scan = Scan(frame, names, labels, keep)
    found = scan.bins()
    _require_rows(n_rows, sum(int(bins.rows.sum()) for bins in found.values()))
    if all(bins.tied.all() for bins in found.values()):
        return _columns(scan, found, labels, one_sided=one_sided)
    few = sum(bins.distinct() for bins in found.values()) <= exact_limit
    if tolerance == 0 or few:
        exact = scan.exact()
        _require_same(found, exact)
        return _columns(scan, exact, labels, one_sided=one_sided)
    for _ in range(_MAX_PASSES):
        regions = regions_to_refine(list(found.values()), tolerance)
        if regions is None:
            break
        finer = scan.refined(regions)
        held = {group: regions.hold(bins) for group, bins in found.items()}
        before = {group: found[group].taken(held[group]) for group in found}
        _require_same(before, finer)
        for group, part in finer.items():
            found[group] = found[group].taken(~held[group]).joined(part)
    widest = max(float(bins.slack().sum()) for bins in found.values())
    if widest > tolerance:
        valid.warn(
            f"The observed AUC is known to within {widest:.2g}, not {tolerance:g}, after "
            f"{scan.n_passes} passes: scores are extremely crowded."
        )
    return _columns(scan, found, labels, one_sided=one_sided)


def _require_same(one: dict[Group, Bins], other: dict[Group, Bins]) -> None:
    """Refuse a frame that is not the same twice, such as one with random numbers in it."""
    for group in {*one, *other}:
        rows = [int(found[group].rows.sum()) if group in found else 0 for found in (one, other)]
        _require_rows(*rows)


def _require_rows(expected: int | None, found: int) -> None:
    if expected not in (None, found):
        raise valid.bad_value(
            "frame",
            "the same each time it is evaluated",
            f"{expected:,} and then {found:,} rows",
            "store or cache it first: random numbers and samples are drawn anew each time",
        )


def _columns(
    scan: Scan, found: dict[Group, Bins], labels: dict[str, object], *, one_sided: bool
) -> dict[Group, Columns]:
    """Columns of `ScoreCounts`, in decreasing order of score."""
    out: dict[Group, Columns] = {}
    for group, bins in found.items():
        for side in () if one_sided else ("labeled", "unlabeled"):
            if not getattr(bins, side).sum() > 0:
                where = "" if group is None else f" in group {valid.show(group)}"
                raise valid.bad_value(
                    "labeled",
                    "both labeled and unlabeled somewhere",
                    f"no {side} row among {int(bins.rows.sum()):,}{where}",
                )
        wanted = {"thresholds": bins.low, "labeled": bins.labeled, "unlabeled": bins.unlabeled}
        if labels["negative_label"] is not None:
            wanted["negative"] = bins.negative
        if scan.weighted:
            wanted |= {"labeled_sq": bins.labeled_sq, "unlabeled_sq": bins.unlabeled_sq}
        if not bins.tied.all():
            wanted["highest"] = bins.high
        out[group] = {name: column[::-1].copy() for name, column in wanted.items()}
    return out


# -- Several scores of the same rows: how many rows lie in the same cell of each, by one group-by


MAX_CELLS = 2_000_000
"""Most cells that are taken from an engine: beyond that they are as good as rows."""


@dataclass(frozen=True, eq=False)
class JointCells:
    """Rows that no score tells apart, counted.

    Attributes
    ----------
    place : mapping of str to ndarray of int
        By score: the cell of each, numbered from the lowest.
    labeled : ndarray of bool
        Whether its rows are labeled; known negatives are left out.
    rows : ndarray of int
        How many rows there are.
    """

    place: Mapping[str, IntArray]
    labeled: BoolArray
    rows: IntArray


def joint_cells(
    frame: Any,
    edges: Mapping[str, FloatArray],
    labeled: str,
    labels: dict[str, object],
) -> JointCells:
    """Group the rows of a lazy frame by label and by the cell of every score.

    ``edges`` has the lowest score of each cell, in increasing order, by column. Rows have been
    counted before, so that none has a value that could not be.
    """
    import narwhals.stable.v2 as nw

    schema = frame.collect_schema()
    values = LabelValues(labeled, schema[labeled], labels)
    columns = {f"pu_x{i}": as_float(name, schema[name]) for i, name in enumerate(edges)}
    columns["pu_label"] = values.expression()
    rows = _placed(frame.select(**columns), list(edges.values()))
    result = rows.group_by(*columns).agg(nw.len().alias("pu_n"))
    result = result.with_columns(nw.col("pu_n").cast(nw.Int64))
    found = collected(result.head(MAX_CELLS + 1))
    n = found["pu_n"].astype(np.int64)
    if n.size > MAX_CELLS:
        raise valid.bad_value(
            "score",
            f"few enough that at most {MAX_CELLS:,} cells of their joint ranks hold rows",
            f"{len(edges)} of them, and more cells than that",
            "compare two or three at a time, each with the same baseline",
        )
    positive, negative = values.read(found["pu_label"], n)
    place = {name: found[f"pu_x{i}"].astype(np.int64) for i, name in enumerate(edges)}
    # Engines return groups in any order; the seed must decide alone what is drawn.
    order = np.lexsort((*place.values(), positive))
    if negative is not None:
        order = order[~negative[order]]
    return JointCells(
        {name: cell[order] for name, cell in place.items()}, positive[order], n[order]
    )


def _placed(rows: Any, every: list[FloatArray]) -> Any:
    """Rows with cells, numbered from the lowest, in the place of the scores ``pu_x0`` and so on."""
    import narwhals.stable.v2 as nw

    # Frames of Python's own process look cells up; where a choice between expressions computes
    # all of them, hundreds of choices would be slow.
    names = [f"pu_x{i}" for i in range(len(every))]
    if rows.implementation.is_polars():
        import polars as pl

        looked_up = [
            pl.col(name).map_batches(
                partial(_series_of_cells, edges), return_dtype=pl.Int64, is_elementwise=True
            )
            for name, edges in zip(names, every, strict=True)
        ]
        return nw.from_native(nw.to_native(rows).with_columns(looked_up))
    if rows.implementation.is_dask():
        native = nw.to_native(rows)
        cells = {
            name: native[name].map_partitions(_frame_of_cells, edges, meta=(name, "int64"))
            for name, edges in zip(names, every, strict=True)
        }
        return nw.from_native(native.assign(**cells))
    trees = {
        name: choice(nw.col(name), edges, lambda i: nw.lit(i, nw.Int64))
        for name, edges in zip(names, every, strict=True)
    }
    return rows.with_columns(**trees)


def _cells(edges: FloatArray, scores: FloatArray) -> IntArray:
    return np.maximum(np.searchsorted(edges, scores, side="right") - 1, 0).astype(np.int64)


def _series_of_cells(edges: FloatArray, series: Any) -> Any:
    return type(series)(series.name, _cells(edges, series.to_numpy()))


def _frame_of_cells(part: Any, edges: FloatArray) -> Any:
    return type(part)(_cells(edges, part.to_numpy(np.float64)), index=part.index, name=part.name)
