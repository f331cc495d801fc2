"""The routes, with the guard in front of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from purecover.app._answers import ApiError, json_answer
from purecover.app._api import Api
from purecover.app._guard import Guard
from purecover.app._openapi import OPERATIONS
from purecover.app._pages import STATIC, read_static, render_start
from purecover.app._settings import Settings

__all__ = ["Site", "make_site"]

Endpoint = Callable[[Request], Awaitable[Response]]


class Site(Guard):
    """The whole application: what a server runs."""

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

        handlers = {ApiError: _say, HTTPException: _say, ClientDisconnect: _nobody, 500: _failed}
        application = Starlette(
            routes=self.routes,
            lifespan=lifespan,
            exception_handlers=handlers,  # type: ignore[arg-type]  # each takes its own error
        )
        # A redirect of /api/ to /api would be one more answer to document.
        application.router.redirect_slashes = False
        super().__init__(application, token=settings.token)


def make_site(settings: Settings) -> Site:
    """An ASGI application with its own folder and workers, made when it starts."""
    return Site(settings)


def make_routes(settings: Settings, api: Api) -> list[Route]:
    """A route for every path, with all of its methods."""
    start = render_start(settings)

    async def show_start(request: Request) -> Response:
        del request
        return HTMLResponse(start)

    by_path: dict[str, dict[str, Endpoint]] = {"/": {"GET": show_start}}
    for name in STATIC:
        by_path[f"/static/{name}"] = {"GET": _static(name)}
    for operation in OPERATIONS:
        endpoint = getattr(api, operation.name)
        by_path.setdefault(operation.path, {})[operation.method] = endpoint
    return [Route(path, _by_method(m), methods=list(m)) for path, m in by_path.items()]


def _by_method(methods: Mapping[str, Endpoint]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await methods[method](request)

    return endpoint


def _static(name: str) -> Endpoint:
    content, kind = read_static(name)

    async def endpoint(request: Request) -> Response:
        del request
        return Response(content, media_type=kind)

    return endpoint


async def _say(request: Request, error: ApiError | HTTPException) -> Response:
    """What is wrong, as JSON: the page's script reads it too."""
    del request
    if isinstance(error, ApiError):
        headers = {"Connection": "close"} if error.status in (408, 413) else None
        return json_answer({"error": error.message}, error.status, headers)
    return json_answer({"error": str(error.detail)}, error.status_code, error.headers)


async def _nobody(request: Request, error: Exception) -> Response:
    """The client left; this goes nowhere."""
    del request, error
    return Response(status_code=400)


async def _failed(request: Request, error: Exception) -> Response:
    """A bug; its words go to the terminal, not to the page."""
    del request, error
    return json_answer({"error": "internal error; the terminal says more."}, 500)
