"""What a comparison of estimators looks at: scores, features, and how each is drawn again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from purecover._frames import refuse_frame
from purecover._labels import encode_labels
from purecover._typing import ArrayLike, BoolArray, FloatArray, IntArray
from purecover._validation import (
    as_weights,
    bad_type,
    bad_value,
    check_alignment,
    to_numpy,
)
from purecover.counts import ScoreCounts
from purecover.estimation._base import MAX_THRESHOLDS, PriorEstimator
from purecover.estimation._halves import HALF_SAMPLES, HalfResampler, centered, half
from purecover.estimation._intervals import (
    intervals_of_draws,
    proportion_draws,
    proportion_intervals,
)
from purecover.estimation._known_beta import KnownBeta
from purecover.estimation._matrix import read_matrix
from purecover.estimation._rows import RowPriorEstimator, Rows, check_differ
from purecover.estimation._samples import check_both_sides
from purecover.exceptions import InvalidInputError
from purecover.intervals._groups import make_group_resampler
from purecover.intervals._interval import Interval
from purecover.intervals._resample import GroupResampler
from purecover.proportions import MixtureProportions
from purecover.recovery._variance import effective_size

__all__ = ["FeatureSample", "ScoreSample", "read_features", "read_scores", "reads_features"]

_MAX_TRIES = 100


def reads_features(estimator: PriorEstimator) -> TypeGuard[RowPriorEstimator]:
    """Whether an estimator, with what it wraps, looks at rows of several features."""
    return isinstance(estimator, RowPriorEstimator) and estimator._reads_rows()


@dataclass(frozen=True, eq=False)
class ScoreSample:
    """One number for each example, counted; and what draws whole groups, if there are any."""

    counts: ScoreCounts
    resampler: GroupResampler | None = None

    @property
    def sizes(self) -> tuple[float, float]:
        """Labeled and unlabeled examples, or their total weights."""
        return self.counts.n_labeled, self.counts.n_unlabeled

    @property
    def effective_labeled(self) -> float:
        """How many labeled examples of equal weight would tell as much."""
        return effective_size(self.counts.n_labeled, self.counts.labeled_sq)

    def fit(self, estimator: PriorEstimator) -> None:
        """Fit an estimator."""
        estimator.fit(self.counts)

    def intervals(
        self, estimator: PriorEstimator, known: KnownBeta | None, **settings: Any
    ) -> Mapping[str, Interval]:
        """Intervals of a fitted estimator; ``known`` is the same with a beta that was given."""
        if known is None:
            return estimator.interval(resampler=self.resampler, **settings)
        thinned = self.counts.thinned(MAX_THRESHOLDS)
        if self.resampler is None and reads_features(estimator) and estimator._compares_rows():
            rng = np.random.default_rng(settings["random_state"])
            halves = HalfResampler(thinned)
            draws = proportion_draws(known, halves, settings["n_resamples"], rng)
            return _half_intervals(known, draws, settings["confidence_level"], HALF_SAMPLES)
        return proportion_intervals(known, thinned, resampler=self.resampler, **settings)


@dataclass(frozen=True, eq=False)
class FeatureSample:
    """Rows of several features."""

    matrix: FloatArray
    labeled: BoolArray
    groups: IntArray | None = None
    weight: FloatArray | None = None

    @property
    def sizes(self) -> tuple[float, float]:
        """Labeled and unlabeled examples."""
        n_labeled = int(self.labeled.sum())
        return n_labeled, self.labeled.size - n_labeled

    @property
    def effective_labeled(self) -> float:
        """The labeled examples: who takes features knows no weights."""
        return self.sizes[0]

    @property
    def rows(self) -> Rows:
        """The two samples of rows."""
        parts = self.matrix[self.labeled], self.matrix[~self.labeled]
        if self.groups is None:
            return Rows(*parts)
        return GroupedRows(*parts, self.groups[self.labeled], self.groups[~self.labeled])

    def fit(self, estimator: PriorEstimator) -> None:
        """Fit an estimator, which says itself that it knows no weights."""
        estimator.fit(self.matrix, self.labeled, sample_weight=self.weight)

    def intervals(
        self,
        estimator: PriorEstimator,
        known: KnownBeta | None,
        *,
        n_resamples: int,
        confidence_level: float,
        random_state: int,
    ) -> Mapping[str, Interval]:
        """Intervals of a fitted estimator; a replicate draws rows, all features together.

        Of each sample it holds half of the rows, or half of the groups.
        """
        if not reads_features(estimator):  # who asks has asked that before
            raise TypeError(type(estimator))
        rng = np.random.default_rng(random_state)
        draws = estimator._row_draws(self.rows, None, n_resamples, rng)
        words = HALF_SAMPLES + ("" if self.groups is None else ", groups")
        if known is None:
            return _half_intervals(estimator, draws, confidence_level, words)
        return _half_intervals(known, known.of_draws(draws), confidence_level, words)


def _half_intervals(
    fitted: PriorEstimator | KnownBeta, draws: FloatArray, level: float, words: str
) -> Mapping[str, Interval]:
    proportions: MixtureProportions = fitted.proportions_
    return intervals_of_draws(proportions, centered(draws, proportions), level, words)


@dataclass(frozen=True, eq=False)
class GroupedRows(Rows):
    """Rows that depend on each other within groups, which replicates draw as a whole."""

    labeled_group: IntArray
    unlabeled_group: IntArray

    def subsampled(
        self,
        most_labeled: int,  # noqa: ARG002 - how many rows half of the groups hold is left to chance
        most_unlabeled: int,  # noqa: ARG002
        rng: np.random.Generator,
    ) -> Rows:
        """All rows of half of the groups, none of them twice."""
        n_groups = 1 + max(int(self.labeled_group.max()), int(self.unlabeled_group.max()))
        for _ in range(_MAX_TRIES):
            drawn = np.zeros(n_groups, dtype=np.bool_)
            drawn[rng.permutation(n_groups)[: half(n_groups)]] = True
            few, many = drawn[self.labeled_group], drawn[self.unlabeled_group]
            if few.any() and many.any():
                return Rows(self.labeled[few], self.unlabeled[many])
        raise InvalidInputError(
            f"resampling drew {_MAX_TRIES} halves of the groups without a labeled or an unlabeled "
            "example: too few groups hold one.\nHint: use finer groups, or no groups at all"
        )


# -- reading ----------------------------------------------------------------------------------


def read_scores(
    function: str,
    scores: Any,
    labeled: ArrayLike | None,
    beside: Mapping[str, Any],
    labels: Mapping[str, Any],
) -> ScoreSample:
    """Scores and labels, or their counts and nothing beside them."""
    if isinstance(scores, ScoreCounts):
        extra = {"labeled": labeled, **beside, **labels}
        given = [name for name, value in extra.items() if value is not None]
        if given:
            raise InvalidInputError(
                f"{function} takes no {given[0]!r} beside a ScoreCounts, which holds no rows.\n"
                "Hint: pass scores and labeled themselves"
            )
        sample = ScoreSample(scores)
    else:
        refuse_frame(function, scores)
        _require_labels(function, labeled, "scores")
        sample = _column_sample(function, scores, labeled, beside, labels)
    check_both_sides(function, sample.counts)
    return sample


def read_features(
    function: str,
    features: Any,
    labeled: ArrayLike | None,
    beside: Mapping[str, Any],
    labels: Mapping[str, Any],
) -> tuple[ScoreSample | FeatureSample, int]:
    """Rows of features, and how many they are; a single one is counted like a score."""
    _require_labels(function, labeled, "features")
    matrix = read_matrix(function, features, "features")
    n_rows = to_numpy(function, "labeled", labeled).size
    if len(matrix) != n_rows:
        must, hint = f"as many rows as labeled has values ({n_rows})", "a row is an example"
        raise bad_value(function, "features", must, f"{len(matrix)} rows", hint)
    check_alignment(function, features, labeled)
    positive, negative = encode_labels(function, labeled, n_rows, **labels)
    kept = np.ones(n_rows, dtype=np.bool_) if negative is None else ~negative
    column, n_features = matrix[:, 0], matrix.shape[1]
    matrix, ours = matrix[kept], positive[kept]
    check_differ(function, Rows(matrix[ours], matrix[~ours]))
    if n_features == 1:
        return _column_sample(function, column, labeled, beside, labels), 1
    groups, weight = beside["groups"], beside["sample_weight"]
    if groups is not None:
        # For its reading of groups; what it counts is not looked at.
        groups = make_group_resampler(
            function, column, labeled, groups, sample_weight=None, **labels
        ).group
    if weight is not None:
        weight = as_weights(function, weight, n_rows)[kept]
    return FeatureSample(matrix, ours, groups, weight), n_features


def _column_sample(
    function: str,
    column: Any,
    labeled: ArrayLike | None,
    beside: Mapping[str, Any],
    labels: Mapping[str, Any],
) -> ScoreSample:
    weight, groups = beside["sample_weight"], beside["groups"]
    if groups is not None:
        resampler = make_group_resampler(
            function, column, labeled, groups, sample_weight=weight, **labels
        )
        return ScoreSample(resampler.counts, resampler)
    counts = ScoreCounts._from_rows(
        function, {"scores": column}, labeled, sample_weight=weight, **labels
    )
    return ScoreSample(counts)


def _require_labels(function: str, labeled: ArrayLike | None, what: str) -> None:
    if labeled is None:
        must = f"given with {what}: for each, whether the example carries the label"
        raise bad_type(function, "labeled", must, labeled)
