"""The design of the paper's study: its cells, and the rows that each of them draws."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from purecover_paper.arguments import bad_value, errors_of
from purecover_paper.arrays import BoolArray, IntArray

BETAS = (1.0, 0.95, 0.75)
REPEATS = 50
MAX_UNLABELED = 10_000
PROTOCOL = 1
"""Raised whenever the computation of a cell changes, so that old results are not reused."""


@dataclass(frozen=True)
class StudySettings:
    """Settings that all cells of a study share.

    Attributes
    ----------
    seed : int
        Seed of all random numbers.
    n_networks : int
        Networks of an ensemble.
    preset : str
        How they are trained, see :class:`purecover_paper.networks.BaggedNetworks`.
    n_resamples : int
        Replicates behind an interval.
    device : str
        "cpu" or "cuda": the two draw different bags, so that their results differ.
    """

    seed: int = 0
    n_networks: int = 100
    preset: str = "paper"
    n_resamples: int = 200
    device: str = "cpu"


@dataclass(frozen=True)
class Cell:
    """One run: a data set, a share of positives among the labeled, and a repetition."""

    dataset: str
    beta: float
    repeat: int
    settings: StudySettings = StudySettings()

    def config(self) -> dict[str, Any]:
        """Return everything the result depends on, as plain values."""
        return {
            "protocol": PROTOCOL,
            "dataset": self.dataset,
            "beta": self.beta,
            "repeat": self.repeat,
            **asdict(self.settings),
        }

    @property
    def key(self) -> str:
        """The hash of the configuration, which names the cell."""
        text = json.dumps(self.config(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def seeds(self) -> list[int]:
        """Seeds of the rows, the networks on labels, the networks on classes, the intervals."""
        name = zlib.crc32(self.dataset.encode())
        entropy = [self.settings.seed, name, round(1000 * self.beta), self.repeat]
        state = np.random.SeedSequence(entropy).generate_state(4)
        return [int(word) >> 1 for word in state]


@dataclass(frozen=True, eq=False)
class Draw:
    """The rows of a cell: first the labeled, then the unlabeled ones.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Their numbers in the data set.
    labeled, positive : ndarray of bool, shape (n,)
        True for labeled rows, and for rows of the positive class.
    """

    rows: IntArray
    labeled: BoolArray
    positive: BoolArray

    @property
    def alpha(self) -> float:
        """Share of positives among the unlabeled."""
        return float(self.positive[~self.labeled].mean())

    @property
    def beta(self) -> float:
        """Share of positives among the labeled."""
        return float(self.positive[self.labeled].mean())


def cells(
    datasets: Sequence[str],
    betas: Sequence[float] = BETAS,
    repeats: int = REPEATS,
    settings: StudySettings | None = None,
) -> Iterator[Cell]:
    """Yield the cells of the grid, one repetition of all problems after the other."""
    shared = settings or StudySettings()
    for repeat in range(repeats):
        for dataset in datasets:
            for beta in betas:
                yield Cell(dataset, beta, repeat, shared)


@errors_of("draw")
def draw(cell: Cell, positive: BoolArray, n_labeled: int) -> Draw:
    """Draw the rows of a cell.

    ``n_labeled`` rows are labeled, a share beta of them positive; all others are unlabeled, at
    most 10,000, drawn such that the share of positives does not change.
    """
    rng = np.random.default_rng(cell.seeds[0])
    ones, zeros = (rng.permutation(np.flatnonzero(side)) for side in (positive, ~positive))
    n_true = round(cell.beta * n_labeled)
    n_false = n_labeled - n_true
    if n_true >= ones.size or n_false >= zeros.size:
        raise bad_value(
            "n_labeled",
            "small enough to leave unlabeled rows of both classes",
            f"{n_labeled} of {cell.dataset} with {ones.size} positive and {zeros.size} other rows",
        )
    chosen = np.concatenate([ones[:n_true], zeros[:n_false]])
    ones, zeros = ones[n_true:], zeros[n_false:]
    rest = ones.size + zeros.size
    if rest > MAX_UNLABELED:
        kept = round(MAX_UNLABELED * ones.size / rest)
        ones, zeros = ones[:kept], zeros[: MAX_UNLABELED - kept]
    rows = np.concatenate([chosen, ones, zeros])
    return Draw(rows, np.arange(rows.size) < n_labeled, positive[rows])
