"""What chance decides about each network of an ensemble: its bag of rows and its first weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from purecover._typing import BoolArray, FloatArray
from purecover.models._training import Training

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
        First weights, in the order of `purecover.models._layers`.
    """

    train: Counts
    validation: Counts
    initial: FloatArray

    def take(self, columns: slice) -> Bags:
        """Some of the networks."""
        return Bags(self.train[:, columns], self.validation[:, columns], self.initial[:, columns])


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
    for column, seed in enumerate(seeds):
        rng = np.random.default_rng(seed)
        train[:, column], validation[:, column] = _draw_bag(rng, n_rows, training, labeled)
        initial[:, column] = _draw_weights(rng, n_features, training.hidden)
    return Bags(train, validation, initial)


def _draw_bag(
    rng: np.random.Generator, n_rows: int, training: Training, labeled: BoolArray | None
) -> tuple[Counts, Counts]:
    drawn = _draw_rows(rng, n_rows, labeled)
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


def _draw_rows(
    rng: np.random.Generator, n_rows: int, labeled: BoolArray | None
) -> NDArray[np.int64]:
    if labeled is None:
        return rng.integers(n_rows, size=n_rows)
    sides = [np.flatnonzero(side) for side in (labeled, ~labeled)]
    drawn = np.concatenate([rows[rng.integers(rows.size, size=rows.size)] for rows in sides])
    return rng.permutation(drawn)  # so that the first ones are of both kinds


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


def _draw_weights(rng: np.random.Generator, n_features: int, hidden: int) -> FloatArray:
    into_hidden, into_output = weight_bounds(n_features, hidden)
    return np.concatenate(
        [
            rng.uniform(-into_hidden, into_hidden, (n_features + 1) * hidden),
            rng.uniform(-into_output, into_output, hidden + 1),
        ]
    )
