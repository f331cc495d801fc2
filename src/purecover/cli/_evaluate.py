"""``purecover evaluate``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import Any

from purecover.checks import CheckResult
from purecover.cli._data import (
    check_codes,
    check_prior_knowledge,
    describe_source,
    note_blank_labels,
    parse_target,
    read_rows,
)
from purecover.cli._messages import note
from purecover.cli._options import COMMAND_LINE, DataOptions, EvaluationOptions, ReportOptions
from purecover.cli._output import check_outputs, print_json, write_atomically
from purecover.cli._progress import progress_bars
from purecover.html import render_report
from purecover.report.compare import ScoreComparison
from purecover.report.evaluation import evaluate
from purecover.report.results import PUReport

__all__ = [
    "any_serious",
    "deliver",
    "deliver_report",
    "note_written",
    "run_evaluate",
    "settings_for",
]


def run_evaluate(
    file: str,
    data: DataOptions,
    asked: EvaluationOptions,
    output: ReportOptions,
    *,
    truth: str | None,
) -> int:
    """Evaluate, print, write, return the exit code."""
    settings = settings_for(asked)
    check_outputs(output.paths, not_this=file)
    with progress_bars(quiet=output.quiet) as steps:
        rows = read_rows(
            file,
            data,
            truth=truth,
            group=asked.intervals.group,
            progress=steps("Reading"),
        )
        report = evaluate(
            rows.scores,
            rows.label_column,
            **rows.companions,
            progress=steps("Resampling"),
            **settings,
        )
    deliver_report(report, describe_source(file, rows), output)
    note_blank_labels(rows, quiet=output.quiet)
    note_written(output)
    return 1 if output.strict and any_serious(report.checks) else 0


def settings_for(asked: EvaluationOptions) -> dict[str, Any]:
    """What `evaluate` is told besides the data, after a look at what can be wrong with it."""
    assumptions, measures, intervals = asked.assumptions, asked.measures, asked.intervals
    check_prior_knowledge(assumptions)
    return {
        "alpha": assumptions.alpha,
        "beta": assumptions.beta,
        "prior": assumptions.prior,
        "label_frequency": assumptions.label_frequency,
        "scenario": assumptions.scenario,
        "estimator": assumptions.estimator,
        "target": parse_target(assumptions.target),
        "repair": assumptions.repair,
        "threshold": measures.threshold,
        "area": measures.area,
        "f_beta": measures.weights.f_beta,
        "cost_fn": measures.weights.cost_fn,
        "cost_fp": measures.weights.cost_fp,
        "max_fpr": measures.max_fpr,
        "top_k": measures.top_k,
        "confidence_level": intervals.confidence_level,
        "n_resamples": intervals.resamples,
        "random_state": intervals.seed,
        "ignore_checks": check_codes(intervals.ignore_check),
    }


def deliver_report(report: PUReport, source: dict[str, Any], output: ReportOptions) -> None:
    """Write and print a report in the ways that were asked for."""
    if output.markdown is not None:
        with write_atomically("--markdown", output.markdown) as text:
            text.write(report.to_markdown().encode())
    deliver(report, source, output, page=render_report)


def deliver(
    found: PUReport | ScoreComparison,
    source: dict[str, Any],
    output: ReportOptions,
    *,
    page: Callable[..., str],
) -> None:
    """Write the page, and print the text or the JSON document."""
    if output.html is not None:
        with write_atomically("--html", output.html) as file:
            file.write(page(found, command=typed_command()).encode())
    if output.json:
        print_json(found.to_dict() | {"source": source})
    elif not output.quiet:
        print(found)  # noqa: T201


def note_written(output: ReportOptions) -> None:
    """Say which files there are now."""
    for path in output.paths.values():
        if path is not None:
            note(f"report written to {path}", quiet=output.quiet)


def any_serious(checks: Iterable[CheckResult]) -> bool:
    """Whether a check of severity error spoke."""
    return any(check.fired and check.severity == "error" for check in checks)


def typed_command() -> str:
    """The command as it was typed, for the page it made."""
    return shlex.join(["purecover", *COMMAND_LINE.get()])
