"""Run the site on this machine until someone stops it."""

from __future__ import annotations

import signal
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn

from purecover.app._settings import Settings
from purecover.app._site import make_site

__all__ = ["serve"]

_PATIENCE = 3
"""Seconds that open connections have when the server stops."""


def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    announce: Callable[[str], None],
    browser: bool,
) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    settings : Settings
        Limits and the command of the workers.
    host, port
        Where to listen; port 0 takes a free one.
    announce
        Called with the address, token included, once connections are accepted.
    browser
        Whether to open the address in the user's browser.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    with listener:
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        address = f"http://{shown}:{listener.getsockname()[1]}/"
        if settings.token is not None:
            address += f"?token={settings.token}"
        config = uvicorn.Config(
            make_site(settings),
            log_level="warning",
            access_log=False,  # it would write the token down
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            timeout_graceful_shutdown=_PATIENCE,
        )
        server = _Server(config, lambda: _open(address, announce, browser=browser))
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """Says when it is ready, and stops in order when the terminal is closed too."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets=sockets)
        if hasattr(signal, "SIGHUP"):
            with suppress(ValueError):  # not in the main thread
                signal.signal(signal.SIGHUP, self._hang_up)
        if self.started:
            self._ready()

    def _hang_up(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.should_exit = True


def _open(address: str, announce: Callable[[str], None], *, browser: bool) -> None:
    announce(address)
    if browser:
        with suppress(webbrowser.Error):
            webbrowser.open(address)
