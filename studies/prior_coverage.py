"""How often nominal 95 % intervals of estimated proportions hold the truth.

``python -m studies.prior_coverage`` simulates worlds in which a region holding at least 5 % of
the positives has no negatives and one holding at least 5 % of the negatives has no positives, so
that alpha and beta can be estimated at all. An interval of alpha wider than 0.5 counts as a miss,
and so does none. With ``--judge`` it ends in failure if the default covers alpha in less than
90 % of the data sets of a world with 1,000 labeled examples or more; the table shows fewer, too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from studies._common import arguments, conclude, progress, publish, table
from studies._contestants import DEFAULT, ours
from studies._worlds import Cell, World, pure_ends

from purecover.counts import ScoreCounts
from purecover.exceptions import PurecoverError

LEVEL = 0.95
TARGET = 0.90
TOO_WIDE = 0.5
SIZES = ((200, 2000), (1000, 10_000), (5000, 50_000))
ENOUGH = 1000
"""Labeled examples from which the promise holds: 200 put 10 into a region of 5 %, and no interval
that rests on 10 examples can be both narrow and honest."""
SHARES = ((0.05, 1.0), (0.25, 1.0), (0.6, 1.0), (0.25, 0.9), (0.5, 0.8), (0.75, 0.95))
QUANTITIES = ("alpha", "beta", "delta")


def shifted_uniform(share: float) -> World:
    """Uniform scores, shifted by a share of their range: no order at all in the overlap."""
    return World(
        f"shifted uniform {share:.0%}",
        "held out",
        lambda rng, n: rng.uniform(share, 1 + share, n),
        lambda rng, n: rng.uniform(0, 1, n),
        link=lambda x: x / (1 + share),
    )


# Other shares and slopes than the worlds that the comparison of estimators holds out.
WORLDS = (
    pure_ends(0.05, slope=0.9),
    pure_ends(0.10, slope=0.5),
    pure_ends(0.20, slope=0.7),
    shifted_uniform(0.2),
)


@dataclass(frozen=True)
class Task:
    """One data set and how its interval is made."""

    cell: Cell
    estimator: str
    replicate: int
    seed: int
    method: str | None
    n_resamples: int


@dataclass(frozen=True)
class Outcome:
    """Ends of the intervals and the truth, a row each of alpha, beta, delta; None if refused."""

    task: Task
    ends: tuple[tuple[float, float, float], ...] | None
    seconds: float


def run(task: Task) -> Outcome:
    """The intervals of one data set."""
    start = time.process_time()
    estimator = next(c for c in ours() if c.name == task.estimator).make()
    scores, labeled = task.cell.sample_random(task.seed, task.replicate)
    # Population shares: the numbers of positives were random too.
    alpha, beta = task.cell.world.truth(task.cell.alpha, task.cell.beta)
    truth = dict(zip(QUANTITIES, (alpha, beta, beta - alpha), strict=True))
    try:
        found = estimator.fit(ScoreCounts.from_scores(scores, labeled)).interval(
            confidence_level=LEVEL,
            method=task.method,  # type: ignore[arg-type]
            n_resamples=task.n_resamples,
            random_state=task.replicate,
        )
    except PurecoverError:
        return Outcome(task, None, time.process_time() - start)
    ends = tuple((found[name].low, found[name].high, truth[name]) for name in QUANTITIES)
    return Outcome(task, ends, time.process_time() - start)


@dataclass(frozen=True)
class Tally:
    """What became of the intervals of one kind."""

    n: int
    refused: int
    coverage: float
    below: float
    above: float
    too_wide: float
    width: float
    score: float

    @classmethod
    def of(cls, outcomes: list[Outcome], quantity: str) -> Tally:
        """Count the intervals of one quantity."""
        which = QUANTITIES.index(quantity)
        rows = np.array([o.ends[which] for o in outcomes if o.ends is not None]).reshape(-1, 3)
        n = len(outcomes)
        low, high, truth = rows.T
        below, above, width = truth > high, truth < low, high - low
        hit = ~(below | above) & (width <= TOO_WIDE)
        # Width, plus 2/(1 - level) times the distance by which the truth is missed.
        distance = np.where(below, truth - high, 0) + np.where(above, low - truth, 0)
        return cls(
            n=n,
            refused=n - len(rows),
            coverage=float(hit.sum() / n),
            below=float(below.sum() / n),
            above=float(above.sum() / n),
            too_wide=float((width > TOO_WIDE).sum() / n),
            width=float(width.mean()) if len(rows) else 1.0,
            score=float((width + 2 / (1 - LEVEL) * distance).mean()) if len(rows) else 1.0,
        )

    @property
    def cells(self) -> list[str]:
        """As the table shows them."""
        return [
            f"{self.coverage:.1%}",
            f"{self.below:.1%} / {self.above:.1%}",
            f"{self.too_wide:.1%}",
            f"{self.width:.3f}",
            f"{self.score:.3f}",
            str(self.refused),
            str(self.n),
        ]


def study(tasks: list[Task], jobs: int) -> Iterator[Outcome]:
    """All outcomes."""
    start = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        for i, outcome in enumerate(pool.map(run, tasks, chunksize=2), 1):
            if i % 100 == 0 or i == len(tasks):
                progress(f"{i}/{len(tasks)} intervals, {time.monotonic() - start:.0f} s")
            yield outcome


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=40)
    parser.add_argument("--estimators", default=DEFAULT, help="names, separated by semicolons")
    parser.add_argument(
        "--method", help="bootstrap, m-out-of-n, bound or posterior; default: the estimator's own"
    )
    parser.add_argument("--n-resamples", type=int, default=500, help="resamples per interval")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--judge", action="store_true", help="fail where the default falls short")
    options = parser.parse_args()
    names = [name.strip() for name in options.estimators.split(";")]
    known = [c.name for c in ours()]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"--estimators: no {', '.join(unknown)}; there are {'; '.join(known)}")

    tasks = [
        Task(Cell(world, *shares, *sizes), name, i, options.seed, *method)
        for method in [(options.method, options.n_resamples)]
        for name in names
        for world in WORLDS
        for sizes in SIZES
        for shares in SHARES
        for i in range(options.replicates)
    ]
    outcomes = list(study(tasks, options.jobs))
    rows, failures = [], []
    for name in names:
        for world in WORLDS:
            own = [o for o in outcomes if o.task.estimator == name and o.task.cell.world is world]
            for sizes in SIZES:
                some = [o for o in own if (o.task.cell.n_labeled, o.task.cell.n_unlabeled) == sizes]
                label = [name, world.name, f"{sizes[0]} + {sizes[1]}"]
                rows += [[*label, q, *Tally.of(some, q).cells] for q in QUANTITIES]
            pooled = Tally.of([o for o in own if o.task.cell.n_labeled >= ENOUGH], "alpha")
            if name == DEFAULT and pooled.coverage < TARGET:
                failures.append(f"{world.name}: alpha covered in {pooled.coverage:.1%}")
        everything = [o for o in outcomes if o.task.estimator == name]
        rows += [[name, "all", "all", q, *Tally.of(everything, q).cells] for q in QUANTITIES]
    headers = [
        "estimator",
        "world",
        "sizes",
        "of",
        "coverage",
        "below / above truth",
        "too wide",
        "mean width",
        "interval score",
        "refused",
        "data sets",
    ]
    seconds = float(np.median([o.seconds for o in outcomes]))
    body = (
        f"Nominal {LEVEL:.0%} intervals, method {options.method or 'of the estimator'} "
        f"({seconds:.2f} CPU s each, median); alpha and beta {', '.join(map(str, SHARES))}. "
        f"Coverage: the share of data sets whose interval holds the truth and is no wider than "
        f"{TOO_WIDE:g}.\n\n" + table(headers, rows)
    )
    publish("prior_coverage", "Coverage of intervals of alpha and beta", body, write=options.write)
    return conclude(failures, judge=options.judge)


if __name__ == "__main__":
    sys.exit(main())
