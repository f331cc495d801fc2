"""The command ``purecover monitor``; what it does lives in the module it imports when run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from purecover.cli._options import (
    ASSUMPTIONS,
    OUTPUT,
    RESAMPLING,
    DataOptions,
    Flag,
    Positive,
    PriorOptions,
    Quiet,
    Share,
    Text,
    Whole,
)

__all__ = ["monitor"]

PARTITION = Group("Partition", sort_key=1)
DRIFT = Group("Drift", sort_key=3)


@Parameter(name="*", group=ASSUMPTIONS)
@dataclass(frozen=True, kw_only=True)
class PartitionAssumptionOptions(PriorOptions):
    """What is known about the labels of all partitions.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled; estimated in each partition if nothing is said.
    """


NO_DATA_OPTIONS = DataOptions()
NO_ASSUMPTIONS = PartitionAssumptionOptions()


def monitor(
    state: str,
    file: str | None = None,
    /,
    *,
    name: Annotated[Text, Parameter(group=PARTITION)] = None,
    replace: Annotated[Flag, Parameter(group=PARTITION)] = False,
    data: DataOptions = NO_DATA_OPTIONS,
    assumptions: PartitionAssumptionOptions = NO_ASSUMPTIONS,
    window: Annotated[Positive | None, Parameter(group=DRIFT)] = None,
    false_alarms: Annotated[Share | None, Parameter(group=DRIFT)] = None,
    fail_on_drift: Annotated[Flag, Parameter(group=DRIFT)] = False,
    resamples: Annotated[Whole | None, Parameter(group=RESAMPLING)] = None,
    confidence_level: Annotated[Share | None, Parameter(group=RESAMPLING)] = None,
    seed: Annotated[Whole | None, Parameter(group=RESAMPLING)] = None,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Add the scores in FILE to the running counts in STATE, and say whether they drift.

    Without FILE it shows what STATE holds. STATE keeps the assumptions and other settings of its
    first partition, which need not be given again.

    Parameters
    ----------
    state
        JSON file of running counts; made if it is not there.
    file
        Scores of one partition, such as a day: CSV, TSV, JSON (an object per line, or an array of
        objects) or Parquet; text may be gzipped; - reads standard input.
    name
        What to call the partition; the file's name without its ending by default.
    replace
        Take the place of the partition of the same name instead of refusing it.
    window
        Compare a partition with up to so many before it; 30 by default.
    false_alarms
        Probability with which any look ever finds drift where there is none; 0.05 by default.
    fail_on_drift
        Exit with 1 if the partition, or without FILE the last one, differs from those before it.
    resamples
        Bootstrap resamples where alpha is estimated; 500 by default, 0 for none.
    confidence_level
        Confidence level of intervals; 0.95 by default.
    seed
        Seed of the bootstrap; 0 by default.
    json
        Print one JSON document and nothing else.
    quiet
        Print no table, notes or progress.
    """
    from purecover.cli._monitor import run_monitor

    settings = {
        **asdict(assumptions),
        "window": window,
        "false_alarms": false_alarms,
        "n_resamples": resamples,
        "confidence_level": confidence_level,
        "random_state": seed,
    }
    return run_monitor(
        state,
        file,
        data,
        name=name,
        replace=replace,
        settings={key: value for key, value in settings.items() if value is not None},
        fail_on_drift=fail_on_drift,
        json=json,
        quiet=quiet,
    )
