"""Partitions of a monitor, and the state file that contains them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import Any
from zlib import crc32

from purecover import _validation as valid
from purecover._codec import Source, document_text, plain_fields, replacing
from purecover._typing import OrNan
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.intervals.interval import Interval
from purecover.monitoring.drift import DriftTest

SOURCE = Source("path", "a monitor", "purecover.monitor/2", "ScoreMonitor.save")


@dataclass(frozen=True, kw_only=True, eq=False)
class MonitorPartition:
    """The results of one partition, and its counts while they are kept.

    Attributes
    ----------
    name : str
        The name of the partition, such as a date.
    n_labeled, n_unlabeled : float
        Its number of rows, or sums of weights.
    auc_pu : Interval
        The observed AUC.
    alpha : Interval or None
        Share of positives among the unlabeled; both ends are the value itself if alpha was given.
        None if there is no estimate.
    beta : float
        Share of positives among the labeled; NaN if there is no estimate.
    auc : Interval or None
        The recovered AUC, as :func:`evaluate` reports it.
    note : str or None
        Why there is no estimate or no comparison.
    findings : tuple of str
        Codes of the warnings of :func:`evaluate`.
    counts : ScoreCounts or None
        The counts; None once the partition has left the window.
    drift : dict of str to DriftTest
        Comparisons with the partitions before: ``"auc_pu"``, the observed AUC; ``"labeled"`` and
        ``"unlabeled"``, the distributions of these scores. Empty if nothing was compared.
    """

    name: str
    n_labeled: float
    n_unlabeled: float
    auc_pu: Interval
    alpha: Interval | None
    beta: OrNan
    auc: Interval | None
    note: str | None
    findings: tuple[str, ...]
    counts: ScoreCounts | None
    drift: dict[str, DriftTest] = field(default_factory=dict)

    @property
    def drifted(self) -> bool:
        """Whether any test found a difference from the partitions before."""
        return any(test.drifted for test in self.drift.values())

    def to_dict(self, *, counts: bool = False) -> dict[str, Any]:
        """Return plain data for JSON, with the counts only if asked."""
        document = plain_fields(self, "drifted")
        return document if counts else {k: v for k, v in document.items() if k != "counts"}


@dataclass(frozen=True)
class MonitorState:
    """The content of a state file."""

    settings: dict[str, Any]
    n_looks: int
    partitions: tuple[MonitorPartition, ...]

    @property
    def counts(self) -> ScoreCounts:
        """Sum of the counts of all partitions whose counts are kept."""
        if not self.partitions:
            raise InvalidInputError("ScoreMonitor.counts needs a partition; add one first.")
        kept = [each.counts for each in self.partitions if each.counts is not None]
        return sum(kept[1:], start=kept[0])


def as_path(path: object) -> Path:
    """Return the path that a caller gave; links are resolved."""
    if isinstance(path, (str, os.PathLike)) and str(path) and "\0" not in str(path):
        return Path(os.path.realpath(path))
    raise valid.bad_type("path", "the name of a file", path)


def read_state(path: Path) -> MonitorState:
    """Read a state file; refuse damaged files and files of another kind."""
    with _accessing(path):
        text = path.read_bytes()
    state = SOURCE.read(MonitorState, SOURCE.parse(text))
    for partition in state.partitions:
        if partition.counts is not None:
            with SOURCE.reading("counts", partition.name):
                ScoreCounts.from_dict(partition.counts.to_dict())  # refuses impossible counts
    return state


def write_state(path: Path, state: MonitorState) -> None:
    """Replace the file in one step; the caller has the lock."""
    partitions = [partition.to_dict(counts=True) for partition in state.partitions]
    # Not imported: the front of the package stands above this layer, and is loaded already.
    head = {"schema": SOURCE.schema, "version": sys.modules["purecover"].__version__}
    text = document_text(head | plain_fields(state, partitions=partitions), None)
    prefix = f".{path.name[:32]}.{crc32(os.fsencode(path.name)):08x}."
    for left in Path(os.path.realpath(path)).parent.glob(f"{escape(prefix)}{'[0-9a-f]' * 16}"):
        left.unlink(missing_ok=True)  # of a process that was killed
    with replacing(path, prefix=prefix, durable=True) as file:
        file.write(text.encode())


@contextmanager
def locked(path: Path) -> Iterator[Path]:
    """Lock a state file, whose path it yields; wait while another process has the lock.

    The lock belongs to the operating system and ends with the process. The lock file stays: if it
    were removed, a process that waits for it and one that makes a new file would both have a lock.
    """
    with _accessing(path):
        file = path.with_name(f"{path.name}.lock").open("ab")
    with file:
        if os.name == "nt":  # pragma: no cover
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield path


@contextmanager
def _accessing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        got = f"{valid.show(str(path))}: {error.strerror or error}"
        hint = "check the name and the permissions"
        raise valid.bad_value("path", "a file that can be read and written", got, hint) from error
