"""What the operations do: take files, start reports, tell how far they are, hand them out."""

from __future__ import annotations

import asyncio
import errno
import html
import re
import shutil
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from purecover.app._answers import ApiError, json_answer, read_body, violation
from purecover.app._openapi import JOB_SCHEMA, OPERATIONS, openapi_document
from purecover.app._pages import render_document
from purecover.app._pool import Pool, WorkError
from purecover.app._settings import Settings
from purecover.app._store import FullError, Job, Store, Upload

__all__ = ["Api"]

_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_HEAD = 1 << 16
_WRITE = 1 << 20
_SWEEP = 60.0
_LOOKS = 2
"""Files looked into at the same time, so that one that is slow to open holds up no other."""
_OPTIONS = {
    "labeled", "truth", "weight", "group", "alpha", "beta", "scenario", "estimator",
    "positive_label", "negative_label", "decimal", "resamples", "confidence_level", "seed",
}  # fmt: skip


class Api:
    """The operations of :data:`purecover.app._openapi.OPERATIONS`, by name."""

    store: Store
    looks: Pool
    reports: Pool

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._uploading = 0
        self._sweeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Make the folder and start the first workers."""
        settings = self.settings
        self.store = Store(settings)
        command = (*settings.worker, str(self.store.root))
        memory = str(settings.max_memory)
        often = settings.jobs_per_worker
        self.looks = Pool((*command, "look", memory), size=_LOOKS, tasks_per_worker=often)
        self.reports = Pool(
            (*command, "report", memory), size=settings.workers, tasks_per_worker=often
        )
        self._sweeper = asyncio.create_task(self._sweep())

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

    # -- files ----------------------------------------------------------------------------

    async def add_file(self, request: Request) -> Response:
        """Receive a file as it comes, and look into it."""
        name = request.query_params.get("name", "")
        schema = next(op.query["name"] for op in OPERATIONS if op.name == "add_file")
        wrong = violation(name, schema, "'name'")
        if wrong is not None:
            raise ApiError(422, wrong)
        limit = self.settings.max_upload
        declared = request.headers.get("content-length", "")
        if declared.isascii() and declared.isdigit() and int(declared) > limit:
            raise _too_large(limit)
        return await self._take(request, name, request.stream())

    async def add_example(self, request: Request) -> Response:
        """The bundled scores, as if they had been sent."""
        example = self.settings.example
        if example is None:
            raise ApiError(404, "this server has no example.")

        async def content() -> AsyncIterator[bytes]:
            yield await asyncio.to_thread(example.read_bytes)

        return await self._take(request, example.name, content())

    async def _take(self, request: Request, name: str, content: AsyncIterator[bytes]) -> Response:
        if self._uploading >= self.settings.max_uploads_at_once:
            raise ApiError(429, f"{self._uploading} uploads are under way; try again in a while.")
        self._uploading += 1
        upload = self.store.begin_upload(_owner(request), name)
        try:
            upload.size = await self._write(upload, content)
            task = {
                "do": "look",
                "folder": str(upload.folder),
                "file": upload.name,
                "limit": self.settings.max_upload,
            }
            upload.about = await self.looks.run(
                task, timeout=self.settings.look_timeout, progress=lambda *_: None
            )
        except BaseException as error:
            self.store.drop_upload(upload)
            if isinstance(error, WorkError):
                raise ApiError(422, str(error)) from error
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise ApiError(507, "there is no room for the file on the disk.") from error
            raise
        finally:
            self._uploading -= 1
        self.store.keep_upload(upload)
        location = {"Location": f"/api/files/{upload.id}"}
        return json_answer(_about_file(upload), 201, location)

    async def _write(self, upload: Upload, content: AsyncIterator[bytes]) -> int:
        """Write to the disk while counting: a chunked body does not say how long it is."""
        size = 0
        buffer = bytearray()
        parts = aiter(content)
        with (upload.folder / upload.name).open("wb") as file:
            while True:
                try:
                    async with asyncio.timeout(self.settings.upload_pause):
                        part = await anext(parts, None)
                except TimeoutError:
                    raise ApiError(408, "the upload stood still for too long.") from None
                if part is None:
                    break
                size += len(part)
                if size > self.settings.max_upload:
                    raise _too_large(self.settings.max_upload)
                buffer += part
                if len(buffer) >= _WRITE:
                    await asyncio.to_thread(file.write, bytes(buffer))
                    buffer.clear()
            file.write(bytes(buffer))
        return size

    async def show_file(self, request: Request) -> Response:
        """Columns and first rows."""
        return json_answer(_about_file(self._file(request, request.path_params["file"])))

    async def drop_file(self, request: Request) -> Response:
        """Remove a file."""
        self.store.drop_upload(self._file(request, request.path_params["file"]))
        return Response(status_code=204)

    def _file(self, request: Request, id_: str) -> Upload:
        upload = self.store.upload(id_, _owner(request))
        if upload is None:
            raise ApiError(404, "there is no such file; it may have been removed to make room.")
        return upload

    # -- reports --------------------------------------------------------------------------

    async def add_job(self, request: Request) -> Response:
        """Start a report."""
        wanted = await read_body(request, JOB_SCHEMA)
        upload = self._file(request, wanted["file"])
        try:
            job = self.store.begin_job(upload, wanted["score"])
        except FullError as error:
            raise ApiError(429, str(error)) from error
        try:
            await asyncio.to_thread(self.store.lend, upload, job)
        except BaseException as error:
            self.store.drop_job(job)
            if isinstance(error, FileNotFoundError):  # removed in this moment
                raise ApiError(404, "there is no such file any more.") from None
            if isinstance(error, OSError):
                raise ApiError(507, "there is no room for the file on the disk.") from error
            raise
        job.task = asyncio.create_task(self._make(job, _arguments(wanted)))
        return json_answer(_about_job(job), 202, {"Location": f"/api/jobs/{job.id}"})

    async def _make(self, job: Job, arguments: list[str]) -> None:
        def progress(step: str, done: int, total: int) -> None:
            job.state, job.step, job.done, job.total = "running", step, done, total

        task = {
            "do": "report",
            "folder": str(job.folder),
            "file": job.name,
            "arguments": arguments,
        }
        try:
            result = await self.reports.run(
                task, timeout=self.settings.job_timeout, progress=progress
            )
            job.notes, job.figures = list(result["notes"]), dict(result["figures"])
            job.state = "done"
        except WorkError as error:
            job.state, job.error = "failed", str(error)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            job.state, job.error = "failed", f"internal error, {type(error).__name__}: {error}"
        finally:
            self.store.end_job(job)
            if job.id not in self.store.jobs:  # removed while the worker still wrote
                shutil.rmtree(job.folder, ignore_errors=True)

    async def list_jobs(self, request: Request) -> Response:
        """The caller's reports."""
        return json_answer([_about_job(job) for job in self.store.jobs_of(_owner(request))])

    async def show_job(self, request: Request) -> Response:
        """How far a report is."""
        return json_answer(_about_job(self._job(request)))

    async def drop_job(self, request: Request) -> Response:
        """Cancel or forget a report, and wait until its worker is gone."""
        job = self._job(request)
        self.store.drop_job(job)
        if job.task is not None:
            await asyncio.gather(job.task, return_exceptions=True)
        return Response(status_code=204)

    def _job(self, request: Request) -> Job:
        job = self.store.job(request.path_params["job"], _owner(request))
        if job is None:
            raise ApiError(404, "there is no such report; it may have been removed to make room.")
        return job

    async def report_html(self, request: Request) -> Response:
        """The page, under its own policy and without the rights of this site."""
        answer = self._report(request, "report.html", "text/html")
        with open(answer.path, "rb") as file:  # noqa: ASYNC230, PTH123 - a few kB
            found = _POLICY.search(file.read(_HEAD))
        policy = html.unescape(found[1].decode()) if found else "default-src 'none'"
        # Whatever a script of the page did, it would not be of this origin: no cookie, no request.
        answer.headers["Content-Security-Policy"] = (
            f"{policy}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"
        )
        return answer

    async def report_json(self, request: Request) -> Response:
        """The data."""
        return self._report(request, "report.json", "application/json")

    def _report(self, request: Request, name: str, kind: str) -> FileResponse:
        download = request.query_params.get("download", "0")
        if download not in ("0", "1"):
            raise ApiError(422, "'download' must be one of 0, 1.")
        job = self._job(request)
        if job.state != "done":
            raise ApiError(409, "the report is not finished, or could not be made.")
        stem = re.sub(r"(\.gz)?$", "", job.name, flags=re.IGNORECASE).rpartition(".")[0] or job.name
        return FileResponse(
            job.folder / name,
            media_type=kind,
            filename=f"{stem}-{name}",
            content_disposition_type="attachment" if download == "1" else "inline",
        )

    # -- the interface itself -------------------------------------------------------------

    async def document(self, request: Request) -> Response:
        """The interface, for programs."""
        del request
        return json_answer(openapi_document())

    async def document_page(self, request: Request) -> Response:
        """The interface, for people."""
        del request
        return HTMLResponse(render_document(openapi_document()))


