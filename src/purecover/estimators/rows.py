"""Estimators that look at the features themselves: two samples of rows, and TIcE."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purecover import _validation as valid
from purecover._inputs import column_names, encode_labels, is_frame, read_columns
from purecover._parameters import checked
from purecover._typing import ArrayLike, BoolArray, CountArray, FloatArray, IntArray, RandomState
from purecover._validation import Frozen, public
from purecover._validation import check_random_state as as_generator
from purecover.counts import ScoreCounts
from purecover.estimators import base
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover.intervals.interval import Interval

if TYPE_CHECKING:
    from sklearn.utils import Tags


def read_matrix(X: Any, parameter: str = "X") -> FloatArray:
    """Rows of finite numbers, or a complaint about that parameter."""
    if is_frame(X):
        # Columns of pandas are often called 0, 1 and so on, which are no texts.
        names: list[Any] = list(X.columns) if hasattr(X, "iloc") else column_names(X)
        if not names:
            raise valid.bad_value(parameter, "a table with at least one column", "none")
        table = read_columns(X, {f"{parameter}[{name!r}]": name for name in names})
        columns = [valid.as_real_vector(place, values) for place, values in table.items()]
        return np.column_stack(columns)
    values = X
    if hasattr(values, "detach"):  # a torch tensor, perhaps with a gradient or on a GPU
        values = values.detach().cpu()
    if hasattr(values, "toarray"):
        must, hint = "a dense matrix", f"pass {parameter}.toarray(), or reduce it first"
        raise valid.bad_value(parameter, must, "a sparse one", hint)
    try:
        array = np.asarray(values)
    except Exception:  # noqa: BLE001 - ragged lists and foreign containers; the next line complains
        array = np.empty(0)
    if array.ndim != 2:
        return valid.as_real_vector(parameter, X)[:, None]
    n, p = array.shape
    if n == 0 or p == 0:
        raise valid.bad_value(parameter, "non-empty", f"an array of shape {array.shape}")
    # All entries in one vector, masked where they were.
    flat = values.reshape(-1) if np.ma.isMaskedArray(values) else array.reshape(-1)
    return valid.as_real_vector(parameter, flat).reshape(n, p)


MOST_COUNTED = 100_000
"""Counts of more examples on a side become this many rows, evenly spaced among them."""

ROW_RESAMPLES = 100
"""Replicates of an interval by default; one of features takes as long as the estimate itself."""

_FAR = 1e100
"""Scaled features are cut here, so that squares and their sums remain finite."""


@dataclass(frozen=True, eq=False)
class Rows(Frozen):
    """Feature rows of the labeled and of the unlabeled examples.

    Attributes
    ----------
    labeled, unlabeled : ndarray of shape (n, n_features)
        Finite numbers, in double precision.
    """

    labeled: FloatArray
    unlabeled: FloatArray

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.labeled.shape[1]

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return len(self.labeled)

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabeled rows."""
        return len(self.unlabeled)

    @classmethod
    @public
    def from_data(cls, X: Any, labeled: ArrayLike | None) -> Rows:
        """Rows of a matrix, a column or a data frame, or a complaint in a function's name."""
        if labeled is None:
            raise valid.bad_type(
                "labeled",
                "an array: for each row, whether the example carries the label",
                labeled,
                "requires y to be passed, but the target y is None",
            )
        valid.check_alignment(X, labeled)
        matrix = read_matrix(X)
        ours, _ = encode_labels(labeled, len(matrix))
        return cls(matrix[ours], matrix[~ours])

    @classmethod
    @public
    def from_counts(cls, counts: ScoreCounts) -> Rows:
        """One column: each score as often as it was counted.

        Of more than :data:`MOST_COUNTED` examples on a side, as many are taken, evenly spaced
        in the order of their scores.
        """
        if counts.labeled_sq is not None or counts.unlabeled_sq is not None:
            raise _no_weights()
        sides = (_repeated(counts.thresholds, n) for n in (counts.labeled, counts.unlabeled))
        return cls(*sides)

    def flipped(self) -> Rows:
        """The roles of the two samples exchanged, which maps (a, b) to (b, a)."""
        return Rows(self.unlabeled, self.labeled)

    def subsampled(self, most_labeled: int, most_unlabeled: int, rng: np.random.Generator) -> Rows:
        """At most so many rows of each sample, drawn without replacement, in their order."""
        if self.n_labeled <= most_labeled and self.n_unlabeled <= most_unlabeled:
            return self
        return Rows(
            _some(self.labeled, most_labeled, rng), _some(self.unlabeled, most_unlabeled, rng)
        )

    def resampled(self, n_labeled: int, n_unlabeled: int, rng: np.random.Generator) -> Rows:
        """So many rows of each sample, drawn with replacement."""
        return Rows(
            self.labeled[rng.integers(self.n_labeled, size=n_labeled)],
            self.unlabeled[rng.integers(self.n_unlabeled, size=n_unlabeled)],
        )

    def scaled(self, unit: float | None = None) -> Rows:
        """Moved and stretched so that distances can be squared, whatever the units.

        The median of each feature becomes 0, and all features are divided by one number, so
        that ratios of distances remain: by ``unit``, or else by the median size of what differs
        from the median. Outliers are cut at 1e100.
        """
        pooled = np.concatenate((self.labeled, self.unlabeled))
        # By a power of two first: differences of the largest floats overflow.
        power = -1 if unit is not None else -1 - int(np.frexp(np.abs(pooled).max())[1])
        pooled = np.ldexp(pooled, power)
        pooled -= np.median(pooled, axis=0)
        with np.errstate(over="ignore"):
            if unit is not None:
                pooled = np.ldexp(pooled / unit, 1)
            else:
                sizes = np.abs(pooled).max(axis=1)
                pooled /= np.median(sizes[sizes > 0]) if sizes.any() else 1.0
        np.clip(pooled, -_FAR, _FAR, out=pooled)
        return Rows(pooled[: self.n_labeled], pooled[self.n_labeled :])


