"""A fault drill: kills, full disks, flipped bits and hostile files, and what is lost by them.

``python -m studies.drill`` does to the local page, the monitor and the commands what happens to
programs: 100 kills of each, a disk without room or inodes and one that is read-only,
300 flipped bits in each saved thing, 500 hostile files through every command that reads files and
through the page, and 200 uploads, 8 at once, while their workers are killed. ``--scale 0.1`` does a
tenth of each, and ``--minutes 5`` ends each part after so long; the table says how much was done.

It promises: nothing lost, nothing changed unseen, no raw exception, no orphan, no file left. Linux
only; disks are made by mount, which needs root, and their rows say so where it is refused.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from studies._common import arguments, conclude, progress, publish, table
from studies._local_page import Visitor, children, scores, server, visitors

from purecover import PUReport, compare_scores, evaluate, simulate
from purecover._codec import read_sealed
from purecover.cli import main as command_line
from purecover.estimators.reference import KIND
from purecover.exceptions import PurecoverError
from purecover.monitoring import ScoreMonitor
from purecover.report import ScoreComparison

ROOT = Path(__file__).parents[1]
MOUNT, UMOUNT = shutil.which("mount") or "mount", shutil.which("umount") or "umount"
KILLS, FLIPS, FILES, UPLOADS, AT_ONCE = 100, 300, 500, 200, 8
SAMPLE = simulate.binormal(1.5).sample(40, 120, alpha=0.25, random_state=0)
Finding = tuple[str, str, list[str]]
"""What was done, what was found, and what was not as promised."""


def seen(folder: Path, prefix: str = "") -> list[str]:
    """Names in a folder, without the lock of a state, which is meant to stay."""
    return [p.name for p in folder.iterdir() if p.name.startswith(prefix) and p.suffix != ".lock"]


class Until:
    """Counts up to a number, or until the time is over."""

    def __init__(self, number: int, minutes: float) -> None:
        self.number, self.done = number, 0
        self._end = time.monotonic() + 60 * minutes

    def __iter__(self) -> Iterator[int]:
        while self.done < self.number and time.monotonic() < self._end:
            self.done += 1
            yield self.done - 1


def group(leader: int) -> list[int]:
    """Living processes of a group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, pgrp = stat.read_text().rpartition(")")[2].split()[:3]
            if int(pgrp) == leader and state != "Z":
                found.append(int(stat.parent.name))
    return found


