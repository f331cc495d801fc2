"""The local page under stress: canceled, slow, broken and crowded, with nothing left behind."""

from __future__ import annotations

import asyncio
import errno
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

pytest.importorskip("starlette.testclient", exc_type=Exception)

import uvicorn
from starlette.exceptions import HTTPException
from tests.app_server import (
    COLUMNS,
    OBEDIENT,
    TOKEN,
    command,
    folders,
    running,
    send,
    start,
    wait_for,
)

from purecover._folders import MARK, new_folder
from purecover.app import jobs, server
from purecover.app.jobs import Evaluate, Look, Pool, ReportRequest, Settings, WorkError, pack
from purecover.app.server import Site
from purecover.app.store import Store
from purecover.cli import main

GOOD = b"score,labeled\n0.5,1\n0.1,0\n"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(check: Callable[[], bool], seconds: float = 60) -> bool:
    until = time.monotonic() + seconds
    while not check() and time.monotonic() < until:
        time.sleep(0.05)
    return check()


def test_a_canceled_report_ends_its_process_and_its_files() -> None:
    with running(obedient=True) as (client, site):
        file = send(client, GOOD, "slow.csv").json()["file"]
        job = start(client, file)
        about = wait_for(client, job, "running")
        assert (about["step"], about["done"], about["total"]) == ("Reading", 1, 4)
        workers = site.api.reports.pids
        assert client.delete(f"/api/jobs/{job}").status_code == 204
        assert client.get(f"/api/jobs/{job}").status_code == 404
        assert folders(site) == {file}
        assert not any(alive(pid) for pid in workers)
        # The next one gets a fresh process.
        other = send(client, GOOD, "good.csv").json()["file"]
        assert wait_for(client, start(client, other))["state"] == "done"


def test_a_report_that_takes_too_long_is_stopped() -> None:
    with running(obedient=True, job_timeout=0.5) as (client, site):
        job = start(client, send(client, GOOD, "slow.csv").json()["file"])
        wait_for(client, job, "running", "failed")  # a busy machine may not see it run
        workers = site.api.reports.pids
        about = wait_for(client, job)
        assert about["state"] == "failed"
        assert "longer than 0.5 seconds" in about["error"]
        assert list((site.api.store.root / job).iterdir()) == []
        assert not any(alive(pid) for pid in workers)


@pytest.mark.parametrize("name", ["crash.csv", "babble.csv"])
def test_a_worker_that_breaks_takes_one_report_with_it(name: str) -> None:
    with running(obedient=True) as (client, _):
        about = wait_for(client, start(client, send(client, GOOD, name).json()["file"]))
        assert about["state"] == "failed"
        assert "ended unexpectedly" in about["error"]
        good = start(client, send(client, GOOD, "good.csv").json()["file"])
        assert wait_for(client, good)["state"] == "done"


def test_a_worker_that_cannot_start_is_an_error_of_the_task() -> None:
    pool = Pool([sys.executable, "-c", "pass"], size=1)
    with pytest.raises(WorkError, match="ended unexpectedly"):
        asyncio.run(pool.run(Look("", "", 0), timeout=5))


