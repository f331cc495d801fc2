"""The reference collection of real positive-unlabeled problems, read from its two files.

A problem is what a scorer made of a real table whose classes are known: counts per score bin,
lowest scores first, of labeled positives, labeled negatives, unlabeled positives and unlabeled
negatives. A person with positive-unlabeled data sees only ``labeled`` and ``unlabeled``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from purecover._codec import read_sealed

IntArray = NDArray[np.int64]

FOLDER = Path(__file__).parent / "reality"
KIND = "purecover.collection/1"
LABELINGS = ("random", "easy first", "one kind", "by source")
SCORERS = ("logistic", "boosting", "extra-trees", "rank-mean", "networks", "poor")
OUTER = 0.03  # of the rows at either end keep their detail
N_MIDDLE = 140
N_ENDS = 90


@dataclass(frozen=True)
class RealProblem:
    """One table, one labeling, one scorer; proportions and AUC are those of these very rows."""

    table: str
    cut: str
    scorer: str
    design: int
    alpha: float
    beta: float
    labeling: str
    auc: float
    supervised_auc: float
    labeled_positive: IntArray
    labeled_negative: IntArray
    unlabeled_positive: IntArray
    unlabeled_negative: IntArray

    @property
    def labeled(self) -> IntArray:
        """Labeled rows per bin."""
        return self.labeled_positive + self.labeled_negative

    @property
    def unlabeled(self) -> IntArray:
        """Unlabeled rows per bin."""
        return self.unlabeled_positive + self.unlabeled_negative

    @property
    def positive(self) -> IntArray:
        """Positives per bin."""
        return self.labeled_positive + self.unlabeled_positive

    @property
    def negative(self) -> IntArray:
        """Negatives per bin."""
        return self.labeled_negative + self.unlabeled_negative

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return int(self.labeled.sum())

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabeled rows."""
        return int(self.unlabeled.sum())


def load_problems(part: str, folder: Path = FOLDER) -> Iterator[RealProblem]:
    """The problems of a part, "first" (to learn from) or "second" (to be judged by)."""
    with (folder / f"{part}.npz").open("rb") as file:
        columns = read_sealed(KIND, file)
    counts, starts = columns.pop("counts"), columns.pop("starts")
    stops = np.append(starts[1:], counts.shape[1])
    names = ("table", "cut", "scorer", "labeling")
    for i, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        texts = {name: str(columns[name][i]) for name in names}
        numbers = {
            name: float(columns[name][i]) for name in ("alpha", "beta", "auc", "supervised_auc")
        }
        four = counts[:, start:stop].astype(np.int64)
        yield RealProblem(
            **texts,  # type: ignore[arg-type]
            **numbers,  # type: ignore[arg-type]
            design=int(columns["design"][i]),
            labeled_positive=four[0],
            labeled_negative=four[1],
            unlabeled_positive=four[2],
            unlabeled_negative=four[3],
        )


def pack(problems: Sequence[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """The arrays a file holds: all counts side by side, where each problem starts, and columns."""
    lengths = [problem["counts"].shape[1] for problem in problems]
    packed = {
        "counts": np.concatenate([problem["counts"] for problem in problems], axis=1),
        "starts": np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64),
    }
    for name in problems[0]:
        if name != "counts":
            packed[name] = np.array([problem[name] for problem in problems])
    return packed


def bin_edges(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest score of every bin: single scores at both ends, equal shares in the middle."""
    n = len(scores)
    outer = max(1, int(OUTER * n))
    near = np.arange(1, min(30, outer) + 1)
    far = np.geomspace(near[-1], outer, N_ENDS - 30) if outer > near[-1] else near[-1:]
    end = np.unique(np.concatenate([near, far]).round())
    middle = np.linspace(outer, n - outer, N_MIDDLE)
    ranks = np.unique(np.concatenate([end, middle.round(), n - end, [n]]).astype(int))
    return np.unique(np.sort(scores)[ranks[ranks > 0] - 1])


def out_of_fold(
    make: Callable[[], Any], features: NDArray[Any], labeled: NDArray[Any], split: Iterable[Any]
) -> NDArray[np.float64]:
    """The score of every row from the model of the folds it is not in."""
    scores = np.empty(len(labeled))
    for train, test in split:
        model = make().fit(features[train], labeled[train])
        scores[test] = model.predict_proba(features[test])[:, 1]
    return scores


def counted(scores: NDArray[np.float64], kind: NDArray[Any]) -> dict[str, Any]:
    """Counts per bin of four kinds of rows, in the order of :class:`RealProblem`, and shares."""
    edges = bin_edges(scores)
    place = np.searchsorted(edges, scores)
    counts = np.array([np.bincount(place[kind == k], minlength=len(edges)) for k in range(4)])
    n = counts.sum(axis=1)
    return {
        "counts": counts.astype(np.int32),
        "alpha": n[2] / (n[2] + n[3]),
        "beta": n[0] / (n[0] + n[1]),
        "n_labeled": n[0] + n[1],
        "n_unlabeled": n[2] + n[3],
        "auc": roc_auc_score(kind % 2 == 0, scores),
    }
