"""``purecover evaluate-many``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.output import (
    CommandError,
    check_outputs,
    csv_text,
    in_options,
    note,
    print_result,
    progress_bars,
    undash,
    write_file,
)

if TYPE_CHECKING:
    from purecover.cli.files import Request, Table
    from purecover.report.many import ManyReports


@Parameter(name="*", group=opt.DATA)
@dataclass(frozen=True, kw_only=True)
class ManyOptions(opt.TableOptions, opt.SeveralScores):
    """Where scores, labels and tasks are.

    Parameters
    ----------
    score
        Column of scores, or a pattern such as 'model_*'; may be repeated. Obvious names are found
        without it.
    labeled
        Column that says who carries the positive label, or a pattern such as 'GO:*'; repeat it
        for several tasks. Obvious names are found without it.
    missing_is_unlabeled
        Count blank cells (also NA and null) of the labeled columns as unlabeled.
    by
        Column that says which task a row belongs to.
    """

    labeled: opt.Names = ()  # type: ignore[assignment]
    by: opt.Text = None


@Parameter(name="*", group=opt.ASSUMPTIONS)
@dataclass(frozen=True, kw_only=True)
class TaskAssumptionOptions(opt.CurveOptions, opt.ShareOptions):
    """What is known about the labels of all tasks.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled, in all tasks; estimated in each if nothing is
        said.
    """


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """What is wanted of each task.

    Parameters
    ----------
    min_rows
        Do not evaluate tasks with fewer labeled or fewer unlabeled rows.
    estimate_from
        Which of several score columns alpha and beta of a task are estimated from; by default
        the one with the highest observed AUC.
    metrics
        Metric of the table, such as roc_auc; may be repeated. By default roc_auc, auc_pr,
        precision and recall.
    simultaneous
        Make the intervals of a metric hold for all rows at once.
    n_jobs
        Rows worked on at the same time.
    """

    min_rows: Annotated[opt.Positive, Parameter(group=opt.DATA)] = 10
    estimate_from: Annotated[opt.Text, Parameter(group=opt.ASSUMPTIONS)] = None
    metrics: Annotated[opt.Names, Parameter("--metric", group=opt.METRICS)] = opt.USUAL_METRICS
    simultaneous: Annotated[
        Literal["bonferroni", "sidak"] | None, Parameter(group=opt.INTERVALS)
    ] = None
    n_jobs: Annotated[opt.Positive | None, Parameter("--jobs", group=opt.INTERVALS)] = None


@Parameter(name="*", group=opt.INTERVALS)
@dataclass(frozen=True, kw_only=True)
class TaskIntervalOptions(opt.CheckedOptions):
    """How sure one may be.

    Parameters
    ----------
    n_resamples
        Bootstrap resamples of each row; 0 for none.
    """

    n_resamples: Annotated[opt.Whole, Parameter("--resamples")] = 500


def evaluate_many(
    file: str,
    /,
    *,
    data: ManyOptions = ManyOptions(),
    tasks: TaskOptions = TaskOptions(),
    assumptions: TaskAssumptionOptions = TaskAssumptionOptions(),
    measures: opt.MeasureOptions = opt.MeasureOptions(),
    intervals: TaskIntervalOptions = TaskIntervalOptions(),
    json: opt.Json = False,
    csv: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    strict: opt.Strict = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Recover the true performance of many models or on many tasks, as one table.

    A row for each task and score; a task that cannot be evaluated has a row that says why.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    csv
        Write all rows and columns to this CSV file.
    quiet
        Print no table, notes or progress.
    """
    from purecover.cli.files import name_of

    check_outputs({"--csv": csv}, not_this=file)
    with progress_bars(quiet=quiet) as steps:
        steps("Reading")
        rows = _read(file, data)
        found = pu.evaluate_many(
            rows.data,
            rows.labels[0] if "by" in rows.single else rows.labels,
            score=rows.scores,
            by=rows.single.get("by"),
            sample_weight=rows.weight,
            negative_label=None if data.negative_label is None else -1,
            progress=steps("Evaluating"),
            **vars(assumptions),
            **vars(tasks),
            **vars(measures),
            **vars(intervals),
        )
    found = _in_words(found, rows)
    columns = {"score": rows.scores, "labeled": [*rows.labels, *rows.refused], **rows.single}
    source = {"file": name_of(file), "columns": columns}
    print_result(found, json=json, quiet=quiet, source=source)
    if csv is not None:
        write_file("--csv", csv, _as_csv(found), "table", quiet=quiet)
    if data.missing_is_unlabeled:
        note(f"{rows.n_blank:,} blank labels count as unlabeled", quiet=quiet)
    serious = any(how == "error" for row in found for _, how in row.findings)
    return 1 if strict and serious else 0


