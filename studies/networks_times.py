"""How long bagged networks take on tables of different shapes, dense and sparse.

Wall seconds of one thread; the time of more networks is proportional. Networks write out the zeros
of a sparse matrix, so that wide tables of words are slow.

``python -m studies.networks_times`` measures and prints; nothing is promised.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from studies._common import arguments, conclude, progress, publish, table
from scipy import sparse

from purecover.exceptions import PurecoverWarning
from purecover.models import BaggedNetworks

N_NETWORKS = 10
DENSE = ((2_000, 20), (20_000, 20), (200_000, 20))
SPARSE = ((2_000, 500), (2_000, 20_000))


def world(n_rows: int, n_columns: int, wide: bool, seed: int) -> tuple[Any, Any]:
    """One row in ten labeled; every other feature shifted, or words in one cell of 200."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(n_rows) < n_rows // 10
    if wide:
        return sparse.random(n_rows, n_columns, density=0.005, format="csr", rng=rng), labeled
    positive = labeled | (rng.random(n_rows) < 0.2)
    features = rng.normal(size=(n_rows, n_columns))
    features[:, ::2] += 0.5 * positive[:, None]
    return features, labeled


def main() -> int:
    """Measure and print."""
    options = arguments(__doc__.splitlines()[0], replicates=1).parse_args()
    warnings.simplefilter("ignore", PurecoverWarning)  # of few networks: only their time counts
    lines = []
    for kind, shapes in (("dense", DENSE), ("sparse", SPARSE)):
        for n_rows, n_columns in shapes:
            progress(f"{kind} {n_rows} x {n_columns}")
            seconds, epochs = [], []
            for seed in range(options.seed, options.seed + options.replicates):
                features, labeled = world(n_rows, n_columns, kind == "sparse", seed)
                start = time.perf_counter()
                model = BaggedNetworks(N_NETWORKS, stratify=True, device="cpu", random_state=seed)
                epochs.append(model.fit(features, labeled).n_epochs_.mean())
                seconds.append(time.perf_counter() - start)
            taken = min(seconds)
            lines.append(
                [
                    f"{kind}, {n_rows:,} x {n_columns:,}",
                    f"{taken:.1f}",
                    f"{taken * 100 / N_NETWORKS:.0f}",
                    f"{np.mean(epochs):.0f}",
                ]
            )
    headers = ["table", f"s, {N_NETWORKS} networks", "s, 100 networks", "mean epochs"]
    body = table(headers, lines) + "\n\nOne thread; 100 networks by proportion."
    publish("networks_times", "Time of bagged networks", body, write=options.write)
    return conclude([])


if __name__ == "__main__":
    sys.exit(main())
