"""Time and memory: counts against scikit-learn, reports, estimators and files.

``python -m studies.speed`` prints a section for each; ``--parts counts,files`` runs some. Ratios
come from one run in which the competitors take turns, so that a busy machine slows all alike. What
has a process of its own is measured with everything that the process did. It ends with a failure
if both AUC differ by more than 1e-12, or if a promise of ``LIMITS`` is broken.
"""

from __future__ import annotations

import csv
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from studies._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover import simulate
from purecover.estimators import prior_estimators

DEFAULT = "reference"
SAME = 1e-12
LIMITS = {"alphamax": 0.020, "dedpul": 0.050, "bbe": 0.050, "roc-slope": 0.050}
"""CPU seconds of a fit on 1,000 + 10,000 scores."""
REPORT_LIMIT = 0.5
"""CPU seconds of a report of 11,000 scores with alpha estimated."""
LARGE_SECONDS, LARGE_GIB = 60.0, 4.0
"""Of a fit on the large sample, the scores included."""

Part = tuple[str, list[str]]
"""Text of a section, and the promises that do not hold."""


# -- measuring ------------------------------------------------------------------------------------


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
    """Wall seconds, CPU seconds and peak MiB of a Python command in a process of its own.

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
    """Median wall and CPU seconds of calls that take turns, after one each that warms up."""
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
    """Normal scores, 1.5 apart, alpha 0.25."""
    world = simulate.binormal(1.5)
    return world.sample(n_labeled, n_unlabeled, alpha=0.25, beta=beta, random_state=seed)


# -- sections -------------------------------------------------------------------------------------


def study_counts(sizes: Sequence[int], repeats: int, resamples: int, seed: int) -> Part:
    """Counts and AUC beside scikit-learn, and the bootstrap."""
    from sklearn.metrics import auc, roc_curve

    def by_sklearn(scores: Any, labeled: Any) -> float:
        return float(auc(*roc_curve(labeled, scores)[:2]))

    def by_counts(scores: Any, labeled: Any) -> float:
        return pu.recovery.auc_pu(pu.ScoreCounts.from_scores(scores, labeled))

    def by_curve(scores: Any, labeled: Any) -> float:
        counts = pu.ScoreCounts.from_scores(scores, labeled)
        pu.recovery.pu_roc_curve(counts)
        return pu.recovery.auc_pu(counts)

    methods: dict[str, Callable[[Any, Any], float]] = {
        "scikit-learn": by_sklearn,
        "counts + AUC": by_counts,
        "counts + AUC + ROC arrays": by_curve,
    }
    rows, failures = [], []
    for size in sizes:
        progress(f"{size:,} scores")
        sample = drawn(size // 10, size - size // 10, seed)
        data = sample.scores, sample.labeled
        values = [method(*data) for method in methods.values()]
        if (difference := max(values) - min(values)) > SAME:
            failures.append(f"AUC differ by {difference:.2e} at {size:,} scores")
        calls = {name: _bound(method, *data) for name, method in methods.items()}
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
    few = drawn(1000, 10_000, seed)
    counted = few.counts, few.proportions
    bootstraps = {
        "AUC alone": _bound(
            pu.intervals.bootstrap, *counted, metrics=["roc_auc"], curves=False,
            n_resamples=resamples,
        ),
        "all metrics, bands of both curves": _bound(_everything, *counted, resamples),
    }  # fmt: skip
    timed = [[name, f"{wall:.2f}"] for name, (wall, _) in medians(bootstraps, 1).items()]
    headers = ["scores", "method", "median ms", "times faster", "CPU time", "peak memory / input"]
    return (
        "## Counts\n\nfloat64 scores, a tenth labeled; input is scores and labels together, 9 "
        "bytes per example. scikit-learn is `roc_curve` and `auc`.\n\n"
        + table(headers, rows)
        + f"\n\nThe bootstrap, {resamples:,} replicates of 11,000 scores:\n\n"
        + table(["what", "seconds"], timed)
    ), failures


def _bound(call: Callable[..., Any], *given: Any, **options: Any) -> Callable[[], Any]:
    return lambda: call(*given, **options)


def _everything(counts: Any, proportions: Any, resamples: int) -> None:
    result = pu.intervals.bootstrap(counts, proportions, n_resamples=resamples)
    result.intervals()
    for kind in ("pointwise", "simultaneous"):
        result.roc_band(kind)
        result.pr_band(kind)


REPORT = """
import sys, numpy as np, purecover as pu
scores, labeled = np.load(sys.argv[1]).T
options = {"alpha": 0.25} if sys.argv[2] == "given" else {}
options["n_resamples"] = int(sys.argv[4])
for seed in range(int(sys.argv[3])):
    str(pu.evaluate(scores, labeled == 1, random_state=seed, **options))
