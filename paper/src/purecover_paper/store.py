"""Finished cells of a study: a file each, written completely or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO
from zipfile import BadZipFile

import msgspec
import numpy as np

from purecover.exceptions import InvalidInputError
from purecover_paper.arguments import bad_type, bad_value, errors_of, show
from purecover_paper.design import Cell
from purecover_paper.files import write_whole

_STALE_S = 3600.0
_KIND, _LAYOUT = b"purecover.cell/", b"1"
_PLACE = ("dataset", "beta", "repeat")  # of a cell in its study; the rest is settings


class Record(NamedTuple):
    """One number measured in one run, one tidy row of the study.

    A run is one draw of labeled and unlabeled rows: a data set, a share of positives among
    the labeled, and the number of the repeat.

    Parameters
    ----------
    dataset : str
        Short name of the data set, for example ``"bank"``.
    beta : float
        Share of positives among the labeled rows: 1, 0.95 or 0.75.
    repeat : int
        Number of the repeat, from 0.
    metric : {"auc", "auc_pr", "alpha", "beta"}
        What is measured.
    method : str
        Where the number comes from.

        - ``"traditional"``: the truth of the paper, a classifier trained on positives against
          negatives;
        - ``"same"``: the truth of the very scores that are evaluated, against the true classes;
        - ``"observed"``: labeled against unlabeled, nothing corrected;
        - ``"direct"``: equation 4 of the paper, AUC only;
        - ``"indirect"``: the area under the recovered curve;
        - ``"estimate"``: an estimate of ``alpha`` or ``beta``;
        - ``"true"``: the true ``alpha`` or ``beta`` of the draw.
    estimator : str
        Who gave alpha and beta: ``"true"`` where they were known, else the name of an
        estimator, or ``""`` where none is needed.
    repair : str
        How the recovered curve was made a curve, or ``""`` where there is none.
    value : float
        The number itself.
    low, high : float or None
        Ends of its interval, where one was computed.

    Examples
    --------
    >>> from purecover_paper.store import Record
    >>> row = Record("bank", 0.95, 0, "auc", "direct", "true", "", 0.87, 0.84, 0.90)
    >>> row.method, row.value
    ('direct', 0.87)
    """

    dataset: str
    beta: float
    repeat: int
    metric: str
    method: str
    estimator: str
    repair: str
    value: float
    low: float | None = None
    high: float | None = None


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
# Rows are decoded when they are needed.
_CONTENT = msgspec.msgpack.Decoder(tuple[StoredCell, msgspec.Raw])


class Store:
    """Finished cells of a study, each in its own file, written by any number of processes.

    The file of a cell is named by the hash of the cell's configuration, appears completely or not
    at all, and begins with a checksum that every reader verifies. A process that is killed loses
    only the cell it was computing, and a damaged file is found.

    Parameters
    ----------
    path : str or Path
        Folder of the store, made if it does not exist; its folder ``cells`` holds the files.
    read_only : bool
        Whether nothing may change; then the store must exist.

    Examples
    --------
    >>> import tempfile
    >>> from purecover_paper.design import Cell
    >>> from purecover_paper.store import Record, Store
    >>> cell = Cell("bank", beta=1.0, repeat=0)
    >>> row = Record("bank", 1.0, 0, "auc", "direct", "true", "", 0.87, None, None)
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     store.add(cell, [row], seconds=1.5), store.add(cell, [row], seconds=1.5)
    ...     store.records() == [row]
    (True, False)
    True
    """

    @errors_of("Store")
    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path, self.read_only = _as_path(path), read_only
        self._folder = self.path / "cells"
        if not read_only:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                for left in self._folder.glob(".*"):  # by processes killed long ago
                    if time.time() - left.stat().st_mtime > _STALE_S:
                        left.unlink(missing_ok=True)
            except OSError as error:
                hint = "choose a folder that may be written"
                raise _bad_path(self._folder, f"which cannot be made: {error}", hint) from error
        elif not self._folder.is_dir():
            hint = f"is the name right? purecover-paper run --store {show(str(path))} makes one"
            raise _bad_path(self._folder, "which does not exist", hint)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close nothing: every cell is complete once it has been added."""

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def _file(self, key: str, kind: str = "cell") -> Path:
        return self._folder / f"{key}.{kind}"

    @errors_of("Store.add")
    def add(
        self,
        cell: Cell,
        records: Iterable[Record],
        *,
        seconds: float,
        scores: Mapping[str, Any] | None = None,
        about: Mapping[str, str] | None = None,
    ) -> bool:
        """Keep a finished cell; returns False if the store has it already.

        Parameters
        ----------
        cell : Cell
            The cell.
        records : iterable of Record
            Its results.
        seconds : float
            Computing time.
        scores : mapping of str to ndarray, optional
            Arrays to keep with the records.
        about : mapping of str to str, optional
            How it was made: versions, device, command.
        """
        self._check_writable()
        rows = [Record(*row[:7], float(row[7]), *map(_end, row[8:])) for row in records]
        place = (cell.dataset, cell.beta, cell.repeat)
        foreign = [row for row in rows if row[:3] != place]
        if foreign:
            raise bad_value("records", f"records of the cell {place}", f"one of {foreign[0][:3]}")
        if self.has(cell.key):
            return False
        settings = {name: value for name, value in cell.config().items() if name not in _PLACE}
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
        try:  # a cell that cannot be read must not be written
            _ROWS.decode(_CONTENT.decode(content)[1])
        except msgspec.ValidationError as error:
            raise bad_value("records", "of text and numbers", str(error)) from error
        if scores is not None:  # first, because the cell is finished once its own file is there
            arrays = io.BytesIO()
            np.savez_compressed(arrays, **scores)
            _write(self._file(cell.key, "scores"), arrays.getvalue())
        _write(self._file(cell.key), content)
        return True

    @errors_of("Store.merge")
    def merge(self, other: str | Path | Store) -> int:
        """Copy the cells of another store that are missing here; returns their number."""
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

    def done(self, keys: Iterable[str] | None = None) -> set[str]:
        """Return the keys of finished cells, among ``keys`` or among all."""
        found = {file.stem for file in self._folder.glob("*.cell")}
        return found if keys is None else found & set(keys)

    def has(self, key: str) -> bool:
        """Whether a cell is finished, by this process or another."""
        return self._file(key).is_file()

    def cells(self, settings: str | None = None) -> list[StoredCell]:
        """Return the finished cells in the order of the design, of one study or of all."""
        return [cell for cell, _ in self._contents(settings)]

    def _contents(self, settings: str | None) -> list[tuple[StoredCell, msgspec.Raw]]:
        found = [_decode(self._file(key)) for key in self.done()]
        found = [each for each in found if settings in {None, each[0].settings}]
        return sorted(found, key=lambda each: (each[0].dataset, -each[0].beta, *each[0][3:5]))

    def records(self, settings: str | None = None) -> list[Record]:
        """Return the tidy rows in the order of the design, of one study or of all."""
        found: list[Record] = []
        for cell, rows in self._contents(settings):
            with _reading(self._file(cell.key)):
                found += _ROWS.decode(rows)
        return found

    def to_csv(self, file: TextIO, settings: str | None = None) -> int:
        """Write the tidy rows as CSV to an open file; returns their number."""
        rows = self.records(settings)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Record._fields)
        writer.writerows(rows)
        return len(rows)

    def scores(self, key: str) -> dict[str, np.ndarray[Any, Any]] | None:
        """Return the arrays kept with a cell, or None."""
        file = self._file(key, "scores")
        if not file.is_file():
            return None
        content = _read(file)
        with _reading(file), np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return dict(arrays)

    def verify(self) -> None:
        """Read all files; raises an error that names the first damaged one."""
        self.records()
        for file in self._folder.glob("*.scores"):
            self.scores(file.stem)


