"""Time and memory: counts beside scikit-learn, reports beside the plainest one, estimators.

``python -m studies.speed`` prints a section for each; ``--parts counts,reports`` runs some. Ratios
come from one run in which the competitors take turns, so that a busy machine slows all alike. What
has a process of its own is measured with everything that the process did. It ends with a failure
if both AUC differ by more than 1e-12, or if a promise of ``LIMITS`` or ``RATIOS`` is broken.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from studies._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover import simulate
from purecover.estimators import prior_estimators

SAME = 1e-12
LIMITS = {"alphamax": 0.020, "dedpul": 0.050, "bbe": 0.050, "roc-slope": 0.050}
"""CPU seconds of a fit on 1,000 + 10,000 scores."""
RATIOS = {"alpha by pure-top": 5.0, "two scores compared": 4.0}
"""CPU time of a call, relative to a report with alpha given."""
REPORT_LIMIT = 0.5
"""CPU seconds of a report of 11,000 scores with alpha estimated."""
LARGE_SECONDS, LARGE_GIB = 60.0, 4.0
"""Of a fit on the large sample, the scores included."""

Part = tuple[str, list[str]]
"""Text of a section, and the promises that do not hold."""

LAUNCH = """
import os, sys, time
start = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
wall = time.perf_counter() - start
print("spent", wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status) not in (0, 1))  # 1: a check found an error
"""


def spent(command: Sequence[str]) -> tuple[float, float, float]:
    """Return wall seconds, CPU seconds and peak MiB of a Python command in a process of its own.

    A small process starts it, since peak memory counts from that of the parent.
    """
    # An installed package has its bytecode, which this variable would have made anew each time.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    launch = [sys.executable, "-S", "-c", LAUNCH, sys.executable, *command]
    done = subprocess.run(launch, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command} failed: {done.stderr[-200:]}")
    wall, cpu, peak = map(float, done.stdout.rpartition("spent ")[2].split())
    return wall, cpu, peak


def medians(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, tuple[float, float]]:
    """Return median wall and CPU seconds of calls that take turns, after one each that warms up."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            call()
            if turn:
                now = time.perf_counter() - start, time.process_time() - start_cpu
                found[name].append(now)
    return {
        name: (statistics.median(w for w, _ in times), statistics.median(c for _, c in times))
        for name, times in found.items()
    }


def drawn(n_labeled: int, n_unlabeled: int, seed: int, beta: float = 1.0) -> simulate.Sample:
    """Draw normal scores, 1.5 apart, alpha 0.25."""
    world = simulate.binormal(1.5)
    return world.sample(n_labeled, n_unlabeled, alpha=0.25, beta=beta, random_state=seed)


