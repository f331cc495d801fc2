"""From a lazy frame to counts: of one score, or of several scores of the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from purecover._counting import Columns, count_rows
from purecover._inputs import lazy_frame, read_columns, refuse_missing
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import bad_value, check_same_length, show, warn
from purecover.engines.scan import (
    Bins,
    Group,
    LabelCodes,
    Scan,
    as_float,
    choice,
    collected,
    regions_to_refine,
)
from purecover.exceptions import InvalidInputError

EXACT_LIMIT = 4_000_000
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
                positive_label=labels["positive_label"],
                negative_label=labels["negative_label"],
            )
        except InvalidInputError as error:
            if by is not None:
                error.got = f"{error.got} in group {show(group)}"
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
        check_same_length(parameter, column.size, by.size)
    refuse_missing("by", by)
    try:
        groups, which = np.unique(by, return_inverse=True)
    except TypeError as error:
        must = "a column of values of one kind"
        raise bad_value("by", must, "values that have no order") from error
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
) -> dict[Group, Columns]:
    """Counts of a lazy frame, by group; one group None without ``by``.

    The first pass counts in bins. If each holds one score, that was all. If there are few
    distinct scores, a second pass counts those. Otherwise bins are refined until the observed
    AUC is known to within ``tolerance``, which mostly takes no further pass. A group without
    labeled or without unlabeled rows is refused, unless ``one_sided`` groups are welcome.
    """
    scan = Scan(frame, names, labels, keep)
    found = scan.bins()
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
        warn(
            f"The observed AUC is known to within {widest:.2g}, not {tolerance:g}, after "
            f"{scan.n_passes} passes: scores are extremely crowded."
        )
    return _columns(scan, found, labels, one_sided=one_sided)


def _require_same(one: dict[Group, Bins], other: dict[Group, Bins]) -> None:
    """Refuse a frame that is not the same twice, such as one with random numbers in it."""
    for group in {*one, *other}:
        rows = [int(found[group].rows.sum()) if group in found else 0 for found in (one, other)]
        if rows[0] != rows[1]:
            raise bad_value(
                "frame",
                "the same each time it is evaluated",
                f"{rows[0]:,} and then {rows[1]:,} rows",
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
                where = "" if group is None else f" in group {show(group)}"
                raise bad_value(
                    "labeled",
                    "both labeled and unlabeled somewhere",
                    f"no {side} row among {int(bins.rows.sum()):,}{where}",
                )
        columns: Columns = {
            "thresholds": bins.low[::-1].copy(),
            "labeled": _tally(bins.labeled),
            "unlabeled": _tally(bins.unlabeled),
        }
        if labels["negative_label"] is not None:
            columns["negative"] = _tally(bins.negative)
        if scan.weighted:
            columns["labeled_sq"] = _tally(bins.labeled_sq)
            columns["unlabeled_sq"] = _tally(bins.unlabeled_sq)
        if not bins.tied.all():
            columns["highest"] = bins.high[::-1].copy()
        out[group] = columns
    return out


def _tally(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(values[::-1])


# -- Several scores of the same rows: how many rows lie in the same cell of each, by one group-by


MAX_CELLS = 2_000_000
"""Most cells that are taken from an engine: beyond that they are as good as rows."""

_LARGEST_KEY = 2**60


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
    codes = LabelCodes(labeled, schema[labeled], labels)
    columns = {f"pu_x{i}": as_float(name, schema[name]) for i, name in enumerate(edges)}
    columns["pu_label"] = codes.expression()
    rows = _placed(frame.select(**columns), list(edges.values()))
    parts = _keys([edge.size for edge in edges.values()])
    keys = {}
    for k, part in enumerate(parts):
        key = nw.lit(0, nw.Int64)
        for i, size in part:
            key = key * size + nw.col(f"pu_x{i}")
        keys[f"pu_key{k}"] = key
    grouped = rows.select("pu_label", **keys).group_by("pu_label", *keys)
    result = grouped.agg(nw.len().alias("pu_n")).with_columns(nw.col("pu_n").cast(nw.Int64))
    found = collected(result.head(MAX_CELLS + 1))
    n = found["pu_n"].astype(np.int64)
    if n.size > MAX_CELLS:
        raise bad_value(
            "score",
            f"few enough that at most {MAX_CELLS:,} cells of their joint ranks hold rows",
            f"{len(edges)} of them, and more cells than that",
            "compare two or three at a time, each with the same baseline",
        )
    positive, negative = codes.read(frame, found["pu_label"], n)
    place = dict(zip(edges, _unpacked(found, parts), strict=True))
    # Engines return groups in any order; the seed must decide alone what is drawn.
    order = np.lexsort((*place.values(), positive))
    if negative is not None:
        order = order[~negative[order]]
    return JointCells(
        {name: cell[order] for name, cell in place.items()}, positive[order], n[order]
    )


def _keys(sizes: list[int]) -> list[list[tuple[int, int]]]:
    """Scores, with their numbers of cells, in parts whose cells fit into one integer."""
    parts: list[list[tuple[int, int]]] = []
    total = _LARGEST_KEY
    for i, size in enumerate(sizes):
        total *= size
        if total > _LARGEST_KEY or not parts:
            parts.append([])
            total = size
        parts[-1].append((i, size))
    return parts


def _unpacked(
    found: dict[str, np.ndarray[Any, Any]], parts: list[list[tuple[int, int]]]
) -> list[IntArray]:
    places = {}
    for k, part in enumerate(parts):
        key = found[f"pu_key{k}"].astype(np.int64)
        for i, size in reversed(part):
            key, places[i] = np.divmod(key, size)
    return [places[i] for i in sorted(places)]


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
