"""The state file: always the old one or the new one, whole, and one writer at a time."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from purecover._codec import replacing
from purecover._validation import bad_type, bad_value, show
from purecover.exceptions import InvalidInputError

SCHEMA = "purecover.monitor/1"
"""Name and version of what is written."""

_WAIT_S = 600.0  # for other processes, each of which may be estimating alpha
_MUST = "a state file of purecover monitor"
_BACKUP = "take the file from a backup, or start a new one from the partitions"


def as_path(path: object) -> Path:
    """A path, or a complaint."""
    if isinstance(path, (str, os.PathLike)) and str(path) and "\0" not in str(path):
        return Path(os.path.realpath(path))  # so that a link stays one when its file is replaced
    raise bad_type("path", "the name of a file", path)


# -- reading ----------------------------------------------------------------------------------


def read_state(path: Path) -> tuple[dict[str, Any], str]:
    """The state in a file, and its checksum."""

    def wrong(got: str, hint: str) -> InvalidInputError:
        return _wrong(path, got, hint)

    other = "is it another file? purecover monitor starts a new state under a name that is free"
    try:
        document = json.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError as error:
        raise wrong("which does not exist", "is the name right?") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise wrong(f"which cannot be read: {reason}", other) from error
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        hint = f"it may be cut off or another file; {_BACKUP}"
        raise wrong(f"which is no JSON ({why})", hint) from error
    if not isinstance(document, dict) or not str(document.get("schema")).startswith(
        "purecover.monitor/"
    ):
        raise wrong("which is the JSON of something else", other)
    if document["schema"] != SCHEMA:
        got = f"of the kind {show(document['schema'])}; this purecover reads {SCHEMA!r}"
        raise wrong(got, f"read it with purecover {show(document.get('version'))}")
    state, checksum = document.get("state"), document.get("checksum")
    if not isinstance(state, dict) or _checksum(state) != checksum:
        raise wrong("whose content does not fit its checksum: it was changed or damaged", _BACKUP)
    return state, str(checksum)


def damaged(path: Path, error: Exception) -> InvalidInputError:
    """The complaint about a file whose checksum is right and whose content is not."""
    why = " ".join(str(error).split())
    return _wrong(path, f"whose content cannot be used ({why})", _BACKUP)


def _wrong(path: Path, got: str, hint: str) -> InvalidInputError:
    return bad_value("path", _MUST, f"{show(str(path))}, {got}", hint)


def _unwritable(path: Path, error: OSError) -> InvalidInputError:
    hint = "is the name right, and may you write there?"
    if not path.parent.exists():
        hint = f"make the folder {str(path.parent)!r} first"  # in full, to be copied
    got = f"{show(str(path))}: {error.strerror or error}"
    return bad_value("path", "a file in a folder that can be written", got, hint)


def _checksum(state: dict[str, Any]) -> str:
    """Of the content, however it is laid out."""
    text = json.dumps(state, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


# -- writing ----------------------------------------------------------------------------------


def write_state(path: Path, state: dict[str, Any]) -> str:
    """Replace the file by one with this state, and return its checksum.

    The new file is written beside the old one, reaches the disk, and takes its name in one step;
    then the folder reaches the disk. To be called by whoever holds the lock.
    """
    checksum = _checksum(state)
    document = {
        "schema": SCHEMA,
        # Not imported: the package's front stands above this layer, and is loaded already.
        "version": sys.modules["purecover"].__version__,
        "checksum": checksum,
        "state": state,
    }
    text = json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
    for left in path.parent.glob(f".{_glob(path.name)}.*.tmp"):  # by a process that was killed
        # A state called "a.b" may be written right now beside one called "a".
        if left.name.removeprefix(f".{path.name}.").count(".") == 2:
            with suppress(OSError):
                left.unlink()
    prefix, suffix = f".{path.name}.", f".{os.getpid()}.tmp"
    with replacing(path, prefix=prefix, suffix=suffix, durable=True) as file:
        file.write(text.encode())
    return checksum


def _glob(name: str) -> str:
    """A name in which no character is a wildcard."""
    return "".join(f"[{c}]" if c in "[*?" else c for c in name)


# -- one at a time ----------------------------------------------------------------------------


@contextmanager
def locked(path: Path, *, wait_s: float = _WAIT_S) -> Iterator[None]:
    """Hold the lock of a state file; wait for others who do.

    The lock is the operating system's, on a file beside the state, and ends with the process
    that holds it, however that ends. The file itself stays: were it removed, someone who waits
    for it and someone who makes a new one would both have "the" lock.
    """
    lock = path.with_name(f"{path.name}.lock")
    try:
        file = lock.open("ab")
    except OSError as error:
        raise _unwritable(path, error) from error
    with file:
        deadline = time.monotonic() + wait_s
        while not _take(file):
            if time.monotonic() > deadline:
                raise InvalidInputError(
                    f"{show(str(path))} has been in use by another process for {wait_s:g} s.\n"
                    f"Hint: see who holds {show(str(lock))}"
                )
            time.sleep(0.02)
        try:
            yield
        finally:
            _release(file)


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _take(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
