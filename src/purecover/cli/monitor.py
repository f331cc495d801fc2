"""``purecover monitor``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import purecover as pu
from purecover.cli import output
from purecover.cli.options import COLUMNS, chosen, takes
from purecover.cli.output import STDIO, CommandError, show

if TYPE_CHECKING:
    from purecover.cli.rows import FileRows
    from purecover.monitoring import ScoreMonitor

_SETTINGS = "alpha beta estimator window false_alarms threshold"


@takes(
    f"name replace {COLUMNS} {_SETTINGS} fail_on_drift json html quiet",
    alpha="Share of positives among the unlabeled; estimated in each partition if nothing is said.",
    threshold="Scores from here on are flagged: watch the share of unlabeled rows that are.",
)
def monitor(state: str, file: str | None = None, /, **given: Any) -> int:
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
    """
    from purecover.monitoring.monitor import monitor_page, monitor_text

    settings, html, quiet = chosen(given, _SETTINGS), given.get("html"), given.get("quiet", False)
    if state in (STDIO, ""):
        raise CommandError("STATE must name a file.")
    if html is not None:
        output.check_outputs({"--html": html}, not_this=state)
    if file is None:
        held = _load(state, {**chosen(given, "name replace"), **settings})
        newest = held.partitions[-1]
    else:
        output.check_writable("STATE", state, not_this=file)
        name = given.get("name") or _name_of(file)
        with output.progress_bars(quiet=quiet) as steps:
            steps("Reading")
            rows, columns = _read(file, given, state)
            held = pu.monitoring.ScoreMonitor.update(
                state,
                name,
                rows.scores,
                rows.label_column,
                **rows.beside,
                replace=given.get("replace", False),
                settings={**settings, "columns": columns},
            )
        rows.note_blanks(quiet=quiet)
        newest = next(each for each in held.partitions if each.name == name)
    if "json" in given:
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
    return 1 if newest.contradicted or ("fail_on_drift" in given and drifted) else 0


def _load(state: str, settings: Mapping[str, Any]) -> ScoreMonitor:
    if settings:
        raise CommandError("without FILE there is no partition to add: give STATE alone.")
    monitor = pu.monitoring.ScoreMonitor.load(state)
    if not monitor.partitions:
        raise CommandError(f"{show(state)} holds no partition yet.")
    return monitor


def _name_of(file: str) -> str:
    if file == STDIO:
        raise CommandError("--name is needed for what comes from standard input.")
    name = Path(file).name.removesuffix(".gz")
    from purecover.cli.files import FORMATS

    ending = next((e for e in FORMATS if name.casefold().endswith(e)), "")
    return (name[: -len(ending)] if ending else name).strip() or name


def _read(file: str, given: Mapping[str, Any], state: str) -> tuple[FileRows, dict[str, str]]:
    """The rows, and the columns that STATE is to remember.

    Options about columns are those of the first partition where nothing is said.
    """
    from purecover.cli.rows import Columns, read_rows

    before: dict[str, Any] = {}
    if Path(state).exists():
        before = dict(pu.monitoring.ScoreMonitor.load(state).settings["columns"])
    if "score" in before:
        before["score"] = (before["score"],)
    columns = Columns.among(before | dict(given))
    rows = read_rows(file, columns)
    labels = {} if columns.positive_label is None else {"positive_label": columns.positive_label}
    return rows, {**rows.columns, **labels}
