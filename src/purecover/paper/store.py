"""Results that survive: one SQLite file, one transaction for each finished cell of a study."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

import numpy as np

from purecover._frames import make_frame
from purecover._validation import bad_type, bad_value, public, show
from purecover.exceptions import InvalidInputError
from purecover.paper.design import Cell, Record

# -- The SQLite file behind a store: opened, recognized, and written by all or nothing -----------


FILE_NAME = "study.sqlite"
_APPLICATION = 0x50754376  # "PuCv", in the header of the file, so that it can be told from others
_VERSION = 1
_WAIT_S = 60.0  # for another process to finish its transaction, which takes milliseconds
_SCHEMA = (
    """create table cell(
        id integer primary key,
        key text not null unique,
        dataset text not null, beta real not null, repeat integer not null,
        settings text not null, config text not null,
        seconds real not null, about text not null, finished text not null)""",
    """create table record(
        cell integer not null references cell(id), place integer not null,
        metric text not null, method text not null, estimator text not null, repair text not null,
        value real, low real, high real,
        primary key (cell, place)) without rowid""",
    "create table scores(cell integer primary key references cell(id), arrays blob not null)",
)


class StoreFile:
    """A connection to the file, shared by the threads of a process."""

    @public
    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = self.file_of(path)
        self.uri = uri_of(self.path, read_only=read_only)
        self.read_only = read_only
        # Workers of joblib report in threads; SQLite itself serializes nothing for us here.
        self._lock = threading.RLock()
        if read_only and not self.path.is_file():
            hint = f"is the name right? purecover paper run --store {show(str(path))} makes one"
            raise _bad_path(self.path, "which does not exist", hint)
        try:
            if not read_only:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._connect()
        except (sqlite3.OperationalError, OSError) as error:
            hint = "choose a folder on a local disk that may be written"
            raise _bad_path(self.path, f"which cannot be opened: {error}", hint) from error
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise broken(self.path, error) from error
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    @staticmethod
    def file_of(path: str | Path) -> Path:
        """The file of a store, from its folder."""
        given = _as_path(path)
        return given if given.suffix == ".sqlite" else given / FILE_NAME

    def close(self) -> None:
        """Close the file; what was added is safe without it."""
        self._connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.uri,
            uri=True,
            timeout=_WAIT_S,
            isolation_level=None,  # transactions begin where we say so
            check_same_thread=False,
        )
        connection.execute("pragma foreign_keys = on")
        return connection

    def _prepare(self) -> None:
        """Make the tables of a new file, or see that an old one is ours."""
        if self.read_only:
            try:
                self._check_kind()
            except sqlite3.OperationalError:
                self._connect_to_fixed_file()
                self._check_kind()
            return
        if self._is_empty():
            # Another process may be doing the same; changing the journal is not waited for.
            _patiently(lambda: self._connection.execute("pragma journal_mode = wal"))
            with self._transaction() as connection:
                if self._is_empty():
                    for statement in _SCHEMA:
                        connection.execute(statement)
                    connection.execute(f"pragma application_id = {_APPLICATION}")
                    connection.execute(f"pragma user_version = {_VERSION}")
        self._check_kind()
        _patiently(lambda: self._connection.execute("pragma journal_mode = wal"))
        # A killed process loses no commit with this; a power cut may lose the last ones.
        self._connection.execute("pragma synchronous = normal")

    def _connect_to_fixed_file(self) -> None:
        """Open a file in a folder that may not be written.

        Even a reader of a write-ahead log makes a file beside it. Where there is no log, nobody is
        writing, and a file that does not change can be read without one.
        """
        if self.path.with_name(f"{self.path.name}-wal").exists():
            return
        self._connection.close()
        self.uri = f"{self.uri}&immutable=1"
        self._connection = self._connect()

    def _is_empty(self) -> bool:
        return self._connection.execute("select count(*) from sqlite_master").fetchone() == (0,)

    def _check_kind(self) -> None:
        (kind,) = self._connection.execute("pragma application_id").fetchone()
        (version,) = self._connection.execute("pragma user_version").fetchone()
        if kind != _APPLICATION:
            raise _bad_path(self.path, "a database of another program", "choose another folder")
        if version > _VERSION:
            got = f"one of layout {version}; this purecover reads up to {_VERSION}"
            raise _bad_path(self.path, got, "install a newer purecover")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and nobody else writes meanwhile."""
        if self.read_only:
            raise bad_value("read_only", "False to change the store", "True")
        with self._lock:
            try:
                self._connection.execute("begin immediate")
                yield self._connection
                self._connection.execute("commit")
            except sqlite3.OperationalError as error:  # a full disk, a lock that is never released
                raise OSError(f"{show(str(self.path))} cannot be written: {error}") from error
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")

    def _read(self, query: str, values: Iterable[Any] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._connection.execute(query, tuple(values)).fetchall()
            except sqlite3.DatabaseError as error:
                raise broken(self.path, error) from error


def _as_path(path: object) -> Path:
    if isinstance(path, (str, Path)) and str(path):
        return Path(path)
    raise bad_type("path", "a folder", path)


def uri_of(path: Path, *, read_only: bool) -> str:
    """The file in the words of SQLite."""
    return f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc'}"


def _patiently(action: Callable[[], object]) -> None:
    """Try until another process lets go of the file."""
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _bad_path(path: Path, got: str, hint: str | None = None) -> InvalidInputError:
    must = "a store of results"
    return bad_value("path", must, f"{show(str(path))}, {got}", hint)


def broken(path: Path, error: object) -> InvalidInputError:
    """The complaint about a file that is no store, or no longer one."""
    hint = "move the file away and run the study again, or take the file from a backup"
    return _bad_path(path, f"which cannot be read: {error}", hint)


# -- Results that survive: one SQLite file, one transaction for each finished cell of a study ----


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
    >>> from purecover.paper.design import Cell
    >>> from purecover.paper.design import Record
    >>> from purecover.paper.store import Store
    >>> cell = Cell("bank", beta=1.0, repeat=0)
    >>> row = Record("bank", 1.0, 0, "auc", "direct", "true", "", 0.87, None, None)
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     store.add(cell, [row], seconds=1.5), store.add(cell, [row], seconds=1.5)
    ...     store.records() == [row]
    (True, False)
    True
    """

    # -- write --------------------------------------------------------------------------------

    @public
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
            raise bad_value("records", must, f"one of {strangers[0][:3]}")
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

    @public
    def frame(self, backend: Any = None, **wanted: Any) -> Any:
        """The tidy rows as a dict of arrays, or as a data frame of pandas, polars or pyarrow."""
        rows = self.records(**wanted)
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(Record._fields)
        arrays = {
            name: np.array(column, dtype=_DTYPES.get(name, np.float64))
            for name, column in zip(Record._fields, columns, strict=True)
        }
        return make_frame(arrays, backend)

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
