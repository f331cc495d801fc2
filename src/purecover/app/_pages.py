"""The pages of the site itself; the report comes from the worker as it is."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from purecover.app._settings import Settings

__all__ = ["STATIC", "read_static", "render_document", "render_start"]

STATIC = {
    "style.css": ("purecover.html", "text/css"),
    "app.css": ("purecover.app", "text/css"),
    "app.js": ("purecover.app", "text/javascript"),
}
"""Files that the pages load, with the package they lie in; the first is the report's own."""


def render_start(settings: Settings) -> str:
    """The page on which one drops a file."""
    size = settings.max_upload / 1e6
    return _template("start.html.j2").render(
        max_upload=settings.max_upload,
        max_upload_text=f"{size:,.0f} MB" if size >= 1 else f"{settings.max_upload:,} bytes",
        has_example=settings.example is not None,
    )


def render_document(document: dict[str, Any]) -> str:
    """The interface for people."""
    operations = [
        (method.upper(), path, about)
        for path, methods in document["paths"].items()
        for method, about in methods.items()
    ]
    return _template("api.html.j2").render(document=document, operations=operations)


def read_static(name: str) -> tuple[bytes, str]:
    """A file of the site and its media type."""
    package, kind = STATIC[name]
    return files(package).joinpath(name).read_bytes(), kind


@cache
def _template(name: str) -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(files("purecover.app").joinpath(name).read_text("utf-8"))
