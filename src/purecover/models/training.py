r"""How the networks of an ensemble are trained: bags, layers, Rprop, and batches of networks.

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

Each weight has a step of its own, which grows while its gradient keeps its sign and shrinks when
the sign changes. The four variants differ in what a weight does on a change of sign:

========== ====================================================================================
rprop-     goes back by the shrunken step (Riedmiller 1994; what MATLAB's trainrp documents)
rprop+     takes its last move back (Riedmiller & Braun 1993)
irprop-    stays (Igel & Hüsken 2003; what torch.optim.Rprop does)
irprop+    takes its last move back if the loss rose, else stays (Igel & Hüsken 2003)
========== ====================================================================================

In all but the first the next gradient counts as the first of its sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import check_choice, check_flag, check_integer, check_real

Output: TypeAlias = Literal["tanh", "logistic"]
Loss: TypeAlias = Literal["squared", "cross-entropy"]
Rprop: TypeAlias = Literal["rprop-", "rprop+", "irprop-", "irprop+"]
Split: TypeAlias = Literal["rows", "positions"]


@dataclass(frozen=True)
class RpropConstants:
    """Constants of resilient propagation.

    Attributes
    ----------
    grow, shrink : float
        Factors of a step after a gradient of the same, and of the other sign.
    first, smallest, largest : float
        Bounds of a step, and what it is before the first gradient.
    """

    grow: float = 1.2
    shrink: float = 0.5
    first: float = 0.07
    smallest: float = 0.0
    largest: float = 50.0


RPROP_CONSTANTS: Mapping[str, RpropConstants] = {
    "matlab": RpropConstants(),
    "torch": RpropConstants(first=0.01, smallest=1e-6),
}
"""Defaults of MATLAB's trainrp, which states no smallest step, and of torch.optim.Rprop."""


@dataclass(frozen=True)
class Training:
    """Everything that decides how one network is trained on one bag of rows.

    Attributes
    ----------
    hidden : int
        Units of the hidden layer.
    output : {"tanh", "logistic"}
        Output unit; its targets are -1 and +1, or 0 and 1.
    loss : {"squared", "cross-entropy"}
        What is minimized over the rows to train on.
    rprop : {"rprop-", "rprop+", "irprop-", "irprop+"}
        Variant of resilient propagation.
    constants : RpropConstants
        Its constants.
    max_epochs : int
        Most steps of a network.
    patience : int
        A network stops after this many epochs in a row whose validation loss is not below its
        best, and keeps the weights of its best.
    validation_fraction : float
        Share of a bag that is held out to tell when to stop.
    split : {"rows", "positions"}
        What is held out: distinct rows, or positions of the bag, as the authors did, where
        copies of one row can stand on both sides.
    stratify : bool
        Whether labeled and unlabeled rows are drawn apart from each other.
    """

    hidden: int = 5
    output: Output = "tanh"
    loss: Loss = "squared"
    rprop: Rprop = "rprop-"
    constants: RpropConstants = RPROP_CONSTANTS["matlab"]
    max_epochs: int = 500
    patience: int = 25
    validation_fraction: float = 0.25
    split: Split = "rows"
    stratify: bool = False

    def n_parameters(self, n_features: int) -> int:
        """Weights of one network: hidden layer with bias, output with bias."""
        return (n_features + 1) * self.hidden + self.hidden + 1


PRESETS: Mapping[str, Training] = {
    "paper": Training(),
    "authors": Training(split="positions"),
    "logistic": Training(
        output="logistic",
        loss="cross-entropy",
        rprop="irprop-",
        constants=RPROP_CONSTANTS["torch"],
    ),
}
"""Named sets of choices: the paper's without its leak, the authors' code as released, and
probabilities fitted by maximum likelihood with torch's optimizer."""


