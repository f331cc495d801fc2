"""What is kept on disk and who works on it: files, reports and worker processes.

A worker is started afresh, does one task at a time and is killed when its task is unwanted. Tasks
and answers are lines of JSON on its pipes, of the types below, so that nothing is pickled.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import secrets
import shutil
import signal
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

MB = 10**6
LOOKS = 2
"""Files looked into at the same time, so that one that is slow to open holds up no other."""
MAX_ANSWER = 1 << 23
"""Bytes of the longest answer of a worker."""
_PREFIX = "purecover-app-"
_RETRIES = 3
_START_TIMEOUT = 120.0
_END_TIMEOUT = 5.0
_UNUSUAL = re.compile(r"[^\w.()+ -]+")
_MAX_NAME = 60  # file systems count up to 255 bytes, and a letter may take four
REPORTS = ("report.html", "report.json")
"""What a worker leaves in the folder of a report."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Limits of a server.

    Parameters
    ----------
    worker
        Command that starts a worker process; the folder of all temporary files, the kind of work
        ("look" or "report") and the memory it may use are added.
    example
        A file to try the page with.
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
    jobs_per_worker
        Tasks after which a worker process is replaced by a fresh one.
    """

    worker: tuple[str, ...]
    example: Path | None = None
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
    jobs_per_worker: int = 20

    @property
    def max_memory(self) -> int:
        """Bytes that a worker process may use: some for the program, and much for the data.

        All of them together leave a quarter of the machine's memory to others.
        """
        wanted = 2_000 * MB + 20 * self.max_upload
        share = 3 * machine_memory() // 4 // (self.workers + LOOKS)
        return max(min(wanted, share or wanted), 600 * MB)


def machine_memory() -> int:
    """Bytes of memory of this machine or container; 0 where the system does not say."""
    found = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(ValueError, OSError):  # "max" is no number
            found.append(int(Path("/sys/fs/cgroup", name).read_text("ascii")))
    return min(found, default=0)


# -- What is asked of a worker, and what it answers ----------------------------------------------


Id = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{32}$")]
Column = Annotated[str, Meta(max_length=10_000)]
Scores = Annotated[
    list[Column], Meta(min_length=1, max_length=10, extra_json_schema={"uniqueItems": True})
]
Share = Annotated[float, Meta(ge=0, le=1)]
Word = Annotated[str, Meta(max_length=1000)]


class ReportRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """What to evaluate; the names are those of the options of purecover evaluate.

    Attributes
    ----------
    file : str
        The file, as POST /api/files named it.
    score : list
        Column of scores; several are compared on the same rows.
    labeled : str
        Column that says who carries the label.
    truth : str
        Column of true classes.
    weight : str
        Column of sample weights.
    group : str
        Column of groups of dependent rows.
    alpha : float
        Share of positives among the unlabeled; estimated if absent.
    beta : float
        Share of positives among the labeled.
    scenario : str
        How the data were drawn.
    estimator : str
        What estimates alpha and beta where they are not given.
    positive_label : str
        Value of the labeled column that means labeled.
    negative_label : str
        Value of the labeled column that marks known negatives.
    missing_is_unlabeled : bool
        Count blank cells of the labeled column as unlabeled.
    decimal : str
        What stands before the decimals of a number.
    resamples : int
        Bootstrap resamples; 0 for none.
    confidence_level : float
        Confidence level of intervals and bands.
    seed : int
        Seed of the bootstrap.
    """

    file: Id
    score: Scores
    labeled: Column
    truth: Column | UnsetType = UNSET
    weight: Column | UnsetType = UNSET
    group: Column | UnsetType = UNSET
    alpha: Share | UnsetType = UNSET
    beta: Share | UnsetType = UNSET
    scenario: Literal["case-control", "censoring"] | UnsetType = UNSET
    estimator: Annotated[str, Meta(pattern="^[a-z0-9-]{1,40}$")] | UnsetType = UNSET
    positive_label: Word | UnsetType = UNSET
    negative_label: Word | UnsetType = UNSET
    missing_is_unlabeled: bool | UnsetType = UNSET
    decimal: Literal[".", ","] | UnsetType = UNSET
    resamples: Annotated[int, Meta(ge=0, le=20_000)] | UnsetType = UNSET
    confidence_level: Annotated[float, Meta(ge=0.5, le=0.999)] | UnsetType = UNSET
    seed: Annotated[int, Meta(ge=0, le=4_294_967_295)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if len(set(self.score)) < len(self.score):
            raise ValueError("score must not name a column twice")

    @property
    def given(self) -> dict[str, Any]:
        """What was said, by name, but for the file."""
        values = {name: getattr(self, name) for name in self.__struct_fields__ if name != "file"}
        return {name: value for name, value in values.items() if value is not UNSET}


class Look(Struct, tag=True):
    """Look into a file that was just dropped."""

    folder: str
    file: str
    limit: int


class Evaluate(Struct, tag=True):
    """Make a report of a file in a folder, and leave it there."""

    folder: str
    file: str
    request: ReportRequest


class Step(Struct, tag=True):
    """How far a task is; a total of 0 is unknown. The first says that a worker is ready."""

    step: str
    done: int = 0
    total: int = 0


class ColumnInfo(Struct):
    """A column of a file.

    Attributes
    ----------
    name : str
        Its name.
    numbers : bool
        Whether its first cells are numbers.
    values : dict
        Rows by value, blank ones under "", where there are few values.
    """

    name: str
    numbers: bool
    values: dict[str, int] = {}


class Looked(Struct, tag=True):
    """What the first rows of a file show."""

    columns: list[ColumnInfo]
    rows: list[list[str]]
    guess: dict[str, str]
    worn: bool = False


class Evaluated(Struct, tag=True):
    """A report is in the folder; what the list of reports shows of it."""

    notes: list[str]
    figures: dict[str, float]
    headline: list[str] = []
    worn: bool = False


class Failed(Struct, tag=True):
    """A task came to nothing: the message, and where a parameter is to blame, its parts."""

    message: str
    parameter: str | None = None
    must: str | None = None
    got: str | None = None
    hint: str | None = None
    worn: bool = False


Answer = Step | Looked | Evaluated | Failed


def pack(message: Struct) -> bytes:
    """A message as a line, in ASCII: names may hold halves of surrogate pairs."""
    return json.dumps(msgspec.to_builtins(message)).encode("ascii") + b"\n"


# -- Worker processes ----------------------------------------------------------------------------


class WorkError(Exception):
    """A task that came to nothing, in words for the user, or in those of the worker."""

    def __init__(self, message: str, failed: Failed | None = None) -> None:
        super().__init__(message)
        self.failed = failed


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
        self.tasks = 0
        self.worn = False

    @classmethod
    async def start(cls, command: Sequence[str]) -> Worker:
        """Start a process and wait until it says that it is ready."""
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
        self.tasks += 1
        assert self.process.stdin is not None  # noqa: S101 - a pipe
        try:
            self.process.stdin.write(pack(task))
            await self.process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise LostError from error
        while True:
            answer = await self._answer()
            if isinstance(answer, Step):
                progress(answer)
                continue
            self.worn = answer.worn
            if isinstance(answer, Failed):
                raise WorkError(answer.message, answer)
            return answer

    async def _answer(self) -> Answer:
        assert self.process.stdout is not None  # noqa: S101 - a pipe
        try:
            line = await self.process.stdout.readline()
            found: Answer = msgspec.convert(json.loads(line), Answer)
        except ValueError as error:  # no line, no JSON, far too long a line, or none of ours
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

    def __init__(self, command: Sequence[str], *, size: int, tasks_per_worker: int) -> None:
        self._command = tuple(command)
        self._tasks_per_worker = tasks_per_worker
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False
        self._refill: asyncio.Task[None] | None = None

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

        One that was lost with its worker, which may have been killed by somebody, is given to
        fresh ones.
        """
        async with self._slots:
            for _ in range(_RETRIES):
                try:
                    return await self._try(task, timeout, progress)
                except LostError:
                    if self._closed:
                        raise
                    while self._idle:  # whoever killed one may have killed them all
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
        except WorkError as error:
            fit = error.failed is not None
            raise
        finally:
            self._busy.discard(worker)
            fit = fit and not worker.worn and worker.tasks < self._tasks_per_worker
            if fit and not self._closed:
                self._idle.append(worker)
            else:
                if not self._closed:  # so that the next task need not wait for one
                    self._refill = asyncio.create_task(self.warm())
                await worker.kill()
        return answer

    @property
    def pids(self) -> list[int]:
        """The processes that live now."""
        return [worker.process.pid for worker in (*self._idle, *self._busy)]

    async def close(self) -> None:
        """End every worker."""
        self._closed = True
        if self._refill is not None:
            self._refill.cancel()
            await asyncio.gather(self._refill, return_exceptions=True)
        while self._idle:
            await self._idle.pop().kill()
        for worker in tuple(self._busy):
            await worker.kill()


