"""``purecover monitor``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import purecover as pu
from purecover.cli import output
from purecover.cli.options import COLUMNS, chosen, takes
from purecover.cli.output import STDIO, CommandError

_SETTINGS = "alpha beta false_alarms n_resamples"


@takes(
    f"name replace {COLUMNS} {_SETTINGS} fail_on_drift json html quiet",
    alpha="Share of positives among the unlabeled; estimated in each partition if omitted.",
    n_resamples="Bootstrap replicates if alpha is estimated, as in evaluate; 0 for none.",
)
def monitor(state: str, file: str | None = None, /, **given: Any) -> int:
    """Add the scores in FILE to the running counts in STATE, and test whether they drift.

    Without FILE it shows the content of STATE. STATE keeps the assumptions and other settings of
    its first partition, which need not be given again.

    Parameters
    ----------
    state
        JSON file of running counts; made if it does not exist.
    file
        Scores of one partition, such as a day: CSV, TSV, JSON (an object per line, or an array of
        objects) or Parquet; text may be gzipped; - reads standard input.
    """
    from purecover.cli.rows import Columns, read_rows
    from purecover.monitoring.text import monitor_page

    settings = chosen(given, _SETTINGS)
    if state in (STDIO, ""):
        raise CommandError("STATE must name a file.")
    output.check_outputs(given, "html", not_this=state)
    if file is None:
        if settings or given.keys() & {"name", "replace"}:
            raise CommandError("without FILE there is no partition to add: give STATE alone.")
        stored = pu.monitoring.ScoreMonitor.load(state)
    else:
        output.check_writable("STATE", state, not_this=file)
        if file == STDIO and "name" not in given:
            raise CommandError("--name is needed for standard input.")
        rows = read_rows(file, Columns.among(given))
        stored = pu.monitoring.ScoreMonitor.update(
            state,
            given.get("name", Path(file.removesuffix(".gz")).stem),
            pu.ScoreCounts.from_scores(rows.scores, **rows.beside),
            replace=given.get("replace", False),
            settings=settings,
        )
        output.note_blanks(rows.source(file), quiet="quiet" in given)
    source = {"file": Path(state).name}
    page = partial(monitor_page, stored.state, command=output.typed_command(), source=source)
    output.deliver(stored, given, {}, html=page)
    last = stored.partitions[-1]
    contradicted = last.auc is None and last.alpha is not None
    if contradicted:
        output.say(f"purecover: {last.name}: {last.note}.")
    return int(contradicted or ("fail_on_drift" in given and last.drifted))
