"""Saving results: JSON that people can page through, and files written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


def json_text(value: Any, indent: int | None = 2) -> str:
    """Strict JSON; with an indent, a list of numbers stays on one line however long it is."""
    if indent is None:
        return json.dumps(value, allow_nan=False)
    return _text(value, " " * indent, "\n")


def _text(value: Any, step: str, newline: str) -> str:
    inner = newline + step
    if isinstance(value, dict) and value:
        rows = (f"{json.dumps(str(k))}: {_text(v, step, inner)}" for k, v in value.items())
        return f"{{{inner}{f',{inner}'.join(rows)}{newline}}}"
    if isinstance(value, list) and any(isinstance(item, (dict, list, str)) for item in value):
        return f"[{inner}{f',{inner}'.join(_text(item, step, inner) for item in value)}{newline}]"
    return json.dumps(value, allow_nan=False)


# -- Files that are written whole or not at all --------------------------------------------------


@contextmanager
def replacing(
    path: Path, *, prefix: str | None = None, suffix: str = "", durable: bool = False
) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` that takes its name, and its permissions, once it is complete.

    Whatever goes wrong before, ``path`` stays as it was and nothing is left beside it. With
    ``durable`` the content reaches the disk before the name changes, and the folder after it.
    """
    # The start of the name is enough to know it by, and a long one leaves no room for more.
    before = f".{path.name[:32]}." if prefix is None else prefix
    descriptor, name = tempfile.mkstemp(suffix, before, path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


def _mode(path: Path) -> int:
    """Permissions of the file replaced, or those of a new file."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # where folders cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
