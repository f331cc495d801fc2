"""Every operation of the interface, declared once: for the routes, the document and its page."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["JOB_SCHEMA", "OPERATIONS", "Operation", "openapi_document"]

ID = {"type": "string", "pattern": "^[A-Za-z0-9_-]{32}$"}
_COLUMN = {"type": "string", "maxLength": 10_000}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}

JOB_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "What to evaluate; the names are those of the options of purecover evaluate.",
    "required": ["file", "score", "labeled"],
    "additionalProperties": False,
    "properties": {
        "file": {**ID, "description": "The file, as POST /api/files named it."},
        "score": {
            "type": "array",
            "items": _COLUMN,
            "minItems": 1,
            "maxItems": 10,
            "uniqueItems": True,
            "description": "Column of scores; several are compared on the same rows.",
        },
        "labeled": {**_COLUMN, "description": "Column that says who carries the label."},
        "truth": {**_COLUMN, "description": "Column of true classes."},
        "weight": {**_COLUMN, "description": "Column of sample weights."},
        "group": {**_COLUMN, "description": "Column of groups of dependent rows."},
        "alpha": {
            **_SHARE,
            "description": "Share of positives among the unlabeled; estimated if absent.",
        },
        "beta": {**_SHARE, "description": "Share of positives among the labeled."},
        "scenario": {
            "type": "string",
            "enum": ["case-control", "censoring"],
            "description": "How the data were drawn.",
        },
        "estimator": {
            "type": "string",
            "pattern": "^[a-z0-9-]{1,40}$",
            "description": "What estimates alpha and beta where they are not given.",
        },
        "positive_label": {
            "type": "string",
            "maxLength": 1000,
            "description": "Value of the labeled column that means labeled.",
        },
        "negative_label": {
            "type": "string",
            "maxLength": 1000,
            "description": "Value of the labeled column that marks known negatives.",
        },
        "missing_is_unlabeled": {
            "type": "boolean",
            "description": "Count blank cells of the labeled column as unlabeled.",
        },
        "decimal": {
            "type": "string",
            "enum": [".", ","],
            "description": "What stands before the decimals of a number.",
        },
        "resamples": {
            "type": "integer",
            "minimum": 0,
            "maximum": 20_000,
            "description": "Bootstrap resamples; 0 for none.",
        },
        "confidence_level": {
            "type": "number",
            "minimum": 0.5,
            "maximum": 0.999,
            "description": "Confidence level of intervals and bands.",
        },
        "seed": {
            "type": "integer",
            "minimum": 0,
            "maximum": 4_294_967_295,
            "description": "Seed of the bootstrap.",
        },
    },
}

_FILE = {
    "type": "object",
    "required": ["file", "name", "size", "columns", "rows", "guess"],
    "properties": {
        "file": ID,
        "name": {"type": "string"},
        "size": {"type": "integer"},
        "columns": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "numbers"],
                "properties": {"name": {"type": "string"}, "numbers": {"type": "boolean"}},
            },
        },
        "rows": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        "guess": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
_JOB = {
    "type": "object",
    "required": [
        "job", "name", "score", "state", "step", "done", "total", "error", "notes", "figures",
    ],
    "properties": {
        "job": ID,
        "name": {"type": "string", "description": "Name of the file."},
        "score": {"type": "array", "items": {"type": "string"}},
        "state": {"type": "string", "enum": ["waiting", "running", "done", "failed"]},
        "step": {"type": "string"},
        "done": {"type": "integer"},
        "total": {"type": "integer", "description": "0 where it is unknown."},
        "error": {"type": "string", "description": "Why it failed."},
        "notes": {"type": "array", "items": {"type": "string"}},
        "figures": {"type": "object", "additionalProperties": {"type": "number"}},
    },
}  # fmt: skip
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}

_REASONS = {
    400: "Malformed, or a foreign host.",
    401: "The token is missing or wrong.",
    403: "Sent by a page of another site.",
    404: "There is none of yours with this name.",
    408: "The upload stood still, or the body took too long.",
    409: "The report is not finished.",
    413: "Too large.",
    415: "Not application/json.",
    422: "The file or the values cannot be used; the message says why.",
    429: "Too much is under way already.",
    507: "The disk is full.",
}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one path."""

    name: str
    method: str
    path: str
    summary: str
    status: int = 200
    answer: str = "application/json"
    schema: Mapping[str, Any] | None = None
    query: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    body: tuple[str, Mapping[str, Any]] | None = None
    errors: tuple[int, ...] = ()


