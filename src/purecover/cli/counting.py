"""Rows of many or large files, counted by DuckDB without loading them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from purecover import ScoreCounts
from purecover._validation import show
from purecover.cli import files
from purecover.cli.files import Request, Words
from purecover.cli.output import CommandError, note, refuse
from purecover.cli.rows import Columns, mark_of_negatives, read_labels
from purecover.engines.data_files import (
    FORMATS,
    DataFile,
    identifier,
    is_missing,
    quoted,
    suffix_of,
)
from purecover.engines.files import check_different, check_one_format, matching
from purecover.report import ManyReports, compare_scores, evaluate
from purecover.report.settings import gathered

LARGE = 500_000_000
"""Bytes of a file beyond which its rows are counted instead of loaded."""
_MOST_LABELS = 21  # more than a column of labels can have


def files_to_count(
    given: Sequence[str], columns: Columns, options: Mapping[str, Any]
) -> list[str] | None:
    """Return the files whose rows are counted; None for one file whose rows are read.

    Options that need the rows themselves are refused where there are several files or groups. A
    large file is read whole where such an option is given.
    """
    needs_rows = {name: options.get(name) for name in ("truth", "groups", "judged")}
    one = len(given) == 1 and matching(given[0]) == [given[0]]
    several = not one or os.path.isdir(given[0])  # noqa: PTH112
    if not several and "by" not in options:
        counted = not any(needs_rows.values()) and len(columns.score) < 2
        large = os.path.isfile(given[0]) and os.path.getsize(given[0]) > LARGE  # noqa: PTH113, PTH202
        return list(given) if counted and large else None
    refuse(
        "goes neither with --by nor with several files.\n"
        "Hint: evaluate one file at a time, such as one of each group, without --by.",
        **needs_rows,
    )
    if len(columns.score) > 1:
        refuse(
            "is for one --score where rows are counted.\nHint: evaluate the scores one by one.",
            by=options.get("by"),
            sample_weight=columns.sample_weight,
        )
    return _expanded(given, quiet="quiet" in options)


def _expanded(given: Sequence[str], *, quiet: bool) -> list[str]:
    """Return the files that names, folders and patterns stand for; all of one format."""
    found: list[str] = []
    for file in given:
        names = matching(file)
        if not names:
            raise CommandError(f"no file matches the pattern {show(file)}.")
        for name in names:
            found += _within(name, quiet=quiet) if os.path.isdir(name) else [name]  # noqa: PTH112
    check_one_format(found)
    check_different(found)
    return found


def _within(folder: str, *, quiet: bool) -> list[str]:
    """Return the files of data in a folder and below it, without those of the writing program."""
    found: list[str] = []
    others: list[str] = []
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith((".", "_")))
        for name in sorted(names):
            if suffix_of(name) in FORMATS:
                ours = not name.startswith((".", "_")) and suffix_of(name) != ".txt"
                (found if ours else others).append(str(Path(place, name)))
    if others:
        many = "1 file" if len(others) == 1 else f"{len(others):,} files"
        note(f"{many} not counted (., _ or .txt): {files.first_few(others)}", quiet=quiet)
    if not found:
        raise CommandError(f"{show(folder)} is a directory, not a file, without files of data.")
    return found


def evaluate_counted(
    given: Sequence[str],
    names: list[str],
    columns: Columns,
    by: str | None,
    settings: dict[str, Any],
) -> tuple[Any, dict[str, Any]]:
    """Return a report, a comparison of scores or reports by group, and where the rows are."""
    named = [files.name_of(file) for file in given]
    about = named[0] if len(named) == 1 else f"{named[0]} and {len(named) - 1:,} more"
    source: dict[str, Any] = {
        "file": named[0] if len(named) == 1 else named,
        "n_files": len(names),
        "engine": "duckdb",
    }
    asked = columns.roles(by=by)
    with files.opened(names, asked.values()) as data:
        request = columns.request(about, [*data[0].names, *data[0].folders], asked)
        used = source["columns"] = request.columns
        try:
            frame, negative = _with_labels(data, request, about, columns, source)
            if len(columns.score) > 1:
                scores = list(columns.score)
                source["columns"] = {"score": scores, "labeled": used["labeled"]}
                how = settings | {"score": scores, "negative_label": negative}
                return compare_scores(frame, used["labeled"], **gathered(how)), source
            counting = {
                "keep": settings.get("threshold"),
                "one_sided": by is not None,
                "n_rows": source["n_rows"],
            }
            labels: dict[str, object] = {"positive_label": 1, "negative_label": negative}
            counts = ScoreCounts._count_frame(frame, used, labels, counting)
        except CommandError:
            raise
        except Exception as error:
            files.complain(data, request)  # which names the cell
            if isinstance(error, duckdb.Error):
                raise data[0].explained(error) from error
            raise
    if by is not None:
        groups = _in_order(counts)
        return ManyReports.of_groups(groups, score=used["score"], **gathered(settings)), source
    return evaluate(counts[None], **gathered(settings)), source


def _with_labels(
    data: Sequence[DataFile], request: Request, about: str, columns: Columns, source: dict[str, Any]
) -> tuple[Any, int | None]:
    """Return the rows with labels 1, 0 (unlabeled) and -1, and what marks known negatives."""
    rows = files.relation(data, request)
    column = request.columns["labeled"]
    name = identifier(column)
    query = f"SELECT {name}, count(*) FROM found GROUP BY 1 LIMIT {_MOST_LABELS}"
    sizes: dict[str, int] = dict(sorted(rows.query("found", query).fetchall()))
    n_blank = sum(n for text, n in sizes.items() if is_missing(text))
    if n_blank and not columns.missing_is_unlabeled:
        files.complain(data, request)
    if columns.missing_is_unlabeled:
        source["blank_labels"] = n_blank
    source["n_rows"] = sum(sizes.values())
    words = Words(np.arange(len(sizes)), tuple(sizes))
    codes = read_labels(about, column, words, columns)
    cases = (f"WHEN {quoted(text)} THEN {code}" for text, code in zip(sizes, codes, strict=True))
    coded = f"SELECT * REPLACE (CASE {name} {' '.join(cases)} END AS {name}) FROM found"
    return rows.query("found", coded), mark_of_negatives(codes)


def _in_order(counts: dict[Any, ScoreCounts]) -> dict[str, ScoreCounts]:
    """Return groups in order of their text; in numerical order if all are numbers."""
    order: Any = None
    with suppress(ValueError):
        order = {text: (float(text), text) for text in counts}.get
    return {text: counts[text] for text in sorted(counts, key=order)}
