"""The command ``purecover app``; what it does lives in the module it imports when run."""

from __future__ import annotations

import re
from typing import Annotated, Any

from cyclopts import Group, Parameter

from purecover.cli._messages import CommandError
from purecover.cli._options import Positive, Quiet, Whole

__all__ = ["serve"]

SERVER = Group("Server", sort_key=1)
LIMITS = Group("Limits", sort_key=2)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|kB|MB|GB|)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}


def _size(_: Any, tokens: Any) -> int:
    """Bytes, from words such as 200MB."""
    option, text = tokens[0].keyword, str(tokens[0].value)
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else round(float(match[1]) * _UNITS[match[2].lower()])
    if size < 1:
        raise CommandError(f"{option} must be a size such as 200MB or 2GB, got {text[:80]!r}.")
    return size


Size = Annotated[int, Parameter(converter=_size, show_default="200MB")]


def serve(
    *,
    port: Annotated[Whole, Parameter(group=SERVER)] = 0,
    host: Annotated[str, Parameter(group=SERVER)] = "127.0.0.1",
    browser: Annotated[bool, Parameter(group=SERVER, negative="--no-browser")] = True,
    token: Annotated[bool, Parameter(group=SERVER, negative="--no-token")] = True,
    max_upload: Annotated[Size, Parameter(group=LIMITS)] = 200_000_000,
    workers: Annotated[Positive, Parameter(group=LIMITS)] = 2,
    timeout: Annotated[Positive, Parameter(group=LIMITS)] = 600,
    quiet: Annotated[Quiet, Parameter(group=SERVER)] = False,
) -> int:
    """Open a page on this machine: drop a file, choose its columns, see and keep the report.

    Nothing leaves the machine. Files that are sent to the page are removed when it stops, or an
    hour after their last use.

    Parameters
    ----------
    port
        Port to listen on; 0 takes a free one.
    host
        Address to listen on; only those of this machine alone, such as 127.0.0.1 or ::1.
    browser
        Open the page in your browser.
    token
        Ask for the secret that is in the printed address, so that other users and programs of
        this machine stay out.
    max_upload
        Largest file, also after unpacking, such as 500MB or 2GB.
    workers
        Reports made at the same time.
    timeout
        Seconds that a report may take.
    quiet
        Print the address alone.
    """
    from purecover.cli._serve import run_serve

    return run_serve(
        host=host,
        port=port,
        max_upload=max_upload,
        workers=workers,
        timeout=timeout,
        browser=browser,
        token=token,
        quiet=quiet,
    )
