"""Bagged networks on one processor core against scikit-learn's, and their memory on large tables.

Both train 100 networks of 5 hidden units on the same 11,000 rows of 16 features; CPU seconds of
one thread, in one run. scikit-learn's networks use Adam with early stopping, with their default
patience of 10 epochs and with the 25 of the paper. Beside it stands what the arithmetic would
take at the rates of this core, measured in the same run. Memory is the largest resident set of a
child process that trains 100 networks on 10^6 rows of 50 features for a few epochs.

``python -m studies.networks_speed`` ends with a failure if ours are not 10 times (patience 10)
and 30 times (25) as fast at an AUC no lower by more than 0.002, or if memory exceeds 8 GiB.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from studies._common import arguments, conclude, progress, publish, table
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from purecover import ScoreCounts
from purecover.models import BaggedNetworks
from purecover.recovery import auc_pu

N_LABELED, N_UNLABELED, N_FEATURES = 1000, 10_000, 16
WANTED = {10: 10.0, 25: 30.0}
"""Times faster than scikit-learn, by its patience."""
WORSE = 0.002
MEMORY = 8.0
LARGE_ROWS, LARGE_FEATURES, LARGE_EPOCHS = 10**6, 50, 2


def sample(seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Positives are a ring around the negatives in two features, shifted in others."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(N_LABELED + N_UNLABELED) < N_LABELED
    positive = labeled | (rng.random(labeled.size) < 0.25)
    features = rng.normal(size=(labeled.size, N_FEATURES))
    features[positive, :2] *= 1.6
    features[positive, 2:6] += 0.5
    order = rng.permutation(labeled.size)
    return features[order], labeled[order]


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """What it took, and what came out."""
    with threadpool_limits(1):
        start = time.process_time()
        result = work()
        return time.process_time() - start, result


def auc_of(scores: NDArray[Any], labeled: NDArray[np.bool_]) -> float:
    """AUC of labeled against unlabeled."""
    return float(auc_pu(ScoreCounts.from_scores(scores, labeled)))


def ours(features: NDArray[Any], labeled: NDArray[Any], networks: int, seed: int) -> Any:
    """Our networks, fitted."""
    model = BaggedNetworks(networks, device="cpu", random_state=seed)
    return model.fit(features, labeled)


def theirs(
    features: NDArray[Any], labeled: NDArray[Any], networks: int, patience: int, seed: int
) -> Any:
    """scikit-learn's networks in its bagging, fitted."""
    from sklearn.ensemble import BaggingClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPClassifier(
        (5,),
        early_stopping=True,
        validation_fraction=0.25,
        max_iter=500,
        n_iter_no_change=patience,
        random_state=seed,
    )
    bagging = BaggingClassifier(
        make_pipeline(StandardScaler(), network), networks, oob_score=True, random_state=seed
    )
    return bagging.fit(features, labeled)


def roofline(steps: NDArray[np.int64], rows: int) -> str:
    """Seconds of the arithmetic alone, at this core's rates for products and for tanh."""
    hidden = 5
    a = np.random.default_rng(0).normal(size=(512, 512)).astype(np.float32)
    values = np.random.default_rng(1).normal(size=2**15).astype(np.float32)
    product, _ = cpu_seconds(lambda: [a @ a for _ in range(100)])
    rate = 100 * 2 * 512**3 / product
    curve, _ = cpu_seconds(lambda: [np.tanh(values, out=values) for _ in range(500)])
    tanh = curve / (500 * values.size)
    visits = float(steps.sum()) * rows
    flops = visits * (4 * (N_FEATURES + 1) * hidden + 12 * hidden)
    seconds = flops / rate + visits * (hidden + 1) * tanh
    return (
        f"{flops / 1e9:.0f} Gflop at {rate / 1e9:.0f} Gflop/s and {visits * 6 / 1e6:.0f} million "
        f"tanh at {tanh * 1e9:.2f} ns: {seconds:.2f} s"
    )


def large(networks: int) -> None:
    """Train on a large table and print the largest memory in GiB."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(LARGE_ROWS, LARGE_FEATURES))
    labeled = rng.random(LARGE_ROWS) < 0.1
    features[labeled, :5] += 1.0
    model = BaggedNetworks(networks, max_epochs=LARGE_EPOCHS, device="cpu", random_state=0)
    model.fit(features, labeled)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{peak:.2f} {auc_of(model.oob_score_samples_, labeled):.3f}")


def main(argv: list[str] | None = None) -> int:
    """Run the study."""
    parser = arguments(__doc__.splitlines()[0], replicates=1)
    parser.add_argument("--networks", type=int, default=100, help="networks of an ensemble")
    parser.add_argument("--large", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--no-memory", action="store_true", help="leave the large table out")
    options = parser.parse_args(argv)
    if options.large:
        large(options.networks)
        return 0
    features, labeled = sample(options.seed)
    ours(features[:500], labeled[:500], 2, 0)  # load what is loaded once
    seconds, model = cpu_seconds(lambda: ours(features, labeled, options.networks, options.seed))
    training = 25
    steps = np.minimum(model.n_epochs_ + training, 500) + 1
    auc = auc_of(model.oob_score_samples_, labeled)
    lines = [["BaggedNetworks (patience 25)", f"{seconds:.2f}", "1", f"{auc:.4f}"]]
    failures = []
    for patience, wanted in WANTED.items():
        progress(f"scikit-learn, patience {patience}")
        theirs_seconds, bagging = cpu_seconds(
            lambda patience=patience: theirs(  # type: ignore[misc]
                features, labeled, options.networks, patience, options.seed
            )
        )
        theirs_auc = auc_of(bagging.oob_decision_function_[:, 1], labeled)
        ratio = theirs_seconds / seconds
        name = f"BaggingClassifier(MLPClassifier), patience {patience}"
        lines.append([name, f"{theirs_seconds:.1f}", f"{ratio:.0f}", f"{theirs_auc:.4f}"])
        if ratio < wanted:
            failures.append(f"{ratio:.1f} times as fast with patience {patience}, wanted {wanted}")
        if auc < theirs_auc - WORSE:
            failures.append(f"AUC {auc:.4f} below {theirs_auc:.4f} of patience {patience}")
    body = table(["what", "CPU s", "times ours", "out-of-bag AUC of L against U"], lines)
    body += (
        f"\n\n{options.networks} networks, {features.shape[0]:,} rows, {N_FEATURES} features, one "
        f"thread. Mean epochs of ours: {steps.mean():.0f}. Arithmetic alone, at the rates of this "
        f"core: {roofline(steps, features.shape[0])}."
    )
    if not options.no_memory:
        progress("memory on a large table")
        command = [sys.executable, "-m", "studies.networks_speed", "--large"]
        command += ["--networks", str(options.networks)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peak, large_auc = done.stdout.split()
        body += (
            f"\n\n{options.networks} networks on {LARGE_ROWS:,} x {LARGE_FEATURES} rows, "
            f"{LARGE_EPOCHS} epochs (memory does not grow with epochs): {peak} GiB at most, the "
            f"table itself included; AUC {large_auc}."
        )
        if float(peak) > MEMORY:
            failures.append(f"{peak} GiB, wanted at most {MEMORY}")
    publish("networks_speed", "Bagged networks on a processor", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
