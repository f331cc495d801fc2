"""``purecover evaluate`` and ``purecover evaluate-data``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.output import (
    CommandError,
    check_outputs,
    csv_text,
    note,
    print_json,
    print_result,
    progress_bars,
    show,
    typed_command,
    undash,
    write_file,
)

if TYPE_CHECKING:
    from purecover._typing import FloatArray
    from purecover.cli.rows import Rows


def evaluate(
    file: str,
    /,
    *more_files: str,
    data: opt.ScoresOptions = opt.ScoresOptions(),
    counting: opt.EngineOptions = opt.EngineOptions(),
    truth: Annotated[opt.Text, Parameter(group=opt.DATA)] = None,
    group: opt.GroupColumn = None,
    asked: opt.EvaluationOptions = opt.EvaluationOptions(),
    several: opt.ComparisonOptions = opt.ComparisonOptions(),
    output: opt.ReportOptions = opt.ReportOptions(),
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

    files = (file, *more_files)
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


def evaluate_data(
    file: str,
    /,
    *,
    table: FeatureTableOptions = FeatureTableOptions(),
    truth: Annotated[opt.Text, Parameter(group=opt.DATA)] = None,
    learning: opt.FeatureOptions = opt.FeatureOptions(),
    group: opt.GroupColumn = None,
    asked: opt.EvaluationOptions = opt.EvaluationOptions(),
    output: opt.ReportOptions = opt.ReportOptions(),
    scores_out: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
) -> int:
    """Train a model on the features in FILE and recover its true performance.

    The model learns labeled against unlabeled; every row is scored by a model that has not seen
    it. Numbers are used as they are, texts of few values get a column for each value, and blank
    cells are filled in; what was done is said on standard error. Rows of one group stay together.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    truth
        Column of true classes, if you have them: the report then shows them side by side. No
        model sees it.
    scores_out
        Write the scores to this CSV file, in the order of the rows, for the other commands;
        gzipped if it ends in .gz.
    """
    from purecover.cli.files import require_file

    require_file(file)
    from purecover.cli.features import make_scores, read_feature_rows

    settings, seed = asked.settings, asked.intervals.random_state
    check_outputs({**output.paths, "--scores-out": scores_out}, not_this=file)
    with progress_bars(quiet=output.quiet) as steps:
        steps("Reading")
        features, rows = read_feature_rows(file, table, learning, truth=truth, group=group)
        features.say(quiet=output.quiet)
        made = make_scores(features, rows, learning, seed=seed, progress=steps("Training"))
        report = pu.evaluate(
            made.scores,
            rows.label_column,
            **rows.companions,
            progress=steps("Resampling"),
            **settings,
        )
        report = replace(report, scores_from=made.description)
    if scores_out is not None:
        content = _scores_as_csv(rows, made.scores)
        write_file("--scores-out", scores_out, content, "scores", quiet=output.quiet)
    source = rows.source(file) | {"features": features.to_dict()}
    serious = deliver(report, source, output)
    rows.note_blanks(quiet=output.quiet)
    return 1 if output.strict and serious else 0


def _scores_as_csv(rows: Rows, scores: FloatArray) -> str:
    """Scores in the order of the file, as ``purecover evaluate`` reads them."""
    columns: dict[str, list[Any]] = {
        "score": scores.tolist(),
        "labeled": rows.label_column.astype(int).tolist(),
    }
    if "weight" in rows.columns:
        columns["weight"] = rows.table.numbers["weight"].tolist()
    if rows.truth is not None:
        columns["truth"] = rows.truth.astype(int).tolist()
    if "group" in rows.columns:
        group = rows.table.words["group"]
        columns["group"] = [group.values[code] for code in group.codes.tolist()]
    return csv_text(columns, zip(*columns.values(), strict=True))


# -- what both commands give ----------------------------------------------------------------------


def deliver(found: Any, source: dict[str, Any], output: opt.ReportOptions) -> bool:
    """Write and print a report or a comparison; say whether a serious check spoke."""
    from purecover.html import render_report
    from purecover.html.compare_page import render_comparison

    one = isinstance(found, pu.PUReport)
    if output.markdown is not None:
        text = found.to_markdown()
        write_file("--markdown", output.markdown, text, "report", quiet=output.quiet)
    if output.html is not None:
        page = (render_report if one else render_comparison)(found, command=typed_command())
        write_file("--html", output.html, page, "report", quiet=output.quiet)
    print_result(found, json=output.json, quiet=output.quiet, source=source)
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
