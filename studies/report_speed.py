"""What reports cost: of 11,000 scores, of the example, of a million rows, and of many tasks.

``python -m studies.report_speed`` runs everything in processes of their own and takes CPU
seconds of all threads and peak memory. A report in Python is all metrics, intervals and bands of
both curves out of 2,000 replicates; beside it stand
2,000 AUCs of resampled rows by scikit-learn, in the same run. Counts of a Parquet file stand beside
the bare GROUP BY of the engine. Last, it shows how far the ends of
intervals move because groups of neighboring scores are resampled, in standard errors. No figure is
a pass or a fail.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
from studies import engines
from studies._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover import simulate
from purecover.intervals import replicates as _bootstrap

SIZE, FEW = 10**6, 11_000
WORLDS = {
    "AUC 0.86, a tenth labeled, alpha 0.25": (simulate.binormal(1.5), 0.1, 0.25),
    "AUC 0.64, a tenth labeled, alpha 0.25": (simulate.binormal(0.5), 0.1, 0.25),
    "AUC 0.98, one in 20 labeled, alpha 0.05": (simulate.binormal(3.0), 0.05, 0.05),
    "AUC 0.92, one in 100 labeled, alpha 0.01": (simulate.binormal(2.0), 0.01, 0.01),
}

REPORT = """
import sys, numpy as np, purecover as pu
scores, labeled = np.load(sys.argv[1]).T
options = {"alpha": 0.25} if sys.argv[2] == "given" else {}
for seed in range(int(sys.argv[3])):
    options |= {"n_resamples": int(sys.argv[4]), "random_state": seed}
    report = pu.evaluate(scores, labeled == 1, **options)
    report.metrics, report.intervals, report.confusion, report.roc_band, report.pr_band
"""
PEER = """
import sys, numpy as np
from sklearn.metrics import roc_auc_score
scores, labeled = np.load(sys.argv[1]).T
rng = np.random.default_rng(0)
for _ in range(int(sys.argv[3]) * int(sys.argv[4])):
    rows = rng.integers(0, scores.size, scores.size)
    roc_auc_score(labeled[rows], scores[rows])
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


def drawn(name: str, size: int, seed: int) -> simulate.Sample:
    """Scores of one world."""
    world, share, alpha = WORLDS[name]
    n_labeled = max(round(size * share), 2)
    return world.sample(n_labeled, size - n_labeled, alpha=alpha, random_state=seed)


def write_csv(path: Path, sample: simulate.Sample) -> None:
    """A file as people have them: a header, nine decimals, labels as 0 and 1."""
    rows = np.column_stack((sample.scores, sample.labeled))
    with path.open("w", encoding="ascii") as file:
        file.write("score,labeled\n")
        np.savetxt(file, rows, fmt=["%.9f", "%d"], delimiter=",")


