"""Processes that add partitions to a state file, to be run as a program of its own.

It forks: children have everything imported, so that most of their time is spent in what is tested.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import purecover as pu
from purecover import ScoreMonitor, simulate
from purecover.cli import main, rows

SIZE = (50, 3000)
WORLD = simulate.binormal(1.5)


def write_day(folder: Path, day: int) -> Path:
    sample = WORLD.sample(*SIZE, alpha=0.25, random_state=day)
    path = folder / f"day-{day}.csv"
    columns = np.column_stack((sample.scores, sample.labeled))
    np.savetxt(path, columns, delimiter=",", header="score,labeled", comments="", fmt="%.17g")
    return path


def start(state: Path, days: list[Path]) -> int:
    """A process that adds partitions; what it needs is imported."""
    assert rows.read_rows
    assert pu.ScoreMonitor
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        code = max(main(["monitor", str(state), str(d), "--alpha", "0.25", "-q"]) for d in days)
    finally:
        os._exit(code)


def temporary(folder: Path) -> set[Path]:
    return set(folder.glob(".state.json.*.tmp"))


def killed(folder: Path, n_kills: int, seed: int) -> dict[str, int]:
    """Kill processes at random moments, half of them while they write or just after.

    Counts those that had added their partition (new) or not (old), and those that had begun to
    write and not come to the end (writing).
    """
    state = folder / "state.json"
    rng = random.Random(seed)  # noqa: S311
    seen = {"old": 0, "new": 0, "writing": 0}
    names: list[str] = []
    usual = 0.0
    for i in range(n_kills):
        if i % 10 == 0:  # one that may finish, to know how long that takes by now
            began = time.monotonic()
            path = write_day(folder, n_kills + i)
            assert os.waitpid(start(state, [path]), 0)[1] == 0
            usual = time.monotonic() - began
            names.append(path.stem)
        path, before = write_day(folder, i), state.read_bytes()
        there = temporary(folder)
        child = start(state, [path])
        if i % 2:
            began = time.monotonic()
            while not temporary(folder) - there and time.monotonic() < began + 3 * usual:
                time.sleep(0.0002)
            time.sleep(rng.uniform(0, 0.01))
        else:
            time.sleep(rng.uniform(0, 1.2 * usual))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = [p.name for p in ScoreMonitor.load(state).partitions]  # refuses a damaged file
        if found == names:
            assert state.read_bytes() == before
            seen["old"] += 1
        else:
            names.append(path.stem)
            assert found == names
            seen["new"] += 1
        seen["writing"] += bool(temporary(folder) - there)
    # Nothing that the killed ones left behind is in the way.
    assert os.waitpid(start(state, [write_day(folder, 3 * n_kills)]), 0)[1] == 0
    monitor = ScoreMonitor.load(state)
    assert len(monitor.partitions) == len(names) + 1
    assert (monitor.counts.n_labeled, monitor.counts.n_unlabeled) == tuple(
        n * len(monitor.partitions) for n in SIZE
    )
    left = sorted(p.name for p in folder.iterdir() if not p.name.startswith("day-"))
    assert left == ["state.json", "state.json.lock"]
    return seen


def together(folder: Path, n_processes: int, n_days: int) -> dict[str, int]:
    """Processes that add partitions at the same time."""
    state = folder / "state.json"
    days = [write_day(folder, day) for day in range(n_processes * n_days)]
    children = [start(state, days[i::n_processes]) for i in range(n_processes)]
    codes = [os.waitpid(child, 0)[1] for child in children]
    monitor = ScoreMonitor.load(state)
    assert sorted(p.name for p in monitor.partitions) == sorted(d.stem for d in days)
    return {"worst": max(codes), "n_labeled": int(monitor.counts.n_labeled)}


if __name__ == "__main__":
    what, where, *numbers = sys.argv[1:]
    answer = {"killed": killed, "together": together}[what](Path(where), *map(int, numbers))
    print(json.dumps(answer))  # noqa: T201
