"""The operations: take files, start reports, tell how far they are, hand them out.

Each is declared above the code that does it; routes, the OpenAPI document and its page are made
of these declarations and of the types they name.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import html
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from purecover._codec import components, find_fault
from purecover.app import jobs
from purecover.app.store import FileAnswer, FullError, Job, JobAnswer, Store, Upload

MAX_BODY = 1 << 20
"""Bytes of the longest JSON body."""
BODY_PATIENCE = 30.0
"""Seconds that a JSON body may take."""
FIELDS = {
    "alpha": "alpha",
    "beta": "beta",
    "confidence_level": "“Confidence level”",
    "decimal": "“Decimal comma”",
    "estimator": "“Estimator”",
    "group": "“Group”",
    "labeled": "“Labeled”",
    "missing_is_unlabeled": "“Blank labels are unlabeled”",
    "negative_label": "“Value of known negatives”",
    "positive_label": "“Value that means labeled”",
    "resamples": "“Resamples”",
    "scenario": "“Are the labeled rows part of the population?”",
    "score": "“Score”",
    "truth": "“True class”",
    "weight": "“Weight”",
}
"""What the form calls the fields of a request."""
PARAMETERS = {
    "groups": "group",
    "n_resamples": "resamples",
    "sample_weight": "weight",
    "scores": "score",
}
"""Fields of a request that the library calls otherwise."""
# What reads files names options; in quotes it is data.
_OPTION = re.compile(r"(?<![\w'\"-])--([a-z-]+)(?: ,)?(?![\w-])")

_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_HEAD = 1 << 16
_WRITE = 1 << 20
_SWEEP = 60.0
FormT = TypeVar("FormT", bound=Struct)


class FileQuery(Struct):
    """How a file is called.

    Attributes
    ----------
    name : str
        Name of the file, whose end tells the format.
    """

    name: Annotated[str, Meta(min_length=1, max_length=255)]


class DownloadQuery(Struct):
    """How a report is handed out.

    Attributes
    ----------
    download : str
        1 to save it instead of showing it.
    key : str
        The key of the report, in place of the token: links carry no header.
    """

    download: Literal["0", "1"] = "0"
    key: Annotated[str, Meta(max_length=100)] = ""


class SessionAnswer(Struct):
    """A secret for one browser.

    Attributes
    ----------
    session : str
        What to send in place of the token; files and reports belong to it.
    """

    session: str


class ErrorAnswer(Struct):
    """Why there is no other answer.

    Attributes
    ----------
    error : str
        The reason.
    """

    error: str


_REASONS = {
    400: "Malformed, or a foreign host.",
    401: "The token is missing or wrong.",
    403: "Sent by a page of another site.",
    404: "There is none of yours with this name.",
    408: "The upload or the body took too long.",
    409: "The report is not finished.",
    413: "Too large.",
    415: "Not application/json.",
    422: "The file or the values cannot be used; the message says why.",
    429: "Too much is under way already.",
    507: "The temporary folder cannot be written, such as on a full disk.",
}


class ApiError(HTTPException):
    """A request that cannot be served, with the status and the words of the answer."""


Endpoint = Callable[["Api", Request], Awaitable[Response]]


@dataclass(frozen=True)
class Operation:
    """One method of one path, with the types of what comes and goes; a page is "text/html"."""

    endpoint: Endpoint
    method: str
    path: str
    answer: Any = None
    status: int = 200
    query: Any = None
    body: Any = None
    errors: tuple[int, ...] = ()
    open: bool = False
    """Whether it is the same for everyone, with or without the token."""


OPERATIONS: list[Operation] = []


def operation(route: str, answer: Any = None, **more: Any) -> Callable[[Endpoint], Endpoint]:
    """Declare what a method of the interface, which its docstring describes, takes and answers."""
    method, path = route.split()

    def declare(endpoint: Endpoint) -> Endpoint:
        OPERATIONS.append(Operation(endpoint, method, path, answer, **more))
        return endpoint

    return declare


def json_answer(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON document in plain ASCII, so that halves of surrogate pairs in names do no harm."""
    text = json.dumps(msgspec.to_builtins(content), allow_nan=False)
    return Response(text, status, headers, media_type="application/json")


def _checked(form: type[FormT], data: Any) -> FormT:
    """What was sent, as the interface describes it, or the first fault in words."""
    try:
        return msgspec.convert(data, form)
    except msgspec.ValidationError as error:
        place, reason = find_fault(error)
        raise ApiError(422, f"{repr(place) if place else 'the body'}: {reason}.") from error


async def _read_body(request: Request) -> Any:
    """The JSON document of a request; a number without decimals is a whole one."""
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
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ApiError(400, f"the body is not JSON: {str(error)[:200]}.") from error
    if isinstance(data, dict):
        data = {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in data.items()
        }
    return data