def ask_by_hand(site: Site, messages: list[dict[str, Any]]) -> set[str]:
    """Send an upload in parts and then whatever comes; the folders left."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/files",
        "query_string": b"name=a.csv",
        "headers": [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode())],
    }

    async def talk() -> set[str]:
        waiting = iter(messages)
        await site.api.start()

        async def receive() -> dict[str, Any]:
            message = next(waiting, None)
            if message is None:
                await asyncio.sleep(3600)
            assert message is not None
            return message

        async def send_(_: Any) -> None:
            pass

        try:
            await site(scope, receive, send_)
            return folders(site)
        finally:
            await site.api.stop()

    return asyncio.run(talk())


def obedient_site(**settings: Any) -> Site:
    worker = (sys.executable, "-c", OBEDIENT)
    return Site(Settings(worker=worker, token=TOKEN, **settings))


def test_a_client_that_leaves_leaves_no_file() -> None:
    part = {"type": "http.request", "body": GOOD, "more_body": True}
    left = ask_by_hand(obedient_site(), [part, part, {"type": "http.disconnect"}])
    assert left == set()


def test_an_upload_of_a_byte_now_and_then_is_given_up() -> None:
    async def slowly() -> Any:
        for _ in range(1000):
            await asyncio.sleep(0.01)
            yield b"1"

    async def write() -> None:
        site = obedient_site(upload_pause=0.2)
        await site.api.start()
        try:
            upload = site.api.store.begin_upload("a.csv")
            with pytest.raises(HTTPException, match="too slow"):
                await site.api._write(upload, slowly())
        finally:
            await site.api.stop()

    asyncio.run(write())


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """A server: the address it announced, and the one the browser got."""
    servers: list[Any] = []
    announced: queue.Queue[str] = queue.Queue()
    opened: list[str] = []

    class Caught(server._Server):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            servers.append(self)

    monkeypatch.setattr(server, "_Server", Caught)
    ended = threading.Event()

    def browse(page: str) -> None:
        opened.append(page)
        ended.wait()

    monkeypatch.setattr(webbrowser, "open", browse)
    settings = Settings(worker=(sys.executable, "-c", OBEDIENT), token=TOKEN)
    options = {"port": 0, "tell": announced.put, "browser": True}
    thread = threading.Thread(target=server.serve, args=(settings,), kwargs=options)
    thread.start()
    try:
        address = announced.get(timeout=60)
        assert eventually(lambda: bool(opened))
        yield address, opened[0]
    finally:
        for started in servers:
            started.should_exit = True
        thread.join(60)
        ended.set()
    assert not thread.is_alive()


def port_of(address: str) -> int:
    return int(urlsplit(address).port or 0)


def test_no_secret_is_given_to_the_command_of_the_browser(served: tuple[str, str]) -> None:
    """Other users of the machine can read the arguments of every process."""
    address, opened = served
    assert address.endswith(f"#token={TOKEN}")
    assert opened.startswith("file:")
    file = Path(url2pathname(urlsplit(opened).path))
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert re.findall(r'href="([^"]*)"', file.read_text()) == [address]
    assert TOKEN not in opened


@pytest.mark.skipif(sys.platform == "win32", reason="folders that can be locked")
def test_what_a_killed_server_left_is_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living = Store(Settings(worker=()))
    left, lock = new_folder("purecover-app-")
    (left / "upload").mkdir()
    (left / "upload" / "patients.csv").write_bytes(GOOD)
    assert lock is not None
    os.close(lock)
    (tmp_path / "purecover-app-link").symlink_to(tmp_path)
    second = Store(Settings(worker=()))
    assert not left.exists()
    assert living.root.exists()
    assert (tmp_path / "purecover-app-link").is_symlink()
    for store in (living, second):
        store.close()
        assert not store.root.exists()


def test_reports_under_way_are_limited() -> None:
    with running(obedient=True, max_waiting=2) as (client, _):
        file = send(client, GOOD, "slow.csv").json()["file"]
        for _ in range(2):
            start(client, file)
        asked = {"file": file, "score": ["score"], "labeled": "labeled"}
        answer = client.post("/api/jobs", json=asked)
        assert answer.status_code == 429
        assert "2 reports are being made" in answer.json()["error"]


def test_the_oldest_files_and_reports_make_room() -> None:
    with running(obedient=True, max_files=3, max_jobs=2) as (client, site):
        files = [send(client, GOOD, "good.csv").json()["file"] for _ in range(5)]
        assert set(site.api.store.uploads) == set(files[2:])
        jobs = []
        for _ in range(4):
            jobs.append(start(client, files[-1]))
            wait_for(client, jobs[-1])
        assert set(site.api.store.jobs) == set(jobs[2:])
        assert folders(site) == {*files[2:], *jobs[2:]}
        assert client.delete(f"/api/files/{files[0]}/answers").status_code == 404


def test_what_nobody_uses_expires() -> None:
    now = 0.0
    store = Store(Settings(worker=(), keep=10.0, max_waiting=1), clock=lambda: now)
    try:
        upload = store.begin_upload("a.csv")
        (upload.folder / "a.csv").write_bytes(GOOD)
        store.keep_upload(upload)
        job = store.begin_job(upload, ["s"])
        with pytest.raises(HTTPException):
            store.begin_job(upload, ["s"])
        now = 11.0
        with pytest.raises(HTTPException, match="no such file"):
            store.find(store.uploads, upload.id, "file")
        assert store.find(store.jobs, job.id, "report") is job  # not before it has ended
        job.state = "done"
        (job.folder / "report.html").write_text("x")
        store.end_job(job)
        now = 20.0
        assert store.find(store.jobs, job.id, "report") is job
        now = 31.0
        with pytest.raises(HTTPException, match="no such report"):
            store.find(store.jobs, job.id, "report")
        assert [path.name for path in store.root.iterdir()] == [MARK]
    finally:
        store.close()
    assert not store.root.exists()


def test_uvicorn_has_what_connections_are_limited_by() -> None:
    """None of it is documented: its own limit refuses who comes last, not who says nothing."""
    lacking = [
        f"{kind.__name__}.{name}"
        for kind, names in (
            (server.H11Protocol, {"transport", "cycle"}),
            (server.RequestResponseCycle, {"response_complete"}),
        )
        for name in names - set(kind.__init__.__code__.co_names)  # what it gives to itself
    ]
    assert not lacking, f"_Listener needs it, and uvicorn {uvicorn.__version__} has it no more"
    assert issubclass(server.H11Protocol, asyncio.Protocol)


def test_a_crowd_without_the_token_neither_fills_the_log_nor_keeps_the_owner_out() -> None:
    """Connections that say nothing, half a request, no request, or ask without the secret."""
    kinds = [b"", b"GET /api/jobs HTTP/1.1\r\n", b"?\r\n\r\n", b"GET /api/jobs HTTP/1.0\r\n\r\n"]
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(300, limits[1]), limits[1]))
    try:  # the server has few files of its own
        opened = command()
        process, address = opened.__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    base, _, token = address.partition("#token=")
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{base}api/jobs", headers={"Authorization": f"Bearer {token}"}
    )
    place = ("127.0.0.1", int(urlsplit(base).port or 0))
    try:
        for _ in range(4):
            crowd = [socket.socket() for _ in range(600)]
            for i, each in enumerate(crowd):
                each.setblocking(False)
                with suppress(OSError):
                    each.connect(place)
                    each.send(kinds[i % len(kinds)])
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                assert answer.read() == b"[]"
            for each in crowd:
                each.close()
        process.terminate()
        assert process.stderr.read() == ""
    finally:
        opened.__exit__(None, None, None)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [("SIGINT", 0), ("SIGTERM", -15), ("SIGHUP", 0), ("SIGKILL", -9)]
)
def test_the_command_leaves_nothing_however_it_ends(
    number: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with command() as (process, address):
        assert address.startswith("http://127.0.0.1:")
        base, _, token = address.partition("/#token=")
        assert len(token) >= 40
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{base}/api/files?name=a.csv", GOOD, headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            assert answer.status == 201
        root = next(tmp_path.glob("purecover-app-*"))
        assert any(root.iterdir())
        process.send_signal(getattr(signal, number))
        assert process.wait(30) == code
        assert eventually(lambda: not root.exists())


def test_without_the_extra_the_command_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["app", "--no-browser"]) == 2
    said = capsys.readouterr().err
    assert "purecover app needs the package 'uvicorn', which is not installed" in said
    assert "pip install 'purecover[app]'" in said


@pytest.mark.slow
def test_a_worker_does_not_eat_the_memory(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    rows = "".join(
        f"{i},{i % 2}\n" for i in range(4_000_000)
    )  # too many scores to count in so little
    (tmp_path / "a.csv").write_text(f"score,labeled\n{rows}")
    command = [sys.executable, "-P", "-m", "purecover.cli._worker", str(tmp_path)]
    request = ReportRequest(file="a" * 32, score=["score"], labeled="labeled")
    task = pack(Evaluate(str(tmp_path), "a.csv", request))
    with subprocess.Popen(
        [*command, str(450_000_000), "report"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(task)
        process.stdin.flush()
        answers = iter(process.stdout.readline, b"")
        answer = next(line.decode() for line in answers if b"step" not in line)
        process.stdin.close()
    assert "not enough memory" in answer


def test_workers_together_leave_memory_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (4 * 10**9, 64 * 10**9, 0):
        monkeypatch.setattr("purecover.app.jobs.machine_memory", lambda size=size: size)
        settings = Settings(worker=(), workers=3, max_upload=10**9)
        together = settings.max_memory * (3 + 2)
        assert together <= (0.75 * size or 5 * 22 * 10**9)


@pytest.mark.skipif(sys.platform == "win32", reason="folders that can be locked")
def test_a_folder_that_somebody_put_there_is_not_used() -> None:
    with running(obedient=True) as (client, site):
        root = site.api.store.root
        shutil.rmtree(root)
        root.mkdir(mode=0o777)
        assert send(client, GOOD).status_code == 507


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EROFS])
def test_a_folder_that_cannot_be_made_holds_no_place(
    reason: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(reason, os.strerror(reason))

    with running(obedient=True, max_uploads_at_once=2) as (client, site):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "mkdir", full)
            assert [send(client, GOOD).status_code for _ in range(4)] == [507] * 4
        shutil.rmtree(site.api.store.root)  # as whoever tidies temporary folders does
        file = send(client, GOOD)
        assert file.status_code == 201
        assert site.api.store.root.stat().st_mode & 0o777 == 0o700
        shutil.rmtree(site.api.store.root)
        answer = client.post("/api/jobs", json={"file": file.json()["file"]} | COLUMNS)
        assert answer.status_code == 404


def test_a_task_outlives_workers_that_were_killed() -> None:
    with running(obedient=True) as (client, site):
        file = send(client, GOOD, "good.csv").json()["file"]
        assert wait_for(client, start(client, file))["state"] == "done"
        for pid in (*site.api.looks.pids, *site.api.reports.pids):
            os.kill(pid, signal.SIGKILL)
        answer = send(client, GOOD, "good.csv")
        assert answer.status_code == 201
        assert wait_for(client, start(client, answer.json()["file"]))["state"] == "done"


def test_a_task_outlives_three_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool([], size=1)
    monkeypatch.setattr(pool, "_try", AsyncMock(side_effect=[*[jobs.LostError()] * 3, "done"]))
    assert asyncio.run(pool.run(Look("", "", 0), timeout=1)) == "done"


def test_silent_connections_keep_nobody_out(
    served: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_MOST_CONNECTIONS", 10)
    with ExitStack() as stack:
        where = ("127.0.0.1", port_of(served[0]))
        silent = [stack.enter_context(socket.create_connection(where, 20)) for _ in range(40)]
        with urllib.request.urlopen(served[0], timeout=20) as answer:  # noqa: S310
            assert answer.status == 200
        assert silent[0].recv(1) == b""  # closed at the other end, to make room
        assert len(server._Listener._open) <= 10


def test_a_browser_that_blocks_holds_up_nobody(served: tuple[str, str]) -> None:
    """The command of a browser may end with the browser; the fixture's blocks until the end."""
    address, _ = served
    with urllib.request.urlopen(address, timeout=20) as answer:  # noqa: S310 - our own server
        assert answer.status == 200
