"""``purecover evaluate-many``."""

from __future__ import annotations

import csv as csv_module
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from purecover._validation import show
from purecover.cli._columns import Request, Table, choose_columns, list_columns
from purecover.cli._data import check_codes, count_blanks, parse_target, read_columns, read_labels
from purecover.cli._files import Progress, name_of
from purecover.cli._many_options import ManyOptions, TaskAssumptionOptions
from purecover.cli._messages import CommandError, in_options, note
from purecover.cli._options import undash
from purecover.cli._output import check_outputs, print_json, write_atomically
from purecover.cli._progress import progress_bars
from purecover.report.many import ManyReports, ManyRow, evaluate_many

__all__ = ["run_evaluate_many"]

COMMAND = "purecover evaluate-many"


@dataclass(frozen=True)
class _Rows:
    """Columns for the library, those of labels that cannot be used, and how many were blank."""

    data: Mapping[str, Any]
    scores: list[str]
    labels: list[str]
    by: str | None
    weight: Any
    refused: Mapping[str, str]
    negative_label: int | None
    n_blank: int


def run_evaluate_many(
    file: str,
    options: ManyOptions,
    assumptions: TaskAssumptionOptions,
    *,
    metric: tuple[str, ...],
    ignore_check: tuple[str, ...],
    settings: dict[str, Any],
    json: bool,
    csv: str | None,
    strict: bool,
    quiet: bool,
) -> int:
    """Evaluate, print, write, return the exit code."""
    settings |= asdict(assumptions)
    settings["target"] = parse_target(assumptions.target)
    settings["ignore_checks"] = check_codes(ignore_check)
    if metric:
        settings["metrics"] = metric
    check_outputs({"--csv": csv}, not_this=file)
    with progress_bars(quiet=quiet) as steps:
        rows = _read(file, options, steps("Reading"))
        found = evaluate_many(
            rows.data,
            rows.labels if rows.by is None else rows.labels[0],
            score=rows.scores,
            by=rows.by,
            sample_weight=rows.weight,
            negative_label=rows.negative_label,
            progress=steps("Evaluating"),
            **settings,
        )
    found = _in_words(found, rows)
    if csv is not None:
        with write_atomically("--csv", csv) as out:
            out.write(_as_csv(found).encode())
    if json:
        document = found.to_dict()
        columns: dict[str, Any] = {
            "score": rows.scores,
            "labeled": [*rows.labels, *rows.refused],
        }
        also = {"by": rows.by, "weight": options.weight}
        columns |= {role: column for role, column in also.items() if column is not None}
        document["source"] = {"file": name_of(file), "columns": columns}
        print_json(document)
    elif not quiet:
        print(found)  # noqa: T201
    if options.missing_is_unlabeled:
        note(f"{rows.n_blank:,} blank labels count as unlabeled", quiet=quiet)
    if csv is not None:
        note(f"table written to {csv}", quiet=quiet)
    serious = any(how == "error" for row in found for _, how in row.findings)
    return 1 if strict and serious else 0


def _read(file: str, options: ManyOptions, progress: Progress | None) -> _Rows:
    """Read the file and settle what its labels mean."""
    source = name_of(file)
    chosen: dict[str, list[str]] = {}
    asked_for = {"by": options.by, "weight": options.weight}
    single = {role: undash(column) for role, column in asked_for.items() if column is not None}

    def request(available: list[str]) -> Request:
        choose_columns(source, available, single)
        taken = set(single.values())
        for role in ("labeled", "score"):
            asked = getattr(options, role)
            if asked:
                chosen[role] = _expanded(source, role, asked, available, taken)
            else:
                others = [column for column in available if column not in taken]
                chosen[role] = [choose_columns(source, others, {role: None})[role]]
            taken |= set(chosen[role])
        if "by" in single and len(chosen["labeled"]) > 1:
            raise CommandError(
                "--by takes one column given by --labeled, not several.\n"
                "Hint: with several, each is a task of its own; leave --by out."
            )
        numbers = {f"score {i}": column for i, column in enumerate(chosen["score"])}
        words = {f"labeled {i}": column for i, column in enumerate(chosen["labeled"])}
        if "weight" in single:
            numbers["weight"] = single["weight"]
        if "by" in single:
            words["by"] = single["by"]
        labels = [role for role in words if role.startswith("labeled")]
        blanks = frozenset(labels if options.missing_is_unlabeled else ())
        return Request(numbers, words, blanks, options.decimal)

    asked = (*single.values(), *options.score, *options.labeled)
    table = read_columns(file, request, options, asked=asked, progress=progress)
    data: dict[str, Any] = {
        column: table.numbers[f"score {i}"] for i, column in enumerate(chosen["score"])
    }
    refused, n_blank = _add_labels(source, chosen["labeled"], table, options, data)
    if "by" in single:
        words = table.words["by"]
        data[single["by"]] = np.array([_task(value) for value in words.values])[words.codes]
    return _Rows(
        data=data,
        scores=chosen["score"],
        labels=[column for column in chosen["labeled"] if column not in refused],
        by=single.get("by"),
        weight=table.numbers.get("weight"),
        refused=refused,
        negative_label=None if options.negative_label is None else -1,
        n_blank=n_blank,
    )


def _add_labels(
    source: str, columns: Sequence[str], table: Table, options: ManyOptions, data: dict[str, Any]
) -> tuple[dict[str, str], int]:
    """Put columns of labels into the data; of several, those that cannot be used are told."""
    refused: dict[str, str] = {}
    n_blank, first = 0, None
    for i, column in enumerate(columns):
        words = table.words[f"labeled {i}"]
        n_blank += count_blanks(words)
        try:
            labeled, negative = read_labels(source, column, words, options)
        except CommandError as error:
            first = first or error
            refused[column] = str(error).partition("\n")[0]
            continue
        data[column] = labeled.astype(np.int64)
        if negative is not None:
            data[column] -= negative
    if first is not None and len(refused) == len(columns):
        raise first
    return refused, n_blank


def _expanded(
    source: str, role: str, asked: Sequence[str], available: list[str], taken: set[str]
) -> list[str]:
    """Columns by name or pattern, each once."""
    found: dict[str, None] = {}
    for given in asked:
        name = undash(given)
        if name in available:
            choose_columns(source, available, {role: name})  # refuses a name that stands twice
            found[name] = None
            continue
        # An opening bracket is a common part of names, and a set of characters is not needed.
        pattern = name.replace("[", "[[]")
        matching = [c for c in available if c not in taken and fnmatchcase(c, pattern)]
        if not matching:
            raise CommandError(
                f"{source} has no column {show(name)}, asked for by --{role}.\n"
                f"Hint: the columns are {list_columns(available)}."
            )
        found |= dict.fromkeys(matching)
    return list(found)


def _task(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value)


def _in_words(found: ManyReports, rows: _Rows) -> ManyReports:
    """The rows with those of columns of labels that cannot be used, in the words of options."""
    made = [
        row if row.reason is None else replace(row, reason=in_options(row.reason)) for row in found
    ]
    made += [
        ManyRow(task=column, score=score, n_labeled=0, n_unlabeled=0, seed=0, reason=reason)
        for column, reason in rows.refused.items()
        for score in rows.scores
    ]
    return replace(found, rows=tuple(made))


def _as_csv(found: ManyReports) -> str:
    columns = found.frame()
    text = io.StringIO()
    writer = csv_module.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*(values.tolist() for values in columns.values()), strict=True):
        writer.writerow("" if isinstance(v, float) and v != v else v for v in row)  # noqa: PLR0124
    return text.getvalue()
