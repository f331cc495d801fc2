"""The command ``purecover threshold``; what it does lives in the module it imports when run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from purecover.cli._options import (
    CRITERION,
    INTERVALS,
    OUTPUT,
    AssumptionOptions,
    DataOptions,
    Flag,
    IntervalOptions,
    Quiet,
    Share,
    Text,
    WeightOptions,
    Whole,
)

__all__ = ["threshold"]


@Parameter(name="*", group=INTERVALS)
@dataclass(frozen=True, kw_only=True)
class ThresholdIntervalOptions(IntervalOptions):
    """How sure one may be.

    Parameters
    ----------
    resamples
        Bootstrap resamples for the interval of what was asked for; 0 for none.
    """

    resamples: Whole = 500


NO_DATA_OPTIONS = DataOptions()
NO_ASSUMPTIONS = AssumptionOptions()
NO_WEIGHTS = WeightOptions()
NO_INTERVAL_OPTIONS = ThresholdIntervalOptions()


def threshold(
    file: str,
    /,
    *,
    data: DataOptions = NO_DATA_OPTIONS,
    assumptions: AssumptionOptions = NO_ASSUMPTIONS,
    precision: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    recall: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    fpr: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    specificity: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    npv: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    fdr: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    best: Annotated[Text, Parameter(group=CRITERION)] = None,
    weights: WeightOptions = NO_WEIGHTS,
    intervals: ThresholdIntervalOptions = NO_INTERVAL_OPTIONS,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    strict: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
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
    from purecover.cli._threshold import run_threshold

    wanted = {
        "precision": precision,
        "recall": recall,
        "fpr": fpr,
        "specificity": specificity,
        "npv": npv,
        "fdr": fdr,
    }
    return run_threshold(
        file,
        data,
        assumptions,
        wanted=wanted,
        best=best,
        weights=weights,
        intervals=intervals,
        json=json,
        strict=strict,
        quiet=quiet,
    )
