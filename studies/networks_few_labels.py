"""Out-of-bag scores of bagged networks with few labeled rows, and whether they are fair.

A bag drawn of all rows that misses a labeled row holds fewer labeled rows on average than one that
misses an unlabeled row. Its network expects fewer labels, and the labeled row scores too low. Here
is the mean observed AUC out of bag, with bags of all rows and with stratified bags, beside that of
five folds of the same networks. Where labels have nothing to do with features it should be 1/2.

``python -m studies.networks_few_labels`` ends with a failure if stratified bags are further
than three standard errors from 1/2 on noise, or from the folds on a signal.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from studies._common import arguments, conclude, progress, publish, table
from numpy.typing import NDArray

from purecover import ScoreCounts, cross_fit_scores
from purecover.exceptions import PurecoverWarning
from purecover.models import BaggedNetworks
from purecover.recovery import auc_pu

WORLDS = ((300, 5, 0.0), (300, 10, 0.0), (300, 30, 0.0), (1000, 10, 0.0), (500, 15, 0.6))
"""Rows, labeled rows, and by how much two of five features are shifted for those."""
N_NETWORKS = 40


def sample(
    n_rows: int, n_labeled: int, shift: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Normal features, shifted for the labeled rows."""
    labeled = np.arange(n_rows) < n_labeled
    features = np.random.default_rng(seed).normal(size=(n_rows, 5))
    features[labeled, :2] += shift
    return features, labeled


def areas(features: NDArray[np.float64], labeled: NDArray[np.bool_], seed: int) -> list[float]:
    """Observed AUC with bags of all rows, with stratified bags, and with folds."""
    plain, apart = (
        BaggedNetworks(N_NETWORKS, stratify=stratify, device="cpu", random_state=seed)
        for stratify in (False, True)
    )
    scores: list[Any] = [
        model.fit(features, labeled).oob_score_samples_ for model in (plain, apart)
    ]
    scores.append(cross_fit_scores(plain, features, labeled, random_state=seed))
    return [auc_pu(ScoreCounts.from_scores(each, labeled)) for each in scores]


def main() -> int:
    """Measure, print, and fail where stratified bags are not fair."""
    options = arguments(__doc__.splitlines()[0], replicates=60).parse_args()
    warnings.simplefilter("ignore", PurecoverWarning)  # what is measured here
    lines, failures = [], []
    for n_rows, n_labeled, shift in WORLDS:
        progress(f"{n_rows} rows, {n_labeled} labeled, shift {shift}")
        seeds = range(options.seed, options.seed + options.replicates)
        found = np.array([areas(*sample(n_rows, n_labeled, shift, seed), seed) for seed in seeds])
        errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        means = [f"{m:.3f} ± {e:.3f}" for m, e in zip(found.mean(axis=0), errors, strict=True)]
        what = "noise" if shift == 0 else f"shift {shift}"
        lines.append([f"{n_rows} rows, {n_labeled} labeled, {what}", *means])
        off = found[:, 1] - (0.5 if shift == 0 else found[:, 2])
        if abs(off.mean()) > 3 * off.std(ddof=1) / np.sqrt(off.size):
            failures.append(f"stratified bags are off by {off.mean():.3f} in {lines[-1][0]}")
    headers = ["world", "bags of all rows", "stratified bags", "five folds"]
    body = table(headers, lines)
    body += (
        f"\n\nMean observed AUC and its standard error, {options.replicates} draws of each world, "
        f"{N_NETWORKS} networks."
    )
    publish("networks_few_labels", "Few labels and bags", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
