"""Results that survive: one SQLite file, one transaction for each finished cell of a study."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from purecover._frames import make_frame
from purecover._validation import bad_value
from purecover.studies._design import Cell
from purecover.studies._records import Record
from purecover.studies._store_file import StoreFile, broken

__all__ = ["Store", "StoredCell", "settings_of"]

_WHERE = ("dataset", "beta", "repeat")  # what tells cells of one study apart; the rest is settings
_RECORDS = """select dataset, beta, repeat, metric, method, estimator, repair, value, low, high
    from record join cell on cell.id = record.cell"""
_MERGE = (
    """insert or ignore into
        cell(key, dataset, beta, repeat, settings, config, seconds, about, finished)
        select key, dataset, beta, repeat, settings, config, seconds, about, finished
        from other.cell order by id""",
    # Numbers of new cells are higher than those that were there.
    """insert into record
        select mine.id, place, metric, method, estimator, repair, value, low, high
        from other.record it join other.cell theirs on theirs.id = it.cell
        join main.cell mine on mine.key = theirs.key where mine.id > ?""",
    """insert into scores select mine.id, arrays
        from other.scores it join other.cell theirs on theirs.id = it.cell
        join main.cell mine on mine.key = theirs.key where mine.id > ?""",
)
_ORDER = "order by cell.dataset, cell.beta desc, cell.repeat, cell.settings"


class StoredCell(NamedTuple):
    """A finished cell: its place in the design, its settings, and how it was made."""

    key: str
    dataset: str
    beta: float
    repeat: int
    settings: str
    seconds: float
    about: Mapping[str, str]
    finished: str


def settings_of(cell: Cell) -> str:
    """The configuration that all cells of a study share, as one line of JSON."""
    return _json({key: value for key, value in cell.config().items() if key not in _WHERE})


class Store(StoreFile):
    """Finished cells of a study in one SQLite file, written by any number of processes.

    A cell and its rows appear in one transaction, under the hash of the cell's configuration: a
    process that is killed loses the cell it was computing and nothing else, and a cell that two
    processes finish is kept once. The file uses a write-ahead log, which needs a local disk: on
    a network drive let each machine write a store of its own and merge them.

    Parameters
    ----------
    path : str or Path
        Folder that holds ``study.sqlite``, made if need be; or such a file itself, whose name
        then ends in ``.sqlite``.
    read_only : bool
        Change nothing; the store must exist.

    Examples
    --------
    >>> import tempfile
    >>> from purecover.studies._design import Cell
    >>> from purecover.studies._records import Record
    >>> from purecover.studies._store import Store
    >>> cell = Cell("bank", beta=1.0, repeat=0)
    >>> row = Record("bank", 1.0, 0, "auc", "direct", "true", "", 0.87, None, None)
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     store.add(cell, [row], seconds=1.5), store.add(cell, [row], seconds=1.5)
    ...     store.records() == [row]
    (True, False)
    True
    """

    # -- write --------------------------------------------------------------------------------

    def add(
        self,
        cell: Cell,
        records: Iterable[Record],
        *,
        seconds: float,
        scores: Mapping[str, Any] | None = None,
        about: Mapping[str, str] | None = None,
    ) -> bool:
        """Keep a finished cell, all of it or nothing; False if it was there already.

        Parameters
        ----------
        cell : Cell
            What was computed.
        records : iterable of Record
            What came out.
        seconds : float
            How long it took.
        scores : mapping of str to ndarray, optional
            Arrays to keep beside the records.
        about : mapping of str to str, optional
            How it was made: versions, device, command.
        """
        rows = list(records)
        place = (cell.dataset, cell.beta, cell.repeat)
        strangers = [row for row in rows if row[:3] != place]
        if strangers:
            must = f"records of the cell {place}"
            raise bad_value("Store.add", "records", must, f"one of {strangers[0][:3]}")
        settings, config = settings_of(cell), _json(cell.config())
        finished = datetime.now(UTC).isoformat(timespec="seconds")
        with self._transaction() as connection:
            found = connection.execute(
                "insert or ignore into cell(key, dataset, beta, repeat, settings, config, seconds, "
                "about, finished) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (cell.key, *place, settings, config, seconds, _json(about or {}), finished),
            )
            if found.rowcount == 0:
                return False
            connection.executemany(
                "insert into record values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (found.lastrowid, number, *row[3:7], *map(_plain, row[7:]))
                    for number, row in enumerate(rows)
                ),
            )
            if scores is not None:
                connection.execute(
                    "insert into scores values (?, ?)", (found.lastrowid, _pack(scores))
                )
        return True

    def merge(self, other: str | Path | Store) -> int:
        """Take over the cells of another store that are missing here; returns their number."""
        with Store(other.path if isinstance(other, Store) else other, read_only=True) as source:
            source.verify()
            uri = source.uri
        with self._lock:
            self._connection.execute("attach database ? as other", (uri,))
            try:
                with self._transaction() as connection:
                    (last,) = connection.execute("select coalesce(max(id), 0) from cell").fetchone()
                    added = connection.execute(_MERGE[0]).rowcount
                    for statement in _MERGE[1:]:
                        connection.execute(statement, (last,))
            finally:
                self._connection.execute("detach database other")
        return int(added)

    # -- read ---------------------------------------------------------------------------------

    def done(self, keys: Iterable[str] | None = None) -> set[str]:
        """Keys of the cells that are finished, among these or among all."""
        found = {key for (key,) in self._read("select key from cell")}
        return found if keys is None else found & set(keys)

    def has(self, key: str) -> bool:
        """Whether this cell is finished, by whichever process."""
        return bool(self._read("select 1 from cell where key = ?", (key,)))

    def cells(self, settings: str | None = None) -> list[StoredCell]:
        """The finished cells, in the order of the design."""
        where, values = _conditions({"settings": None if settings is None else [settings]})
        rows = self._read(
            "select key, dataset, beta, repeat, settings, seconds, about, finished "  # noqa: S608
            f"from cell {where} {_ORDER}",
            values,
        )
        return [StoredCell._make([*row[:6], json.loads(row[6]), row[7]]) for row in rows]

    def records(
        self,
        *,
        datasets: Collection[str] | None = None,
        betas: Collection[float] | None = None,
        metrics: Collection[str] | None = None,
        settings: str | None = None,
    ) -> list[Record]:
        """The tidy rows, in the order of the design; all of them by default."""
        wanted = {
            "dataset": datasets,
            "beta": betas,
            "metric": metrics,
            "settings": None if settings is None else [settings],
        }
        where, values = _conditions(wanted)
        rows = self._read(f"{_RECORDS} {where} {_ORDER}, record.place", values)
        # SQLite has no NaN and keeps null in its place.
        return [
            Record._make([*row[:7], np.nan if row[7] is None else row[7], *row[8:]]) for row in rows
        ]

    def frame(self, backend: Any = None, **wanted: Any) -> Any:
        """The tidy rows as a dict of arrays, or as a data frame of pandas, polars or pyarrow."""
        rows = self.records(**wanted)
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(Record._fields)
        arrays = {
            name: np.array(column, dtype=_DTYPES.get(name, np.float64))
            for name, column in zip(Record._fields, columns, strict=True)
        }
        return make_frame("Store.frame", arrays, backend)

    def to_csv(self, file: TextIO, **wanted: Any) -> int:
        """Write the tidy rows as CSV to an open file; returns their number."""
        rows = self.records(**wanted)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Record._fields)
        writer.writerows(rows)
        return len(rows)

    def scores(self, key: str) -> dict[str, np.ndarray[Any, Any]] | None:
        """The arrays kept with a cell, if there are any."""
        rows = self._read(
            "select arrays from scores join cell on cell.id = scores.cell where key = ?", (key,)
        )
        return _unpack(rows[0][0]) if rows else None

    def verify(self) -> None:
        """Read the whole file and complain if any of it is damaged or missing."""
        said = [row[0] for row in self._read("pragma integrity_check")]
        astray = self._read("pragma foreign_key_check")
        if said != ["ok"] or astray:
            raise broken(self.path, said[0] if said != ["ok"] else "rows without a cell")


_DTYPES: dict[str, Any] = {
    "dataset": str, "repeat": np.int64, "metric": str, "method": str, "estimator": str,
    "repair": str,
}  # fmt: skip


def _plain(value: float | None) -> float | None:
    """A number of Python, which SQLite knows; those of NumPy it would keep as bytes."""
    return None if value is None else float(value)


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _conditions(wanted: Mapping[str, Collection[Any] | None]) -> tuple[str, list[Any]]:
    """A where clause for the columns that are limited to some values."""
    limits = {column: list(values) for column, values in wanted.items() if values is not None}
    parts = [f"{column} in ({', '.join('?' * len(values))})" for column, values in limits.items()]
    where = f"where {' and '.join(parts)}" if parts else ""
    return where, [value for values in limits.values() for value in values]


def _pack(arrays: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    plain: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    np.savez_compressed(file, **plain)
    return file.getvalue()


def _unpack(blob: bytes) -> dict[str, np.ndarray[Any, Any]]:
    with np.load(io.BytesIO(blob), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
