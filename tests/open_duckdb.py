"""Connections of DuckDB that stay open under the relations made of them."""

from __future__ import annotations

from collections import deque
from typing import Any

import duckdb

# One database for all, which takes longer to make than most tests take; what a connection registers
# is seen by that one alone. Before 2.0 DuckDB closes one that nobody holds, though its relations
# live on.
_DATABASE = duckdb.connect(":memory:")
_OPEN: deque[Any] = deque(maxlen=64)


def connect() -> Any:
    """A connection with nothing registered."""
    _OPEN.append(_DATABASE.cursor())
    return _OPEN[-1]
