"""Files and reports on disk, all removed in the end."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from starlette.exceptions import HTTPException

from purecover._folders import claim, new_folder
from purecover.app.jobs import ANSWERS, ColumnInfo, Settings

_PREFIX = "purecover-app-"
_UNUSUAL = re.compile(r"[^\w.()+ -]+")
_MAX_NAME = 60  # file systems count up to 255 bytes, and a letter may take four
REPORTS = ("report.html", "report.json")
"""Files that a worker leaves in the folder of a report."""


@dataclass(kw_only=True)
class Upload:
    """A file that was dropped, its columns and its first rows."""

    id: str
    folder: Path
    name: str
    size: int = 0
    columns: list[ColumnInfo] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    guess: dict[str, str] = field(default_factory=dict)
    """Columns whose role is plain from their names, by role."""
    used: float = 0.0
    judging: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while answers are saved."""

    @property
    def answers(self) -> Path:
        """Where answers about its rows are kept."""
        return self.folder / ANSWERS

    @property
    def about(self) -> dict[str, Any]:
        """Fields that are sent to the page."""
        names = ("name", "size", "columns", "rows", "guess")
        return {"file": self.id} | {name: getattr(self, name) for name in names}


@dataclass(kw_only=True)
class Job:
    """A report that is to be made, is being made, or lies in the folder."""

    id: str
    folder: Path
    name: str
    score: list[str]
    key: str
    """Opens this report, and nothing else, in an address."""
    used: float
    state: Literal["waiting", "running", "done", "failed"] = "waiting"
    step: str = ""
    done: int = 0
    total: int = 0
    """How much of the step there is to do; 0 if that is unknown."""
    error: str = ""
    notes: list[str] = field(default_factory=list)
    headline: list[str] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ("done", "failed")

    @property
    def about(self) -> dict[str, Any]:
        """Fields that are sent to the page."""
        hidden = ("id", "folder", "used", "task")
        told = {name: value for name, value in vars(self).items() if name not in hidden}
        return {"job": self.id} | told


KeptT = TypeVar("KeptT", Upload, Job)


class Store:
    """One folder, readable by this user alone, with one folder for each file and report.

    The folder is locked for as long as this process lives, which shows the next one what is left
    over from one that was killed.
    """

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self.root, self._lock = new_folder(_PREFIX)
        self.uploads: dict[str, Upload] = {}
        self.jobs: dict[str, Job] = {}

    def begin_upload(self, name: str) -> Upload:
        """A folder for a file that is about to come; it cannot be used until it is kept."""
        id_, folder = self._folder()
        return Upload(id=id_, name=plain_name(name), folder=folder)

    def keep_upload(self, upload: Upload) -> None:
        """From now on it can be used. The one unused for longest makes room."""
        self.sweep()
        while len(self.uploads) >= self._settings.max_files:
            self.drop_upload(min(self.uploads.values(), key=lambda item: item.used))
        upload.used = self._clock()
        self.uploads[upload.id] = upload

    def drop_upload(self, upload: Upload) -> None:
        """Remove a file; a report that is being made of it has its own link to it."""
        self.uploads.pop(upload.id, None)
        shutil.rmtree(upload.folder, ignore_errors=True)

    def begin_job(self, upload: Upload, score: list[str]) -> Job:
        """A folder for a report; the one unused for longest makes room."""
        self.sweep()
        waiting = sum(not job.ended for job in self.jobs.values())
        if waiting >= self._settings.max_waiting:
            told = f"{waiting} reports are being made already; try again in a while."
            raise HTTPException(429, told)
        ended = sorted((job for job in self.jobs.values() if job.ended), key=lambda job: job.used)
        for job in ended[: max(0, len(self.jobs) + 1 - self._settings.max_jobs)]:
            self.drop_job(job)
        id_, folder = self._folder()
        job = Job(
            id=id_,
            name=upload.name,
            score=score,
            key=secrets.token_urlsafe(24),
            folder=folder,
            used=self._clock(),
        )
        self.jobs[job.id] = job
        return job

    @staticmethod
    def lend(upload: Upload, job: Job) -> None:
        """Put the file, and answers about its rows, into the folder of a report."""
        answers = [upload.answers] if upload.answers.exists() else []
        for source in (upload.folder / upload.name, *answers):
            target = job.folder / source.name
            try:
                os.link(source, target)
            except OSError:  # a file system without links
                shutil.copyfile(source, target)

    def end_job(self, job: Job) -> None:
        """Remove the data from the folder of a finished job and keep the report for a while."""
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

    def drop_job(self, job: Job) -> None:
        """Remove a report, and stop making it."""
        self.jobs.pop(job.id, None)
        if job.task is not None:
            job.task.cancel()
        shutil.rmtree(job.folder, ignore_errors=True)

    def find(self, kept: dict[str, KeptT], id_: str, what: str) -> KeptT:
        """A file or a report that is still there."""
        self.sweep()
        if id_ not in kept:
            message = f"there is no such {what}; it may have been removed to make room."
            raise HTTPException(404, message)
        kept[id_].used = self._clock()
        return kept[id_]

    def sweep(self) -> None:
        """Remove files and reports that have not been used for a long time."""
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
                self._lock = claim(self.root)
            folder.mkdir(mode=0o700)
        if self._lock is not None and not os.path.samestat(self.root.stat(), os.fstat(self._lock)):
            raise PermissionError(errno.EPERM, "somebody has replaced the temporary folder")
        return id_, folder


def plain_name(name: str) -> str:
    """A file name that is only a name, on any system and as an argument of a command."""
    last = re.split(r"[/\\]", name)[-1]
    plain = _UNUSUAL.sub("_", last).strip(" .")
    if len(plain) > _MAX_NAME:  # the end shows the format
        plain = plain[: _MAX_NAME - 20] + plain[-20:]
    # Some systems take REPORT.HTML for report.html, which is to come.
    if not plain or plain.startswith("-") or plain.lower() in (*REPORTS, ANSWERS):
        plain = f"data_{plain}" if plain else "data"
    return plain
