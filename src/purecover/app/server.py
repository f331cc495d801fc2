"""The site: operations, pages, the guard in front of them, and the server that runs it."""

from __future__ import annotations

import asyncio
import errno
import hmac
import os
import re
import signal
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import ClassVar

import uvicorn
from jinja2 import Template
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from purecover.app.api import Api, Endpoint, json_answer
from purecover.app.jobs import FORM, Settings, WorkError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""Headers of every answer that sets no others itself."""

_REPORT = re.compile(r"/api/jobs/([\w-]+)/report\.(html|json)")
_HOSTS = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """Lets a request through to the site if host, origin and secret are right.

    The page itself is the same for everyone and open. What it asks for travels with the token in a
    header, which no browser sends by itself: a cookie would go to every port of this machine.
    Links to a report carry no header; ``key_of`` gives the key that opens it in an address.
    """

    def __init__(
        self, site: ASGIApp, *, token: str | None, key_of: Callable[[str], str | None]
    ) -> None:
        self._site = site
        self._token = token
        self._key_of = key_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the site do it."""
        if scope["type"] != "http":  # the site has no web sockets and says so itself
            await self._site(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        answer = _refuse_strangers(scope, headers) or self._admit(scope, headers)
        await (answer or self._site)(scope, receive, send_with_headers)

    def _admit(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse a request that carries neither the token nor the key of the report it asks for."""
        path = scope["path"]
        if self._token is None or path == "/" or path.startswith("/static/"):
            return None
        if report := _REPORT.fullmatch(path):
            key = self._key_of(report[1])
            given = QueryParams(scope["query_string"]).get("key", "")
            if key is not None and hmac.compare_digest(given.encode(), key.encode()):
                return None
        kind, _, secret = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and hmac.compare_digest(
            secret.strip().encode(), self._token.encode()
        ):
            return None
        what = "This is not the secret of this server" if secret else "The token is missing"
        return _refusal(
            401, f"{what}. Open the address that purecover app printed in the terminal."
        )


def _refuse_strangers(scope: Scope, headers: Headers) -> Response | None:
    """Refuse other names of this machine, and what other sites' pages send."""
    host = headers.get("host", "")
    # A foreign name may point to this machine too.
    if re.sub(r":\d{1,5}$", "", host.lower()) not in _HOSTS:
        return _refusal(400, "The host must be 127.0.0.1 or localhost.")
    if scope["path"] == "/" and scope["method"] in ("GET", "HEAD"):
        return None  # a file of ours, and any link, may lead to the page, which is empty
    origin = headers.get("origin")
    if origin is not None and origin != f"{scope['scheme']}://{host}":
        return _refusal(403, "Pages of other sites may not use this server.")
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return _refusal(
            403,
            "Pages of other sites may not use this server. If you followed a link, copy it into "
            "the address bar instead.",
        )
    return None


def _refusal(status: int, message: str) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return json_answer({"error": message}, status, headers)


STATIC = {
    "style.css": ("purecover.html", "text/css"),
    "app.css": ("purecover.app", "text/css"),
    "app.js": ("purecover.app", "text/javascript"),
    "data/example_scores.csv": ("purecover", "text/csv"),
}
"""Files that the pages load, with the package they lie in; the first is the report's own."""
HOST = "127.0.0.1"
_PATIENCE = 3
"""Seconds that open connections have when the server stops."""
_MOST_CONNECTIONS = 200
"""Connections at one time; a process may usually have 1,024 files open, sockets included."""
_ACCEPTED_AT_ONCE = 25
"""Connections accepted before those that are there are heard. Far fewer than there may be, so that
a crowd of them neither opens more files than allowed nor displaces one that has just come."""
_QUEUE = 1024
"""Connections that the system keeps until they are accepted."""


class Site(Guard):
    """The whole application, with its own folder and workers, made when it starts."""

    def __init__(self, settings: Settings) -> None:
        self.api = Api(settings)
        self.routes = make_routes(settings, self.api)

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            await self.api.start()
            try:
                yield
            finally:
                await self.api.stop()

        application = Starlette(
            routes=self.routes,
            lifespan=lifespan,
            # A client that left is no bug, and its answer goes nowhere.
            exception_handlers=dict.fromkeys(
                (HTTPException, ClientDisconnect, WorkError, OSError, 500), _explain
            ),
        )
        application.router.redirect_slashes = False
        super().__init__(application, token=settings.token, key_of=self.api.key_of)


def make_routes(settings: Settings, api: Api) -> list[Route]:
    """A route for every path, with all of its methods."""
    start = files("purecover.app").joinpath("start.html").read_text("utf-8")
    start = Template(start).render(FORM, max_upload=settings.max_upload)
    by_path: dict[str, dict[str, Endpoint]] = {"/": {"GET": _fixed(start, "text/html")}}
    for name, (package, kind) in STATIC.items():
        content = files(package).joinpath(name).read_bytes()
        by_path[f"/static/{name}"] = {"GET": _fixed(content, kind)}
    by_path |= api.routes()
    return [Route(path, _by_method(m), methods=list(m)) for path, m in by_path.items()]


def _by_method(methods: Mapping[str, Endpoint]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return await methods["GET" if request.method == "HEAD" else request.method](request)

    return endpoint


def _fixed(content: str | bytes, kind: str) -> Endpoint:
    async def endpoint(_: Request) -> Response:
        return Response(content, media_type=kind)

    return endpoint


async def _explain(_: Request, error: Exception) -> Response:
    """An error as JSON, which the script of the page reads; of a bug, the terminal says more."""
    if isinstance(error, HTTPException):
        headers = {"Connection": "close"} if error.status_code in (408, 413) else error.headers
        return json_answer({"error": error.detail}, error.status_code, headers)
    if isinstance(error, WorkError):
        return json_answer({"error": str(error)}, 422)
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "there is no room for it on the disk" if full else error.strerror or str(error)
        return json_answer({"error": f"the file cannot be kept: {reason}."}, 507)
    return json_answer({"error": "internal error; the terminal says more."}, 500)


def serve(settings: Settings, *, port: int, tell: Callable[[str], None], browser: bool) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    settings : Settings
        Limits and the command of the workers.
    port
        Where to listen on this machine; 0 takes a free one.
    tell
        Called with the address, token included, once connections are accepted.
    browser
        Whether to open the address in the user's browser.
    """
    with socket.create_server((HOST, port)) as listener:
        base = f"http://{HOST}:{listener.getsockname()[1]}/"
        site = Site(settings)
        # What stands behind # stays in the browser.
        address = base if settings.token is None else f"{base}#token={settings.token}"
        config = uvicorn.Config(
            site,
            http=_Listener,
            backlog=_ACCEPTED_AT_ONCE,
            ws="none",
            log_level="error",  # anybody can send what is no request, as often as they like
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            timeout_graceful_shutdown=_PATIENCE,
        )

        def ready() -> None:
            tell(address)
            if browser:
                # In a thread, as some commands that open a page end with it.
                page = _redirect(site, address) if settings.token is not None else base
                threading.Thread(target=_browse, args=(page,), daemon=True).start()

        server = _Server(config, ready)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def _redirect(site: Site, target: str) -> str:
    """A file that leads a browser to the page, and only its owner can read.

    The address itself, given to the command of the browser, could be read by all users.
    """
    file = site.api.store.root / "open.html"
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(
            '<!doctype html><meta charset="utf-8"><title>purecover</title>'
            f'<meta http-equiv="refresh" content="0; url={target}">'
            f'<p><a href="{target}">Open the page of purecover</a></p>\n'
        )
    return file.as_uri()


def _browse(page: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(page)


class _Server(uvicorn.Server):
    """Says when it is ready, and stops in order when the terminal is closed too."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets=sockets)
        for each in sockets or ():
            each.listen(_QUEUE)  # asyncio takes one number for both
        if hasattr(signal, "SIGHUP"):
            with suppress(ValueError):  # not in the main thread
                signal.signal(signal.SIGHUP, self.handle_exit)
        if self.started:
            self._ready()


class _Listener(H11Protocol):
    """Where there are many connections, a new one takes the place of the oldest that wants nothing.

    Silence keeps nobody out, then; uvicorn would wait for it forever, and by its own limit refuse
    the new ones. A test names what a version of uvicorn lacks of what this class needs.
    """

    _open: ClassVar[dict[_Listener, None]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for a connection."""
        super().connection_made(transport)
        if len(self._open) >= _MOST_CONNECTIONS:
            oldest = next((each for each in self._open if not each._is_working), self)
            self._open.pop(oldest, None)
            oldest.transport.abort()
        if not transport.is_closing():
            self._open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        super().connection_lost(exc)
        self._open.pop(self, None)

    @property
    def _is_working(self) -> bool:
        request: RequestResponseCycle | None = self.cycle  # which is none at first
        return request is not None and not request.response_complete
