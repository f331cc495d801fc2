"""How often nominal 95 % intervals hold the truth, in simulated data sets of known truth.

Three parts: the AUC with known proportions; other metrics, at a threshold fixed in advance and at
the default one, which has the highest Youden index of the data set; and alpha and beta, estimated.
The truth of a metric is that at the threshold in use. An interval that is undefined is a miss; so
is one of alpha or beta that is wider than 0.5, or that the estimator refuses.

``python -m studies.coverage`` ends with a failure if the coverage of the default interval of the
AUC leaves 93 to 97 % in any cell, if intervals at the default threshold hold in fewer than 92 % in
a world of normal scores (both verdicts need 1000 data sets per cell), or if the default estimator
covers alpha in less than 90 % of the data sets of a world with 1,000 labeled examples or more.
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from studies._common import arguments, conclude, progress, publish, table
from studies._contestants import DEFAULT, registered
from studies._worlds import Cell, World, pure_ends

import purecover as pu
from purecover import simulate
from purecover.exceptions import PurecoverError, RecoveryWarning
from purecover.intervals import Interval
from purecover.recovery.metrics import MetricOptions

LEVEL = 0.95
FEWEST = 1000
"""Data sets per cell from which there is a verdict, for chance not to decide."""

# The AUC: a weak, a middling and a strong classifier, each at another share of positives.
ALLOWED = (0.93, 0.97)
AUC_SIZES = ((100, 1000), (1000, 10_000))
AUC_WORLDS = (
    (simulate.binormal(0.8), 0.5),
    (simulate.binormal(1.5), 0.25),
    (simulate.binormal(2.5), 0.1),
    (simulate.binormal(1.0, 3.0), 0.25),
)

# Other metrics: a world and its fixed threshold; a world and its share of positives.
LEAST = 0.92
SIZES, ALPHA, RESAMPLES = (100, 1000), 0.25, 300
FIXED = (
    ("chance", simulate.binormal(1e-6), 0.0),
    ("weak, normal scores", simulate.binormal(0.3), 0.15),
    ("good, normal scores", simulate.binormal(1.5), 1.0),
    ("excellent, normal scores", simulate.binormal(3.5), 1.75),
    ("bounded ratio, Laplace scores", simulate.laplace(2.0), 1.0),
    ("not concave", simulate.binormal(1.0, 3.0), 1.0),
)
CHOSEN = (
    ("weak, normal scores", simulate.binormal(0.8), 0.4),
    ("good, normal scores", simulate.binormal(1.5), 0.25),
    ("excellent, normal scores", simulate.binormal(2.5), 0.1),
    ("bounded ratio, Laplace scores", simulate.laplace(2.0), 0.25),
    ("not concave", simulate.binormal(1.0, 3.0), 0.25),
)
FIXED_METRICS = ("auc_pr", "precision", "recall", "f1")
CHOSEN_METRICS = ("recall", "specificity", "precision", "npv", "accuracy", "f1", "mcc", "youden")

# Alpha and beta: worlds in which a region of the positives has no negatives, and the reverse.
TARGET, TOO_WIDE = 0.90, 0.5
ENOUGH = 1000
"""Labeled examples from which the promise holds: 200 put 10 into a region of 5 %, and no interval
that rests on 10 examples can be both narrow and honest."""
PRIOR_SIZES = ((200, 2000), (1000, 10_000), (5000, 50_000))
SHARES = ((0.05, 1.0), (0.25, 1.0), (0.6, 1.0), (0.25, 0.9), (0.5, 0.8), (0.75, 0.95))


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
PRIOR_WORLDS = (
    pure_ends(0.05, slope=0.9),
    pure_ends(0.10, slope=0.5),
    pure_ends(0.20, slope=0.7),
    shifted_uniform(0.2),
)


@dataclass
class Tally:
    """Counts of the intervals of one kind in one cell."""

    hits: int = 0
    too_low: int = 0
    too_high: int = 0
    widths: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, interval: Interval | None, truth: float, widest: float = math.inf) -> None:
        """Count one interval; None is an interval that was refused."""
        if interval is None:
            self.widths.append(math.nan)
            return
        width = interval.high - interval.low
        self.hits += interval.low <= truth <= interval.high and width <= widest
        self.too_low += interval.high < truth
        self.too_high += interval.low > truth
        self.widths.append(width)
        self.errors.append(interval.estimate - truth)

    @property
    def coverage(self) -> float:
        """Share of intervals that hold the truth."""
        return self.hits / len(self.widths)

    def cells(self) -> list[str]:
        """The row of the table."""
        n = len(self.widths)
        return [
            f"{self.coverage:.1%}",
            f"{math.sqrt(LEVEL * (1 - LEVEL) / n):.1%}",
            f"{self.too_low / n:.1%} / {self.too_high / n:.1%}",
            f"{np.nanmean(self.widths):.4f}" if self.errors else "",
            f"{np.nanmean(self.errors):+.4f}" if self.errors else "",
            f"{n}",
        ]


HEADERS = ["coverage", "MC error", "below / above truth", "mean width", "bias", "data sets"]
Part = tuple[str, list[str]]
"""Text of a part, and the promises that do not hold."""
Intervals = dict[str, Interval] | None


def study_auc(replicates: int, bootstrap_replicates: int, seed: int) -> Part:
    """Intervals of the AUC by every method, alpha and beta known."""
    methods: dict[str, Callable[..., Interval]] = {
        "DeLong, logit": pu.intervals.auc_interval,
        "DeLong, Wald": partial(pu.intervals.auc_interval, method="wald"),
        "bootstrap": _bootstrap_auc,
    }
    rows, failures = [], []
    grid = itertools.product(AUC_SIZES, (1.0, 0.75), AUC_WORLDS)
    for index, (sizes, beta, (world, alpha)) in enumerate(grid):
        label = f"{sizes[0]}/{sizes[1]}, alpha={alpha:g} beta={beta:g}, AUC {world.auc:.3f}"
        progress(label)
        tallies = {name: Tally() for name in methods}
        for i in range(replicates):
            rng = np.random.default_rng([seed, index, i])
            sample = world.sample(*sizes, alpha=alpha, beta=beta, random_state=rng)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RecoveryWarning)
                for name, method in methods.items():
                    if name != "bootstrap" or i < bootstrap_replicates:
                        tallies[name].add(method(sample.counts, sample.proportions), world.auc)
        rows += [[label, name, *tally.cells()] for name, tally in tallies.items()]
        covered = tallies["DeLong, logit"].coverage
        if replicates >= FEWEST and not ALLOWED[0] <= covered <= ALLOWED[1]:
            failures.append(f"DeLong, logit covers {covered:.1%} at {label}")
    return (
        "## The AUC\n\nAlpha and beta known, case-control samples. Scores are normal; AUC 0.624 is "
        "a world whose ROC curve is not concave. The default is DeLong on the logit scale; the "
        "bootstrap is the percentile interval of 500 resamples.\n\n"
        + table(["labeled/unlabeled, proportions, truth", "interval", *HEADERS], rows)
    ), failures


def _bootstrap_auc(counts: pu.ScoreCounts, proportions: pu.MixtureProportions) -> Interval:
    options: dict[str, Any] = {"metrics": ["roc_auc"], "curves": False, "n_resamples": 500}
    return pu.intervals.bootstrap(counts, proportions, random_state=0, **options).interval(
        "roc_auc"
    )


def truths(world: simulate.World, threshold: float, alpha: float) -> dict[str, float]:
    """The true figures of a world."""
    tpr, fpr = float(world.tpr(threshold)), float(world.fpr(threshold))
    options = MetricOptions()
    found = {
        name: float(metric.formula(tpr, fpr, alpha, options))
        for name, metric in pu.METRICS.items()
        if metric.kind == "threshold"
    }
    return found | {"auc_pr": world.auc_pr(alpha)}


def study_metrics(
    world: simulate.World,
    alpha: float,
    threshold: float | None,
    *,
    replicates: int,
    seed: tuple[int, ...],
) -> dict[str, Tally]:
    """Intervals of metrics at a threshold, by default the best of each data set."""
    names = CHOSEN_METRICS if threshold is None else FIXED_METRICS
    tallies = {name: Tally() for name in names}
    for i in range(replicates):
        rng = np.random.default_rng([*seed, i])
        sample = world.sample(*SIZES, alpha=alpha, random_state=rng)
        used = threshold
        if used is None:
            counted = sample.counts, sample.proportions
            used = pu.recover_metrics(*counted, metrics=["youden"]).threshold
        truth = truths(world, used, alpha)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecoveryWarning)
            result = pu.intervals.bootstrap(
                sample.counts,
                sample.proportions,
                metrics=names,
                threshold=threshold,
                curves=False,
                n_resamples=RESAMPLES,
                random_state=rng,
            )
        for name, tally in tallies.items():
            tally.add(result.interval(name), truth[name])
    return tallies


def study_thresholds(replicates: int, seed: int) -> Part:
    """Intervals of other metrics than the AUC."""
    rows: list[list[str]] = []
    failures: list[str] = []
    worlds: list[tuple[str, simulate.World, float, float | None]] = [
        *((label, world, ALPHA, threshold) for label, world, threshold in FIXED),
        *((label, world, alpha, None) for label, world, alpha in CHOSEN),
    ]
    for index, (label, world, alpha, threshold) in enumerate(worlds):
        at = "the default" if threshold is None else f"{threshold:g}"
        title = f"{label}, AUC {world.auc:.3f}, alpha {alpha:g}"
        progress(f"{title}, threshold {at}")
        tallies = study_metrics(world, alpha, threshold, replicates=replicates, seed=(seed, index))
        rows += [[title, at, name, *tally.cells()] for name, tally in tallies.items()]
        if threshold is None and replicates >= FEWEST and "normal" in label:
            failures += [
                f"{title}, {name}: {tally.coverage:.3f} of intervals hold"
                for name, tally in tallies.items()
                if tally.coverage < LEAST
            ]
    return (
        f"## Other metrics\n\nPercentile intervals of {RESAMPLES} resamples; {SIZES[0]} labeled "
        f"and {SIZES[1]} unlabeled, alpha known, beta 1. The default threshold is the best of "
        "each data set; what its choice adds is subtracted.\n\n"
        + table(["world", "threshold", "metric", *HEADERS], rows)
    ), failures


@dataclass(frozen=True)
class PriorTask:
    """One data set whose proportions are estimated."""

    cell: Cell
    estimator: str
    replicate: int
    seed: int

    def run(self) -> Intervals:
        """Intervals of alpha, beta and their difference; None where they are refused."""
        estimator = next(each for each in registered() if each.name == self.estimator).make()
        sample = self.cell.sample_random(self.seed, self.replicate)
        try:
            fitted = estimator.fit(pu.ScoreCounts.from_scores(*sample))
            return dict(fitted.interval(random_state=self.replicate))
        except PurecoverError:
            return None


def study_priors(replicates: int, estimator: str, jobs: int, seed: int) -> Part:
    """Intervals of estimated proportions."""
    todo = [
        PriorTask(Cell(world, *shares, *sizes), estimator, i, seed)
        for world in PRIOR_WORLDS
        for sizes in PRIOR_SIZES
        for shares in SHARES
        for i in range(replicates)
    ]
    with ProcessPoolExecutor(jobs) as pool:
        found = list(_watched(pool.map(PriorTask.run, todo, chunksize=2), len(todo)))
    tallies: dict[tuple[str, tuple[int, int], str], Tally] = {}
    pooled = {world.name: Tally() for world in PRIOR_WORLDS}
    for task, intervals in zip(todo, found, strict=True):
        cell = task.cell
        # Population shares: the numbers of positives were random too.
        alpha, beta = cell.world.truth(cell.alpha, cell.beta)
        for name, truth in (("alpha", alpha), ("beta", beta), ("delta", beta - alpha)):
            key = cell.world.name, (cell.n_labeled, cell.n_unlabeled), name
            interval = None if intervals is None else intervals[name]
            tallies.setdefault(key, Tally()).add(interval, truth, TOO_WIDE)
            if name == "alpha" and cell.n_labeled >= ENOUGH:
                pooled[cell.world.name].add(interval, truth, TOO_WIDE)
    rows = [
        [world, f"{sizes[0]} + {sizes[1]}", name, *tally.cells()]
        for (world, sizes, name), tally in tallies.items()
    ]
    failures = [
        f"{world}: alpha covered in {tally.coverage:.1%}"
        for world, tally in pooled.items()
        if estimator == DEFAULT and tally.coverage < TARGET
    ]
    return (
        f"## Alpha and beta, by {estimator}\n\nAlpha and beta {', '.join(map(str, SHARES))}. "
        f"Coverage: the share of data sets whose interval holds the truth and is no wider than "
        f"{TOO_WIDE:g}.\n\n" + table(["world", "sizes", "of", *HEADERS], rows)
    ), failures


def _watched(found: Iterator[Intervals], total: int) -> Iterator[Intervals]:
    for i, each in enumerate(found, 1):
        if i % 100 == 0 or i == total:
            progress(f"{i}/{total} intervals of alpha and beta")
        yield each


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=2000)
    parser.add_argument("--bootstrap-replicates", type=int, default=100, help="of the AUC")
    parser.add_argument("--metrics-replicates", type=int, default=200, help="of other metrics")
    parser.add_argument("--priors-replicates", type=int, default=40, help="of alpha and beta")
    parser.add_argument("--estimator", default=DEFAULT, help="of alpha and beta")
    parser.add_argument("--parts", default="auc,metrics,priors", help="which parts to run")
    parser.add_argument("--jobs", type=int, default=1, help="processes, for alpha and beta")
    asked = parser.parse_args()
    parts: dict[str, Callable[[], Part]] = {
        "auc": lambda: study_auc(asked.replicates, asked.bootstrap_replicates, asked.seed),
        "metrics": lambda: study_thresholds(asked.metrics_replicates, asked.seed),
        "priors": lambda: study_priors(
            asked.priors_replicates, asked.estimator, asked.jobs, asked.seed
        ),
    }
    done = [parts[name]() for name in asked.parts.split(",")]
    body = "\n\n".join([f"Nominal {LEVEL:.0%} intervals.", *(text for text, _ in done)])
    publish("coverage", "Coverage of intervals", body, write=asked.write)
    return conclude([failure for _, failures in done for failure in failures])


if __name__ == "__main__":
    sys.exit(main())
