"""Compare every registered estimator of alpha and beta on the same data.

Two parts: (b) simulated scores of many shapes, and (d) the second part of the reference collection,
real problems of tables that nothing learned from. Methods that assume clean labels
run twice with the samples exchanged, after the same test of clean labels as all others. Importing
``purecover_paper.systems`` registers the systems of the paper's comparison.

``python -m studies.leaderboard`` prints a table per part; ``--every 500`` runs a few data sets, to
try it out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from studies._common import arguments, progress, publish, table
from studies._reality import RealProblem, load_problems
from studies._worlds import Cell, cells

import purecover as pu
from purecover.estimators import NoisyLabels, PriorEstimator, prior_estimators
from purecover.exceptions import PurecoverError
from purecover_paper.systems import AlphaMaxPaper, AlphaMaxReleased  # registers all of them

DEFAULT = "reference"
RELEASED = "AlphaMax-N, released elbow"
SLOW_LIMIT = 12_000
"""Examples a slow method has to cope with."""

SLOW = ("pearson", "penalized-l1")
"""Registered estimators that take a good part of a second for a fit."""

ELSEWHERE = {
    "alphamax": "the row of AlphaMax-N, which runs it after the test of clean labels",
    "alphamax-n": "rows of its own, one for each elbow",
    "clustered": "on one column it is the estimator that it runs inside",
    "noisy": "the wrapper of the others",
}
"""Registered estimators without a row of their name, and where they are instead."""


PARTS = {"d": "real problems of tables that nothing learned from", "b": "simulated scores"}

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
class Contestant:
    """An estimator by its name in the tables; slow ones run on part of the data only."""

    name: str
    make: Callable[[], PriorEstimator]
    slow: bool = False


@cache
def contestants() -> tuple[Contestant, ...]:
    """List registered estimators and their variants, once per process."""
    found = [
        Contestant(name, partial(_noisy, name), slow=name in SLOW)
        for name in prior_estimators()
        if name not in ELSEWHERE
    ]
    variants: dict[str, tuple[str, dict[str, Any]]] = {
        "AlphaMax-N, default elbow": ("alphamax-n", {}),
        "Elkan-Noto e3": ("elkan-noto", {"quantile": 1.0}),
    }
    found += [
        Contestant(title, partial(_noisy, name, **parameters))
        for title, (name, parameters) in variants.items()
    ]
    return (
        *found,
        Contestant(RELEASED, partial(NoisyLabels, AlphaMaxReleased())),
        Contestant("AlphaMax-N, elbow of the paper", partial(NoisyLabels, AlphaMaxPaper())),
    )


# Plain functions, because contestants travel to other processes.


def _noisy(name: str, **parameters: Any) -> PriorEstimator:
    """An estimator of beta as it is, any other within the wrapper that runs it twice."""
    estimator = prior_estimators()[name](**parameters)
    return estimator if estimator.estimates_beta else NoisyLabels(estimator)


@dataclass(frozen=True)
class Row:
    """One estimator on one data set."""

    part: str
    group: str
    estimator: str
    alpha: float
    beta: float
    true_alpha: float
    true_beta: float
    seconds: float
    refused: bool
    low: float
    high: float
    """Ends of the 95 % interval of beta - alpha; not a number where there is none."""

    @property
    def errors(self) -> tuple[float, float, float]:
        """Signed errors of alpha, beta and beta - alpha."""
        alpha, beta = self.alpha - self.true_alpha, self.beta - self.true_beta
        return alpha, beta, beta - alpha


def by_estimator(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by estimator, the one with the smallest errors of beta - alpha first."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.estimator, []).append(row)
    return dict(sorted(found.items(), key=lambda item: mean_error(item[1])))


def mean_error(rows: Sequence[Row]) -> float:
    """Mean size of the error of beta - alpha."""
    return float(np.mean([abs(row.errors[2]) for row in rows]))


def board(rows: Sequence[Row], part: str) -> str:
    """Return the table of one part."""
    headers = [
        "estimator", "beta - alpha", "alpha", "beta", "bias of beta - alpha", "bias of alpha",
        "worst beta - alpha", "interval holds", "its width", "CPU ms", "refused", "data sets",
    ]  # fmt: skip
    lines = []
    for name, own in by_estimator(row for row in rows if row.part == part).items():
        errors = np.array([row.errors for row in own])
        told = [row for row in own if not np.isnan(row.low)]
        inside = [row.low <= row.true_beta - row.true_alpha <= row.high for row in told]
        widths = [row.high - row.low for row in told]
        alpha, beta, delta = np.abs(errors).mean(axis=0)
        lines.append(
            [
                f"**{name}**" if name == DEFAULT else name,
                *(f"{value:.4f}" for value in (delta, alpha, beta)),
                *(f"{errors[:, column].mean():+.4f}" for column in (2, 0)),
                f"{np.abs(errors[:, 2]).max():.3f}",
                *((f"{np.mean(inside):.0%}", f"{np.mean(widths):.3f}") if told else ("", "")),
                f"{1000 * np.median([row.seconds for row in own]):.1f}",
                str(sum(row.refused for row in own)),
                str(len(own)),
            ]
        )
    return table(headers, lines)


def by_source(rows: Sequence[Row], part: str, names: Sequence[str]) -> str:
    """Mean |error of beta - alpha| in each world or data set, of a few estimators."""
    own = [row for row in rows if row.part == part and row.estimator in names]
    groups = list(dict.fromkeys(row.group for row in own))
    present = [name for name in names if any(row.estimator == name for row in own)]
    lines = []
    for group in groups:
        found = by_estimator(row for row in own if row.group == group)
        # Slow ones may not have seen all of them.
        errors = (f"{mean_error(found[name]):.4f}" if name in found else "" for name in present)
        lines.append([group, *errors])
    return table(["source", *present], lines)


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


def tasks(parts: str, replicates: int, seed: int) -> Iterator[Task]:
    """All data sets of the parts."""
    if "b" in parts:
        for cell in cells():
            large = cell.n_unlabeled > 10_000
            times = min(replicates, LARGE_REPLICATES) if large else replicates
            yield from (Task("b", cell, i, seed) for i in range(times))
    if "d" in parts:
        found = (each for each in load_problems("second") if each.labeling == "random")
        yield from (Task("d", each, i, seed) for i, each in enumerate(found))


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


def _watched(found: Iterable[list[Row]], total: int) -> Iterator[Row]:
    start = time.monotonic()
    for i, rows in enumerate(found, 1):
        if i % 50 == 0 or i == total:
            progress(f"{i}/{total} data sets, {time.monotonic() - start:.0f} s")
        yield from rows


def main() -> None:
    """Run the comparison."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=4)
    parser.add_argument("--parts", default="".join(PARTS), help="which parts to run")
    parser.add_argument("--every", type=int, default=1, help="only every so many of the data sets")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--no-slow", action="store_true", help="leave out methods of seconds a fit")
    options = parser.parse_args()

    todo = list(tasks(options.parts, options.replicates, options.seed))[:: options.every]
    slow = not options.no_slow
    everyone = [each for each in contestants() if slow or not each.slow]
    progress(f"{len(todo)} data sets, {len(everyone)} estimators")
    with ProcessPoolExecutor(options.jobs) as pool:
        found = pool.map(run, todo, [slow] * len(todo), chunksize=1)
        rows = list(_watched(found, len(todo)))
    present = [part for part in PARTS if any(row.part == part for row in rows)]
    sections = [f"## ({part}) {PARTS[part]}\n\n{board(rows, part)}" for part in present]
    sections += [
        f"## ({part}) by source: mean |error of beta - alpha|\n\n" + by_source(rows, part, SELECTED)
        for part in present
    ]
    body = (
        "Errors of alpha, beta and beta - alpha: means of the absolute error, mean signed error "
        "(bias) and largest absolute error. CPU time is the median per data set. An estimator that "
        "finds no difference between the samples (refused) counts as alpha = beta. "
        "Methods of seconds a fit see one replicate of each "
        f"cell (of (d) one problem in {EVERY}), and none above {SLOW_LIMIT:,} examples. Nominal "
        "95 % intervals of beta - alpha come from the posterior where there is one, else from "
        f"{N_RESAMPLES} replicates, on the data sets that slow methods see and for methods of less "
        f"than {1000 * QUICK:g} ms a fit. The default learned from the first part of the "
        "collection of which (d) is the second, of other tables and families.\n\n"
    ) + "\n\n".join(sections)
    publish("leaderboard", "Estimators of alpha and beta compared", body, write=options.write)


if __name__ == "__main__":
    main()
