"""Every estimator of alpha and beta on the same data, ours and those of other packages.

Six parts: (a) simulated scores on the grid used while the estimators were made, (b) simulated
scores of other shapes, held out until all was decided, (c) scores of the paper's data sets, (d) the
second part of the reference collection, real problems of tables that nothing learned from,
(e) rows of simulated features, (f) rows of real features. In (e) and (f) estimators that take
features run on them, and again on out-of-fold scores of the same rows, beside the main ones of
those that take scores, so that one sees whether features pay. Parts (c) and (f) need the data
sets, see ``studies._real``. Methods that take labels as clean run twice with the samples
exchanged, behind the same test of clean labels as all others.

``python -m studies.leaderboard`` prints a table per part; with ``--judge`` it ends in failure
if the default does not keep its promises on (a) and (d): mean |error of beta -
alpha| the best of all or within 0.005 of it, mean signed error within 0.02, and a worst case at
most half of that of AlphaMax as released. Elkan-Noto's e3 is out of the contest in (a), where it
is given the true probabilities that no classifier has. ``--tiny`` runs a few data sets of each
part, to try it out.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from studies._board import (
    PARTS,
    Row,
    board,
    by_source,
    draw,
    promises,
    write_rows,
)
from studies._common import RESULTS, arguments, conclude, progress, publish, table
from studies._contestants import (
    DEFAULT,
    ON_FEATURES,
    RELEASED,
    SLOW_LIMIT,
    Contestant,
    ours,
    peers,
    with_features,
)
from studies._feature_worlds import FeatureWorld
from studies._sources import EVERY, SLOW_BETA, Data, Task, few, simulated_rows, tasks
from studies._worlds import cells

from purecover.counts import ScoreCounts
from purecover.estimators.base import PriorEstimator, prior_estimators
from purecover.exceptions import PurecoverError

RAW = Path(__file__).parent / "out" / "leaderboard.csv"
NAN = float("nan")
QUICK, N_RESAMPLES = 0.02, 100
"""Most CPU seconds of a fit that is repeated on so many replicates for an interval."""

# Whose errors are shown for each world and data set, on scores and where there are features.
SELECTED = (DEFAULT, "median", "dedpul", "roc-slope", "bbe", RELEASED)
SELECTED_WITH_FEATURES = (
    DEFAULT,
    "dedpul",
    *(name + ON_FEATURES for name, kind in prior_estimators().items() if kind.takes == "features"),
)


def run(task: Task, slow: bool) -> list[Row]:
    """Everyone's estimate on one data set."""
    data = task.load()
    rows = []
    for contestant in contestants(with_rows=data.rows is not None):
        small = data.counts.n_labeled + data.counts.n_unlabeled <= SLOW_LIMIT
        if contestant.slow and not (slow and small and task.for_slow):
            continue
        start = time.process_time()
        fitted = fit(contestant, data)
        seconds = time.process_time() - start
        found = None if fitted is None else fitted.proportions_
        low, high = interval(fitted, seconds) if task.for_slow or _cheap(fitted) else (NAN, NAN)
        # Who sees no difference between the samples says alpha = beta = 1 in effect.
        alpha, beta = (1.0, 1.0) if found is None else (found.alpha, found.beta)
        rows.append(
            Row(
                part=task.part,
                group=task.group,
                source=task.source_name,
                replicate=task.replicate,
                estimator=contestant.name,
                alpha=alpha,
                beta=beta,
                true_alpha=data.truth[0],
                true_beta=data.truth[1],
                seconds=seconds,
                refused=found is None,
                low=low,
                high=high,
            )
        )
    return rows


def fit(contestant: Contestant, data: Data) -> PriorEstimator | None:
    """The contestant, fitted, or None where it says that there is nothing to tell apart."""
    estimator = contestant.make()
    try:
        if contestant.on_features:
            assert data.rows is not None  # noqa: S101 - they run where there are features
            estimator.fit(*data.rows)
        else:
            estimator.fit(data.counts)
    except PurecoverError:
        return None
    return estimator


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
def contestants(*, with_rows: bool) -> tuple[Contestant, ...]:
    """Everyone who runs on scores, or on rows with features, found once per process."""
    if with_rows:
        return (*with_features(), *peers(on_features=True)[0])
    return (*ours(), *peers()[0])


