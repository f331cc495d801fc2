"""Estimators that take features: the two samples of rows, and the base class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from threadpoolctl import threadpool_limits

from purecover import _validation as valid
from purecover._inputs import column_names, encode_labels, is_frame, read_columns
from purecover._typing import ArrayLike, CountArray, FloatArray, RandomState
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts
from purecover.estimators.base import (
    Inclusions,
    IntervalMethod,
    PriorEstimator,
    inclusions_of,
    proportions_of_many,
)
from purecover.estimators.replicates import HALF_SAMPLES, ReplicateDraws, half, subsample_share
from purecover.estimators.samples import size_notes
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover.intervals.interval import Interval

if TYPE_CHECKING:
    from sklearn.utils import Tags


def read_matrix(X: Any, parameter: str = "X") -> FloatArray:
    """Read a matrix of finite numbers from an array, a column or a data frame."""
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

_FOLDS, _TREES = 5, 50
"""Folds and trees of the classifiers whose held-out scores show whether labels are clean."""

_FAR = 1e100
"""Scaled features are cut here, so that squares and their sums remain finite."""


@dataclass(frozen=True, eq=False)
class FeatureRows(Frozen):
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
    def from_data(cls, X: Any, labeled: ArrayLike | None) -> FeatureRows:
        """Read the rows of a matrix, a column or a data frame."""
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
    def from_counts(cls, counts: ScoreCounts) -> FeatureRows:
        """Make rows of one column, with each score as often as it was counted.

        Of more than 100,000 examples on a side, as many are taken, evenly spaced
        in the order of their scores.
        """
        if counts.labeled_sq is not None or counts.unlabeled_sq is not None:
            raise _no_weights()
        sides = (_repeated(counts.thresholds, n) for n in (counts.labeled, counts.unlabeled))
        return cls(*sides)

    def flipped(self) -> FeatureRows:
        """Exchange the two samples, which exchanges the inclusions a and b."""
        return FeatureRows(self.unlabeled, self.labeled)

    def subsampled(
        self, most_labeled: int, most_unlabeled: int, rng: np.random.Generator
    ) -> FeatureRows:
        """Draw at most so many rows of each sample without replacement, in their order."""
        if self.n_labeled <= most_labeled and self.n_unlabeled <= most_unlabeled:
            return self
        return FeatureRows(
            _some(self.labeled, most_labeled, rng), _some(self.unlabeled, most_unlabeled, rng)
        )

    def resampled(self, n_labeled: int, n_unlabeled: int, rng: np.random.Generator) -> FeatureRows:
        """Draw so many rows of each sample with replacement."""
        return FeatureRows(
            self.labeled[rng.integers(self.n_labeled, size=n_labeled)],
            self.unlabeled[rng.integers(self.n_unlabeled, size=n_unlabeled)],
        )

    def scaled(self, unit: float | None = None) -> FeatureRows:
        """Shift and scale the rows so that distances can be squared, whatever the units.

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
        return FeatureRows(pooled[: self.n_labeled], pooled[self.n_labeled :])

    def out_of_fold_counts(self) -> ScoreCounts:
        """Count scores of the label by the features, each from a fit without the row's fold.

        A line sees nothing of a ring, and samples that look alike throughout look noisy. So a
        logistic regression and boosted trees both try, and the lower held-out log loss decides.
        """
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import log_loss
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        folds = min(_FOLDS, self.n_labeled, self.n_unlabeled)
        if folds < 2:
            raise IdentifiabilityError(
                "Whether labels are clean cannot be tested with one example on a side.\n"
                "Hint: clean='always' takes them as clean, clean='never' estimates beta untested"
            )
        tame = self.scaled()
        X = np.concatenate((tame.labeled, tame.unlabeled))
        # Every fifth row of each sample: reproducible, and no order of rows matters.
        fold = np.concatenate([np.arange(n) % folds for n in (self.n_labeled, self.n_unlabeled)])
        ours = np.arange(fold.size) < self.n_labeled
        models = [
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
            HistGradientBoostingClassifier(max_iter=_TREES, early_stopping=False, random_state=0),
        ]
        found = np.empty((len(models), fold.size))
        with threadpool_limits(1):  # fits as small as these spend more on threads than they gain
            for k in range(folds):
                held = fold == k
                for model, scores in zip(models, found, strict=True):
                    model.fit(X[~held], ours[~held])
                    scores[held] = model.predict_proba(X[held])[:, 1]
        return ScoreCounts.from_scores(min(found, key=lambda each: log_loss(ours, each)), ours)


