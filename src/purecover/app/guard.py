"""Who may ask, and the headers of every answer, refusals included."""

from __future__ import annotations

import hashlib
import hmac
import html
import ipaddress
import re
import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from purecover.app.api import json_answer

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

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?")
_PAGE = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>purecover</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<link rel="stylesheet" href="/static/style.css"></head>'
    "<body><main><h1>purecover</h1><p>{}</p></main></body></html>\n"
)


class Guard:
    """Lets a request through to the site if host, origin and token are right.

    A browser gets a cookie in return for the token. It holds a random name with our signature, so
    that each browser has its own files and reports, and the server need not remember any of them.
    """

    def __init__(self, site: ASGIApp, *, token: str | None) -> None:
        self._site = site
        self._token = token
        self._key = secrets.token_bytes(32)
        self._ticket: str | None = None
        # Ports share their cookies: another server of ours must not overwrite this one's.
        self.cookie = f"purecover_{secrets.token_hex(4)}"

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
                if minted is not None:
                    headers.append("Set-Cookie", self._set_cookie(minted))
            await send(message)

        minted: str | None = None
        headers = Headers(scope=scope)
        answer = _refuse_strangers(scope, headers)
        if answer is None:
            owner, answer = self._owner(scope, headers)
            if answer is None and owner is None:  # the first visit, where no token is asked for
                owner = minted = secrets.token_urlsafe(16)
            if answer is not None and answer.status_code == 303:
                minted = secrets.token_urlsafe(16)
            scope.setdefault("state", {})["owner"] = owner
        await (answer or self._site)(scope, receive, send_with_headers)

    def _owner(self, scope: Scope, headers: Headers) -> tuple[str | None, Response | None]:
        """Who asks, or a refusal; neither for a new visitor who needs no token."""
        path = scope["path"]
        if path.startswith("/static/"):
            return "", None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if self._token is not None and path == "/" and "token" in query:
            if self._is_token(query["token"][0]) or self._is_ticket(query["token"][0]):
                # Away from the token in the address, which would stay in the history.
                return None, Response(status_code=303, headers={"Location": "/"})
            return None, _refusal(scope, 401, "This is not the token of this server.")
        bearer = headers.get("authorization")
        if bearer and self._token is not None:
            kind, _, value = bearer.partition(" ")
            if kind.lower() == "bearer" and self._is_token(value.strip()):
                return "bearer", None
            return None, _refusal(scope, 401, "This is not the token of this server.")
        owner = self._signed_by_us(headers)
        if owner is not None:
            return owner, None
        if self._token is None:
            return (None if path == "/" else "anyone"), None
        return None, _refusal(
            scope,
            401,
            "Open the address that purecover app printed in the terminal: it holds the token.",
        )

    def issue_ticket(self) -> str:
        """What opens the page once: the address of a page can be seen in the list of processes."""
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

    def _set_cookie(self, owner: str) -> str:
        value = f"{owner}.{self._signature(owner)}"
        return f"{self.cookie}={value}; Path=/; HttpOnly; SameSite=Strict"

    def _signed_by_us(self, headers: Headers) -> str | None:
        # Split by hand: other servers of this machine have cookies here too, and the parser of the
        # standard library knows none at all if it dislikes one.
        pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        ours = next((value for name, _, value in pairs if name == self.cookie), None)
        if ours is None:
            return None
        owner, _, signature = ours.partition(".")
        right = hmac.compare_digest(signature.encode(), self._signature(owner).encode())
        return owner if right else None


def _refuse_strangers(scope: Scope, headers: Headers) -> Response | None:
    """Refuse other names of this machine, and what other sites' pages send."""
    host = headers.get("host", "")
    if not _is_loopback(host):
        return _refusal(scope, 400, "The host must be 127.0.0.1 or localhost.")
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