@dataclass(frozen=True)
class _Rows:
    """Columns for the library, those of labels that cannot be used, and how many were blank."""

    data: Mapping[str, Any]
    scores: list[str]
    labels: list[str]
    single: Mapping[str, str]
    weight: Any
    refused: Mapping[str, str]
    n_blank: int


def _read(file: str, options: ManyOptions) -> _Rows:
    """Read the file and settle what its labels mean."""
    import numpy as np

    from purecover.cli.files import Request, choose_columns, name_of, read_table

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
        blanks = frozenset(words if options.missing_is_unlabeled else ())
        for role, column in single.items():
            (words if role == "by" else numbers)[role] = column
        return Request(numbers, words, blanks, options.decimal)

    asked = (*single.values(), *options.score, *options.labeled)
    table = read_table(file, request, asked=asked, **options.how)
    data = {column: table.numbers[f"score {i}"] for i, column in enumerate(chosen["score"])}
    refused, n_blank = _add_labels(source, chosen["labeled"], table, options, data)
    if "by" in single:
        words = table.words["by"]
        data[single["by"]] = np.array(words.values)[words.codes]
    return _Rows(
        data=data,
        scores=chosen["score"],
        labels=[column for column in chosen["labeled"] if column not in refused],
        single=single,
        weight=table.numbers.get("weight"),
        refused=refused,
        n_blank=n_blank,
    )


def _add_labels(
    source: str, columns: Sequence[str], table: Table, options: ManyOptions, data: dict[str, Any]
) -> tuple[dict[str, str], int]:
    """Put columns of labels into the data; of several, those that cannot be used are told."""
    from purecover.cli.rows import count_blanks, read_labels

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
        data[column] = labeled.astype(int)
        if negative is not None:
            data[column] -= negative
    if first is not None and len(refused) == len(columns):
        raise first
    return refused, n_blank


def _expanded(
    source: str, role: str, asked: Sequence[str], available: list[str], taken: set[str]
) -> list[str]:
    """Columns by name or pattern, each once."""
    from purecover.cli.files import require_column

    found: dict[str, None] = {}
    for name in map(undash, asked):
        # An opening bracket is a common part of names, and a set of characters is not needed.
        pattern = name.replace("[", "[[]")
        matching = [c for c in available if c not in taken and fnmatchcase(c, pattern)]
        if name in available or not matching:
            require_column(source, name, available, f"asked for by --{role}")
            matching = [name]
        found |= dict.fromkeys(matching)
    return list(found)


def _in_words(found: ManyReports, rows: _Rows) -> ManyReports:
    """The rows with those of columns of labels that cannot be used, in the words of options."""
    made = [
        row if row.reason is None else replace(row, reason=in_options(row.reason)) for row in found
    ]
    made += [
        pu.report.ManyRow(
            task=column, score=score, n_labeled=0, n_unlabeled=0, seed=0, reason=reason
        )
        for column, reason in rows.refused.items()
        for score in rows.scores
    ]
    return replace(found, rows=tuple(made))


def _as_csv(found: ManyReports) -> str:
    columns = found.frame()
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    blank = (("" if isinstance(v, float) and v != v else v for v in row) for row in rows)  # noqa: PLR0124
    return csv_text(columns, blank)