def study_counts(sizes: Sequence[int], repeats: int, seed: int) -> Part:
    """Measure counts and AUC beside scikit-learn."""
    from sklearn.metrics import auc, roc_curve

    def by_sklearn(scores: Any, labeled: Any) -> float:
        return float(auc(*roc_curve(labeled, scores)[:2]))

    def by_counts(scores: Any, labeled: Any) -> float:
        return pu.recovery.auc_pu(pu.ScoreCounts.from_scores(scores, labeled))

    rows, failures = [], []
    for size in sizes:
        progress(f"{size:,} scores")
        sample = drawn(size // 10, size - size // 10, seed)
        data = sample.scores, sample.labeled
        if (difference := abs(by_sklearn(*data) - by_counts(*data))) > SAME:
            failures.append(f"AUC differ by {difference:.2e} at {size:,} scores")
        calls = {"scikit-learn": partial(by_sklearn, *data), "purecover": partial(by_counts, *data)}
        # Small inputs need more repetitions for a steady median.
        times = medians(calls, repeats * max(1, min(10, 10**7 // size)))
        for name, (wall, cpu) in times.items():
            tracemalloc.start()  # NumPy reports its arrays to it
            calls[name]()
            peak = tracemalloc.get_traced_memory()[1] / (data[0].nbytes + data[1].nbytes)
            tracemalloc.stop()
            their_wall, their_cpu = times["scikit-learn"]
            cells = f"{wall * 1e3:,.1f}", f"{their_wall / wall:.1f}", f"{their_cpu / cpu:.1f}"
            rows.append([f"{size:,}", name, *cells, f"{peak:.2f}"])
    headers = ["scores", "method", "median ms", "times faster", "CPU time", "peak memory / input"]
    return (
        "## Counts and the AUC\n\nfloat64 scores, a tenth labeled; input is scores and labels "
        "together, 9 bytes per example. scikit-learn is `roc_curve` and `auc`.\n\n"
        + table(headers, rows)
    ), failures


REPORT = """
import sys, numpy as np, purecover as pu
scores, labeled = np.load(sys.argv[1]).T
labeled = labeled == 1
other = scores + np.random.default_rng(0).normal(size=scores.size)
calls = {
    "alpha given": lambda **more: pu.evaluate(scores, labeled, alpha=0.25, **more),
    "alpha by pure-top": lambda **more: pu.evaluate(scores, labeled, assume=["pure-top"], **more),
    "alpha estimated": lambda **more: pu.evaluate(scores, labeled, **more),
    "two scores compared": lambda **more: pu.compare_scores(
        {"one": scores, "other": other}, labeled, alpha=0.25, **more
    ),
}
for seed in range(int(sys.argv[3])):
    str(calls[sys.argv[2]](random_state=seed))
"""
REPORTS = ("alpha given", "alpha by pure-top", "alpha estimated", "two scores compared")


def study_reports(sizes: Sequence[int], repeats: int, seed: int) -> Part:
    """Measure reports and comparisons in Python, and commands from start to end."""
    reports, commands, failures = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, page = folder / "scores.npy", f"--html={folder}/page.html"
        for size in sizes:
            sample = drawn(size // 11, size - size // 11, seed)
            np.save(path, np.column_stack((sample.scores, sample.labeled)))
            plain = 0.0
            for what in REPORTS:
                progress(f"{size:,} scores, {what}")
                runs = []
                for _ in range(repeats):  # what starting takes: two reports less one
                    one, two = (spent(["-c", REPORT, str(path), what, n]) for n in "12")
                    runs.append((two[0] - one[0], two[1] - one[1], two[2]))
                wall, cpu, peak = (statistics.median(column) for column in zip(*runs, strict=True))
                plain = plain or cpu
                cells = f"{wall:.2f}", f"{cpu:.2f}", f"{cpu / plain:.1f}", f"{peak:,.0f}"
                reports.append([f"{size:,}", what, *cells])
                if cpu / plain > RATIOS.get(what, np.inf):
                    failures.append(f"{what}, {size:,} scores: {cpu / plain:.1f} times one report")
                if what == "alpha estimated" and size == sizes[0] and cpu > REPORT_LIMIT:
                    failures.append(f"a report with alpha estimated: {cpu:.2f} CPU s")
        large, example = folder / "scores.csv", folder / "example_scores.csv"
        rows = np.column_stack((sample.scores, sample.labeled))
        np.savetxt(large, rows, ["%.9f", "%d"], ",", header="score,labeled", comments="")
        example.write_bytes(files("purecover").joinpath("data/example_scores.csv").read_bytes())
        for title, words in {
            "purecover --help": ["--help"],
            "evaluate the example": ["evaluate", str(example), page],
            "evaluate the example, alpha given": ["evaluate", str(example), "--alpha=0.35", page],
            f"evaluate {size:,} rows": ["evaluate", str(large), page],
            f"evaluate {size:,} rows, alpha given": ["evaluate", str(large), "--alpha=0.25", page],
        }.items():
            progress(title)
            runs = [spent(["-m", "purecover", *words]) for _ in range(repeats)]
            wall, cpu, peak = (statistics.median(column) for column in zip(*runs, strict=True))
            commands.append([title, f"{wall:.2f}", f"{cpu:.2f}", f"{peak:,.0f}"])
    seconds = ["wall seconds", "CPU seconds"]
    return (
        "## Reports\n\nPrinted, in Python, without the start; the ratio is to the CPU time of the "
        "report with alpha given.\n\n"
        + table(["scores", "report", *seconds, "ratio", "peak MiB"], reports)
        + "\n\nCommands from start to end, with a page:\n\n"
        + table(["command", *seconds, "peak MiB"], commands)
    ), failures


FIT = """
import sys
from studies.speed import drawn, prior_estimators
sample = drawn(int(sys.argv[2]), int(sys.argv[3]), 0, beta=0.95)
if sys.argv[1]:
    prior_estimators()[sys.argv[1]]().fit(sample.scores, sample.labeled)
"""


def study_estimators(large: tuple[int, int], repeats: int, only: Sequence[str], seed: int) -> Part:
    """Measure fits of every registered estimator, on a small and on a large sample."""
    sample = drawn(1000, 10_000, seed, beta=0.95)
    chosen = {name: kind for name, kind in prior_estimators().items() if not only or name in only}

    def fit(kind: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: kind().fit(sample.scores, sample.labeled)

    times = medians({name: fit(kind) for name, kind in chosen.items()}, repeats)
    rows, failures = [], []
    start = spent(["-c", FIT, "", *map(str, large)])
    for name, (_, cpu) in sorted(times.items(), key=lambda item: item[1][1]):
        progress(f"{name} on {large[0]:,} + {large[1]:,}")
        _, total, peak = spent(["-c", FIT, name, *map(str, large)])
        seconds, gib = total - start[1], peak / 1024
        rows.append([name, f"{1000 * cpu:.1f}", f"{seconds:.1f}", f"{gib:.2f}"])
        if cpu > LIMITS.get(name, np.inf):
            failures.append(f"{name}: {1000 * cpu:.1f} ms, above {1000 * LIMITS[name]:g}")
        if seconds > LARGE_SECONDS or gib > LARGE_GIB:
            failures.append(f"{name} on the large sample: {seconds:.0f} s, {gib:.1f} GiB")
    headers = ["estimator", "CPU ms, 11,000 scores", f"CPU s, {large[0]:,} + {large[1]:,}", "GiB"]
    return "## Estimators of alpha and beta\n\n" + table(headers, rows), failures


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=3)
    parser.add_argument("--parts", default="counts,reports,estimators")
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e5, 1e6, 1e7], help="of counts")
    parser.add_argument("--reports", type=float, nargs="+", default=[11e3, 1e6], help="their sizes")
    parser.add_argument("--large", default="1000000+10000000", help="labeled + unlabeled, of fits")
    parser.add_argument("--only", nargs="*", default=[], help="names of estimators")
    asked = parser.parse_args()
    n, seed = asked.replicates, asked.seed
    n_labeled, n_unlabeled = map(int, asked.large.split("+"))
    parts: dict[str, Callable[[], Part]] = {
        "counts": lambda: study_counts([*map(int, asked.sizes)], n, seed),
        "reports": lambda: study_reports([*map(int, asked.reports)], n, seed),
        "estimators": lambda: study_estimators((n_labeled, n_unlabeled), n, asked.only, seed),
    }
    done = [parts[name]() for name in asked.parts.split(",")]
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "as many as there are cores")
    first = f"Medians of {n}; BLAS threads: {threads}. Memory of a process includes its libraries."
    body = "\n\n".join([first, *(text for text, _ in done)])
    publish("speed", "Time and memory", body, write=asked.write, part=platform.machine())
    return conclude([failure for _, failures in done for failure in failures])


if __name__ == "__main__":
    sys.exit(main())
