"""``purecover monitor``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli import output
from purecover.cli.output import STDIO, CommandError, show

if TYPE_CHECKING:
    from purecover.cli.rows import Rows
    from purecover.monitoring import ScoreMonitor

PARTITION = Group("Partition", sort_key=1)
DRIFT = Group("Drift", sort_key=3)


class PartitionAssumptionOptions(opt.PriorOptions, group=opt.ASSUMPTIONS):
    """What is known about the labels of all partitions.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled; estimated in each partition if nothing is said.
    """


class MonitorOptions(opt.Options):
    """What a state file keeps from its first partition on.

    Parameters
    ----------
    window
        Compare a partition with up to so many before it; 30 by default.
    false_alarms
        Probability with which any look ever finds drift where there is none; 0.05 by default.
    threshold
        Scores from here on are flagged: watch the share of unlabeled rows that are.
    n_resamples
        Bootstrap resamples where alpha is estimated; 500 by default, 0 for none.
    confidence_level
        Confidence level of intervals; 0.95 by default.
    random_state
        Seed of the bootstrap; 0 by default.
    """

    window: Annotated[opt.Positive | None, Parameter(group=DRIFT)] = None
    false_alarms: Annotated[opt.Share | None, Parameter(group=DRIFT)] = None
    threshold: Annotated[opt.Number | None, Parameter(group=DRIFT)] = None
    n_resamples: Annotated[opt.Whole | None, Parameter("--resamples", group=opt.RESAMPLING)] = None
    confidence_level: Annotated[opt.Share | None, Parameter(group=opt.RESAMPLING)] = None
    random_state: Annotated[opt.Whole | None, Parameter("--seed", group=opt.RESAMPLING)] = None


def monitor(
    state: str,
    file: str | None = None,
    /,
    *,
    name: Annotated[opt.Text, Parameter(group=PARTITION)] = None,
    replace: Annotated[opt.Flag, Parameter(group=PARTITION)] = False,
    data: opt.DataOptions = opt.DataOptions(),
    assumptions: PartitionAssumptionOptions = PartitionAssumptionOptions(),
    kept: MonitorOptions = MonitorOptions(),
    fail_on_drift: Annotated[opt.Flag, Parameter(group=DRIFT)] = False,
    json: opt.Json = False,
    html: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
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
    fail_on_drift
        Exit with 1 if the partition, or without FILE the last one, differs from those before it.
    html
        Write a timeline and the table as a web page to this file.
    quiet
        Print no table, notes or progress.
    """
    from purecover.monitoring.monitor import monitor_page, monitor_text

    given = {**vars(assumptions), **vars(kept)}
    settings = {key: value for key, value in given.items() if value not in (None, ())}
    if state in (STDIO, ""):
        raise CommandError("STATE must name a file.")
    if html is not None:
        output.check_outputs({"--html": html}, not_this=state)
    with output.in_words({"path": "STATE", "replace": "--replace"}):
        if file is None:
            held = _shown(state, name, replace, settings)
            newest = held.partitions[-1]
        else:
            output.check_writable("STATE", state, not_this=file)
            name = _name_of(file) if name is None else name
            before = _columns_before(state, name, replace, settings)
            with output.progress_bars(quiet=quiet) as steps:
                steps("Reading")
                rows = _read(file, data, before)
                held = pu.monitoring.ScoreMonitor.update(
                    state,
                    name,
                    rows.scores,
                    rows.label_column,
                    **rows.beside,
                    replace=replace,
                    settings={**settings, "columns": _columns(data, rows)},
                )
            rows.note_blanks(quiet=quiet)
            newest = next(each for each in held.partitions if each.name == name)
    if json:
        output.print_json(held.to_dict() | {"newest": newest.name})
    elif not quiet:
        output.tell(monitor_text(held, newest))
    if html is not None:
        source = {"file": Path(state).name}
        page = monitor_page(held, newest, command=output.typed_command(), source=source)
        output.write_file("--html", html, page, "page", quiet=quiet)
    if newest.contradicted:
        output.say(f"purecover: {newest.name}: {newest.note}")
    drifted = newest.drift is not None and newest.drift.drifted
    return 1 if newest.contradicted or (fail_on_drift and drifted) else 0


def _shown(state: str, name: str | None, replacing: bool, settings: dict[str, Any]) -> ScoreMonitor:
    if name is not None or replacing or settings:
        raise CommandError("without FILE there is no partition to add: give STATE alone.")
    monitor = pu.monitoring.ScoreMonitor.load(state)
    if not monitor.partitions:
        raise CommandError(f"{show(state)} holds no partition yet.")
    return monitor


def _columns_before(
    state: str, name: str, replacing: bool, settings: dict[str, Any]
) -> dict[str, str]:
    """What the state file remembers of columns; complains before a long file is read."""
    if not Path(state).exists():
        pu.monitoring.ScoreMonitor(**settings)
        return {}
    before = pu.monitoring.ScoreMonitor.load(state)
    # Another process may still be faster.
    before._settings.require(settings)
    before._place(name, replacing)
    return before.settings["columns"]


def _name_of(file: str) -> str:
    if file == STDIO:
        raise CommandError("--name is needed for what comes from standard input.")
    name = Path(file).name.removesuffix(".gz")
    from purecover.cli.files import FORMATS

    ending = next((e for e in FORMATS if name.casefold().endswith(e)), "")
    return (name[: -len(ending)] if ending else name).strip() or name


def _read(file: str, data: opt.DataOptions, kept: dict[str, str]) -> Rows:
    """The rows; options about columns are those of the first partition where nothing is said."""
    from purecover.cli.rows import read_rows

    unsaid = {key: kept[key] for key in kept if getattr(data, key, "") is None}
    try:
        return read_rows(file, dataclasses.replace(data, **unsaid))  # type: ignore[arg-type]
    except CommandError as error:
        said = str(error)
        for key in unsaid:
            asked = f", asked for by --{key}."
            if asked in said:
                said = said.replace(asked, ", as the first partition in STATE has.")
                said += f"\nGive --{key} if it has another name now."
        raise CommandError(said) from error


def _columns(data: opt.DataOptions, rows: Rows) -> dict[str, str]:
    """What the state file is to remember."""
    labels = {"positive_label": data.positive_label, "negative_label": data.negative_label}
    found = {**rows.columns, **labels}
    return {key: value for key, value in found.items() if value is not None}
