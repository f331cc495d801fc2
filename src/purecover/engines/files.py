"""Files of any size as a lazy frame: Parquet or CSV, read by an engine that streams them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from purecover._validation import (
    bad_type,
    bad_value,
    check_choice,
    check_integer,
    public,
    require,
    show,
)
from purecover.exceptions import InvalidInputError, PurecoverError

ENGINES = ("duckdb", "polars", "spark")
_KEPT: dict[tuple[str | None, int | None], Any] = {}
"""Connections of an older DuckDB by their settings; not one per call, as each has threads."""
_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
}
_COMPRESSED = (".gz", ".zst")


@public
def scan_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    engine: str = "duckdb",
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Any:
    r"""Parquet or CSV files as one lazy frame, to be counted without loading them.

    Parameters
    ----------
    paths : str, path or list of them
        Files or patterns such as ``"scores/*.parquet"``; all of one format, told by their names.
        No two may mean the same file. A folder called ``day=1`` is no column; for such columns
        pass a frame of the engine to :meth:`ScoreCounts.from_frame`. A name with ``://`` is for
        the engine to fetch.
    engine : {"duckdb", "polars", "spark"}, default="duckdb"
        What reads them. Polars comes with the extra ``engines``, Spark with ``spark`` (and
        needs Java).
    memory_limit : str, optional
        The most memory DuckDB may use, such as ``"2GB"``; it writes to disk what does not fit.
        By default four fifths of the machine's memory.
    threads : int, optional
        How many threads DuckDB may use; as many as there are processors by default.

    Returns
    -------
    duckdb.DuckDBPyRelation, polars.LazyFrame or pyspark.sql.DataFrame
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
    check_choice("engine", engine, ENGINES)
    names = _paths(paths)
    kind = _format(names)
    if threads is not None:
        threads = check_integer("threads", threads, low=1)
    if memory_limit is not None and not isinstance(memory_limit, str):
        raise bad_type("memory_limit", "a size such as '2GB'", memory_limit)
    if engine != "duckdb" and (memory_limit, threads) != (None, None):
        given = "memory_limit" if memory_limit is not None else "threads"
        hint = "leave it out, or configure that engine itself"
        raise bad_value(given, f"None with engine={engine!r}", "a value", hint)
    try:
        if engine == "duckdb":
            return _duckdb(names, kind, memory_limit, threads)
        return _polars(names, kind) if engine == "polars" else _spark(names, kind)
    except PurecoverError:
        raise
    except Exception as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise bad_value(
            "paths",
            f"{'Parquet' if kind == 'parquet' else 'CSV'} files that {engine} can read",
            f"{show(names[0])}: {first[:200]}",
            "is the pattern right, and were the files written completely?",
        ) from error


def _paths(paths: Any) -> list[str]:
    must = "a path, a pattern or a list of them"
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    if not isinstance(paths, Sequence) or isinstance(paths, bytes):
        raise bad_type("paths", must, paths)
    out = []
    for path in paths:
        if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
            raise bad_type("paths", must, path)
        out.append(_literal(os.fspath(path)))
    if not out or not all(out):
        raise bad_value("paths", must, "nothing")
    _refuse_twice(out)
    return out


def _refuse_twice(patterns: list[str]) -> None:
    """Refuse a file that two patterns mean: its rows would count twice."""
    seen = set()
    for pattern in patterns if len(patterns) > 1 else ():
        # What is not on this machine is for the engine to find. Path.glob knows no absolute ones.
        found = [] if "\0" in pattern else glob.glob(pattern, recursive=True)  # noqa: PTH207
        for name in found or [pattern]:
            place = os.path.realpath(name)
            if place in seen:
                must, hint = "different files", "its rows would count twice; name it once"
                raise bad_value("paths", must, f"{show(name)} twice", hint)
            seen.add(place)


def _literal(name: str) -> str:
    """A pattern; to an engine, a file called ``a[1].csv`` would be one that means ``a1.csv``."""
    if not glob.has_magic(name) or "\0" in name:
        return name
    return glob.escape(name) if Path(name).is_file() else name


def _hadoop(name: str) -> str:
    """The same pattern for Hadoop, where a backslash makes a letter literal, and braces choose."""
    if Path(name).exists():
        name = re.sub(r"([{}])", r"\\\1", name)
    return re.sub(r"\[([\[*?])\]", r"\\\1", name)


def _separator(names: list[str]) -> str:
    """What stands between columns of text files, for engines that do not find out themselves."""
    return "\t" if _suffix(names[0]) == ".tsv" else ","


def _suffix(name: str) -> str:
    """How a name ends, but for what says that the file is compressed."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in _COMPRESSED), "")


def _format(names: list[str]) -> str:
    found = set()
    for name in names:
        kind = _FORMATS.get(_suffix(name))
        if kind is None:
            known = ", ".join(_FORMATS)
            raise bad_value(
                "paths", f"files whose names end in {known}", show(name),
                "for another format, pass a frame of your engine to ScoreCounts.from_frame",
            )  # fmt: skip
        found.add(kind)
    if len(found) > 1:
        raise bad_value("paths", "files of one format", "both Parquet and CSV")
    return found.pop()


def _duckdb(names: list[str], kind: str, memory_limit: str | None, threads: int | None) -> Any:
    import duckdb

    # Order does not matter to counts, and keeping it costs memory. Nothing is downloaded.
    config: dict[str, Any] = {
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
    }
    if threads is not None:
        config["threads"] = threads
    connection: Any = _KEPT.get((memory_limit, threads))
    connection = connection or duckdb.connect(":memory:", config=config)
    if memory_limit is not None:
        try:
            connection.execute("SET memory_limit = $1", [memory_limit])
        except duckdb.Error as error:
            got = show(memory_limit)
            raise bad_value("memory_limit", "a size such as '2GB'", got) from error
    # Before 2.0 DuckDB closes a connection that nobody holds, though its relations live on.
    if int(duckdb.__version__.partition(".")[0]) < 2:
        _KEPT[memory_limit, threads] = connection
    # By default columns of further files would be cast to the types of the first (0.7 to 1, where
    # that has whole numbers), and those of text files taken by their place, whatever their names.
    # A folder called score=3 would take the place of a column.
    options = {"union_by_name": True, "hive_partitioning": False}
    if kind == "parquet":
        return connection.read_parquet(names, **options)
    return connection.read_csv(names, **options)


def _polars(names: list[str], kind: str) -> Any:
    polars = require("polars", extra="engines")
    if kind == "parquet":
        frame = polars.scan_parquet(names, hive_partitioning=False)
    else:
        frame = polars.scan_csv(names, separator=_separator(names))
    frame.collect_schema()  # now rather than in the middle of counting
    return frame


def _spark(names: list[str], kind: str) -> Any:
    sql = require("pyspark.sql", extra="spark")
    try:
        session = sql.SparkSession.builder.getOrCreate()
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "")[:200]
        raise InvalidInputError(
            f"{{function}} could not start Spark: {reason}.\n"
            "Hint: Spark needs Java 17 or newer (JAVA_HOME), or start a SparkSession yourself "
            "before"
        ) from error
    names = [_hadoop(name) for name in names]
    reader = session.read.option("recursiveFileLookup", "true")  # in which folders are no columns
    if kind == "parquet":
        return reader.parquet(*names)
    return reader.csv(names, header=True, inferSchema=True, sep=_separator(names))
