"""Connections of DuckDB that stay open under the relations made of them."""

from __future__ import annotations

from collections import deque
from typing import Any

import duckdb

# Before 2.0 DuckDB closes a connection that nobody holds, though its relations live on. Not all are
# kept: each has threads of its own.
_OPEN: deque[Any] = deque(maxlen=64)


def connect() -> Any:
    """An empty database in memory."""
    _OPEN.append(duckdb.connect(":memory:"))
    return _OPEN[-1]
