"""Whether the rows are read here or counted by an engine, and which files are meant."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from purecover._validation import show
from purecover.cli._messages import CommandError
from purecover.cli._options import DASH, DataOptions, EngineOptions, ScoresOptions

__all__ = ["DEFAULT", "choose_engine", "expand"]

DEFAULT = "duckdb"
LARGE = 500_000_000
"""Bytes of a Parquet file beyond which it is counted where it is."""
_PARQUET = (".parquet", ".pq")
_TEXT = tuple(f".{kind}{packed}" for kind in ("csv", "tsv") for packed in ("", ".gz", ".zst"))
_PLAIN = DataOptions()


def choose_engine(
    files: Sequence[str],
    data: ScoresOptions,
    options: EngineOptions,
    truth: str | None,
    group: str | None,
) -> str | None:
    """The engine that counts the files; None if they are one file to be read here.

    Whatever only the rows themselves can tell is refused beside an engine. A large Parquet file
    does not bring one along where that, or the lack of DuckDB, stands in the way.
    """
    asked = next((o for o in ("by", "tolerance", "memory_limit") if _of(options, o)), None)
    several = len(files) > 1 or _is_folder(files[0]) or _is_pattern(files[0])
    why = _needs_rows(data, truth, group)
    if options.engine is None and asked is None and not several:
        large = why is None and len(data.score) < 2 and _is_large(files[0])
        large = large and find_spec(DEFAULT) is not None
        return DEFAULT if large else None
    engine = options.engine or DEFAULT
    if DASH in files:
        raise CommandError(
            f"standard input cannot be counted by {engine}, which may pass over it twice.\n"
            "Hint: write it to a file first."
        )
    if why is not None:
        raise CommandError(f"{why[0]} is not possible where {engine} counts the rows{why[1]}")
    if len(data.score) > 1:
        for option, value in (
            ("by", options.by),
            ("tolerance", options.tolerance),
            ("weight", data.weight),
        ):
            if value is not None:
                raise CommandError(
                    f"--{option} is for one --score where {engine} counts the rows.\n"
                    "Hint: evaluate the scores one by one."
                )
    if options.memory_limit is not None and engine != "duckdb":
        raise CommandError(
            f"--memory-limit is for DuckDB, not for {engine}.\n"
            f"Hint: leave it out, or configure {engine} itself."
        )
    return engine


def _of(options: EngineOptions, name: str) -> bool:
    return getattr(options, name) is not None


def _needs_rows(
    data: ScoresOptions, truth: str | None, group: str | None
) -> tuple[str, str] | None:
    """The option that an engine cannot serve, and the rest of the sentence."""
    rows = ": it needs the rows themselves.\nHint: give one file, without --engine."
    if truth is not None:
        return "--truth", rows
    if group is not None:
        return "--group", rows
    for name in ("format", "delimiter", "decimal", "encoding"):
        if getattr(data, name) != getattr(_PLAIN, name):
            return f"--{name}", (
                ", which finds out itself how a file is written.\n"
                "Hint: leave it out, or give one file, without --engine."
            )
    return None


# -- which files ------------------------------------------------------------------------------


def expand(files: Sequence[str]) -> list[str]:
    """Names of files, for those, folders and patterns."""
    found: list[str] = []
    for file in files:
        if "://" in file:  # the engine knows where that is
            found.append(file)
        elif _is_folder(file):
            found += _within(file)
        elif _exists(file):
            found.append(file)
        elif _is_pattern(file):
            # Path.glob takes no absolute patterns.
            matching = sorted(glob.glob(file, recursive=True))  # noqa: PTH207
            if not matching:
                raise CommandError(f"no file matches the pattern {show(file)}.")
            for name in matching:
                found += _within(name) if _is_folder(name) else [name]
        else:
            raise CommandError(f"there is no file {show(file)}.")
    strange = next((name for name in found if not _ends(name, (*_PARQUET, *_TEXT, ".txt"))), None)
    if strange is not None:
        raise CommandError(
            f"{show(strange)} cannot be counted by an engine: its name must end in .parquet, .csv "
            "or .tsv.\nHint: JSON and other files are read one at a time, without --engine and "
            "--by."
        )
    places = [name if "://" in name else os.path.realpath(name) for name in found]
    times = Counter(places)
    twice = next((n for n, place in zip(found, places, strict=True) if times[place] > 1), None)
    if twice is not None:
        raise CommandError(f"{show(twice)} is given twice; its rows would count twice.")
    return found


def _within(folder: str) -> list[str]:
    """Files of data in a folder and below it, without those that writers leave beside them."""
    found = []
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith((".", "_")))
        found += [
            str(Path(place, name))
            for name in sorted(names)
            if not name.startswith((".", "_")) and _ends(name, (*_PARQUET, *_TEXT))
        ]
    if not found:
        raise CommandError(f"{show(folder)} is a directory, not a file, without Parquet or CSV.")
    return found


def _ends(name: str, endings: tuple[str, ...]) -> bool:
    return name.casefold().endswith(endings)


def _exists(file: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(file).exists()
    return False


def _is_folder(file: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(file).is_dir()
    return False


def _is_pattern(file: str) -> bool:
    return "\0" not in file and glob.has_magic(file) and not _exists(file)


def _is_large(file: str) -> bool:
    with suppress(OSError, ValueError):
        return _ends(file, _PARQUET) and Path(file).stat().st_size > LARGE
    return False
