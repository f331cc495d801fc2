"""Files and reports on disk, each with its owner, all of them gone in the end."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from purecover.app._settings import Settings

__all__ = ["FullError", "Job", "Store", "Upload", "plain_name"]

State = Literal["waiting", "running", "done", "failed"]
_UNUSUAL = re.compile(r"[^\w.()+ -]+")
_MAX_NAME = 60  # file systems count up to 255 bytes, and a letter may take four


class FullError(Exception):
    """No room for more, in words for the user."""


@dataclass
class Upload:
    """A file that someone dropped."""

    id: str
    owner: str
    folder: Path
    name: str
    size: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    used: float = 0.0


@dataclass
class Job:
    """A report that is to be made, is being made, or lies in the folder."""

    id: str
    owner: str
    folder: Path
    name: str
    score: list[str] = field(default_factory=list)
    state: State = "waiting"
    step: str = ""
    done: int = 0
    total: int = 0
    error: str = ""
    notes: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    used: float = 0.0
    task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ("done", "failed")


class Store:
    """One folder, readable by this user alone, with one folder for each file and report."""

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self.root = Path(tempfile.mkdtemp(prefix="purecover-app-"))
        self.uploads: dict[str, Upload] = {}
        self.jobs: dict[str, Job] = {}

    # -- files ----------------------------------------------------------------------------

    def begin_upload(self, owner: str, name: str) -> Upload:
        """A folder for a file that is about to come; it is nobody's until it is kept."""
        id_, folder = self._folder()
        return Upload(id_, owner, folder, plain_name(name))

    def keep_upload(self, upload: Upload) -> None:
        """From now on its owner can use it. The one unused for longest makes room."""
        self.sweep()
        while len(self.uploads) >= self._settings.max_files:
            self.drop_upload(min(self.uploads.values(), key=lambda item: item.used))
        upload.used = self._clock()
        self.uploads[upload.id] = upload

    def upload(self, id_: str, owner: str) -> Upload | None:
        """The file, if it is the caller's."""
        self.sweep()
        found = self.uploads.get(id_)
        if found is None or found.owner != owner:
            return None
        found.used = self._clock()
        return found

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
        job = Job(id_, upload.owner, folder, upload.name, score, used=self._clock())
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
        keep = {"report.html", "report.json"} if job.state == "done" else set()
        with suppress(OSError):
            for path in job.folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif path.name not in keep:
                    path.unlink(missing_ok=True)

    def job(self, id_: str, owner: str) -> Job | None:
        """The report, if it is the caller's."""
        self.sweep()
        found = self.jobs.get(id_)
        if found is None or found.owner != owner:
            return None
        found.used = self._clock()
        return found

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

    def _folder(self) -> tuple[str, Path]:
        id_ = secrets.token_urlsafe(24)
        folder = self.root / id_
        folder.mkdir(mode=0o700)
        return id_, folder


def plain_name(name: str) -> str:
    """A file name that is only a name, on any system and as an argument of a command."""
    last = re.split(r"[/\\]", name)[-1]
    plain = _UNUSUAL.sub("_", last).strip(" .")
    if len(plain) > _MAX_NAME:  # the end tells the format
        plain = plain[: _MAX_NAME - 20] + plain[-20:]
    # Some systems take REPORT.HTML for report.html, which is to come.
    if not plain or plain.startswith("-") or plain.lower() in ("report.html", "report.json"):
        plain = f"data_{plain}" if plain else "data"
    return plain