@cache
def example(*, with_rows: bool) -> Data:
    """1,000 labeled and 10,000 unlabeled rows or scores, on which memory is measured."""
    if with_rows:
        return simulated_rows(FeatureWorld(10), 0, 0)
    world = next(cells("held out")).world
    sample = world.sample(np.random.default_rng(0), 1000, 10_000, 0.3, 1.0)
    return Data(ScoreCounts.from_scores(*sample), (0.3, 1.0))


def peak_memory(contestant: Contestant) -> float:
    """Peak MiB of one fit on the example, beyond the data themselves."""
    data = example(with_rows=contestant.on_features)
    if not contestant.slow:
        fit(contestant, data)  # imports and caches do not count
    tracemalloc.start()
    fit(contestant, data)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


def memory_of(everyone: Sequence[Contestant], jobs: int) -> dict[str, float]:
    """Peak MiB by name."""
    names = [each.name for each in everyone]
    if jobs == 1:
        return dict(zip(names, map(peak_memory, everyone), strict=True))
    with ProcessPoolExecutor(jobs) as pool:
        return dict(zip(names, pool.map(peak_memory, everyone), strict=True))


def collect(todo: Sequence[Task], jobs: int, slow: bool) -> list[Row]:
    """All rows, in the order of the tasks."""
    if jobs == 1:
        return list(_watched((run(task, slow) for task in todo), len(todo)))
    with ProcessPoolExecutor(jobs) as pool:
        found = pool.map(run, todo, [slow] * len(todo), chunksize=1)
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
    parser.add_argument("--feature-replicates", type=int, default=4, help="data sets per cell (e)")
    parser.add_argument("--parts", default="".join(PARTS), help="which parts to run")
    parser.add_argument(
        "--tiny", action="store_true", help="one data set of three worlds of each part, to try it"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--judge", action="store_true", help="fail where the default falls short")
    parser.add_argument("--no-slow", action="store_true", help="leave out methods of seconds a fit")
    options = parser.parse_args()

    todo = list(
        tasks(
            options.parts,
            options.replicates,
            options.held_out_replicates,
            options.repetitions,
            options.feature_replicates,
            options.seed,
        )
    )
    if options.tiny:
        todo = few(todo)
    if not todo:
        raise SystemExit("nothing to run: parts c and f need PURECOVER_DATA")
    slow = not options.no_slow
    kinds = sorted({task.part in "ef" for task in todo})
    everyone = {
        each.name: each
        for with_rows in kinds
        for each in contestants(with_rows=with_rows)
        if slow or not each.slow
    }
    progress(f"{len(todo)} data sets, {len(everyone)} estimators")
    rows = collect(todo, options.jobs, slow)
    write_rows(rows, RAW)
    progress("memory")
    memory = memory_of(list(everyone.values()), options.jobs)

    present = [part for part in PARTS if any(row.part == part for row in rows)]
    sections = [
        f"## ({part}) {PARTS[part]}\n\n{board(rows, part, memory, peers()[1])}" for part in present
    ]
    sections += [
        f"## ({part}) by source: mean |error of beta - alpha|\n\n"
        + by_source(rows, part, SELECTED_WITH_FEATURES if part in "ef" else SELECTED)
        for part in present
    ]
    verdicts, failures = promises(rows)
    headers = ["part", "default", "best other", "bias", "worst", "AlphaMax worst", "holds"]
    if verdicts:  # of features nothing is promised
        sections.append(f"## Promises\n\n{table(headers, verdicts)}")
    if options.write:
        draw(rows, present, RESULTS / "leaderboard.svg")
        sections.append("![Mean error of every estimator](leaderboard.svg)")
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
        "dist-curve and AlphaMax's default elbow were tuned on (a) and (c).\n\n"
        "In (e) and (f) what is said to be on features gets the features of the rows, everyone "
        "else out-of-fold scores of the same rows: of a logistic regression or of boosted trees, "
        "whichever has the smaller out-of-fold log loss. Features of real data are standardized; "
        f"in (f) methods of seconds a fit see each data set once, with beta {SLOW_BETA:g}. "
        "Memory of those on features is that of 1,000 + 10,000 rows of ten features.\n\n"
    ) + "\n\n".join(sections)
    publish("leaderboard", "Estimators of alpha and beta compared", body, write=options.write)
    return conclude(failures, judge=options.judge)


if __name__ == "__main__":
    sys.exit(main())
