"""Every estimator of alpha and beta on the same data, ours and those of other packages.

Four parts: (a) simulated scores on the grid used while the estimators were made, (b) simulated
scores of other shapes, held out until all was decided, (c) real scores, (d) real scores held out.
Parts (c) and (d) need the data sets, see ``benchmarks._real``. Methods that take labels as clean
run twice with the samples exchanged, behind the same test of clean labels as all others.

``python -m benchmarks.leaderboard`` prints a table per part and ends with a failure if the default
does not keep its promises on (a) and on the real scores: mean |error of beta - alpha| the best
of all or within 0.005 of it, mean signed error within 0.02, and a worst case at most half of that
of AlphaMax as released. Elkan-Noto's e3 is out of the contest in (a), where it is given the true
probabilities that no classifier has.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks import _real
from benchmarks._board import (
    PARTS,
    Row,
    board,
    by_source,
    draw,
    promises,
    write_rows,
)
from benchmarks._common import RESULTS, arguments, conclude, progress, publish, table
from benchmarks._contestants import DEFAULT, RELEASED, SLOW_LIMIT, Contestant, ours, peers
from benchmarks._worlds import Cell, cells
from numpy.typing import NDArray

from purecover.counts import ScoreCounts
from purecover.estimation._base import PriorEstimator
from purecover.exceptions import PurecoverError

RAW = Path(__file__).parent / "out" / "leaderboard.csv"
LARGE_REPLICATES = 2
"""Replicates of cells with more than 10,000 examples."""


@dataclass(frozen=True)
class Task:
    """One data set."""

    part: str
    source: Cell | _real.Problem
    replicate: int
    seed: int

    @property
    def group(self) -> str:
        """What it is a sample of: the world, or the data set."""
        return self.source.world.name if isinstance(self.source, Cell) else self.source.data

    def load(self) -> tuple[ScoreCounts, tuple[float, float]]:
        """The counts and the true alpha and beta."""
        scores: NDArray[np.float64]
        if isinstance(self.source, Cell):
            scores, labeled = self.source.sample(self.seed, self.replicate)
            truth = self.source.truth
        else:
            folder = _real.data_folder()
            assert folder is not None  # noqa: S101 - no such task without data
            found = _real.scored(self.source, folder)
            scores, labeled, truth = found.scores, found.labeled, found.truth
        return ScoreCounts.from_scores(scores, labeled), truth


def tasks(
    parts: Sequence[str], replicates: int, held_out: int, repetitions: int, seed: int
) -> Iterator[Task]:
    """All data sets of the parts asked for."""
    if "a" in parts:
        for cell in cells("tuning"):
            yield from (Task("a", cell, i, seed) for i in range(replicates))
    if "b" in parts:
        for cell in cells("held out"):
            large = cell.n_unlabeled > 10_000
            times = min(held_out, LARGE_REPLICATES) if large else held_out
            yield from (Task("b", cell, i, seed) for i in range(times))
    if _real.data_folder() is not None:
        for problem in _real.problems(repetitions):
            part = "d" if problem.held_out else "c"
            if part in parts:
                yield Task(part, problem, problem.repetition, seed)


def run(task: Task, slow: bool) -> list[Row]:
    """Everyone's estimate on one data set."""
    counts, truth = task.load()
    rows = []
    for contestant in contestants():
        small = counts.n_labeled + counts.n_unlabeled <= SLOW_LIMIT
        if contestant.slow and not (slow and small and task.replicate == 0):
            continue
        start = time.process_time()
        found = estimate(contestant, counts)
        seconds = time.process_time() - start
        # Who sees no difference between the samples says alpha = beta = 1 in effect.
        alpha, beta = (1.0, 1.0) if found is None else found
        rows.append(
            Row(
                part=task.part,
                group=task.group,
                source=task.source.name,
                replicate=task.replicate,
                estimator=contestant.name,
                alpha=alpha,
                beta=beta,
                true_alpha=truth[0],
                true_beta=truth[1],
                seconds=seconds,
                refused=found is None,
            )
        )
    return rows