class Api:
    """The operations, with the files and workers they need."""

    store: Store
    looks: jobs.Pool
    reports: jobs.Pool

    def __init__(self, settings: jobs.Settings) -> None:
        self.settings = settings
        self._uploads = asyncio.Semaphore(settings.max_uploads_at_once)
        self._sweeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Make the folder and start the first workers."""
        self.store = Store(self.settings)
        self.looks = self._pool("look", jobs.LOOKS)
        self.reports = self._pool("report", self.settings.workers)
        self._sweeper = asyncio.create_task(self._sweep())

    def _pool(self, kind: str, size: int) -> jobs.Pool:
        settings = self.settings
        command = (*settings.worker, str(self.store.root), kind, str(settings.max_memory))
        return jobs.Pool(command, size=size)

    async def stop(self) -> None:
        """End the workers and remove every file."""
        known = (self._sweeper, *(job.task for job in self.store.jobs.values()))
        tasks = [task for task in known if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.looks.close()
        await self.reports.close()
        self.store.close()

    async def _sweep(self) -> None:
        # A worker that waits makes the first report quick.
        await asyncio.gather(self.looks.warm(), self.reports.warm(), return_exceptions=True)
        while True:
            await asyncio.sleep(_SWEEP)
            self.store.sweep()

    @operation("POST /api/session", SessionAnswer, status=201)
    async def add_session(self, request: Request) -> Response:
        """Get a secret for one browser in return for the token."""
        return json_answer(SessionAnswer(request.scope["state"]["session"]), 201)

    @operation(
        "POST /api/files",
        FileAnswer,
        status=201,
        query=FileQuery,
        body=bytes,
        errors=(408, 413, 422, 429, 507),
    )
    async def add_file(self, request: Request) -> Response:
        """Send a file: CSV, TSV, JSON or Parquet; text may be gzipped."""
        name = _checked(FileQuery, dict(request.query_params)).name
        declared = request.headers.get("content-length", "")
        if declared.isascii() and declared.isdigit() and int(declared) > self.settings.max_upload:
            raise _too_large(self.settings.max_upload)
        return await self._take(request, name, request.stream())

    @operation("POST /api/example", FileAnswer, status=201, errors=(404, 422, 429, 507))
    async def add_example(self, request: Request) -> Response:
        """Take the scores that come with purecover as if they had been sent."""
        example = self.settings.example
        if example is None:
            raise ApiError(404, "this server has no example.")

        async def content() -> AsyncIterator[bytes]:
            yield await asyncio.to_thread(example.read_bytes)

        return await self._take(request, example.name, content())

    async def _take(self, request: Request, name: str, content: AsyncIterator[bytes]) -> Response:
        if self._uploads.locked():
            many = self.settings.max_uploads_at_once
            raise ApiError(429, f"{many} uploads are under way; try again in a while.")
        upload = None
        async with self._uploads:
            try:
                upload = self.store.begin_upload(_owner(request), name)
                upload.size = await self._write(upload, content)
                task = jobs.Look(str(upload.folder), upload.name, self.settings.max_upload)
                found: jobs.Looked = await self.looks.run(task, timeout=self.settings.look_timeout)
                upload.columns, upload.rows, upload.guess = found.columns, found.rows, found.guess
            except BaseException as error:
                if upload is not None:
                    self.store.drop_upload(upload)
                if isinstance(error, jobs.WorkError):
                    raise ApiError(422, worded(error)) from error
                if isinstance(error, OSError):
                    raise _no_room(error) from error
                raise
        self.store.keep_upload(upload)
        return _about(FileAnswer, upload, 201, f"/api/files/{upload.id}")

    async def _write(self, upload: Upload, content: AsyncIterator[bytes]) -> int:
        """Write to the disk while counting: a chunked body does not say how long it is."""
        size = 0
        parts = aiter(content)
        pause, began = self.settings.upload_pause, asyncio.get_running_loop().time()
        with (upload.folder / upload.name).open("wb", buffering=_WRITE) as file:
            while True:
                try:
                    # A byte now and then would otherwise hold its place for days.
                    slowest = began + pause + size / self.settings.upload_rate
                    now = asyncio.get_running_loop().time()
                    async with asyncio.timeout_at(min(now + pause, slowest)):
                        part = await anext(parts, None)
                except TimeoutError:
                    raise ApiError(408, "the upload was too slow, or stood still.") from None
                if part is None:
                    break
                size += len(part)
                if size > self.settings.max_upload:
                    raise _too_large(self.settings.max_upload)
                await asyncio.to_thread(file.write, part)
        return size

    @operation("GET /api/files/{file}", FileAnswer, errors=(404,))
    async def show_file(self, request: Request) -> Response:
        """Columns and first rows of a file."""
        return _about(FileAnswer, self._file(request, request.path_params["file"]))

    @operation("DELETE /api/files/{file}", status=204, errors=(404,))
    async def drop_file(self, request: Request) -> Response:
        """Remove a file."""
        self.store.drop_upload(self._file(request, request.path_params["file"]))
        return Response(status_code=204)

    def _file(self, request: Request, id_: str) -> Upload:
        upload = self.store.find(self.store.uploads, id_, _owner(request))
        if upload is None:
            raise ApiError(404, "there is no such file; it may have been removed to make room.")
        return upload

    @operation(
        "POST /api/jobs",
        JobAnswer,
        status=202,
        body=jobs.ReportRequest,
        errors=(404, 408, 413, 415, 422, 429, 507),
    )
    async def add_job(self, request: Request) -> Response:
        """Make a report."""
        wanted = _checked(jobs.ReportRequest, await _read_body(request))
        upload = self._file(request, wanted.file)
        try:
            job = self.store.begin_job(upload, wanted.score)
        except FullError as error:
            raise ApiError(429, str(error)) from error
        except OSError as error:
            raise _no_room(error) from error
        try:
            await asyncio.to_thread(self.store.lend, upload, job)
        except BaseException as error:
            self.store.drop_job(job)
            if isinstance(error, FileNotFoundError):  # removed in this moment
                raise ApiError(404, "there is no such file any more.") from None
            if isinstance(error, OSError):
                raise _no_room(error) from error
            raise
        job.task = asyncio.create_task(self._make(job, wanted))
        return _about(JobAnswer, job, 202, f"/api/jobs/{job.id}")

    async def _make(self, job: Job, wanted: jobs.ReportRequest) -> None:
        def progress(at: jobs.Step) -> None:
            job.state, job.step, job.done, job.total = "running", at.step, at.done, at.total

        task = jobs.Evaluate(str(job.folder), job.name, wanted)
        timeout = self.settings.job_timeout
        try:
            found: jobs.Evaluated = await self.reports.run(task, timeout=timeout, progress=progress)
            job.state, job.headline = "done", found.headline
            job.notes, job.figures = found.notes, found.figures
        except jobs.WorkError as error:
            job.state, job.error = "failed", worded(error)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            job.state, job.error = "failed", f"internal error, {type(error).__name__}: {error}"
        finally:
            self.store.end_job(job)

    @operation("GET /api/jobs", list[JobAnswer])
    async def list_jobs(self, request: Request) -> Response:
        """Your reports, the newest first."""
        return _about(list[JobAnswer], self.store.jobs_of(_owner(request)))

    @operation("GET /api/jobs/{job}", JobAnswer, errors=(404,))
    async def show_job(self, request: Request) -> Response:
        """How far a report is."""
        return _about(JobAnswer, self._job(request))

    @operation("DELETE /api/jobs/{job}", status=204, errors=(404,))
    async def drop_job(self, request: Request) -> Response:
        """Remove a report; stops it if it is being made."""
        job = self._job(request)
        self.store.drop_job(job)
        if job.task is not None:
            await asyncio.gather(job.task, return_exceptions=True)
        return Response(status_code=204)

    def _job(self, request: Request, owner: str | None = None) -> Job:
        owner = _owner(request) if owner is None else owner
        job = self.store.find(self.store.jobs, request.path_params["job"], owner)
        if job is None:
            raise ApiError(404, "there is no such report; it may have been removed to make room.")
        return job

    @operation(
        "GET /api/jobs/{job}/report.html", "text/html", query=DownloadQuery, errors=(404, 409, 422)
    )
    async def report_html(self, request: Request) -> Response:
        """The report as a page."""
        answer = self._report(request, "report.html", "text/html")
        with open(answer.path, "rb") as file:  # noqa: ASYNC230, PTH123 - a few kB
            found = _POLICY.search(file.read(_HEAD))
        policy = html.unescape(found[1].decode()) if found else "default-src 'none'"
        # Whatever a script of the page did, it would not be of this origin: no secret, no request.
        answer.headers["Content-Security-Policy"] = (
            f"{policy}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"
        )
        return answer

    @operation(
        "GET /api/jobs/{job}/report.json",
        dict[str, Any],
        query=DownloadQuery,
        errors=(404, 409, 422),
    )
    async def report_json(self, request: Request) -> Response:
        """The report as data: what purecover evaluate --json prints."""
        return self._report(request, "report.json", "application/json")

    def _report(self, request: Request, name: str, kind: str) -> FileResponse:
        query = _checked(DownloadQuery, dict(request.query_params))
        asked = self.store.jobs.get(request.path_params["job"])
        opened = asked and hmac.compare_digest(asked.key.encode(), query.key.encode())
        job = self._job(request, asked.owner if asked and opened else None)
        if job.state != "done":
            raise ApiError(409, "the report is not finished, or could not be made.")
        if not (job.folder / name).is_file():  # by whoever tidies the temporary folder
            raise ApiError(404, "the report was removed from the disk; make it again.")
        stem = re.sub(r"(\.gz)?$", "", job.name, flags=re.IGNORECASE).rpartition(".")[0] or job.name
        return FileResponse(
            job.folder / name,
            media_type=kind,
            filename=f"{stem}-{name}",
            content_disposition_type="attachment" if query.download == "1" else "inline",
        )

    @operation("GET /api/openapi.json", dict[str, Any], open=True)
    async def document(self, _: Request) -> Response:
        """The interface as an OpenAPI document."""
        return json_answer(openapi_document())

    @operation("GET /api", "text/html", open=True)
    async def document_page(self, _: Request) -> Response:
        """The interface as a page."""
        return HTMLResponse(template("api.html.j2").render(document=openapi_document()))


def _about(form: Any, found: Any, status: int = 200, location: str | None = None) -> Response:
    """What the interface tells of a file or a report."""
    answer = msgspec.convert(found, form, from_attributes=True)
    return json_answer(answer, status, None if location is None else {"Location": location})


def _owner(request: Request) -> str:
    return str(request.scope["state"]["owner"])


def _no_room(error: OSError) -> ApiError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    reason = "there is no room for it on the disk" if full else error.strerror or str(error)
    return ApiError(507, f"the file cannot be kept: {reason}.")


def _too_large(limit: int) -> ApiError:
    return ApiError(
        413,
        f"the file has more than {limit:,} bytes, the limit.\n"
        "Hint: purecover app --max-upload raises it; a Parquet file is smaller than a CSV file.",
    )


def worded(error: jobs.WorkError) -> str:
    """Why a task came to nothing, about the fields of the form."""
    message, failed = str(error), error.failed
    if failed is not None and failed.parameter is not None and failed.must is not None:
        field = PARAMETERS.get(failed.parameter, failed.parameter)
        message = f"{FIELDS.get(field, field)} must be {failed.must}, got {failed.got}."
        if failed.hint is not None:
            message += f"\nHint: {failed.hint}"
    return _OPTION.sub(lambda m: FIELDS.get(m[1].replace("-", "_"), m[0]), message)


@cache
def template(name: str) -> Any:
    """A page of the site itself; the report comes from the worker as it is."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(files("purecover.app").joinpath(name).read_text("utf-8"))


