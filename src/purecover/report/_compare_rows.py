"""Rows that several models scored, after the door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from purecover._frames import column_names, is_frame, read_columns
from purecover._labels import encode_labels
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import (
    as_real_vector,
    as_weights,
    bad_type,
    bad_value,
    check_alignment,
    check_same_length,
    show,
)
from purecover.counts import ScoreCounts
from purecover.intervals._groups import make_group_resampler
from purecover.intervals._paired import MAX_PAIRED, RowResampler, positions
from purecover.intervals._paired_auc import RowwiseAuc, rowwise_auc
from purecover.intervals._resample import GroupResampler, Resampler, thinned_to_draw
from purecover.report._comparison import PairedRows
from purecover.report._truth import encode_truth

__all__ = ["ComparedRows", "compared_names", "read_compared"]


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Scores by name and what belongs to the rows.

    ``labels``, ``weight``, ``groups`` and ``truth`` are as given, one per row. ``labeled``,
    ``mass`` and ``group`` leave out known negatives, who are never resampled.
    """

    scores: Mapping[str, FloatArray]
    counts: Mapping[str, ScoreCounts]
    areas: Mapping[str, RowwiseAuc]
    labels: Any
    weight: FloatArray | None
    groups: Any
    truth: Any
    labeled: BoolArray
    mass: FloatArray | None
    group: IntArray | None
    kept: BoolArray | None

    @property
    def n_rows(self) -> int:
        """Labeled and unlabeled rows."""
        return int(self.labeled.size)

    def observed(self, name: str) -> float:
        """The observed AUC of one score."""
        return self.areas[name].auc_pu

    def columns(self, name: str) -> dict[str, Any]:
        """What `evaluate` is given of one score."""
        return {
            "scores": self.scores[name],
            "labeled": self.labels,
            "sample_weight": self.weight,
            "groups": self.groups,
            "truth": self.truth,
        }

    def paired(self, _thresholds: Mapping[str, float]) -> ComparedRows:
        """Rows are paired as they are."""
        return self

    def paired_rows(self) -> PairedRows:
        """What differences need."""
        ranks = {name: positions(self.counts[name], self.known(name)) for name in self.scores}
        return PairedRows(self.areas, ranks, self.group)

    def known(self, name: str) -> FloatArray:
        """Scores of labeled and unlabeled rows."""
        return self.scores[name] if self.kept is None else self.scores[name][self.kept]

    def resampler(self, name: str, threshold: float) -> Resampler:
        """What draws the counts of one score; all of them draw the same rows."""
        counts = thinned_to_draw(self.counts[name], MAX_PAIRED, keep=threshold)
        position = positions(counts, self.known(name))
        if self.group is not None:
            mass = np.ones(self.n_rows) if self.mass is None else self.mass
            return GroupResampler(counts, position, self.labeled, self.group, mass)
        resampler = RowResampler(counts, position[self.labeled], position[~self.labeled])
        if self.mass is None:
            return resampler
        sides = {"labeled_weight": self.labeled, "unlabeled_weight": ~self.labeled}
        return replace(resampler, **{key: self.mass[side] for key, side in sides.items()})


def read_compared(
    function: str,
    data: Any,
    score: Any,
    parts: Mapping[str, Any],
    *,
    positive_label: object,
    negative_label: object,
) -> ComparedRows:
    """Check and count; ``parts`` are columns beside the scores, or names of columns."""
    if not is_frame(data):
        must = "a data frame or a dict with a column of scores for each model"
        hint = "pass {'one': scores, 'other': scores}; to look at one model, use evaluate"
        raise bad_type(function, "data", must, data, hint)
    named = {key: value for key, value in parts.items() if isinstance(value, str)}
    beside = read_columns(function, data, named)
    names = compared_names(function, data, score, set(named.values()), named.get("labeled"))
    columns = read_columns(function, data, {f"score[{name}]": name for name in names})
    given = {key: beside.get(key, value) for key, value in parts.items()}
    check_alignment(function, data, given["labeled"], names=("data", "labeled"))
    scores = {
        name: as_real_vector(function, f"score[{name}]", columns[f"score[{name}]"])
        for name in names
    }
    size = scores[names[0]].size
    for name in names[1:]:
        check_same_length(function, f"score[{name}]", scores[name].size, size)
    labels: dict[str, Any] = {"positive_label": positive_label, "negative_label": negative_label}
    positive, negative = encode_labels(function, given["labeled"], size, **labels)
    weight = given["sample_weight"]
    if weight is not None:
        weight = as_weights(function, weight, size)
    counts = {
        name: ScoreCounts.from_scores(values, given["labeled"], sample_weight=weight, **labels)
        for name, values in scores.items()
    }
    group = None
    if given["groups"] is not None:
        first = make_group_resampler(
            function,
            scores[names[0]],
            given["labeled"],
            given["groups"],
            sample_weight=weight,
            **labels,
        )
        group = first.group
    kept = None if negative is None else ~negative
    if given["truth"] is not None:
        encode_truth(function, given["truth"], size, kept)  # or `evaluate` would complain
    labeled = positive if kept is None else positive[kept]
    mass = weight if weight is None or kept is None else weight[kept]
    areas = {
        name: rowwise_auc(values if kept is None else values[kept], labeled, mass)
        for name, values in scores.items()
    }
    return ComparedRows(
        scores=scores,
        counts=counts,
        areas=areas,
        labels=given["labeled"],
        weight=weight,
        groups=given["groups"],
        truth=given["truth"],
        labeled=labeled,
        mass=mass,
        group=group,
        kept=kept,
    )


def compared_names(
    function: str, data: Any, score: Any, taken: set[str], labels: str | None
) -> tuple[str, ...]:
    """The columns to compare: as asked, or all that nothing else uses."""
    if score is None:
        names = tuple(name for name in column_names(data) if name not in taken)
        for name in names:
            if not isinstance(name, str):
                raise bad_type(function, "data", "a table whose columns have words as names", name)
        if len(names) < 2:
            listed = ", ".join(map(repr, names)) or "none"
            must = "a table with a column of scores for each of two models or more"
            raise bad_value(function, "data", must, listed, "for one model, use evaluate")
        return names
    must = "a list of two names of columns or more"
    if isinstance(score, (str, set, frozenset)) or not isinstance(score, Iterable):
        # The first is the baseline, and a set has none.
        hint = "for one model, use evaluate" if isinstance(score, str) else None
        raise bad_type(function, "score", must, score, hint)
    names = tuple(score)
    for name in names:
        if not isinstance(name, str):
            raise bad_type(function, "score", must, name)
        if name not in column_names(data):
            hint = f"the columns are {', '.join(map(repr, column_names(data)[:20]))}"
            raise bad_value(function, "score", must, show(name), hint)
        if name == labels:
            got = f"{show(name)}, which holds the labels"
            raise bad_value(function, "score", "columns of scores", got)
    if len(names) < 2:
        what = "one" if names else "none"
        raise bad_value(function, "score", must, what, "for one model, use evaluate")
    if twice := [name for name in names if names.count(name) > 1]:
        raise bad_value(function, "score", f"{must} that differ", f"{show(twice[0])} twice")
    return names