def estimate(contestant: Contestant, counts: ScoreCounts) -> tuple[float, float] | None:
    """Alpha and beta, or None where the contestant says that there is nothing to tell apart."""
    try:
        found = _fit(contestant.make(), counts)
    except PurecoverError:
        return None
    return found


def _fit(estimator: PriorEstimator, counts: ScoreCounts) -> tuple[float, float]:
    proportions = estimator.fit(counts).proportions_
    return proportions.alpha, proportions.beta


@cache
def contestants() -> tuple[Contestant, ...]:
    """Everyone, found once per process."""
    return (*ours(), *peers()[0])


def peak_memory(counts: ScoreCounts) -> dict[str, float]:
    """Peak MiB of one fit on these counts, beyond the counts themselves."""
    peaks = {}
    for contestant in contestants():
        estimate(contestant, counts)  # imports and caches do not count
        tracemalloc.start()
        estimate(contestant, counts)
        peaks[contestant.name] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    return peaks


def collect(todo: Sequence[Task], jobs: int, slow: bool) -> list[Row]:
    """All rows, in the order of the tasks."""
    if jobs == 1:
        return list(_watched((run(task, slow) for task in todo), len(todo)))
    with ProcessPoolExecutor(jobs) as pool:
        found = pool.map(run, todo, [slow] * len(todo), chunksize=4)
        return list(_watched(found, len(todo)))


def _watched(found: Iterable[list[Row]], total: int) -> Iterator[Row]:
    start = time.monotonic()
    for i, rows in enumerate(found, 1):
        if i % 50 == 0 or i == total:
            progress(f"{i}/{total} data sets, {time.monotonic() - start:.0f} s")
        yield from rows


def main() -> int:
    """Run the comparison."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=12)
    parser.add_argument("--held-out-replicates", type=int, default=4, help="data sets per cell (b)")
    parser.add_argument("--repetitions", type=int, default=2, help="draws of each real problem")
    parser.add_argument("--parts", default="abcd", help="which parts to run")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--no-slow", action="store_true", help="leave out methods of seconds a fit")
    options = parser.parse_args()

    todo = list(
        tasks(
            options.parts,
            options.replicates,
            options.held_out_replicates,
            options.repetitions,
            options.seed,
        )
    )
    if not todo:
        raise SystemExit("nothing to run: parts c and d need PURECOVER_DATA")
    progress(f"{len(todo)} data sets, {len(contestants())} estimators")
    rows = collect(todo, options.jobs, not options.no_slow)
    write_rows(rows, RAW)
    progress("memory")
    example = next(cells("held out")).world.sample(np.random.default_rng(0), 1000, 10_000, 0.3, 1.0)
    memory = peak_memory(ScoreCounts.from_scores(*example))

    missing = peers()[1]
    present = [part for part in PARTS if any(row.part == part for row in rows)]
    sections = [
        f"## ({part}) {PARTS[part]}\n\n{board(rows, part, memory, missing)}" for part in present
    ]
    selected = [DEFAULT, "median", "dedpul", "roc-slope", "bbe", RELEASED]
    sections += [
        f"## ({part}) by source: mean |error of beta - alpha|\n\n{by_source(rows, part, selected)}"
        for part in present
    ]
    verdicts, failures = promises(rows)
    headers = ["part", "default", "best other", "bias", "worst", "AlphaMax worst", "holds"]
    sections.append(f"## Promises\n\n{table(headers, verdicts)}")
    if options.write:
        draw(rows, present, RESULTS / "leaderboard.svg")
        sections.append("![Mean error of every estimator](leaderboard.svg)")
    body = (
        "Errors of alpha, beta and beta - alpha: means of the absolute error, mean signed error "
        "(bias) and largest absolute error. CPU time is the median per data set; memory the peak "
        "of one fit on 1,000 + 10,000 scores. An estimator that finds nothing to tell apart "
        "(refused) counts as alpha = beta. Methods of seconds a fit see one replicate of each "
        f"cell, and none above {SLOW_LIMIT:,} examples.\n\n"
    ) + "\n\n".join(sections)
    publish("leaderboard", "Estimators of alpha and beta compared", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
