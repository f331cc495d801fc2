"""Parquet, by whichever library is installed; only the columns needed are read."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from purecover.cli._columns import Collector, Request, Table
from purecover.cli._messages import CommandError
from purecover.exceptions import MissingDependencyError, PurecoverError

__all__ = ["read_parquet"]

CHUNK = 1 << 16
Chunks = Iterator[dict[str, list[Any]]]


def read_parquet(
    source: str, path: str, request: Callable[[list[str]], Request], *, tick: Callable[[], None]
) -> Table:
    """Read the columns that ``request`` picks; ``path`` is a file on disk."""
    try:
        return _read(source, path, request, tick)
    except (PurecoverError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # panics of compiled readers are not even Exceptions
        first_line = next(iter(str(error).splitlines()), type(error).__name__)
        raise CommandError(
            f"{source} is not a Parquet file that can be read: {first_line[:200]}.\n"
            "Hint: was it written or copied completely? --format names another format."
        ) from error


def _read(
    source: str, path: str, request: Callable[[list[str]], Request], tick: Callable[[], None]
) -> Table:
    names, chunks = _open(path)
    wanted = request(names)
    collector = Collector(source, wanted, place="row")
    columns = list(dict.fromkeys(wanted.columns.values()))
    for cells in chunks(columns):
        first = collector.n_rows + 1
        collector.add(
            {role: cells[column] for role, column in wanted.columns.items()},
            lambda i, first=first: first + i,  # type: ignore[misc]
        )
        tick()
    return collector.finish()


def _open(path: str) -> tuple[list[str], Callable[[list[str]], Chunks]]:
    """Column names, and a function that reads some of them in chunks."""
    for library, opener in _OPENERS.items():
        try:
            return opener(importlib.import_module(library), path)
        except ImportError:  # the library, or the engine it would use
            continue
    raise MissingDependencyError(
        "reading Parquet needs pyarrow, polars, duckdb or pandas with a Parquet engine, and none "
        "is installed.\nHint: pip install 'purecover[engines]'"
    )


def _open_pyarrow(module: Any, path: str) -> tuple[list[str], Callable[[list[str]], Chunks]]:
    file = module.ParquetFile(path)

    def chunks(columns: list[str]) -> Chunks:
        for batch in file.iter_batches(batch_size=CHUNK, columns=columns):
            yield {name: batch.column(name).to_pylist() for name in columns}

    return list(file.schema_arrow.names), chunks


def _open_polars(module: Any, path: str) -> tuple[list[str], Callable[[list[str]], Chunks]]:
    def chunks(columns: list[str]) -> Chunks:
        frame = module.read_parquet(path, columns=columns, glob=False)
        for part in frame.iter_slices(CHUNK):
            yield {name: part.get_column(name).to_list() for name in columns}

    return list(module.read_parquet_schema(path)), chunks


def _open_duckdb(module: Any, path: str) -> tuple[list[str], Callable[[list[str]], Chunks]]:
    connection = module.connect(":memory:")
    names = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [path]).description

    def chunks(columns: list[str]) -> Chunks:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        connection.execute(f"SELECT {quoted} FROM read_parquet(?)", [path])  # noqa: S608 - quoted
        while rows := connection.fetchmany(CHUNK):
            yield {name: [row[i] for row in rows] for i, name in enumerate(columns)}

    return [name for name, *_ in names], chunks


def _open_pandas(module: Any, path: str) -> tuple[list[str], Callable[[list[str]], Chunks]]:
    frame = module.read_parquet(path)

    def chunks(columns: list[str]) -> Chunks:
        for start in range(0, len(frame), CHUNK):
            part = frame.iloc[start : start + CHUNK]
            yield {name: part[name].tolist() for name in columns}

    return [str(name) for name in frame.columns], chunks


_OPENERS: dict[str, Callable[[Any, str], tuple[list[str], Callable[[list[str]], Chunks]]]] = {
    "pyarrow.parquet": _open_pyarrow,
    "polars": _open_polars,
    "duckdb": _open_duckdb,
    "pandas": _open_pandas,
}
