"""``purecover threshold``."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.evaluate import any_serious
from purecover.cli.output import (
    CommandError,
    in_options,
    print_json,
    progress_bars,
    show,
    undash,
)
from purecover.exceptions import InvalidInputError

if TYPE_CHECKING:
    from purecover.checks import CheckResult
    from purecover.cli.rows import Rows
    from purecover.counts import ScoreCounts
    from purecover.estimators.estimate import PriorEstimate
    from purecover.intervals.interval import Interval
    from purecover.intervals.resampling import GroupResampler
    from purecover.proportions import MixtureProportions
    from purecover.recovery.thresholds import ThresholdChoice
    from purecover.report.estimation import Estimation

__all__ = ["threshold"]

_WIDTH = 100


@Parameter(name="*", group=opt.INTERVALS)
@dataclass(frozen=True, kw_only=True)
class ThresholdIntervalOptions(opt.IntervalOptions):
    """How sure one may be.

    Parameters
    ----------
    resamples
        Bootstrap resamples for the interval of what was asked for; 0 for none.
    """

    resamples: opt.Whole = 500


NO_DATA_OPTIONS = opt.DataOptions()
NO_ASSUMPTIONS = opt.AssumptionOptions()
NO_WEIGHTS = opt.WeightOptions()
NO_INTERVAL_OPTIONS = ThresholdIntervalOptions()


def threshold(
    file: str,
    /,
    *,
    data: opt.DataOptions = NO_DATA_OPTIONS,
    assumptions: opt.AssumptionOptions = NO_ASSUMPTIONS,
    precision: Annotated[opt.Share | None, Parameter(group=opt.CRITERION)] = None,
    recall: Annotated[opt.Share | None, Parameter(group=opt.CRITERION)] = None,
    fpr: Annotated[opt.Share | None, Parameter(group=opt.CRITERION)] = None,
    specificity: Annotated[opt.Share | None, Parameter(group=opt.CRITERION)] = None,
    npv: Annotated[opt.Share | None, Parameter(group=opt.CRITERION)] = None,
    fdr: Annotated[opt.Share | None, Parameter(group=opt.CRITERION)] = None,
    best: Annotated[opt.Text, Parameter(group=opt.CRITERION)] = None,
    weights: opt.WeightOptions = NO_WEIGHTS,
    intervals: ThresholdIntervalOptions = NO_INTERVAL_OPTIONS,
    json: Annotated[opt.Flag, Parameter(group=opt.OUTPUT)] = False,
    strict: Annotated[opt.Flag, Parameter(group=opt.OUTPUT)] = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Choose the threshold for a wanted precision, recall or false-positive rate, or the best.

    Give exactly one of --precision, --recall, --fpr, --specificity, --npv, --fdr and --best.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
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
    best
        Metric to be at its best: f1, f_beta, mcc, youden, cost or another metric of a threshold.
    json
        Print one JSON document and nothing else.
    strict
        Exit with 1 if a check of severity error speaks.
    quiet
        Print the threshold alone.
    """
    wanted = {
        "precision": precision,
        "recall": recall,
        "fpr": fpr,
        "specificity": specificity,
        "npv": npv,
        "fdr": fdr,
    }
    criterion, value = _criterion(wanted, best)
    from purecover.checks import CheckContext, run_checks
    from purecover.cli.rows import read_rows
    from purecover.intervals.interval import check_level
    from purecover.intervals.replicates import bootstrap
    from purecover.report.estimation import resampled

    known = assumptions.known
    ignore = intervals.ignored
    level = check_level(intervals.confidence_level)
    how: dict[str, Any] = {
        "target": assumptions.population,
        "repair": assumptions.repair or "isotonic",
        **asdict(weights),
    }
    with progress_bars(quiet=quiet) as steps:
        steps("Reading")
        rows = read_rows(file, data, group=intervals.group)
        counts, resampler = _count(rows)
        proportions, estimation = _proportions(known, counts)
        try:
            choice = pu.choose_threshold(counts, proportions, criterion, value, **how)
        except InvalidInputError as error:
            names = {"value": f"--{criterion}", "criterion": "--best"}
            raise CommandError(in_options(error, names)) from error
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
            roc=pu.recover_roc(counts, proportions, repair=how["repair"]),
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
        document["source"] = rows.source(file)
        print_json(document)
    elif quiet:
        # repr, so that the threshold printed is the threshold chosen to the last digit.
        print(repr(choice.threshold))  # noqa: T201
    else:
        print(_describe(choice, found, interval, intervals.resamples or 0, checks))  # noqa: T201
    rows.note_blanks(quiet=quiet)
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
    known: dict[str, Any], counts: ScoreCounts
) -> tuple[MixtureProportions, Estimation | None]:
    """Alpha and beta: those that are known, or an estimate as evaluate makes it."""
    from purecover.estimators.choice import check_estimator
    from purecover.proportions import GivenProportions
    from purecover.report.estimation import find_proportions

    given = GivenProportions(**known).validated(can_estimate=True)
    asked = None if given.ways else check_estimator(known["estimator"])
    return find_proportions(counts, given, asked)


def _count(rows: Rows) -> tuple[ScoreCounts, GroupResampler | None]:
    """The counts, and what resamples whole groups if there are any."""
    from purecover.intervals.resampling import group_resampler

    labels: dict[str, Any] = {
        "sample_weight": rows.weights,
        "negative_label": rows.negative_label,
    }
    if rows.groups is None:
        return pu.ScoreCounts.from_scores(rows.scores, rows.label_column, **labels), None
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
    from purecover._view import (
        estimated_by,
        estimated_shares,
        number,
        shown_metrics,
        title_of,
    )

    metrics = choice.metrics
    lines = [str(choice).splitlines()[0].removeprefix("ThresholdChoice: ")]
    if interval is not None:
        lines += textwrap.wrap(
            f"{_interval_words(choice, interval)} ({resamples:,} resamples at this threshold, "
            "which was chosen on the same data: expect a little worse on new data)",
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


def _interval_words(choice: ThresholdChoice, interval: Interval) -> str:
    from purecover._view import title_of

    title = title_of(choice.criterion, choice.metrics.options)
    level = f"{100 * interval.confidence_level:g} % interval"
    if math.isnan(interval.low):
        return f"{level} of {title}: undefined"
    return f"{level} of {title}: {interval.low:.4f} - {interval.high:.4f}"