"""
MANY = """
import sys, numpy as np, purecover as pu
n_tasks, n_rows = map(int, sys.argv[1:3])
rng = np.random.default_rng(0)
labeled = np.tile(np.arange(n_rows) % 10 == 0, n_tasks)
scores = rng.normal(size=labeled.size) + 1.5 * (labeled | (rng.random(labeled.size) < 0.25))
data = {"s": scores, "y": labeled, "t": np.repeat(np.arange(n_tasks), n_rows)}
options = {"alpha": 0.25} if sys.argv[3] == "given" else {}
str(pu.evaluate_many(data, "y", score="s", by="t", n_jobs=2, **options))
"""


def study_reports(size: int, repeats: int, resamples: int, seed: int) -> Part:
    """Reports in Python, by the command line, and of many tasks."""
    few = min(11_000, size)
    reports, failures = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, page = folder / "scores.npy", f"--html={folder}/page.html"
        sample = drawn(few // 11, few - few // 11, seed)
        np.save(path, np.column_stack((sample.scores, sample.labeled)))
        for way in ("given", "estimated"):
            progress(f"report, alpha {way}")
            runs = []
            for _ in range(repeats):  # what starting takes: two reports less one
                one, two = (spent(["-c", REPORT, str(path), way, n, str(resamples)]) for n in "12")
                runs.append((two[0] - one[0], two[1] - one[1], two[2]))
            wall, cpu, peak = (statistics.median(column) for column in zip(*runs, strict=True))
            reports.append([f"alpha {way}", f"{wall:.2f}", f"{cpu:.2f}", f"{peak:,.0f}"])
            if way == "estimated" and cpu > REPORT_LIMIT and few == 11_000:
                failures.append(f"a report with alpha estimated: {cpu:.2f} CPU s")
        large, example = folder / "scores.csv", folder / "example_scores.csv"
        write_csv(large, drawn(size // 10, size - size // 10, seed))
        example.write_bytes(files("purecover").joinpath("data/example_scores.csv").read_bytes())
        commands = {
            "purecover --help": ["--help"],
            "evaluate the example": ["evaluate", str(example), page],
            "evaluate the example, alpha given": ["evaluate", str(example), "--alpha=0.35", page],
            f"evaluate {size:,} rows": ["evaluate", str(large), page],
            f"evaluate {size:,} rows, alpha given": ["evaluate", str(large), "--alpha=0.25", page],
        }
        rows = []
        for title, words in commands.items():
            progress(title)
            runs = [spent(["-m", "purecover", *words]) for _ in range(repeats)]
            wall, cpu, peak = (statistics.median(column) for column in zip(*runs, strict=True))
            rows.append([title, f"{wall:.2f}", f"{cpu:.2f}", f"{peak:,.0f}"])
    n_tasks = max(3 * size // 10**4, 1)
    for way in ("given", "estimated"):
        title = f"evaluate_many, {n_tasks:,} tasks of 2,000 rows, two jobs, alpha {way}"
        progress(title)
        wall, cpu, peak = spent(["-c", MANY, str(n_tasks), "2000", way])
        rows.append([title, f"{wall:.2f}", f"{cpu:.2f}", f"{peak:,.0f}"])
    seconds = ["wall seconds", "CPU seconds", "peak MiB"]
    return (
        f"## Reports\n\n{few:,} scores, {resamples:,} replicates, printed, in Python, without the "
        "start:\n\n"
        + table(["report", *seconds], reports)
        + "\n\nFrom start to end, with a page:\n\n"
        + table(["what", *seconds], rows)
    ), failures


def write_csv(path: Path, sample: simulate.Sample) -> None:
    """A file as people have them: a header, nine decimals, labels as 0 and 1."""
    with path.open("w", encoding="ascii") as file:
        file.write("score,labeled\n")
        rows = np.column_stack((sample.scores, sample.labeled))
        np.savetxt(file, rows, fmt=["%.9f", "%d"], delimiter=",")


FIT = """
import sys
from studies.speed import drawn, prior_estimators
sample = drawn(int(sys.argv[2]), int(sys.argv[3]), 0, beta=0.95)
if sys.argv[1]:
    prior_estimators()[sys.argv[1]]().fit(sample.scores, sample.labeled)
