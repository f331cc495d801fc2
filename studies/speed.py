"""Time and memory against scikit-learn on the same scores, in the same run.

``python -m studies.speed`` prints, for 10^5, 10^6 and 10^7 float64 scores of which a tenth are
labeled, how many times faster the counts with the AUC (and with the arrays of the ROC curve) are
than ``sklearn.metrics.roc_curve`` with ``auc``, and the peak of extra memory as a multiple of the
input. Then it times the bootstrap. Repetitions of the competitors alternate, and the ratio is that
of the medians, so that a busy machine slows both alike. No figure is a pass or a fail, except that
both must find the same AUC to 1e-12.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from studies._common import arguments, conclude, progress, publish, table
from sklearn.metrics import auc, roc_curve

import purecover as pu
from purecover import simulate

SIZES = (10**5, 10**6, 10**7)
LABELED_SHARE = 0.1
SAME = 1e-12

Scores = np.ndarray[tuple[int], np.dtype[np.float64]]
Labels = np.ndarray[tuple[int], np.dtype[np.bool_]]


def by_sklearn(scores: Scores, labeled: Labels) -> float:
    """Curve, then area."""
    fpr, tpr, _ = roc_curve(labeled, scores)
    return float(auc(fpr, tpr))


def counts_and_auc(scores: Scores, labeled: Labels) -> float:
    """Counts, then area; no curve."""
    return pu.recovery.auc_pu(pu.ScoreCounts.from_scores(scores, labeled))


def counts_auc_and_curve(scores: Scores, labeled: Labels) -> float:
    """Counts, area, and the arrays of the observed ROC curve."""
    counts = pu.ScoreCounts.from_scores(scores, labeled)
    pu.recovery.pu_roc_curve(counts)
    return pu.recovery.auc_pu(counts)


COMPETITORS: dict[str, Callable[[Scores, Labels], float]] = {
    "scikit-learn": by_sklearn,
    "counts + AUC": counts_and_auc,
    "counts + AUC + ROC arrays": counts_auc_and_curve,
}


def data(size: int, seed: int) -> tuple[Scores, Labels]:
    """Scores of two normal classes, shuffled; all distinct but for chance."""
    rng = np.random.default_rng([seed, size])
    labeled = rng.random(size) < LABELED_SHARE
    scores = rng.standard_normal(size)
    scores += labeled  # labeled are one standard deviation ahead
    return scores, labeled


@dataclass(frozen=True)
class Times:
    """Median seconds of each competitor, and how far apart their AUC are."""

    wall: dict[str, float]
    cpu: dict[str, float]
    difference: float


def times(size: int, repetitions: int, seed: int) -> Times:
    """Time all competitors in turn, again and again."""
    scores, labeled = data(size, seed)
    wall: dict[str, list[float]] = {name: [] for name in COMPETITORS}
    cpu: dict[str, list[float]] = {name: [] for name in COMPETITORS}
    values: dict[str, float] = {}
    for _ in range(repetitions):
        for name, run in COMPETITORS.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            values[name] = run(scores, labeled)
            wall[name].append(time.perf_counter() - start)
            cpu[name].append(time.process_time() - start_cpu)
    return Times(
        wall={name: statistics.median(seconds) for name, seconds in wall.items()},
        cpu={name: statistics.median(seconds) for name, seconds in cpu.items()},
        difference=max(values.values()) - min(values.values()),
    )


def peak_memory(name: str, size: int, seed: int) -> dict[str, float]:
    """Peak of extra memory as a multiple of the input, in this process."""
    scores, labeled = data(size, seed)
    run = COMPETITORS[name]
    run(scores[:1000], labeled[:1000])  # imports are not what is measured
    size_bytes = scores.nbytes + labeled.nbytes
    out: dict[str, float] = {}
    resident = Path("/proc/self/status")
    if resident.exists():
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the old peak
        before = _status("VmRSS")
        run(scores, labeled)
        out["resident"] = (_status("VmHWM") - before) / size_bytes
    tracemalloc.start()  # NumPy reports its arrays to it
    run(scores, labeled)
    out["allocated"] = tracemalloc.get_traced_memory()[1] / size_bytes
    return out


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def memory_in_subprocess(name: str, size: int, seed: int) -> dict[str, float]:
    """The same in a fresh process, whose peak nothing else has raised."""
    command = [
        *(sys.executable, "-m", "studies.speed", "--seed", str(seed)),
        *("--measure-memory", name, str(size)),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def speed_table(sizes: list[int], repetitions: int, seed: int) -> tuple[str, list[str]]:
    """Times, ratios and memory of all competitors at all sizes."""
    rows, failures = [], []
    for size in sizes:
        progress(f"{size:,} scores")
        # Small inputs need more repetitions for a steady median.
        more = max(1, min(10, 10**7 // size))
        seconds = times(size, repetitions * more, seed)
        if seconds.difference > SAME:
            failures.append(f"AUC differ by {seconds.difference:.2e} at {size:,} scores")
        for name in COMPETITORS:
            memory = memory_in_subprocess(name, size, seed)
            rows.append(
                [
                    f"{size:,}",
                    name,
                    f"{seconds.wall[name] * 1e3:,.1f}",
                    f"{seconds.wall['scikit-learn'] / seconds.wall[name]:.1f}",
                    f"{seconds.cpu['scikit-learn'] / seconds.cpu[name]:.1f}",
                    f"{memory['allocated']:.2f}",
                    f"{memory['resident']:.2f}" if "resident" in memory else "",
                    f"{seconds.difference:.1e}",
                ]
            )
    headers = [
        "scores",
        "method",
        "median ms",
        "times faster",
        "the same, CPU time",
        "peak extra memory / input, allocated",
        "the same, resident",
        "AUC differ by",
    ]
    return table(headers, rows), failures


def bootstrap_table(n_resamples: int, seed: int) -> str:
    """Seconds for intervals on 1000 labeled and 10000 unlabeled scores."""
    sample = simulate.binormal(1.5).sample(1000, 10_000, alpha=0.25, random_state=seed)
    counts, proportions = sample.counts, sample.proportions
    rows = []
    start = time.perf_counter()
    pu.intervals.bootstrap(
        counts,
        proportions,
        metrics=["roc_auc"],
        curves=False,
        n_resamples=n_resamples,
        random_state=seed,
    )
    rows.append(["AUC alone", f"{time.perf_counter() - start:.2f}"])
    start = time.perf_counter()
    result = pu.intervals.bootstrap(counts, proportions, n_resamples=n_resamples, random_state=seed)
    result.intervals()
    for kind in ("pointwise", "simultaneous"):
        result.roc_band(kind)
        result.pr_band(kind)
    label = f"all {len(result.replicates)} metrics, bands of both curves"
    rows.append([label, f"{time.perf_counter() - start:.2f}"])
    return table([f"{n_resamples} replicates on 11000 scores", "seconds"], rows)


def main() -> int:
    """Run the benchmark."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=5)
    parser.add_argument("--sizes", type=float, nargs="+", default=[float(n) for n in SIZES])
    parser.add_argument("--resamples", type=int, default=2000, help="bootstrap replicates")
    parser.add_argument("--measure-memory", nargs=2, metavar=("METHOD", "SIZE"), help="internal")
    options = parser.parse_args()
    if options.measure_memory:
        name, size = options.measure_memory
        print(json.dumps(peak_memory(name, int(size), options.seed)))
        return 0
    sizes = [int(size) for size in options.sizes]
    speeds, failures = speed_table(sizes, options.replicates, options.seed)
    progress("bootstrap")
    body = (
        f"float64 scores, {LABELED_SHARE:.0%} labeled; medians of {options.replicates} alternating "
        "repetitions (more where the input is small); input is scores and labels together, 9 "
        "bytes per example. scikit-learn is `roc_curve` and `auc`. Memory: peak while running, "
        "beyond the input, in a process of its own; allocated as NumPy reports it, resident as "
        "the system does.\n\n"
        + speeds
        + "\n\n## Bootstrap\n\n"
        + bootstrap_table(options.resamples, options.seed)
    )
    title = "Time and memory against scikit-learn"
    publish("speed", title, body, write=options.write, times=True)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
