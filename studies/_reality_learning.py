"""Features of the first part of the reference collection, and the forest grown on them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed
from scipy.special import expit, logit
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GroupKFold
from studies._reality import FOLDER, RealProblem

from purecover.counts import ScoreCounts
from purecover.estimators.features import features_of
from purecover.estimators.label_curve import alpha_of, delta_of, solve_label_curve
from purecover.estimators.reference import Reference

N_TREES, LEAST, SHARE = 100, 10, 0.6
"""Trees, problems in a leaf at least, and the share of features that a split looks at."""

REDRAWN = 0.7
"""How much a problem counts that was drawn again with another alpha."""


@dataclass(frozen=True, eq=False)
class Lessons:
    """Features and truth of problems, one row each."""

    names: tuple[str, ...]
    x: Any
    log_odds: Any
    noise: Any
    pure: Any
    family: Any
    mass: Any
    problems: Sequence[RealProblem]

    def of(self, rows: Any) -> Lessons:
        taken = {
            name: getattr(self, name)[rows]
            for name in ("x", "log_odds", "noise", "pure", "family", "mass")
        }
        problems = [self.problems[i] for i in np.arange(len(self.x))[rows]]
        return replace(self, problems=problems, **taken)


def counts_of(problem: RealProblem) -> ScoreCounts:
    """Counts that a person with these data would have; bins take the place of scores."""
    seen = problem.labeled + problem.unlabeled > 0
    scores = np.arange(seen.sum(), dtype=np.float64)[::-1]
    return ScoreCounts.from_counts(
        scores, labeled=problem.labeled[seen][::-1], unlabeled=problem.unlabeled[seen][::-1]
    )


FEWEST = 100
"""Examples of either class whose scores stand for their distribution."""


def redrawn(problem: RealProblem, rng: np.random.Generator) -> RealProblem | None:
    """Another problem with the same distributions of scores; None where they are hardly known.

    The tables of the collection decide which alpha goes with which separability: where positives
    are rare in a table, alpha is small in its problems. Who comes with data of his own may have
    any alpha, so each pair of distributions is met with others, too.
    """
    positive, negative = problem.positive, problem.negative
    if min(positive.sum(), negative.sum()) < FEWEST:
        return None
    alpha = rng.uniform(0.02, 0.7)
    beta = 1.0 if rng.random() < CLEAN else float(rng.choice([0.98, 0.95, 0.9, 0.85, 0.75]))
    beta = 1.0 if beta - alpha < 0.15 else beta
    n_labeled, n_unlabeled = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in SIZES)
    hidden, right = rng.binomial(n_unlabeled, alpha), rng.binomial(n_labeled, beta)
    right = max(right, 1)
    drawn: dict[str, Any] = {
        "labeled_positive": rng.multinomial(right, positive / positive.sum()),
        "labeled_negative": rng.multinomial(n_labeled - right, negative / negative.sum()),
        "unlabeled_positive": rng.multinomial(hidden, positive / positive.sum()),
        "unlabeled_negative": rng.multinomial(n_unlabeled - hidden, negative / negative.sum()),
    }
    return replace(problem, alpha=hidden / n_unlabeled, beta=right / n_labeled, **drawn)


CLEAN = 0.6
SIZES = ((30, 5_000), (300, 20_000))
"""Share of problems with clean labels, and sizes of labeled and unlabeled samples."""


def families() -> dict[str, str]:
    """The family of each table."""
    path = FOLDER / "tables.toml"
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        tables = tomllib.load(file)["tables"]
    return {key: table["family"] for key, table in tables.items()}


def read_lessons(
    real: Sequence[RealProblem], again: Sequence[RealProblem], cache: Path, n_jobs: int = 2
) -> Lessons:
    """Features of all problems, kept in a folder, since they take a tenth of a second each."""
    problems = [*real, *again]
    features = Memory(cache, verbose=0).cache(_features)
    rows = Parallel(n_jobs)(delayed(features)(each) for each in problems)
    names = tuple(rows[0])
    x = np.array([[row[name] for name in names] for row in rows])
    alpha, beta = (np.array([getattr(p, name) for p in problems]) for name in ("alpha", "beta"))
    a, b = alpha / beta, (1 - beta) / (1 - alpha)
    family_of = families()
    return Lessons(
        names=names,
        x=x,
        log_odds=logit(a.clip(1e-4, 1 - 1e-4)),
        noise=np.minimum(b / expit(x[:, names.index("bound50_b")]), 1.5),
        pure=_pure(dict(zip(names, x.T, strict=True)), alpha, beta),
        family=np.array([family_of.get(p.table, p.table) for p in problems]),
        mass=np.repeat([1.0, REDRAWN], [len(real), len(again)]),
        problems=problems,
    )


def _pure(seen: dict[str, Any], alpha: Any, beta: Any) -> Any:
    """Whether the label curve was right, about as far as its posterior is wide."""
    a, b = (np.where((at := expit(seen[name])) < 0.002, 0, at) for name in ("curve_a", "curve_b"))
    error = np.abs(alpha_of(a, b) - alpha), np.abs(delta_of(a, b) - (beta - alpha))
    wide = seen["width_alpha"], seen["width_delta"]
    right = [e <= np.maximum(0.6 * w, 0.02) for e, w in zip(error, wide, strict=True)]
    return right[0] & right[1] & (seen["width_delta"] < WIDE)


WIDE = 0.4
"""A posterior of the label curve that is wider says nothing."""


def _features(problem: RealProblem) -> dict[str, float]:
    counts = counts_of(problem)
    return features_of(counts, solve_label_curve(counts))


def grow(lessons: Lessons, *, n_trees: int = N_TREES, seed: int = 0) -> Reference:
    """Grow a forest that finds problems of similar beta - alpha."""
    delta = np.array([p.beta - p.alpha for p in lessons.problems]).clip(0.05)
    # A family with many problems is not worth as many sources.
    _, place, size = np.unique(lessons.family, return_inverse=True, return_counts=True)
    forest = RandomForestRegressor(
        n_trees, min_samples_leaf=LEAST, max_features=SHARE, random_state=seed, n_jobs=2
    ).fit(lessons.x, np.log(delta), sample_weight=size[place] ** -0.5 * lessons.mass)
    trees = [tree.tree_ for tree in forest.estimators_]
    root = np.cumsum([0] + [tree.node_count for tree in trees[:-1]])
    for tree in trees:
        inner = np.flatnonzero(tree.children_left >= 0)
        if not np.array_equal(tree.children_left[inner], inner + 1):
            raise ValueError("a node is not followed by the one below it")
    return Reference(
        features=lessons.names,
        log_odds=lessons.log_odds,
        noise=lessons.noise,
        pure=lessons.pure,
        mass=lessons.mass,
        root=root,
        leaf=np.asarray(forest.apply(lessons.x)).T,
        feature=np.concatenate([np.maximum(tree.feature, -1) for tree in trees]),
        cut=np.concatenate([tree.threshold for tree in trees]),
        above=np.concatenate(
            [tree.children_right + start for tree, start in zip(trees, root, strict=True)]
        ),
        stretch=np.ones(2),
    )


def folds(lessons: Lessons, n_folds: int = 6) -> Any:
    """Rows to learn from and rows to judge by, no family in both."""
    return GroupKFold(n_folds).split(lessons.x, groups=lessons.family)
