"""Scores of a lazy frame, compared where its rows are: nothing comes back but counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._typing import IntArray
from purecover._validation import bad_type, bad_value
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.engines._joint import JointCells, joint_cells
from purecover.exceptions import InvalidInputError
from purecover.intervals._paired import CellResampler
from purecover.intervals._paired_auc import cellwise_auc
from purecover.intervals._resample import cells_to_draw
from purecover.report._compare_rows import compared_names
from purecover.report._comparison import PairedRows
from purecover.report._evaluate import usable_threshold

__all__ = ["ComparedCells", "ComparedFrame", "read_lazy"]

GROUPS = 2**8
"""Cells of ranks of each score; those at the top, which are finer, come to them.

Two scores that have nothing in common then fill a quarter of a million cells of labeled and as
many of unlabeled rows, which is what a replicate costs.
"""


@dataclass(frozen=True, eq=False)
class ComparedFrame:
    """A lazy frame and the counts of each of its scores."""

    function: str
    frame: Any
    labeled: str
    labels: dict[str, object]
    counts: Mapping[str, ScoreCounts]

    def observed(self, name: str) -> float:
        """The observed AUC of one score."""
        return auc_pu(self.counts[name])

    def columns(self, name: str) -> dict[str, Any]:
        """What `evaluate` is given of one score."""
        return {"scores": self.counts[name]}

    def paired(self, thresholds: Mapping[str, float]) -> ComparedCells:
        """Rows counted in cells of all scores, none of which lies across a threshold."""
        coarse = {
            name: cells_to_draw(counts, GROUPS, keep=thresholds[name])
            for name, counts in self.counts.items()
        }
        edges = {name: counts.thresholds[::-1] for name, counts in coarse.items()}
        cells = joint_cells(self.function, self.frame, edges, self.labeled, self.labels)
        # From here on places count from the top, as thresholds do.
        place = {name: coarse[name].n_thresholds - 1 - cells.place[name] for name in coarse}
        cells = JointCells(place, cells.labeled, cells.rows)
        for name, counts in coarse.items():
            self._require_same(counts, cells, name)
        return ComparedCells(self.counts, coarse, cells)

    def _require_same(self, counts: ScoreCounts, cells: JointCells, name: str) -> None:
        """Refuse a frame that is not the same twice, such as one with random numbers in it."""
        for side, rows in ((cells.labeled, counts.labeled), (~cells.labeled, counts.unlabeled)):
            place, times = cells.place[name][side], cells.rows[side]
            if not np.array_equal(np.bincount(place, times, minlength=rows.size), rows):
                raise bad_value(
                    self.function,
                    "data",
                    "the same each time it is evaluated",
                    f"other rows in column {name!r} the second time",
                    "store or cache it first: random numbers and samples are drawn anew each time",
                )


@dataclass(frozen=True, eq=False)
class ComparedCells:
    """Counts of each score, the same in cells, and how many rows the cells of all have."""

    counts: Mapping[str, ScoreCounts]
    coarse: Mapping[str, ScoreCounts]
    cells: JointCells

    @property
    def group(self) -> IntArray | None:
        """Rows of cells are independent."""
        return None

    @property
    def n_rows(self) -> int:
        """What a replicate draws: a number for each cell."""
        return int(self.cells.rows.size)

    def resampler(self, name: str, _threshold: float) -> CellResampler:
        """What draws the counts of one score; all of them draw the same rows."""
        ours, theirs = self.cells.labeled, ~self.cells.labeled
        place, rows = self.cells.place[name], self.cells.rows
        return CellResampler(
            self.coarse[name], place[ours], place[theirs], rows[ours], rows[theirs]
        )

    def paired_rows(self) -> PairedRows:
        """What differences need."""
        areas, ranks = {}, {}
        for name, counts in self.counts.items():
            place = self.cells.place[name]
            areas[name] = cellwise_auc(
                auc_pu(counts), self.coarse[name], place, self.cells.labeled, self.cells.rows
            )
            # Scores rank rows alike if all cells and all counts are the same, as far as is known.
            sides = (np.asarray(side, np.int64) for side in (counts.labeled, counts.unlabeled))
            ranks[name] = np.concatenate((place, *sides))
        return PairedRows(areas, ranks, None)


def read_lazy(
    function: str,
    frame: Any,
    score: Any,
    parts: Mapping[str, Any],
    labels: dict[str, object],
    threshold: Any,
) -> ComparedFrame:
    """Check and count; no bin of a score lies across its threshold, if there is one."""
    for parameter in ("sample_weight", "groups", "truth"):
        if parts[parameter] is not None:
            raise InvalidInputError(
                f"{function} takes no {parameter!r} with a lazy frame, of which it sees counts and "
                "no rows.\nHint: collect the columns first if they fit into memory, or leave "
                f"{parameter} out"
            )
    labeled = parts["labeled"]
    if not isinstance(labeled, str):
        must = "the name of a column where a lazy frame is given"
        raise bad_type(function, "labeled", must, labeled)
    names = compared_names(function, frame, score, {labeled}, labeled)
    counts = {}
    for name in names:
        keep = threshold.get(name) if isinstance(threshold, Mapping) else threshold
        settings = {"tolerance": 1e-4, "keep": usable_threshold(keep)}
        columns = {"score": name, "labeled": labeled}
        found = ScoreCounts._count_frame(function, frame, columns, labels, settings)
        counts[name] = found[None]
    return ComparedFrame(function, frame, labeled, labels, counts)