CHOICES: Mapping[str, Callable[[str, Any], Any]] = {
    "output": partial(check_choice, choices=get_args(Output)),
    "loss": partial(check_choice, choices=get_args(Loss)),
    "rprop": partial(check_choice, choices=get_args(Rprop)),
    "constants": partial(check_choice, choices=tuple(RPROP_CONSTANTS)),
    "max_epochs": partial(check_integer, low=1),
    "patience": partial(check_integer, low=1),
    "validation_fraction": partial(check_real, low=0, high=1, closed="neither"),
    "split": partial(check_choice, choices=get_args(Split)),
}
"""What can be chosen in place of a preset's own, and what checks it."""


def check_training(*, preset: str, hidden: int, stratify: bool = False, **chosen: Any) -> Training:
    """The preset with the choices that were made by hand, where not None, in place of its own."""
    training = PRESETS[check_choice("preset", preset, tuple(PRESETS))]
    check_flag("stratify", stratify)
    made = {name: CHOICES[name](name, value) for name, value in chosen.items() if value is not None}
    if "constants" in made:
        made["constants"] = RPROP_CONSTANTS[made["constants"]]
    hidden = check_integer("hidden", hidden, low=1)
    return replace(training, hidden=hidden, stratify=bool(stratify), **made)


# -- What chance decides about each network: its bag of rows and its first weights ---------------


Counts: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True)
class Bags:
    """Bags of several networks, a column each.

    Attributes
    ----------
    train, validation : ndarray of uint8, shape (n_rows, n_networks)
        How often a network counts a row among those it is trained on, and among those that
        tell it when to stop. A row with neither is out of its bag.
    initial : ndarray of float, shape (n_parameters, n_networks)
        First weights, in the order of `purecover.models.training`.
    """

    train: Counts
    validation: Counts
    initial: FloatArray


def draw_bags(
    seeds: list[np.random.SeedSequence],
    n_rows: int,
    n_features: int,
    training: Training,
    labeled: BoolArray | None = None,
) -> Bags:
    """A bag for each seed: ``n_rows`` draws with replacement, part of them held out.

    Each network has a stream of its own, so that its bag does not depend on how many others
    there are, nor on how they are grouped. With ``labeled``, labeled and unlabeled rows are drawn
    apart from each other, as many of either kind as there are.
    """
    train = np.empty((n_rows, len(seeds)), dtype=np.uint8)
    validation = np.empty_like(train)
    initial = np.empty((training.n_parameters(n_features), len(seeds)))
    first, second = weight_bounds(n_features, training.hidden)
    for column, seed in enumerate(seeds):
        rng = np.random.default_rng(seed)
        train[:, column], validation[:, column] = _draw_bag(rng, n_rows, training, labeled)
        into_hidden = rng.uniform(-first, first, (n_features + 1) * training.hidden)
        into_output = rng.uniform(-second, second, training.hidden + 1)
        initial[:, column] = np.concatenate([into_hidden, into_output])
    return Bags(train, validation, initial)


def _draw_bag(
    rng: np.random.Generator, n_rows: int, training: Training, labeled: BoolArray | None
) -> tuple[Counts, Counts]:
    if labeled is None:
        drawn = rng.integers(n_rows, size=n_rows)
    else:
        sides = [np.flatnonzero(side) for side in (labeled, ~labeled)]
        both = np.concatenate([rows[rng.integers(rows.size, size=rows.size)] for rows in sides])
        drawn = rng.permutation(both)  # so that the first ones are of both kinds
    if training.split == "positions":
        # The draws are independent, so that the first ones are as random as any.
        held = _n_held(n_rows, training)
        return _count(drawn[held:], n_rows), _count(drawn[:held], n_rows)
    train = _count(drawn, n_rows)
    validation = np.zeros_like(train)
    rows = np.flatnonzero(train)
    if rows.size == 1:  # nothing to hold out: the one row does both
        return train, train
    held_out = rng.choice(rows, _n_held(rows.size, training), replace=False, shuffle=False)
    validation[held_out] = train[held_out]
    train[held_out] = 0
    return train, validation


