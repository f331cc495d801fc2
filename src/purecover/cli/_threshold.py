"""``purecover threshold``."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from functools import partial
from typing import Any

from purecover._validation import show
from purecover.checks import CheckContext, CheckResult, run_checks
from purecover.cli._data import (
    Rows,
    check_codes,
    check_prior_knowledge,
    describe_source,
    note_blank_labels,
    parse_target,
    read_rows,
)
from purecover.cli._evaluate import any_serious
from purecover.cli._messages import CommandError, in_options, rename
from purecover.cli._options import (
    AssumptionOptions,
    DataOptions,
    IntervalOptions,
    WeightOptions,
    undash,
)
from purecover.cli._output import print_json
from purecover.cli._progress import progress_bars
from purecover.counts import ScoreCounts
from purecover.estimators.base import PriorEstimate
from purecover.estimators.choice import check_estimator
from purecover.exceptions import InvalidInputError
from purecover.html import estimated_by, shown_metrics, title_of
from purecover.intervals.interval import Interval, check_level
from purecover.intervals.replicates import bootstrap
from purecover.intervals.resampling import GroupResampler, group_resampler
from purecover.proportions import GivenProportions, MixtureProportions
from purecover.recovery.roc import recover_roc
from purecover.recovery.thresholds import THRESHOLD_METRICS, ThresholdChoice, choose_threshold
from purecover.report.estimation import Estimation, estimate_proportions, resampled

__all__ = ["run_threshold"]

_COMMAND = "purecover threshold"
_WIDTH = 100


def run_threshold(
    file: str,
    data: DataOptions,
    assumptions: AssumptionOptions,
    *,
    wanted: Mapping[str, float | None],
    best: str | None,
    weights: WeightOptions,
    intervals: IntervalOptions,
    json: bool,
    strict: bool,
    quiet: bool,
) -> int:
    """Choose, print, return the exit code."""
    criterion, value = _criterion(wanted, best)
    check_prior_knowledge(assumptions)
    target = parse_target(assumptions.target)
    ignore = check_codes(intervals.ignore_check)
    level = check_level(intervals.confidence_level)
    how: dict[str, Any] = {
        "target": target,
        "repair": assumptions.repair or "isotonic",
        "f_beta": weights.f_beta,
        "cost_fn": weights.cost_fn,
        "cost_fp": weights.cost_fp,
    }
    with progress_bars(quiet=quiet) as steps:
        rows = read_rows(file, data, group=intervals.group, progress=steps("Reading"))
        counts, resampler = _count(rows)
        proportions, estimation = _proportions(assumptions, counts)
        try:
            choice = choose_threshold(counts, proportions, criterion, value, **how)
        except InvalidInputError as error:
            named = rename(str(error), {"value": f"--{criterion}", "criterion": "--best"})
            raise CommandError(in_options(named)) from error
        replicates = None
        if intervals.resamples:
            draw = partial(
                bootstrap,
                counts,
                proportions,
                estimator=None if estimation is None else estimation.estimator,
                metrics=[criterion],
                threshold=choice.threshold,
                curves=False,
                n_resamples=intervals.resamples,
                confidence_level=level,
                resampler=resampler,
                random_state=intervals.seed,
                progress=steps("Resampling"),
                **how,
            )
            replicates, estimation = resampled(draw, estimation)
    interval = None if replicates is None else replicates.interval(criterion)
    found = None
    if estimation is not None:
        independent = resampler is None
        found = estimation.with_replicates(replicates, level=level, independent=independent)
    checks = run_checks(
        CheckContext(
            counts=counts,
            proportions=proportions,
            roc=recover_roc(counts, proportions, repair=how["repair"]),
            threshold=choice.threshold,
            prior=choice.metrics.prior,
            n_groups=None if resampler is None else resampler.n_groups,
            interval_varies_proportions=found is not None and replicates is not None,
            estimation=found,
        ),
        ignore=ignore,
    )
    if json:
        document = choice.to_dict()
        document["interval"] = None if interval is None else interval.to_dict()
        document["proportions"] = proportions.to_dict()
        document["estimation"] = None if found is None else found.to_dict()
        document["checks"] = [check.to_dict() for check in checks]
        document["source"] = describe_source(file, rows)
        print_json(document)
    elif quiet:
        # repr, so that the threshold printed is the threshold chosen to the last digit.
        print(repr(choice.threshold))  # noqa: T201
    else:
        print(_describe(choice, found, interval, intervals.resamples or 0, checks))  # noqa: T201
    note_blank_labels(rows, quiet=quiet)
    return 1 if strict and any_serious(checks) else 0


def _criterion(wanted: Mapping[str, float | None], best: str | None) -> tuple[str, float | None]:
    """The one thing asked for."""
    asked = {name: value for name, value in wanted.items() if value is not None}
    if len(asked) + (best is not None) != 1:
        options = ", ".join(f"--{name}" for name in wanted)
        got = ", ".join([f"--{name}" for name in asked] + ["--best"] * (best is not None))
        raise CommandError(
            f"purecover threshold needs exactly one of {options} and --best, got "
            f"{got or 'none of them'}.\nHint: for example --precision 0.9, or --best f1."
        )
    if best is None:
        return next(iter(asked.items()))
    name = best.strip().casefold().replace("-", "_")
    if name in wanted:
        raise CommandError(
            f"--best {name} would choose a useless threshold, flagging next to nothing or nearly "
            f"everything.\nHint: say how much you want, such as --{name} {_EXAMPLES[name]}."
        )
    choices = [metric for metric in THRESHOLD_METRICS if metric not in wanted]
    if name not in choices:
        shown = show(undash(best))
        raise CommandError(f"--best must be one of {', '.join(choices)}, got {shown}.")
    return name, None


_EXAMPLES = {
    "precision": 0.9,
    "recall": 0.9,
    "fpr": 0.05,
    "specificity": 0.95,
    "npv": 0.95,
    "fdr": 0.1,
}


def _proportions(
    assumptions: AssumptionOptions, counts: ScoreCounts
) -> tuple[MixtureProportions, Estimation | None]:
    """Alpha and beta: those that are known, or an estimate as evaluate makes it."""
    given = GivenProportions(
        alpha=assumptions.alpha,
        beta=assumptions.beta,
        prior=assumptions.prior,
        label_frequency=assumptions.label_frequency,
        scenario=assumptions.scenario,
        estimator=assumptions.estimator,
    ).validated(can_estimate=True)
    if given.ways:
        return given.resolve(counts), None
    asked = check_estimator(assumptions.estimator)
    estimation = estimate_proportions(counts, given, asked)
    return estimation.estimate.proportions, estimation


def _count(rows: Rows) -> tuple[ScoreCounts, GroupResampler | None]:
    """The counts, and what resamples whole groups if there are any."""
    labels: dict[str, Any] = {
        "sample_weight": rows.weights,
        "negative_label": rows.negative_label,
    }
    if rows.groups is None:
        return ScoreCounts.from_scores(rows.scores, rows.label_column, **labels), None
    resampler = group_resampler(rows.scores, rows.label_column, rows.groups, **labels)
    return resampler.counts, resampler


# -- words --------------------------------------------------------------------------------


def _describe(
    choice: ThresholdChoice,
    estimate: PriorEstimate | None,
    interval: Interval | None,
    resamples: int,
    checks: tuple[CheckResult, ...],
) -> str:
    metrics = choice.metrics
    lines = [str(choice).splitlines()[0].removeprefix("ThresholdChoice: ")]
    if interval is not None:
        lines += textwrap.wrap(
            f"{_interval_words(choice, interval)} ({resamples:,} resamples at this threshold, "
            "which was chosen on the same data: expect a little worse on new data)",
            _WIDTH,
        )
    if estimate is not None:
        lines += textwrap.wrap(_estimate_words(estimate), _WIDTH, subsequent_indent="  ")
    lines += ["", f"{'':<38}{'observed':>10}{'recovered':>11}"]
    lines += [
        f"{title_of(name, metrics.options):<38}{_number(metrics.observed[name]):>10}"
        f"{_number(metrics[name]):>11}"
        for name in shown_metrics(metrics)
    ]
    grave = [c for c in checks if c.fired and c.severity != "note"]
    lines += ["", f"checks: {len(grave)} of {len(checks)} warn" if grave else "checks: none warns"]
    for check in sorted(grave, key=lambda c: c.severity != "error"):
        text = f"{check.code} {check.severity}: {check.message} Hint: {check.hint}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def _interval_words(choice: ThresholdChoice, interval: Interval) -> str:
    title = title_of(choice.criterion, choice.metrics.options)
    level = f"{100 * interval.confidence_level:g} % interval"
    if math.isnan(interval.low):
        return f"{level} of {title}: undefined"
    return f"{level} of {title}: {interval.low:.4f} - {interval.high:.4f}"


def _estimate_words(estimate: PriorEstimate) -> str:
    shares = []
    for name in ("alpha", "beta"):
        ends = estimate.intervals.get(name)
        within = "" if ends is None else f" [{ends.low:.3f}, {ends.high:.3f}]"
        shares.append(f"{name} {getattr(estimate.proportions, name):.3f}{within}")
    return f"{', '.join(shares)}, estimated by {estimated_by(estimate)}"


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "undefined"
