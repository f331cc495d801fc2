"""``purecover threshold``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import purecover as pu
from purecover.cli.evaluate import INTERVALS, SHARES
from purecover.cli.options import COLUMNS, chosen, in_options, takes
from purecover.cli.output import CommandError, print_json, progress_bars, say, show, tell
from purecover.exceptions import InvalidInputError

if TYPE_CHECKING:
    from purecover.report.results import PUReport

_WISHES = {"precision": 0.9, "recall": 0.9, "fpr": 0.05}
"""What may be wanted, with an example of how much."""


@takes(
    f"{COLUMNS} negative_label {SHARES} precision recall fpr best {INTERVALS} json quiet",
    n_resamples="Bootstrap resamples, each of which chooses again; 500 by default, 0 for none.",
    quiet="Print the threshold alone.",
)
def threshold(file: str, /, **given: Any) -> int:
    """Choose the threshold for a wanted precision, recall or false-positive rate, or the best.

    Give exactly one of --precision, --recall, --fpr and --best.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    """
    criterion, value = _criterion(given)
    from purecover.cli.rows import Columns, read_rows
    from purecover.estimators.choice import check_estimator
    from purecover.proportions import GivenProportions
    from purecover.recovery.thresholds import THRESHOLD_METRICS
    from purecover.report.pipeline import ReportSettings, find_proportions, make_report, read_labels
    from purecover.report.text import render_threshold_text

    quiet = given.get("quiet", False)
    shares = GivenProportions.among(given).validated(can_estimate=True)
    how: dict[str, Any] = {"repair": "isotonic"}
    asked = {"n_resamples": 500} | how | chosen(given, INTERVALS)
    settings = ReportSettings.among(asked).validated()
    with progress_bars(quiet=quiet) as steps:
        steps("Reading")
        read = read_rows(file, Columns.among(given))
        labels = read_labels(read.label_column, read.scores.size, **read.companions)
        rows = labels.count(read.scores)
        estimator = None if shares.ways else check_estimator(shares.estimator)
        proportions = find_proportions(rows.counts, shares, estimator)
        resampling = steps("Resampling") if settings.n_resamples else None
        settings = replace(settings, progress=resampling)
        only = partial(make_report, rows, shares, proportions, only=THRESHOLD_METRICS)
        try:
            choice = pu.choose_threshold(rows.counts, proportions[0], criterion, value, **how)
        except InvalidInputError as error:
            names = {"value": criterion, "criterion": "best"}
            error.parameter = names.get(str(error.parameter), error.parameter)
            if proportions[1] is None or "attainable" not in str(error.must):
                raise
            raise _if_estimates_hold(error, only(settings), criterion, how) from error
        report = only(replace(settings, threshold=choice.threshold), chosen_by=criterion)
    contradicted = report.contradicted
    found = choice.to_dict() | {
        "expected": {name: report.metrics[name] for name in choice.metrics},
        "interval": report.intervals.get(criterion),
        "intervals": report.intervals,
        "optimism": None if report.bootstrap is None else report.bootstrap.optimism,
        "confusion": report.confusion,
    }
    if contradicted:  # no threshold rests on an alpha that cannot be
        found = dict.fromkeys(found) | {"criterion": criterion, "wanted": value}
    if "json" in given:
        document = found | {
            "contradicted": contradicted,
            "proportions": report.proportions,
            "estimation": report.estimation,
            "checks": report.checks,
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
    return 0


def _criterion(given: Mapping[str, Any]) -> tuple[str, float | None]:
    """The one thing asked for."""
    asked = [name for name in (*_WISHES, "best") if name in given]
    if len(asked) != 1:
        options = ", ".join(f"--{name}" for name in _WISHES)
        got = ", ".join(f"--{name}" for name in asked) or "none of them"
        raise CommandError(
            f"purecover threshold needs exactly one of {options} and --best, got {got}.\n"
            "Hint: for example --precision 0.9, or --best f1."
        )
    if "best" not in given:
        return asked[0], given[asked[0]]
    name = given["best"].strip().casefold().replace("-", "_")
    if name in _WISHES:
        raise CommandError(
            f"--best {name} would choose a useless threshold, flagging next to nothing or nearly "
            f"everything.\nHint: say how much you want, such as --{name} {_WISHES[name]}."
        )
    from purecover.recovery.thresholds import THRESHOLD_METRICS

    useless = {*_WISHES, "specificity", "npv", "fdr"}
    choices = [metric for metric in THRESHOLD_METRICS if metric not in useless]
    if name not in choices:
        raise CommandError(
            f"--best must be one of {', '.join(choices)}, got {show(given['best'])}."
        )
    return name, None


def _if_estimates_hold(
    error: InvalidInputError, report: PUReport, criterion: str, how: Mapping[str, Any]
) -> CommandError:
    """A refusal that says what it rests on, and what the interval of alpha leaves open."""
    from purecover._documents.details import estimated_shares
    from purecover._documents.formats import bounded
    from purecover.recovery.thresholds import best_reachable

    found, (text, _, hint) = report.estimation, in_options(error).partition("\nHint: ")
    assert found is not None  # noqa: S101 - for the type checker
    word = "estimated from comparable data" if report.state == "estimated" else "estimates"
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
