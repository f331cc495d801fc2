"""From a CSV of a million scores to the page with intervals: time of the whole and its parts.

``python -m benchmarks.report_speed`` writes distinct scores, a tenth of them labeled, to a CSV in
a temporary folder and times ``purecover evaluate FILE --html PAGE`` in processes of their own, with
alpha given and with alpha estimated. Then it times the parts in this process; the bootstrap also
the way small data are resampled (2^14 groups, one binomial draw each, drawn in turn), which gives
the same intervals but for chance. Last, it shows what thinning to groups does to every metric, in
standard errors. CPU seconds are those of all threads, and hardly depend on what else
the machine does. No figure is a pass or a fail.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover import simulate
from purecover.cli.files import Request, read_table
from purecover.html import render_report
from purecover.intervals import replicates as _bootstrap
from purecover.intervals.resampling import thinned_to_draw

ALPHA = 0.25
SIZE = 10**6
GROUPS = (2**10, 2**12, 2**14)
WORLDS = {
    "AUC 0.86, a tenth labeled, alpha 0.25": (simulate.binormal(1.5), 0.1, 0.25),
    "AUC 0.64, a tenth labeled, alpha 0.25": (simulate.binormal(0.5), 0.1, 0.25),
    "AUC 0.98, one in 100 labeled, alpha 0.05": (simulate.binormal(3.0), 0.01, 0.05),
    "AUC 0.92, one in 1000 labeled, alpha 0.01": (simulate.binormal(2.0), 0.001, 0.01),
}


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


def command_times(path: Path, resamples: int, repetitions: int) -> list[list[str]]:
    """Wall and CPU seconds of the whole command, each time in a new process."""
    routes = {"alpha given": ["--alpha", str(ALPHA)], "alpha estimated": []}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in routes}
    page = path.with_suffix(".html")
    for _ in range(repetitions):
        for name, extra in routes.items():
            progress(f"whole command, {name}")
            command = [
                *(sys.executable, "-m", "purecover", "evaluate", str(path), *extra),
                *("--resamples", str(resamples), "--html", str(page), "--quiet"),
            ]
            before, start = _children(), time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            taken[name].append((time.perf_counter() - start, _children() - before))
    rows = []
    for name, times in taken.items():
        wall, cpu = (f"{statistics.median(column):.1f}" for column in zip(*times, strict=True))
        rows.append([f"purecover evaluate, {name}", wall, cpu])
    return rows


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def part_times(path: Path, resamples: int, repetitions: int, seed: int) -> list[list[str]]:
    """Wall and CPU seconds of the parts, in this process."""
    request = Request(numbers={"score": "score"}, words={"labeled": "labeled"})
    content = read_table(str(path), lambda _: request)
    scores = content.numbers["score"]
    words = content.words["labeled"]
    labeled = np.array([word == "1" for word in words.values])[words.codes]
    counts = pu.ScoreCounts.from_scores(scores, labeled)
    given = pu.MixtureProportions(ALPHA)
    estimator = pu.estimators.LabelCurve()
    found = estimator.fit(counts).proportions_
    report = pu.evaluate(counts, alpha=ALPHA, n_resamples=min(resamples, 50))

    def resampled(estimator: Any = None, *, as_small: bool = False) -> None:
        many = _bootstrap.MANY_THRESHOLDS
        if as_small:
            _bootstrap.MANY_THRESHOLDS = counts.n_thresholds
        try:
            pu.intervals.bootstrap(
                counts,
                given if estimator is None else found,
                estimator=estimator,
                n_resamples=resamples,
                random_state=seed,
            )
        finally:
            _bootstrap.MANY_THRESHOLDS = many

    parts: dict[str, Callable[[], object]] = {
        "reading the CSV": lambda: read_table(str(path), lambda _: request),
        "counting": lambda: pu.ScoreCounts.from_scores(scores, labeled),
        "all but intervals": lambda: pu.evaluate(counts, alpha=ALPHA, n_resamples=0),
        "estimating alpha": lambda: pu.estimators.LabelCurve().fit(counts),
        "bootstrap, alpha given": resampled,
        "bootstrap, alpha given, as small data": lambda: resampled(as_small=True),
        "bootstrap, alpha estimated": lambda: resampled(estimator),
        "bootstrap, alpha estimated, as small data": lambda: resampled(estimator, as_small=True),
        "page": lambda: render_report(report),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in parts}
    for _ in range(repetitions):
        for name, run in parts.items():
            progress(name)
            start, start_cpu = time.perf_counter(), time.process_time()
            run()
            taken[name].append((time.perf_counter() - start, time.process_time() - start_cpu))
    rows = []
    for name, times in taken.items():
        wall, cpu = (f"{statistics.median(column):.2f}" for column in zip(*times, strict=True))
        rows.append([name, wall, cpu])
    return rows


def shifts(size: int, resamples: int, seed: int) -> list[list[str]]:
    """How far thinning moves the metrics, as a part of their standard errors."""
    rows = []
    for name in WORLDS:
        progress(f"thinning, {name}")
        sample = drawn(name, size, seed)
        counts, proportions = sample.counts, sample.proportions
        exact = pu.recover_metrics(counts, proportions)
        replicates = pu.intervals.bootstrap(
            counts,
            proportions,
            threshold=exact.threshold,
            curves=False,
            n_resamples=resamples,
            random_state=seed,
        ).replicates
        for groups in GROUPS:
            thin = pu.recover_metrics(
                thinned_to_draw(counts, groups, keep=exact.threshold),
                proportions,
                threshold=exact.threshold,
            )
            moved = {
                metric: abs(thin[metric] - exact[metric]) / float(replicates[metric].std())
                for metric in exact
                if math.isfinite(exact[metric]) and replicates[metric].std() > 0
            }
            most = max(moved, key=lambda metric: moved[metric])
            rows.append(
                [
                    name,
                    f"{groups:,}",
                    f"{abs(thin['roc_auc'] - exact['roc_auc']):.1e}",
                    f"{moved['roc_auc']:.3f}",
                    f"{moved['auc_pr']:.3f}",
                    f"{moved[most]:.3f} ({most})",
                ]
            )
    return rows


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=3)
    parser.add_argument("--size", type=float, default=float(SIZE), help="scores in the file")
    parser.add_argument(
        "--resamples",
        type=int,
        default=1000,
        help="bootstrap replicates; what the command draws of so many scores",
    )
    options = parser.parse_args()
    size = int(options.size)
    sample = drawn(next(iter(WORLDS)), size, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        write_csv(path, sample)
        whole = command_times(path, options.resamples, options.replicates)
        parts = part_times(path, options.resamples, options.replicates, options.seed)
    few = max(options.resamples // 10, 10)
    seconds = ["wall seconds", "CPU seconds"]
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "as many as there are cores")
    body = "\n\n".join(
        [
            (
                f"{size:,} scores, all distinct but for rounding, a tenth labeled; "
                f"{options.resamples:,} replicates; medians of {options.replicates}; BLAS threads: "
                f"{threads}."
            ),
            table(["command", *seconds], whole),
            "## Parts\n\n" + table(["part", *seconds], parts),
            "## Thinning\n\nMetrics of thinned counts less those of all, over the standard error "
            f"of {few} replicates: how far thinning moves an interval.\n\n"
            + table(
                [
                    "world",
                    "groups",
                    "AUC moves by",
                    "the same / standard error",
                    "AUC-PR / standard error",
                    "the most of all metrics",
                ],
                shifts(size, few, options.seed),
            ),
        ]
    )
    publish("report_speed", "Time from a CSV to the page", body, write=options.write)
    return conclude([])


if __name__ == "__main__":
    sys.exit(main())
