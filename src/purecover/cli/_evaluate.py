"""``purecover evaluate``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from purecover.cli._data import (
    check_codes,
    check_prior_knowledge,
    describe_source,
    note_blank_labels,
    parse_target,
    read_rows,
)
from purecover.cli._messages import CommandError, note
from purecover.cli._options import (
    COMMAND_LINE,
    Area,
    AssumptionOptions,
    DataOptions,
    IntervalOptions,
    WeightOptions,
)
from purecover.cli._output import check_outputs, print_json, write_atomically
from purecover.cli._progress import progress_bars
from purecover.html import render_report
from purecover.report._evaluate import evaluate
from purecover.report._report import PUReport

__all__ = [
    "deliver",
    "is_serious",
    "note_written",
    "run_evaluate",
    "settings_for",
    "typed_command",
]


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
    resamples: int | None,
    intervals: IntervalOptions,
    json: bool,
    html: str | None,
    strict: bool,
    quiet: bool,
    markdown: str | None = None,
    only_for_several: Mapping[str, object] = MappingProxyType({}),
) -> int:
    """Evaluate, print, write, return the exit code."""
    for option, value in only_for_several.items():
        if value:
            raise CommandError(
                f"--{option} is for several scores.\nHint: repeat --score, once for each model."
            )
    settings = settings_for(
        assumptions,
        weights,
        intervals,
        estimator=estimator,
        threshold=threshold,
        max_fpr=max_fpr,
        top_k=top_k,
        area=area,
        resamples=resamples,
    )
    check_outputs({"--html": html, "--markdown": markdown}, not_this=file)
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
            progress=steps("Resampling"),
            **settings,
        )
    deliver(
        report, describe_source(file, rows), json=json, html=html, markdown=markdown, quiet=quiet
    )
    note_blank_labels(rows, quiet=quiet)
    note_written(html, markdown, quiet=quiet)
    return 1 if strict and is_serious(report) else 0


def settings_for(
    assumptions: AssumptionOptions,
    weights: WeightOptions,
    intervals: IntervalOptions,
    *,
    estimator: str | None,
    threshold: float | None,
    max_fpr: float,
    top_k: int | None,
    area: Area,
    resamples: int | None,
) -> dict[str, Any]:
    """What `evaluate` is told besides the data, after a look at what can be wrong with it."""
    check_prior_knowledge(assumptions)
    return {
        "alpha": assumptions.alpha,
        "beta": assumptions.beta,
        "prior": assumptions.prior,
        "label_frequency": assumptions.label_frequency,
        "scenario": assumptions.scenario,
        "estimator": estimator,
        "target": parse_target(assumptions.target),
        "repair": assumptions.repair,
        "threshold": threshold,
        "area": area,
        "f_beta": weights.f_beta,
        "cost_fn": weights.cost_fn,
        "cost_fp": weights.cost_fp,
        "max_fpr": max_fpr,
        "top_k": top_k,
        "confidence_level": intervals.confidence_level,
        "n_resamples": resamples,
        "random_state": intervals.seed,
        "ignore_checks": check_codes(intervals.ignore_check),
    }


def deliver(
    report: PUReport,
    source: dict[str, Any],
    *,
    json: bool,
    html: str | None,
    markdown: str | None,
    quiet: bool,
) -> None:
    """Write and print the report in the ways that were asked for."""
    if html is not None:
        with write_atomically("--html", html) as page:
            page.write(render_report(report, command=typed_command()).encode())
    if markdown is not None:
        with write_atomically("--markdown", markdown) as text:
            text.write(report.to_markdown().encode())
    if json:
        document = report.to_dict()
        document["source"] = source
        print_json(document)
    elif not quiet:
        print(report)  # noqa: T201


def note_written(*paths: str | None, quiet: bool) -> None:
    """Say which files there are now."""
    for path in paths:
        if path is not None:
            note(f"report written to {path}", quiet=quiet)


def is_serious(report: PUReport) -> bool:
    """Whether a check of severity error spoke."""
    return any(check.fired and check.severity == "error" for check in report.checks)


def typed_command() -> str:
    """The command as it was typed, for the page it made."""
    return shlex.join(["purecover", *COMMAND_LINE.get()])
