"""The likelihood curve of AlphaMax, kept for whoever wants to look at its elbow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._frames import make_frame
from purecover._typing import FloatArray
from purecover._validation import read_only

__all__ = ["AlphaMaxCurve"]


@dataclass(frozen=True, kw_only=True, eq=False)
class AlphaMaxCurve:
    """The likelihood of AlphaMax as a function of the assumed inclusion.

    Attributes
    ----------
    inclusion : ndarray of shape (n_grid,)
        The grid: assumed shares c of the labeled density inside the unlabeled one.
    log_likelihood : ndarray of shape (n_grid,)
        The largest log-likelihood for each.
    corrected : ndarray of shape (n_grid,)
        The same made non-increasing: the largest value at c or beyond.
    heuristic : ndarray of shape (n_grid,)
        What the elbow was chosen by, NaN where the rule does not look. The two elbows that
        compare slopes take its maximum, the other two the last c where it is not positive.
    elbow_index : int
        Where on the grid the elbow is.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(500, 2000, alpha=0.3, random_state=0)
    >>> curve = pu.AlphaMax(step=0.01).fit(sample.scores, sample.labeled).curve_
    >>> curve
    AlphaMaxCurve(100 points, elbow at 0.28)
    """

    inclusion: FloatArray
    log_likelihood: FloatArray
    corrected: FloatArray
    heuristic: FloatArray
    elbow_index: int

    def __post_init__(self) -> None:
        for array in (self.inclusion, self.log_likelihood, self.corrected, self.heuristic):
            read_only(array)

    @property
    def elbow(self) -> float:
        """The inclusion at the elbow."""
        return float(self.inclusion[self.elbow_index])

    def __repr__(self) -> str:
        return f"AlphaMaxCurve({self.inclusion.size:,} points, elbow at {self.elbow:.4g})"

    def _columns(self) -> dict[str, FloatArray]:
        names = ("inclusion", "log_likelihood", "corrected", "heuristic")
        return {name: getattr(self, name) for name in names}

    def frame(self, backend: Any = None) -> Any:
        """The curve as a table; see :meth:`ScoreCounts.frame`."""
        return make_frame("AlphaMaxCurve.frame", self._columns(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON; None where the heuristic is not defined."""
        out: dict[str, Any] = {
            name: [None if np.isnan(x) else x for x in column.tolist()]
            for name, column in self._columns().items()
        }
        return {**out, "elbow_index": self.elbow_index, "elbow": self.elbow}
