"""``purecover threshold``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import purecover as pu
from purecover.cli.evaluate import SHARES, exit_code
from purecover.cli.options import COLUMNS, chosen, takes
from purecover.cli.output import CommandError, deliver, print_json, show, tell
from purecover.exceptions import InvalidInputError

_WISHES = {"precision": 0.9, "recall": 0.9, "fpr": 0.05}
"""Metrics that can have a target value, with an example of the value."""


@takes(
    f"{COLUMNS} negative_label {SHARES} judged precision recall fpr best n_resamples json quiet",
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
    from purecover.cli.rows import prepare
    from purecover.documents.thresholds import threshold_text

    quiet = "quiet" in given
    found = prepare(file, given, can_vary=True, repair="isotonic", **chosen(given, "n_resamples"))
    counts, used, estimation = found.rows.counts, found.shares.used, found.shares.estimation
    try:
        choice = pu.choose_threshold(counts, used, criterion, value, repair="isotonic")
    except InvalidInputError as error:
        names = {"value": criterion, "criterion": "best"}
        error.parameter = names.get(str(error.parameter), error.parameter)
        if estimation is not None and value is not None and 0 <= value <= 1:
            error.hint = (
                f"{error.hint or 'ask for less'}. Alpha is estimated as {used.alpha:.3f}; give "
                "--alpha if you know it, or judge high-scoring rows by hand (purecover audit "
                "sample)."
            )
        raise
    report = found.report(
        threshold=choice.threshold, only=_threshold_metrics(), chosen_by=criterion
    )
    source = found.read.source(file)
    document = choice.to_dict() | {
        "expected": {name: report.metrics[name] for name in choice.metrics},
        "interval": report.intervals.get(criterion),
        "intervals": report.intervals,
        "hardly_known": report.hardly_known,
        "optimism": None if report.bootstrap is None else report.bootstrap.optimism,
        "confusion": report.confusion,
    }
    if report.contradicted:  # no threshold follows from an alpha that cannot be
        document = dict.fromkeys(document) | {"criterion": criterion, "wanted": value}
    document |= {
        "contradicted": report.contradicted,
        "proportions": report.proportions,
        "estimation": report.estimation,
        "checks": report.checks,
    }
    if report.contradicted:
        if "json" in given:
            print_json(document | {"source": source})
        return exit_code(report, given)
    if quiet and "json" not in given:
        # repr, so that the threshold printed is the threshold chosen to the last digit.
        tell(repr(choice.threshold))
    deliver(choice, given, source, text=threshold_text(choice, report), document=document)
    return 0


def _threshold_metrics() -> list[str]:
    return [name for name, metric in pu.METRICS.items() if metric.kind == "threshold"]


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
    from purecover.recovery.thresholds import WITH_VALUE

    choices = [metric for metric in _threshold_metrics() if metric not in WITH_VALUE]
    if name not in choices:
        wish = f"\nHint: say how much, such as --{name} {_WISHES[name]}." if name in _WISHES else ""
        raise CommandError(
            f"--best must be one of {', '.join(choices)}, got {show(given['best'])}.{wish}"
        )
    return name, None
