"""Ensembles on a CUDA card, one or very many at a time, with the kernels of `kernels`.

What is drawn on the card comes from its own random numbers; what is drawn by NumPy for a single
ensemble is the same on all devices.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purecover_paper.arrays import FloatArray
from purecover_paper.networks.bags import Bags, weight_bounds
from purecover_paper.networks.batch import Ensemble
from purecover_paper.networks.layers import SCALE_OF_CONSTANTS, SMALLEST_SCALE
from purecover_paper.networks.options import Training

PRECISION = "tf32x3"
"""How products of 32-bit numbers are made: three passes of the matrix units keep 21 bits."""
APPLY_BLOCK = 128
"""Rows of a block when networks are applied."""
MOST_FEATURES = 256
MOST_HIDDEN = 32
LARGEST_COUNT = 15
"""Training and validation counts share a byte."""
_ROUNDING = 1e-6
"""Standard deviations below, of a table whose own are 1, are what rounding makes of constants."""


def can_train(n_features: int, dtype: Any, training: Training) -> bool:
    """Whether the kernels fit: 32-bit numbers, few features and units, and Triton is there."""
    return (
        np.dtype(dtype) == np.float32
        and n_features <= MOST_FEATURES
        and training.hidden <= MOST_HIDDEN
        and importlib.util.find_spec("triton") is not None
    )


@dataclass(frozen=True)
class Layout:
    """Shapes of the programs."""

    n_rows: int
    n_features: int
    n_networks: int
    training: Training

    @property
    def depth(self) -> int:
        """Features in memory: a power of 2, at least 16, as the matrix units want it."""
        return int(max(16, 1 << (self.n_features - 1).bit_length()))

    @property
    def width(self) -> int:
        """Hidden units of a program."""
        return 16 if self.training.hidden <= 16 else 32

    @property
    def block(self) -> int:
        """Rows of a block; like the warps, what was fastest on an H200."""
        return 64 if self.depth in {32, 64} else 32

    @property
    def warps(self) -> int:
        """Warps of a program."""
        return {16: 1, 32: 2, 64: 4, 128: 2}.get(self.depth, 4)

    @property
    def groups(self) -> int:
        """Programs of an ensemble."""
        per = self.width // self.training.hidden
        return -(-self.n_networks // per)


def train(
    features: Any, targets: Any, packed: Any, initial: Any, training: Training, n_features: int
) -> tuple[Any, Any, Any]:
    """Train ensembles: best weights, their epochs and losses (summed over held-out rows).

    Parameters
    ----------
    features : tensor, shape (n_ensembles, n_rows, depth)
        Standardized, ``n_features`` of them, the rest 0.
    targets : tensor, shape (n_ensembles, n_rows)
    packed : tensor of uint8, shape (n_ensembles, n_networks, n_rows)
        Training counts in the low, validation counts in the high four bits.
    initial : tensor, shape (n_ensembles, n_parameters, n_networks)
    """
    import torch

    from purecover_paper.networks import kernels

    # The kernels count on rows that follow one another.
    features, targets, packed, initial = (
        each.contiguous() for each in (features, targets, packed, initial)
    )
    n_ensembles, n_networks, n_rows = packed.shape
    layout = Layout(n_rows, n_features, n_networks, training)
    best = torch.empty_like(initial)
    epochs = torch.empty((n_ensembles, n_networks), dtype=torch.int32, device=packed.device)
    losses = torch.empty((n_ensembles, n_networks), dtype=torch.float32, device=packed.device)
    constants = training.constants
    means, inverses = bag_scale(features[:, :, :n_features], packed)
    kernels.train_kernel[(n_ensembles * layout.groups,)](
        features, targets, packed, means, inverses, initial, best, epochs, losses,
        n_rows, n_networks, n_features, layout.groups,
        constants.grow, constants.shrink, constants.first, constants.smallest, constants.largest,
        training.max_epochs, training.patience,
        HIDDEN=training.hidden, WIDTH=layout.width, DEPTH=layout.depth, BLOCK=layout.block,
        VARIANT=kernels.VARIANTS[training.rprop], LOGISTIC=training.output == "logistic",
        ENTROPY=training.loss == "cross-entropy", PRECISION=PRECISION, num_warps=layout.warps,
    )  # fmt: skip
    return best, epochs, losses


def bag_scale(features: Any, packed: Any) -> tuple[Any, Any]:
    """Mean and inverse standard deviation of each bag (ensembles, features, networks).

    In 64 bits: one row far from all others leaves few of 32 bits to distinguish the others.
    """
    import torch

    means, inverses = [], []
    for x, counts in zip(features.double(), packed, strict=True):
        seen = ((counts & 15) + (counts >> 4)).double()
        size = seen.sum(dim=1)
        mean = x.T @ seen.T / size
        spread = (x.T.square() @ seen.T - size * mean.square()) / (size - 1)
        deviation = spread.clamp(min=0).sqrt()
        deviation[deviation < SMALLEST_SCALE] = SCALE_OF_CONSTANTS
        means.append(mean)
        inverses.append(1 / deviation)
    return torch.stack(means).float(), torch.stack(inverses).float()


def out_of_bag(
    features: Any, packed: Any, weights: Any, training: Training, n_features: int
) -> tuple[Any, Any]:
    """Sums and numbers of out-of-bag outputs at each row of each ensemble."""
    import torch

    from purecover_paper.networks import kernels

    n_ensembles, n_networks, n_rows = packed.shape
    layout = Layout(n_rows, n_features, n_networks, training)
    features, packed, weights = (each.contiguous() for each in (features, packed, weights))
    block = APPLY_BLOCK if layout.depth < 128 else APPLY_BLOCK // 2
    sums = torch.empty((n_ensembles, n_rows), dtype=torch.float32, device=packed.device)
    sizes = torch.empty((n_ensembles, n_rows), dtype=torch.int32, device=packed.device)
    kernels.apply_kernel[(-(-n_rows // block), n_ensembles)](
        features, packed, weights, sums, sizes, n_rows, n_networks, n_features, layout.groups,
        HIDDEN=training.hidden, WIDTH=layout.width, DEPTH=layout.depth, BLOCK=block,
        LOGISTIC=training.output == "logistic", PRECISION=PRECISION, num_warps=4,
    )  # fmt: skip
    return sums, sizes


def train_one(
    features: NDArray[Any], targets: FloatArray, bags: Bags, training: Training, device: str
) -> Ensemble:
    """One ensemble whose bags were drawn by NumPy."""
    import torch

    n, d = features.shape[0], features.shape[1] - 1  # the last column is that of ones
    layout = Layout(n, d, bags.train.shape[1], training)
    padded = np.zeros((1, n, layout.depth), dtype=np.float32)
    padded[0, :, :d] = features[:, :-1]
    packed = pack(bags)

    def move(array: NDArray[Any]) -> Any:
        return torch.as_tensor(np.ascontiguousarray(array), device=device)

    rows, counts = move(padded), move(packed.T[None])
    initial = move(bags.initial.astype(np.float32)[None])
    with torch.cuda.device_of(rows):
        wished = move(targets.astype(np.float32)[None])
        best, epochs, losses = train(rows, wished, counts, initial, training, d)
        sums, sizes = out_of_bag(rows, counts, best, training, d)
    held = np.sum(packed >> 4, axis=0, dtype=np.int64)
    return Ensemble(
        best[0].cpu().numpy(),
        epochs[0].cpu().numpy().astype(np.int64),
        losses[0].cpu().numpy() / held,
        sums[0].cpu().numpy().astype(np.float64),
        sizes[0].cpu().numpy().astype(np.int64),
    )


def draw(seeds: Any, n_networks: int, n_rows: int, training: Training) -> Any:
    """Bags drawn on the card, packed (ensembles, networks, rows).

    ``seeds`` is a tensor of int64 of shape (n_ensembles, 2) on the card; the bags of an
    ensemble depend on its own two alone.
    """
    import torch

    from purecover_paper.networks import kernels

    shape = (len(seeds), n_networks, n_rows)
    drawn = torch.zeros(shape, dtype=torch.int32, device=seeds.device)
    programs = (len(seeds) * n_networks,)
    positions = training.split == "positions"
    held = round(training.validation_fraction * n_rows) if positions else 0
    kernels.draw_kernel[programs](drawn, seeds, n_rows, n_networks, held, BLOCK=1024)
    if positions:
        return drawn.clamp_(max=255).to(torch.uint8)
    packed = torch.empty(shape, dtype=torch.uint8, device=seeds.device)
    kernels.hold_out_kernel[programs](
        drawn, packed, seeds, n_rows, n_networks, training.validation_fraction, BLOCK=1024
    )
    return packed


def prepare(
    table: Any, rows: Any, labeled: Any, seeds: Any, n_networks: int, training: Training
) -> tuple[Any, Any, Any, Any]:
    """Return the arguments of `train` for ensembles on subsets of the rows of one table.

    Parameters
    ----------
    table : tensor of float32, shape (n_table, n_features)
    rows : tensor of int64, shape (n_ensembles, n_rows)
        The rows of the table that each ensemble sees.
    labeled : tensor of bool, shape (n_ensembles, n_rows)
    seeds : ndarray of int64, shape (n_ensembles, 3)
        What chance decides about an ensemble depends on its own three alone.
    """
    import torch

    n_ensembles, n_rows = rows.shape
    d = table.shape[1]
    layout = Layout(n_rows, d, n_networks, training)
    device = table.device
    values = table[rows]
    values -= values.mean(dim=1, keepdim=True)
    scale = values.square().mean(dim=1, keepdim=True).sqrt()
    features = torch.zeros((n_ensembles, n_rows, layout.depth), device=device)
    features[:, :, :d] = values / torch.where(scale <= _ROUNDING, torch.inf, scale)
    targets = torch.where(labeled, 1.0, -1.0 if training.output == "tanh" else 0.0)
    initial = torch.empty((n_ensembles, training.n_parameters(d), n_networks), device=device)
    generator = torch.Generator(device=device)
    for part, seed in zip(initial, seeds[:, 2].tolist(), strict=True):
        part.uniform_(-1, 1, generator=generator.manual_seed(seed))
    into_hidden, into_output = weight_bounds(d, training.hidden)
    inner = (d + 1) * training.hidden
    initial[:, :inner] *= into_hidden
    initial[:, inner:] *= into_output
    own = torch.as_tensor(np.ascontiguousarray(seeds[:, :2]), device=device)
    packed = draw(own, n_networks, n_rows, training)
    return features, targets, packed, initial


def score_many(
    table: Any, rows: Any, labeled: Any, seeds: Any, n_networks: int, training: Training
) -> tuple[Any, Any]:
    """Out-of-bag sums and numbers of the ensembles that `prepare` describes."""
    features, targets, packed, initial = prepare(table, rows, labeled, seeds, n_networks, training)
    best, _, _ = train(features, targets, packed, initial, training, table.shape[1])
    return out_of_bag(features, packed, best, training, table.shape[1])


def pack(bags: Bags) -> NDArray[np.uint8]:
    """Training counts in the low, validation counts in the high four bits.

    More than 15 draws of one row happen once in 10^13 rows; they count as 15.
    """
    train, validation = (np.minimum(part, LARGEST_COUNT) for part in (bags.train, bags.validation))
    return np.asarray(train | (validation << 4), dtype=np.uint8)
