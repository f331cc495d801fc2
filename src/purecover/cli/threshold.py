"""``purecover threshold``."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.evaluate import any_serious
from purecover.cli.output import CommandError, in_words, print_json, progress_bars, say, show, tell

if TYPE_CHECKING:
    from purecover.checks import CheckResult
    from purecover.estimators.estimate import PriorEstimate
    from purecover.intervals.interval import Interval
    from purecover.recovery.thresholds import ThresholdChoice

_WIDTH = 100


class ThresholdIntervalOptions(opt.CheckedOptions, group=opt.INTERVALS):
    """How sure one may be.

    Parameters
    ----------
    n_resamples
        Bootstrap resamples for the interval of what was asked for; 0 for none.
    """

    n_resamples: Annotated[opt.Whole, Parameter("--resamples")] = 500


class WishOptions(opt.Options, group=opt.CRITERION):
    """How much is wanted of a metric.

    Parameters
    ----------
    precision
        At least this precision, then the highest recall.
    recall
        At least this recall, flagging the fewest.
    fpr
        At most this false-positive rate, then the highest recall.
    specificity
        At least this specificity, then the highest recall.
    npv
        At least this negative predictive value, flagging the fewest.
    fdr
        At most this false-discovery rate, then the highest recall.
    """

    precision: opt.Share | None = None
    recall: opt.Share | None = None
    fpr: opt.Share | None = None
    specificity: opt.Share | None = None
    npv: opt.Share | None = None
    fdr: opt.Share | None = None


def threshold(
    file: str,
    /,
    *,
    data: opt.DataOptions = opt.DataOptions(),
    assumptions: opt.AssumptionOptions = opt.AssumptionOptions(),
    wish: WishOptions = WishOptions(),
    best: Annotated[opt.Text, Parameter(group=opt.CRITERION)] = None,
    weights: opt.WeightOptions = opt.WeightOptions(),
    group: opt.GroupColumn = None,
    intervals: ThresholdIntervalOptions = ThresholdIntervalOptions(),
    json: opt.Json = False,
    strict: opt.Strict = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Choose the threshold for a wanted precision, recall or false-positive rate, or the best.

    Give exactly one of --precision, --recall, --fpr, --specificity, --npv, --fdr and --best.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    best
        Metric to be at its best: f1, f_beta, mcc, youden, cost or another metric of a threshold.
    quiet
        Print the threshold alone.
    """
    criterion, value = _criterion(vars(wish), best)
    from purecover.cli.rows import read_rows
    from purecover.estimators.choice import check_estimator
    from purecover.proportions import GivenProportions
    from purecover.report.pipeline import Settings, find_proportions, make_report, read_marks

    given = GivenProportions.among(vars(assumptions)).validated(can_estimate=True)
    how: dict[str, Any] = {
        "target": assumptions.target,
        "repair": assumptions.repair or "isotonic",
        **vars(weights),
    }
    settings = Settings.among(how | vars(intervals)).validated()
    with progress_bars(quiet=quiet) as steps:
        steps("Reading")
        read = read_rows(file, data, group=group)
        marks = read_marks(read.label_column, read.scores.size, **read.companions)
        rows = marks.rows(read.scores)
        estimator = None if given.ways else check_estimator(given.estimator)
        proportions = find_proportions(rows.counts, given, estimator)
        with in_words({"value": f"--{criterion}", "criterion": "--best"}):
            choice = pu.choose_threshold(rows.counts, proportions[0], criterion, value, **how)
        resampling = steps("Resampling") if settings.n_resamples else None
        settings = replace(settings, threshold=choice.threshold, progress=resampling)
        report = make_report(rows, given, proportions, settings, only=[criterion])
    found, checks, contradicted = report.estimation, report.checks, report.contradicted
    interval = None if report.bootstrap is None else report.intervals.get(criterion)
    chosen = choice.to_dict()
    if contradicted:  # no threshold rests on an alpha that cannot be
        chosen = dict.fromkeys(chosen) | {"criterion": criterion, "wanted": value}
    if json:
        document = chosen | {"contradicted": contradicted, "interval": interval}
        document |= {"proportions": report.proportions, "estimation": found, "checks": checks}
        print_json(document | {"source": read.source(file)})
    elif quiet and not contradicted:
        # repr, so that the threshold printed is the threshold chosen to the last digit.
        tell(repr(choice.threshold))
    elif not contradicted:
        tell(_describe(choice, found, interval, intervals.n_resamples, checks))
    if contradicted:
        say(f"purecover: {report.contradiction}")
        return 1
    read.note_blanks(quiet=quiet)
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
    from purecover.recovery.thresholds import THRESHOLD_METRICS

    choices = [metric for metric in THRESHOLD_METRICS if metric not in wanted]
    if name not in choices:
        raise CommandError(f"--best must be one of {', '.join(choices)}, got {show(best)}.")
    return name, None


_EXAMPLES = {
    "precision": 0.9,
    "recall": 0.9,
    "fpr": 0.05,
    "specificity": 0.95,
    "npv": 0.95,
    "fdr": 0.1,
}


# -- words --------------------------------------------------------------------------------


def _describe(
    choice: ThresholdChoice,
    estimate: PriorEstimate | None,
    interval: Interval | None,
    resamples: int,
    checks: tuple[CheckResult, ...],
) -> str:
    from purecover._view import (
        ends,
        estimated_by,
        estimated_shares,
        number,
        percent,
        shown_metrics,
        title_of,
    )

    metrics = choice.metrics
    lines = [str(choice).splitlines()[0].removeprefix("ThresholdChoice: ")]
    if interval is not None:
        title, level = title_of(choice.criterion, metrics.options), interval.confidence_level
        lines += textwrap.wrap(
            f"{percent(level)} interval of {title}: {ends(interval)} "
            f"({resamples:,} resamples at this threshold, which was chosen on the same data: "
            "expect a little worse on new data)",
            _WIDTH,
        )
    if estimate is not None:
        words = f"{estimated_shares(estimate)}, estimated by {estimated_by(estimate)}"
        lines += textwrap.wrap(words, _WIDTH, subsequent_indent="  ")
    lines += ["", f"{'':<38}{'observed':>10}{'recovered':>11}"]
    lines += [
        f"{title_of(name, metrics.options):<38}{number(metrics.observed[name]):>10}"
        f"{number(metrics[name]):>11}"
        for name in shown_metrics(metrics)
    ]
    grave = [c for c in checks if c.fired and c.severity != "note"]
    lines += ["", f"checks: {len(grave)} of {len(checks)} warn" if grave else "checks: none warns"]
    for check in sorted(grave, key=lambda c: c.severity != "error"):
        text = f"{check.code} {check.severity}: {check.message} Hint: {check.hint}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)
