"""Who may ask, and the headers of every answer, refusals included."""

from __future__ import annotations

import hashlib
import hmac
import html
import ipaddress
import re
import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from purecover.app.api import OPERATIONS, json_answer

LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
"""Names under which this machine may call itself."""
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
"""What every answer carries unless it says otherwise itself."""

SESSION = "/api/session"
"""Where a browser gets a session in return for the token."""
OPEN = frozenset(("/", *(each.path for each in OPERATIONS if each.open)))
"""Documents that are the same for everyone and say nothing of anyone."""
_REPORT = re.compile(r"/api/jobs/[\w-]+/report\.(html|json)")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?")
_PAGE = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>purecover</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<link rel="stylesheet" href="/static/style.css"></head>'
    "<body><main><h1>purecover</h1><p>{}</p></main></body></html>\n"
)


class Guard:
    """Lets a request through to the site if host, origin and secret are right.

    The page itself is the same for everyone and open. What it asks for travels with a secret in a
    header, which no browser sends by itself: a cookie would go to every port of this machine. In
    return for the token a browser gets a session, a random name with our signature, so that each
    has its own files and reports, and the server need not remember any of them.
    """

    def __init__(self, site: ASGIApp, *, token: str | None) -> None:
        self._site = site
        self._token = token
        self._key = secrets.token_bytes(32)
        self._ticket: str | None = None

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
        """Note who asks, or refuse; a new session is left for the site to hand out."""
        path, state = scope["path"], scope.setdefault("state", {})
        state["owner"] = ""  # who owns nothing
        if path in OPEN or path.startswith("/static/"):
            return None
        if _REPORT.fullmatch(path) and b"key=" in scope["query_string"]:
            return None  # an address that opens this report alone; the site looks at the key
        kind, _, given = headers.get("authorization", "").partition(" ")
        known = given.strip() if kind.lower() == "bearer" else None
        if path == SESSION and scope["method"] == "POST":
            if self._token is None or (known and (self._is_token(known) or self._is_ticket(known))):
                owner = secrets.token_urlsafe(16)
                state["session"] = f"{owner}.{self._signature(owner)}"
                return None
        elif known and self._is_token(known):
            state["owner"] = "bearer"
            return None
        elif known and (signed := self._signed_by_us(known)):
            state["owner"] = signed
            return None
        elif self._token is None and not known:
            state["owner"] = "anyone"
            return None
        what = "This is not the secret of this server" if known else "The token is missing"
        return _refusal(
            scope, 401, f"{what}. Open the address that purecover app printed in the terminal."
        )

    def issue_ticket(self) -> str:
        """What gives one session: it is written to a file for the browser to open."""
        self._ticket = secrets.token_urlsafe(32)
        return self._ticket

    def _is_ticket(self, given: str) -> bool:
        if self._ticket is None or not hmac.compare_digest(given.encode(), self._ticket.encode()):
            return False
        self._ticket = None
        return True

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self._token or "").encode())

    def _signature(self, owner: str) -> str:
        return hmac.new(self._key, owner.encode(), hashlib.sha256).hexdigest()

    def _signed_by_us(self, given: str) -> str | None:
        owner, _, signature = given.partition(".")
        right = hmac.compare_digest(signature.encode(), self._signature(owner).encode())
        return owner if right else None


def _refuse_strangers(scope: Scope, headers: Headers) -> Response | None:
    """Refuse other names of this machine, and what other sites' pages send."""
    host = headers.get("host", "")
    if not _is_loopback(host):
        return _refusal(scope, 400, "The host must be 127.0.0.1 or localhost.")
    if scope["path"] == "/" and scope["method"] in ("GET", "HEAD"):
        return None  # a file of ours, and any link, may lead to the page, which is empty
    origin = headers.get("origin")
    if origin is not None and origin != f"{scope['scheme']}://{host}":
        return _refusal(scope, 403, "Pages of other sites may not use this server.")
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return _refusal(
            scope,
            403,
            "Pages of other sites may not use this server. If you followed a link, copy it into "
            "the address bar instead.",
        )
    return None


def _is_loopback(host: str) -> bool:
    """Whether a Host header names this machine: a foreign name may point here too."""
    match = _HOST.fullmatch(host.lower())
    if match is None:
        return False
    name = match[1].strip("[]")
    if name in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _refusal(scope: Scope, status: int, message: str) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    if scope["path"].startswith("/api"):
        return json_answer({"error": message}, status, headers)
    return HTMLResponse(_PAGE.format(html.escape(message)), status, headers)
