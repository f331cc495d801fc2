"""Gaussian bumps around some of the rows: the functions that divergences are estimated with."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from purecover._typing import FloatArray, RandomState
from purecover._validation import check_integer, check_random_state
from purecover.estimation._rows import FeaturePriorEstimator, Rows

MOST_ROWS = 10_000
"""Of more rows on a side, so many are drawn: the values of all bumps at all rows are kept."""

_PAIRS = 1000
"""Rows among which the typical distance is looked for."""

_FLAT = 300.0
"""Exponents are cut here: smaller values are 0 in effect, and their products would be subnormal
numbers, with which processors are slow."""


class BumpEstimator(FeaturePriorEstimator):
    """Parameters of the estimators that compare means of bumps; their docstrings say more."""

    def __init__(self, *, n_centers: int, n_folds: int, random_state: RandomState) -> None:
        self.n_centers = n_centers
        self.n_folds = n_folds
        self.random_state = random_state

    def _check_params(self) -> None:
        name = type(self).__name__
        check_integer(name, "n_centers", self.n_centers, low=1)
        check_integer(name, "n_folds", self.n_folds, low=2)
        check_random_state(name, self.random_state)


def prepared(rows: Rows, rng: np.random.Generator) -> tuple[Rows, tuple[str, ...]]:
    """Rows in random order and not too many, on a scale on which distances can be squared.

    Returned with what should be said about those left out.
    """
    few = rows.scaled()
    few = Rows(
        *(side[rng.permutation(len(side))[:MOST_ROWS]] for side in (few.labeled, few.unlabeled))
    )
    if few.n_labeled == rows.n_labeled and few.n_unlabeled == rows.n_unlabeled:
        return few, ()
    note = (
        f"estimated from {few.n_labeled} of {rows.n_labeled} labeled and {few.n_unlabeled} of "
        f"{rows.n_unlabeled} unlabeled rows, drawn at random"
    )
    return few, (note,)


def squared_distances(rows: FloatArray, centers: FloatArray) -> FloatArray:
    """Between each row and each center, of shape (n_rows, n_centers)."""
    if rows.shape[1] == 1:
        return np.asarray(np.square(rows - centers.T))
    # One matrix product, as differences would need n_features times the memory.
    squares = np.einsum("ij,ij->i", rows, rows)[:, None] - 2 * rows @ centers.T
    squares += np.einsum("ij,ij->i", centers, centers)
    return np.maximum(squares, 0, out=squares)


def bumps(squares: FloatArray, width: float) -> FloatArray:
    """exp(-d^2 / (2 width^2)) of squared distances."""
    exponents = squares * (0.5 / width**2)
    np.minimum(exponents, _FLAT, out=exponents)
    np.negative(exponents, out=exponents)
    return np.exp(exponents, out=exponents)


def typical_distance(rows: Rows, rng: np.random.Generator) -> float:
    """Median distance between two of all rows, of those that differ; 1 if none do."""
    some = rng.permutation(np.concatenate((rows.labeled, rows.unlabeled)))[:_PAIRS]
    squares = squared_distances(some, some)[np.triu_indices(len(some), 1)]
    # Products round: what is equal may come out a little apart.
    apart = squares[squares > 1e-12 * squares.max(initial=0)]
    return float(np.sqrt(np.median(apart))) if apart.size else 1.0


def fold_slices(n: int, n_folds: int) -> list[slice]:
    """Folds of n rows in random order; they differ in size by one at most."""
    ends = [k * n // n_folds for k in range(n_folds + 1)]
    return [slice(start, end) for start, end in pairwise(ends)]
