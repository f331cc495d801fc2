"""Training and application of a batch of networks, each with its own bag."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from numpy.typing import NDArray

from purecover_paper.arrays import FloatArray, IntArray
from purecover_paper.networks.layers import (
    Array,
    BagScale,
    Rows,
    Workspace,
    activate,
    forward,
    gradient,
    probability,
)
from purecover_paper.networks.options import Training
from purecover_paper.networks.rprop import RpropState, rprop_step

GroupT = TypeVar("GroupT", BagScale, RpropState, "_Runner")

THIN_OUT = 0.8
"""Stopped networks leave the batch when fewer than this share of it still train."""


@dataclass(frozen=True)
class Trained:
    """Networks after training, the networks as last axis.

    Attributes
    ----------
    weights : array, shape (n_parameters, n_networks)
        Best weights, for rows standardized by the mean of all rows, not of a bag.
    epochs : array of int, shape (n_networks,)
        Steps before the best weights.
    losses : array, shape (n_networks,)
        Their validation loss.
    """

    weights: Array
    epochs: Array
    losses: Array


@dataclass(frozen=True)
class Ensemble:
    """Trained networks, and their outputs for rows out of their bags.

    Attributes
    ----------
    weights : ndarray, shape (n_parameters, n_networks)
        Best weights, for rows standardized by all rows.
    epochs, losses : ndarray, shape (n_networks,)
        Steps before the best weights, and their validation loss.
    oob_sums, oob_counts : ndarray, shape (n_rows,)
        Sum of the outputs in [0, 1] of networks without a row in their bag, and their number.
    """

    weights: NDArray[Any]
    epochs: IntArray
    losses: FloatArray
    oob_sums: FloatArray
    oob_counts: IntArray


@dataclass
class _Runner:
    """The networks that still train, and their best weights."""

    place: Array
    train: Array
    validation: Array
    weights: Array
    best: Array
    best_epoch: Array
    best_loss: Array
    failures: Array


def _some(xp: Any, group: GroupT, networks: Array) -> GroupT:
    """Return some of the networks of a group, the last axis of all its arrays."""
    arrays = {field.name: getattr(group, field.name) for field in fields(group)}
    return replace(
        group, **{name: xp.take(a, networks, axis=a.ndim - 1) for name, a in arrays.items()}
    )


def train_batch(
    rows: Rows,
    train: Array,
    validation: Array,
    initial: Array,
    training: Training,
    *,
    on_progress: Callable[[int], None] | None = None,
) -> Trained:
    """Train a network for each column of ``train``, ``validation`` and ``initial``.

    Before each step the validation loss is taken. A network whose loss was not below its best
    for ``patience`` epochs in a row has stopped; its best weights are kept. A stopped network
    leaves the batch. ``on_progress`` is called with the number of stopped networks.
    """
    xp, hidden = rows.xp, training.hidden
    device = rows.device
    n = initial.shape[1]
    scale = BagScale.of_bags(rows, train, validation)
    state = RpropState.first(xp, initial, training.constants)
    running = _Runner(
        place=xp.arange(n, device=device),
        train=train,
        validation=validation,
        weights=initial,
        best=scale.effective(xp, initial, hidden),
        best_epoch=xp.zeros(n, dtype=xp.int64, device=device),
        best_loss=xp.full_like(initial[0, :], float("inf")),
        failures=xp.zeros(n, dtype=xp.int64, device=device),
    )
    finished: list[_Runner] = []
    space = Workspace(rows, hidden, n)
    for epoch in range(training.max_epochs + 1):
        effective = scale.effective(xp, running.weights, hidden)
        slope, loss, held_out = gradient(
            space, running.train, running.validation, effective, training
        )
        # A stopped network may still be in the batch, and must not start again.
        better = (held_out < running.best_loss) & (running.failures < training.patience)
        running.best = xp.where(better, effective, running.best)
        running.best_epoch = xp.where(better, epoch, running.best_epoch)
        running.best_loss = xp.where(better, held_out, running.best_loss)
        running.failures = xp.where(better, 0, running.failures + 1)
        alive = running.failures < training.patience
        n_alive = 0 if epoch == training.max_epochs else int(xp.sum(xp.astype(alive, xp.int64)))
        if on_progress is not None:
            on_progress(n - n_alive)
        if n_alive == 0:
            finished.append(running)
            break
        if n_alive < THIN_OUT * alive.shape[0]:
            finished.append(_some(xp, running, xp.nonzero(~alive)[0]))
            keep = xp.nonzero(alive)[0]
            running, state = _some(xp, running, keep), _some(xp, state, keep)
            scale, space = _some(xp, scale, keep), Workspace(rows, hidden, n_alive)
            slope, loss = xp.take(slope, keep, axis=1), xp.take(loss, keep, axis=0)
        move = rprop_step(
            xp,
            state,
            scale.standardized(xp, slope, hidden),
            loss,
            rprop=training.rprop,
            constants=training.constants,
        )
        running.weights = running.weights + move
    return _in_order(xp, finished)


def _in_order(xp: Any, finished: list[_Runner]) -> Trained:
    """Return the networks in their original order."""
    order = xp.argsort(xp.concat([part.place for part in finished]))
    held = xp.concat(
        [xp.sum(xp.astype(part.validation, part.best.dtype), axis=0) for part in finished]
    )
    losses = xp.concat([part.best_loss for part in finished]) / held
    return Trained(
        weights=xp.take(xp.concat([part.best for part in finished], axis=1), order, axis=1),
        epochs=xp.take(xp.concat([part.best_epoch for part in finished]), order, axis=0),
        losses=xp.take(losses, order, axis=0),
    )


def apply_batch(
    rows: Rows, weights: Array, training: Training, *, in_bag: Array | None = None
) -> tuple[Array, Array]:
    """Return the sum of the outputs at each row, and the number of networks summed over.

    Outputs are shares in [0, 1]. With ``in_bag``, counts of rows by networks, only the networks
    that have not seen a row score it.
    """
    xp = rows.xp
    sums, sizes = [], []
    space = Workspace(rows, training.hidden, weights.shape[1])
    for part in rows.blocks(space.width):
        _, total = forward(space, rows.features[part, :], weights, training.hidden)
        values = probability(activate(xp, total, training), training)
        unseen = xp.ones_like(values)
        if in_bag is not None:
            unseen = xp.astype(in_bag[part, :] == 0, values.dtype)
        sums.append(xp.sum(values * unseen, axis=1))
        sizes.append(xp.sum(unseen, axis=1))
    return xp.concat(sums), xp.concat(sizes)
