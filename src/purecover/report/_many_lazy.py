"""Tasks and scores of a lazy frame, counted where its rows are."""

from __future__ import annotations

from typing import Any

from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.report._many_parts import Columns, Part

__all__ = ["count_parts"]

TOLERANCE = 1e-4
"""How precisely an observed AUC is known where a lazy frame has too many scores to count each."""


def count_parts(function: str, frame: Any, columns: Columns, labels: dict[str, Any]) -> list[Part]:
    """Counts made by the engine: in one pass if scores or labels can be put below one another."""
    found: dict[tuple[Any, str], ScoreCounts | str] = {}
    names = list(dict.fromkeys(str(pair[1]) for pair in columns.pairs))
    scores = list(dict.fromkeys(pair[2] for pair in columns.pairs))
    weight = {} if columns.weight is None else {"sample_weight": columns.weight}
    if columns.by is None:
        found |= _in_one_pass(function, frame, names, scores, weight, labels)
    first = None
    for _, label, score in columns.pairs:
        if (label, score) in found:
            continue
        asked = {"score": score, "labeled": str(label), **weight}
        if columns.by is not None:
            asked["by"] = columns.by
        try:
            counted = _counts(function, frame, asked, labels)
        except InvalidInputError as error:
            if columns.by is not None:  # which tasks there are remains unknown
                raise
            first = first or error
            found[label, score] = str(error).partition("\n")[0]
            continue
        for task, counts in counted.items():
            found[label if columns.by is None else task, score] = counts
    if first is not None and all(isinstance(one, str) for one in found.values()):
        raise first
    tasks = names if columns.by is None else sorted({task for task, _ in found})
    order = {name: i for i, name in enumerate(tasks)}
    keys = sorted(found, key=lambda key: (order[key[0]], _place(columns, key)))
    return [_counted_part(*key, found[key]) for key in keys]


def _place(columns: Columns, key: tuple[Any, str]) -> int:
    """Where a score stands among those asked for, for its column of labels."""
    own = [pair[2] for pair in columns.pairs if columns.by is not None or pair[1] == key[0]]
    return own.index(key[1])


def _in_one_pass(
    function: str,
    frame: Any,
    names: list[str],
    scores: list[str],
    weight: dict[str, str],
    labels: dict[str, Any],
) -> dict[tuple[Any, str], ScoreCounts]:
    """Counts of several scores of one kind, or of several columns of labels, by one scan.

    Nothing where the engine or the columns do not allow it, or where something is wrong with one
    of them: a scan of each tells which.
    """
    below, beside = (scores, names[0]) if len(names) == 1 else (names, scores[0])
    if len(below) < 2 or min(len(names), len(scores)) > 1:
        return {}
    schema = frame.collect_schema()
    if len({str(schema[name]) for name in below}) > 1:
        return {}
    kept = list(dict.fromkeys([beside, *weight.values()]))
    long = _unpivoted(frame, kept, below)
    if long is None:
        return {}
    asked = {"score": beside, "labeled": beside, "by": "pu_which", **weight}
    asked["score" if below is scores else "labeled"] = "pu_value"
    try:
        counted = _counts(function, long, asked, labels)
    except InvalidInputError:
        return {}
    if below is scores:
        return {(names[0], which): counts for which, counts in counted.items()}
    return {(which, scores[0]): counts for which, counts in counted.items()}


def _unpivoted(frame: Any, kept: list[str], below: list[str]) -> Any:
    """Columns put below one another, missing values included; None if the engine cannot."""
    import narwhals.stable.v2 as nw

    engine = frame.implementation
    if engine.is_duckdb():
        # That of narwhals drops missing values, and knows the default connection alone.
        quoted = ['"' + name.replace('"', '""') + '"' for name in (*kept, *below)]
        rows = nw.to_native(
            frame
        ).query(
            "pu_rows",
            f"SELECT {', '.join(quoted[: len(kept)])}, pu_which, pu_value "  # noqa: S608 - quoted
            f"FROM (SELECT {', '.join(quoted)} FROM pu_rows) UNPIVOT INCLUDE NULLS "
            f"(pu_value FOR pu_which IN ({', '.join(quoted[len(kept) :])}))",
        )
        return nw.from_native(rows)
    if engine.is_polars() or engine.is_pyspark() or engine.is_dask():
        return frame.select(*kept, *below).unpivot(
            on=below, index=kept, variable_name="pu_which", value_name="pu_value"
        )
    return None


def _counts(
    function: str, frame: Any, names: dict[str, str], labels: dict[str, Any]
) -> dict[Any, ScoreCounts]:
    from purecover.engines._count import count_lazy

    counted = count_lazy(function, frame, names, labels, tolerance=TOLERANCE, one_sided=True)
    return {task: ScoreCounts(**columns) for task, columns in counted.items()}


def _counted_part(task: Any, score: str, counts: ScoreCounts | str) -> Part:
    if isinstance(counts, str):
        return Part(task, score, reason=counts)
    sides = [(counts.labeled, counts.labeled_sq), (counts.unlabeled, counts.unlabeled_sq)]
    n, rows = [], []
    for mass, square in sides:
        total = mass.sum().item()
        n.append(total)
        # Of weights only sums are known: as many rows of one weight as would say as much.
        rows.append(total if square is None or not total else total**2 / float(square.sum()))
    return Part(task, score, n[0], n[1], rows=int(min(rows)), counts=counts)
