"""``purecover app``."""

from __future__ import annotations

import ipaddress
import secrets
import sys
from importlib.resources import as_file, files
from importlib.util import find_spec

from purecover._validation import show
from purecover.cli._messages import CommandError, note, say
from purecover.exceptions import MissingDependencyError

__all__ = ["run_serve"]

WORKER = (sys.executable, "-m", "purecover.cli._worker")


def run_serve(
    *,
    host: str,
    port: int,
    max_upload: int,
    workers: int,
    timeout: int,
    browser: bool,
    token: bool,
    quiet: bool,
) -> int:
    """Serve the page until interrupted."""
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
    from purecover.app.server import serve

    def announce(address: str) -> None:
        if quiet:
            say(address)
            return
        note(f"open {address}", quiet=False)
        note("Ctrl-C stops it and removes the files that were sent to it", quiet=False)

    with as_file(files("purecover") / "data" / "example_scores.csv") as example:
        settings = Settings(
            worker=WORKER,
            example=example,
            token=secrets.token_urlsafe(32) if token else None,
            max_upload=max_upload,
            workers=workers,
            job_timeout=timeout,
        )
        try:
            serve(settings, host=host, port=port, announce=announce, browser=browser)
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
