"""Run the site on this machine until someone stops it."""

from __future__ import annotations

import asyncio
import signal
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from purecover.app._settings import Settings
from purecover.app._site import make_site

__all__ = ["serve"]

_PATIENCE = 3
"""Seconds that open connections have when the server stops."""
_HEAD_PATIENCE = 30.0
"""Seconds that a connection has to say what it wants."""


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
        address = once = f"http://{shown}:{listener.getsockname()[1]}/"
        site = make_site(settings)
        if settings.token is not None:
            address += f"?token={settings.token}"
            once += f"?token={site.issue_ticket()}"
        config = uvicorn.Config(
            site,
            http=_Listener,
            ws="none",
            log_level="warning",
            access_log=False,  # it would write the token down
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            timeout_graceful_shutdown=_PATIENCE,
        )

        def ready() -> None:
            announce(address)
            if browser:
                with suppress(webbrowser.Error):
                    webbrowser.open(once)

        server = _Server(config, ready)
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


class _Listener(H11Protocol):
    """Hangs up on whoever takes too long to say what is wanted; uvicorn would wait forever."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Wait no longer once a request is there; wait anew where the next has only begun."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        super().connection_lost(exc)
        self._forget()

    def _watch(self) -> None:
        request: RequestResponseCycle | None = self.cycle  # which is none at first
        if request is not None and not request.response_complete:
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(_HEAD_PATIENCE, self.transport.close)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