_DOWNLOAD = {
    "download": {
        "type": "string",
        "enum": ["0", "1"],
        "description": "1 to save it instead of showing it.",
    }
}

OPERATIONS = (
    Operation(
        name="add_file",
        method="POST",
        path="/api/files",
        summary="Send a file: CSV, TSV, JSON or Parquet; text may be gzipped",
        status=201,
        schema=_FILE,
        query={
            "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": 255,
                "description": "Name of the file, whose end tells the format.",
            }
        },
        required=("name",),
        body=("application/octet-stream", {"type": "string", "format": "binary"}),
        errors=(408, 413, 422, 429, 507),
    ),
    Operation(
        name="add_example",
        method="POST",
        path="/api/example",
        summary="Take the scores that come with purecover as if they had been sent",
        status=201,
        schema=_FILE,
        errors=(404, 422, 429, 507),
    ),
    Operation(
        name="show_file",
        method="GET",
        path="/api/files/{file}",
        summary="Columns and first rows of a file",
        schema=_FILE,
        errors=(404,),
    ),
    Operation(
        name="drop_file",
        method="DELETE",
        path="/api/files/{file}",
        summary="Remove a file",
        status=204,
        errors=(404,),
    ),
    Operation(
        name="add_job",
        method="POST",
        path="/api/jobs",
        summary="Make a report",
        status=202,
        schema=_JOB,
        body=("application/json", JOB_SCHEMA),
        errors=(404, 408, 413, 415, 422, 429, 507),
    ),
    Operation(
        name="list_jobs",
        method="GET",
        path="/api/jobs",
        summary="Your reports, the newest first",
        schema={"type": "array", "items": _JOB},
    ),
    Operation(
        name="show_job",
        method="GET",
        path="/api/jobs/{job}",
        summary="How far a report is",
        schema=_JOB,
        errors=(404,),
    ),
    Operation(
        name="drop_job",
        method="DELETE",
        path="/api/jobs/{job}",
        summary="Remove a report; stops it if it is being made",
        status=204,
        errors=(404,),
    ),
    Operation(
        name="report_html",
        method="GET",
        path="/api/jobs/{job}/report.html",
        summary="The report as a page",
        answer="text/html",
        query=_DOWNLOAD,
        errors=(404, 409, 422),
    ),
    Operation(
        name="report_json",
        method="GET",
        path="/api/jobs/{job}/report.json",
        summary="The report as data: what purecover evaluate --json prints",
        schema={"type": "object"},
        query=_DOWNLOAD,
        errors=(404, 409, 422),
    ),
    Operation(
        name="document",
        method="GET",
        path="/api/openapi.json",
        summary="This document",
        schema={"type": "object"},
    ),
    Operation(
        name="document_page",
        method="GET",
        path="/api",
        summary="This document as a page",
        answer="text/html",
    ),
)


def openapi_document() -> dict[str, Any]:
    """The interface as OpenAPI 3.1 describes it."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "purecover",
            # Not imported: the package's front stands above this layer, and is loaded already.
            "version": sys.modules["purecover"].__version__,
            "summary": "True classifier performance from positive-unlabeled data",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token in the address that purecover app prints.",
                }
            }
        },
        "security": [{"token": []}],
    }


def _describe(operation: Operation) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": ID}
        for name in ("file", "job")
        if f"{{{name}}}" in operation.path
    ]
    parameters += [
        {
            "name": name,
            "in": "query",
            "required": name in operation.required,
            "schema": dict(schema),
        }
        for name, schema in operation.query.items()
    ]
    good: dict[str, Any] = {"description": operation.summary}
    if operation.status != 204:
        media = {} if operation.schema is None else {"schema": dict(operation.schema)}
        good["content"] = {operation.answer: media}
    bad = {"content": {"application/json": {"schema": _ERROR}}}
    responses = {str(operation.status): good}
    for status in sorted({400, 401, 403, *operation.errors}):
        responses[str(status)] = {"description": _REASONS[status], **bad}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": responses,
    }
    if operation.body is not None:
        kind, schema = operation.body
        described["requestBody"] = {"required": True, "content": {kind: {"schema": dict(schema)}}}
    return described
