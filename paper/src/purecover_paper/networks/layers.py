r"""Layers of many small networks as one computation: outputs and gradients.

The hidden layers stand side by side, so that one product with the rows serves all networks:
network b with h hidden units gives

.. math:: o_b(x) = \varphi\Big(c_b + \sum_j v_{jb} \tanh\big(w_{jb}^\top z_b(x) + u_{jb}\big)\Big),

where z_b standardizes the features by mean and standard deviation of bag b. That map is affine,
so it is moved into the weights and all networks share one matrix of rows; gradients move back by
the chain rule. Bags are counts, which weigh the rows of the loss.

All weights of a network are one column: hidden weights by unit and feature (the bias belongs to a
last feature that is always 1), then those into the output, then the output's bias. Rows are taken
in blocks, so that intermediate results stay in the processor's cache. Written in the names of the
array API standard, for NumPy and torch; the networks are the last axis throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from purecover_paper.networks.options import Training

Array: TypeAlias = Any
"""An array of NumPy or of torch."""

SMALLEST_SCALE = 1e-9
"""A smaller standard deviation in a bag, that of all rows being 1, means a constant feature..."""
SCALE_OF_CONSTANTS = 1000.0
"""...and is replaced by this, so that the feature has no effect."""


@dataclass(frozen=True)
class Rows:
    """The rows that all networks share.

    Attributes
    ----------
    features : array, shape (n_rows, n_features + 1)
        Standardized features, and a last column of ones.
    targets : array, shape (n_rows,)
        Target of the output: 1 for labeled rows, for others 0 or, of tanh units, -1.
    block : int
        About how many values an intermediate result may have.
    """

    features: Array
    targets: Array
    block: int

    @property
    def xp(self) -> Any:
        """The array library of the rows."""
        from array_api_compat import array_namespace

        return array_namespace(self.features)

    @property
    def device(self) -> Any:
        """The device of the rows."""
        from array_api_compat import device

        return device(self.features)

    def blocks(self, width: int) -> Iterator[slice]:
        """Yield slices of rows whose intermediate results have ``width`` columns."""
        size = max(self.block // width, 1)
        for start in range(0, self.features.shape[0], size):
            yield slice(start, start + size)


@dataclass(frozen=True)
class BagScale:
    """Mean and inverse standard deviation of the features in each bag (features, bags)."""

    mean: Array
    inverse: Array

    @classmethod
    def of_bags(cls, rows: Rows, train: Array, validation: Array) -> BagScale:
        """Compute the moments of each bag, with the rows held out.

        In double precision where there is one: a row far from all others, and not in the bag,
        leaves so little scale to the rest that the difference of two sums would lose it.
        """
        xp, dtype = rows.xp, rows.features.dtype
        wide = dtype if getattr(rows.device, "type", "") == "mps" else xp.float64
        first: Array = 0.0
        second: Array = 0.0
        for part in rows.blocks(train.shape[1]):
            turned = xp.astype(xp.matrix_transpose(rows.features[part, :]), wide)
            counts = xp.astype(train[part, :] + validation[part, :], wide)
            first = first + xp.matmul(turned, counts)
            second = second + xp.matmul(turned * turned, counts)
        size = first[-1:, :]  # the last feature is always 1
        mean = first / size
        scale = xp.sqrt(xp.clip((second - first * mean) / (size - 1), min=0.0))
        constant = xp.full_like(scale, SCALE_OF_CONSTANTS)
        inverse = 1 / xp.where(scale < SMALLEST_SCALE, constant, scale)
        mean[-1, :], inverse[-1, :] = 0.0, 1.0
        return cls(xp.astype(mean, dtype), xp.astype(inverse, dtype))

    def effective(self, xp: Any, weights: Array, hidden: int) -> Array:
        """Return weights for unscaled rows that equal ``weights`` for rows on the bag's scale."""
        inner, outer = split_weights(xp, weights, hidden)
        scaled = inner * self.inverse
        scaled[:, -1, :] -= xp.sum(scaled * self.mean, axis=1)
        return join_weights(xp, scaled, outer)

    def standardized(self, xp: Any, gradient: Array, hidden: int) -> Array:
        """Return the gradient by weights on the bag's scale, from that by effective weights."""
        inner, outer = split_weights(xp, gradient, hidden)
        return join_weights(xp, (inner - self.mean * inner[:, -1:, :]) * self.inverse, outer)


