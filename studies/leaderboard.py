"""Every estimator of alpha and beta on the same data, ours and those of other packages.

Three parts: (a) simulated scores on the grid used while the estimators were made, (b) simulated
scores of other shapes, held out until all was decided, (d) the second part of the reference
collection, real problems of tables that nothing learned from. Methods that take labels as clean
run twice with the samples exchanged, after the same test of clean labels as all others. Methods
of other packages take part where these are installed (``pip install pulearn pu-toolbox``).

``python -m studies.leaderboard`` prints a table per part; with ``--judge`` it ends in failure if
the default does not keep its promises on (a) and (d): mean |error of beta - alpha| the best of
all or within 0.005 of it, mean signed error within 0.02, and a worst case at most half of that of
AlphaMax as released. Elkan-Noto's e3 is out of the contest in (a), where it is given the true
probabilities that no classifier has. ``--tiny`` runs a few data sets of each part, to try it out.
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
from studies._board import PARTS, Row, board, by_source, promises, write_rows
from studies._common import arguments, conclude, progress, publish, table
from studies._contestants import (
    DEFAULT,
    RELEASED,
    SLOW_LIMIT,
    Contestant,
    peers,
    registered,
)
from studies._reality import RealProblem, load_problems
from studies._worlds import Cell, cells

import purecover as pu
from purecover.estimators import PriorEstimator
from purecover.exceptions import PurecoverError

RAW = Path(__file__).parent / "out" / "leaderboard.csv"
NAN = float("nan")
QUICK, N_RESAMPLES = 0.02, 100
"""Most CPU seconds of a fit that is repeated on so many replicates for an interval."""

LARGE_REPLICATES = 2
"""Replicates of cells with more than 10,000 examples."""

OVERLAP = 0.8
"""Tables with a true AUC below overlap everywhere, most of them."""

EVERY = 8
"""Slow methods see one in so many problems of the collection; so do intervals from replicates."""

SELECTED = (DEFAULT, "label-curve", "dedpul", "roc-slope", "bbe", RELEASED)
"""Estimators whose errors are shown for each world."""


@dataclass(frozen=True)
class Task:
    """One data set."""

    part: str
    source: Cell | RealProblem
    replicate: int
    seed: int

    @property
    def group(self) -> str:
        """The world, or the kind of real problem."""
        if isinstance(self.source, Cell):
            return self.source.world.name
        return f"true AUC {'below' if self.source.auc < OVERLAP else 'from'} {OVERLAP:g}"

    @property
    def source_name(self) -> str:
        """The source with its proportions."""
        if isinstance(self.source, Cell):
            return self.source.name
        p = self.source
        return f"{p.table}|{p.cut}|{p.scorer}|{p.design}"

    @property
    def for_slow(self) -> bool:
        """Whether methods of seconds a fit see it."""
        if isinstance(self.source, Cell):
            return self.replicate == 0
        return self.replicate % EVERY == 0

    def load(self) -> tuple[pu.ScoreCounts, tuple[float, float]]:
        """The counts, the same each time, and the true alpha and beta."""
        if isinstance(self.source, Cell):
            sample = self.source.sample(self.seed, self.replicate)
            return pu.ScoreCounts.from_scores(*sample), self.source.truth
        p = self.source
        bins = np.arange(len(p.labeled), dtype=np.float64)
        counts = pu.ScoreCounts.from_counts(bins, labeled=p.labeled, unlabeled=p.unlabeled)
        return counts, (p.alpha, p.beta)


def tasks(parts: str, replicates: int, held_out: int, seed: int) -> Iterator[Task]:
    """All data sets of the parts."""
    if "a" in parts:
        for cell in cells("tuning"):
            yield from (Task("a", cell, i, seed) for i in range(replicates))
    if "b" in parts:
        for cell in cells("held out"):
            large = cell.n_unlabeled > 10_000
            times = min(held_out, LARGE_REPLICATES) if large else held_out
            yield from (Task("b", cell, i, seed) for i in range(times))
    if "d" in parts:
        found = (each for each in load_problems("second") if each.labeling == "random")
        yield from (Task("d", each, i, seed) for i, each in enumerate(found))


def few(todo: Sequence[Task], most: int = 3) -> list[Task]:
    """One data set of each of the first worlds of every part."""
    first: dict[str, dict[str, Task]] = {}
    for task in todo:
        groups = first.setdefault(task.part, {})
        if len(groups) < most:
            groups.setdefault(task.group, task)
    return [task for groups in first.values() for task in groups.values()]


def run(task: Task, slow: bool) -> list[Row]:
    """The estimates of all contestants on one data set."""
    counts, (true_alpha, true_beta) = task.load()
    small = counts.n_labeled + counts.n_unlabeled <= SLOW_LIMIT
    rows = []
    for contestant in contestants():
        if contestant.slow and not (slow and small and task.for_slow):
            continue
        start = time.process_time()
        fitted = fit(contestant, counts)
        seconds = time.process_time() - start
        found = None if fitted is None else fitted.proportions_
        low, high = interval(fitted, seconds) if task.for_slow or _cheap(fitted) else (NAN, NAN)
        rows.append(
            Row(
                part=task.part,
                group=task.group,
                source=task.source_name,
                replicate=task.replicate,
                estimator=contestant.name,
                # No difference between the samples is alpha = beta = 1 in effect.
                alpha=1.0 if found is None else found.alpha,
                beta=1.0 if found is None else found.beta,
                true_alpha=true_alpha,
                true_beta=true_beta,
                seconds=seconds,
                refused=found is None,
                low=low,
                high=high,
            )
        )
    return rows


def fit(contestant: Contestant, counts: pu.ScoreCounts) -> PriorEstimator | None:
    """The contestant, fitted, or None where it says that there is nothing to tell apart."""
    try:
        return contestant.make().fit(counts)
    except PurecoverError:
        return None


def _cheap(fitted: PriorEstimator | None) -> bool:
    """Whether an interval costs nothing: the estimator has a posterior."""
    return fitted is not None and fitted.interval_method == "posterior"


def interval(fitted: PriorEstimator | None, seconds: float) -> tuple[float, float]:
    """Ends for beta - alpha: of the posterior, or of replicates of quick methods."""
    if fitted is None or not (_cheap(fitted) or seconds < QUICK):
        return NAN, NAN
    try:
        found = fitted.interval(n_resamples=N_RESAMPLES)["delta"]
    except PurecoverError:
        return NAN, NAN
    return found.low, found.high


@cache
def contestants() -> tuple[Contestant, ...]:
    """All contestants, looked up once per process."""
    return (*registered(), *peers()[0])


def peak_memory(contestant: Contestant) -> float:
    """Peak MiB of one fit on 1,000 + 10,000 scores, beyond the data themselves."""
    sample = next(cells("held out")).world.sample(np.random.default_rng(0), 1000, 10_000, 0.3, 1.0)
    counts = pu.ScoreCounts.from_scores(*sample)
    if not contestant.slow:
        fit(contestant, counts)  # imports and caches do not count
    tracemalloc.start()
    fit(contestant, counts)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


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
    parser.add_argument("--parts", default="".join(PARTS), help="which parts to run")
    parser.add_argument(
        "--tiny", action="store_true", help="one data set of three worlds of each part, to try it"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--judge", action="store_true", help="fail where the default falls short")
    parser.add_argument("--no-slow", action="store_true", help="leave out methods of seconds a fit")
    options = parser.parse_args()

    todo = list(tasks(options.parts, options.replicates, options.held_out_replicates, options.seed))
    if options.tiny:
        todo = few(todo)
    slow = not options.no_slow
    everyone = [each for each in contestants() if slow or not each.slow]
    progress(f"{len(todo)} data sets, {len(everyone)} estimators")
    with ProcessPoolExecutor(options.jobs) as pool:
        found = pool.map(run, todo, [slow] * len(todo), chunksize=1)
        rows = list(_watched(found, len(todo)))
        peaks = pool.map(peak_memory, everyone)
        memory = dict(zip([each.name for each in everyone], peaks, strict=True))
    write_rows(rows, RAW)

    present = [part for part in PARTS if any(row.part == part for row in rows)]
    sections = [
        f"## ({part}) {PARTS[part]}\n\n{board(rows, part, memory, peers()[1])}" for part in present
    ]
    sections += [
        f"## ({part}) by source: mean |error of beta - alpha|\n\n" + by_source(rows, part, SELECTED)
        for part in present
    ]
    verdicts, failures = promises(rows)
    headers = ["part", "default", "best other", "bias", "worst", "AlphaMax worst", "holds"]
    sections.append(f"## Promises\n\n{table(headers, verdicts)}")
    body = (
        "Errors of alpha, beta and beta - alpha: means of the absolute error, mean signed error "
        "(bias) and largest absolute error. CPU time is the median per data set; memory the peak "
        "of one fit on 1,000 + 10,000 scores. An estimator that finds nothing to tell apart "
        "(refused) counts as alpha = beta. Methods of seconds a fit see one replicate of each "
        f"cell (of (d) one problem in {EVERY}), and none above {SLOW_LIMIT:,} examples. Nominal "
        "95 % intervals of beta - alpha come from the posterior where there is one, else from "
        f"{N_RESAMPLES} replicates, on the data sets that slow methods see and for methods of less "
        f"than {1000 * QUICK:g} ms a fit. The default learned from the first part of the "
        "collection of which (d) is the second, of other tables and families; label-curve, "
        "dist-curve and AlphaMax's default elbow were tuned on (a).\n\n"
    ) + "\n\n".join(sections)
    publish("leaderboard", "Estimators of alpha and beta compared", body, write=options.write)
    return conclude(failures, judge=options.judge)


if __name__ == "__main__":
    sys.exit(main())
