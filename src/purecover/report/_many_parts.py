"""What `evaluate_many` looks at: a task and a score, with the rows or counts of the two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError

__all__ = ["Columns", "Part"]


@dataclass(frozen=True)
class Columns:
    """Which columns are what, after the door.

    ``pairs`` holds (name of the labels, column of labels, column of scores); the column of labels
    is None where labels were given beside the data.
    """

    pairs: tuple[tuple[str, str | None, str], ...]
    by: str | None
    weight: str | None


@dataclass(frozen=True, eq=False)
class Part:
    """One task and one score: counts, rows to be counted, or why there are none."""

    task: Any
    score: str
    n_labeled: float = 0
    n_unlabeled: float = 0
    rows: int = 0
    """The smaller number of rows, labeled or unlabeled."""
    counts: ScoreCounts | None = None
    values: Any = None
    labeled: BoolArray | None = None
    negative: BoolArray | None = None
    weight: FloatArray | None = None
    where: Any = None
    """Which rows of those columns are meant; None for all of them."""
    reason: str | None = None

    @property
    def missing_side(self) -> str | None:
        """What to say if there are only labeled or only unlabeled rows."""
        for n, side in ((self.n_labeled, "labeled"), (self.n_unlabeled, "unlabeled")):
            if not n > 0:
                return f"no {side} row among {self.n_labeled + self.n_unlabeled:,.10g}"
        return None

    def cut(self) -> Part:
        """The same with its own rows alone, to be sent to a worker."""
        if self.where is None or self.labeled is None:
            return self
        return replace(
            self,
            values=self.values[self.where],
            labeled=self.labeled[self.where],
            negative=None if self.negative is None else self.negative[self.where],
            weight=None if self.weight is None else self.weight[self.where],
            where=None,
        )

    def counted(self, function: str) -> ScoreCounts:
        """The counts, made now if they are not."""
        if self.counts is not None:
            return self.counts
        values = np.asarray(self.values)
        if values.dtype.kind == "f":
            bad = int(np.size(values) - np.isfinite(values).sum())
            if bad:
                raise InvalidInputError(
                    f"{bad:,} of {values.size:,} scores are missing, NaN or infinite"
                )
        assert self.labeled is not None  # noqa: S101 - rows come with their labels
        labels: Any = self.labeled
        if self.negative is not None:
            labels = self.labeled.astype(np.int64) - self.negative
        return ScoreCounts._from_rows(
            function,
            {f"score[{self.score}]": values},
            labels,
            sample_weight=self.weight,
            positive_label=None,
            negative_label=None if self.negative is None or not self.negative.any() else -1,
        )
