"""Rows that several models scored, in memory or counted by the engine of a lazy frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from purecover import _inputs as inputs
from purecover import _validation as valid
from purecover._typing import FloatArray, IntArray
from purecover.counts import ScoreCounts
from purecover.engines.cells import JointCells, joint_cells
from purecover.intervals import paired
from purecover.intervals.resampling import Resampler, positions, thinned_to_draw
from purecover.report import pipeline


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Rows of several scores, as differences between the scores need them.

    Attributes
    ----------
    areas : mapping of str to RowwiseAuc
        The observed AUC of each score, row by row.
    ranks : mapping of str to ndarray of int
        The place of each row among the distinct scores.
    groups : ndarray of int or None
        Which rows depend on each other.
    """

    areas: Mapping[str, paired.RowwiseAuc]
    ranks: Mapping[str, IntArray]
    groups: IntArray | None


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Scores by name, read and counted, and what belongs to their rows."""

    scores: Mapping[str, FloatArray]
    marks: pipeline.RowLabels
    rows: Mapping[str, pipeline.ScoredRows]

    @property
    def n_drawn(self) -> int:
        """Number of rows that a replicate draws, labeled and unlabeled."""
        return int(self.marks.known(self.marks.positive).size)

    def paired_rows(self) -> PairedRows:
        """Return the rows as differences need them."""
        areas, ranks, marks = {}, {}, self.marks
        labeled, weight = marks.known(marks.positive), marks.known(marks.weight)
        for name, values in self.scores.items():
            known = marks.known(values)
            areas[name] = paired.rowwise_auc(known, labeled, weight)
            ranks[name] = positions(self.rows[name].counts, known)
        return PairedRows(areas, ranks, marks.group)

    def resampler(self, name: str, threshold: float) -> Resampler:
        """Return the resampler of one score; all of them draw the same rows."""
        counts = thinned_to_draw(self.rows[name].counts, paired.MAX_PAIRED, keep=threshold)
        values, marks = self.scores[name], self.marks
        labeled, mass = marks.known(marks.positive), marks.known(marks.weight)
        if marks.group is not None:
            return marks.group_resampler(counts, values)
        place = positions(counts, self.marks.known(values))
        resampler = paired.RowResampler(counts, place[labeled], place[~labeled])
        if mass is None:
            return resampler
        return replace(resampler, labeled_weight=mass[labeled], unlabeled_weight=mass[~labeled])


def read_compared(
    data: Any, score: Any, parts: Mapping[str, Any], labels: Mapping[str, Any]
) -> ComparedRows:
    """Check and count; ``parts`` are columns beside the scores, or names of columns."""
    if not inputs.is_frame(data):
        must = "a data frame or a dict with a column of scores for each model"
        hint = "pass {'one': scores, 'other': scores}; to look at one model, use evaluate"
        raise valid.bad_type("data", must, data, hint)
    named = {key: value for key, value in parts.items() if isinstance(value, str)}
    beside = {**parts, **inputs.read_columns(data, named)}
    names = compared_names(data, score, set(named.values()), named.get("labeled"))
    columns = inputs.read_columns(data, {f"score[{name}]": name for name in names})
    valid.check_alignment(data, beside["labeled"], names=("data", "labeled"))
    scores = {
        name: valid.as_real_vector(f"score[{name}]", columns[f"score[{name}]"]) for name in names
    }
    size = scores[names[0]].size
    for name in names[1:]:
        valid.check_same_length(f"score[{name}]", scores[name].size, size)
    marks = pipeline.read_labels(size=size, **beside, **labels)
    return ComparedRows(
        scores, marks, {name: marks.count(values) for name, values in scores.items()}
    )


def compared_names(data: Any, score: Any, taken: set[str], labels: str | None) -> tuple[str, ...]:
    """The columns to compare: as asked, or all that nothing else uses."""
    if score is None:
        names = tuple(name for name in inputs.column_names(data) if name not in taken)
        for name in names:
            if not isinstance(name, str):
                raise valid.bad_type("data", "a table whose columns have words as names", name)
        if len(names) < 2:
            listed = ", ".join(map(repr, names)) or "none"
            must = "a table with a column of scores for each of two models or more"
            raise valid.bad_value("data", must, listed, "for one model, use evaluate")
        return names
    must = "a list of two names of columns or more"
    if isinstance(score, str):
        raise valid.bad_type("score", must, score, "for one model, use evaluate")
    names = inputs.check_columns("score", score, inputs.column_names(data), must)
    if labels in names:
        raise valid.bad_value(
            "score", "columns of scores", f"{valid.show(labels)}, which holds the labels"
        )
    if len(names) < 2:
        what = "one" if names else "none"
        raise valid.bad_value("score", must, what, "for one model, use evaluate")
    return names


GROUPS = 2**8
"""Cells of ranks of each score; those at the top, which are finer, come to them.