def _count(drawn: NDArray[np.int64], n_rows: int) -> Counts:
    return np.bincount(drawn, minlength=n_rows).astype(np.uint8)


def _n_held(size: int, training: Training) -> int:
    """How many of ``size`` (at least 2) are held out: the nearest whole number, but not all."""
    return min(max(round(training.validation_fraction * size), 1), size - 1)


def weight_bounds(n_features: int, hidden: int) -> tuple[float, float]:
    """Largest first weights into hidden and output units: sqrt(6 / (units in + units out)).

    X. Glorot, Y. Bengio. Understanding the difficulty of training deep feedforward neural
    networks. AISTATS 2010.
    """
    return math.sqrt(6 / (n_features + hidden)), math.sqrt(6 / (hidden + 1))


# -- Many small networks on the same rows as one computation: outputs and gradients --------------


Array: TypeAlias = Any
"""An array of NumPy or of torch."""

SMALLEST_SCALE = 1e-9
"""A smaller standard deviation in a bag, that of all rows being 1, means a constant feature..."""
SCALE_OF_CONSTANTS = 1000.0
"""...and is replaced by this, which takes the feature out of the game."""


@dataclass(frozen=True)
class Rows:
    """What all networks see.

    Attributes
    ----------
    features : array, shape (n_rows, n_features + 1)
        Standardized features, and a last column of ones.
    targets : array, shape (n_rows,)
        The output wished for: 1 for labeled rows, for others 0 or, of tanh units, -1.
    block : int
        About how many values an intermediate result may have.
    """

    features: Array
    targets: Array
    block: int

    @property
    def xp(self) -> Any:
        """The library of the arrays."""
        from array_api_compat import array_namespace

        return array_namespace(self.features)

    @property
    def device(self) -> Any:
        """Where they are."""
        from array_api_compat import device

        return device(self.features)

    def blocks(self, width: int) -> Iterator[slice]:
        """Slices of rows whose intermediate results have ``width`` columns."""
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
        """The moments of the rows of each bag, held-out ones included.

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
        """What does to rows as they are the same as ``weights`` to rows on the bag's scale."""
        inner, outer = split_weights(xp, weights, hidden)
        scaled = inner * self.inverse
        scaled[:, -1, :] -= xp.sum(scaled * self.mean, axis=1)
        return join_weights(xp, scaled, outer)

    def standardized(self, xp: Any, gradient: Array, hidden: int) -> Array:
        """The gradient by weights on the bag's scale, from that by the effective weights."""
        inner, outer = split_weights(xp, gradient, hidden)
        return join_weights(xp, (inner - self.mean * inner[:, -1:, :]) * self.inverse, outer)


def split_weights(xp: Any, weights: Array, hidden: int) -> tuple[Array, Array]:
    """Hidden weights (units, features, networks), and those into the output with its bias."""
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
        """The part of ``units`` or ``scratch`` (units, rows, networks) that a block needs.

        It is contiguous, since products write into nothing else.
        """
        hidden, _, networks = buffer.shape
        flat = self.xp.reshape(buffer, (-1,))[: hidden * size * networks]
        return self.xp.reshape(flat, (hidden, size, networks))


def into(xp: Any, out: Array, function: str, *arrays: Array) -> Array:
    """``function`` of the arrays, written to ``out``: NumPy and torch alike know how."""
    return getattr(xp, function)(*arrays, out=out)


def forward(space: Workspace, x: Array, weights: Array, hidden: int) -> tuple[Array, Array]:
    """Hidden values (units, rows, networks) and what the output units get (rows, networks)."""
    xp, size = space.xp, x.shape[0]
    inner, outer = split_weights(xp, weights, hidden)
    units = into(xp, space.room(space.units, size), "matmul", x, inner)
    into(xp, units, "tanh", units)
    weighted = into(xp, space.room(space.scratch, size), "multiply", units, outer[:hidden, None, :])
    return units, xp.sum(weighted, axis=0) + outer[hidden, :]


