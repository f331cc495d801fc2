"""``purecover monitor``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from purecover._validation import show
from purecover.cli._data import Rows, note_blank_labels, read_rows
from purecover.cli._messages import CommandError, in_options, rename
from purecover.cli._options import DASH, DataOptions, undash
from purecover.cli._output import check_writable, print_json
from purecover.cli._progress import progress_bars
from purecover.exceptions import PurecoverError
from purecover.monitoring import MonitorPartition, ScoreMonitor
from purecover.monitoring.monitor import monitor_text

__all__ = ["run_monitor"]

_KEPT = ("score", "labeled", "weight", "positive_label", "negative_label")
"""Options about columns that a state file remembers."""
_WORDS = {
    "path": "STATE",
    "name": "--name",
    "window": "--window",
    "false_alarms": "--false-alarms",
}
_ENDINGS = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".txt")


def run_monitor(
    state: str,
    file: str | None,
    data: DataOptions,
    *,
    name: str | None,
    replace: bool,
    settings: dict[str, Any],
    fail_on_drift: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Add a partition or show them, print, return the exit code."""
    if state in (DASH, ""):
        raise CommandError("STATE must name a file.")
    try:
        if file is None:
            monitor = _shown(state, name, replace, settings)
            newest = monitor.partitions[-1]
        else:
            monitor, newest = _added(state, file, data, name, replace, settings, quiet)
    except CommandError:
        raise
    except PurecoverError as error:
        said = rename(str(error), _WORDS).replace("replace=True", "--replace")
        raise CommandError(in_options(said)) from error
    if json:
        document = monitor.to_dict()
        document["newest"] = newest.name
        print_json(document)
    elif not quiet:
        print(monitor_text(monitor, newest))  # noqa: T201
    drifted = newest.drift is not None and newest.drift.drifted
    return 1 if fail_on_drift and drifted else 0


def _shown(state: str, name: str | None, replacing: bool, settings: dict[str, Any]) -> ScoreMonitor:
    if name is not None or replacing or settings:
        raise CommandError("without FILE there is no partition to add: give STATE alone.")
    monitor = ScoreMonitor.load(state)
    if not monitor.partitions:
        raise CommandError(f"{show(state)} holds no partition yet.")
    return monitor


def _added(
    state: str,
    file: str,
    data: DataOptions,
    name: str | None,
    replacing: bool,
    settings: dict[str, Any],
    quiet: bool,
) -> tuple[ScoreMonitor, MonitorPartition]:
    check_writable("STATE", state, not_this=file)
    name = _name_of(file) if name is None else undash(name)
    kept: dict[str, str] = {}
    if Path(state).exists():
        before = ScoreMonitor.load(state)
        kept = before.settings["columns"]
        # Said before a long file is read; another process may still be faster.
        before._settings.require(settings)
        before._place(name, replacing)
    else:
        ScoreMonitor(**settings)
    with progress_bars(quiet=quiet) as steps:
        with _in_words(data, kept):
            rows = read_rows(
                file,
                _with_kept(data, kept),
                progress=steps("Reading"),
            )
        monitor = ScoreMonitor.update(
            state,
            name,
            rows.scores,
            rows.label_column,
            sample_weight=rows.weights,
            negative_label=rows.negative_label,
            replace=replacing,
            settings={**settings, "columns": _columns(data, rows)},
        )
    note_blank_labels(rows, quiet=quiet)
    return monitor, next(p for p in monitor.partitions if p.name == name)


def _name_of(file: str) -> str:
    if file == DASH:
        raise CommandError("--name is needed for what comes from standard input.")
    name = Path(file).name
    name = name.removesuffix(".gz")
    ending = next((e for e in _ENDINGS if name.casefold().endswith(e)), "")
    return (name[: -len(ending)] if ending else name).strip() or name


def _with_kept(data: DataOptions, kept: dict[str, str]) -> DataOptions:
    """Options about columns, those of the first partition where nothing is said now."""
    unsaid = {k: v for k, v in kept.items() if k in _KEPT and getattr(data, k) is None}
    return dataclasses.replace(data, **unsaid)  # type: ignore[arg-type]


@contextmanager
def _in_words(data: DataOptions, kept: dict[str, str]) -> Iterator[None]:
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


def _columns(data: DataOptions, rows: Rows) -> dict[str, str]:
    said = {key: undash(getattr(data, key)) for key in ("positive_label", "negative_label")}
    named = {
        key: rows.columns[key] for key in ("score", "labeled", "weight") if key in rows.columns
    }
    return named | {key: value for key, value in said.items() if value is not None}