def spent(command: Sequence[str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MiB of a command in a process of its own."""
    # An installed package has its bytecode, which this variable would have made anew each time.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    with Path(os.devnull).open("w") as nowhere:
        output = [
            (os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, nowhere.fileno(), 2),
        ]
        pid = os.posix_spawn(
            sys.executable, [sys.executable, *command], environment, file_actions=output
        )
        _, status, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):  # 1: a check found something grave
        raise RuntimeError(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    wall = time.perf_counter() - start
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def in_python(
    folder: Path, few: int, resamples: int, repetitions: int, seed: int
) -> list[list[str]]:
    """Reports of few scores, less what starting takes: two reports less one."""
    sample = drawn(next(iter(WORLDS)), few, seed)
    path = folder / "scores.npy"
    np.save(path, np.column_stack((sample.scores, sample.labeled)))
    runs = {
        "report, alpha given": (REPORT, "given"),
        "report, alpha estimated": (REPORT, "estimated"),
    }
    runs[f"scikit-learn's AUC of {resamples:,} resamples"] = (PEER, "")
    rows, peer = [], 1.0
    for name, (code, way) in reversed(runs.items()):
        found = []
        for _ in range(repetitions):
            progress(name)
            one, two = (spent(["-c", code, str(path), way, n, str(resamples)]) for n in "12")
            found.append((two[0] - one[0], two[1] - one[1], two[2]))
        wall, cpu, peak = (statistics.median(column) for column in zip(*found, strict=True))
        peer = cpu if code == PEER else peer
        rows.append([name, f"{wall:.2f}", f"{cpu:.2f}", f"{cpu / peer:.3f}", f"{peak:,.0f}"])
    return rows[::-1]


def commands(folder: Path, size: int, repetitions: int, seed: int) -> list[list[str]]:
    """Commands as people type them."""
    large, page = folder / "scores.csv", str(folder / "page.html")
    write_csv(large, drawn(next(iter(WORLDS)), size, seed))
    example = folder / "example_scores.csv"
    example.write_bytes(files("purecover").joinpath("data/example_scores.csv").read_bytes())
    runs = {
        "purecover --help": ["--help"],
        "purecover evaluate example_scores.csv --html": ["evaluate", str(example), "--html", page],
        "purecover evaluate example_scores.csv --alpha 0.35 --html": [
            *("evaluate", str(example), "--alpha", "0.35", "--html", page)
        ],
        "purecover priors example_scores.csv": ["priors", str(example)],
        f"purecover evaluate, {size:,} rows, alpha given": [
            *("evaluate", str(large), "--alpha", "0.25", "--html", page)
        ],
        f"purecover evaluate, {size:,} rows, alpha estimated": [
            *("evaluate", str(large), "--html", page)
        ],
    }
    rows = []
    for name, words in runs.items():
        progress(name)
        found = [spent(["-m", "purecover", *words]) for _ in range(repetitions)]
        wall, cpu, peak = (statistics.median(column) for column in zip(*found, strict=True))
        rows.append([name, f"{wall:.2f}", f"{cpu:.2f}", f"{peak:,.0f}"])
    return rows


def many(size: int) -> list[list[str]]:
    """Tables of many tasks, two at a time, with 500 replicates each."""
    rows = []
    for n_tasks, n_rows, alpha in (
        (max(3 * size // 10**4, 1), 2_000, "given"),
        (max(3 * size // 10**4, 1), 2_000, "estimated"),
        (max(size // 1000, 1), 20_000, "given"),
    ):
        name = f"{n_tasks:,} tasks x {n_rows:,} rows, alpha {alpha}"
        progress(name)
        wall, cpu, peak = spent(["-c", MANY, str(n_tasks), str(n_rows), alpha])
        rows.append([name, f"{wall:.1f}", f"{cpu:.1f}", f"{cpu / 2:.1f}", f"{peak:,.0f}"])
    return rows


def parquet(folder: Path, size: int, repetitions: int, seed: int) -> list[list[str]]:
    """Counts of a Parquet file by DuckDB, beside its bare GROUP BY."""
    path = folder / "rows.parquet"
    engines.make_rows(folder / "few.parquet", 1000, seed)
    engines.make_rows(path, size, seed)
    rows = []
    for engine in engines.ENGINES:
        progress(f"Parquet, {engine}")
        ways: dict[str, list[dict[str, float]]] = {"ours": [], "bare": []}
        for _ in range(repetitions):
            for way, runs in ways.items():
                runs.append(engines.in_a_process(path, engine, way))
        ours, bare = (min(runs, key=lambda run: run["cpu"]) for runs in ways.values())
        rows.append(
            [
                engine,
                f"{ours['cpu']:.2f}",
                f"{bare['cpu']:.2f}",
                f"{ours['cpu'] / bare['cpu']:.2f}",
                f"{ours['memory'] / 2**20:,.0f}",
            ]
        )
    return rows


def shifts(few: int, resamples: int, seed: int) -> list[list[str]]:
    """How far ends of intervals move because groups are resampled, over standard errors."""
    rows = []
    for name in WORLDS:
        progress(f"groups, {name}")
        sample = drawn(name, few, seed)
        ends, groups = {}, _bootstrap.GROUPS
        for most, stream in ((10**9, 1), (10**9, 2), (groups, 3)):
            _bootstrap.GROUPS = most
            found = pu.intervals.bootstrap(
                sample.counts,
                sample.proportions,
                threshold=1.0,
                curves=False,
                n_resamples=resamples,
                random_state=stream,
            ).replicates
            ends[stream] = {
                metric: np.quantile(values, [0.025, 0.975]) for metric, values in found.items()
            }
        _bootstrap.GROUPS = groups
        error = {metric: float(values.std()) for metric, values in found.items()}
        cells = []
        for one, two in ((1, 2), (1, 3)):
            moved = {
                metric: float(np.abs(ends[one][metric] - ends[two][metric]).mean()) / error[metric]
                for metric in error
                if error[metric] > 0
            }
            most_moved = max(moved, key=lambda metric: moved[metric])
            cells += [
                f"{statistics.mean(moved.values()):.3f}",
                f"{moved[most_moved]:.3f} ({most_moved})",
            ]
        rows.append([name, *cells])
    return rows


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=3)
    parser.add_argument("--size", type=float, default=float(SIZE), help="rows of the large file")
    parser.add_argument("--resamples", type=int, default=2000, help="bootstrap replicates")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = int(options.size)
        few = min(FEW, size)
        reports = in_python(folder, few, options.resamples, options.replicates, options.seed)
        whole = commands(folder, size, options.replicates, options.seed)
        counted = parquet(folder, size, options.replicates, options.seed)
    tasks = many(size)
    moved = shifts(few, 2 * options.resamples, options.seed)
    seconds = ["wall seconds", "CPU seconds"]
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "as many as there are cores")
    body = "\n\n".join(
        [
            (
                f"Medians of {options.replicates}; BLAS threads: {threads}. Memory is the largest "
                "the process had, its libraries included."
            ),
            f"## {few:,} scores, a tenth labeled, {options.resamples:,} replicates, in Python\n\n"
            + table(["what", *seconds, "/ scikit-learn", "peak MiB"], reports),
            "## Commands, from start to end\n\n" + table(["command", *seconds, "peak MiB"], whole),
            f"## Counts of {size:,} rows of Parquet, and the bare GROUP BY, CPU seconds\n\n"
            + table(
                ["engine", "counts with bounds", "bare GROUP BY", "ratio", "peak MiB"], counted
            ),
            "## evaluate_many, two jobs, 500 replicates, start and data included\n\n"
            + table(["what", *seconds, "CPU seconds / 2", "peak MiB of one process"], tasks),
            f"## Groups\n\nBoth ends of 95 % intervals out of {2 * options.resamples:,} replicates "
            f"of {few:,} scores: how far they move, over the standard error of the metric, from "
            "one run with all scores to another, which is chance, and to one with groups.\n\n"
            + table(
                ["world", "chance, mean", "most", "groups, mean", "most"],
                moved,
            ),
        ]
    )
    publish("report_speed", "What a report costs", body, write=options.write, times=True)
    return conclude([])


if __name__ == "__main__":
    sys.exit(main())
