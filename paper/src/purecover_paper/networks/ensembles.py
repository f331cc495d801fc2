"""Ensembles of networks, trained with NumPy on processor cores or with torch on any device."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from purecover_paper.arguments import bad_type, bad_value, check_jobs, require, show, warn
from purecover_paper.arrays import BoolArray, FloatArray
from purecover_paper.networks.bags import draw_bags
from purecover_paper.networks.batch import Ensemble, apply_batch, train_batch
from purecover_paper.networks.layers import Rows
from purecover_paper.networks.options import Training

BATCH = 50
"""Networks trained side by side on a core. Fixed, so that no result depends on their number."""
CACHE = 2**16
"""Values of an intermediate result on a processor, whose cache should hold it..."""
DEVICE_BLOCK = 2**27
"""...and on an accelerator, which wants much work at a time."""

_KINDS = ("cpu", "cuda", "mps", "xpu")


def check_device(device: object) -> str:
    """Return the name of the device in torch, or "numpy" for computation without torch."""
    must = "'auto', 'cpu', or a device of torch such as 'cuda', 'cuda:1' or 'torch:cpu'"
    if not isinstance(device, str):
        raise bad_type("device", must, device)
    if device == "cpu":
        return "numpy"
    if device == "auto":
        return "cuda" if _has_cuda() else "numpy"
    if device.removeprefix("torch:").partition(":")[0] not in _KINDS:
        raise bad_value("device", must, show(device))
    torch = require("torch", install="torch", by=f"{{function}} with {device=!r}")
    name = device.removeprefix("torch:")
    try:
        found = torch.device(name)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        hint = "use device='cpu', or a torch built for this device on a machine that has it"
        raise bad_value("device", must, show(device), hint) from error
    return str(found)


def _has_cuda() -> bool:
    # Loading torch takes seconds: look for a card and for torch first.
    if importlib.util.find_spec("torch") is None or not any(Path("/dev").glob("nvidia[0-9]*")):
        return False
    import torch

    return bool(torch.cuda.is_available())


def train_ensemble(
    features: NDArray[Any],
    labeled: BoolArray,
    seeds: list[np.random.SeedSequence],
    training: Training,
    *,
    device: str = "numpy",
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Ensemble:
    """Train a network per seed on standardized rows with a last column of ones."""
    targets = targets_of(labeled, training).astype(features.dtype)
    size = BATCH if device == "numpy" else len(seeds)
    batches = [seeds[start : start + size] for start in range(0, len(seeds), size)]
    stopped = [0] * len(batches)

    def count(index: int, n_stopped: int) -> None:
        stopped[index] = n_stopped
        if on_progress is not None:
            on_progress(sum(stopped))

    # Threads inside products as small as those of a batch only wait for one another.
    workers = check_jobs(n_jobs, len(batches)) if device == "numpy" else 1
    with threadpool_limits(1, user_api="blas") if device == "numpy" else nullcontext():
        parts = Parallel(n_jobs=workers, prefer="threads")(
            delayed(train_part)(features, targets, batch, training, device, partial(count, index))
            for index, batch in enumerate(batches)
        )
    return Ensemble(
        weights=np.concatenate([part.weights for part in parts], axis=1),
        epochs=np.concatenate([part.epochs for part in parts]),
        losses=np.concatenate([part.losses for part in parts]).astype(np.float64),
        oob_sums=np.sum([part.oob_sums for part in parts], axis=0, dtype=np.float64),
        oob_counts=np.sum([part.oob_counts for part in parts], axis=0).astype(np.int64),
    )


def targets_of(labeled: BoolArray, training: Training) -> FloatArray:
    """Return the target of the output at each row."""
    return np.where(labeled, 1.0, -1.0 if training.output == "tanh" else 0.0)


def train_part(
    features: NDArray[Any],
    targets: FloatArray,
    seeds: list[np.random.SeedSequence],
    training: Training,
    device: str = "numpy",
    on_progress: Callable[[int], None] | None = None,
) -> Ensemble:
    """Train a network per seed as one computation."""
    n, d = features.shape
    bags = draw_bags(seeds, n, d - 1, training, targets > 0 if training.stratify else None)
    move: Callable[[NDArray[Any]], Any] = np.asarray
    block = CACHE
    if device != "numpy":
        import torch

        if device.startswith("cuda"):
            from purecover_paper.networks import cuda

            if cuda.can_train(d - 1, features.dtype, training):
                return cuda.train_one(features, targets, bags, training, device)
        move = partial(torch.as_tensor, device=device)
        block = CACHE if device == "cpu" else DEVICE_BLOCK
    rows = Rows(move(features), move(targets), block)
    train, validation = move(bags.train), move(bags.validation)
    initial = move(bags.initial.astype(features.dtype))
    trained = train_batch(rows, train, validation, initial, training, on_progress=on_progress)
    sums, counts = apply_batch(rows, trained.weights, training, in_bag=train | validation)
    arrays = (trained.weights, trained.epochs, trained.losses, sums, counts)
    return Ensemble(*(array if device == "numpy" else array.cpu().numpy() for array in arrays))


def apply_ensemble(features: NDArray[Any], weights: NDArray[Any], training: Training) -> FloatArray:
    """Return the mean output in [0, 1] of all networks at each standardized row."""
    rows = Rows(features, np.empty(0, dtype=features.dtype), CACHE)
    with threadpool_limits(1, user_api="blas"):
        total = sum(
            apply_batch(rows, weights[:, start : start + BATCH], training)[0].astype(np.float64)
            for start in range(0, weights.shape[1], BATCH)
        )
    return np.asarray(total / weights.shape[1])


def check_sides(parameter: str, labeled: BoolArray) -> None:
    """Raise unless there are at least two labeled and two unlabeled rows."""
    for side, size in (("labeled", int(labeled.sum())), ("unlabeled", int((~labeled).sum()))):
        if size == 1:
            must = f"{side} in two rows or more: a bag without the only one has none"
            hint = "get more labels; from a handful on, stratify=True gives the fairest scores"
            raise bad_value(parameter, must, f"1 {side} row of {labeled.size}", hint)


def mean_scores(sums: FloatArray, counts: Any) -> FloatArray:
    """Return mean outputs out of bag; a row that is in every bag gets the mean of the others."""
    never = counts == 0
    scores = sums / np.where(never, 1, counts)
    if never.any():
        some = not never.all()
        scores[never] = scores[~never].mean() if some else 0.5
        warn(
            f"{int(never.sum())} of {never.size} rows are in the bag of every network, so that "
            f"nothing is known about them; their score is {'the mean score' if some else '0.5'}."
            "\nHint: more networks (n_estimators=) leave no such rows."
        )
    return np.asarray(scores, dtype=np.float64)
