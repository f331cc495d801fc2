"""The cells of the paper's declared grid, and their results: a file each, written whole or not."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO
from zipfile import BadZipFile

import msgspec
import numpy as np

from purecover._codec import replacing
from purecover._inputs import make_frame
from purecover._typing import BoolArray, IntArray
from purecover._validation import bad_type, bad_value, public, show
from purecover.exceptions import InvalidInputError

BETAS = (1.0, 0.95, 0.75)
REPEATS = 50
MAX_UNLABELED = 10_000
PROTOCOL = 1
"""Counts up when what is computed in a cell changes, so that no old result passes for a new one."""


@dataclass(frozen=True)
class StudySettings:
    """What all cells of a study have in common.

    Attributes
    ----------
    seed : int
        Where all randomness starts.
    n_networks : int
        Networks of an ensemble.
    preset : str
        How they are trained, see :class:`purecover.models.BaggedNetworks`.
    n_resamples : int
        Replicates behind an interval.
    device : str
        "cpu" or "cuda": the two draw other bags, so that their results are not the same.
    """

    seed: int = 0
    n_networks: int = 100
    preset: str = "paper"
    n_resamples: int = 200
    device: str = "cpu"


@dataclass(frozen=True)
class Cell:
    """One run: a data set, a share of positives among the labeled, and a repetition."""

    dataset: str
    beta: float
    repeat: int
    settings: StudySettings = StudySettings()

    def config(self) -> dict[str, Any]:
        """Everything its result depends on, as plain values."""
        return {
            "protocol": PROTOCOL,
            "dataset": self.dataset,
            "beta": self.beta,
            "repeat": self.repeat,
            **asdict(self.settings),
        }

    @property
    def key(self) -> str:
        """A name that is the same for the same configuration, and no other."""
        text = json.dumps(self.config(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def seeds(self) -> list[int]:
        """Of the rows drawn, the networks on labels, those on true classes, and intervals."""
        name = zlib.crc32(self.dataset.encode())
        entropy = [self.settings.seed, name, round(1000 * self.beta), self.repeat]
        state = np.random.SeedSequence(entropy).generate_state(4)
        return [int(word) >> 1 for word in state]


@dataclass(frozen=True, eq=False)
class Draw:
    """The rows of a cell: first the labeled, then the unlabeled ones.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Where they are in the data set.
    labeled, positive : ndarray of bool, shape (n,)
        Who is labeled, and who is positive in truth.
    """

    rows: IntArray
    labeled: BoolArray
    positive: BoolArray

    @property
    def alpha(self) -> float:
        """Share of positives among the unlabeled."""
        return float(self.positive[~self.labeled].mean())

    @property
    def beta(self) -> float:
        """Share of positives among the labeled."""
        return float(self.positive[self.labeled].mean())


def cells(
    datasets: Sequence[str],
    betas: Sequence[float] = BETAS,
    repeats: int = REPEATS,
    settings: StudySettings | None = None,
) -> Iterator[Cell]:
    """The grid, all problems of a repetition before the next one begins."""
    shared = StudySettings() if settings is None else settings
    for repeat in range(repeats):
        for dataset in datasets:
            for beta in betas:
                yield Cell(dataset, beta, repeat, shared)


@public
def draw(cell: Cell, positive: BoolArray, n_labeled: int) -> Draw:
    """The rows of a cell.

    ``n_labeled`` rows are labeled, a share beta of them positive; all others are unlabeled, at
    most 10,000, drawn such that the share of positives stays what it is.
    """
    rng = np.random.default_rng(cell.seeds[0])
    ones, zeros = (rng.permutation(np.flatnonzero(side)) for side in (positive, ~positive))
    n_true = round(cell.beta * n_labeled)
    n_false = n_labeled - n_true
    if n_true >= ones.size or n_false >= zeros.size:
        raise bad_value(
            "n_labeled",
            "small enough to leave unlabeled rows of both classes",
            f"{n_labeled} of {cell.dataset} with {ones.size} positive and {zeros.size} other rows",
        )
    chosen = np.concatenate([ones[:n_true], zeros[:n_false]])
    ones, zeros = ones[n_true:], zeros[n_false:]
    rest = ones.size + zeros.size
    if rest > MAX_UNLABELED:
        kept = round(MAX_UNLABELED * ones.size / rest)
        ones, zeros = ones[:kept], zeros[: MAX_UNLABELED - kept]
    rows = np.concatenate([chosen, ones, zeros])
    return Draw(rows, np.arange(rows.size) < n_labeled, positive[rows])


# -- What one run of the study leaves behind: tidy rows of plain values --------------------------


class Record(NamedTuple):
    """One number measured in one run, one tidy row of the study.

    A run is one draw of labeled and unlabeled examples: a data set, a share of positives among
    the labeled, and the number of the repeat.

    Parameters
    ----------
    dataset : str
        Short name of the data set, for example ``"bank"``.
    beta : float
        Share of positives among the labeled examples: 1, 0.95 or 0.75.
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
    >>> from purecover.paper.cells import Record
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


# -- Results that survive ------------------------------------------------------------------------


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
    >>> from purecover.paper.cells import Cell
    >>> from purecover.paper.cells import Record
    >>> from purecover.paper.cells import Store
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
