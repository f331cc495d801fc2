"""How often nominal 95 % intervals of the AUC hold the truth, with known proportions.

``python -m studies.coverage`` simulates data sets of known AUC and counts. It ends with a
failure if the coverage of the default interval leaves 93 to 97 % in any cell (a verdict needs 1000
data sets per cell).
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from dataclasses import dataclass, field

import numpy as np
from studies._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover import simulate
from purecover.exceptions import RecoveryWarning

LEVEL = 0.95
ALLOWED = (0.93, 0.97)
FEWEST = 1000  # data sets per cell, for chance not to decide
SIZES = ((100, 1000), (1000, 10_000))
BETAS = (1.0, 0.75)
# A weak, a middling and a strong classifier, each at another share of positives.
WORLDS = (
    (simulate.binormal(0.8), 0.5),
    (simulate.binormal(1.5), 0.25),
    (simulate.binormal(2.5), 0.1),
    (simulate.nonconcave(), 0.25),
)

DEFAULT = "DeLong, logit"
WALD = "DeLong, Wald"
BOOTSTRAP = "bootstrap"
BOOTSTRAP_RESAMPLES = 500


def default(counts: pu.ScoreCounts, proportions: pu.MixtureProportions) -> pu.intervals.Interval:
    """What a user gets without choosing."""
    return pu.intervals.auc_interval(counts, proportions, confidence_level=LEVEL)


def wald(counts: pu.ScoreCounts, proportions: pu.MixtureProportions) -> pu.intervals.Interval:
    """Symmetric on the plain scale."""
    return pu.intervals.auc_interval(counts, proportions, confidence_level=LEVEL, method="wald")


def bootstrap(
    counts: pu.ScoreCounts, proportions: pu.MixtureProportions, seed: int
) -> pu.intervals.Interval:
    """Percentiles of resampled counts."""
    result = pu.intervals.bootstrap(
        counts,
        proportions,
        metrics=["roc_auc"],
        curves=False,
        n_resamples=BOOTSTRAP_RESAMPLES,
        confidence_level=LEVEL,
        random_state=seed,
    )
    return result.interval("roc_auc")


@dataclass
class Tally:
    """What happened to the intervals of one method in one cell."""

    hits: int = 0
    too_low: int = 0
    too_high: int = 0
    widths: list[float] = field(default_factory=list)

    def add(self, interval: pu.intervals.Interval, truth: float) -> None:
        """Count one interval."""
        self.hits += interval.low <= truth <= interval.high
        self.too_low += interval.high < truth
        self.too_high += interval.low > truth
        self.widths.append(interval.high - interval.low)

    @property
    def coverage(self) -> float:
        """Share of intervals that hold the truth."""
        return self.hits / len(self.widths)

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the coverage, at the nominal level."""
        return math.sqrt(LEVEL * (1 - LEVEL) / len(self.widths))

    def cells(self) -> list[str]:
        """The row of the table."""
        n = len(self.widths)
        return [
            f"{self.coverage:.1%}",
            f"{self.error:.1%}",
            f"{self.too_low / n:.1%} / {self.too_high / n:.1%}",
            f"{np.nanmean(self.widths):.4f}",
            f"{n}",
        ]


def study(
    world: simulate.World,
    alpha: float,
    beta: float,
    sizes: tuple[int, int],
    *,
    replicates: int,
    bootstrap_replicates: int,
    seed: tuple[int, ...],
) -> dict[str, Tally]:
    """Intervals by every method on simulated data sets of one cell."""
    tallies = {name: Tally() for name in (DEFAULT, WALD, BOOTSTRAP)}
    for i in range(replicates):
        sample = world.sample(
            *sizes, alpha=alpha, beta=beta, random_state=np.random.default_rng([*seed, i])
        )
        counts, proportions = sample.counts, sample.proportions
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecoveryWarning)
            tallies[DEFAULT].add(default(counts, proportions), world.auc)
            tallies[WALD].add(wald(counts, proportions), world.auc)
            if i < bootstrap_replicates:
                tallies[BOOTSTRAP].add(bootstrap(counts, proportions, i), world.auc)
    return tallies


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=2000)
    parser.add_argument(
        "--bootstrap-replicates",
        type=int,
        default=100,
        help="data sets per cell for the bootstrap, which is slower",
    )
    options = parser.parse_args()
    rows, failures = [], []
    cells = list(itertools.product(SIZES, BETAS, WORLDS))
    for index, (sizes, beta, (world, alpha)) in enumerate(cells):
        label = f"{sizes[0]}/{sizes[1]}, alpha={alpha:g} beta={beta:g}, AUC {world.auc:.3f}"
        progress(f"{index + 1}/{len(cells)}: {label}")
        tallies = study(
            world,
            alpha,
            beta,
            sizes,
            replicates=options.replicates,
            bootstrap_replicates=options.bootstrap_replicates,
            seed=(options.seed, index),
        )
        for name, tally in tallies.items():
            if tally.widths:
                rows.append([label, name, *tally.cells()])
        if not ALLOWED[0] <= tallies[DEFAULT].coverage <= ALLOWED[1]:
            failures.append(f"{DEFAULT} covers {tallies[DEFAULT].coverage:.1%} at {label}")
    verdict = "FAILED" if failures else "holds"
    if options.replicates < FEWEST:
        verdict, failures = f"no verdict from fewer than {FEWEST} data sets", []
    headers = [
        "labeled/unlabeled, proportions, truth",
        "interval",
        "coverage",
        "MC error",
        "below / above truth",
        "mean width",
        "data sets",
    ]
    body = (
        f"Nominal {LEVEL:.0%} intervals of the AUC, alpha and beta known, case-control samples. "
        "Scores are normal; AUC 0.624 is a world whose ROC curve is not concave. The bootstrap is "
        f"the percentile interval of {BOOTSTRAP_RESAMPLES} resamples.\n\n"
        + table(headers, rows)
        + f"\n\n{DEFAULT} (the default) within {ALLOWED[0]:.0%} to {ALLOWED[1]:.0%} in every cell: "
        + f"{verdict}."
    )
    publish("coverage", "Coverage of intervals of the AUC", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
