"""How often nominal 95 % bootstrap intervals of other metrics hold the truth.

``python -m studies.coverage_metrics`` simulates data sets of known truth and counts, with a
threshold fixed in advance and with the default one, which has the highest Youden index of the data
set. The truth is that at the threshold in use. An interval that is undefined counts as a miss. It
ends with a failure if intervals at the default threshold hold the truth in fewer than 92 % in a
world of normal scores (a verdict needs 1000 data sets per world).
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from studies._common import arguments, conclude, progress, publish, table
from studies.coverage import LEVEL, Tally

import purecover as pu
from purecover import simulate
from purecover.exceptions import RecoveryWarning
from purecover.recovery.metrics import MetricOptions

SIZES = (100, 1000)
ALPHA = 0.25
RESAMPLES = 300
METRICS = ("auc_pr", "precision", "recall", "f1")
CHOSEN_METRICS = ("recall", "specificity", "precision", "npv", "accuracy", "f1", "mcc", "youden")
LEAST, FEWEST = 0.92, 1000
# A world and the threshold in use.
WORLDS = (
    ("chance", simulate.binormal(1e-6), 0.0),
    ("weak, normal scores", simulate.binormal(0.3), 0.15),
    ("good, normal scores", simulate.binormal(1.5), 1.0),
    ("excellent, normal scores", simulate.binormal(3.5), 1.75),
    ("bounded ratio, Laplace scores", simulate.laplace(2.0), 1.0),
    ("not concave", simulate.nonconcave(), 1.0),
)


# A world and its share of positives, for the default threshold.
CHOSEN_WORLDS = (
    ("weak, normal scores", simulate.binormal(0.8), 0.4),
    ("good, normal scores", simulate.binormal(1.5), 0.25),
    ("excellent, normal scores", simulate.binormal(2.5), 0.1),
    ("bounded ratio, Laplace scores", simulate.laplace(2.0), 0.25),
    ("not concave", simulate.nonconcave(), 0.25),
)


def truths(world: simulate.World, threshold: float, alpha: float = ALPHA) -> dict[str, float]:
    """The true figures of a world."""
    tpr, fpr = float(world.tpr(threshold)), float(world.fpr(threshold))
    options = MetricOptions()
    found = {
        name: float(metric.of_rates(tpr, fpr, alpha, options))
        for name, metric in pu.METRICS.items()
        if metric.kind == "threshold" and metric.of_rates is not None
    }
    return found | {"auc_pr": world.auc_pr(alpha)}


def study_chosen(
    world: simulate.World, alpha: float, *, replicates: int, seed: tuple[int, ...]
) -> tuple[dict[str, Tally], dict[str, list[float]]]:
    """Intervals at the default threshold, and by how much the estimates are too high."""
    tallies = {name: Tally() for name in CHOSEN_METRICS}
    errors: dict[str, list[float]] = {name: [] for name in CHOSEN_METRICS}
    for i in range(replicates):
        rng = np.random.default_rng([*seed, i])
        sample = world.sample(*SIZES, alpha=alpha, random_state=rng)
        best = pu.recover_metrics(sample.counts, sample.proportions, metrics=["youden"])
        truth = truths(world, best.threshold, alpha)
        result = pu.intervals.bootstrap(
            sample.counts,
            sample.proportions,
            metrics=CHOSEN_METRICS,
            curves=False,
            n_resamples=RESAMPLES,
            confidence_level=LEVEL,
            random_state=rng,
        )
        for name, tally in tallies.items():
            interval = result.interval(name)
            tally.add(interval, truth[name])
            errors[name].append(interval.estimate - truth[name])
    return tallies, errors


def study(
    world: simulate.World, threshold: float, *, replicates: int, seed: tuple[int, ...]
) -> dict[str, Tally]:
    """Intervals of every metric on simulated data sets of one world."""
    tallies = {name: Tally() for name in METRICS}
    truth = truths(world, threshold)
    for i in range(replicates):
        rng = np.random.default_rng([*seed, i])
        sample = world.sample(*SIZES, alpha=ALPHA, random_state=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecoveryWarning)
            result = pu.intervals.bootstrap(
                sample.counts,
                sample.proportions,
                metrics=METRICS,
                threshold=threshold,
                curves=False,
                n_resamples=RESAMPLES,
                confidence_level=LEVEL,
                random_state=rng,
            )
        for name, tally in tallies.items():
            tally.add(result.interval(name), truth[name])
    return tallies


def main() -> int:
    """Run the study."""
    options = arguments(str(__doc__).splitlines()[0], replicates=200).parse_args()
    failures, chosen = [], []
    for index, (label, world, alpha) in enumerate(CHOSEN_WORLDS):
        progress(f"default threshold, {index + 1}/{len(CHOSEN_WORLDS)}: {label}")
        seed = (options.seed, 100 + index)
        tallies, errors = study_chosen(world, alpha, replicates=options.replicates, seed=seed)
        for name, tally in tallies.items():
            title = f"{label}, AUC {world.auc:.3f}, alpha {alpha:g}"
            chosen.append([title, name, *tally.cells(), f"{np.mean(errors[name]):+.3f}"])
            enough = options.replicates >= FEWEST and "normal" in label
            if enough and tally.coverage < LEAST:
                failures.append(f"{title}, {name}: {tally.coverage:.3f} of intervals hold")
    rows = []
    for index, (label, world, threshold) in enumerate(WORLDS):
        progress(f"{index + 1}/{len(WORLDS)}: {label}")
        tallies = study(world, threshold, replicates=options.replicates, seed=(options.seed, index))
        rows += [
            [f"{label}, AUC {world.auc:.3f}", name, *tally.cells()]
            for name, tally in tallies.items()
        ]
    headers = [
        "world",
        "metric",
        "coverage",
        "MC error",
        "below / above truth",
        "mean width",
        "data sets",
    ]
    body = (
        f"Nominal {LEVEL:.0%} percentile intervals of {RESAMPLES} resamples; {SIZES[0]} labeled "
        f"and {SIZES[1]} unlabeled, alpha {ALPHA:g} known, beta 1; a fixed threshold.\n\n"
        + table(headers, rows)
        + "\n\nThe same at the default threshold, the best of each data set, with what its choice "
        "adds taken off; the last column is the mean error of the estimate.\n\n"
        + table([*headers, "bias"], chosen)
    )
    publish("coverage_metrics", "Coverage of intervals of other metrics", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