# -- Files and reports on disk, each with its owner, all of them gone in the end ------------------


class FullError(Exception):
    """No room for more, in words for the user."""


class FileAnswer(Struct, kw_only=True):
    """Columns and first rows of a file.

    Attributes
    ----------
    file : str
        What the file is called here.
    name : str
        Its own name.
    size : int
        Its bytes.
    columns : list
        Its columns.
    rows : list
        Cells of the first rows.
    guess : dict
        Columns whose role is plain from their names, by role.
    """

    id: Id = msgspec.field(name="file")
    name: str
    size: int
    columns: list[ColumnInfo]
    rows: list[list[str]]
    guess: dict[str, str]


class JobAnswer(Struct, kw_only=True):
    """How far a report is.

    Attributes
    ----------
    job : str
        What the report is called here.
    name : str
        Name of the file.
    score : list
        Columns of scores.
    state : str
        Whether it waits, is being made, or has ended.
    step : str
        What is being done.
    done : int
        How much of it is done.
    total : int
        And of how much; 0 where it is unknown.
    error : str
        Why it failed.
    notes : list
        What to know beside the figures.
    figures : dict
        Observed and recovered AUC, alpha and beta.
    headline : list
        What the report says first, with intervals and warnings.
    key : str
        Opens this report, and nothing else, in an address.
    """

    id: Id = msgspec.field(name="job")
    name: str
    score: list[str]
    state: Literal["waiting", "running", "done", "failed"]
    step: str
    done: int
    total: int
    error: str
    notes: list[str]
    figures: dict[str, float]
    headline: list[str]
    key: str


