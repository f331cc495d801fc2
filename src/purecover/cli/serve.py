"""``purecover app``; the page that it serves is in ``purecover.app``."""

from __future__ import annotations

import sys
from typing import Any

from purecover.cli.options import takes
from purecover.cli.output import CommandError, note, say

# -P: without it a module in the current folder, next to the data, would be taken for Python's own.
WORKER = (sys.executable, "-P", "-m", "purecover.cli._worker")


@takes("port browser token max_upload timeout quiet", quiet="Print the address alone.")
def serve(**given: Any) -> int:
    """Open a page on this machine: drop a file, choose its columns, see and keep the report.

    Nothing leaves the machine. Files that are sent to the page are removed when it stops, or an
    hour after their last use.
    """
    port, quiet = given.get("port", 0), given.get("quiet", False)
    if not 0 <= port <= 65_535:
        raise CommandError(f"--port must be from 0 to 65535, got {port}.")
    timeout = given.get("timeout", 600)
    if timeout < 1:
        raise CommandError(f"--timeout must be a whole number of at least 1, got {timeout}.")
    from purecover._validation import require

    for module in ("starlette", "uvicorn"):
        require(module, extra="app", by="purecover app")
    from secrets import token_urlsafe

    from purecover.app.jobs import Settings
    from purecover.app.server import serve as listen

    def announce(address: str) -> None:
        if quiet:
            say(address)
        note(f"open {address}", quiet=quiet)
        note("Ctrl-C stops it and removes the files that were sent to it", quiet=quiet)

    settings = Settings(
        worker=WORKER,
        token=token_urlsafe(32) if given.get("token", True) else None,
        max_upload=given.get("max_upload", 200_000_000),
        job_timeout=timeout,
    )
    try:
        listen(settings, port=port, tell=announce, browser=given.get("browser", True))
    except OSError as error:
        raise CommandError(
            f"the server cannot listen on port {port}: {error.strerror or error}.\n"
            "Hint: --port 0 takes a free port."
        ) from error
    return 0
