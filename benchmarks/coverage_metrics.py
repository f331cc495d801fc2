"""How often nominal 95 % bootstrap intervals of other metrics hold the truth.

``python -m benchmarks.coverage_metrics`` simulates data sets of known truth and counts. The
threshold is fixed in advance: figures at one chosen on the same data are too good (check PU016). An
interval that is undefined counts as a miss.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from benchmarks._common import arguments, conclude, progress, publish, table
from benchmarks.coverage import LEVEL, Tally

import purecover as pu
from purecover import simulate
from purecover.exceptions import RecoveryWarning

SIZES = (100, 1000)
ALPHA = 0.25
RESAMPLES = 300
METRICS = ("auc_pr", "precision", "recall", "f1")
# A world and the threshold in use.
WORLDS = (
    ("chance", simulate.binormal(1e-6), 0.0),
    ("weak, normal scores", simulate.binormal(0.3), 0.15),
    ("good, normal scores", simulate.binormal(1.5), 1.0),
    ("excellent, normal scores", simulate.binormal(3.5), 1.75),
    ("bounded ratio, Laplace scores", simulate.laplace(2.0), 1.0),
    ("not concave", simulate.nonconcave(), 1.0),
)


def truths(world: simulate.World, threshold: float) -> dict[str, float]:
    """The true figures of a world."""
    tpr, fpr = float(world.tpr(threshold)), float(world.fpr(threshold))
    flagged = ALPHA * tpr + (1 - ALPHA) * fpr
    return {
        "auc_pr": world.auc_pr(ALPHA),
        "precision": ALPHA * tpr / flagged,
        "recall": tpr,
        "f1": 2 * ALPHA * tpr / (ALPHA + flagged),
    }


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
    )
    publish("coverage_metrics", "Coverage of intervals of other metrics", body, write=options.write)
    return conclude([])


if __name__ == "__main__":
    sys.exit(main())
