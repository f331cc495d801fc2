"""Files of any size as a lazy frame: Parquet or CSV, which DuckDB streams."""

from __future__ import annotations

import atexit
import glob
import os
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from purecover import _validation as valid
from purecover._folders import private_folder
from purecover._validation import public

_UNTIL_EXIT = ExitStack()
FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".pin"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
}
"""Formats by the suffix of a file name; the command line and the local page read all of them."""
_PLAIN_CSV: dict[str, Any] = {
    "header": True, "comment": "", "quotechar": '"', "escapechar": '"', "skiprows": 0,
    "null_padding": False, "ignore_errors": False,
}  # fmt: skip
"""Where DuckDB is left to find out, it takes rows that begin with # for comments."""


def duckdb_connection(spill: Path, **config: Any) -> Any:
    """A database in memory, which writes what does not fit there to a folder of ours.

    Nothing is downloaded, whatever the name of a file looks like.
    """
    import duckdb

    # By itself DuckDB would write to .tmp in the current folder, readable by everyone.
    ours: Any = {"autoinstall_known_extensions": False, "temp_directory": str(spill)}
    return duckdb.connect(":memory:", config=ours | config)


def suffix_of(name: str) -> str:
    """Return the suffix of a file name, without those of compression."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    return next((each for each in reversed(suffixes) if each not in (".gz", ".zst")), "")


def matching(name: str) -> list[str]:
    """Return the files that a pattern means; a name that is no pattern, or of a file, itself."""
    if "\0" in name or not glob.has_magic(name) or os.path.exists(name):  # noqa: PTH110
        return [name]
    return sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - Path takes none from the root


def check_different(names: Sequence[str]) -> None:
    """Refuse a file, or a link to it, that stands among the names twice."""
    seen = set()
    for name in names:
        try:
            about = os.stat(name)  # noqa: PTH116 - also names that are no paths
            place: Any = about.st_dev, about.st_ino
        except (OSError, ValueError):  # no file on this machine
            place = name
        if place in seen:
            hint = "its rows would count twice; name it once"
            raise valid.bad_value("paths", "different files", f"{valid.show(name)} twice", hint)
        seen.add(place)


def check_one_format(names: Sequence[str]) -> None:
    """Refuse files of several formats; those without a known suffix are text."""
    kinds = sorted({FORMATS.get(suffix_of(name), "csv") for name in names})
    if len(kinds) > 1:
        hint = "a pattern such as '*.parquet' means those of one"
        raise valid.bad_value("paths", "files of one format", " and ".join(kinds), hint)


@public
def scan_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Any:
    r"""Parquet or CSV files as one lazy frame of DuckDB, to be counted without loading them.

    Parameters
    ----------
    paths : str, path or list of them
        Files or patterns such as ``"scores/*.parquet"``, which mean no names that begin with a dot;
        all of one format, which their names show.
        No two may mean the same file. A folder called ``day=1`` is no column; for such columns
        pass a frame of your engine to :meth:`ScoreCounts.from_frame`. A name with ``://`` is for
        DuckDB to fetch.
    memory_limit : str, optional
        The most memory DuckDB may use, such as ``"2GB"``; it writes to disk what does not fit.
        By default four fifths of the machine's memory.
    threads : int, optional
        How many threads DuckDB may use; as many as there are processors by default.

    Returns
    -------
    duckdb.DuckDBPyRelation
        The frame, for :meth:`ScoreCounts.from_frame` or :func:`evaluate`.

    See Also
    --------
    ScoreCounts.from_frame : Counts the scores of a frame.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from purecover import ScoreCounts, scan_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day, rows in (("mon", "0.9,1"), ("tue", "0.2,0")):
    ...         _ = Path(folder, f"{day}.csv").write_text("s,y\n" + rows + "\n")
    ...     frame = scan_files(f"{folder}/*.csv", memory_limit="500MB")
    ...     print(ScoreCounts.from_frame(frame, score="s", labeled="y"))
    ScoreCounts(1 labeled, 1 unlabeled, 2 thresholds)
    """
    names = _paths(paths)
    if threads is not None:
        threads = valid.check_integer("threads", threads, low=1)
    if memory_limit is not None and not isinstance(memory_limit, str):
        raise valid.bad_type("memory_limit", "a size such as '2GB'", memory_limit)
    import duckdb

    connection = _connection(memory_limit, threads)
    is_parquet = FORMATS[suffix_of(names[0])] == "parquet"
    read = connection.read_parquet if is_parquet else connection.read_csv
    try:
        # By default columns of further files would be cast to the types of the first (0.7 to 1,
        # where that has whole numbers), and those of text files taken by their place, whatever
        # their names. A folder called score=3 would take the place of a column.
        how = {} if is_parquet else _PLAIN_CSV
        return read(names, union_by_name=True, hive_partitioning=False, **how)
    except duckdb.Error as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise valid.bad_value(
            "paths",
            f"{'Parquet' if is_parquet else 'CSV'} files that DuckDB can read",
            f"{valid.show(names[0])}: {first[:200]}",
            "is the pattern right, and were the files written completely?",
        ) from error


def _paths(paths: Any) -> list[str]:
    """Return the files to read, and what DuckDB is to fetch; to DuckDB each is a pattern."""
    must = "a path, a pattern or a list of them"
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    if not isinstance(paths, Sequence) or isinstance(paths, bytes):
        raise valid.bad_type("paths", must, paths)
    names, readable = [], [suffix for suffix, kind in FORMATS.items() if kind != "jsonl"]
    for path in paths:
        if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
            raise valid.bad_type("paths", must, path)
        name = os.fspath(path)
        if not name.isascii() and "\\udc" in ascii(name):
            raise valid.bad_value("paths", "names in UTF-8", valid.show(name), "rename the file")
        if suffix_of(name) not in readable:
            raise valid.bad_value(
                "paths", f"files whose names end in {', '.join(readable)}", valid.show(name),
                "for another format, pass a frame of your engine to ScoreCounts.from_frame",
            )  # fmt: skip
        names += matching(name) or [name]
    if not names:
        raise valid.bad_value("paths", must, "nothing")
    check_one_format(names)
    check_different(names)
    return [glob.escape(name) if os.path.exists(name) else name for name in names]  # noqa: PTH110


@cache
def _connection(memory_limit: str | None, threads: int | None) -> Any:
    """Return the connection of these settings, reused because each connection has threads."""
    import duckdb

    spill = _UNTIL_EXIT.enter_context(private_folder())
    # Order does not matter to counts, and keeping it costs memory.
    connection = duckdb_connection(spill, preserve_insertion_order=False)
    if threads is not None:
        connection.execute(f"SET threads = {threads}")
    if memory_limit is not None:
        try:
            connection.execute("SET memory_limit = $1", [memory_limit])
        except duckdb.Error as error:
            got = valid.show(memory_limit)
            raise valid.bad_value("memory_limit", "a size such as '2GB'", got) from error
    return connection


atexit.register(_UNTIL_EXIT.close)
