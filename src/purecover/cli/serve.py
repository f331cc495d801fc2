"""``purecover app``."""

from __future__ import annotations

import ipaddress
import re
import sys
from importlib.resources import as_file, files
from importlib.util import find_spec
from typing import Annotated, Any

from cyclopts import Group, Parameter

from purecover.cli.options import Positive, Quiet, Whole
from purecover.cli.output import CommandError, note, say, show
from purecover.exceptions import MissingDependencyError

WORKER = (sys.executable, "-m", "purecover.cli._worker")
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
        Largest file, also after unpacking: a number and its unit, B, kB, MB or GB, such as 500MB;
        bytes without a unit.
    workers
        Reports made at the same time.
    timeout
        Seconds that a report may take.
    quiet
        Print the address alone.
    """
    host = _loopback(host)
    if port > 65_535:
        raise CommandError(f"--port must be at most 65535, got {port}.")
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise MissingDependencyError(
            f"purecover app needs {' and '.join(missing)}, which cannot be imported.\n"
            "Hint: pip install 'purecover[app]'"
        )
    from purecover.app.jobs import Settings
    from purecover.app.server import serve as listen

    def announce(address: str) -> None:
        if quiet:
            say(address)
            return
        note(f"open {address}", quiet=False)
        note("Ctrl-C stops it and removes the files that were sent to it", quiet=False)

    from secrets import token_urlsafe

    with as_file(files("purecover") / "data" / "example_scores.csv") as example:
        settings = Settings(
            worker=WORKER,
            example=example,
            token=token_urlsafe(32) if token else None,
            max_upload=max_upload,
            workers=workers,
            job_timeout=timeout,
        )
        try:
            listen(settings, host=host, port=port, announce=announce, browser=browser)
        except OSError as error:
            raise CommandError(
                f"the server cannot listen on {host}, port {port}: {error.strerror or error}.\n"
                "Hint: --port 0 takes a free port."
            ) from error
    return 0


def _loopback(host: str) -> str:
    """An address of this machine that no other can reach."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise CommandError(
            f"--host must be an address of this machine alone, such as 127.0.0.1, got "
            f"{show(host)}.\nHint: the data would cross the network unencrypted; "
            "reach another machine's server through ssh -L PORT:127.0.0.1:PORT."
        )
    return str(address)