def split_weights(xp: Any, weights: Array, hidden: int) -> tuple[Array, Array]:
    """Return hidden weights (units, features, networks), and weights and bias of the output."""
    end = weights.shape[0] - hidden - 1
    inner = xp.reshape(weights[:end, :], (hidden, end // hidden, weights.shape[1]))
    return inner, weights[end:, :]


def join_weights(xp: Any, inner: Array, outer: Array) -> Array:
    """The inverse of `split_weights`."""
    return xp.concat([xp.reshape(inner, (-1, inner.shape[2])), outer])


class Workspace:
    """Memory for intermediate results, used again for every block of rows.

    Fresh memory for each would cost more than the arithmetic.
    """

    def __init__(self, rows: Rows, hidden: int, networks: int) -> None:
        self.xp = rows.xp
        self.rows = rows
        self.width = hidden * networks
        size = min(max(rows.block // self.width, 1), rows.features.shape[0])
        shape, dtype = (hidden, size, networks), rows.features.dtype
        self.units, self.scratch = (
            self.xp.empty(shape, dtype=dtype, device=rows.device) for _ in range(2)
        )

    def room(self, buffer: Array, size: int) -> Array:
        """Return the part of ``units`` or ``scratch`` (units, rows, networks) that a block needs.

        It is contiguous, because products write into nothing else.
        """
        hidden, _, networks = buffer.shape
        flat = self.xp.reshape(buffer, (-1,))[: hidden * size * networks]
        return self.xp.reshape(flat, (hidden, size, networks))


def into(xp: Any, out: Array, function: str, *arrays: Array) -> Array:
    """Write ``function`` of the arrays to ``out``, with NumPy or torch."""
    return getattr(xp, function)(*arrays, out=out)


def forward(space: Workspace, x: Array, weights: Array, hidden: int) -> tuple[Array, Array]:
    """Return hidden values (units, rows, networks) and inputs of the outputs (rows, networks)."""
    xp, size = space.xp, x.shape[0]
    inner, outer = split_weights(xp, weights, hidden)
    units = into(xp, space.room(space.units, size), "matmul", x, inner)
    into(xp, units, "tanh", units)
    weighted = into(xp, space.room(space.scratch, size), "multiply", units, outer[:hidden, None, :])
    return units, xp.sum(weighted, axis=0) + outer[hidden, :]


def activate(xp: Any, total: Array, training: Training) -> Array:
    """Return the outputs: in [-1, 1] of tanh units, in [0, 1] of logistic units."""
    if training.output == "tanh":
        return xp.tanh(total)
    return 0.5 + 0.5 * xp.tanh(0.5 * total)


def probability(output: Array, training: Training) -> Array:
    """Return the outputs as shares in [0, 1]."""
    return 0.5 + 0.5 * output if training.output == "tanh" else output


def loss_and_slope(
    xp: Any, total: Array, targets: Array, training: Training
) -> tuple[Array, Array]:
    """Return the loss of each row and network, and its slope by the input of the output unit.

    Slopes are correct up to a positive constant, because Rprop uses signs only.
    """
    output = activate(xp, total, training)
    error = output - targets
    if training.loss == "squared":
        steepness = 1 - output * output if training.output == "tanh" else output * (1 - output)
        return error * error, error * steepness
    # log(1 + exp(-m)) of the margin m; a tanh unit is a logistic one of twice its input.
    margin = total * (2 * targets if training.output == "tanh" else 2 * targets - 1)
    return xp.log1p(xp.exp(-xp.abs(margin))) + xp.clip(-margin, min=0.0), error


def gradient(
    space: Workspace, train: Array, validation: Array, weights: Array, training: Training
) -> tuple[Array, Array, Array]:
    """Return the gradient of the training loss (up to a constant), and both losses summed.

    With hidden values a and slopes s of the counted loss, the sums over rows are s of the
    output's bias, s a of its weights v, and v s (1 - a^2) x of the hidden weights; v is the same
    in all rows and waits until after the sum.
    """
    xp, rows, hidden = space.xp, space.rows, training.hidden
    zero: Array = 0.0
    inner = outer = bias = loss = held_out = zero
    for part in rows.blocks(space.width):
        x = rows.features[part, :]
        turned = xp.matrix_transpose(x)
        ones = turned[-1:, :]  # the last feature is always 1: sums as products are quicker
        units, total = forward(space, x, weights, hidden)
        losses, slope = loss_and_slope(xp, total, rows.targets[part, None], training)
        counts = xp.astype(train[part, :], x.dtype)
        slope *= counts
        loss = loss + xp.matmul(ones, counts * losses)[0, :]
        held = xp.astype(validation[part, :], x.dtype)
        held_out = held_out + xp.matmul(ones, held * losses)[0, :]
        bias = bias + xp.matmul(ones, slope)
        weighted = into(xp, space.room(space.scratch, x.shape[0]), "multiply", units, slope)
        outer = outer + xp.matmul(ones, weighted)[:, 0, :]
        into(xp, weighted, "multiply", weighted, units)
        into(xp, weighted, "subtract", slope, weighted)
        inner = inner + xp.matmul(turned, weighted)
    _, v = split_weights(xp, weights, hidden)
    outer = xp.concat([outer, bias])
    return join_weights(xp, inner * v[:hidden, None, :], outer), loss, held_out
