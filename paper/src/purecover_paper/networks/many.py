"""Many ensembles at once: subsets of the rows of one table, each with its own labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from purecover_paper.arguments import bad_value, check_integer, check_seeds, errors_of
from purecover_paper.arrays import BoolArray, FloatArray, IntArray
from purecover_paper.networks.ensembles import (
    check_device,
    check_sides,
    mean_scores,
    train_ensemble,
)
from purecover_paper.networks.inputs import Standardizer
from purecover_paper.networks.options import Training, check_training

_CARD_BYTES = 2**33
"""Memory of one launch on a card; more ensembles are trained in turn."""


@errors_of("bagged_scores_many")
def bagged_scores_many(
    X: ArrayLike,
    rows: ArrayLike,
    labeled: ArrayLike,
    *,
    n_estimators: int = 100,
    hidden: int = 5,
    preset: str = "paper",
    device: str = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> FloatArray:
    """Return out-of-bag scores of many ensembles of :class:`BaggedNetworks` on one table.

    For studies of repeated draws: on a CUDA card all ensembles are trained together, a thousand
    in the time of a few; on other devices one after the other.

    Parameters
    ----------
    X : array-like, shape (n_table, n_features)
        The table.
    rows : array-like of int, shape (n_ensembles, n_rows)
        For each ensemble, the rows of the table it sees, none of them twice.
    labeled : array-like of bool, shape (n_ensembles, n_rows)
        Which of them are labeled.
    n_estimators, hidden, preset, device, n_jobs
        As of :class:`BaggedNetworks`. On a card the bags are drawn by the card, so that results
        differ from those of other devices by chance.
    random_state : int, Generator, RandomState, None, or list of int
        Seed. With a list of seeds, one for each ensemble, an ensemble can be trained again
        alone: its scores depend on no other.

    Returns
    -------
    ndarray, shape (n_ensembles, n_rows)
        Out-of-bag scores in [0, 1].

    Notes
    -----
    Bags are drawn of all rows, as in the paper. With few labeled rows such scores are too low
    for them, for which :class:`BaggedNetworks` has ``stratify``.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover_paper.networks import bagged_scores_many
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(500) < 0.3
    >>> X = rng.normal(size=(500, 2)) + 2 * positive[:, None]
    >>> rows = np.array([rng.permutation(500)[:400] for _ in range(3)])
    >>> labeled = positive[rows] & (rng.random(rows.shape) < 0.5)
    >>> scores = bagged_scores_many(X, rows, labeled, n_estimators=40, device="cpu", random_state=0)
    >>> scores.shape
    (3, 400)
    """
    size = check_integer("n_estimators", n_estimators, low=1)
    training = check_training(preset=preset, hidden=hidden)
    table, rows, labeled = _check_tables(X, rows, labeled)
    where = check_device(device)
    streams = _streams(random_state, len(rows))
    scores: list[FloatArray] = []
    if where.startswith("cuda"):
        from purecover_paper.networks import cuda

        if cuda.can_train(table.shape[1], np.float32, training):
            seeds = np.array([stream.generate_state(3) for stream in streams], dtype=np.int64)
            sums, counts = _on_card(table, rows, labeled, seeds, size, training, where)
            for total, count in zip(sums, counts, strict=True):
                scores.append(mean_scores(total, count))
            return np.stack(scores)
    for chosen, marks, stream in zip(rows, labeled, streams, strict=True):
        part = table[chosen]
        ensemble = train_ensemble(
            Standardizer.of(part).transform(part, np.float32),
            marks,
            stream.spawn(size),
            training,
            device=where,
            n_jobs=n_jobs,
        )
        scores.append(mean_scores(ensemble.oob_sums, ensemble.oob_counts))
    return np.stack(scores)


def _streams(random_state: Any, size: int) -> list[np.random.SeedSequence]:
    """Return a stream of random numbers for each ensemble."""
    if not isinstance(random_state, (list, tuple, np.ndarray)):
        return check_seeds(random_state, size)
    if len(random_state) != size:
        must = f"one seed, or one for each of the {size} ensembles"
        raise bad_value("random_state", must, f"{len(random_state)} seeds")
    return [check_seeds(seed, 1)[0] for seed in random_state]


def _check_tables(
    X: ArrayLike, rows: ArrayLike, labeled: ArrayLike
) -> tuple[NDArray[Any], IntArray, BoolArray]:
    try:
        table = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    except (TypeError, ValueError) as error:
        must, got = "a matrix of finite numbers", str(error).partition("\n")[0].rstrip(".")
        raise bad_value("X", must, f"what fails with: {got}") from error
    chosen, marks = _as_array("rows", rows), _as_array("labeled", labeled)
    if chosen.ndim != 2 or chosen.dtype.kind not in "iu" or chosen.size == 0:
        must = "whole numbers of shape (n_ensembles, n_rows)"
        raise bad_value("rows", must, f"{chosen.dtype} of shape {chosen.shape}")
    if chosen.min() < 0 or chosen.max() >= len(table):
        must = f"rows of X, from 0 to {len(table) - 1}"
        raise bad_value("rows", must, f"{chosen.min()} to {chosen.max()}")
    ordered = np.sort(chosen, axis=1)
    again = ordered[:, 1:] == ordered[:, :-1]
    if again.any():
        ensemble, place = np.argwhere(again)[0]
        raise bad_value(
            "rows",
            "distinct rows of X in every ensemble",
            f"row {ordered[ensemble, place]} more than once in ensemble {ensemble}",
            "draw without replacement: a bag that misses one copy of a row may hold the other, "
            "so that its network was trained with the label",
        )
    if marks.shape != chosen.shape or marks.dtype.kind != "b":
        must = f"booleans of the shape of rows, {chosen.shape}"
        raise bad_value("labeled", must, f"{marks.dtype} of shape {marks.shape}")
    one_sided = np.flatnonzero(marks.all(axis=1) | ~marks.any(axis=1))
    if one_sided.size:
        must = "labeled and unlabeled rows in every ensemble"
        raise bad_value("labeled", must, f"only one kind in ensemble {one_sided[0]}")
    for one in marks:
        check_sides("labeled", one)
    return table, chosen.astype(np.int64), np.array(marks)


def _as_array(parameter: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        must = "an array of shape (n_ensembles, n_rows)"
        raise bad_value(parameter, must, "rows of different lengths") from error


def _on_card(
    table: NDArray[Any],
    rows: IntArray,
    labeled: BoolArray,
    seeds: IntArray,
    size: int,
    training: Training,
    device: str,
) -> tuple[NDArray[Any], NDArray[Any]]:
    import torch

    from purecover_paper.networks import cuda

    # The card computes with 32 bits: a large mean or scale must be gone before.
    features = Standardizer.of(table).transform(table, np.float32)[:, :-1]
    on_card = torch.as_tensor(np.ascontiguousarray(features), device=device)
    per = rows.shape[1] * (5 * size + 12 * max(16, 2 * table.shape[1]))
    step = max(_CARD_BYTES // per, 1)
    found = []
    with torch.cuda.device_of(on_card):
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            chosen = torch.as_tensor(rows[part], device=device)
            marks = torch.as_tensor(labeled[part], device=device)
            sums, counts = cuda.score_many(on_card, chosen, marks, seeds[part], size, training)
            found.append((sums, counts))
        return tuple(torch.cat([part[i] for part in found]).cpu().numpy() for i in range(2))
