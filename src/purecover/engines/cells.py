"""Several scores of the same rows: how many rows are in the same cell of each, by one group-by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from purecover import _validation as valid
from purecover._typing import FloatArray, IntArray
from purecover.engines.bins import JointCells
from purecover.engines.scan import as_float, collected, labels_of, settled

MAX_CELLS = 2_000_000
"""Most cells that are taken from an engine: beyond that they are as good as rows."""


def joint_cells(
    frame: Any, edges: Mapping[str, FloatArray], labeled: str, labels: dict[str, object]
) -> JointCells:
    """Group the rows of a lazy frame by label and by the cell of every score.

    ``edges`` has the lowest score of each cell, in increasing order, by column. Rows have been
    counted before, so that none has a value that could not be.
    """
    frame, places = settled(frame, {"labeled": labeled} | {f"score {name}": name for name in edges})
    schema, values = frame.collect_schema(), labels_of(frame, labeled, places["labeled"], labels)
    scores = [places[f"score {name}"] for name in edges]
    columns = {f"pu_x{i}": as_float(name, schema[name]) for i, name in enumerate(scores)}
    columns["pu_label"] = values.expression
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
    positive, negative = values.read(found["pu_label"])
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
        name: _choice(nw.col(name), edges, lambda i: nw.lit(i, nw.Int64))
        for name, edges in zip(names, every, strict=True)
    }
    return rows.with_columns(**trees)


def _cells(edges: FloatArray, scores: FloatArray) -> IntArray:
    return np.maximum(np.searchsorted(edges, scores, side="right") - 1, 0).astype(np.int64)


def _series_of_cells(edges: FloatArray, series: Any) -> Any:
    return type(series)(series.name, _cells(edges, series.to_numpy()))


def _frame_of_cells(part: Any, edges: FloatArray) -> Any:
    return type(part)(_cells(edges, part.to_numpy(np.float64)), index=part.index, name=part.name)


def _choice(value: Any, lowest: FloatArray, chosen: Callable[[int], Any]) -> Any:
    """An expression by the part that a value lies in, given the lowest value of each.

    Nested choices, not a chain: of five hundred parts an engine asks for nine.
    """

    def between(first: int, stop: int) -> Any:
        if stop - first == 1:
            return chosen(first)
        middle = (first + stop) // 2
        above = nw.when(value >= float(lowest[middle])).then(between(middle, stop))
        return above.otherwise(between(first, middle))

    return between(0, lowest.size)