def _owner(request: Request) -> str:
    return str(request.scope["state"]["owner"])


def _too_large(limit: int) -> ApiError:
    return ApiError(
        413,
        f"the file has more than {limit:,} bytes, the limit.\n"
        "Hint: purecover app --max-upload raises it; a Parquet file is smaller than a CSV file.",
    )


def _arguments(wanted: dict[str, Any]) -> list[str]:
    """Options of ``purecover evaluate``, each in one word, so that no value is taken for one."""
    words = [f"--score={column}" for column in wanted["score"]]
    for name, value in wanted.items():
        option = f"--{name.replace('_', '-')}"
        if name in _OPTIONS:
            whole = JOB_SCHEMA["properties"][name]["type"] == "integer"
            words.append(f"{option}={int(value) if whole else value}")
        elif name == "missing_is_unlabeled" and value:
            words.append(option)
    return words


def _about_file(upload: Upload) -> dict[str, Any]:
    return {"file": upload.id, "name": upload.name, "size": upload.size, **upload.about}


def _about_job(job: Job) -> dict[str, Any]:
    return {
        "job": job.id,
        "name": job.name,
        "score": job.score,
        "state": job.state,
        "step": job.step,
        "done": job.done,
        "total": job.total,
        "error": job.error,
        "notes": job.notes,
        "figures": job.figures,
    }
