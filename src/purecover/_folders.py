"""Temporary folders that nobody else can read; what a killed process left is removed later."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def new_folder(prefix: str) -> tuple[Path, int | None]:
    """A folder of our own, locked by a descriptor; None where folders cannot be.

    Folders of this prefix that a killed process left are removed.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        lock = lock_folder(folder)
        if lock is None or folder.exists():  # else another process took it for a stale one
            break
        os.close(lock)
    for other in folder.parent.glob(f"{prefix}*"):
        stale = lock_folder(other) if other != folder else None
        if stale is not None:
            shutil.rmtree(other, ignore_errors=True)
            os.close(stale)
    return folder, lock


def lock_folder(folder: Path) -> int | None:
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


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder for what does not fit into memory, removed at the end."""
    folder, lock = new_folder("purecover-data-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)
