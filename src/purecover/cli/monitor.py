"""``purecover monitor``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli import output
from purecover.cli.output import STDIO, CommandError

PARTITION = Group("Partition", sort_key=1)
DRIFT = Group("Drift", sort_key=3)


class MonitorOptions(opt.PriorOptions, group=opt.ASSUMPTIONS):
    """Settings that the state file keeps from its first partition on.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled; estimated in each partition if omitted.
    window
        Compare a partition with up to this number of partitions before it; 30 by default.
    false_alarms
        Probability that any comparison finds drift without drift; 0.05 by default.
    n_resamples
        Bootstrap replicates if alpha is estimated, as in evaluate; 0 for none.
    confidence_level
        Confidence level of intervals; 0.95 by default.
    random_state
        Seed of the bootstrap; 0 by default.
    """

    window: Annotated[opt.Positive | None, Parameter(group=DRIFT)] = None
    false_alarms: Annotated[opt.Share | None, Parameter(group=DRIFT)] = None
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
    kept: MonitorOptions = MonitorOptions(),
    fail_on_drift: Annotated[opt.Flag, Parameter(group=DRIFT)] = False,
    json: opt.Json = False,
    html: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Add the scores in FILE to the running counts in STATE, and test whether they drift.

    Without FILE it shows what STATE holds. STATE keeps the assumptions and other settings of its
    first partition, which need not be given again.

    Parameters
    ----------
    state
        JSON file of running counts; made if it does not exist.
    file
        Scores of one partition, such as a day: CSV, TSV, JSON (an object per line, or an array of
        objects) or Parquet; text may be gzipped; - reads standard input.
    name
        Name of the partition; the file name without its ending by default.
    replace
        Replace the last partition if it has the same name.
    fail_on_drift
        Exit with 1 if the last partition differs from the partitions before it.
    html
        Write a timeline and the table as a web page to this file.
    quiet
        Print no table, notes or progress.
    """
    from purecover.cli.rows import read_rows
    from purecover.monitoring.text import monitor_page

    settings = {key: value for key, value in vars(kept).items() if value not in (None, ())}
    if state in (STDIO, ""):
        raise CommandError("STATE must name a file.")
    if html is not None:
        output.check_outputs({"--html": html}, not_this=state)
    with output.in_words({"path": "STATE", "replace": "--replace"}):
        if file is None:
            if name is not None or replace or settings:
                raise CommandError("without FILE there is no partition to add: give STATE alone.")
            held = pu.monitoring.ScoreMonitor.load(state)
        else:
            output.check_writable("STATE", state, not_this=file)
            if file == STDIO and name is None:
                raise CommandError("--name is needed for standard input.")
            with output.progress_bars(quiet=quiet) as steps:
                steps("Reading")
                rows = read_rows(file, data)
                held = pu.monitoring.ScoreMonitor.update(
                    state,
                    Path(file.removesuffix(".gz")).stem if name is None else name,
                    rows.scores,
                    rows.label_column,
                    replace=replace,
                    settings=settings,
                    **rows.beside,
                )
            rows.note_blanks(quiet=quiet)
    if json:
        output.print_json(held.to_dict())
    elif not quiet:
        output.tell(str(held))
    if html is not None:
        source = {"file": Path(state).name}
        page = monitor_page(held, command=output.typed_command(), source=source)
        output.write_file("--html", html, page, "page", quiet=quiet)
    last = held.partitions[-1]
    contradicted = last.auc is None and last.alpha is not None
    if contradicted:
        output.say(f"purecover: {last.name}: {last.note}.")
    return int(contradicted or (fail_on_drift and last.drifted))
