"""A long use of the local page: memory and open files at its start and at its end.

``python -m studies.soak`` starts ``purecover app`` and lets four visitors use it for an hour:
files become reports, bad files are refused, reports are canceled, fetched and removed. ``--rest
20`` lets each of them rest for 20 seconds after a round, which leaves the machine to others. Twice
a second it reads the memory of the server and of its workers. After a tenth of the time as warm-up,
the mean of the last quarter is set beside that of the first.

It promises: no error, memory flat within 5 %, as many open files at the end as before, and no
temporary file when the server has stopped. Linux only: it reads /proc.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from studies._common import arguments, conclude, publish
from studies.app_load import Visitor, children, cpu_seconds, resident, scores, server

VISITORS = 4
MAX_GROWTH = 0.05


def open_files(pid: int) -> int:
    """Files and sockets that a process holds."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def use(visitor: Visitor, until: float, files: list[bytes], rest: float) -> int:
    """Reports, refusals and cancelations, one after another."""
    rounds = 0
    while time.monotonic() < until:
        visitor.upload(files[rounds % len(files)], remove=True)
        status, _ = visitor.ask("POST", "/api/files?name=bad.csv", bytes(range(256)), "text/csv")
        visitor.expect(status, 422, "a bad file")
        status, answer = visitor.ask("POST", "/api/example")
        visitor.expect(status, 201, "the example")
        file = json.loads(answer)["file"]
        wanted = {"file": file, "score": ["score"], "labeled": "labeled", "resamples": 20_000}
        body = json.dumps(wanted).encode()
        status, answer = visitor.ask("POST", "/api/jobs", body, "application/json")
        visitor.expect(status, 202, "a report to cancel")
        job = json.loads(answer)["job"]
        for path in (f"/api/jobs/{job}", f"/api/files/{file}"):
            visitor.expect(visitor.ask("DELETE", path)[0], 204, "removing")
        rounds += 1
        time.sleep(max(0.0, min(rest, until - time.monotonic())))
    return rounds


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=1)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long")
    parser.add_argument("--rest", type=float, default=0.0, help="seconds between rounds")
    options = parser.parse_args()
    own: list[float] = []
    workers: list[float] = []
    files = [scores(options.seed + i, 1000 * (1 + 5 * i)) for i in range(4)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(folder) as (process, address):
            parts = urlsplit(address)
            token = parts.fragment.removeprefix("token=")
            people = [
                Visitor(str(parts.hostname), int(parts.port or 0), token) for _ in range(VISITORS)
            ]
            for visitor in people:
                visitor.enter()
                visitor.upload(files[0], remove=True)
            time.sleep(8)  # until connections that are kept alive have ended
            before = open_files(process.pid)
            over = threading.Event()

            def watch() -> None:
                while not over.wait(0.5):
                    own.append(resident(process.pid))
                    workers.append(sum(resident(pid) for pid in children(process.pid)))

            watcher = threading.Thread(target=watch)
            watcher.start()
            until = time.monotonic() + 60 * options.minutes
            with ThreadPoolExecutor(VISITORS) as pool:
                rounds = sum(pool.map(lambda each: use(each, until, files, options.rest), people))
            over.set()
            watcher.join()
            time.sleep(8)
            after = open_files(process.pid)
        seconds = cpu_seconds()
        left = [path.name for path in folder.iterdir()]
    lines, failures = [], [error for visitor in people for error in visitor.errors]
    for what, found in (("server", own), ("workers", workers)):
        warm = found[len(found) // 10 :]
        first, last = (
            statistics.fmean(part) for part in (warm[: len(warm) // 4], warm[-(len(warm) // 4) :])
        )
        growth = last / first - 1
        lines.append(f"{what}: {first:.0f} MB, then {last:.0f} MB ({100 * growth:+.1f} %)")
        if growth > MAX_GROWTH:
            failures.append(f"{what}: memory grew by {100 * growth:.1f} %")
    if after > before:
        failures.append(f"{after} open files, {before} before")
    if left:
        failures.append(f"left behind: {left}")
    body = (
        f"{options.minutes:g} minutes, {VISITORS} visitors, {rounds} rounds of a report, a refused "
        f"file and a canceled report, {options.rest:g} s of rest after each; {seconds:.0f} CPU "
        f"seconds of the server and its workers. Memory, {'; '.join(lines)}. Open files of the "
        f"server: {before} before, {after} after. Temporary files after the stop: {len(left)}. "
        f"Errors: {sum(len(visitor.errors) for visitor in people)}."
    )
    publish("soak", "A long use of the local page", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
