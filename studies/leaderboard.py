"""Compare every registered estimator of alpha and beta on the same data.

Three parts: (a) simulated scores on the grid used while the estimators were made, (b) simulated
scores of other shapes, held out until all was decided, (d) the second part of the reference
collection, real problems of tables that nothing learned from. Methods that assume clean labels
run twice with the samples exchanged, after the same test of clean labels as all others. Importing
``purecover_paper.systems`` registers the systems of the paper's comparison.

``python -m studies.leaderboard`` prints a table per part; ``--tiny`` runs a few data sets of each
part, to try it out.
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


# Parts that nothing was tuned on come first.
PARTS = {
    "d": "real problems of tables that nothing learned from",
    "b": "simulated scores, held out",
    "a": "simulated scores, the grid used in tuning",
}

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
    source: str
    replicate: int
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


@dataclass(frozen=True)
class Summary:
    """Errors of one estimator over many data sets."""

    alpha: float
    beta: float
    delta: float
    bias_alpha: float
    bias_delta: float
    worst: float
    holds: float
    width: float
    seconds: float
    refused: int
    n: int


def summarize(rows: Sequence[Row]) -> dict[str, Summary]:
    """A summary per estimator, best first."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.estimator, []).append(row)
    found = {}
    for name, own in by_name.items():
        errors = np.array([row.errors for row in own])
        size = np.abs(errors).mean(axis=0)
        told = [row for row in own if not np.isnan(row.low)]
        inside = [row.low <= row.true_beta - row.true_alpha <= row.high for row in told]
        found[name] = Summary(
            alpha=float(size[0]),
            beta=float(size[1]),
            delta=float(size[2]),
            bias_alpha=float(errors[:, 0].mean()),
            bias_delta=float(errors[:, 2].mean()),
            worst=float(np.abs(errors[:, 2]).max()),
            holds=float(np.mean(inside)) if told else np.nan,
            width=float(np.mean([row.high - row.low for row in told])) if told else np.nan,
            seconds=float(np.median([row.seconds for row in own])),
            refused=sum(row.refused for row in own),
            n=len(own),
        )
    return dict(sorted(found.items(), key=lambda item: item[1].delta))


def board(rows: Sequence[Row], part: str) -> str:
    """Return the table of one part."""
    headers = [
        "estimator",
        "beta - alpha",
        "alpha",
        "beta",
        "bias of beta - alpha",
        "bias of alpha",
        "worst beta - alpha",
        "interval holds",
        "its width",
        "CPU ms",
        "refused",
        "data sets",
    ]
    lines = [
        [
            f"**{name}**" if name == DEFAULT else name,
            *(f"{value:.4f}" for value in (s.delta, s.alpha, s.beta)),
            *(f"{value:+.4f}" for value in (s.bias_delta, s.bias_alpha)),
            f"{s.worst:.3f}",
            *(("", "") if np.isnan(s.holds) else (f"{s.holds:.0%}", f"{s.width:.3f}")),
            f"{1000 * s.seconds:.1f}",
            str(s.refused),
            str(s.n),
        ]
        for name, s in summarize([row for row in rows if row.part == part]).items()
    ]
    return table(headers, lines)


def by_source(rows: Sequence[Row], part: str, names: Sequence[str]) -> str:
    """Mean |error of beta - alpha| in each world or data set, of a few estimators."""
    own = [row for row in rows if row.part == part and row.estimator in names]
    groups = list(dict.fromkeys(row.group for row in own))
    present = [name for name in names if any(row.estimator == name for row in own)]
    lines = []
    for group in groups:
        found = summarize([row for row in own if row.group == group])
        # Slow ones may not have seen all of them.
        errors = (f"{found[name].delta:.4f}" if name in found else "" for name in present)
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


def _watched(found: Iterable[list[Row]], total: int) -> Iterator[Row]:
    start = time.monotonic()
    for i, rows in enumerate(found, 1):
        if i % 50 == 0 or i == total:
            progress(f"{i}/{total} data sets, {time.monotonic() - start:.0f} s")
        yield from rows


def main() -> None:
    """Run the comparison."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=12)
    parser.add_argument("--held-out-replicates", type=int, default=4, help="data sets per cell (b)")
    parser.add_argument("--parts", default="".join(PARTS), help="which parts to run")
    parser.add_argument(
        "--tiny", action="store_true", help="one data set of three worlds of each part, to try it"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
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
        "collection of which (d) is the second, of other tables and families; label-curve, "
        "dist-curve and AlphaMax's default elbow were tuned on (a).\n\n"
    ) + "\n\n".join(sections)
    publish("leaderboard", "Estimators of alpha and beta compared", body, write=options.write)


if __name__ == "__main__":
    main()