class FeaturePriorEstimator(PriorEstimator):
    """Base class of estimators that take features, ``fit(X, labeled)``.

    A subclass implements :meth:`_estimate_rows`; if anything about it is random, it has a
    parameter ``random_state`` of default 0. One column, however it is passed, is taken for a
    score and counted, so that everything made for scores works on it and the estimator can be
    compared with those that need scores. Several columns remain rows.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`.
    n_features_in_ : int
        Number of features.
    """

    takes: ClassVar[str] = "features"

    _rows: FeatureRows | None = None
    """Rows of the last fit, if there were several features."""

    def _reads_rows(self) -> bool:
        """Whether this estimator, with its parameters, takes features."""
        return True

    @abstractmethod
    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        """Estimate the inclusions of two samples of rows."""

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return self._estimate_rows(FeatureRows.from_counts(counts), self._generator())

    def _generator(self) -> np.random.Generator:
        """Return a fresh generator of random numbers for an estimate."""
        return valid.check_random_state(self.get_params(deep=False).get("random_state", 0))

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
        rows = FeatureRows.from_data(X, labeled)
        if rows.n_features == 1:
            pool = np.concatenate((rows.labeled[:, 0], rows.unlabeled[:, 0]))
            return super().fit(ScoreCounts.from_scores(pool, np.arange(pool.size) < rows.n_labeled))
        check_differ(rows)
        inclusions = self._estimate_rows(rows, self._generator())
        notes = size_notes(rows.n_labeled, rows.n_unlabeled)
        self._keep(inclusions, notes, n_features=rows.n_features)
        self._rows = rows
        return self

    @public
    def interval(
        self,
        *,
        confidence_level: float = 0.95,
        method: IntervalMethod | None = None,
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
        # Copies of scores mislead as those of rows do, unless counts are treated as such.
        own = type(self)._estimate_many is not PriorEstimator._estimate_many
        if self._rows is not None or (resampler is None and not own):
            return HALF_SAMPLES
        return super()._usual_method(resampler)

    def _replicates(
        self, method: str, resampler: Any, n_resamples: int, rng: np.random.Generator
    ) -> ReplicateDraws:
        """Estimate from replicates; of features, ``resampler`` is None or rows that are drawn."""
        rows = resampler if isinstance(resampler, FeatureRows) else self._rows
        if rows is None:
            return super()._replicates(method, resampler, n_resamples, rng)
        sizes, share = (rows.n_labeled, rows.n_unlabeled), 0.5
        draw: Callable[..., FeatureRows] = rows.subsampled
        drawn = [half(n) for n in sizes]
        if method != HALF_SAMPLES:
            share = subsample_share(*sizes) if method == "m-out-of-n" else 1.0
            drawn, draw = [max(1, round(share * n)) for n in sizes], rows.resampled
        replicates = (draw(drawn[0], drawn[1], rng) for _ in range(n_resamples))
        found = inclusions_of(lambda each: self._estimate_rows(each, rng), replicates)
        of = "" if resampler is None else ", groups"
        return ReplicateDraws(proportions_of_many(found), method, share, of)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self._reads_rows()
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


def check_differ(rows: FeatureRows) -> None:
    """Refuse constant features."""
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
