"""Train the network of DistCurve on simulated distance curves.

Each curve comes from two samples of a random size, drawn from a random pair of densities: beta
densities, normal densities, mixtures of normal ones, Laplace densities; well apart or hardly so;
with clean labels or not; with or without ties. The network learns the inclusion a that the
labels and densities imply, which is alpha if labels are clean and the best scores pure. The
choice of these pairs is the network's prior: it was made before any data set was looked at.

Run ``python paper/tools/train_dist_curve.py`` (a few minutes of one core); ``--curves N`` for
fewer, ``--out FOLDER`` to write somewhere else. It writes dist_curve.npz, plain arrays, and the
training log, dist_curve.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPRegressor

from purecover import ScoreCounts
from purecover_paper.systems.dist_curve import (
    N_POINTS,
    N_QUANTILES,
    Network,
    distance_quantiles,
    draw_orders,
    sample_points,
)

FloatArray = NDArray[np.float64]

FOLDER = Path(__file__).parents[1] / "src" / "purecover_paper" / "systems" / "data"
SEED = 0
N_CURVES = 50_000
N_AVERAGED = 10
LAYERS = (32, 32, 32)
N_EPOCHS = 60
BATCH_SIZE = 256
LEARNING_RATE = 1e-3
CHUNK = 100


class Pair(NamedTuple):
    """Draws of positives and of negatives, and the least ratio of the densities, f0 / f1."""

    positive: FloatArray
    negative: FloatArray
    least: float


def beta_pair(rng: np.random.Generator, n_positive: int, n_negative: int) -> Pair:
    """Beta densities, from broad to very narrow."""
    top = rng.choice([5.0, 100.0, 1000.0])
    a0 = rng.uniform(1, top)
    a1 = rng.uniform(a0, a0 + top)
    b0, b1 = rng.uniform(max(1.0, top / 50), 0.6 * top + 2, size=2)
    more_a, more_b = a1 - a0, b1 - b0
    least = 0.0
    if more_a > 0 and more_b > 0:  # the ratio is least between the ends
        from scipy.special import betaln

        x = more_a / (more_a + more_b)
        ratio = betaln(a1, b1) - betaln(a0, b0) - more_a * np.log(x) - more_b * np.log1p(-x)
        least = float(np.exp(min(0.0, ratio)))
    return Pair(rng.beta(a1, b1, n_positive), rng.beta(a0, b0, n_negative), least)


def normal_pair(rng: np.random.Generator, n_positive: int, n_negative: int) -> Pair:
    """Normal densities of the same width."""
    apart = rng.uniform(0.5, 6)
    return Pair(rng.normal(apart, 1, n_positive), rng.normal(0, 1, n_negative), 0.0)


def laplace_pair(rng: np.random.Generator, n_positive: int, n_negative: int) -> Pair:
    """Laplace densities, whose ratio never reaches 0."""
    apart = rng.uniform(1, 8)
    positive = rng.laplace(apart, 1, n_positive)
    return Pair(positive, rng.laplace(0, 1, n_negative), float(np.exp(-apart)))


def mixture_pair(rng: np.random.Generator, n_positive: int, n_negative: int) -> Pair:
    """Mixtures of up to three normal densities each; the topmost one is positive."""
    sides = []
    for n, at in ((n_positive, rng.uniform(0, 4)), (n_negative, 0.0)):
        k = rng.integers(1, 4)
        sides.append((rng.normal(at, 1.2, k), rng.multinomial(n, rng.dirichlet(np.ones(k)))))
    (up, n_up), (down, n_down) = sides
    if up.max() < down.max():
        up[np.argmax(up)] = down.max() + rng.uniform(0.3, 3)
    return Pair(rng.normal(np.repeat(up, n_up), 1), rng.normal(np.repeat(down, n_down), 1), 0.0)


FAMILIES = (beta_pair, normal_pair, laplace_pair, mixture_pair)
SHARES = (0.4, 0.25, 0.1, 0.25)


def simulated(rng: np.random.Generator) -> tuple[ScoreCounts, float]:
    """Counts of two samples and the inclusion they should give."""
    n_labeled = int(np.exp(rng.uniform(np.log(50), np.log(5000))))
    n_unlabeled = int(np.exp(rng.uniform(np.log(200), np.log(10_000))))
    if rng.random() < 0.15:
        n_labeled, n_unlabeled = n_unlabeled, n_labeled
    beta = rng.uniform(0.2, 1) if rng.random() < 0.25 else 1.0
    alpha = beta * (rng.uniform(0, 0.02) if rng.random() < 0.1 else rng.uniform(0, 1))
    in_labeled = int(rng.binomial(n_labeled, beta))
    in_unlabeled = int(rng.binomial(n_unlabeled, alpha))
    n_positive = in_labeled + in_unlabeled
    n_negative = n_labeled + n_unlabeled - n_positive
    family = FAMILIES[rng.choice(len(FAMILIES), p=SHARES)]
    pair = family(rng, n_positive, n_negative)
    scores = np.concatenate(pair[:2])
    if rng.random() < 0.1:  # ties
        scores = np.round(scores * rng.uniform(10, 200) / np.ptp(scores))
    labeled = np.zeros(scores.size, dtype=bool)
    labeled[:in_labeled] = True
    labeled[n_positive : n_positive + n_labeled - in_labeled] = True
    least = pair.least
    target = (alpha + (1 - alpha) * least) / (beta + (1 - beta) * least)
    return ScoreCounts.from_scores(scores, labeled), target


def training_set(n_curves: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Curves and targets; shows progress."""
    curves, targets = np.empty((n_curves, N_QUANTILES)), np.empty(n_curves)
    for start in range(0, n_curves, CHUNK):
        stop = min(start + CHUNK, n_curves)
        points = np.empty((2, stop - start, N_POINTS))
        for i in range(start, stop):
            counts, targets[i] = simulated(rng)
            few, many = sample_points(counts.labeled[None], counts.unlabeled[None])
            points[:, i - start] = few[0], many[0]
        # Other orders for each chunk, so that the network cannot learn one by heart.
        orders = draw_orders(N_AVERAGED, rng)
        curves[start:stop] = distance_quantiles(points[0], points[1], orders)
        if start % (50 * CHUNK) == 0:
            print(f"curve {start} of {n_curves}", flush=True)
    return curves, targets


