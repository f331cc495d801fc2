"""``purecover evaluate`` with several scores."""

from __future__ import annotations

from purecover._validation import show
from purecover.cli._data import (
    check_codes,
    check_prior_knowledge,
    describe_source,
    note_blank_labels,
    parse_target,
    read_rows,
)
from purecover.cli._evaluate import typed_command
from purecover.cli._messages import CommandError, note
from purecover.cli._options import (
    DASH,
    Area,
    AssumptionOptions,
    IntervalOptions,
    ScoresOptions,
    WeightOptions,
)
from purecover.cli._output import check_writable, print_json, write_atomically
from purecover.cli._progress import progress_bars
from purecover.html._compare_page import render_comparison
from purecover.report._compare import compare_scores

__all__ = ["run_compare"]


def run_compare(
    file: str,
    data: ScoresOptions,
    assumptions: AssumptionOptions,
    *,
    truth: str | None,
    estimator: str | None,
    estimate_from: str | None,
    threshold: float | None,
    weights: WeightOptions,
    max_fpr: float,
    top_k: int | None,
    area: Area,
    resamples: int | None,
    simultaneous: bool,
    intervals: IntervalOptions,
    json: bool,
    html: str | None,
    strict: bool,
    quiet: bool,
) -> int:
    """Compare, print, write, return the exit code."""
    names = tuple("-" if column == DASH else column for column in data.score)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise CommandError(f"--score {show(twice)} is given twice.")
    if estimate_from is not None and estimate_from not in names:
        raise CommandError(
            f"--estimate-from must be one of the columns given by --score, got "
            f"{show('-' if estimate_from == DASH else estimate_from)}.\n"
            f"Hint: they are {', '.join(map(show, names))}."
        )
    check_prior_knowledge(assumptions)
    target = parse_target(assumptions.target)
    ignore = check_codes(intervals.ignore_check)
    if html is not None:
        check_writable("--html", html, not_this=file)
    with progress_bars(quiet=quiet) as steps:
        rows = read_rows(
            file,
            data.one,
            command="purecover evaluate",
            truth=truth,
            group=intervals.group,
            more_scores=names[1:],
            progress=steps("Reading"),
        )
        comparison = compare_scores(
            rows.score_columns,
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
            estimate_from=estimate_from,
            target=target,
            repair=assumptions.repair,
            threshold=threshold,
            area=area,
            f_beta=weights.f_beta,
            cost_fn=weights.cost_fn,
            cost_fp=weights.cost_fp,
            max_fpr=max_fpr,
            top_k=top_k,
            simultaneous=simultaneous,
            confidence_level=intervals.confidence_level,
            n_resamples=resamples,
            random_state=intervals.seed,
            ignore_checks=ignore,
            progress=steps("Resampling"),
        )
    if html is not None:
        with write_atomically("--html", html) as page:
            page.write(render_comparison(comparison, command=typed_command()).encode())
    if json:
        document = comparison.to_dict()
        document["source"] = describe_source(file, rows)
        print_json(document)
    elif not quiet:
        print(comparison)  # noqa: T201
    note_blank_labels(rows, quiet=quiet)
    if html is not None:
        note(f"report written to {html}", quiet=quiet)
    checks = (check for report in comparison.reports.values() for check in report.checks)
    serious = any(check.fired and check.severity == "error" for check in checks)
    return 1 if strict and serious else 0
