"""Estimators that take features: the two samples of rows, and the base class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from purecover import ScoreCounts
from purecover.estimators import Inclusions, PriorEstimator
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover_paper.systems.arrays import CountArray, FloatArray

MOST_COUNTED = 100_000
"""Counts of more rows on a side are reduced to this many, evenly spaced among them."""

_FOLDS, _TREES = 5, 50
"""Folds and trees of the classifiers whose held-out scores show whether labels are clean."""

_FAR = 1e100
"""Scaled features are cut here, so that squares and their sums remain finite."""


def read_matrix(X: Any) -> FloatArray:
    """Read a matrix of finite numbers from an array or a data frame."""
    from sklearn.utils import check_array

    try:
        with np.errstate(over="ignore", invalid="ignore"):  # of sums, in the search for infinities
            return np.asarray(check_array(X, dtype=np.float64, ensure_2d=False))
    except (TypeError, ValueError) as error:
        must, got = "a table of finite numbers", f"something else ({error})"
        raise InvalidInputError(parameter="X", must=must, got=got) from error


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Feature rows of the labeled and of the unlabeled rows.

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
    def from_data(cls, X: Any, labeled: Any) -> FeatureRows:
        """Read the rows of a matrix or a data frame."""
        matrix = read_matrix(X)
        if matrix.ndim == 1:
            matrix = matrix[:, None]
        # Counted by their numbers, rows keep their places, and labels may have any spelling.
        ours = ScoreCounts.from_scores(np.arange(len(matrix)), labeled).labeled[::-1] > 0
        return cls(matrix[ours], matrix[~ours])

    @classmethod
    def from_counts(cls, counts: ScoreCounts) -> FeatureRows:
        """Make rows of one column, with each score as often as it was counted.

        Of more than 100,000 rows on a side, as many are taken, evenly spaced
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

    def half(self, rng: np.random.Generator) -> FeatureRows:
        """Draw half of the rows of each sample without replacement, at least one."""
        return self.subsampled(max(1, self.n_labeled // 2), max(1, self.n_unlabeled // 2), rng)

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
                "Whether labels are clean cannot be tested with one row on a side.\n"
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
    compared with those that need scores. Several columns remain rows. Weights are refused.

    Attributes
    ----------
    proportions_, diagnostics_
        See :class:`PriorEstimator`.
    interval_ : mapping of str to Interval
        Intervals of ``"alpha"``, ``"beta"`` and ``"delta"`` from halves of the rows. An estimator
        that works on a part of the rows draws another part in each, so that the interval knows
        of it. It knows of no bias.
    n_features_in_ : int
        Number of features.
    """

    takes: ClassVar[str] = "features"

    @abstractmethod
    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        """Estimate the inclusions of two samples of rows."""

    def _estimate(self, data: ScoreCounts | FeatureRows) -> Inclusions:
        seed = self.get_params(deep=False).get("random_state", 0)
        return self._estimate_rows(_rows_of(data), np.random.default_rng(seed))

    def _read(self, X: Any, labeled: Any, sample_weight: Any) -> Any:
        if isinstance(X, ScoreCounts):
            return super()._read(X, labeled, sample_weight)
        matrix = read_matrix(X)
        if matrix.ndim == 1 or matrix.shape[1] == 1:
            return super()._read(matrix.reshape(-1), labeled, sample_weight)
        if sample_weight is not None:
            raise _no_weights()
        super()._read(np.arange(len(matrix)), labeled, None)  # complains of bad labels
        rows = FeatureRows.from_data(matrix, labeled)
        if (matrix == matrix[0]).all():
            raise IdentifiabilityError(
                f"{{function}} needs rows that differ, got {len(matrix)} times the same: constant "
                "features say nothing about alpha and beta."
            )
        return rows

    def _count(self, data: ScoreCounts | FeatureRows) -> ScoreCounts:
        if isinstance(data, ScoreCounts):
            return data
        if data.n_features > 1:
            return data.out_of_fold_counts()
        column = np.concatenate((data.labeled[:, 0], data.unlabeled[:, 0]))
        return ScoreCounts.from_scores(column, np.arange(column.size) < data.n_labeled)

    def _half(self, data: ScoreCounts | FeatureRows, rng: np.random.Generator) -> FeatureRows:
        return _rows_of(data).half(rng)

    def _usual_method(self, resampler: object) -> str:
        # Copies of scores mislead as those of rows do, unless counts are treated as such.
        own = type(self)._estimate_many is not PriorEstimator._estimate_many
        of_counts = isinstance(getattr(self, "_data", None), ScoreCounts)
        if resampler is None and not (own and of_counts):
            return "half-samples"
        return "bootstrap"


def _rows_of(data: ScoreCounts | FeatureRows) -> FeatureRows:
    return FeatureRows.from_counts(data) if isinstance(data, ScoreCounts) else data


def _repeated(thresholds: FloatArray, counted: CountArray) -> FloatArray:
    total = counted.sum().item()
    if total <= MOST_COUNTED:
        return np.repeat(thresholds, counted.astype(np.intp))[:, None]
    places = (np.arange(MOST_COUNTED) + 0.5) * (total / MOST_COUNTED)
    return thresholds[np.searchsorted(np.cumsum(counted), places)][:, None]


def _some(rows: FloatArray, most: int, rng: np.random.Generator) -> FloatArray:
    if len(rows) <= most:
        return rows
    return rows[np.sort(rng.choice(len(rows), size=most, replace=False))]


def _no_weights() -> InvalidInputError:
    return InvalidInputError(
        parameter="sample_weight",
        must="None, since this estimator counts rows and knows no weights",
        got="weights",
        hint="draw rows in proportion to their weights first, or use an estimator for scores",
    )
