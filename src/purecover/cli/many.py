"""``purecover evaluate-many``."""

from __future__ import annotations

import csv as csv_module
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.output import (
    CommandError,
    check_outputs,
    in_options,
    note,
    print_json,
    progress_bars,
    show,
    undash,
    write_atomically,
)

if TYPE_CHECKING:
    from purecover.cli.files import Request, Table
    from purecover.report.many import ManyReports

__all__ = ["evaluate_many"]


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


NO_MANY_OPTIONS = ManyOptions()
NO_ASSUMPTIONS = TaskAssumptionOptions()


def evaluate_many(
    file: str,
    /,
    *,
    data: ManyOptions = NO_MANY_OPTIONS,
    min_rows: Annotated[opt.Positive, Parameter(group=opt.DATA)] = 10,
    assumptions: TaskAssumptionOptions = NO_ASSUMPTIONS,
    estimate_from: Annotated[opt.Text, Parameter(group=opt.ASSUMPTIONS)] = None,
    metric: Annotated[opt.Names, Parameter(group=opt.METRICS)] = (),
    threshold: Annotated[opt.Number | None, Parameter(group=opt.METRICS)] = None,
    max_fpr: Annotated[opt.Share, Parameter(group=opt.METRICS)] = 0.1,
    top_k: Annotated[opt.Positive | None, Parameter(group=opt.METRICS)] = None,
    area: Annotated[opt.Area, Parameter(group=opt.METRICS)] = "davis-goadrich",
    resamples: Annotated[opt.Whole, Parameter(group=opt.INTERVALS)] = 500,
    simultaneous: Annotated[
        Literal["bonferroni", "sidak"] | None, Parameter(group=opt.INTERVALS)
    ] = None,
    confidence_level: Annotated[opt.Share, Parameter(group=opt.INTERVALS)] = 0.95,
    seed: Annotated[opt.Whole, Parameter(group=opt.INTERVALS)] = 0,
    ignore_check: Annotated[opt.Names, Parameter(group=opt.INTERVALS)] = (),
    jobs: Annotated[opt.Positive | None, Parameter(group=opt.INTERVALS)] = None,
    json: Annotated[opt.Flag, Parameter(group=opt.OUTPUT)] = False,
    csv: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    strict: Annotated[opt.Flag, Parameter(group=opt.OUTPUT)] = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Recover the true performance of many models or on many tasks, as one table.

    A row for each task and score; a task that cannot be evaluated has a row that says why.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    min_rows
        Do not evaluate tasks with fewer labeled or fewer unlabeled rows.
    estimate_from
        Which of several score columns alpha and beta of a task are estimated from; by default
        the one with the highest observed AUC.
    metric
        Metric of the table, such as roc_auc; may be repeated. By default roc_auc, auc_pr,
        precision and recall.
    threshold
        Scores of at least this count as positive; the best Youden index of each row by default.
    max_fpr
        Largest false-positive rate of the partial AUC.
    top_k
        Number of unlabeled rows with the highest scores, for precision_at_k and recall_at_k.
    area
        How the area under the precision-recall curve is taken.
    resamples
        Bootstrap resamples of each row; 0 for none.
    simultaneous
        Make the intervals of a metric hold for all rows at once.
    confidence_level
        Confidence level of intervals.
    seed
        Seed of the bootstrap.
    ignore_check
        Code of a check to silence, such as PU005; may be repeated.
    jobs
        Rows worked on at the same time.
    json
        Print one JSON document and nothing else.
    csv
        Write all rows and columns to this CSV file.
    strict
        Exit with 1 if a check of severity error speaks.
    quiet
        Print no table, notes or progress.
    """
    settings: dict[str, Any] = {
        **asdict(assumptions),
        "target": assumptions.population,
        "min_rows": min_rows,
        "estimate_from": estimate_from,
        "threshold": threshold,
        "max_fpr": max_fpr,
        "top_k": top_k,
        "area": area,
        "n_resamples": resamples,
        "simultaneous": simultaneous,
        "confidence_level": confidence_level,
        "random_state": seed,
        "n_jobs": jobs,
        "ignore_checks": opt.check_codes(ignore_check),
    }
    if metric:
        settings["metrics"] = metric
    from purecover.cli.files import name_of

    check_outputs({"--csv": csv}, not_this=file)
    with progress_bars(quiet=quiet) as steps:
        steps("Reading")
        rows = _read(file, data)
        found = pu.evaluate_many(
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
        also = {"by": rows.by, "weight": data.weight}
        columns |= {role: column for role, column in also.items() if column is not None}
        document["source"] = {"file": name_of(file), "columns": columns}
        print_json(document)
    elif not quiet:
        print(found)  # noqa: T201
    if data.missing_is_unlabeled:
        note(f"{rows.n_blank:,} blank labels count as unlabeled", quiet=quiet)
    if csv is not None:
        note(f"table written to {csv}", quiet=quiet)
    serious = any(how == "error" for row in found for _, how in row.findings)
    return 1 if strict and serious else 0


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
        if "weight" in single:
            numbers["weight"] = single["weight"]
        if "by" in single:
            words["by"] = single["by"]
        labels = [role for role in words if role.startswith("labeled")]
        blanks = frozenset(labels if options.missing_is_unlabeled else ())
        return Request(numbers, words, blanks, options.decimal)

    asked = (*single.values(), *options.score, *options.labeled)
    table = read_table(file, request, asked=asked, **options.how)
    data: dict[str, Any] = {
        column: table.numbers[f"score {i}"] for i, column in enumerate(chosen["score"])
    }
    refused, n_blank = _add_labels(source, chosen["labeled"], table, options, data)
    if "by" in single:
        words = table.words["by"]
        data[single["by"]] = np.array(words.values)[words.codes]
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
    from purecover.cli.files import choose_columns, list_columns

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
    text = io.StringIO()
    writer = csv_module.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*(values.tolist() for values in columns.values()), strict=True):
        writer.writerow("" if isinstance(v, float) and v != v else v for v in row)  # noqa: PLR0124
    return text.getvalue()