class RowPriorEstimator(base.PriorEstimator):
    """What estimates from rows of several features as well as from scores.

    One column, however it is passed, is taken for a score and counted, so that everything made
    for scores works on it. Several columns remain rows.
    """

    _rows: Rows | None = None
    """The rows of the last fit, if there were several features."""

    def _reads_rows(self) -> bool:
        """Whether this estimator, with its parameters, takes features."""
        return True

    @abstractmethod
    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> base.Inclusions:
        """The inclusions of these samples."""

    def _check_rows(self, rows: Rows) -> None:
        """Complain of samples that tell nothing, before an estimate and not before replicates."""
        check_differ(rows)

    def _generator(self) -> np.random.Generator:
        """Where the randomness of an estimate comes from; a fresh one for each estimate."""
        return as_generator(self.get_params(deep=False).get("random_state", 0))

    @public
    def fit(
        self,
        X: Any,
        labeled: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Estimate the proportions.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n,), data frame or ScoreCounts
            Features of the examples, or one score for each; or counts of scores, and then
            nothing else.
        labeled : array-like of shape (n,)
            True where the example carries the positive label.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; only where the estimator works on scores.

        Returns
        -------
        self
        """
        self._check_params()
        self._rows = None
        if isinstance(X, ScoreCounts) or not self._reads_rows():
            return super().fit(X, labeled, sample_weight=sample_weight)
        if sample_weight is not None:
            raise _no_weights()
        rows = Rows.from_data(X, labeled)
        if rows.n_features == 1:
            pool = np.concatenate((rows.labeled[:, 0], rows.unlabeled[:, 0]))
            return super().fit(ScoreCounts.from_scores(pool, np.arange(pool.size) < rows.n_labeled))
        self._check_rows(rows)
        inclusions = self._estimate_rows(rows, self._generator())
        notes = base.size_notes(rows.n_labeled, rows.n_unlabeled)
        self._keep(inclusions, notes, n_features=rows.n_features)
        self._rows = rows
        return self

    @public
    def interval(
        self,
        *,
        confidence_level: float = 0.95,
        method: base.IntervalMethod | None = None,
        n_resamples: int | None = None,
        random_state: RandomState = 0,
        resampler: Any = None,
    ) -> Mapping[str, Interval]:
        """Intervals of alpha, beta and their difference that include re-estimation.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Nominal coverage.
        method : {"bootstrap", "m-out-of-n", "bound"}, optional
            How the ends are found, see :meth:`PriorEstimator.interval`. The bound needs scores.
            Default: half-samples where the estimator looks at rows, see Notes.
        n_resamples : int, optional
            Number of replicates. Default: 100 where the estimator takes features, else 1000.
        random_state : int, numpy.random.Generator or None, default=0
            Where randomness comes from.
        resampler : GroupResampler, optional
            Draws the replicates instead; it needs scores.

        Returns
        -------
        mapping of str to Interval
            Keys ``"alpha"``, ``"beta"`` and ``"delta"``.

        Notes
        -----
        By default a replicate is half of the rows of each sample, none of them twice, and the
        spread of the replicates around their median is put around the estimate: halves of
        :math:`n` rows differ from the whole by as much as the whole does from the truth. A
        ``"bootstrap"`` draws rows with replacement. Copies of a row then stand on both sides of
        a fold, or next to one another, so that estimators that compare rows with rows find in
        replicates what is not in the data, and their intervals lie beside the estimate.
        Neither knows of a bias. An estimator that works on a part of the rows draws another
        part in each replicate, so that the interval knows of it.
        """
        self._check_fitted("interval")
        if n_resamples is None:
            n_resamples = ROW_RESAMPLES if self._reads_rows() else 1000
        if self._rows is not None and resampler is not None:
            hint = "leave it out, or fit the estimator to scores"
            raise valid.bad_value("resampler", "None for features", "a resampler", hint)
        if self._rows is not None and method in ("bound", "posterior"):
            must, hint = "'bootstrap' or 'm-out-of-n' for features", "fit the estimator to scores"
            raise valid.bad_value("method", must, repr(method), hint)
        return super().interval(
            confidence_level=confidence_level,
            method=method,
            n_resamples=n_resamples,
            random_state=random_state,
            resampler=resampler,
        )

    def _usual_method(self, resampler: object) -> str:
        if self._rows is not None or (resampler is None and self._compares_rows()):
            return base.HALF_SAMPLES
        return super()._usual_method(resampler)

    def _replicates(
        self, method: str, resampler: Any, n_resamples: int, rng: np.random.Generator
    ) -> tuple[FloatArray, str, float]:
        """As for scores; of features, ``resampler`` is such as draws their rows, if not None."""
        rows = resampler if isinstance(resampler, Rows) else self._rows
        if rows is None and method != base.HALF_SAMPLES:
            return super()._replicates(method, resampler, n_resamples, rng)
        if rows is None:
            draws = base.proportion_draws(self, base.HalfResampler(self._counts), n_resamples, rng)
            return draws, base.HALF_SAMPLES, 0.5
        words, share = base.HALF_SAMPLES, None
        if method == "m-out-of-n":
            words = "m-out-of-n bootstrap"
            share = base.subsample_share(rows.n_labeled, rows.n_unlabeled)
        elif method == "bootstrap":
            words, share = "bootstrap percentile", 1.0
        elif resampler is not None:
            words += ", groups"
        return self._row_draws(rows, share, n_resamples, rng), words, share or 0.5

    def _compares_rows(self) -> bool:
        """Whether copies of scores would mislead, as those of rows do.

        What treats counts in its own way has no need of single rows.
        """
        return type(self)._estimate_many is base.PriorEstimator._estimate_many

    def _row_draws(
        self, rows: Rows, share: float | None, n_resamples: int, rng: np.random.Generator
    ) -> FloatArray:
        """Alpha and beta of replicates of such a share, or of halves; NaN where there is none."""
        sizes = (rows.n_labeled, rows.n_unlabeled)
        few, many = (base.half(n) if share is None else max(1, round(share * n)) for n in sizes)
        draw = rows.subsampled if share is None else rows.resampled
        replicates = (draw(few, many, rng) for _ in range(n_resamples))
        found = base.inclusions_of(lambda drawn: self._estimate_rows(drawn, rng), replicates)
        return base.proportions_of_many(found)


class FeaturePriorEstimator(RowPriorEstimator):
    """Base class of estimators that take features, ``fit(X, labeled)``.

    A subclass implements :meth:`_estimate_rows`; if anything about it is random, it has a
    parameter ``random_state`` of default 0. On scores it is the same estimator with one
    feature, so that it can be compared with those that need scores.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`.
    n_features_in_ : int
        Number of features.
    """

    takes: ClassVar[str] = "features"

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        rows = Rows.from_counts(counts)
        return self._estimate_rows(rows, self._generator())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


def _repeated(thresholds: FloatArray, counted: CountArray) -> FloatArray:
    total = counted.sum().item()
    if total <= MOST_COUNTED:
        return np.repeat(thresholds, counted.astype(np.int64))[:, None]
    places = (np.arange(MOST_COUNTED) + 0.5) * (total / MOST_COUNTED)
    return thresholds[np.searchsorted(np.cumsum(counted), places)][:, None]


def _some(rows: FloatArray, most: int, rng: np.random.Generator) -> FloatArray:
    if len(rows) <= most:
        return rows
    return rows[np.sort(rng.choice(len(rows), size=most, replace=False))]


def check_differ(rows: Rows) -> None:
    """Refuse rows from which nobody can tell anything."""
    first = rows.labeled[0]
    if (rows.labeled == first).all() and (rows.unlabeled == first).all():
        raise IdentifiabilityError(
            f"{{function}} needs rows that differ, got {rows.n_labeled + rows.n_unlabeled} times "
            "the same: constant features say nothing about alpha and beta."
        )


def _no_weights() -> InvalidInputError:
    return valid.bad_value(
        "sample_weight",
        "None, since this estimator counts rows and knows no weights",
        "weights",
        "draw rows in proportion to their weights first, or use an estimator for scores",
    )


# -- TIcE ----------------------------------------------------------------------------------------


@base.register_prior_estimator("tice")
@dataclass(kw_only=True, eq=False, repr=False)
class TIcE(FeaturePriorEstimator):
    r"""Tree induction for label frequency estimation.

    Assumes: a box of the feature space holds positives only, and enough of them; labels are clean.

    Known to fail: leans high in many dimensions, where boxes are empty or impure; leans low where
    many boxes are pure; outliers, on scores.

    Parameters
    ----------
    n_intervals : int, default=41
        Equal intervals into which the range of a feature is split.
    max_bepp : float, default=10
        Examples added to the size of a node when splits are compared; the larger, the less a
        split is judged by its smallest parts.
    max_splits : int, default=500
        Nodes that a tree may try to split.
    min_size : int or None, default=None
        Examples a node needs to bound the label frequency, and to be split further; None for
        :math:`\max(10, \sqrt N/3)` with :math:`N` examples in all.
    error : float or None, default=0.2
        Probability :math:`\delta` with which a lower bound may fail; None for
        :math:`\max(0.025, 1/(1 + 0.004\, T))` with :math:`T` examples.
    n_folds : int, default=10
        Folds; a tree is grown on one and bounds are taken on the others.
    n_rounds : int, default=2
        How often all of it is done; each round takes the variance from the one before.
    random_state : int, numpy.random.Generator or None, default=0
        How rows are dealt out to folds.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"labeled_given_positive"``, the label
        frequency :math:`\ell`, its value in each fold (``"by_fold"``), and the
        ``"pooled_prior"`` :math:`\pi`.

    See Also
    --------
    ElkanNoto : The same frequency from calibrated scores.

    Notes
    -----
    In a part of the feature space that holds no negatives, the share of labeled examples is the
    label frequency :math:`\ell`, the probability that a positive is labeled; elsewhere it is
    smaller. So a lower bound of the share in any part is a lower bound of :math:`\ell`: with
    :math:`T` examples, :math:`L` of them labeled,

    .. math::

        \ell \ge \frac{L}{T} - \sqrt{\frac{\ell (1-\ell)}{T}\,\frac{1-\delta}{\delta}}

    with probability :math:`1 - \delta`, by the one-sided Chebyshev inequality. Parts come from
    a tree that splits every feature, scaled to [0, 1], into equal intervals, at most once on
    each path and the most promising node first. A split is as good as the best of its parts,
    by :math:`L/(T+k)` on the fold it is grown on; the bounds are those of the other folds, and
    the largest of them estimates :math:`\ell`. Nodes with too few labeled examples to beat it
    are left alone. Then :math:`\pi = (n_L/N)/\ell` is the share of positives among all
    :math:`N` examples, and :math:`\alpha = (\pi N - n_L)/n_U`.

    The article uses ``n_intervals=4, max_bepp=5, min_size=10, error=None, n_folds=5``. The
    defaults here are those of later comparisons, but for ``min_size``: with thousands of
    examples the article's choice makes margins so wide that alpha comes out far too high. With
    a fixed ``min_size`` the number of boxes grows with the data and their sizes do not, so that
    the largest of all bounds is one of those that fail by much, and alpha falls as examples are
    added. Boxes that grow make the largest failure shrink.

    It needs labeled examples that are a random sample of the positives, and a box of the grid
    that holds positives only, with enough of them. A bound leans low, so that alpha leans high.
    Where a few features tell the classes apart, others that say nothing do little harm; where
    many share in it, no box of enough examples is pure, and it leans high by much. Where many
    boxes are pure, the largest of many bounds is likely one of those that fail, and alpha leans
    low: a smaller error, a larger ``min_size``, or fewer intervals, are the remedy. On
    scores, which are a single feature, there is one split, and the best of its intervals
    decides: the estimate depends on how the scores are spaced, and an outlier spoils it. The
    released program asks of the parent where it means to ask whether a new node is all labeled
    or all unlabeled; here the node itself is asked. Labels are taken as clean;
    :class:`NoisyLabels` makes it an estimator of beta too.

    References
    ----------
    Bekker & Davis (2018), "Estimating the class prior in positive and unlabeled data through
    decision tree induction", AAAI.

    Examples
    --------
    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> labeled, positive = np.arange(6000) < 1000, np.arange(6000) < 2250
    >>> X = rng.normal(size=(6000, 2)) + 3 * positive[:, None]
    >>> round(pu.estimators.TIcE().fit(X, labeled).proportions_.alpha, 2)
    0.28
    """

    reference: ClassVar[str] = "Bekker & Davis, AAAI 2018"

    n_intervals: int = checked(41, valid.check_integer, low=2, high=1000)
    max_bepp: float = checked(10, valid.check_real, low=0)
    max_splits: int = checked(500, valid.check_integer, low=1)
    min_size: int | None = checked(None, valid.check_integer, low=1)
    error: float | None = checked(
        0.2, valid.check_real, low=0, high=1, closed="neither", optional=True
    )
    n_folds: int = checked(10, valid.check_integer, low=2)
    n_rounds: int = checked(2, valid.check_integer, low=1)
    random_state: RandomState = checked(0, valid.check_seeding)

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> base.Inclusions:
        n_labeled, n_unlabeled = len(rows.labeled), len(rows.unlabeled)
        n = n_labeled + n_unlabeled
        labeled = np.arange(n) < n_labeled
        parts = _interval_codes(np.vstack((rows.labeled, rows.unlabeled)), self.n_intervals)
        folds = rng.permutation(np.arange(n) % self.n_folds)
        share, by_fold = 0.5, np.empty(0)
        for _ in range(self.n_rounds):
            by_fold = np.array(
                [self._best_bound(parts, labeled, folds == f, share) for f in np.unique(folds)]
            )
            share = float(by_fold.mean())
        # All labeled positives are in the data, so that no fewer are possible.
        pooled = min(max(n_labeled / n, n_labeled / n / share if share > 0 else 1.0), 1.0)
        a = (pooled * n - n_labeled) / n_unlabeled
        notes = []
        if not a < 1:
            notes.append("no part of the data has a provable share of labeled examples: alpha = 1")
        details = {
            "labeled_given_positive": share,
            "by_fold": by_fold,
            "pooled_prior": pooled,
            "at_edge": not 0 < a < 1,
        }
        return base.Inclusions(min(max(a, 0.0), 1.0), notes=tuple(notes), details=details)

    def _best_bound(
        self, parts: IntArray, labeled: BoolArray, on_tree: BoolArray, share: float
    ) -> float:
        """Highest lower bound on the label frequency, over all nodes of a tree.

        The tree is grown on one fold, best node first; bounds are those of the other folds.
        """
        tree, held_out = np.flatnonzero(on_tree), np.flatnonzero(~on_tree)
        error = _failure_probability(held_out.size) if self.error is None else float(self.error)
        spread = share * (1 - share) * (1 - error) / error
        min_size = _smallest_size(labeled.size) if self.min_size is None else self.min_size
        n_features = parts.shape[1]
        keys = 2 * (parts + self.n_intervals * np.arange(n_features)) + labeled[:, None]
        best = float(labeled[held_out].mean())  # of everything, which needs no proof
        fewest = 1.0  # labeled examples a node needs to beat the best bound so far
        turn = count()
        queue = [(0.0, 0, next(turn), tree, held_out, np.arange(n_features))]
        for _ in range(self.max_splits):
            if not queue:
                break
            *_, tree, held_out, features = heapq.heappop(queue)
            totals, with_label = _tallies(keys, held_out, features, self.n_intervals)
            useful = with_label.max(axis=1, initial=0) >= fewest
            if not useful.any():
                continue
            features, totals, with_label = features[useful], totals[useful], with_label[useful]
            tree_totals, tree_labeled = _tallies(keys, tree, features, self.n_intervals)
            gains = (tree_labeled / np.maximum(tree_totals + self.max_bepp, 1)).max(axis=1)
            chosen = int(np.argmax(gains))
            if gains[chosen] <= 0 or np.count_nonzero(totals[chosen]) == 1:
                continue
            large = totals[chosen] >= min_size
            bounds = with_label[chosen][large] / totals[chosen][large]
            bounds = bounds - np.sqrt(spread / totals[chosen][large])
            best = max(best, float(bounds.max(initial=0)))
            if best >= 1:
                break
            fewest = spread / (1 - best) ** 2
            few, some = tree_labeled[chosen], tree_totals[chosen]
            promising = (with_label[chosen] > fewest) & (some > min_size) & (few > 0) & (few < some)
            column, rest = parts[:, features[chosen]], np.delete(features, chosen)
            for part in np.flatnonzero(promising):
                urgency = -lower_bound(some[part], few[part], spread)
                sides = (rows[column[rows] == part] for rows in (tree, held_out))
                heapq.heappush(queue, (urgency, -int(few[part]), next(turn), *sides, rest))
        return best


def _tallies(
    keys: IntArray, rows: IntArray, features: IntArray, n_intervals: int
) -> tuple[IntArray, IntArray]:
    """All rows and labeled ones in each part of features, of shape (n_features, n_intervals).

    They are counted in one pass: the key of a row and feature is the part and the label.
    """
    n_features = keys.shape[1]
    some = keys[rows] if features.size == n_features else keys[rows[:, None], features]
    tally = np.bincount(some.ravel(), minlength=2 * n_intervals * n_features)
    tally = tally.reshape(-1, n_intervals, 2)[features]
    return tally.sum(axis=2), tally[:, :, 1]


def _failure_probability(n: int) -> float:
    """The delta of the article for n examples."""
    return max(0.025, 1 / (1 + 0.004 * n))


def _smallest_size(n: int) -> float:
    """Examples a node needs where there are n in all."""
    return max(10.0, n**0.5 / 3)


def lower_bound(total: float, labeled: float, spread: float) -> float:
    r"""L/T less its margin; ``spread`` is :math:`\ell(1-\ell)(1-\delta)/\delta`."""
    return float(labeled / total - np.sqrt(spread / total))


def _interval_codes(rows: FloatArray, n_intervals: int) -> IntArray:
    """For each feature that varies, the interval of its range that a row lies in."""
    with np.errstate(over="ignore"):
        wide = ~np.isfinite(np.ptp(rows, axis=0))
    rows = np.where(wide, rows / 4, rows)  # lest the range overflow
    low, width = rows.min(axis=0), np.ptp(rows, axis=0)
    varied = width > 0
    scaled = (rows[:, varied] - low[varied]) / width[varied]
    borders = np.arange(1, n_intervals) / n_intervals
    return np.searchsorted(borders, scaled, side="right")
