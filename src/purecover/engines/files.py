"""Files of any size as a lazy frame: Parquet or CSV, which DuckDB streams."""

from __future__ import annotations

import atexit
import glob
import io
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from purecover import _validation as valid
from purecover._folders import private_folder
from purecover._validation import public
from purecover.engines.data_files import (
    FORMATS,
    DataFile,
    copied,
    identifier,
    on_disk,
    open_file,
    suffix_of,
    united,
)
from purecover.exceptions import InvalidInputError

_UNTIL_EXIT = ExitStack()


def duckdb_connection(spill: Path, **config: Any) -> Any:
    """A database in memory, which writes what does not fit there to a folder of ours.

    Nothing is downloaded, whatever the name of a file looks like.
    """
    import duckdb

    # By itself DuckDB would write to .tmp in the current folder, readable by everyone.
    ours: Any = {"autoinstall_known_extensions": False, "temp_directory": str(spill)}
    return duckdb.connect(":memory:", config=ours | config)


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
        DuckDB to fetch. CSV may be gzipped and have any of the usual delimiters and line ends;
        its first line names the columns.
    memory_limit : str, optional
        The most memory DuckDB may use, such as ``"2GB"``; it writes to disk what does not fit.
        By default four fifths of the machine's memory.
    threads : int, optional
        How many threads DuckDB may use; as many as there are processors by default.

    Returns
    -------
    duckdb.DuckDBPyRelation
        The frame, for :meth:`ScoreCounts.from_frame` or :func:`evaluate`. All columns of CSV are
        text; scores and weights are read as numbers, as the command line reads them, when the frame
        is counted, and groups keep their text.

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

    connection, folder = _connection(memory_limit, threads)
    if FORMATS[suffix_of(names[0])] == "csv":
        return _text_frame(connection, folder, names)
    patterns = [glob.escape(name) if os.path.exists(name) else name for name in names]  # noqa: PTH110
    try:
        # By default columns of further files would be cast to the types of the first (0.7 to 1,
        # where that has whole numbers). A folder called score=3 would take the place of a column.
        return connection.read_parquet(patterns, union_by_name=True, hive_partitioning=False)
    except duckdb.Error as error:
        first = str(error).split("\n", 1)[0]
        raise valid.bad_value(
            "paths",
            "Parquet files that DuckDB can read",
            f"{valid.show(names[0])}: {first[:200]}",
            "is the pattern right, and were the files written completely?",
        ) from error


def _text_frame(connection: Any, folder: Path, names: Sequence[str]) -> Any:
    """All cells of CSV files as text, whose columns are matched by name."""
    files = []
    try:
        for name in names:
            path = _fetched(connection, folder, name) if "://" in name else on_disk(name, folder)
            how = {"source": name, "suffix": suffix_of(name)}
            files.append(open_file(connection, folder, path, **how))
            files[-1].require_rows()
    except InvalidInputError as error:
        must, got = "CSV files that can be read", str(error.args[0]).rstrip(".")
        raise valid.bad_value("paths", must, got, error.hint) from error
    found = {file.names: _distinct(file.names) for file in files}
    spelled: dict[str, str] = {}
    for columns in found.values():
        for name in columns:
            spelled.setdefault(_folded(name), name)
    if not spelled:
        must = "CSV files whose first line names the columns"
        raise valid.bad_value("paths", must, f"none in {valid.show(names[0])}")

    def cells(file: DataFile) -> str:
        place = {_folded(name): f"c{i}" for name, i in found[file.names].items()}
        return ", ".join(
            f"CAST({place.get(key, 'NULL')} AS VARCHAR) AS {identifier(name)}"
            for key, name in spelled.items()
        )

    return united(files, cells, ())


def _fetched(connection: Any, folder: Path, name: str) -> str:
    """A copy of what DuckDB fetches from an address."""
    import duckdb

    try:
        ((content,),) = connection.execute("SELECT content FROM read_blob($1)", [name]).fetchall()
    except (duckdb.Error, ValueError) as error:
        first = str(error).split("\n", 1)[0]
        raise InvalidInputError(f"{name} cannot be fetched: {first[:200]}.") from error
    return copied(io.BytesIO(content), folder)


def _folded(name: str) -> str:
    """A name as DuckDB compares it: letters of ASCII in either case are one."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")


def _distinct(names: Sequence[str]) -> dict[str, int]:
    """Places of columns by names that DuckDB distinguishes; no name stands for two columns."""
    times, taken = Counter(names), set(map(_folded, names))
    found: dict[str, int] = {}
    seen: set[str] = set()
    for place, name in enumerate(names):
        shown = name
        if name and (times[name] > 1 or _folded(name) in seen):
            numbered = (f"{name}_{n}" for n in count(1))
            shown = next(each for each in numbered if _folded(each) not in taken)
            taken.add(_folded(shown))
        seen.add(_folded(shown))
        if name:  # one without a name cannot be asked for
            found[shown] = place
    return found


def _paths(paths: Any) -> list[str]:
    """Return the files to read, and what DuckDB is to fetch."""
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
    return names


@cache
def _connection(memory_limit: str | None, threads: int | None) -> tuple[Any, Path]:
    """Return the connection of these settings, reused because each has threads, and its folder."""
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
    return connection, spill


atexit.register(_UNTIL_EXIT.close)
