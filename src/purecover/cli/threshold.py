"""``purecover threshold``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.evaluate import any_serious
from purecover.cli.output import CommandError, in_words, print_json, progress_bars, say, show, tell

if TYPE_CHECKING:
    from purecover.report.results import PUReport


class ThresholdIntervalOptions(opt.CheckedOptions, group=opt.INTERVALS):
    """How sure one may be.

    Parameters
    ----------
    n_resamples
        Bootstrap resamples, each of which chooses again; 0 for none, and no intervals.
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
    from purecover.recovery.thresholds import THRESHOLD_METRICS
    from purecover.report.pipeline import ReportSettings, find_proportions, make_report, read_labels
    from purecover.report.text import render_threshold_text

    given = GivenProportions.among(vars(assumptions)).validated(can_estimate=True)
    how: dict[str, Any] = {
        "target": assumptions.target,
        "repair": assumptions.repair or "isotonic",
        **vars(weights),
    }
    settings = ReportSettings.among(how | vars(intervals)).validated()
    with progress_bars(quiet=quiet) as steps:
        steps("Reading")
        read = read_rows(file, data, group=group)
        labels = read_labels(read.label_column, read.scores.size, **read.companions)
        rows = labels.count(read.scores)
        estimator = None if given.ways else check_estimator(given.estimator)
        proportions = find_proportions(rows.counts, given, estimator)
        resampling = steps("Resampling") if settings.n_resamples else None
        settings = replace(settings, progress=resampling)
        only = partial(make_report, rows, given, proportions, only=THRESHOLD_METRICS)
        try:
            with in_words({"value": f"--{criterion}", "criterion": "--best"}):
                choice = pu.choose_threshold(rows.counts, proportions[0], criterion, value, **how)
        except CommandError as error:
            if proportions[1] is None or "must be attainable" not in str(error):
                raise
            raise _if_estimates_hold(error, only(settings), criterion, how) from error
        report = only(replace(settings, threshold=choice.threshold), chosen_by=criterion)
    checks, contradicted = report.checks, report.contradicted
    chosen = choice.to_dict() | {
        "expected": {name: report.metrics[name] for name in choice.metrics},
        "interval": report.intervals.get(criterion),
        "intervals": report.intervals,
        "optimism": None if report.bootstrap is None else report.bootstrap.optimism,
        "confusion": report.confusion,
    }
    if contradicted:  # no threshold rests on an alpha that cannot be
        chosen = dict.fromkeys(chosen) | {"criterion": criterion, "wanted": value}
    if json:
        document = chosen | {
            "contradicted": contradicted,
            "proportions": report.proportions,
            "estimation": report.estimation,
            "checks": checks,
        }
        print_json(document | {"source": read.source(file)})
    elif quiet and not contradicted:
        # repr, so that the threshold printed is the threshold chosen to the last digit.
        tell(repr(choice.threshold))
    elif not contradicted:
        tell(render_threshold_text(choice, report))
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


def _if_estimates_hold(
    error: CommandError, report: PUReport, criterion: str, how: Mapping[str, Any]
) -> CommandError:
    """A refusal that says what it rests on, and what the interval of alpha leaves open."""
    from purecover._documents.formats import bounded
    from purecover._documents.headline import auc_if_pure
    from purecover._documents.report import estimated_shares
    from purecover.recovery.thresholds import best_reachable

    found, (text, _, hint) = report.estimation, str(error).partition("\nHint: ")
    assert found is not None  # noqa: S101 - for the type checker
    word = "a guess from comparable data" if auc_if_pure(report) is not None else "estimates"
    text += f"\nThat rests on {estimated_shares(found)}, which are {word}"
    ends, beta = found.intervals.get("alpha"), found.proportions.beta
    if ends is not None and bounded(ends):
        low, high = sorted(
            best_reachable(report.counts, replace(found.proportions, alpha=alpha), criterion, **how)
            for alpha in (min(ends.low, 0.99 * beta), min(ends.high, 0.99 * beta))
        )
        text += f": within the interval of alpha it runs from {low:.3f} to {high:.3f}"
    return CommandError(
        f"{text}.\nHint: give --alpha if you know it, judge rows with high scores by hand to find "
        f"out (purecover audit sample FILE --n 30 --design top --out audit.csv), {hint}"
    )
