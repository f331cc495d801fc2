"""Worker processes, their tasks and their answers.

A worker is started afresh, does one task at a time and is killed when its task is unwanted. Tasks
and answers are lines of JSON on its pipes, of the types below, so that nothing is pickled.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

MB = 10**6
ANSWERS = "answers.csv"
"""File of answers about the rows of the file in the same folder."""
LOOKS = 2
"""Files opened at the same time, so that a slow one does not block the others."""
MAX_ANSWER = 1 << 23
"""Bytes of the longest answer of a worker."""
_START_TIMEOUT = 120.0
_END_TIMEOUT = 5.0
_MORE_WORKERS = 3
"""A task that a worker died of is given to so many others."""


FORM = {
    "score": "Score",
    "labeled": "Labeled",
    "missing_is_unlabeled": "Blank labels are unlabeled",
    "truth": "True class",
    "sample_weight": "Weight",
    "groups": "Group",
    "scenario": "Are the labeled rows part of the population?",
    "positive_label": "Value that means labeled",
    "negative_label": "Value of known negatives",
    "review": "Rows you can review",
    "n_resamples": "Resamples",
    "confidence_level": "Confidence level",
    "estimator": "Estimator",
    "figure": "What should become precise?",
    "judge": "Your name",
}
"""Labels of the form by field of a request."""

FIELDS = {name: f"“{label}”" for name, label in FORM.items()} | {"alpha": "alpha", "beta": "beta"}
"""Fields as messages name them."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Limits of a server.

    Parameters
    ----------
    worker
        Command that starts a worker process; the folder of all temporary files, the memory it may
        use and the kind of work ("look" or "report") are added.
    token
        Secret that opens the page; None opens it to every program of this machine.
    max_upload
        Largest file in bytes, packed and unpacked.
    workers
        Reports made at the same time.
    job_timeout
        Seconds that a report may take.
    look_timeout
        Seconds that reading the first rows may take.
    upload_pause
        Seconds that an upload may stand still.
    upload_rate
        Bytes a second that an upload must have on average, after such a pause.
    keep
        Seconds after which an unused file and a finished report are removed.
    max_uploads_at_once, max_files, max_jobs, max_waiting
        How many uploads may be under way, and files, reports and unfinished reports be kept.
    """

    worker: tuple[str, ...]
    token: str | None = None
    max_upload: int = 200 * MB
    workers: int = 2
    job_timeout: float = 600.0
    look_timeout: float = 60.0
    upload_pause: float = 30.0
    upload_rate: float = 20_000.0
    keep: float = 3600.0
    max_uploads_at_once: int = 16
    max_files: int = 20
    max_jobs: int = 100
    max_waiting: int = 32

    @property
    def max_memory(self) -> int:
        """Bytes that a worker process may use: some for the program, and much for the data.

        All of them together leave a quarter of the machine's memory to others.
        """
        wanted = 2_000 * MB + 20 * self.max_upload
        share = 3 * machine_memory() // 4 // (self.workers + LOOKS)
        return max(min(wanted, share or wanted), 600 * MB)


def machine_memory() -> int:
    """Return the bytes of memory of this machine or container; 0 if they are unknown."""
    found = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(ValueError, OSError):  # "max" is no number
            found.append(int(Path("/sys/fs/cgroup", name).read_text("ascii")))
    return min(found, default=0)


Id = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{32}$")]
Column = Annotated[str, Meta(max_length=10_000)]
Scores = Annotated[list[Column], Meta(min_length=1, max_length=10)]
Share = Annotated[float, Meta(ge=0, le=1)]
Word = Annotated[str, Meta(max_length=1000)]
Range = Annotated[list[Share], Meta(min_length=2, max_length=2)]
Count = Annotated[int, Meta(ge=0)]
Pair = Annotated[list[Count], Meta(min_length=2, max_length=2)]
Rows = Annotated[int, Meta(ge=1, le=10**9)]
Said = Literal["yes", "no", "skip"]


class Request(Struct, kw_only=True, forbid_unknown_fields=True):
    """Base of requests; fields are named as the options of the command line."""

    @property
    def given(self) -> dict[str, Any]:
        """Fields that are set, by name, except the file."""
        return {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in msgspec.structs.asdict(self).items()
            if name != "file" and value is not UNSET
        }


class ReportRequest(Request, kw_only=True, forbid_unknown_fields=True):
    """Request of a report."""

    file: Id
    score: Scores
    labeled: Column
    truth: Column | UnsetType = UNSET
    sample_weight: Column | UnsetType = UNSET
    groups: Column | UnsetType = UNSET
    alpha: Share | Range | UnsetType = UNSET
    hits: Pair | UnsetType = UNSET
    hits_from: Annotated[str, Meta(pattern="^top:[0-9]{1,9}$")] | UnsetType = UNSET
    judged: bool | UnsetType = UNSET
    """Whether the answers that were given in the Judge view count."""
    review: Rows | UnsetType = UNSET
    beta: Share | UnsetType = UNSET
    scenario: Literal["case-control", "censoring"] | UnsetType = UNSET
    estimator: Annotated[str, Meta(pattern="^[a-z0-9-]{1,40}$")] | UnsetType = UNSET
    positive_label: Word | UnsetType = UNSET
    negative_label: Word | UnsetType = UNSET
    missing_is_unlabeled: bool | UnsetType = UNSET
    n_resamples: Annotated[int, Meta(ge=0, le=20_000)] | UnsetType = UNSET
    confidence_level: Annotated[float, Meta(ge=0.5, le=0.999)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if len(set(self.score)) < len(self.score):
            raise ValueError("score must not name a column twice")


class JudgeRequest(Request, kw_only=True, forbid_unknown_fields=True):
    """Answers of a judge, and what the next rows are to be drawn for."""

    score: Column
    labeled: Column
    positive_label: Word | UnsetType = UNSET
    negative_label: Word | UnsetType = UNSET
    missing_is_unlabeled: bool | UnsetType = UNSET
    review: Rows | UnsetType = UNSET
    figure: Literal["auc", "alpha", "precision"] = "auc"
    judge: Annotated[str, Meta(max_length=60)] = ""
    answers: Annotated[list[tuple[Count, Said]], Meta(max_length=1000)] = []
    """Rows, by their position in the file, and what the judge said of them."""


class Task(Struct):
    """Base of tasks with a file in a folder."""

    folder: str
    file: str


class Look(Task, tag=True):
    """Look into a file that was just dropped."""

    limit: int


class Evaluate(Task, tag=True):
    """Make a report of a file, and leave it in the folder."""

    request: ReportRequest


class Judge(Task, tag=True):
    """Save answers about rows of a file, next to it, and find the next rows."""

    request: JudgeRequest


class Step(Struct, tag=True):
    """Progress of a task; a total of 0 is unknown. The first one means that a worker is ready."""

    step: str
    done: int = 0
    total: int = 0


class ColumnInfo(Struct):
    """A column of a file, and whether its first cells are numbers."""

    name: str
    numbers: bool
    values: dict[str, int] = {}
    """Numbers of rows by value, blank ones under "", if there are few values."""


class Looked(Struct, tag=True):
    """Columns, first rows and recognized roles of a file."""

    columns: list[ColumnInfo]
    rows: list[list[str]]
    guess: dict[str, str]


class Evaluated(Struct, tag=True):
    """Answer to a finished report: its entry in the list of reports."""

    notes: list[str]
    headline: list[str] = []


class NextRow(Struct):
    """A row to be judged."""

    row: int
    cells: list[tuple[str, str]]
    note: str = ""


class Judged(Struct, tag=True):
    """Results of the answers so far, and the next rows to be judged."""

    rows: list[NextRow]
    low: float
    high: float
    status: str
    yes: int
    no: int
    skip: int
    remarks: list[str]


class Failed(Struct, tag=True):
    """A task came to nothing; the message is about fields of the form."""

    message: str


Answer = Step | Looked | Evaluated | Judged | Failed


def pack(message: Struct) -> bytes:
    """A message as a line, in ASCII: names may hold halves of surrogate pairs."""
    return json.dumps(msgspec.to_builtins(message)).encode("ascii") + b"\n"


class WorkError(Exception):
    """A task that came to nothing, in words for the user."""


class RefusedError(WorkError):
    """A task that its worker refused; the worker itself is well."""


class LostError(WorkError):
    """A worker that does not answer any more."""

    def __init__(self) -> None:
        super().__init__(
            "the process that worked on it ended unexpectedly.\n"
            "Hint: was there enough memory? The command line may say more."
        )


class Worker:
    """One process, which does one task after another."""

    def __init__(self, process: Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, command: Sequence[str]) -> Worker:
        """Start a process and wait until it is ready."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=MAX_ANSWER,
            # Ctrl-C in the terminal is for the server, which then ends its workers in order.
            start_new_session=True,
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(_START_TIMEOUT):
                await worker._answer()
        except BaseException as error:
            await worker.kill()
            if isinstance(error, TimeoutError):
                raise LostError from error
            raise
        return worker

    async def ask(self, task: Struct, progress: Callable[[Step], None]) -> Any:
        """Hand over a task, listen to its progress, return its result."""
        assert self.process.stdin is not None  # noqa: S101 - a pipe
        try:
            self.process.stdin.write(pack(task))
            await self.process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise LostError from error
        while isinstance(answer := await self._answer(), Step):
            progress(answer)
        if isinstance(answer, Failed):
            raise RefusedError(answer.message)
        return answer

    async def _answer(self) -> Answer:
        assert self.process.stdout is not None  # noqa: S101 - a pipe
        try:
            line = await self.process.stdout.readline()
            found: Answer = msgspec.convert(json.loads(line), Answer)
        except (ValueError, msgspec.DecodeError) as error:  # no line or JSON, or none of ours
            raise LostError from error
        return found

    async def kill(self) -> None:
        """End the process and what it may have started."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        await self.process.wait()
        if self.process.stdout is not None:  # until its end, where the pipe closes itself
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_TIMEOUT):
                    await self.process.stdout.read()
        await asyncio.sleep(0)


class Pool:
    """At most ``size`` workers for one kind of task."""

    def __init__(self, command: Sequence[str], *, size: int) -> None:
        self._command = tuple(command)
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False

    async def warm(self) -> None:
        """Have a worker ready before the next task, which meets what is wrong and says so."""
        with suppress(WorkError, OSError):
            async with self._slots:
                if not self._idle and not self._closed:
                    self._idle.append(await Worker.start(self._command))

    async def run(
        self,
        task: Struct,
        *,
        timeout: float,  # noqa: ASYNC109 - counted from the start of the work, not of the wait
        progress: Callable[[Step], None] = lambda _: None,
    ) -> Any:
        """Do a task, when it is its turn; canceling this ends the process that works on it.

        A task that was lost with its worker, which somebody may have killed, is tried again.
        """
        async with self._slots:
            for _ in range(_MORE_WORKERS):
                try:
                    return await self._try(task, timeout, progress)
                except LostError:
                    if self._closed:
                        raise
                    while self._idle:  # one kill may have killed them all
                        await self._idle.pop().kill()
            return await self._try(task, timeout, progress)

    async def _try(self, task: Struct, limit: float, progress: Callable[[Step], None]) -> Any:
        worker = self._idle.pop() if self._idle else await Worker.start(self._command)
        self._busy.add(worker)
        fit = False
        try:
            async with asyncio.timeout(limit):
                answer = await worker.ask(task, progress)
            fit = True
        except TimeoutError:
            raise WorkError(
                f"it took longer than {limit:g} seconds and was stopped.\n"
                "Hint: take fewer resamples, or a sample of the rows; purecover app --timeout "
                "allows more."
            ) from None
        except RefusedError:
            fit = True
            raise
        finally:
            self._busy.discard(worker)
            if fit and not self._closed:
                self._idle.append(worker)
            else:
                await worker.kill()
        return answer

    @property
    def pids(self) -> list[int]:
        """The processes that live now."""
        return [worker.process.pid for worker in (*self._idle, *self._busy)]

    async def close(self) -> None:
        """End every worker."""
        self._closed = True
        while self._idle:
            await self._idle.pop().kill()
        for worker in tuple(self._busy):
            await worker.kill()