Two scores that have nothing in common then fill a quarter of a million cells of labeled and as
many of unlabeled rows, which is what a replicate costs.
"""


@dataclass(frozen=True, eq=False)
class ComparedCells:
    """Counts of each score, the same in cells, and how many rows the cells of all have."""

    rows: Mapping[str, pipeline.ScoredRows]
    coarse: Mapping[str, ScoreCounts]
    cells: JointCells

    @property
    def n_drawn(self) -> int:
        """Number of cells that a replicate draws from."""
        return int(self.cells.rows.size)

    def resampler(self, name: str, _threshold: float) -> paired.CellResampler:
        """Return the resampler of one score; all of them draw the same rows."""
        ours, theirs = self.cells.labeled, ~self.cells.labeled
        place, rows = self.cells.place[name], self.cells.rows
        return paired.CellResampler(
            self.coarse[name], place[ours], place[theirs], rows[ours], rows[theirs]
        )

    def paired_rows(self) -> PairedRows:
        """Return the rows as differences need them."""
        areas, ranks = {}, {}
        for name, rows in self.rows.items():
            counts, place = rows.counts, self.cells.place[name]
            areas[name] = paired.cellwise_auc(
                counts.auc_pu, self.coarse[name], place, self.cells.labeled, self.cells.rows
            )
            # Scores rank rows alike if all cells and all counts are the same, as far as is known.
            sides = (np.asarray(side, np.int64) for side in (counts.labeled, counts.unlabeled))
            ranks[name] = np.concatenate((place, *sides))
        return PairedRows(areas, ranks, None)


def count_compared(
    frame: Any, score: Any, parts: Mapping[str, Any], labels: dict[str, object], threshold: Any
) -> dict[str, pipeline.ScoredRows]:
    """Check and count; no bin of a score lies across its threshold, if there is one."""
    pipeline.refuse_with_lazy(parts, "sample_weight", "groups", "truth")
    labeled = parts["labeled"]
    if not isinstance(labeled, str):
        must = "the name of a column where a lazy frame is given"
        raise valid.bad_type("labeled", must, labeled)
    names = compared_names(frame, score, {labeled}, labeled)
    return {
        name: pipeline.ScoredRows(
            pipeline.count_lazy(frame, {"score": name, "labeled": labeled}, labels, keep)
        )
        for name, keep in thresholds_of(threshold, names).items()
    }


def pair_cells(
    frame: Any,
    rows: Mapping[str, pipeline.ScoredRows],
    labeled: str,
    labels: dict[str, object],
    thresholds: Mapping[str, float],
) -> ComparedCells:
    """Rows counted in cells of all scores, none of which lies across a threshold."""
    coarse = {
        name: thinned_to_draw(each.counts, GROUPS, keep=thresholds[name], alone=True)
        for name, each in rows.items()
    }
    edges = {name: counts.thresholds[::-1] for name, counts in coarse.items()}
    cells = joint_cells(frame, edges, labeled, labels)
    # From here on places count from the top, as thresholds do.
    place = {name: coarse[name].n_thresholds - 1 - cells.place[name] for name in coarse}
    cells = JointCells(place, cells.labeled, cells.rows)
    for name, counts in coarse.items():
        for side, tally in ((cells.labeled, counts.labeled), (~cells.labeled, counts.unlabeled)):
            seen = np.bincount(place[name][side], cells.rows[side], minlength=tally.size)
            if not np.array_equal(seen, tally):  # such as where it has random numbers in it
                raise valid.bad_value(
                    "data",
                    "the same each time it is evaluated",
                    f"other rows in column {name!r} the second time",
                    "store or cache it first: random numbers and samples are drawn anew each time",
                )
    return ComparedCells(rows, coarse, cells)


def thresholds_of(value: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    """A threshold for each score; None where its own is to be found."""
    if not isinstance(value, Mapping):
        if value is not None:
            valid.check_real("threshold", value)
        return dict.fromkeys(names, value)
    if set(value) != set(names):
        must = f"a number, or a number for each of {', '.join(map(repr, names))}"
        raise valid.bad_value("threshold", must, valid.show(value))
    return {name: valid.check_real("threshold", value[name]) for name in names}