class Upload(FileAnswer, kw_only=True):
    """A file that someone dropped: what is told of it, and what is not."""

    owner: str
    folder: Path
    used: float = 0.0


class Job(JobAnswer, kw_only=True):
    """A report that is to be made, is being made, or lies in the folder."""

    owner: str
    folder: Path
    used: float
    task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ("done", "failed")


KeptT = TypeVar("KeptT", Upload, Job)


class Store:
    """One folder, readable by this user alone, with one folder for each file and report.

    The folder is locked for as long as this process lives, which tells the next one what is left
    over from one that was killed.
    """

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self.root, self._lock = _new_root()
        _remove_stale(self.root)
        self.uploads: dict[str, Upload] = {}
        self.jobs: dict[str, Job] = {}

    # -- files ----------------------------------------------------------------------------

    def begin_upload(self, owner: str, name: str) -> Upload:
        """A folder for a file that is about to come; it is nobody's until it is kept."""
        id_, folder = self._folder()
        return Upload(
            id=id_,
            name=plain_name(name),
            size=0,
            columns=[],
            rows=[],
            guess={},
            owner=owner,
            folder=folder,
        )

    def keep_upload(self, upload: Upload) -> None:
        """From now on its owner can use it. The one unused for longest makes room."""
        self.sweep()
        while len(self.uploads) >= self._settings.max_files:
            self.drop_upload(min(self.uploads.values(), key=lambda item: item.used))
        upload.used = self._clock()
        self.uploads[upload.id] = upload

    def drop_upload(self, upload: Upload) -> None:
        """Remove a file; a report that is being made of it has its own link to it."""
        self.uploads.pop(upload.id, None)
        shutil.rmtree(upload.folder, ignore_errors=True)

    # -- reports --------------------------------------------------------------------------

    def begin_job(self, upload: Upload, score: list[str]) -> Job:
        """A folder for a report; the one unused for longest makes room."""
        self.sweep()
        waiting = sum(not job.ended for job in self.jobs.values())
        if waiting >= self._settings.max_waiting:
            raise FullError(f"{waiting} reports are being made already; try again in a while.")
        ended = sorted((job for job in self.jobs.values() if job.ended), key=lambda job: job.used)
        for job in ended[: max(0, len(self.jobs) + 1 - self._settings.max_jobs)]:
            self.drop_job(job)
        id_, folder = self._folder()
        job = Job(
            id=id_,
            name=upload.name,
            score=score,
            state="waiting",
            step="",
            done=0,
            total=0,
            error="",
            notes=[],
            figures={},
            headline=[],
            key=secrets.token_urlsafe(24),
            owner=upload.owner,
            folder=folder,
            used=self._clock(),
        )
        self.jobs[job.id] = job
        return job

    @staticmethod
    def lend(upload: Upload, job: Job) -> None:
        """Put the file into the folder of a report, under its own name."""
        source, target = upload.folder / upload.name, job.folder / upload.name
        try:
            os.link(source, target)
        except OSError:  # a file system without links
            shutil.copyfile(source, target)

    def end_job(self, job: Job) -> None:
        """What is left of the data in the folder goes; the report stays for a while."""
        job.used = self._clock()
        keep = REPORTS if job.state == "done" else ()
        with suppress(OSError):
            for path in job.folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif path.name not in keep:
                    path.unlink(missing_ok=True)
        if job.id not in self.jobs:  # removed while the worker still wrote
            shutil.rmtree(job.folder, ignore_errors=True)

    def jobs_of(self, owner: str) -> list[Job]:
        """The caller's reports, the newest first."""
        self.sweep()
        return [job for job in reversed(self.jobs.values()) if job.owner == owner]

    def drop_job(self, job: Job) -> None:
        """Remove a report, and stop making it."""
        self.jobs.pop(job.id, None)
        if job.task is not None:
            job.task.cancel()
        shutil.rmtree(job.folder, ignore_errors=True)

    # -- all ------------------------------------------------------------------------------

    def find(self, kept: dict[str, KeptT], id_: str, owner: str) -> KeptT | None:
        """A file or a report, if it is the caller's."""
        self.sweep()
        found = kept.get(id_)
        if found is None or found.owner != owner:
            return None
        found.used = self._clock()
        return found

    def sweep(self) -> None:
        """Remove what nobody has used for long."""
        oldest = self._clock() - self._settings.keep
        for upload in [item for item in self.uploads.values() if item.used < oldest]:
            self.drop_upload(upload)
        for job in [item for item in self.jobs.values() if item.ended and item.used < oldest]:
            self.drop_job(job)

    def close(self) -> None:
        """Remove everything."""
        for job in tuple(self.jobs.values()):
            self.drop_job(job)
        self.uploads.clear()
        shutil.rmtree(self.root, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _folder(self) -> tuple[str, Path]:
        id_ = secrets.token_urlsafe(24)
        folder = self.root / id_
        try:
            folder.mkdir(mode=0o700)
        except FileNotFoundError:  # temporary folders get tidied
            self.root.mkdir(mode=0o700)
            if self._lock is not None:
                os.close(self._lock)
                self._lock = _lock(self.root)
            folder.mkdir(mode=0o700)
        if self._lock is not None and not os.path.samestat(self.root.stat(), os.fstat(self._lock)):
            raise PermissionError(errno.EPERM, "somebody has replaced the temporary folder")
        return id_, folder


def _new_root() -> tuple[Path, int | None]:
    """A folder of our own, locked; None where folders cannot be."""
    while True:
        root = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = _lock(root)
        if lock is None or root.exists():  # else another server took it for a stale one
            return root, lock
        os.close(lock)


def _lock(folder: Path) -> int | None:
    """A descriptor that locks a folder until it is closed, or the process ends; None if taken."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    descriptor = None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
    except OSError:
        pass
    if descriptor is not None:
        os.close(descriptor)
    return None


def _remove_stale(root: Path) -> None:
    """Remove what a server left that was killed together with its workers."""
    for folder in root.parent.glob(f"{_PREFIX}*"):
        lock = _lock(folder) if folder != root else None
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def plain_name(name: str) -> str:
    """A file name that is only a name, on any system and as an argument of a command."""
    last = re.split(r"[/\\]", name)[-1]
    plain = _UNUSUAL.sub("_", last).strip(" .")
    if len(plain) > _MAX_NAME:  # the end tells the format
        plain = plain[: _MAX_NAME - 20] + plain[-20:]
    # Some systems take REPORT.HTML for report.html, which is to come.
    if not plain or plain.startswith("-") or plain.lower() in REPORTS:
        plain = f"data_{plain}" if plain else "data"
    return plain
