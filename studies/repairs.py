"""Bias and error of every curve repair, with known proportions, in eight settings.

``python -m studies.repairs`` ends with a failure if the default repair collapses where the
classes are almost perfectly separated (root mean squared error of the AUC above 0.015, or any
replicate below 0.95).
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from studies._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover import simulate
from purecover.exceptions import RecoveryWarning

METHODS = (
    "direct",
    "direct, clipped",
    "paper",
    "isotonic",
    "hull",
    "likelihood",
    "blend",
    "hull, no guard",
    "likelihood, no guard",
)
Concave = Literal["hull", "likelihood"]
REPAIRS: tuple[Literal["paper", "isotonic", "blend"] | Concave, ...] = (
    "paper",
    "isotonic",
    "hull",
    "likelihood",
    "blend",
)
CONCAVE: tuple[Concave, ...] = ("hull", "likelihood")
DEFAULT = "isotonic"
RMSE_LIMIT = 0.015
LOWEST_LIMIT = 0.95


@dataclass(frozen=True)
class Setting:
    """One row of the tables."""

    world: simulate.World
    alpha: float
    beta: float
    n_labeled: int
    n_unlabeled: int
    almost_separable: bool = False

    @property
    def label(self) -> str:
        """What the row is called."""
        shape = "" if self.world.is_concave else " *non-concave*"
        return (
            f"{self.world.auc:.3f}{shape}, alpha={self.alpha:g} beta={self.beta:g}, "
            f"{self.n_labeled}/{self.n_unlabeled}"
        )


SETTINGS = (
    Setting(simulate.binormal(1.5), 0.25, 1.0, 100, 1000),
    Setting(simulate.binormal(1.5), 0.25, 0.75, 100, 1000),
    Setting(simulate.binormal(1.5), 0.25, 0.75, 1000, 10_000),
    Setting(simulate.binormal(0.8), 0.55, 0.75, 1000, 5000),
    Setting(simulate.binormal(3.5), 0.4, 0.95, 100, 1000),
    Setting(simulate.binormal(3.5), 0.4, 0.95, 1000, 5000),
    Setting(simulate.binormal(6.0), 0.4, 0.95, 1000, 5000, almost_separable=True),
    Setting(simulate.nonconcave(), 0.25, 0.75, 1000, 10_000),
)


@dataclass
class Outcome:
    """Estimates of one setting, a list per method."""

    auc: dict[str, list[float]] = field(default_factory=lambda: {m: [] for m in METHODS})
    auc_pr: dict[str, list[float]] = field(default_factory=lambda: {m: [] for m in METHODS})
    guarded: int = 0


def study(setting: Setting, index: int, replicates: int, seed: int) -> Outcome:
    """Estimate both areas by every method on simulated data sets."""
    out = Outcome()
    for i in range(replicates):
        sample = setting.world.sample(
            setting.n_labeled,
            setting.n_unlabeled,
            alpha=setting.alpha,
            beta=setting.beta,
            random_state=np.random.default_rng([seed, index, i]),
        )
        counts, proportions = sample.counts, sample.proportions
        with warnings.catch_warnings():
            # Clipping and the concavity guard are counted here, not announced each time.
            warnings.simplefilter("ignore", RecoveryWarning)
            out.auc["direct"].append(pu.recover_auc(counts, proportions, clip=False))
            out.auc["direct, clipped"].append(pu.recover_auc(counts, proportions))
            out.auc_pr["direct"].append(pu.recovery.recover_auc_pr_direct(counts, proportions))
            for repair in REPAIRS:
                roc = pu.recover_roc(counts, proportions, repair=repair)
                out.auc[repair].append(roc.auc)
                pr = pu.recover_pr(counts, proportions, repair=repair)
                out.auc_pr[repair].append(pr.auc_pr)
                if repair == "hull":
                    out.guarded += roc.repair != repair
            for concave in CONCAVE:
                roc = pu.recover_roc(counts, proportions, repair=concave, concavity_guard=False)
                out.auc[f"{concave}, no guard"].append(roc.auc)
    return out


def cell(values: list[float], truth: float) -> str:
    """Bias, root mean squared error and lowest estimate."""
    if not values:
        return ""
    errors = np.array(values) - truth
    return f"{errors.mean():+.3f}/{np.sqrt(np.mean(errors**2)):.3f} ({min(values):.3f})"


def main() -> int:
    """Run the study."""
    options = arguments(str(__doc__).splitlines()[0], replicates=200).parse_args()
    auc_rows, pr_rows, failures = [], [], []
    for index, setting in enumerate(SETTINGS):
        progress(f"{index + 1}/{len(SETTINGS)}: {setting.label}")
        out = study(setting, index, options.replicates, options.seed)
        truth, truth_pr = setting.world.auc, setting.world.auc_pr(setting.alpha)
        cells = [cell(out.auc[method], truth) for method in METHODS]
        guarded = f"{out.guarded / options.replicates:.0%}"
        auc_rows.append([str(index + 1), setting.label, *cells, guarded])
        pr_cells = [cell(values, truth_pr) for values in out.auc_pr.values() if values]
        pr_rows.append([str(index + 1), f"{truth_pr:.3f}", *pr_cells])
        if setting.almost_separable:
            failures = collapse(np.array(out.auc[DEFAULT]), truth)
    used_for_pr = [method for method, values in out.auc_pr.items() if values]
    body = (
        f"{options.replicates} replicates per row, alpha and beta known. Each cell: bias/rmse "
        "(lowest estimate). Scores are normal with equal spread, except in the last row (negatives "
        "N(0, 1), positives N(1, 9)).\n\n## AUC\n\n"
        + table(["", "true AUC and setting", *METHODS, "guard spoke"], auc_rows)
        + "\n\n`hull` and `likelihood` are as users get them: they give way to `isotonic` where "
        "the concavity guard speaks.\n\n## AUC-PR, at prior alpha\n\n"
        + table(["row", "true", *used_for_pr], pr_rows)
        + f"\n\nAlmost separable classes (row 7) under the default repair: rmse at most "
        f"{RMSE_LIMIT} and no replicate below {LOWEST_LIMIT}: "
        + ("FAILED" if failures else "holds")
        + "."
    )
    publish("repairs", "Bias and error of the curve repairs", body, write=options.write)
    return conclude(failures)


def collapse(estimates: np.ndarray[tuple[int], np.dtype[np.float64]], truth: float) -> list[str]:
    """Complaints if the default repair fails where the classes are almost separable."""
    failures = []
    rmse = float(np.sqrt(np.mean((estimates - truth) ** 2)))
    if rmse > RMSE_LIMIT:
        failures.append(f"{DEFAULT}: rmse {rmse:.4f} above {RMSE_LIMIT} in row 7")
    if estimates.min() < LOWEST_LIMIT:
        failures.append(f"{DEFAULT}: a replicate at {estimates.min():.4f} in row 7")
    return failures


if __name__ == "__main__":
    sys.exit(main())
