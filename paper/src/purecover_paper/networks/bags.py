"""Bags: the rows that each network is trained on and stopped by, and its first weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from purecover_paper.arrays import BoolArray, FloatArray
from purecover_paper.networks.options import Training

Counts: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True)
class Bags:
    """Bags of several networks, a column each.

    Attributes
    ----------
    train, validation : ndarray of uint8, shape (n_rows, n_networks)
        How often a row counts for the training of a network, and for stopping it. A row with
        neither is out of its bag.
    initial : ndarray of float, shape (n_parameters, n_networks)
        First weights, in the order of `purecover_paper.networks.layers`.
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
    """Draw a bag for each seed: ``n_rows`` draws with replacement, part of them held out.

    Each network has its own stream of random numbers, so that its bag does not depend on the
    number or the grouping of the others. With ``labeled``, labeled and unlabeled rows are drawn
    separately, as many of either kind as there are.
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
    """Return how many of ``size`` (at least 2) are held out: at least 1, but not all."""
    return min(max(round(training.validation_fraction * size), 1), size - 1)


def weight_bounds(n_features: int, hidden: int) -> tuple[float, float]:
    """Return the largest first weights into hidden and output units.

    They are sqrt(6 / (units in + units out)), see

    X. Glorot, Y. Bengio. Understanding the difficulty of training deep feedforward neural
    networks. AISTATS 2010.
    """
    return math.sqrt(6 / (n_features + hidden)), math.sqrt(6 / (hidden + 1))
