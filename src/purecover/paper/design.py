"""The design of the paper's evaluation: a declared grid, and what each cell leaves behind."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from purecover._typing import BoolArray, IntArray
from purecover._validation import bad_value, public

BETAS = (1.0, 0.95, 0.75)
REPEATS = 50
MAX_UNLABELED = 10_000
PROTOCOL = 1
"""Counts up when what is computed in a cell changes, so that no old result passes for a new one."""


@dataclass(frozen=True)
class StudySettings:
    """What all cells of a study have in common.

    Attributes
    ----------
    seed : int
        Where all randomness starts.
    n_networks : int
        Networks of an ensemble.
    preset : str
        How they are trained, see :class:`purecover.models.BaggedNetworks`.
    n_resamples : int
        Replicates behind an interval.
    device : str
        "cpu" or "cuda": the two draw other bags, so that their results are not the same.
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
        """Everything its result depends on, as plain values."""
        return {
            "protocol": PROTOCOL,
            "dataset": self.dataset,
            "beta": self.beta,
            "repeat": self.repeat,
            **asdict(self.settings),
        }

    @property
    def key(self) -> str:
        """A name that is the same for the same configuration, and no other."""
        text = json.dumps(self.config(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def seeds(self) -> list[int]:
        """Of the rows drawn, the networks on labels, those on true classes, and intervals."""
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
        Where they are in the data set.
    labeled, positive : ndarray of bool, shape (n,)
        Who is labeled, and who is positive in truth.
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
    """The grid, all problems of a repetition before the next one begins."""
    shared = StudySettings() if settings is None else settings
    for repeat in range(repeats):
        for dataset in datasets:
            for beta in betas:
                yield Cell(dataset, beta, repeat, shared)


@public
def draw(cell: Cell, positive: BoolArray, n_labeled: int) -> Draw:
    """The rows of a cell.

    ``n_labeled`` rows are labeled, a share beta of them positive; all others are unlabeled, at
    most 10,000, drawn such that the share of positives stays what it is.
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


# -- What one run of the study leaves behind: tidy rows of plain values --------------------------


class Record(NamedTuple):
    """One number measured in one run, one tidy row of the study.

    A run is one draw of labeled and unlabeled examples: a data set, a share of positives among
    the labeled, and the number of the repeat.

    Parameters
    ----------
    dataset : str
        Short name of the data set, for example ``"bank"``.
    beta : float
        Share of positives among the labeled examples: 1, 0.95 or 0.75.
    repeat : int
        Number of the repeat, from 0.
    metric : {"auc", "auc_pr", "alpha", "beta"}
        What is measured.
    method : str
        Where the number comes from.

        - ``"traditional"``: the truth of the paper, a classifier trained on positives against
          negatives;
        - ``"same"``: the truth of the very scores that are evaluated, against the true classes;
        - ``"observed"``: labeled against unlabeled, nothing corrected;
        - ``"direct"``: equation 4 of the paper, AUC only;
        - ``"indirect"``: the area under the recovered curve;
        - ``"estimate"``: an estimate of ``alpha`` or ``beta``;
        - ``"true"``: the true ``alpha`` or ``beta`` of the draw.
    estimator : str
        Who gave alpha and beta: ``"true"`` where they were known, else the name of an
        estimator, or ``""`` where none is needed.
    repair : str
        How the recovered curve was made a curve, or ``""`` where there is none.
    value : float
        The number itself.
    low, high : float or None
        Ends of its interval, where one was computed.

    Examples
    --------
    >>> from purecover.paper.design import Record
    >>> row = Record("bank", 0.95, 0, "auc", "direct", "true", "", 0.87, 0.84, 0.90)
    >>> row.method, row.value
    ('direct', 0.87)
    """

    dataset: str
    beta: float
    repeat: int
    metric: str
    method: str
    estimator: str
    repair: str
    value: float
    low: float | None = None
    high: float | None = None
