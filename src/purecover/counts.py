"""`ScoreCounts`: labeled and unlabeled counts per distinct score.

Every metric of this package is a function of these counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self, TypedDict, Unpack, overload

import numpy as np

from purecover import _validation as valid
from purecover._codec import plain_fields
from purecover._inputs import Tabular, make_frame
from purecover._typing import ArrayLike, BoolArray, CountArray, FloatArray, IntArray
from purecover._validation import Frozen, public
from purecover.engines import count
from purecover.engines.bins import EXACT_LIMIT
from purecover.exceptions import InvalidInputError


class FrameKeywords(TypedDict, total=False):
    """How frames are counted, apart from the names of their columns."""

    sample_weight: str | None
    positive_label: object
    negative_label: object
    tolerance: float
    exact_limit: int


_FARTHEST = 1e12
"""Factor between the totals of both sides: beyond it, sums of both lose the smaller one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreCounts:
    """Labeled and unlabeled rows counted at each distinct score.

    Build one with :meth:`from_scores`, :meth:`from_frame` or :meth:`from_counts`; two of
    them add up to the counts of both data sets together.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, strictly decreasing.
    labeled, unlabeled : ndarray of shape (n_thresholds,)
        How many labeled and unlabeled rows have that score: integers, or sums of
        weights.
    negative : ndarray of shape (n_thresholds,) or None
        Known negatives at each score, if there are any.
    labeled_sq, unlabeled_sq : ndarray of shape (n_thresholds,) or None
        Sums of squared weights (None without weights), from which standard errors of
        weighted data follow.
    highest : ndarray of shape (n_thresholds,) or None
        The largest score of each bin, where neighboring scores were counted together and
        ``thresholds`` holds the smallest of each; None if every distinct score has its own
        counts. Rates at the thresholds are exact either way; :func:`binning_bounds` says what
        the order within bins can change.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> counts = ScoreCounts.from_scores([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])
    >>> counts.thresholds
    array([0.9, 0.8, 0.1])
    >>> counts.labeled, counts.unlabeled
    (array([1, 1, 0]), array([0, 1, 1]))
    """

    thresholds: FloatArray
    labeled: CountArray
    unlabeled: CountArray
    negative: CountArray | None = None
    labeled_sq: FloatArray | None = None
    unlabeled_sq: FloatArray | None = None
    highest: FloatArray | None = None

    @public
    def __post_init__(self) -> None:
        for name, array in self._columns().items():
            if array is None and name in (*count.OPTIONAL, "highest"):
                continue
            if not isinstance(array, np.ndarray) or array.shape != (np.size(self.thresholds),):
                hint = "build it with ScoreCounts.from_scores or ScoreCounts.from_counts"
                raise valid.bad_type(name, "a NumPy vector as long as thresholds", array, hint)
            if array.dtype.kind in "iu":  # sums and products of short ones overflow in silence
                object.__setattr__(self, name, array.astype(np.int64, copy=False))
            valid.read_only(getattr(self, name))
        n_labeled, n_unlabeled = self.labeled.sum(), self.unlabeled.sum()
        if 0 < min(n_labeled, n_unlabeled) < max(n_labeled, n_unlabeled) / _FARTHEST:
            name = "labeled" if self.labeled_sq is None else "sample_weight"
            must = f"such that the totals of both sides differ by a factor of at most {_FARTHEST:g}"
            got = f"totals of {n_labeled:g} labeled and {n_unlabeled:g} unlabeled"
            raise valid.bad_value(name, must, got, "give both sides in the same unit")

    # -- doors ----------------------------------------------------------------------------

    @classmethod
    @public
    def from_scores(
        cls,
        scores: ArrayLike,
        labeled: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        positive_label: object = None,
        negative_label: object = None,
    ) -> ScoreCounts:
        """Count scores given one row per row.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Classifier scores, larger means more positive. Finite numbers of any type.
        labeled : array-like of shape (n,)
            True where the row carries the positive label: booleans, 0/1, -1/+1, or
            words such as "positive" and "unlabeled".
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        positive_label : object, optional
            The value that means labeled, where it cannot be read off.
        negative_label : object, optional
            The value that marks known negatives, a third kind of row.

        Returns
        -------
        ScoreCounts
            The counts.

        Examples
        --------
        >>> from purecover import ScoreCounts
        >>> ScoreCounts.from_scores([3, 1, 2], ["pos", "unlabeled", "neg"], negative_label="neg")
        ScoreCounts(1 labeled, 1 unlabeled, 1 known negative, 3 thresholds)
        """
        counted = count.count_rows(
            scores,
            labeled,
            sample_weight=sample_weight,
            positive_label=positive_label,
            negative_label=negative_label,
        )
        return cls._counted(*counted)

    @classmethod
    def _of(cls, scores: Any, labeled: Any = None, **beside: Any) -> ScoreCounts:
        """Rows counted in the name of a public function, or counts that it got instead of rows."""
        if not isinstance(scores, ScoreCounts):
            if labeled is None:
                must = "given with scores: for each, whether the row carries the label"
                raise valid.bad_type("labeled", must, labeled, "or pass a ScoreCounts alone")
            return cls._counted(*count.count_rows(scores, labeled, **beside))
        for name, value in {"labeled": labeled, **beside}.items():
            if value is not None:
                raise InvalidInputError(
                    f"{{function}} takes no {name!r} with a ScoreCounts, which has no rows.\n"
                    "Hint: pass scores and labeled themselves"
                )
        return scores

    @classmethod
    def _from_marks(
        cls,
        values: FloatArray,
        positive: BoolArray,
        negative: BoolArray | None = None,
        weight: FloatArray | None = None,
    ) -> ScoreCounts:
        """Count rows that were read before: numbers, and masks of what they are."""
        return cls._counted(*count.count_marked(values, positive, negative, weight))

    @classmethod
    def _counted(cls, columns: dict[str, Any], known: dict[str, float]) -> Self:
        counts = cls(**columns)
        # Known already, so that nobody has to pass over millions of counts for them again.
        vars(counts).update(known)
        return counts

    @overload
    @classmethod
    def from_frame(
        cls, frame: Any, *, score: str, labeled: str, by: None = ..., **more: Unpack[FrameKeywords]
    ) -> Self: ...
    @overload
    @classmethod
    def from_frame(
        cls, frame: Any, *, score: str, labeled: str, by: str, **more: Unpack[FrameKeywords]
    ) -> dict[Any, Self]: ...
    @classmethod
    @public
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
            The value that means labeled, where it is not obvious, and the value that marks known
            negatives, if there are any.
        by : str, optional
            Name of a column of groups: counts of each are made in the same pass.
        tolerance : float, default=1e-4
            How precisely the observed AUC must be known where a lazy frame has too many
            distinct scores to count each: the width of its bounds (see
            :func:`binning_bounds`). 0 asks for exact counts whatever they cost.
        exact_limit : int, default=500000
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
        The first pass counts in some ten thousand bins, 5,120 for each doubling of the score
        (as many on average between 1/256 and 1, all of one width), with the smallest and largest
        score of each. A bin of one score loses nothing. Bins that keep the AUC from being known
        to ``tolerance`` are split in a further pass, which is rarely needed. No row is dropped:
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
        names = {"score": score, "labeled": labeled}
        more = {"sample_weight": sample_weight, "by": by}
        names |= {parameter: column for parameter, column in more.items() if column is not None}
        labels = {"positive_label": positive_label, "negative_label": negative_label}
        tolerance = valid.check_real("tolerance", tolerance, low=0, high=1)
        exact_limit = valid.check_integer("exact_limit", exact_limit, low=0)
        settings: dict[str, Any] = {"tolerance": tolerance, "exact_limit": exact_limit}
        found = cls._count_frame(frame, names, labels, settings)
        return found[None] if by is None else found

    @classmethod
    def _count_frame(
        cls, frame: Any, names: dict[str, str], labels: dict[str, object], settings: dict[str, Any]
    ) -> dict[Any, Self]:
        """Counts by group, one group None without groups, in the name of a public function."""
        counted = count.count_frame(frame, names, labels, settings)
        return {group: cls._counted(*found) for group, found in counted.items()}

    @classmethod
    @public
    def from_counts(
        cls,
        thresholds: ArrayLike,
        labeled: ArrayLike,
        unlabeled: ArrayLike,
        *,
        negative: ArrayLike | None = None,
    ) -> ScoreCounts:
        """Take counts that were aggregated elsewhere, in any order.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Scores; repeated ones are added up.
        labeled, unlabeled : array-like of shape (k,)
            Non-negative counts at those scores, neither all zero.
        negative : array-like of shape (k,), optional
            Counts of known negatives.

        Returns
        -------
        ScoreCounts
            The counts.

        Examples
        --------
        >>> from purecover import ScoreCounts
        >>> ScoreCounts.from_counts([0.1, 0.9], labeled=[1, 3], unlabeled=[7, 2])
        ScoreCounts(4 labeled, 9 unlabeled, 2 thresholds)
        """
        columns = {"labeled": labeled, "unlabeled": unlabeled, "negative": negative}
        return cls(**count.read_counts(thresholds, columns))

    # -- totals ---------------------------------------------------------------------------

    @cached_property
    def n_labeled(self) -> float:
        """Labeled rows (a sum of weights if weighted)."""
        return self.labeled.sum().item()

    @cached_property
    def n_unlabeled(self) -> float:
        """Unlabeled rows (a sum of weights if weighted)."""
        return self.unlabeled.sum().item()

    @cached_property
    def n_negative(self) -> float:
        """Known negatives (a sum of weights if weighted)."""
        return 0 if self.negative is None else self.negative.sum().item()

    @cached_property
    def ordered_pairs(self) -> float:
        """Pairs of a labeled and an unlabeled row with the labeled one higher.

        Ties count one half; divided by the number of all pairs it is the observed AUC.
        """
        labeled, unlabeled = self.labeled[::-1], self.unlabeled[::-1]
        at_or_below = np.cumsum(unlabeled)
        if 4.0 * self.n_labeled * self.n_unlabeled > np.iinfo(np.int64).max:
            labeled = labeled.astype(np.float64)  # whole numbers would overflow
        return float(np.dot(labeled, at_or_below)) - float(np.dot(labeled, unlabeled)) / 2

    @cached_property
    def auc_pu(self) -> float:
        """The observed AUC; see :func:`auc_pu`."""
        area = self.ordered_pairs / (float(self.n_labeled) * self.n_unlabeled)
        return min(max(area, 0.0), 1.0)  # sums of weights are rounded

    @cached_property
    def auc_pu_variance(self) -> float:
        """DeLong's variance of the observed AUC; see :func:`auc_pu_variance`."""
        roc = pu_roc_curve(self)
        sides, squares = (self.labeled, self.unlabeled), (self.labeled_sq, self.unlabeled_sq)
        return float(auc_pu_variances(sides, (roc.tpr_pu, roc.fpr_pu), squares))

    @property
    def n_thresholds(self) -> int:
        """Distinct scores."""
        return int(self.thresholds.size)

    @property
    def labeled_share(self) -> float:
        r""":math:`c = n_L / (n_L + n_U)`, the share of labeled rows."""
        return self.n_labeled / (self.n_labeled + self.n_unlabeled)

    @property
    def is_weighted(self) -> bool:
        """Whether rows carried weights."""
        return self.labeled_sq is not None

    @property
    def is_binned(self) -> bool:
        """Whether some neighboring scores were counted together."""
        return self.highest is not None

    # -- combining ------------------------------------------------------------------------

    def __add__(self, other: object) -> ScoreCounts:
        """Counts of both data sets together."""
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        columns = count.joined(self._columns(), other._columns())
        if not (self.is_binned or other.is_binned):
            return ScoreCounts(**columns)
        tops = [(c.thresholds, c._tops()) for c in (self, other)]
        highest, starts = count.overlapping(columns["thresholds"], tops)
        return ScoreCounts(**columns, highest=highest)._grouped(starts)

    def __radd__(self, other: object) -> ScoreCounts:
        # Makes sum(shards) work, which starts from 0.
        if isinstance(other, int) and other == 0:
            return self
        return NotImplemented

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("thresholds", *count.FIELDS, "highest")}

    def _tops(self) -> FloatArray:
        """The largest score at each threshold."""
        return self.thresholds if self.highest is None else self.highest

    @public
    def thinned(self, max_thresholds: int, *, keep: float | None = None) -> ScoreCounts:
        """Merge neighboring scores into about ``max_thresholds`` groups of like size.

        Each group takes the place of its lowest score, so that rates at the remaining
        thresholds stay exact; only the order within a group is forgotten. No group
        straddles the threshold ``keep``, so that rates there stay exact too.
        """
        max_thresholds = valid.check_integer("max_thresholds", max_thresholds, low=1)
        if isinstance(keep, float) and keep == np.inf:
            keep = None  # every score lies below
        if keep is not None:
            keep = valid.check_real("keep", keep)
        if self.n_thresholds <= max_thresholds:
            return self
        group = np.minimum((self._depth * max_thresholds).astype(np.int64), max_thresholds - 1)
        new = np.diff(group, prepend=-1) > 0
        if keep is not None:
            below = int(np.searchsorted(self.thresholds[::-1], keep, side="left"))
            if below:
                new[self.n_thresholds - below] = True
        return self._grouped(np.flatnonzero(new))

    @cached_property
    def _depth(self) -> FloatArray:
        """Mean share of both samples at or above each threshold."""
        sides = self.labeled, self.unlabeled
        depth = np.cumsum(sides[0] / sides[0].sum()) + np.cumsum(sides[1] / sides[1].sum())
        return np.asarray(depth / depth[-1])

    def _grouped(self, starts: IntArray) -> ScoreCounts:
        """Neighbors counted together, from each of these thresholds to the next of them."""
        ends = np.append(starts[1:], self.n_thresholds) - 1
        columns: dict[str, Any] = {"thresholds": self.thresholds[ends]}
        for name in count.FIELDS:
            tally = getattr(self, name)
            columns[name] = None if tally is None else np.add.reduceat(tally, starts)
        highest = np.maximum.reduceat(self._tops(), starts)
        alone = np.array_equal(highest, columns["thresholds"])
        return ScoreCounts(**columns, highest=None if alone else highest)

    def mirrored(self) -> ScoreCounts:
        """The same rows with scores negated, for labels that mark known negatives.

        Where the labeled are known negatives (decoys, controls, background), "positive" means
        negative in all that follows: alpha is the share of negatives among the unlabeled, and
        beta is 1. :func:`~purecover.report.error_rates` describes it in the words of that field.

        Examples
        --------
        >>> from purecover import ScoreCounts
        >>> counts = ScoreCounts.from_scores(
        ...     [5.0, 1.0, 0.0], ["target", "target", "decoy"], positive_label="decoy"
        ... )
        >>> counts.auc_pu, counts.mirrored().auc_pu
        (0.0, 1.0)
        """
        columns: dict[str, Any] = {
            name: None if tally is None else tally[::-1] for name, tally in self._columns().items()
        }
        columns["thresholds"] = -self._tops()[::-1]
        columns["highest"] = None if self.highest is None else -self.thresholds[::-1]
        return ScoreCounts(**columns)

    def flipped(self) -> ScoreCounts:
        """Exchange the two samples and negate scores, which exchanges the inclusions a and b."""
        labeled_sq, unlabeled_sq = (
            None if squares is None else squares[::-1]
            for squares in (self.unlabeled_sq, self.labeled_sq)
        )
        return ScoreCounts(
            thresholds=-self.thresholds[::-1],
            labeled=self.unlabeled[::-1],
            unlabeled=self.labeled[::-1],
            labeled_sq=labeled_sq,
            unlabeled_sq=unlabeled_sq,
        )

    # -- plain data -----------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, ready for JSON; :meth:`from_dict` reads them back."""
        columns = plain_fields(self)
        if not self.is_binned:
            del columns["highest"]
        return columns

    @classmethod
    @public
    def from_dict(cls, data: dict[str, Any]) -> ScoreCounts:
        """Read counts written by :meth:`to_dict`.

        Examples
        --------
        >>> from purecover import ScoreCounts
        >>> counts = ScoreCounts.from_counts([2, 1], [1, 0], [1, 3])
        >>> ScoreCounts.from_dict(counts.to_dict()) == counts
        True
        """
        return cls(**count.read_dict(data))

    @public
    def frame(self, backend: Any = None) -> Any:
        """The counts as a table: a dict of columns, or a data frame of ``backend``.

        Parameters
        ----------
        backend : str or module, optional
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; a dict of arrays if not given.

        Returns
        -------
        dict or data frame
            Columns ``threshold``, ``labeled``, ``unlabeled`` and, if any, ``negative``.
        """
        columns = {
            "threshold": self.thresholds,
            "labeled": self.labeled,
            "unlabeled": self.unlabeled,
        }
        if self.negative is not None:
            columns["negative"] = self.negative
        return make_frame(columns, backend)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        theirs = other._columns()  # None equals None alone
        return all(np.array_equal(mine, theirs[name]) for name, mine in self._columns().items())

    __hash__ = None  # type: ignore[assignment]  # arrays have no cheap, honest hash

    def __repr__(self) -> str:
        parts = [f"{self.n_labeled:,.10g} labeled", f"{self.n_unlabeled:,.10g} unlabeled"]
        if self.n_negative:
            parts.append(f"{self.n_negative:,.10g} known negative")
        parts.append(f"{self.n_thresholds:,} {'bins' if self.is_binned else 'thresholds'}")
        return f"ScoreCounts({', '.join(parts)})"