def _end(value: float | None) -> float | None:
    """Return an end of an interval; NaN becomes None."""
    return None if value is None or math.isnan(value) else float(value)


def _as_path(path: object) -> Path:
    if isinstance(path, (str, Path)) and str(path):
        return Path(path)
    raise bad_type("path", "a folder", path)


def _write(file: Path, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest().encode()
    write_whole(file, b"%s%s %s\n%s" % (_KIND, _LAYOUT, digest, content), durable=True)


def _read(file: Path) -> bytes:
    """Return the content of a file after checking its checksum."""
    try:
        head, _, content = file.read_bytes().partition(b"\n")
    except OSError as error:
        raise _bad_path(file, f"which cannot be read: {error}") from error
    kind, _, digest = head.partition(b" ")
    layout = kind.removeprefix(_KIND)
    if layout.isdigit() and layout != _LAYOUT:
        got = f"of layout {layout.decode()}; this purecover-paper reads layout {_LAYOUT.decode()}"
        raise _bad_path(file, got, "install a newer purecover-paper")
    if kind != _KIND + _LAYOUT or hashlib.sha256(content).hexdigest().encode() != digest:
        raise _damaged(file, "whose content does not fit its checksum")
    return content


def _decode(file: Path) -> tuple[StoredCell, msgspec.Raw]:
    """Return the cell of a file and its encoded rows."""
    content = _read(file)
    with _reading(file):
        cell, rows = _CONTENT.decode(content)
        if cell.key != file.stem or not isinstance(json.loads(cell.settings), dict):
            raise ValueError("it is the file of another cell")
    return cell, rows


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Report content that cannot be used as a damaged file, whatever its checksum."""
    try:
        yield
    except (msgspec.MsgspecError, ValueError, KeyError, OSError, EOFError, BadZipFile) as error:
        why = " ".join(str(error).split())[:200]
        raise _damaged(file, f"whose content cannot be used ({why})") from error


def _damaged(file: Path, why: str) -> InvalidInputError:
    hint = f"remove {file} and run the study again, which makes it anew"
    return _bad_path(file, f"a damaged file, {why}", hint)


def _bad_path(file: Path, got: str, hint: str | None = None) -> InvalidInputError:
    error = bad_value("path", "a store of results", f"{show(str(file))}, {got}", hint)
    error.function = "Store"
    return error
