"""``purecover monitor``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.output import (
    DASH,
    CommandError,
    check_writable,
    in_options,
    print_json,
    progress_bars,
    show,
    undash,
)
from purecover.exceptions import PurecoverError

if TYPE_CHECKING:
    from purecover.cli.rows import Rows
    from purecover.monitoring import MonitorPartition, ScoreMonitor

__all__ = ["monitor"]

PARTITION = Group("Partition", sort_key=1)
DRIFT = Group("Drift", sort_key=3)
_KEPT = ("score", "labeled", "weight", "positive_label", "negative_label")
"""Options about columns that a state file remembers."""
_WORDS = {
    "path": "STATE",
    "name": "--name",
    "window": "--window",
    "false_alarms": "--false-alarms",
}


@Parameter(name="*", group=opt.ASSUMPTIONS)
@dataclass(frozen=True, kw_only=True)
class PartitionAssumptionOptions(opt.PriorOptions):
    """What is known about the labels of all partitions.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled; estimated in each partition if nothing is said.
    """


NO_DATA_OPTIONS = opt.DataOptions()
NO_ASSUMPTIONS = PartitionAssumptionOptions()


def monitor(
    state: str,
    file: str | None = None,
    /,
    *,
    name: Annotated[opt.Text, Parameter(group=PARTITION)] = None,
    replace: Annotated[opt.Flag, Parameter(group=PARTITION)] = False,
    data: opt.DataOptions = NO_DATA_OPTIONS,
    assumptions: PartitionAssumptionOptions = NO_ASSUMPTIONS,
    window: Annotated[opt.Positive | None, Parameter(group=DRIFT)] = None,
    false_alarms: Annotated[opt.Share | None, Parameter(group=DRIFT)] = None,
    fail_on_drift: Annotated[opt.Flag, Parameter(group=DRIFT)] = False,
    resamples: Annotated[opt.Whole | None, Parameter(group=opt.RESAMPLING)] = None,
    confidence_level: Annotated[opt.Share | None, Parameter(group=opt.RESAMPLING)] = None,
    seed: Annotated[opt.Whole | None, Parameter(group=opt.RESAMPLING)] = None,
    json: Annotated[opt.Flag, Parameter(group=opt.OUTPUT)] = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
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
    from purecover.monitoring.monitor import monitor_text

    given = {
        **asdict(assumptions),
        "window": window,
        "false_alarms": false_alarms,
        "n_resamples": resamples,
        "confidence_level": confidence_level,
        "random_state": seed,
    }
    settings = {key: value for key, value in given.items() if value is not None}
    if state in (DASH, ""):
        raise CommandError("STATE must name a file.")
    try:
        if file is None:
            held = _shown(state, name, replace, settings)
            newest = held.partitions[-1]
        else:
            held, newest = _added(state, file, data, name, replace, settings, quiet)
    except CommandError:
        raise
    except PurecoverError as error:
        said = in_options(error, _WORDS).replace("replace=True", "--replace")
        raise CommandError(said) from error
    if json:
        document = held.to_dict()
        document["newest"] = newest.name
        print_json(document)
    elif not quiet:
        print(monitor_text(held, newest))  # noqa: T201
    drifted = newest.drift is not None and newest.drift.drifted
    return 1 if fail_on_drift and drifted else 0


def _shown(state: str, name: str | None, replacing: bool, settings: dict[str, Any]) -> ScoreMonitor:
    if name is not None or replacing or settings:
        raise CommandError("without FILE there is no partition to add: give STATE alone.")
    monitor = pu.monitoring.ScoreMonitor.load(state)
    if not monitor.partitions:
        raise CommandError(f"{show(state)} holds no partition yet.")
    return monitor


def _added(
    state: str,
    file: str,
    data: opt.DataOptions,
    name: str | None,
    replacing: bool,
    settings: dict[str, Any],
    quiet: bool,
) -> tuple[ScoreMonitor, MonitorPartition]:
    from purecover.cli.rows import read_rows

    check_writable("STATE", state, not_this=file)
    name = _name_of(file) if name is None else undash(name)
    kept: dict[str, str] = {}
    if Path(state).exists():
        before = pu.monitoring.ScoreMonitor.load(state)
        kept = before.settings["columns"]
        # Said before a long file is read; another process may still be faster.
        before._settings.require(settings)
        before._place(name, replacing)
    else:
        pu.monitoring.ScoreMonitor(**settings)
    with progress_bars(quiet=quiet) as steps:
        with _in_words(data, kept):
            steps("Reading")
            rows = read_rows(file, _with_kept(data, kept))
        monitor = pu.monitoring.ScoreMonitor.update(
            state,
            name,
            rows.scores,
            rows.label_column,
            sample_weight=rows.weights,
            negative_label=rows.negative_label,
            replace=replacing,
            settings={**settings, "columns": _columns(data, rows)},
        )
    rows.note_blanks(quiet=quiet)
    return monitor, next(p for p in monitor.partitions if p.name == name)


def _name_of(file: str) -> str:
    if file == DASH:
        raise CommandError("--name is needed for what comes from standard input.")
    name = Path(file).name
    name = name.removesuffix(".gz")
    from purecover.cli.files import FORMATS

    ending = next((e for e in FORMATS if name.casefold().endswith(e)), "")
    return (name[: -len(ending)] if ending else name).strip() or name


def _with_kept(data: opt.DataOptions, kept: dict[str, str]) -> opt.DataOptions:
    """Options about columns, those of the first partition where nothing is said now."""
    unsaid = {k: v for k, v in kept.items() if k in _KEPT and getattr(data, k) is None}
    return dataclasses.replace(data, **unsaid)  # type: ignore[arg-type]


@contextmanager
def _in_words(data: opt.DataOptions, kept: dict[str, str]) -> Iterator[None]:
    """Complaints about columns that were not asked for now, as what they are."""
    try:
        yield
    except CommandError as error:
        said = str(error)
        for key in ("score", "labeled", "weight"):
            asked = f", asked for by --{key}."
            if key in kept and getattr(data, key) is None and asked in said:
                said = said.replace(asked, ", as the first partition in STATE has.")
                said = f"{said}\nGive --{key} if it has another name now."
                raise CommandError(said) from error
        raise


def _columns(data: opt.DataOptions, rows: Rows) -> dict[str, str]:
    said = {key: undash(getattr(data, key)) for key in ("positive_label", "negative_label")}
    named = {
        key: rows.columns[key] for key in ("score", "labeled", "weight") if key in rows.columns
    }
    return named | {key: value for key, value in said.items() if value is not None}
