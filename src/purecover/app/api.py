"""Endpoints of the local page: upload files, start reports, show their progress, return them."""

from __future__ import annotations

import asyncio
import errno
import html
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from purecover.app import jobs
from purecover.app.store import FullError, Job, Store, Upload

MAX_BODY = 1 << 20
"""Bytes of the longest JSON body."""
BODY_PATIENCE = 30.0
"""Seconds that a JSON body may take."""
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_HEAD = 1 << 16
_WRITE = 1 << 20
_SWEEP = 60.0


class ApiError(HTTPException):
    """A request that cannot be served, with the status and the words of the answer."""


Endpoint = Callable[["Api", Request], Awaitable[Response]]
ROUTES: dict[str, dict[str, Endpoint]] = {}
"""Endpoints by path and method."""


def route(method: str, path: str) -> Callable[[Endpoint], Endpoint]:
    """Declare that an endpoint answers this method of a path."""

    def declare(endpoint: Endpoint) -> Endpoint:
        ROUTES.setdefault(path, {})[method] = endpoint
        return endpoint

    return declare


def json_answer(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON document in plain ASCII, so that halves of surrogate pairs in names do no harm."""
    text = json.dumps(msgspec.to_builtins(content), allow_nan=False)
    return Response(text, status, headers, media_type="application/json")


RequestT = TypeVar("RequestT", jobs.ReportRequest, jobs.JudgeRequest)


async def _read_body(request: Request, kind_of: type[RequestT]) -> RequestT:
    """Return what a request asks for."""
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
        return msgspec.json.decode(body, type=kind_of)
    except msgspec.ValidationError as error:
        raise ApiError(422, f"{error}.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise ApiError(400, f"the body is not JSON: {str(error)[:200]}.") from error


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

    def key_of(self, job: str) -> str | None:
        """Return the key of a report, if there is such a report."""
        found = self.store.jobs.get(job)
        return None if found is None else found.key

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

    @route("POST", "/api/files")
    async def add_file(self, request: Request) -> Response:
        """Send a file: CSV, TSV, JSON or Parquet; text may be gzipped."""
        declared = request.headers.get("content-length", "")
        if declared.isascii() and declared.isdigit() and int(declared) > self.settings.max_upload:
            raise _too_large(self.settings.max_upload)
        return await self._take(request.query_params.get("name", ""), request.stream())

    @route("POST", "/api/example")
    async def add_example(self, _: Request) -> Response:
        """Add the example scores of purecover as if they had been uploaded."""
        example = self.settings.example
        if example is None:
            raise ApiError(404, "this server has no example.")

        async def content() -> AsyncIterator[bytes]:
            yield await asyncio.to_thread(example.read_bytes)

        return await self._take(example.name, content())

    async def _take(self, name: str, content: AsyncIterator[bytes]) -> Response:
        if self._uploads.locked():
            many = self.settings.max_uploads_at_once
            raise ApiError(429, f"{many} uploads are under way; try again in a while.")
        upload = None
        async with self._uploads:
            try:
                upload = self.store.begin_upload(name)
                upload.size = await self._write(upload, content)
                task = jobs.Look(str(upload.folder), upload.name, self.settings.max_upload)
                found: jobs.Looked = await self.looks.run(task, timeout=self.settings.look_timeout)
                upload.columns, upload.rows, upload.guess = found.columns, found.rows, found.guess
            except BaseException as error:
                if upload is not None:
                    self.store.drop_upload(upload)
                if isinstance(error, jobs.WorkError):
                    raise ApiError(422, str(error)) from error
                if isinstance(error, OSError):
                    raise _no_room(error) from error
                raise
        self.store.keep_upload(upload)
        return json_answer(upload.about, 201)

    async def _write(self, upload: Upload, content: AsyncIterator[bytes]) -> int:
        """Write a body to disk and check its size: a chunked body does not declare its length."""
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

    @route("GET", "/api/files/{file}")
    async def show_file(self, request: Request) -> Response:
        """Columns and first rows of a file."""
        return json_answer(self._file(request.path_params["file"]).about)

    @route("POST", "/api/files/{file}/answers")
    async def add_answers(self, request: Request) -> Response:
        """Save answers of a judge; return what they show so far, and the next rows."""
        upload = self._file(request.path_params["file"])
        wanted = await _read_body(request, jobs.JudgeRequest)
        task = jobs.Judge(str(upload.folder), upload.name, wanted)
        async with upload.judging:
            try:
                found = await self.looks.run(task, timeout=self.settings.look_timeout)
            except jobs.WorkError as error:
                raise ApiError(422, str(error)) from error
        return json_answer(found)

    @route("GET", "/api/files/{file}/answers")
    async def show_answers(self, request: Request) -> Response:
        """Return all answers about a file, as ``purecover judge`` writes them."""
        upload = self._file(request.path_params["file"])
        if not upload.answers.is_file():
            raise ApiError(404, "no row of this file was judged.")
        return FileResponse(upload.answers, media_type="text/csv")

    @route("DELETE", "/api/files/{file}/answers")
    async def drop_answers(self, request: Request) -> Response:
        """Remove all answers about a file."""
        upload = self._file(request.path_params["file"])
        async with upload.judging:
            upload.answers.unlink(missing_ok=True)
        return Response(status_code=204)

    @route("DELETE", "/api/files/{file}")
    async def drop_file(self, request: Request) -> Response:
        """Remove a file."""
        self.store.drop_upload(self._file(request.path_params["file"]))
        return Response(status_code=204)

    def _file(self, id_: str) -> Upload:
        upload = self.store.find(self.store.uploads, id_)
        if upload is None:
            raise ApiError(404, "there is no such file; it may have been removed to make room.")
        return upload

    @route("POST", "/api/jobs")
    async def add_job(self, request: Request) -> Response:
        """Make a report."""
        wanted = await _read_body(request, jobs.ReportRequest)
        upload = self._file(wanted.file)
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
        return json_answer(job.about, 202)

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
            job.state, job.error = "failed", str(error)
        except Exception as error:  # noqa: BLE001 - the caller must hear of it
            job.state, job.error = "failed", f"internal error, {type(error).__name__}: {error}"
        finally:
            self.store.end_job(job)

    @route("GET", "/api/jobs")
    async def list_jobs(self, _: Request) -> Response:
        """All reports, the newest first."""
        self.store.sweep()
        return json_answer([job.about for job in reversed(self.store.jobs.values())])

    @route("GET", "/api/jobs/{job}")
    async def show_job(self, request: Request) -> Response:
        """How far a report is."""
        return json_answer(self._job(request).about)

    @route("DELETE", "/api/jobs/{job}")
    async def drop_job(self, request: Request) -> Response:
        """Remove a report; stops it if it is being made."""
        job = self._job(request)
        self.store.drop_job(job)
        if job.task is not None:
            await asyncio.gather(job.task, return_exceptions=True)
        return Response(status_code=204)

    def _job(self, request: Request) -> Job:
        job = self.store.find(self.store.jobs, request.path_params["job"])
        if job is None:
            raise ApiError(404, "there is no such report; it may have been removed to make room.")
        return job

    @route("GET", "/api/jobs/{job}/report.html")
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

    @route("GET", "/api/jobs/{job}/report.json")
    async def report_json(self, request: Request) -> Response:
        """Return the report as JSON, as ``purecover evaluate --json`` prints it."""
        return self._report(request, "report.json", "application/json")

    def _report(self, request: Request, name: str, kind: str) -> FileResponse:
        job = self._job(request)
        if job.state != "done":
            raise ApiError(409, "the report is not finished, or could not be made.")
        if not (job.folder / name).is_file():  # by a cleaner of the temporary folder
            raise ApiError(404, "the report was removed from the disk; make it again.")
        stem = re.sub(r"(\.gz)?$", "", job.name, flags=re.IGNORECASE).rpartition(".")[0] or job.name
        return FileResponse(
            job.folder / name,
            media_type=kind,
            filename=f"{stem}-{name}",
            content_disposition_type=("inline", "attachment")[
                request.query_params.get("download") == "1"
            ],
        )


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
