"""The SQLite file behind a store: opened, recognized, and written by all or nothing."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from purecover._validation import bad_type, bad_value, show
from purecover.exceptions import InvalidInputError

__all__ = ["FILE_NAME", "StoreFile", "broken", "uri_of"]

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
            raise bad_value("Store", "read_only", "False to change the store", "True")
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
    raise bad_type("Store", "path", "a folder", path)


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
    return bad_value("Store", "path", must, f"{show(str(path))}, {got}", hint)


def broken(path: Path, error: object) -> InvalidInputError:
    """The complaint about a file that is no store, or no longer one."""
    hint = "move the file away and run the study again, or take the file from a backup"
    return _bad_path(path, f"which cannot be read: {error}", hint)
