"""JSON as text that people can page through: one line per field, one line per list of numbers."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_text"]


def json_text(value: Any, indent: int | None = 2) -> str:
    """Strict JSON; with an indent, a list of numbers stays on one line however long it is."""
    if indent is None:
        return json.dumps(value, allow_nan=False)
    return _text(value, " " * indent, "\n")


def _text(value: Any, step: str, newline: str) -> str:
    inner = newline + step
    if isinstance(value, dict) and value:
        rows = (f"{json.dumps(str(k))}: {_text(v, step, inner)}" for k, v in value.items())
        return f"{{{inner}{f',{inner}'.join(rows)}{newline}}}"
    if isinstance(value, list) and any(isinstance(item, (dict, list, str)) for item in value):
        return f"[{inner}{f',{inner}'.join(_text(item, step, inner) for item in value)}{newline}]"
    return json.dumps(value, allow_nan=False)
