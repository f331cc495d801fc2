"""From data to the parts that `evaluate_many` looks at: which columns are what, and whose rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from purecover._frames import column_names, is_frame, lazy_frame, read_columns, require_columns
from purecover._labels import encode_labels, refuse_missing
from purecover._typing import BoolArray, FloatArray
from purecover._validation import (
    as_weights,
    bad_type,
    bad_value,
    check_same_length,
    show,
    to_numpy,
)
from purecover.exceptions import InvalidInputError
from purecover.report._many_lazy import count_parts
from purecover.report._many_parts import Columns, Part

__all__ = ["name_columns", "read_parts"]


def name_columns(
    function: str, data: Any, labeled: Any, score: Any, by: Any, weight: Any
) -> Columns:
    """Settle which columns are labels, scores, tasks and weights."""
    if not is_frame(data):
        must = "a data frame or a dict of columns"
        raise bad_type(function, "data", must, data, "for one column of scores, use evaluate")
    available = column_names(data)
    for parameter, column in (("by", by), ("sample_weight", weight)):
        if column is None or (parameter == "sample_weight" and not isinstance(column, str)):
            continue
        if not isinstance(column, str):
            raise bad_type(function, parameter, "the name of a column", column)
        require_columns(function, {parameter: column}, available)
    labels = _label_columns(function, labeled, available)
    if by is not None and len(labels) > 1:
        raise bad_value(
            function,
            "labeled",
            "one column where 'by' names the tasks",
            f"{len(labels)} columns",
            "call evaluate_many once for each column of labels, or put them below one another",
        )
    given = {column for column in labels.values() if column is not None}
    used = given | {c for c in (by, weight) if isinstance(c, str)}
    wanted = _score_columns(function, score, labels, available, used)
    pairs = tuple((name, column, one) for name, column in labels.items() for one in wanted[name])
    return Columns(pairs, by, weight if isinstance(weight, str) else None)


def _label_columns(function: str, labeled: Any, available: list[str]) -> dict[str, str | None]:
    """Columns of labels by name; None for labels that are no column of the data."""
    if isinstance(labeled, str):
        require_columns(function, {"labeled": labeled}, available)
        return {labeled: labeled}
    words = isinstance(labeled, (list, tuple)) and all(isinstance(v, str) for v in labeled)
    if words and len(labeled) and set(labeled) & set(available):
        for name in labeled:
            require_columns(function, {"labeled": name}, available)
        if len(set(labeled)) < len(labeled):
            raise bad_value(function, "labeled", "a list of different columns", "a name twice")
        return {name: name for name in labeled}
    return {"labeled": None}


def _score_columns(
    function: str,
    score: Any,
    labels: Mapping[str, str | None],
    available: list[str],
    used: set[str],
) -> dict[str, tuple[str, ...]]:
    """Columns of scores for each column of labels."""
    must = "the name of a column, a list of them, or a mapping from columns of labels to them"
    if score is None:
        free = tuple(name for name in available if name not in used)
        if not free:
            raise bad_value(
                function, "data", "a table with a column of scores", "none that nothing else uses"
            )
        return dict.fromkeys(labels, free)
    if isinstance(score, Mapping):
        unknown = [name for name in score if name not in labels]
        if unknown or set(score) != set(labels):
            lacking = [name for name in labels if name not in score]
            got = f"{show(unknown[0])} as a key" if unknown else f"none for {show(lacking[0])}"
            hint = f"the columns of labels are {', '.join(map(repr, list(labels)[:20]))}"
            raise bad_value(function, "score", must, got, hint)
        chosen = {name: score[name] for name in labels}
    else:
        chosen = dict.fromkeys(labels, score)
    out = {}
    for name, value in chosen.items():
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, Iterable) or isinstance(names, (bytes, Mapping)):
            raise bad_type(function, "score", must, value)
        names = tuple(names)
        for one in names:
            if not isinstance(one, str):
                raise bad_type(function, "score", must, one)
            require_columns(function, {"score": one}, available)
        if not names or len(set(names)) < len(names):
            raise bad_value(function, "score", must, "a name twice" if names else "none")
        out[name] = names
    return out


def read_parts(
    function: str,
    data: Any,
    columns: Columns,
    labeled: Any,
    weight: Any,
    labels: Mapping[str, Any],
) -> list[Part]:
    """All tasks and scores, in order of task and then of score."""
    lazy = lazy_frame(data)
    if lazy is not None:
        must = "the name of a column where the frame is lazy"
        if columns.pairs[0][1] is None:
            raise bad_type(function, "labeled", must, labeled)
        if weight is not None and columns.weight is None:
            raise bad_type(function, "sample_weight", must, weight)
        return count_parts(function, lazy, columns, dict(labels))
    return list(_in_memory(function, data, columns, labeled, weight, labels))


def _in_memory(
    function: str,
    data: Any,
    columns: Columns,
    labeled: Any,
    weight: Any,
    labels: Mapping[str, Any],
) -> Iterator[Part]:
    first = columns.pairs[0]
    scores = {pair[2]: _numbers(function, data, pair[2]) for pair in columns.pairs}
    size = np.size(scores[first[2]])
    for name, values in scores.items():
        check_same_length(function, f"score[{name}]", np.size(values), size)
    if columns.weight is not None:
        weight = read_columns(function, data, {"sample_weight": columns.weight})["sample_weight"]
    mass = None if weight is None else as_weights(function, weight, size)
    if mass is not None and not mass.any():
        raise bad_value(function, "sample_weight", "positive somewhere", "0 everywhere")
    groups = None
    if columns.by is not None:
        by = read_columns(function, data, {"by": columns.by})["by"]
        check_same_length(function, "by", by.size, size)
        groups = _split(function, by)
    several = len({pair[0] for pair in columns.pairs}) > 1
    seen: dict[str, Any] = {}
    for name, column, score in columns.pairs:
        if name not in seen:
            try:
                values = labeled
                if column is not None:
                    values = read_columns(function, data, {"labeled": column})["labeled"]
                seen[name] = encode_labels(function, values, size, **labels)
            except InvalidInputError as error:
                if not several:
                    raise
                seen[name] = str(error).partition("\n")[0]
        found = seen[name]
        if isinstance(found, str):
            yield Part(name, score, reason=found)
        elif groups is None:
            yield _part(name, score, None, scores[score], found, mass)
    for task, rows in groups or ():
        size_of = None
        for name, _, score in columns.pairs:
            part = _part(task, score, rows, scores[score], seen[name], mass, size_of)
            size_of = part.n_labeled, part.n_unlabeled, part.rows
            yield part


def _numbers(function: str, data: Any, column: str) -> np.ndarray[Any, Any]:
    """A column of scores, NaN where one is missing: which tasks that concerns is seen later."""
    if isinstance(data, Mapping):
        return to_numpy(function, f"score[{column}]", data[column])
    import narwhals.stable.v2 as nw

    series = nw.from_native(data, eager_only=True).get_column(column)
    if series.null_count() and series.dtype.is_numeric():
        series = series.cast(nw.Float64)
        return np.asarray(series.fill_null(float("nan")).to_numpy(), dtype=np.float64)
    return np.asarray(series.to_numpy())


def _split(function: str, by: np.ndarray[Any, Any]) -> list[tuple[Any, Any]]:
    refuse_missing(function, "by", by)
    try:
        tasks, which = np.unique(by, return_inverse=True)
    except TypeError as error:
        must = "a column of values of one kind"
        raise bad_value(function, "by", must, "values that have no order") from error
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=tasks.size))
    return list(zip(tasks.tolist(), np.split(order, ends[:-1]), strict=True))


def _part(
    task: Any,
    score: str,
    rows: Any,
    values: np.ndarray[Any, Any],
    marks: tuple[BoolArray, BoolArray | None],
    mass: FloatArray | None,
    size: tuple[float, float, int] | None = None,
) -> Part:
    """Rows of one task, and how many they are unless that is known from another score."""
    if size is None:
        where = slice(None) if rows is None else rows
        labeled = marks[0][where]
        unlabeled = ~labeled if marks[1] is None else ~(labeled | marks[1][where])
        sides = labeled, unlabeled
        few = min(int(side.sum()) for side in sides)
        if mass is None:
            size = int(labeled.sum()), int(unlabeled.sum()), few
        else:
            size = float(mass[where][labeled].sum()), float(mass[where][unlabeled].sum()), few
    return Part(
        task,
        score,
        size[0],
        size[1],
        rows=size[2],
        values=values,
        labeled=marks[0],
        negative=marks[1],
        weight=mass,
        where=rows,
    )
