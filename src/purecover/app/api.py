"""Endpoints of the local page: upload files, start reports, show their progress, return them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from purecover.app import jobs
from purecover.app.store import REPORTS, Job, Store, Upload

MAX_BODY = 1 << 20
"""Bytes of the longest JSON body."""
_WRITE = 1 << 20
_SWEEP = 60.0

Endpoint = Callable[[Request], Awaitable[Response]]


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
        raise HTTPException(415, "the body must be application/json.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise HTTPException(413, f"the body may have up to {MAX_BODY:,} bytes.")
    try:
        return msgspec.json.decode(body, type=kind_of)
    except msgspec.ValidationError as error:
        raise HTTPException(422, f"{error}.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise HTTPException(400, f"the body is not JSON: {str(error)[:200]}.") from error


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
        command = (*self.settings.worker, str(self.store.root), str(self.settings.max_memory))
        self.looks = jobs.Pool((*command, "look"), size=jobs.LOOKS)
        self.reports = jobs.Pool((*command, "report"), size=self.settings.workers)
        self._sweeper = asyncio.create_task(self._sweep())

    def routes(self) -> dict[str, dict[str, Endpoint]]:
        """Endpoints by path and method."""
        file, job = "/api/files/{file}", "/api/jobs/{job}"
        return {
            "/api/files": {"POST": self.add_file},
            file: {"DELETE": self.drop_file},
            f"{file}/answers": {
                "GET": self.show_answers,
                "POST": self.add_answers,
                "DELETE": self.drop_answers,
            },
            "/api/jobs": {"GET": self.list_jobs, "POST": self.add_job},
            job: {"GET": self.show_job, "DELETE": self.drop_job},
            f"{job}/report.{{kind}}": {"GET": self.show_report},
        }

    def key_of(self, job: str) -> str | None:
        """Return the key of a report, if there is such a report."""
        found = self.store.jobs.get(job)
        return None if found is None else found.key

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

    async def add_file(self, request: Request) -> Response:
        """Send a file: CSV, TSV, JSON or Parquet; text may be gzipped."""
        if self._uploads.locked():
            many = self.settings.max_uploads_at_once
            raise HTTPException(429, f"{many} uploads are under way; try again in a while.")
        upload = None
        async with self._uploads:
            try:
                upload = self.store.begin_upload(request.query_params.get("name", ""))
                upload.size = await self._write(upload, request.stream())
                task = jobs.Look(str(upload.folder), upload.name, self.settings.max_upload)
                found: jobs.Looked = await self.looks.run(task, timeout=self.settings.look_timeout)
                upload.columns, upload.rows, upload.guess = found.columns, found.rows, found.guess
            except BaseException:
                if upload is not None:
                    self.store.drop_upload(upload)
                raise
        self.store.keep_upload(upload)
        return json_answer(upload.about, 201)

    async def _write(self, upload: Upload, content: AsyncIterator[bytes]) -> int:
        """Write a body to disk, and stop where it is too large or too slow."""
        size, most, pause = 0, self.settings.max_upload, self.settings.upload_pause
        too_large = (
            f"the file has more than {most:,} bytes, the limit.\n"
            "Hint: purecover app --max-upload raises it; a Parquet file is smaller than a CSV file."
        )
        clock = asyncio.get_running_loop().time
        began = clock()
        with (upload.folder / upload.name).open("wb", buffering=_WRITE) as file:
            try:
                async with asyncio.timeout(pause) as patience:
                    async for part in content:
                        size += len(part)
                        if size > most:
                            raise HTTPException(413, too_large)
                        await asyncio.to_thread(file.write, part)
                        # A byte now and then would otherwise hold its place for days.
                        slowest = began + size / self.settings.upload_rate
                        patience.reschedule(min(clock(), slowest) + pause)
            except TimeoutError:
                raise HTTPException(408, "the upload was too slow, or stood still.") from None
        return size

    async def add_answers(self, request: Request) -> Response:
        """Save answers of a judge; return what they show so far, and the next rows."""
        upload = self._file(request.path_params["file"])
        wanted = await _read_body(request, jobs.JudgeRequest)
        task = jobs.Judge(str(upload.folder), upload.name, wanted)
        async with upload.judging:
            found = await self.looks.run(task, timeout=self.settings.look_timeout)
        return json_answer(found)

    async def show_answers(self, request: Request) -> Response:
        """Return all answers about a file, as ``purecover judge`` writes them."""
        upload = self._file(request.path_params["file"])
        if not upload.answers.is_file():
            raise HTTPException(404, "no row of this file was judged.")
        return FileResponse(upload.answers, media_type="text/csv")

    async def drop_answers(self, request: Request) -> Response:
        """Remove all answers about a file."""
        upload = self._file(request.path_params["file"])
        async with upload.judging:
            upload.answers.unlink(missing_ok=True)
        return Response(status_code=204)

    async def drop_file(self, request: Request) -> Response:
        """Remove a file."""
        self.store.drop_upload(self._file(request.path_params["file"]))
        return Response(status_code=204)

    def _file(self, id_: str) -> Upload:
        return self.store.find(self.store.uploads, id_, "file")

    async def add_job(self, request: Request) -> Response:
        """Make a report."""
        wanted = await _read_body(request, jobs.ReportRequest)
        upload = self._file(wanted.file)
        job = self.store.begin_job(upload, wanted.score)
        try:
            await asyncio.to_thread(self.store.lend, upload, job)
        except BaseException as error:
            self.store.drop_job(job)
            if isinstance(error, FileNotFoundError):  # removed in this moment
                raise HTTPException(404, "there is no such file any more.") from None
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
            job.notes = found.notes
        except jobs.WorkError as error:
            job.state, job.error = "failed", str(error)
        except Exception as error:  # noqa: BLE001 - the caller must hear of it
            job.state, job.error = "failed", f"internal error, {type(error).__name__}: {error}"
        finally:
            self.store.end_job(job)

    async def list_jobs(self, _: Request) -> Response:
        """All reports, the newest first."""
        self.store.sweep()
        return json_answer([job.about for job in reversed(self.store.jobs.values())])

    async def show_job(self, request: Request) -> Response:
        """How far a report is."""
        return json_answer(self._job(request).about)

    async def drop_job(self, request: Request) -> Response:
        """Remove a report; stops it if it is being made."""
        job = self._job(request)
        self.store.drop_job(job)
        if job.task is not None:
            await asyncio.gather(job.task, return_exceptions=True)
        return Response(status_code=204)

    def _job(self, request: Request) -> Job:
        return self.store.find(self.store.jobs, request.path_params["job"], "report")

    async def show_report(self, request: Request) -> Response:
        """The report as a page, or as JSON as ``purecover evaluate --json`` prints it."""
        job, name = self._job(request), f"report.{request.path_params['kind']}"
        if job.state != "done":
            raise HTTPException(409, "the report is not finished, or could not be made.")
        if name not in REPORTS or not (job.folder / name).is_file():
            # Who tidies the temporary folder may have taken it.
            raise HTTPException(404, "the report was removed from the disk; make it again.")
        stem = re.sub(r"(\.gz)?$", "", job.name, flags=re.IGNORECASE).rpartition(".")[0] or job.name
        saved = request.query_params.get("download") == "1"
        answer = FileResponse(
            job.folder / name,
            filename=f"{stem}-{name}",
            content_disposition_type="attachment" if saved else "inline",
        )
        if name.endswith("html"):
            # The page has a policy of its own. Whatever a script of it did, it would not be of this
            # origin: no secret, no request.
            limits = "frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"
            answer.headers["Content-Security-Policy"] = limits
        return answer
