"""How often nominal 95 % intervals hold the truth, in simulated data sets of known truth.

Two parts, alpha and beta known: the AUC, and other metrics, at a threshold fixed in advance and at
the default one, which has the highest Youden index of the data set. The truth of a metric at the
threshold in use is that of the rows of the data set, as its interval is; others have that
of the world. An undefined interval is a miss. ``studies.leaderboard`` has the coverage
of intervals of estimated proportions.

``python -m studies.coverage`` ends with a failure if the coverage of the default interval of the
AUC leaves 93 to 97 % in any cell, or if intervals at the default threshold contain the truth in
fewer than 92 % in a world of normal scores. Both verdicts need 1000 data sets per cell.
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from studies._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover import simulate
from purecover.exceptions import RecoveryWarning
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


@dataclass
class Tally:
    """Counts of the intervals of one kind in one cell."""

    hits: int = 0
    too_low: int = 0
    too_high: int = 0
    widths: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, interval: Interval, truth: float) -> None:
        """Count one interval."""
        self.hits += interval.low <= truth <= interval.high
        self.too_low += interval.high < truth
        self.too_high += interval.low > truth
        self.widths.append(interval.high - interval.low)
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
            f"{np.nanmean(self.widths):.4f}",
            f"{np.nanmean(self.errors):+.4f}",
            f"{n}",
        ]


HEADERS = ["coverage", "MC error", "below / above truth", "mean width", "bias", "data sets"]
Part = tuple[str, list[str]]
"""Text of a part, and the promises that do not hold."""


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


def truths(
    world: simulate.World, sample: simulate.Sample, threshold: float, alpha: float
) -> dict[str, float]:
    """The true figures of these rows at a threshold, and of the world."""
    unlabeled, options = ~sample.labeled, MetricOptions()
    found = {}
    for name, metric in pu.METRICS.items():
        if metric.scope("deployment") != "rows":
            continue
        # What depends on the prior is of the unlabeled rows, rates of a class of all its rows.
        rows = unlabeled if metric.depends_on_prior else np.ones_like(unlabeled)
        positive, flagged = sample.truth[rows], sample.scores[rows] >= threshold
        tpr, fpr = (float(flagged[side].mean()) for side in (positive, ~positive))
        found[name] = float(metric.formula(tpr, fpr, float(positive.mean()), options))
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
        truth = truths(world, sample, used, alpha)
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
        "each data set; what its choice adds is subtracted. At a threshold the truth is of "
        "these rows themselves.\n\n" + table(["world", "threshold", "metric", *HEADERS], rows)
    ), failures


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=2000)
    parser.add_argument("--bootstrap-replicates", type=int, default=100, help="of the AUC")
    parser.add_argument("--metrics-replicates", type=int, default=200, help="of other metrics")
    asked = parser.parse_args()
    done = [
        study_auc(asked.replicates, asked.bootstrap_replicates, asked.seed),
        study_thresholds(asked.metrics_replicates, asked.seed),
    ]
    body = "\n\n".join([f"Nominal {LEVEL:.0%} intervals.", *(text for text, _ in done)])
    publish("coverage", "Coverage of intervals", body, write=asked.write)
    return conclude([failure for _, failures in done for failure in failures])


if __name__ == "__main__":
    sys.exit(main())