"""


def study_estimators(large: tuple[int, int], repeats: int, only: Sequence[str], seed: int) -> Part:
    """Fits of every registered estimator, on a small and on a large sample."""
    sample = drawn(1000, 10_000, seed, beta=0.95)
    chosen = {name: kind for name, kind in prior_estimators().items() if not only or name in only}

    def fit(kind: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: kind().fit(sample.scores, sample.labeled)

    times = medians({name: fit(kind) for name, kind in chosen.items()}, repeats)
    rows, failures = [], []
    start = spent(["-c", FIT, "", *map(str, large)])
    for name, (_, cpu) in sorted(times.items(), key=lambda item: item[1][1]):
        progress(f"{name} on {large[0]:,} + {large[1]:,}")
        try:
            _, total, peak = spent(["-c", FIT, name, *map(str, large)])
        except RuntimeError as error:
            rows.append([name, f"{1000 * cpu:.1f}", "failed", ""])
            failures.append(str(error)[-80:])
            continue
        seconds, gib = total - start[1], peak / 1024
        rows.append([name, f"{1000 * cpu:.1f}", f"{seconds:.1f}", f"{gib:.2f}"])
        if cpu > LIMITS.get(name, np.inf):
            failures.append(f"{name}: {1000 * cpu:.1f} ms, above {1000 * LIMITS[name]:g}")
        if seconds > LARGE_SECONDS or gib > LARGE_GIB:
            failures.append(f"{name} on the large sample: {seconds:.0f} s, {gib:.1f} GiB")
    headers = ["estimator", "CPU ms, 11,000 scores", f"CPU s, {large[0]:,} + {large[1]:,}", "GiB"]
    return "## Estimators of alpha and beta\n\n" + table(headers, rows), failures


def study_files(size: int, repeats: int, seed: int) -> Part:
    """From a file to counts: by purecover, by pandas and by the csv module."""
    import pandas as pd

    def by_purecover(path: Path) -> pu.ScoreCounts:
        frame = pu.scan_files(path)
        return pu.ScoreCounts.from_frame(frame, score="score", labeled="labeled")

    def by_pandas(path: Path) -> pu.ScoreCounts:
        frame = pd.read_csv(path)
        return pu.ScoreCounts.from_scores(frame["score"].to_numpy(), frame["labeled"].to_numpy())

    def by_csv(path: Path) -> pu.ScoreCounts:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [(float(row["score"]), row["labeled"] == "1") for row in csv.DictReader(file)]
        return pu.ScoreCounts.from_scores(*map(np.array, zip(*rows, strict=True)))

    with tempfile.TemporaryDirectory() as name:
        plain = Path(name, "rows.csv")
        write_csv(plain, drawn(size // 10, size - size // 10, seed))
        packed, parquet = plain.with_suffix(".csv.gz"), plain.with_suffix(".parquet")
        packed.write_bytes(gzip.compress(plain.read_bytes(), 1))
        pd.read_csv(plain).to_parquet(parquet)
        times = medians(
            {
                **{
                    f"purecover, {p.name}": _bound(by_purecover, p)
                    for p in (plain, packed, parquet)
                },
                "pandas, rows.csv": _bound(by_pandas, plain),
                "the csv module, rows.csv": _bound(by_csv, plain),
            },
            repeats,
        )
    rows = [[title, f"{wall:.2f}", f"{cpu:.2f}"] for title, (wall, cpu) in times.items()]
    text = f"## Files\n\n{size:,} rows of a file to counts.\n\n"
    return text + table(["reader and file", "seconds", "CPU seconds"], rows), []


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=3)
    parser.add_argument("--parts", default="counts,reports,estimators,files")
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e5, 1e6, 1e7], help="of counts")
    parser.add_argument("--size", type=float, default=1e6, help="rows of the large file")
    parser.add_argument("--large", default="1000000+10000000", help="labeled + unlabeled, of fits")
    parser.add_argument("--only", nargs="*", default=[], help="names of estimators")
    parser.add_argument("--resamples", type=int, default=2000, help="bootstrap replicates")
    asked = parser.parse_args()
    n, size, seed = asked.replicates, int(asked.size), asked.seed
    sizes = [int(each) for each in asked.sizes]
    n_labeled, n_unlabeled = map(int, asked.large.split("+"))
    parts: dict[str, Callable[[], Part]] = {
        "counts": lambda: study_counts(sizes, n, asked.resamples, seed),
        "reports": lambda: study_reports(size, n, asked.resamples, seed),
        "estimators": lambda: study_estimators((n_labeled, n_unlabeled), n, asked.only, seed),
        "files": lambda: study_files(size, n, seed),
    }
    done = [parts[name]() for name in asked.parts.split(",")]
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "as many as there are cores")
    first = f"Medians of {n}; BLAS threads: {threads}. Memory of a process includes its libraries."
    body = "\n\n".join([first, *(text for text, _ in done)])
    publish("speed", "Time and memory", body, write=asked.write, times=True)
    return conclude([failure for _, failures in done for failure in failures])


if __name__ == "__main__":
    sys.exit(main())
