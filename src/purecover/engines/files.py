"""Files of any size as a lazy frame: Parquet or CSV, which DuckDB streams."""

from __future__ import annotations

import atexit
import glob
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import Any

from purecover import _validation as valid
from purecover._folders import private_folder
from purecover._validation import public

_KEPT: dict[tuple[str | None, int | None], Any] = {}
"""Connections by their settings; older DuckDB closes a connection without references."""
_UNTIL_EXIT = ExitStack()
_FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
}
_COMPRESSED = (".gz", ".zst")
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


def first_given_twice(names: Sequence[str]) -> str | None:
    """The first name of a file, or of a link to it, that stands among the names twice."""
    seen = set()
    for name in names:
        try:
            about = os.stat(name)  # noqa: PTH116 - also names that are no paths
            place: Any = about.st_dev, about.st_ino
        except (OSError, ValueError):  # no file on this machine
            place = name
        if place in seen:
            return name
        seen.add(place)
    return None


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
        Files or patterns such as ``"scores/*.parquet"``; all of one format, which their names show.
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
    kind = _format(names)
    if threads is not None:
        threads = valid.check_integer("threads", threads, low=1)
    if memory_limit is not None and not isinstance(memory_limit, str):
        raise valid.bad_type("memory_limit", "a size such as '2GB'", memory_limit)
    import duckdb

    connection = _connection(memory_limit, threads)
    read = connection.read_parquet if kind == "parquet" else connection.read_csv
    try:
        # By default columns of further files would be cast to the types of the first (0.7 to 1,
        # where that has whole numbers), and those of text files taken by their place, whatever
        # their names. A folder called score=3 would take the place of a column.
        how = {} if kind == "parquet" else _PLAIN_CSV
        return read(names, union_by_name=True, hive_partitioning=False, **how)
    except duckdb.Error as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise valid.bad_value(
            "paths",
            f"{'Parquet' if kind == 'parquet' else 'CSV'} files that DuckDB can read",
            f"{valid.show(names[0])}: {first[:200]}",
            "is the pattern right, and were the files written completely?",
        ) from error


def _paths(paths: Any) -> list[str]:
    """Patterns, of which no two mean the same file: its rows would count twice."""
    must = "a path, a pattern or a list of them"
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    if not isinstance(paths, Sequence) or isinstance(paths, bytes):
        raise valid.bad_type("paths", must, paths)
    out, found = [], []
    for path in paths:
        if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
            raise valid.bad_type("paths", must, path)
        pattern = name = os.fspath(path)
        if not name.isascii() and "\\udc" in ascii(name):
            raise valid.bad_value("paths", "names in UTF-8", valid.show(name), "rename the file")
        if glob.has_magic(name) and "\0" not in name:
            # To DuckDB a file called a[1].csv would be a pattern that means a1.csv.
            pattern = glob.escape(name) if Path(name).is_file() else name
            # Path.glob takes no absolute patterns.
            found += glob.glob(pattern, recursive=True) or [pattern]  # noqa: PTH207
        else:
            found.append(name)
        out.append(pattern)
    if not out or not all(out):
        raise valid.bad_value("paths", must, "nothing")
    twice = first_given_twice(found)
    if twice is not None:
        hint = "its rows would count twice; name it once"
        raise valid.bad_value("paths", "different files", f"{valid.show(twice)} twice", hint)
    return out


def _format(names: list[str]) -> str:
    """Return the common format of the files from their suffixes, without those of compression."""
    found = set()
    for name in names:
        suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
        last = next((suffix for suffix in reversed(suffixes) if suffix not in _COMPRESSED), "")
        if last not in _FORMATS:
            raise valid.bad_value(
                "paths", f"files whose names end in {', '.join(_FORMATS)}", valid.show(name),
                "for another format, pass a frame of your engine to ScoreCounts.from_frame",
            )  # fmt: skip
        found.add(_FORMATS[last])
    if len(found) > 1:
        raise valid.bad_value("paths", "files of one format", "both Parquet and CSV")
    return found.pop()


def _connection(memory_limit: str | None, threads: int | None) -> Any:
    """Return the connection of these settings, reused because each connection has threads."""
    import duckdb

    kept = _KEPT.get((memory_limit, threads))
    if kept is not None:
        return kept
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
    _KEPT[memory_limit, threads] = connection
    return connection


atexit.register(_UNTIL_EXIT.close)
