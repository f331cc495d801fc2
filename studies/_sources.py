"""What the comparison of estimators runs on: a source gives data sets with known proportions.

Scores come from simulated worlds (``_worlds``), from classifiers of the paper's data (``_real``)
and from the second part of the reference collection (``_reality``), labels drawn at random. Two
more sources have features beside scores of the same rows: the worlds of ``_feature_worlds``, and
the paper's data. Their scores are out-of-fold probabilities of a logistic regression or of boosted
trees, whichever has the smaller out-of-fold log loss; features of real data are standardized, as
kernels and distances need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from studies import _real
from studies._feature_worlds import (
    BoolArray,
    FeatureWorld,
    FloatArray,
    feature_worlds,
    likelier,
)
from studies._reality import RealProblem, load_problems
from studies._worlds import Cell, cells

from purecover.counts import ScoreCounts

LARGE_REPLICATES = 2
"""Replicates of cells with more than 10,000 examples."""

CLASSIFIERS = ("logistic", "boosting")

OVERLAP = 0.8
"""Tables with a true AUC below overlap everywhere, most of them."""

EVERY = 8
"""Slow methods see one in so many problems of the collection; so do intervals from replicates."""

SLOW_BETA = 0.95
"""Of the rows of a real data set, slow methods see those with this share of right labels."""


@dataclass(frozen=True)
class Data:
    """Scores, the true alpha and beta and, in some parts, the rows the scores come from."""

    counts: ScoreCounts
    truth: tuple[float, float]
    rows: tuple[FloatArray, BoolArray] | None = None


@dataclass(frozen=True)
class RealRows:
    """Features of a data set, made positive-unlabeled in one of several ways."""

    data: str
    beta: float
    repetition: int

    @property
    def name(self) -> str:
        """Its parts joined by bars."""
        return f"{self.data}|{self.beta:g}|{self.repetition}"

    def load(self, folder: Path) -> Data:
        """Standardized features, and the scores of the likelier classifier."""
        chosen = _real.examples(self.data, self.beta, self.repetition, folder)
        scores = {
            kind: _real.scored(
                _real.Problem(self.data, self.beta, kind, self.repetition), folder
            ).scores
            for kind in CLASSIFIERS
        }
        return _with_rows(standardized(chosen.features), chosen.labeled, scores, chosen.truth)


Source = Cell | _real.Problem | RealProblem | FeatureWorld | RealRows


@dataclass(frozen=True)
class Task:
    """One data set."""

    part: str
    source: Source
    replicate: int
    seed: int

    @property
    def group(self) -> str:
        """What it is a sample of: the world, or the data set."""
        match self.source:
            case Cell():
                return self.source.world.name
            case FeatureWorld():
                return self.source.group
            case RealProblem():
                return f"true AUC {'below' if self.source.auc < OVERLAP else 'from'} {OVERLAP:g}"
            case _:
                return self.source.data

    @property
    def source_name(self) -> str:
        """The source with its proportions."""
        match self.source:
            case FeatureWorld():
                return self.source.source
            case RealProblem(table=table, cut=cut, scorer=scorer, design=design):
                return f"{table}|{cut}|{scorer}|{design}"
            case _:
                return self.source.name

    @property
    def for_slow(self) -> bool:
        """Whether methods of seconds a fit see it: the first of each cell, one beta of rows."""
        if isinstance(self.source, RealRows):
            return self.source.beta == SLOW_BETA
        if isinstance(self.source, RealProblem):
            return self.replicate % EVERY == 0
        return self.replicate == 0

    def load(self) -> Data:
        """The data set, the same each time."""
        match self.source:
            case Cell():
                counts = ScoreCounts.from_scores(*self.source.sample(self.seed, self.replicate))
                return Data(counts, self.source.truth)
            case FeatureWorld():
                return simulated_rows(self.source, self.seed, self.replicate)
            case RealRows():
                return self.source.load(_folder())
            case RealProblem(alpha=alpha, beta=beta, labeled=labeled, unlabeled=unlabeled):
                bins = np.arange(len(labeled), dtype=np.float64)
                found = ScoreCounts.from_counts(bins, labeled=labeled, unlabeled=unlabeled)
                return Data(found, (alpha, beta))
            case _real.Problem():
                scored = _real.scored(self.source, _folder())
                return Data(ScoreCounts.from_scores(scored.scores, scored.labeled), scored.truth)


def simulated_rows(world: FeatureWorld, seed: int, replicate: int) -> Data:
    """A sample of a world, and the scores of the likelier classifier."""
    features, labeled = world.replicate(seed, replicate)
    scores = {
        kind: _real.cross_fitted(kind, features, labeled, seed + replicate) for kind in CLASSIFIERS
    }
    return _with_rows(features, labeled, scores, world.truth)


def standardized(features: FloatArray) -> FloatArray:
    """Mean 0 and standard deviation 1 in each column; constant columns become 0."""
    spread = features.std(axis=0)
    scaled: FloatArray = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def tasks(
    parts: str, replicates: int, held_out: int, repetitions: int, feature_replicates: int, seed: int
) -> Iterator[Task]:
    """All data sets of the parts asked for; real ones only where the data are."""
    if "a" in parts:
        for cell in cells("tuning"):
            yield from (Task("a", cell, i, seed) for i in range(replicates))
    if "b" in parts:
        for cell in cells("held out"):
            large = cell.n_unlabeled > 10_000
            times = min(held_out, LARGE_REPLICATES) if large else held_out
            yield from (Task("b", cell, i, seed) for i in range(times))
    if "d" in parts:
        found = (each for each in load_problems("second") if each.labeling == "random")
        yield from (Task("d", each, i, seed) for i, each in enumerate(found))
    real = _real.data_folder() is not None
    if real and "c" in parts:
        for problem in _real.problems(repetitions):
            yield Task("c", problem, problem.repetition, seed)
    if real and "f" in parts:
        # Those with many rows take longest and come first, so that none is left for the end.
        for data in sorted(_real.DATA_SETS, key=lambda name: -_real.DATA_SETS[name].n_labeled):
            yield from (Task("f", RealRows(data, beta, 0), 0, seed) for beta in _real.BETAS)
    if "e" in parts:
        for world in feature_worlds():
            yield from (Task("e", world, i, seed) for i in range(feature_replicates))


def few(todo: list[Task], most: int = 3) -> list[Task]:
    """One data set of each of the first worlds or data sets of every part."""
    first: dict[str, dict[str, Task]] = {}
    for task in todo:
        groups = first.setdefault(task.part, {})
        if len(groups) < most:
            groups.setdefault(task.group, task)
    return [task for groups in first.values() for task in groups.values()]


def _with_rows(
    features: FloatArray,
    labeled: BoolArray,
    scores: dict[str, FloatArray],
    truth: tuple[float, float],
) -> Data:
    best = scores[likelier(scores, labeled)]
    return Data(ScoreCounts.from_scores(best, labeled), truth, (features, labeled))


def _folder() -> Path:
    folder = _real.data_folder()
    assert folder is not None  # noqa: S101 - no such task without data
    return folder