def activate(xp: Any, total: Array, training: Training) -> Array:
    """The outputs: in [-1, 1] of tanh units, in [0, 1] of logistic ones."""
    if training.output == "tanh":
        return xp.tanh(total)
    return 0.5 + 0.5 * xp.tanh(0.5 * total)


def probability(output: Array, training: Training) -> Array:
    """The outputs as shares in [0, 1]."""
    return 0.5 + 0.5 * output if training.output == "tanh" else output


def loss_and_slope(
    xp: Any, total: Array, targets: Array, training: Training
) -> tuple[Array, Array]:
    """The loss of each row and network, and its slope by what the output unit gets.

    Slopes are true up to a positive constant: Rprop looks at signs alone.
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
    """Gradient of the training loss (up to a constant), and both losses summed over rows.

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


# -- Resilient propagation (Rprop): steps that look at the sign of a gradient, not at its size ---


@dataclass
class RpropState:
    """What Rprop remembers of every weight; arrays of the shape of the weights."""

    step: Array
    sign: Array
    move: Array
    loss: Array

    @classmethod
    def first(cls, xp: Any, weights: Array, constants: RpropConstants) -> RpropState:
        """Before the first gradient. ``weights`` has a column per network."""
        return cls(
            step=xp.full_like(weights, constants.first),
            sign=xp.zeros_like(weights),
            move=xp.zeros_like(weights),
            loss=xp.full_like(weights[0, :], float("inf")),
        )


def rprop_step(
    xp: Any,
    state: RpropState,
    gradient: Array,
    loss: Array,
    *,
    rprop: Rprop,
    constants: RpropConstants,
) -> Array:
    """The moves of all weights, to be added to them; ``state`` is brought up to date.

    Only signs are compared, so that no product of two small gradients can vanish.
    """
    sign = xp.sign(gradient)
    agreement = sign * state.sign
    turned = agreement < 0
    grown = xp.clip(state.step * constants.grow, max=constants.largest)
    shrunk = xp.clip(state.step * constants.shrink, min=constants.smallest)
    state.step = xp.where(agreement > 0, grown, xp.where(turned, shrunk, state.step))
    if rprop != "rprop-":
        sign = xp.where(turned, xp.zeros_like(sign), sign)
    move = -sign * state.step
    if rprop == "rprop+":
        move = xp.where(turned, -state.move, move)
    elif rprop == "irprop+":
        move = xp.where(turned & (loss > state.loss), -state.move, move)
    state.sign, state.move, state.loss = sign, move, loss
    return move


# -- Train and apply a batch of networks, each with a bag of its own, all at once ----------------


GroupT = TypeVar("GroupT", BagScale, RpropState, "_Runner")

THIN_OUT = 0.8
"""Stopped networks leave when those that train on are fewer than this share of the batch."""


@dataclass(frozen=True)
class Trained:
    """Networks after training, the networks as last axis.

    Attributes
    ----------
    weights : array, shape (n_parameters, n_networks)
        Best weights, for rows standardized by all rows, not by a bag.
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


@dataclass
class _Runner:
    """The networks that still train, and the best they have seen."""

    place: Array
    train: Array
    validation: Array
    weights: Array
    best: Array
    best_epoch: Array
    best_loss: Array
    failures: Array


def _some(xp: Any, group: GroupT, networks: Array) -> GroupT:
    """Some of the networks of a group, which are the last axis of all its arrays."""
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
    leaves the batch and costs no more. ``on_progress`` hears how many have stopped.
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
        # A stopped network may still be in the batch, and must not come back to life.
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
    """The networks in the order in which they came."""
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
    """Sum of the networks' outputs at each row, and the number of networks summed over.

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
