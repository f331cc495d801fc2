"""The local page: drop a file, choose its columns, see the report that the command line makes.

A server bound to this machine alone. It reads no data itself: worker processes do, which are
started with a command that the caller names. Needs the extra ``app``.
"""

from __future__ import annotations

from purecover.app._server import serve
from purecover.app._settings import Settings
from purecover.app._site import make_site

__all__ = ["Settings", "make_site", "serve"]
