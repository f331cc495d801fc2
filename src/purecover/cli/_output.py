"""Writing results: whole files or none, and JSON without NaN."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from purecover._codec import json_text, replacing
from purecover._validation import show
from purecover.cli._messages import CommandError
from purecover.cli._options import DASH, undash

__all__ = ["check_outputs", "check_writable", "plain", "print_json", "write_atomically"]


def check_writable(option: str, path: str, *, not_this: str | None = None) -> None:
    """Refuse a path that cannot be written before any long work is done."""
    target = Path(path)
    try:
        if path in ("", DASH) or target.is_dir():
            raise CommandError(f"{option} must name a file, got {show(undash(path))}.")
        if not target.parent.is_dir():
            raise CommandError(
                f"{option} {show(path)} cannot be written: there is no directory "
                f"{show(str(target.parent))}."
            )
        place = target if target.exists() else target.parent
        if not os.access(place, os.W_OK):
            raise CommandError(f"{option} {show(path)} cannot be written: no permission.")
        if not_this not in (None, DASH) and target.exists() and target.samefile(str(not_this)):
            raise CommandError(f"{option} {show(path)} would overwrite the data.")
    except (OSError, ValueError) as error:
        raise CommandError(f"{option} {show(path)} cannot be written: {error}.") from error


def check_outputs(paths: dict[str, str | None], *, not_this: str | None = None) -> None:
    """Refuse paths that cannot be written, or that are one and the same; None is not asked for."""
    seen: dict[str, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        check_writable(option, path, not_this=not_this)
        real = os.path.realpath(path)
        if real in seen and real != os.devnull:
            raise CommandError(f"{seen[real]} and {option} name the same file.")
        seen[real] = option


@contextmanager
def write_atomically(option: str, path: str) -> Iterator[BinaryIO]:
    """A file that appears under its name only when it is complete."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            with target.open("wb") as device:  # replacing /dev/null by a file would be rude
                yield device
            return
        with replacing(target) as file:
            yield file
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(f"{option} {show(path)} cannot be written: {reason}.") from error


def plain(value: Any) -> Any:
    """Data that JSON can hold: what is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


def print_json(document: dict[str, Any]) -> None:
    """One JSON document on standard output."""
    print(json_text(plain(document)))  # noqa: T201
