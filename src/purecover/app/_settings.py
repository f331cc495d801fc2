"""What a server needs to know, and where its limits are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["LOOPBACK", "Settings"]

LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
"""Names under which this machine may call itself."""

MB = 10**6


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
    keep: float = 3600.0
    max_uploads_at_once: int = 16
    max_files: int = 20
    max_jobs: int = 100
    max_waiting: int = 32
    jobs_per_worker: int = 20

    @property
    def max_memory(self) -> int:
        """Bytes that a worker process may use: some for the program, and much for the data."""
        return 2_000 * MB + 20 * self.max_upload
