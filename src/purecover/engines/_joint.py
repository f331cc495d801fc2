"""Several scores of the same rows: how many rows lie in the same cell of each, by one group-by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import bad_value
from purecover.engines._label_codes import LabelCodes
from purecover.engines._scan import as_float, collected

__all__ = ["MAX_CELLS", "JointCells", "joint_cells"]

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
    function: str,
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
    codes = LabelCodes(function, labeled, schema[labeled], labels)
    columns = {f"pu_x{i}": as_float(name, schema[name]) for i, name in enumerate(edges)}
    columns["pu_label"] = codes.group() if codes.has_column else codes.code()
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
    found = collected(function, result.head(MAX_CELLS + 1))
    n = found["pu_n"].astype(np.int64)
    if n.size > MAX_CELLS:
        raise bad_value(
            function,
            "score",
            f"few enough that at most {MAX_CELLS:,} cells of their joint ranks hold rows",
            f"{len(edges)} of them, and more cells than that",
            "compare two or three at a time, each with the same baseline",
        )
    words = found["pu_label"] if codes.is_text else None
    numbers = codes.codes_of(found["pu_label"]) if codes.has_column else found["pu_label"]
    positive, negative = codes.read(frame, numbers, words, n)
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
        name: _tree(nw.col(name), edges, 0, edges.size)
        for name, edges in zip(names, every, strict=True)
    }
    return rows.with_columns(**trees)


def _tree(score: Any, edges: FloatArray, first: int, stop: int) -> Any:
    """The number of a cell by nested choices: an engine asks for nine, not for five hundred."""
    import narwhals.stable.v2 as nw

    if stop - first == 1:
        return nw.lit(first, nw.Int64)
    middle = (first + stop) // 2
    above = _tree(score, edges, middle, stop)
    below = _tree(score, edges, first, middle)
    return nw.when(score >= float(edges[middle])).then(above).otherwise(below)


def _cells(edges: FloatArray, scores: FloatArray) -> IntArray:
    return np.maximum(np.searchsorted(edges, scores, side="right") - 1, 0).astype(np.int64)


def _series_of_cells(edges: FloatArray, series: Any) -> Any:
    return type(series)(series.name, _cells(edges, series.to_numpy()))


def _frame_of_cells(part: Any, edges: FloatArray) -> Any:
    return type(part)(_cells(edges, part.to_numpy(np.float64)), index=part.index, name=part.name)
