"""Many uploads to the local page at once: times, errors, files left, and growth of memory.

``python -m studies.app_load`` starts ``purecover app`` and lets 8 visitors, each with a session
of their own, send 200 different files, have a report made of each, fetch it, and remove every
second one. Five times a second it reads the resident memory of the server and of its workers; a
row of the table has the most that was seen during a quarter of the files, and the temporary
folders at its end.

It promises: no error, no temporary file when the server has stopped, and in no later quarter more
than 20 % above the first, which is the warm-up. Linux only: it reads /proc.
"""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from studies._common import arguments, conclude, progress, publish, table

UPLOADS = 200
AT_ONCE = 8
ROWS = 100_000
RESAMPLES = 50
STOPS = 4
MAX_GROWTH = 0.2
MAX_WAIT = 600.0
MB = 1e6


@dataclass
class Visitor:
    """A browser: one connection, one session."""

    host: str
    port: int
    token: str
    secret: str = ""
    errors: list[str] = field(default_factory=list)
    uploads: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def ask(
        self, method: str, path: str, body: bytes | None = None, kind: str = ""
    ) -> tuple[int, bytes]:
        """One request."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=MAX_WAIT)
        try:
            headers = {"Authorization": f"Bearer {self.secret or self.token}"}
            connection.request(
                method, path, body, headers | ({"Content-Type": kind} if kind else {})
            )
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def enter(self) -> None:
        """Come with the address that was printed."""
        status, answer = self.ask("POST", "/api/session")
        self.expect(status, 201, "entering")
        self.secret = json.loads(answer)["session"]

    def expect(self, status: int, right: int, what: str) -> None:
        """Note an answer that is not the right one."""
        if status != right:
            self.errors.append(f"{what}: {status} instead of {right}")

    def upload(self, content: bytes, *, remove: bool) -> None:
        """Send a file, wait for its report, fetch it."""
        begin = time.perf_counter()
        status, answer = self.ask("POST", "/api/files?name=scores.csv", content, "text/csv")
        self.uploads.append(time.perf_counter() - begin)
        self.expect(status, 201, "upload")
        if status != 201:
            return
        file = json.loads(answer)["file"]
        wanted = {"file": file, "score": ["score"], "labeled": "labeled", "alpha": 0.25}
        wanted["resamples"] = RESAMPLES
        status, answer = self.ask(
            "POST", "/api/jobs", json.dumps(wanted).encode(), "application/json"
        )
        self.expect(status, 202, "start")
        job = json.loads(answer)
        while job["state"] in ("waiting", "running"):
            time.sleep(0.05)
            job = json.loads(self.ask("GET", f"/api/jobs/{job['job']}")[1])
        if job["state"] != "done":
            self.errors.append(f"report: {job['error']}")
        status, page = self.ask("GET", f"/api/jobs/{job['job']}/report.html")
        self.expect(status, 200, "report")
        if b"Recovered performance" not in page:
            self.errors.append("report: not the page that was expected")
        self.seconds.append(time.perf_counter() - begin)
        self.expect(self.ask("DELETE", f"/api/files/{file}")[0], 204, "removing the file")
        if remove:
            self.expect(self.ask("DELETE", f"/api/jobs/{job['job']}")[0], 204, "removing")


def scores(seed: int, rows: int) -> bytes:
    """A CSV file of scores of its own."""
    rng = np.random.default_rng(seed)
    labeled = rng.random(rows) < 0.2
    positive = labeled | (rng.random(rows) < 0.25)
    values = rng.normal(size=rows) + 1.5 * positive
    lines = [f"{value:.6f},{int(label)}" for value, label in zip(values, labeled, strict=True)]
    return ("score,labeled\n" + "\n".join(lines) + "\n").encode()


def resident(pid: int) -> float:
    """Memory of a process in MB; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(x.split()[1]) * 1024 / MB for x in lines if x.startswith("VmRSS")), 0.0)


