"""``purecover evaluate`` and ``purecover evaluate-data``."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.output import (
    CommandError,
    check_outputs,
    note,
    print_json,
    progress_bars,
    show,
    typed_command,
    undash,
    write_atomically,
)

__all__ = ["any_serious", "evaluate", "evaluate_data"]

NO_SCORES_OPTIONS = opt.ScoresOptions()
NO_ENGINE_OPTIONS = opt.EngineOptions()
NO_EVALUATION_OPTIONS = opt.EvaluationOptions()
NO_COMPARISON_OPTIONS = opt.ComparisonOptions()
NO_REPORT_OPTIONS = opt.ReportOptions()
NO_ASSUMPTIONS = opt.AssumptionOptions()


def evaluate(
    file: str,
    /,
    *more_files: str,
    data: opt.ScoresOptions = NO_SCORES_OPTIONS,
    counting: opt.EngineOptions = NO_ENGINE_OPTIONS,
    truth: Annotated[opt.Text, Parameter(group=opt.DATA)] = None,
    asked: opt.EvaluationOptions = NO_EVALUATION_OPTIONS,
    several: opt.ComparisonOptions = NO_COMPARISON_OPTIONS,
    output: opt.ReportOptions = NO_REPORT_OPTIONS,
) -> int:
    """Recover the true performance behind the scores in FILE.

    With several --score, models are compared on the same rows.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input. Also a folder of such files, or a pattern such as
        'scores/*.parquet'.
    more_files
        Further files, folders or patterns: the rows of all are counted together.
    truth
        Column of true classes, if you have them: the report then shows them side by side.
    """
    scores = tuple(map(undash, data.score))
    _check_scores(scores, several, output)
    settings = asked.settings
    from purecover.cli.counting import choose_engine, expand

    files, group = (file, *more_files), asked.intervals.group
    engine = choose_engine(files, data.one, counting, scores, {"--truth": truth, "--group": group})
    names = list(files) if engine is None else expand(files)
    for name in names:
        check_outputs(output.paths, not_this=name)
    if counting.by is not None:
        _check_groups(output)
        if settings["n_resamples"] is None:
            settings["n_resamples"] = 500
    if len(scores) > 1:
        settings |= asdict(several)
    with progress_bars(quiet=output.quiet) as steps:
        if engine is None:
            from purecover.cli.rows import read_rows

            steps("Reading")
            rows = read_rows(file, data.one, truth=truth, group=group, more_scores=scores[1:])
            call = pu.compare_scores if len(scores) > 1 else pu.evaluate
            found: Any = call(
                rows.score_columns if len(scores) > 1 else rows.scores,
                rows.label_column,
                **rows.companions,
                progress=steps("Resampling"),
                **settings,
            )
            source = rows.source(file)
        else:
            from purecover.cli.counting import evaluate_counted

            found, source = evaluate_counted(
                files, names, data.one, counting, engine, scores, settings, steps
            )
    if counting.by is None:
        serious = deliver(found, source, output)
    else:
        serious = _deliver_groups(found, source, output)
    if engine is None:
        rows.note_blanks(quiet=output.quiet)
    elif "blank_labels" in source:
        note(f"{source['blank_labels']:,} blank labels count as unlabeled", quiet=output.quiet)
    note_written(output)
    return 1 if output.strict and serious else 0


def _check_scores(
    scores: Sequence[str], several: opt.ComparisonOptions, output: opt.ReportOptions
) -> None:
    """Complain about what says nothing about so many scores."""
    given = next((name for name, value in asdict(several).items() if value), None)
    if len(scores) < 2:
        if given is not None:
            raise CommandError(
                f"--{given.replace('_', '-')} is for several scores.\n"
                "Hint: repeat --score, once for each model."
            )
        return
    if output.markdown is not None:
        raise CommandError(
            "--markdown is for one score.\nHint: several are written by --html and --json."
        )
    twice = next((name for name in scores if scores.count(name) > 1), None)
    if twice is not None:
        raise CommandError(f"--score {show(twice)} is given twice.")
    if several.estimate_from is not None and several.estimate_from not in scores:
        raise CommandError(
            f"--estimate-from must be one of the columns given by --score, got "
            f"{show(undash(several.estimate_from))}.\n"
            f"Hint: they are {', '.join(map(show, scores))}."
        )


def _check_groups(output: opt.ReportOptions) -> None:
    for option, path in output.paths.items():
        if path is not None:
            raise CommandError(
                f"{option} is for one report, and --by makes one for each group.\n"
                "Hint: --json prints all of them."
            )


# -- evaluate-data --------------------------------------------------------------------------------


@Parameter(name="*", group=opt.DATA)
@dataclass(frozen=True, kw_only=True)
class FeatureTableOptions(opt.TableOptions):
    """Where the labels are.

    Parameters
    ----------
    labeled
        Column that says who carries the positive label: 1/0, true/false, positive/unlabeled.
        Obvious names are found without it.
    weight
        Column of sample weights; they count in the figures, not in the training.
    """


NO_TABLE_OPTIONS = FeatureTableOptions()


def evaluate_data(
    file: str,
    /,
    *,
    table: FeatureTableOptions = NO_TABLE_OPTIONS,
    truth: Annotated[opt.Text, Parameter(group=opt.DATA)] = None,
    features: Annotated[opt.Text, Parameter(group=opt.FEATURES)] = None,
    drop: Annotated[opt.Text, Parameter(group=opt.FEATURES)] = None,
    model: Annotated[opt.Model, Parameter(group=opt.MODEL)] = "auto",
    folds: Annotated[opt.Positive, Parameter(group=opt.MODEL)] = 5,
    jobs: Annotated[opt.Positive | None, Parameter(group=opt.MODEL)] = None,
    group: Annotated[opt.Text, Parameter(alias="--groups", group=opt.MODEL)] = None,
    seed: Annotated[opt.Whole, Parameter(alias="--random-state", group=opt.MODEL)] = 0,
    assumptions: opt.AssumptionOptions = NO_ASSUMPTIONS,
    threshold: Annotated[opt.Number | None, Parameter(group=opt.METRICS)] = None,
    resamples: Annotated[opt.Whole | None, Parameter(group=opt.INTERVALS)] = None,
    confidence_level: Annotated[opt.Share, Parameter(group=opt.INTERVALS)] = 0.95,
    ignore_check: Annotated[opt.Names, Parameter(group=opt.INTERVALS)] = (),
    output: opt.ReportOptions = NO_REPORT_OPTIONS,
    scores_out: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
) -> int:
    """Train a model on the features in FILE and recover its true performance.

    The model learns labeled against unlabeled; every row is scored by a model that has not seen
    it. Numbers are used as they are, texts of few values get a column for each value, and blank
    cells are filled in; what was done is said on standard error.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    truth
        Column of true classes, if you have them: the report then shows them side by side. No
        model sees it.
    features
        Columns to learn from, with commas between them; by default all but those named otherwise
        and those that a name such as truth or score gives away. A name that holds a comma stands
        in double quotes.
    drop
        Columns not to learn from, such as identifiers, with commas between them.
    model
        auto tries them all and keeps the best; networks are the bagged ones of the paper.
    folds
        Parts of the data, each scored by a model trained on the others.
    jobs
        Models trained at the same time.
    group
        Column of groups of dependent rows (one patient, one card), kept together in folds and
        resampled together.
    seed
        Seed of folds, model and bootstrap.
    threshold
        Scores of at least this count as positive; the best Youden index by default.
    resamples
        Bootstrap resamples; 0 for none. By default 2000, and 1000 of more than 32,768 distinct
        scores.
    confidence_level
        Confidence level of intervals and bands.
    ignore_check
        Code of a check to silence, such as PU005; may be repeated.
    scores_out
        Write the scores to this CSV file, in the order of the rows, for the other commands;
        gzipped if it ends in .gz.
    """
    from purecover.cli.files import require_file

    require_file(file)
    from purecover.cli.features import FeatureOptions, make_scores, read_feature_rows

    settings = opt.EvaluationOptions(
        assumptions=assumptions,
        measures=opt.MeasureOptions(threshold=threshold),
        intervals=opt.IntervalOptions(
            resamples=resamples,
            confidence_level=confidence_level,
            seed=seed,
            ignore_check=ignore_check,
        ),
    ).settings
    given = FeatureOptions(features=features, drop=drop, model=model, folds=folds, jobs=jobs)
    given.check()
    check_outputs({**output.paths, "--scores-out": scores_out}, not_this=file)
    with progress_bars(quiet=output.quiet) as steps:
        steps("Reading")
        read = read_feature_rows(file, table, given, truth=truth, group=group)
        read.features.say(quiet=output.quiet)
        rows = read.rows
        made = make_scores(read, given, default="auto", seed=seed, progress=steps("Training"))
        report = pu.evaluate(
            made.scores,
            rows.label_column,
            **rows.companions,
            progress=steps("Resampling"),
            **settings,
        )
        report = replace(report, scores_from=made.description)
    if scores_out is not None:
        _write_scores(scores_out, read, made.scores)
    source = rows.source(file) | {"features": read.features.to_dict()}
    serious = deliver(report, source, output)
    rows.note_blanks(quiet=output.quiet)
    note_written(output)
    if scores_out is not None:
        note(f"scores written to {scores_out}", quiet=output.quiet)
    return 1 if output.strict and serious else 0


def _write_scores(path: str, read: Any, scores: Any) -> None:
    """Scores in the order of the file, as ``purecover evaluate`` reads them."""
    rows = read.rows
    columns: dict[str, list[Any]] = {
        "score": [repr(score) for score in scores.tolist()],
        "labeled": [int(label) for label in rows.label_column],
    }
    if rows.weights is not None:
        columns["weight"] = [repr(weight) for weight in rows.weights.tolist()]
    if rows.truth is not None:
        columns["truth"] = rows.truth.astype(int).tolist()
    if rows.groups is not None:
        group = read.table.words["group"]
        columns["group"] = [group.values[code] for code in group.codes.tolist()]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    content = text.getvalue().encode()
    with write_atomically("--scores-out", path) as out:
        # No time inside, so that equal scores make equal files.
        out.write(gzip.compress(content, mtime=0) if path.endswith(".gz") else content)


# -- what both commands give ----------------------------------------------------------------------


def deliver(found: Any, source: dict[str, Any], output: opt.ReportOptions) -> bool:
    """Write and print a report or a comparison; say whether a serious check spoke."""
    from purecover.html import render_report
    from purecover.html.compare_page import render_comparison

    one = isinstance(found, pu.PUReport)
    if output.markdown is not None:
        with write_atomically("--markdown", output.markdown) as text:
            text.write(found.to_markdown().encode())
    if output.html is not None:
        page = (render_report if one else render_comparison)(found, command=typed_command())
        with write_atomically("--html", output.html) as file:
            file.write(page.encode())
    if output.json:
        print_json(found.to_dict() | {"source": source})
    elif not output.quiet:
        print(found)  # noqa: T201
    reports = [found] if one else found.reports.values()
    return any_serious(check for report in reports for check in report.checks)


def _deliver_groups(many: Any, source: dict[str, Any], output: opt.ReportOptions) -> bool:
    """Print a table, or a document with every report whole."""
    from purecover._view import at_most

    if not many.evaluated:
        first = many.failed[0]
        raise CommandError(
            f"no group could be evaluated; the first, {show(first.task)}: {first.reason}."
        )
    if output.json:
        document = many.to_dict()
        for row, found in zip(document["rows"], many, strict=True):
            row["report"] = None if found.report is None else found.report.to_dict()
        print_json(document | {"source": source})
    elif not output.quiet:
        print(many)  # noqa: T201
        every = [report.bounds for report in many.reports.values()]
        widths = [bounds.width for bounds in every if bounds is not None]
        if widths:
            known = f"observed AUCs are known to within {at_most(max(widths))}"
            print(f"scores counted in bins: {known}")  # noqa: T201
    return any(how == "error" for row in many for _, how in row.findings)


def any_serious(checks: Iterable[Any]) -> bool:
    """Whether a check of severity error spoke."""
    return any(check.fired and check.severity == "error" for check in checks)


def note_written(output: opt.ReportOptions) -> None:
    """Say which files there are now."""
    for path in output.paths.values():
        if path is not None:
            note(f"report written to {path}", quiet=output.quiet)
