"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a file that other processes see with all of its content or not at all.

    Parameters
    ----------
    path : Path
        The file; one that exists is replaced, and stays as it is if writing fails.
    content : bytes
        Its content.
    durable : bool, default=False
        Whether the content must have reached the disk when the call returns.
    """
    path = Path(os.path.realpath(path))  # so that a link stays one
    if path.exists() and not path.is_file():  # a device such as /dev/null cannot be replaced
        path.write_bytes(content)
        return
    # A short part of the name leaves room for the random part.
    new = path.parent / f".{path.name[:32]}.{secrets.token_hex(8)}"
    try:
        with new.open("xb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    if durable and os.name != "nt":  # where folders cannot be opened
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