class Watch:
    """The most memory of a server and of its workers since the last question."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._most = (0.0, 0.0, 0.0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.2):
            own = resident(self._pid)
            workers = sum(resident(pid) for pid in children(self._pid))
            found = (own, workers, own + workers)
            self._most = tuple(map(max, zip(self._most, found, strict=True)))  # type: ignore[assignment]

    def most(self) -> tuple[float, float, float]:
        """MB of the server, of the workers, and of both at one time."""
        most, self._most = self._most, (0.0, 0.0, 0.0)
        return most

    def close(self) -> None:
        """Look no more."""
        self._stop.set()
        self._thread.join()


def children(pid: int) -> list[int]:
    """Processes that a process started."""
    found: list[int] = []
    with suppress(OSError):  # threads come and go
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def cpu_seconds() -> float:
    """Seconds of processors that a server, which has ended, and its workers used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=UPLOADS)
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="visitors")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of a file")
    options = parser.parse_args()
    rows: list[list[str]] = []
    totals: list[float] = []
    load = os.getloadavg()[0]
    files = [scores(options.seed + number, options.rows) for number in range(2 * options.at_once)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(folder) as (process, address):
            parts = urlsplit(address)
            token = parts.fragment.removeprefix("token=")
            visitors = [
                Visitor(str(parts.hostname), int(parts.port or 0), token)
                for _ in range(options.at_once)
            ]
            for visitor in visitors:
                visitor.enter()
            root = next(folder.iterdir())
            watch = Watch(process.pid)
            ends = [round(options.replicates * (k + 1) / STOPS) for k in range(STOPS)]
            done = 0
            with ThreadPoolExecutor(options.at_once) as pool:
                for end in ends:
                    shares = np.array_split(np.arange(done, end), options.at_once)

                    def work(visitor: Visitor, numbers: np.ndarray) -> None:
                        for number in numbers.tolist():
                            # A few files in turns: to make one takes as long as its report.
                            content = files[number % len(files)]
                            visitor.upload(content, remove=number % 2 == 0)

                    list(pool.map(work, visitors, shares))
                    done = end
                    own, workers, both = watch.most()
                    totals.append(both)
                    folders = sum(1 for _ in root.iterdir())
                    errors = sum(len(visitor.errors) for visitor in visitors)
                    rows.append(
                        [f"{done}", *(f"{mb:.0f}" for mb in (own, workers, both)), f"{folders}",
                         f"{errors}"]
                    )  # fmt: skip
                    progress(f"{done} uploads")
            watch.close()
        used = cpu_seconds() / options.replicates
        left = list(folder.iterdir())
    failures = [error for visitor in visitors for error in visitor.errors]
    if left:
        failures.append(f"left behind: {', '.join(path.name for path in left)}")
    growth = max(totals[1:]) / totals[0] - 1
    if growth > MAX_GROWTH:
        failures.append(f"memory grew by {100 * growth:.0f} %, promised {100 * MAX_GROWTH:.0f} %")
    times = "; ".join(
        f"{what}: median {np.median(found):.2f} s, 99 % within {np.quantile(found, 0.99):.2f} s"
        for what, found in (
            ("upload", [s for visitor in visitors for s in visitor.uploads]),
            ("from upload to report", [s for visitor in visitors for s in visitor.seconds]),
        )
    )
    body = (
        f"{options.replicates} files of {options.rows:,} rows, {options.at_once} visitors at once, "
        f"{RESAMPLES} resamples each; half of the reports are removed by their visitors.\n\n"
        + table(["uploads", "server MB", "workers MB", "both MB", "folders", "errors"], rows)
        + f"\n\nAgainst the first quarter, memory changed by at most {100 * growth:+.1f} % "
        f"(promised: at most {100 * MAX_GROWTH:.0f} %). Temporary files after the stop: "
        f"{len(left)}. Seconds until the answer, on {os.cpu_count()} cores, 8 visitors and this "
        f"script included: {times}. CPU seconds of the server and its workers: {used:.2f} a file, "
        f"report included. Load average before, other users of the machine included: {load:.1f}."
    )
    publish("app_load", "The local page under load", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
