"""Temporary folders that nobody else can read; what a killed process left is removed later."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = ".purecover"
"""A file in each folder of ours, which holds the name of the folder: a copy of it is not ours."""


def new_folder(prefix: str) -> tuple[Path, int | None]:
    """A folder of our own, locked by a descriptor; None where folders cannot be.

    Folders of this prefix that a killed process left are removed.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    lock = claim(folder)
    for other in folder.parent.glob(f"{prefix}*"):
        # Marked folders alone are tried, so that no lock is taken before its owner has it.
        stale = lock_folder(other) if other != folder and _is_marked(other) else None
        if stale is not None:
            shutil.rmtree(other, ignore_errors=True)
            os.close(stale)
    return folder, lock


def claim(folder: Path) -> int | None:
    """Lock a folder of ours, and only then mark it as one to be removed once its lock is free."""
    lock = lock_folder(folder)
    if lock is not None:
        with suppress(OSError):  # a full disk: what needs no room goes on
            (folder / MARK).write_text(folder.name)
    return lock


def _is_marked(folder: Path) -> bool:
    try:
        return (folder / MARK).read_text() == folder.name
    except (OSError, ValueError):
        return False


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
