"""Results that survive: a file for each finished cell of a study, written whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO
from zipfile import BadZipFile

import msgspec
import numpy as np

from purecover._codec import replacing
from purecover._frames import make_frame
from purecover._validation import bad_type, bad_value, public, show
from purecover.exceptions import InvalidInputError
from purecover.paper.design import Cell, Record

_STALE_S = 3600.0
_KIND, _LAYOUT = b"purecover.cell/", b"1"
_WHERE = ("dataset", "beta", "repeat")  # what tells cells of one study apart; the rest is settings
_DTYPES: dict[str, Any] = {
    "dataset": str, "repeat": np.int64, "metric": str, "method": str, "estimator": str,
    "repair": str,
}  # fmt: skip


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


_ROWS = msgspec.msgpack.Decoder(list[Record])
# Rows stay as they are until they are asked for.
_CONTENT = msgspec.msgpack.Decoder(tuple[StoredCell, msgspec.Raw])


class Store:
    """Finished cells of a study, each in a file of its own, written by any number of processes.

    The file of a cell is called by the hash of the cell's configuration, appears whole or not at
    all, and begins with a checksum that everyone who reads it looks at: a process that is killed
    loses the cell it was computing and nothing else, cells do not wait for each other, and bits
    that a disk has turned are found.

    Parameters
    ----------
    path : str or Path
        Folder of the store, whose folder ``cells`` holds the files; made if need be.
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

    @public
    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path, self.read_only = _as_path(path), read_only
        self._folder = self.path / "cells"
        if not read_only:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                for left in self._folder.glob(".*"):  # by processes that were killed long ago
                    if time.time() - left.stat().st_mtime > _STALE_S:
                        left.unlink(missing_ok=True)
            except OSError as error:
                hint = "choose a folder that may be written"
                raise _bad_path(self._folder, f"which cannot be made: {error}", hint) from error
        elif not self._folder.is_dir():
            hint = f"is the name right? purecover paper run --store {show(str(path))} makes one"
            raise _bad_path(self._folder, "which does not exist", hint)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open: what was added is safe."""

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def _file(self, key: str, kind: str = "cell") -> Path:
        return self._folder / f"{key}.{kind}"

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
        self._check_writable()
        rows = [Record(*row[:7], float(row[7]), *map(_end, row[8:])) for row in records]
        place = (cell.dataset, cell.beta, cell.repeat)
        strangers = [row for row in rows if row[:3] != place]
        if strangers:
            must = f"records of the cell {place}"
            raise bad_value("records", must, f"one of {strangers[0][:3]}")
        if self.has(cell.key):
            return False
        settings = {name: value for name, value in cell.config().items() if name not in _WHERE}
        stored = StoredCell(
            key=cell.key,
            dataset=cell.dataset,
            beta=cell.beta,
            repeat=cell.repeat,
            settings=json.dumps(settings, sort_keys=True, separators=(",", ":")),
            seconds=seconds,
            about=dict(about or {}),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        content = msgspec.msgpack.encode((stored, rows))
        try:  # what cannot be read must not be written
            _ROWS.decode(_CONTENT.decode(content)[1])
        except msgspec.ValidationError as error:
            raise bad_value("records", "of text and numbers", str(error)) from error
        if scores is not None:  # first, for with its own file the cell is finished
            arrays = io.BytesIO()
            np.savez_compressed(arrays, **scores)
            _write(self._file(cell.key, "scores"), arrays.getvalue())
        _write(self._file(cell.key), content)
        return True

    @public
    def merge(self, other: str | Path | Store) -> int:
        """Take over the cells of another store that are missing here; returns their number."""
        self._check_writable()
        source = Store(other.path if isinstance(other, Store) else other, read_only=True)
        source.verify()
        missing = source.done() - self.done()
        for key in missing:
            for kind in ("scores", "cell"):
                if source._file(key, kind).is_file():
                    _write(self._file(key, kind), _read(source._file(key, kind)))
        return len(missing)

    def _check_writable(self) -> None:
        if self.read_only:
            raise bad_value("read_only", "False to change the store", "True")

    # -- read ---------------------------------------------------------------------------------

    def done(self, keys: Iterable[str] | None = None) -> set[str]:
        """Keys of the cells that are finished, among these or among all."""
        found = {file.stem for file in self._folder.glob("*.cell")}
        return found if keys is None else found & set(keys)

    def has(self, key: str) -> bool:
        """Whether this cell is finished, by whichever process."""
        return self._file(key).is_file()

    @public
    def cells(self, settings: str | None = None) -> list[StoredCell]:
        """The finished cells, in the order of the design."""
        return [cell for cell, _ in self._contents() if settings in {None, cell.settings}]

    def _contents(self) -> list[tuple[StoredCell, msgspec.Raw]]:
        found = [_decode(self._file(key)) for key in self.done()]
        return sorted(found, key=lambda each: (each[0].dataset, -each[0].beta, *each[0][3:5]))

    @public
    def records(
        self,
        *,
        datasets: Collection[str] | None = None,
        betas: Collection[float] | None = None,
        metrics: Collection[str] | None = None,
        settings: str | None = None,
    ) -> list[Record]:
        """The tidy rows, in the order of the design; all of them by default."""
        found: list[Record] = []
        for cell, rows in self._contents():
            if (
                settings in {None, cell.settings}
                and (datasets is None or cell.dataset in datasets)
                and (betas is None or cell.beta in betas)
            ):
                with _reading(self._file(cell.key)):
                    decoded = _ROWS.decode(rows)
                found += [row for row in decoded if metrics is None or row.metric in metrics]
        return found

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

    @public
    def to_csv(self, file: TextIO, **wanted: Any) -> int:
        """Write the tidy rows as CSV to an open file; returns their number."""
        rows = self.records(**wanted)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Record._fields)
        writer.writerows(rows)
        return len(rows)

    @public
    def scores(self, key: str) -> dict[str, np.ndarray[Any, Any]] | None:
        """The arrays kept with a cell, if there are any."""
        file = self._file(key, "scores")
        if not file.is_file():
            return None
        content = _read(file)
        with _reading(file), np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return dict(arrays)

    @public
    def verify(self) -> None:
        """Read all files and complain of the first that is damaged."""
        self.records()
        for file in self._folder.glob("*.scores"):
            self.scores(file.stem)


def _end(value: float | None) -> float | None:
    """An end of an interval; none is none, however it is written."""
    return None if value is None or math.isnan(value) else float(value)


def _as_path(path: object) -> Path:
    if isinstance(path, (str, Path)) and str(path):
        return Path(path)
    raise bad_type("path", "a folder", path)


# -- Files that know whether they are whole ------------------------------------------------------


def _write(file: Path, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest().encode()
    with replacing(file, durable=True) as out:
        out.write(b"%s%s %s\n%s" % (_KIND, _LAYOUT, digest, content))


def _read(file: Path) -> bytes:
    """What a file holds, if it is what was written."""
    try:
        head, _, content = file.read_bytes().partition(b"\n")
    except OSError as error:
        raise _bad_path(file, f"which cannot be read: {error}") from error
    kind, _, digest = head.partition(b" ")
    layout = kind.removeprefix(_KIND)
    if layout.isdigit() and layout != _LAYOUT:
        got = f"of layout {layout.decode()}; this purecover reads layout {_LAYOUT.decode()}"
        raise _bad_path(file, got, "install a newer purecover")
    if kind != _KIND + _LAYOUT or hashlib.sha256(content).hexdigest().encode() != digest:
        raise _damaged(file, "whose content does not fit its checksum")
    return content


def _decode(file: Path) -> tuple[StoredCell, msgspec.Raw]:
    """The cell of a file, and its rows as they are."""
    content = _read(file)
    with _reading(file):
        cell, rows = _CONTENT.decode(content)
        if cell.key != file.stem or not isinstance(json.loads(cell.settings), dict):
            raise ValueError("it is the file of another cell")
    return cell, rows


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """A checksum tells of accidents; what is wrong in spite of it is damaged too."""
    try:
        yield
    except (msgspec.MsgspecError, ValueError, KeyError, OSError, EOFError, BadZipFile) as error:
        why = " ".join(str(error).split())[:200]
        raise _damaged(file, f"whose content cannot be used ({why})") from error


def _damaged(file: Path, why: str) -> InvalidInputError:
    # In full, to be copied.
    hint = f"remove {file} and run the study again, which makes it anew"
    return _bad_path(file, f"a damaged file, {why}", hint)


def _bad_path(file: Path, got: str, hint: str | None = None) -> InvalidInputError:
    return bad_value("path", "a store of results", f"{show(str(file))}, {got}", hint)