def eventually(check: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether something is so within a while."""
    until = time.monotonic() + seconds
    while not check() and time.monotonic() < until:
        time.sleep(0.1)
    return check()


def _gone(pids: list[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def _ended(leader: int) -> bool:
    return not group(leader)


def kill_app(times: Until, rng: random.Random, folder: Path) -> Finding:
    """Kill the server, alone or with its workers; the next one must find nothing left."""
    wrong = []
    content = scores(0, 2000)
    for i in times:
        with server(folder) as (process, address):
            (visitor,) = visitors(address, 1)
            _, answer = visitor.ask("POST", "/api/files?name=a.csv", content, "text/csv")
            if i % 4 > 1:  # while a report is made
                visitor.start(json.loads(answer)["file"], n_resamples=20_000)
            workers = children(process.pid)
            time.sleep(rng.uniform(0, 0.2))
            together = [process.pid, *(workers if i % 2 else [])]
            for pid in together:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            if not eventually(partial(_gone, workers)):
                wrong.append(f"kill {i}: a worker outlived its server")
            if not i % 2 and not eventually(lambda: not seen(folder)):
                wrong.append(f"kill {i}: files left though workers lived")
    with server(folder):  # sweeps
        if len(seen(folder)) != 1:
            wrong.append(f"left after the next start: {len(seen(folder)) - 1} folders")
    if seen(folder):
        wrong.append("left after an orderly end")
    title = f"{times.done} kills of the app, half with its workers, half while it makes a report"
    return title, "no orphan, no file", wrong


MONITOR = """
import itertools, sys
from purecover import simulate
from purecover.monitoring import ScoreMonitor
path, first = sys.argv[1], int(sys.argv[2])
world = simulate.binormal(1.5)
for day in itertools.count(first):
    counts = world.sample(30, 90, alpha=0.25, random_state=day).counts
    ScoreMonitor.update(path, f"day {day}", counts, settings={"alpha": 0.25, "window": 5})
    print(day, flush=True)
"""


def kill_monitor(times: Until, rng: random.Random, folder: Path) -> Finding:
    """Kill a process that adds partitions; what it said it added must be there."""
    state, told, wrong = folder / "state.json", -1, []
    for i in times:
        first = len(ScoreMonitor.load(state).partitions) if state.exists() else 0
        with subprocess.Popen(
            [sys.executable, "-c", MONITOR, str(state), str(first)],
            stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None  # noqa: S101 - a pipe
            for _ in range(rng.randrange(1, 4)):
                told = int(process.stdout.readline())
            time.sleep(rng.uniform(0, 0.05))
            process.kill()
            told = max([told, *map(int, process.stdout.read().split())])
        days = [p.name for p in ScoreMonitor.load(state).partitions]
        if days != [f"day {day}" for day in range(len(days))] or len(days) <= told:
            wrong.append(f"kill {i}: {told + 1} were added and {len(days)} are there")
    ScoreMonitor.update(state, "last", SAMPLE.counts)
    if seen(folder) != ["state.json"]:
        wrong.append(f"left: {seen(folder)}")
    title = f"{times.done} kills of a monitor that adds partitions"
    return title, f"{told + 1} partitions kept", wrong


@contextmanager
def disk(options: str) -> Iterator[Path | None]:
    """A small disk of its own; None where one may not be made."""
    with tempfile.TemporaryDirectory() as name:
        command = [MOUNT, "-t", "tmpfs", "-o", options, "tmpfs", name]
        made = subprocess.run(command, capture_output=True, check=False)
        try:
            yield Path(name) if made.returncode == 0 else None
        finally:
            if made.returncode == 0:
                subprocess.run([UMOUNT, "-l", name], check=True)


def bad_disk(title: str, options: str, fill: Callable[[Path], None]) -> Finding:
    """Use a disk that cannot be written: the monitor, commands, and the app."""
    wrong: list[str] = []
    with disk(options) as place, tempfile.TemporaryDirectory() as name:
        if place is None:
            return title, "not done: mount is refused", []
        state, data = place / "state.json", Path(name, "a.csv")
        data.write_bytes(scores(0, 500))
        ScoreMonitor.update(state, "first", SAMPLE.counts, settings={"alpha": 0.25})
        # A command that is wrong in itself would always be refused.
        (sound := Path(name, "sound")).mkdir()
        for argv in writers(data, sound):
            wrong += command(argv, codes=(0,))
        (place / "app").mkdir()
        with server(place / "app") as (_, address):
            (visitor,) = visitors(address, 1)
            fill(place)
            for _ in range(20):
                status, _ = visitor.ask("POST", "/api/files?name=a.csv", scores(0, 20_000), "a/b")
                visitor.expect(status, 507, "upload")
            before, there = state.read_bytes(), {*seen(place)}
            try:
                ScoreMonitor.update(state, "second", SAMPLE.counts)
                wrong.append("a write that must fail did not")
            except (PurecoverError, OSError):
                pass
            for argv in writers(data, place):
                wrong += command(argv, codes=(2,))
            wrong += command(["monitor", str(state), str(data)], codes=(2,))
            if state.read_bytes() != before or {*seen(place)} != there:
                wrong.append(f"changed, or left: {({*seen(place)} ^ there) or state.name}")
            _undo(place, options)
            status, _ = visitor.ask("POST", "/api/files?name=a.csv", scores(0, 2000), "a/b")
            visitor.expect(status, 201, "upload afterwards")
            wrong += visitor.errors
        if len(ScoreMonitor.load(state).partitions) != 1:
            wrong.append("the state is not what it was")
    return title, "refused in words, nothing changed; works again with room", wrong


def writers(data: Path, place: Path) -> Iterator[list[str]]:
    """Commands that write a file to a place."""
    quick = ["--alpha=.2", "--resamples=0", "--quiet"]
    yield from (["evaluate", str(data), *quick, f"{o}={place}/w"] for o in ("--html", "--markdown"))
    yield from (["evaluate-many", str(data), *quick, f"{o}={place}/w"] for o in ("--html", "--csv"))
    yield ["audit", "sample", str(data), "--n=9", "--design=random", f"--out={place}/w"]
    yield ["priors", str(data), "--estimators=bbe", "--resamples=0", f"--plot={place}/w.svg"]


def _fill_bytes(place: Path) -> None:
    with suppress(OSError), (place / "filler").open("wb") as file:
        while True:
            file.write(b"x" * 4096)
            file.flush()


def _fill_inodes(place: Path) -> None:
    (place / "fillers").mkdir()
    with suppress(OSError):
        for i in range(10_000):
            (place / "fillers" / str(i)).touch()


def _seal(place: Path) -> None:
    subprocess.run([MOUNT, "-o", "remount,ro", str(place)], check=True)


def _undo(place: Path, options: str) -> None:
    if "app" in options:
        return
    subprocess.run([MOUNT, "-o", "remount,rw", str(place)], check=False)
    for filler in (*place.glob("fillers/*"), *place.glob("filler")):
        filler.unlink()


def flip_bits(times: Until, rng: random.Random, folder: Path) -> Iterator[Finding]:
    """Turn single bits in each saved thing: it is refused, or says what it said."""
    report = evaluate(SAMPLE.scores, SAMPLE.labeled, alpha=0.25, n_resamples=50, random_state=0)
    state = folder / "state.json"
    for day in range(3):
        counts = simulate.binormal(1.5).sample(30, 90, alpha=0.25, random_state=day).counts
        ScoreMonitor.update(state, f"day {day}", counts, settings={"alpha": 0.25})
    saved = folder / "report.json"
    saved.write_text(report.to_json(), encoding="utf-8")
    both = folder / "comparison.json"
    twice = {"one": SAMPLE.scores, "two": -SAMPLE.scores}
    compared = compare_scores(twice, SAMPLE.labeled, alpha=0.25, n_resamples=20, random_state=0)
    both.write_text(compared.to_json(counts=True), encoding="utf-8")
    packed = folder / "reference.npz"
    packed.write_bytes((files("purecover") / "data" / "reference.npz").read_bytes())
    things: dict[str, tuple[Path, Callable[[], Any]]] = {
        "a report": (saved, lambda: PUReport.from_json(saved.read_bytes()).to_dict()),
        "a comparison": (both, lambda: ScoreComparison.from_json(both.read_bytes()).to_dict()),
        "a monitor": (state, lambda: ScoreMonitor.load(state).to_dict()),
        "the collection": (packed, lambda: _packed(packed)),
    }
    for title, (file, read) in things.items():
        whole, right, found, wrong = file.read_bytes(), read(), Counter[str](), []
        for _ in range(times.number):
            place = rng.randrange(8 * len(whole))
            flipped = bytearray(whole)
            flipped[place // 8] ^= 1 << place % 8
            file.write_bytes(flipped)
            try:
                same = read() == right
                found["the same"] += same
                if not same:
                    wrong.append(f"{title}: bit {place} changed it unseen")
            except PurecoverError:
                found["refused"] += 1
            except Exception as error:  # noqa: BLE001 - which is what is looked for
                wrong.append(f"{title}: bit {place}: {type(error).__name__}")
        file.write_bytes(whole)
        said = ", ".join(f"{count} {what}" for what, count in found.items())
        yield f"{times.number} flipped bits in {title}", said, wrong


def _packed(file: Path) -> dict[str, bytes]:
    with file.open("rb") as stream:
        return {name: each.tobytes() for name, each in read_sealed(KIND, stream).items()}


def hostile_files(n: int, rng: random.Random) -> list[tuple[str, bytes]]:
    """Damaged and odd files: those of the tests, and bits, bytes and ends that are wrong."""
    # The tests are checked by their own rules.
    fuzz: Any = importlib.import_module("tests.test_fuzz_cli")
    known = list(fuzz.malformed_files())
    rng.shuffle(known)
    found = known[: n // 2]
    whole = {"csv": fuzz.CSV.encode(), "jsonl": fuzz.JSONL.encode()}
    whole["parquet"] = fuzz.parquet()
    whole["csv.gz"] = gzip.compress(whole["csv"])
    whole["json"] = f"[{fuzz.JSONL.strip().replace(chr(10), ',')}]".encode()
    for i in range(n - len(found)):
        ending, content = rng.choice(list(whole.items()))
        damaged = bytearray(content)
        for _ in range(rng.choice([1, 3, 20])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        end = rng.choice([None, rng.randrange(len(damaged))])
        found.append((f"made-{i}.{ending}", bytes(damaged[:end])))
    rng.shuffle(found)
    return found


def command(argv: list[str], codes: tuple[int, ...] = (0, 1, 2)) -> list[str]:
    """What is wrong with how a command ends."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            code: object = command_line(argv)
        except BaseException as error:  # noqa: BLE001 - which is what is looked for
            code = type(error).__name__
    said = err.getvalue()
    if code not in codes or "internal error" in said or "Traceback" in said:
        return [f"{' '.join(argv[:1])} of {Path(argv[1]).name}: {code}, {said[:200]!r}"]
    return []


def readers(file: Path, folder: Path) -> Iterator[list[str]]:
    """Commands that read a file of rows."""
    name, quick = str(file), ["--alpha=0.2", "--resamples=0", "--quiet"]
    yield ["evaluate", name, *quick]
    yield ["evaluate", name, "--by=note", *quick]
    yield ["threshold", name, "--best=f1", *quick]
    yield ["evaluate-many", name, *quick]
    yield ["priors", name, "--estimators=bbe", "--resamples=0"]
    yield ["audit", "sample", name, "--n=3"]
    verdicts = ["--judged=labeled", "--labeled=labeled", "--assume=random-verdicts"]
    yield ["evaluate", name, *verdicts, *quick[1:]]
    yield ["monitor", str(folder / "state"), name, "--alpha=0.2", "--replace", "--name=a"]


def read_hostile(times: Until, rng: random.Random, folder: Path) -> Iterator[Finding]:
    """Every file through every command that reads one, and all that reads what we saved."""
    fuzz: Any = importlib.import_module("tests.test_fuzz_cli")
    sound = folder / "sound.csv"
    sound.write_text(fuzz.CSV, encoding="utf-8")
    # A command that is wrong in itself would refuse every file.
    wrong = [each for argv in readers(sound, folder) for each in command(argv, codes=(0,))]
    sound.unlink()
    calls, wrong_saved = Counter[str](), list[str]()
    for _, (name, content) in zip(times, hostile_files(times.number, rng), strict=False):
        file = folder / name
        file.write_bytes(content)
        for argv in readers(file, folder):
            calls["rows"] += 1
            wrong += command(argv)
        calls["saved"] += 1
        wrong_saved += command(["monitor", str(file)], codes=(2,))
        for read in (PUReport.from_json, ScoreComparison.from_json):
            calls["saved"] += 1
            wrong_saved += raw(name, partial(read, content))
        file.unlink()
    left = {*seen(folder)} - {"state"}
    wrong += [f"left: {left}"] if left else []
    kinds = ", ".join(sorted({" ".join(argv[:1]) for argv in readers(sound, folder)}))
    title = f"{times.done} hostile files, {calls['rows']:,} calls of {kinds}"
    yield title, "a result or a message each", wrong
    title = f"the same as reports, comparisons and monitors, {calls['saved']:,} calls"
    yield title, "a message each", wrong_saved


def raw(name: str, read: Callable[[], object]) -> list[str]:
    """Complain where something that reads raises an error that is not ours."""
    try:
        read()
    except PurecoverError:
        pass
    except Exception as error:  # noqa: BLE001 - which is what is looked for
        return [f"{name}: {type(error).__name__}: {error}"[:200]]
    return []


def send_hostile(times: Until, rng: random.Random, folder: Path) -> Finding:
    """Every file to the page, and a report of those that it takes."""
    wrong: list[str] = []
    found: Counter[str] = Counter()
    with server(folder) as (_, address):
        (visitor,) = visitors(address, 1)
        for _, (name, content) in zip(times, hostile_files(times.number, rng), strict=False):
            path = f"/api/files?name={name}"
            status, answer = visitor.ask("POST", path, content, "application/octet-stream")
            if status != 201:
                found["refused"] += 1
                if status != 422 or "internal error" in json.loads(answer)["error"]:
                    wrong.append(f"{name}: {status}, {answer[:200]!r}")
                continue
            file = json.loads(answer)["file"]
            status, job = visitor.start(file, n_resamples=0)
            job = visitor.wait(job)
            found["reports" if job.get("state") == "done" else "said why not"] += 1
            said = str(job.get("error", ""))
            if status != 202 or "internal error" in said or "ended unexpectedly" in said:
                wrong.append(f"{name}: {status}, {said[:200]!r}")
            visitor.ask("DELETE", f"/api/jobs/{job.get('job')}")
            visitor.ask("DELETE", f"/api/files/{file}")
        wrong += visitor.errors
    if seen(folder):
        wrong.append(f"left: {seen(folder)}")
    said = ", ".join(f"{count} {what}" for what, count in sorted(found.items()))
    return f"{times.done} hostile files sent to the app", said, wrong


def upload_and_kill(times: Until, rng: random.Random, folder: Path) -> Finding:
    """Send files, 8 at once, while every few of them a worker is killed."""
    wrong: list[str] = []
    with server(folder) as (process, address):
        browsers = visitors(address, AT_ONCE)
        killed, over = 0, threading.Event()

        def kill() -> None:
            nonlocal killed
            after = 1
            while not over.wait(0.1):
                workers = children(process.pid)
                if workers and times.done >= after:
                    after = times.done + rng.randrange(5, 10)
                    with suppress(ProcessLookupError):
                        os.kill(rng.choice(workers), signal.SIGKILL)
                        killed += 1

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        content = scores(0, 2000)
        taken, lock = iter(times), threading.Lock()

        def work(visitor: Visitor) -> None:
            while True:
                with lock:
                    if next(taken, None) is None:
                        return
                visitor.upload(content)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(work, browsers))
        over.set()
        killer.join()
        wrong += [error for visitor in browsers for error in visitor.errors]
    if seen(folder):
        wrong.append(f"left: {seen(folder)}")
    title = f"{times.done} uploads, {AT_ONCE} at once, {killed} workers killed"
    return title, "all reports made", wrong


