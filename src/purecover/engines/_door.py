"""The door for data frames, of `ScoreCounts`."""

from __future__ import annotations

from typing import Any, Self, overload

from purecover._validation import check_integer, check_real
from purecover.engines._count import EXACT_LIMIT, count_frame

__all__ = ["FrameDoor"]


class FrameDoor:
    """A class whose objects are made of the columns that a frame's rows are counted into."""

    @overload
    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        score: str,
        labeled: str,
        sample_weight: str | None = ...,
        positive_label: object = ...,
        negative_label: object = ...,
        by: None = ...,
        tolerance: float = ...,
        exact_limit: int = ...,
    ) -> Self: ...
    @overload
    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        score: str,
        labeled: str,
        sample_weight: str | None = ...,
        positive_label: object = ...,
        negative_label: object = ...,
        by: str,
        tolerance: float = ...,
        exact_limit: int = ...,
    ) -> dict[Any, Self]: ...
    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        score: str,
        labeled: str,
        sample_weight: str | None = None,
        positive_label: object = None,
        negative_label: object = None,
        by: str | None = None,
        tolerance: float = 1e-4,
        exact_limit: int = EXACT_LIMIT,
    ) -> Self | dict[Any, Self]:
        """Count scores held in a data frame of any engine.

        Parameters
        ----------
        frame : data frame
            Whatever narwhals understands, or a dict of columns. Frames in memory (pandas,
            polars, pyarrow) are counted by NumPy. Lazy ones (polars LazyFrame, DuckDB
            relation, PySpark, Dask, Ibis, ...) are counted by their own engine, in one
            group-by; their rows are never collected.
        score, labeled : str
            Names of the columns.
        sample_weight : str, optional
            Name of the column of weights.
        positive_label, negative_label : object, optional
            As in :meth:`from_scores`.
        by : str, optional
            Name of a column of groups: counts of each are made in the same pass.
        tolerance : float, default=1e-4
            How precisely the observed AUC must be known where a lazy frame has too many
            distinct scores to count each: the width of its bounds (see
            :func:`binning_bounds`). 0 asks for exact counts whatever they cost.
        exact_limit : int, default=4000000
            Lazy frames with at most about so many distinct scores are counted exactly.

        Returns
        -------
        ScoreCounts or dict
            The counts; with ``by``, counts by value of that column.

        See Also
        --------
        binning_bounds : What counting in bins can have changed.

        Notes
        -----
        The first pass counts in some ten thousand bins, 4,096 for each doubling of the score
        (of its distance from 1 between 1/2 and 1), with the smallest and largest score of each.
        A bin of one score costs nothing. Bins that keep the AUC from being known to
        ``tolerance`` are split in a further pass, which is rarely needed. No row is dropped:
        one with a missing, NaN or infinite value is refused, with the numbers of such rows.

        Examples
        --------
        >>> from purecover import ScoreCounts
        >>> frame = {"s": [0.9, 0.4, 0.1, 0.7], "y": [True, False, False, True]}
        >>> ScoreCounts.from_frame(frame, score="s", labeled="y")
        ScoreCounts(2 labeled, 2 unlabeled, 4 thresholds)
        >>> frame["tissue"] = ["liver", "liver", "skin", "skin"]
        >>> ScoreCounts.from_frame(frame, score="s", labeled="y", by="tissue")["skin"]
        ScoreCounts(1 labeled, 1 unlabeled, 2 thresholds)
        """
        name = "ScoreCounts.from_frame"
        names = {"score": score, "labeled": labeled}
        names |= {
            parameter: column
            for parameter, column in (("sample_weight", sample_weight), ("by", by))
            if column is not None
        }
        labels = {"positive_label": positive_label, "negative_label": negative_label}
        tolerance = check_real(name, "tolerance", tolerance, low=0, high=1)
        exact_limit = check_integer(name, "exact_limit", exact_limit, low=0)
        settings: dict[str, Any] = {"tolerance": tolerance, "exact_limit": exact_limit}
        found = cls._count_frame(name, frame, names, labels, settings)
        return found[None] if by is None else found

    @classmethod
    def _count_frame(
        cls,
        name: str,
        frame: Any,
        names: dict[str, str],
        labels: dict[str, object],
        settings: dict[str, Any],
    ) -> dict[Any, Self]:
        """Counts by group, one group None without groups, in the name of a public function."""
        found = {}
        for group, (columns, known) in count_frame(name, frame, names, labels, settings).items():
            found[group] = cls(**columns)
            # Known already, so that nobody has to pass over millions of counts for them again.
            vars(found[group]).update(known)
        return found
