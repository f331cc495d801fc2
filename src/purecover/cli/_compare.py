"""``purecover evaluate`` with several scores."""

from __future__ import annotations

from collections.abc import Sequence

from purecover._validation import show
from purecover.cli._data import describe_source, note_blank_labels, read_rows
from purecover.cli._engine import opened
from purecover.cli._engine_choice import expand
from purecover.cli._evaluate import any_serious, deliver, note_written, settings_for
from purecover.cli._messages import CommandError, note
from purecover.cli._options import (
    ComparisonOptions,
    EngineOptions,
    EvaluationOptions,
    ReportOptions,
    ScoresOptions,
    undash,
)
from purecover.cli._output import check_outputs
from purecover.cli._progress import progress_bars
from purecover.html.compare_page import render_comparison
from purecover.report.compare import ScoreComparison, compare_scores

__all__ = ["run_compare", "run_compare_over_engine"]


def run_compare(
    file: str,
    data: ScoresOptions,
    asked: EvaluationOptions,
    several: ComparisonOptions,
    output: ReportOptions,
    *,
    truth: str | None,
) -> int:
    """Compare, print, write, return the exit code."""
    names = _names(data, several)
    settings = settings_for(asked)
    check_outputs(output.paths, not_this=file)
    with progress_bars(quiet=output.quiet) as steps:
        rows = read_rows(
            file,
            data.one,
            truth=truth,
            group=asked.intervals.group,
            more_scores=names[1:],
            progress=steps("Reading"),
        )
        comparison = compare_scores(
            rows.score_columns,
            rows.label_column,
            **rows.companions,
            estimate_from=several.estimate_from,
            simultaneous=several.simultaneous,
            progress=steps("Resampling"),
            **settings,
        )
    deliver(comparison, describe_source(file, rows), output, page=render_comparison)
    note_blank_labels(rows, quiet=output.quiet)
    return _ended(comparison, output)


def run_compare_over_engine(
    files: Sequence[str],
    data: ScoresOptions,
    counting: EngineOptions,
    engine: str,
    asked: EvaluationOptions,
    several: ComparisonOptions,
    output: ReportOptions,
) -> int:
    """The same where an engine counts the rows."""
    names = _names(data, several)
    settings = settings_for(asked)
    expanded = expand(files)
    for name in expanded:
        check_outputs(output.paths, not_this=name)
    with progress_bars(quiet=output.quiet) as steps:
        steps("Counting")
        with opened(files, expanded, data.one, counting, engine, names[1:]) as found:
            frame, columns, labels, source = found
            comparison = compare_scores(
                frame,
                columns["labeled"],
                score=list(names),
                **labels,
                estimate_from=several.estimate_from,
                simultaneous=several.simultaneous,
                progress=steps("Resampling"),
                **settings,
            )
    source["columns"] = {"score": list(names), "labeled": columns["labeled"]}
    deliver(comparison, source, output, page=render_comparison)
    if "blank_labels" in source:
        note(f"{source['blank_labels']:,} blank labels count as unlabeled", quiet=output.quiet)
    return _ended(comparison, output)


def _names(data: ScoresOptions, several: ComparisonOptions) -> tuple[str, ...]:
    """The columns of scores, each once."""
    names = tuple(map(undash, data.score))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise CommandError(f"--score {show(twice)} is given twice.")
    estimate_from = several.estimate_from
    if estimate_from is not None and estimate_from not in names:
        raise CommandError(
            f"--estimate-from must be one of the columns given by --score, got "
            f"{show(undash(estimate_from))}.\n"
            f"Hint: they are {', '.join(map(show, names))}."
        )
    return names


def _ended(comparison: ScoreComparison, output: ReportOptions) -> int:
    """Say what was written, and return the exit code."""
    note_written(output)
    checks = (check for report in comparison.reports.values() for check in report.checks)
    return 1 if output.strict and any_serious(checks) else 0