_HINT = "build it with ScoreCounts.from_scores(scores, labeled)"
check_counts = partial(valid.check_instance, "counts", kind=ScoreCounts, hint=_HINT)
"""The check of what nearly all functions take first."""


# -- The observed curve: what the scores say when labeled stands for positive --------------------


__all__ = ["PURoc", "auc_pu", "auc_pu_variance", "pu_roc_curve"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PURoc(Frozen, Tabular, columns="threshold fpr_pu tpr_pu"):
    """The ROC curve of labeled against unlabeled.

    Attributes
    ----------
    fpr_pu, tpr_pu : ndarray of shape (n_thresholds + 1,)
        Shares of the unlabeled and of the labeled with a score of at least the threshold.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Decreasing; the first is infinity, where nothing is predicted positive.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import pu_roc_curve
    >>> roc = pu_roc_curve(ScoreCounts.from_scores([3, 2, 1], [1, 0, 0]))
    >>> roc.fpr_pu, roc.tpr_pu
    (array([0. , 0. , 0.5, 1. ]), array([0., 1., 1., 1.]))
    """

    fpr_pu: FloatArray
    tpr_pu: FloatArray
    thresholds: FloatArray

    def __repr__(self) -> str:
        return f"PURoc({self.thresholds.size:,} points)"


@public
def pu_roc_curve(counts: ScoreCounts) -> PURoc:
    """ROC curve observed when unlabeled stands for negative.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.

    Returns
    -------
    PURoc
        One point per distinct score, after (0, 0).

    See Also
    --------
    recover_roc : The curve against the true classes.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import pu_roc_curve
    >>> pu_roc_curve(ScoreCounts.from_scores([2, 2, 1], [1, 0, 0])).tpr_pu
    array([0., 1., 1.])
    """
    check_counts(counts)
    return PURoc(
        fpr_pu=cumulative_share(counts.unlabeled),
        tpr_pu=cumulative_share(counts.labeled),
        thresholds=np.concatenate(([np.inf], counts.thresholds)),
    )


@public
def auc_pu(counts: ScoreCounts) -> float:
    r"""Area under the observed ROC curve, ties counted one half.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.

    Returns
    -------
    float
        :math:`P(s_L > s_U) + P(s_L = s_U)/2` for a random labeled and unlabeled score.

    See Also
    --------
    recover_auc : The area against the true classes.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import auc_pu
    >>> auc_pu(ScoreCounts.from_scores([3, 2, 2, 1], [1, 1, 0, 0]))
    0.875
    """
    check_counts(counts)
    return counts.auc_pu


def cumulative_share(tally: np.ndarray[Any, Any]) -> FloatArray:
    """Return the share of rows at or above each threshold, after 0; samples are rows of a tally."""
    out = np.zeros((*tally.shape[:-1], tally.shape[-1] + 1))
    np.cumsum(tally, axis=-1, out=out[..., 1:])
    with np.errstate(divide="ignore", invalid="ignore"):  # of a sample without mass
        out /= out[..., -1:].copy()
    return out


def cut_of_top(counts: ScoreCounts, n: int) -> float:
    """Return the lowest score that no more than n unlabeled rows reach.

    Of equal scores all are above it or none, unless they are the best.
    """
    flagged = np.cumsum(counts.unlabeled)
    last = max(int(np.searchsorted(flagged, n, side="right")) - 1, int((flagged <= 0).sum()))
    return float(counts.thresholds[last])


@public
def auc_pu_variance(counts: ScoreCounts) -> float:
    r"""Variance of :func:`auc_pu` by the method of DeLong.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.

    Returns
    -------
    float
        :math:`S^2(V_{10})/n_L + S^2(V_{01})/n_U`, where :math:`V_{10}` holds for each
        labeled score the share of unlabeled ones below it and :math:`V_{01}` for each
        unlabeled score the share of labeled ones above it, ties counted one half. NaN if
        either sample has fewer than two rows.

    Notes
    -----
    With weights, :math:`S^2/n` becomes
    :math:`\sum w_i^2 (V_i - A)^2 / (\sum w_i)^2 \cdot m/(m-1)` with Kish's effective size
    :math:`m = (\sum w_i)^2/\sum w_i^2`.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import auc_pu_variance
    >>> scores = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
    >>> counts = ScoreCounts.from_scores(scores, [1, 1, 1, 0, 0, 0, 0, 0])
    >>> round(auc_pu_variance(counts), 7)
    0.0311111
    """
    check_counts(counts)
    return counts.auc_pu_variance


def auc_pu_variances(
    sides: tuple[CountArray, CountArray],
    rates: tuple[FloatArray, FloatArray],
    squares: tuple[FloatArray | None, FloatArray | None],
) -> FloatArray:
    """The same of many samples, one along the last axis for each of the others.

    All pairs are of labeled and unlabeled: counts, observed rates, and squares of weights.
    """
    tpr_pu, fpr_pu = rates
    # Twice the shares strictly above a score plus half of those equal to it; of those below it
    # the variance is the same.
    labeled, unlabeled = (
        _mean_variance(rate[..., 1:] + rate[..., :-1], side, side if square is None else square)
        for rate, side, square in zip((fpr_pu, tpr_pu), sides, squares, strict=True)
    )
    return (labeled + unlabeled) / 4


def _mean_variance(
    values: FloatArray, weight: np.ndarray[Any, Any], weight_sq: np.ndarray[Any, Any]
) -> FloatArray:
    """Estimated variance of a weighted mean of ``values``; NaN of a single one."""
    total, total_sq = weight.sum(axis=-1), weight_sq.sum(axis=-1)
    effective = total * (total / total_sq)
    # Not dot products: those start threads, which cost more than they save here.
    along = "...i,...i->..."
    apart = values - (np.einsum(along, weight, values) / total)[..., None]
    spread = np.einsum(along, weight_sq * apart, apart) / total / total
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(effective > 1, spread * effective / (effective - 1), np.nan)
