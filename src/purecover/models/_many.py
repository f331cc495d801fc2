"""Many ensembles at once: subsets of the rows of one table, each with labels of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from purecover._typing import ArrayLike, FloatArray
from purecover._validation import bad_value, check_integer
from purecover.models._engine import check_device, check_jobs, train_ensemble
from purecover.models._networks import check_sides, mean_scores
from purecover.models._seeds import seeds_of
from purecover.models._standardize import Standardizer
from purecover.models._training import Training, check_training

__all__ = ["bagged_scores_many"]

_CARD_BYTES = 2**33
"""Memory of one launch on a card; more ensembles are trained in turn."""


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
    """Out-of-bag scores of many ensembles of :class:`BaggedNetworks` on parts of one table.

    What a study of repeated draws needs: on a CUDA card all ensembles are trained side by side,
    a thousand in the time of a few. Elsewhere one after the other.

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
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(500) < 0.3
    >>> X = rng.normal(size=(500, 2)) + 2 * positive[:, None]
    >>> rows = np.array([rng.permutation(500)[:400] for _ in range(3)])
    >>> labeled = positive[rows] & (rng.random(rows.shape) < 0.5)
    >>> scores = pu.bagged_scores_many(
    ...     X, rows, labeled, n_estimators=40, device="cpu", random_state=0
    ... )
    >>> scores.shape
    (3, 400)
    """
    name = "bagged_scores_many"
    size = check_integer(name, "n_estimators", n_estimators, low=1)
    training = check_training(name, preset=preset, hidden=hidden)
    table, rows, labeled = _check_tables(name, X, rows, labeled)
    where = check_device(name, device)
    check_jobs(name, n_jobs)
    streams = _streams(name, random_state, len(rows))
    scores: list[FloatArray] = []
    if where.startswith("cuda"):
        from purecover.models import _fused

        if _fused.can_train(table.shape[1], np.float32, training):
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


def _streams(name: str, random_state: Any, size: int) -> list[np.random.SeedSequence]:
    """A stream of random numbers for each ensemble."""
    if not isinstance(random_state, (list, tuple, np.ndarray)):
        return seeds_of(name, random_state, size)
    if len(random_state) != size:
        must = f"one seed, or one for each of the {size} ensembles"
        raise bad_value(name, "random_state", must, f"{len(random_state)} seeds")
    return [seeds_of(name, seed, 1)[0] for seed in random_state]


def _check_tables(
    name: str, X: ArrayLike, rows: ArrayLike, labeled: ArrayLike
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.bool_]]:
    from sklearn.utils import check_array

    try:
        table = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    except (TypeError, ValueError) as error:
        must, got = "a matrix of finite numbers", str(error).partition("\n")[0].rstrip(".")
        raise bad_value(name, "X", must, f"what fails with: {got}") from error
    chosen, marks = _as_array(name, "rows", rows), _as_array(name, "labeled", labeled)
    if chosen.ndim != 2 or chosen.dtype.kind not in "iu" or chosen.size == 0:
        must = "whole numbers of shape (n_ensembles, n_rows)"
        raise bad_value(name, "rows", must, f"{chosen.dtype} of shape {chosen.shape}")
    if chosen.min() < 0 or chosen.max() >= len(table):
        must = f"rows of X, from 0 to {len(table) - 1}"
        raise bad_value(name, "rows", must, f"{chosen.min()} to {chosen.max()}")
    ordered = np.sort(chosen, axis=1)
    again = ordered[:, 1:] == ordered[:, :-1]
    if again.any():
        ensemble, place = np.argwhere(again)[0]
        raise bad_value(
            name,
            "rows",
            "distinct rows of X in every ensemble",
            f"row {ordered[ensemble, place]} more than once in ensemble {ensemble}",
            "draw without replacement: a bag that misses one copy of a row may hold the other, "
            "and its network would know the label",
        )
    if marks.shape != chosen.shape or marks.dtype.kind != "b":
        must = f"booleans of the shape of rows, {chosen.shape}"
        raise bad_value(name, "labeled", must, f"{marks.dtype} of shape {marks.shape}")
    one_sided = np.flatnonzero(marks.all(axis=1) | ~marks.any(axis=1))
    if one_sided.size:
        must = "labeled and unlabeled rows in every ensemble"
        raise bad_value(name, "labeled", must, f"only one kind in ensemble {one_sided[0]}")
    for one in marks:
        check_sides(name, "labeled", one)
    return table, chosen.astype(np.int64), np.array(marks)


def _as_array(name: str, parameter: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        must = "an array of shape (n_ensembles, n_rows)"
        raise bad_value(name, parameter, must, "rows of different lengths") from error


def _on_card(
    table: NDArray[Any],
    rows: NDArray[np.int64],
    labeled: NDArray[np.bool_],
    seeds: NDArray[np.int64],
    size: int,
    training: Training,
    device: str,
) -> tuple[NDArray[Any], NDArray[Any]]:
    import torch

    from purecover.models import _fused

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
            sums, counts = _fused.score_many(on_card, chosen, marks, seeds[part], size, training)
            found.append((sums, counts))
        return tuple(torch.cat([part[i] for part in found]).cpu().numpy() for i in range(2))
