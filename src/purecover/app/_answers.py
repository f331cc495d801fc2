"""Answers in JSON, good and bad, and bodies in JSON, checked."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

__all__ = ["ApiError", "json_answer", "read_body", "violation"]

MAX_BODY = 1 << 20
"""Bytes of the longest JSON body."""
BODY_PATIENCE = 30.0
"""Seconds that a JSON body may take."""

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


class ApiError(Exception):
    """A request that cannot be served, with the status and the words of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def json_answer(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON document in plain ASCII, so that halves of surrogate pairs in names do no harm."""
    return Response(
        json.dumps(content, allow_nan=False), status, headers, media_type="application/json"
    )


async def read_body(request: Request, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object of a request, as the schema wants it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(415, "the body must be application/json.")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_PATIENCE):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY:
                    raise ApiError(413, f"the body may have up to {MAX_BODY:,} bytes.")
    except TimeoutError:
        raise ApiError(408, "the body took too long to come.") from None
    try:
        value = json.loads(bytes(body), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"the body is not JSON: {str(error)[:200]}.") from error
    wrong = violation(value, schema, "the body")
    if wrong is not None:
        raise ApiError(422, wrong)
    return dict(value)


def violation(value: Any, schema: Mapping[str, Any], what: str) -> str | None:
    """What is wrong with a value, in words; the few rules of JSON Schema that ours use."""
    kind = schema.get("type", "object")
    is_flag = isinstance(value, bool)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)  # to JSON, 1.0 is a whole number
    if not isinstance(value, _TYPES[kind]) or (is_flag and kind != "boolean"):
        return f"{what} must be of the type {kind}."
    if "enum" in schema and value not in schema["enum"]:
        return f"{what} must be one of {', '.join(map(str, schema['enum']))}."
    if isinstance(value, str):
        return _text_violation(value, schema, what)
    if isinstance(value, (int, float)) and not is_flag:
        low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        if not (low <= value <= high and math.isfinite(value)):
            return f"{what} must be a number from {low} to {high}."
    if isinstance(value, list):
        low, high = schema["minItems"], schema["maxItems"]
        if not low <= len(value) <= high:
            return f"{what} must have {low} to {high} items."
        found = [violation(item, schema["items"], f"an item of {what}") for item in value]
        if any(found):
            return next(filter(None, found))
        if len(set(value)) < len(value):
            return f"{what} must not name anything twice."
    if isinstance(value, dict):
        properties = schema["properties"]
        for name in schema.get("required", ()):
            if name not in value:
                return f"{what} needs {name!r}."
        for name, item in value.items():
            if name not in properties:
                return f"{what} has {name[:40]!r}, which is unknown."
            wrong = violation(item, properties[name], repr(name))
            if wrong is not None:
                return wrong
    return None


def _text_violation(value: str, schema: Mapping[str, Any], what: str) -> str | None:
    low, high = schema.get("minLength", 0), schema.get("maxLength", MAX_BODY)
    if not low <= len(value) <= high:
        return f"{what} must have {low:,} to {high:,} characters."
    if "pattern" in schema and re.search(schema["pattern"], value) is None:
        return f"{what} must match {schema['pattern']}."
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{what} holds half a surrogate pair, which no text can hold."
    return None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
