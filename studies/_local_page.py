"""The local page as browsers use it: its server in a process, sessions, files and reports.

Linux only: it reads /proc.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

RESAMPLES = 50
MAX_WAIT = 600.0


@dataclass
class Visitor:
    """A browser."""

    host: str
    port: int
    token: str
    errors: list[str] = field(default_factory=list)

    def ask(
        self, method: str, path: str, body: bytes | None = None, kind: str = ""
    ) -> tuple[int, bytes]:
        """One request."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=MAX_WAIT)
        try:
            headers = {"Authorization": f"Bearer {self.token}"}
            connection.request(
                method, path, body, headers | ({"Content-Type": kind} if kind else {})
            )
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def expect(self, status: int, right: int, what: str) -> None:
        """Note an answer that is not the right one."""
        if status != right:
            self.errors.append(f"{what}: {status} instead of {right}")

    def start(self, file: str, **more: Any) -> tuple[int, dict[str, Any]]:
        """Ask for a report of a file that was sent."""
        wanted = {"file": file, "score": ["score"], "labeled": "labeled", "alpha": 0.25} | more
        body = json.dumps(wanted).encode()
        status, answer = self.ask("POST", "/api/jobs", body, "application/json")
        return status, json.loads(answer)

    def wait(self, job: dict[str, Any]) -> dict[str, Any]:
        """Ask until a report is made or has failed."""
        while job.get("state") in ("waiting", "running"):
            time.sleep(0.05)
            job = json.loads(self.ask("GET", f"/api/jobs/{job['job']}")[1])
        return job

    def upload(self, content: bytes) -> None:
        """Send a file, wait for its report, fetch it."""
        status, answer = self.ask("POST", "/api/files?name=scores.csv", content, "text/csv")
        self.expect(status, 201, "upload")
        if status != 201:
            return
        file = json.loads(answer)["file"]
        status, job = self.start(file, n_resamples=RESAMPLES)
        self.expect(status, 202, "start")
        job = self.wait(job)
        if job["state"] != "done":
            self.errors.append(f"report: {job['error']}")
        status, page = self.ask("GET", f"/api/jobs/{job['job']}/report.html")
        self.expect(status, 200, "report")
        if b"Recovered performance" not in page:
            self.errors.append("report: not the page that was expected")
        self.expect(self.ask("DELETE", f"/api/files/{file}")[0], 204, "removing the file")
        self.expect(self.ask("DELETE", f"/api/jobs/{job['job']}")[0], 204, "removing")


def visitors(address: str, n: int) -> list[Visitor]:
    """Browsers that have come with the printed address."""
    parts = urlsplit(address)
    token = parts.fragment.removeprefix("token=")
    return [Visitor(str(parts.hostname), int(parts.port or 0), token) for _ in range(n)]


def scores(seed: int, rows: int) -> bytes:
    """A CSV file of scores of its own."""
    rng = np.random.default_rng(seed)
    labeled = rng.random(rows) < 0.2
    positive = labeled | (rng.random(rows) < 0.25)
    values = rng.normal(size=rows) + 1.5 * positive
    lines = [f"{value:.6f},{int(label)}" for value, label in zip(values, labeled, strict=True)]
    return ("score,labeled\n" + "\n".join(lines) + "\n").encode()


def children(pid: int) -> list[int]:
    """Processes that a process started."""
    found: list[int] = []
    with suppress(OSError):  # threads come and go
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


@contextmanager
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, with its temporary files in a folder of ours, and its address."""
    command = [sys.executable, "-m", "purecover", "app", "--no-browser", "--quiet"]
    environment = os.environ | {"TMPDIR": str(folder)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process, str(process.stderr and process.stderr.readline().strip())
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