def main() -> int:
    """Run the drill."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=1)
    parser.add_argument("--scale", type=float, default=1.0, help="part of the numbers above")
    parser.add_argument("--minutes", type=float, default=math.inf, help="of each part, at most")
    parser.add_argument("--parts", default="", help="only those named so, with commas")
    options = parser.parse_args()

    def times(number: int) -> Until:
        return Until(max(2, round(number * options.scale)), options.minutes)

    def disks(_: Until, __: random.Random, ___: Path) -> Iterator[Finding]:
        yield bad_disk("a full disk", "size=3m", _fill_bytes)
        yield bad_disk("a disk without inodes", "size=30m,nr_inodes=60", _fill_inodes)
        yield bad_disk("a read-only disk", "size=30m", _seal)

    parts: dict[str, tuple[Callable[..., Any], int]] = {
        "kill-app": (kill_app, KILLS),
        "kill-monitor": (kill_monitor, KILLS),
        "disks": (disks, 1),
        "bits": (flip_bits, FLIPS),
        "hostile-cli": (read_hostile, FILES),
        "hostile-app": (send_hostile, FILES),
        "uploads": (upload_and_kill, UPLOADS),
    }
    rows, failures = [], []
    for name, (part, number) in parts.items():
        if not any(wanted in name for wanted in options.parts.split(",")):
            continue
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            found = part(times(number), random.Random(options.seed), Path(folder))  # noqa: S311
            for done, outcome, wrong in [found] if isinstance(found, tuple) else found:
                rows.append([done, outcome, f"{len(wrong)}"])
                failures += wrong
            progress(f"{name}: {time.perf_counter() - begin:.0f} s")
    body = (
        f"Full size: {KILLS} kills of each, {FLIPS} bits, {FILES} files, {UPLOADS} uploads. "
        "Wrong is what was lost, changed unseen, raised raw, orphaned or left behind.\n\n"
        + table(["done", "found", "wrong"], rows)
    )
    publish("drill", "The fault drill", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