def openapi_document() -> dict[str, Any]:
    """The document, made of the operations and the types they name."""
    named = [kind for each in OPERATIONS for kind in (each.answer, each.body, each.query)]
    forms = {kind for kind in named if kind not in (None, bytes, "text/html")}
    ordered = (ErrorAnswer, jobs.Id, *sorted(forms, key=str))
    found, parts = components(*ordered, place="components/schemas")
    schemas = dict(zip(ordered, found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for each in OPERATIONS:
        paths.setdefault(each.path, {})[each.method.lower()] = _described(each, schemas, parts)
    token = {
        "type": "http",
        "scheme": "bearer",
        "description": "The token in the address that purecover app prints.",
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "purecover",
            # Not imported: the package's front stands above this layer, and is loaded already.
            "version": sys.modules["purecover"].__version__,
            "summary": "True classifier performance from positive-unlabeled data",
        },
        "paths": paths,
        "components": {"schemas": parts, "securitySchemes": {"token": token}},
        "security": [{"token": []}],
    }


def _described(
    about: Operation, schemas: Mapping[Any, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    def content(kind: Any) -> dict[str, Any]:
        if kind is bytes:
            return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        if isinstance(kind, str):
            return {kind: {}}
        return {"application/json": {"schema": schemas[kind]}}

    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": schemas[jobs.Id]}
        for name in re.findall(r"\{(\w+)\}", about.path)
    ]
    if about.query is not None:
        query = parts[about.query.__name__]
        parameters += [
            {
                "name": name,
                "in": "query",
                "required": name in query.get("required", ()),
                "schema": schema,
            }
            for name, schema in query["properties"].items()
        ]
    summary = (about.endpoint.__doc__ or "").rstrip(".")
    good: dict[str, Any] = {"description": summary}
    if about.answer is not None:
        good["content"] = content(about.answer)
    refused = content(ErrorAnswer)
    described: dict[str, Any] = {
        "operationId": about.endpoint.__name__,
        "summary": summary,
        "parameters": parameters,
        "responses": {str(about.status): good}
        | {
            str(status): {"description": _REASONS[status], "content": refused}
            for status in sorted({400, 401, 403, *about.errors})
            if status != 401 or not about.open
        },
    }
    if about.open:
        described["security"] = []
    if about.body is not None:
        described["requestBody"] = {"required": True, "content": content(about.body)}
    return described
