"""Where an ensemble is trained: NumPy on processor cores, or torch on any device it knows."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import bad_type, bad_value, check_integer, require, show
from purecover.models._bags import draw_bags
from purecover.models._batch import apply_batch, train_batch
from purecover.models._layers import Rows
from purecover.models._training import Training

BATCH = 50
"""Networks trained side by side on a core. Fixed, so that no result depends on their number."""
CACHE = 2**16
"""Values of an intermediate result on a processor, whose cache should hold it..."""
DEVICE_BLOCK = 2**27
"""...and on an accelerator, which wants much work at a time."""

_KINDS = ("cpu", "cuda", "mps", "xpu")


@dataclass(frozen=True)
class Ensemble:
    """Trained networks and what they say of the rows they have not seen.

    Attributes
    ----------
    weights : ndarray, shape (n_parameters, n_networks)
        Best weights, for rows standardized by all rows.
    epochs, losses : ndarray, shape (n_networks,)
        Steps before the best weights, and their validation loss.
    oob_sums, oob_counts : ndarray, shape (n_rows,)
        Sum of the outputs in [0, 1] of networks that have not seen a row, and their number.
    """

    weights: NDArray[Any]
    epochs: IntArray
    losses: FloatArray
    oob_sums: FloatArray
    oob_counts: IntArray


def check_device(function: str, device: object) -> str:
    """The device in torch's words, "numpy" for none, from what the user asks for."""
    must = "'auto', 'cpu', or a device of torch such as 'cuda', 'cuda:1' or 'torch:cpu'"
    if not isinstance(device, str):
        raise bad_type(function, "device", must, device)
    if device == "cpu":
        return "numpy"
    if device == "auto":
        return "cuda" if _has_cuda() else "numpy"
    if device.removeprefix("torch:").partition(":")[0] not in _KINDS:
        raise bad_value(function, "device", must, show(device))
    torch = require("torch", function=f"{function} with device={device!r}", extra="torch")
    name = device.removeprefix("torch:")
    try:
        found = torch.device(name)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        hint = "use device='cpu', or a torch built for this device on a machine that has it"
        raise bad_value(function, "device", must, show(device), hint) from error
    return str(found)


def check_jobs(function: str, n_jobs: object) -> None:
    """A number of threads as joblib takes it."""
    if n_jobs is not None and check_integer(function, "n_jobs", n_jobs, low=-(2**15)) == 0:
        raise bad_value(function, "n_jobs", "None or a whole number other than 0", "0")


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
    progress = _Progress(len(batches), on_progress)
    if device == "numpy":
        from sklearn.utils.parallel import Parallel, delayed
        from threadpoolctl import threadpool_limits

        rows = Rows(features, targets, CACHE)
        # Threads inside products as small as these only wait for one another.
        with threadpool_limits(1, user_api="blas"):
            parts = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(_train_numpy)(rows, batch, training, progress.of(index))
                for index, batch in enumerate(batches)
            )
    else:
        parts = [_train_torch(features, targets, seeds, training, device, progress.of(0))]
    return Ensemble(
        weights=np.concatenate([part.weights for part in parts], axis=1),
        epochs=np.concatenate([part.epochs for part in parts]),
        losses=np.concatenate([part.losses for part in parts]).astype(np.float64),
        oob_sums=np.sum([part.oob_sums for part in parts], axis=0, dtype=np.float64),
        oob_counts=np.sum([part.oob_counts for part in parts], axis=0).astype(np.int64),
    )


def targets_of(labeled: BoolArray, training: Training) -> FloatArray:
    """The output wished for at each row."""
    return np.where(labeled, 1.0, -1.0 if training.output == "tanh" else 0.0)


def _strata(targets: FloatArray, training: Training) -> BoolArray | None:
    """Which rows are labeled, where bags are to be drawn of both kinds apart."""
    return targets > 0 if training.stratify else None


def _train_numpy(
    rows: Rows,
    seeds: list[np.random.SeedSequence],
    training: Training,
    on_progress: Callable[[int], None] | None,
) -> Ensemble:
    n, d = rows.features.shape
    bags = draw_bags(seeds, n, d - 1, training, _strata(rows.targets, training))
    initial = bags.initial.astype(rows.features.dtype)
    trained = train_batch(
        rows, bags.train, bags.validation, initial, training, on_progress=on_progress
    )
    in_bag = bags.train | bags.validation
    sums, counts = apply_batch(rows, trained.weights, training, in_bag=in_bag)
    return Ensemble(trained.weights, trained.epochs, trained.losses, sums, counts)


def _train_torch(
    features: NDArray[Any],
    targets: FloatArray,
    seeds: list[np.random.SeedSequence],
    training: Training,
    device: str,
    on_progress: Callable[[int], None] | None,
) -> Ensemble:
    import torch

    n, d = features.shape
    bags = draw_bags(seeds, n, d - 1, training, _strata(targets, training))
    if device.startswith("cuda"):
        from purecover.models import _fused

        if _fused.can_train(d - 1, features.dtype, training):
            return _fused.train_one(features, targets, bags, training, device)
    block = CACHE if device == "cpu" else DEVICE_BLOCK

    def move(array: NDArray[Any]) -> Any:
        return torch.as_tensor(array, device=device)

    rows = Rows(move(features), move(targets), block)
    train, validation = move(bags.train), move(bags.validation)
    initial = move(bags.initial.astype(features.dtype))
    trained = train_batch(rows, train, validation, initial, training, on_progress=on_progress)
    sums, counts = apply_batch(rows, trained.weights, training, in_bag=train | validation)
    arrays = (trained.weights, trained.epochs, trained.losses, sums, counts)
    return Ensemble(*(array.cpu().numpy() for array in arrays))


class _Progress:
    """Adds up how many networks of each batch have stopped."""

    def __init__(self, batches: int, report: Callable[[int], None] | None) -> None:
        self._stopped = [0] * batches
        self._report = report

    def of(self, batch: int) -> Callable[[int], None] | None:
        report = self._report
        if report is None:
            return None

        def hear(stopped: int) -> None:
            self._stopped[batch] = stopped
            report(sum(self._stopped))

        return hear


def apply_ensemble(features: NDArray[Any], weights: NDArray[Any], training: Training) -> FloatArray:
    """Mean output in [0, 1] of all networks at each standardized row."""
    from threadpoolctl import threadpool_limits

    rows = Rows(features, np.empty(0, dtype=features.dtype), CACHE)
    with threadpool_limits(1, user_api="blas"):
        total = sum(
            apply_batch(rows, weights[:, start : start + BATCH], training)[0].astype(np.float64)
            for start in range(0, weights.shape[1], BATCH)
        )
    return np.asarray(total / weights.shape[1])
