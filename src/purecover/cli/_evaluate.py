"""``purecover evaluate``."""

from __future__ import annotations

import shlex

from purecover.cli._data import (
    check_codes,
    check_prior_knowledge,
    describe_source,
    note_blank_labels,
    parse_target,
    read_rows,
)
from purecover.cli._messages import note
from purecover.cli._options import (
    COMMAND_LINE,
    Area,
    AssumptionOptions,
    DataOptions,
    IntervalOptions,
    WeightOptions,
)
from purecover.cli._output import check_writable, print_json, write_atomically
from purecover.cli._progress import progress_bars
from purecover.html import render_report
from purecover.report._evaluate import evaluate

__all__ = ["run_evaluate"]


def run_evaluate(
    file: str,
    data: DataOptions,
    assumptions: AssumptionOptions,
    *,
    truth: str | None,
    estimator: str | None,
    threshold: float | None,
    weights: WeightOptions,
    max_fpr: float,
    top_k: int | None,
    area: Area,
    resamples: int,
    intervals: IntervalOptions,
    json: bool,
    html: str | None,
    strict: bool,
    quiet: bool,
) -> int:
    """Evaluate, print, write, return the exit code."""
    check_prior_knowledge(assumptions)
    target = parse_target(assumptions.target)
    ignore = check_codes(intervals.ignore_check)
    if html is not None:
        check_writable("--html", html, not_this=file)
    with progress_bars(quiet=quiet) as steps:
        rows = read_rows(
            file,
            data,
            command="purecover evaluate",
            truth=truth,
            group=intervals.group,
            progress=steps("Reading"),
        )
        report = evaluate(
            rows.scores,
            rows.label_column,
            negative_label=rows.negative_label,
            sample_weight=rows.weights,
            groups=rows.groups,
            truth=rows.truth,
            alpha=assumptions.alpha,
            beta=assumptions.beta,
            prior=assumptions.prior,
            label_frequency=assumptions.label_frequency,
            scenario=assumptions.scenario,
            estimator=estimator,
            target=target,
            repair=assumptions.repair,
            threshold=threshold,
            area=area,
            f_beta=weights.f_beta,
            cost_fn=weights.cost_fn,
            cost_fp=weights.cost_fp,
            max_fpr=max_fpr,
            top_k=top_k,
            confidence_level=intervals.confidence_level,
            n_resamples=resamples,
            random_state=intervals.seed,
            ignore_checks=ignore,
            progress=steps("Resampling"),
        )
    if html is not None:
        with write_atomically("--html", html) as page:
            page.write(render_report(report, command=_command()).encode())
    if json:
        document = report.to_dict()
        document["source"] = describe_source(file, rows)
        print_json(document)
    elif not quiet:
        print(report)  # noqa: T201
    note_blank_labels(rows, quiet=quiet)
    if html is not None:
        note(f"report written to {html}", quiet=quiet)
    serious = any(check.fired and check.severity == "error" for check in report.checks)
    return 1 if strict and serious else 0


def _command() -> str:
    """The command as it was typed, for the page it made."""
    return shlex.join(["purecover", *COMMAND_LINE.get()])
