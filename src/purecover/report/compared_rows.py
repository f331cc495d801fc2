"""Rows that several models scored, in memory or counted by the engine of a lazy frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from purecover import _inputs as inputs
from purecover import _validation as valid
from purecover._typing import FloatArray
from purecover.engines.bins import JointCells, changed
from purecover.intervals.paired import PairedRows
from purecover.intervals.resampling import thinned_to_draw
from purecover.report import pipeline

GROUPS, MANY_ROWS, FEWER_GROUPS = 2**8, 2**15, 2**7
"""Cells of each score, and of scores of many rows; finer cells at the top are added.

A replicate costs as much as there are joint cells: of two scores at most the square of these.
"""


@dataclass(frozen=True, eq=False)
class ComparedScores:
    """Several scores, counted, and what finds the joint cells of their rows.

    Attributes
    ----------
    rows : mapping of str to ScoredRows
        Each score.
    cells : callable
        Returns the joint cells, given the lowest scores of the cells of each score, increasing.
    scores : mapping of str to ndarray
        Scores in memory.
    marks : RowLabels or None
        Labels, weights and groups of rows in memory.
    """

    rows: Mapping[str, pipeline.ScoredRows]
    cells: Callable[[Mapping[str, FloatArray]], JointCells]
    scores: Mapping[str, FloatArray] = field(default_factory=dict)
    marks: pipeline.RowLabels | None = None

    def paired(self, thresholds: Mapping[str, float]) -> PairedRows:
        """Return the rows in joint cells, none of which is on both sides of a threshold."""
        counts = {}
        for name, each in self.rows.items():
            all_rows = each.counts
            many = all_rows.n_labeled + all_rows.n_unlabeled > MANY_ROWS
            groups = FEWER_GROUPS if many else GROUPS
            counts[name] = thinned_to_draw(all_rows, groups, keep=thresholds[name], alone=True)
        cells = self.cells({name: each.thresholds[::-1] for name, each in counts.items()})
        # From here on places count from the top, as thresholds do.
        place = {name: counts[name].n_thresholds - 1 - cells.place[name] for name in counts}
        weight = None if self.marks is None else self.marks.known(self.marks.weight)
        group = None if self.marks is None else self.marks.group
        paired = PairedRows(counts, place, cells.labeled, cells.rows, weight, group)
        if weight is None:
            self._check_totals(paired)
        return paired

    def _check_totals(self, paired: PairedRows) -> None:
        """Refuse a frame that has other rows each time, such as random numbers."""
        drawn = paired.sides(paired.rows[None])
        for name, counts in paired.counts.items():
            labeled, unlabeled = (side[0] for side in paired.tally(name, drawn))
            if (labeled != counts.labeled).any() or (unlabeled != counts.unlabeled).any():
                raise changed("data", f"other rows in column {name!r} the second time")

    def drawn_by(self, judged: Any) -> str | None:
        """Return the score by which judged rows were drawn, if their design says so."""
        from purecover.audit.designs import JudgedRows, ScoredLabels

        if not self.marks or not isinstance(judged, JudgedRows):
            return None
        labels, sought = (self.marks.positive, self.marks.negative), judged.design.checksum
        found = (n for n, s in self.scores.items() if ScoredLabels(s, *labels).checksum == sought)
        return next(found, None)


def read_compared(
    data: Any, score: Any, parts: Mapping[str, Any], labels: Mapping[str, Any]
) -> ComparedScores:
    """Read and count scores in memory; ``parts`` are columns of the rows, or names of columns."""
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
    return ComparedScores(
        {name: marks.count(values) for name, values in scores.items()},
        partial(cells_in_memory, scores, marks),
        scores,
        marks,
    )


def cells_in_memory(
    scores: Mapping[str, FloatArray], marks: pipeline.RowLabels, edges: Mapping[str, FloatArray]
) -> JointCells:
    """Return the joint cells of rows in memory, in the order of :func:`joint_cells`."""
    labeled = marks.known(marks.positive)
    place = {
        # A row of weight 0 may be below all thresholds; it adds nothing anywhere.
        name: (np.searchsorted(edges[name], marks.known(values), side="right") - 1).clip(0)
        for name, values in scores.items()
    }
    if marks.weight is not None or marks.group is not None:
        return JointCells(place, labeled, np.ones(labeled.size, dtype=np.int64))
    code, n_codes = labeled.astype(np.int64), 2
    for name in reversed(place):
        n = edges[name].size
        if n_codes > 2**62 // n:
            code = np.unique(code, return_inverse=True)[1]
            n_codes = code.size
        code, n_codes = code * n + place[name], n_codes * n
    _, first, rows = np.unique(code, return_index=True, return_counts=True)
    return JointCells({name: at[first] for name, at in place.items()}, labeled[first], rows)


def count_compared(
    frame: Any, score: Any, parts: Mapping[str, Any], labels: dict[str, object], threshold: Any
) -> ComparedScores:
    """Count the scores of a lazy frame; no bin of a score is on both sides of its threshold."""
    from purecover.engines.cells import joint_cells

    pipeline.refuse_with_lazy(parts, "sample_weight", "groups", "truth", "judged")
    labeled = parts["labeled"]
    if not isinstance(labeled, str):
        must = "the name of a column where a lazy frame is given"
        raise valid.bad_type("labeled", must, labeled)
    names = compared_names(frame, score, {labeled}, labeled)
    rows = {
        name: pipeline.ScoredRows(
            pipeline.count_lazy(frame, {"score": name, "labeled": labeled}, labels, keep)
        )
        for name, keep in thresholds_of(threshold, names).items()
    }
    return ComparedScores(rows, partial(joint_cells, frame, labeled=labeled, labels=labels))


def compared_names(data: Any, score: Any, taken: set[str], labels: str | None) -> tuple[str, ...]:
    """Return the columns to compare: as asked, or all that nothing else uses."""
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
            "score", "columns of scores", f"{valid.show(labels)}, the column of labels"
        )
    if len(names) < 2:
        what = "one" if names else "none"
        raise valid.bad_value("score", must, what, "for one model, use evaluate")
    return names


def thresholds_of(value: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    """Return a threshold for each score; None where its own is to be found."""
    if not isinstance(value, Mapping):
        if value is not None:
            valid.check_real("threshold", value)
        return dict.fromkeys(names, value)
    if set(value) != set(names):
        must = f"a number, or a number for each of {', '.join(map(repr, names))}"
        raise valid.bad_value("threshold", must, valid.show(value))
    return {name: valid.check_real("threshold", value[name]) for name in names}
