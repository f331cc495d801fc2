"""The tasks and scores of a table for `evaluate_many`, in memory or of a lazy frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from purecover import _inputs as inputs
from purecover import _validation as valid
from purecover.counts import ScoreCounts
from purecover.engines.count import split_rows
from purecover.exceptions import InvalidInputError, PurecoverError
from purecover.recovery.rates import effective_size


def first_line(error: Exception) -> str:
    """A complaint without its hint."""
    return str(error).partition("\n")[0]


@dataclass(frozen=True)
class Columns:
    """Which columns are what, after the door.

    ``labels`` are columns by name, None for labels that were given apart from the data; ``scores``
    are the columns of scores that go with each of them.
    """

    labels: Mapping[str, str | None]
    scores: Mapping[str, tuple[str, ...]]
    by: str | None
    weight: str | None

    @property
    def every_score(self) -> tuple[str, ...]:
        """All columns of scores."""
        return tuple(dict.fromkeys(one for own in self.scores.values() for one in own))


@dataclass(frozen=True, eq=False)
class Part:
    """One task and one score: its counts, or why there are none.

    ``seed`` is that of its bootstrap.
    """

    task: Any
    score: str
    n_labeled: float = 0
    n_unlabeled: float = 0
    counts: ScoreCounts | None = None
    reason: str | None = None
    seed: int = 0


def refusal(
    n_labeled: float, n_unlabeled: float, n_fewest: int = 0, min_rows: int = 0
) -> str | None:
    """Why so many rows are not evaluated; ``n_fewest`` are rows where the others are weights."""
    for n, side in ((n_labeled, "labeled"), (n_unlabeled, "unlabeled")):
        if not n > 0:
            return f"no {side} row among {n_labeled + n_unlabeled:,.10g}"
    if n_fewest < min_rows:
        few = "labeled" if n_labeled <= n_unlabeled else "unlabeled"
        rows = "row" if n_fewest == 1 else "rows"
        return f"only {n_fewest:,} {few} {rows}, fewer than min_rows={min_rows}"
    return None


def count_parts(frame: Any, columns: Columns, labels: dict[str, Any], min_rows: int) -> list[Part]:
    """Counts made by the engine: a scan for each pair of a column of labels and of scores."""
    weight = {} if columns.weight is None else {"sample_weight": columns.weight}
    by = {} if columns.by is None else {"by": columns.by}
    found: dict[tuple[Any, str], ScoreCounts | str] = {}
    errors = []
    for label, scores in columns.scores.items():
        for score in scores:
            try:
                names = {"score": score, "labeled": str(label), **weight, **by}
                counted = ScoreCounts._count_frame(frame, names, labels, {"one_sided": True})
            except InvalidInputError as error:
                if by:  # which tasks there are remains unknown
                    raise
                errors.append(error)
                found[label, score] = first_line(error)
                continue
            found |= {(task if by else label, score): counts for task, counts in counted.items()}
    if errors and len(errors) == len(found):
        raise errors[0]
    tasks = sorted({task for task, _ in found}) if by else columns.labels
    return [
        _counted_part(task, score, found[task, score], min_rows)
        for task in tasks
        for score in columns.scores.get(task, columns.every_score)
        if (task, score) in found
    ]


def _counted_part(task: Any, score: str, counts: ScoreCounts | str, min_rows: int) -> Part:
    if isinstance(counts, str):
        return Part(task, score, reason=counts)
    # Of weights only sums are known: as many rows of one weight as would say as much.
    sizes = counts.labeled.sum().item(), counts.unlabeled.sum().item()
    squares = counts.labeled_sq, counts.unlabeled_sq
    fewest = min(effective_size(n, sq) for n, sq in zip(sizes, squares, strict=True))
    return Part(task, score, *sizes, counts, refusal(*sizes, int(fewest), min_rows))


def name_columns(data: Any, labeled: Any, score: Any, by: Any, weight: Any) -> Columns:
    """Settle which columns are labels, scores, tasks and weights."""
    if not inputs.is_frame(data):
        must = "a data frame or a dict of columns"
        raise valid.bad_type("data", must, data, "for one column of scores, use evaluate")
    if by is not None and not isinstance(by, str):
        raise valid.bad_type("by", "the name of a column", by)
    available = inputs.column_names(data)
    weight = weight if isinstance(weight, str) else None
    beside = {"by": by, "sample_weight": weight}
    used = {name: column for name, column in beside.items() if column is not None}
    inputs.require_columns(used, available)
    labels = _label_columns(labeled, available)
    if by is not None and len(labels) > 1:
        raise valid.bad_value(
            "labeled",
            "one column where 'by' names the tasks",
            f"{len(labels)} columns",
            "call evaluate_many once for each column of labels, or put them below one another",
        )
    scores = _score_columns(score, labels, available, {*labels.values(), *used.values()})
    return Columns(labels, scores, by, weight)


def _label_columns(labeled: Any, available: list[str]) -> dict[str, str | None]:
    """Columns of labels by name; None for labels that are no column of the data."""
    if isinstance(labeled, str):
        inputs.require_columns({"labeled": labeled}, available)
        return {labeled: labeled}
    words = isinstance(labeled, (list, tuple)) and all(isinstance(v, str) for v in labeled)
    if words and set(labeled) & set(available):
        names = inputs.check_columns("labeled", labeled, available, "a list of columns")
        return dict(zip(names, names, strict=True))
    return {"labeled": None}


def _score_columns(
    score: Any, labels: Mapping[str, str | None], available: list[str], used: set[str | None]
) -> dict[str, tuple[str, ...]]:
    """Columns of scores for each column of labels."""
    must = "the name of a column, a list of them, or a mapping from columns of labels to them"
    if score is None:
        free = tuple(name for name in available if name not in used)
        if not free:
            raise valid.bad_value(
                "data", "a table with a column of scores", "none that nothing else uses"
            )
        return dict.fromkeys(labels, free)
    if isinstance(score, Mapping):
        unknown = [f"{valid.show(name)} as a key" for name in score if name not in labels]
        lacking = [f"none for {valid.show(name)}" for name in labels if name not in score]
        if unknown or lacking:
            hint = f"the columns of labels are {', '.join(map(repr, list(labels)[:20]))}"
            raise valid.bad_value("score", must, (unknown + lacking)[0], hint)
        chosen = {name: score[name] for name in labels}
    else:
        chosen = dict.fromkeys(labels, score)
    out = {}
    for name, value in chosen.items():
        own = (value,) if isinstance(value, str) else value
        out[name] = inputs.check_columns("score", own, available, must)
        if not out[name]:
            raise valid.bad_value("score", must, "none")
    return out


def read_parts(
    data: Any, columns: Columns, labeled: Any, weight: Any, labels: dict[str, Any], min_rows: int
) -> Iterator[Part]:
    """All tasks and scores, in order of task and then of score."""
    lazy = inputs.lazy_frame(data)
    if lazy is not None:
        must = "the name of a column where the frame is lazy"
        if None in columns.labels.values():
            raise valid.bad_type("labeled", must, labeled)
        if weight is not None and columns.weight is None:
            raise valid.bad_type("sample_weight", must, weight)
        yield from count_parts(lazy, columns, labels, min_rows)
        return
    # NaN where a score is missing: which tasks that concerns is seen later.
    named = {f"score[{name}]": name for name in columns.every_score}
    asked = {"by": columns.by, "sample_weight": columns.weight}
    beside = {name: column for name, column in asked.items() if column is not None}
    found = inputs.read_columns(data, {**named, **beside}, may_lack=named)
    size = found[f"score[{columns.every_score[0]}]"].size
    for name, values in found.items():
        valid.check_same_length(name, values.size, size)
    weight, by = found.get("sample_weight", weight), found.get("by")
    mass = None if weight is None else valid.as_weights(weight, size)
    if mass is not None and not mass.any():
        raise valid.bad_value("sample_weight", "positive somewhere", "0 everywhere")
    for name, column in columns.labels.items():
        try:
            if column is not None:
                labeled = inputs.read_columns(data, {"labeled": column})["labeled"]
            marks = inputs.encode_labels(labeled, size, **labels)
        except InvalidInputError as error:
            if len(columns.labels) == 1:
                raise
            yield from (Part(name, one, reason=first_line(error)) for one in columns.scores[name])
            continue
        columns_of_rows = {"labeled": marks[0], "negative": marks[1], "weight": mass}
        columns_of_rows |= {f"score[{one}]": found[f"score[{one}]"] for one in columns.scores[name]}
        rows = {key: values for key, values in columns_of_rows.items() if values is not None}
        for group, own in split_rows(rows, by):
            for one in columns.scores[name]:
                yield _part(name if by is None else group, one, own, min_rows)


def _part(task: Any, score: str, rows: Mapping[str, Any], min_rows: int) -> Part:
    """Count the rows of one task, if there are enough and no score is missing."""
    labeled, negative, weight = rows["labeled"], rows.get("negative"), rows.get("weight")
    sides = labeled, ~labeled if negative is None else ~(labeled | negative)
    fewest = min(int(side.sum()) for side in sides)
    n_labeled, n_unlabeled = (
        (side if weight is None else weight[side]).sum().item() for side in sides
    )
    part = Part(task, score, n_labeled, n_unlabeled)
    reason = refusal(n_labeled, n_unlabeled, fewest, min_rows)
    if reason is not None:
        return replace(part, reason=reason)
    values = rows[f"score[{score}]"]
    if values.dtype.kind == "f" and (bad := int(values.size - np.isfinite(values).sum())):
        reason = f"{bad:,} of {values.size:,} scores are missing, NaN or infinite"
        return replace(part, reason=reason)
    try:
        values = valid.as_real_vector(f"score[{score}]", values)
        negative = negative if negative is not None and negative.any() else None
        counts = ScoreCounts._from_marks(values, labeled, negative, weight)
    except PurecoverError as error:
        return replace(part, reason=first_line(error))
    return replace(part, counts=counts)