def trained(
    curves: FloatArray, targets: FloatArray, n_epochs: int
) -> tuple[Network, dict[str, object]]:
    """The network of the epoch with the least error on a tenth kept aside, and the log."""
    n_kept = max(1, len(curves) // 10)
    kept, kept_targets = curves[:n_kept], targets[:n_kept]
    curves, targets = curves[n_kept:], targets[n_kept:]
    center, scale = curves.mean(axis=0), curves.std(axis=0) + 1e-9
    model = MLPRegressor(
        hidden_layer_sizes=LAYERS,
        batch_size=min(BATCH_SIZE, len(curves)),
        learning_rate_init=LEARNING_RATE,
        random_state=SEED,
    )
    losses: list[float] = []
    errors: list[float] = []
    best: Network | None = None
    for epoch in range(n_epochs):
        model.partial_fit((curves - center) / scale, targets)
        # In single precision, which is what is kept.
        weights = tuple(w.astype(np.float32).astype(np.float64) for w in model.coefs_)
        biases = tuple(b.astype(np.float32).astype(np.float64) for b in model.intercepts_)
        network = Network(center, scale, weights, biases)
        errors.append(float(np.mean(np.abs(network(kept) - kept_targets))))
        losses.append(float(model.loss_))
        if best is None or errors[-1] <= min(errors[:-1]):
            best = network
        print(f"epoch {epoch + 1}: loss {losses[-1]:.5f}, validation error {errors[-1]:.4f}")
    if best is None:
        raise SystemExit("at least one epoch is needed")
    log: dict[str, object] = {
        "curves": len(curves),
        "validation_curves": n_kept,
        "layers": [N_QUANTILES, *LAYERS, 1],
        "seed": SEED,
        "best_epoch": int(np.argmin(errors)) + 1,
        "validation_mean_absolute_error": round(min(errors), 5),
        "half_squared_error_by_epoch": [round(loss, 6) for loss in losses],
        "validation_mean_absolute_error_by_epoch": [round(error, 5) for error in errors],
    }
    return best, log


def main() -> None:
    """Write dist_curve.npz and dist_curve.json."""
    parser = argparse.ArgumentParser(description="Train the network of DistCurve.")
    parser.add_argument("--curves", type=int, default=N_CURVES, metavar="N")
    parser.add_argument("--epochs", type=int, default=N_EPOCHS, metavar="N")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    given = parser.parse_args()

    curves, targets = training_set(given.curves, np.random.default_rng(SEED))
    network, log = trained(curves, targets, given.epochs)
    arrays = {"center": network.center, "scale": network.scale}
    for i, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        arrays[f"weight{i}"], arrays[f"bias{i}"] = weight, bias
    single = {name: array.astype(np.float32) for name, array in arrays.items()}
    np.savez(given.out / "dist_curve.npz", **single)  # type: ignore[arg-type]
    words = json.dumps(log, indent=2) + "\n"
    (given.out / "dist_curve.json").write_text(words, encoding="utf-8")
    print(f"wrote dist_curve.npz and dist_curve.json to {given.out}")


if __name__ == "__main__":
    main()
